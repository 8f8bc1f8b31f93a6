//===- FusedStage.cpp - both products of very few tokens --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup takes one route and 32 columns of its intermediate: it rounds the
// row of x for itself, multiplies it by the columns' rows of w13, and the 32
// values that come out, which share a scale, by their columns of w2. So all
// weights are on their way before anything is computed, and no launch waits for
// another. What it has is a part of the route's row. The last workgroup of a
// route adds up the parts, and the last route of a token the rows, both in
// their order, so that nothing depends on who comes last. Nobody waits.
//
//===----------------------------------------------------------------------===//

#include "ExpertStage.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;
using dense::StepOperand;

static constexpr int64_t block = tile::MmaOp::scaleBlock;
/// Rows of the instruction. In the first product all of them are the token.
static constexpr int64_t rows = 16;
/// Values along K of an instruction, and of a step of the first product.
static constexpr int64_t sliceDepth = 128;
static constexpr int64_t stepDepth = fusedWaves * sliceDepth;
/// The second product has 32 values along K, a quarter of an instruction. So
/// four tiles of 16 columns of w2 are multiplied at once: each four rows of the
/// instruction take the values for another one.
static constexpr int64_t groups = sliceDepth / block;
static constexpr int64_t groupRows = rows / groups;
/// Steps of the first product whose weights are asked for before x is rounded.
static constexpr int64_t stepsAhead = 6;
/// Values that a thread has on their way together, where rows are added up.
static constexpr int64_t valuesAhead = 256;

bool moe::canFuse(spec::MoeExpertsOp op) {
  return !op.hasRouteRows() && op.getWidth() % stepDepth == 0;
}

/// Columns of a wave in the second product, where four tiles are one.
static int64_t waveColumns(spec::MoeExpertsOp op) {
  return rows * llvm::divideCeil(op.getWidth(), fusedWaves * groups * rows);
}

namespace {
/// The methods are in the order of the program.
class FusedStage : public ExpertStage {
public:
  FusedStage(spec::MoeExpertsOp op, OpBuilder &builder)
      : ExpertStage(op, /*direct=*/true, ProductShape::first(op),
                    cutTiles(rows, fusedColumns, stepDepth, 1, 1, fusedWaves,
                             /*stages=*/1),
                    builder),
        secondCut(cutTiles(rows, waveColumns(op), stepDepth, 1, 1, fusedWaves,
                           /*stages=*/1)),
        second(op, t, secondCut) {}

  void write(tile::KernelOp kernel);

private:
  Value loadToken();
  StepOperand loadSecond();
  SmallVector<StepOperand> roundToken(Value x);
  Value allocate(RankedTensorType type);
  Value clearDiagonal();
  StepOperand diagonal(Value intermediate, Value buffer);
  void storePart(Value sums);
  void whenLast(StringRef counters, Value number, int64_t count,
                llvm::function_ref<void()> then);
  Value loadRow(Value view, Value first);
  Value sumOfParts();
  void storeRow(Value sum);
  SmallVector<std::pair<Value, Value>> factors();
  void sumOfRoutes(ArrayRef<std::pair<Value, Value>> factors);
  tile::LayoutAttr rowLayout();
  void leaveRow();

  dense::GemmSchedule secondCut;
  dense::BandProduct second;
  Value route, token;
  Value exists; ///< whether it is a route, 1 or 0
};
} // namespace

/// [K / 128, 128] values of the token, those of a wave in its registers.
Value FusedStage::loadToken() {
  layout::Layout layout = llvm::cantFail(
      layout::Layout::blocked({shape.depth / sliceDepth, sliceDepth}, {1, 0},
                              {1, 2}, {1, 64}, {fusedWaves, 1}));
  Value row = t.advance(args["x"],
                        t.wideMul(token, t.mul(args["x_stride"], t.i32(16))));
  Builder &b = t.builder();
  Value view = t.view(row, {b.getIndexAttr(sliceDepth), b.getIndexAttr(1)},
                      t.i32(shape.depth * 2));
  Value zero = t.i32(0);
  return t.load(view, {zero, zero}, {shape.depth / sliceDepth, sliceDepth},
                tile::LayoutAttr::get(op.getContext(), layout));
}

