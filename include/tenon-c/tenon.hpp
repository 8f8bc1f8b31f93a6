//===- tenon.hpp - the C interface of the runtime for C++ -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A header over tenon.h, for C++17 and later. Errors are exceptions, and
// objects end by themselves: each holds the runtime that it belongs to, so they
// may go in any order.
//
//   tenon::Runtime runtime;
//   runtime.load("kimi_k3_tp8.tenon");
//   tenon::Device device(runtime, "hip:0");
//   device.preload();
//   tenon::Kernel kernel(device, "kda_decode", "H=12");
//   tenon::Call call(kernel);
//   call.operand("qkv", qkv, {rows, 4608}).operand(...);
//   call.launch(stream);
//
// A Call may be launched any number of times, and changed between them; a
// launch allocates nothing. All but Call may be used by several threads.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_C_TENON_HPP
#define TENON_C_TENON_HPP

#include "tenon-c/tenon.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

/// What a call of the C interface failed with, and its message.
class Error : public std::runtime_error {
public:
  Error(tenon_status status, const std::string &message)
      : std::runtime_error(message), code(status) {}
  tenon_status status() const { return code; }

private:
  tenon_status code;
};

/// Throws the message of this thread's last failure unless \p status is
/// TENON_OK.
inline void check(tenon_status status) {
  if (status != TENON_OK) {
    throw Error(status, tenon_last_error());
  }
}

struct RuntimeOptions {
  tenon_jit jit = TENON_JIT_WARN;
  /// The compiler's path; none: `tenon` on the PATH.
  std::optional<std::string> compiler;
  /// None: TENON_CACHE_DIR, else the user's cache folder. "": no cache.
  std::optional<std::string> cacheFolder;
};

/// Bundles, and what happens when a kernel is in none of them. Copies are the
/// same runtime, which ends with the last object that belongs to it.
class Runtime {
public:
  using CompileCallback = std::function<void(
      const char *op, const char *settings, const char *target)>;

  explicit Runtime(const RuntimeOptions &options = {})
      : state(std::make_shared<State>()) {
    tenon_runtime_options raw = {};
    raw.struct_bytes = sizeof(raw);
    raw.jit = options.jit;
    raw.compiler = options.compiler ? options.compiler->c_str() : nullptr;
    raw.cache_folder =
        options.cacheFolder ? options.cacheFolder->c_str() : nullptr;
    check(tenon_runtime_create(&raw, &state->handle));
  }

  tenon_runtime *get() const { return state->handle; }

  /// Opens a bundle; \p sha256 (hexadecimal), when not empty, pins its content.
  void load(const std::string &path, const std::string &sha256 = {}) {
    check(tenon_bundle_load(get(), path.c_str(),
                            sha256.empty() ? nullptr : sha256.c_str()));
  }

  /// The keys of an op: one per bucket of sizes that schedules are chosen for.
  std::vector<std::string> compileKeys(const std::string &op,
                                       const std::string &statics = {}) const {
    std::vector<std::string> keys;
    check(tenon_compile_keys(
        get(), op.c_str(), statics.c_str(),
        [](void *context, const char *settings) {
          static_cast<std::vector<std::string> *>(context)->emplace_back(
              settings);
        },
        &keys));
    return keys;
  }

  /// Has the kernel of a key ready for devices of the chip \p target.
  void compileOnly(const std::string &target, const std::string &op,
                   const std::string &settings) {
    check(tenon_compile_only(get(), target.c_str(), op.c_str(),
                             settings.c_str()));
  }

  /// Sets what is called before every compile; an empty function: nothing. It
  /// must not call this runtime, and must not throw. No compile may be under
  /// way.
  void onCompile(CompileCallback callback) {
    tenon_on_compile(get(), nullptr, nullptr);
    state->callback = std::move(callback);
    if (state->callback) {
      tenon_on_compile(
          get(),
          [](void *context, const char *op, const char *settings,
             const char *target) noexcept {
            static_cast<State *>(context)->callback(op, settings, target);
          },
          state.get());
    }
  }

  tenon_counters counters() const {
    tenon_counters result = {};
    tenon_get_counters(get(), &result);
    return result;
  }

  /// The counters in the text format of Prometheus.
  std::string prometheus() const {
    std::string text;
    size_t needed = tenon_prometheus(get(), nullptr, 0);
    // Numbers may grow between the calls.
    while (text.size() < needed) {
      text.resize(needed);
      needed = tenon_prometheus(get(), text.data(), text.size());
    }
    text.resize(needed - 1); // without the null byte
    return text;
  }

private:
  struct State {
    State() = default;
    State(const State &) = delete;
    State &operator=(const State &) = delete;
    ~State() { tenon_runtime_destroy(handle); }

