//===- GemmTest.cpp - Semantics of tenon.gemm -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/Gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

using namespace tenon::reference;

namespace {

using Values = std::vector<double>;

/// An operand in host memory, rows `gap` elements apart; gaps hold all ones,
/// which is NaN in every type but FP4, and there -6.
struct Storage {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  Values values;
  int64_t gap = 0;

  std::vector<uint8_t> bytes() const {
    int64_t rowSize = shape.size() == 2 ? shape[1] : 1;
    unsigned bits = bitWidth(type);
    std::vector<uint8_t> result(
        (values.size() / std::max<int64_t>(rowSize, 1) * (rowSize + gap)) *
            bits / 8,
        0xff);
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t at = (i / rowSize * (rowSize + gap) + i % rowSize) * bits;
      uint64_t code = encode(type, values[i]);
      for (unsigned bit = 0; bit < bits; ++bit) {
        uint8_t mask = uint8_t(1 << ((at + bit) % 8));
        uint8_t &byte = result[(at + bit) / 8];
        byte = (code >> bit) & 1 ? byte | mask : byte & ~mask;
      }
    }
    return result;
  }
};

/// Operands of one call.
struct Call {
  GemmParams params;
  std::map<std::string, Storage> operands;
  std::optional<IndexRange> rows, columns;

  void set(const char *name, ElementType type, std::vector<int64_t> shape,
           Values values, int64_t gap = 0) {
    operands[name] = {type, std::move(shape), std::move(values), gap};
  }

  /// Random values that the type holds, of the given shape.
  void fill(const char *name, ElementType type, std::vector<int64_t> shape,
            Distribution distribution, int64_t gap = 0) {
    int64_t count = 1;
    for (int64_t size : shape) {
      count *= size;
    }
    Values values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(decode(
          type, encode(type, distribution.sample(randomKey(5, name), i))));
    }
    set(name, type, std::move(shape), std::move(values), gap);
  }
};

/// A call's operands as the reference takes them.
class Memory {
public:
  explicit Memory(const Call &call) {
    for (const auto &[name, operand] : call.operands) {
      storage.push_back(
          std::make_unique<std::vector<uint8_t>>(operand.bytes()));
      sources.push_back(std::make_unique<MemorySource>(*storage.back()));
      TensorView view =
          TensorView::dense(operand.type, operand.shape, sources.back().get());
      view.strides[0] += operand.gap;
      views[name] = view;
    }
  }

  Gemm::Operands views;

private:
  std::vector<std::unique_ptr<std::vector<uint8_t>>> storage;
  std::vector<std::unique_ptr<MemorySource>> sources;
};

/// What the reference expects of out, row after row of the computed part.
Values run(const Call &call) {
  Memory memory(call);
  Gemm gemm = llvm::cantFail(
      Gemm::create(call.params, memory.views, call.rows, call.columns));
  Values result;
  int64_t next = gemm.rows().begin;
  gemm.emitRows(gemm.rows(), [&](Region &&region) {
    EXPECT_EQ(region.operand, "out");
    EXPECT_EQ(region.group, "row " + std::to_string(next));
    EXPECT_EQ(region.offset,
              (llvm::SmallVector<int64_t, 4>{next, gemm.columns().begin}));
    EXPECT_EQ(region.extents,
              (llvm::SmallVector<int64_t, 4>{1, gemm.columns().size()}));
    result.insert(result.end(), region.expected.begin(), region.expected.end());
    ++next;
  });
  EXPECT_EQ(next, gemm.columns().size() ? gemm.rows().end : gemm.rows().begin);
  return result;
}

std::string errorOf(const Call &call) {
  Memory memory(call);
  return llvm::toString(
      Gemm::create(call.params, memory.views, call.rows, call.columns)
          .takeError());
}

void expectNear(const Values &found, const Values &expected, double relative) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i],
                relative * std::fabs(expected[i]) + 1e-300)
        << "element " << i;
  }
}

constexpr ElementType bf16 = ElementType::BF16, fp8 = ElementType::FP8E4M3,
                      fp4 = ElementType::FP4E2M1, e8m0 = ElementType::E8M0,
                      f32 = ElementType::F32;

//===----------------------------------------------------------------------===//
// Products by hand
//===----------------------------------------------------------------------===//

/// Two tokens, three rows of weights, K = 8.
Call smallCall() {
  Call call;
  call.set("x", bf16, {2, 8},
           {1, 2, 3, 4, 5, 6, 7, 8, //
            0, 1, 0, 0, 0, 0, 0, -1});
  call.set("weights", bf16, {3, 8}, {1,    0,    0, 0, 0, 0, 0, 0, //
                                     1,    1,    1, 1, 1, 1, 1, 1, //
                                     -0.5, 0.25, 0, 0, 0, 0, 0, 2});
  call.set("out", bf16, {2, 3}, {100, 200, 300, 400, 500, 600});
  return call;
}

