//===- XcdOrder.cpp - which tile a workgroup computes -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "XcdOrder.h"

using namespace mlir;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

static Value divide(TileBuilder &t, Value a, Value b) {
  return t.create<arith::DivUIOp>(a, b);
}

/// What \p quotient leaves of \p a over \p b.
static Value rest(TileBuilder &t, Value a, Value quotient, Value b) {
  return t.create<arith::SubIOp>(a, t.mul(quotient, b));
}

Value XcdOrder::placeOf(Value number, Value total) {
  Value count = t.i32(dies);
  Value round = divide(t, number, count);
  Value die = rest(t, number, round, count);
  Value each = divide(t, total, count);
  Value longer = rest(t, total, each, count);
  Value begin = t.add(t.mul(die, each), t.create<arith::MinSIOp>(die, longer));
  return t.add(begin, round);
}

std::pair<Value, Value> XcdOrder::tileAt(Value place) {
  Value perBand = t.mul(columns, t.i32(group));
  Value band = divide(t, place, perBand);
  Value within = rest(t, place, band, perBand);
  Value firstRow = t.mul(band, t.i32(group));
  Value height = t.create<arith::MinSIOp>(
      t.create<arith::SubIOp>(rows, firstRow), t.i32(group));
  Value column = divide(t, within, height);
  return {column, t.add(firstRow, rest(t, within, column, height))};
}

std::pair<Value, Value> XcdOrder::tileOf(Value number) {
  return tileAt(placeOf(number, t.mul(columns, rows)));
}
