//===- PrefillWalk.cpp - the recurrence over chunks -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Per chunk, with the state S [v, k] in accumulators from the first chunk to
// the last, and w, q, k, u, Aqk and the decay as the prologue left them (w
// negated):
//
//   V = bf16(u^T + bf16(S) w^T)              [v, t]
//   o = bf16(S) q^T + V Aqk^T                [v, t]
//   S = S decay + V k                        [v, k]
//
// A wave has 32 rows v of all of them. Rows v lie in lanes as columns of the
// instruction for V and S, so that accumulators are the left operands of the
// products that follow, where they lie. They are permuted such that they also
// are the rows of the instruction for o, of which a lane then holds eight
// values side by side.
//
// Right operands go through LDS in two stages. A buffer is filled again as soon
// as all waves have read it: half of them behind the barrier in the middle of a
// chunk, half behind the one at its end, so that a copy has one and a half
// chunks to arrive.
//
//===----------------------------------------------------------------------===//

#include "PrefillWalk.h"

#include "Groups.h"
#include "PrefillPrologue.h"

#include "../KernelArguments.h"
#include "../TileBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;
using layout::Basis;

static constexpr int64_t D = 128;
static constexpr int64_t T = chunkTokens;
/// Rows v of a wave.
static constexpr int64_t waveRows = D / walkWaves;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Columns of the instruction along dim 0, rows along dim 1 of \p extent
/// elements, eight of them side by side in a lane.
static layout::Layout sumLayout(int64_t extent) {
  SmallVector<Basis> registers{{0, 1}, {0, 2}, {0, 4}};
  for (int64_t bit = 32; bit < extent; bit *= 2) {
    registers.push_back({0, bit});
  }
  registers.push_back({4, 0});
  SmallVector<Basis> lanes{{1, 0}, {2, 0}, {8, 0}, {16, 0}, {0, 8}, {0, 16}};
  return llvm::cantFail(layout::Layout::create({D, extent}, registers, lanes,
                                               {{32, 0}, {64, 0}}, {}));
}

/// Of o [v, t]: rows of the instruction along v, in the order in which
/// sumLayout has them in lanes.
static layout::Layout outLayout() {
  return llvm::cantFail(
      layout::Layout::create({D, T}, {{1, 0}, {2, 0}, {4, 0}, {0, 16}, {0, 32}},
                             {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {8, 0}, {16, 0}},
                             {{32, 0}, {64, 0}}, {}));
}

/// Of the sums of waves [wave, t]: a lane has those of all waves for its t.
static layout::Layout sharedSumsLayout() {
  return llvm::cantFail(layout::Layout::create(
      {walkWaves, T}, {{1, 0}, {2, 0}, {0, 16}, {0, 32}},
      {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 0}, {0, 0}}, {{0, 0}, {0, 0}}, {}));
}

