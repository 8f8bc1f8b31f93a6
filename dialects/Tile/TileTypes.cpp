//===- TileTypes.cpp - types of the tile dialect ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::tile;

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Tile/TileTypes.cpp.inc"
      >();
}

/// What device memory can hold.
static LogicalResult verifyElement(function_ref<InFlightDiagnostic()> emitError,
                                   Type elementType) {
  if (!elementType.isIntOrFloat()) {
    return emitError()
           << "expected elements that are integers or floats, found "
           << elementType;
  }
  return success();
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Type elementType) {
  return verifyElement(emitError, elementType);
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rank, Type elementType) {
  if (rank < 0) {
    return emitError() << "expected a rank of 0 or more, found " << rank;
  }
  return verifyElement(emitError, elementType);
}

// More than any chip has, and little enough to add up buffers without overflow.
static constexpr int64_t maxLdsBytes = int64_t(1) << 30;
static constexpr int64_t widestLdsAccess = 16;

Type LdsType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  LdsLayoutAttr layout;
  int64_t stages = 1;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType)) {
    return {};
  }
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("stages"))) {
      if (parser.parseEqual() || parser.parseInteger(stages)) {
        return {};
      }
    } else if (parser.parseAttribute(layout)) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return LdsType::getChecked([&] { return parser.emitError(loc); },
                             parser.getContext(), shape, elementType, layout,
                             stages);
}

void LdsType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  if (!getShape().empty()) {
    printer << "x";
  }
  printer << getElementType();
  if (getLayout()) {
    printer << ", " << getLayout();
  }
  if (getStages() != 1) {
    printer << ", stages = " << getStages();
  }
  printer << ">";
}

LogicalResult LdsType::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<int64_t> shape, Type elementType,
                              LdsLayoutAttr layout, int64_t stages) {
  if (!elementType.isIntOrFloat() ||
      elementType.getIntOrFloatBitWidth() % 8 != 0) {
    return emitError() << "an LDS buffer holds integers or floats of whole "
                          "bytes, found "
                       << elementType;
  }
  int64_t bytes = elementType.getIntOrFloatBitWidth() / 8;
  for (int64_t extent : shape) {
    if (extent < 1) {
      return emitError() << "expected positive extents of an LDS buffer, found "
                         << extent;
    }
    if (llvm::MulOverflow(bytes, extent, bytes) || bytes > maxLdsBytes) {
      return emitError() << "an LDS buffer has at most " << maxLdsBytes
                         << " bytes";
    }
  }
  if (stages < 1) {
    return emitError() << "expected 1 stage of an LDS buffer or more, found "
                       << stages;
  }
  if (layout) {
    const layout::LdsLayout &map = layout.getLayout();
    if (map.shape() != shape ||
        map.elementBits() != elementType.getIntOrFloatBitWidth()) {
      InFlightDiagnostic diag = emitError();
      diag << "the LDS layout is of [";
      llvm::interleaveComma(map.shape(), diag);
      diag << "] elements of " << map.elementBits() << " bits, the buffer of [";
      llvm::interleaveComma(shape, diag);
      return diag << "] x " << elementType;
    }
    bytes = map.sizeInBytes();
  }
  if (bytes > maxLdsBytes || stages > maxLdsBytes / bytes) {
    return emitError() << "an LDS buffer has at most " << maxLdsBytes
                       << " bytes";
  }
  return success();
}

layout::LdsLayout LdsType::getLdsLayout() const {
  return getLayout()
             ? getLayout().getLayout()
             : layout::LdsLayout::rowMajor(
                   getShape(), getElementType().getIntOrFloatBitWidth());
}

LdsType LdsType::getStageType() const {
  return get(getContext(), getShape(), getElementType(), getLayout(), 1);
}

int64_t LdsType::getStageBytes() const {
  return llvm::alignTo(getLdsLayout().sizeInBytes(), widestLdsAccess);
}

int64_t LdsType::getBytes() const {
  return (getStages() - 1) * getStageBytes() + getLdsLayout().sizeInBytes();
}
