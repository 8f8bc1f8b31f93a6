//===- DecodeMerge.cpp - parts of MLA decode made one -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup is a wave, which merges some columns of one row at a time. Of a
// request with few parts those are half of the columns, and a lane takes all
// parts of its own. One with many may have all slots of the chip and is alone:
// 32 columns at a time make enough workgroups, eight lanes share the parts, and
// all of them are on their way together up to 256. The order of sums follows
// from the number of parts alone, and so do the bits. A request without parts
// to merge costs its workgroups a look at the plan.
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

static constexpr int64_t columns = 512;
/// Columns that a lane loads side by side.
static constexpr int64_t laneColumns = 4;
/// Workgroups that keep the chip busy.
static constexpr int64_t busyWorkgroups = 4096;
static constexpr double ln2 = 0.6931471805599453;

namespace {
/// What a workgroup merges at a time.
struct Unit {
  int64_t parts;   ///< whose loads are on their way together
  int64_t columns; ///< of a row

  int64_t ofRow() const { return ::columns / columns; }
};
} // namespace

/// Of requests with at most as many parts, the last one also of others.
static constexpr Unit few{8, 256}, some{64, 32}, many{256, 32};

namespace {
class DecodeMergeKernel {
public:
  DecodeMergeKernel(spec::MlaDecodeOp op, tile::KernelOp kernel, OpBuilder &b)
      : op(op), t(b, op.getLoc()), b(b), args(KernelArguments::byName(kernel)) {
  }

  void write();

private:
  /// The greatest logarithm, the sum of powers below it, and that of values
  /// times them.
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
  void mergeUnit(Value first, Value count);
  void mergeRows(const Unit &unit, Value first, Value count, Value queries,
                 Value begin);
  void store(const Sums &sums);

  spec::MlaDecodeOp op;
  TileBuilder t;
  OpBuilder &b;
  llvm::StringMap<Value> args;
  Unit unit = few;
  Value request, query, head, block; ///< i32, of what is merged
  Value token; ///< packed: the row of q and out; else the query
};
} // namespace

tile::LayoutAttr DecodeMergeKernel::layout() {
  SmallVector<layout::Basis> registers{{0, 1}, {0, 2}}, lanes;
  for (int64_t bit = laneColumns; bit < unit.columns; bit *= 2) {
    lanes.push_back({0, bit});
  }
  // Parts: over the lanes that are left, then in registers.
  constexpr size_t laneBits = 6;
  for (int64_t bit = 1; bit < unit.parts; bit *= 2) {
    (lanes.size() < laneBits ? lanes : registers).push_back({bit, 0});
  }
  return tile::LayoutAttr::get(
      b.getContext(),
      llvm::cantFail(layout::Layout::create({unit.parts, unit.columns},
                                            registers, lanes, {}, {})));
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
  OpFoldResult one = b.getIndexAttr(1);
  Value logView = t.view(t.advance(args["part_lse"], t.wideMul(row, t.i64(4))),
                         {b.getIndexAttr(op.getRows())}, reach);
  Limits parts{{left}, b.getDenseI64ArrayAttr({1})};
  Value logs = t.load(logView, {t.i32(0)}, {unit.parts}, slice(1),
                      /*nontemporal=*/false, parts);
  Value valueView =
      t.view(t.advance(args["parts"], t.wideMul(row, t.i64(4 * columns))),
             {b.getIndexAttr(op.getRows() * columns), one}, reach);
  Limits present{{left, reach}, b.getDenseI64ArrayAttr({1, 1})};
  Value values = t.load(
      valueView, {t.i32(0), t.mul(block, t.i32(unit.columns))},
      {unit.parts, unit.columns}, layout(), /*nontemporal=*/true, present);
  t.create<tile::OrderFenceOp>();

  Value number = t.create<tile::IotaOp>(
      RankedTensorType::get({unit.parts}, b.getI32Type(), slice(1)), 0);
  Value isThere = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, number,
                                          t.splat(left, number));
  // A row that sees no key of the slot has minus infinity.
  Value lowest = t.constant(std::numeric_limits<float>::lowest(), logs);
  logs = t.create<arith::MaxNumFOp>(t.select(isThere, logs, lowest), lowest);
  Sums next;
  next.greatest = t.create<arith::MaxNumFOp>(
      sums.greatest, t.reduce(tile::ReduceKind::Max, logs, {0}));
  Value grown = t.exp2(t.subf(sums.greatest, next.greatest));
  // Of nothing but rows without keys the greatest is the lowest number.
  Value hasKeys =
      t.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, logs, lowest);
  Value weight = t.exp2(t.subf(logs, t.splat(next.greatest, logs)));
  weight = t.select(hasKeys, weight, t.constant(0.0, logs));
  next.total =
      t.fma(sums.total, grown, t.reduce(tile::ReduceKind::Add, weight, {0}));
  values = t.mulf(t.broadcast(weight, {0}, values), values);
  next.values = t.fma(sums.values, t.splat(grown, sums.values),
                      t.reduce(tile::ReduceKind::Add, values, {0}));
  return next;
}

