//===- GemmHarness.cpp - running tenon.gemm ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmHarness.h"
#include "ReorderedSource.h"

#include "tenon/Reference/Gemm.h"
#include "tenon/Run/Run.h"

#include "llvm/Support/MathExtras.h"

using namespace tenon;
using namespace tenon::run;
using reference::ElementType;
using reference::Gemm;
using reference::GemmEpilogue;
using reference::GemmParams;
using reference::IndexRange;

namespace {
/// The reference, a piece being some rows: they share the work of decoding the
/// weights.
class GemmExpectation : public Expectation {
public:
  GemmExpectation(Gemm reference, uint64_t matrixInstructions)
      : reference(std::move(reference)),
        matrixInstructions(matrixInstructions) {}

  uint64_t pieces() const override {
    return llvm::divideCeil(reference.rows().size(), rowsPerPiece);
  }

  void
  piece(uint64_t index,
        llvm::function_ref<void(reference::Region &&)> emit) const override {
    reference.emitRows(rowsOf(index), emit);
  }

  void
  skip(uint64_t index,
       llvm::function_ref<void(reference::Region &&)> emit) const override {
    reference.skipRows(rowsOf(index), emit);
  }

  uint64_t workUnits() const override { return matrixInstructions; }

private:
  static constexpr int64_t rowsPerPiece = 16;

  IndexRange rowsOf(uint64_t index) const {
    IndexRange rows = reference.rows();
    int64_t begin = rows.begin + int64_t(index) * rowsPerPiece;
    return {begin, std::min(begin + rowsPerPiece, rows.end)};
  }

  Gemm reference;
  uint64_t matrixInstructions;
};

class GemmHarness : public Harness {
public:
  explicit GemmHarness(spec::GemmOp op);

  llvm::Error completeDims(Dims &dims) const override;
  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef, const Views &, const Dims &,
                   uint64_t) const override {
    return std::optional<std::vector<int32_t>>();
  }
  reference::Distribution distribution(llvm::StringRef operand) const override {
    return reference::gemmDistribution(operand, xType, weightsType);
  }
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef operand, const Views &integers,
           const Dims &dims) const override;
  llvm::Expected<std::optional<Reordered>>
  reordered(llvm::StringRef operand,
            const reference::TensorView &view) const override;
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &dims) const override;
  double tolerance(llvm::StringRef) const override { return 2e-3; }
  uint64_t floorPerUnit() const override { return 1; }
  std::string unitName() const override { return "16 x 16 MFMA"; }

private:
  /// A range of the call, none when the op has none.
  std::optional<IndexRange> range(bool present, const Dims &dims,
                                  const std::string &what) const {
    return present ? std::optional<IndexRange>(
                         {dims.at(what + "_begin"), dims.at(what + "_end")})
                   : std::nullopt;
  }

  GemmParams params;
  ElementType xType = ElementType::BF16;
  ElementType weightsType = ElementType::BF16;
  /// N and K where they are static.
  std::optional<int64_t> staticN, staticK;
  bool hasColumns = false, hasRows = false;
  std::optional<spec::WeightOrder> weightOrder;
  bool packedXScale = false;
};
} // namespace

static ElementType elementType(mlir::Value operand) {
  mlir::Type type =
      llvm::cast<mlir::MemRefType>(operand.getType()).getElementType();
  return llvm::isa<mlir::BFloat16Type>(type)       ? ElementType::BF16
         : llvm::isa<mlir::Float8E4M3FNType>(type) ? ElementType::FP8E4M3
                                                   : ElementType::FP4E2M1;
}

reference::WeightOrder run::hostOrder(spec::WeightOrder order) {
  switch (order) {
  case spec::WeightOrder::Packed:
    return reference::WeightOrder::Packed;
  case spec::WeightOrder::Aiter:
    return reference::WeightOrder::Aiter;
  case spec::WeightOrder::AiterInterleaved:
    return reference::WeightOrder::AiterInterleaved;
  }
  llvm_unreachable("covered switch");
}

static GemmEpilogue epilogue(spec::Epilogue epilogue) {
  switch (epilogue) {
  case spec::Epilogue::None:
    return GemmEpilogue::None;
  case spec::Epilogue::Add:
    return GemmEpilogue::Add;
  case spec::Epilogue::SigmoidGate:
    return GemmEpilogue::SigmoidGate;
  case spec::Epilogue::SiTU:
    return GemmEpilogue::SiTU;
  case spec::Epilogue::SiLU:
    return GemmEpilogue::SiLU;
  }
  llvm_unreachable("covered switch");
}

