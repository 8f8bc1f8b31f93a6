//===- Opcode.cpp - mnemonics to operations and classes ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Opcode.h"

#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace tenon::sim {

StringRef stripEncodingSuffix(StringRef mnemonic) {
  for (StringRef suffix : {"_e32", "_e64", "_dpp", "_sdwa"}) {
    if (mnemonic.consume_back(suffix)) {
      break;
    }
  }
  return mnemonic;
}

const OpcodeInfo *findOpcode(StringRef mnemonic) {
  static const StringMap<const OpcodeInfo *> index = [] {
    StringMap<const OpcodeInfo *> map;
    for (auto table :
         {scalarAluTable,     scalarControlTable, scalarMemoryTable,
          modalTable,         vectorFloat32Table, transcendentalTable,
          vectorIntegerTable, vectorWideTable,    vectorHalfTable,
          vectorConvertTable, scaledConvertTable, vectorSpecialTable,
          vectorCompareTable, vectorPackedTable,  crossLaneTable,
          matrixTable,        smallMatrixTable,   ldsTable,
          ldsSpecialTable,    flatMemoryTable,    bufferMemoryTable}) {
      for (const OpcodeInfo &info : table()) {
        map[info.name] = &info;
      }
    }
    return map;
  }();
  return index.lookup(stripEncodingSuffix(mnemonic));
}

static bool isTranscendental(StringRef name) {
  for (StringRef stem : {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_",
                         "v_sin_", "v_cos_"}) {
    if (name.starts_with(stem)) {
      return true;
    }
  }
  return false;
}

static InstructionClass classifyVector(StringRef name) {
  if (name == "v_nop") {
    return InstructionClass::Nop;
  }
  if (name.starts_with("v_mfma") || name.starts_with("v_smfmac")) {
    return InstructionClass::Mfma;
  }
  return isTranscendental(name) ? InstructionClass::Trans
                                : InstructionClass::Valu;
}

static InstructionClass classifyScalar(StringRef name) {
  struct Prefix {
    StringRef text;
    InstructionClass instructionClass;
  };
  static const Prefix prefixes[] = {
      {"s_load_", InstructionClass::Smem},
      {"s_store_", InstructionClass::Smem},
      {"s_buffer_", InstructionClass::Smem},
      {"s_scratch_", InstructionClass::Smem},
      {"s_atomic_", InstructionClass::Smem},
      {"s_dcache_", InstructionClass::Smem},
      {"s_memtime", InstructionClass::Smem},
      {"s_memrealtime", InstructionClass::Smem},
      {"s_branch", InstructionClass::Branch},
      {"s_cbranch", InstructionClass::Branch},
      {"s_call", InstructionClass::Branch},
      {"s_setpc", InstructionClass::Branch},
      {"s_swappc", InstructionClass::Branch},
      {"s_endpgm", InstructionClass::Branch},
      {"s_waitcnt", InstructionClass::Wait},
      {"s_barrier", InstructionClass::Wait},
      {"s_sleep", InstructionClass::Wait},
      {"s_nop", InstructionClass::Nop},
      {"s_setprio", InstructionClass::Other},
      {"s_sethalt", InstructionClass::Other},
      {"s_trap", InstructionClass::Other},
      {"s_sendmsg", InstructionClass::Other},
      {"s_icache", InstructionClass::Other},
      {"s_incperf", InstructionClass::Other},
      {"s_decperf", InstructionClass::Other},
      {"s_ttrace", InstructionClass::Other},
      {"s_set_gpr_idx", InstructionClass::Other},
      {"s_setvskip", InstructionClass::Other},
  };
  for (const Prefix &prefix : prefixes) {
    if (name.starts_with(prefix.text)) {
      return prefix.instructionClass;
    }
  }
  return InstructionClass::Salu;
}

InstructionClass classify(StringRef mnemonic) {
  if (mnemonic.starts_with("v_")) {
    return classifyVector(stripEncodingSuffix(mnemonic));
  }
  if (mnemonic.starts_with("s_")) {
    return classifyScalar(mnemonic);
  }
  if (mnemonic.starts_with("ds_")) {
    return InstructionClass::Lds;
  }
  if (mnemonic.contains("_load_")) {
    return InstructionClass::VmemLoad;
  }
  if (mnemonic.contains("_store_") || mnemonic.contains("_atomic_")) {
    return InstructionClass::VmemStore;
  }
  return InstructionClass::Other;
}

StringRef instructionClassName(InstructionClass instructionClass) {
  static constexpr StringLiteral names[instructionClassCount] = {
      "valu",       "trans", "mfma",   "salu", "smem", "vmem_load",
      "vmem_store", "lds",   "branch", "wait", "nop",  "other"};
  return names[unsigned(instructionClass)];
}

} // namespace tenon::sim
