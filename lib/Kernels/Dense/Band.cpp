//===- Band.cpp - rows of an operand along which K runs ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Band.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

// What the tables of #tenon.weight_layout say: a chunk of weights is 16 bytes
// along K; a word of scales holds four, and 8 blocks of 32 rows are 64 words.
static constexpr int64_t chunkBytes = 16;
static constexpr int64_t wordBytes = 4;
static constexpr int64_t wordsApart = packedRows * wordBytes;
static constexpr int64_t blocksInTile = 8;
// Blocks whose scales are four words.
static constexpr int64_t blocksInWords = wordBytes * wordBytes;
static constexpr int64_t tileBytesOfScales = scaleRows * blocksInTile;

ViewStrides Band::rows(Builder &builder) const {
  ViewStrides result;
  if (order == BandOrder::Packed) {
    result.add(builder.getIndexAttr(chunkBytes / bytesPerValue), packedRows);
  } else if (order == BandOrder::PackedScales) {
    result.add(builder.getIndexAttr(wordBytes), packedRows);
    if (!sharesTiles) {
      result.add(builder.getIndexAttr(1), 2);
    }
  }
  result.add(stride);
  return result;
}

int64_t Band::evenFrom() const {
  switch (order) {
  case BandOrder::RowMajor:
    return 1;
  case BandOrder::Packed:
    return chunkBytes / bytesPerValue;
  case BandOrder::PackedScales:
    return blocksInTile;
  case BandOrder::ScaleWords:
    return blocksInWords;
  }
  llvm_unreachable("covered switch");
}

int64_t Band::placeOf(int64_t k) const {
  switch (order) {
  case BandOrder::RowMajor:
    return k;
  case BandOrder::Packed:
    return k < evenFrom() ? k : k * packedRows;
  case BandOrder::PackedScales:
    return k >= blocksInTile       ? k * scaleRows
           : k == blocksInTile / 2 ? 2
                                   : k * wordsApart;
  case BandOrder::ScaleWords:
    return k >= blocksInWords ? k
           : k >= wordBytes   ? k / wordBytes
                              : k * wordBytes;
  }
  llvm_unreachable("covered switch");
}

ViewStrides Band::alongDepth(Builder &builder,
                             ArrayRef<DepthLevel> order) const {
  // Bit by bit, neighbours joined where they are evenly spread.
  SmallVector<DepthLevel> places;
  auto add = [&](int64_t k) {
    int64_t place = placeOf(k);
    if (!places.empty() &&
        places.back().stride * places.back().extent == place) {
      places.back().extent *= 2;
    } else {
      places.push_back({2, place});
    }
  };
  int64_t last = 0;
  for (const DepthLevel &level : order) {
    for (int64_t count = 1; count < level.extent; count *= 2) {
      add(level.stride * count);
    }
    last = level.stride;
  }
  for (; last < evenFrom(); last *= 2) {
    add(last);
  }
  if (!places.empty() &&
      places.back().stride * places.back().extent == placeOf(last)) {
    last = 0;
  }
  ViewStrides result;
  for (const DepthLevel &level : places) {
    bool isLast = last == 0 && &level == &places.back();
    result.add(builder.getIndexAttr(level.stride), isLast ? 0 : level.extent);
  }
  if (last != 0) {
    result.add(builder.getIndexAttr(placeOf(last)));
  }
  return result;
}

ViewStrides Band::slices(Builder &builder, int64_t depth) const {
  return alongDepth(builder, DepthLevel{0, depth});
}

Value Band::bytesBefore(TileBuilder &t, Value first) const {
  switch (order) {
  case BandOrder::RowMajor:
    return t.mul(first, t.i32(bytesPerValue));
  case BandOrder::Packed:
    return t.mul(first, t.i32(bytesPerValue * packedRows));
  case BandOrder::ScaleWords: {
    // Four blocks are a byte of each word.
    Value words = t.create<arith::DivUIOp>(first, t.i32(blocksInWords));
    Value byte = t.create<arith::AndIOp>(
        t.create<arith::DivUIOp>(first, t.i32(wordBytes)),
        t.i32(wordBytes - 1));
    return t.add(t.mul(words, t.i32(blocksInWords)), byte);
  }
  case BandOrder::PackedScales:
    break;
  }
  // Four blocks are half of a tile: the upper halves of its words.
  Value tiles = t.create<arith::DivUIOp>(first, t.i32(blocksInTile));
  Value half = t.create<arith::AndIOp>(
      t.create<arith::DivUIOp>(first, t.i32(blocksInTile / 2)), t.i32(1));
  return t.add(t.mul(tiles, t.i32(tileBytesOfScales)), t.mul(half, t.i32(2)));
}

