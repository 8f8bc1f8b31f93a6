//===- TakeOperand.cpp - operands of a reference, checked -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TakeOperand.h"

#include "llvm/ADT/STLExtras.h"

namespace tenon::reference {

llvm::Error takeOperand(const llvm::StringMap<TensorView> &operands,
                        llvm::StringRef name, llvm::ArrayRef<ElementType> types,
                        llvm::ArrayRef<int64_t> shape, TensorView &view) {
  auto found = operands.find(name);
  if (found == operands.end()) {
    return llvm::createStringError("operand '" + name + "' is missing");
  }
  view = found->second;
  if (!llvm::is_contained(types, view.type)) {
    return llvm::createStringError(
        "operand '" + name + "': type " + reference::name(types.front()) +
        " expected, " + reference::name(view.type) + " found");
  }
  bool matches = view.shape.size() == shape.size();
  for (size_t d = 0; matches && d < shape.size(); ++d) {
    matches = shape[d] == anySize || shape[d] == view.shape[d];
  }
  if (!matches) {
    std::string expected = shapeText(shape);
    // shapeText prints the free dimensions as -1.
    for (size_t at; (at = expected.find("-1")) != std::string::npos;) {
      expected.replace(at, 2, "?");
    }
    return llvm::createStringError("operand '" + name + "': shape " + expected +
                                   " expected, " + shapeText(view.shape) +
                                   " found");
  }
  return llvm::Error::success();
}

} // namespace tenon::reference
