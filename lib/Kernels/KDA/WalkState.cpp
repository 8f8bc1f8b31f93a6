//===- WalkState.cpp - what a walk begins and ends with ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Groups.h"
#include "History.h"
#include "OneDie.h"
#include "WalkProgram.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;
using layout::Basis;

/// Of \p rows rows of a transform [k', k]: eight values k' side by side in a
/// lane.
static layout::Layout transformLayout(int64_t rows, int64_t waves) {
  SmallVector<Basis> lanes;
  for (int64_t bit = 8; bit < rows; bit *= 2) {
    lanes.push_back({bit, 0});
  }
  SmallVector<Basis> registers{{1, 0}, {2, 0}, {4, 0}};
  SmallVector<Basis> inWaves;
  for (int64_t bit = 1; bit < D; bit *= 2) {
    auto &bases = lanes.size() < 6                        ? lanes
                  : inWaves.size() < llvm::Log2_64(waves) ? inWaves
                                                          : registers;
    bases.push_back({0, bit});
  }
  return llvm::cantFail(
      layout::Layout::create({rows, D}, registers, lanes, inWaves, {}));
}

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

/// Finds the workgroup's place: its rows of a head of a sequence, and of what
/// group.
void Walk::identifyWorkgroup() {
  Value x = t.workgroupId(0);
  sequence = t.workgroupId(1);
  groupNumber = t.workgroupId(2);
  if (!isGroups()) {
    head = x;
    firstV = zero;
    return;
  }
  int64_t perHead = 2 * D / rows;
  int64_t width = shape.heads * perHead;
  if (shape.sharesDie) {
    Value sequences = args["sequences"];
    Value further = sub(args["groups"], one);
    Value line = t.add(sequence, t.mul(groupNumber, sequences));
    Value number = t.add(x, t.mul(line, t.i32(width)));
    Value total = t.mul(t.mul(sequences, further), t.i32(width));
    number = onOneDie(t, number, total, perHead, shape.dies);
    line = t.create<arith::DivUIOp>(number, t.i32(width));
    x = sub(number, t.mul(line, t.i32(width)));
    groupNumber = t.create<arith::DivUIOp>(line, sequences);
    sequence = sub(line, t.mul(groupNumber, sequences));
  }
  Value part = t.create<arith::AndIOp>(x, t.i32(perHead - 1));
  head = t.create<arith::ShRUIOp>(x, t.i32(llvm::Log2_64(perHead)));
  isTransform = compare(arith::CmpIPredicate::ne,
                        t.create<arith::AndIOp>(part, one), zero);
  firstV = t.mul(t.create<arith::ShRUIOp>(part, one), t.i32(rows));
}

/// Finds the chunks of the workgroup.
void Walk::identifyGroup() {
  Value number = groupNumber;
  Value mostGroups = args["groups"];
  Groups groups = groupsOf(t, sequenceChunks, mostGroups, args["least_chunks"]);
  firstChunk = t.mul(number, groups.each);
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
}

void Walk::identify() {
  zero = t.i32(0);
  one = t.i32(1);
  identifyWorkgroup();
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
        {t.index(1)}, one);
    Value flag = t.extract(t.load(flags, {zero}, {1}), 0, 0);
    Value off = t.create<arith::ConstantOp>(
        DenseElementsAttr::get(cast<RankedTensorType>(flag.getType()),
                               t.builder().getI8IntegerAttr(0).getValue()));
    hasInitial = compare(arith::CmpIPredicate::ne, flag, off);
  }

  identifyGroup();
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
  uBase = base("u", blockSize);
  if (hasOut() && shape.outputNorm) {
    gateBase = base("gate", blockSize);
  }
  decayBase = base("decay", D * 4);
  blockBytes = t.i64(shape.heads * blockSize);
}

/// \p tile as read from the initial slot, zeros where the sequence has none.
Value Walk::keepIfInitial(Value tile) {
  if (!hasInitial) {
    return tile;
  }
  return t.create<arith::SelectOp>(
      t.splat(hasInitial, tile), tile,
      t.zeros(cast<RankedTensorType>(tile.getType())));
}