/// The columns of w2, [waves, 4 groups of 32 along K, columns]: column 16 i + n
/// of group g and wave w is row 16 (4 (4 i + w) + g) + n of w2.
StepOperand FusedStage::loadSecond() {
  // What #tenon.weight_layout says: 16 bytes along K of 16 rows lie together;
  // scales of 32 rows and 8 blocks are words of two by two.
  constexpr int64_t chunkBytes = 16, wordBytes = 4, blocksInTile = 8;
  constexpr int64_t chunk = chunkBytes * dense::packedRows;
  constexpr int64_t words = wordBytes * dense::packedRows;
  constexpr int64_t scaleTile = dense::scaleRows * blocksInTile;
  int64_t blocks = op.getExpertWidth() / block;
  int64_t rowTile = chunk * blocks;
  int64_t scaleRow = scaleTile * llvm::divideCeil(blocks, blocksInTile);
  Builder &b = t.builder();
  auto stride = [&](int64_t elements) { return b.getIndexAttr(elements); };
  Value zero = t.i32(0);
  Value number = t.workgroupId(1);
  auto viewOf = [&](StringRef name, Value operand, Value skipped,
                    const dense::ViewStrides &strides) {
    int64_t bytes = spec::WeightLayoutAttr::getExpertBytes(
        cast<MemRefType>(operand.getType()));
    Value pointer =
        t.advance(args[name], t.wideMul(routes.expert, t.i32(bytes)));
    return t.view(
        t.advance(pointer, t.wideMul(skipped, t.i32(1))), strides.strides,
        t.create<arith::SubIOp>(t.i32(bytes), skipped), strides.blocks);
  };
  dense::ViewStrides codes;
  codes.add(stride(groups * rowTile));
  codes.add(stride(1), chunkBytes);
  codes.add(stride(rowTile));
  codes.add(stride(chunkBytes), dense::packedRows);
  codes.add(stride(fusedWaves * groups * rowTile));
  dense::ViewStrides scales;
  scales.add(stride(2 * scaleRow));
  scales.add(stride(1), 2);
  scales.add(stride(scaleRow));
  scales.add(stride(wordBytes), dense::packedRows);
  scales.add(stride(2 * fusedWaves * scaleRow));
  // The place of block `number` among the words of a tile.
  Value tile = t.create<arith::DivUIOp>(number, t.i32(blocksInTile));
  Value half = t.create<arith::AndIOp>(
      t.create<arith::DivUIOp>(number, t.i32(wordBytes)), t.i32(1));
  Value quarter = t.create<arith::AndIOp>(number, t.i32(wordBytes - 1));
  Value place =
      t.add(t.add(t.mul(tile, t.i32(scaleTile)), t.mul(quarter, t.i32(words))),
            t.mul(half, t.i32(2)));
  StepOperand result;
  result.values = t.load(
      viewOf("w2", op.getW2(), t.mul(number, t.i32(chunk)), codes),
      {zero, zero, zero}, {fusedWaves, sliceDepth / 2, secondCut.tileN}, {},
      /*nontemporal=*/true);
  result.scales =
      t.load(viewOf("w2_scale", op.getW2Scale(), place, scales),
             {zero, zero, zero}, {fusedWaves, groups, secondCut.tileN});
  return result;
}

/// LDS for elements of \p type, as they follow each other.
Value FusedStage::allocate(RankedTensorType type) {
  return t.create<tile::AllocLdsOp>(tile::LdsType::get(op.getContext(),
                                                       type.getShape(),
                                                       type.getElementType()),
                                    IntegerAttr());
}

/// The steps of x, rounded, every row of the instruction alike. Values and
/// scales go through LDS together, which takes one barrier.
SmallVector<StepOperand> FusedStage::roundToken(Value x) {
  SmallVector<Value> tiles{x};
  if (hasScales(shape.input)) {
    Codes codes = quantize(t, x, shape.input, op.getScaleMode());
    tiles = {codes.values,
             t.bitcast(codes.scales, Float8E8M0FNUType::get(op.getContext()))};
  }
  // [steps, waves, values].
  int64_t count = shape.depth / stepDepth;
  SmallVector<Value> buffers;
  for (Value tile : tiles) {
    auto type = cast<RankedTensorType>(tile.getType());
    Value buffer = allocate(type);
    t.create<tile::LdsStoreOp>(tile, buffer);
    buffers.push_back(buffer);
  }
  auto step = [&](Value buffer, int64_t index) -> Value {
    auto type = cast<tile::LdsType>(buffer.getType());
    int64_t values = type.getShape()[1];
    auto load = t.create<tile::LdsLoadOp>(
        RankedTensorType::get({fusedWaves, values}, type.getElementType()),
        buffer);
    load.setOffsets(ArrayRef<int64_t>{index * fusedWaves, 0});
    return t.create<tile::BroadcastOp>(
        RankedTensorType::get({fusedWaves, rows, values},
                              type.getElementType()),
        load, ArrayRef<int64_t>{0, 2});
  };
  SmallVector<StepOperand> steps;
  for (int64_t index = 0; index < count; ++index) {
    steps.push_back({step(buffers[0], index),
                     buffers.size() > 1 ? step(buffers[1], index) : Value()});
  }
  return steps;
}

