//===- CheckUninitTest.cpp - undefined data and their ways ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckPrograms.h"

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

std::string undefinedIn(const std::string &instructions) {
  LaneProgram program;
  program.options.ldsBytes = 1024;
  program.options.scratchBytes = 64;
  program.inputs = {lanes([](unsigned i) { return i; })};
  program.instructions = instructions;
  return findingsOf(program, Check::Uninit);
}

// Undefined registers may be moved about, but not be stored.
TEST(SimCheck, UndefinedRegistersThatReachAStore) {
  for (const char *body :
       {"  v_add_u32 v40, v10, v30\n", "  v_mov_b32 v40, s40\n",
        "  v_accvgpr_read_b32 v40, a7\n",
        "  v_mov_b32 v9, v30\n  v_add_f32_dpp v40, v9, v10 row_ror:8 "
        "row_mask:0xf bank_mask:0xf\n",
        "  v_readlane_b32 s40, v30, 3\n  v_mov_b32 v40, s40\n",
        "  v_mov_b32 v41, v10\n  v_permlane32_swap_b32 v40, v41\n",
        "  ds_read_b32 v40, v1\n  s_waitcnt lgkmcnt(0)\n",
        "  v_mov_b32 v20, v10\n"
        "  v_mad_u64_u32 v[22:23], vcc, v10, v10, v[20:21]\n"
        "  v_mov_b32 v40, v23\n",
        "  v_writelane_b32 v9, s40, 0\n  v_readlane_b32 s20, v9, 0\n"
        "  v_mov_b32 v40, s20\n",
        "  v_mov_b32 v9, 0\n  ds_bpermute_b32 v40, v9, v30\n"
        "  s_waitcnt lgkmcnt(0)\n"}) {
    std::string text = undefinedIn(body);
    EXPECT_TRUE(has(text, "undefined data are stored")) << body << text;
    EXPECT_TRUE(has(text, ", v40, s[6:7]`")) << body << text;
  }
}

// What masks, selections and EXEC leave out is not used.
TEST(SimCheck, UndefinedLanesThatAreLeftOut) {
  for (const char *body :
       {// The undefined source is not chosen in any lane.
        "  s_mov_b64 s[20:21], -1\n  v_cndmask_b32 v40, v30, v10, s[20:21]\n",
        "  s_mov_b64 s[20:21], 0\n  v_cndmask_b32 v40, v10, v30, s[20:21]\n",
        // A lane that is defined by another instruction.
        "  v_mov_b32 v40, v10\n  s_mov_b64 exec, 1\n  v_mov_b32 v40, v30\n"
        "  v_mov_b32 v40, 0\n",
        "  ds_write_b32 v1, v30\n  ds_write_b32 v1, v10\n"
        "  ds_read_b32 v40, v1\n  s_waitcnt lgkmcnt(0)\n",
        "  v_mov_b32 v40, 0\n  v_writelane_b32 v40, s4, 3\n",
        // Bits that a mask takes out, also behind a spill.
        "  s_andn2_b64 s[20:21], s[40:41], exec\n"
        "  v_cndmask_b32 v40, v10, v30, s[20:21]\n",
        "  s_orn2_b64 s[20:21], s[40:41], 0\n"
        "  v_cndmask_b32 v40, v30, v10, s[20:21]\n",
        "  s_or_b32 s20, s40, 0xff\n  v_writelane_b32 v9, s20, 0\n"
        "  v_readlane_b32 s21, v9, 0\n  s_and_b32 s21, s21, 0xff\n"
        "  v_mov_b32 v40, s21\n",
        // The low half of a sum does not depend on the high halves.
        "  v_mov_b32 v20, v10\n"
        "  v_mad_u64_u32 v[22:23], vcc, v10, v10, v[20:21]\n"
        "  v_lshl_add_u64 v[22:23], v[22:23], 2, v[20:21]\n"
        "  v_mov_b32 v40, v22\n",
        // op_sel takes the defined half of a pair twice.
        "  v_mov_b32 v20, v10\n"
        "  v_pk_mul_f32 v[40:41], v[20:21], v[20:21] op_sel_hi:[0,0]\n",
        "  v_mov_b32 v20, v10\n"
        "  v_pk_mov_b32 v[40:41], v[20:21], v[20:21] op_sel:[0,0]\n"}) {
    EXPECT_EQ(undefinedIn(body), "") << body;
  }
}

