//===- PackKernel.cpp - the tile program of tenon.pack ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup copies 64 rows by 512 bytes of weights along K, and the scales
// that belong to them. It reads through views of rows and writes through views
// of blocks: 16 lanes write 256 bytes.
//
//===----------------------------------------------------------------------===//

#include "Band.h"
#include "Pack.h"

#include "../KernelArguments.h"
#include "../OnlySchedule.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

static constexpr int64_t waves = 4;
static constexpr int64_t tileRows = 64;
static constexpr int64_t tileBytes = 512;

namespace {
class PackKernel {
public:
  PackKernel(spec::PackOp op, OpBuilder &builder)
      : op(op), t(builder, op.getLoc()) {}

  void write(tile::KernelOp kernel);

private:
  void copy(Band source, Band target, Value first, int64_t columns,
            Value targetDepth, tile::LayoutAttr layout);
  Band rowBand(StringRef operand, Value row, int64_t unit);
  tile::LayoutAttr layoutOf(ArrayRef<int64_t> shape,
                            ArrayRef<layout::Basis> registers,
                            ArrayRef<layout::Basis> lanes,
                            ArrayRef<layout::Basis> waveBases);

  spec::PackOp op;
  TileBuilder t;
  llvm::StringMap<Value> args;
  Value rows; ///< of the tile
};
} // namespace

tile::LayoutAttr PackKernel::layoutOf(ArrayRef<int64_t> shape,
                                      ArrayRef<layout::Basis> registers,
                                      ArrayRef<layout::Basis> lanes,
                                      ArrayRef<layout::Basis> waveBases) {
  return tile::LayoutAttr::get(op.getContext(),
                               llvm::cantFail(layout::Layout::create(
                                   shape, registers, lanes, waveBases, {})));
}

/// The rows of \p operand from \p row on; its stride is given in \p unit bytes.
/// Rows are cut off by limits, not by the bound.
Band PackKernel::rowBand(StringRef operand, Value row, int64_t unit) {
  Band band;
  int64_t bits = operand == "scales" ? 8 : bitsOf(op.getWeights());
  band.bytesPerValue = std::max<int64_t>(bits / 8, 1);
  Value units = args[(operand + "_stride").str()];
  band.stride = t.mul(units, t.i32(unit / band.bytesPerValue));
  Value strideBytes = t.mul(units, t.i32(unit));
  band.pointer = t.advance(args[operand], t.wideMul(row, strideBytes));
  return band;
}

/// Copies \p columns elements along K from element \p first on; beyond the end
/// of the rows and of K zeros, up to \p targetDepth elements along K.
void PackKernel::copy(Band source, Band target, Value first, int64_t columns,
                      Value targetDepth, tile::LayoutAttr layout) {
  Builder &b = t.builder();
  Value zero = t.i32(0);
  Value none = t.i32(std::numeric_limits<int32_t>::max());
  SmallVector<int64_t> shape{tileRows, columns};
  DepthLevel natural{0, 1};
  auto view = [&](const Band &band, Value skipped, Value bytes) {
    ViewStrides strides = band.rows(b);
    strides.append(band.alongDepth(b, natural));
    return t.view(t.advance(band.pointer, t.wideMul(skipped, t.i64(1))),
                  strides.strides, bytes, strides.blocks);
  };
  bool isScales = target.order == BandOrder::PackedScales;
  int64_t multiple = isScales ? 1 : 16 / source.bytesPerValue;
  Limits read;
  read.values = {rows, t.create<arith::SubIOp>(source.depth, first)};
  read.divisors = b.getDenseI64ArrayAttr({1, multiple});
  Value from = view(source, source.bytesBefore(t, first),
                    t.i32(std::numeric_limits<int32_t>::max()));
  Value tile = t.load(from, {zero, zero}, shape, layout,
                      /*nontemporal=*/true, read);
  Limits written;
  written.values = {none, t.create<arith::SubIOp>(targetDepth, first)};
  written.divisors = b.getDenseI64ArrayAttr({1, isScales ? 8 : multiple});
  Value skipped = target.bytesBefore(t, first);
  Value to =
      view(target, skipped, t.create<arith::SubIOp>(target.bytes, skipped));
  t.store(tile, to, {zero, zero}, /*nontemporal=*/false, written);
}

