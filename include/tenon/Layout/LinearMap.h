//===- LinearMap.h - linear maps over F2 between named dims -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LAYOUT_LINEARMAP_H
#define TENON_LAYOUT_LINEARMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tenon::layout {

/// A dimension of 2^bits points: the vector space F2^bits.
struct BitDim {
  std::string name;
  unsigned bits;

  bool operator==(const BitDim &) const = default;
};

/// A linear map M between products of named dimensions,
///
///     M : F2^{a_1} x ... x F2^{a_m} -> F2^{b_1} x ... x F2^{b_n},
///
/// given by the images of the unit vectors: M(x) is the xor of the images of
/// the set bits of x. A point of a product is one word, the first dim in the
/// lowest bits; source and target have at most 64 bits each.
///
/// Composition, product and inverses obey the usual laws (A.then(B) is B o A):
/// then is associative with identities as units, (A * B).then(C * D) =
/// A.then(C) * B.then(D) when the dims of the factors are disjoint or agree,
/// and M.then(G).then(M) = M for G = M.pseudoInverse().
class LinearMap {
public:
  /// The map of the zero space to itself.
  LinearMap() = default;

  /// `images` holds one target word per source bit. Names must be distinct
  /// within the source and within the target.
  static llvm::Expected<LinearMap> create(llvm::ArrayRef<BitDim> sources,
                                          llvm::ArrayRef<BitDim> targets,
                                          llvm::ArrayRef<uint64_t> images);

  /// x -> x from F2^bits named `source` to F2^bits named `target`.
  static LinearMap identity(llvm::StringRef source, llvm::StringRef target,
                            unsigned bits);
  /// x -> 0, the map of a broadcast.
  static LinearMap zero(llvm::StringRef source, unsigned sourceBits,
                        llvm::StringRef target, unsigned targetBits);

  llvm::ArrayRef<BitDim> sources() const { return sourceDims; }
  llvm::ArrayRef<BitDim> targets() const { return targetDims; }
  /// log2 of the size of the source (target) space.
  unsigned sourceBits() const { return columns.size(); }
  unsigned targetBits() const;
  /// The image of each source bit.
  llvm::ArrayRef<uint64_t> images() const { return columns; }

  bool operator==(const LinearMap &) const = default;
  void print(llvm::raw_ostream &os) const;

  /// M(point).
  uint64_t apply(uint64_t point) const;
  /// M of the point with the given value in each source dim, as the value in
  /// each target dim.
  llvm::SmallVector<uint64_t> apply(llvm::ArrayRef<uint64_t> values) const;

  /// next o this. The target dims of this must be the source dims of `next`.
  LinearMap then(const LinearMap &next) const;

  /// The product map (x, y) -> (M(x), N(y)), block diagonal as a matrix. A dim
  /// that both maps have becomes one dim with the bits of this below those of
  /// `high`.
  LinearMap operator*(const LinearMap &high) const;
  /// The map N with low * N == this, or nullopt when there is none. Dims of
  /// `low` that it uses up entirely stay, with 0 bits.
  std::optional<LinearMap> quotient(const LinearMap &low) const;

  /// Dimension of the image.
  unsigned rank() const;
  bool isInjective() const { return rank() == sourceBits(); }
  bool isSurjective() const { return rank() == targetBits(); }
  bool isBijective() const { return isInjective() && isSurjective(); }

  std::optional<LinearMap> inverse() const;
  /// A map G with M o G o M = M. It is a right inverse of a surjective M, a
  /// left inverse of an injective M and the inverse of a bijective one.
  /// Preimages use no source bit whose image is a sum of earlier images.
  LinearMap pseudoInverse() const;
  /// Left division, M \ target: the map X with M o X = target, or nullopt when
  /// the image of `target` is not within that of M. X is unique when M is
  /// injective; otherwise it uses no bit whose image is a sum of earlier ones.
  std::optional<LinearMap> leftDivide(const LinearMap &target) const;

  /// The map on the named source dims, the others held at zero.
  LinearMap restrictTo(llvm::ArrayRef<llvm::StringRef> sourceNames) const;
  /// The map into the named target dims, the others forgotten.
  LinearMap projectTo(llvm::ArrayRef<llvm::StringRef> targetNames) const;
  /// Whether source dim `source` moves target dim `target` as the identity,
  /// moves no other target dim, and no other source dim moves `target`: this
  /// is identity(source, target) times a map of the other dims.
  bool isIdentityOn(llvm::StringRef source, llvm::StringRef target) const;

  /// The bits of source dim `source` whose image is zero: M does not depend on
  /// them, that is, they broadcast.
  uint64_t freeVariableMask(llvm::StringRef source) const;

private:
  LinearMap(llvm::ArrayRef<BitDim> sources, llvm::ArrayRef<BitDim> targets);

  llvm::SmallVector<BitDim, 3> sourceDims;
  llvm::SmallVector<BitDim, 3> targetDims;
  llvm::SmallVector<uint64_t, 16> columns;
};

llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const LinearMap &map);

} // namespace tenon::layout

#endif // TENON_LAYOUT_LINEARMAP_H
