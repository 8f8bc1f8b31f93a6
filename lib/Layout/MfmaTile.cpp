//===- MfmaTile.cpp - MFMA layouts of whole tiles ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Mfma.h"

#include "MakeError.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tenon::layout;

/// The basis that moves dim `dim` of two by `value`.
static Basis along(unsigned dim, int64_t value) {
  return dim == 0 ? Basis{value, 0} : Basis{0, value};
}

namespace {
/// Collects the digits of a layout: bits as long as the extents below them are
/// powers of two, modes from then on.
struct Digits {
  SmallVector<Basis> registers;
  SmallVector<Basis> waves;
  SmallVector<OuterMode> modes;

  /// `count` steps of `step` along `dim`.
  void add(HwDim input, unsigned dim, int64_t step, int64_t count) {
    if (count == 1) {
      return;
    }
    if (!isPowerOf2_64(count) || !isPowerOf2_64(step)) {
      modes.push_back({input, count, dim, step});
      return;
    }
    SmallVector<Basis> &bases = input == HwDim::Wave ? waves : registers;
    for (int64_t bit = 1; bit < count; bit *= 2) {
      bases.push_back(along(dim, bit * step));
    }
  }
};
} // namespace

Expected<Layout> tenon::layout::mfmaTile(int64_t m, int64_t n,
                                         const MfmaTiling &tiling) {
  const auto &[mn, wavesM, wavesN, rowDim, replicas, wholeRows] = tiling;
  int64_t waves[] = {wavesM, wavesN};
  int64_t extents[] = {m, n};
  if (mn != 16 && mn != 32) {
    return makeError("no MFMA has {0} rows", mn);
  }
  for (unsigned dim : {0u, 1u}) {
    if (waves[dim] < 1 || extents[dim] % (waves[dim] * mn) != 0) {
      return makeError("{0} elements do not divide into {1} waves of {2}x{2} "
                       "instructions",
                       extents[dim], waves[dim], mn);
    }
  }
  unsigned colDim = 1 - rowDim;
  int64_t rows = extents[rowDim] / waves[rowDim];
  int64_t columns = extents[colDim] / waves[colDim];
  SmallVector<Basis> lanes;
  for (int64_t bit = 1; bit < mn; bit *= 2) {
    lanes.push_back(along(colDim, bit));
  }
  // The lane's consecutive rows, then the rows of the lane groups.
  Digits digits;
  int64_t run = mn == 32 ? 16 : (rows / 16) % 2 == 0 && !wholeRows ? 8 : 4;
  digits.add(HwDim::Register, rowDim, 1, run);
  int64_t block = run;
  for (; block < run * (64 / mn); block *= 2) {
    lanes.push_back(along(rowDim, block));
  }
  digits.add(HwDim::Register, rowDim, block, rows / block);
  digits.add(HwDim::Register, colDim, mn, columns / mn);
  for (int64_t bit = 1; bit < replicas; bit *= 2) {
    digits.waves.push_back(Basis{0, 0});
  }
  digits.add(HwDim::Wave, rowDim, rows, waves[rowDim]);
  digits.add(HwDim::Wave, colDim, columns, waves[colDim]);
  return Layout::create({m, n}, digits.registers, lanes, digits.waves,
                        digits.modes);
}

Expected<Layout> tenon::layout::sliceOverWaves(const Layout &layout,
                                               int64_t extent) {
  auto widen = [&](HwDim input) {
    SmallVector<Basis> bases(layout.bases(input));
    for (Basis &basis : bases) {
      basis.insert(basis.begin(), 0);
    }
    return bases;
  };
  SmallVector<Basis> waves = widen(HwDim::Wave);
  if (!isPowerOf2_64(extent) || Log2_64(extent) > waves.size()) {
    return makeError("{0} slices are no power of two of at most {1} waves",
                     extent, int64_t(1) << waves.size());
  }
  for (unsigned bit = 0; bit < Log2_64(extent); ++bit) {
    if (any_of(waves[bit], [](int64_t value) { return value != 0; })) {
      return makeError("wave bit {0} moves elements of a slice", bit);
    }
    waves[bit][0] = int64_t(1) << bit;
  }
  SmallVector<OuterMode> modes(layout.outerModes());
  for (OuterMode &mode : modes) {
    ++mode.dim;
  }
  SmallVector<int64_t> shape(layout.shape());
  shape.insert(shape.begin(), extent);
  return Layout::create(shape, widen(HwDim::Register), widen(HwDim::Lane),
                        waves, modes);
}

namespace {
/// What the accumulator says about one operand.
class OperandBuilder {
public:
  OperandBuilder(const Layout &accumulator, unsigned dim,
                 ArrayRef<Basis> instructionRows, unsigned instructionBits)
      : accumulator(accumulator), dim(dim), rows(instructionRows),
        skipped(instructionBits) {}

  Expected<Layout> build(const Layout &atom, int64_t extentK,
                         const Contraction &contraction) const;

private:
  /// The accumulator's dim is dim 0 of the operand lhs and dim 1 of rhs.
  Basis row(int64_t value) const { return along(dim, value); }
  Basis depth(int64_t value) const { return along(1 - dim, value); }

  const Layout &accumulator;
  unsigned dim;
  ArrayRef<Basis> rows;
  unsigned skipped;
};
} // namespace

