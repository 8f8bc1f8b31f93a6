//===- ReorderedSource.cpp - weights in the orders of kernels ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReorderedSource.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <mutex>

using namespace tenon;
using namespace tenon::run;
using reference::ByteSource;
using reference::ElementType;
using reference::TensorView;
using reference::WeightOrder;
using Bytes = std::vector<uint8_t>;

static llvm::Expected<Bytes> ordered(const TensorView &view,
                                     WeightOrder order) {
  return view.type == ElementType::E8M0 ? reference::orderScales(view, order)
                                        : reference::orderWeights(view, order);
}

namespace {
/// Bytes of its own.
class OwnedSource : public ByteSource {
public:
  explicit OwnedSource(Bytes bytes) : bytes(std::move(bytes)) {}

  void read(uint64_t offset,
            llvm::MutableArrayRef<uint8_t> target) const override {
    llvm::ArrayRef<uint8_t> rest(bytes);
    llvm::copy(rest.drop_front(offset).take_front(target.size()),
               target.begin());
  }

private:
  Bytes bytes;
};

/// Another source from an offset on.
class ShiftedSource : public ByteSource {
public:
  ShiftedSource(const ByteSource &whole, uint64_t shift)
      : whole(whole), shift(shift) {}

  void read(uint64_t offset,
            llvm::MutableArrayRef<uint8_t> bytes) const override {
    whole.read(shift + offset, bytes);
  }

private:
  const ByteSource &whole;
  uint64_t shift;
};

class ExpertsSource : public ByteSource {
public:
  ExpertsSource(TensorView view, WeightOrder order, uint64_t expertBytes)
      : view(std::move(view)), order(order), expertBytes(expertBytes),
        experts(this->view.shape[0]),
        made(std::make_unique<std::once_flag[]>(experts.size())) {}

  void read(uint64_t offset,
            llvm::MutableArrayRef<uint8_t> bytes) const override {
    while (!bytes.empty()) {
      uint64_t expert = offset / expertBytes, first = offset % expertBytes;
      uint64_t count = std::min<uint64_t>(expertBytes - first, bytes.size());
      llvm::MutableArrayRef<uint8_t> part = bytes.take_front(count);
      if (expert < experts.size()) {
        std::call_once(made[expert], [&] { experts[expert] = make(expert); });
        std::copy_n(experts[expert].begin() + first, count, part.begin());
      } else {
        // What AITER fills up with is undefined: NaN.
        llvm::fill(part, 0xff);
      }
      bytes = bytes.drop_front(count);
      offset += count;
    }
  }

private:
  Bytes make(uint64_t expert) const {
    ShiftedSource source(*view.source, expert * view.strides[0] *
                                           reference::bitWidth(view.type) / 8);
    TensorView matrix = TensorView::dense(
        view.type, llvm::ArrayRef<int64_t>(view.shape).drop_front(), &source);
    Bytes bytes = llvm::cantFail(ordered(matrix, order));
    // AITER fills up the last expert alone.
    bytes.resize(expertBytes);
    return bytes;
  }

  TensorView view;
  WeightOrder order;
  uint64_t expertBytes;
  mutable std::vector<Bytes> experts;
  std::unique_ptr<std::once_flag[]> made;
};
} // namespace

llvm::Expected<Reordered> run::reorder(const TensorView &view,
                                       WeightOrder order) {
  auto bytes = ordered(view, order);
  if (!bytes) {
    return bytes.takeError();
  }
  uint64_t size = bytes->size();
  return Reordered{size, std::make_unique<OwnedSource>(std::move(*bytes))};
}

llvm::Expected<Reordered> run::reorderExperts(const TensorView &view,
                                              WeightOrder order) {
  uint64_t rows = view.shape[1], columns = view.shape[2];
  bool isScales = view.type == ElementType::E8M0;
  if (order != WeightOrder::Packed && (rows % 32 != 0)) {
    return llvm::createStringError(
        "N must be a multiple of 32 in this order of experts, found " +
        llvm::Twine(rows));
  }
  uint64_t expertBytes =
      isScales ? llvm::alignTo(rows, 32) * llvm::alignTo(columns, 8)
               : llvm::alignTo(rows, 16) * columns *
                     reference::bitWidth(view.type) / 8;
  uint64_t bytes = view.shape[0] * expertBytes;
  if (isScales && order == WeightOrder::Aiter) {
    bytes =
        llvm::alignTo(view.shape[0] * rows, 256) * llvm::alignTo(columns, 8);
  }
  return Reordered{bytes,
                   std::make_unique<ExpertsSource>(view, order, expertBytes)};
}