Value Walk::stateView(StringRef pool, Value slot, Value reaches) {
  bool vk = shape.stateOrder == spec::StateOrder::VK;
  Value stride = args[(pool + "_stride").str()];
  Value pointer =
      t.advance(args[pool], t.add(t.wideMul(slot, stride),
                                  t.wideMul(head, t.i32(D * D * 4))));
  return t.view(pointer, {t.index(vk ? D : 1), t.index(vk ? 1 : D)},
                t.select(reaches, t.i32(D * D * 4), zero));
}

/// The raw inputs of \p token from the head's first channel of q to its last of
/// v; none unless it \p isThere.
Value Walk::inputsOf(Value token, Value isThere) {
  int64_t channels = 2 * shape.heads * D + D;
  Value row = t.select(isThere, token, zero);
  if (hasRows()) {
    // There may be no token at all: any word that can be read.
    Value named = t.create<arith::SelectOp>(
        isThere, t.advance(args["row"], t.wideMul(row, t.i32(4))),
        args["cu_seqlens"]);
    row = t.create<tile::LoadScalarOp>(i32Type, named);
    row = t.select(isThere, row, zero);
  }
  Value pointer = t.advance(args["qkv"], t.wideMul(row, args["qkv_stride"]));
  return t.view(t.advance(pointer, t.wideMul(head, t.i32(2 * D))), {t.index(1)},
                t.select(isThere, t.i32(channels * 2), zero));
}

