//===- SimBench.cpp - wave instructions per second --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each benchmark runs a loop of one kind of instruction on one host thread and
// reports wave instructions per second ("items").
//
//===----------------------------------------------------------------------===//

#include "test/unit/Sim/Assembler.h"

#include <benchmark/benchmark.h>

using namespace tenon::sim;
using namespace tenon::sim::test;

static std::string repeat(const std::string &text, unsigned times) {
  std::string result;
  for (unsigned i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

/// Makes v3 ... v63, s20 ... s31 and VCC zero: findings would cost time.
static std::string defineRegisters() {
  std::string text = "  s_mov_b64 vcc, 0\n";
  for (unsigned reg = 3; reg < 64; ++reg) {
    text += "  v_mov_b32 v" + std::to_string(reg) + ", 0\n";
  }
  for (unsigned reg = 20; reg < 32; ++reg) {
    text += "  s_mov_b32 s" + std::to_string(reg) + ", 0\n";
  }
  return text;
}

/// Runs a loop of `iterations` around `body`, with a buffer of 1 MiB at s[8:11]
/// and s[4:5], and v1 = 4 * lane.
static void runLoop(benchmark::State &state, const std::string &body,
                    unsigned iterations, CheckSet checks = CheckSet::none()) {
  KernelOptions options;
  options.ldsBytes = 65536;
  std::string text = defineRegisters() + R"(
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_lshlrev_b32 v2, 4, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[8:9], s[4:5]
  s_mov_b32 s10, 0x100000
  s_mov_b32 s11, 0x27000
  s_mov_b32 s12, )" + std::to_string(iterations) +
                     "\n.Lloop:\n" + body + R"(
  s_sub_u32 s12, s12, 1
  s_cmp_lg_u32 s12, 0
  s_cbranch_scc1 .Lloop
)";
  std::shared_ptr<const CodeObject> object =
      loadObject(assemble(text, options));
  Device device;
  LaunchConfig config;
  config.block = {64, 1, 1};
  config.numThreads = 1;
  config.checks = checks;
  config.setArg(0, llvm::cantFail(device.memory().allocate(1 << 20)));
  uint64_t instructions = 0;
  for (auto _ : state) {
    llvm::Expected<LaunchResult> result =
        device.launch(object->kernels()[0], config);
    if (!result) {
      state.SkipWithError(llvm::toString(result.takeError()).c_str());
      return;
    }
    instructions += result->waveInstructions;
  }
  state.SetItemsProcessed(int64_t(instructions));
}

/// One instruction, sixteen times per iteration.
static void single(benchmark::State &state, const std::string &instruction) {
  runLoop(state, repeat("  " + instruction + "\n", 16), 2000);
}

BENCHMARK_CAPTURE(single, Fma, "v_fma_f32 v10, v11, v12, v13");
BENCHMARK_CAPTURE(single, FmaScalar, "v_fma_f32 v10, s20, v12, v13");
BENCHMARK_CAPTURE(single, FmaNegated, "v_fma_f32 v10, -v11, v12, v13");
BENCHMARK_CAPTURE(single, PackedFma,
                  "v_pk_fma_f32 v[10:11], v[12:13], v[14:15], v[16:17]");
