//===- TimingValuesTest.cpp - times without values --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch whose values are skipped takes as long as one that computes them.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "TimedKernel.h"

#include "lib/Sim/Timing/NeededValues.h"

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// s[4:5] and s[6:7] = the first two arguments, v1 = 16 * work-item.
const std::string arguments =
    "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  v_lshlrev_b32 v1, 4, v0\n"
    "  s_waitcnt lgkmcnt(0)\n";

/// Whether the values of the first instruction of that mnemonic are needed.
bool isNeeded(const std::string &body, llvm::StringRef mnemonic,
              bool entersFull = true) {
  KernelOptions options;
  options.ldsBytes = 4096;
  auto object = loadObject(assemble(body, options));
  const Program &program = object->program();
  CheckProgram checks(program);
  uint32_t entry = *program.recordAt(object->kernels()[0].entry());
  std::vector<bool> needed = valuesForTime(program, checks, entry, entersFull);
  for (uint32_t i = entry; i < needed.size(); ++i) {
    if (llvm::StringRef(program.text(program.records()[i]))
            .trim()
            .starts_with(mnemonic)) {
      return needed[i];
    }
  }
  ADD_FAILURE() << "no " << mnemonic.str();
  return false;
}

/// What an address, a branch or a mask depends on is needed, through registers,
/// LDS and memory.
TEST(SimTimingValues, NeededByAddressesAndBranches) {
  const std::string load = arguments + "  global_load_dword v2, v1, s[4:5]\n"
                                       "  s_waitcnt vmcnt(0)\n";
  EXPECT_FALSE(isNeeded(load, "global_load"));
  EXPECT_FALSE(isNeeded(load + "  v_add_u32 v3, v2, v2\n", "v_add_u32"));
  const std::string store = "  global_store_dword v1, v2, s[6:7]\n";
  EXPECT_FALSE(isNeeded(load + store, "global_load"));
  EXPECT_FALSE(isNeeded(load + store, "global_store"));
  const std::string indirect = "  global_load_dword v3, v2, s[6:7]\n";
  EXPECT_TRUE(isNeeded(load + indirect, "global_load"));
  EXPECT_TRUE(
      isNeeded(load + "  v_lshlrev_b32 v2, 2, v2\n" + indirect, "global_load"));
  EXPECT_TRUE(isNeeded(load + "  v_cmp_eq_u32 vcc, v2, v1\n", "global_load"));
  EXPECT_TRUE(isNeeded(load + "  v_readfirstlane_b32 s8, v2\n", "global_load"));
  EXPECT_TRUE(isNeeded(load + "  ds_read_b32 v3, v2\n", "global_load"));
  // What is loaded for an address may have been stored before.
  EXPECT_TRUE(isNeeded(store + load + indirect, "global_store"));
  const std::string throughLds = load + "  ds_write_b32 v1, v2\n"
                                        "  ds_read_b32 v3, v1\n"
                                        "  s_waitcnt lgkmcnt(0)\n";
  EXPECT_FALSE(isNeeded(throughLds, "ds_write"));
  EXPECT_TRUE(isNeeded(throughLds + "  global_load_dword v4, v3, s[4:5]\n",
                       "ds_write"));
  EXPECT_TRUE(isNeeded(throughLds + "  global_load_dword v4, v3, s[4:5]\n",
                       "global_load"));
}

