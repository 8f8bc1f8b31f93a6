//===- MlaDecodeTest.cpp - attention over a latent cache --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MlaDecode.h"
#include "tenon/Reference/MlaMerge.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tenon::reference;

namespace {
/// Operands in memory. Queries and keys are 0 but for what a test sets.
struct Problem {
  Problem(int64_t requests, int64_t queries, int64_t heads, int64_t pages,
          int64_t page, ElementType type = ElementType::BF16)
      : type(type), shapeOfQ{requests, queries, heads, mlaKeyColumns},
        shapeOfKv{pages, page, mlaKeyColumns},
        q(requests * queries * heads * mlaKeyColumns),
        kv(pages * page * mlaKeyColumns) {
    params.heads = heads;
    params.maxQueries = queries;
  }

  double &key(int64_t page, int64_t row, int64_t column) {
    return kv[(page * shapeOfKv[1] + row) * mlaKeyColumns + column];
  }
  double &query(int64_t request, int64_t token, int64_t head, int64_t column) {
    return q[((request * shapeOfQ[1] + token) * shapeOfQ[2] + head) *
                 mlaKeyColumns +
             column];
  }

  MlaDecode make() {
    auto made = tryMake();
    EXPECT_TRUE(bool(made)) << (made ? "" : toString(made.takeError()));
    return std::move(*made);
  }

  llvm::Expected<MlaDecode> tryMake() {
    MlaDecode::Operands operands;
    auto add = [&](const char *name, ElementType kind,
                   llvm::ArrayRef<int64_t> shape, const auto &values) {
      std::vector<uint8_t> &bytes = memory[name];
      bytes.clear();
      for (auto value : values) {
        uint64_t code = encode(kind, double(value));
        for (unsigned byte = 0; byte < bitWidth(kind) / 8; ++byte) {
          bytes.push_back(uint8_t(code >> (8 * byte)));
        }
      }
      sources[name] = std::make_unique<MemorySource>(bytes);
      operands[name] = TensorView::dense(kind, shape, sources[name].get());
    };
    int64_t requests = shapeOfQ[0];
    add("q", type, shapeOfQ, q);
    add("kv", type, shapeOfKv, kv);
    add("block_table", ElementType::I32,
        {requests, int64_t(table.size()) / requests}, table);
    add("seq_len", ElementType::I32, {requests}, lengths);
    if (type == ElementType::FP8E4M3) {
      add("q_scale", ElementType::F32, {1}, std::vector<double>{qScale});
      add("kv_scale", ElementType::F32, {1}, std::vector<double>{kvScale});
    }
    std::vector<double> none(q.size());
    add("out", ElementType::F32,
        {shapeOfQ[0], shapeOfQ[1], shapeOfQ[2], mlaValueColumns}, none);
    add("lse", ElementType::F32, {shapeOfQ[0], shapeOfQ[1], shapeOfQ[2]}, none);
    return MlaDecode::create(params, operands);
  }

  /// The values of a row, and its lse.
  AttendedRow attend(int64_t request, int64_t row) {
    return make().attend(request, {row}).front();
  }

  ElementType type;
  MlaDecodeParams params;
  llvm::SmallVector<int64_t, 4> shapeOfQ, shapeOfKv;
  std::vector<double> q, kv;
  std::vector<int64_t> table, lengths;
  double qScale = 1, kvScale = 1;
  std::map<std::string, std::vector<uint8_t>> memory;
  std::map<std::string, std::unique_ptr<MemorySource>> sources;
};
} // namespace

// One key has all the weight, and lse is its score; the rotary columns count
// for scores and not for values.
TEST(MlaDecode, OneKey) {
  Problem problem(1, 1, 1, 3, 4);
  problem.params.scale = 0.5;
  problem.table = {2};
  problem.lengths = {1};
  problem.query(0, 0, 0, 0) = 3;
  problem.query(0, 0, 0, 575) = 2;
  problem.key(2, 0, 0) = 4;
  problem.key(2, 0, 511) = -7;
  problem.key(2, 0, 575) = 5;
  AttendedRow row = problem.attend(0, 0);
  EXPECT_NEAR(row.lse, 0.5 * (3 * 4 + 2 * 5), 1e-12);
  EXPECT_NEAR(row.values[0], 4, 1e-12);
  EXPECT_NEAR(row.values[511], -7, 1e-12);
  EXPECT_EQ(row.values[1], 0);
  EXPECT_EQ(row.values.size(), 512u);
}

// Two keys: the weights are the logistic function of the difference of scores.
TEST(MlaDecode, TwoKeys) {
  Problem problem(1, 1, 1, 1, 2);
  problem.params.scale = 0.25;
  problem.table = {0};
  problem.lengths = {2};
  problem.query(0, 0, 0, 0) = 1;
  problem.key(0, 0, 0) = 1;
  problem.key(0, 1, 0) = 9;
  problem.key(0, 0, 1) = 1;
  AttendedRow row = problem.attend(0, 0);
  double first = 1 / (1 + std::exp(2.0));
  EXPECT_NEAR(row.values[1], first, 1e-12);
  EXPECT_NEAR(row.values[0], first + 9 * (1 - first), 1e-12);
  EXPECT_NEAR(row.lse, 2.25 + std::log1p(std::exp(-2.0)), 1e-12);
}

