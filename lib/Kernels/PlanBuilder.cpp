//===- PlanBuilder.cpp - writing launch plans -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanBuilder.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;

static int64_t elementBytes(const spec::OperandContract &contract) {
  Type element = cast<MemRefType>(contract.value.getType()).getElementType();
  return element.getIntOrFloatBitWidth() / 8;
}

static DictionaryAttr operandAttr(Builder &b,
                                  const spec::OperandContract &contract) {
  StringRef access = contract.access == spec::Access::Read    ? "read"
                     : contract.access == spec::Access::Write ? "write"
                                                              : "read_write";
  SmallVector<Attribute> dims;
  for (const spec::ContractDim &dim : contract.dims) {
    dims.push_back(dim.symbol.empty() ? Attribute(b.getI64IntegerAttr(dim.size))
                                      : Attribute(b.getStringAttr(dim.symbol)));
  }
  Type element = cast<MemRefType>(contract.value.getType()).getElementType();
  return b.getDictionaryAttr({
      b.getNamedAttr("name", b.getStringAttr(contract.name)),
      b.getNamedAttr("type", TypeAttr::get(element)),
      b.getNamedAttr("access", b.getStringAttr(access)),
      b.getNamedAttr("dims", b.getArrayAttr(dims)),
  });
}

PlanBuilder::PlanBuilder(OpBuilder &builder, Location loc, StringRef name,
                         ArrayRef<spec::OperandContract> contracts)
    : b(builder), loc(loc), contracts(contracts.begin(), contracts.end()) {
  SmallVector<Attribute> operands;
  for (const spec::OperandContract &contract : contracts) {
    operands.push_back(operandAttr(b, contract));
  }
  auto plan = spec::PlanOp::create(builder, loc, b.getStringAttr(name),
                                   b.getArrayAttr(operands));
  b.setInsertionPointToStart(&plan.getBody().emplaceBlock());
  for (const spec::OperandContract &contract : contracts) {
    requireContract(contract);
  }
}

void PlanBuilder::requireContract(const spec::OperandContract &contract) {
  StringRef name = contract.name;
  spec::RequireAlignedOp::create(b, loc, name, contract.alignment);
  // Dense from the innermost dimension outwards, up to a free outermost stride.
  Value dense = constant(1);
  for (int64_t dim = contract.dims.size() - 1; dim >= 0; --dim) {
    if (dim == 0 && contract.freeStride) {
      spec::RequireStrideOp::create(
          b, loc, b.getStringAttr(name), b.getI64IntegerAttr(0), UnitAttr(),
          b.getI64IntegerAttr(std::max<int64_t>(
              1, contract.alignment / elementBytes(contract))));
      require(arith::CmpIPredicate::sge, stride(name, 0), constant(0),
              (name + ": the outermost stride must not be negative").str());
      if (!contract.wideStride) {
        require(
            arith::CmpIPredicate::slt, strideBytes(name),
            constant(int64_t(1) << 31),
            (name + ": the outermost stride must be below 2^31 bytes").str());
      }
      return;
    }
    require(arith::CmpIPredicate::eq, stride(name, dim), dense,
            (name + ": dimension " + Twine(dim) + " must be dense").str());
    dense = mul(dense, size(name, dim));
  }
}

Value PlanBuilder::constant(int64_t value) {
  Value &known = constants[value];
  if (!known) {
    known = arith::ConstantIndexOp::create(b, loc, value);
  }
  return known;
}

Value PlanBuilder::size(StringRef operand, unsigned dim) {
  const spec::ContractDim &extent = contract(operand).dims[dim];
  if (extent.symbol.empty()) {
    return constant(extent.size);
  }
  return spec::SizeOp::create(b, loc, b.getIndexType(), operand, dim);
}

Value PlanBuilder::stride(StringRef operand, unsigned dim) {
  Value &known = strides[{operand.str(), dim}];
  if (!known) {
    known = spec::StrideOp::create(b, loc, b.getIndexType(), operand, dim);
  }
  return known;
}

Value PlanBuilder::strideBytes(StringRef operand) {
  return mul(stride(operand, 0), constant(elementBytes(contract(operand))));
}

Value PlanBuilder::mul(Value a, Value c) {
  return b.createOrFold<arith::MulIOp>(loc, a, c);
}

void PlanBuilder::require(arith::CmpIPredicate predicate, Value lhs, Value rhs,
                          StringRef message) {
  spec::RequireOp::create(b, loc, predicate, lhs, rhs, message);
}

const spec::OperandContract &PlanBuilder::contract(StringRef operand) const {
  const auto *found = llvm::find_if(
      contracts, [&](const auto &entry) { return entry.name == operand; });
  assert(found != contracts.end() && "a plan names only operands of its op");
  return *found;
}

void PlanBuilder::pointer(StringRef operand) {
  args.push_back(
      b.getDictionaryAttr(b.getNamedAttr("ptr", b.getStringAttr(operand))));
}

void PlanBuilder::scalar32(Value value) {
  args.push_back(b.getDictionaryAttr(
      b.getNamedAttr("i32", b.getI64IntegerAttr(values.size()))));
  values.push_back(value);
}

void PlanBuilder::scalar64(Value value) {
  args.push_back(b.getDictionaryAttr(
      b.getNamedAttr("i64", b.getI64IntegerAttr(values.size()))));
  values.push_back(value);
}

void PlanBuilder::launch(StringRef kernel, Value x, Value y, Value z,
                         int64_t workgroupSize) {
  spec::LaunchOp::create(b, loc, kernel, x, y, z, workgroupSize, values,
                         b.getArrayAttr(args));
  values.clear();
  args.clear();
}
