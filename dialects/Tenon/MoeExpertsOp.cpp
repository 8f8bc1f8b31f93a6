//===- MoeExpertsOp.cpp - contract and verifier of moe_experts --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/VerifyContract.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::spec;

/// Values along a sum that share a scale.
static constexpr int64_t scaleBlock = 32;
static constexpr int64_t mostExperts = 4096;
static constexpr int64_t mostPerToken = 64;

static MemRefType memrefOf(Value value) {
  return cast<MemRefType>(value.getType());
}

static int64_t sizeOf(Value operand, unsigned dim) {
  return memrefOf(operand).getDimSize(dim);
}

static WeightOrder orderOf(Value operand) {
  return cast<WeightLayoutAttr>(memrefOf(operand).getLayout()).getOrder();
}

int64_t MoeExpertsOp::getExperts() { return sizeOf(getW13(), 0); }

int64_t MoeExpertsOp::getExpertsPerToken() { return sizeOf(getIds(), 1); }

int64_t MoeExpertsOp::getWidth() { return sizeOf(getX(), 1); }

int64_t MoeExpertsOp::getExpertWidth() { return sizeOf(getW2(), 2); }

int64_t MoeExpertsOp::getIdLimit() {
  return getExpertMap() ? sizeOf(getExpertMap(), 0) : getExperts();
}

WeightOrder MoeExpertsOp::getW13Order() { return orderOf(getW13()); }

WeightOrder MoeExpertsOp::getW2Order() { return orderOf(getW2()); }

bool MoeExpertsOp::hasRouteRows() { return getRoutes() == Format::FP8; }

int64_t MoeExpertsOp::getRoutePitch() {
  int64_t width = getWidth();
  return llvm::alignTo(width + width / scaleBlock, 64);
}

