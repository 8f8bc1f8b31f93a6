//===- DecodeKernel.cpp - the tile program of tenon.mla_decode --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What comes before and after the keys (DecodeLoop.cpp): which slot and which
// rows a workgroup has, its queries, and its results. A row is head h of query
// token t, number t * H + h of its request; rows that a request does not have
// read as zeros and are not written.
//
//===----------------------------------------------------------------------===//

#include "DecodePlan.h"
#include "DecodeProgram.h"

#include "../KernelArguments.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::mla;

static constexpr double log2e = 1.4426950408889634;
static constexpr double ln2 = 0.6931471805599453;
/// Dies of a chip take workgroups in turn.
static constexpr int64_t dies = 8;
/// Bytes that free strides of rows are given in.
static constexpr int64_t strideUnit = 16;

Value DecodeProgram::fill(RankedTensorType type, double value) {
  return t.create<arith::ConstantOp>(DenseElementsAttr::get(
      type, t.builder().getF32FloatAttr(static_cast<float>(value)).getValue()));
}

Value DecodeProgram::fillInt(RankedTensorType type, int64_t value) {
  return t.create<arith::ConstantOp>(
      DenseElementsAttr::get(type, t.builder().getI32IntegerAttr(value)));
}

Value DecodeProgram::widen(Value value) {
  Type wide = i64Type;
  if (auto tile = dyn_cast<RankedTensorType>(value.getType())) {
    wide = tile.clone(i64Type);
  }
  return t.create<arith::ExtUIOp>(wide, value);
}

/// FP8 codes as bf16, which is exact.
Value DecodeProgram::toBf16(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  Type bf16 = t.builder().getBF16Type();
  return type.getElementType() == bf16
             ? tile
             : t.create<arith::ExtFOp>(type.clone(bf16), tile);
}

/// Element \p index of an operand of 32-bit elements.
Value DecodeProgram::loadScalar(StringRef operand, Value index) {
  Value pointer = args[operand];
  auto element = cast<tile::PtrType>(pointer.getType()).getElementType();
  return t.create<tile::LoadScalarOp>(
      element, t.advance(pointer, t.wideMul(index, t.i64(4))));
}

/// The row of the plan of the workgroup's slot, whose \p block of rows it has.
SmallVector<Value> DecodeProgram::findSlot(Value block) {
  auto load = [&] {
    Value isSlot = compare(arith::CmpIPredicate::slt, slot, args["slots"]);
    // Beyond the last the first is read.
    Value read = t.mul(t.select(isSlot, slot, zero), t.i32(4));
    SmallVector<Value> row;
    for (int64_t column = 0; column < 4; ++column) {
      row.push_back(loadScalar("plan", t.add(read, t.i32(column))));
    }
    row[0] = t.select(isSlot, row[0], t.i32(-1));
    return row;
  };
  if (shape.hasPlan) {
    return load();
  }
  OpBuilder &b = t.builder();
  // 1 of more requests: a sign, since LLVM makes vector registers of
  // comparisons, which no loop can count.
  Value isMany = t.create<arith::ShRUIOp>(
      sub(t.i32(SplitRule::fewRequests), args["requests"]), t.i32(31));
  // Branches have no results; loops of one turn or none have.
  auto where = [&](Value turns, ValueRange otherwise,
                   llvm::function_ref<SmallVector<Value>()> body) {
    auto loop = t.create<scf::ForOp>(zero, turns, t.i32(1), otherwise);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    t.create<scf::YieldOp>(body());
    return SmallVector<Value>(loop.getResults());
  };
  SmallVector<Value> none{t.i32(-1), zero, zero, zero};
  SmallVector<Value> loaded = where(isMany, none, load);
  return where(sub(t.i32(1), isMany), loaded,
               [&] { return locateSlot(block); });
}

