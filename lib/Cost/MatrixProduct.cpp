//===- MatrixProduct.cpp - cost of products of matrices ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants marked "fitted" are such that the cost of schedules of products
// that take 8 to 40 us follows their modelled time; the median error is 7 %.
//
//===----------------------------------------------------------------------===//

#include "tenon/Cost/MatrixProduct.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::cost;

// Multiplications of a compute unit per clock for operands of 16 bits (facts on
// MFMA: 1024 FLOP per clock and SIMD); twice as many for 8, four times for 4.
static constexpr double productsPerClock16 = 2048.0;
// Elements along k of one instruction for operands of 16 bits.
static constexpr double instructionDepth = 32.0;
// Registers for addresses and other scalars of a lane, and those that
// instructions can name besides accumulation registers, of which there are as
// many.
static constexpr unsigned otherRegisters = 32;
static constexpr unsigned mostRegisters = 256;
// Bytes of a sum.
static constexpr double sumBytes = 4.0;

// Registers of a lane for sums of other workgroups that are on their way.
static constexpr double sumRegisters = 128.0;

// Clocks besides the work itself, all fitted: of a step (addresses, waits), of
// the barrier of a step through LDS, of a workgroup (its first addresses, its
// stores), and of adding the sums of waves.
static constexpr double stepClocks = 60.0;
static constexpr double barrierClocks = 150.0;
static constexpr double workgroupClocks = 1000.0;
static constexpr double wavesClocks = 400.0;
// What the L2 takes beyond an even spread over its channels where workgroups
// keep step; fitted.
static constexpr double channelImbalance = 1.2;
// Runs of steps that cut tiles, against workgroups that keep step: none finds
// in the L2 what others have just fetched, and each waits longer. Fitted to the
// products of the table in docs/explanation/matrix-products.md: below 1.32
// the order of one is wrong.
static constexpr double cutRuns = 1.5;

static double ceilDiv(int64_t a, int64_t b) {
  return static_cast<double>(llvm::divideCeil(a, b));
}

namespace {
class ProductCost {
public:
  ProductCost(const MatrixProduct &product, const MatrixTile &tile,
              const target::TargetInfo &target)
      : product(product), tile(tile), target(target), facts(target.facts()),
        timing(target.timing()), lhsBytes(product.lhsBits / 8.0),
        rhsBytes(product.rhsBits / 8.0),
        columns(static_cast<double>(tile.n) * tile.products),
        sharing(tile.wavesM * tile.wavesN), waves(sharing * tile.wavesK),
        tilesM(ceilDiv(product.m, tile.m)),
        tilesN(ceilDiv(product.n, tile.n * int64_t(tile.products))),
        latency(timing.l2HitClocks + timing.hbmNs * 1e-9 * facts.clockHz) {
    double stepsOfTile = ceilDiv(product.k, tile.k);
    double tiles = tilesM * tilesN;
    if (tile.streamK) {
      workgroups = std::min<double>(tile.streamK, tiles * stepsOfTile);
      double rounds = std::floor(tiles / workgroups);
      double shared = tiles - rounds * workgroups;
      runSteps = std::ceil(shared * stepsOfTile / workgroups);
      steps = rounds * stepsOfTile + runSteps;
      ofWorkgroup = std::max(1.0, tiles / workgroups);
      shares = std::ceil(workgroups / tiles);
      if (shared > 0) {
        // The ends of a run are parts of tiles unless runs are whole tiles.
        bool cuts = runSteps * workgroups != shared * stepsOfTile ||
                    std::fmod(runSteps, stepsOfTile) != 0;
        summands = cuts ? std::ceil(workgroups / shared) + 1 : 1;
      }
    } else if (tile.persistent) {
      workgroups = std::min<double>(tile.persistent, tiles);
      ofWorkgroup = std::ceil(tiles / workgroups);
      steps = ofWorkgroup * stepsOfTile;
    } else {
      workgroups = tiles * tile.split;
      shares = summands = tile.split;
      steps = std::ceil(stepsOfTile / tile.split);
    }
  }

