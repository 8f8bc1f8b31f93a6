//===- PlanBuilder.cpp - writing launch plans -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanBuilder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;

static int64_t elementBits(const spec::OperandContract &contract) {
  Type element = cast<MemRefType>(contract.value.getType()).getElementType();
  return element.getIntOrFloatBitWidth();
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
  auto type = cast<MemRefType>(contract.value.getType());
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("name", b.getStringAttr(contract.name)),
      b.getNamedAttr("type", TypeAttr::get(type.getElementType())),
      b.getNamedAttr("access", b.getStringAttr(access)),
      b.getNamedAttr("dims", b.getArrayAttr(dims)),
  };
  if (auto layout = dyn_cast<spec::WeightLayoutAttr>(type.getLayout())) {
    entries.push_back(b.getNamedAttr(
        "layout",
        b.getStringAttr(spec::stringifyWeightOrder(layout.getOrder()))));
  }
  return b.getDictionaryAttr(entries);
}

PlanBuilder::PlanBuilder(OpBuilder &builder, StringRef name,
                         spec::SpecOpInterface op)
    : b(builder), loc(op->getLoc()), contracts(op.getOperandContracts()) {
  SmallVector<Attribute> operands;
  for (const spec::OperandContract &contract : contracts) {
    operands.push_back(operandAttr(b, contract));
  }
  SmallVector<spec::HostRange> ranges = op.getHostRanges();
  SmallVector<StringRef> scalars;
  for (const spec::HostRange &range : ranges) {
    scalars.append({range.begin, range.end});
  }
  SmallVector<spec::HostScalar> single = op.getHostScalars();
  for (const spec::HostScalar &scalar : single) {
    scalars.push_back(scalar.name);
  }
  auto plan = spec::PlanOp::create(
      builder, loc, b.getStringAttr(name), b.getArrayAttr(operands),
      scalars.empty() ? ArrayAttr() : b.getStrArrayAttr(scalars));
  b.setInsertionPointToStart(&plan.getBody().emplaceBlock());
  // Sizes first: a wrong one also shows as a wrong stride.
  requireMultiples();
  for (const spec::OperandContract &contract : contracts) {
    requireContract(contract);
  }
  requireRelations(op.getSizeRelations());
  requireRanges(ranges);
  for (const spec::HostScalar &entry : single) {
    Value given = scalar(entry.name);
    require(arith::CmpIPredicate::sge, given, constant(entry.least),
            (entry.name + " must be at least " + Twine(entry.least)).str());
    if (entry.most != std::numeric_limits<int64_t>::max()) {
      require(arith::CmpIPredicate::sle, given, constant(entry.most),
              (entry.name + " must be at most " + Twine(entry.most)).str());
    }
    if (!entry.operand.empty()) {
      require(arith::CmpIPredicate::slt, given, size(entry.operand, entry.dim),
              (entry.name + " must be below the size of dimension " +
               Twine(entry.dim) + " of " + entry.operand)
                  .str());
    }
  }
}

void PlanBuilder::requireContract(const spec::OperandContract &contract) {
  StringRef name = contract.name;
  spec::RequireAlignedOp::create(b, loc, name, contract.alignment);
  // Dense from the innermost dimension outwards, up to the first free stride.
  Value dense = constant(1);
  for (int64_t dim = contract.dims.size() - 1; dim >= 0; --dim) {
    if (contract.isFree(dim)) {
      requireFreeStride(contract, dim);
      continue;
    }
    require(arith::CmpIPredicate::eq, stride(name, dim), dense,
            (name + ": dimension " + Twine(dim) + " must be dense").str());
    dense = mul(dense, size(name, dim));
  }
}

void PlanBuilder::requireFreeStride(const spec::OperandContract &contract,
                                    unsigned dim) {
  StringRef name = contract.name;
  spec::RequireStrideOp::create(
      b, loc, b.getStringAttr(name), b.getI64IntegerAttr(dim), UnitAttr(),
      b.getI64IntegerAttr(std::max<int64_t>(1, contract.alignment * 8 /
                                                   elementBits(contract))));
  std::string which = dim == 0
                          ? "the outermost stride"
                          : "the stride of dimension " + std::to_string(dim);
  require(arith::CmpIPredicate::sge, stride(name, dim), constant(0),
          (name + ": " + which + " must not be negative").str());
  if (!contract.wideStride) {
    require(arith::CmpIPredicate::slt, strideBytes(name, dim),
            constant(contract.strideLimit),
            (name + ": " + which + " must be below 2^" +
             Twine(llvm::Log2_64(contract.strideLimit)) + " bytes")
                .str());
  }
}

