//===- PrefillPrologue.cpp - what chunks do on their own --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For one chunk of 64 tokens t, s of one head, with G the sums of the decay
// gate from the chunk's first token on (in powers of two):
//
//   L[t, s]   = beta_t sum_c k_tc k_sc 2^(G_tc - G_sc)       s < t
//   Aqk[t, s] = D^-0.5 sum_c q_tc k_sc 2^(G_tc - G_sc)       s <= t
//   A = (I + L)^-1,  w = A (beta k 2^G),  u = A (beta v)
//
// 2^(G_t - G_s) belongs inside the sum, and its two halves leave the range of
// FP32 over 64 tokens. Tokens are therefore split by halves: where t lies in
// the upper half and s in the lower half of 64 (then 32) tokens, both halves
// refer to the sums at the boundary between them, and are at most 1. Within 16
// tokens a bounded gate refers to their middle, where both stay below 2^58; in
// f16 that is done within 4 tokens, where they stay below 2^15.
//
// Element-wise work is spread so that a wave has 16 tokens and a lane two
// channels of all of them: sums over tokens stay in the lane.
//
//===----------------------------------------------------------------------===//

#include "History.h"
#include "PrologueProgram.h"

#include "../KernelArguments.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;
using layout::Basis;

static constexpr double log2e = 1.4426950408889634;

layout::Layout kda::scanLayout() {
  SmallVector<Basis> registers{{0, 0, 1}};
  for (int64_t token = 1; token < blockTokens; token *= 2) {
    registers.push_back({0, token, 0});
  }
  SmallVector<Basis> lanes;
  for (int64_t channel = 2; channel < D; channel *= 2) {
    lanes.push_back({0, 0, channel});
  }
  return llvm::cantFail(layout::Layout::create(
      {blocks, blockTokens, D}, registers, lanes, {{1, 0, 0}, {2, 0, 0}}, {}));
}

