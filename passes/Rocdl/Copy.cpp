//===- Copy.cpp - copies from device memory into LDS ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy is in flight until a wait of its own wave covers it. Vector-memory
// instructions complete in the order of issue, so a wait states how many may
// still be in flight: those issued after the copy. Counts need an order that
// stays: in kernels with copies every vector-memory access is pinned.
//
//===----------------------------------------------------------------------===//

#include "passes/Rocdl/Emitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

// Groups of instructions for sched.barrier: everything but vector memory, and
// everything but memory.
static constexpr uint32_t allButVectorMemory = 0x78F;
static constexpr uint32_t allButMemory = 0x40F;
// Everything but vector memory and matrix instructions.
static constexpr uint32_t allButCopiesAndMatrix = 0x786;

/// The operand of s_waitcnt on gfx9: at most so many vector-memory and
/// LDS or scalar-memory operations in flight.
static uint32_t waitBits(unsigned vectorMemory, unsigned lds) {
  constexpr unsigned anyExports = 7;
  return (vectorMemory & 15) | anyExports << 4 | lds << 8 |
         (vectorMemory >> 4) << 14;
}
static constexpr unsigned mostVectorMemory = 63;
static constexpr unsigned mostLds = 15;

void Emitter::findCopies() {
  bool copies = false;
  kernel.getBody().walk([&](tile::CopyToLdsOp) { copies = true; });
  if (!copies) {
    return;
  }
  auto domain = LLVM::AliasScopeDomainAttr::get(
      b.getContext(), b.getStringAttr("LDS of " + function.getName()));
  auto scope = [&](StringRef name) {
    return b.getArrayAttr(
        LLVM::AliasScopeAttr::get(domain, b.getStringAttr(name)));
  };
  copyScope = scope("copies");
  ldsScope = scope("accesses");
}

void Emitter::markLdsAccess(LLVM::AliasAnalysisOpInterface access) {
  // Waits and barriers keep accesses and copies apart, and they are pinned.
  // LLVM would wait for all copies at every access that may overlap one.
  if (hasCopies()) {
    access.setAliasScopes(ldsScope);
    access.setNoAliasScopes(copyScope);
  }
}

void Emitter::noteIssued(Operation *op, unsigned count) {
  if (hasCopies() && count != 0) {
    issuedBy[op] += count;
    auto copy = dyn_cast<tile::CopyToLdsOp>(op);
    unsigned copies = copy ? count : 0;
    // A part of a copy keeps its place among the matrix instructions.
    bool isPart = copy && copy.getPart();
    issueStatements.emplace_back(
        op, pin(isPart ? allButCopiesAndMatrix : allButVectorMemory,
                llvm::formatv("; tenon issued {0} copies {1}", count, copies)
                    .str()));
  }
}

void Emitter::noteAccess(Operation *op, unsigned bytes, bool last) {
  // LLVM could merge narrow accesses of one operation, and those that lie
  // behind a constant limit, which all read from one place beyond the bound. It
  // counts then that each is pinned by itself.
  constexpr unsigned widest = 16;
  auto load = dyn_cast<tile::LoadOp>(op);
  if (bytes < widest || (load && !load.getLimits().empty())) {
    return noteIssued(op, 1);
  }
  ++unpinned;
  if (last) {
    noteIssued(op, unpinned);
    unpinned = 0;
  }
}

/// The xor of the swizzle's masks of the set bits of `coordinates`.
Value Emitter::swizzleMask(const layout::LdsLayout &lds,
                           ArrayRef<Value> coordinates) {
  Value mask;
  for (unsigned dim = 0; dim < lds.rank(); ++dim) {
    SmallVector<int64_t> images;
    for (const layout::SwizzleTerm &term : lds.swizzle()) {
      if (term.dim == dim) {
        images.resize(std::max<size_t>(images.size(), term.bit + 1), 0);
        images[term.bit] ^= term.mask;
      }
    }
    if (!coordinates[dim] || images.empty()) {
      continue;
    }
    Value part = xorOfImages(coordinates[dim], images);
    mask = mask ? LLVM::XOrOp::create(b, loc, mask, part).getResult() : part;
  }
  return mask;
}