/// That row where there are few requests and no plan yet.
SmallVector<Value> DecodeProgram::locateSlot(Value block) {
  OpBuilder &b = t.builder();
  SplitRule rule(t, splitInputs(args, shape.ranks, shape.interleave),
                 schedule.waves());
  SplitRule::Slot found = rule.locate(slot);
  // The launch that merges looks the request up.
  Value writes = both(compare(arith::CmpIPredicate::eq, slot, found.first),
                      compare(arith::CmpIPredicate::eq, block, zero));
  writes =
      both(writes, compare(arith::CmpIPredicate::sge, found.request, zero));
  auto first = t.create<scf::IfOp>(writes, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(first.thenBlock());
  constexpr int64_t rowBytes = 16;
  Value at = t.wideMul(t.add(args["slots"], found.request), t.i32(rowBytes));
  Value view = t.view(t.advance(args["plan"], at), {index(1)}, t.i32(rowBytes));
  Value column = t.create<tile::IotaOp>(
      RankedTensorType::get({64 * schedule.waves()}, i32Type), 0);
  auto isColumn = [&](int64_t number) {
    return compare(arith::CmpIPredicate::eq, column,
                   t.integers(number, column));
  };
  Value row = t.integers(0, column);
  for (auto [number, value] :
       llvm::enumerate(ArrayRef{found.first, found.count, found.keys})) {
    row = t.create<arith::SelectOp>(isColumn(int64_t(number)),
                                    t.splat(value, column), row);
  }
  t.store(row, view, {zero});
  return {found.request, found.begin, found.end, found.count};
}

/// Finds the workgroup's slot, its request, and which keys and rows it has.
void DecodeProgram::identify() {
  zero = t.i32(0);
  Value id = t.workgroupId(0);
  Value blocks = args["row_blocks"];
  Value together = t.mul(blocks, t.i32(dies));
  Value group = t.create<arith::DivUIOp>(id, together);
  Value within = sub(id, t.mul(group, together));
  Value block = t.create<arith::DivUIOp>(within, t.i32(dies));
  slot = t.add(t.mul(group, t.i32(dies)),
               t.create<arith::RemUIOp>(within, t.i32(dies)));
  SmallVector<Value> row = findSlot(block);
  Value isUsed = compare(arith::CmpIPredicate::sge, row[0], zero);
  request = t.create<arith::MaxSIOp>(row[0], zero);
  firstKey = row[1];
  endKey = row[2];
  isOnly = compare(arith::CmpIPredicate::eq, row[3], t.i32(1));
  if (shape.isPacked) {
    firstToken = loadScalar("qo_indptr", request);
    queries =
        sub(loadScalar("qo_indptr", t.add(request, t.i32(1))), firstToken);
  } else {
    queries = args["Q"];
  }
  firstRow = t.mul(block, t.i32(at.rows));
  rowCount = t.mul(queries, t.i32(shape.heads));
  Value hasRows =
      both(isUsed, compare(arith::CmpIPredicate::slt, firstRow, rowCount));
  Value some = compare(arith::CmpIPredicate::slt, firstKey, endKey);
  hasKeys = both(hasRows, some);
  isIdle = both(hasRows, compare(arith::CmpIPredicate::sge, firstKey, endKey));
}

/// Token and head of each row of the block.
void DecodeProgram::identifyRows() {
  RankedTensorType perRow = type(at.perRow, i32Type);
  Value number = t.create<tile::IotaOp>(perRow, 0);
  row = t.add(number, t.splat(firstRow, number));
  isRow = compare(arith::CmpIPredicate::slt, row, t.splat(rowCount, row));
  token = t.create<arith::DivUIOp>(row, fillInt(perRow, shape.heads));
  head = sub(row, t.mul(token, fillInt(perRow, shape.heads)));
}

/// The place of each row in an operand in its units of strides; -1 of none.
Value DecodeProgram::rowsOf(StringRef operand) {
  Value place = t.mul(token, t.splat(args[(operand + "_token").str()], token));
  place =
      t.add(place, t.mul(head, t.splat(args[(operand + "_head").str()], head)));
  return t.create<arith::SelectOp>(isRow, place,
                                   fillInt(type(at.perRow, i32Type), -1));
}

/// The first token of the request in an operand.
Value DecodeProgram::requestBase(StringRef operand, int64_t unit) {
  Value bytes;
  if (shape.isPacked) {
    Value stride = t.wideMul(args[(operand + "_token").str()], t.i64(unit));
    bytes = t.wideMul(firstToken, stride);
  } else {
    bytes = t.wideMul(request, args[(operand + "_request").str()]);
  }
  return t.advance(args[operand], bytes);
}

/// Columns of the queries from \p firstColumn on, as the right operand of
/// scores.
Value DecodeProgram::loadQueries(StringRef operand, int64_t firstColumn,
                                 const layout::Layout &layout) {
  int64_t bytes = shape.query.getIntOrFloatBitWidth() / 8;
  Value base = t.advance(requestBase(operand, strideUnit), firstColumn * bytes);
  Value view = t.view(base, {index(strideUnit / bytes), index(1)},
                      t.i32(std::numeric_limits<int32_t>::max() - 15));
  Value tile = t.create<tile::LoadOp>(
      type(layout, shape.query), view, ValueRange{zero, zero}, ValueRange(),
      rowsOf(operand), DenseI64ArrayAttr(), /*nontemporal=*/false,
      /*staged=*/false);
  return halved(shape.hasSmallScores() ? tile : toBf16(tile), {2, 1, 0});
}

/// Behind which key each row sees none.
void DecodeProgram::findLimits() {
  Value seqLen = loadScalar("seq_len", request);
  RankedTensorType perRow = type(at.perRow, i32Type);
  Value length = t.splat(seqLen, row);
  if (shape.causal) {
    Value before = sub(t.add(seqLen, t.i32(1)), queries);
    length = t.add(token, t.splat(before, token));
  }
  if (shape.ranks > 1) {
    // Whole turns of the ranks, and what the rank has of the last one.
    int64_t turn = shape.ranks * shape.interleave;
    length = t.create<arith::MaxSIOp>(length, fillInt(perRow, 0));
    Value turns = t.create<arith::DivUIOp>(length, fillInt(perRow, turn));
    Value rest = sub(length, t.mul(turns, fillInt(perRow, turn)));
    Value before = t.mul(args["cp_rank"], t.i32(shape.interleave));
    rest = sub(rest, t.splat(before, rest));
    rest = t.create<arith::MaxSIOp>(rest, fillInt(perRow, 0));
    rest = t.create<arith::MinSIOp>(rest, fillInt(perRow, shape.interleave));
    length = t.add(t.mul(turns, fillInt(perRow, shape.interleave)), rest);
  }
  limit = t.create<arith::MinSIOp>(length, t.splat(endKey, length));
}

void DecodeProgram::loadScales() {
  scoreScale = t.f32(shape.scale * log2e);
  for (StringRef operand : {"q_scale", "kv_scale"}) {
    if (!args.count(operand)) {
      continue;
    }
    Value scale = loadScalar(operand, zero);
    scoreScale = t.mulf(scoreScale, scale);
    if (operand == "kv_scale") {
      valueScale = scale;
    }
  }
}

/// Writes \p pieces of the columns, [columns, R], to out or to the slot's part.
void DecodeProgram::storeOut(ArrayRef<Value> pieces) {
  auto store = [&](StringRef operand, Value base, Value rows, int64_t unit) {
    auto element =
        cast<tile::PtrType>(args[operand].getType()).getElementType();
    Value view = t.view(base, {index(unit), index(1)},
                        t.i32(std::numeric_limits<int32_t>::max() - 15));
    for (auto [number, piece] : llvm::enumerate(pieces)) {
      Value tile = t.transpose(piece, {1, 0});
      if (element != f32) {
        tile = t.create<arith::TruncFOp>(
            RankedTensorType::get({at.rows, at.outColumns()}, element), tile);
      }
      Value column = t.i32(int64_t(number) * at.outColumns());
      t.create<tile::StoreOp>(tile, view, ValueRange{zero, column},
                              ValueRange(), rows, DenseI64ArrayAttr(),
                              /*nontemporal=*/false, /*coherent=*/false);
    }
  };
  auto element = cast<tile::PtrType>(args["out"].getType()).getElementType();
  auto direct = t.create<scf::IfOp>(isOnly, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(t.builder());
  t.builder().setInsertionPointToStart(direct.thenBlock());
  store("out", requestBase("out", strideUnit), rowsOf("out"),
        strideUnit * 8 / element.getIntOrFloatBitWidth());
  t.builder().setInsertionPointToStart(direct.elseBlock());
  Value part = t.wideMul(slot, t.i64(shape.rows() * valueColumns * 4));
  Value rows = t.create<arith::SelectOp>(isRow, row,
                                         fillInt(type(at.perRow, i32Type), -1));
  store("parts", t.advance(args["parts"], part), rows, valueColumns);
}

/// Writes \p logarithms [R], base 2, to lse or to the slot's part.
void DecodeProgram::storeLse(Value logarithms) {
  auto store = [&](Value base, Value rows, Value values) {
    Value view = t.view(base, {index(1)},
                        t.i32(std::numeric_limits<int32_t>::max() - 15));
    t.create<tile::StoreOp>(values, view, ValueRange{zero}, ValueRange(), rows,
                            DenseI64ArrayAttr(), /*nontemporal=*/false,
                            /*coherent=*/false);
  };
  auto direct = t.create<scf::IfOp>(isOnly, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(t.builder());
  if (shape.hasLse) {
    t.builder().setInsertionPointToStart(direct.thenBlock());
    store(requestBase("lse", 4), rowsOf("lse"), t.mulf(logarithms, ln2));
  }
  t.builder().setInsertionPointToStart(direct.elseBlock());
  Value part = t.wideMul(slot, t.i64(shape.rows() * 4));
  Value rows = t.create<arith::SelectOp>(isRow, row,
                                         fillInt(type(at.perRow, i32Type), -1));
  store(t.advance(args["part_lse"], part), rows, logarithms);
}

void DecodeProgram::writeResults(const Carried &carried) {
  Value total = wholeTotal(carried);
  Value none = fill(type(at.perRow, f32), 0.0);
  Value any = t.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, total, none);
  Value lse = t.addf(carried.greatest, t.log2(total));
  Value empty =
      fill(type(at.perRow, f32), -std::numeric_limits<double>::infinity());
  storeLse(t.create<arith::SelectOp>(any, lse, empty));
  Value factor = t.rcp(total);
  if (valueScale) {
    factor = t.mulf(factor, t.splat(valueScale, factor));
  }
  if (shape.fp8Weights) {
    factor = t.mulf(factor, 1.0 / fp8WeightFactor);
  }
  SmallVector<Value> pieces;
  for (Value sums : carried.sums) {
    Value out = t.mulf(sums, t.broadcast(factor, {1}, sums));
    pieces.push_back(t.create<arith::SelectOp>(t.broadcast(any, {1}, out), out,
                                               fill(type(at.out, f32), 0.0)));
  }
  storeOut(pieces);
}

/// The results of a request without keys.
void DecodeProgram::writeNothing() {
  storeLse(
      fill(type(at.perRow, f32), -std::numeric_limits<double>::infinity()));
  storeOut(SmallVector<Value>(at.outPieces, fill(type(at.out, f32), 0.0)));
}

void DecodeProgram::write(tile::KernelOp kernel) {
  OpBuilder &b = t.builder();
  b.setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  identify();
  auto work = t.create<scf::IfOp>(hasKeys, /*withElseRegion=*/false);
  auto idle = t.create<scf::IfOp>(isIdle, /*withElseRegion=*/false);
  t.create<tile::ReturnOp>();
  b.setInsertionPointToStart(idle.thenBlock());
  identifyRows();
  writeNothing();

  b.setInsertionPointToStart(work.thenBlock());
  Value bytes = t.i32(std::numeric_limits<int32_t>::max() - 15);
  Value entries = t.wideMul(request, args["block_table_request"]);
  table = t.view(t.advance(args["block_table"], entries), {index(1)}, bytes);
  cache = t.view(args["kv"], {index(decodeColumns), index(1)}, bytes);
  allocateBuffers();
  Carried carried;
  prefetch(carried);
  identifyRows();
  findLimits();
  loadScales();
  for (int64_t piece = 0; piece < at.pieces; ++piece) {
    queryTiles.push_back(
        loadQueries("q", piece * at.pieceColumns(), at.queryValues));
  }
  queryTiles.push_back(shape.hasRope
                           ? loadQueries("q_rope", 0, at.queryRope)
                           : loadQueries("q", valueColumns, at.queryRope));
  carried.sums.assign(at.outPieces, fill(type(at.out, f32), 0.0));
  // Below every score, and finite: the difference of two is a number.
  carried.greatest =
      fill(type(at.perRow, f32), std::numeric_limits<float>::lowest());
  carried.total = fill(type(at.totals, f32), 0.0);
  Value span = sub(endKey, firstKey);
  tiles =
      t.create<arith::DivUIOp>(t.add(span, t.i32(at.keys - 1)), t.i32(at.keys));

  auto valuesOf = [&](ArrayRef<Value *> places) {
    return llvm::map_to_vector(places, [](Value *place) { return *place; });
  };
  SmallVector<Value *> places = carried.all();
  auto loop = t.create<scf::ForOp>(zero, tiles, t.i32(1), valuesOf(places));
  for (auto [place, value] :
       llvm::zip_equal(places, loop.getRegionIterArgs())) {
    *place = value;
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    if (weighsOwnKeys()) {
      stepOfOwnWeights(carried, loop.getInductionVar());
    } else {
      step(carried, loop.getInductionVar());
    }
    t.create<scf::YieldOp>(valuesOf(carried.all()));
  }
  places = carried.all();
  for (auto [place, value] : llvm::zip_equal(places, loop.getResults())) {
    *place = value;
  }
  t.create<tile::WaitCopiesOp>(carried.copies);
  writeResults(carried);
}

LogicalResult mla::writeDecode(tile::KernelOp kernel, const DecodeShape &shape,
                               const DecodeSchedule &schedule,
                               OpBuilder &builder) {
  FailureOr<target::TargetInfo> target = tile::getTarget(kernel);
  if (failed(target)) {
    return failure();
  }
  DecodeProgram(shape, schedule, *target, builder, kernel.getLoc())
      .write(kernel);
  return success();
}
