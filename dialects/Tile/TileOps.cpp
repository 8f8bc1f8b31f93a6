//===- TileOps.cpp - operations of the tile dialect -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"
#include "dialects/Tile/ViewStrides.h"

#include "tenon/Layout/LdsCopy.h"
#include "tenon/Layout/Scatter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::tile;

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty()) {
    return emitOpError("returns nothing, but its type has results");
  }
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    bool scalar = type.isInteger(32) || type.isInteger(64) || type.isF32();
    if (!isa<PtrType>(type) && !scalar) {
      return emitOpError("argument #")
             << index << " must be a !tile.ptr, i32, i64 or f32, found "
             << type;
    }
  }
  // Strategies of LLVM's AMDGPU back end; it ignores names that it does not
  // know.
  static constexpr StringRef schedulers[] = {
      "coexec",           "iterative-ilp", "iterative-maxocc",
      "iterative-minreg", "max-ilp",       "max-memory-clause"};
  if (getScheduler() && !llvm::is_contained(schedulers, *getScheduler())) {
    return emitOpError("scheduler must be one of ")
           << llvm::join(ArrayRef(schedulers), ", ") << "; found '"
           << *getScheduler() << "'";
  }
  if (getPreload().value_or(0) > getArgumentTypes().size()) {
    return emitOpError("preloads ") << *getPreload() << " arguments, but takes "
                                    << getArgumentTypes().size();
  }
  return success();
}

/// Checks one block of a kernel and the loops and branches in it.
static LogicalResult requireStructuredBlock(Block &block) {
  for (Operation &op : block) {
    if (op.getNumRegions() == 0) {
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop && !isa<scf::IfOp>(op)) {
      return op.emitOpError(
          "control flow in a kernel is scf.for and scf.if alone");
    }
    if (loop && !loop.getInductionVar().getType().isInteger(32)) {
      return op.emitOpError("a loop in a kernel counts in i32, found ")
             << loop.getInductionVar().getType();
    }
    if (!loop && op.getNumResults() != 0) {
      return op.emitOpError("a branch in a kernel has no results");
    }
    for (Region &region : op.getRegions()) {
      for (Block &inner : region) {
        if (failed(requireStructuredBlock(inner))) {
          return failure();
        }
      }
    }
  }
  return success();
}

