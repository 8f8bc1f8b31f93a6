//===- Memory.cpp - device memory -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Rocdl/Emitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

// Word 3 of a raw buffer descriptor: 32-bit data format, so that the range
// check counts bytes.
static constexpr int32_t rawBufferFlags = 7 << 12 | 4 << 15;

int64_t tenon::rocdl::knownDivisor(OpFoldResult value) {
  static constexpr int64_t any = int64_t(1) << 30;
  auto powerOf = [](int64_t value) {
    return value == 0 ? any : std::min(any, value & -value);
  };
  if (auto constant = getConstantIntValue(value)) {
    return powerOf(*constant);
  }
  auto index = cast<Value>(value);
  if (auto arg = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (loop && arg == loop.getInductionVar()) {
      return std::min(knownDivisor(OpFoldResult(loop.getLowerBound())),
                      knownDivisor(OpFoldResult(loop.getStep())));
    }
    return 1;
  }
  Operation *op = index.getDefiningOp();
  if (isa<arith::MulIOp>(op)) {
    return std::min(any, knownDivisor(OpFoldResult(op->getOperand(0))) *
                             knownDivisor(OpFoldResult(op->getOperand(1))));
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op)) {
    return std::min(knownDivisor(OpFoldResult(op->getOperand(0))),
                    knownDivisor(OpFoldResult(op->getOperand(1))));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    return std::min(knownDivisor(OpFoldResult(select.getTrueValue())),
                    knownDivisor(OpFoldResult(select.getFalseValue())));
  }
  return 1;
}

LogicalResult Emitter::emitView(tile::ViewOp op) {
  BufferView view;
  Type element = op.getResult().getType().getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  if (!llvm::is_contained({8u, 16u, 32u, 64u}, bits)) {
    return op.emitOpError("views elements of ")
           << element << "; only 8, 16, 32 and 64 bits are lowered";
  }
  view.elementBytes = bits / 8;
  for (OpFoldResult stride : op.getMixedStrides()) {
    view.strideDivisors.push_back(knownDivisor(stride));
    if (std::optional<int64_t> known = getConstantIntValue(stride)) {
      view.strideBytes.push_back(
          b.getI64IntegerAttr(*known * view.elementBytes));
    } else {
      Value scaled = LLVM::MulOp::create(
          b, loc, scalars.lookup(cast<Value>(stride)), i32(view.elementBytes));
      view.strideBytes.push_back(scaled);
    }
  }
  view.blocks = op.getDimBlocks();
  view.maybeEmpty = !getConstantIntValue(OpFoldResult(op.getBytes()));
  view.bytes = arith::ExtUIOp::create(b, loc, b.getI64Type(),
                                      scalars.lookup(op.getBytes()));
  view.pointer = scalars.lookup(op.getPointer());
  view.resource = makeResource(view.pointer, view.bytes);
  views[op.getResult()] = view;
  return success();
}

/// The descriptor of a raw buffer of \p bytes (i64) at \p pointer.
Value Emitter::makeResource(Value pointer, Value bytes) {
  Value noStride =
      LLVM::ConstantOp::create(b, loc, b.getI16Type(), b.getI16IntegerAttr(0));
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 8);
  return ROCDL::MakeBufferRsrcOp::create(b, loc, type, pointer, noStride, bytes,
                                         i32(rawBufferFlags));
}

const BufferView &Emitter::viewOf(Value value) {
  auto found = views.find(value);
  assert(found != views.end() && "only tile.view makes views");
  return found->second;
}

LogicalResult Emitter::emitLoadScalar(tile::LoadScalarOp op) {
  // The constant address space makes it a scalar load.
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 4);
  Value pointer = LLVM::AddrSpaceCastOp::create(
      b, loc, type, scalars.lookup(op.getPointer()));
  auto load = LLVM::LoadOp::create(b, loc, op.getType(), pointer,
                                   /*alignment=*/4);
  load.setInvariant(true);
  scalars.map(op.getResult(), load.getResult());
  return success();
}

