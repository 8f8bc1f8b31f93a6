//===- HostRounding.h - MODE register on the host's FPU ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_HOSTROUNDING_H
#define TENON_LIB_SIM_HOSTROUNDING_H

#include "Wave.h"

#include <cfenv>

namespace tenon::sim {

/// What of a MODE register cannot be simulated, or null.
inline const char *unsupportedMode(const Mode &mode) {
  if (mode.round32() != mode.round16And64()) {
    return "different rounding of single and of half or double precision is "
           "not implemented";
  }
  if (mode.flush16And64()) {
    return "flushing half- or double-precision denormals is not implemented";
  }
  return nullptr;
}

/// Makes the host round as a MODE register says. Denormals are flushed in
/// software, where it is asked for.
inline void setHostRounding(const Mode &mode) {
  static constexpr int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                       FE_TOWARDZERO};
  std::fesetround(directions[mode.round32()]);
}

} // namespace tenon::sim

#endif // TENON_LIB_SIM_HOSTROUNDING_H
