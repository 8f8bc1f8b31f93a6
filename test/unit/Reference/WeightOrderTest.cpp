//===- WeightOrderTest.cpp - Weights in the orders of kernels ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/WeightOrder.h"

#include <gtest/gtest.h>

using namespace tenon::reference;

namespace {

using Bytes = std::vector<uint8_t>;

/// An array of bytes whose dimensions are taken in another order, as
/// array.reshape(shape).transpose(order) does.
Bytes permuted(const Bytes &array, const std::vector<uint64_t> &shape,
               const std::vector<unsigned> &order) {
  std::vector<uint64_t> strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d > 0; --d) {
    strides[d - 1] = strides[d] * shape[d];
  }
  Bytes result;
  std::vector<uint64_t> index(shape.size(), 0);
  for (size_t count = 0; count < array.size(); ++count) {
    uint64_t at = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      at += index[d] * strides[order[d]];
    }
    result.push_back(array[at]);
    for (size_t d = shape.size(); d > 0; --d) {
      if (++index[d - 1] < shape[order[d - 1]]) {
        break;
      }
      index[d - 1] = 0;
    }
  }
  return result;
}

/// Bytes that are hardly ever equal to their neighbours at any distance.
Bytes someBytes(uint64_t count) {
  Bytes bytes;
  for (uint64_t i = 0; i < count; ++i) {
    bytes.push_back(uint8_t((i * 0x9e3779b97f4a7c15) >> 56));
  }
  return bytes;
}

TensorView viewOf(ElementType type, int64_t rows, int64_t columns,
                  const ByteSource &source) {
  return TensorView::dense(type, {rows, columns}, &source);
}

// shuffle_weight: [N/16, 16][Kb/32, 2, 16 bytes], rows moved inside.
TEST(WeightOrderTest, Weights) {
  const uint64_t n = 48, k = 192, rowBytes = k / 2;
  Bytes bytes = someBytes(n * rowBytes);
  MemorySource source(bytes);
  Bytes found = llvm::cantFail(orderWeights(
      viewOf(ElementType::FP4E2M1, n, k, source), WeightOrder::Aiter));
  EXPECT_EQ(found, permuted(bytes, {n / 16, 16, rowBytes / 32, 2, 16},
                            {0, 2, 3, 1, 4}));
}

// With is_guinterleave and gate_up: [2, I/16, 16, Kb/64, 4, 16 bytes].
TEST(WeightOrderTest, InterleavedWeights) {
  const uint64_t n = 64, k = 256, rowBytes = k / 2;
  Bytes bytes = someBytes(n * rowBytes);
  MemorySource source(bytes);
  Bytes found =
      llvm::cantFail(orderWeights(viewOf(ElementType::FP4E2M1, n, k, source),
                                  WeightOrder::AiterInterleaved));
  EXPECT_EQ(found, permuted(bytes, {2, n / 32, 16, rowBytes / 64, 4, 16},
                            {1, 0, 3, 4, 2, 5}));
}

// The order of Tenon is that of AITER's shuffle_weight for 8 and 16 bits too:
// [N/16, 16][Kb/64, 4, 16 bytes] with the rows moved inside.
TEST(WeightOrderTest, PackedWeights) {
  const uint64_t n = 32, rowBytes = 256;
  Bytes bytes = someBytes(n * rowBytes);
  MemorySource source(bytes);
  Bytes shuffled =
      permuted(bytes, {n / 16, 16, rowBytes / 64, 4, 16}, {0, 2, 3, 1, 4});
  for (auto [type, k] :
       {std::pair(ElementType::BF16, 128), std::pair(ElementType::FP8E4M3, 256),
        std::pair(ElementType::FP4E2M1, 512)}) {
    EXPECT_EQ(llvm::cantFail(orderWeights(viewOf(type, n, k, source),
                                          WeightOrder::Packed)),
              shuffled);
  }
}

// 19 rows of 48 bytes: no multiple of anything but 16 bytes along K. The rows
// that fill the second tile are zeros.
TEST(WeightOrderTest, PackedWeightsAreFilledUp) {
  Bytes bytes = someBytes(19 * 48);
  Bytes filled = bytes;
  filled.resize(32 * 48, 0);
  MemorySource source(bytes);
  EXPECT_EQ(
      llvm::cantFail(orderWeights(viewOf(ElementType::BF16, 19, 24, source),
                                  WeightOrder::Packed)),
      permuted(filled, {2, 16, 3, 16}, {0, 2, 1, 3}));
}

// 1024 bytes hold 16 rows of 128 elements, lane by lane: lane 17 has row 1 and
// the elements from 32 on.
TEST(WeightOrderTest, AFragmentIsInLaneOrder) {
  Bytes bytes = someBytes(16 * 64);
  MemorySource source(bytes);
  Bytes found = llvm::cantFail(orderWeights(
      viewOf(ElementType::FP4E2M1, 16, 128, source), WeightOrder::Aiter));
  EXPECT_EQ(Bytes(found.begin() + 17 * 16, found.begin() + 18 * 16),
            Bytes(bytes.begin() + 64 + 16, bytes.begin() + 64 + 32));
}

