//===- SimDevice.cpp - the simulator as a device ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Its memory is the host's: any array of the process can be an operand.
// Launches run to their end before they return, so streams make no difference.
//
//===----------------------------------------------------------------------===//

#include "HostMemoryDevice.h"
#include "SimPlugin.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <vector>

namespace tenon::runtime {

namespace {

/// Collects a message of the plug-in.
class Report {
public:
  Report()
      : raw{[](void *context, const char *text) {
              static_cast<Report *>(context)->text = text;
            },
            this} {}
  operator const TenonSimReport *() const { return &raw; }
  Error error() const { return Error{text}; }

private:
  std::string text;
  TenonSimReport raw;
};

class SimDevice : public HostMemoryDevice {
public:
  SimDevice(const TenonSimPlugin *plugin, void *opened, std::string chip)
      : HostMemoryDevice("sim", std::move(chip), /*extents=*/true),
        plugin(plugin), opened(opened) {}
  ~SimDevice() override { plugin->close(opened); }

  Result<void *> loadModule(std::span<const uint8_t> codeObject) override {
    Report report;
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
    Report report;
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
    Report report;
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

/// The plug-in's path beside the library that holds this function; empty when
/// that has no path.
static std::string besideThisLibrary(const char *name) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&besideThisLibrary), &info) == 0 ||
      !info.dli_fname) {
    return "";
  }
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1) + name;
}

static Result<const TenonSimPlugin *> loadPlugin() {
  constexpr const char *name = "libtenon_sim.so";
  std::string reasons;
  for (const std::string &path : {besideThisLibrary(name), std::string(name)}) {
    if (path.empty()) {
      continue;
    }
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", dlerror());
      continue;
    }
    // Stays open: devices and modules hold its code.
    auto entry = reinterpret_cast<TenonSimPluginEntry>(
        dlsym(library, "tenon_sim_plugin"));
    if (!entry || entry()->version != TENON_SIM_PLUGIN_VERSION) {
      return Error{fmt::format("'{}' is of another version of Tenon: install "
                               "both of the same",
                               path)};
    }
    return entry();
  }
  return Error{fmt::format("the simulator is not installed: {} is neither "
                           "beside the runtime nor on the library path ({}). "
                           "Other devices: hip (a GPU), null (launches "
                           "nothing)",
                           name, reasons)};
}

Result<std::unique_ptr<Device>> openSimDevice(std::string_view option) {
  static const Result<const TenonSimPlugin *> plugin = loadPlugin();
  if (!plugin) {
    return plugin.error();
  }
  std::string chip = option.empty() ? "gfx950" : std::string(option);
  Report report;
  void *opened = nullptr;
  if ((*plugin)->open(chip.c_str(), &opened, report) != 0) {
    return report.error();
  }
  return std::unique_ptr<Device>(new SimDevice(*plugin, opened, chip));
}

} // namespace tenon::runtime
