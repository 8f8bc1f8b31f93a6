//===- ScalarTest.cpp - scalar arithmetic and SCC ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <algorithm>
#include <functional>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;

struct Result {
  u64 value;
  int scc; ///< -1: unchanged (it was 1)
};

struct Case {
  const char *instruction; ///< into s[24:25], of s[20:21] and s[22:23]
  bool wide;
  std::function<Result(u64, u64)> expected;
};

/// Runs with all operands in the lanes of one wave: lane after lane through
/// v_readlane is slow, so each pair of operands is its own program.
void check(const Case &test, u64 a, u64 b) {
  auto literal = [](u64 value, unsigned reg) {
    return "  s_mov_b32 s" + std::to_string(reg) + ", " +
           std::to_string(u32(value)) + "\n  s_mov_b32 s" +
           std::to_string(reg + 1) + ", " + std::to_string(u32(value >> 32)) +
           "\n";
  };
  LaneProgram program;
  program.instructions = literal(a, 20) + literal(b, 22) +
                         "  s_mov_b64 s[24:25], 0\n"
                         "  s_cmp_eq_u32 s20, s20\n  " +
                         test.instruction +
                         "\n  s_cselect_b32 s26, 1, 0\n"
                         "  v_mov_b32 v40, s24\n  v_mov_b32 v41, s25\n"
                         "  v_mov_b32 v42, s26\n";
  program.outputs = 3;
  auto out = runLanes(program);
  Result expected = test.expected(a, b);
  u64 value = out[0][0] | u64(out[1][0]) << 32;
  EXPECT_EQ(value, test.wide ? expected.value : u32(expected.value))
      << test.instruction << std::hex << " of " << a << " and " << b;
  EXPECT_EQ(out[2][0], u32(expected.scc < 0 ? 1 : expected.scc))
      << "SCC of " << test.instruction << std::hex << " of " << a << " and "
      << b;
}

Result nonZero(u64 value) { return {value, value != 0}; }

