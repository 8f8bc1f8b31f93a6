//===- KdaDecode.cpp - Semantics of tenon.kda_decode ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/KdaDecode.h"

#include "Activation.h"
#include "KdaStep.h"
#include "TakeOperand.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace tenon::reference {

//===----------------------------------------------------------------------===//
// Preconditions
//===----------------------------------------------------------------------===//

llvm::Expected<KdaDecode> KdaDecode::create(const KdaDecodeParams &params,
                                            const Operands &operands) {
  KdaDecode op;
  op.params = params;
  const int64_t h = params.heads, d = params.headDim;
  constexpr ElementType f32 = ElementType::F32, bf16 = ElementType::BF16,
                        i32 = ElementType::I32;

  struct Requirement {
    llvm::StringRef name;
    llvm::SmallVector<ElementType, 2> types;
    llvm::SmallVector<int64_t, 4> shape;
    TensorView *view;
  };
  llvm::Error error =
      takeOperand(operands, "qkv", bf16, {anySize, 3 * h * d}, op.qkv);
  if (error) {
    return std::move(error);
  }
  const int64_t n = op.rows();
  llvm::SmallVector<int64_t, 4> convShape = {anySize, anySize, 3 * h * d};
  if (params.convLayout == ConvLayout::DS) {
    std::swap(convShape[1], convShape[2]);
  }
  llvm::SmallVector<Requirement, 12> requirements = {
      {"raw_g", {bf16}, {n, h * d}, &op.rawG},
      {"raw_beta", {bf16}, {n, h}, &op.rawBeta},
      {"conv_weight", {f32}, {3 * h * d, kdaWindowColumns + 1}, &op.convWeight},
      {"a_log", {f32}, {h}, &op.aLog},
      {"dt_bias", {f32}, {h * d}, &op.dtBias},
      {"state", {f32}, {anySize, h, d, d}, &op.state},
      {"conv_state", {bf16}, convShape, &op.convState},
      {"slot", {i32}, {n}, &op.slot}};
  if (params.outputNorm) {
    requirements.push_back({"out_gate", {bf16}, {n, h * d}, &op.outGate});
    requirements.push_back({"norm_weight", {f32, bf16}, {d}, &op.normWeight});
  }
  if (params.hasConvStart) {
    requirements.push_back({"conv_start", {i32}, {n}, &op.convStarts});
  }
  for (const Requirement &needed : requirements) {
    if (llvm::Error error = takeOperand(operands, needed.name, needed.types,
                                        needed.shape, *needed.view)) {
      return std::move(error);
    }
  }

  if (op.convState.shape[0] != op.state.shape[0]) {
    return llvm::createStringError(
        "operand 'conv_state': " + llvm::Twine(op.state.shape[0]) +
        " slots expected as in 'state', " + llvm::Twine(op.convState.shape[0]) +
        " found");
  }
  if (op.convColumns() < kdaWindowColumns) {
    return llvm::createStringError(
        "operand 'conv_state': at least " + llvm::Twine(kdaWindowColumns) +
        " columns expected, " + llvm::Twine(op.convColumns()) + " found");
  }
  if (llvm::Error error = op.checkSlots()) {
    return std::move(error);
  }
  if (llvm::Error error = op.checkConvStarts()) {
    return std::move(error);
  }
  return op;
}

llvm::Error KdaDecode::checkSlots() const {
  llvm::DenseMap<int64_t, int64_t> rowOfSlot;
  for (int64_t row = 0; row < rows(); ++row) {
    if (isNull(row)) {
      continue;
    }
    int64_t value = slot.intAt(row);
    if (value >= state.shape[0]) {
      return llvm::createStringError(
          "operand 'slot': slot[" + llvm::Twine(row) +
          "]: less than S = " + llvm::Twine(state.shape[0]) + " expected, " +
          llvm::Twine(value) + " found");
    }
    auto [entry, inserted] = rowOfSlot.try_emplace(value, row);
    if (!inserted) {
      return llvm::createStringError(
          "operand 'slot': distinct slots expected, rows " +
          llvm::Twine(entry->second) + " and " + llvm::Twine(row) +
          " both have " + llvm::Twine(value));
    }
  }
  return llvm::Error::success();
}

llvm::Error KdaDecode::checkConvStarts() const {
  for (int64_t row = 0; row < rows(); ++row) {
    if (isNull(row)) {
      continue;
    }
    int64_t start = convStart(row);
    if (start < 0 || start + kdaWindowColumns > convColumns()) {
      return llvm::createStringError(
          "operand 'conv_start': conv_start[" + llvm::Twine(row) +
          "]: between 0 and L - " + llvm::Twine(kdaWindowColumns) + " = " +
          llvm::Twine(convColumns() - kdaWindowColumns) + " expected, " +
          llvm::Twine(start) + " found");
    }
  }
  return llvm::Error::success();
}

bool KdaDecode::isNull(int64_t row) const {
  return params.isNull(slot.intAt(row));
}

int64_t KdaDecode::convColumns() const {
  return convState.shape[params.convLayout == ConvLayout::SD ? 1 : 2];
}

