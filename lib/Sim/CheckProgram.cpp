//===- CheckProgram.cpp - what checks know of each instruction --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckProgram.h"

#include "CheckAccessMap.h"
#include "Opcode.h"
#include "Program.h"

#include "tenon/Target/TargetInfo.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace llvm;

namespace tenon::sim {

namespace {

/// One operand of the text: what stands between two commas.
struct TextOperand {
  StringRef text;
  RegisterRange range; ///< count 0: no register
};

/// The parts of an instruction's text.
struct TextInstruction {
  StringRef mnemonic;
  SmallVector<TextOperand, 8> operands;
};

} // namespace

/// The register that a token names: "v3", "-|v3|", "a[0:3]", "vcc", "s2 offen".
static RegisterRange parseRegister(StringRef token) {
  token = token.take_until([](char c) { return c == ' '; });
  token.consume_front("neg(");
  token.consume_front("abs(");
  token.consume_front("sext(");
  token = token.ltrim("-|").rtrim("|)");
  auto named = [](unsigned reg, unsigned count) {
    return RegisterRange{uint16_t(reg), uint8_t(count), true};
  };
  if (token == "vcc" || token == "vcc_lo" || token == "vcc_hi") {
    return named(sgprVcc + (token == "vcc_hi"), token == "vcc" ? 2 : 1);
  }
  if (token == "exec" || token == "exec_lo" || token == "exec_hi") {
    return named(sgprExec + (token == "exec_hi"), token == "exec" ? 2 : 1);
  }
  if (token == "m0") {
    return named(sgprM0, 1);
  }
  if (token == "flat_scratch") {
    return named(sgprFlatScratch, 2);
  }
  bool isScalar = token.starts_with("s"), isAgpr = token.starts_with("a");
  if (!isScalar && !isAgpr && !token.starts_with("v")) {
    return {};
  }
  StringRef rest = token.drop_front();
  unsigned first = 0, last = 0;
  if (rest.consume_front("[")) {
    if (rest.consumeInteger(10, first) || !rest.consume_front(":") ||
        rest.consumeInteger(10, last) || rest != "]" || last < first) {
      return {};
    }
  } else if (rest.getAsInteger(10, first)) {
    return {};
  } else {
    last = first;
  }
  if (last >= (isScalar ? unsigned(sgprFlatScratch) : 256)) {
    return {};
  }
  return {uint16_t(first + (isAgpr ? rowAgpr : 0)), uint8_t(last - first + 1),
          isScalar};
}

static TextInstruction parseText(StringRef text) {
  TextInstruction result;
  auto [mnemonic, rest] = text.split(' ');
  result.mnemonic = mnemonic;
  rest = rest.trim();
  unsigned depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= rest.size() && !rest.empty(); ++i) {
    char c = i < rest.size() ? rest[i] : ',';
    depth += c == '[';
    depth -= c == ']' && depth;
    if (i == rest.size() || (c == ',' && depth == 0)) {
      StringRef token = rest.slice(begin, i).trim();
      result.operands.push_back({token, parseRegister(token)});
      begin = i + 1;
    }
  }
  return result;
}

