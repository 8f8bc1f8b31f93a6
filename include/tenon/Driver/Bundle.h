//===- Bundle.h - compiled specs as kernels of a bundle ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DRIVER_BUNDLE_H
#define TENON_DRIVER_BUNDLE_H

#include "tenon/Driver/Compile.h"
#include "tenon/Runtime/Bundle.h"

#include "llvm/Support/Error.h"

namespace tenon::driver {

/// \p compiled as a bundle stores it under the key of \p settings, which name
/// the op's parameters. Errors: a tile program, which has no plan.
llvm::Expected<runtime::BundleKernel>
bundleKernel(const Compiled &compiled, llvm::StringRef op,
             const runtime::Settings &settings, llvm::StringRef chip);

} // namespace tenon::driver

#endif // TENON_DRIVER_BUNDLE_H