LogicalResult KernelOp::requireStructured() {
  if (!getBody().hasOneBlock()) {
    return emitOpError("has several blocks; a kernel is one block");
  }
  return requireStructuredBlock(getBody().front());
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

LogicalResult LoadScalarOp::verify() {
  if (getPointer().getType().getElementType() != getType()) {
    return emitOpError("reads ") << getType() << " through a pointer to "
                                 << getPointer().getType().getElementType();
  }
  return success();
}

LogicalResult ArriveOp::verify() {
  if (!getCounter().getType().getElementType().isInteger(32)) {
    return emitOpError("counts in i32, found a pointer to ")
           << getCounter().getType().getElementType();
  }
  auto wanted =
      LdsType::get(getContext(), {1}, IntegerType::get(getContext(), 32));
  if (getBuffer() && getBuffer().getType() != wanted) {
    return emitOpError("needs a buffer of type ")
           << wanted << ", found " << getBuffer().getType();
  }
  return success();
}

/// What loads and stores have in common: ranks, offsets and element types.
static LogicalResult verifyAccess(Operation *op, ViewType view,
                                  RankedTensorType tile, size_t offsets,
                                  size_t limits,
                                  std::optional<ArrayRef<int64_t>> divisors) {
  if (view.getRank() != tile.getRank()) {
    return op->emitOpError("accesses a tile of rank ")
           << tile.getRank() << " through a view of rank " << view.getRank();
  }
  if (static_cast<int64_t>(offsets) != view.getRank()) {
    return op->emitOpError("has ")
           << offsets << " offsets, the view has rank " << view.getRank();
  }
  if (limits != 0 && limits != offsets) {
    return op->emitOpError("has ")
           << limits << " limits, the view has rank " << view.getRank();
  }
  if (divisors && (divisors->size() != limits ||
                   llvm::any_of(*divisors, [](int64_t d) { return d < 1; }))) {
    return op->emitOpError("needs one positive divisor per limit");
  }
  if (view.getElementType() != tile.getElementType()) {
    return op->emitOpError("accesses a tile of ")
           << tile.getElementType() << " through a view of "
           << view.getElementType();
  }
  return success();
}

/// What gathering loads and scattering stores have in common.
static LogicalResult verifyRows(Operation *op, Value rows, bool far, Value view,
                                RankedTensorType tile, OperandRange offsets) {
  if (!rows) {
    return far ? op->emitOpError("is far without rows") : success();
  }
  auto type = cast<RankedTensorType>(rows.getType());
  if (tile.getRank() == 0 || type.getRank() != 1 ||
      !type.getElementType().isInteger(32) ||
      type.getDimSize(0) != tile.getDimSize(0)) {
    return op->emitOpError("takes one i32 row for each of dimension 0 of ")
           << tile << ", found " << type;
  }
  auto made = view.getDefiningOp<ViewOp>();
  if ((made && !made.getDimBlocks().front().empty()) || offsets.empty() ||
      getConstantIntValue(OpFoldResult(offsets.front())) != 0) {
    return op->emitOpError(isa<StoreOp>(op) ? "scatters" : "gathers")
           << " rows of a plain dimension 0 from offset 0";
  }
  return success();
}

LogicalResult LoadOp::verify() {
  if (getCoherent() && getStaged()) {
    return emitOpError("is coherent: copies into LDS go through the caches");
  }
  auto tile = cast<RankedTensorType>(getType());
  if (getFar() && getStaged()) {
    return emitOpError("is staged: copies into LDS gather rows within reach of "
                       "their view");
  }
  if (failed(verifyRows(*this, getRows(), getFar(), getView(), tile,
                        getOffsets()))) {
    return failure();
  }
  return verifyAccess(*this, getView().getType(), tile, getOffsets().size(),
                      getLimits().size(), getLimitDivisors());
}

LogicalResult StoreOp::verify() {
  auto tile = cast<RankedTensorType>(getValue().getType());
  if (failed(verifyRows(*this, getRows(), getFar(), getView(), tile,
                        getOffsets()))) {
    return failure();
  }
  Type element = tile.getElementType();
  if (getAccumulate() && !element.isF32() && !element.isBF16()) {
    return emitOpError("accumulates f32 and bf16, found ") << element;
  }
  return verifyAccess(*this, getView().getType(), tile, getOffsets().size(),
                      getLimits().size(), getLimitDivisors());
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Of operations that issue a share of their instructions.
static LogicalResult verifyPart(Operation *op,
                                std::optional<ArrayRef<int64_t>> part) {
  if (part &&
      (part->size() != 2 || (*part)[0] < 0 || (*part)[0] >= (*part)[1])) {
    return op->emitOpError("part must be [i, n] with 0 <= i < n");
  }
  return success();
}

/// Values in one element of a tile that is multiplied: bytes hold two of FP4.
static int64_t packingOf(Value tile) {
  Type element = cast<RankedTensorType>(tile.getType()).getElementType();
  return element.isInteger(8) ? 2 : 1;
}

void MmaOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                  Value rhs, Value accumulator, ArrayRef<int64_t> waves) {
  build(builder, state, accumulator.getType(), lhs, rhs, accumulator,
        /*lhs_scale=*/Value(), /*rhs_scale=*/Value(),
        /*instruction=*/DenseI64ArrayAttr(),
        builder.getDenseI64ArrayAttr(waves),
        /*contraction=*/DenseI64ArrayAttr(), /*scale_begin=*/IntegerAttr(),
        /*part=*/DenseI64ArrayAttr(), /*accuracy=*/FloatAttr());
}

int64_t MmaOp::getLhsPacking() { return packingOf(getLhs()); }

int64_t MmaOp::getRhsPacking() { return packingOf(getRhs()); }

int64_t MmaOp::getDepth() {
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  return lhs.getShape().back() * getLhsPacking();
}

layout::Contraction MmaOp::getContractionOrder() {
  std::optional<ArrayRef<int64_t>> order = getContraction();
  return order ? layout::Contraction{(*order)[0], (*order)[1]}
               : layout::Contraction{};
}

/// Checks that \p scale has the extent of \p operand along \p dim and blocks
/// for all of k along \p blockDim.
static LogicalResult verifyScale(MmaOp op, Value scale, Value operand,
                                 StringRef name, int64_t dim,
                                 int64_t blockDim) {
  if (!scale) {
    return success();
  }
  auto type = cast<RankedTensorType>(scale.getType());
  auto scaled = cast<RankedTensorType>(operand.getType());
  Type element = scaled.getElementType();
  if (!isa<Float8E8M0FNUType>(type.getElementType()) ||
      !(element.isInteger(8) ||
        isa<Float8E4M3FNType, Float8E5M2Type>(element))) {
    return op.emitOpError("scales operands of fp8 or fp4 (i8) by tiles of "
                          "f8E8M0FNU, found ")
           << name << " " << scaled << " by " << type;
  }
  int64_t blocks = llvm::divideCeil(op.getDepth(), MmaOp::scaleBlock) +
                   op.getScaleBegin().value_or(0);
  bool fits =
      type.getRank() == scaled.getRank() &&
      type.getDimSize(dim) == scaled.getDimSize(dim) &&
      type.getDimSize(blockDim) >= blocks &&
      (type.getRank() == 2 || type.getDimSize(0) == scaled.getDimSize(0));
  if (!fits) {
    return op.emitOpError("needs a scale of ")
           << name << " for each of its rows or columns and for " << blocks
           << " blocks of " << MmaOp::scaleBlock << " values, found " << type
           << " for " << scaled;
  }
  return success();
}

/// Checks what says how the product is computed.
static LogicalResult verifyMmaAttributes(MmaOp op, int64_t rank) {
  for (auto [name, numbers] :
       {std::pair("an instruction is [mn, k]", op.getInstruction()),
        std::pair("a contraction is [run, steps]", op.getContraction())}) {
    if (numbers &&
        (numbers->size() != 2 || (*numbers)[0] < 1 || (*numbers)[1] < 1)) {
      return op.emitOpError(name)
             << ", two positive numbers; found [" << *numbers << "]";
    }
  }
  if (std::optional<ArrayRef<int64_t>> waves = op.getWaves()) {
    auto kernel = op->getParentOfType<KernelOp>();
    int64_t product = 1;
    for (int64_t count : *waves) {
      product *= count;
    }
    if (static_cast<int64_t>(waves->size()) != rank ||
        (kernel && product != kernel.getWaves())) {
      return op.emitOpError(
          "waves are [along m, along n] and for rank 3 those along "
          "dimension 0, with the kernel's number of waves as "
          "product");
    }
  }
  return success();
}

LogicalResult MmaOp::verify() {
  if (failed(verifyPart(*this, getPart()))) {
    return failure();
  }
  auto lhs = cast<RankedTensorType>(getLhs().getType());
  auto rhs = cast<RankedTensorType>(getRhs().getType());
  auto acc = cast<RankedTensorType>(getAccumulator().getType());
  int64_t rank = acc.getRank();
  int64_t m = rank - 2;
  int64_t n = rank - 1;
  bool fits = (rank == 2 || rank == 3) && lhs.getRank() == rank &&
              rhs.getRank() == rank && lhs.getDimSize(m) == acc.getDimSize(m) &&
              rhs.getDimSize(n) == acc.getDimSize(n) &&
              lhs.getDimSize(n) * getLhsPacking() ==
                  rhs.getDimSize(m) * getRhsPacking() &&
              (rank == 2 || (lhs.getDimSize(0) == acc.getDimSize(0) &&
                             rhs.getDimSize(0) == acc.getDimSize(0)));
  if (!fits) {
    return emitOpError("multiplies [m, k] by [k, n] and adds to [m, n], or so "
                       "many of each, with two values per i8, found ")
           << lhs << " by " << rhs << " and " << acc;
  }
  if (!acc.getElementType().isF32()) {
    return emitOpError("accumulates in f32, found ") << acc.getElementType();
  }
  double accuracy = getAccuracy() ? getAccuracy()->convertToDouble() : 0.0;
  if (getAccuracy() &&
      !(accuracy >= 0.0 && accuracy < 1.0 && lhs.getElementType().isF32() &&
        rhs.getElementType().isF32())) {
    return emitOpError("accuracy is a fraction in [0, 1), of products of f32, "
                       "found ")
           << accuracy << " for " << lhs << " by " << rhs;
  }
  if (getScaleBegin() && !getLhsScale() && !getRhsScale()) {
    return emitOpError("has a scale_begin but no scales");
  }
  if (failed(verifyScale(*this, getLhsScale(), getLhs(), "lhs", m, n)) ||
      failed(verifyScale(*this, getRhsScale(), getRhs(), "rhs", n, m))) {
    return failure();
  }
  return verifyMmaAttributes(*this, rank);
}

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

AllocLdsOp tenon::tile::allocationOf(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto stage = dyn_cast<LdsStageOp>(op)) {
      buffer = stage.getBuffer();
    } else if (auto part = dyn_cast<LdsPartOp>(op)) {
      buffer = part.getBuffer();
    } else {
      break;
    }
  }
  return buffer.getDefiningOp<AllocLdsOp>();
}

