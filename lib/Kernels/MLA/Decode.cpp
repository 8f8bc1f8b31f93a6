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

  /// Strides of an operand with a row per query and head, in \p unit bytes; a
  /// request has at most \p queries.
  void rowStrides(KernelArguments &arguments, StringRef name, int64_t unit,
                  Value queries) {
    if (!contracts.count(name)) {
      return;
    }
    unsigned tokens = op.isPacked() ? 0 : 1;
    Value token = plan.strideBytes(name, tokens);
    Value head = plan.strideBytes(name, tokens + 1);
    // Rows of a request are reached from its first one, in 32 bits.
    constexpr int64_t rowBytes = valueColumns * 4;
    Value last =
        plan.sub(plan.max(queries, plan.constant(1)), plan.constant(1));
    Value reach = plan.add(plan.mul(token, last),
                           plan.mul(head, plan.constant(op.getHeads() - 1)));
    plan.require(
        arith::CmpIPredicate::sle, reach,
        plan.constant((int64_t(1) << 31) - 16 - rowBytes),
        (name + ": the rows of a request must lie within 2^31 bytes").str());
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
  const int64_t units = target->facts().computeUnits;
  Value requests = plan.size("seq_len", 0);
  // Queries of a request of this call: at most, and as the others have.
  Value queries, usual;
  if (op.isPacked()) {
    Value tokens = plan.size("q", 0);
    queries = plan.min(tokens, plan.constant(op.getMaxQueries()));
    usual = plan.min(
        queries, plan.ceilDiv(tokens, plan.max(requests, plan.constant(1))));
  } else {
    queries = usual = plan.size("q", 1);
    plan.require(arith::CmpIPredicate::sle, queries,
                 plan.constant(op.getMaxQueries()),
                 "q: Q must be at most max_queries");
  }
  auto rowsOf = [&](Value queries) {
    return plan.mul(queries, plan.constant(shape.heads));
  };
  // Calls of few queries have a kernel of their own.
  DecodeSchedule least = ofFewRows(shape, *schedule);
  SmallVector<DecodeSchedule> kernels{*schedule};
  if (least.rows < schedule->rows) {
    kernels.push_back(least);
  }
  Value isFew =
      plan.floorDiv(plan.min(rowsOf(queries), plan.constant(least.rows + 1)),
                    plan.constant(least.rows + 1)); // 0, or 1 of more rows
  isFew = plan.sub(plan.constant(1), isFew);
  auto blocksOf = [&](Value rows, const DecodeSchedule &schedule) {
    return plan.ceilDiv(rows, plan.constant(schedule.rows));
  };
  Value slots;
  DecodePlanShape split;
  if (op.getPlan()) {
    slots = plan.sub(plan.size("plan", 0), requests);
    plan.require(arith::CmpIPredicate::sge, slots, requests,
                 "plan must have at least two rows for each request");
  } else {
    // What works at a time: a workgroup per compute unit. A call of few rows
    // has one block of them in either kernel.
    Value workgroups =
        plan.max(plan.constant(1),
                 plan.floorDiv(plan.constant(units),
                               plan.max(plan.constant(1),
                                        blocksOf(rowsOf(usual), *schedule))));
    split = {rowsOf(usual), workgroups, shape.ranks, shape.interleave};
    slots = planSlots(plan, requests, workgroups);
    KernelArguments arguments(builder, plan);
    arguments.workspace(
        "plan", builder.getI32Type(),
        plan.mul(plan.add(slots, requests), plan.constant(planColumns * 4)),
        /*zero=*/false);
    launchDecodePlan(op, arguments, plan, slots, split, SplitRule::fewRequests,
                     (name + "_parts_plan").str(), builder);
  }
  Value rows = plan.constant(shape.rows());
  Value partRows = plan.mul(slots, rows);
  bool isStated = false;
  for (const DecodeSchedule &cut : kernels) {
    KernelArguments arguments(builder, plan);
    // What a workgroup asks for first comes first: it is preloaded.
    if (!op.getPlan()) {
      arguments.statedWorkspace("plan", builder.getI32Type());
    }
    launches.operands(arguments, {"plan", "seq_len"});
    if (op.getPlan()) {
      arguments.scalar32("slots", slots);
    } else {
      splitArguments(arguments, plan, slots, split);
    }
    Value rowBlocks = blocksOf(rowsOf(queries), cut);
    arguments.scalar32("row_blocks", rowBlocks);
    if (!op.isPacked()) {
      arguments.scalar32("Q", queries);
    }
    arguments.scalar32("page", plan.size("kv", 1));
    launches.operands(arguments,
                      {"block_table", "qo_indptr", "kv", "q", "q_rope",
                       "q_scale", "kv_scale", "out", "lse"});
    if (isStated) {
      arguments.statedWorkspace("parts", f32);
      arguments.statedWorkspace("part_lse", f32);
    } else {
      arguments.workspace("parts", f32,
                          plan.mul(partRows, plan.constant(valueColumns * 4)),
                          /*zero=*/false);
      arguments.workspace("part_lse", f32, plan.mul(partRows, plan.constant(4)),
                          /*zero=*/false);
      isStated = true;
    }
    arguments.scalar32("kv_row", plan.strideBytes("kv", 1));
    arguments.scalar64("kv_page", plan.strideBytes("kv", 0));
    arguments.scalar64("block_table_request",
                       plan.strideBytes("block_table", 0));
    if (shape.ranks > 1) {
      arguments.scalar32("cp_rank", plan.scalar("cp_rank"));
    }
    for (StringRef operand : {"q", "q_rope", "out"}) {
      launches.rowStrides(arguments, operand, 16, queries);
    }
    launches.rowStrides(arguments, "lse", 4, queries);
    Value groups = plan.ceilDiv(slots, plan.constant(dies));
    Value workgroups =
        plan.mul(plan.mul(groups, plan.constant(dies)), rowBlocks);
    std::string kernelName = (name + "_parts").str();
    if (kernels.size() > 1) {
      bool isLeast = cut == least;
      workgroups = plan.mul(
          workgroups, isLeast ? isFew : plan.sub(plan.constant(1), isFew));
      kernelName += isLeast ? "_few" : "";
    }
    plan.launch(kernelName, workgroups, plan.constant(1), plan.constant(1),
                cut.waves() * 64);
    tile::KernelOp kernel = arguments.createKernel(
        op.getLoc(), kernelName, cut.waves(), /*preloads=*/true);
    OpBuilder::InsertionGuard guard(builder);
    if (failed(writeDecode(kernel, shape, cut, builder))) {
      return failure();
    }
  }
  launchDecodeMerge(op, plan, slots, queries, (name + "_merge").str(), builder);
  return success();
}
