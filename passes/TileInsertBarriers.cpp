//===- TileInsertBarriers.cpp - barriers for LDS dependences ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TILEINSERTBARRIERS
#include "passes/Passes.h.inc"
} // namespace tenon

namespace {
/// A range of LDS that was accessed since the last barrier.
struct Access {
  int64_t begin;
  int64_t end;
  bool write;
};

struct TileInsertBarriers
    : tenon::impl::TileInsertBarriersBase<TileInsertBarriers> {
  /// What \p op accesses, or nothing; fails when the buffer has no place yet.
  FailureOr<std::optional<Access>> accessOf(Operation *op) {
    Value buffer;
    bool write = false;
    if (auto store = dyn_cast<tile::LdsStoreOp>(op)) {
      buffer = store.getBuffer();
      write = true;
    } else if (auto load = dyn_cast<tile::LdsLoadOp>(op)) {
      buffer = load.getBuffer();
    } else {
      return std::optional<Access>();
    }
    auto alloc = buffer.getDefiningOp<tile::AllocLdsOp>();
    if (!alloc || !alloc.getOffset()) {
      return op->emitOpError(
          "the LDS buffer has no place: run tile-plan-lds first");
    }
    int64_t begin = *alloc.getOffset();
    return std::optional<Access>(
        Access{begin, begin + alloc.getType().getBytes(), write});
  }

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (failed(kernel.requireStructured())) {
      return signalPassFailure();
    }
    SmallVector<Access> open;
    for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
      if (isa<tile::BarrierOp>(op)) {
        open.clear();
        continue;
      }
      WalkResult inLoop = op.walk([&](Operation *inner) {
        return inner != &op &&
                       isa<tile::LdsStoreOp, tile::LdsLoadOp, tile::BarrierOp>(
                           inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (inLoop.wasInterrupted()) {
        op.emitOpError("LDS in a loop is not handled yet");
        return signalPassFailure();
      }
      auto access = accessOf(&op);
      if (failed(access)) {
        return signalPassFailure();
      }
      if (!*access) {
        continue;
      }
      bool conflict = llvm::any_of(open, [&](const Access &earlier) {
        return (earlier.write || (*access)->write) &&
               earlier.begin < (*access)->end && (*access)->begin < earlier.end;
      });
      if (conflict) {
        OpBuilder builder(&op);
        tile::BarrierOp::create(builder, op.getLoc());
        open.clear();
      }
      open.push_back(**access);
    }
  }
};
} // namespace