TEST(GemmTest, ProductsByHand) {
  EXPECT_EQ(run(smallCall()), (Values{1, 36, 16, 0, 0, -1.75}));
}

TEST(GemmTest, AddByHand) {
  Call call = smallCall();
  call.params.epilogue = GemmEpilogue::Add;
  EXPECT_EQ(run(call), (Values{101, 236, 316, 400, 500, 598.25}));
}

// sigmoid(0) is one half, sigmoid(2) from tables.
TEST(GemmTest, SigmoidGateByHand) {
  Call call = smallCall();
  call.params.epilogue = GemmEpilogue::SigmoidGate;
  call.set("x", bf16, {1, 8}, {2, 0, 0, 0, 0, 0, 0, 0});
  call.set("weights", bf16, {2, 8},
           {1, 0, 0, 0, 0, 0, 0, 0, //
            0, 1, 1, 1, 1, 1, 1, 1});
  call.set("multiplicand", bf16, {1, 2}, {3, 8});
  call.set("out", f32, {1, 2}, {NAN, NAN});
  expectNear(run(call), {3 * 0.8807970779778823, 4}, 1e-15);
}

/// Two columns of gate, 4 and -2, and two of up, 25 and -50.
Call gatedCall(GemmEpilogue epilogue) {
  Call call;
  call.params.epilogue = epilogue;
  call.set("x", bf16, {1, 8}, {1, 0, 0, 0, 0, 0, 0, 0});
  Values weights(32, 7);
  weights[0] = 4, weights[8] = -2, weights[16] = 25, weights[24] = -50;
  call.set("weights", bf16, {4, 8}, weights);
  call.set("out", bf16, {1, 2}, {NAN, NAN});
  return call;
}

// 4 tanh(1) sigmoid(4) * 25 tanh(1), 4 tanh(-1/2) sigmoid(-2) * 25 tanh(-2).
TEST(GemmTest, SituByHand) {
  Call call = gatedCall(GemmEpilogue::SiTU);
  expectNear(run(call), {56.95931951108434, 5.310414897352633}, 1e-14);
  // Other constants: 2 tanh(2) sigmoid(4) * 50 tanh(1/2) and so on.
  call.params.beta = 2;
  call.params.linearBeta = 50;
  expectNear(run(call),
             {2 * std::tanh(2.0) / (1 + std::exp(-4.0)) * 50 * std::tanh(0.5),
              2 * std::tanh(-1.0) / (1 + std::exp(2.0)) * 50 * std::tanh(-1.0)},
             1e-14);
}

