//===- GemmOp.cpp - contract and verifier of tenon.gemm ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/VerifyContract.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon::spec;

/// Elements along K that share a scale of type f8E8M0FNU.
static constexpr int64_t scaleBlock = 32;

static MemRefType memrefOf(Value value) {
  return cast<MemRefType>(value.getType());
}

static Type elementOf(Value value) { return memrefOf(value).getElementType(); }

/// The format of the products; none for types that are not multiplied.
static std::optional<GemmFormat> formatOf(Type x, Type weights) {
  if (isa<BFloat16Type>(x) && isa<BFloat16Type>(weights)) {
    return GemmFormat::BF16;
  }
  if (isa<Float8E4M3FNType>(x) && isa<Float8E4M3FNType>(weights)) {
    return GemmFormat::FP8;
  }
  if (!isa<Float4E2M1FNType>(weights)) {
    return std::nullopt;
  }
  if (isa<Float4E2M1FNType>(x)) {
    return GemmFormat::MXFP4;
  }
  if (isa<Float8E4M3FNType>(x)) {
    return GemmFormat::MXFP8MXFP4;
  }
  return isa<BFloat16Type>(x) ? std::optional(GemmFormat::BF16MXFP4)
                              : std::nullopt;
}

GemmFormat GemmOp::getFormat() {
  return *formatOf(elementOf(getX()), elementOf(getWeights()));
}

bool GemmOp::hasBlockScaledX() {
  GemmFormat format = getFormat();
  return format == GemmFormat::MXFP4 || format == GemmFormat::MXFP8MXFP4;
}

bool GemmOp::hasBlockScaledWeights() {
  return isa<Float4E2M1FNType>(elementOf(getWeights()));
}

bool GemmOp::isGated() {
  return getEpilogue() == Epilogue::SiTU || getEpilogue() == Epilogue::SiLU;
}

std::optional<WeightOrder> GemmOp::getWeightOrder() {
  auto layout = dyn_cast<WeightLayoutAttr>(memrefOf(getWeights()).getLayout());
  return layout ? std::optional(layout.getOrder()) : std::nullopt;
}

bool GemmOp::hasPackedXScale() {
  return getXScale() &&
         isa<WeightLayoutAttr>(memrefOf(getXScale()).getLayout());
}

int64_t GemmOp::getScaleAlignment() {
  int64_t k = memrefOf(getX()).getDimSize(1);
  return !ShapedType::isDynamic(k) && k % (4 * scaleBlock) == 0 ? 4 : 1;
}

int64_t GemmOp::getKMultiple() {
  // Rows of 16 bytes, or of whole blocks.
  switch (getFormat()) {
  case GemmFormat::BF16:
    return 8;
  case GemmFormat::FP8:
    return 16;
  default:
    return scaleBlock;
  }
}

/// \p size over \p divisor, as a size of a contract called \p symbol where it
/// varies.
static ContractDim dimOf(int64_t size, StringRef symbol, int64_t divisor = 1,
                         int64_t multiple = 1) {
  if (ShapedType::isDynamic(size)) {
    return {symbol.str(), 0, multiple};
  }
  return {"", size / divisor, 1};
}

SmallVector<OperandContract> GemmOp::getOperandContracts() {
  int64_t n = memrefOf(getWeights()).getDimSize(0);
  int64_t k = memrefOf(getX()).getDimSize(1);
  ContractDim tokens{"M", 0};
  std::optional<WeightOrder> order = getWeightOrder();
  bool isAiter = order && *order != WeightOrder::Packed;
  int64_t rowMultiple = isGated() ? 2 : 1;
  if (isAiter) {
    rowMultiple = *order == WeightOrder::Aiter ? 16 : 32;
  }
  ContractDim rows = dimOf(n, "N", 1, rowMultiple);
  ContractDim depth = dimOf(k, "K", 1, isAiter ? 64 : getKMultiple());
  ContractDim blocks = dimOf(k, "K/32", scaleBlock);
  ContractDim columns = isGated() ? dimOf(n, "I", 2) : rows;
  bool rowMajor = !order;

  SmallVector<OperandContract> contracts;
  auto add = [&](StringRef name, Value value, SmallVector<ContractDim> dims,
                 int64_t alignment, bool freeStride,
                 Access access = Access::Read) {
    if (value) {
      contracts.push_back(
          {name, value, access, std::move(dims), alignment, freeStride});
    }
  };
  add("x", getX(), {tokens, depth}, 16, true);
  add("weights", getWeights(), {rows, depth}, 16, rowMajor);
  if (hasBlockScaledX()) {
    bool packed = hasPackedXScale();
    add("x_scale", getXScale(), {tokens, blocks},
        packed ? 4 : getScaleAlignment(), !packed);
  } else {
    add("x_scale", getXScale(), {tokens}, 4, false);
  }
  if (hasBlockScaledWeights()) {
    // Reordered scales are read by the dword.
    add("weight_scale", getWeightScale(), {rows, blocks},
        rowMajor ? getScaleAlignment() : 4, rowMajor);
  } else {
    add("weight_scale", getWeightScale(), {rows}, 4, false);
  }
  add("multiplicand", getMultiplicand(), {tokens, columns}, 4, true);
  add("out", getOut(), {tokens, columns}, 4, true,
      getEpilogue() == Epilogue::Add ? Access::ReadWrite : Access::Write);
  return contracts;
}

