//===- Gemm.h - kernels of tenon.gemm ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_DENSE_GEMM_H
#define TENON_LIB_KERNELS_DENSE_GEMM_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Target/TargetInfo.h"

namespace tenon::kernels::dense {

/// The order in which two groups of four waves take turns.
constexpr llvm::StringLiteral pingPong = "ping-pong";

/// How a product is cut.
struct GemmSchedule {
  /// Tokens, columns of out and elements along K of a workgroup's step.
  int64_t tileM = 16;
  int64_t tileN = 64;
  int64_t tileK = 64;
  /// Waves along tokens and along columns, and along K: those hold sums of
  /// their own, which are added at the end.
  int64_t wavesM = 1;
  int64_t wavesN = 4;
  int64_t wavesK = 1;
  /// Steps along K that are in flight or in use at a time.
  int64_t stages = 2;
  /// Those of x, where it has others than the weights.
  std::optional<int64_t> stagesOfX;
  /// Workgroups that share the steps of a tile; the last to arrive adds up.
  int64_t split = 1;
  /// Workgroups that walk over all tiles: each takes every `persistent`-th of
  /// them. 0: a workgroup for every tile.
  int64_t persistent = 0;
  /// Workgroups that share the steps of all tiles evenly, tile after tile: a
  /// tile that several have a part of is added up by the last to arrive. 0: no
  /// workgroup has steps of two tiles.
  int64_t streamK = 0;
  /// Rows of tiles that the workgroups of a die walk through together, 0: tiles
  /// go to the dies in turn.
  int64_t group = 0;
  /// Which operands go through LDS, where waves share what they copied.
  bool stagesX = false;
  bool stagesWeights = false;
  /// How copies, reads of LDS and products take turns (tile-schedule), if they
  /// do.
  std::string order;
  /// Accumulation registers that are set aside for sums (`agprs` of
  /// tile.kernel).
  int64_t agprs = 0;
  /// Waves that a SIMD must have registers for, 0: what the work needs.
  int64_t wavesPerSimd = 0;
  /// Whether products stay where the program has them (`pinned` of
  /// tile.kernel).
  bool pinned = false;

  bool walks() const { return persistent != 0 || streamK != 0; }
  /// Whether `order` may be pingPong.
  bool canPingPong() const {
    return waves() == 8 && stagesX && stagesWeights && stages >= 2;
  }
  int64_t waves() const { return wavesM * wavesN * wavesK; }
  bool operator==(const GemmSchedule &) const = default;
};

/// \p schedule as the dictionary that people read and write:
/// `{tile = [m, n, k], waves = [m, n], stages = s}`, waves along K as a third
/// number, `stages = [x, weights]` where they differ, and `lds = "x"`,
/// `"weights"` or
/// `"both"` for operands that go through LDS, with
/// `order = "interleave"`, `"prefetch"`, `"balanced"` or `"ping-pong"`,
/// `group = g` (see XcdOrder), `split = s` when workgroups share K,
/// `persistent = g` or `stream_k = g` when g of them walk over all tiles, and
/// `agprs = n`, `waves_per_simd = n` and `pinned` for the register allocator.
mlir::DictionaryAttr toAttribute(mlir::Builder &builder,
                                 const GemmSchedule &schedule);

/// The schedule that \p attribute says, of any product; emits an error at \p op
/// and fails when it says none.
mlir::FailureOr<GemmSchedule> readSchedule(mlir::Operation *op,
                                           mlir::DictionaryAttr attribute);

/// The schedule that \p attribute says; emits an error at \p op and fails when
/// it says none, or one that the op's types do not allow.
mlir::FailureOr<GemmSchedule> parseSchedule(spec::GemmOp op,
                                            mlir::DictionaryAttr attribute);

/// Schedules of a product, the one expected to be fastest first.
mlir::FailureOr<llvm::SmallVector<mlir::DictionaryAttr>>
rankGemmSchedules(spec::GemmOp op, const target::TargetInfo &target);

/// Writes the plan and the kernel of a product.
mlir::LogicalResult lowerGemm(spec::GemmOp op, mlir::DictionaryAttr schedule,
                              llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::dense

#endif // TENON_LIB_KERNELS_DENSE_GEMM_H
