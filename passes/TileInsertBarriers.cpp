//===- TileInsertBarriers.cpp - barriers for LDS dependences ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TILEINSERTBARRIERS
#include "passes/Passes.h.inc"
} // namespace tenon

namespace {
/// A range of LDS that is accessed.
struct Access {
  int64_t begin = 0;
  int64_t end = 0;
  bool write = false;
  /// Whether all of the range is accessed. If not, it is all stages of a buffer
  /// of which one is accessed that is known at run time only, or a stage of
  /// which a part is.
  bool exact = true;
  /// With an index that is known at run time only: it, while it has one value,
  /// and how much further on the stage is.
  Value index;
  int64_t shift = 0;

  bool operator==(const Access &) const = default;
  bool overlaps(const Access &other) const {
    bool apart = index && index == other.index && begin == other.begin &&
                 end == other.end && shift != other.shift;
    return begin < other.end && other.begin < end && !apart;
  }
};

using AccessSet = SmallVector<Access>;

void insert(AccessSet &set, const Access &access) {
  if (!llvm::is_contained(set, access)) {
    set.push_back(access);
  }
}

/// What a barrier at this point would have to order.
struct State {
  /// Accesses since the last barrier. Copies count from the wait on.
  AccessSet open;
  /// Copies that no wait has covered, by their tokens.
  llvm::MapVector<Value, AccessSet> inFlight;

