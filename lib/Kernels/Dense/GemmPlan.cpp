//===- GemmPlan.cpp - the plan that launches tenon.gemm ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmKernel.h"
#include "GemmWalk.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

/// Passes the row stride of an operand, in units of its alignment.
static void passStride(PlanBuilder &plan, KernelArguments &arguments,
                       const spec::OperandContract &contract,
                       const GemmSchedule &schedule) {
  Value stride = plan.strideBytes(contract.name);
  arguments.scalar32((contract.name + "_stride").str(),
                     plan.floorDiv(stride, plan.constant(contract.alignment)));
  int64_t tile = StringRef(contract.name).starts_with("weight")
                     ? schedule.tileN
                     : schedule.tileM;
  plan.require(arith::CmpIPredicate::slt, plan.mul(stride, plan.constant(tile)),
               plan.constant(int64_t(1) << 31),
               (contract.name + ": " + Twine(tile) +
                " rows must reach less than 2^31 bytes")
                   .str());
}

LogicalResult kernels::dense::lowerGemm(spec::GemmOp op,
                                        DictionaryAttr attribute,
                                        StringRef name, OpBuilder &builder) {
  FailureOr<GemmSchedule> schedule = parseSchedule(op, attribute);
  if (failed(schedule)) {
    return failure();
  }
  FailureOr<target::TargetInfo> target = tile::getTarget(op);
  if (failed(target)) {
    return failure();
  }
  PlanBuilder plan(builder, (name + "_plan").str(), op);
  SmallVector<spec::OperandContract> contracts = op.getOperandContracts();
  if (op.getWeightOrder()) {
    requirePackedReach(op, schedule->tileN, plan);
  }
  KernelArguments arguments(builder, plan);
  // What the first loads need comes first: only so many arguments arrive in
  // registers.
  auto stream = [&](const spec::OperandContract &contract) {
    return contract.name == "x" || contract.name == "weights";
  };
  auto passOperands = [&](bool streams) {
    for (const spec::OperandContract &contract : contracts) {
      if (stream(contract) == streams) {
        arguments.pointers(contract);
      }
    }
    for (const spec::OperandContract &contract : contracts) {
      if (stream(contract) == streams && contract.freeStride) {
        passStride(plan, arguments, contract, *schedule);
      }
    }
  };
  passOperands(/*streams=*/true);
  Value tokens = plan.size("x", 0);
  Value outColumns = plan.size("out", 1);
  auto range = [&](Value given, StringRef begin, StringRef end, Value all,
                   int64_t tile) {
    Value from = given ? plan.scalar(begin) : plan.constant(0);
    Value to = given ? plan.scalar(end) : all;
    arguments.scalar32(begin, from);
    arguments.scalar32(end, to);
    return plan.ceilDiv(plan.sub(to, from), plan.constant(tile));
  };
  Value gridX = range(op.getColBegin(), "col_begin", "col_end", outColumns,
                      schedule->tileN);
  Value gridY =
      range(op.getRowBegin(), "row_begin", "row_end", tokens, schedule->tileM);
  int64_t parts = op.isGated() ? 2 : 1;
  if (schedule->split > 1) {
    passSplitWorkspaces(plan, arguments, *schedule, parts, gridX, gridY);
  } else if (schedule->walks()) {
    gridX = passWalk(plan, arguments, *schedule, parts, gridX, gridY,
                     plan.size("x", 1));
    gridY = plan.constant(1);
  }
  arguments.scalar32("K", plan.size("x", 1));
  arguments.scalar32("N/2", outColumns);
  passOperands(/*streams=*/false);
  plan.launch(name, gridX, gridY, plan.constant(schedule->split),
              schedule->waves() * 64);

  tile::KernelOp kernel =
      arguments.createKernel(op.getLoc(), name, schedule->waves(),
                             /*preloads=*/true);
  if (!schedule->order.empty()) {
    kernel->setAttr("tile.schedule", builder.getStringAttr(schedule->order));
  }
  if (schedule->agprs) {
    kernel.setAgprs(static_cast<uint32_t>(schedule->agprs));
  }
  if (schedule->wavesPerSimd) {
    kernel.setWavesPerSimd(static_cast<uint32_t>(schedule->wavesPerSimd));
  }
  kernel.setPinned(schedule->pinned);
  OpBuilder::InsertionGuard guard(builder);
  GemmKernel(op, *schedule, target->facts().xcds, builder).write(kernel);
  return success();
}