FailureOr<SmallVector<BufferAccess>>
Emitter::planAccess(Operation *op, const BufferView &view,
                    const layout::Layout &layout, OperandRange offsets,
                    OperandRange limits,
                    std::optional<ArrayRef<int64_t>> limitDivisors) {
  // Every digit of a blocked dimension has a stride.
  llvm::Expected<layout::Layout> spread = layout.split(view.blocks);
  if (!spread) {
    return op->emitOpError("accesses blocks of its view: ")
           << llvm::toString(spread.takeError());
  }
  // What is known of the strides and offsets, in elements.
  SmallVector<int64_t> strides;
  SmallVector<int64_t> divisors;
  int64_t offsetDivisor = view.rowDivisor;
  int64_t constantBytes = 0;
  int64_t staticReach = 0;
  Value uniformBytes;
  // An offset `x + constant` is split: the constant can go into the
  // instruction.
  auto splitConstant = [](Value offset) -> std::pair<Value, int64_t> {
    auto sum = offset.getDefiningOp<arith::AddIOp>();
    if (!sum) {
      return {offset, 0};
    }
    std::optional<int64_t> constant =
        getConstantIntValue(OpFoldResult(sum.getRhs()));
    return constant ? std::pair(sum.getLhs(), *constant)
                    : std::pair(offset, 0L);
  };
  for (auto [index, stride] : llvm::enumerate(view.strideBytes)) {
    std::optional<int64_t> bytes = getConstantIntValue(stride);
    strides.push_back(bytes ? *bytes / view.elementBytes : -1);
    divisors.push_back(bytes ? *bytes / view.elementBytes
                             : view.strideDivisors[index]);
    staticReach += bytes ? (spread->shape()[index] - 1) * *bytes : 0;
  }
  SmallVector<unsigned> cutDims;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    std::optional<int64_t> offset =
        getConstantIntValue(OpFoldResult(offsets[dim]));
    if (!movesByBlocks(view, dim, offsets[dim])) {
      cutDims.push_back(dim);
      continue;
    }
    unsigned last = view.lastStride(dim);
    int64_t block = view.blockExtent(dim);
    std::optional<int64_t> bytes = getConstantIntValue(view.strideBytes[last]);
    if (offset && bytes) {
      constantBytes += *offset / block * *bytes;
      continue;
    }
    Value dynamic = offsets[dim];
    if (bytes) {
      auto [rest, constant] = splitConstant(offsets[dim]);
      if (constant % block == 0) {
        dynamic = rest;
        constantBytes += constant / block * *bytes;
      }
    }
    // A dynamic offset that is a multiple of something keeps wide accesses.
    offsetDivisor =
        std::min(offsetDivisor,
                 divisors[last] * knownDivisor(OpFoldResult(dynamic)) / block);
    uniformBytes = addI32(uniformBytes, blockOffset(view, dim, dynamic));
  }
  // Beyond that, offsets would wrap around to the start of the view.
  if (staticReach + constantBytes > std::numeric_limits<int32_t>::max()) {
    return op->emitOpError("reaches 2^31 bytes or more behind the start of the "
                           "view: advance the pointer instead");
  }
  // The widest access that is aligned to its dwords: what buffer instructions
  // need. Wider alignment only matters for speed.
  unsigned bits = view.elementBytes * 8;
  unsigned count = spread->vectorWidth(strides, bits, 128);
  for (unsigned dim : cutDims) {
    // A carry out of the bits of a run would tear it apart.
    int64_t divisor = knownDivisor(OpFoldResult(offsets[dim]));
    auto registers = layout.bases(layout::HwDim::Register);
    for (unsigned bit = 0; 1u << bit < count; ++bit) {
      if (registers[bit][dim] != 0 &&
          divisor % (2 * registers[bit][dim]) != 0) {
        count = 1u << bit;
      }
    }
    int64_t step = 1;
    for (unsigned stride = view.firstStride(dim);
         stride <= view.lastStride(dim); ++stride) {
      offsetDivisor =
          std::min(offsetDivisor,
                   divisors[stride] * std::max<int64_t>(divisor / step, 1));
      if (stride < view.lastStride(dim)) {
        step *= view.blocks[dim][stride - view.firstStride(dim)];
      }
    }
  }
  for (; count > 1; count /= 2) {
    int64_t divisor =
        std::min(spread->runAlignment(divisors, count), offsetDivisor);
    int64_t alignment =
        std::gcd(divisor * view.elementBytes, std::abs(constantBytes));
    if (alignment % std::min<int64_t>(4, count * view.elementBytes) == 0) {
      break;
    }
  }
  // Dims that are limited: the coordinate of the thread, and what the limit
  // leaves after the offset. An access lies within or beyond as a whole.
  struct Limit {
    unsigned dim;
    Value coordinate; ///< of the thread, or null for 0
    Value rest;
  };
  SmallVector<Limit> limited;
  for (auto [dim, limit] : llvm::enumerate(limits)) {
    if (getConstantIntValue(OpFoldResult(limit)) ==
        std::numeric_limits<int32_t>::max()) {
      continue;
    }
    int64_t divisor =
        std::min<int64_t>(limitDivisors ? (*limitDivisors)[dim] : 1,
                          knownDivisor(OpFoldResult(offsets[dim])));
    auto span = [&] {
      return llvm::PowerOf2Ceil(layout.coordinates(count - 1, 0, 0)[dim] + 1);
    };
    while (count > 1 && span() > 1 && divisor % span() != 0) {
      count /= 2;
    }
    FailureOr<Value> coordinate = threadCoordinate(layout, dim);
    if (failed(coordinate)) {
      return failure();
    }
    Value rest = LLVM::SubOp::create(b, loc, scalars.lookup(limit),
                                     scalars.lookup(offsets[dim]));
    limited.push_back({static_cast<unsigned>(dim), *coordinate, rest});
  }
  // The thread's part, which the coordinates along cut dims are not part of.
  SmallVector<OpFoldResult> threadStrides(view.strideBytes);
  SmallVector<Value> cutCoordinates;
  for (unsigned dim : cutDims) {
    for (unsigned stride = view.firstStride(dim);
         stride <= view.lastStride(dim); ++stride) {
      threadStrides[stride] = b.getI64IntegerAttr(0);
    }
    FailureOr<Value> coordinate = threadCoordinate(layout, dim);
    if (failed(coordinate)) {
      return failure();
    }
    cutCoordinates.push_back(addI32(*coordinate, scalars.lookup(offsets[dim])));
  }
  FailureOr<Value> thread = threadOffset(*spread, threadStrides);
  if (failed(thread)) {
    return failure();
  }
  // A bound that may be 0 must catch the whole offset; only the lane's part is
  // checked.
  Value soffset;
  if (uniformBytes && !view.maybeEmpty) {
    soffset = uniformBytes;
  }
  // Constants that an access adds to what it has in common with others.
  auto constantOf = [&](ArrayRef<int64_t> digits) {
    int64_t constant = constantBytes;
    for (auto [index, digit] : llvm::enumerate(digits)) {
      constant +=
          digit * getConstantIntValue(view.strideBytes[index]).value_or(0);
    }
    return constant;
  };
  bool addsConstants = false;
  for (int64_t reg = 0; reg < layout.numRegisters(); reg += count) {
    addsConstants |= constantOf(spread->coordinates(reg, 0, 0)) != 0;
  }
  // Along cut dims registers add whole blocks to what they have in common with
  // others: their coordinates within a block.
  std::map<SmallVector<int64_t>, Value> bases;
  auto baseOf = [&](ArrayRef<int64_t> coordinates) {
    SmallVector<int64_t> within;
    for (unsigned dim : cutDims) {
      within.push_back(coordinates[dim] % view.blockExtent(dim));
    }
    auto [entry, isNew] = bases.try_emplace(within);
    if (isNew) {
      Value base = *thread;
      for (auto [index, dim] : llvm::enumerate(cutDims)) {
        Value coordinate = cutCoordinates[index];
        if (within[index] != 0) {
          coordinate = addI32(coordinate, i32(within[index]));
        }
        base = addI32(base, viewBytes(view, dim, coordinate));
      }
      if (!soffset) {
        base = addI32(base, uniformBytes);
      }
      entry->second = addsConstants ? localise(base) : base;
    }
    return entry->second;
  };
  SmallVector<BufferAccess> accesses;
  for (int64_t reg = 0; reg < layout.numRegisters(); reg += count) {
    SmallVector<int64_t> coordinates = layout.coordinates(reg, 0, 0);
    SmallVector<int64_t> digits = spread->coordinates(reg, 0, 0);
    Value base = baseOf(coordinates);
    for (unsigned dim : cutDims) {
      auto *first = digits.begin() + view.firstStride(dim);
      std::fill(first, first + view.blocks[dim].size(), 0);
    }
    int64_t constant = constantOf(digits);
    Value dynamic;
    for (auto [index, digit] : llvm::enumerate(digits)) {
      if (digit == 0) {
        continue;
      }
      if (overlapsThreads(*spread, index, digit)) {
        return op->emitOpError("accesses memory through a swizzled register "
                               "layout, which is not lowered yet");
      }
      if (!getConstantIntValue(view.strideBytes[index])) {
        dynamic =
            addI32(dynamic, scaledBytes(i32(digit), view.strideBytes[index]));
      }
    }
    Value offset = addI32(base, dynamic);
    if (constant != 0 || !offset) {
      offset = addI32(offset, i32(constant));
    }
    for (const Limit &limit : limited) {
      Value first = coordinates[limit.dim] == 0 && limit.coordinate
                        ? limit.coordinate
                        : addI32(limit.coordinate, i32(coordinates[limit.dim]));
      Value within = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt,
                                          first, limit.rest);
      // Beyond every bound, which is below 2^31.
      Value outside = i32(std::numeric_limits<int32_t>::min());
      offset = LLVM::SelectOp::create(b, loc, within, offset, outside);
    }
    accesses.push_back(
        {reg, count, offset, soffset ? soffset : i32(0), view.resource});
  }
  return accesses;
}

