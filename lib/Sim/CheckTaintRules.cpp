//===- CheckTaintRules.cpp - undefined data by mnemonic ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckProgram.h"

#include "Opcode.h"

namespace tenon::sim {

namespace {
struct Entry {
  llvm::StringLiteral prefix;
  TaintRule rule;
};
} // namespace

/// The first prefix that fits counts.
static constexpr Entry entries[] = {
    {"v_cndmask", TaintRule::SelectByMask},
    {"v_addc_co", TaintRule::CarryIn},
    {"v_subb", TaintRule::CarryIn},
    {"v_div_fmas", TaintRule::CarryIn},
    {"v_pk_fma_f32", TaintRule::Packed32},
    {"v_pk_mul_f32", TaintRule::Packed32},
    {"v_pk_add_f32", TaintRule::Packed32},
    {"v_pk_mov_b32", TaintRule::PackedMove},
    {"v_pk_fmac", TaintRule::All}, // without op_sel
    {"v_pk_", TaintRule::PackedHalves},
    {"v_fma_mix", TaintRule::MixedHalves},
    {"v_mov_b", TaintRule::Bitwise},
    {"v_not_b32", TaintRule::Bitwise},
    {"v_xor_b32", TaintRule::Bitwise},
    {"v_xnor_b32", TaintRule::Bitwise},
    {"v_bitop3_b32", TaintRule::Bitwise},
    {"v_accvgpr", TaintRule::Bitwise},
    {"v_and_b32", TaintRule::BitwiseAnd},
    {"v_or_b32", TaintRule::BitwiseOr},
    {"v_and_or_b32", TaintRule::AndOr},
    {"v_or3_b32", TaintRule::Or3},
    {"v_bfi_b32", TaintRule::BitSelect},
    {"v_lshlrev_b32", TaintRule::ShiftLeft},
    {"v_lshrrev_b32", TaintRule::ShiftRight},
    {"v_ashrrev_i32", TaintRule::ShiftRightSigned},
    {"v_lshl_or_b32", TaintRule::ShiftLeftOr},
    {"v_lshl_add_u32", TaintRule::ShiftLeftAdd},
    {"v_add_lshl_u32", TaintRule::AddShiftLeft},
    {"v_add_u32", TaintRule::Sum},
    {"v_sub_u32", TaintRule::Sum},
    {"v_subrev_u32", TaintRule::Sum},
    {"v_add_co_u32", TaintRule::Sum},
    {"v_sub_co_u32", TaintRule::Sum},
    {"v_subrev_co_u32", TaintRule::Sum},
    {"v_add3_u32", TaintRule::Sum},
    {"v_xad_u32", TaintRule::Sum},
    {"v_mul_lo_u32", TaintRule::Sum},
    {"v_mad_u64_u32", TaintRule::WideSum},
    {"v_mad_i64_i32", TaintRule::WideSum},
    {"v_lshl_add_u64", TaintRule::WideSum},
    {"v_mul_u32_u24", TaintRule::Product24},
    {"v_mul_i32_i24", TaintRule::Product24},
    {"v_mad_u32_u24", TaintRule::Product24},
    {"v_mad_i32_i24", TaintRule::Product24},
    {"v_bfe_u32", TaintRule::Extract},
    {"v_bfe_i32", TaintRule::ExtractSigned},
    {"v_alignbit", TaintRule::Align},
    {"v_alignbyte", TaintRule::AlignByte},
    {"v_perm_b32", TaintRule::PermuteBytes},
    {"v_pack_b32_f16", TaintRule::PackPair},
    {"v_cvt_pkrtz_f16_f32", TaintRule::PackPair},
    {"v_cvt_pk_f16_f32", TaintRule::PackPair},
    {"v_cvt_pk_bf16_f32", TaintRule::PackPair},
    {"v_cvt_pknorm", TaintRule::PackPair},
    {"v_cvt_pk_u16_u32", TaintRule::PackPair},
    {"v_cvt_pk_i16_i32", TaintRule::PackPair},
    {"v_readlane", TaintRule::ReadLane},
    {"v_readfirstlane", TaintRule::ReadFirstLane},
    {"v_writelane", TaintRule::WriteLane},
    {"v_swap_b32", TaintRule::Swap},
    {"v_permlane16_swap", TaintRule::SwapRows},
    {"v_permlane32_swap", TaintRule::SwapHalves},
    {"v_mfma_f64", TaintRule::ProductDouble},
    {"v_mfma", TaintRule::Product},
    {"v_smfmac", TaintRule::Product},
    {"s_and_b", TaintRule::ScalarAnd},
    {"s_or_b", TaintRule::ScalarOr},
    {"s_xor_b", TaintRule::ScalarBitwise},
    {"s_not_b", TaintRule::ScalarBitwise},
    {"s_andn2_b", TaintRule::ScalarAndNot},
    {"s_orn2_b", TaintRule::ScalarOrNot},
    {"s_nand_b", TaintRule::ScalarAnd},
    {"s_nor_b", TaintRule::ScalarOr},
    {"s_xnor_b", TaintRule::ScalarBitwise},
    {"s_mov_b", TaintRule::ScalarMove},
    {"s_movk", TaintRule::ScalarMove},
    {"s_mul", TaintRule::ScalarMove},
    {"s_brev", TaintRule::ScalarMove},
    {"s_ff1", TaintRule::ScalarMove},
    {"s_flbit", TaintRule::ScalarMove},
    {"s_sext", TaintRule::ScalarMove},
    {"s_bfm", TaintRule::ScalarMove},
    {"s_pack", TaintRule::ScalarMove},
    {"s_getpc", TaintRule::ScalarMove},
    {"s_swappc", TaintRule::ScalarMove},
    {"s_call", TaintRule::ScalarMove},
    {"s_getreg", TaintRule::ScalarMove},
    {"s_bitset", TaintRule::ScalarMove},
    {"s_cselect", TaintRule::ScalarSelect},
    {"s_cmov", TaintRule::ScalarSelect},
    {"s_cbranch_scc", TaintRule::BranchScc},
    {"s_cbranch_vcc", TaintRule::BranchVcc},
    {"s_cbranch", TaintRule::BranchExec},
    {"ds_permute", TaintRule::LdsPermute},
    {"ds_bpermute", TaintRule::LdsBackwardPermute},
    {"ds_swizzle", TaintRule::LdsSwizzle},
};

static TaintRule ruleOf(llvm::StringRef name) {
  for (const Entry &entry : entries) {
    if (name.starts_with(entry.prefix)) {
      return entry.rule;
    }
  }
  return name.contains("saveexec") ? TaintRule::SaveExec : TaintRule::All;
}

/// Bits of a small float, 0 when `text` is none.
static unsigned smallFloatBits(llvm::StringRef text) {
  return text == "fp8" || text == "bf8"   ? 8
         : text == "fp6" || text == "bf6" ? 6
         : text == "fp4"                  ? 4
                                          : 0;
}

/// v_cvt[_scalef32][_sr][_pk]_TO_FROM with a small float on one side. Blocks of
/// 32 depend on all of their sources.
static void describeSmallFloats(llvm::StringRef name, CheckRecord &record) {
  llvm::SmallVector<llvm::StringRef> parts;
  name.split(parts, '_');
  if (parts.size() < 4 || parts[1] != "cvt" || name.contains("pk32") ||
      name.contains("pk16")) {
    return;
  }
  llvm::StringRef to = parts[parts.size() - 2], from = parts.back();
  bool isPair = name.contains("_pk_"), isStochastic = name.contains("_sr_");
  if (isStochastic && (to == "f16" || to == "bf16")) {
    record.taintRule = TaintRule::Narrow;
    record.elementBits = 16;
    record.elements = 1;
    return;
  }
  unsigned toBits = smallFloatBits(to), fromBits = smallFloatBits(from);
  if (!toBits && !fromBits) {
    return;
  }
  record.taintRule = fromBits                  ? TaintRule::Widen
                     : isPair && !isStochastic ? TaintRule::NarrowPair
                                               : TaintRule::Narrow;
  record.elementBits = uint8_t(toBits + fromBits);
  record.elements = isPair ? 2 : 1;
  record.wideIsHalf = (fromBits ? to : from) != "f32";
}

void describeTaint(llvm::StringRef mnemonic, CheckRecord &record) {
  llvm::StringRef name = stripEncodingSuffix(mnemonic);
  record.taintRule = ruleOf(name);
  if (record.kind == CheckKind::Mfma) {
    // The shape stands in the name: 16x16x32, 4x4x4_16b.
    record.productSize = name.contains("_32x32x")   ? 32
                         : name.contains("_16x16x") ? 16
                                                    : 4;
    record.productBlocks = name.contains("_16b_")  ? 16
                           : name.contains("_4b_") ? 4
                           : name.contains("_2b_") ? 2
                                                   : 1;
    record.flags |= name.starts_with("v_smfmac") ? checkSparse
                    : name.contains("f8f6f4") || name.starts_with("v_mfma_f64")
                        ? 0
                        : checkBroadcasts;
    return;
  }
  if (record.is(checkTransposed)) {
    name.drop_front(name.rfind("_tr_b") + 5)
        .getAsInteger(10, record.elementBits);
    return;
  }
  if (record.kind != CheckKind::Valu) {
    return;
  }
  unsigned byte = 0;
  if (name.consume_front("v_cvt_f32_ubyte") && !name.getAsInteger(10, byte)) {
    record.part = 0xFFu << (8 * byte);
    return;
  }
  describeSmallFloats(name, record);
  record.highResult = name == "v_fma_mixhi_f16";
  if (record.highResult || name == "v_fma_mixlo_f16") {
    record.halfResult = record.keepsOther = true;
  }
  const OpcodeInfo *info = findOpcode(mnemonic);
  if (!info || record.taintRule == TaintRule::MixedHalves ||
      record.taintRule == TaintRule::PackedHalves || record.elementBits) {
    return;
  }
  auto isHalf = [](ValueType type) {
    return type == ValueType::I16 || type == ValueType::F16 ||
           type == ValueType::Bf16;
  };
  for (unsigned k = 0; k < 3; ++k) {
    record.halfSources |= uint8_t(isHalf(info->src[k])) << k;
  }
  record.halfResult = isHalf(info->dst);
  record.keepsOther = info->flags & opReadsDst;
}

} // namespace tenon::sim
