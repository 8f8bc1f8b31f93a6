//===- LdsBanks.h - clocks of an LDS access ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_LDSBANKS_H
#define TENON_LIB_SIM_LDSBANKS_H

#include "tenon/Target/TargetInfo.h"

namespace tenon::sim {

/// The rule by which `bytes` per lane are read or written.
const target::LdsAccessRule &ldsRuleOf(const target::TargetInfo &chip,
                                       unsigned bytes, bool isRead);

/// The clocks that an access of `bytes` per lane takes beyond one per phase.
/// Lane l accesses address[l] + offset; lanes that want the same dword share
/// it.
unsigned ldsExtraPhases(const target::LdsAccessRule &rule, unsigned bytes,
                        const uint32_t *address, uint32_t offset,
                        uint64_t lanes);

} // namespace tenon::sim

#endif // TENON_LIB_SIM_LDSBANKS_H