int64_t KdaDecode::convStart(int64_t row) const {
  return params.hasConvStart ? convStarts.intAt(row) : 0;
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// The codes of the four inputs of the convolution, [D][4]: the window of the
/// D channels from \p channel on and the new inputs.
std::vector<uint64_t> KdaDecode::convWindow(int64_t row,
                                            int64_t channel) const {
  const int64_t d = params.headDim, s = slot.intAt(row), start = convStart(row);
  bool channelsInner = params.convLayout == ConvLayout::SD;
  std::vector<uint64_t> old =
      channelsInner
          ? convState.codes({s, start, channel}, {1, kdaWindowColumns, d})
          : convState.codes({s, channel, start}, {1, d, kdaWindowColumns});
  std::vector<uint64_t> fresh = qkv.codes({row, channel}, {1, d});
  std::vector<uint64_t> window;
  for (int64_t c = 0; c < d; ++c) {
    for (int64_t w = 0; w < kdaWindowColumns; ++w) {
      window.push_back(
          old[channelsInner ? w * d + c : c * kdaWindowColumns + w]);
    }
    window.push_back(fresh[c]);
  }
  return window;
}

/// silu of the convolution of the D channels from \p channel on.
std::vector<double> KdaDecode::convolve(int64_t row, int64_t channel) const {
  const int64_t d = params.headDim, width = kdaWindowColumns + 1;
  std::vector<uint64_t> window = convWindow(row, channel);
  std::vector<double> weight = convWeight.block({channel, 0}, {d, width});
  std::vector<double> result;
  for (int64_t c = 0; c < d; ++c) {
    double sum = 0;
    for (int64_t w = 0; w < width; ++w) {
      sum +=
          weight[c * width + w] * decode(convState.type, window[c * width + w]);
    }
    result.push_back(silu(sum));
  }
  return result;
}

void KdaDecode::rowHead(int64_t row, int64_t head,
                        llvm::function_ref<void(Region &&)> emit) const {
  const int64_t d = params.headDim, channels = params.heads * d;
  std::string group =
      ("row " + llvm::Twine(row) + " head " + llvm::Twine(head)).str();
  auto emitValues = [&](llvm::StringRef operand, llvm::ArrayRef<int64_t> offset,
                        llvm::ArrayRef<int64_t> extents,
                        std::vector<double> values) {
    Region region;
    region.operand = operand.str();
    region.offset.assign(offset.begin(), offset.end());
    region.extents.assign(extents.begin(), extents.end());
    region.group = group;
    region.expected = std::move(values);
    emit(std::move(region));
  };
  auto emitOut = [&](std::vector<double> values) {
    emitValues("out", {row, head * d}, {1, d}, std::move(values));
  };
  if (isNull(row)) {
    return emitOut(std::vector<double>(d, 0.0));
  }

  KdaToken token;
  token.q = convolve(row, head * d);
  token.k = convolve(row, channels + head * d);
  token.v = convolve(row, 2 * channels + head * d);
  normalise(token.q, params.qkEps);
  normalise(token.k, params.qkEps);
  token.beta = sigmoid(rawBeta.at({row, head}));
  double a = std::exp(aLog.at(head));
  std::vector<double> bias = dtBias.block(head * d, d);
  for (auto [raw, offset] :
       llvm::zip_equal(rawG.block({row, head * d}, {1, d}), bias)) {
    token.decay.push_back(kdaDecay(params, a, raw + offset));
  }

  const int64_t s = slot.intAt(row);
  KdaState memory(d);
  memory.load(state, s, head, params.stateLayout);
  std::vector<double> output = memory.step(token);
  if (params.outputNorm) {
    output = kdaOutputNorm(params, std::move(output), normWeight.block(0, d),
                           outGate.block({row, head * d}, {1, d}));
  }
  emitOut(std::move(output));
  emitValues("state", {s, head, 0, 0}, {1, 1, d, d},
             memory.inLayout(params.stateLayout));
  emitConvState(row, head, emit);
}

void KdaDecode::emitConvState(int64_t row, int64_t head,
                              llvm::function_ref<void(Region &&)> emit) const {
  const int64_t d = params.headDim, width = kdaWindowColumns + 1;
  const int64_t s = slot.intAt(row);
  static constexpr const char *parts[] = {"q", "k", "v"};
  for (int64_t part = 0; part < 3; ++part) {
    int64_t channel = (part * params.heads + head) * d;
    std::vector<uint64_t> window = convWindow(row, channel);
    Region region;
    region.operand = "conv_state";
    region.group = ("row " + llvm::Twine(row) + " head " + llvm::Twine(head) +
                    " " + parts[part])
                       .str();
    region.exact = true;
    // The oldest input leaves the window.
    if (params.convLayout == ConvLayout::SD) {
      region.offset = {s, 0, channel};
      region.extents = {1, kdaWindowColumns, d};
      for (int64_t w = 1; w < width; ++w) {
        for (int64_t c = 0; c < d; ++c) {
          region.expectedCodes.push_back(window[c * width + w]);
        }
      }
    } else {
      region.offset = {s, channel, 0};
      region.extents = {1, d, kdaWindowColumns};
      for (int64_t c = 0; c < d; ++c) {
        for (int64_t w = 1; w < width; ++w) {
          region.expectedCodes.push_back(window[c * width + w]);
        }
      }
    }
    emit(std::move(region));
  }
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

std::optional<Distribution> kdaDecodeDistribution(llvm::StringRef operand) {
  // Beta of the model saturates near 0.95, the sigmoid of 3: a quarter of the
  // raw values is drawn from there, far into saturation.
  Distribution beta = Distribution::normal(0, 1);
  beta.tailProbability = 0.25;
  beta.tailMean = 3;
  beta.tailDeviation = 2;
  return llvm::StringSwitch<std::optional<Distribution>>(operand)
      .Cases({"qkv", "conv_state"}, Distribution::normal(0, 0.5))
      .Cases({"raw_g", "out_gate"}, Distribution::normal(0, 1))
      .Case("raw_beta", beta)
      .Case("conv_weight", Distribution::normal(0, 0.5))
      .Case("a_log", Distribution::uniform(-0.42, 0.18))
      .Case("dt_bias", Distribution::uniform(-7.8, -1.4))
      .Case("norm_weight", Distribution::normal(1, 0.1))
      .Case("state", Distribution::normal(0, 0.1))
      .Default(std::nullopt);
}

} // namespace tenon::reference
