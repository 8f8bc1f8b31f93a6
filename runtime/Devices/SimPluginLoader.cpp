//===- SimPluginLoader.cpp - finding libtenon_sim.so ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimPluginLoader.h"

#include <fmt/format.h>

#include <cstdlib>
#include <dlfcn.h>

namespace tenon::runtime {

/// The folder of the library that holds this function, through links; empty
/// when it has no path.
static std::string folderOfThisLibrary() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&folderOfThisLibrary), &info) == 0 ||
      !info.dli_fname) {
    return "";
  }
  char *real = realpath(info.dli_fname, nullptr);
  std::string path = real ? real : info.dli_fname;
  std::free(real);
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

static Result<const TenonSimPlugin *> load() {
  const std::string name = "libtenon_sim.so";
  std::string reasons;
  std::string folder = folderOfThisLibrary();
  for (const std::string &path : {folder.empty() ? "" : folder + name, name}) {
    if (path.empty()) {
      continue;
    }
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", dlerror());
      continue;
    }
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
                           "beside the runtime nor on the library path ({})",
                           name, reasons)};
}

Result<const TenonSimPlugin *> loadSimPlugin() {
  static const Result<const TenonSimPlugin *> loaded = load();
  return loaded;
}

} // namespace tenon::runtime
