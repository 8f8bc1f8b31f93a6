//===- TensorTest.cpp - Strided views of operands ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/Tensor.h"

#include "llvm/Support/Endian.h"

#include <gtest/gtest.h>

using namespace tenon::reference;

namespace {

using Shape = llvm::SmallVector<int64_t, 4>;

/// i32 elements whose value is their own index, without end.
class CountingSource : public ByteSource {
public:
  void read(uint64_t offset,
            llvm::MutableArrayRef<uint8_t> bytes) const override {
    for (uint8_t &byte : bytes) {
      byte = uint8_t((offset / 4) >> (offset % 4 * 8));
      ++offset;
    }
  }
};

TEST(TensorTest, DenseStrides) {
  EXPECT_EQ(denseStrides({2, 3, 5}), Shape({15, 5, 1}));
  EXPECT_EQ(denseStrides({7}), Shape({1}));
  EXPECT_EQ(denseStrides({}), Shape());
}

TEST(TensorTest, ElementsAreFoundByStride) {
  CountingSource source;
  TensorView view{ElementType::I32, {3, 2, 4}, {100, 10, 1}, &source};
  EXPECT_EQ(view.intAt({2, 1, 3}), 213);
  EXPECT_EQ(view.at({0, 0, 0}), 0);
  EXPECT_EQ(view.block({1, 0, 2}, {2, 2, 2}),
            (std::vector<double>{102, 103, 112, 113, 202, 203, 212, 213}));
}

// A transposed view has no runs: its innermost stride is not 1.
TEST(TensorTest, TransposedViews) {
  CountingSource source;
  TensorView view{ElementType::I32, {2, 3}, {1, 10}, &source};
  EXPECT_EQ(view.block({0, 0}, {2, 3}),
            (std::vector<double>{0, 10, 20, 1, 11, 21}));
}

TEST(TensorTest, OffsetsPassFourGiB) {
  CountingSource source;
  // The source counts modulo 2^32: element 2^33 + 5 reads as 5.
  TensorView view{ElementType::I32, {3, 8}, {int64_t(1) << 32, 1}, &source};
  EXPECT_EQ(view.intAt({2, 5}), 5);
  EXPECT_EQ(view.spanBytes(), ((uint64_t(2) << 32) + 8) * 4);
}

TEST(TensorTest, FourBitElementsShareBytes) {
  const uint8_t bytes[] = {0x21, 0x43, 0x65};
  MemorySource source(bytes);
  TensorView view{ElementType::FP4E2M1, {2, 3}, {3, 1}, &source};
  EXPECT_EQ(view.codes({0, 0}, {2, 3}),
            (std::vector<uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(view.codes({1, 1}, {1, 2}), (std::vector<uint64_t>{5, 6}));
  EXPECT_EQ(view.spanBytes(), 3u);
}

TEST(TensorTest, EmptyBlocksReadNothing) {
  TensorView view{ElementType::F32, {0, 4}, {4, 1}, nullptr};
  EXPECT_TRUE(view.block({0, 0}, {0, 4}).empty());
  EXPECT_EQ(view.spanBytes(), 0u);
}

TEST(TensorTest, NegativeIntegers) {
  uint8_t bytes[8];
  llvm::support::endian::write64le(bytes, uint64_t(-3));
  MemorySource source(bytes);
  EXPECT_EQ(TensorView::dense(ElementType::I64, {1}, &source).intAt({0}), -3);
  EXPECT_EQ(TensorView::dense(ElementType::I32, {1}, &source).intAt({0}), -3);
  EXPECT_EQ(TensorView::dense(ElementType::I8, {1}, &source).intAt({0}), -3);
}

} // namespace
