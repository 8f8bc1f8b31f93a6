//===- Program.cpp - the decoded code of a code object ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"

#include "Opcode.h"
#include "OperandDecoder.h"
#include "Wave.h"

#include "llvm/Support/Endian.h"

#include <algorithm>

using namespace llvm;

namespace tenon::sim {

Program::Program(Processor processor) : target(processor) {
  Expected<std::unique_ptr<Disassembler>> created =
      Disassembler::create(processor);
  if (created) {
    disassembler = std::move(*created);
  } else {
    disassemblerProblem = toString(created.takeError());
  }
}

static void execEndOfCode(Wave &wave, const Instr &) {
  wave.fail("execution ran past the end of the code");
}

/// Marks a place behind which no code follows.
void Program::addEnd() {
  Instr instr;
  instr.address = uint32_t(decodedEnd);
  instr.exec = execEndOfCode;
  instrs.push_back(instr);
  footprintList.emplace_back();
  encodings.emplace_back();
}

void Program::decode(ArrayRef<uint8_t> code, uint64_t address) {
  if (!instrs.empty() && address > decodedEnd) {
    addEnd();
  }
  uint64_t skip = decodedEnd > address ? decodedEnd - address : 0;
  while (disassembler && skip < code.size()) {
    ArrayRef<uint8_t> rest = code.drop_front(skip);
    uint64_t here = address + skip;
    Decoded decoded = disassembler->decode(rest, here);
    Instr instr;
    Footprint footprint;
    instr.address = uint32_t(here);
    instr.exec = execUnimplemented;
    instr.bytes = decoded.bytes ? decoded.bytes : 4;
    std::array<uint8_t, 16> bytes = {};
    std::copy_n(rest.begin(), std::min<size_t>(16, rest.size()), bytes.begin());
    if (decoded.bytes) {
      uint32_t words[4];
      for (unsigned i = 0; i < 4; ++i) {
        words[i] = support::endian::read32le(bytes.data() + 4 * i);
      }
      decodeInstruction(decoded.mnemonic, ArrayRef(words, decoded.bytes / 4),
                        instr, footprint);
    }
    instrs.push_back(instr);
    footprintList.push_back(footprint);
    encodings.push_back(bytes);
    skip += instr.bytes;
  }
  decodedEnd = std::max(decodedEnd, address + code.size());
}

void Program::finish() {
  addEnd();
  if (std::any_of(instrs.begin(), instrs.end(), switchesVectorModes)) {
    for (Instr &instr : instrs) {
      makeModal(instr);
    }
  }
  for (Instr &instr : instrs) {
    if (instr.target) {
      // A target outside of the code ends the launch only when it is reached.
      instr.target = recordAt(instr.target).value_or(~0u);
    }
  }
}

std::optional<uint32_t> Program::recordAt(uint64_t address) const {
  auto found = std::lower_bound(instrs.begin(), instrs.end(), address,
                                [](const Instr &instr, uint64_t wanted) {
                                  return instr.address < wanted;
                                });
  if (found == instrs.end() || found->address != address) {
    return std::nullopt;
  }
  return uint32_t(found - instrs.begin());
}

std::string Program::text(const Instr &instr) const {
  if (!disassembler) {
    return "<no disassembler>";
  }
  std::lock_guard<std::mutex> guard(printLock);
  const std::array<uint8_t, 16> &bytes = encodings[&instr - instrs.data()];
  return disassembler->print(ArrayRef(bytes.data(), 16), instr.address);
}

Error Program::forEach(
    uint64_t begin, uint64_t end,
    function_ref<void(const StaticInstruction &)> visit) const {
  std::optional<uint32_t> first = recordAt(begin);
  if (!disassembler || !first) {
    return createStringError(disassembler
                                 ? "code object: no code at the kernel's entry"
                                 : disassemblerProblem);
  }
  for (uint32_t i = *first; i < instrs.size() && instrs[i].address < end; ++i) {
    const Instr &instr = instrs[i];
    if (!instr.bytes) {
      break; // the end mark
    }
    visit({instr.address, instr.bytes, text(instr), instr.instructionClass,
           instr.exec != execUnimplemented});
  }
  return Error::success();
}

} // namespace tenon::sim