/// Merges the unit from \p count slots, the first of which is \p first.
void DecodeMergeKernel::mergeUnit(Value first, Value count) {
  auto filled = [&](RankedTensorType type, double value) -> Value {
    return t.create<arith::ConstantOp>(DenseElementsAttr::get(
        type, b.getF32FloatAttr(static_cast<float>(value))));
  };
  auto single = RankedTensorType::get({}, b.getF32Type());
  auto rowType =
      RankedTensorType::get({unit.columns}, b.getF32Type(), slice(0));
  auto loop = t.create<scf::ForOp>(
      t.i32(0), count, t.i32(unit.parts),
      ValueRange{filled(single, std::numeric_limits<float>::lowest()),
                 filled(single, 0), filled(rowType, 0)});
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

/// Writes the unit.
void DecodeMergeKernel::store(const Sums &sums) {
  Value zero = t.constant(0.0, sums.total);
  Value any =
      t.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, sums.total, zero);
  Value inverse = t.select(any, t.rcp(sums.total), zero);
  Value out = t.mulf(sums.values, t.splat(inverse, sums.values));
  auto element = cast<tile::PtrType>(args["out"].getType()).getElementType();
  if (!element.isF32()) {
    out = t.create<arith::TruncFOp>(
        cast<RankedTensorType>(out.getType()).clone(element), out);
  }
  OpFoldResult one = b.getIndexAttr(1);
  t.store(out,
          t.view(address("out"), {one},
                 t.i32(columns * element.getIntOrFloatBitWidth() / 8)),
          {t.mul(block, t.i32(unit.columns))});
  if (!args.contains("lse")) {
    return;
  }
  Value lse = t.mulf(t.addf(sums.greatest, t.log2(sums.total)), ln2);
  lse = t.select(any, lse,
                 t.constant(-std::numeric_limits<double>::infinity(), lse));
  // One element, which comes with the first columns.
  Value lane = t.create<arith::ConstantOp>(DenseElementsAttr::get(
      RankedTensorType::get({64}, b.getF32Type()), b.getF32FloatAttr(0.0f)));
  Value isFirst =
      t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, block, t.i32(0));
  Value bytes = t.select(isFirst, t.i32(4), t.i32(0));
  t.store(t.splat(lse, lane), t.view(address("lse"), {one}, bytes), {t.i32(0)});
}

/// Merges what the workgroup has of the rows of \p queries tokens, in units of
/// \p size. Packed tokens begin at \p begin.
void DecodeMergeKernel::mergeRows(const Unit &size, Value first, Value count,
                                  Value queries, Value begin) {
  unit = size;
  int64_t heads = op.getHeads();
  auto loop = t.create<scf::ForOp>(t.workgroupId(0),
                                   t.mul(queries, t.i32(heads * unit.ofRow())),
                                   args["workers"]);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value units = t.i32(unit.ofRow());
  Value row = t.create<arith::DivUIOp>(number, units);
  block = t.create<arith::RemUIOp>(number, units);
  query = t.create<arith::DivUIOp>(row, t.i32(heads));
  head = t.create<arith::SubIOp>(row, t.mul(query, t.i32(heads)));
  token = op.isPacked() ? t.add(begin, query) : query;
  mergeUnit(first, count);
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
  // By the number of parts.
  auto branch = [&](const Unit &least, llvm::function_ref<void()> above,
                    llvm::function_ref<void()> others) {
    auto either =
        t.create<scf::IfOp>(isAbove(least.parts), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(either.thenBlock());
    above();
    b.setInsertionPointToStart(either.elseBlock());
    others();
  };
  auto merge = [&](const Unit &size, Value queries) {
    mergeRows(size, first, count, queries, begin);
  };
  branch(
      few,
      [&] {
        branch(
            some, [&] { merge(many, queries); }, [&] { merge(some, queries); });
      },
      [&] { merge(few, t.select(isAbove(1), queries, t.i32(0))); });
  t.create<tile::ReturnOp>();
}

void mla::launchDecodeMerge(spec::MlaDecodeOp op, PlanBuilder &plan,
                            Value slots, Value queries, StringRef name,
                            OpBuilder &builder) {
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
  // Each has a unit of many parts; of few parts there are fewer.
  Value units = plan.mul(queries, plan.constant(many.ofRow() * op.getHeads()));
  Value workers =
      plan.min(units, plan.ceilDiv(plan.constant(busyWorkgroups),
                                   plan.max(requests, plan.constant(1))));
  arguments.scalar32("queries", queries);
  arguments.scalar32("workers", workers);
  plan.launch(name, workers, requests, plan.constant(1), 64);
  tile::KernelOp kernel =
      arguments.createKernel(op.getLoc(), name, /*waves=*/1, /*preloads=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  DecodeMergeKernel(op, kernel, builder).write();
}
