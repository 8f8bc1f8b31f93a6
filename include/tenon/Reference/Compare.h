//===- Compare.h - Errors of a result against a reference -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A result is "within e" of its reference when in every group (a row and head)
// the relative L2 error is at most e and the maximum error over the maximum of
// the reference is at most 4e. A group whose reference is all zero must be
// matched exactly; a NaN in the result always fails; moved data must be equal.
// Regions may ask for another measure: bounds of elements, or the relative L2
// error of all of them together.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_REFERENCE_COMPARE_H
#define TENON_REFERENCE_COMPARE_H

#include "tenon/Reference/Region.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <utility>

namespace tenon::reference {

/// The errors of one group.
struct GroupError {
  double maxRatio = 0;   ///< max |result - reference| / max |reference|
  double relativeL2 = 0; ///< |result - reference| / |reference|, 2-norms
  uint64_t nans = 0;     ///< in the result
  bool finiteReference = true;
  /// The reference is all zero and the result is not; both ratios are then
  /// infinite.
  bool zeroMissed = false;
};

/// Errors of \p result against \p expected, which are of one size. With
/// \p roundedTo errors are measured from the expected values as rounded to that
/// type, since in a short group the rounding alone could exceed a tolerance. A
/// sum in FP32 may end on the other side of a boundary between two codes: a
/// result to which a value within 2^-13 of the group's maximum from the
/// expected one rounds has no error. Errors are relative to the greatest
/// expected value, and to the norm of the expected ones, but to no less than
/// \p leastMagnitude.
GroupError compareGroup(llvm::ArrayRef<double> expected,
                        llvm::ArrayRef<double> result,
                        std::optional<ElementType> roundedTo = {},
                        double leastMagnitude = 0);

/// The errors of one operand over all its groups. Accumulators of several
/// threads can be merged in any order with the same outcome.
class ErrorAccumulator {
public:
  /// Adds the region \p region, not exact, of which \p result was found.
  void add(const Region &region, llvm::ArrayRef<double> result);

  /// Adds the exact region \p region, of which \p codes were found.
  void addExact(const Region &region, llvm::ArrayRef<uint64_t> codes);

  void merge(const ErrorAccumulator &other);

  /// Whether all groups are within \p tolerance (of Measure::Element: within
  /// their bounds) and all exact data are equal.
  bool within(double tolerance) const;

  /// A measure and the group in which it is worst.
  struct Worst {
    double value = 0;
    std::string group; ///< empty when the value is 0 in all groups

    void update(double candidate, llvm::StringRef candidateGroup);
  };

  uint64_t groups() const { return groupCount; }
  const Worst &maxRatio() const { return worstRatio; }
  const Worst &relativeL2() const { return worstL2; }
  /// The greatest error over its bound, of Measure::Element.
  const Worst &overBound() const { return worstBound; }
  /// Of Measure::Whole; 0 without such regions.
  double wholeL2() const;
  uint64_t nans() const { return nanCount; }
  uint64_t mismatches() const { return mismatchCount; }

  /// One line for people: the two measures with their groups, and NaNs,
  /// missed zeros and unequal elements where there are any.
  std::string summary() const;

private:
  uint64_t groupCount = 0;
  uint64_t computedGroups = 0; ///< those that are not exact
  void addElements(const Region &region, llvm::ArrayRef<double> result);

  Worst worstRatio, worstL2, worstBound;
  uint64_t boundedGroups = 0;
  /// Squared errors and squared references by group: added up in the order of
  /// the groups, whichever thread found them.
  std::map<std::string, std::pair<double, double>> squares;
  uint64_t nanCount = 0, zerosMissed = 0, badReferences = 0;
  uint64_t exactCount = 0, mismatchCount = 0;
  /// First by label of each kind of failure.
  std::string nanGroup, zeroGroup, badReferenceGroup, mismatchGroup;
};

} // namespace tenon::reference

#endif // TENON_REFERENCE_COMPARE_H
