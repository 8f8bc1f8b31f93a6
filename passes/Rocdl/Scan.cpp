//===- Scan.cpp - sums of the elements up to each ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread sums up its own elements, the lanes of a wave what those before them
// have, and the waves what LDS says of those before.
//
//===----------------------------------------------------------------------===//

#include "passes/Rocdl/Emitter.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

// DPP controls: from a lane further down in the row of 16, from the last lane
// of the row before, from the last lane of the lower half.
static constexpr unsigned rowShiftRight = 0x110; // plus the distance
static constexpr unsigned rowBroadcast15 = 0x142;
static constexpr unsigned rowBroadcast31 = 0x143;

/// The sum of \p x over the lanes up to the own one.
Value Emitter::sumOfLanesUpTo(Value x) {
  // Lanes that a shift reaches from nowhere get 0.
  for (unsigned distance : {1u, 2u, 4u, 8u}) {
    x = addI32(x, dpp(x, rowShiftRight + distance));
  }
  for (auto [control, rows] :
       {std::pair(rowBroadcast15, 0xAu), std::pair(rowBroadcast31, 0xCu)}) {
    Value before =
        ROCDL::DPPUpdateOp::create(b, loc, x.getType(), i32(0), x, control,
                                   rows, /*bankMask=*/0xF, /*boundCtrl=*/false);
    x = addI32(x, before);
  }
  return x;
}

LogicalResult Emitter::emitScan(tile::ScanOp op) {
  auto layout = layoutOf(op.getSource());
  if (failed(layout)) {
    return failure();
  }
  if (!op.getBuffer() && kernel.getWaves() > 1) {
    return op.emitOpError("has no buffer: run tile-assign-layouts first");
  }
  flushGuarded();
  const Parts &source = parts(op.getSource());
  // Sums of the thread's own elements, before each and of all.
  SmallVector<Value> before, upTo;
  Value own;
  for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
    before.push_back(own);
    own = addI32(own, element(source, reg));
    upTo.push_back(own);
  }
  Value lanesUpTo = sumOfLanesUpTo(own);
  Value total =
      ROCDL::ReadlaneOp::create(b, loc, b.getI32Type(), lanesUpTo, i32(63));
  Value base = LLVM::SubOp::create(b, loc, lanesUpTo, own);
  if (int64_t waves = kernel.getWaves(); waves > 1) {
    auto place = ldsPlace(op, op.getBuffer());
    if (failed(place)) {
      return failure();
    }
    auto pointer = [this, place = *place](Value offset) {
      return ldsPointer(addI32(place.uniform, offset), place.begin);
    };
    Value ofWave = total;
    guarded(ReplicaMask{/*lanes=*/63, /*waves=*/0}, [&] {
      Value offset = LLVM::ShlOp::create(b, loc, waveId(), i32(2));
      auto store = LLVM::StoreOp::create(b, loc, ofWave, pointer(offset),
                                         /*alignment=*/4);
      markLdsAccess(store);
    });
    flushGuarded();
    emitBarrier();
    total = Value();
    Value ahead;
    for (int64_t other = 0; other < waves; ++other) {
      auto load =
          LLVM::LoadOp::create(b, loc, b.getI32Type(), pointer(i32(4 * other)),
                               /*alignment=*/4);
      markLdsAccess(load);
      Value sum = ROCDL::ReadfirstlaneOp::create(b, loc, b.getI32Type(), load);
      total = addI32(total, sum);
      Value isAhead = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sgt,
                                           waveId(), i32(other));
      ahead =
          addI32(ahead, LLVM::SelectOp::create(b, loc, isAhead, sum, i32(0)));
    }
    base = addI32(base, ahead);
  }
  SmallVector<Value> results;
  for (Value sum : op.getExclusive() ? before : upTo) {
    results.push_back(addI32(base, sum));
  }
  tiles[op.getResult()] = fromElements(results);
  scalars.map(op.getTotal(), total);
  return success();
}
