//===- TenonAttrs.cpp - attributes of the tenon dialect ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/Tenon.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::spec;

#include "dialects/Tenon/TenonEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tenon/TenonAttrs.cpp.inc"

void TenonDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tenon/TenonAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// The slot stride is a symbol; heads and the two head dimensions are dense.
/// The extents are not known here, so the map only orders the dimensions; the
/// strides come from getStridesAndOffset.
AffineMap StateLayoutAttr::getAffineMap() const {
  return AffineMap::getMultiDimIdentityMap(4, getContext());
}

bool StateLayoutAttr::isIdentity() const { return false; }

LogicalResult StateLayoutAttr::verifyLayout(
    ArrayRef<int64_t> shape,
    function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != 4) {
    return emitError() << "a state pool has 4 dimensions [slots, heads, D, D], "
                          "found "
                       << shape.size();
  }
  return success();
}

LogicalResult
StateLayoutAttr::getStridesAndOffset(ArrayRef<int64_t> shape,
                                     SmallVectorImpl<int64_t> &strides,
                                     int64_t &offset) const {
  if (shape.size() != 4 || ShapedType::isDynamic(shape[2]) ||
      ShapedType::isDynamic(shape[3])) {
    return failure();
  }
  strides.assign({ShapedType::kDynamic, shape[2] * shape[3], shape[3], 1});
  offset = 0;
  return success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// As of a pool of states, the map only orders the dimensions. There are no
/// strides: tiles of elements are permuted.
AffineMap WeightLayoutAttr::getAffineMap() const {
  return AffineMap::getMultiDimIdentityMap(2, getContext());
}

bool WeightLayoutAttr::isIdentity() const { return false; }

LogicalResult WeightLayoutAttr::verifyLayout(
    ArrayRef<int64_t> shape,
    function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != 2 && shape.size() != 3) {
    return emitError() << "weights have 2 dimensions [N, K], or 3 with experts "
                          "in front, found "
                       << shape.size();
  }
  return success();
}

int64_t WeightLayoutAttr::getExpertBytes(MemRefType type) {
  assert(type.getRank() == 3 && "weights of experts");
  int64_t rows = type.getDimSize(1), columns = type.getDimSize(2);
  // Scales of AITER's orders have a multiple of 32 rows.
  return isa<Float8E8M0FNUType>(type.getElementType())
             ? llvm::alignTo(rows, 32) * llvm::alignTo(columns, 8)
             : llvm::alignTo(rows, 16) * columns *
                   type.getElementTypeBitWidth() / 8;
}

LogicalResult WeightLayoutAttr::getStridesAndOffset(ArrayRef<int64_t>,
                                                    SmallVectorImpl<int64_t> &,
                                                    int64_t &) const {
  return failure();
}
