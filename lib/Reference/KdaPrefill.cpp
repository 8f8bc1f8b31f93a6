//===- KdaPrefill.cpp - Semantics of tenon.kda_prefill ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/KdaPrefill.h"

#include "Activation.h"
#include "KdaStep.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace tenon::reference {

/// A relative error of so few outputs of one head says little.
static constexpr int64_t shortSequence = 16;

void KdaPrefill::cutPieces() {
  for (int64_t i = 0; i < sequences(); ++i) {
    if (isNull(i) || length(i) < shortSequence) {
      pieceList.push_back({i, 0, params.heads});
      continue;
    }
    for (int64_t head = 0; head < params.heads; ++head) {
      pieceList.push_back({i, head, 1});
    }
  }
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

static std::string groupName(int64_t sequence, std::optional<int64_t> head) {
  std::string name = "sequence " + std::to_string(sequence);
  return head ? name + " head " + std::to_string(*head) : name;
}

int64_t KdaPrefill::rowOf(int64_t sequence, int64_t token) const {
  int64_t packed = boundaries[sequence] + token;
  return rows.empty() ? packed : rows[packed];
}

/// \p values: [tokens][heads of the piece][D].
void KdaPrefill::emitOut(const Piece &piece, std::vector<double> values,
                         bool skipped, Emit emit) const {
  const int64_t d = params.headDim, n = length(piece.sequence);
  Region region;
  region.operand = "out";
  region.offset = {rows.empty() ? boundaries[piece.sequence] : 0,
                   piece.firstHead * d};
  region.extents = {n, piece.headCount * d};
  for (int64_t t = 0; t < n && !rows.empty(); ++t) {
    region.rows.push_back(rowOf(piece.sequence, t));
  }
  bool whole = piece.headCount == params.heads && params.heads > 1;
  region.group = groupName(
      piece.sequence, whole ? std::nullopt : std::optional(piece.firstHead));
  region.skipped = skipped;
  region.expected = std::move(values);
  emit(std::move(region));
}

void KdaPrefill::emitState(const char *operand, int64_t sequence, int64_t head,
                           int64_t slot, std::vector<double> values,
                           bool skipped, Emit emit) const {
  const int64_t d = params.headDim;
  Region region;
  region.operand = operand;
  region.offset = {slot, head, 0, 0};
  region.extents = {1, 1, d, d};
  region.group = groupName(sequence, head);
  region.skipped = skipped;
  region.expected = std::move(values);
  emit(std::move(region));
}

/// The state of a sequence of no tokens: moved, not computed.
void KdaPrefill::emitStateCopy(int64_t sequence, int64_t head, bool skipped,
                               Emit emit) const {
  const int64_t d = params.headDim;
  Region region;
  region.operand = "state";
  region.offset = {slots[sequence], head, 0, 0};
  region.extents = {1, 1, d, d};
  region.group = groupName(sequence, head);
  region.skipped = skipped;
  region.exact = true;
  if (auto from = initialSlots[sequence]; from && !skipped) {
    region.expectedCodes = state.codes({*from, head, 0, 0}, {1, 1, d, d});
  } else if (!skipped) {
    region.expectedCodes.assign(d * d, 0);
  }
  emit(std::move(region));
}

/// The last raw inputs of the head after \p tokens tokens: moved, not computed.
void KdaPrefill::emitWindow(const char *operand, int64_t sequence, int64_t head,
                            int64_t slot, int64_t tokens, bool skipped,
                            Emit emit) const {
  const int64_t d = params.headDim;
  static constexpr const char *parts[] = {"q", "k", "v"};
  bool channelsInner = params.convLayout == ConvLayout::SD;
  for (int64_t part = 0; part < 3; ++part) {
    int64_t channel = (part * params.heads + head) * d;
    Region region;
    region.operand = operand;
    region.group = groupName(sequence, head) + " " + parts[part];
    region.exact = true;
    region.skipped = skipped;
    if (channelsInner) {
      region.offset = {slot, 0, channel};
      region.extents = {1, kdaWindowColumns, d};
    } else {
      region.offset = {slot, channel, 0};
      region.extents = {1, d, kdaWindowColumns};
    }
    for (int64_t w = 0; w < kdaWindowColumns && !skipped; ++w) {
      int64_t token = tokens - kdaWindowColumns + w;
      std::vector<uint64_t> column(d, 0);
      if (token >= 0) {
        column = qkv.codes({rowOf(sequence, token), channel}, {1, d});
      } else if (auto from = initialSlots[sequence]) {
        int64_t old = token + kdaWindowColumns;
        column = channelsInner
                     ? convState.codes({*from, old, channel}, {1, 1, d})
                     : convState.codes({*from, channel, old}, {1, d, 1});
      }
      region.expectedCodes.resize(d * kdaWindowColumns);
      for (int64_t c = 0; c < d; ++c) {
        region.expectedCodes[channelsInner ? w * d + c
                                           : c * kdaWindowColumns + w] =
            column[c];
      }
    }
    emit(std::move(region));
  }
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// The inputs of the D channels from \p channel on before the first token,
/// [3][D].
std::vector<double> KdaPrefill::history(int64_t sequence,
                                        int64_t channel) const {
  const int64_t d = params.headDim;
  std::vector<double> values(kdaWindowColumns * d, 0.0);
  auto from = initialSlots[sequence];
  if (!from) {
    return values;
  }
  if (params.convLayout == ConvLayout::SD) {
    return convState.block({*from, 0, channel}, {1, kdaWindowColumns, d});
  }
  std::vector<double> old =
      convState.block({*from, channel, 0}, {1, d, kdaWindowColumns});
  for (int64_t w = 0; w < kdaWindowColumns; ++w) {
    for (int64_t c = 0; c < d; ++c) {
      values[w * d + c] = old[c * kdaWindowColumns + w];
    }
  }
  return values;
}

namespace {
/// The convolution of the channels of one head in one of q, k and v.
class Convolution {
public:
  /// \p weight is [D][4], \p history [3][D].
  Convolution(std::vector<double> weight, std::vector<double> history,
              bool rounds)
      : weight(std::move(weight)), window(std::move(history)), rounds(rounds) {}

  /// silu of the convolution at the next input.
  std::vector<double> next(const std::vector<double> &input) {
    const size_t d = input.size();
    window.insert(window.end(), input.begin(), input.end());
    std::vector<double> result;
    for (size_t c = 0; c < d; ++c) {
      double sum = 0;
      for (size_t w = 0; w <= size_t(kdaWindowColumns); ++w) {
        sum += weight[c * (kdaWindowColumns + 1) + w] * window[w * d + c];
      }
      double value = silu(sum);
      result.push_back(
          rounds ? decode(ElementType::BF16, encode(ElementType::BF16, value))
                 : value);
    }
    window.erase(window.begin(), window.begin() + int64_t(d));
    return result;
  }

private:
  std::vector<double> weight;
  std::vector<double> window;
  bool rounds;
};
} // namespace

/// The outputs of a head, [tokens][D]; emits its state and checkpoints.
std::vector<double> KdaPrefill::runHead(int64_t sequence, int64_t head,
                                        Emit emit) const {
  const int64_t d = params.headDim, channels = params.heads * d;
  llvm::SmallVector<Convolution, 3> convolutions;
  for (int64_t part = 0; part < 3; ++part) {
    int64_t channel = part * channels + head * d;
    convolutions.emplace_back(
        convWeight.block({channel, 0}, {d, kdaWindowColumns + 1}),
        history(sequence, channel), !params.fp32Conv);
  }
  KdaState memory(d);
  if (auto from = initialSlots[sequence]) {
    memory.load(state, *from, head, params.stateLayout);
  }
  double a = std::exp(aLog.at(head));
  std::vector<double> bias = dtBias.block(head * d, d);
  std::vector<double> weight;
  if (params.outputNorm) {
    weight = normWeight.block(0, d);
  }

  std::vector<double> outputs;
  outputs.reserve(length(sequence) * d);
  auto checkpoint = checkpoints[sequence].begin();
  for (int64_t t = 0; t < length(sequence); ++t) {
    int64_t r = rowOf(sequence, t);
    KdaToken token;
    for (auto [part, target] :
         llvm::enumerate(std::array{&token.q, &token.k, &token.v})) {
      *target = convolutions[part].next(
          qkv.block({r, int64_t(part) * channels + head * d}, {1, d}));
    }
    normalise(token.q, params.qkEps);
    normalise(token.k, params.qkEps);
    token.beta = sigmoid(rawBeta.at({r, head}));
    std::vector<double> raw = rawG.block({r, head * d}, {1, d});
    for (int64_t c = 0; c < d; ++c) {
      token.decay.push_back(kdaDecay(params, a, raw[c] + bias[c]));
    }
    std::vector<double> output = memory.step(token);
    if (params.outputNorm) {
      output = kdaOutputNorm(params, std::move(output), weight,
                             outGate.block({r, head * d}, {1, d}));
    }
    outputs.insert(outputs.end(), output.begin(), output.end());
    for (; checkpoint != checkpoints[sequence].end() &&
           checkpoint->offset == t + 1;
         ++checkpoint) {
      emitState("checkpoint_state", sequence, head, checkpoint->slot,
                memory.inLayout(params.stateLayout), false, emit);
    }
  }
  emitState("state", sequence, head, slots[sequence],
            memory.inLayout(params.stateLayout), false, emit);
  return outputs;
}

void KdaPrefill::emitPiece(uint64_t piece, Emit emitRegion) const {
  emit(pieceList[piece], false, emitRegion);
}

void KdaPrefill::skipPiece(uint64_t piece, Emit emitRegion) const {
  emit(pieceList[piece], true, emitRegion);
}

void KdaPrefill::emit(const Piece &piece, bool skipped, Emit emit) const {
  const int64_t d = params.headDim, i = piece.sequence, n = length(i);
  std::vector<double> out(skipped ? 0 : n * piece.headCount * d, 0.0);
  if (isNull(i)) {
    return emitOut(piece, std::move(out), skipped, emit);
  }
  for (int64_t part = 0; part < piece.headCount; ++part) {
    int64_t head = piece.firstHead + part;
    emitWindow("conv_state", i, head, slots[i], n, skipped, emit);
    for (const Checkpoint &checkpoint : checkpoints[i]) {
      emitWindow("checkpoint_conv", i, head, checkpoint.slot, checkpoint.offset,
                 skipped, emit);
      if (skipped) {
        emitState("checkpoint_state", i, head, checkpoint.slot, {}, true, emit);
      }
    }
    if (n == 0) {
      emitStateCopy(i, head, skipped, emit);
    } else if (skipped) {
      emitState("state", i, head, slots[i], {}, true, emit);
    } else {
      std::vector<double> outputs = runHead(i, head, emit);
      for (int64_t t = 0; t < n; ++t) {
        std::copy_n(outputs.begin() + t * d, d,
                    out.begin() + (t * piece.headCount + part) * d);
      }
    }
  }
  emitOut(piece, std::move(out), skipped, emit);
}

} // namespace tenon::reference
