//===- RecordTest.cpp - decoded records against printed text ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are decoded from encoding bits by our own decoder. Here every opcode
// that is executed is encoded with random operand fields, and what LLVM prints
// is compared with the record: registers with their widths, the order of
// operands, modifiers, constants, offsets and flags.
//
//===----------------------------------------------------------------------===//

#include "lib/Sim/Disassembler.h"
#include "lib/Sim/EncodingWalk.h"
#include "lib/Sim/OperandDecoder.h"

#include "tenon/Sim/Coverage.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

using namespace llvm;
using namespace tenon::sim;

namespace {

/// Registers as numbers: VGPRs, AGPRs from 256, scalars from 1000.
using RegisterSet = std::set<unsigned>;
constexpr unsigned scalarBase = 1000;

/// The registers that an operand names; nothing for one that is no register.
std::optional<std::pair<unsigned, unsigned>> parseRegister(StringRef text) {
  struct Special {
    StringRef name;
    unsigned reg, count;
  };
  static const Special specials[] = {{"vcc", 106, 2},
                                     {"vcc_lo", 106, 1},
                                     {"vcc_hi", 107, 1},
                                     {"exec", 126, 2},
                                     {"exec_lo", 126, 1},
                                     {"exec_hi", 127, 1},
                                     {"m0", 124, 1},
                                     {"flat_scratch", 102, 2},
                                     {"flat_scratch_lo", 102, 1},
                                     {"flat_scratch_hi", 103, 1},
                                     {"xnack_mask", 104, 2},
                                     {"xnack_mask_lo", 104, 1},
                                     {"xnack_mask_hi", 105, 1}};
  for (const Special &special : specials) {
    if (text == special.name) {
      return std::pair(scalarBase + special.reg, special.count);
    }
  }
  unsigned base;
  if (text.consume_front("ttmp")) {
    base = scalarBase + 108;
  } else if (text.consume_front("v")) {
    base = 0;
  } else if (text.consume_front("a")) {
    base = 256;
  } else if (text.consume_front("s")) {
    base = scalarBase;
  } else {
    return std::nullopt;
  }
  unsigned first, last;
  if (!text.getAsInteger(10, first)) {
    return std::pair(base + first, 1u);
  }
  if (text.consume_front("[") && !text.consumeInteger(10, first) &&
      text.consume_front(":") && !text.consumeInteger(10, last)) {
    return std::pair(base + first, last - first + 1);
  }
  return std::nullopt;
}

/// What LLVM printed, taken apart.
struct Printed {
  explicit Printed(StringRef text);
  bool has(StringRef flag) const { return is_contained(flags, flag); }
  std::optional<int> number(StringRef name) const;

