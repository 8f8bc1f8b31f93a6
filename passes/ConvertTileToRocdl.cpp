//===- ConvertTileToRocdl.cpp - per-lane code of tile programs --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"
#include "passes/Rocdl/Emitter.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_CONVERTTILETOROCDL
#include "passes/Passes.h.inc"
} // namespace tenon

namespace {
struct ConvertTileToRocdl
    : tenon::impl::ConvertTileToRocdlBase<ConvertTileToRocdl> {
  /// Lowers what is left of the arith dialect in the emitted functions.
  LogicalResult lowerArith() {
    LLVMConversionTarget conversionTarget(getContext());
    conversionTarget.addIllegalDialect<arith::ArithDialect>();
    LLVMTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (failed(applyPartialConversion(function, conversionTarget, frozen))) {
        return failure();
      }
    }
    return success();
  }

  void runOnOperation() override {
    FailureOr<target::TargetInfo> target = tile::getTarget(getOperation());
    if (failed(target)) {
      return signalPassFailure();
    }
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      if (failed(rocdl::Emitter(kernel, *target).emit())) {
        return signalPassFailure();
      }
      kernel.erase();
    }
    if (failed(lowerArith())) {
      signalPassFailure();
    }
  }
};
} // namespace
