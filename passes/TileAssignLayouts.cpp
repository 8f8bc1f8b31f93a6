//===- TileAssignLayouts.cpp - place every tile -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Islands of tiles without a layout are found and placed (Islands.h); then each
// remaining convert_layout is made a renaming of registers or an exchange
// through LDS; last, LDS buffers that copies fill get layouts without bank
// conflicts (Buffers.h).
//
//===----------------------------------------------------------------------===//

#include "passes/AssignLayouts/Buffers.h"
#include "passes/AssignLayouts/Islands.h"
#include "passes/AssignLayouts/Relations.h"
#include "passes/AssignLayouts/Staging.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tenon

namespace {
struct TileAssignLayouts
    : tenon::impl::TileAssignLayoutsBase<TileAssignLayouts> {
  /// The earliest operation of \p block that uses \p value, itself or in a
  /// loop.
  static Operation *firstUser(Value value, Block &block) {
    Operation *first = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *place = block.findAncestorOpInBlock(*user);
      if (!first || place->isBeforeInBlock(first)) {
        first = place;
      }
    }
    return first;
  }

  /// Replaces `converts`, conversions of one value through LDS, by one buffer.
  LogicalResult exchange(Value source,
                         ArrayRef<tile::ConvertLayoutOp> converts) {
    auto type = cast<RankedTensorType>(source.getType());
    Location loc = source.getLoc();
    Type element = type.getElementType();
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0) {
      tile::ConvertLayoutOp convert = converts.front();
      return convert.emitOpError("moves a tile of ")
             << element << " through LDS, which takes only whole bytes";
    }
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(source);
    std::vector<layout::Layout> wanted;
    for (tile::ConvertLayoutOp convert : converts) {
      wanted.push_back(tile::getLayout(convert.getType()).getLayout());
    }
    FailureOr<tile::LdsType> bufferType = assign::exchangeBuffer(
        converts.front(), type, tile::getLayout(type).getLayout(), wanted);
    if (failed(bufferType)) {
      return failure();
    }
    Value buffer =
        tile::AllocLdsOp::create(builder, loc, *bufferType, IntegerAttr());
    tile::LdsStoreOp::create(builder, loc, source, buffer);
    // One load per layout that is wanted.
    DenseMap<Type, tile::LdsLoadOp> loads;
    for (tile::ConvertLayoutOp convert : converts) {
      Operation *user =
          firstUser(convert.getResult(), *source.getParentBlock());
      tile::LdsLoadOp &load = loads[convert.getType()];
      if (!load) {
        builder.setInsertionPoint(user);
        load = tile::LdsLoadOp::create(builder, loc, convert.getType(), buffer);
      } else if (user->isBeforeInBlock(load)) {
        load->moveBefore(user);
      }
      convert.replaceAllUsesWith(load.getResult());
      convert.erase();
    }
    return success();
  }

  LogicalResult lowerConversions() {
    SmallVector<tile::ConvertLayoutOp> converts;
    getOperation().walk(
        [&](tile::ConvertLayoutOp convert) { converts.push_back(convert); });
    // Backwards, so that a chain without a user goes away as a whole.
    SmallVector<tile::ConvertLayoutOp> pending;
    for (tile::ConvertLayoutOp convert : llvm::reverse(converts)) {
      tile::LayoutAttr from = tile::getLayout(convert.getSource().getType());
      tile::LayoutAttr to = tile::getLayout(convert.getType());
      if (convert.use_empty()) {
        convert.erase();
      } else if (from == to) {
        convert.replaceAllUsesWith(convert.getSource());
        convert.erase();
      } else if (!assign::avoidsLds(from.getLayout(), to.getLayout())) {
        pending.push_back(convert);
      }
    }
    std::reverse(pending.begin(), pending.end());
    // An exchange replaces its conversions' results, from which others may
    // start: sources are looked up one exchange at a time.
    while (!pending.empty()) {
      Value source = pending.front().getSource();
      SmallVector<tile::ConvertLayoutOp> ofSource;
      llvm::erase_if(pending, [&](tile::ConvertLayoutOp convert) {
        bool matches = convert.getSource() == source;
        if (matches) {
          ofSource.push_back(convert);
        }
        return matches;
      });
      if (failed(exchange(source, ofSource))) {
        return failure();
      }
    }
    return success();
  }

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (failed(kernel.requireStructured()) ||
        failed(assign::placeIslands(kernel)) || failed(lowerConversions())) {
      return signalPassFailure();
    }
    assign::stageLoads(kernel);
    assign::giveExchangesBuffers(kernel);
    if (failed(assign::placeBuffers(kernel))) {
      signalPassFailure();
    }
  }
};
} // namespace
