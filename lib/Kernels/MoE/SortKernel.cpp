//===- SortKernel.cpp - routes by expert ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two launches of a workgroup per expert, which reads the ids of all routes:
// the first counts those of its expert, the second knows from the counts where
// its slots begin and writes their numbers there. Nothing depends on the order
// in which workgroups run.
//
//===----------------------------------------------------------------------===//

#include "Sort.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

static constexpr int64_t waves = 4;
static constexpr int64_t threads = waves * 64;
/// Routes, tiles or slots that a workgroup takes with one load or store.
static constexpr int64_t chunk = 4 * threads;
/// Chunks of ids at most that are loaded before the first is looked at.
static constexpr int64_t mostAhead = 8;
static constexpr llvm::StringLiteral expertCounts = "expert_count";

namespace {
/// Writes both kernels.
class SortKernel {
public:
  SortKernel(spec::MoeExpertsOp op, int64_t tileRows, tile::KernelOp kernel,
             OpBuilder &builder)
      : op(op), tileRows(tileRows), t(builder, op.getLoc()) {
    builder.setInsertionPointToStart(&kernel.getBody().front());
    args = KernelArguments::byName(kernel);
    expert = t.workgroupId(0);
    RouteLookup lookup(op, t, args);
    routes = t.mul(lookup.tokens(), t.i32(op.getExpertsPerToken()));
    int64_t expected =
        op.getExpectedTokens().value_or(1) * op.getExpertsPerToken();
    ahead = std::clamp<int64_t>(expected / chunk, 1, mostAhead);
  }

  void writeCount();
  void writeScatter();

private:
  RankedTensorType integers(int64_t extent);
  Value splat(Value scalar) {
    return t.create<tile::SplatOp>(integers(chunk), scalar);
  }
  Value numbersFrom(Value first) {
    return t.add(t.create<tile::IotaOp>(integers(chunk), 0), splat(first));
  }
  SmallVector<Value> chunksFrom(Value first) {
    SmallVector<Value> begins;
    for (int64_t number : llvm::seq(ahead)) {
      begins.push_back(t.add(first, t.i32(number * chunk)));
    }
    return begins;
  }
  Value view(Value pointer, Value elements);
  SmallVector<Value> areMine(Value first);
  Value place(ArrayRef<Value> begins, ArrayRef<Value> mine, Value placed,
              Value slots);
  void fill(Value value, Value view, Value begin, Value end);
  void loop(Value begin, Value end, int64_t step, ValueRange carried,
            llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body,
            SmallVector<Value> &results);

  spec::MoeExpertsOp op;
  int64_t tileRows;
  TileBuilder t;
  llvm::StringMap<Value> args;
  Value expert;
  Value routes;  ///< that may exist
  int64_t ahead; ///< chunks that a step takes, no more than are expected
};
} // namespace

RankedTensorType SortKernel::integers(int64_t extent) {
  auto layout =
      tile::LayoutAttr::get(op.getContext(), tile::scanLayout(extent, waves));
  return RankedTensorType::get({extent}, t.builder().getI32Type(), layout);
}

/// \p elements integers at \p pointer.
Value SortKernel::view(Value pointer, Value elements) {
  OpFoldResult unit = t.builder().getIndexAttr(1);
  return t.view(pointer, {unit}, t.mul(elements, t.i32(4)));
}

/// 1 for each of the routes from \p first on that goes to the expert, else 0,
/// by chunks. All are loaded before the first is used: what a chunk costs is
/// the time that its ids are on their way.
SmallVector<Value> SortKernel::areMine(Value first) {
  Value all = view(args["ids"], routes);
  SmallVector<Value> loaded, found;
  for (Value begin : chunksFrom(first)) {
    loaded.push_back(
        t.load(all, {begin}, {chunk}, tile::getLayout(integers(chunk))));
  }
  for (auto [begin, ids] : llvm::zip_equal(chunksFrom(first), loaded)) {
    // Beyond the last route are zeros, which are ids.
    Value exists = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                           numbersFrom(begin), splat(routes));
    Value experts = RouteLookup(op, t, args).experts(ids, exists);
    Value same = t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, experts,
                                         splat(expert));
    found.push_back(t.create<arith::ExtUIOp>(integers(chunk), same));
  }
  return found;
}

/// Steps from \p begin to \p end.
void SortKernel::loop(
    Value begin, Value end, int64_t step, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body,
    SmallVector<Value> &results) {
  auto loop = t.create<scf::ForOp>(begin, end, t.i32(step), carried);
  OpBuilder::InsertionGuard guard(t.builder());
  t.builder().setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty()) {
    t.create<scf::YieldOp>(next);
  }
  llvm::append_range(results, loop.getResults());
}

