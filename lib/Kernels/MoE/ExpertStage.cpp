//===- ExpertStage.cpp - what the products of an expert share ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpertStage.h"

#include "../Dense/XcdOrder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;
using dense::Band;
using dense::Operand;

int64_t moe::scaleRowBytes(int64_t columns) {
  // Four words.
  return llvm::alignTo(columns / tile::MmaOp::scaleBlock, 16);
}

Band moe::scaleBand(TileBuilder &t, Value pointer, int64_t columns, Value rows,
                    dense::BandOrder order) {
  Band band;
  band.order = order;
  band.pointer = pointer;
  band.valuesPerByte = tile::MmaOp::scaleBlock;
  band.depth = t.i32(columns / tile::MmaOp::scaleBlock);
  band.stride = t.i32(scaleRowBytes(columns));
  band.bytes = t.mul(rows, band.stride);
  return band;
}

Band ExpertStage::slotScales() {
  dense::PackedRows rows;
  rows.first = t.mul(row, t.i32(schedule.tileM));
  rows.count = t.i32(schedule.tileM);
  rows.multiple = schedule.tileM;
  return dense::packedScaleBand(t, args[intermediateScales],
                                t.i32(op.getExpertWidth()), rows);
}

Operand ExpertStage::rowsOf(Value pointer, Value scales, spec::Format format,
                            int64_t columns, Value strideBytes, Value rows,
                            Value gathered, dense::BandOrder order) {
  int64_t bits = bitsOf(format);
  Operand result;
  Band &values = result.values;
  values.pointer = pointer;
  values.bytesPerValue = std::max<int64_t>(bits / 8, 1);
  values.valuesPerByte = std::max<int64_t>(8 / bits, 1);
  int64_t elements = columns / values.valuesPerByte;
  values.depth = t.i32(elements);
  values.stride = values.bytesPerValue == 1
                      ? strideBytes
                      : t.mul(t.create<arith::DivUIOp>(strideBytes, t.i32(16)),
                              t.i32(16 / values.bytesPerValue));
  Value last = t.mul(t.create<arith::SubIOp>(rows, t.i32(1)), strideBytes);
  values.bytes = t.add(last, t.i32(elements * values.bytesPerValue));
  values.gathered = gathered;
  if (scales) {
    result.scales = scaleBand(t, scales, columns, rows, order);
    result.scales->gathered = gathered;
  }
  return result;
}

Operand ExpertStage::expertWeights(StringRef name, Value weights, Value scales,
                                   spec::WeightOrder order, int64_t part) {
  dense::PackedRows rows;
  rows.first = column0;
  rows.count = columns;
  rows.multiple = schedule.tileN;
  if (order == spec::WeightOrder::AiterInterleaved) {
    rows.bands = 2;
    rows.band = part;
  } else if (part == 1) {
    rows.first = t.add(t.i32(shape.width), column0);
    rows.multiple = std::gcd(rows.multiple, shape.width);
  }
  auto ofExpert = [&](StringRef operand, Value value) {
    int64_t bytes = spec::WeightLayoutAttr::getExpertBytes(
        cast<MemRefType>(value.getType()));
    return t.advance(args[operand], t.wideMul(routes.expert, t.i32(bytes)));
  };
  constexpr unsigned bits = 4;
  Value k = t.i32(shape.depth);
  Operand result;
  result.values = dense::packedBand(t, ofExpert(name, weights), k, bits, rows);
  result.scales = dense::packedScaleBand(
      t, ofExpert((name + "_scale").str(), scales), k, rows);
  // A tile of all routes reads them once.
  result.values.nontemporal = direct;
  return result;
}

Value ExpertStage::spread(Value sum) {
  MLIRContext *context = op.getContext();
  layout::Layout layout = dense::sumLayout(schedule, 1, /*run=*/8).slice({0});
  return t.convertLayout(sum, tile::LayoutAttr::get(context, layout));
}

Limits ExpertStage::columnLimits(int64_t values) {
  Limits limits;
  Value count = columns;
  if (values > 1) {
    count = t.create<arith::DivUIOp>(columns, t.i32(values));
  }
  limits.values = {t.i32(std::numeric_limits<int32_t>::max()), count};
  // Columns come in blocks.
  limits.divisors =
      t.builder().getDenseI64ArrayAttr({1, tile::MmaOp::scaleBlock / values});
  return limits;
}

