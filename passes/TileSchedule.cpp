//===- TileSchedule.cpp - order of copies, reads and products ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"
#include "passes/Schedule/Interleaver.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using schedule::Interleaver;

namespace tenon {
#define GEN_PASS_DEF_TILESCHEDULE
#include "passes/Passes.h.inc"
} // namespace tenon

static constexpr llvm::StringLiteral scheduleName = "tile.schedule";

namespace {
/// Copies and products between two points that order LDS, such as barriers.
struct Interval {
  SmallVector<tile::CopyToLdsOp> copies;
  SmallVector<tile::MmaOp> products;
};

struct TileSchedule : tenon::impl::TileScheduleBase<TileSchedule> {
  /// The steps along k that all products of \p interval can be cut into, or 0
  /// when they cannot.
  int64_t stepsOf(Interval &interval) {
    tile::MmaOp first = interval.products.front();
    if (!first.getInstruction()) {
      return 0;
    }
    ArrayRef<int64_t> instruction = *first.getInstruction();
    for (tile::MmaOp product : interval.products) {
      auto lhs = cast<RankedTensorType>(product.getLhs().getType());
      Operation *sum = product.getAccumulator().getDefiningOp();
      bool inTime = !sum || sum->getBlock() != first->getBlock() ||
                    sum->isBeforeInBlock(first);
      if (lhs.getRank() != 2 || product.getDepth() != first.getDepth() ||
          product.getContractionOrder().steps != 1 ||
          product.getInstruction() != first.getInstruction() || !inTime ||
          !tile::getLayout(product.getType())) {
        return 0;
      }
      for (Value operand : {product.getLhs(), product.getRhs()}) {
        auto load = operand.getDefiningOp<tile::LdsLoadOp>();
        if (!load || load.getOffsets() ||
            load->getBlock() != first->getBlock() ||
            !load->isBeforeInBlock(first) ||
            !llvm::all_of(load->getUsers(), [&](Operation *user) {
              return llvm::is_contained(interval.products, user);
            })) {
          return 0;
        }
      }
    }
    return first.getDepth() / instruction[1];
  }

  /// Whether \p interval is what a loop's body does, and its sums those that
  /// the loop carries. Scales are of this iteration.
  bool carriesSums(Interval &interval) {
    auto loop = dyn_cast<scf::ForOp>(interval.products.front()->getParentOp());
    return loop && llvm::all_of(interval.products, [&](tile::MmaOp product) {
             auto sum = dyn_cast<BlockArgument>(product.getAccumulator());
             return !product.getLhsScale() && !product.getRhsScale() && sum &&
                    sum.getOwner() == loop.getBody() && sum.hasOneUse() &&
                    product->hasOneUse() &&
                    loop.getTiedLoopYieldedValue(sum)->get() ==
                        product.getResult();
           });
  }

  /// Whether \p interval is all that its loop's body does with LDS, behind a
  /// wait and one barrier.
  bool fillsLoop(Interval &interval) {
    bool begins = false;
    int64_t copies = 0;
    for (Operation &op : *interval.products.front()->getBlock()) {
      if (auto barrier = dyn_cast<tile::BarrierOp>(op)) {
        if (begins || copies != 0) {
          return false;
        }
        begins = true;
      } else if (isa<tile::CopyToLdsOp>(op)) {
        ++copies;
      } else if (op.getNumRegions() != 0 ||
                 isa<tile::LdsStoreOp, tile::StoreOp, tile::ArriveOp,
                     tile::ScanOp, tile::TopKOp>(op)) {
        return false;
      } else if (auto load = dyn_cast<tile::LdsLoadOp>(op)) {
        bool isOperand = llvm::all_of(load->getUsers(), [&](Operation *user) {
          return llvm::is_contained(interval.products, user);
        });
        if (!isOperand) {
          return false;
        }
      }
    }
    return begins && copies == static_cast<int64_t>(interval.copies.size());
  }

