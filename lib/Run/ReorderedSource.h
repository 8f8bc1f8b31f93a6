//===- ReorderedSource.h - weights in the orders of kernels -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_REORDEREDSOURCE_H
#define TENON_LIB_RUN_REORDEREDSOURCE_H

#include "tenon/Reference/WeightOrder.h"
#include "tenon/Run/Harness.h"

namespace tenon::run {

/// \p view, weights [N, K] or their scales, in \p order. Errors as of
/// reference::orderWeights.
llvm::Expected<Reordered> reorder(const reference::TensorView &view,
                                  reference::WeightOrder order);

/// The same of experts, [E, N, K] without gaps: each is reordered when a byte
/// of it is read for the first time.
llvm::Expected<Reordered> reorderExperts(const reference::TensorView &view,
                                         reference::WeightOrder order);

} // namespace tenon::run

#endif // TENON_LIB_RUN_REORDEREDSOURCE_H
