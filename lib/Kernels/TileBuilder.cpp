//===- TileBuilder.cpp - writing tile programs ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileBuilder.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;

static constexpr double log2e = 1.4426950408889634;
static constexpr double ln2 = 0.6931471805599453;

static arith::FastMathFlagsAttr flags(OpBuilder &b,
                                      arith::FastMathFlags value) {
  return arith::FastMathFlagsAttr::get(b.getContext(), value);
}

static RankedTensorType tileOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Uniform scalars
//===----------------------------------------------------------------------===//

Value TileBuilder::i32(int64_t value) {
  return create<arith::ConstantIntOp>(value, 32);
}

Value TileBuilder::i64(int64_t value) {
  return create<arith::ConstantIntOp>(value, 64);
}

Value TileBuilder::f32(double value) {
  return create<arith::ConstantOp>(b.getF32FloatAttr(value));
}

Value TileBuilder::workgroupId(unsigned dim) {
  return create<tile::WorkgroupIdOp>(b.getI32Type(), dim);
}

Value TileBuilder::wideMul(Value a, Value c) {
  auto widen = [&](Value value) -> Value {
    return value.getType().isInteger(64)
               ? value
               : create<arith::ExtUIOp>(b.getI64Type(), value);
  };
  return create<arith::MulIOp>(widen(a), widen(c));
}

Value TileBuilder::add(Value a, Value c) { return create<arith::AddIOp>(a, c); }

Value TileBuilder::mul(Value a, Value c) { return create<arith::MulIOp>(a, c); }

