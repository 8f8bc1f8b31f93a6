//===- Interleaver.cpp - copies, reads and products take turns --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Schedule/Interleaver.h"

#include "passes/AssignLayouts/Relations.h"
#include "tenon/Layout/LdsAddressing.h"
#include "tenon/Layout/LdsCopy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::schedule;

// Matrix instructions of a slot: about as many as one copy of a compute unit's
// waves takes in the address unit.
static constexpr int64_t slotInstructions = 4;
// The widest read of LDS.
static constexpr unsigned widestReadBits = 128;

Interleaver::Interleaver(ArrayRef<tile::CopyToLdsOp> copies,
                         ArrayRef<tile::MmaOp> products, int64_t steps,
                         const target::TargetInfo &target, int64_t waves,
                         bool balances)
    : copies(copies), products(products), steps(steps), target(target),
      waves(waves), balances(balances), b(tile::MmaOp(products.front())),
      loc(tile::MmaOp(products.front()).getLoc()) {
  int64_t instructions = 0;
  for (tile::MmaOp product : products) {
    sums.push_back(product.getAccumulator());
    ArrayRef<int64_t> instruction = *product.getInstruction();
    int64_t held = instruction[0] * instruction[0] / target.waveSize();
    const layout::Layout &layout =
        tile::getLayout(product.getType()).getLayout();
    instructions = std::max(instructions, layout.numRegisters() / held);
  }
  slots = std::max<int64_t>(instructions / slotInstructions, 1);
  for (tile::CopyToLdsOp copy : copies) {
    queue.push_back({copy, copyInstructions(copy)});
    copyTotal += queue.back().instructions;
  }
}

int64_t Interleaver::copyInstructions(tile::CopyToLdsOp copy) const {
  SmallVector<int64_t> widths;
  for (int64_t width : tile::CopyToLdsOp::getLaneBytes()) {
    if (target.hasDirectToLds(width)) {
      widths.push_back(width);
    }
  }
  auto parts = layout::planLdsCopies(copy.getBuffer().getType().getLdsLayout(),
                                     waves, widths);
  if (!parts) {
    // convert-tile-to-rocdl says what is wrong.
    llvm::consumeError(parts.takeError());
    return 1;
  }
  int64_t instructions = 0;
  for (const layout::LdsCopy &part : *parts) {
    instructions += part.instructions;
  }
  return instructions;
}

LogicalResult Interleaver::planRead(Reads &reads, Value tile, int64_t step,
                                    bool isLhs, int64_t depth,
                                    const layout::Layout &layout) {
  // An operand of several products is read once.
  if (reads.count(tile)) {
    return success();
  }
  auto whole = cast<RankedTensorType>(tile.getType());
  Read read;
  read.tile = tile;
  SmallVector<int64_t> shape(whole.getShape());
  shape[isLhs ? 1 : 0] = depth;
  read.offsets.assign(2, 0);
  read.offsets[isLhs ? 1 : 0] = step * depth;
  read.type =
      RankedTensorType::get(shape, whole.getElementType(),
                            tile::LayoutAttr::get(b.getContext(), layout));
  auto load = tile.getDefiningOp<tile::LdsLoadOp>();
  auto addresses = layout::splitLdsAddresses(
      layout, load.getBuffer().getType().getLdsLayout(), widestReadBits,
      read.offsets);
  if (!addresses) {
    return load.emitOpError("accesses LDS through layouts that are not lowered "
                            "yet: ")
           << llvm::toString(addresses.takeError());
  }
  read.instructions = addresses->accesses.size();
  reads.insert({tile, std::move(read)});
  return success();
}

FailureOr<Interleaver::Reads> Interleaver::planReads(int64_t step) {
  Reads reads;
  for (tile::MmaOp product : products) {
    int64_t depth = product.getDepth() / steps;
    FailureOr<assign::MmaLayouts> operands = assign::operandLayouts(
        product, tile::getLayout(product.getType()).getLayout(), depth);
    if (failed(operands) ||
        failed(planRead(reads, product.getLhs(), step, /*isLhs=*/true,
                        depth / product.getLhsPacking(), operands->lhs)) ||
        failed(planRead(reads, product.getRhs(), step, /*isLhs=*/false,
                        depth / product.getRhsPacking(), operands->rhs))) {
      return failure();
    }
  }
  return reads;
}