    tenon_runtime *handle = nullptr;
    CompileCallback callback;
  };
  std::shared_ptr<State> state;
};

/// A device of a runtime: "hip:0", "sim", "null". Copies are the same device.
class Device {
public:
  Device(Runtime runtime, const std::string &name) : owner(std::move(runtime)) {
    check(tenon_device_open(owner.get(), name.c_str(), &handle));
  }

  tenon_device *get() const { return handle; }
  const Runtime &runtime() const { return owner; }
  const char *name() const { return tenon_device_name(handle); }
  /// The chip: "gfx950".
  const char *target() const { return tenon_device_target(handle); }

  /// Loads every kernel of the bundles, before a graph is captured; returns the
  /// number of modules.
  uint64_t preload() {
    uint64_t count = 0;
    check(tenon_preload(handle, &count));
    return count;
  }

  /// Copies in either direction, behind what is on \p stream, and waits.
  void copy(void *to, const void *from, uint64_t bytes,
            void *stream = nullptr) {
    check(tenon_device_copy(handle, to, from, bytes, stream));
  }
  void zero(void *address, uint64_t bytes, void *stream = nullptr) {
    check(tenon_device_zero(handle, address, bytes, stream));
  }
  void synchronize(void *stream = nullptr) {
    check(tenon_device_synchronize(handle, stream));
  }

private:
  Runtime owner;
  tenon_device *handle = nullptr;
};

/// Memory of a device, aligned to 256 bytes and freed with this object.
class Memory {
public:
  Memory(Device device, uint64_t bytes)
      : owner(std::move(device)), size(bytes) {
    check(tenon_device_allocate(owner.get(), bytes, &address));
  }
  Memory(Memory &&other) noexcept
      : owner(other.owner), address(std::exchange(other.address, nullptr)),
        size(std::exchange(other.size, 0)) {}
  Memory &operator=(Memory &&other) noexcept {
    std::swap(owner, other.owner);
    std::swap(address, other.address);
    std::swap(size, other.size);
    return *this;
  }
  ~Memory() {
    if (address) {
      (void)tenon_device_free(owner.get(), address);
    }
  }

  void *data() const { return address; }
  uint64_t bytes() const { return size; }

private:
  Device owner;
  void *address = nullptr;
  uint64_t size = 0;
};

/// An op with its static parameters on a device. Copies are the same kernel.
class Kernel {
public:
  /// \p statics: "H=12,gate=bounded", those that are not at their defaults.
  Kernel(Device device, const std::string &op, const std::string &statics = {})
      : owner(std::move(device)) {
    check(tenon_kernel_get(owner.get(), op.c_str(), statics.c_str(), &handle));
  }

  tenon_kernel *get() const { return handle; }
  const Device &device() const { return owner; }
  /// "kda_decode(H=12,D=128,...)".
  const char *name() const { return tenon_kernel_name(handle); }

  /// The operands of the contract; their texts live as long as the runtime.
  std::vector<tenon_operand> operands() const {
    std::vector<tenon_operand> result(tenon_kernel_operand_count(handle));
    for (uint32_t i = 0; i < result.size(); ++i) {
      check(tenon_kernel_operand(handle, i, &result[i]));
    }
    return result;
  }

  /// The names of the integers that come with a call.
  std::vector<std::string> scalars() const {
    std::vector<std::string> result;
    for (uint32_t i = 0; i < tenon_kernel_scalar_count(handle); ++i) {
      result.emplace_back(tenon_kernel_scalar(handle, i));
    }
    return result;
  }

  /// Workspace that is enough for every call within \p bounds, such as
  /// {{"N", 128}}.
  tenon_workspace
  maxWorkspace(const std::vector<std::pair<std::string, int64_t>> &bounds) {
    std::vector<tenon_bound> raw;
    for (const auto &[symbol, size] : bounds) {
      raw.push_back({symbol.c_str(), size});
    }
    tenon_workspace result = {};
    check(tenon_kernel_max_workspace(handle, raw.data(), uint32_t(raw.size()),
                                     &result));
    return result;
  }

private:
  Device owner;
  tenon_kernel *handle = nullptr;
};

/// The arguments of a kernel, set by the names of the contract. Errors of a
/// launch name an operand or a scalar that was left out. Of one thread.
class Call {
public:
  explicit Call(Kernel kernel)
      : owner(std::move(kernel)), contract(owner.operands()),
        scalarNames(owner.scalars()), sizes(contract.size()),
        strides(contract.size()), layouts(contract.size()),
        tensors(contract.size()), values(scalarNames.size()),
        isSet(contract.size() + scalarNames.size()) {
    raw.struct_bytes = sizeof(raw);
  }
  // Pointers lead into the vectors.
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  const Kernel &kernel() const { return owner; }

