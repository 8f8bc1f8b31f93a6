//===- ModeTest.cpp - what MODE changes in vector arithmetic ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <cfenv>
#include <cmath>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// Runs instructions on values that all lanes share, v10 ...; lane 0 of v40 ...
/// `mode` is written to MODE[9:0] before: FP_ROUND of single precision in bits
/// 1:0 and of half and double in 3:2, FP_DENORM in 5:4 and 7:6, DX10_CLAMP and
/// IEEE.
std::vector<uint32_t> runInMode(uint32_t mode, const std::string &instructions,
                                const std::vector<uint32_t> &values,
                                unsigned outputs) {
  LaneProgram program;
  program.instructions = "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), " +
                         std::to_string(mode) + "\n" + instructions +
                         "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), " +
                         std::to_string(0x3F0) + "\n";
  for (uint32_t value : values) {
    program.inputs.push_back(lanes([&](unsigned) { return value; }));
  }
  program.outputs = outputs;
  auto rows = runLanes(program);
  std::vector<uint32_t> result;
  for (const auto &row : rows) {
    EXPECT_EQ(row, std::vector<uint32_t>(64, row[0]));
    result.push_back(row[0]);
  }
  return result;
}

constexpr uint32_t keepDenormals = 0xF0, ieee = 0x200, dx10 = 0x100;
constexpr uint32_t usual = keepDenormals | ieee | dx10;

constexpr uint32_t signalling = 0x7F800001, quieted = 0x7FC00001;
constexpr uint32_t quiet = 0x7FC12345, otherQuiet = 0xFFC00077;

/// V_MIN_F32 and V_MAX_F32 of the CDNA3 ISA: in IEEE mode a signalling NaN wins
/// and is made quiet; otherwise NaNs lose, and of two the second stays.
TEST(SimMode, SignallingNansInMinimaAndMaxima) {
  const uint32_t one = bitsOf(1.0f);
  const std::string body = "  v_min_f32 v40, v10, v11\n"
                           "  v_max_f32 v41, v10, v11\n"
                           "  v_min3_f32 v42, v10, v11, v11\n"
                           "  v_max3_f32 v43, v11, v11, v10\n"
                           "  v_med3_f32 v44, v11, v10, v11\n";
  struct Case {
    uint32_t mode, a, b, expected;
  };
  for (const Case &test :
       {Case{usual, signalling, one, quieted},
        Case{usual, one, signalling, quieted},
        Case{usual & ~ieee, signalling, one, one},
        Case{usual & ~ieee, one, signalling, one}, Case{usual, quiet, one, one},
        Case{usual & ~ieee, one, quiet, one}}) {
    auto out = runInMode(test.mode, body, {test.a, test.b}, 2);
    EXPECT_EQ(out[0], test.expected) << std::hex << test.a << " " << test.b;
    EXPECT_EQ(out[1], test.expected) << std::hex << test.a << " " << test.b;
  }
  // Two NaNs.
  EXPECT_EQ(runInMode(usual, body, {quiet, otherQuiet}, 1)[0], otherQuiet);
  EXPECT_EQ(runInMode(usual, body, {quiet, signalling}, 1)[0], quieted);
  EXPECT_EQ(runInMode(usual & ~ieee, body, {quiet, signalling}, 1)[0],
            signalling);
  // Three operands. v42 = min(min(a, b), b), where in IEEE mode the first
  // result is quiet and loses.
  auto out = runInMode(usual, body, {signalling, one}, 5);
  EXPECT_EQ(out[2], one);
  EXPECT_EQ(out[3], quieted);
  EXPECT_EQ(out[4], one);
  out = runInMode(usual & ~ieee, body, {signalling, one}, 5);
  EXPECT_EQ(out[2], one);
  EXPECT_EQ(out[3], one);
  EXPECT_EQ(out[4], one);
}