/// Sets the elements from \p begin to \p end of \p view.
void SortKernel::fill(Value value, Value view, Value begin, Value end) {
  SmallVector<Value> none;
  Limits limits;
  limits.values = {end};
  limits.divisors = t.builder().getDenseI64ArrayAttr({1});
  loop(
      begin, end, chunk, {},
      [&](Value first, ValueRange) {
        t.store(splat(value), view, {first}, /*nontemporal=*/false, limits);
        return SmallVector<Value>();
      },
      none);
}

void SortKernel::writeCount() {
  // Tiles without an expert are most of them at few tokens: all workgroups
  // share in marking them.
  Value tiles = args["tiles"];
  Value share = t.create<arith::DivUIOp>(
      t.add(tiles, t.i32(op.getExperts() - 1)), t.i32(op.getExperts()));
  Value begin = t.mul(expert, share);
  Value end = t.create<arith::MinSIOp>(t.add(begin, share), tiles);
  fill(t.i32(-1), view(args[tileExperts], tiles), begin, end);

  SmallVector<Value> counted;
  Value zero = splat(t.i32(0));
  loop(
      t.i32(0), routes, ahead * chunk, zero,
      [&](Value first, ValueRange sums) {
        Value sum = sums.front();
        for (Value mine : areMine(first)) {
          sum = t.add(sum, mine);
        }
        return SmallVector<Value>{sum};
      },
      counted);
  Value total = t.create<tile::ScanOp>(counted.front(), false).getTotal();
  auto one = RankedTensorType::get(
      {1}, t.builder().getI32Type(),
      tile::LayoutAttr::get(op.getContext(), tile::topKLayout(1, waves)));
  t.store(t.create<tile::SplatOp>(one, total),
          view(args[expertCounts], t.i32(op.getExperts())), {expert});
  t.create<tile::ReturnOp>();
}

/// Writes the numbers of the routes of the expert in one or two chunks, which
/// begin at \p begins and where \p mine is 1, from slot \p placed on. Gives
/// the slot behind. Two are counted in the halves of one integer.
Value SortKernel::place(ArrayRef<Value> begins, ArrayRef<Value> mine,
                        Value placed, Value slots) {
  static_assert(2 * chunk < 1 << 16,
                "counts of two chunks and their total fit 16 bits");
  Value all = mine.front();
  if (mine.size() == 2) {
    all = t.add(all, t.create<arith::ShLIOp>(mine[1], splat(t.i32(16))));
  }
  auto scan = t.create<tile::ScanOp>(all, true);
  Value places = scan.getResult(), total = scan.getTotal();
  for (auto [number, begin] : llvm::enumerate(begins)) {
    Value own = places, count = total;
    if (mine.size() == 2) {
      Value half = t.i32(number == 0 ? 0xffff : 16);
      auto take = [&](Value counts, Value by) -> Value {
        return number == 0 ? t.create<arith::AndIOp>(counts, by).getResult()
                           : t.create<arith::ShRUIOp>(counts, by).getResult();
      };
      own = take(places, splat(half));
      count = take(total, half);
    }
    Value isRoute = t.create<arith::CmpIOp>(arith::CmpIPredicate::ne,
                                            mine[number], splat(t.i32(0)));
    Value slot = t.create<arith::SelectOp>(isRoute, t.add(own, splat(placed)),
                                           splat(t.i32(-1)));
    t.scatter(numbersFrom(begin), slots, slot, {t.i32(0)});
    placed = t.add(placed, count);
  }
  return placed;
}

