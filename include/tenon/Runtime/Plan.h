//===- Plan.h - A launch plan as data ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan states which launches make up one op: per launch the kernel, the grid,
// the workspace and the arguments, as small integer expressions of sizes that
// the host knows. The compiler writes it, a bundle stores it as JSON, and the
// runtime evaluates it for the operands of a call.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_H
#define TENON_RUNTIME_PLAN_H

#include "tenon/Runtime/Result.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// Index into Plan::exprs.
using ExprId = uint32_t;

enum class ExprKind {
  Constant,
  Size,   ///< of a dimension of an operand
  Stride, ///< of a dimension of an operand, in elements
  Scalar, ///< an integer that comes with the call
  Add,
  Sub,
  Mul,
  CeilDiv,  ///< rounds towards plus infinity
  FloorDiv, ///< rounds towards minus infinity
  Min,
  Max,
  Select, ///< one of two values, by a comparison of two others
};

enum class Comparison { Eq, Ne, Lt, Le, Gt, Ge };

/// One step of a computation on signed 64-bit integers. It uses only steps
/// before it. Overflow and division by zero are errors of the step and of all
/// that use it; a Select is free of the errors of the value that it does not
/// take, and a step that nothing uses may fail unnoticed.
struct Expr {
  ExprKind kind = ExprKind::Constant;
  int64_t value = 0;    ///< Constant
  uint32_t operand = 0; ///< Size and Stride: index into Plan::operands
  uint32_t scalar = 0;  ///< Scalar: index into Plan::scalars
  uint32_t dim = 0;     ///< Size and Stride
  ExprId lhs = 0;       ///< binary kinds, and the comparison of Select
  ExprId rhs = 0;
  Comparison comparison = Comparison::Eq; ///< Select
  ExprId ifTrue = 0;                      ///< Select
  ExprId ifFalse = 0;                     ///< Select

  bool operator==(const Expr &) const = default;
};

/// The size of one dimension of an operand: fixed, or named. Dimensions of one
/// name have the same size in all operands of a call.
struct OperandDim {
  std::string symbol; ///< empty when the size is fixed
  int64_t size = 0;   ///< when the size is fixed

  bool operator==(const OperandDim &) const = default;
};

enum class OperandAccess { Read, Write, ReadWrite };

struct PlanOperand {
  std::string name;
  std::string elementType; ///< "f32", "bf16", "i32" ...
  OperandAccess access = OperandAccess::Read;
  std::vector<OperandDim> dims; ///< outermost first; as many as the rank
  /// The order of the elements in memory, such as "packed"; empty: that of the
  /// strides. A call has to name the same, so that no kernel is given the wrong
  /// one: shapes and strides are those of the row-major form in either.
  std::string layout;

  bool operator==(const PlanOperand &) const = default;
};

/// Memory that the caller provides for the duration of the launches.
struct Workspace {
  std::string name;
  ExprId bytes = 0;
  uint32_t alignment = 256; ///< of its address, bytes; a power of two
  /// It holds zeros before the first launch, and the launches leave zeros.
  bool zeroInitialised = false;

  bool operator==(const Workspace &) const = default;
};

enum class ArgKind {
  Pointer,   ///< 8 bytes: the address of an operand
  Workspace, ///< 8 bytes: the address of a workspace
  I32, ///< 4 bytes: an expression, in the range of a signed 32-bit integer
  I64, ///< 8 bytes: an expression
  F32, ///< 4 bytes: a finite constant
};

/// Bytes of an argument of \p kind in the argument segment.
uint32_t argBytes(ArgKind kind);

/// One argument of a kernel, at a byte offset of its argument segment.
struct KernelArg {
  ArgKind kind = ArgKind::I32;
  uint32_t offset = 0; ///< bytes, a multiple of the size of the argument
  uint32_t index = 0;  ///< Pointer: operand, Workspace: workspace
  ExprId expr = 0;     ///< I32, I64
  float constant = 0;  ///< F32

  bool operator==(const KernelArg &) const = default;
};

struct Launch {
  std::string kernel;
  std::array<ExprId, 3> grid = {};                   ///< workgroups in x, y, z
  std::array<uint32_t, 3> workgroupSize = {1, 1, 1}; ///< work-items in x, y, z
  ExprId dynamicLds = 0; ///< bytes beyond the kernel's own LDS
  uint32_t kernargBytes = 0;
  std::vector<KernelArg> args;

