//===- PlanExport.cpp - tenon.plan as data ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanExport.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::runtime;

namespace {
class Exporter {
public:
  explicit Exporter(spec::PlanOp op) : op(op) {}

  FailureOr<Plan> run();

private:
  void addOperands();
  LogicalResult add(Operation &operation);
  LogicalResult addBinary(Operation &operation, ExprKind kind);
  LogicalResult addLaunch(spec::LaunchOp launch);
  uint32_t operand(StringRef name) { return *op.findOperand(name); }
  uint32_t workspace(StringRef name);
  ExprId expr(Value value) { return exprs.lookup(value); }

  spec::PlanOp op;
  Plan plan;
  DenseMap<Value, ExprId> exprs;
};
} // namespace

static std::string typeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

void Exporter::addOperands() {
  for (Attribute attr : op.getOperands()) {
    auto dict = cast<DictionaryAttr>(attr);
    PlanOperand operand;
    operand.name = dict.getAs<StringAttr>("name").str();
    operand.elementType = typeName(dict.getAs<TypeAttr>("type").getValue());
    StringRef access = dict.getAs<StringAttr>("access");
    operand.access = access == "read"    ? OperandAccess::Read
                     : access == "write" ? OperandAccess::Write
                                         : OperandAccess::ReadWrite;
    if (auto layout = dict.getAs<StringAttr>("layout")) {
      operand.layout = layout.str();
    }
    for (Attribute dim : dict.getAs<ArrayAttr>("dims")) {
      if (auto symbol = dyn_cast<StringAttr>(dim)) {
        operand.dims.push_back({symbol.str(), 0});
      } else {
        operand.dims.push_back({"", cast<IntegerAttr>(dim).getInt()});
      }
    }
    plan.operands.push_back(std::move(operand));
  }
  if (op.getScalars()) {
    ArrayAttr scalars = *op.getScalars();
    for (Attribute name : scalars) {
      plan.scalars.push_back(cast<StringAttr>(name).str());
    }
  }
}

static std::optional<Comparison> comparison(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return Comparison::Eq;
  case arith::CmpIPredicate::ne:
    return Comparison::Ne;
  case arith::CmpIPredicate::slt:
    return Comparison::Lt;
  case arith::CmpIPredicate::sle:
    return Comparison::Le;
  case arith::CmpIPredicate::sgt:
    return Comparison::Gt;
  case arith::CmpIPredicate::sge:
    return Comparison::Ge;
  default:
    return std::nullopt;
  }
}

LogicalResult Exporter::addBinary(Operation &operation, ExprKind kind) {
  exprs[operation.getResult(0)] = plan.binary(
      kind, expr(operation.getOperand(0)), expr(operation.getOperand(1)));
  return success();
}

uint32_t Exporter::workspace(StringRef name) {
  return llvm::find_if(
             plan.workspaces,
             [&](const Workspace &entry) { return name == entry.name; }) -
         plan.workspaces.begin();
}

LogicalResult Exporter::addLaunch(spec::LaunchOp launch) {
  Launch data;
  data.kernel = launch.getKernel().str();
  data.grid = {expr(launch.getX()), expr(launch.getY()), expr(launch.getZ())};
  data.workgroupSize = {static_cast<uint32_t>(launch.getWorkgroupSize()), 1, 1};
  data.dynamicLds = plan.constant(0);
  uint32_t offset = 0;
  for (Attribute attr : launch.getArgs()) {
    NamedAttribute entry = *cast<DictionaryAttr>(attr).begin();
    KernelArg arg;
    uint32_t size = 8;
    if (entry.getName() == "ptr") {
      arg.kind = ArgKind::Pointer;
      arg.index = operand(cast<StringAttr>(entry.getValue()));
    } else if (entry.getName() == "workspace") {
      arg.kind = ArgKind::Workspace;
      arg.index = workspace(cast<StringAttr>(entry.getValue()));
    } else {
      bool narrow = entry.getName() == "i32";
      arg.kind = narrow ? ArgKind::I32 : ArgKind::I64;
      size = narrow ? 4 : 8;
      arg.expr = expr(
          launch.getValues()[cast<IntegerAttr>(entry.getValue()).getInt()]);
    }
    arg.offset = llvm::alignTo(offset, size);
    offset = arg.offset + size;
    data.args.push_back(arg);
  }
  data.kernargBytes = offset;
  plan.launches.push_back(std::move(data));
  return success();
}