/// Of a transform [k', k]: eight values k' side by side in a lane.
static layout::Layout transformLayout() {
  return llvm::cantFail(layout::Layout::create(
      {D, D}, {{1, 0}, {2, 0}, {4, 0}, {0, 16}, {0, 32}, {0, 64}},
      {{8, 0}, {16, 0}, {32, 0}, {64, 0}, {0, 1}, {0, 2}}, {{0, 4}, {0, 8}},
      {}));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// A right operand, [k, n] of a product, that comes through LDS.
struct Stream {
  StringRef workspace;
  int64_t rows;         ///< k
  int64_t columns;      ///< n, the slow dimension in memory
  int64_t instructions; ///< of a wave that copy it
  Value base;           ///< pointer: of the sequence's first chunk
  Value buffer;         ///< LDS, two stages

  int64_t bytes() const { return rows * columns * 2; }
};

/// Writes one walk. Methods are in the order of the program.
class Walk {
public:
  Walk(const WalkShape &shape, OpBuilder &builder, Location loc)
      : shape(shape), t(builder, loc), state(sumLayout(D)),
        values(sumLayout(T)), outs(outLayout()), bf16(builder.getBF16Type()),
        f32(builder.getF32Type()), i32Type(builder.getI32Type()) {}

  void write(tile::KernelOp kernel);

private:
  using Steps = SmallVector<std::function<void()>>;
  /// What an iteration hands to the next.
  struct Carried {
    Value state;
    Value out;       ///< o, times the gate with output norm; none of groups
    Value carry;     ///< of groups, the product of the decays
    Value stage;     ///< i32
    Value offset;    ///< i64: of the chunk in workspaces of 16 KiB per block
    Value rowOffset; ///< i64: of the chunk's first row in out
    Value gateOffset;
    /// Copies in flight.
    SmallVector<Value> q, w, k, aqk, decay, nextQ, nextW;

    SmallVector<Value *> all();
  };

  tile::LayoutAttr attr(const layout::Layout &layout) {
    return tile::LayoutAttr::get(t.builder().getContext(), layout);
  }
  RankedTensorType type(const layout::Layout &layout, Type element) {
    return RankedTensorType::get(layout.shape(), element, attr(layout));
  }
  OpFoldResult index(int64_t value) { return t.builder().getIndexAttr(value); }
  Value zeros(RankedTensorType type) {
    return t.create<arith::ConstantOp>(DenseElementsAttr::get(
        type, llvm::APFloat::getZero(
                  cast<FloatType>(type.getElementType()).getFloatSemantics())));
  }
  Value narrow(Value value);
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return t.create<arith::CmpIOp>(predicate, a, b);
  }
  Value both(Value a, Value b) { return t.create<arith::AndIOp>(a, b); }
  Value sub(Value a, Value b) { return t.create<arith::SubIOp>(a, b); }
  Value no(Value condition) {
    return t.create<arith::XOrIOp>(condition,
                                   t.create<arith::ConstantIntOp>(1, 1));
  }
  Value loadScalar(StringRef operand, Value row, Value stride);
  Value isNull(Value slot);

  Value identifyGroup();
  void identify();
  Value rowsView(StringRef operand, Value offset, Value rows);
  Value keepIfInitial(Value tile);
  Value stateView(Value slot, Value reaches);
  void updateHistory();
  void writeZeros();
  Value allocate(ArrayRef<int64_t> extents, Type element, int64_t stages,
                 tile::LdsLayoutAttr layout = {});
  void allocateBuffers();
  Value stageOf(Value buffer, Value stage, int64_t shift = 0);
  void planCopies(Stream &stream, Value offset, Value isThere, Value stage,
                  int64_t ahead, SmallVector<Value> &tokens, Steps &steps);
  void planDecayCopy(Value offset, Value isThere, Value stage, int64_t ahead,
                     SmallVector<Value> &tokens, Steps &steps);
  Value read(const Stream &stream, Value stage);
  void planProduct(Value lhs, Value rhs, Value &sum, int64_t parts,
                   Steps &steps);
  void interleave(const Steps &products, const Steps &accesses);
  void prefetch(Carried &carried);
  Value gate(Value raw);
  void storeSquares(Value o);
  std::function<void()> planStore(const Carried &carried, Value chunk);
  void chunk(Carried &carried, Value i);
  Value entryView(int64_t ahead, Value reaches);
  Value loadState();
  void storeGroup(const Carried &carried);

  const WalkShape &shape;
  TileBuilder t;
  layout::Layout state, values, outs;
  Type bf16, f32, i32Type;
  llvm::StringMap<Value> args;

  bool hasOut() const { return !isGroups(); }
  bool isGroups() const { return shape.pass == WalkPass::Groups; }

  Value head, sequence;            ///< i32
  Value firstToken, tokens;        ///< i32, of the sequence
  Value sequenceChunks;            ///< i32
  Value firstRow, rowsLeft;        ///< i32: tokens from the group's first on
  Value chunks;                    ///< i32, of the group
  Value isFirst, isLast;           ///< i1: the group is, of its sequence
  Value isOnly;                    ///< i1: the sequence has one group
  Value isActive;                  ///< i1, with groups: there is work to do
  Value isTransform;               ///< i1, of groups: begins with the identity
  Value group;                     ///< i64, in workspaces
  Value null;                      ///< i1: the slot is
  Value slot;                      ///< i32, 0 when null
  Value initialSlot, readsInitial; ///< i32, i1
  Value hasInitial;                ///< tile of rank 0 of i1, or null
  Value zero, one;                 ///< i32
  Value blockBytes;                ///< i64: from chunk to chunk, for 16 KiB
  SmallVector<Stream *> streams() {
    return isGroups() ? SmallVector<Stream *>{&w, &k}
                      : SmallVector<Stream *>{&w, &q, &k, &aqk};
  }
  Stream w{"w", D, T, 4, {}, {}};
  Stream q{"qg", D, T, 4, {}, {}};
  Stream k{"kg", T, D, 4, {}, {}};
  Stream aqk{"aqk", T, T, 2, {}, {}};
  Value decayBase, decayBuffer;
  Value uBase;
  Value sumsBuffer;
  Value identityBuffer;
  Value normWeight; ///< f32 [v], as outs have it
};
} // namespace

SmallVector<Value *> Walk::Carried::all() {
  SmallVector<Value *> all{&state, &stage, &offset};
  if (out) {
    all.append({&out, &rowOffset, &gateOffset});
  }
  if (carry) {
    all.push_back(&carry);
  }
  for (SmallVector<Value> *tokens :
       {&q, &w, &decay, &k, &aqk, &nextQ, &nextW}) {
    for (Value &token : *tokens) {
      all.push_back(&token);
    }
  }
  return all;
}

