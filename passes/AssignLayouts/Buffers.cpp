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
  bool others = false; ///< a store, or a reader whose layout is not known
};
} // namespace

/// How \p load reads the whole buffer, part by part, or nothing where parts do
/// not make it up. Where a part begins does not change its bank conflicts.
static std::optional<layout::Layout> readerOf(tile::LdsLoadOp load) {
  tile::LayoutAttr attr = tile::getLayout(load.getType());
  if (!attr || !load.getOffsets()) {
    return attr ? std::optional(attr.getLayout()) : std::nullopt;
  }
  layout::Layout layout = attr.getLayout();
  SmallVector<layout::Repeat> repeats;
  for (auto [dim, extent] :
       llvm::enumerate(load.getBuffer().getType().getShape())) {
    int64_t part = layout.shape()[dim];
    if (extent % part != 0) {
      return std::nullopt;
    }
    if (extent != part) {
      repeats.push_back(
          {layout::HwDim::Register, extent / part, unsigned(dim)});
    }
  }
  auto whole = layout::Layout::repeat(layout, repeats);
  if (!whole) {
    llvm::consumeError(whole.takeError());
    return std::nullopt;
  }
  return std::move(*whole);
}

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
        std::optional<layout::Layout> reader = readerOf(load);
        uses.others |= !reader;
        if (reader && !llvm::is_contained(uses.readers, *reader)) {
          uses.readers.push_back(std::move(*reader));
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

/// Cycles that bank conflicts add where a tile is written to \p lds from the
/// first layout of \p layouts and read to the others.
static std::optional<int64_t> conflictsOf(const layout::LdsLayout &lds,
                                          ArrayRef<layout::Layout> layouts,
                                          const layout::BankRules &rules) {
  constexpr unsigned widest = 128;
  int64_t extra = 0;
  for (auto [index, layout] : llvm::enumerate(layouts)) {
    unsigned bits = lds.vectorWidth(layout, widest) * lds.elementBits();
    auto conflicts = layout::bankConflicts(
        layout, lds, bits,
        index == 0 ? layout::LdsAccess::Write : layout::LdsAccess::Read, rules);
    if (!conflicts) {
      llvm::consumeError(conflicts.takeError());
      return std::nullopt;
    }
    extra += conflicts->extraPhases;
  }
  return extra;
}

FailureOr<tile::LdsType>
tenon::assign::exchangeBuffer(Operation *op, RankedTensorType type,
                              const layout::Layout &from,
                              ArrayRef<layout::Layout> to) {
  auto plain = tile::LdsType::getChecked(
      [&] {
        return emitError(op->getLoc(), "a tile that moves through LDS: ");
      },
      op->getContext(), type.getShape(), type.getElementType());
  if (!plain) {
    return failure();
  }
  unsigned rank = type.getRank();
  if (rank < 2) {
    return plain;
  }
  FailureOr<target::TargetInfo> target = tile::getTarget(op);
  if (failed(target)) {
    return failure();
  }
  layout::BankRules rules = tile::ldsBankRules(*target);
  std::vector<layout::Layout> layouts{from};
  layouts.insert(layouts.end(), to.begin(), to.end());
  layout::LdsLayout rowMajor = plain.getLdsLayout();
  std::optional<int64_t> least = conflictsOf(rowMajor, layouts, rules);
  layout::LdsLayout best = rowMajor;
  if (!least) {
    return plain;
  }
  // Some bits of the row flip pieces of 16 bytes.
  unsigned rowDim = rank - 2;
  constexpr int64_t pieceBytes = 16;
  constexpr unsigned mostBits = 4;
  for (unsigned first = 0; first < mostBits && *least != 0; ++first) {
    for (unsigned bits = 1; bits <= mostBits && *least != 0; ++bits) {
      SmallVector<layout::SwizzleTerm> terms;
      for (unsigned bit = 0; bit < bits; ++bit) {
        terms.push_back({rowDim, first + bit, pieceBytes << bit});
      }
      auto swizzled = rowMajor.withSwizzle(terms);
      if (!swizzled) {
        llvm::consumeError(swizzled.takeError());
        continue;
      }
      std::optional<int64_t> extra = conflictsOf(*swizzled, layouts, rules);
      if (extra && *extra < *least) {
        least = extra;
        best = *swizzled;
      }
    }
  }
  if (best == rowMajor) {
    return plain;
  }
  return tile::LdsType::get(op->getContext(), type.getShape(),
                            type.getElementType(),
                            tile::LdsLayoutAttr::get(op->getContext(), best),
                            /*stages=*/1);
}
