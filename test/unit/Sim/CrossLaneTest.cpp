//===- CrossLaneTest.cpp - DPP, SDWA, swaps, swizzles -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <functional>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

constexpr int invalid = -1;

/// Runs v_mov_b32_dpp onto lanes that hold 1000 + lane; `from` names the lane
/// that each lane reads.
void checkDpp(const std::string &control, const std::function<int(int)> &from,
              const std::string &masks = "row_mask:0xf bank_mask:0xf") {
  LaneProgram program;
  program.instructions = "  v_mov_b32 v40, v11\n  v_mov_b32 v41, v11\n"
                         "  v_mov_b32_dpp v40, v10 " +
                         control + " " + masks + "\n  v_mov_b32_dpp v41, v10 " +
                         control + " " + masks + " bound_ctrl:0\n";
  program.inputs = {lanes([](unsigned i) { return i; }),
                    lanes([](unsigned i) { return 1000 + i; })};
  program.outputs = 2;
  auto out = runLanes(program);
  bool full = masks == "row_mask:0xf bank_mask:0xf";
  for (int i = 0; i < 64; ++i) {
    int source = from(i);
    if (!full && source == invalid) {
      EXPECT_EQ(out[0][i], 1000u + i) << control << " lane " << i;
      continue;
    }
    EXPECT_EQ(out[0][i], source == invalid ? 1000u + i : unsigned(source))
        << control << " lane " << i;
    EXPECT_EQ(out[1][i], source == invalid ? 0u : unsigned(source))
        << control << " bound_ctrl lane " << i;
  }
}

TEST(SimCrossLane, DppControls) {
  checkDpp("quad_perm:[3,0,1,2]",
           [](int i) { return (i & ~3) | ((i + 3) & 3); });
  checkDpp("row_shl:3",
           [](int i) { return i % 16 + 3 < 16 ? i + 3 : invalid; });
  checkDpp("row_shr:5", [](int i) { return i % 16 >= 5 ? i - 5 : invalid; });
  checkDpp("row_ror:4", [](int i) { return (i & ~15) | ((i + 12) & 15); });
  checkDpp("row_mirror", [](int i) { return (i & ~15) | (15 - (i & 15)); });
  checkDpp("row_half_mirror", [](int i) { return (i & ~7) | (7 - (i & 7)); });
  checkDpp("row_newbcast:6", [](int i) { return (i & ~15) | 6; });
  checkDpp("wave_ror:1", [](int i) { return (i + 63) & 63; });
  checkDpp("wave_shr:1", [](int i) { return i ? i - 1 : invalid; });
}

TEST(SimCrossLane, RowBroadcastsReadThePreviousRows) {
  checkDpp("row_bcast:15",
           [](int i) { return i < 16 ? invalid : (i & ~15) - 1; });
  checkDpp("row_bcast:31", [](int i) { return i < 32 ? invalid : 31; });
  checkDpp(
      "row_bcast:15",
      [](int i) { return i / 16 % 2 ? (i & ~15) - 1 : invalid; },
      "row_mask:0xa bank_mask:0xf");
}

TEST(SimCrossLane, DppBankMask) {
  checkDpp(
      "row_mirror",
      [](int i) {
        return i / 4 % 4 == 2 ? (i & ~15) | (15 - (i & 15)) : invalid;
      },
      "row_mask:0xf bank_mask:0x4");
}

TEST(SimCrossLane, DppReadsNothingFromLanesThatAreOff) {
  LaneProgram program;
  program.instructions = "  v_mov_b32 v40, 77\n  v_mov_b32 v41, 77\n"
                         "  s_mov_b32 s20, 0xfffffffe\n  s_mov_b32 s21, -1\n"
                         "  s_mov_b64 exec, s[20:21]\n"
                         "  v_mov_b32_dpp v40, v10 quad_perm:[0,0,0,0]\n"
                         "  v_mov_b32_dpp v41, v10 quad_perm:[0,0,0,0] "
                         "row_mask:0xf bank_mask:0xf bound_ctrl:0\n";
  program.inputs = {lanes([](unsigned i) { return 5 + i; })};
  program.outputs = 2;
  auto out = runLanes(program);
  EXPECT_EQ(out[0][1], 77u);
  EXPECT_EQ(out[1][1], 0u);
  EXPECT_EQ(out[0][5], 9u);
  EXPECT_EQ(out[1][0], 77u) << "lane 0 is off";
}

