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
  /// The format of the chip that holds elements of \p type, or nothing.
  static std::optional<target::MatrixFormat>
  formatOf(Type type, const target::TargetInfo &target) {
    using target::MatrixFormat;
    bool isOcp = target.facts().fp8Flavour == target::Fp8Flavour::OCP;
    if (type.isF32()) {
      return MatrixFormat::F32;
    }
    if (type.isF16()) {
      return MatrixFormat::F16;
    }
    if (type.isBF16()) {
      return MatrixFormat::BF16;
    }
    if (isa<Float8E4M3FNType>(type) && isOcp) {
      return MatrixFormat::FP8;
    }
    if (isa<Float8E5M2Type>(type) && isOcp) {
      return MatrixFormat::BF8;
    }
    // Two values per byte.
    if (type.isInteger(8)) {
      return MatrixFormat::FP4;
    }
    return std::nullopt;
  }

  /// The instructions [mn, k] of the chip for a product of two tiles, those of
  /// the highest rate first, then those with more reuse of operands.
  static SmallVector<std::array<int64_t, 2>>
  instructionsFor(Type lhs, Type rhs, bool isScaled,
                  const target::TargetInfo &target) {
    auto a = formatOf(lhs, target);
    auto b = formatOf(rhs, target);
    if (!a || !b) {
      return {};
    }
    std::vector<target::Mfma> known = target.mfmasFor(*a, *b);
    llvm::erase_if(known, [&](const target::Mfma &mfma) {
      return mfma.m != mfma.n || (mfma.m != 16 && mfma.m != 32) ||
             (isScaled && !mfma.isScalable());
    });
    llvm::stable_sort(known, [](const target::Mfma &x, const target::Mfma &y) {
      // Rates as flops per clock, by cross products.
      uint64_t left = x.flops() * y.cycles();
      uint64_t right = y.flops() * x.cycles();
      return left != right ? left > right : x.m > y.m;
    });
    SmallVector<std::array<int64_t, 2>> instructions;
    for (const target::Mfma &mfma : known) {
      instructions.push_back({mfma.m, mfma.k});
    }
    return instructions;
  }

  LogicalResult choose(tile::MmaOp mma, const target::TargetInfo &target) {
    auto lhs = cast<RankedTensorType>(mma.getLhs().getType());
    auto rhs = cast<RankedTensorType>(mma.getRhs().getType());
    bool isScaled = mma.getLhsScale() || mma.getRhsScale();
    auto instructions = instructionsFor(lhs.getElementType(),
                                        rhs.getElementType(), isScaled, target);
    if (instructions.empty()) {
      return mma.emitOpError("no instruction of ")
             << target.chip() << " multiplies " << lhs.getElementType()
             << " by " << rhs.getElementType() << (isScaled ? ", scaled" : "");
    }
    int64_t rank = lhs.getRank();
    int64_t m = lhs.getDimSize(rank - 2);
    int64_t n = rhs.getDimSize(rank - 1);
    int64_t k = mma.getDepth();
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
    for (std::array<int64_t, 2> instruction : instructions) {
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
    SmallVector<tile::MmaOp> products;
    getOperation().walk([&](tile::MmaOp mma) {
      if (!mma.getInstruction()) {
        products.push_back(mma);
      }
    });
    if (products.empty()) {
      return;
    }
    FailureOr<target::TargetInfo> target = tile::getTarget(getOperation());
    if (failed(target)) {
      return signalPassFailure();
    }
    for (tile::MmaOp mma : products) {
      if (failed(choose(mma, *target))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