/// Fills in where \p rows lie, in tiles of \p tileRows rows and \p tileElements
/// elements; \p bands that alternate, this one being number \p firstBand.
static void placeRows(TileBuilder &t, Band &band, Value pointer,
                      const PackedRows &rows, int64_t tileRows,
                      Value tileElements, int64_t bands, int64_t firstBand) {
  Value tile = t.create<arith::DivUIOp>(rows.first, t.i32(tileRows));
  Value reach = rows.count;
  if (rows.multiple % tileRows != 0) {
    band.firstRow = t.create<arith::AndIOp>(rows.first, t.i32(tileRows - 1));
    reach = t.add(band.firstRow, rows.count);
  }
  if (bands != 1) {
    tile = t.add(t.mul(tile, t.i32(bands)), t.i32(firstBand));
  }
  Value tileBytes = t.mul(tileElements, t.i32(band.bytesPerValue));
  band.pointer = t.advance(pointer, t.wideMul(tile, tileBytes));
  band.stride = t.mul(tileElements, t.i32(bands));
  Value last = t.create<arith::DivUIOp>(
      t.create<arith::SubIOp>(reach, t.i32(1)), t.i32(tileRows));
  band.bytes = t.add(t.mul(last, t.mul(tileBytes, t.i32(bands))), tileBytes);
}

Band dense::packedBand(TileBuilder &t, Value pointer, Value depth,
                       unsigned bits, const PackedRows &rows) {
  Band band;
  band.order = BandOrder::Packed;
  band.bytesPerValue = std::max<int64_t>(bits / 8, 1);
  band.valuesPerByte = std::max<int64_t>(8 / bits, 1);
  band.depth = depth;
  if (band.valuesPerByte > 1) {
    band.depth = t.create<arith::DivUIOp>(depth, t.i32(band.valuesPerByte));
  }
  placeRows(t, band, pointer, rows, packedRows,
            t.mul(band.depth, t.i32(packedRows)), rows.bands, rows.band);
  return band;
}

Band dense::packedScaleBand(TileBuilder &t, Value pointer, Value depth,
                            const PackedRows &rows) {
  Band band;
  band.order = BandOrder::PackedScales;
  band.valuesPerByte = tile::MmaOp::scaleBlock;
  band.depth = t.create<arith::DivUIOp>(depth, t.i32(band.valuesPerByte));
  Value tiles = t.create<arith::DivUIOp>(
      t.add(band.depth, t.i32(blocksInTile - 1)), t.i32(blocksInTile));
  Value tileBytes = t.mul(tiles, t.i32(tileBytesOfScales));
  // 16 rows of gate and 16 of up are a tile of 32.
  band.sharesTiles = rows.bands == 2;
  int64_t tileRows = band.sharesTiles ? packedRows : scaleRows;
  placeRows(t, band, pointer, rows, tileRows, tileBytes, /*bands=*/1,
            /*firstBand=*/0);
  if (band.sharesTiles) {
    band.pointer = t.advance(band.pointer, rows.band);
    band.bytes = t.create<arith::SubIOp>(band.bytes, t.i32(rows.band));
  }
  return band;
}

/// Whether \p extent rows are cut at the edges of tiles of scales: half a tile
/// or whole ones.
static bool cutsScaleRows(int64_t extent) {
  return extent != packedRows && extent % scaleRows != 0;
}

static bool cutsScaleDepth(int64_t depth) {
  constexpr int64_t depthInTile = blocksInTile * tile::MmaOp::scaleBlock;
  return depth != depthInTile / 2 && depth % depthInTile != 0;
}

static bool packsWeightScales(spec::GemmOp op) {
  return op.getWeightOrder() && op.hasBlockScaledWeights();
}

bool dense::fitsPackedTiles(spec::GemmOp op, int64_t rows, int64_t columns,
                            int64_t depth) {
  bool packsWeights = packsWeightScales(op);
  bool packsX = op.hasPackedXScale();
  return !((packsX && cutsScaleRows(rows)) ||
           (packsWeights && cutsScaleRows(columns)) ||
           ((packsX || packsWeights) && cutsScaleDepth(depth)));
}

LogicalResult dense::checkPackedTile(spec::GemmOp op, int64_t rows,
                                     int64_t columns, int64_t depth) {
  if (fitsPackedTiles(op, rows, columns, depth)) {
    return success();
  }
  bool cutsRows = op.hasPackedXScale() && cutsScaleRows(rows);
  return op.emitOpError("a tile's step has 16 or a multiple of 32 ")
         << (cutsRows ? "tokens" : "columns")
         << ", and 128 or a multiple of 256 values along K for each of its "
            "slices, where scales are packed; found "
         << (cutsRows ? rows : columns) << " and " << depth;
}

void dense::requirePackedReach(spec::GemmOp op, int64_t columns,
                               PlanBuilder &plan) {
  // One more where the first column is not that of a tile.
  int64_t tiles = columns / packedRows + 1;
  if (op.getWeightOrder() == spec::WeightOrder::AiterInterleaved) {
    tiles *= 2;
  }
  int64_t bits =
      cast<MemRefType>(op.getWeights().getType()).getElementTypeBitWidth();
  Value chunks =
      plan.floorDiv(plan.size("x", 1), plan.constant(chunkBytes * 8 / bits));
  plan.require(arith::CmpIPredicate::slt,
               plan.mul(chunks, plan.constant(chunkBytes * packedRows * tiles)),
               plan.constant(int64_t(1) << 31),
               ("weights: " + Twine(tiles) +
                " tiles of 16 rows must reach less than 2^31 bytes")
                   .str());
}