/// The same in half and double precision, and of packed halves.
TEST(SimMode, SignallingNansOfOtherWidths) {
  const std::string body = "  v_min_f16 v40, v10, v11\n"
                           "  v_pk_max_f16 v41, v10, v11\n"
                           "  v_max_f64 v[42:43], v[12:13], v[14:15]\n"
                           "  v_min_f64 v[44:45], v[14:15], v[12:13]\n";
  // Halves: a signalling NaN and 1 below, the other way round above.
  const std::vector<uint32_t> values = {0x3C007C01, 0x7D013C00, 1,
                                        0x7FF00000, 0x00000000, 0x3FF00000};
  auto out = runInMode(usual, body, values, 6);
  EXPECT_EQ(out[0] & 0xFFFF, 0x7E01u);
  EXPECT_EQ(out[1], 0x7F017E01u);
  EXPECT_EQ(out[2], 1u);
  EXPECT_EQ(out[3], 0x7FF80000u);
  EXPECT_EQ(out[4], 1u);
  EXPECT_EQ(out[5], 0x7FF80000u);
  out = runInMode(usual & ~ieee, body, values, 6);
  EXPECT_EQ(out[0] & 0xFFFF, 0x3C00u);
  EXPECT_EQ(out[1], 0x3C003C00u);
  EXPECT_EQ(out[3], 0x3FF00000u);
  EXPECT_EQ(out[5], 0x3FF00000u);
}

/// All other arithmetic makes signalling NaNs quiet in either mode.
TEST(SimMode, ArithmeticMakesNansQuiet) {
  for (uint32_t mode : {usual, usual & ~ieee}) {
    auto out = runInMode(mode,
                         "  v_add_f32 v40, v10, v11\n"
                         "  v_fma_f32 v41, v11, v11, v10\n"
                         "  v_floor_f32 v42, v10\n"
                         "  v_cvt_f16_f32 v43, v10\n"
                         "  v_cvt_f32_f16 v44, v12\n"
                         "  v_cvt_f64_f32 v[46:47], v10\n"
                         "  v_ldexp_f32 v45, v10, 3\n",
                         {signalling, bitsOf(2.0f), 0x7C01}, 8);
    EXPECT_EQ(out[0], quieted);
    EXPECT_EQ(out[1], quieted);
    EXPECT_EQ(out[2], quieted);
    EXPECT_EQ(out[3] & 0xFFFF, 0x7E00u);
    EXPECT_EQ(out[4], 0x7FC02000u);
    EXPECT_EQ(out[5], quieted);
    EXPECT_EQ(out[6], 0x20000000u);
    EXPECT_EQ(out[7], 0x7FF80000u);
  }
}

/// Output modifiers need IEEE mode and denormal results off.
TEST(SimMode, OutputModifiersNeedTheirMode) {
  const std::string body = "  v_add_f32 v40, v10, v11 mul:2\n"
                           "  v_add_f16 v41, v12, v13 mul:4\n"
                           "  v_add_f64 v[42:43], v[14:15], v[16:17] div:2\n"
                           "  v_mul_f32 v44, v18, v11 mul:2\n";
  const std::vector<uint32_t> values = {
      bitsOf(1.0f), bitsOf(2.0f), 0x3C00, 0x3C00, 0, 0x3FF00000, 0,
      0x3FF00000,   bitsOf(-0.0f)};
  auto has = [&](uint32_t mode, float f32, uint32_t f16, uint32_t f64) {
    auto out = runInMode(mode, body, values, 5);
    EXPECT_EQ(floatOf(out[0]), f32) << mode;
    EXPECT_EQ(out[1] & 0xFFFF, f16) << mode;
    EXPECT_EQ(out[3], f64) << mode;
    return out[4];
  };
  EXPECT_EQ(has(0, 6, 0x4800, 0x3FF00000), 0u); // -0 becomes +0
  EXPECT_EQ(has(usual, 3, 0x4000, 0x40000000), 0x80000000u);
  EXPECT_EQ(has(ieee, 3, 0x4000, 0x40000000), 0x80000000u);
  // FP_DENORM of single precision, of the others.
  EXPECT_EQ(has(0x30, 3, 0x4800, 0x3FF00000), 0x80000000u);
  EXPECT_EQ(has(0xC0, 6, 0x4000, 0x40000000), 0u);
}

