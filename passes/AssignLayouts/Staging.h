//===- Staging.h - loads that go through LDS --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_PASSES_ASSIGNLAYOUTS_STAGING_H
#define TENON_PASSES_ASSIGNLAYOUTS_STAGING_H

#include "dialects/Tile/Tile.h"

namespace tenon::assign {

/// Replaces every placed load of \p kernel with `staged` by a copy into an LDS
/// buffer, a wait and a read from there.
void stageLoads(tile::KernelOp kernel);

} // namespace tenon::assign

#endif // TENON_PASSES_ASSIGNLAYOUTS_STAGING_H
