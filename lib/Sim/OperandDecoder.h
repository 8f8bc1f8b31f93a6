//===- OperandDecoder.h - operands from encoding bits -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_OPERANDDECODER_H
#define TENON_LIB_SIM_OPERANDDECODER_H

#include "Opcode.h"

#include "llvm/ADT/ArrayRef.h"

namespace tenon::sim {

/// The encoding family of an instruction, by its first dword.
Encoding encodingOf(uint32_t word);

/// Fills the operands of `instr`, whose `encoding`, `address` and `bytes` are
/// set, from its encoding `words` as `info` types them. A form that nothing
/// executes turns into an unimplemented instruction.
void decodeOperands(const OpcodeInfo &info, llvm::ArrayRef<uint32_t> words,
                    Instr &instr, Footprint &footprint);

} // namespace tenon::sim

#endif // TENON_LIB_SIM_OPERANDDECODER_H
