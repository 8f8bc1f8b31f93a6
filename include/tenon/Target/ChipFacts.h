//===- ChipFacts.h - What is known about one chip ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The facts that a chip table (lib/Target/Gfx950.cpp ...) states. They are data
// only; TargetInfo answers the questions that follow from them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TARGET_CHIPFACTS_H
#define TENON_TARGET_CHIPFACTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace tenon::target {

/// Element format of a matrix operand or accumulator.
enum class MatrixFormat {
  F64,
  F32,
  XF32, ///< F32 storage, mantissa cut to 10 bits by the multiplier
  F16,
  BF16,
  I8,
  I32,
  FP8, ///< E4M3, in the flavour of ChipFacts::fp8Flavour
  BF8, ///< E5M2, in the flavour of ChipFacts::fp8Flavour
  FP6, ///< E2M3
  BF6, ///< E3M2
  FP4, ///< E2M1
};

/// Storage bits of one element: 64, 32, 16, 8, 6 or 4.
unsigned bitWidth(MatrixFormat format);

/// Lower-case name, for example "bf16" or "fp4".
llvm::StringRef name(MatrixFormat format);

/// Encoding of 8-bit floats.
enum class Fp8Flavour {
  OCP,  ///< E4M3FN and E5M2 of the OCP specification: bias 7 and 15
  FNUZ, ///< no infinity, no negative zero: bias 8 and 16
};

/// One dense MFMA with one pair of operand formats: D[m,n] += A[m,k] B[k,n], in
/// `blocks` independent products, executed by one wave of 64 lanes.
struct Mfma {
  /// Assembly mnemonic. The f8f6f4 instructions name their operand formats in
  /// cbsz and blgp, so that several Mfma share one mnemonic.
  llvm::StringRef mnemonic;
  /// Mnemonic of the form with one E8M0 scale per 32 elements of k; empty when
  /// there is none.
  llvm::StringRef scaledMnemonic;
  unsigned m, n, k, blocks;
  MatrixFormat a, b, acc;
  /// Passes of 4 clocks that the instruction occupies the matrix core of its
  /// SIMD.
  unsigned passes;
  /// Consecutive k that a lane of A (of B) holds in one run. Lane group
  /// g = lane / m holds the runs k = run * (g + groups * r) + [0, run) with
  /// groups = 64 / (m * blocks), r = 0 ... kPerLane() / run - 1. A holds row
  /// lane % m, B column lane % n.
  unsigned aRun, bRun;

  /// Elements of A (equally of B) in one lane.
  unsigned kPerLane() const { return m * k * blocks / 64; }
  /// 32-bit registers of one lane that hold A, B and the accumulator.
  unsigned aRegisters() const { return (kPerLane() * bitWidth(a) + 31) / 32; }
  unsigned bRegisters() const { return (kPerLane() * bitWidth(b) + 31) / 32; }
  unsigned accRegisters() const {
    return m * n * blocks / 64 * bitWidth(acc) / 32;
  }
  /// Clocks that the instruction occupies the matrix core.
  unsigned cycles() const { return 4 * passes; }
  /// Multiplications and additions of one instruction, counted separately.
  uint64_t flops() const { return uint64_t(2) * m * n * k * blocks; }
  bool isScalable() const { return !scaledMnemonic.empty(); }
};

/// LDS instructions whose lanes are served in different phases.
enum class LdsOp {
  ReadB32,
  ReadB64,
  ReadB96,
  ReadB128,
  WriteB32,
  WriteB64,
  WriteB96,
  WriteB128,
};

/// How one LDS instruction is served: the lanes of a phase proceed together in
/// one clock unless two of them want different 4-byte words of one bank.
struct LdsAccessRule {
  LdsOp op;
  /// Banks of 4 bytes: bank = (address / 4) % banks.
  unsigned banks;
  /// One mask of lanes per phase; the phases partition the 64 lanes.
  llvm::ArrayRef<uint64_t> phases;
};

/// A ds_read_b<totalBits>_tr_b<elementBits>: within 16 lanes, the lanes'
/// contiguous bits are a row-major matrix of 16 columns and lane t receives
/// column t.
struct TransposedLdsRead {
  unsigned elementBits;
  unsigned totalBits;
};

/// Everything a chip table states. Sizes are bytes, rates bytes per second or
/// bytes per clock, clocks hertz.
struct ChipFacts {
  /// LLVM processor name, the only spelling accepted by TargetInfo::get.
  llvm::StringRef chip;
  /// The product whose clock, counts and bandwidths these are.
  llvm::StringRef product;

  // Compute.
  unsigned computeUnits;
  unsigned xcds; ///< dies; workgroup i starts on die i % xcds
  unsigned simdsPerCu;
  unsigned waveSize;
  unsigned maxWavesPerSimd;
  unsigned maxWorkgroupSize;
  /// Workgroups of more than one wave that a compute unit can hold: each takes
  /// a barrier.
  unsigned maxBarriersPerCu;
  double clockHz; ///< peak engine clock

  // Registers, per lane (VGPR) or per wave (SGPR).
  unsigned vgprsPerSimd; ///< architectural and accumulator registers together
  unsigned maxArchVgprs;
  unsigned maxAccVgprs;
  unsigned vgprGranule;
  unsigned accOffsetGranule; ///< accumulators start at a multiple of this
  unsigned sgprsPerSimd;
  unsigned maxSgprs; ///< addressable by one wave, VCC not counted
  unsigned sgprGranule;

  // LDS.
  unsigned ldsBytes;   ///< of a compute unit, and the most for one workgroup
  unsigned ldsGranule; ///< allocation unit
  unsigned ldsReadBytesPerClock;  ///< of a compute unit
  unsigned ldsWriteBytesPerClock; ///< of a compute unit
  llvm::ArrayRef<LdsAccessRule> ldsRules;
  llvm::ArrayRef<TransposedLdsRead> transposedLdsReads;
  /// Bytes per lane of the copies from global memory into LDS.
  llvm::ArrayRef<unsigned> directToLdsWidths;

  // Memory.
  unsigned l1Bytes, l1LineBytes; ///< vector data cache of a compute unit
  unsigned instructionCacheBytes;
  unsigned instructionCacheCus;  ///< compute units that share one
  unsigned l2Bytes, l2LineBytes; ///< of one die
  uint64_t mallBytes; ///< memory-side cache of the device (Infinity Cache)
  unsigned mallLineBytes;
  uint64_t hbmBytes;
  double hbmPeakBandwidth;
  /// What well-written streaming kernels reach.
  double hbmAttainableBandwidth;

  // Instructions.
  bool permlane16Swap, permlane32Swap;
  bool packedBf16Conversion; ///< v_cvt_pk_bf16_f32
  bool packedFp32;           ///< v_pk_fma_f32, v_pk_mul_f32, v_pk_add_f32
  bool scaledConversions;    ///< v_cvt_scalef32_*
  bool bitop3;               ///< v_bitop3_b32
  bool minimum3Maximum3;     ///< v_minimum3_f32, v_maximum3_f32
  Fp8Flavour fp8Flavour;

  // Code object.
  unsigned elfMach; ///< EF_AMDGPU_MACH_* of the ELF flags
  bool supportsXnack, supportsSramEcc;
  unsigned kernargPreloadSgprs; ///< arguments that can arrive in registers
};

} // namespace tenon::target

#endif // TENON_TARGET_CHIPFACTS_H
