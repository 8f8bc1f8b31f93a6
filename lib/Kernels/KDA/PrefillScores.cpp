//===- PrefillScores.cpp - products within a chunk --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scores of a chunk's tokens among each other, the inverse that they give,
// and what the walk needs of it. PrefillPrologue.cpp has the formulas.
//
//===----------------------------------------------------------------------===//

#include "PrologueProgram.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;
using layout::Basis;

/// Writes blocks of scores from element `offset` of [64, 64] on: those of keys,
/// times beta and negated, to LDS, those of queries to memory. Where they lie
/// on the diagonal, what does not count is masked.
void Prologue::storeScores(Value scores, int64_t offset, bool isKeys,
                           bool masksDiagonal) {
  auto type = cast<RankedTensorType>(scores.getType());
  ArrayRef<int64_t> extents = type.getShape();
  int64_t rank = extents.size();
  int64_t rows = extents[rank - 2];
  // Blocks of one product follow each other along the diagonal.
  int64_t distance = chunkTokens / extents.front();
  auto strides = [&](int64_t pitch) {
    SmallVector<int64_t> result{pitch, 1};
    if (rank == 3) {
      result.insert(result.begin(), distance * (pitch + 1));
    }
    return result;
  };
  int64_t firstRow = offset / chunkTokens;

  if (masksDiagonal) {
    auto indices = RankedTensorType::get(extents, i32Type);
    Value rowIndex = t.create<tile::IotaOp>(indices, rank - 2);
    Value columnIndex = t.create<tile::IotaOp>(indices, rank - 1);
    Value below = t.create<arith::CmpIOp>(isKeys ? arith::CmpIPredicate::slt
                                                 : arith::CmpIPredicate::sle,
                                          columnIndex, rowIndex);
    scores = t.select(below, scores, t.constant(0.0, scores));
  }
  if (isKeys) {
    SmallVector<int64_t> betaExtents{rows};
    SmallVector<int64_t> betaStrides{1};
    SmallVector<int64_t> dims{rank - 2};
    if (rank == 3) {
      betaExtents = {extents.front(), rows};
      betaStrides = {distance, 1};
      dims = {0, 1};
    }
    Value perRow = ldsLoad(part(beta, firstRow, betaExtents, betaStrides));
    perRow = t.broadcast(perRow, dims, scores);
    scores = t.mulf(t.mulf(scores, perRow), -1.0);
    SmallVector<int64_t> packed{rows + 4, 1};
    if (rank == 3) {
      packed.insert(packed.begin(), rows * (rows + 4));
    }
    Value buffer = allocate(extents, packed, f32);
    ldsStore(scores, buffer);
    negative[{rows, masksDiagonal}] = buffer;
    return;
  }
  SmallVector<OpFoldResult> viewStrides;
  for (int64_t stride : strides(chunkTokens)) {
    viewStrides.push_back(t.index(stride));
  }
  Value pointer = t.advance(workspace("aqk", chunkTokens * chunkTokens),
                            offset * operandBytes);
  Value view =
      t.view(pointer, viewStrides,
             t.i32((chunkTokens * chunkTokens - offset) * operandBytes));
  SmallVector<Value> zeros(rank, t.i32(0));
  t.store(narrow(scores), view, zeros);
}