/// The passes of a matrix product, and whether it is one of the matrix cores
/// proper (XDL): all but those on f32 and f64.
static void describeMfma(const TextInstruction &text, Processor processor,
                         CheckRecord &record) {
  StringRef name = text.mnemonic;
  record.kind = CheckKind::Mfma;
  bool isDouble = name.contains("_f64");
  bool isSingle = name.ends_with("_f32") || name.contains("f32_e64");
  record.flags |= isDouble ? checkDgemm : isSingle ? 0 : checkXdl;
  unsigned passes = 0;
  if (Expected<target::TargetInfo> chip =
          target::TargetInfo::get(processorName(processor))) {
    bool wide =
        text.operands.size() > 2 && (text.operands[1].range.count == 8 ||
                                     text.operands[2].range.count == 8);
    for (const target::Mfma &mfma : chip->mfmas()) {
      if (mfma.mnemonic == name || mfma.scaledMnemonic == name) {
        // The formats of f8f6f4 decide; 8-bit operands take the longer time.
        passes = !passes ? mfma.passes
                 : wide  ? std::max(passes, mfma.passes)
                         : std::min(passes, mfma.passes);
      }
    }
  } else {
    consumeError(chip.takeError());
  }
  if (!passes) { // SMFMAC and the forms with several blocks
    passes = name.contains("_4x4x")    ? (isDouble ? 4 : 2)
             : name.contains("32x32x") ? (name.starts_with("v_smfmac") ? 8 : 16)
             : name.starts_with("v_smfmac") ? 4
                                            : 8;
  }
  record.passes = uint8_t(passes);
}

/// Bytes that a lane moves in an LDS instruction: its first type counts, as in
/// "ds_write2st64_b32", "ds_read_u8_d16_hi", "ds_read_b64_tr_b16".
static unsigned ldsBytes(StringRef name) {
  if (name.contains("permute") || name.contains("swizzle") ||
      name == "ds_nop") {
    return 0;
  }
  if (name.contains("_pk_")) {
    return 4;
  }
  SmallVector<StringRef> parts;
  name.split(parts, '_');
  for (StringRef part : parts) {
    unsigned bits = 0;
    bool isType = part.size() > 1 && StringRef("biuf").contains(part[0]);
    if (isType && !part.drop_front().getAsInteger(10, bits) && bits % 8 == 0) {
      return bits / 8;
    }
  }
  return 4;
}

/// Bytes that a lane moves in a memory instruction.
static unsigned memoryBytes(StringRef name) {
  bool isAtomic = name.contains("_atomic_");
  return name.contains("byte")                                         ? 1
         : name.contains("short")                                      ? 2
         : name.contains("dwordx2")                                    ? 8
         : name.contains("dwordx3")                                    ? 12
         : name.contains("dwordx4")                                    ? 16
         : isAtomic && (name.contains("_x2") || name.contains("_f64")) ? 8
                                                                       : 4;
}

/// Which bits of a data register bytes and shorts go to or come from.
static void describePart(StringRef name, CheckRecord &record) {
  record.extendsSign = name.contains("sbyte") || name.contains("sshort") ||
                       name.contains("_i8") || name.contains("_i16");
  if (record.is(checkAtomic) || record.bytes > 2) {
    return;
  }
  bool isHigh = name.contains("d16_hi"), isHalf = name.contains("d16");
  if (record.is(checkLoad)) {
    record.part = isHigh ? 0xFFFF0000 : isHalf ? 0xFFFF : ~0u;
  } else {
    record.part = (record.bytes == 1 ? 0xFFu : 0xFFFFu) << (isHigh ? 16 : 0);
  }
}

/// Whether the first operand is written.
static bool writesFirst(const TextInstruction &text,
                        const CheckRecord &record) {
  StringRef name = text.mnemonic;
  switch (record.kind) {
  case CheckKind::Salu:
    return !name.starts_with("s_cmp") && !name.starts_with("s_bitcmp") &&
           !name.starts_with("s_setpc") && !name.starts_with("s_setreg") &&
           !name.starts_with("s_cbranch") && !name.starts_with("s_setvskip");
  case CheckKind::Valu:
    return name != "v_nop" && !name.starts_with("v_nop_");
  case CheckKind::Mfma:
    return true;
  case CheckKind::Smem:
    return record.is(checkLoad);
  case CheckKind::Vmem:
  case CheckKind::Lds:
    return record.is(checkLoad) && !record.is(checkToLds);
  default:
    return false;
  }
}

static void addDef(CheckRecord &record, RegisterRange range) {
  if (range.count && record.defCount < std::size(record.defs)) {
    record.defs[record.defCount++] = range;
  }
}

