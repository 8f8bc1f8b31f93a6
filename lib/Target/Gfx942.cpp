//===- Gfx942.cpp - The table of gfx942 (CDNA3, MI300X) ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each figure has its source beside it; "assumed" marks what no public source
// states. Sources named more than once:
//   LLVM         LLVM 22, llvm/lib/Target/AMDGPU and IntrinsicsAMDGPU.td
//   CDNA3 ISA    "AMD Instinct MI300 Instruction Set Architecture"
//   CDNA3        AMD CDNA3 white paper and the MI300X data sheet
//   CK-Tile LDS  Composable Kernel documentation, "LDS bank conflicts"
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

static constexpr uint64_t phasesHalves[] = {lanes(0, 31), lanes(32, 63)};

static constexpr uint64_t phasesQuarters[] = {lanes(0, 15), lanes(16, 31),
                                              lanes(32, 47), lanes(48, 63)};

/// ds_write_b128: CK-Tile LDS.
static constexpr uint64_t phasesEighths[] = {
    lanes(0, 7),   lanes(8, 15),  lanes(16, 23), lanes(24, 31),
    lanes(32, 39), lanes(40, 47), lanes(48, 55), lanes(56, 63)};

/// ds_read_b128: CK-Tile LDS.
static constexpr uint64_t phasesReadB128[] = {
    lanes(0, 3) | lanes(20, 23),   lanes(4, 7) | lanes(16, 19),
    lanes(8, 11) | lanes(28, 31),  lanes(12, 15) | lanes(24, 27),
    lanes(32, 35) | lanes(52, 55), lanes(36, 39) | lanes(48, 51),
    lanes(40, 43) | lanes(60, 63), lanes(44, 47) | lanes(56, 59)};

/// 32 banks: CDNA3 ISA, CK-Tile LDS. Phases of b128 as above; those of the
/// narrower accesses are assumed: consecutive lanes that move 128 bytes.
static constexpr LdsAccessRule ldsRules[] = {
    {LdsOp::ReadB32, 32, phasesHalves},   {LdsOp::ReadB64, 32, phasesQuarters},
    {LdsOp::ReadB96, 32, phasesReadB128}, {LdsOp::ReadB128, 32, phasesReadB128},
    {LdsOp::WriteB32, 32, phasesHalves},  {LdsOp::WriteB64, 32, phasesQuarters},
    {LdsOp::WriteB96, 32, phasesEighths}, {LdsOp::WriteB128, 32, phasesEighths},
};

/// LLVM: the size operand of llvm.amdgcn.global.load.lds, "1/2/4 (/12/16 for
/// gfx950)".
static constexpr unsigned directToLdsWidths[] = {1, 2, 4};

//===----------------------------------------------------------------------===//
// MFMA
//===----------------------------------------------------------------------===//

