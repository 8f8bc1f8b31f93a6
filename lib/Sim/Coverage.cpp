//===- Coverage.cpp - which instructions the simulator executes -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the opcode field of every encoding of gfx9 with a few patterns of
// operands, because some opcodes decode only with even registers, others only
// with registers of one file, and asks LLVM what each word is.
//
//===----------------------------------------------------------------------===//

#include "tenon/Sim/Coverage.h"

#include "Disassembler.h"
#include "EncodingWalk.h"
#include "OperandDecoder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace tenon::sim {

static constexpr uint32_t dppControl = 0xFF00E400, sdwaAll = 0x06060600;

static constexpr EncodingWalk walks[] = {
    {"SOP2", 0x80000000, 0xC0000000, 23, 128, 0, 0},
    {"SOPK", 0xB0000000, 0xF0000000, 23, 32, 0, 0},
    {"SOP1", 0xBE800000, 0xFF800000, 8, 256, 0, 0},
    {"SOPC", 0xBF000000, 0xFF800000, 16, 128, 0, 0},
    {"SOPP", 0xBF800000, 0xFF800000, 16, 128, 0, 0},
    {"SMEM", 0xC0000000, 0xFC000000, 18, 256, 0x00020000, 0},
    {"VOP2", 0x00000000, 0x80000000, 25, 64, 256, 0},
    {"VOP2 DPP", 0x00000000, 0x800001FF, 25, 64, 250, dppControl},
    {"VOP2 SDWA", 0x00000000, 0x800001FF, 25, 64, 249, sdwaAll},
    {"VOP1", 0x7E000000, 0xFE000000, 9, 256, 256, 0},
    {"VOP1", 0x7E000000, 0xFE000000, 9, 256, 0, 0},
    {"VOP1 DPP", 0x7E000000, 0xFE0001FF, 9, 256, 250, dppControl},
    {"VOP1 SDWA", 0x7E000000, 0xFE0001FF, 9, 256, 249, 0x00060600},
    {"VOPC", 0x7C000000, 0xFE000000, 17, 256, 256, 0},
    {"VOPC SDWA", 0x7C000000, 0xFE0001FF, 17, 256, 249, sdwaAll},
    {"VOP3", 0xD0000000, 0xFC000000, 16, 896, 0, 0x04020100},
    {"VOP3", 0xD0000000, 0xFC000000, 16, 896, 0, 0},
    {"VOP3P", 0xD3800000, 0xFF800000, 16, 128, 0, 0x1C020100},
    {"VOP3P", 0xD3800000, 0xFF800000, 16, 128, 0x4000, 0x18020100},
    {"VOP3P", 0xD3800000, 0xFF800000, 16, 128, 0, 0x04020100},
    {"DS", 0xD8000000, 0xFC010000, 17, 256, 0, 0},
    {"DS", 0xD8010000, 0xFC010000, 17, 256, 0, 0},
    {"FLAT", 0xDC000000, 0xFC00C000, 18, 128, 0, 0x007F0000},
    {"SCRATCH", 0xDC004000, 0xFC00E000, 18, 128, 0, 0x007F0000},
    {"SCRATCH", 0xDC006000, 0xFC00E000, 18, 128, 0, 0x007F0000},
    {"GLOBAL", 0xDC008000, 0xFC00C000, 18, 128, 0, 0x007F0000},
    {"GLOBAL", 0xDC008000, 0xFC00C000, 18, 128, 0x10000, 0x007F0000},
    {"FLAT", 0xDC000000, 0xFC00C000, 18, 128, 0x10000, 0x007F0000},
    {"MUBUF", 0xE0000000, 0xFC010000, 18, 128, 0x1000, 0},
    {"MUBUF", 0xE0000000, 0xFC010000, 18, 128, 0x5000, 0},
    {"MUBUF", 0xE0000000, 0xFC010000, 18, 128, 0, 0},
    {"MUBUF LDS", 0xE0010000, 0xFC010000, 18, 128, 0x1000, 0},
    {"MTBUF", 0xE8000000, 0xFC000000, 15, 16, 0x00081000, 0},
    {"VINTRP", 0xD4000000, 0xFC000000, 16, 4, 0, 0},
    {"MIMG", 0xF0000000, 0xFC000000, 18, 128, 0x00000F00, 0},
    {"MIMG", 0xF0000001, 0xFC000000, 18, 128, 0x00000F00, 0},
    {"EXP", 0xC4000000, 0xFC000000, 4, 64, 0x0000000F, 0},
};

