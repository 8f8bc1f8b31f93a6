//===- KdaDecodeTest.cpp - Semantics of tenon.kda_decode --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/KdaDecode.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

using namespace tenon::reference;

namespace {

using Values = std::vector<double>;

/// Operands of one call in host memory, as numbers; everything is dense.
struct Call {
  KdaDecodeParams params;
  int64_t rows = 1, slots = 2, columns = 3;
  std::map<std::string, Values> values;

  ElementType typeOf(llvm::StringRef operand) const {
    return llvm::StringSwitch<ElementType>(operand)
        .Cases({"qkv", "raw_g", "raw_beta", "out_gate", "conv_state"},
               ElementType::BF16)
        .Cases({"slot", "conv_start"}, ElementType::I32)
        .Default(ElementType::F32);
  }

  std::vector<int64_t> shapeOf(llvm::StringRef operand) const {
    const int64_t h = params.heads, d = params.headDim, c = 3 * h * d;
    bool sd = params.convLayout == ConvLayout::SD;
    return llvm::StringSwitch<std::vector<int64_t>>(operand)
        .Case("qkv", {rows, c})
        .Cases({"raw_g", "out_gate"}, {rows, h * d})
        .Case("raw_beta", {rows, h})
        .Case("conv_weight", {c, 4})
        .Case("a_log", {h})
        .Case("dt_bias", {h * d})
        .Case("norm_weight", {d})
        .Case("conv_state", sd ? std::vector<int64_t>{slots, columns, c}
                               : std::vector<int64_t>{slots, c, columns})
        .Case("state", {slots, h, d, d})
        .Default({rows});
  }

  std::vector<std::string> operandNames() const {
    std::vector<std::string> names = {"qkv",         "raw_g", "raw_beta",
                                      "conv_weight", "a_log", "dt_bias",
                                      "conv_state",  "state", "slot"};
    if (params.outputNorm) {
      names.insert(names.end(), {"out_gate", "norm_weight"});
    }
    if (params.hasConvStart) {
      names.push_back("conv_start");
    }
    return names;
  }

  int64_t elements(llvm::StringRef operand) const {
    int64_t count = 1;
    for (int64_t size : shapeOf(operand)) {
      count *= size;
    }
    return count;
  }

  /// Fills all but slot and conv_start, each number one that its type holds.
  void fillRandomly(uint64_t seed) {
    for (const std::string &operand : operandNames()) {
      auto distribution = kdaDecodeDistribution(operand);
      if (!distribution) {
        continue;
      }
      Values &data = values[operand];
      ElementType type = typeOf(operand);
      for (int64_t i = 0; i < elements(operand); ++i) {
        double value = distribution->sample(randomKey(seed, operand), i);
        data.push_back(decode(type, encode(type, value)));
      }
    }
  }

  /// Fills all but slot and conv_start with \p value.
  void fillWith(double value) {
    for (const std::string &operand : operandNames()) {
      if (kdaDecodeDistribution(operand)) {
        values[operand].assign(elements(operand), value);
      }
    }
  }
};

/// The operands of a call as the reference takes them.
class Memory {
public:
  explicit Memory(const Call &call) {
    for (const std::string &operand : call.operandNames()) {
      ElementType type = call.typeOf(operand);
      unsigned size = bitWidth(type) / 8;
      const Values &data = call.values.at(operand);
      std::vector<uint8_t> &bytes = storage[operand];
      for (double value : data) {
        uint8_t element[8];
        llvm::support::endian::write64le(element, encode(type, value));
        bytes.insert(bytes.end(), element, element + size);
      }
      auto source = std::make_unique<MemorySource>(bytes);
      operands[operand] =
          TensorView::dense(type, call.shapeOf(operand), source.get());
      sources.push_back(std::move(source));
    }
  }

  KdaDecode::Operands operands;

private:
  std::map<std::string, std::vector<uint8_t>> storage;
  std::vector<std::unique_ptr<MemorySource>> sources;
};

/// What the op leaves in its outputs, dense; conv_state as numbers.
struct Outcome {
  Values out, state, convState;
};

int64_t indexOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> index) {
  int64_t result = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    result = result * shape[d] + index[d];
  }
  return result;
}

