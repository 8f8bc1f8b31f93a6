//===- ExpertsPackKernel.cpp - the tile program of tenon.moe_pack -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup copies 32 rows of an expert with all of K, and their scales. All
// of it is in LDS before anything is written, so that rows that stay among
// themselves can be packed where they lie.
//
//===----------------------------------------------------------------------===//

#include "Pack.h"

#include "../Dense/Band.h"
#include "../KernelArguments.h"
#include "../OnlySchedule.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;
using dense::Band;
using layout::Basis;

static constexpr int64_t waves = 4;
static constexpr int64_t blockRows = 32;
/// Values along K of a step: 512 bytes of weights, 32 of scales.
static constexpr int64_t stepDepth = 1024;

namespace {
class PackExperts {
public:
  PackExperts(spec::MoePackOp op, tile::KernelOp kernel, OpBuilder &builder)
      : op(op), t(builder, op.getLoc()) {
    builder.setInsertionPointToStart(&kernel.getBody().front());
    args = KernelArguments::byName(kernel);
  }

  void write();

  /// Parts of an expert whose rows are taken and put by themselves: gate and
  /// up, where they alternate on either side.
  static int64_t halves(spec::MoePackOp op) {
    return op.getInterleaved() || alternates(op) ? 2 : 1;
  }

private:
  /// One of the two copies: what lies in LDS of it.
  struct Copy {
    Band source, target;
    int64_t columns;     ///< of a step, in bytes
    int64_t sourceDepth; ///< bytes of a row
    int64_t targetDepth; ///< bytes of a row that are written
    tile::LayoutAttr loads, stores;
    SmallVector<Value> buffers;
  };

  static bool alternates(spec::MoePackOp op) {
    return op.getWeightOrder() == spec::WeightOrder::AiterInterleaved;
  }
  tile::LayoutAttr layoutOf(int64_t columns, ArrayRef<Basis> registers,
                            ArrayRef<Basis> lanes, ArrayRef<Basis> waveBases);
  Band rowBand(StringRef operand, int64_t rowBytes);
  void moveToHalf(Band &band, Value bytes);
  Value view(const Band &band, int64_t skippedValues, Value bytes);
  void load(Copy &copy);
  void store(const Copy &copy);

  spec::MoePackOp op;
  TileBuilder t;
  llvm::StringMap<Value> args;
  Value expert, half;
  Value row;  ///< the first, within the half
  Value rows; ///< that there are
};
} // namespace

tile::LayoutAttr PackExperts::layoutOf(int64_t columns,
                                       ArrayRef<Basis> registers,
                                       ArrayRef<Basis> lanes,
                                       ArrayRef<Basis> waveBases) {
  return tile::LayoutAttr::get(
      op.getContext(),
      llvm::cantFail(layout::Layout::create({blockRows, columns}, registers,
                                            lanes, waveBases, {})));
}

/// The rows of the workgroup in an operand of the checkpoint.
Band PackExperts::rowBand(StringRef operand, int64_t rowBytes) {
  int64_t half = op.getRows() / halves(op);
  Value first = op.getInterleaved()
                    ? t.add(t.mul(row, t.i32(2)), this->half)
                    : t.add(row, t.mul(this->half, t.i32(half)));
  Band band;
  band.stride = t.i32(op.getInterleaved() ? 2 * rowBytes : rowBytes);
  Value start = t.add(t.wideMul(expert, args[(operand + "_stride").str()]),
                      t.wideMul(first, t.i32(rowBytes)));
  band.pointer = t.advance(args[operand], start);
  // Limits cut off what is too much.
  band.bytes = t.i32(std::numeric_limits<int32_t>::max());
  return band;
}

/// Moves \p band on by \p bytes in the half of up.
void PackExperts::moveToHalf(Band &band, Value bytes) {
  Value moved = t.mul(half, bytes);
  band.pointer = t.advance(band.pointer, t.wideMul(moved, t.i64(1)));
  band.bytes = t.create<arith::SubIOp>(band.bytes, moved);
}

/// The rows of \p band from value \p first along K on, a multiple of a step.
Value PackExperts::view(const Band &band, int64_t first, Value bytes) {
  Builder &b = t.builder();
  dense::DepthLevel natural{0, 1};
  dense::ViewStrides strides = band.rows(b);
  strides.append(band.alongDepth(b, natural));
  Value skipped = band.bytesBefore(t, t.i32(first));
  if (bytes == band.bytes && band.order != dense::BandOrder::RowMajor) {
    bytes = t.create<arith::SubIOp>(bytes, skipped);
  }
  return t.view(t.advance(band.pointer, t.wideMul(skipped, t.i64(1))),
                strides.strides, bytes, strides.blocks);
}

void PackExperts::load(Copy &copy) {
  Value zero = t.i32(0);
  for (int64_t first = 0; first < copy.targetDepth; first += copy.columns) {
    Limits limits;
    limits.values = {rows,
                     t.i32(std::max<int64_t>(copy.sourceDepth - first, 0))};
    limits.divisors = t.builder().getDenseI64ArrayAttr(
        {1, copy.target.order == dense::BandOrder::Packed ? 16 : 1});
    Value tile = t.load(view(copy.source, first, copy.source.bytes),
                        {zero, zero}, {blockRows, copy.columns}, copy.loads,
                        /*nontemporal=*/true, limits);
    Type element = cast<RankedTensorType>(tile.getType()).getElementType();
    auto type =
        tile::LdsType::get(op.getContext(), {blockRows, copy.columns}, element);
    copy.buffers.push_back(t.create<tile::AllocLdsOp>(type, IntegerAttr()));
    t.create<tile::LdsStoreOp>(tile, copy.buffers.back());
  }
}

