//===- Device.h - where kernels run -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DEVICES_DEVICE_H
#define TENON_RUNTIME_DEVICES_DEVICE_H

#include "tenon/Runtime/Result.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// An address among the arguments of a launch, and the bytes behind it that the
/// kernel may touch.
struct PointerArgument {
  uint32_t offset = 0; ///< in the argument segment
  uint64_t bytes = 0;
};

struct DeviceLaunch {
  void *function = nullptr; ///< of Device::function
  std::array<uint32_t, 3> grid = {};
  std::array<uint32_t, 3> workgroupSize = {};
  uint32_t dynamicLds = 0;
  uint8_t *kernarg = nullptr;
  uint32_t kernargBytes = 0;
  /// Only for a device that asks for it (Device::needsExtents).
  std::span<const PointerArgument> pointers;
  void *stream = nullptr; ///< null: the default one
};

/// A device. Functions may be called by several threads at a time.
class Device {
public:
  virtual ~Device() = default;

  /// How it was opened, for messages: "sim".
  const std::string &name() const { return deviceName; }
  /// The chip, as code objects name it: "gfx950".
  const std::string &target() const { return chip; }
  /// Whether launches take the extents of their pointers.
  bool needsExtents() const { return extents; }

  /// Loads a code object for this target.
  virtual Result<void *> loadModule(std::span<const uint8_t> codeObject) = 0;
  virtual void unloadModule(void *module) = 0;
  virtual Result<void *> function(void *module, const std::string &name) = 0;

  /// Enqueues a launch; does not wait, and allocates nothing.
  virtual Status launch(const DeviceLaunch &launch) = 0;

  virtual Result<void *> allocate(uint64_t bytes) = 0;
  virtual Status free(void *address) = 0;
  /// Copies between host and device, or on the device, behind what is enqueued
  /// on \p stream; \p from may be changed once the function has returned.
  virtual Status copy(void *to, const void *from, uint64_t bytes,
                      void *stream) = 0;
  virtual Status fillZero(void *address, uint64_t bytes, void *stream) = 0;
  virtual Status synchronize(void *stream) = 0;

  /// Whether \p stream records a graph instead of executing.
  virtual Result<bool> isCapturing(void *stream) = 0;

protected:
  Device(std::string name, std::string target, bool extents)
      : deviceName(std::move(name)), chip(std::move(target)), extents(extents) {
  }

private:
  std::string deviceName;
  std::string chip;
  bool extents;
};

/// Opens "null[:CHIP]", "sim[:CHIP]" or "hip[:INDEX]". The error for another
/// name lists these; that of a device that this machine has not says why and
/// names the others.
Result<std::unique_ptr<Device>> openDevice(std::string_view name);

/// \name The kinds of devices; \p option is what stands behind the colon.
/// @{
Result<std::unique_ptr<Device>> openNullDevice(std::string_view option);
Result<std::unique_ptr<Device>> openSimDevice(std::string_view option);
Result<std::unique_ptr<Device>> openHipDevice(std::string_view option);
/// @}

/// The chip that \p codeObject, an AMDGPU ELF, is made for ("gfx950").
Result<std::string> codeObjectTarget(std::span<const uint8_t> codeObject);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DEVICES_DEVICE_H
