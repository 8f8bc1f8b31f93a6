//===- TileSelectPrecision.cpp - which instruction multiplies ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TILESELECTPRECISION
#include "passes/Passes.h.inc"
} // namespace tenon

namespace {
struct TileSelectPrecision
    : tenon::impl::TileSelectPrecisionBase<TileSelectPrecision> {
  /// The instructions [mn, k] for a product of two tiles of \p format, of equal
  /// throughput, the one with more reuse of operands first.
  static SmallVector<std::array<int64_t, 2>>
  instructionsFor(layout::MfmaFormat format) {
    using layout::MfmaFormat;
    switch (format) {
    case MfmaFormat::F32:
      return {{32, 2}, {16, 4}};
    case MfmaFormat::F16:
      return {{32, 16}, {16, 32}};
    case MfmaFormat::F8:
      return {{32, 64}, {16, 128}};
    default:
      return {};
    }
  }

  LogicalResult choose(tile::MmaOp mma) {
    auto lhs = cast<RankedTensorType>(mma.getLhs().getType());
    auto rhs = cast<RankedTensorType>(mma.getRhs().getType());
    auto format = tile::mfmaFormat(lhs.getElementType());
    if (!format || lhs.getElementType() != rhs.getElementType() ||
        instructionsFor(*format).empty()) {
      return mma.emitOpError("no instruction multiplies ")
             << lhs.getElementType() << " by " << rhs.getElementType();
    }
    int64_t rank = lhs.getRank();
    int64_t m = lhs.getDimSize(rank - 2);
    int64_t n = rhs.getDimSize(rank - 1);
    int64_t k = lhs.getDimSize(rank - 1);
    // Several products have their own waves each.
    int64_t slices = rank == 3 ? lhs.getDimSize(0) : 1;
    int64_t waves = getOperation().getWaves() / slices;
    // Whether a wave gets whole instructions, in some way to share the tile
    // out.
    auto fits = [&](std::array<int64_t, 2> instruction) {
      auto [mn, step] = instruction;
      if (k % step != 0) {
        return false;
      }
      for (int64_t wavesM = 1; wavesM <= waves; ++wavesM) {
        if (waves % wavesM != 0 ||
            (mma.getWaves() && (*mma.getWaves())[0] != wavesM)) {
          continue;
        }
        if (m % (mn * wavesM) == 0 && n % (mn * (waves / wavesM)) == 0) {
          return true;
        }
      }
      return false;
    };
    for (std::array<int64_t, 2> instruction : instructionsFor(*format)) {
      if (fits(instruction)) {
        mma.setInstruction(instruction);
        return success();
      }
    }
    return mma.emitOpError("no instruction for ")
           << lhs.getElementType() << " divides [" << m << ", " << k << "] by ["
           << k << ", " << n << "] among " << waves << " waves";
  }

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](tile::MmaOp mma) {
      return mma.getInstruction() || succeeded(choose(mma))
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }
};
} // namespace
