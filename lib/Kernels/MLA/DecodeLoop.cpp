//===- DecodeLoop.cpp - MLA decode over the keys of a slot ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step takes T keys: rows of 576 columns that lie anywhere in the cache and
// are copied into LDS, stages - 1 steps ahead. Where a key lies is looked up in
// the block table one step before its copy starts; the entry is waited for at
// the end of the step, when older copies have arrived anyway. Keys beyond the
// end are the last one again, which costs no traffic, and are masked.
//
//   S^T = K Q^T            keys by wave, or halves of them and of the columns
//   w = 2^(S c - m)        m: the greatest so far, rounded up to an integer
//   O^T = O^T 2^(..) + V^T w^T      columns by wave, V^T from the same LDS
//
//===----------------------------------------------------------------------===//

#include "DecodeProgram.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::mla;

SmallVector<Value *> DecodeProgram::Carried::all() {
  SmallVector<Value *> all;
  for (Value &piece : sums) {
    all.push_back(&piece);
  }
  all.append({&greatest, &total, &stage});
  for (Value &token : copies) {
    all.push_back(&token);
  }
  return all;
}

Value DecodeProgram::allocate(ArrayRef<int64_t> extents, Type element,
                              int64_t stages, tile::LdsLayoutAttr layout) {
  return t.create<tile::AllocLdsOp>(tile::LdsType::get(t.builder().getContext(),
                                                       extents, element, layout,
                                                       stages),
                                    IntegerAttr());
}

void DecodeProgram::allocateBuffers() {
  valueBuffer = allocate({at.keys, valueColumns}, shape.cache, schedule.stages);
  ropeBuffer = allocate({at.keys, ropeColumns}, shape.cache, schedule.stages);
  // Each key as often as a group has threads for it: none is masked out.
  rowBuffer = allocate({lookedUp}, i64Type, schedule.stages);
  auto attribute = [&](const layout::LdsLayout &layout) {
    return tile::LdsLayoutAttr::get(t.builder().getContext(), layout);
  };
  if (!shape.scoresOwnKeys()) {
    scoreBuffer =
        allocate(at.scores.shape(), f32, 1, attribute(*at.scoresInLds));
  }
  if (!weighsOwnKeys()) {
    return;
  }
  weightBuffer = allocate(at.weights.shape(), weightType(), 1,
                          attribute(*at.weightsInLds));
  // The numbers of a row side by side.
  auto ofWaves = llvm::cantFail(layout::LdsLayout::create(
      at.ofWaves->shape(), {1, groupWaves}, /*elementBits=*/32));
  waveBuffer = allocate(at.ofWaves->shape(), f32, 1, attribute(ofWaves));
}

/// The entries of the block table for the keys of step \p number.
DecodeProgram::Lookup DecodeProgram::lookUp(Value number) {
  RankedTensorType perThread = type(at.perThread, i32Type);
  Value thread = t.create<tile::IotaOp>(perThread, 0);
  Value key = t.create<arith::AndIOp>(thread, fillInt(perThread, at.keys - 1));
  Value first = t.add(firstKey, t.mul(number, t.i32(at.keys)));
  Value last = sub(endKey, t.i32(1));
  key = t.create<arith::MinSIOp>(t.add(key, t.splat(first, key)),
                                 t.splat(last, key));
  Value page = t.splat(args["page"], key);
  Value block = t.create<arith::DivUIOp>(key, page);
  Value row = sub(key, t.mul(block, page));
  Value entry = t.create<tile::LoadOp>(perThread, table, ValueRange{zero},
                                       ValueRange(), block, DenseI64ArrayAttr(),
                                       /*nontemporal=*/false, /*staged=*/false);
  return {entry, row};
}

