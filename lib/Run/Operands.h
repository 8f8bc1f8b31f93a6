//===- Operands.h - the data of a run ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_OPERANDS_H
#define TENON_LIB_RUN_OPERANDS_H

#include "tenon/Run/Run.h"
#include "tenon/Sim/Memory.h"

namespace tenon::run {

/// One operand: its view, whose source gives the initial contents, and where it
/// lies on the device.
struct Operand {
  std::string name;
  runtime::OperandAccess access = runtime::OperandAccess::Read;
  reference::TensorView view;
  std::unique_ptr<reference::ByteSource> source;
  /// What lies in memory instead, when the elements have been reordered.
  std::optional<Reordered> image;
  /// The bytes that lie in memory instead, when the op reorders what it writes.
  std::optional<reference::TensorView> stored;
  uint64_t address = 0;
  /// Whether dimensions behind the outermost one have given strides.
  bool hasInnerStrides = false;

  /// What the reference speaks of: the elements, or the bytes.
  const reference::TensorView &inMemory() const {
    return stored ? *stored : view;
  }
};

/// The operands of one run.
class Operands {
public:
  /// Sizes, strides and contents from \p options, the rest from \p harness.
  static llvm::Expected<Operands> create(const runtime::Plan &plan,
                                         const Harness &harness,
                                         const RunOptions &options);

  /// Reserves device memory; contents come when they are touched.
  llvm::Error allocate(sim::Memory &memory);

  llvm::MutableArrayRef<Operand> all() { return operands; }
  const Operand *find(llvm::StringRef name) const;

  /// The sizes and scalars of the call, and the scalars in the plan's order.
  const Dims &dims() const { return sizes; }
  llvm::ArrayRef<int64_t> scalars() const { return scalarValues; }

  /// The views by name, for the reference.
  Views views() const;

  /// Checks that the operands that are asked for as files fit this host.
  llvm::Error checkOutputs(const RunOptions &options) const;

  /// Writes the operands that were asked for to their files.
  llvm::Error writeOutputs(sim::Memory &memory,
                           const RunOptions &options) const;

private:
  std::vector<Operand> operands;
  Dims sizes;
  std::vector<int64_t> scalarValues;
};

} // namespace tenon::run

#endif // TENON_LIB_RUN_OPERANDS_H