static void addUse(CheckRecord &record, RegisterRange range) {
  if (range.count && record.useCount < std::size(record.uses)) {
    record.uses[record.useCount++] = range;
  }
}

static bool isDot(StringRef name) {
  return name.starts_with("v_dot") || name.starts_with("v_fma_mix_dot");
}

static MemoryOrder memoryOrderOf(StringRef name, StringRef text,
                                 CheckKind kind) {
  bool sc1 = text.contains(" sc1");
  if (name == "buffer_wbl2" || name == "buffer_inv") {
    return !sc1                   ? MemoryOrder::None
           : name == "buffer_inv" ? MemoryOrder::Invalidate
                                  : MemoryOrder::WriteBack;
  }
  if (name.starts_with("s_dcache_")) {
    return name.contains("_wb")    ? MemoryOrder::ScalarWriteBack
           : name.contains("_inv") ? MemoryOrder::ScalarInvalidate
                                   : MemoryOrder::None;
  }
  return name == "s_waitcnt"       ? MemoryOrder::Wait
         : kind == CheckKind::Vmem ? MemoryOrder::Vector
         : kind == CheckKind::Smem ? MemoryOrder::Scalar
                                   : MemoryOrder::None;
}

static CheckKind kindOf(StringRef name) {
  switch (classify(name)) {
  case InstructionClass::Valu:
  case InstructionClass::Trans:
    return CheckKind::Valu;
  case InstructionClass::Mfma:
    return CheckKind::Mfma;
  case InstructionClass::Salu:
    return CheckKind::Salu;
  case InstructionClass::Smem:
    return CheckKind::Smem;
  case InstructionClass::VmemLoad:
  case InstructionClass::VmemStore:
    return CheckKind::Vmem;
  case InstructionClass::Lds:
    return CheckKind::Lds;
  case InstructionClass::Branch:
    return name.starts_with("s_cbranch") ? CheckKind::Branch
           : name.starts_with("s_endpgm") || name == "s_branch"
               ? CheckKind::Other
               : CheckKind::Salu;
  case InstructionClass::Nop:
    return CheckKind::Nop;
  default:
    return CheckKind::Other;
  }
}

