//===- Lds.cpp - LDS and barriers -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Rocdl/Emitter.h"

#include "tenon/Layout/LdsAddressing.h"
#include "tenon/Layout/LdsRead.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <map>

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

// An LDS instruction adds an unsigned constant of 16 bits to the address.
static constexpr int64_t ldsOffsetRange = int64_t(1) << 16;

/// Strides in bytes of an LDS layout.
static SmallVector<OpFoldResult> stridesInBytes(OpBuilder &b,
                                                const layout::LdsLayout &lds) {
  SmallVector<OpFoldResult> strides;
  for (int64_t stride : lds.strides()) {
    strides.push_back(b.getI64IntegerAttr(stride * lds.elementBits() / 8));
  }
  return strides;
}

/// The xor of the images of the set bits of \p index.
Value Emitter::xorOfImages(Value index, ArrayRef<int64_t> images) {
  // Bits that move by the same distance are one shift.
  std::map<int, int64_t> masks;
  for (auto [bit, image] : llvm::enumerate(images)) {
    for (int64_t rest = image; rest != 0; rest &= rest - 1) {
      int to = llvm::countr_zero(static_cast<uint64_t>(rest));
      masks[to - static_cast<int>(bit)] |= int64_t(1) << to;
    }
  }
  Value result;
  for (auto [distance, mask] : masks) {
    Value moved = index;
    if (distance > 0) {
      moved = LLVM::ShlOp::create(b, loc, moved, i32(distance));
    } else if (distance < 0) {
      moved = LLVM::LShrOp::create(b, loc, moved, i32(-distance));
    }
    moved = LLVM::AndOp::create(b, loc, moved, i32(mask));
    result =
        result ? LLVM::XOrOp::create(b, loc, result, moved).getResult() : moved;
  }
  return result;
}

/// Hides from LLVM how a value was computed: it would add up constants, or the
/// steps of a loop, and split the sum anew for every access. \p constraint
/// names the register, "v" or "s".
Value Emitter::opaque(Value value, StringRef constraint) {
  return LLVM::InlineAsmOp::create(
             b, loc, value.getType(), value, /*asm_string=*/"",
             ("=" + constraint + ",0").str(), /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

FailureOr<LdsPlace> Emitter::ldsPlace(Operation *op, Value buffer) {
  LdsPlace place;
  while (auto part = buffer.getDefiningOp<tile::LdsPartOp>()) {
    place.begin += part.getByteOffset();
    buffer = part.getBuffer();
  }
  while (auto stage = buffer.getDefiningOp<tile::LdsStageOp>()) {
    tile::LdsType type = stage.getBuffer().getType();
    if (auto known = stage.getConstantStage()) {
      place.begin += *known * type.getStageBytes();
    } else {
      Value index = scalars.lookup(stage.getIndex());
      if (int64_t shift = stage.getShift()) {
        // The first follows the last.
        Value stages = i32(type.getStages());
        index = addI32(index, i32(shift));
        Value beyond = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sge,
                                            index, stages);
        Value wrapped = LLVM::SubOp::create(b, loc, index, stages);
        index = LLVM::SelectOp::create(b, loc, beyond, wrapped, index);
      }
      place.uniform =
          addI32(place.uniform,
                 LLVM::MulOp::create(b, loc, index, i32(type.getStageBytes())));
    }
    buffer = stage.getBuffer();
  }
  auto alloc = buffer.getDefiningOp<tile::AllocLdsOp>();
  if (!alloc || !alloc.getOffset() || !lds) {
    Operation *where = alloc ? alloc.getOperation() : op;
    where->emitOpError("has no place in LDS: run tile-plan-lds first");
    return failure();
  }
  int64_t begin = *alloc.getOffset();
  int64_t bytes = alloc.getType().getBytes();
  int64_t size = *kernel.getLdsBytes();
  // The widest access is 16 bytes and wants that alignment.
  if (begin % 16 != 0 || bytes > size || begin > size - bytes) {
    alloc.emitOpError("has a place that is not a multiple of 16 bytes, or not "
                      "within the kernel's ")
        << size << " bytes of LDS";
    return failure();
  }
  place.begin += begin;
  return place;
}

Value Emitter::ldsPointer(Value offset, int64_t constant) {
  Value address = LLVM::AddressOfOp::create(b, loc, lds);
  if (offset) {
    address = LLVM::GEPOp::create(b, loc, address.getType(), b.getI8Type(),
                                  address, ArrayRef<LLVM::GEPArg>{offset});
  }
  return LLVM::GEPOp::create(
      b, loc, address.getType(), b.getI8Type(), address,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(constant)});
}

