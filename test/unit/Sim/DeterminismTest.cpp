//===- DeterminismTest.cpp - host threads change nothing --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same launch on one, two and three host threads gives the same memory,
// counts, statistics, profile and findings, with checks and without, also in
// programs that race or fail.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include <functional>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// All that a launch leaves behind, as text and bytes.
struct Outcome {
  std::vector<uint8_t> memory;
  std::string report;
  bool operator==(const Outcome &) const = default;
};

void PrintTo(const Outcome &outcome, std::ostream *stream) {
  *stream << outcome.report;
}

void addFindings(const std::vector<Finding> &findings, std::string &text) {
  for (const Finding &finding : findings) {
    text += formatFinding(finding);
  }
}

/// Launches a kernel whose pointers are buffers of 16 KiB with set contents.
Outcome launchOn(unsigned threads, const Kernel &kernel, LaunchConfig config) {
  constexpr uint64_t bytes = 16384;
  Device device;
  std::vector<uint64_t> buffers;
  auto addBuffer = [&] {
    uint64_t address = llvm::cantFail(device.memory().allocate(bytes));
    std::vector<uint32_t> words(bytes / 4);
    for (unsigned i = 0; i < words.size(); ++i) {
      words[i] = i * 2654435761u >> 7;
    }
    llvm::cantFail(device.memory().write(
        address, llvm::ArrayRef(reinterpret_cast<const uint8_t *>(words.data()),
                                bytes)));
    buffers.push_back(address);
    return address;
  };
  for (const KernelArg &arg : kernel.info().args) {
    if (arg.kind == "global_buffer") {
      config.setArg(arg.offset, addBuffer());
    } else if (!arg.isHidden()) {
      config.setArg(arg.offset, config.grid[0]);
    }
  }
  if (kernel.info().args.empty()) {
    config.setArg(0, addBuffer());
  }
  config.numThreads = threads;
  config.statistics = config.profile = true;
  config.instructionBudget = 1 << 22;
  Outcome outcome;
  llvm::Expected<LaunchResult> result = device.launch(kernel, config);
  if (result) {
    for (uint64_t count : result->counts) {
      outcome.report += std::to_string(count) + " ";
    }
    const AccessStatistics &moved = result->statistics;
    for (uint64_t count :
         {result->waveInstructions, moved.loadBytes, moved.storeBytes,
          moved.atomicBytes, moved.loadToLdsBytes, moved.scalarLoadBytes,
          moved.ldsReadBytes, moved.ldsWriteBytes, moved.ldsAtomicBytes,
          moved.ldsExtraPhases}) {
      outcome.report += std::to_string(count) + " ";
    }
    for (const ProfileEntry &entry : result->profile) {
      outcome.report += std::to_string(entry.count) + " " + entry.text + "\n";
    }
    addFindings(result->findings, outcome.report);
  } else {
    llvm::handleAllErrors(result.takeError(),
                          [&](const LaunchFailure &failure) {
                            outcome.report += failure.message();
                            addFindings(failure.findings(), outcome.report);
                          });
    return outcome; // memory holds what was written until then
  }
  for (uint64_t address : buffers) {
    std::vector<uint8_t> part(bytes);
    llvm::cantFail(device.memory().read(address, part));
    outcome.memory.insert(outcome.memory.end(), part.begin(), part.end());
  }
  return outcome;
}

void expectSame(const Kernel &kernel, LaunchConfig config) {
  Outcome first = launchOn(1, kernel, config);
  for (unsigned threads : {2, 3}) {
    for (unsigned round = 0; round < 3; ++round) {
      EXPECT_EQ(launchOn(threads, kernel, config), first)
          << kernel.name().str() << " on " << threads << " threads";
    }
  }
}

// Programs of clang, with atomics whose results depend on their order.
TEST(SimDeterminism, Programs) {
  auto object = loadProgram("Groups.gfx950.O3");
  ASSERT_NE(object, nullptr);
  for (const char *name :
       {"prefixScan", "histogram", "integerAtomics", "localAtomics", "compact",
        "lastGroupSums", "exchanges"}) {
    const Kernel *kernel = object->findKernel(name);
    ASSERT_NE(kernel, nullptr) << name;
    LaunchConfig config;
    config.grid = {7, 1, 1};
    config.block = {256, 1, 1};
    for (CheckSet checks : {CheckSet::all(), CheckSet()}) {
      for (std::optional<uint64_t> order :
           {std::optional<uint64_t>(), std::optional<uint64_t>(5)}) {
        config.checks = checks;
        config.workgroupOrder = order;
        config.perturb = order.value_or(0);
        expectSame(*kernel, config);
      }
    }
  }
}

// Races, undefined data and faults that end a launch are reported alike.
TEST(SimDeterminism, Findings) {
  const std::string start = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                            "  v_lshlrev_b32 v1, 2, v0\n"
                            "  s_waitcnt lgkmcnt(0)\n";
  for (const char *body :
       {// All workgroups write the same bytes.
        "  global_store_dword v1, v0, s[4:5]\n",
        // A race in LDS, undefined data, a missing wait.
        "  ds_write_b32 v1, v0\n  v_xor_b32 v2, 0x100, v1\n"
        "  ds_read_b32 v3, v2\n  v_mov_b32 v4, v3\n"
        "  s_lshl_b32 s8, s2, 10\n  v_add_u32 v1, s8, v1\n"
        "  global_store_dword v1, v30, s[4:5]\n",
        // Workgroups 3 and up leave the buffer.
        "  s_mul_i32 s8, s2, 0x1500\n  v_add_u32 v1, s8, v1\n"
        "  global_store_dword v1, v0, s[4:5]\n",
        // Workgroup 2 never ends.
        ".Lloop:\n  s_cmp_eq_u32 s2, 2\n  s_cbranch_scc1 .Lloop\n"}) {
    KernelOptions options;
    options.ldsBytes = 2048;
    auto object = loadObject(assemble(start + body, options));
    ASSERT_NE(object, nullptr);
    LaunchConfig config;
    config.grid = {9, 1, 1};
    config.block = {256, 1, 1};
    expectSame(object->kernels()[0], config);
    config.workgroupOrder = 3;
    expectSame(object->kernels()[0], config);
  }
}

} // namespace