// A ragged matrix product: undefined rows of A spoil their rows of D only.
TEST(SimCheck, UndefinedRowsOfAMatrixProduct) {
  // Lanes with l % 16 == 15 hold row 15 of A, which v43 of the last lane group
  // has.
  std::string body = "  v_mov_b32 v20, v10\n  v_mov_b32 v21, v10\n"
                     "  v_mov_b32 v40, 0\n  v_mov_b32 v41, 0\n"
                     "  v_mov_b32 v42, 0\n  v_mov_b32 v43, 0\n"
                     "  s_mov_b32 exec_lo, 0x80008000\n"
                     "  s_mov_b32 exec_hi, 0x80008000\n"
                     "  v_mov_b32 v20, v30\n  s_mov_b64 exec, -1\n  s_nop 7\n"
                     "  v_mfma_f32_16x16x4_f32 v[40:43], v20, v21, v[40:43]\n"
                     "  s_nop 15\n";
  EXPECT_EQ(undefinedIn(body), "");
  std::string text = undefinedIn(body + "  v_mov_b32 v40, v43\n");
  EXPECT_TRUE(has(text, "lane 48")) << text;
}

// Undefined data in addresses, EXEC and branches.
TEST(SimCheck, UndefinedDataThatSteer) {
  std::string text = undefinedIn("  v_mov_b32 v40, 0\n  ds_read_b32 v9, v30\n"
                                 "  s_waitcnt lgkmcnt(0)\n");
  EXPECT_TRUE(has(text, "the address depends on undefined data")) << text;
  text = undefinedIn("  v_mov_b32 v40, 0\n  s_cmp_eq_u32 s40, 0\n"
                     "  s_cbranch_scc1 .Lnext\n.Lnext:\n");
  EXPECT_TRUE(has(text, "the branch depends on undefined data")) << text;
  text = undefinedIn("  v_mov_b32 v40, 0\n  v_cmp_eq_u32 vcc, v30, v10\n"
                     "  s_and_saveexec_b64 s[20:21], vcc\n");
  EXPECT_TRUE(has(text, "EXEC depends on undefined data")) << text;
}

