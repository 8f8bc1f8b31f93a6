//===- OpParameters.h - the static parameters of the ops --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What names a kernel: an op and values of its static parameters. The runtime
// finds kernels by them, the compiler writes specs from them, and neither needs
// the other for it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_OPPARAMETERS_H
#define TENON_RUNTIME_OPPARAMETERS_H

#include "tenon/Runtime/Result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tenon::runtime {

/// A static parameter of an op.
struct OpParameter {
  std::string_view name;
  std::string_view defaultValue;
  std::string_view help;
  /// The values it can take; empty for numbers, and for sizes, whose default is
  /// "?" (it varies from call to call).
  std::span<const std::string_view> choices;
  /// Not empty: the parameter changes no result, but is the value of this size
  /// of a call (OperandDim::symbol) that schedules are ranked for. Kernels that
  /// differ in it alone are the buckets of one kernel.
  std::string_view bucketOf = {};
};

/// An op that kernels can be made for.
struct OpEntry {
  std::string_view name; ///< without the dialect's prefix
  std::string_view summary;
  std::span<const OpParameter> parameters;
  /// Changes when operands, sizes or meaning of the op change. A bundle whose
  /// kernels were built to another one is refused.
  uint32_t contractVersion = 1;
};

/// All ops, in alphabetical order.
std::span<const OpEntry> opEntries();

/// The op called \p name, with or without "tenon." before it. The error lists
/// the ops there are.
Result<const OpEntry *> findOp(std::string_view name);

/// Values of parameters by name.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// What was wrong with one setting, and with which; an empty name: with none in
/// particular.
struct SettingError {
  std::string parameter;
  std::string message;
};

/// Every parameter of \p op in the order of its contract, those that
/// \p settings do not name with their defaults. Errors: an unknown parameter,
/// one that is given twice, a value that it cannot take.
std::variant<Settings, SettingError> completeSettings(const OpEntry &op,
                                                      const Settings &settings);

/// What identifies a kernel but for its target, as text without spaces:
/// `statics` is "NAME=VALUE,..." of the parameters in the order of the
/// contract, `bucket` the same of those with OpParameter::bucketOf.
struct KernelKey {
  std::string op;
  std::string statics;
  std::string bucket;

  bool operator==(const KernelKey &) const = default;
};

/// The key of \p op with \p settings, completed by the defaults.
Result<KernelKey> kernelKey(std::string_view op, const Settings &settings);

/// The settings that \p text lists as "NAME=VALUE,NAME=VALUE"; empty text has
/// none.
Result<Settings> parseSettings(std::string_view text);

/// The options of `tenon compile` that build the kernel of \p key: "--op
/// kda_decode --set H=12 ...", without those that are at their default.
std::string compileOptions(const KernelKey &key);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_OPPARAMETERS_H