Expected<Layout> OperandBuilder::build(const Layout &atom, int64_t extentK,
                                       const Contraction &contraction) const {
  const auto &[run, steps] = contraction;
  int64_t k = atom.shape()[1];
  // Bits are single along k, so that those from `run` on can move up.
  auto place = [&, run = run, steps = steps](int64_t value) {
    return depth(value < run ? value : value * steps);
  };
  Digits digits;
  for (const Basis &basis : atom.bases(HwDim::Register)) {
    if (basis[1] < extentK) {
      digits.registers.push_back(place(basis[1]));
    }
  }
  SmallVector<Basis> lanes;
  for (auto [bit, basis] : enumerate(atom.bases(HwDim::Lane))) {
    lanes.push_back(bit < rows.size() ? row(rows[bit][dim]) : place(basis[1]));
  }
  digits.add(HwDim::Register, 1 - dim, run, steps);
  if (extentK > k) {
    digits.add(HwDim::Register, 1 - dim, k * steps, extentK / k / steps);
  }
  for (const Basis &basis :
       accumulator.bases(HwDim::Register).drop_front(skipped)) {
    if (basis[dim] != 0) {
      digits.registers.push_back(row(basis[dim]));
    }
  }
  for (const Basis &basis : accumulator.bases(HwDim::Wave)) {
    digits.waves.push_back(row(basis[dim]));
  }
  for (OuterMode mode : accumulator.outerModes()) {
    if (mode.dim != dim) {
      if (mode.input == HwDim::Register) {
        continue;
      }
      mode.stride = 0;
      mode.dim = dim;
    }
    digits.modes.push_back(mode);
  }
  int64_t extent = accumulator.shape()[dim];
  SmallVector<int64_t> shape{extent, extentK};
  if (dim == 1) {
    std::swap(shape[0], shape[1]);
  }
  return Layout::create(shape, digits.registers, lanes, digits.waves,
                        digits.modes);
}

Expected<MfmaOperands>
tenon::layout::mfmaOperands(const Layout &accumulator, int64_t mn, int64_t k,
                            int64_t extentK, MfmaFormat lhsFormat,
                            MfmaFormat rhsFormat, Contraction contraction) {
  if (accumulator.rank() != 2) {
    return makeError("an accumulator has two dims, found {0}",
                     accumulator.rank());
  }
  if (mn != 16 && mn != 32) {
    return makeError("no MFMA has {0} rows", mn);
  }
  bool isHalf = 2 * extentK == k && lhsFormat == MfmaFormat::F8 &&
                rhsFormat == MfmaFormat::F8 && contraction == Contraction();
  if (extentK % k != 0 && !isHalf) {
    return makeError("{0} values of the contraction index are no multiple of "
                     "the instruction's {1}",
                     extentK, k);
  }
  const auto &[run, steps] = contraction;
  if (!isHalf && (!isPowerOf2_64(run) || !isPowerOf2_64(steps) ||
                  k % run != 0 || extentK / k % steps != 0)) {
    return makeError("runs of {0} values and {1} steps do not divide {2} "
                     "instructions of {3} values",
                     run, steps, extentK / k, k);
  }
  ArrayRef<Basis> registers = accumulator.bases(HwDim::Register);
  ArrayRef<Basis> lanes = accumulator.bases(HwDim::Lane);
  unsigned columnBits = Log2_64(mn);
  unsigned fragmentBits = mn == 16 ? 2 : 4;
  if (registers.size() < fragmentBits || lanes.size() != 6) {
    return makeError("the accumulator has {0} register bits, a {1}x{1} "
                     "instruction {2}",
                     registers.size(), mn, fragmentBits);
  }
  // Bits of the row index of the instruction, lowest first (see
  // mfmaAccumulator), and of its column index.
  SmallVector<Basis> rowBases(registers.take_front(2));
  rowBases.append(lanes.begin() + columnBits, lanes.end());
  rowBases.append(registers.begin() + 2, registers.begin() + fragmentBits);
  ArrayRef<Basis> columnBases = lanes.take_front(columnBits);
  unsigned rowDim = rowBases.front()[0] != 0 ? 0 : 1;
  auto movesOnly = [](const Basis &basis, unsigned dim) {
    return basis[dim] != 0 && basis[1 - dim] == 0;
  };
  if (!all_of(rowBases, [&](const Basis &b) { return movesOnly(b, rowDim); }) ||
      !all_of(columnBases,
              [&](const Basis &b) { return movesOnly(b, 1 - rowDim); }) ||
      !all_of(registers.drop_front(fragmentBits), [&](const Basis &b) {
        return movesOnly(b, 0) || movesOnly(b, 1);
      })) {
    return makeError("the accumulator's layout is not that of a {0}x{0} "
                     "instruction with its rows along one dim and its columns "
                     "along the other",
                     mn);
  }
  auto lhsAtom = mfmaOperandA(mn, k, lhsFormat);
  if (!lhsAtom) {
    return lhsAtom.takeError();
  }
  auto rhsAtom = mfmaOperandA(mn, k, rhsFormat);
  if (!rhsAtom) {
    return rhsAtom.takeError();
  }
  // Half an instruction has no registers for the upper values of k, and needs
  // all lanes for the lower ones.
  if (isHalf && any_of(lhsAtom->bases(HwDim::Lane), [&](const Basis &basis) {
        return basis[1] >= extentK;
      })) {
    return makeError(
        "lanes share the {0} values of k of a {1}x{1} instruction: "
        "it cannot take half of them",
        k, mn);
  }
  auto basesOf = [&](unsigned dim) {
    return dim == rowDim ? ArrayRef<Basis>(rowBases) : columnBases;
  };
  auto lhs = OperandBuilder(accumulator, 0, basesOf(0), fragmentBits)
                 .build(*lhsAtom, extentK, contraction);
  if (!lhs) {
    return lhs.takeError();
  }
  auto rhs = OperandBuilder(accumulator, 1, basesOf(1), fragmentBits)
                 .build(*rhsAtom, extentK, contraction);
  if (!rhs) {
    return rhs.takeError();
  }
  return MfmaOperands{std::move(*lhs), std::move(*rhs), rowDim};
}