void LdsStageOp::build(OpBuilder &builder, OperationState &state, Value buffer,
                       Value index, int64_t shift) {
  build(builder, state, cast<LdsType>(buffer.getType()).getStageType(), buffer,
        index, builder.getI64IntegerAttr(shift));
}

std::optional<int64_t> LdsStageOp::getConstantStage() {
  auto index = getConstantIntValue(OpFoldResult(getIndex()));
  if (!index) {
    return std::nullopt;
  }
  return (*index + static_cast<int64_t>(getShift())) %
         getBuffer().getType().getStages();
}

void BarrierOp::build(OpBuilder &, OperationState &) {
  // Of all waves.
}

LogicalResult BarrierOp::verify() {
  std::optional<ArrayRef<int64_t>> range = getWaves();
  if (range &&
      (range->size() != 2 || (*range)[0] < 0 || (*range)[0] >= (*range)[1])) {
    return emitOpError("of some waves takes the first of them and the one "
                       "behind the last, found [")
           << *range << "]";
  }
  return success();
}

LogicalResult LdsStageOp::verify() {
  LdsType type = getBuffer().getType();
  if (getType() != type.getStageType()) {
    return emitOpError("expected one stage of ")
           << type << ", " << type.getStageType() << ", found " << getType();
  }
  int64_t stages = type.getStages();
  std::optional<int64_t> index = getConstantIntValue(OpFoldResult(getIndex()));
  for (int64_t figure : {index.value_or(0), int64_t(getShift())}) {
    if (figure < 0 || figure >= stages) {
      return emitOpError("picks stage ")
             << figure << " of a buffer of " << stages;
    }
  }
  return success();
}