void SortKernel::writeScatter() {
  int64_t experts = op.getExperts();
  int64_t rowBits = llvm::Log2_64(tileRows);
  auto tilesOf = [&](Value count, llvm::function_ref<Value(int64_t)> all) {
    return t.create<arith::ShRUIOp>(t.add(count, all(tileRows - 1)),
                                    all(rowBits));
  };
  // The tiles of the experts before this one.
  RankedTensorType type =
      integers(std::max<int64_t>(threads, llvm::PowerOf2Ceil(experts)));
  auto all = [&](int64_t value) -> Value {
    return t.create<tile::SplatOp>(type, t.i32(value));
  };
  Value counts = t.load(view(args[expertCounts], t.i32(experts)), {t.i32(0)},
                        type.getShape(), tile::getLayout(type));
  Value isBefore = t.create<arith::CmpIOp>(
      arith::CmpIPredicate::slt, t.create<tile::IotaOp>(type, 0),
      t.create<tile::SplatOp>(type, expert));
  Value earlier =
      t.create<arith::SelectOp>(isBefore, tilesOf(counts, all), all(0));
  Value firstTile = t.create<tile::ScanOp>(earlier, false).getTotal();
  Value count = t.create<tile::LoadScalarOp>(
      t.builder().getI32Type(),
      t.advance(args[expertCounts], t.wideMul(expert, t.i32(4))));
  Value tiles = tilesOf(count, [&](int64_t value) { return t.i32(value); });

  Value tileView =
      view(t.advance(args[tileExperts], t.wideMul(firstTile, t.i32(4))), tiles);
  fill(expert, tileView, t.i32(0), tiles);
  // The last expert knows how many there are.
  Value isLast =
      t.create<arith::DivUIOp>(t.add(expert, t.i32(1)), t.i32(op.getExperts()));
  auto one = RankedTensorType::get(
      {1}, t.builder().getI32Type(),
      tile::LayoutAttr::get(op.getContext(), tile::topKLayout(1, waves)));
  t.store(t.create<tile::SplatOp>(one, t.add(firstTile, tiles)),
          view(args[tileCount], isLast), {t.i32(0)});
  Value slots = t.mul(tiles, t.i32(tileRows));
  Value slotView = view(
      t.advance(args[sortedRoutes], t.wideMul(firstTile, t.i32(4 * tileRows))),
      slots);
  fill(t.i32(-1), slotView, count, slots);
  // An expert without routes looks for none.
  Value isUsed = t.create<arith::MinSIOp>(count, t.i32(1));
  SmallVector<Value> none;
  loop(
      t.i32(0), t.mul(routes, isUsed), ahead * chunk, t.i32(0),
      [&](Value first, ValueRange before) {
        Value placed = before.front();
        SmallVector<Value> begins = chunksFrom(first), mine = areMine(first);
        for (int64_t at = 0; at < ahead; at += 2) {
          placed = place(ArrayRef(begins).drop_front(at).take_front(2),
                         ArrayRef(mine).drop_front(at).take_front(2), placed,
                         slotView);
        }
        return SmallVector<Value>{placed};
      },
      none);
  t.create<tile::ReturnOp>();
}

Value moe::tileBound(spec::MoeExpertsOp op, PlanBuilder &plan,
                     int64_t tileRows) {
  Value routes =
      plan.mul(plan.size("ids", 0), plan.constant(op.getExpertsPerToken()));
  // Each expert with routes may leave tileRows - 1 slots over.
  Value used = plan.min(routes, plan.constant(op.getExperts()));
  Value others = plan.sub(routes, used);
  return plan.add(plan.floorDiv(others, plan.constant(tileRows)), used);
}

void moe::addSort(spec::MoeExpertsOp op, int64_t tileRows, StringRef name,
                  PlanBuilder &plan, OpBuilder &builder, Value runs) {
  assert(llvm::isPowerOf2_64(tileRows) && "tiles of a power of two of rows");
  // Their numbers are read and written through one view.
  plan.require(
      arith::CmpIPredicate::slt,
      plan.mul(plan.size("ids", 0), plan.constant(op.getExpertsPerToken())),
      plan.constant(int64_t(1) << 29), "ids: T * K must be below 2^29");
  Type i32 = builder.getI32Type();
  Value tiles = tileBound(op, plan, tileRows);
  Value bytes = plan.constant(4);
  plan.workspace(expertCounts, plan.constant(4 * op.getExperts()),
                 /*zero=*/false);
  plan.workspace(tileExperts, plan.mul(tiles, bytes), /*zero=*/false);
  plan.workspace(tileCount, bytes, /*zero=*/false);
  plan.workspace(sortedRoutes, plan.mul(tiles, plan.constant(4 * tileRows)),
                 /*zero=*/false);
  Value workgroups = plan.constant(op.getExperts());
  workgroups =
      plan.mul(workgroups, plan.min(plan.size("ids", 0), plan.constant(1)));
  if (runs) {
    workgroups = plan.mul(workgroups, runs);
  }
  for (bool scatters : {false, true}) {
    std::string own = (name + (scatters ? "_scatter" : "_count")).str();
    KernelArguments arguments(builder, plan);
    RouteLookup::addArguments(op, plan, arguments);
    arguments.statedWorkspace(expertCounts, i32);
    arguments.statedWorkspace(tileExperts, i32);
    if (scatters) {
      arguments.statedWorkspace(sortedRoutes, i32);
      arguments.statedWorkspace(tileCount, i32);
    } else {
      arguments.scalar32("tiles", tiles);
    }
    plan.launch(own, workgroups, plan.constant(1), plan.constant(1), threads);
    tile::KernelOp kernel = arguments.createKernel(op.getLoc(), own, waves,
                                                   /*preloads=*/true);
    OpBuilder::InsertionGuard guard(builder);
    SortKernel writer(op, tileRows, kernel, builder);
    scatters ? writer.writeScatter() : writer.writeCount();
  }
}
