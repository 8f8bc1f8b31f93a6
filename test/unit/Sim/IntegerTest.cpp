//===- IntegerTest.cpp - vector integer and bit operations ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <algorithm>
#include <functional>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

using u32 = uint32_t;
using i32 = int32_t;

/// Integers with interesting bits, in an order that depends on `seed`.
std::vector<u32> edgeIntegers(unsigned seed) {
  std::vector<u32> values = {0,          1,          2,          31,
                             32,         0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                             0xFFFFFFFE, 0x00FFFFFF, 0x01000000, 0x00800000,
                             0x0000FFFF, 0xFFFF0000, 0x12345678, 0x0C0D0804};
  u32 state = seed * 77 + 1;
  while (values.size() < 64) {
    state = state * 1664525 + 1013904223;
    values.push_back(state ^ (state >> 13));
  }
  std::rotate(values.begin(), values.begin() + seed % 64, values.end());
  return values;
}

struct Case {
  const char *instruction; ///< into v40, of v10, v11, v12
  std::function<u32(u32, u32, u32)> expected;
};

i32 signed24(u32 value) { return i32(value << 8) >> 8; }

TEST(SimInteger, Operations) {
  const Case cases[] = {
      {"v_add_u32 v40, v10, v11", [](u32 a, u32 b, u32) { return a + b; }},
      {"v_sub_u32 v40, v10, v11", [](u32 a, u32 b, u32) { return a - b; }},
      {"v_subrev_u32 v40, v10, v11", [](u32 a, u32 b, u32) { return b - a; }},
      {"v_add_u32 v40, v10, v11 clamp",
       [](u32 a, u32 b, u32) {
         return u32(std::min<uint64_t>(uint64_t(a) + b, 0xFFFFFFFF));
       }},
      {"v_sub_i32 v40, v10, v11 clamp",
       [](u32 a, u32 b, u32) {
         return u32(i32(std::clamp<int64_t>(int64_t(i32(a)) - i32(b), INT32_MIN,
                                            INT32_MAX)));
       }},
      {"v_mul_lo_u32 v40, v10, v11", [](u32 a, u32 b, u32) { return a * b; }},
      {"v_mul_hi_u32 v40, v10, v11",
       [](u32 a, u32 b, u32) { return u32((uint64_t(a) * b) >> 32); }},
      {"v_mul_hi_i32 v40, v10, v11",
       [](u32 a, u32 b, u32) { return u32((int64_t(i32(a)) * i32(b)) >> 32); }},
      {"v_mul_i32_i24 v40, v10, v11",
       [](u32 a, u32 b, u32) {
         return u32(int64_t(signed24(a)) * signed24(b));
       }},
      {"v_mul_u32_u24 v40, v10, v11",
       [](u32 a, u32 b, u32) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }},
      {"v_mad_u32_u24 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return (a & 0xFFFFFF) * (b & 0xFFFFFF) + c; }},
      {"v_lshlrev_b32 v40, v10, v11",
       [](u32 a, u32 b, u32) { return b << (a % 32); }},
      {"v_lshrrev_b32 v40, v10, v11",
       [](u32 a, u32 b, u32) { return b >> (a % 32); }},
      {"v_ashrrev_i32 v40, v10, v11",
       [](u32 a, u32 b, u32) { return u32(i32(b) >> (a % 32)); }},
      {"v_and_b32 v40, v10, v11", [](u32 a, u32 b, u32) { return a & b; }},
      {"v_xnor_b32 v40, v10, v11", [](u32 a, u32 b, u32) { return ~(a ^ b); }},
      {"v_min_i32 v40, v10, v11",
       [](u32 a, u32 b, u32) { return u32(std::min(i32(a), i32(b))); }},
      {"v_max_u32 v40, v10, v11",
       [](u32 a, u32 b, u32) { return std::max(a, b); }},
      {"v_add3_u32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return a + b + c; }},
      {"v_lshl_add_u32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return (a << (b % 32)) + c; }},
      {"v_and_or_b32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return (a & b) | c; }},
      {"v_lshl_or_b32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return (a << (b % 32)) | c; }},
      {"v_xad_u32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return (a ^ b) + c; }},
      {"v_bfe_u32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) {
         return (a >> (b % 32)) & ((uint64_t(1) << (c % 32)) - 1);
       }},
      {"v_bfe_i32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) {
         unsigned offset = b % 32, width = c % 32;
         if (width == 0) {
           return 0u;
         }
         // Beyond bit 31 the field continues with the sign.
         int64_t shifted = int64_t(i32(a)) >> offset;
         if (offset + width >= 32) {
           return u32(shifted);
         }
         return u32(i32(u32(shifted) << (32 - width)) >> (32 - width));
       }},
      {"v_bfi_b32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }},
      {"v_alignbit_b32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) {
         return u32(((uint64_t(a) << 32) | b) >> (c % 32));
       }},
      {"v_alignbyte_b32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) {
         return u32(((uint64_t(a) << 32) | b) >> (c % 4 * 8));
       }},
      {"v_perm_b32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) {
         u32 result = 0;
         for (unsigned i = 0; i < 4; ++i) {
           u32 select = (c >> (8 * i)) & 0xFF;
           uint64_t both = uint64_t(a) << 32 | b;
           u32 byte;
           if (select < 8) {
             byte = (both >> (8 * select)) & 0xFF;
           } else if (select < 12) {
             byte = (both >> (16 * (select - 8) + 15)) & 1 ? 0xFF : 0;
           } else {
             byte = select == 12 ? 0 : 0xFF;
           }
           result |= byte << (8 * i);
         }
         return result;
       }},
      {"v_bcnt_u32_b32 v40, v10, v11",
       [](u32 a, u32 b, u32) { return u32(__builtin_popcount(a)) + b; }},
      {"v_ffbh_u32 v40, v10",
       [](u32 a, u32, u32) { return a ? u32(__builtin_clz(a)) : ~0u; }},
      {"v_ffbl_b32 v40, v10",
       [](u32 a, u32, u32) { return a ? u32(__builtin_ctz(a)) : ~0u; }},
      {"v_bfrev_b32 v40, v10",
       [](u32 a, u32, u32) { return __builtin_bitreverse32(a); }},
      {"v_med3_i32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) {
         i32 values[] = {i32(a), i32(b), i32(c)};
         std::sort(values, values + 3);
         return u32(values[1]);
       }},
      {"v_max3_u32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return std::max({a, b, c}); }},
      {"v_sad_u32 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }},
      {"v_bitop3_b32 v40, v10, v11, v12 bitop3:0xca",
       [](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }},
      {"v_bitop3_b32 v40, v10, v11, v12 bitop3:0x6a",
       [](u32 a, u32 b, u32 c) {
         u32 result = 0;
         for (unsigned i = 0; i < 32; ++i) {
           u32 index = ((a >> i) & 1) * 4 + ((b >> i) & 1) * 2 + ((c >> i) & 1);
           result |= ((0x6Au >> index) & 1) << i;
         }
         return result;
       }},
      {"v_mad_u16 v40, v10, v11, v12",
       [](u32 a, u32 b, u32 c) { return (a * b + c) & 0xFFFF; }},
      {"v_lshrrev_b16 v40, v10, v11",
       [](u32 a, u32 b, u32) { return (b & 0xFFFF) >> (a & 15); }},
      {"v_pk_add_u16 v40, v10, v11",
       [](u32 a, u32 b, u32) {
         return ((a + b) & 0xFFFF) | ((a >> 16) + (b >> 16)) << 16;
       }},
      {"v_cvt_f32_ubyte2 v40, v10",
       [](u32 a, u32, u32) { return bitsOf(float((a >> 16) & 0xFF)); }},
      {"v_cvt_f32_u32 v40, v10",
       [](u32 a, u32, u32) { return bitsOf(float(a)); }},
      {"v_cvt_f32_i32 v40, v10",
       [](u32 a, u32, u32) { return bitsOf(float(i32(a))); }},
      {"v_cndmask_b32 v40, v10, v11, vcc", [](u32, u32 b, u32) { return b; }},
  };
  for (const Case &test : cases) {
    LaneProgram program;
    program.instructions = "  v_mov_b32 v40, 0\n  s_mov_b64 vcc, -1\n  " +
                           std::string(test.instruction);
    for (unsigned seed : {0u, 5u, 21u}) {
      program.inputs = {edgeIntegers(0), edgeIntegers(seed + 1),
                        edgeIntegers(seed + 17)};
      auto out = runLanes(program)[0];
      for (unsigned i = 0; i < 64; ++i) {
        u32 a = program.inputs[0][i], b = program.inputs[1][i],
            c = program.inputs[2][i];
        ASSERT_EQ(out[i], test.expected(a, b, c))
            << test.instruction << std::hex << " of " << a << " " << b << " "
            << c;
      }
    }
  }
}

TEST(SimInteger, CarriesGoToMasks) {
  LaneProgram program;
  program.instructions =
      "  v_add_co_u32 v40, vcc, v10, v12\n"
      "  v_addc_co_u32 v41, vcc, v11, v13, vcc\n"
      "  v_cndmask_b32 v42, 0, 1, vcc\n"
      "  v_sub_co_u32 v43, s[20:21], v10, v12\n"
      "  v_subb_co_u32 v44, s[20:21], v11, v13, s[20:21]\n"
      "  v_mad_u64_u32 v[46:47], s[22:23], v10, v12, v[14:15]\n"
      "  v_mov_b32 v45, v47\n";
  program.inputs = {edgeIntegers(0), edgeIntegers(1), edgeIntegers(2),
                    edgeIntegers(3), edgeIntegers(4), edgeIntegers(5)};
  program.outputs = 7;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    auto wide = [&](unsigned k) {
      return program.inputs[k][i] | uint64_t(program.inputs[k + 1][i]) << 32;
    };
    uint64_t a = wide(0), b = wide(2), sum = a + b;
    EXPECT_EQ(out[0][i], u32(sum));
    EXPECT_EQ(out[1][i], u32(sum >> 32));
    EXPECT_EQ(out[2][i], u32(sum < a));
    EXPECT_EQ(out[3][i], u32(a - b));
    EXPECT_EQ(out[4][i], u32((a - b) >> 32));
    uint64_t product = uint64_t(u32(a)) * u32(b) + wide(4);
    EXPECT_EQ(out[5][i], u32(product >> 32));
    EXPECT_EQ(out[6][i], u32(product));
  }
}

TEST(SimInteger, ExecKeepsLanes) {
  LaneProgram program;
  program.instructions = "  v_mov_b32 v40, 7\n  v_mov_b32 v41, 7\n"
                         "  s_mov_b32 s20, 0x0f0f00ff\n"
                         "  s_mov_b32 s21, 0x80000001\n"
                         "  s_mov_b64 exec, s[20:21]\n"
                         "  v_add_u32 v40, v10, v10\n"
                         "  v_cmp_eq_u32 s[22:23], v10, v10\n"
                         "  s_mov_b64 exec, -1\n"
                         "  v_cndmask_b32 v41, 0, 1, s[22:23]\n";
  program.inputs = {edgeIntegers(3)};
  program.outputs = 2;
  auto out = runLanes(program);
  uint64_t exec = 0x800000010f0f00ff;
  for (unsigned i = 0; i < 64; ++i) {
    bool on = (exec >> i) & 1;
    EXPECT_EQ(out[0][i], on ? 2 * program.inputs[0][i] : 7);
    EXPECT_EQ(out[1][i], u32(on)) << "a compare writes 0 for lanes off";
  }
}

} // namespace
