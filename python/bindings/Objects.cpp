//===- Objects.cpp - What Python holds --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Objects.h"

#include "Failures.h"

#include <nanobind/stl/string.h>

#include <algorithm>

namespace nb = nanobind;

namespace tenon::python {

std::string textOf(nb::handle object) { return nb::str(object).c_str(); }

std::string settingsText(nb::handle statics) {
  std::string text;
  if (statics.is_none()) {
    return text;
  }
  // Any mapping will do, as it does for dict().
  PyObject *copy = PyObject_CallFunctionObjArgs(
      reinterpret_cast<PyObject *>(&PyDict_Type), statics.ptr(), nullptr);
  if (!copy) {
    throw nb::python_error();
  }
  for (auto [name, value] : nb::steal<nb::dict>(copy)) {
    std::string spelled = PyBool_Check(value.ptr())
                              ? (value.ptr() == Py_True ? "on" : "off")
                              : textOf(value);
    text += (text.empty() ? "" : ",") + textOf(name) + "=" + spelled;
  }
  return text;
}

uint64_t streamAddress(nb::handle stream) {
  if (stream.is_none()) {
    return 0;
  }
  nb::object number = nb::borrow(stream);
  for (const char *attribute : {"cuda_stream", "ptr"}) {
    if (nb::hasattr(stream, attribute)) {
      number = stream.attr(attribute);
      break;
    }
  }
  if (nb::hasattr(stream, "__cuda_stream__")) {
    // (version, address)
    number = nb::object(stream.attr("__cuda_stream__")())[1];
  }
  uint64_t address = 0;
  if (!nb::try_cast(number, address)) {
    raise(TENON_INVALID_ARGUMENT,
          "stream: expected None, an address or a stream of a framework, "
          "found " +
              textOf(nb::repr(stream)));
  }
  return address;
}

//===----------------------------------------------------------------------===//
// Runtime
//===----------------------------------------------------------------------===//

/// The program of the compiler wheel; empty when that is not installed.
static std::string installedCompiler() {
  try {
    return nb::cast<std::string>(
        nb::module_::import_("tenon_compiler").attr("program")());
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_ImportError)) {
      throw;
    }
    return "";
  }
}

Runtime::Runtime(const std::string &jit,
                 const std::optional<std::string> &compiler,
                 const std::optional<std::string> &cacheFolder)
    : callback(nb::none()) {
  tenon_runtime_options options = {};
  options.struct_bytes = sizeof(options);
  if (jit == "warn") {
    options.jit = TENON_JIT_WARN;
  } else if (jit == "allow") {
    options.jit = TENON_JIT_ALLOW;
  } else if (jit == "forbid") {
    options.jit = TENON_JIT_FORBID;
  } else {
    raise(TENON_INVALID_ARGUMENT,
          "jit: expected warn, allow or forbid, found '" + jit + "'");
  }
  std::string program = compiler ? *compiler : installedCompiler();
  options.compiler = program.empty() ? nullptr : program.c_str();
  options.cache_folder = cacheFolder ? cacheFolder->c_str() : nullptr;
  check(tenon_runtime_create(&options, &handle));
}

Runtime::~Runtime() {
  if (handle) {
    tenon_runtime_destroy(handle);
  }
}

void Runtime::load(const std::string &path,
                   const std::optional<std::string> &sha256) {
  check(tenon_bundle_load(handle, path.c_str(),
                          sha256 ? sha256->c_str() : nullptr));
}

std::vector<std::string> Runtime::compileKeys(const std::string &op,
                                              nb::handle statics) {
  std::vector<std::string> keys;
  check(tenon_compile_keys(
      handle, op.c_str(), settingsText(statics).c_str(),
      [](void *context, const char *settings) {
        static_cast<std::vector<std::string> *>(context)->push_back(settings);
      },
      &keys));
  return keys;
}

void Runtime::compileOnly(const std::string &target, const std::string &op,
                          nb::handle statics) {
  std::string settings = nb::isinstance<nb::str>(statics)
                             ? textOf(statics)
                             : settingsText(statics);
  tenon_status status;
  {
    nb::gil_scoped_release released;
    status = tenon_compile_only(handle, target.c_str(), op.c_str(),
                                settings.c_str());
  }
  check(status);
}

void Runtime::onCompile(nb::object given) {
  callback = std::move(given);
  if (callback.is_none()) {
    tenon_on_compile(handle, nullptr, nullptr);
    return;
  }
  auto call = [](void *context, const char *op, const char *settings,
                 const char *target) {
    nb::gil_scoped_acquire held;
    try {
      static_cast<Runtime *>(context)->callback(op, settings, target);
    } catch (nb::python_error &error) {
      // The compile goes on; nobody is there to catch it.
      error.discard_as_unraisable("tenon.Runtime.on_compile");
    }
  };
  tenon_on_compile(handle, call, this);
}

nb::dict Runtime::counters() {
  tenon_counters counters = {};
  tenon_get_counters(handle, &counters);
  nb::dict result;
  result["launches"] = counters.launches;
  result["bucket_misses"] = counters.bucket_misses;
  result["static_misses"] = counters.static_misses;
  result["cache_hits"] = counters.cache_hits;
  result["compiles"] = counters.compiles;
  result["modules"] = counters.modules;
  result["compile_seconds"] = counters.compile_seconds;
  return result;
}

std::string Runtime::prometheus() {
  // The numbers may grow by a digit between the two calls.
  std::string text(tenon_prometheus(handle, nullptr, 0) + 256, '\0');
  size_t bytes = tenon_prometheus(handle, text.data(), text.size());
  text.resize(std::min(bytes, text.size()) - 1);
  return text;
}

//===----------------------------------------------------------------------===//
// Device and memory
//===----------------------------------------------------------------------===//

Device::Device(std::shared_ptr<Runtime> given, const std::string &name)
    : runtime(std::move(given)) {
  check(tenon_device_open(runtime->get(), name.c_str(), &handle));
}

bool Device::isHip() const { return name().starts_with("hip"); }

uint64_t Device::preload() {
  uint64_t count = 0;
  tenon_status status;
  {
    nb::gil_scoped_release released;
    status = tenon_preload(handle, &count);
  }
  check(status);
  return count;
}

void Device::synchronize(nb::handle stream) {
  auto *address = reinterpret_cast<void *>(streamAddress(stream));
  tenon_status status;
  {
    nb::gil_scoped_release released;
    status = tenon_device_synchronize(handle, address);
  }
  check(status);
}

Memory::Memory(std::shared_ptr<Device> given, uint64_t bytes, bool zero)
    : bytes(bytes), device(std::move(given)) {
  check(tenon_device_allocate(device->get(), bytes, &address));
  if (zero && bytes != 0) {
    tenon_status status =
        tenon_device_zero(device->get(), address, bytes, nullptr);
    if (status == TENON_OK) {
      status = tenon_device_synchronize(device->get(), nullptr);
    }
    if (status != TENON_OK) {
      std::string message = tenon_last_error();
      tenon_device_free(device->get(), address);
      raise(status, message);
    }
  }
}

Memory::~Memory() { tenon_device_free(device->get(), address); }

} // namespace tenon::python
