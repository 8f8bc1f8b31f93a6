//===- StageTwo.cpp - the intermediate by w2, rows of routes ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpertStage.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

namespace {
class StageTwo : public TileStage {
public:
  StageTwo(spec::MoeExpertsOp op, const ExpertsSchedule &cut, bool direct,
           OpBuilder &builder)
      : TileStage(op, direct, ProductShape::second(op), cut.down, builder),
        atomic(cut.atomic) {}

private:
  void operands() override;
  void writeOut(ValueRange sums) override;
  void addToTokens(Value tile);

  bool atomic;
};
} // namespace

void StageTwo::operands() {
  int64_t stride = rowBytes(shape.input, shape.depth);
  bool scaled = hasScales(shape.input);
  if (direct) {
    product.x = rowsOf(args[intermediateCodes],
                       scaled ? args[intermediateScales] : Value(), shape.input,
                       shape.depth, t.i32(stride), routeCount(), routes.routes);
  } else {
    product.x =
        rowsOf(atSlots(intermediateCodes, stride), Value(), shape.input,
               shape.depth, t.i32(stride), t.i32(schedule.tileM), Value());
    if (scaled) {
      product.x.scales = slotScales();
    }
  }
  product.weights.push_back(
      expertWeights("w2", op.getW2(), op.getW2Scale(), op.getW2Order(), 0));
}

/// Adds rows of routes, by their weights, to those of their tokens. What is no
/// route has no weight: it may be anything in memory.
void StageTwo::addToTokens(Value tile) {
  Builder &b = t.builder();
  Value zero = t.i32(0);
  OpFoldResult unit = b.getIndexAttr(1);
  Value factors =
      t.gather(t.view(args["weights"], {unit}, t.mul(routeCount(), t.i32(4))),
               routes.routes, {zero}, {schedule.tileM});
  Value weighted = t.mulf(tile, t.broadcast(factors, {0}, tile));
  auto type = cast<RankedTensorType>(weighted.getType());
  Value rounded =
      t.create<arith::TruncFOp>(type.clone(b.getBF16Type()), weighted);
  // Rows are a multiple of 16 bytes apart.
  constexpr int64_t bytes = 2;
  Value stride = t.mul(args["out_stride"], t.i32(16));
  Value skipped = t.mul(column0, t.i32(bytes));
  Value all = t.add(t.mul(t.create<arith::SubIOp>(args["T"], t.i32(1)), stride),
                    t.i32(shape.width * bytes));
  Value view = t.view(t.advance(args["out"], t.wideMul(skipped, t.i32(1))),
                      {t.mul(args["out_stride"], t.i32(16 / bytes)), unit},
                      t.create<arith::SubIOp>(all, skipped));
  Limits limits = columnLimits(1);
  auto store = t.create<tile::StoreOp>(
      rounded, view, ValueRange{zero, zero}, limits.values,
      tokensOf(op, t, routes.routes), limits.divisors, /*nontemporal=*/false,
      /*coherent=*/false);
  store.setAccumulate(true);
}

void StageTwo::writeOut(ValueRange sums) {
  if (atomic) {
    addToTokens(spread(sums[0]));
    return;
  }
  spec::Format format = op.getRoutes();
  Value sum = sums[0];
  if (format == spec::Format::BF16) {
    // Half as much goes through LDS.
    sum = quantize(t, sum, format, op.getScaleMode()).values;
  }
  Codes codes = quantize(t, spread(sum), format, op.getScaleMode());
  if (!op.hasRouteRows()) {
    int64_t bytes = bitsOf(format) / 8;
    scatterRows(codes.values, routeRows, rowBytes(format, shape.width),
                t.mul(column0, t.i32(bytes)), 1, bytes);
    return;
  }
  int64_t pitch = op.getRoutePitch();
  scatterRows(t.bitcast(codes.values, t.builder().getI8Type()), "out", pitch,
              column0, 1, 1);
  Value block =
      t.create<arith::DivUIOp>(column0, t.i32(tile::MmaOp::scaleBlock));
  scatterRows(codes.scales, "out", pitch, t.add(block, t.i32(shape.width)),
              tile::MmaOp::scaleBlock, 1);
}

void moe::writeStageTwo(spec::MoeExpertsOp op, const ExpertsSchedule &schedule,
                        bool direct, tile::KernelOp kernel,
                        OpBuilder &builder) {
  StageTwo(op, schedule, direct, builder).write(kernel);
}
