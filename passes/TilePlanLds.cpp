//===- TilePlanLds.cpp - give every LDS buffer its place --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TILEPLANLDS
#include "passes/Passes.h.inc"
} // namespace tenon

// The widest LDS access is 16 bytes and wants that alignment.
static constexpr int64_t ldsAlignment = 16;

namespace {
/// One buffer and the operations of the kernel's body between which it lives.
struct Buffer {
  tile::AllocLdsOp alloc;
  int64_t bytes = 0;
  size_t first = 0; ///< position of the first access in the kernel
  size_t last = 0;  ///< position of the last access
  int64_t offset = 0;

  bool livesWith(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Where the copy behind \p token may still be on its way: its waits, and the
/// loops and branches that carry the token.
void followToken(Value token, SmallVectorImpl<Operation *> &uses) {
  SmallVector<Value> tokens = {token};
  DenseSet<Value> seen = {token};
  auto follow = [&](Value next) {
    if (seen.insert(next).second) {
      tokens.push_back(next);
    }
  };
  while (!tokens.empty()) {
    for (OpOperand &use : tokens.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      uses.push_back(user);
      if (auto loop = dyn_cast<scf::ForOp>(user)) {
        follow(loop.getTiedLoopRegionIterArg(&use));
        follow(loop.getTiedLoopResult(&use));
      } else if (auto yield = dyn_cast<scf::YieldOp>(user)) {
        Operation *parent = yield->getParentOp();
        follow(parent->getResult(use.getOperandNumber()));
        if (auto loop = dyn_cast<scf::ForOp>(parent)) {
          follow(loop.getRegionIterArg(use.getOperandNumber()));
        }
      }
    }
  }
}

/// What accesses an LDS buffer, a stage or a part of it. A copy does until the
/// wait.
SmallVector<Operation *> accessesOf(Value buffer) {
  SmallVector<Operation *> accesses;
  SmallVector<Value> buffers = {buffer};
  while (!buffers.empty()) {
    Value value = buffers.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (isa<tile::LdsStageOp, tile::LdsPartOp>(user)) {
        buffers.push_back(user->getResult(0));
        continue;
      }
      accesses.push_back(user);
      auto copy = dyn_cast<tile::CopyToLdsOp>(user);
      if (copy && copy.getBuffer() == value) {
        followToken(copy.getToken(), accesses);
      }
    }
  }
  return accesses;
}

struct TilePlanLds : tenon::impl::TilePlanLdsBase<TilePlanLds> {
  /// The buffers in program order. An access counts as all of the operation
  /// that contains it in the block of the buffer: what a loop uses lives
  /// throughout the loop, what a loop allocates within an iteration. Branches
  /// are looked into.
  SmallVector<Buffer> collect() {
    // Where operations begin and end, in program order.
    DenseMap<Operation *, size_t> begins, ends;
    size_t position = 0;
    getOperation().walk([&](Operation *op, const WalkStage &stage) {
      if (stage.isBeforeAllRegions()) {
        begins[op] = position;
      }
      ends[op] = position++;
    });
    SmallVector<Buffer> buffers;
    getOperation().walk([&](tile::AllocLdsOp alloc) {
      Buffer buffer{alloc, alloc.getType().getBytes()};
      buffer.first = std::numeric_limits<size_t>::max();
      for (Operation *user : accessesOf(alloc.getResult())) {
        // The innermost block that holds both: a copy in flight may leave that
        // of the buffer.
        Operation *own = alloc, *whole = nullptr;
        while (!(whole = own->getBlock()->findAncestorOpInBlock(*user))) {
          own = own->getParentOp();
        }
        if (own != alloc) {
          buffer.first = std::min(buffer.first, begins[own]);
        }
        while (whole != user && isa<scf::IfOp>(whole)) {
          for (Region &branch : whole->getRegions()) {
            Operation *inner =
                branch.empty() ? nullptr
                               : branch.front().findAncestorOpInBlock(*user);
            if (inner) {
              whole = inner;
              break;
            }
          }
        }
        buffer.first = std::min(buffer.first, begins[whole]);
        buffer.last = std::max(buffer.last, ends[whole]);
      }
      if (buffer.first <= buffer.last) {
        buffers.push_back(buffer);
      }
    });
    return buffers;
  }