layout::Layout kda::rowLayout() {
  SmallVector<Basis> registers{{0, 1}};
  for (int64_t token = 1; token < blockTokens; token *= 2) {
    registers.push_back({token, 0});
  }
  SmallVector<Basis> lanes;
  for (int64_t channel = 2; channel < D; channel *= 2) {
    lanes.push_back({0, channel});
  }
  return llvm::cantFail(layout::Layout::create({chunkTokens, D}, registers,
                                               lanes, {{16, 0}, {32, 0}}, {}));
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

tile::LdsType Prologue::ldsType(ArrayRef<int64_t> extents,
                                ArrayRef<int64_t> strides, Type element) {
  MLIRContext *context = t.builder().getContext();
  auto layout = llvm::cantFail(layout::LdsLayout::create(
      extents, strides, element.getIntOrFloatBitWidth()));
  return tile::LdsType::get(context, extents, element,
                            tile::LdsLayoutAttr::get(context, layout),
                            /*stages=*/1);
}

Value Prologue::allocate(ArrayRef<int64_t> extents, ArrayRef<int64_t> strides,
                         Type element) {
  return t.create<tile::AllocLdsOp>(ldsType(extents, strides, element),
                                    IntegerAttr());
}

Value Prologue::part(Value buffer, int64_t offset, ArrayRef<int64_t> extents,
                     ArrayRef<int64_t> strides) {
  Type element = cast<tile::LdsType>(buffer.getType()).getElementType();
  return t.create<tile::LdsPartOp>(ldsType(extents, strides, element), buffer,
                                   offset);
}

Value Prologue::ldsLoad(Value buffer, tile::LayoutAttr layout) {
  auto type = cast<tile::LdsType>(buffer.getType());
  return t.create<tile::LdsLoadOp>(
      RankedTensorType::get(type.getShape(), type.getElementType(), layout),
      buffer);
}

Value Prologue::row(Value tile, int64_t token) {
  auto type = cast<RankedTensorType>(tile.getType());
  return t.create<tile::ExtractOp>(RankedTensorType::get({blocks, D},
                                                         type.getElementType(),
                                                         scanWithout({1})),
                                   tile, 1, token);
}

Value Prologue::stackRows(ArrayRef<Value> rows) {
  auto type = cast<RankedTensorType>(rows.front().getType());
  return t.create<tile::StackOp>(
      RankedTensorType::get({blocks, static_cast<int64_t>(rows.size()), D},
                            type.getElementType(), t.layoutAttr(scan)),
      rows, 1);
}

Value Prologue::acrossTokens(Value perChannel, Value like) {
  return t.broadcast(perChannel, {0, 2}, like);
}

Value Prologue::acrossChannels(Value perToken, Value like) {
  return t.broadcast(perToken, {0, 1}, like);
}

Value Prologue::transpose(Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> extents;
  for (int64_t dim : order) {
    extents.push_back(type.getDimSize(dim));
  }
  tile::LayoutAttr layout = tile::getLayout(type);
  if (layout) {
    layout = t.layoutAttr(
        layout.getLayout().transposed(SmallVector<unsigned>(order)));
  }
  return t.create<tile::TransposeOp>(
      RankedTensorType::get(extents, type.getElementType(), layout), value,
      order);
}

/// [128, 4, 16], operands of a product, the tokens of a lane side by side.
Value Prologue::alongTokens(Value value) {
  layout::Layout order = scan.reorderRegisters(
      [](const Basis &basis) { return basis[1] + D * basis[2]; });
  return transpose(t.convertLayout(narrow(value), t.layoutAttr(order)),
                   {2, 0, 1});
}

Value Prologue::mma(Value lhs, Value rhs, Value accumulator, bool isExact) {
  auto a = cast<RankedTensorType>(lhs.getType());
  auto b = cast<RankedTensorType>(rhs.getType());
  if (!accumulator) {
    SmallVector<int64_t> extents(a.getShape());
    extents.back() = b.getShape().back();
    auto type = RankedTensorType::get(extents, f32);
    accumulator = t.create<arith::ConstantOp>(
        DenseElementsAttr::get(type, llvm::APFloat(0.0f)));
  }
  return t.create<tile::MmaOp>(accumulator.getType(), lhs, rhs, accumulator,
                               Value(), Value(), DenseI64ArrayAttr(),
                               DenseI64ArrayAttr(), DenseI64ArrayAttr(),
                               IntegerAttr(), DenseI64ArrayAttr(),
                               a.getElementType().isF32() && !isExact
                                   ? t.builder().getF64FloatAttr(termAccuracy)
                                   : FloatAttr());
}

/// The part of workspace \p name that belongs to this chunk and head.
Value Prologue::workspace(StringRef name, int64_t elements) {
  auto type = cast<tile::PtrType>(args[name].getType());
  int64_t bytes = elements * type.getElementType().getIntOrFloatBitWidth() / 8;
  return t.advance(args[name], t.wideMul(block, t.i64(bytes)));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void Prologue::identify() {
  head = t.workgroupId(0);
  Value chunk = t.workgroupId(1);
  block =
      t.add(t.wideMul(chunk, t.i64(shape.heads)), t.wideMul(head, t.i64(1)));
  Value entry = t.advance(args["plan"], t.wideMul(chunk, t.i32(16)));
  auto field = [&](int64_t index) -> Value {
    return t.create<tile::LoadScalarOp>(i32Type, t.advance(entry, 4 * index));
  };
  sequence = field(0);
  firstToken = field(1);
  count = field(2);
  isFirst = t.create<arith::SubIOp>(
      t.i32(1), t.create<arith::MinSIOp>(field(3), t.i32(1)));
}

/// Elements from row to row of \p operand, a multiple of \p multiple.
Value Prologue::rowStride(StringRef operand, int64_t multiple) {
  Value units = t.create<arith::ShRUIOp>(args[(operand + "_stride").str()],
                                         t.i32(llvm::Log2_64(2 * multiple)));
  return multiple == 1 ? units : t.mul(units, t.i32(multiple));
}

/// The chunk's rows of \p operand from \p firstColumn on, as [4, 16, columns].
/// Rows beyond the sequence's end are zeros.
Value Prologue::rowsView(StringRef operand, Value firstColumn, int64_t columns,
                         int64_t multiple) {
  Value stride = args[(operand + "_stride").str()];
  Value pointer = t.advance(args[operand], t.wideMul(firstToken, stride));
  pointer = t.advance(pointer, t.wideMul(firstColumn, t.i32(2)));
  Value elements = rowStride(operand, multiple);
  // Up to the end of the last row's columns: nothing of the next row. Of a
  // chunk without rows it is not above 0.
  Value reach = t.add(t.mul(t.create<arith::SubIOp>(count, t.i32(1)), stride),
                      t.i32(columns * 2));
  return t.view(pointer,
                {t.mul(elements, t.i32(blockTokens)), elements,
                 t.builder().getIndexAttr(1)},
                t.create<arith::MaxSIOp>(reach, t.i32(0)));
}

/// [64, n] as [4, 16, n].
Value Prologue::asBlocks(Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  layout::Layout cut = llvm::cantFail(
      tile::getLayout(type).getLayout().split({{blockTokens}, {}}));
  Value split = t.create<tile::SplitOp>(
      RankedTensorType::get({blockTokens, blocks, type.getDimSize(1)},
                            type.getElementType(), t.layoutAttr(cut)),
      rows, 0, blockTokens);
  return transpose(split, {1, 0, 2});
}

/// The chunk's rows of part \p part of \p parts of \p operand, 128 columns
/// from \p firstColumn on.
Value Prologue::loadRows(StringRef operand, Value firstColumn, int64_t part,
                         int64_t parts) {
  Value zero = t.i32(0);
  int64_t width = shape.heads * D;
  firstColumn = t.add(firstColumn, t.i32(part * width));
  if (!rowOf) {
    return t.load(rowsView(operand, firstColumn, D, 8), {zero, zero, zero},
                  {blocks, blockTokens, D}, t.layoutAttr(scan));
  }
  Value view = t.view(args[operand],
                      {rowStride(operand, 8), t.builder().getIndexAttr(1)},
                      t.i32(parts * width * 2));
  return asBlocks(t.loadFarRows(view, rowOf, {zero, firstColumn},
                                {chunkTokens, D}, t.layoutAttr(rowLayout())));
}

void Prologue::loadBeta() {
  Value zero = t.i32(0);
  if (!rowOf) {
    rawBeta = t.load(rowsView("raw_beta", head, 1, 1), {zero, zero, zero},
                     {blocks, blockTokens, 1});
    return;
  }
  Value view = t.view(args["raw_beta"],
                      {rowStride("raw_beta", 1), t.builder().getIndexAttr(1)},
                      t.i32(shape.heads * 2));
  auto perToken = llvm::cantFail(layout::Layout::create(
      {chunkTokens, 1}, {{1, 0}, {2, 0}, {4, 0}, {8, 0}},
      SmallVector<Basis>(6, Basis{0, 0}), {{16, 0}, {32, 0}}, {}));
  rawBeta = asBlocks(t.loadFarRows(view, rowOf, {zero, head}, {chunkTokens, 1},
                                   t.layoutAttr(perToken)));
}

void Prologue::loadRaw() {
  Value column = t.mul(head, t.i32(D));
  if (args.count("row")) {
    auto type = RankedTensorType::get({chunkTokens}, i32Type,
                                      t.layoutAttr(rowLayout().slice({1})));
    Value rows = t.view(t.advance(args["row"], t.wideMul(firstToken, t.i32(4))),
                        {t.builder().getIndexAttr(1)}, t.mul(count, t.i32(4)));
    Value named = t.load(rows, {t.i32(0)}, {chunkTokens},
                         cast<tile::LayoutAttr>(type.getEncoding()));
    Value inside = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                           t.create<tile::IotaOp>(type, 0),
                                           t.splat(count, named));
    rowOf = t.select(inside, named, t.splat(t.i32(-1), named));
  }
  rawGate = loadRows("raw_g", column);
  for (int64_t part : {K, Q, V}) {
    raw[part] = loadRows("qkv", column, part, 3);
  }
  loadBeta();
  if (shape.outputNorm) {
    rawOutGate = loadRows("out_gate", column);
  }
}

/// Channels from \p channel on of the three rows of the sequence ahead of the
/// chunk, [3, 128]; zeros unless \p hasRows is 1.
Value Prologue::loadPrevious(Value channel, Value hasRows) {
  Value zero = t.i32(0);
  OpFoldResult unit = t.index(1);
  int64_t rowBytes = 3 * shape.heads * D * 2;
  Value stride = args["qkv_stride"];
  Value first = t.create<arith::SubIOp>(firstToken, t.mul(hasRows, t.i32(3)));
  if (!args.count("row")) {
    Value pointer = t.advance(args["qkv"], t.wideMul(first, stride));
    Value bytes = t.add(t.mul(stride, t.i32(2)), t.i32(rowBytes));
    return t.load(
        t.view(pointer, {rowStride("qkv", 8), unit}, t.mul(bytes, hasRows)),
        {zero, channel}, {3, D});
  }
  SmallVector<Value> rows;
  for (int64_t ahead = 0; ahead < 3; ++ahead) {
    // Without rows there may be no token at all: any word that can be read.
    Value named =
        t.advance(args["row"], t.wideMul(t.add(first, t.i32(ahead)), t.i32(4)));
    Value isThere =
        t.create<arith::CmpIOp>(arith::CmpIPredicate::ne, hasRows, zero);
    Value row = t.create<tile::LoadScalarOp>(
        i32Type, t.create<arith::SelectOp>(isThere, named, args["plan"]));
    Value pointer =
        t.advance(args["qkv"], t.wideMul(t.mul(row, hasRows), stride));
    rows.push_back(
        t.load(t.view(pointer, {unit}, t.mul(hasRows, t.i32(rowBytes))),
               {channel}, {D}));
  }
  return t.stack(rows, 0);
}

/// The three inputs ahead of each block's first, in LDS: of block 0 those ahead
/// of the chunk, from the same sequence or from its history.
void Prologue::loadHistory() {
  Value zero = t.i32(0);
  int64_t width = shape.heads * D;

  // A null slot and a sequence without initial state begin with zeros. Numbers
  // instead of conditions keep descriptors in scalar registers.
  Value reads = isFirst;
  Value slot;
  for (StringRef name : {"slot", "initial_slot"}) {
    if (!args.count(name)) {
      continue;
    }
    Value pointer = t.advance(
        args[name], t.wideMul(sequence, args[(name + "_stride").str()]));
    Value given = t.create<tile::LoadScalarOp>(i32Type, pointer);
    slot = t.create<arith::MaxSIOp>(given, zero);
    Value isUsed =
        shape.nullSlot == spec::NullSlot::LE0
            ? t.create<arith::MinSIOp>(slot, t.i32(1)).getResult()
            : t.create<arith::SubIOp>(
                  t.i32(1), t.create<arith::ShRUIOp>(given, t.i32(31)));
    reads = t.mul(reads, isUsed);
  }

  Value columns = args.lookup("columns");
  HistoryWindow window =
      historyWindow(t, shape.convLayout, shape.heads, columns);
  Value begin = historyPointer(t, shape.convLayout, args, columns, slot, head);
  Value stored = t.view(begin, {window.columnStride, window.channelStride},
                        t.mul(window.reach, reads));

  // Rows of the same sequence ahead of the chunk.
  Value hasRows = t.create<arith::SubIOp>(t.i32(1), isFirst);

  Value hasState;
  if (args.count("has_initial_state")) {
    Value flags = t.view(
        t.advance(args["has_initial_state"], t.wideMul(sequence, t.i32(1))),
        {t.builder().getIndexAttr(1)}, t.i32(1));
    Value flag = t.extract(t.load(flags, {zero}, {1}), 0, 0);
    auto type = cast<RankedTensorType>(flag.getType());
    Value none = t.create<arith::ConstantOp>(DenseElementsAttr::get(
        type, t.builder().getI8IntegerAttr(0).getValue()));
    hasState = t.create<arith::CmpIOp>(arith::CmpIPredicate::ne, flag, none);
  }

  SmallVector<int64_t> strides{5 * 3 * D, 3 * D, D, 1};
  history = allocate({3, 5, 3, D}, strides, bf16);
  for (int64_t part : {Q, K, V}) {
    Value channel = t.i32(part * width);
    Value old = t.load(stored, {zero, channel}, {3, D});
    if (hasState) {
      Value none = t.create<arith::ConstantOp>(DenseElementsAttr::get(
          cast<RankedTensorType>(old.getType()),
          llvm::APFloat::getZero(llvm::APFloat::BFloat())));
      old = t.create<arith::SelectOp>(t.splat(hasState, old), old, none);
    }
    // One of the two views is empty and reads as zeros.
    auto bits = RankedTensorType::get({3, D}, t.builder().getI16Type());
    Value before = loadPrevious(t.add(t.mul(head, t.i32(D)), channel), hasRows);
    Value either =
        t.create<arith::OrIOp>(t.create<arith::BitcastOp>(bits, old),
                               t.create<arith::BitcastOp>(bits, before));
    ldsStore(t.create<arith::BitcastOp>(old.getType(), either),
             this->part(history, part * strides[0], {3, D}, {D, 1}));
    Value own = raw[part];
    SmallVector<Value> last;
    for (int64_t token = blockTokens - 3; token < blockTokens; ++token) {
      last.push_back(row(own, token));
    }
    auto type = RankedTensorType::get({blocks, 3, D}, bf16);
    Value tail = t.create<tile::StackOp>(type, last, 1);
    ldsStore(tail, this->part(history, part * strides[0] + strides[1],
                              {blocks, 3, D}, {3 * D, D, 1}));
  }
}

/// Causal convolution of width 4 and SiLU, oldest input first.
Value Prologue::convolve(Part which) {
  Value zero = t.i32(0);
  Value weights =
      t.view(args["conv_weight"],
             {t.builder().getIndexAttr(4), t.builder().getIndexAttr(1)},
             t.i32(3 * shape.heads * D * 16));
  Value channel = t.add(t.mul(head, t.i32(D)), t.i32(which * shape.heads * D));
  // The four taps of two channels of a lane are 32 bytes.
  SmallVector<Basis> registers{{0, 1}, {0, 2}, {1, 0}};
  SmallVector<Basis> lanes;
  for (int64_t bit = 2; bit < D; bit *= 2) {
    lanes.push_back({bit, 0});
  }
  auto taps = llvm::cantFail(
      layout::Layout::create({D, 4}, registers, lanes, {{0, 0}, {0, 0}}, {}));
  Value weight = t.load(weights, {channel, zero}, {D, 4}, t.layoutAttr(taps));

  Value halo =
      ldsLoad(part(history, which * 5 * 3 * D, {blocks, 3, D}, {3 * D, D, 1}));
  SmallVector<Value> inputs;
  for (int64_t token = 0; token < 3; ++token) {
    inputs.push_back(row(halo, token));
  }
  for (int64_t token = 0; token < blockTokens; ++token) {
    inputs.push_back(row(raw[which], token));
  }
  Value sum;
  for (int64_t tap = 0; tap < 4; ++tap) {
    Value x = t.extend(stackRows(ArrayRef(inputs).slice(tap, blockTokens)));
    auto type = RankedTensorType::get({D}, f32, scanWithout({0, 1}));
    Value w = t.create<tile::ExtractOp>(type, weight, 1, tap);
    w = t.broadcast(w, {2}, x);
    sum = tap == 0 ? t.mulf(x, w) : t.fma(x, w, sum);
  }
  Value result = t.mulf(sum, t.sigmoid(sum));
  return shape.roundConv ? t.extend(t.round(result, bf16)) : result;
}

/// The sums of the gate within each block, in powers of two, and the factors
/// that refer to the block's start and end.
void Prologue::activateGate() {
  OpFoldResult unit = t.index(1);
  Value biases = t.view(args["dt_bias"], {unit}, t.i32(shape.heads * D * 4));
  Value bias =
      t.load(biases, {t.mul(head, t.i32(D))}, {D}, scanWithout({0, 1}));
  Value aLog = t.view(args["a_log"], {unit}, t.i32(shape.heads * 4));
  Value scale = t.exp(t.extract(t.load(aLog, {head}, {1}), 0, 0));
  Value x = t.extend(rawGate);
  x = t.addf(x, t.broadcast(bias, {2}, x));
  Value gate;
  if (shape.gate == spec::GateKind::Bounded) {
    Value s = t.sigmoid(t.mulf(x, t.splat(scale, x)));
    gate = t.mulf(s, shape.lowerBound * log2e);
  } else {
    gate = t.mulf(t.mulf(t.softplus(x), t.splat(scale, x)), -log2e);
  }
  // Rows beyond the end do not decay.
  auto indices = [&](int64_t dim) -> Value {
    return t.create<tile::IotaOp>(
        RankedTensorType::get({blocks, blockTokens, D}, i32Type,
                              t.layoutAttr(scan)),
        dim);
  };
  Value sixteen = t.splat(t.i32(blockTokens), gate);
  Value token = t.add(t.mul(indices(0), sixteen), indices(1));
  Value inside = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, token,
                                         t.splat(count, gate));
  gate = t.select(inside, gate, t.constant(0.0, gate));

  SmallVector<Value> rows;
  for (int64_t index = 0; index < blockTokens; ++index) {
    Value g = row(gate, index);
    rows.push_back(index == 0 ? g : t.addf(rows.back(), g));
  }
  sums = stackRows(rows);
}

