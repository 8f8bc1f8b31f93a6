//===- GemmHarnessTest.cpp - data and checks of tenon.gemm ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Run/GemmHarness.h"
#include "lib/Run/Check.h"
#include "test/unit/Run/OperandPlan.h"

#include "tenon/Driver/Compile.h"
#include "tenon/Driver/OpCatalogue.h"
#include "tenon/Run/Npy.h"
#include "tenon/Run/Run.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

using namespace tenon;
using namespace tenon::run;
using reference::ElementType;
using reference::TensorView;

namespace {
using Settings = std::vector<std::pair<std::string, std::string>>;

/// A product on the host that makes mistakes on request.
struct Product {
  /// The block of scales along K that is used for block \p block.
  int64_t (*scaleBlock)(int64_t block) = [](int64_t block) { return block; };
  /// The row of x that is used for row \p row.
  int64_t (*row)(int64_t row) = [](int64_t row) { return row; };

  double element(const Views &views, const std::string &data,
                 const std::string &scale, int64_t index, int64_t k) const {
    double value = views.find(data)->second.at({index, k});
    auto found = views.find(scale);
    if (found == views.end()) {
      return value;
    }
    const TensorView &scales = found->second;
    return value * (scales.shape.size() == 1
                        ? scales.at({index})
                        : scales.at({index, scaleBlock(k / 32)}));
  }

  double operator()(const Views &views, int64_t m, int64_t n) const {
    double sum = 0;
    for (int64_t k = 0; k < views.find("x")->second.shape[1]; ++k) {
      sum += element(views, "x", "x_scale", row(m), k) *
             element(views, "weights", "weight_scale", n, k);
    }
    return sum;
  }
};

/// Operands of one call in device memory.
class Call {
public:
  Call(const Settings &settings, RunOptions given) : options(std::move(given)) {
    std::string text = llvm::cantFail(driver::specText("gemm", settings));
    module = session.parseText(text, "gemm");
    module->walk([&](spec::GemmOp op) {
      plan = planOf(op);
      harness = createGemmHarness(op);
    });
    auto created = Operands::create(plan, *harness, options);
    if (!created) {
      error = llvm::toString(created.takeError());
      return;
    }
    operands = std::move(*created);
    llvm::cantFail(operands.allocate(memory));
    auto expected = harness->expect(operands.views(), operands.dims());
    if (!expected) {
      error = llvm::toString(expected.takeError());
      return;
    }
    expectation = std::move(*expected);
  }

  /// Writes out[row, column], rounded to bf16.
  void write(int64_t row, int64_t column, double value) {
    const Operand *out = operands.find("out");
    auto code = uint16_t(reference::encode(ElementType::BF16, value));
    uint8_t bytes[2];
    std::memcpy(bytes, &code, 2);
    llvm::cantFail(memory.write(
        out->address + 2 * (row * out->view.strides[0] + column), bytes));
  }

  /// Writes the products of rows [rowBegin, rowEnd) and of columns.
  void compute(const Product &product, int64_t rowBegin, int64_t rowEnd,
               int64_t columnBegin, int64_t columnEnd) {
    Views views = operands.views();
    for (int64_t row = rowBegin; row < rowEnd; ++row) {
      for (int64_t column = columnBegin; column < columnEnd; ++column) {
        write(row, column, product(views, row, column));
      }
    }
  }

  OperandCheck check() {
    auto checks = llvm::cantFail(
        checkOperands(memory, operands, *expectation, *harness, 2));
    EXPECT_EQ(checks.size(), 1U);
    return checks.front();
  }

  std::string error;
  RunOptions options;
  driver::Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  runtime::Plan plan;
  std::unique_ptr<Harness> harness;
  std::unique_ptr<Expectation> expectation;
  sim::Memory memory;
  Operands operands;
};

RunOptions dims(int64_t m, int64_t n, int64_t k) {
  RunOptions options;
  options.dims = {{"M", m}, {"N", n}, {"K", k}};
  return options;
}
} // namespace

