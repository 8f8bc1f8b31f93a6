//===- TenonDialect.cpp - the tenon dialect ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/Tenon.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon::spec;

#include "dialects/Tenon/TenonDialect.cpp.inc"
#include "dialects/Tenon/TenonInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Tenon/TenonOps.cpp.inc"

void TenonDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tenon/TenonOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tenon/PlanOps.cpp.inc"
      >();
}