/// Fails unless \p buffer is one stage.
static LogicalResult verifyOneStage(Operation *op, LdsType buffer) {
  if (buffer.getStages() != 1) {
    return op->emitOpError("accesses a buffer of ")
           << buffer.getStages() << " stages: pick one with tile.lds_stage";
  }
  return success();
}

static LogicalResult verifyLds(Operation *op, RankedTensorType tile,
                               LdsType buffer) {
  if (failed(verifyOneStage(op, buffer))) {
    return failure();
  }
  if (tile.getShape() != buffer.getShape() ||
      tile.getElementType() != buffer.getElementType()) {
    return op->emitOpError("expected a tile of the buffer's shape and type ")
           << buffer << ", found " << tile;
  }
  return success();
}

LogicalResult LdsStoreOp::verify() {
  return verifyLds(*this, cast<RankedTensorType>(getValue().getType()),
                   getBuffer().getType());
}

LogicalResult LdsLoadOp::verify() {
  auto tile = cast<RankedTensorType>(getType());
  LdsType buffer = getBuffer().getType();
  if (failed(verifyPart(*this, getPart()))) {
    return failure();
  }
  if (getInto() && (!getPart() || getInto().getType() != tile)) {
    return emitOpError("reads a part into a tile of its own type ")
           << tile << ", found "
           << (getPart() ? "one of " : "no part, and a tile of ")
           << getInto().getType();
  }
  std::optional<ArrayRef<int64_t>> offsets = getOffsets();
  if (!offsets) {
    return verifyLds(*this, tile, buffer);
  }
  if (failed(verifyOneStage(*this, buffer))) {
    return failure();
  }
  int64_t rank = buffer.getShape().size();
  if (tile.getRank() != rank || int64_t(offsets->size()) != rank ||
      tile.getElementType() != buffer.getElementType()) {
    return emitOpError("expected a tile of the buffer's rank and type ")
           << buffer << " and as many offsets, found " << tile;
  }
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t step = llvm::PowerOf2Ceil(tile.getDimSize(dim));
    int64_t offset = (*offsets)[dim];
    if (offset < 0 || offset % step != 0 ||
        offset > buffer.getShape()[dim] - tile.getDimSize(dim)) {
      return emitOpError("dimension ")
             << dim << ": expected an offset that is a multiple of " << step
             << " and keeps the tile within the buffer, found " << offset;
    }
  }
  return success();
}

