//===- SimPluginLoader.cpp - finding libtenon_sim.so ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimPluginLoader.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace tenon::runtime {

/// The folder of the library or program that holds this function, through
/// links; empty when it has no path.
static std::string folderOfThisLibrary() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&folderOfThisLibrary), &info) == 0 ||
      !info.dli_fname) {
    return "";
  }
  // Of a program this is how it was called, which may be a name on the PATH.
  bool isName = !std::strchr(info.dli_fname, '/');
  char *real = realpath(isName ? "/proc/self/exe" : info.dli_fname, nullptr);
  std::string path = real ? real : info.dli_fname;
  std::free(real);
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

static Result<const TenonSimPlugin *> load() {
  const std::string name = "libtenon_sim.so";
  std::string reasons;
  std::string folder = folderOfThisLibrary();
  // The second is for programs that hold this function themselves.
  for (const std::string &path :
       {folder.empty() ? "" : folder + name,
        folder.empty() ? "" : folder + "../lib/" + name, name}) {
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
