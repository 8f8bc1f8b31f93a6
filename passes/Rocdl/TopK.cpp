//===- TopK.cpp - the greatest elements of a tile ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element and its id are one integer of 64 bits, whose order is that of the
// results. Few elements can be among the greatest. The lanes are groups, each
// of which has a bound, its fourth, second or first greatest element: so many
// that as many elements as there are results reach the bound of their group.
// What is less than the least of these bounds is no result. The elements that
// are left are gathered in LDS. The place of each among the results is how many
// of the others are greater; waves share them out. Loops keep the code short,
// whose fetch would take longer than its execution.
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
    int64_t zeros;                          ///< bytes from the elements on
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

  Value groupBound(ArrayRef<Value> orders, int64_t count);
  Value leastMaximum(Value greatest);
  void gather(ArrayRef<Value> orders, ArrayRef<Value> ids, Value least,
              Value isOwner);
  void rank(int64_t count);
  /// Order and complement of the id of result \p lane modulo \p count.
  std::pair<Value, Value> result(int64_t count);

  Value greater(Value a, Value c) { return LLVM::UMaxOp::create(b, loc, a, c); }
  Value lesser(Value a, Value c) { return LLVM::UMinOp::create(b, loc, a, c); }
  /// \p value, in lane \p index \p scalar.
  Value writeLane(Value value, Value scalar, int64_t index) {
    return LLVM::CallIntrinsicOp::create(
               b, loc, b.getI32Type(),
               b.getStringAttr("llvm.amdgcn.writelane.i32"),
               ValueRange{scalar, i32(index), value})
        .getResult(0);
  }
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
  /// What the lanes of a pair along a bit hold, in any order.
  std::function<std::pair<Value, Value>(Value, unsigned)> both;
  /// Lane bits along which all lanes hold the same of what is combined.
  uint64_t uniformBits = 0;

private:
  void clear();
  Value at(Value pointer, Value index, unsigned words) {
    Value offset = LLVM::MulOp::create(b, loc, index, i32(4 * words));
    return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(),
                               pointer, ArrayRef<LLVM::GEPArg>{offset});
  }
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
  // Some lane nearly always has something to do: the code stays in its place.
  LLVM::CondBrOp::create(b, loc, condition, then, ValueRange(), after,
                         ValueRange(), std::pair<uint32_t, uint32_t>(1000, 1));
  b.setInsertionPointToEnd(then);
  body();
  LLVM::BrOp::create(b, loc, after);
  b.setInsertionPointToStart(after);
}

/// The body runs at least once.
Value TopK::loop(Value begin, Value end, Value step, Value carried,
                 llvm::function_ref<Value(Value, Value)> body) {
  Block *before = b.getInsertionBlock();
  Block *after = before->splitBlock(b.getInsertionPoint());
  Block *inner = b.createBlock(after);
  Value counter = inner->addArgument(begin.getType(), loc);
  Value current = inner->addArgument(carried.getType(), loc);
  Value result = after->addArgument(carried.getType(), loc);
  b.setInsertionPointToEnd(before);
  LLVM::BrOp::create(b, loc, ValueRange{begin, carried}, inner);
  b.setInsertionPointToEnd(inner);
  Value next = body(counter, current);
  Value advanced = LLVM::AddOp::create(b, loc, counter, step);
  // Mostly once: the code goes straight on.
  auto back = LLVM::CondBrOp::create(
      b, loc, compare(LLVM::ICmpPredicate::slt, advanced, end), inner,
      ValueRange{advanced, next}, after, ValueRange{next},
      std::pair<uint32_t, uint32_t>(1, 1000));
  auto unroll = LLVM::LoopUnrollAttr::get(
      b.getContext(), /*disable=*/b.getBoolAttr(true), {}, {}, {}, {}, {}, {});
  back.setLoopAnnotationAttr(
      LLVM::LoopAnnotationAttr::get(b.getContext(), {}, {}, {}, unroll, {}, {},
                                    {}, {}, {}, {}, {}, {}, {}, {}, {}));
  b.setInsertionPointToStart(after);
  return result;
}

