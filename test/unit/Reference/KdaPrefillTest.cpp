//===- KdaPrefillTest.cpp - Semantics of tenon.kda_prefill ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/KdaPrefill.h"
#include "tenon/Reference/KdaDecode.h"

#include "llvm/Support/Endian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

using namespace tenon::reference;

namespace {
using Values = std::vector<double>;
using Shape = std::vector<int64_t>;

/// An operand as numbers, dense.
struct Tensor {
  ElementType type;
  Shape shape;
  Values values;

  int64_t rowSize() const {
    return shape[0] == 0 ? 0 : int64_t(values.size()) / shape[0];
  }
};

using Tensors = std::map<std::string, Tensor>;

/// Operands in the memory of the host, as a reference takes them.
class Memory {
public:
  explicit Memory(const Tensors &tensors) {
    for (const auto &[name, tensor] : tensors) {
      std::vector<uint8_t> &bytes = storage[name];
      for (double value : tensor.values) {
        uint8_t element[8];
        llvm::support::endian::write64le(element, encode(tensor.type, value));
        bytes.insert(bytes.end(), element, element + bitWidth(tensor.type) / 8);
      }
      sources.push_back(std::make_unique<MemorySource>(bytes));
      views[name] =
          TensorView::dense(tensor.type, tensor.shape, sources.back().get());
    }
  }

  llvm::StringMap<TensorView> views;

private:
  std::map<std::string, std::vector<uint8_t>> storage;
  std::vector<std::unique_ptr<MemorySource>> sources;
};

/// Writes what \p region expects into its operand.
void place(Tensors &tensors, const Region &region) {
  Tensor &tensor = tensors.at(region.operand);
  Values content = region.expected;
  for (uint64_t code : region.expectedCodes) {
    content.push_back(decode(tensor.type, code));
  }
  size_t next = 0;
  std::function<void(size_t, int64_t)> visit = [&](size_t d, int64_t index) {
    if (d == tensor.shape.size()) {
      tensor.values.at(index) = content.at(next++);
      return;
    }
    for (int64_t i = 0; i < region.extents[d]; ++i) {
      int64_t at = d == 0 && !region.rows.empty() ? region.rows[i]
                                                  : region.offset[d] + i;
      visit(d + 1, index * tensor.shape[d] + at);
    }
  };
  visit(0, 0);
  EXPECT_EQ(next, content.size()) << region.operand;
}

/// One call with heads of 8 channels; all operands are dense.
struct Call {
  KdaPrefillParams params;
  Tensors tensors;

  Call() {
    params.heads = 2;
    params.headDim = 8;
    params.fp32Conv = true;
  }

  void add(const std::string &name, ElementType type, Shape shape,
           Values values) {
    tensors[name] = {type, std::move(shape), std::move(values)};
  }
  void addIntegers(const std::string &name, Shape shape, Values values) {
    add(name, ElementType::I32, std::move(shape), std::move(values));
  }

  /// Random floating-point operands of \p rows rows and \p slots slots, and
  /// sequences of \p lengths in the slots 1, 2, ...
  void fill(int64_t rows, int64_t slots, const std::vector<int64_t> &lengths,
            uint64_t seed = 3, int64_t columns = 3) {
    const int64_t h = params.heads, d = params.headDim;
    auto random = [&](const std::string &name, ElementType type, Shape shape) {
      int64_t count = 1;
      for (int64_t size : shape) {
        count *= size;
      }
      Values values;
      for (int64_t i = 0; i < count; ++i) {
        double value =
            kdaDecodeDistribution(name)->sample(randomKey(seed, name), i);
        values.push_back(decode(type, encode(type, value)));
      }
      add(name, type, std::move(shape), std::move(values));
    };
    random("qkv", ElementType::BF16, {rows, 3 * h * d});
    random("raw_g", ElementType::BF16, {rows, h * d});
    random("raw_beta", ElementType::BF16, {rows, h});
    random("conv_weight", ElementType::F32, {3 * h * d, 4});
    random("a_log", ElementType::F32, {h});
    random("dt_bias", ElementType::F32, {h * d});
    if (params.outputNorm) {
      random("out_gate", ElementType::BF16, {rows, h * d});
      random("norm_weight", ElementType::F32, {d});
    }
    random("conv_state", ElementType::BF16,
           params.convLayout == ConvLayout::SD
               ? Shape{slots, columns, 3 * h * d}
               : Shape{slots, 3 * h * d, columns});
    random("state", ElementType::F32, {slots, h, d, d});
    add("out", ElementType::F32, {rows, h * d}, Values(rows * h * d, NAN));
    Values boundaries = {0}, slotValues;
    for (int64_t length : lengths) {
      boundaries.push_back(boundaries.back() + double(length));
      slotValues.push_back(double(slotValues.size()) + 1);
    }
    int64_t n = int64_t(lengths.size());
    addIntegers("cu_seqlens", {n + 1}, boundaries);
    addIntegers("slot", {n}, slotValues);
  }

