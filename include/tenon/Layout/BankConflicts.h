//===- BankConflicts.h - the phases of an LDS access ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LAYOUT_BANKCONFLICTS_H
#define TENON_LAYOUT_BANKCONFLICTS_H

#include "tenon/Layout/LdsLayout.h"

namespace tenon::layout {

enum class LdsAccess : uint8_t { Read, Write };

/// How the hardware serves one LDS instruction of `accessBits` per lane: the
/// lanes of each mask of `phases` are served together, in as many cycles as the
/// busiest of the `banks` banks has dwords to move. Bank of a byte address:
/// address / 4 mod banks.
struct PhaseRule {
  unsigned accessBits;
  unsigned banks;
  llvm::SmallVector<uint64_t> phases;
};

/// A read in which 16 lanes exchange what they read, see transposedSource.
struct TransposingRead {
  unsigned elementBits;
  unsigned accessBits; ///< per lane; served like other reads of that width
};

/// The rules of a chip. Filled in from its description.
struct BankRules {
  llvm::SmallVector<PhaseRule> reads;
  llvm::SmallVector<PhaseRule> writes;
  llvm::SmallVector<TransposingRead> transposingReads;

  /// The rule of an access; one of less than a dword follows the dword rule.
  /// Null when the chip is not known to have one.
  const PhaseRule *find(LdsAccess kind, unsigned accessBits) const;
};

/// What an access to a whole tile costs.
struct BankConflicts {
  int64_t instructions = 0; ///< Over all waves.
  int64_t phases = 0;       ///< Cycles they would take without conflicts.
  int64_t extraPhases = 0;  ///< Cycles added by conflicts.
  int64_t worstDegree = 1;  ///< Most cycles that one phase takes.

  bool operator==(const BankConflicts &) const = default;
};

/// The addresses of one LDS instruction.
struct LdsInstruction {
  int64_t wave;
  int64_t firstRegister;
  llvm::SmallVector<int64_t, 0> addresses; ///< Byte address of each lane.
};

/// The instructions that move a tile laid out as `layout` from or to LDS in
/// groups of accessBits / elementBits consecutive registers (not necessarily a
/// power of two, for 96-bit accesses). An error when the groups do not divide
/// the registers, are no runs of addresses, or are not aligned: to the access,
/// or to a dword for 96 bits.
llvm::Expected<llvm::SmallVector<LdsInstruction>>
ldsInstructions(const Layout &layout, const LdsLayout &lds,
                unsigned accessBits);

/// The cycles that the lanes `lanes` take: the largest number of distinct
/// dwords in one bank. Lanes that access the same dword share it.
unsigned phaseCycles(llvm::ArrayRef<int64_t> addresses, uint64_t lanes,
                     unsigned accessBits, unsigned banks);

/// Counts the phases of all instructions exactly. An error as for
/// ldsInstructions, or when `rules` has no rule for the access.
llvm::Expected<BankConflicts> bankConflicts(const Layout &layout,
                                            const LdsLayout &lds,
                                            unsigned accessBits, LdsAccess kind,
                                            const BankRules &rules);

/// One way in which a tile in LDS is accessed.
struct LdsUse {
  const Layout *layout;
  unsigned accessBits;
  LdsAccess kind;
};

/// A swizzle of `plain` (which has none) under which none of `uses` has a
/// conflict: bits of the coordinate `rowDim` flip address bits from 16 bytes
/// upwards, within the largest power of two that divides the row stride. Tried
/// are, of the row bits in which lanes of one phase differ and in this order:
/// no swizzle; w such bits that follow each other, to the address bits from 16
/// bytes upwards, for all w; where maps of all of them to masks are more than
/// 2^16, the maps to masks of one address bit or none, if those are not more;
/// all maps of them (lowest first) to masks as far as 2^16 maps go.
/// Returns nullopt when none of these is free of conflicts; an error as for
/// bankConflicts.
llvm::Expected<std::optional<LdsLayout>>
findConflictFreeSwizzle(const LdsLayout &plain, llvm::ArrayRef<LdsUse> uses,
                        const BankRules &rules, unsigned rowDim);

/// A layout in LDS of a tile of rank 2 that direct-to-LDS copies can fill,
/// rows along \p runDim without gaps, from which all of \p readers read
/// without bank conflicts (as chooseLdsRead says). The copies
/// write consecutive bytes and have none. An error when no such swizzle is
/// found.
llvm::Expected<LdsLayout> findCopyLayout(llvm::ArrayRef<int64_t> shape,
                                         unsigned runDim, unsigned elementBits,
                                         llvm::ArrayRef<const Layout *> readers,
                                         const BankRules &rules);

} // namespace tenon::layout

#endif // TENON_LAYOUT_BANKCONFLICTS_H
