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

/// The code of element \p index of the elements that \p bytes hold.
static uint64_t codeAt(ElementType type, llvm::ArrayRef<uint8_t> bytes,
                       uint64_t index) {
  using namespace llvm::support::endian;
  switch (bitWidth(type)) {
  case 4:
    return (bytes[index / 2] >> (index % 2 * 4)) & 0xf;
  case 8:
    return bytes[index];
  case 16:
    return read16le(&bytes[index * 2]);
  case 32:
    return read32le(&bytes[index * 4]);
  default:
    return read64le(&bytes[index * 8]);
  }
}

/// Calls \p visit with the code of each of \p count consecutive elements, from
/// element \p first of \p source on.
template <typename Visit>
static void visitRun(ElementType type, const ByteSource &source, uint64_t first,
                     uint64_t count, llvm::SmallVectorImpl<uint8_t> &buffer,
                     Visit visit) {
  unsigned bits = bitWidth(type);
  uint64_t begin = first * bits / 8, end = ((first + count) * bits + 7) / 8;
  buffer.resize_for_overwrite(end - begin);
  source.read(begin, buffer);
  // A run of 4-bit elements may begin in the high half of a byte.
  uint64_t skipped = first - begin * 8 / bits;
  for (uint64_t i = 0; i < count; ++i) {
    visit(codeAt(type, buffer, skipped + i));
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

std::vector<double> TensorView::block(llvm::ArrayRef<int64_t> offset,
                                      llvm::ArrayRef<int64_t> extents) const {
  std::vector<double> values;
  visitBlock(*this, offset, extents,
             [&](uint64_t code) { values.push_back(decode(type, code)); });
  return values;
}

std::vector<uint64_t> TensorView::codes(llvm::ArrayRef<int64_t> offset,
                                        llvm::ArrayRef<int64_t> extents) const {
  std::vector<uint64_t> values;
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
