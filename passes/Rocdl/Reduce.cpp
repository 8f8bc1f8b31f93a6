//===- Reduce.cpp - reductions ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a reduction belongs to the numbers of a kernel: see tile.reduce.
//
//===----------------------------------------------------------------------===//

#include "passes/Rocdl/Emitter.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;
using layout::HwDim;

Value Emitter::combine(tile::ReduceKind kind, Value a, Value c) {
  if (getElementTypeOrSelf(a.getType()).isInteger(32)) {
    return kind == tile::ReduceKind::Max
               ? LLVM::SMaxOp::create(b, loc, a, c).getResult()
               : LLVM::AddOp::create(b, loc, a, c).getResult();
  }
  if (kind == tile::ReduceKind::Max) {
    return LLVM::MaxNumOp::create(b, loc, a, c);
  }
  return LLVM::FAddOp::create(b, loc, a, c);
}

/// Lane bits that move only \p dims: those that the reduction combines.
static SmallVector<unsigned> bitsWithin(const layout::Layout &layout,
                                        HwDim input, ArrayRef<unsigned> dims) {
  SmallVector<unsigned> bits;
  for (auto [bit, basis] : llvm::enumerate(layout.bases(input))) {
    bool moves = false;
    bool only = true;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      if (basis[dim] != 0) {
        moves = true;
        only &= llvm::is_contained(dims, dim);
      }
    }
    if (moves && only) {
      bits.push_back(bit);
    }
  }
  return bits;
}

LogicalResult Emitter::emitReduction(Operation *op, Value lhs, Value rhs,
                                     tile::ReduceKind kind,
                                     ArrayRef<unsigned> dims) {
  auto layout = layoutOf(lhs);
  auto resultLayout = layoutOf(op->getResult(0));
  if (failed(layout) || failed(resultLayout)) {
    return failure();
  }
  Type element = cast<RankedTensorType>(lhs.getType()).getElementType();
  if (!element.isF32() && (rhs || !element.isInteger(32))) {
    return op->emitOpError("reduces only FP32 ")
           << (rhs ? "" : "and i32 ") << "tiles, found " << element;
  }
  bool replicas = layout->freeRegisterMask() != 0 ||
                  llvm::any_of(layout->outerModes(), [](const auto &mode) {
                    return mode.input == HwDim::Register && mode.stride == 0;
                  });
  if (replicas) {
    return op->emitOpError("reduces a tile whose registers hold replicas");
  }
  bool acrossWaves = !bitsWithin(*layout, HwDim::Wave, dims).empty();
  for (unsigned dim : dims) {
    acrossWaves |= layout->hasWaveModesAlong(dim);
  }
  if (acrossWaves) {
    return op->emitOpError("reduces across waves, which is not lowered yet: "
                           "place the tile so that a wave holds all of it");
  }

  // Registers, in ascending order per result register.
  SmallVector<int64_t> map = layout->sliceRegisterMap(dims);
  int64_t results = *llvm::max_element(map) + 1;
  Parts a = pairs(lhs);
  std::optional<Parts> c;
  if (rhs) {
    c = pairs(rhs);
  }
  bool pairsAlong = a.width == 2;
  bool pairsAcross = a.width == 2;
  for (size_t reg = 0; a.width == 2 && reg < map.size(); reg += 2) {
    pairsAlong &= map[reg] == map[reg + 1];
    pairsAcross &= map[reg] % 2 == 0 && map[reg] + 1 == map[reg + 1];
  }
  if (a.width == 2 && !pairsAlong && !pairsAcross) {
    return op->emitOpError("reduces a layout whose register pairs belong to "
                           "unrelated results, which is not lowered yet");
  }
  int64_t chains = pairsAcross ? results / 2 : results;
  SmallVector<Value> chain(chains);
  for (size_t part = 0; part < a.values.size(); ++part) {
    int64_t reg = part * a.width;
    Value &sum = chain[pairsAcross ? map[reg] / 2 : map[reg]];
    Value x = a.values[part];
    if (!c) {
      sum = sum ? combine(kind, sum, x) : x;
    } else if (!sum) {
      sum = LLVM::FMulOp::create(b, loc, x, c->values[part]);
    } else {
      sum = LLVM::FMAOp::create(b, loc, x, c->values[part], sum);
    }
  }
  SmallVector<Value> elements;
  for (Value sum : chain) {
    if (a.width == 1) {
      elements.push_back(sum);
      continue;
    }
    Value low = LLVM::ExtractElementOp::create(b, loc, sum, i32(0));
    Value high = LLVM::ExtractElementOp::create(b, loc, sum, i32(1));
    if (pairsAlong) {
      elements.push_back(combine(kind, low, high));
    } else {
      elements.append({low, high});
    }
  }

  // Lanes.
  auto moves = layout::matchScatter(layout->slice(dims), *resultLayout);
  assert(moves && "the verifier accepts nothing but scatters");
  SmallVector<unsigned> laneBits = bitsWithin(*layout, HwDim::Lane, dims);
  LaneState state;
  state.uniform = layout->freeLaneMask();
  for (unsigned bit : laneBits) {
    state.pending |= uint64_t(1) << bit;
  }
  for (const layout::RegisterToLane &move : *moves) {
    if (!llvm::is_contained(laneBits, move.laneBit)) {
      return op->emitOpError("scatters over lane bit ")
             << move.laneBit << ", which it does not combine";
    }
  }
  // From the highest lane bit down, scattered or not, so that the order does
  // not depend on how many results a lane has.
  for (unsigned bit : llvm::reverse(laneBits)) {
    state.pending &= ~(uint64_t(1) << bit);
    const auto *move = llvm::find_if(*moves, [&](const auto &candidate) {
      return candidate.laneBit == bit;
    });
    if (move == moves->end()) {
      for (Value &value : elements) {
        value = value ? butterfly(kind, value, bit, state) : value;
      }
      state.uniform |= uint64_t(1) << bit;
      continue;
    }
    size_t other = size_t(1) << move->registerBit;
    for (size_t index = 0; index < elements.size(); ++index) {
      if (elements[index] && (index & other) == 0) {
        elements[index] = scatterStep(kind, elements[index],
                                      elements[index | other], bit, state);
        elements[index | other] = Value();
      }
    }
  }
  llvm::erase(elements, Value());
  Parts emitted = fromElements(elements);
  tiles[op->getResult(0)] = std::move(emitted);
  return success();
}
