//===- Result.h - A value or an error with text -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime links no LLVM and throws no exceptions across its interface, so
// it carries its errors in these two types.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_RESULT_H
#define TENON_RUNTIME_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tenon::runtime {

/// What went wrong, as a sentence for the user.
struct Error {
  std::string message;
};

/// A T, or the reason why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return content.index() == 0; }

  /// The value; only when there is one.
  T &operator*() { return *get(); }
  const T &operator*() const { return *get(); }
  T *operator->() { return get(); }
  const T *operator->() const { return get(); }

  /// The error; only when there is no value.
  const Error &error() const {
    assert(content.index() == 1 && "error() of a Result that has a value");
    return *std::get_if<1>(&content);
  }

private:
  T *get() {
    assert(content.index() == 0 && "value of a Result that is an error");
    return std::get_if<0>(&content);
  }
  const T *get() const { return const_cast<Result *>(this)->get(); }

  std::variant<T, Error> content;
};

/// Success, or the reason of the failure.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }

  /// The error; only after a failure.
  const Error &error() const {
    assert(failure && "error() of a success");
    return *failure;
  }

private:
  std::optional<Error> failure;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_RESULT_H