LogicalResult Exporter::add(Operation &operation) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&operation)
      .Case<arith::ConstantOp>([&](auto constant) -> LogicalResult {
        auto value = dyn_cast<IntegerAttr>(constant.getValue());
        if (!value) {
          return constant.emitOpError("a plan computes with integers");
        }
        exprs[constant.getResult()] = plan.constant(value.getInt());
        return success();
      })
      .Case<spec::SizeOp>([&](auto size) -> LogicalResult {
        exprs[size.getResult()] =
            plan.size(operand(size.getOperand()), size.getDim());
        return success();
      })
      .Case<spec::StrideOp>([&](auto stride) -> LogicalResult {
        exprs[stride.getResult()] =
            plan.stride(operand(stride.getOperand()), stride.getDim());
        return success();
      })
      .Case<spec::ScalarOp>([&](auto scalar) -> LogicalResult {
        exprs[scalar.getResult()] =
            plan.scalar(*op.findScalar(scalar.getScalar()));
        return success();
      })
      .Case<arith::AddIOp>(
          [&](auto) { return addBinary(operation, ExprKind::Add); })
      .Case<arith::SubIOp>(
          [&](auto) { return addBinary(operation, ExprKind::Sub); })
      .Case<arith::MulIOp>(
          [&](auto) { return addBinary(operation, ExprKind::Mul); })
      .Case<arith::CeilDivSIOp>(
          [&](auto) { return addBinary(operation, ExprKind::CeilDiv); })
      .Case<arith::FloorDivSIOp>(
          [&](auto) { return addBinary(operation, ExprKind::FloorDiv); })
      .Case<arith::MinSIOp>(
          [&](auto) { return addBinary(operation, ExprKind::Min); })
      .Case<arith::MaxSIOp>(
          [&](auto) { return addBinary(operation, ExprKind::Max); })
      .Case<spec::RequireAlignedOp>([&](auto require) -> LogicalResult {
        Precondition condition;
        condition.kind = PreconditionKind::BaseAlignment;
        condition.operand = operand(require.getOperand());
        condition.value = require.getBytes();
        condition.message =
            (require.getOperand() + ": the address must be a multiple of " +
             Twine(require.getBytes()) + " bytes")
                .str();
        plan.preconditions.push_back(std::move(condition));
        return success();
      })
      .Case<spec::RequireStrideOp>([&](auto require) -> LogicalResult {
        Precondition condition;
        condition.kind = require.getEqual() ? PreconditionKind::StrideEquals
                                            : PreconditionKind::StrideMultiple;
        condition.operand = operand(require.getOperand());
        condition.dim = require.getDim();
        condition.value = require.getValue();
        condition.message =
            (require.getOperand() + ": the stride of dimension " +
             Twine(require.getDim()) +
             (require.getEqual() ? " must be " : " must be a multiple of ") +
             Twine(require.getValue()) + " elements")
                .str();
        plan.preconditions.push_back(std::move(condition));
        return success();
      })
      .Case<spec::RequireOp>([&](auto require) -> LogicalResult {
        std::optional<Comparison> kind = comparison(require.getPredicate());
        if (!kind) {
          return require.emitOpError("a plan compares signed integers");
        }
        Precondition condition;
        condition.kind = PreconditionKind::Compare;
        condition.comparison = *kind;
        condition.lhs = expr(require.getLhs());
        condition.rhs = expr(require.getRhs());
        condition.message = require.getMessage().str();
        plan.preconditions.push_back(std::move(condition));
        return success();
      })
      .Case<spec::WorkspaceOp>([&](auto workspace) -> LogicalResult {
        plan.workspaces.push_back({workspace.getName().str(),
                                   expr(workspace.getBytes()),
                                   Workspace().alignment, workspace.getZero()});
        return success();
      })
      .Case<spec::LaunchOp>([&](auto launch) { return addLaunch(launch); })
      .Default([](Operation *other) {
        return other->emitOpError("cannot be part of a plan");
      });
}

FailureOr<Plan> Exporter::run() {
  plan.name = op.getSymName().str();
  addOperands();
  for (Operation &operation : op.getBody().front()) {
    if (failed(add(operation))) {
      return failure();
    }
  }
  Status status = validate(plan);
  if (!status) {
    return op.emitOpError("is not valid: ") << status.error().message;
  }
  return std::move(plan);
}

FailureOr<Plan> driver::exportPlan(spec::PlanOp plan) {
  return Exporter(plan).run();
}
