//===- PrologueProgram.h - the writer of a prologue -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_PROLOGUEPROGRAM_H
#define TENON_LIB_KERNELS_KDA_PROLOGUEPROGRAM_H

#include "PrefillPrologue.h"

#include "../TileBuilder.h"

#include <map>

namespace tenon::kernels::kda {

inline constexpr int64_t blockTokens = 16;
inline constexpr int64_t blocks = chunkTokens / blockTokens;

/// Elements from row to row of LDS buffers: 16 bytes more than a power of two
/// keep 16 rows on different banks.
inline constexpr int64_t squarePitch = chunkTokens + 4; // f32 [64, 64]

/// Tokens [4, 16] by channels: a wave has a block of tokens, a lane two
/// channels of all of them.
layout::Layout scanLayout();

/// Writes one prologue. Methods are in the order of the program.
class Prologue {
public:
  Prologue(const PrologueShape &shape, mlir::OpBuilder &builder,
           mlir::Location loc)
      : shape(shape), t(builder, loc), scan(scanLayout()),
        bf16(builder.getBF16Type()), f32(builder.getF32Type()),
        i32Type(builder.getI32Type()), operand(shape.operand),
        operandBytes(operand.getIntOrFloatBitWidth() / 8),
        channelPitch(D + 16 / operandBytes),
        tokenPitch(chunkTokens + 16 / operandBytes) {}

  void write(tile::KernelOp kernel);

private:
  enum Part { Q, K, V };

  /// \name Types
  /// @{
  tile::LayoutAttr scanWithout(llvm::ArrayRef<unsigned> dims) {
    return t.layoutAttr(scan.slice(dims));
  }
  /// A buffer in LDS with these elements from row to row.
  tile::LdsType ldsType(llvm::ArrayRef<int64_t> extents,
                        llvm::ArrayRef<int64_t> strides, mlir::Type element);
  mlir::Value allocate(llvm::ArrayRef<int64_t> extents,
                       llvm::ArrayRef<int64_t> strides, mlir::Type element);
  mlir::Value part(mlir::Value buffer, int64_t offset,
                   llvm::ArrayRef<int64_t> extents,
                   llvm::ArrayRef<int64_t> strides);
  mlir::Value ldsLoad(mlir::Value buffer, tile::LayoutAttr layout = {});
  void ldsStore(mlir::Value value, mlir::Value buffer) {
    t.create<tile::LdsStoreOp>(value, buffer);
  }
  /// @}

  /// \name Tiles [4, 16, 128] and their rows [4, 128]
  /// @{
  mlir::Value row(mlir::Value tile, int64_t token);
  mlir::Value stackRows(llvm::ArrayRef<mlir::Value> rows);
  mlir::Value acrossTokens(mlir::Value perChannel, mlir::Value like);
  mlir::Value acrossChannels(mlir::Value perToken, mlir::Value like);
  mlir::Value narrow(mlir::Value value) { return t.round(value, operand); }
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> order);
  mlir::Value alongTokens(mlir::Value value);
  /// @}

  void identify();
  mlir::Value rowStride(llvm::StringRef operand, int64_t multiple);
  mlir::Value rowsView(llvm::StringRef operand, mlir::Value firstColumn,
                       int64_t columns, int64_t multiple);
  mlir::Value asBlocks(mlir::Value rows);
  mlir::Value loadRows(llvm::StringRef operand, mlir::Value firstColumn,
                       int64_t part = 0, int64_t parts = 1);
  void loadBeta();
  void loadRaw();
  mlir::Value loadPrevious(mlir::Value channel, mlir::Value hasRows);
  void loadHistory();
  mlir::Value convolve(Part part);
  void activateGate();
  void activateBeta();
  void activateOutGate();
  void normalise();
  void findBlockSums();
  void storeForWalk();
  mlir::Value storeInput(mlir::Value value);
  void storeScores(mlir::Value scores, int64_t offset, bool isKeys,
                   bool masksDiagonal);
  void scoreAcross(int64_t half);
  void scoreBounded();
  void scoreHalves(int64_t leaf);
  mlir::Value storeRows(mlir::Value value);
  void clearAbove();
  void invert();
  void storeUpdates();

  mlir::Value mma(mlir::Value lhs, mlir::Value rhs,
                  mlir::Value accumulator = mlir::Value(),
                  bool isExact = false);
  /// Of the inverse, which cancels.
  mlir::Value exactMma(mlir::Value lhs, mlir::Value rhs,
                       mlir::Value accumulator = mlir::Value()) {
    return mma(lhs, rhs, accumulator, /*isExact=*/true);
  }
  mlir::Value workspace(llvm::StringRef name, int64_t elements);

  const PrologueShape &shape;
  TileBuilder t;
  layout::Layout scan;
  llvm::StringMap<mlir::Value> args;
  mlir::Type bf16, f32, i32Type;
  mlir::Type operand; ///< of products, and of what the walk takes
  int64_t operandBytes;
  /// Elements from row to row of buffers of operands, [64, 128] and [128, 64].
  int64_t channelPitch, tokenPitch;

  mlir::Value head;              ///< i32
  mlir::Value sequence;          ///< i32
  mlir::Value firstToken, count; ///< i32, of the chunk
  mlir::Value isFirst; ///< i32: 1 where the chunk begins its sequence, else 0
  mlir::Value block;   ///< i64, the index of chunk and head in workspaces

  mlir::Value rowOf; ///< with operand row, i32 [64]: negative where none is
  mlir::Value raw[3], rawGate, rawBeta, rawOutGate;
  mlir::Value history;   ///< LDS bf16 [3 (part), 5, 3, 128]
  mlir::Value q, k;      ///< f32 [4, 16, 128]
  mlir::Value beta;      ///< LDS f32 [64]
  mlir::Value sums;      ///< f32 [4, 16, 128]: of the gate within the block
  mlir::Value fromStart; ///< 2^ of the sums from the chunk's start
  mlir::Value toStart, toEnd;   ///< f32 [4, 128]: of the blocks before, after
  mlir::Value blockSum[4];      ///< f32 [4, 128], the same for all blocks
  mlir::Value inputsW, inputsU; ///< LDS [128, 64]
  /// -L in LDS, by the tokens of its blocks and whether they are those on the
  /// diagonal: ten blocks of 16x16 in all.
  std::map<std::pair<int64_t, bool>, mlir::Value> negative;
  mlir::Value inverse; ///< LDS f32 [64, 64]
};

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_PROLOGUEPROGRAM_H