/// Makes constants that are added to \p offset stay in the block of the access,
/// where instruction selection folds them into it. Offsets that a load in an
/// earlier block has computed would be kept in registers instead.
Value Emitter::localise(Value offset) {
  if (!offset || b.getInsertionBlock()->isEntryBlock()) {
    return offset;
  }
  if (Value carried = carryOffset(offset)) {
    return carried;
  }
  return opaque(offset, "v");
}

/// The type of the register that holds \p bytes of an access.
static Type accessType(OpBuilder &b, unsigned bytes) {
  return bytes <= 4 ? Type(b.getIntegerType(bytes * 8))
                    : Type(VectorType::get(bytes / 4, b.getI32Type()));
}

void Emitter::appendVector(SmallVectorImpl<Value> &elements, Value vector,
                           unsigned count) {
  if (count == 1) {
    elements.push_back(vector);
    return;
  }
  for (unsigned index = 0; index < count; ++index) {
    elements.push_back(
        LLVM::ExtractElementOp::create(b, loc, vector, i32(index)));
  }
}

Value Emitter::toVector(const Parts &parts, int64_t first, unsigned count) {
  if (count == parts.width && first % count == 0) {
    return parts.values[first / count];
  }
  if (count == 1) {
    return element(parts, first);
  }
  Type type = element(parts, first).getType();
  Value vector = LLVM::PoisonOp::create(b, loc, VectorType::get(count, type));
  for (unsigned index = 0; index < count; ++index) {
    vector = LLVM::InsertElementOp::create(
        b, loc, vector, element(parts, first + index), i32(index));
  }
  return vector;
}