void Interleaver::issueReads(Reads &reads, int64_t slot) {
  // The last slot has none, so that they arrive before the products begin.
  int64_t shares = std::max<int64_t>(slots - 1, 1);
  if (slot >= shares) {
    return;
  }
  for (auto &[tile, read] : reads) {
    int64_t parts = std::min(shares, read.instructions);
    auto load = tile.getDefiningOp<tile::LdsLoadOp>();
    for (int64_t part = 0; part < parts; ++part) {
      if (part * shares / parts == slot) {
        read.read = tile::LdsLoadOp::create(
            b, loc, read.type, load.getBuffer(), read.read,
            b.getDenseI64ArrayAttr(read.offsets),
            parts == 1 ? DenseI64ArrayAttr()
                       : b.getDenseI64ArrayAttr({part, parts}));
      }
    }
  }
}

/// Lowers the priority after each quarter of the slots, so that the waves of a
/// SIMD keep pace: of two waves the one that is behind goes first. The SIMD
/// would let the oldest run ahead, and the copies of the others come late.
void Interleaver::setPriority() {
  constexpr int64_t highest = 3;
  auto levelAt = [&](int64_t slot) {
    return highest - slot * (highest + 1) / (slots * steps);
  };
  if (slotsDone == 0 || levelAt(slotsDone) != levelAt(slotsDone - 1)) {
    tile::WavePriorityOp::create(b, loc, levelAt(slotsDone));
  }
}

/// Issues what is due of the copies when one more slot begins.
void Interleaver::issueCopies() {
  ++slotsDone;
  int64_t due =
      llvm::divideCeil(copyTotal * slotsDone, slots * steps) - copiesIssued;
  int64_t first = 0;
  for (Copy &copy : queue) {
    int64_t end = first + copy.instructions;
    for (; due > 0 && copiesIssued < end; --due, ++copiesIssued) {
      auto issued = cast<tile::CopyToLdsOp>(b.clone(*copy.op));
      int64_t part = copiesIssued - first;
      issued.setPartAttr(b.getDenseI64ArrayAttr({part, copy.instructions}));
      // Copies of a wave arrive in order: who waits for the last part has
      // waited for all.
      if (part + 1 == copy.instructions) {
        copy.op.getToken().replaceAllUsesWith(issued.getToken());
      }
    }
    first = end;
  }
}

void Interleaver::multiply(const Reads &operands, int64_t index,
                           DenseI64ArrayAttr part) {
  for (auto [product, sum] : llvm::zip_equal(products, sums)) {
    tile::MmaOp whole = product;
    IntegerAttr blocks;
    if (whole.getLhsScale() || whole.getRhsScale()) {
      int64_t begin = index * whole.getDepth() / steps;
      blocks = b.getI64IntegerAttr(whole.getScaleBegin().value_or(0) +
                                   begin / tile::MmaOp::scaleBlock);
    }
    sum = tile::MmaOp::create(
        b, loc, sum.getType(), operands.lookup(whole.getLhs()).read,
        operands.lookup(whole.getRhs()).read, sum, whole.getLhsScale(),
        whole.getRhsScale(), whole.getInstructionAttr(), whole.getWavesAttr(),
        whole.getContractionAttr(), blocks, part, whole.getAccuracyAttr());
  }
}

/// A barrier that products do not cross either.
void Interleaver::meet() {
  tile::OrderFenceOp::create(b, loc);
  tile::BarrierOp::create(b, loc);
  tile::OrderFenceOp::create(b, loc);
}

void Interleaver::step(const Reads &operands, int64_t index, Reads *next) {
  if (phased) {
    // Who multiplies goes first: the other group's wave fills the gaps.
    tile::WavePriorityOp::create(b, loc, 1);
    multiply(operands, index, DenseI64ArrayAttr());
    tile::WavePriorityOp::create(b, loc, 0);
    meet();
    issueReads(*next, 0);
    issueCopies();
    return;
  }
  for (int64_t slot = 0; slot < slots; ++slot) {
    if (balances) {
      setPriority();
    }
    issueCopies();
    if (next) {
      issueReads(*next, slot);
    }
    multiply(operands, index,
             slots == 1 ? DenseI64ArrayAttr()
                        : b.getDenseI64ArrayAttr({slot, slots}));
  }
}

