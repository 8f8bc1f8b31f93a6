//===- WalkCheckpoints.cpp - states kept on the way -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chunks of a group are walked from checkpoint to checkpoint, in the order
// of their offsets, which the device finds: the loop over chunks is what it is
// without them, and so is every bit of the state.
//
//===----------------------------------------------------------------------===//

#include "History.h"
#include "WalkProgram.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;

static constexpr int64_t never = std::numeric_limits<int32_t>::max();

/// Checkpoint \p number of the sequence: chunks of the group ahead of it, 0
/// where the group has nothing to write, and its slot.
std::pair<Value, Value> Walk::readCheckpoint(Value number) {
  Value entry = t.add(t.wideMul(sequence, args["checkpoints"]),
                      t.wideMul(number, t.i64(1)));
  auto field = [&](StringRef operand) -> Value {
    Value place = t.advance(args[operand], t.wideMul(entry, t.i64(4)));
    return t.create<tile::LoadScalarOp>(i32Type, place);
  };
  Value offset = field("checkpoint_offset");
  Value kept = field("checkpoint_slot");
  Value within = sub(t.create<arith::ShRUIOp>(offset, t.i32(llvm::Log2_64(T))),
                     firstChunk);
  Value rest = t.create<arith::AndIOp>(offset, t.i32(T - 1));
  // The group's chunks are none of a null slot.
  Value counts = both(compare(arith::CmpIPredicate::sge, kept, zero),
                      compare(arith::CmpIPredicate::eq, rest, zero));
  counts = both(counts, compare(arith::CmpIPredicate::sle, offset, tokens));
  counts = both(counts, compare(arith::CmpIPredicate::sgt, offset, zero));
  counts = both(counts, compare(arith::CmpIPredicate::sgt, within, zero));
  counts = both(counts, compare(arith::CmpIPredicate::sle, within, chunks));
  return {t.select(counts, within, zero), kept};
}

/// The checkpoint that follows number \p number, which has \p behind chunks
/// ahead of it: of several at one place that of the least number.
Walk::Checkpoint Walk::nextCheckpoint(Value behind, Value number) {
  SmallVector<Value> best{t.i32(never), number, zero};
  best = carry(
      zero, args["checkpoints"], best,
      [&](Value i, ValueRange best) -> SmallVector<Value> {
        auto [ahead, kept] = readCheckpoint(i);
        Value isLater = t.create<arith::OrIOp>(
            compare(arith::CmpIPredicate::sgt, ahead, behind),
            both(compare(arith::CmpIPredicate::eq, ahead, behind),
                 compare(arith::CmpIPredicate::sgt, i, number)));
        isLater =
            both(isLater, compare(arith::CmpIPredicate::sgt, ahead, zero));
        Value isNext =
            both(isLater, compare(arith::CmpIPredicate::slt, ahead, best[0]));
        return {t.select(isNext, ahead, best[0]), t.select(isNext, i, best[1]),
                t.select(isNext, kept, best[2])};
      });
  return {best[0], best[1], best[2]};
}

/// Writes \p state and the last three inputs of the chunks so far.
void Walk::storeCheckpoint(Value state, const Checkpoint &checkpoint) {
  Value isThere = compare(arith::CmpIPredicate::sle, checkpoint.chunks, chunks);
  t.store(state, stateView("checkpoint_state", checkpoint.slot, isThere),
          {zero, zero});
  Value past = t.add(
      firstRow, t.mul(t.select(isThere, checkpoint.chunks, zero), t.i32(T)));
  Value storedColumns = args.lookup("checkpoint_columns");
  HistoryWindow window =
      historyWindow(t, shape.convLayout, shape.heads, storedColumns);
  Value to = t.view(historyPointer(t, shape.convLayout, args, storedColumns,
                                   checkpoint.slot, head, "checkpoint_conv"),
                    {window.channelStride, window.columnStride},
                    t.select(isThere, window.reach, zero));
  Value inputs[3];
  for (int64_t column = 0; column < 3; ++column) {
    inputs[column] = inputsOf(t.add(past, t.i32(column - 3)), isThere);
  }
  for (int64_t part = 0; part < 3; ++part) {
    Value channel = t.i32(part * shape.heads * D);
    auto columns = llvm::map_to_vector(
        inputs, [&](Value view) { return t.load(view, {channel}, {D}); });
    t.store(t.stack(columns, 1), to, {channel, zero});
  }
}

/// All chunks of the group.
void Walk::walkToCheckpoints(Carried &carried) {
  Value stops =
      carry(zero, args["checkpoints"], one,
            [&](Value i, ValueRange count) -> SmallVector<Value> {
              Value ahead = readCheckpoint(i).first;
              return {t.add(count[0], t.create<arith::MinSIOp>(ahead, one))};
            })
          .front();
  SmallVector<Value> values = carried.values();
  values.append({zero, t.i32(-1)});
  values = carry(zero, stops, values, [&](Value, ValueRange values) {
    carried.assign(values.drop_back(2));
    Value begin = values[values.size() - 2];
    Checkpoint next = nextCheckpoint(begin, values.back());
    Value end = t.create<arith::MinSIOp>(next.chunks, chunks);
    walkChunks(carried, begin, end);
    storeCheckpoint(carried.state, next);
    SmallVector<Value> result = carried.values();
    result.append({end, next.number});
    return result;
  });
  carried.assign(ValueRange(values).drop_back(2));
}
