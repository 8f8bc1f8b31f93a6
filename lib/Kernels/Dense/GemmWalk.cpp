//===- GemmWalk.cpp - workgroups that compute several tiles -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmWalk.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

static constexpr int64_t sumBytes = 4;
// A run leaves sums of the tile that it ends in and of the one that it begins
// in, in this order.
static constexpr int64_t slotsOfRun = 2;

static int64_t tileBytes(const GemmSchedule &schedule) {
  return schedule.tileM * schedule.tileN * sumBytes;
}

Value dense::passWalk(PlanBuilder &plan, KernelArguments &arguments,
                      const GemmSchedule &schedule, int64_t parts, Value gridX,
                      Value gridY, Value depth) {
  Value one = plan.constant(1);
  Value tiles = plan.mul(gridX, gridY);
  arguments.scalar32("grid_x", gridX);
  arguments.scalar32("grid_y", gridY);
  if (schedule.persistent) {
    Value workgroups = plan.min(plan.constant(schedule.persistent), tiles);
    arguments.scalar32("workgroups", workgroups);
    return workgroups;
  }
  // What whole steps leave of K goes with the last of them, if there is one.
  Value steps =
      plan.max(plan.floorDiv(depth, plan.constant(schedule.tileK)), one);
  Value total = plan.mul(tiles, steps);
  plan.require(arith::CmpIPredicate::slt, total,
               plan.constant(int64_t(1) << 31),
               "the steps of all tiles must be less than 2^31");
  Value walkers = plan.constant(schedule.streamK);
  Value workgroups = plan.min(walkers, total);
  Value rounds = plan.floorDiv(tiles, walkers);
  Value shared = plan.mul(plan.sub(tiles, plan.mul(rounds, walkers)), steps);
  Value run = plan.floorDiv(shared, plan.max(workgroups, one));
  arguments.scalar32("workgroups", workgroups);
  arguments.scalar32("steps", steps);
  arguments.scalar32("rounds", rounds);
  arguments.scalar32("run", run);
  arguments.scalar32("longer", plan.sub(shared, plan.mul(run, workgroups)));
  arguments.workspace("arrivals", arguments.builder().getI32Type(),
                      plan.mul(tiles, plan.constant(4)), /*zero=*/true);
  int64_t bytes = slotsOfRun * parts * tileBytes(schedule);
  arguments.workspace("partials", arguments.builder().getF32Type(),
                      plan.mul(workgroups, plan.constant(bytes)),
                      /*zero=*/false);
  return workgroups;
}

static Value least(TileBuilder &t, Value a, Value b) {
  return t.create<arith::MinSIOp>(a, b);
}

static Value minus(TileBuilder &t, Value a, Value b) {
  return t.create<arith::SubIOp>(a, b);
}

static Value equal(TileBuilder &t, Value a, Value b) {
  return t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, a, b);
}

StreamWalk::StreamWalk(TileBuilder &t, const GemmSchedule &schedule,
                       const llvm::StringMap<Value> &args, Value place)
    : t(t), schedule(schedule), args(args), place(place) {
  wholeTiles = t.mul(args.lookup("rounds"), args.lookup("workgroups"));
  sharedBegin = t.mul(wholeTiles, args.lookup("steps"));
  auto beginOf = [&](Value number) {
    Value before = t.add(t.mul(number, args.lookup("run")),
                         least(t, number, args.lookup("longer")));
    return t.add(sharedBegin, before);
  };
  runBegin = beginOf(place);
  runEnd = beginOf(t.add(place, t.i32(1)));
  auto tileOf = [&](Value step) -> Value {
    return t.create<arith::DivUIOp>(step, args.lookup("steps"));
  };
  firstShared = tileOf(runBegin);
  Value endShared = t.add(tileOf(minus(t, runEnd, t.i32(1))), t.i32(1));
  Value count = t.select(equal(t, runBegin, runEnd), t.i32(0),
                         minus(t, endShared, firstShared));
  turns = t.add(args.lookup("rounds"), count);
}

Value StreamWalk::isWhole(Value turn) {
  return t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, turn,
                                 args.lookup("rounds"));
}