  std::optional<unsigned> resident() const;
  std::optional<double> seconds() const;

private:
  double lhsTile() const { return double(tile.m) * tile.k * lhsBytes; }
  double rhsTile() const { return columns * tile.k * rhsBytes; }
  unsigned lhsStages() const {
    return tile.lhsStages ? tile.lhsStages : tile.stages;
  }
  /// Steps that are fetched ahead.
  double ahead() const {
    return std::max(1.0, (lhsStages() + tile.stages) / 2.0 - 1.0);
  }
  /// Whether the waves of a workgroup meet at a barrier in each step.
  bool keepsStep() const { return tile.lhsInLds || tile.rhsInLds; }
  /// Bytes of a wave's operands per element along k.
  double waveLhs() const { return tile.m / tile.wavesM * lhsBytes; }
  double waveRhs() const { return columns / tile.wavesN * rhsBytes; }
  /// Of all dies.
  double l2BytesPerClock() const {
    return timing.l2ChannelBytesPerClock * timing.l2Channels * facts.xcds;
  }
  double matrixClocks(double together) const;
  double l1Clocks() const;
  double scaleLines() const;
  double ldsClocks() const;
  double unitClocks(double rounds, double together) const;
  double l2StepClocks(double together) const;
  double l2Clocks(double together) const;
  double fabricClocks() const;
  double memoryClocks() const;
  double waveSumClocks() const;
  double splitClocks() const;

  const MatrixProduct &product;
  const MatrixTile &tile;
  const target::TargetInfo &target;
  const target::ChipFacts &facts;
  const target::TimingFacts &timing;
  double lhsBytes, rhsBytes, columns;
  unsigned sharing, waves;
  double tilesM, tilesN;
  double latency; ///< of memory, clocks
  double workgroups = 1;
  double steps = 1;       ///< of a workgroup
  double ofWorkgroup = 1; ///< tiles that it has one after the other
  double shares = 1;      ///< workgroups that have steps of a tile
  double summands = 1;    ///< of a tile that several have
  double runSteps = 0;    ///< of a workgroup, those in tiles that several have
};
} // namespace

/// Workgroups that a compute unit holds, or nothing when it is none.
std::optional<unsigned> ProductCost::resident() const {
  // What is staged in LDS needs registers for two steps of the instruction.
  auto registersFor = [&](bool inLds, double waveBytes) {
    double depth = inLds ? 2.0 * instructionDepth
                         : double(tile.stages) * tile.k / tile.wavesK;
    return waveBytes * depth / (64.0 * 4.0);
  };
  double registers = tile.m * columns / (64.0 * sharing) + otherRegisters;
  double operands = registersFor(tile.lhsInLds, waveLhs()) +
                    registersFor(tile.rhsInLds, waveRhs());
  bool isFull = registers + operands > mostRegisters;
  double agprs = tile.readsIntoAgprs && isFull ? operands : 0.0;
  registers += operands - agprs;
  double ldsBytes = (tile.lhsInLds ? lhsStages() * lhsTile() : 0.0) +
                    (tile.rhsInLds ? tile.stages * rhsTile() : 0.0);
  if (tile.wavesK > 1) {
    ldsBytes = std::max(ldsBytes, tile.m * tile.n * sumBytes * tile.wavesK);
  }
  if (std::max(registers, agprs) > mostRegisters || ldsBytes > facts.ldsBytes) {
    return std::nullopt;
  }
  unsigned count = target.workgroupsPerCu(
      static_cast<unsigned>(registers), static_cast<unsigned>(agprs),
      static_cast<uint64_t>(ldsBytes), waves * target.waveSize());
  return count ? std::optional(count) : std::nullopt;
}

/// Of one workgroup, when \p together share the matrix cores. A tile on fewer
/// waves than SIMDs leaves some of them idle.
double ProductCost::matrixClocks(double together) const {
  double simds = std::min<double>(facts.simdsPerCu, waves * together);
  unsigned bits = std::max(product.lhsBits, product.rhsBits);
  double perClock = productsPerClock16 * 16.0 / bits * simds / facts.simdsPerCu;
  return tile.m * columns * steps * tile.k / perClock;
}

