//===- LdsCopy.cpp - copies that fill a tile in LDS -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/LdsCopy.h"

#include "MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace llvm;
using namespace tenon::layout;

static constexpr int64_t lanesPerWave = 64;

/// The dim along which elements lie side by side, if there is one.
static std::optional<unsigned> runDimOf(const LdsLayout &lds) {
  for (unsigned dim = lds.rank(); dim-- > 0;) {
    if (lds.shape()[dim] > 1 && lds.strides()[dim] == 1) {
      return dim;
    }
  }
  return std::nullopt;
}

/// Checks that the bytes of a lane are one run of elements along `runDim`.
static Error checkRuns(const LdsLayout &lds, unsigned runDim,
                       int64_t laneBytes) {
  int64_t bits = lds.elementBits();
  for (unsigned dim = 0; dim < lds.rank(); ++dim) {
    if (dim != runDim && lds.shape()[dim] > 1 &&
        lds.strides()[dim] * bits % (laneBytes * 8) != 0) {
      return makeError("a step along dim {0} is {1} bits, no multiple of {2} "
                       "bytes, which one lane copies",
                       dim, lds.strides()[dim] * bits, laneBytes);
    }
  }
  if (lds.shape()[runDim] * bits % (laneBytes * 8) != 0) {
    return makeError("a run along dim {0} has {1} bits, no multiple of {2} "
                     "bytes, which one lane copies",
                     runDim, lds.shape()[runDim] * bits, laneBytes);
  }
  for (const SwizzleTerm &term : lds.swizzle()) {
    if (term.mask % laneBytes != 0) {
      return makeError("the swizzle flips {0}, no multiple of {1} bytes, which "
                       "one lane copies",
                       term.mask, laneBytes);
    }
  }
  return Error::success();
}

/// Fills in how the instructions of `copy` relate to the first bytes of the
/// tile, whose layout without padding is `packed`.
static void relateInstructions(LdsCopy &copy, const LdsLayout &packed) {
  copy.isLinear = isPowerOf2_64(copy.waves);
  for (unsigned dim = 0; dim < packed.rank(); ++dim) {
    copy.isLinear &=
        packed.shape()[dim] == 1 ||
        isPowerOf2_64(packed.strides()[dim] * packed.elementBits());
  }
  if (!copy.isLinear) {
    return;
  }
  // Coordinates are then linear in the bits of the address.
  SmallVector<int64_t> threads(packed.rank(), 0);
  int64_t round = copy.chunkBytes() * copy.waves;
  for (int64_t bit = copy.laneBytes; bit < round; bit *= 2) {
    SmallVector<int64_t> coords = *packed.coordinatesAt(bit);
    for (unsigned dim = 0; dim < packed.rank(); ++dim) {
      threads[dim] |= coords[dim];
    }
  }
  for (int64_t index : seq<int64_t>(0, copy.instructions)) {
    LdsCopy::Instruction part;
    SmallVector<int64_t> coords =
        *packed.coordinatesAt(copy.firstByte + index * round);
    for (unsigned dim = 0; dim < packed.rank(); ++dim) {
      part.flips.push_back(coords[dim] & threads[dim]);
      part.steps.push_back(coords[dim] & ~threads[dim]);
    }
    copy.parts.push_back(std::move(part));
  }
}

Expected<SmallVector<LdsCopy, 2>>
tenon::layout::planLdsCopies(const LdsLayout &lds, int64_t waves,
                             ArrayRef<int64_t> widths) {
  std::optional<unsigned> runDim = runDimOf(lds);
  if (!runDim) {
    return makeError("no dim along which elements lie side by side");
  }
  int64_t elements = 1;
  for (int64_t extent : lds.shape()) {
    elements *= extent;
  }
  int64_t bytes = elements * lds.elementBits() / 8;
  auto packed = LdsLayout::create(lds.shape(), lds.strides(), lds.elementBits(),
                                  lds.swizzle());
  if (!packed) {
    return packed.takeError();
  }
  if (packed->sizeInBytes() != bytes) {
    return makeError("the layout leaves gaps: {0} bytes of elements in {1}",
                     bytes, packed->sizeInBytes());
  }
  SmallVector<LdsCopy, 2> copies;
  int64_t done = 0;
  for (int64_t width : widths) {
    LdsCopy copy;
    copy.runDim = *runDim;
    copy.waves = waves;
    copy.laneBytes = width;
    copy.firstByte = done;
    int64_t round = copy.chunkBytes() * waves;
    copy.instructions = (bytes - done) / round;
    if (copy.instructions == 0 && width != widths.back()) {
      continue;
    }
    // A narrower width may do what a wider one cannot.
    Error error = checkRuns(lds, *runDim, width);
    if (!error && lds.padding().interval % copy.chunkBytes() != 0) {
      error = makeError("padding after every {0} bytes, no multiple of {1} "
                        "bytes, which one instruction copies",
                        lds.padding().interval, copy.chunkBytes());
    }
    if (error) {
      if (width == widths.back()) {
        return std::move(error);
      }
      consumeError(std::move(error));
      continue;
    }
    if (copy.instructions > 0) {
      relateInstructions(copy, *packed);
      done += copy.instructions * round;
      copies.push_back(std::move(copy));
    }
    if (done == bytes) {
      return copies;
    }
  }
  int64_t least = lanesPerWave * (widths.empty() ? 0 : widths.back()) * waves;
  return makeError("{0} bytes, no multiple of {1}: {2} bytes per instruction "
                   "of each of {3} waves",
                   bytes, least, waves == 0 ? 0 : least / waves, waves);
}

Expected<Layout> tenon::layout::copiedRows(int64_t rows, int64_t rowBytes,
                                           int64_t waves,
                                           ArrayRef<int64_t> widths) {
  constexpr int64_t elementBits = 8;
  auto copies = planLdsCopies(
      LdsLayout::rowMajor({rows, rowBytes}, elementBits), waves, widths);
  if (!copies) {
    return copies.takeError();
  }
  if (copies->size() != 1 || !isPowerOf2_64(rowBytes) ||
      !isPowerOf2_64(waves)) {
    return makeError("{0} rows of {1} bytes are not gathered by {2} waves: "
                     "rows, and the bytes of an instruction of all waves, are "
                     "powers of two, and all instructions are of one width",
                     rows, rowBytes, waves);
  }
  // The row of each bit of an address.
  const LdsCopy &copy = copies->front();
  int64_t bit = copy.laneBytes;
  auto below = [&](int64_t end) {
    SmallVector<Basis> bases;
    for (; bit < end; bit *= 2) {
      bases.push_back({bit / rowBytes});
    }
    return bases;
  };
  SmallVector<Basis> lanes = below(copy.chunkBytes());
  SmallVector<Basis> ofWaves = below(copy.chunkBytes() * waves);
  int64_t instructions = copy.instructions;
  SmallVector<Basis> registers;
  if (bit < rowBytes) {
    // Several instructions to a row.
    instructions /= rowBytes / bit;
    registers = below(rowBytes);
  }
  auto once = Layout::create({bit / rowBytes}, registers, lanes, ofWaves, {});
  if (!once) {
    return once.takeError();
  }
  return Layout::repeat(*once, Repeat{HwDim::Register, instructions, 0});
}
