//===- DecodeKernel.cpp - the tile program of tenon.kda_decode --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One workgroup updates the 64 KiB state of one head of one request, held in
// registers from the first load to the last store. Everything small is loaded
// before the state, so that its latency hides behind that of the state: vector
// loads return in order.
//
// A null slot takes the same path with views of 0 bytes, which read as zeros
// and write nothing: no branch stands before the loads of the state.
//
//===----------------------------------------------------------------------===//

#include "Decode.h"
#include "History.h"

#include "../KernelArguments.h"
#include "../TileBuilder.h"

#include "tenon/Layout/Scatter.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;
using layout::Basis;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Coordinates (v, k) of a state tile.
static Basis v(int64_t value) { return {value, 0}; }
static Basis k(int64_t value) { return {0, value}; }

/// The layout of the state tile [128 (v), 128 (k)] over \p waves waves. It
/// fixes the numbers of the op: sixteen lanes share the contraction over k, a
/// lane holding eight of each row, whatever \p waves is.
static layout::Layout stateLayout(spec::StateOrder order, unsigned waves) {
  SmallVector<Basis> registers;
  SmallVector<Basis> lanes;
  SmallVector<Basis> waveBits;
  if (order == spec::StateOrder::VK) {
    // 4 + 4 consecutive k per lane; consecutive rows in the registers of a
    // lane, so that all rows of a wave are reached by immediate offsets.
    registers = {k(1), k(2), k(64)};
    lanes = {k(4), k(8), k(16), k(32)};
    int64_t row = 1;
    for (; row * 4 * waves < 128; row *= 2) {
      registers.push_back(v(row));
    }
    for (int bit = 0; bit < 2; ++bit, row *= 2) {
      lanes.push_back(v(row));
    }
    for (; row < 128; row *= 2) {
      waveBits.push_back(v(row));
    }
  } else {
    // 4 consecutive v per lane, 16 consecutive per 64 bytes of a row of k; the
    // 8 rows of a lane follow each other, again within reach of the offsets.
    registers = {v(1), v(2), k(1), k(2), k(4)};
    lanes = {v(4), v(8), k(8), k(16), k(32), k(64)};
    int64_t column = 16;
    for (unsigned wave = 1; wave < waves; wave *= 2, column *= 2) {
      waveBits.push_back(v(column));
    }
    for (; column < 128; column *= 2) {
      registers.push_back(v(column));
    }
  }
  return llvm::cantFail(
      layout::Layout::create({128, 128}, registers, lanes, waveBits, {}));
}

/// The layout of the sums over k of the rows v: the lanes that shared a row
/// share out its results, as far as there are registers to move.
static layout::Layout sumLayout(spec::StateOrder order, unsigned waves) {
  layout::Layout rows = stateLayout(order, waves).slice({1});
  // Lane bits that the sum frees. The last one stays, so that a bit with a
  // cheap butterfly is left; a pair of neighbouring rows stays in one lane.
  SmallVector<unsigned> lanes = order == spec::StateOrder::VK
                                    ? SmallVector<unsigned>{3, 2}
                                    : SmallVector<unsigned>{5, 4};
  SmallVector<layout::RegisterToLane> moves;
  unsigned registerBits = rows.bases(layout::HwDim::Register).size();
  for (unsigned lane : lanes) {
    unsigned moved = moves.size();
    if (moved + 1 < registerBits) {
      moves.push_back({registerBits - 1 - moved, lane});
    }
  }
  return llvm::cantFail(layout::scatter(rows, moves));
}