/// A later write to all lanes ends the need, one to some lanes does not.
TEST(SimTimingValues, OverwrittenRegisters) {
  const std::string load = arguments + "  global_load_dword v2, v1, s[4:5]\n"
                                       "  s_waitcnt vmcnt(0)\n";
  const std::string overwritten =
      "  v_mov_b32 v2, 0\n  global_load_dword v3, v2, s[6:7]\n";
  EXPECT_FALSE(isNeeded(load + overwritten, "global_load"));
  EXPECT_TRUE(isNeeded(load + overwritten, "global_load", false));
  EXPECT_TRUE(
      isNeeded(load + "  s_mov_b64 exec, 1\n" + overwritten, "global_load"));
  EXPECT_FALSE(isNeeded(load + "  s_mov_b64 exec, 1\n  s_mov_b64 exec, -1\n" +
                            overwritten,
                        "global_load"));
  // On one of two ways.
  EXPECT_TRUE(isNeeded(load + "  s_cmp_eq_u32 s4, 0\n  s_cbranch_scc1 .Lskip\n"
                              "  v_mov_b32 v2, 0\n.Lskip:\n"
                              "  global_load_dword v3, v2, s[6:7]\n",
                       "global_load"));
  // A half is kept.
  EXPECT_TRUE(isNeeded(load + "  global_load_short_d16 v2, v1, s[6:7]\n"
                              "  s_waitcnt vmcnt(0)\n"
                              "  global_load_dword v3, v2, s[6:7]\n",
                       "global_load_dword"));
}

/// A matrix product is skipped whatever depends on it.
TEST(SimTimingValues, MatrixProducts) {
  EXPECT_FALSE(
      isNeeded("  v_mfma_f32_32x32x16_bf16 v[16:31], v[0:3], v[4:7], v[16:31]\n"
               "  v_readfirstlane_b32 s8, v16\n",
               "v_mfma"));
}

/// An address outside of every allocation still ends the launch.
TEST(SimTimingValues, BadAddress) {
  auto object =
      loadObject(assemble(arguments + "  v_lshlrev_b32 v1, 16, v1\n"
                                      "  global_load_dword v2, v1, s[4:5]\n"));
  Device device;
  LaunchConfig config;
  config.block = {64, 1, 1};
  config.checks = CheckSet();
  config.timing.emplace();
  config.timing->skipValues = true;
  uint64_t buffer = llvm::cantFail(device.memory().allocate(4096));
  config.setArg(0, buffer);
  config.setArg(8, buffer);
  llvm::Expected<LaunchResult> result =
      device.launch(object->kernels()[0], config);
  ASSERT_FALSE(bool(result));
  EXPECT_NE(llvm::toString(result.takeError()).find("outside every allocation"),
            std::string::npos);
}

/// A scalar load from where values were not stored ends the launch.
TEST(SimTimingValues, ScalarLoadOfSkippedStores) {
  auto object =
      loadObject(assemble(arguments + "  global_store_dword v1, v0, s[4:5]\n"
                                      "  s_waitcnt vmcnt(0)\n"
                                      "  s_load_dword s8, s[4:5], 0x0\n"));
  Device device;
  LaunchConfig config;
  config.block = {64, 1, 1};
  config.checks = CheckSet();
  config.timing.emplace();
  config.timing->skipValues = true;
  uint64_t buffer = llvm::cantFail(device.memory().allocate(4096));
  config.setArg(0, buffer);
  config.setArg(8, buffer);
  llvm::Expected<LaunchResult> result =
      device.launch(object->kernels()[0], config);
  ASSERT_FALSE(bool(result));
  EXPECT_NE(llvm::toString(result.takeError()).find("whose values are skipped"),
            std::string::npos);
}

