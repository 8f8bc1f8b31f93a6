//===- DecodeMerge.cpp - parts of MLA decode made one -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup merges half of the columns of one row at a time, a wave 64 of
// them: a row has few readers else, and one request may have all slots of the
// chip. 32 parts are taken at a time, or 8 of a request that has no more. In a
// lane's registers and over four lanes parts have places, which keep sums of
// their own, below their own maximum; the places are added up last. That order
// is fixed, and so are the bits. A request without parts to merge costs its
// workgroups a look at the plan.
//
//===----------------------------------------------------------------------===//

#include "DecodeMerge.h"

#include "../TileBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::mla;

static constexpr int64_t waves = 4;
static constexpr int64_t columns = 512;
static constexpr int64_t tileColumns = 64 * waves;
/// Parts whose loads are on their way together, of many and of few.
static constexpr int64_t manyParts = 32, fewParts = 8;
/// Workgroups that keep the chip busy.
static constexpr int64_t busyWorkgroups = 2048;
static constexpr double ln2 = 0.6931471805599453;

namespace {
class DecodeMergeKernel {
public:
  DecodeMergeKernel(spec::MlaDecodeOp op, tile::KernelOp kernel, OpBuilder &b)
      : op(op), t(b, op.getLoc()), b(b), args(KernelArguments::byName(kernel)) {
  }

  void write();

private:
  /// Per place: the greatest logarithm, the sum of powers below it, and that
  /// of values times them.
  struct Sums {
    Value greatest, total, values;
  };

  tile::LayoutAttr layout();
  tile::LayoutAttr slice(unsigned dim) {
    return tile::LayoutAttr::get(b.getContext(),
                                 layout().getLayout().slice({dim}));
  }
  Value scalar(StringRef pointer, Value index);
  Value address(StringRef operand);
  Value rowOfPart(Value part);
  Sums addParts(const Sums &sums, Value first, Value left);
  void mergeRow(Value first, Value count);
  void store(const Sums &sums);

  spec::MlaDecodeOp op;
  TileBuilder t;
  OpBuilder &b;
  llvm::StringMap<Value> args;
  int64_t together = manyParts;     ///< parts of a tile
  Value request, query, head, half; ///< i32, of what is merged
  Value token; ///< packed: the row of q and out; else the query
};
} // namespace

tile::LayoutAttr DecodeMergeKernel::layout() {
  SmallVector<layout::Basis> registers{{0, 1}, {0, 2}};
  for (int64_t bit = 4; bit < together; bit *= 2) {
    registers.push_back({bit, 0});
  }
  SmallVector<layout::Basis> lanes{{0, 4},  {0, 8}, {0, 16},
                                   {0, 32}, {1, 0}, {2, 0}};
  return tile::LayoutAttr::get(
      b.getContext(),
      llvm::cantFail(layout::Layout::create({together, tileColumns}, registers,
                                            lanes, {{0, 64}, {0, 128}}, {})));
}

/// The i32 at \p index behind a pointer.
Value DecodeMergeKernel::scalar(StringRef pointer, Value index) {
  return t.create<tile::LoadScalarOp>(
      b.getI32Type(), t.advance(args[pointer], t.wideMul(index, t.i32(4))));
}

/// Where the row lies in out or in lse.
Value DecodeMergeKernel::address(StringRef operand) {
  auto stride = [&](StringRef which) {
    return args[(operand + "_" + which).str()];
  };
  Value bytes = t.wideMul(token, stride("token_stride"));
  bytes = t.add(bytes, t.wideMul(head, stride("head_stride")));
  if (!op.isPacked()) {
    bytes = t.add(bytes, t.wideMul(request, stride("stride")));
  }
  return t.advance(args[operand], bytes);
}

/// The row of the workgroup in part \p part, counted in rows of all parts.
Value DecodeMergeKernel::rowOfPart(Value part) {
  Value row = t.add(t.mul(query, t.i32(op.getHeads())), head);
  return t.add(t.wideMul(part, t.i32(op.getRows())), t.wideMul(row, t.i32(1)));
}

