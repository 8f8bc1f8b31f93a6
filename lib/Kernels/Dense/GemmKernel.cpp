//===- GemmKernel.cpp - the tile program of tenon.gemm ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup computes a tile of out: tileM tokens by tileN columns. Its
// operands are bands of x and of the weights, tileM and tileN rows of K
// elements. Every step along K reads through views that are moved to it, so
// that the offsets of lanes stay what they are; rows beyond the end lie outside
// of the views and read as zeros. What is left of K after whole steps is one
// more step whose loads are limited.
//
//===----------------------------------------------------------------------===//

#include "GemmKernel.h"
#include "XcdOrder.h"

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
  depth = size("K", op.getX(), 1);
  Value tileX = t.workgroupId(0);
  Value tileY = t.workgroupId(1);
  if (schedule.split > 1) {
    share = t.workgroupId(2);
    tile = t.add(tileX, t.mul(tileY, args["grid_x"]));
  }
  if (schedule.group > 0) {
    auto tiles = [&](StringRef begin, StringRef end, int64_t extent) -> Value {
      Value span = t.create<arith::SubIOp>(args[end], args[begin]);
      return t.create<arith::DivUIOp>(t.add(span, t.i32(extent - 1)),
                                      t.i32(extent));
    };
    XcdOrder order{t, schedule.group, dies,
                   tiles("col_begin", "col_end", schedule.tileN),
                   tiles("row_begin", "row_end", schedule.tileM)};
    std::tie(tileX, tileY) = order.tileOf(tileX, tileY);
  }
  row0 = t.add(args["row_begin"], t.mul(tileY, t.i32(schedule.tileM)));
  column0 = t.add(args["col_begin"], t.mul(tileX, t.i32(schedule.tileN)));
  auto left = [&](StringRef end, Value first, int64_t tile) -> Value {
    Value rest = t.create<arith::SubIOp>(args[end], first);
    return t.create<arith::MinSIOp>(rest, t.i32(tile));
  };
  rows = left("row_end", row0, schedule.tileM);
  columns = left("col_end", column0, schedule.tileN);
  x = operand(/*isWeights=*/false, row0, rows);
  if (op.getWeightOrder()) {
    for (unsigned part = 0; part < (isGated() ? 2 : 1); ++part) {
      weights.push_back(packedWeights(part));
    }
    return;
  }
  weights.push_back(operand(/*isWeights=*/true, column0, columns));
  if (isGated()) {
    Value half = size("N/2", op.getOut(), 1);
    weights.push_back(
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
  result.values =
      packedBand(t, args["weights"], depth, bitsOf(op.getWeights()), rows);
  if (op.hasBlockScaledWeights()) {
    result.scales = packedScaleBand(t, args["weight_scale"], depth, rows);
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
  result.depth = depth;
  if (result.valuesPerByte > 1) {
    result.depth = t.create<arith::DivUIOp>(depth, t.i32(result.valuesPerByte));
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
      result.scales = packedScaleBand(t, args["x_scale"], depth, packed);
    } else {
      result.scales = band("x_scale", op.getXScale(), first, count);
    }
  }
  return result;
}

/// The tile of \p band at step \p k: [tileM, tileK] of x, [tileK, tileN] of
/// weights, or a slice of it for each of the waves along K; of scales, and of
/// values that share bytes, fewer along K. A limited step is as deep as one
/// slice and ends with K.
Value GemmKernel::loadStep(const Band &band, Value k, bool isWeights,
                           bool limited) {
  Value first = k; // in elements of the band
  if (band.valuesPerByte > 1) {
    first = t.create<arith::DivUIOp>(k, t.i32(band.valuesPerByte));
  }
  int64_t sliceElements = sliceDepth() / band.valuesPerByte;
  Value skipped = band.bytesBefore(t, first);
  Value zero = t.i32(0);
  Builder &b = t.builder();
  // The last step is cut along K at any block.
  SmallVector<DepthLevel> order{{0, 1}};
  if (op.hasBlockScaledX() && !hasPackedScales() && !limited) {
    order = orderBlocks(band);
  }
  SmallVector<ViewStrides> dims{band.rows(b), band.alongDepth(b, order)};
  SmallVector<Value> offsets{band.firstRow ? band.firstRow : zero, zero};
  SmallVector<int64_t> shape{isWeights ? schedule.tileN : schedule.tileM,
                             sliceElements};
  Limits limits;
  SmallVector<int64_t> divisors;
  if (limited) {
    limits.values = {t.i32(std::numeric_limits<int32_t>::max()),
                     t.create<arith::SubIOp>(band.depth, first)};
    int64_t multiple = op.getKMultiple();
    if (band.valuesPerByte == tile::MmaOp::scaleBlock) {
      multiple *= op.getScaleAlignment();
    }
    divisors = {1, multiple / band.valuesPerByte};
  }
  if (isWeights) {
    std::reverse(dims.begin(), dims.end());
    std::reverse(offsets.begin(), offsets.end());
    std::reverse(shape.begin(), shape.end());
    std::reverse(limits.values.begin(), limits.values.end());
    std::reverse(divisors.begin(), divisors.end());
  }
  if (schedule.wavesK > 1) {
    dims.insert(dims.begin(), band.slices(b, sliceElements));
    offsets.insert(offsets.begin(), zero);
    shape.insert(shape.begin(), schedule.wavesK);
    if (limited) {
      // The first slice takes all of it.
      limits.values.insert(limits.values.begin(), t.i32(1));
      divisors.insert(divisors.begin(), 1);
    }
  }
  if (limited) {
    limits.divisors = b.getDenseI64ArrayAttr(divisors);
  }
  Value bytes = t.create<arith::SubIOp>(band.bytes, skipped);
  ViewStrides strides;
  for (const ViewStrides &dim : dims) {
    strides.append(dim);
  }
  Value view = t.view(t.advance(band.pointer, t.wideMul(skipped, t.i64(1))),
                      strides.strides, bytes, strides.blocks);
  Value tile = t.load(view, offsets, shape, {}, /*nontemporal=*/false, limits);
  // The last step, when there is one, is not worth a buffer; nor are scales.
  bool staged = isWeights ? schedule.stagesWeights : schedule.stagesX;
  bool isScale = band.valuesPerByte == tile::MmaOp::scaleBlock;
  auto load = cast<tile::LoadOp>(tile.getDefiningOp());
  load.setStaged(staged && !limited && !isScale);
  if (load.getStaged() && !isWeights && schedule.stagesOfX) {
    load->setAttr("tile.stages", b.getI64IntegerAttr(*schedule.stagesOfX));
  }
  return tile;
}

/// Rows and columns of the scaled instruction.
int64_t GemmKernel::scaledInstruction() {
  // A word of packed scales is that of two by two small ones.
  bool isLarge = !hasPackedScales() &&
                 schedule.tileM % (32 * schedule.wavesM) == 0 &&
                 schedule.tileN % (32 * schedule.wavesN) == 0;
  return isLarge ? 32 : 16;
}

/// The order along K of a whole step of \p band. Any order of the blocks that
/// have a scale will do when x, weights and scales follow it: the one here lets
/// a lane read the scales of several instructions side by side.
SmallVector<DepthLevel> GemmKernel::orderBlocks(const Band &band) {
  // Blocks of one instruction, and instructions along K.
  int64_t groups = 64 / scaledInstruction();
  int64_t steps =
      std::gcd(sliceDepth() / (groups * tile::MmaOp::scaleBlock), int64_t(4));
  int64_t run = tile::MmaOp::scaleBlock / band.valuesPerByte;
  SmallVector<DepthLevel> order{{run, 1}, {groups, run * steps}};
  if (steps * groups * tile::MmaOp::scaleBlock != sliceDepth()) {
    order.push_back({steps, run});
    run *= groups * steps;
  }
  order.push_back({0, run});
  return order;
}

/// Takes the instruction of few rows, of the fastest. When waves read operands
/// from memory themselves, each access takes more of a line then, and the L1
/// serves lines.
void GemmKernel::chooseNarrow(tile::MmaOp product) {
  FailureOr<target::TargetInfo> target = tile::getTarget(op);
  bool isBF16 = op.getFormat() == spec::GemmFormat::BF16;
  auto format = isBF16 ? target::MatrixFormat::BF16 : target::MatrixFormat::FP8;
  // FP8 of another bias is refused by tile-select-precision.
  if (failed(target) ||
      (!isBF16 && target->facts().fp8Flavour != target::Fp8Flavour::OCP)) {
    return;
  }
  for (const target::Mfma &mfma : target->mfmasFor(format, format)) {
    if (mfma.m == 16 && mfma.n == 16) {
      product.setInstruction(SmallVector<int64_t>{mfma.m, mfma.k});
      return;
    }
  }
}

/// The sums after step \p k.
SmallVector<Value> GemmKernel::multiply(ValueRange sums, Value k,
                                        bool limited) {
  auto load = [&](const Operand &operand,
                  bool isWeights) -> std::pair<Value, Value> {
    Value values = loadStep(operand.values, k, isWeights, limited);
    if (!operand.scales) {
      return {values, Value()};
    }
    return {values, loadStep(*operand.scales, k, isWeights, limited)};
  };
  auto [tokens, tokenScale] = load(x, /*isWeights=*/false);
  SmallVector<int64_t> waves{schedule.wavesM, schedule.wavesN};
  if (schedule.wavesK > 1) {
    waves.push_back(schedule.wavesK);
  }
  SmallVector<Value> result;
  for (auto [sum, operand] : llvm::zip_equal(sums, weights)) {
    auto [weight, weightScale] = load(operand, /*isWeights=*/true);
    if (weightScale && !tokenScale) {
      // No instruction takes the two formats as they are.
      auto codes = cast<RankedTensorType>(weight.getType());
      int64_t dim = codes.getRank() - 2;
      SmallVector<int64_t> shape(codes.getShape());
      shape[dim] *= 2;
      auto type = RankedTensorType::get(
          shape, cast<RankedTensorType>(tokens.getType()).getElementType());
      weight = t.create<tile::DequantizeOp>(type, weight, weightScale, dim);
      weightScale = Value();
    }
    auto product = t.create<tile::MmaOp>(tokens, weight, sum, waves);
    product.getLhsScaleMutable().assign(tokenScale ? ValueRange(tokenScale)
                                                   : ValueRange());
    product.getRhsScaleMutable().assign(weightScale ? ValueRange(weightScale)
                                                    : ValueRange());
    if (tokenScale) {
      int64_t mn = scaledInstruction();
      product.setInstruction(SmallVector<int64_t>{mn, 2048 / mn});
    } else if (operand.scales) {
      // A lane reads 16 bytes of codes, the operands of four instructions.
      product.setContraction(SmallVector<int64_t>{8, 4});
    } else if (!schedule.stagesX || !schedule.stagesWeights) {
      chooseNarrow(product);
    }
    result.push_back(product);
  }
  return result;
}

/// Adds the sums of the waves along K.
Value GemmKernel::addSlices(Value sum) {
  layout::Layout layout = sumLayout(schedule, schedule.wavesK, /*run=*/8);
  MLIRContext *context = op.getContext();
  Value slices = t.convertLayout(sum, tile::LayoutAttr::get(context, layout));
  auto type = RankedTensorType::get(
      {schedule.tileM, schedule.tileN}, t.builder().getF32Type(),
      tile::LayoutAttr::get(context, layout.slice({0})));
  return t.create<tile::ReduceOp>(type, tile::ReduceKind::Add, slices,
                                  t.builder().getDenseI64ArrayAttr({0}));
}

/// The products over all of K.
SmallVector<Value> GemmKernel::accumulate() {
  SmallVector<int64_t> shape{schedule.tileM, schedule.tileN};
  if (schedule.wavesK > 1) {
    shape.insert(shape.begin(), schedule.wavesK);
  }
  auto type = RankedTensorType::get(shape, t.builder().getF32Type());
  SmallVector<Value> sums;
  for (size_t part = 0; part < weights.size(); ++part) {
    sums.push_back(t.create<arith::ConstantOp>(
        DenseElementsAttr::get(type, t.builder().getF32FloatAttr(0.0f))));
  }
  std::optional<int64_t> known = staticSize(op.getX(), 1);
  DepthRange range = shareOfDepth(t, schedule, share, depth, known);
  auto loop = [&](Value from, Value to, int64_t step, Value behind,
                  bool limited) {
    auto steps = t.create<scf::ForOp>(from, to, t.i32(step), sums);
    OpBuilder::InsertionGuard guard(t.builder());
    t.builder().setInsertionPointToEnd(steps.getBody());
    Value k = steps.getInductionVar();
    if (behind) {
      k = t.add(behind, k);
    }
    t.create<scf::YieldOp>(multiply(steps.getRegionIterArgs(), k, limited));
    sums.assign(steps.getResults().begin(), steps.getResults().end());
    return steps;
  };
  if (!known || *known >= schedule.tileK) {
    scf::ForOp steps =
        loop(t.i32(0), range.span, schedule.tileK,
             schedule.split > 1 ? range.begin : Value(), /*limited=*/false);
    steps->setAttr("tile.stages",
                   t.builder().getI64IntegerAttr(schedule.stages));
  }
  if (!known || *known % schedule.tileK != 0) {
    loop(range.restBegin, range.restEnd, sliceDepth(), Value(),
         /*limited=*/true);
  }
  if (schedule.wavesK > 1) {
    for (Value &sum : sums) {
      sum = addSlices(sum);
    }
  }
  return sums;
}

void GemmKernel::write(tile::KernelOp kernel) {
  t.builder().setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  identify();
  SmallVector<Value> sums = accumulate();
  auto finish = [&](ValueRange totals) {
    SmallVector<Value> scaled;
    for (auto [part, total] : llvm::enumerate(totals)) {
      scaled.push_back(scale(total, part));
    }
    writeOut(scaled);
  };
  if (schedule.split > 1) {
    SplitSums(t, schedule, args, tile, share, rows).finish(sums, finish);
  } else {
    finish(sums);
  }
  t.create<tile::ReturnOp>();
}