/// The coordinates of the element that begins at byte `address` of a tile
/// without gaps and padding: the inverse of the LDS layout.
SmallVector<Value> Emitter::coordinatesAt(const layout::LdsLayout &lds,
                                          Value address) {
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < lds.rank(); ++dim) {
    if (lds.shape()[dim] > 1) {
      order.push_back(dim);
    }
  }
  llvm::sort(order, [&](unsigned a, unsigned c) {
    return lds.strides()[a] > lds.strides()[c];
  });
  int64_t shortest = std::numeric_limits<int64_t>::max();
  for (const layout::SwizzleTerm &term : lds.swizzle()) {
    shortest = std::min(shortest, lds.strides()[term.dim]);
  }
  SmallVector<Value> coordinates(lds.rank());
  Value rest = address;
  bool swizzled = lds.swizzle().empty();
  for (unsigned dim : order) {
    if (!swizzled && lds.strides()[dim] < shortest) {
      // The dims that swizzle are known now.
      if (Value mask = swizzleMask(lds, coordinates)) {
        rest = LLVM::XOrOp::create(b, loc, rest, mask);
      }
      swizzled = true;
    }
    Value stride = i32(lds.strides()[dim] * lds.elementBits() / 8);
    coordinates[dim] = LLVM::UDivOp::create(b, loc, rest, stride);
    rest = LLVM::URemOp::create(b, loc, rest, stride);
  }
  return coordinates;
}

/// What the limits of \p op leave after its offsets, null where there is none.
FailureOr<SmallVector<Value>>
Emitter::limitRests(tile::CopyToLdsOp op, ArrayRef<layout::LdsCopy> copies) {
  tile::LdsType type = op.getBuffer().getType();
  SmallVector<Value> rests(type.getShape().size());
  for (auto [dim, limit] : llvm::enumerate(op.getLimits())) {
    if (getConstantIntValue(OpFoldResult(limit)) ==
        std::numeric_limits<int32_t>::max()) {
      continue;
    }
    int64_t run = copies.front().laneBytes * 8 /
                  type.getElementType().getIntOrFloatBitWidth();
    int64_t promised =
        op.getLimitDivisors() ? (*op.getLimitDivisors())[dim] : 1;
    int64_t divisor =
        std::min(std::max(promised, knownDivisor(OpFoldResult(limit))),
                 knownDivisor(OpFoldResult(op.getOffsets()[dim])));
    if (dim == copies.front().runDim && divisor % run != 0) {
      return op.emitOpError("copies runs of ")
             << run << " elements: limit and offset of dimension " << dim
             << " must be known to be multiples of that";
    }
    rests[dim] = LLVM::SubOp::create(b, loc, scalars.lookup(limit),
                                     scalars.lookup(op.getOffsets()[dim]));
  }
  return rests;
}

