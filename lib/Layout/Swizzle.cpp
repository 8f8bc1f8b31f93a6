//===- Swizzle.cpp - search for a swizzle without bank conflicts -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AlikeInstructions.h"
#include "MakeError.h"
#include "tenon/Layout/BankConflicts.h"
#include "tenon/Layout/LdsRead.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <set>
#include <tuple>

using namespace llvm;
using namespace tenon::layout;

static constexpr unsigned firstColumnBit = 4; // 16 bytes, the widest access.
static constexpr unsigned maxColumnBits = 4;
static constexpr unsigned maxSearchBits = 16;
static constexpr int64_t bankBytes = 4;

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

/// Whether one of the phases has a conflict. It comes first from then on: most
/// maps fail where others have.
static bool hasConflict(MutableArrayRef<Phase> phases,
                        ArrayRef<int64_t> rowMasks) {
  for (auto [index, phase] : enumerate(phases)) {
    SmallVector<int64_t, 64> addresses(ArrayRef<int64_t>(phase.addresses));
    for (auto [address, row] : zip_equal(addresses, phase.rows)) {
      for (auto [bit, mask] : enumerate(rowMasks)) {
        address ^= (row >> bit) & 1 ? mask : 0;
      }
    }
    if (phaseCycles(addresses, maskTrailingOnes<uint64_t>(addresses.size()),
                    phase.accessBits, phase.banks) > 1) {
      std::swap(phases.front(), phases[index]);
      return true;
    }
  }
  return false;
}

/// Bits of the row that are not the same in all lanes of a phase: flips of the
/// others move a phase as a whole.
static int64_t varyingRowBits(ArrayRef<Phase> phases) {
  int64_t varying = 0;
  for (const Phase &phase : phases) {
    for (int64_t row : phase.rows) {
      varying |= row ^ phase.rows.front();
    }
  }
  return varying;
}

