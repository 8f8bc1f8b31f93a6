//===- DecodeProgram.h - the writer of a decode kernel ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MLA_DECODEPROGRAM_H
#define TENON_LIB_KERNELS_MLA_DECODEPROGRAM_H

#include "DecodeKernel.h"

#include "../TileBuilder.h"

#include "tenon/Layout/Mfma.h"

namespace tenon::kernels::mla {

/// Where the tiles of a decode kernel lie. T keys and R rows; the waves are
/// numbered by two bits.
struct DecodeLayouts {
  DecodeLayouts(const DecodeShape &shape, const DecodeSchedule &schedule,
                const target::TargetInfo &target);

  int64_t keys, rows;
  int64_t scoredKeys; ///< at a time, S: those of a step, 64 at most
  /// [k-values of an instruction] of products over columns of q and over keys.
  int64_t depthOfValues, depthOfRope, depthOfKeys;

  layout::Layout scores;      ///< [half of the columns, S, R], or [S, R], sums
  layout::Layout keyValues;   ///< [S, 512], as the scores' left operand
  layout::Layout keyRope;     ///< [S, 64]
  layout::Layout queryValues; ///< [R, 512], as their right operand
  layout::Layout queryRope;   ///< [R, 64]
  layout::Layout out;         ///< [512, R], sums
  layout::Layout values;      ///< [T, 512], as the left operand, transposed
  layout::Layout weights;     ///< [T, R], as the right operand
  layout::Layout totals;      ///< sums of weights, some of each row in a lane
  layout::Layout perRow;      ///< [R], as weights and out have it
  layout::Layout perThread;   ///< [256]
  /// Of waves that share columns: scores for weights, [2, T, R], of both halves
  /// of the columns.
  std::optional<layout::Layout> halved;
  /// Of waves with keys of their own: [4, R], numbers of all waves.
  std::optional<layout::Layout> ofWaves;
  std::optional<layout::LdsLayout> exchanged; ///< scores, or weights, in LDS

private:
  void scoreOwnKeys(layout::MfmaFormat format,
                    const target::TargetInfo &target);
  void scoreByHalfColumns(layout::MfmaFormat format,
                          const target::TargetInfo &target);
};

/// Writes one decode kernel. Methods are in the order of the program.
class DecodeProgram {
public:
  DecodeProgram(const DecodeShape &shape, const DecodeSchedule &schedule,
                const target::TargetInfo &target, mlir::OpBuilder &builder,
                mlir::Location loc)
      : shape(shape), schedule(schedule), at(shape, schedule, target),
        t(builder, loc), f32(builder.getF32Type()),
        i32Type(builder.getI32Type()), i64Type(builder.getI64Type()) {}

  void write(tile::KernelOp kernel);

private:
  /// Copies of the keys that are scored at a time: shares of the values, and
  /// the rest of the columns.
  static constexpr int64_t copyShares = 3;
  /// What an iteration over keys hands to the next.
  struct Carried {
    mlir::Value sums;     ///< [512, R]: weights times values
    mlir::Value greatest; ///< [R]: the running maximum, an integer
    mlir::Value total;    ///< sums of weights, some per row
    mlir::Value stage;    ///< i32: of the iteration's keys
    llvm::SmallVector<mlir::Value> copies; ///< in flight

    llvm::SmallVector<mlir::Value *> all();
  };
  /// Where keys lie: the entry of the block table and the row in that page.
  struct Lookup {
    mlir::Value page, row;
  };

  tile::LayoutAttr attr(const layout::Layout &layout) {
    return tile::LayoutAttr::get(t.builder().getContext(), layout);
  }
  mlir::RankedTensorType type(const layout::Layout &layout,
                              mlir::Type element) {
    return mlir::RankedTensorType::get(layout.shape(), element, attr(layout));
  }
  mlir::OpFoldResult index(int64_t value) {
    return t.builder().getIndexAttr(value);
  }
  mlir::Value fill(mlir::RankedTensorType type, double value);
  mlir::Value fillInt(mlir::RankedTensorType type, int64_t value);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return t.create<mlir::arith::CmpIOp>(predicate, a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return t.create<mlir::arith::SubIOp>(a, b);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return t.create<mlir::arith::AndIOp>(a, b);
  }
  /// A scalar or a tile of i32 as i64, from 0 on.
  mlir::Value widen(mlir::Value value);
  mlir::Value toBf16(mlir::Value tile);
  mlir::Value loadScalar(llvm::StringRef operand, mlir::Value index);

