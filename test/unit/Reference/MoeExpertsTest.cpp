//===- MoeExpertsTest.cpp - Semantics of tenon.moe_experts ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MoeExperts.h"
#include "tenon/Reference/Generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

using namespace tenon::reference;

namespace {

using Values = std::vector<double>;

constexpr int64_t experts = 3, chosen = 2, width = 64, inner = 32;

/// Operands in host memory.
class Memory {
public:
  /// The values must be those of the type.
  void set(const char *name, ElementType type, std::vector<int64_t> shape,
           const Values &values) {
    unsigned bits = bitWidth(type);
    auto bytes = std::make_unique<std::vector<uint8_t>>(
        (values.size() * bits + 7) / 8, 0);
    for (size_t i = 0; i < values.size(); ++i) {
      uint64_t code = encode(type, values[i]);
      for (unsigned bit = 0; bit < bits; ++bit) {
        (*bytes)[(i * bits + bit) / 8] |= ((code >> bit) & 1)
                                          << ((i * bits + bit) % 8);
      }
    }
    storage.push_back(std::move(bytes));
    sources.push_back(std::make_unique<MemorySource>(*storage.back()));
    views[name] = TensorView::dense(type, shape, sources.back().get());
    contents[name] = values;
  }

  void fill(const char *name, ElementType type, std::vector<int64_t> shape,
            Distribution distribution) {
    int64_t count = 1;
    for (int64_t size : shape) {
      count *= size;
    }
    Values values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(decode(
          type, encode(type, distribution.sample(randomKey(5, name), i))));
    }
    set(name, type, std::move(shape), values);
  }

  MoeExperts::Operands views;
  std::map<std::string, Values> contents;

private:
  std::vector<std::unique_ptr<std::vector<uint8_t>>> storage;
  std::vector<std::unique_ptr<MemorySource>> sources;
};

/// Operands for \p ids, two a token.
std::unique_ptr<Memory> operands(const Values &ids) {
  int64_t tokens = int64_t(ids.size()) / chosen;
  auto memory = std::make_unique<Memory>();
  memory->fill("x", ElementType::BF16, {tokens, width},
               Distribution::normal(0, 1));
  memory->set("ids", ElementType::I32, {tokens, chosen}, ids);
  memory->fill("weights", ElementType::F32, {tokens, chosen},
               Distribution::uniform(0.1, 1));
  auto weights = [&](const char *name, const char *scale, int64_t n,
                     int64_t k) {
    memory->fill(name, ElementType::FP4E2M1, {experts, n, k},
                 Distribution::normal(0, 2));
    memory->fill(scale, ElementType::E8M0, {experts, n, k / 32},
                 Distribution::powersOfTwo(-6));
  };
  weights("w13", "w13_scale", 2 * inner, width);
  weights("w2", "w2_scale", width, inner);
  memory->fill("out", ElementType::BF16, {tokens, width},
               Distribution::normal(0, 1));
  return memory;
}

MoeExperts create(const MoeExpertsParams &params, const Memory &memory) {
  return llvm::cantFail(MoeExperts::create(params, memory.views));
}

std::string errorOf(const MoeExpertsParams &params, const Memory &memory) {
  return llvm::toString(MoeExperts::create(params, memory.views).takeError());
}

/// A product of one row with an expert's weights as tenon.gemm computes it.
Values gemm(const Memory &memory, const std::string &name, int64_t expert,
            ElementType type, const Values &codes, const Values &scales,
            GemmParams params) {
  auto k = int64_t(codes.size());
  int64_t n = name == "w13" ? 2 * inner : width;
  auto part = [&](const std::string &operand, int64_t count) {
    const Values &all = memory.contents.at(operand);
    return Values(all.begin() + expert * count,
                  all.begin() + (expert + 1) * count);
  };
  Memory own;
  own.set("x", type, {1, k}, codes);
  own.set("weights", ElementType::FP4E2M1, {n, k}, part(name, n * k));
  own.set("weight_scale", ElementType::E8M0, {n, k / 32},
          part(name + "_scale", n * k / 32));
  if (type != ElementType::BF16) {
    own.set("x_scale", ElementType::E8M0, {1, k / 32}, scales);
  }
  int64_t columns = params.isGated() ? n / 2 : n;
  own.set("out", ElementType::F32, {1, columns}, Values(columns));
  Values result;
  llvm::cantFail(Gemm::create(params, own.views))
      .emitRows({0, 1}, [&](Region &&region) { result = region.expected; });
  return result;
}

