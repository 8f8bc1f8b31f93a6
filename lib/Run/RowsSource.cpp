//===- RowsSource.cpp - contents of operands in memory ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowsSource.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace tenon;
using namespace tenon::run;
using reference::ElementType;

RowsSource::RowsSource(ElementType type, uint64_t elementsPerRow,
                       uint64_t elementStride, std::vector<uint8_t> dense)
    : elementBytes(std::max(1U, reference::bitWidth(type) / 8)),
      rowElements(elementsPerRow * reference::bitWidth(type) /
                  (8 * elementBytes)),
      rowStride(elementStride * reference::bitWidth(type) / (8 * elementBytes)),
      dense(std::move(dense)),
      gap(reference::hasNaN(type)
              ? reference::encode(type,
                                  std::numeric_limits<double>::quiet_NaN())
              : 0) {}

void RowsSource::read(uint64_t offset,
                      llvm::MutableArrayRef<uint8_t> bytes) const {
  for (uint64_t done = 0; done < bytes.size(); ++done) {
    uint64_t element = (offset + done) / elementBytes;
    uint64_t byte = (offset + done) % elementBytes;
    uint64_t column = element % rowStride;
    uint64_t row = element / rowStride;
    uint64_t index = (row * rowElements + column) * elementBytes + byte;
    bytes[done] = column < rowElements && index < dense.size()
                      ? dense[index]
                      : static_cast<uint8_t>(gap >> (8 * byte));
  }
}

KeptSource::KeptSource(std::unique_ptr<reference::ByteSource> made,
                       uint64_t size)
    : made(std::move(made)), size(size),
      kept(std::make_unique_for_overwrite<uint8_t[]>(size)),
      flags(std::make_unique<std::once_flag[]>(
          llvm::divideCeil(size, chunkBytes))) {}

void KeptSource::read(uint64_t offset,
                      llvm::MutableArrayRef<uint8_t> bytes) const {
  uint64_t end = std::min<uint64_t>(offset + bytes.size(), size);
  if (offset >= size) {
    return made->read(offset, bytes);
  }
  for (uint64_t chunk = offset / chunkBytes; chunk * chunkBytes < end;
       ++chunk) {
    std::call_once(flags[chunk], [&] {
      uint64_t begin = chunk * chunkBytes;
      made->read(begin, {kept.get() + begin,
                         std::min<uint64_t>(chunkBytes, size - begin)});
    });
  }
  std::copy(kept.get() + offset, kept.get() + end, bytes.begin());
  if (end - offset < bytes.size()) {
    made->read(end, bytes.drop_front(end - offset));
  }
}
