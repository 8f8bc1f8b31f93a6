//===- Arrive.cpp - order between workgroups --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory model of gfx940 and its successors (LLVM, AMDGPUUsage): stores
// with sc1 are visible to the whole chip once they are complete, loads with sc1
// read what is visible, and atomics of agent scope take place where all dies
// meet. So a wait between stores and atomic, and a wait between atomic and
// loads, order them without write-back or invalidation of a cache.
//
//===----------------------------------------------------------------------===//

#include "passes/Rocdl/Emitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

// Nothing crosses.
static constexpr uint32_t nothing = 0;
// s_waitcnt of gfx9: all vector-memory, LDS and scalar-memory operations, no
// exports.
static constexpr uint32_t waitForAll = 7 << 4;

/// Waits until the stores of all waves are complete.
void Emitter::awaitStores() {
  pin(nothing);
  ROCDL::SWaitcntOp::create(b, loc, waitForAll);
  if (kernel.getWaves() > 1) {
    ROCDL::SBarrierOp::create(b, loc);
  }
  pin(nothing);
}

/// One thread counts, and leaves the result in \p word where there is one; else
/// returns it.
Value Emitter::countArrival(tile::ArriveOp op, Value word) {
  Value counter = scalars.lookup(op.getCounter());
  std::optional<int64_t> known =
      getConstantIntValue(OpFoldResult(op.getCount()));
  Value last =
      known
          ? i32(*known - 1)
          : LLVM::SubOp::create(b, loc, scalars.lookup(op.getCount()), i32(1));
  Value isFirst =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, threadId(), i32(0));
  Value none = LLVM::PoisonOp::create(b, loc, b.getI32Type());
  Block *before = b.getInsertionBlock();
  Block *after = before->splitBlock(b.getInsertionPoint());
  Block *body = b.createBlock(after);
  Value counted = after->addArgument(b.getI32Type(), loc);
  b.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(b, loc, isFirst, body, ValueRange(), after,
                         ValueRange(none));
  b.setInsertionPointToEnd(body);
  // The last one of `count` wraps the counter to zero.
  Value old =
      LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::uinc_wrap, counter,
                                last, LLVM::AtomicOrdering::monotonic, "agent");
  if (word) {
    markLdsAccess(LLVM::StoreOp::create(b, loc, old, word, /*alignment=*/4));
  }
  LLVM::BrOp::create(b, loc, ValueRange(old), after);
  b.setInsertionPointToStart(after);
  return counted;
}

LogicalResult Emitter::emitArrive(tile::ArriveOp op) {
  bool sharesResult = kernel.getWaves() > 1;
  if (sharesResult && !op.getBuffer()) {
    return op.emitOpError("has no buffer in a kernel of several waves: run "
                          "tile-assign-layouts first");
  }
  flushGuarded();
  Value word;
  if (sharesResult) {
    FailureOr<LdsPlace> place = ldsPlace(op, op.getBuffer());
    if (failed(place)) {
      return failure();
    }
    word = ldsPointer(place->uniform, place->begin);
  }
  awaitStores();
  Value counted = countArrival(op, word);
  if (sharesResult) {
    emitBarrier();
    auto load = LLVM::LoadOp::create(b, loc, b.getI32Type(), word,
                                     /*alignment=*/4);
    markLdsAccess(load);
    counted = load;
  }
  // The counting thread is the first of its wave.
  scalars.map(op.getBefore(),
              ROCDL::ReadfirstlaneOp::create(b, loc, b.getI32Type(), counted));
  // No load moves up ahead of the count.
  pin(nothing);
  return success();
}
