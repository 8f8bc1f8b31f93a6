//===- VerifyContract.cpp - types of operands against contracts -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/VerifyContract.h"

using namespace mlir;
using namespace tenon;

/// The shape that \p contract asks for, sizes that vary as dynamic.
static SmallVector<int64_t>
expectedShape(const spec::OperandContract &contract) {
  SmallVector<int64_t> shape;
  for (const spec::ContractDim &dim : contract.dims) {
    shape.push_back(dim.symbol.empty() ? dim.size : ShapedType::kDynamic);
  }
  return shape;
}

LogicalResult spec::verifyShape(Operation *op, const OperandContract &contract,
                                ArrayRef<Type> elements) {
  auto type = cast<MemRefType>(contract.value.getType());
  SmallVector<int64_t> shape = expectedShape(contract);
  if (type.getShape() != ArrayRef<int64_t>(shape) ||
      !llvm::is_contained(elements, type.getElementType())) {
    return op->emitOpError("operand '")
           << contract.name << "' must be "
           << MemRefType::get(shape, elements.front()) << ", found " << type;
  }
  return success();
}

LogicalResult spec::verifyStrides(Operation *op,
                                  const OperandContract &contract) {
  auto type = cast<MemRefType>(contract.value.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0) {
    return op->emitOpError("operand '")
           << contract.name << "' must be strided from offset 0, found "
           << type;
  }
  // Dense from the innermost dimension outwards; strides may be run-time values
  // where the contract says that they are free.
  int64_t dense = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    bool free = contract.isFree(dim);
    bool matches =
        strides[dim] == dense ||
        (ShapedType::isDynamic(dense) && ShapedType::isDynamic(strides[dim]));
    if (!matches && !(free && ShapedType::isDynamic(strides[dim]))) {
      return op->emitOpError("operand '")
             << contract.name << "': the stride of dimension " << dim
             << " must be " << (free ? "'?' or dense" : "dense") << ", found "
             << type;
    }
    int64_t size = type.getDimSize(dim);
    dense = ShapedType::isDynamic(strides[dim]) || ShapedType::isDynamic(size)
                ? ShapedType::kDynamic
                : dense * size;
  }
  return success();
}
