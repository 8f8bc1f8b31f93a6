//===- GemmSplit.cpp - workgroups that share the K of a tile ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile's workgroups leave their sums in a workspace and count themselves; the
// last one adds them up. Sums are read and added in the order of the shares,
// its own among them, so that the result does not depend on who comes last.
//
//===----------------------------------------------------------------------===//

#include "GemmSplit.h"

#include "Band.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

static constexpr int64_t sumBytes = 4;

static int64_t tileBytes(const GemmSchedule &schedule) {
  return schedule.tileM * schedule.tileN * sumBytes;
}

// A lane stores 4 columns of a row of accumulators at once, and the 16 or 32
// lanes beside it those of the rows beside it, whichever the instruction.
static constexpr int64_t pieceColumns = 4;
static constexpr int64_t pieceRows = 16;

// Beside the totals of large tiles there are no registers for other sums.
static constexpr int64_t manySums = 64;

void dense::passSplitWorkspaces(PlanBuilder &plan, KernelArguments &arguments,
                                const GemmSchedule &schedule, int64_t parts,
                                Value gridX, Value gridY) {
  Value tiles = plan.mul(gridX, gridY);
  arguments.scalar32("grid_x", gridX);
  arguments.workspace("arrivals", arguments.builder().getI32Type(),
                      plan.mul(tiles, plan.constant(4)), /*zero=*/true);
  int64_t bytes = schedule.split * parts * tileBytes(schedule);
  arguments.workspace("partials", arguments.builder().getF32Type(),
                      plan.mul(tiles, plan.constant(bytes)), /*zero=*/false);
}

Value dense::wholeSteps(TileBuilder &t, const GemmSchedule &schedule,
                        Value depth, std::optional<int64_t> knownDepth) {
  if (knownDepth) {
    return t.i32(*knownDepth / schedule.tileK * schedule.tileK);
  }
  Value step = t.i32(schedule.tileK);
  return t.mul(t.create<arith::DivUIOp>(depth, step), step);
}

DepthRange dense::shareOfDepth(TileBuilder &t, const GemmSchedule &schedule,
                               Value share, Value depth,
                               std::optional<int64_t> knownDepth) {
  DepthRange range;
  Value step = t.i32(schedule.tileK);
  Value whole = wholeSteps(t, schedule, depth, knownDepth);
  if (schedule.split == 1) {
    return {Value(), whole, whole, depth};
  }
  auto least = [&](Value a, Value b) -> Value {
    return t.create<arith::MinSIOp>(a, b);
  };
  Value shares = t.i32(schedule.split);
  if (knownDepth && *knownDepth / schedule.tileK % schedule.split == 0) {
    Value each =
        t.i32(*knownDepth / schedule.tileK / schedule.split * schedule.tileK);
    range.begin = t.mul(share, each);
    range.span = each;
  } else {
    Value steps = t.create<arith::DivUIOp>(whole, step);
    Value more = t.add(steps, t.i32(schedule.split - 1));
    Value each = t.mul(t.create<arith::DivUIOp>(more, shares), step);
    range.begin = least(t.mul(share, each), whole);
    range.span = least(t.create<arith::SubIOp>(whole, range.begin), each);
  }
  Value isLast = t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, share,
                                         t.i32(schedule.split - 1));
  range.restBegin = whole;
  range.restEnd = t.select(isLast, depth, whole);
  return range;
}

layout::Layout dense::sumLayout(const GemmSchedule &schedule, int64_t slices,
                                int64_t run, int64_t rowsTogether) {
  int64_t lanesM = std::gcd(schedule.tileM, rowsTogether);
  int64_t lanesN = std::gcd(schedule.tileN / run, 64 / lanesM);
  lanesM *= std::gcd(schedule.tileM / lanesM, 64 / lanesN / lanesM);
  int64_t wavesN = std::gcd(schedule.tileN / run / lanesN, schedule.waves());
  int64_t wavesM = std::gcd(schedule.tileM / lanesM, schedule.waves() / wavesN);
  SmallVector<unsigned> order{2, 1, 0};
  if (rowsTogether > 1) {
    std::swap(order[0], order[1]);
  }
  layout::Layout spread = llvm::cantFail(layout::Layout::blocked(
      {slices, schedule.tileM, schedule.tileN}, order, {1, 1, run},
      {1, lanesM, lanesN}, {1, wavesM, wavesN}));
  layout::Repeat replicas{layout::HwDim::Wave,
                          schedule.waves() / (wavesM * wavesN), std::nullopt};
  return llvm::cantFail(layout::Layout::repeat(spread, replicas));
}

int64_t dense::rowsAtATime(const GemmSchedule &schedule, int64_t parts,
                           int64_t most) {
  int64_t threads = schedule.waves() * 64;
  int64_t rows = schedule.tileM;
  while (rows % 2 == 0 && rows * schedule.tileN * parts > most * threads) {
    rows /= 2;
  }
  return rows;
}

/// Rows of partial sums whose groups of `pieceColumns` columns lie side by
/// side, so that what a wave stores are whole lines; 1: sums lie row by row.
/// That is for the sums of waves along K, whose lanes lie along a row, and for
/// tiles of the fewest rows, of which one may be all that is computed.
int64_t SplitSums::rowsTogether() const {
  if (schedule.wavesK > 1 || schedule.tileM <= pieceRows) {
    return 1;
  }
  return std::gcd(rowsAtATime(schedule, parts, manySums), pieceRows);
}

