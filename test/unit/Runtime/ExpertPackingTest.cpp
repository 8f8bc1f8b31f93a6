//===- ExpertPackingTest.cpp - experts packed by the host -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is expected is read off the packed bytes: for each of them the place in
// the checkpoint that the text of #tenon.weight_layout tells.
//
//===----------------------------------------------------------------------===//

#include "tenon-c/tenon.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using Bytes = std::vector<uint8_t>;

/// The experts of a checkpoint, bytes that hardly ever repeat.
struct Checkpoint {
  int64_t experts, rows, depth;
  Bytes weights, scales;

  Checkpoint(int64_t experts, int64_t rows, int64_t depth)
      : experts(experts), rows(rows), depth(depth),
        weights(bytes(experts * rows * depth / 2, 7)),
        scales(bytes(experts * rows * depth / 32, 11)) {}

  static Bytes bytes(int64_t count, uint64_t state) {
    Bytes result;
    for (int64_t i = 0; i < count; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      result.push_back(uint8_t(state >> 56));
    }
    return result;
  }

  tenon_expert_packing packing(const char *order, bool interleaved) {
    tenon_expert_packing result = {};
    result.struct_bytes = sizeof(result);
    result.experts = experts;
    result.rows = rows;
    result.depth = depth;
    result.order = order;
    result.interleaved = interleaved;
    result.weights = weights.data();
    result.scales = scales.data();
    return result;
  }
};

struct Packed {
  Bytes weights, scales;
};

Packed pack(Checkpoint &from, const char *order, bool interleaved = false) {
  tenon_expert_packing packing = from.packing(order, interleaved);
  uint64_t weights = 0, scales = 0;
  EXPECT_EQ(tenon_expert_packed_bytes(&packing, &weights, &scales), TENON_OK);
  Packed result{Bytes(weights, 0xee), Bytes(scales, 0xee)};
  packing.packed = result.weights.data();
  packing.packed_scales = result.scales.data();
  EXPECT_EQ(tenon_expert_pack(&packing), TENON_OK) << tenon_last_error();
  return result;
}

/// Row \p row of the packed form, in the checkpoint.
int64_t sourceRow(const Checkpoint &from, const std::string &order,
                  bool interleaved, int64_t row) {
  bool isUp = row >= from.rows / 2;
  int64_t within = row % (from.rows / 2);
  if (order == "aiter_interleaved") {
    isUp = row / 16 % 2;
    within = row / 32 * 16 + row % 16;
  }
  return interleaved ? 2 * within + isUp : isUp * (from.rows / 2) + within;
}

/// Compares every byte of \p packed.
void expectPacked(const Checkpoint &from, const std::string &order,
                  bool interleaved, const Packed &packed) {
  bool swaps = interleaved || order == "aiter_interleaved";
  auto place = [&](int64_t row) {
    return swaps ? sourceRow(from, order, interleaved, row) : row;
  };
  int64_t rowBytes = from.depth / 2, blocks = from.depth / 32;
  int64_t tiles = (from.rows + 15) / 16, groups = (blocks + 7) / 8;
  int64_t perExpert = tiles * 16 * rowBytes;
  ASSERT_EQ(int64_t(packed.weights.size()), from.experts * perExpert);
  for (int64_t at = 0; at < int64_t(packed.weights.size()); ++at) {
    int64_t expert = at / perExpert, inside = at % perExpert;
    int64_t row = inside / (16 * rowBytes) * 16 + inside / 16 % 16;
    int64_t column = inside % (16 * rowBytes) / 256 * 16 + inside % 16;
    int wanted =
        row < from.rows
            ? from.weights[(expert * from.rows + place(row)) * rowBytes +
                           column]
            : 0;
    ASSERT_EQ(packed.weights[at], wanted) << "byte " << at << " of weights";
  }
  int64_t scaleTiles = (from.rows + 31) / 32;
  int64_t scalesPerExpert = scaleTiles * groups * 256;
  ASSERT_GE(int64_t(packed.scales.size()), from.experts * scalesPerExpert);
  for (int64_t at = 0; at < int64_t(packed.scales.size()); ++at) {
    int64_t expert = at / scalesPerExpert, inside = at % scalesPerExpert;
    int64_t tile = inside / (groups * 256), group = inside / 256 % groups;
    int64_t row = tile * 32 + inside % 2 * 16 + inside / 4 % 16;
    int64_t block = group * 8 + inside / 2 % 2 * 4 + inside / 64 % 4;
    bool exists = expert < from.experts && row < from.rows && block < blocks;
    int wanted =
        exists ? from.scales[(expert * from.rows + place(row)) * blocks + block]
               : 0;
    ASSERT_EQ(packed.scales[at], wanted) << "byte " << at << " of scales";
  }
}