/// Scores of tokens of the upper half of `2 * half` tokens with those of the
/// lower half. Factors refer to the boundary.
void Prologue::scoreAcross(int64_t half) {
  auto index = t.create<tile::IotaOp>(
      RankedTensorType::get({blocks, D}, i32Type, scanWithout({1})), 0);
  Value none = t.constant(0.0, row(sums, 0));
  int64_t halfBlocks = half / blockTokens;
  // Upper: from the boundary to the block's start; lower: from the block's end
  // to the boundary.
  Value sign = t.constant(-1.0, none);
  Value rest = none;
  for (int64_t at = 0; at < blocks; ++at) {
    Value here = t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, index,
                                         t.splat(t.i32(at), none));
    bool upper = at / halfBlocks % 2 == 1;
    if (upper) {
      sign = t.select(here, t.constant(1.0, none), sign);
    }
    int64_t begin = at / halfBlocks * halfBlocks;
    int64_t from = upper ? begin : at + 1;
    int64_t to = upper ? at : begin + halfBlocks;
    Value sum = upper ? Value() : row(sums, blockTokens - 1);
    for (int64_t other = from; other < to; ++other) {
      sum = sum ? t.addf(sum, blockSum[other]) : blockSum[other];
    }
    if (sum) {
      rest = t.addf(rest, t.select(here, sum, none));
    }
  }
  Value factor =
      t.exp2(t.fma(sums, acrossTokens(sign, sums), acrossTokens(rest, sums)));
  SmallVector<int64_t> strides{blockTokens * channelPitch, channelPitch, 1};
  Value buffers[2];
  for (auto [buffer, value] : llvm::zip_equal(buffers, ArrayRef{q, k})) {
    buffer = allocate({chunkTokens, D}, {channelPitch, 1}, operand);
    ldsStore(narrow(t.mulf(value, factor)),
             part(buffer, 0, {blocks, blockTokens, D}, strides));
  }
  int64_t pairs = chunkTokens / (2 * half);
  auto load = [&](Value buffer, int64_t first) {
    if (pairs == 1) {
      return ldsLoad(
          part(buffer, first * channelPitch, {half, D}, {channelPitch, 1}));
    }
    return ldsLoad(part(buffer, first * channelPitch, {pairs, half, D},
                        {2 * half * channelPitch, channelPitch, 1}));
  };
  SmallVector<int64_t> swapped =
      pairs == 1 ? SmallVector<int64_t>{1, 0} : SmallVector<int64_t>{0, 2, 1};
  for (bool isKeys : {false, true}) {
    Value lower = transpose(load(buffers[1], 0), swapped);
    storeScores(mma(load(buffers[isKeys], half), lower), half * chunkTokens,
                isKeys,
                /*masksDiagonal=*/false);
  }
}

/// Rounds [4, 16, 128] into a buffer of its own.
Value Prologue::storeRows(Value value) {
  Value buffer = part(allocate({chunkTokens, D}, {channelPitch, 1}, operand), 0,
                      {blocks, blockTokens, D},
                      {blockTokens * channelPitch, channelPitch, 1});
  ldsStore(narrow(value), buffer);
  return buffer;
}

/// Scores within blocks of 16 tokens, with factors that refer to the middle.
void Prologue::scoreBounded() {
  Value middle = acrossTokens(row(sums, blockTokens / 2 - 1), sums);
  Value up = t.exp2(t.subf(sums, middle));
  Value down = t.exp2(t.subf(middle, sums));
  Value columns = storeRows(t.mulf(k, down));
  // Keys first: queries then take the place of their rows.
  for (bool isKeys : {true, false}) {
    Value rows = storeRows(t.mulf(isKeys ? k : q, up));
    Value right = transpose(ldsLoad(columns), {0, 2, 1});
    storeScores(mma(ldsLoad(rows), right), 0, isKeys, /*masksDiagonal=*/true);
  }
}

