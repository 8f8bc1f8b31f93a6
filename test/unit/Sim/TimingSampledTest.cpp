//===- TimingSampledTest.cpp - a part stands for the whole ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sampled launch runs a few rounds of the workgroups of one die. Its time is
// that of the full launch within 3 % on kernels of different kinds.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "TimedKernel.h"

#include <cstdio>

using namespace tenon::sim;
using namespace tenon::sim::test;
using namespace tenon::target;

namespace {

/// One kernel with a grid of several rounds.
struct Case {
  const char *name;
  std::string program; ///< of test/unit/Sim/programs, or empty: `body`
  const char *kernel;
  std::string body;
  unsigned groups;
  std::array<uint32_t, 3> block;
  unsigned ldsBytes;
  uint64_t bufferBytes; ///< of each argument that is a buffer
  bool warm;
};

void PrintTo(const Case &sample, std::ostream *stream) {
  *stream << sample.name;
}

std::string loop(unsigned count, const std::string &body) {
  return "  s_movk_i32 s20, " + std::to_string(count) + "\n.Lloop:\n" + body +
         "  s_sub_u32 s20, s20, 1\n  s_cmp_lg_u32 s20, 0\n"
         "  s_cbranch_scc1 .Lloop\n";
}

/// s[4:5] = the first argument, v1 = 16 * work-item + 2^shift * workgroup.
std::string addresses(unsigned shift) {
  return "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_lshlrev_b32 v1, 4, v0\n"
         "  s_lshl_b32 s8, s2, " +
         std::to_string(shift) +
         "\n  v_add_u32 v1, s8, v1\n  s_waitcnt lgkmcnt(0)\n";
}

const std::string loadHere = "  global_load_dwordx4 v[8:11], v1, s[4:5]\n";

/// A state that is loaded, and stored past the caches: 32 KiB of a workgroup.
std::string updateState() {
  std::string loads, stores;
  for (unsigned i = 0; i < 8; ++i) {
    std::string data = "v[" + std::to_string(8 + 4 * i) + ":" +
                       std::to_string(11 + 4 * i) + "]";
    loads += "  global_load_dwordx4 " + data + ", v1, s[4:5]\n" +
             "  v_add_u32 v1, 0x1000, v1\n";
    stores += "  v_subrev_u32 v1, 0x1000, v1\n"
              "  global_store_dwordx4 v1, " +
              data + ", s[4:5] nt\n";
  }
  return loads + "  s_waitcnt vmcnt(0)\n" + stores;
}

std::vector<Case> cases() {
  std::string matrix =
      "  v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[4:7], v[32:47]\n";
  return {
      {"vector ALU",
       "",
       "",
       loop(10, repeat(32, "  v_add_u32 v2, v3, v4\n")),
       8000,
       {256, 1, 1},
       0,
       4096,
       false},
      {"matrix",
       "",
       "",
       loop(4, repeat(16, matrix)),
       5000,
       {256, 1, 1},
       0,
       4096,
       false},
      {"LDS with conflicts",
       "",
       "",
       "  v_lshlrev_b32 v2, 5, v0\n" +
           loop(10, repeat(8, "  ds_read_b128 v[8:11], v2\n") +
                        "  s_waitcnt lgkmcnt(0)\n"),
       4000,
       {256, 1, 1},
       8192,
       4096,
       false},
      {"later workgroups end at once",
       "",
       "",
       "  s_cmp_gt_u32 s2, 4999\n  s_cbranch_scc1 .Lidle\n" +
           loop(10, repeat(32, "  v_add_u32 v2, v3, v4\n")) + ".Lidle:\n",
       12000,
       {256, 1, 1},
       0,
       4096,
       false},
      {"stream of loads",
       "",
       "",
       addresses(14) + repeat(4, loadHere + "  v_add_u32 v1, 0x1000, v1\n") +
           "  s_waitcnt vmcnt(0)\n",
       8192,
       {256, 1, 1},
       0,
       128 << 20,
       false},
      {"copy",
       "",
       "",
       addresses(12) + loadHere +
           "  s_waitcnt vmcnt(0)\n"
           "  global_store_dwordx4 v1, v[8:11], s[4:5]\n",
       16384,
       {256, 1, 1},
       0,
       64 << 20,
       false},
      {"state",
       "",
       "",
       addresses(15) + updateState(),
       12288,
       {256, 1, 1},
       0,
       uint64_t(12288) << 15,
       false},
      {"data in the L2",
       "",
       "",
       "  s_and_b32 s2, s2, 63\n" + addresses(14) +
           loop(4, repeat(2, loadHere) + "  s_waitcnt vmcnt(0)\n"),
       40960,
       {256, 1, 1},
       0,
       1 << 20,
       true},
      {"one table for all",
       "",
       "",
       "  s_mov_b32 s2, 0\n" + addresses(0) +
           loop(16, loadHere + "  v_add_u32 v1, 0x1000, v1\n"
                               "  s_waitcnt vmcnt(0)\n"),
       8192,
       {256, 1, 1},
       0,
       128 << 10,
       false},
      {"saxpy",
       "Workloads.gfx950.O3",
       "saxpy",
       "",
       20000,
       {256, 1, 1},
       0,
       20000 * 1024,
       false},
      {"prefixScan",
       "Groups.gfx950.O3",
       "prefixScan",
       "",
       6000,
       {256, 1, 1},
       0,
       6000 * 1024,
       false},
      {"bitonicSort",
       "Groups.gfx950.O3",
       "bitonicSort",
       "",
       4000,
       {256, 1, 1},
       0,
       4000 * 1024,
       false},
      {"mix64",
       "Workloads.gfx950.O3",
       "mix64",
       "",
       4000,
       {256, 1, 1},
       0,
       4000 * 2048,
       false},
  };
}

class SimTimingSampled : public ::testing::TestWithParam<Case> {
protected:
  TimingResult run(bool sampled, unsigned groups) {
    const Case &sample = GetParam();
    KernelOptions options;
    options.ldsBytes = sample.ldsBytes;
    options.vgprs = options.accumOffset = 64;
    auto object = sample.program.empty()
                      ? loadObject(assemble(sample.body, options))
                      : loadProgram(sample.program);
    const Kernel *kernel = sample.program.empty()
                               ? &object->kernels()[0]
                               : object->findKernel(sample.kernel);
    Device device;
    LaunchConfig config;
    config.grid = {groups, 1, 1};
    config.block = sample.block;
    config.checks = CheckSet();
    config.timing.emplace();
    config.timing->sampled = sampled;
    config.timing->warm = sample.warm;
    config.timing->skipValues = true;
    auto buffer = [&] {
      return llvm::cantFail(device.memory().allocate(sample.bufferBytes));
    };
    if (kernel->info().args.empty()) {
      config.setArg(0, buffer());
    }
    for (const KernelArg &arg : kernel->info().args) {
      if (arg.kind == "global_buffer") {
        config.setArg(arg.offset, buffer());
      } else if (!arg.isHidden() && arg.size == 4) {
        config.setArg(arg.offset, 256 * groups); // a count, or a factor
      }
    }
    llvm::Expected<LaunchResult> result = device.launch(*kernel, config);
    if (!result) {
      ADD_FAILURE() << llvm::toString(result.takeError());
      return {};
    }
    return *result->timing;
  }
};

/// Times within 3 %, bytes at the ends of the hierarchy within 5 %. (Between
/// them it depends on how far waves drift apart what an L1 still holds.)
TEST_P(SimTimingSampled, AgreesWithTheWhole) {
  const Case &sample = GetParam();
  TimingResult full = run(false, sample.groups);
  TimingResult part = run(true, sample.groups);
  EXPECT_FALSE(full.sampled);
  EXPECT_TRUE(part.sampled);
  double error = double(part.cycles) / double(full.cycles) - 1;
  std::printf("%-20s full %8llu sampled %8llu cycles: %+.1f %%; HBM %.3g and "
              "%.3g MB\n",
              sample.name, (unsigned long long)full.cycles,
              (unsigned long long)part.cycles, 100 * error,
              double(full.hbmBytes) * 1e-6, double(part.hbmBytes) * 1e-6);
  EXPECT_LE(std::abs(error), 0.03);
  EXPECT_NEAR(double(part.l1Bytes), double(full.l1Bytes),
              0.05 * double(full.l1Bytes) + 1);
  EXPECT_NEAR(double(part.hbmBytes), double(full.hbmBytes),
              0.05 * double(full.hbmBytes) + 1e5);
}

INSTANTIATE_TEST_SUITE_P(Kernels, SimTimingSampled,
                         ::testing::ValuesIn(cases()),
                         [](const ::testing::TestParamInfo<Case> &info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

} // namespace