// A bf16 result of exact sums is within the tolerance, in every format.
TEST(GemmHarnessTest, RightResultsPass) {
  for (const char *format :
       {"bf16", "fp8", "mxfp4", "mxfp8_mxfp4", "bf16_mxfp4"}) {
    Call call({{"format", format}}, dims(3, 24, 128));
    ASSERT_EQ(call.error, "");
    call.compute(Product(), 0, 3, 0, 24);
    OperandCheck found = call.check();
    EXPECT_TRUE(found.passed) << format << ": " << found.errors.summary();
    EXPECT_EQ(found.errors.groups(), 3U);
  }
}

// Rounding twice is an error: a sum that is rounded before it is added to out.
TEST(GemmHarnessTest, RoundingTwiceFails) {
  Call call({{"epilogue", "add"}}, dims(2, 200, 2048));
  ASSERT_EQ(call.error, "");
  Views views = call.operands.views();
  auto round = [](double value) {
    return reference::decode(ElementType::BF16,
                             reference::encode(ElementType::BF16, value));
  };
  auto result = [&](int64_t row, int64_t column, bool twice) {
    double sum = Product()(views, row, column);
    return views["out"].at({row, column}) + (twice ? round(sum) : sum);
  };
  for (bool twice : {false, true}) {
    for (int64_t row = 0; row < 2; ++row) {
      for (int64_t column = 0; column < 200; ++column) {
        call.write(row, column, result(row, column, twice));
      }
    }
    EXPECT_EQ(call.check().passed, !twice);
  }
}

// Generated scales are such that one wrong block, or row, shows in every row.
TEST(GemmHarnessTest, WrongScalesFail) {
  for (const char *format : {"mxfp4", "mxfp8_mxfp4", "bf16_mxfp4"}) {
    for (int64_t m = 0; m < 3; ++m) {
      Call call({{"format", format}}, dims(3, 24, 512));
      call.compute(Product(), 0, 3, 0, 24);
      Product product;
      product.scaleBlock = [](int64_t block) { return block == 5 ? 6 : block; };
      call.compute(product, m, m + 1, 0, 24);
      EXPECT_FALSE(call.check().passed) << format << " row " << m;
    }
  }
  Call call({{"format", "fp8"}}, dims(3, 24, 128));
  Product product;
  product.row = [](int64_t row) { return row == 0 ? 1 : row; };
  call.compute(product, 0, 3, 0, 24);
  EXPECT_EQ(call.check().errors.relativeL2().group, "row 0");
}

// Nothing outside the ranges is written, nor read: it is NaN there.
TEST(GemmHarnessTest, Ranges) {
  RunOptions options = dims(6, 24, 16);
  options.scalars = {
      {"row_begin", 2}, {"row_end", 5}, {"col_begin", 3}, {"col_end", 20}};
  options.strides = {{"out", {32}}, {"x", {24}}};
  Settings settings = {{"columns", "on"}, {"rows", "on"}};
  Call call(settings, options);
  ASSERT_EQ(call.error, "");
  EXPECT_EQ(call.operands.scalars(), (llvm::ArrayRef<int64_t>{3, 20, 2, 5}));
  Views views = call.operands.views();
  for (int64_t row = 0; row < 6; ++row) {
    EXPECT_EQ(std::isnan(views["x"].at({row, 0})), row < 2 || row >= 5);
  }
  for (int64_t row = 0; row < 24; ++row) {
    EXPECT_EQ(std::isnan(views["weights"].at({row, 15})), row < 3 || row >= 20);
  }
  call.compute(Product(), 2, 5, 3, 20);
  OperandCheck found = call.check();
  EXPECT_TRUE(found.passed) << found.errors.summary();
  call.write(2, 20, 0);
  EXPECT_EQ(call.check().firstStray,
            "element offset 84 of the operand's memory was changed");
  // Without scalars the ranges are the whole.
  Call whole(settings, dims(6, 24, 16));
  EXPECT_EQ(whole.operands.scalars(), (llvm::ArrayRef<int64_t>{0, 24, 0, 6}));
  whole.compute(Product(), 0, 6, 0, 24);
  EXPECT_TRUE(whole.check().passed);
}

