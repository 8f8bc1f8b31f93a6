//===- MakeError.h - formatted errors ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_LAYOUT_MAKEERROR_H
#define TENON_LIB_LAYOUT_MAKEERROR_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace tenon::layout {

/// An error whose text is `format` filled in by llvm::formatv.
template <typename... Args>
llvm::Error makeError(const char *format, Args &&...args) {
  return llvm::make_error<llvm::StringError>(
      llvm::formatv(format, std::forward<Args>(args)...).str(),
      llvm::inconvertibleErrorCode());
}

} // namespace tenon::layout

#endif // TENON_LIB_LAYOUT_MAKEERROR_H
