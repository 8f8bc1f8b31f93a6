//===- TargetInfo.h - Capability questions about a chip ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that knows chips by name. Passes, cost model and simulator ask
// a TargetInfo what a chip can do and never compare its name.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TARGET_TARGETINFO_H
#define TENON_TARGET_TARGETINFO_H

#include "tenon/Target/ChipFacts.h"
#include "tenon/Target/TimingFacts.h"

#include "llvm/Support/Error.h"

#include <optional>

namespace tenon::target {

struct Chip;

/// A cheap value: a reference to the constant table of one chip.
class TargetInfo {
public:
  /// The chip called \p chip ("gfx950"). The error for an unknown name lists
  /// the known ones.
  static llvm::Expected<TargetInfo> get(llvm::StringRef chip);

  /// Names that get() accepts.
  static llvm::ArrayRef<llvm::StringRef> knownChips();

  /// All figures of the chip.
  const ChipFacts &facts() const;

  /// What the timing model knows of the chip.
  const TimingFacts &timing() const;

  llvm::StringRef chip() const { return facts().chip; }
  unsigned waveSize() const { return facts().waveSize; }
  unsigned computeUnits() const { return facts().computeUnits; }

  /// \name Registers and occupancy
  /// @{

  /// Registers of the unified file that a wave occupies: the accumulators
  /// follow the architectural registers at the next accumulator offset, and
  /// the sum is rounded up to the allocation granule.
  unsigned vgprAllocation(unsigned vgprs, unsigned agprs) const;

  /// SGPRs that a wave occupies, rounded up to the allocation granule.
  /// \p sgprs counts VCC and the other reserved registers.
  unsigned sgprAllocation(unsigned sgprs) const;

  /// Waves that the registers of one SIMD can hold; 0 when one wave needs more
  /// than there are. \p sgprs counts VCC and the other reserved registers.
  unsigned wavesPerSimd(unsigned vgprs, unsigned agprs,
                        unsigned sgprs = 0) const;

  /// The most registers (vgprAllocation) per wave with which \p waves waves
  /// fit one SIMD. \p waves is at least 1.
  unsigned maxVgprsForWaves(unsigned waves) const;

  /// LDS bytes that a workgroup occupies, rounded up to the granule; no upper
  /// limit is applied (see facts().ldsBytes).
  uint64_t ldsAllocation(uint64_t bytes) const;

  /// Workgroups of \p workgroupSize lanes that one compute unit can hold under
  /// registers, LDS, wave slots and barriers; 0 when not even one fits.
  unsigned workgroupsPerCu(unsigned vgprs, unsigned agprs, uint64_t ldsBytes,
                           unsigned workgroupSize, unsigned sgprs = 0) const;
  /// @}

  /// \name LDS
  /// @{

  /// Banks and phases of \p op.
  const LdsAccessRule &ldsRule(LdsOp op) const;

  /// Bytes per lane of the copies from global memory into LDS, ascending.
  llvm::ArrayRef<unsigned> directToLdsWidths() const {
    return facts().directToLdsWidths;
  }
  bool hasDirectToLds(unsigned bytesPerLane) const;

  /// The transposed LDS read of elements of \p elementBits, if there is one.
  std::optional<TransposedLdsRead>
  transposedLdsRead(unsigned elementBits) const;
  /// @}

  /// \name Instructions
  /// @{
  bool hasPermlane16Swap() const { return facts().permlane16Swap; }
  bool hasPermlane32Swap() const { return facts().permlane32Swap; }
  bool hasPermlaneSwap() const {
    return hasPermlane16Swap() && hasPermlane32Swap();
  }
  bool hasPackedBf16Conversion() const { return facts().packedBf16Conversion; }
  bool hasPackedFp32() const { return facts().packedFp32; }
  bool hasScaledConversions() const { return facts().scaledConversions; }
  bool hasBitop3() const { return facts().bitop3; }
  bool hasMinimum3Maximum3() const { return facts().minimum3Maximum3; }

  /// Every dense MFMA, one entry per pair of operand formats.
  llvm::ArrayRef<Mfma> mfmas() const;

  /// The single-block MFMA of this shape and these formats; null when the chip
  /// has none.
  const Mfma *findMfma(unsigned m, unsigned n, unsigned k, MatrixFormat a,
                       MatrixFormat b) const;

  /// Single-block MFMAs of these formats, the fastest (most operations per
  /// clock) first and of equal ones the one with the smaller tile first.
  std::vector<Mfma> mfmasFor(MatrixFormat a, MatrixFormat b) const;
  /// @}

  bool operator==(const TargetInfo &other) const {
    return entry == other.entry;
  }

private:
  explicit TargetInfo(const Chip *entry) : entry(entry) {}
  const Chip *entry;
};

} // namespace tenon::target

#endif // TENON_TARGET_TARGETINFO_H
