//===- HostMemoryDevice.h - devices on memory of the host -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DEVICES_HOSTMEMORYDEVICE_H
#define TENON_RUNTIME_DEVICES_HOSTMEMORYDEVICE_H

#include "Device.h"

namespace tenon::runtime {

/// A device whose memory is the host's, and whose work has ended when a call
/// returns: streams make no difference.
class HostMemoryDevice : public Device {
public:
  using Device::Device;

  Result<void *> allocate(uint64_t bytes) override;
  Status free(void *address) override;
  Status copy(void *to, const void *from, uint64_t bytes, void *) override;
  Status fillZero(void *address, uint64_t bytes, void *) override;
  Status synchronize(void *) override { return {}; }
  Result<bool> isCapturing(void *) override { return false; }
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DEVICES_HOSTMEMORYDEVICE_H
