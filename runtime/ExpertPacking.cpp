//===- ExpertPacking.cpp - weights of experts, packed by the host -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of tenon-c/tenon.h that do on the host what tenon.moe_pack does
// on a device. An expert is copied before its place is written, so that it may
// be packed where it lies.
//
//===----------------------------------------------------------------------===//

#include "tenon-c/tenon.h"

#include "runtime/Dispatch/Failure.h"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <string_view>
#include <vector>

using namespace tenon::runtime;

namespace {

// What the tables of #tenon.weight_layout say.
constexpr int64_t tileRows = 16, chunkBytes = 16;
constexpr int64_t scaleRows = 2 * tileRows, blocksInTile = 8;
/// Values that share a scale.
constexpr int64_t block = 32;

constexpr int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

enum class Order { Packed, Aiter, AiterInterleaved };

/// What an expert takes, in bytes.
struct Sizes {
  int64_t rowBytes, scaleRowBytes; ///< in the checkpoint
  int64_t weights, scales;         ///< packed
};

/// Checks the numbers and the order of \p packing.
tenon_status check(const tenon_expert_packing &packing, Order &order,
                   Sizes &sizes) {
  if (packing.struct_bytes != sizeof(packing)) {
    return fail(TENON_INVALID_ARGUMENT,
                fmt::format("tenon_expert_packing: struct_bytes is {}, {} "
                            "expected: the program was built for another "
                            "version of Tenon",
                            packing.struct_bytes, sizeof(packing)));
  }
  std::string_view name = packing.order ? packing.order : "packed";
  if (name == "packed") {
    order = Order::Packed;
  } else if (name == "aiter") {
    order = Order::Aiter;
  } else if (name == "aiter_interleaved") {
    order = Order::AiterInterleaved;
  } else {
    return fail(TENON_INVALID_ARGUMENT,
                fmt::format("order: expected packed, aiter or "
                            "aiter_interleaved, found '{}'",
                            name));
  }
  bool isPacked = order == Order::Packed;
  int64_t rowMultiple = packing.interleaved ? 64 : isPacked ? 1 : scaleRows;
  int64_t depthMultiple = isPacked ? block : 64;
  if (packing.rows < 1 || packing.depth < 1 ||
      packing.rows % rowMultiple != 0 || packing.depth % depthMultiple != 0) {
    return fail(TENON_INVALID_ARGUMENT,
                fmt::format("N must be a positive multiple of {} and K of {}, "
                            "found {} and {}",
                            rowMultiple, depthMultiple, packing.rows,
                            packing.depth));
  }
  constexpr int64_t most = int64_t(1) << 31;
  if (packing.experts < 0 || packing.experts >= most || packing.rows >= most ||
      packing.depth >= most || packing.rows * packing.depth / 2 >= most) {
    return fail(TENON_INVALID_ARGUMENT,
                fmt::format("an expert must have less than 2^31 bytes, and "
                            "there can be 2^31 of them; found {} experts of {} "
                            "by {}",
                            packing.experts, packing.rows, packing.depth));
  }
  sizes.rowBytes = packing.depth / 2;
  sizes.scaleRowBytes = packing.depth / block;
  sizes.weights = roundUp(packing.rows, tileRows) * sizes.rowBytes;
  sizes.scales = roundUp(packing.rows, scaleRows) *
                 roundUp(sizes.scaleRowBytes, blocksInTile);
  return TENON_OK;
}

/// Bytes of the packed scales of all experts: AITER fills their rows up to 256.
int64_t allScales(const tenon_expert_packing &packing, Order order,
                  const Sizes &sizes) {
  if (order != Order::Aiter) {
    return packing.experts * sizes.scales;
  }
  return roundUp(packing.experts * packing.rows, 256) *
         (sizes.scales / packing.rows);
}

/// Packs the experts one by one.
class Packer {
public:
  Packer(const tenon_expert_packing &packing, Order order, const Sizes &sizes)
      : packing(packing), order(order), sizes(sizes),
        own(size_t(packing.rows * sizes.rowBytes)) {}

  void run() {
    const auto *weights = static_cast<const uint8_t *>(packing.weights);
    const auto *scales = static_cast<const uint8_t *>(packing.scales);
    auto *packed = static_cast<uint8_t *>(packing.packed);
    auto *packedScales = static_cast<uint8_t *>(packing.packed_scales);
    for (int64_t expert = 0; expert < packing.experts; ++expert) {
      copy(weights + expert * weightStride(), sizes.rowBytes);
      orderWeights(packed + expert * sizes.weights);
      copy(scales + expert * scaleStride(), sizes.scaleRowBytes);
      orderScales(packedScales + expert * sizes.scales);
      if (packing.progress) {
        packing.progress(packing.context, expert + 1, packing.experts);
      }
    }
    int64_t written = packing.experts * sizes.scales;
    std::memset(packedScales + written, 0,
                size_t(allScales(packing, order, sizes) - written));
  }

  int64_t weightStride() const {
    return packing.weights_stride ? packing.weights_stride
                                  : packing.rows * sizes.rowBytes;
  }
  int64_t scaleStride() const {
    return packing.scales_stride ? packing.scales_stride
                                 : packing.rows * sizes.scaleRowBytes;
  }

private:
  /// Where row \p row of the packed form lies in the checkpoint.
  int64_t sourceRow(int64_t row) const {
    int64_t half = packing.rows / 2;
    if (order == Order::AiterInterleaved) {
      // Tiles of gate and up alternate.
      int64_t tile = row / tileRows;
      row = tile % 2 * half + tile / 2 * tileRows + row % tileRows;
    }
    return packing.interleaved ? row % half * 2 + row / half : row;
  }

