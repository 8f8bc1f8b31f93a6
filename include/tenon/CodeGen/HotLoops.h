//===- HotLoops.h - what the loops of matrix kernels hold -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_CODEGEN_HOTLOOPS_H
#define TENON_CODEGEN_HOTLOOPS_H

#include "tenon/Sim/CodeObject.h"

#include <string>
#include <vector>

namespace tenon::codegen {

/// An innermost loop with matrix instructions, as it is in the machine code,
/// and the instructions of each wave in one iteration.
struct HotLoop {
  uint64_t address = 0; ///< of the first instruction
  uint64_t bytes = 0;
  unsigned products = 0; ///< matrix instructions
  /// Moves between registers, of what matrix instructions read or write. The
  /// copy of a register that lanes swap with itself is none.
  unsigned registerMoves = 0;
  unsigned vectorAlu = 0; ///< others of the vector ALU: addresses, mostly
  unsigned scalarAlu = 0;
  unsigned ldsReads = 0;
  unsigned copies = 0; ///< from device memory into LDS
  unsigned loads = 0;  ///< from device memory into registers

  /// Half of the instruction cache, which two compute units share.
  static constexpr uint64_t mostBytes = 32 << 10;
  /// Matrix instructions that a move wants at least.
  static constexpr unsigned productsPerMove = 16;
  /// Instructions of any kind among which a move is not worth another schedule.
  static constexpr unsigned instructionsPerMove = 32;

  /// All instructions that are counted.
  unsigned instructions() const {
    return products + registerMoves + vectorAlu + scalarAlu + ldsReads +
           copies + loads;
  }
};

/// The hot loops of a kernel, in the order of their addresses.
llvm::Expected<std::vector<HotLoop>> findHotLoops(const sim::Kernel &kernel);

/// Why a loop is not acceptable; empty when it is.
std::string objection(const HotLoop &loop);

} // namespace tenon::codegen

#endif // TENON_CODEGEN_HOTLOOPS_H
