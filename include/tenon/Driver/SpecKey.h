//===- SpecKey.h - the key of the kernel that a spec describes --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DRIVER_SPECKEY_H
#define TENON_DRIVER_SPECKEY_H

#include "tenon/Runtime/OpParameters.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace tenon::driver {

/// The name, without the dialect's prefix, of the one tenon op of \p module;
/// empty when it has none, or several.
std::string specOpName(mlir::ModuleOp module);

/// The settings under which specText writes the one tenon op of \p module, but
/// for strides: an operand that is dense in the spec may be strided in what
/// specText writes. Found by search, so that an op needs no code for it.
/// Errors: no op, several, or one that no settings stand for.
llvm::Expected<runtime::Settings> specSettings(mlir::ModuleOp module);

} // namespace tenon::driver

#endif // TENON_DRIVER_SPECKEY_H
