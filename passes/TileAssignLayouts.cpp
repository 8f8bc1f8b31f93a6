//===- TileAssignLayouts.cpp - place every tile -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Islands of tiles without a layout are found and placed (Islands.h); then each
// remaining convert_layout is made a renaming of registers or an exchange
// through LDS.
//
//===----------------------------------------------------------------------===//

#include "passes/AssignLayouts/Islands.h"
#include "passes/AssignLayouts/Relations.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTS
#include "passes/Passes.h.inc"
} // namespace tenon

namespace {
struct TileAssignLayouts : tenon::impl::TileAssignLayoutsBase<TileAssignLayouts> {
  /// The earliest operation of the result's block that uses it.
  static Operation *firstUser(Value value) {
    Operation *first = nullptr;
    for (Operation *user : value.getUsers()) {
      if (!first || user->isBeforeInBlock(first)) {
        first = user;
      }
    }
    return first;
  }

  /// Replaces `converts`, conversions of one value through LDS, by one buffer.
  void exchange(Value source, ArrayRef<tile::ConvertLayoutOp> converts) {
    auto type = cast<RankedTensorType>(source.getType());
    Location loc = source.getLoc();
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(source);
    auto bufferType = tile::LdsType::get(&getContext(), type.getShape(),
                                         type.getElementType());
    Value buffer =
        tile::AllocLdsOp::create(builder, loc, bufferType, IntegerAttr());
    tile::LdsStoreOp::create(builder, loc, source, buffer);
    // One load per layout that is wanted.
    DenseMap<Type, tile::LdsLoadOp> loads;
    for (tile::ConvertLayoutOp convert : converts) {
      Operation *user = firstUser(convert.getResult());
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
  }

  void lowerConversions() {
    llvm::MapVector<Value, SmallVector<tile::ConvertLayoutOp>> exchanges;
    for (auto convert : llvm::make_early_inc_range(
             getOperation().getBody().front().getOps<tile::ConvertLayoutOp>())) {
      if (convert.use_empty()) {
        convert.erase();
        continue;
      }
      tile::LayoutAttr from = tile::getLayout(convert.getSource().getType());
      tile::LayoutAttr to = tile::getLayout(convert.getType());
      if (from == to) {
        convert.replaceAllUsesWith(convert.getSource());
        convert.erase();
      } else if (!assign::avoidsLds(from.getLayout(), to.getLayout())) {
        exchanges[convert.getSource()].push_back(convert);
      }
    }
    for (auto &[source, converts] : exchanges) {
      exchange(source, converts);
    }
  }

  void runOnOperation() override {
    tile::KernelOp kernel = getOperation();
    if (failed(assign::placeIslands(kernel))) {
      return signalPassFailure();
    }
    lowerConversions();
  }
};
} // namespace