// The sizes that follow from others, and those that have to be given.
TEST(GemmHarnessTest, Sizes) {
  RunOptions options;
  EXPECT_EQ(Call({}, options).error,
            "the number of tokens is not given: --dim M=...");
  options.dims = {{"M", 4}};
  EXPECT_EQ(Call({}, options).error,
            "the number of rows of weights is not given: --dim N=...");
  EXPECT_EQ(Call({{"N", "16"}}, options).error,
            "the size of a row of x is not given: --dim K=...");
  EXPECT_EQ(Call({{"N", "16"}, {"K", "8"}}, options).error, "");

  options.dims = {{"M", 4}, {"I", 6}, {"K", 64}};
  Call gated({{"epilogue", "silu"}, {"format", "mxfp4"}}, options);
  ASSERT_EQ(gated.error, "");
  EXPECT_EQ(gated.operands.find("weights")->view.shape,
            (llvm::SmallVector<int64_t, 4>{12, 64}));
  EXPECT_EQ(gated.operands.find("weight_scale")->view.shape,
            (llvm::SmallVector<int64_t, 4>{12, 2}));
  EXPECT_EQ(gated.operands.find("out")->view.shape,
            (llvm::SmallVector<int64_t, 4>{4, 6}));
  // Two tiles of columns, gate and up; a tile of rows; K in one instruction.
  EXPECT_EQ(gated.expectation->workUnits(), 2U);

  EXPECT_EQ(Call({}, dims(4, 16, 12)).error,
            "K must be a positive multiple of 8 for bf16 x bf16, found 12");
  options = dims(4, 16, 8);
  options.scalars = {{"col_end", 17}};
  EXPECT_EQ(Call({{"columns", "on"}}, options).error,
            "col_begin and col_end: expected 0 <= begin <= end <= 16, found 0 "
            "and 17");
  EXPECT_EQ(Call({{"rows", "on"}}, options).error,
            "--arg col_end: the op has no such scalar; there are: "
            "row_begin, row_end");
  EXPECT_EQ(Call({}, options).error, "--arg col_end: the op has no scalars");
}

// Weights and their scales lie in memory as the host function packs them; a
// scale per row stays as it is.
TEST(GemmHarnessTest, PackedWeights) {
  auto sizeInMemory = [](llvm::StringRef format, int64_t k,
                         const std::string &name) -> std::optional<size_t> {
    Call call({{"format", format.str()}, {"weights", "packed"}},
              dims(4, 18, k));
    EXPECT_EQ(call.error, "");
    const auto &image = call.operands.find(name)->image;
    return image ? std::optional(image->bytes) : std::nullopt;
  };
  EXPECT_EQ(sizeInMemory("bf16", 24, "weights"), 32U * 48);
  EXPECT_EQ(sizeInMemory("fp8", 48, "weights"), 32U * 48);
  EXPECT_EQ(sizeInMemory("fp8", 48, "weight_scale"), std::nullopt);
  EXPECT_EQ(sizeInMemory("mxfp4", 96, "weights"), 32U * 48);
  EXPECT_EQ(sizeInMemory("mxfp4", 96, "weight_scale"), 32U * 8);
}

// Files of 4-bit operands hold two codes per byte, the first in the low half.
TEST(GemmHarnessTest, FilesOfFourBits) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("gemm", "npy", path));
  std::vector<uint8_t> bytes(3 * 32);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = uint8_t(7 * i + 1);
  }
  ASSERT_FALSE(bool(writeNpy(path, NpyType::UInt8, {3, 32}, bytes)));
  RunOptions options;
  options.dims = {{"M", 1}};
  options.inputs = {{"weights", path.str().str()}};
  options.strides = {{"weights", {96}}};
  Call call({{"format", "bf16_mxfp4"}}, options);
  ASSERT_EQ(call.error, "");
  const TensorView &weights = call.operands.find("weights")->view;
  EXPECT_EQ(weights.shape, (llvm::SmallVector<int64_t, 4>{3, 64}));
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t k = 0; k < 64; ++k) {
      uint8_t byte = bytes[row * 32 + k / 2];
      EXPECT_EQ(weights.codes({row, k}, {1, 1}).front(),
                k % 2 ? byte >> 4 : byte & 0xf);
    }
  }
  options.outputs = {{"weights", path.str().str()}};
  ASSERT_FALSE(bool(call.operands.writeOutputs(call.memory, options)));
  NpyArray read = llvm::cantFail(readNpy(path));
  EXPECT_EQ(read.shape(), (llvm::ArrayRef<int64_t>{3, 32}));
  EXPECT_EQ(read.data(), llvm::ArrayRef<uint8_t>(bytes));
  llvm::sys::fs::remove(path);

  options = dims(1, 3, 64);
  options.strides = {{"weights", {65}}};
  EXPECT_EQ(Call({{"format", "bf16_mxfp4"}}, options).error,
            "weights: rows of f4E2M1FN must be whole bytes; a row of 64 "
            "elements and a stride of 65 are not");
}

