//===- PreparedPlan.cpp - a plan ready to be evaluated often ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/PreparedPlan.h"

#include "PlanArithmetic.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <map>

namespace tenon::runtime {

static bool isLeaf(const Expr &expr) {
  return expr.kind == ExprKind::Constant || expr.kind == ExprKind::Size ||
         expr.kind == ExprKind::Stride || expr.kind == ExprKind::Scalar;
}

/// The steps that \p plan uses, directly or through others.
static std::vector<bool> usedSteps(const Plan &plan) {
  std::vector<bool> used(plan.exprs.size());
  auto use = [&](ExprId id) { used[id] = true; };
  for (const Workspace &workspace : plan.workspaces) {
    use(workspace.bytes);
  }
  for (const Launch &launch : plan.launches) {
    for (ExprId id : launch.grid) {
      use(id);
    }
    use(launch.dynamicLds);
    for (const KernelArg &arg : launch.args) {
      if (arg.kind == ArgKind::I32 || arg.kind == ArgKind::I64) {
        use(arg.expr);
      }
    }
  }
  for (const Precondition &condition : plan.preconditions) {
    if (condition.kind == PreconditionKind::Compare) {
      use(condition.lhs);
      use(condition.rhs);
    }
  }
  for (size_t id = plan.exprs.size(); id-- > 0;) {
    const Expr &expr = plan.exprs[id];
    if (used[id] && !isLeaf(expr)) {
      use(expr.lhs);
      use(expr.rhs);
      if (expr.kind == ExprKind::Select) {
        use(expr.ifTrue);
        use(expr.ifFalse);
      }
    }
  }
  return used;
}

static uint64_t nextSerial() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

/// The steps of \p plan whose values change with sizes.
static std::vector<bool> sizedExprs(const Plan &plan) {
  std::vector<bool> sized(plan.exprs.size());
  for (ExprId id = 0; id < plan.exprs.size(); ++id) {
    const Expr &expr = plan.exprs[id];
    sized[id] = expr.kind == ExprKind::Size;
    if (!isLeaf(expr)) {
      sized[id] = sized[expr.lhs] || sized[expr.rhs];
      if (expr.kind == ExprKind::Select) {
        sized[id] = sized[id] || sized[expr.ifTrue] || sized[expr.ifFalse];
      }
    }
  }
  return sized;
}

PreparedPlan::PreparedPlan(Plan plan)
    : source(std::move(plan)), serial(nextSerial()) {
  std::map<std::string_view, int32_t> symbols;
  for (const PlanOperand &operand : source.operands) {
    operandList.push_back(
        {uint32_t(dims.size()), uint32_t(operand.dims.size()), operand.layout});
    for (const OperandDim &dim : operand.dims) {
      int32_t symbol = -1;
      if (!dim.symbol.empty()) {
        symbol = symbols.try_emplace(dim.symbol, symbols.size()).first->second;
      }
      dims.push_back({dim.size, symbol});
    }
  }
  symbolCount = symbols.size();

  std::vector<bool> used = usedSteps(source), sized = sizedExprs(source);
  std::vector<bool> isConstant(source.exprs.size());
  constants.resize(source.exprs.size());
  for (ExprId id = 0; id < source.exprs.size(); ++id) {
    const Expr &expr = source.exprs[id];
    if (expr.kind == ExprKind::Constant) {
      constants[id] = expr.value;
      isConstant[id] = true;
      continue;
    }
    if (!isLeaf(expr) && expr.kind != ExprKind::Select &&
        isConstant[expr.lhs] && isConstant[expr.rhs] &&
        compute(expr.kind, constants[expr.lhs], constants[expr.rhs],
                constants[id])) {
      isConstant[id] = true;
      continue;
    }
    if (used[id]) {
      steps.push_back({id, expr});
      if (sized[id]) {
        sizedSteps.push_back(steps.back());
      }
    }
  }
  for (const Launch &launch : source.launches) {
    kernargOffsets.push_back(kernargBytes);
    // Every segment begins at a multiple of 16, as on the device.
    kernargBytes += (launch.kernargBytes + 15) / 16 * 16;
    pointers.emplace_back();
    for (const KernelArg &arg : launch.args) {
      if (arg.kind == ArgKind::Pointer) {
        pointers.back().push_back({arg.offset, arg.index});
      }
    }
  }
  for (const Precondition &condition : source.preconditions) {
    if (condition.kind == PreconditionKind::BaseAlignment) {
      alignments.push_back({condition.operand, condition.value});
    }
    if (condition.kind == PreconditionKind::Compare &&
        (sized[condition.lhs] || sized[condition.rhs])) {
      sizedConditions.push_back(condition);
    }
  }
}

bool PreparedPlan::findSize(std::string_view symbol, Place &place) const {
  for (size_t i = 0; i < source.operands.size(); ++i) {
    const std::vector<OperandDim> &list = source.operands[i].dims;
    for (size_t dim = 0; dim < list.size(); ++dim) {
      if (list[dim].symbol == symbol) {
        place = {uint32_t(i), uint32_t(dim)};
        return true;
      }
    }
  }
  return false;
}

bool PreparedPlan::checkOperands(std::span<const OperandArgument> operands,
                                 Evaluation &result) const {
  result.sizes.assign(symbolCount, -1);
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand &expected = operandList[i];
    const OperandArgument &found = operands[i];
    if (found.sizes.size() != expected.rank ||
        found.strides.size() != expected.rank ||
        found.layout.size() != expected.layout.size() ||
        (!found.layout.empty() && found.layout != expected.layout)) {
      return false;
    }
    for (uint32_t dim = 0; dim < expected.rank; ++dim) {
      int64_t size = found.sizes[dim];
      const Dim &here = dims[expected.firstDim + dim];
      if (here.symbol < 0) {
        if (size != here.size) {
          return false;
        }
        continue;
      }
      int64_t &bound = result.sizes[here.symbol];
      if (size < 0 || (bound >= 0 && bound != size)) {
        return false;
      }
      bound = size;
    }
  }
  return true;
}