/// \p values as codes of \p type (as the values they stand for) and scales.
std::pair<Values, Values> quantised(const Values &values, ElementType type,
                                    ScaleMode mode) {
  Values codes, scales;
  if (type == ElementType::BF16) {
    for (double value : values) {
      codes.push_back(decode(type, encode(type, value)));
    }
    return {codes, scales};
  }
  for (size_t first = 0; first < values.size(); first += 32) {
    ScaledBlock block =
        scaleBlock(llvm::ArrayRef<double>(values).slice(first, 32), type, mode);
    for (uint64_t code : block.codes) {
      codes.push_back(decode(type, code));
    }
    scales.push_back(decode(ElementType::E8M0, block.scale));
  }
  return {codes, scales};
}

std::vector<Region> regionsOf(const MoeExperts &reference) {
  std::vector<Region> regions;
  reference.emitTokens(
      {0, 100}, [&](Region &&region) { regions.push_back(std::move(region)); });
  return regions;
}

} // namespace

// Rows of routes are two products of tenon.gemm with roundings in between.
TEST(MoeExperts, RowsAreTwoProducts) {
  auto memory = operands({0, 2, 1, 0});
  const Values &x = memory->contents["x"];
  const Values &ids = memory->contents["ids"];
  for (ElementType input :
       {ElementType::BF16, ElementType::FP8E4M3, ElementType::FP4E2M1}) {
    for (ElementType intermediate :
         {ElementType::BF16, ElementType::FP8E4M3, ElementType::FP4E2M1}) {
      for (bool isSitu : {false, true}) {
        MoeExpertsParams params;
        params.isSitu = isSitu;
        params.input = input;
        params.intermediate = intermediate;
        params.routes = ElementType::F32;
        params.scaleMode = ScaleMode::Even;
        Values rows = create(params, *memory).routeRows({0, 2});
        for (int64_t route = 0; route < 2 * chosen; ++route) {
          Values row(x.begin() + route / chosen * width,
                     x.begin() + (route / chosen + 1) * width);
          auto [codes, scales] = quantised(row, input, params.scaleMode);
          GemmParams first;
          first.epilogue = isSitu ? GemmEpilogue::SiTU : GemmEpilogue::SiLU;
          first.beta = params.beta;
          first.linearBeta = params.linearBeta;
          auto expert = int64_t(ids[route]);
          Values between =
              gemm(*memory, "w13", expert, input, codes, scales, first);
          std::tie(codes, scales) =
              quantised(between, intermediate, params.scaleMode);
          Values wanted = gemm(*memory, "w2", expert, intermediate, codes,
                               scales, GemmParams());
          for (int64_t column = 0; column < width; ++column) {
            EXPECT_NEAR(rows[route * width + column], wanted[column], 1e-12);
          }
        }
      }
    }
  }
}

// A token's rows are summed with its weights; routes that do not exist add
// nothing, whatever their weight is, and a token without routes is 0.
TEST(MoeExperts, SumsOverRoutes) {
  auto memory = operands({0, 2, -1, 1, 3, -5, 1 << 30, 2});
  Values weights = memory->contents["weights"];
  weights[2] = weights[4] = weights[5] = weights[6] = std::nan("");
  memory->set("weights", ElementType::F32, {4, chosen}, weights);
  MoeExpertsParams params;
  params.routes = ElementType::F32;
  MoeExperts reference = create(params, *memory);
  Values rows = reference.routeRows({0, 4});
  std::vector<Region> regions = regionsOf(reference);
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0].rows, (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(regions[1].rows, (std::vector<int64_t>{2}));
  EXPECT_TRUE(regions[1].exact);
  EXPECT_EQ(regions[1].expectedCodes, std::vector<uint64_t>(width, 0));
  auto row = [&](int64_t route, int64_t column) {
    return rows[route * width + column];
  };
  for (int64_t column = 0; column < width; ++column) {
    EXPECT_NEAR(regions[0].expected[column],
                weights[0] * row(0, column) + weights[1] * row(1, column),
                1e-12);
    EXPECT_NEAR(regions[0].expected[width + column],
                weights[3] * row(3, column), 1e-12);
    EXPECT_NEAR(regions[0].expected[2 * width + column],
                weights[7] * row(7, column), 1e-12);
  }
}

// Ids go through the map, whose elements that are no experts are no routes.
TEST(MoeExperts, Maps) {
  auto memory = operands({4, 0, 1, 3, 2, 5});
  memory->set("expert_map", ElementType::I32, {5}, {1, -1, 7, 0, 2});
  MoeExperts reference = create({}, *memory);
  std::vector<int64_t> found;
  for (int64_t route = 0; route < 6; ++route) {
    found.push_back(reference.expertOf(route / chosen, route % chosen));
  }
  EXPECT_EQ(found, (std::vector<int64_t>{2, 1, -1, 0, -1, -1}));
}