FailureOr<LdsAddresses> Emitter::ldsAddresses(Operation *op, Value buffer,
                                              const layout::Layout &layout,
                                              ArrayRef<int64_t> origin,
                                              unsigned maxBits) {
  layout::LdsLayout lds = cast<tile::LdsType>(buffer.getType()).getLdsLayout();
  auto split = layout::splitLdsAddresses(layout, lds, maxBits, origin);
  if (!split) {
    op->emitOpError("accesses LDS through layouts that are not lowered yet: ")
        << llvm::toString(split.takeError());
    return failure();
  }
  FailureOr<LdsPlace> place = ldsPlace(op, buffer);
  if (failed(place)) {
    return failure();
  }
  SmallVector<int64_t> images(split->laneImages);
  images.append(split->waveImages.begin(), split->waveImages.end());
  // The part of the thread with some bits flipped, written here.
  auto threadBase = [&](int64_t flips) -> FailureOr<Value> {
    Value base = xorOfImages(threadId(), images);
    if (split->addsCoordinates) {
      FailureOr<Value> sum = threadOffset(layout, stridesInBytes(b, lds));
      if (failed(sum)) {
        return failure();
      }
      base = base && *sum ? LLVM::XOrOp::create(b, loc, *sum, base).getResult()
                          : (*sum ? *sum : base);
    }
    if (flips != 0) {
      base = LLVM::XOrOp::create(b, loc, base, i32(flips));
    }
    if (base && split->padding.interval != 0) {
      Value rows = LLVM::LShrOp::create(
          b, loc, base, i32(llvm::Log2_64(split->padding.interval)));
      base = LLVM::AddOp::create(
          b, loc, base,
          LLVM::MulOp::create(b, loc, rows, i32(split->padding.bytes)));
    }
    return base;
  };
  // One register per pattern of flipped bits and per range of constants.
  std::map<std::pair<int64_t, int64_t>, Value> bases;
  auto baseOf = [&](int64_t flips, int64_t beyond) -> FailureOr<Value> {
    auto [entry, isNew] = bases.try_emplace({flips, beyond});
    if (!isNew) {
      return entry->second;
    }
    if (beyond == 0 || place->uniform) {
      FailureOr<Value> base = threadBase(flips);
      if (failed(base)) {
        return failure();
      }
      entry->second = addI32(*base, place->uniform);
      if (beyond != 0) {
        entry->second = opaque(addI32(entry->second, i32(beyond)), "v");
      }
      return entry->second;
    }
    // The same in all of the kernel: computed once, at its start.
    std::vector<int64_t> key = {flips, beyond, split->addsCoordinates,
                                split->padding.interval, split->padding.bytes};
    key.insert(key.end(), images.begin(), images.end());
    for (layout::HwDim input : {layout::HwDim::Lane, layout::HwDim::Wave}) {
      for (const layout::Basis &basis : layout.bases(input)) {
        int64_t elements = 0;
        for (auto [step, stride] : llvm::zip_equal(basis, lds.strides())) {
          elements += step * stride;
        }
        key.push_back(elements * lds.elementBits() / 8);
      }
    }
    Value &known = farBases[key];
    if (!known) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(waveId());
      FailureOr<Value> base = threadBase(flips);
      if (failed(base)) {
        return failure();
      }
      known = opaque(addI32(*base, i32(beyond)), "v");
    }
    entry->second = known;
    return known;
  };
  LdsAddresses result;
  result.count = split->registersPerAccess;
  result.bytes = result.count * lds.elementBits() / 8;
  for (const layout::LdsAddressing::Access &access : split->accesses) {
    int64_t constant = place->begin + access.offset;
    int64_t beyond = constant / ldsOffsetRange * ldsOffsetRange;
    FailureOr<Value> base = baseOf(access.flips, beyond);
    if (failed(base)) {
      return failure();
    }
    result.pointers.push_back(ldsPointer(*base, constant - beyond));
  }
  return result;
}

