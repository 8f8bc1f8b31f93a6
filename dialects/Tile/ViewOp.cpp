//===- ViewOp.cpp - tile.view -----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"
#include "dialects/Tile/ViewStrides.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::tile;

void ViewOp::build(OpBuilder &builder, OperationState &state, Value pointer,
                   ArrayRef<OpFoldResult> strides, Value bytes,
                   ArrayRef<int64_t> blocks) {
  SmallVector<int64_t> staticStrides;
  SmallVector<Value> dynamicStrides;
  dispatchIndexOpFoldResults(strides, dynamicStrides, staticStrides);
  int64_t rank = blocks.empty() ? strides.size() : llvm::count(blocks, 0);
  auto type = ViewType::get(builder.getContext(), rank,
                            cast<PtrType>(pointer.getType()).getElementType());
  bool isPlain = llvm::all_of(blocks, [](int64_t block) { return block == 0; });
  build(builder, state, type, pointer, dynamicStrides, staticStrides,
        isPlain ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(blocks),
        bytes);
}

SmallVector<OpFoldResult> ViewOp::getMixedStrides() {
  return getMixedValues(getStaticStrides(), getStrides(), getContext());
}

SmallVector<SmallVector<int64_t, 2>> ViewOp::getDimBlocks() {
  SmallVector<SmallVector<int64_t, 2>> dims;
  if (!getBlocks()) {
    dims.resize(getStaticStrides().size());
    return dims;
  }
  dims.emplace_back();
  for (int64_t block : getBlocks()->drop_back()) {
    if (block == 0) {
      dims.emplace_back();
    } else {
      dims.back().push_back(block);
    }
  }
  return dims;
}

int64_t ViewOp::getRunAlong(unsigned dim) {
  SmallVector<SmallVector<int64_t, 2>> dims = getDimBlocks();
  size_t first = dim;
  for (ArrayRef<int64_t> blocks : ArrayRef(dims).take_front(dim)) {
    first += blocks.size();
  }
  if (getStaticStrides()[first] != 1) {
    return 1;
  }
  return dims[dim].empty() ? std::numeric_limits<int64_t>::max()
                           : dims[dim].front();
}

ParseResult
tile::parseViewStrides(OpAsmParser &parser,
                       SmallVectorImpl<OpAsmParser::UnresolvedOperand> &strides,
                       DenseI64ArrayAttr &staticStrides,
                       DenseI64ArrayAttr &blocks) {
  SmallVector<int64_t> figures;
  SmallVector<int64_t> extents;
  // A stride, or the extent of a block with its stride; whether it is one.
  auto parsePart = [&](bool &isBlock) -> ParseResult {
    isBlock = false;
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult given = parser.parseOptionalOperand(operand);
    int64_t figure = ShapedType::kDynamic;
    if (given.has_value()) {
      strides.push_back(operand);
      figures.push_back(figure);
      return *given;
    }
    if (parser.parseInteger(figure)) {
      return failure();
    }
    isBlock = succeeded(parser.parseOptionalKeyword("of"));
    if (!isBlock) {
      figures.push_back(figure);
      return success();
    }
    extents.push_back(figure);
    given = parser.parseOptionalOperand(operand);
    if (given.has_value()) {
      strides.push_back(operand);
      figures.push_back(ShapedType::kDynamic);
      return *given;
    }
    return parser.parseInteger(figures.emplace_back());
  };
  auto parseDim = [&]() -> ParseResult {
    bool isBlock = false;
    do {
      if (parsePart(isBlock) || (isBlock && parser.parseKeyword("then"))) {
        return failure();
      }
    } while (isBlock);
    extents.push_back(0);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     parseDim)) {
    return failure();
  }
  Builder &builder = parser.getBuilder();
  staticStrides = builder.getDenseI64ArrayAttr(figures);
  if (llvm::any_of(extents, [](int64_t extent) { return extent != 0; })) {
    blocks = builder.getDenseI64ArrayAttr(extents);
  }
  return success();
}

void tile::printViewStrides(OpAsmPrinter &printer, ViewOp op,
                            OperandRange strides,
                            DenseI64ArrayAttr staticStrides,
                            DenseI64ArrayAttr blocks) {
  auto next = strides.begin();
  bool begins = true;
  printer << '[';
  for (auto [index, stride] : llvm::enumerate(staticStrides.asArrayRef())) {
    if (index != 0) {
      printer << (begins ? ", " : " then ");
    }
    int64_t block = blocks ? blocks[index] : 0;
    if (block != 0) {
      printer << block << " of ";
    }
    if (ShapedType::isDynamic(stride)) {
      printer << *next++;
    } else {
      printer << stride;
    }
    begins = block == 0;
  }
  printer << ']';
}

/// Checks that blocks are powers of two, and as many dimensions as the view
/// has.
static LogicalResult verifyBlocks(ViewOp op) {
  ViewType type = op.getResult().getType();
  size_t count = op.getStaticStrides().size();
  std::optional<ArrayRef<int64_t>> blocks = op.getBlocks();
  int64_t rank = blocks ? llvm::count(*blocks, 0) : count;
  if (rank != type.getRank()) {
    return op.emitOpError("has ")
           << rank << " strides, the view has rank " << type.getRank();
  }
  if (!blocks) {
    return success();
  }
  if (blocks->size() != count || blocks->empty() || blocks->back() != 0) {
    return op.emitOpError("needs an extent of a block for each of ")
           << count << " strides, and 0 for the last one of a dimension";
  }
  for (int64_t block : *blocks) {
    if (block != 0 && (block < 2 || !llvm::isPowerOf2_64(block))) {
      return op.emitOpError("the extent of a block must be a power of two of "
                            "at least 2, found ")
             << block;
    }
  }
  return success();
}

LogicalResult ViewOp::verify() {
  ViewType type = getResult().getType();
  if (failed(verifyBlocks(*this))) {
    return failure();
  }
  if (type.getElementType() != getPointer().getType().getElementType()) {
    return emitOpError("views elements of ")
           << type.getElementType() << " through a pointer to "
           << getPointer().getType().getElementType();
  }
  int64_t dynamic = llvm::count_if(getStaticStrides(), ShapedType::isDynamic);
  if (dynamic != static_cast<int64_t>(getStrides().size())) {
    return emitOpError("has ") << dynamic << " strides that vary, but "
                               << getStrides().size() << " values for them";
  }
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  for (int64_t stride : getStaticStrides()) {
    if (!ShapedType::isDynamic(stride) &&
        (stride < 0 || stride >= (int64_t(8) << 31) / bits)) {
      return emitOpError("a stride must be in [0, 2^31) bytes, found ")
             << stride << " elements of " << type.getElementType();
    }
  }
  return success();
}