void PlanBuilder::requireMultiples() {
  llvm::StringSet<> done;
  for (const spec::OperandContract &entry : contracts) {
    for (auto [dim, extent] : llvm::enumerate(entry.dims)) {
      if (extent.multiple == 1 || !done.insert(extent.symbol).second) {
        continue;
      }
      std::string message =
          (extent.symbol + " must be a positive multiple of " +
           Twine(extent.multiple))
              .str();
      Value multiple = constant(extent.multiple);
      Value found = size(entry.name, dim);
      Value whole = arith::FloorDivSIOp::create(b, loc, found, multiple);
      require(arith::CmpIPredicate::eq, found, mul(whole, multiple), message);
      require(arith::CmpIPredicate::sge, found, multiple, message);
    }
  }
}

Value PlanBuilder::sizeOf(StringRef symbol) {
  for (const spec::OperandContract &entry : contracts) {
    for (auto [dim, extent] : llvm::enumerate(entry.dims)) {
      if (extent.symbol == symbol) {
        return size(entry.name, dim);
      }
    }
  }
  llvm_unreachable("a relation names sizes of operands");
}

void PlanBuilder::requireRelations(ArrayRef<spec::SizeRelation> relations) {
  for (const spec::SizeRelation &relation : relations) {
    Value sum;
    SmallVector<std::string> parts;
    for (const spec::SizeTerm &term : relation.terms) {
      Value part = sizeOf(term.part);
      std::string text = term.part;
      if (term.divisor != 1) {
        part =
            arith::FloorDivSIOp::create(b, loc, part, constant(term.divisor));
        text += " / " + std::to_string(term.divisor) + " (rounded down)";
      }
      if (term.factor != 1) {
        part = mul(part, constant(term.factor));
        text = std::to_string(term.factor) + " times " + text;
      }
      sum = sum ? arith::AddIOp::create(b, loc, sum, part) : part;
      parts.push_back(std::move(text));
    }
    if (relation.constant != 0) {
      sum = arith::AddIOp::create(b, loc, sum, constant(relation.constant));
      parts.push_back(std::to_string(relation.constant));
    }
    require(arith::CmpIPredicate::eq, sizeOf(relation.whole), sum,
            relation.whole + " must be " + llvm::join(parts, " + "));
  }
}

void PlanBuilder::requireRanges(ArrayRef<spec::HostRange> ranges) {
  for (const spec::HostRange &range : ranges) {
    Value begin = scalar(range.begin);
    Value end = scalar(range.end);
    require(arith::CmpIPredicate::sge, begin, constant(0),
            (range.begin + " must not be negative").str());
    require(arith::CmpIPredicate::sge, end, begin,
            (range.end + " must not be below " + range.begin).str());
    require(arith::CmpIPredicate::sle, end, size(range.operand, range.dim),
            (range.end + " must not be above the size of dimension " +
             Twine(range.dim) + " of " + range.operand)
                .str());
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

Value PlanBuilder::strideBytes(StringRef operand, unsigned dim) {
  int64_t bits = elementBits(contract(operand));
  if (bits % 8 == 0) {
    return mul(stride(operand, dim), constant(bits / 8));
  }
  // The contract's alignment leaves no part of a byte.
  return b.createOrFold<arith::FloorDivSIOp>(
      loc, mul(stride(operand, dim), constant(bits)), constant(8));
}

Value PlanBuilder::scalar(StringRef name) {
  return spec::ScalarOp::create(b, loc, b.getIndexType(), name);
}

Value PlanBuilder::add(Value a, Value c) {
  return arith::AddIOp::create(b, loc, a, c);
}

Value PlanBuilder::min(Value a, Value c) {
  return arith::MinSIOp::create(b, loc, a, c);
}

Value PlanBuilder::max(Value a, Value c) {
  return arith::MaxSIOp::create(b, loc, a, c);
}

Value PlanBuilder::mul(Value a, Value c) {
  return b.createOrFold<arith::MulIOp>(loc, a, c);
}

Value PlanBuilder::sub(Value a, Value c) {
  return b.createOrFold<arith::SubIOp>(loc, a, c);
}

Value PlanBuilder::floorDiv(Value a, Value c) {
  return b.createOrFold<arith::FloorDivSIOp>(loc, a, c);
}

Value PlanBuilder::ceilDiv(Value a, Value c) {
  return b.createOrFold<arith::CeilDivSIOp>(loc, a, c);
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

void PlanBuilder::workspacePointer(StringRef workspace) {
  args.push_back(b.getDictionaryAttr(
      b.getNamedAttr("workspace", b.getStringAttr(workspace))));
}

void PlanBuilder::workspace(StringRef name, Value bytes, bool zero) {
  spec::WorkspaceOp::create(b, loc, name, bytes, zero);
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
