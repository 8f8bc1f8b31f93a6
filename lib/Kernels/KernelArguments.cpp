//===- KernelArguments.cpp - what a plan passes to a kernel -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelArguments.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;

void KernelArguments::add(StringRef name, Type type) {
  types.push_back(type);
  attrs.push_back(
      b.getDictionaryAttr(b.getNamedAttr("tile.name", b.getStringAttr(name))));
}

void KernelArguments::pointers(ArrayRef<spec::OperandContract> contracts) {
  for (const spec::OperandContract &contract : contracts) {
    Type element = cast<MemRefType>(contract.value.getType()).getElementType();
    // Memory is addressed by the byte: two FP4 values are one element.
    if (element.getIntOrFloatBitWidth() == 4) {
      element = b.getI8Type();
    }
    add(contract.name, tile::PtrType::get(b.getContext(), element));
    plan.pointer(contract.name);
  }
}

void KernelArguments::strides(ArrayRef<spec::OperandContract> contracts) {
  for (const spec::OperandContract &contract : contracts) {
    if (contract.freeStride) {
      std::string name = (contract.name + "_stride").str();
      Value bytes = plan.strideBytes(contract.name);
      contract.wideStride ? scalar64(name, bytes) : scalar32(name, bytes);
    }
  }
}

void KernelArguments::workspace(StringRef name, Type element, Value bytes,
                                bool zero) {
  plan.workspace(name, bytes, zero);
  statedWorkspace(name, element);
}

void KernelArguments::statedWorkspace(StringRef name, Type element) {
  add(name, tile::PtrType::get(b.getContext(), element));
  plan.workspacePointer(name);
}

void KernelArguments::scalar32(StringRef name, Value value) {
  add(name, b.getI32Type());
  plan.scalar32(value);
}

void KernelArguments::scalar64(StringRef name, Value value) {
  add(name, b.getI64Type());
  plan.scalar64(value);
}

tile::KernelOp KernelArguments::createKernel(Location loc, StringRef name,
                                             int64_t waves, bool preloads) {
  auto kernel = tile::KernelOp::create(
      b, loc, b.getStringAttr(name),
      TypeAttr::get(b.getFunctionType(types, {})), b.getI32IntegerAttr(waves),
      /*lds_bytes=*/IntegerAttr(), /*waves_per_simd=*/IntegerAttr(),
      /*scheduler=*/StringAttr(),
      preloads ? b.getI32IntegerAttr(types.size()) : IntegerAttr(),
      /*agprs=*/IntegerAttr(), /*pinned=*/UnitAttr(), ArrayAttr(), ArrayAttr());
  for (auto [index, attr] : llvm::enumerate(attrs)) {
    kernel.setArgAttrs(index, attr);
  }
  Block &body = kernel.getBody().emplaceBlock();
  body.addArguments(types, SmallVector<Location>(types.size(), loc));
  return kernel;
}

llvm::StringMap<Value> KernelArguments::byName(tile::KernelOp kernel) {
  llvm::StringMap<Value> args;
  for (auto [index, arg] :
       llvm::enumerate(kernel.getBody().front().getArguments())) {
    args[kernel.getArgAttrOfType<StringAttr>(index, "tile.name")] = arg;
  }
  return args;
}
