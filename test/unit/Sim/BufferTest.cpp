//===- BufferTest.cpp - buffer, global and scratch memory -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// Code that makes s[20:23] a raw buffer of `records` bytes over the inputs
/// (s[4:5]), or over the outputs (s[6:7]).
std::string resource(unsigned records, const char *base = "s[4:5]") {
  return std::string("  s_mov_b64 s[20:21], ") + base +
         "\n  s_and_b32 s21, s21, 0xffff\n  s_mov_b32 s22, " +
         std::to_string(records) + "\n  s_mov_b32 s23, 0x27000\n";
}

TEST(SimBuffer, RangeIsCheckedPerDword) {
  LaneProgram program;
  // 40 dwords and a half are in range.
  program.instructions =
      resource(162) +
      "  v_mov_b32 v40, -1\n"
      "  buffer_load_dword v40, v1, s[20:23], 0 offen\n"
      "  buffer_load_dwordx2 v[42:43], v1, s[20:23], 0 offen\n"
      "  s_mov_b32 s24, 8\n"
      "  buffer_load_dword v41, v1, s[20:23], s24 offen offset:4 nt\n"
      "  buffer_load_ushort v44, v1, s[20:23], 0 offen offset:2\n"
      "  s_waitcnt vmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return 0x10001u * (i + 1); })};
  program.outputs = 5;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    auto dword = [&](unsigned k) { return k < 40 ? 0x10001u * (k + 1) : 0; };
    EXPECT_EQ(out[0][i], dword(i)) << i;
    EXPECT_EQ(out[2][i], dword(i)) << i;
    EXPECT_EQ(out[3][i], dword(i + 1)) << i;
    EXPECT_EQ(out[1][i], dword(i + 3)) << i;
    EXPECT_EQ(out[4][i], dword(i) >> 16) << i;
  }
}

TEST(SimBuffer, HugeOffsetsAreOutOfRange) {
  LaneProgram program;
  program.instructions = resource(256) +
                         "  v_sub_u32 v2, 0, v1\n"
                         "  buffer_load_dword v40, v2, s[20:23], 0 offen\n"
                         "  s_waitcnt vmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return 7 + i; })};
  auto out = runLanes(program);
  EXPECT_EQ(out[0][0], 7u);
  for (unsigned i = 1; i < 64; ++i) {
    EXPECT_EQ(out[0][i], 0u) << "a negative offset is a huge one";
  }
}

TEST(SimBuffer, StoresOutOfRangeAreDropped) {
  LaneProgram program;
  // The outputs start with 64 dwords of v40; the buffer writes over the first
  // ten of a copy of them in the second output before the program's own store.
  program.instructions =
      "  v_mov_b32 v41, 5\n  global_store_dword v1, v41, s[6:7] offset:256\n" +
      resource(296, "s[6:7]") +
      "  buffer_store_dword v10, v1, s[20:23], 0 offen offset:256\n"
      "  s_waitcnt vmcnt(0)\n"
      "  global_load_dword v41, v1, s[6:7] offset:256\n"
      "  v_mov_b32 v40, 0\n"
      "  s_waitcnt vmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return 100 + i; })};
  program.outputs = 2;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[1][i], i < 10 ? 100 + i : 5);
  }
}

TEST(SimBuffer, HalvesKeepTheOtherHalf) {
  LaneProgram program;
  program.instructions =
      resource(256) +
      "  v_mov_b32 v40, -1\n  v_mov_b32 v41, -1\n"
      "  buffer_load_short_d16 v40, v1, s[20:23], 0 offen offset:2\n"
      "  buffer_load_short_d16_hi v41, v1, s[20:23], 0 offen\n"
      "  buffer_load_sbyte v42, v1, s[20:23], 0 offen offset:3\n"
      "  s_waitcnt vmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return 0x81234567u + (i << 25); })};
  program.outputs = 3;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    uint32_t in = program.inputs[0][i];
    EXPECT_EQ(out[0][i], 0xFFFF0000u | in >> 16);
    EXPECT_EQ(out[1][i], 0x0000FFFFu | in << 16);
    EXPECT_EQ(out[2][i], uint32_t(int32_t(int8_t(in >> 24))));
  }
}

