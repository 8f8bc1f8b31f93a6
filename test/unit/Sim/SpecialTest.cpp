//===- SpecialTest.cpp - rare operations, each on a few values --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <cmath>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// The first `outputs` results of lane 0.
std::vector<uint32_t> runOne(const std::string &instructions,
                             const std::vector<uint32_t> &inputs,
                             unsigned outputs, KernelOptions options = {}) {
  LaneProgram program;
  program.options = options;
  for (uint32_t value : inputs) {
    program.inputs.push_back(lanes([=](unsigned) { return value; }));
  }
  program.instructions = instructions;
  program.outputs = outputs;
  std::vector<uint32_t> result;
  for (const auto &row : runLanes(program)) {
    result.push_back(row[0]);
  }
  return result;
}

/// Sums of absolute differences, plain, masked and four at a time, with and
/// without saturation.
TEST(SimSpecial, ByteSums) {
  auto out = runOne("  v_sad_u8 v40, v10, v11, v12\n"
                    "  v_sad_hi_u8 v41, v10, v11, v12\n"
                    "  v_sad_u16 v42, v10, v11, v12\n"
                    "  v_msad_u8 v43, v10, v11, v12\n"
                    "  v_sad_u8 v44, v10, v11, -1 clamp\n"
                    "  v_lerp_u8 v45, v10, v11, v12\n",
                    {0x10203040, 0x00FF0041, 0x00000101}, 6);
  EXPECT_EQ(out[0], 0x10u + 0xDF + 0x30 + 1 + 0x101);
  EXPECT_EQ(out[1], ((0x10u + 0xDF + 0x30 + 1) << 16) + 0x101);
  EXPECT_EQ(out[2], (0x1020u - 0x00FF) + (0x3040 - 0x0041) + 0x101);
  EXPECT_EQ(out[3], 0xDFu + 1 + 0x101);
  EXPECT_EQ(out[4], 0xFFFFFFFFu);
  EXPECT_EQ(out[5], 0x088F1841u);
  // Bytes 01 02 03 04 05 06 07 against four times 02; the accumulators are
  // 0xFFFF and 1, 2, 3.
  out = runOne(
      "  v_qsad_pk_u16_u8 v[40:41], v[10:11], v12, v[14:15]\n"
      "  v_qsad_pk_u16_u8 v[42:43], v[10:11], v12, v[14:15] clamp\n"
      "  v_mqsad_pk_u16_u8 v[44:45], v[10:11], v13, v[14:15]\n",
      {0x04030201, 0x00070605, 0x02020202, 0x02000002, 0x0001FFFF, 0x00030002},
      6);
  EXPECT_EQ(out[0], 0x00070003u); // 4 + 0xFFFF, 6 + 1
  EXPECT_EQ(out[3], 0x0011000Cu); // 10 + 2, 14 + 3
  EXPECT_EQ(out[2], 0x0007FFFFu);
  EXPECT_EQ(out[4], 0x00040002u); // 1 + 2 - 0x10000, 0 + 3 + 1
}

TEST(SimSpecial, IntegerDotProducts) {
  auto out = runOne("  v_dot2_i32_i16 v40, v10, v11, v12\n"
                    "  v_dot2_u32_u16 v41, v10, v11, v12\n"
                    "  v_dot4_i32_i8 v42, v10, v11, v12\n"
                    "  v_dot4_u32_u8 v43, v10, v11, v12\n"
                    "  v_dot8_i32_i4 v44, v10, v11, v12\n"
                    "  v_dot8_u32_u4 v45, v10, v11, v12\n"
                    "  v_dot2_i32_i16 v46, v11, v11, v13 clamp\n"
                    "  v_mov_b32 v47, 5\n"
                    "  v_dot4c_i32_i8 v47, v10, v11\n",
                    {0xFFFE0302, 0x80010107, 3, 0x7FFFFFFF}, 8);
  EXPECT_EQ(int32_t(out[0]), -2 * int16_t(0x8001) + 0x0302 * 0x0107 + 3);
  EXPECT_EQ(out[1], 0xFFFEu * 0x8001 + 0x0302 * 0x0107 + 3);
  EXPECT_EQ(int32_t(out[2]), -1 * -128 + -2 * 1 + 3 * 1 + 2 * 7 + 3);
  EXPECT_EQ(out[3], 0xFFu * 0x80 + 0xFE * 1 + 3 * 1 + 2 * 7 + 3);
  EXPECT_EQ(int32_t(out[4]), -1 * -8 + -1 * 0 + -1 * 0 + -2 * 1 + 0 * 0 +
                                 3 * 1 + 0 * 0 + 2 * 7 + 3);
  EXPECT_EQ(out[6], 0x7FFFFFFFu);
  EXPECT_EQ(out[7], out[2] + 2);
  EXPECT_EQ(out[5], 15u * 8 + 0 + 0 + 14 * 1 + 0 + 3 * 1 + 0 + 2 * 7 + 3);
}

