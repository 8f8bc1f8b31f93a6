//===- DecodeProgram.h - the writer of a decode kernel ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MLA_DECODEPROGRAM_H
#define TENON_LIB_KERNELS_MLA_DECODEPROGRAM_H

#include "DecodeKernel.h"

#include "../TileBuilder.h"

#include "tenon/Layout/Mfma.h"

namespace tenon::kernels::mla {

/// Keys that a step looks up in the block table, some of them again.
inline constexpr int64_t lookedUp = 64 * groupWaves;

/// Where the tiles of a decode kernel lie. T keys and R rows; the waves of a
/// group are numbered by two bits, its groups by those above.
struct DecodeLayouts {
  DecodeLayouts(const DecodeShape &shape, const DecodeSchedule &schedule,
                const target::TargetInfo &target);

  int64_t keys, rows, groups;
  int64_t scoredKeys; ///< at a time, S: those of a step, 64 at most
  /// Of the columns of values for scores. Two groups of waves read one at a
  /// time, and start a copy of one instruction with each.
  int64_t pieces;
  int64_t pieceColumns() const { return valueColumns / pieces; }
  /// Of the columns of values for results.
  int64_t outPieces;
  int64_t outColumns() const { return valueColumns / outPieces; }
  /// Keys side by side of a lane's weights, of keys of a wave's own.
  int64_t ownRun() const { return scoredKeys / 16; }
  /// [k-values of an instruction] of products over columns of q and over keys.
  int64_t depthOfValues, depthOfRope, depthOfKeys;

  layout::Layout scores;      ///< [half of the columns, S, R], or [S, R], sums
  layout::Layout weighed;     ///< [S, R], scores of which a wave makes weights
  layout::Layout keyValues;   ///< [S, piece], as the scores' left operand
  layout::Layout keyRope;     ///< [S, 64]
  layout::Layout queryValues; ///< [R, piece], as their right operand
  layout::Layout queryRope;   ///< [R, 64]
  layout::Layout out;         ///< [columns of a piece, R], sums
  layout::Layout values;      ///< [T, columns], the left operand, transposed
  layout::Layout weights;     ///< [T, R], as the right operand
  layout::Layout totals;      ///< sums of weights, some of each row in a lane
  layout::Layout perRow;      ///< [R], as weights and out have it
  layout::Layout perThread;   ///< [256], a key per thread of a group
  /// Of waves that share columns: scores as weighed, [2, T, R], of both halves
  /// of the columns.
  std::optional<layout::Layout> halved;
  /// Of waves with weights of their own: [4, R], numbers of a group's waves.
  std::optional<layout::Layout> ofWaves;
  std::optional<layout::LdsLayout> scoresInLds, weightsInLds;

private:
  void scoreOwnKeys(layout::MfmaFormat format);
  void scoreByHalfColumns(layout::MfmaFormat format,
                          const target::TargetInfo &target);
  void weighOwnKeys(unsigned weightBits, const target::TargetInfo &target);
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
  /// Copies of the keys that are scored at a time: shares of the values, and,
  /// the last one, the rest of the columns.
  int64_t valueShares() const { return at.pieces > 1 ? at.pieces : 2; }
  /// What an iteration over keys hands to the next.
  struct Carried {
    /// [columns, R] of each piece of the columns: weights times values.
    llvm::SmallVector<mlir::Value> sums;
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
  mlir::Value copyKeys(mlir::Value stage, int64_t shift, int64_t time,
                       int64_t share);
  void prefetch(Carried &carried);
  mlir::Value product(mlir::Value lhs, mlir::Value rhs, mlir::Value sums,
                      int64_t depth);
  mlir::Value halved(mlir::Value tile, llvm::ArrayRef<int64_t> order);
  bool weighsOwnKeys() const { return shape.weighsOwnKeys(schedule); }
  /// How often keys of a step are scored.
  int64_t times() const { return at.keys / at.scoredKeys; }
  /// Whether the first of the copies of a step's other columns is that of all
  /// keys, for which alone all threads have something to do.
  bool copiesRopeOnce() const;
  /// Copies of the keys that are scored the \p time -th time.
  int64_t copiesAt(int64_t time) const {
    return valueShares() + (time == 0 || !copiesRopeOnce() ? 1 : 0);
  }
  int64_t copiesOfStage() const;
  mlir::Value readKeys(mlir::Value buffer, mlir::Value stage, int64_t time,
                       int64_t column, const layout::Layout &layout);
  mlir::Value readPiece(mlir::Value stage, int64_t time, int64_t piece);
  mlir::Value readValues(mlir::Value stage, int64_t piece);
  mlir::Value meetScores();
  mlir::Value masked(mlir::Value scores, mlir::Value first);
  void addTotal(Carried &carried, mlir::Value grown, mlir::Value weights);
  mlir::Type weightType();
  mlir::Value rounded(mlir::Value weights);
  void addValues(Carried &carried, int64_t piece, mlir::Value grown,
                 mlir::Value values, mlir::Value weights);
  void endStep(Carried &carried, const Lookup &next,
               llvm::SmallVector<mlir::Value> copies);
  void step(Carried &carried, mlir::Value number);
  mlir::Value overWaves(tile::ReduceKind kind, mlir::Value ofWaves);
  mlir::Value wholeTotal(const Carried &carried);
  mlir::Value scoreKeys(mlir::Value stage, int64_t time,
                        llvm::function_ref<void()> behind);
  tile::LdsType partOfWeights();
  void stepOfOwnWeights(Carried &carried, mlir::Value number);
  void writeResults(const Carried &carried);
  void writeNothing();
  void storeOut(llvm::ArrayRef<mlir::Value> pieces);
  void storeLse(mlir::Value logarithms);

  const DecodeShape &shape;
  const DecodeSchedule &schedule;
  DecodeLayouts at;
  TileBuilder t;
  mlir::Type f32, i32Type, i64Type;
  llvm::StringMap<mlir::Value> args;

  mlir::Value zero;                    ///< i32
  mlir::Value slot, request;           ///< i32
  mlir::Value firstKey, endKey;        ///< i32
  mlir::Value firstRow, rowCount;      ///< i32: of the block, of the request
  mlir::Value queries;                 ///< i32: of the request
  mlir::Value firstToken;              ///< i32: of a packed request
  mlir::Value isOnly;                  ///< i1: the request has one slot
  mlir::Value isIdle;                  ///< i1: there is nothing to write
  mlir::Value hasKeys;                 ///< i1
  mlir::Value row, token, head, isRow; ///< [R]
  mlir::Value limit;                   ///< [R] i32: keys beyond are not seen
  mlir::Value tiles;                   ///< i32: of keys
  mlir::Value scoreScale, valueScale;  ///< f32; the latter of FP8 or none
  /// Right operands: pieces of the columns of values, and the others.
  llvm::SmallVector<mlir::Value> queryTiles;
  mlir::Value valueBuffer, ropeBuffer, rowBuffer;    ///< LDS
  mlir::Value scoreBuffer, weightBuffer, waveBuffer; ///< LDS
  mlir::Value table, cache;                          ///< views
};

} // namespace tenon::kernels::mla

#endif // TENON_LIB_KERNELS_MLA_DECODEPROGRAM_H