SmallVector<OperandContract> MoeExpertsOp::getOperandContracts() {
  auto fixed = [](int64_t size) { return ContractDim{"", size, 1}; };
  ContractDim tokens{"T", 0, 1};
  ContractDim experts = fixed(getExperts());
  ContractDim chosen = fixed(getExpertsPerToken());
  int64_t d = getWidth(), i = getExpertWidth();
  SmallVector<OperandContract> contracts;
  auto add = [&](StringRef name, Value value, SmallVector<ContractDim> dims,
                 int64_t alignment, bool freeStride = false,
                 Access access = Access::Read) {
    if (value) {
      contracts.push_back(
          {name, value, access, std::move(dims), alignment, freeStride});
    }
  };
  add("x", getX(), {tokens, fixed(d)}, 16, true);
  add("ids", getIds(), {tokens, chosen}, 4);
  add("weights", getWeights(), {tokens, chosen}, 4);
  add("w13", getW13(), {experts, fixed(2 * i), fixed(d)}, 16);
  add("w13_scale", getW13Scale(),
      {experts, fixed(2 * i), fixed(d / scaleBlock)}, 4);
  add("w2", getW2(), {experts, fixed(d), fixed(i)}, 16);
  add("w2_scale", getW2Scale(), {experts, fixed(d), fixed(i / scaleBlock)}, 4);
  if (getExpertMap()) {
    add("expert_map", getExpertMap(), {fixed(getIdLimit())}, 4);
  }
  add("num_tokens", getNumTokens(), {fixed(1)}, 4);
  if (hasRouteRows()) {
    add("out", getOut(), {tokens, chosen, fixed(getRoutePitch())}, 16, false,
        Access::Write);
  } else {
    add("out", getOut(), {tokens, fixed(d)}, 16, true, Access::Write);
  }
  return contracts;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Checks the number of dimensions of what the sizes are taken from, and that
/// they are static.
static LogicalResult verifySources(MoeExpertsOp op) {
  for (auto [name, operand, rank] :
       {std::tuple("x", op.getX(), 2), std::tuple("ids", op.getIds(), 2),
        std::tuple("w13", op.getW13(), 3), std::tuple("w2", op.getW2(), 3)}) {
    MemRefType type = memrefOf(operand);
    unsigned free = rank == 2 ? 1 : 0;
    if (type.getRank() != rank ||
        llvm::any_of(type.getShape().drop_front(free),
                     [](int64_t size) { return size < 1; })) {
      return op.emitOpError("operand '")
             << name << "' must have " << rank << " dimensions, static "
             << (free == 0 ? "ones" : "but for the first") << ", found "
             << type;
    }
  }
  if (Value map = op.getExpertMap()) {
    MemRefType type = memrefOf(map);
    if (type.getRank() != 1 || type.isDynamicDim(0) || type.getDimSize(0) < 1) {
      return op.emitOpError("operand 'expert_map' must have 1 dimension, a "
                            "static one, found ")
             << type;
    }
  }
  return success();
}

static LogicalResult verifySizes(MoeExpertsOp op) {
  int64_t experts = op.getExperts(), chosen = op.getExpertsPerToken();
  if (experts > mostExperts || chosen > mostPerToken) {
    return op.emitOpError("takes 1 to ")
           << mostExperts << " experts and 1 to " << mostPerToken
           << " of them for a token, found " << experts << " and " << chosen;
  }
  int64_t d = op.getWidth(), i = op.getExpertWidth();
  if (d % scaleBlock != 0 || i % scaleBlock != 0) {
    return op.emitOpError("D and I must be multiples of ")
           << scaleBlock << ", found " << d << " and " << i;
  }
  constexpr int64_t mostBytes = int64_t(1) << 31;
  if (i >= mostBytes / d) {
    return op.emitOpError("w13 of one expert must be below 2^31 bytes, found "
                          "D = ")
           << d << " and I = " << i;
  }
  return success();
}

static LogicalResult verifyOrder(MoeExpertsOp op, StringRef name, Value weights,
                                 Value scales) {
  auto layout = dyn_cast<WeightLayoutAttr>(memrefOf(weights).getLayout());
  if (!layout) {
    return op.emitOpError("operand '")
           << name << "' must have a #tenon.weight_layout, found "
           << memrefOf(weights);
  }
  if (memrefOf(scales).getLayout() != layout) {
    return op.emitOpError()
           << name << " and " << name << "_scale must have one layout, found "
           << memrefOf(weights) << " and " << memrefOf(scales);
  }
  WeightOrder order = layout.getOrder();
  if (order == WeightOrder::Packed) {
    return success();
  }
  if (name == "w2" && order == WeightOrder::AiterInterleaved) {
    return op.emitOpError("operand 'w2' has no gate and up that could "
                          "alternate: it must be packed or aiter, found ")
           << memrefOf(weights);
  }
  int64_t rows = sizeOf(weights, 1), depth = sizeOf(weights, 2);
  if (rows % 32 != 0 || depth % 64 != 0) {
    return op.emitOpError("weights of experts in the order '")
           << stringifyWeightOrder(order)
           << "' need N a multiple of 32 and K a multiple of 64, found "
           << memrefOf(weights);
  }
  return success();
}

static LogicalResult verifyFormats(MoeExpertsOp op) {
  for (auto [name, format] :
       {std::pair("input", op.getInput()),
        std::pair("intermediate", op.getIntermediate())}) {
    if (format == Format::F32) {
      return op.emitOpError(name) << " must be bf16, fp8 or fp4, found f32";
    }
  }
  if (op.getRoutes() == Format::FP4) {
    return op.emitOpError("routes must be f32, bf16 or fp8, found fp4");
  }
  bool isSum = !op.hasRouteRows();
  if (static_cast<bool>(op.getWeights()) != isSum) {
    return op.emitOpError("weights must be ")
           << (isSum ? "present" : "absent") << ": routes are "
           << stringifyFormat(op.getRoutes());
  }
  bool isSitu = op.getActivation() == Activation::SiTU;
  if (op.getBeta().has_value() != isSitu ||
      op.getLinearBeta().has_value() != isSitu) {
    return op.emitOpError("beta and linear_beta must be ")
           << (isSitu ? "present" : "absent") << ": the activation is "
           << stringifyActivation(op.getActivation());
  }
  for (std::optional<APFloat> beta : {op.getBeta(), op.getLinearBeta()}) {
    if (beta && !(beta->isFinite() && beta->convertToDouble() > 0)) {
      return op.emitOpError("beta and linear_beta must be positive, found ")
             << beta->convertToDouble();
    }
  }
  return success();
}

LogicalResult MoeExpertsOp::verify() {
  if (failed(verifySources(*this)) || failed(verifySizes(*this)) ||
      failed(verifyOrder(*this, "w13", getW13(), getW13Scale())) ||
      failed(verifyOrder(*this, "w2", getW2(), getW2Scale())) ||
      failed(verifyFormats(*this))) {
    return failure();
  }
  MLIRContext *context = getContext();
  auto elementOf = [&](StringRef name) -> Type {
    if (name == "ids" || name == "expert_map" || name == "num_tokens") {
      return IntegerType::get(context, 32);
    }
    if (name.ends_with("_scale")) {
      return Float8E8M0FNUType::get(context);
    }
    if (name == "w13" || name == "w2") {
      return Float4E2M1FNType::get(context);
    }
    if (name == "weights") {
      return Float32Type::get(context);
    }
    return name == "out" && hasRouteRows() ? Type(IntegerType::get(context, 8))
                                           : Type(BFloat16Type::get(context));
  };
  for (const OperandContract &contract : getOperandContracts()) {
    if (failed(verifyShape(*this, contract, elementOf(contract.name)))) {
      return failure();
    }
    bool isReordered =
        isa<WeightLayoutAttr>(memrefOf(contract.value).getLayout());
    bool isWeights =
        contract.name.starts_with("w13") || contract.name.starts_with("w2");
    if (isReordered != isWeights) {
      return emitOpError("operand '")
             << contract.name << "' is not reordered, found "
             << memrefOf(contract.value);
    }
    if (!isReordered && failed(verifyStrides(*this, contract))) {
      return failure();
    }
  }
  return success();
}
