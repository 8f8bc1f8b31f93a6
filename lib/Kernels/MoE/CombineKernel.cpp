//===- CombineKernel.cpp - what is made of rows of routes -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weighted sum over the routes of a token, or zeros in the rows of what is
// no route. Rows that do not exist are read and written through empty views.
//
//===----------------------------------------------------------------------===//

#include "Sort.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

/// Columns of a lane, and of a wave.
static constexpr int64_t perLane = 8;
static constexpr int64_t columns = 64 * perLane;

namespace {
/// One workgroup: \p columns columns of a token.
class TokenKernel {
public:
  TokenKernel(spec::MoeExpertsOp op, tile::KernelOp kernel, OpBuilder &builder)
      : op(op), t(builder, op.getLoc()) {
    builder.setInsertionPointToStart(&kernel.getBody().front());
    args = KernelArguments::byName(kernel);
    token = t.workgroupId(0);
    Value rest =
        t.create<arith::SubIOp>(RouteLookup(op, t, args).tokens(), token);
    isThere = t.create<arith::MinSIOp>(t.create<arith::MaxSIOp>(rest, t.i32(0)),
                                       t.i32(1));
  }

  void writeSum(StringRef rows);
  void writeZeros();
  void writeZeroRow();

private:
  /// Routes of the token: their numbers, and 1 where they exist, else 0.
  std::pair<Value, Value> route(int64_t place);
  tile::LayoutAttr lanes(int64_t extent, int64_t waves);
  /// The token's row of the sums, empty where there is no token.
  Value outRow();

  spec::MoeExpertsOp op;
  TileBuilder t;
  llvm::StringMap<Value> args;
  Value token;
  Value isThere; ///< 1 for a token that may have routes, else 0
};
} // namespace

std::pair<Value, Value> TokenKernel::route(int64_t place) {
  Value number =
      t.add(t.mul(token, t.i32(op.getExpertsPerToken())), t.i32(place));
  return {number, RouteLookup(op, t, args).expert(number).second};
}

tile::LayoutAttr TokenKernel::lanes(int64_t extent, int64_t waves) {
  return tile::LayoutAttr::get(op.getContext(),
                               tile::scanLayout(extent, waves));
}

void TokenKernel::writeSum(StringRef rows) {
  Builder &b = t.builder();
  OpFoldResult unit = b.getIndexAttr(1);
  Value first = t.mul(t.workgroupId(1), t.i32(columns));
  Value pointer = args.lookup(rows);
  int64_t bytes = cast<tile::PtrType>(pointer.getType())
                      .getElementType()
                      .getIntOrFloatBitWidth() /
                  8;
  int64_t rowBytes = op.getWidth() * bytes;
  SmallVector<Value> loaded, factors;
  for (int64_t place = 0; place < op.getExpertsPerToken(); ++place) {
    auto [number, exists] = route(place);
    exists = t.mul(exists, isThere);
    Value row = t.view(t.advance(pointer, t.wideMul(number, t.i32(rowBytes))),
                       {unit}, t.mul(exists, t.i32(rowBytes)));
    loaded.push_back(t.load(row, {first}, {columns}, lanes(columns, 1),
                            /*nontemporal=*/true));
    // The weight of what is no route may be anything, also NaN.
    Value weight = t.create<tile::LoadScalarOp>(
        b.getF32Type(),
        t.advance(args.lookup("weights"), t.wideMul(number, t.i32(4))));
    Value bits = t.create<arith::AndIOp>(
        t.create<arith::BitcastOp>(b.getI32Type(), weight),
        t.create<arith::SubIOp>(t.i32(0), exists));
    factors.push_back(t.create<arith::BitcastOp>(b.getF32Type(), bits));
  }
  Value sum;
  for (auto [row, factor] : llvm::zip_equal(loaded, factors)) {
    Value values = t.extend(row);
    Value weight = t.splat(factor, values);
    sum = sum ? t.fma(weight, values, sum) : t.mulf(weight, values);
  }
  auto type = cast<RankedTensorType>(sum.getType());
  Value rounded = t.create<arith::TruncFOp>(type.clone(b.getBF16Type()), sum);
  t.store(rounded, outRow(), {first});
  t.create<tile::ReturnOp>();
}

Value TokenKernel::outRow() {
  return t.view(t.advance(args.lookup("out"),
                          t.wideMul(token, args.lookup("out_stride"))),
                {t.builder().getIndexAttr(1)},
                t.mul(isThere, t.i32(op.getWidth() * 2)));
}