/// Takes away what stood there before.
void Interleaver::eraseWhole() {
  llvm::SetVector<Operation *> loads;
  for (tile::MmaOp product : products) {
    loads.insert(product.getLhs().getDefiningOp());
    loads.insert(product.getRhs().getDefiningOp());
    product.erase();
  }
  for (Operation *load : loads) {
    load->erase();
  }
  for (tile::CopyToLdsOp copy : copies) {
    copy.erase();
  }
}

LogicalResult Interleaver::run() {
  FailureOr<Reads> present = planReads(0);
  if (failed(present)) {
    return failure();
  }
  int64_t own = slots;
  // All at once.
  slots = 1;
  issueReads(*present, 0);
  slots = own;
  for (int64_t index = 0; index < steps; ++index) {
    Reads next;
    if (index + 1 < steps) {
      FailureOr<Reads> planned = planReads(index + 1);
      if (failed(planned)) {
        return failure();
      }
      next = std::move(*planned);
    }
    step(*present, index, &next);
    present = std::move(next);
  }
  for (auto [product, sum] : llvm::zip_equal(products, sums)) {
    tile::MmaOp(product).getResult().replaceAllUsesWith(sum);
  }
  eraseWhole();
  return success();
}

LogicalResult Interleaver::prefetch() {
  auto loop = cast<scf::ForOp>(tile::MmaOp(products.front())->getParentOp());
  SmallVector<Reads> reads;
  for (int64_t index = 0; index < steps; ++index) {
    FailureOr<Reads> planned = planReads(index);
    if (failed(planned)) {
      return failure();
    }
    reads.push_back(std::move(*planned));
  }
  // The operands of the last step are carried; at first they are zeros.
  Reads carried = reads.back();
  SmallVector<Value> zeros;
  b.setInsertionPoint(loop);
  for (auto &[tile, read] : carried) {
    zeros.push_back(arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(read.type,
                               b.getZeroAttr(read.type.getElementType()))));
  }
  IRRewriter rewriter(b);
  auto wider = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, zeros, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return zeros; }));
  unsigned first = wider.getInitArgs().size() - zeros.size();
  for (auto [index, entry] : llvm::enumerate(carried)) {
    entry.second.read = wider.getRegionIterArg(first + index);
  }
  if (phased) {
    b.setInsertionPoint(wider);
    tile::BarrierOp::create(b, loc, b.getDenseI64ArrayAttr({waves / 2, waves}));
  }
  b.setInsertionPoint(products.front());
  SmallVector<unsigned> places;
  for (auto [index, product] : llvm::enumerate(products)) {
    auto arg = cast<BlockArgument>(tile::MmaOp(product).getAccumulator());
    sums[index] = arg;
    places.push_back(wider.getTiedLoopInit(arg) -
                     &wider.getInitArgsMutable()[0]);
  }
  step(carried, steps - 1, &reads.front());
  for (int64_t index = 0; index + 1 < steps; ++index) {
    if (phased) {
      meet();
    }
    step(reads[index], index, &reads[index + 1]);
  }
  auto yield = cast<scf::YieldOp>(wider.getBody()->getTerminator());
  for (auto [product, sum] : llvm::zip_equal(products, sums)) {
    tile::MmaOp(product).getResult().replaceAllUsesWith(sum);
  }
  for (auto [index, entry] : llvm::enumerate(reads.back())) {
    yield->setOperand(first + index, entry.second.read);
  }
  // What is left behind the loop.
  b.setInsertionPointAfter(wider);
  if (phased) {
    tile::BarrierOp::create(b, loc, b.getDenseI64ArrayAttr({0, waves / 2}));
  }
  for (auto [index, entry] : llvm::enumerate(carried)) {
    entry.second.read = wider.getResult(first + index);
  }
  for (auto [sum, place] : llvm::zip_equal(sums, places)) {
    sum = wider.getResult(place);
  }
  multiply(carried, steps - 1, DenseI64ArrayAttr());
  for (auto [sum, place] : llvm::zip_equal(sums, places)) {
    wider.getResult(place).replaceAllUsesExcept(sum, sum.getDefiningOp());
  }
  eraseWhole();
  return success();
}

LogicalResult Interleaver::pingPong() {
  phased = true;
  slots = 1;
  return prefetch();
}