/// Computes \p list, steps in their order, into \p values.
bool PreparedPlan::computeSteps(std::span<const Step> list,
                                std::span<const OperandArgument> operands,
                                std::span<const int64_t> scalars,
                                int64_t *values) const {
  for (const Step &step : list) {
    const Expr &expr = step.expr;
    int64_t &value = values[step.id];
    switch (expr.kind) {
    case ExprKind::Constant:
      break;
    case ExprKind::Size:
      value = operands[expr.operand].sizes[expr.dim];
      break;
    case ExprKind::Stride:
      value = operands[expr.operand].strides[expr.dim];
      break;
    case ExprKind::Scalar:
      value = scalars[expr.scalar];
      break;
    case ExprKind::Select:
      value = holds(expr.comparison, values[expr.lhs], values[expr.rhs])
                  ? values[expr.ifTrue]
                  : values[expr.ifFalse];
      break;
    default:
      if (!compute(expr.kind, values[expr.lhs], values[expr.rhs], value)) {
        return false;
      }
    }
  }
  return true;
}

/// Whether \p number, a stride or an address, is a multiple of \p factor, which
/// is nearly always a power of two.
template <typename Number>
static bool isMultiple(Number number, int64_t factor) {
  return std::has_single_bit(uint64_t(factor))
             ? (uint64_t(number) & (uint64_t(factor) - 1)) == 0
             : number % Number(factor) == 0;
}

/// \p isExempt becomes true when a stride is as it is only because there is
/// one element in its dimension, or none.
bool PreparedPlan::checkPreconditions(std::span<const OperandArgument> operands,
                                      const Evaluation &result,
                                      bool &isExempt) const {
  for (const Precondition &condition : source.preconditions) {
    switch (condition.kind) {
    case PreconditionKind::Compare:
      if (!holds(condition.comparison, result.values[condition.lhs],
                 result.values[condition.rhs])) {
        return false;
      }
      break;
    case PreconditionKind::BaseAlignment:
      if (!isMultiple(operands[condition.operand].address, condition.value)) {
        return false;
      }
      break;
    case PreconditionKind::StrideEquals:
    case PreconditionKind::StrideMultiple: {
      const OperandArgument &operand = operands[condition.operand];
      int64_t stride = operand.strides[condition.dim];
      bool met = condition.kind == PreconditionKind::StrideEquals
                     ? stride == condition.value
                     : isMultiple(stride, condition.value);
      if (!met && operand.sizes[condition.dim] > 1) {
        return false;
      }
      isExempt |= !met;
      break;
    }
    }
  }
  return true;
}

bool PreparedPlan::fillLaunches(std::span<const OperandArgument> operands,
                                Evaluation &result) const {
  constexpr int64_t maxU32 = std::numeric_limits<uint32_t>::max();
  const int64_t *values = result.values.data();
  result.kernargs.assign(kernargBytes, 0);
  result.launches.clear();
  for (uint32_t i = 0; i < source.launches.size(); ++i) {
    const Launch &launch = source.launches[i];
    ReadyLaunch ready;
    ready.launch = i;
    ready.kernargOffset = kernargOffsets[i];
    bool empty = false;
    for (unsigned dim = 0; dim < 3; ++dim) {
      int64_t size = values[launch.grid[dim]];
      if (size < 0 || size > maxU32 / launch.workgroupSize[dim]) {
        return false;
      }
      ready.grid[dim] = size;
      empty |= size == 0;
    }
    if (empty) {
      continue;
    }
    int64_t lds = values[launch.dynamicLds];
    if (lds < 0 || lds > maxU32) {
      return false;
    }
    ready.dynamicLds = lds;
    uint8_t *segment = result.kernargs.data() + ready.kernargOffset;
    for (const KernelArg &arg : launch.args) {
      uint8_t *destination = segment + arg.offset;
      switch (arg.kind) {
      case ArgKind::Pointer:
        std::memcpy(destination, &operands[arg.index].address, 8);
        break;
      case ArgKind::Workspace:
        break;
      case ArgKind::F32:
        std::memcpy(destination, &arg.constant, 4);
        break;
      case ArgKind::I32: {
        int64_t value = values[arg.expr];
        if (value != int32_t(value)) {
          return false;
        }
        std::memcpy(destination, &value, 4);
        break;
      }
      case ArgKind::I64:
        std::memcpy(destination, &values[arg.expr], 8);
        break;
      }
    }
    result.launches.push_back(ready);
  }
  return true;
}

