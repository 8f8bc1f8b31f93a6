//===- PlanOps.cpp - the launch plan ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/Tenon.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon::spec;

#define GET_OP_CLASSES
#include "dialects/Tenon/PlanOps.cpp.inc"

std::optional<unsigned> PlanOp::findOperand(StringRef name) {
  for (auto [index, operand] : llvm::enumerate(getOperands())) {
    if (cast<DictionaryAttr>(operand).getAs<StringAttr>("name") == name) {
      return index;
    }
  }
  return std::nullopt;
}

std::optional<unsigned> PlanOp::findScalar(StringRef name) {
  if (!getScalars()) {
    return std::nullopt;
  }
  for (auto [index, scalar] : llvm::enumerate(*getScalars())) {
    if (cast<StringAttr>(scalar) == name) {
      return index;
    }
  }
  return std::nullopt;
}

WorkspaceOp PlanOp::findWorkspace(StringRef name) {
  for (auto workspace : getBody().getOps<WorkspaceOp>()) {
    if (workspace.getName() == name) {
      return workspace;
    }
  }
  return WorkspaceOp();
}

LogicalResult PlanOp::verify() {
  for (auto [index, operand] : llvm::enumerate(getOperands())) {
    auto dict = dyn_cast<DictionaryAttr>(operand);
    if (!dict || !dict.getAs<StringAttr>("name") ||
        !dict.getAs<TypeAttr>("type") || !dict.getAs<StringAttr>("access") ||
        !dict.getAs<ArrayAttr>("dims")) {
      return emitOpError("operand #")
             << index
             << " must be a dictionary with name, type, access and dims";
    }
    StringRef access = dict.getAs<StringAttr>("access").getValue();
    if (access != "read" && access != "write" && access != "read_write") {
      return emitOpError("operand #")
             << index << ": access must be read, write or read_write, found '"
             << access << "'";
    }
    for (Attribute dim : dict.getAs<ArrayAttr>("dims")) {
      if (!isa<StringAttr, IntegerAttr>(dim)) {
        return emitOpError("operand #")
               << index << ": a size must be an integer or a name, found "
               << dim;
      }
    }
  }
  return success();
}

/// Checks that the plan has the operand and, unless \p dim is empty, that the
/// operand has the dimension.
static LogicalResult verifyOperand(Operation *op, StringRef name,
                                   std::optional<int64_t> dim) {
  auto plan = op->getParentOfType<PlanOp>();
  std::optional<unsigned> index = plan.findOperand(name);
  if (!index) {
    return op->emitOpError("the plan has no operand '") << name << "'";
  }
  auto dims =
      cast<DictionaryAttr>(plan.getOperands()[*index]).getAs<ArrayAttr>("dims");
  if (dim && (*dim < 0 || *dim >= static_cast<int64_t>(dims.size()))) {
    return op->emitOpError("operand '")
           << name << "' has " << dims.size() << " dimensions, found dimension "
           << *dim;
  }
  return success();
}

LogicalResult SizeOp::verify() {
  return verifyOperand(*this, getOperand(), getDim());
}

LogicalResult StrideOp::verify() {
  return verifyOperand(*this, getOperand(), getDim());
}

LogicalResult ScalarOp::verify() {
  auto plan = (*this)->getParentOfType<PlanOp>();
  if (!plan.findScalar(getScalar())) {
    return emitOpError("the plan has no scalar '") << getScalar() << "'";
  }
  return success();
}

LogicalResult RequireAlignedOp::verify() {
  return verifyOperand(*this, getOperand(), std::nullopt);
}

LogicalResult RequireStrideOp::verify() {
  int64_t value = static_cast<int64_t>(getValue());
  if (value < (getEqual() ? 0 : 1)) {
    return emitOpError("expected a positive number of elements, found ")
           << value;
  }
  return verifyOperand(*this, getOperand(), getDim());
}

LogicalResult WorkspaceOp::verify() {
  if (getName().empty()) {
    return emitOpError("has no name");
  }
  if ((*this)->getParentOfType<PlanOp>().findWorkspace(getName()) != *this) {
    return emitOpError("the plan has two workspaces '") << getName() << "'";
  }
  return success();
}

LogicalResult LaunchOp::verify() {
  for (auto [index, arg] : llvm::enumerate(getArgs())) {
    auto dict = dyn_cast<DictionaryAttr>(arg);
    if (!dict || dict.size() != 1) {
      return emitOpError("argument #")
             << index
             << " must be {ptr = name}, {workspace = name}, {i32 = k} or {i64 "
                "= k}";
    }
    NamedAttribute entry = *dict.begin();
    if (entry.getName() == "workspace") {
      auto name = dyn_cast<StringAttr>(entry.getValue());
      auto workspace =
          name ? (*this)->getParentOfType<PlanOp>().findWorkspace(name)
               : WorkspaceOp();
      if (!workspace || !workspace->isBeforeInBlock(*this)) {
        return emitOpError("argument #")
               << index << ": expected the name of a workspace stated before, "
               << "found " << arg;
      }
      continue;
    }
    if (entry.getName() == "ptr") {
      auto name = dyn_cast<StringAttr>(entry.getValue());
      if (!name) {
        return emitOpError("argument #")
               << index << ": expected the name of an operand, found " << arg;
      }
      if (failed(verifyOperand(*this, name, std::nullopt))) {
        return failure();
      }
      continue;
    }
    auto number = dyn_cast<IntegerAttr>(entry.getValue());
    if ((entry.getName() != "i32" && entry.getName() != "i64") || !number ||
        number.getInt() < 0 ||
        number.getInt() >= static_cast<int64_t>(getValues().size())) {
      return emitOpError("argument #")
             << index
             << ": expected i32 or i64 and the number of a value below "
             << getValues().size() << ", found " << arg;
    }
  }
  return success();
}