/// Makes \p accesses, planned for row 0 of \p view, those of \p rows.
LogicalResult Emitter::addRows(Operation *op, Value rows, bool far,
                               const layout::Layout &layout,
                               const BufferView &view,
                               MutableArrayRef<BufferAccess> accesses) {
  if (failed(layoutOf(rows))) {
    return failure();
  }
  if (far && llvm::any_of(layout.bases(layout::HwDim::Lane),
                          [](const layout::Basis &basis) {
                            return basis.front() != 0;
                          })) {
    return op->emitOpError("is far: dimension 0 must lie in registers and "
                           "waves, a row is the same for all lanes of a wave");
  }
  SmallVector<unsigned> others;
  for (unsigned dim = 1; dim < layout.rank(); ++dim) {
    others.push_back(dim);
  }
  OpFoldResult rowBytes = view.strideBytes.front();
  SmallVector<int64_t> toRow = layout.sliceRegisterMap(others);
  /// By row: its offset.
  std::map<int64_t, Value> places;
  for (BufferAccess &access : accesses) {
    Value row = element(parts(rows), toRow[access.first]);
    if (far) {
      access.farRow = row;
      continue;
    }
    Value &place = places[toRow[access.first]];
    if (!place) {
      place = nearRow(row, rowBytes);
    }
    access.offset = LLVM::AddOp::create(b, loc, access.offset, place);
  }
  return success();
}

/// Where row number \p row lies, of rows that are \p rowBytes apart; for a
/// negative one beyond every bound, whatever is added below 2^31.
Value Emitter::nearRow(Value row, OpFoldResult rowBytes) {
  Value isNone =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, row, i32(0));
  Value outside = i32(std::numeric_limits<int32_t>::max() - 15);
  return LLVM::SelectOp::create(b, loc, isNone, outside,
                                scaledBytes(row, rowBytes));
}

