//===- Gemm.h - kernels of tenon.gemm ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_DENSE_GEMM_H
#define TENON_LIB_KERNELS_DENSE_GEMM_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Target/TargetInfo.h"

namespace tenon::kernels::dense {

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
  /// Rows of tiles that the workgroups of a die walk through together, 0: tiles
  /// go to the dies in turn.
  int64_t group = 0;
  /// Which operands go through LDS, where waves share what they copied.
  bool stagesX = false;
  bool stagesWeights = false;
  /// How copies, reads of LDS and products take turns (tile-schedule), if they
  /// do.
  std::string order;

  int64_t waves() const { return wavesM * wavesN * wavesK; }
  bool operator==(const GemmSchedule &) const = default;
};

/// \p schedule as the dictionary that people read and write:
/// `{tile = [m, n, k], waves = [m, n], stages = s}`, waves along K as a third
/// number, `stages = [x, weights]` where they differ, and `lds = "x"`,
/// `"weights"` or
/// `"both"` for operands that go through LDS, with
/// `order = "interleave"`, `"prefetch"` or `"balanced"`, `group = g` (see
/// XcdOrder), and `split = s` when workgroups share K.
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
