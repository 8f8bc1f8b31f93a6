//===- KdaContract.cpp - what the KDA ops have in common --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/KdaContract.h"

#include "dialects/Tenon/VerifyContract.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::spec;

void KdaContracts::add(StringRef name, Value value,
                       SmallVector<ContractDim> dims, int64_t alignment,
                       bool freeStride, Access access) {
  if (value) {
    contracts.push_back(
        {name, value, access, std::move(dims), alignment, freeStride});
  }
}

void KdaContracts::addConvPool(StringRef name, Value value, ConvLayout layout,
                               StringRef slots, Access access) {
  ContractDim columns{"L", 0};
  ContractDim channels = fixed(3 * heads * headDim);
  SmallVector<ContractDim> dims = {{slots.str(), 0}, columns, channels};
  if (layout == ConvLayout::DS) {
    std::swap(dims[1], dims[2]);
  }
  if (value) {
    // Pools are strided by the slots of every layer.
    contracts.push_back({name, value, access, std::move(dims), 16,
                         /*freeStride=*/true, /*wideStride=*/true});
  }
}

void KdaContracts::addStatePool(StringRef name, Value value, StringRef slots,
                                Access access) {
  if (value) {
    contracts.push_back(
        {name,
         value,
         access,
         {{slots.str(), 0}, fixed(heads), fixed(headDim), fixed(headDim)},
         16,
         /*freeStride=*/true,
         /*wideStride=*/true});
  }
}

StateOrder spec::stateOrderOf(Value pool) {
  auto type = cast<MemRefType>(pool.getType());
  return cast<StateLayoutAttr>(type.getLayout()).getOrder();
}

LogicalResult spec::verifyKdaAttributes(Operation *op,
                                        const KdaAttributes &attributes) {
  if (attributes.headDim != 128) {
    return op->emitOpError("head_dim must be 128, found ")
           << attributes.headDim;
  }
  if (attributes.heads > 4096) {
    return op->emitOpError("heads must be at most 4096, found ")
           << attributes.heads;
  }
  if (attributes.gate == GateKind::Bounded) {
    if (!attributes.lowerBound) {
      return op->emitOpError("a bounded gate needs lower_bound");
    }
    double bound = attributes.lowerBound->convertToDouble();
    if (!(bound >= -5.0 && bound < 0.0)) {
      return op->emitOpError("lower_bound must be in [-5, 0), found ") << bound;
    }
  } else if (attributes.lowerBound) {
    return op->emitOpError("a softplus gate has no lower_bound");
  }
  bool norm = attributes.outputNorm;
  if (norm != attributes.hasOutGate || norm != attributes.hasNormWeight ||
      norm != attributes.normEps.has_value()) {
    return op->emitOpError("out_gate, norm_weight and norm_eps must be ")
           << (norm ? "present, since output_norm is on"
                    : "absent, since output_norm is off");
  }
  double qkEps = attributes.qkEps.convertToDouble();
  double normEps = norm ? attributes.normEps->convertToDouble() : 0.0;
  if (!(qkEps >= 0.0 && qkEps < 1.0) || !(normEps >= 0.0 && normEps < 1.0)) {
    return op->emitOpError("qk_eps and norm_eps must be in [0, 1), found ")
           << qkEps << " and " << normEps;
  }
  return success();
}

/// The element types that the operand \p name may have.
static SmallVector<Type, 2> elementTypes(MLIRContext *context, StringRef name) {
  enum class Kind { BF16, F32, Norm, Index, Flag };
  auto kind =
      llvm::StringSwitch<Kind>(name)
          .Cases(
              {"conv_weight", "a_log", "dt_bias", "state", "checkpoint_state"},
              Kind::F32)
          .Case("norm_weight", Kind::Norm)
          .Cases({"slot", "conv_start", "cu_seqlens", "initial_slot", "row"},
                 Kind::Index)
          .Cases({"checkpoint_offset", "checkpoint_slot", "plan"}, Kind::Index)
          .Case("has_initial_state", Kind::Flag)
          .Default(Kind::BF16);
  Type f32 = Float32Type::get(context);
  Type bf16 = BFloat16Type::get(context);
  switch (kind) {
  case Kind::BF16:
    return {bf16};
  case Kind::F32:
    return {f32};
  case Kind::Norm:
    return {f32, bf16};
  case Kind::Index:
    return {IntegerType::get(context, 32)};
  case Kind::Flag:
    return {IntegerType::get(context, 8)};
  }
  llvm_unreachable("covered switch");
}

LogicalResult spec::verifyKdaOperand(Operation *op,
                                     const OperandContract &contract) {
  if (failed(verifyShape(op, contract,
                         elementTypes(op->getContext(), contract.name)))) {
    return failure();
  }
  if (contract.name != "state" && contract.name != "checkpoint_state") {
    return verifyStrides(op, contract);
  }
  auto type = cast<MemRefType>(contract.value.getType());
  if (!isa<StateLayoutAttr>(type.getLayout())) {
    return op->emitOpError("operand '")
           << contract.name
           << "' must carry its layout, #tenon.state_layout<vk> or "
              "#tenon.state_layout<kv>, found "
           << type;
  }
  return success();
}
