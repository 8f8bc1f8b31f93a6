//===- CheckPrograms.h - running programs for their findings ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_SIM_CHECKPROGRAMS_H
#define TENON_TEST_UNIT_SIM_CHECKPROGRAMS_H

#include "Assembler.h"

#include "llvm/Support/Error.h"

namespace tenon::sim::test {

/// Runs four waves with 16 KiB of LDS, a buffer of 64 KiB whose address is in
/// s[4:5], v1 = 4 * work item and s6 = wave number; the findings of all checks
/// as text.
inline std::string runWorkgroups(const std::string &body, unsigned groups = 1,
                                 unsigned threads = 1,
                                 std::optional<uint64_t> order = std::nullopt) {
  KernelOptions options;
  options.ldsBytes = 16384;
  options.scratchBytes = 16;
  std::shared_ptr<const CodeObject> object = loadObject(assemble(
      "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_lshlrev_b32 v1, 2, v0\n"
      "  v_lshrrev_b32 v2, 6, v0\n  s_nop 0\n  v_readfirstlane_b32 s6, v2\n"
      "  s_waitcnt lgkmcnt(0)\n" +
          body,
      options));
  Device device;
  LaunchConfig config;
  config.grid = {groups, 1, 1};
  config.block = {256, 1, 1};
  config.numThreads = threads;
  config.workgroupOrder = order;
  config.instructionBudget = 1 << 20;
  config.setArg(0, llvm::cantFail(device.memory().allocate(1 << 16)));
  llvm::Expected<LaunchResult> result =
      device.launch(object->kernels()[0], config);
  std::string text;
  auto append = [&](const std::vector<Finding> &findings) {
    for (const Finding &finding : findings) {
      text += formatFinding(finding);
    }
  };
  if (result) {
    append(result->findings);
  } else {
    llvm::handleAllErrors(
        result.takeError(),
        [&](const LaunchFailure &failure) { append(failure.findings()); });
  }
  return text;
}

inline bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace tenon::sim::test

#endif // TENON_TEST_UNIT_SIM_CHECKPROGRAMS_H