  void join(const State &other) {
    for (const Access &access : other.open) {
      insert(open, access);
    }
    for (const auto &[token, accesses] : other.inFlight) {
      for (const Access &access : accesses) {
        insert(inFlight[token], access);
      }
    }
  }
  /// From here on the copies of token `from` are those of token `to`.
  void rename(Value from, Value to) {
    auto entry = inFlight.find(from);
    if (entry == inFlight.end() || from == to) {
      return;
    }
    AccessSet accesses = std::move(entry->second);
    inFlight.erase(entry);
    for (const Access &access : accesses) {
      insert(inFlight[to], access);
    }
  }
  /// Indices that \p region defines stand for other values from here on.
  void forget(Region &region) {
    auto forgetIn = [&](AccessSet &set) {
      AccessSet rest;
      for (Access access : set) {
        if (access.index && region.isAncestor(access.index.getParentRegion())) {
          access.index = Value();
          access.shift = 0;
        }
        insert(rest, access);
      }
      set = std::move(rest);
    };
    forgetIn(open);
    for (auto &entry : inFlight) {
      forgetIn(entry.second);
    }
  }
  bool contains(const State &other) const {
    State joined = *this;
    joined.join(other);
    auto size = [](const State &state) {
      size_t count = state.open.size();
      for (const auto &entry : state.inFlight) {
        count += entry.second.size();
      }
      return count;
    };
    return size(joined) == size(*this);
  }
};

struct TileInsertBarriers
    : tenon::impl::TileInsertBarriersBase<TileInsertBarriers> {
  /// The LDS that \p op accesses, or nothing; fails when the buffer has no
  /// place yet. Of a copy it is what the copy fills.
  FailureOr<std::optional<Access>> accessOf(Operation *op) {
    Value buffer;
    Access access;
    if (auto store = dyn_cast<tile::LdsStoreOp>(op)) {
      buffer = store.getBuffer();
      access.write = true;
    } else if (auto load = dyn_cast<tile::LdsLoadOp>(op)) {
      buffer = load.getBuffer();
      access.exact = !load.getOffsets();
    } else if (auto copy = dyn_cast<tile::CopyToLdsOp>(op)) {
      buffer = copy.getBuffer();
      access.write = true;
      access.exact = !copy.getPart();
    } else if (auto arrive = dyn_cast<tile::ArriveOp>(op);
               arrive && arrive.getBuffer()) {
      buffer = arrive.getBuffer();
    } else if (auto top = dyn_cast<tile::TopKOp>(op); top && top.getBuffer()) {
      buffer = top.getBuffer();
      access.write = true;
    } else if (auto scan = dyn_cast<tile::ScanOp>(op);
               scan && scan.getBuffer()) {
      buffer = scan.getBuffer();
      access.write = true;
    } else {
      return std::optional<Access>();
    }
    if (failed(place(op, buffer, access))) {
      return failure();
    }
    return std::optional<Access>(access);
  }

  /// Fills in where the LDS of \p access, of which \p buffer is a stage or a
  /// part, lies.
  LogicalResult place(Operation *op, Value buffer, Access &access) {
    // A stage that is known at run time only may be any.
    int64_t bytes = cast<tile::LdsType>(buffer.getType()).getBytes();
    int64_t offset = 0;
    while (auto part = buffer.getDefiningOp<tile::LdsPartOp>()) {
      access.exact = false;
      offset += part.getByteOffset();
      buffer = part.getBuffer();
    }
    while (auto stage = buffer.getDefiningOp<tile::LdsStageOp>()) {
      tile::LdsType type = stage.getBuffer().getType();
      if (auto known = stage.getConstantStage()) {
        offset += *known * type.getStageBytes();
      } else {
        access.exact &= type.getStages() == 1;
        access.index = stage.getIndex();
        access.shift = stage.getShift();
        offset = 0;
        bytes = type.getBytes();
      }
      buffer = stage.getBuffer();
    }
    auto alloc = buffer.getDefiningOp<tile::AllocLdsOp>();
    if (!alloc || !alloc.getOffset()) {
      return op->emitOpError(
          "the LDS buffer has no place: run tile-plan-lds first");
    }
    access.begin = *alloc.getOffset() + offset;
    access.end = access.begin + bytes;
    return success();
  }

  /// Fails when \p op, which makes \p access, meets a copy in flight for sure.
  LogicalResult checkInFlight(Operation *op, const Access &access) {
    for (const auto &[token, copies] : state.inFlight) {
      for (const Access &copy : copies) {
        if (copy.exact && access.exact && copy.overlaps(access)) {
          InFlightDiagnostic diag = op->emitOpError(
              "accesses LDS that a copy in flight writes: a tile.wait_copies "
              "is missing");
          diag.attachNote(token.getLoc()) << "the copy";
          return diag;
        }
      }
    }
    return success();
  }

  /// Puts a barrier in front of \p op if \p access needs one.
  LogicalResult orderAccess(Operation *op, const Access &access) {
    if (failed(checkInFlight(op, access))) {
      return failure();
    }
    bool conflict = llvm::any_of(state.open, [&](const Access &earlier) {
      return (earlier.write || access.write) && earlier.overlaps(access);
    });
    if (conflict) {
      OpBuilder builder(op);
      tile::BarrierOp::create(builder, op->getLoc());
      state.open.clear();
    }
    return success();
  }

  /// The rows of a copy, which it reads as it starts.
  LogicalResult visitRead(Operation *op, const Access &access) {
    if (failed(orderAccess(op, access))) {
      return failure();
    }
    insert(state.open, access);
    return success();
  }

  LogicalResult visitAccess(Operation *op, const Access &access) {
    if (failed(orderAccess(op, access))) {
      return failure();
    }
    if (auto copy = dyn_cast<tile::CopyToLdsOp>(op)) {
      insert(state.inFlight[copy.getToken()], access);
    } else {
      insert(state.open, access);
    }
    return success();
  }

  /// Waves meet ahead of the count and once more ahead of reading it.
  LogicalResult visitArrive(tile::ArriveOp arrive) {
    auto access = accessOf(arrive);
    if (failed(access)) {
      return failure();
    }
    if (*access) {
      state.open.clear();
      (*access)->write = true;
      if (failed(checkInFlight(arrive, **access))) {
        return failure();
      }
      (*access)->write = false;
      insert(state.open, **access);
    }
    return success();
  }

  /// Waves meet between writing to the buffer and reading it.
  LogicalResult visitExchange(Operation *op) {
    auto access = accessOf(op);
    if (failed(access) || !*access) {
      return access;
    }
    if (failed(visitAccess(op, **access))) {
      return failure();
    }
    state.open.clear();
    (*access)->write = false;
    insert(state.open, **access);
    return success();
  }

  LogicalResult visitLoop(scf::ForOp loop) {
    auto forEachToken = [](auto sources, auto targets, State &state) {
      for (auto [source, target] : llvm::zip_equal(sources, targets)) {
        if (isa<tile::TokenType>(target.getType())) {
          state.rename(source, target);
        }
      }
    };
    auto yielded = loop.getBody()->getTerminator()->getOperands();
    State before = state;
    forEachToken(loop.getInitArgs(), loop.getRegionIterArgs(), state);
    // As often as an iteration leaves something that the next one has not seen
    // yet: the body orders itself against earlier iterations.
    State entry = state;
    while (true) {
      if (failed(visitBlock(*loop.getBody()))) {
        return failure();
      }
      // The next iteration's values are others.
      state.forget(loop.getRegion());
      State next = state;
      forEachToken(yielded, loop.getRegionIterArgs(), next);
      if (entry.contains(next)) {
        break;
      }
      entry.join(next);
      state = entry;
    }
    // There may have been no iteration.
    forEachToken(yielded, loop.getResults(), state);
    forEachToken(loop.getInitArgs(), loop.getResults(), before);
    state.join(before);
    return success();
  }

  LogicalResult visitIf(scf::IfOp branch) {
    State before = state;
    auto visitBranch = [&](Block *block) -> LogicalResult {
      if (!block) {
        return success();
      }
      if (failed(visitBlock(*block))) {
        return failure();
      }
      for (auto [value, result] : llvm::zip_equal(
               block->getTerminator()->getOperands(), branch.getResults())) {
        if (isa<tile::TokenType>(result.getType())) {
          state.rename(value, result);
        }
      }
      return success();
    };
    if (failed(visitBranch(branch.thenBlock()))) {
      return failure();
    }
    State then = std::move(state);
    state = std::move(before);
    if (failed(visitBranch(branch.elseBlock()))) {
      return failure();
    }
    state.join(then);
    return success();
  }

  LogicalResult visitBlock(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        if (failed(visitLoop(loop))) {
          return failure();
        }
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        if (failed(visitIf(branch))) {
          return failure();
        }
      } else if (auto barrier = dyn_cast<tile::BarrierOp>(op)) {
        if (barrier.getWaves()) {
          return barrier.emitOpError("of some waves comes after "
                                     "tile-insert-barriers, which knows those "
                                     "of all alone");
        }
        state.open.clear();
      } else if (isa<tile::ScanOp, tile::TopKOp>(op)) {
        if (failed(visitExchange(&op))) {
          return failure();
        }
      } else if (auto arrive = dyn_cast<tile::ArriveOp>(op)) {
        if (failed(visitArrive(arrive))) {
          return failure();
        }
      } else if (auto wait = dyn_cast<tile::WaitCopiesOp>(op)) {
        for (Value token : wait.getTokens()) {
          for (const Access &access : state.inFlight.lookup(token)) {
            insert(state.open, access);
          }
          state.inFlight.erase(token);
        }
      } else if (isa<tile::ReturnOp>(op)) {
        for (const auto &entry : state.inFlight) {
          if (!entry.second.empty()) {
            return emitError(entry.first.getLoc(),
                             "the kernel may end while this copy is in flight: "
                             "a tile.wait_copies on every path is missing");
          }
        }
      } else if (op.getNumRegions() != 0) {
        return op.emitOpError("control flow other than scf.for and scf.if is "
                              "not handled");
      } else {
        auto copy = dyn_cast<tile::CopyToLdsOp>(op);
        if (copy && copy.getRows() && !copy.hasRowNumbers()) {
          Access rows;
          if (failed(place(copy, copy.getRows(), rows)) ||
              failed(visitRead(copy, rows))) {
            return failure();
          }
        }
        auto access = accessOf(&op);
        if (failed(access) || (*access && failed(visitAccess(&op, **access)))) {
          return failure();
        }
      }
    }
    return success();
  }

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    state = State();
    if (failed(kernel.requireStructured()) ||
        failed(visitBlock(kernel.getBody().front()))) {
      signalPassFailure();
    }
  }

  State state;
};
} // namespace
