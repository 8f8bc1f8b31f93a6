//===- WalkProgram.h - the writer of a walk ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_WALKPROGRAM_H
#define TENON_LIB_KERNELS_KDA_WALKPROGRAM_H

#include "PrefillPrologue.h"
#include "PrefillWalk.h"

#include "../TileBuilder.h"

#include <functional>

namespace tenon::kernels::kda {

inline constexpr int64_t T = chunkTokens;
/// Columns of the instruction along the \p rows rows of dim 0, rows along dim 1
/// of \p extent elements, eight of them side by side in a lane.
layout::Layout sumLayout(int64_t rows, unsigned waves, int64_t extent);

/// Of o [v, t]: rows of the instruction along v, in the order in which
/// sumLayout has them in lanes.
layout::Layout outLayout(int64_t rows, unsigned waves);

/// A right operand, [k, n] of a product, that comes through LDS.
struct Stream {
  llvm::StringRef workspace;
  int64_t rows;    ///< k
  int64_t columns; ///< n, the slow dimension in memory
  int64_t elementBytes;
  mlir::Value base;   ///< pointer: of the sequence's first chunk
  mlir::Value buffer; ///< LDS

  int64_t bytes() const { return rows * columns * elementBytes; }
  /// Instructions of each of \p waves waves that copy it, 16 bytes per lane.
  int64_t instructions(unsigned waves) const {
    return bytes() / (waves * 64 * 16);
  }
};

/// Writes one walk. Methods are in the order of the program.
class Walk {
public:
  Walk(const WalkShape &shape, mlir::OpBuilder &builder, mlir::Location loc)
      : shape(shape), t(builder, loc), rows(shape.rows), waves(shape.waves),
        waveRows(rows / waves), state(sumLayout(rows, waves, D)),
        values(sumLayout(rows, waves, T)), outs(outLayout(rows, waves)),
        bf16(builder.getBF16Type()), f32(builder.getF32Type()),
        i32Type(builder.getI32Type()), operand(shape.operand),
        operandBytes(operand.getIntOrFloatBitWidth() / 8),
        stages(operand.isF32() ? 1 : 2), blockSize(D * T * operandBytes) {}

  void write(tile::KernelOp kernel);

private:
  using Steps = llvm::SmallVector<std::function<void()>>;
  /// What an iteration hands to the next.
  struct Carried {
    mlir::Value state;
    mlir::Value out;    ///< o, times the gate with output norm, if stored late
    mlir::Value carry;  ///< of groups, the product of the decays
    mlir::Value stage;  ///< i32
    mlir::Value offset; ///< i64: of the chunk in workspaces of [128, 64]
    mlir::Value rowOffset; ///< i64: of the chunk's first row in out
    /// Copies in flight.
    llvm::SmallVector<mlir::Value> q, w, k, aqk, decay, nextQ, nextW;

    llvm::SmallVector<mlir::Value *> all();
    llvm::SmallVector<mlir::Value> values();
    void assign(mlir::ValueRange values);
  };

  /// Of the group's checkpoints, i32.
  struct Checkpoint {
    mlir::Value
        chunks; ///< behind so many of the group; 2^31 - 1: there is none
    mlir::Value number; ///< among those of the sequence
    mlir::Value slot;
  };

