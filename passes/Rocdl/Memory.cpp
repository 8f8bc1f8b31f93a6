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
    if (auto attr = dyn_cast<Attribute>(stride)) {
      view.strideBytes.push_back(b.getI64IntegerAttr(
          cast<IntegerAttr>(attr).getInt() * view.elementBytes));
    } else {
      Value scaled = LLVM::MulOp::create(
          b, loc, scalars.lookup(cast<Value>(stride)), i32(view.elementBytes));
      view.strideBytes.push_back(scaled);
    }
  }
  view.maybeEmpty = !getConstantIntValue(OpFoldResult(op.getBytes()));
  Value bytes = arith::ExtUIOp::create(b, loc, b.getI64Type(),
                                       scalars.lookup(op.getBytes()));
  Value noStride =
      LLVM::ConstantOp::create(b, loc, b.getI16Type(), b.getI16IntegerAttr(0));
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 8);
  view.resource = ROCDL::MakeBufferRsrcOp::create(
      b, loc, type, scalars.lookup(op.getPointer()), noStride, bytes,
      i32(rawBufferFlags));
  views[op.getResult()] = view;
  return success();
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
  // What is known of the strides and offsets, in elements.
  SmallVector<int64_t> strides;
  SmallVector<int64_t> divisors;
  int64_t offsetDivisor = int64_t(1) << 30;
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
  auto scaled = [&](Value index, OpFoldResult stride) -> Value {
    if (auto attr = dyn_cast<Attribute>(stride)) {
      return LLVM::MulOp::create(b, loc, index,
                                 i32(cast<IntegerAttr>(attr).getInt()));
    }
    return LLVM::MulOp::create(b, loc, index, cast<Value>(stride));
  };
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    std::optional<int64_t> bytes = getConstantIntValue(view.strideBytes[dim]);
    strides.push_back(bytes ? *bytes / view.elementBytes : -1);
    divisors.push_back(bytes ? *bytes / view.elementBytes
                             : view.strideDivisors[dim]);
    staticReach += bytes ? (layout.shape()[dim] - 1) * *bytes : 0;
    std::optional<int64_t> offset =
        getConstantIntValue(OpFoldResult(offsets[dim]));
    if (offset && *offset == 0) {
      continue;
    }
    if (offset && bytes) {
      constantBytes += *offset * *bytes;
      continue;
    }
    Value dynamic = offsets[dim];
    if (bytes) {
      auto [rest, constant] = splitConstant(offsets[dim]);
      dynamic = rest;
      constantBytes += constant * *bytes;
    }
    // A dynamic offset that is a multiple of something keeps wide accesses.
    offsetDivisor = std::min(
        offsetDivisor, divisors.back() * knownDivisor(OpFoldResult(dynamic)));
    uniformBytes = addI32(
        uniformBytes, scaled(scalars.lookup(dynamic), view.strideBytes[dim]));
  }
  // Beyond that, offsets would wrap around to the start of the view.
  if (staticReach + constantBytes > std::numeric_limits<int32_t>::max()) {
    return op->emitOpError("reaches 2^31 bytes or more behind the start of the "
                           "view: advance the pointer instead");
  }
  // The widest access that is aligned to its dwords: what buffer instructions
  // need. Wider alignment only matters for speed.
  unsigned bits = view.elementBytes * 8;
  unsigned count = layout.vectorWidth(strides, bits, 128);
  for (; count > 1; count /= 2) {
    int64_t divisor =
        std::min(layout.runAlignment(divisors, count), offsetDivisor);
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
    while (count > 1 && layout.coordinates(count - 1, 0, 0)[dim] != 0 &&
           divisor % count != 0) {
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
  FailureOr<Value> thread = threadOffset(layout, view.strideBytes);
  if (failed(thread)) {
    return failure();
  }
  // A bound that may be 0 must catch the whole offset; only the lane's part is
  // checked.
  Value base = *thread;
  Value soffset;
  if (uniformBytes && !view.maybeEmpty) {
    soffset = uniformBytes;
  } else {
    base = addI32(base, uniformBytes);
  }
  base = localise(base);
  SmallVector<BufferAccess> accesses;
  for (int64_t reg = 0; reg < layout.numRegisters(); reg += count) {
    SmallVector<int64_t> coordinates = layout.coordinates(reg, 0, 0);
    int64_t constant = constantBytes;
    Value dynamic;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      if (coordinates[dim] == 0) {
        continue;
      }
      if (overlapsThreads(layout, dim, coordinates[dim])) {
        return op->emitOpError("accesses memory through a swizzled register "
                               "layout, which is not lowered yet");
      }
      if (auto bytes = getConstantIntValue(view.strideBytes[dim])) {
        constant += coordinates[dim] * *bytes;
      } else {
        dynamic = addI32(dynamic,
                         scaled(i32(coordinates[dim]), view.strideBytes[dim]));
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
    accesses.push_back({reg, count, offset, soffset ? soffset : i32(0)});
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
  return LLVM::InlineAsmOp::create(
             b, loc, offset.getType(), offset, /*asm_string=*/"",
             /*constraints=*/"=v,0", /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
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

LogicalResult Emitter::emitLoad(tile::LoadOp op) {
  auto layout = layoutOf(op.getResult());
  if (failed(layout)) {
    return failure();
  }
  const BufferView &view = viewOf(op.getView());
  flushGuarded();
  auto accesses = planAccess(op, view, *layout, op.getOffsets(), op.getLimits(),
                             op.getLimitDivisors());
  if (failed(accesses)) {
    return failure();
  }
  Type elementType = registerType(
      cast<RankedTensorType>(op.getResult().getType()).getElementType());
  Parts loaded;
  loaded.width = accesses->front().count;
  Value policy = i32(op.getNontemporal() ? nontemporalPolicy : 0);
  for (const BufferAccess &access : *accesses) {
    Value raw = ROCDL::RawPtrBufferLoadOp::create(
        b, loc, accessType(b, access.count * view.elementBytes), view.resource,
        access.offset, access.uniformOffset, policy, ArrayAttr(), ArrayAttr(),
        ArrayAttr());
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

LogicalResult Emitter::emitStore(tile::StoreOp op) {
  auto layout = layoutOf(op.getValue());
  if (failed(layout)) {
    return failure();
  }
  FailureOr<ReplicaMask> mask = replicas(*layout);
  if (failed(mask)) {
    return failure();
  }
  const BufferView &view = viewOf(op.getView());
  auto accesses = planAccess(op, view, *layout, op.getOffsets(), op.getLimits(),
                             op.getLimitDivisors());
  if (failed(accesses)) {
    return failure();
  }
  Location storeLoc = op.getLoc();
  bool nontemporal = op.getNontemporal();
  bool byAll = !mask->any();
  guarded(*mask, [this, view, accesses = std::move(*accesses), storeLoc,
                  nontemporal, byAll, value = op.getValue(),
                  store = op.getOperation()] {
    loc = storeLoc;
    Value policy = i32(nontemporal ? nontemporalPolicy : 0);
    for (const BufferAccess &access : accesses) {
      Value vector = toVector(parts(value), access.first, access.count);
      Type type = accessType(b, access.count * view.elementBytes);
      Value raw =
          vector.getType() == type
              ? vector
              : LLVM::BitcastOp::create(b, loc, type, vector).getResult();
      ROCDL::RawPtrBufferStoreOp::create(
          b, loc, raw, view.resource, access.offset, access.uniformOffset,
          policy, ArrayAttr(), ArrayAttr(), ArrayAttr());
      if (byAll) {
        noteAccess(store, access.count * view.elementBytes,
                   &access == &accesses.back());
      }
    }
  });
  return success();
}
