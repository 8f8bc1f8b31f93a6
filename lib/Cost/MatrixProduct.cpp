//===- MatrixProduct.cpp - cost of products of matrices ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Cost/MatrixProduct.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tenon;

// Round trip of a load that misses every cache, seconds; assumed, only the
// order of schedules depends on it.
static constexpr double memoryLatency = 0.8e-6;
// What the L1 of a compute unit delivers (lib/Target, l1BytesPerClock).
static constexpr double l1BytesPerClock = 64.0;
// Multiplications of a compute unit per clock for operands of 16 bits (facts on
// MFMA: 1024 FLOP per clock and SIMD); twice as many for 8, four times for 4.
static constexpr double productsPerClock16 = 2048.0;
// Registers for addresses and other scalars of a lane.
static constexpr unsigned otherRegisters = 32;

std::optional<double>
cost::matrixProductCost(const MatrixProduct &product, const MatrixTile &tile,
                        const target::TargetInfo &target) {
  const target::ChipFacts &facts = target.facts();
  unsigned waves = tile.wavesM * tile.wavesN;
  double lhsBytes = product.lhsBits / 8.0;
  double rhsBytes = product.rhsBits / 8.0;
  double columns = static_cast<double>(tile.n) * tile.products;
  double waveLhs = tile.m / tile.wavesM * lhsBytes;
  double waveRhs = columns / tile.wavesN * rhsBytes;
  double accumulators = tile.m * columns / (64.0 * waves);
  double operands = tile.stages * (waveLhs + waveRhs) * tile.k / (64.0 * 4.0);
  double registers = accumulators + operands + otherRegisters;
  if (registers > facts.vgprsPerSimd) {
    return std::nullopt;
  }
  unsigned resident = target.workgroupsPerCu(static_cast<unsigned>(registers),
                                             0, 0, waves * target.waveSize());
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
  double l1Clocks =
      waves * (waveLhs + waveRhs) * steps * tile.k / l1BytesPerClock;
  double chain = (steps / std::max(1u, tile.stages - 1) + 1.0) * memoryLatency;
  double onUnit = std::max(
      onOne * std::max(matrixClocks, l1Clocks) / facts.clockHz, rounds * chain);
  double bytes = product.k * (product.m * lhsBytes + product.n * rhsBytes);
  return std::max(onUnit, bytes / facts.hbmAttainableBandwidth);
}