/// LDS for the left operand of the second product, with zeros.
Value FusedStage::clearDiagonal() {
  Type element = elementOf(op.getIntermediate(), t.builder());
  int64_t columns = rowBytes(op.getIntermediate(), fusedColumns) * 8 /
                    element.getIntOrFloatBitWidth();
  auto type = RankedTensorType::get({rows, groups * columns}, element);
  Builder &b = t.builder();
  TypedAttr zero = isa<IntegerType>(element)
                       ? TypedAttr(b.getIntegerAttr(element, 0))
                       : TypedAttr(b.getFloatAttr(element, 0));
  auto layout = llvm::cantFail(layout::LdsLayout::create(
      type.getShape(), {groups * columns, 1}, element.getIntOrFloatBitWidth()));
  auto ldsType = tile::LdsType::get(
      op.getContext(), type.getShape(), element,
      tile::LdsLayoutAttr::get(op.getContext(), layout), /*stages=*/1);
  Value buffer = t.create<tile::AllocLdsOp>(ldsType, IntegerAttr());
  t.create<tile::LdsStoreOp>(t.create<arith::ConstantOp>(DenseElementsAttr::get(
                                 type, ArrayRef<Attribute>(zero))),
                             buffer);
  return buffer;
}

/// The intermediate, [16, 32] with all rows alike, as the left operand of the
/// second product of each wave: [16, 128] in \p buffer, where row 4 g + r has
/// the values at 32 g and zeros elsewhere.
StepOperand FusedStage::diagonal(Value intermediate, Value buffer) {
  Codes codes =
      quantize(t, intermediate, op.getIntermediate(), op.getScaleMode());
  MLIRContext *context = op.getContext();
  auto type = cast<RankedTensorType>(codes.values.getType());
  Type element = type.getElementType();
  int64_t columns = type.getDimSize(1);
  int64_t rowLength = groups * columns;
  Value split = t.create<tile::SplitOp>(
      RankedTensorType::get({groupRows, groups, columns}, element),
      codes.values, 0, groupRows);
  auto partLayout = llvm::cantFail(
      layout::LdsLayout::create({groupRows, groups, columns},
                                {rowLength, groupRows * rowLength + columns, 1},
                                element.getIntOrFloatBitWidth()));
  auto partType = tile::LdsType::get(
      context, {groupRows, groups, columns}, element,
      tile::LdsLayoutAttr::get(context, partLayout), /*stages=*/1);
  t.create<tile::LdsStoreOp>(split,
                             t.create<tile::LdsPartOp>(partType, buffer, 0));
  Value scaleBuffer;
  if (codes.scales) {
    Value scales = t.bitcast(codes.scales, Float8E8M0FNUType::get(context));
    scaleBuffer = allocate(cast<RankedTensorType>(scales.getType()));
    t.create<tile::LdsStoreOp>(scales, scaleBuffer);
  }
  StepOperand result;
  result.values = t.create<tile::BroadcastOp>(
      RankedTensorType::get({fusedWaves, rows, rowLength}, element),
      t.create<tile::LdsLoadOp>(
          RankedTensorType::get({rows, rowLength}, element), buffer),
      ArrayRef<int64_t>{1, 2});
  if (codes.scales) {
    Type scale = Float8E8M0FNUType::get(context);
    Value scales =
        t.extract(t.create<tile::LdsLoadOp>(
                      RankedTensorType::get({rows, 1}, scale), scaleBuffer),
                  1, 0);
    result.scales = t.create<tile::BroadcastOp>(
        RankedTensorType::get({fusedWaves, rows, groups}, scale), scales,
        ArrayRef<int64_t>{1});
  }
  return result;
}