const Case cases[] = {
    {"s_add_u32 s24, s20, s22", false,
     [](u64 a, u64 b) {
       u64 sum = u64(u32(a)) + u32(b);
       return Result{sum, int(sum >> 32)};
     }},
    {"s_addc_u32 s24, s20, s22", false,
     [](u64 a, u64 b) {
       u64 sum = u64(u32(a)) + u32(b) + 1;
       return Result{sum, int(sum >> 32)};
     }},
    {"s_sub_u32 s24, s20, s22", false,
     [](u64 a, u64 b) { return Result{a - b, u32(b) > u32(a)}; }},
    {"s_subb_u32 s24, s20, s22", false,
     [](u64 a, u64 b) { return Result{a - b - 1, u64(u32(b)) + 1 > u32(a)}; }},
    {"s_add_i32 s24, s20, s22", false,
     [](u64 a, u64 b) {
       int64_t sum = int64_t(i32(a)) + i32(b);
       return Result{u64(sum), sum != i32(sum)};
     }},
    {"s_sub_i32 s24, s20, s22", false,
     [](u64 a, u64 b) {
       int64_t difference = int64_t(i32(a)) - i32(b);
       return Result{u64(difference), difference != i32(difference)};
     }},
    {"s_mul_i32 s24, s20, s22", false,
     [](u64 a, u64 b) { return Result{a * b, -1}; }},
    {"s_mul_hi_u32 s24, s20, s22", false,
     [](u64 a, u64 b) { return Result{(u64(u32(a)) * u32(b)) >> 32, -1}; }},
    {"s_min_i32 s24, s20, s22", false,
     [](u64 a, u64 b) {
       return Result{u32(std::min(i32(a), i32(b))), i32(a) < i32(b)};
     }},
    {"s_max_u32 s24, s20, s22", false,
     [](u64 a, u64 b) {
       return Result{std::max(u32(a), u32(b)), u32(a) > u32(b)};
     }},
    {"s_and_b32 s24, s20, s22", false,
     [](u64 a, u64 b) { return nonZero(u32(a & b)); }},
    {"s_andn2_b64 s[24:25], s[20:21], s[22:23]", true,
     [](u64 a, u64 b) { return nonZero(a & ~b); }},
    {"s_xor_b64 s[24:25], s[20:21], s[22:23]", true,
     [](u64 a, u64 b) { return nonZero(a ^ b); }},
    {"s_lshl_b32 s24, s20, s22", false,
     [](u64 a, u64 b) { return nonZero(u32(a) << (b & 31)); }},
    {"s_lshl_b64 s[24:25], s[20:21], s22", true,
     [](u64 a, u64 b) { return nonZero(a << (b & 63)); }},
    {"s_lshr_b64 s[24:25], s[20:21], s22", true,
     [](u64 a, u64 b) { return nonZero(a >> (b & 63)); }},
    {"s_ashr_i32 s24, s20, s22", false,
     [](u64 a, u64 b) { return nonZero(u32(i32(a) >> (b & 31))); }},
    {"s_ashr_i64 s[24:25], s[20:21], s22", true,
     [](u64 a, u64 b) { return nonZero(u64(int64_t(a) >> (b & 63))); }},
    {"s_bfe_u32 s24, s20, 0x80004", false,
     [](u64 a, u64) { return nonZero((u32(a) >> 4) & 0xFF); }},
    {"s_bfe_i32 s24, s20, 0x80004", false,
     [](u64 a, u64) { return nonZero(u32(i32(int8_t(a >> 4)))); }},
    {"s_bfe_u64 s[24:25], s[20:21], 0x28000c", true,
     [](u64 a, u64) { return nonZero((a >> 12) & ((u64(1) << 40) - 1)); }},
    {"s_bfm_b32 s24, 5, 7", false,
     [](u64, u64) { return Result{31 << 7, -1}; }},
    {"s_cselect_b32 s24, s20, s22", false,
     [](u64 a, u64) { return Result{a, -1}; }},
    {"s_absdiff_i32 s24, s20, s22", false,
     [](u64 a, u64 b) {
       u32 difference = u32(a) - u32(b);
       return nonZero(i32(a) > i32(b) ? difference : 0u - difference);
     }},
    {"s_lshl2_add_u32 s24, s20, s22", false,
     [](u64 a, u64 b) {
       u64 sum = (u64(u32(a)) << 2) + u32(b);
       return Result{sum, sum >> 32 != 0};
     }},
    {"s_pack_ll_b32_b16 s24, s20, s22", false,
     [](u64 a, u64 b) {
       return Result{(a & 0xFFFF) | (b & 0xFFFF) << 16, -1};
     }},
    {"s_not_b64 s[24:25], s[20:21]", true,
     [](u64 a, u64) { return nonZero(~a); }},
    {"s_bcnt1_i32_b64 s24, s[20:21]", false,
     [](u64 a, u64) { return nonZero(u64(__builtin_popcountll(a))); }},
    {"s_ff1_i32_b64 s24, s[20:21]", false,
     [](u64 a, u64) {
       return Result{a ? u64(__builtin_ctzll(a)) : 0xFFFFFFFF, -1};
     }},
    {"s_flbit_i32_b32 s24, s20", false,
     [](u64 a, u64) {
       return Result{u32(a) ? u64(__builtin_clz(u32(a))) : 0xFFFFFFFF, -1};
     }},
    {"s_brev_b32 s24, s20", false,
     [](u64 a, u64) { return Result{__builtin_bitreverse32(u32(a)), -1}; }},
    {"s_sext_i32_i16 s24, s20", false,
     [](u64 a, u64) { return Result{u64(i32(int16_t(a))), -1}; }},
    {"s_bitset1_b32 s24, s20", false,
     [](u64 a, u64) { return Result{u64(1) << (a & 31), -1}; }},
    {"s_mov_b64 s[24:25], s[20:21]", true,
     [](u64 a, u64) { return Result{a, -1}; }},
    {"s_movk_i32 s24, 0x8001", false,
     [](u64, u64) { return Result{0xFFFF8001, -1}; }},
    {"s_addk_i32 s24, 0x7fff", false,
     [](u64, u64) { return Result{0x7FFF, 0}; }},
    {"s_cmp_lt_i32 s20, s22", false,
     [](u64 a, u64 b) { return Result{0, i32(a) < i32(b)}; }},
    {"s_cmp_ge_u32 s20, s22", false,
     [](u64 a, u64 b) { return Result{0, u32(a) >= u32(b)}; }},
    {"s_cmp_lg_u64 s[20:21], s[22:23]", false,
     [](u64 a, u64 b) { return Result{0, a != b}; }},
    {"s_bitcmp1_b64 s[20:21], s22", false,
     [](u64 a, u64 b) { return Result{0, int((a >> (b & 63)) & 1)}; }},
    {"s_cmpk_gt_u32 s20, 0xffff", false,
     [](u64 a, u64) { return Result{0, u32(a) > 0xFFFF}; }},
    {"s_cmpk_lt_i32 s20, 0xffff", false,
     [](u64 a, u64) { return Result{0, i32(a) < -1}; }},
};

