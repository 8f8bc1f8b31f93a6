//===- StridedSource.h - dense contents at any strides ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_STRIDEDSOURCE_H
#define TENON_LIB_RUN_STRIDEDSOURCE_H

#include "tenon/Reference/Tensor.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace tenon::run {

/// The memory of an operand whose elements are those of a dense source, at the
/// strides of \p view. What lies between them holds NaN, or zero in types
/// without. Elements are whole bytes.
class StridedSource : public reference::ByteSource {
public:
  StridedSource(const reference::TensorView &view,
                std::unique_ptr<reference::ByteSource> dense);

  void read(uint64_t offset,
            llvm::MutableArrayRef<uint8_t> bytes) const override;

private:
  struct Dim {
    uint64_t size, stride, denseStride;
  };
  /// Those of more than one element, by falling stride.
  llvm::SmallVector<Dim, 4> dims;
  std::unique_ptr<reference::ByteSource> dense;
  uint64_t elementBytes;
  uint64_t gap; ///< the code between elements
};

/// Gives \p view the strides of a call, outermost first; dimensions behind them
/// stay dense. Errors name \p operand: too many strides, elements that share
/// memory.
llvm::Error applyStrides(llvm::StringRef operand, reference::TensorView &view,
                         llvm::ArrayRef<int64_t> strides);

} // namespace tenon::run

#endif // TENON_LIB_RUN_STRIDEDSOURCE_H
