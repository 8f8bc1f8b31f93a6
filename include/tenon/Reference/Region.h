//===- Region.h - Expected contents of a part of an operand -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_REGION_H
#define TENON_REFERENCE_REGION_H

#include "tenon/Reference/ElementType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::reference {

/// How the errors of a region are measured.
enum class Measure {
  Group,   ///< against the region's own greatest value and norm
  Element, ///< each against the bound of its element
  Whole,   ///< as the relative L2 error over all regions of the operand
};

/// What a reference expects in a block of one operand after the op has run.
/// The memory of an operand that no region covers keeps its contents.
struct Region {
  std::string operand;                   ///< its name in the contract
  llvm::SmallVector<int64_t, 4> offset;  ///< first index of the block
  llvm::SmallVector<int64_t, 4> extents; ///< of the block, one per dimension
  /// Where it is not empty: the extents[0] indices of dimension 0, instead of
  /// those from offset[0] on.
  std::vector<int64_t> rows;
  /// The unit over which an error is measured: "row 3 head 5".
  std::string group;
  /// Data that are moved and not computed: the codes must be equal.
  bool exact = false;
  /// The op writes the block; what it writes is left open.
  bool skipped = false;
  /// The type to which the result is rounded once, where errors are measured
  /// from the rounded reference (see compareGroup).
  std::optional<ElementType> roundedTo;
  /// Errors are relative to at least this magnitude.
  double leastMagnitude = 0;
  Measure measure = Measure::Group;
  /// Of Measure::Element: |error| <= absoluteBound + relativeBound *
  /// |expected|.
  double absoluteBound = 0, relativeBound = 0;
  /// What it is measured against where an operand is measured more than once:
  /// each has its own tolerance.
  std::string against;
  /// Where it is set: the values of the block from its codes, as many as are
  /// expected; elsewhere each element is one.
  std::function<std::vector<double>(llvm::ArrayRef<uint64_t>)> valuesOf;
  std::vector<double> expected;        ///< row-major; unless exact
  std::vector<uint64_t> expectedCodes; ///< row-major; when exact
};

} // namespace tenon::reference

#endif // TENON_REFERENCE_REGION_H
