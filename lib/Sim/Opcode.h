//===- Opcode.h - what the tables say about an operation --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_OPCODE_H
#define TENON_LIB_SIM_OPCODE_H

#include "Instruction.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <deque>
#include <string>
#include <vector>

namespace tenon::sim {

/// Type of an operand: its width in registers and how a constant is expanded.
enum class ValueType : uint8_t {
  None,
  I16,
  F16,
  Bf16,
  PackedF16, ///< two halves; an inline constant fills the lower one
  PackedI16,
  PackedF32, ///< two registers; an inline constant fills the lower one
  I32,
  F32,
  I64,
  F64,
  B96,
  B128,
  B192,
  B256,
  B512,
  B1024,
  Mask, ///< 64-bit lane mask in scalar registers
};

/// Registers that a value of a type takes.
constexpr unsigned registersOf(ValueType type) {
  switch (type) {
  case ValueType::None:
    return 0;
  case ValueType::PackedF32:
  case ValueType::I64:
  case ValueType::F64:
  case ValueType::Mask:
    return 2;
  case ValueType::B96:
    return 3;
  case ValueType::B128:
    return 4;
  case ValueType::B192:
    return 6;
  case ValueType::B256:
    return 8;
  case ValueType::B512:
    return 16;
  case ValueType::B1024:
    return 32;
  default:
    return 1;
  }
}

/// Properties of an operation that decoding has to know.
enum OpFlags : uint32_t {
  opNone = 0,
  opScalarDst = 1 << 0,   ///< vector instruction that writes `sdst` only
  opCarryOut = 1 << 1,    ///< writes VCC (e32) or the VOP3B scalar destination
  opCarryIn = 1 << 2,     ///< reads VCC (e32) or the third operand as a mask
  opAccumulates = 1 << 3, ///< the destination is the third operand
  opReadsDst = 1 << 4,    ///< keeps a part of the old destination
  opSwapsDst = 1 << 5,    ///< writes its first source too
  opLiteralMid = 1 << 6,  ///< v_fmamk: the literal is the second operand
  opLiteralEnd = 1 << 7,  ///< v_fmaak: the literal is the third operand
  opReturns = 1 << 8,     ///< LDS or memory operation with a vector result
  opStores = 1 << 9,      ///< memory operation with data to write
  opTwoAddress = 1 << 10, ///< ds_*2: two 8-bit offsets
  opBranch = 1 << 11,     ///< SOPP with a target
  opAtomic = 1 << 12,     ///< returns the old value only with sc0
  opToLds = 1 << 13,      ///< memory load into LDS
  opAgprSrc = 1 << 14,    ///< the source VGPR is an AGPR (v_accvgpr_read)
  opSmallFormats = 1 << 16, ///< MFMA whose cbsz and blgp name formats
  opAgprDst = 1 << 15,      ///< the destination is an AGPR (v_accvgpr_write)
  opSparse = 1 << 18,       ///< SMFMAC: the third operand is never an AGPR
  opNoAddress = 1 << 17,    ///< LDS operation without an address register
};

/// One entry of the operation tables, found by its mnemonic without encoding
/// suffix.
struct OpcodeInfo {
  llvm::StringRef name;
  Handler handler = nullptr;
  ValueType dst = ValueType::None;
  ValueType src[3] = {ValueType::None, ValueType::None, ValueType::None};
  uint32_t flags = opNone;
  /// Meaning belongs to the family (offset stride of ds_*st64 ...).
  int32_t param = 0;
};

/// A table whose names are put together from parts.
class OpcodeTable {
public:
  void add(std::string name, OpcodeInfo info) {
    names.push_back(std::move(name));
    info.name = names.back();
    entries.push_back(info);
  }
  llvm::ArrayRef<OpcodeInfo> all() const { return entries; }

private:
  std::deque<std::string> names; ///< keeps its elements in place
  std::vector<OpcodeInfo> entries;
};

/// The tables, one per family of instructions.
llvm::ArrayRef<OpcodeInfo> scalarAluTable();
llvm::ArrayRef<OpcodeInfo> scalarControlTable();
llvm::ArrayRef<OpcodeInfo> scalarMemoryTable();
llvm::ArrayRef<OpcodeInfo> modalTable();
llvm::ArrayRef<OpcodeInfo> vectorFloat32Table();
llvm::ArrayRef<OpcodeInfo> transcendentalTable();
llvm::ArrayRef<OpcodeInfo> vectorIntegerTable();
llvm::ArrayRef<OpcodeInfo> vectorWideTable();
llvm::ArrayRef<OpcodeInfo> vectorHalfTable();
llvm::ArrayRef<OpcodeInfo> vectorConvertTable();
llvm::ArrayRef<OpcodeInfo> scaledConvertTable();
llvm::ArrayRef<OpcodeInfo> vectorSpecialTable();
llvm::ArrayRef<OpcodeInfo> vectorCompareTable();
llvm::ArrayRef<OpcodeInfo> vectorPackedTable();
llvm::ArrayRef<OpcodeInfo> crossLaneTable();
llvm::ArrayRef<OpcodeInfo> matrixTable();
llvm::ArrayRef<OpcodeInfo> smallMatrixTable();
llvm::ArrayRef<OpcodeInfo> ldsTable();
llvm::ArrayRef<OpcodeInfo> ldsSpecialTable();
llvm::ArrayRef<OpcodeInfo> flatMemoryTable();
llvm::ArrayRef<OpcodeInfo> bufferMemoryTable();

/// Handlers of the operand prologues.
void execDpp(Wave &wave, const Instr &instr);
void execSdwa(Wave &wave, const Instr &instr);

/// Whether an instruction can switch skipping or indexing of vector
/// instructions on, and what makes one obey them.
bool switchesVectorModes(const Instr &instr);
void makeModal(Instr &instr);

/// Reports an instruction that no table has.
void execUnimplemented(Wave &wave, const Instr &instr);

/// The entry of a mnemonic with or without encoding suffix, or null.
const OpcodeInfo *findOpcode(llvm::StringRef mnemonic);

/// The mnemonic without "_e32", "_e64", "_dpp", "_sdwa".
llvm::StringRef stripEncodingSuffix(llvm::StringRef mnemonic);

} // namespace tenon::sim

#endif // TENON_LIB_SIM_OPCODE_H
