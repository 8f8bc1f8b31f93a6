//===- DecodePlan.cpp - kernel of tenon.mla_plan ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup of one wave per request. Each of them reads all lengths and finds
// the number of keys per slot again, so that none waits for another: 64 numbers
// are tried side by side, one per lane. The slots before its own are a sum over
// the requests before it.
//
// Sums of whole numbers are FP32 where they cross lanes; they are exact up to
// 2^24, far beyond the slots of any plan.
//
//===----------------------------------------------------------------------===//

#include "DecodePlan.h"

#include "../TileBuilder.h"

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
static constexpr double aloneShare = 2.25;
static constexpr int64_t rowsPerBlock = 16;
static constexpr int64_t workBlocks = 16;

namespace {
/// Writes the kernel. Methods are in the order of the program.
class PlanKernel {
public:
  PlanKernel(const DecodePlanShape &shape, tile::KernelOp kernel,
             OpBuilder &builder)
      : shape(shape), t(builder, kernel.getLoc()),
        args(KernelArguments::byName(kernel)), b(builder) {}

  void write();

private:
  using Carried = SmallVector<Value>;

  tile::LayoutAttr layout(ArrayRef<int64_t> extents,
                          ArrayRef<layout::Basis> registers,
                          ArrayRef<layout::Basis> lanes);
  RankedTensorType type(ArrayRef<int64_t> extents, Type element,
                        tile::LayoutAttr layout);
  Value filled(RankedTensorType type, double value);
  Value all(Value scalar, Value like);
  Value all(int64_t value, Value like) { return all(t.i32(value), like); }
  template <typename Op> Value make(Value a, Value c) {
    return t.create<Op>(a, c);
  }
  Value less(Value a, Value c) {
    return t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, a, c);
  }
  Value toFloat(Value integers);
  Value toInteger(Value floats);
  Value reduce(tile::ReduceKind kind, Value tile);

  Value localLength(Value global);
  Value blocksOf(Value keys);
  Value divideUp(Value count, Value by, Value inverse);
  Value loadBlocks(Value first, int64_t count, tile::LayoutAttr layout);
  Carried overRequests(int64_t step, Carried initial,
                       llvm::function_ref<Carried(Value, ValueRange)> body);
  Value choose();
  Value estimate(Value blocks, Value slots, Value work);
  void countSlots(Value blocks);
  void writeRows(Value first, Value count,
                 llvm::function_ref<SmallVector<Value>(Value)> columns);

  DecodePlanShape shape;
  TileBuilder t;
  llvm::StringMap<Value> args;
  OpBuilder &b;
  tile::LayoutAttr byLane;  ///< of what the lanes share
  Value before, total, own; ///< slots before the request, of all, and its own
};
} // namespace

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

tile::LayoutAttr PlanKernel::layout(ArrayRef<int64_t> extents,
                                    ArrayRef<layout::Basis> registers,
                                    ArrayRef<layout::Basis> lanes) {
  return tile::LayoutAttr::get(
      b.getContext(), llvm::cantFail(layout::Layout::create(extents, registers,
                                                            lanes, {}, {})));
}

RankedTensorType PlanKernel::type(ArrayRef<int64_t> extents, Type element,
                                  tile::LayoutAttr layout) {
  return RankedTensorType::get(extents, element, layout);
}

Value PlanKernel::filled(RankedTensorType type, double value) {
  Type element = type.getElementType();
  TypedAttr attr = element.isF32()
                       ? TypedAttr(b.getF32FloatAttr(float(value)))
                       : TypedAttr(b.getI32IntegerAttr(int32_t(value)));
  return t.create<arith::ConstantOp>(DenseElementsAttr::get(type, attr));
}

Value PlanKernel::all(Value scalar, Value like) {
  return t.splat(scalar, like);
}

Value PlanKernel::toFloat(Value integers) {
  auto from = cast<RankedTensorType>(integers.getType());
  return t.create<arith::SIToFPOp>(from.clone(b.getF32Type()), integers);
}

