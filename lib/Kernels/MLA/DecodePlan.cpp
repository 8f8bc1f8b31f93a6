//===- DecodePlan.cpp - kernel of tenon.mla_plan ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup of one wave per request. Each of them reads all lengths and
// applies the rule (DecodeSplit.cpp) again, so that none waits for another.
//
//===----------------------------------------------------------------------===//

#include "DecodePlan.h"

#include "../TileBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::mla;

static constexpr int64_t rowsPerBlock = 16;

namespace {
/// Writes the kernel.
class PlanKernel {
public:
  PlanKernel(const DecodePlanShape &shape, tile::KernelOp kernel,
             OpBuilder &builder)
      : t(builder, kernel.getLoc()), args(KernelArguments::byName(kernel)),
        b(builder), rule(t, splitInputs(args, shape.cpSize, shape.cpInterleave),
                         /*waves=*/1) {}

  void write();

private:
  Value all(Value scalar, Value like) { return t.splat(scalar, like); }
  Value all(int64_t value, Value like) { return t.integers(value, like); }
  template <typename Op> Value make(Value a, Value c) {
    return t.create<Op>(a, c);
  }
  void writeRows(Value first, Value count,
                 llvm::function_ref<SmallVector<Value>(Value)> columns);

  TileBuilder t;
  llvm::StringMap<Value> args;
  OpBuilder &b;
  SplitRule rule;
};
} // namespace

/// Writes \p count rows of the plan from row \p first on, with the columns that
/// belong to their numbers from 0 on.
void PlanKernel::writeRows(
    Value first, Value count,
    llvm::function_ref<SmallVector<Value>(Value)> columns) {
  static constexpr int64_t rowBytes = 16, rowsAtOnce = 64;
  Value view = t.view(
      t.advance(args["plan"], t.wideMul(first, t.i32(rowBytes))),
      {b.getIndexAttr(4), b.getIndexAttr(1)}, t.mul(count, t.i32(rowBytes)));
  auto loop = t.create<scf::ForOp>(t.i32(0), count, t.i32(rowsAtOnce));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = t.create<tile::IotaOp>(
      RankedTensorType::get({rowsAtOnce}, b.getI32Type()), 0);
  number = t.add(number, all(loop.getInductionVar(), number));
  t.store(t.stack(columns(number), 1), view,
          {loop.getInductionVar(), t.i32(0)});
}

void PlanKernel::write() {
  Value request = t.workgroupId(0);
  Value blocks = rule.blocksPerSlot();
  auto [before, total] = rule.countSlots(blocks, request);
  Value length = t.create<tile::LoadScalarOp>(
      b.getI32Type(), t.advance(args["seq_len"], t.wideMul(request, t.i32(4))));
  Value keys = rule.localLength(length);
  Value size = t.mul(blocks, t.i32(planKeys));
  Value count = make<arith::DivUIOp>(
      t.add(rule.blocksOf(keys), make<arith::SubIOp>(blocks, t.i32(1))),
      blocks);
  count = make<arith::MaxSIOp>(count, t.i32(1));
  writeRows(before, count, [&](Value number) -> SmallVector<Value> {
    Value begin = t.mul(number, all(size, number));
    Value end = make<arith::MinSIOp>(t.add(begin, all(size, number)),
                                     all(keys, number));
    return {all(request, number), begin, end, all(count, number)};
  });
  writeRows(t.add(args["slots"], request), t.i32(1),
            [&](Value number) -> SmallVector<Value> {
              return {all(before, number), all(count, number),
                      all(keys, number), all(0, number)};
            });
  // The last request has what no slot uses.
  Value isLast = t.create<arith::CmpIOp>(
      arith::CmpIPredicate::eq, t.add(request, t.i32(1)), args["requests"]);
  Value unused =
      t.select(isLast, make<arith::SubIOp>(args["slots"], total), t.i32(0));
  writeRows(total, unused, [&](Value number) -> SmallVector<Value> {
    Value zero = all(0, number);
    return {all(-1, number), zero, zero, zero};
  });
  t.create<tile::ReturnOp>();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Value mla::planSlots(PlanBuilder &plan, Value requests, Value workgroups) {
  return plan.add(requests, plan.max(requests, workgroups));
}

void mla::splitArguments(KernelArguments &arguments, PlanBuilder &plan,
                         Value slots, const DecodePlanShape &shape) {
  arguments.scalar32("requests", plan.size("seq_len", 0));
  arguments.scalar32("slots", slots);
  arguments.scalar32("workgroups", shape.workgroups);
  arguments.scalar32("moved",
                     plan.ceilDiv(shape.rows, plan.constant(rowsPerBlock)));
}

SplitInputs mla::splitInputs(const llvm::StringMap<Value> &args, int64_t cpSize,
                             int64_t cpInterleave) {
  return {args.lookup("seq_len"),
          args.lookup("requests"),
          args.lookup("slots"),
          args.lookup("workgroups"),
          args.lookup("moved"),
          args.lookup("cp_rank"),
          cpSize,
          cpInterleave};
}

void mla::launchDecodePlan(spec::SpecOpInterface op, KernelArguments &arguments,
                           PlanBuilder &plan, Value slots,
                           const DecodePlanShape &shape, int64_t least,
                           StringRef name, OpBuilder &builder) {
  SmallVector<spec::OperandContract> lengths;
  for (const spec::OperandContract &contract : op.getOperandContracts()) {
    if (contract.name == "seq_len") {
      lengths.push_back(contract);
    }
  }
  arguments.pointers(lengths);
  Value requests = plan.size("seq_len", 0);
  splitArguments(arguments, plan, slots, shape);
  arguments.scalar32("cp_rank", plan.scalar("cp_rank"));
  Value isTaken = plan.min(plan.floorDiv(requests, plan.constant(least + 1)),
                           plan.constant(1));
  plan.launch(name, plan.mul(requests, isTaken), plan.constant(1),
              plan.constant(1), 64);
  tile::KernelOp kernel = arguments.createKernel(op->getLoc(), name,
                                                 /*waves=*/1);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  PlanKernel(shape, kernel, builder).write();
}

SmallVector<DictionaryAttr> mla::rankPlanSchedules(spec::MlaPlanOp op) {
  return {DictionaryAttr::get(op.getContext())};
}

LogicalResult mla::lowerPlan(spec::MlaPlanOp op, DictionaryAttr schedule,
                             StringRef name, OpBuilder &builder) {
  if (!schedule.empty()) {
    return op->emitOpError("the schedule is {}, found ") << schedule;
  }
  PlanBuilder plan(builder, (name + "_plan").str(), op);
  KernelArguments arguments(builder, plan);
  arguments.pointers({op.getOperandContracts()[1]});
  Value requests = plan.size("seq_len", 0);
  Value slots = plan.sub(plan.size("plan", 0), requests);
  plan.require(arith::CmpIPredicate::sge, slots, requests,
               "N must be at least 2 B");
  DecodePlanShape shape{plan.constant(op.getRows()),
                        plan.constant(op.getWorkgroups()),
                        int64_t(op.getCpSize()), int64_t(op.getCpInterleave())};
  launchDecodePlan(op, arguments, plan, slots, shape, /*least=*/0, name,
                   builder);
  return success();
}