LogicalResult Emitter::emitCopy(tile::CopyToLdsOp op) {
  flushGuarded();
  layout::LdsLayout lds = op.getBuffer().getType().getLdsLayout();
  SmallVector<int64_t> widths;
  for (int64_t width : tile::CopyToLdsOp::getLaneBytes()) {
    if (target.hasDirectToLds(width)) {
      widths.push_back(width);
    }
  }
  auto copies = layout::planLdsCopies(lds, kernel.getWaves(), widths);
  if (!copies) {
    return op.emitOpError("cannot be lowered for ")
           << target.chip() << ": " << llvm::toString(copies.takeError());
  }
  FailureOr<LdsPlace> place = ldsPlace(op, op.getBuffer());
  FailureOr<SmallVector<Value>> rests = limitRests(op, *copies);
  // Rows whose offsets are in LDS.
  bool isAnywhere = op.getRows() && !op.hasRowNumbers();
  FailureOr<LdsPlace> rows = LdsPlace();
  if (isAnywhere) {
    rows = ldsPlace(op, op.getRows());
  }
  if (failed(place) || failed(rests) || failed(rows)) {
    return failure();
  }
  const BufferView &view = viewOf(op.getView());
  int64_t rowElements = 1;
  for (int64_t extent : lds.shape().drop_front()) {
    rowElements *= extent;
  }
  if (op.hasRowNumbers() &&
      (lds.strides().front() != rowElements || lds.padding().interval != 0)) {
    return op.emitOpError("gathers rows that must lie one behind the other in "
                          "LDS, found ")
           << op.getBuffer().getType();
  }
  if (op.hasRowNumbers()) {
    auto wanted = tile::copyRowsLayout(
        op, lds.shape(), op.getBuffer().getType().getElementType());
    auto found = layoutOf(op.getRows());
    if (failed(wanted) || failed(found)) {
      return failure();
    }
    if (*found != *wanted) {
      return op.emitOpError("has its rows in another layout than that in which "
                            "threads copy: run tile-assign-layouts first");
    }
  }
  unsigned runDim = copies->front().runDim;
  if (getConstantIntValue(view.strideBytes[view.firstStride(runDim)]) !=
      view.elementBytes) {
    return op.emitOpError("copies runs of elements along dimension ")
           << runDim << ", where the stride of the view must be 1";
  }
  int64_t run = copies->front().laneBytes / view.elementBytes;
  if (!view.blocks[runDim].empty() &&
      (view.blocks[runDim].front() % run != 0 ||
       knownDivisor(OpFoldResult(op.getOffsets()[runDim])) % run != 0)) {
    return op.emitOpError("copies runs of ")
           << run << " elements along dimension " << runDim
           << ": the view's blocks of " << view.blocks[runDim].front()
           << " and the offset must be known to be multiples of that";
  }
  // What the program adds: uniform, and the part that moves in a loop.
  Value uniform;
  for (unsigned dim = 0; dim < lds.rank(); ++dim) {
    if (movesByBlocks(view, dim, op.getOffsets()[dim])) {
      uniform = addI32(uniform, blockOffset(view, dim, op.getOffsets()[dim]));
    }
  }
  if (uniform && view.maybeEmpty) {
    // One addition of a scalar per instruction, and no counter for each.
    uniform = opaque(uniform, "s");
  }
  // The share of the instructions that this operation issues.
  int64_t total = 0;
  for (const layout::LdsCopy &copy : *copies) {
    total += copy.instructions;
  }
  int64_t begin = 0;
  int64_t end = total;
  if (std::optional<ArrayRef<int64_t>> part = op.getPart()) {
    begin = total * (*part)[0] / (*part)[1];
    end = total * ((*part)[0] + 1) / (*part)[1];
    if (begin == end) {
      return op.emitOpError("is one of ")
             << (*part)[1] << " parts of a copy of " << total
             << " instructions";
    }
  }
  if (op.getPart()) {
    pin(allButCopiesAndMatrix);
  }
  int64_t first = 0;
  for (const layout::LdsCopy &copy : *copies) {
    emitCopyInstructions(op, copy,
                         {std::max<int64_t>(begin - first, 0),
                          std::min(end - first, copy.instructions)},
                         *place, isAnywhere ? &*rows : nullptr, uniform,
                         *rests);
    first += copy.instructions;
  }
  if (isAnywhere) {
    copyRows(op);
  }
  noteIssued(op, end - begin);
  return success();
}

