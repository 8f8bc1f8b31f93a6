//===- CheckProgram.h - what checks know of each instruction ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers read and written, read off the assembly text, so that the checks do
// not share mistakes with the operand decoder.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_SIM_CHECKPROGRAM_H
#define TENON_LIB_SIM_CHECKPROGRAM_H

#include "Instruction.h"

#include "tenon/Sim/CodeObject.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tenon::sim {

class Program;

/// Registers that an operand names: rows of the vector register file, or scalar
/// registers.
struct RegisterRange {
  uint16_t first = 0;
  uint8_t count = 0;
  bool isScalar = false;
  /// Position among the operands of the text; those that the text leaves out
  /// (EXEC of v_cmpx) have none.
  uint8_t operand = noOperand;
  static constexpr uint8_t noOperand = 255;
};

/// Kinds of instructions that the checks tell apart.
enum class CheckKind : uint8_t {
  Other,
  Nop,
  Valu, ///< all vector ALU instructions but matrix products
  Mfma,
  Salu,
  Smem,
  Vmem,
  Lds,
  Branch, ///< with a condition
};

enum CheckFlags : uint32_t {
  checkTrans = 1 << 0,
  checkDpp = 1 << 1,
  checkDot = 1 << 2,
  checkCvtScale = 1 << 3,
  /// Writes a part of its destination by SDWA or op_sel.
  checkPartialDst = 1 << 4,
  checkReadLane = 1 << 5, ///< v_readlane, v_readfirstlane
  checkWriteLane = 1 << 6,
  checkDivFmas = 1 << 7,
  checkPermlaneSwap = 1 << 8,
  checkXdl = 1 << 9,    ///< matrix product of 16-bit or smaller types
  checkDgemm = 1 << 10, ///< matrix product of doubles
  checkSetReg = 1 << 11,
  checkGetReg = 1 << 12,
  checkToLds = 1 << 13, ///< load into LDS
  checkStore = 1 << 14,
  checkLoad = 1 << 15,
  checkAtomic = 1 << 16, ///< with checkStore, and checkLoad if it returns
  checkTwoAddress = 1 << 17,
  checkTransposed = 1 << 18,
  checkReadsDst = 1 << 19, ///< keeps lanes or bits of the old destination
  checkBarrier = 1 << 20,
  checkLaneSelect = 1 << 21, ///< the last operand selects a lane
  checkUsesM0 = 1 << 23,     ///< without naming it
  checkScratch = 1 << 24,
  checkSdwa = 1 << 25,
  checkFlat = 1 << 26,       ///< may go to LDS or scratch
  checkSparse = 1 << 27,     ///< SMFMAC
  checkBroadcasts = 1 << 28, ///< product whose cbsz and blgp move lanes
  checkFma64 = 1 << 29,      ///< v_fma_f64, v_fmac_f64
  checkTiedDst = 1 << 30,    ///< the destination is an operand as well
  checkNeedsM0 = 1u << 31,   ///< must not follow a write of M0 directly
};

/// How undefined data go through an instruction.
enum class TaintRule : uint8_t {
  All,          ///< every source to every destination
  SelectByMask, ///< v_cndmask
  CarryIn,      ///< the last source is a mask of lanes
  Packed32,     ///< each half takes the registers that op_sel names
  WideSum,      ///< two registers; the low one needs only low ones
  PackedMove,   ///< the same, one half from each source
  Bitwise,      ///< bit i depends on bits i only
  BitwiseAnd,
  BitwiseOr,
  AndOr,
  Or3,
  BitSelect, ///< v_bfi
  ShiftLeft, ///< shifts by the first source
  ShiftRight,
  ShiftRightSigned,
  ShiftLeftOr,
  ShiftLeftAdd,
  AddShiftLeft,
  Sum,       ///< carries go upwards: sums and low parts of products
  Product24, ///< the same, of the 24 low bits of two factors
  Extract,
  ExtractSigned,
  Align,
  AlignByte,
  PermuteBytes,
  PackPair,     ///< two halves, one from each source
  PackedHalves, ///< each half from the halves that op_sel and op_sel_hi name
  MixedHalves,  ///< v_fma_mix
  NarrowPair,   ///< two small floats, into a part of the destination
  Narrow,       ///< a part of the destination from all sources
  Widen,        ///< one or two small floats out of a part of the source
  ReadLane,
  ReadFirstLane,
  WriteLane,
  Swap,
  SwapRows,   ///< v_permlane16_swap
  SwapHalves, ///< v_permlane32_swap
  ScalarAnd,
  ScalarOr,
  ScalarAndNot,
  ScalarOrNot,
  ScalarBitwise,
  ScalarSelect,
  ScalarMove, ///< all sources; SCC stays
  SaveExec,
  BranchScc,
  BranchVcc,
  BranchExec,
  Product,
  ProductDouble,
  LdsPermute,
  LdsBackwardPermute,
  LdsSwizzle,
};