Value Walk::narrow(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return t.create<arith::TruncFOp>(
      RankedTensorType::get(type.getShape(), bf16, type.getEncoding()), value);
}

//===----------------------------------------------------------------------===//
// Before and after the chunks
//===----------------------------------------------------------------------===//

Value Walk::loadScalar(StringRef operand, Value row, Value stride) {
  return t.create<tile::LoadScalarOp>(
      i32Type, t.advance(args[operand], t.wideMul(row, stride)));
}

Value Walk::isNull(Value given) {
  return compare(shape.nullSlot == spec::NullSlot::LE0
                     ? arith::CmpIPredicate::sle
                     : arith::CmpIPredicate::slt,
                 given, zero);
}

/// Finds the chunks of the workgroup; returns the first of them.
Value Walk::identifyGroup() {
  if (shape.pass == WalkPass::Whole) {
    firstRow = firstToken;
    rowsLeft = tokens;
    chunks = t.select(null, zero, sequenceChunks);
    isFirst = isLast = isOnly = t.create<arith::ConstantIntOp>(1, 1);
    return zero;
  }
  Value number = t.workgroupId(2);
  Value mostGroups = args["groups"];
  Groups groups = groupsOf(t, sequenceChunks, mostGroups);
  Value firstChunk = t.mul(number, groups.each);
  Value count =
      t.create<arith::MinSIOp>(sub(sequenceChunks, firstChunk), groups.each);
  isFirst = compare(arith::CmpIPredicate::eq, number, zero);
  isOnly = compare(arith::CmpIPredicate::eq, groups.used, one);
  isLast = compare(arith::CmpIPredicate::eq, t.add(number, one), groups.used);
  isActive =
      both(compare(arith::CmpIPredicate::slt, number, groups.used), no(null));
  if (isGroups()) {
    isActive = both(isActive, no(isLast));
    isActive = both(isActive, no(both(isTransform, isFirst)));
  }
  chunks = t.select(isActive, count, zero);
  Value skipped = t.mul(firstChunk, t.i32(T));
  firstRow = t.add(firstToken, skipped);
  rowsLeft = sub(tokens, skipped);
  Value pair = t.add(t.mul(sequence, t.i32(shape.heads)), head);
  group = t.add(t.wideMul(pair, mostGroups), t.wideMul(number, t.i64(1)));
  return firstChunk;
}

void Walk::identify() {
  zero = t.i32(0);
  one = t.i32(1);
  head = t.workgroupId(0);
  if (isGroups()) {
    isTransform = compare(arith::CmpIPredicate::ne,
                          t.create<arith::AndIOp>(head, one), zero);
    head = t.create<arith::ShRUIOp>(head, one);
  }
  sequence = t.workgroupId(1);
  firstToken = loadScalar("cu_seqlens", sequence, t.i32(4));
  Value end = loadScalar("cu_seqlens", t.add(sequence, one), t.i32(4));
  tokens = sub(end, firstToken);
  sequenceChunks = t.create<arith::ShRUIOp>(t.add(tokens, t.i32(T - 1)),
                                            t.i32(llvm::Log2_64(T)));
  Value given = loadScalar("slot", sequence, args["slot_stride"]);
  null = isNull(given);
  slot = t.select(null, zero, given);
  initialSlot = slot;
  readsInitial = no(null);
  if (args.count("initial_slot")) {
    Value initial =
        loadScalar("initial_slot", sequence, args["initial_slot_stride"]);
    Value none = isNull(initial);
    initialSlot = t.select(none, zero, initial);
    readsInitial = both(readsInitial, no(none));
  }
  if (args.count("has_initial_state")) {
    Value flags = t.view(
        t.advance(args["has_initial_state"], t.wideMul(sequence, t.i64(1))),
        {index(1)}, one);
    Value flag = t.extract(t.load(flags, {zero}, {1}), 0, 0);
    Value off = t.create<arith::ConstantOp>(
        DenseElementsAttr::get(cast<RankedTensorType>(flag.getType()),
                               t.builder().getI8IntegerAttr(0).getValue()));
    hasInitial = compare(arith::CmpIPredicate::ne, flag, off);
  }

  Value firstChunk = identifyGroup();
  // The plan's row of the sequence's first chunk: see tenon.kda_plan.
  Value first = t.add(
      t.create<arith::ShRUIOp>(firstToken, t.i32(llvm::Log2_64(T))), sequence);
  first = t.add(first, firstChunk);
  Value block =
      t.add(t.wideMul(first, t.i64(shape.heads)), t.wideMul(head, t.i64(1)));
  auto base = [&](StringRef name, int64_t bytes) {
    return t.advance(args[name], t.wideMul(block, t.i64(bytes)));
  };
  for (Stream *stream : streams()) {
    stream->base = base(stream->workspace, stream->bytes());
  }
  uBase = base("u", D * T * 2);
  decayBase = base("decay", D * 4);
  blockBytes = t.i64(shape.heads * D * T * 2);
}