/// The layout in which the output norm sums over v: two elements per lane, the
/// same in every wave, so that no wave waits for another.
static layout::Layout normLayout(unsigned waves) {
  SmallVector<Basis> lanes;
  for (int64_t bit = 2; bit < 128; bit *= 2) {
    lanes.push_back({bit});
  }
  SmallVector<Basis> waveBits(llvm::Log2_32(waves), Basis{0});
  return llvm::cantFail(
      layout::Layout::create({128}, {Basis{1}}, lanes, waveBits, {}));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// Writes the kernel of one op. Methods are in the order of the program.
class DecodeKernel {
public:
  DecodeKernel(spec::KdaDecodeOp op, unsigned waves, OpBuilder &builder)
      : op(op), waves(waves), t(builder, op.getLoc()) {}

  void write(tile::KernelOp kernel);

private:
  /// Tiles of one of q, k and v.
  struct Part {
    Value input;   ///< bf16 [128], the new input
    Value history; ///< bf16 [128, 3], the window
    Value weight;  ///< f32 [128, 4]
  };

  int64_t heads() { return op.getHeads(); }
  int64_t width() { return heads() * 128; }
  bool norm() { return op.getOutputNorm(); }

  void identify();
  Value rowView(StringRef operand, int64_t columns);
  Value headColumn(int64_t perHead, int64_t first = 0);
  void loadPrologue();
  void loadState();
  Value convolve(const Part &part);
  Value decay();
  void updateConvState();
  Value recur(Value q, Value k, Value v, Value decay, Value beta);
  void writeOut(Value o);

  spec::KdaDecodeOp op;
  unsigned waves;
  TileBuilder t;
  llvm::StringMap<Value> args;

  Value head;      ///< i32
  Value request;   ///< i32
  Value null;      ///< i1, whether the slot is null
  Value slot;      ///< i32, 0 when null
  Value convWrite; ///< view of the columns that are written
  Part parts[3];
  Value rawGate, dtBias, expALog, rawBeta, outGate, normWeight;
  Value stateView;
  Value state;
};
} // namespace

void DecodeKernel::identify() {
  head = t.workgroupId(0);
  request = t.workgroupId(1);
  Value zero = t.i32(0);
  Value slotPointer =
      t.advance(args["slot"], t.wideMul(request, args["slot_stride"]));
  Value given = t.create<tile::LoadScalarOp>(zero.getType(), slotPointer);
  auto predicate = op.getNullSlot() == spec::NullSlot::LE0
                       ? arith::CmpIPredicate::sle
                       : arith::CmpIPredicate::slt;
  null = t.create<arith::CmpIOp>(predicate, given, zero);
  slot = t.select(null, zero, given);
}

/// The row of the request in a row-strided operand of bf16.
Value DecodeKernel::rowView(StringRef operand, int64_t columns) {
  Value row = t.wideMul(request, args[(operand + "_stride").str()]);
  return t.view(t.advance(args[operand], row), {t.builder().getIndexAttr(1)},
                t.i32(columns * 2));
}

/// The column `head * perHead + first`.
Value DecodeKernel::headColumn(int64_t perHead, int64_t first) {
  Value column = t.mul(head, t.i32(perHead));
  return first == 0 ? column : t.add(column, t.i32(first));
}

void DecodeKernel::loadPrologue() {
  OpFoldResult unit = t.builder().getIndexAttr(1);
  auto dense = [&](StringRef operand, int64_t bytes) {
    return t.view(args[operand], {unit}, t.i32(bytes));
  };
  Value zero = t.i32(0);

  // The window of the convolution: element (channel, column) of the slot.
  Value columns = args.lookup("columns");
  HistoryWindow history =
      historyWindow(t, op.getConvLayout(), heads(), columns);
  Value convBytes = t.select(null, zero, history.reach);
  Value window =
      historyPointer(t, op.getConvLayout(), args, columns, slot, head);
  convWrite =
      t.view(window, {history.channelStride, history.columnStride}, convBytes);
  Value convRead = convWrite;
  if (args.count("conv_start")) {
    Value startPointer =
        t.advance(args["conv_start"], t.wideMul(request, t.i32(4)));
    Value start = t.create<tile::LoadScalarOp>(zero.getType(), startPointer);
    Value columnBytes =
        t.i32(op.getConvLayout() == spec::ConvLayout::SD ? 3 * width() * 2 : 2);
    convRead = t.view(t.advance(window, t.wideMul(start, columnBytes)),
                      {history.channelStride, history.columnStride}, convBytes);
  }

  Value qkv = rowView("qkv", 3 * width());
  Value weights =
      t.view(args["conv_weight"], {t.builder().getIndexAttr(4), unit},
             t.i32(3 * width() * 16));
  for (int64_t part = 0; part < 3; ++part) {
    Value channel = headColumn(128, part * width());
    parts[part].input = t.load(qkv, {channel}, {128});
    parts[part].history =
        t.load(convRead, {t.i32(part * width()), zero}, {128, 3});
    parts[part].weight = t.load(weights, {channel, zero}, {128, 4});
  }
  Value column = headColumn(128);
  rawGate = t.load(rowView("raw_g", width()), {column}, {128});
  dtBias = t.load(dense("dt_bias", width() * 4), {column}, {128});
  rawBeta = t.extract(t.load(rowView("raw_beta", heads()), {head}, {1}), 0, 0);
  if (norm()) {
    outGate = t.load(rowView("out_gate", width()), {column}, {128});
    auto weightType = cast<tile::PtrType>(args["norm_weight"].getType());
    int64_t bytes = weightType.getElementType().getIntOrFloatBitWidth() / 8;
    normWeight = t.load(dense("norm_weight", 128 * bytes), {zero}, {128});
  }
  // A scalar load would be moved to its use, behind the waits for what is
  // loaded here, and would be waited for by itself.
  expALog =
      t.exp(t.extract(t.load(dense("a_log", heads() * 4), {head}, {1}), 0, 0));
}