/// Writes zeros where elements will be.
void TopK::clear() {
  constexpr int64_t laneBytes = 16;
  auto type = VectorType::get({laneBytes / 4}, b.getI32Type());
  Value zeros = LLVM::ConstantOp::create(b, loc, type, b.getZeroAttr(type));
  int64_t threads = 64 * waves;
  for (int64_t first = 0; first < places.zeros; first += laneBytes * threads) {
    Value offset = LLVM::MulOp::create(b, loc, thread, i32(laneBytes));
    offset = LLVM::AddOp::create(b, loc, offset, i32(first));
    Value pointer =
        LLVM::GEPOp::create(b, loc, places.elements.getType(), b.getI8Type(),
                            places.elements, ArrayRef<LLVM::GEPArg>{offset});
    auto write = [&] {
      mark(LLVM::StoreOp::create(b, loc, zeros, pointer, laneBytes));
    };
    if (first + laneBytes * threads <= places.zeros) {
      write();
    } else {
      when(compare(LLVM::ICmpPredicate::slt, offset, i32(places.zeros)), write);
    }
  }
}

/// The smallest bound of the groups of a wave, \p count results in all: as many
/// elements as there are results are not less than that of all waves.
Value TopK::groupBound(ArrayRef<Value> orders, int64_t count) {
  // Of each group four elements where the results are enough, else two or one.
  int64_t perWave = llvm::divideCeil(count, waves);
  int64_t each = perWave % 4 == 0 && perWave <= 64 ? 4 : count > 1 ? 2 : 1;
  int64_t groups = llvm::divideCeil(perWave, each);
  unsigned groupBits = 6 - llvm::Log2_64_Ceil(groups);
  // The greatest, in descending order: of lanes two.
  SmallVector<Value> most{orders.front(), i32(0)};
  for (Value order : orders.drop_front()) {
    most[1] = greater(most[1], lesser(most[0], order));
    most[0] = greater(most[0], order);
  }
  Value bound;
  for (unsigned bit = 0; bit < 6; ++bit) {
    SmallVector<std::pair<Value, Value>> pairs;
    if (bit >= groupBits) {
      auto [low, high] = both(bound, bit);
      bound = lesser(low, high);
    } else {
      for (Value value : most) {
        pairs.push_back(both(value, bit));
      }
      bool isLast = bit + 1 == groupBits;
      if (isLast && most.size() == 4) {
        // The least of the four greatest of two times four.
        for (size_t place = 0; place < 4; ++place) {
          Value top = greater(pairs[place].first, pairs[3 - place].second);
          bound = bound ? lesser(bound, top) : top;
        }
      } else {
        auto [low, high] = pairs[0];
        auto [low2, high2] = pairs[1];
        Value inner = lesser(low, high), outer = greater(low2, high2);
        Value second = greater(inner, outer);
        if (each == 4 && bit + 2 == groupBits) {
          most = {greater(low, high), second, lesser(inner, outer),
                  lesser(low2, high2)};
        } else {
          most = {greater(low, high), second};
          bound = each == 1 ? most[0] : each == 2 ? second : Value();
        }
      }
    }
    uniformBits |= uint64_t(1) << bit;
  }
  return bound;
}