/// Runs the reference over all rows and heads and puts its regions together.
Outcome run(const Call &call) {
  Memory memory(call);
  KdaDecode op =
      llvm::cantFail(KdaDecode::create(call.params, memory.operands));
  const int64_t width = call.params.heads * call.params.headDim;
  Outcome outcome = {Values(call.rows * width, NAN), call.values.at("state"),
                     call.values.at("conv_state")};
  auto place = [&](Region &&region) {
    bool isOut = region.operand == "out", isState = region.operand == "state";
    Values &target = isOut     ? outcome.out
                     : isState ? outcome.state
                               : outcome.convState;
    std::vector<int64_t> shape = isOut ? std::vector<int64_t>{call.rows, width}
                                       : call.shapeOf(region.operand);
    EXPECT_EQ(region.exact, !isOut && !isState);
    Values content = region.expected;
    for (uint64_t code : region.expectedCodes) {
      content.push_back(decode(ElementType::BF16, code));
    }
    size_t next = 0;
    std::vector<int64_t> index(shape.size(), 0);
    std::function<void(size_t)> visit = [&](size_t d) {
      if (d == shape.size()) {
        target.at(indexOf(shape, index)) = content.at(next++);
        return;
      }
      for (int64_t i = 0; i < region.extents[d]; ++i) {
        index[d] = region.offset[d] + i;
        visit(d + 1);
      }
    };
    visit(0);
    EXPECT_EQ(next, content.size());
  };
  for (int64_t row = 0; row < call.rows; ++row) {
    for (int64_t head = 0; head < call.params.heads; ++head) {
      op.rowHead(row, head, place);
    }
  }
  return outcome;
}

//===----------------------------------------------------------------------===//
// The same mathematics, written as matrices
//===----------------------------------------------------------------------===//

using Matrix = std::vector<Values>;

Matrix multiply(const Matrix &a, const Matrix &b) {
  Matrix result(a.size(), Values(b[0].size(), 0));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < b.size(); ++k) {
      for (size_t j = 0; j < b[0].size(); ++j) {
        result[i][j] += a[i][k] * b[k][j];
      }
    }
  }
  return result;
}

double logistic(double x) { return 0.5 * (1 + std::tanh(x / 2)); }

/// X = S^T of shape [K, V]:
///   X' = (I - beta k k^T) diag(e^g) X + beta k v^T,   o = D^-1/2 X'^T q,
/// with every index worked out by hand on the dense arrays of the call.
Outcome runAsMatrices(const Call &call) {
  const KdaDecodeParams &p = call.params;
  const int64_t d = p.headDim, width = p.heads * d, channels = 3 * width;
  const auto &in = call.values;
  Outcome outcome = {Values(call.rows * width, 0), in.at("state"),
                     in.at("conv_state")};
  for (int64_t n = 0; n < call.rows; ++n) {
    int64_t slot = int64_t(in.at("slot")[n]);
    if (slot < (p.nullSlot == NullSlot::Le0 ? 1 : 0)) {
      continue;
    }
    int64_t start = p.hasConvStart ? int64_t(in.at("conv_start")[n]) : 0;
    auto convIndex = [&](int64_t column, int64_t channel) {
      return p.convLayout == ConvLayout::SD
                 ? (slot * call.columns + column) * channels + channel
                 : (slot * channels + channel) * call.columns + column;
    };
    Values mixed(channels);
    for (int64_t c = 0; c < channels; ++c) {
      const double *w = &in.at("conv_weight")[c * 4];
      double oldest = in.at("conv_state")[convIndex(start, c)];
      double middle = in.at("conv_state")[convIndex(start + 1, c)];
      double latest = in.at("conv_state")[convIndex(start + 2, c)];
      double fresh = in.at("qkv")[n * channels + c];
      double y = w[3] * fresh + w[2] * latest + w[1] * middle + w[0] * oldest;
      mixed[c] = y * logistic(y);
      outcome.convState[convIndex(0, c)] = middle;
      outcome.convState[convIndex(1, c)] = latest;
      outcome.convState[convIndex(2, c)] = fresh;
    }
    for (int64_t h = 0; h < p.heads; ++h) {
      auto column = [&](int64_t part) {
        Matrix result(d, Values(1));
        for (int64_t i = 0; i < d; ++i) {
          result[i][0] = mixed[part * width + h * d + i];
        }
        return result;
      };
      auto transposed = [](const Matrix &m) {
        Matrix result(m[0].size(), Values(m.size()));
        for (size_t i = 0; i < m.size(); ++i) {
          for (size_t j = 0; j < m[0].size(); ++j) {
            result[j][i] = m[i][j];
          }
        }
        return result;
      };
      Matrix q = column(0), k = column(1), v = column(2);
      for (Matrix *m : {&q, &k}) {
        double length = multiply(transposed(*m), *m)[0][0] + p.qkEps;
        for (Values &row : *m) {
          row[0] /= std::sqrt(length);
        }
      }
      double beta = logistic(in.at("raw_beta")[n * p.heads + h]);
      double a = std::exp(in.at("a_log")[h]);
      Matrix transition = multiply(k, transposed(k));
      Matrix memory(d, Values(d));
      auto stateIndex = [&](int64_t key, int64_t value) {
        int64_t inner = p.stateLayout == StateLayout::VK ? value * d + key
                                                         : key * d + value;
        return (slot * p.heads + h) * d * d + inner;
      };
      for (int64_t i = 0; i < d; ++i) {
        double x =
            in.at("raw_g")[n * width + h * d + i] + in.at("dt_bias")[h * d + i];
        double g = p.gate == GateKind::Bounded ? p.lowerBound * logistic(a * x)
                                               : -a * std::log(1 + std::exp(x));
        for (int64_t j = 0; j < d; ++j) {
          memory[i][j] = std::exp(g) * in.at("state")[stateIndex(i, j)];
          transition[i][j] = (i == j ? 1 : 0) - beta * transition[i][j];
        }
      }
      memory = multiply(transition, memory);
      Matrix added = multiply(k, transposed(v));
      for (int64_t i = 0; i < d; ++i) {
        for (int64_t j = 0; j < d; ++j) {
          memory[i][j] += beta * added[i][j];
          outcome.state[stateIndex(i, j)] = memory[i][j];
        }
      }
      Matrix o = multiply(transposed(memory), q);
      double squares = 0;
      for (Values &row : o) {
        row[0] *= std::pow(double(d), -0.5);
        squares += row[0] * row[0];
      }
      for (int64_t i = 0; i < d; ++i) {
        double result = o[i][0];
        if (p.outputNorm) {
          result = result / std::sqrt(squares / d + p.normEps) *
                   in.at("norm_weight")[i] *
                   logistic(in.at("out_gate")[n * width + h * d + i]);
        }
        outcome.out[n * width + h * d + i] = result;
      }
    }
  }
  return outcome;
}

