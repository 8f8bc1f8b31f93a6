//===- TileSelectPrecision.cpp - which instruction multiplies ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TILESELECTPRECISION
#include "passes/Passes.h.inc"
} // namespace tenon

namespace {
/// A way to multiply FP32 operands.
struct Form {
  StringRef name;
  /// Parts of an operand, 0 for one that stays as it is.
  unsigned parts;
  /// The error of a term, as a fraction of its magnitude (Passes.td).
  double bound;
  /// Which parts are multiplied, those of the least magnitude first.
  SmallVector<std::pair<unsigned, unsigned>, 6> products;
};

/// An instruction and what a product costs by it.
struct Choice {
  std::array<int64_t, 2> instruction;
  double clocks; ///< of one wave
};
} // namespace

static ArrayRef<Form> forms() {
  static const Form all[] = {
      {"native", 0, 0.0, {}},
      {"bf16x6",
       3,
       std::ldexp(1.0 + std::ldexp(1.0, -9), -23),
       {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}}},
      {"bf16x3",
       2,
       std::ldexp(3.0 * (1.0 + std::ldexp(1.0, -7)), -16),
       {{1, 0}, {0, 1}, {0, 0}}},
      {"bf16x1", 1, std::ldexp(1.0 + std::ldexp(1.0, -9), -7), {{0, 0}}}};
  return all;
}

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

/// The instructions of the chip for a product of two tiles, those of the
/// highest rate first, then those with more reuse of operands.
static std::vector<target::Mfma>
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
  return known;
}

/// How \p waves may share the rows of \p mma, each way as (rows, columns) of a
/// wave.
static SmallVector<std::pair<int64_t, int64_t>> sharesOf(tile::MmaOp mma,
                                                         int64_t waves) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(mma.getType()).getShape().take_back(2);
  SmallVector<std::pair<int64_t, int64_t>> shares;
  for (int64_t wavesM = 1; wavesM <= waves; ++wavesM) {
    bool isGiven = !mma.getWaves() || (*mma.getWaves())[0] == wavesM;
    int64_t wavesN = waves / wavesM;
    if (waves % wavesM == 0 && isGiven && shape[0] % wavesM == 0 &&
        shape[1] % wavesN == 0) {
      shares.emplace_back(shape[0] / wavesM, shape[1] / wavesN);
    }
  }
  return shares;
}

