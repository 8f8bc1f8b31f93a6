//===- OpParameters.cpp - the static parameters of the ops ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/OpParameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace tenon::runtime {

static constexpr std::string_view onOff[] = {"on", "off"};

//===----------------------------------------------------------------------===//
// tenon.gemm
//===----------------------------------------------------------------------===//

static constexpr std::string_view gemmFormats[] = {"bf16", "fp8", "mxfp4",
                                                   "mxfp8_mxfp4", "bf16_mxfp4"};
static constexpr std::string_view gemmOuts[] = {"bf16", "f32"};
static constexpr std::string_view gemmEpilogues[] = {
    "none", "add", "sigmoid_gate", "situ", "silu"};
static constexpr std::string_view weightLayouts[] = {
    "row_major", "packed", "aiter", "aiter_interleaved"};

static constexpr std::string_view scaleLayouts[] = {"row_major", "packed"};

static constexpr OpParameter gemmParameters[] = {
    {"N", "?", "rows of weights", {}},
    {"K", "?", "size of a row of x and of weights", {}},
    {"format", "bf16", "types of x and weights", gemmFormats},
    {"out", "bf16", "type of out", gemmOuts},
    {"epilogue", "none", "what becomes of the products", gemmEpilogues},
    {"beta", "4.0", "of the epilogue situ", {}},
    {"linear_beta", "25.0", "of the epilogue situ", {}},
    {"weights", "row_major", "order of weights and of scales per block of them",
     weightLayouts},
    {"x_scale", "row_major", "order of scales per block of x", scaleLayouts},
    {"columns", "off", "whether a call brings a range of columns", onOff},
    {"rows", "off", "whether a call brings a range of rows", onOff},
    {"expected_tokens", "16", "the M that schedules are ranked for", {}, "M"},
};

//===----------------------------------------------------------------------===//
// tenon.kda_decode
//===----------------------------------------------------------------------===//

static constexpr std::string_view gates[] = {"bounded", "softplus"};
static constexpr std::string_view nullSlots[] = {"le0", "lt0"};
static constexpr std::string_view convLayouts[] = {"sd", "ds"};
static constexpr std::string_view stateLayouts[] = {"vk", "kv"};
static constexpr std::string_view normWeights[] = {"f32", "bf16"};

static constexpr OpParameter kdaDecodeParameters[] = {
    {"H", "12", "heads of this rank", {}},
    {"D", "128", "size of a head; 128", {}},
    {"gate", "bounded", "activation of the decay gate", gates},
    {"lower_bound", "-5", "of the bounded gate, in [-5, 0)", {}},
    {"norm", "on", "output RMSNorm and sigmoid gate", onOff},
    {"qk_eps", "1e-6", "added to the sums of squares of q and k", {}},
    {"norm_eps", "1e-5", "added to the mean of squares of the output", {}},
    {"null_slot", "le0", "which slots are padding: slot <= 0, or slot < 0",
     nullSlots},
    {"conv_layout", "sd", "conv_state [S, L, 3HD] or [S, 3HD, L]", convLayouts},
    {"state_layout", "vk",
     "state [S, H, v, k] or [S, H, k, v]; both have one shape, so a transposed "
     ".npy file cannot be detected",
     stateLayouts},
    {"conv_start", "off", "whether the operand conv_start is present", onOff},
    {"norm_weight", "f32", "type of norm_weight", normWeights},
};

//===----------------------------------------------------------------------===//
// tenon.kda_prefill
//===----------------------------------------------------------------------===//

static constexpr std::string_view products[] = {"bf16", "f16", "fp32"};
static constexpr std::string_view checkpointShapes[] = {"off", "one",
                                                        "several"};

