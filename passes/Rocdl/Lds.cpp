//===- Lds.cpp - LDS and barriers -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Rocdl/Emitter.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

/// Strides in bytes of a row-major buffer.
static SmallVector<OpFoldResult> rowMajorBytes(OpBuilder &b,
                                               tile::LdsType type) {
  int64_t stride = type.getElementType().getIntOrFloatBitWidth() / 8;
  SmallVector<OpFoldResult> strides(type.getShape().size());
  for (int64_t dim = strides.size() - 1; dim >= 0; --dim) {
    strides[dim] = b.getI64IntegerAttr(stride);
    stride *= type.getShape()[dim];
  }
  return strides;
}

namespace {
/// How a placed tile lies in a row-major buffer.
struct LdsAccess {
  unsigned count; ///< registers per instruction
  unsigned elementBytes;
  SmallVector<int64_t> offsets; ///< bytes, one per instruction
};
} // namespace

static FailureOr<LdsAccess> planLds(Operation *op, const layout::Layout &layout,
                                    tile::LdsType type) {
  SmallVector<int64_t> strides(layout.rank(), 1);
  for (int64_t dim = int64_t(layout.rank()) - 2; dim >= 0; --dim) {
    strides[dim] = strides[dim + 1] * type.getShape()[dim + 1];
  }
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  LdsAccess access;
  access.elementBytes = bits / 8;
  access.count = layout.vectorWidth(strides, bits, 128);
  // An LDS access is aligned to its own size.
  while (access.count > 1 &&
         layout.runAlignment(strides, access.count) % access.count != 0) {
    access.count /= 2;
  }
  for (int64_t reg = 0; reg < layout.numRegisters(); reg += access.count) {
    SmallVector<int64_t> coordinates = layout.coordinates(reg, 0, 0);
    int64_t offset = 0;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      if (overlapsThreads(layout, dim, coordinates[dim])) {
        return op->emitOpError("accesses LDS through a swizzled register "
                               "layout, which is not lowered yet");
      }
      offset += coordinates[dim] * strides[dim];
    }
    access.offsets.push_back(offset * access.elementBytes);
  }
  return access;
}

FailureOr<Value> Emitter::ldsAddress(Value buffer, Value offset,
                                     int64_t constant) {
  auto alloc = buffer.getDefiningOp<tile::AllocLdsOp>();
  if (!alloc || !alloc.getOffset() || !lds) {
    buffer.getDefiningOp()->emitOpError(
        "has no place in LDS: run tile-plan-lds first");
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
  Value address = LLVM::AddressOfOp::create(b, loc, lds);
  if (offset) {
    address = LLVM::GEPOp::create(b, loc, address.getType(), b.getI8Type(),
                                  address, ArrayRef<LLVM::GEPArg>{offset});
  }
  int32_t place = begin + constant;
  return LLVM::GEPOp::create(b, loc, address.getType(), b.getI8Type(), address,
                             ArrayRef<LLVM::GEPArg>{place})
      .getResult();
}

LogicalResult Emitter::emitLdsStore(tile::LdsStoreOp op) {
  auto layout = layoutOf(op.getValue());
  if (failed(layout)) {
    return failure();
  }
  tile::LdsType type = op.getBuffer().getType();
  auto access = planLds(op, *layout, type);
  auto thread = threadOffset(*layout, rowMajorBytes(b, type));
  auto mask = replicas(*layout);
  if (failed(access) || failed(thread) || failed(mask)) {
    return failure();
  }
  SmallVector<Value> addresses;
  for (int64_t offset : access->offsets) {
    FailureOr<Value> address = ldsAddress(op.getBuffer(), *thread, offset);
    if (failed(address)) {
      return failure();
    }
    addresses.push_back(*address);
  }
  guarded(*mask, [this, addresses, access = *access, op]() mutable {
    loc = op.getLoc();
    for (auto [index, address] : llvm::enumerate(addresses)) {
      Value vector =
          toVector(parts(op.getValue()), index * access.count, access.count);
      LLVM::StoreOp::create(b, loc, vector, address,
                            access.count * access.elementBytes);
    }
  });
  return success();
}

LogicalResult Emitter::emitLdsLoad(tile::LdsLoadOp op) {
  flushGuarded();
  auto layout = layoutOf(op.getResult());
  if (failed(layout)) {
    return failure();
  }
  tile::LdsType type = op.getBuffer().getType();
  auto access = planLds(op, *layout, type);
  auto thread = threadOffset(*layout, rowMajorBytes(b, type));
  if (failed(access) || failed(thread)) {
    return failure();
  }
  Type vectorType =
      access->count == 1
          ? type.getElementType()
          : Type(VectorType::get(access->count, type.getElementType()));
  SmallVector<Value> elements;
  for (int64_t offset : access->offsets) {
    FailureOr<Value> address = ldsAddress(op.getBuffer(), *thread, offset);
    if (failed(address)) {
      return failure();
    }
    Value vector = LLVM::LoadOp::create(b, loc, vectorType, *address,
                                        access->count * access->elementBytes);
    appendVector(elements, vector, access->count);
  }
  tiles[op.getResult()] = fromElements(elements);
  return success();
}

void Emitter::emitBarrier() {
  flushGuarded();
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

void Emitter::emitOrderFence() {
  flushGuarded();
  // Two parts: an empty statement that may write any memory, which keeps LLVM
  // IR passes and instruction selection from moving accesses, and a barrier for
  // the machine scheduler that everything but vector memory may cross.
  LLVM::InlineAsmOp::create(
      b, loc, TypeRange(), ValueRange(), /*asm_string=*/"",
      /*constraints=*/"~{memory}", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
  ROCDL::SchedBarrier::create(b, loc, 0x78F);
}
