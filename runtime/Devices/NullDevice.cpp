//===- NullDevice.cpp - a device that launches nothing ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What remains of a launch on this device is the overhead of the runtime.
//
//===----------------------------------------------------------------------===//

#include "HostMemoryDevice.h"

namespace tenon::runtime {

namespace {

class NullDevice : public HostMemoryDevice {
public:
  explicit NullDevice(std::string chip)
      : HostMemoryDevice("null", std::move(chip), /*extents=*/false) {}

  Result<void *> loadModule(std::span<const uint8_t>) override {
    return static_cast<void *>(this);
  }
  void unloadModule(void *) override {}
  Result<void *> function(void *, const std::string &) override {
    return static_cast<void *>(this);
  }
  Status launch(const DeviceLaunch &) override { return {}; }
};

} // namespace

Result<std::unique_ptr<Device>> openNullDevice(std::string_view option) {
  return std::unique_ptr<Device>(
      new NullDevice(option.empty() ? "gfx950" : std::string(option)));
}

} // namespace tenon::runtime
