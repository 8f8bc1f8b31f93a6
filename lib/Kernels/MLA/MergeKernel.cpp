//===- MergeKernel.cpp - tile programs of mla_merge, mla_scale --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wave merges one row: 8 columns per lane. It takes eight parts at a time, so
// that their loads are on their way together, and keeps the greatest logarithm,
// the sum of exponentials and the sum of values so far, which it rescales when
// the greatest grows. Parts beyond the last are read through empty views.
//
//===----------------------------------------------------------------------===//

#include "Merge.h"

#include "../KernelArguments.h"
#include "../OnlySchedule.h"
#include "../TileBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;

static constexpr int64_t waves = 4;
static constexpr int64_t tileRows = waves;
static constexpr int64_t columns = 512;
/// Parts whose loads are on their way together.
static constexpr int64_t together = 8;
static constexpr int64_t mostParts = 64;
static constexpr double log2e = 1.4426950408889634;
static constexpr double ln2 = 0.6931471805599453;

namespace {
class MergeKernel {
public:
  MergeKernel(spec::SpecOpInterface op, OpBuilder &builder)
      : op(op), t(builder, op->getLoc()) {}

  void write(tile::KernelOp kernel);

private:
  /// What has been summed up: the greatest lse of a row, the sum of
  /// exponentials below it, and (of a merge) of values times them.
  struct Sums {
    Value greatest, total, values;
  };

  tile::LayoutAttr rowLayout();
  Value zeros();
  Value rowView(StringRef operand, Value part, Value isThere, bool isMatrix);
  Value loadLogs(Value part, Value isThere);
  Value isPresent(Value logs);
  Sums addParts(const Sums &sums, Value first);
  Value writeLse(const Sums &sums);
  void writeOut(Value values);

  spec::SpecOpInterface op;
  TileBuilder t;
  llvm::StringMap<Value> args;
  bool merges = true;
  Value row0;   ///< i32, of the tile
  Limits rows;  ///< of a tile of rows
  Limits block; ///< of a tile of rows and columns
};
} // namespace

tile::LayoutAttr MergeKernel::rowLayout() {
  SmallVector<layout::Basis> registers{{0, 1}, {0, 2}, {0, 4}};
  SmallVector<layout::Basis> lanes;
  for (int64_t column = 8; column < columns; column *= 2) {
    lanes.push_back({0, column});
  }
  return tile::LayoutAttr::get(
      op.getContext(),
      llvm::cantFail(layout::Layout::create({tileRows, columns}, registers,
                                            lanes, {{1, 0}, {2, 0}}, {})));
}

/// A tile of values; what belongs to rows is laid out like its rows.
Value MergeKernel::zeros() {
  auto type = RankedTensorType::get({tileRows, columns},
                                    t.builder().getF32Type(), rowLayout());
  return t.create<arith::ConstantOp>(
      DenseElementsAttr::get(type, t.builder().getF32FloatAttr(0.0f)));
}

/// The rows of the tile in an operand, of its part \p part where it has parts;
/// empty where \p isThere does not hold.
Value MergeKernel::rowView(StringRef operand, Value part, Value isThere,
                           bool isMatrix) {
  Value pointer = args[operand];
  auto element = cast<tile::PtrType>(pointer.getType()).getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value stride = args[(operand + "_stride").str()];
  Value units = stride; // of 16 bytes, or elements
  int64_t unit = isMatrix ? 16 : bytes;
  Value skipped = t.wideMul(row0, t.mul(units, t.i32(unit)));
  if (part) {
    skipped =
        t.add(skipped, t.wideMul(part, args[(operand + "_part_stride").str()]));
  }
  Value reach = t.i32(std::numeric_limits<int32_t>::max());
  if (isThere) {
    reach = t.select(isThere, reach, t.i32(0));
  }
  SmallVector<OpFoldResult> strides{t.mul(units, t.i32(unit / bytes))};
  if (isMatrix) {
    strides.push_back(t.builder().getIndexAttr(1));
  }
  return t.view(t.advance(pointer, skipped), strides, reach);
}

/// Logarithms of a part, as a tile of rows; minus infinity beyond the last.
Value MergeKernel::loadLogs(Value part, Value isThere) {
  tile::LayoutAttr layout = tile::LayoutAttr::get(
      op.getContext(), rowLayout().getLayout().slice({1}));
  Value logs =
      t.load(rowView("lse", part, isThere, /*isMatrix=*/false), {t.i32(0)},
             {tileRows}, layout, /*nontemporal=*/false, rows);
  if (!isThere) {
    return logs;
  }
  Value none = t.constant(-std::numeric_limits<double>::infinity(), logs);
  return t.create<arith::SelectOp>(isThere, logs, none);
}