ArrayRef<int64_t> CopyToLdsOp::getLaneBytes() {
  static constexpr int64_t widths[] = {16, 4};
  return widths;
}

FailureOr<layout::Layout>
tile::copyRowsLayout(Operation *op, ArrayRef<int64_t> shape, Type element) {
  auto kernel = op->getParentOfType<KernelOp>();
  FailureOr<target::TargetInfo> target = getTarget(op);
  if (failed(target)) {
    return failure();
  }
  int64_t rowBits = element.getIntOrFloatBitWidth();
  for (int64_t extent : shape.drop_front()) {
    rowBits *= extent;
  }
  SmallVector<int64_t> widths(
      llvm::make_filter_range(CopyToLdsOp::getLaneBytes(), [&](int64_t width) {
        return target->hasDirectToLds(width);
      }));
  auto rows = layout::copiedRows(shape.front(), rowBits / 8,
                                 kernel ? kernel.getWaves() : 1, widths);
  if (!rows) {
    return op->emitOpError(llvm::toString(rows.takeError()));
  }
  return std::move(*rows);
}

bool CopyToLdsOp::hasRowNumbers() {
  return getRows() && isa<RankedTensorType>(getRows().getType());
}

LogicalResult CopyToLdsOp::verify() {
  LdsType buffer = getBuffer().getType();
  ViewType view = getView().getType();
  auto tile = RankedTensorType::get(buffer.getShape(), buffer.getElementType());
  if (failed(verifyAccess(*this, view, tile, getOffsets().size(),
                          getLimits().size(), getLimitDivisors())) ||
      failed(verifyOneStage(*this, buffer))) {
    return failure();
  }
  if (failed(verifyPart(*this, getPart()))) {
    return failure();
  }
  if (hasRowNumbers()) {
    if (failed(verifyRows(*this, getRows(), /*far=*/false, getView(), tile,
                          getOffsets()))) {
      return failure();
    }
    if (!getLimits().empty() &&
        getConstantIntValue(OpFoldResult(getLimits().front())) !=
            std::numeric_limits<int32_t>::max()) {
      return emitOpError("gathers rows: dimension 0 has no limit");
    }
  } else if (Value rows = getRows()) {
    auto type = cast<LdsType>(rows.getType());
    if (buffer.getShape().empty() || type.getStages() != 1 ||
        type.getShape() != buffer.getShape().take_front() ||
        !type.getElementType().isInteger(64)) {
      return emitOpError("takes an i64 of LDS for each of dimension 0 of ")
             << buffer << ", found " << type;
    }
    if (!getLimits().empty() ||
        getConstantIntValue(OpFoldResult(getOffsets().front())) != 0) {
      return emitOpError("gathers rows: dimension 0 begins at offset 0, and "
                         "there are no limits");
    }
  }
  auto made = getView().getDefiningOp<ViewOp>();
  if (made &&
      llvm::none_of(llvm::seq<unsigned>(0, view.getRank()),
                    [&](unsigned dim) { return made.getRunAlong(dim) > 1; })) {
    return emitOpError("copies runs of elements, but no stride of the view "
                       "is 1");
  }
  auto kernel = (*this)->getParentOfType<KernelOp>();
  layout::LdsLayout lds = buffer.getLdsLayout();
  if (!buffer.getLayout()) {
    // tile-assign-layouts may turn it; what it takes does not depend on that.
    int64_t elements = lds.sizeInBytes() * 8 / lds.elementBits();
    lds = layout::LdsLayout::rowMajor(elements, lds.elementBits());
  }
  auto copies = layout::planLdsCopies(lds, kernel ? kernel.getWaves() : 1,
                                      getLaneBytes());
  if (!copies) {
    return emitOpError("cannot fill ")
           << buffer << ": " << llvm::toString(copies.takeError());
  }
  unsigned runDim = copies->front().runDim;
  if (made && buffer.getLayout() && made.getRunAlong(runDim) == 1) {
    return emitOpError("copies runs of elements along dimension ")
           << runDim << ", where the stride of the view must be 1";
  }
  return success();
}
