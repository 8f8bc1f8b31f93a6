//===- KdaPrefillHarnessTest.cpp - data and checks of prefill ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Run/KdaPrefillHarness.h"
#include "lib/Run/Check.h"
#include "lib/Run/KdaPlanHarness.h"
#include "test/unit/Run/OperandPlan.h"

#include "tenon/Driver/Compile.h"
#include "tenon/Driver/OpCatalogue.h"
#include "tenon/Run/Run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

using namespace tenon;
using namespace tenon::run;
using reference::ElementType;
using reference::Region;
using reference::TensorView;

namespace {
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Operands of one call in device memory; a kernel is played by what the
/// reference expects, rounded to the types of the operands.
class Call {
public:
  Call(Settings settings, RunOptions given, const char *kind = "")
      : options(std::move(given)) {
    settings.emplace_back("H", "1");
    std::string text =
        llvm::cantFail(driver::specText("kda_prefill", settings));
    module = session.parseText(text, "kda_prefill");
    module->walk([&](spec::KdaPrefillOp op) {
      plan = planOf(op);
      harness = createKdaPrefillHarness(op);
    });
    if (*kind) {
      harness->chooseData(kind);
    }
    auto created = Operands::create(plan, *harness, options);
    if (!created) {
      error = llvm::toString(created.takeError());
      return;
    }
    operands = std::move(*created);
    llvm::cantFail(operands.allocate(memory));
    auto expected = harness->expect(operands.views(), operands.dims());
    if (!expected) {
      error = llvm::toString(expected.takeError());
      return;
    }
    expectation = std::move(*expected);
  }

  /// The type in which an operand is stored, and the size of its elements.
  void store(const std::string &name, llvm::ArrayRef<int64_t> index,
             uint64_t code) {
    const Operand *operand = operands.find(name);
    uint64_t element = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      element += index[d] * operand->view.strides[d];
    }
    unsigned size = reference::bitWidth(operand->view.type) / 8;
    uint8_t bytes[8];
    std::memcpy(bytes, &code, 8);
    llvm::cantFail(memory.write(operand->address + size * element,
                                llvm::ArrayRef<uint8_t>(bytes, size)));
  }

  void storeValue(const std::string &name, llvm::ArrayRef<int64_t> index,
                  double value) {
    store(name, index,
          reference::encode(operands.find(name)->view.type, value));
  }

  /// Writes what is expected; \p change may alter a region before.
  void compute(llvm::function_ref<void(Region &)> change = [](Region &) {}) {
    for (uint64_t piece = 0; piece < expectation->pieces(); ++piece) {
      expectation->piece(piece, [&](Region &&region) {
        change(region);
        write(region);
      });
    }
  }

  void write(const Region &region) {
    ElementType type = operands.find(region.operand)->view.type;
    llvm::SmallVector<int64_t, 4> step(region.extents.size(), 0);
    size_t count =
        std::max(region.expected.size(), region.expectedCodes.size());
    for (size_t next = 0; next < count; ++next) {
      llvm::SmallVector<int64_t, 4> index;
      for (size_t d = 0; d < step.size(); ++d) {
        index.push_back(d == 0 && !region.rows.empty()
                            ? region.rows[step[0]]
                            : region.offset[d] + step[d]);
      }
      store(region.operand, index,
            region.exact ? region.expectedCodes[next]
                         : reference::encode(type, region.expected[next]));
      for (size_t d = step.size(); d-- > 0;) {
        if (++step[d] < region.extents[d]) {
          break;
        }
        step[d] = 0;
      }
    }
  }

  /// The operands that are not as expected.
  std::set<std::string> wrong() {
    std::set<std::string> names;
    for (const OperandCheck &check : llvm::cantFail(
             checkOperands(memory, operands, *expectation, *harness, 2))) {
      if (!check.passed) {
        names.insert(check.operand);
      }
    }
    return names;
  }

  std::vector<int64_t> integers(const char *name) {
    return integerValues(operands.find(name)->view);
  }

  std::string error;
  RunOptions options;
  driver::Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  runtime::Plan plan;
  std::unique_ptr<Harness> harness;
  std::unique_ptr<Expectation> expectation;
  sim::Memory memory;
  Operands operands;
};