/// Flags of vector ALU instructions.
static void describeValu(StringRef name, StringRef text, CheckRecord &record) {
  auto set = [&](bool condition, CheckFlags flag) {
    record.flags |= condition ? flag : 0;
  };
  StringRef stem = stripEncodingSuffix(name);
  set(classify(name) == InstructionClass::Trans, checkTrans);
  set(name.ends_with("_dpp"), checkDpp);
  set(name.ends_with("_sdwa"), checkSdwa);
  set(isDot(name), checkDot);
  set(name.starts_with("v_cvt_scalef32"), checkCvtScale);
  set(stem == "v_readlane_b32" || stem == "v_readfirstlane_b32", checkReadLane);
  set(stem == "v_writelane_b32", checkWriteLane);
  set(stem == "v_readlane_b32" || stem == "v_writelane_b32", checkLaneSelect);
  set(stem.starts_with("v_div_fmas"), checkDivFmas);
  set(stem.starts_with("v_permlane"), checkPermlaneSwap);
  set(stem == "v_fma_f64" || stem == "v_fmac_f64", checkFma64);
  bool partialSdwa = name.ends_with("_sdwa") && text.contains("dst_sel:") &&
                     !text.contains("dst_sel:DWORD");
  // The last of the op_sel bits is the destination half; conversions that
  // choose a byte have two bits for it.
  size_t opSel = text.find("op_sel:[");
  bool selectsHalf = false, selectsByte = false;
  if (opSel != StringRef::npos && !name.starts_with("v_pk_")) {
    StringRef bits =
        text.substr(opSel).take_until([](char c) { return c == ']'; });
    selectsHalf = bits.ends_with("1") && bits.count(',') >= 1;
    bool hasByteSelect = name.starts_with("v_cvt_sr_fp8") ||
                         name.starts_with("v_cvt_sr_bf8") ||
                         name.starts_with("v_cvt_scalef32_sr_fp8") ||
                         name.starts_with("v_cvt_scalef32_sr_bf8") ||
                         name.starts_with("v_cvt_scalef32_pk_fp4");
    selectsByte = hasByteSelect && bits.drop_back(2).ends_with("1") &&
                  bits.count(',') == 3;
  }
  set(partialSdwa || selectsHalf || selectsByte ||
          name.starts_with("v_cvt_scalef32_sr_pk_fp4"),
      checkPartialDst);
  // Conversions whose destination is an operand too, for what they keep of it.
  set(stem.starts_with("v_cvt_pk_fp8_f") ||
          stem.starts_with("v_cvt_pk_bf8_f") ||
          stem.starts_with("v_cvt_sr_fp8") ||
          stem.starts_with("v_cvt_sr_bf8") ||
          stem.starts_with("v_cvt_scalef32_sr_fp8") ||
          stem.starts_with("v_cvt_scalef32_sr_bf8") ||
          stem.starts_with("v_cvt_scalef32_sr_pk_fp4") ||
          stem.starts_with("v_cvt_scalef32_pk_fp4") ||
          stem.starts_with("v_cvt_scalef32_pk_fp8") ||
          stem.starts_with("v_cvt_scalef32_pk_bf8") ||
          stem.starts_with("v_cvt_scalef32_f16_") || record.is(checkWriteLane),
      checkTiedDst);
  set(partialSdwa || selectsHalf || record.is(checkCvtScale) ||
          record.is(checkWriteLane) || stem.starts_with("v_cvt_pk_fp8") ||
          stem.starts_with("v_cvt_pk_bf8") ||
          stem.starts_with("v_cvt_sr_fp8") || stem.starts_with("v_cvt_sr_bf8"),
      checkReadsDst);
}

/// A number for the hardware register of s_setreg and s_getreg.
static uint32_t hardwareRegisterOf(StringRef text) {
  StringRef name = text.substr(text.find("hwreg(")).take_until([](char c) {
    return c == ',' || c == ')';
  });
  return uint32_t(hash_value(name));
}

