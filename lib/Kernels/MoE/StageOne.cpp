//===- StageOne.cpp - tokens by w13, and the activation ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpertStage.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

namespace {
class StageOne : public ExpertStage {
public:
  using ExpertStage::ExpertStage;

private:
  int64_t width() override { return op.getExpertWidth(); }
  int64_t depth() override { return op.getWidth(); }
  spec::Format input() override { return op.getInput(); }
  void operands() override;
  void writeOut(ValueRange sums) override;
  Value activate(Value gate, Value up);
};
} // namespace

void StageOne::operands() {
  Value tokens = tokensOf(op, t, routes.routes);
  bool isRounded = hasScales(input());
  Value stride = isRounded ? t.i32(rowBytes(input(), depth()))
                           : t.mul(args["x_stride"], t.i32(16));
  product.x = rowsOf(isRounded ? args[xCodes] : args["x"],
                     isRounded ? args[xScales] : Value(), input(), depth(),
                     stride, args["T"], tokens);
  for (int64_t part : {0, 1}) {
    product.weights.push_back(expertWeights(
        "w13", op.getW13(), op.getW13Scale(), op.getW13Order(), part));
  }
}

Value StageOne::activate(Value gate, Value up) {
  if (op.getActivation() == spec::Activation::SiLU) {
    return t.mulf(t.mulf(gate, t.sigmoid(gate)), up);
  }
  return t.situ(gate, up, op.getBeta()->convertToDouble(),
                op.getLinearBeta()->convertToDouble());
}

void StageOne::writeOut(ValueRange sums) {
  Value result = activate(spread(sums[0]), spread(sums[1]));
  spec::Format format = op.getIntermediate();
  Codes codes = quantize(t, result, format, op.getScaleMode());
  OpFoldResult unit = t.builder().getIndexAttr(1);
  Value zero = t.i32(0);
  // Columns of the tile in memory: `values` to an element of `bytes` bytes.
  auto store = [&](Value tile, StringRef workspace, int64_t stride,
                   int64_t values, int64_t bytes) {
    Value first = t.create<arith::DivUIOp>(column0, t.i32(values));
    Value skipped = t.mul(first, t.i32(bytes));
    if (direct) {
      scatterRows(tile, workspace, stride, skipped, values, bytes);
      return;
    }
    Value view = t.view(
        t.advance(atSlots(workspace, stride), t.wideMul(skipped, t.i32(1))),
        {t.builder().getIndexAttr(stride / bytes), unit},
        t.create<arith::SubIOp>(t.i32(schedule.tileM * stride), skipped));
    t.store(tile, view, {zero, zero}, /*nontemporal=*/false,
            columnLimits(values));
  };
  int64_t bits = bitsOf(format);
  store(codes.values, intermediateCodes, rowBytes(format, width()),
        std::max<int64_t>(8 / bits, 1), std::max<int64_t>(bits / 8, 1));
  if (codes.scales) {
    store(codes.scales, intermediateScales, scaleRowBytes(width()),
          tile::MmaOp::scaleBlock, 1);
  }
}

void moe::writeStageOne(spec::MoeExpertsOp op, const ExpertsSchedule &schedule,
                        bool direct, tile::KernelOp kernel,
                        OpBuilder &builder) {
  StageOne(op, direct, schedule.up, builder).write(kernel);
}