void Prologue::findBlockSums() {
  // Every block learns the sums of all blocks.
  Value totals = allocate({blocks, D}, {D, 1}, f32);
  ldsStore(row(sums, blockTokens - 1), totals);
  auto rowType = RankedTensorType::get({blocks, D}, f32, scanWithout({1}));
  auto index = t.create<tile::IotaOp>(
      RankedTensorType::get({blocks, D}, i32Type, scanWithout({1})), 0);
  Value none = t.constant(0.0, row(sums, 0));
  toStart = none;
  toEnd = none;
  for (int64_t other = 0; other < blocks; ++other) {
    Value sum = ldsLoad(part(totals, other * D, {D}, {1}), scanWithout({0, 1}));
    blockSum[other] =
        t.create<tile::BroadcastOp>(rowType, sum, ArrayRef<int64_t>{1});
    Value at = t.splat(t.i32(other), none);
    Value isBefore =
        t.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, index, at);
    Value isAfter =
        t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, index, at);
    toStart = t.addf(toStart, t.select(isBefore, blockSum[other], none));
    toEnd = t.addf(toEnd, t.select(isAfter, blockSum[other], none));
  }
}

/// Beta of each token, in LDS; zero beyond the end.
void Prologue::activateBeta() {
  beta = allocate({chunkTokens}, {1}, f32);
  Value value = t.sigmoid(t.extend(t.extract(rawBeta, 2, 0)));
  auto type = RankedTensorType::get(
      {blocks, blockTokens}, i32Type,
      cast<RankedTensorType>(value.getType()).getEncoding());
  Value token = t.create<tile::IotaOp>(type, 1);
  Value at = t.create<tile::IotaOp>(type, 0);
  token = t.add(t.mul(at, t.splat(t.i32(blockTokens), value)), token);
  Value inside = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, token,
                                         t.splat(count, value));
  value = t.select(inside, value, t.constant(0.0, value));
  ldsStore(value, part(beta, 0, {blocks, blockTokens}, {blockTokens, 1}));
}

