//===- DecodeOwnKeys.cpp - MLA decode with keys of each wave ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FP8 weights. Of 64 keys, whose copies arrive together, each wave scores
// sixteen and works out their weights alone; only the greatest scores and the
// weights meet in LDS. A step has 64 or 128 keys, half or all of what an f8f6f4
// instruction adds up, whose lower registers have the first 64 keys and whose
// upper ones the others or zeros.
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
  int64_t each = type.getDimSize(0) / decodeWaves;
  Value cut = t.create<tile::SplitOp>(
      RankedTensorType::get({each, decodeWaves, type.getDimSize(1)},
                            type.getElementType()),
      tile, 0, each);
  return t.create<tile::ReduceOp>(
      RankedTensorType::get({decodeWaves, type.getDimSize(1)},
                            type.getElementType()),
      kind, cut, t.builder().getDenseI64ArrayAttr({0}));
}

/// The sums of all lanes and waves.
Value DecodeProgram::wholeTotal(const Carried &carried) {
  if (shape.scoresOwnKeys()) {
    return overWaves(tile::ReduceKind::Add,
                     withinWaves(t, tile::ReduceKind::Add, carried.total));
  }
  return t.create<tile::ReduceOp>(type(at.perRow, f32), tile::ReduceKind::Add,
                                  carried.total,
                                  t.builder().getDenseI64ArrayAttr({0}));
}

/// Scores of the keys of a stage that are scored the \p time -th time, which
/// have arrived.
Value DecodeProgram::scoreKeys(Value stage, int64_t time) {
  Value keys = readKeys(valueBuffer, stage, time, at.keyValues);
  Value rope = readKeys(ropeBuffer, stage, time, at.keyRope);
  Value sums = fill(type(at.scores, f32), 0.0);
  sums = product(keys, queryTile, sums, at.depthOfValues);
  return product(rope, queryRopeTile, sums, at.depthOfRope);
}

void DecodeProgram::stepOfOwnKeys(Carried &carried, Value number) {
  SmallVector<Value> copies(carried.copies.begin() + copiesOfStage(),
                            carried.copies.end());
  Value first = t.add(firstKey, t.mul(number, t.i32(at.keys)));
  SmallVector<Value> scores;
  Value most;
  Lookup next;
  for (int64_t time = 0; time < times(); ++time) {
    t.create<tile::WaitCopiesOp>(
        ArrayRef(carried.copies).slice(time * copyShares, copyShares));
    t.create<tile::BarrierOp>();
    Value sums = scoreKeys(carried.stage, time);
    if (time == 0) {
      next = lookUp(t.add(number, t.i32(schedule.stages)));
    }
    for (int64_t share = 0; share < copyShares; ++share) {
      copies.push_back(copyKeys(carried.stage, schedule.stages - 1,
                                time * copyShares + share));
    }
    Value seen = masked(sums, t.add(first, t.i32(time * at.scoredKeys)));
    scores.push_back(seen);
    most = most ? t.create<arith::MaxNumFOp>(most, seen).getResult() : seen;
  }
  Value greatest = overWaves(tile::ReduceKind::Max,
                             withinWaves(t, tile::ReduceKind::Max, most));
  greatest = t.create<arith::MaxNumFOp>(carried.greatest,
                                        t.create<math::CeilOp>(greatest));
  Value grown = t.exp2(t.subf(carried.greatest, greatest));
  Value sum;
  for (auto [time, score] : llvm::enumerate(scores)) {
    Value weights = t.exp2(t.subf(score, t.broadcast(greatest, {1}, score)));
    sum = sum ? t.addf(sum, weights) : weights;
    Value part = t.create<tile::LdsPartOp>(partOfWeights(), weightBuffer,
                                           int64_t(time) * at.scoredKeys);
    t.create<tile::LdsStoreOp>(rounded(weights), part);
  }
  addTotal(carried, grown, sum);
  Value values = readValues(carried.stage);
  Value factors =
      t.create<tile::LdsLoadOp>(type(at.weights, weightType()), weightBuffer);
  addValues(carried, grown, values, factors);
  carried.greatest = greatest;
  endStep(carried, next, std::move(copies));
}

/// The place in LDS of the weights of keys that are scored together.
tile::LdsType DecodeProgram::partOfWeights() {
  MLIRContext *context = t.builder().getContext();
  auto layout = llvm::cantFail(layout::LdsLayout::create(
      at.scores.shape(), at.exchanged->strides(), /*elementBits=*/8));
  return tile::LdsType::get(context, at.scores.shape(), weightType(),
                            tile::LdsLayoutAttr::get(context, layout),
                            /*stages=*/1);
}
