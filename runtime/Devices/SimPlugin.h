//===- SimPlugin.h - between the runtime and the simulator ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator needs LLVM to decode instructions, the runtime must not: it is
// a library of its own, opened when a simulated device is asked for. This is
// all that the two know of each other.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DEVICES_SIMPLUGIN_H
#define TENON_RUNTIME_DEVICES_SIMPLUGIN_H

#include <cstdint>

extern "C" {

/// Changes with any change below: a runtime takes no other.
#define TENON_SIM_PLUGIN_VERSION 2

struct TenonSimPointer {
  uint32_t offset; ///< in the argument segment
  uint64_t bytes;
};

/// The modelled time of a launch, microseconds.
struct TenonSimTime {
  double kernel; ///< from the first dispatch to the last write
  double gap;    ///< between it and a launch before it that it waits for
};

struct TenonSimLaunch {
  void *function;
  uint32_t grid[3];
  uint32_t workgroupSize[3];
  uint32_t dynamicLds;
  const uint8_t *kernarg;
  uint32_t kernargBytes;
  /// Arguments that point to memory of the host. Others hold addresses of
  /// TenonSimPlugin::allocate, or no address.
  const TenonSimPointer *pointers;
  uint32_t pointerCount;
  /// Not null: the time is modelled, and is put there.
  TenonSimTime *time;
};

/// What is known of a chip. Sizes are bytes, the clock is hertz.
struct TenonSimChip {
  const char *product; ///< "MI355X"
  uint32_t computeUnits;
  uint32_t waveSize;
  uint32_t maxWorkgroupSize;
  uint32_t maxWavesPerComputeUnit;
  uint32_t ldsBytes;
  uint32_t registersPerComputeUnit; ///< of 32 bits
  uint32_t l2Bytes;
  uint64_t memoryBytes;
  double clock;
};

/// What is known of a kernel.
struct TenonSimKernel {
  const char *name;
  uint32_t kernargBytes;
  uint32_t registers; ///< VGPRs and AGPRs
  uint32_t ldsBytes, scratchBytes;
  uint32_t maxWorkgroupSize; ///< 0: not stated
};

/// Functions that can fail return 0 on success, and otherwise give a message to
/// the callback they got.
struct TenonSimReport {
  void (*message)(void *context, const char *text);
  void *context;
};

struct TenonSimPlugin {
  uint32_t version;
  int (*open)(const char *chip, void **device, const TenonSimReport *report);
  void (*close)(void *device);
  int (*loadModule)(void *device, const uint8_t *bytes, uint64_t size,
                    void **module, const TenonSimReport *report);
  void (*unloadModule)(void *device, void *module);
  int (*function)(void *module, const char *name, void **function,
                  const TenonSimReport *report);
  void (*describe)(void *function, TenonSimKernel *kernel);
  /// Calls \p visit for every argument that a caller provides, in order.
  void (*arguments)(void *function,
                    void (*visit)(void *context, uint32_t offset,
                                  uint32_t bytes),
                    void *context);
  void (*chip)(void *device, TenonSimChip *chip);
  /// Memory of the device. It is undefined until it is written, and launches
  /// find uses of what is not; with \p host it is that memory of the host,
  /// which begins at a multiple of 256.
  int (*allocate)(void *device, uint64_t bytes, const char *name, void *host,
                  uint64_t *address, const TenonSimReport *report);
  int (*free)(void *device, uint64_t address, const TenonSimReport *report);
  int (*read)(void *device, uint64_t address, void *to, uint64_t bytes,
              const TenonSimReport *report);
  int (*write)(void *device, uint64_t address, const void *from, uint64_t bytes,
               const TenonSimReport *report);
  /// The allocation that holds \p address; zeros when none does.
  void (*allocationOf)(void *device, uint64_t address, uint64_t *base,
                       uint64_t *bytes);
  /// Runs to the end. What the checks of the simulator find is an error.
  int (*launch)(void *device, const TenonSimLaunch *launch,
                const TenonSimReport *report);
};

/// The one function that the library exports.
typedef const TenonSimPlugin *(*TenonSimPluginEntry)(void);
const TenonSimPlugin *tenon_sim_plugin(void);
}

#endif // TENON_RUNTIME_DEVICES_SIMPLUGIN_H
