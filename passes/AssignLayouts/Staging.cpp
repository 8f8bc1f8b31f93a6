//===- Staging.cpp - loads that go through LDS ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/AssignLayouts/Staging.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon;

void assign::stageLoads(tile::KernelOp kernel) {
  SmallVector<tile::LoadOp> loads;
  kernel.walk([&](tile::LoadOp load) {
    if (load.getStaged()) {
      loads.push_back(load);
    }
  });
  for (tile::LoadOp load : loads) {
    auto type = cast<RankedTensorType>(load.getType());
    Location loc = load.getLoc();
    // Outside of the loop, so that tile-pipeline can give it stages.
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    if (auto loop = dyn_cast<scf::ForOp>(load->getParentOp())) {
      builder.setInsertionPoint(loop);
    }
    auto bufferType = tile::LdsType::get(kernel.getContext(), type.getShape(),
                                         type.getElementType());
    Value buffer =
        tile::AllocLdsOp::create(builder, loc, bufferType, IntegerAttr());
    builder.setInsertionPoint(load);
    auto copy = tile::CopyToLdsOp::create(
        builder, loc, tile::TokenType::get(kernel.getContext()), load.getView(),
        load.getOffsets(), load.getLimits(), load.getLimitDivisorsAttr(),
        buffer, load.getNontemporalAttr(), /*part=*/DenseI64ArrayAttr(),
        load.getRows());
    // For tile-pipeline.
    copy->setDiscardableAttrs(load->getDiscardableAttrDictionary());
    tile::WaitCopiesOp::create(builder, loc, copy.getToken());
    load.replaceAllUsesWith(
        tile::LdsLoadOp::create(builder, loc, type, buffer).getResult());
    load.erase();
  }
}