SmallVector<SizeRelation> GemmOp::getSizeRelations() {
  SmallVector<SizeRelation> relations;
  if (isGated() && memrefOf(getWeights()).isDynamicDim(0)) {
    relations.push_back({"N", {{2, "I"}}});
  }
  if (hasBlockScaledWeights() && memrefOf(getX()).isDynamicDim(1)) {
    relations.push_back({"K", {{scaleBlock, "K/32"}}});
  }
  return relations;
}

SmallVector<HostRange> GemmOp::getHostRanges() {
  SmallVector<HostRange> ranges;
  if (getColBegin()) {
    ranges.push_back({"col_begin", "col_end", "out", 1});
  }
  if (getRowBegin()) {
    ranges.push_back({"row_begin", "row_end", "out", 0});
  }
  return ranges;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Emits an error and fails unless \p value is there exactly when it is needed;
/// \p reason says why.
static LogicalResult verifyPresence(GemmOp op, Value value, StringRef name,
                                    bool needed, const Twine &reason) {
  if (static_cast<bool>(value) == needed) {
    return success();
  }
  return op.emitOpError(name)
         << " must be " << (needed ? "present" : "absent") << ": " << reason;
}

static LogicalResult verifyOptionals(GemmOp op) {
  std::string types;
  llvm::raw_string_ostream(types)
      << "x is " << elementOf(op.getX()) << " and weights are "
      << elementOf(op.getWeights());
  bool isPlain = op.getFormat() == GemmFormat::BF16;
  bool scalesX = !isPlain && op.getFormat() != GemmFormat::BF16MXFP4;
  std::string epilogue =
      ("the epilogue is " + stringifyEpilogue(op.getEpilogue())).str();
  if (failed(verifyPresence(op, op.getXScale(), "x_scale", scalesX, types)) ||
      failed(verifyPresence(op, op.getWeightScale(), "weight_scale", !isPlain,
                            types)) ||
      failed(verifyPresence(op, op.getMultiplicand(), "multiplicand",
                            op.getEpilogue() == Epilogue::SigmoidGate,
                            epilogue))) {
    return failure();
  }
  bool isSitu = op.getEpilogue() == Epilogue::SiTU;
  if (op.getBeta().has_value() != isSitu ||
      op.getLinearBeta().has_value() != isSitu) {
    return op.emitOpError("beta and linear_beta must be ")
           << (isSitu ? "present: " : "absent: ") << epilogue;
  }
  for (std::optional<APFloat> beta : {op.getBeta(), op.getLinearBeta()}) {
    if (beta && !(beta->isFinite() && beta->convertToDouble() > 0)) {
      return op.emitOpError("beta and linear_beta must be positive, found ")
             << beta->convertToDouble();
    }
  }
  if (!op.getColBegin() != !op.getColEnd() ||
      !op.getRowBegin() != !op.getRowEnd()) {
    return op.emitOpError("a range of columns or rows has a begin and an end");
  }
  return success();
}

/// Checks what N and K must be multiples of where they are static.
static LogicalResult verifySizes(GemmOp op) {
  int64_t n = memrefOf(op.getWeights()).getDimSize(0);
  int64_t k = memrefOf(op.getX()).getDimSize(1);
  auto isMultiple = [](int64_t size, int64_t of) {
    return ShapedType::isDynamic(size) || (size > 0 && size % of == 0);
  };
  if (!memrefOf(op.getX()).isDynamicDim(0)) {
    return op.emitOpError("M varies from call to call: the first size of "
                          "operand 'x' must be '?', found ")
           << memrefOf(op.getX());
  }
  if (!isMultiple(k, op.getKMultiple())) {
    return op.emitOpError("K must be a positive multiple of ")
           << op.getKMultiple() << " for " << elementOf(op.getX()) << " x "
           << elementOf(op.getWeights()) << ", found " << k;
  }
  if (op.isGated() && !isMultiple(n, 2)) {
    return op.emitOpError("N must be a positive multiple of 2, half gate and "
                          "half up, found ")
           << n;
  }
  std::optional<WeightOrder> order = op.getWeightOrder();
  if (!order || *order == WeightOrder::Packed) {
    return success();
  }
  bool interleaved = *order == WeightOrder::AiterInterleaved;
  StringRef name = stringifyWeightOrder(*order);
  if (!op.hasBlockScaledWeights()) {
    return op.emitOpError("weights in the order '")
           << name << "' must be f4E2M1FN, found "
           << elementOf(op.getWeights());
  }
  if (interleaved && !op.isGated()) {
    return op.emitOpError("weights in the order '")
           << name << "' need an epilogue situ or silu, found "
           << stringifyEpilogue(op.getEpilogue());
  }
  int64_t multiple = interleaved ? 32 : 16;
  if (!isMultiple(n, multiple) || !isMultiple(k, 64)) {
    return op.emitOpError("weights in the order '")
           << name << "' need N a multiple of " << multiple
           << " and K a multiple of 64, found " << memrefOf(op.getWeights());
  }
  return success();
}

/// The types that the operand of \p contract may have.
static SmallVector<Type, 2> elementTypes(GemmOp op,
                                         const OperandContract &contract) {
  MLIRContext *context = op.getContext();
  if (contract.name == "multiplicand") {
    return {BFloat16Type::get(context)};
  }
  if (contract.name == "out") {
    return {BFloat16Type::get(context), Float32Type::get(context)};
  }
  if (contract.name == "x_scale" || contract.name == "weight_scale") {
    // A scale per row has one dimension, one per block two.
    return {contract.dims.size() == 1 ? Type(Float32Type::get(context))
                                      : Type(Float8E8M0FNUType::get(context))};
  }
  return {elementOf(contract.value)};
}

LogicalResult GemmOp::verify() {
  for (auto [name, value] :
       {std::pair("x", getX()), std::pair("weights", getWeights())}) {
    if (memrefOf(value).getRank() != 2) {
      return emitOpError("operand '")
             << name << "' must have 2 dimensions, found " << memrefOf(value);
    }
  }
  Type x = elementOf(getX());
  Type weights = elementOf(getWeights());
  if (!formatOf(x, weights)) {
    return emitOpError("x and weights must be bf16 and bf16, f8E4M3FN and "
                       "f8E4M3FN, f4E2M1FN and f4E2M1FN, f8E4M3FN and "
                       "f4E2M1FN, or bf16 and f4E2M1FN; found ")
           << x << " and " << weights;
  }
  if (failed(verifyOptionals(*this)) || failed(verifySizes(*this))) {
    return failure();
  }
  std::optional<WeightOrder> order = getWeightOrder();
  for (const OperandContract &contract : getOperandContracts()) {
    if (failed(verifyShape(*this, contract, elementTypes(*this, contract)))) {
      return failure();
    }
    bool isWeight =
        contract.name == "weights" ||
        (contract.name == "weight_scale" && hasBlockScaledWeights());
    auto layout =
        dyn_cast<WeightLayoutAttr>(memrefOf(contract.value).getLayout());
    std::optional<WeightOrder> own =
        layout ? std::optional(layout.getOrder()) : std::nullopt;
    if (isWeight && own != order) {
      return emitOpError(
                 "weights and weight_scale must have one layout, found ")
             << memrefOf(getWeights()) << " and " << memrefOf(contract.value);
    }
    bool isXScale = contract.name == "x_scale" && hasBlockScaledX();
    if (isXScale && own && *own != WeightOrder::Packed) {
      return emitOpError("x_scale is row-major or packed, found ")
             << memrefOf(contract.value);
    }
    bool isReordered = (isWeight || isXScale) && own;
    if (!isReordered && failed(verifyStrides(*this, contract))) {
      return failure();
    }
  }
  return success();
}
