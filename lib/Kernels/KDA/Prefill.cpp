//===- Prefill.cpp - launches of tenon.kda_prefill --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prefill.h"

#include "Groups.h"
#include "History.h"
#include "PrefillPlan.h"
#include "PrefillPrologue.h"
#include "PrefillScan.h"
#include "PrefillSchedule.h"
#include "PrefillWalk.h"

#include "../KernelArguments.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;

FailureOr<SmallVector<DictionaryAttr>>
kda::rankPlanSchedules(spec::KdaPlanOp op) {
  return SmallVector<DictionaryAttr>{DictionaryAttr::get(op.getContext())};
}

namespace {
/// Arguments of the launches of one op.
class Launches {
public:
  Launches(spec::SpecOpInterface op, StringRef name, OpBuilder &builder)
      : op(op), b(builder), plan(builder, (name + "_plan").str(), op),
        contracts(op.getOperandContracts()) {}

  /// Pointers to the operands named, and their free strides.
  void operands(KernelArguments &arguments, ArrayRef<StringRef> names) {
    SmallVector<spec::OperandContract> taken;
    for (const spec::OperandContract &contract : contracts) {
      if (llvm::is_contained(names, contract.name)) {
        taken.push_back(contract);
      }
    }
    arguments.pointers(taken);
    arguments.strides(taken);
  }

  /// The launch that writes the plan of chunks.
  void planChunks(KernelArguments &arguments, Value chunks,
                  StringRef kernelName) {
    Value sequences = plan.sub(plan.size("cu_seqlens", 0), plan.constant(1));
    arguments.scalar32("sequences", sequences);
    arguments.scalar32("chunks", chunks);
    plan.launch(kernelName, sequences, plan.constant(1), plan.constant(1),
                planWaves * 64);
    writeChunkPlan(arguments.createKernel(op->getLoc(), kernelName, planWaves),
                   b);
  }

  spec::SpecOpInterface op;
  OpBuilder &b;
  PlanBuilder plan;
  SmallVector<spec::OperandContract> contracts;
};
} // namespace

LogicalResult kda::lowerPlan(spec::KdaPlanOp op, DictionaryAttr schedule,
                             StringRef name, OpBuilder &builder) {
  if (!schedule.empty()) {
    return op->emitOpError("the schedule is {}, found ") << schedule;
  }
  Launches launches(op, name, builder);
  KernelArguments arguments(builder, launches.plan);
  launches.operands(arguments, {"cu_seqlens", "plan"});
  launches.planChunks(arguments, launches.plan.size("plan", 0), name);
  return success();
}