/// The sums of share 0 on, as [share and part, row, column]: rows that are not
/// computed lie behind all others, beyond the bound.
Value SplitSums::view(Value number, int64_t dims) {
  Value pointer = t.advance(
      args.lookup("partials"),
      t.wideMul(tile, t.i32(schedule.split * parts * tileBytes(schedule))));
  Builder &b = t.builder();
  int64_t together = rowsTogether();
  int64_t ofShare = together * schedule.tileN;
  int64_t ofRows = schedule.split * parts * ofShare;
  Value bands = rows;
  ViewStrides strides;
  if (dims == 3) {
    strides.add(b.getIndexAttr(ofShare));
  }
  if (together > 1) {
    bands = t.create<arith::DivUIOp>(t.add(rows, t.i32(together - 1)),
                                     t.i32(together));
    strides.add(b.getIndexAttr(pieceColumns), together);
    strides.add(b.getIndexAttr(ofRows));
    strides.add(b.getIndexAttr(1), pieceColumns);
    strides.add(b.getIndexAttr(together * pieceColumns));
  } else {
    strides.add(b.getIndexAttr(ofRows));
    strides.add(b.getIndexAttr(1));
  }
  Value bytes = t.mul(bands, t.i32(ofRows * sumBytes));
  if (dims == 2) {
    Value skipped = t.mul(number, t.i32(ofShare * sumBytes));
    pointer = t.advance(pointer, t.wideMul(skipped, t.i32(1)));
    bytes = t.create<arith::SubIOp>(bytes, skipped);
  }
  return t.view(pointer, strides.strides, bytes, strides.blocks);
}

/// The totals of \p count rows from \p firstRow on.
SmallVector<Value> SplitSums::addShares(Value firstRow, int64_t count) {
  // As many loads are on their way together as there are registers for.
  static constexpr int64_t registers = 128;
  GemmSchedule slice = schedule;
  slice.tileM = count;
  // There may be fewer elements than there are threads.
  int64_t perShare = std::max<int64_t>(1, parts * count * schedule.tileN /
                                              (schedule.waves() * 64));
  int64_t together = std::max<int64_t>(1, registers / perShare);
  Value zero = t.i32(0);
  Value all = view(zero, 3);
  MLIRContext *context = t.builder().getContext();
  // Small tiles are spread over all threads: their loads are what is waited
  // for.
  int64_t alongRows = rowsTogether();
  int64_t run = alongRows > 1 ? 2 * pieceColumns : sumColumns;
  while (run > 1 && perShare < run * parts) {
    run /= 2;
  }
  layout::Layout placed = sumLayout(slice, 1, run, alongRows);
  auto layout = tile::LayoutAttr::get(context, placed);
  auto sumType =
      RankedTensorType::get({count, schedule.tileN}, t.builder().getF32Type(),
                            tile::LayoutAttr::get(context, placed.slice({0})));
  SmallVector<Value> totals;
  for (int64_t first = 0; first < schedule.split; first += together) {
    int64_t end = std::min(first + together, schedule.split);
    SmallVector<Value> loaded;
    for (int64_t number = first * parts; number < end * parts; ++number) {
      Value load = t.load(all, {t.i32(number), firstRow, zero},
                          {1, count, schedule.tileN}, layout);
      cast<tile::LoadOp>(load.getDefiningOp()).setCoherent(true);
      loaded.push_back(load);
    }
    if (end < schedule.split) {
      t.create<tile::OrderFenceOp>();
    }
    for (auto [index, load] : llvm::enumerate(loaded)) {
      Value sum = t.create<tile::ExtractOp>(sumType, load, 0, 0);
      if (totals.size() < static_cast<size_t>(parts)) {
        totals.push_back(sum);
      } else {
        totals[index % parts] = t.addf(totals[index % parts], sum);
      }
    }
  }
  return totals;
}

void SplitSums::finish(ValueRange sums, FinishRows finishRows) {
  parts = static_cast<int64_t>(sums.size());
  Value zero = t.i32(0);
  for (auto [part, sum] : llvm::enumerate(sums)) {
    Value number = t.add(t.mul(share, t.i32(parts)), t.i32(part));
    t.create<tile::StoreOp>(sum, view(number, 2), ValueRange{zero, zero},
                            ValueRange(), /*rows=*/Value(), DenseI64ArrayAttr(),
                            /*nontemporal=*/false,
                            /*coherent=*/true);
  }
  Value counter = t.advance(args.lookup("arrivals"), t.wideMul(tile, t.i32(4)));
  Value before = t.create<tile::ArriveOp>(t.builder().getI32Type(), counter,
                                          t.i32(schedule.split), Value());
  Value isLast = t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, before,
                                         t.i32(schedule.split - 1));
  auto branch = t.create<scf::IfOp>(isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(t.builder());
  t.builder().setInsertionPointToStart(branch.thenBlock());
  int64_t count = rowsAtATime(schedule, parts, manySums);
  if (count == schedule.tileM) {
    finishRows(addShares(zero, count), zero);
    return;
  }
  auto loop = t.create<scf::ForOp>(zero, rows, t.i32(count));
  t.builder().setInsertionPointToStart(loop.getBody());
  Value firstRow = loop.getInductionVar();
  finishRows(addShares(firstRow, count), firstRow);
}
