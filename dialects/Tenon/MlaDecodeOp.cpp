//===- MlaDecodeOp.cpp - contracts of mla_decode and mla_plan ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/VerifyContract.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace tenon::spec;

static constexpr int64_t valueColumns = 512;
static constexpr int64_t ropeColumns = 64;
static constexpr int64_t mostHeads = 128;
static constexpr int64_t mostQueries = 16;

static constexpr uint64_t mostWorkgroups = 1 << 16;

/// Ranks and keys of a turn that keep products of them in 32 bits.
static constexpr int64_t mostRanks = 1024;
static constexpr int64_t mostInterleave = 1 << 20;

static const ContractDim requests{"B"};
static ContractDim fixed(int64_t size) { return {"", size}; }

static bool isFp8(Value operand) {
  return isa<Float8E4M3FNType>(
      cast<MemRefType>(operand.getType()).getElementType());
}

/// The types that \p operand of \p op may have elements of.
static SmallVector<Type> elementTypes(MLIRContext *context, StringRef operand) {
  Type bf16 = BFloat16Type::get(context);
  Type f32 = Float32Type::get(context);
  if (operand == "q" || operand == "q_rope" || operand == "kv") {
    return {bf16, Float8E4M3FNType::get(context)};
  }
  if (operand == "out") {
    return {bf16, f32};
  }
  if (operand == "lse" || operand.ends_with("scale")) {
    return {f32};
  }
  return {IntegerType::get(context, 32)};
}

static LogicalResult verifyOperands(SpecOpInterface op) {
  for (const OperandContract &contract : op.getOperandContracts()) {
    if (failed(verifyShape(op, contract,
                           elementTypes(op->getContext(), contract.name))) ||
        failed(verifyStrides(op, contract))) {
      return failure();
    }
  }
  return success();
}

static LogicalResult verifyRanks(Operation *op, int64_t size,
                                 int64_t interleave) {
  if (size > mostRanks) {
    return op->emitOpError("cp_size must be at most ")
           << mostRanks << ", found " << size;
  }
  if (interleave > mostInterleave) {
    return op->emitOpError("cp_interleave must be at most ")
           << mostInterleave << ", found " << interleave;
  }
  return success();
}

/// The rank of a call, below \p size.
static SmallVector<HostScalar> rankScalar(int64_t size) {
  HostScalar rank{"cp_rank"};
  rank.most = size - 1;
  return {rank};
}

//===----------------------------------------------------------------------===//
// tenon.mla_plan
//===----------------------------------------------------------------------===//

static SmallVector<ContractDim> planDims() { return {{"N"}, fixed(4)}; }

SmallVector<OperandContract> MlaPlanOp::getOperandContracts() {
  return {{"seq_len", getSeqLen(), Access::Read, {requests}, 4},
          {"plan", getPlan(), Access::Write, planDims(), 16}};
}

SmallVector<HostScalar> MlaPlanOp::getHostScalars() {
  return rankScalar(getCpSize());
}

LogicalResult MlaPlanOp::verify() {
  if (getRows() > uint64_t(mostHeads * mostQueries)) {
    return emitOpError("rows must be at most ")
           << mostHeads * mostQueries << " (heads times queries), found "
           << getRows();
  }
  if (getWorkgroups() > mostWorkgroups) {
    return emitOpError("workgroups must be at most ")
           << mostWorkgroups << ", found " << getWorkgroups();
  }
  if (failed(verifyRanks(*this, getCpSize(), getCpInterleave()))) {
    return failure();
  }
  return verifyOperands(*this);
}

//===----------------------------------------------------------------------===//
// tenon.mla_decode
//===----------------------------------------------------------------------===//

int64_t MlaDecodeOp::getHeads() {
  return cast<MemRefType>(getQ().getType()).getShape().end()[-2];
}

bool MlaDecodeOp::hasFp8Queries() { return isFp8(getQ()); }
bool MlaDecodeOp::hasFp8Cache() { return isFp8(getKv()); }

