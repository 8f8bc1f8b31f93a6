//===- KdaDecodeOp.cpp - contract and verifier of tenon.kda_decode -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/VerifyContract.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon::spec;

StateOrder KdaDecodeOp::getStateOrder() {
  auto type = cast<MemRefType>(getState().getType());
  return cast<StateLayoutAttr>(type.getLayout()).getOrder();
}

SmallVector<OperandContract> KdaDecodeOp::getOperandContracts() {
  int64_t width = static_cast<int64_t>(getHeads()) * getHeadDim();
  ContractDim requests{"N", 0};
  ContractDim slots{"S", 0};
  ContractDim columns{"L", 0};
  auto fixed = [](int64_t size) { return ContractDim{"", size}; };
  int64_t heads = getHeads();
  int64_t headDim = getHeadDim();

  SmallVector<OperandContract> contracts;
  auto add = [&](StringRef name, Value value, SmallVector<ContractDim> dims,
                 int64_t alignment, bool freeStride,
                 Access access = Access::Read) {
    if (value) {
      // Pools are strided by the slots of every layer.
      bool wide = name == "conv_state" || name == "state";
      contracts.push_back(
          {name, value, access, std::move(dims), alignment, freeStride, wide});
    }
  };
  add("qkv", getQkv(), {requests, fixed(3 * width)}, 16, true);
  add("raw_g", getRawG(), {requests, fixed(width)}, 16, true);
  add("raw_beta", getRawBeta(), {requests, fixed(heads)}, 2, true);
  add("out_gate", getOutGate(), {requests, fixed(width)}, 16, true);
  add("conv_weight", getConvWeight(), {fixed(3 * width), fixed(4)}, 16, false);
  add("a_log", getALog(), {fixed(heads)}, 4, false);
  add("dt_bias", getDtBias(), {fixed(width)}, 16, false);
  add("norm_weight", getNormWeight(), {fixed(headDim)}, 16, false);
  if (getConvLayout() == ConvLayout::SD) {
    add("conv_state", getConvState(), {slots, columns, fixed(3 * width)}, 16,
        true, Access::ReadWrite);
  } else {
    add("conv_state", getConvState(), {slots, fixed(3 * width), columns}, 16,
        true, Access::ReadWrite);
  }
  add("conv_start", getConvStart(), {requests}, 4, false);
  add("state", getState(),
      {slots, fixed(heads), fixed(headDim), fixed(headDim)}, 16, true,
      Access::ReadWrite);
  add("slot", getSlot(), {requests}, 4, true);
  add("out", getOut(), {requests, fixed(width)}, 16, true, Access::Write);
  return contracts;
}

/// Checks element type, shape and strides of one operand.
static LogicalResult verifyOperandType(KdaDecodeOp op,
                                       const OperandContract &contract) {
  auto type = cast<MemRefType>(contract.value.getType());
  MLIRContext *context = op.getContext();
  SmallVector<Type, 2> elements;
  if (contract.name == "norm_weight") {
    elements = {Float32Type::get(context), BFloat16Type::get(context)};
  } else if (llvm::is_contained({"conv_weight", "a_log", "dt_bias", "state"},
                                contract.name)) {
    elements = {Float32Type::get(context)};
  } else if (contract.name == "slot" || contract.name == "conv_start") {
    elements = {IntegerType::get(context, 32)};
  } else {
    elements = {BFloat16Type::get(context)};
  }
  if (failed(verifyShape(op, contract, elements))) {
    return failure();
  }
  if (contract.name == "state") {
    if (!isa<StateLayoutAttr>(type.getLayout())) {
      return op.emitOpError("operand 'state' must carry its layout, "
                            "#tenon.state_layout<vk> or "
                            "#tenon.state_layout<kv>, found ")
             << type;
    }
    return success();
  }
  return verifyStrides(op, contract);
}

LogicalResult KdaDecodeOp::verify() {
  if (getHeadDim() != 128) {
    return emitOpError("head_dim must be 128, found ") << getHeadDim();
  }
  if (getHeads() > 4096) {
    return emitOpError("heads must be at most 4096, found ") << getHeads();
  }
  if (getGate() == GateKind::Bounded) {
    if (!getLowerBound()) {
      return emitOpError("a bounded gate needs lower_bound");
    }
    double bound = getLowerBound()->convertToDouble();
    if (!(bound >= -5.0 && bound < 0.0)) {
      return emitOpError("lower_bound must be in [-5, 0), found ") << bound;
    }
  } else if (getLowerBound()) {
    return emitOpError("a softplus gate has no lower_bound");
  }
  bool norm = getOutputNorm();
  if (norm != static_cast<bool>(getOutGate()) ||
      norm != static_cast<bool>(getNormWeight()) ||
      norm != getNormEps().has_value()) {
    return emitOpError("out_gate, norm_weight and norm_eps must be ")
           << (norm ? "present, since output_norm is on"
                    : "absent, since output_norm is off");
  }
  double qkEps = getQkEps().convertToDouble();
  double normEps = norm ? getNormEps()->convertToDouble() : 0.0;
  if (!(qkEps >= 0.0 && qkEps < 1.0) || !(normEps >= 0.0 && normEps < 1.0)) {
    return emitOpError("qk_eps and norm_eps must be in [0, 1), found ")
           << qkEps << " and " << normEps;
  }
  for (const OperandContract &contract : getOperandContracts()) {
    if (failed(verifyOperandType(*this, contract))) {
      return failure();
    }
  }
  return success();
}
