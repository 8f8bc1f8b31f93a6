//===- OpCatalogue.h - the ops by name --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DRIVER_OPCATALOGUE_H
#define TENON_DRIVER_OPCATALOGUE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace tenon::driver {

/// A static parameter of an op as `--set` names it.
struct OpParameter {
  llvm::StringRef name;
  llvm::StringRef defaultValue;
  llvm::StringRef help;
  /// The values it can take; empty for numbers, and for sizes, whose default is
  /// "?" (it varies from call to call).
  llvm::ArrayRef<llvm::StringRef> choices;
};

/// An op of the tenon dialect that specs can be written for.
struct OpEntry {
  llvm::StringRef name; ///< without the dialect's prefix
  llvm::StringRef summary;
  llvm::ArrayRef<OpParameter> parameters;
};

/// All ops, in alphabetical order.
llvm::ArrayRef<OpEntry> opCatalogue();

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
