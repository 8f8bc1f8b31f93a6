//===- QuantizeKernel.cpp - x as codes and their scales ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup rounds one token, once for all experts that it goes to.
//
//===----------------------------------------------------------------------===//

#include "ExpertStage.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;

static void writeQuantize(spec::MoeExpertsOp op, tile::KernelOp kernel,
                          OpBuilder &builder) {
  TileBuilder t(builder, op.getLoc());
  builder.setInsertionPointToStart(&kernel.getBody().front());
  llvm::StringMap<Value> args = KernelArguments::byName(kernel);
  constexpr int64_t block = tile::MmaOp::scaleBlock;
  int64_t width = op.getWidth();
  spec::Format format = op.getInput();
  Value token = t.workgroupId(0);
  Value exists = t.create<arith::CmpIOp>(arith::CmpIPredicate::slt, token,
                                         RouteLookup(op, t, args).tokens());
  auto branch = t.create<scf::IfOp>(exists, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value zero = t.i32(0);
    OpFoldResult unit = builder.getIndexAttr(1);
    // [blocks, 32]; blocks that fill it up lie beyond the bounds.
    int64_t blocks = llvm::PowerOf2Ceil(width / block);
    Value x =
        t.view(t.advance(args["x"],
                         t.wideMul(token, t.mul(args["x_stride"], t.i32(16)))),
               {builder.getIndexAttr(block), unit}, t.i32(width * 2));
    Codes codes = quantize(t, t.load(x, {zero, zero}, {blocks, block}), format,
                           op.getScaleMode());
    int64_t bytes = rowBytes(format, width);
    Value row = t.advance(args[xCodes], t.wideMul(token, t.i32(bytes)));
    t.store(codes.values,
            t.view(row, {builder.getIndexAttr(rowBytes(format, block)), unit},
                   t.i32(bytes)),
            {zero, zero});
    int64_t scaleBytes = scaleRowBytes(width);
    dense::Band scales = scaleBand(
        t, t.advance(args[xScales], t.wideMul(token, t.i32(scaleBytes))), width,
        t.i32(1), dense::BandOrder::ScaleWords);
    dense::ViewStrides strides =
        scales.alongDepth(builder, dense::DepthLevel{0, 1});
    strides.add(unit);
    t.store(
        codes.scales,
        t.view(scales.pointer, strides.strides, scales.bytes, strides.blocks),
        {zero, zero});
  }
  t.create<tile::ReturnOp>();
}

void moe::addQuantize(spec::MoeExpertsOp op, Value tokens, StringRef name,
                      PlanBuilder &plan, OpBuilder &builder) {
  constexpr int64_t waves = 4;
  int64_t width = op.getWidth();
  KernelArguments arguments(builder, plan);
  for (const spec::OperandContract &contract : op.getOperandContracts()) {
    if (contract.name == "x") {
      arguments.pointers(contract);
    }
  }
  arguments.scalar32("x_stride",
                     plan.floorDiv(plan.strideBytes("x"), plan.constant(16)));
  RouteLookup::addArguments(op, plan, arguments);
  arguments.workspace(
      xCodes, elementOf(op.getInput(), builder),
      plan.mul(tokens, plan.constant(rowBytes(op.getInput(), width))),
      /*zero=*/false);
  arguments.workspace(xScales, builder.getI8Type(),
                      plan.mul(tokens, plan.constant(scaleRowBytes(width))),
                      /*zero=*/false);
  plan.launch(name, tokens, plan.constant(1), plan.constant(1), waves * 64);
  tile::KernelOp kernel = arguments.createKernel(op.getLoc(), name, waves,
                                                 /*preloads=*/true);
  OpBuilder::InsertionGuard guard(builder);
  writeQuantize(op, kernel, builder);
}
