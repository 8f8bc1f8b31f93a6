//===- Failure.h - errors as the C interface reports them -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DISPATCH_FAILURE_H
#define TENON_RUNTIME_DISPATCH_FAILURE_H

#include "tenon-c/tenon.h"

#include <string>

namespace tenon::runtime {

/// Keeps \p message for tenon_last_error of this thread and returns \p status.
tenon_status fail(tenon_status status, std::string message);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DISPATCH_FAILURE_H
