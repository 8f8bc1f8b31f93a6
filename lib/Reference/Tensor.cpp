//===- Tensor.cpp - Strided views of operands -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <cassert>
#include <cstring>

namespace tenon::reference {

ByteSource::~ByteSource() = default;

void MemorySource::read(uint64_t offset,
                        llvm::MutableArrayRef<uint8_t> bytes) const {
  assert(offset <= memory.size() && bytes.size() <= memory.size() - offset &&
         "read outside the memory");
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), memory.data() + offset, bytes.size());
  }
}

llvm::SmallVector<int64_t, 4> denseStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t, 4> strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i) {
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  }
  return strides;
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(
             llvm::map_range(shape,
                             [](int64_t size) { return std::to_string(size); }),
             ", ") +
         "]";
}

TensorView TensorView::dense(ElementType type, llvm::ArrayRef<int64_t> shape,
                             const ByteSource *source) {
  return {type, llvm::SmallVector<int64_t, 4>(shape), denseStrides(shape),
          source};
}

/// Calls \p visit with the code of each of \p count consecutive elements, from
/// element \p first of \p source on.
template <typename Visit>
static void visitRun(ElementType type, const ByteSource &source, uint64_t first,
                     uint64_t count, llvm::SmallVectorImpl<uint8_t> &buffer,
                     Visit visit) {
  using namespace llvm::support::endian;
  unsigned bits = bitWidth(type);
  uint64_t begin = first * bits / 8, end = ((first + count) * bits + 7) / 8;
  buffer.resize_for_overwrite(end - begin);
  source.read(begin, buffer);
  const uint8_t *bytes = buffer.data();
  switch (bits) {
  case 4:
    // A run may begin in the high half of a byte.
    for (uint64_t i = first % 2; i < first % 2 + count; ++i) {
      visit((bytes[i / 2] >> (i % 2 * 4)) & 0xf);
    }
    return;
  case 8:
    for (uint64_t i = 0; i < count; ++i) {
      visit(bytes[i]);
    }
    return;
  case 16:
    for (uint64_t i = 0; i < count; ++i) {
      visit(read16le(bytes + i * 2));
    }
    return;
  case 32:
    for (uint64_t i = 0; i < count; ++i) {
      visit(read32le(bytes + i * 4));
    }
    return;
  default:
    for (uint64_t i = 0; i < count; ++i) {
      visit(read64le(bytes + i * 8));
    }
    return;
  }
}

/// Calls \p visit with the codes of the block in row-major order.
template <typename Visit>
static void visitBlock(const TensorView &view, llvm::ArrayRef<int64_t> offset,
                       llvm::ArrayRef<int64_t> extents, Visit visit) {
  size_t rank = view.shape.size();
  assert(offset.size() == rank && extents.size() == rank && "wrong rank");
  int64_t base = 0;
  bool empty = false;
  for (size_t d = 0; d < rank; ++d) {
    assert(offset[d] >= 0 && extents[d] >= 0 &&
           offset[d] + extents[d] <= view.shape[d] && "block outside the view");
    base += offset[d] * view.strides[d];
    empty |= extents[d] == 0;
  }
  if (empty) {
    return;
  }
  // The innermost dimension is read as one run when its elements touch.
  bool hasRun = rank > 0 && view.strides[rank - 1] == 1;
  size_t outerRank = hasRun ? rank - 1 : rank;
  int64_t runLength = hasRun ? extents[rank - 1] : 1;
  llvm::SmallVector<int64_t, 4> index(outerRank, 0);
  llvm::SmallVector<uint8_t, 1024> buffer;
  while (true) {
    int64_t element = base;
    for (size_t d = 0; d < outerRank; ++d) {
      element += index[d] * view.strides[d];
    }
    visitRun(view.type, *view.source, element, runLength, buffer, visit);
    size_t d = outerRank;
    while (d > 0 && ++index[d - 1] == extents[d - 1]) {
      index[--d] = 0;
    }
    if (d == 0) {
      return;
    }
  }
}

static uint64_t codeOf(const TensorView &view, llvm::ArrayRef<int64_t> index) {
  uint64_t result = 0;
  llvm::SmallVector<int64_t, 4> ones(index.size(), 1);
  visitBlock(view, index, ones, [&](uint64_t code) { result = code; });
  return result;
}

double TensorView::at(llvm::ArrayRef<int64_t> index) const {
  return decode(type, codeOf(*this, index));
}

int64_t TensorView::intAt(llvm::ArrayRef<int64_t> index) const {
  uint64_t code = codeOf(*this, index);
  switch (type) {
  case ElementType::I8:
    return int8_t(code);
  case ElementType::I32:
    return int32_t(code);
  default:
    assert(type == ElementType::I64 && "view of floats read as integers");
    return int64_t(code);
  }
}

static size_t elementCount(llvm::ArrayRef<int64_t> extents) {
  size_t count = 1;
  for (int64_t extent : extents) {
    count *= size_t(extent);
  }
  return count;
}

std::vector<double> TensorView::block(llvm::ArrayRef<int64_t> offset,
                                      llvm::ArrayRef<int64_t> extents) const {
  std::vector<double> values;
  values.reserve(elementCount(extents));
  visitBlock(*this, offset, extents,
             [&](uint64_t code) { values.push_back(decode(type, code)); });
  return values;
}

std::vector<uint64_t> TensorView::codes(llvm::ArrayRef<int64_t> offset,
                                        llvm::ArrayRef<int64_t> extents) const {
  std::vector<uint64_t> values;
  values.reserve(elementCount(extents));
  visitBlock(*this, offset, extents,
             [&](uint64_t code) { values.push_back(code); });
  return values;
}

uint64_t TensorView::spanBytes() const {
  uint64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) {
      return 0;
    }
    last += uint64_t(shape[d] - 1) * uint64_t(strides[d]);
  }
  return ((last + 1) * bitWidth(type) + 7) / 8;
}

} // namespace tenon::reference
