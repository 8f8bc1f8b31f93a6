//===- MoeRouteOp.cpp - contract and verifier of tenon.moe_route -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/VerifyContract.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon::spec;

static constexpr int64_t mostExperts = 4096;
static constexpr int64_t mostPerToken = 64;

static int64_t lastSize(Value operand) {
  return cast<MemRefType>(operand.getType()).getShape().back();
}

int64_t MoeRouteOp::getExperts() { return lastSize(getLogits()); }

int64_t MoeRouteOp::getExpertsPerToken() { return lastSize(getIds()); }

SmallVector<OperandContract> MoeRouteOp::getOperandContracts() {
  ContractDim tokens{"T", 0, 1};
  ContractDim experts{"", getExperts(), 1};
  ContractDim chosen{"", getExpertsPerToken(), 1};
  SmallVector<OperandContract> contracts = {{"logits",
                                             getLogits(),
                                             Access::Read,
                                             {tokens, experts},
                                             /*alignment=*/16,
                                             /*freeStride=*/true}};
  if (getBias()) {
    contracts.push_back({"bias", getBias(), Access::Read, {experts}, 16});
  }
  contracts.push_back({"ids", getIds(), Access::Write, {tokens, chosen}, 4});
  contracts.push_back(
      {"weights", getWeights(), Access::Write, {tokens, chosen}, 4});
  return contracts;
}

LogicalResult MoeRouteOp::verify() {
  for (auto [name, operand] :
       {std::pair("logits", getLogits()), std::pair("ids", getIds())}) {
    auto type = cast<MemRefType>(operand.getType());
    if (type.getRank() != 2 || type.isDynamicDim(1)) {
      return emitOpError("operand '")
             << name << "' must have 2 dimensions, the second one static, "
             << "found " << type;
    }
  }
  int64_t experts = getExperts();
  int64_t chosen = getExpertsPerToken();
  if (experts < 1 || experts > mostExperts || chosen < 1 ||
      chosen > std::min(mostPerToken, experts)) {
    return emitOpError("takes 1 to ")
           << mostExperts << " experts and 1 to " << mostPerToken
           << " of them for a token, found " << experts << " and " << chosen;
  }
  double factor = getFactor().convertToDouble();
  if (!std::isfinite(factor)) {
    return emitOpError("factor must be a finite number, found ") << factor;
  }
  Type f32 = Float32Type::get(getContext());
  Type bf16 = BFloat16Type::get(getContext());
  Type i32 = IntegerType::get(getContext(), 32);
  for (const OperandContract &contract : getOperandContracts()) {
    SmallVector<Type> types{contract.name == "ids" ? i32 : f32};
    if (contract.name == "logits") {
      types.push_back(bf16);
    }
    if (failed(verifyShape(*this, contract, types)) ||
        failed(verifyStrides(*this, contract))) {
      return failure();
    }
  }
  return success();
}