TEST(SimBuffer, StructuredBuffersCheckTheIndex) {
  LaneProgram program;
  program.instructions =
      "  s_mov_b64 s[20:21], s[4:5]\n  s_and_b32 s21, s21, 0xffff\n"
      "  s_or_b32 s21, s21, 0x80000\n" // stride 8
      "  s_mov_b32 s22, 20\n  s_mov_b32 s23, 0x27000\n"
      "  buffer_load_dword v40, v0, s[20:23], 0 idxen offset:4\n"
      "  s_waitcnt vmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return 3 * i; })};
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], i < 20 ? 3 * (2 * i + 1) : 0);
  }
}

// Only the index is checked: an access may begin in one record and end beyond
// it.
TEST(SimBuffer, StructuredBuffersReachBeyondTheRecord) {
  LaneProgram program;
  program.instructions =
      "  s_mov_b64 s[20:21], s[4:5]\n  s_and_b32 s21, s21, 0xffff\n"
      "  s_or_b32 s21, s21, 0x40000\n" // stride 4
      "  s_mov_b32 s22, 10\n  s_mov_b32 s23, 0x20000\n"
      "  buffer_load_dwordx2 v[40:41], v0, s[20:23], 0 idxen offset:64\n"
      "  s_waitcnt vmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return 3 * i; })};
  program.outputs = 2;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], i < 10 ? 3 * (i + 16) : 0);
    EXPECT_EQ(out[1][i], i < 10 ? 3 * (i + 17) : 0);
  }
}

TEST(SimBuffer, LoadsIntoLdsArriveWithTheWait) {
  LaneProgram program;
  program.options.ldsBytes = 2048;
  program.instructions = resource(200) +
                         "  v_mov_b32 v2, 0x55\n"
                         "  ds_write_b32 v1, v2 offset:512\n"
                         "  s_mov_b32 m0, 512\n"
                         "  s_waitcnt lgkmcnt(0)\n"
                         "  buffer_load_dword v1, s[20:23], 0 offen lds\n"
                         "  ds_read_b32 v40, v1 offset:512\n"
                         "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                         "  ds_read_b32 v41, v1 offset:512\n"
                         "  s_waitcnt lgkmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return 1000 + i; })};
  program.outputs = 2;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], 0x55u) << "before the wait LDS holds what it held";
    EXPECT_EQ(out[1][i], i < 50 ? 1000 + i : 0) << "out of range: zeros";
  }
}

TEST(SimGlobal, LoadsIntoLdsTakeSixteenBytesPerLane) {
  LaneProgram program;
  program.options.ldsBytes = 4096;
  program.instructions = "  v_lshlrev_b32 v2, 4, v0\n"
                         "  s_mov_b32 m0, 1024\n"
                         "  global_load_lds_dwordx4 v2, s[4:5] offset:0\n"
                         "  s_waitcnt vmcnt(0)\n"
                         "  ds_read_b32 v40, v1 offset:1024\n"
                         "  ds_read_b32 v41, v1 offset:1792\n"
                         "  s_waitcnt lgkmcnt(0)\n";
  for (unsigned k = 0; k < 4; ++k) {
    program.inputs.push_back(lanes([k](unsigned i) { return 64 * k + i; }));
  }
  program.outputs = 2;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], i);
    EXPECT_EQ(out[1][i], 192 + i);
  }
}

TEST(SimGlobal, NegativeOffsetsAndAddressPairs) {
  LaneProgram program;
  program.instructions = "  v_mov_b32 v2, s4\n  v_mov_b32 v3, s5\n"
                         "  v_lshl_add_u64 v[2:3], v[2:3], 0, 16\n"
                         "  v_mov_b32 v5, 0\n  v_mov_b32 v4, v1\n"
                         "  v_lshl_add_u64 v[2:3], v[2:3], 0, v[4:5]\n"
                         "  global_load_dword v40, v[2:3], off offset:-16\n"
                         "  flat_load_dword v41, v[2:3] offset:240\n"
                         "  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return i; }),
                    lanes([](unsigned i) { return 100 + i; })};
  program.outputs = 2;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], i);
    EXPECT_EQ(out[1][i], 100 + i);
  }
}