  std::vector<std::string> operands; ///< with modifiers
  std::vector<std::string> flags;    ///< "clamp", "offset:4" ...
  RegisterSet registers;
};

Printed::Printed(StringRef text) {
  StringRef rest = text.drop_until([](char c) { return isSpace(c); }).trim();
  // Operands are separated by commas outside of brackets; flags follow the
  // last one behind blanks.
  std::string current;
  int depth = 0;
  std::vector<std::string> parts;
  for (char c : rest) {
    depth += c == '[' || c == '(' ? 1 : (c == ']' || c == ')' ? -1 : 0);
    if (depth == 0 && (c == ',' || c == ' ')) {
      if (!current.empty()) {
        parts.push_back(current);
      }
      current.clear();
    } else {
      current += c;
    }
  }
  if (!current.empty()) {
    parts.push_back(current);
  }
  for (const std::string &part : parts) {
    StringRef bare = StringRef(part).trim();
    bool isFlag = bare.contains(':') && !bare.contains('[');
    isFlag |= bare.contains(":[") || bare.contains('(');
    StringRef name = bare.ltrim('-').trim('|');
    for (StringRef modifier : {"neg(", "sext("}) {
      if (bare.starts_with(modifier) && bare.ends_with(")")) {
        isFlag = false;
        name = name.drop_front(modifier.size()).drop_back(1);
      }
    }
    std::optional<std::pair<unsigned, unsigned>> reg = parseRegister(name);
    if (reg) {
      for (unsigned i = 0; i < reg->second; ++i) {
        registers.insert(reg->first + i);
      }
    }
    static const char *const words[] = {"clamp", "sc0",   "sc1", "nt", "glc",
                                        "offen", "idxen", "lds", "gds"};
    isFlag |= is_contained(words, bare);
    (isFlag && !reg ? flags : operands).push_back(bare.str());
  }
}

std::optional<int> Printed::number(StringRef name) const {
  for (StringRef flag : flags) {
    int value;
    if (flag.consume_front(name) && flag.consume_front(":") &&
        !flag.getAsInteger(0, value)) {
      return value;
    }
  }
  return std::nullopt;
}

RegisterSet registersOfRecord(const Footprint &footprint) {
  RegisterSet result;
  for (unsigned i = 0; i < 512; ++i) {
    if ((footprint.vector[i / 64] >> (i % 64)) & 1) {
      result.insert(i);
    }
  }
  for (unsigned i = 0; i < sgprCount; ++i) {
    if ((footprint.scalar[i / 64] >> (i % 64)) & 1) {
      result.insert(scalarBase + i);
    }
  }
  return result;
}

std::string listOf(const RegisterSet &set) {
  std::string text;
  for (unsigned reg : set) {
    text += (reg >= scalarBase ? "s" + std::to_string(reg - scalarBase)
                               : (reg >= 256 ? "a" + std::to_string(reg - 256)
                                             : "v" + std::to_string(reg))) +
            " ";
  }
  return text;
}

/// Whether a printed constant is the one of the record.
bool isConstant(StringRef text, uint64_t value, ValueType type) {
  int64_t integer;
  if (!text.getAsInteger(0, integer)) {
    bool isHigh = type == ValueType::F64 && text.starts_with("0x");
    bool isHalf = type == ValueType::F16 || type == ValueType::I16 ||
                  type == ValueType::Bf16;
    return isHigh   ? value == uint64_t(integer) << 32
           : isHalf ? uint16_t(value) == uint16_t(integer)
                    : uint32_t(value) == uint32_t(integer);
  }
  double number;
  if (text.getAsDouble(number)) {
    return false;
  }
  switch (type) {
  case ValueType::F64:
  case ValueType::I64:
  case ValueType::Mask:
    return std::abs(std::bit_cast<double>(value) - number) < 1e-9;
  case ValueType::F16:
  case ValueType::I16:
  case ValueType::PackedF16:
    return value == std::bit_cast<uint16_t>(_Float16(number));
  case ValueType::Bf16:
    return value == std::bit_cast<uint32_t>(float(number)) >> 16;
  default:
    return value == std::bit_cast<uint32_t>(float(number));
  }
}

/// Names of what is read from the hardware.
bool isSpecial(StringRef text, const Operand &operand) {
  switch (operand.kind) {
  case OperandKind::Scc:
    return text == "src_scc";
  case OperandKind::Vccz:
    return text == "src_vccz";
  case OperandKind::Execz:
    return text == "src_execz";
  default:
    return text.starts_with("src_") || text.starts_with("lit(");
  }
}

/// Whether a printed source is the one of the record.
bool isOperand(StringRef text, const Operand &operand, ValueType type,
               bool hasModifiers) {
  if (text.consume_front("sext(") && !text.consume_back(")")) {
    return false;
  }
  std::optional<std::pair<unsigned, unsigned>> reg =
      parseRegister(text.ltrim('-').trim('|'));
  if (reg) {
    // An operation without modifiers has none in its text and may ignore those
    // of its record.
    bool negative = text.consume_front("-");
    bool absolute = text.starts_with("|");
    unsigned base = operand.kind == OperandKind::Sgpr ? scalarBase : 0;
    return (operand.kind == OperandKind::Vgpr ||
            operand.kind == OperandKind::Sgpr) &&
           reg->first == operand.reg + base &&
           (!hasModifiers || ((!negative || (operand.mods & modNeg)) &&
                              (!absolute || (operand.mods & modAbs))));
  }
  StringRef bare = text;
  bool isWrapped = bare.consume_front("neg(") && bare.consume_back(")");
  bare = bare.trim('|');
  if (operand.kind != OperandKind::Constant || bare.contains("src_")) {
    return isSpecial(bare.ltrim('-').trim('|'), operand);
  }
  // "-|4|" has its sign outside; "-4" is a constant or, in front of what is no
  // inline constant, a modifier.
  return isConstant(bare, operand.value, type) ||
         (!isWrapped && bare.consume_front("-") &&
          isConstant(bare.trim('|'), operand.value, type));
}

/// Compares a record with its text, operand by operand.
class Comparison {
public:
  Comparison(const Instr &instr, const OpcodeInfo &info,
             const Footprint &footprint, const Printed &printed)
      : instr(instr), info(info), footprint(footprint), printed(printed) {}

