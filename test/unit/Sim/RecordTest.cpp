//===- RecordTest.cpp - decoded records against printed text ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are decoded from encoding bits by our own decoder. Here every opcode
// but those of vector memory is encoded with random operand fields, and what
// LLVM prints is compared with the record: registers with their widths, sources
// with their modifiers, offsets and flags.
//
//===----------------------------------------------------------------------===//

#include "lib/Sim/Disassembler.h"
#include "lib/Sim/EncodingWalk.h"
#include "lib/Sim/OperandDecoder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

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

bool isVop(const Instr &instr) {
  switch (instr.encoding) {
  case Encoding::Vop1:
  case Encoding::Vop2:
  case Encoding::Vopc:
  case Encoding::Vop3:
  case Encoding::Vop3p:
    return true;
  default:
    return false;
  }
}

/// Differences between a record and the text, or nothing.
std::string compare(const Instr &instr, const Footprint &footprint,
                    const Printed &printed) {
  std::string problems;
  RegisterSet ours = registersOfRecord(footprint);
  if (ours != printed.registers) {
    problems +=
        "registers " + listOf(ours) + "instead of " + listOf(printed.registers);
  }
  bool hasOffset = instr.encoding == Encoding::Ds;
  if (hasOffset && !printed.number("offset0") && !printed.number("offset1") &&
      instr.imm1 == 0) {
    if (printed.number("offset").value_or(0) != instr.imm && instr.imm1 == 0 &&
        instr.data1 == noRow) {
      problems += "offset " + std::to_string(instr.imm) + "; ";
    }
  }
  if (instr.encoding == Encoding::Vop3 || instr.encoding == Encoding::Vop3p) {
    if (printed.has("clamp") != instr.clamp) {
      problems += "clamp; ";
    }
  }
  if (isVop(instr)) {
    // Sources in order, behind the destinations.
    std::vector<std::string> sources;
    for (const Operand &operand : instr.src) {
      if (operand.kind == OperandKind::Vgpr ||
          operand.kind == OperandKind::Sgpr) {
        unsigned reg =
            operand.reg + (operand.kind == OperandKind::Sgpr ? scalarBase : 0);
        bool found = false;
        for (StringRef text : printed.operands) {
          bool negative = text.consume_front("-");
          bool absolute = text.consume_front("|") && text.consume_back("|");
          auto parsed = parseRegister(text);
          if (!parsed || parsed->first != reg) {
            continue;
          }
          bool plain = instr.encoding == Encoding::Vop3p;
          // Integer operands ignore modifiers, and the text has none.
          found |= plain || ((!negative || operand.mods & modNeg) &&
                             (!absolute || operand.mods & modAbs));
        }
        if (!found) {
          problems += "source " + listOf({reg}) + "with its modifiers; ";
        }
      }
    }
  }
  return problems;
}

class SimRecord : public ::testing::TestWithParam<Processor> {};

TEST_P(SimRecord, AgreesWithThePrintedText) {
  auto disassembler = cantFail(Disassembler::create(GetParam()));
  std::mt19937 random(11);
  unsigned compared = 0;
  for (const EncodingWalk &walk : encodingWalks()) {
    // Results of vector memory are left out of the registers on purpose.
    static const char *const memory[] = {"FLAT",  "GLOBAL",    "SCRATCH",
                                         "MUBUF", "MUBUF LDS", "MTBUF"};
    if (is_contained(memory, StringRef(walk.name))) {
      continue;
    }
    for (uint32_t opcode = 0; opcode < walk.opcodes; ++opcode) {
      if (StringRef(walk.name) == "VOP3" && opcode < 256) {
        continue; // LLVM's disassembler fails on random bits of compares
      }
      unsigned reported = 0;
      for (unsigned attempt = 0; attempt < 40; ++attempt) {
        uint32_t opcodeMask = (uint32_t(PowerOf2Ceil(walk.opcodes)) - 1)
                              << walk.opcodeLow;
        uint32_t words[4] = {
            walk.fixed | (walk.first & walk.fixedMask) |
                opcode << walk.opcodeLow |
                (uint32_t(random()) & ~(walk.fixedMask | opcodeMask)),
            uint32_t(random()), 0, 0};
        if (words[0] >> 26 == 0x34) {
          // LLVM's disassembler fails on operands and modifiers that an
          // operation does not have: no clamp, op_sel and omod; registers and
          // constants that exist.
          auto source = [&]() -> uint32_t {
            uint32_t bits = uint32_t(random());
            return bits & 1
                       ? 256 + (bits >> 8 & 0x7E)
                       : (bits & 2 ? bits >> 8 & 0x5C : 128 + (bits >> 8 & 63));
          };
          words[0] &= ~0xF881u;
          words[1] = source() | source() << 9 | source() << 18;
        }
        bool isVop12 = words[0] >> 31 == 0;
        if (isVop12 && (words[0] & 0x1FF) == 249) { // SDWA
          // Only registers and modifiers: selects have values without meaning.
          words[1] = walk.second | (words[1] & 0x303000FF);
        }
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
        if (instr.exec == execUnimplemented) {
          continue;
        }
        std::string text = disassembler->print(bytes, 0);
        if (StringRef(text).contains("/*") ||
            StringRef(text).contains("null")) {
          continue; // an operand that does not exist
        }
        std::string problems = compare(instr, footprint, Printed(text));
        ++compared;
        if (!problems.empty() && reported++ == 0) {
          ADD_FAILURE() << walk.name << ": `" << text << "`: " << problems;
        }
      }
    }
  }
  EXPECT_GT(compared, 10000u);
}

INSTANTIATE_TEST_SUITE_P(Processors, SimRecord,
                         ::testing::Values(Processor::Gfx942,
                                           Processor::Gfx950),
                         [](const auto &info) {
                           return processorName(info.param).str();
                         });

} // namespace
