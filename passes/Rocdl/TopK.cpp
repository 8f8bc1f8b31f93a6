//===- TopK.cpp - the greatest elements of a tile ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element and its id are one integer of 64 bits, whose order is that of the
// results. Few elements can be among the greatest: when the threads are as many
// groups as there are results, every group has an element that is at least the
// smallest of the groups' maxima, and smaller elements are none of them. Those
// that are left are gathered in LDS, and each counts how many of the others are
// greater: its place among the results. Loops keep the code short, whose fetch
// would take longer than its execution.
//
//===----------------------------------------------------------------------===//

#include "passes/Rocdl/Emitter.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

static constexpr int64_t signBit = std::numeric_limits<int32_t>::min();

namespace {
/// Writes the operation. Methods are in the order of the program.
class TopK {
public:
  struct Places {
    Value elements, results, maxima, count; ///< pointers into LDS
  };

  TopK(OpBuilder &b, Location loc, Value thread, Value wave, unsigned waves,
       Places places, std::function<void(LLVM::AliasAnalysisOpInterface)> mark)
      : b(b), loc(loc), thread(thread), wave(wave), waves(waves),
        places(places), mark(std::move(mark)) {
    lane = LLVM::AndOp::create(b, loc, thread, i32(63));
  }

  /// The upper half of the integer for \p value.
  Value orderOf(Value value) {
    Type type = b.getI32Type();
    // -0 becomes 0, so that the two are equal.
    Value zero = LLVM::ConstantOp::create(b, loc, value.getType(),
                                          b.getF32FloatAttr(0.0F));
    Value sum = LLVM::FAddOp::create(b, loc, value, zero);
    Value bits = LLVM::BitcastOp::create(b, loc, type, sum);
    Value sign = LLVM::AShrOp::create(b, loc, bits, i32(31));
    Value flips = LLVM::OrOp::create(b, loc, sign, i32(signBit));
    Value order = LLVM::XOrOp::create(b, loc, bits, flips);
    Value isNumber =
        LLVM::FCmpOp::create(b, loc, LLVM::FCmpPredicate::ord, sum, sum);
    return LLVM::SelectOp::create(b, loc, isNumber, order, i32(0));
  }

  /// The inverse: f32 of \p order.
  Value valueOf(Value order) {
    Value sign = LLVM::AShrOp::create(b, loc, order, i32(31));
    Value flips = LLVM::OrOp::create(
        b, loc, LLVM::XOrOp::create(b, loc, sign, i32(-1)), i32(signBit));
    Value bits = LLVM::XOrOp::create(b, loc, order, flips);
    // What orderOf makes of NaN.
    Value isNan =
        LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, order, i32(0));
    bits = LLVM::SelectOp::create(b, loc, isNan, i32(0x7FC00000), bits);
    return LLVM::BitcastOp::create(b, loc, b.getF32Type(), bits);
  }

  Value leastMaximum(Value greatest);
  void gather(ArrayRef<Value> orders, ArrayRef<Value> ids, Value least,
              Value isOwner);
  void rank(int64_t count);
  /// Order and complement of the id of result \p lane modulo \p count.
  std::pair<Value, Value> result(int64_t count);

  Value i32(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                    b.getI32IntegerAttr(value));
  }
  Value uniform(Value value) {
    return ROCDL::ReadfirstlaneOp::create(b, loc, b.getI32Type(), value);
  }
  Value compare(LLVM::ICmpPredicate predicate, Value left, Value right) {
    return LLVM::ICmpOp::create(b, loc, predicate, left, right);
  }
  Value load(Value pointer, Value index, unsigned words);
  void store(Value value, Value pointer, Value index);
  void when(Value condition, llvm::function_ref<void()> body);
  Value loop(Value begin, Value end, Value step, Value carried,
             llvm::function_ref<Value(Value, Value)> body);

  OpBuilder &b;
  Location loc;
  Value thread, wave, lane;
  unsigned waves;
  Places places;
  std::function<void(LLVM::AliasAnalysisOpInterface)> mark;
  std::function<void()> barrier;
  std::function<Value(Value, unsigned, bool)> combine;
  /// Lane bits along which all lanes hold the same of what is combined.
  uint64_t uniformBits = 0;

