//===- DecodeOwnKeys.cpp - MLA decode with keys of each wave ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FP8 weights. Of 64 keys, whose copies arrive together, each wave scores
// sixteen and works out their weights alone; only the greatest scores and the
// weights meet in LDS. A step has 64 or 128 keys, half or all of what an f8f6f4
// instruction adds up, whose lower registers have the first 64 keys and whose
// upper ones the others or zeros.
//
// BF16 weights of two groups of waves: there are no registers for queries of
// all columns, so that scores are made of halves of them, meet in LDS, and each
// wave of a group works out the weights of a quarter.
//
//===----------------------------------------------------------------------===//

#include "DecodeProgram.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::mla;

/// [R] of \p ofWaves, [4, R], which has a number of each wave, with the same
/// bits in all waves.
Value DecodeProgram::overWaves(tile::ReduceKind kind, Value ofWaves) {
  t.create<tile::LdsStoreOp>(ofWaves, waveBuffer);
  Value all = t.create<tile::LdsLoadOp>(type(*at.ofWaves, f32), waveBuffer);
  return t.reduce(kind, all, {0});
}

/// [4, R] of \p tile, [keys or sums, R], of which a wave has \p each.
static Value withinWaves(TileBuilder &t, tile::ReduceKind kind, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  int64_t each = type.getDimSize(0) / groupWaves;
  Value cut = t.create<tile::SplitOp>(
      RankedTensorType::get({each, groupWaves, type.getDimSize(1)},
                            type.getElementType()),
      tile, 0, each);
  return t.create<tile::ReduceOp>(
      RankedTensorType::get({groupWaves, type.getDimSize(1)},
                            type.getElementType()),
      kind, cut, t.builder().getDenseI64ArrayAttr({0}));
}

/// The sums of all lanes and waves.
Value DecodeProgram::wholeTotal(const Carried &carried) {
  if (weighsOwnKeys()) {
    return overWaves(tile::ReduceKind::Add,
                     withinWaves(t, tile::ReduceKind::Add, carried.total));
  }
  return t.create<tile::ReduceOp>(type(at.perRow, f32), tile::ReduceKind::Add,
                                  carried.total,
                                  t.builder().getDenseI64ArrayAttr({0}));
}

/// Scores of the keys of a stage that are scored the \p time -th time, which
/// have arrived. \p behind follows the product of each piece of columns; the
/// next one is read ahead of it.
Value DecodeProgram::scoreKeys(Value stage, int64_t time,
                               llvm::function_ref<void()> behind) {
  SmallVector<Value> keys{readPiece(stage, time, 0)};
  Value sums;
  for (int64_t piece = 0; piece <= at.pieces; ++piece) {
    bool isRope = piece == at.pieces;
    if (!isRope) {
      keys.push_back(readPiece(stage, time, piece + 1));
    }
    if (!sums) {
      sums = fill(type(at.scores, f32), 0.0);
    }
    sums = product(keys[piece], queryTiles[piece], sums,
                   isRope ? at.depthOfRope : at.depthOfValues);
    behind();
  }
  return sums;
}

void DecodeProgram::stepOfOwnWeights(Carried &carried, Value number) {
  SmallVector<Value> copies(carried.copies.begin() + copiesOfStage(),
                            carried.copies.end());
  Value first = t.add(firstKey, t.mul(number, t.i32(at.keys)));
  SmallVector<Value> scores;
  Value most;
  Lookup next;
  ArrayRef<Value> arriving = carried.copies;
  // Of two groups copies take turns with the rest, evenly over the places that
  // products leave for them: they are issued no faster than the caches deliver.
  const bool spreads = at.groups > 1;
  // Those of 128 keys are all begun early in the only step that they have.
  int64_t places = times() * (at.pieces + 1);
  if (!shape.scoresOwnKeys()) {
    places += 1 + at.outPieces;
  }
  int64_t place = 0, time = 0, share = 0;
  auto copy = [&] {
    copies.push_back(
        copyKeys(carried.stage, schedule.stages - 1, time, share++));
    if (share == copiesAt(time)) {
      share = 0;
      ++time;
    }
  };
  const int64_t issued = copies.size();
  auto passPlace = [&] {
    ++place;
    while (spreads && place <= places &&
           (int64_t(copies.size()) - issued) * places <
               place * copiesOfStage()) {
      copy();
    }
  };
  for (int64_t scored = 0; scored < times(); ++scored) {
    const int64_t shares = copiesAt(scored);
    t.create<tile::WaitCopiesOp>(arriving.take_front(shares));
    arriving = arriving.drop_front(shares);
    t.create<tile::BarrierOp>();
    auto lookUpNext = [&] {
      if (scored == 0) {
        next = lookUp(t.add(number, t.i32(schedule.stages)));
      }
    };
    if (spreads) {
      // Older than the copies, so that it is not waited for longer.
      lookUpNext();
    }
    Value sums = scoreKeys(carried.stage, scored, passPlace);
    if (!spreads) {
      lookUpNext();
      for (int64_t number = 0; number < shares; ++number) {
        copy();
      }
    }
    if (!shape.scoresOwnKeys()) {
      t.create<tile::LdsStoreOp>(sums, scoreBuffer);
      sums = meetScores();
    }
    Value seen = masked(sums, t.add(first, t.i32(scored * at.scoredKeys)));
    scores.push_back(seen);
    most = most ? t.create<arith::MaxNumFOp>(most, seen).getResult() : seen;
  }
  Value greatest = overWaves(tile::ReduceKind::Max,
                             withinWaves(t, tile::ReduceKind::Max, most));
  greatest = t.create<arith::MaxNumFOp>(carried.greatest,
                                        t.create<math::CeilOp>(greatest));
  Value grown = t.exp2(t.subf(carried.greatest, greatest));
  Value sum;
  for (auto [number, score] : llvm::enumerate(scores)) {
    Value weights = t.exp2(t.subf(score, t.broadcast(greatest, {1}, score)));
    sum = sum ? t.addf(sum, weights) : weights;
    Value part = t.create<tile::LdsPartOp>(partOfWeights(), weightBuffer,
                                           int64_t(number) * at.scoredKeys);
    t.create<tile::LdsStoreOp>(rounded(weights), part);
  }
  addTotal(carried, grown, sum);
  passPlace();
  SmallVector<Value> values{readValues(carried.stage, 0)};
  Value factors =
      t.create<tile::LdsLoadOp>(type(at.weights, weightType()), weightBuffer);
  for (int64_t piece = 0; piece < at.outPieces; ++piece) {
    // The next piece is read ahead of the product, and no other.
    if (piece + 1 < at.outPieces) {
      values.push_back(readValues(carried.stage, piece + 1));
    }
    if (piece > 0) {
      t.create<tile::OrderFenceOp>();
    }
    addValues(carried, piece, grown, values[piece], factors);
    passPlace();
  }
  carried.greatest = greatest;
  endStep(carried, next, std::move(copies));
}

/// The place in LDS of the weights of keys that are scored together.
tile::LdsType DecodeProgram::partOfWeights() {
  MLIRContext *context = t.builder().getContext();
  auto layout = llvm::cantFail(layout::LdsLayout::create(
      at.weighed.shape(), at.weightsInLds->strides(), shape.weightBits()));
  return tile::LdsType::get(context, at.weighed.shape(), weightType(),
                            tile::LdsLayoutAttr::get(context, layout),
                            /*stages=*/1);
}