void TokenKernel::writeZeroRow() {
  auto type = RankedTensorType::get({columns}, t.builder().getBF16Type(),
                                    lanes(columns, 1));
  Value zeros = t.create<arith::ConstantOp>(DenseElementsAttr::get(
      type, t.builder().getFloatAttr(type.getElementType(), 0.0)));
  t.store(zeros, outRow(), {t.mul(t.workgroupId(1), t.i32(columns))});
  t.create<tile::ReturnOp>();
}

/// Bytes of codes that a workgroup of four waves sets at once, 16 of each lane.
static constexpr int64_t clearWaves = 4;
static constexpr int64_t clearBytes = clearWaves * 64 * 16;

void TokenKernel::writeZeros() {
  Builder &b = t.builder();
  OpFoldResult unit = b.getIndexAttr(1);
  int64_t width = op.getWidth();
  Value block = t.workgroupId(1);
  auto zeros = [&](int64_t extent, tile::LayoutAttr layout) -> Value {
    auto type = RankedTensorType::get({extent}, b.getI8Type(), layout);
    return t.create<arith::ConstantOp>(
        DenseElementsAttr::get(type, b.getI8IntegerAttr(0)));
  };
  Value codes = zeros(clearBytes, lanes(clearBytes, clearWaves));
  Value scales = zeros(clearBytes / 32, {});
  for (int64_t place = 0; place < op.getExpertsPerToken(); ++place) {
    auto [number, exists] = route(place);
    Value isEmpty = t.mul(isThere, t.create<arith::SubIOp>(t.i32(1), exists));
    Value row = t.advance(args.lookup("out"),
                          t.wideMul(number, t.i32(op.getRoutePitch())));
    t.store(codes, t.view(row, {unit}, t.mul(isEmpty, t.i32(width))),
            {t.mul(block, t.i32(clearBytes))});
    t.store(scales,
            t.view(t.advance(row, width), {unit},
                   t.mul(isEmpty, t.i32(width / 32))),
            {t.mul(block, t.i32(clearBytes / 32))});
  }
  t.create<tile::ReturnOp>();
}

/// Launches a workgroup of \p waves waves for each token and \p perGroup
/// columns, with \p pointers to operands.
static tile::KernelOp
launchTokens(spec::MoeExpertsOp op, StringRef name, int64_t waves,
             int64_t perGroup, PlanBuilder &plan, OpBuilder &builder,
             Value runs, llvm::function_ref<void(KernelArguments &)> add) {
  KernelArguments arguments(builder, plan);
  RouteLookup::addArguments(op, plan, arguments);
  SmallVector<spec::OperandContract> others = op.getOperandContracts();
  llvm::erase_if(others, [](const spec::OperandContract &contract) {
    return contract.name != "weights" && contract.name != "out";
  });
  arguments.pointers(others);
  arguments.strides(others);
  add(arguments);
  Value tokens = plan.size("ids", 0);
  plan.launch(name, runs ? plan.mul(tokens, runs) : tokens,
              plan.constant(llvm::divideCeil(op.getWidth(), perGroup)),
              plan.constant(1), waves * 64);
  return arguments.createKernel(op.getLoc(), name, waves, /*preloads=*/true);
}

void moe::addCombine(spec::MoeExpertsOp op, StringRef rows, Type element,
                     StringRef name, PlanBuilder &plan, OpBuilder &builder,
                     Value runs) {
  tile::KernelOp kernel =
      launchTokens(op, name, /*waves=*/1, columns, plan, builder, runs,
                   [&](KernelArguments &arguments) {
                     arguments.statedWorkspace(rows, element);
                   });
  OpBuilder::InsertionGuard guard(builder);
  TokenKernel(op, kernel, builder).writeSum(rows);
}

void moe::addClear(spec::MoeExpertsOp op, StringRef name, PlanBuilder &plan,
                   OpBuilder &builder, Value runs) {
  tile::KernelOp kernel = launchTokens(op, name, clearWaves, clearBytes, plan,
                                       builder, runs, [](KernelArguments &) {});
  OpBuilder::InsertionGuard guard(builder);
  TokenKernel(op, kernel, builder).writeZeros();
}

void moe::addZeros(spec::MoeExpertsOp op, StringRef name, PlanBuilder &plan,
                   OpBuilder &builder) {
  tile::KernelOp kernel =
      launchTokens(op, name, /*waves=*/1, columns, plan, builder, Value(),
                   [](KernelArguments &) {});
  OpBuilder::InsertionGuard guard(builder);
  TokenKernel(op, kernel, builder).writeZeroRow();
}
