//===- Disassembler.h - LLVM's decoder for AMDGPU code ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_DISASSEMBLER_H
#define TENON_LIB_SIM_DISASSEMBLER_H

#include "tenon/Sim/CodeObject.h"

#include <memory>

namespace tenon::sim {

/// Length and name of the instruction at some bytes.
struct Decoded {
  unsigned bytes = 0;       ///< 0: not an instruction
  llvm::StringRef mnemonic; ///< with encoding suffix; static storage
  llvm::StringRef opcode;   ///< LLVM's name of the opcode; static storage
};

/// Wraps LLVM MC: what an encoding is called, how long it is, how it prints.
/// Operands are taken from the encoding bits by our own decoder, because MC
/// gives them by position only. Not thread-safe.
class Disassembler {
public:
  static llvm::Expected<std::unique_ptr<Disassembler>>
  create(Processor processor);
  ~Disassembler();

  Decoded decode(llvm::ArrayRef<uint8_t> bytes, uint64_t address);

  /// Assembly text, without a leading tab.
  std::string print(llvm::ArrayRef<uint8_t> bytes, uint64_t address);

private:
  Disassembler();
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_DISASSEMBLER_H