  bool operator==(const Launch &) const = default;
};

enum class PreconditionKind {
  BaseAlignment,  ///< the operand's address is a multiple of `value` bytes
  StrideMultiple, ///< a stride is a multiple of `value` elements
  StrideEquals,   ///< a stride is `value` elements
  Compare,        ///< `lhs` and `rhs` compare as said
};

/// A condition under which the launches are legal. The two conditions on
/// strides hold by themselves where the dimension has at most one element.
struct Precondition {
  PreconditionKind kind = PreconditionKind::Compare;
  uint32_t operand = 0;
  uint32_t dim = 0;
  int64_t value = 1;
  Comparison comparison = Comparison::Ge;
  ExprId lhs = 0;
  ExprId rhs = 0;
  std::string message; ///< what was expected; what was found is appended

  bool operator==(const Precondition &) const = default;
};

struct Plan {
  std::string name; ///< of the op, for messages
  std::vector<PlanOperand> operands;
  std::vector<std::string> scalars; ///< names of the integers of a call
  std::vector<Expr> exprs;
  std::vector<Workspace> workspaces;
  std::vector<Launch> launches; ///< in the order of execution
  std::vector<Precondition> preconditions;

  bool operator==(const Plan &) const = default;

  /// \name Construction of expressions; equal ones are shared.
  /// @{
  ExprId constant(int64_t value);
  ExprId size(uint32_t operand, uint32_t dim);
  ExprId stride(uint32_t operand, uint32_t dim);
  ExprId scalar(uint32_t index);
  /// \p kind is Add ... Max.
  ExprId binary(ExprKind kind, ExprId lhs, ExprId rhs);
  /// \p ifTrue where `lhs comparison rhs`, else \p ifFalse.
  ExprId select(Comparison comparison, ExprId lhs, ExprId rhs, ExprId ifTrue,
                ExprId ifFalse);
  /// @}
};

/// The spelling of \p kind and \p comparison in JSON and in messages:
/// "ceildiv", "le".
std::string_view name(ExprKind kind);
std::string_view name(Comparison comparison);

/// Whether every index, offset, size and name of \p plan is sound. The error
/// names the first part that is not.
Status validate(const Plan &plan);

/// The plan as JSON text (one object; docs of the format in PlanJson.cpp).
std::string toJson(const Plan &plan);

/// The valid plan that \p text states, or what is wrong with it.
Result<Plan> planFromJson(std::string_view text);

/// One operand of a call.
struct OperandArgument {
  uint64_t address = 0;
  std::span<const int64_t> sizes;   ///< outermost first
  std::span<const int64_t> strides; ///< in elements, outermost first
  std::string_view layout = {};     ///< as of PlanOperand
};

/// Where the address of a workspace belongs in an argument segment.
struct WorkspaceSlot {
  uint32_t offset = 0;    ///< bytes
  uint32_t workspace = 0; ///< index into Plan::workspaces
};

struct ConcreteLaunch {
  uint32_t launch = 0; ///< index into Plan::launches
  std::array<uint32_t, 3> grid = {};
  uint32_t dynamicLds = 0;
  /// The argument segment. Gaps and the workspace slots hold zeros.
  std::vector<uint8_t> kernarg;
  std::vector<WorkspaceSlot> workspaceSlots;

  /// Writes the addresses of the workspaces, one per Plan::workspaces, into
  /// the argument segment.
  void bindWorkspaces(std::span<const uint64_t> addresses);
};

/// A plan for the operands of one call.
struct ConcretePlan {
  /// Without those whose grid has a zero: there is nothing to launch.
  std::vector<ConcreteLaunch> launches;
  std::vector<uint64_t> workspaceBytes; ///< one per Plan::workspaces
};

/// What to launch for \p operands (one per Plan::operands) and \p scalars (one
/// per Plan::scalars) of the valid plan \p plan. Errors: an operand of the
/// wrong rank or size, a precondition that does not hold, arithmetic that
/// fails, a grid or an argument out of range.
Result<ConcretePlan> evaluate(const Plan &plan,
                              std::span<const OperandArgument> operands,
                              std::span<const int64_t> scalars = {});

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PLAN_H
