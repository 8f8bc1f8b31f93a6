//===- TokenStage.cpp - the routes of a token by w2, and their sum -*- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup takes some columns of one token: its routes are the rows of x,
// 16 at a time, and each is multiplied by the columns of its own expert. Of
// every product one row is of use, that of the route; few tokens are bound by
// the bytes of weights. So nothing is left to be summed by another launch.
//
//===----------------------------------------------------------------------===//

#include "ExpertStage.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <deque>

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;
using dense::StepOperand;

/// Routes whose products are rows of one tile.
static constexpr int64_t rows = 16;
/// Values along K of a step.
static constexpr int64_t stepDepth = 128;
/// Steps whose weights are on their way at once: three loads each.
static constexpr int64_t stepsAhead = 18;
/// All steps of all routes are written out.
static constexpr int64_t mostSteps = 64;

static int64_t stepsOf(spec::MoeExpertsOp op) {
  return llvm::divideCeil(op.getExpertWidth(), stepDepth);
}

bool moe::sumsByTokens(spec::MoeExpertsOp op, const ExpertsSchedule &schedule) {
  return schedule.direct && !schedule.atomic && !op.hasRouteRows() &&
         op.getExpertsPerToken() * stepsOf(op) <= mostSteps;
}

namespace {
class TokenStage : public ExpertStage {
public:
  TokenStage(spec::MoeExpertsOp op, OpBuilder &builder)
      : ExpertStage(op, /*direct=*/true, ProductShape::second(op),
                    cutTiles(rows, tokenStageColumns, stepDepth, 1, 1, 1,
                             /*stages=*/1),
                    builder) {}

  void write(tile::KernelOp kernel);

private:
  void operands();
  void writeOut(ValueRange sums);
  void chooseRoutes(int64_t begin);
  StepOperand load(const dense::Operand &operand, int64_t step, bool isWeights);
  SmallVector<StepOperand> loadWeights(int64_t place);
  Value products(int64_t begin);
  Value weighted(Value products, Value factors);

  Value token;
  Value firstRoute; ///< of the token
};
} // namespace

/// Makes the routes from place \p begin on the rows of x.
void TokenStage::chooseRoutes(int64_t begin) {
  int64_t count = std::min(rows, op.getExpertsPerToken() - begin);
  Value first = t.add(firstRoute, t.i32(begin));
  Value view = t.view(t.advance(args["ids"], t.wideMul(first, t.i32(4))),
                      {t.builder().getIndexAttr(1)}, t.i32(4 * count));
  Value ids = t.load(view, {t.i32(0)}, {rows});
  Value place = t.iota(0, ids);
  Value isRoute = RouteLookup(op, t, args).areRoutes(ids, place, count);
  routes.routes = t.create<arith::SelectOp>(
      isRoute, t.add(place, t.splat(first, place)), t.integers(-1, place));
}

void TokenStage::operands() {
  product.x = rowsOf(
      args[intermediateCodes],
      hasScales(shape.input) ? args[intermediateScales] : Value(), shape.input,
      shape.depth, t.i32(rowBytes(shape.input, shape.depth)), routeCount(),
      routes.routes);
}

StepOperand TokenStage::load(const dense::Operand &operand, int64_t step,
                             bool isWeights) {
  bool limited = (step + 1) * stepDepth > shape.depth;
  return product.load(operand, t.i32(step * stepDepth), isWeights, limited);
}

/// What is read of the weights of the route at \p place: nothing of no route.
SmallVector<StepOperand> TokenStage::loadWeights(int64_t place) {
  auto [expert, exists] =
      RouteLookup(op, t, args).expert(t.add(firstRoute, t.i32(place)));
  routes.expert = t.mul(expert, exists);
  const dense::Operand weights =
      expertWeights("w2", op.getW2(), op.getW2Scale(), op.getW2Order(), 0);
  SmallVector<StepOperand> steps;
  for (int64_t step = 0; step < stepsOf(op); ++step) {
    // What a step reads begins behind the steps before it, and ends there where
    // there is no route.
    auto ofRoute = [&, exists = exists](dense::Band band) {
      Value skipped =
          band.bytesBefore(t, t.i32(step * stepDepth / band.valuesPerByte));
      Value rest = t.create<arith::SubIOp>(band.bytes, skipped);
      band.bytes = t.add(t.mul(rest, exists), skipped);
      return band;
    };
    dense::Operand operand{ofRoute(weights.values), ofRoute(*weights.scales)};
    steps.push_back(load(operand, step, /*isWeights=*/true));
  }
  return steps;
}

