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

// DPP controls within a row of 16 lanes.
static constexpr unsigned quadXor1 = 0xB1; // quad_perm [1, 0, 3, 2]
static constexpr unsigned quadXor2 = 0x4E; // quad_perm [2, 3, 0, 1]
static constexpr unsigned rowRotate4 = 0x124;
static constexpr unsigned rowRotate8 = 0x128;
// ds_swizzle in bit-mask mode: and mask 31, xor mask in bits 14 to 10.
static constexpr unsigned swizzleXor4 = 4 << 10 | 0x1F;
static constexpr unsigned swizzleXor16 = 16 << 10 | 0x1F;

Value Emitter::combine(tile::ReduceKind kind, Value a, Value c) {
  if (kind == tile::ReduceKind::Max) {
    return LLVM::MaxNumOp::create(b, loc, a, c);
  }
  return LLVM::FAddOp::create(b, loc, a, c);
}

Value Emitter::dpp(Value x, unsigned control) {
  Value old = LLVM::PoisonOp::create(b, loc, x.getType());
  return ROCDL::DPPUpdateOp::create(b, loc, x.getType(), old, x, control,
                                    /*rowMask=*/0xF, /*bankMask=*/0xF,
                                    /*boundCtrl=*/true);
}

/// Combines lanes that differ in \p laneBit, so that both end with the same
/// bits. \p done: lane bits along which all lanes already agree.
Value Emitter::butterfly(tile::ReduceKind kind, Value x, unsigned laneBit,
                         uint64_t done) {
  Type type = x.getType();
  auto throughInt = [&](auto move) -> Value {
    Value bits = LLVM::BitcastOp::create(b, loc, b.getI32Type(), x);
    return LLVM::BitcastOp::create(b, loc, type, move(bits));
  };
  auto swizzle = [&](unsigned pattern) {
    return throughInt([&](Value bits) -> Value {
      return ROCDL::DsSwizzleOp::create(b, loc, b.getI32Type(), bits,
                                        i32(pattern));
    });
  };
  auto swap = [&](auto create) {
    Value bits = LLVM::BitcastOp::create(b, loc, b.getI32Type(), x);
    Value pair = create(bits);
    auto half = [&](int64_t index) -> Value {
      return LLVM::BitcastOp::create(
          b, loc, type, LLVM::ExtractValueOp::create(b, loc, pair, index));
    };
    return combine(kind, half(0), half(1));
  };
  auto pairType = LLVM::LLVMStructType::getLiteral(
      b.getContext(), {b.getI32Type(), b.getI32Type()});
  switch (laneBit) {
  case 0:
    return combine(kind, x, dpp(x, quadXor1));
  case 1:
    return combine(kind, x, dpp(x, quadXor2));
  case 2:
    // A rotation by 4 reaches the lane at distance 4 up to one of distance 8.
    if (done & 8) {
      return combine(kind, x, dpp(x, rowRotate4));
    }
    return combine(kind, x, swizzle(swizzleXor4));
  case 3:
    return combine(kind, x, dpp(x, rowRotate8));
  case 4:
    if (target.hasPermlane16Swap()) {
      return swap([&](Value bits) -> Value {
        return ROCDL::Permlane16SwapOp::create(b, loc, pairType, bits, bits,
                                               false, false);
      });
    }
    return combine(kind, x, swizzle(swizzleXor16));
  default:
    if (target.hasPermlane32Swap()) {
      return swap([&](Value bits) -> Value {
        return ROCDL::Permlane32SwapOp::create(b, loc, pairType, bits, bits,
                                               false, false);
      });
    }
    return combine(kind, x, throughInt([&](Value bits) -> Value {
      Value lane = LLVM::XOrOp::create(b, loc, threadId(), i32(32));
      Value address = LLVM::ShlOp::create(b, loc, lane, i32(2));
      return ROCDL::DsBpermuteOp::create(b, loc, b.getI32Type(), address, bits);
    }));
  }
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
  if (failed(layout)) {
    return failure();
  }
  Type element = cast<RankedTensorType>(lhs.getType()).getElementType();
  if (!element.isF32()) {
    return op->emitOpError("reduces only FP32 tiles, found ") << element;
  }
  if (layout->freeRegisterMask() != 0) {
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
  const Parts &a = parts(lhs);
  const Parts *c = rhs ? &parts(rhs) : nullptr;
  bool pairsAlong = a.width == 2 && map[0] == map[1];
  bool pairsAcross = a.width == 2 && !pairsAlong && results % 2 == 0;
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

  // Lanes. Bit 3 before bit 2: see butterfly.
  SmallVector<unsigned> laneBits = bitsWithin(*layout, HwDim::Lane, dims);
  uint64_t done = layout->freeLaneMask();
  for (unsigned bit : {3u, 2u, 1u, 0u, 4u, 5u}) {
    if (!llvm::is_contained(laneBits, bit)) {
      continue;
    }
    for (Value &value : elements) {
      value = butterfly(kind, value, bit, done);
    }
    done |= uint64_t(1) << bit;
  }
  Parts emitted = fromElements(elements);
  tiles[op->getResult(0)] = std::move(emitted);
  return success();
}