/// Leaves where the keys of \p lookup lie for the copies of a stage.
void DecodeProgram::storeRows(const Lookup &lookup, Value stage,
                              int64_t shift) {
  Value page = widen(lookup.page);
  Value bytes = t.mul(page, t.splat(args["kv_page"], page));
  Value row = widen(lookup.row);
  bytes = t.add(bytes, t.mul(row, t.splat(widen(args["kv_row"]), row)));
  t.create<tile::LdsStoreOp>(bytes, stageOf(rowBuffer, stage, shift));
}

bool DecodeProgram::copiesRopeOnce() const {
  int64_t bytes =
      at.scoredKeys * ropeColumns * shape.cache.getIntOrFloatBitWidth() / 8;
  int64_t together =
      64 * schedule.waves() * tile::CopyToLdsOp::getLaneBytes()[0];
  return times() > 1 && bytes < together;
}

int64_t DecodeProgram::copiesOfStage() const {
  int64_t copies = 0;
  for (int64_t time = 0; time < times(); ++time) {
    copies += copiesAt(time);
  }
  return copies;
}

/// Starts a copy of a stage, whose rows have been looked up: \p share of the
/// values of the keys that are scored the \p time -th time, or, the last one,
/// the rest of their columns.
Value DecodeProgram::copyKeys(Value stage, int64_t shift, int64_t time,
                              int64_t share) {
  MLIRContext *context = t.builder().getContext();
  Value rows =
      t.create<tile::LdsPartOp>(tile::LdsType::get(context, {at.keys}, i64Type),
                                stageOf(rowBuffer, stage, shift), 0);
  bool isRope = share == valueShares();
  DenseI64ArrayAttr part;
  if (!isRope) {
    part = t.builder().getDenseI64ArrayAttr(
        {time * valueShares() + share, times() * valueShares()});
  } else if (times() > 1 && !copiesRopeOnce()) {
    part = t.builder().getDenseI64ArrayAttr({time, times()});
  }
  return t.create<tile::CopyToLdsOp>(
      tile::TokenType::get(context), cache,
      ValueRange{zero, t.i32(isRope ? valueColumns : 0)}, ValueRange(),
      DenseI64ArrayAttr(),
      stageOf(isRope ? ropeBuffer : valueBuffer, stage, shift), UnitAttr(),
      part, rows);
}

/// Looks the keys of the first steps up and starts the copies of all of them
/// but the last.
void DecodeProgram::prefetch(Carried &carried) {
  SmallVector<Lookup> lookups;
  for (int64_t number = 0; number < schedule.stages; ++number) {
    lookups.push_back(lookUp(t.i32(number)));
  }
  for (auto [number, lookup] : llvm::enumerate(lookups)) {
    storeRows(lookup, zero, number);
  }
  t.create<tile::BarrierOp>();
  for (int64_t number = 0; number + 1 < schedule.stages; ++number) {
    for (int64_t time = 0; time < times(); ++time) {
      for (int64_t share = 0; share < copiesAt(time); ++share) {
        carried.copies.push_back(copyKeys(zero, number, time, share));
      }
    }
  }
  carried.stage = zero;
}

Value DecodeProgram::product(Value lhs, Value rhs, Value sums, int64_t depth) {
  Builder &b = t.builder();
  return t.create<tile::MmaOp>(sums.getType(), lhs, rhs, sums, Value(), Value(),
                               b.getDenseI64ArrayAttr({16, depth}),
                               DenseI64ArrayAttr(), DenseI64ArrayAttr(),
                               IntegerAttr(), DenseI64ArrayAttr(), FloatAttr());
}

/// \p tile, [rows, columns], with its columns in two halves, and dimensions
/// (row, column of the half, half) in another order. A wave with keys of its
/// own has the columns together.
Value DecodeProgram::halved(Value tile, ArrayRef<int64_t> order) {
  auto whole = cast<RankedTensorType>(tile.getType());
  if (shape.scoresOwnKeys()) {
    bool swaps = order.back() == 0;
    return swaps ? t.transpose(tile, {1, 0}) : tile;
  }
  int64_t half = whole.getDimSize(1) / 2;
  SmallVector<int64_t> extents{whole.getDimSize(0), half, 2};
  Value cut = t.create<tile::SplitOp>(
      RankedTensorType::get(extents, whole.getElementType()), tile, 1, half);
  SmallVector<int64_t> ordered;
  for (int64_t dim : order) {
    ordered.push_back(extents[dim]);
  }
  return t.create<tile::TransposeOp>(
      RankedTensorType::get(ordered, whole.getElementType()), cut, order);
}

