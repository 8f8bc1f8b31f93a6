//===- Coverage.h - which instructions the simulator executes ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_SIM_COVERAGE_H
#define TENON_SIM_COVERAGE_H

#include "tenon/Sim/CodeObject.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tenon::sim {

/// One opcode that LLVM's disassembler knows on a processor.
struct InstructionCoverage {
  std::string opcode;   ///< LLVM's name ("V_ADD_F32_e32_vi")
  std::string mnemonic; ///< as printed, with encoding suffix ("v_add_f32_e32")
  std::string encoding; ///< "VOP2", "VOP2 DPP", "MUBUF" ...
  bool implemented = false;
  /// Why an opcode is not executed; empty when it is.
  std::string reason;
};

/// All opcodes of a processor, found by walking the opcode fields of every
/// encoding through LLVM's disassembler; sorted by encoding, mnemonic and
/// opcode. Fails only when this LLVM has no AMDGPU target.
llvm::Expected<std::vector<InstructionCoverage>>
listInstructions(Processor processor);

} // namespace tenon::sim

#endif // TENON_SIM_COVERAGE_H