  /// A pool of \p slots checkpoints that hold NaN.
  void addCheckpoints(Shape shape, Values offsets, Values slots, int64_t pool) {
    const int64_t h = params.heads, d = params.headDim;
    addIntegers("checkpoint_offset", shape, std::move(offsets));
    addIntegers("checkpoint_slot", shape, std::move(slots));
    add("checkpoint_state", ElementType::F32, {pool, h, d, d},
        Values(pool * h * d * d, NAN));
    Shape conv = tensors.at("conv_state").shape;
    conv[0] = pool;
    add("checkpoint_conv", ElementType::BF16, conv,
        Values(pool * conv[1] * conv[2], NAN));
  }

  /// The operands after the op.
  Tensors run() const {
    Memory memory(tensors);
    KdaPrefill op = llvm::cantFail(KdaPrefill::create(params, memory.views));
    Tensors result = tensors;
    for (uint64_t piece = 0; piece < op.pieces(); ++piece) {
      op.emitPiece(piece, [&](Region &&region) { place(result, region); });
    }
    return result;
  }

  std::string error(std::optional<int64_t> maxSeqLen = {}) const {
    Memory memory(tensors);
    return llvm::toString(
        KdaPrefill::create(params, memory.views, maxSeqLen).takeError());
  }

  /// Row \p row of \p name.
  static Values rowOf(const Tensors &from, const std::string &name,
                      int64_t row) {
    const Tensor &tensor = from.at(name);
    auto begin = tensor.values.begin() + row * tensor.rowSize();
    return Values(begin, begin + tensor.rowSize());
  }
};

void expectNear(const Values &found, const Values &expected, double tolerance,
                const std::string &what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(found[i])) << what << " element " << i;
    } else {
      ASSERT_NEAR(found[i], expected[i], tolerance) << what << " element " << i;
    }
  }
}

/// Between calls the state passes through memory, as FP32.
constexpr double fp32Steps = 2e-6;

/// The same call as decode steps of one token, the sequences one by one.
Tensors runAsDecode(const Call &call) {
  Tensors result = call.tensors;
  const Tensors &in = call.tensors;
  KdaDecodeParams params;
  static_cast<KdaParams &>(params) = call.params;
  int64_t sequences = in.at("slot").shape[0];
  for (int64_t i = 0; i < sequences; ++i) {
    auto begin = int64_t(in.at("cu_seqlens").values[i]);
    auto end = int64_t(in.at("cu_seqlens").values[i + 1]);
    for (int64_t t = begin; t < end; ++t) {
      int64_t row = in.count("row") ? int64_t(in.at("row").values[t]) : t;
      Tensors step = result;
      for (auto &[name, tensor] : step) {
        if (name == "qkv" || name == "raw_g" || name == "raw_beta" ||
            name == "out_gate" || name == "out") {
          tensor.values = Call::rowOf(result, name, row);
          tensor.shape[0] = 1;
        }
      }
      step["slot"] = {ElementType::I32, {1}, {in.at("slot").values[i]}};
      Memory memory(step);
      KdaDecode op = llvm::cantFail(KdaDecode::create(params, memory.views));
      for (int64_t head = 0; head < call.params.heads; ++head) {
        op.rowHead(0, head, [&](Region &&region) {
          if (region.operand == "out") {
            region.offset[0] = row;
          }
          place(result, region);
        });
      }
    }
  }
  return result;
}
} // namespace

//===----------------------------------------------------------------------===//
// Cases worked out by hand
//===----------------------------------------------------------------------===//

