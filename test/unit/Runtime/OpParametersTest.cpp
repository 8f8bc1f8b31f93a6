//===- OpParametersTest.cpp - what names a kernel ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/OpParameters.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace tenon::runtime;

/// The key, or the error as text.
static std::string show(const Result<KernelKey> &key) {
  return key ? key->op + "(" + key->statics + ")[" + key->bucket + "]"
             : key.error().message;
}

// Defaults are spelled out, numbers have one spelling, and what only ranks
// schedules is no static parameter.
TEST(OpParameters, KeysAreCanonical) {
  EXPECT_EQ(
      show(kernelKey("tenon.kda_decode", {{"gate", "softplus"}, {"H", "12"}})),
      "kda_decode(H=12,D=128,gate=softplus,lower_bound=-5,norm=on,"
      "qk_eps=1e-06,norm_eps=1e-05,null_slot=le0,conv_layout=sd,"
      "state_layout=vk,conv_start=off,norm_weight=f32)[]");
  EXPECT_EQ(show(kernelKey("kda_decode", {{"qk_eps", "0.000001"}})),
            show(kernelKey("kda_decode", {{"lower_bound", "-5.0"}})));
  Result<KernelKey> gemm =
      kernelKey("gemm", {{"expected_tokens", "64"}, {"N", "2304"}});
  ASSERT_TRUE(bool(gemm));
  EXPECT_EQ(gemm->bucket, "expected_tokens=64");
  EXPECT_EQ(gemm->statics.find("expected_tokens"), std::string::npos);
}

// An unknown op or parameter lists what there is; a value is held to what its
// parameter takes.
TEST(OpParameters, ErrorsNameTheParameter) {
  EXPECT_EQ(show(kernelKey("kda", {})).substr(0, 29),
            "unknown op 'kda'; there are: ");
  EXPECT_EQ(show(kernelKey("pack", {{"M", "1"}})),
            "pack: M: pack has no such parameter; there are: N, K, type, "
            "order, scales");
  EXPECT_EQ(show(kernelKey("pack", {{"type", "f32"}})),
            "pack: type: expected bf16 or fp8 or fp4, found 'f32'");
  EXPECT_EQ(show(kernelKey("pack", {{"N", "-1"}})),
            "pack: N: expected a positive integer or ?, found '-1'");
  EXPECT_EQ(show(kernelKey("kda_decode", {{"H", "12x"}})),
            "kda_decode: H: expected a positive integer, found '12x'");
  EXPECT_EQ(show(kernelKey("kda_decode", {{"qk_eps", "nan"}})),
            "kda_decode: qk_eps: expected a number, found 'nan'");
  EXPECT_EQ(show(kernelKey("pack", {{"N", "1"}, {"N", "1"}})),
            "pack: N: it is given twice");
}

// The text of a key reads back as the same key, and the command that builds it
// names what is not at its default.
TEST(OpParameters, TextReadsBack) {
  Result<KernelKey> key =
      kernelKey("gemm", {{"N", "96"}, {"expected_tokens", "8"}});
  ASSERT_TRUE(bool(key));
  Result<Settings> settings = parseSettings(key->statics + "," + key->bucket);
  ASSERT_TRUE(bool(settings));
  EXPECT_EQ(show(kernelKey(key->op, *settings)), show(key));
  EXPECT_EQ(compileOptions(*key),
            "--op gemm --set N=96 --set expected_tokens=8");
  EXPECT_FALSE(bool(parseSettings("N=96,K")));
  EXPECT_FALSE(bool(parseSettings("=96")));
}

// Every op's defaults are values that its parameters can take, and its names
// are in order, as findOp's errors and the tools list them.
TEST(OpParameters, EntriesAreConsistent) {
  std::span<const OpEntry> entries = opEntries();
  EXPECT_TRUE(std::is_sorted(
      entries.begin(), entries.end(),
      [](const OpEntry &a, const OpEntry &b) { return a.name < b.name; }));
  for (const OpEntry &entry : entries) {
    Settings defaults;
    for (const OpParameter &parameter : entry.parameters) {
      defaults.emplace_back(parameter.name, parameter.defaultValue);
    }
    EXPECT_TRUE(bool(kernelKey(entry.name, defaults)))
        << show(kernelKey(entry.name, defaults));
  }
}
