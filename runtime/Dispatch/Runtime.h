//===- Runtime.h - from keys to kernels -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DISPATCH_RUNTIME_H
#define TENON_RUNTIME_DISPATCH_RUNTIME_H

#include "Counters.h"
#include "Kernel.h"
#include "KernelTable.h"
#include "runtime/Devices/Device.h"
#include "tenon-c/tenon.h"
#include "tenon/Runtime/Bundle.h"
#include "tenon/Runtime/Cache.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tenon::runtime {

class Runtime;

/// What tenon_device points to: a device and the kernels that run on it.
struct OpenDevice {
  OpenDevice(Runtime &runtime, std::unique_ptr<Device> device)
      : runtime(runtime), device(std::move(device)) {}

  Runtime &runtime;
  std::unique_ptr<Device> device;
  KernelTable table;
  /// By op and canonical statics and fixed bucket; behind the device, which
  /// they unload their modules from.
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Kernel>>
      kernels;
};

/// What tenon_runtime points to. A lookup that succeeds takes no lock; what
/// reads bundles and makes kernels is under one lock; compiling is under a lock
/// of its key, so that different keys compile at the same time.
class Runtime {
public:
  struct Options {
    tenon_jit jit = TENON_JIT_WARN;
    std::string compiler = "tenon";
    std::optional<std::string> cacheFolder; ///< none: the default; "": no cache
  };

  explicit Runtime(Options options) : options(std::move(options)) {}

  tenon_status loadBundle(const std::string &path, std::string_view sha256);
  tenon_status openDevice(std::string_view name, OpenDevice *&device);
  tenon_status preload(OpenDevice &device, uint64_t *count);

  /// The kernel of the texts; found without a lock when they were asked for
  /// before.
  tenon_status getKernel(OpenDevice &device, std::string_view op,
                         std::string_view statics, Kernel *&kernel) {
    kernel = device.table.find(op, statics);
    return kernel ? TENON_OK : makeKernel(device, op, statics, kernel);
  }

  tenon_status compileKeys(std::string_view op, std::string_view statics,
                           tenon_key_callback callback, void *context);
  tenon_status compileOnly(const std::string &target, std::string_view op,
                           std::string_view settings);
  void onCompile(tenon_compile_callback callback, void *context);

  Counters counters;

private:
  tenon_status makeKernel(OpenDevice &device, std::string_view op,
                          std::string_view statics, Kernel *&kernel);
  /// With the lock held. No kernel and success: it has to be compiled.
  tenon_status makeCanonical(OpenDevice &device, const KernelKey &key,
                             Kernel *&kernel);
  void gather(const KernelKey &key, const std::string &target,
              std::vector<std::unique_ptr<Variant>> &variants) const;
  /// Without the lock held: has a key among the bundles, or fails.
  tenon_status compileMissing(const KernelKey &key, const std::string &target);
  /// Compiles with the lock of the key held, unless another thread has done so.
  template <typename Before>
  tenon_status compileOnce(const KernelKey &key, const std::string &target,
                           Before before);
  tenon_status compileInto(const KernelKey &key, const std::string &target);
  bool isInBundle(const KernelKey &key, const std::string &target);
  std::string nearestLocked(const KernelKey &key, const std::string &target);
  Result<std::string> compilerIdentity(const std::string &compiler);
  Result<std::string> runCompiler(const std::string &path, const KernelKey &key,
                                  const std::string &target) const;
  Cache *openCache();
  std::string nearest(const KernelKey &key, const std::string &target) const;

  const Options options;
  std::mutex lock;
  std::vector<std::shared_ptr<const Bundle>> bundles;
  std::vector<std::unique_ptr<OpenDevice>> devices;
  tenon_compile_callback compileCallback = nullptr;
  void *compileContext = nullptr;

  std::mutex cacheLock; ///< of the three below
  bool cacheTried = false;
  std::optional<Cache> cache;
  std::optional<std::string> compilerHash;

  std::mutex compilingLock;                                     ///< of the map
  std::map<std::string, std::shared_ptr<std::mutex>> compiling; ///< by key
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DISPATCH_RUNTIME_H
