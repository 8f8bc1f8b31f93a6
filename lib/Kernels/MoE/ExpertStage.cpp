//===- ExpertStage.cpp - what the products of an expert share ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpertStage.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;
using dense::Band;
using dense::Operand;

int64_t moe::scaleRowBytes(int64_t columns) {
  // Read by the dword.
  return llvm::alignTo(columns / tile::MmaOp::scaleBlock, 4);
}

Operand ExpertStage::rowsOf(Value pointer, Value scales, spec::Format format,
                            int64_t columns, Value strideBytes, Value rows,
                            Value gathered) {
  auto band = [&](Value first, int64_t bytesPerValue, int64_t valuesPerByte,
                  Value stride) {
    Band result;
    result.pointer = first;
    result.bytesPerValue = bytesPerValue;
    result.valuesPerByte = valuesPerByte;
    int64_t elements = columns / valuesPerByte;
    result.depth = t.i32(elements);
    result.stride = bytesPerValue == 1
                        ? stride
                        : t.mul(t.create<arith::DivUIOp>(stride, t.i32(16)),
                                t.i32(16 / bytesPerValue));
    Value last = t.mul(t.create<arith::SubIOp>(rows, t.i32(1)), stride);
    result.bytes = t.add(last, t.i32(elements * bytesPerValue));
    result.gathered = gathered;
    return result;
  };
  int64_t bits = bitsOf(format);
  Operand result;
  result.values = band(pointer, std::max<int64_t>(bits / 8, 1),
                       std::max<int64_t>(8 / bits, 1), strideBytes);
  if (scales) {
    result.scales =
        band(scales, 1, tile::MmaOp::scaleBlock, t.i32(scaleRowBytes(columns)));
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
    rows.first = t.add(t.i32(width()), column0);
    rows.multiple = std::gcd(rows.multiple, width());
  }
  auto ofExpert = [&](StringRef operand, Value value) {
    int64_t bytes = spec::WeightLayoutAttr::getExpertBytes(
        cast<MemRefType>(value.getType()));
    return t.advance(args[operand], t.wideMul(routes.expert, t.i32(bytes)));
  };
  constexpr unsigned bits = 4;
  Value k = t.i32(depth());
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

void ExpertStage::begin(tile::KernelOp kernel) {
  t.builder().setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  row = t.workgroupId(1);
  column0 = t.mul(t.workgroupId(0), t.i32(schedule.tileN));
  Value rest = t.create<arith::SubIOp>(t.i32(width()), column0);
  columns =
      width() % schedule.tileN == 0
          ? t.i32(schedule.tileN)
          : t.create<arith::MinSIOp>(rest, t.i32(schedule.tileN)).getResult();
  product.depth = t.i32(depth());
  product.traits.depth = depth();
  product.traits.depthMultiple = tile::MmaOp::scaleBlock;
  product.traits.scaleAlignment =
      depth() % (4 * tile::MmaOp::scaleBlock) == 0 ? 4 : 1;
  product.traits.packedScales = true;
  product.traits.scalesX = hasScales(input());
}

void ExpertStage::write(tile::KernelOp kernel) {
  begin(kernel);
  routes = direct ? directTile(op, t, args, row, schedule.waves())
                  : sortedTile(t, args, row, schedule.tileM);
  auto branch = t.create<scf::IfOp>(routes.runs, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(t.builder());
    t.builder().setInsertionPointToStart(branch.thenBlock());
    operands();
    writeOut(product.accumulate());
  }
  t.create<tile::ReturnOp>();
}
