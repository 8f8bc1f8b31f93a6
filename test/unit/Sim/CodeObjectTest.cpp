//===- CodeObjectTest.cpp - parsing and disassembly -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

using namespace llvm;
using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

TEST(SimCodeObject, DescriptorAndMetadata) {
  KernelOptions options;
  options.vgprs = 100;
  options.accumOffset = 64;
  options.ldsBytes = 3000;
  options.scratchBytes = 48;
  auto object = loadObject(assemble("  s_nop 0\n", options));
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->processor(), Processor::Gfx950);
  ASSERT_EQ(object->kernels().size(), 1u);
  const KernelInfo &info = object->findKernel("k")->info();
  EXPECT_EQ(info.vgprs, 64u);
  EXPECT_EQ(info.agprs, 36u);
  EXPECT_EQ(info.ldsBytes, 3000u);
  EXPECT_EQ(info.scratchBytes, 48u);
  EXPECT_EQ(info.kernargBytes, 64u);
  EXPECT_EQ(object->findKernel("other"), nullptr);
}

TEST(SimCodeObject, OtherTargetsAreRefused) {
  std::vector<uint8_t> bytes =
      assembleText("  .amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n"
                   "  s_endpgm\n",
                   "gfx90a");
  auto object = CodeObject::load(bytes);
  ASSERT_FALSE(bool(object));
  std::string text = toString(object.takeError());
  EXPECT_NE(text.find("unsupported target"), std::string::npos) << text;
  auto garbage = CodeObject::load(ArrayRef<uint8_t>(bytes).take_front(40));
  ASSERT_FALSE(bool(garbage));
  consumeError(garbage.takeError());
}

TEST(SimCodeObject, StaticInstructions) {
  auto object = loadObject(assemble(R"(
  s_load_dword s4, s[0:1], 0x0
  v_exp_f32 v1, v2
  v_fma_f32 v1, v2, v3, v4
  v_mfma_f32_16x16x4_f32 v[4:7], v1, v2, v[4:7]
  buffer_load_dword v1, v2, s[8:11], 0 offen
  global_store_dword v[2:3], v1, off
  global_atomic_add v2, v1, s[4:5]
  ds_read_b32 v1, v2
  s_waitcnt vmcnt(0)
  s_barrier
  s_nop 3
  s_add_u32 s4, s4, s4
  s_branch .Lnext
.Lnext:
  s_setprio 1
  tbuffer_load_format_x v1, off, s[8:11], 0 format:[BUF_DATA_FORMAT_32]
)"));
  ASSERT_NE(object, nullptr);
  const Kernel &kernel = object->kernels()[0];
  InstructionCounts counts = cantFail(countStaticInstructions(kernel));
  auto count = [&](InstructionClass which) { return counts[unsigned(which)]; };
  EXPECT_EQ(count(InstructionClass::Smem), 1u);
  EXPECT_EQ(count(InstructionClass::Trans), 1u);
  EXPECT_EQ(count(InstructionClass::Valu), 1u);
  EXPECT_EQ(count(InstructionClass::Mfma), 1u);
  EXPECT_EQ(count(InstructionClass::VmemLoad), 2u);
  EXPECT_EQ(count(InstructionClass::VmemStore), 2u);
  EXPECT_EQ(count(InstructionClass::Lds), 1u);
  EXPECT_EQ(count(InstructionClass::Wait), 2u);
  EXPECT_EQ(count(InstructionClass::Nop), 1u);
  EXPECT_EQ(count(InstructionClass::Salu), 1u);
  EXPECT_EQ(count(InstructionClass::Branch), 2u) << "s_branch, s_endpgm";
  EXPECT_EQ(count(InstructionClass::Other), 1u);
  std::vector<StaticInstruction> all;
  cantFail(forEachInstruction(
      kernel, [&](const StaticInstruction &one) { all.push_back(one); }));
  ASSERT_EQ(all.size(), 16u);
  EXPECT_EQ(all[0].address, kernel.entry());
  EXPECT_EQ(all[0].text, "s_load_dword s4, s[0:1], 0x0");
  EXPECT_EQ(all[1].address, kernel.entry() + 8);
  EXPECT_TRUE(all[2].implemented);
  EXPECT_FALSE(all[14].implemented) << all[14].text;
}

// Bits that LLVM's disassembler cannot take: they end the launch that reaches
// them, not the process.
TEST(SimCodeObject, BitsThatAreNoInstruction) {
  for (const char *words :
       {"0x020000f9, 0x07060601",    // SDWA: a select of 7
        "0xd3ad0000, 0x040200f0",    // small formats with a constant
        "0xd1010000, 0x000200ff",    // VOP3 with a literal
        "0xd04100ff, 0x00020100",    // compare into a literal
        "0xe0500000, 0xff000000",    // buffer with a literal as offset
        "0xffffffff, 0xffffffff"}) { // no encoding at all
    auto object =
        loadObject(assemble("  s_nop 0\n  .long " + std::string(words) + "\n"));
    ASSERT_NE(object, nullptr);
    Device device;
    LaunchConfig config;
    auto result = device.launch(object->kernels()[0], config);
    ASSERT_FALSE(bool(result)) << words;
    std::string text = toString(result.takeError());
    EXPECT_NE(text.find("<not an instruction>"), std::string::npos) << text;
  }
}

// Scalar destinations of vector instructions whose field names a constant.
TEST(SimCodeObject, DestinationsThatAreNoRegister) {
  for (const char *words : {"0x7fda057a",                // v_readfirstlane
                            "0xd0627bd0, 0x00993e7a"}) { // v_cmp
    auto object =
        loadObject(assemble("  s_nop 0\n  .long " + std::string(words) + "\n"));
    ASSERT_NE(object, nullptr);
    Device device;
    auto result = device.launch(object->kernels()[0], LaunchConfig());
    ASSERT_FALSE(bool(result)) << words;
    std::string text = toString(result.takeError());
    EXPECT_NE(text.find("not implemented"), std::string::npos) << text;
  }
}

} // namespace
