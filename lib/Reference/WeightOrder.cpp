//===- WeightOrder.cpp - Weights in the orders of kernels -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/WeightOrder.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

namespace tenon::reference {

/// Rows of a tile, and bytes of a chunk of weights.
static constexpr uint64_t tileRows = 16, chunkBytes = 16;
/// Rows and blocks of four dwords' lanes of scales.
static constexpr uint64_t scaleRows = 2 * tileRows, scaleBlocks = 8;

/// Where row \p row of \p rows goes before tiles are formed.
static uint64_t placeOfRow(uint64_t row, uint64_t rows, WeightOrder order) {
  if (order != WeightOrder::AiterInterleaved) {
    return row;
  }
  uint64_t half = row / (rows / 2), within = row % (rows / 2);
  return (within / tileRows * 2 + half) * tileRows + within % tileRows;
}

static llvm::Error checkMultiple(llvm::StringRef size, uint64_t value,
                                 uint64_t multiple) {
  if (value % multiple == 0) {
    return llvm::Error::success();
  }
  return llvm::createStringError(
      size + " must be a multiple of " + llvm::Twine(multiple) +
      " in this order of weights, found " + llvm::Twine(value));
}

static llvm::Error checkRows(uint64_t rows, WeightOrder order) {
  return checkMultiple("N", rows,
                       order == WeightOrder::Packed  ? 1
                       : order == WeightOrder::Aiter ? tileRows
                                                     : 2 * tileRows);
}

static llvm::Error checkWeights(const TensorView &weights, WeightOrder order) {
  assert(weights.shape.size() == 2 && weights.strides[1] == 1 &&
         "rows of weights");
  bool isFp4 = weights.type == ElementType::FP4E2M1;
  bool isKnown = isFp4 || (order == WeightOrder::Packed &&
                           (weights.type == ElementType::BF16 ||
                            weights.type == ElementType::FP8E4M3));
  if (!isKnown) {
    return llvm::createStringError("there are no weights of " +
                                   name(weights.type) + " in this order");
  }
  if (llvm::Error error = checkRows(weights.shape[0], order)) {
    return error;
  }
  uint64_t chunk = chunkBytes * 8 / bitWidth(weights.type);
  return checkMultiple("K", weights.shape[1],
                       order == WeightOrder::Packed ? chunk : 64);
}

llvm::Expected<std::vector<uint8_t>> orderWeights(const TensorView &weights,
                                                  WeightOrder order) {
  if (llvm::Error error = checkWeights(weights, order)) {
    return std::move(error);
  }
  uint64_t rows = weights.shape[0], bits = bitWidth(weights.type);
  assert(weights.strides[0] * bits % 8 == 0 && "rows begin with a byte");
  uint64_t rowBytes = weights.shape[1] * bits / 8;
  uint64_t chunks = rowBytes / chunkBytes;
  std::vector<uint8_t> ordered(llvm::alignTo(rows, tileRows) * rowBytes, 0);
  std::vector<uint8_t> bytes(rowBytes);
  for (uint64_t row = 0; row < rows; ++row) {
    weights.source->read(row * weights.strides[0] * bits / 8, bytes);
    uint64_t place = placeOfRow(row, rows, order);
    uint64_t tile = place / tileRows, lane = place % tileRows;
    for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
      uint64_t at = ((tile * chunks + chunk) * tileRows + lane) * chunkBytes;
      std::copy_n(bytes.begin() + chunk * chunkBytes, chunkBytes,
                  ordered.begin() + at);
    }
  }
  return ordered;
}

llvm::Expected<std::vector<uint8_t>> orderScales(const TensorView &scales,
                                                 WeightOrder order) {
  assert(scales.type == ElementType::E8M0 && scales.shape.size() == 2 &&
         "rows of E8M0");
  uint64_t rows = scales.shape[0], blocks = scales.shape[1];
  if (llvm::Error error = checkRows(rows, order)) {
    return std::move(error);
  }
  bool isPacked = order == WeightOrder::Packed;
  uint64_t filledRows =
      llvm::alignTo(rows, order == WeightOrder::Aiter ? 256 : scaleRows);
  uint64_t groups = llvm::divideCeil(blocks, scaleBlocks);
  std::vector<uint8_t> ordered(filledRows * groups * scaleBlocks,
                               isPacked ? 0 : 0xff);
  for (uint64_t row = 0; row < rows; ++row) {
    std::vector<uint64_t> codes =
        scales.codes({int64_t(row), 0}, {1, int64_t(blocks)});
    uint64_t place = placeOfRow(row, rows, order);
    uint64_t half = place / tileRows % 2, lane = place % tileRows;
    for (uint64_t block = 0; block < blocks; ++block) {
      uint64_t dword =
          ((place / scaleRows * groups + block / scaleBlocks) * 4 + block % 4) *
              tileRows +
          lane;
      ordered[dword * 4 + block / 4 % 2 * 2 + half] = uint8_t(codes[block]);
    }
  }
  return ordered;
}

} // namespace tenon::reference