/// What an instruction means for the order of memory accesses.
enum class MemoryOrder : uint8_t {
  None,
  Vector, ///< counted by vmcnt
  Scalar, ///< counted by lgkmcnt
  Wait,
  WriteBack,
  Invalidate,
  ScalarWriteBack,
  ScalarInvalidate,
};

/// What the checks know of one instruction.
struct CheckRecord {
  CheckKind kind = CheckKind::Other;
  uint8_t defCount = 0, useCount = 0;
  uint8_t passes = 0; ///< of a matrix product
  uint8_t waitStates = 1;
  uint8_t bytes = 0; ///< per lane of an access to LDS or memory
  /// Of a store: wait states before its data may be overwritten.
  uint8_t storeStates = 0;
  TaintRule taintRule = TaintRule::All;
  /// Position of the first source among the operands of the text.
  uint8_t firstSource = 1;
  uint8_t halfSources = 0;  ///< bit k: source k is a half that op_sel names
  bool halfResult = false;  ///< the result is a half
  bool polls = false;       ///< an LDS read in a loop that waits for its value
  bool highResult = false;  ///< always the upper half
  bool keepsOther = false;  ///< a partial result keeps the other bits
  bool extendsSign = false; ///< of a load
  uint8_t elementBits = 0;  ///< of a small float
  uint8_t elements = 0;     ///< small floats that are converted
  bool wideIsHalf = false;  ///< they come from or become 16-bit floats
  uint8_t productSize = 0;  ///< rows and columns of a block
  uint8_t productBlocks = 1;
  /// Bits of the data register that a load or store moves; bits of the first
  /// source that a vector instruction looks at.
  uint32_t part = ~0u;
  MemoryOrder memoryOrder = MemoryOrder::None;
  uint16_t memoryId = 0;         ///< number among the memory instructions
  uint16_t mnemonic = 0;         ///< equal for equal mnemonics
  uint32_t hardwareRegister = 0; ///< of s_setreg and s_getreg, equal or not
  uint32_t flags = 0;
  RegisterRange defs[3];
  RegisterRange uses[6];
  Footprint touched; ///< all of these

  bool is(uint32_t flag) const { return flags & flag; }
  llvm::ArrayRef<RegisterRange> definitions() const { return {defs, defCount}; }
  llvm::ArrayRef<RegisterRange> operands() const { return {uses, useCount}; }
};

/// The records of a program, by record index.
class CheckProgram {
public:
  explicit CheckProgram(const Program &program);
  /// Of assembly text, one instruction each; an empty text is no instruction.
  CheckProgram(llvm::ArrayRef<std::string> texts, Processor processor);

  const CheckRecord *records() const { return list.data(); }
  Processor processor() const { return target; }
  /// The record of a memory instruction.
  uint32_t memoryRecord(uint32_t memoryId) const { return memory[memoryId]; }

private:
  Processor target;
  std::vector<uint32_t> memory; ///< records by memoryId
  std::vector<CheckRecord> list;
};

/// Fills in how undefined data go through an instruction of that mnemonic.
void describeTaint(llvm::StringRef mnemonic, CheckRecord &record);

/// The record of an instruction in assembly text.
CheckRecord checkRecordOf(llvm::StringRef text, Processor processor);

} // namespace tenon::sim

#endif // TENON_LIB_SIM_CHECKPROGRAM_H
