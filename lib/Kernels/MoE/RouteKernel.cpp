//===- RouteKernel.cpp - the tile program of tenon.moe_route ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup chooses the experts of one token. What is beyond the last expert
// has the score NaN and an id above those of experts, so that it comes last.
//
//===----------------------------------------------------------------------===//

#include "Route.h"

#include "../KernelArguments.h"
#include "../TileBuilder.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;

namespace {
/// Writes the kernel of one op. Methods are in the order of the program.
class RouteKernel {
public:
  RouteKernel(spec::MoeRouteOp op, int64_t waves, OpBuilder &builder)
      : op(op), waves(waves), t(builder, op.getLoc()) {}

  void write(tile::KernelOp kernel);

private:
  bool isSoftmax() { return op.getScoring() == spec::Scoring::Softmax; }
  Value beyond(Value ids, int64_t count);
  tile::LayoutAttr spread(int64_t extent);
  Value iota(int64_t extent, tile::LayoutAttr layout);
  Value splat(double value, Value like);
  Value orZero(Value tile);
  void normalise(Value logits, Value isPad);
  Value score(Value logits);
  void store(StringRef operand, Value tile, Limits limits);

  spec::MoeRouteOp op;
  int64_t waves;
  TileBuilder t;
  llvm::StringMap<Value> args;
  Value token;
  Value highest, inverseSum; ///< of softmax, tiles of rank 0
};
} // namespace

/// Threads side by side along the experts, and again behind the last: all of
/// them have some that exist. A thread with none would make tile.top_k compare
/// them all.
tile::LayoutAttr RouteKernel::spread(int64_t extent) {
  int64_t step = 1;
  auto bits = [&](int64_t count) {
    SmallVector<layout::Basis> bases;
    for (int64_t bit = 1; bit < count; bit *= 2, step *= 2) {
      bases.push_back({step < extent ? step : 0});
    }
    return bases;
  };
  SmallVector<layout::Basis> lanes = bits(64);
  SmallVector<layout::Basis> waveBases = bits(waves);
  SmallVector<layout::Basis> registers =
      bits(std::max<int64_t>(1, llvm::divideCeil(extent, 64 * waves)));
  return tile::LayoutAttr::get(op.getContext(),
                               llvm::cantFail(layout::Layout::create(
                                   {extent}, registers, lanes, waveBases, {})));
}

Value RouteKernel::iota(int64_t extent, tile::LayoutAttr layout) {
  auto type = RankedTensorType::get({extent}, t.builder().getI32Type(), layout);
  return t.create<tile::IotaOp>(type, 0);
}

/// Where \p ids are \p count or more.
Value RouteKernel::beyond(Value ids, int64_t count) {
  return t.create<arith::CmpIOp>(arith::CmpIPredicate::sge, ids,
                                 t.splat(t.i32(count), ids));
}

Value RouteKernel::splat(double value, Value like) {
  return t.constant(value, like);
}

/// \p tile with zeros for NaN.
Value RouteKernel::orZero(Value tile) {
  Value isNan = t.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, tile, tile);
  return t.create<arith::SelectOp>(isNan, splat(0.0, tile), tile);
}

/// The greatest logit and the sum that softmax divides by.
void RouteKernel::normalise(Value logits, Value isPad) {
  Value lowest = splat(-std::numeric_limits<float>::infinity(), logits);
  Value known = t.create<arith::SelectOp>(isPad, lowest, logits);
  auto scalar = RankedTensorType::get({}, t.builder().getF32Type());
  auto dims = t.builder().getDenseI64ArrayAttr({0});
  // The greatest number: NaN is none.
  Value isNan =
      t.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, known, known);
  Value numbers = t.create<arith::SelectOp>(isNan, lowest, known);
  highest =
      t.create<tile::ReduceOp>(scalar, tile::ReduceKind::Max, numbers, dims);
  Value terms = orZero(t.exp(t.subf(numbers, t.splat(highest, numbers))));
  Value sum =
      t.create<tile::ReduceOp>(scalar, tile::ReduceKind::Add, terms, dims);
  inverseSum = t.rcp(sum);
}

Value RouteKernel::score(Value logits) {
  if (!isSoftmax()) {
    return t.sigmoid(logits);
  }
  Value term = t.exp(t.subf(logits, t.splat(highest, logits)));
  return t.mulf(term, t.splat(inverseSum, term));
}

void RouteKernel::store(StringRef operand, Value tile, Limits limits) {
  int64_t bytes = op.getExpertsPerToken() * 4;
  Value row = t.advance(args[operand], t.wideMul(token, t.i32(bytes)));
  Value view = t.view(row, {t.builder().getIndexAttr(1)}, t.i32(bytes));
  t.store(tile, view, {t.i32(0)}, /*nontemporal=*/false, limits);
}