TEST(SimCrossLane, DppModifiersAndArithmetic) {
  LaneProgram program;
  program.instructions =
      "  v_add_f32_dpp v40, -v10, |v11| row_ror:1 row_mask:0xf bank_mask:0xf\n"
      "  v_mov_b32 v41, v11\n"
      "  v_fmac_f32_dpp v41, v10, v10 quad_perm:[1,0,3,2] row_mask:0xf "
      "bank_mask:0xf\n"
      "  v_mov_b64_dpp v[42:43], v[10:11] row_newbcast:2 row_mask:0xf "
      "bank_mask:0xf\n";
  program.inputs = {lanes([](unsigned i) { return bitsOf(float(i)); }),
                    lanes([](unsigned i) { return bitsOf(-100.0f * i); })};
  program.outputs = 4;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    unsigned rotated = (i & ~15u) | ((i + 15) & 15);
    EXPECT_EQ(floatOf(out[0][i]), 100.0f * i - float(rotated));
    EXPECT_EQ(floatOf(out[1][i]), float(i ^ 1) * float(i) - 100.0f * i);
    EXPECT_EQ(floatOf(out[2][i]), float((i & ~15u) + 2));
    EXPECT_EQ(floatOf(out[3][i]), -100.0f * ((i & ~15u) + 2));
  }
}

TEST(SimCrossLane, SdwaSelectsAndMerges) {
  LaneProgram program;
  program.instructions =
      "  v_mov_b32 v40, v11\n  v_mov_b32 v41, v11\n  v_mov_b32 v42, v11\n"
      "  v_add_u32_sdwa v40, v10, v11 dst_sel:BYTE_2 "
      "dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:BYTE_3\n"
      "  v_add_u32_sdwa v41, sext(v10), v11 dst_sel:DWORD "
      "dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_0\n"
      "  v_mov_b32_sdwa v42, v10 dst_sel:WORD_1 dst_unused:UNUSED_PAD "
      "src0_sel:WORD_0\n"
      "  v_cmp_eq_u32_sdwa vcc, v10, v11 src0_sel:BYTE_0 src1_sel:BYTE_0\n"
      "  v_cndmask_b32 v43, 0, 1, vcc\n";
  program.inputs = {
      lanes([](unsigned i) { return 0x8F3CA500u + i * 0x01030507; }),
      lanes([](unsigned i) { return 0x10203000u + i * 7; })};
  program.outputs = 4;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    uint32_t a = program.inputs[0][i], b = program.inputs[1][i];
    uint32_t byte = ((a >> 16) + (b >> 24)) & 0xFF;
    EXPECT_EQ(out[0][i], (b & 0xFF00FFFF) | byte << 16);
    EXPECT_EQ(out[1][i], uint32_t(int32_t(int8_t(a >> 8))) + (b & 0xFFFF));
    EXPECT_EQ(out[2][i], a << 16);
    EXPECT_EQ(out[3][i], uint32_t((a & 0xFF) == (b & 0xFF)));
  }
}