private:
  Value at(Value pointer, Value index, unsigned words) {
    Value offset = LLVM::MulOp::create(b, loc, index, i32(4 * words));
    return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(),
                               pointer, ArrayRef<LLVM::GEPArg>{offset});
  }
  Value element(Value index, Value count);
};
} // namespace

Value TopK::load(Value pointer, Value index, unsigned words) {
  auto load = LLVM::LoadOp::create(b, loc, b.getIntegerType(32 * words),
                                   at(pointer, index, words),
                                   /*alignment=*/4 * words);
  mark(load);
  return load;
}

void TopK::store(Value value, Value pointer, Value index) {
  unsigned words = value.getType().getIntOrFloatBitWidth() / 32;
  mark(LLVM::StoreOp::create(b, loc, value, at(pointer, index, words),
                             /*alignment=*/4 * words));
}

void TopK::when(Value condition, llvm::function_ref<void()> body) {
  Block *before = b.getInsertionBlock();
  Block *after = before->splitBlock(b.getInsertionPoint());
  Block *then = b.createBlock(after);
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, condition, then, after);
  b.setInsertionPointToEnd(then);
  body();
  LLVM::BrOp::create(b, loc, after);
  b.setInsertionPointToStart(after);
}

Value TopK::loop(Value begin, Value end, Value step, Value carried,
                 llvm::function_ref<Value(Value, Value)> body) {
  Block *before = b.getInsertionBlock();
  Block *after = before->splitBlock(b.getInsertionPoint());
  Block *test = b.createBlock(after);
  Block *inner = b.createBlock(after);
  Value counter = test->addArgument(begin.getType(), loc);
  Value current = test->addArgument(carried.getType(), loc);
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, ValueRange{begin, carried}, test);
  b.setInsertionPointToEnd(test);
  LLVM::CondBrOp::create(
      b, loc, compare(LLVM::ICmpPredicate::slt, counter, end), inner, after);
  b.setInsertionPointToEnd(inner);
  Value next = body(counter, current);
  Value advanced = LLVM::AddOp::create(b, loc, counter, step);
  auto back = LLVM::BrOp::create(b, loc, ValueRange{advanced, next}, test);
  auto unroll = LLVM::LoopUnrollAttr::get(
      b.getContext(), /*disable=*/b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  back.setLoopAnnotationAttr(
      LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, unroll, {}, {},
                                    {}, {}, {}, {}, {}, {}, {}, {}, {}));
  b.setInsertionPointToStart(after);
  return current;
}

/// The smallest maximum of the groups of threads; \p greatest is that of a
/// thread after the lanes of its group have been combined.
Value TopK::leastMaximum(Value greatest) {
  Value isFirst = compare(LLVM::ICmpPredicate::eq, lane, i32(0));
  when(isFirst, [&] { store(greatest, places.maxima, wave); });
  when(compare(LLVM::ICmpPredicate::eq, thread, i32(0)),
       [&] { store(i32(0), places.count, i32(0)); });
  barrier();
  Value least;
  // The lanes of a row read those of all waves, some of them again.
  int64_t row = llvm::PowerOf2Ceil(waves);
  Value index = LLVM::AndOp::create(b, loc, lane, i32(row - 1));
  index = LLVM::UMinOp::create(b, loc, index, i32(waves - 1));
  least = load(places.maxima, index, 1);
  uniformBits = ~static_cast<uint64_t>(row - 1);
  for (unsigned bit = 0; 1 << bit < row; ++bit) {
    least = combine(least, bit, /*takesGreater=*/false);
  }
  return uniform(least);
}