  /// Sets an operand: its address on the device, its sizes and strides in
  /// elements, outermost first (no strides: dense), its type (none: that of the
  /// contract) and the order of reordered elements.
  Call &operand(const std::string &name, void *data,
                std::vector<int64_t> operandSizes,
                std::vector<int64_t> operandStrides = {},
                std::optional<tenon_dtype> dtype = {},
                std::string layout = {}) {
    size_t index = find(contract.size(), name, "operand",
                        [&](size_t i) { return contract[i].name == name; });
    if (!operandStrides.empty() &&
        operandStrides.size() != operandSizes.size()) {
      throw Error(TENON_INVALID_ARGUMENT,
                  std::string(owner.name()) + ": operand '" + name + "' has " +
                      std::to_string(operandSizes.size()) + " sizes and " +
                      std::to_string(operandStrides.size()) + " strides");
    }
    sizes[index] = std::move(operandSizes);
    strides[index] = std::move(operandStrides);
    layouts[index] = std::move(layout);
    tenon_tensor &tensor = tensors[index];
    tensor.data = data;
    tensor.dtype = dtype.value_or(contract[index].dtype);
    tensor.rank = uint32_t(sizes[index].size());
    tensor.sizes = sizes[index].data();
    tensor.strides = strides[index].empty() ? nullptr : strides[index].data();
    tensor.layout = layouts[index].empty() ? nullptr : layouts[index].c_str();
    isSet[index] = true;
    return *this;
  }

  /// Moves an operand that was set, to another address of the same array.
  Call &address(const std::string &name, void *data) {
    size_t index = find(contract.size(), name, "operand",
                        [&](size_t i) { return contract[i].name == name; });
    tensors[index].data = data;
    return *this;
  }

  Call &scalar(const std::string &name, int64_t value) {
    size_t index = find(scalarNames.size(), name, "scalar",
                        [&](size_t i) { return scalarNames[i] == name; });
    values[index] = value;
    isSet[contract.size() + index] = true;
    return *this;
  }

  /// The workspace that this call needs; its addresses do not matter.
  tenon_workspace needed() {
    tenon_workspace result = {};
    check(tenon_kernel_workspace(owner.get(), arguments(nullptr), &result));
    return result;
  }

  /// Memory of any content for the time of a launch.
  Call &workspace(void *address, uint64_t bytes) {
    raw.workspace = address;
    raw.workspace_bytes = bytes;
    return *this;
  }
  Call &workspace(const Memory &memory) {
    return workspace(memory.data(), memory.bytes());
  }

  /// Memory that holds zeros before the first launch; launches leave zeros.
  Call &zeroedWorkspace(void *address, uint64_t bytes) {
    raw.zeroed_workspace = address;
    raw.zeroed_workspace_bytes = bytes;
    return *this;
  }
  Call &zeroedWorkspace(const Memory &memory) {
    return zeroedWorkspace(memory.data(), memory.bytes());
  }

  /// Checks the operands and enqueues the op on \p stream, a hipStream_t.
  void launch(void *stream = nullptr) {
    check(tenon_launch(owner.get(), arguments(stream)));
  }

private:
  template <typename Matches>
  size_t find(size_t count, const std::string &name, const char *what,
              const Matches &matches) const {
    for (size_t i = 0; i < count; ++i) {
      if (matches(i)) {
        return i;
      }
    }
    throw Error(TENON_INVALID_ARGUMENT, std::string(owner.name()) + " has no " +
                                            what + " '" + name + "'");
  }

  const tenon_launch_arguments *arguments(void *stream) {
    for (size_t i = 0; i < isSet.size(); ++i) {
      if (!isSet[i]) {
        bool isOperand = i < contract.size();
        throw Error(TENON_INVALID_ARGUMENT,
                    std::string(owner.name()) + ": the " +
                        (isOperand
                             ? std::string("operand '") + contract[i].name
                             : "scalar '" + scalarNames[i - contract.size()]) +
                        "' is not set");
      }
    }
    raw.operands = tensors.data();
    raw.operand_count = uint32_t(tensors.size());
    raw.scalars = values.data();
    raw.scalar_count = uint32_t(values.size());
    raw.stream = stream;
    return &raw;
  }

  Kernel owner;
  std::vector<tenon_operand> contract;
  std::vector<std::string> scalarNames;
  std::vector<std::vector<int64_t>> sizes, strides;
  std::vector<std::string> layouts;
  std::vector<tenon_tensor> tensors;
  std::vector<int64_t> values;
  std::vector<bool> isSet; ///< operands, then scalars
  tenon_launch_arguments raw = {};
};

} // namespace tenon

#endif // TENON_C_TENON_HPP
