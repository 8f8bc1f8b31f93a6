//===- CodeGen.h - from the llvm dialect to a code object -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_CODEGEN_CODEGEN_H
#define TENON_CODEGEN_CODEGEN_H

#include "tenon/Target/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace tenon::codegen {

/// The machine code of one module, on its way to a code object.
class MachineModule {
public:
  /// Translates a module of the llvm and rocdl dialects to LLVM IR and
  /// optimises it. Errors: what LLVM reports.
  static llvm::Expected<MachineModule> create(mlir::ModuleOp module,
                                              const target::TargetInfo &target);
  MachineModule(MachineModule &&);
  ~MachineModule();

  /// The optimised LLVM IR as text.
  std::string llvmIr() const;
  /// The assembly as text.
  llvm::Expected<std::string> assembly();
  /// A relocatable ELF object. May be called once: it consumes the IR.
  llvm::Expected<std::vector<char>> object();

private:
  struct State;
  explicit MachineModule(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Links one relocatable object into a code object, with LLD in this process.
llvm::Expected<std::vector<uint8_t>>
linkCodeObject(llvm::ArrayRef<char> object);

} // namespace tenon::codegen

#endif // TENON_CODEGEN_CODEGEN_H
