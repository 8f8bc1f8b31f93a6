//===- LaneExchange.cpp - moving values between lanes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Rocdl/Emitter.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

// DPP controls within a row of 16 lanes.
static constexpr unsigned quadXor1 = 0xB1; // quad_perm [1, 0, 3, 2]
static constexpr unsigned quadXor2 = 0x4E; // quad_perm [2, 3, 0, 1]
static constexpr unsigned rowRotate4 = 0x124;
static constexpr unsigned rowRotate8 = 0x128;
static constexpr unsigned rowHalfMirror = 0x141;
static constexpr unsigned rowBroadcast = 0x150; // plus the lane
// ds_swizzle in bit-mask mode: and mask 31, xor mask in bits 14 to 10.
static constexpr unsigned swizzleXor4 = 4 << 10 | 0x1F;
static constexpr unsigned swizzleXor16 = 16 << 10 | 0x1F;

Value Emitter::dpp(Value x, unsigned control) {
  Value old = LLVM::PoisonOp::create(b, loc, x.getType());
  return ROCDL::DPPUpdateOp::create(b, loc, x.getType(), old, x, control,
                                    /*rowMask=*/0xF, /*bankMask=*/0xF,
                                    /*boundCtrl=*/true);
}

bool Emitter::hasSwap(unsigned laneBit) const {
  return laneBit == 4   ? target.hasPermlane16Swap()
         : laneBit == 5 ? target.hasPermlane32Swap()
                        : false;
}

Value Emitter::laneBitSet(unsigned laneBit) {
  Value bit = LLVM::AndOp::create(b, loc, threadId(), i32(1 << laneBit));
  return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, bit, i32(0));
}

/// v_permlane16_swap (laneBit 4) or v_permlane32_swap (5): first the values of
/// \p x and \p y in the lanes where the bit is 0, then where it is 1, each pair
/// spread over both: (x0, y0) and (x1, y1).
std::pair<Value, Value> Emitter::permlaneSwap(Value x, Value y,
                                              unsigned laneBit) {
  Type type = x.getType();
  Type i32Type = b.getI32Type();
  auto pairType =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {i32Type, i32Type});
  Value first = LLVM::BitcastOp::create(b, loc, i32Type, x);
  Value second = LLVM::BitcastOp::create(b, loc, i32Type, y);
  Value pair;
  if (laneBit == 4) {
    pair = ROCDL::Permlane16SwapOp::create(b, loc, pairType, first, second,
                                           false, false);
  } else {
    pair = ROCDL::Permlane32SwapOp::create(b, loc, pairType, first, second,
                                           false, false);
  }
  auto half = [&](int64_t index) -> Value {
    Value bits = LLVM::ExtractValueOp::create(b, loc, pair, index);
    return LLVM::BitcastOp::create(b, loc, type, bits);
  };
  return {half(0), half(1)};
}

Value Emitter::exchange(Value x, unsigned laneBit, LaneState state) {
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
  switch (laneBit) {
  case 0:
    return dpp(x, quadXor1);
  case 1:
    return dpp(x, quadXor2);
  case 2:
    // A rotation by 4 reaches the lane at distance 4, or one at distance 8 from
    // it. A mirror of 8 lanes reaches the lane whose bits 0 to 2 differ.
    if (state.uniform & 8) {
      return dpp(x, rowRotate4);
    }
    if (((state.uniform | state.pending) & 3) == 3) {
      return dpp(x, rowHalfMirror);
    }
    return swizzle(swizzleXor4);
  case 3:
    return dpp(x, rowRotate8);
  case 4:
    return swizzle(swizzleXor16);
  default:
    return throughInt([&](Value bits) -> Value {
      Value lane = LLVM::XOrOp::create(b, loc, threadId(), i32(32));
      Value address = LLVM::ShlOp::create(b, loc, lane, i32(2));
      return ROCDL::DsBpermuteOp::create(b, loc, b.getI32Type(), address, bits);
    });
  }
}

Value Emitter::butterfly(tile::ReduceKind kind, Value x, unsigned laneBit,
                         LaneState state) {
  if (hasSwap(laneBit)) {
    auto [low, high] = permlaneSwap(x, x, laneBit);
    return combine(kind, low, high);
  }
  return combine(kind, x, exchange(x, laneBit, state));
}

Value Emitter::scatterStep(tile::ReduceKind kind, Value x, Value y,
                           unsigned laneBit, LaneState state) {
  if (hasSwap(laneBit)) {
    auto [low, high] = permlaneSwap(x, y, laneBit);
    return combine(kind, low, high);
  }
  Value set = laneBitSet(laneBit);
  Value keep = LLVM::SelectOp::create(b, loc, set, y, x);
  Value give = LLVM::SelectOp::create(b, loc, set, x, y);
  return combine(kind, keep, exchange(give, laneBit, state));
}

std::pair<Value, Value> Emitter::gatherStep(Value x, unsigned laneBit,
                                            LaneState state) {
  if (hasSwap(laneBit)) {
    return permlaneSwap(x, x, laneBit);
  }
  Value other = exchange(x, laneBit, state);
  Value set = laneBitSet(laneBit);
  return {LLVM::SelectOp::create(b, loc, set, other, x),
          LLVM::SelectOp::create(b, loc, set, x, other)};
}

Parts Emitter::gather(const Parts &source, const layout::Layout &target,
                      ArrayRef<layout::RegisterToLane> moves) {
  SmallVector<Value> elements(target.numRegisters());
  size_t movedBits = 0;
  for (const layout::RegisterToLane &move : moves) {
    movedBits |= size_t(1) << move.registerBit;
  }
  int64_t next = 0;
  for (size_t index = 0; index < elements.size(); ++index) {
    if ((index & movedBits) == 0) {
      elements[index] = element(source, next++);
    }
  }
  // In a row whose lanes all end with the same, one move per register does.
  LaneState state;
  state.uniform = target.freeLaneMask();
  bool rowUniform = (state.uniform & 0xF) == 0xF;
  for (const layout::RegisterToLane &move : moves) {
    state.uniform &= ~(uint64_t(1) << move.laneBit);
  }
  SmallVector<layout::RegisterToLane> steps;
  SmallVector<layout::RegisterToLane> inRow;
  for (const layout::RegisterToLane &move : llvm::reverse(moves)) {
    (rowUniform && move.laneBit < 4 ? inRow : steps).push_back(move);
  }
  if (!inRow.empty()) {
    SmallVector<Value> spread(elements.size());
    for (size_t index = 0; index < elements.size(); ++index) {
      size_t from = index;
      unsigned lane = 0;
      for (const layout::RegisterToLane &move : inRow) {
        size_t bit = size_t(1) << move.registerBit;
        lane |= (index & bit) ? 1U << move.laneBit : 0U;
        from &= ~bit;
      }
      if (elements[from]) {
        spread[index] = dpp(elements[from], rowBroadcast + lane);
      }
    }
    elements = std::move(spread);
  }
  for (const layout::RegisterToLane &move : steps) {
    size_t other = size_t(1) << move.registerBit;
    for (size_t index = 0; index < elements.size(); ++index) {
      if (elements[index] && (index & other) == 0) {
        std::tie(elements[index], elements[index | other]) =
            gatherStep(elements[index], move.laneBit, state);
      }
    }
    state.uniform |= uint64_t(1) << move.laneBit;
  }
  return fromElements(elements);
}
