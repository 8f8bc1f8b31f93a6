//===- TimingFacts.cpp - figures of the timing model by name ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Target/TimingFacts.h"

#include "llvm/ADT/StringExtras.h"

#include <string>

using namespace llvm;

namespace tenon::target {

namespace {

using Setter = void (*)(TimingFacts &, double);

template <auto member> void field(TimingFacts &facts, double value) {
  using Type = std::remove_reference_t<decltype(facts.*member)>;
  facts.*member = Type(value);
}

struct NamedFact {
  StringRef name;
  Setter set;
};

} // namespace

Error setTimingFact(TimingFacts &facts, StringRef name, double value) {
  static constexpr NamedFact known[] = {
      {"launchUs", field<&TimingFacts::launchUs>},
      {"endToEndUs", field<&TimingFacts::endToEndUs>},
      {"dependentGapUs", field<&TimingFacts::dependentGapUs>},
      {"dispatchClocks", field<&TimingFacts::dispatchClocks>},
      {"waveStartClocks", field<&TimingFacts::waveStartClocks>},
      {"slotClocks", field<&TimingFacts::slotClocks>},
      {"branchClocks", field<&TimingFacts::branchClocks>},
      {"barrierClocks", field<&TimingFacts::barrierClocks>},
      {"transClocks", field<&TimingFacts::transClocks>},
      {"quarterRateClocks", field<&TimingFacts::quarterRateClocks>},
      {"doubleClocks", field<&TimingFacts::doubleClocks>},
      {"matrixQueueClocks", field<&TimingFacts::matrixQueueClocks>},
      {"matrixShadowClocks", field<&TimingFacts::matrixShadowClocks>},
      {"fetchLineBytes", field<&TimingFacts::fetchLineBytes>},
      {"fetchMissClocks", field<&TimingFacts::fetchMissClocks>},
      {"ldsLatency", field<&TimingFacts::ldsLatency>},
      {"ldsQueueClocks", field<&TimingFacts::ldsQueueClocks>},
      {"ldsInstructionClocks", field<&TimingFacts::ldsInstructionClocks>},
      {"scalarHitClocks", field<&TimingFacts::scalarHitClocks>},
      {"scalarCacheBytes", field<&TimingFacts::scalarCacheBytes>},
      {"vectorQueueClocks", field<&TimingFacts::vectorQueueClocks>},
      {"l1HitClocks", field<&TimingFacts::l1HitClocks>},
      {"l1BytesPerClock", field<&TimingFacts::l1BytesPerClock>},
      {"ldsCopyBytesPerClock", field<&TimingFacts::ldsCopyBytesPerClock>},
      {"l1Ways", field<&TimingFacts::l1Ways>},
      {"l2HitClocks", field<&TimingFacts::l2HitClocks>},
      {"l2Channels", field<&TimingFacts::l2Channels>},
      {"l2Ways", field<&TimingFacts::l2Ways>},
      {"l2ChannelBytesPerClock", field<&TimingFacts::l2ChannelBytesPerClock>},
      {"mallNs", field<&TimingFacts::mallNs>},
      {"hbmNs", field<&TimingFacts::hbmNs>},
      {"mallBandwidth", field<&TimingFacts::mallBandwidth>},
      {"hbmBandwidth", field<&TimingFacts::hbmBandwidth>},
      {"atomicClocks", field<&TimingFacts::atomicClocks>},
      {"matrixClockF32", field<&TimingFacts::matrixClockF32>},
      {"matrixClockF16", field<&TimingFacts::matrixClockF16>},
      {"matrixClockF8", field<&TimingFacts::matrixClockF8>},
      {"matrixClockF4", field<&TimingFacts::matrixClockF4>},
  };
  std::string names;
  for (const NamedFact &fact : known) {
    if (fact.name == name) {
      fact.set(facts, value);
      facts.calibration = {};
      return Error::success();
    }
    names += (names.empty() ? "" : ", ") + fact.name.str();
  }
  return createStringError("no timing constant is called '" + name.str() +
                           "'; there are: " + names);
}

} // namespace tenon::target
