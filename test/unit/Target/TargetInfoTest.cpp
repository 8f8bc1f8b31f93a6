//===- TargetInfoTest.cpp - Chip tables against LLVM ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Target/TargetInfo.h"

#include "llvm-c/Target.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"

#include <gtest/gtest.h>

#include <set>

using namespace tenon::target;

namespace {

TargetInfo chip(llvm::StringRef name) {
  return llvm::cantFail(TargetInfo::get(name));
}

TEST(TargetInfoTest, UnknownChipsNameTheKnown) {
  EXPECT_EQ(llvm::toString(TargetInfo::get("gfx1100").takeError()),
            "unknown target 'gfx1100'; known targets: gfx942, gfx950");
  EXPECT_EQ(llvm::toString(TargetInfo::get("").takeError()),
            "unknown target ''; known targets: gfx942, gfx950");
  for (llvm::StringRef known : TargetInfo::knownChips()) {
    EXPECT_EQ(chip(known).chip(), known);
  }
  EXPECT_EQ(chip("gfx950"), chip("gfx950"));
  EXPECT_FALSE(chip("gfx950") == chip("gfx942"));
}

//===----------------------------------------------------------------------===//
// What LLVM knows
//===----------------------------------------------------------------------===//

class AgainstLLVM : public testing::TestWithParam<const char *> {
protected:
  AgainstLLVM() {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    llvm::Triple triple("amdgcn-amd-amdhsa");
    std::string error;
    const llvm::Target *target =
        llvm::TargetRegistry::lookupTarget(triple, error);
    std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
        target->createMCSubtargetInfo(triple, GetParam(), ""));
    for (const auto &feature : subtarget->getAllProcessorFeatures()) {
      known.insert(feature.Key);
    }
    for (const auto &feature : subtarget->getEnabledProcessorFeatures()) {
      enabled.insert(feature.Key);
    }
  }

  /// Whether the chip has the feature \p name, which LLVM knows.
  bool has(llvm::StringRef name) const {
    EXPECT_TRUE(known.contains(name)) << name.str();
    return enabled.contains(name);
  }

  TargetInfo info = chip(GetParam());
  llvm::StringSet<> known, enabled;
};

TEST_P(AgainstLLVM, Features) {
  const ChipFacts &facts = info.facts();
  EXPECT_TRUE(
      has("addressablelocalmemorysize" + std::to_string(facts.ldsBytes)));
  EXPECT_TRUE(has("wavefrontsize" + std::to_string(facts.waveSize)));
  EXPECT_EQ(info.hasPermlane16Swap(), has("permlane16-swap"));
  EXPECT_EQ(info.hasPermlane32Swap(), has("permlane32-swap"));
  EXPECT_EQ(info.hasScaledConversions(), has("fp8-cvt-scale-insts"));
  EXPECT_EQ(info.hasScaledConversions(), has("fp4-cvt-scale-insts"));
  EXPECT_EQ(info.hasBitop3(), has("bitop3-insts"));
  EXPECT_EQ(info.hasMinimum3Maximum3(), has("minimum3-maximum3-f32"));
  EXPECT_EQ(info.hasPackedFp32(), has("packed-fp32-ops"));
  EXPECT_EQ(info.hasPackedBf16Conversion(), has("bf16-cvt-insts"));
  EXPECT_EQ(info.findMfma(16, 16, 8, MatrixFormat::XF32, MatrixFormat::XF32) !=
                nullptr,
            has("xf32-insts"));
  EXPECT_EQ(facts.supportsXnack, has("xnack-support"));
  EXPECT_EQ(facts.supportsSramEcc, has("sramecc-support"));
  EXPECT_EQ(facts.kernargPreloadSgprs != 0, has("kernarg-preload"));
  // Transposed reads and wide copies into LDS came with the gfx950
  // instructions.
  EXPECT_EQ(info.hasDirectToLds(16), has("gfx950-insts"));
  EXPECT_EQ(info.hasDirectToLds(12), has("gfx950-insts"));
  EXPECT_EQ(info.transposedLdsRead(16).has_value(), has("gfx950-insts"));
}

INSTANTIATE_TEST_SUITE_P(Chips, AgainstLLVM,
                         testing::Values("gfx942", "gfx950"),
                         [](const auto &test) { return test.param; });

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

