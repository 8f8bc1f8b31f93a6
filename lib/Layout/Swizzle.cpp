//===- Swizzle.cpp - search for a swizzle without bank conflicts -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MakeError.h"
#include "tenon/Layout/BankConflicts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tenon::layout;

static constexpr unsigned firstColumnBit = 4; // 16 bytes, the widest access.
static constexpr unsigned maxSearchBits = 16;

namespace {
/// The lanes that are served together, with what a swizzle changes about them.
struct Phase {
  unsigned accessBits;
  unsigned banks;
  SmallVector<int64_t, 0> addresses; ///< Without swizzle.
  SmallVector<int64_t, 0> rows;
};

/// The mask of each row bit, from bit 0 on.
using RowMasks = SmallVector<int64_t, 8>;
} // namespace

static bool hasConflict(ArrayRef<Phase> phases, ArrayRef<int64_t> rowMasks) {
  return any_of(phases, [&](const Phase &phase) {
    SmallVector<int64_t, 64> addresses(ArrayRef<int64_t>(phase.addresses));
    for (auto [address, row] : zip_equal(addresses, phase.rows)) {
      for (auto [bit, mask] : enumerate(rowMasks)) {
        address ^= (row >> bit) & 1 ? mask : 0;
      }
    }
    return phaseCycles(addresses, maskTrailingOnes<uint64_t>(addresses.size()),
                       phase.accessBits, phase.banks) > 1;
  });
}

/// Splits the accesses of `use` into phases.
static Error collectPhases(const LdsLayout &plain, const LdsUse &use,
                           const BankRules &rules, unsigned rowDim,
                           SmallVectorImpl<Phase> &phases) {
  const PhaseRule *rule = rules.find(use.kind, use.accessBits);
  if (!rule) {
    return makeError("no bank rule for {0} of {1} bits",
                     use.kind == LdsAccess::Read ? "reads" : "writes",
                     use.accessBits);
  }
  auto instructions = ldsInstructions(*use.layout, plain, use.accessBits);
  if (!instructions) {
    return instructions.takeError();
  }
  for (const LdsInstruction &instruction : *instructions) {
    for (uint64_t lanes : rule->phases) {
      Phase phase{use.accessBits, rule->banks, {}, {}};
      for (; lanes != 0; lanes &= lanes - 1) {
        unsigned lane = countr_zero(lanes);
        phase.addresses.push_back(instruction.addresses[lane]);
        phase.rows.push_back(use.layout->coordinates(
            instruction.firstRegister, lane, instruction.wave)[rowDim]);
      }
      phases.push_back(std::move(phase));
    }
  }
  return Error::success();
}

/// The first of the maps described at findConflictFreeSwizzle that serves.
static std::optional<RowMasks>
searchMasks(ArrayRef<Phase> phases, unsigned rowBits, unsigned columnBits) {
  RowMasks masks(rowBits, 0);
  if (!hasConflict(phases, masks)) {
    return masks;
  }
  for (unsigned width : seq_inclusive(1u, std::min(columnBits, rowBits))) {
    for (unsigned shift : seq_inclusive(0u, rowBits - width)) {
      RowMasks shifted(rowBits, 0);
      for (unsigned bit = 0; bit < width; ++bit) {
        shifted[shift + bit] = int64_t(1) << (firstColumnBit + bit);
      }
      if (!hasConflict(phases, shifted)) {
        return shifted;
      }
    }
  }
  if (columnBits == 0) {
    return std::nullopt;
  }
  unsigned searched = std::min(rowBits, maxSearchBits / columnBits);
  for (uint64_t code :
       seq<uint64_t>(0, uint64_t(1) << (searched * columnBits))) {
    for (unsigned bit = 0; bit < searched; ++bit) {
      masks[bit] = ((code >> (bit * columnBits)) &
                    maskTrailingOnes<uint64_t>(columnBits))
                   << firstColumnBit;
    }
    if (!hasConflict(phases, masks)) {
      return masks;
    }
  }
  return std::nullopt;
}

Expected<std::optional<LdsLayout>> tenon::layout::findConflictFreeSwizzle(
    const LdsLayout &plain, ArrayRef<LdsUse> uses, const BankRules &rules,
    unsigned rowDim) {
  if (!plain.swizzle().empty() || rowDim >= plain.rank()) {
    return makeError("expected a layout without swizzle and a row dim below "
                     "{0}, found {1} swizzle terms and row dim {2}",
                     plain.rank(), plain.swizzle().size(), rowDim);
  }
  SmallVector<Phase> phases;
  for (const LdsUse &use : uses) {
    if (Error error = collectPhases(plain, use, rules, rowDim, phases)) {
      return std::move(error);
    }
  }
  // Address bits that stay within a row, whichever row.
  int64_t strideBytes = plain.strides()[rowDim] * plain.elementBits() / 8;
  unsigned addressBits =
      strideBytes == 0 ? 0 : countr_zero(static_cast<uint64_t>(strideBytes));
  unsigned columnBits =
      addressBits > firstColumnBit ? addressBits - firstColumnBit : 0;
  // Flipping bits beyond the period of the banks changes nothing.
  columnBits = std::min(columnBits, 4u);
  unsigned rowBits = Log2_64_Ceil(plain.shape()[rowDim]);
  std::optional<RowMasks> masks = searchMasks(phases, rowBits, columnBits);
  if (!masks) {
    return std::nullopt;
  }
  SmallVector<SwizzleTerm> terms;
  for (auto [bit, mask] : enumerate(*masks)) {
    if (mask != 0) {
      terms.push_back({rowDim, static_cast<unsigned>(bit), mask});
    }
  }
  auto swizzled = plain.withSwizzle(terms);
  if (!swizzled) {
    return swizzled.takeError();
  }
  return std::optional<LdsLayout>(std::move(*swizzled));
}