/// Passes: LLVM SIDPGFX942FullSpeedModel (SISchedule.td). A lane's k are
/// consecutive: CDNA3 ISA, section on MFMA register layouts.
static std::vector<Mfma> makeMfmas() {
  using enum MatrixFormat;
  return {
      // mnemonic, scaled, m, n, k, blocks, a, b, acc, passes, aRun, bRun
      {"v_mfma_f64_16x16x4_f64", "", 16, 16, 4, 1, F64, F64, F64, 8, 1, 1},
      {"v_mfma_f64_4x4x4_4b_f64", "", 4, 4, 4, 4, F64, F64, F64, 4, 1, 1},

      {"v_mfma_f32_16x16x4_f32", "", 16, 16, 4, 1, F32, F32, F32, 8, 1, 1},
      {"v_mfma_f32_32x32x2_f32", "", 32, 32, 2, 1, F32, F32, F32, 16, 1, 1},
      {"v_mfma_f32_4x4x1_16b_f32", "", 4, 4, 1, 16, F32, F32, F32, 2, 1, 1},
      {"v_mfma_f32_16x16x1_4b_f32", "", 16, 16, 1, 4, F32, F32, F32, 8, 1, 1},
      {"v_mfma_f32_32x32x1_2b_f32", "", 32, 32, 1, 2, F32, F32, F32, 16, 1, 1},

      {"v_mfma_f32_16x16x8_xf32", "", 16, 16, 8, 1, XF32, XF32, F32, 4, 2, 2},
      {"v_mfma_f32_32x32x4_xf32", "", 32, 32, 4, 1, XF32, XF32, F32, 8, 2, 2},

      {"v_mfma_f32_16x16x16_f16", "", 16, 16, 16, 1, F16, F16, F32, 4, 4, 4},
      {"v_mfma_f32_32x32x8_f16", "", 32, 32, 8, 1, F16, F16, F32, 8, 4, 4},
      {"v_mfma_f32_4x4x4_16b_f16", "", 4, 4, 4, 16, F16, F16, F32, 2, 4, 4},
      {"v_mfma_f32_16x16x4_4b_f16", "", 16, 16, 4, 4, F16, F16, F32, 8, 4, 4},
      {"v_mfma_f32_32x32x4_2b_f16", "", 32, 32, 4, 2, F16, F16, F32, 16, 4, 4},

      {"v_mfma_f32_16x16x16_bf16", "", 16, 16, 16, 1, BF16, BF16, F32, 4, 4, 4},
      {"v_mfma_f32_32x32x8_bf16", "", 32, 32, 8, 1, BF16, BF16, F32, 8, 4, 4},
      {"v_mfma_f32_4x4x4_16b_bf16", "", 4, 4, 4, 16, BF16, BF16, F32, 2, 4, 4},
      {"v_mfma_f32_16x16x4_4b_bf16", "", 16, 16, 4, 4, BF16, BF16, F32, 8, 4,
       4},
      {"v_mfma_f32_32x32x4_2b_bf16", "", 32, 32, 4, 2, BF16, BF16, F32, 16, 4,
       4},

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
}

//===----------------------------------------------------------------------===//
// The chip
//===----------------------------------------------------------------------===//

const Chip &gfx942() {
  static const Chip chip = {
      {
          .chip = "gfx942",
          .product = "MI300X",

          .computeUnits = 304,      // CDNA3: 8 XCDs of 38 active CUs
          .xcds = 8,                // CDNA3
          .simdsPerCu = 4,          // CDNA3 ISA
          .waveSize = 64,           // LLVM FeatureWavefrontSize64
          .maxWavesPerSimd = 8,     // LLVM getMaxWavesPerEU (gfx90a and later)
          .maxWorkgroupSize = 1024, // LLVM getMaxFlatWorkGroupSize
          .maxBarriersPerCu = 16,   // LLVM getMaxWorkGroupsPerCU
          .clockHz = 2.1e9,         // CDNA3

          .vgprsPerSimd = 512,   // LLVM getTotalNumVGPRs (gfx90a and later)
          .maxArchVgprs = 256,   // CDNA3 ISA
          .maxAccVgprs = 256,    // CDNA3 ISA
          .vgprGranule = 8,      // LLVM getVGPRAllocGranule (gfx90a and later)
          .accOffsetGranule = 4, // LLVM AMDGPUUsage, ACCUM_OFFSET
          .sgprsPerSimd = 800,   // LLVM getTotalNumSGPRs
          .maxSgprs = 102,       // LLVM getAddressableNumSGPRs
          .sgprGranule = 16,     // LLVM getSGPRAllocGranule

          .ldsBytes = 65536, // LLVM FeatureAddressableLocalMemorySize65536
          .ldsGranule = 512, // LLVM getLdsDwGranularity: 128 dwords
          .ldsReadBytesPerClock = 128,  // CDNA3
          .ldsWriteBytesPerClock = 128, // CDNA3
          .ldsRules = ldsRules,
          .transposedLdsReads = {}, // LLVM: none before FeatureGFX950Insts
          .directToLdsWidths = directToLdsWidths,

          .l1Bytes = 32 << 10,                            // CDNA3
          .l1LineBytes = 128,                             // CDNA3
          .instructionCacheBytes = 64 << 10,              // CDNA3
          .instructionCacheCus = 2,                       // CDNA3
          .l2Bytes = 4 << 20,                             // CDNA3
          .l2LineBytes = 128,                             // CDNA3
          .mallBytes = uint64_t(256) << 20,               // CDNA3
          .mallLineBytes = 64,                            // CDNA3
          .hbmBytes = uint64_t(192) * 1000 * 1000 * 1000, // CDNA3
          .hbmPeakBandwidth = 5.3e12,                     // CDNA3
          .hbmAttainableBandwidth = 4.0e12, // assumed: three quarters of peak

          .permlane16Swap = false,        // LLVM: from FeatureGFX950Insts on
          .permlane32Swap = false,        // LLVM: from FeatureGFX950Insts on
          .packedBf16Conversion = false,  // LLVM: from FeatureGFX950Insts on
          .packedFp32 = true,             // LLVM FeaturePackedFP32Ops
          .scaledConversions = false,     // LLVM: from FeatureGFX950Insts on
          .bitop3 = false,                // LLVM: from FeatureGFX950Insts on
          .minimum3Maximum3 = false,      // LLVM: from FeatureGFX950Insts on
          .fp8Flavour = Fp8Flavour::FNUZ, // CDNA3 ISA

          .elfMach = llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX942, // LLVM ELF.h
          .supportsXnack = true,     // LLVM AMDGPUUsage, processor table
          .supportsSramEcc = true,   // LLVM AMDGPUUsage, processor table
          .kernargPreloadSgprs = 16, // LLVM AMDGPUUsage, preloaded arguments
      },
      makeMfmas()};
  return chip;
}

} // namespace tenon::target
