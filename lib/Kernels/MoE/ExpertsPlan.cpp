//===- ExpertsPlan.cpp - the plan that launches tenon.moe_experts -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches, of which those that a call does not need are empty:
// - up to a few tokens, where the schedule says so: one that does it all;
// - else x is rounded, where the first product takes fp8 or fp4;
// - up to 16 tokens, where the schedule is direct: both stages, of which the
//   second may write the sums over routes;
// - else routes are sorted, and both stages take sorted routes;
// - rows of routes are summed, or those without a route cleared. Where they are
//   added by atomics, the result is zeroed before.
//
//===----------------------------------------------------------------------===//

#include "ExpertStage.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

namespace {
/// The launches of one op.
class ExpertsPlan {
public:
  ExpertsPlan(spec::MoeExpertsOp op, const ExpertsSchedule &schedule,
              StringRef name, OpBuilder &builder)
      : op(op), schedule(schedule), name(name), builder(builder),
        plan(builder, (name + "_plan").str(), op) {}

  void write();

private:
  void stageOne(bool direct, Value tiles);
  void secondOperands(KernelArguments &arguments);
  void stageTwo(bool direct, Value tiles);
  void tokenStage(Value tokens);
  void fusedStage(Value routes);
  void operands(KernelArguments &arguments, ArrayRef<StringRef> names);
  void tileArguments(bool direct, const dense::GemmSchedule &cut,
                     KernelArguments &arguments);
  void require();

  spec::MoeExpertsOp op;
  const ExpertsSchedule &schedule;
  StringRef name;
  OpBuilder &builder;
  PlanBuilder plan;
  Value routes;
};
} // namespace

void ExpertsPlan::operands(KernelArguments &arguments,
                           ArrayRef<StringRef> names) {
  for (const spec::OperandContract &contract : op.getOperandContracts()) {
    if (llvm::is_contained(names, contract.name)) {
      arguments.pointers(contract);
    }
  }
}

/// What a stage needs to know which routes are its own.
void ExpertsPlan::tileArguments(bool direct, const dense::GemmSchedule &cut,
                                KernelArguments &arguments) {
  if (direct) {
    RouteLookup::addArguments(op, plan, arguments);
    return;
  }
  arguments.statedWorkspace(tileExperts, builder.getI32Type());
  arguments.statedWorkspace(sortedRoutes, builder.getI32Type());
  if (cut.group > 0) {
    arguments.statedWorkspace(tileCount, builder.getI32Type());
  }
  arguments.scalar32("T", plan.size("x", 0));
}

void ExpertsPlan::stageOne(bool direct, Value tiles) {
  const dense::GemmSchedule &cut = schedule.up;
  KernelArguments arguments(builder, plan);
  tileArguments(direct, cut, arguments);
  operands(arguments, {"w13", "w13_scale"});
  if (hasScales(op.getInput())) {
    arguments.statedWorkspace(xCodes, elementOf(op.getInput(), builder));
    arguments.statedWorkspace(xScales, Float8E8M0FNUType::get(op.getContext()));
  } else {
    operands(arguments, {"x"});
    arguments.scalar32("x_stride",
                       plan.floorDiv(plan.strideBytes("x"), plan.constant(16)));
  }
  arguments.statedWorkspace(intermediateCodes,
                            elementOf(op.getIntermediate(), builder));
  if (hasScales(op.getIntermediate())) {
    arguments.statedWorkspace(intermediateScales, builder.getI8Type());
  }
  std::string kernelName = (name + (direct ? "_up_direct" : "_up")).str();
  plan.launch(kernelName,
              plan.ceilDiv(plan.constant(op.getExpertWidth()),
                           plan.constant(cut.tileN)),
              tiles, plan.constant(1), cut.waves() * 64);
  OpBuilder::InsertionGuard guard(builder);
  writeStageOne(op, schedule, direct,
                arguments.createKernel(op.getLoc(), kernelName, cut.waves(),
                                       /*preloads=*/true),
                builder);
}

/// What the second product multiplies.
void ExpertsPlan::secondOperands(KernelArguments &arguments) {
  operands(arguments, {"w2", "w2_scale"});
  arguments.statedWorkspace(intermediateCodes,
                            elementOf(op.getIntermediate(), builder));
  if (hasScales(op.getIntermediate())) {
    arguments.statedWorkspace(intermediateScales,
                              Float8E8M0FNUType::get(op.getContext()));
  }
}

