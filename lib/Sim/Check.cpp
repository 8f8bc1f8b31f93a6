//===- Check.cpp - what a launch is checked for, and findings ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Sim/Check.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tenon::sim {

char LaunchFailure::ID;
char MissingValues::ID;

void LaunchFailure::log(raw_ostream &stream) const { stream << text; }

std::error_code LaunchFailure::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

StringRef checkName(Check check) {
  static constexpr StringLiteral names[checkCount] = {
      "lds-race", "global-race", "wait",    "hazard", "uninit",
      "bounds",   "align",       "barrier", "budget"};
  return names[unsigned(check)];
}

Expected<CheckSet> CheckSet::parse(StringRef text) {
  if (text == "all") {
    return all();
  }
  if (text == "none") {
    return none();
  }
  CheckSet set;
  SmallVector<StringRef> names;
  text.split(names, ',');
  for (StringRef name : names) {
    unsigned index = 0;
    while (index < checkCount && checkName(Check(index)) != name) {
      ++index;
    }
    if (index == checkCount) {
      std::string known;
      for (unsigned i = 0; i < checkCount; ++i) {
        known += (i ? ", " : "") + checkName(Check(i)).str();
      }
      return createStringError("unknown check '" + name +
                               "': expected all, none, or names out of " +
                               known);
    }
    set.add(Check(index));
  }
  return set;
}

static std::string formatPlace(const FindingPlace &place) {
  std::string text =
      formatv("workgroup ({0}, {1}, {2}), wave {3}", place.workgroup[0],
              place.workgroup[1], place.workgroup[2], place.wave)
          .str();
  if (place.lane) {
    text += formatv(", lane {0}", *place.lane).str();
  }
  text += formatv(", at {0:x} `{1}`", place.pc, place.text).str();
  return place.location.empty() ? text : text + " (" + place.location + ")";
}

std::string formatFinding(const Finding &finding) {
  std::string text =
      formatv("{0}: kernel {1}, {2}: {3}", checkName(finding.check),
              finding.kernel, formatPlace(finding.place), finding.message)
          .str();
  if (finding.other) {
    text += "\n  other access: " + formatPlace(*finding.other);
  }
  if (finding.count > 1) {
    text += formatv("\n  met {0} times", finding.count).str();
  }
  return text + "\n";
}

} // namespace tenon::sim
