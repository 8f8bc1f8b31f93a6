//===- HipDevices.cpp - the device of the stand-in --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// hipDeviceProp_t has two layouts: that of ROCm 5, under the old name, and that
// of ROCm 6 and 7, under hipGetDevicePropertiesR0600. Fields that no launcher
// reads are zero.
//
//===----------------------------------------------------------------------===//

#include "HipStandIn.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace tenon::standin;

/// The version that the stand-in has: 7.0.0.
static constexpr int standInVersion = 70000000;

/// Workgroups per dimension of a grid.
static constexpr int maxGrid = 2147483647;

namespace {

/// The layout of ROCm 5.
struct PropertiesR0000 {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate; ///< kHz
  int memoryClockRate;
  int memoryBusWidth;
  size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  int computeMode;
  int clockInstructionRate;
  unsigned arch;
  int concurrentKernels;
  int pci[3];
  size_t maxSharedMemoryPerMultiProcessor;
  int isMultiGpuBoard;
  int canMapHostMemory;
  int gcnArch;
  char gcnArchName[256];
  int unused[35];
};

/// The layout of ROCm 6 and 7.
struct PropertiesR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate; ///< kHz
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment[2];
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int textures[39];
  size_t surfaceAlignment;
  int concurrentKernels;
  int eccEnabled;
  int pci[3];
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int caches[3];
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managed[10];
  size_t sharedMemPerBlockOptin;
  int access[2];
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int features[13];
  int reserved[63];
  int hipReserved[32];
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  unsigned arch;
  void *flush[2];
  int unmatched[4];
  int isLargeBar;
  int asicRevision;
};

static_assert(sizeof(PropertiesR0000) == 792 &&
              offsetof(PropertiesR0000, gcnArchName) == 396);
static_assert(sizeof(PropertiesR0600) == 1472 &&
              offsetof(PropertiesR0600, gcnArchName) == 1160);

} // namespace

/// Major and minor version of "gfx950": all digits but the last two, and the
/// one before the last.
static std::pair<int, int> capability(const State &state) {
  std::string digits = state.chipName.substr(3);
  return {std::stoi(digits.substr(0, digits.size() - 2)),
          digits[digits.size() - 2] - '0'};
}

/// What both layouts have.
template <typename Properties>
static HipError readProperties(Properties *properties, int index) {
  return call([&](State &state) {
    if (!properties) {
      return invalidValue;
    }
    if (index != 0) {
      return invalidDevice;
    }
    std::memset(static_cast<void *>(properties), 0, sizeof(*properties));
    const TenonSimChip &chip = state.chip;
    std::snprintf(properties->name, sizeof(properties->name),
                  "%s, simulated by Tenon", chip.product);
    std::snprintf(properties->gcnArchName, sizeof(properties->gcnArchName),
                  "%s:sramecc+:xnack-", state.chipName.c_str());
    properties->totalGlobalMem = chip.memoryBytes;
    properties->sharedMemPerBlock = chip.ldsBytes;
    properties->regsPerBlock = int(chip.registersPerComputeUnit);
    properties->warpSize = int(chip.waveSize);
    properties->maxThreadsPerBlock = int(chip.maxWorkgroupSize);
    std::fill_n(properties->maxThreadsDim, 3, int(chip.maxWorkgroupSize));
    std::fill_n(properties->maxGridSize, 3, maxGrid);
    properties->clockRate = int(chip.clock / 1000);
    std::tie(properties->major, properties->minor) = capability(state);
    properties->multiProcessorCount = int(chip.computeUnits);
    properties->l2CacheSize = int(chip.l2Bytes);
    properties->maxThreadsPerMultiProcessor =
        int(chip.maxWavesPerComputeUnit * chip.waveSize);
    properties->maxSharedMemoryPerMultiProcessor = chip.ldsBytes;
    properties->concurrentKernels = 1;
    properties->canMapHostMemory = 1;
    return success;
  });
}

TENON_HIP hipGetDeviceProperties(void *properties, int index) {
  return readProperties(static_cast<PropertiesR0000 *>(properties), index);
}
TENON_HIP hipGetDevicePropertiesR0000(void *properties, int index) {
  return readProperties(static_cast<PropertiesR0000 *>(properties), index);
}
TENON_HIP hipGetDevicePropertiesR0600(void *properties, int index) {
  auto typed = static_cast<PropertiesR0600 *>(properties);
  HipError error = readProperties(typed, index);
  if (error == success) {
    typed->sharedMemPerMultiprocessor = typed->sharedMemPerBlock;
    typed->regsPerMultiprocessor = typed->regsPerBlock;
    typed->sharedMemPerBlockOptin = typed->sharedMemPerBlock;
  }
  return error;
}