/// Gives \p access the descriptor of its own row of \p view, empty where the
/// row is negative, unless \p previous has it: to be called where the access
/// is.
void Emitter::findFarRow(const BufferView &view, BufferAccess &access,
                         const BufferAccess *previous) {
  if (!access.farRow) {
    return;
  }
  if (previous && previous->farRow == access.farRow) {
    access.resource = previous->resource;
    return;
  }
  // A statement with effects: rows whose accesses come later are not looked at
  // earlier, for which there are not enough scalar registers.
  Type i32Type = access.farRow.getType();
  Value row = LLVM::InlineAsmOp::create(
                  b, loc, i32Type, access.farRow, /*asm_string=*/"",
                  /*constraints=*/"=v,0", /*has_side_effects=*/true,
                  /*is_align_stack=*/false, LLVM::TailCallKind::None,
                  LLVM::AsmDialectAttr(), ArrayAttr())
                  .getResult(0);
  row = ROCDL::ReadfirstlaneOp::create(b, loc, i32Type, row);
  Value isNone =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, row, i32(0));
  Type i64 = b.getI64Type();
  auto wide = [&](Value value) -> Value {
    return LLVM::ZExtOp::create(b, loc, i64, value);
  };
  OpFoldResult stride = view.strideBytes.front();
  std::optional<int64_t> constant = getConstantIntValue(stride);
  Value bytes = constant ? LLVM::ConstantOp::create(b, loc, i64, *constant)
                         : wide(cast<Value>(stride));
  Value none = LLVM::ConstantOp::create(b, loc, i64, 0);
  Value offset = LLVM::SelectOp::create(
      b, loc, isNone, none, LLVM::MulOp::create(b, loc, wide(row), bytes));
  Value pointer =
      LLVM::GEPOp::create(b, loc, view.pointer.getType(), b.getI8Type(),
                          view.pointer, ArrayRef<LLVM::GEPArg>{offset});
  access.resource = makeResource(
      pointer, LLVM::SelectOp::create(b, loc, isNone, none, view.bytes));
}

template <typename AccessOp>
FailureOr<SmallVector<BufferAccess>>
Emitter::planAccesses(AccessOp op, const layout::Layout &layout) {
  BufferView view = viewOf(op.getView());
  BufferView firstRow = view;
  if (op.getRows()) {
    // Rows are added below, register by register.
    firstRow.strideBytes.front() = b.getI64IntegerAttr(0);
    firstRow.rowDivisor = view.strideDivisors.front();
    // An empty row must catch the whole offset.
    firstRow.maybeEmpty |= op.getFar();
  }
  auto accesses = planAccess(op, firstRow, layout, op.getOffsets(),
                             op.getLimits(), op.getLimitDivisors());
  if (failed(accesses) ||
      (op.getRows() && failed(addRows(op, op.getRows(), op.getFar(), layout,
                                      view, *accesses)))) {
    return failure();
  }
  return accesses;
}

LogicalResult Emitter::emitLoad(tile::LoadOp op) {
  auto layout = layoutOf(op.getResult());
  if (failed(layout)) {
    return failure();
  }
  const BufferView &view = viewOf(op.getView());
  flushGuarded();
  auto accesses = planAccesses(op, *layout);
  if (failed(accesses)) {
    return failure();
  }
  Type elementType = registerType(
      cast<RankedTensorType>(op.getResult().getType()).getElementType());
  Parts loaded;
  loaded.width = accesses->front().count;
  Value policy = i32((op.getNontemporal() ? nontemporalPolicy : 0) |
                     (op.getCoherent() ? coherentPolicy : 0));
  const BufferAccess *previous = nullptr;
  for (BufferAccess &access : *accesses) {
    findFarRow(view, access, previous);
    previous = &access;
    Value raw = ROCDL::RawPtrBufferLoadOp::create(
        b, loc, accessType(b, access.count * view.elementBytes),
        access.resource, access.offset, access.uniformOffset, policy,
        ArrayAttr(), ArrayAttr(), ArrayAttr());
    // LLVM drops a load that nothing uses.
    if (!op.use_empty()) {
      noteAccess(op, access.count * view.elementBytes,
                 &access == &accesses->back());
    }
    Type type = access.count == 1
                    ? elementType
                    : Type(VectorType::get(access.count, elementType));
    Value typed = raw.getType() == type
                      ? raw
                      : LLVM::BitcastOp::create(b, loc, type, raw).getResult();
    loaded.values.push_back(typed);
  }
  unsigned kept = keptWidth(op.getResult(), layout->numRegisters());
  constexpr unsigned dword = 4;
  if (loaded.width * view.elementBytes < dword && joinsLate(op)) {
    kept = loaded.width;
    joinedLate.insert(op.getResult());
  }
  if (kept != loaded.width && kept <= 2) {
    SmallVector<Value> elements;
    for (Value vector : loaded.values) {
      appendVector(elements, vector, loaded.width);
    }
    loaded = fromElements(elements);
  }
  Parts emitted = repack(loaded, kept);
  tiles[op.getResult()] = std::move(emitted);
  return success();
}

