//===- WalkProgram.h - the writer of a walk ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_WALKPROGRAM_H
#define TENON_LIB_KERNELS_KDA_WALKPROGRAM_H

#include "PrefillPrologue.h"
#include "PrefillWalk.h"

#include "../TileBuilder.h"

#include <functional>

namespace tenon::kernels::kda {

inline constexpr int64_t D = 128;
inline constexpr int64_t T = chunkTokens;
/// Rows v of a wave.
inline constexpr int64_t waveRows = D / walkWaves;

/// Columns of the instruction along dim 0, rows along dim 1 of \p extent
/// elements, eight of them side by side in a lane.
layout::Layout sumLayout(int64_t extent);

/// Of o [v, t]: rows of the instruction along v, in the order in which
/// sumLayout has them in lanes.
layout::Layout outLayout();

/// A right operand, [k, n] of a product, that comes through LDS.
struct Stream {
  llvm::StringRef workspace;
  int64_t rows;         ///< k
  int64_t columns;      ///< n, the slow dimension in memory
  int64_t instructions; ///< of a wave that copy it
  mlir::Value base;     ///< pointer: of the sequence's first chunk
  mlir::Value buffer;   ///< LDS, two stages

  int64_t bytes() const { return rows * columns * 2; }
};

/// Writes one walk. Methods are in the order of the program.
class Walk {
public:
  Walk(const WalkShape &shape, mlir::OpBuilder &builder, mlir::Location loc)
      : shape(shape), t(builder, loc), state(sumLayout(D)),
        values(sumLayout(T)), outs(outLayout()), bf16(builder.getBF16Type()),
        f32(builder.getF32Type()), i32Type(builder.getI32Type()) {}

  void write(tile::KernelOp kernel);

private:
  using Steps = llvm::SmallVector<std::function<void()>>;
  /// What an iteration hands to the next.
  struct Carried {
    mlir::Value state;
    mlir::Value out;    ///< o, times the gate with output norm; none of groups
    mlir::Value carry;  ///< of groups, the product of the decays
    mlir::Value stage;  ///< i32
    mlir::Value offset; ///< i64: of the chunk in workspaces of 16 KiB per block
    mlir::Value rowOffset; ///< i64: of the chunk's first row in out
    mlir::Value gateOffset;
    /// Copies in flight.
    llvm::SmallVector<mlir::Value> q, w, k, aqk, decay, nextQ, nextW;

    llvm::SmallVector<mlir::Value *> all();
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
  mlir::Value zeros(mlir::RankedTensorType type) {
    return t.create<mlir::arith::ConstantOp>(mlir::DenseElementsAttr::get(
        type, llvm::APFloat::getZero(
                  llvm::cast<mlir::FloatType>(type.getElementType())
                      .getFloatSemantics())));
  }
  mlir::Value narrow(mlir::Value value);
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

  mlir::Value identifyGroup();
  void identify();
  mlir::Value rowsView(llvm::StringRef operand, mlir::Value offset,
                       mlir::Value rows);
  mlir::Value keepIfInitial(mlir::Value tile);
  mlir::Value stateView(mlir::Value slot, mlir::Value reaches);
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
  mlir::Value read(const Stream &stream, mlir::Value stage);
  void planProduct(mlir::Value lhs, mlir::Value rhs, mlir::Value &sum,
                   int64_t parts, Steps &steps);
  void interleave(const Steps &products, const Steps &accesses);
  void prefetch(Carried &carried);
  mlir::Value gate(mlir::Value raw);
  void storeSquares(mlir::Value o);
  std::function<void()> planStore(const Carried &carried, mlir::Value chunk);
  void chunk(Carried &carried, mlir::Value i);
  mlir::Value entryView(int64_t ahead, mlir::Value reaches);
  mlir::Value loadState();
  void storeGroup(const Carried &carried);

  const WalkShape &shape;
  TileBuilder t;
  layout::Layout state, values, outs;
  mlir::Type bf16, f32, i32Type;
  llvm::StringMap<mlir::Value> args;

  bool hasOut() const { return !isGroups(); }
  bool isGroups() const { return shape.pass == WalkPass::Groups; }

  mlir::Value head, sequence;     ///< i32
  mlir::Value firstToken, tokens; ///< i32, of the sequence
  mlir::Value sequenceChunks;     ///< i32
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
  mlir::Value blockBytes; ///< i64: from chunk to chunk, for 16 KiB
  llvm::SmallVector<Stream *> streams() {
    return isGroups() ? llvm::SmallVector<Stream *>{&w, &k}
                      : llvm::SmallVector<Stream *>{&w, &q, &k, &aqk};
  }
  Stream w{"w", D, T, 4, {}, {}};
  Stream q{"qg", D, T, 4, {}, {}};
  Stream k{"kg", T, D, 4, {}, {}};
  Stream aqk{"aqk", T, T, 2, {}, {}};
  mlir::Value decayBase, decayBuffer;
  mlir::Value uBase;
  mlir::Value sumsBuffer;
  mlir::Value identityBuffer;
  mlir::Value normWeight; ///< f32 [v], as outs have it
};

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_WALKPROGRAM_H
