//===- HipReport.h - which HIP there is -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DEVICES_HIPREPORT_H
#define TENON_RUNTIME_DEVICES_HIPREPORT_H

#include <string>
#include <vector>

namespace tenon::runtime {

/// What the device "hip" finds on this machine.
struct HipReport {
  std::string soname;               ///< "libamdhip64.so.7"; empty: none
  std::string path;                 ///< of the library
  std::string version;              ///< "7.0.0"
  std::vector<std::string> devices; ///< their chips: "gfx950"
  std::string problem;              ///< why no device can be opened
};

HipReport reportHip();

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DEVICES_HIPREPORT_H