/// What the walk multiplies outputs by, but for their norm.
void Prologue::activateOutGate() {
  int64_t bytes = cast<tile::PtrType>(args["norm_weight"].getType())
                      .getElementType()
                      .getIntOrFloatBitWidth() /
                  8;
  Value zero = t.i32(0);
  Value weights = t.view(args["norm_weight"], {t.index(1)}, t.i32(D * bytes));
  Value weight = t.extend(t.load(weights, {zero}, {D}, scanWithout({0, 1})));
  Value gate = t.sigmoid(t.extend(rawOutGate));
  gate = t.mulf(gate, t.broadcast(weight, {2}, gate));
  Value view = t.view(workspace("gate", chunkTokens * D),
                      {t.index(blockTokens * D), t.index(D), t.index(1)},
                      t.i32(chunkTokens * D * operandBytes));
  Type element = cast<tile::PtrType>(args["gate"].getType()).getElementType();
  t.store(t.round(gate, element), view, {zero, zero, zero});
}

/// q D^-0.5 / |q| and k / |k|.
void Prologue::normalise() {
  for (Value *x : {&q, &k}) {
    Value sum = t.dot(*x, *x, {2});
    Value factor = t.rsqrt(t.addf(sum, t.constant(shape.qkEps, sum)));
    if (x == &q) {
      factor = t.mulf(factor, 1.0 / std::sqrt(double(D)));
    }
    *x = t.mulf(*x, acrossChannels(factor, *x));
  }
}