CheckRecord checkRecordOf(StringRef instruction, Processor processor) {
  TextInstruction text = parseText(instruction);
  StringRef name = text.mnemonic;
  CheckRecord record;
  record.kind = kindOf(name);
  StringRef stem = stripEncodingSuffix(name);
  bool swapsBoth = false;
  switch (record.kind) {
  case CheckKind::Nop:
    if (name == "s_nop" && !text.operands.empty()) {
      unsigned count = 0;
      text.operands[0].text.getAsInteger(0, count);
      record.waitStates = uint8_t(count + 1);
    }
    break;
  case CheckKind::Valu:
    describeValu(name, instruction, record);
    swapsBoth = stem == "v_swap_b32" || stem.ends_with("_swap_b32");
    break;
  case CheckKind::Mfma:
    describeMfma(text, processor, record);
    break;
  case CheckKind::Salu:
    record.flags |= name.starts_with("s_setreg")   ? checkSetReg
                    : name.starts_with("s_getreg") ? checkGetReg
                    : name.starts_with("s_movrel") ? checkNeedsM0
                                                   : 0;
    if (record.is(checkSetReg | checkGetReg)) {
      record.hardwareRegister = hardwareRegisterOf(instruction);
    }
    break;
  case CheckKind::Smem:
    record.flags |=
        (name.contains("load") || name.contains("time") ||
                 (name.contains("atomic") && instruction.contains(" glc"))
             ? checkLoad
             : 0) |
        (name.contains("store") ? checkStore : 0) |
        (name.contains("atomic") ? checkStore | checkAtomic : 0);
    break;
  case CheckKind::Vmem: {
    bool atomic = name.contains("_atomic_");
    bool toLds = name.contains("_lds_") || instruction.ends_with(" lds");
    bool load = name.contains("_load_");
    record.flags |=
        (atomic ? checkAtomic | checkStore : 0) |
        (load || (atomic && instruction.contains(" sc0")) ? checkLoad : 0) |
        (name.contains("_store_") ? checkStore : 0) |
        (toLds ? checkToLds | checkUsesM0 : 0) |
        // The manual lists loads of the FLAT encodings alone. LLVM waits before
        // those of MUBUF as well; hand-written code never does.
        (toLds && !name.starts_with("buffer_") ? checkNeedsM0 : 0);
    record.flags |= name.starts_with("scratch_") ? checkScratch : 0;
    record.flags |= name.starts_with("flat_") ? checkFlat : 0;
    if (load && name.contains("d16")) {
      record.flags |= checkReadsDst;
    }
    record.bytes =
        uint8_t(toLds ? std::max(memoryBytes(name), 4u) : memoryBytes(name));
    describePart(name, record);
    break;
  }
  case CheckKind::Lds: {
    bool load = name.starts_with("ds_read") || name.contains("_rtn_") ||
                name.contains("permute") || name.contains("swizzle") ||
                name.contains("consume") || name.contains("append");
    bool write = name.starts_with("ds_write");
    record.bytes = uint8_t(ldsBytes(name));
    record.flags |=
        (load ? checkLoad : 0) | (write ? checkStore : 0) |
        (name.starts_with("ds_read2") || name.starts_with("ds_write2")
             ? checkTwoAddress
             : 0) |
        (name.contains("_tr_") ? checkTransposed : 0) |
        (name.contains("_addtid_") ? checkNeedsM0 : 0);
    if (!write && !name.starts_with("ds_read") && record.bytes) {
      record.flags |= checkAtomic | checkStore;
    }
    if (load && name.contains("d16")) {
      record.flags |= checkReadsDst;
    }
    describePart(name, record);
    break;
  }
  default:
    record.flags |= name == "s_barrier"             ? checkBarrier
                    : name.starts_with("s_sendmsg") ? checkNeedsM0
                                                    : 0;
    break;
  }

  bool first = writesFirst(text, record);
  // VOP3B writes a carry or a flag into its second operand.
  bool carry = record.kind == CheckKind::Valu &&
               (stem.contains("_co_") || stem.starts_with("v_div_scale") ||
                stem.starts_with("v_mad_u64") || stem.starts_with("v_mad_i64"));
  for (auto [index, operand] : enumerate(text.operands)) {
    RegisterRange range = operand.range;
    range.operand = uint8_t(index);
    bool isDef = (index == 0 && first) || (index == 1 && (carry || swapsBoth));
    if (isDef) {
      addDef(record, range);
    }
    if (!isDef || swapsBoth) {
      addUse(record, range);
    }
  }
  auto implicit = [](unsigned reg, unsigned count) {
    return RegisterRange{uint16_t(reg), uint8_t(count), true};
  };
  if (stem.starts_with("v_cmpx") ||
      (record.kind == CheckKind::Salu && name.contains("saveexec"))) {
    addDef(record, implicit(sgprExec, 2));
  }
  if (record.is(checkDivFmas)) {
    addUse(record, implicit(sgprVcc, 2));
  }
  if (record.is(checkUsesM0)) {
    addUse(record, implicit(sgprM0, 1));
  }
  // The accumulator of two-operand forms, and what partial writes keep.
  bool accumulates = stem.contains("fmac") || stem.starts_with("v_mac_") ||
                     (isDot(name) && stem.contains("c_"));
  if (record.defCount && !record.defs[0].isScalar && accumulates) {
    RegisterRange destination = record.defs[0];
    destination.operand = 3;
    addUse(record, destination);
  }
  record.memoryOrder = memoryOrderOf(name, instruction, record.kind);
  record.firstSource = uint8_t(1 + (carry || swapsBoth));
  describeTaint(name, record);
  if (record.taintRule == TaintRule::BranchVcc) {
    addUse(record, implicit(sgprVcc, 2));
  }
  for (ArrayRef<RegisterRange> ranges :
       {record.definitions(), record.operands()}) {
    for (const RegisterRange &range : ranges) {
      range.isScalar ? record.touched.addScalars(range.first, range.count)
                     : record.touched.addRows(range.first, range.count);
    }
  }
  if (record.kind == CheckKind::Vmem && record.is(checkStore) &&
      !record.is(checkAtomic)) {
    // Overwriting the data of a wide store has a hazard: LLVM's
    // has12DWordStoreHazard. Buffers with a scalar offset have a shorter one,
    // which LLVM 22 does not know; it was measured on gfx950 (LLVM pull request
    // 197267).
    StringRef last = text.operands.empty() ? "" : text.operands.back().text;
    bool scalarOffset = name.starts_with("buffer_") && last.starts_with("s");
    if (name.contains("dwordx3") || name.contains("dwordx4")) {
      record.storeStates = scalarOffset ? 1 : 2;
    }
  }
  return record;
}