  /// Every buffer in storage of its own; returns the bytes in use.
  static int64_t placeApart(MutableArrayRef<Buffer> buffers) {
    int64_t end = 0;
    for (Buffer &buffer : buffers) {
      buffer.offset = end;
      end = llvm::alignTo(end + buffer.bytes, ldsAlignment);
    }
    return end;
  }

  /// The lowest place where no buffer is that lives at the same time, the
  /// largest buffers first; returns the bytes in use.
  static int64_t placeShared(MutableArrayRef<Buffer> buffers) {
    SmallVector<Buffer *> order;
    for (Buffer &buffer : buffers) {
      order.push_back(&buffer);
    }
    llvm::stable_sort(order, [](Buffer *left, Buffer *right) {
      return left->bytes > right->bytes;
    });
    int64_t end = 0;
    SmallVector<Buffer *> placed;
    for (Buffer *buffer : order) {
      int64_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (Buffer *other : placed) {
          if (other->livesWith(*buffer) &&
              offset < other->offset + other->bytes &&
              other->offset < offset + buffer->bytes) {
            offset = llvm::alignTo(other->offset + other->bytes, ldsAlignment);
            moved = true;
          }
        }
      }
      buffer->offset = offset;
      placed.push_back(buffer);
      end = std::max<int64_t>(
          end, llvm::alignTo(offset + buffer->bytes, ldsAlignment));
    }
    return end;
  }

  LogicalResult overBudget(ArrayRef<Buffer> buffers, int64_t bytes,
                           unsigned limit) {
    const Buffer *peak = &buffers.front();
    int64_t most = 0;
    auto aliveWith = [&](const Buffer &buffer) {
      return llvm::make_filter_range(buffers, [&](const Buffer &other) {
        return other.first <= buffer.first && buffer.first <= other.last;
      });
    };
    for (const Buffer &buffer : buffers) {
      int64_t sum = 0;
      for (const Buffer &other : aliveWith(buffer)) {
        sum += other.bytes;
      }
      if (sum > most) {
        most = sum;
        peak = &buffer;
      }
    }
    InFlightDiagnostic diag = getOperation().emitOpError("needs ")
                              << bytes << " bytes of LDS, a workgroup can have "
                              << limit;
    for (const Buffer &other : aliveWith(*peak)) {
      tile::AllocLdsOp alloc = other.alloc;
      diag.attachNote(alloc.getLoc())
          << "alive at the peak: " << alloc.getType() << ", " << other.bytes
          << " bytes";
    }
    return diag;
  }

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    FailureOr<target::TargetInfo> target = tile::getTarget(kernel);
    if (failed(target) || failed(kernel.requireStructured())) {
      return signalPassFailure();
    }
    SmallVector<Buffer> buffers = collect();
    // Registers are not known yet, so only LDS and wave slots count here.
    auto workgroups = [&](int64_t bytes) {
      return target->workgroupsPerCu(0, 0, bytes, kernel.getWaves() * 64);
    };
    int64_t bytes = placeShared(buffers);
    SmallVector<Buffer> apart = buffers;
    int64_t bytesApart = placeApart(apart);
    if (bytesApart <= target->facts().ldsBytes &&
        workgroups(bytesApart) >= workgroups(bytes)) {
      buffers = apart;
      bytes = bytesApart;
    }
    if (bytes > target->facts().ldsBytes) {
      (void)overBudget(buffers, bytes, target->facts().ldsBytes);
      return signalPassFailure();
    }
    Builder builder(&getContext());
    for (Buffer &buffer : buffers) {
      buffer.alloc.setOffsetAttr(builder.getI64IntegerAttr(buffer.offset));
    }
    kernel.setLdsBytesAttr(builder.getI64IntegerAttr(bytes));
    kernel.emitRemark()
        << bytes << " bytes of LDS, " << target->ldsAllocation(bytes)
        << " allocated: " << workgroups(bytes)
        << " workgroups per compute unit as far as LDS and wave "
           "slots go";
  }
};
} // namespace