/// Keys of a stage, those scored at the \p time -th time, from \p column on, as
/// the left operand of scores.
Value DecodeProgram::readKeys(Value buffer, Value stage, int64_t time,
                              int64_t column, const layout::Layout &layout) {
  DenseI64ArrayAttr offsets;
  if (times() > 1 || at.pieces > 1) {
    offsets = t.builder().getDenseI64ArrayAttr({time * at.scoredKeys, column});
  }
  Value tile = t.create<tile::LdsLoadOp>(
      type(layout, shape.cache), stageOf(buffer, stage, 0), /*into=*/Value(),
      offsets, /*part=*/DenseI64ArrayAttr());
  return halved(shape.hasSmallScores() ? tile : toBf16(tile), {2, 0, 1});
}

/// Such keys: a piece of the columns of values, or, the last one, the others.
Value DecodeProgram::readPiece(Value stage, int64_t time, int64_t piece) {
  return piece < at.pieces ? readKeys(valueBuffer, stage, time,
                                      piece * at.pieceColumns(), at.keyValues)
                           : readKeys(ropeBuffer, stage, time, 0, at.keyRope);
}

/// The keys of a stage as values, the left operand of a piece of out.
Value DecodeProgram::readValues(Value stage, int64_t piece) {
  DenseI64ArrayAttr offsets;
  if (at.outPieces > 1) {
    offsets = t.builder().getDenseI64ArrayAttr({0, piece * at.outColumns()});
  }
  Value keys = t.create<tile::LdsLoadOp>(
      type(at.values, shape.cache), stageOf(valueBuffer, stage, 0),
      /*into=*/Value(), offsets, /*part=*/DenseI64ArrayAttr());
  if (!shape.fp8Weights) {
    keys = toBf16(keys);
  }
  auto valueType = RankedTensorType::get(
      {at.outColumns(), at.keys},
      cast<RankedTensorType>(keys.getType()).getElementType());
  return t.create<tile::TransposeOp>(valueType, keys, ArrayRef<int64_t>{1, 0});
}

/// The scores that all waves have left in LDS, as they are weighed.
Value DecodeProgram::meetScores() {
  Value halves = t.create<tile::LdsLoadOp>(type(*at.halved, f32), scoreBuffer);
  auto half = [&](int64_t number) -> Value {
    return t.create<tile::ExtractOp>(type(at.weighed, f32), halves, 0, number);
  };
  return t.addf(half(0), half(1));
}

/// \p scores, [keys from \p first on, R], times their factor; minus infinity
/// of keys that a row does not see.
Value DecodeProgram::masked(Value scores, Value first) {
  scores = t.mulf(scores, t.splat(scoreScale, scores));
  auto tile = cast<RankedTensorType>(scores.getType());
  Value key = t.create<tile::IotaOp>(tile.clone(i32Type), 0);
  Value left = sub(limit, t.splat(first, limit));
  Value isSeen =
      compare(arith::CmpIPredicate::slt, key, t.broadcast(left, {1}, key));
  return t.create<arith::SelectOp>(
      isSeen, scores, fill(tile, -std::numeric_limits<double>::infinity()));
}