/// Whether \p kept, strides one after the other, are those of \p operands.
static bool sameStrides(std::span<const OperandArgument> operands,
                        const std::vector<int64_t> &kept) {
  // Few of them each: quicker than a call of memcmp.
  const int64_t *at = kept.data(), *end = at + kept.size();
  for (const OperandArgument &operand : operands) {
    for (int64_t stride : operand.strides) {
      if (at == end || *at++ != stride) {
        return false;
      }
    }
  }
  return at == end;
}

/// Evaluates a call from nothing, and keeps what it was evaluated for.
bool PreparedPlan::evaluateAll(std::span<const OperandArgument> operands,
                               std::span<const int64_t> scalars,
                               Evaluation &result) const {
  bool isExempt = false;
  result.plan = 0;
  result.values.assign(constants.begin(), constants.end());
  if (!computeSteps(steps, operands, scalars, result.values.data()) ||
      !checkPreconditions(operands, result, isExempt)) {
    return false;
  }
  // Strides that are good for these sizes alone are looked at again.
  if (!isExempt) {
    result.plan = serial;
    result.scalars.assign(scalars.begin(), scalars.end());
    result.strides.clear();
    for (const OperandArgument &operand : operands) {
      result.strides.insert(result.strides.end(), operand.strides.begin(),
                            operand.strides.end());
    }
  }
  return true;
}

/// Evaluates a call with the strides and scalars of the one before.
bool PreparedPlan::evaluateSizes(std::span<const OperandArgument> operands,
                                 Evaluation &result) const {
  if (!computeSteps(sizedSteps, operands, result.scalars,
                    result.values.data())) {
    return false;
  }
  for (const Precondition &condition : sizedConditions) {
    if (!holds(condition.comparison, result.values[condition.lhs],
               result.values[condition.rhs])) {
      return false;
    }
  }
  for (const Alignment &alignment : alignments) {
    if (!isMultiple(operands[alignment.operand].address, alignment.bytes)) {
      return false;
    }
  }
  return true;
}

bool PreparedPlan::evaluate(std::span<const OperandArgument> operands,
                            std::span<const int64_t> scalars,
                            Evaluation &result) const {
  if (operands.size() != operandList.size() ||
      scalars.size() != source.scalars.size() ||
      !checkOperands(operands, result)) {
    return false;
  }
  bool isLike = result.plan == serial &&
                std::equal(scalars.begin(), scalars.end(),
                           result.scalars.begin(), result.scalars.end()) &&
                sameStrides(operands, result.strides);
  if (isLike ? !evaluateSizes(operands, result)
             : !evaluateAll(operands, scalars, result)) {
    result.plan = 0;
    return false;
  }
  result.workspaceBytes.clear();
  for (const Workspace &workspace : source.workspaces) {
    int64_t bytes = result.values[workspace.bytes];
    if (bytes < 0) {
      return false;
    }
    result.workspaceBytes.push_back(bytes);
  }
  return fillLaunches(operands, result);
}

bool PreparedPlan::rebind(std::span<const uint64_t> addresses,
                          Evaluation &evaluation) const {
  for (const Alignment &alignment : alignments) {
    if (!isMultiple(addresses[alignment.operand], alignment.bytes)) {
      return false;
    }
  }
  for (const ReadyLaunch &ready : evaluation.launches) {
    uint8_t *segment = evaluation.kernargs.data() + ready.kernargOffset;
    for (const Pointer &pointer : pointers[ready.launch]) {
      std::memcpy(segment + pointer.offset, &addresses[pointer.operand], 8);
    }
  }
  return true;
}

void PreparedPlan::adopt(const ConcretePlan &concrete,
                         Evaluation &result) const {
  result.plan = 0;
  result.workspaceBytes = concrete.workspaceBytes;
  result.kernargs.assign(kernargBytes, 0);
  result.launches.clear();
  for (const ConcreteLaunch &launch : concrete.launches) {
    ReadyLaunch ready;
    ready.launch = launch.launch;
    ready.grid = launch.grid;
    ready.dynamicLds = launch.dynamicLds;
    ready.kernargOffset = kernargOffsets[launch.launch];
    std::copy(launch.kernarg.begin(), launch.kernarg.end(),
              result.kernargs.begin() + ready.kernargOffset);
    result.launches.push_back(ready);
  }
}

void PreparedPlan::bindWorkspaces(std::span<const uint64_t> addresses,
                                  Evaluation &evaluation) const {
  for (const ReadyLaunch &ready : evaluation.launches) {
    uint8_t *segment = evaluation.kernargs.data() + ready.kernargOffset;
    for (const KernelArg &arg : source.launches[ready.launch].args) {
      if (arg.kind == ArgKind::Workspace) {
        std::memcpy(segment + arg.offset, &addresses[arg.index], 8);
      }
    }
  }
}

} // namespace tenon::runtime
