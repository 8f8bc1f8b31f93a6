//===- HostRounding.h - MODE register on the host's FPU ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_HOSTROUNDING_H
#define TENON_LIB_SIM_HOSTROUNDING_H

#include "Wave.h"

#include <cfenv>

namespace tenon::sim {

/// Makes the host round as a MODE register says. Denormals are flushed in
/// software, where it is asked for.
inline void setHostRounding(unsigned rounding) {
  static constexpr int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                       FE_TOWARDZERO};
  std::fesetround(directions[rounding]);
}
/// Single precision is what the host is set to between instructions.
inline void setHostRounding(const Mode &mode) {
  setHostRounding(mode.round32());
}

/// The rounding of half and double precision for as long as it lives, where it
/// differs from that of single precision.
template <bool wanted> class RoundingOf16And64 {
public:
  explicit RoundingOf16And64(const Mode &mode) : mode(mode) {
    if (wanted && mode.round16And64() != mode.round32()) [[unlikely]] {
      setHostRounding(mode.round16And64());
    }
  }
  ~RoundingOf16And64() {
    if (wanted && mode.round16And64() != mode.round32()) [[unlikely]] {
      setHostRounding(mode);
    }
  }
  RoundingOf16And64(const RoundingOf16And64 &) = delete;
  RoundingOf16And64 &operator=(const RoundingOf16And64 &) = delete;

private:
  const Mode &mode;
};

/// Rounding to nearest for as long as it lives, whatever the MODE register
/// says.
class NearestRounding {
public:
  explicit NearestRounding(const Mode &mode) : mode(mode) {
    if (mode.round32()) [[unlikely]] {
      std::fesetround(FE_TONEAREST);
    }
  }
  ~NearestRounding() {
    if (mode.round32()) [[unlikely]] {
      setHostRounding(mode);
    }
  }
  NearestRounding(const NearestRounding &) = delete;
  NearestRounding &operator=(const NearestRounding &) = delete;

private:
  const Mode &mode;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_HOSTROUNDING_H