// Waves by registers of the unified file: 512 in granules of 8.
TEST(OccupancyTest, WavesByRegisters) {
  TargetInfo info = chip("gfx950");
  const std::pair<unsigned, unsigned> limits[] = {{64, 8},  {72, 7},  {80, 6},
                                                  {96, 5},  {128, 4}, {168, 3},
                                                  {256, 2}, {512, 1}};
  unsigned total = 1;
  for (auto [last, waves] : limits) {
    for (; total <= last; ++total) {
      unsigned vgprs = std::min(total, 256u);
      EXPECT_EQ(info.wavesPerSimd(vgprs, total - vgprs), waves) << total;
    }
    EXPECT_EQ(info.maxVgprsForWaves(waves), last);
  }
  EXPECT_EQ(info.wavesPerSimd(0, 0), 8u);
}

// Accumulators begin at the next multiple of four.
TEST(OccupancyTest, AccumulatorsFollowArchitecturalRegisters) {
  TargetInfo info = chip("gfx950");
  EXPECT_EQ(info.vgprAllocation(30, 32), 64u);
  EXPECT_EQ(info.vgprAllocation(33, 28), 64u);
  EXPECT_EQ(info.vgprAllocation(33, 29), 72u);
  EXPECT_EQ(info.wavesPerSimd(33, 28), 8u);
  EXPECT_EQ(info.wavesPerSimd(33, 29), 7u);
  // Without accumulators nothing is rounded to four, only to the granule.
  EXPECT_EQ(info.vgprAllocation(61, 0), 64u);
  EXPECT_EQ(info.vgprAllocation(0, 1), 8u);
  // Each half of the file is limited by itself.
  EXPECT_EQ(info.wavesPerSimd(257, 0), 0u);
  EXPECT_EQ(info.wavesPerSimd(0, 257), 0u);
  EXPECT_EQ(info.wavesPerSimd(256, 256), 1u);
}

TEST(OccupancyTest, WavesByScalarRegisters) {
  TargetInfo info = chip("gfx950");
  EXPECT_EQ(info.wavesPerSimd(32, 0, 96), 8u);
  EXPECT_EQ(info.wavesPerSimd(32, 0, 97), 7u);
  EXPECT_EQ(info.sgprAllocation(97), 112u);
}

TEST(OccupancyTest, LdsGranules) {
  TargetInfo info = chip("gfx950");
  EXPECT_EQ(info.ldsAllocation(0), 0u);
  EXPECT_EQ(info.ldsAllocation(1), 1280u);
  EXPECT_EQ(info.ldsAllocation(1280), 1280u);
  EXPECT_EQ(info.ldsAllocation(1281), 2560u);
  EXPECT_EQ(chip("gfx942").ldsAllocation(513), 1024u);
  for (llvm::StringRef name : TargetInfo::knownChips()) {
    const ChipFacts &facts = chip(name).facts();
    EXPECT_EQ(facts.ldsBytes % facts.ldsGranule, 0u);
  }
}

TEST(OccupancyTest, WorkgroupsPerCu) {
  TargetInfo info = chip("gfx950");
  // 124 registers: 4 waves on each of 4 SIMDs, in groups of 4 waves.
  EXPECT_EQ(info.workgroupsPerCu(124, 0, 2560, 256), 4u);
  // By LDS: two groups of 80 KiB; one byte more leaves room for one.
  EXPECT_EQ(info.workgroupsPerCu(32, 0, 81920, 256), 2u);
  EXPECT_EQ(info.workgroupsPerCu(32, 0, 81921, 256), 1u);
  EXPECT_EQ(info.workgroupsPerCu(32, 0, 163840, 256), 1u);
  EXPECT_EQ(info.workgroupsPerCu(32, 0, 163841, 256), 0u);
  // Groups of 16 waves; three SIMDs' worth of waves in groups of three.
  EXPECT_EQ(info.workgroupsPerCu(64, 0, 0, 1024), 2u);
  EXPECT_EQ(info.workgroupsPerCu(72, 0, 0, 1024), 1u);
  EXPECT_EQ(info.workgroupsPerCu(256, 256, 0, 1024), 0u);
  EXPECT_EQ(info.workgroupsPerCu(512, 0, 0, 64), 0u);
  EXPECT_EQ(info.workgroupsPerCu(256, 0, 0, 192), 2u);
  // Groups of one wave need no barrier, larger ones one of 16.
  EXPECT_EQ(info.workgroupsPerCu(32, 0, 0, 64), 32u);
  EXPECT_EQ(info.workgroupsPerCu(32, 0, 0, 65), 16u);
  EXPECT_EQ(info.workgroupsPerCu(32, 0, 0, 0), 0u);
  EXPECT_EQ(info.workgroupsPerCu(32, 0, 0, 1025), 0u);
  EXPECT_EQ(chip("gfx942").workgroupsPerCu(32, 0, 32768, 256), 2u);
}

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