/// \p tile as read from the initial slot, zeros where the sequence has none.
Value Walk::keepIfInitial(Value tile) {
  if (!hasInitial) {
    return tile;
  }
  return t.create<arith::SelectOp>(
      t.splat(hasInitial, tile), tile,
      zeros(cast<RankedTensorType>(tile.getType())));
}

Value Walk::stateView(Value slot, Value reaches) {
  bool vk = shape.stateOrder == spec::StateOrder::VK;
  Value pointer =
      t.advance(args["state"], t.add(t.wideMul(slot, args["state_stride"]),
                                     t.wideMul(head, t.i32(D * D * 4))));
  return t.view(pointer, {index(vk ? D : 1), index(vk ? 1 : D)},
                t.select(reaches, t.i32(D * D * 4), zero));
}

/// The last three raw inputs of the head's channels: of a sequence of fewer
/// tokens, old ones behind which those follow.
void Walk::updateHistory() {
  bool sd = shape.convLayout == spec::ConvLayout::SD;
  int64_t width = shape.heads * D;
  OpFoldResult unit = index(1);
  OpFoldResult channelStride = sd ? unit : OpFoldResult(args["columns"]);
  OpFoldResult columnStride = sd ? index(3 * width) : unit;
  int64_t lastChannel = 2 * width + D;
  Value reach = sd ? t.i32((2 * 3 * width + lastChannel) * 2)
                   : t.mul(args["columns"], t.i32(lastChannel * 2));
  Value headOffset = sd ? t.wideMul(head, t.i32(2 * D))
                        : t.wideMul(head, t.mul(args["columns"], t.i32(2 * D)));
  auto window = [&](Value slot, Value reaches) {
    Value pointer = t.advance(
        args["conv_state"],
        t.add(t.wideMul(slot, args["conv_state_stride"]), headOffset));
    return t.view(pointer, {channelStride, columnStride},
                  t.select(reaches, reach, zero));
  };
  Value from = window(initialSlot, both(readsInitial, isFirst));
  Value to = window(slot, both(no(null), isFirst));

  // Row `tokens - 3 + column`, where the sequence has one.
  Value stride = args["qkv_stride"];
  Value inputs = t.advance(args["qkv"], t.wideMul(head, t.i32(2 * D)));
  Value view[3];
  for (int64_t column = 0; column < 3; ++column) {
    Value isThere = both(
        isFirst, compare(arith::CmpIPredicate::sgt, tokens, t.i32(2 - column)));
    Value last = t.add(t.add(firstToken, tokens), t.i32(column - 3));
    Value pointer =
        t.advance(inputs, t.wideMul(t.select(isThere, last, zero), stride));
    view[column] = t.view(pointer, {unit},
                          t.select(isThere, t.i32(lastChannel * 2), zero));
  }
  for (int64_t part = 0; part < 3; ++part) {
    Value channel = t.i32(part * width);
    Value old = keepIfInitial(t.load(from, {channel, zero}, {D, 3}));
    SmallVector<Value> columns;
    for (int64_t column = 0; column < 3; ++column) {
      // Without a row of its own it is the old column `tokens` further on.
      Value result = t.load(view[column], {channel}, {D});
      for (int64_t further = 0; column + further < 3; ++further) {
        Value isThis =
            compare(arith::CmpIPredicate::eq, tokens, t.i32(further));
        result = t.select(isThis, t.extract(old, 1, column + further), result);
      }
      columns.push_back(result);
    }
    t.store(t.stack(columns, 1), to, {channel, zero});
  }
}

/// Rows of a null slot.
void Walk::writeZeros() {
  Value count = t.select(both(null, isFirst), sequenceChunks, zero);
  auto loop = t.create<scf::ForOp>(zero, count, one);
  OpBuilder::InsertionGuard guard(t.builder());
  t.builder().setInsertionPointToStart(loop.getBody());
  Value before = t.mul(loop.getInductionVar(), t.i32(T));
  Value left = t.create<arith::MinSIOp>(sub(rowsLeft, before), t.i32(T));
  Value view = rowsView("out", t.wideMul(before, args["out_stride"]), left);
  t.store(zeros(RankedTensorType::get({D, T}, bf16)), view, {zero, zero});
}

