//===- ComgrTest.cpp - ROCm's code object manager ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With the library that is installed, whatever chips it knows; test/tools has
// what becomes of its answers.
//
//===----------------------------------------------------------------------===//

#include "tenon/CodeGen/Comgr.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace tenon::codegen;

static const char *const assembly = R"(
  .amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
  .amdhsa_code_object_version 4
  .text
  .globl nothing
  .p2align 8
  .type nothing,@function
nothing:
  s_endpgm
  .rodata
  .p2align 6
  .amdhsa_kernel nothing
    .amdhsa_group_segment_fixed_size 1536
    .amdhsa_next_free_vgpr 4
    .amdhsa_next_free_sgpr 8
    .amdhsa_accum_offset 4
  .end_amdhsa_kernel
  .amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: amdgcn-amd-amdhsa--gfx90a
amdhsa.kernels:
  - .name: nothing
    .symbol: nothing.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1536
    .private_segment_fixed_size: 0
    .sgpr_count: 14
    .vgpr_count: 4
    .agpr_count: 0
    .wavefront_size: 64
    .max_flat_workgroup_size: 256
...
  .end_amdgpu_metadata
)";

/// The bytes of `assembly` as a relocatable object.
static std::string assembled() {
  llvm::SmallString<64> source, object;
  llvm::sys::fs::createTemporaryFile("comgr-test", "s", source);
  llvm::sys::fs::createTemporaryFile("comgr-test", "o", object);
  auto cleanUp = llvm::make_scope_exit([&] {
    llvm::sys::fs::remove(source);
    llvm::sys::fs::remove(object);
  });
  std::error_code error;
  llvm::raw_fd_ostream(source, error) << assembly;
  EXPECT_EQ(llvm::sys::ExecuteAndWait(
                TENON_LLVM_MC,
                {TENON_LLVM_MC, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a",
                 "-filetype=obj", source, "-o", object}),
            0);
  return (*llvm::MemoryBuffer::getFile(object))->getBuffer().str();
}

// What the installed library links, it reads as what was assembled.
TEST(ComgrTest, LinksAndInspects) {
  auto comgr = Comgr::get();
  if (!comgr) {
    GTEST_SKIP() << llvm::toString(comgr.takeError());
  }
  if (!(*comgr)->knows("gfx90a")) {
    GTEST_SKIP() << (*comgr)->name() << " does not know gfx90a";
  }
  std::string object = assembled();
  auto linked = (*comgr)->link({object.data(), object.size()}, "gfx90a");
  ASSERT_TRUE(bool(linked)) << llvm::toString(linked.takeError());
  auto seen = (*comgr)->inspect(*linked);
  ASSERT_TRUE(bool(seen)) << llvm::toString(seen.takeError());
  EXPECT_EQ(seen->chip, "gfx90a");
  ASSERT_EQ(seen->kernels.size(), 1u);
  EXPECT_EQ(seen->kernels[0].name, "nothing");
  EXPECT_EQ(seen->kernels[0].ldsBytes, 1536u);
  EXPECT_EQ(seen->kernels[0].sgprs, 14u);
  EXPECT_EQ(seen->kernels[0].kernargBytes, 16u);

  // What is no object is refused with a reason.
  auto refused = (*comgr)->link({"nonsense", 8}, "gfx90a");
  ASSERT_FALSE(bool(refused));
  EXPECT_NE(llvm::toString(refused.takeError()).find("cannot link"),
            std::string::npos);
}

// Each figure that both read is compared.
TEST(ComgrTest, DifferencesAreErrors) {
  KernelReport report;
  report.name = "k";
  report.sgprs = 10;
  report.ldsBytes = 64;
  report.scratchBytes = 4;
  ComgrObject seen{"gfx950", {{"k", 10, 64, 4, 0}}};
  auto difference = [&](const ComgrObject &other) {
    return llvm::toString(compareWithComgr(other, "gfx950", report));
  };
  EXPECT_EQ(difference(seen), "");
  EXPECT_NE(difference({"gfx942", seen.kernels}).find("gfx942"),
            std::string::npos);
  EXPECT_NE(difference({"gfx950", {}}).find("0 kernels"), std::string::npos);
  EXPECT_NE(difference({"gfx950", {{"j", 10, 64, 4, 0}}}).find("no kernel k"),
            std::string::npos);
  EXPECT_NE(difference({"gfx950", {{"k", 11, 64, 4, 0}}}).find("11 SGPRs"),
            std::string::npos);
  EXPECT_NE(difference({"gfx950", {{"k", 10, 65, 4, 0}}}).find("65 bytes of L"),
            std::string::npos);
  EXPECT_NE(difference({"gfx950", {{"k", 10, 64, 5, 0}}}).find("5 bytes of s"),
            std::string::npos);
}
