//===- ExpertStage.h - the two products of an expert ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup computes a tile of rows, which are routes to one expert, by
// columns. The first stage multiplies tokens by w13 and leaves what the
// activation makes of the sums: by slots where routes are sorted, row r of tile
// n being slot n * tileM + r, else by routes. The second multiplies those by w2
// and leaves rows of routes. Where routes are not sorted, a workgroup of the
// second may instead take all routes of a token, each with its expert, and sum
// them up (see TokenStage.cpp); and one kernel may do both stages of very few
// tokens (see FusedStage.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_MOE_EXPERTSTAGE_H
#define TENON_LIB_KERNELS_MOE_EXPERTSTAGE_H

#include "ExpertTile.h"
#include "Experts.h"
#include "Quantize.h"

#include "../Dense/BandProduct.h"

namespace tenon::kernels::moe {

/// Workspaces between the launches: x as codes and their scales by tokens, the
/// intermediate by slots or by routes, rows of routes by routes.
/// @{
inline constexpr llvm::StringLiteral xCodes = "x_codes";
inline constexpr llvm::StringLiteral xScales = "x_scales";
inline constexpr llvm::StringLiteral intermediateCodes = "intermediate";
inline constexpr llvm::StringLiteral intermediateScales = "intermediate_scales";
inline constexpr llvm::StringLiteral routeRows = "route_rows";
/// @}

/// Whether values of \p format have scales.
inline bool hasScales(spec::Format format) {
  return format == spec::Format::FP8 || format == spec::Format::FP4;
}

/// Bytes of a row of \p columns values.
inline int64_t rowBytes(spec::Format format, int64_t columns) {
  return columns * bitsOf(format) / 8;
}
/// Scales by rows: bytes from row to row, of \p columns values each, and \p
/// rows rows from \p pointer on. Those of x are in the order ScaleWords, those
/// of the intermediate, where routes are not sorted, RowMajor.
/// @{
int64_t scaleRowBytes(int64_t columns);
dense::Band scaleBand(TileBuilder &t, mlir::Value pointer, int64_t columns,
                      mlir::Value rows, dense::BandOrder order);
/// @}

/// The sizes of one of the two products.
struct ProductShape {
  int64_t width; ///< columns of the result
  int64_t depth; ///< K
  spec::Format input;

  static ProductShape first(spec::MoeExpertsOp op) {
    return {static_cast<int64_t>(op.getExpertWidth()),
            static_cast<int64_t>(op.getWidth()), op.getInput()};
  }
  static ProductShape second(spec::MoeExpertsOp op) {
    return {static_cast<int64_t>(op.getWidth()),
            static_cast<int64_t>(op.getExpertWidth()), op.getIntermediate()};
  }
};

/// What all stages are written with.
class ExpertStage {
public:
  ExpertStage(spec::MoeExpertsOp op, bool direct, const ProductShape &shape,
              const dense::GemmSchedule &schedule, mlir::OpBuilder &builder)
      : op(op), direct(direct), shape(shape), schedule(schedule),
        t(builder, op.getLoc()), product(op, t, this->schedule) {}

protected:
  /// \p rows rows of \p columns values in \p format from \p pointer on, and of
  /// their scales from \p scales on, in \p order. With \p gathered these of
  /// them.
  dense::Operand rowsOf(mlir::Value pointer, mlir::Value scales,
                        spec::Format format, int64_t columns,
                        mlir::Value strideBytes, mlir::Value rows,
                        mlir::Value gathered,
                        dense::BandOrder order = dense::BandOrder::RowMajor);
  /// The rows of the expert's weights that make the tile's columns: those of
  /// \p part, gate or up, of w13.
  dense::Operand expertWeights(llvm::StringRef name, mlir::Value weights,
                               mlir::Value scales, spec::WeightOrder order,
                               int64_t part);
  /// Begins \p kernel: its arguments, and what is known of the product.
  void begin(tile::KernelOp kernel);
  /// Takes the tile of columns number \p column.
  void takeColumns(mlir::Value column);
  /// What the activation makes of sums of the first product.
  mlir::Value activate(mlir::Value gate, mlir::Value up);
  /// All routes, i32.
  mlir::Value routeCount();
  /// Writes the tile's columns of rows of \p pitch bytes of all routes, to
  /// those of its own, beginning \p offset bytes (i32) behind the first; \p
  /// values to an element of \p bytes bytes.
  void scatterRows(mlir::Value tile, llvm::StringRef operand, int64_t pitch,
                   mlir::Value offset, int64_t values, int64_t bytes);
  /// \p sum in the layout in which lanes hold columns side by side.
  mlir::Value spread(mlir::Value sum);
  /// Of the chip, to which workgroups go in turn.
  int64_t dies();
  /// Limits of a store of the tile whose elements are \p values columns each.
  Limits columnLimits(int64_t values);
  /// The scales of the tile's rows of the intermediate.
  dense::Band slotScales();
  /// \p pointer moved to slot \p slot of rows of \p bytes bytes.
  mlir::Value atSlots(llvm::StringRef workspace, int64_t bytes);

