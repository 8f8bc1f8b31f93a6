//===- DescriptorTest.cpp - what kernel descriptors ask for -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// User and system SGPRs, packed work-item ids, the initial MODE, preloaded and
// hidden arguments.
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// Stores these scalar registers one after the other, from lane 0 of one wave;
/// the output's address is in `base`.
std::string storeScalars(std::initializer_list<const char *> registers,
                         const char *base) {
  std::string text = "  v_mov_b32 v1, 0\n";
  unsigned offset = 0;
  for (const char *reg : registers) {
    text += formatv("  v_mov_b32 v2, {0}\n"
                    "  global_store_dword v1, v2, {1} offset:{2}\n",
                    reg, base, offset)
                .str();
    offset += 4;
  }
  return text;
}

// All user SGPRs that these processors have, in the order of their bits, and
// the dispatch packet behind the first of them.
TEST(SimDescriptor, UserRegisters) {
  Launch launch;
  launch.options.scratchBytes = 48;
  launch.options.directives = "    .amdhsa_user_sgpr_dispatch_ptr 1\n"
                              "    .amdhsa_user_sgpr_queue_ptr 1\n"
                              "    .amdhsa_user_sgpr_dispatch_id 1\n"
                              "    .amdhsa_user_sgpr_private_segment_size 1\n";
  launch.options.ldsBytes = 300;
  launch.config.dynamicLds = 100;
  launch.config.block = {32, 2, 1};
  launch.config.grid = {1, 1, 1};
  auto out = cantFail(launch.run(
      "  s_load_dwordx2 s[20:21], s[4:5], 0x0\n"  // kernarg
      "  s_load_dwordx8 s[24:31], s[0:1], 0x0\n"  // packet
      "  s_load_dwordx4 s[36:39], s[0:1], 0x20\n" // and its rest
      "  s_load_dword s40, s[2:3], 0x0\n"         // queue
      "  s_waitcnt lgkmcnt(0)\n"
      "  s_sub_u32 s41, s38, s4\n" // address of the arguments in the packet
      "  s_subb_u32 s42, s39, s5\n" +
      storeScalars({"s8", "s9", "s10", "s11", "s25", "s26", "s27", "s28", "s30",
                    "s31", "s41", "s42"},
                   "s[20:21]")));
  EXPECT_EQ(out[0], 48u); // bytes of private segment
  EXPECT_EQ(out[1], 0u);  // workgroup ids
  EXPECT_EQ(out[2], 0u);
  EXPECT_EQ(out[3], 0u);
  EXPECT_EQ(out[4], 32u | 2u << 16); // block x, y
  EXPECT_EQ(out[5], 1u);             // block z
  EXPECT_EQ(out[6], 32u);            // grid in work-items
  EXPECT_EQ(out[7], 2u);
  EXPECT_EQ(out[8], 48u);  // private segment
  EXPECT_EQ(out[9], 400u); // group segment
  EXPECT_EQ(out[10], 0u);
  EXPECT_EQ(out[11], 0u);
}

// Every set of axes: what is enabled follows the user SGPRs without gaps.
TEST(SimDescriptor, WorkgroupIdsOfAnyAxes) {
  for (unsigned axes = 1; axes < 8; ++axes) {
    Launch launch;
    launch.options.workgroupIds = axes;
    launch.config.grid = {2, 3, 4};
    launch.dwords = 64;
    unsigned count = unsigned(std::popcount(axes));
    // Every workgroup adds 1 where its enabled ids, in base 4, point.
    std::string body = "  s_load_dwordx2 s[20:21], s[0:1], 0x0\n"
                       "  s_mov_b32 s22, 0\n";
    for (unsigned i = 0; i < count; ++i) {
      body += formatv("  s_lshl_b32 s23, s{0}, {1}\n"
                      "  s_add_u32 s22, s22, s23\n",
                      2 + i, 2 * i)
                  .str();
    }
    body += "  s_lshl_b32 s22, s22, 2\n  v_mov_b32 v1, s22\n"
            "  v_mov_b32 v2, 1\n  s_waitcnt lgkmcnt(0)\n"
            "  global_atomic_add v1, v2, s[20:21]\n";
    auto out = cantFail(launch.run(body));
    std::vector<uint32_t> expected(64);
    for (unsigned g = 0; g < 24; ++g) {
      unsigned ids[3] = {g % 2, g / 2 % 3, g / 6}, place = 0, shift = 0;
      for (unsigned axis = 0; axis < 3; ++axis) {
        if (axes >> axis & 1) {
          place += ids[axis] << shift;
          shift += 2;
        }
      }
      ++expected[place];
    }
    EXPECT_EQ(out, expected) << "axes " << axes;
  }
}

// The bits of MODE at the start of a wave.
TEST(SimDescriptor, ModeBits) {
  for (unsigned value = 0; value < 4; ++value) {
    Launch launch;
    unsigned other = (value + 1) % 4;
    launch.options.denormals32 = value;
    launch.options.directives =
        formatv("    .amdhsa_float_round_mode_32 {0}\n"
                "    .amdhsa_float_round_mode_16_64 {1}\n"
                "    .amdhsa_float_denorm_mode_16_64 {1}\n"
                "    .amdhsa_dx10_clamp {2}\n"
                "    .amdhsa_ieee_mode {3}\n",
                value, other, value & 1, value >> 1)
            .str();
    auto out =
        cantFail(launch.run("  s_load_dwordx2 s[20:21], s[0:1], 0x0\n"
                            "  s_getreg_b32 s22, hwreg(HW_REG_MODE, 0, 10)\n"
                            "  s_waitcnt lgkmcnt(0)\n" +
                            storeScalars({"s22"}, "s[20:21]")));
    EXPECT_EQ(out[0], value | other << 2 | value << 4 | other << 6 |
                          (value & 1) << 8 | (value >> 1) << 9)
        << value;
  }
}