static constexpr OpParameter kdaPrefillParameters[] = {
    {"H", "12", "heads of this rank", {}},
    {"D", "128", "size of a head; 128", {}},
    {"gate", "bounded", "activation of the decay gate", gates},
    {"lower_bound", "-5", "of the bounded gate, in [-5, 0)", {}},
    {"norm", "on", "output RMSNorm and sigmoid gate", onOff},
    {"qk_eps", "1e-6", "added to the sums of squares of q and k", {}},
    {"norm_eps", "1e-5", "added to the mean of squares of the output", {}},
    {"null_slot", "le0", "which slots are padding: slot <= 0, or slot < 0",
     nullSlots},
    {"conv_layout", "sd", "conv_state [S, L, 3HD] or [S, 3HD, L]", convLayouts},
    {"state_layout", "vk",
     "state [S, H, v, k] or [S, H, k, v]; both have one shape, so a transposed "
     ".npy file cannot be detected",
     stateLayouts},
    {"norm_weight", "f32", "type of norm_weight", normWeights},
    {"products", "bf16", "what matrix products are made of", products},
    {"fp32_conv", "off", "whether the convolution's output stays FP32", onOff},
    {"initial_slot", "off", "whether the operand initial_slot is present",
     onOff},
    {"has_initial_state", "off",
     "whether the operand has_initial_state is present", onOff},
    {"row", "off", "whether tokens are gathered from rows", onOff},
    {"checkpoints", "off", "checkpoints of a sequence: [N] or [N, M]",
     checkpointShapes},
    {"plan", "off", "whether the operand plan is present", onOff},
    {"max_seq_len", "on", "whether max_seq_len comes with a call", onOff},
    {"expected_tokens", "4096", "the T that schedules are ranked for", {}, "T"},
    {"expected_sequences", "1", "the N that schedules are ranked for", {}, "N"},
};

//===----------------------------------------------------------------------===//
// tenon.moe_route
//===----------------------------------------------------------------------===//

static constexpr std::string_view logitTypes[] = {"f32", "bf16"};
static constexpr std::string_view scorings[] = {"sigmoid", "softmax"};

static constexpr OpParameter moeRouteParameters[] = {
    {"E", "896", "experts", {}},
    {"K", "16", "experts of a token", {}},
    {"logits", "f32", "type of logits", logitTypes},
    {"scoring", "sigmoid", "how logits become scores", scorings},
    {"bias", "on", "whether the operand bias is present", onOff},
    {"renormalize", "on", "whether the weights of a token add up to factor",
     onOff},
    {"factor", "1.0", "of the weights", {}},
};

//===----------------------------------------------------------------------===//
// tenon.moe_experts
//===----------------------------------------------------------------------===//

static constexpr std::string_view activations[] = {"situ", "silu"};
static constexpr std::string_view operandFormats[] = {"bf16", "fp8", "fp4"};
static constexpr std::string_view routeFormats[] = {"bf16", "f32", "fp8"};
static constexpr std::string_view scaleModes[] = {"up", "floor", "even"};
static constexpr std::string_view w13Orders[] = {"packed", "aiter",
                                                 "aiter_interleaved"};
static constexpr std::string_view w2Orders[] = {"packed", "aiter"};

static constexpr OpParameter moeExpertsParameters[] = {
    {"E", "896", "experts on this rank", {}},
    {"K", "16", "experts of a token", {}},
    {"D", "3584", "width of x and out", {}},
    {"I", "384", "width of an expert", {}},
    {"activation", "situ", "what becomes of gate and up", activations},
    {"beta", "4.0", "of the activation situ", {}},
    {"linear_beta", "25.0", "of the activation situ", {}},
    {"input", "bf16", "what x is rounded to", operandFormats},
    {"intermediate", "bf16", "what the activation's result is rounded to",
     operandFormats},
    {"routes", "bf16",
     "what rows of routes are rounded to; fp8: they are the result, not summed",
     routeFormats},
    {"scale_mode", "up", "how scales of fp8 and fp4 are chosen", scaleModes},
    {"w13", "packed", "order of w13 and its scales", w13Orders},
    {"w2", "packed", "order of w2 and its scales", w2Orders},
    {"map", "off", "whether the operand expert_map is present", onOff},
    {"G", "896", "size of expert_map", {}},
    {"num_tokens", "off", "whether the operand num_tokens is present", onOff},
    {"expected_tokens", "16", "the T that schedules are ranked for", {}, "T"},
};

//===----------------------------------------------------------------------===//
// tenon.moe_pack
//===----------------------------------------------------------------------===//

static constexpr OpParameter moePackParameters[] = {
    {"N", "768", "rows of weights of an expert", {}},
    {"K", "3584", "size of a row of weights", {}},
    {"order", "packed", "order to write them in", w13Orders},
    {"interleaved", "off", "whether rows of gate and up alternate", onOff},
};

//===----------------------------------------------------------------------===//
// tenon.mla_merge and tenon.mla_scale
//===----------------------------------------------------------------------===//

static constexpr std::string_view partTypes[] = {"f32", "bf16"};

static constexpr OpParameter mlaMergeParameters[] = {
    {"parts", "f32", "type of parts", partTypes},
    {"out", "bf16", "type of out", partTypes},
    {"merged_lse", "on", "whether merged_lse is written", onOff},
};