/// What needs nothing from other tokens: q 2^G, k 2^(G_last - G) transposed,
/// the chunk's decay.
void Prologue::storeForWalk() {
  Value zero = t.i32(0);
  OpFoldResult unit = t.index(1);
  fromStart = t.exp2(t.addf(sums, acrossTokens(toStart, sums)));
  Value rest = t.addf(toEnd, row(sums, blockTokens - 1));
  Value fromEnd = t.exp2(t.subf(acrossTokens(rest, sums), sums));

  Value tokens = t.view(workspace("qg", chunkTokens * D),
                        {t.index(blockTokens * D), t.index(D), unit},
                        t.i32(chunkTokens * D * operandBytes));
  t.store(narrow(t.mulf(q, fromStart)), tokens, {zero, zero, zero});
  Value channels = t.view(workspace("kg", chunkTokens * D),
                          {t.index(chunkTokens), t.index(blockTokens), unit},
                          t.i32(chunkTokens * D * operandBytes));
  t.store(alongTokens(t.mulf(k, fromEnd)), channels, {zero, zero, zero});

  Value total = blockSum[0];
  for (int64_t other = 1; other < blocks; ++other) {
    total = t.addf(total, blockSum[other]);
  }
  // Every block has it; the first writes it.
  Value decays =
      t.view(workspace("decay", D), {t.index(D), unit}, t.i32(D * 4));
  t.store(t.exp2(total), decays, {zero, zero});
}