  /// What differs, or nothing.
  std::string run();

private:
  bool is(Encoding encoding) const { return instr.encoding == encoding; }
  void expect(bool fine, const Twine &what) {
    if (!fine) {
      problems += (what + "; ").str();
    }
  }
  /// The next operand is this register (or the first of this range).
  void expectRegister(unsigned reg, const char *what);
  void expectWord(StringRef word);
  void expectSource(unsigned k, bool hasModifiers);
  void expectNumber(StringRef name, int value, int missing = 0);
  void compareVector();
  void compareSelects();
  void compareScalar();
  void compareScalarMemory();
  void compareLds();
  void compareFlat();
  void compareBuffer();
  void comparePolicy();

  const Instr &instr;
  const OpcodeInfo &info;
  const Footprint &footprint;
  const Printed &printed;
  size_t next = 0;
  std::string problems;
};

void Comparison::expectRegister(unsigned reg, const char *what) {
  if (next >= printed.operands.size()) {
    return expect(false, Twine("no operand for ") + what);
  }
  auto parsed = parseRegister(printed.operands[next++]);
  expect(parsed && parsed->first == reg, what);
}

void Comparison::expectWord(StringRef word) {
  expect(next < printed.operands.size() && printed.operands[next] == word,
         word);
  ++next;
}

void Comparison::expectSource(unsigned k, bool hasModifiers) {
  if (next >= printed.operands.size()) {
    return expect(false, "no operand for source " + Twine(k));
  }
  expect(isOperand(printed.operands[next++], instr.src[k], info.src[k],
                   hasModifiers),
         "source " + Twine(k));
}

void Comparison::expectNumber(StringRef name, int value, int missing) {
  expect(printed.number(name).value_or(missing) == value, name);
}

/// "op_sel:[0,1]" and the like as bits, or nothing.
std::optional<unsigned> bitsOfList(const Printed &printed, StringRef name) {
  for (StringRef flag : printed.flags) {
    if (flag.consume_front(name) && flag.consume_front(":[")) {
      unsigned bits = 0, position = 0;
      for (char c : flag) {
        if (isDigit(c)) {
          bits |= unsigned(c - '0') << position++;
        }
      }
      return bits;
    }
  }
  return std::nullopt;
}

void Comparison::compareSelects() {
  if (is(Encoding::Vop3) || is(Encoding::Vop3p)) {
    expect(!printed.has("clamp") || instr.clamp, "clamp");
  }
  if (is(Encoding::Vop3)) {
    if (auto bits = bitsOfList(printed, "op_sel")) {
      // The destination's bit follows those of the sources.
      unsigned count = info.src[2] != ValueType::None   ? 3
                       : info.src[1] != ValueType::None ? 2
                                                        : 1;
      unsigned mask = (1u << count) - 1;
      bool hasDestination = *bits >> count;
      expect((*bits & mask) == (instr.opSel & mask) || *bits == instr.opSel,
             "op_sel");
      expect(!hasDestination || (instr.opSel & 8) || *bits == instr.opSel,
             "op_sel of the destination");
    }
    int factor = printed.number("mul").value_or(1);
    int divisor = printed.number("div").value_or(1);
    unsigned omod = divisor == 2 ? 3 : (factor == 4 ? 2 : factor == 2);
    expect(!omod || instr.omod == omod, "omod");
  }
  if (is(Encoding::Vop3p)) {
    unsigned count = info.src[2] != ValueType::None ? 3 : 2;
    unsigned mask = (1u << count) - 1;
    auto compare = [&](StringRef name, unsigned record, unsigned missing) {
      if (auto bits = bitsOfList(printed, name)) {
        expect((*bits & mask) == (record & mask), name);
      } else if (bitsOfList(printed, "op_sel") ||
                 bitsOfList(printed, "op_sel_hi")) {
        expect((record & mask) == (missing & mask), name + " left out");
      }
    };
    compare("op_sel", instr.opSel, 0);
    compare("op_sel_hi", instr.opSelHi,
            StringRef(info.name).contains("_mix") ? 0 : 7);
    unsigned low = 0;
    for (unsigned k = 0; k < count; ++k) {
      low |= (instr.src[k].mods & modNeg ? 1u : 0u) << k;
    }
    if (auto bits = bitsOfList(printed, "neg_lo")) {
      expect(*bits == low, "neg_lo");
    }
    if (auto bits = bitsOfList(printed, "neg_hi")) {
      expect(*bits == (instr.negHi & mask), "neg_hi");
    }
  }
  if (is(Encoding::Mfma)) {
    for (auto [name, value] :
         {std::pair("cbsz", instr.cbsz), std::pair("abid", instr.abid),
          std::pair("blgp", instr.blgp)}) {
      if (printed.number(name)) {
        expectNumber(name, value);
      }
    }
  }
}

void Comparison::compareVector() {
  bool toScalar = is(Encoding::Vopc) || (info.flags & opScalarDst);
  if (toScalar) {
    expectRegister(scalarBase + instr.sdst, "scalar destination");
  } else if (info.dst != ValueType::None) {
    expectRegister(instr.dst, "destination");
  }
  if (info.flags & opCarryOut) {
    expectRegister(scalarBase + instr.sdst, "carry");
  }
  bool hasModifiers = !is(Encoding::Vop3p) && !is(Encoding::Mfma);
  for (unsigned k = 0; k < 3; ++k) {
    bool isImplied = k == 2 && (info.flags & opAccumulates);
    bool isMask = k == 2 && (info.flags & opCarryIn);
    if (instr.src[k].kind == OperandKind::None || isImplied) {
      continue;
    }
    if (isMask && is(Encoding::Vop2) && next >= printed.operands.size()) {
      continue; // DPP and SDWA leave VCC out of some texts
    }
    expectSource(k, hasModifiers);
  }
  compareSelects();
}

void Comparison::compareScalar() {
  if (info.dst != ValueType::None) {
    expectRegister(scalarBase + instr.dst, "destination");
  }
  for (unsigned k = 0; k < 2; ++k) {
    if (info.src[k] != ValueType::None) {
      expectSource(k, false);
    }
  }
}

void Comparison::compareScalarMemory() {
  if (info.src[0] == ValueType::None) {
    return;
  }
  StringRef name = info.name;
  if (name.starts_with("s_atc_probe")) {
    ++next; // a number that says which translation to probe
  } else if (!name.starts_with("s_dcache_discard")) {
    expectRegister(scalarBase +
                       ((info.flags & opStores) ? instr.data : instr.dst),
                   "data");
  }
  expectRegister(scalarBase + instr.sbase, "base");
  int immediate = 0;
  bool hasRegister = false;
  if (next < printed.operands.size()) {
    StringRef offset = printed.operands[next++];
    hasRegister = parseRegister(offset).has_value();
    if (hasRegister) {
      expect(isOperand(offset, instr.src[0], ValueType::I32, false),
             "register offset");
    } else {
      expect(!offset.getAsInteger(0, immediate), "offset");
    }
  }
  expect(hasRegister == instr.saddrUsed, "use of a register offset");
  expect(printed.number("offset").value_or(immediate) == instr.imm, "offset");
  expect(!printed.has("glc") || (instr.cachePolicy & 1), "glc");
}

void Comparison::compareLds() {
  if (info.dst != ValueType::None) {
    expectRegister(instr.dst, "destination");
  }
  if (!(info.flags & opNoAddress)) {
    expectRegister(instr.addr, "address");
  }
  if (info.src[0] != ValueType::None) {
    expectRegister(instr.data, "data");
  }
  if (info.src[1] != ValueType::None) {
    expectRegister(instr.data1, "second data");
  }
  if (info.flags & opTwoAddress) {
    expectNumber("offset0", instr.imm / info.param);
    expectNumber("offset1", instr.imm1 / info.param);
  } else if (!any_of(printed.flags, [](StringRef flag) {
               return flag.starts_with("offset:swizzle");
             })) {
    expectNumber("offset", instr.imm);
  }
}

void Comparison::comparePolicy() {
  bool returnsByFlag = info.flags & opAtomic; // sc0 means something else
  expect(printed.has("sc0") == bool(instr.cachePolicy & 1), "sc0");
  expect(printed.has("nt") == bool(instr.cachePolicy & 2), "nt");
  expect(printed.has("sc1") == bool(instr.cachePolicy & 4), "sc1");
  expect(!returnsByFlag || instr.returns == printed.has("sc0"), "returns");
}

void Comparison::compareFlat() {
  bool hasResult = info.dst != ValueType::None &&
                   (!(info.flags & opAtomic) || instr.returns);
  if (hasResult) {
    expectRegister(instr.dst, "destination");
  }
  if (instr.addrUsed) {
    expectRegister(instr.addr, "address");
  } else {
    expectWord("off");
  }
  if (info.src[0] != ValueType::None) {
    expectRegister(instr.data, "data");
  }
  if (!StringRef(info.name).starts_with("flat_")) {
    if (instr.saddrUsed) {
      expectRegister(scalarBase + instr.sbase, "scalar base");
    } else {
      expectWord("off");
    }
  }
  expectNumber("offset", instr.imm);
  comparePolicy();
}

void Comparison::compareBuffer() {
  if (!info.flags) {
    return; // cache control
  }
  bool toLds = info.flags & opToLds;
  if (!toLds) {
    expectRegister(info.src[0] != ValueType::None ? instr.data : instr.dst,
                   "data");
  }
  expect(printed.has("lds") == toLds, "lds");
  if (instr.addrUsed || instr.indexUsed) {
    expectRegister(instr.addr, "address");
  } else {
    expectWord("off");
  }
  expectRegister(scalarBase + instr.sbase, "resource");
  expect(next < printed.operands.size() &&
             isOperand(printed.operands[next], instr.src[0], ValueType::I32,
                       false),
         "scalar offset");
  expect(printed.has("offen") == instr.addrUsed, "offen");
  expect(printed.has("idxen") == instr.indexUsed, "idxen");
  expectNumber("offset", instr.imm);
  comparePolicy();
}

std::string Comparison::run() {
  RegisterSet ours = registersOfRecord(footprint);
  // Results of vector memory are left out of the footprint: loads may follow
  // one another into the same registers.
  bool isVectorMemory = is(Encoding::Flat) || is(Encoding::Mubuf);
  if (isVectorMemory && info.dst != ValueType::None &&
      (!(info.flags & opAtomic) || instr.returns)) {
    for (unsigned i = 0; i < registersOf(info.dst); ++i) {
      ours.insert(instr.dst + i);
    }
  }
  if (ours != printed.registers) {
    problems += "registers " + listOf(ours) + "instead of " +
                listOf(printed.registers) + "; ";
  }
  switch (instr.encoding) {
  case Encoding::Vop1:
  case Encoding::Vop2:
  case Encoding::Vopc:
  case Encoding::Vop3:
  case Encoding::Vop3p:
  case Encoding::Mfma:
    compareVector();
    break;
  case Encoding::Sop1:
  case Encoding::Sop2:
  case Encoding::Sopc:
    compareScalar();
    break;
  case Encoding::Smem:
    compareScalarMemory();
    break;
  case Encoding::Ds:
    compareLds();
    break;
  case Encoding::Flat:
    compareFlat();
    break;
  case Encoding::Mubuf:
    compareBuffer();
    break;
  default:
    break;
  }
  return problems;
}

/// Draws encodings of one opcode: any bits, and steps of a walk that goes from
/// one legal encoding to another by changing a few bits, because most opcodes
/// want some fields to be zero.
class WordSource {
public:
  WordSource(const EncodingWalk &walk, uint32_t opcode)
      : opcodeBits((uint32_t(PowerOf2Ceil(walk.opcodes)) - 1)
                   << walk.opcodeLow),
        fixedMask(walk.fixedMask | opcodeBits), random(opcode + 11),
        isFlat(StringRef(walk.name) == "FLAT"),
        isDpp(StringRef(walk.name).ends_with("DPP")) {
    start[0] = walk.fixed | walk.first | opcode << walk.opcodeLow;
    start[1] = walk.second;
  }

