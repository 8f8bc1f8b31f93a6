//===- DecodeSplit.cpp - how histories are split into slots -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 64 numbers of keys per slot are tried side by side, one per lane. The slots
// before those of a request are a sum over the requests before it.
//
// Sums of whole numbers are FP32 where they cross lanes; they are exact up to
// 2^24, far beyond the slots of any plan.
//
//===----------------------------------------------------------------------===//

#include "DecodeSplit.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::mla;

/// Numbers of keys per slot that are tried, one per lane.
static constexpr int64_t tries = 64;
/// Requests of which a lane holds all at a time, and those that lanes share.
static constexpr int64_t requestsPerLane = 16;
static constexpr int64_t requestsOfWave = 256;
/// Of the estimated time (tenon.mla_plan).
static constexpr double slotBlocks = 2;
static constexpr int64_t workBlocks = 16;

SplitRule::SplitRule(TileBuilder &builder, const SplitInputs &inputs,
                     int64_t waves)
    : t(builder), b(builder.builder()), in(inputs), waves(waves) {
  SmallVector<layout::Basis> lanes;
  for (int64_t bit = 4; bit < requestsOfWave; bit *= 2) {
    lanes.push_back({bit});
  }
  byLane = layout({requestsOfWave}, {{1}, {2}}, lanes);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// A layout that every wave has alike.
tile::LayoutAttr SplitRule::layout(ArrayRef<int64_t> extents,
                                   ArrayRef<layout::Basis> registers,
                                   ArrayRef<layout::Basis> lanes) {
  SmallVector<layout::Basis> alike;
  for (int64_t bit = 1; bit < waves; bit *= 2) {
    alike.emplace_back(extents.size(), 0);
  }
  return tile::LayoutAttr::get(
      b.getContext(), llvm::cantFail(layout::Layout::create(extents, registers,
                                                            lanes, alike, {})));
}

tile::LayoutAttr SplitRule::table(int64_t requests) {
  SmallVector<layout::Basis> registers, lanes;
  for (int64_t bit = 1; bit < requests; bit *= 2) {
    registers.push_back({bit, 0});
  }
  for (int64_t bit = 1; bit < tries; bit *= 2) {
    lanes.push_back({0, bit});
  }
  return layout({requests, tries}, registers, lanes);
}

Value SplitRule::filled(ArrayRef<int64_t> extents, Type element,
                        tile::LayoutAttr layout) {
  return t.create<arith::ConstantOp>(DenseElementsAttr::get(
      RankedTensorType::get(extents, element, layout), b.getZeroAttr(element)));
}

Value SplitRule::toFloat(Value integers) {
  auto from = cast<RankedTensorType>(integers.getType());
  return t.create<arith::SIToFPOp>(from.clone(b.getF32Type()), integers);
}

Value SplitRule::toInteger(Value floats) {
  auto from = cast<RankedTensorType>(floats.getType());
  return t.create<arith::FPToSIOp>(from.clone(b.getI32Type()), floats);
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

Value SplitRule::localLength(Value global) {
  auto like = [&](Value scalar) {
    return isa<RankedTensorType>(global.getType()) ? all(scalar, global)
                                                   : scalar;
  };
  Value zero = like(t.i32(0));
  Value length = make<arith::MaxSIOp>(global, zero);
  if (in.cpSize == 1) {
    return length;
  }
  Value turn = like(t.i32(in.cpSize * in.cpInterleave));
  Value own = like(t.i32(in.cpInterleave));
  Value whole = make<arith::DivUIOp>(length, turn);
  Value rest = make<arith::SubIOp>(length, t.mul(whole, turn));
  rest =
      make<arith::SubIOp>(rest, like(t.mul(in.cpRank, t.i32(in.cpInterleave))));
  rest = make<arith::MinSIOp>(make<arith::MaxSIOp>(rest, zero), own);
  return t.add(t.mul(whole, own), rest);
}

Value SplitRule::blocksOf(Value keys) {
  static_assert(planKeys == 64);
  auto constant = [&](int64_t value) {
    return isa<RankedTensorType>(keys.getType()) ? all(value, keys)
                                                 : t.i32(value);
  };
  return make<arith::ShRUIOp>(t.add(keys, constant(planKeys - 1)), constant(6));
}

/// \p count over \p by, rounded up, by a reciprocal that may be one off.
Value SplitRule::divideUp(Value count, Value by, Value inverse) {
  Value one = all(1, by);
  Value raised = t.add(count, make<arith::SubIOp>(by, one));
  Value quotient = toInteger(t.mulf(toFloat(raised), inverse));
  Value rest = make<arith::SubIOp>(raised, t.mul(quotient, by));
  Value zero = all(0, by);
  Value isLow = t.create<arith::CmpIOp>(arith::CmpIPredicate::sge, rest, by);
  quotient = t.add(quotient, t.select(isLow, one, zero));
  return make<arith::SubIOp>(quotient, t.select(less(rest, zero), one, zero));
}

/// Slots of requests of \p blocks blocks, at least one each.
Value SplitRule::slotsOf(Value blocks, Value perSlot, Value inverse) {
  Value slots = divideUp(blocks, perSlot, inverse);
  return make<arith::MaxSIOp>(slots, all(1, slots));
}

/// Keys of the requests from \p first on; 0 beyond the last.
Value SplitRule::loadLengths(Value first, int64_t count,
                             tile::LayoutAttr layout) {
  Value view =
      t.view(in.lengths, {b.getIndexAttr(1)}, t.mul(in.requests, t.i32(4)));
  return localLength(t.load(view, {first}, {count}, layout));
}

/// A loop over all requests, \p step at a time.
SplitRule::Carried
SplitRule::overRequests(int64_t step, Carried initial,
                        llvm::function_ref<Carried(Value, ValueRange)> body) {
  auto loop = t.create<scf::ForOp>(t.i32(0), in.requests, t.i32(step), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Carried next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  t.create<scf::YieldOp>(next);
  return Carried(loop.getResults());
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

/// The estimated time of each try: tiles of FP32.
Value SplitRule::estimate(Value blocks, Value slots, Value work) {
  Value number = toInteger(slots);
  Value atOnce = all(in.workgroups, number);
  Value share = t.rcp(toFloat(atOnce));
  Value moved = toFloat(all(in.moved, number));
  Value each = t.addf(blocks, t.constant(slotBlocks, blocks));
  Value least = t.mulf(t.addf(work, t.mulf(slots, moved)), share);
  Value rounds = make<arith::DivUIOp>(
      t.add(number, make<arith::SubIOp>(atOnce, all(1, atOnce))), atOnce);
  Value even = t.mulf(toFloat(rounds), each);
  Value mixed = t.addf(least, each);
  return make<arith::MaxNumFOp>(least, make<arith::MinNumFOp>(even, mixed));
}

/// Units of work of requests of \p blocks blocks, FP32.
Value SplitRule::work(Value blocks) {
  static_assert(workBlocks == 16);
  return toFloat(make<arith::ShRUIOp>(
      t.add(blocks, all(workBlocks - 1, blocks)), all(4, blocks)));
}

/// The number of blocks per slot, of requests the longest of which has
/// \p longest blocks, and which have \p work units in all: FP32 of rank 0.
/// \p count gives [requests, tries] of slots, summed over requests by
/// \p together: of a function from blocks to slots.
Value SplitRule::choose(
    Value longest, Value work, int64_t together,
    llvm::function_ref<Value(llvm::function_ref<Value(Value)>)> count) {
  // Of slots of the longest request: 1 to 16, then eight per octave.
  auto slice = tile::LayoutAttr::get(b.getContext(),
                                     table(together).getLayout().slice({0}));
  Value number = t.create<tile::IotaOp>(
      RankedTensorType::get({tries}, b.getI32Type(), slice), 0);
  Value above = make<arith::MaxSIOp>(
      make<arith::SubIOp>(number, all(16, number)), all(0, number));
  Value octave =
      t.add(make<arith::ShRUIOp>(above, all(3, number)), all(1, number));
  Value eighths =
      t.add(make<arith::AndIOp>(above, all(7, number)), all(9, number));
  Value many = make<arith::ShLIOp>(eighths, octave);
  Value wanted = t.select(less(number, all(16, number)),
                          t.add(number, all(1, number)), many);
  Value most = toInteger(t.splat(longest, toFloat(number)));
  Value perSlot = make<arith::DivUIOp>(
      t.add(most, make<arith::SubIOp>(wanted, all(1, wanted))), wanted);
  perSlot = make<arith::MaxSIOp>(perSlot, all(1, perSlot));
  Value inverse = t.rcp(toFloat(perSlot));

  Value counted = count([&](Value blocks) {
    Value like = filled({together, tries}, b.getI32Type(), table(together));
    return slotsOf(t.broadcast(blocks, {0}, like),
                   t.broadcast(perSlot, {1}, like),
                   t.broadcast(inverse, {1}, like));
  });
  Value slots = t.reduce(tile::ReduceKind::Add, toFloat(counted), {0});
  // Requests beyond the last counted as one each.
  Value padded = make<arith::AndIOp>(make<arith::SubIOp>(t.i32(0), in.requests),
                                     t.i32(together - 1));
  slots = t.subf(slots, toFloat(all(padded, number)));

  Value blocks = toFloat(perSlot);
  Value scaled = t.mulf(work, double(workBlocks));
  Value time = estimate(blocks, slots, t.splat(scaled, slots));
  Value fits = t.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, slots,
                                       toFloat(all(in.slots, number)));
  Value never = t.constant(-std::numeric_limits<double>::infinity(), time);
  Value speed = t.select(fits, t.subf(t.constant(0.0, time), time), never);
  Value best = t.splat(t.reduce(tile::ReduceKind::Max, speed, {0}), speed);
  Value isBest =
      t.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, speed, best);
  Value none = t.constant(0.0, blocks);
  return t.uniform(toInteger(
      t.reduce(tile::ReduceKind::Max, t.select(isBest, blocks, none), {0})));
}

Value SplitRule::blocksPerSlot() {
  // The longest request, and the work of all.
  Value none = filled({requestsOfWave}, b.getF32Type(), byLane);
  Carried found = overRequests(
      requestsOfWave, {none, none},
      [&](Value first, ValueRange carried) -> Carried {
        Value blocks = blocksOf(loadLengths(first, requestsOfWave, byLane));
        return {make<arith::MaxNumFOp>(carried[0], toFloat(blocks)),
                t.addf(carried[1], work(blocks))};
      });
  auto slice = tile::LayoutAttr::get(
      b.getContext(), table(requestsPerLane).getLayout().slice({1}));
  return choose(t.reduce(tile::ReduceKind::Max, found[0], {0}),
                t.reduce(tile::ReduceKind::Add, found[1], {0}), requestsPerLane,
                [&](llvm::function_ref<Value(Value)> slots) {
                  Value sums = filled({requestsPerLane, tries}, b.getI32Type(),
                                      table(requestsPerLane));
                  Carried counted = overRequests(
                      requestsPerLane, {sums},
                      [&](Value first, ValueRange carried) -> Carried {
                        Value blocks = blocksOf(
                            loadLengths(first, requestsPerLane, slice));
                        return {t.add(carried[0], slots(blocks))};
                      });
                  return counted[0];
                });
}

std::pair<Value, Value> SplitRule::countSlots(Value blocks, Value request) {
  Value none = filled({requestsOfWave}, b.getF32Type(), byLane);
  Carried counted = overRequests(
      requestsOfWave, {none, none},
      [&](Value first, ValueRange carried) -> Carried {
        Value held = blocksOf(loadLengths(first, requestsOfWave, byLane));
        Value by = all(blocks, held);
        Value slots = slotsOf(held, by, t.rcp(toFloat(by)));
        Value number = t.add(t.iota(0, held), all(first, held));
        Value zero = all(0, held);
        auto below = [&](Value end) {
          return toFloat(t.select(less(number, all(end, held)), slots, zero));
        };
        return {t.addf(carried[0], below(request)),
                t.addf(carried[1], below(in.requests))};
      });
  auto sum = [&](Value tile) {
    return t.uniform(toInteger(t.reduce(tile::ReduceKind::Add, tile, {0})));
  };
  return {sum(counted[0]), sum(counted[1])};
}

SplitRule::Slot SplitRule::locate(Value number) {
  auto slice = tile::LayoutAttr::get(b.getContext(),
                                     table(fewRequests).getLayout().slice({1}));
  Value keys = loadLengths(t.i32(0), fewRequests, slice);
  Value blocks = blocksOf(keys);
  Value perSlot = choose(
      t.reduce(tile::ReduceKind::Max, toFloat(blocks), {0}),
      t.reduce(tile::ReduceKind::Add, work(blocks), {0}), fewRequests,
      [&](llvm::function_ref<Value(Value)> slots) { return slots(blocks); });
  Value by = all(perSlot, blocks);
  Value slots = slotsOf(blocks, by, t.rcp(toFloat(by)));
  // Requests beyond the last have none.
  slots = t.select(less(t.iota(0, slots), all(in.requests, slots)), slots,
                   all(0, slots));

  // The request to whose slots the number belongs.
  Value first = t.extract(all(0, slots), 0, 0), before = first;
  Value request = first, count = first, length = first;
  Value wanted = all(number, first);
  for (int64_t index = 0; index < fewRequests; ++index) {
    Value own = t.extract(slots, 0, index);
    Value next = t.add(before, own);
    Value isOwn =
        t.create<arith::CmpIOp>(arith::CmpIPredicate::sge, wanted, before);
    isOwn = make<arith::AndIOp>(isOwn, less(wanted, next));
    request = t.select(isOwn, all(index, first), request);
    first = t.select(isOwn, before, first);
    count = t.select(isOwn, own, count);
    length = t.select(isOwn, t.extract(keys, 0, index), length);
    before = next;
  }
  Value isUsed = less(wanted, before);
  request = t.select(isUsed, request, all(-1, request));
  Slot slot;
  slot.request = t.uniform(request);
  slot.count = t.uniform(count);
  slot.first = t.uniform(first);
  slot.keys = t.uniform(length);
  Value size = t.mul(perSlot, t.i32(planKeys));
  slot.begin = t.mul(make<arith::SubIOp>(number, slot.first), size);
  slot.end = make<arith::MinSIOp>(t.add(slot.begin, size), slot.keys);
  return slot;
}
