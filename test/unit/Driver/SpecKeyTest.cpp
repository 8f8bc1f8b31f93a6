//===- SpecKeyTest.cpp - settings from specs --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Driver/SpecKey.h"
#include "tenon/Driver/Compile.h"
#include "tenon/Driver/OpCatalogue.h"

#include <gtest/gtest.h>

using namespace tenon;

/// The key of the spec that specText writes for \p settings, found from the
/// spec alone.
static std::string foundKey(llvm::StringRef op,
                            const runtime::Settings &settings) {
  driver::Session session;
  auto module =
      session.parseText(llvm::cantFail(driver::specText(op, settings)), "spec");
  auto found = driver::specSettings(*module);
  if (!found) {
    return llvm::toString(found.takeError());
  }
  auto key = runtime::kernelKey(op, *found);
  return key ? key->statics + " [" + key->bucket + "]" : key.error().message;
}

static std::string key(llvm::StringRef op, const runtime::Settings &settings) {
  auto key = runtime::kernelKey(op, settings);
  return key ? key->statics + " [" + key->bucket + "]" : key.error().message;
}

// Settings are found back from the spec that they stand for, whichever of them
// are not at their default, also where they depend on each other.
TEST(SpecKey, SettingsAreFoundBack) {
  std::vector<std::pair<const char *, runtime::Settings>> cases = {
      {"kda_decode", {}},
      {"kda_decode",
       {{"H", "24"},
        {"gate", "softplus"},
        {"conv_layout", "ds"},
        {"state_layout", "kv"},
        {"conv_start", "on"},
        {"null_slot", "lt0"}}},
      {"kda_decode",
       {{"norm", "off"}, {"qk_eps", "3e-5"}, {"lower_bound", "-2.5"}}},
      {"kda_decode", {{"norm_weight", "bf16"}, {"norm_eps", "1e-3"}}},
      {"gemm", {}},
      {"gemm", {{"N", "1536"}, {"K", "7168"}, {"epilogue", "situ"}}},
      {"gemm",
       {{"N", "1536"},
        {"K", "1536"},
        {"format", "mxfp4"},
        {"weights", "packed"},
        {"x_scale", "packed"},
        {"out", "f32"},
        {"expected_tokens", "256"}}},
      {"gemm",
       {{"N", "96"},
        {"K", "512"},
        {"format", "fp8"},
        {"columns", "on"},
        {"rows", "on"},
        {"epilogue", "add"},
        {"out", "f32"}}},
      {"mla_decode", {}},
      {"mla_decode",
       {{"H", "96"},
        {"max_queries", "1"},
        {"q", "fp8"},
        {"kv", "fp8"},
        {"out", "f32"},
        {"packed", "on"},
        {"q_rope", "on"},
        {"bf16_probabilities", "on"}}},
      {"mla_decode",
       {{"H", "16"},
        {"max_queries", "7"},
        {"kv", "fp8"},
        {"lse", "off"},
        {"causal", "off"},
        {"scale", "0.125"},
        {"cp_size", "3"},
        {"cp_interleave", "64"},
        {"plan", "on"}}},
      {"mla_plan", {{"rows", "96"}, {"cp_size", "8"}}},
      {"mla_merge", {{"parts", "bf16"}, {"merged_lse", "off"}}},
      {"mla_scale", {{"part", "bf16"}, {"out", "bf16"}}},
      {"moe_experts", {}},
      {"moe_experts",
       {{"E", "112"},
        {"I", "3072"},
        {"input", "fp4"},
        {"intermediate", "fp8"},
        {"map", "on"},
        {"num_tokens", "on"}}},
      {"moe_experts",
       {{"E", "32"},
        {"activation", "silu"},
        {"w13", "aiter_interleaved"},
        {"map", "on"},
        {"G", "48"}}},
      {"moe_experts", {{"routes", "fp8"}, {"scale_mode", "even"}}},
      {"moe_pack", {{"N", "3584"}, {"K", "384"}, {"order", "aiter"}}},
      {"moe_pack", {{"interleaved", "on"}}},
      {"pack", {{"N", "64"}, {"type", "fp4"}, {"scales", "on"}}},
      {"pack", {{"K", "128"}, {"order", "aiter"}, {"type", "fp4"}}},
  };
  for (const auto &[op, settings] : cases) {
    EXPECT_EQ(foundKey(op, settings), key(op, settings));
  }
}

// What no settings can say is refused instead of being stored under a key that
// stands for something else.
TEST(SpecKey, OtherSpecsAreRefused) {
  driver::Session session;
  std::string text = llvm::cantFail(driver::specText("gemm", {}));
  text.replace(text.find("{epilogue"), 1, "{fused_norm = true, ");
  auto module = session.parseText(text, "spec");
  ASSERT_TRUE(module);
  auto found = driver::specSettings(*module);
  ASSERT_FALSE(bool(found));
  EXPECT_NE(llvm::toString(found.takeError()).find("no settings of tenon.gemm"),
            std::string::npos);
}

// A default that is spelled out is the same kernel.
TEST(SpecKey, DefaultsMayBeSpelledOut) {
  driver::Session session;
  std::string text = llvm::cantFail(driver::specText("gemm", {}));
  text.replace(text.find("{epilogue"), 1, "{expected_tokens = 16 : i64, ");
  auto module = session.parseText(text, "spec");
  ASSERT_TRUE(module);
  EXPECT_TRUE(bool(driver::specSettings(*module)));
}
