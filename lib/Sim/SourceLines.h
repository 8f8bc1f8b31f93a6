//===- SourceLines.h - source locations of instructions ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_SOURCELINES_H
#define TENON_LIB_SIM_SOURCELINES_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tenon::sim {

/// The line tables of a code object, read on first use. Not thread-safe.
class SourceLines {
public:
  /// `bytes` is the whole ELF file and has to stay.
  explicit SourceLines(llvm::ArrayRef<uint8_t> bytes);
  ~SourceLines();

  /// "file.c:12" of an ELF address; empty when no line table has it.
  std::string at(uint64_t address) const;

private:
  struct State;
  llvm::ArrayRef<uint8_t> bytes;
  mutable std::unique_ptr<State> state;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_SOURCELINES_H