static void storeCoherent(TileBuilder &t, Value value, Value view,
                          ArrayRef<Value> offsets, Value rows = Value()) {
  t.create<tile::StoreOp>(value, view, offsets, ValueRange(), rows,
                          DenseI64ArrayAttr(), /*nontemporal=*/false,
                          /*coherent=*/true);
}

/// Writes the columns of a part: those of a group are in its first row.
void FusedStage::storePart(Value sums) {
  int64_t bytes = static_cast<int64_t>(op.getWidth()) * 4;
  int64_t parts = op.getExpertWidth() / fusedColumns;
  Value part = t.add(t.mul(route, t.i32(parts)), t.workgroupId(1));
  Builder &b = t.builder();
  dense::ViewStrides strides;
  strides.add(b.getIndexAttr(rows));
  strides.add(b.getIndexAttr(groups * rows));
  strides.add(b.getIndexAttr(1), rows);
  strides.add(b.getIndexAttr(fusedWaves * groups * rows));
  Value zero = t.i32(0);
  Value view =
      t.view(t.advance(args[routeParts], t.wideMul(part, t.i32(bytes))),
             strides.strides, t.i32(bytes), strides.blocks);
  auto type = RankedTensorType::get({rows}, b.getI32Type());
  Value row = t.create<tile::IotaOp>(type, 0);
  Value perGroup = t.integers(groupRows, row);
  Value isFirst = t.create<arith::CmpIOp>(
      arith::CmpIPredicate::eq, t.create<arith::RemUIOp>(row, perGroup),
      t.integers(0, row));
  Value group = t.create<arith::SelectOp>(
      isFirst, t.create<arith::DivUIOp>(row, perGroup), t.integers(-1, row));
  storeCoherent(t, t.transpose(sums, {1, 0, 2}), view, {zero, zero, zero},
                group);
}

/// What the last workgroup does of the \p count that count themselves at \p
/// number of \p counters.
void FusedStage::whenLast(StringRef counters, Value number, int64_t count,
                          llvm::function_ref<void()> then) {
  Value counter = t.advance(args[counters], t.wideMul(number, t.i32(4)));
  Value before = t.create<tile::ArriveOp>(t.builder().getI32Type(), counter,
                                          t.i32(count), Value());
  Value isLast = t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, before,
                                         t.i32(count - 1));
  auto branch = t.create<scf::IfOp>(isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(t.builder());
  t.builder().setInsertionPointToStart(branch.thenBlock());
  then();
}

/// Of a row of out, spread over all threads.
tile::LayoutAttr FusedStage::rowLayout() {
  // Side by side as many as leave every wave a share.
  int64_t threads = fusedWaves * 64;
  int64_t run = op.getWidth() % (4 * threads) == 0 ? 4 : 2;
  return tile::LayoutAttr::get(op.getContext(),
                               llvm::cantFail(layout::Layout::distribute1D(
                                   op.getWidth(), 64, fusedWaves, run)));
}

Value FusedStage::loadRow(Value view, Value first) {
  Value load =
      t.load(view, {first}, {static_cast<int64_t>(op.getWidth())}, rowLayout());
  cast<tile::LoadOp>(load.getDefiningOp()).setCoherent(true);
  return load;
}

/// The row of the route, of all its parts.
Value FusedStage::sumOfParts() {
  int64_t width = op.getWidth();
  int64_t parts = op.getExpertWidth() / fusedColumns;
  int64_t bytes = parts * width * 4;
  Value view =
      t.view(t.advance(args[routeParts], t.wideMul(route, t.i32(bytes))),
             {t.builder().getIndexAttr(1)}, t.i32(bytes));
  int64_t ahead = std::max<int64_t>(
      1, valuesAhead / llvm::divideCeil(width, fusedWaves * 64));
  Value sum;
  for (int64_t first = 0; first < parts; first += ahead) {
    SmallVector<Value> loaded;
    for (int64_t part = first; part < std::min(parts, first + ahead); ++part) {
      loaded.push_back(loadRow(view, t.i32(part * width)));
    }
    t.create<tile::OrderFenceOp>();
    for (Value part : loaded) {
      sum = sum ? t.addf(sum, part) : part;
    }
  }
  return sum;
}