/// Whether a part is not empty: its logarithm is finite.
Value MergeKernel::isPresent(Value logs) {
  // The difference from itself is NaN else.
  return t.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, t.subf(logs, logs),
                                 t.constant(0.0, logs));
}

MergeKernel::Sums MergeKernel::addParts(const Sums &sums, Value first) {
  SmallVector<Value> logs, values;
  for (int64_t index = 0; index < together; ++index) {
    Value part = t.add(first, t.i32(index));
    Value isThere =
        t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, part, args["W"]);
    logs.push_back(loadLogs(part, isThere));
    if (merges) {
      values.push_back(t.load(rowView("parts", part, isThere, true),
                              {t.i32(0), t.i32(0)}, {tileRows, columns},
                              rowLayout(), /*nontemporal=*/true, block));
    }
  }
  t.create<tile::OrderFenceOp>();
  Sums result = sums;
  SmallVector<Value> present;
  for (Value log : logs) {
    present.push_back(isPresent(log));
    Value known =
        t.create<arith::SelectOp>(present.back(), log, result.greatest);
    result.greatest = t.create<arith::MaxNumFOp>(result.greatest, known);
  }
  auto below = [&](Value log) {
    return t.exp2(t.mulf(t.subf(log, result.greatest), log2e));
  };
  Value grown = below(sums.greatest);
  result.total = t.mulf(sums.total, grown);
  if (merges) {
    result.values = t.mulf(sums.values, t.broadcast(grown, {0}, sums.values));
  }
  for (auto [index, log] : llvm::enumerate(logs)) {
    Value weight = t.create<arith::SelectOp>(present[index], below(log),
                                             t.constant(0.0, log));
    result.total = t.addf(result.total, weight);
    if (merges) {
      // An empty part may hold NaN.
      Value isUsed = t.broadcast(present[index], {0}, result.values);
      Value value = t.extend(values[index]);
      value = t.create<arith::SelectOp>(isUsed, value, t.constant(0.0, value));
      result.values =
          t.fma(t.broadcast(weight, {0}, result.values), value, result.values);
    }
  }
  return result;
}

/// Writes merged_lse where it is wanted, and returns it.
Value MergeKernel::writeLse(const Sums &sums) {
  Value zero = t.constant(0.0, sums.total);
  Value any =
      t.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, sums.total, zero);
  Value log = t.addf(sums.greatest, t.mulf(t.log2(sums.total), ln2));
  Value none = t.constant(-std::numeric_limits<double>::infinity(), log);
  Value lse = t.create<arith::SelectOp>(any, log, none);
  if (args.count("merged_lse")) {
    t.store(lse, rowView("merged_lse", {}, {}, /*isMatrix=*/false), {t.i32(0)},
            /*nontemporal=*/false, rows);
  }
  return lse;
}

void MergeKernel::writeOut(Value values) {
  auto element = cast<tile::PtrType>(args["out"].getType()).getElementType();
  auto type = cast<RankedTensorType>(values.getType());
  if (element != type.getElementType()) {
    values = t.create<arith::TruncFOp>(
        RankedTensorType::get(type.getShape(), element, type.getEncoding()),
        values);
  }
  t.store(values, rowView("out", {}, {}, /*isMatrix=*/true),
          {t.i32(0), t.i32(0)}, /*nontemporal=*/false, block);
}