/// The head's columns, [v, t], of \p rows rows of \p operand, from \p offset
/// bytes behind the group's first row on.
Value Walk::rowsView(StringRef operand, Value offset, Value rows) {
  Value stride = args[(operand + "_stride").str()];
  Value first = t.advance(args[operand], t.wideMul(firstRow, stride));
  first = t.advance(first, t.wideMul(head, t.i32(2 * D)));
  Value bytes = t.add(t.mul(sub(rows, one), stride), t.i32(2 * D));
  Value isEmpty = compare(arith::CmpIPredicate::sle, rows, zero);
  // Rows begin at multiples of 16 bytes: seen from the product.
  Value elements = t.mul(t.create<arith::ShRUIOp>(stride, t.i32(4)), t.i32(8));
  return t.view(t.advance(first, offset), {index(1), elements},
                t.select(isEmpty, zero, bytes));
}

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

Value Walk::allocate(ArrayRef<int64_t> extents, Type element, int64_t stages,
                     tile::LdsLayoutAttr layout) {
  return t.create<tile::AllocLdsOp>(tile::LdsType::get(t.builder().getContext(),
                                                       extents, element, layout,
                                                       stages),
                                    IntegerAttr());
}

void Walk::allocateBuffers() {
  for (Stream *stream : streams()) {
    stream->buffer = allocate({stream->rows, stream->columns}, bf16, 2);
  }
  // What copies of all waves come to: the rest is zeros.
  decayBuffer = allocate({2 * D}, f32, 2);
  if (hasOut() && shape.outputNorm) {
    auto layout = llvm::cantFail(
        layout::LdsLayout::create({walkWaves, T}, {1, walkWaves}, 32));
    sumsBuffer =
        allocate({walkWaves, T}, f32, 1,
                 tile::LdsLayoutAttr::get(t.builder().getContext(), layout));
    // Read ahead of the first chunk, for nothing.
    t.create<tile::LdsStoreOp>(
        zeros(RankedTensorType::get({walkWaves, T}, f32)), sumsBuffer);
  }
}

Value Walk::stageOf(Value buffer, Value stage, int64_t shift) {
  return t.create<tile::LdsStageOp>(buffer, stage, shift);
}

/// Adds to \p steps the copies of the block \p ahead chunks behind that at
/// \p offset; of zeros unless it \p isThere.
void Walk::planCopies(Stream &stream, Value offset, Value isThere, Value stage,
                      int64_t ahead, SmallVector<Value> &tokens, Steps &steps) {
  Value base = t.advance(stream.base, ahead * shape.heads * stream.bytes());
  // Offsets are of blocks of 16 KiB.
  int64_t shift = llvm::Log2_64(D * T * 2 / stream.bytes());
  Value bytes = shift ? t.create<arith::ShRUIOp>(offset, t.i64(shift)) : offset;
  Value view = t.view(t.advance(base, bytes), {index(1), index(stream.rows)},
                      t.select(isThere, t.i32(stream.bytes()), zero));
  Value buffer = stageOf(stream.buffer, stage, ahead % 2);
  tokens.assign(stream.instructions, Value());
  for (int64_t part = 0; part < stream.instructions; ++part) {
    steps.push_back([=, this, &tokens, count = stream.instructions] {
      tokens[part] = t.create<tile::CopyToLdsOp>(
          tile::TokenType::get(t.builder().getContext()), view,
          ValueRange{zero, zero}, ValueRange(), DenseI64ArrayAttr(), buffer,
          UnitAttr(), t.builder().getDenseI64ArrayAttr({part, count}));
    });
  }
}

void Walk::planDecayCopy(Value offset, Value isThere, Value stage,
                         int64_t ahead, SmallVector<Value> &tokens,
                         Steps &steps) {
  Value base = t.advance(decayBase, ahead * shape.heads * D * 4);
  int64_t shift = llvm::Log2_64(T * 2 / 4);
  Value bytes = t.create<arith::ShRUIOp>(offset, t.i64(shift));
  Value view = t.view(t.advance(base, bytes), {index(1)},
                      t.select(isThere, t.i32(D * 4), zero));
  Value buffer = stageOf(decayBuffer, stage, ahead % 2);
  tokens.assign(1, Value());
  steps.push_back([=, this, &tokens] {
    tokens[0] = t.create<tile::CopyToLdsOp>(
        tile::TokenType::get(t.builder().getContext()), view, ValueRange{zero},
        ValueRange(), DenseI64ArrayAttr(), buffer, UnitAttr(),
        DenseI64ArrayAttr());
  });
}

Value Walk::read(const Stream &stream, Value stage) {
  return t.create<tile::LdsLoadOp>(
      RankedTensorType::get({stream.rows, stream.columns}, bf16),
      stageOf(stream.buffer, stage));
}

/// Adds to \p steps the product of \p lhs and \p rhs, in parts, which is added
/// to \p sum.
void Walk::planProduct(Value lhs, Value rhs, Value &sum, int64_t parts,
                       Steps &steps) {
  for (int64_t part = 0; part < parts; ++part) {
    steps.push_back([=, this, &sum] {
      Builder &b = t.builder();
      sum = t.create<tile::MmaOp>(
          sum.getType(), lhs, rhs, sum, Value(), Value(),
          b.getDenseI64ArrayAttr({16, 32}), DenseI64ArrayAttr(),
          DenseI64ArrayAttr(), IntegerAttr(),
          b.getDenseI64ArrayAttr({part, parts}), FloatAttr());
    });
  }
}

