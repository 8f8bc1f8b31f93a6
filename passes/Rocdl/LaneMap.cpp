//===- LaneMap.cpp - from the thread index to coordinates -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Rocdl/Emitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;
using layout::HwDim;

// The thread index is lane + 64 * wave, so lane bits and wave bits that follow
// each other in a coordinate are one bit field of it.

namespace {
/// Bits [from, from + count) of the thread index that become the bits of a
/// coordinate from `to` on.
struct Run {
  unsigned from;
  unsigned count;
  unsigned to;
};
} // namespace

bool tenon::rocdl::overlapsThreads(const layout::Layout &layout, unsigned dim,
                                   int64_t coordinate) {
  for (HwDim input : {HwDim::Lane, HwDim::Wave}) {
    for (const layout::Basis &basis : layout.bases(input)) {
      if (basis[dim] & coordinate) {
        return true;
      }
    }
  }
  return false;
}

FailureOr<Value> Emitter::threadCoordinate(const layout::Layout &layout,
                                           unsigned dim) {
  SmallVector<std::pair<unsigned, int64_t>> images;
  for (auto [bit, basis] : llvm::enumerate(layout.bases(HwDim::Lane))) {
    images.emplace_back(bit, basis[dim]);
  }
  for (auto [bit, basis] : llvm::enumerate(layout.bases(HwDim::Wave))) {
    images.emplace_back(6 + bit, basis[dim]);
  }
  for (const layout::OuterMode &mode : layout.outerModes()) {
    if (mode.input == HwDim::Wave) {
      kernel.emitOpError("layouts over a number of waves that is not a power "
                         "of two are not lowered yet");
      return failure();
    }
  }
  SmallVector<Run> runs;
  Value result;
  uint64_t covered = 0;
  auto merge = [&](Value value, uint64_t bits) {
    if (!result) {
      result = value;
    } else if ((covered & bits) == 0) {
      result = LLVM::OrOp::create(b, loc, result, value, /*isDisjoint=*/true);
    } else {
      result = LLVM::XOrOp::create(b, loc, result, value);
    }
    covered |= bits;
  };
  for (auto [bit, image] : images) {
    if (image == 0) {
      continue;
    }
    if (!llvm::isPowerOf2_64(image)) {
      // The bit moves several coordinate bits: a swizzle.
      Value field = LLVM::AndOp::create(
          b, loc, LLVM::LShrOp::create(b, loc, threadId(), i32(bit)), i32(1));
      merge(LLVM::MulOp::create(b, loc, field, i32(image)), image);
      continue;
    }
    unsigned to = llvm::Log2_64(image);
    if (!runs.empty() && runs.back().from + runs.back().count == bit &&
        runs.back().to + runs.back().count == to) {
      ++runs.back().count;
    } else {
      runs.push_back({bit, 1, to});
    }
  }
  unsigned threadBits = llvm::Log2_32(kernel.getWaves() * 64);
  for (const Run &run : runs) {
    Value field = threadId();
    if (run.from != 0) {
      field = LLVM::LShrOp::create(b, loc, field, i32(run.from));
    }
    if (run.from + run.count < threadBits) {
      field = LLVM::AndOp::create(b, loc, field,
                                  i32((int64_t(1) << run.count) - 1));
    }
    if (run.to != 0) {
      field = LLVM::ShlOp::create(b, loc, field, i32(run.to));
    }
    merge(field, ((uint64_t(1) << run.count) - 1) << run.to);
  }
  return result;
}

FailureOr<Value> Emitter::threadOffset(const layout::Layout &layout,
                                       ArrayRef<OpFoldResult> strideBytes) {
  Value offset;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    FailureOr<Value> coordinate = threadCoordinate(layout, dim);
    if (failed(coordinate)) {
      return failure();
    }
    if (!*coordinate) {
      continue;
    }
    Value stride;
    if (auto attr = dyn_cast<Attribute>(strideBytes[dim])) {
      stride = i32(cast<IntegerAttr>(attr).getInt());
    } else {
      stride = cast<Value>(strideBytes[dim]);
    }
    offset = addI32(offset, LLVM::MulOp::create(b, loc, *coordinate, stride));
  }
  return offset;
}