  /// Lets the two groups of waves take turns in \p interval, which has \p steps
  /// along k.
  LogicalResult alternate(Interval &interval, int64_t steps,
                          const target::TargetInfo &target) {
    tile::KernelOp kernel = getOperation();
    int64_t waves = kernel.getWaves();
    if (waves != 2 * target.facts().simdsPerCu || steps == 0 ||
        !carriesSums(interval) || !fillsLoop(interval)) {
      return kernel.emitOpError("has no schedule \"ping-pong\": expected ")
             << 2 * target.facts().simdsPerCu
             << " waves and a loop that carries sums, of products without "
                "scales whose operands come from LDS, with one barrier; found "
             << waves << " waves and "
             << (steps == 0 || !carriesSums(interval) ? "other products"
                 : !fillsLoop(interval)               ? "other accesses of LDS"
                                                      : "such a loop");
    }
    return Interleaver(interval.copies, interval.products, steps, target, waves,
                       /*balances=*/false)
        .pingPong();
  }

  /// Lets the copies, the reads and the products of \p interval take turns.
  LogicalResult interleave(Interval &interval,
                           const target::TargetInfo &target) {
    if (interval.copies.empty() || interval.products.empty()) {
      return success();
    }
    int64_t steps = stepsOf(interval);
    if (alternates) {
      return alternate(interval, steps, target);
    }
    bool carries = prefetches && carriesSums(interval);
    if (steps == 0 || (steps < 2 && !carries)) {
      return success();
    }
    Interleaver turns(interval.copies, interval.products, steps, target,
                      getOperation().getWaves(), balances);
    return carries ? turns.prefetch() : turns.run();
  }

  /// Finds the intervals of \p block and of the blocks in it.
  void collect(Block &block, SmallVectorImpl<Interval> &intervals) {
    intervals.emplace_back();
    for (Operation &op : block) {
      for (Region &region : op.getRegions()) {
        for (Block &inner : region) {
          collect(inner, intervals);
        }
      }
      if (auto copy = dyn_cast<tile::CopyToLdsOp>(op)) {
        // What comes after the products stays there.
        if (!intervals.back().products.empty()) {
          intervals.emplace_back();
        }
        if (!copy.getPart()) {
          intervals.back().copies.push_back(copy);
        }
      } else if (auto product = dyn_cast<tile::MmaOp>(op)) {
        intervals.back().products.push_back(product);
      } else if (op.getNumRegions() != 0 ||
                 isa<tile::BarrierOp, tile::WaitCopiesOp, tile::StoreOp,
                     tile::LdsStoreOp>(op)) {
        intervals.emplace_back();
      }
    }
  }

  LogicalResult schedule(const target::TargetInfo &target) {
    SmallVector<Interval> intervals;
    collect(getOperation().getBody().front(), intervals);
    // Loops may be replaced from here on, but not what they hold.
    for (Interval &interval : intervals) {
      if (failed(interleave(interval, target))) {
        return failure();
      }
    }
    return success();
  }

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    auto strategy = kernel->getAttrOfType<StringAttr>(scheduleName);
    if (!strategy || strategy == "none") {
      return;
    }
    balances = strategy == "balanced";
    prefetches = strategy == "prefetch" || balances;
    alternates = strategy == "ping-pong";
    if (strategy != "interleave" && !prefetches && !alternates) {
      kernel.emitOpError("has no schedule ")
          << strategy
          << ": expected \"none\", \"interleave\", \"prefetch\", "
             "\"balanced\" or \"ping-pong\"";
      return signalPassFailure();
    }
    FailureOr<target::TargetInfo> target = tile::getTarget(kernel);
    if (failed(target) || failed(kernel.requireStructured()) ||
        failed(schedule(*target))) {
      signalPassFailure();
    }
  }

  bool prefetches = false;
  bool balances = false;
  bool alternates = false;
};
} // namespace