/// Spreads \p accesses evenly over \p products.
void Walk::interleave(const Steps &products, const Steps &accesses) {
  size_t done = 0;
  for (auto [number, product] : llvm::enumerate(products)) {
    product();
    for (; done < (number + 1) * accesses.size() / products.size(); ++done) {
      accesses[done]();
      t.create<tile::OrderFenceOp>();
    }
  }
}

/// Starts the copies of the first chunk, and of the second what the middle of a
/// chunk starts.
void Walk::prefetch(Carried &carried) {
  Steps steps;
  Value start = t.i64(0);
  Value hasFirst = compare(arith::CmpIPredicate::sgt, chunks, zero);
  Value hasSecond = compare(arith::CmpIPredicate::sgt, chunks, one);
  if (hasOut()) {
    planCopies(q, start, hasFirst, zero, 0, carried.q, steps);
  }
  planCopies(w, start, hasFirst, zero, 0, carried.w, steps);
  planDecayCopy(start, hasFirst, zero, 0, carried.decay, steps);
  planCopies(k, start, hasFirst, zero, 0, carried.k, steps);
  if (hasOut()) {
    planCopies(aqk, start, hasFirst, zero, 0, carried.aqk, steps);
  }
  if (hasOut()) {
    planCopies(q, start, hasSecond, zero, 1, carried.nextQ, steps);
  }
  planCopies(w, start, hasSecond, zero, 1, carried.nextW, steps);
  for (const std::function<void()> &step : steps) {
    step();
  }
  t.create<tile::OrderFenceOp>();
  carried.stage = zero;
  carried.offset = start;
  carried.rowOffset = start;
}

//===----------------------------------------------------------------------===//
// A chunk
//===----------------------------------------------------------------------===//

/// What o is multiplied by, but for its norm.
Value Walk::gate(Value raw) {
  Value gate = t.sigmoid(t.extend(raw));
  return t.mulf(gate, t.broadcast(normWeight, {0}, gate));
}

/// Puts the sums of squares of \p o over each wave's rows v into LDS.
void Walk::storeSquares(Value o) {
  auto blocks = RankedTensorType::get({waveRows, walkWaves, T}, f32);
  Value split = t.create<tile::SplitOp>(blocks, o, 0, waveRows);
  Value sums =
      t.create<tile::DotOp>(RankedTensorType::get({walkWaves, T}, f32), split,
                            split, t.builder().getDenseI64ArrayAttr({0}));
  t.create<tile::LdsStoreOp>(sums, sumsBuffer);
}

/// Finishes the rows of the chunk before \p chunk, and gives the step that
/// stores them.
std::function<void()> Walk::planStore(const Carried &carried, Value chunk) {
  Value before = t.mul(sub(chunk, one), t.i32(T));
  Value left = t.create<arith::MinSIOp>(sub(rowsLeft, before), t.i32(T));
  Value isThere = compare(arith::CmpIPredicate::sgt, chunk, zero);
  Value back = t.wideMul(args["out_stride"], t.i64(T));
  Value view = rowsView("out", sub(carried.rowOffset, back),
                        t.select(isThere, left, zero));
  Value result = carried.out;
  if (shape.outputNorm) {
    layout::Layout shared = sharedSumsLayout();
    Value sums = t.create<tile::LdsLoadOp>(type(shared, f32), sumsBuffer);
    Value sum = t.create<tile::ReduceOp>(type(shared.slice({0}), f32),
                                         tile::ReduceKind::Add, sums,
                                         t.builder().getDenseI64ArrayAttr({0}));
    Value scale = t.rsqrt(
        t.fma(sum, t.constant(1.0 / D, sum), t.constant(shape.normEps, sum)));
    result = t.mulf(result, t.broadcast(scale, {1}, result));
  }
  result = narrow(result);
  return [=, this] { t.store(result, view, {zero, zero}); };
}