// Device memory that was declared undefined is defined by stores.
TEST(SimCheck, UndefinedDeviceMemory) {
  std::string body = "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
                     "  v_lshlrev_b32 v1, 2, v0\n  s_waitcnt lgkmcnt(0)\n";
  auto findings = [&](const std::string &more) {
    std::shared_ptr<const CodeObject> object =
        loadObject(assemble(body + more));
    Device device;
    AllocOptions undefined;
    undefined.undefined = true;
    LaunchConfig config;
    config.block = {64, 1, 1};
    config.setArg(0, llvm::cantFail(device.memory().allocate(256, undefined)));
    config.setArg(8, llvm::cantFail(device.memory().allocate(256)));
    LaunchResult result =
        llvm::cantFail(device.launch(object->kernels()[0], config));
    std::string text;
    for (const Finding &finding : result.findings) {
      text += formatFinding(finding);
    }
    return text;
  };
  std::string copy = "  global_load_dword v2, v1, s[4:5]\n"
                     "  s_waitcnt vmcnt(0)\n"
                     "  global_store_dword v1, v2, s[6:7]\n";
  EXPECT_TRUE(has(findings(copy), "uninit: ")) << findings(copy);
  EXPECT_EQ(findings("  global_store_dword v1, v1, s[4:5]\n"
                     "  s_waitcnt vmcnt(0)\n" +
                     copy),
            "");
  // Two of four bytes.
  std::string half = "  global_store_short v1, v1, s[4:5]\n"
                     "  s_waitcnt vmcnt(0)\n";
  EXPECT_TRUE(has(findings(half + copy), "uninit: "));
  EXPECT_EQ(findings(half + "  global_load_ushort v2, v1, s[4:5]\n"
                            "  s_waitcnt vmcnt(0)\n"
                            "  global_store_short v1, v2, s[6:7]\n"),
            "");
  // Scalar loads.
  std::string scalar = "  s_load_dword s20, s[4:5], 0x0\n"
                       "  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v2, s20\n"
                       "  global_store_dword v1, v2, s[6:7]\n";
  EXPECT_TRUE(has(findings(scalar), "undefined data are stored"));
  EXPECT_EQ(findings("  s_mov_b32 s20, 1\n  s_store_dword s20, s[4:5], 0x0\n"
                     "  s_waitcnt lgkmcnt(0)\n" +
                     scalar),
            "");
  EXPECT_TRUE(has(findings("  s_store_dword s40, s[4:5], 0x0\n"),
                  "undefined data are stored"));
  // What an atomic returns.
  std::string atomic = "  global_atomic_add v2, v1, v1, s[4:5] sc0\n"
                       "  s_waitcnt vmcnt(0)\n"
                       "  global_store_dword v1, v2, s[6:7]\n";
  EXPECT_TRUE(has(findings(atomic), "undefined data are stored"));
  EXPECT_EQ(findings("  global_store_dword v1, v1, s[4:5]\n"
                     "  s_waitcnt vmcnt(0)\n" +
                     atomic),
            "");
}

/// A body that leaves undefined bits in v40 and its twin that does not. v10
/// is defined, v30 is not.
struct Twins {
  const char *name, *faulty, *clean;
};

void expectTwins(llvm::ArrayRef<Twins> all) {
  for (const Twins &twins : all) {
    std::string text = undefinedIn(twins.faulty);
    EXPECT_TRUE(has(text, "undefined data are stored"))
        << twins.name << ": " << text;
    EXPECT_EQ(undefinedIn(twins.clean), "") << twins.name;
  }
}