/// Rounding of every width and of conversions between them, in all modes.
TEST(SimMode, RoundingOfEachWidth) {
  const int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                            FE_TOWARDZERO};
  for (unsigned mode32 = 0; mode32 < 4; ++mode32) {
    for (unsigned mode64 = 0; mode64 < 4; ++mode64) {
      for (float sign : {1.0f, -1.0f}) {
        // 2^24 + 3 in an integer, a sum that is no float, a product that is no
        // double, and floats between two halves.
        volatile float a = sign * 16777216.0f, b = sign * 1.5f;
        volatile float c = sign * 1.00048828125f; // 1 + 2^-11, a tie
        volatile double d = sign * (1 + 0x1p-30), e = 1 + 0x1p-29;
        uint64_t bitsD = std::bit_cast<uint64_t>(double(d));
        uint64_t bitsE = std::bit_cast<uint64_t>(double(e));
        volatile int32_t integer = int32_t(sign) * 16777219;
        auto out = runInMode(
            usual | mode32 | mode64 << 2,
            "  v_add_f32 v40, v10, v11\n"
            "  v_cvt_f32_i32 v41, v12\n"
            "  v_cvt_f32_f64 v42, v[14:15]\n"
            "  v_mul_f64 v[44:45], v[14:15], v[16:17]\n"
            "  v_cvt_f16_f32 v46, v13\n"
            "  v_cvt_pk_f16_f32 v47, v13, v13\n"
            "  v_cvt_pkrtz_f16_f32 v48, v13, v13\n"
            "  v_mov_b32 v49, 0\n"
            "  v_fma_mixlo_f16 v49, v13, 1.0, 0\n"
            "  v_pk_add_f32 v[50:51], v[10:11], v[10:11] op_sel:[0,1] "
            "op_sel_hi:[1,0]\n"
            "  v_cvt_f32_u32 v52, v18\n"
            "  v_cvt_f64_u32 v[54:55], v18\n"
            "  v_mov_b32 v43, 0\n  v_mov_b32 v53, 0\n",
            {bitsOf(a), bitsOf(b), uint32_t(integer), bitsOf(c),
             uint32_t(bitsD), uint32_t(bitsD >> 32), uint32_t(bitsE),
             uint32_t(bitsE >> 32), 0},
            16);
        std::fesetround(directions[mode32]);
        volatile float sum = a + b, converted = float(integer);
        volatile float narrowed = float(d);
        std::fesetround(directions[mode64]);
        volatile double product = d * e;
        std::fesetround(FE_TONEAREST);
        // 1 + 2^-11 lies between 3C00 and 3C01; its magnitude is cut or grows.
        bool grows = mode64 == (sign > 0 ? 1 : 2);
        uint32_t half = (grows ? 0x3C01u : 0x3C00u) | (sign < 0 ? 0x8000 : 0);
        uint32_t cut = 0x3C00u | (sign < 0 ? 0x8000 : 0);
        SCOPED_TRACE(std::to_string(mode32) + " " + std::to_string(mode64) +
                     " " + std::to_string(sign));
        EXPECT_EQ(floatOf(out[0]), sum);
        EXPECT_EQ(floatOf(out[1]), converted);
        EXPECT_EQ(floatOf(out[2]), narrowed);
        EXPECT_EQ(std::bit_cast<double>(out[4] | uint64_t(out[5]) << 32),
                  product);
        EXPECT_EQ(out[6] & 0xFFFF, half);
        EXPECT_EQ(out[7], half | half << 16);
        EXPECT_EQ(out[8], cut | cut << 16);
        EXPECT_EQ(out[9], half);
        EXPECT_EQ(floatOf(out[10]), sum);
        EXPECT_EQ(floatOf(out[11]), sum);
        EXPECT_EQ(out[12], 0u) << "an unsigned zero is positive";
        EXPECT_EQ(out[15], 0u);
      }
    }
  }
}