/// Adds elements to memory without their old values: dwords of two bf16, or one
/// f32, by atomics.
void Emitter::emitAdds(const BufferAccess &access, Value vector,
                       unsigned elementBytes, Value policy) {
  constexpr unsigned dword = 4;
  unsigned perDword = dword / elementBytes;
  auto type = dyn_cast<VectorType>(vector.getType());
  for (unsigned first = 0; first < access.count; first += perDword) {
    Value added = vector;
    if (type && access.count > perDword) {
      SmallVector<int32_t> lanes;
      for (unsigned i = 0; i < perDword; ++i) {
        lanes.push_back(int32_t(first + i));
      }
      added = perDword == 1
                  ? LLVM::ExtractElementOp::create(b, loc, vector, i32(first))
                        .getResult()
                  : LLVM::ShuffleVectorOp::create(b, loc, vector, vector, lanes)
                        .getResult();
    }
    Value offset = LLVM::AddOp::create(b, loc, access.offset,
                                       i32(int64_t(first) * elementBytes));
    ROCDL::RawPtrBufferAtomicFaddOp::create(
        b, loc, added, access.resource, offset, access.uniformOffset, policy,
        ArrayAttr(), ArrayAttr(), ArrayAttr());
  }
}

LogicalResult Emitter::emitStore(tile::StoreOp op) {
  auto layout = layoutOf(op.getValue());
  if (failed(layout)) {
    return failure();
  }
  bool adds = op.getAccumulate();
  FailureOr<ReplicaMask> mask = replicas(*layout);
  if (failed(mask)) {
    return failure();
  }
  const BufferView &view = viewOf(op.getView());
  auto accesses = planAccesses(op, *layout);
  if (failed(accesses)) {
    return failure();
  }
  if (adds) {
    Type element =
        cast<RankedTensorType>(op.getValue().getType()).getElementType();
    unsigned perDword = element.isBF16() ? 2 : 1;
    if ((!element.isBF16() && !element.isF32()) ||
        llvm::any_of(*accesses, [&](const BufferAccess &access) {
          return access.count % perDword != 0;
        })) {
      return op.emitOpError("adds f32, or pairs of bf16 that a lane holds side "
                            "by side; found ")
             << op.getValue().getType();
    }
  }
  Location storeLoc = op.getLoc();
  int32_t bits = (op.getNontemporal() ? nontemporalPolicy : 0) |
                 (op.getCoherent() ? coherentPolicy : 0);
  bool byAll = !mask->any();
  guarded(*mask, [this, view, accesses = std::move(*accesses), storeLoc, bits,
                  adds, byAll, value = op.getValue(),
                  store = op.getOperation()]() mutable {
    loc = storeLoc;
    Value policy = i32(bits);
    const BufferAccess *previous = nullptr;
    for (BufferAccess &access : accesses) {
      findFarRow(view, access, previous);
      previous = &access;
      Value vector = toVector(parts(value), access.first, access.count);
      if (adds) {
        emitAdds(access, vector, view.elementBytes, policy);
        if (byAll) {
          noteIssued(store, access.count * view.elementBytes / 4);
        }
        continue;
      }
      Type type = accessType(b, access.count * view.elementBytes);
      Value raw =
          vector.getType() == type
              ? vector
              : LLVM::BitcastOp::create(b, loc, type, vector).getResult();
      ROCDL::RawPtrBufferStoreOp::create(
          b, loc, raw, access.resource, access.offset, access.uniformOffset,
          policy, ArrayAttr(), ArrayAttr(), ArrayAttr());
      if (byAll) {
        noteAccess(store, access.count * view.elementBytes,
                   &access == &accesses.back());
      }
    }
  });
  return success();
}
