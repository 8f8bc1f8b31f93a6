//===- CheckPlan.cpp - what holds for every valid plan ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckPlan.h"

#include "tenon/Runtime/PreparedPlan.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <map>
#include <vector>

using namespace tenon::runtime;

namespace tenon::fuzz {

namespace {
/// The operands and scalars of a call.
struct CallData {
  std::vector<std::vector<int64_t>> sizes, strides;
  std::vector<OperandArgument> operands;
  std::vector<int64_t> scalars;
  std::map<std::string, int64_t> symbols;
  /// The greatest size that stands for each symbol in this call.
  std::map<std::string, int64_t> bounds;
};
} // namespace

/// Mostly sizes that occur, at times any number.
static int64_t chooseNumber(FuzzedDataProvider &data) {
  switch (data.ConsumeIntegralInRange(0, 4)) {
  case 0:
    return data.ConsumeIntegral<int64_t>();
  case 1:
    return data.ConsumeIntegralInRange<int64_t>(-2, 2);
  default:
    return data.ConsumeIntegralInRange<int64_t>(0, 1 << 20);
  }
}

static CallData chooseCall(const Plan &plan, FuzzedDataProvider &data) {
  CallData call;
  for (const PlanOperand &operand : plan.operands) {
    std::vector<int64_t> sizes, strides(operand.dims.size());
    for (const OperandDim &dim : operand.dims) {
      int64_t size = dim.size;
      if (!dim.symbol.empty()) {
        auto [found, isNew] = call.symbols.try_emplace(dim.symbol);
        if (isNew) {
          found->second = chooseNumber(data);
        }
        size = found->second;
      }
      // A call that does not fit the plan.
      bool isOther = data.ConsumeIntegralInRange(0, 63) == 63;
      sizes.push_back(isOther ? chooseNumber(data) : size);
      if (!dim.symbol.empty()) {
        int64_t &bound =
            call.bounds.try_emplace(dim.symbol, sizes.back()).first->second;
        bound = std::max(bound, sizes.back());
      }
    }
    uint64_t stride = 1;
    for (size_t dim = operand.dims.size(); dim-- > 0;) {
      bool isDense = data.ConsumeIntegralInRange(0, 7) < 6;
      strides[dim] = isDense ? int64_t(stride) : chooseNumber(data);
      stride *= uint64_t(sizes[dim]);
    }
    call.sizes.push_back(std::move(sizes));
    call.strides.push_back(std::move(strides));
  }
  for (size_t i = 0; i < plan.operands.size(); ++i) {
    bool isAligned = data.ConsumeIntegralInRange(0, 7) < 7;
    call.operands.push_back({isAligned ? uint64_t(4096) * (i + 1)
                                       : data.ConsumeIntegral<uint64_t>(),
                             call.sizes[i], call.strides[i],
                             plan.operands[i].layout});
  }
  for (size_t i = 0; i < plan.scalars.size(); ++i) {
    call.scalars.push_back(chooseNumber(data));
  }
  return call;
}

static void checkEvaluations(const Plan &plan, const CallData &call) {
  PreparedPlan prepared(plan);
  Evaluation fast, adopted;
  Result<ConcretePlan> concrete = evaluate(plan, call.operands, call.scalars);
  bool isReady = prepared.evaluate(call.operands, call.scalars, fast);
  if (!concrete) {
    require(!concrete.error().message.empty(), "errors have a message");
    require(!isReady, "what evaluate refuses a prepared plan refuses");
    return;
  }
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < plan.workspaces.size(); ++i) {
    addresses.push_back(0x1000 * (i + 1));
  }
  prepared.adopt(*concrete, adopted);
  prepared.bindWorkspaces(addresses, adopted);
  size_t next = 0;
  for (ConcreteLaunch &launch : concrete->launches) {
    launch.bindWorkspaces(addresses);
    const ReadyLaunch &ready = adopted.launches[next++];
    require(std::equal(launch.kernarg.begin(), launch.kernarg.end(),
                       adopted.kernargs.begin() + ready.kernargOffset),
            "arguments are the same in both forms");
  }
  if (!isReady) {
    return;
  }
  prepared.bindWorkspaces(addresses, fast);
  require(fast.workspaceBytes == concrete->workspaceBytes,
          "both evaluations have the same workspaces");
  require(fast.kernargs == adopted.kernargs,
          "both evaluations have the same arguments");
  require(fast.launches.size() == adopted.launches.size(),
          "both evaluations have the same launches");
  for (size_t i = 0; i < fast.launches.size(); ++i) {
    const ReadyLaunch &a = fast.launches[i], &b = adopted.launches[i];
    require(a.launch == b.launch && a.grid == b.grid &&
                a.dynamicLds == b.dynamicLds &&
                a.kernargOffset == b.kernargOffset,
            "both evaluations have equal launches");
  }

  std::vector<SizeBound> bounds;
  for (const auto &[symbol, size] : call.bounds) {
    bounds.push_back({symbol, size});
  }
  for (size_t i = 0; i < plan.scalars.size(); ++i) {
    // A name may be that of a size too: one bound has to cover both.
    if (call.symbols.count(plan.scalars[i])) {
      return;
    }
    bounds.push_back({plan.scalars[i], call.scalars[i]});
  }
  Result<std::vector<uint64_t>> most = maxWorkspaceBytes(plan, bounds);
  if (most) {
    for (size_t i = 0; i < most->size(); ++i) {
      require(fast.workspaceBytes[i] <= (*most)[i],
              "a workspace is within its bound");
    }
  }
}

void checkText(const Plan &plan) {
  Result<Plan> again = planFromJson(toJson(plan));
  require(bool(again), "the text of a valid plan is one");
  require(*again == plan, "the text of a plan stands for it");
}

void checkCalls(const Plan &plan, FuzzedDataProvider &data, unsigned count) {
  while (count-- > 0) {
    checkEvaluations(plan, chooseCall(plan, data));
  }
}

} // namespace tenon::fuzz
