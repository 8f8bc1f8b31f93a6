//===- Compare.cpp - Errors of a result against a reference -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/Compare.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <cmath>
#include <limits>

namespace tenon::reference {

/// \p expected as rounded to \p type; where a value close to the unrounded one
/// rounds to what was found, that.
static std::vector<double> roundExpected(llvm::ArrayRef<double> expected,
                                         llvm::ArrayRef<double> result,
                                         ElementType type) {
  double maximum = 0;
  for (double want : expected) {
    maximum = std::max(maximum, std::fabs(want));
  }
  double slack = maximum * 0x1p-13;
  auto rounded = [&](double value) {
    return decode(type, encode(type, value));
  };
  std::vector<double> values;
  values.reserve(expected.size());
  for (auto [want, found] : llvm::zip_equal(expected, result)) {
    bool isClose =
        found >= rounded(want - slack) && found <= rounded(want + slack);
    values.push_back(isClose ? found : rounded(want));
  }
  return values;
}

GroupError compareGroup(llvm::ArrayRef<double> expected,
                        llvm::ArrayRef<double> result,
                        std::optional<ElementType> roundedTo,
                        double leastMagnitude) {
  assert(expected.size() == result.size() && "groups of different size");
  GroupError error;
  std::vector<double> rounded;
  if (roundedTo) {
    rounded = roundExpected(expected, result, *roundedTo);
    expected = rounded;
  }
  double maxReference = 0, maxDifference = 0;
  for (auto [want, found] : llvm::zip_equal(expected, result)) {
    error.finiteReference &= std::isfinite(want);
    error.nans += std::isnan(found);
    maxReference = std::max(maxReference, std::fabs(want));
    // An infinite result makes the difference infinite; NaNs are counted.
    if (!std::isnan(found)) {
      maxDifference = std::max(maxDifference, std::fabs(found - want));
    }
  }
  if (!error.finiteReference || maxDifference == 0) {
    return error;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  maxReference = std::max(maxReference, leastMagnitude);
  if (maxReference == 0 || std::isinf(maxDifference)) {
    error.zeroMissed = maxReference == 0;
    error.maxRatio = error.relativeL2 = infinity;
    return error;
  }
  // Scaled by the largest reference, so that squares neither overflow nor
  // vanish.
  double differences = 0, references = 0;
  for (auto [want, found] : llvm::zip_equal(expected, result)) {
    double difference = std::isnan(found) ? 0 : (found - want) / maxReference;
    differences += difference * difference;
    references += (want / maxReference) * (want / maxReference);
  }
  double least = leastMagnitude / maxReference;
  references = std::max(references, least * least);
  error.maxRatio = maxDifference / maxReference;
  error.relativeL2 = std::sqrt(differences / references);
  return error;
}

void ErrorAccumulator::Worst::update(double candidate,
                                     llvm::StringRef candidateGroup) {
  // Equal values go to the first label, so that the order of merging does not
  // show.
  if (candidate > value || (candidate == value && candidate > 0 &&
                            candidateGroup < llvm::StringRef(group))) {
    value = candidate;
    group = candidateGroup.str();
  }
}

/// Keeps the first label in \p kept; an empty one is none.
static void keepFirst(std::string &kept, llvm::StringRef candidate) {
  if (!candidate.empty() &&
      (kept.empty() || candidate < llvm::StringRef(kept))) {
    kept = candidate.str();
  }
}

void ErrorAccumulator::add(const Region &region,
                           llvm::ArrayRef<double> result) {
  assert(!region.exact && "exact regions are compared by code");
  if (region.measure != Measure::Group) {
    return addElements(region, result);
  }
  GroupError error = compareGroup(region.expected, result, region.roundedTo,
                                  region.leastMagnitude);
  ++groupCount;
  ++computedGroups;
  worstRatio.update(error.maxRatio, region.group);
  worstL2.update(error.relativeL2, region.group);
  if (error.nans != 0) {
    nanCount += error.nans;
    keepFirst(nanGroup, region.group);
  }
  if (error.zeroMissed) {
    ++zerosMissed;
    keepFirst(zeroGroup, region.group);
  }
  if (!error.finiteReference) {
    ++badReferences;
    keepFirst(badReferenceGroup, region.group);
  }
}

void ErrorAccumulator::addElements(const Region &region,
                                   llvm::ArrayRef<double> result) {
  ++groupCount;
  double differences = 0, references = 0, worst = 0;
  bool isFinite = true;
  uint64_t nans = 0;
  for (auto [want, found] : llvm::zip_equal(region.expected, result)) {
    isFinite &= std::isfinite(want);
    nans += std::isnan(found);
    double difference = std::isnan(found) ? 0 : std::fabs(found - want);
    differences += difference * difference;
    references += want * want;
    double bound =
        region.absoluteBound + region.relativeBound * std::fabs(want);
    // Without an error a bound of 0 is kept.
    worst = difference == 0 ? worst : std::max(worst, difference / bound);
  }
  if (region.measure == Measure::Element) {
    ++boundedGroups;
    worstBound.update(worst, region.group);
  } else {
    squares[region.group] = {differences, references};
  }
  if (nans != 0) {
    nanCount += nans;
    keepFirst(nanGroup, region.group);
  }
  if (!isFinite) {
    ++badReferences;
    keepFirst(badReferenceGroup, region.group);
  }
}

double ErrorAccumulator::wholeL2() const {
  double differences = 0, references = 0;
  for (const auto &[group, pair] : squares) {
    differences += pair.first;
    references += pair.second;
  }
  if (differences == 0) {
    return 0;
  }
  return references == 0 ? std::numeric_limits<double>::infinity()
                         : std::sqrt(differences / references);
}

void ErrorAccumulator::addExact(const Region &region,
                                llvm::ArrayRef<uint64_t> codes) {
  assert(region.exact && "computed regions are compared by value");
  ++groupCount;
  exactCount += codes.size();
  uint64_t unequal = 0;
  for (auto [want, found] : llvm::zip_equal(region.expectedCodes, codes)) {
    unequal += want != found;
  }
  if (unequal != 0) {
    mismatchCount += unequal;
    keepFirst(mismatchGroup, region.group);
  }
}

void ErrorAccumulator::merge(const ErrorAccumulator &other) {
  groupCount += other.groupCount;
  computedGroups += other.computedGroups;
  worstRatio.update(other.worstRatio.value, other.worstRatio.group);
  worstL2.update(other.worstL2.value, other.worstL2.group);
  worstBound.update(other.worstBound.value, other.worstBound.group);
  boundedGroups += other.boundedGroups;
  squares.insert(other.squares.begin(), other.squares.end());
  nanCount += other.nanCount;
  zerosMissed += other.zerosMissed;
  badReferences += other.badReferences;
  exactCount += other.exactCount;
  mismatchCount += other.mismatchCount;
  keepFirst(nanGroup, other.nanGroup);
  keepFirst(zeroGroup, other.zeroGroup);
  keepFirst(badReferenceGroup, other.badReferenceGroup);
  keepFirst(mismatchGroup, other.mismatchGroup);
}

bool ErrorAccumulator::within(double tolerance) const {
  return nanCount == 0 && zerosMissed == 0 && badReferences == 0 &&
         mismatchCount == 0 && worstL2.value <= tolerance &&
         worstRatio.value <= 4 * tolerance && worstBound.value <= 1 &&
         wholeL2() <= tolerance;
}

std::string ErrorAccumulator::summary() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::StringRef separator;
  auto printWorst = [&](const char *what, const Worst &worst) {
    out << separator << what << llvm::format(" %.3e", worst.value);
    if (!worst.group.empty()) {
      out << " (" << worst.group << ")";
    }
    separator = ", ";
  };
  bool isMeasured = boundedGroups != 0 || !squares.empty();
  if (exactCount != 0) {
    out << exactCount << " elements compared exactly, " << mismatchCount
        << " differ";
    if (mismatchCount != 0) {
      out << " (first in " << mismatchGroup << ")";
    }
    separator = "; ";
  }
  if (computedGroups != 0 || (exactCount == 0 && !isMeasured)) {
    printWorst("max error / max", worstRatio);
    printWorst("relative L2", worstL2);
  }
  if (boundedGroups != 0) {
    printWorst("error / bound", worstBound);
  }
  if (!squares.empty()) {
    out << separator
        << llvm::format("relative L2 over all rows %.3e", wholeL2());
  }
  if (nanCount != 0) {
    out << ", " << nanCount << " NaN (first in " << nanGroup << ")";
  }
  if (zerosMissed != 0) {
    out << ", " << zerosMissed << " groups not zero (first " << zeroGroup
        << ")";
  }
  if (badReferences != 0) {
    out << ", reference not finite in " << badReferences << " groups (first "
        << badReferenceGroup << ")";
  }
  return text;
}

} // namespace tenon::reference
