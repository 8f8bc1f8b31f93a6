//===- HipMemory.cpp - memory of the stand-in -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the device is undefined until it is written, and the simulator
// finds kernels that use what is not. Copies and fills take no simulated time.
//
//===----------------------------------------------------------------------===//

#include "HipStandIn.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace tenon::standin;
using tenon::runtime::SimReport;

/// hipMemcpyKind.
static constexpr int hostToHost = 0, hostToDevice = 1, deviceToHost = 2,
                     deviceToDevice = 3, byAddress = 4, withoutCompute = 1024;

/// Bytes that pass through the host at a time.
static constexpr uint64_t chunkBytes = 1 << 20;

static uint64_t number(const void *address) {
  return reinterpret_cast<uintptr_t>(address);
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

static HipError allocate(State &state, const char *function, void **address,
                         size_t bytes) {
  if (!address) {
    return invalidValue;
  }
  *address = nullptr;
  if (HipError error = state.refuseInCapture()) {
    return error;
  }
  if (bytes == 0) {
    return success;
  }
  if (bytes > state.chip.memoryBytes - state.allocatedBytes) {
    return outOfMemory;
  }
  SimReport report;
  uint64_t made = 0;
  std::string name = std::string(function) + " of " + std::to_string(bytes);
  if (state.plugin->allocate(state.device, bytes, name.c_str(), nullptr, &made,
                             report) != 0) {
    return state.failed(function, report, outOfMemory);
  }
  state.allocatedBytes += bytes;
  *address = reinterpret_cast<void *>(made);
  return success;
}

static HipError release(State &state, const char *function, void *address) {
  if (!address) {
    return success;
  }
  if (HipError error = state.refuseInCapture()) {
    return error;
  }
  auto [base, bytes] = state.allocationOf(address);
  if (base != number(address)) {
    return invalidValue;
  }
  for (const auto &[host, pinned] : state.pinned) {
    if (pinned.device == base) {
      return invalidValue;
    }
  }
  SimReport report;
  if (state.plugin->free(state.device, base, report) != 0) {
    return state.failed(function, report, invalidValue);
  }
  state.allocatedBytes -= bytes;
  return success;
}

TENON_HIP hipMalloc(void **address, size_t bytes) {
  return call([&](State &state) {
    return allocate(state, "hipMalloc", address, bytes);
  });
}

TENON_HIP hipExtMallocWithFlags(void **address, size_t bytes, unsigned) {
  return call([&](State &state) {
    return allocate(state, "hipExtMallocWithFlags", address, bytes);
  });
}

TENON_HIP hipMallocAsync(void **address, size_t bytes, void *stream) {
  return call([&](State &state) {
    return state.stream(stream)
               ? allocate(state, "hipMallocAsync", address, bytes)
               : invalidHandle;
  });
}

TENON_HIP hipFree(void *address) {
  return call([&](State &state) { return release(state, "hipFree", address); });
}

TENON_HIP hipFreeAsync(void *address, void *stream) {
  return call([&](State &state) {
    return state.stream(stream) ? release(state, "hipFreeAsync", address)
                                : invalidHandle;
  });
}

TENON_HIP hipMemGetInfo(size_t *left, size_t *total) {
  return call([&](State &state) {
    if (!left || !total) {
      return invalidValue;
    }
    *left = state.chip.memoryBytes - state.allocatedBytes;
    *total = state.chip.memoryBytes;
    return success;
  });
}

TENON_HIP hipMemGetAddressRange(void **base, size_t *bytes, void *address) {
  return call([&](State &state) {
    auto found = state.allocationOf(address);
    if (found.second == 0) {
      return notFound;
    }
    if (base) {
      *base = reinterpret_cast<void *>(found.first);
    }
    if (bytes) {
      *bytes = found.second;
    }
    return success;
  });
}

TENON_HIP hipPointerGetAttribute(void *data, int attribute, void *address) {
  return call([&](State &state) {
    auto [base, bytes] = state.allocationOf(address);
    if (!data || bytes == 0) {
      return invalidValue;
    }
    switch (attribute) {
    case 3: // HIP_POINTER_ATTRIBUTE_DEVICE_POINTER
      std::memcpy(data, &address, sizeof(address));
      return success;
    case 9: // HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL
      std::memset(data, 0, sizeof(int));
      return success;
    case 11: // HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR
      std::memcpy(data, &base, sizeof(base));
      return success;
    case 12: // HIP_POINTER_ATTRIBUTE_RANGE_SIZE
      std::memcpy(data, &bytes, sizeof(bytes));
      return success;
    }
    return invalidValue;
  });
}

//===----------------------------------------------------------------------===//
// Memory of the host
//===----------------------------------------------------------------------===//

/// Gives the device an address for memory of the host.
static HipError pin(State &state, const char *function, void *host,
                    size_t bytes, bool owned) {
  // The simulator maps what begins at a multiple of 256.
  uint64_t before = number(host) % 256;
  SimReport report;
  uint64_t mapped = 0;
  if (state.plugin->allocate(state.device, before + bytes, function,
                             static_cast<char *>(host) - before, &mapped,
                             report) != 0) {
    return state.failed(function, report, outOfMemory);
  }
  state.pinned[number(host)] = {bytes, mapped + before, owned};
  return success;
}

static HipError unpin(State &state, const char *function, void *host,
                      bool owned) {
  auto found = state.pinned.find(number(host));
  if (found == state.pinned.end() || found->second.owned != owned) {
    return invalidValue;
  }
  SimReport report;
  uint64_t base = found->second.device - number(host) % 256;
  if (state.plugin->free(state.device, base, report) != 0) {
    return state.failed(function, report, invalidValue);
  }
  state.pinned.erase(found);
  if (owned) {
    std::free(host);
  }
  return success;
}

static HipError allocateHost(const char *function, void **host, size_t bytes) {
  return call([&](State &state) {
    if (!host) {
      return invalidValue;
    }
    *host = nullptr;
    if (HipError error = state.refuseInCapture()) {
      return error;
    }
    if (bytes == 0) {
      return success;
    }
    constexpr size_t page = 4096;
    void *made = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!made) {
      return outOfMemory;
    }
    if (HipError error = pin(state, function, made, bytes, /*owned=*/true)) {
      std::free(made);
      return error;
    }
    *host = made;
    return success;
  });
}

