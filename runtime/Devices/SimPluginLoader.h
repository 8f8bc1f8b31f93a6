//===- SimPluginLoader.h - finding libtenon_sim.so --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DEVICES_SIMPLUGINLOADER_H
#define TENON_RUNTIME_DEVICES_SIMPLUGINLOADER_H

#include "SimPlugin.h"

#include "tenon/Runtime/Result.h"

#include <string>

namespace tenon::runtime {

/// Collects a message of the plug-in.
class SimReport {
public:
  SimReport()
      : raw{[](void *context, const char *text) {
              static_cast<SimReport *>(context)->text = text;
            },
            this} {}
  operator const TenonSimReport *() const { return &raw; }
  const std::string &message() const { return text; }
  Error error() const { return Error{text}; }

private:
  std::string text;
  TenonSimReport raw;
};

/// The plug-in beside the library that holds this function, else the one on the
/// library path. It stays open.
Result<const TenonSimPlugin *> loadSimPlugin();

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DEVICES_SIMPLUGINLOADER_H