/// All orders, with rows and blocks that are filled up.
TEST(ExpertPacking, EveryByte) {
  struct Case {
    int64_t experts, rows, depth;
    const char *order;
    bool interleaved;
  };
  for (const Case &test :
       {Case{3, 64, 512, "packed", false}, Case{2, 37, 96, "packed", false},
        Case{1, 1, 32, "packed", false}, Case{2, 128, 384, "packed", true},
        Case{3, 96, 192, "aiter", false},
        Case{2, 192, 64, "aiter_interleaved", false},
        Case{2, 64, 320, "aiter_interleaved", true}}) {
    SCOPED_TRACE(std::string(test.order) + " " + std::to_string(test.rows));
    Checkpoint from(test.experts, test.rows, test.depth);
    expectPacked(from, test.order, test.interleaved,
                 pack(from, test.order, test.interleaved));
  }
}

/// The memory of a checkpoint serves as that of the result.
TEST(ExpertPacking, InPlace) {
  Checkpoint from(3, 64, 256);
  Packed wanted = pack(from, nullptr);
  tenon_expert_packing packing = from.packing(nullptr, false);
  packing.packed = from.weights.data();
  packing.packed_scales = from.scales.data();
  ASSERT_EQ(tenon_expert_pack(&packing), TENON_OK) << tenon_last_error();
  EXPECT_EQ(from.weights, wanted.weights);
  EXPECT_EQ(from.scales, wanted.scales);
}

/// Gaps between experts are left out, and progress is told after each.
TEST(ExpertPacking, StridesAndProgress) {
  Checkpoint from(3, 32, 256);
  Packed wanted = pack(from, "packed");
  int64_t bytes = 32 * 128, scaleBytes = 32 * 8;
  Bytes weights, scales;
  for (int64_t expert = 0; expert < 3; ++expert) {
    auto add = [&](Bytes &to, const Bytes &own, int64_t size, int64_t gap) {
      to.insert(to.end(), own.begin() + expert * size,
                own.begin() + (expert + 1) * size);
      to.insert(to.end(), size_t(gap), 0xaa);
    };
    add(weights, from.weights, bytes, 48);
    add(scales, from.scales, scaleBytes, 5);
  }
  tenon_expert_packing packing = from.packing("packed", false);
  packing.weights = weights.data();
  packing.scales = scales.data();
  packing.weights_stride = bytes + 48;
  packing.scales_stride = scaleBytes + 5;
  Packed result{Bytes(wanted.weights.size()), Bytes(wanted.scales.size())};
  packing.packed = result.weights.data();
  packing.packed_scales = result.scales.data();
  std::vector<int64_t> told;
  packing.context = &told;
  packing.progress = [](void *context, int64_t done, int64_t count) {
    EXPECT_EQ(count, 3);
    static_cast<std::vector<int64_t> *>(context)->push_back(done);
  };
  ASSERT_EQ(tenon_expert_pack(&packing), TENON_OK) << tenon_last_error();
  EXPECT_EQ(result.weights, wanted.weights);
  EXPECT_EQ(result.scales, wanted.scales);
  EXPECT_EQ(told, (std::vector<int64_t>{1, 2, 3}));
}

/// What cannot be packed is refused before a byte is written.
TEST(ExpertPacking, WrongUse) {
  Checkpoint from(2, 64, 192);
  auto refuse = [&](const tenon_expert_packing &packing, const char *message) {
    EXPECT_EQ(tenon_expert_pack(&packing), TENON_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tenon_last_error()).find(message), std::string::npos)
        << tenon_last_error();
  };
  tenon_expert_packing good = from.packing("packed", false);
  Bytes weights(2 * 64 * 96), scales(2 * 64 * 8);
  good.packed = weights.data();
  good.packed_scales = scales.data();
  tenon_expert_packing bad = good;
  bad.order = "row_major";
  refuse(bad, "order: expected packed, aiter or aiter_interleaved, found "
              "'row_major'");
  bad = good;
  bad.rows = 48;
  bad.interleaved = 1;
  refuse(bad, "multiple of 64 and K of 32, found 48 and 192");
  bad = good;
  bad.depth = 48;
  refuse(bad, "found 64 and 48");
  bad = good;
  bad.struct_bytes -= 8;
  refuse(bad, "another version of Tenon");
  bad = good;
  bad.packed = nullptr;
  refuse(bad, "is NULL");
  bad = good;
  bad.weights_stride = 64;
  refuse(bad, "strides of experts must be 6144 and 384 bytes or more, found "
              "64 and 384");
  bad = good;
  // 6 blocks are filled up to 8.
  bad.packed_scales = from.scales.data();
  refuse(bad, "scales: packed in place only without gaps");
  bad = good;
  bad.packed = from.weights.data() + 16;
  refuse(bad, "weights: packed in place only without gaps");
}

} // namespace