  void copy(const uint8_t *from, int64_t rowBytes) {
    std::memcpy(own.data(), from, size_t(packing.rows * rowBytes));
  }

  void orderWeights(uint8_t *to) const {
    int64_t rows = roundUp(packing.rows, tileRows);
    for (int64_t row = 0; row < rows; ++row) {
      uint8_t *tile = to + row / tileRows * tileRows * sizes.rowBytes +
                      row % tileRows * chunkBytes;
      const uint8_t *from = row < packing.rows
                                ? own.data() + sourceRow(row) * sizes.rowBytes
                                : nullptr;
      for (int64_t at = 0; at < sizes.rowBytes; at += chunkBytes) {
        uint8_t *chunk = tile + at * tileRows;
        from ? std::memcpy(chunk, from + at, chunkBytes)
             : std::memset(chunk, 0, chunkBytes);
      }
    }
  }

  void orderScales(uint8_t *to) const {
    std::memset(to, 0, size_t(sizes.scales));
    int64_t groups = roundUp(sizes.scaleRowBytes, blocksInTile) / blocksInTile;
    for (int64_t row = 0; row < packing.rows; ++row) {
      const uint8_t *from = own.data() + sourceRow(row) * sizes.scaleRowBytes;
      // Row and row + 16, block and block + 4 share a word.
      uint8_t *tile = to + row / scaleRows * groups * scaleRows * blocksInTile +
                      row % tileRows * 4 + row / tileRows % 2;
      for (int64_t at = 0; at < sizes.scaleRowBytes; ++at) {
        tile[at / blocksInTile * scaleRows * blocksInTile +
             at % 4 * tileRows * 4 + at / 4 % 2 * 2] = from[at];
      }
    }
  }

  const tenon_expert_packing &packing;
  Order order;
  const Sizes &sizes;
  std::vector<uint8_t> own; ///< what is being packed
};

/// Refuses a result that overlaps its operand otherwise than by being in its
/// place, where each expert takes as many bytes packed as before.
tenon_status checkOverlap(const char *name, const void *source, int64_t stride,
                          int64_t bytes, const void *result,
                          int64_t resultBytes, int64_t experts) {
  auto from = reinterpret_cast<uintptr_t>(source);
  auto to = reinterpret_cast<uintptr_t>(result);
  if (experts == 0 || to >= from + uint64_t((experts - 1) * stride + bytes) ||
      from >= to + uint64_t(experts * resultBytes)) {
    return TENON_OK;
  }
  if (from == to && stride == bytes && bytes == resultBytes) {
    return TENON_OK;
  }
  return fail(TENON_INVALID_ARGUMENT,
              fmt::format("{}: packed in place only without gaps and where "
                          "nothing is filled up",
                          name));
}

} // namespace

tenon_status tenon_expert_packed_bytes(const tenon_expert_packing *packing,
                                       uint64_t *weights, uint64_t *scales) {
  if (!packing || !weights || !scales) {
    return fail(TENON_INVALID_ARGUMENT,
                "tenon_expert_packed_bytes: an argument is NULL");
  }
  Order order;
  Sizes sizes;
  if (tenon_status status = check(*packing, order, sizes)) {
    return status;
  }
  *weights = uint64_t(packing->experts * sizes.weights);
  *scales = uint64_t(allScales(*packing, order, sizes));
  return TENON_OK;
}

tenon_status tenon_expert_pack(const tenon_expert_packing *packing) {
  if (!packing) {
    return fail(TENON_INVALID_ARGUMENT, "tenon_expert_pack: packing is NULL");
  }
  Order order;
  Sizes sizes;
  if (tenon_status status = check(*packing, order, sizes)) {
    return status;
  }
  if (packing->experts && (!packing->weights || !packing->scales ||
                           !packing->packed || !packing->packed_scales)) {
    return fail(TENON_INVALID_ARGUMENT,
                "tenon_expert_pack: weights, scales, packed or packed_scales "
                "is NULL");
  }
  try {
    Packer packer(*packing, order, sizes);
    int64_t bytes = packing->rows * sizes.rowBytes;
    int64_t scaleBytes = packing->rows * sizes.scaleRowBytes;
    if (packer.weightStride() < bytes || packer.scaleStride() < scaleBytes) {
      return fail(TENON_INVALID_ARGUMENT,
                  fmt::format("strides of experts must be {} and {} bytes or "
                              "more, found {} and {}",
                              bytes, scaleBytes, packer.weightStride(),
                              packer.scaleStride()));
    }
    tenon_status status =
        checkOverlap("weights", packing->weights, packer.weightStride(), bytes,
                     packing->packed, sizes.weights, packing->experts);
    if (status == TENON_OK) {
      status = checkOverlap("scales", packing->scales, packer.scaleStride(),
                            scaleBytes, packing->packed_scales, sizes.scales,
                            packing->experts);
    }
    if (status == TENON_OK && packing->experts) {
      packer.run();
    }
    return status;
  } catch (const std::bad_alloc &) {
    return fail(TENON_INTERNAL_ERROR, "out of memory");
  }
}
