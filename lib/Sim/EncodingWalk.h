//===- EncodingWalk.h - the opcode fields of all encodings ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_ENCODINGWALK_H
#define TENON_LIB_SIM_ENCODINGWALK_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace tenon::sim {

/// An encoding: its fixed bits, and where the opcode is.
struct EncodingWalk {
  const char *name;
  uint32_t fixed;
  uint32_t fixedMask; ///< bits of the first dword that `fixed` states
  unsigned opcodeLow, opcodes;
  /// Operand bits of the first and second dword to try.
  uint32_t first, second;
};

/// All encodings, some of them more than once with different operands.
llvm::ArrayRef<EncodingWalk> encodingWalks();

} // namespace tenon::sim

#endif // TENON_LIB_SIM_ENCODINGWALK_H
