//===- Gemm.cpp - Semantics of tenon.gemm -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/Gemm.h"

#include "Activation.h"
#include "Products.h"
#include "TakeOperand.h"

#include "llvm/ADT/STLExtras.h"

namespace tenon::reference {

/// Elements along K that share a scale of type E8M0.
static constexpr int64_t scaleBlock = 32;

//===----------------------------------------------------------------------===//
// Preconditions
//===----------------------------------------------------------------------===//

namespace {
/// What a pair of types takes besides.
struct Format {
  ElementType x, weights;
  bool scalesX, scalesWeights;
  bool byBlock;      ///< a scale per block of K, not per row
  int64_t kMultiple; ///< K is a multiple of it
};
} // namespace

static constexpr Format formats[] = {
    {ElementType::BF16, ElementType::BF16, false, false, false, 8},
    {ElementType::FP8E4M3, ElementType::FP8E4M3, true, true, false, 16},
    {ElementType::FP4E2M1, ElementType::FP4E2M1, true, true, true, scaleBlock},
    {ElementType::FP8E4M3, ElementType::FP4E2M1, true, true, true, scaleBlock},
    {ElementType::BF16, ElementType::FP4E2M1, false, true, true, scaleBlock},
};

static llvm::Expected<Format> formatOf(const TensorView &x,
                                       const TensorView &weights) {
  const Format *found = llvm::find_if(formats, [&](const Format &format) {
    return format.x == x.type && format.weights == weights.type;
  });
  if (found == std::end(formats)) {
    return llvm::createStringError("operands 'x' and 'weights': a product of " +
                                   name(x.type) + " and " + name(weights.type) +
                                   " is not defined");
  }
  return *found;
}

/// Checks that \p range is inside a dimension of \p size.
static llvm::Error checkRange(llvm::StringRef what, IndexRange range,
                              int64_t size) {
  if (range.begin < 0 || range.begin > range.end || range.end > size) {
    return llvm::createStringError(
        "the range of " + what + ": 0 <= begin <= end <= " + llvm::Twine(size) +
        " expected, begin " + llvm::Twine(range.begin) + " and end " +
        llvm::Twine(range.end) + " found");
  }
  return llvm::Error::success();
}

llvm::Expected<Gemm> Gemm::create(const GemmParams &params,
                                  const Operands &operands,
                                  std::optional<IndexRange> rows,
                                  std::optional<IndexRange> columns) {
  static constexpr ElementType dataTypes[] = {
      ElementType::BF16, ElementType::FP8E4M3, ElementType::FP4E2M1};
  static constexpr ElementType outTypes[] = {ElementType::BF16,
                                             ElementType::F32};
  Gemm op;
  op.params = params;
  if (llvm::Error error =
          takeOperand(operands, "x", dataTypes, {anySize, anySize}, op.x)) {
    return std::move(error);
  }
  const int64_t m = op.x.shape[0], k = op.x.shape[1];
  if (llvm::Error error = takeOperand(operands, "weights", dataTypes,
                                      {anySize, k}, op.weights)) {
    return std::move(error);
  }
  const int64_t n = op.weights.shape[0];
  auto format = formatOf(op.x, op.weights);
  if (!format) {
    return format.takeError();
  }
  if (k == 0 || k % format->kMultiple != 0) {
    return llvm::createStringError(
        "K must be a positive multiple of " + llvm::Twine(format->kMultiple) +
        " for " + name(op.x.type) + " x " + name(op.weights.type) + ", found " +
        llvm::Twine(k));
  }
  if (params.isGated() && n % 2 != 0) {
    return llvm::createStringError(
        "operand 'weights': an even number of rows expected, half gate and "
        "half up, " +
        llvm::Twine(n) + " found");
  }
  const int64_t width = params.isGated() ? n / 2 : n;
  auto takeScale = [&](llvm::StringRef name, int64_t count, TensorView &view) {
    return format->byBlock
               ? takeOperand(operands, name, ElementType::E8M0,
                             {count, k / scaleBlock}, view)
               : takeOperand(operands, name, ElementType::F32, {count}, view);
  };
  if (format->scalesX) {
    if (llvm::Error error = takeScale("x_scale", m, op.xScale)) {
      return std::move(error);
    }
  }
  if (format->scalesWeights) {
    if (llvm::Error error = takeScale("weight_scale", n, op.weightScale)) {
      return std::move(error);
    }
  }
  if (params.epilogue == GemmEpilogue::SigmoidGate) {
    if (llvm::Error error =
            takeOperand(operands, "multiplicand", ElementType::BF16, {m, width},
                        op.multiplicand)) {
      return std::move(error);
    }
  }
  if (llvm::Error error =
          takeOperand(operands, "out", outTypes, {m, width}, op.out)) {
    return std::move(error);
  }
  op.rowRange = rows.value_or(IndexRange{0, m});
  op.columnRange = columns.value_or(IndexRange{0, width});
  if (llvm::Error error = checkRange("rows", op.rowRange, m)) {
    return std::move(error);
  }
  if (llvm::Error error = checkRange("columns", op.columnRange, width)) {
    return std::move(error);
  }
  return op;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The values of row \p row of \p data times their scales. Exact: a scale has
/// one bit, or 24 and the values have four.
std::vector<double> Gemm::scaled(const TensorView &data,
                                 const TensorView &scale, int64_t row) const {
  std::vector<double> values = data.block({row, 0}, {1, depth()});
  if (scale.shape.size() == 1) {
    double factor = scale.at({row});
    for (double &value : values) {
      value *= factor;
    }
  } else if (scale.shape.size() == 2) {
    std::vector<double> factors =
        scale.block({row, 0}, {1, depth() / scaleBlock});
    for (auto [index, value] : llvm::enumerate(values)) {
      value *= factors[index / scaleBlock];
    }
  }
  return values;
}

/// The products of \p rows with as many rows of the weights as there are
/// columns to compute, from row \p first on; row-major.
std::vector<double> Gemm::products(llvm::ArrayRef<std::vector<double>> rows,
                                   int64_t first) const {
  return reference::products(rows, columnRange.size(), [&](int64_t column) {
    return scaled(weights, weightScale, first + column);
  });
}

/// What is computed of row \p row, without its values.
Region Gemm::regionOf(int64_t row) const {
  Region region;
  region.operand = "out";
  region.offset = {row, columnRange.begin};
  region.extents = {1, columnRange.size()};
  region.group = ("row " + llvm::Twine(row)).str();
  if (out.type != ElementType::F32) {
    region.roundedTo = out.type;
  }
  return region;
}

void Gemm::skipRows(IndexRange block,
                    llvm::function_ref<void(Region &&)> emit) const {
  for (int64_t row = block.begin; row < block.end && columnRange.size() > 0;
       ++row) {
    Region region = regionOf(row);
    region.skipped = true;
    emit(std::move(region));
  }
}

void Gemm::emitRows(IndexRange block,
                    llvm::function_ref<void(Region &&)> emit) const {
  const int64_t count = columnRange.size();
  if (block.size() == 0 || count == 0) {
    return;
  }
  std::vector<std::vector<double>> values;
  for (int64_t row = block.begin; row < block.end; ++row) {
    values.push_back(scaled(x, xScale, row));
  }
  std::vector<double> acc = products(values, columnRange.begin), up;
  if (params.isGated()) {
    up = products(values, out.shape[1] + columnRange.begin);
  }
  for (int64_t row = block.begin; row < block.end; ++row) {
    Region region = regionOf(row);
    auto other = [&](const TensorView &view) {
      return view.block({row, columnRange.begin}, {1, count});
    };
    std::vector<double> beside;
    if (params.epilogue == GemmEpilogue::Add) {
      beside = other(out);
    } else if (params.epilogue == GemmEpilogue::SigmoidGate) {
      beside = other(multiplicand);
    }
    for (int64_t column = 0; column < count; ++column) {
      int64_t index = (row - block.begin) * count + column;
      double value = acc[index];
      switch (params.epilogue) {
      case GemmEpilogue::None:
        break;
      case GemmEpilogue::Add:
        value += beside[column];
        break;
      case GemmEpilogue::SigmoidGate:
        value = beside[column] * sigmoid(value);
        break;
      case GemmEpilogue::SiTU:
        value = params.beta * std::tanh(value / params.beta) * sigmoid(value) *
                params.linearBeta * std::tanh(up[index] / params.linearBeta);
        break;
      case GemmEpilogue::SiLU:
        value = silu(value) * up[index];
        break;
      }
      region.expected.push_back(value);
    }
    emit(std::move(region));
  }
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

Distribution gemmDistribution(llvm::StringRef operand, ElementType x,
                              ElementType weights) {
  bool byBlock = weights == ElementType::FP4E2M1;
  // Quantised values use the range of their type; the scales bring them back.
  auto values = [](ElementType type, double deviation) {
    return Distribution::normal(0, type == ElementType::BF16      ? deviation
                                   : type == ElementType::FP8E4M3 ? 60
                                                                  : 2);
  };
  if (operand == "x") {
    return values(x, 1);
  }
  if (operand == "weights") {
    return values(weights, 0.05);
  }
  if (operand == "x_scale") {
    return !byBlock                    ? Distribution::uniform(0.005, 0.02)
           : x == ElementType::FP8E4M3 ? Distribution::powersOfTwo(-9)
                                       : Distribution::powersOfTwo(-4);
  }
  if (operand == "weight_scale") {
    return byBlock ? Distribution::powersOfTwo(-8)
                   : Distribution::uniform(0.0005, 0.002);
  }
  return Distribution::normal(0, 1);
}

} // namespace tenon::reference
