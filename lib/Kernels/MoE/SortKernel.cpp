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
/// Routes, tiles or slots that a workgroup takes at once.
static constexpr int64_t chunk = 4 * threads;
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
  }

  void writeCount();
  void writeScatter();

private:
  RankedTensorType integers(int64_t extent);
  Value splat(Value scalar) {
    return t.create<tile::SplatOp>(integers(chunk), scalar);
  }
  Value view(Value pointer, Value elements);
  Value isMine(Value first);
  void fill(Value value, Value view, Value begin, Value end);
  void loop(Value begin, Value end, ValueRange carried,
            llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body,
            SmallVector<Value> &results);

  spec::MoeExpertsOp op;
  int64_t tileRows;
  TileBuilder t;
  llvm::StringMap<Value> args;
  Value expert;
  Value routes; ///< that may exist
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

/// 1 for each of the routes from \p first on that goes to the expert, else 0.
Value SortKernel::isMine(Value first) {
  Value ids = t.load(view(args["ids"], routes), {first}, {chunk},
                     tile::getLayout(integers(chunk)));
  Value number =
      t.add(t.create<tile::IotaOp>(integers(chunk), 0), splat(first));
  // Beyond the last route are zeros, which are ids.
  Value exists =
      t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, number, splat(routes));
  Value experts = RouteLookup(op, t, args).experts(ids, exists);
  Value same =
      t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, experts, splat(expert));
  return t.create<arith::ExtUIOp>(integers(chunk), same);
}

/// Chunks from \p begin to \p end.
void SortKernel::loop(
    Value begin, Value end, ValueRange carried,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body,
    SmallVector<Value> &results) {
  auto loop = t.create<scf::ForOp>(begin, end, t.i32(chunk), carried);
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
      begin, end, {},
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
      t.i32(0), routes, zero,
      [&](Value first, ValueRange sums) {
        return SmallVector<Value>{t.add(sums.front(), isMine(first))};
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
  Value ahead =
      t.create<arith::SelectOp>(isBefore, tilesOf(counts, all), all(0));
  Value firstTile = t.create<tile::ScanOp>(ahead, false).getTotal();
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
      t.i32(0), t.mul(routes, isUsed), t.i32(0),
      [&](Value first, ValueRange before) {
        Value mine = isMine(first);
        auto scan = t.create<tile::ScanOp>(mine, true);
        Value place = t.add(scan.getResult(), splat(before.front()));
        Value isRoute = t.create<arith::CmpIOp>(arith::CmpIPredicate::ne, mine,
                                                splat(t.i32(0)));
        Value slot =
            t.create<arith::SelectOp>(isRoute, place, splat(t.i32(-1)));
        Value number =
            t.add(t.create<tile::IotaOp>(integers(chunk), 0), splat(first));
        t.scatter(number, slotView, slot, {t.i32(0)});
        return SmallVector<Value>{t.add(before.front(), scan.getTotal())};
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