RunOptions lengths(std::vector<int64_t> values) {
  RunOptions options;
  options.lists["lengths"] = std::move(values);
  return options;
}

using Names = std::set<std::string>;

/// Every optional operand.
Settings everything() {
  return {{"initial_slot", "on"},
          {"has_initial_state", "on"},
          {"row", "on"},
          {"checkpoints", "several"},
          {"plan", "on"}};
}
} // namespace

// What the reference says passes, rounded to the operands' types, with NaN in
// every row and slot that the op does not read.
TEST(KdaPrefillHarnessTest, RightResultsPass) {
  for (Settings settings :
       {Settings{}, everything(), Settings{{"checkpoints", "one"}},
        Settings{{"state_layout", "kv"}, {"conv_layout", "ds"}},
        Settings{{"products", "fp32"}, {"fp32_conv", "on"}}}) {
    Call call(settings, lengths({70, 0, 1, 130, 15}));
    ASSERT_EQ(call.error, "");
    call.compute();
    EXPECT_EQ(call.wrong(), Names());
  }
}

// Each mistake shows in the operand where it is made.
TEST(KdaPrefillHarnessTest, WrongResultsFail) {
  Call call(everything(), lengths({140, 3, 0}));
  ASSERT_EQ(call.error, "");
  auto expectWrong = [&](const char *operand, auto change) {
    call.compute([&](Region &region) {
      if (region.operand == operand) {
        change(region);
      }
    });
    EXPECT_EQ(call.wrong(), Names{operand});
    call.compute();
    EXPECT_EQ(call.wrong(), Names());
  };
  // Two percent more in one sequence's outputs.
  expectWrong("out", [](Region &region) {
    if (region.group == "sequence 0 head 0") {
      for (double &value : region.expected) {
        value *= 1.02;
      }
    }
  });
  // Three outputs in the order of the tokens instead of that of their rows.
  expectWrong("out", [](Region &region) {
    if (region.rows.size() == 3) {
      std::swap(region.rows[0], region.rows[2]);
    }
  });
  // A state of key times value instead of value times key.
  expectWrong("state", [](Region &region) {
    std::vector<double> values = region.expected;
    for (int64_t i = 0; i < 128 && !region.exact; ++i) {
      for (int64_t j = 0; j < 128; ++j) {
        region.expected[j * 128 + i] = values[i * 128 + j];
      }
    }
  });
  // The last bit of one input in a window.
  expectWrong("conv_state", [](Region &region) {
    if (region.group == "sequence 1 head 0 k") {
      region.expectedCodes[130] ^= 1;
    }
  });
  expectWrong("checkpoint_conv",
              [](Region &region) { region.expectedCodes[0] ^= 1; });
  expectWrong("checkpoint_state", [](Region &region) {
    for (double &value : region.expected) {
      value = -value;
    }
  });
}

// Rows of padding and slots that no sequence has keep their contents.
TEST(KdaPrefillHarnessTest, StrayWritesFail) {
  RunOptions options = lengths({20, 5});
  options.dims = {{"T", 30}, {"S", 4}, {"L", 5}};
  options.lists["slot"] = {3, 1};
  Call call({}, options);
  ASSERT_EQ(call.error, "");
  call.compute();
  EXPECT_EQ(call.wrong(), Names());
  call.storeValue("out", {25, 7}, 0);
  EXPECT_EQ(call.wrong(), Names{"out"});
  call.storeValue("state", {2, 0, 1, 1}, 0);
  EXPECT_EQ(call.wrong(), (Names{"out", "state"}));
  // Columns 3 and 4 of a window in use.
  call.storeValue("conv_state", {3, 4, 0}, 100);
  EXPECT_EQ(call.wrong(), (Names{"out", "state", "conv_state"}));
}

// A null slot's tokens are zeros, and nothing of its inputs matters.
TEST(KdaPrefillHarnessTest, NullSlots) {
  RunOptions options = lengths({20, 5});
  options.lists["slot"] = {0, 1};
  Call call({}, options);
  ASSERT_EQ(call.error, "");
  Views views = call.operands.views();
  for (int64_t token = 0; token < 25; ++token) {
    EXPECT_EQ(std::isnan(views["raw_g"].at({token, 0})), token < 20);
  }
  call.compute();
  EXPECT_EQ(call.wrong(), Names());
  call.storeValue("out", {19, 0}, 1e-30);
  EXPECT_EQ(call.wrong(), Names{"out"});
}

