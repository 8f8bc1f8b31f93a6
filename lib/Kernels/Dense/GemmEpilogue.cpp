//===- GemmEpilogue.cpp - from the sums of tenon.gemm to out ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmKernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::dense;

// Rows of a slice for each of the waves along rows: those of one matrix
// instruction, or of two.
static constexpr int64_t sliceRows = 32;

/// The rows of \p sum in slices, one behind the other, each [row, column] or,
/// of several waves along rows, [row, wave, column]. Sums that fill most of the
/// registers leave no room for what becomes of all of them at once.
SmallVector<Value> GemmKernel::slicesOf(Value sum) {
  auto type = cast<RankedTensorType>(sum.getType());
  int64_t registers = type.getNumElements() / (schedule.waves() * 64);
  constexpr int64_t manyRegisters = 128;
  // Rows of a wave lie together, in registers above those of an instruction.
  // (Sums that have been added up have a layout of their own.)
  int64_t count = schedule.tileM / schedule.wavesM / sliceRows;
  if (registers <= manyRegisters || tile::getLayout(type) ||
      !llvm::isPowerOf2_64(schedule.tileM) || count < 2) {
    return {sum};
  }
  auto split = [&](ArrayRef<int64_t> shape, Value source, int64_t dim,
                   int64_t block) -> Value {
    return t.create<tile::SplitOp>(
        RankedTensorType::get(shape, type.getElementType()), source, dim,
        block);
  };
  Value cut = split({sliceRows, count * schedule.wavesM, schedule.tileN}, sum,
                    /*dim=*/0, sliceRows);
  if (schedule.wavesM > 1) {
    cut = split({sliceRows, count, schedule.wavesM, schedule.tileN}, cut,
                /*dim=*/1, count);
  }
  SmallVector<Value> slices;
  for (int64_t index = 0; index < count; ++index) {
    slices.push_back(t.extract(cut, /*dim=*/1, index));
  }
  return slices;
}

/// From the sums of the tile to out.
void GemmKernel::finish(ValueRange sums) {
  SmallVector<SmallVector<Value>> slices;
  for (Value sum : sums) {
    slices.push_back(slicesOf(sum));
  }
  for (size_t index = 0; index < slices.front().size(); ++index) {
    SmallVector<Value> slice;
    for (const SmallVector<Value> &ofPart : slices) {
      slice.push_back(ofPart[index]);
    }
    finishRows(slice, t.i32(static_cast<int64_t>(index) * sliceRows));
  }
}

/// The same of the rows from \p firstRow on.
void GemmKernel::finishRows(ValueRange sums, Value firstRow) {
  SmallVector<Value> scaled;
  for (auto [part, sum] : llvm::enumerate(sums)) {
    scaled.push_back(scale(sum, part, firstRow));
  }
  writeOut(scaled, firstRow);
}

/// The products of part \p part (gate or up) times the scales of their rows of
/// x and of weights.
Value GemmKernel::scale(Value sum, unsigned part, Value firstRow) {
  if (op.getFormat() != spec::GemmFormat::FP8) {
    return sum;
  }
  auto type = cast<RankedTensorType>(sum.getType());
  Value four = t.i32(4);
  auto view = [&](StringRef name, Value first, Value count,
                  ArrayRef<int64_t> strides) {
    SmallVector<OpFoldResult> elements;
    for (int64_t stride : strides) {
      elements.push_back(t.builder().getIndexAttr(stride));
    }
    return t.view(t.advance(args[name], t.wideMul(first, four)), elements,
                  t.mul(count, four));
  };
  Value firstColumn = column0;
  if (part == 1) {
    firstColumn = t.add(size("N/2", op.getOut(), 1), column0);
  }
  int64_t rowDims = type.getRank() - 1;
  Value zero = t.i32(0);
  SmallVector<int64_t> strides{1, schedule.tileM / schedule.wavesM};
  SmallVector<Value> offsets{firstRow, zero};
  Value ofRows =
      t.load(view("x_scale", row0, rows, ArrayRef(strides).take_front(rowDims)),
             ArrayRef(offsets).take_front(rowDims),
             type.getShape().take_front(rowDims));
  SmallVector<int64_t> dims{0, 1};
  sum =
      t.mulf(sum, t.broadcast(ofRows, ArrayRef(dims).take_front(rowDims), sum));
  Value ofColumns = t.load(view("weight_scale", firstColumn, columns, {1}),
                           {zero}, {type.getShape().back()});
  return t.mulf(sum, t.broadcast(ofColumns, {rowDims}, sum));
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

/// Writes the rows of the tile from \p firstRow on, 16 bytes at a time where
/// \p wide allows it.
void GemmKernel::storeTile(ValueRange sums, Value firstRow, bool wide) {
  Value result = epilogue(sums);
  auto type = cast<RankedTensorType>(result.getType());
  Value zero = t.i32(0);
  OpFoldResult unit = t.builder().getIndexAttr(1);
  // Columns beyond the end would lie in the next row.
  Value none = t.i32(std::numeric_limits<int32_t>::max());
  Limits limits;
  bool byWave = type.getRank() == 3;
  SmallVector<Value> offsets{firstRow, zero};
  limits.values = {none, columns};
  SmallVector<int64_t> divisors{1, wide ? 8 : 1};
  if (byWave) {
    offsets.insert(offsets.begin() + 1, zero);
    limits.values.insert(limits.values.begin() + 1, none);
    divisors.insert(divisors.begin() + 1, 1);
  }
  limits.divisors = t.builder().getDenseI64ArrayAttr(divisors);
  auto view = [&](StringRef name, Value operand) {
    int64_t bytes = bitsOf(operand) / 8;
    // Row strides are multiples of four bytes and given in those.
    Value units = args[(name + "_stride").str()];
    Value strideBytes = t.mul(units, t.i32(4));
    Value offset =
        t.add(t.wideMul(row0, strideBytes), t.wideMul(column0, t.i32(bytes)));
    Value last = t.mul(t.create<arith::SubIOp>(rows, t.i32(1)), strideBytes);
    Value stride = t.mul(units, t.i32(4 / bytes));
    SmallVector<OpFoldResult> strides{stride, unit};
    if (byWave) {
      Value ofWave = t.mul(stride, t.i32(schedule.tileM / schedule.wavesM));
      strides.insert(strides.begin() + 1, ofWave);
    }
    return t.view(t.advance(args[name], offset), strides,
                  t.add(last, t.mul(columns, t.i32(bytes))));
  };
  auto load = [&](StringRef name, Value operand) {
    return t.extend(t.load(view(name, operand), offsets, type.getShape(),
                           tile::getLayout(type),
                           /*nontemporal=*/false, limits));
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
  t.store(result, view("out", op.getOut()), offsets,
          /*nontemporal=*/false, limits);
}

void GemmKernel::writeOut(ValueRange sums, Value firstRow) {
  // Columns come in eights when N does and no range cuts them: else the tile
  // may begin or end anywhere, and the wide form serves only the tiles that do
  // not.
  std::optional<int64_t> n = staticSize(op.getOut(), 1);
  if (n && *n % 8 == 0 && !op.getColBegin()) {
    storeTile(sums, firstRow, /*wide=*/true);
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
    storeTile(sums, firstRow, wide);
  }
}
