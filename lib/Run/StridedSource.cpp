//===- StridedSource.cpp - dense contents at any strides --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StridedSource.h"

#include "tenon/Run/Run.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace tenon;
using namespace tenon::run;

StridedSource::StridedSource(const reference::TensorView &view,
                             std::unique_ptr<reference::ByteSource> dense)
    : dense(std::move(dense)), elementBytes(reference::bitWidth(view.type) / 8),
      gap(reference::hasNaN(view.type)
              ? reference::encode(view.type,
                                  std::numeric_limits<double>::quiet_NaN())
              : 0) {
  uint64_t denseStride = 1;
  for (size_t dim = view.shape.size(); dim-- > 0;) {
    auto size = uint64_t(view.shape[dim]);
    if (size > 1) {
      dims.push_back({size, uint64_t(view.strides[dim]), denseStride});
    }
    denseStride *= size;
  }
  llvm::stable_sort(dims, [](const Dim &left, const Dim &right) {
    return left.stride > right.stride;
  });
}

void StridedSource::read(uint64_t offset,
                         llvm::MutableArrayRef<uint8_t> bytes) const {
  for (uint64_t done = 0; done < bytes.size();) {
    uint64_t rest = (offset + done) / elementBytes;
    uint64_t byte = (offset + done) % elementBytes;
    uint64_t index = 0;
    bool inside = true;
    // Elements from here to the end of a contiguous run.
    uint64_t run = 1;
    for (const Dim &dim : dims) {
      uint64_t position = rest / dim.stride;
      inside = inside && position < dim.size;
      index += position * dim.denseStride;
      rest %= dim.stride;
      if (dim.stride == 1 && dim.denseStride == 1 && inside) {
        run = dim.size - position;
      }
    }
    inside = inside && rest == 0;
    uint64_t count = std::min<uint64_t>(
        (inside ? run : 1) * elementBytes - byte, bytes.size() - done);
    if (inside) {
      dense->read(index * elementBytes + byte, bytes.slice(done, count));
    } else {
      for (uint64_t i = 0; i < count; ++i) {
        bytes[done + i] = static_cast<uint8_t>(gap >> (8 * (byte + i)));
      }
    }
    done += count;
  }
}

/// Whether no two elements of \p view share memory.
static bool isInjective(const reference::TensorView &view) {
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> dims;
  for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides)) {
    if (size == 0) {
      return true;
    }
    if (size > 1) {
      dims.emplace_back(stride, size);
    }
  }
  llvm::sort(dims);
  int64_t span = 1;
  for (auto [stride, size] : dims) {
    if (stride < span) {
      return false;
    }
    span += (size - 1) * stride;
  }
  return true;
}

llvm::Error run::applyStrides(llvm::StringRef operand,
                              reference::TensorView &view,
                              llvm::ArrayRef<int64_t> strides) {
  auto refuse = [&](const llvm::Twine &reason) {
    return llvm::make_error<InputError>(
        ("--stride " + operand + ": " + reason).str());
  };
  if (strides.size() > view.strides.size()) {
    return refuse("expected at most " + llvm::Twine(view.strides.size()) +
                  " strides, found " + llvm::Twine(strides.size()));
  }
  bool isOuter = strides.size() == 1;
  if (isOuter && strides.front() < view.strides[0]) {
    return refuse("expected at least " + llvm::Twine(view.strides[0]) +
                  " elements (one row), found " + llvm::Twine(strides.front()));
  }
  llvm::copy(strides, view.strides.begin());
  if (isOuter) {
    return llvm::Error::success();
  }
  bool isNegative = llvm::any_of(strides, [](int64_t s) { return s < 0; });
  if (isNegative || !isInjective(view)) {
    return refuse("with these strides elements share memory");
  }
  if (reference::bitWidth(view.type) < 8) {
    return refuse("elements of " + reference::name(view.type) +
                  " are strided in the outermost dimension only");
  }
  return llvm::Error::success();
}
