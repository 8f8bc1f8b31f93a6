//===- BandProduct.h - products of bands over all of K ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the product of a GEMM and those of an expert have in common: the loop
// along K of a workgroup that multiplies a band of x by bands of weights.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_DENSE_BANDPRODUCT_H
#define TENON_LIB_KERNELS_DENSE_BANDPRODUCT_H

#include "Band.h"
#include "GemmSplit.h"

namespace tenon::kernels::dense {

/// A band of values and that of their scales, if they have some.
struct Operand {
  Band values;
  std::optional<Band> scales;
};

/// What a step along K reads of an operand: tiles of values, and of scales or
/// null.
struct StepOperand {
  mlir::Value values, scales;
};

/// What is known of the operands of a product.
struct ProductTraits {
  std::optional<int64_t> depth; ///< K, if it is static
  int64_t depthMultiple = 1;    ///< what K is a multiple of
  int64_t scaleAlignment = 1;   ///< of rows of scales that are row-major
  bool packedScales = false;    ///< whether some scales are packed
  bool scalesX = false;         ///< whether x has block scales
  /// Of products without scaled operands, for which all have one format.
  target::MatrixFormat format = target::MatrixFormat::BF16;
};

/// The sums of the products of x and each of the weights. The methods are in
/// the order of the program.
class BandProduct {
public:
  /// \p op for what is said about its target.
  BandProduct(mlir::Operation *op, TileBuilder &t, const GemmSchedule &schedule)
      : op(op), t(t), schedule(schedule) {}

  ProductTraits traits;
  mlir::Value depth; ///< K, i32
  Operand x;
  llvm::SmallVector<Operand> weights; ///< one, or gate and up

  /// The sums over all of K, or over \p range of it, tiles of FP32.
  llvm::SmallVector<mlir::Value>
  accumulate(std::optional<DepthRange> range = std::nullopt);

  /// \name Single steps
  /// @{
  /// What the step at \p k reads of \p operand. A limited step, which ends with
  /// K, is as deep as one slice.
  StepOperand load(const Operand &operand, mlir::Value k, bool isWeights,
                   bool limited);
  /// \p sum and the product of what a step has read of x and of weights.
  mlir::Value multiply(mlir::Value sum, const StepOperand &tokens,
                       const StepOperand &weights);
  /// The sum of those of the waves along K, of which there are several; lanes
  /// hold \p run columns side by side.
  mlir::Value addSlices(mlir::Value sum, int64_t run = 8);
  /// @}

private:
  mlir::Value loadStep(const Band &band, mlir::Value k, bool isWeights,
                       bool limited);
  int64_t scaledInstruction();
  llvm::SmallVector<DepthLevel> orderBlocks(const Band &band);
  void chooseNarrow(tile::MmaOp product);
  llvm::SmallVector<mlir::Value> multiply(mlir::ValueRange sums, mlir::Value k,
                                          bool limited);
  int64_t sliceDepth() const { return schedule.tileK / schedule.wavesK; }

  mlir::Operation *op;
  TileBuilder &t;
  const GemmSchedule &schedule;
};

} // namespace tenon::kernels::dense

#endif // TENON_LIB_KERNELS_DENSE_BANDPRODUCT_H
