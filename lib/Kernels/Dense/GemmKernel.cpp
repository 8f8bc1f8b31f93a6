//===- GemmKernel.cpp - the tile program of tenon.gemm ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup computes a tile of out: tileM tokens by tileN columns. Its
// operands are bands of x and of the weights, tileM and tileN rows of K
// elements, which BandProduct multiplies.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "GemmWalk.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

std::optional<int64_t> GemmKernel::staticSize(Value operand,
                                              unsigned dim) const {
  auto type = cast<MemRefType>(operand.getType());
  return type.isDynamicDim(dim) ? std::nullopt
                                : std::optional(type.getDimSize(dim));
}

/// A size that is static or an argument.
Value GemmKernel::size(StringRef name, Value operand, unsigned dim) {
  std::optional<int64_t> known = staticSize(operand, dim);
  return known ? t.i32(*known) : args[name];
}

void GemmKernel::identify() {
  product.depth = size("K", op.getX(), 1);
  product.traits.depth = staticSize(op.getX(), 1);
  product.traits.depthMultiple = op.getKMultiple();
  product.traits.scaleAlignment = op.getScaleAlignment();
  product.traits.packedScales = hasPackedScales();
  product.traits.scalesX = op.hasBlockScaledX();
  if (op.getFormat() != spec::GemmFormat::BF16) {
    product.traits.format = target::MatrixFormat::FP8;
  }
}

/// The tile at (\p tileX, \p tileY).
void GemmKernel::locate(Value tileX, Value tileY) {
  row0 = t.add(args["row_begin"], t.mul(tileY, t.i32(schedule.tileM)));
  column0 = t.add(args["col_begin"], t.mul(tileX, t.i32(schedule.tileN)));
  auto left = [&](StringRef end, Value first, int64_t tile) -> Value {
    Value rest = t.create<arith::SubIOp>(args[end], first);
    return t.create<arith::MinSIOp>(rest, t.i32(tile));
  };
  rows = left("row_end", row0, schedule.tileM);
  columns = left("col_end", column0, schedule.tileN);
  product.x = operand(/*isWeights=*/false, row0, rows);
  product.weights.clear();
  if (op.getWeightOrder()) {
    for (unsigned part = 0; part < (isGated() ? 2 : 1); ++part) {
      product.weights.push_back(packedWeights(part));
    }
    return;
  }
  product.weights.push_back(operand(/*isWeights=*/true, column0, columns));
  if (isGated()) {
    Value half = size("N/2", op.getOut(), 1);
    product.weights.push_back(
        operand(/*isWeights=*/true, t.add(half, column0), columns));
  }
}

/// The rows of packed weights of the tile; of gate (part 0) or up (part 1).
Operand GemmKernel::packedWeights(unsigned part) {
  PackedRows rows;
  rows.first = column0;
  rows.count = columns;
  rows.multiple = op.getColBegin() ? 1 : schedule.tileN;
  if (op.getWeightOrder() == spec::WeightOrder::AiterInterleaved) {
    rows.bands = 2;
    rows.band = part;
  } else if (part == 1) {
    std::optional<int64_t> half = staticSize(op.getOut(), 1);
    rows.first = t.add(size("N/2", op.getOut(), 1), column0);
    rows.multiple = std::gcd(rows.multiple, half.value_or(1));
  }
  Operand result;
  result.values = packedBand(t, args["weights"], product.depth,
                             bitsOf(op.getWeights()), rows);
  if (op.hasBlockScaledWeights()) {
    result.scales =
        packedScaleBand(t, args["weight_scale"], product.depth, rows);
  }
  return result;
}

/// \p count rows of an operand from row \p first on.
Band GemmKernel::band(StringRef operand, Value value, Value first,
                      Value count) {
  Band result;
  bool isScale = operand.ends_with("_scale");
  int64_t bits = bitsOf(value);
  result.bytesPerValue = std::max<int64_t>(bits / 8, 1);
  result.valuesPerByte =
      isScale ? tile::MmaOp::scaleBlock : std::max<int64_t>(8 / bits, 1);
  result.depth = product.depth;
  if (result.valuesPerByte > 1) {
    result.depth =
        t.create<arith::DivUIOp>(product.depth, t.i32(result.valuesPerByte));
  }
  // Strides are given in what they are multiples of.
  int64_t unit = isScale ? op.getScaleAlignment() : 16;
  Value units = args[(operand + "_stride").str()];
  result.stride = t.mul(units, t.i32(unit / result.bytesPerValue));
  Value strideBytes = t.mul(units, t.i32(unit));
  result.pointer = t.advance(args[operand], t.wideMul(first, strideBytes));
  Value last = t.mul(t.create<arith::SubIOp>(count, t.i32(1)), strideBytes);
  result.bytes = t.add(last, t.mul(result.depth, t.i32(result.bytesPerValue)));
  return result;
}