void expectNear(const Values &found, const Values &expected, double tolerance,
                const char *what) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance) << what << " element " << i;
  }
}

Call randomCall() {
  Call call;
  call.params.heads = 3;
  call.params.headDim = 8;
  call.rows = 4;
  call.slots = 7;
  call.values["slot"] = {5, 2, 6, 1};
  return call;
}

TEST(KdaDecodeTest, EqualsTheMatrixForm) {
  for (GateKind gate : {GateKind::Bounded, GateKind::Softplus}) {
    for (bool norm : {true, false}) {
      for (ConvLayout conv : {ConvLayout::SD, ConvLayout::DS}) {
        for (StateLayout layout : {StateLayout::VK, StateLayout::KV}) {
          Call call = randomCall();
          call.params.gate = gate;
          call.params.outputNorm = norm;
          call.params.convLayout = conv;
          call.params.stateLayout = layout;
          call.fillRandomly(11);
          Outcome found = run(call), expected = runAsMatrices(call);
          expectNear(found.out, expected.out, 1e-14, "out");
          expectNear(found.state, expected.state, 1e-14, "state");
          EXPECT_EQ(found.convState, expected.convState);
        }
      }
    }
  }
}

TEST(KdaDecodeTest, ConvStartSelectsTheWindow) {
  for (ConvLayout layout : {ConvLayout::SD, ConvLayout::DS}) {
    Call call = randomCall();
    call.columns = 6;
    call.params.convLayout = layout;
    call.params.hasConvStart = true;
    call.values["conv_start"] = {0, 1, 2, 3};
    call.fillRandomly(5);
    Outcome found = run(call), expected = runAsMatrices(call);
    expectNear(found.out, expected.out, 1e-14, "out");
    EXPECT_EQ(found.convState, expected.convState);
  }
}

TEST(KdaDecodeTest, NullRowsWriteZerosOnly) {
  for (NullSlot rule : {NullSlot::Le0, NullSlot::Lt0}) {
    Call call = randomCall();
    call.params.nullSlot = rule;
    call.values["slot"] = {0, -1, 6, -7};
    call.fillRandomly(3);
    Outcome found = run(call), expected = runAsMatrices(call);
    expectNear(found.out, expected.out, 1e-14, "out");
    expectNear(found.state, expected.state, 1e-14, "state");
    bool slotZeroIsNull = rule == NullSlot::Le0;
    EXPECT_EQ(found.out[0] == 0, slotZeroIsNull);
    EXPECT_EQ(found.state[0] == call.values["state"][0], slotZeroIsNull);
    EXPECT_EQ(found.out[call.params.heads * call.params.headDim], 0);
  }
}