// Strides do not show.
TEST(WeightOrderTest, StridedRows) {
  Bytes bytes = someBytes(16 * 48);
  MemorySource source(bytes);
  TensorView view{ElementType::FP4E2M1, {16, 64}, {96, 1}, &source};
  Bytes found = llvm::cantFail(orderWeights(view, WeightOrder::Aiter));
  EXPECT_EQ(found.size(), 16u * 32);
  EXPECT_EQ(Bytes(found.begin() + 3 * 16, found.begin() + 4 * 16),
            Bytes(bytes.begin() + 3 * 48, bytes.begin() + 3 * 48 + 16));
}

// e8m0_shuffle: [R/32, 2, 16][C/8, 2, 4] becomes [R/32, C/8, 4, 16, 2, 2].
TEST(WeightOrderTest, Scales) {
  const uint64_t rows = 256, blocks = 16;
  Bytes bytes = someBytes(rows * blocks);
  MemorySource source(bytes);
  Bytes found = llvm::cantFail(orderScales(
      viewOf(ElementType::E8M0, rows, blocks, source), WeightOrder::Aiter));
  EXPECT_EQ(found, permuted(bytes, {rows / 32, 2, 16, blocks / 8, 2, 4},
                            {0, 3, 5, 2, 4, 1}));
}

// The halves of a dword's rows are gate and up.
TEST(WeightOrderTest, InterleavedScales) {
  const uint64_t rows = 256, blocks = 8;
  Bytes bytes = someBytes(rows * blocks);
  MemorySource source(bytes);
  Bytes found = llvm::cantFail(
      orderScales(viewOf(ElementType::E8M0, rows, blocks, source),
                  WeightOrder::AiterInterleaved));
  EXPECT_EQ(found, permuted(bytes, {2, rows / 32, 16, blocks / 8, 2, 4},
                            {1, 3, 5, 2, 4, 0}));
}

// 12 blocks, as of K = 384, and 48 rows: filled up to 16 and 256 with NaN.
TEST(WeightOrderTest, ScalesAreFilledUp) {
  const uint64_t rows = 48, blocks = 12;
  Bytes bytes(rows * blocks, 100);
  MemorySource source(bytes);
  Bytes found = llvm::cantFail(orderScales(
      viewOf(ElementType::E8M0, rows, blocks, source), WeightOrder::Aiter));
  EXPECT_EQ(found.size(), 256u * 16);
  EXPECT_EQ(std::count(found.begin(), found.end(), 100), 48 * 12);
  EXPECT_EQ(std::count(found.begin(), found.end(), 0xff), 256 * 16 - 48 * 12);
  // Rows 32 .. 47 have no partner: half of each of their words is filled up.
  EXPECT_EQ(Bytes(found.begin() + 32 * 16, found.begin() + 32 * 16 + 4),
            (Bytes{100, 0xff, 100, 0xff}));
}

// The order of Tenon fills up to 32 rows and 8 blocks, with zeros.
TEST(WeightOrderTest, PackedScales) {
  const uint64_t rows = 40, blocks = 12;
  Bytes bytes = someBytes(rows * blocks);
  MemorySource source(bytes);
  Bytes filled(64 * 16, 0);
  for (uint64_t row = 0; row < rows; ++row) {
    std::copy_n(bytes.begin() + row * blocks, blocks,
                filled.begin() + row * 16);
  }
  EXPECT_EQ(llvm::cantFail(
                orderScales(viewOf(ElementType::E8M0, rows, blocks, source),
                            WeightOrder::Packed)),
            permuted(filled, {2, 2, 16, 2, 2, 4}, {0, 3, 5, 2, 4, 1}));
}

TEST(WeightOrderTest, SizesThatDoNotDivide) {
  Bytes bytes(64 * 64);
  MemorySource source(bytes);
  auto weightsError = [&](int64_t n, int64_t k, WeightOrder order) {
    return llvm::toString(
        orderWeights(viewOf(ElementType::FP4E2M1, n, k, source), order)
            .takeError());
  };
  EXPECT_EQ(weightsError(24, 64, WeightOrder::Aiter),
            "N must be a multiple of 16 in this order of weights, found 24");
  EXPECT_EQ(weightsError(48, 64, WeightOrder::AiterInterleaved),
            "N must be a multiple of 32 in this order of weights, found 48");
  EXPECT_EQ(weightsError(16, 96, WeightOrder::Aiter),
            "K must be a multiple of 64 in this order of weights, found 96");
  EXPECT_EQ(
      llvm::toString(orderWeights(viewOf(ElementType::BF16, 8, 12, source),
                                  WeightOrder::Packed)
                         .takeError()),
      "K must be a multiple of 8 in this order of weights, found 12");
  EXPECT_EQ(
      llvm::toString(orderWeights(viewOf(ElementType::BF16, 16, 64, source),
                                  WeightOrder::Aiter)
                         .takeError()),
      "there are no weights of bf16 in this order");
  EXPECT_EQ(llvm::toString(orderScales(viewOf(ElementType::E8M0, 40, 2, source),
                                       WeightOrder::Aiter)
                               .takeError()),
            "N must be a multiple of 16 in this order of weights, found 40");
}

} // namespace