TEST(GemmTest, SiluByHand) {
  expectNear(run(gatedCall(GemmEpilogue::SiLU)),
             {4 * 0.9820137900379085 * 25, -2 * 0.11920292202211755 * -50},
             1e-14);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

// Nibbles: the even k is the low half of a byte; scales are 2^(code - 127).
TEST(GemmTest, Mxfp4ByHand) {
  Call call;
  call.set("out", f32, {1, 1}, {NAN});
  call.fill("x", fp4, {1, 64}, Distribution::normal(0, 0));
  call.fill("weights", fp4, {1, 64}, Distribution::normal(0, 0));
  call.set("x_scale", e8m0, {1, 2}, {2, 8});
  call.set("weight_scale", e8m0, {1, 2}, {0.5, 32});
  Memory memory(call);
  // Codes of E2M1: 1 is 0.5, 3 is 1.5, 7 is 6, 0xf is -6.
  std::vector<uint8_t> x(32, 0), weights(32, 0);
  x[1] = 0x73;       // k = 2: 1.5, k = 3: 6
  weights[1] = 0xf1; // 0.5 and -6
  x[31] = 0x10;      // k = 63: 0.5
  weights[31] = 0x73;
  MemorySource xSource(x), weightsSource(weights);
  memory.views["x"] = TensorView::dense(fp4, {1, 64}, &xSource);
  memory.views["weights"] = TensorView::dense(fp4, {1, 64}, &weightsSource);
  Gemm gemm = llvm::cantFail(Gemm::create(call.params, memory.views));
  Values found;
  gemm.emitRows(gemm.rows(), [&](Region &&region) { found = region.expected; });
  EXPECT_EQ(found, (Values{(1.5 * 0.5 - 36) * 2 * 0.5 + 0.5 * 6 * 8 * 32}));
}

/// A call of the types of a format with random data, N = 5 and K = 96.
Call formatCall(ElementType x, ElementType weights, int64_t rows = 3) {
  Call call;
  auto fill = [&](const char *name, ElementType type,
                  std::vector<int64_t> shape, int64_t gap) {
    call.fill(name, type, std::move(shape), gemmDistribution(name, x, weights),
              gap);
  };
  const int64_t n = 5, k = 96;
  fill("x", x, {rows, k}, 32);
  fill("weights", weights, {n, k}, 64);
  if (weights == fp4) {
    fill("weight_scale", e8m0, {n, k / 32}, 1);
    if (x != bf16) {
      fill("x_scale", e8m0, {rows, k / 32}, 5);
    }
  } else if (x == fp8) {
    fill("x_scale", f32, {rows}, 0);
    fill("weight_scale", f32, {n}, 0);
  }
  fill("out", bf16, {rows, n}, 3);
  return call;
}

/// The value of an operand's element times its scale, from the numbers that it
/// was made of.
double element(const Call &call, const std::string &operand, int64_t row,
               int64_t k) {
  const Storage &data = call.operands.at(operand);
  double value = data.values[row * data.shape[1] + k];
  auto scale = call.operands.find(operand == "x" ? "x_scale" : "weight_scale");
  if (scale == call.operands.end()) {
    return value;
  }
  const Storage &scales = scale->second;
  return value * (scales.shape.size() == 1
                      ? scales.values[row]
                      : scales.values[row * scales.shape[1] + k / 32]);
}

// Every pair of types, with gaps between rows that would show.
TEST(GemmTest, EveryFormat) {
  const std::pair<ElementType, ElementType> formats[] = {
      {bf16, bf16}, {fp8, fp8}, {fp4, fp4}, {fp8, fp4}, {bf16, fp4}};
  for (auto [x, weights] : formats) {
    Call call = formatCall(x, weights);
    Values expected;
    double largest = 0;
    for (int64_t m = 0; m < 3; ++m) {
      for (int64_t n = 0; n < 5; ++n) {
        double sum = 0;
        for (int64_t k = 95; k >= 0; --k) {
          sum += element(call, "x", m, k) * element(call, "weights", n, k);
        }
        expected.push_back(sum);
        largest = std::max(largest, std::fabs(sum));
      }
    }
    SCOPED_TRACE((name(x) + " x " + name(weights)).str());
    Values found = run(call);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-13 * largest);
    }
    // Data of the order of 1, as the comparison of kernels wants them.
    EXPECT_GT(largest, 0.1);
    EXPECT_LT(largest, 100);
  }
}

// More rows of weights than share a pass, and not a multiple of them.
TEST(GemmTest, ManyColumns) {
  Call call;
  call.fill("x", bf16, {1, 8}, Distribution::normal(0, 1));
  call.set("weights", bf16, {37, 8}, Values(37 * 8, 0));
  Values expected;
  for (int64_t n = 0; n < 37; ++n) {
    call.operands["weights"].values[n * 8 + n % 8] = double(n);
    expected.push_back(n * call.operands["x"].values[n % 8]);
  }
  call.set("out", f32, {1, 37}, Values(37, NAN));
  expectNear(run(call), expected, 1e-15);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// Fills the rows of \p operand outside [begin, end) with NaN.
void poison(Call &call, const std::string &operand, int64_t begin,
            int64_t end) {
  Storage &data = call.operands.at(operand);
  int64_t rows = data.shape[0];
  int64_t size = int64_t(data.values.size()) / rows;
  for (int64_t row = 0; row < rows; ++row) {
    if (row < begin || row >= end) {
      std::fill_n(data.values.begin() + row * size, size, NAN);
    }
  }
}

/// The block of a row-major matrix.
Values blockOf(const Values &matrix, int64_t width, IndexRange rows,
               IndexRange columns) {
  Values result;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    for (int64_t column = columns.begin; column < columns.end; ++column) {
      result.push_back(matrix[row * width + column]);
    }
  }
  return result;
}

// A range gives its part of the whole and reads nothing beyond it.
TEST(GemmTest, RangesAreParts) {
  const std::pair<ElementType, ElementType> formats[] = {
      {bf16, bf16}, {fp8, fp8}, {bf16, fp4}};
  for (auto [x, weights] : formats) {
    Call call = formatCall(x, weights, 4);
    call.params.epilogue = GemmEpilogue::Add;
    Values whole = run(call);
    call.rows = IndexRange{1, 3};
    call.columns = IndexRange{2, 5};
    poison(call, "x", 1, 3);
    poison(call, "out", 1, 3);
    if (weights != fp4) {
      poison(call, "weights", 2, 5);
    }
    if (weights != bf16) {
      poison(call, "weight_scale", 2, 5);
    }
    if (x == fp8) {
      poison(call, "x_scale", 1, 3);
    }
    EXPECT_EQ(run(call), blockOf(whole, 5, {1, 3}, {2, 5}));
  }
}