/// One head of one channel: every token has q = k = 1, v = silu(3) and beta =
/// 1/2, and the state halves before it goes half way towards v.
static Call scalarCall(int64_t length) {
  Call call;
  call.params.heads = 1;
  call.params.headDim = 1;
  call.params.qkEps = 0;
  call.params.outputNorm = false;
  call.params.gate = GateKind::Softplus;
  call.fill(length, 2, {length});
  for (const char *name : {"raw_g", "raw_beta", "a_log", "dt_bias"}) {
    Values &values = call.tensors[name].values;
    values.assign(values.size(), 0);
  }
  Values &qkv = call.tensors["qkv"].values;
  for (size_t i = 0; i < qkv.size(); ++i) {
    qkv[i] = double(i % 3 + 1);
  }
  call.tensors["conv_weight"].values = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  call.tensors["state"].values = {100, 2};
  return call;
}

static const double siluOf3 = 2.8577223804672998; // 3 / (1 + e^-3)

// s' = s / 2 + (v - s / 2) / 2 = s / 4 + v / 2, the sum of a geometric series.
TEST(KdaPrefillTest, ScalarInClosedForm) {
  for (int64_t n : {1, 2, 5, 70}) {
    Call call = scalarCall(n);
    Tensors result = call.run();
    for (int64_t t = 1; t <= n; ++t) {
      double left = std::pow(0.25, double(t));
      double expected = 2 * left + siluOf3 / 2 * (1 - left) / 0.75;
      EXPECT_NEAR(result["out"].values[t - 1], expected, 1e-14) << n;
      if (t == n) {
        EXPECT_NEAR(result["state"].values[1], expected, 1e-14) << n;
      }
    }
    EXPECT_EQ(result["state"].values[0], 100);
  }
}

// bf16 has 8 significant bits: of silu(3) = 2.8577... it holds 2.859375.
TEST(KdaPrefillTest, TheConvolutionIsRounded) {
  Call call = scalarCall(1);
  call.params.fp32Conv = false;
  call.tensors["state"].values = {0, 0};
  EXPECT_NEAR(call.run()["out"].values[0], 2.859375 / 2, 1e-15);
  call.params.fp32Conv = true;
  EXPECT_NEAR(call.run()["out"].values[0], siluOf3 / 2, 1e-15);
}

// The history is what precedes the first token; without initial state it is
// zeros, and a sequence of two tokens keeps one old input.
TEST(KdaPrefillTest, WindowsByHand) {
  for (bool initial : {true, false}) {
    Call call = scalarCall(2);
    call.tensors["conv_weight"].values = {0, 0, 0, 1,  0,   0,
                                          0, 1, 1, 10, 100, 1000};
    call.add("has_initial_state", ElementType::I8, {1}, {initial ? 1.0 : 0.0});
    // Slot 1, [3][q k v].
    call.tensors["conv_state"].values = {9, 9, 9, 9, 9, 9,   9,    9,     9,
                                         1, 1, 2, 3, 3, 0.5, 0.25, 0.125, -1};
    Tensors result = call.run();
    double first = initial ? 2 + 5 - 100 + 3000 : 3000;
    double second = initial ? 0.5 - 10 + 300 + 3000 : 300 + 3000;
    double state = (initial ? 2 / 4.0 : 0) + first / 2;
    EXPECT_NEAR(result["out"].values[0], state, 1e-9);
    EXPECT_NEAR(result["out"].values[1], state / 4 + second / 2, 1e-9);
    Values expected(9, 9);
    for (double value : {initial ? 0.25 : 0.0, initial ? 0.125 : 0.0,
                         initial ? -1.0 : 0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0}) {
      expected.push_back(value);
    }
    EXPECT_EQ(result["conv_state"].values, expected);
  }
}

//===----------------------------------------------------------------------===//
// Against decode steps
//===----------------------------------------------------------------------===//