GemmHarness::GemmHarness(spec::GemmOp op)
    : xType(elementType(op.getX())), weightsType(elementType(op.getWeights())),
      hasColumns(static_cast<bool>(op.getColBegin())),
      hasRows(static_cast<bool>(op.getRowBegin())),
      weightOrder(op.getWeightOrder()), packedXScale(op.hasPackedXScale()) {
  params.epilogue = epilogue(op.getEpilogue());
  if (op.getBeta()) {
    params.beta = op.getBeta()->convertToDouble();
    params.linearBeta = op.getLinearBeta()->convertToDouble();
  }
  auto sizeOf = [](mlir::Value operand,
                   unsigned dim) -> std::optional<int64_t> {
    auto type = llvm::cast<mlir::MemRefType>(operand.getType());
    return type.isDynamicDim(dim) ? std::nullopt
                                  : std::optional(type.getDimSize(dim));
  };
  staticN = sizeOf(op.getWeights(), 0);
  staticK = sizeOf(op.getX(), 1);
}

/// Fills in a range that was not given, the whole, and checks that it is
/// inside.
static llvm::Error completeRange(Dims &dims, const std::string &what,
                                 int64_t size) {
  int64_t begin = dims.try_emplace(what + "_begin", 0).first->second;
  int64_t end = dims.try_emplace(what + "_end", size).first->second;
  if (begin >= 0 && begin <= end && end <= size) {
    return llvm::Error::success();
  }
  return llvm::make_error<InputError>(
      what + "_begin and " + what +
      "_end: expected 0 <= begin <= end <= " + std::to_string(size) +
      ", found " + std::to_string(begin) + " and " + std::to_string(end));
}

llvm::Error GemmHarness::completeDims(Dims &dims) const {
  auto missing = [](const std::string &what, const std::string &symbol) {
    return llvm::make_error<InputError>(what + " is not given: --dim " +
                                        symbol + "=...");
  };
  if (!dims.count("M")) {
    return missing("the number of tokens", "M");
  }
  if (!staticN && params.isGated() && dims.count("I")) {
    dims.try_emplace("N", 2 * dims["I"]);
  }
  if (!staticN && !dims.count("N")) {
    return missing("the number of rows of weights", "N");
  }
  if (!staticK && !dims.count("K")) {
    return missing("the size of a row of x", "K");
  }
  int64_t n = staticN ? *staticN : dims["N"];
  int64_t columns = params.isGated() ? n / 2 : n;
  if (!staticN && params.isGated()) {
    dims.try_emplace("I", columns);
  }
  if (!staticK && weightsType == ElementType::FP4E2M1) {
    dims.try_emplace("K/32", dims["K"] / 32);
  }
  if (hasColumns) {
    if (llvm::Error error = completeRange(dims, "col", columns)) {
      return error;
    }
  }
  return hasRows ? completeRange(dims, "row", dims["M"])
                 : llvm::Error::success();
}

std::optional<llvm::DenseSet<uint64_t>>
GemmHarness::liveRows(llvm::StringRef operand, const Views &,
                      const Dims &dims) const {
  bool ofWeights = operand == "weights" || operand == "weight_scale";
  auto live =
      range(ofWeights ? hasColumns : hasRows, dims, ofWeights ? "col" : "row");
  if (!live) {
    return std::nullopt;
  }
  llvm::DenseSet<uint64_t> rows;
  int64_t n = staticN ? *staticN : dims.at("N");
  for (int64_t row = live->begin; row < live->end; ++row) {
    rows.insert(row);
    if (ofWeights && params.isGated()) {
      rows.insert(n / 2 + row);
    }
  }
  return rows;
}

llvm::Expected<std::optional<Reordered>>
GemmHarness::reordered(llvm::StringRef operand,
                       const reference::TensorView &view) const {
  bool ofX = operand == "x_scale" && packedXScale;
  bool isScale = operand == "weight_scale";
  bool ofWeights = weightOrder && (operand == "weights" || isScale);
  // A scale per row stays where it is.
  if (!(ofX || ofWeights) || (isScale && view.type != ElementType::E8M0)) {
    return std::nullopt;
  }
  auto bytes = reorder(view, ofX ? reference::WeightOrder::Packed
                                 : hostOrder(*weightOrder));
  if (!bytes) {
    return llvm::make_error<InputError>(
        (operand + ": " + llvm::toString(bytes.takeError())).str());
  }
  return std::optional(std::move(*bytes));
}

llvm::Expected<std::unique_ptr<Expectation>>
GemmHarness::expect(const Views &operands, const Dims &dims) const {
  auto reference = Gemm::create(params, operands, range(hasRows, dims, "row"),
                                range(hasColumns, dims, "col"));
  if (!reference) {
    return llvm::make_error<InputError>(llvm::toString(reference.takeError()));
  }
  // Elements along K of the widest MFMA: 32 of bf16, 128 of smaller types.
  int64_t depth = xType == ElementType::BF16 ? 32 : 128;
  uint64_t tiles = llvm::divideCeil(reference->rows().size(), 16) *
                   llvm::divideCeil(reference->columns().size(), 16) *
                   (params.isGated() ? 2 : 1);
  uint64_t instructions = tiles * llvm::divideCeil(reference->depth(), depth);
  return std::make_unique<GemmExpectation>(std::move(*reference), instructions);
}

std::unique_ptr<Harness> run::createGemmHarness(spec::GemmOp op) {
  return std::make_unique<GemmHarness>(op);
}