LogicalResult Emitter::emitLdsStore(tile::LdsStoreOp op) {
  auto layout = layoutOf(op.getValue());
  if (failed(layout)) {
    return failure();
  }
  auto addresses = ldsAddresses(op, op.getBuffer(), *layout);
  auto mask = replicas(*layout);
  if (failed(addresses) || failed(mask)) {
    return failure();
  }
  guarded(*mask, [this, addresses = std::move(*addresses), op]() mutable {
    loc = op.getLoc();
    for (auto [index, pointer] : llvm::enumerate(addresses.pointers)) {
      Value vector = toVector(parts(op.getValue()), index * addresses.count,
                              addresses.count);
      auto store =
          LLVM::StoreOp::create(b, loc, vector, pointer, addresses.bytes);
      markLdsAccess(store);
    }
  });
  return success();
}

/// A read of 64 bits per lane, as \p type, after which each 16 lanes have
/// exchanged what they read (see layout::transposedSource).
Value Emitter::readTransposed(Value pointer, Type type) {
  LLVM::AliasAnalysisOpInterface read;
  if (cast<VectorType>(type).getElementTypeBitWidth() == 16) {
    read = ROCDL::ds_read_tr16_b64::create(b, loc, type, pointer);
  } else {
    read = ROCDL::ds_read_tr8_b64::create(
        b, loc, VectorType::get(2, b.getI32Type()), pointer);
  }
  markLdsAccess(read);
  Value value = read->getResult(0);
  return value.getType() == type
             ? value
             : LLVM::BitcastOp::create(b, loc, type, value).getResult();
}

LogicalResult Emitter::emitLdsLoad(tile::LdsLoadOp op) {
  flushGuarded();
  auto layout = layoutOf(op.getResult());
  if (failed(layout)) {
    return failure();
  }
  layout::LdsRead form =
      layout::chooseLdsRead(*layout, op.getBuffer().getType().getLdsLayout(),
                            tile::ldsBankRules(target));
  auto addresses = ldsAddresses(op, op.getBuffer(), form.addressed,
                                op.getOffsets().value_or(ArrayRef<int64_t>()),
                                form.transposes ? form.accessBits : 128);
  if (failed(addresses)) {
    return failure();
  }
  Type element = registerType(op.getBuffer().getType().getElementType());
  Type vectorType = addresses->count == 1
                        ? element
                        : Type(VectorType::get(addresses->count, element));
  size_t first = 0;
  size_t end = addresses->pointers.size();
  Parts loaded;
  loaded.width = addresses->count;
  if (std::optional<ArrayRef<int64_t>> part = op.getPart()) {
    if (op.getInto()) {
      loaded = repack(parts(op.getInto()), addresses->count);
    } else {
      loaded.values.assign(end, LLVM::PoisonOp::create(b, loc, vectorType));
    }
    first = end * (*part)[0] / (*part)[1];
    end = end * ((*part)[0] + 1) / (*part)[1];
  } else {
    loaded.values.resize(end);
  }
  for (size_t access = first; access < end; ++access) {
    if (form.transposes) {
      loaded.values[access] =
          readTransposed(addresses->pointers[access], vectorType);
      continue;
    }
    auto load = LLVM::LoadOp::create(
        b, loc, vectorType, addresses->pointers[access], addresses->bytes);
    markLdsAccess(load);
    loaded.values[access] = load;
  }
  if (op.getPart()) {
    // Repacked when all parts are there.
    tiles[op.getResult()] = std::move(loaded);
    return success();
  }
  Parts kept =
      repack(loaded, keptWidth(op.getResult(), layout->numRegisters()));
  tiles[op.getResult()] = std::move(kept);
  return success();
}