TEST(SimScalar, ValuesAndScc) {
  const u64 values[][2] = {
      {0, 0},
      {0x00000001FFFFFFFF, 0x0000000100000001},
      {0x800000007FFFFFFF, 0x7FFFFFFF80000000},
      {0xFEDCBA9876543210, 0x0123456789ABCDE5},
  };
  for (const Case &test : cases) {
    for (auto [a, b] : values) {
      check(test, a, b);
    }
  }
}

TEST(SimScalar, ExecIsSavedAndRestored) {
  LaneProgram program;
  program.instructions = "  v_mov_b32 v40, 0\n"
                         "  v_cmp_gt_u32 vcc, 32, v0\n"
                         "  s_and_saveexec_b64 s[20:21], vcc\n"
                         "  s_cbranch_execz .Lskip\n"
                         "  v_mov_b32 v40, 1\n"
                         "  s_cmp_eq_u64 s[20:21], exec\n"
                         "  s_cselect_b32 s22, 1, 0\n"
                         ".Lskip:\n"
                         "  s_xor_b64 exec, exec, s[20:21]\n"
                         "  v_mov_b32 v40, 2\n"
                         "  s_mov_b64 exec, s[20:21]\n"
                         "  v_mov_b32 v41, s22\n";
  program.outputs = 2;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(out[0][i], i < 32 ? 1u : 2u);
    EXPECT_EQ(out[1][i], 0u);
  }
}

TEST(SimScalar, ReadFirstLane) {
  LaneProgram program;
  program.instructions = "  v_mov_b32 v2, v0\n"
                         "  s_mov_b32 s20, 0\n  s_mov_b32 s21, 0x10\n"
                         "  s_mov_b64 exec, s[20:21]\n"
                         "  v_readfirstlane_b32 s22, v2\n"
                         "  s_mov_b64 exec, 0\n"
                         "  v_readfirstlane_b32 s23, v10\n"
                         "  s_mov_b64 exec, -1\n"
                         "  v_readlane_b32 s24, v10, 9\n"
                         "  v_mov_b32 v40, s22\n  v_mov_b32 v41, s23\n"
                         "  v_mov_b32 v42, s24\n  v_mov_b32 v43, v10\n"
                         "  v_writelane_b32 v43, 5, 3\n";
  program.inputs = {lanes([](unsigned i) { return 100 + i; })};
  program.outputs = 4;
  auto out = runLanes(program);
  EXPECT_EQ(out[0][0], 36u);
  EXPECT_EQ(out[1][0], 100u) << "with EXEC = 0 lane 0 is read";
  EXPECT_EQ(out[2][0], 109u);
  EXPECT_EQ(out[3][3], 5u);
  EXPECT_EQ(out[3][4], 104u);
}

} // namespace
