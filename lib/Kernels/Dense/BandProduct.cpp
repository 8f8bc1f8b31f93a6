//===- BandProduct.cpp - products of bands over all of K --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every step along K reads through views that are moved to it, so that the
// offsets of lanes stay what they are; rows beyond the end lie outside of the
// views and read as zeros. What is left of K after whole steps is one more step
// whose loads are limited.
//
//===----------------------------------------------------------------------===//

#include "BandProduct.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

/// The tile of \p band at step \p k: [tileM, tileK] of x, [tileK, tileN] of
/// weights, or a slice of it for each of the waves along K; of scales, and of
/// values that share bytes, fewer along K. A limited step is as deep as one
/// slice and ends with K.
Value BandProduct::loadStep(const Band &band, Value k, bool isWeights,
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
  if (traits.scalesX && !traits.packedScales && !limited) {
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
    int64_t multiple = traits.depthMultiple;
    if (band.valuesPerByte == tile::MmaOp::scaleBlock) {
      multiple *= traits.scaleAlignment;
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
  // Slices come first, but behind rows that are gathered.
  int64_t slice = band.gathered ? 1 : 0;
  if (schedule.wavesK > 1) {
    dims.insert(dims.begin() + slice, band.slices(b, sliceElements));
    offsets.insert(offsets.begin() + slice, zero);
    shape.insert(shape.begin() + slice, schedule.wavesK);
    if (limited) {
      // The first slice takes all of it.
      limits.values.insert(limits.values.begin() + slice, t.i32(1));
      divisors.insert(divisors.begin() + slice, 1);
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
  Value tile = band.gathered
                   ? t.gather(view, band.gathered, offsets, shape, {}, limits)
                   : t.load(view, offsets, shape, {}, band.nontemporal, limits);
  // The last step, when there is one, is not worth a buffer; nor are scales.
  bool staged = isWeights ? schedule.stagesWeights : schedule.stagesX;
  bool isScale = band.valuesPerByte == tile::MmaOp::scaleBlock;
  auto load = cast<tile::LoadOp>(tile.getDefiningOp());
  load.setStaged(staged && !limited && !isScale);
  if (load.getStaged() && !isWeights && schedule.stagesOfX) {
    load->setAttr("tile.stages", b.getI64IntegerAttr(*schedule.stagesOfX));
  }
  return band.gathered && schedule.wavesK > 1 ? t.transpose(tile, {1, 0, 2})
                                              : tile;
}

/// Rows and columns of the scaled instruction.
int64_t BandProduct::scaledInstruction() {
  // A word of packed scales is that of two by two small ones.
  bool isLarge = !traits.packedScales &&
                 schedule.tileM % (32 * schedule.wavesM) == 0 &&
                 schedule.tileN % (32 * schedule.wavesN) == 0;
  return isLarge ? 32 : 16;
}

/// The order along K of a whole step of \p band. Any order of the blocks that
/// have a scale will do when x, weights and scales follow it: the one here lets
/// a lane read the scales of several instructions side by side.
SmallVector<DepthLevel> BandProduct::orderBlocks(const Band &band) {
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
void BandProduct::chooseNarrow(tile::MmaOp product) {
  FailureOr<target::TargetInfo> target = tile::getTarget(op);
  bool isBF16 = traits.format == target::MatrixFormat::BF16;
  target::MatrixFormat format = traits.format;
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

StepOperand BandProduct::load(const Operand &operand, Value k, bool isWeights,
                              bool limited) {
  StepOperand step;
  step.values = loadStep(operand.values, k, isWeights, limited);
  if (operand.scales) {
    step.scales = loadStep(*operand.scales, k, isWeights, limited);
  }
  return step;
}

Value BandProduct::multiply(Value sum, const StepOperand &tokens,
                            const StepOperand &weights) {
  SmallVector<int64_t> waves{schedule.wavesM, schedule.wavesN};
  if (schedule.wavesK > 1) {
    waves.push_back(schedule.wavesK);
  }
  Value weight = weights.values, weightScale = weights.scales;
  if (weightScale && !tokens.scales) {
    // No instruction takes the two formats as they are.
    auto codes = cast<RankedTensorType>(weight.getType());
    int64_t dim = codes.getRank() - 2;
    SmallVector<int64_t> shape(codes.getShape());
    shape[dim] *= 2;
    auto type = RankedTensorType::get(
        shape,
        cast<RankedTensorType>(tokens.values.getType()).getElementType());
    weight = t.create<tile::DequantizeOp>(type, weight, weightScale, dim);
    weightScale = Value();
  }
  auto product = t.create<tile::MmaOp>(tokens.values, weight, sum, waves);
  product.getLhsScaleMutable().assign(tokens.scales ? ValueRange(tokens.scales)
                                                    : ValueRange());
  product.getRhsScaleMutable().assign(weightScale ? ValueRange(weightScale)
                                                  : ValueRange());
  if (tokens.scales) {
    int64_t mn = scaledInstruction();
    product.setInstruction(SmallVector<int64_t>{mn, 2048 / mn});
  } else if (weights.scales) {
    // A lane reads 16 bytes of codes, the operands of four instructions.
    product.setContraction(SmallVector<int64_t>{8, 4});
  } else if (!schedule.stagesX || !schedule.stagesWeights) {
    chooseNarrow(product);
  }
  return product;
}

/// The sums after step \p k.
SmallVector<Value> BandProduct::multiply(ValueRange sums, Value k,
                                         bool limited) {
  StepOperand tokens = load(x, k, /*isWeights=*/false, limited);
  SmallVector<Value> result;
  for (auto [sum, operand] : llvm::zip_equal(sums, weights)) {
    result.push_back(
        multiply(sum, tokens, load(operand, k, /*isWeights=*/true, limited)));
  }
  return result;
}

Value BandProduct::addSlices(Value sum, int64_t run) {
  layout::Layout layout = sumLayout(schedule, schedule.wavesK, run);
  MLIRContext *context = op->getContext();
  Value slices = t.convertLayout(sum, tile::LayoutAttr::get(context, layout));
  auto type = RankedTensorType::get(
      {schedule.tileM, schedule.tileN}, t.builder().getF32Type(),
      tile::LayoutAttr::get(context, layout.slice({0})));
  return t.create<tile::ReduceOp>(type, tile::ReduceKind::Add, slices,
                                  t.builder().getDenseI64ArrayAttr({0}));
}

SmallVector<Value> BandProduct::accumulate(std::optional<DepthRange> part) {
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
  std::optional<int64_t> known = traits.depth;
  DepthRange range =
      part ? *part : shareOfDepth(t, schedule, Value(), depth, known);
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
    scf::ForOp steps = loop(t.i32(0), range.span, schedule.tileK, range.begin,
                            /*limited=*/false);
    steps->setAttr("tile.stages",
                   t.builder().getI64IntegerAttr(schedule.stages));
  }
  if (!known || *known % schedule.tileK != 0) {
    loop(range.restBegin, range.restEnd, sliceDepth(), Value(),
         /*limited=*/true);
  }
  if (schedule.wavesK > 1) {
    for (Value &sum : sums) {
      sum = schedule.split > 1 ? addSlices(sum, sumColumns) : addSlices(sum);
    }
  }
  return sums;
}
