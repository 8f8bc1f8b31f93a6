//===- ElementTypes.h - types of operands and their extents -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DISPATCH_ELEMENTTYPES_H
#define TENON_RUNTIME_DISPATCH_ELEMENTTYPES_H

#include "tenon-c/tenon.h"
#include "tenon/Runtime/Plan.h"
#include "tenon/Runtime/Result.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::runtime {

struct ElementType {
  std::string_view name; ///< as plans spell it: "f8E4M3FN"
  tenon_dtype dtype;
  unsigned bits;
};

/// The type that plans call \p name, or that callers call \p dtype; null for
/// another.
const ElementType *findElementType(std::string_view name);
const ElementType *findElementType(tenon_dtype dtype);

/// Whether an operand of \p expected may be given as \p found.
bool accepts(const ElementType &expected, tenon_dtype found);

/// The bytes from the address of an operand on that belong to it. Errors:
/// negative strides, and extents beyond 64 bits.
Result<uint64_t> operandBytes(const PlanOperand &operand,
                              std::span<const int64_t> sizes,
                              std::span<const int64_t> strides);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DISPATCH_ELEMENTTYPES_H