/// The six faces of a cube: number, major axis, coordinates.
TEST(SimSpecial, CubeMaps) {
  struct Face {
    float x, y, z, id, major, s, t;
  };
  const Face faces[] = {{3, 1, 2, 0, 6, -2, -1}, {-3, 1, 2, 1, -6, 2, -1},
                        {1, 3, 2, 2, 6, 1, 2},   {1, -3, 2, 3, -6, 1, -2},
                        {1, 2, 3, 4, 6, 1, -2},  {1, 2, -3, 5, -6, -1, -2},
                        {2, 2, 2, 4, 4, 2, -2}};
  for (const Face &face : faces) {
    auto out = runOne("  v_cubeid_f32 v40, v10, v11, v12\n"
                      "  v_cubema_f32 v41, v10, v11, v12\n"
                      "  v_cubesc_f32 v42, v10, v11, v12\n"
                      "  v_cubetc_f32 v43, v10, v11, v12\n",
                      {bitsOf(face.x), bitsOf(face.y), bitsOf(face.z)}, 4);
    EXPECT_EQ(floatOf(out[0]), face.id);
    EXPECT_EQ(floatOf(out[1]), face.major);
    EXPECT_EQ(floatOf(out[2]), face.s);
    EXPECT_EQ(floatOf(out[3]), face.t);
  }
}

/// The three first segments together are 2 / pi to 159 bits.
TEST(SimSpecial, TrigPreop) {
  uint64_t one = std::bit_cast<uint64_t>(1.0);
  auto out = runOne("  v_trig_preop_f64 v[40:41], v[10:11], 0\n"
                    "  v_trig_preop_f64 v[42:43], v[10:11], 1\n",
                    {uint32_t(one), uint32_t(one >> 32)}, 4);
  double first = std::bit_cast<double>(out[0] | uint64_t(out[1]) << 32);
  double second = std::bit_cast<double>(out[2] | uint64_t(out[3]) << 32);
  EXPECT_LE(first, 2 / M_PI);
  EXPECT_NEAR(first, 2 / M_PI, 0x1p-52);
  long double pi = 3.14159265358979323846264338327950288L;
  EXPECT_NEAR(double((long double)first + second - 2 / pi), 0.0, 1e-19);
}

TEST(SimSpecial, PackedAndSixteenBits) {
  auto out = runOne("  v_sat_pk_u8_i16 v40, v10\n"
                    "  v_ashr_pk_i8_i32 v41, v11, v12, 4\n"
                    "  v_ashr_pk_u8_i32 v42, v11, v12, 4\n"
                    "  v_prng_b32 v43, v11\n"
                    "  v_bitop3_b16 v44, v10, v11, v12 bitop3:0x96\n"
                    "  v_pk_add_u16 v45, v10, v10 clamp\n",
                    {0x0123FFF0, 0x80000700, 0xFFFFF000}, 6);
  EXPECT_EQ(out[0], 0xFF00u);
  EXPECT_EQ(out[1] & 0xFFFF, 0x8080u);
  EXPECT_EQ(out[2] & 0xFFFF, 0x0000u);
  EXPECT_EQ(out[3], (0x80000700u << 1) ^ 197);
  EXPECT_EQ(out[4] & 0xFFFF, (0xFFF0u ^ 0x0700 ^ 0xF000));
  EXPECT_EQ(out[5], 0x0246FFFFu);
}