/// Scores within blocks of 16 tokens by halves down to blocks of \p leaf
/// tokens, within which factors refer to the middle: that of a gate without
/// bound must be 1. Of a bounded one factors over 4 tokens have a place in f16,
/// with three bits to spare for elements of k and q, once they are raised by
/// powers of two, and sums of their products lowered again.
void Prologue::scoreHalves(int64_t leaf) {
  SmallVector<int64_t> extents{blocks, blockTokens, blockTokens};
  auto indices = RankedTensorType::get(extents, i32Type);
  // Tokens whose numbers differ first in the bit of a half. The upper of them
  // is the row: what lies above the diagonal is masked later.
  Value differ = t.create<arith::XOrIOp>(t.create<tile::IotaOp>(indices, 1),
                                         t.create<tile::IotaOp>(indices, 2));
  Value scores[2];
  /// Takes the scores, times \p scale, of pairs that are within \p reach of
  /// each other.
  auto take = [&](bool isKeys, Value rows, Value columns, int64_t reach,
                  double scale = 1) {
    Value products = mma(ldsLoad(rows), transpose(ldsLoad(columns), {0, 2, 1}));
    if (scale != 1) {
      products = t.mulf(products, scale);
    }
    Value &sum = scores[isKeys];
    if (!sum) {
      sum = products;
      return;
    }
    Value isNearer = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, differ,
                                             t.splat(t.i32(reach), differ));
    sum = t.select(isNearer, products, sum);
  };
  for (int64_t half = blockTokens / 2; half >= leaf; half /= 2) {
    SmallVector<Value> rows;
    for (int64_t token = 0; token < blockTokens; ++token) {
      Value own = row(sums, token);
      Value other = row(sums, token / (2 * half) * 2 * half + half - 1);
      bool isUpper = token / half % 2 == 1;
      rows.push_back(isUpper ? t.subf(own, other) : t.subf(other, own));
    }
    Value factor = t.exp2(stackRows(rows));
    Value keys = storeRows(t.mulf(k, factor));
    Value queries = storeRows(t.mulf(q, factor));
    take(/*isKeys=*/true, keys, keys, 2 * half);
    take(/*isKeys=*/false, queries, keys, 2 * half);
  }
  if (leaf == 1) {
    // Of keys the diagonal is masked.
    take(/*isKeys=*/false, storeRows(q), storeRows(k), leaf);
  } else {
    SmallVector<Value> middles;
    for (int64_t token = 0; token < blockTokens; ++token) {
      middles.push_back(row(sums, token / leaf * leaf + leaf / 2 - 1));
    }
    // A token decays by at most 2^-7.3: rows by 2^-14.6 to 2^7.3 of the middle,
    // columns the other way round. Queries are at most D^-0.5.
    constexpr int64_t raiseColumns = 1, raiseKeys = 8, raiseQueries = 11;
    Value distance = t.subf(sums, stackRows(middles));
    auto raised = [&](Value exponent, int64_t by) {
      return t.exp2(t.addf(exponent, t.constant(double(by), exponent)));
    };
    Value columns =
        storeRows(t.mulf(k, raised(t.mulf(distance, -1.0), raiseColumns)));
    for (bool isKeys : {true, false}) {
      int64_t raise = isKeys ? raiseKeys : raiseQueries;
      Value rows = storeRows(t.mulf(isKeys ? k : q, raised(distance, raise)));
      take(isKeys, rows, columns, leaf,
           std::ldexp(1.0, -int(raise + raiseColumns)));
    }
  }
  for (bool isKeys : {true, false}) {
    storeScores(scores[isKeys], 0, isKeys, /*masksDiagonal=*/true);
  }
}

/// Zeros in the blocks above the diagonal of Aqk and of the inverse.
void Prologue::clearAbove() {
  Value zero = t.i32(0);
  auto tile = [&](ArrayRef<int64_t> extents, Type element) -> Value {
    return t.zeros(RankedTensorType::get(extents, element));
  };
  int64_t half = chunkTokens / 2;
  int64_t elements = chunkTokens * chunkTokens;
  Value aqk = workspace("aqk", elements);
  t.store(tile({half, half}, operand),
          t.view(t.advance(aqk, half * operandBytes),
                 {t.index(chunkTokens), t.index(1)},
                 t.i32((elements - half) * operandBytes)),
          {zero, zero});
  t.store(tile({2, blockTokens, blockTokens}, operand),
          t.view(t.advance(aqk, blockTokens * operandBytes),
                 {t.index(half * (chunkTokens + 1)), t.index(chunkTokens),
                  t.index(1)},
                 t.i32((elements - blockTokens) * operandBytes)),
          {zero, zero, zero});
  ldsStore(tile({half, half}, f32),
           part(inverse, half, {half, half}, {squarePitch, 1}));
  ldsStore(tile({2, blockTokens, blockTokens}, f32),
           part(inverse, blockTokens, {2, blockTokens, blockTokens},
                {half * (squarePitch + 1), squarePitch, 1}));
}

