//===- Decode.cpp - schedules and launches of tenon.mla_decode --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Decode.h"
#include "DecodeKernel.h"
#include "DecodeMerge.h"
#include "DecodePlan.h"

#include "../KernelArguments.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::mla;

/// Numbers of a row of the plan.
static constexpr int64_t planColumns = 4;
/// Slots whose rows' blocks lie together in the grid (see writeDecode).
static constexpr int64_t dies = 8;

namespace {
/// What the launches of one op have in common.
class Launches {
public:
  Launches(spec::MlaDecodeOp op, StringRef name, OpBuilder &builder)
      : op(op), b(builder), plan(builder, (name + "_plan").str(), op) {
    for (const spec::OperandContract &contract : op.getOperandContracts()) {
      contracts[contract.name] = contract;
    }
  }

  /// Pointers to those of the operands that there are.
  void operands(KernelArguments &arguments, ArrayRef<StringRef> names) {
    for (StringRef name : names) {
      auto entry = contracts.find(name);
      if (entry != contracts.end()) {
        arguments.pointers(entry->second);
      }
    }
  }

  /// Strides of an operand with a row per query and head, in \p unit bytes.
  void rowStrides(KernelArguments &arguments, StringRef name, int64_t unit) {
    if (!contracts.count(name)) {
      return;
    }
    unsigned tokens = op.isPacked() ? 0 : 1;
    Value token = plan.strideBytes(name, tokens);
    Value head = plan.strideBytes(name, tokens + 1);
    // Rows of a request are reached from its first one.
    Value reach =
        plan.add(plan.mul(token, plan.constant(op.getMaxQueries() - 1)),
                 plan.mul(head, plan.constant(op.getHeads())));
    plan.require(
        arith::CmpIPredicate::slt, reach, plan.constant(int64_t(1) << 30),
        (name + ": the rows of a request must lie within 2^30 bytes").str());
    Value units = plan.constant(unit);
    arguments.scalar32((name + "_token").str(), plan.floorDiv(token, units));
    arguments.scalar32((name + "_head").str(), plan.floorDiv(head, units));
    if (!op.isPacked()) {
      arguments.scalar64((name + "_request").str(), plan.strideBytes(name, 0));
    }
  }

  spec::MlaDecodeOp op;
  OpBuilder &b;
  PlanBuilder plan;
  llvm::StringMap<spec::OperandContract> contracts;
};
} // namespace

LogicalResult mla::lowerDecode(spec::MlaDecodeOp op, DictionaryAttr attribute,
                               StringRef name, OpBuilder &builder) {
  FailureOr<DecodeSchedule> schedule = parseDecodeSchedule(op, attribute);
  if (failed(schedule)) {
    return failure();
  }
  DecodeShape shape = decodeShape(op);
  Launches launches(op, name, builder);
  PlanBuilder &plan = launches.plan;
  Type f32 = builder.getF32Type();
  FailureOr<target::TargetInfo> target = tile::getTarget(op);
  if (failed(target)) {
    return failure();
  }
  Value rows = plan.constant(shape.rows());
  // Those of this call; packed requests may have as many as there can be.
  Value liveRows = rows;
  if (!op.isPacked()) {
    Value queries = plan.size("q", 1);
    plan.require(arith::CmpIPredicate::sle, queries,
                 plan.constant(op.getMaxQueries()),
                 "q: Q must be at most max_queries");
    liveRows = plan.mul(queries, plan.constant(shape.heads));
  }
  Value rowBlocks = plan.ceilDiv(liveRows, plan.constant(schedule->rows));
  Value requests = plan.size("seq_len", 0);
  Value slots;
  if (op.getPlan()) {
    slots = plan.sub(plan.size("plan", 0), requests);
    plan.require(arith::CmpIPredicate::sge, slots, requests,
                 "plan must have at least two rows for each request");
  } else {
    // What works at a time: a workgroup per compute unit.
    Value workgroups =
        plan.max(plan.constant(1),
                 plan.floorDiv(plan.constant(target->facts().computeUnits),
                               plan.max(plan.constant(1), rowBlocks)));
    slots = planSlots(plan, requests, workgroups);
    KernelArguments arguments(builder, plan);
    arguments.workspace(
        "plan", builder.getI32Type(),
        plan.mul(plan.add(slots, requests), plan.constant(planColumns * 4)),
        /*zero=*/false);
    launchDecodePlan(op, arguments, plan, slots,
                     {liveRows, workgroups, shape.ranks, shape.interleave},
                     (name + "_parts_plan").str(), builder);
  }

  KernelArguments arguments(builder, plan);
  launches.operands(arguments,
                    {"plan", "seq_len", "qo_indptr", "block_table", "kv", "q",
                     "q_rope", "q_scale", "kv_scale", "out", "lse"});
  if (!op.getPlan()) {
    arguments.statedWorkspace("plan", builder.getI32Type());
  }
  Value partRows = plan.mul(slots, rows);
  arguments.workspace("parts", f32,
                      plan.mul(partRows, plan.constant(valueColumns * 4)),
                      /*zero=*/false);
  arguments.workspace("part_lse", f32, plan.mul(partRows, plan.constant(4)),
                      /*zero=*/false);
  if (!op.isPacked()) {
    arguments.scalar32("Q", plan.size("q", 1));
  }
  arguments.scalar32("slots", slots);
  arguments.scalar32("row_blocks", rowBlocks);
  arguments.scalar32("page", plan.size("kv", 1));
  arguments.scalar32("kv_row", plan.strideBytes("kv", 1));
  arguments.scalar64("kv_page", plan.strideBytes("kv", 0));
  arguments.scalar64("block_table_request", plan.strideBytes("block_table", 0));
  if (shape.ranks > 1) {
    arguments.scalar32("cp_rank", plan.scalar("cp_rank"));
  }
  for (StringRef operand : {"q", "q_rope", "out"}) {
    launches.rowStrides(arguments, operand, 16);
  }
  launches.rowStrides(arguments, "lse", 4);
  Value groups = plan.ceilDiv(slots, plan.constant(dies));
  std::string kernelName = (name + "_parts").str();
  plan.launch(kernelName,
              plan.mul(plan.mul(groups, plan.constant(dies)), rowBlocks),
              plan.constant(1), plan.constant(1), decodeWaves * 64);
  tile::KernelOp kernel =
      arguments.createKernel(op.getLoc(), kernelName, decodeWaves);
  {
    OpBuilder::InsertionGuard guard(builder);
    if (failed(writeDecode(kernel, shape, *schedule, builder))) {
      return failure();
    }
  }
  launchDecodeMerge(op, plan, slots, (name + "_merge").str(), builder);
  return success();
}
