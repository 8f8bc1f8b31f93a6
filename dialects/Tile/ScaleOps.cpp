//===- ScaleOps.cpp - codes and the scales of their blocks ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::tile;

/// Whether \p tile has the shape of \p values with blocks of \p factor of them
/// along \p dim.
static bool coarsens(RankedTensorType values, RankedTensorType tile,
                     int64_t dim, int64_t factor) {
  int64_t rank = values.getRank();
  if (tile.getRank() != rank || dim >= rank) {
    return false;
  }
  for (int64_t other = 0; other < rank; ++other) {
    int64_t blocks = tile.getDimSize(other);
    if (blocks * (other == dim ? factor : 1) != values.getDimSize(other)) {
      return false;
    }
  }
  return true;
}

LogicalResult DequantizeOp::verify() {
  auto codes = cast<RankedTensorType>(getCodes().getType());
  auto scales = cast<RankedTensorType>(getScales().getType());
  auto result = cast<RankedTensorType>(getType());
  if (!codes.getElementType().isInteger(8) ||
      !isa<Float8E8M0FNUType>(scales.getElementType()) ||
      !(result.getElementType().isBF16() || result.getElementType().isF16())) {
    return emitOpError("makes bf16 or f16 of i8 codes and f8E8M0FNU scales, "
                       "found ")
           << result << " of " << codes << " and " << scales;
  }
  int64_t dim = getDim();
  if (!coarsens(result, codes, dim, 2) ||
      !coarsens(result, scales, dim, MmaOp::scaleBlock)) {
    return emitOpError("has half as many codes and 1/32 as many scales as "
                       "results along dimension ")
           << dim << ", found " << codes << ", " << scales << " and " << result;
  }
  return success();
}

int64_t QuantizeOp::getPacking() {
  return cast<RankedTensorType>(getType()).getElementType().isInteger(8) ? 2
                                                                         : 1;
}

LogicalResult QuantizeOp::verify() {
  auto values = cast<RankedTensorType>(getValues().getType());
  auto scales = cast<RankedTensorType>(getScales().getType());
  auto result = cast<RankedTensorType>(getType());
  Type code = result.getElementType();
  Type wide = values.getElementType();
  if (!(code.isInteger(8) || isa<Float8E4M3FNType>(code)) ||
      !(wide.isF32() || wide.isBF16()) || !scales.getElementType().isF32()) {
    return emitOpError("makes f8E4M3FN or i8 codes of f32 or bf16 values and "
                       "f32 scales, found ")
           << result << " of " << values << " and " << scales;
  }
  int64_t dim = getDim();
  if (!coarsens(values, result, dim, getPacking()) ||
      !coarsens(values, scales, dim, MmaOp::scaleBlock)) {
    return emitOpError("has ")
           << (getPacking() == 2 ? "half" : "just")
           << " as many codes and 1/32 as many scales as values along "
              "dimension "
           << dim << ", found " << result << ", " << scales << " and "
           << values;
  }
  return success();
}