Value ExpertStage::atSlots(StringRef workspace, int64_t bytes) {
  return t.advance(args[workspace],
                   t.wideMul(row, t.i32(schedule.tileM * bytes)));
}

Value ExpertStage::routeCount() {
  return t.mul(args["T"], t.i32(op.getExpertsPerToken()));
}

void ExpertStage::scatterRows(Value tile, StringRef operand, int64_t pitch,
                              Value offset, int64_t values, int64_t bytes) {
  Value all = t.mul(routeCount(), t.i32(pitch));
  Value view = t.view(
      t.advance(args[operand], t.wideMul(offset, t.i32(1))),
      {t.builder().getIndexAttr(pitch / bytes), t.builder().getIndexAttr(1)},
      t.create<arith::SubIOp>(all, offset));
  Value zero = t.i32(0);
  t.scatter(tile, view, routes.routes, {zero, zero}, columnLimits(values));
}

int64_t ExpertStage::dies() {
  // lowerExperts has asked for it.
  return tile::getTarget(op)->facts().xcds;
}

void ExpertStage::begin(tile::KernelOp kernel) {
  t.builder().setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  product.depth = t.i32(shape.depth);
  product.traits.depth = shape.depth;
  product.traits.depthMultiple = tile::MmaOp::scaleBlock;
  product.traits.scaleAlignment =
      shape.depth % (4 * tile::MmaOp::scaleBlock) == 0 ? 4 : 1;
  product.traits.packedScales = true;
  product.traits.scalesX = hasScales(shape.input);
}

void ExpertStage::takeColumns(Value column) {
  column0 = t.mul(column, t.i32(schedule.tileN));
  Value rest = t.create<arith::SubIOp>(t.i32(shape.width), column0);
  columns =
      shape.width % schedule.tileN == 0
          ? t.i32(schedule.tileN)
          : t.create<arith::MinSIOp>(rest, t.i32(schedule.tileN)).getResult();
}

Value ExpertStage::activate(Value gate, Value up) {
  if (op.getActivation() == spec::Activation::SiLU) {
    return t.mulf(t.mulf(gate, t.sigmoid(gate)), up);
  }
  return t.situ(gate, up, op.getBeta()->convertToDouble(),
                op.getLinearBeta()->convertToDouble());
}

void TileStage::chooseTile() {
  row = t.workgroupId(1);
  Value column = t.workgroupId(0);
  if (!direct && schedule.group > 0) {
    // Tiles without an expert are left out: each die has its share of the
    // others. Where there is none, the first of one is as good as any.
    Value tiles =
        t.create<tile::LoadScalarOp>(t.builder().getI32Type(), args[tileCount]);
    Value count = t.i32(llvm::divideCeil(shape.width, schedule.tileN));
    Value number = t.add(column, t.mul(row, count));
    hasTile = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, number,
                                      t.mul(tiles, count));
    tiles = t.create<arith::MaxSIOp>(tiles, t.i32(1));
    number = t.create<arith::MinSIOp>(
        number, t.create<arith::SubIOp>(t.mul(tiles, count), t.i32(1)));
    dense::XcdOrder order{t, schedule.group, dies(), count, tiles};
    std::tie(column, row) = order.tileOf(number);
  }
  takeColumns(column);
}

void TileStage::write(tile::KernelOp kernel) {
  if (schedule.stagesX) {
    // Two workgroups of four waves take turns on a compute unit.
    constexpr int64_t perSimd = 2;
    kernel.setWavesPerSimd(perSimd);
  }
  begin(kernel);
  chooseTile();
  routes = direct ? directTile(op, t, args, row, schedule.waves())
                  : sortedTile(t, args, row, schedule.tileM);
  if (hasTile) {
    routes.runs = t.create<arith::AndIOp>(hasTile, routes.runs);
  }
  auto branch = t.create<scf::IfOp>(routes.runs, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(t.builder());
    t.builder().setInsertionPointToStart(branch.thenBlock());
    operands();
    writeOut(product.accumulate());
  }
  t.create<tile::ReturnOp>();
}