BENCHMARK_CAPTURE(single, Mov, "v_mov_b32 v10, v11");
BENCHMARK_CAPTURE(single, MulLo, "v_mul_lo_u32 v10, v11, v12");
BENCHMARK_CAPTURE(single, Perm, "v_perm_b32 v10, v11, v12, v13");
BENCHMARK_CAPTURE(single, AddCarry, "v_add_co_u32 v10, vcc, v11, v12");
BENCHMARK_CAPTURE(single, Compare, "v_cmp_lt_f32 vcc, v11, v12");
BENCHMARK_CAPTURE(single, Cndmask, "v_cndmask_b32 v10, v11, v12, vcc");
BENCHMARK_CAPTURE(single, Exp, "v_exp_f32 v10, v11");
BENCHMARK_CAPTURE(single, Log, "v_log_f32 v10, v11");
BENCHMARK_CAPTURE(single, Rcp, "v_rcp_f32 v10, v11");
BENCHMARK_CAPTURE(single, CvtPkBf16, "v_cvt_pk_bf16_f32 v10, v11, v12");
BENCHMARK_CAPTURE(single, Dpp, "v_add_f32_dpp v10, v11, v12 row_ror:8");
BENCHMARK_CAPTURE(single, ReadFirstLane, "v_readfirstlane_b32 s20, v11");
BENCHMARK_CAPTURE(single, ScalarAdd, "s_add_u32 s20, s21, s22");
BENCHMARK_CAPTURE(single, Mfma16x16x4F32,
                  "v_mfma_f32_16x16x4_f32 v[20:23], v10, v11, v[20:23]");
BENCHMARK_CAPTURE(
    single, Mfma16x16x32Bf16,
    "v_mfma_f32_16x16x32_bf16 v[20:23], v[10:13], v[14:17], v[20:23]");
BENCHMARK_CAPTURE(
    single, Mfma32x32x16Bf16,
    "v_mfma_f32_32x32x16_bf16 v[20:35], v[10:13], v[14:17], v[20:35]");
BENCHMARK_CAPTURE(
    single, Mfma16x16x64I8,
    "v_mfma_i32_16x16x64_i8 v[20:23], v[10:13], v[14:17], v[20:23]");
BENCHMARK_CAPTURE(single, Mfma16x16x128Fp8,
                  "v_mfma_f32_16x16x128_f8f6f4 v[20:23], v[4:11], v[12:19], "
                  "v[20:23]");
BENCHMARK_CAPTURE(single, MfmaScale16x16x128Fp8,
                  "v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[4:11], "
                  "v[12:19], v[20:23], v24, v25 op_sel_hi:[0,0,0]");
BENCHMARK_CAPTURE(single, MfmaScale16x16x128Fp4,
                  "v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[4:7], "
                  "v[12:15], v[20:23], v24, v25 op_sel_hi:[0,0,0] cbsz:4 "
                  "blgp:4");
BENCHMARK_CAPTURE(single, MfmaScale32x32x64Fp4,
                  "v_mfma_scale_f32_32x32x64_f8f6f4 v[20:35], v[4:7], "
                  "v[12:15], v[20:35], v36, v37 op_sel_hi:[0,0,0] cbsz:4 "
                  "blgp:4");

/// The same with all checks.
static void checked(benchmark::State &state, const std::string &instruction) {
  runLoop(state, repeat("  " + instruction + "\n", 16), 2000, CheckSet::all());
}

BENCHMARK_CAPTURE(checked, Fma, "v_fma_f32 v10, v11, v12, v13");
BENCHMARK_CAPTURE(checked, PackedFma,
                  "v_pk_fma_f32 v[10:11], v[12:13], v[14:15], v[16:17]");
BENCHMARK_CAPTURE(checked, MulLo, "v_mul_lo_u32 v10, v11, v12");
BENCHMARK_CAPTURE(checked, Dpp, "v_add_f32_dpp v10, v11, v12 row_ror:8");
BENCHMARK_CAPTURE(checked, Cndmask, "v_cndmask_b32 v10, v11, v12, vcc");
BENCHMARK_CAPTURE(checked, ScalarAdd, "s_add_u32 s20, s21, s22");
BENCHMARK_CAPTURE(
    checked, Mfma16x16x32Bf16,
    "v_mfma_f32_16x16x32_bf16 v[20:23], v[10:13], v[14:17], v[20:23]");

static void partialExec(benchmark::State &state) {
  runLoop(state,
          "  s_mov_b64 exec, 0x0fffffff\n" +
              repeat("  v_fma_f32 v10, v11, v12, v13\n", 16),
          2000);
}
BENCHMARK(partialExec);