/// The last three raw inputs of the head's channels: of a sequence of fewer
/// tokens, old ones behind which those follow.
void Walk::updateHistory() {
  int64_t width = shape.heads * D;
  Value storedColumns = args.lookup("columns");
  HistoryWindow window =
      historyWindow(t, shape.convLayout, shape.heads, storedColumns);
  auto windowOf = [&](Value slot, Value reaches) {
    Value pointer =
        historyPointer(t, shape.convLayout, args, storedColumns, slot, head);
    return t.view(pointer, {window.channelStride, window.columnStride},
                  t.select(reaches, window.reach, zero));
  };
  Value from = windowOf(initialSlot, both(readsInitial, isFirst));
  Value to = windowOf(slot, both(no(null), isFirst));

  // Row `tokens - 3 + column`, where the sequence has one.
  Value view[3];
  for (int64_t column = 0; column < 3; ++column) {
    Value isThere = both(
        isFirst, compare(arith::CmpIPredicate::sgt, tokens, t.i32(2 - column)));
    Value last = t.add(t.add(firstToken, tokens), t.i32(column - 3));
    view[column] = inputsOf(last, isThere);
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
  Value names = hasRows() ? loadRowNames(before, left) : Value();
  storeOut(t.zeros(t.tileType(outs, bf16)),
           t.wideMul(before, args["out_stride"]), left, names);
}

/// The rows, i32 [64], of tokens from \p before behind the group's first on:
/// negative ones behind \p count tokens.
Value Walk::loadRowNames(Value before, Value count) {
  auto type =
      RankedTensorType::get({T}, i32Type, t.layoutAttr(rowLayout().slice({1})));
  Value isSome = compare(arith::CmpIPredicate::sgt, count, zero);
  Value first = t.add(firstRow, t.select(isSome, before, zero));
  Value view =
      t.view(t.advance(args["row"], t.wideMul(first, t.i32(4))), {t.index(1)},
             t.select(isSome, t.mul(count, t.i32(4)), zero));
  Value named = t.load(view, {zero}, {T}, t.layoutAttr(rowLayout().slice({1})));
  Value inside =
      compare(arith::CmpIPredicate::slt, t.create<tile::IotaOp>(type, 0),
              t.splat(count, named));
  return t.create<arith::SelectOp>(inside, named, t.splat(t.i32(-1), named));
}

/// Stores \p out, bf16 [v, t], to \p count rows of the head's columns: of rows
/// that lie in order those from \p offset bytes behind the group's first on,
/// else those of \p names.
void Walk::storeOut(Value out, Value offset, Value count, Value names) {
  if (!names) {
    t.store(out, rowsView("out", offset, count), {zero, zero});
    return;
  }
  layout::Layout transposed =
      tile::getLayout(out.getType()).getLayout().transposed({1, 0});
  Value rows = t.create<tile::TransposeOp>(
      RankedTensorType::get({T, D}, bf16, t.layoutAttr(transposed)), out,
      ArrayRef<int64_t>{1, 0});
  Value stride = args["out_stride"];
  Value elements = t.mul(t.create<arith::ShRUIOp>(stride, t.i32(4)), t.i32(8));
  Value view = t.view(t.advance(args["out"], t.wideMul(head, t.i32(2 * D))),
                      {elements, t.index(1)}, t.i32(2 * D));
  t.storeFarRows(t.convertLayout(rows, t.layoutAttr(rowLayout())), view, names,
                 {zero, zero});
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
  return t.view(t.advance(first, offset), {t.index(1), elements},
                t.select(isEmpty, zero, bytes));
}
/// Of groups, states f32 [v, k]: that at the beginning of the group \p ahead
/// behind the workgroup's.
Value Walk::entryView(int64_t ahead, Value reaches) {
  Value at = t.wideMul(t.add(group, t.i64(ahead)), t.i64(D * D * 4));
  return t.view(t.advance(args["entry"], at), {t.index(D), t.index(1)},
                t.select(reaches, t.i32(D * D * 4), zero));
}

/// The state that the workgroup begins with.
Value Walk::loadState() {
  auto load = [&](Value view) {
    return t.load(view, {firstV, zero}, {rows, D}, t.layoutAttr(state));
  };

  if (shape.pass == WalkPass::Replay) {
    Value given = keepIfInitial(load(stateView(
        "state", initialSlot, both(readsInitial, both(isFirst, isOnly)))));
    Value entry = load(entryView(0, both(isActive, no(isOnly))));
    return t.select(isOnly, given, entry);
  }
  Value isGiven = both(both(isActive, isFirst), readsInitial);
  Value given = keepIfInitial(load(stateView("state", initialSlot, isGiven)));
  // The first group's replay reads it here: the slot has the final state by
  // then, or not.
  t.store(given, entryView(0, both(isActive, isFirst)), {firstV, zero});
  // Of groups behind the first what is given is zero.
  return t.addf(given, diagonal(t.select(isTransform, zero, t.i32(2 * D)),
                                t.constant(1.0, given)));
}

/// \p values where column and row differ by \p distance, i32, else zeros.
Value Walk::diagonal(Value distance, Value values) {
  auto coordinates =
      RankedTensorType::get({rows, D}, i32Type, t.layoutAttr(state));
  Value row = t.create<tile::IotaOp>(coordinates, 0);
  row = t.add(row, t.splat(t.add(firstV, distance), row));
  Value isOnIt = compare(arith::CmpIPredicate::eq, row,
                         t.create<tile::IotaOp>(coordinates, 1));
  return t.create<arith::SelectOp>(isOnIt, values,
                                   t.zeros(t.tileType(state, f32)));
}

/// Of groups, what the walk has made of the zero state or of the identity.
void Walk::storeGroup(const Carried &carried) {
  Value makesState = both(isActive, no(isTransform));
  t.store(carried.state, entryView(1, makesState), {firstV, zero});
  Value makesTransform = both(isActive, isTransform);
  Value isFirstPart = compare(arith::CmpIPredicate::eq, firstV, zero);
  Value carryView = t.view(
      t.advance(args["carry"], t.wideMul(group, t.i64(D * 4))), {t.index(1)},
      t.select(both(makesTransform, isFirstPart), t.i32(D * 4), zero));
  t.store(carried.carry, carryView, {zero});
  // The diagonal is not rounded.
  Value carry = t.broadcast(carried.carry, {1}, carried.state);
  Value rest = t.subf(carried.state, diagonal(zero, carry));
  Value transform =
      t.convertLayout(narrow(rest), t.layoutAttr(transformLayout(rows, waves)));
  Value view =
      t.view(t.advance(args["transform"],
                       t.wideMul(group, t.i64(D * D * operandBytes))),
             {t.index(1), t.index(D)},
             t.select(makesTransform, t.i32(D * D * operandBytes), zero));
  t.store(transform, view, {firstV, zero});
}