/// Adds the parts from slot \p first on, of which \p left are there.
DecodeMergeKernel::Sums DecodeMergeKernel::addParts(const Sums &sums,
                                                    Value first, Value left) {
  Value row = rowOfPart(first);
  Value reach = t.i32(std::numeric_limits<int32_t>::max());
  OpFoldResult unit = b.getIndexAttr(1);
  Value logView = t.view(t.advance(args["part_lse"], t.wideMul(row, t.i64(4))),
                         {b.getIndexAttr(op.getRows())}, reach);
  Limits parts{{left}, b.getDenseI64ArrayAttr({1})};
  Value logs = t.load(logView, {t.i32(0)}, {together}, slice(1),
                      /*nontemporal=*/false, parts);
  Value valueView =
      t.view(t.advance(args["parts"], t.wideMul(row, t.i64(4 * columns))),
             {b.getIndexAttr(op.getRows() * columns), unit}, reach);
  Limits block{{left, reach}, b.getDenseI64ArrayAttr({1, 1})};
  Value values =
      t.load(valueView, {t.i32(0), t.mul(half, t.i32(tileColumns))},
             {together, tileColumns}, layout(), /*nontemporal=*/true, block);
  t.create<tile::OrderFenceOp>();

  Value number = t.create<tile::IotaOp>(
      RankedTensorType::get({together}, b.getI32Type(), slice(1)), 0);
  Value isThere = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, number,
                                          t.splat(left, number));
  // A row that sees no key of the slot has minus infinity.
  Value lowest = t.constant(std::numeric_limits<float>::lowest(), logs);
  Value hasKeys = t.create<arith::AndIOp>(
      isThere,
      t.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, logs, lowest));
  Sums next;
  next.greatest = t.create<arith::MaxNumFOp>(
      sums.greatest, t.select(hasKeys, logs, sums.greatest));
  Value grown = t.exp2(t.subf(sums.greatest, next.greatest));
  Value zero = t.constant(0.0, logs);
  Value weight = t.select(hasKeys, t.exp2(t.subf(logs, next.greatest)), zero);
  next.total = t.fma(sums.total, grown, weight);
  Value isUsed = t.broadcast(hasKeys, {0}, values);
  values = t.select(isUsed, values, t.constant(0.0, values));
  next.values = t.fma(t.broadcast(weight, {0}, values), values,
                      t.mulf(sums.values, t.broadcast(grown, {0}, values)));
  return next;
}

/// Merges the row from \p count slots, the first of which is \p first.
void DecodeMergeKernel::mergeRow(Value first, Value count) {
  auto filled = [&](RankedTensorType type, double value) -> Value {
    return t.create<arith::ConstantOp>(DenseElementsAttr::get(
        type, b.getF32FloatAttr(static_cast<float>(value))));
  };
  auto rowType = RankedTensorType::get({together}, b.getF32Type(), slice(1));
  auto blockType =
      RankedTensorType::get({together, tileColumns}, b.getF32Type(), layout());
  auto loop = t.create<scf::ForOp>(
      t.i32(0), count, t.i32(together),
      ValueRange{filled(rowType, std::numeric_limits<float>::lowest()),
                 filled(rowType, 0), filled(blockType, 0)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    auto carried = loop.getRegionIterArgs();
    Value at = loop.getInductionVar();
    Sums next = addParts({carried[0], carried[1], carried[2]}, t.add(first, at),
                         t.create<arith::SubIOp>(count, at));
    t.create<scf::YieldOp>(ValueRange{next.greatest, next.total, next.values});
  }
  store({loop.getResult(0), loop.getResult(1), loop.getResult(2)});
}

/// Adds the places up and writes the row.
void DecodeMergeKernel::store(const Sums &sums) {
  auto single = RankedTensorType::get({}, b.getF32Type());
  auto dims = b.getDenseI64ArrayAttr({0});
  Value greatest = t.create<tile::ReduceOp>(single, tile::ReduceKind::Max,
                                            sums.greatest, dims);
  Value factor =
      t.exp2(t.subf(sums.greatest, t.splat(greatest, sums.greatest)));
  Value total = t.create<tile::ReduceOp>(single, tile::ReduceKind::Add,
                                         t.mulf(sums.total, factor), dims);
  Value values = t.create<tile::ReduceOp>(
      RankedTensorType::get({tileColumns}, b.getF32Type(), slice(0)),
      tile::ReduceKind::Add,
      t.mulf(sums.values, t.broadcast(factor, {0}, sums.values)), dims);
  Value zero = t.constant(0.0, total);
  Value any = t.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, total, zero);
  Value inverse = t.select(any, t.rcp(total), zero);
  Value out = t.mulf(values, t.splat(inverse, values));
  auto element = cast<tile::PtrType>(args["out"].getType()).getElementType();
  if (!element.isF32()) {
    out = t.create<arith::TruncFOp>(
        cast<RankedTensorType>(out.getType()).clone(element), out);
  }
  OpFoldResult unit = b.getIndexAttr(1);
  t.store(out,
          t.view(address("out"), {unit},
                 t.i32(columns * element.getIntOrFloatBitWidth() / 8)),
          {t.mul(half, t.i32(tileColumns))});
  if (!args.contains("lse")) {
    return;
  }
  Value lse = t.mulf(t.addf(greatest, t.log2(total)), ln2);
  lse = t.select(any, lse,
                 t.constant(-std::numeric_limits<double>::infinity(), lse));
  // One element, which the workgroup of the first half writes.
  Value lane = t.create<arith::ConstantOp>(DenseElementsAttr::get(
      RankedTensorType::get({64}, b.getF32Type()), b.getF32FloatAttr(0.0f)));
  Value bytes = t.mul(t.create<arith::SubIOp>(t.i32(1), half), t.i32(4));
  t.store(t.splat(lse, lane), t.view(address("lse"), {unit}, bytes),
          {t.i32(0)});
}

