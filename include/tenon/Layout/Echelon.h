//===- Echelon.h - vectors over F2 in row echelon form ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one piece of linear algebra under every map and layout of this library.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LAYOUT_ECHELON_H
#define TENON_LAYOUT_ECHELON_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tenon::layout {

/// A growing set of independent vectors of F2^64 (bit i of a word is
/// coordinate i), kept in echelon form so that membership in their span is
/// decided in one pass.
///
/// Each vector v_j comes with a tag t_j, a word whose xor is carried through
/// every elimination step. `express(y)` finds the unique set J with
/// y = xor_{j in J} v_j and returns xor_{j in J} t_j. With t_j = 2^j that is
/// the solution x of the system [v_0 v_1 ...] x = y.
class Echelon {
public:
  /// Adds `vector`. Returns false, and changes nothing, when the vector lies
  /// in the span of those already there (zero always does).
  bool insert(uint64_t vector, uint64_t tag);

  /// The xor of the tags of the vectors that sum to `vector`, or nullopt when
  /// `vector` is outside the span.
  std::optional<uint64_t> express(uint64_t vector) const;

  /// Dimension of the span.
  unsigned rank() const { return rows.size(); }

private:
  struct Row {
    uint64_t vector; ///< Its leading bit is the leading bit of no other row.
    uint64_t tag;
  };

  /// Subtracts rows until no row shares the leading bit of what is left.
  Row reduce(Row row) const;

  llvm::SmallVector<Row, 16> rows; ///< Leading bits descending.
};

} // namespace tenon::layout

#endif // TENON_LAYOUT_ECHELON_H
