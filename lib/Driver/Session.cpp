//===- Session.cpp - context, parsing, diagnostics --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Driver/Compile.h"

#include "dialects/Tenon/Tenon.h"
#include "dialects/Tile/Tile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::driver;

/// Prints diagnostics with their source lines; remarks only on request.
struct Session::Handler : SourceMgrDiagnosticHandler {
  Handler(llvm::SourceMgr &sources, MLIRContext *context, bool printRemarks)
      : SourceMgrDiagnosticHandler(sources, context) {
    setHandler([this, printRemarks](Diagnostic &diagnostic) {
      if (printRemarks ||
          diagnostic.getSeverity() != DiagnosticSeverity::Remark) {
        emitDiagnostic(diagnostic);
      }
    });
  }
};

Session::Session(bool printRemarks)
    : mlirContext(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  registry.insert<spec::TenonDialect, tile::TileDialect, arith::ArithDialect,
                  func::FuncDialect, math::MathDialect, scf::SCFDialect,
                  LLVM::LLVMDialect, ROCDL::ROCDLDialect>();
  mlirContext.appendDialectRegistry(registry);
  // Attributes of these are made before anything is parsed.
  mlirContext.loadDialect<spec::TenonDialect, tile::TileDialect>();
  mlirContext.printOpOnDiagnostic(false);
  handler = std::make_unique<Handler>(sources, &mlirContext, printRemarks);
}

Session::~Session() = default;

OwningOpRef<ModuleOp> Session::parseText(std::string text, StringRef name) {
  // Buffers stay for diagnostics that come later.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text, name);
  StringRef contents = buffer->getBuffer();
  sources.AddNewSourceBuffer(std::move(buffer), SMLoc());
  return parseSourceString<ModuleOp>(contents, ParserConfig(&mlirContext),
                                     name);
}