void DecodeMergeKernel::write() {
  request = t.workgroupId(1);
  Value entry = t.mul(t.add(args["slots"], request), t.i32(4)); // of the plan
  Value first = scalar("plan", entry);
  Value count = scalar("plan", t.add(entry, t.i32(1)));
  Value queries = args["queries"], begin;
  if (op.isPacked()) {
    begin = scalar("qo_indptr", request);
    queries = t.create<arith::SubIOp>(
        scalar("qo_indptr", t.add(request, t.i32(1))), begin);
  }
  auto isAbove = [&](int64_t least) -> Value {
    return t.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, count,
                                   t.i32(least));
  };
  int64_t heads = op.getHeads();
  Value halves =
      t.select(isAbove(1), t.mul(queries, t.i32(2 * heads)), t.i32(0));
  auto loop = t.create<scf::ForOp>(t.workgroupId(0), halves, args["workers"]);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar();
    half = t.create<arith::AndIOp>(number, t.i32(1));
    Value row = t.create<arith::ShRUIOp>(number, t.i32(1));
    query = t.create<arith::DivUIOp>(row, t.i32(heads));
    head = t.create<arith::SubIOp>(row, t.mul(query, t.i32(heads)));
    token = op.isPacked() ? t.add(begin, query) : query;
    auto branch =
        t.create<scf::IfOp>(isAbove(fewParts), /*withElseRegion=*/true);
    for (auto [block, size] : {std::pair(branch.thenBlock(), manyParts),
                               {branch.elseBlock(), fewParts}}) {
      OpBuilder::InsertionGuard inBranch(b);
      b.setInsertionPointToStart(block);
      together = size;
      mergeRow(first, count);
    }
  }
  t.create<tile::ReturnOp>();
}

void mla::launchDecodeMerge(spec::MlaDecodeOp op, PlanBuilder &plan,
                            Value slots, StringRef name, OpBuilder &builder) {
  KernelArguments arguments(builder, plan);
  SmallVector<spec::OperandContract> taken;
  for (const spec::OperandContract &contract : op.getOperandContracts()) {
    if (llvm::is_contained({"plan", "qo_indptr", "out", "lse"},
                           contract.name)) {
      taken.push_back(contract);
    }
  }
  arguments.pointers(taken);
  if (!op.getPlan()) {
    arguments.statedWorkspace("plan", builder.getI32Type());
  }
  arguments.statedWorkspace("parts", builder.getF32Type());
  arguments.statedWorkspace("part_lse", builder.getF32Type());
  arguments.scalar32("slots", slots);
  unsigned tokenDim = op.isPacked() ? 0 : 1;
  for (StringRef operand : {"out", "lse"}) {
    if (operand == "lse" && !op.getLse()) {
      continue;
    }
    if (!op.isPacked()) {
      arguments.scalar32((operand + "_stride").str(),
                         plan.strideBytes(operand, 0));
    }
    arguments.scalar32((operand + "_token_stride").str(),
                       plan.strideBytes(operand, tokenDim));
    // That of heads in lse is dense.
    bool isDense = operand == "lse";
    arguments.scalar32((operand + "_head_stride").str(),
                       isDense ? plan.constant(4)
                               : plan.strideBytes(operand, tokenDim + 1));
  }
  Value requests = plan.size("seq_len", 0);
  Value queries =
      op.isPacked() ? plan.constant(op.getMaxQueries()) : plan.size("q", 1);
  Value halves = plan.mul(queries, plan.constant(2 * op.getHeads()));
  Value workers =
      plan.min(halves, plan.ceilDiv(plan.constant(busyWorkgroups),
                                    plan.max(requests, plan.constant(1))));
  arguments.scalar32("queries", queries);
  arguments.scalar32("workers", workers);
  plan.launch(name, workers, requests, plan.constant(1), waves * 64);
  tile::KernelOp kernel =
      arguments.createKernel(op.getLoc(), name, waves, /*preloads=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  DecodeMergeKernel(op, kernel, builder).write();
}
