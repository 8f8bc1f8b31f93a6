//===- Program.h - the decoded code of a code object ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_PROGRAM_H
#define TENON_LIB_SIM_PROGRAM_H

#include "Disassembler.h"
#include "Instruction.h"

#include <mutex>
#include <optional>
#include <vector>

namespace tenon::sim {

/// All instructions of a code object, in address order, and the way from an
/// address to its record. Immutable after `finish`.
class Program {
public:
  explicit Program(Processor processor);

  /// Decodes a range of code. Ranges come in ascending order; the overlap with
  /// an earlier one is skipped.
  void decode(llvm::ArrayRef<uint8_t> code, uint64_t address);

  /// Resolves branch targets. Called once, after the last `decode`.
  void finish();

  const Instr *records() const { return instrs.data(); }
  size_t recordCount() const { return instrs.size(); }
  const Footprint *footprints() const { return footprintList.data(); }
  Processor processor() const { return target; }

  /// Record of the instruction at an ELF address; nothing in padding or in the
  /// middle of an instruction.
  std::optional<uint32_t> recordAt(uint64_t address) const;

  /// Assembly text of a record.
  std::string text(const Instr &instr) const;

  llvm::Error
  forEach(uint64_t begin, uint64_t end,
          llvm::function_ref<void(const StaticInstruction &)> visit) const;

private:
  void addEnd();

  Processor target;
  std::unique_ptr<Disassembler> disassembler;
  std::string disassemblerProblem;
  mutable std::mutex printLock;
  std::vector<Instr> instrs;
  std::vector<Footprint> footprintList;
  std::vector<std::array<uint8_t, 16>> encodings;
  uint64_t decodedEnd = 0;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_PROGRAM_H
