//===- TileBuilder.h - writing tile programs --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every kernel family says often: uniform arithmetic, addresses, and the
// element-wise functions of the models in the forms that the chip computes.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_TILEBUILDER_H
#define TENON_LIB_KERNELS_TILEBUILDER_H

#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tenon::kernels {

/// Limits of an access (see tile.load), none or one per dimension.
struct Limits {
  llvm::SmallVector<mlir::Value> values;
  mlir::DenseI64ArrayAttr divisors;
};

class TileBuilder {
public:
  TileBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  template <typename Op, typename... Args> Op create(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }

  /// \name Uniform scalars
  /// @{
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value f32(double value);
  mlir::Value workgroupId(unsigned dim);
  /// `a * b` in 64 bits; 32-bit scalars are unsigned.
  mlir::Value wideMul(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// @}

  /// \name Device memory
  /// @{
  /// \p pointer advanced by a uniform i64 number of bytes.
  mlir::Value advance(mlir::Value pointer, mlir::Value bytes);
  mlir::Value advance(mlir::Value pointer, int64_t bytes);
  /// \p blocks as of tile.view: none where no dimension is blocked.
  mlir::Value view(mlir::Value pointer,
                   llvm::ArrayRef<mlir::OpFoldResult> strides,
                   mlir::Value bytes, llvm::ArrayRef<int64_t> blocks = {});
  /// A tile read at constant or uniform offsets, elements as in memory.
  mlir::Value load(mlir::Value view, llvm::ArrayRef<mlir::Value> offsets,
                   llvm::ArrayRef<int64_t> shape, tile::LayoutAttr layout = {},
                   bool nontemporal = false, const Limits &limits = {});
  void store(mlir::Value value, mlir::Value view,
             llvm::ArrayRef<mlir::Value> offsets, bool nontemporal = false,
             const Limits &limits = {});
  /// Rows \p rows of a view (see tile.load and tile.store), an i32 tile.
  mlir::Value gather(mlir::Value view, mlir::Value rows,
                     llvm::ArrayRef<mlir::Value> offsets,
                     llvm::ArrayRef<int64_t> shape,
                     tile::LayoutAttr layout = {}, const Limits &limits = {});
  void scatter(mlir::Value value, mlir::Value view, mlir::Value rows,
               llvm::ArrayRef<mlir::Value> offsets, const Limits &limits = {});
  /// The same of rows at any distance, of a view whose bound is that of a row:
  /// `far` of tile.load and tile.store.
  mlir::Value loadFarRows(mlir::Value view, mlir::Value rows,
                          llvm::ArrayRef<mlir::Value> offsets,
                          llvm::ArrayRef<int64_t> shape,
                          tile::LayoutAttr layout);
  void storeFarRows(mlir::Value value, mlir::Value view, mlir::Value rows,
                    llvm::ArrayRef<mlir::Value> offsets);
  /// @}

  /// \name Types and attributes
  /// @{
  tile::LayoutAttr layoutAttr(const layout::Layout &layout);
  /// The type of tiles of \p element laid out as \p layout.
  mlir::RankedTensorType tileType(const layout::Layout &layout,
                                  mlir::Type element);
  /// \p value where it may also be a scalar of the program, as in strides.
  mlir::OpFoldResult index(int64_t value);
  /// @}

  /// \name Tiles
  /// @{
  /// Zeros of \p type, a tile of floats.
  mlir::Value zeros(mlir::RankedTensorType type);
  /// \p value, FP32, in elements of \p element, rounded to the nearest.
  mlir::Value round(mlir::Value value, mlir::Type element);
  /// \p value, a tile of a 16-bit float, as FP32 (exact).
  mlir::Value extend(mlir::Value value);
  mlir::Value extract(mlir::Value tile, int64_t dim, int64_t index);
  mlir::Value stack(llvm::ArrayRef<mlir::Value> tiles, int64_t dim);
  /// A tile of the type of \p like whose elements equal \p scalar, a uniform
  /// scalar or a tile of rank 0.
  mlir::Value splat(mlir::Value scalar, mlir::Value like);
  /// The element of a tile of rank 0.
  mlir::Value uniform(mlir::Value tile);
  /// A reduction that leaves the layout without the reduced dimensions.
  mlir::Value reduce(tile::ReduceKind kind, mlir::Value source,
                     llvm::ArrayRef<int64_t> dims);
  mlir::Value broadcast(mlir::Value source, llvm::ArrayRef<int64_t> dims,
                        mlir::Value like);
  mlir::Value transpose(mlir::Value source,
                        llvm::ArrayRef<int64_t> permutation);
  /// A tile of i32 of the shape and layout of \p like.
  mlir::Value integers(int64_t value, mlir::Value like);
  mlir::Value iota(int64_t dim, mlir::Value like);
  /// \p source as elements of type \p element, of as many bits.
  mlir::Value bitcast(mlir::Value source, mlir::Type element);
  /// \p layout: of the result, when it is not the reduced one.
  mlir::Value dot(mlir::Value a, mlir::Value b, llvm::ArrayRef<int64_t> dims,
                  tile::LayoutAttr layout = {});
  mlir::Value convertLayout(mlir::Value source, tile::LayoutAttr layout);
  /// @}

  /// \name Element-wise functions of FP32 tiles or scalars
  ///
  /// exp2, log2, rcp and rsqrt are the chip's own instructions: one unit in the
  /// last place, denormal results flushed to zero.
  /// @{
  mlir::Value constant(double value, mlir::Value like);
  mlir::Value addf(mlir::Value a, mlir::Value b);
  mlir::Value subf(mlir::Value a, mlir::Value b);
  mlir::Value mulf(mlir::Value a, mlir::Value b);
  mlir::Value mulf(mlir::Value a, double b);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value exp2(mlir::Value x);
  mlir::Value log2(mlir::Value x);
  mlir::Value rcp(mlir::Value x);
  mlir::Value rsqrt(mlir::Value x);
  /// e^x as exp2(x * log2 e).
  mlir::Value exp(mlir::Value x);
  /// 1 / (1 + e^-x).
  mlir::Value sigmoid(mlir::Value x);
  /// tanh(x), to a few units in the last place: its series where
  /// 1 - 2 / (1 + e^2x) cancels.
  mlir::Value tanh(mlir::Value x);
  /// beta * tanh(gate / beta) * sigmoid(gate) * linear * tanh(up / linear).
  mlir::Value situ(mlir::Value gate, mlir::Value up, double beta,
                   double linear);
  /// ln(1 + e^x), and x above 20 (where they agree in FP32).
  mlir::Value softplus(mlir::Value x);
  /// @}

  mlir::OpBuilder &builder() { return b; }

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace tenon::kernels

#endif // TENON_LIB_KERNELS_TILEBUILDER_H