// Reordered weights: memory holds the order, the reference sees the matrix.
TEST(GemmHarnessTest, OrderOfAiter) {
  Settings settings = {{"format", "mxfp4"}, {"weights", "aiter"}};
  Call call(settings, dims(3, 48, 64));
  ASSERT_EQ(call.error, "");
  Call rowMajor({{"format", "mxfp4"}}, dims(3, 48, 64));
  const Operand *weights = call.operands.find("weights");
  const Operand *scales = call.operands.find("weight_scale");
  std::vector<uint8_t> bytes(48 * 32), plain(48 * 32);
  llvm::cantFail(call.memory.read(weights->address, bytes));
  llvm::cantFail(
      rowMajor.memory.read(rowMajor.operands.find("weights")->address, plain));
  // Row 17, elements 32 .. 63: the second tile, its second chunk of 16 rows.
  EXPECT_EQ(llvm::ArrayRef<uint8_t>(bytes).slice((32 + 16 + 1) * 16, 16),
            llvm::ArrayRef<uint8_t>(plain).slice(17 * 32 + 16, 16));
  // 48 rows and 2 blocks of scales are filled up to 256 and 8.
  EXPECT_EQ(scales->image->bytes, 256U * 8);
  call.compute(Product(), 0, 3, 0, 48);
  EXPECT_TRUE(call.check().passed);
  EXPECT_EQ(Call(settings, dims(3, 40, 64)).error,
            "weights: N must be a multiple of 16 in this order of weights, "
            "found 40");
  RunOptions options = dims(3, 48, 64);
  options.strides = {{"weights", {128}}};
  EXPECT_EQ(Call(settings, options).error,
            "--stride weights: its elements are reordered, it has no strides");
  options.strides = {};
  options.outputs = {{"weights", "weights.npy"}};
  EXPECT_EQ(llvm::toString(call.operands.checkOutputs(options)),
            "--output weights: its elements are reordered, there is no array "
            "of them");
}

// Inputs are kept once made: pieces of any size and place are those of the
// source, also from several threads and where a piece reaches beyond the
// operand.
TEST(GemmHarnessTest, KeptInputs) {
  const int64_t m = 100, k = 1000;
  RunOptions options = dims(m, 8, k);
  options.strides = {{"x", {1008}}};
  Call call({}, options);
  ASSERT_EQ(call.error, "");
  const Operand *x = call.operands.find("x");
  reference::GeneratedSource::Options made;
  made.type = ElementType::BF16;
  made.distribution = call.harness->distribution("x");
  made.rowElements = k;
  made.rowStride = 1008;
  auto source = llvm::cantFail(reference::GeneratedSource::create("x", made));
  auto expectSame = [&](uint64_t offset, uint64_t size) {
    std::vector<uint8_t> found(size), expected(size);
    x->source->read(offset, found);
    source->read(offset, expected);
    EXPECT_EQ(found, expected) << size << " bytes at " << offset;
  };
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] { expectSame(65530, 70000); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  uint64_t size = ((m - 1) * 1008 + k) * 2;
  EXPECT_EQ(x->view.spanBytes(), size);
  expectSame(0, 1);
  expectSame(65535, 2);
  expectSame(size - 5, 50);
  expectSame(size + 3, 16);
}