/// Operands and results of half and double precision lose their denormals by
/// the field of their own, in conversions each side by its width.
TEST(SimMode, DenormalsOfEachWidth) {
  const std::string body =
      "  v_add_f16 v40, v10, v11\n"
      "  v_mul_f16 v41, v12, v13\n"
      "  v_add_f64 v[42:43], v[14:15], v[16:17]\n"
      "  v_mul_f64 v[44:45], v[18:19], v[20:21]\n"
      "  v_cvt_f32_f16 v46, v10\n"
      "  v_cvt_f16_f32 v47, v22\n"
      "  v_cvt_pk_f16_f32 v48, v22, v22\n"
      "  v_cvt_f32_f64 v49, v[24:25]\n"
      "  v_fma_mix_f32 v50, v10, v23, 0 op_sel_hi:[1,0,0]\n"
      "  v_pk_add_f16 v51, v10, v11\n"
      "  v_dot2_f32_bf16 v52, v26, v26, 0\n"
      "  v_fma_f32 v53, v27, v23, 0\n";
  const std::vector<uint32_t> values = {
      0x0200,
      0x0001, // halves: denormals
      0x0400,
      0x3800, // the least normal one times 0.5
      1,
      0,
      0,
      0, // doubles: a denormal, zero
      0,
      0x00100000,
      0,
      0x3FE00000, // the least normal one times 0.5
      bitsOf(0x1p-15f),
      bitsOf(1.0f),
      0,
      0x37E00000,  // 2^-129: a denormal float
      0x00002000,  // bf16 2^-63, whose bits look like a denormal half
      0x00400000}; // a denormal float
  std::vector<uint32_t> all = values;
  auto out = runInMode(usual, body, all, 14);
  EXPECT_EQ(out[0] & 0xFFFF, 0x0201u);
  EXPECT_EQ(out[1] & 0xFFFF, 0x0200u);
  EXPECT_EQ(out[2], 1u);
  EXPECT_EQ(out[5], 0x00080000u);
  EXPECT_EQ(floatOf(out[6]), 0x1p-15f);
  EXPECT_EQ(out[7] & 0xFFFF, 0x0200u);
  EXPECT_EQ(out[8], 0x02000200u);
  EXPECT_EQ(floatOf(out[9]), 0x1p-129f);
  EXPECT_EQ(floatOf(out[10]), 0x1p-15f);
  EXPECT_EQ(out[11] & 0xFFFF, 0x0201u);
  EXPECT_EQ(floatOf(out[12]), 0x1p-126f);
  EXPECT_EQ(out[13], 0x00400000u);
  // No denormals of half and double precision.
  out = runInMode(usual & ~0xC0u, body, all, 14);
  EXPECT_EQ(out[0] & 0xFFFF, 0u);
  EXPECT_EQ(out[1] & 0xFFFF, 0u);
  EXPECT_EQ(out[2], 0u);
  EXPECT_EQ(out[5], 0u);
  EXPECT_EQ(out[6], 0u);
  EXPECT_EQ(out[7] & 0xFFFF, 0u);
  EXPECT_EQ(out[8], 0u);
  EXPECT_EQ(floatOf(out[9]), 0x1p-129f);
  EXPECT_EQ(out[10], 0u);
  EXPECT_EQ(out[11] & 0xFFFF, 0u);
  EXPECT_EQ(floatOf(out[12]), 0x1p-126f);
  EXPECT_EQ(out[13], 0x00400000u);
  // None of single precision.
  out = runInMode(usual & ~0x30u, body, all, 14);
  EXPECT_EQ(out[0] & 0xFFFF, 0x0201u);
  EXPECT_EQ(floatOf(out[6]), 0x1p-15f);
  EXPECT_EQ(out[7] & 0xFFFF, 0x0200u);
  EXPECT_EQ(out[9], 0u);
  EXPECT_EQ(floatOf(out[10]), 0x1p-15f);
  EXPECT_EQ(out[13], 0u);
}

/// The quotient of doubles follows the rounding of doubles.
TEST(SimMode, DivisionOfDoublesRoundsAsDoubles) {
  for (unsigned mode64 : {0u, 1u, 2u}) {
    // v_div_fmas without scaling is a fused multiply-add: 1 + 2^-60.
    auto out = runInMode(usual | mode64 << 2,
                         "  s_mov_b64 vcc, 0\n"
                         "  v_div_fmas_f64 v[40:41], v[10:11], v[10:11], "
                         "v[12:13]\n",
                         {0, 0x3E100000, 0, 0x3FF00000}, 2);
    EXPECT_EQ(out[0], mode64 == 1 ? 1u : 0u);
    EXPECT_EQ(out[1], 0x3FF00000u);
  }
}

} // namespace