static constexpr OpParameter mlaScaleParameters[] = {
    {"part", "f32", "type of part", partTypes},
    {"out", "f32", "type of out", partTypes},
    {"merged_lse", "on", "whether merged_lse is written", onOff},
};

//===----------------------------------------------------------------------===//
// tenon.mla_decode and tenon.mla_plan
//===----------------------------------------------------------------------===//

static constexpr std::string_view latentTypes[] = {"bf16", "fp8"};

static constexpr OpParameter mlaDecodeParameters[] = {
    {"H", "12", "heads of this rank, 1 to 128", {}},
    {"max_queries", "4", "query tokens of a request at most, 1 to 16", {}},
    {"q", "bf16", "type of q", latentTypes},
    {"kv", "bf16", "type of kv", latentTypes},
    {"out", "bf16", "type of out", partTypes},
    {"lse", "on", "whether lse is written", onOff},
    {"causal", "on", "whether query tokens mask those behind them", onOff},
    {"scale", "0.07216878364870322", "factor of scores, 192^-0.5", {}},
    {"q_rope", "off", "whether the last 64 columns of q are an operand", onOff},
    {"packed", "off", "whether query tokens are packed, with qo_indptr", onOff},
    {"cp_size", "1", "ranks that share the keys", {}},
    {"cp_interleave", "1", "keys of a rank that follow each other", {}},
    {"bf16_probabilities", "off",
     "whether weights of FP8 values are rounded to bf16, not FP8", onOff},
    {"plan", "off", "whether the operand plan is present", onOff},
};

static constexpr OpParameter mlaPlanParameters[] = {
    {"rows", "48", "heads times query tokens of a request", {}},
    {"workgroups", "256", "slots of parts that are worked on at a time", {}},
    {"cp_size", "1", "ranks that share the keys", {}},
    {"cp_interleave", "1", "keys of a rank that follow each other", {}},
};

//===----------------------------------------------------------------------===//
// tenon.pack
//===----------------------------------------------------------------------===//

static constexpr std::string_view packTypes[] = {"bf16", "fp8", "fp4"};
static constexpr std::string_view packOrders[] = {"packed", "aiter",
                                                  "aiter_interleaved"};

static constexpr OpParameter packParameters[] = {
    {"N", "?", "rows of weights", {}},
    {"K", "?", "size of a row of weights", {}},
    {"type", "bf16", "type of weights", packTypes},
    {"order", "packed", "order to write them in", packOrders},
    {"scales", "off", "whether there are scales per block of 32", onOff},
};

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

static constexpr OpEntry entries[] = {
    {"gemm", "a product of activations and weights with an epilogue",
     gemmParameters},
    {"kda_decode", "one decode step of Kimi Delta Attention for N requests",
     kdaDecodeParameters},
    {"kda_plan", "the chunks of a batch of sequences", {}},
    {"kda_prefill", "Kimi Delta Attention over N packed sequences of T tokens",
     kdaPrefillParameters},
    {"mla_decode", "attention of B requests over a paged latent cache",
     mlaDecodeParameters},
    {"mla_merge", "parts of attention over disjoint keys, merged",
     mlaMergeParameters},
    {"mla_plan", "how the histories of a batch are split over workgroups",
     mlaPlanParameters},
    {"mla_scale", "a rank's own part of attention, weighted for a sum",
     mlaScaleParameters},
    {"moe_experts", "the gated feed-forward layers of the K experts of a token",
     moeExpertsParameters},
    {"moe_pack", "weights of experts into the order that kernels read",
     moePackParameters},
    {"moe_route", "the K experts of each token and their weights",
     moeRouteParameters},
    {"pack", "weights from row-major into the order that a kernel reads",
     packParameters},
};

std::span<const OpEntry> opEntries() { return entries; }

/// The names of \p items with commas between.
template <typename Items> static std::string names(const Items &items) {
  std::vector<std::string_view> list;
  for (const auto &item : items) {
    list.push_back(item.name);
  }
  return fmt::format("{}", fmt::join(list, ", "));
}

Result<const OpEntry *> findOp(std::string_view name) {
  std::string_view plain = name;
  if (plain.starts_with("tenon.")) {
    plain.remove_prefix(6);
  }
  auto found =
      std::find_if(std::begin(entries), std::end(entries),
                   [&](const OpEntry &entry) { return entry.name == plain; });
  if (found != std::end(entries)) {
    return &*found;
  }
  return Error{
      fmt::format("unknown op '{}'; there are: {}", plain, names(entries))};
}

