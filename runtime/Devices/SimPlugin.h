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
#define TENON_SIM_PLUGIN_VERSION 1

struct TenonSimPointer {
  uint32_t offset; ///< in the argument segment
  uint64_t bytes;
};

struct TenonSimLaunch {
  void *function;
  uint32_t grid[3];
  uint32_t workgroupSize[3];
  uint32_t dynamicLds;
  const uint8_t *kernarg;
  uint32_t kernargBytes;
  const TenonSimPointer *pointers; ///< to memory of the host
  uint32_t pointerCount;
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
  /// Runs to the end. What the checks of the simulator find is an error.
  int (*launch)(void *device, const TenonSimLaunch *launch,
                const TenonSimReport *report);
};

/// The one function that the library exports.
typedef const TenonSimPlugin *(*TenonSimPluginEntry)(void);
const TenonSimPlugin *tenon_sim_plugin(void);
}

#endif // TENON_RUNTIME_DEVICES_SIMPLUGIN_H