void Emitter::emitCopyInstructions(tile::CopyToLdsOp op,
                                   const layout::LdsCopy &copy,
                                   std::pair<int64_t, int64_t> range,
                                   const LdsPlace &place, const LdsPlace *rows,
                                   Value uniform, ArrayRef<Value> rests) {
  layout::LdsLayout lds = op.getBuffer().getType().getLdsLayout();
  const BufferView &view = viewOf(op.getView());
  Value threadBytes =
      LLVM::MulOp::create(b, loc, threadId(), i32(copy.laneBytes));
  SmallVector<Value> first;
  if (copy.isLinear) {
    first = coordinatesAt(lds, threadBytes);
  }
  for (int64_t index = range.first; index < range.second; ++index) {
    int64_t firstByte = copy.firstByte + index * copy.waves * copy.chunkBytes();
    SmallVector<Value> coordinates(first);
    SmallVector<int64_t> steps(lds.rank(), 0);
    if (copy.isLinear) {
      const layout::LdsCopy::Instruction &part = copy.parts[index];
      steps.assign(part.steps.begin(), part.steps.end());
      for (unsigned dim = 0; dim < lds.rank(); ++dim) {
        if (part.flips[dim] != 0) {
          coordinates[dim] = LLVM::XOrOp::create(b, loc, coordinates[dim],
                                                 i32(part.flips[dim]));
        }
      }
    } else {
      coordinates = coordinatesAt(lds, addI32(threadBytes, i32(firstByte)));
    }
    Value lane;
    Value step;
    int64_t rowStep = steps[0];
    Value row = coordinates[0];
    if (op.getRows()) {
      coordinates[0] = Value();
      steps[0] = 0;
    }
    if (op.hasRowNumbers()) {
      lane = nearRow(element(parts(op.getRows()), index),
                     view.strideBytes.front());
    }
    for (unsigned dim = 0; dim < lds.rank(); ++dim) {
      Value coordinate = coordinates[dim];
      int64_t blocks = steps[dim];
      if (!movesByBlocks(view, dim, op.getOffsets()[dim])) {
        int64_t within = blocks % view.blockExtent(dim);
        blocks -= within;
        coordinate = addI32(coordinate, scalars.lookup(op.getOffsets()[dim]));
        coordinate = addI32(coordinate, i32(within));
      }
      if (coordinate) {
        lane = addI32(lane, viewBytes(view, dim, coordinate));
      }
      if (blocks != 0) {
        step = addI32(step, viewBytes(view, dim, i32(blocks)));
      }
    }
    // A bound that may be 0 must catch the whole offset; only the lane's part
    // is checked. What moves is added last, to what does not.
    Value soffset;
    if (view.maybeEmpty && !rows) {
      lane = addI32(lane, step);
    } else {
      soffset = addI32(step, uniform);
    }
    for (unsigned dim = 0; dim < lds.rank(); ++dim) {
      if (!rests[dim]) {
        continue;
      }
      Value coordinate = coordinates[dim];
      if (steps[dim] != 0 || !coordinate) {
        coordinate = addI32(coordinate, i32(steps[dim]));
      }
      Value within = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt,
                                          coordinate, rests[dim]);
      // Beyond every bound, which is below 2^31; also with what is added.
      Value outside = i32(std::numeric_limits<int32_t>::min());
      lane = LLVM::SelectOp::create(b, loc, within, lane, outside);
    }
    if (view.maybeEmpty && !rows) {
      lane = addI32(lane, uniform);
    }
    // The place in LDS of the wave's chunk is a scalar.
    Value begin =
        addI32(LLVM::MulOp::create(b, loc, waveId(), i32(copy.chunkBytes())),
               i32(firstByte));
    if (lds.padding().interval != 0) {
      Value paddings =
          LLVM::UDivOp::create(b, loc, begin, i32(lds.padding().interval));
      begin = addI32(begin, LLVM::MulOp::create(b, loc, paddings,
                                                i32(lds.padding().bytes)));
    }
    Value pointer = ldsPointer(addI32(place.uniform, begin), place.begin);
    if (rows) {
      Value from = addressInRow(op, *rows, row, rowStep,
                                addI32(addI32(lane, step), uniform));
      rowCopies.push_back({from, pointer, copy.laneBytes});
      continue;
    }
    ROCDL::RawPtrBufferLoadLdsOp::create(
        b, loc, view.resource, pointer, i32(copy.laneBytes), lane,
        soffset ? soffset : i32(0), /*offset=*/i32(0),
        i32(op.getNontemporal() ? nontemporalPolicy : 0), copyScope, ldsScope,
        ArrayAttr());
  }
}

