//===- Tensor.h - Strided views of operands ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference reads its operands through an abstract source of bytes, so that
// a pool of hundreds of GiB whose pages are made on demand is an operand like
// any other.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_REFERENCE_TENSOR_H
#define TENON_REFERENCE_TENSOR_H

#include "tenon/Reference/ElementType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <vector>

namespace tenon::reference {

/// Readable memory. Implementations can be read from several threads at once.
class ByteSource {
public:
  virtual ~ByteSource();

  /// Reads the bytes at \p offset ... offset + bytes.size() - 1.
  virtual void read(uint64_t offset,
                    llvm::MutableArrayRef<uint8_t> bytes) const = 0;
};

/// Bytes in the memory of this process, not owned.
class MemorySource : public ByteSource {
public:
  explicit MemorySource(llvm::ArrayRef<uint8_t> memory) : memory(memory) {}

  void read(uint64_t offset,
            llvm::MutableArrayRef<uint8_t> bytes) const override;

private:
  llvm::ArrayRef<uint8_t> memory;
};

/// An operand: element (i, j, ...) is at element i*strides[0] + j*strides[1] +
/// ... of the source. Strides are not negative.
struct TensorView {
  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t, 4> shape;   ///< outermost first
  llvm::SmallVector<int64_t, 4> strides; ///< in elements, outermost first
  const ByteSource *source = nullptr;

  /// A view without gaps.
  static TensorView dense(ElementType type, llvm::ArrayRef<int64_t> shape,
                          const ByteSource *source);

  /// The value at \p index, which is inside the shape.
  double at(llvm::ArrayRef<int64_t> index) const;

  /// The value at \p index of a view of integers.
  int64_t intAt(llvm::ArrayRef<int64_t> index) const;

  /// The values of the block of \p extents at \p offset, row-major; the block
  /// is inside the shape.
  std::vector<double> block(llvm::ArrayRef<int64_t> offset,
                            llvm::ArrayRef<int64_t> extents) const;

  /// As block(), the codes of the elements.
  std::vector<uint64_t> codes(llvm::ArrayRef<int64_t> offset,
                              llvm::ArrayRef<int64_t> extents) const;

  /// Bytes from the first element of the view to the end of its last; 0 when
  /// it has no elements.
  uint64_t spanBytes() const;
};

/// Strides in elements of a row-major tensor of \p shape without gaps.
llvm::SmallVector<int64_t, 4> denseStrides(llvm::ArrayRef<int64_t> shape);

/// "[7, 1536]", for messages.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace tenon::reference

#endif // TENON_REFERENCE_TENSOR_H
