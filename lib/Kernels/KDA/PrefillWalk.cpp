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
// A wave has 32 (or 16) rows v of all of them. Rows v lie in lanes as columns
// of the instruction for V and S, so that accumulators are the left operands of
// the products that follow, where they lie. They are permuted such that they
// also are the rows of the instruction for o, of which a lane then holds eight
// values side by side (or four).
//
// Right operands go through LDS in two stages. A buffer is filled again as soon
// as all waves have read it: half of them behind the barrier in the middle of a
// chunk, half behind the one at its end, so that a copy has one and a half
// chunks to arrive.
//
//===----------------------------------------------------------------------===//

#include "WalkProgram.h"

#include "../KernelArguments.h"

#include "tenon/Layout/Mfma.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;
using layout::Basis;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Rows of a wave as bits: the first two lie in four registers side by side, of
/// 32 rows the third in a register too, the last two in lanes.
static int64_t laneRows(int64_t rows, unsigned waves) {
  return rows / waves / 4;
}

/// Waves along dim 0 of rank 2, \p rows each.
static SmallVector<Basis> wavesAlong(int64_t rows, unsigned waves) {
  SmallVector<Basis> bases;
  for (unsigned bit = 1; bit < waves; bit *= 2) {
    bases.push_back({rows * bit, 0});
  }
  return bases;
}

layout::Layout kda::sumLayout(int64_t rows, unsigned waves, int64_t extent) {
  SmallVector<Basis> registers{{0, 1}, {0, 2}, {0, 4}};
  for (int64_t bit = 32; bit < extent; bit *= 2) {
    registers.push_back({0, bit});
  }
  int64_t inLanes = laneRows(rows, waves);
  if (inLanes == 8) {
    registers.push_back({4, 0});
  }
  SmallVector<Basis> lanes{{1, 0},           {2, 0}, {inLanes, 0},
                           {2 * inLanes, 0}, {0, 8}, {0, 16}};
  return llvm::cantFail(layout::Layout::create(
      {rows, extent}, registers, lanes, wavesAlong(rows / waves, waves), {}));
}

layout::Layout kda::outLayout(int64_t rows, unsigned waves) {
  SmallVector<Basis> registers{{1, 0}, {2, 0}};
  int64_t inLanes = laneRows(rows, waves);
  if (inLanes == 8) {
    registers.push_back({4, 0});
  }
  registers.append({{0, 16}, {0, 32}});
  SmallVector<Basis> lanes{{0, 1}, {0, 2},       {0, 4},
                           {0, 8}, {inLanes, 0}, {2 * inLanes, 0}};
  return llvm::cantFail(layout::Layout::create(
      {rows, T}, registers, lanes, wavesAlong(rows / waves, waves), {}));
}

/// Of the sums of waves [wave, t]: a lane has those of all waves for its t.
static layout::Layout sharedSumsLayout(int64_t waves) {
  SmallVector<Basis> registers;
  for (int64_t bit = 1; bit < waves; bit *= 2) {
    registers.push_back({bit, 0});
  }
  registers.append({{0, 16}, {0, 32}});
  return llvm::cantFail(layout::Layout::create(
      {waves, T}, registers, {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 0}, {0, 0}},
      SmallVector<Basis>(llvm::Log2_64(waves), Basis{0, 0}), {}));
}
//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

SmallVector<Value *> Walk::Carried::all() {
  SmallVector<Value *> all{&state, &stage, &offset};
  if (out) {
    all.push_back(&out);
  }
  if (rowOffset) {
    all.push_back(&rowOffset);
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
    stream->buffer = allocate({stream->rows, stream->columns}, operand, stages);
  }
  // What copies of all waves come to: the rest is zeros.
  decayBuffer = allocate({waves * 64}, f32, stages);
  if (hasOut() && shape.outputNorm) {
    auto layout =
        llvm::cantFail(layout::LdsLayout::create({waves, T}, {1, waves}, 32));
    sumsBuffer =
        allocate({waves, T}, f32, 1,
                 tile::LdsLayoutAttr::get(t.builder().getContext(), layout));
    // Read ahead of the first chunk, for nothing.
    t.create<tile::LdsStoreOp>(t.zeros(RankedTensorType::get({waves, T}, f32)),
                               sumsBuffer);
  }
}

