//===- PitfallTest.cpp - what is easily got wrong ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Points of docs/reference/simulator-semantics.md that no other test covers.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"

#include <algorithm>
#include <cmath>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// Four inputs of 64 dwords with bits of all kinds.
std::vector<std::vector<uint32_t>> mixedInputs() {
  std::vector<std::vector<uint32_t>> inputs;
  for (unsigned k = 0; k < 4; ++k) {
    inputs.push_back(
        lanes([k](unsigned i) { return (64 * k + i + 1) * 0x9E3779B9u; }));
  }
  return inputs;
}

// Twelve bytes a lane, side by side behind M0 and the offset, which moves both
// addresses.
TEST(SimPitfall, LoadsIntoLdsOfThreeDwords) {
  LaneProgram program;
  program.options.ldsBytes = 4096;
  program.instructions = "  v_mul_u32_u24 v2, 12, v0\n"
                         "  s_movk_i32 m0, 0x100\n  s_nop 0\n"
                         "  global_load_lds_dwordx3 v2, s[4:5] offset:16\n"
                         "  s_waitcnt vmcnt(0)\n"
                         "  ds_read_b32 v40, v1 offset:272\n"
                         "  ds_read_b32 v41, v1 offset:784\n"
                         "  s_waitcnt lgkmcnt(0)\n";
  program.inputs = mixedInputs();
  program.outputs = 2;
  auto out = runLanes(program);
  auto dword = [&](unsigned k) { return program.inputs[k / 64][k % 64]; };
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], dword(4 + i)) << i;
    EXPECT_EQ(out[1][i], dword(132 + i)) << i;
  }
}

// Lane t of 16 receives elements 16 j + t of the bits that the 16 lanes name.
TEST(SimPitfall, TransposingReadsOfNarrowElements) {
  LaneProgram program;
  program.options.ldsBytes = 4096;
  program.instructions = "  v_lshlrev_b32 v2, 3, v0\n"
                         "  ds_write_b64 v2, v[10:11]\n"
                         "  s_waitcnt lgkmcnt(0)\n"
                         "  ds_read_b64_tr_b4 v[40:41], v2\n"
                         "  s_waitcnt lgkmcnt(0)\n"
                         "  v_mul_u32_u24 v3, 12, v0\n"
                         "  ds_write_b96 v3, v[10:12]\n"
                         "  s_waitcnt lgkmcnt(0)\n"
                         "  ds_read_b96_tr_b6 v[42:44], v3\n"
                         "  s_waitcnt lgkmcnt(0)\n";
  program.inputs = mixedInputs();
  program.outputs = 5;
  auto out = runLanes(program);
  auto check = [&](unsigned bits, unsigned dwords, unsigned first) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned j = 0; j < 32 * dwords / bits; ++j) {
        for (unsigned b = 0; b < bits; ++b) {
          unsigned from = (16 * j + lane % 16) * bits + b; // of the group
          unsigned owner = lane / 16 * 16 + from / (32 * dwords);
          unsigned place = from % (32 * dwords), to = j * bits + b;
          uint32_t source = program.inputs[place / 32][owner];
          ASSERT_EQ(out[first + to / 32][lane] >> (to % 32) & 1,
                    source >> (place % 32) & 1)
              << bits << " bits, lane " << lane << " element " << j;
        }
      }
    }
  };
  check(4, 2, 0);
  check(6, 3, 2);
}

// Unlike v_min3 and v_max3 these pass NaN on.
TEST(SimPitfall, MinimumAndMaximumPropagateNan) {
  for (unsigned rotate : {0u, 7u, 23u, 50u}) {
    LaneProgram program;
    program.instructions = "  v_minimum3_f32 v40, v10, v11, v12\n"
                           "  v_maximum3_f32 v41, v10, v11, v12\n";
    program.inputs = {edgeFloats(), edgeFloats(rotate), edgeFloats(2 * rotate)};
    program.outputs = 2;
    auto out = runLanes(program);
    for (unsigned i = 0; i < 64; ++i) {
      float a = floatOf(program.inputs[0][i]),
            b = floatOf(program.inputs[1][i]),
            c = floatOf(program.inputs[2][i]);
      if (std::isnan(a) || std::isnan(b) || std::isnan(c)) {
        EXPECT_TRUE(std::isnan(floatOf(out[0][i]))) << i;
        EXPECT_TRUE(std::isnan(floatOf(out[1][i]))) << i;
      } else {
        EXPECT_EQ(floatOf(out[0][i]), std::min({a, b, c})) << i;
        EXPECT_EQ(floatOf(out[1][i]), std::max({a, b, c})) << i;
      }
    }
  }
}