// A prefill is decode steps one behind the other, in every layout.
TEST(KdaPrefillTest, EqualsDecodeSteps) {
  for (GateKind gate : {GateKind::Bounded, GateKind::Softplus}) {
    for (bool norm : {true, false}) {
      for (bool transposed : {true, false}) {
        Call call;
        call.params.gate = gate;
        call.params.outputNorm = norm;
        call.params.convLayout = transposed ? ConvLayout::DS : ConvLayout::SD;
        call.params.stateLayout =
            transposed ? StateLayout::KV : StateLayout::VK;
        call.fill(95, 6, {1, 70, 2, 3, 17}, 7, 4);
        Tensors found = call.run(), expected = runAsDecode(call);
        expectNear(found["out"].values, expected["out"].values, fp32Steps,
                   "out");
        expectNear(found["state"].values, expected["state"].values, fp32Steps,
                   "state");
        EXPECT_EQ(found["conv_state"].values, expected["conv_state"].values);
      }
    }
  }
}

// Tokens in rows of their own; rows that no token names stay as they are.
TEST(KdaPrefillTest, GathersRows) {
  Call call;
  call.fill(40, 4, {18, 3, 5});
  Values rows;
  for (int i = 0; i < 28; ++i) {
    rows.push_back((i * 7 + 5) % 40);
  }
  call.addIntegers("row", {28}, rows);
  std::set<int64_t> named;
  for (int i = 0; i < 26; ++i) {
    named.insert(int64_t(rows[i]));
  }
  for (const char *name : {"qkv", "raw_g", "raw_beta", "out_gate"}) {
    Tensor &tensor = call.tensors[name];
    for (int64_t row = 0; row < 40; ++row) {
      if (!named.count(row)) {
        std::fill_n(tensor.values.begin() + row * tensor.rowSize(),
                    tensor.rowSize(), NAN);
      }
    }
  }
  Tensors found = call.run(), expected = runAsDecode(call);
  expectNear(found["out"].values, expected["out"].values, fp32Steps, "out");
  expectNear(found["state"].values, expected["state"].values, fp32Steps,
             "state");
  for (int64_t row = 0; row < 40; ++row) {
    EXPECT_EQ(std::isnan(Call::rowOf(found, "out", row)[0]), !named.count(row));
  }
}