/// Leaves the row of the route, rounded to the format of rows.
void FusedStage::storeRow(Value sum) {
  spec::Format format = op.getRoutes();
  auto type = cast<RankedTensorType>(sum.getType());
  Value row = sum;
  if (format == spec::Format::BF16) {
    row = t.create<arith::TruncFOp>(type.clone(t.builder().getBF16Type()), sum);
  }
  int64_t bytes = rowBytes(format, op.getWidth());
  Value view =
      t.view(t.advance(args[routeRows], t.wideMul(route, t.i32(bytes))),
             {t.builder().getIndexAttr(1)}, t.i32(bytes));
  storeCoherent(t, row, view, {t.i32(0)});
}

/// Of each route of the token whether it is one, as 1 or 0, and the bits of its
/// weight, or 0. Read by vectors, which stay where they are asked for.
SmallVector<std::pair<Value, Value>> FusedStage::factors() {
  int64_t count = op.getExpertsPerToken();
  int64_t extent = llvm::PowerOf2Ceil(count);
  SmallVector<layout::Basis> registers;
  for (int64_t bit = 1; bit < extent; bit *= 2) {
    registers.push_back({bit});
  }
  SmallVector<layout::Basis> lanes(6, {0}),
      waves(llvm::Log2_64(fusedWaves), {0});
  auto layout = tile::LayoutAttr::get(
      op.getContext(), llvm::cantFail(layout::Layout::create(
                           {extent}, registers, lanes, waves, {})));
  Value first = t.mul(token, t.i32(count));
  auto load = [&](StringRef name) {
    Value pointer = t.advance(args[name], t.wideMul(first, t.i32(4)));
    Value view =
        t.view(pointer, {t.builder().getIndexAttr(1)}, t.i32(4 * count));
    return t.load(view, {t.i32(0)}, {extent}, layout);
  };
  Value ids = load("ids");
  Value isRoute =
      RouteLookup(op, t, args).areRoutes(ids, t.iota(0, ids), count);
  Value one = t.create<arith::SelectOp>(isRoute, t.integers(1, ids),
                                        t.integers(0, ids));
  Value bits = t.create<arith::SelectOp>(
      isRoute, t.bitcast(load("weights"), t.builder().getI32Type()),
      t.integers(0, ids));
  auto at = [&](Value tile, int64_t index) {
    auto type = RankedTensorType::get(
        {}, t.builder().getI32Type(),
        tile::LayoutAttr::get(op.getContext(), layout.getLayout().slice({0})));
    return t.uniform(t.create<tile::ExtractOp>(type, tile, 0, index));
  };
  SmallVector<std::pair<Value, Value>> result;
  for (int64_t index = 0; index < count; ++index) {
    result.push_back({at(one, index), at(bits, index)});
  }
  return result;
}

/// Adds the rows of the token's routes by their weights. What is no route is
/// not read: its row and its weight may be anything.
void FusedStage::sumOfRoutes(ArrayRef<std::pair<Value, Value>> factors) {
  int64_t count = op.getExpertsPerToken();
  int64_t bytes = rowBytes(op.getRoutes(), op.getWidth());
  Type i32 = t.builder().getI32Type();
  Value first = t.mul(token, t.i32(count));
  int64_t ahead = std::max<int64_t>(
      1, valuesAhead / llvm::divideCeil(op.getWidth(), fusedWaves * 64));
  Value sum;
  for (int64_t begin = 0; begin < count; begin += ahead) {
    SmallVector<Value> loaded;
    int64_t end = std::min(count, begin + ahead);
    for (int64_t place = begin; place < end; ++place) {
      Value view =
          t.view(t.advance(args[routeRows],
                           t.wideMul(t.add(first, t.i32(place)), t.i32(bytes))),
                 {t.builder().getIndexAttr(1)},
                 t.mul(factors[place].first, t.i32(bytes)));
      loaded.push_back(loadRow(view, t.i32(0)));
    }
    t.create<tile::OrderFenceOp>();
    for (int64_t place = begin; place < end; ++place) {
      Value row = t.extend(loaded[place - begin]);
      auto type = cast<RankedTensorType>(row.getType());
      Value weight = t.bitcast(
          t.create<tile::SplatOp>(type.clone(i32), factors[place].second),
          t.builder().getF32Type());
      sum = sum ? t.fma(row, weight, sum) : t.mulf(row, weight);
    }
  }
  auto type = cast<RankedTensorType>(sum.getType());
  Value rounded =
      t.create<arith::TruncFOp>(type.clone(t.builder().getBF16Type()), sum);
  Value row = t.advance(args["out"],
                        t.wideMul(token, t.mul(args["out_stride"], t.i32(16))));
  t.store(rounded,
          t.view(row, {t.builder().getIndexAttr(1)},
                 t.i32(static_cast<int64_t>(op.getWidth()) * 2)),
          {t.i32(0)});
}