// Two sums of halves, not one of floats; every lane gets what was there before.
TEST(SimPitfall, PackedHalfAtomics) {
  LaneProgram program;
  program.options.ldsBytes = 256;
  program.instructions =
      "  v_mov_b32 v2, 0\n  v_mov_b32 v3, 0\n"
      "  global_atomic_pk_add_f16 v40, v2, v10, s[4:5] offset:256 sc0\n"
      "  ds_write_b32 v2, v3\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
      "  ds_pk_add_rtn_bf16 v41, v2, v12\n  s_waitcnt lgkmcnt(0)\n";
  program.inputs = {lanes([](unsigned) { return 0x40003C00u; }), // 2, 1
                    lanes([](unsigned) { return 0u; }),
                    lanes([](unsigned) { return 0x3F804000u; })}; // 1, 2
  program.outputs = 2;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    auto half = [](float value) {
      return uint32_t(std::bit_cast<uint16_t>(_Float16(value)));
    };
    EXPECT_EQ(out[0][i], half(2.0f * i) << 16 | half(float(i))) << i;
    EXPECT_EQ(out[1][i],
              (bitsOf(float(i)) & 0xFFFF0000) | bitsOf(2.0f * i) >> 16)
        << i;
  }
}

/// Code that makes s[20:23] a buffer over the inputs.
std::string resource(uint32_t word1, uint32_t records, uint32_t word3) {
  return "  s_mov_b64 s[20:21], s[4:5]\n  s_and_b32 s21, s21, 0xffff\n"
         "  s_or_b32 s21, s21, " +
         std::to_string(word1) + "\n  s_mov_b32 s22, " +
         std::to_string(records) + "\n  s_mov_b32 s23, " +
         std::to_string(word3) + "\n";
}

// The next instruction must not take the result of a scaled conversion into the
// upper part of a register; LLVM puts a wait state there.
TEST(SimPitfall, ScaledConversionsAreNotForwarded) {
  LaneProgram program;
  program.inputs = mixedInputs();
  const std::string convert =
      "  v_mov_b32 v40, 0\n  v_mov_b32 v20, 1.0\n  s_nop 7\n"
      "  v_cvt_scalef32_pk_fp8_f32 v40, v20, v20, v20 op_sel:[0,0,0,1]\n";
  program.instructions = convert + "  v_add_u32 v40, 1, v40\n";
  std::string text = findingsOf(program, Check::Hazard);
  EXPECT_NE(text.find("needs 1 wait state"), std::string::npos) << text;
  program.instructions = convert + "  s_nop 0\n  v_add_u32 v40, 1, v40\n";
  EXPECT_EQ(findingsOf(program, Check::Hazard), "");
}

// Three dwords, each held against the range by itself.
TEST(SimPitfall, BufferLoadsOfThreeDwords) {
  LaneProgram program;
  program.instructions =
      resource(0, 4 * 100, 0x27000) +
      "  v_mul_u32_u24 v2, 12, v0\n"
      "  buffer_load_dwordx3 v[40:42], v2, s[20:23], 0 offen offset:4\n"
      "  s_waitcnt vmcnt(0)\n";
  program.inputs = mixedInputs();
  program.outputs = 3;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    for (unsigned d = 0; d < 3; ++d) {
      unsigned k = 3 * i + d + 1;
      EXPECT_EQ(out[d][i], k < 100 ? program.inputs[k / 64][k % 64] : 0)
          << i << " " << d;
    }
  }
}

// Elements of four bytes, strides of 16, eight indices side by side; and the
// lane as index.
TEST(SimPitfall, SwizzledAndThreadIndexedBuffers) {
  LaneProgram program;
  program.instructions =
      resource(16u << 16 | 1u << 31, 14, 0x27000 | 1u << 19) +
      "  v_and_b32 v2, 15, v0\n"
      "  buffer_load_dword v40, v2, s[20:23], 0 idxen offset:8\n"
      "  s_waitcnt vmcnt(0)\n" +
      resource(8u << 16, 40, 0x7000 | 1u << 23) +
      "  buffer_load_dword v41, off, s[20:23], 0 offset:4\n"
      "  s_waitcnt vmcnt(0)\n";
  program.inputs = mixedInputs();
  program.outputs = 2;
  auto out = runLanes(program);
  auto dword = [&](unsigned k) { return program.inputs[k / 64][k % 64]; };
  for (unsigned i = 0; i < 64; ++i) {
    unsigned index = i % 16;
    unsigned place = ((index / 8) * 16 + 8) * 8 + index % 8 * 4;
    EXPECT_EQ(out[0][i], index < 14 ? dword(place / 4) : 0) << i;
    EXPECT_EQ(out[1][i], i < 40 ? dword(2 * i + 1) : 0) << i;
  }
}

} // namespace
