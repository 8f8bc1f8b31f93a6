//===- Quantize.h - values and the scales of their blocks -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MOE_QUANTIZE_H
#define TENON_LIB_KERNELS_MOE_QUANTIZE_H

#include "../TileBuilder.h"

#include "dialects/Tenon/Tenon.h"

namespace tenon::kernels::moe {

/// Bits of a value in \p format.
int64_t bitsOf(spec::Format format);
/// The element type in which kernels address it: bytes hold two of fp4.
mlir::Type elementOf(spec::Format format, mlir::Builder &builder);

/// Values in a format and, of fp8 and fp4, the E8M0 scales of blocks of 32
/// along the last dimension, as i8.
struct Codes {
  mlir::Value values;
  mlir::Value scales;
};

/// \p x, a tile [rows, columns] of f32 or bf16, rounded to \p format as
/// tenon.moe_experts says: a scale by \p mode for each 32 columns, the smallest
/// for zeros and NaN where one of them is infinite or NaN.
Codes quantize(TileBuilder &t, mlir::Value x, spec::Format format,
               spec::ScaleMode mode);

} // namespace tenon::kernels::moe

#endif // TENON_LIB_KERNELS_MOE_QUANTIZE_H