void MergeKernel::write(tile::KernelOp kernel) {
  t.builder().setInsertionPointToStart(&kernel.getBody().front());
  args = KernelArguments::byName(kernel);
  merges = isa<spec::MlaMergeOp>(op);
  row0 = t.mul(t.workgroupId(0), t.i32(tileRows));
  Value left = t.create<arith::MinSIOp>(
      t.create<arith::SubIOp>(args["R"], row0), t.i32(tileRows));
  rows = {{left}, t.builder().getDenseI64ArrayAttr({1})};
  block = {{left, t.i32(std::numeric_limits<int32_t>::max())},
           t.builder().getDenseI64ArrayAttr({1, 1})};
  Value values = zeros();
  auto rowType = RankedTensorType::get(
      {tileRows}, t.builder().getF32Type(),
      tile::LayoutAttr::get(op.getContext(),
                            rowLayout().getLayout().slice({1})));
  auto splat = [&](double value) -> Value {
    return t.create<arith::ConstantOp>(DenseElementsAttr::get(
        rowType, t.builder().getF32FloatAttr(static_cast<float>(value))));
  };
  // Below every logarithm, and finite: the difference of two is a number.
  Sums sums{splat(std::numeric_limits<float>::lowest()), splat(0.0), values};
  SmallVector<Value> carried{sums.greatest, sums.total};
  if (merges) {
    carried.push_back(sums.values);
  }
  auto loop =
      t.create<scf::ForOp>(t.i32(0), args["W"], t.i32(together), carried);
  {
    OpBuilder::InsertionGuard guard(t.builder());
    t.builder().setInsertionPointToEnd(loop.getBody());
    auto iter = loop.getRegionIterArgs();
    Sums next = addParts({iter[0], iter[1], merges ? iter[2] : Value()},
                         loop.getInductionVar());
    SmallVector<Value> yielded{next.greatest, next.total};
    if (merges) {
      yielded.push_back(next.values);
    }
    t.create<scf::YieldOp>(yielded);
  }
  sums = {loop.getResult(0), loop.getResult(1),
          merges ? loop.getResult(2) : Value()};
  Value lse = writeLse(sums);
  Value zero = t.constant(0.0, sums.total);
  Value any =
      t.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, sums.total, zero);
  if (merges) {
    Value factor = t.create<arith::SelectOp>(any, t.rcp(sums.total), zero);
    writeOut(t.mulf(sums.values, t.broadcast(factor, {0}, sums.values)));
  } else {
    Value own = loadLogs(args["rank"], {});
    Value weight = t.create<arith::SelectOp>(
        isPresent(own), t.exp2(t.mulf(t.subf(own, lse), log2e)), zero);
    Value part = t.extend(t.load(rowView("part", {}, {}, true),
                                 {t.i32(0), t.i32(0)}, {tileRows, columns},
                                 rowLayout(), /*nontemporal=*/true, block));
    Value isUsed = t.broadcast(isPresent(own), {0}, part);
    part = t.create<arith::SelectOp>(isUsed, part, t.constant(0.0, part));
    writeOut(t.mulf(part, t.broadcast(weight, {0}, part)));
  }
  t.create<tile::ReturnOp>();
}

SmallVector<DictionaryAttr> mla::rankMergeSchedules(spec::SpecOpInterface op) {
  return {onlySchedule(op.getContext(), waves)};
}

LogicalResult mla::lowerMerge(spec::SpecOpInterface op, DictionaryAttr schedule,
                              StringRef name, OpBuilder &builder) {
  if (failed(requireOnlySchedule(op, schedule, waves))) {
    return failure();
  }
  PlanBuilder plan(builder, (name + "_plan").str(), op);
  KernelArguments arguments(builder, plan);
  arguments.pointers(op.getOperandContracts());
  for (const spec::OperandContract &contract : op.getOperandContracts()) {
    unsigned rowDim = contract.freeInner;
    Value stride = plan.strideBytes(contract.name, rowDim);
    plan.require(
        arith::CmpIPredicate::slt, stride, plan.constant(int64_t(1) << 29),
        (contract.name + ": the stride of rows must be below 2^29 bytes")
            .str());
    arguments.scalar32(
        (contract.name + "_stride").str(),
        plan.floorDiv(stride, plan.constant(contract.alignment)));
    if (rowDim == 1) {
      arguments.scalar64((contract.name + "_part_stride").str(),
                         plan.strideBytes(contract.name, 0));
    }
  }
  Value parts = plan.size("lse", 0), rows = plan.size("lse", 1);
  plan.require(arith::CmpIPredicate::sge, parts, plan.constant(1),
               "W must be at least 1");
  plan.require(arith::CmpIPredicate::sle, parts, plan.constant(mostParts),
               "W must be at most 64");
  arguments.scalar32("W", parts);
  arguments.scalar32("R", rows);
  if (isa<spec::MlaScaleOp>(op)) {
    arguments.scalar32("rank", plan.scalar("rank"));
  }
  plan.launch(name, plan.ceilDiv(rows, plan.constant(tileRows)),
              plan.constant(1), plan.constant(1), waves * 64);
  tile::KernelOp kernel =
      arguments.createKernel(op->getLoc(), name, waves, /*preloads=*/true);
  OpBuilder::InsertionGuard guard(builder);
  MergeKernel(op, builder).write(kernel);
  return success();
}
