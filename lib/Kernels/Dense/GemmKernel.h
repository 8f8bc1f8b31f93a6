//===- GemmKernel.h - the tile program of tenon.gemm ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program is written by one class: its operands are in GemmKernel.cpp, what
// becomes of the sums in GemmEpilogue.cpp, and BandProduct multiplies.
// GemmPlan.cpp writes the plan that launches it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_DENSE_GEMMKERNEL_H
#define TENON_LIB_KERNELS_DENSE_GEMMKERNEL_H

#include "BandProduct.h"
#include "XcdOrder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tenon::kernels::dense {

/// Writes the kernel of one op. Methods are in the order of the program.
class GemmKernel {
public:
  /// \p dies of the chip, to which workgroups go in turn.
  GemmKernel(spec::GemmOp op, const GemmSchedule &schedule, int64_t dies,
             mlir::OpBuilder &builder)
      : op(op), schedule(schedule), dies(dies), t(builder, op.getLoc()),
        product(op, t, this->schedule) {}

  void write(tile::KernelOp kernel);

private:
  bool isGated() { return op.isGated(); }
  std::optional<int64_t> staticSize(mlir::Value operand, unsigned dim) const;

  void identify();
  void writeTile();
  void enterWalk(mlir::scf::ForOp loop);
  void writePersistent();
  void writeStream();
  XcdOrder dieOrder();
  void locate(mlir::Value tileX, mlir::Value tileY);
  void locateNumber(mlir::Value number);
  void finish(mlir::ValueRange sums);
  void finishRows(mlir::ValueRange sums, mlir::Value firstRow);
  mlir::Value size(llvm::StringRef name, mlir::Value operand, unsigned dim);
  Band band(llvm::StringRef operand, mlir::Value value, mlir::Value first,
            mlir::Value count);
  Operand operand(bool isWeights, mlir::Value first, mlir::Value count);
  Operand packedWeights(unsigned part);
  bool hasPackedScales() { return op.getWeightOrder() || op.hasPackedXScale(); }
  llvm::SmallVector<mlir::Value> slicesOf(mlir::Value sum);
  mlir::Value scale(mlir::Value sum, unsigned part, mlir::Value firstRow);
  mlir::Value epilogue(mlir::ValueRange sums);
  void writeOut(mlir::ValueRange sums, mlir::Value firstRow);
  void storeTile(mlir::ValueRange sums, mlir::Value firstRow, bool wide);

  spec::GemmOp op;
  GemmSchedule schedule;
  int64_t dies;
  TileBuilder t;
  BandProduct product;
  llvm::StringMap<mlir::Value> args;

  mlir::Value row0;    ///< first token of the tile
  mlir::Value column0; ///< first column of out
  mlir::Value rows;    ///< tokens of the tile that are computed
  mlir::Value columns; ///< columns of the tile that are computed
};

} // namespace tenon::kernels::dense

#endif // TENON_LIB_KERNELS_DENSE_GEMMKERNEL_H