  void identify();
  llvm::SmallVector<mlir::Value> findSlot(mlir::Value block);
  llvm::SmallVector<mlir::Value> locateSlot(mlir::Value block);
  void identifyRows();
  mlir::Value rowsOf(llvm::StringRef operand);
  mlir::Value requestBase(llvm::StringRef operand, int64_t unit);
  mlir::Value loadQueries(llvm::StringRef operand, int64_t firstColumn,
                          const layout::Layout &layout);
  void findLimits();
  void loadScales();
  mlir::Value allocate(llvm::ArrayRef<int64_t> extents, mlir::Type element,
                       int64_t stages, tile::LdsLayoutAttr layout = {});
  mlir::Value stageOf(mlir::Value buffer, mlir::Value stage, int64_t shift) {
    return t.create<tile::LdsStageOp>(buffer, stage, shift);
  }
  void allocateBuffers();
  Lookup lookUp(mlir::Value number);
  void storeRows(const Lookup &lookup, mlir::Value stage, int64_t shift);
  mlir::Value copyKeys(mlir::Value stage, int64_t shift, int64_t share);
  void prefetch(Carried &carried);
  mlir::Value product(mlir::Value lhs, mlir::Value rhs, mlir::Value sums,
                      int64_t depth);
  mlir::Value halved(mlir::Value tile, llvm::ArrayRef<int64_t> order);
  /// How often keys of a step are scored.
  int64_t times() const { return at.keys / at.scoredKeys; }
  int64_t copiesOfStage() const { return times() * copyShares; }
  mlir::Value readKeys(mlir::Value buffer, mlir::Value stage, int64_t time,
                       const layout::Layout &layout);
  mlir::Value readValues(mlir::Value stage);
  mlir::Value meetScores();
  mlir::Value masked(mlir::Value scores, mlir::Value first);
  void addTotal(Carried &carried, mlir::Value grown, mlir::Value weights);
  mlir::Type weightType();
  mlir::Value rounded(mlir::Value weights);
  void addValues(Carried &carried, mlir::Value grown, mlir::Value values,
                 mlir::Value weights);
  void endStep(Carried &carried, const Lookup &next,
               llvm::SmallVector<mlir::Value> copies);
  void step(Carried &carried, mlir::Value number);
  mlir::Value overWaves(tile::ReduceKind kind, mlir::Value ofWaves);
  mlir::Value wholeTotal(const Carried &carried);
  mlir::Value scoreKeys(mlir::Value stage, int64_t time);
  tile::LdsType partOfWeights();
  void stepOfOwnKeys(Carried &carried, mlir::Value number);
  void writeResults(const Carried &carried);
  void writeNothing();
  void storeOut(mlir::Value values);
  void storeLse(mlir::Value logarithms);

  const DecodeShape &shape;
  const DecodeSchedule &schedule;
  DecodeLayouts at;
  TileBuilder t;
  mlir::Type f32, i32Type, i64Type;
  llvm::StringMap<mlir::Value> args;

  mlir::Value zero;                     ///< i32
  mlir::Value slot, request;            ///< i32
  mlir::Value firstKey, endKey;         ///< i32
  mlir::Value firstRow, rowCount;       ///< i32: of the block, of the request
  mlir::Value queries;                  ///< i32: of the request
  mlir::Value firstToken;               ///< i32: of a packed request
  mlir::Value isOnly;                   ///< i1: the request has one slot
  mlir::Value isIdle;                   ///< i1: there is nothing to write
  mlir::Value hasKeys;                  ///< i1
  mlir::Value row, token, head, isRow;  ///< [R]
  mlir::Value limit;                    ///< [R] i32: keys beyond are not seen
  mlir::Value tiles;                    ///< i32: of keys
  mlir::Value scoreScale, valueScale;   ///< f32; the latter of FP8 or none
  mlir::Value queryTile, queryRopeTile; ///< right operands
  mlir::Value valueBuffer, ropeBuffer, rowBuffer;    ///< LDS
  mlir::Value scoreBuffer, weightBuffer, waveBuffer; ///< LDS
  mlir::Value table, cache;                          ///< views
};

} // namespace tenon::kernels::mla

#endif // TENON_LIB_KERNELS_MLA_DECODEPROGRAM_H
