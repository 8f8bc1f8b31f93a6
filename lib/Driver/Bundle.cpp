//===- Bundle.cpp - compiled specs as kernels of a bundle -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Driver/Bundle.h"

#include "tenon/Runtime/Compiler.h"

#include "llvm/Config/llvm-config.h"

using namespace tenon;

llvm::Expected<runtime::BundleKernel>
driver::bundleKernel(const Compiled &compiled, llvm::StringRef op,
                     const runtime::Settings &settings, llvm::StringRef chip) {
  auto key = runtime::kernelKey(op, settings);
  if (!key) {
    return llvm::createStringError(key.error().message);
  }
  if (compiled.plan.launches.empty()) {
    return llvm::createStringError("a bundle holds kernels of tenon ops: a "
                                   "tile program has no launch plan");
  }
  // Hashed once: every kernel of a bundle is of this program.
  static const runtime::Result<std::string> build =
      runtime::compilerBuild("/proc/self/exe");
  if (!build) {
    return llvm::createStringError(build.error().message);
  }
  runtime::BundleKernel kernel;
  kernel.contractVersion = (*runtime::findOp(op))->contractVersion;
  kernel.key = std::move(*key);
  kernel.target = chip.str();
  kernel.schedule = compiled.schedule;
  kernel.llvmVersion = LLVM_VERSION_STRING;
  kernel.compilerBuild = *build;
  kernel.plan = runtime::toJson(compiled.plan);
  kernel.codeObject = compiled.codeObject;
  return kernel;
}
