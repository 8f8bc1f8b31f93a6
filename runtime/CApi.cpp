//===- CApi.cpp - the functions of tenon-c/tenon.h --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon-c/tenon.h"

#include "runtime/Dispatch/Failure.h"
#include "runtime/Dispatch/Runtime.h"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <new>

using namespace tenon::runtime;

/// The message of this thread, in memory of its own.
static std::string &threadMessage() {
  thread_local std::string message;
  return message;
}

tenon_status tenon::runtime::fail(tenon_status status, std::string message) {
  threadMessage() = std::move(message);
  return status;
}

/// Runs \p work; an exception becomes a status.
template <typename Work> static tenon_status guarded(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return fail(TENON_INTERNAL_ERROR, "out of memory");
  } catch (const std::exception &error) {
    return fail(TENON_INTERNAL_ERROR,
                std::string("internal error: ") + error.what());
  } catch (...) {
    return fail(TENON_INTERNAL_ERROR, "internal error");
  }
}

/// Refuses null where a pointer is needed.
#define TENON_REQUIRE(argument)                                                \
  if (!(argument)) {                                                           \
    return fail(TENON_INVALID_ARGUMENT,                                        \
                std::string(__func__) + ": " #argument " is NULL");            \
  }

static Runtime *unwrap(tenon_runtime *runtime) {
  return reinterpret_cast<Runtime *>(runtime);
}
static OpenDevice *unwrap(tenon_device *device) {
  return reinterpret_cast<OpenDevice *>(device);
}
static const OpenDevice *unwrap(const tenon_device *device) {
  return reinterpret_cast<const OpenDevice *>(device);
}
static Kernel *unwrap(tenon_kernel *kernel) {
  return reinterpret_cast<Kernel *>(kernel);
}
static const Kernel *unwrap(const tenon_kernel *kernel) {
  return reinterpret_cast<const Kernel *>(kernel);
}

static tenon_status deviceStatus(const Status &status) {
  return status ? TENON_OK : fail(TENON_DEVICE_ERROR, status.error().message);
}

const char *tenon_last_error(void) { return threadMessage().c_str(); }

const char *tenon_version(void) { return TENON_VERSION; }

//===----------------------------------------------------------------------===//
// Runtime
//===----------------------------------------------------------------------===//

tenon_status tenon_runtime_create(const tenon_runtime_options *options,
                                  tenon_runtime **runtime) {
  TENON_REQUIRE(runtime);
  return guarded([&] {
    Runtime::Options chosen;
    if (options) {
      if (options->struct_bytes != sizeof(tenon_runtime_options)) {
        return fail(TENON_INVALID_ARGUMENT,
                    fmt::format("tenon_runtime_create: struct_bytes is {}, {} "
                                "expected: the program was built for another "
                                "version of Tenon",
                                options->struct_bytes,
                                sizeof(tenon_runtime_options)));
      }
      if (options->jit < TENON_JIT_WARN || options->jit > TENON_JIT_FORBID) {
        return fail(
            TENON_INVALID_ARGUMENT,
            fmt::format("tenon_runtime_create: jit is {}", int(options->jit)));
      }
      chosen.jit = options->jit;
      if (options->compiler) {
        chosen.compiler = options->compiler;
      }
      if (options->cache_folder) {
        chosen.cacheFolder = options->cache_folder;
      }
    }
    *runtime = reinterpret_cast<tenon_runtime *>(new Runtime(chosen));
    return TENON_OK;
  });
}

void tenon_runtime_destroy(tenon_runtime *runtime) { delete unwrap(runtime); }

tenon_status tenon_bundle_load(tenon_runtime *runtime, const char *path,
                               const char *sha256) {
  TENON_REQUIRE(runtime);
  TENON_REQUIRE(path);
  return guarded(
      [&] { return unwrap(runtime)->loadBundle(path, sha256 ? sha256 : ""); });
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

tenon_status tenon_device_open(tenon_runtime *runtime, const char *name,
                               tenon_device **device) {
  TENON_REQUIRE(runtime);
  TENON_REQUIRE(name);
  TENON_REQUIRE(device);
  return guarded([&] {
    OpenDevice *opened = nullptr;
    tenon_status status = unwrap(runtime)->openDevice(name, opened);
    *device = reinterpret_cast<tenon_device *>(opened);
    return status;
  });
}

const char *tenon_device_name(const tenon_device *device) {
  return device ? unwrap(device)->device->name().c_str() : "";
}

const char *tenon_device_target(const tenon_device *device) {
  return device ? unwrap(device)->device->target().c_str() : "";
}

tenon_status tenon_device_allocate(tenon_device *device, uint64_t bytes,
                                   void **address) {
  TENON_REQUIRE(device);
  TENON_REQUIRE(address);
  return guarded([&] {
    Result<void *> memory = unwrap(device)->device->allocate(bytes);
    if (!memory) {
      return fail(TENON_DEVICE_ERROR, memory.error().message);
    }
    *address = *memory;
    return TENON_OK;
  });
}

tenon_status tenon_device_free(tenon_device *device, void *address) {
  TENON_REQUIRE(device);
  return guarded(
      [&] { return deviceStatus(unwrap(device)->device->free(address)); });
}

tenon_status tenon_device_copy(tenon_device *device, void *to, const void *from,
                               uint64_t bytes, void *stream) {
  TENON_REQUIRE(device);
  return guarded([&] {
    return deviceStatus(unwrap(device)->device->copy(to, from, bytes, stream));
  });
}

tenon_status tenon_device_zero(tenon_device *device, void *address,
                               uint64_t bytes, void *stream) {
  TENON_REQUIRE(device);
  return guarded([&] {
    return deviceStatus(
        unwrap(device)->device->fillZero(address, bytes, stream));
  });
}

tenon_status tenon_device_synchronize(tenon_device *device, void *stream) {
  TENON_REQUIRE(device);
  return guarded([&] {
    return deviceStatus(unwrap(device)->device->synchronize(stream));
  });
}

tenon_status tenon_preload(tenon_device *device, uint64_t *count) {
  TENON_REQUIRE(device);
  return guarded(
      [&] { return unwrap(device)->runtime.preload(*unwrap(device), count); });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

tenon_status tenon_kernel_get(tenon_device *device, const char *op,
                              const char *statics, tenon_kernel **kernel) {
  TENON_REQUIRE(device);
  TENON_REQUIRE(op);
  TENON_REQUIRE(kernel);
  return guarded([&] {
    Kernel *found = nullptr;
    tenon_status status = unwrap(device)->runtime.getKernel(
        *unwrap(device), op, statics ? statics : "", found);
    *kernel = reinterpret_cast<tenon_kernel *>(found);
    return status;
  });
}

const char *tenon_kernel_name(const tenon_kernel *kernel) {
  return kernel ? unwrap(kernel)->name.c_str() : "";
}

uint32_t tenon_kernel_operand_count(const tenon_kernel *kernel) {
  return kernel ? unwrap(kernel)->contract.operands.size() : 0;
}

tenon_status tenon_kernel_operand(const tenon_kernel *kernel, uint32_t index,
                                  tenon_operand *operand) {
  TENON_REQUIRE(kernel);
  TENON_REQUIRE(operand);
  return guarded([&] {
    const Kernel &described = *unwrap(kernel);
    if (index >= described.contract.operands.size()) {
      return fail(TENON_INVALID_ARGUMENT,
                  fmt::format("{} has {} operands, none of index {}",
                              described.name,
                              described.contract.operands.size(), index));
    }
    const PlanOperand &from = described.contract.operands[index];
    const Kernel::OperandTexts &texts = described.operandTexts[index];
    operand->name = from.name.c_str();
    operand->dtype = texts.type->dtype;
    operand->access = from.access == OperandAccess::Read    ? TENON_READ
                      : from.access == OperandAccess::Write ? TENON_WRITE
                                                            : TENON_READ_WRITE;
    operand->rank = from.dims.size();
    operand->sizes = texts.sizes.data();
    operand->symbols = texts.symbols.data();
    operand->layout = from.layout.c_str();
    return TENON_OK;
  });
}

tenon_status tenon_kernel_operand_bytes(const tenon_kernel *kernel,
                                        uint32_t index, const int64_t *sizes,
                                        const int64_t *strides,
                                        uint64_t *bytes) {
  TENON_REQUIRE(kernel);
  TENON_REQUIRE(bytes);
  return guarded([&] {
    const Kernel &described = *unwrap(kernel);
    tenon_operand operand;
    if (tenon_status status = tenon_kernel_operand(kernel, index, &operand)) {
      return status;
    }
    if (!sizes && operand.rank != 0) {
      return fail(TENON_INVALID_ARGUMENT,
                  "tenon_kernel_operand_bytes: sizes is NULL");
    }
    std::vector<int64_t> dense(operand.rank, 1);
    for (uint32_t dim = operand.rank; dim-- > 1;) {
      dense[dim - 1] = int64_t(uint64_t(dense[dim]) * uint64_t(sizes[dim]));
    }
    Result<uint64_t> found = operandBytes(
        described.contract.operands[index], std::span(sizes, operand.rank),
        std::span(strides ? strides : dense.data(), operand.rank));
    if (!found) {
      return fail(TENON_INVALID_ARGUMENT, found.error().message);
    }
    *bytes = *found;
    return TENON_OK;
  });
}

uint32_t tenon_kernel_scalar_count(const tenon_kernel *kernel) {
  return kernel ? unwrap(kernel)->contract.scalars.size() : 0;
}

const char *tenon_kernel_scalar(const tenon_kernel *kernel, uint32_t index) {
  return index < tenon_kernel_scalar_count(kernel)
             ? unwrap(kernel)->contract.scalars[index].c_str()
             : nullptr;
}

/// Refuses arguments of another version and null lists.
static tenon_status checkArguments(const tenon_launch_arguments *arguments) {
  TENON_REQUIRE(arguments);
  if (arguments->struct_bytes != sizeof(tenon_launch_arguments)) {
    return fail(TENON_INVALID_ARGUMENT,
                fmt::format("tenon_launch_arguments: struct_bytes is {}, {} "
                            "expected: the program was built for another "
                            "version of Tenon",
                            arguments->struct_bytes,
                            sizeof(tenon_launch_arguments)));
  }
  if ((arguments->operand_count && !arguments->operands) ||
      (arguments->scalar_count && !arguments->scalars)) {
    return fail(TENON_INVALID_ARGUMENT,
                "tenon_launch_arguments: operands or scalars is NULL");
  }
  for (uint32_t i = 0; i < arguments->operand_count; ++i) {
    if (arguments->operands[i].rank && !arguments->operands[i].sizes) {
      return fail(TENON_INVALID_ARGUMENT,
                  fmt::format("operand {}: sizes is NULL", i));
    }
  }
  return TENON_OK;
}

tenon_status tenon_kernel_workspace(tenon_kernel *kernel,
                                    const tenon_launch_arguments *arguments,
                                    tenon_workspace *workspace) {
  TENON_REQUIRE(kernel);
  TENON_REQUIRE(workspace);
  return guarded([&] {
    tenon_status status = checkArguments(arguments);
    return status ? status : unwrap(kernel)->workspace(*arguments, *workspace);
  });
}

tenon_status tenon_kernel_max_workspace(tenon_kernel *kernel,
                                        const tenon_bound *bounds,
                                        uint32_t bound_count,
                                        tenon_workspace *workspace) {
  TENON_REQUIRE(kernel);
  TENON_REQUIRE(workspace);
  return guarded([&] {
    std::vector<SizeBound> given;
    for (uint32_t i = 0; i < bound_count; ++i) {
      TENON_REQUIRE(bounds && bounds[i].symbol);
      given.push_back({bounds[i].symbol, bounds[i].size});
    }
    return unwrap(kernel)->maxWorkspace(given, *workspace);
  });
}

tenon_status tenon_launch(tenon_kernel *kernel,
                          const tenon_launch_arguments *arguments) {
  TENON_REQUIRE(kernel);
  return guarded([&] {
    tenon_status status = checkArguments(arguments);
    return status ? status : unwrap(kernel)->launch(*arguments);
  });
}

//===----------------------------------------------------------------------===//
// Compiling ahead, and what an engine watches
//===----------------------------------------------------------------------===//

tenon_status tenon_compile_keys(tenon_runtime *runtime, const char *op,
                                const char *statics,
                                tenon_key_callback callback, void *context) {
  TENON_REQUIRE(runtime);
  TENON_REQUIRE(op);
  TENON_REQUIRE(callback);
  return guarded([&] {
    return unwrap(runtime)->compileKeys(op, statics ? statics : "", callback,
                                        context);
  });
}

tenon_status tenon_compile_only(tenon_runtime *runtime, const char *target,
                                const char *op, const char *settings) {
  TENON_REQUIRE(runtime);
  TENON_REQUIRE(target);
  TENON_REQUIRE(op);
  return guarded([&] {
    return unwrap(runtime)->compileOnly(target, op, settings ? settings : "");
  });
}

void tenon_on_compile(tenon_runtime *runtime, tenon_compile_callback callback,
                      void *context) {
  if (runtime) {
    unwrap(runtime)->onCompile(callback, context);
  }
}

void tenon_get_counters(tenon_runtime *runtime, tenon_counters *counters) {
  if (runtime && counters) {
    *counters = unwrap(runtime)->counters.read();
  }
}

size_t tenon_prometheus(tenon_runtime *runtime, char *text, size_t capacity) {
  size_t bytes = 0;
  (void)guarded([&] {
    TENON_REQUIRE(runtime);
    std::string full = prometheusText(unwrap(runtime)->counters.read());
    bytes = full.size() + 1;
    if (text && capacity != 0) {
      size_t copied = std::min(capacity - 1, full.size());
      std::memcpy(text, full.data(), copied);
      text[copied] = '\0';
    }
    return TENON_OK;
  });
  return bytes;
}