  spec::MoeExpertsOp op;
  bool direct;
  ProductShape shape;
  dense::GemmSchedule schedule;
  TileBuilder t;
  dense::BandProduct product;
  llvm::StringMap<mlir::Value> args;

  ExpertTile routes;
  mlir::Value row; ///< number of the tile
  /// Whether the workgroup has one, i1; null where that is not in question.
  mlir::Value hasTile;
  mlir::Value column0; ///< first column
  mlir::Value columns; ///< columns of the tile that exist
};

/// A stage of which a workgroup computes a tile of routes to one expert.
class TileStage : public ExpertStage {
public:
  using ExpertStage::ExpertStage;
  virtual ~TileStage() = default;

  void write(tile::KernelOp kernel);

protected:
  /// Says what is multiplied.
  virtual void operands() = 0;
  virtual void writeOut(mlir::ValueRange sums) = 0;

private:
  void chooseTile();
};

/// Write the kernels of the stages.
/// @{
void writeStageOne(spec::MoeExpertsOp op, const ExpertsSchedule &schedule,
                   bool direct, tile::KernelOp kernel,
                   mlir::OpBuilder &builder);
void writeStageTwo(spec::MoeExpertsOp op, const ExpertsSchedule &schedule,
                   bool direct, tile::KernelOp kernel,
                   mlir::OpBuilder &builder);
void writeTokenStage(spec::MoeExpertsOp op, tile::KernelOp kernel,
                     mlir::OpBuilder &builder);
void writeFusedStage(spec::MoeExpertsOp op, tile::KernelOp kernel,
                     mlir::OpBuilder &builder);
/// @}

/// Workspaces of the fused stage: the parts of rows of routes, and how many
/// workgroups of a route, and how many routes of a token, are done.
/// @{
inline constexpr llvm::StringLiteral routeParts = "route_parts";
inline constexpr llvm::StringLiteral partArrivals = "part_arrivals";
inline constexpr llvm::StringLiteral routeArrivals = "route_arrivals";
/// @}
/// Whether there is a fused stage of \p op: steps of 512 divide D, and rows of
/// routes are summed.
bool canFuse(spec::MoeExpertsOp op);
/// Waves of the fused stage, and the intermediate columns of a workgroup.
inline constexpr int64_t fusedWaves = 4;
inline constexpr int64_t fusedColumns = tile::MmaOp::scaleBlock;

/// Whether sums over routes are written by the stage of tokens, where routes
/// are not sorted.
bool sumsByTokens(spec::MoeExpertsOp op, const ExpertsSchedule &schedule);
/// Columns of its tiles; they have one wave.
inline constexpr int64_t tokenStageColumns = 32;

/// Launches what rounds \p tokens rows of x to op.input, into the workspaces
/// xCodes and xScales, which it states.
void addQuantize(spec::MoeExpertsOp op, mlir::Value tokens,
                 llvm::StringRef name, PlanBuilder &plan,
                 mlir::OpBuilder &builder);

} // namespace tenon::kernels::moe

#endif // TENON_LIB_KERNELS_MOE_EXPERTSTAGE_H