/// Puts \p value times beta into LDS, transposed: an input of w or u.
Value Prologue::storeInput(Value value) {
  Value perToken = ldsLoad(
      part(beta, 0, {blocks, blockTokens}, {blockTokens, 1}), scanWithout({2}));
  Value buffer = allocate({D, chunkTokens}, {tokenPitch, 1}, operand);
  ldsStore(
      alongTokens(t.mulf(value, acrossChannels(perToken, value))),
      part(buffer, 0, {D, blocks, blockTokens}, {tokenPitch, blockTokens, 1}));
  return buffer;
}

void Prologue::write(tile::KernelOp kernel) {
  OpBuilder &b = t.builder();
  b.setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  identify();
  loadRaw();
  loadHistory();
  activateBeta();
  if (shape.outputNorm) {
    activateOutGate();
  }
  inputsU = storeInput(convolve(V));
  k = convolve(K);
  q = convolve(Q);
  activateGate();
  findBlockSums();
  normalise();
  storeForWalk();
  inverse = allocate({chunkTokens, chunkTokens}, {squarePitch, 1}, f32);
  for (int64_t half = chunkTokens / 2; half >= blockTokens; half /= 2) {
    scoreAcross(half);
  }
  bool isBounded = shape.gate == spec::GateKind::Bounded;
  if (isBounded && !operand.isF16()) {
    scoreBounded();
  } else {
    scoreHalves(isBounded ? 4 : 1);
  }
  inputsW = storeInput(t.mulf(k, fromStart));
  clearAbove();
  invert();
  storeUpdates();
  t.create<tile::ReturnOp>();
}

void kda::writePrologue(tile::KernelOp kernel, const PrologueShape &shape,
                        OpBuilder &builder) {
  Prologue(shape, builder, kernel.getLoc()).write(kernel);
}
