//===- PreparedPlan.h - a plan ready to be evaluated often ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `evaluate` explains what is wrong with a call; this does the same work for
// calls that are right, which are nearly all, without allocating memory and in
// a fraction of the time.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PREPAREDPLAN_H
#define TENON_RUNTIME_PREPAREDPLAN_H

#include "tenon/Runtime/Plan.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// One launch of a call.
struct ReadyLaunch {
  uint32_t launch = 0; ///< index into Plan::launches
  std::array<uint32_t, 3> grid = {};
  uint32_t dynamicLds = 0;
  uint32_t kernargOffset = 0; ///< of its argument segment in Evaluation
};

/// What a call needs; filled by PreparedPlan::evaluate. Used again and again it
/// keeps its memory.
struct Evaluation {
  std::vector<int64_t> values; ///< of the plan's steps
  std::vector<int64_t> sizes;  ///< of the named dimensions
  std::vector<uint64_t> workspaceBytes;
  std::vector<ReadyLaunch> launches; ///< without empty grids
  std::vector<uint8_t> kernargs;     ///< argument segments of the launches

  /// What the above was computed for: of a call that differs in sizes and
  /// addresses alone, only what depends on these is computed anew.
  uint64_t plan = 0; ///< the serial of the PreparedPlan; 0: none
  std::vector<int64_t> strides, scalars;
};

class PreparedPlan {
public:
  /// \p plan is valid.
  explicit PreparedPlan(Plan plan);

  const Plan &plan() const { return source; }

  /// What to launch for these operands and scalars, into \p result: the same
  /// as `evaluate`, the workspaces not yet bound. False when `evaluate` would
  /// fail, and in rare cases when it would not (arithmetic that fails in a step
  /// whose value is not taken): ask `evaluate` then, and put its answer to use
  /// with `adopt`.
  bool evaluate(std::span<const OperandArgument> operands,
                std::span<const int64_t> scalars, Evaluation &result) const;

  /// \p concrete, of `evaluate`, in the form of this class.
  void adopt(const ConcretePlan &concrete, Evaluation &result) const;

  /// Turns \p evaluation, of operands with the same sizes and strides, into
  /// that of operands with these addresses. False when one is misaligned.
  bool rebind(std::span<const uint64_t> addresses,
              Evaluation &evaluation) const;

  /// Writes the addresses of the workspaces into the argument segments.
  void bindWorkspaces(std::span<const uint64_t> addresses,
                      Evaluation &evaluation) const;

  /// The operand and dimension whose size is called \p symbol.
  struct Place {
    uint32_t operand = 0;
    uint32_t dim = 0;
  };
  bool findSize(std::string_view symbol, Place &place) const;

private:
  struct Step {
    ExprId id;
    Expr expr;
  };
  struct Dim {
    int64_t size;   ///< when `symbol` is negative
    int32_t symbol; ///< index of a named dimension, or -1
  };
  struct Operand {
    uint32_t firstDim;
    uint32_t rank;
    std::string_view layout;
  };

  bool checkOperands(std::span<const OperandArgument> operands,
                     Evaluation &result) const;
  bool computeSteps(std::span<const Step> list,
                    std::span<const OperandArgument> operands,
                    std::span<const int64_t> scalars, int64_t *values) const;
  bool checkPreconditions(std::span<const OperandArgument> operands,
                          const Evaluation &result, bool &isExempt) const;
  bool fillLaunches(std::span<const OperandArgument> operands,
                    Evaluation &result) const;
  bool evaluateAll(std::span<const OperandArgument> operands,
                   std::span<const int64_t> scalars, Evaluation &result) const;
  bool evaluateSizes(std::span<const OperandArgument> operands,
                     Evaluation &result) const;

  Plan source;
  /// No two of the process have the same.
  const uint64_t serial;
  std::vector<Operand> operandList;
  std::vector<Dim> dims;
  uint32_t symbolCount = 0;
  std::vector<int64_t> constants; ///< values of all steps that are constant
  std::vector<Step> steps;        ///< the others that something uses
  std::vector<Step> sizedSteps;   ///< those of them that sizes decide
  std::vector<Precondition> sizedConditions; ///< comparisons of such
  struct Alignment {
    uint32_t operand;
    int64_t bytes;
  };
  std::vector<Alignment> alignments; ///< of base addresses
  struct Pointer {
    uint32_t offset; ///< in the argument segment
    uint32_t operand;
  };
  std::vector<std::vector<Pointer>> pointers; ///< of each launch
  std::vector<uint32_t> kernargOffsets;
  uint32_t kernargBytes = 0;
};

/// The largest value of a size or scalar that calls will bring.
struct SizeBound {
  std::string_view symbol;
  int64_t size = 0;
};

/// Bytes that are enough for each workspace in every call whose named sizes and
/// scalars are within \p bounds. Errors: a bound of something that the plan has
/// not, a workspace whose size depends on something without a bound.
Result<std::vector<uint64_t>>
maxWorkspaceBytes(const Plan &plan, std::span<const SizeBound> bounds);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PREPAREDPLAN_H