/// Leaves one of the phases that differ by whole periods of the banks and by
/// bits of the row that do not matter, as those of blocks of rows do.
static void dropAlike(SmallVectorImpl<Phase> &phases) {
  int64_t varying = varyingRowBits(phases);
  std::set<
      std::tuple<unsigned, SmallVector<int64_t, 0>, SmallVector<int64_t, 0>>>
      known;
  erase_if(phases, [&](const Phase &phase) {
    // Of the banks and of the bits that masks flip.
    int64_t period =
        std::max<int64_t>(bankBytes * phase.banks,
                          int64_t(1) << (firstColumnBit + maxColumnBits));
    int64_t base = phase.addresses.front() / period * period;
    SmallVector<int64_t, 0> addresses, rows;
    for (auto [address, row] : zip_equal(phase.addresses, phase.rows)) {
      addresses.push_back(address - base);
      rows.push_back((row ^ phase.rows.front()) & varying);
    }
    return !known.emplace(phase.accessBits, addresses, rows).second;
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
  auto collect = [&](const LdsInstruction &instruction) {
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
  };
  if (auto first = alikeInstruction(*use.layout, plain, use.accessBits)) {
    collect(*first);
    return Error::success();
  }
  auto instructions = ldsInstructions(*use.layout, plain, use.accessBits);
  if (!instructions) {
    return instructions.takeError();
  }
  for (const LdsInstruction &instruction : *instructions) {
    collect(instruction);
  }
  return Error::success();
}

/// A map in which each of the row bits \p bits flips one bit of the address or
/// none, and several may flip the same.
static std::optional<RowMasks> searchSingleBits(MutableArrayRef<Phase> phases,
                                                unsigned rowBits,
                                                unsigned columnBits,
                                                ArrayRef<unsigned> bits) {
  uint64_t count = 1;
  for (size_t bit = 0; bit < bits.size(); ++bit) {
    count *= columnBits + 1;
    if (count > uint64_t(1) << maxSearchBits) {
      return std::nullopt;
    }
  }
  for (uint64_t code : seq<uint64_t>(0, count)) {
    RowMasks masks(rowBits, 0);
    for (uint64_t rest = code; unsigned bit : bits) {
      unsigned column = rest % (columnBits + 1);
      masks[bit] =
          column == 0 ? 0 : int64_t(1) << (firstColumnBit + column - 1);
      rest /= columnBits + 1;
    }
    if (!hasConflict(phases, masks)) {
      return masks;
    }
  }
  return std::nullopt;
}

/// The first of the maps described at findConflictFreeSwizzle that serves.
static std::optional<RowMasks> searchMasks(MutableArrayRef<Phase> phases,
                                           unsigned rowBits,
                                           unsigned columnBits) {
  RowMasks masks(rowBits, 0);
  if (!hasConflict(phases, masks)) {
    return masks;
  }
  int64_t varying = varyingRowBits(phases);
  SmallVector<unsigned> bits;
  for (unsigned bit = 0; bit < rowBits; ++bit) {
    if ((varying >> bit) & 1) {
      bits.push_back(bit);
    }
  }
  unsigned most = std::min<size_t>(columnBits, bits.size());
  for (unsigned width = 1; width <= most; ++width) {
    for (unsigned shift = 0; shift + width <= bits.size(); ++shift) {
      RowMasks shifted(rowBits, 0);
      for (unsigned index = 0; index < width; ++index) {
        shifted[bits[shift + index]] = int64_t(1) << (firstColumnBit + index);
      }
      if (!hasConflict(phases, shifted)) {
        return shifted;
      }
    }
  }
  if (columnBits == 0) {
    return std::nullopt;
  }
  unsigned searched = std::min<size_t>(bits.size(), maxSearchBits / columnBits);
  if (searched < bits.size()) {
    if (auto single = searchSingleBits(phases, rowBits, columnBits, bits)) {
      return single;
    }
  }
  for (uint64_t code :
       seq<uint64_t>(0, uint64_t(1) << (searched * columnBits))) {
    for (unsigned index = 0; index < searched; ++index) {
      masks[bits[index]] = ((code >> (index * columnBits)) &
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
  dropAlike(phases);
  // Address bits that stay within a row, whichever row.
  int64_t strideBytes = plain.strides()[rowDim] * plain.elementBits() / 8;
  unsigned addressBits =
      strideBytes == 0 ? 0 : countr_zero(static_cast<uint64_t>(strideBytes));
  unsigned columnBits =
      addressBits > firstColumnBit ? addressBits - firstColumnBit : 0;
  // Flipping bits beyond the period of the banks changes nothing.
  columnBits = std::min(columnBits, maxColumnBits);
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

Expected<LdsLayout> tenon::layout::findCopyLayout(
    ArrayRef<int64_t> shape, unsigned runDim, unsigned elementBits,
    ArrayRef<const Layout *> readers, const BankRules &rules) {
  if (shape.size() != 2 || runDim > 1) {
    return makeError("expected a tile of rank 2 and a run dim below 2, found "
                     "rank {0} and run dim {1}",
                     shape.size(), runDim);
  }
  unsigned rowDim = 1 - runDim;
  SmallVector<int64_t> strides(2, 1);
  strides[rowDim] = shape[runDim];
  auto plain = LdsLayout::create(shape, strides, elementBits);
  if (!plain) {
    return plain.takeError();
  }
  // The swizzle moves 16 bytes, the widest access, as a whole.
  std::vector<LdsRead> reads;
  for (const Layout *reader : readers) {
    reads.push_back(chooseLdsRead(*reader, *plain, rules));
  }
  SmallVector<LdsUse> uses;
  for (const LdsRead &read : reads) {
    uses.push_back({&read.addressed, read.accessBits, LdsAccess::Read});
  }
  auto found = findConflictFreeSwizzle(*plain, uses, rules, rowDim);
  if (!found) {
    return found.takeError();
  }
  if (!*found) {
    return makeError("no swizzle of rows of {0} bytes keeps these reads free "
                     "of bank conflicts",
                     shape[runDim] * elementBits / 8);
  }
  return std::move(**found);
}
