//===- SimDevice.cpp - the simulator as a device ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Its memory is the host's: any array of the process can be an operand.
// Launches run to their end before they return, so streams make no difference.
//
//===----------------------------------------------------------------------===//

#include "HostMemoryDevice.h"
#include "SimPluginLoader.h"

#include <vector>

namespace tenon::runtime {

namespace {

class SimDevice : public HostMemoryDevice {
public:
  SimDevice(const TenonSimPlugin *plugin, void *opened, std::string chip)
      : HostMemoryDevice("sim", std::move(chip), /*extents=*/true),
        plugin(plugin), opened(opened) {}
  ~SimDevice() override { plugin->close(opened); }

  Result<void *> loadModule(std::span<const uint8_t> codeObject) override {
    SimReport report;
    void *module = nullptr;
    if (plugin->loadModule(opened, codeObject.data(), codeObject.size(),
                           &module, report) != 0) {
      return report.error();
    }
    return module;
  }
  void unloadModule(void *module) override {
    plugin->unloadModule(opened, module);
  }
  Result<void *> function(void *module, const std::string &name) override {
    SimReport report;
    void *found = nullptr;
    if (plugin->function(module, name.c_str(), &found, report) != 0) {
      return report.error();
    }
    return found;
  }

  Status launch(const DeviceLaunch &launch) override {
    TenonSimLaunch raw = {};
    raw.function = launch.function;
    std::copy(launch.grid.begin(), launch.grid.end(), raw.grid);
    std::copy(launch.workgroupSize.begin(), launch.workgroupSize.end(),
              raw.workgroupSize);
    raw.dynamicLds = launch.dynamicLds;
    raw.kernarg = launch.kernarg;
    raw.kernargBytes = launch.kernargBytes;
    std::vector<TenonSimPointer> pointers;
    for (const PointerArgument &pointer : launch.pointers) {
      pointers.push_back({pointer.offset, pointer.bytes});
    }
    raw.pointers = pointers.data();
    raw.pointerCount = pointers.size();
    SimReport report;
    if (plugin->launch(opened, &raw, report) != 0) {
      return report.error();
    }
    return {};
  }

private:
  const TenonSimPlugin *plugin;
  void *opened;
};

} // namespace

Result<std::unique_ptr<Device>> openSimDevice(std::string_view option) {
  Result<const TenonSimPlugin *> plugin = loadSimPlugin();
  if (!plugin) {
    return Error{plugin.error().message +
                 ". Other devices: hip (a GPU), null (launches nothing)"};
  }
  std::string chip = option.empty() ? "gfx950" : std::string(option);
  SimReport report;
  void *opened = nullptr;
  if ((*plugin)->open(chip.c_str(), &opened, report) != 0) {
    return report.error();
  }
  return std::unique_ptr<Device>(new SimDevice(*plugin, opened, chip));
}

} // namespace tenon::runtime