TEST(SimGlobal, AtomicsReturnTheOldValue) {
  LaneProgram program;
  program.instructions =
      "  v_mov_b32 v2, 0\n"
      "  global_atomic_add v40, v2, v10, s[4:5] offset:512 sc0\n"
      "  global_atomic_pk_add_bf16 v41, v2, v11, s[4:5] offset:516 sc0\n"
      "  s_waitcnt vmcnt(0)\n"
      "  global_load_dword v42, v2, s[4:5] offset:512\n"
      "  global_load_dword v43, v2, s[4:5] offset:516\n"
      "  s_waitcnt vmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return i; }),
                    lanes([](unsigned) { return 0x3F804000u; }), // 1, 2
                    lanes([](unsigned i) { return i == 0 ? 10u : 0u; })};
  program.outputs = 4;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], 10 + i * (i - 1) / 2);
    EXPECT_EQ(out[1][i],
              (bitsOf(float(i)) & 0xFFFF0000) | bitsOf(2.0f * i) >> 16);
    EXPECT_EQ(out[2][i], 10u + 2016);
    EXPECT_EQ(out[3][i], (bitsOf(64.0f) & 0xFFFF0000) | bitsOf(128.0f) >> 16);
  }
}

TEST(SimGlobal, AccessOutsideEveryAllocationNamesLaneAndInstruction) {
  LaneProgram program;
  program.instructions = "  global_load_dword v40, v1, s[4:5] offset:8\n"
                         "  s_waitcnt vmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return i; })};
  std::string error = runFailing(program);
  EXPECT_NE(error.find("global_load_dword v40, v1, s[4:5] offset:8"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("lane 62"), std::string::npos) << error;
  EXPECT_NE(error.find("0 bytes past the end of 'input'"), std::string::npos)
      << error;
  EXPECT_NE(error.find("wave 0"), std::string::npos) << error;
}

TEST(SimScratch, LanesAreSeparate) {
  LaneProgram program;
  program.options.scratchBytes = 64;
  program.instructions = "  s_mov_b32 s20, 16\n  v_mov_b32 v2, 8\n"
                         "  scratch_store_dwordx2 off, v[10:11], s20 offset:4\n"
                         "  scratch_store_byte v2, v10, off offset:3\n"
                         "  s_waitcnt vmcnt(0)\n"
                         "  scratch_load_dword v40, off, s20 offset:8\n"
                         "  scratch_load_dword v41, v2, s20 offset:-4\n"
                         "  scratch_load_ubyte v42, off, off offset:11\n"
                         "  s_waitcnt vmcnt(0)\n";
  program.inputs = {lanes([](unsigned i) { return 0x01010101u * i; }),
                    lanes([](unsigned i) { return 0x200u + i; })};
  program.outputs = 3;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], 0x200u + i);
    EXPECT_EQ(out[1][i], 0x01010101u * i);
    EXPECT_EQ(out[2][i], i);
  }
  program.instructions = "  scratch_load_dword v40, off, off offset:64\n"
                         "  s_waitcnt vmcnt(0)\n";
  EXPECT_NE(runFailing(program).find("private segment of 64 bytes"),
            std::string::npos);
}

TEST(SimScalarMemory, LoadsAndBufferRange) {
  LaneProgram program;
  program.instructions =
      resource(16) +
      "  s_buffer_load_dwordx8 s[32:39], s[20:23], 0x4\n"
      "  s_mov_b32 s25, 8\n"
      "  s_load_dwordx2 s[40:41], s[4:5], s25 offset:0x4\n"
      "  s_waitcnt lgkmcnt(0)\n"
      "  v_mov_b32 v40, s32\n  v_mov_b32 v41, s34\n  v_mov_b32 v42, s35\n"
      "  v_mov_b32 v43, s40\n";
  program.inputs = {lanes([](unsigned i) { return 50 + i; })};
  program.outputs = 4;
  auto out = runLanes(program);
  EXPECT_EQ(out[0][0], 51u);
  EXPECT_EQ(out[1][0], 53u);
  EXPECT_EQ(out[2][0], 0u) << "beyond the records";
  EXPECT_EQ(out[3][0], 53u);
}

} // namespace