// Bits and bytes of one register are apart.
TEST(SimCheckUninit, PartsOfARegister) {
  // v20: the low half is defined, the high one is not; v21 the other way.
  const std::string halves =
      "  v_mov_b32 v20, v30\n  v_mov_b32_sdwa v20, v10 dst_sel:WORD_0 "
      "dst_unused:UNUSED_PRESERVE src0_sel:DWORD\n"
      "  v_lshlrev_b32 v21, 16, v30\n  v_lshrrev_b32 v21, 16, v21\n";
  struct {
    const char *name, *faulty, *clean;
  } cases[] = {
      {"and", "v_and_b32 v40, 0x10000, v20", "v_and_b32 v40, 0xffff, v20"},
      {"or", "v_or_b32 v40, 0xfff70000, v20", "v_or_b32 v40, 0xffff0000, v20"},
      {"shift left", "v_lshlrev_b32 v40, 15, v20",
       "v_lshlrev_b32 v40, 16, v20"},
      {"shift right", "v_lshrrev_b32 v40, 15, v21",
       "v_lshrrev_b32 v40, 16, v21"},
      {"shift by undefined", "v_lshlrev_b32 v40, v30, v10",
       "v_lshlrev_b32 v40, v20, v10"},
      {"field", "v_bfe_u32 v40, v20, 8, 9", "v_bfe_u32 v40, v20, 8, 8"},
      {"signed field", "v_bfe_i32 v40, v20, 8, 9", "v_bfe_i32 v40, v20, 8, 8"},
      {"select bits", "v_mov_b32 v22, 0x1ffff\n  v_bfi_b32 v40, v22, v20, v10",
       "v_mov_b32 v22, 0xffff\n  v_bfi_b32 v40, v22, v20, v10"},
      {"align", "v_alignbit_b32 v40, v20, v10, 17",
       "v_alignbit_b32 v40, v20, v10, 16"},
      {"align bytes", "v_alignbyte_b32 v40, v20, v10, 3",
       "v_alignbyte_b32 v40, v20, v10, 2"},
      {"permute bytes",
       "v_mov_b32 v22, 0x0c020100\n  v_perm_b32 v40, v10, v20, v22",
       "v_mov_b32 v22, 0x0c050100\n  v_perm_b32 v40, v10, v20, v22"},
      {"product of 24 bits",
       "v_and_b32 v22, 0x1ffffff, v20\n  v_mul_u32_u24 v40, v22, v10",
       "v_lshlrev_b32 v22, 24, v30\n  v_or_b32 v22, v22, v10\n"
       "  v_mul_u32_u24 v40, v22, v10"},
      {"sum", "v_add_u32 v40, v20, v10\n  v_and_b32 v40, 0x1ffff, v40",
       "v_add_u32 v40, v20, v10\n  v_and_b32 v40, 0xffff, v40"},
      {"half", "v_cvt_f32_f16_sdwa v40, v20 src0_sel:WORD_1",
       "v_cvt_f32_f16 v40, v20"},
      {"half by op_sel",
       "v_mov_b32 v40, 0\n  v_fma_f16 v40, v20, v10, v10 op_sel:[1,0,0,0]",
       "v_mov_b32 v40, 0\n  v_fma_f16 v40, v20, v10, v10"},
      {"half kept", "v_mov_b32 v40, v30\n  v_mad_u16 v40, v10, v10, v10",
       "v_mov_b32 v40, v30\n  v_mad_legacy_u16 v40, v10, v10, v10"},
      {"packed", "v_pk_add_f16 v40, v20, v20",
       "v_pk_add_f16 v40, v20, v20 op_sel_hi:[0,0]"},
      {"mixed",
       "v_fma_mix_f32 v40, v20, v10, v10 op_sel:[1,0,0] "
       "op_sel_hi:[1,0,0]",
       "v_fma_mix_f32 v40, v20, v10, v10 op_sel_hi:[1,0,0]"},
      {"mixlo", "v_mov_b32 v40, v30\n  v_fma_mixlo_f16 v40, v10, v10, v10",
       "v_mov_b32 v40, v20\n  v_fma_mixhi_f16 v40, v10, v10, v10"},
      {"byte to float", "v_cvt_f32_ubyte2 v40, v20",
       "v_cvt_f32_ubyte1 v40, v20"},
      {"pair of floats",
       "v_cvt_pk_bf16_f32 v40, v30, v10\n  v_and_b32 v40, 0xffff, v40",
       "v_cvt_pk_bf16_f32 v40, v10, v30\n  v_and_b32 v40, 0xffff, v40"},
      {"pair of halves", "v_pack_b32_f16 v40, v20, v20 op_sel:[0,1,0]",
       "v_pack_b32_f16 v40, v20, v20"},
      {"two small floats", "v_cvt_pk_fp8_f32 v40, v10, v10",
       "v_cvt_pk_fp8_f32 v40, v10, v10\n"
       "  v_cvt_pk_fp8_f32 v40, v10, v10 op_sel:[0,0,1]"},
      {"a scaled pair",
       "v_cvt_scalef32_pk_fp4_f32 v40, v10, v30, v10\n"
       "  v_and_b32 v40, 0xff, v40",
       "v_cvt_scalef32_pk_fp4_f32 v40, v10, v30, v10\n"
       "  v_and_b32 v40, 0xf, v40"},
      {"small floats out",
       "v_cvt_pk_f32_fp8_sdwa v[40:41], v20 src0_sel:WORD_1",
       "v_cvt_pk_f32_fp8 v[40:41], v20"},
      {"a small float out", "v_cvt_f32_fp8_sdwa v40, v20 src0_sel:BYTE_2",
       "v_cvt_f32_fp8_sdwa v40, v20 src0_sel:BYTE_1"},
      {"sdwa destination",
       "v_mov_b32 v40, v30\n  v_add_u32_sdwa v40, v10, v10 dst_sel:BYTE_0 "
       "dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD",
       "v_mov_b32 v40, v30\n  v_add_u32_sdwa v40, v10, v10 dst_sel:BYTE_0 "
       "dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD"},
      {"sdwa sign",
       "v_mov_b32_sdwa v40, sext(v21) dst_sel:DWORD "
       "src0_sel:WORD_0",
       "v_mov_b32_sdwa v40, sext(v21) dst_sel:DWORD src0_sel:WORD_1"},
      {"dpp", "v_mov_b32_dpp v40, v20 row_ror:8 row_mask:0xf bank_mask:0xf",
       "v_mov_b32_dpp v40, v20 row_ror:8 row_mask:0xf bank_mask:0xf\n"
       "  v_and_b32 v40, 0xffff, v40"},
      {"scalar", "v_readfirstlane_b32 s20, v20\n  v_mov_b32 v40, s20",
       "v_readfirstlane_b32 s20, v20\n  s_and_b32 s20, s20, 0xffff\n"
       "  v_mov_b32 v40, s20"},
      {"bpermute", "ds_bpermute_b32 v40, v1, v20\n  s_waitcnt lgkmcnt(0)",
       "ds_bpermute_b32 v40, v1, v20\n  s_waitcnt lgkmcnt(0)\n"
       "  v_and_b32 v40, 0xffff, v40"},
      {"lds bytes",
       "ds_write_b32 v1, v20\n  ds_read_u8 v40, v1 offset:2\n"
       "  s_waitcnt lgkmcnt(0)",
       "ds_write_b32 v1, v20\n  ds_read_u8 v40, v1 offset:1\n"
       "  s_waitcnt lgkmcnt(0)"},
      {"partial load",
       "v_mov_b32 v40, v30\n  ds_write_b32 v1, v10\n"
       "  ds_read_u16_d16 v40, v1\n  s_waitcnt lgkmcnt(0)",
       "v_mov_b32 v40, v30\n  ds_write_b32 v1, v10\n"
       "  ds_read_u16_d16 v40, v1\n  ds_read_u16_d16_hi v40, v1\n"
       "  s_waitcnt lgkmcnt(0)"},
      {"store of the upper half",
       "v_mov_b32 v40, 0\n  global_store_short_d16_hi v1, v20, s[6:7]",
       "v_mov_b32 v40, 0\n  global_store_short v1, v20, s[6:7]"},
      {"store of a byte",
       "v_mov_b32 v40, 0\n"
       "  global_store_byte_d16_hi v1, v20, s[6:7]",
       "v_mov_b32 v40, 0\n  global_store_byte v1, v20, s[6:7]"},
      {"scratch",
       "scratch_store_dword off, v20, off\n"
       "  scratch_load_ushort v40, off, off offset:2\n  s_waitcnt vmcnt(0)",
       "scratch_store_dword off, v20, off\n"
       "  scratch_load_ushort v40, off, off\n  s_waitcnt vmcnt(0)"},
      {"scratch never written",
       "scratch_load_dword v40, off, off offset:4\n  s_waitcnt vmcnt(0)",
       "scratch_store_dword off, v10, off offset:4\n"
       "  scratch_load_dword v40, off, off offset:4\n  s_waitcnt vmcnt(0)"},
      {"scratch by lane",
       "v_and_b32 v22, 4, v1\n  scratch_store_dword v22, v10, off\n"
       "  scratch_load_dwordx2 v[40:41], off, off\n  s_waitcnt vmcnt(0)",
       "v_and_b32 v22, 4, v1\n  scratch_store_dword v22, v10, off\n"
       "  scratch_load_dword v40, v22, off\n  s_waitcnt vmcnt(0)"},
      {"flat to lds",
       "v_mov_b32 v22, v1\n  v_mov_b32 v23, 0x10000\n"
       "  flat_store_dword v[22:23], v20\n  s_waitcnt lgkmcnt(0)\n"
       "  ds_read_u16 v40, v1 offset:2\n  s_waitcnt vmcnt(0) lgkmcnt(0)",
       "v_mov_b32 v22, v1\n  v_mov_b32 v23, 0x10000\n"
       "  flat_store_dword v[22:23], v20\n  s_waitcnt lgkmcnt(0)\n"
       "  ds_read_u16 v40, v1\n  s_waitcnt vmcnt(0) lgkmcnt(0)"},
      {"flat from lds",
       "v_mov_b32 v22, v1\n  v_mov_b32 v23, 0x10000\n"
       "  flat_load_dword v40, v[22:23]\n  s_waitcnt vmcnt(0) lgkmcnt(0)",
       "v_mov_b32 v22, v1\n  v_mov_b32 v23, 0x10000\n"
       "  ds_write_b32 v1, v10\n  s_waitcnt lgkmcnt(0)\n"
       "  flat_load_dword v40, v[22:23]\n  s_waitcnt vmcnt(0) lgkmcnt(0)"},
      {"flat scratch",
       "v_mov_b32 v22, 8\n  v_mov_b32 v23, 0x20000\n"
       "  flat_store_dword v[22:23], v20\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
       "  flat_load_dword v40, v[22:23]\n  s_waitcnt vmcnt(0) lgkmcnt(0)",
       "v_mov_b32 v22, 8\n  v_mov_b32 v23, 0x20000\n"
       "  flat_store_dword v[22:23], v10\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
       "  flat_load_dword v40, v[22:23]\n  s_waitcnt vmcnt(0) lgkmcnt(0)"},
  };
  for (const auto &twins : cases) {
    std::string faulty = halves + "  " + twins.faulty + "\n",
                clean = halves + "  " + twins.clean + "\n";
    expectTwins(Twins{twins.name, faulty.c_str(), clean.c_str()});
  }
}