/// The routes from place \p begin on, each by its expert.
Value TokenStage::products(int64_t begin) {
  int64_t end = std::min(begin + rows, op.getExpertsPerToken());
  SmallVector<StepOperand> tokens;
  for (int64_t step = 0; step < stepsOf(op); ++step) {
    tokens.push_back(load(product.x, step, /*isWeights=*/false));
  }
  auto type = RankedTensorType::get({rows, tokenStageColumns},
                                    t.builder().getF32Type());
  Value zeros = t.create<arith::ConstantOp>(
      DenseElementsAttr::get(type, t.builder().getF32FloatAttr(0.0f)));
  Value all = zeros;
  int64_t ahead = std::max<int64_t>(1, stepsAhead / stepsOf(op));
  std::deque<SmallVector<StepOperand>> onTheirWay;
  for (int64_t place = begin; place < std::min(begin + ahead, end); ++place) {
    onTheirWay.push_back(loadWeights(place));
  }
  t.create<tile::OrderFenceOp>();
  for (int64_t place = begin; place < end; ++place) {
    Value sum = zeros;
    for (auto [token, weights] : llvm::zip_equal(tokens, onTheirWay.front())) {
      sum = product.multiply(sum, token, weights);
    }
    onTheirWay.pop_front();
    Value row = t.iota(0, sum);
    Value isOwn = t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, row,
                                          t.integers(place - begin, row));
    all = t.create<arith::SelectOp>(isOwn, sum, all);
    if (place + ahead < end) {
      onTheirWay.push_back(loadWeights(place + ahead));
      t.create<tile::OrderFenceOp>();
    }
  }
  return all;
}

/// Rows of routes by their weights.
Value TokenStage::weighted(Value products, Value factors) {
  Codes rounded = quantize(t, products, op.getRoutes(), op.getScaleMode());
  Value values = t.extend(rounded.values);
  return t.mulf(values, t.broadcast(factors, {0}, values));
}

void TokenStage::writeOut(ValueRange sums) {
  Value sum = sums.front();
  for (Value other : sums.drop_front()) {
    sum = t.addf(sum, other);
  }
  sum = t.reduce(tile::ReduceKind::Add, sum, {0});
  constexpr int64_t bytes = 2;
  auto type = cast<RankedTensorType>(sum.getType());
  Value rounded =
      t.create<arith::TruncFOp>(type.clone(t.builder().getBF16Type()), sum);
  Value skipped = t.mul(column0, t.i32(bytes));
  Value row = t.advance(args["out"],
                        t.wideMul(token, t.mul(args["out_stride"], t.i32(16))));
  Value view =
      t.view(t.advance(row, t.wideMul(skipped, t.i32(1))),
             {t.builder().getIndexAttr(1)}, t.mul(columns, t.i32(bytes)));
  t.store(rounded, view, {t.i32(0)});
}

void TokenStage::write(tile::KernelOp kernel) {
  begin(kernel);
  takeColumns(t.workgroupId(0));
  token = t.workgroupId(1);
  firstRoute = t.mul(token, t.i32(op.getExpertsPerToken()));
  Value exists = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, token,
                                         RouteLookup(op, t, args).tokens());
  auto branch = t.create<scf::IfOp>(exists, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(t.builder());
    t.builder().setInsertionPointToStart(branch.thenBlock());
    Value weights = t.view(args["weights"], {t.builder().getIndexAttr(1)},
                           t.mul(routeCount(), t.i32(4)));
    SmallVector<Value> sums;
    for (int64_t begin = 0; begin < op.getExpertsPerToken(); begin += rows) {
      chooseRoutes(begin);
      operands();
      // What is no route has no weight: it may be anything in memory.
      Value factors = t.gather(weights, routes.routes, {t.i32(0)}, {rows});
      sums.push_back(weighted(products(begin), factors));
    }
    writeOut(sums);
  }
  t.create<tile::ReturnOp>();
}

void moe::writeTokenStage(spec::MoeExpertsOp op, tile::KernelOp kernel,
                          OpBuilder &builder) {
  TokenStage(op, builder).write(kernel);
}
