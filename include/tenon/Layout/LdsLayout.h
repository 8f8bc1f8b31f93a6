//===- LdsLayout.h - where the elements of a tile lie in LDS ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LAYOUT_LDSLAYOUT_H
#define TENON_LAYOUT_LDSLAYOUT_H

#include "tenon/Layout/Layout.h"

namespace tenon::layout {

/// Bit `bit` of coordinate `dim`, when set, flips the bits `mask` of the byte
/// address.
struct SwizzleTerm {
  unsigned dim;
  unsigned bit;
  int64_t mask;

  bool operator==(const SwizzleTerm &) const = default;
};

/// `bytes` unused bytes after every `interval` bytes. An interval of 0 is no
/// padding.
struct LdsPadding {
  int64_t interval = 0;
  int64_t bytes = 0;

  bool operator==(const LdsPadding &) const = default;
};

/// The map from element coordinates to LDS addresses,
///
///     linear(c)  = sum_d c_d * strides[d] * elementBits / 8,
///     swizzled   = linear xor masks of the set bits of c,
///     address(c) = swizzled + swizzled / interval * padding bytes.
///
/// The swizzle is stated on coordinate bits, so that rows of 384 bytes are as
/// good as rows of 256; for rows of 2^k bytes it is the xor of address bits
/// above k into address bits below.
///
/// `create` checks that no two elements share an address: strides, ascending,
/// leave room for the extents below them; with t the smallest power of two
/// above all masks, the stride of each swizzling dim and of every longer one is
/// a multiple of t bytes; masks move whole elements. Then the xor permutes each
/// aligned block of t bytes within itself, by a mask that depends on the number
/// of the block only.
class LdsLayout {
public:
  static llvm::Expected<LdsLayout>
  create(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
         unsigned elementBits, llvm::ArrayRef<SwizzleTerm> swizzle = {},
         LdsPadding padding = {});

  /// The last dim contiguous, the others in order, without gaps.
  static LdsLayout rowMajor(llvm::ArrayRef<int64_t> shape,
                            unsigned elementBits);

  /// This layout with another swizzle.
  llvm::Expected<LdsLayout>
  withSwizzle(llvm::ArrayRef<SwizzleTerm> swizzle) const;

  llvm::ArrayRef<int64_t> shape() const { return extents; }
  /// Elements per step along each dim.
  llvm::ArrayRef<int64_t> strides() const { return elementStrides; }
  unsigned elementBits() const { return bitsPerElement; }
  llvm::ArrayRef<SwizzleTerm> swizzle() const { return terms; }
  LdsPadding padding() const { return pad; }
  unsigned rank() const { return extents.size(); }

  bool operator==(const LdsLayout &) const = default;
  void print(llvm::raw_ostream &os) const;

  /// Address of the element in bits (elements may be narrower than a byte).
  int64_t bitAddress(llvm::ArrayRef<int64_t> coords) const;
  /// Address of the byte that holds the (first bit of the) element.
  int64_t byteAddress(llvm::ArrayRef<int64_t> coords) const {
    return bitAddress(coords) / 8;
  }
  /// One more than the largest byte address in use, with the last swizzled
  /// block counted in full.
  int64_t sizeInBytes() const;

  /// The element that begins with byte `address`, or nullopt when none does:
  /// the inverse that a copy needs which writes LDS in address order
  /// (direct-to-LDS loads).
  std::optional<llvm::SmallVector<int64_t>>
  coordinatesAt(int64_t address) const;

  /// The number of registers per LDS instruction: the widest power of two V, V
  /// * elementBits <= maxBits, such that each aligned group of V registers of
  /// `layout`, of the tile or of a part of it, is one run of addresses, aligned
  /// to its size.
  unsigned vectorWidth(const Layout &layout, unsigned maxBits) const;

private:
  /// The xor of the masks of the set bits of `coords`.
  int64_t swizzleMask(llvm::ArrayRef<int64_t> coords) const;
  /// t of the class comment, in bytes; 1 without swizzle.
  int64_t swizzleBlock() const;

  llvm::SmallVector<int64_t, 3> extents;
  llvm::SmallVector<int64_t, 3> elementStrides;
  unsigned bitsPerElement = 8;
  llvm::SmallVector<SwizzleTerm, 4> terms;
  LdsPadding pad;
};

llvm::hash_code hash_value(const LdsLayout &layout);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const LdsLayout &layout);

} // namespace tenon::layout

#endif // TENON_LAYOUT_LDSLAYOUT_H
