//===- XcdOrder.cpp - which tile a workgroup computes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "XcdOrder.h"

using namespace mlir;
using namespace tenon::kernels::dense;

std::pair<Value, Value> XcdOrder::tileOf(Value x, Value y) {
  auto divide = [&](Value a, Value b) -> Value {
    return t.create<arith::DivUIOp>(a, b);
  };
  auto rest = [&](Value a, Value quotient, Value b) -> Value {
    return t.create<arith::SubIOp>(a, t.mul(quotient, b));
  };
  Value total = t.mul(columns, rows);
  Value number = t.add(x, t.mul(y, columns));
  Value count = t.i32(dies);
  // The die, and its run of tiles.
  Value round = divide(number, count);
  Value die = rest(number, round, count);
  Value each = divide(total, count);
  Value longer = rest(total, each, count);
  Value begin = t.add(t.mul(die, each), t.create<arith::MinSIOp>(die, longer));
  Value place = t.add(begin, round);
  // The band, and the place in it.
  Value perBand = t.mul(columns, t.i32(group));
  Value band = divide(place, perBand);
  Value within = rest(place, band, perBand);
  Value firstRow = t.mul(band, t.i32(group));
  Value height = t.create<arith::MinSIOp>(
      t.create<arith::SubIOp>(rows, firstRow), t.i32(group));
  Value column = divide(within, height);
  return {column, t.add(firstRow, rest(within, column, height))};
}