LogicalResult kda::lowerPrefill(spec::KdaPrefillOp op, DictionaryAttr schedule,
                                StringRef name, OpBuilder &builder) {
  FailureOr<PrefillSchedule> read = readPrefillSchedule(op, schedule);
  FailureOr<target::TargetInfo> target = tile::getTarget(op);
  if (failed(read) || failed(target)) {
    return failure();
  }
  const PrefillSchedule &chosen = *read;
  int64_t dies = target->facts().xcds;
  int64_t heads = op.getHeads();
  Launches launches(op, name, builder);
  PlanBuilder &plan = launches.plan;
  Type bf16 = builder.getBF16Type();
  Type f32 = builder.getF32Type();
  Type operand = op.getProducts() == spec::Products::FP32 ? f32
                 : op.getProducts() == spec::Products::F16
                     ? builder.getF16Type()
                     : bf16;

  Value columns = requireHistory(plan, op.getConvLayout(), heads);
  Value checkpoints, checkpointColumns;
  if (Value offsets = op.getCheckpointOffset()) {
    checkpoints = cast<MemRefType>(offsets.getType()).getRank() == 2
                      ? plan.size("checkpoint_offset", 1)
                      : plan.constant(1);
    checkpointColumns =
        requireHistory(plan, op.getConvLayout(), heads, "checkpoint_conv");
  }
  Value sequences = plan.size("slot", 0);
  Value tokens = plan.size(op.getRow() ? "row" : "qkv", 0);
  Value chunks =
      plan.add(plan.floorDiv(tokens, plan.constant(chunkTokens)), sequences);
  Value blocks = plan.mul(chunks, plan.constant(heads));
  bool plansChunks = !op.getPlan();

  /// What one launch hands to a later one; the first of them states it.
  llvm::StringSet<> stated;
  auto hand = [&](KernelArguments &arguments, StringRef workspace, Type element,
                  Value count, int64_t elements) {
    if (!stated.insert(workspace).second) {
      arguments.statedWorkspace(workspace, element);
      return;
    }
    int64_t bytes = elements * element.getIntOrFloatBitWidth() / 8;
    arguments.workspace(workspace, element,
                        plan.mul(count, plan.constant(bytes)), /*zero=*/false);
  };
  auto planArgument = [&](KernelArguments &arguments) {
    if (plansChunks) {
      hand(arguments, "plan", builder.getI32Type(), chunks, 4);
    }
  };
  auto handed = [&](KernelArguments &arguments) {
    hand(arguments, "w", operand, blocks, chunkTokens * D);
    hand(arguments, "qg", operand, blocks, chunkTokens * D);
    hand(arguments, "kg", operand, blocks, chunkTokens * D);
    hand(arguments, "u", operand, blocks, chunkTokens * D);
    hand(arguments, "aqk", operand, blocks, chunkTokens * chunkTokens);
    hand(arguments, "decay", f32, blocks, D);
    if (op.getOutputNorm()) {
      // Multiplied by element, never as a matrix: bf16 holds any norm weight.
      hand(arguments, "gate", operand.isF16() ? bf16 : operand, blocks,
           chunkTokens * D);
    }
  };

  if (plansChunks) {
    KernelArguments arguments(builder, plan);
    launches.operands(arguments, {"cu_seqlens"});
    planArgument(arguments);
    launches.planChunks(arguments, chunks, (name + "_chunks").str());
  }
  {
    KernelArguments arguments(builder, plan);
    launches.operands(arguments,
                      {"qkv", "raw_g", "raw_beta", "out_gate", "conv_weight",
                       "a_log", "dt_bias", "norm_weight", "conv_state", "slot",
                       "initial_slot", "has_initial_state", "row", "plan"});
    planArgument(arguments);
    handed(arguments);
    arguments.scalar32("columns", columns);
    std::string kernelName = (name + "_prologue").str();
    plan.launch(kernelName, plan.constant(heads), chunks, plan.constant(1),
                prologueWaves * 64);
    tile::KernelOp kernel =
        arguments.createKernel(op.getLoc(), kernelName, prologueWaves);
    // A wave of each workgroup on every SIMD.
    kernel.setWavesPerSimd(chosen.prologueWorkgroups);
    PrologueShape shape{
        heads,
        op.getGate(),
        op.getLowerBound() ? op.getLowerBound()->convertToDouble() : 0.0,
        op.getQkEps().convertToDouble(),
        op.getNullSlot(),
        op.getConvLayout(),
        /*roundConv=*/!op.getFp32Conv(),
        op.getOutputNorm(),
        operand};
    OpBuilder::InsertionGuard guard(builder);
    writePrologue(kernel, shape, builder);
  }
  // As many groups as fill the chip, of sequences as long as the longest may
  // be.
  Value longest = op.getMaxSeqLen() ? plan.scalar("max_seq_len") : tokens;
  Value most = plan.constant(chosen.groups);
  if (chosen.groups == 0) {
    most = plan.floorDiv(
        plan.constant(target->facts().computeUnits),
        plan.max(plan.mul(sequences, plan.constant(heads)), plan.constant(1)));
    most = plan.min(most, plan.constant(mostGroups));
  }
  Value groups =
      plan.floorDiv(plan.ceilDiv(longest, plan.constant(chunkTokens)),
                    plan.constant(chosen.groupChunks));
  groups = plan.max(plan.min(groups, most), plan.constant(1));
  Value perHead = plan.mul(plan.mul(sequences, plan.constant(heads)), groups);
  auto handedByGroups = [&](KernelArguments &arguments) {
    hand(arguments, "entry", f32, perHead, D * D);
    hand(arguments, "transform", operand, perHead, D * D);
    hand(arguments, "carry", f32, perHead, D);
    arguments.scalar32("groups", groups);
    // No constant of the code: schedules that differ in it alone have the same
    // kernels.
    arguments.scalar32("least_chunks", plan.constant(chosen.groupChunks));
  };
  auto walk = [&](WalkPass pass, StringRef suffix, Value x, Value z) {
    KernelArguments arguments(builder, plan);
    launches.operands(arguments,
                      {"qkv", "conv_state", "state", "cu_seqlens", "slot",
                       "initial_slot", "has_initial_state", "row",
                       "checkpoint_offset", "checkpoint_slot",
                       "checkpoint_state", "checkpoint_conv", "out"});
    handed(arguments);
    handedByGroups(arguments);
    bool isGroups = pass == WalkPass::Groups;
    if (isGroups && chosen.sameDie) {
      arguments.scalar32("sequences", sequences);
    }
    arguments.scalar32("columns", columns);
    if (checkpoints) {
      arguments.scalar32("checkpoints", checkpoints);
      arguments.scalar32("checkpoint_columns", checkpointColumns);
    }
    std::string kernelName = (name + suffix).str();
    unsigned waves = isGroups ? chosen.groupWaves : chosen.walkWaves;
    plan.launch(kernelName, x, sequences, z, waves * 64);
    tile::KernelOp kernel =
        arguments.createKernel(op.getLoc(), kernelName, waves);
    WalkShape shape{heads,
                    op.getOutputNorm(),
                    op.getNormEps() ? op.getNormEps()->convertToDouble() : 0.0,
                    op.getNullSlot(),
                    op.getConvLayout(),
                    op.getStateOrder(),
                    pass,
                    waves,
                    isGroups ? chosen.groupRows : D,
                    isGroups && chosen.sameDie,
                    dies,
                    operand};
    OpBuilder::InsertionGuard guard(builder);
    writeWalk(kernel, shape, builder);
  };
  if (chosen.groups != 1) {
    // Without a second group these two launch nothing.
    Value further = plan.sub(groups, plan.constant(1));
    walk(WalkPass::Groups, "_walk_groups",
         plan.constant(2 * heads * D / chosen.groupRows), further);
    KernelArguments arguments(builder, plan);
    launches.operands(arguments, {"cu_seqlens"});
    handedByGroups(arguments);
    std::string kernelName = (name + "_scan").str();
    plan.launch(kernelName, plan.constant(heads * D / scanRows), sequences,
                plan.min(further, plan.constant(1)), scanWaves * 64);
    writeScan(arguments.createKernel(op.getLoc(), kernelName, scanWaves), heads,
              operand, builder);
  }
  walk(WalkPass::Replay, "_walk", plan.constant(heads), groups);
  return success();
}
