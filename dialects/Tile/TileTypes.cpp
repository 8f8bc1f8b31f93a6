//===- TileTypes.cpp - types of the tile dialect ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
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

Type LdsType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseGreater()) {
    return {};
  }
  return LdsType::getChecked([&] { return parser.emitError(loc); },
                             parser.getContext(), shape, elementType);
}

void LdsType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  if (!getShape().empty()) {
    printer << "x";
  }
  printer << getElementType() << ">";
}

LogicalResult LdsType::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<int64_t> shape, Type elementType) {
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
  return success();
}

int64_t LdsType::getBytes() const {
  int64_t bytes = getElementType().getIntOrFloatBitWidth() / 8;
  for (int64_t extent : getShape()) {
    bytes *= extent;
  }
  return bytes;
}