void Walk::chunk(Carried &carried, Value i) {
  auto hasNext = [&](int64_t ahead) {
    return compare(arith::CmpIPredicate::slt, t.add(i, t.i32(ahead)), chunks);
  };
  auto await = [&](std::initializer_list<ArrayRef<Value>> copies) {
    SmallVector<Value> tokens;
    for (ArrayRef<Value> some : copies) {
      llvm::append_range(tokens, some);
    }
    t.create<tile::WaitCopiesOp>(tokens);
    t.create<tile::BarrierOp>();
  };
  await({carried.q, carried.w, carried.decay});

  // Into registers first: behind the copies they would arrive late.
  Value uBytes = t.i32(D * T * 2);
  if (isGroups()) {
    uBytes = t.select(isTransform, zero, uBytes);
  }
  Value uView =
      t.view(t.advance(uBase, carried.offset), {index(T), index(1)}, uBytes);
  Value u = t.load(uView, {zero, zero}, {D, T}, attr(values));
  Value rawGate;
  if (hasOut() && shape.outputNorm) {
    Value before = t.mul(i, t.i32(T));
    Value left = t.create<arith::MinSIOp>(sub(rowsLeft, before), t.i32(T));
    rawGate = t.load(rowsView("out_gate", carried.gateOffset, left),
                     {zero, zero}, {D, T}, attr(outs));
  }
  t.create<tile::OrderFenceOp>();

  // Against the state before the chunk.
  Steps accesses;
  SmallVector<Value> newK, newAqk, newDecay, newQ, newW;
  planDecayCopy(carried.offset, hasNext(1), carried.stage, 1, newDecay,
                accesses);
  planCopies(k, carried.offset, hasNext(1), carried.stage, 1, newK, accesses);
  if (hasOut()) {
    planCopies(aqk, carried.offset, hasNext(1), carried.stage, 1, newAqk,
               accesses);
    accesses.push_back(planStore(carried, i));
  }
  Value rounded = narrow(carried.state);
  Value o = zeros(type(outs, f32));
  Value v = zeros(type(values, f32));
  Value decayed, vRounded;
  Steps products, rest;
  if (hasOut()) {
    planProduct(rounded, read(q, carried.stage), o, 8, rest);
    products.append(rest.begin(), rest.begin() + 4);
  }
  planProduct(rounded, read(w, carried.stage), v, 8, products);
  products.push_back([&] {
    vRounded = narrow(t.addf(v, t.extend(u)));
    Value decay = t.create<tile::LdsLoadOp>(
        type(state.slice({0}), f32), stageOf(decayBuffer, carried.stage),
        Value(), t.builder().getDenseI64ArrayAttr({0}), DenseI64ArrayAttr());
    decayed = t.mulf(carried.state, t.broadcast(decay, {1}, carried.state));
    if (carried.carry) {
      carried.carry = t.mulf(carried.carry, decay);
    }
  });
  products.append(rest.begin() + rest.size() / 2, rest.end());
  interleave(products, accesses);

  // Within the chunk.
  await({carried.k, carried.aqk});
  accesses.clear();
  products.clear();
  if (hasOut()) {
    planCopies(q, carried.offset, hasNext(2), carried.stage, 2, newQ, accesses);
  }
  planCopies(w, carried.offset, hasNext(2), carried.stage, 2, newW, accesses);
  if (hasOut()) {
    planProduct(vRounded, read(aqk, carried.stage), o, 4, products);
    products.push_back([&] {
      if (shape.outputNorm) {
        storeSquares(o);
        o = t.mulf(o, gate(rawGate));
      }
    });
  }
  planProduct(vRounded, read(k, carried.stage), decayed, 8, products);
  interleave(products, accesses);

  carried.state = decayed;
  carried.stage = sub(one, carried.stage);
  carried.offset = t.add(carried.offset, blockBytes);
  if (hasOut()) {
    carried.out = o;
    carried.rowOffset =
        t.add(carried.rowOffset, t.wideMul(args["out_stride"], t.i64(T)));
  }
  if (hasOut() && shape.outputNorm) {
    carried.gateOffset =
        t.add(carried.gateOffset, t.wideMul(args["out_gate_stride"], t.i64(T)));
  }
  carried.q = carried.nextQ;
  carried.w = carried.nextW;
  carried.decay = newDecay;
  carried.k = newK;
  carried.aqk = newAqk;
  carried.nextQ = newQ;
  carried.nextW = newW;
}

/// Of groups, states f32 [v, k]: that at the beginning of the group \p ahead
/// behind the workgroup's.
Value Walk::entryView(int64_t ahead, Value reaches) {
  Value at = t.wideMul(t.add(group, t.i64(ahead)), t.i64(D * D * 4));
  return t.view(t.advance(args["entry"], at), {index(D), index(1)},
                t.select(reaches, t.i32(D * D * 4), zero));
}

