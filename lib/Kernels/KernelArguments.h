//===- KernelArguments.h - what a plan passes to a kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KERNELARGUMENTS_H
#define TENON_LIB_KERNELS_KERNELARGUMENTS_H

#include "PlanBuilder.h"

#include "dialects/Tile/Tile.h"

namespace tenon::kernels {

/// The arguments of one kernel. What the plan passes and what the kernel takes
/// are stated together, so that their orders agree.
class KernelArguments {
public:
  KernelArguments(mlir::OpBuilder &builder, PlanBuilder &plan)
      : b(builder), plan(plan) {}

  /// A pointer to each operand, under the operand's name.
  void pointers(llvm::ArrayRef<spec::OperandContract> contracts);
  /// The free outermost strides of the operands in bytes, as `NAME_stride`.
  void strides(llvm::ArrayRef<spec::OperandContract> contracts);
  /// A pointer to a workspace of elements of type \p element, which the plan
  /// states with it.
  void workspace(llvm::StringRef name, mlir::Type element, mlir::Value bytes,
                 bool zero);
  /// A pointer to a workspace that the plan states already.
  void statedWorkspace(llvm::StringRef name, mlir::Type element);
  void scalar32(llvm::StringRef name, mlir::Value value);
  void scalar64(llvm::StringRef name, mlir::Value value);

  /// A kernel that takes them, with an empty body. With \p preloads they arrive
  /// in registers, the first ones first (see tile.kernel).
  tile::KernelOp createKernel(mlir::Location loc, llvm::StringRef name,
                              int64_t waves, bool preloads = false);

  mlir::Builder &builder() { return b; }

  /// The arguments of \p kernel by name.
  static llvm::StringMap<mlir::Value> byName(tile::KernelOp kernel);

private:
  void add(llvm::StringRef name, mlir::Type type);

  mlir::OpBuilder &b;
  PlanBuilder &plan;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::DictionaryAttr> attrs;
};

} // namespace tenon::kernels

#endif // TENON_LIB_KERNELS_KERNELARGUMENTS_H
