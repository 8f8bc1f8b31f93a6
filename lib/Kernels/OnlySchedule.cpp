//===- OnlySchedule.cpp - ops with one schedule -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OnlySchedule.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon;

DictionaryAttr kernels::onlySchedule(MLIRContext *context, int64_t waves) {
  Builder b(context);
  return b.getDictionaryAttr(
      b.getNamedAttr("waves", b.getI64IntegerAttr(waves)));
}

LogicalResult kernels::requireOnlySchedule(Operation *op,
                                           DictionaryAttr schedule,
                                           int64_t waves) {
  DictionaryAttr only = onlySchedule(op->getContext(), waves);
  if (schedule != only) {
    return op->emitOpError("its schedule is ")
           << only << ", found " << schedule;
  }
  return success();
}
