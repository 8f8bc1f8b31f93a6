//===- History.cpp - where the inputs of the convolution wait ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "History.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;

static constexpr int64_t D = 128;

Value kda::requireHistory(PlanBuilder &plan, spec::ConvLayout layout,
                          int64_t heads, StringRef operand) {
  Value columns = plan.size(operand, layout == spec::ConvLayout::SD ? 1 : 2);
  plan.require(arith::CmpIPredicate::sge, columns, plan.constant(3),
               (operand + ": L must be at least 3").str());
  plan.require(arith::CmpIPredicate::slt,
               plan.mul(columns, plan.constant(3 * heads * D * 2)),
               plan.constant(int64_t(1) << 31),
               (operand + ": one slot must be below 2^31 bytes").str());
  return columns;
}

kda::HistoryWindow kda::historyWindow(TileBuilder &t, spec::ConvLayout layout,
                                      int64_t heads, Value columns) {
  int64_t width = heads * D;
  int64_t lastChannel = 2 * width + D;
  OpFoldResult unit = t.builder().getIndexAttr(1);
  if (layout == spec::ConvLayout::SD) {
    // The reach is a constant, of the three columns in use.
    return {unit, t.builder().getIndexAttr(3 * width),
            t.i32((2 * 3 * width + lastChannel) * 2)};
  }
  return {columns, unit, t.mul(columns, t.i32(lastChannel * 2))};
}

Value kda::historyPointer(TileBuilder &t, spec::ConvLayout layout,
                          const llvm::StringMap<Value> &args, Value columns,
                          Value slot, Value head, StringRef operand) {
  Value ofSlot = t.wideMul(slot, args.lookup((operand + "_stride").str()));
  Value perHead = t.i32(2 * D);
  if (layout == spec::ConvLayout::DS) {
    perHead = t.mul(columns, perHead);
  }
  return t.advance(args.lookup(operand),
                   t.add(ofSlot, t.wideMul(head, perHead)));
}