// Keys are found through the table, whatever the pages' order; entries past the
// end are never looked at.
TEST(MlaDecode, Pages) {
  Problem problem(1, 1, 1, 5, 2);
  problem.table = {3, 0, 4, -1, 1 << 30};
  problem.lengths = {5};
  std::vector<std::pair<int64_t, int64_t>> places = {
      {3, 0}, {3, 1}, {0, 0}, {0, 1}, {4, 0}};
  for (size_t i = 0; i < places.size(); ++i) {
    problem.key(places[i].first, places[i].second, i) = 1;
  }
  problem.key(4, 1, 7) = std::nan("");
  AttendedRow row = problem.attend(0, 0);
  for (int64_t column = 0; column < 8; ++column) {
    EXPECT_NEAR(row.values[column], column < 5 ? 0.2 : 0.0, 1e-12);
  }
  EXPECT_NEAR(row.lse, std::log(5.0), 1e-12);
}

// Query t of n sees seq_len - n + 1 + t keys; without causal all see seq_len.
TEST(MlaDecode, QueriesSeeTheirPast) {
  Problem problem(2, 3, 2, 1, 8);
  problem.table = {0, 0};
  problem.lengths = {7, 2};
  for (int64_t key = 0; key < 7; ++key) {
    problem.key(0, key, key) = 1;
  }
  MlaDecode causal = problem.make();
  for (int64_t query = 0; query < 3; ++query) {
    AttendedRow row = causal.attend(0, {query * 2 + 1}).front();
    EXPECT_NEAR(row.lse, std::log(double(5 + query)), 1e-12);
    EXPECT_NEAR(row.values[4 + query], 1.0 / (5 + query), 1e-12);
    EXPECT_EQ(row.values[5 + query], 0);
  }
  // The first query of the second request is before its first key.
  EXPECT_EQ(causal.attend(1, {0}).front().lse, -INFINITY);
  EXPECT_EQ(causal.attend(1, {0}).front().values[0], 0);
  EXPECT_NEAR(causal.attend(1, {4}).front().lse, std::log(2.0), 1e-12);
  problem.params.causal = false;
  for (int64_t row : {0, 3, 5}) {
    EXPECT_NEAR(problem.attend(0, row).lse, std::log(7.0), 1e-12);
  }
}

// Padding has no keys, and no value of any of them matters.
TEST(MlaDecode, Padding) {
  Problem problem(1, 2, 1, 1, 4);
  problem.table = {-5};
  problem.lengths = {0};
  problem.params.causal = false;
  AttendedRow row = problem.attend(0, 1);
  EXPECT_EQ(row.lse, -INFINITY);
  EXPECT_EQ(row.values, std::vector<double>(512, 0.0));
}