/// \p column bytes behind row \p row, a coordinate plus \p step, of a copy of
/// rows that lie anywhere.
Value Emitter::addressInRow(tile::CopyToLdsOp op, const LdsPlace &rows,
                            Value row, int64_t step, Value column) {
  Type wide = b.getI64Type();
  constexpr int64_t entryBytes = 8;
  Value entry = LLVM::MulOp::create(b, loc, row, i32(entryBytes));
  auto offset = LLVM::LoadOp::create(
      b, loc, wide,
      ldsPointer(addI32(entry, rows.uniform), rows.begin + step * entryBytes),
      entryBytes);
  markLdsAccess(offset);
  Value bytes = offset;
  if (column) {
    bytes = LLVM::AddOp::create(b, loc, bytes,
                                LLVM::ZExtOp::create(b, loc, wide, column));
  }
  Value base = viewOf(op.getView()).pointer;
  return LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

/// Issues the copies of rows whose addresses are there.
void Emitter::copyRows(tile::CopyToLdsOp op) {
  // LLVM takes these copies for accesses that lgkmcnt counts. Reads of LDS in
  // flight across them would be waited for by counts that are too high.
  pin(allButMemory);
  ROCDL::SWaitcntOp::create(b, loc, waitBits(mostVectorMemory, 0));
  pin(allButMemory);
  for (const RowCopy &copy : rowCopies) {
    ROCDL::GlobalLoadLDSOp::create(b, loc, copy.from, copy.place,
                                   copy.laneBytes, /*offset=*/0,
                                   op.getNontemporal() ? nontemporalPolicy : 0,
                                   copyScope, ldsScope, ArrayAttr());
  }
  rowCopies.clear();
}

LLVM::InlineAsmOp Emitter::pin(uint32_t mayCross, const Twine &text) {
  // Two parts: an empty statement that may write any memory, which keeps LLVM
  // IR passes and instruction selection from moving accesses, and a barrier for
  // the machine scheduler. That it has effects says so up to instruction
  // selection; behind it lib/CodeGen/OrderStatements.h does, without a clobber
  // of memory. The text is for the check of the machine code
  // (lib/CodeGen/WaitCheck.h).
  auto statement = LLVM::InlineAsmOp::create(
      b, loc, TypeRange(), ValueRange(), /*asm_string=*/text.str(),
      /*constraints=*/"", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  ROCDL::SchedBarrier::create(b, loc, mayCross);
  return statement;
}

void Emitter::emitOrderFence() {
  flushGuarded();
  // A matrix product that LLVM moved up among loads would wait there.
  pin(allButCopiesAndMatrix);
}

void Emitter::emitBarrier(std::optional<ArrayRef<int64_t>> waves) {
  flushGuarded();
  Block *behind = nullptr;
  if (waves) {
    // Waves are uniform, so those that do not meet here branch around.
    Value place = LLVM::SubOp::create(b, loc, waveId(), i32((*waves)[0]));
    Value within = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, place,
                                        i32((*waves)[1] - (*waves)[0]));
    Block *before = b.getInsertionBlock();
    behind = before->splitBlock(b.getInsertionPoint());
    Block *body = b.createBlock(behind);
    b.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(b, loc, within, body, behind);
    b.setInsertionPointToEnd(body);
  }
  meet();
  if (behind) {
    LLVM::BrOp::create(b, loc, ValueRange(), behind);
    b.setInsertionPointToStart(behind);
  }
}

void Emitter::meet() {
  if (hasCopies()) {
    // A fence would wait for copies in flight.
    pin(allButMemory);
    ROCDL::SWaitcntOp::create(b, loc, waitBits(mostVectorMemory, 0));
    ROCDL::SBarrierOp::create(b, loc);
    pin(allButMemory);
    return;
  }
  // Fences that name LDS alone: accesses to device memory stay in flight.
  auto onlyLds =
      LLVM::MMRATagAttr::get(b.getContext(), "amdgpu-synchronize-as", "local");
  auto fence = [&](LLVM::AtomicOrdering ordering) {
    auto op = LLVM::FenceOp::create(b, loc, ordering, "workgroup");
    op->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(), onlyLds);
  };
  fence(LLVM::AtomicOrdering::release);
  ROCDL::SBarrierOp::create(b, loc);
  fence(LLVM::AtomicOrdering::acquire);
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

void Emitter::emitWait(tile::WaitCopiesOp op) {
  flushGuarded();
  // countWaits puts the numbers in.
  LLVM::InlineAsmOp statement = pin(allButMemory, "");
  auto wait = ROCDL::SWaitcntOp::create(b, loc, waitBits(0, mostLds));
  copyWaits.push_back({op, statement, wait});
  pin(allButMemory, "; tenon waited");
}

namespace {
/// The least number of vector-memory instructions that can have been issued
/// since the last one of the copy behind each token.
class IssueCounts {
public:
  explicit IssueCounts(const DenseMap<Operation *, unsigned> &issuedBy)
      : issuedBy(issuedBy) {}

  void walk(Block &block);
  /// Of each wait: the least count of its tokens, over all visits.
  DenseMap<Operation *, unsigned> waits;

private:
  using Counts = DenseMap<Value, unsigned>;

  void lower(Counts &counts, Value token, unsigned count) {
    auto [entry, isNew] = counts.try_emplace(token, count);
    entry->second = std::min(entry->second, count);
  }
  static void join(Counts &counts, const Counts &other) {
    for (auto &[token, count] : other) {
      auto [entry, isNew] = counts.try_emplace(token, count);
      entry->second = std::min(entry->second, count);
    }
  }
  void visit(Operation &op);
  void visitLoop(scf::ForOp loop);
  void visitIf(scf::IfOp branch);

  const DenseMap<Operation *, unsigned> &issuedBy;
  Counts counts;
};
} // namespace

void IssueCounts::walk(Block &block) {
  for (Operation &op : block) {
    visit(op);
  }
}

void IssueCounts::visit(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    return visitLoop(loop);
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    return visitIf(branch);
  }
  if (auto wait = dyn_cast<tile::WaitCopiesOp>(op)) {
    unsigned least = mostVectorMemory;
    for (Value token : wait.getTokens()) {
      least = std::min(least, counts.lookup_or(token, 0));
    }
    auto [entry, isNew] = waits.try_emplace(&op, least);
    entry->second = std::min(entry->second, least);
    return;
  }
  if (unsigned issued = issuedBy.lookup(&op)) {
    for (auto &[token, count] : counts) {
      count = std::min(count + issued, mostVectorMemory);
    }
  }
  if (auto copy = dyn_cast<tile::CopyToLdsOp>(op)) {
    counts[copy.getToken()] = 0;
  }
}

