//===- Failures.cpp - Statuses as exceptions --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Failures.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace tenon::python {

static const char *className(tenon_status status) {
  switch (status) {
  case TENON_INVALID_ARGUMENT:
    return "InvalidArgument";
  case TENON_NOT_FOUND:
    return "KernelNotFound";
  case TENON_BAD_BUNDLE:
    return "BadBundle";
  case TENON_COMPILE_FAILED:
    return "CompileFailed";
  case TENON_DEVICE_ERROR:
    return "DeviceError";
  case TENON_NOT_LOADED:
    return "NotLoaded";
  default:
    return "Error";
  }
}

[[noreturn]] static void raiseClass(const char *name,
                                    const std::string &message,
                                    const std::string &operand) {
  nb::object type = nb::module_::import_("tenon.errors").attr(name);
  nb::object error = operand.empty() ? type(message.c_str())
                                     : type(message.c_str(), operand.c_str());
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

/// The operand that \p message is about; empty when there is none.
static std::string operandIn(const std::string &message) {
  const std::string opening = "operand '";
  size_t begin = message.find(opening);
  if (begin == std::string::npos) {
    return "";
  }
  begin += opening.size();
  size_t end = message.find('\'', begin);
  return end == std::string::npos ? "" : message.substr(begin, end - begin);
}

void raise(tenon_status status, const std::string &message) {
  std::string operand;
  if (status == TENON_INVALID_ARGUMENT) {
    operand = operandIn(message);
  }
  raiseClass(operand.empty() ? className(status) : "OperandError", message,
             operand);
}

void raiseOperand(const std::string &kernel, const std::string &operand,
                  const std::string &message) {
  raiseClass("OperandError", kernel + ": operand '" + operand + "' " + message,
             operand);
}

void check(tenon_status status) {
  if (status != TENON_OK) {
    raise(status, tenon_last_error());
  }
}

} // namespace tenon::python