//===----------------------------------------------------------------------===//
// Cases worked out by hand
//===----------------------------------------------------------------------===//

/// One head of one channel; the convolution passes its newest input. x / (1 +
/// e^-x) of the inputs 1, 2 and 3 are q, k, v; without eps q and k become 1.
Call scalarCall() {
  Call call;
  call.params.heads = 1;
  call.params.headDim = 1;
  call.params.qkEps = 0;
  call.params.outputNorm = false;
  call.values["slot"] = {1};
  call.fillWith(0);
  call.values["qkv"] = {1, 2, 3};
  for (int channel = 0; channel < 3; ++channel) {
    call.values["conv_weight"][channel * 4 + 3] = 1;
  }
  call.values["state"] = {100, 2};
  return call;
}

const double siluOf3 = 2.8577223804672998; // 3 / (1 + e^-3)

TEST(KdaDecodeTest, ScalarByHand) {
  Call call = scalarCall();
  // g = -5 * 1/2, beta = 1/2: the state 2 decays to 2 e^-2.5 and moves half
  // way towards v.
  double decayed = 2 * 0.0820849986238988;
  double expected = decayed + 0.5 * (siluOf3 - decayed);
  Outcome outcome = run(call);
  EXPECT_NEAR(outcome.state[1], expected, 1e-15);
  EXPECT_NEAR(outcome.out[0], expected, 1e-15);
  EXPECT_EQ(outcome.state[0], 100);

  call.params.gate = GateKind::Softplus;
  // g = -log 2: the state halves.
  outcome = run(call);
  EXPECT_NEAR(outcome.state[1], 1 + 0.5 * (siluOf3 - 1), 1e-15);
}

TEST(KdaDecodeTest, OutputNormByHand) {
  Call call = scalarCall();
  call.params.outputNorm = true;
  call.params.normEps = 0;
  call.values["norm_weight"] = {0.75};
  call.values["out_gate"] = {std::log(3.0)};
  // RMSNorm of one positive number is 1; sigmoid(log 3) = 3/4, and bf16 holds
  // log 3 to a relative 2^-9.
  EXPECT_NEAR(run(call).out[0], 0.75 * 0.75, 1e-3);
  call.values["out_gate"] = {0};
  EXPECT_NEAR(run(call).out[0], 0.75 * 0.5, 1e-15);
}

// Eps is added to the sum of squares of q and k, and to the mean of squares of
// the output.
TEST(KdaDecodeTest, EpsilonsByHand) {
  Call call = scalarCall();
  const double siluOf1 = 0.7310585786300049, siluOf2 = 1.7615941559557649;
  call.params.qkEps = 0.25;
  call.values["state"] = {0, 0};
  double q = siluOf1 / std::sqrt(siluOf1 * siluOf1 + 0.25);
  double k = siluOf2 / std::sqrt(siluOf2 * siluOf2 + 0.25);
  double o = 0.5 * siluOf3 * k * q;
  EXPECT_NEAR(run(call).out[0], o, 1e-15);
  call.params.outputNorm = true;
  call.params.normEps = 0.5;
  call.values["norm_weight"] = {1};
  call.values["out_gate"] = {0};
  EXPECT_NEAR(run(call).out[0], 0.5 * o / std::sqrt(o * o + 0.5), 1e-15);
}

// Taps 0, 1, 2 meet the columns of the window in order, tap 3 the new input.
TEST(KdaDecodeTest, ConvolutionByHand) {
  Call call = scalarCall();
  for (int channel = 0; channel < 3; ++channel) {
    double *weight = &call.values["conv_weight"][channel * 4];
    weight[0] = 1, weight[1] = 10, weight[2] = 100, weight[3] = 0;
  }
  // Slot 1, [L][3 channels]; the channel of v holds 0.25, 0.5, -0.5.
  Values &window = call.values["conv_state"];
  window = Values(18, 1);
  window[9 + 2] = 0.25;
  window[12 + 2] = 0.5;
  window[15 + 2] = -0.5;
  call.values["state"] = {0, 0};
  double y = 0.25 + 5 - 50;
  double v = y / (1 + std::exp(-y));
  Outcome outcome = run(call);
  EXPECT_NEAR(outcome.state[1], 0.5 * v, 1e-15);
  EXPECT_EQ(Values(outcome.convState.begin() + 9, outcome.convState.end()),
            (Values{1, 1, 0.5, 1, 1, -0.5, 1, 2, 3}));
}

