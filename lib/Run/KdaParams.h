//===- KdaParams.h - from KDA ops to their references -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_KDAPARAMS_H
#define TENON_LIB_RUN_KDAPARAMS_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Reference/Kda.h"

namespace tenon::run {

/// The static part of \p op that the KDA ops share.
template <typename KdaOp> reference::KdaParams kdaParams(KdaOp op) {
  reference::KdaParams params;
  params.heads = op.getHeads();
  params.headDim = op.getHeadDim();
  params.gate = op.getGate() == spec::GateKind::Bounded
                    ? reference::GateKind::Bounded
                    : reference::GateKind::Softplus;
  if (op.getLowerBound()) {
    params.lowerBound = op.getLowerBound()->convertToDouble();
  }
  params.outputNorm = op.getOutputNorm();
  params.qkEps = op.getQkEps().convertToDouble();
  if (op.getNormEps()) {
    params.normEps = op.getNormEps()->convertToDouble();
  }
  params.nullSlot = op.getNullSlot() == spec::NullSlot::LE0
                        ? reference::NullSlot::Le0
                        : reference::NullSlot::Lt0;
  params.convLayout = op.getConvLayout() == spec::ConvLayout::SD
                          ? reference::ConvLayout::SD
                          : reference::ConvLayout::DS;
  params.stateLayout = op.getStateOrder() == spec::StateOrder::VK
                           ? reference::StateLayout::VK
                           : reference::StateLayout::KV;
  return params;
}

} // namespace tenon::run

#endif // TENON_LIB_RUN_KDAPARAMS_H