/// Whether \p text is one positive integer.
static bool isPositiveInteger(std::string_view text) {
  int64_t number = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() && number > 0;
}

static bool isFiniteNumber(std::string_view text) {
  double number = 0.0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() &&
         std::isfinite(number);
}

/// What was expected instead of \p value; empty when the parameter can take it.
static std::string expectation(const OpParameter &parameter,
                               std::string_view value) {
  if (!parameter.choices.empty()) {
    bool known = std::find(parameter.choices.begin(), parameter.choices.end(),
                           value) != parameter.choices.end();
    return known ? "" : fmt::format("{}", fmt::join(parameter.choices, " or "));
  }
  bool isSize = parameter.defaultValue == "?";
  if (isSize) {
    return value == "?" || isPositiveInteger(value) ? ""
                                                    : "a positive integer or ?";
  }
  bool whole =
      parameter.defaultValue.find_first_of(".e-") == std::string_view::npos;
  if (whole) {
    return isPositiveInteger(value) ? "" : "a positive integer";
  }
  return isFiniteNumber(value) ? "" : "a number";
}

std::variant<Settings, SettingError>
completeSettings(const OpEntry &op, const Settings &settings) {
  Settings complete;
  for (const OpParameter &parameter : op.parameters) {
    complete.emplace_back(parameter.name, parameter.defaultValue);
  }
  std::vector<bool> given(complete.size());
  for (const auto &[name, value] : settings) {
    auto found = std::find_if(
        op.parameters.begin(), op.parameters.end(),
        [&](const OpParameter &parameter) { return parameter.name == name; });
    if (found == op.parameters.end()) {
      return SettingError{name,
                          fmt::format("{} has no such parameter; there are: {}",
                                      op.name, names(op.parameters))};
    }
    size_t index = found - op.parameters.begin();
    if (given[index]) {
      return SettingError{name, "it is given twice"};
    }
    given[index] = true;
    std::string expected = expectation(*found, value);
    if (!expected.empty()) {
      return SettingError{
          name, fmt::format("expected {}, found '{}'", expected, value)};
    }
    complete[index].second = value;
  }
  return complete;
}

/// \p value in one spelling: numbers that are not whole as the shortest text.
static std::string canonical(const OpParameter &parameter,
                             const std::string &value) {
  if (!parameter.choices.empty() || value == "?") {
    return value;
  }
  return fmt::format("{}", std::strtod(value.c_str(), nullptr));
}

Result<KernelKey> kernelKey(std::string_view op, const Settings &settings) {
  Result<const OpEntry *> entry = findOp(op);
  if (!entry) {
    return entry.error();
  }
  auto complete = completeSettings(**entry, settings);
  if (auto *error = std::get_if<SettingError>(&complete)) {
    return Error{fmt::format("{}: {}: {}", (*entry)->name, error->parameter,
                             error->message)};
  }
  KernelKey key;
  key.op = (*entry)->name;
  const Settings &values = std::get<Settings>(complete);
  for (size_t i = 0; i < values.size(); ++i) {
    const OpParameter &parameter = (*entry)->parameters[i];
    std::string &text = parameter.bucketOf.empty() ? key.statics : key.bucket;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", values[i].first,
                        canonical(parameter, values[i].second));
  }
  return key;
}

Result<Settings> parseSettings(std::string_view text) {
  Settings settings;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    size_t equals = item.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      return Error{fmt::format("expected NAME=VALUE, found '{}'", item)};
    }
    settings.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return settings;
}

std::string compileOptions(const KernelKey &key) {
  std::string options = "--op " + key.op;
  Result<const OpEntry *> entry = findOp(key.op);
  for (const std::string &part : {key.statics, key.bucket}) {
    Result<Settings> settings = parseSettings(part);
    if (!settings) {
      continue;
    }
    for (const auto &[name, value] : *settings) {
      bool isDefault =
          entry &&
          std::any_of((*entry)->parameters.begin(), (*entry)->parameters.end(),
                      [&](const OpParameter &parameter) {
                        return parameter.name == name &&
                               canonical(parameter,
                                         std::string(parameter.defaultValue)) ==
                                   value;
                      });
      if (!isDefault) {
        options += fmt::format(" --set {}={}", name, value);
      }
    }
  }
  return options;
}

} // namespace tenon::runtime