/// A = (I - N)^-1 with N = -L, in FP32 throughout: (I + N)(I + N^2)(I + N^4)
/// (I + N^8) in blocks of 16, then what lies below, by blocks of 16 and 32:
///   [A 0; C B]^-1 = [A' 0; -B' C A' B'].
/// Powers are kept besides their transposes: a result is then an operand of the
/// next product where it lies.
void Prologue::invert() {
  SmallVector<int64_t> swapped{0, 2, 1};
  int64_t diagonal = blockTokens * (squarePitch + 1);
  SmallVector<int64_t> extents{blocks, blockTokens, blockTokens};
  SmallVector<int64_t> strides{diagonal, squarePitch, 1};
  Value source = negative[{blockTokens, true}];
  Value n = ldsLoad(source);
  Value nT = transpose(ldsLoad(source), swapped);
  Value power = n;
  Value powerT = nT;
  auto indices = RankedTensorType::get(extents, i32Type);
  Value isDiagonal = t.create<arith::CmpIOp>(
      arith::CmpIPredicate::eq, t.create<tile::IotaOp>(indices, 1),
      t.create<tile::IotaOp>(indices, 2));
  Value sum =
      t.addf(n, t.select(isDiagonal, t.constant(1.0, n), t.constant(0.0, n)));
  for (int64_t exponent = 2; exponent < blockTokens; exponent *= 2) {
    Value right = transpose(power, swapped);
    if (2 * exponent < blockTokens) {
      power = exactMma(power, transpose(powerT, swapped));
    }
    powerT = exactMma(powerT, right);
    sum = exactMma(sum, transpose(powerT, swapped), sum);
  }
  ldsStore(sum, part(inverse, 0, extents, strides));

  for (int64_t half = blockTokens; half < chunkTokens; half *= 2) {
    int64_t pairs = chunkTokens / (2 * half);
    SmallVector<int64_t> order =
        pairs == 1 ? SmallVector<int64_t>{1, 0} : swapped;
    auto at = [&](Value buffer, int64_t row, int64_t column) {
      int64_t offset = row * squarePitch + column;
      return pairs == 1 ? part(buffer, offset, {half, half}, {squarePitch, 1})
                        : part(buffer, offset, {pairs, half, half},
                               {2 * half * (squarePitch + 1), squarePitch, 1});
    };
    Value lower = ldsLoad(negative[{half, false}]);
    Value top = ldsLoad(at(inverse, 0, 0));
    Value bottom = ldsLoad(at(inverse, half, half));
    Value productT = exactMma(transpose(top, order), transpose(lower, order));
    ldsStore(exactMma(bottom, transpose(productT, order)),
             at(inverse, half, 0));
  }
}

/// -w and u transposed; the inverse is rounded once.
void Prologue::storeUpdates() {
  Value zero = t.i32(0);
  Value rows = narrow(ldsLoad(inverse));
  Value w = mma(rows, transpose(ldsLoad(inputsW), {1, 0}));
  t.store(narrow(t.mulf(w, -1.0)),
          t.view(workspace("w", chunkTokens * D), {t.index(D), t.index(1)},
                 t.i32(chunkTokens * D * operandBytes)),
          {zero, zero});
  Value columns = transpose(narrow(ldsLoad(inverse)), {1, 0});
  Value u = mma(ldsLoad(inputsU), columns);
  t.store(narrow(u),
          t.view(workspace("u", chunkTokens * D),
                 {t.index(chunkTokens), t.index(1)},
                 t.i32(chunkTokens * D * operandBytes)),
          {zero, zero});
}