void DecodeKernel::loadState() {
  bool vk = op.getStateOrder() == spec::StateOrder::VK;
  OpFoldResult unit = t.builder().getIndexAttr(1);
  OpFoldResult row = t.builder().getIndexAttr(128);
  Value pointer =
      t.advance(args["state"], t.add(t.wideMul(slot, args["state_stride"]),
                                     t.wideMul(head, t.i32(65536))));
  stateView = t.view(pointer, {vk ? row : unit, vk ? unit : row},
                     t.select(null, t.i32(0), t.i32(65536)));
  auto layout = tile::LayoutAttr::get(op.getContext(),
                                      stateLayout(op.getStateOrder(), waves));
  Value zero = t.i32(0);
  t.create<tile::OrderFenceOp>();
  state = t.load(stateView, {zero, zero}, {128, 128}, layout,
                 /*nontemporal=*/true);
  t.create<tile::OrderFenceOp>();
}

/// Causal convolution of width 4 and SiLU, oldest input first.
Value DecodeKernel::convolve(const Part &part) {
  Value sum;
  for (int64_t tap = 0; tap < 4; ++tap) {
    Value input = tap < 3 ? t.extract(part.history, 1, tap) : part.input;
    Value x = t.extend(input);
    Value w = t.extract(part.weight, 1, tap);
    sum = tap == 0 ? t.mulf(x, w) : t.fma(x, w, sum);
  }
  return t.mulf(sum, t.sigmoid(sum));
}

/// e^g of the head's 128 channels.
Value DecodeKernel::decay() {
  Value x = t.addf(t.extend(rawGate), dtBias);
  if (op.getGate() == spec::GateKind::Bounded) {
    Value s = t.sigmoid(t.mulf(x, t.splat(expALog, x)));
    return t.exp(t.mulf(s, op.getLowerBound()->convertToDouble()));
  }
  Value s = t.mulf(t.softplus(x), t.splat(expALog, x));
  return t.exp(t.mulf(s, -1.0));
}

void DecodeKernel::updateConvState() {
  for (int64_t part = 0; part < 3; ++part) {
    Value columns =
        t.stack({t.extract(parts[part].history, 1, 1),
                 t.extract(parts[part].history, 1, 2), parts[part].input},
                1);
    t.store(columns, convWrite, {t.i32(part * width()), t.i32(0)});
  }
}

/// The recurrence; updates the state and returns o [128] over v.
Value DecodeKernel::recur(Value q, Value key, Value value, Value decay,
                          Value beta) {
  MLIRContext *context = op.getContext();
  layout::Layout layout = stateLayout(op.getStateOrder(), waves);
  auto alongK = tile::LayoutAttr::get(context, layout.slice({0}));
  auto sums =
      tile::LayoutAttr::get(context, sumLayout(op.getStateOrder(), waves));
  q = t.convertLayout(q, alongK);
  key = t.convertLayout(key, alongK);
  decay = t.convertLayout(decay, alongK);
  value = t.convertLayout(value, sums);

  // q and k enter as they are; the factors a and b that normalise them,
  // a = D^-0.5 / |q| and b = 1 / |k|, are applied to the rows' sums:
  //   w = b u = (b beta) v - (b^2 beta) (S' k),    S = S' + w k^T.
  // Three sums over 128 elements that every group of sixteen lanes holds.
  double qkEps = op.getQkEps().convertToDouble();
  Value qq = t.dot(q, q, {0});
  Value kk = t.dot(key, key, {0});
  Value kq = t.dot(key, q, {0});
  Value a = t.mulf(t.rsqrt(t.addf(qq, t.constant(qkEps, qq))),
                   1.0 / std::sqrt(128.0));
  Value b = t.rsqrt(t.addf(kk, t.constant(qkEps, kk)));
  Value bBeta = t.mulf(b, t.convertLayout(beta, tile::getLayout(b.getType())));

  // o = a S q after the update, without a second pass over the state:
  // (S' + w k^T) q = S' q + w (k . q).
  Value qRows = t.broadcast(q, {1}, state);
  Value kRows = t.broadcast(key, {1}, state);
  Value decayed = t.mulf(state, t.broadcast(decay, {1}, state));
  Value sk = t.dot(decayed, kRows, {1}, sums);
  Value sq = t.dot(decayed, qRows, {1}, sums);
  Value w = t.fma(sk, t.splat(t.mulf(t.mulf(b, bBeta), -1.0), sk),
                  t.mulf(value, t.splat(bBeta, sk)));
  Value o = t.fma(w, t.splat(kq, w), sq);
  auto alongV = tile::LayoutAttr::get(context, layout.slice({1}));
  Value wRows = t.broadcast(t.convertLayout(w, alongV), {0}, decayed);
  state = t.fma(wRows, kRows, decayed);
  return t.mulf(o, t.splat(a, o));
}

