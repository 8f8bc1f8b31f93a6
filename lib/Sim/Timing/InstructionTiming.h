//===- InstructionTiming.h - what an instruction occupies -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_TIMING_INSTRUCTIONTIMING_H
#define TENON_LIB_SIM_TIMING_INSTRUCTIONTIMING_H

#include "../CheckProgram.h"
#include "../Program.h"

#include "tenon/Target/TargetInfo.h"

namespace tenon::sim {

/// Where an instruction is issued to. A SIMD issues one per unit in a slot.
enum class IssueUnit : uint8_t {
  Vector, ///< vector ALU and matrix core
  Scalar, ///< scalar ALU
  ScalarMemory,
  VectorMemory,
  Lds,
  Branch,
  Internal, ///< waits and nops, which go to no unit
};

/// Formats that matrix clocks are told apart by.
enum class MatrixLoad : uint8_t { F32, F16, F8, F4 };
inline constexpr unsigned matrixLoadCount = 4;

/// What the timing model knows of one static instruction.
struct InstructionTiming {
  IssueUnit unit = IssueUnit::Internal;
  bool isMatrix = false;
  bool isWait = false; ///< s_waitcnt
  bool isFlat = false; ///< counts as vector memory and as LDS
  /// No time depends on what it computes, loads or stores, and nobody wants it.
  bool isSkipped = false;
  /// Whether time depends on its result; known where values may be missing.
  bool isNeeded = false;
  int8_t priority = -1; ///< that s_setprio gives the wave
  MatrixLoad matrixLoad = MatrixLoad::F32;
  uint16_t clocks = 4;              ///< of the unit
  uint8_t vmcnt = 63, lgkmcnt = 15; ///< of a wait
};

/// The timing records of a program, by record index.
std::vector<InstructionTiming> timingOf(const Program &program,
                                        const CheckProgram &checks,
                                        const target::TimingFacts &facts);

} // namespace tenon::sim

#endif // TENON_LIB_SIM_TIMING_INSTRUCTIONTIMING_H
