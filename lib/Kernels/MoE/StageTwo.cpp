//===- StageTwo.cpp - the intermediate by w2, rows of routes ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpertStage.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

namespace {
class StageTwo : public ExpertStage {
public:
  using ExpertStage::ExpertStage;

private:
  int64_t width() override { return op.getWidth(); }
  int64_t depth() override { return op.getExpertWidth(); }
  spec::Format input() override { return op.getIntermediate(); }
  void operands() override;
  void writeOut(ValueRange sums) override;
  void scatterRows(Value tile, StringRef operand, int64_t pitch, Value offset,
                   int64_t values, int64_t bytes);
};
} // namespace

void StageTwo::operands() {
  int64_t stride = rowBytes(input(), depth());
  product.x = rowsOf(
      atSlots(intermediateCodes, stride),
      hasScales(input()) ? atSlots(intermediateScales, scaleRowBytes(depth()))
                         : Value(),
      input(), depth(), t.i32(stride), t.i32(schedule.tileM), Value());
  product.weights.push_back(
      expertWeights("w2", op.getW2(), op.getW2Scale(), op.getW2Order(), 0));
}

/// Writes the tile's columns of rows of \p pitch bytes, which begin \p offset
/// bytes (i32) behind the first; \p values to an element of \p bytes bytes.
void StageTwo::scatterRows(Value tile, StringRef operand, int64_t pitch,
                           Value offset, int64_t values, int64_t bytes) {
  Value all = t.mul(args["routes"], t.i32(pitch));
  Value view = t.view(
      t.advance(args[operand], t.wideMul(offset, t.i32(1))),
      {t.builder().getIndexAttr(pitch / bytes), t.builder().getIndexAttr(1)},
      t.create<arith::SubIOp>(all, offset));
  Value zero = t.i32(0);
  t.scatter(tile, view, routes.routes, {zero, zero}, columnLimits(values));
}

void StageTwo::writeOut(ValueRange sums) {
  spec::Format format = op.getRoutes();
  Codes codes = quantize(t, spread(sums[0]), format, op.getScaleMode());
  if (!op.hasRouteRows()) {
    int64_t bytes = bitsOf(format) / 8;
    scatterRows(codes.values, routeRows, rowBytes(format, width()),
                t.mul(column0, t.i32(bytes)), 1, bytes);
    return;
  }
  int64_t pitch = op.getRoutePitch();
  scatterRows(t.bitcast(codes.values, t.builder().getI8Type()), "out", pitch,
              column0, 1, 1);
  Value block =
      t.create<arith::DivUIOp>(column0, t.i32(tile::MmaOp::scaleBlock));
  scatterRows(codes.scales, "out", pitch, t.add(block, t.i32(width())),
              tile::MmaOp::scaleBlock, 1);
}

void moe::writeStageTwo(spec::MoeExpertsOp op, const ExpertsSchedule &schedule,
                        bool direct, tile::KernelOp kernel,
                        OpBuilder &builder) {
  StageTwo(op, direct, schedule.down, builder).write(kernel);
}