// Two calls, the second from where the first ended, are one.
TEST(KdaPrefillTest, SplitEqualsWhole) {
  Call whole;
  whole.fill(90, 3, {90, 0});
  Tensors expected = whole.run();
  for (int64_t cut : {1, 2, 64, 88}) {
    Call first = whole, second = whole;
    first.tensors["cu_seqlens"].values = {0, double(cut), double(cut)};
    Tensors middle = first.run();
    second.tensors["state"] = middle["state"];
    second.tensors["conv_state"] = middle["conv_state"];
    Values rows;
    for (int64_t t = cut; t < 90; ++t) {
      rows.push_back(double(t));
    }
    second.addIntegers("row", {90 - cut}, rows);
    second.tensors["cu_seqlens"].values = {0, double(90 - cut),
                                           double(90 - cut)};
    second.tensors["out"] = middle["out"];
    Tensors found = second.run();
    expectNear(found["out"].values, expected["out"].values, fp32Steps, "out");
    expectNear(found["state"].values, expected["state"].values, fp32Steps,
               "state");
    EXPECT_EQ(found["conv_state"].values, expected["conv_state"].values);
  }
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

// Two sequences start from one state, which stays as it is.
TEST(KdaPrefillTest, ForkedPrefix) {
  Call call;
  call.fill(40, 6, {20, 20});
  call.addIntegers("initial_slot", {2}, {4, 4});
  Tensors found = call.run();
  Call copied = call;
  copied.tensors.erase("initial_slot");
  for (const char *name : {"state", "conv_state"}) {
    Tensor &pool = copied.tensors[name];
    for (int64_t slot : {1, 2}) {
      std::copy_n(pool.values.begin() + 4 * pool.rowSize(), pool.rowSize(),
                  pool.values.begin() + slot * pool.rowSize());
    }
  }
  Tensors expected = copied.run();
  EXPECT_EQ(found["out"].values, expected["out"].values);
  for (const char *name : {"state", "conv_state"}) {
    EXPECT_EQ(Call::rowOf(found, name, 2), Call::rowOf(expected, name, 2));
    EXPECT_EQ(Call::rowOf(found, name, 4), Call::rowOf(call.tensors, name, 4));
  }
}

// Sequence 0 keeps its state, 1 gets a copy, 2 and 3 get zeros: a null
// initial_slot counts as no initial state.
TEST(KdaPrefillTest, EmptySequences) {
  Call call;
  call.fill(3, 8, {0, 0, 0, 0});
  call.addIntegers("initial_slot", {4}, {1, 6, 7, 0});
  call.add("has_initial_state", ElementType::I8, {4}, {1, 1, 0, 1});
  Tensors found = call.run();
  for (const char *name : {"state", "conv_state"}) {
    const Tensors &before = call.tensors;
    EXPECT_EQ(Call::rowOf(found, name, 1), Call::rowOf(before, name, 1));
    EXPECT_EQ(Call::rowOf(found, name, 2), Call::rowOf(before, name, 6));
    Values zeros(call.tensors[name].rowSize(), 0.0);
    EXPECT_EQ(Call::rowOf(found, name, 3), zeros);
    EXPECT_EQ(Call::rowOf(found, name, 4), zeros);
  }
  for (double value : found["out"].values) {
    EXPECT_TRUE(std::isnan(value));
  }
}

// Null slots write zeros; whether 0 is one depends on the op. Slots that are
// not read hold NaN.
TEST(KdaPrefillTest, NullSlots) {
  for (NullSlot rule : {NullSlot::Le0, NullSlot::Lt0}) {
    Call call;
    call.params.nullSlot = rule;
    call.fill(60, 3, {20, 20, 18});
    call.tensors["slot"].values = {-1, 0, 2};
    bool zeroIsNull = rule == NullSlot::Le0;
    for (const char *name : {"state", "conv_state"}) {
      Tensor &pool = call.tensors[name];
      std::fill_n(pool.values.begin() + pool.rowSize(), pool.rowSize(), NAN);
      if (zeroIsNull) {
        std::fill_n(pool.values.begin(), pool.rowSize(), NAN);
      }
    }
    Tensors found = call.run();
    for (int64_t t = 0; t < 60; ++t) {
      for (double value : Call::rowOf(found, "out", t)) {
        if (t < (zeroIsNull ? 40 : 20)) {
          EXPECT_EQ(value, 0) << t;
        } else {
          EXPECT_EQ(std::isnan(value), t >= 58) << t;
          EXPECT_NE(value, 0) << t;
        }
      }
    }
    EXPECT_EQ(std::isnan(found["state"].values[0]), zeroIsNull);
  }
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

// A checkpoint is what a prefill of so many tokens leaves; offsets that are no
// multiple of 64, are beyond the end or have no slot write nothing.
TEST(KdaPrefillTest, CheckpointsEqualTruncatedPrefills) {
  Call call;
  call.fill(340, 3, {200, 140});
  call.addCheckpoints({2, 5}, {64, 192, 0, -1, 256, 128, 65, 100, 64, 64},
                      {5, 2, 0, 1, 1, 4, 0, 1, -1, 3}, 7);
  Tensors found = call.run();
  auto truncated = [&](int64_t sequence, int64_t length) {
    Call shorter;
    shorter.fill(340, 3, {200, 140});
    Values rows;
    for (int64_t t = 0; t < length; ++t) {
      rows.push_back(double((sequence == 0 ? 0 : 200) + t));
    }
    shorter.addIntegers("row", {length}, rows);
    double end = double(length);
    shorter.tensors["cu_seqlens"].values =
        sequence == 0 ? Values{0, end, end} : Values{0, 0, end};
    return shorter.run();
  };
  struct Case {
    int64_t sequence, offset, slot;
  };
  for (Case kept :
       {Case{0, 64, 5}, Case{0, 192, 2}, Case{1, 128, 4}, Case{1, 64, 3}}) {
    Tensors expected = truncated(kept.sequence, kept.offset);
    EXPECT_EQ(Call::rowOf(found, "checkpoint_state", kept.slot),
              Call::rowOf(expected, "state", kept.sequence + 1));
    EXPECT_EQ(Call::rowOf(found, "checkpoint_conv", kept.slot),
              Call::rowOf(expected, "conv_state", kept.sequence + 1));
  }
  for (int64_t slot : {0, 1, 6}) {
    EXPECT_TRUE(std::isnan(Call::rowOf(found, "checkpoint_state", slot)[0]));
  }
  // They change nothing else.
  Call without = call;
  for (const char *name : {"checkpoint_offset", "checkpoint_slot",
                           "checkpoint_state", "checkpoint_conv"}) {
    without.tensors.erase(name);
  }
  EXPECT_EQ(without.run()["out"].values, found["out"].values);
}

// One per sequence, at its very end.
TEST(KdaPrefillTest, CheckpointAtTheEnd) {
  Call call;
  call.fill(128, 2, {128});
  call.addCheckpoints({1}, {128}, {0}, 1);
  Tensors found = call.run();
  EXPECT_EQ(found["checkpoint_state"].values, Call::rowOf(found, "state", 1));
  EXPECT_EQ(found["checkpoint_conv"].values,
            Call::rowOf(found, "conv_state", 1));
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

// Skipped pieces name the memory that computed ones do.
TEST(KdaPrefillTest, SkippedPiecesCoverTheSame) {
  Call call;
  call.fill(150, 8, {100, 3, 0, 20, 4});
  call.tensors["slot"].values = {1, 2, 3, 4, 0};
  call.addCheckpoints({5}, {64, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, 1);
  Memory memory(call.tensors);
  KdaPrefill op = llvm::cantFail(KdaPrefill::create(call.params, memory.views));
  // Sequences of 100 and of 20 tokens have a piece per head.
  ASSERT_EQ(op.pieces(), 7u);
  for (uint64_t piece = 0; piece < op.pieces(); ++piece) {
    using Block =
        std::tuple<std::string, std::vector<int64_t>, std::vector<int64_t>>;
    auto blocks = [&](bool skipped) {
      std::multiset<Block> found;
      auto note = [&](Region &&region) {
        EXPECT_EQ(region.skipped, skipped);
        found.insert({region.operand,
                      {region.offset.begin(), region.offset.end()},
                      {region.extents.begin(), region.extents.end()}});
      };
      skipped ? op.skipPiece(piece, note) : op.emitPiece(piece, note);
      return found;
    };
    EXPECT_EQ(blocks(true), blocks(false)) << piece;
  }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

using Rows = std::vector<std::array<int32_t, 4>>;

TEST(KdaPlanTest, ChunksByHand) {
  // Sequence 1 begins at token 65 = 64 + 1: its chunks take rows from 1 + 1
  // on; that of sequence 3 lies at 257 / 64 + 3 = 7.
  EXPECT_EQ(kdaChunkCount(258, 4), 8);
  EXPECT_EQ(llvm::cantFail(kdaPlan({0, 65, 257, 257, 258}, 8)),
            (Rows{{0, 0, 64, 0},
                  {0, 64, 1, 1},
                  {1, 65, 64, 0},
                  {1, 129, 64, 1},
                  {1, 193, 64, 2},
                  {0, 0, 0, 0},
                  {0, 0, 0, 0},
                  {3, 257, 1, 0}}));
  EXPECT_EQ(llvm::cantFail(kdaPlan({0, 0}, 1)), (Rows{{0, 0, 0, 0}}));
  EXPECT_TRUE(llvm::cantFail(kdaPlan({0}, 0)).empty());
}

// Whatever the lengths: every token is in one chunk, no chunk crosses 64
// tokens or its sequence, and C rows are enough.
TEST(KdaPlanTest, EveryTokenIsInOneChunk) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<int64_t> boundaries = {0};
    for (uint64_t i = 0; i < 1 + seed % 7; ++i) {
      uint64_t bits = randomBits(seed, i);
      boundaries.push_back(boundaries.back() +
                           int64_t(bits % 3 == 0 ? bits % 130 : bits % 66));
    }
    int64_t n = int64_t(boundaries.size()) - 1;
    Rows rows = llvm::cantFail(
        kdaPlan(boundaries, kdaChunkCount(boundaries.back(), n)));
    std::vector<int> seen(boundaries.back(), 0);
    for (auto [sequence, first, count, place] : rows) {
      ASSERT_LE(count, 64);
      for (int32_t t = first; t < first + count; ++t) {
        ++seen.at(t);
        ASSERT_LT(t, boundaries[sequence + 1]);
        ASSERT_EQ((t - boundaries[sequence]) / 64, place);
      }
    }
    for (int times : seen) {
      ASSERT_EQ(times, 1);
    }
  }
}

TEST(KdaPlanTest, Errors) {
  auto error = [](std::vector<int64_t> boundaries, int64_t chunks) {
    return llvm::toString(kdaPlan(boundaries, chunks).takeError());
  };
  EXPECT_EQ(error({1, 2}, 4),
            "operand 'cu_seqlens': cu_seqlens[0]: 0 expected, 1 found");
  EXPECT_EQ(error({0, 5, 3}, 4), "operand 'cu_seqlens': cu_seqlens[2]: at "
                                 "least 5 expected, 3 found");
  EXPECT_EQ(error({0, 129}, 2), "operand 'plan': 3 rows expected, 2 found");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(KdaPrefillTest, SequenceErrors) {
  Call call;
  call.fill(40, 4, {20, 20});
  EXPECT_EQ(call.error(20), "");
  EXPECT_EQ(call.error(19), "operand 'cu_seqlens': at most max_seq_len = 19 "
                            "tokens expected, sequence 0 has 20");
  call.tensors["cu_seqlens"].values = {0, 20, 41};
  EXPECT_EQ(call.error(), "operand 'cu_seqlens': an end of at most T = 40 "
                          "expected, 41 found");
  call.tensors["cu_seqlens"].values = {0, 20, 19};
  EXPECT_EQ(call.error(), "operand 'cu_seqlens': cu_seqlens[2]: at least 20 "
                          "expected, 19 found");
}

TEST(KdaPrefillTest, SlotErrors) {
  Call call;
  call.fill(40, 4, {20, 20});
  call.tensors["slot"].values = {4, 1};
  EXPECT_EQ(call.error(),
            "operand 'slot': slot[0]: less than S = 4 expected, 4 found");
  call.tensors["slot"].values = {3, 3};
  EXPECT_EQ(call.error(), "operand 'slot': distinct slots expected, sequences "
                          "0 and 1 both have 3");
  call.tensors["slot"].values = {1, 2};
  call.addIntegers("initial_slot", {2}, {1, 1});
  EXPECT_EQ(call.error(), "operand 'initial_slot': initial_slot[1]: 1 found, "
                          "which sequence 0 writes");
  call.tensors["initial_slot"].values = {1, 9};
  EXPECT_EQ(call.error(), "operand 'initial_slot': initial_slot[1]: less than "
                          "S = 4 expected, 9 found");
  // What is not used is not looked at.
  call.add("has_initial_state", ElementType::I8, {2}, {1, 0});
  EXPECT_EQ(call.error(), "");
}

TEST(KdaPrefillTest, RowErrors) {
  Call call;
  call.fill(5, 2, {3});
  call.addIntegers("row", {4}, {4, 0, 5, 9});
  EXPECT_EQ(call.error(),
            "operand 'row': row[2]: less than R = 5 expected, 5 found");
  call.tensors["row"].values = {4, 0, 4, 9};
  EXPECT_EQ(call.error(), "operand 'row': distinct rows expected, tokens 0 and "
                          "2 both have 4");
  // Behind the last sequence they are not looked at.
  call.tensors["row"].values = {4, 0, 1, 9};
  EXPECT_EQ(call.error(), "");
}

TEST(KdaPrefillTest, PlanErrors) {
  Call call;
  call.fill(70, 2, {66});
  call.addIntegers("plan", {2, 4}, {0, 0, 64, 0, 0, 64, 2, 1});
  EXPECT_EQ(call.error(), "");
  call.tensors["plan"].values[6] = 6;
  EXPECT_EQ(call.error(), "operand 'plan': plan[1, 2]: 2 expected for these "
                          "cu_seqlens, 6 found");
  call.addIntegers("plan", {1, 4}, {0, 0, 64, 0});
  EXPECT_EQ(call.error(),
            "operand 'plan': shape [2, 4] expected, [1, 4] found");
}

TEST(KdaPrefillTest, CheckpointErrors) {
  Call call;
  call.fill(140, 4, {70, 70});
  call.addCheckpoints({2}, {64, 64}, {0, 3}, 3);
  EXPECT_EQ(call.error(), "operand 'checkpoint_slot': a slot of sequence 1: "
                          "less than P = 3 expected, 3 found");
  call.tensors["checkpoint_slot"].values = {2, 2};
  EXPECT_EQ(call.error(), "operand 'checkpoint_slot': distinct slots expected, "
                          "2 is written for sequences 0 and 1");
  call.tensors.erase("checkpoint_conv");
  EXPECT_EQ(call.error(), "operand 'checkpoint_conv' is missing");
}