void ExpertsPlan::stageTwo(bool direct, Value tiles) {
  const dense::GemmSchedule &cut = schedule.down;
  KernelArguments arguments(builder, plan);
  tileArguments(direct, cut, arguments);
  secondOperands(arguments);
  if (op.hasRouteRows()) {
    operands(arguments, {"out"});
  } else if (schedule.atomic) {
    operands(arguments, {"weights", "out"});
    arguments.scalar32("out_stride", plan.floorDiv(plan.strideBytes("out"),
                                                   plan.constant(16)));
  } else {
    arguments.statedWorkspace(routeRows, elementOf(op.getRoutes(), builder));
  }
  std::string kernelName = (name + (direct ? "_down_direct" : "_down")).str();
  plan.launch(
      kernelName,
      plan.ceilDiv(plan.constant(op.getWidth()), plan.constant(cut.tileN)),
      tiles, plan.constant(1), cut.waves() * 64);
  OpBuilder::InsertionGuard guard(builder);
  writeStageTwo(op, schedule, direct,
                arguments.createKernel(op.getLoc(), kernelName, cut.waves(),
                                       /*preloads=*/true),
                builder);
}

/// The second stage of routes that are not sorted, with the sums over them.
void ExpertsPlan::tokenStage(Value tokens) {
  KernelArguments arguments(builder, plan);
  tileArguments(/*direct=*/true, schedule.down, arguments);
  secondOperands(arguments);
  operands(arguments, {"out"});
  arguments.scalar32("out_stride",
                     plan.floorDiv(plan.strideBytes("out"), plan.constant(16)));
  // Used first, since it may come behind what arrives in registers.
  operands(arguments, {"weights"});
  std::string kernelName = (name + "_down_tokens").str();
  plan.launch(kernelName,
              plan.ceilDiv(plan.constant(op.getWidth()),
                           plan.constant(tokenStageColumns)),
              tokens, plan.constant(1), 64);
  OpBuilder::InsertionGuard guard(builder);
  writeTokenStage(op,
                  arguments.createKernel(op.getLoc(), kernelName, /*waves=*/1,
                                         /*preloads=*/true),
                  builder);
}

/// Both stages in one.
void ExpertsPlan::fusedStage(Value routes) {
  int64_t parts = op.getExpertWidth() / fusedColumns;
  int64_t width = op.getWidth();
  KernelArguments arguments(builder, plan);
  RouteLookup::addArguments(op, plan, arguments);
  operands(arguments, {"x"});
  arguments.scalar32("x_stride",
                     plan.floorDiv(plan.strideBytes("x"), plan.constant(16)));
  operands(arguments, {"w13", "w13_scale", "w2", "w2_scale", "out"});
  // Behind what arrives in registers.
  operands(arguments, {"weights"});
  arguments.scalar32("out_stride",
                     plan.floorDiv(plan.strideBytes("out"), plan.constant(16)));
  arguments.workspace(routeParts, builder.getF32Type(),
                      plan.mul(routes, plan.constant(parts * width * 4)),
                      /*zero=*/false);
  arguments.statedWorkspace(routeRows, elementOf(op.getRoutes(), builder));
  for (StringRef counters : {partArrivals, routeArrivals}) {
    arguments.workspace(counters, builder.getI32Type(),
                        plan.mul(routes, plan.constant(4)), /*zero=*/true);
  }
  std::string kernelName = (name + "_fused").str();
  plan.launch(kernelName, routes, plan.constant(parts), plan.constant(1),
              fusedWaves * 64);
  OpBuilder::InsertionGuard guard(builder);
  writeFusedStage(op,
                  arguments.createKernel(op.getLoc(), kernelName, fusedWaves,
                                         /*preloads=*/true),
                  builder);
}

