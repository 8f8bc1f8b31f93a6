//===- ElementTypes.cpp - types of operands and their extents ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementTypes.h"

#include <fmt/format.h>

namespace tenon::runtime {

static constexpr ElementType elementTypes[] = {
    {"f32", TENON_F32, 32},        {"f16", TENON_F16, 16},
    {"bf16", TENON_BF16, 16},      {"f8E4M3FN", TENON_F8E4M3, 8},
    {"f8E5M2", TENON_F8E5M2, 8},   {"f8E8M0FNU", TENON_F8E8M0, 8},
    {"f4E2M1FN", TENON_F4E2M1, 4}, {"i8", TENON_I8, 8},
    {"u8", TENON_U8, 8},           {"i32", TENON_I32, 32},
    {"i64", TENON_I64, 64},        {"i1", TENON_BOOL, 8},
    {"f64", TENON_F64, 64},        {"i16", TENON_I16, 16},
};

const ElementType *findElementType(std::string_view name) {
  for (const ElementType &type : elementTypes) {
    if (type.name == name) {
      return &type;
    }
  }
  return nullptr;
}

const ElementType *findElementType(tenon_dtype dtype) {
  for (const ElementType &type : elementTypes) {
    if (type.dtype == dtype) {
      return &type;
    }
  }
  return nullptr;
}

bool accepts(const ElementType &expected, tenon_dtype found) {
  return found == expected.dtype || (found == TENON_U8 && expected.bits <= 8) ||
         (found == TENON_BOOL && expected.dtype == TENON_I8);
}

/// \p value rounded up to a multiple of \p factor.
static uint64_t roundUp(uint64_t value, uint64_t factor) {
  return (value + factor - 1) / factor * factor;
}

Result<uint64_t> operandBytes(const PlanOperand &operand,
                              std::span<const int64_t> sizes,
                              std::span<const int64_t> strides) {
  const ElementType *type = findElementType(operand.elementType);
  if (!type) {
    return Error{fmt::format("operand '{}' is of an unknown type '{}'",
                             operand.name, operand.elementType)};
  }
  for (int64_t size : sizes) {
    if (size == 0) {
      return uint64_t(0);
    }
  }
  if (!operand.layout.empty() && sizes.size() >= 2) {
    // dialects/Tenon/TenonAttrs.td, weight_layout: what fills up is part of it.
    bool isScales = type->dtype == TENON_F8E8M0;
    uint64_t experts = sizes.size() == 3 ? sizes[0] : 1;
    uint64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
    if (isScales) {
      columns = roundUp(columns, 8);
      rows = operand.layout == "packed"  ? experts * roundUp(rows, 32)
             : operand.layout == "aiter" ? roundUp(experts * rows, 256)
                                         : experts * rows;
    } else {
      rows = experts * roundUp(rows, 16);
    }
    return rows * columns * type->bits / 8;
  }
  uint64_t last = 0; // index of the last element
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    uint64_t step = 0;
    if (strides[dim] < 0 && sizes[dim] > 1) {
      return Error{fmt::format("operand '{}' has the negative stride {}",
                               operand.name, strides[dim])};
    }
    if (sizes[dim] > 1 &&
        (__builtin_mul_overflow(uint64_t(sizes[dim] - 1),
                                uint64_t(strides[dim]), &step) ||
         __builtin_add_overflow(last, step, &last))) {
      return Error{fmt::format("operand '{}' is larger than the address space",
                               operand.name)};
    }
  }
  if (last >= uint64_t(1) << 57) {
    return Error{fmt::format("operand '{}' is larger than the address space",
                             operand.name)};
  }
  return ((last + 1) * type->bits + 7) / 8;
}

} // namespace tenon::runtime