//===----------------------------------------------------------------------===//
// Identities
//===----------------------------------------------------------------------===//

TEST(KdaDecodeTest, BetaZeroOnlyDecays) {
  Call call = randomCall();
  call.fillRandomly(2);
  call.values["raw_beta"].assign(call.elements("raw_beta"), -1e6);
  // Far below its threshold the gate is open: e^0.
  call.values["raw_g"].assign(call.elements("raw_g"), -1e6);
  EXPECT_EQ(run(call).state, call.values["state"]);
  // Far above it the bounded gate is the lower bound.
  call.values["raw_g"].assign(call.elements("raw_g"), 1e6);
  Outcome closed = run(call);
  int64_t used = 5 * call.params.heads * 64;
  for (int64_t i = used; i < used + 64; ++i) {
    EXPECT_NEAR(closed.state[i], std::exp(-5.0) * call.values["state"][i],
                1e-15);
  }
}

// An unbounded gate may forget everything; it must not overflow on the way.
TEST(KdaDecodeTest, SoftplusGateForgets) {
  Call call = randomCall();
  call.params.gate = GateKind::Softplus;
  call.fillRandomly(2);
  call.values["raw_beta"].assign(call.elements("raw_beta"), -1e6);
  call.values["raw_g"].assign(call.elements("raw_g"), 1e6);
  EXPECT_EQ(run(call).state[5 * call.params.heads * 64], 0);
}

// With beta = 1, keys of length 1 and no decay, the key recalls the value.
TEST(KdaDecodeTest, BetaOneStoresTheValue) {
  Call call = randomCall();
  call.params.qkEps = 0;
  call.params.outputNorm = false;
  call.fillRandomly(4);
  call.values["raw_beta"].assign(call.elements("raw_beta"), 1e6);
  // The same numbers, window and weights for q as for k.
  const int64_t width = call.params.heads * call.params.headDim;
  for (const char *operand : {"qkv", "conv_state"}) {
    Values &data = call.values[operand];
    for (size_t i = 0; i < data.size(); ++i) {
      if (int64_t(i) % (3 * width) < width) {
        data[i] = data[i + width];
      }
    }
  }
  Values &weight = call.values["conv_weight"];
  std::copy_n(weight.begin() + width * 4, width * 4, weight.begin());
  // The output is then v / sqrt(D), whatever the state was.
  Outcome outcome = run(call);
  call.values["state"].assign(call.elements("state"), 0);
  expectNear(run(call).out, outcome.out, 1e-13, "out");
}

//===----------------------------------------------------------------------===//
// Data it must not read
//===----------------------------------------------------------------------===//

TEST(KdaDecodeTest, UnusedSlotsAreNotRead) {
  Call call = randomCall();
  call.columns = 5;
  call.fillRandomly(8);
  Outcome clean = run(call);
  for (const char *operand : {"state", "conv_state"}) {
    Values &data = call.values[operand];
    size_t perSlot = data.size() / call.slots;
    for (int64_t slot : {0, 3, 4}) {
      std::fill_n(data.begin() + slot * perSlot, perSlot, NAN);
    }
  }
  EXPECT_EQ(run(call).out, clean.out);
}

// The index of the slots may be a column of a wider table.
TEST(KdaDecodeTest, StridedSlotTable) {
  Call call = randomCall();
  call.fillRandomly(8);
  Memory memory(call);
  std::vector<uint8_t> table(4 * 4 * 5, 0x7f);
  for (int row = 0; row < 4; ++row) {
    llvm::support::endian::write32le(&table[row * 20],
                                     uint32_t(call.values["slot"][row]));
  }
  MemorySource source(table);
  memory.operands["slot"] = {ElementType::I32, {4}, {5}, &source};
  KdaDecode op =
      llvm::cantFail(KdaDecode::create(call.params, memory.operands));
  Values expected = run(call).out, found;
  for (int64_t row = 0; row < 4; ++row) {
    for (int64_t head = 0; head < 3; ++head) {
      op.rowHead(row, head, [&](Region &&region) {
        if (region.operand == "out") {
          found.insert(found.end(), region.expected.begin(),
                       region.expected.end());
        }
      });
    }
  }
  EXPECT_EQ(found, expected);
}

