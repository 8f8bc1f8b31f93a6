//===- Quantize.cpp - values and the scales of their blocks -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Quantize.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

int64_t moe::bitsOf(spec::Format format) {
  switch (format) {
  case spec::Format::F32:
    return 32;
  case spec::Format::BF16:
    return 16;
  case spec::Format::FP8:
    return 8;
  case spec::Format::FP4:
    return 4;
  }
  llvm_unreachable("covered switch");
}

Type moe::elementOf(spec::Format format, Builder &builder) {
  switch (format) {
  case spec::Format::F32:
    return builder.getF32Type();
  case spec::Format::BF16:
    return builder.getBF16Type();
  case spec::Format::FP8:
    return Float8E4M3FNType::get(builder.getContext());
  case spec::Format::FP4:
    return builder.getI8Type();
  }
  llvm_unreachable("covered switch");
}

/// The greatest number of a format is (1 + fraction) * 2^exponent.
static constexpr int64_t greatestExponent(bool isFP4) { return isFP4 ? 2 : 8; }

/// What is added to the bits of the greatest magnitude of a block before its
/// exponent is taken, so that one carries into it:
/// - up: beyond the greatest number of the format, 1.5 * 2^2 or 1.75 * 2^8;
/// - even: from where rounding to the mantissa of the format makes it 2.
static constexpr int64_t exponentBias(bool isFP4, spec::ScaleMode mode) {
  switch (mode) {
  case spec::ScaleMode::Up:
    return isFP4 ? 0x3FFFFF : 0x1FFFFF;
  case spec::ScaleMode::Even:
    return isFP4 ? 0x200000 : 0x080000;
  case spec::ScaleMode::Floor:
    return 0;
  }
  llvm_unreachable("covered switch");
}

Codes moe::quantize(TileBuilder &t, Value x, spec::Format format,
                    spec::ScaleMode mode) {
  Builder &b = t.builder();
  auto type = cast<RankedTensorType>(x.getType());
  auto clone = [&](Value value, Type element) -> Type {
    return cast<RankedTensorType>(value.getType()).clone(element);
  };
  if (format == spec::Format::F32 || format == spec::Format::BF16) {
    Type element = elementOf(format, b);
    if (type.getElementType() == element) {
      return {x, Value()};
    }
    return {element.isF32()
                ? t.extend(x)
                : t.create<arith::TruncFOp>(clone(x, element), x).getResult(),
            Value()};
  }
  bool isFP4 = format == spec::Format::FP4;
  constexpr int64_t block = tile::MmaOp::scaleBlock;
  constexpr int64_t mantissaBits = 23;
  constexpr int64_t infinity = 0x7F800000;
  Type i32 = b.getI32Type();
  // Magnitudes of numbers are in the order of their bits, NaN behind infinity.
  Value bits = t.bitcast(t.extend(x), i32);
  bits = t.create<arith::AndIOp>(bits, t.integers(0x7FFFFFFF, bits));
  auto bitsType = cast<RankedTensorType>(bits.getType());
  SmallVector<int64_t> shape{type.getDimSize(0), block,
                             type.getDimSize(1) / block};
  tile::LayoutAttr layout;
  if (tile::LayoutAttr whole = tile::getLayout(bitsType)) {
    SmallVector<SmallVector<int64_t, 2>> blocks(2);
    blocks[1].push_back(block);
    layout = tile::LayoutAttr::get(
        b.getContext(), llvm::cantFail(whole.getLayout().split(blocks)));
  }
  Value split = t.create<tile::SplitOp>(
      RankedTensorType::get(shape, i32, layout), bits, 1, block);
  Value most = t.reduce(tile::ReduceKind::Max, split, {1});
  auto constant = [&](int64_t value) { return t.integers(value, most); };
  auto select = [&](arith::CmpIPredicate predicate, Value a, Value c, Value yes,
                    Value no) -> Value {
    return t.create<arith::SelectOp>(t.create<arith::CmpIOp>(predicate, a, c),
                                     yes, no);
  };
  Value biased = t.add(most, constant(exponentBias(isFP4, mode)));
  Value exponent = t.create<arith::ShRUIOp>(biased, constant(mantissaBits));
  exponent =
      t.create<arith::SubIOp>(exponent, constant(greatestExponent(isFP4)));
  exponent = t.create<arith::MaxSIOp>(exponent, constant(0));
  exponent = select(arith::CmpIPredicate::sge, most, constant(infinity),
                    constant(255), exponent);
  Value scale =
      t.bitcast(t.create<arith::ShLIOp>(exponent, constant(mantissaBits)),
                b.getF32Type());
  SmallVector<int64_t> codeShape(type.getShape());
  codeShape[1] /= isFP4 ? 2 : 1;
  tile::LayoutAttr codeLayout = tile::getLayout(type);
  if (codeLayout && isFP4) {
    codeLayout = tile::LayoutAttr::get(
        b.getContext(), llvm::cantFail(codeLayout.getLayout().coarsen(1, 2)));
  }
  auto codeType =
      RankedTensorType::get(codeShape, elementOf(format, b), codeLayout);
  Codes codes;
  codes.values = t.create<tile::QuantizeOp>(codeType, x, scale, 1,
                                            mode != spec::ScaleMode::Up);
  codes.scales =
      t.create<arith::TruncIOp>(clone(exponent, b.getI8Type()), exponent);
  return codes;
}