/// Integer additions saturate with clamp, to both sides.
TEST(SimSpecial, IntegerClamp) {
  auto out = runOne("  v_add_u16_e64 v40, v10, v10 clamp\n"
                    "  v_sub_u16_e64 v41, 1, v10 clamp\n"
                    "  v_add_i16 v42, v11, v11 clamp\n"
                    "  v_mad_u16 v43, v10, v10, v10 clamp\n"
                    "  v_mad_i32_i16 v44, v11, v11, v12 clamp\n"
                    "  v_add_co_u32_e64 v45, vcc, v13, v13 clamp\n",
                    {0xC000, 0x7000, 0x7FFFFFFF, 0xFFFFFFFF}, 6);
  EXPECT_EQ(out[0] & 0xFFFF, 0xFFFFu);
  EXPECT_EQ(out[1] & 0xFFFF, 0u);
  EXPECT_EQ(out[2] & 0xFFFF, 0x7FFFu);
  EXPECT_EQ(out[3] & 0xFFFF, 0xFFFFu);
  EXPECT_EQ(out[4], 0x7FFFFFFFu);
  EXPECT_EQ(out[5], 0xFFFFFFFFu);
}

/// Scalar stores and atomics; with glc the old value comes back.
TEST(SimSpecial, ScalarMemory) {
  auto out = runOne("  s_mov_b32 s20, 7\n  s_mov_b32 s21, 9\n"
                    "  s_store_dword s20, s[6:7], 0x800\n"
                    "  s_store_dwordx2 s[20:21], s[6:7], 0x808\n"
                    "  s_waitcnt lgkmcnt(0)\n"
                    "  s_mov_b32 s22, 100\n"
                    "  s_atomic_dec s22, s[6:7], 0x800 glc\n"
                    "  s_waitcnt lgkmcnt(0)\n"
                    "  s_mov_b64 s[24:25], 1\n"
                    "  s_atomic_add_x2 s[24:25], s[6:7], 0x808 glc\n"
                    "  s_mov_b32 s26, 55\n  s_mov_b32 s27, 6\n"
                    "  s_waitcnt lgkmcnt(0)\n"
                    "  s_atomic_cmpswap s[26:27], s[6:7], 0x800 glc\n"
                    "  s_waitcnt lgkmcnt(0)\n"
                    "  s_load_dwordx4 s[28:31], s[6:7], 0x800\n"
                    "  s_waitcnt lgkmcnt(0)\n"
                    "  v_mov_b32 v40, s22\n  v_mov_b32 v41, s24\n"
                    "  v_mov_b32 v42, s26\n  v_mov_b32 v43, s28\n"
                    "  v_mov_b32 v44, s30\n  v_mov_b32 v45, s31\n"
                    "  v_mov_b32 v46, 0\n  v_mov_b32 v47, 0\n"
                    "  v_mov_b32 v48, 0\n",
                    {0}, 9);
  EXPECT_EQ(out[0], 7u);  // before the decrement
  EXPECT_EQ(out[1], 7u);  // low half of {7, 9}
  EXPECT_EQ(out[2], 6u);  // equal to the value compared with
  EXPECT_EQ(out[3], 55u); // swapped in
  EXPECT_EQ(out[4], 8u);
  EXPECT_EQ(out[5], 9u);
}