void PackKernel::write(tile::KernelOp kernel) {
  t.builder().setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  bool alternates = op.getWeightOrder() == spec::WeightOrder::AiterInterleaved;
  int64_t bits = bitsOf(op.getWeights());
  Value depth = args["K"];
  Value row = t.mul(t.workgroupId(1), t.i32(tileRows));
  Value all = args["rows"];
  rows = t.create<arith::MinSIOp>(t.create<arith::SubIOp>(all, row),
                                  t.i32(tileRows));
  Value sourceRow = row;
  PackedRows packed;
  packed.first = row;
  packed.count = rows;
  packed.multiple = tileRows;
  Value half = t.workgroupId(2);
  if (alternates) {
    // Gate, then up: every second tile of rows.
    sourceRow = t.add(row, t.mul(half, all));
    packed.bands = 2;
  }
  int64_t bytesPerValue = std::max<int64_t>(bits / 8, 1);
  int64_t columns = tileBytes / bytesPerValue;
  Value first = t.mul(t.workgroupId(0), t.i32(columns));
  Band target = packedBand(t, args["packed"], depth, bits, packed);
  Band source = rowBand("weights", sourceRow, 16);
  source.depth = target.depth;
  auto inUpper = [&](Band &band, Value bytes) {
    if (alternates) {
      Value moved = t.mul(half, bytes);
      band.pointer = t.advance(band.pointer, t.wideMul(moved, t.i64(1)));
      band.bytes = t.create<arith::SubIOp>(band.bytes, moved);
    }
  };
  // A tile of the other half lies between.
  Value between = t.mul(target.depth, t.i32(packedRows * bytesPerValue));
  if (alternates) {
    target.bytes = t.add(target.bytes, between);
  }
  inUpper(target, between);
  int64_t chunk = 16 / bytesPerValue;
  SmallVector<layout::Basis> elements;
  for (int64_t bit = 1; bit < chunk; bit *= 2) {
    elements.push_back({0, bit});
  }
  for (int64_t bit = 4 * chunk; bit < columns; bit *= 2) {
    elements.push_back({0, bit});
  }
  copy(source, target, first, columns, target.depth,
       layoutOf({tileRows, columns}, elements,
                {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, chunk}, {0, 2 * chunk}},
                {{16, 0}, {32, 0}}));
  if (op.getScales()) {
    // 512 bytes are 1024 values, 32 blocks.
    Value firstBlock = t.mul(t.workgroupId(0), t.i32(32));
    Band scaleTarget = packedScaleBand(t, args["packed_scales"], depth, packed);
    Band scaleSource = rowBand("scales", sourceRow, 1);
    scaleSource.depth = scaleTarget.depth;
    inUpper(scaleTarget, t.i32(1));
    Value filled = t.mul(
        t.create<arith::DivUIOp>(t.add(scaleTarget.depth, t.i32(7)), t.i32(8)),
        t.i32(8));
    copy(scaleSource, scaleTarget, firstBlock, 32, filled,
         layoutOf({tileRows, 32}, {{16, 0}, {0, 4}, {0, 16}},
                  {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 1}, {0, 2}},
                  {{32, 0}, {0, 8}}));
  }
  t.create<tile::ReturnOp>();
}

SmallVector<DictionaryAttr> dense::rankPackSchedules(spec::PackOp op) {
  return {onlySchedule(op.getContext(), waves)};
}

LogicalResult dense::lowerPack(spec::PackOp op, DictionaryAttr schedule,
                               StringRef name, OpBuilder &builder) {
  if (failed(requireOnlySchedule(op, schedule, waves))) {
    return failure();
  }
  PlanBuilder plan(builder, (name + "_plan").str(), op);
  KernelArguments arguments(builder, plan);
  SmallVector<spec::OperandContract> contracts = op.getOperandContracts();
  arguments.pointers(contracts);
  for (const spec::OperandContract &contract : contracts) {
    if (!contract.freeStride) {
      continue;
    }
    Value stride = plan.strideBytes(contract.name);
    arguments.scalar32(
        (contract.name + "_stride").str(),
        plan.floorDiv(stride, plan.constant(contract.alignment)));
    plan.require(arith::CmpIPredicate::slt,
                 plan.mul(stride, plan.constant(tileRows)),
                 plan.constant(int64_t(1) << 31),
                 (contract.name + ": " + Twine(tileRows) +
                  " rows must reach less than 2^31 bytes")
                     .str());
  }
  int64_t bits = bitsOf(op.getWeights());
  bool alternates = op.getWeightOrder() == spec::WeightOrder::AiterInterleaved;
  int64_t halves = alternates ? 2 : 1;
  Value depth = plan.size("weights", 1);
  Value rows = plan.floorDiv(plan.size("weights", 0), plan.constant(halves));
  Value chunks = plan.ceilDiv(depth, plan.constant(128 / bits));
  plan.require(arith::CmpIPredicate::slt,
               plan.mul(chunks, plan.constant(16 * tileRows * halves)),
               plan.constant(int64_t(1) << 31),
               "packed: 64 rows must reach less than 2^31 bytes");
  arguments.scalar32("K", depth);
  arguments.scalar32("rows", rows);
  plan.launch(name, plan.ceilDiv(depth, plan.constant(tileBytes * 8 / bits)),
              plan.ceilDiv(rows, plan.constant(tileRows)),
              plan.constant(halves), waves * 64);
  tile::KernelOp kernel = arguments.createKernel(op.getLoc(), name, waves);
  OpBuilder::InsertionGuard guard(builder);
  PackKernel(op, builder).write(kernel);
  return success();
}