double ProductCost::l1Clocks() const {
  auto clocksOf = [&](bool inLds, double tileBytes, double waveBytes) {
    return inLds
               ? tileBytes * steps / timing.ldsCopyBytesPerClock
               : sharing * waveBytes * steps * tile.k / timing.l1BytesPerClock;
  };
  return clocksOf(tile.lhsInLds, lhsTile(), waveLhs()) +
         clocksOf(tile.rhsInLds, rhsTile(), waveRhs()) +
         scaleLines() * facts.l1LineBytes / timing.l1BytesPerClock;
}

/// Lines of the L1 that waves touch for row-major scales of the left operand.
double ProductCost::scaleLines() const {
  if (tile.lhsScaleDepth == 0) {
    return 0.0;
  }
  double accesses = ceilDiv(tile.k / tile.wavesK, tile.lhsScaleDepth);
  return accesses * tile.m * tile.wavesN * tile.wavesK * steps;
}

double ProductCost::ldsClocks() const {
  double reads =
      (tile.lhsInLds ? waveLhs() : 0.0) + (tile.rhsInLds ? waveRhs() : 0.0);
  double copied =
      (tile.lhsInLds ? lhsTile() : 0.0) + (tile.rhsInLds ? rhsTile() : 0.0);
  return sharing * reads * steps * tile.k / facts.ldsReadBytesPerClock +
         copied * steps / facts.ldsWriteBytesPerClock;
}

/// Of the busiest compute unit. A step takes what the busiest of its parts
/// works for all workgroups there, or its share of a round trip when the steps
/// in flight do not cover that.
double ProductCost::unitClocks(double rounds, double together) const {
  double busiest = std::max({matrixClocks(together), l1Clocks(), ldsClocks()});
  // The L2 serves all workgroups of the round.
  double round = std::min(workgroups, together * facts.computeUnits);
  // Waits of one wave hide behind the work of others on its SIMD.
  double simds = std::min<double>(facts.simdsPerCu, waves * together);
  double aside = stepClocks * facts.simdsPerCu / simds;
  if (keepsStep()) {
    aside += barrierClocks;
  }
  double own = together * busiest / steps + aside;
  double step = std::max(own, round * l2StepClocks(together) + aside);
  // Steps that all are in flight at once wait for memory only once. Waves that
  // do not meet at barriers keep the L2 busy for each other where that is what
  // all wait for.
  double flight = steps > tile.stages
                      ? (latency + (keepsStep() ? step : own)) / ahead()
                      : 0.0;
  return rounds * steps * std::max(step, flight);
}

/// Waves that read the same rows into registers find them in the L1 as long as
/// that holds the steps in flight; else each brings its own from the L2.
double ProductCost::l2StepClocks(double together) const {
  double perStep = lhsTile() + rhsTile();
  double flying =
      together * std::max(1u, tile.stages - 1) *
      ((tile.lhsInLds ? 0.0 : lhsTile()) + (tile.rhsInLds ? 0.0 : rhsTile()));
  if (flying > facts.l1Bytes) {
    perStep = (tile.lhsInLds ? lhsTile() : sharing * waveLhs() * tile.k) +
              (tile.rhsInLds ? rhsTile() : sharing * waveRhs() * tile.k);
  }
  return perStep / l2BytesPerClock();
}

double ProductCost::l2Clocks(double together) const {
  // Waves that do not meet at barriers spread by themselves.
  double imbalance = keepsStep() ? channelImbalance : 1.0;
  return workgroups * steps * l2StepClocks(together) * imbalance;
}

