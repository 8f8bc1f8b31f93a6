//===- Harness.cpp - from ops to harnesses ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Run/Harness.h"

#include "GemmHarness.h"
#include "KdaDecodeHarness.h"
#include "KdaPlanHarness.h"
#include "KdaPrefillHarness.h"
#include "MlaDecodeHarness.h"
#include "MlaMergeHarness.h"
#include "MoeExpertsHarness.h"
#include "MoeRouteHarness.h"
#include "PackHarness.h"

#include "dialects/Tenon/Tenon.h"

#include "mlir/IR/BuiltinOps.h"

using namespace tenon;
using namespace tenon::run;

Expectation::~Expectation() = default;

void Expectation::skip(
    uint64_t index, llvm::function_ref<void(reference::Region &&)> emit) const {
  piece(index, [&](reference::Region &&region) {
    region.skipped = true;
    emit(std::move(region));
  });
}

Harness::~Harness() = default;

llvm::Expected<std::optional<Reordered>>
Harness::reordered(llvm::StringRef, const reference::TensorView &) const {
  return std::nullopt;
}

std::optional<uint64_t>
Harness::storedBytes(llvm::StringRef, const reference::TensorView &) const {
  return std::nullopt;
}

llvm::Error Harness::expandLists(Lists &, Dims &) const {
  return llvm::Error::success();
}

std::unique_ptr<Harness> run::createHarness(mlir::ModuleOp module) {
  std::unique_ptr<Harness> harness;
  module.walk([&](spec::GemmOp op) { harness = createGemmHarness(op); });
  module.walk(
      [&](spec::MoeExpertsOp op) { harness = createMoeExpertsHarness(op); });
  module.walk(
      [&](spec::MoeRouteOp op) { harness = createMoeRouteHarness(op); });
  module.walk([&](spec::MoePackOp op) { harness = createMoePackHarness(op); });
  module.walk([&](spec::PackOp op) { harness = createPackHarness(op); });
  module.walk(
      [&](spec::KdaDecodeOp op) { harness = createKdaDecodeHarness(op); });
  module.walk(
      [&](spec::KdaPrefillOp op) { harness = createKdaPrefillHarness(op); });
  module.walk([&](spec::KdaPlanOp op) { harness = createKdaPlanHarness(op); });
  module.walk(
      [&](spec::MlaDecodeOp op) { harness = createMlaDecodeHarness(op); });
  module.walk([&](spec::MlaPlanOp op) { harness = createMlaPlanHarness(op); });
  module.walk(
      [&](spec::MlaMergeOp op) { harness = createMlaMergeHarness(op); });
  module.walk(
      [&](spec::MlaScaleOp op) { harness = createMlaScaleHarness(op); });
  return harness;
}
