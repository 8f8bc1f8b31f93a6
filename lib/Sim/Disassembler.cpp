//===- Disassembler.cpp - LLVM's decoder for AMDGPU code --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Disassembler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

using namespace llvm;

namespace tenon::sim {

struct Disassembler::State {
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> asmInfo;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> disassembler;
  std::unique_ptr<MCInstPrinter> printer;
};

Disassembler::Disassembler() : state(std::make_unique<State>()) {}
Disassembler::~Disassembler() = default;

Expected<std::unique_ptr<Disassembler>>
Disassembler::create(Processor processor) {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  Triple triple("amdgcn-amd-amdhsa");
  std::string message;
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target) {
    return createStringError("no AMDGPU target in this LLVM: " + message);
  }
  std::unique_ptr<Disassembler> result(new Disassembler());
  State &state = *result->state;
  MCTargetOptions options;
  state.registers.reset(target->createMCRegInfo(triple));
  state.asmInfo.reset(
      target->createMCAsmInfo(*state.registers, triple, options));
  state.instructions.reset(target->createMCInstrInfo());
  state.subtarget.reset(target->createMCSubtargetInfo(
      triple, processorName(processor), /*Features=*/""));
  state.context =
      std::make_unique<MCContext>(triple, state.asmInfo.get(),
                                  state.registers.get(), state.subtarget.get());
  state.disassembler.reset(
      target->createMCDisassembler(*state.subtarget, *state.context));
  state.printer.reset(
      target->createMCInstPrinter(triple, /*SyntaxVariant=*/0, *state.asmInfo,
                                  *state.instructions, *state.registers));
  if (!state.disassembler || !state.printer) {
    return createStringError("this LLVM has no AMDGPU disassembler");
  }
  return result;
}

static bool isSdwaFatal(uint32_t first, uint32_t second) {
  bool isVop1 = first >> 25 == 0x3F, isVopc = first >> 25 == 0x3E;
  unsigned dstSel = isVopc ? 0 : second >> 8 & 7;
  unsigned dstUnused = isVopc ? 0 : second >> 11 & 3;
  unsigned src0 = second >> 16 & 7, src1 = isVop1 ? 0 : second >> 24 & 7;
  return dstSel == 7 || dstUnused == 3 || src0 == 7 || src1 == 7;
}

/// VOP3 has no literals, and products of small formats take no constants.
static bool isVop3Fatal(uint32_t first, uint32_t second) {
  constexpr uint32_t literal = 255;
  for (unsigned low : {0, 9, 18}) {
    if ((second >> low & 0x1FF) == literal) {
      return true;
    }
  }
  uint32_t opcode = first >> 16 & 0x3FF;
  bool hasScalarDst = opcode < 0x100 || opcode == 0x289; // v_cmp, v_readlane
  bool isSmallProduct = opcode == 0x3AD || opcode == 0x3AE;
  return (hasScalarDst && (first & 0xFF) == literal) ||
         (isSmallProduct && (second & 0x20100) != 0x20100);
}

/// Encodings that no assembler writes and on which LLVM ends the process.
static bool isFatalToLlvm(ArrayRef<uint8_t> bytes) {
  auto word = [&](size_t i) {
    return bytes.size() >= 4 * i + 4
               ? support::endian::read32le(bytes.data() + 4 * i)
               : 0;
  };
  uint32_t first = word(0), second = word(1);
  if (first >> 31 == 0) { // VOP1, VOP2, VOPC
    return (first & 0x1FF) == 249 && isSdwaFatal(first, second);
  }
  switch (first >> 26) {
  case 0x34: // VOP3; the scales of a product stand in front of it
    return isVop3Fatal(first, second) ||
           (first >> 16 == 0xD3AC && isVop3Fatal(word(2), word(3)));
  case 0x38:                    // MUBUF
  case 0x3A:                    // MTBUF
    return second >> 24 == 255; // a literal as offset
  default:
    return false;
  }
}

Decoded Disassembler::decode(ArrayRef<uint8_t> bytes, uint64_t address) {
  if (isFatalToLlvm(bytes)) {
    return {};
  }
  MCInst inst;
  uint64_t size = 0;
  if (state->disassembler->getInstruction(inst, size, bytes, address,
                                          nulls()) != MCDisassembler::Success) {
    return {};
  }
  // The fixed text up to the first operand, which may go on behind the name
  // ("scratch_store_dword off, ").
  StringRef name = state->printer->getMnemonic(inst).first;
  return {unsigned(size), name.take_until([](char c) { return isSpace(c); }),
          state->instructions->getName(inst.getOpcode())};
}

std::string Disassembler::print(ArrayRef<uint8_t> bytes, uint64_t address) {
  MCInst inst;
  uint64_t size = 0;
  if (isFatalToLlvm(bytes) ||
      state->disassembler->getInstruction(inst, size, bytes, address,
                                          nulls()) != MCDisassembler::Success) {
    return "<not an instruction>";
  }
  std::string text;
  raw_string_ostream stream(text);
  state->printer->printInst(&inst, address, /*Annot=*/"", *state->subtarget,
                            stream);
  return StringRef(text).trim().str();
}

} // namespace tenon::sim
