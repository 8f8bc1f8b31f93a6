//===- PackHarness.cpp - running tenon.pack and tenon.moe_pack --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PackHarness.h"
#include "GemmHarness.h"

#include "tenon/Reference/Gemm.h"
#include "tenon/Run/Run.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tenon;
using namespace tenon::run;
using reference::ElementType;
using reference::Region;
using reference::TensorView;
using Bytes = std::vector<uint8_t>;

namespace {
/// The bytes of each result; a piece is one of them.
class PackExpectation : public Expectation {
public:
  explicit PackExpectation(std::vector<std::pair<std::string, Bytes>> results)
      : results(std::move(results)) {}

  uint64_t pieces() const override { return results.size(); }

  void piece(uint64_t index,
             llvm::function_ref<void(Region &&)> emit) const override {
    const auto &[operand, bytes] = results[index];
    constexpr size_t group = 1024;
    for (size_t first = 0; first < bytes.size(); first += group) {
      size_t count = std::min(group, bytes.size() - first);
      Region region;
      region.operand = operand;
      region.offset = {int64_t(first)};
      region.extents = {int64_t(count)};
      region.group = "bytes from " + std::to_string(first);
      region.exact = true;
      region.expectedCodes.assign(bytes.begin() + first,
                                  bytes.begin() + first + count);
      emit(std::move(region));
    }
  }

  uint64_t workUnits() const override {
    uint64_t total = 0;
    for (const auto &[operand, bytes] : results) {
      total += bytes.size();
    }
    return llvm::divideCeil(total, 1024);
  }

private:
  std::vector<std::pair<std::string, Bytes>> results;
};

/// What the packing of one pair of weights and scales and that of experts have
/// in common: results are bytes, and every one of them is compared.
class OrderHarness : public Harness {
public:
  OrderHarness(reference::WeightOrder order, ElementType weights)
      : order(order), weights(weights) {}

  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef, const Views &, const Dims &,
                   uint64_t) const override {
    return std::optional<std::vector<int32_t>>();
  }
  reference::Distribution distribution(llvm::StringRef operand) const override {
    return reference::gemmDistribution(
        operand == "scales" ? "weight_scale" : "weights", weights, weights);
  }
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef, const Views &, const Dims &) const override {
    return std::nullopt;
  }
  double tolerance(llvm::StringRef) const override { return 0; }
  /// 1024 bytes are one load and one store of a wave.
  uint64_t floorPerUnit() const override { return 2; }
  std::string unitName() const override { return "KiB"; }

protected:
  bool isAiter() const { return order == reference::WeightOrder::Aiter; }

  reference::WeightOrder order;
  ElementType weights;
};

/// The type of the elements of \p op's weights.
ElementType weightType(spec::PackOp op) {
  mlir::Type element =
      llvm::cast<mlir::MemRefType>(op.getWeights().getType()).getElementType();
  return llvm::isa<mlir::BFloat16Type>(element)       ? ElementType::BF16
         : llvm::isa<mlir::Float8E4M3FNType>(element) ? ElementType::FP8E4M3
                                                      : ElementType::FP4E2M1;
}

class PackHarness : public OrderHarness {
public:
  explicit PackHarness(spec::PackOp op)
      : OrderHarness(hostOrder(op.getWeightOrder()), weightType(op)),
        hasScales(static_cast<bool>(op.getScales())) {
    auto type = llvm::cast<mlir::MemRefType>(op.getWeights().getType());
    isDynamic = {type.isDynamicDim(0), type.isDynamicDim(1)};
  }

  llvm::Error completeDims(Dims &dims) const override {
    for (auto [symbol, dynamic] :
         {std::pair("N", isDynamic[0]), std::pair("K", isDynamic[1])}) {
      if (dynamic && !dims.count(symbol)) {
        return llvm::make_error<InputError>(std::string("the size ") + symbol +
                                            " of the weights is not given: "
                                            "--dim " +
                                            symbol + "=...");
      }
    }
    if (hasScales && isDynamic[1]) {
      dims.try_emplace("K/32", dims["K"] / 32);
    }
    return llvm::Error::success();
  }
  std::optional<uint64_t> storedBytes(llvm::StringRef operand,
                                      const TensorView &view) const override;
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &) const override;

private:
  std::array<bool, 2> isDynamic;
  bool hasScales;
};
} // namespace

std::optional<uint64_t> PackHarness::storedBytes(llvm::StringRef operand,
                                                 const TensorView &view) const {
  uint64_t rows = view.shape[0], columns = view.shape[1];
  if (operand == "packed") {
    return llvm::alignTo(rows, 16) * columns * reference::bitWidth(view.type) /
           8;
  }
  if (operand == "packed_scales") {
    return llvm::alignTo(rows, isAiter() ? 256 : 32) *
           llvm::alignTo(columns, 8);
  }
  return std::nullopt;
}

