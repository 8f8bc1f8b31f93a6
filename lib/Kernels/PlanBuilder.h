//===- PlanBuilder.h - writing launch plans ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_PLANBUILDER_H
#define TENON_LIB_KERNELS_PLANBUILDER_H

#include "dialects/Tenon/Tenon.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace tenon::kernels {

/// Writes one `tenon.plan`. The constructor creates it with the operands and
/// the scalars of \p op and with what its contract requires of addresses,
/// strides, sizes and ranges.
class PlanBuilder {
public:
  PlanBuilder(mlir::OpBuilder &builder, llvm::StringRef name,
              spec::SpecOpInterface op);

  /// \name Expressions (`index`)
  /// @{
  mlir::Value constant(int64_t value);
  mlir::Value size(llvm::StringRef operand, unsigned dim);
  /// The stride of dimension \p dim in bytes.
  mlir::Value strideBytes(llvm::StringRef operand, unsigned dim = 0);
  /// An integer of the call, such as "row_begin".
  mlir::Value scalar(llvm::StringRef name);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// Quotients of integers that are not negative, rounded down and up.
  mlir::Value floorDiv(mlir::Value a, mlir::Value b);
  mlir::Value ceilDiv(mlir::Value a, mlir::Value b);
  /// @}

  /// Requires a comparison to hold.
  void require(mlir::arith::CmpIPredicate predicate, mlir::Value lhs,
               mlir::Value rhs, llvm::StringRef message);

  /// States memory that the launches need besides the operands; with \p zero
  /// it holds zeros before them and after.
  void workspace(llvm::StringRef name, mlir::Value bytes, bool zero);

  /// \name Arguments of the next launch, in the order of the kernel
  /// @{
  void pointer(llvm::StringRef operand);
  void workspacePointer(llvm::StringRef workspace);
  void scalar32(mlir::Value value);
  void scalar64(mlir::Value value);
  /// @}

  /// Launches \p kernel with the arguments collected so far.
  void launch(llvm::StringRef kernel, mlir::Value x, mlir::Value y,
              mlir::Value z, int64_t workgroupSize);

private:
  void requireContract(const spec::OperandContract &contract);
  void requireFreeStride(const spec::OperandContract &contract, unsigned dim);
  void requireMultiples();
  void requireRelations(llvm::ArrayRef<spec::SizeRelation> relations);
  void requireRanges(llvm::ArrayRef<spec::HostRange> ranges);
  mlir::Value sizeOf(llvm::StringRef symbol);
  mlir::Value stride(llvm::StringRef operand, unsigned dim);
  const spec::OperandContract &contract(llvm::StringRef operand) const;

  mlir::OpBuilder b;
  mlir::Location loc;
  llvm::SmallVector<spec::OperandContract> contracts;
  std::map<int64_t, mlir::Value> constants;
  std::map<std::pair<std::string, unsigned>, mlir::Value> strides;
  llvm::SmallVector<mlir::Attribute> args;
  llvm::SmallVector<mlir::Value> values;
};

} // namespace tenon::kernels

#endif // TENON_LIB_KERNELS_PLANBUILDER_H
