//===- Compile.h - from a spec to a code object -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DRIVER_COMPILE_H
#define TENON_DRIVER_COMPILE_H

#include "tenon/CodeGen/Report.h"
#include "tenon/Driver/PhaseTimes.h"
#include "tenon/Runtime/Plan.h"
#include "tenon/Target/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::driver {

/// An MLIR context with the dialects of specs and tile programs, whose
/// diagnostics are printed with their source lines. Remarks are kept back
/// unless asked for.
class Session {
public:
  explicit Session(bool printRemarks = false);
  ~Session();

  mlir::MLIRContext &context() { return mlirContext; }

  /// Parses a spec or tile program; diagnostics call it \p name. Null after a
  /// diagnostic.
  mlir::OwningOpRef<mlir::ModuleOp> parseText(std::string text,
                                              llvm::StringRef name);

private:
  mlir::MLIRContext mlirContext;
  llvm::SourceMgr sources;
  struct Handler;
  std::unique_ptr<Handler> handler;
};

/// What links a relocatable object into a code object.
enum class Linker {
  Lld,
  /// ROCm's comgr, which also reads the code object for comparison. LLD, after
  /// a warning, where comgr is not installed or does not know the chip.
  Comgr,
};

struct CompileOptions {
  std::string chip = "gfx950";
  Linker linker = Linker::Lld;
  /// A schedule given by the user, as an attribute; else the ranked ones.
  std::optional<std::string> schedule;
  /// When given, the code object has line tables, which name the lines of
  /// Compiled::tileProgram and call it this. The machine code is the same.
  /// Those of a tile program that was not made from a spec name its own file
  /// without being asked for.
  std::optional<std::string> tileFile;
  /// When given, receives the CPU time of passes and of LLVM, of all schedules
  /// that are tried.
  PhaseTimes *times = nullptr;
};

/// What one spec compiles to.
struct Compiled {
  runtime::Plan plan;
  std::vector<uint8_t> codeObject;
  std::vector<codegen::KernelReport> reports;
  /// What linked it: "LLD", or the name and version of comgr.
  std::string linker;
  /// The schedule that was taken, for people.
  std::string schedule;
  /// The tile program of that schedule; empty unless CompileOptions::tileFile
  /// is given.
  std::string tileProgram;
};

/// Sets the target of \p module, or checks that a target it already names is
/// \p chip. The error for an unknown chip lists the known ones.
llvm::Expected<target::TargetInfo> setTarget(mlir::ModuleOp module,
                                             llvm::StringRef chip);

/// The module after tenon-lower-to-tile, as text; changes \p module. Fails
/// after a diagnostic.
mlir::FailureOr<std::string> compileToTile(mlir::ModuleOp module,
                                           const CompileOptions &options);

/// The assembly of the first acceptable schedule.
mlir::FailureOr<std::string> compileToIsa(mlir::ModuleOp module,
                                          const CompileOptions &options);

/// Compiles \p module with each schedule of the ranked list until the machine
/// code of one is acceptable: no scratch, no spills, within the registers and
/// the LDS of the chip. A module of `tile.kernel`s without a tenon op is
/// compiled as it is; its plan is empty. Fails after a diagnostic.
mlir::FailureOr<Compiled> compile(mlir::ModuleOp module,
                                  const CompileOptions &options);

} // namespace tenon::driver

#endif // TENON_DRIVER_COMPILE_H