/// Sums of \p weights, [keys, R], over the keys of a lane, added to the total.
void DecodeProgram::addTotal(Carried &carried, Value grown, Value weights) {
  ArrayRef<int64_t> extents =
      cast<RankedTensorType>(weights.getType()).getShape();
  int64_t sums = at.totals.shape()[0], laneKeys = extents[0] / sums;
  Value split = t.create<tile::SplitOp>(
      RankedTensorType::get({laneKeys, sums, at.rows}, f32), weights, 0,
      laneKeys);
  Value ofLane = t.create<tile::ReduceOp>(
      RankedTensorType::get({sums, at.rows}, f32), tile::ReduceKind::Add, split,
      t.builder().getDenseI64ArrayAttr({0}));
  carried.total =
      t.fma(carried.total, t.broadcast(grown, {1}, carried.total),
            t.convertLayout(ofLane, tile::getLayout(carried.total.getType())));
}

Type DecodeProgram::weightType() {
  return shape.fp8Weights ? shape.cache : Type(t.builder().getBF16Type());
}

/// Weights as products take them.
Value DecodeProgram::rounded(Value weights) {
  if (shape.fp8Weights) {
    weights = t.mulf(weights, fp8WeightFactor);
  }
  return t.create<arith::TruncFOp>(
      cast<RankedTensorType>(weights.getType()).clone(weightType()), weights);
}

void DecodeProgram::addValues(Carried &carried, int64_t piece, Value grown,
                              Value values, Value weights) {
  Value &sums = carried.sums[piece];
  Value out = t.mulf(sums, t.broadcast(grown, {1}, sums));
  sums = product(values, weights, out, at.depthOfKeys);
}

/// Hands over to the next step, which finds \p copies in flight.
void DecodeProgram::endStep(Carried &carried, const Lookup &next,
                            SmallVector<Value> copies) {
  // The place of the keys that have just been used.
  storeRows(next, carried.stage, 0);
  Value following = t.add(carried.stage, t.i32(1));
  carried.stage = t.select(
      compare(arith::CmpIPredicate::eq, following, t.i32(schedule.stages)),
      zero, following);
  carried.copies = std::move(copies);
}

void DecodeProgram::step(Carried &carried, Value number) {
  const int64_t shares = copiesOfStage();
  t.create<tile::WaitCopiesOp>(ArrayRef(carried.copies).take_front(shares));
  t.create<tile::BarrierOp>();
  // Copies take turns with the rest: they are issued no faster than the
  // caches deliver.
  SmallVector<Value> copies(carried.copies.begin() + shares,
                            carried.copies.end());
  int64_t share = 0;
  auto copy = [&] {
    copies.push_back(
        copyKeys(carried.stage, schedule.stages - 1, /*time=*/0, share++));
  };
  Value keys = readPiece(carried.stage, 0, 0);
  Value rope = readPiece(carried.stage, 0, 1);
  Lookup next = lookUp(t.add(number, t.i32(schedule.stages)));
  copy();
  Value sums = fill(type(at.scores, f32), 0.0);
  sums = product(keys, queryTiles[0], sums, at.depthOfValues);
  sums = product(rope, queryTiles[1], sums, at.depthOfRope);
  // Ahead of the copies where there are registers for them.
  constexpr int64_t mostRowsAhead = 32;
  Value values;
  if (at.rows <= mostRowsAhead) {
    values = readValues(carried.stage, 0);
  }
  t.create<tile::LdsStoreOp>(sums, scoreBuffer);
  while (share < shares) {
    copy();
  }
  Value first = t.add(firstKey, t.mul(number, t.i32(at.keys)));
  Value scores = masked(meetScores(), first);
  Value greatest = t.reduce(tile::ReduceKind::Max, scores, {0});
  greatest = t.create<arith::MaxNumFOp>(carried.greatest,
                                        t.create<math::CeilOp>(greatest));
  Value grown = t.exp2(t.subf(carried.greatest, greatest));
  Value weights = t.exp2(t.subf(scores, t.broadcast(greatest, {1}, scores)));
  addTotal(carried, grown, weights);
  Value factors = rounded(weights);
  if (!values) {
    values = readValues(carried.stage, 0);
  }
  addValues(carried, 0, grown, values, factors);
  carried.greatest = greatest;
  endStep(carried, next, std::move(copies));
}