TENON_HIP hipHostMalloc(void **host, size_t bytes, unsigned) {
  return allocateHost("hipHostMalloc", host, bytes);
}
TENON_HIP hipHostAlloc(void **host, size_t bytes, unsigned) {
  return allocateHost("hipHostAlloc", host, bytes);
}
TENON_HIP hipMallocHost(void **host, size_t bytes) {
  return allocateHost("hipMallocHost", host, bytes);
}

static HipError freeHost(const char *function, void *host) {
  return call([&](State &state) {
    return host ? unpin(state, function, host, /*owned=*/true) : success;
  });
}

TENON_HIP hipHostFree(void *host) { return freeHost("hipHostFree", host); }
TENON_HIP hipFreeHost(void *host) { return freeHost("hipFreeHost", host); }

TENON_HIP hipHostRegister(void *host, size_t bytes, unsigned) {
  return call([&](State &state) {
    if (!host || bytes == 0 || state.pinned.count(number(host))) {
      return invalidValue;
    }
    return pin(state, "hipHostRegister", host, bytes, /*owned=*/false);
  });
}
TENON_HIP hipHostUnregister(void *host) {
  return call([&](State &state) {
    return unpin(state, "hipHostUnregister", host, /*owned=*/false);
  });
}

TENON_HIP hipHostGetDevicePointer(void **address, void *host, unsigned) {
  return call([&](State &state) {
    auto after = state.pinned.upper_bound(number(host));
    if (!address || after == state.pinned.begin()) {
      return invalidValue;
    }
    const auto &[begin, pinned] = *std::prev(after);
    uint64_t offset = number(host) - begin;
    if (offset >= pinned.bytes) {
      return invalidValue;
    }
    *address = reinterpret_cast<void *>(pinned.device + offset);
    return success;
  });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Copies \p bytes, each side on the host or on the device.
static HipError copyNow(State &state, const char *function, void *to,
                        const void *from, uint64_t bytes, bool toDevice,
                        bool fromDevice) {
  if (!toDevice && !fromDevice) {
    std::memmove(to, from, bytes);
    return success;
  }
  SimReport report;
  int failed = 0;
  if (!fromDevice) {
    failed = state.plugin->write(state.device, number(to), from, bytes, report);
  } else if (!toDevice) {
    failed = state.plugin->read(state.device, number(from), to, bytes, report);
  } else {
    std::vector<char> chunk(std::min(bytes, chunkBytes));
    for (uint64_t done = 0; done < bytes && !failed; done += chunk.size()) {
      uint64_t size = std::min<uint64_t>(chunk.size(), bytes - done);
      failed = state.plugin->read(state.device, number(from) + done,
                                  chunk.data(), size, report) ||
               state.plugin->write(state.device, number(to) + done,
                                   chunk.data(), size, report);
    }
  }
  return failed ? state.failed(function, report, invalidValue) : success;
}

/// A copy on a stream. What is not captured has happened on return.
static HipError copy(const char *function, void *to, const void *from,
                     size_t bytes, int kind, void *stream) {
  return call([&](State &state) {
    if (bytes != 0 && (!to || !from)) {
      return invalidValue;
    }
    bool toDevice = kind == hostToDevice || kind == deviceToDevice;
    bool fromDevice = kind == deviceToHost || kind == deviceToDevice;
    switch (kind) {
    case hostToHost:
    case hostToDevice:
    case deviceToHost:
    case deviceToDevice:
      break;
    case byAddress:
    case withoutCompute:
      // Addresses of the device lie far below those of the host.
      toDevice = state.allocationOf(to).second != 0;
      fromDevice = state.allocationOf(from).second != 0;
      break;
    default:
      return invalidValue;
    }
    return state.enqueue(stream, [=, &state](double &) {
      return copyNow(state, function, to, from, bytes, toDevice, fromDevice);
    });
  });
}

TENON_HIP hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
  return copy("hipMemcpy", to, from, bytes, kind, nullptr);
}
TENON_HIP hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                         void *stream) {
  return copy("hipMemcpyAsync", to, from, bytes, kind, stream);
}
TENON_HIP hipMemcpyWithStream(void *to, const void *from, size_t bytes,
                              int kind, void *stream) {
  return copy("hipMemcpyWithStream", to, from, bytes, kind, stream);
}
TENON_HIP hipMemcpyHtoD(void *to, const void *from, size_t bytes) {
  return copy("hipMemcpyHtoD", to, from, bytes, hostToDevice, nullptr);
}
TENON_HIP hipMemcpyDtoH(void *to, void *from, size_t bytes) {
  return copy("hipMemcpyDtoH", to, from, bytes, deviceToHost, nullptr);
}
TENON_HIP hipMemcpyDtoD(void *to, void *from, size_t bytes) {
  return copy("hipMemcpyDtoD", to, from, bytes, deviceToDevice, nullptr);
}
TENON_HIP hipMemcpyHtoDAsync(void *to, const void *from, size_t bytes,
                             void *stream) {
  return copy("hipMemcpyHtoDAsync", to, from, bytes, hostToDevice, stream);
}
TENON_HIP hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *stream) {
  return copy("hipMemcpyDtoHAsync", to, from, bytes, deviceToHost, stream);
}
TENON_HIP hipMemcpyDtoDAsync(void *to, void *from, size_t bytes, void *stream) {
  return copy("hipMemcpyDtoDAsync", to, from, bytes, deviceToDevice, stream);
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

/// Fills \p count elements of the size of T.
template <typename T>
static HipError fill(const char *function, void *to, T value, size_t count,
                     void *stream) {
  return call([&](State &state) {
    if (count != 0 && !to) {
      return invalidValue;
    }
    return state.enqueue(stream, [=, &state](double &) -> HipError {
      if (state.allocationOf(to).second == 0 && count != 0) {
        return invalidValue;
      }
      std::vector<T> chunk(std::min<size_t>(count, chunkBytes / sizeof(T)),
                           value);
      SimReport report;
      for (size_t done = 0; done < count; done += chunk.size()) {
        size_t size = std::min(chunk.size(), count - done);
        if (state.plugin->write(state.device, number(to) + done * sizeof(T),
                                chunk.data(), size * sizeof(T), report) != 0) {
          return state.failed(function, report, invalidValue);
        }
      }
      return success;
    });
  });
}

TENON_HIP hipMemset(void *to, int value, size_t bytes) {
  return fill("hipMemset", to, uint8_t(value), bytes, nullptr);
}
TENON_HIP hipMemsetAsync(void *to, int value, size_t bytes, void *stream) {
  return fill("hipMemsetAsync", to, uint8_t(value), bytes, stream);
}
TENON_HIP hipMemsetD8(void *to, unsigned char value, size_t count) {
  return fill("hipMemsetD8", to, uint8_t(value), count, nullptr);
}
TENON_HIP hipMemsetD8Async(void *to, unsigned char value, size_t count,
                           void *stream) {
  return fill("hipMemsetD8Async", to, uint8_t(value), count, stream);
}
TENON_HIP hipMemsetD16(void *to, unsigned short value, size_t count) {
  return fill("hipMemsetD16", to, uint16_t(value), count, nullptr);
}
TENON_HIP hipMemsetD16Async(void *to, unsigned short value, size_t count,
                            void *stream) {
  return fill("hipMemsetD16Async", to, uint16_t(value), count, stream);
}
TENON_HIP hipMemsetD32(void *to, int value, size_t count) {
  return fill("hipMemsetD32", to, uint32_t(value), count, nullptr);
}
TENON_HIP hipMemsetD32Async(void *to, int value, size_t count, void *stream) {
  return fill("hipMemsetD32Async", to, uint32_t(value), count, stream);
}