// NaN is in every row and slot that must not be read, and only there.
TEST(KdaPrefillHarnessTest, UnusedDataAreNaN) {
  RunOptions options = lengths({20, 5, 4});
  options.dims = {{"T", 33}, {"S", 9}};
  options.lists["has_initial_state"] = {1, 0, 1};
  options.lists["slot"] = {2, 4, 6};
  options.lists["initial_slot"] = {2, 3, 8};
  Call call({{"has_initial_state", "on"}, {"initial_slot", "on"}}, options);
  ASSERT_EQ(call.error, "");
  Views views = call.operands.views();
  for (int64_t slot = 0; slot < 9; ++slot) {
    bool used = slot == 2 || slot == 8;
    EXPECT_EQ(std::isnan(views["state"].at({slot, 0, 5, 5})), !used) << slot;
    EXPECT_EQ(std::isnan(views["conv_state"].at({slot, 0, 5})), !used) << slot;
  }
  for (int64_t token = 0; token < 33; ++token) {
    for (const char *name : {"qkv", "raw_g", "out_gate"}) {
      EXPECT_EQ(std::isnan(views[name].at({token, 3})), token >= 29) << name;
    }
  }
}

// Sizes and lengths that are not given, and those that contradict each other.
TEST(KdaPrefillHarnessTest, Sizes) {
  EXPECT_EQ(Call({}, RunOptions()).error,
            "the number of tokens is not given: --list lengths=... or --dim "
            "T=...");
  RunOptions even;
  even.dims = {{"T", 10}, {"N", 3}};
  Call call({}, even);
  ASSERT_EQ(call.error, "");
  EXPECT_EQ(call.integers("cu_seqlens"), (std::vector<int64_t>{0, 3, 6, 10}));
  EXPECT_EQ(call.operands.scalars(), (llvm::ArrayRef<int64_t>{10}));

  RunOptions given = lengths({4, 5});
  given.dims = {{"N", 3}};
  EXPECT_EQ(Call({}, given).error,
            "N: 2 sequences are given by their lengths, found 3");
  given = lengths({4, -5});
  EXPECT_NE(Call({}, given).error.find("expected lengths of 0 or more"),
            std::string::npos);
  given = lengths({4, 5});
  given.scalars["max_seq_len"] = 4;
  EXPECT_EQ(Call({}, given).error,
            "operand 'cu_seqlens': at most max_seq_len = 4 tokens expected, "
            "sequence 1 has 5");
  given = lengths({4, 5});
  given.lists["slot"] = {1, 2, 3};
  EXPECT_EQ(Call({}, given).error,
            "N: 2 sequences are given by their lengths, found 3");
  given = lengths({4, 5});
  given.dims = {{"N", 2}};
  given.lists["slot"] = {1, 2, 3};
  EXPECT_EQ(Call({}, given).error, "--list slot: expected 2 integers for the "
                                   "shape [2], found 3");
  given = lengths({4});
  given.lists["raw_g"] = {1};
  EXPECT_EQ(Call({}, given).error,
            "--list raw_g: its elements are bf16, not integers");
  given = lengths({4});
  given.lists["has_initial_state"] = {300};
  EXPECT_EQ(Call({{"has_initial_state", "on"}}, given).error,
            "--list has_initial_state: 300 is no i8");
}

// Generated integers are those of a legal call, whatever there is of them.
TEST(KdaPrefillHarnessTest, GeneratedIntegersAreLegal) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    RunOptions options = lengths({200, 64, 3, 0});
    options.seed = seed;
    Call call(everything(), options);
    ASSERT_EQ(call.error, "");
    std::vector<int64_t> slots = call.integers("slot");
    for (int64_t from : call.integers("initial_slot")) {
      EXPECT_FALSE(llvm::is_contained(slots, from));
    }
    TensorView offsets = call.operands.find("checkpoint_offset")->view;
    EXPECT_EQ(offsets.block({0, 0}, {4, 2}),
              (std::vector<double>{64, 192, 64, 0, 0, 0, 0, 0}));
  }
  RunOptions tight = lengths({4, 5});
  tight.dims = {{"S", 2}};
  EXPECT_EQ(Call({}, tight).error, "slot: 2 values besides 0 in use need S of "
                                   "at least 3, found 2");
}