// Tokens beyond num_tokens are not written.
TEST(MoeExperts, CountsTokensOnTheDevice) {
  auto memory = operands({0, 1, 2, 0, 1, 2});
  for (auto [given, wanted] : {std::pair(0, 0), {2, 2}, {3, 3}, {9, 3}}) {
    memory->set("num_tokens", ElementType::I32, {1}, {double(given)});
    MoeExperts reference = create({}, *memory);
    EXPECT_EQ(reference.tokens(), wanted);
    std::vector<Region> regions = regionsOf(reference);
    EXPECT_EQ(regions.empty() ? 0 : int64_t(regions[0].rows.size()), wanted);
  }
  memory->set("num_tokens", ElementType::I32, {1}, {-1});
  EXPECT_EQ(errorOf({}, *memory), "num_tokens must not be negative, found -1");
}

// Rows of routes as results are codes and scales, read back as they are
// compared; those of no route are bytes of 0.
TEST(MoeExperts, RowsOfCodes) {
  auto memory = operands({0, -1, 2, 1});
  // 64 codes and 2 scales, in whole lines.
  memory->set("out", ElementType::I8, {2, chosen, 128},
              Values(2 * chosen * 128));
  MoeExpertsParams params;
  params.routes = ElementType::FP8E4M3;
  MoeExperts reference = create(params, *memory);
  MoeExpertsParams exact = params;
  exact.routes = ElementType::F32;
  memory->set("out", ElementType::BF16, {2, width}, Values(2 * width));
  Values rows = create(exact, *memory).routeRows({0, 2});
  std::vector<Region> regions = regionsOf(reference);
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0].extents,
            (llvm::SmallVector<int64_t, 4>{2, chosen, width + 2}));
  EXPECT_EQ(regions[1].offset, (llvm::SmallVector<int64_t, 4>{0, 1, 0}));
  EXPECT_EQ(regions[1].expectedCodes, std::vector<uint64_t>(width + 2, 0));
  std::vector<uint64_t> codes;
  for (size_t first = 0; first < rows.size(); first += width) {
    std::vector<uint64_t> scales;
    for (int64_t block = 0; block < width; block += 32) {
      ScaledBlock made =
          scaleBlock(llvm::ArrayRef<double>(rows).slice(first + block, 32),
                     ElementType::FP8E4M3, params.scaleMode);
      codes.insert(codes.end(), made.codes.begin(), made.codes.end());
      scales.push_back(made.scale);
    }
    codes.insert(codes.end(), scales.begin(), scales.end());
  }
  Values values = regions[0].valuesOf(codes);
  ASSERT_EQ(values.size(), rows.size());
  EXPECT_EQ(values, regions[0].expected);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NEAR(values[i], rows[i], std::fabs(rows[i]) / 16 + 1e-3);
  }
}

// Operands of other shapes are refused by name.
TEST(MoeExperts, RefusesOtherShapes) {
  auto memory = operands({0, 1});
  memory->fill("w13", ElementType::FP4E2M1, {experts, inner, width},
               Distribution::normal(0, 1));
  EXPECT_NE(errorOf({}, *memory).find("w13"), std::string::npos);
  memory = operands({0, 1});
  memory->views.erase("weights");
  EXPECT_NE(errorOf({}, *memory).find("weights"), std::string::npos);
}

// Coarser types are further from the exact sums; none is not.
TEST(MoeExperts, QuantisationError) {
  auto memory = operands({0, 2, 1, 0});
  auto error = [&](ElementType input, ElementType intermediate) {
    MoeExpertsParams params;
    params.input = input;
    params.intermediate = intermediate;
    params.routes = ElementType::F32;
    return create(params, *memory).quantisationError({0, 2});
  };
  EXPECT_EQ(error(ElementType::BF16, ElementType::F32), 0);
  double bf16 = error(ElementType::BF16, ElementType::BF16);
  double fp8 = error(ElementType::BF16, ElementType::FP8E4M3);
  double fp4 = error(ElementType::BF16, ElementType::FP4E2M1);
  double both = error(ElementType::FP4E2M1, ElementType::FP4E2M1);
  EXPECT_GT(bf16, 1e-4);
  EXPECT_LT(bf16, 4e-3);
  EXPECT_GT(fp8, bf16);
  EXPECT_LT(fp8, 0.06);
  EXPECT_GT(fp4, fp8);
  EXPECT_GT(both, fp4);
  EXPECT_LT(both, 0.5);
}