static void ldsRoundTrip(benchmark::State &state, CheckSet checks) {
  runLoop(state,
          repeat("  ds_write_b128 v2, v[10:13]\n  ds_read_b128 v[14:17], v2\n"
                 "  s_waitcnt lgkmcnt(0)\n",
                 4),
          2000, checks);
}
BENCHMARK_CAPTURE(ldsRoundTrip, plain, CheckSet::none());
BENCHMARK_CAPTURE(ldsRoundTrip, checked, CheckSet::all());

static void ldsScattered(benchmark::State &state) {
  runLoop(state,
          "  v_xor_b32 v3, 0x70, v2\n" + repeat("  ds_read_b128 v[14:17], v3\n"
                                                "  s_waitcnt lgkmcnt(0)\n",
                                                4),
          2000);
}
BENCHMARK(ldsScattered);

static void memoryCopy(benchmark::State &state) {
  runLoop(state,
          repeat("  buffer_load_dwordx4 v[10:13], v2, s[8:11], 0 offen nt\n"
                 "  s_waitcnt vmcnt(0)\n"
                 "  buffer_store_dwordx4 v[10:13], v2, s[8:11], 0 offen nt\n",
                 4),
          2000);
}
BENCHMARK(memoryCopy);

static void memoryScattered(benchmark::State &state) {
  runLoop(state,
          "  v_mul_u32_u24 v3, 0x140, v0\n" +
              repeat("  global_load_dwordx2 v[10:11], v3, s[4:5]\n"
                     "  s_waitcnt vmcnt(0)\n",
                     4),
          2000);
}
BENCHMARK(memoryScattered);

/// The shape of a decode kernel's inner loop: loads in flight while the lanes
/// compute, a cross-lane reduction, a transcendental, a store.
static void mixed(benchmark::State &state, CheckSet checks) {
  runLoop(state, R"(
  buffer_load_dwordx4 v[10:13], v2, s[8:11], 0 offen nt
  buffer_load_dwordx4 v[14:17], v2, s[8:11], 0 offen offset:1024 nt
  v_pk_mul_f32 v[20:21], v[24:25], v[26:27]
  v_pk_mul_f32 v[22:23], v[24:25], v[26:27]
  v_exp_f32 v28, v28
  s_and_b32 s20, s21, s22
  v_fma_f32 v29, v28, v20, v21
  v_fma_f32 v30, v28, v22, v23
  s_waitcnt vmcnt(1)
  v_pk_fma_f32 v[20:21], v[10:11], v[24:25], v[20:21]
  v_pk_fma_f32 v[22:23], v[12:13], v[26:27], v[22:23]
  v_add_f32 v31, v20, v21
  v_add_f32 v32, v22, v23
  v_add_f32 v31, v31, v32
  s_nop 1
  v_add_f32_dpp v31, v31, v31 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
  s_nop 1
  v_add_f32_dpp v31, v31, v31 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf
  s_nop 1
  v_add_f32_dpp v31, v31, v31 row_half_mirror row_mask:0xf bank_mask:0xf
  s_nop 1
  v_add_f32_dpp v31, v31, v31 row_mirror row_mask:0xf bank_mask:0xf
  s_waitcnt vmcnt(0)
  v_pk_fma_f32 v[20:21], v[14:15], v[20:21], v[24:25]
  v_cvt_pk_bf16_f32 v33, v20, v21
  v_cmp_lt_f32 vcc, v20, v21
  s_and_b32 s20, s21, s22
  s_add_u32 s23, s24, s25
  v_cndmask_b32 v34, v20, v21, vcc
  buffer_store_dwordx4 v[10:13], v2, s[8:11], 0 offen nt
)",
          4000, checks);
}
BENCHMARK_CAPTURE(mixed, plain, CheckSet::none());
BENCHMARK_CAPTURE(mixed, checked, CheckSet::all());

BENCHMARK_MAIN();
