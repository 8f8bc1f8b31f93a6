//===- Gfx950.cpp - The table of gfx950 (CDNA4, MI355X) ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each figure has its source beside it; "assumed" marks what no public source
// states. Sources named more than once:
//   LLVM            LLVM 22, llvm/lib/Target/AMDGPU and IntrinsicsAMDGPU.td
//   CDNA4 ISA       "AMD Instinct MI350 / CDNA4 Instruction Set Architecture"
//   Hot Chips 2025  AMD's MI350 series presentation
//   nod-ai guide    amd-shark-ai docs/amdgpu_kernel_optimization_guide.md
//   nod-ai LDS      amd-shark-ai docs/empirical-lds/lds_summary.md (measured)
//   HipKittens      HazyResearch/HipKittens analysis/paper_experiments/phases
//   matrix cores    ROCm blog "Matrix Core Programming on AMD CDNA"
//
//===----------------------------------------------------------------------===//

#include "Chips.h"

#include "llvm/BinaryFormat/ELF.h"

namespace tenon::target {

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

/// Lanes first ... last as a mask.
static constexpr uint64_t lanes(unsigned first, unsigned last) {
  return (~uint64_t(0) >> (63 - last)) & (~uint64_t(0) << first);
}

/// All lanes at once: nod-ai LDS.
static constexpr uint64_t phasesAll[] = {lanes(0, 63)};

/// Half waves: nod-ai LDS, HipKittens.
static constexpr uint64_t phasesHalves[] = {lanes(0, 31), lanes(32, 63)};

/// ds_read_b128: HipKittens, nod-ai LDS and the ROCm blog on CDNA4 GEMM agree.
static constexpr uint64_t phasesReadB128[] = {
    lanes(0, 3) | lanes(12, 15) | lanes(20, 27),
    lanes(4, 11) | lanes(16, 19) | lanes(28, 31),
    lanes(32, 35) | lanes(44, 47) | lanes(52, 59),
    lanes(36, 43) | lanes(48, 51) | lanes(60, 63)};

/// ds_read_b96: HipKittens.
static constexpr uint64_t phasesReadB96[] = {
    lanes(0, 3) | lanes(20, 23),   lanes(4, 7) | lanes(16, 19),
    lanes(8, 11) | lanes(28, 31),  lanes(12, 15) | lanes(24, 27),
    lanes(32, 35) | lanes(52, 55), lanes(36, 39) | lanes(48, 51),
    lanes(40, 43) | lanes(60, 63), lanes(44, 47) | lanes(56, 59)};

/// ds_write_b64: HipKittens.
static constexpr uint64_t phasesQuarters[] = {lanes(0, 15), lanes(16, 31),
                                              lanes(32, 47), lanes(48, 63)};

/// ds_write_b128 in eight groups of eight: CK-Tile documentation, "LDS bank
/// conflicts".
static constexpr uint64_t phasesEighths[] = {
    lanes(0, 7),   lanes(8, 15),  lanes(16, 23), lanes(24, 31),
    lanes(32, 39), lanes(40, 47), lanes(48, 55), lanes(56, 63)};

/// 64 banks for reads of b32, b64 and b128: nod-ai LDS, HipKittens, LLVM
/// #220632; 32 for b96 reads and b64 writes: HipKittens. The other writes are
/// assumed to have the 32 banks of the b64 write, and b32 (b96) writes the
/// phases that move as many bytes per clock.
static constexpr LdsAccessRule ldsRules[] = {
    {LdsOp::ReadB32, 64, phasesAll},
    {LdsOp::ReadB64, 64, phasesHalves},
    {LdsOp::ReadB96, 32, phasesReadB96},
    {LdsOp::ReadB128, 64, phasesReadB128},
    {LdsOp::WriteB32, 32, phasesHalves},   // assumed
    {LdsOp::WriteB64, 32, phasesQuarters}, // HipKittens
    {LdsOp::WriteB96, 32, phasesEighths},  // assumed
    {LdsOp::WriteB128, 32, phasesEighths}, // banks assumed
};

/// LLVM: FeatureGFX950Insts, ds_read_b64_tr_b{4,8,16}, ds_read_b96_tr_b6.
static constexpr TransposedLdsRead transposedLdsReads[] = {
    {4, 64}, {6, 96}, {8, 64}, {16, 64}};

/// LLVM: the size operand of llvm.amdgcn.global.load.lds, "1/2/4 (/12/16 for
/// gfx950)".
static constexpr unsigned directToLdsWidths[] = {1, 2, 4, 12, 16};

//===----------------------------------------------------------------------===//
// MFMA
//===----------------------------------------------------------------------===//

/// Passes: LLVM SIDPGFX950FullSpeedModel (SISchedule.td), equal to the cycles
/// of the matrix cores blog divided by four. Runs of k: matrix cores blog;
/// where an operand has no more than 64 bits per lane its k are consecutive
/// (CDNA3 ISA, section on MFMA register layouts).
static std::vector<Mfma> makeMfmas() {
  using enum MatrixFormat;
  std::vector<Mfma> mfmas = {
      // mnemonic, scaled, m, n, k, blocks, a, b, acc, passes, aRun, bRun
      {"v_mfma_f64_16x16x4_f64", "", 16, 16, 4, 1, F64, F64, F64, 16, 1, 1},
      {"v_mfma_f64_4x4x4_4b_f64", "", 4, 4, 4, 4, F64, F64, F64, 4, 1, 1},

      {"v_mfma_f32_16x16x4_f32", "", 16, 16, 4, 1, F32, F32, F32, 8, 1, 1},
      {"v_mfma_f32_32x32x2_f32", "", 32, 32, 2, 1, F32, F32, F32, 16, 1, 1},
      {"v_mfma_f32_4x4x1_16b_f32", "", 4, 4, 1, 16, F32, F32, F32, 2, 1, 1},
      {"v_mfma_f32_16x16x1_4b_f32", "", 16, 16, 1, 4, F32, F32, F32, 8, 1, 1},
      {"v_mfma_f32_32x32x1_2b_f32", "", 32, 32, 1, 2, F32, F32, F32, 16, 1, 1},

      {"v_mfma_f32_16x16x32_f16", "", 16, 16, 32, 1, F16, F16, F32, 4, 8, 8},
      {"v_mfma_f32_32x32x16_f16", "", 32, 32, 16, 1, F16, F16, F32, 8, 8, 8},
      {"v_mfma_f32_16x16x16_f16", "", 16, 16, 16, 1, F16, F16, F32, 4, 4, 4},
      {"v_mfma_f32_32x32x8_f16", "", 32, 32, 8, 1, F16, F16, F32, 8, 4, 4},
      {"v_mfma_f32_4x4x4_16b_f16", "", 4, 4, 4, 16, F16, F16, F32, 2, 4, 4},
      {"v_mfma_f32_16x16x4_4b_f16", "", 16, 16, 4, 4, F16, F16, F32, 8, 4, 4},
      {"v_mfma_f32_32x32x4_2b_f16", "", 32, 32, 4, 2, F16, F16, F32, 16, 4, 4},

      {"v_mfma_f32_16x16x32_bf16", "", 16, 16, 32, 1, BF16, BF16, F32, 4, 8, 8},
      {"v_mfma_f32_32x32x16_bf16", "", 32, 32, 16, 1, BF16, BF16, F32, 8, 8, 8},
      {"v_mfma_f32_16x16x16_bf16", "", 16, 16, 16, 1, BF16, BF16, F32, 4, 4, 4},
      {"v_mfma_f32_32x32x8_bf16", "", 32, 32, 8, 1, BF16, BF16, F32, 8, 4, 4},
      {"v_mfma_f32_4x4x4_16b_bf16", "", 4, 4, 4, 16, BF16, BF16, F32, 2, 4, 4},
      {"v_mfma_f32_16x16x4_4b_bf16", "", 16, 16, 4, 4, BF16, BF16, F32, 8, 4,
       4},
      {"v_mfma_f32_32x32x4_2b_bf16", "", 32, 32, 4, 2, BF16, BF16, F32, 16, 4,
       4},

      // The runs of the two wide i8 instructions are assumed.
      {"v_mfma_i32_16x16x64_i8", "", 16, 16, 64, 1, I8, I8, I32, 4, 16, 16},
      {"v_mfma_i32_32x32x32_i8", "", 32, 32, 32, 1, I8, I8, I32, 8, 16, 16},
      {"v_mfma_i32_16x16x32_i8", "", 16, 16, 32, 1, I8, I8, I32, 4, 8, 8},
      {"v_mfma_i32_32x32x16_i8", "", 32, 32, 16, 1, I8, I8, I32, 8, 8, 8},
      {"v_mfma_i32_4x4x4_16b_i8", "", 4, 4, 4, 16, I8, I8, I32, 2, 4, 4},
      {"v_mfma_i32_16x16x4_4b_i8", "", 16, 16, 4, 4, I8, I8, I32, 8, 4, 4},
      {"v_mfma_i32_32x32x4_2b_i8", "", 32, 32, 4, 2, I8, I8, I32, 16, 4, 4},

      {"v_mfma_f32_16x16x32_fp8_fp8", "", 16, 16, 32, 1, FP8, FP8, F32, 4, 8,
       8},
      {"v_mfma_f32_16x16x32_fp8_bf8", "", 16, 16, 32, 1, FP8, BF8, F32, 4, 8,
       8},
      {"v_mfma_f32_16x16x32_bf8_fp8", "", 16, 16, 32, 1, BF8, FP8, F32, 4, 8,
       8},
      {"v_mfma_f32_16x16x32_bf8_bf8", "", 16, 16, 32, 1, BF8, BF8, F32, 4, 8,
       8},
      {"v_mfma_f32_32x32x16_fp8_fp8", "", 32, 32, 16, 1, FP8, FP8, F32, 8, 8,
       8},
      {"v_mfma_f32_32x32x16_fp8_bf8", "", 32, 32, 16, 1, FP8, BF8, F32, 8, 8,
       8},
      {"v_mfma_f32_32x32x16_bf8_fp8", "", 32, 32, 16, 1, BF8, FP8, F32, 8, 8,
       8},
      {"v_mfma_f32_32x32x16_bf8_bf8", "", 32, 32, 16, 1, BF8, BF8, F32, 8, 8,
       8}};

  // The f8f6f4 instructions take every pair of five formats (CDNA4 ISA, cbsz
  // and blgp). A pair with an 8-bit operand takes twice the passes (matrix
  // cores blog; LLVM SISchedule.td). A lane holds an 8-bit operand as two runs
  // of 16 k, half of k apart, and a narrower one as one run of 32: matrix cores
  // blog for 8 and 4 bits; 6 bits are assumed to be as 4.
  auto isWide = [](MatrixFormat format) { return bitWidth(format) == 8; };
  auto run = [&](MatrixFormat format) { return isWide(format) ? 16u : 32u; };
  for (MatrixFormat a : {FP8, BF8, FP6, BF6, FP4}) {
    for (MatrixFormat b : {FP8, BF8, FP6, BF6, FP4}) {
      unsigned slow = isWide(a) || isWide(b) ? 2 : 1;
      mfmas.push_back({"v_mfma_f32_16x16x128_f8f6f4",
                       "v_mfma_scale_f32_16x16x128_f8f6f4", 16, 16, 128, 1, a,
                       b, F32, 4 * slow, run(a), run(b)});
      mfmas.push_back({"v_mfma_f32_32x32x64_f8f6f4",
                       "v_mfma_scale_f32_32x32x64_f8f6f4", 32, 32, 64, 1, a, b,
                       F32, 8 * slow, run(a), run(b)});
    }
  }
  return mfmas;
}

//===----------------------------------------------------------------------===//
// The chip
//===----------------------------------------------------------------------===//

const Chip &gfx950() {
  static const Chip chip = {
      {
          .chip = "gfx950",
          .product = "MI355X",

          .computeUnits = 256,      // Hot Chips 2025: 8 XCDs of 32 active CUs
          .xcds = 8,                // Hot Chips 2025
          .simdsPerCu = 4,          // CDNA4 ISA
          .waveSize = 64,           // LLVM FeatureWavefrontSize64
          .maxWavesPerSimd = 8,     // LLVM getMaxWavesPerEU (gfx90a and later)
          .maxWorkgroupSize = 1024, // LLVM getMaxFlatWorkGroupSize
          .maxBarriersPerCu = 16,   // LLVM getMaxWorkGroupsPerCU
          .clockHz = 2.4e9,         // Hot Chips 2025

          .vgprsPerSimd = 512,   // LLVM getTotalNumVGPRs (gfx90a and later)
          .maxArchVgprs = 256,   // CDNA4 ISA
          .maxAccVgprs = 256,    // CDNA4 ISA
          .vgprGranule = 8,      // LLVM getVGPRAllocGranule (gfx90a and later)
          .accOffsetGranule = 4, // LLVM AMDGPUUsage, ACCUM_OFFSET
          .sgprsPerSimd = 800,   // LLVM getTotalNumSGPRs
          .maxSgprs = 102,       // LLVM getAddressableNumSGPRs
          .sgprGranule = 16,     // LLVM getSGPRAllocGranule

          .ldsBytes = 163840, // LLVM FeatureAddressableLocalMemorySize163840
          .ldsGranule = 1280, // LLVM getLdsDwGranularity: 320 dwords
          .ldsReadBytesPerClock = 256,  // ROCm blog "CDNA4 GEMM kernels"
          .ldsWriteBytesPerClock = 128, // HipKittens, ds_write_b64
          .ldsRules = ldsRules,
          .transposedLdsReads = transposedLdsReads,
          .directToLdsWidths = directToLdsWidths,

          .l1Bytes = 32 << 10,               // nod-ai guide
          .l1LineBytes = 128,                // nod-ai guide
          .instructionCacheBytes = 64 << 10, // nod-ai guide
          .instructionCacheCus = 2,          // CDNA3 white paper; assumed kept
          .l2Bytes = 4 << 20,                // nod-ai guide
          .l2LineBytes = 128,                // nod-ai guide
          .mallBytes = uint64_t(256) << 20,  // Hot Chips 2025
          .mallLineBytes = 64,               // nod-ai guide
          .hbmBytes = uint64_t(288) * 1000 * 1000 * 1000, // Hot Chips 2025
          .hbmPeakBandwidth = 8e12,                       // Hot Chips 2025
          // AITER kimik3_a4w4_tuned_fmoe.csv: 1.95 GB of weights in 325 us.
          .hbmAttainableBandwidth = 6.0e12,

          .permlane16Swap = true,        // LLVM FeaturePermlane16Swap
          .permlane32Swap = true,        // LLVM FeaturePermlane32Swap
          .packedBf16Conversion = true,  // LLVM FeatureGFX950Insts
          .packedFp32 = true,            // LLVM FeaturePackedFP32Ops
          .scaledConversions = true,     // LLVM FeatureFP4ConversionScaleInsts
          .bitop3 = true,                // LLVM FeatureBitOp3Insts
          .minimum3Maximum3 = true,      // LLVM FeatureMinimum3Maximum3F32
          .fp8Flavour = Fp8Flavour::OCP, // CDNA4 ISA

          .elfMach = llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950, // LLVM ELF.h
          .supportsXnack = true,     // LLVM AMDGPUUsage, processor table
          .supportsSramEcc = true,   // LLVM AMDGPUUsage, processor table
          .kernargPreloadSgprs = 16, // LLVM AMDGPUUsage, preloaded arguments
      },
      makeMfmas()};
  return chip;
}

} // namespace tenon::target
