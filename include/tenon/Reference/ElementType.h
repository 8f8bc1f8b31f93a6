//===- ElementType.h - Element types of operands ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_ELEMENTTYPE_H
#define TENON_REFERENCE_ELEMENTTYPE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace tenon::reference {

/// Element type of an operand in memory, little endian. Two elements of a
/// 4-bit type share a byte, the first in its low half.
enum class ElementType {
  F32,
  F16,
  BF16,
  FP8E4M3, ///< OCP: no infinity, largest value 448
  FP8E5M2, ///< OCP: IEEE-like, with infinity
  FP4E2M1, ///< OCP MX: no infinity, no NaN, largest value 6
  E8M0,    ///< OCP MX scale 2^(code - 127); code 255 is NaN
  I64,
  I32,
  I8,
};

/// Storage bits of one element: 64, 32, 16, 8 or 4.
unsigned bitWidth(ElementType type);

/// The name of the corresponding MLIR type: "bf16", "f8E4M3FN", "i32" ...
llvm::StringRef name(ElementType type);

/// The type that name() spells \p spelling.
std::optional<ElementType> parseElementType(llvm::StringRef spelling);

bool isInteger(ElementType type);

/// Whether some code of \p type is a NaN.
bool hasNaN(ElementType type);

/// The value of \p code (in its low bitWidth bits). Exact but for integers
/// beyond 2^53.
double decode(ElementType type, uint64_t code);

/// The code of \p value, rounded to nearest even. Values too large become
/// infinity where the type has one, else the largest of their sign; a NaN
/// becomes the quiet NaN, and for types without one it must not occur. E8M0
/// takes the nearest power of two on a logarithmic scale; integers round and
/// saturate.
uint64_t encode(ElementType type, double value);

} // namespace tenon::reference

#endif // TENON_REFERENCE_ELEMENTTYPE_H