Value StreamWalk::tileOf(Value turn,
                         llvm::function_ref<Value(Value, Value)> placeOf) {
  Value number =
      t.add(t.workgroupId(0), t.mul(turn, args.lookup("workgroups")));
  Value shared = t.add(firstShared, minus(t, turn, args.lookup("rounds")));
  return t.select(isWhole(turn), placeOf(number, wholeTiles), shared);
}

DepthRange StreamWalk::enter(Value turn, Value number, Value depth,
                             std::optional<int64_t> knownDepth) {
  tile = number;
  Value steps = args.lookup("steps");
  Value whole = isWhole(turn);
  tileBegin = t.mul(tile, steps);
  Value sharedFrom =
      t.create<arith::MaxSIOp>(minus(t, runBegin, tileBegin), t.i32(0));
  from = t.select(whole, t.i32(0), sharedFrom);
  to = t.select(whole, steps, least(t, minus(t, runEnd, tileBegin), steps));
  Value step = t.i32(schedule.tileK);
  Value wholeDepth = wholeSteps(t, schedule, depth, knownDepth);
  DepthRange range;
  range.begin = t.mul(from, step);
  range.span = minus(t, least(t, t.mul(to, step), wholeDepth), range.begin);
  range.restBegin = wholeDepth;
  range.restEnd = t.select(equal(t, to, steps), depth, wholeDepth);
  return range;
}

/// The place of the run with a step; of a step that nobody shares, some place,
/// the same for all of them.
Value StreamWalk::ownerOf(Value number) {
  Value step =
      t.create<arith::MaxSIOp>(minus(t, number, sharedBegin), t.i32(0));
  Value run = args.lookup("run");
  Value longer = args.lookup("longer");
  auto divide = [&](Value a, Value b) -> Value {
    return t.create<arith::DivUIOp>(a, b);
  };
  Value longRun = t.add(run, t.i32(1));
  Value inLong = t.mul(longer, longRun);
  Value isLong =
      t.create<arith::CmpIOp>(arith::CmpIPredicate::ult, step, inLong);
  // Of those before it the quotient of the other kind means nothing.
  Value behind = t.create<arith::MaxSIOp>(minus(t, step, inLong), t.i32(0));
  // Runs of no step own none.
  Value divisor = t.create<arith::MaxSIOp>(run, t.i32(1));
  return t.select(isLong, divide(step, longRun),
                  t.add(longer, divide(behind, divisor)));
}

/// Sums [row, column] of part \p part in slot \p slot; rows that are not
/// computed lie beyond the bound.
Value StreamWalk::view(Value slot, int64_t part, Value bytes) {
  Value pointer =
      t.advance(args.lookup("partials"),
                t.wideMul(slot, t.i32(parts * tileBytes(schedule))));
  Builder &b = t.builder();
  return t.view(t.advance(pointer, part * tileBytes(schedule)),
                {b.getIndexAttr(schedule.tileN), b.getIndexAttr(1)}, bytes);
}

/// Rows of a tile that are added up together.
int64_t StreamWalk::rowsOfSlice() const {
  constexpr int64_t manySums = 32;
  return rowsAtATime(schedule, parts, manySums);
}

