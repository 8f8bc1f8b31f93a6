//===- LdsReadTest.cpp - how tiles are read from LDS ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/LdsRead.h"
#include "tenon/Layout/Mfma.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace tenon::layout;

static BankRules chipRules() {
  BankRules rules;
  rules.transposingReads = {{16, 64}, {8, 64}};
  return rules;
}

/// The element of register \p reg of \p lane after a transposing read of which
/// lanes address what \p source says: the instruction carried out by hand.
static SmallVector<int64_t> received(const Layout &source, unsigned elements,
                                     int64_t reg, int64_t lane) {
  int64_t access = reg / elements, row = reg % elements;
  int64_t column = lane % 16;
  // Rows of 16 columns lie side by side in the lanes of a group.
  int64_t position = row * 16 + column;
  int64_t from = lane / 16 * 16 + position / elements;
  return source.coordinates(access * elements + position % elements, from, 0);
}

// Operand A of V^T, from rows of keys: every lane receives what the instruction
// wants.
TEST(LdsRead, LanesReceiveWhatTheyWant) {
  for (TransposingRead form : chipRules().transposingReads) {
    bool isHalf = form.elementBits == 16;
    Layout operand = cantFail(
        mfmaOperandA(16, 32, isHalf ? MfmaFormat::F16 : MfmaFormat::F8));
    std::optional<Layout> source = transposedSource(operand, form);
    ASSERT_TRUE(source.has_value());
    for (int64_t lane = 0; lane < 64; ++lane) {
      for (int64_t reg = 0; reg < operand.numRegisters(); ++reg) {
        EXPECT_EQ(
            received(*source, form.accessBits / form.elementBits, reg, lane),
            operand.coordinates(reg, lane, 0));
      }
    }
  }
}

// Columns are read transposed, rows as they are; without such reads a lane
// takes element by element.
TEST(LdsRead, ColumnsAreReadTransposed) {
  Layout operand = cantFail(mfmaOperandA(16, 32, MfmaFormat::F16));
  LdsLayout rows = LdsLayout::rowMajor({16, 32}, 16);
  LdsRead direct = chooseLdsRead(operand, rows, chipRules());
  EXPECT_FALSE(direct.transposes);
  EXPECT_EQ(direct.accessBits, 128U);
  LdsLayout columns = cantFail(LdsLayout::create({16, 32}, {1, 16}, 16));
  LdsRead transposed = chooseLdsRead(operand, columns, chipRules());
  EXPECT_TRUE(transposed.transposes);
  EXPECT_EQ(transposed.accessBits, 64U);
  LdsRead narrow = chooseLdsRead(operand, columns, BankRules());
  EXPECT_FALSE(narrow.transposes);
  EXPECT_EQ(narrow.accessBits, 16U);
}

// Four neighbours must lie side by side for a lane to read them.
TEST(LdsRead, ScatteredColumnsAreNot) {
  Layout operand = cantFail(mfmaOperandA(16, 32, MfmaFormat::F16));
  LdsLayout apart = cantFail(LdsLayout::create({16, 32}, {2, 32}, 16));
  EXPECT_FALSE(chooseLdsRead(operand, apart, chipRules()).transposes);
}