/// What a die's L2 has to fetch: the pieces of x and of the weights that its
/// workgroups read. Workgroups go to the dies in turn, so that dies have
/// columns of their own only where the number of dies divides that of the
/// columns.
double ProductCost::fabricClocks() const {
  double dies = facts.xcds;
  bool ownColumns = std::fmod(tilesN, dies) == 0;
  double onDie = std::ceil(workgroups * ofWorkgroup / dies);
  double rhsPieces =
      ownColumns ? tilesN / dies * shares : std::min(tilesN * shares, onDie);
  double lhsPieces = std::min(tilesM * shares, onDie);
  if (tile.streamK && summands > 1 && runSteps == steps) {
    // Runs are each at another place along k: what one has fetched no other
    // finds in the L2.
    rhsPieces = lhsPieces = onDie;
  }
  double depth = double(product.k) / shares;
  double bytes =
      depth * (rhsPieces * columns * rhsBytes + lhsPieces * tile.m * lhsBytes);
  return bytes * dies * facts.clockHz / timing.mallBandwidth;
}

double ProductCost::memoryClocks() const {
  double bytes = product.k * (product.m * lhsBytes + product.n * rhsBytes);
  return bytes * facts.clockHz / timing.hbmBandwidth;
}

/// The sums of the waves along k go through LDS, written by all of them.
double ProductCost::waveSumClocks() const {
  if (tile.wavesK == 1) {
    return 0.0;
  }
  return wavesClocks + 2.0 * tile.m * columns * sumBytes * tile.wavesK /
                           facts.ldsWriteBytesPerClock;
}

/// The sums of the workgroups go through memory. All write at about the same
/// time, wait until the L2 has taken it, and count themselves by an atomic. The
/// last of a tile reads the sums of all, in several trips where a lane has many
/// of them: from its L2, or from memory where the workgroups of a tile are not
/// on one die. What was written is written back at the end of the kernel.
double ProductCost::splitClocks() const {
  if (summands == 1) {
    return 0.0;
  }
  double rows = static_cast<double>(std::min(product.m, tile.m));
  double ofOne = rows * columns * sumBytes;
  double ofAll = workgroups * ofOne;
  double write = std::max(ofOne / timing.l1BytesPerClock,
                          ofAll * channelImbalance / l2BytesPerClock());
  bool onOneDie = std::fmod(tilesM * tilesN, facts.xcds) == 0;
  double ofLane = tile.m * columns / (64.0 * waves);
  double trips =
      std::ceil(summands / std::max(1.0, std::floor(sumRegisters / ofLane)));
  double read =
      std::max(summands * ofOne / timing.l1BytesPerClock,
               onOneDie ? 0.0 : ofAll * facts.clockHz / timing.hbmBandwidth);
  double drain = ofAll * facts.clockHz / timing.mallBandwidth;
  return timing.l2HitClocks + write + latency + timing.atomicClocks +
         trips * (onOneDie ? timing.l2HitClocks : latency) + read + drain;
}

std::optional<double> ProductCost::seconds() const {
  std::optional<unsigned> most = resident();
  if (!most) {
    return std::nullopt;
  }
  double onOne = std::ceil(workgroups / facts.computeUnits);
  double together = std::min<double>(onOne, *most);
  double rounds = std::ceil(onOne / *most);
  double body = std::max({unitClocks(rounds, together), l2Clocks(together),
                          fabricClocks(), memoryClocks()});
  if (tile.streamK && summands > 1) {
    body *= 1 + (cutRuns - 1) * runSteps / steps;
  }
  // Half of what begins and ends a round, or a tile, hides behind other
  // workgroups. (Workgroups that walk start once, but start their next tile
  // only when they are through with the one before.)
  double again =
      (rounds - 1 + ofWorkgroup - 1) / 2 * (workgroupClocks + latency);
  double ends = workgroupClocks + latency + again;
  return (body + ends + waveSumClocks() + splitClocks()) / facts.clockHz;
}

std::optional<double>
cost::matrixProductCost(const MatrixProduct &product, const MatrixTile &tile,
                        const target::TargetInfo &target) {
  return ProductCost(product, tile, target).seconds();
}

unsigned cost::residentWorkgroups(const MatrixProduct &product,
                                  const MatrixTile &tile,
                                  const target::TargetInfo &target) {
  return ProductCost(product, tile, target).resident().value_or(0);
}
