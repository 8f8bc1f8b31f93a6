//===- TileSchedule.cpp - order of copies, reads and products ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"
#include "passes/Schedule/Interleaver.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;
using schedule::Interleaver;
using schedule::Interval;

namespace tenon {
#define GEN_PASS_DEF_TILESCHEDULE
#include "passes/Passes.h.inc"
} // namespace tenon

static constexpr llvm::StringLiteral scheduleName = "tile.schedule";

namespace {
struct TileSchedule : tenon::impl::TileScheduleBase<TileSchedule> {
  /// Puts the products of \p interval behind what all of them read, where
  /// nothing in between uses their sums.
  static void gather(Interval &interval) {
    tile::MmaOp last = interval.products.back();
    bool isFree = llvm::all_of(interval.products, [&](tile::MmaOp product) {
      return llvm::all_of(product->getUsers(), [&](Operation *user) {
        return user->getBlock() != last->getBlock() ||
               llvm::is_contained(interval.products, user) ||
               last->isBeforeInBlock(user);
      });
    });
    if (isFree) {
      for (tile::MmaOp product : ArrayRef(interval.products).drop_back()) {
        product->moveBefore(last);
      }
    }
  }

  static bool isThere(tile::MmaOp product, Value value) {
    Operation *maker = value ? value.getDefiningOp() : nullptr;
    return !maker || maker->getBlock() != product->getBlock() ||
           maker->isBeforeInBlock(product);
  }

  /// The steps along k that all products of \p interval can be cut into, or 0
  /// when they cannot take turns with anything. Those of operands that are made
  /// of codes are one step.
  int64_t stepsOf(Interval &interval) {
    tile::MmaOp first = interval.products.front();
    if (!first.getInstruction()) {
      return 0;
    }
    ArrayRef<int64_t> instruction = *first.getInstruction();
    bool isCut = true;
    for (tile::MmaOp product : interval.products) {
      auto lhs = cast<RankedTensorType>(product.getLhs().getType());
      if (lhs.getRank() != 2 || product.getDepth() != first.getDepth() ||
          product.getInstruction() != first.getInstruction() ||
          !llvm::all_of(product.getOperands(),
                        [&](Value value) { return isThere(first, value); }) ||
          !tile::getLayout(product.getType())) {
        return 0;
      }
      bool ordered = product.getContractionOrder().steps == 1;
      for (Value operand : {product.getLhs(), product.getRhs()}) {
        auto load = schedule::readOf(operand);
        if (!load || load.getOffsets() ||
            load->getBlock() != first->getBlock() ||
            !llvm::all_of(load->getUsers(), [&](Operation *user) {
              return isOperandOf(interval, user);
            })) {
          return 0;
        }
        ordered &= load.getResult() == operand;
      }
      isCut &= ordered;
    }
    return isCut ? first.getDepth() / instruction[1] : 1;
  }

  /// Whether the products of \p interval have an operand that comes from
  /// registers, and all their operands are there before the first of them.
  static bool readsRegisters(Interval &interval) {
    tile::MmaOp first = interval.products.front();
    return llvm::all_of(interval.products, [&](tile::MmaOp product) {
      return product->getBlock() == first->getBlock() &&
             product.getInstruction() && tile::getLayout(product.getType()) &&
             (!schedule::readOf(product.getLhs()) ||
              !schedule::readOf(product.getRhs())) &&
             llvm::all_of(product.getOperands(),
                          [&](Value value) { return isThere(first, value); });
    });
  }

  static bool hasScales(Interval &interval) {
    return llvm::any_of(interval.products, [](tile::MmaOp product) {
      return product.getLhsScale() || product.getRhsScale() ||
             product.getLhs().getDefiningOp<tile::DequantizeOp>() ||
             product.getRhs().getDefiningOp<tile::DequantizeOp>();
    });
  }

  /// Whether \p op is a product of \p interval, or makes operands of these.
  static bool isOperandOf(Interval &interval, Operation *op) {
    if (isa<tile::DequantizeOp>(op)) {
      return llvm::all_of(op->getUsers(), [&](Operation *user) {
        return llvm::is_contained(interval.products, user);
      });
    }
    return llvm::is_contained(interval.products, op);
  }