void DecodeKernel::writeOut(Value o) {
  Value result = o;
  if (norm()) {
    auto layout = tile::LayoutAttr::get(op.getContext(), normLayout(waves));
    o = t.convertLayout(o, layout);
    Value gate = t.mulf(t.sigmoid(t.extend(outGate)), t.extend(normWeight));
    double eps = op.getNormEps()->convertToDouble();
    Value sum = t.dot(o, o, {0});
    Value scale =
        t.rsqrt(t.fma(sum, t.constant(1.0 / 128.0, sum), t.constant(eps, sum)));
    result =
        t.mulf(t.mulf(o, t.splat(scale, o)), t.convertLayout(gate, layout));
  }
  // Zero, not NaN, for a null slot, whatever its other operands hold.
  result = t.select(null, t.constant(0.0, result), result);
  auto type = cast<RankedTensorType>(result.getType());
  Value rounded = t.create<arith::TruncFOp>(
      RankedTensorType::get(type.getShape(), t.builder().getBF16Type(),
                            type.getEncoding()),
      result);
  t.store(rounded, rowView("out", width()), {headColumn(128)});
}

void DecodeKernel::write(tile::KernelOp kernel) {
  t.builder().setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  identify();
  loadPrologue();
  loadState();
  Value q = convolve(parts[0]);
  Value key = convolve(parts[1]);
  Value value = convolve(parts[2]);
  Value decayGate = decay();
  Value beta = t.sigmoid(t.extend(rawBeta));
  updateConvState();
  Value o = recur(q, key, value, decayGate, beta);
  Value zero = t.i32(0);
  t.store(state, stateView, {zero, zero}, /*nontemporal=*/true);
  writeOut(o);
  t.create<tile::ReturnOp>();
}

//===----------------------------------------------------------------------===//
// Plan and kernel together
//===----------------------------------------------------------------------===//

LogicalResult kernels::kda::lowerDecode(spec::KdaDecodeOp op,
                                        DictionaryAttr schedule, StringRef name,
                                        OpBuilder &builder) {
  auto wavesAttr = schedule.getAs<IntegerAttr>("waves");
  int64_t waves = wavesAttr ? wavesAttr.getInt() : 0;
  size_t known = 1 + (schedule.getAs<StringAttr>("scheduler") ? 1 : 0);
  if (schedule.size() != known || (waves != 2 && waves != 4 && waves != 8)) {
    return op.emitOpError("a schedule is {waves = 2, 4 or 8} with, if wanted, "
                          "scheduler = \"...\"; found ")
           << schedule;
  }
  FailureOr<target::TargetInfo> target = tile::getTarget(op);
  if (failed(target)) {
    return failure();
  }
  SmallVector<spec::OperandContract> contracts = op.getOperandContracts();
  PlanBuilder plan(builder, (name + "_plan").str(), op);
  KernelArguments arguments(builder, plan);
  arguments.pointers(contracts);
  arguments.strides(contracts);
  Value columns = requireHistory(plan, op.getConvLayout(), op.getHeads());
  if (op.getConvLayout() == spec::ConvLayout::DS) {
    arguments.scalar32("columns", columns);
  }
  plan.launch(name, plan.constant(op.getHeads()), plan.size("slot", 0),
              plan.constant(1), waves * 64);

  tile::KernelOp kernel = arguments.createKernel(op.getLoc(), name, waves);
  kernel.setWavesPerSimd(decodeWavesPerSimd(op, waves, *target));
  kernel.setSchedulerAttr(schedule.getAs<StringAttr>("scheduler"));
  OpBuilder::InsertionGuard guard(builder);
  DecodeKernel(op, waves, builder).write(kernel);
  return success();
}