SmallVector<OperandContract> MlaDecodeOp::getOperandContracts() {
  /// Those of an operand with a row per query and head.
  auto rows = [&](StringRef name, Value value, std::optional<int64_t> columns,
                  int64_t alignment, Access access) {
    SmallVector<ContractDim> dims;
    if (isPacked()) {
      dims = {{"T"}};
    } else {
      dims = {requests, {"Q"}};
    }
    dims.push_back(fixed(getHeads()));
    if (columns) {
      dims.push_back(fixed(*columns));
    }
    OperandContract contract{name, value, access, dims, alignment, true};
    contract.freeInner = dims.size() - 2;
    return contract;
  };
  SmallVector<OperandContract> contracts;
  auto add = [&](OperandContract contract) {
    if (contract.value) {
      contracts.push_back(std::move(contract));
    }
  };
  int64_t columns = valueColumns + (getQRope() ? 0 : ropeColumns);
  add(rows("q", getQ(), columns, 16, Access::Read));
  add(rows("q_rope", getQRope(), ropeColumns, 16, Access::Read));
  add({"qo_indptr", getQoIndptr(), Access::Read, {{"B+1"}}, 4});
  OperandContract kv{
      "kv",         getKv(),
      Access::Read, {{"P"}, {"page"}, fixed(valueColumns + ropeColumns)},
      16,           true,
      true};
  kv.freeInner = 1;
  add(std::move(kv));
  add({"block_table",
       getBlockTable(),
       Access::Read,
       {requests, {"M"}},
       4,
       true});
  add({"seq_len", getSeqLen(), Access::Read, {requests}, 4});
  add({"q_scale", getQScale(), Access::Read, {fixed(1)}, 4});
  add({"kv_scale", getKvScale(), Access::Read, {fixed(1)}, 4});
  add({"plan", getPlan(), Access::Read, planDims(), 16});
  add(rows("out", getOut(), valueColumns, 16, Access::Write));
  add(rows("lse", getLse(), std::nullopt, 4, Access::Write));
  return contracts;
}

SmallVector<SizeRelation> MlaDecodeOp::getSizeRelations() {
  if (isPacked()) {
    return {{"B+1", {{1, "B"}}, 1}};
  }
  return {};
}

SmallVector<HostScalar> MlaDecodeOp::getHostScalars() {
  return rankScalar(getCpSize());
}

LogicalResult MlaDecodeOp::verify() {
  auto queries = cast<MemRefType>(getQ().getType());
  int64_t rank = isPacked() ? 3 : 4;
  if (queries.getRank() != rank) {
    return emitOpError("operand 'q' must have ")
           << rank << " dimensions, "
           << (isPacked() ? "[T, H, columns] with qo_indptr"
                          : "[B, Q, H, columns] without qo_indptr")
           << ", found " << queries;
  }
  if (ShapedType::isDynamic(getHeads()) || getHeads() < 1 ||
      getHeads() > mostHeads) {
    return emitOpError("operand 'q': heads must be static, from 1 to ")
           << mostHeads << ", found " << queries;
  }
  int64_t most = getMaxQueries();
  if (most < 1 || most > mostQueries) {
    return emitOpError("max_queries must be from 1 to ")
           << mostQueries << ", found " << most;
  }
  double scale = getScale().convertToDouble();
  if (!(scale > 0.0) || !std::isfinite(scale)) {
    return emitOpError("scale must be above 0 and finite, found ") << scale;
  }
  if (failed(verifyRanks(*this, getCpSize(), getCpInterleave())) ||
      failed(verifyOperands(*this))) {
    return failure();
  }
  if (getQRope() && hasFp8Queries() != isFp8(getQRope())) {
    return emitOpError("q and q_rope must have one type, found ")
           << queries << " and " << getQRope().getType();
  }
  for (auto [operand, isScaled, isThere] :
       {std::tuple("q", hasFp8Queries(), bool(getQScale())),
        {"kv", hasFp8Cache(), bool(getKvScale())}}) {
    if (isScaled != isThere) {
      return emitOpError() << operand << "_scale must be "
                           << (isScaled ? "present, since " : "absent, since ")
                           << operand << " is "
                           << (isScaled ? "f8E4M3FN" : "bf16");
    }
  }
  if (getBf16Probabilities() && !(hasFp8Queries() && hasFp8Cache())) {
    return emitOpError("bf16_probabilities is for q and kv of f8E4M3FN, found ")
           << queries << " and " << getKv().getType();
  }
  return success();
}