// Preloading begins where the descriptor says and may reach past the explicit
// arguments.
TEST(SimDescriptor, PreloadedArgumentsAtAnOffset) {
  Launch launch;
  launch.options.directives =
      "    .amdhsa_user_sgpr_kernarg_preload_length 5\n"
      "    .amdhsa_user_sgpr_kernarg_preload_offset 2\n";
  launch.config.setArg(8, uint32_t(11));
  launch.config.setArg(12, uint32_t(22));
  launch.config.setArg(16, uint64_t(0x4400000033));
  auto out =
      cantFail(launch.run("  s_trap 2\n  .p2align 8\n"
                          "  s_load_dwordx2 s[20:21], s[0:1], 0x0\n"
                          "  s_waitcnt lgkmcnt(0)\n" +
                          storeScalars({"s2", "s3", "s4", "s5"}, "s[20:21]")));
  EXPECT_EQ(out[0], 11u);
  EXPECT_EQ(out[1], 22u);
  EXPECT_EQ(out[2], 0x33u);
  EXPECT_EQ(out[3], 0x44u);
}

// Every hidden argument that metadata can name, at its place.
TEST(SimDescriptor, HiddenArguments) {
  struct Hidden {
    const char *kind;
    unsigned offset, size;
    uint64_t value;
  };
  const Hidden hidden[] = {
      {"hidden_block_count_x", 16, 4, 2},
      {"hidden_block_count_y", 20, 4, 3},
      {"hidden_block_count_z", 24, 4, 1},
      {"hidden_group_size_x", 28, 2, 8},
      {"hidden_group_size_y", 30, 2, 4},
      {"hidden_group_size_z", 32, 2, 2},
      {"hidden_remainder_x", 34, 2, 0},
      {"hidden_remainder_y", 36, 2, 0},
      {"hidden_remainder_z", 38, 2, 0},
      {"hidden_global_offset_x", 40, 8, 0},
      {"hidden_global_offset_y", 48, 8, 0},
      {"hidden_global_offset_z", 56, 8, 0},
      {"hidden_grid_dims", 64, 2, 3},
      {"hidden_printf_buffer", 72, 8, 0},
      {"hidden_hostcall_buffer", 80, 8, 0},
      {"hidden_multigrid_sync_arg", 88, 8, 0},
      {"hidden_heap_v1", 96, 8, 0},
      {"hidden_default_queue", 104, 8, 0},
      {"hidden_completion_action", 112, 8, 0},
      {"hidden_dynamic_lds_size", 120, 4, 640},
      {"hidden_private_base", 124, 4, 0x20000},
      {"hidden_shared_base", 128, 4, 0x10000},
      {"hidden_queue_ptr", 136, 8, 0},
  };
  std::string args = "        - { .name: out, .offset: 0, .size: 8, "
                     ".value_kind: global_buffer, .address_space: global }\n";
  for (const Hidden &arg : hidden) {
    args +=
        formatv("        - {{ .offset: {0}, .size: {1}, .value_kind: {2} }\n",
                arg.offset, arg.size, arg.kind)
            .str();
  }
  // Copies the segment, 64 dwords from the address of the arguments.
  std::string text = R"(
  .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
  .text
  .globl k
  .p2align 8
  .type k,@function
k:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  v_bfe_u32 v3, v0, 20, 10
  v_lshl_add_u32 v1, v2, 3, v1
  v_lshl_add_u32 v1, v3, 5, v1
  v_lshlrev_b32 v1, 2, v1
  v_cmp_gt_u32 vcc, 0x90, v1
  s_and_b64 exec, exec, vcc
  s_or_b32 s2, s2, s3
  s_cmp_lg_u32 s2, 0
  s_cbranch_scc1 .Lend
  global_load_dword v2, v1, s[0:1]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
.Lend:
  s_endpgm
.Lkernel_end:
  .size k, .Lkernel_end-k
  .rodata
  .p2align 6
  .amdhsa_kernel k
    .amdhsa_kernarg_size 144
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_system_sgpr_workgroup_id_x 1
    .amdhsa_system_sgpr_workgroup_id_y 1
    .amdhsa_system_vgpr_workitem_id 2
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 16
    .amdhsa_accum_offset 8
  .end_amdhsa_kernel
  .amdgpu_metadata
  amdhsa.version: [1, 2]
  amdhsa.target: amdgcn-amd-amdhsa--gfx950
  amdhsa.kernels:
    - .name: k
      .symbol: k.kd
      .kernarg_segment_size: 144
      .kernarg_segment_align: 8
      .group_segment_fixed_size: 0
      .private_segment_fixed_size: 0
      .wavefront_size: 64
      .sgpr_count: 16
      .vgpr_count: 8
      .max_flat_workgroup_size: 1024
      .args:
)" + args + "  .end_amdgpu_metadata\n";
  auto object = loadObject(assembleText(text, "gfx950"));
  ASSERT_NE(object, nullptr);
  Device device;
  LaunchConfig config;
  config.grid = {2, 3, 1};
  config.block = {8, 4, 2};
  config.dynamicLds = 640;
  uint64_t out = cantFail(device.memory().allocate(256, {"out", {}}));
  config.setArg(0, out);
  auto result = device.launch(object->kernels()[0], config);
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  std::vector<uint8_t> bytes(144);
  cantFail(device.memory().read(out, bytes));
  for (const Hidden &arg : hidden) {
    uint64_t value = 0;
    std::memcpy(&value, &bytes[arg.offset], arg.size);
    EXPECT_EQ(value, arg.value) << arg.kind;
  }
}

} // namespace
