//===- PrefillPlan.cpp - kernel of tenon.kda_plan ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chunk j of sequence i takes row cu_seqlens[i] / 64 + i + j. Sequences leave
// room for each other, since a sum of quotients rounded up is at most the
// quotient of the sum and one per sequence: no workgroup needs to know the
// chunks of another.
//
//===----------------------------------------------------------------------===//

#include "PrefillPlan.h"
#include "PrefillPrologue.h"

#include "../KernelArguments.h"
#include "../TileBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;

void kda::writeChunkPlan(tile::KernelOp kernel, OpBuilder &builder) {
  static constexpr int64_t rowsAtOnce = 64 * planWaves;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  TileBuilder t(builder, kernel.getLoc());
  llvm::StringMap<Value> args = KernelArguments::byName(kernel);
  Type i32Type = builder.getI32Type();
  Value sequence = t.workgroupId(0);
  auto token = [&](Value index) -> Value {
    return t.create<tile::LoadScalarOp>(
        i32Type, t.advance(args["cu_seqlens"], t.wideMul(index, t.i32(4))));
  };
  auto firstRow = [&](Value index, Value begin) {
    return t.add(t.create<arith::ShRUIOp>(begin, t.i32(6)), index);
  };
  Value following = t.add(sequence, t.i32(1));
  Value begin = token(sequence);
  Value end = token(following);
  Value first = firstRow(sequence, begin);
  // The last sequence has the rest.
  Value isLast = t.create<arith::CmpIOp>(arith::CmpIPredicate::eq, following,
                                         args["sequences"]);
  Value past = t.select(isLast, args["chunks"], firstRow(following, end));
  // A plan of fewer rows than chunks is the caller's error, and harmless.
  past = t.create<arith::MinSIOp>(past, args["chunks"]);
  Value rows =
      t.create<arith::MaxSIOp>(t.create<arith::SubIOp>(past, first), t.i32(0));
  Value view = t.view(t.advance(args["plan"], t.wideMul(first, t.i32(16))),
                      {builder.getIndexAttr(4), builder.getIndexAttr(1)},
                      t.mul(rows, t.i32(16)));
  auto loop = t.create<scf::ForOp>(t.i32(0), rows, t.i32(rowsAtOnce));
  {
    OpBuilder::InsertionGuard inLoop(builder);
    builder.setInsertionPointToStart(loop.getBody());
    auto type = RankedTensorType::get({rowsAtOnce}, i32Type);
    auto all = [&](Value scalar) -> Value {
      return t.create<tile::SplatOp>(type, scalar);
    };
    Value number =
        t.add(t.create<tile::IotaOp>(type, 0), all(loop.getInductionVar()));
    Value at = t.add(t.mul(number, all(t.i32(chunkTokens))), all(begin));
    Value count = t.create<arith::SubIOp>(all(end), at);
    count =
        t.create<arith::MinSIOp>(t.create<arith::MaxSIOp>(count, all(t.i32(0))),
                                 all(t.i32(chunkTokens)));
    Value isChunk = t.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, count,
                                            all(t.i32(0)));
    auto orNone = [&](Value value) {
      return t.select(isChunk, value, all(t.i32(0)));
    };
    Value row =
        t.stack({orNone(all(sequence)), orNone(at), count, orNone(number)}, 1);
    t.store(row, view, {loop.getInductionVar(), t.i32(0)});
  }
  t.create<tile::ReturnOp>();
}
