//===- Operand.cpp - An array as an operand of a kernel ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Operand.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace tenon::python {

namespace {

/// DLDataTypeCode.
enum Code : uint8_t {
  Int = 0,
  UInt = 1,
  Float = 2,
  Bfloat = 4,
  Bool = 6,
  E4M3FN = 10,
  E4M3FNUZ = 11,
  E5M2 = 12,
  E8M0FNU = 14,
  E2M1FN = 17,
};

/// A type of an array that is taken for a type of a kernel.
struct Spelling {
  tenon_dtype type;
  uint8_t code;
  uint8_t bits;
};

constexpr Spelling spellings[] = {
    {TENON_F32, Float, 32},     {TENON_F64, Float, 64},
    {TENON_F16, Float, 16},     {TENON_BF16, Bfloat, 16},
    {TENON_BF16, UInt, 16},     {TENON_I8, Int, 8},
    {TENON_I8, UInt, 8},        {TENON_I8, Bool, 8},
    {TENON_U8, UInt, 8},        {TENON_BOOL, Bool, 8},
    {TENON_BOOL, UInt, 8},      {TENON_I16, Int, 16},
    {TENON_I32, Int, 32},       {TENON_I64, Int, 64},
    {TENON_F8E4M3, E4M3FN, 8},  {TENON_F8E4M3, UInt, 8},
    {TENON_F8E5M2, E5M2, 8},    {TENON_F8E5M2, UInt, 8},
    {TENON_F8E8M0, E8M0FNU, 8}, {TENON_F8E8M0, UInt, 8},
    {TENON_F4E2M1, E2M1FN, 4},  {TENON_F4E2M1, UInt, 8},
};

} // namespace

const char *typeName(tenon_dtype type) {
  switch (type) {
  case TENON_F32:
    return "f32";
  case TENON_F64:
    return "f64";
  case TENON_F16:
    return "f16";
  case TENON_BF16:
    return "bf16";
  case TENON_F8E4M3:
    return "f8E4M3FN";
  case TENON_F8E5M2:
    return "f8E5M2";
  case TENON_F8E8M0:
    return "f8E8M0FNU";
  case TENON_F4E2M1:
    return "f4E2M1FN";
  case TENON_I8:
    return "i8";
  case TENON_U8:
    return "u8";
  case TENON_I16:
    return "i16";
  case TENON_I32:
    return "i32";
  case TENON_I64:
    return "i64";
  case TENON_BOOL:
    return "bool";
  }
  return "an unknown type";
}

static std::string list(const std::vector<std::string> &items) {
  std::string text = "[";
  for (const std::string &item : items) {
    text += (text.size() == 1 ? "" : ", ") + item;
  }
  return text + "]";
}

static std::string list(const std::vector<int64_t> &numbers) {
  std::vector<std::string> items;
  for (int64_t number : numbers) {
    items.push_back(std::to_string(number));
  }
  return list(items);
}

std::string describe(const tenon_operand &expected) {
  std::vector<std::string> items;
  for (uint32_t dim = 0; dim < expected.rank; ++dim) {
    items.push_back(expected.sizes[dim] >= 0
                        ? std::to_string(expected.sizes[dim])
                        : expected.symbols[dim]);
  }
  return typeName(expected.dtype) + (" " + list(items));
}

/// The stride of the dimensions \p begin .. \p end of \p view seen as one, if
/// they lie in memory so. The stride of a dimension of size 1 means nothing.
static std::optional<int64_t> strideOfGroup(const OperandView &view,
                                            size_t begin, size_t end) {
  std::optional<int64_t> inner;
  int64_t expected = 0;
  for (size_t dim = end; dim-- > begin;) {
    if (view.sizes[dim] == 1) {
      continue;
    }
    if (!inner) {
      inner = view.strides[dim];
    } else if (view.strides[dim] != expected) {
      return std::nullopt;
    }
    expected = view.strides[dim] * view.sizes[dim];
  }
  return inner ? inner : view.strides[end - 1];
}