Value Walk::stageOf(Value buffer, Value stage, int64_t shift) {
  return stages == 1 ? buffer
                     : t.create<tile::LdsStageOp>(buffer, stage, shift);
}

/// Adds to \p steps the copies of the block \p ahead chunks behind that at
/// \p offset; of zeros unless it \p isThere.
void Walk::planCopies(Stream &stream, Value offset, Value isThere, Value stage,
                      int64_t ahead, SmallVector<Value> &tokens, Steps &steps) {
  Value base = t.advance(stream.base, ahead * shape.heads * stream.bytes());
  // Offsets are of blocks of [128, 64].
  int64_t shift = llvm::Log2_64(blockSize / stream.bytes());
  Value bytes = shift ? t.create<arith::ShRUIOp>(offset, t.i64(shift)) : offset;
  Value view =
      t.view(t.advance(base, bytes), {t.index(1), t.index(stream.rows)},
             t.select(isThere, t.i32(stream.bytes()), zero));
  Value buffer = stageOf(stream.buffer, stage, ahead % 2);
  int64_t count = stream.instructions(waves);
  tokens.assign(count, Value());
  for (int64_t part = 0; part < count; ++part) {
    steps.push_back([=, this, &tokens] {
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
  int64_t shift = llvm::Log2_64(blockSize / (D * 4));
  Value bytes = t.create<arith::ShRUIOp>(offset, t.i64(shift));
  Value view = t.view(t.advance(base, bytes), {t.index(1)},
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

/// \p stream as the right operand of a product whose sums are laid out as
/// \p sums.
Value Walk::read(const Stream &stream, Value stage,
                 const layout::Layout &sums) {
  layout::MfmaOperands operands = llvm::cantFail(
      layout::mfmaOperands(sums, 16, 32, stream.rows, layout::MfmaFormat::F16,
                           layout::MfmaFormat::F16));
  return t.create<tile::LdsLoadOp>(t.tileType(operands.rhs, operand),
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
          b.getDenseI64ArrayAttr({part, parts}),
          operand.isF32() ? b.getF64FloatAttr(termAccuracy) : FloatAttr());
    });
  }
}

/// Spreads \p accesses evenly over \p products.
void Walk::interleave(const Steps &products, const Steps &accesses) {
  size_t done = 0;
  // With one stage nothing is awaited that accesses would be kept from: they
  // come first, and fences keep what is read from being read too early.
  if (stages == 1) {
    for (const std::function<void()> &access : accesses) {
      access();
      t.create<tile::OrderFenceOp>();
    }
    done = accesses.size();
  }
  for (auto [number, product] : llvm::enumerate(products)) {
    product();
    if (stages == 1) {
      t.create<tile::OrderFenceOp>();
    }
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
  carried.stage = zero;
  carried.offset = start;
  if (hasOut() && !hasRows()) {
    carried.rowOffset = start;
  }
  if (stages == 1) {
    return;
  }
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
}

/// Where buffers have one stage: copies the blocks of a chunk once all waves
/// have read those of the chunk before.
void Walk::copyChunk(Carried &carried) {
  Steps steps;
  Value isThere = t.create<arith::ConstantIntOp>(1, 1);
  if (hasOut()) {
    planCopies(q, carried.offset, isThere, zero, 0, carried.q, steps);
    planCopies(aqk, carried.offset, isThere, zero, 0, carried.aqk, steps);
  }
  planCopies(w, carried.offset, isThere, zero, 0, carried.w, steps);
  planDecayCopy(carried.offset, isThere, zero, 0, carried.decay, steps);
  planCopies(k, carried.offset, isThere, zero, 0, carried.k, steps);
  t.create<tile::BarrierOp>();
  for (const std::function<void()> &step : steps) {
    step();
  }
}

//===----------------------------------------------------------------------===//
// A chunk
//===----------------------------------------------------------------------===//

/// Puts the sums of squares of \p o over each wave's rows v into LDS.
void Walk::storeSquares(Value o) {
  auto blocks = RankedTensorType::get({waveRows, waves, T}, f32);
  Value split = t.create<tile::SplitOp>(blocks, o, 0, waveRows);
  Value sums =
      t.create<tile::DotOp>(RankedTensorType::get({waves, T}, f32), split,
                            split, t.builder().getDenseI64ArrayAttr({0}));
  t.create<tile::LdsStoreOp>(sums, sumsBuffer);
}

/// Rows that the group has of \p chunk, none of one before its first.
Value Walk::rowsOf(Value chunk) {
  Value left = sub(rowsLeft, t.mul(chunk, t.i32(T)));
  Value isThere = compare(arith::CmpIPredicate::sge, chunk, zero);
  return t.select(isThere, t.create<arith::MinSIOp>(left, t.i32(T)), zero);
}

/// The offset of rows one chunk ahead of those at \p offset; none where rows
/// have names.
Value Walk::rowsBefore(Value offset) {
  return offset ? sub(offset, t.wideMul(args["out_stride"], t.i64(T)))
                : Value();
}

/// Finishes \p out, the rows of \p chunk (-1: of none), which begin \p offset
/// bytes behind the group's first in the operand out, or are those of \p names
/// where rows have any; gives the step that stores them.
std::function<void()> Walk::planStore(Value out, Value chunk, Value offset,
                                      Value names) {
  Value count = rowsOf(chunk);
  Value result = out;
  if (shape.outputNorm) {
    layout::Layout shared = sharedSumsLayout(waves);
    Value sums = t.create<tile::LdsLoadOp>(t.tileType(shared, f32), sumsBuffer);
    Value sum = t.create<tile::ReduceOp>(t.tileType(shared.slice({0}), f32),
                                         tile::ReduceKind::Add, sums,
                                         t.builder().getDenseI64ArrayAttr({0}));
    Value scale = t.rsqrt(
        t.fma(sum, t.constant(1.0 / D, sum), t.constant(shape.normEps, sum)));
    result = t.mulf(result, t.broadcast(scale, {1}, result));
  }
  result = t.round(result, bf16);
  return [=, this] { storeOut(result, offset, count, names); };
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
  bool isAhead = stages == 2;
  if (!isAhead) {
    copyChunk(carried);
  }
  await({carried.q, carried.w, carried.decay});

  // Into registers first: behind the copies they would arrive late.
  Value uBytes = t.i32(blockSize);
  if (isGroups()) {
    uBytes = t.select(isTransform, zero, uBytes);
  }
  Value uView = t.view(t.advance(uBase, carried.offset),
                       {t.index(T), t.index(1)}, uBytes);
  Value u, gate, names;
  auto loadU = [&] {
    u = t.load(uView, {firstV, zero}, {rows, T}, t.layoutAttr(values));
  };
  auto loadGate = [&] {
    Value view = t.view(t.advance(gateBase, carried.offset),
                        {t.index(1), t.index(D)}, t.i32(blockSize));
    gate = t.load(view, {zero, zero}, {D, T}, t.layoutAttr(outs));
  };
  if (isAhead) {
    loadU();
  }
  if (isAhead && hasOut() && shape.outputNorm) {
    loadGate();
  }
  if (storesLate() && hasRows()) {
    names = loadRowNames(sub(i, one));
  }
  t.create<tile::OrderFenceOp>();

  // Against the state before the chunk.
  Steps accesses;
  SmallVector<Value> newK, newAqk, newDecay, newQ, newW;
  // First, since its registers are wanted.
  if (storesLate()) {
    accesses.push_back(planStore(carried.out, sub(i, one),
                                 rowsBefore(carried.rowOffset), names));
  }
  if (isAhead) {
    planDecayCopy(carried.offset, hasNext(1), carried.stage, 1, newDecay,
                  accesses);
    planCopies(k, carried.offset, hasNext(1), carried.stage, 1, newK, accesses);
  }
  if (isAhead && hasOut()) {
    planCopies(aqk, carried.offset, hasNext(1), carried.stage, 1, newAqk,
               accesses);
  }
  Value rounded = narrow(carried.state);
  Value o = t.zeros(t.tileType(outs, f32));
  Value v = t.zeros(t.tileType(values, f32));
  Value decayed, vRounded;
  Steps products, rest;
  if (hasOut()) {
    planProduct(rounded, read(q, carried.stage, outs), o, 8, rest);
    products.append(rest.begin(), rest.begin() + 4);
  }
  planProduct(rounded, read(w, carried.stage, values), v, 8, products);
  products.push_back([&] {
    if (!u) {
      loadU();
    }
    vRounded = narrow(t.addf(v, t.extend(u)));
    Value decay = t.create<tile::LdsLoadOp>(
        t.tileType(state.slice({0}), f32), stageOf(decayBuffer, carried.stage),
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
  if (isAhead && hasOut()) {
    planCopies(q, carried.offset, hasNext(2), carried.stage, 2, newQ, accesses);
  }
  if (isAhead) {
    planCopies(w, carried.offset, hasNext(2), carried.stage, 2, newW, accesses);
  }
  if (hasOut()) {
    planProduct(vRounded, read(aqk, carried.stage, outs), o, 4, products);
    products.push_back([&] {
      if (shape.outputNorm) {
        storeSquares(o);
        if (!gate) {
          loadGate();
        }
        o = t.mulf(o, t.extend(gate));
      }
    });
  }
  planProduct(vRounded, read(k, carried.stage, state), decayed, 8, products);
  interleave(products, accesses);

  if (storesLate()) {
    carried.out = o;
  } else if (hasOut()) {
    if (shape.outputNorm) {
      t.create<tile::BarrierOp>();
    }
    planStore(o, i, carried.rowOffset, hasRows() ? loadRowNames(i) : Value())();
  }
  carried.state = decayed;
  carried.stage = sub(one, carried.stage);
  carried.offset = t.add(carried.offset, blockBytes);
  if (carried.rowOffset) {
    carried.rowOffset =
        t.add(carried.rowOffset, t.wideMul(args["out_stride"], t.i64(T)));
  }
  carried.q = carried.nextQ;
  carried.w = carried.nextW;
  carried.decay = newDecay;
  carried.k = newK;
  carried.aqk = newAqk;
  carried.nextQ = newQ;
  carried.nextW = newW;
}
/// A loop from \p begin to \p end that carries \p values through \p body, which
/// gets its number; what it ends with.
SmallVector<Value>
Walk::carry(Value begin, Value end, ValueRange values,
            llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = t.create<scf::ForOp>(begin, end, one, values);
  OpBuilder::InsertionGuard guard(t.builder());
  t.builder().setInsertionPointToEnd(loop.getBody());
  t.create<scf::YieldOp>(
      body(loop.getInductionVar(), loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> Walk::Carried::values() {
  return llvm::map_to_vector(all(), [](Value *place) { return *place; });
}

void Walk::Carried::assign(ValueRange values) {
  for (auto [place, value] : llvm::zip_equal(all(), values)) {
    *place = value;
  }
}

/// Chunks \p begin to \p end of the group.
void Walk::walkChunks(Carried &carried, Value begin, Value end) {
  carried.assign(
      carry(begin, end, carried.values(), [&](Value i, ValueRange values) {
        carried.assign(values);
        chunk(carried, i);
        return carried.values();
      }));
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
    auto perColumn =
        RankedTensorType::get({D}, f32, t.layoutAttr(state.slice({0})));
    carried.carry = t.create<arith::ConstantOp>(
        DenseElementsAttr::get(perColumn, b.getF32FloatAttr(1.0f).getValue()));
  }
  if (storesLate()) {
    carried.out = t.zeros(t.tileType(outs, f32));
  }
  if (hasCheckpoints()) {
    walkToCheckpoints(carried);
  } else {
    walkChunks(carried, zero, chunks);
  }
  SmallVector<Value> late;
  for (Value *place : carried.all()) {
    if (isa<tile::TokenType>(place->getType())) {
      late.push_back(*place);
    }
  }
  t.create<tile::WaitCopiesOp>(late);
  if (isGroups()) {
    storeGroup(carried);
  } else {
    if (storesLate()) {
      t.create<tile::BarrierOp>();
      Value last = sub(chunks, one);
      planStore(carried.out, last, rowsBefore(carried.rowOffset),
                hasRows() ? loadRowNames(last) : Value())();
    }
    t.store(carried.state, stateView("state", slot, both(no(null), isLast)),
            {zero, zero});
  }
  t.create<tile::ReturnOp>();
}

void kda::writeWalk(tile::KernelOp kernel, const WalkShape &shape,
                    OpBuilder &builder) {
  Walk(shape, builder, kernel.getLoc()).write(kernel);
}