TENON_HIP hipDeviceGetAttribute(int *value, int attribute, int index) {
  PropertiesR0600 of;
  if (HipError error = hipGetDevicePropertiesR0600(&of, index)) {
    return error;
  }
  if (!value) {
    return finish(invalidValue);
  }
  // The numbers of hipDeviceAttribute_t.
  switch (attribute) {
  case 3: // CanMapHostMemory
    *value = of.canMapHostMemory;
    return success;
  case 5: // ClockRate
    *value = of.clockRate;
    return success;
  case 8: // ConcurrentKernels
    *value = of.concurrentKernels;
    return success;
  case 19: // L2CacheSize
    *value = of.l2CacheSize;
    return success;
  case 23: // ComputeCapabilityMajor
    *value = of.major;
    return success;
  case 26: // MaxBlockDimX, Y, Z
  case 27:
  case 28:
    *value = of.maxThreadsDim[attribute - 26];
    return success;
  case 29: // MaxGridDimX, Y, Z
  case 30:
  case 31:
    *value = of.maxGridSize[attribute - 29];
    return success;
  case 56: // MaxThreadsPerBlock
    *value = of.maxThreadsPerBlock;
    return success;
  case 57: // MaxThreadsPerMultiProcessor
    *value = of.maxThreadsPerMultiProcessor;
    return success;
  case 61: // ComputeCapabilityMinor
    *value = of.minor;
    return success;
  case 63: // MultiprocessorCount
    *value = of.multiProcessorCount;
    return success;
  case 71: // MaxRegistersPerBlock
    *value = of.regsPerBlock;
    return success;
  case 72: // MaxRegistersPerMultiprocessor
    *value = of.regsPerMultiprocessor;
    return success;
  case 74: // MaxSharedMemoryPerBlock
    *value = int(of.sharedMemPerBlock);
    return success;
  case 75: // SharedMemPerBlockOptin
    *value = int(of.sharedMemPerBlockOptin);
    return success;
  case 76: // SharedMemPerMultiprocessor
    *value = int(of.sharedMemPerMultiprocessor);
    return success;
  case 87: // WarpSize
    *value = of.warpSize;
    return success;
  case 10002: // MaxSharedMemoryPerMultiprocessor
    *value = int(of.maxSharedMemoryPerMultiProcessor);
    return success;
  }
  std::fprintf(stderr,
               "libtenon_hip: hipDeviceGetAttribute: attribute %d is not "
               "known to this stand-in\n",
               attribute);
  return finish(invalidValue);
}

//===----------------------------------------------------------------------===//
// The one device
//===----------------------------------------------------------------------===//

TENON_HIP hipInit(unsigned flags) {
  return flags == 0 ? call([](State &) { return success; })
                    : finish(invalidValue);
}

TENON_HIP hipRuntimeGetVersion(int *version) {
  if (!version) {
    return finish(invalidValue);
  }
  *version = standInVersion;
  return success;
}
TENON_HIP hipDriverGetVersion(int *version) {
  return hipRuntimeGetVersion(version);
}

TENON_HIP hipGetDeviceCount(int *count) {
  if (!count) {
    return finish(invalidValue);
  }
  *count = 0;
  return call([&](State &) {
    *count = 1;
    return success;
  });
}

static HipError onlyDevice(int index) {
  return call([&](State &) { return index == 0 ? success : invalidDevice; });
}

TENON_HIP hipSetDevice(int index) { return onlyDevice(index); }

TENON_HIP hipGetDevice(int *index) {
  if (!index) {
    return finish(invalidValue);
  }
  *index = 0;
  return onlyDevice(0);
}

TENON_HIP hipDeviceGet(int *device, int index) {
  if (!device) {
    return finish(invalidValue);
  }
  *device = index;
  return onlyDevice(index);
}

TENON_HIP hipDeviceGetName(char *name, int bytes, int device) {
  PropertiesR0600 of;
  if (HipError error = hipGetDevicePropertiesR0600(&of, device)) {
    return error;
  }
  if (!name || bytes <= 0) {
    return finish(invalidValue);
  }
  std::snprintf(name, size_t(bytes), "%s", of.name);
  return success;
}

TENON_HIP hipDeviceTotalMem(size_t *bytes, int device) {
  PropertiesR0600 of;
  if (HipError error = hipGetDevicePropertiesR0600(&of, device)) {
    return error;
  }
  if (!bytes) {
    return finish(invalidValue);
  }
  *bytes = of.totalGlobalMem;
  return success;
}

TENON_HIP hipDeviceComputeCapability(int *major, int *minor, int device) {
  PropertiesR0600 of;
  if (HipError error = hipGetDevicePropertiesR0600(&of, device)) {
    return error;
  }
  if (!major || !minor) {
    return finish(invalidValue);
  }
  *major = of.major;
  *minor = of.minor;
  return success;
}

TENON_HIP hipDeviceCanAccessPeer(int *can, int device, int) {
  if (!can) {
    return finish(invalidValue);
  }
  *can = 0;
  return onlyDevice(device);
}

// One primary context, which is the device.
TENON_HIP hipDevicePrimaryCtxRetain(void **context, int device) {
  if (!context) {
    return finish(invalidValue);
  }
  *context = State::get();
  return onlyDevice(device);
}
TENON_HIP hipDevicePrimaryCtxRelease(int device) { return onlyDevice(device); }
TENON_HIP hipCtxGetCurrent(void **context) {
  return hipDevicePrimaryCtxRetain(context, 0);
}
TENON_HIP hipCtxSetCurrent(void *) { return onlyDevice(0); }