/// A launch says which allocations it has not stored to as it should, and one
/// that is told so fails when its time depends on what is missing there.
TEST(SimTimingValues, LaunchesThatNeedWhatIsLeftOut) {
  auto launch = [](Device &device, const std::string &body,
                   llvm::ArrayRef<uint64_t> buffers, unsigned groups,
                   const TimingOptions &timing) {
    auto object = loadObject(assemble(arguments + body));
    LaunchConfig config;
    config.grid = {groups, 1, 1};
    config.block = {64, 1, 1};
    config.checks = CheckSet();
    config.timing = timing;
    for (auto [index, buffer] : llvm::enumerate(buffers)) {
      config.setArg(8 * index, buffer);
    }
    return device.launch(object->kernels()[0], config);
  };
  const std::string store = "  global_store_dword v1, v0, s[4:5]\n";
  const std::string copy = "  global_load_dword v2, v1, s[4:5]\n"
                           "  s_waitcnt vmcnt(0)\n"
                           "  global_store_dword v1, v2, s[6:7]\n";
  const std::string index = "  global_load_dword v2, v1, s[4:5]\n"
                            "  s_waitcnt vmcnt(0)\n"
                            "  global_load_dword v3, v2, s[6:7]\n";
  const std::string scalar = "  s_load_dword s8, s[4:5], 0x0\n"
                             "  s_waitcnt lgkmcnt(0)\n";
  for (bool skips : {false, true}) {
    Device device;
    uint64_t first = llvm::cantFail(device.memory().allocate(4096));
    uint64_t second = llvm::cantFail(device.memory().allocate(4096));
    TimingOptions sampled;
    sampled.sampled = true;
    sampled.skipValues = skips;
    // As many workgroups as make a sample.
    auto stored = launch(device, store, {first, second}, 64, sampled);
    ASSERT_TRUE(bool(stored)) << llvm::toString(stored.takeError());
    EXPECT_EQ(stored->timing->leftOut, std::vector<uint64_t>{first});
    sampled.leftOut = {first};
    EXPECT_TRUE(bool(launch(device, copy, {first, second}, 64, sampled)));
    for (const std::string &body : {index, scalar}) {
      auto failed = launch(device, body, {first, second}, 64, sampled);
      ASSERT_FALSE(bool(failed));
      uint64_t missing = 0;
      llvm::handleAllErrors(
          failed.takeError(),
          [&](const MissingValues &error) { missing = error.allocation(); });
      EXPECT_EQ(missing, first);
      EXPECT_TRUE(bool(launch(device, body, {second, first}, 64, sampled)));
    }
  }
}

/// 1 to 97, so that loops over data end.
void smallNumbers(uint64_t offset, llvm::MutableArrayRef<uint8_t> page) {
  for (size_t i = 0; i + 4 <= page.size(); i += 4) {
    uint32_t number = uint32_t(1 + (offset + i) / 4 % 97);
    std::memcpy(&page[i], &number, 4);
  }
}

/// Compiled programs take the same time and move the same bytes with values
/// and without.
TEST(SimTimingValues, SameTimes) {
  for (const char *name : {"Workloads.gfx950.O3", "Groups.gfx950.O3"}) {
    auto object = loadProgram(name);
    for (const Kernel &kernel : object->kernels()) {
      TimingResult results[2];
      for (bool skip : {false, true}) {
        Device device;
        LaunchConfig config;
        config.grid = {3, 1, 1};
        config.block = {256, 1, 1};
        config.checks = CheckSet();
        config.timing.emplace();
        config.timing->skipValues = skip;
        for (const KernelArg &arg : kernel.info().args) {
          if (arg.kind == "global_buffer") {
            config.setArg(arg.offset, llvm::cantFail(device.memory().allocate(
                                          1 << 20, {"numbers", smallNumbers})));
          } else if (!arg.isHidden() && arg.size == 4) {
            config.setArg(arg.offset, 300);
          }
        }
        llvm::Expected<LaunchResult> result = device.launch(kernel, config);
        if (result) {
          results[skip] = *result->timing;
        } else {
          ADD_FAILURE() << name << ' ' << kernel.name().str() << ": "
                        << llvm::toString(result.takeError());
        }
      }
      EXPECT_EQ(results[0].cycles, results[1].cycles)
          << name << ' ' << kernel.name().str();
      EXPECT_EQ(results[0].l1Bytes, results[1].l1Bytes);
      EXPECT_EQ(results[0].hbmBytes, results[1].hbmBytes);
      EXPECT_EQ(results[0].stalls, results[1].stalls);
    }
  }
}

} // namespace