void FusedStage::leaveRow() {
  // Asked for before it is known who is last.
  SmallVector<std::pair<Value, Value>> known = factors();
  whenLast(routeArrivals, token, op.getExpertsPerToken(),
           [&] { sumOfRoutes(known); });
}

void FusedStage::write(tile::KernelOp kernel) {
  begin(kernel);
  // Workgroups of a route are on one die, whose L2 holds its parts, where
  // routes are a multiple of the dies.
  route = t.workgroupId(0);
  Value number = t.workgroupId(1);
  takeColumns(number);
  token = t.create<arith::DivUIOp>(route, t.i32(op.getExpertsPerToken()));
  RouteLookup lookup(op, t, args);
  std::tie(routes.expert, exists) = lookup.expert(route);
  Value hasRoutes = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, token,
                                            lookup.tokens());
  auto inside = [&](Value condition, llvm::function_ref<void()> then) {
    auto branch = t.create<scf::IfOp>(condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(t.builder());
    t.builder().setInsertionPointToStart(branch.thenBlock());
    then();
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value a,
                     int64_t b) -> Value {
    return t.create<arith::CmpIOp>(predicate, a, t.i32(b));
  };
  int64_t parts = op.getExpertWidth() / fusedColumns;
  inside(hasRoutes, [&] {
    Value x = loadToken();
    inside(compare(arith::CmpIPredicate::ne, exists, 0), [&] {
      for (int64_t part : {0, 1}) {
        product.weights.push_back(expertWeights(
            "w13", op.getW13(), op.getW13Scale(), op.getW13Order(), part));
      }
      // Of the first steps the weights, then x, which has come by then: while
      // it is rounded they are on their way. All others follow at once.
      SmallVector<SmallVector<StepOperand>> first;
      auto loadSteps = [&](int64_t end) {
        for (; static_cast<int64_t>(first.size()) < end;) {
          Value k = t.i32(static_cast<int64_t>(first.size()) * stepDepth);
          first.emplace_back();
          for (const dense::Operand &operand : product.weights) {
            first.back().push_back(product.load(operand, k, /*isWeights=*/true,
                                                /*limited=*/false));
          }
        }
      };
      int64_t count = shape.depth / stepDepth;
      loadSteps(std::min(count, stepsAhead));
      t.create<tile::OrderFenceOp>();
      SmallVector<StepOperand> tokens = roundToken(x);
      Value zeroed = clearDiagonal();
      t.create<tile::OrderFenceOp>();
      loadSteps(count);
      StepOperand w2 = loadSecond();
      t.create<tile::OrderFenceOp>();
      auto zeros = [&](ArrayRef<int64_t> extents) -> Value {
        auto type = RankedTensorType::get(extents, t.builder().getF32Type());
        return t.create<arith::ConstantOp>(
            DenseElementsAttr::get(type, t.builder().getF32FloatAttr(0.0f)));
      };
      SmallVector<Value> sums(2, zeros({fusedWaves, rows, fusedColumns}));
      for (auto [step, weights] : llvm::zip_equal(tokens, first)) {
        for (auto [sum, operand] : llvm::zip_equal(sums, weights)) {
          sum = product.multiply(sum, step, operand);
        }
      }
      for (Value &sum : sums) {
        sum = product.addSlices(sum, /*run=*/2);
      }
      second.traits = product.traits;
      second.traits.scalesX = hasScales(op.getIntermediate());
      storePart(second.multiply(zeros({fusedWaves, rows, secondCut.tileN}),
                                diagonal(activate(sums[0], sums[1]), zeroed),
                                w2));
      whenLast(partArrivals, route, parts, [&] {
        storeRow(sumOfParts());
        leaveRow();
      });
    });
    // What is no route has no parts: its first workgroup counts it.
    Value isNone = t.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                           t.add(exists, number), t.i32(0));
    inside(isNone, [&] { leaveRow(); });
  });
  t.create<tile::ReturnOp>();
}

void moe::writeFusedStage(spec::MoeExpertsOp op, tile::KernelOp kernel,
                          OpBuilder &builder) {
  FusedStage(op, builder).write(kernel);
}