void IssueCounts::visitLoop(scf::ForOp loop) {
  auto isToken = [](Value value) {
    return isa<tile::TokenType>(value.getType());
  };
  Counts before = counts;
  for (auto [init, arg] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (isToken(init)) {
      counts[arg] = counts.lookup_or(init, 0);
    }
  }
  // Down to what holds at the start of every iteration.
  auto *yield = loop.getBody()->getTerminator();
  for (bool changed = true; changed;) {
    Counts entry = counts;
    walk(*loop.getBody());
    changed = false;
    Counts next = entry;
    for (auto [value, arg] :
         llvm::zip_equal(yield->getOperands(), loop.getRegionIterArgs())) {
      if (isToken(arg)) {
        lower(next, arg, counts.lookup_or(value, 0));
        changed |= next.lookup(arg) != entry.lookup(arg);
      }
    }
    if (changed) {
      counts = next;
    }
  }
  // `counts` holds at the end of an iteration; there may have been none.
  Counts after = counts;
  for (auto [result, init, value] : llvm::zip_equal(
           loop.getResults(), loop.getInitArgs(), yield->getOperands())) {
    if (isToken(result)) {
      before[result] =
          std::min(before.lookup_or(init, 0), after.lookup_or(value, 0));
    }
  }
  counts = std::move(before);
}

void IssueCounts::visitIf(scf::IfOp branch) {
  Counts before = counts;
  walk(*branch.thenBlock());
  Counts then = std::move(counts);
  counts = before;
  if (branch.elseBlock()) {
    walk(*branch.elseBlock());
  }
  for (auto [index, result] : llvm::enumerate(branch.getResults())) {
    if (isa<tile::TokenType>(result.getType())) {
      lower(counts, result,
            then.lookup_or(branch.thenYield().getOperand(index), 0));
      lower(counts, result,
            counts.lookup_or(branch.elseYield().getOperand(index), 0));
    }
  }
  join(counts, then);
}

LogicalResult Emitter::countWaits() {
  if (!hasCopies()) {
    return success();
  }
  Block &body = kernel.getBody().front();
  IssueCounts counts(issuedBy);
  counts.walk(body);
  // No wait counts what comes before the first copy and after the last wait;
  // LLVM may drop what it likes there.
  Operation *last = nullptr;
  Operation *first = nullptr;
  kernel.walk([&](Operation *op) {
    Operation *top = body.findAncestorOpInBlock(*op);
    if (isa<tile::WaitCopiesOp>(op) && (!last || last->isBeforeInBlock(top))) {
      last = top;
    }
    if (isa<tile::CopyToLdsOp>(op) && (!first || top->isBeforeInBlock(first))) {
      first = top;
    }
  });
  for (auto &[op, statement] : issueStatements) {
    Operation *top = body.findAncestorOpInBlock(*op);
    if (!last || last->isBeforeInBlock(top) || top->isBeforeInBlock(first)) {
      statement.setAsmString("");
    }
  }
  for (auto &[wait, statement, instruction] : copyWaits) {
    unsigned count = counts.waits.lookup(wait);
    statement.setAsmString(llvm::formatv("; tenon wait {0}", count).str());
    instruction.setBitfield(waitBits(count, mostLds));
  }
  return success();
}