/// s_setvskip passes over vector instructions, s_set_gpr_idx moves their
/// registers, s_movrel those of scalar moves.
TEST(SimSpecial, SkippedAndIndexedInstructions) {
  auto out = runOne("  v_mov_b32 v40, 1\n"
                    "  s_mov_b32 s20, 4\n"
                    "  s_setvskip s20, 2\n"
                    "  v_mov_b32 v40, 2\n"
                    "  s_setvskip s20, 1\n"
                    "  v_mov_b32 v41, 3\n"
                    "  s_mov_b32 s21, 2\n"
                    "  s_set_gpr_idx_on s21, gpr_idx(SRC0)\n"
                    "  v_mov_b32 v42, v10\n"
                    "  s_set_gpr_idx_mode gpr_idx(DST)\n"
                    "  v_mov_b32 v41, v10\n"
                    "  s_set_gpr_idx_off\n"
                    "  v_mov_b32 v44, v11\n"
                    "  s_mov_b32 m0, 3\n"
                    "  s_mov_b32 s33, 77\n"
                    "  s_movrels_b32 s40, s30\n"
                    "  v_mov_b32 v45, s40\n",
                    {100, 101, 102}, 6);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 3u);
  EXPECT_EQ(out[2], 102u);
  EXPECT_EQ(out[3], 100u);
  EXPECT_EQ(out[4], 101u);
  EXPECT_EQ(out[5], 77u);
}

/// An index beyond the register file reads v0 and writes nothing.
TEST(SimSpecial, IndexBeyondTheRegisters) {
  auto out = runOne("  v_mov_b32 v0, 9\n"
                    "  v_mov_b32 v40, 1\n  v_mov_b32 v41, 2\n"
                    "  s_movk_i32 s20, 0xfb\n"
                    "  s_set_gpr_idx_on s20, gpr_idx(SRC0)\n"
                    "  v_mov_b32 v40, v10\n"
                    "  s_set_gpr_idx_mode gpr_idx(DST)\n"
                    "  v_mov_b32 v41, v10\n"
                    "  s_set_gpr_idx_off\n",
                    {100}, 2);
  EXPECT_EQ(out[0], 9u);
  EXPECT_EQ(out[1], 2u);
}

/// LDS counters, masked or, wrap, exchanges of two, addressing by lane.
TEST(SimSpecial, LdsOperations) {
  KernelOptions options;
  options.ldsBytes = 4096;
  LaneProgram program;
  program.options = options;
  program.inputs = {lanes([](unsigned i) { return i; })};
  program.instructions = R"(
  v_mov_b32 v20, 0
  v_mov_b32 v21, 5
  s_mov_b32 m0, 0
  ds_write_b32 v20, v21
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 7
  ds_append v40
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 1
  ds_consume v41
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, -1
  ds_read_b32 v42, v20
  v_mov_b32 v22, 0xf
  v_mov_b32 v23, 0xa0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 1
  ds_mskor_rtn_b32 v43, v20, v22, v23
  s_waitcnt lgkmcnt(0)
  ds_wrap_rtn_b32 v44, v20, v21, v22
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, -1
  s_mov_b32 m0, 0x100
  ds_write_addtid_b32 v10 offset:16
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v24, 2, v10
  ds_read_b32 v45, v24 offset:272
  s_waitcnt lgkmcnt(0)
)";
  program.outputs = 6;
  auto out = runLanes(program);
  EXPECT_EQ(out[0][2], 5u);
  EXPECT_EQ(out[1][0], 8u);
  EXPECT_EQ(out[2][9], 7u);
  EXPECT_EQ(out[3][0], 7u);
  EXPECT_EQ(out[4][0], 0xA0u);
  EXPECT_EQ(out[5][33], 33u);
}

/// FLAT atomics reach LDS and the private segment.
TEST(SimSpecial, FlatAtomicsOnLocalMemory) {
  KernelOptions options;
  options.ldsBytes = 1024;
  options.scratchBytes = 64;
  auto out = runOne(R"(
  v_mov_b32 v20, 64
  v_mov_b32 v21, 10
  s_mov_b64 s[20:21], src_shared_base
  v_mov_b32 v23, s21
  v_mov_b32 v22, 64
  s_mov_b64 exec, 1
  ds_write_b32 v20, v21
  s_waitcnt lgkmcnt(0)
  flat_atomic_add v40, v[22:23], v21 sc0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  ds_read_b32 v41, v20
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[20:21], src_private_base
  v_mov_b32 v25, s21
  v_mov_b32 v24, 16
  scratch_store_dword off, v21, off offset:16
  s_waitcnt vmcnt(0)
  flat_atomic_umax v42, v[24:25], v20 sc0
  s_waitcnt vmcnt(0) lgkmcnt(0)
  scratch_load_dword v43, off, off offset:16
  s_waitcnt vmcnt(0)
)",
                    {0}, 4, options);
  EXPECT_EQ(out[0], 10u);
  EXPECT_EQ(out[1], 20u);
  EXPECT_EQ(out[2], 10u);
  EXPECT_EQ(out[3], 64u);
}

