//===- TargetInfo.cpp - Capability questions about a chip -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Target/TargetInfo.h"

#include "Chips.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tenon::target {

unsigned bitWidth(MatrixFormat format) {
  switch (format) {
  case MatrixFormat::F64:
    return 64;
  case MatrixFormat::F32:
  case MatrixFormat::XF32:
  case MatrixFormat::I32:
    return 32;
  case MatrixFormat::F16:
  case MatrixFormat::BF16:
    return 16;
  case MatrixFormat::I8:
  case MatrixFormat::FP8:
  case MatrixFormat::BF8:
    return 8;
  case MatrixFormat::FP6:
  case MatrixFormat::BF6:
    return 6;
  case MatrixFormat::FP4:
    return 4;
  }
  llvm_unreachable("covered switch");
}

llvm::StringRef name(MatrixFormat format) {
  switch (format) {
  case MatrixFormat::F64:
    return "f64";
  case MatrixFormat::F32:
    return "f32";
  case MatrixFormat::XF32:
    return "xf32";
  case MatrixFormat::F16:
    return "f16";
  case MatrixFormat::BF16:
    return "bf16";
  case MatrixFormat::I8:
    return "i8";
  case MatrixFormat::I32:
    return "i32";
  case MatrixFormat::FP8:
    return "fp8";
  case MatrixFormat::BF8:
    return "bf8";
  case MatrixFormat::FP6:
    return "fp6";
  case MatrixFormat::BF6:
    return "bf6";
  case MatrixFormat::FP4:
    return "fp4";
  }
  llvm_unreachable("covered switch");
}

llvm::ArrayRef<llvm::StringRef> TargetInfo::knownChips() {
  static const llvm::StringRef chips[] = {"gfx942", "gfx950"};
  return chips;
}

llvm::Expected<TargetInfo> TargetInfo::get(llvm::StringRef chip) {
  for (const Chip *known : {&gfx942(), &gfx950()}) {
    if (known->facts.chip == chip) {
      return TargetInfo(known);
    }
  }
  return llvm::createStringError(
      "unknown target '" + chip +
      "'; known targets: " + llvm::join(knownChips(), ", "));
}

//===----------------------------------------------------------------------===//
// Registers and occupancy
//===----------------------------------------------------------------------===//

unsigned TargetInfo::vgprAllocation(unsigned vgprs, unsigned agprs) const {
  const ChipFacts &chip = facts();
  unsigned total =
      agprs == 0 ? vgprs : llvm::alignTo(vgprs, chip.accOffsetGranule) + agprs;
  // A wave has at least one granule.
  return llvm::alignTo(std::max(total, 1u), chip.vgprGranule);
}

unsigned TargetInfo::sgprAllocation(unsigned sgprs) const {
  return llvm::alignTo(std::max(sgprs, 1u), facts().sgprGranule);
}

unsigned TargetInfo::wavesPerSimd(unsigned vgprs, unsigned agprs,
                                  unsigned sgprs) const {
  const ChipFacts &chip = facts();
  if (vgprs > chip.maxArchVgprs || agprs > chip.maxAccVgprs) {
    return 0;
  }
  unsigned byVgprs = chip.vgprsPerSimd / vgprAllocation(vgprs, agprs);
  unsigned bySgprs = chip.sgprsPerSimd / sgprAllocation(sgprs);
  return std::min({chip.maxWavesPerSimd, byVgprs, bySgprs});
}

unsigned TargetInfo::maxVgprsForWaves(unsigned waves) const {
  return llvm::alignDown(facts().vgprsPerSimd / waves, facts().vgprGranule);
}

uint64_t TargetInfo::ldsAllocation(uint64_t bytes) const {
  return llvm::alignTo(bytes, facts().ldsGranule);
}

unsigned TargetInfo::workgroupsPerCu(unsigned vgprs, unsigned agprs,
                                     uint64_t ldsBytes, unsigned workgroupSize,
                                     unsigned sgprs) const {
  const ChipFacts &chip = facts();
  if (workgroupSize == 0 || workgroupSize > chip.maxWorkgroupSize) {
    return 0;
  }
  unsigned waves = llvm::divideCeil(workgroupSize, chip.waveSize);
  unsigned slots = wavesPerSimd(vgprs, agprs, sgprs) * chip.simdsPerCu;
  unsigned groups = slots / waves;
  // A workgroup of one wave needs no barrier.
  if (waves > 1) {
    groups = std::min(groups, chip.maxBarriersPerCu);
  }
  if (ldsBytes > 0) {
    groups =
        std::min<uint64_t>(groups, chip.ldsBytes / ldsAllocation(ldsBytes));
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// LDS and instructions
//===----------------------------------------------------------------------===//

const LdsAccessRule &TargetInfo::ldsRule(LdsOp op) const {
  const LdsAccessRule *rule = llvm::find_if(
      facts().ldsRules, [&](const LdsAccessRule &r) { return r.op == op; });
  assert(rule != facts().ldsRules.end() && "every chip states every LdsOp");
  return *rule;
}

bool TargetInfo::hasDirectToLds(unsigned bytesPerLane) const {
  return llvm::is_contained(directToLdsWidths(), bytesPerLane);
}

std::optional<TransposedLdsRead>
TargetInfo::transposedLdsRead(unsigned elementBits) const {
  for (const TransposedLdsRead &read : facts().transposedLdsReads) {
    if (read.elementBits == elementBits) {
      return read;
    }
  }
  return std::nullopt;
}

llvm::ArrayRef<Mfma> TargetInfo::mfmas() const { return entry->mfmas; }

const Mfma *TargetInfo::findMfma(unsigned m, unsigned n, unsigned k,
                                 MatrixFormat a, MatrixFormat b) const {
  for (const Mfma &mfma : mfmas()) {
    if (mfma.blocks == 1 && mfma.m == m && mfma.n == n && mfma.k == k &&
        mfma.a == a && mfma.b == b) {
      return &mfma;
    }
  }
  return nullptr;
}

std::vector<Mfma> TargetInfo::mfmasFor(MatrixFormat a, MatrixFormat b) const {
  std::vector<Mfma> found;
  for (const Mfma &mfma : mfmas()) {
    if (mfma.blocks == 1 && mfma.a == a && mfma.b == b) {
      found.push_back(mfma);
    }
  }
  llvm::sort(found, [](const Mfma &left, const Mfma &right) {
    uint64_t leftRate = left.flops() * right.cycles();
    uint64_t rightRate = right.flops() * left.cycles();
    if (leftRate != rightRate) {
      return leftRate > rightRate;
    }
    // No two instructions of one rate share a tile, so this order is total.
    return left.m * left.n < right.m * right.n;
  });
  return found;
}

const ChipFacts &TargetInfo::facts() const { return entry->facts; }

const TimingFacts &TargetInfo::timing() const { return gfx950Timing(); }

} // namespace tenon::target