// The columns of a gated product need the same rows of gate and of up.
TEST(GemmTest, GatedRange) {
  Call call;
  call.params.epilogue = GemmEpilogue::SiLU;
  call.fill("x", bf16, {2, 8}, Distribution::normal(0, 1));
  call.fill("weights", bf16, {12, 8}, Distribution::normal(0, 1));
  call.set("out", bf16, {2, 6}, Values(12, NAN));
  Values whole = run(call);
  call.columns = IndexRange{2, 4};
  for (int64_t row = 0; row < 12; ++row) {
    if (row % 6 < 2 || row % 6 >= 4) {
      std::fill_n(call.operands["weights"].values.begin() + row * 8, 8, NAN);
    }
  }
  EXPECT_EQ(run(call), blockOf(whole, 6, {0, 2}, {2, 4}));
}

TEST(GemmTest, EmptyRanges) {
  Call call = smallCall();
  call.columns = IndexRange{3, 3};
  EXPECT_TRUE(run(call).empty());
  call.columns = std::nullopt;
  call.rows = IndexRange{0, 0};
  EXPECT_TRUE(run(call).empty());
}

// Skipped rows are the blocks that would be written, without values.
TEST(GemmTest, SkippedRows) {
  Call call = smallCall();
  call.columns = IndexRange{1, 3};
  Memory memory(call);
  Gemm gemm = llvm::cantFail(
      Gemm::create(call.params, memory.views, call.rows, call.columns));
  std::vector<Region> regions;
  gemm.skipRows({1, 2},
                [&](Region &&region) { regions.push_back(std::move(region)); });
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_TRUE(regions[0].skipped);
  EXPECT_TRUE(regions[0].expected.empty());
  EXPECT_EQ(regions[0].offset, (llvm::SmallVector<int64_t, 4>{1, 1}));
  EXPECT_EQ(regions[0].extents, (llvm::SmallVector<int64_t, 4>{1, 2}));
}

TEST(GemmTest, NoTokens) {
  Call call = smallCall();
  call.set("x", bf16, {0, 8}, {});
  call.set("out", bf16, {0, 3}, {});
  EXPECT_TRUE(run(call).empty());
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(GemmTest, RangeErrors) {
  Call call = smallCall();
  call.columns = IndexRange{1, 4};
  EXPECT_EQ(errorOf(call), "the range of columns: 0 <= begin <= end <= 3 "
                           "expected, begin 1 and end 4 found");
  call.columns = std::nullopt;
  call.rows = IndexRange{-1, 1};
  EXPECT_EQ(errorOf(call), "the range of rows: 0 <= begin <= end <= 2 "
                           "expected, begin -1 and end 1 found");
  call.rows = IndexRange{2, 1};
  EXPECT_NE(errorOf(call).find("begin 2 and end 1"), std::string::npos);
}

TEST(GemmTest, OperandErrors) {
  Call call = smallCall();
  call.set("weights", bf16, {3, 16}, Values(48, 0));
  EXPECT_EQ(errorOf(call),
            "operand 'weights': shape [?, 8] expected, [3, 16] found");
  call = smallCall();
  call.set("weights", fp8, {3, 8}, Values(24, 0));
  EXPECT_EQ(errorOf(call), "operands 'x' and 'weights': a product of bf16 and "
                           "f8E4M3FN is not defined");
  call = smallCall();
  call.set("x", bf16, {2, 12}, Values(24, 0));
  call.set("weights", bf16, {3, 12}, Values(36, 0));
  EXPECT_EQ(errorOf(call), "K must be a positive multiple of 8 for bf16 x "
                           "bf16, found 12");
  call = smallCall();
  call.params.epilogue = GemmEpilogue::SiLU;
  EXPECT_EQ(errorOf(call), "operand 'weights': an even number of rows "
                           "expected, half gate and half up, 3 found");
  call = smallCall();
  call.params.epilogue = GemmEpilogue::SigmoidGate;
  EXPECT_EQ(errorOf(call), "operand 'multiplicand' is missing");
  call = formatCall(fp4, fp4);
  call.set("x_scale", e8m0, {3, 4}, Values(12, 1));
  EXPECT_EQ(errorOf(call),
            "operand 'x_scale': shape [3, 3] expected, [3, 4] found");
  call = formatCall(fp8, fp8);
  call.set("weight_scale", e8m0, {5}, Values(5, 1));
  EXPECT_EQ(errorOf(call),
            "operand 'weight_scale': type f32 expected, f8E8M0FNU found");
}

} // namespace