// The ranks' results, merged, are those of one that has all keys.
TEST(MlaDecode, RanksMergeToTheWhole) {
  constexpr int64_t keys = 13, queries = 3;
  Problem whole(1, queries, 1, 1, 16);
  whole.table = {0};
  whole.lengths = {keys};
  auto fill = [](double &value, uint64_t index) {
    value = double(int64_t(randomBits(7, index) % 64) - 32) / 16;
  };
  for (int64_t column = 0; column < mlaKeyColumns; ++column) {
    for (int64_t key = 0; key < keys; ++key) {
      fill(whole.key(0, key, column), key * 1000 + column);
    }
    for (int64_t query = 0; query < queries; ++query) {
      fill(whole.query(0, query, 0, column), 100'000 + query * 1000 + column);
    }
  }
  whole.params.scale = 0.05;
  for (int64_t size : {2, 3, 8}) {
    for (int64_t interleave : {1, 4}) {
      std::vector<std::vector<AttendedRow>> parts;
      for (int64_t rank = 0; rank < size; ++rank) {
        Problem part(1, queries, 1, 1, 16);
        part.params = whole.params;
        part.q = whole.q;
        part.table = {0};
        part.lengths = {keys};
        part.params.parallel = {size, interleave, rank};
        int64_t mine = 0;
        for (int64_t key = 0; key < keys; ++key) {
          if (key / interleave % size == rank) {
            for (int64_t column = 0; column < mlaKeyColumns; ++column) {
              part.key(0, mine, column) = whole.key(0, key, column);
            }
            ++mine;
          }
        }
        parts.push_back(part.make().attend(0, {0, 1, 2}));
      }
      for (int64_t query = 0; query < queries; ++query) {
        std::vector<double> logs;
        for (const auto &part : parts) {
          logs.push_back(part[query].lse);
        }
        MergedRow merged = mergeWeights(logs);
        AttendedRow expected = whole.attend(0, query);
        EXPECT_NEAR(merged.lse, expected.lse, 1e-12);
        for (int64_t column = 0; column < mlaValueColumns; ++column) {
          double sum = 0;
          for (size_t rank = 0; rank < parts.size(); ++rank) {
            sum += merged.weights[rank] * parts[rank][query].values[column];
          }
          EXPECT_NEAR(sum, expected.values[column], 1e-12);
        }
      }
    }
  }
}

// FP8: scales multiply scores and values. Weights are rounded after a factor
// 2^8 below a maximum rounded up: 1/2 and 0.03 are 128 and 7.68, of which the
// latter becomes 7.5; the divisor is that of the unrounded ones.
TEST(MlaDecode, WeightsInFp8) {
  Problem problem(1, 1, 1, 1, 2, ElementType::FP8E4M3);
  problem.params.roundsToFp8 = true;
  problem.qScale = 0.5;
  problem.kvScale = 0.25;
  problem.params.scale = std::log(0.5 / 0.03);
  problem.table = {0};
  problem.lengths = {2};
  // Scores ln(1/2) and ln(0.03), but for the same factor: to base 2 the
  // difference is log2(0.5 / 0.03).
  problem.query(0, 0, 0, 0) = 8;
  problem.key(0, 0, 0) = -0.25;
  problem.key(0, 1, 0) = -1.25;
  problem.key(0, 0, 1) = 1;
  problem.key(0, 1, 2) = 1;
  AttendedRow row = problem.attend(0, 0);
  double slope = std::log(0.5 / 0.03);
  double a = -0.25 * slope, b = -1.25 * slope;
  double sum = std::exp(a) + std::exp(b);
  EXPECT_NEAR(row.lse, std::log(sum), 1e-6);
  EXPECT_NEAR(row.values[1], 0.25 * std::exp(a) / sum, 1e-6);
  EXPECT_NEAR(row.values[2], 0.25 * std::exp(b) / sum, 1e-6);
  double most = std::ceil(a / std::log(2.0));
  auto rounded = [&](double score) {
    double weight = std::exp2(score / std::log(2.0) - most) * 256;
    // Four bits of significand.
    double unit = std::exp2(std::floor(std::log2(weight)) - 3);
    return std::nearbyint(weight / unit) * unit / 256 * std::exp2(most);
  };
  EXPECT_NEAR(row.rounded[1], 0.25 * rounded(a) / sum, 1e-6);
  EXPECT_NEAR(row.rounded[2], 0.25 * rounded(b) / sum, 1e-6);
  EXPECT_NE(row.rounded[2], row.values[2]);
}

// Tiny weights keep the bits that the maximum of their slot leaves them. That
// of key 64 is 2^-16.875: against 1 it becomes the least FP8 number, 2^-9 *
// 2^-8, and in a slot of its own, against 2^-16, it is 139.6 and becomes 144.
TEST(MlaDecode, WeightsInFp8BySlot) {
  Problem problem(1, 1, 1, 2, 64, ElementType::FP8E4M3);
  problem.params.roundsToFp8 = true;
  problem.qScale = problem.kvScale = 1;
  problem.params.scale = std::log(2.0);
  problem.table = {0, 1};
  problem.lengths = {65};
  problem.query(0, 0, 0, 0) = 1.125;
  problem.key(1, 0, 0) = -15;
  problem.key(1, 0, 1) = 1;
  double sum = 64 + std::exp2(-16.875);
  MlaDecode op = problem.make();
  double whole = op.attend(0, {0}).front().rounded[1];
  EXPECT_NEAR(whole * sum, std::exp2(-17), 1e-9);
  op.divide({{{0, 0, 64, 2}, {0, 64, 65, 2}, {-1, 0, 0, 0}}});
  double divided = op.attend(0, {0}).front().rounded[1];
  EXPECT_NEAR(divided * sum, 144 * std::exp2(-24), 1e-9);
}

// What is wrong with the operands is said by name.
TEST(MlaDecode, Errors) {
  Problem problem(1, 2, 1, 2, 4);
  problem.lengths = {9};
  auto message = [&] { return toString(problem.tryMake().takeError()); };
  problem.table = {1, 7, 0};
  EXPECT_EQ(message(), "operand 'block_table': a page from 0 to 1 expected for "
                       "key 4 of request 0, 7 found");
  problem.table = {1, 0};
  EXPECT_EQ(message(), "request 0: at most 8 keys expected in 2 pages of 4, 9 "
                       "found");
  problem.lengths = {8};
  problem.params.maxQueries = 1;
  EXPECT_EQ(message(), "request 0: 0 to 1 query tokens expected, 2 found");
  problem.params.heads = 3;
  EXPECT_EQ(message(),
            "operand 'q': shape [1, ?, 3, 576] expected, [1, 2, 1, 576] found");
}
