//===- TenonLowerToTile.cpp - plans and tile programs of tenon ops -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "tenon/Kernels/Kernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TENONLOWERTOTILE
#include "passes/Passes.h.inc"
} // namespace tenon

namespace {
struct TenonLowerToTile : tenon::impl::TenonLowerToTileBase<TenonLowerToTile> {
  using TenonLowerToTileBase::TenonLowerToTileBase;

  LogicalResult lower(func::FuncOp function) {
    SmallVector<spec::SpecOpInterface> ops;
    function.walk([&](spec::SpecOpInterface op) { ops.push_back(op); });
    if (ops.empty()) {
      return success();
    }
    if (ops.size() > 1) {
      return ops[1]->emitOpError("a spec function holds one tenon op, this is "
                                 "the second");
    }
    spec::SpecOpInterface op = ops.front();
    auto schedules = op->getAttrOfType<ArrayAttr>("schedules");
    if (!schedules) {
      return op->emitOpError(
          "has no schedules: run tenon-choose-schedule first");
    }
    unsigned number = schedule;
    if (number >= schedules.size()) {
      return op->emitOpError("has ")
             << schedules.size() << " schedules, number " << number
             << " was asked for";
    }
    auto chosen = dyn_cast<DictionaryAttr>(schedules[number]);
    if (!chosen) {
      return op->emitOpError("schedule must be a dictionary, found ")
             << schedules[number];
    }
    OpBuilder builder(function);
    std::string name = function.getName().str();
    if (failed(kernels::lowerToTile(op, chosen, name, builder))) {
      return failure();
    }
    function.erase();
    return success();
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (failed(lower(function))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