Value TileBuilder::select(Value condition, Value a, Value c) {
  return create<arith::SelectOp>(condition, a, c);
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

Value TileBuilder::advance(Value pointer, Value bytes) {
  return create<tile::AdvanceOp>(pointer.getType(), pointer, bytes);
}

Value TileBuilder::advance(Value pointer, int64_t bytes) {
  return bytes == 0 ? pointer : advance(pointer, i64(bytes));
}

Value TileBuilder::view(Value pointer, ArrayRef<OpFoldResult> strides,
                        Value bytes, ArrayRef<int64_t> blocks) {
  return create<tile::ViewOp>(pointer, strides, bytes, blocks);
}

Value TileBuilder::load(Value view, ArrayRef<Value> offsets,
                        ArrayRef<int64_t> shape, tile::LayoutAttr layout,
                        bool nontemporal, const Limits &limits) {
  auto type = RankedTensorType::get(
      shape, cast<tile::ViewType>(view.getType()).getElementType(), layout);
  return create<tile::LoadOp>(type, view, offsets, limits.values,
                              /*rows=*/Value(), limits.divisors, nontemporal,
                              /*staged=*/false);
}

void TileBuilder::store(Value value, Value view, ArrayRef<Value> offsets,
                        bool nontemporal, const Limits &limits) {
  create<tile::StoreOp>(value, view, offsets, limits.values, /*rows=*/Value(),
                        limits.divisors, nontemporal, /*coherent=*/false);
}

void TileBuilder::scatter(Value value, Value view, Value rows,
                          ArrayRef<Value> offsets, const Limits &limits) {
  create<tile::StoreOp>(value, view, offsets, limits.values, rows,
                        limits.divisors, /*nontemporal=*/false,
                        /*coherent=*/false);
}

Value TileBuilder::gather(Value view, Value rows, ArrayRef<Value> offsets,
                          ArrayRef<int64_t> shape, tile::LayoutAttr layout,
                          const Limits &limits) {
  auto type = RankedTensorType::get(
      shape, cast<tile::ViewType>(view.getType()).getElementType(), layout);
  return create<tile::LoadOp>(type, view, offsets, limits.values, rows,
                              limits.divisors, /*nontemporal=*/false,
                              /*staged=*/false);
}

Value TileBuilder::loadFarRows(Value view, Value rows, ArrayRef<Value> offsets,
                               ArrayRef<int64_t> shape,
                               tile::LayoutAttr layout) {
  auto type = RankedTensorType::get(
      shape, cast<tile::ViewType>(view.getType()).getElementType(), layout);
  return create<tile::LoadOp>(type, view, offsets, ValueRange(), rows,
                              DenseI64ArrayAttr(), /*nontemporal=*/false,
                              /*staged=*/false, /*coherent=*/false,
                              /*far=*/true);
}

void TileBuilder::storeFarRows(Value value, Value view, Value rows,
                               ArrayRef<Value> offsets) {
  create<tile::StoreOp>(value, view, offsets, ValueRange(), rows,
                        DenseI64ArrayAttr(), /*nontemporal=*/false,
                        /*coherent=*/false, /*far=*/true);
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

tile::LayoutAttr TileBuilder::layoutAttr(const layout::Layout &layout) {
  return tile::LayoutAttr::get(b.getContext(), layout);
}

RankedTensorType TileBuilder::tileType(const layout::Layout &layout,
                                       Type element) {
  return RankedTensorType::get(layout.shape(), element, layoutAttr(layout));
}

OpFoldResult TileBuilder::index(int64_t value) { return b.getIndexAttr(value); }

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value TileBuilder::zeros(RankedTensorType type) {
  return create<arith::ConstantOp>(type, b.getZeroAttr(type));
}

Value TileBuilder::round(Value value, Type element) {
  RankedTensorType type = tileOf(value);
  if (type.getElementType() == element) {
    return value;
  }
  return create<arith::TruncFOp>(type.clone(element), value);
}

Value TileBuilder::extend(Value value) {
  RankedTensorType type = tileOf(value);
  if (type.getElementType().isF32()) {
    return value;
  }
  return create<arith::ExtFOp>(RankedTensorType::get(type.getShape(),
                                                     b.getF32Type(),
                                                     type.getEncoding()),
                               value);
}

Value TileBuilder::extract(Value source, int64_t dim, int64_t index) {
  RankedTensorType type = tileOf(source);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  return create<tile::ExtractOp>(
      RankedTensorType::get(shape, type.getElementType()), source, dim, index);
}

Value TileBuilder::stack(ArrayRef<Value> tiles, int64_t dim) {
  RankedTensorType type = tileOf(tiles.front());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + dim, tiles.size());
  return create<tile::StackOp>(
      RankedTensorType::get(shape, type.getElementType()), tiles, dim);
}

Value TileBuilder::splat(Value scalar, Value like) {
  if (isa<RankedTensorType>(scalar.getType())) {
    return broadcast(scalar, {}, like);
  }
  RankedTensorType type = tileOf(like);
  return create<tile::SplatOp>(RankedTensorType::get(type.getShape(),
                                                     scalar.getType(),
                                                     type.getEncoding()),
                               scalar);
}

/// The type that a reduction of \p type over \p dims leaves.
static RankedTensorType reducedType(RankedTensorType type,
                                    ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!llvm::is_contained(dims, dim)) {
      shape.push_back(type.getDimSize(dim));
    }
  }
  tile::LayoutAttr layout = tile::getLayout(type);
  if (layout) {
    SmallVector<unsigned> removed(dims.begin(), dims.end());
    layout = tile::LayoutAttr::get(type.getContext(),
                                   layout.getLayout().slice(removed));
  }
  return RankedTensorType::get(shape, type.getElementType(), layout);
}

Value TileBuilder::uniform(Value tile) {
  return create<tile::UniformOp>(tileOf(tile).getElementType(), tile);
}

Value TileBuilder::reduce(tile::ReduceKind kind, Value source,
                          ArrayRef<int64_t> dims) {
  return create<tile::ReduceOp>(reducedType(tileOf(source), dims), kind, source,
                                b.getDenseI64ArrayAttr(dims));
}

Value TileBuilder::broadcast(Value source, ArrayRef<int64_t> dims, Value like) {
  RankedTensorType type = tileOf(like);
  return create<tile::BroadcastOp>(
      RankedTensorType::get(type.getShape(), tileOf(source).getElementType(),
                            type.getEncoding()),
      source, dims);
}

Value TileBuilder::transpose(Value source, ArrayRef<int64_t> permutation) {
  RankedTensorType type = tileOf(source);
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation) {
    shape.push_back(type.getDimSize(dim));
  }
  return create<tile::TransposeOp>(
      RankedTensorType::get(shape, type.getElementType()), source, permutation);
}