/// Writes the elements of at least \p least, and their number, to LDS.
void TopK::gather(ArrayRef<Value> orders, ArrayRef<Value> ids, Value least,
                  Value isOwner) {
  Type wide = b.getI64Type();
  SmallVector<Value> masks, chosen;
  Value total;
  for (Value order : orders) {
    Value isChosen = compare(LLVM::ICmpPredicate::uge, order, least);
    if (isOwner) {
      isChosen = LLVM::AndOp::create(b, loc, isChosen, isOwner);
    }
    Value mask = ROCDL::BallotOp::create(b, loc, wide, isChosen);
    Value count = LLVM::TruncOp::create(b, loc, b.getI32Type(),
                                        LLVM::CtPopOp::create(b, loc, mask));
    chosen.push_back(isChosen);
    masks.push_back(mask);
    total = total ? LLVM::AddOp::create(b, loc, total, count) : count;
  }
  // One lane of each wave takes room for all.
  Block *before = b.getInsertionBlock();
  Block *after = before->splitBlock(b.getInsertionPoint());
  Block *take = b.createBlock(after);
  Value taken = after->addArgument(b.getI32Type(), loc);
  b.setInsertionPointToEnd(before);
  Value none = LLVM::PoisonOp::create(b, loc, b.getI32Type());
  LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::eq, lane, i32(0)),
                         take, ValueRange(), after, ValueRange(none));
  b.setInsertionPointToEnd(take);
  auto room = LLVM::AtomicRMWOp::create(
      b, loc, LLVM::AtomicBinOp::add, places.count, total,
      LLVM::AtomicOrdering::monotonic, "workgroup");
  mark(room);
  LLVM::BrOp::create(b, loc, ValueRange(room.getResult()), after);
  b.setInsertionPointToStart(after);
  Value base = uniform(taken);
  for (auto [order, id, mask, isChosen] :
       llvm::zip_equal(orders, ids, masks, chosen)) {
    when(isChosen, [&, order = order, id = id, mask = mask] {
      Value low = LLVM::TruncOp::create(b, loc, b.getI32Type(), mask);
      Value shift =
          LLVM::ConstantOp::create(b, loc, wide, b.getI64IntegerAttr(32));
      Value high = LLVM::TruncOp::create(
          b, loc, b.getI32Type(), LLVM::LShrOp::create(b, loc, mask, shift));
      Value ahead = ROCDL::MbcntLoOp::create(b, loc, b.getI32Type(), low, base,
                                             ArrayAttr(), ArrayAttr());
      ahead = ROCDL::MbcntHiOp::create(b, loc, b.getI32Type(), high, ahead,
                                       ArrayAttr(), ArrayAttr());
      // Of equal ones the lower id is greater.
      Value code = LLVM::XOrOp::create(b, loc, id, i32(-1));
      Value upper = LLVM::ZExtOp::create(b, loc, wide, order);
      upper = LLVM::ShlOp::create(b, loc, upper, shift);
      Value both = LLVM::OrOp::create(b, loc, upper,
                                      LLVM::ZExtOp::create(b, loc, wide, code));
      store(both, places.elements, ahead);
    });
    Value count = LLVM::TruncOp::create(b, loc, b.getI32Type(),
                                        LLVM::CtPopOp::create(b, loc, mask));
    base = LLVM::AddOp::create(b, loc, base, count);
  }
}

/// Element \p index, or 0, less than any, when there are only \p count.
Value TopK::element(Value index, Value count) {
  Value last = LLVM::SubOp::create(b, loc, count, i32(1));
  Value read =
      load(places.elements, LLVM::SMinOp::create(b, loc, index, last), 2);
  Value zero =
      LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(0));
  Value exists = compare(LLVM::ICmpPredicate::slt, index, count);
  return LLVM::SelectOp::create(b, loc, exists, read, zero);
}

void TopK::rank(int64_t count) {
  static constexpr int64_t unroll = 4;
  barrier();
  Value elements = uniform(load(places.count, i32(0), 1));
  Value first = LLVM::MulOp::create(b, loc, wave, i32(64));
  loop(first, elements, i32(64 * waves), i32(0), [&](Value begin, Value none) {
    Value index = LLVM::AddOp::create(b, loc, begin, lane);
    Value own = element(index, elements);
    Value rank = loop(
        i32(0), elements, i32(64), i32(0), [&](Value others, Value greater) {
          Value other =
              element(LLVM::AddOp::create(b, loc, others, lane), elements);
          Value left = LLVM::SubOp::create(b, loc, elements, others);
          Value end = LLVM::SMinOp::create(b, loc, left, i32(64));
          return loop(
              i32(0), end, i32(unroll), greater,
              [&](Value which, Value greater) {
                for (int64_t more = 0; more < unroll; ++more) {
                  Value from = LLVM::AddOp::create(b, loc, which, i32(more));
                  Value theirs = ROCDL::ReadlaneOp::create(
                      b, loc, b.getI64Type(), other, from);
                  Value isGreater =
                      compare(LLVM::ICmpPredicate::ugt, theirs, own);
                  greater = LLVM::AddOp::create(
                      b, loc, greater,
                      LLVM::ZExtOp::create(b, loc, b.getI32Type(), isGreater));
                }
                return greater;
              });
        });
    Value isResult = LLVM::AndOp::create(
        b, loc, compare(LLVM::ICmpPredicate::slt, rank, i32(count)),
        compare(LLVM::ICmpPredicate::slt, index, elements));
    when(isResult, [&] { store(own, places.results, rank); });
    return none;
  });
  barrier();
}

