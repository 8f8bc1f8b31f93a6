//===- LdsAccess.h - bytes of the group segment -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_LDSACCESS_H
#define TENON_LIB_SIM_LDSACCESS_H

#include "MemoryAccess.h"

namespace tenon::sim {

/// Reads `count` bytes; those beyond the segment are zero, in whole dwords.
inline void readLds(const Workgroup &workgroup, uint32_t address,
                    uint8_t *bytes, unsigned count) {
  uint64_t size = workgroup.lds.size();
  if (uint64_t(address) + count <= size) {
    std::memcpy(bytes, workgroup.lds.data() + address, count);
    return;
  }
  for (unsigned i = 0; i < count; i += 4) {
    unsigned part = count - i < 4 ? count - i : 4;
    uint64_t at = uint64_t(address) + i;
    if (at + part <= size) {
      std::memcpy(bytes + i, workgroup.lds.data() + at, part);
    } else {
      std::memset(bytes + i, 0, part);
    }
  }
}

/// Writes `count` bytes; those beyond the segment are dropped.
inline void writeLds(Workgroup &workgroup, uint32_t address,
                     const uint8_t *bytes, unsigned count) {
  uint64_t size = workgroup.lds.size();
  if (uint64_t(address) + count <= size) {
    std::memcpy(workgroup.lds.data() + address, bytes, count);
    return;
  }
  for (unsigned i = 0; i < count; i += 4) {
    unsigned part = count - i < 4 ? count - i : 4;
    uint64_t at = uint64_t(address) + i;
    if (at + part <= size) {
      std::memcpy(workgroup.lds.data() + at, bytes + i, part);
    }
  }
}

/// Issues a load of `bytes` per lane into LDS at `base` + lane * bytes, where
/// less than a dword is extended to one. Lanes of `written` that are not active
/// in `lanes` (buffer range) write zeros.
void loadToLds(Wave &wave, const LaneAddresses &lanes, uint64_t written,
               uint32_t base, unsigned bytes, bool isSigned = false);

} // namespace tenon::sim

#endif // TENON_LIB_SIM_LDSACCESS_H