/// 32-bit offsets reach all tokens and all rows of routes.
void ExpertsPlan::require() {
  Value most = plan.constant(int64_t(1) << 31);
  Value tokens = plan.size("x", 0);
  plan.require(arith::CmpIPredicate::slt,
               plan.mul(tokens, plan.strideBytes("x")), most,
               "x: T rows must reach less than 2^31 bytes");
  if (schedule.atomic) {
    plan.require(arith::CmpIPredicate::slt,
                 plan.mul(tokens, plan.strideBytes("out")), most,
                 "out: T rows must reach less than 2^31 bytes");
    return;
  }
  int64_t pitch = op.hasRouteRows() ? op.getRoutePitch()
                                    : rowBytes(op.getRoutes(), op.getWidth());
  plan.require(arith::CmpIPredicate::slt,
               plan.mul(routes, plan.constant(pitch)), most,
               "rows of all T * K routes must be less than 2^31 bytes");
}

void ExpertsPlan::write() {
  Value tokens = plan.size("x", 0);
  Value one = plan.constant(1);
  routes = plan.mul(tokens, plan.constant(op.getExpertsPerToken()));
  require();
  // 1 for up to as many tokens.
  auto upTo = [&](int64_t most) {
    return plan.min(plan.floorDiv(plan.constant(most), plan.max(tokens, one)),
                    one);
  };
  Value few = upTo(directTokens);
  Value runsFused = upTo(schedule.fused);
  Value runsDirect =
      schedule.direct ? plan.sub(few, runsFused) : plan.constant(0);
  Value runsSorted = schedule.direct ? plan.sub(one, few) : Value();
  int64_t tileM = schedule.up.tileM;
  Value directTiles = plan.mul(routes, runsDirect);
  Value sortedTiles = tileBound(op, plan, tileM);
  if (runsSorted) {
    sortedTiles = plan.mul(sortedTiles, runsSorted);
  }
  Value slots = plan.max(plan.mul(routes, runsDirect),
                         plan.mul(sortedTiles, plan.constant(tileM)));
  auto state = [&](StringRef workspace, Value rows, int64_t bytes) {
    plan.workspace(workspace, plan.mul(rows, plan.constant(bytes)),
                   /*zero=*/false);
  };
  int64_t width = op.getExpertWidth();
  state(intermediateCodes, slots, rowBytes(op.getIntermediate(), width));
  if (hasScales(op.getIntermediate())) {
    // Slots have packed scales, by tiles.
    Value tiles = plan.ceilDiv(slots, plan.constant(dense::scaleRows));
    state(intermediateScales, plan.mul(tiles, plan.constant(dense::scaleRows)),
          scaleRowBytes(width));
  }
  bool leavesRows = !op.hasRouteRows() && !schedule.atomic;
  bool sumsDirect = sumsByTokens(op, schedule);
  if (leavesRows) {
    Value needsRows = sumsDirect ? plan.max(runsSorted, runsFused) : one;
    state(routeRows, plan.mul(routes, needsRows),
          rowBytes(op.getRoutes(), op.getWidth()));
  }
  if (hasScales(op.getInput())) {
    addQuantize(op, plan.mul(tokens, plan.sub(one, runsFused)),
                (name + "_quantize").str(), plan, builder);
  }
  if (schedule.atomic) {
    addZeros(op, (name + "_zero").str(), plan, builder);
  }
  if (schedule.fused > 0) {
    fusedStage(plan.mul(routes, runsFused));
  }
  if (schedule.direct) {
    stageOne(/*direct=*/true, directTiles);
    if (sumsDirect) {
      tokenStage(plan.mul(tokens, runsDirect));
    } else {
      stageTwo(/*direct=*/true, directTiles);
    }
  }
  addSort(op, tileM, (name + "_sort").str(), plan, builder, runsSorted);
  stageOne(/*direct=*/false, sortedTiles);
  stageTwo(/*direct=*/false, sortedTiles);
  if (op.hasRouteRows()) {
    addClear(op, (name + "_clear").str(), plan, builder, Value());
  } else if (leavesRows) {
    addCombine(op, routeRows, elementOf(op.getRoutes(), builder),
               (name + "_combine").str(), plan, builder,
               sumsDirect ? runsSorted : plan.sub(one, runsFused));
  }
}

LogicalResult moe::lowerExperts(spec::MoeExpertsOp op, DictionaryAttr attribute,
                                StringRef name, OpBuilder &builder) {
  FailureOr<ExpertsSchedule> schedule = parseExpertsSchedule(op, attribute);
  if (failed(schedule) || failed(tile::getTarget(op))) {
    return failure();
  }
  ExpertsPlan(op, *schedule, name, builder).write();
  return success();
}
