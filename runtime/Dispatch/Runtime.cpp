//===- Runtime.cpp - from keys to kernels -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Runtime.h"

#include "Buckets.h"
#include "Failure.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::runtime {

/// The bucket parameters of \p op in the order of its contract.
static std::vector<const OpParameter *> bucketParameters(std::string_view op) {
  std::vector<const OpParameter *> found;
  Result<const OpEntry *> entry = findOp(op);
  for (size_t i = 0; entry && i < (*entry)->parameters.size(); ++i) {
    if (!(*entry)->parameters[i].bucketOf.empty()) {
      found.push_back(&(*entry)->parameters[i]);
    }
  }
  return found;
}

/// The values in "expected_tokens=16".
static std::vector<int64_t> bucketValues(std::string_view bucket) {
  std::vector<int64_t> values;
  if (Result<Settings> settings = parseSettings(bucket)) {
    for (const auto &[name, value] : *settings) {
      values.push_back(std::strtoll(value.c_str(), nullptr, 10));
    }
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Bundles and devices
//===----------------------------------------------------------------------===//

tenon_status Runtime::loadBundle(const std::string &path,
                                 std::string_view sha256) {
  auto bundle = Bundle::open(path, sha256);
  if (!bundle) {
    return fail(TENON_BAD_BUNDLE, bundle.error().message);
  }
  for (size_t i = 0; i < (*bundle)->size(); ++i) {
    BundleEntry entry = (*bundle)->entry(i);
    Result<const OpEntry *> op = findOp(entry.op);
    if (!op) {
      return fail(TENON_BAD_BUNDLE,
                  fmt::format("the bundle '{}' is refused: {}", path,
                              op.error().message));
    }
    if (entry.contractVersion != (*op)->contractVersion) {
      return fail(TENON_BAD_BUNDLE,
                  fmt::format("the bundle '{}' is refused: its {} is of "
                              "contract version {}, this version of Tenon has "
                              "{}: build it anew",
                              path, entry.op, entry.contractVersion,
                              (*op)->contractVersion));
    }
  }
  std::lock_guard<std::mutex> guard(lock);
  bundles.push_back(std::move(*bundle));
  return TENON_OK;
}

tenon_status Runtime::openDevice(std::string_view name, OpenDevice *&device) {
  auto opened = runtime::openDevice(name);
  if (!opened) {
    return fail(TENON_DEVICE_ERROR, opened.error().message);
  }
  std::lock_guard<std::mutex> guard(lock);
  devices.push_back(std::make_unique<OpenDevice>(*this, std::move(*opened)));
  device = devices.back().get();
  return TENON_OK;
}

tenon_status Runtime::preload(OpenDevice &device, uint64_t *count) {
  std::lock_guard<std::mutex> guard(lock);
  // Bundles may be many: the keys first, then every kernel once.
  std::vector<KernelKey> keys;
  for (const std::shared_ptr<const Bundle> &bundle : bundles) {
    for (size_t i = 0; i < bundle->size(); ++i) {
      BundleEntry entry = bundle->entry(i);
      KernelKey key{std::string(entry.op), std::string(entry.statics), ""};
      if (entry.target == device.device->target() &&
          (keys.empty() || !(keys.back() == key))) {
        keys.push_back(std::move(key));
      }
    }
  }
  uint64_t loadedCount = 0;
  for (const KernelKey &key : keys) {
    Kernel *kernel = nullptr;
    if (tenon_status status = makeCanonical(device, key, kernel)) {
      return status;
    }
    for (const std::unique_ptr<Variant> &variant : kernel->variants) {
      const LoadedVariant *loaded = nullptr;
      if (tenon_status status = kernel->load(*variant, loaded)) {
        return status;
      }
    }
  }
  for (const auto &[key, kernel] : device.kernels) {
    for (const std::unique_ptr<Variant> &variant : kernel->variants) {
      loadedCount += variant->loaded.load() != nullptr;
    }
  }
  if (count) {
    *count = loadedCount;
  }
  return TENON_OK;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The key of what a caller asks for: `bucket` is empty unless it names one.
static tenon_status readKey(std::string_view op, std::string_view statics,
                            KernelKey &key) {
  Result<Settings> settings = parseSettings(statics);
  if (!settings) {
    return fail(TENON_INVALID_ARGUMENT,
                fmt::format("{}: static parameters '{}': {}", op, statics,
                            settings.error().message));
  }
  Result<KernelKey> complete = kernelKey(op, *settings);
  if (!complete) {
    return fail(TENON_INVALID_ARGUMENT, complete.error().message);
  }
  key = std::move(*complete);
  bool isFixed = false;
  for (const OpParameter *parameter : bucketParameters(key.op)) {
    isFixed |=
        std::any_of(settings->begin(), settings->end(), [&](const auto &pair) {
          return pair.first == parameter->name;
        });
  }
  if (!isFixed) {
    key.bucket.clear();
  }
  return TENON_OK;
}

tenon_status Runtime::makeKernel(OpenDevice &device, std::string_view op,
                                 std::string_view statics, Kernel *&kernel) {
  KernelKey key;
  if (tenon_status status = readKey(op, statics, key)) {
    return status;
  }
  for (bool isCompiled : {false, true}) {
    std::unique_lock<std::mutex> guard(lock);
    // Another thread may have made it since.
    kernel = device.table.find(op, statics);
    if (kernel) {
      return TENON_OK;
    }
    if (tenon_status status = makeCanonical(device, key, kernel)) {
      return status;
    }
    if (kernel) {
      device.table.insert(op, statics, kernel);
      return TENON_OK;
    }
    guard.unlock();
    if (isCompiled) {
      break;
    }
    if (tenon_status status = compileMissing(key, device.device->target())) {
      return status;
    }
  }
  return fail(TENON_INTERNAL_ERROR,
              fmt::format("{} ({}) was compiled, but not under its key", key.op,
                          key.statics));
}

void Runtime::gather(const KernelKey &key, const std::string &target,
                     std::vector<std::unique_ptr<Variant>> &variants) const {
  std::vector<std::string_view> seen;
  for (const std::shared_ptr<const Bundle> &bundle : bundles) {
    auto [begin, end] = bundle->find(key.op, key.statics, target);
    for (size_t i = begin; i < end; ++i) {
      std::string_view bucket = bundle->entry(i).bucket;
      if ((!key.bucket.empty() && bucket != key.bucket) ||
          std::find(seen.begin(), seen.end(), bucket) != seen.end()) {
        continue;
      }
      seen.push_back(bucket);
      auto variant = std::make_unique<Variant>();
      variant->bundle = bundle;
      variant->index = i;
      variant->bucket = bucketValues(bucket);
      variants.push_back(std::move(variant));
    }
  }
  std::sort(variants.begin(), variants.end(),
            [](const auto &a, const auto &b) { return a->bucket < b->bucket; });
}

tenon_status Runtime::makeCanonical(OpenDevice &device, const KernelKey &key,
                                    Kernel *&kernel) {
  std::pair<std::string, std::string> place(key.op,
                                            key.statics + ";" + key.bucket);
  auto found = device.kernels.find(place);
  if (found != device.kernels.end()) {
    kernel = found->second.get();
    return TENON_OK;
  }
  const std::string &target = device.device->target();
  std::vector<std::unique_ptr<Variant>> variants;
  gather(key, target, variants);
  kernel = nullptr;
  if (variants.empty()) {
    return TENON_OK;
  }
  auto made = std::make_unique<Kernel>(*device.device, counters, key);
  made->name = fmt::format("{}({}{}{})", key.op, key.statics,
                           key.bucket.empty() || key.statics.empty() ? "" : ",",
                           key.bucket);
  made->variants = std::move(variants);
  if (key.bucket.empty()) {
    for (const OpParameter *parameter : bucketParameters(key.op)) {
      made->bucketSymbols.push_back(parameter->bucketOf);
    }
  }
  for (const std::unique_ptr<Variant> &variant : made->variants) {
    if (variant->bucket.size() < made->bucketSymbols.size()) {
      return fail(TENON_BAD_BUNDLE,
                  fmt::format("{} of the bundle '{}' does not say which sizes "
                              "its schedule is for",
                              made->name, variant->bundle->name()));
    }
  }
  if (tenon_status status = made->describe()) {
    return status;
  }
  kernel = made.get();
  device.kernels.emplace(std::move(place), std::move(made));
  return TENON_OK;
}

std::string Runtime::nearest(const KernelKey &key,
                             const std::string &target) const {
  Settings wanted;
  if (Result<Settings> settings = parseSettings(key.statics)) {
    wanted = std::move(*settings);
  }
  std::string best;
  size_t most = 0;
  for (const std::shared_ptr<const Bundle> &bundle : bundles) {
    for (size_t i = 0; i < bundle->size(); ++i) {
      BundleEntry entry = bundle->entry(i);
      if (entry.op != key.op) {
        continue;
      }
      Result<Settings> has = parseSettings(entry.statics);
      if (!has) {
        continue;
      }
      size_t equal = entry.target == target ? 1 : 0;
      std::string differs;
      for (const auto &pair : *has) {
        bool same =
            std::find(wanted.begin(), wanted.end(), pair) != wanted.end();
        equal += same;
        if (!same) {
          differs += fmt::format(" {}={}", pair.first, pair.second);
        }
      }
      if (equal + 1 > most) {
        most = equal + 1;
        best =
            fmt::format("the nearest in '{}' has{}{}", bundle->name(), differs,
                        entry.target == target
                            ? ""
                            : fmt::format(" and is for {}", entry.target));
      }
    }
  }
  if (!best.empty()) {
    return best;
  }
  return bundles.empty()
             ? "no bundle is loaded"
             : fmt::format("no kernel of {} is in any bundle", key.op);
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

tenon_status Runtime::compileKeys(std::string_view op, std::string_view statics,
                                  tenon_key_callback callback, void *context) {
  KernelKey key;
  if (tenon_status status = readKey(op, statics, key)) {
    return status;
  }
  std::vector<const OpParameter *> buckets = bucketParameters(key.op);
  if (buckets.empty() || !key.bucket.empty()) {
    callback(
        context,
        (key.statics + (key.bucket.empty() ? "" : ",") + key.bucket).c_str());
    return TENON_OK;
  }
  // All combinations of the buckets of each parameter.
  std::vector<int64_t> values(buckets.size(), 1);
  while (true) {
    std::string text = key.statics;
    for (size_t i = 0; i < buckets.size(); ++i) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", buckets[i]->name,
                          values[i]);
    }
    callback(context, text.c_str());
    size_t i = 0;
    while (i < values.size() && values[i] == largestBucket) {
      values[i++] = 1;
    }
    if (i == values.size()) {
      return TENON_OK;
    }
    values[i] *= 2;
  }
}

void Runtime::onCompile(tenon_compile_callback callback, void *context) {
  std::lock_guard<std::mutex> guard(lock);
  compileCallback = callback;
  compileContext = context;
}

} // namespace tenon::runtime
