//===- Guard.cpp - stores by one owner of a replicated element --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Rocdl/Emitter.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

FailureOr<ReplicaMask> Emitter::replicas(const layout::Layout &layout) {
  for (const layout::OuterMode &mode : layout.outerModes()) {
    if (mode.stride == 0) {
      kernel.emitOpError("stores a tile that a digit of its layout replicates, "
                         "which is not lowered yet");
      return failure();
    }
  }
  return ReplicaMask{layout.freeLaneMask(), layout.freeWaveMask()};
}

void Emitter::guarded(ReplicaMask mask, std::function<void()> write) {
  if (!mask.any()) {
    write();
    return;
  }
  waiting.emplace_back(mask, std::move(write));
}

/// Writes the waiting stores, those of equal owners in one block. They may wait
/// for each other: nothing that could read what they write comes in between.
void Emitter::flushGuarded() {
  auto stores = std::move(waiting);
  waiting.clear();
  while (!stores.empty()) {
    ReplicaMask mask = stores.front().first;
    Value copies;
    if (mask.lanes == 0) {
      copies = LLVM::AndOp::create(b, loc, waveId(), i32(mask.waves));
    } else {
      copies = LLVM::AndOp::create(b, loc, threadId(),
                                   i32(mask.lanes | mask.waves << 6));
    }
    Value owner =
        LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, copies, i32(0));
    Block *before = b.getInsertionBlock();
    Block *after = before->splitBlock(b.getInsertionPoint());
    Block *body = b.createBlock(after);
    b.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(b, loc, owner, body, after);
    b.setInsertionPointToEnd(body);
    for (auto &[other, write] : stores) {
      if (other == mask && !guardFailed) {
        write();
      }
    }
    LLVM::BrOp::create(b, loc, after);
    llvm::erase_if(stores,
                   [&](const auto &entry) { return entry.first == mask; });
    b.setInsertionPointToStart(after);
  }
}

/// The tile that \p op stores, or null.
static Value storedTile(Operation *op) {
  if (auto store = dyn_cast<tile::StoreOp>(op)) {
    return store.getValue();
  }
  if (auto store = dyn_cast<tile::LdsStoreOp>(op)) {
    return store.getValue();
  }
  return Value();
}

/// Whether \p op may be executed by some waves only: it makes a tile from tiles
/// or LDS, and moves data at most between the lanes of a wave.
static bool canSink(Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType())) {
    return false;
  }
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<arith::ConstantOp, tile::SplatOp, tile::BroadcastOp, tile::SplitOp,
             tile::ExtractOp, tile::StackOp, tile::IotaOp, tile::TransposeOp,
             tile::ConvertLayoutOp, tile::ReduceOp, tile::DotOp,
             tile::QuantizeOp, tile::LdsLoadOp>(op);
}

void Emitter::planSinking() {
  // Backwards, in segments between the points where waiting stores are written:
  // what waits in one segment is all in one block.
  DenseMap<Operation *, unsigned> segments;
  unsigned segment = 0;
  for (Operation &op : llvm::reverse(kernel.getBody().front())) {
    if (Value stored = storedTile(&op)) {
      tile::LayoutAttr layout = tile::getLayout(stored.getType());
      if (!layout) {
        continue;
      }
      ReplicaMask mask{layout.getLayout().freeLaneMask(),
                       layout.getLayout().freeWaveMask()};
      // Lanes of one wave that are switched off could not take part in moves
      // between lanes.
      if (mask.lanes == 0 && mask.waves != 0) {
        sunk[&op] = mask;
        segments[&op] = segment;
      }
      continue;
    }
    if (canSink(&op) && !op.use_empty()) {
      std::optional<ReplicaMask> mask;
      bool same = llvm::all_of(op.getUsers(), [&](Operation *user) {
        auto found = sunk.find(user);
        // Rows are needed where the store stands.
        auto store = dyn_cast<tile::StoreOp>(user);
        bool isRows = store && store.getRows() == op.getResult(0);
        if (found == sunk.end() || isRows || segments.lookup(user) != segment ||
            (mask && !(*mask == found->second))) {
          return false;
        }
        mask = found->second;
        return true;
      });
      if (same) {
        sunk[&op] = *mask;
        segments[&op] = segment;
        continue;
      }
    }
    if (op.getNumRegions() != 0 ||
        isa<tile::BarrierOp, tile::OrderFenceOp, tile::LoadOp, tile::LdsLoadOp,
            tile::CopyToLdsOp, tile::WaitCopiesOp, tile::ArriveOp, tile::ScanOp,
            tile::TopKOp>(op)) {
      ++segment;
    }
  }
  // Stores wait by themselves.
  SmallVector<Operation *> stores;
  for (auto &[op, mask] : sunk) {
    if (storedTile(op)) {
      stores.push_back(op);
    }
  }
  for (Operation *store : stores) {
    sunk.erase(store);
  }
}
