//===- HostMemoryDevice.cpp - devices on memory of the host -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostMemoryDevice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tenon::runtime {

Result<void *> HostMemoryDevice::allocate(uint64_t bytes) {
  // Pages of a large pool come into being when they are touched.
  void *address = nullptr;
  if (posix_memalign(&address, 256, std::max<uint64_t>(bytes, 1)) != 0) {
    return Error{fmt::format("no memory for {} bytes", bytes)};
  }
  return address;
}

Status HostMemoryDevice::free(void *address) {
  std::free(address);
  return {};
}

Status HostMemoryDevice::copy(void *to, const void *from, uint64_t bytes,
                              void *) {
  std::memmove(to, from, bytes);
  return {};
}

Status HostMemoryDevice::fillZero(void *address, uint64_t bytes, void *) {
  std::memset(address, 0, bytes);
  return {};
}

} // namespace tenon::runtime
