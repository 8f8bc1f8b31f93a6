//===- OpCatalogue.h - contracts and specs of the ops ------------*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DRIVER_OPCATALOGUE_H
#define TENON_DRIVER_OPCATALOGUE_H

#include "tenon/Runtime/OpParameters.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace tenon::driver {

/// The contract of the op called \p name as Markdown, generated from TableGen.
llvm::Expected<std::string> opContract(llvm::StringRef name);

/// The text of a spec of the op \p name with the given parameters, the others
/// at their defaults. Errors name an unknown op or parameter, or a value that
/// the parameter cannot take, and list what there is.
llvm::Expected<std::string>
specText(llvm::StringRef name,
         llvm::ArrayRef<std::pair<std::string, std::string>> settings);

} // namespace tenon::driver

#endif // TENON_DRIVER_OPCATALOGUE_H