  void draw(unsigned attempt, uint32_t (&words)[4]) {
    uint32_t free = ~fixedMask;
    bool isStart = attempt % 8 == 0; // known to decode
    if (isStart) {
      accept(start);
    }
    words[0] = legal[0];
    words[1] = legal[1];
    words[2] = words[3] = 0;
    if (attempt % 4 == 1) {
      words[0] = (legal[0] & fixedMask) | (uint32_t(random()) & free);
      words[1] = uint32_t(random());
    } else if (!isStart) {
      for (unsigned k = 0; k <= attempt % 5; ++k) {
        unsigned bit = random() % 64;
        words[bit / 32] ^= (bit < 32 ? free : ~0u) & 1u << bit % 32;
      }
    }
    if (isFlat) {
      words[0] &= ~(1u << 12); // offsets have twelve bits
    }
    if (isDpp && attempt % 4 == 2) { // row_newbcast, all that doubles have
      words[1] = (words[1] & ~0x1F000u) | 0x15000;
    }
  }

  /// The walk goes on from here.
  void accept(const uint32_t *words) {
    legal[0] = words[0];
    legal[1] = words[1];
  }

private:
  uint32_t opcodeBits, fixedMask;
  uint32_t start[2], legal[2] = {};
  std::mt19937 random;
  bool isFlat, isDpp;
};

/// Operations that end a launch with a message whatever their operands.
bool isRefused(StringRef mnemonic) { return mnemonic.starts_with("ds_gws_"); }

class SimRecord : public ::testing::TestWithParam<Processor> {};

// Every opcode that is executed, four legal encodings each and mostly many
// more.
TEST_P(SimRecord, AgreesWithThePrintedText) {
  auto disassembler = cantFail(Disassembler::create(GetParam()));
  std::map<std::string, unsigned> compared; // by LLVM's opcode
  for (const EncodingWalk &walk : encodingWalks()) {
    for (uint32_t opcode = 0; opcode < walk.opcodes; ++opcode) {
      WordSource source(walk, opcode);
      unsigned reported = 0, found = 0;
      for (unsigned attempt = 0; attempt < 256 && found < 32; ++attempt) {
        uint32_t words[4];
        source.draw(attempt, words);
        uint8_t bytes[16];
        for (unsigned i = 0; i < 4; ++i) {
          support::endian::write32le(bytes + 4 * i, words[i]);
        }
        Decoded decoded = disassembler->decode(bytes, 0);
        if (!decoded.bytes || decoded.mnemonic == "v_mfma_ld_scale_b32") {
          continue;
        }
        Instr instr;
        Footprint footprint;
        instr.bytes = uint8_t(decoded.bytes);
        decodeInstruction(decoded.mnemonic, ArrayRef(words, decoded.bytes / 4),
                          instr, footprint);
        if (instr.exec == execUnimplemented || isRefused(decoded.mnemonic)) {
          continue;
        }
        std::string text = disassembler->print(bytes, 0);
        StringRef operands =
            StringRef(text).drop_until([](char c) { return isSpace(c); });
        if (operands.contains("/*") || operands.contains("null") ||
            operands.ltrim().starts_with("src_")) {
          continue; // an operand that does not exist
        }
        bool toLds = instr.encoding == Encoding::Mubuf && words[0] >> 16 & 1 &&
                     decoded.mnemonic.starts_with("buffer_load");
        const OpcodeInfo *info = findOpcode(
            toLds ? decoded.mnemonic.str() + "_lds" : decoded.mnemonic.str());
        ASSERT_NE(info, nullptr);
        Printed printed(text);
        std::string problems =
            Comparison(instr, *info, footprint, printed).run();
        source.accept(words);
        ++found;
        ++compared[decoded.opcode.str()];
        if (!problems.empty() && reported++ == 0) {
          ADD_FAILURE() << walk.name << ": `" << text << "`: " << problems
                        << utohexstr(words[0]) << " " << utohexstr(words[1]);
        }
      }
    }
  }
  for (const InstructionCoverage &entry :
       cantFail(listInstructions(GetParam()))) {
    if (entry.implemented && entry.encoding != "VOP3P scaled" &&
        !isRefused(entry.mnemonic)) {
      // What has no operands has one encoding.
      EXPECT_GE(compared[entry.opcode], entry.mnemonic == "v_nop" ? 1u : 4u)
          << entry.encoding << " " << entry.mnemonic;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, SimRecord,
                         ::testing::Values(Processor::Gfx942,
                                           Processor::Gfx950),
                         [](const auto &info) {
                           return processorName(info.param).str();
                         });

} // namespace
