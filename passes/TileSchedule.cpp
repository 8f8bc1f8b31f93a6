//===- TileSchedule.cpp - order of copies, reads and products ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/AssignLayouts/Relations.h"
#include "passes/Passes.h"

#include "tenon/Layout/LdsCopy.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tenon;

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
  /// The instructions that one wave issues for a copy.
  int64_t instructionsOf(tile::CopyToLdsOp copy,
                         const target::TargetInfo &target) {
    SmallVector<int64_t> widths;
    for (int64_t width : tile::CopyToLdsOp::getLaneBytes()) {
      if (target.hasDirectToLds(width)) {
        widths.push_back(width);
      }
    }
    auto copies =
        layout::planLdsCopies(copy.getBuffer().getType().getLdsLayout(),
                              getOperation().getWaves(), widths);
    int64_t instructions = 0;
    if (copies) {
      for (const layout::LdsCopy &part : *copies) {
        instructions += part.instructions;
      }
    } else {
      // convert-tile-to-rocdl says what is wrong.
      llvm::consumeError(copies.takeError());
    }
    return instructions;
  }

  /// The steps along k that all products of \p interval can be cut into, or 1
  /// when they cannot.
  int64_t stepsOf(Interval &interval) {
    tile::MmaOp first = interval.products.front();
    if (!first.getInstruction()) {
      return 1;
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
        return 1;
      }
      for (Value operand : {product.getLhs(), product.getRhs()}) {
        auto load = operand.getDefiningOp<tile::LdsLoadOp>();
        if (!load || load.getOffsets() ||
            load->getBlock() != first->getBlock() ||
            !load->isBeforeInBlock(first) ||
            !llvm::all_of(load->getUsers(), [&](Operation *user) {
              return llvm::is_contained(interval.products, user);
            })) {
          return 1;
        }
      }
    }
    return first.getDepth() / instruction[1];
  }

  /// Lets the copies, the reads and the products of \p interval take turns: a
  /// step along k has its products, the reads of the next step and its share of
  /// the copies.
  LogicalResult interleave(Interval &interval,
                           const target::TargetInfo &target) {
    if (interval.copies.empty() || interval.products.empty()) {
      return success();
    }
    int64_t steps = stepsOf(interval);
    if (steps < 2) {
      return success();
    }
    tile::MmaOp first = interval.products.front();
    OpBuilder b(first);
    Location loc = first.getLoc();
    int64_t depth = first.getDepth() / steps;

    // The reads of a step; an operand of several products is read once.
    DenseMap<std::pair<Value, int64_t>, Value> reads;
    auto read = [&](int64_t step) -> LogicalResult {
      for (tile::MmaOp product : interval.products) {
        const layout::Layout &sums =
            tile::getLayout(product.getType()).getLayout();
        auto lhs = cast<RankedTensorType>(product.getLhs().getType());
        auto rhs = cast<RankedTensorType>(product.getRhs().getType());
        FailureOr<assign::MmaLayouts> operands =
            assign::operandLayouts(product, sums, depth);
        if (failed(operands)) {
          return failure();
        }
        auto readPart = [&](Value whole, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> offsets,
                            const layout::Layout &layout) {
          Value &part = reads[{whole, step}];
          if (!part) {
            auto type = RankedTensorType::get(
                shape, cast<RankedTensorType>(whole.getType()).getElementType(),
                tile::LayoutAttr::get(&getContext(), layout));
            part = tile::LdsLoadOp::create(
                b, loc, type,
                whole.getDefiningOp<tile::LdsLoadOp>().getBuffer(),
                b.getDenseI64ArrayAttr(offsets));
          }
        };
        int64_t lhsDepth = depth / product.getLhsPacking();
        int64_t rhsDepth = depth / product.getRhsPacking();
        readPart(product.getLhs(), {lhs.getDimSize(0), lhsDepth},
                 {0, step * lhsDepth}, operands->lhs);
        readPart(product.getRhs(), {rhsDepth, rhs.getDimSize(1)},
                 {step * rhsDepth, 0}, operands->rhs);
      }
      return success();
    };

    SmallVector<Value> sums;
    for (tile::MmaOp product : interval.products) {
      sums.push_back(product.getAccumulator());
    }
    for (int64_t step = 0; step < steps; ++step) {
      for (tile::CopyToLdsOp copy : interval.copies) {
        int64_t parts =
            std::min(steps, std::max<int64_t>(instructionsOf(copy, target), 1));
        for (int64_t part = 0; part < parts; ++part) {
          if (part * steps / parts != step) {
            continue;
          }
          auto issued = cast<tile::CopyToLdsOp>(b.clone(*copy));
          issued.setPartAttr(b.getDenseI64ArrayAttr({part, parts}));
          // Copies of a wave arrive in order: who waits for the last part has
          // waited for all.
          if (part + 1 == parts) {
            copy.getToken().replaceAllUsesWith(issued.getToken());
          }
        }
      }
      if ((step == 0 && failed(read(0))) ||
          (step + 1 < steps && failed(read(step + 1)))) {
        return failure();
      }
      for (auto [product, sum] : llvm::zip_equal(interval.products, sums)) {
        IntegerAttr blocks;
        if (product.getLhsScale() || product.getRhsScale()) {
          blocks = b.getI64IntegerAttr(product.getScaleBegin().value_or(0) +
                                       step * depth / tile::MmaOp::scaleBlock);
        }
        sum = tile::MmaOp::create(
            b, loc, sum.getType(), reads[{product.getLhs(), step}],
            reads[{product.getRhs(), step}], sum, product.getLhsScale(),
            product.getRhsScale(), product.getInstructionAttr(),
            product.getWavesAttr(), product.getContractionAttr(), blocks);
      }
    }
    llvm::SetVector<Operation *> obsolete;
    for (auto [product, sum] : llvm::zip_equal(interval.products, sums)) {
      tile::MmaOp whole = product;
      obsolete.insert(whole.getLhs().getDefiningOp());
      obsolete.insert(whole.getRhs().getDefiningOp());
      whole.getResult().replaceAllUsesWith(sum);
      whole.erase();
    }
    for (Operation *load : obsolete) {
      load->erase();
    }
    for (tile::CopyToLdsOp copy : interval.copies) {
      copy.erase();
    }
    return success();
  }

  LogicalResult schedule(Block &block, const target::TargetInfo &target) {
    SmallVector<Interval> intervals(1);
    for (Operation &op : block) {
      for (Region &region : op.getRegions()) {
        for (Block &inner : region) {
          if (failed(schedule(inner, target))) {
            return failure();
          }
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
    if (strategy != "interleave") {
      kernel.emitOpError("has no schedule ")
          << strategy << ": expected \"none\" or \"interleave\"";
      return signalPassFailure();
    }
    FailureOr<target::TargetInfo> target = tile::getTarget(kernel);
    if (failed(target) || failed(kernel.requireStructured()) ||
        failed(schedule(kernel.getBody().front(), *target))) {
      signalPassFailure();
    }
  }
};
} // namespace
