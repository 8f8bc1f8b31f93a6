//===- SimArguments.h - kernel arguments in text ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_SIMARGUMENTS_H
#define TENON_LIB_RUN_SIMARGUMENTS_H

#include "tenon/Run/Npy.h"
#include "tenon/Sim/CodeObject.h"
#include "tenon/Sim/Memory.h"

namespace tenon::run {

/// The arguments of one launch (SimOptions::arguments), with their buffers in
/// device memory.
class SimArguments {
public:
  /// Errors are InputErrors that name the argument.
  static llvm::Expected<SimArguments> create(const sim::KernelInfo &kernel,
                                             llvm::ArrayRef<std::string> texts,
                                             sim::Memory &memory);

  /// The kernarg segment up to the last explicit argument.
  const std::vector<uint8_t> &kernarg() const { return segment; }

  /// Arguments of the metadata that no text gives: they are zero.
  const std::vector<std::string> &omitted() const { return omittedArguments; }

  /// Whether a buffer has an `out`.
  bool hasOutputs() const { return !outputs.empty(); }
  /// Writes the buffers that have an `out`.
  llvm::Error writeOutputs(sim::Memory &memory) const;

private:
  struct Output {
    uint64_t address;
    uint64_t bytes;
    std::string path;
    NpyType type;
    llvm::SmallVector<int64_t, 4> shape;
  };

  /// Bytes of a value, little endian.
  llvm::Expected<std::vector<uint8_t>> parseValue(llvm::StringRef text,
                                                  sim::Memory &memory);
  llvm::Expected<uint64_t> makeBuffer(llvm::StringRef text,
                                      sim::Memory &memory);
  llvm::Expected<uint64_t> loadArray(llvm::StringRef text, sim::Memory &memory);
  llvm::Expected<uint64_t> makeTable(llvm::StringRef text, sim::Memory &memory);

  std::vector<uint8_t> segment;
  std::vector<Output> outputs;
  std::vector<std::string> omittedArguments;
};

} // namespace tenon::run

#endif // TENON_LIB_RUN_SIMARGUMENTS_H