void RouteKernel::write(tile::KernelOp kernel) {
  t.builder().setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  token = t.workgroupId(0);
  Builder &b = t.builder();
  int64_t experts = op.getExperts();
  int64_t chosen = op.getExpertsPerToken();
  int64_t extent = llvm::PowerOf2Ceil(experts);
  int64_t results = llvm::PowerOf2Ceil(chosen);
  auto type = cast<tile::PtrType>(args["logits"].getType());
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  Value zero = t.i32(0);
  OpFoldResult unit = b.getIndexAttr(1);
  Value row =
      t.advance(args["logits"], t.wideMul(token, args["logits_stride"]));
  Value view = t.view(row, {unit}, t.i32(experts * bytes));
  tile::LayoutAttr placed = spread(extent);
  // Beyond the bound are zeros, which isPad marks.
  Value logits = t.extend(t.load(view, {zero}, {extent}, placed));
  Value bias;
  if (op.getBias()) {
    bias = t.load(t.view(args["bias"], {unit}, t.i32(experts * 4)), {zero},
                  {extent}, placed);
  }
  Value ids = iota(extent, placed);
  Value isPad = beyond(ids, experts);
  if (isSoftmax()) {
    normalise(logits, isPad);
  }
  Value ranked = score(logits);
  if (bias) {
    ranked = t.addf(ranked, bias);
  }
  if (extent != experts) {
    Value none = splat(std::numeric_limits<double>::quiet_NaN(), ranked);
    ranked = t.create<arith::SelectOp>(isPad, none, ranked);
  }
  auto layout =
      tile::LayoutAttr::get(op.getContext(), tile::topKLayout(results, waves));
  auto f32 = RankedTensorType::get({results}, b.getF32Type(), layout);
  auto top = t.create<tile::TopKOp>(TypeRange{f32, f32.clone(b.getI32Type())},
                                    ranked, ids, Value());
  Value which = top.getChosen();
  // Scores without bias, computed again: of few it takes less than moving them.
  Value again = t.create<tile::LoadOp>(
      RankedTensorType::get({results}, type.getElementType(), layout), view,
      ValueRange{zero}, ValueRange(), which, DenseI64ArrayAttr(),
      /*nontemporal=*/false, /*staged=*/false);
  Value weights = orZero(score(t.extend(again)));
  if (op.getRenormalize()) {
    Value counted = weights;
    if (results != chosen) {
      counted = t.create<arith::SelectOp>(beyond(iota(results, layout), chosen),
                                          splat(0.0, weights), weights);
    }
    auto scalar = RankedTensorType::get({}, b.getF32Type());
    Value sum = t.create<tile::ReduceOp>(scalar, tile::ReduceKind::Add, counted,
                                         b.getDenseI64ArrayAttr({0}));
    Value inverse = t.rcp(sum);
    // Of a sum of 0 all weights are.
    Value isZero = t.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, sum,
                                           splat(0.0, sum));
    inverse = t.create<arith::SelectOp>(isZero, splat(0.0, sum), inverse);
    weights = t.mulf(weights, t.splat(inverse, weights));
  }
  if (double factor = op.getFactor().convertToDouble(); factor != 1.0) {
    weights = t.mulf(weights, factor);
  }
  Limits limits;
  if (results != chosen) {
    limits.values = {t.i32(chosen)};
    limits.divisors = b.getDenseI64ArrayAttr({1});
  }
  store("ids", which, limits);
  store("weights", weights, limits);
  t.create<tile::ReturnOp>();
}

SmallVector<DictionaryAttr>
kernels::moe::rankRouteSchedules(spec::MoeRouteOp op) {
  Builder b(op.getContext());
  SmallVector<DictionaryAttr> schedules;
  // The sums of softmax are those of one wave.
  bool isSoftmax = op.getScoring() == spec::Scoring::Softmax;
  for (int64_t waves : {4, 2, 8, 1}) {
    if (!isSoftmax || waves == 1) {
      schedules.push_back(b.getDictionaryAttr(
          b.getNamedAttr("waves", b.getI64IntegerAttr(waves))));
    }
  }
  return schedules;
}

LogicalResult kernels::moe::lowerRoute(spec::MoeRouteOp op,
                                       DictionaryAttr schedule, StringRef name,
                                       OpBuilder &builder) {
  SmallVector<DictionaryAttr> known = rankRouteSchedules(op);
  if (!llvm::is_contained(known, schedule)) {
    return op.emitOpError(
               "a schedule is {waves = 1, 2, 4 or 8}, 1 for softmax; "
               "found ")
           << schedule;
  }
  int64_t waves = cast<IntegerAttr>(schedule.get("waves")).getInt();
  PlanBuilder plan(builder, (name + "_plan").str(), op);
  KernelArguments arguments(builder, plan);
  arguments.pointers(op.getOperandContracts());
  arguments.scalar32("logits_stride", plan.strideBytes("logits"));
  plan.launch(name, plan.size("logits", 0), plan.constant(1), plan.constant(1),
              waves * 64);
  tile::KernelOp kernel = arguments.createKernel(op.getLoc(), name, waves,
                                                 /*preloads=*/true);
  OpBuilder::InsertionGuard guard(builder);
  RouteKernel(op, waves, builder).write(kernel);
  return success();
}