  mlir::Value narrow(mlir::Value value) { return t.round(value, operand); }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a,
                      mlir::Value b) {
    return t.create<mlir::arith::CmpIOp>(predicate, a, b);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return t.create<mlir::arith::AndIOp>(a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return t.create<mlir::arith::SubIOp>(a, b);
  }
  mlir::Value no(mlir::Value condition) {
    return t.create<mlir::arith::XOrIOp>(
        condition, t.create<mlir::arith::ConstantIntOp>(1, 1));
  }
  mlir::Value loadScalar(llvm::StringRef operand, mlir::Value row,
                         mlir::Value stride);
  mlir::Value isNull(mlir::Value slot);

  void identifyWorkgroup();
  void identifyGroup();
  void identify();
  mlir::Value rowsView(llvm::StringRef operand, mlir::Value offset,
                       mlir::Value rows);
  mlir::Value loadRowNames(mlir::Value before, mlir::Value count);
  mlir::Value loadRowNames(mlir::Value chunk) {
    return loadRowNames(t.mul(chunk, t.i32(T)), rowsOf(chunk));
  }
  void storeOut(mlir::Value out, mlir::Value offset, mlir::Value count,
                mlir::Value names);
  mlir::Value inputsOf(mlir::Value token, mlir::Value isThere);
  mlir::Value keepIfInitial(mlir::Value tile);
  mlir::Value stateView(llvm::StringRef pool, mlir::Value slot,
                        mlir::Value reaches);
  mlir::Value diagonal(mlir::Value distance, mlir::Value values);
  void updateHistory();
  void writeZeros();
  mlir::Value allocate(llvm::ArrayRef<int64_t> extents, mlir::Type element,
                       int64_t stages, tile::LdsLayoutAttr layout = {});
  void allocateBuffers();
  mlir::Value stageOf(mlir::Value buffer, mlir::Value stage, int64_t shift = 0);
  void planCopies(Stream &stream, mlir::Value offset, mlir::Value isThere,
                  mlir::Value stage, int64_t ahead,
                  llvm::SmallVector<mlir::Value> &tokens, Steps &steps);
  void planDecayCopy(mlir::Value offset, mlir::Value isThere, mlir::Value stage,
                     int64_t ahead, llvm::SmallVector<mlir::Value> &tokens,
                     Steps &steps);
  mlir::Value read(const Stream &stream, mlir::Value stage,
                   const layout::Layout &sums);
  void planProduct(mlir::Value lhs, mlir::Value rhs, mlir::Value &sum,
                   int64_t parts, Steps &steps);
  void interleave(const Steps &products, const Steps &accesses);
  void prefetch(Carried &carried);
  void copyChunk(Carried &carried);
  void storeSquares(mlir::Value o);
  mlir::Value rowsOf(mlir::Value chunk);
  mlir::Value rowsBefore(mlir::Value offset);
  std::function<void()> planStore(mlir::Value out, mlir::Value chunk,
                                  mlir::Value offset, mlir::Value names);
  void chunk(Carried &carried, mlir::Value i);
  void walkChunks(Carried &carried, mlir::Value begin, mlir::Value end);
  llvm::SmallVector<mlir::Value>
  carry(mlir::Value begin, mlir::Value end, mlir::ValueRange values,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                          mlir::ValueRange)>
            body);
  std::pair<mlir::Value, mlir::Value> readCheckpoint(mlir::Value number);
  Checkpoint nextCheckpoint(mlir::Value behind, mlir::Value number);
  void storeCheckpoint(mlir::Value state, const Checkpoint &checkpoint);
  void walkToCheckpoints(Carried &carried);
  mlir::Value entryView(int64_t ahead, mlir::Value reaches);
  mlir::Value loadState();
  void storeGroup(const Carried &carried);

  const WalkShape &shape;
  TileBuilder t;
  int64_t rows; ///< v, of the workgroup
  int64_t waves;
  int64_t waveRows;
  layout::Layout state, values, outs;
  mlir::Type bf16, f32, i32Type;
  mlir::Type operand; ///< of products
  int64_t operandBytes;
  int64_t stages;    ///< of buffers in LDS
  int64_t blockSize; ///< bytes of [128, 64] operands
  llvm::StringMap<mlir::Value> args;

  bool hasOut() const { return !isGroups(); }
  bool isGroups() const { return shape.pass == WalkPass::Groups; }
  /// Whether rows of out are stored a chunk later, among its products; where
  /// operands are FP32, registers have no room for that.
  bool storesLate() const { return hasOut() && stages == 2; }
  bool hasRows() const { return args.count("row"); }
  bool hasCheckpoints() const {
    return hasOut() && args.count("checkpoint_offset");
  }

  mlir::Value head, sequence;     ///< i32
  mlir::Value groupNumber;        ///< i32
  mlir::Value firstV;             ///< i32: the first of the rows v
  mlir::Value firstToken, tokens; ///< i32, of the sequence
  mlir::Value sequenceChunks;     ///< i32
  mlir::Value firstChunk;         ///< i32: of the group, in the sequence
  mlir::Value firstRow, rowsLeft; ///< i32: tokens from the group's first on
  mlir::Value chunks;             ///< i32, of the group
  mlir::Value isFirst, isLast;    ///< i1: the group is, of its sequence
  mlir::Value isOnly;             ///< i1: the sequence has one group
  mlir::Value isActive;           ///< i1, with groups: there is work to do
  mlir::Value isTransform;        ///< i1, of groups: begins with the identity
  mlir::Value group;              ///< i64, in workspaces
  mlir::Value null;               ///< i1: the slot is
  mlir::Value slot;               ///< i32, 0 when null
  mlir::Value initialSlot, readsInitial; ///< i32, i1
  mlir::Value hasInitial;                ///< tile of rank 0 of i1, or null
  mlir::Value zero, one;                 ///< i32
  mlir::Value blockBytes; ///< i64: from chunk to chunk, for [128, 64]
  llvm::SmallVector<Stream *> streams() {
    return isGroups() ? llvm::SmallVector<Stream *>{&w, &k}
                      : llvm::SmallVector<Stream *>{&w, &q, &k, &aqk};
  }
  Stream w{"w", D, T, operandBytes, {}, {}};
  Stream q{"qg", D, T, operandBytes, {}, {}};
  Stream k{"kg", T, D, operandBytes, {}, {}};
  Stream aqk{"aqk", T, T, operandBytes, {}, {}};
  mlir::Value decayBase, decayBuffer;
  mlir::Value uBase, gateBase;
  mlir::Value sumsBuffer;
};

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_WALKPROGRAM_H