/// Reads the dimensions of \p given from \p at on as those of \p expected from
/// \p index on, and appends them to \p result.
static bool match(const tenon_operand &expected, uint32_t index,
                  const OperandView &given, size_t at, OperandView &result) {
  const size_t rank = given.sizes.size();
  if (index == expected.rank) {
    return std::all_of(given.sizes.begin() + at, given.sizes.end(),
                       [](int64_t size) { return size == 1; });
  }
  auto take = [&](size_t end, int64_t size, int64_t stride) {
    result.sizes.push_back(size);
    result.strides.push_back(stride);
    if (match(expected, index + 1, given, end, result)) {
      return true;
    }
    result.sizes.pop_back();
    result.strides.pop_back();
    return false;
  };
  const int64_t fixed = expected.sizes[index];
  if (fixed < 0) {
    if (at < rank && take(at + 1, given.sizes[at], given.strides[at])) {
      return true;
    }
  } else {
    int64_t size = 1;
    for (size_t end = at + 1; end <= rank; ++end) {
      size *= given.sizes[end - 1];
      if (size > fixed) {
        break;
      }
      std::optional<int64_t> stride = strideOfGroup(given, at, end);
      if (size == fixed && stride && take(end, size, *stride)) {
        return true;
      }
    }
  }
  // One of size 1 that the kernel does not have.
  return at < rank && given.sizes[at] == 1 &&
         match(expected, index, given, at + 1, result);
}

OperandView viewAs(const tenon_operand &expected, const DlArray &array) {
  auto mismatch = [&](const std::string &why) {
    return std::runtime_error("expected " + describe(expected) + ", found " +
                              array.typeName() + " " + list(array.sizes) +
                              " with strides " + list(array.strides) + why);
  };
  const bool isFp4 = expected.dtype == TENON_F4E2M1;
  // As torch has them: two values in an element.
  const bool isPair = isFp4 && array.typeLanes == 2 && array.typeBits == 4;
  bool known = array.typeLanes == 1 || isPair;
  known &= std::any_of(std::begin(spellings), std::end(spellings),
                       [&](const Spelling &spelling) {
                         return expected.dtype == spelling.type &&
                                array.typeCode == spelling.code &&
                                array.typeBits == spelling.bits;
                       });
  if (!known) {
    throw mismatch(": the type differs");
  }
  OperandView given = {array.sizes, array.strides};
  if (isFp4 && (isPair || array.typeBits == 8)) {
    if (given.sizes.empty() ||
        (given.sizes.back() > 1 && given.strides.back() != 1)) {
      throw mismatch(": the bytes of a row must lie side by side");
    }
    for (int64_t &stride : given.strides) {
      stride *= 2;
    }
    given.sizes.back() *= 2;
    given.strides.back() = 1;
  }
  // As it is, before dimensions of size 1 are taken for superfluous.
  if (given.sizes.size() == expected.rank &&
      std::equal(given.sizes.begin(), given.sizes.end(), expected.sizes,
                 [](int64_t size, int64_t fixed) {
                   return fixed < 0 || size == fixed;
                 })) {
    return given;
  }
  OperandView result;
  if (!match(expected, 0, given, 0, result)) {
    throw mismatch("");
  }
  return result;
}

uint64_t denseBytes(const DlArray &array) {
  int64_t elements = 1;
  for (size_t dim = array.sizes.size(); dim-- > 0;) {
    if (array.sizes[dim] > 1 && array.strides[dim] != elements) {
      throw std::runtime_error("expected bytes without gaps, found sizes " +
                               list(array.sizes) + " with strides " +
                               list(array.strides));
    }
    elements *= array.sizes[dim];
  }
  return (uint64_t(elements) * array.typeBits * array.typeLanes + 7) / 8;
}

} // namespace tenon::python