/// The sums that \p count runs from the one at \p firstOwner on have left of
/// the rows from \p firstRow on, in their order.
SmallVector<Value> StreamWalk::addParts(Value firstOwner, Value count,
                                        Value rows, Value firstRow) {
  GemmSchedule slice = schedule;
  slice.tileM = rowsOfSlice();
  // There may be fewer elements than there are threads.
  int64_t perRun = std::max<int64_t>(1, parts * slice.tileM * slice.tileN /
                                            (schedule.waves() * 64));
  // As many loads are on their way together as there are registers for, beside
  // the totals.
  static constexpr int64_t registers = 96;
  static constexpr int64_t most = 8;
  int64_t together = std::clamp<int64_t>(registers / perRun, 1, most);
  int64_t width = 8;
  while (width > 1 && perRun < width * parts) {
    width /= 2;
  }
  MLIRContext *context = t.builder().getContext();
  auto layout =
      tile::LayoutAttr::get(context, sumLayout(slice, 1, width).slice({0}));
  auto type = RankedTensorType::get({slice.tileM, slice.tileN},
                                    t.builder().getF32Type(), layout);
  SmallVector<Value> zeros;
  for (int64_t part = 0; part < parts; ++part) {
    zeros.push_back(t.create<arith::ConstantOp>(
        DenseElementsAttr::get(type, t.builder().getF32FloatAttr(0.0f))));
  }
  Value zero = t.i32(0);
  Value tileRows = t.mul(rows, t.i32(schedule.tileN * sumBytes));
  auto loop = t.create<scf::ForOp>(zero, count, t.i32(together), zeros);
  OpBuilder::InsertionGuard guard(t.builder());
  t.builder().setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> totals(loop.getRegionIterArgs());
  SmallVector<Value> loaded;
  for (int64_t index = 0; index < together; ++index) {
    Value number = t.add(loop.getInductionVar(), t.i32(index));
    Value exists =
        t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, number, count);
    Value bytes = t.select(exists, tileRows, zero);
    // The first run ends in the tile, the others begin in it.
    Value begins = least(t, number, t.i32(1));
    Value slot =
        t.add(t.mul(t.add(firstOwner, number), t.i32(slotsOfRun)), begins);
    for (int64_t part = 0; part < parts; ++part) {
      Value load = t.load(view(slot, part, bytes), {firstRow, zero},
                          type.getShape(), layout);
      cast<tile::LoadOp>(load.getDefiningOp()).setCoherent(true);
      loaded.push_back(load);
    }
  }
  t.create<tile::OrderFenceOp>();
  for (auto [index, load] : llvm::enumerate(loaded)) {
    Value &total = totals[index % parts];
    total = t.addf(total, load);
  }
  t.create<scf::YieldOp>(totals);
  return SmallVector<Value>(loop.getResults());
}

void StreamWalk::finish(ValueRange sums, Value rows,
                        llvm::function_ref<void(ValueRange)> finishWhole,
                        FinishRows finishRows) {
  parts = static_cast<int64_t>(sums.size());
  Value steps = args.lookup("steps");
  Value own = minus(t, to, from);
  auto whole =
      t.create<scf::IfOp>(equal(t, own, steps), /*withElseRegion=*/false);
  // Two branches one behind the other, whose conditions LLVM does not see
  // through: of one with two sides it would keep the sums of one side through
  // the other.
  Value first = ownerOf(tileBegin);
  Value last = ownerOf(minus(t, t.add(tileBegin, steps), t.i32(1)));
  Value count = t.add(minus(t, last, first), t.i32(1));
  auto partly = t.create<scf::IfOp>(
      t.create<arith::CmpIOp>(arith::CmpIPredicate::ne, count, t.i32(1)),
      /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(t.builder());
  t.builder().setInsertionPointToStart(whole.thenBlock());
  finishWhole(sums);
  t.builder().setInsertionPointToStart(partly.thenBlock());
  Value zero = t.i32(0);
  Value begins = least(t, from, t.i32(1));
  Value slot = t.add(t.mul(place, t.i32(slotsOfRun)), begins);
  Value bytes = t.mul(rows, t.i32(schedule.tileN * sumBytes));
  for (auto [part, sum] : llvm::enumerate(sums)) {
    t.create<tile::StoreOp>(sum, view(slot, part, bytes),
                            ValueRange{zero, zero}, ValueRange(),
                            /*rows=*/Value(), DenseI64ArrayAttr(),
                            /*nontemporal=*/false,
                            /*coherent=*/true);
  }
  Value counter = t.advance(args.lookup("arrivals"), t.wideMul(tile, t.i32(4)));
  Value before = t.create<tile::ArriveOp>(t.builder().getI32Type(), counter,
                                          count, Value());
  auto isLast = t.create<scf::IfOp>(equal(t, before, minus(t, count, t.i32(1))),
                                    /*withElseRegion=*/false);
  t.builder().setInsertionPointToStart(isLast.thenBlock());
  auto loop = t.create<scf::ForOp>(zero, rows, t.i32(rowsOfSlice()));
  t.builder().setInsertionPointToStart(loop.getBody());
  Value firstRow = loop.getInductionVar();
  finishRows(addParts(first, count, rows, firstRow), firstRow);
}