Value PlanKernel::toInteger(Value floats) {
  auto from = cast<RankedTensorType>(floats.getType());
  return t.create<arith::FPToSIOp>(from.clone(b.getI32Type()), floats);
}

Value PlanKernel::reduce(tile::ReduceKind kind, Value tile) {
  return t.create<tile::ReduceOp>(RankedTensorType::get({}, b.getF32Type()),
                                  kind, tile, b.getDenseI64ArrayAttr({0}));
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// Keys of this rank among the first \p global, a scalar or a tile.
Value PlanKernel::localLength(Value global) {
  auto constant = [&](int64_t value) {
    Value scalar = t.i32(value);
    return isa<RankedTensorType>(global.getType()) ? all(scalar, global)
                                                   : scalar;
  };
  auto uniform = [&](Value scalar) {
    return isa<RankedTensorType>(global.getType()) ? all(scalar, global)
                                                   : scalar;
  };
  Value zero = constant(0);
  Value length = make<arith::MaxSIOp>(global, zero);
  if (shape.cpSize == 1) {
    return length;
  }
  Value turn = constant(shape.cpSize * shape.cpInterleave);
  Value own = constant(shape.cpInterleave);
  Value whole = make<arith::DivUIOp>(length, turn);
  Value rest = make<arith::SubIOp>(length, t.mul(whole, turn));
  rest = make<arith::SubIOp>(
      rest, uniform(t.mul(args["cp_rank"], t.i32(shape.cpInterleave))));
  rest = make<arith::MinSIOp>(make<arith::MaxSIOp>(rest, zero), own);
  return t.add(t.mul(whole, own), rest);
}

Value PlanKernel::blocksOf(Value keys) {
  static_assert(planKeys == 64);
  auto constant = [&](int64_t value) {
    return isa<RankedTensorType>(keys.getType()) ? all(value, keys)
                                                 : t.i32(value);
  };
  return make<arith::ShRUIOp>(t.add(keys, constant(planKeys - 1)), constant(6));
}

/// \p count over \p by, rounded up, by a reciprocal that may be one off.
Value PlanKernel::divideUp(Value count, Value by, Value inverse) {
  Value one = all(1, by);
  Value raised = t.add(count, make<arith::SubIOp>(by, one));
  Value quotient = toInteger(t.mulf(toFloat(raised), inverse));
  Value rest = make<arith::SubIOp>(raised, t.mul(quotient, by));
  Value zero = all(0, by);
  Value isLow = t.create<arith::CmpIOp>(arith::CmpIPredicate::sge, rest, by);
  quotient = t.add(quotient, t.select(isLow, one, zero));
  return make<arith::SubIOp>(quotient, t.select(less(rest, zero), one, zero));
}

/// Blocks of keys of the requests from \p first on; 0 beyond the last.
Value PlanKernel::loadBlocks(Value first, int64_t count,
                             tile::LayoutAttr layout) {
  Value view = t.view(args["seq_len"], {b.getIndexAttr(1)},
                      t.mul(args["requests"], t.i32(4)));
  return blocksOf(localLength(t.load(view, {first}, {count}, layout)));
}

/// A loop over all requests, \p step at a time.
PlanKernel::Carried
PlanKernel::overRequests(int64_t step, Carried initial,
                         llvm::function_ref<Carried(Value, ValueRange)> body) {
  auto loop =
      t.create<scf::ForOp>(t.i32(0), args["requests"], t.i32(step), initial);
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
Value PlanKernel::estimate(Value blocks, Value slots, Value work) {
  Value number = toInteger(slots);
  Value atOnce = all(args["workgroups"], number);
  Value share = t.mulf(t.rcp(toFloat(atOnce)), aloneShare);
  Value moved = toFloat(all(args["moved"], number));
  Value each = t.addf(blocks, t.constant(slotBlocks, blocks));
  Value least = t.mulf(t.addf(work, t.mulf(slots, moved)), share);
  Value rounds = make<arith::DivUIOp>(number, atOnce);
  Value rest = make<arith::SubIOp>(number, t.mul(rounds, atOnce));
  Value full = t.mulf(toFloat(rounds), t.mulf(each, aloneShare));
  Value last = t.mulf(t.mulf(each, toFloat(rest)), share);
  last = make<arith::MaxNumFOp>(each, last);
  Value none =
      t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, rest, all(0, rest));
  last = t.select(none, t.constant(0.0, last), last);
  Value even = t.addf(full, last);
  Value mixed = t.addf(least, each);
  return make<arith::MaxNumFOp>(least, make<arith::MinNumFOp>(even, mixed));
}

/// The number of blocks per slot, a tile of rank 0.
Value PlanKernel::choose() {
  // The longest request, and the work of all.
  auto floats = type({requestsOfWave}, b.getF32Type(), byLane);
  Carried found = overRequests(
      requestsOfWave, {filled(floats, 0), filled(floats, 0)},
      [&](Value first, ValueRange carried) -> Carried {
        Value blocks = loadBlocks(first, requestsOfWave, byLane);
        Value work = make<arith::ShRUIOp>(
            t.add(blocks, all(workBlocks - 1, blocks)), all(4, blocks));
        return {make<arith::MaxNumFOp>(carried[0], toFloat(blocks)),
                t.addf(carried[1], toFloat(work))};
      });
  static_assert(workBlocks == 16);
  Value longest = reduce(tile::ReduceKind::Max, found[0]);
  Value work = reduce(tile::ReduceKind::Add, found[1]);

  // Of slots of the longest request: 1 to 16, then eight per octave.
  SmallVector<layout::Basis> registers, lanes;
  for (int64_t bit = 1; bit < requestsPerLane; bit *= 2) {
    registers.push_back({bit, 0});
  }
  for (int64_t bit = 1; bit < tries; bit *= 2) {
    lanes.push_back({0, bit});
  }
  tile::LayoutAttr table = layout({requestsPerLane, tries}, registers, lanes);
  auto slice = [&](unsigned dim) {
    return tile::LayoutAttr::get(b.getContext(),
                                 table.getLayout().slice({dim}));
  };
  Value number =
      t.create<tile::IotaOp>(type({tries}, b.getI32Type(), slice(0)), 0);
  Value above = make<arith::MaxSIOp>(
      make<arith::SubIOp>(number, all(16, number)), all(0, number));
  Value octave =
      t.add(make<arith::ShRUIOp>(above, all(3, number)), all(1, number));
  Value eighths =
      t.add(make<arith::AndIOp>(above, all(7, number)), all(9, number));
  Value many = make<arith::ShLIOp>(eighths, octave);
  Value count = t.select(less(number, all(16, number)),
                         t.add(number, all(1, number)), many);
  Value most = toInteger(t.splat(longest, toFloat(number)));
  Value perSlot = make<arith::DivUIOp>(
      t.add(most, make<arith::SubIOp>(count, all(1, count))), count);
  perSlot = make<arith::MaxSIOp>(perSlot, all(1, perSlot));
  Value inverse = t.rcp(toFloat(perSlot));

  // Their slots.
  auto sums = type({requestsPerLane, tries}, b.getI32Type(), table);
  Carried counted = overRequests(
      requestsPerLane, {filled(sums, 0)},
      [&](Value first, ValueRange carried) -> Carried {
        Value blocks = loadBlocks(first, requestsPerLane, slice(1));
        Value like = carried[0];
        Value slots = divideUp(t.broadcast(blocks, {0}, like),
                               t.broadcast(perSlot, {1}, like),
                               t.broadcast(inverse, {1}, like));
        return {t.add(like, make<arith::MaxSIOp>(slots, all(1, slots)))};
      });
  Value slots = t.create<tile::ReduceOp>(
      type({tries}, b.getF32Type(), slice(0)), tile::ReduceKind::Add,
      toFloat(counted[0]), b.getDenseI64ArrayAttr({0}));
  // Requests beyond the last counted as one each.
  Value padded =
      make<arith::AndIOp>(make<arith::SubIOp>(t.i32(0), args["requests"]),
                          t.i32(requestsPerLane - 1));
  slots = t.subf(slots, toFloat(all(padded, number)));

  Value blocks = toFloat(perSlot);
  Value scaled = t.mulf(work, double(workBlocks));
  Value time = estimate(blocks, slots, t.splat(scaled, slots));
  Value fits = t.create<arith::CmpFOp>(arith::CmpFPredicate::OLE, slots,
                                       toFloat(all(args["slots"], number)));
  Value never = t.constant(-std::numeric_limits<double>::infinity(), time);
  Value speed = t.select(fits, t.subf(t.constant(0.0, time), time), never);
  Value best = t.splat(reduce(tile::ReduceKind::Max, speed), speed);
  Value isBest =
      t.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, speed, best);
  Value none = t.constant(0.0, blocks);
  return toInteger(
      reduce(tile::ReduceKind::Max, t.select(isBest, blocks, none)));
}

