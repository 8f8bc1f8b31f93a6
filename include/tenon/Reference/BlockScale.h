//===- BlockScale.h - values that share a scale ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_BLOCKSCALE_H
#define TENON_REFERENCE_BLOCKSCALE_H

#include "tenon/Reference/ElementType.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace tenon::reference {

/// How the scale 2^s of a block follows from its greatest magnitude amax; `max`
/// is that of the type.
enum class ScaleMode {
  Up,    ///< the least with 2^s >= amax / max
  Floor, ///< s = floor(log2 amax) - floor(log2 max) (OCP MX)
  /// Floor of amax rounded to the mantissa of the type, halves upwards.
  Even,
};

/// Codes of a type of 8 or 4 bits and the code of their scale, an E8M0.
struct ScaledBlock {
  std::vector<uint64_t> codes;
  uint64_t scale = 0;

  /// The values, times the scale.
  std::vector<double> values(ElementType type) const;
};

/// \p values rounded to \p type, FP8E4M3 or FP4E2M1, with a scale of their own.
/// s is at least -127. Values beyond the greatest of the type become it; a
/// block with an infinity or NaN has the scale NaN and codes of 0.
ScaledBlock scaleBlock(llvm::ArrayRef<double> values, ElementType type,
                       ScaleMode mode);

} // namespace tenon::reference

#endif // TENON_REFERENCE_BLOCKSCALE_H
