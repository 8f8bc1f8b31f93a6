//===- CheckTest.cpp - wrong results and stray writes are found -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Run/Check.h"

#include "tenon/Run/Run.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace tenon;
using namespace tenon::run;

namespace {
constexpr int64_t rowCount = 3;
constexpr int64_t rowSize = 8;

/// Expects element (row, column) of `out` to be 10 * row + column + 1.
class Counting : public Expectation {
public:
  uint64_t pieces() const override { return rowCount; }
  void
  piece(uint64_t index,
        llvm::function_ref<void(reference::Region &&)> emit) const override {
    reference::Region region;
    region.operand = "out";
    region.offset = {int64_t(index), 0};
    region.extents = {1, rowSize};
    region.group = "row " + std::to_string(index);
    for (int64_t column = 0; column < rowSize; ++column) {
      region.expected.push_back(10.0 * double(index) + double(column) + 1);
    }
    emit(std::move(region));
  }
  uint64_t workUnits() const override { return rowCount; }
};

class CountingHarness : public Harness {
public:
  llvm::Error completeDims(Dims &) const override {
    return llvm::Error::success();
  }
  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef, const Views &, const Dims &,
                   uint64_t) const override {
    return std::optional<std::vector<int32_t>>();
  }
  reference::Distribution distribution(llvm::StringRef) const override {
    return {};
  }
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef, const Views &, const Dims &) const override {
    return std::nullopt;
  }
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &, const Dims &) const override {
    return std::make_unique<Counting>();
  }
  double tolerance(llvm::StringRef) const override { return 1e-3; }
  uint64_t floorPerUnit() const override { return 1; }
  std::string unitName() const override { return "row"; }
};

/// `out` in device memory, rows 12 elements apart, holding what is expected.
class CheckTest : public testing::Test {
protected:
  void SetUp() override {
    runtime::Plan plan;
    plan.name = "count";
    plan.operands.push_back({"out",
                             "f32",
                             runtime::OperandAccess::Write,
                             {{"", rowCount}, {"", rowSize}}});
    RunOptions options;
    options.strides["out"] = {rowStride};
    auto created = Operands::create(plan, harness, options);
    ASSERT_TRUE(bool(created)) << llvm::toString(created.takeError());
    operands = std::move(*created);
    ASSERT_FALSE(bool(operands.allocate(memory)));
    for (int64_t row = 0; row < rowCount; ++row) {
      for (int64_t column = 0; column < rowSize; ++column) {
        set(row * rowStride + column, float(10 * row + column + 1));
      }
    }
  }

  void set(int64_t element, float value) {
    uint8_t bytes[4];
    std::memcpy(bytes, &value, 4);
    ASSERT_FALSE(
        bool(memory.write(operands.all()[0].address + 4 * element, bytes)));
  }

  OperandCheck check(unsigned threads = 2) {
    auto checks = checkOperands(memory, operands, Counting(), harness, threads);
    EXPECT_TRUE(bool(checks));
    EXPECT_EQ(checks->size(), 1U);
    return checks->front();
  }

  static constexpr int64_t rowStride = 12;
  CountingHarness harness;
  sim::Memory memory;
  Operands operands;
};
} // namespace

TEST_F(CheckTest, ExpectedValuesPass) {
  OperandCheck found = check();
  EXPECT_TRUE(found.passed);
  EXPECT_EQ(found.errors.groups(), uint64_t(rowCount));
  EXPECT_EQ(found.strayBytes, 0U);
}

TEST_F(CheckTest, AWrongValueFailsAndItsGroupIsNamed) {
  set(1 * rowStride + 3, 14.5F);
  OperandCheck found = check();
  EXPECT_FALSE(found.passed);
  EXPECT_EQ(found.errors.relativeL2().group, "row 1");
  EXPECT_EQ(found.strayBytes, 0U);
}

TEST_F(CheckTest, ErrorsWithinTheTolerancePass) {
  set(2 * rowStride + 7, 28.001F);
  EXPECT_TRUE(check().passed);
}

