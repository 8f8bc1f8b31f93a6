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

tile::LdsLoadOp schedule::readOf(Value operand) {
  if (auto made = operand.getDefiningOp<tile::DequantizeOp>()) {
    operand = made.getCodes();
  }
  return operand.getDefiningOp<tile::LdsLoadOp>();
}

Interleaver::Interleaver(const Interval &interval, int64_t steps,
                         const target::TargetInfo &target, int64_t waves,
                         bool balances)
    : copies(interval.copies), products(interval.products), steps(steps),
      target(target), waves(waves), balances(balances), b(products.front()),
      loc(products.front().getLoc()) {
  int64_t instructions = 0;
  for (tile::MmaOp product : products) {
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

LogicalResult Interleaver::planRead(Reads &reads, Value operand, int64_t index,
                                    bool isLhs, int64_t depth,
                                    const layout::Layout &layout) {
  tile::LdsLoadOp load = readOf(operand);
  // An operand of several products is read once.
  if (reads.count(load)) {
    return success();
  }
  Read read;
  read.whole = load;
  read.type = load.getType();
  read.offsets.assign(2, 0);
  if (steps > 1) {
    SmallVector<int64_t> shape(read.type.getShape());
    shape[isLhs ? 1 : 0] = depth;
    read.offsets[isLhs ? 1 : 0] = index * depth;
    read.type =
        RankedTensorType::get(shape, read.type.getElementType(),
                              tile::LayoutAttr::get(b.getContext(), layout));
  }
  auto addresses = layout::splitLdsAddresses(
      tile::getLayout(read.type).getLayout(),
      load.getBuffer().getType().getLdsLayout(), widestReadBits, read.offsets);
  if (!addresses) {
    return load.emitOpError("accesses LDS through layouts that are not lowered "
                            "yet: ")
           << llvm::toString(addresses.takeError());
  }
  read.instructions = addresses->accesses.size();
  reads.insert({load, std::move(read)});
  return success();
}

FailureOr<Interleaver::Step> Interleaver::planStep(int64_t index) {
  Step step;
  step.products = products;
  step.index = index;
  for (tile::MmaOp product : products) {
    int64_t depth = product.getDepth() / steps;
    FailureOr<assign::MmaLayouts> operands = assign::operandLayouts(
        product, tile::getLayout(product.getType()).getLayout(), depth);
    if (failed(operands) ||
        failed(planRead(step.reads, product.getLhs(), index, /*isLhs=*/true,
                        depth / product.getLhsPacking(), operands->lhs)) ||
        failed(planRead(step.reads, product.getRhs(), index, /*isLhs=*/false,
                        depth / product.getRhsPacking(), operands->rhs))) {
      return failure();
    }
  }
  return step;
}

void Interleaver::issueReads(Reads &reads, int64_t slot) {
  // The last slot has none, so that they arrive before the products begin.
  int64_t shares = std::max<int64_t>(slots - 1, 1);
  if (slot >= shares) {
    return;
  }
  for (auto &[tile, read] : reads) {
    int64_t parts = std::min(shares, read.instructions);
    tile::LdsLoadOp load = read.whole;
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

/// Issues what is due of the copies when one more of \p shares slots begins.
void Interleaver::issueCopies(int64_t shares) {
  ++slotsDone;
  int64_t due = llvm::divideCeil(copyTotal * slotsDone, shares) - copiesIssued;
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

/// What \p operand of one of the products is in \p step.
Value Interleaver::operandOf(Step &step, Value operand) {
  if (auto read = step.reads.find(operand); read != step.reads.end()) {
    return read->second.read;
  }
  if (Value known = step.values.lookupOrNull(operand)) {
    return known;
  }
  auto whole = operand.getDefiningOp<tile::DequantizeOp>();
  Value made = tile::DequantizeOp::create(
      b, loc, whole.getType(), step.reads.lookup(whole.getCodes()).read,
      step.values.lookupOrDefault(whole.getScales()), whole.getDim());
  step.values.map(operand, made);
  return made;
}

void Interleaver::multiply(Step &step, DenseI64ArrayAttr part) {
  for (auto [product, sum] : llvm::zip_equal(step.products, sums)) {
    tile::MmaOp whole = product;
    IntegerAttr blocks;
    if (whole.getLhsScale() || whole.getRhsScale()) {
      int64_t begin = step.index * whole.getDepth() / steps;
      blocks = b.getI64IntegerAttr(whole.getScaleBegin().value_or(0) +
                                   begin / tile::MmaOp::scaleBlock);
    }
    auto scale = [&](Value value) {
      return value ? step.values.lookupOrDefault(value) : value;
    };
    Value lhs = operandOf(step, whole.getLhs());
    Value rhs = operandOf(step, whole.getRhs());
    sum = tile::MmaOp::create(
        b, loc, sum.getType(), lhs, rhs, sum, scale(whole.getLhsScale()),
        scale(whole.getRhsScale()), whole.getInstructionAttr(),
        whole.getWavesAttr(), whole.getContractionAttr(), blocks, part,
        whole.getAccuracyAttr());
  }
}

/// A barrier that products do not cross either.
void Interleaver::meet() {
  tile::OrderFenceOp::create(b, loc);
  tile::BarrierOp::create(b, loc);
  tile::OrderFenceOp::create(b, loc);
}

void Interleaver::turn(Step &present, Step *next) {
  if (phased) {
    // Who multiplies goes first: the other group's wave fills the gaps.
    tile::WavePriorityOp::create(b, loc, 1);
    multiply(present, DenseI64ArrayAttr());
    tile::WavePriorityOp::create(b, loc, 0);
    meet();
    issueReads(next->reads, 0);
    issueCopies(slots * steps);
    return;
  }
  for (int64_t slot = 0; slot < slots; ++slot) {
    if (balances) {
      setPriority();
    }
    issueCopies(slots * steps);
    if (next) {
      issueReads(next->reads, slot);
    }
    multiply(present, slots == 1 ? DenseI64ArrayAttr()
                                 : b.getDenseI64ArrayAttr({slot, slots}));
  }
}

/// Takes away what stood there before.
void Interleaver::eraseWhole() {
  llvm::SetVector<Operation *> made, loads;
  for (tile::MmaOp product : products) {
    for (Value operand : {product.getLhs(), product.getRhs()}) {
      loads.insert(readOf(operand));
      if (operand.getDefiningOp<tile::DequantizeOp>()) {
        made.insert(operand.getDefiningOp());
      }
    }
    product.erase();
  }
  for (const llvm::SetVector<Operation *> &ops : {made, loads}) {
    for (Operation *op : ops) {
      op->erase();
    }
  }
  for (tile::CopyToLdsOp copy : copies) {
    copy.erase();
  }
}

LogicalResult Interleaver::run() {
  FailureOr<Step> present = planStep(0);
  if (failed(present)) {
    return failure();
  }
  for (tile::MmaOp product : products) {
    sums.push_back(product.getAccumulator());
  }
  int64_t own = slots;
  // All at once.
  slots = 1;
  issueReads(present->reads, 0);
  slots = own;
  for (int64_t index = 0; index < steps; ++index) {
    FailureOr<Step> next = Step();
    if (index + 1 < steps) {
      next = planStep(index + 1);
      if (failed(next)) {
        return failure();
      }
    }
    turn(*present, &*next);
    present = std::move(next);
  }
  for (auto [product, sum] : llvm::zip_equal(products, sums)) {
    product.getResult().replaceAllUsesWith(sum);
  }
  eraseWhole();
  return success();
}

/// The loads into registers before the products that only later intervals use,
/// scales: what was in these registers is multiplied first.
SmallVector<tile::LoadOp> Interleaver::loadsAhead() {
  SmallVector<tile::LoadOp> ahead;
  tile::MmaOp first = products.front();
  for (Operation *op = first->getPrevNode();
       op && !isa<tile::BarrierOp, tile::StoreOp, tile::ArriveOp>(op);
       op = op->getPrevNode()) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (load && llvm::all_of(load->getUsers(), [&](Operation *user) {
          return user->getBlock() == first->getBlock() &&
                 first->isBeforeInBlock(user) &&
                 !llvm::is_contained(products, user);
        })) {
      ahead.push_back(load);
    }
  }
  std::reverse(ahead.begin(), ahead.end());
  return ahead;
}

void Interleaver::spread() {
  Step whole;
  whole.products = products;
  for (tile::MmaOp product : products) {
    sums.push_back(product.getAccumulator());
    for (Value operand : {product.getLhs(), product.getRhs()}) {
      whole.values.map(operand, operand);
    }
  }
  // All copies are issued by the middle of the step, so that they have a whole
  // step and a half to arrive, and the loads behind them: together they would
  // hold up the products.
  SmallVector<tile::LoadOp> loads = loadsAhead();
  size_t loadsIssued = 0;
  int64_t half = llvm::divideCeil(slots, 2);
  for (int64_t slot = 0; slot < slots; ++slot) {
    if (slot < half) {
      issueCopies(half);
    }
    int64_t behind = std::max<int64_t>(slot + 1 - slots / 2, 0);
    size_t due = llvm::divideCeil(loads.size() * behind, half);
    for (; loadsIssued < due; ++loadsIssued) {
      loads[loadsIssued]->moveBefore(products.front());
    }
    multiply(whole, slots == 1 ? DenseI64ArrayAttr()
                               : b.getDenseI64ArrayAttr({slot, slots}));
  }
  // Between the slots LLVM finds registers without moves only where it may move
  // a product past a load.
  tile::OrderFenceOp::create(b, loc);
  for (auto [product, sum] : llvm::zip_equal(products, sums)) {
    product.getResult().replaceAllUsesWith(sum);
    product.erase();
  }
  for (tile::CopyToLdsOp copy : copies) {
    copy.erase();
  }
}

LogicalResult Interleaver::carry(MutableArrayRef<Interleaver> intervals) {
  Interleaver &head = intervals.front();
  Interleaver &last = intervals.back();
  bool phased = head.phased;
  Location loc = head.loc;
  auto loop = cast<scf::ForOp>(head.products.front()->getParentOp());
  SmallVector<SmallVector<Step>> plans;
  for (Interleaver &interval : intervals) {
    plans.emplace_back();
    for (int64_t index = 0; index < interval.steps; ++index) {
      FailureOr<Step> planned = interval.planStep(index);
      if (failed(planned)) {
        return failure();
      }
      plans.back().push_back(std::move(*planned));
    }
  }
  // The operands of the last step are carried, with their scales; at first they
  // are zeros, and scales one.
  Step carried = plans.back().back();
  llvm::SetVector<Value> scales;
  for (tile::MmaOp product : last.products) {
    for (Value operand : {product.getLhsScale(), product.getRhsScale(),
                          product.getLhs(), product.getRhs()}) {
      if (operand && operand.getDefiningOp<tile::DequantizeOp>()) {
        operand = operand.getDefiningOp<tile::DequantizeOp>().getScales();
      } else if (operand && readOf(operand)) {
        continue;
      }
      if (operand && !loop.isDefinedOutsideOfLoop(operand)) {
        scales.insert(operand);
      }
    }
  }
  SmallVector<Value> initial;
  OpBuilder b(loop);
  auto constant = [&](RankedTensorType type, Attribute value) {
    initial.push_back(
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value)));
  };
  for (auto &[whole, read] : carried.reads) {
    constant(read.type, b.getZeroAttr(read.type.getElementType()));
  }
  for (Value scale : scales) {
    auto type = cast<RankedTensorType>(scale.getType());
    constant(type, b.getFloatAttr(type.getElementType(), 1.0));
  }
  IRRewriter rewriter(b);
  auto wider = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, initial, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return initial; }));
  unsigned first = wider.getInitArgs().size() - initial.size();
  // \p step as what the loop carries makes it.
  auto receive = [&](Step step, ValueRange values) {
    unsigned place = first;
    for (auto &[whole, read] : step.reads) {
      read.read = values[place++];
    }
    for (Value scale : scales) {
      step.values.map(scale, values[place++]);
    }
    return step;
  };
  if (phased) {
    b.setInsertionPoint(wider);
    tile::BarrierOp::create(
        b, loc, b.getDenseI64ArrayAttr({head.waves / 2, head.waves}));
  }
  SmallVector<unsigned> places;
  SmallVector<Value> sums;
  for (tile::MmaOp product : head.products) {
    auto arg = cast<BlockArgument>(product.getAccumulator());
    sums.push_back(arg);
    places.push_back(wider.getTiedLoopInit(arg) -
                     &wider.getInitArgsMutable()[0]);
  }
  Step pending = receive(carried, wider.getRegionIterArgs());
  for (auto [interval, plan] : llvm::zip_equal(intervals, plans)) {
    interval.sums = sums;
    SmallVector<tile::LoadOp> ahead = interval.loadsAhead();
    interval.b.setInsertionPoint(interval.products.front());
    interval.turn(pending, &plan.front());
    for (tile::LoadOp load : ahead) {
      load->moveBefore(interval.products.front());
    }
    if (!ahead.empty()) {
      tile::OrderFenceOp::create(interval.b, loc);
    }
    for (int64_t index = 0; index + 1 < interval.steps; ++index) {
      if (phased) {
        interval.meet();
      }
      interval.turn(plan[index], &plan[index + 1]);
    }
    pending = std::move(plan.back());
    sums = interval.sums;
  }
  auto yield = cast<scf::YieldOp>(wider.getBody()->getTerminator());
  for (auto [product, sum] : llvm::zip_equal(last.products, sums)) {
    product.getResult().replaceAllUsesWith(sum);
  }
  unsigned place = first;
  for (auto &[whole, read] : pending.reads) {
    yield->setOperand(place++, read.read);
  }
  for (Value scale : scales) {
    yield->setOperand(place++, scale);
  }
  // What is left behind the loop.
  last.b.setInsertionPointAfter(wider);
  if (phased) {
    tile::BarrierOp::create(last.b, loc,
                            b.getDenseI64ArrayAttr({0, head.waves / 2}));
  }
  pending = receive(carried, wider.getResults());
  for (auto [sum, place] : llvm::zip_equal(last.sums, places)) {
    sum = wider.getResult(place);
  }
  last.multiply(pending, DenseI64ArrayAttr());
  for (auto [sum, place] : llvm::zip_equal(last.sums, places)) {
    wider.getResult(place).replaceAllUsesExcept(sum, sum.getDefiningOp());
  }
  // Each uses the sums of the one before.
  for (Interleaver &interval : llvm::reverse(intervals)) {
    interval.eraseWhole();
  }
  return success();
}

LogicalResult Interleaver::prefetch(MutableArrayRef<Interleaver> intervals) {
  return carry(intervals);
}

LogicalResult Interleaver::pingPong(MutableArrayRef<Interleaver> intervals) {
  for (Interleaver &interval : intervals) {
    interval.phased = true;
    interval.slots = 1;
  }
  return carry(intervals);
}
