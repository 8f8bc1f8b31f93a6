//===- GemmEpilogue.cpp - from the sums of tenon.gemm to out ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

/// The products of part \p part (gate or up) times the scales of their rows of
/// x and of weights.
Value GemmKernel::scale(Value sum, unsigned part) {
  if (op.getFormat() != spec::GemmFormat::FP8) {
    return sum;
  }
  auto scaled = [&](StringRef name, Value first, Value count, int64_t dim) {
    auto type = cast<RankedTensorType>(sum.getType());
    Value four = t.i32(4);
    Value view = t.view(t.advance(args[name], t.wideMul(first, four)),
                        {t.builder().getIndexAttr(1)}, t.mul(count, four));
    Value scales = t.load(view, {t.i32(0)}, {type.getDimSize(dim)});
    sum = t.mulf(sum, t.broadcast(scales, {dim}, sum));
  };
  Value firstRow = column0;
  if (part == 1) {
    firstRow = t.add(size("N/2", op.getOut(), 1), column0);
  }
  scaled("x_scale", row0, rows, 0);
  scaled("weight_scale", firstRow, columns, 1);
  return sum;
}

/// What becomes of the sums before they are rounded; `add` and `sigmoid_gate`
/// have another operand, see storeTile.
Value GemmKernel::epilogue(ValueRange sums) {
  switch (op.getEpilogue()) {
  case spec::Epilogue::SiLU: {
    Value gated = t.mulf(sums[0], t.sigmoid(sums[0]));
    return t.mulf(gated, sums[1]);
  }
  case spec::Epilogue::SiTU: {
    return t.situ(sums[0], sums[1], op.getBeta()->convertToDouble(),
                  op.getLinearBeta()->convertToDouble());
  }
  default:
    return sums[0];
  }
}

/// Writes the tile, 16 bytes at a time where \p wide allows it.
void GemmKernel::storeTile(ValueRange sums, bool wide) {
  Value result = epilogue(sums);
  auto type = cast<RankedTensorType>(result.getType());
  Value zero = t.i32(0);
  OpFoldResult unit = t.builder().getIndexAttr(1);
  // Columns beyond the end would lie in the next row.
  Value none = t.i32(std::numeric_limits<int32_t>::max());
  Limits limits;
  limits.values = {none, columns};
  limits.divisors = t.builder().getDenseI64ArrayAttr({1, wide ? 8 : 1});
  auto view = [&](StringRef name, Value operand) {
    int64_t bytes = bitsOf(operand) / 8;
    // Row strides are multiples of four bytes and given in those.
    Value units = args[(name + "_stride").str()];
    Value strideBytes = t.mul(units, t.i32(4));
    Value offset =
        t.add(t.wideMul(row0, strideBytes), t.wideMul(column0, t.i32(bytes)));
    Value last = t.mul(t.create<arith::SubIOp>(rows, t.i32(1)), strideBytes);
    return t.view(t.advance(args[name], offset),
                  {t.mul(units, t.i32(4 / bytes)), unit},
                  t.add(last, t.mul(columns, t.i32(bytes))));
  };
  auto load = [&](StringRef name, Value operand) {
    return t.extend(t.load(view(name, operand), {zero, zero}, type.getShape(),
                           tile::getLayout(type), /*nontemporal=*/false,
                           limits));
  };
  if (op.getEpilogue() == spec::Epilogue::Add) {
    result = t.addf(load("out", op.getOut()), result);
  } else if (op.getEpilogue() == spec::Epilogue::SigmoidGate) {
    Value gate = t.sigmoid(result);
    result = t.mulf(load("multiplicand", op.getMultiplicand()), gate);
  }
  Type element = cast<MemRefType>(op.getOut().getType()).getElementType();
  if (!element.isF32()) {
    result = t.create<arith::TruncFOp>(type.clone(element), result);
  }
  t.store(result, view("out", op.getOut()), {zero, zero},
          /*nontemporal=*/false, limits);
}

void GemmKernel::writeOut(ValueRange sums) {
  // Columns come in eights when N does and no range cuts them: else the tile
  // may begin or end anywhere, and the wide form serves only the tiles that do
  // not.
  std::optional<int64_t> n = staticSize(op.getOut(), 1);
  if (n && *n % 8 == 0 && !op.getColBegin()) {
    storeTile(sums, /*wide=*/true);
    return;
  }
  Value mask = t.i32(7);
  Value zero = t.i32(0);
  Value cut =
      t.create<arith::AndIOp>(t.create<arith::OrIOp>(column0, columns), mask);
  Value isCut = t.create<arith::CmpIOp>(arith::CmpIPredicate::ne, cut, zero);
  auto branch = t.create<scf::IfOp>(isCut, /*withElseRegion=*/true);
  for (bool wide : {true, false}) {
    OpBuilder::InsertionGuard guard(t.builder());
    t.builder().setInsertionPointToStart(wide ? branch.elseBlock()
                                              : branch.thenBlock());
    storeTile(sums, wide);
  }
}