TEST(SimCrossLane, PermlaneSwaps) {
  LaneProgram program;
  program.instructions = "  v_mov_b32 v40, v10\n  v_mov_b32 v41, v11\n"
                         "  v_mov_b32 v42, v10\n  v_mov_b32 v43, v11\n"
                         "  v_permlane16_swap_b32 v40, v41\n"
                         "  v_permlane32_swap_b32 v42, v43\n";
  program.inputs = {lanes([](unsigned i) { return i; }),
                    lanes([](unsigned i) { return 100 + i; })};
  program.outputs = 4;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    bool oddRow = i & 16, upper = i & 32;
    EXPECT_EQ(out[0][i], oddRow ? 100 + i - 16 : i);
    EXPECT_EQ(out[1][i], oddRow ? 100 + i : i + 16);
    EXPECT_EQ(out[2][i], upper ? 100 + i - 32 : i);
    EXPECT_EQ(out[3][i], upper ? 100 + i : i + 32);
  }
}

TEST(SimCrossLane, SwizzleModes) {
  LaneProgram program;
  program.instructions =
      "  ds_swizzle_b32 v40, v10 offset:swizzle(BITMASK_PERM, \"01pip\")\n"
      "  ds_swizzle_b32 v41, v10 offset:swizzle(QUAD_PERM, 2, 3, 0, 1)\n"
      "  ds_swizzle_b32 v42, v10 offset:swizzle(SWAP, 16)\n"
      "  ds_swizzle_b32 v43, v10 offset:swizzle(BROADCAST, 8, 5)\n"
      "  ds_swizzle_b32 v44, v10 offset:swizzle(FFT, 0)\n"
      "  ds_swizzle_b32 v45, v10 offset:swizzle(ROTATE, 0, 3)\n"
      "  ds_swizzle_b32 v46, v10 offset:swizzle(ROTATE, 1, 3)\n"
      "  ds_swizzle_b32 v47, v10 offset:swizzle(FFT, 24)\n"
      "  s_waitcnt lgkmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return i; })};
  program.outputs = 8;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    unsigned group = i & 32, low = i & 31;
    EXPECT_EQ(out[0][i], group | 8 | (low & 5) | ((low & 2) ^ 2));
    EXPECT_EQ(out[1][i], i ^ 2);
    EXPECT_EQ(out[2][i], i ^ 16);
    EXPECT_EQ(out[3][i], (i & ~7u) | 5);
    unsigned reversed = ((low & 1) << 4) | ((low & 2) << 2) | (low & 4) |
                        ((low & 8) >> 2) | ((low & 16) >> 4);
    EXPECT_EQ(out[4][i], group | reversed);
    EXPECT_EQ(out[5][i], group | ((low + 3) & 31));
    EXPECT_EQ(out[6][i], group | ((low - 3) & 31));
    // Four groups of eight lanes, each in bit-reversed order.
    unsigned three = ((low & 1) << 2) | (low & 2) | ((low & 4) >> 2);
    EXPECT_EQ(out[7][i], group | (low & 24) | three);
  }
}

TEST(SimCrossLane, BpermuteReadsZeroFromLanesThatAreOff) {
  LaneProgram program;
  program.instructions = "  v_mov_b32 v40, 9\n  v_mov_b32 v41, 9\n"
                         "  s_mov_b32 s20, 0xffff0000\n  s_mov_b32 s21, -1\n"
                         "  s_mov_b64 exec, s[20:21]\n"
                         "  ds_bpermute_b32 v40, v11, v10\n"
                         "  ds_permute_b32 v41, v11, v10\n"
                         "  s_waitcnt lgkmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return 500 + i; }),
                    lanes([](unsigned i) { return 4 * ((i * 3) % 64); })};
  program.outputs = 2;
  auto out = runLanes(program);
  std::vector<uint32_t> pushed(64);
  for (unsigned i = 16; i < 64; ++i) {
    pushed[(i * 3) % 64] = 500 + i;
  }
  for (unsigned i = 0; i < 64; ++i) {
    unsigned source = (i * 3) % 64;
    EXPECT_EQ(out[0][i], i < 16 ? 9 : (source < 16 ? 0 : 500 + source));
    EXPECT_EQ(out[1][i], i < 16 ? 9 : pushed[i]);
  }
}

} // namespace
