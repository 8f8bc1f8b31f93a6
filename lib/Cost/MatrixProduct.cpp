//===- MatrixProduct.cpp - cost of products of matrices ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Cost/MatrixProduct.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tenon;

// Multiplications of a compute unit per clock for operands of 16 bits (facts on
// MFMA: 1024 FLOP per clock and SIMD); twice as many for 8, four times for 4.
static constexpr double productsPerClock16 = 2048.0;
// Elements along k of one instruction for operands of 16 bits.
static constexpr double instructionDepth = 32.0;
// What begins and ends a workgroup besides, in round trips to memory; assumed.
static constexpr double workgroupTrips = 1.5;
// Registers for addresses and other scalars of a lane.
static constexpr unsigned otherRegisters = 32;

std::optional<double>
cost::matrixProductCost(const MatrixProduct &product, const MatrixTile &tile,
                        const target::TargetInfo &target) {
  const target::ChipFacts &facts = target.facts();
  const target::TimingFacts &timing = target.timing();
  unsigned sharing = tile.wavesM * tile.wavesN;
  unsigned waves = sharing * tile.wavesK;
  double lhsBytes = product.lhsBits / 8.0;
  double rhsBytes = product.rhsBits / 8.0;
  double columns = static_cast<double>(tile.n) * tile.products;
  double waveLhs = tile.m / tile.wavesM * lhsBytes;
  double waveRhs = columns / tile.wavesN * rhsBytes;
  double lhsTile = static_cast<double>(tile.m) * tile.k * lhsBytes;
  double rhsTile = columns * tile.k * rhsBytes;
  // What is staged in LDS needs registers for two steps of the instruction.
  auto registersFor = [&](bool inLds, double waveBytes) {
    double depth = inLds ? 2.0 * instructionDepth
                         : double(tile.stages) * tile.k / tile.wavesK;
    return waveBytes * depth / (64.0 * 4.0);
  };
  double accumulators = tile.m * columns / (64.0 * sharing);
  double operands = registersFor(tile.lhsInLds, waveLhs) +
                    registersFor(tile.rhsInLds, waveRhs);
  double registers = accumulators + operands + otherRegisters;
  double ldsBytes = tile.stages * ((tile.lhsInLds ? lhsTile : 0.0) +
                                   (tile.rhsInLds ? rhsTile : 0.0));
  if (registers > facts.vgprsPerSimd || ldsBytes > facts.ldsBytes) {
    return std::nullopt;
  }
  unsigned resident = target.workgroupsPerCu(static_cast<unsigned>(registers),
                                             0, static_cast<uint64_t>(ldsBytes),
                                             waves * target.waveSize());
  if (resident == 0) {
    return std::nullopt;
  }
  auto ceilDiv = [](int64_t a, int64_t b) {
    return static_cast<double>(llvm::divideCeil(a, b));
  };
  double workgroups = ceilDiv(product.m, tile.m) *
                      ceilDiv(product.n, tile.n * int64_t(tile.products));
  double onOne = ceilDiv(workgroups, facts.computeUnits);
  double rounds = ceilDiv(onOne, resident);
  double steps = ceilDiv(product.k, tile.k);
  // A tile on fewer waves than SIMDs leaves some of them idle.
  double simds = std::min<double>(facts.simdsPerCu,
                                  waves * std::min<double>(onOne, resident));
  unsigned bits = std::max(product.lhsBits, product.rhsBits);
  double productsPerClock =
      productsPerClock16 * 16.0 / bits * simds / facts.simdsPerCu;
  double matrixClocks = tile.m * columns * steps * tile.k / productsPerClock;
  auto clocksOf = [&](bool inLds, double tileBytes, double waveBytes) {
    return inLds
               ? tileBytes * steps / timing.ldsCopyBytesPerClock
               : sharing * waveBytes * steps * tile.k / timing.l1BytesPerClock;
  };
  double l1Clocks = clocksOf(tile.lhsInLds, lhsTile, waveLhs) +
                    clocksOf(tile.rhsInLds, rhsTile, waveRhs);
  double ldsReads =
      (tile.lhsInLds ? waveLhs : 0.0) + (tile.rhsInLds ? waveRhs : 0.0);
  double ldsClocks =
      sharing * ldsReads * steps * tile.k / facts.ldsReadBytesPerClock;
  double memoryLatency = timing.l2HitClocks / facts.clockHz +
                         (timing.mallNs + timing.hbmNs) * 1e-9;
  double ends = workgroupTrips * memoryLatency;
  if (tile.wavesK > 1) {
    // The sums of the waves along K go through LDS, written by all of them.
    ldsClocks += 2.0 * tile.m * columns * 4.0 * tile.wavesK /
                 facts.ldsWriteBytesPerClock;
    ends += memoryLatency / 2;
  }
  // A step takes what the busiest unit works for all workgroups of the compute
  // unit, or its share of a round trip when the steps in flight do not cover
  // that.
  double together = std::min<double>(onOne, resident);
  double stepTime = together * std::max({matrixClocks, l1Clocks, ldsClocks}) /
                    steps / facts.clockHz;
  double flight = (memoryLatency + stepTime) / std::max(1u, tile.stages - 1);
  double onUnit = rounds * (steps * std::max(stepTime, flight) + ends);
  double l2Bandwidth = timing.l2ChannelBytesPerClock * timing.l2Channels *
                       facts.xcds * facts.clockHz;
  double l2Time = workgroups * steps * (lhsTile + rhsTile) / l2Bandwidth;
  double bytes = product.k * (product.m * lhsBytes + product.n * rhsBytes);
  return std::max({onUnit, l2Time, bytes / timing.hbmBandwidth});
}
