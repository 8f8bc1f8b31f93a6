//===- StageOne.cpp - tokens by w13, and the activation ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpertStage.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

namespace {
class StageOne : public TileStage {
public:
  using TileStage::TileStage;

private:
  void operands() override;
  void writeOut(ValueRange sums) override;
};
} // namespace

void StageOne::operands() {
  Value tokens = tokensOf(op, t, routes.routes);
  bool isRounded = hasScales(shape.input);
  Value stride = isRounded ? t.i32(rowBytes(shape.input, shape.depth))
                           : t.mul(args["x_stride"], t.i32(16));
  product.x =
      rowsOf(isRounded ? args[xCodes] : args["x"],
             isRounded ? args[xScales] : Value(), shape.input, shape.depth,
             stride, args["T"], tokens, dense::BandOrder::ScaleWords);
  for (int64_t part : {0, 1}) {
    product.weights.push_back(expertWeights(
        "w13", op.getW13(), op.getW13Scale(), op.getW13Order(), part));
  }
}

void StageOne::writeOut(ValueRange sums) {
  // One tile goes through LDS, not two.
  Value result = spread(activate(sums[0], sums[1]));
  spec::Format format = op.getIntermediate();
  Codes codes = quantize(t, result, format, op.getScaleMode());
  Builder &b = t.builder();
  Value zero = t.i32(0);
  // Columns of the tile in memory: `values` to an element of `bytes` bytes.
  int64_t bits = bitsOf(format);
  int64_t values = std::max<int64_t>(8 / bits, 1);
  int64_t bytes = std::max<int64_t>(bits / 8, 1);
  int64_t stride = rowBytes(format, shape.width);
  Value skipped =
      t.mul(t.create<arith::DivUIOp>(column0, t.i32(values)), t.i32(bytes));
  constexpr int64_t block = tile::MmaOp::scaleBlock;
  Value first = t.create<arith::DivUIOp>(column0, t.i32(block));
  if (direct) {
    scatterRows(codes.values, intermediateCodes, stride, skipped, values,
                bytes);
    if (codes.scales) {
      scatterRows(codes.scales, intermediateScales, scaleRowBytes(shape.width),
                  first, block, 1);
    }
    return;
  }
  Value view =
      t.view(t.advance(atSlots(intermediateCodes, stride),
                       t.wideMul(skipped, t.i32(1))),
             {b.getIndexAttr(stride / bytes), b.getIndexAttr(1)},
             t.create<arith::SubIOp>(t.i32(schedule.tileM * stride), skipped));
  t.store(codes.values, view, {zero, zero}, /*nontemporal=*/false,
          columnLimits(values));
  if (!codes.scales) {
    return;
  }
  dense::Band scales = slotScales();
  dense::ViewStrides strides = scales.rows(b);
  strides.append(scales.alongDepth(b, dense::DepthLevel{0, 1}));
  Limits limits = columnLimits(block);
  limits.values[1] = t.add(first, limits.values[1]);
  t.store(codes.scales,
          t.view(scales.pointer, strides.strides, scales.bytes, strides.blocks),
          {scales.firstRow ? scales.firstRow : zero, first},
          /*nontemporal=*/false, limits);
}

void moe::writeStageOne(spec::MoeExpertsOp op, const ExpertsSchedule &schedule,
                        bool direct, tile::KernelOp kernel,
                        OpBuilder &builder) {
  StageOne(op, direct, ProductShape::first(op), schedule.up, builder)
      .write(kernel);
}