TEST(KdaDecodeTest, NoRows) {
  Call call = randomCall();
  call.rows = 0;
  call.values["slot"] = {};
  call.fillRandomly(1);
  EXPECT_TRUE(run(call).out.empty());
}

// conv_state moves codes, also those of NaNs.
TEST(KdaDecodeTest, ConvStateKeepsNaNCodes) {
  Call call = scalarCall();
  Memory memory(call);
  std::vector<uint8_t> fresh = {0xc1, 0x7f, 0x01, 0xff, 0x00, 0x80};
  MemorySource source(fresh);
  memory.operands["qkv"] =
      TensorView::dense(ElementType::BF16, {1, 3}, &source);
  KdaDecode op =
      llvm::cantFail(KdaDecode::create(call.params, memory.operands));
  std::vector<uint64_t> newest;
  op.rowHead(0, 0, [&](Region &&region) {
    if (region.operand == "conv_state") {
      newest.push_back(region.expectedCodes.back());
    }
  });
  EXPECT_EQ(newest, (std::vector<uint64_t>{0x7fc1, 0xff01, 0x8000}));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string errorOf(const KdaDecodeParams &params,
                    const KdaDecode::Operands &operands) {
  return llvm::toString(KdaDecode::create(params, operands).takeError());
}

std::string errorOf(const Call &call) {
  return errorOf(call.params, Memory(call).operands);
}

TEST(KdaDecodeTest, SlotErrors) {
  Call call = randomCall();
  call.fillRandomly(1);
  call.values["slot"] = {5, 7, 6, 1};
  EXPECT_EQ(errorOf(call),
            "operand 'slot': slot[1]: less than S = 7 expected, 7 found");
  call.values["slot"] = {5, 2, 6, 2};
  EXPECT_EQ(errorOf(call), "operand 'slot': distinct slots expected, rows 1 "
                           "and 3 both have 2");
  // Null slots may repeat.
  call.values["slot"] = {0, 0, -1, -1};
  EXPECT_EQ(run(call).out[0], 0);
}

TEST(KdaDecodeTest, ConvStartErrors) {
  Call call = randomCall();
  call.columns = 4;
  call.params.hasConvStart = true;
  call.fillRandomly(1);
  call.values["conv_start"] = {0, 1, 2, 0};
  EXPECT_EQ(errorOf(call), "operand 'conv_start': conv_start[2]: between 0 "
                           "and L - 3 = 1 expected, 2 found");
  call.values["conv_start"] = {0, 1, -1, 0};
  EXPECT_NE(errorOf(call).find("-1 found"), std::string::npos);
  // The start of a null row is not looked at.
  call.values["slot"][2] = 0;
  EXPECT_EQ(run(call).out.size(), 96u);
}

TEST(KdaDecodeTest, OperandErrors) {
  Call call = randomCall();
  call.fillRandomly(1);
  Memory memory(call);
  auto with = [&](const char *operand, TensorView view) {
    KdaDecode::Operands operands = memory.operands;
    operands[operand] = view;
    return errorOf(call.params, operands);
  };
  TensorView view = memory.operands["raw_g"];
  view.shape[1] = 23;
  EXPECT_EQ(with("raw_g", view),
            "operand 'raw_g': shape [4, 24] expected, [4, 23] found");
  view = memory.operands["state"];
  view.shape = {7, 3, 8};
  EXPECT_EQ(with("state", view),
            "operand 'state': shape [?, 3, 8, 8] expected, [7, 3, 8] found");
  view = memory.operands["qkv"];
  view.type = ElementType::F32;
  EXPECT_EQ(with("qkv", view), "operand 'qkv': type bf16 expected, f32 found");
  view = memory.operands["conv_state"];
  view.shape[0] = 6;
  EXPECT_EQ(with("conv_state", view), "operand 'conv_state': 7 slots expected "
                                      "as in 'state', 6 found");
  view = memory.operands["conv_state"];
  view.shape[1] = 2;
  EXPECT_EQ(with("conv_state", view),
            "operand 'conv_state': at least 3 columns expected, 2 found");
  KdaDecode::Operands operands = memory.operands;
  operands.erase("out_gate");
  EXPECT_EQ(errorOf(call.params, operands), "operand 'out_gate' is missing");
}

} // namespace