/// Finds `before` and `total` for \p blocks blocks per slot, a scalar.
void PlanKernel::countSlots(Value blocks) {
  auto sums = type({requestsOfWave}, b.getF32Type(), byLane);
  Value request = t.workgroupId(0);
  Carried counted = overRequests(
      requestsOfWave, {filled(sums, 0), filled(sums, 0)},
      [&](Value first, ValueRange carried) -> Carried {
        Value held = loadBlocks(first, requestsOfWave, byLane);
        Value by = all(blocks, held);
        Value slots = divideUp(held, by, t.rcp(toFloat(by)));
        slots = make<arith::MaxSIOp>(slots, all(1, slots));
        Value number =
            t.add(t.create<tile::IotaOp>(
                      type({requestsOfWave}, b.getI32Type(), byLane), 0),
                  all(first, held));
        Value zero = all(0, held);
        auto below = [&](Value end) {
          return toFloat(t.select(less(number, all(end, held)), slots, zero));
        };
        return {t.addf(carried[0], below(request)),
                t.addf(carried[1], below(args["requests"]))};
      });
  auto sum = [&](Value tile) -> Value {
    return t.create<tile::UniformOp>(
        b.getI32Type(), toInteger(reduce(tile::ReduceKind::Add, tile)));
  };
  before = sum(counted[0]);
  total = sum(counted[1]);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Writes \p count rows of the plan from row \p first on, with the columns that
/// belong to their numbers from 0 on.
void PlanKernel::writeRows(
    Value first, Value count,
    llvm::function_ref<SmallVector<Value>(Value)> columns) {
  static constexpr int64_t rowBytes = 16, rowsAtOnce = 64;
  Value view = t.view(
      t.advance(args["plan"], t.wideMul(first, t.i32(rowBytes))),
      {b.getIndexAttr(4), b.getIndexAttr(1)}, t.mul(count, t.i32(rowBytes)));
  auto loop = t.create<scf::ForOp>(t.i32(0), count, t.i32(rowsAtOnce));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = t.create<tile::IotaOp>(
      RankedTensorType::get({rowsAtOnce}, b.getI32Type()), 0);
  number = t.add(number, all(loop.getInductionVar(), number));
  t.store(t.stack(columns(number), 1), view,
          {loop.getInductionVar(), t.i32(0)});
}

void PlanKernel::write() {
  SmallVector<layout::Basis> lanes;
  for (int64_t bit = 4; bit < requestsOfWave; bit *= 2) {
    lanes.push_back({bit});
  }
  byLane = layout({requestsOfWave}, {{1}, {2}}, lanes);
  Value blocks = t.create<tile::UniformOp>(b.getI32Type(), choose());
  countSlots(blocks);

  Value request = t.workgroupId(0);
  Value length = t.create<tile::LoadScalarOp>(
      b.getI32Type(), t.advance(args["seq_len"], t.wideMul(request, t.i32(4))));
  Value keys = localLength(length);
  Value size = t.mul(blocks, t.i32(planKeys));
  Value count = make<arith::DivUIOp>(
      t.add(blocksOf(keys), make<arith::SubIOp>(blocks, t.i32(1))), blocks);
  count = make<arith::MaxSIOp>(count, t.i32(1));
  writeRows(before, count, [&](Value number) -> SmallVector<Value> {
    Value begin = t.mul(number, all(size, number));
    Value end = make<arith::MinSIOp>(t.add(begin, all(size, number)),
                                     all(keys, number));
    return {all(request, number), begin, end, all(count, number)};
  });
  writeRows(t.add(args["slots"], request), t.i32(1),
            [&](Value number) -> SmallVector<Value> {
              return {all(before, number), all(count, number),
                      all(keys, number), all(0, number)};
            });
  // The last request has what no slot uses.
  Value isLast = t.create<arith::CmpIOp>(
      arith::CmpIPredicate::eq, t.add(request, t.i32(1)), args["requests"]);
  Value unused =
      t.select(isLast, make<arith::SubIOp>(args["slots"], total), t.i32(0));
  writeRows(total, unused, [&](Value number) -> SmallVector<Value> {
    Value zero = all(0, number);
    return {all(-1, number), zero, zero, zero};
  });
  t.create<tile::ReturnOp>();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Value mla::planSlots(PlanBuilder &plan, Value requests, Value workgroups) {
  return plan.add(requests, plan.max(requests, workgroups));
}

void mla::launchDecodePlan(spec::SpecOpInterface op, KernelArguments &arguments,
                           PlanBuilder &plan, Value slots,
                           const DecodePlanShape &shape, StringRef name,
                           OpBuilder &builder) {
  SmallVector<spec::OperandContract> lengths;
  for (const spec::OperandContract &contract : op.getOperandContracts()) {
    if (contract.name == "seq_len") {
      lengths.push_back(contract);
    }
  }
  arguments.pointers(lengths);
  Value requests = plan.size("seq_len", 0);
  arguments.scalar32("requests", requests);
  arguments.scalar32("slots", slots);
  arguments.scalar32("cp_rank", plan.scalar("cp_rank"));
  arguments.scalar32("workgroups", shape.workgroups);
  arguments.scalar32("moved",
                     plan.ceilDiv(shape.rows, plan.constant(rowsPerBlock)));
  plan.launch(name, requests, plan.constant(1), plan.constant(1), 64);
  tile::KernelOp kernel = arguments.createKernel(op->getLoc(), name,
                                                 /*waves=*/1);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  PlanKernel(shape, kernel, builder).write();
}

SmallVector<DictionaryAttr> mla::rankPlanSchedules(spec::MlaPlanOp op) {
  return {DictionaryAttr::get(op.getContext())};
}

LogicalResult mla::lowerPlan(spec::MlaPlanOp op, DictionaryAttr schedule,
                             StringRef name, OpBuilder &builder) {
  if (!schedule.empty()) {
    return op->emitOpError("the schedule is {}, found ") << schedule;
  }
  PlanBuilder plan(builder, (name + "_plan").str(), op);
  KernelArguments arguments(builder, plan);
  arguments.pointers({op.getOperandContracts()[1]});
  Value requests = plan.size("seq_len", 0);
  Value slots = plan.sub(plan.size("plan", 0), requests);
  plan.require(arith::CmpIPredicate::sge, slots, requests,
               "N must be at least 2 B");
  DecodePlanShape shape{plan.constant(op.getRows()),
                        plan.constant(op.getWorkgroups()),
                        int64_t(op.getCpSize()), int64_t(op.getCpInterleave())};
  launchDecodePlan(op, arguments, plan, slots, shape, name, builder);
  return success();
}