Value TileBuilder::integers(int64_t value, Value like) {
  RankedTensorType type = tileOf(like).clone(b.getI32Type());
  return create<arith::ConstantOp>(
      DenseElementsAttr::get(type, b.getI32IntegerAttr(value)));
}

Value TileBuilder::iota(int64_t dim, Value like) {
  return create<tile::IotaOp>(tileOf(like).clone(b.getI32Type()), dim);
}

Value TileBuilder::bitcast(Value source, Type element) {
  return create<arith::BitcastOp>(tileOf(source).clone(element), source);
}

Value TileBuilder::dot(Value a, Value c, ArrayRef<int64_t> dims,
                       tile::LayoutAttr layout) {
  RankedTensorType type = reducedType(tileOf(a), dims);
  return create<tile::DotOp>(layout ? tile::withLayout(type, layout) : type, a,
                             c, dims);
}

Value TileBuilder::convertLayout(Value source, tile::LayoutAttr layout) {
  return create<tile::ConvertLayoutOp>(tile::withLayout(tileOf(source), layout),
                                       source);
}

//===----------------------------------------------------------------------===//
// Element-wise functions
//===----------------------------------------------------------------------===//

Value TileBuilder::constant(double value, Value like) {
  FloatAttr attr = b.getF32FloatAttr(value);
  if (auto type = dyn_cast<RankedTensorType>(like.getType())) {
    return create<arith::ConstantOp>(DenseElementsAttr::get(
        RankedTensorType::get(type.getShape(), b.getF32Type(),
                              type.getEncoding()),
        attr.getValue()));
  }
  return create<arith::ConstantOp>(attr);
}

Value TileBuilder::addf(Value a, Value c) {
  return create<arith::AddFOp>(a, c);
}
Value TileBuilder::subf(Value a, Value c) {
  return create<arith::SubFOp>(a, c);
}
Value TileBuilder::mulf(Value a, Value c) {
  return create<arith::MulFOp>(a, c);
}

Value TileBuilder::mulf(Value a, double factor) {
  return mulf(a, constant(factor, a));
}

Value TileBuilder::fma(Value a, Value c, Value d) {
  return create<math::FmaOp>(a, c, d);
}

Value TileBuilder::exp2(Value x) {
  return create<math::Exp2Op>(x, flags(b, arith::FastMathFlags::afn));
}

Value TileBuilder::log2(Value x) {
  return create<math::Log2Op>(x, flags(b, arith::FastMathFlags::afn));
}

Value TileBuilder::rcp(Value x) {
  return create<arith::DivFOp>(constant(1.0, x), x,
                               flags(b, arith::FastMathFlags::arcp));
}

Value TileBuilder::rsqrt(Value x) {
  return create<math::RsqrtOp>(x, flags(b, arith::FastMathFlags::afn));
}

Value TileBuilder::exp(Value x) { return exp2(mulf(x, log2e)); }

Value TileBuilder::sigmoid(Value x) {
  Value e = exp2(mulf(x, -log2e));
  return rcp(addf(e, constant(1.0, x)));
}

Value TileBuilder::tanh(Value x) {
  Value one = constant(1.0, x);
  Value square = mulf(x, x);
  Value series =
      fma(square, constant(-17.0 / 315.0, x), constant(2.0 / 15.0, x));
  series = fma(square, series, constant(-1.0 / 3.0, x));
  series = fma(mulf(x, square), series, x);
  Value grown = addf(exp(mulf(x, 2.0)), one);
  Value far = fma(rcp(grown), constant(-2.0, x), one);
  Value near = create<arith::CmpFOp>(arith::CmpFPredicate::OLT, square,
                                     constant(0.0625, x));
  return select(near, series, far);
}

Value TileBuilder::situ(Value gate, Value up, double beta, double linear) {
  Value gated = mulf(tanh(mulf(gate, 1.0 / beta)), sigmoid(gate));
  return mulf(mulf(gated, tanh(mulf(up, 1.0 / linear))), beta * linear);
}

Value TileBuilder::softplus(Value x) {
  Value e = exp2(mulf(x, log2e));
  Value soft = mulf(log2(addf(e, constant(1.0, x))), ln2);
  Value large =
      create<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, constant(20.0, x));
  return create<arith::SelectOp>(large, x, soft);
}
