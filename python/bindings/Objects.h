//===- Objects.h - What Python holds ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runtime, device, memory and kernel of the C interface. Each holds the one
// before it, so that Python may drop them in any order.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PYTHON_BINDINGS_OBJECTS_H
#define TENON_PYTHON_BINDINGS_OBJECTS_H

#include "tenon-c/tenon.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::python {

class Runtime {
public:
  Runtime(const std::string &jit, const std::optional<std::string> &compiler,
          const std::optional<std::string> &cacheFolder);
  ~Runtime();
  Runtime(const Runtime &) = delete;

  tenon_runtime *get() const { return handle; }

  void load(const std::string &path, const std::optional<std::string> &sha256);
  std::vector<std::string> compileKeys(const std::string &op,
                                       nanobind::handle statics);
  void compileOnly(const std::string &target, const std::string &op,
                   nanobind::handle statics);
  void onCompile(nanobind::object callback);
  nanobind::dict counters();
  std::string prometheus();

  nanobind::object callback; ///< None: there is none

private:
  tenon_runtime *handle = nullptr;
};

class Device {
public:
  Device(std::shared_ptr<Runtime> runtime, const std::string &name);

  tenon_device *get() const { return handle; }
  bool isHip() const;
  std::string name() const { return tenon_device_name(handle); }
  std::string target() const { return tenon_device_target(handle); }
  uint64_t preload();
  void synchronize(nanobind::handle stream);

  const std::shared_ptr<Runtime> runtime;

private:
  tenon_device *handle = nullptr;
};

/// Memory of a device, freed with this.
class Memory {
public:
  Memory(std::shared_ptr<Device> device, uint64_t bytes, bool zero);
  ~Memory();
  Memory(const Memory &) = delete;

  const uint64_t bytes;
  void *address = nullptr;

private:
  std::shared_ptr<Device> device;
};

class Kernel {
public:
  Kernel(std::shared_ptr<Device> device, const std::string &op,
         nanobind::handle statics);

  std::string name() const { return tenon_kernel_name(handle); }
  nanobind::list operands() const;
  std::vector<std::string> scalars() const;

  void launch(nanobind::dict arrays, nanobind::dict scalars,
              nanobind::handle workspace, nanobind::handle zeroedWorkspace,
              nanobind::handle stream);
  std::pair<uint64_t, uint64_t> workspace(nanobind::dict arrays,
                                          nanobind::dict scalars);
  std::pair<uint64_t, uint64_t> maxWorkspace(nanobind::dict bounds);

  const std::shared_ptr<Device> device;

private:
  struct Call;
  void bind(Call &call, nanobind::dict arrays, nanobind::dict scalars,
            uint64_t stream);

  tenon_kernel *handle = nullptr;
  std::string op;
  std::vector<tenon_operand> expected;
  /// Names as Python has them, of `expected` and of the scalars.
  std::vector<nanobind::str> operandKeys, scalarKeys;
  bool hasLayouts = false; ///< some operand is reordered
};

/// str() of \p object.
std::string textOf(nanobind::handle object);

/// "H=12,gate=bounded" of a mapping, or None; booleans become on and off.
std::string settingsText(nanobind::handle statics);

/// The address of a stream: None, a number, or an object of a framework with
/// the address in `cuda_stream` (torch), `ptr` (cupy) or `__cuda_stream__`.
uint64_t streamAddress(nanobind::handle stream);

} // namespace tenon::python

#endif // TENON_PYTHON_BINDINGS_OBJECTS_H