/// Half and double precision have rounding and denormals of their own.
TEST(SimSpecial, ModesOfHalfAndDoublePrecision) {
  KernelOptions options;
  options.directives = "    .amdhsa_float_round_mode_16_64 1\n"
                       "    .amdhsa_float_denorm_mode_16_64 0\n";
  auto out = runOne("  v_add_f16 v40, v10, v11\n"
                    "  v_add_f32 v41, v12, v13\n"
                    "  v_mul_f16 v42, v14, v15\n"
                    "  v_add_f64 v[44:45], v[16:17], v[18:19]\n",
                    {0x3C00, 0x1000, bitsOf(1.0f), bitsOf(0x1p-25f), 0x03FF,
                     0x3C00, 0, 0x3FF00000, 0, 0x3C000000},
                    5, options);
  EXPECT_EQ(out[0] & 0xFFFF, 0x3C01u); // rounded up
  EXPECT_EQ(floatOf(out[1]), 1.0f);    // to nearest
  EXPECT_EQ(out[2] & 0xFFFF, 0u);      // a denormal operand is zero
  EXPECT_EQ(out[4], 1u);
}

/// A perturbed launch moves transcendental results by at most one unit in the
/// last place, some of them, and the same ones for the same seed.
TEST(SimSpecial, Perturbation) {
  LaneProgram program;
  program.inputs = {
      lanes([](unsigned i) { return bitsOf(0.37f + 0.11f * float(i)); })};
  program.instructions = "  v_exp_f32 v40, v10\n  v_rcp_f32 v41, v10\n";
  program.outputs = 2;
  auto plain = runLanes(program);
  program.perturb = 5;
  auto moved = runLanes(program);
  EXPECT_EQ(moved, runLanes(program));
  for (unsigned which = 0; which < 2; ++which) {
    unsigned different = 0;
    for (unsigned i = 0; i < 64; ++i) {
      int distance = int(moved[which][i] - plain[which][i]);
      EXPECT_LE(std::abs(distance), 1);
      different += distance != 0;
    }
    EXPECT_GT(different, 20u);
    EXPECT_LT(different, 64u);
  }
  program.perturb = 6;
  EXPECT_NE(moved, runLanes(program));
}

/// Perturbed reciprocals and roots stay within one unit in the last place of
/// the exact value, as integer division and the correctly rounded root of LLVM
/// need.
TEST(SimSpecial, PerturbedReciprocalsAndRoots) {
  LaneProgram program;
  program.inputs = {lanes([](unsigned i) { return bitsOf(float(i + 1)); })};
  program.instructions = "  v_rcp_iflag_f32 v40, -v10\n  v_sqrt_f32 v41, v10\n"
                         "  v_rsq_f32 v42, v10\n";
  program.outputs = 3;
  auto plain = runLanes(program);
  for (unsigned which = 0; which < 3; ++which) {
    unsigned different = 0;
    for (unsigned seed = 1; seed < 9; ++seed) {
      program.perturb = seed;
      auto moved = runLanes(program);
      for (unsigned i = 0; i < 64; ++i) {
        double x = i + 1;
        double exact = which == 0   ? -1 / x
                       : which == 1 ? std::sqrt(x)
                                    : 1 / std::sqrt(x);
        double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
        double error = std::abs(floatOf(moved[which][i]) - exact) / unit;
        EXPECT_LT(error, 1) << which << " of " << x;
        different += moved[which][i] != plain[which][i];
      }
    }
    EXPECT_GT(different, 100u);
  }
}

} // namespace
