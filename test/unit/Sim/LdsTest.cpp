//===- LdsTest.cpp - DS instructions ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

TEST(SimLds, WidthsOffsetsAndPairs) {
  LaneProgram program;
  program.options.ldsBytes = 4096;
  program.instructions = "  v_lshlrev_b32 v2, 4, v0\n"
                         "  ds_write_b128 v2, v[10:13] offset:16\n"
                         "  ds_read_b64 v[40:41], v2 offset:24\n"
                         "  ds_read2_b32 v[42:43], v2 offset0:4 offset1:7\n"
                         "  ds_read_u16 v44, v2 offset:18\n"
                         "  ds_read_i8 v45, v2 offset:19\n"
                         "  v_mov_b32 v46, -1\n"
                         "  ds_read_u16_d16_hi v46, v2 offset:16\n"
                         "  s_waitcnt lgkmcnt(0)\n"
                         "  ds_write2_b32 v1, v10, v11 offset0:0 offset1:64\n"
                         "  ds_read2st64_b32 v[48:49], v1 offset0:0 offset1:1\n"
                         "  s_waitcnt lgkmcnt(0)\n";
  for (unsigned k = 0; k < 4; ++k) {
    program.inputs.push_back(
        lanes([k](unsigned i) { return 0x9A8B7C6Du * (i + 1) + k; }));
  }
  program.outputs = 10;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    auto in = [&](unsigned k) { return program.inputs[k][i]; };
    EXPECT_EQ(out[0][i], in(2));
    EXPECT_EQ(out[1][i], in(3));
    EXPECT_EQ(out[2][i], in(0));
    EXPECT_EQ(out[3][i], in(3));
    EXPECT_EQ(out[4][i], in(0) >> 16);
    EXPECT_EQ(out[5][i], uint32_t(int32_t(int8_t(in(0) >> 24))));
    EXPECT_EQ(out[6][i], 0x0000FFFFu | in(0) << 16);
    EXPECT_EQ(out[8][i], in(0));
    EXPECT_EQ(out[9][i], in(1));
  }
}

TEST(SimLds, BeyondTheSegmentReadsZeroAndDropsWrites) {
  LaneProgram program;
  program.options.ldsBytes = 100; // one granule of 1,280 bytes
  program.instructions = "  v_add_u32 v2, 1248, v1\n"
                         "  v_mov_b32 v3, 0x7fffff00\n"
                         "  ds_write_b32 v2, v10\n"
                         "  ds_write_b32 v3, v10\n"
                         "  s_waitcnt lgkmcnt(0)\n"
                         "  ds_read_b32 v40, v2\n"
                         "  ds_read_b64 v[42:43], v2\n"
                         "  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v41, v43\n";
  program.inputs = {lanes([](unsigned i) { return 1 + i; })};
  program.outputs = 2;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], i < 8 ? 1 + i : 0) << i;
    EXPECT_EQ(out[1][i], i < 7 ? 2 + i : 0) << i;
  }
  // The granule is smaller on gfx942: 512 bytes.
  program.options.cpu = "gfx942";
  out = runLanes(program);
  EXPECT_EQ(out[0][0], 0u);
}

TEST(SimLds, Atomics) {
  LaneProgram program;
  program.options.ldsBytes = 1024;
  program.instructions =
      "  v_mov_b32 v2, 64\n  v_mov_b32 v3, 5\n  v_mov_b32 v4, 1.0\n"
      "  ds_write_b32 v2, v3\n  ds_write_b32 v2, v4 offset:4\n"
      "  ds_write_b32 v2, v3 offset:8\n"
      "  ds_add_rtn_u32 v40, v2, v10\n"
      "  ds_add_f32 v2, v11 offset:4\n"
      "  ds_cmpst_rtn_b32 v41, v2, v10, v3 offset:8\n"
      "  s_waitcnt lgkmcnt(0)\n"
      "  ds_read_b32 v42, v2\n  ds_read_b32 v43, v2 offset:4\n"
      "  s_waitcnt lgkmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return i; }),
                    lanes([](unsigned i) { return bitsOf(float(i)); })};
  program.outputs = 4;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], 5 + i * (i - 1) / 2);
    EXPECT_EQ(out[1][i], 5u);
    EXPECT_EQ(out[2][i], 5u + 2016);
    EXPECT_EQ(floatOf(out[3][i]), 2017.0f);
  }
}

TEST(SimLds, TransposingReads) {
  // LDS holds row r of 16 halves at 32 * r in each block of 4 rows; a lane of
  // a group of 16 receives one column.
  LaneProgram program;
  program.options.ldsBytes = 4096;
  program.instructions = "  v_lshlrev_b32 v2, 3, v0\n"
                         "  ds_write_b64 v2, v[10:11]\n"
                         "  s_waitcnt lgkmcnt(0)\n"
                         "  ds_read_b64_tr_b16 v[40:41], v2\n"
                         "  ds_read_b64_tr_b8 v[42:43], v2\n"
                         "  s_waitcnt lgkmcnt(0)\n";
  for (unsigned k = 0; k < 2; ++k) {
    program.inputs.push_back(
        lanes([k](unsigned i) { return (2 * i + k) * 0x01020305u + 0x11; }));
  }
  program.outputs = 4;
  auto out = runLanes(program);
  auto byteAt = [&](unsigned address) {
    unsigned lane = address / 8, word = address / 4 % 2;
    return (program.inputs[word][lane] >> (8 * (address % 4))) & 0xFF;
  };
  for (unsigned i = 0; i < 64; ++i) {
    unsigned base = i / 16 * 128, column = i % 16;
    for (unsigned j = 0; j < 4; ++j) {
      unsigned at = base + 2 * (16 * j + column);
      uint32_t expected = byteAt(at) | byteAt(at + 1) << 8;
      EXPECT_EQ((out[j / 2][i] >> (16 * (j % 2))) & 0xFFFF, expected);
    }
    for (unsigned j = 0; j < 8; ++j) {
      EXPECT_EQ((out[2 + j / 4][i] >> (8 * (j % 4))) & 0xFF,
                byteAt(base + 16 * j + column));
    }
  }
}

} // namespace