/// The state that the workgroup begins with.
Value Walk::loadState() {
  auto load = [&](Value view) {
    return t.load(view, {zero, zero}, {D, D}, attr(state));
  };
  if (shape.pass == WalkPass::Whole) {
    return keepIfInitial(load(stateView(initialSlot, readsInitial)));
  }
  if (shape.pass == WalkPass::Replay) {
    Value given = keepIfInitial(load(
        stateView(initialSlot, both(readsInitial, both(isFirst, isOnly)))));
    Value entry = load(entryView(0, both(isActive, no(isOnly))));
    return t.select(isOnly, given, entry);
  }
  Value isGiven = both(both(isActive, isFirst), readsInitial);
  Value given = keepIfInitial(load(stateView(initialSlot, isGiven)));
  // The first group's replay reads it here: the slot has the final state by
  // then, or not.
  t.store(given, entryView(0, both(isActive, isFirst)), {zero, zero});
  auto coordinates = RankedTensorType::get({D, D}, i32Type, attr(state));
  Value isDiagonal =
      compare(arith::CmpIPredicate::eq, t.create<tile::IotaOp>(coordinates, 0),
              t.create<tile::IotaOp>(coordinates, 1));
  Value identity = t.create<arith::SelectOp>(isDiagonal, t.constant(1.0, given),
                                             t.constant(0.0, given));
  // For the end: masks of all elements do not fit registers there.
  identityBuffer = allocate({D, D}, f32, 1);
  t.create<tile::LdsStoreOp>(identity, identityBuffer);
  // Of groups behind the first what is given is zero.
  Value one = t.select(isTransform, t.f32(1.0), t.f32(0.0));
  return t.fma(identity, t.splat(one, given), given);
}

/// Of groups, what the walk has made of the zero state or of the identity.
void Walk::storeGroup(const Carried &carried) {
  Value makesState = both(isActive, no(isTransform));
  t.store(carried.state, entryView(1, makesState), {zero, zero});
  Value makesTransform = both(isActive, isTransform);
  Value carryView =
      t.view(t.advance(args["carry"], t.wideMul(group, t.i64(D * 4))),
             {index(1)}, t.select(makesTransform, t.i32(D * 4), zero));
  t.store(carried.carry, carryView, {zero});
  // The diagonal is not rounded.
  Value identity = t.create<tile::LdsLoadOp>(type(state, f32), identityBuffer);
  Value carry = t.broadcast(carried.carry, {1}, carried.state);
  Value rest = t.fma(identity, t.mulf(carry, -1.0), carried.state);
  Value transform = t.convertLayout(narrow(rest), attr(transformLayout()));
  Value view = t.view(
      t.advance(args["transform"], t.wideMul(group, t.i64(D * D * 2))),
      {index(1), index(D)}, t.select(makesTransform, t.i32(D * D * 2), zero));
  t.store(transform, view, {zero, zero});
}

void Walk::write(tile::KernelOp kernel) {
  OpBuilder &b = t.builder();
  b.setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  identify();
  if (hasOut()) {
    writeZeros();
    updateHistory();
  }
  allocateBuffers();
  Carried carried;
  prefetch(carried);
  carried.state = loadState();
  if (isGroups()) {
    auto perColumn = RankedTensorType::get({D}, f32, attr(state.slice({0})));
    carried.carry = t.create<arith::ConstantOp>(
        DenseElementsAttr::get(perColumn, b.getF32FloatAttr(1.0f).getValue()));
  } else {
    carried.out = zeros(type(outs, f32));
  }
  if (hasOut() && shape.outputNorm) {
    int64_t bytes = cast<tile::PtrType>(args["norm_weight"].getType())
                        .getElementType()
                        .getIntOrFloatBitWidth() /
                    8;
    Value view = t.view(args["norm_weight"], {index(1)}, t.i32(D * bytes));
    normWeight = t.extend(t.load(view, {zero}, {D}, attr(outs.slice({1}))));
  }
  carried.gateOffset = t.i64(0);

  auto valuesOf = [&](ArrayRef<Value *> places) {
    return llvm::map_to_vector(places, [](Value *place) { return *place; });
  };
  SmallVector<Value *> places = carried.all();
  auto loop = t.create<scf::ForOp>(zero, chunks, one, valuesOf(places));
  for (auto [place, value] :
       llvm::zip_equal(places, loop.getRegionIterArgs())) {
    *place = value;
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    chunk(carried, loop.getInductionVar());
    t.create<scf::YieldOp>(valuesOf(carried.all()));
  }
  places = carried.all();
  for (auto [place, value] : llvm::zip_equal(places, loop.getResults())) {
    *place = value;
  }
  SmallVector<Value> late;
  for (Value *place : places) {
    if (isa<tile::TokenType>(place->getType())) {
      late.push_back(*place);
    }
  }
  t.create<tile::WaitCopiesOp>(late);
  if (isGroups()) {
    storeGroup(carried);
  } else {
    t.create<tile::BarrierOp>();
    planStore(carried, chunks)();
    t.store(carried.state, stateView(slot, both(no(null), isLast)),
            {zero, zero});
  }
  t.create<tile::ReturnOp>();
}

void kda::writeWalk(tile::KernelOp kernel, const WalkShape &shape,
                    OpBuilder &builder) {
  Walk(shape, builder, kernel.getLoc()).write(kernel);
}
