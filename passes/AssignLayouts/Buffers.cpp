//===- Buffers.cpp - LDS layouts of buffers that copies fill ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/AssignLayouts/Buffers.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::assign;

namespace {
/// What a buffer and its stages are used for.
struct Uses {
  SmallVector<Value> buffers; ///< the buffer and all stages
  SmallVector<tile::CopyToLdsOp> copies;
  std::vector<layout::Layout> readers; ///< distinct
  bool others = false;                 ///< a store, or a reader without layout
};
} // namespace

static Uses usesOf(Value buffer) {
  Uses uses;
  uses.buffers.push_back(buffer);
  for (size_t next = 0; next < uses.buffers.size(); ++next) {
    for (Operation *user : uses.buffers[next].getUsers()) {
      if (auto stage = dyn_cast<tile::LdsStageOp>(user)) {
        uses.buffers.push_back(stage.getResult());
      } else if (auto copy = dyn_cast<tile::CopyToLdsOp>(user);
                 copy && copy.getBuffer() == uses.buffers[next]) {
        uses.copies.push_back(copy);
      } else if (auto load = dyn_cast<tile::LdsLoadOp>(user)) {
        tile::LayoutAttr layout = tile::getLayout(load.getType());
        uses.others |= !layout;
        if (layout && !llvm::is_contained(uses.readers, layout.getLayout())) {
          uses.readers.push_back(layout.getLayout());
        }
      } else {
        uses.others = true;
      }
    }
  }
  return uses;
}

/// The dim along which the views of all copies have stride 1, if there is one.
static std::optional<unsigned> runDim(ArrayRef<tile::CopyToLdsOp> copies) {
  for (unsigned dim : {1u, 0u}) {
    if (llvm::all_of(copies, [&](tile::CopyToLdsOp copy) {
          auto view = copy.getView().getDefiningOp<tile::ViewOp>();
          return view && view.getRunAlong(dim) > 1;
        })) {
      return dim;
    }
  }
  return std::nullopt;
}

void tenon::assign::giveExchangesBuffers(tile::KernelOp kernel) {
  kernel.getBody().walk([](tile::TopKOp top) {
    tile::LayoutAttr layout = tile::getLayout(top.getValues().getType());
    if (top.getBuffer() || !layout) {
      return;
    }
    OpBuilder builder(top);
    auto results = cast<RankedTensorType>(top.getGreatest().getType());
    auto type = tile::TopKOp::bufferType(top.getContext(), layout.getLayout(),
                                         results.getDimSize(0));
    top.getBufferMutable().assign(
        tile::AllocLdsOp::create(builder, top.getLoc(), type, IntegerAttr()));
  });
  if (kernel.getWaves() == 1) {
    return;
  }
  kernel.getBody().walk([&](tile::ScanOp scan) {
    if (scan.getBuffer()) {
      return;
    }
    OpBuilder builder(scan);
    auto type = tile::ScanOp::bufferType(scan.getContext(), kernel.getWaves());
    scan.getBufferMutable().assign(
        tile::AllocLdsOp::create(builder, scan.getLoc(), type, IntegerAttr()));
  });
  kernel.getBody().walk([](tile::ArriveOp arrive) {
    if (arrive.getBuffer()) {
      return;
    }
    OpBuilder builder(arrive);
    auto type =
        tile::LdsType::get(arrive.getContext(), {1}, builder.getI32Type());
    arrive.getBufferMutable().assign(tile::AllocLdsOp::create(
        builder, arrive.getLoc(), type, IntegerAttr()));
  });
}

LogicalResult tenon::assign::placeBuffers(tile::KernelOp kernel) {
  SmallVector<tile::AllocLdsOp> allocs;
  kernel.getBody().walk([&](tile::AllocLdsOp alloc) {
    if (!alloc.getType().getLayout() &&
        alloc.getType().getShape().size() == 2) {
      allocs.push_back(alloc);
    }
  });
  for (tile::AllocLdsOp alloc : allocs) {
    Uses uses = usesOf(alloc.getResult());
    if (uses.copies.empty() || uses.readers.empty() || uses.others) {
      continue;
    }
    FailureOr<target::TargetInfo> target = tile::getTarget(kernel);
    if (failed(target)) {
      return failure();
    }
    std::optional<unsigned> run = runDim(uses.copies);
    if (!run) {
      continue;
    }
    SmallVector<const layout::Layout *> readers;
    for (const layout::Layout &reader : uses.readers) {
      readers.push_back(&reader);
    }
    tile::LdsType type = alloc.getType();
    auto found = layout::findCopyLayout(
        type.getShape(), *run, type.getElementType().getIntOrFloatBitWidth(),
        readers, tile::ldsBankRules(*target));
    if (!found) {
      alloc.emitRemark("stays row-major: ")
          << llvm::toString(found.takeError());
      continue;
    }
    auto attr = tile::LdsLayoutAttr::get(kernel.getContext(), *found);
    for (Value buffer : uses.buffers) {
      auto old = cast<tile::LdsType>(buffer.getType());
      buffer.setType(tile::LdsType::get(old.getContext(), old.getShape(),
                                        old.getElementType(), attr,
                                        old.getStages()));
    }
  }
  return success();
}
