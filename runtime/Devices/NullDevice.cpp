//===- NullDevice.cpp - a device that launches nothing ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What remains of a launch on this device is the overhead of the runtime.
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace tenon::runtime {

namespace {

class NullDevice : public Device {
public:
  explicit NullDevice(std::string chip)
      : Device("null", std::move(chip), /*extents=*/false) {}

  Result<void *> loadModule(std::span<const uint8_t>) override {
    return static_cast<void *>(this);
  }
  void unloadModule(void *) override {}
  Result<void *> function(void *, const std::string &) override {
    return static_cast<void *>(this);
  }
  Status launch(const DeviceLaunch &) override { return {}; }

  Result<void *> allocate(uint64_t bytes) override {
    void *address = std::aligned_alloc(256, (bytes + 256) / 256 * 256);
    if (!address) {
      return Error{fmt::format("no memory for {} bytes", bytes)};
    }
    return address;
  }
  Status free(void *address) override {
    std::free(address);
    return {};
  }
  Status copy(void *to, const void *from, uint64_t bytes, void *) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Status fillZero(void *address, uint64_t bytes, void *) override {
    std::memset(address, 0, bytes);
    return {};
  }
  Status synchronize(void *) override { return {}; }
  Result<bool> isCapturing(void *) override { return false; }
};

} // namespace

Result<std::unique_ptr<Device>> openNullDevice(std::string_view option) {
  return std::unique_ptr<Device>(
      new NullDevice(option.empty() ? "gfx950" : std::string(option)));
}

} // namespace tenon::runtime
