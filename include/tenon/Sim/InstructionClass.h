//===- InstructionClass.h - kinds of instructions, counted ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_SIM_INSTRUCTIONCLASS_H
#define TENON_SIM_INSTRUCTIONCLASS_H

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>

namespace tenon::sim {

/// What unit an instruction keeps busy. Every instruction has one class.
enum class InstructionClass : uint8_t {
  Valu,      ///< vector ALU, except the two below
  Trans,     ///< exp, log, rcp, rsq, sqrt, sin, cos
  Mfma,      ///< matrix cores
  Salu,      ///< scalar ALU
  Smem,      ///< scalar memory
  VmemLoad,  ///< buffer, global, flat and scratch loads, also those into LDS
  VmemStore, ///< buffer, global, flat and scratch stores and atomics
  Lds,       ///< ds_*
  Branch,    ///< branches, calls, s_endpgm
  Wait,      ///< s_waitcnt, s_barrier, s_sleep
  Nop,       ///< s_nop, v_nop
  Other,     ///< priorities, cache control, traps and the like
};

inline constexpr unsigned instructionClassCount = 12;

/// Counts indexed by InstructionClass.
using InstructionCounts = std::array<uint64_t, instructionClassCount>;

/// Class of an instruction by its mnemonic ("v_exp_f32_e32").
InstructionClass classify(llvm::StringRef mnemonic);

/// Short name of a class, as reports print it ("vmem_load").
llvm::StringRef instructionClassName(InstructionClass instructionClass);

} // namespace tenon::sim

#endif // TENON_SIM_INSTRUCTIONCLASS_H
