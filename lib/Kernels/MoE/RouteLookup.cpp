//===- RouteLookup.cpp - from routes to experts -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sort.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

void RouteLookup::addArguments(spec::MoeExpertsOp op, PlanBuilder &plan,
                               KernelArguments &arguments) {
  SmallVector<spec::OperandContract> needed = op.getOperandContracts();
  llvm::erase_if(needed, [](const spec::OperandContract &contract) {
    return contract.name != "ids" && contract.name != "expert_map" &&
           contract.name != "num_tokens";
  });
  arguments.pointers(needed);
  arguments.scalar32("T", plan.size("ids", 0));
}

Value RouteLookup::tokens() {
  Value all = args.lookup("T");
  if (!op.getNumTokens()) {
    return all;
  }
  Value given = t.create<tile::LoadScalarOp>(t.builder().getI32Type(),
                                             args.lookup("num_tokens"));
  return t.create<arith::MinSIOp>(all,
                                  t.create<arith::MaxSIOp>(given, t.i32(0)));
}

/// Where \p index is from 0 to \p limit - 1.
static Value isIndex(TileBuilder &t, Value index, int64_t limit) {
  return t.create<arith::CmpIOp>(arith::CmpIPredicate::ult, index,
                                 t.splat(t.i32(limit), index));
}

Value RouteLookup::experts(Value ids, Value exists) {
  Value none = t.splat(t.i32(-1), ids);
  auto orNone = [&](Value index, int64_t limit) -> Value {
    return t.create<arith::SelectOp>(isIndex(t, index, limit), index, none);
  };
  Value known =
      t.create<arith::SelectOp>(exists, orNone(ids, op.getIdLimit()), none);
  if (!op.getExpertMap()) {
    return known;
  }
  OpFoldResult unit = t.builder().getIndexAttr(1);
  Value map =
      t.view(args.lookup("expert_map"), {unit}, t.i32(op.getIdLimit() * 4));
  auto type = cast<RankedTensorType>(ids.getType());
  // No route reads as 0, which is an expert.
  Value mapped =
      t.gather(map, known, {t.i32(0)}, type.getShape(), tile::getLayout(type));
  Value wasKnown = isIndex(t, known, op.getIdLimit());
  return t.create<arith::SelectOp>(wasKnown, orNone(mapped, op.getExperts()),
                                   none);
}

Value RouteLookup::areRoutes(Value ids, Value places, int64_t count) {
  Value exists = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, places,
                                         t.integers(count, places));
  Value found = experts(ids, exists);
  return t.create<arith::CmpIOp>(arith::CmpIPredicate::sge, found,
                                 t.integers(0, found));
}

std::pair<Value, Value> RouteLookup::expert(Value route) {
  Type i32 = t.builder().getI32Type();
  Value zero = t.i32(0), one = t.i32(1);
  auto clamp = [&](Value value, Value low, Value high) -> Value {
    return t.create<arith::MinSIOp>(t.create<arith::MaxSIOp>(value, low), high);
  };
  auto load = [&](StringRef operand, Value index) -> Value {
    Value at = t.advance(args.lookup(operand), t.wideMul(index, t.i32(4)));
    return t.create<tile::LoadScalarOp>(i32, at);
  };
  // 1 for what is from 0 to \p limit - 1. Arithmetic, since a condition that
  // also selects among vectors would move descriptors to vector registers.
  auto isIndex = [&](Value value, int64_t limit) {
    Value isLow = clamp(t.add(value, one), zero, one);
    Value isHigh =
        clamp(t.create<arith::SubIOp>(t.i32(limit), value), zero, one);
    return t.mul(isLow, isHigh);
  };
  Value id = load("ids", route);
  Value exists = isIndex(id, op.getIdLimit());
  if (op.getExpertMap()) {
    id = load("expert_map", clamp(id, zero, t.i32(op.getIdLimit() - 1)));
    exists = t.mul(exists, isIndex(id, op.getExperts()));
  }
  return {id, exists};
}
