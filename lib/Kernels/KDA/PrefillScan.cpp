//===- PrefillScan.cpp - the state at the start of each group ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group's chunks map the state S [v, k] to S diag(A) + S C + B, with B what
// they make of zeros, A the product of their decays, and C the rest of what
// they make of the identity. Rows v do not meet: a workgroup has sixteen of
// them, its waves share the columns.
//
//===----------------------------------------------------------------------===//

#include "PrefillScan.h"
#include "Groups.h"
#include "PrefillPrologue.h"

#include "../KernelArguments.h"

#include "tenon/Layout/Mfma.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;

Groups kda::groupsOf(TileBuilder &t, Value chunks, Value groups,
                     Value leastChunks) {
  Value one = t.i32(1);
  auto ceilDiv = [&](Value a, Value b) -> Value {
    Value raised = t.create<arith::SubIOp>(t.add(a, b), one);
    return t.create<arith::DivUIOp>(raised, b);
  };
  Value each = t.create<arith::MaxSIOp>(ceilDiv(chunks, groups), leastChunks);
  Value used = t.create<arith::MaxSIOp>(ceilDiv(chunks, each), one);
  return {each, used};
}

void kda::writeScan(tile::KernelOp kernel, int64_t heads, Type operand,
                    OpBuilder &builder) {
  bool wide = operand.isF32();
  int64_t mapBytes = D * D * operand.getIntOrFloatBitWidth() / 8;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  TileBuilder t(builder, kernel.getLoc());
  llvm::StringMap<Value> args = KernelArguments::byName(kernel);
  Type i32Type = builder.getI32Type();
  OpFoldResult unit = t.index(1);
  OpFoldResult row = t.index(D);
  Value zero = t.i32(0);
  Value one = t.i32(1);

  constexpr int64_t slices = D / scanRows;
  Value slice = t.create<arith::AndIOp>(t.workgroupId(0), t.i32(slices - 1));
  Value head =
      t.create<arith::ShRUIOp>(t.workgroupId(0), t.i32(llvm::Log2_64(slices)));
  Value sequence = t.workgroupId(1);
  auto token = [&](Value index) -> Value {
    return t.create<tile::LoadScalarOp>(
        i32Type, t.advance(args["cu_seqlens"], t.wideMul(index, t.i32(4))));
  };
  Value tokens =
      t.create<arith::SubIOp>(token(t.add(sequence, one)), token(sequence));
  Value chunks = t.create<arith::ShRUIOp>(t.add(tokens, t.i32(chunkTokens - 1)),
                                          t.i32(llvm::Log2_64(chunkTokens)));
  Groups groups = groupsOf(t, chunks, args["groups"], args["least_chunks"]);

  // Where the sequence's and head's groups begin.
  Value first = t.wideMul(
      t.add(t.wideMul(sequence, t.i64(heads)), t.wideMul(head, t.i64(1))),
      args["groups"]);
  Value firstRow = t.mul(slice, t.i32(scanRows));
  auto of = [&](StringRef name, Value group, int64_t bytes) {
    Value index = t.add(first, t.wideMul(group, t.i64(1)));
    return t.advance(args[name], t.wideMul(index, t.i64(bytes)));
  };
  auto entry = [&](Value group, Value isThere) {
    return t.view(of("entry", group, D * D * 4), {row, unit},
                  t.mul(isThere, t.i32(D * D * 4)));
  };
  SmallVector<int64_t> rows{scanRows, D};
  // Where the product wants its operands: carried tiles have one layout.
  layout::Layout sums = llvm::cantFail(
      layout::mfmaTile(scanRows, D, {16, /*wavesM=*/1, /*wavesN=*/scanWaves}));
  layout::MfmaOperands operands = llvm::cantFail(layout::mfmaOperands(
      sums, 16, 32, D, layout::MfmaFormat::F16, layout::MfmaFormat::F16));
  Value last = t.create<arith::SubIOp>(groups.used, one);
  // 1 or 0, as a number: a condition would move descriptors to vector
  // registers.
  auto isBefore = [&](Value a, Value b) -> Value {
    return t.create<arith::MaxSIOp>(
        t.create<arith::MinSIOp>(t.create<arith::SubIOp>(b, a), one), zero);
  };
  /// C and A of \p group, B of it, and nothing behind the last.
  auto fetch = [&](Value group) {
    Value isThere = isBefore(group, last);
    Value map = t.load(t.view(of("transform", group, mapBytes), {unit, row},
                              t.mul(isThere, t.i32(mapBytes))),
                       {zero, zero}, {D, D}, t.layoutAttr(operands.rhs));
    Value decay = t.load(
        t.view(of("carry", group, D * 4), {unit}, t.mul(isThere, t.i32(D * 4))),
        {zero}, {D}, t.layoutAttr(sums.slice({0})));
    Value made = t.load(entry(t.add(group, one), isThere), {firstRow, zero},
                        rows, t.layoutAttr(sums));
    return SmallVector<Value>{map, decay, made};
  };
  // Of a single group nobody asks for the state of a second.
  Value hasSecond = t.create<arith::MinSIOp>(last, one);
  SmallVector<Value> carried{t.load(entry(one, hasSecond), {firstRow, zero},
                                    rows, t.layoutAttr(sums))};
  llvm::append_range(carried, fetch(one));
  /// The state at the beginning of the group behind \p group, from that at its
  /// own; written where there is such a group.
  auto step = [&](Value group, Value state, ArrayRef<Value> fetched) {
    Value map = fetched[0];
    Value sum = t.fma(state, t.broadcast(fetched[1], {1}, state), fetched[2]);
    sum = t.create<tile::MmaOp>(
        sum.getType(), t.round(state, operand), map, sum, Value(), Value(),
        builder.getDenseI64ArrayAttr({16, 32}), DenseI64ArrayAttr(),
        DenseI64ArrayAttr(), IntegerAttr(), DenseI64ArrayAttr(),
        wide ? builder.getF64FloatAttr(termAccuracy) : FloatAttr());
    t.store(sum, entry(t.add(group, one), isBefore(group, last)),
            {firstRow, zero});
    return sum;
  };
  // Two groups per iteration, so that what is fetched ahead stays in the
  // registers that it arrives in.
  auto loop = t.create<scf::ForOp>(one, last, t.i32(2), carried);
  {
    OpBuilder::InsertionGuard inLoop(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value group = loop.getInductionVar();
    Value following = t.add(group, one);
    ValueRange args = loop.getRegionIterArgs();
    // Ahead of the step that needs them.
    SmallVector<Value> second = fetch(following);
    t.create<tile::OrderFenceOp>();
    Value state = step(group, args[0], llvm::to_vector(args.drop_front()));
    SmallVector<Value> first = fetch(t.add(following, one));
    t.create<tile::OrderFenceOp>();
    state = step(following, state, second);
    first.insert(first.begin(), state);
    t.create<scf::YieldOp>(first);
  }
  t.create<tile::ReturnOp>();
}
