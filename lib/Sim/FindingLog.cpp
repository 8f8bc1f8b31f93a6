//===- FindingLog.cpp - findings while a launch runs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FindingLog.h"

#include "Program.h"
#include "SourceLines.h"

namespace tenon::sim {

void FindingLog::add(RawFinding finding) {
  Key key = {finding.site.record, finding.check,
             finding.other ? finding.other->record : ~0u};
  auto [entry, isNew] = findings.try_emplace(key, finding);
  if (isNew) {
    return;
  }
  // How often races between workgroups are met depends on host threads.
  uint64_t count = finding.check == Check::GlobalRace
                       ? 1
                       : entry->second.count + finding.count;
  auto order = [](const RawFinding &raw) {
    FindingSite other = raw.other.value_or(FindingSite());
    return std::tuple(raw.site.workgroup, raw.site.wave, raw.site.lane,
                      other.workgroup, other.wave, other.lane);
  };
  if (order(finding) < order(entry->second)) {
    entry->second = std::move(finding);
  }
  entry->second.count = count;
}

void FindingLog::merge(const FindingLog &log) {
  for (const auto &[key, finding] : log.findings) {
    add(finding);
  }
}

std::vector<Finding> FindingLog::finish(llvm::StringRef kernel,
                                        const Program &program,
                                        const SourceLines &lines,
                                        const std::array<uint32_t, 3> &grid,
                                        size_t limit) const {
  auto placeOf = [&](const FindingSite &site) {
    const Instr &instr = program.records()[site.record];
    FindingPlace place;
    place.workgroup = {uint32_t(site.workgroup % grid[0]),
                       uint32_t(site.workgroup / grid[0] % grid[1]),
                       uint32_t(site.workgroup / grid[0] / grid[1])};
    place.wave = site.wave;
    if (site.lane >= 0) {
      place.lane = uint32_t(site.lane);
    }
    place.pc = instr.address;
    place.text = program.text(instr);
    place.location = lines.at(instr.address);
    return place;
  };
  std::vector<Finding> result;
  for (const auto &[key, raw] : findings) {
    if (result.size() == limit) {
      break;
    }
    Finding finding;
    finding.check = raw.check;
    finding.kernel = kernel.str();
    finding.place = placeOf(raw.site);
    finding.message = raw.message;
    if (raw.other) {
      finding.other = placeOf(*raw.other);
    }
    finding.count = raw.count;
    result.push_back(std::move(finding));
  }
  return result;
}

} // namespace tenon::sim
