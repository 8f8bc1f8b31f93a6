//===- OneDie.h - workgroups that share data on one die ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_ONEDIE_H
#define TENON_LIB_KERNELS_KDA_ONEDIE_H

#include "../TileBuilder.h"

namespace tenon::kernels::kda {

/// The work of workgroup \p number of \p total (i32), which go to \p dies dies
/// in turn, such that \p sharers consecutive pieces of work are done on one die
/// and meet in its L2. A bijection for every total: of those left over at the
/// end each has its own number. Runs of sharers still go to the dies in turn,
/// so that a part of the grid that has nothing to do is spread over all.
inline mlir::Value onOneDie(TileBuilder &t, mlir::Value number,
                            mlir::Value total, int64_t sharers, int64_t dies) {
  using namespace mlir;
  auto divide = [&](Value a, int64_t b) -> Value {
    return t.create<arith::DivUIOp>(a, t.i32(b));
  };
  auto rest = [&](Value a, Value quotient, int64_t b) -> Value {
    return t.create<arith::SubIOp>(a, t.mul(quotient, t.i32(b)));
  };
  Value round = divide(number, dies);
  Value die = rest(number, round, dies);
  Value run = divide(round, sharers);
  Value within = rest(round, run, sharers);
  Value place = t.add(t.mul(run, t.i32(dies)), die);
  place = t.add(t.mul(place, t.i32(sharers)), within);
  Value whole = t.mul(divide(total, sharers * dies), t.i32(sharers * dies));
  Value isLeftOver =
      t.create<arith::CmpIOp>(arith::CmpIPredicate::sge, number, whole);
  return t.select(isLeftOver, number, place);
}

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_ONEDIE_H