/// Undefines v20 in the lanes of a mask and runs a product whose result goes
/// into v[40:43], then clears the registers and lanes in which it may show.
std::string productWith(const std::string &product, const char *lanesLow,
                        const char *lanesHigh, const std::string &after) {
  std::string body;
  for (unsigned reg = 12; reg < 30; ++reg) {
    body += "  v_mov_b32 v" + std::to_string(reg) + ", v10\n";
  }
  for (unsigned reg = 40; reg < 44; ++reg) {
    body += "  v_mov_b32 v" + std::to_string(reg) + ", 0\n";
  }
  body += std::string("  s_mov_b32 exec_lo, ") + lanesLow +
          "\n  s_mov_b32 exec_hi, " + lanesHigh +
          "\n  v_mov_b32 v20, v30\n  s_mov_b64 exec, -1\n  s_nop 7\n  " +
          product + "\n  s_nop 15\n  s_nop 3\n";
  LaneProgram program;
  program.inputs = {lanes([](unsigned) { return 0u; })};
  program.outputs = 4;
  program.instructions = body + after;
  return findingsOf(program, Check::Uninit);
}

// An undefined row of A spoils its row of D and no other, a column of B its
// column; scales go with their rows, and so do the indices of sparse products.
TEST(SimCheckUninit, RowsAndColumnsOfProducts) {
  // Row 5 of D is register 1 of lanes 16 to 31, column 5 lanes 5, 21, 37, 53.
  const std::string clearRow = "  s_mov_b32 exec_lo, 0xffff0000\n"
                               "  s_mov_b32 exec_hi, 0\n"
                               "  v_mov_b32 v41, 0\n  s_mov_b64 exec, -1\n";
  std::string clearColumn = "  s_mov_b32 exec_lo, 0x00200020\n"
                            "  s_mov_b32 exec_hi, 0x00200020\n";
  for (unsigned reg = 40; reg < 44; ++reg) {
    clearColumn += "  v_mov_b32 v" + std::to_string(reg) + ", 0\n";
  }
  clearColumn += "  s_mov_b64 exec, -1\n";
  const char *lane21 = "0x00200000"; // of row or column 5
  struct {
    const char *product;
    bool isColumn;
  } cases[] = {
      {"v_mfma_f32_16x16x4_f32 v[40:43], v20, v12, v[40:43]", false},
      {"v_mfma_f32_16x16x4_f32 v[40:43], v12, v20, v[40:43]", true},
      {"v_mfma_f32_16x16x32_bf16 v[40:43], v[18:21], v[12:15], v[40:43]",
       false},
      {"v_mfma_f32_16x16x32_bf16 v[40:43], v[12:15], v[18:21], v[40:43]", true},
      {"v_mfma_f32_16x16x128_f8f6f4 v[40:43], v[18:25], v[12:19], v[40:43]",
       false},
      {"v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[12:19], v[22:29], "
       "v[40:43], v20, v12 op_sel_hi:[0,0,0]",
       false},
      {"v_mfma_scale_f32_16x16x128_f8f6f4 v[40:43], v[12:19], v[22:29], "
       "v[40:43], v12, v20 op_sel_hi:[0,0,0]",
       true},
      {"v_smfmac_f32_16x16x32_bf16 v[40:43], v[20:21], v[12:15], v16", false},
      {"v_smfmac_f32_16x16x32_bf16 v[40:43], v[12:13], v[18:21], v16", true},
      {"v_smfmac_f32_16x16x32_bf16 v[40:43], v[12:13], v[14:17], v20", false},
  };
  for (const auto &[product, isColumn] : cases) {
    std::string text = productWith(product, lane21, "0", "");
    EXPECT_TRUE(has(text, "undefined data are stored")) << product;
    EXPECT_TRUE(has(text, isColumn ? "lane 5," : "lane 16,"))
        << product << text;
    EXPECT_EQ(
        productWith(product, lane21, "0", isColumn ? clearColumn : clearRow),
        "")
        << product;
  }
  // Of C an element spoils itself only.
  std::string element = "v_mfma_f32_16x16x4_f32 v[40:43], v12, v12, v[20:23]";
  EXPECT_TRUE(has(productWith(element, lane21, "0", ""), "lane 21,"));
  EXPECT_EQ(
      productWith(element, lane21, "0", "  v_writelane_b32 v40, s4, 21\n"), "");
  // The blocks of one product are apart: lane 21 is row 1 of block 5.
  std::string blocks = "v_mfma_f32_4x4x1_16b_f32 v[40:43], v20, v12, v[40:43]";
  EXPECT_TRUE(has(productWith(blocks, lane21, "0", ""), "lane 20,"));
  EXPECT_EQ(productWith(blocks, lane21, "0",
                        "  s_mov_b64 exec, 0xf00000\n  v_mov_b32 v41, 0\n"
                        "  s_mov_b64 exec, -1\n"),
            "");
}

// Transposing reads move undefined elements to the lanes that receive them.
TEST(SimCheckUninit, TransposedReads) {
  // Element 3 of row 0 of the first 16 lanes is never written: lane 3 gets it.
  std::string body = "  v_lshlrev_b32 v22, 3, v0\n  v_mov_b32 v12, 0\n"
                     "  v_mov_b32 v13, 0\n  v_mov_b32 v14, 0\n"
                     "  ds_write_b64 v22, v[12:13]\n"
                     "  v_mov_b32 v15, 6\n  s_mov_b64 exec, 1\n"
                     "  ds_write_b16 v15, v30\n  s_mov_b64 exec, -1\n"
                     "  s_waitcnt lgkmcnt(0)\n"
                     "  ds_read_b64_tr_b16 v[40:41], v22\n"
                     "  s_waitcnt lgkmcnt(0)\n";
  std::string text = undefinedIn(body);
  EXPECT_TRUE(has(text, "lane 3,")) << text;
  EXPECT_EQ(undefinedIn(body + "  v_writelane_b32 v40, s4, 3\n"), "");
}

} // namespace
