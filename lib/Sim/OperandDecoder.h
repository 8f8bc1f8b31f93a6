//===- OperandDecoder.h - operands from encoding bits -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_OPERANDDECODER_H
#define TENON_LIB_SIM_OPERANDDECODER_H

#include "Opcode.h"

#include "llvm/ADT/ArrayRef.h"

namespace tenon::sim {

/// The encoding family of an instruction, by its first dword.
Encoding encodingOf(uint32_t word);

/// Fills `instr`, whose `address` and `bytes` are set, from the encoding
/// `words` of an instruction and its `mnemonic` with encoding suffix. What
/// nothing executes becomes an unimplemented instruction.
void decodeInstruction(llvm::StringRef mnemonic, llvm::ArrayRef<uint32_t> words,
                       Instr &instr, Footprint &footprint);

} // namespace tenon::sim

#endif // TENON_LIB_SIM_OPERANDDECODER_H