TEST_F(CheckTest, AnElementThatWasNotWrittenFails) {
  // Outputs hold NaN before the launch.
  set(0, std::numeric_limits<float>::quiet_NaN());
  OperandCheck found = check();
  EXPECT_FALSE(found.passed);
  EXPECT_EQ(found.errors.nans(), 1U);
}

TEST_F(CheckTest, AWriteBetweenRowsFails) {
  set(1 * rowStride + rowSize, 0.0F);
  OperandCheck found = check();
  EXPECT_FALSE(found.passed);
  EXPECT_GT(found.strayBytes, 0U);
  EXPECT_EQ(found.firstStray,
            "element offset 20 of the operand's memory was changed");
}

TEST_F(CheckTest, ThreadsDoNotChangeTheOutcome) {
  set(2 * rowStride, -1.0F);
  OperandCheck one = check(1);
  OperandCheck many = check(8);
  EXPECT_EQ(one.errors.summary(), many.errors.summary());
}

// A region may name its rows; what lies between them is not covered.
TEST_F(CheckTest, NamedRows) {
  class Scattered : public Counting {
  public:
    uint64_t pieces() const override { return 1; }
    void
    piece(uint64_t,
          llvm::function_ref<void(reference::Region &&)> emit) const override {
      reference::Region region;
      region.operand = "out";
      region.offset = {0, 0};
      region.extents = {2, rowSize};
      region.rows = {2, 0};
      for (int64_t row : region.rows) {
        for (int64_t column = 0; column < rowSize; ++column) {
          region.expected.push_back(10.0 * double(row) + double(column) + 1);
        }
      }
      emit(std::move(region));
    }
  };
  auto check = [&] {
    auto checks = checkOperands(memory, operands, Scattered(), harness, 1);
    return llvm::cantFail(std::move(checks)).front();
  };
  // Row 1 holds something else than before the launch.
  EXPECT_TRUE(check().errors.within(0));
  EXPECT_EQ(check().firstStray,
            "element offset 12 of the operand's memory was changed");
  set(2 * rowStride + 1, 0);
  EXPECT_FALSE(check().errors.within(1e-3));
}

// A sample has the ends; beside what is not compared nothing may be written.
TEST_F(CheckTest, SampledChecks) {
  class Many : public Counting {
  public:
    uint64_t pieces() const override { return 1000; }
    void
    piece(uint64_t index,
          llvm::function_ref<void(reference::Region &&)> emit) const override {
      compared[index] = true;
      if (index < uint64_t(rowCount)) {
        Counting::piece(index, emit);
      }
    }
    void
    skip(uint64_t index,
         llvm::function_ref<void(reference::Region &&)> emit) const override {
      if (index < uint64_t(rowCount)) {
        Expectation::skip(index, emit);
        compared[index] = false;
      }
    }
    mutable std::vector<bool> compared = std::vector<bool>(1000);
  };
  Many many;
  set(1 * rowStride + 3, 99); // row 1 is not in the sample, row 0 is
  auto found = llvm::cantFail(
      checkOperands(memory, operands, many, harness, 1, /*sampled=*/true));
  EXPECT_TRUE(found[0].passed) << found[0].errors.summary();
  EXPECT_EQ(found[0].errors.groups() + found[0].skippedGroups, 3U);
  EXPECT_EQ(std::count(many.compared.begin(), many.compared.end(), true),
            1 + 20 + 64);
  EXPECT_TRUE(many.compared[0]);
  EXPECT_FALSE(many.compared[1]);
  for (unsigned index = 980; index < 1000; ++index) {
    EXPECT_TRUE(many.compared[index]);
  }
  set(1 * rowStride + rowSize, 0); // between rows
  found = llvm::cantFail(
      checkOperands(memory, operands, many, harness, 1, /*sampled=*/true));
  EXPECT_FALSE(found[0].passed);
  set(0, -1);
  found = llvm::cantFail(
      checkOperands(memory, operands, many, harness, 1, /*sampled=*/true));
  EXPECT_EQ(found[0].errors.relativeL2().group, "row 0");
}
