//===- RowsSource.h - contents of operands in memory ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_ROWSSOURCE_H
#define TENON_LIB_RUN_ROWSSOURCE_H

#include "tenon/Reference/Tensor.h"

#include <memory>
#include <mutex>

namespace tenon::run {

/// Rows of codes with gaps between them; gaps hold NaN, or zero in types
/// without. Rows and strides of 4-bit elements are whole bytes, which are taken
/// as the elements.
class RowsSource : public reference::ByteSource {
public:
  RowsSource(reference::ElementType type, uint64_t elementsPerRow,
             uint64_t elementStride, std::vector<uint8_t> dense);

  void read(uint64_t offset,
            llvm::MutableArrayRef<uint8_t> bytes) const override;

private:
  uint64_t elementBytes;
  uint64_t rowElements;
  uint64_t rowStride;
  std::vector<uint8_t> dense;
  uint64_t gap;
};

/// Keeps what another source makes: the device reads it, and the reference may
/// read it many times.
class KeptSource : public reference::ByteSource {
public:
  /// For an operand of \p size bytes.
  KeptSource(std::unique_ptr<reference::ByteSource> made, uint64_t size);

  void read(uint64_t offset,
            llvm::MutableArrayRef<uint8_t> bytes) const override;

private:
  static constexpr uint64_t chunkBytes = 1 << 16;
  std::unique_ptr<reference::ByteSource> made;
  uint64_t size;
  std::unique_ptr<uint8_t[]> kept; ///< undefined until its chunk is read
  std::unique_ptr<std::once_flag[]> flags;
};

} // namespace tenon::run

#endif // TENON_LIB_RUN_ROWSSOURCE_H