static std::vector<std::string> textsOf(const Program &program) {
  std::vector<std::string> texts(program.recordCount());
  for (size_t i = 0; i < texts.size(); ++i) {
    const Instr &instr = program.records()[i];
    if (instr.bytes) { // not the mark behind the last instruction
      texts[i] = program.text(instr);
    }
  }
  return texts;
}

/// Whether an instruction may stand in a loop that waits for a value in LDS:
/// one that counts or computes with something else does not wait.
static bool mayStandInPoll(StringRef text, const CheckRecord &record) {
  if (record.kind == CheckKind::Lds) {
    return text.starts_with("ds_read_b32") || text.starts_with("ds_read_b64 ");
  }
  for (StringRef prefix :
       {"s_waitcnt", "s_nop", "s_sleep", "s_setprio", "s_cmp", "s_cbranch",
        "s_branch", "s_and", "s_or", "s_mov", "s_xor", "v_cmp", "v_mov",
        "v_readfirstlane", "v_and_b32", "v_cndmask"}) {
    if (text.starts_with(prefix)) {
      return true;
    }
  }
  return false;
}

CheckProgram::CheckProgram(const Program &program)
    : CheckProgram(textsOf(program), program.processor()) {
  constexpr uint32_t longest = 24; // instructions of a loop that polls
  for (uint32_t last = 0; last < list.size(); ++last) {
    const Instr &branch = program.records()[last];
    uint32_t first = branch.target;
    bool isBackwards = branch.instructionClass == InstructionClass::Branch &&
                       branch.encoding == Encoding::Sopp && first <= last &&
                       last - first < longest;
    for (uint32_t i = first; isBackwards && i <= last; ++i) {
      isBackwards = mayStandInPoll(program.text(program.records()[i]), list[i]);
    }
    for (uint32_t i = first; isBackwards && i <= last; ++i) {
      list[i].polls = list[i].kind == CheckKind::Lds;
    }
  }
}

CheckProgram::CheckProgram(ArrayRef<std::string> texts, Processor processor)
    : target(processor) {
  StringMap<uint16_t> mnemonics;
  for (const std::string &text : texts) {
    if (text.empty()) {
      list.emplace_back();
      continue;
    }
    CheckRecord record = checkRecordOf(text, target);
    StringRef mnemonic = StringRef(text).split(' ').first;
    if (record.memoryOrder == MemoryOrder::Vector ||
        record.memoryOrder == MemoryOrder::Scalar) {
      // The last number stands for all others.
      record.memoryId =
          uint16_t(std::min<size_t>(memory.size(), AccessEntry::lastId));
      memory.push_back(uint32_t(list.size()));
    }
    record.mnemonic =
        mnemonics.try_emplace(mnemonic, mnemonics.size()).first->second;
    list.push_back(record);
  }
}

} // namespace tenon::sim