ArrayRef<EncodingWalk> encodingWalks() { return walks; }

/// Why an instruction that has no handler has none.
static std::string reasonOf(StringRef mnemonic) {
  struct Reason {
    StringRef prefix, text;
  };
  static constexpr Reason reasons[] = {
      {"v_screen_partition", "graphics: partitions of the screen"},
      {"v_interp", "graphics: interpolation of attributes"},
      {"s_rfe_", "returns from the trap handler, which is not simulated"},
      {"s_cbranch_g_fork", "forks of divergent branches: no compiler has them"},
      {"s_cbranch_i_fork", "forks of divergent branches: no compiler has them"},
      {"s_cbranch_join", "forks of divergent branches: no compiler has them"},
      {"s_scratch_", "scalar access to scratch, which has no base address with "
                     "architected flat scratch"},
      {"scratch_load_lds_", "scratch to LDS: no compiler has it"},
      {"tbuffer_", "typed buffers: formats of graphics"},
      {"buffer_load_format", "typed buffers: formats of graphics"},
      {"buffer_store_format", "typed buffers: formats of graphics"},
      {"image_", "graphics: images"},
      {"exp", "graphics: exports"},
  };
  for (const Reason &reason : reasons) {
    if (mnemonic.starts_with(reason.prefix)) {
      return reason.text.str();
    }
  }
  return "not implemented";
}

namespace {

/// Collects the opcodes that words of an encoding turn out to be.
class CoverageList {
public:
  explicit CoverageList(Disassembler &disassembler)
      : disassembler(disassembler) {}

  void visit(StringRef encoding, ArrayRef<uint32_t> words);
  std::vector<InstructionCoverage> take();

private:
  Disassembler &disassembler;
  StringSet<> seen;
  std::vector<InstructionCoverage> list;
};

} // namespace

void CoverageList::visit(StringRef encoding, ArrayRef<uint32_t> words) {
  uint8_t bytes[16] = {};
  for (unsigned i = 0; i < words.size(); ++i) {
    support::endian::write32le(bytes + 4 * i, words[i]);
  }
  Decoded decoded = disassembler.decode(bytes, 0);
  if (!decoded.bytes || decoded.mnemonic == "v_mfma_ld_scale_b32" ||
      !seen.insert((decoded.opcode + " " + encoding).str()).second) {
    return; // the scale prefix alone is half an instruction
  }
  Instr instr;
  Footprint footprint;
  instr.bytes = uint8_t(decoded.bytes);
  decodeInstruction(decoded.mnemonic, words.take_front(decoded.bytes / 4),
                    instr, footprint);
  bool implemented = instr.exec != execUnimplemented;
  // The printed name tells encodings apart, the decoder's does not.
  std::string printed = disassembler.print(bytes, 0);
  StringRef text = printed;
  list.push_back({decoded.opcode.str(),
                  text.take_until([](char c) { return isSpace(c); }).str(),
                  encoding.str(), implemented,
                  implemented ? "" : reasonOf(decoded.mnemonic)});
}

std::vector<InstructionCoverage> CoverageList::take() {
  std::sort(list.begin(), list.end(),
            [](const InstructionCoverage &a, const InstructionCoverage &b) {
              return std::tie(a.encoding, a.mnemonic, a.opcode) <
                     std::tie(b.encoding, b.mnemonic, b.opcode);
            });
  return std::move(list);
}

Expected<std::vector<InstructionCoverage>>
listInstructions(Processor processor) {
  Expected<std::unique_ptr<Disassembler>> disassembler =
      Disassembler::create(processor);
  if (!disassembler) {
    return disassembler.takeError();
  }
  CoverageList list(**disassembler);
  for (const EncodingWalk &walk : walks) {
    for (uint32_t opcode = 0; opcode < walk.opcodes; ++opcode) {
      uint32_t word = walk.fixed | walk.first | opcode << walk.opcodeLow;
      list.visit(walk.name, {word, walk.second, 0, 0});
    }
  }
  // An MFMA with scales is two instructions in one.
  for (uint32_t opcode = 0; opcode < 128; ++opcode) {
    list.visit("VOP3P scaled",
               {0xD3AC0000, 0x00020100, 0xD3800800 | opcode << 16, 0x04020100});
  }
  return list.take();
}

} // namespace tenon::sim