// Weak decay keeps a large state to the end; correlated keys are nearly alike.
TEST(KdaPrefillHarnessTest, KindsOfData) {
  Call weak({}, lengths({4}), "weak");
  Views views = weak.operands.views();
  int64_t slot = weak.integers("slot")[0];
  EXPECT_NEAR(views["dt_bias"].at(5), -7, 0.5);
  double squares = 0;
  for (double value : views["state"].block({slot, 0, 0, 0}, {1, 1, 128, 128})) {
    squares += value * value;
  }
  EXPECT_NEAR(std::sqrt(squares / (128 * 128)), 8, 0.5);

  Call alike({}, lengths({40}), "correlated");
  TensorView qkv = alike.operands.views()["qkv"];
  double spread = 0, size = 0, ofValues = 0;
  for (int64_t column = 0; column < 128; ++column) {
    double key = qkv.at({3, 128 + column});
    spread += std::pow(key - qkv.at({30, 128 + column}), 2);
    size += key * key;
    ofValues +=
        std::pow(qkv.at({3, 256 + column}) - qkv.at({30, 256 + column}), 2);
  }
  EXPECT_LT(std::sqrt(spread / size), 0.1);
  EXPECT_GT(std::sqrt(spread), 0.1);
  EXPECT_GT(std::sqrt(ofValues / 128), 0.4);
  EXPECT_NEAR(alike.operands.views()["raw_beta"].at({7, 0}), 3, 1e-2);
}

// Bounds follow the data and what products are made of.
TEST(KdaPrefillHarnessTest, Tolerances) {
  auto tolerances = [](const Settings &settings, const char *kind) {
    Call call(settings, lengths({4}), kind);
    std::vector<double> values;
    for (const char *operand : {"out", "state", "conv_state"}) {
      values.push_back(call.harness->tolerance(operand));
    }
    return values;
  };
  using Bounds = std::vector<double>;
  EXPECT_EQ(tolerances({}, ""), (Bounds{1e-2, 6e-3, 0}));
  EXPECT_EQ(tolerances({}, "weak"), (Bounds{1e-2, 8e-3, 0}));
  EXPECT_EQ(tolerances({}, "correlated"), (Bounds{2e-2, 4e-2, 0}));
  EXPECT_EQ(tolerances({{"products", "f16"}}, "weak"), (Bounds{4e-3, 1e-3, 0}));
  EXPECT_EQ(tolerances({{"products", "f16"}}, "correlated"),
            (Bounds{1e-2, 1e-2, 0}));
  EXPECT_EQ(tolerances({{"products", "fp32"}, {"fp32_conv", "on"}}, ""),
            (Bounds{1e-4, 1e-4, 0}));
}

// A plan's rows are compared exactly, and those that are not written show.
TEST(KdaPlanHarnessTest, Plans) {
  driver::Session session;
  auto module = session.parseText(
      llvm::cantFail(driver::specText("kda_plan", {})), "kda_plan");
  spec::KdaPlanOp op;
  module->walk([&](spec::KdaPlanOp found) { op = found; });
  std::unique_ptr<Harness> harness = createKdaPlanHarness(op);
  auto operands = llvm::cantFail(
      Operands::create(planOf(op), *harness, lengths({65, 0, 1})));
  sim::Memory memory;
  llvm::cantFail(operands.allocate(memory));
  auto expectation =
      llvm::cantFail(harness->expect(operands.views(), operands.dims()));
  auto passes = [&] {
    return llvm::cantFail(
               checkOperands(memory, operands, *expectation, *harness, 1))
        .front()
        .passed;
  };
  EXPECT_FALSE(passes());
  // Sequence 2 begins at token 65: its row is 65 / 64 + 2.
  std::vector<int32_t> rows = {0, 0, 64, 0, 0, 64, 1, 1,
                               0, 0, 0,  0, 2, 65, 1, 0};
  auto write = [&] {
    llvm::cantFail(memory.write(
        operands.find("plan")->address,
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(rows.data()),
                       rows.size() * 4)));
  };
  write();
  EXPECT_TRUE(passes());
  rows[11] = 1;
  write();
  EXPECT_FALSE(passes());
}