void PackExperts::store(const Copy &copy) {
  Value zero = t.i32(0);
  for (auto [step, buffer] : llvm::enumerate(copy.buffers)) {
    int64_t first = int64_t(step) * copy.columns;
    Type element = cast<tile::LdsType>(buffer.getType()).getElementType();
    auto type =
        RankedTensorType::get({blockRows, copy.columns}, element, copy.stores);
    Value tile = t.create<tile::LdsLoadOp>(type, buffer);
    Limits limits;
    limits.values = {t.i32(std::numeric_limits<int32_t>::max()),
                     t.i32(copy.targetDepth - first)};
    limits.divisors = t.builder().getDenseI64ArrayAttr(
        {1, copy.target.order == dense::BandOrder::Packed ? 16 : 8});
    t.store(tile, view(copy.target, first, copy.target.bytes), {zero, zero},
            /*nontemporal=*/false, limits);
  }
}

void PackExperts::write() {
  int64_t depth = op.getDepth(), halves = PackExperts::halves(op);
  int64_t halfRows = op.getRows() / halves;
  Value blocks = t.i32(llvm::divideCeil(halfRows, blockRows));
  expert = t.workgroupId(1);
  half = t.create<arith::DivUIOp>(t.workgroupId(0), blocks);
  row = t.mul(t.create<arith::SubIOp>(t.workgroupId(0), t.mul(half, blocks)),
              t.i32(blockRows));
  rows = t.create<arith::MinSIOp>(t.create<arith::SubIOp>(t.i32(halfRows), row),
                                  t.i32(blockRows));

  dense::PackedRows packed;
  packed.multiple = blockRows;
  packed.count = rows;
  packed.first = row;
  if (alternates(op)) {
    packed.bands = 2;
  } else if (halves == 2) {
    packed.first = t.add(row, t.mul(half, t.i32(halfRows)));
  }
  auto ofExpert = [&](StringRef operand, Value type) {
    int64_t bytes = spec::WeightLayoutAttr::getExpertBytes(
        cast<MemRefType>(type.getType()));
    return t.advance(args[operand], t.wideMul(expert, t.i64(bytes)));
  };
  Value k = t.i32(depth);
  Copy weights;
  weights.columns = stepDepth / 2;
  weights.sourceDepth = weights.targetDepth = depth / 2;
  weights.source = rowBand("weights", depth / 2);
  weights.target = dense::packedBand(t, ofExpert("packed", op.getPacked()), k,
                                     /*bits=*/4, packed);
  if (alternates(op)) {
    // A tile of the other half lies between.
    Value between = t.i32(depth / 2 * dense::packedRows);
    weights.target.bytes = t.add(weights.target.bytes, between);
    moveToHalf(weights.target, between);
  }
  // Whole rows are read, and written 16 bytes of 16 rows at a time.
  weights.loads = layoutOf(
      weights.columns, {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {8, 0}, {16, 0}},
      {{0, 16}, {0, 32}, {0, 64}, {0, 128}, {0, 256}, {1, 0}},
      {{2, 0}, {4, 0}});
  weights.stores = layoutOf(
      weights.columns, {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 128}, {0, 256}},
      {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 16}, {0, 32}}, {{16, 0}, {0, 64}});

  Copy scales;
  scales.columns = stepDepth / 32;
  scales.sourceDepth = depth / 32;
  scales.targetDepth = llvm::alignTo(scales.sourceDepth, 8);
  scales.source = rowBand("scales", scales.sourceDepth);
  scales.target = dense::packedScaleBand(
      t, ofExpert("packed_scales", op.getPackedScales()), k, packed);
  if (alternates(op)) {
    moveToHalf(scales.target, t.i32(1));
  }
  scales.loads = scales.stores = layoutOf(
      scales.columns, {{16, 0}, {0, 4}},
      {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 1}, {0, 2}}, {{0, 8}, {0, 16}});
  load(weights);
  load(scales);
  store(weights);
  store(scales);
  t.create<tile::ReturnOp>();
}

SmallVector<DictionaryAttr> moe::rankPackSchedules(spec::MoePackOp op) {
  return {onlySchedule(op.getContext(), waves)};
}

LogicalResult moe::lowerPack(spec::MoePackOp op, DictionaryAttr schedule,
                             StringRef name, OpBuilder &builder) {
  if (failed(requireOnlySchedule(op, schedule, waves))) {
    return failure();
  }
  PlanBuilder plan(builder, (name + "_plan").str(), op);
  KernelArguments arguments(builder, plan);
  SmallVector<spec::OperandContract> contracts = op.getOperandContracts();
  arguments.pointers(contracts);
  arguments.strides(contracts);
  int64_t halves = PackExperts::halves(op);
  int64_t blocks = llvm::divideCeil(op.getRows() / halves, blockRows);
  plan.launch(name, plan.constant(blocks * halves), plan.size("weights", 0),
              plan.constant(1), waves * 64);
  tile::KernelOp kernel = arguments.createKernel(op.getLoc(), name, waves);
  OpBuilder::InsertionGuard guard(builder);
  PackExperts(op, kernel, builder).write();
  return success();
}