// Every instruction has its rule, and every lane is served once.
TEST(LdsTest, PhasesPartitionTheWave) {
  for (llvm::StringRef name : TargetInfo::knownChips()) {
    TargetInfo info = chip(name);
    for (LdsOp op : {LdsOp::ReadB32, LdsOp::ReadB64, LdsOp::ReadB96,
                     LdsOp::ReadB128, LdsOp::WriteB32, LdsOp::WriteB64,
                     LdsOp::WriteB96, LdsOp::WriteB128}) {
      const LdsAccessRule &rule = info.ldsRule(op);
      EXPECT_EQ(rule.op, op);
      uint64_t served = 0;
      for (uint64_t phase : rule.phases) {
        EXPECT_EQ(served & phase, 0u);
        served |= phase;
      }
      EXPECT_EQ(served, ~uint64_t(0));
    }
  }
}

/// Clocks that \p op needs when lane i accesses the 4-byte words from
/// stride * i on: the most different words that a phase wants of one bank.
unsigned clocks(const TargetInfo &info, LdsOp op, unsigned words,
                unsigned stride) {
  const LdsAccessRule &rule = info.ldsRule(op);
  unsigned total = 0;
  for (uint64_t phase : rule.phases) {
    std::vector<std::set<unsigned>> wanted(rule.banks);
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned w = 0; (phase >> lane & 1) && w < words; ++w) {
        unsigned word = lane * stride + w;
        wanted[word % rule.banks].insert(word);
      }
    }
    size_t worst = 0;
    for (const std::set<unsigned> &words : wanted) {
      worst = std::max(worst, words.size());
    }
    total += worst;
  }
  return total;
}

// Consecutive lanes at consecutive addresses meet no conflict: a phase moves
// what the banks can. (Not so b96 reads, whose phases join distant lanes.)
TEST(LdsTest, ContiguousAccessesAreFree) {
  for (llvm::StringRef name : TargetInfo::knownChips()) {
    TargetInfo info = chip(name);
    for (auto [op, words] : {std::pair<LdsOp, unsigned>{LdsOp::ReadB32, 1},
                             {LdsOp::ReadB64, 2},
                             {LdsOp::ReadB128, 4},
                             {LdsOp::WriteB32, 1},
                             {LdsOp::WriteB64, 2},
                             {LdsOp::WriteB96, 3},
                             {LdsOp::WriteB128, 4}}) {
      EXPECT_EQ(clocks(info, op, words, words), info.ldsRule(op).phases.size())
          << name.str() << " " << int(op);
    }
  }
}

// A row of 128 bytes per lane of b128 reads: on 64 banks every second lane of
// a phase meets, 8 ways; on 32 banks all 8 lanes of a phase.
TEST(LdsTest, RowsOf128BytesConflict) {
  EXPECT_EQ(clocks(chip("gfx950"), LdsOp::ReadB128, 4, 32), 4u * 8);
  EXPECT_EQ(clocks(chip("gfx942"), LdsOp::ReadB128, 4, 32), 8u * 8);
}

TEST(LdsTest, TransposedReads) {
  TargetInfo info = chip("gfx950");
  EXPECT_EQ(info.transposedLdsRead(16)->totalBits, 64u);
  EXPECT_EQ(info.transposedLdsRead(6)->totalBits, 96u);
  EXPECT_FALSE(info.transposedLdsRead(32));
  EXPECT_FALSE(info.hasDirectToLds(8));
  EXPECT_TRUE(info.hasDirectToLds(4));
}

} // namespace