/// The scales as they are to lie in memory: what fills them up is 0, and rows
/// beyond the last 32 that hold some are left alone.
static llvm::Expected<Bytes> expectedScales(const TensorView &scales,
                                            reference::WeightOrder order) {
  auto bytes = reference::orderScales(scales, order);
  if (!bytes) {
    return bytes.takeError();
  }
  // Where codes of 1 end up, there are scales.
  Bytes ones(scales.shape[0] * scales.shape[1], 1);
  reference::MemorySource source(ones);
  Bytes places = llvm::cantFail(reference::orderScales(
      TensorView::dense(ElementType::E8M0, scales.shape, &source), order));
  for (size_t byte = 0; byte < bytes->size(); ++byte) {
    if (places[byte] != 1) {
      (*bytes)[byte] = 0;
    }
  }
  bytes->resize(llvm::alignTo(scales.shape[0], 32) *
                llvm::alignTo(scales.shape[1], 8));
  return bytes;
}

llvm::Expected<std::unique_ptr<Expectation>>
PackHarness::expect(const Views &operands, const Dims &) const {
  std::vector<std::pair<std::string, Bytes>> results;
  auto packed =
      reference::orderWeights(operands.find("weights")->second, order);
  if (!packed) {
    return llvm::make_error<InputError>("weights: " +
                                        llvm::toString(packed.takeError()));
  }
  results.emplace_back("packed", std::move(*packed));
  if (hasScales) {
    auto scales = expectedScales(operands.find("scales")->second, order);
    if (!scales) {
      return llvm::make_error<InputError>("scales: " +
                                          llvm::toString(scales.takeError()));
    }
    results.emplace_back("packed_scales", std::move(*scales));
  }
  return std::make_unique<PackExpectation>(std::move(results));
}

//===----------------------------------------------------------------------===//
// tenon.moe_pack
//===----------------------------------------------------------------------===//

namespace {
class MoePackHarness : public OrderHarness {
public:
  explicit MoePackHarness(spec::MoePackOp op)
      : OrderHarness(hostOrder(op.getWeightOrder()), ElementType::FP4E2M1),
        interleaved(op.getInterleaved()) {}

  llvm::Error completeDims(Dims &dims) const override {
    if (!dims.count("E")) {
      return llvm::make_error<InputError>(
          "the number of experts is not given: --dim E=...");
    }
    return llvm::Error::success();
  }
  std::optional<uint64_t> storedBytes(llvm::StringRef operand,
                                      const TensorView &view) const override;
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &) const override;

private:
  bool interleaved;
};
} // namespace

std::optional<uint64_t>
MoePackHarness::storedBytes(llvm::StringRef operand,
                            const TensorView &view) const {
  uint64_t experts = view.shape[0], rows = view.shape[1],
           columns = view.shape[2];
  if (operand == "packed") {
    return experts * llvm::alignTo(rows, 16) * columns / 2;
  }
  if (operand == "packed_scales") {
    uint64_t filled = isAiter() ? llvm::alignTo(experts * rows, 256)
                                : experts * llvm::alignTo(rows, 32);
    return filled * llvm::alignTo(columns, 8);
  }
  return std::nullopt;
}

/// The rows of expert \p expert without gaps; where rows of gate and up
/// alternate, those of gate first.
static Bytes rowsOf(const TensorView &view, int64_t expert, bool interleaved) {
  uint64_t bits = reference::bitWidth(view.type);
  int64_t rows = view.shape[1];
  uint64_t rowBytes = view.shape[2] * bits / 8;
  Bytes bytes(rows * rowBytes);
  for (int64_t place = 0; place < rows; ++place) {
    int64_t row = !interleaved       ? place
                  : place < rows / 2 ? 2 * place
                                     : 2 * place - rows + 1;
    view.source->read(
        (expert * view.strides[0] + row * view.strides[1]) * bits / 8,
        llvm::MutableArrayRef<uint8_t>(bytes).slice(place * rowBytes,
                                                    rowBytes));
  }
  return bytes;
}

llvm::Expected<std::unique_ptr<Expectation>>
MoePackHarness::expect(const Views &operands, const Dims &) const {
  std::vector<std::pair<std::string, Bytes>> results = {{"packed", {}},
                                                        {"packed_scales", {}}};
  for (auto [source, result] :
       {std::pair("weights", &results[0]), {"scales", &results[1]}}) {
    const TensorView &view = operands.find(source)->second;
    llvm::ArrayRef<int64_t> shape = view.shape;
    for (int64_t expert = 0; expert < view.shape[0]; ++expert) {
      Bytes rows = rowsOf(view, expert, interleaved);
      reference::MemorySource memory(rows);
      TensorView own =
          TensorView::dense(view.type, shape.drop_front(), &memory);
      auto bytes = result == &results[0] ? reference::orderWeights(own, order)
                                         : expectedScales(own, order);
      if (!bytes) {
        return llvm::make_error<InputError>(std::string(source) + ": " +
                                            llvm::toString(bytes.takeError()));
      }
      llvm::append_range(result->second, *bytes);
    }
  }
  return std::make_unique<PackExpectation>(std::move(results));
}

std::unique_ptr<Harness> run::createMoePackHarness(spec::MoePackOp op) {
  return std::make_unique<MoePackHarness>(op);
}

std::unique_ptr<Harness> run::createPackHarness(spec::PackOp op) {
  return std::make_unique<PackHarness>(op);
}