namespace {
struct TileSelectPrecision
    : tenon::impl::TileSelectPrecisionBase<TileSelectPrecision> {
  using Base::Base;

  /// The first instruction for operands of these types that divides the product
  /// among the waves, with its clocks.
  std::optional<Choice> firstThatFits(tile::MmaOp mma,
                                      ArrayRef<target::Mfma> instructions) {
    int64_t depth = mma.getDepth();
    // Of a product too small for all waves, groups of them compute the same.
    for (int64_t sharing = waves(mma); sharing > 0; sharing /= 2) {
      for (const target::Mfma &mfma : instructions) {
        int64_t mn = mfma.m;
        int64_t k = mfma.k;
        for (auto [rows, columns] : sharesOf(mma, sharing)) {
          if (depth % k == 0 && rows % mn == 0 && columns % mn == 0) {
            double count = static_cast<double>(rows / mn) * (columns / mn) *
                           static_cast<double>(depth / k);
            return Choice{{mn, k}, count * mfma.cycles()};
          }
        }
      }
      if (sharing % 2 != 0) {
        break;
      }
    }
    return std::nullopt;
  }

  /// The waves that share one product.
  int64_t waves(tile::MmaOp mma) {
    auto type = cast<RankedTensorType>(mma.getType());
    // Several products have their own waves each.
    int64_t slices = type.getRank() == 3 ? type.getDimSize(0) : 1;
    return getOperation().getWaves() / slices;
  }

  /// Clocks that a wave works to split its operands of \p mma.
  double splitClocks(tile::MmaOp mma, unsigned parts) {
    // Vector instructions per pair of elements: a conversion of two, and for
    // each further part two extensions, a packed subtraction and a conversion.
    double perPair = 1.0 + 4.0 * (parts - 1);
    auto [rows, columns] = sharesOf(mma, waves(mma)).front();
    double elements =
        static_cast<double>(rows + columns) * mma.getDepth() / 64.0;
    return perPair / 2.0 * elements * issueClocks;
  }
  /// Clocks in which a SIMD of 16 lanes issues an instruction of a wave.
  static constexpr double issueClocks = 4.0;

  /// \p value in \p parts parts of BF16.
  SmallVector<Value> split(OpBuilder &b, Value value, unsigned parts) {
    SmallVector<Value> &known = splits[{value, parts}];
    if (!known.empty() &&
        known.front().getParentBlock() == b.getInsertionBlock()) {
      return known;
    }
    known.clear();
    Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    auto narrow = type.clone(b.getBF16Type());
    Value rest = value;
    for (unsigned part = 0; part < parts; ++part) {
      known.push_back(arith::TruncFOp::create(b, loc, narrow, rest));
      if (part + 1 < parts) {
        Value back = arith::ExtFOp::create(b, loc, type, known.back());
        rest = arith::SubFOp::create(b, loc, rest, back);
      }
    }
    return known;
  }

  /// Replaces \p mma by products of parts, with one instruction for all.
  void replace(tile::MmaOp mma, const Form &form,
               std::array<int64_t, 2> instruction) {
    OpBuilder b(mma);
    SmallVector<Value> lhs = split(b, mma.getLhs(), form.parts);
    SmallVector<Value> rhs = split(b, mma.getRhs(), form.parts);
    Value sum = mma.getAccumulator();
    for (auto [left, right] : form.products) {
      auto product = cast<tile::MmaOp>(b.clone(*mma));
      product.getLhsMutable().assign(lhs[left]);
      product.getRhsMutable().assign(rhs[right]);
      product.getAccumulatorMutable().assign(sum);
      product.removeAccuracyAttr();
      product.setInstruction(instruction);
      sum = product.getResult();
    }
    mma.replaceAllUsesWith(sum);
    mma.erase();
  }

  /// Chooses among the forms for a product of FP32 operands.
  LogicalResult chooseForm(tile::MmaOp mma, const target::TargetInfo &target) {
    double accuracy =
        mma.getAccuracy() ? mma.getAccuracy()->convertToDouble() : 0.0;
    auto bf16 = BFloat16Type::get(&getContext());
    auto fp32 = Float32Type::get(&getContext());
    const Form *best = nullptr;
    std::optional<Choice> choice;
    for (const Form &candidate : forms()) {
      bool isAllowed =
          form == "auto" ? candidate.bound <= accuracy : form == candidate.name;
      if (!isAllowed) {
        continue;
      }
      Type type = candidate.parts == 0 ? Type(fp32) : Type(bf16);
      auto instructions =
          instructionsFor(type, type, /*isScaled=*/false, target);
      llvm::erase_if(instructions, [&](const target::Mfma &mfma) {
        return !isNamed(mma, mfma);
      });
      auto found = firstThatFits(mma, instructions);
      if (!found) {
        continue;
      }
      if (candidate.parts != 0) {
        found->clocks = found->clocks * candidate.products.size() +
                        splitClocks(mma, candidate.parts);
      }
      if (!choice || found->clocks < choice->clocks) {
        choice = found;
        best = &candidate;
      }
    }
    if (!best) {
      return failFit(mma);
    }
    mma.emitRemark("multiplies FP32 as ")
        << best->name << ", " << choice->clocks << " clocks of a wave";
    if (best->parts == 0) {
      mma.setInstruction(choice->instruction);
    } else {
      replace(mma, *best, choice->instruction);
    }
    return success();
  }

  /// Whether \p mma names the instruction \p mfma, or none.
  static bool isNamed(tile::MmaOp mma, const target::Mfma &mfma) {
    std::optional<ArrayRef<int64_t>> named = mma.getInstruction();
    return !named || ((*named)[0] == mfma.m && (*named)[1] == mfma.k);
  }

  LogicalResult failFit(tile::MmaOp mma) {
    auto lhs = cast<RankedTensorType>(mma.getLhs().getType());
    auto rhs = cast<RankedTensorType>(mma.getRhs().getType());
    int64_t rank = lhs.getRank();
    return mma.emitOpError("no instruction for ")
           << lhs.getElementType() << " divides [" << lhs.getDimSize(rank - 2)
           << ", " << mma.getDepth() << "] by [" << mma.getDepth() << ", "
           << rhs.getDimSize(rank - 1) << "] among " << waves(mma) << " waves";
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
    if (lhs.getElementType().isF32()) {
      return chooseForm(mma, target);
    }
    std::optional<Choice> choice = firstThatFits(mma, instructions);
    if (!choice) {
      return failFit(mma);
    }
    mma.setInstruction(choice->instruction);
    return success();
  }

  void runOnOperation() override {
    bool isKnown = form == "auto" || llvm::any_of(forms(), [&](const Form &f) {
                     return f.name == form;
                   });
    if (!isKnown) {
      getOperation().emitError("tile-select-precision: form must be auto, "
                               "native, bf16x1, bf16x3 or bf16x6, found '")
          << form << "'";
      return signalPassFailure();
    }
    SmallVector<tile::MmaOp> products;
    getOperation().walk([&](tile::MmaOp mma) {
      // Of a product of FP32 that names its instruction the form is open.
      auto lhs = cast<RankedTensorType>(mma.getLhs().getType());
      if (!mma.getInstruction() ||
          (mma.getAccuracy() && lhs.getElementType().isF32())) {
        products.push_back(mma);
      }
    });
    splits.clear();
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

  /// Parts of operands that are split already.
  DenseMap<std::pair<Value, unsigned>, SmallVector<Value>> splits;
};
} // namespace
