//===- WeightOrder.cpp - Weights in the orders of kernels -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/WeightOrder.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

namespace tenon::reference {

/// Rows of a tile, and bytes of a chunk of weights.
static constexpr uint64_t tileRows = 16, chunkBytes = 16;

/// Where row \p row of \p rows goes before tiles are formed.
static uint64_t placeOfRow(uint64_t row, uint64_t rows, WeightOrder order) {
  if (order == WeightOrder::Aiter) {
    return row;
  }
  uint64_t half = row / (rows / 2), within = row % (rows / 2);
  return (within / tileRows * 2 + half) * tileRows + within % tileRows;
}

static llvm::Error checkRows(uint64_t rows, WeightOrder order) {
  uint64_t multiple = order == WeightOrder::Aiter ? tileRows : 2 * tileRows;
  if (rows % multiple == 0) {
    return llvm::Error::success();
  }
  return llvm::createStringError(
      "N must be a multiple of " + llvm::Twine(multiple) +
      " in this order of weights, found " + llvm::Twine(rows));
}

llvm::Expected<std::vector<uint8_t>> orderWeights(const TensorView &weights,
                                                  WeightOrder order) {
  assert(weights.type == ElementType::FP4E2M1 && weights.shape.size() == 2 &&
         weights.strides[1] == 1 && weights.strides[0] % 2 == 0 &&
         "rows of FP4");
  uint64_t rows = weights.shape[0], depth = weights.shape[1];
  if (llvm::Error error = checkRows(rows, order)) {
    return std::move(error);
  }
  if (depth % 64 != 0) {
    return llvm::createStringError("K must be a multiple of 64 in this order "
                                   "of weights, found " +
                                   llvm::Twine(depth));
  }
  uint64_t rowBytes = depth / 2, chunks = rowBytes / chunkBytes;
  std::vector<uint8_t> ordered(rows * rowBytes), bytes(rowBytes);
  for (uint64_t row = 0; row < rows; ++row) {
    weights.source->read(row * weights.strides[0] / 2, bytes);
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
  uint64_t groups = llvm::divideCeil(blocks, 8);
  std::vector<uint8_t> ordered(llvm::alignTo(rows, 256) * groups * 8, 0xff);
  for (uint64_t row = 0; row < rows; ++row) {
    std::vector<uint64_t> codes =
        scales.codes({int64_t(row), 0}, {1, int64_t(blocks)});
    uint64_t place = placeOfRow(row, rows, order);
    uint64_t half = place / tileRows % 2, lane = place % tileRows;
    for (uint64_t block = 0; block < blocks; ++block) {
      uint64_t dword =
          ((place / (2 * tileRows) * groups + block / 8) * 4 + block % 4) *
              tileRows +
          lane;
      ordered[dword * 4 + block / 4 % 2 * 2 + half] = uint8_t(codes[block]);
    }
  }
  return ordered;
}

} // namespace tenon::reference