/// The smallest of what each wave has for \p greatest.
Value TopK::leastMaximum(Value greatest) {
  clear();
  Value isFirst = compare(LLVM::ICmpPredicate::eq, lane, i32(0));
  when(isFirst, [&] {
    // With the number of elements of wave 0, which is zero.
    store(LLVM::ZExtOp::create(b, loc, b.getI64Type(), greatest), places.maxima,
          wave);
  });
  barrier();
  Value least;
  // The lanes of a row read those of all waves, some of them again.
  int64_t row = llvm::PowerOf2Ceil(waves);
  Value index = LLVM::AndOp::create(b, loc, lane, i32(row - 1));
  index = LLVM::UMinOp::create(b, loc, index, i32(waves - 1));
  least = load(places.maxima, LLVM::ShlOp::create(b, loc, index, i32(1)), 1);
  uniformBits = ~static_cast<uint64_t>(row - 1);
  for (unsigned bit = 0; 1 << bit < row; ++bit) {
    auto [low, high] = both(least, bit);
    least = lesser(low, high);
    uniformBits |= uint64_t(1) << bit;
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
  // An address that LLVM does not see to be uniform: else it would reduce over
  // the one lane first.
  Value zero = LLVM::SubOp::create(b, loc, thread,
                                   LLVM::MulOp::create(b, loc, wave, i32(64)));
  auto room = LLVM::AtomicRMWOp::create(
      b, loc, LLVM::AtomicBinOp::add, at(places.count, zero, 1), total,
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

/// Finds the place of each element. A wave takes a few of them at a time, and
/// all others in its lanes: of these it counts the greater ones. The zeros
/// behind the last element are less than any, and so no results.
void TopK::rank(int64_t count) {
  // Four waves take 64, which are seldom more.
  constexpr int64_t together = 16;
  barrier();
  Value elements = uniform(load(places.count, i32(0), 1));
  // What is no result goes to a place behind them, of each wave its own.
  Value noPlace = LLVM::AddOp::create(b, loc, wave, i32(count));
  loop(LLVM::MulOp::create(b, loc, wave, i32(together)), elements,
       i32(together * waves), i32(0), [&](Value begin, Value none) {
         SmallVector<Value> taken;
         for (int64_t index = 0; index < together; index += 2) {
           Value half = LLVM::AddOp::create(b, loc, begin, i32(index));
           half = LLVM::LShrOp::create(b, loc, half, i32(1));
           Value two = load(places.elements, half, 4);
           auto wide = cast<IntegerType>(two.getType());
           Value shift = LLVM::ConstantOp::create(b, loc, wide,
                                                  b.getIntegerAttr(wide, 64));
           for (Value bits :
                {two, LLVM::LShrOp::create(b, loc, two, shift).getResult()}) {
             taken.push_back(
                 LLVM::TruncOp::create(b, loc, b.getI64Type(), bits));
           }
         }
         // Lane i has how many are greater than number i.
         Value greater = loop(
             i32(0), elements, i32(64), i32(0), [&](Value first, Value before) {
               Value index = LLVM::AddOp::create(b, loc, first, lane);
               Value other = load(places.elements, index, 2);
               Value counts = i32(0);
               for (auto [number, element] : llvm::enumerate(taken)) {
                 Value isGreater =
                     compare(LLVM::ICmpPredicate::ugt, other, element);
                 Value mask =
                     ROCDL::BallotOp::create(b, loc, b.getI64Type(), isGreater);
                 Value here =
                     LLVM::TruncOp::create(b, loc, b.getI32Type(),
                                           LLVM::CtPopOp::create(b, loc, mask));
                 counts = writeLane(counts, here, number);
               }
               return LLVM::AddOp::create(b, loc, before, counts).getResult();
             });
         Value own =
             load(places.elements, LLVM::AddOp::create(b, loc, begin, lane), 2);
         Value isResult =
             compare(LLVM::ICmpPredicate::slt, greater, i32(count));
         Value place =
             LLVM::SelectOp::create(b, loc, isResult, greater, noPlace);
         when(compare(LLVM::ICmpPredicate::slt, lane, i32(together)),
              [&] { store(own, places.results, place); });
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
  // As tile::TopKOp::bufferType has them.
  // As tile::TopKOp::bufferType has them.
  int64_t results = 8 * elements;
  int64_t maxima = results + 8 * (count + waves);
  TopK::Places places{pointer(0), pointer(results), pointer(maxima),
                      pointer(maxima + 4), results};
  TopK top(
      b, loc, threadId(), waveId(), waves, places,
      [&](LLVM::AliasAnalysisOpInterface access) { markLdsAccess(access); });
  top.barrier = [&] { emitBarrier(); };
  top.both = [&](Value x, unsigned bit) -> std::pair<Value, Value> {
    LaneState state{top.uniformBits, /*pending=*/0};
    if (hasSwap(bit)) {
      return permlaneSwap(x, x, bit);
    }
    return {x, exchange(x, bit, state)};
  };

  Value isOwner;
  if (owners->any()) {
    Value copies = LLVM::AndOp::create(b, loc, threadId(),
                                       i32(owners->lanes | owners->waves << 6));
    isOwner =
        LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, copies, i32(0));
  }
  SmallVector<Value> orders, ids;
  for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
    orders.push_back(top.orderOf(element(parts(op.getValues()), reg)));
    ids.push_back(element(parts(op.getIds()), reg));
  }
  // Copies of an element may be in several groups: then all are compared.
  Value least = owners->any() ? i32(0) : top.groupBound(orders, count);
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