/// \p count rows of x or of the weights from row \p first on.
Operand GemmKernel::operand(bool isWeights, Value first, Value count) {
  Operand result;
  result.values = isWeights ? band("weights", op.getWeights(), first, count)
                            : band("x", op.getX(), first, count);
  if (isWeights && op.hasBlockScaledWeights()) {
    result.scales = band("weight_scale", op.getWeightScale(), first, count);
  } else if (!isWeights && op.hasBlockScaledX()) {
    if (op.hasPackedXScale()) {
      PackedRows packed{first, count, op.getRowBegin() ? 1 : schedule.tileM};
      result.scales =
          packedScaleBand(t, args["x_scale"], product.depth, packed);
    } else {
      result.scales = band("x_scale", op.getXScale(), first, count);
    }
  }
  return result;
}

void GemmKernel::write(tile::KernelOp kernel) {
  t.builder().setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  identify();
  if (schedule.streamK) {
    writeStream();
  } else if (schedule.persistent) {
    writePersistent();
  } else {
    writeTile();
  }
  t.create<tile::ReturnOp>();
}

/// The order of tiles in which those of a die lie together.
XcdOrder GemmKernel::dieOrder() {
  if (schedule.walks()) {
    return {t, schedule.group, dies, args["grid_x"], args["grid_y"]};
  }
  auto tiles = [&](StringRef begin, StringRef end, int64_t extent) -> Value {
    Value span = t.create<arith::SubIOp>(args[end], args[begin]);
    return t.create<arith::DivUIOp>(t.add(span, t.i32(extent - 1)),
                                    t.i32(extent));
  };
  return {t, schedule.group, dies,
          tiles("col_begin", "col_end", schedule.tileN),
          tiles("row_begin", "row_end", schedule.tileM)};
}

/// A workgroup, or a share of one, for every tile.
void GemmKernel::writeTile() {
  Value tileX = t.workgroupId(0);
  Value tileY = t.workgroupId(1);
  if (schedule.split > 1) {
    Value share = t.workgroupId(2);
    Value tile = t.add(tileX, t.mul(tileY, args["grid_x"]));
    locate(tileX, tileY);
    SmallVector<Value> sums = product.accumulate(
        shareOfDepth(t, schedule, share, product.depth, product.traits.depth));
    SplitSums(t, schedule, args, tile, share, rows)
        .finish(sums, [&](ValueRange totals, Value firstRow) {
          finishRows(totals, firstRow);
        });
    return;
  }
  if (schedule.group > 0) {
    XcdOrder order = dieOrder();
    Value number = t.add(tileX, t.mul(tileY, order.columns));
    std::tie(tileX, tileY) = order.tileOf(number);
  }
  locate(tileX, tileY);
  finish(product.accumulate());
}

/// The tile of number \p number, row by row.
void GemmKernel::locateNumber(Value number) {
  Value columns = args["grid_x"];
  Value tileY = t.create<arith::DivUIOp>(number, columns);
  locate(t.create<arith::SubIOp>(number, t.mul(tileY, columns)), tileY);
}

/// Enters a loop over tiles. What lanes need behind the steps of a tile is not
/// kept in registers throughout them (see convert-tile-to-rocdl).
void GemmKernel::enterWalk(scf::ForOp loop) {
  loop->setAttr("tile.recompute", t.builder().getUnitAttr());
  t.builder().setInsertionPointToStart(loop.getBody());
}

/// Every so manieth tile. The dies take turns as long as their number divides
/// that of the workgroups.
void GemmKernel::writePersistent() {
  Value tiles = t.mul(args["grid_x"], args["grid_y"]);
  auto loop = t.create<scf::ForOp>(t.workgroupId(0), tiles, args["workgroups"]);
  OpBuilder::InsertionGuard guard(t.builder());
  enterWalk(loop);
  Value number = loop.getInductionVar();
  if (schedule.group > 0) {
    auto [tileX, tileY] = dieOrder().tileOf(number);
    locate(tileX, tileY);
  } else {
    locateNumber(number);
  }
  finish(product.accumulate());
}

/// Whole tiles, and a run of the steps of those that are left.
void GemmKernel::writeStream() {
  bool isGrouped = schedule.group > 0;
  auto placeOf = [&](Value number, Value total) {
    return isGrouped ? dieOrder().placeOf(number, total) : number;
  };
  StreamWalk walk(t, schedule, args,
                  placeOf(t.workgroupId(0), args["workgroups"]));
  auto loop = t.create<scf::ForOp>(t.i32(0), walk.turns, t.i32(1));
  OpBuilder::InsertionGuard guard(t.builder());
  enterWalk(loop);
  Value turn = loop.getInductionVar();
  Value number = walk.tileOf(turn, placeOf);
  if (isGrouped) {
    auto [tileX, tileY] = dieOrder().tileAt(number);
    locate(tileX, tileY);
  } else {
    locateNumber(number);
  }
  DepthRange range =
      walk.enter(turn, number, product.depth, product.traits.depth);
  walk.finish(
      product.accumulate(range), rows, [&](ValueRange sums) { finish(sums); },
      [&](ValueRange totals, Value firstRow) { finishRows(totals, firstRow); });
}