std::pair<Value, Value> TopK::result(int64_t count) {
  Value index = LLVM::AndOp::create(b, loc, lane, i32(count - 1));
  Value both = load(places.results, index, 2);
  Value shift =
      LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(32));
  Value order = LLVM::TruncOp::create(
      b, loc, b.getI32Type(), LLVM::LShrOp::create(b, loc, both, shift));
  return {order, LLVM::TruncOp::create(b, loc, b.getI32Type(), both)};
}

LogicalResult Emitter::emitTopK(tile::TopKOp op) {
  auto layout = layoutOf(op.getValues());
  if (failed(layout)) {
    return failure();
  }
  if (!op.getBuffer()) {
    return op.emitOpError("has no buffer: run tile-assign-layouts first");
  }
  flushGuarded();
  auto owners = replicas(*layout);
  auto place = ldsPlace(op, op.getBuffer());
  if (failed(owners) || failed(place)) {
    return failure();
  }
  if (layout->freeRegisterMask() != 0) {
    return op.emitOpError("takes values that registers hold once");
  }
  int64_t waves = kernel.getWaves();
  int64_t elements = layout->numRegisters() * 64 * waves;
  int64_t count =
      cast<RankedTensorType>(op.getGreatest().getType()).getDimSize(0);
  auto pointer = [&](int64_t bytes) {
    return ldsPointer(place->uniform, place->begin + bytes);
  };
  TopK::Places places{pointer(0), pointer(8 * elements),
                      pointer(8 * (elements + count)),
                      pointer(8 * (elements + count) + 4 * waves)};
  TopK top(
      b, loc, threadId(), waveId(), waves, places,
      [&](LLVM::AliasAnalysisOpInterface access) { markLdsAccess(access); });
  top.barrier = [&] { emitBarrier(); };
  top.combine = [&](Value x, unsigned bit, bool takesGreater) -> Value {
    LaneState state{top.uniformBits, /*pending=*/0};
    Value low = x;
    Value high;
    if (hasSwap(bit)) {
      std::tie(low, high) = permlaneSwap(x, x, bit);
    } else {
      high = exchange(x, bit, state);
    }
    top.uniformBits |= uint64_t(1) << bit;
    return takesGreater ? LLVM::UMaxOp::create(b, loc, low, high).getResult()
                        : LLVM::UMinOp::create(b, loc, low, high).getResult();
  };

  Value isOwner;
  if (owners->any()) {
    Value copies = LLVM::AndOp::create(b, loc, threadId(),
                                       i32(owners->lanes | owners->waves << 6));
    isOwner =
        LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, copies, i32(0));
  }
  SmallVector<Value> orders, ids;
  Value greatest;
  for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
    Value order = top.orderOf(element(parts(op.getValues()), reg));
    orders.push_back(order);
    ids.push_back(element(parts(op.getIds()), reg));
    greatest = greatest
                   ? LLVM::UMaxOp::create(b, loc, greatest, order).getResult()
                   : order;
  }
  // Copies of an element may be in several groups: then all are compared.
  Value least = owners->any() ? i32(0) : greatest;
  int64_t groups = llvm::divideCeil(count, waves);
  for (unsigned bit = 0; !owners->any() && bit < 6; ++bit) {
    least = top.combine(least, bit, /*takesGreater=*/64 >> (bit + 1) >= groups);
  }
  least = top.leastMaximum(least);
  top.gather(orders, ids, least, isOwner);
  top.rank(count);
  auto [order, code] = top.result(count);
  Parts values, chosen;
  values.values.push_back(top.valueOf(order));
  chosen.values.push_back(LLVM::XOrOp::create(b, loc, code, i32(-1)));
  tiles[op.getGreatest()] = std::move(values);
  tiles[op.getChosen()] = std::move(chosen);
  return success();
}