  /// Whether \p intervals are what a loop's body does, each adds to the sums
  /// of the one before, and the first to those that the loop carries.
  bool carriesSums(MutableArrayRef<Interval> intervals) {
    Interval &head = intervals.front();
    auto loop = dyn_cast<scf::ForOp>(head.products.front()->getParentOp());
    if (!loop) {
      return false;
    }
    size_t count = head.products.size();
    for (size_t index = 0; index < count; ++index) {
      auto carried =
          dyn_cast<BlockArgument>(head.products[index].getAccumulator());
      if (!carried || carried.getOwner() != loop.getBody()) {
        return false;
      }
      Value sum = carried;
      for (Interval &interval : intervals) {
        if (interval.products.size() != count ||
            interval.products[index].getAccumulator() != sum ||
            !sum.hasOneUse()) {
          return false;
        }
        sum = interval.products[index].getResult();
      }
      if (!sum.hasOneUse() ||
          loop.getTiedLoopYieldedValue(carried)->get() != sum) {
        return false;
      }
    }
    return true;
  }

  /// Whether \p intervals are all that their loop's body does with LDS, each
  /// behind a wait and one barrier.
  bool fillsLoop(MutableArrayRef<Interval> intervals) {
    size_t barriers = 0;
    size_t copies = 0;
    size_t copiesBefore = 0; // of the intervals up to the last barrier
    for (Operation &op : *intervals.front().products.front()->getBlock()) {
      if (isa<tile::BarrierOp>(op)) {
        if (barriers == intervals.size() || copies != copiesBefore) {
          return false;
        }
        copiesBefore += intervals[barriers++].copies.size();
      } else if (isa<tile::CopyToLdsOp>(op)) {
        ++copies;
      } else if (op.getNumRegions() != 0 ||
                 isa<tile::LdsStoreOp, tile::StoreOp, tile::ArriveOp,
                     tile::ScanOp, tile::TopKOp>(op)) {
        return false;
      } else if (auto load = dyn_cast<tile::LdsLoadOp>(op)) {
        bool isOperand = llvm::all_of(load->getUsers(), [&](Operation *user) {
          return llvm::any_of(intervals, [&](Interval &interval) {
            return isOperandOf(interval, user);
          });
        });
        if (!isOperand) {
          return false;
        }
      }
    }
    return barriers == intervals.size() && copies == copiesBefore;
  }

  /// Lets the copies, the reads and the products of \p intervals, which follow
  /// one another in a block, take turns.
  LogicalResult interleave(MutableArrayRef<Interval> intervals,
                           const target::TargetInfo &target) {
    tile::KernelOp kernel = getOperation();
    int64_t waves = kernel.getWaves();
    SmallVector<int64_t> steps;
    for (Interval &interval : intervals) {
      gather(interval);
      steps.push_back(stepsOf(interval));
    }
    bool carries = carriesSums(intervals) && !llvm::is_contained(steps, 0);
    int64_t groups = 2 * target.facts().simdsPerCu;
    if (alternates && (waves != groups || !carries || !fillsLoop(intervals))) {
      return kernel.emitOpError("has no schedule \"ping-pong\": expected ")
             << groups
             << " waves and a loop that carries sums, of products whose "
                "operands come from LDS, with one barrier for each step; found "
             << waves << " waves and "
             << (!carries                ? "other products"
                 : !fillsLoop(intervals) ? "other accesses of LDS"
                                         : "such a loop");
    }
    // Registers for the operands of another step are better spared beside
    // scales, which have a stage each: measured.
    bool chains =
        carries &&
        (alternates || (prefetches && !llvm::any_of(intervals, hasScales)));
    if (!alternates) {
      for (Interval &interval : intervals) {
        if (readsRegisters(interval)) {
          Interleaver(interval, 1, target, waves, balances).spread();
        }
      }
    }
    SmallVector<Interleaver, 0> turns;
    for (auto [interval, count] : llvm::zip_equal(intervals, steps)) {
      if (chains || count > 1) {
        turns.emplace_back(interval, count, target, waves, balances);
      }
    }
    if (chains) {
      return alternates ? Interleaver::pingPong(turns)
                        : Interleaver::prefetch(turns);
    }
    for (Interleaver &turn : turns) {
      if (failed(turn.run())) {
        return failure();
      }
    }
    return success();
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
    llvm::erase_if(intervals, [](Interval &interval) {
      return interval.copies.empty() || interval.products.empty();
    });
    // Loops may be replaced from here on, but not what they hold.
    auto blockOf = [](Interval &interval) {
      return interval.products.front()->getBlock();
    };
    MutableArrayRef<Interval> rest = intervals;
    while (!rest.empty()) {
      Block *block = blockOf(rest.front());
      size_t count = 1;
      while (count < rest.size() && blockOf(rest[count]) == block) {
        ++count;
      }
      if (failed(interleave(rest.take_front(count), target))) {
        return failure();
      }
      rest = rest.drop_front(count);
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
