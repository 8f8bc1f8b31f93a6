//===- OpCatalogue.cpp - the ops by name ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Driver/OpCatalogue.h"

#include "OpDocs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace tenon;
using namespace tenon::driver;
using llvm::StringRef;

using Values = llvm::StringMap<std::string>;

/// A number as MLIR writes floats: shortest, with a point.
static std::string floatText(const std::string &text) {
  std::string number = fmt::format("{}", std::stod(text));
  if (number.find('.') == std::string::npos) {
    size_t exponent = std::min(number.find('e'), number.size());
    number.insert(exponent, ".0");
  }
  return number;
}

/// An operand of a spec and its type.
using Operand = std::pair<std::string, std::string>;

/// A function called \p op that holds this op alone. \p indices are arguments
/// of type index, \p tail is what follows the operands.
static std::string functionText(StringRef op, llvm::ArrayRef<Operand> operands,
                                llvm::ArrayRef<std::string> indices,
                                StringRef tail) {
  std::string args;
  std::string uses;
  for (const auto &[name, type] : operands) {
    args += fmt::format("{}\n    %{}: {}", args.empty() ? "" : ",", name, type);
    uses += fmt::format("\n    {0}(%{0} : {1})", name, type);
  }
  for (const std::string &index : indices) {
    args += fmt::format(",\n    %{}: index", index);
  }
  return fmt::format("func.func @{0}({1}) {{\n  tenon.{0}{2}\n    {3}\n  "
                     "return\n}}\n",
                     op.str(), args, uses, tail.str());
}

//===----------------------------------------------------------------------===//
// tenon.gemm
//===----------------------------------------------------------------------===//

/// A size over \p divisor; one that varies stays so.
static std::string sizeText(const std::string &size, int64_t divisor) {
  int64_t number = 0;
  bool varies = StringRef(size).getAsInteger(10, number);
  return varies ? size : std::to_string(number / divisor);
}

static std::string gemmSpec(Values values) {
  const std::string &format = values["format"];
  std::string n = values["N"];
  std::string k = values["K"];
  bool block = format.find("mx") != std::string::npos;
  bool gated = values["epilogue"] == "situ" || values["epilogue"] == "silu";
  std::string columns = gated ? sizeText(n, 2) : n;
  std::string blocks = sizeText(k, 32);
  std::string x = format == "bf16" || format == "bf16_mxfp4" ? "bf16"
                  : format == "mxfp4"                        ? "f4E2M1FN"
                                                             : "f8E4M3FN";
  std::string weights = block ? "f4E2M1FN" : x;
  auto memref = [](const std::string &rows, const std::string &size,
                   const std::string &element, const std::string &layout) {
    return fmt::format("memref<{}x{}x{}, {}>", rows, size, element, layout);
  };
  std::string strided = "strided<[?, 1]>";
  std::string order =
      values["weights"] == "row_major"
          ? strided
          : fmt::format("#tenon.weight_layout<{}>", values["weights"]);
  std::vector<Operand> operands = {{"x", memref("?", k, x, strided)},
                                   {"weights", memref(n, k, weights, order)}};
  if (block && format != "bf16_mxfp4") {
    operands.emplace_back("x_scale",
                          memref("?", blocks, "f8E8M0FNU",
                                 values["x_scale"] == "row_major"
                                     ? strided
                                     : "#tenon.weight_layout<packed>"));
  } else if (format == "fp8") {
    operands.emplace_back("x_scale", "memref<?xf32>");
  }
  if (block) {
    operands.emplace_back("weight_scale",
                          memref(n, blocks, "f8E8M0FNU", order));
  } else if (format == "fp8") {
    operands.emplace_back("weight_scale", fmt::format("memref<{}xf32>", n));
  }
  if (values["epilogue"] == "sigmoid_gate") {
    operands.emplace_back("multiplicand",
                          memref("?", columns, "bf16", strided));
  }
  operands.emplace_back("out", memref("?", columns, values["out"], strided));

  std::vector<std::string> indices;
  std::string tail;
  if (values["columns"] == "on") {
    indices.insert(indices.end(), {"col_begin", "col_end"});
    tail += "columns(%col_begin to %col_end) ";
  }
  if (values["rows"] == "on") {
    indices.insert(indices.end(), {"row_begin", "row_end"});
    tail += "rows(%row_begin to %row_end) ";
  }
  tail += fmt::format("{{epilogue = #tenon<epilogue {}>", values["epilogue"]);
  if (values["epilogue"] == "situ") {
    tail += fmt::format(", beta = {} : f64, linear_beta = {} : f64",
                        floatText(values["beta"]),
                        floatText(values["linear_beta"]));
  }
  if (values["expected_tokens"] != "16") {
    tail +=
        fmt::format(", expected_tokens = {} : i64", values["expected_tokens"]);
  }
  return functionText("gemm", operands, indices, tail + "}");
}

//===----------------------------------------------------------------------===//
// tenon.kda_decode
//===----------------------------------------------------------------------===//

namespace {
/// Types of operands of the KDA ops.
struct KdaTypes {
  explicit KdaTypes(Values &values) : values(values) {
    (void)StringRef(values["H"]).getAsInteger(10, heads);
    width = heads * 128;
  }

  /// bf16 rows of \p columns, with a stride that varies.
  static std::string rows(int64_t columns) {
    return fmt::format("memref<?x{}xbf16, strided<[?, 1]>>", columns);
  }
  std::string convPool() const {
    return values["conv_layout"] == "sd"
               ? fmt::format("memref<?x?x{0}xbf16, strided<[?, {0}, 1]>>",
                             3 * width)
               : fmt::format("memref<?x{}x?xbf16, strided<[?, ?, 1]>>",
                             3 * width);
  }
  std::string statePool() const {
    return fmt::format("memref<?x{}x128x128xf32, #tenon.state_layout<{}>>",
                       heads, values["state_layout"]);
  }
  bool norm() const { return values["norm"] == "on"; }

  Values &values;
  int64_t heads = 0;
  int64_t width = 0;
};
} // namespace

/// The operands that KDA ops begin with.
static std::vector<Operand> kdaInputs(const KdaTypes &types) {
  int64_t width = types.width;
  std::vector<Operand> operands = {{"qkv", KdaTypes::rows(3 * width)},
                                   {"raw_g", KdaTypes::rows(width)},
                                   {"raw_beta", KdaTypes::rows(types.heads)}};
  if (types.norm()) {
    operands.emplace_back("out_gate", KdaTypes::rows(width));
  }
  operands.emplace_back("conv_weight",
                        fmt::format("memref<{}x4xf32>", 3 * width));
  operands.emplace_back("a_log", fmt::format("memref<{}xf32>", types.heads));
  operands.emplace_back("dt_bias", fmt::format("memref<{}xf32>", width));
  if (types.norm()) {
    operands.emplace_back(
        "norm_weight",
        fmt::format("memref<128x{}>", types.values["norm_weight"]));
  }
  operands.emplace_back("conv_state", types.convPool());
  return operands;
}

/// The attributes that KDA ops share.
static std::string kdaAttributes(const KdaTypes &types) {
  Values &values = types.values;
  bool bounded = values["gate"] == "bounded";
  return fmt::format(
      "heads = {} : i64, head_dim = {} : i64, gate = #tenon<gate {}>,{} "
      "output_norm = {},\n     qk_eps = {} : f64,{} null_slot = "
      "#tenon<null_slot {}>, conv_layout = #tenon<conv_layout {}>",
      types.heads, values["D"], values["gate"],
      bounded ? fmt::format(" lower_bound = {} : f64,",
                            floatText(values["lower_bound"]))
              : "",
      types.norm() ? "true" : "false", floatText(values["qk_eps"]),
      types.norm()
          ? fmt::format(" norm_eps = {} : f64,", floatText(values["norm_eps"]))
          : "",
      values["null_slot"], values["conv_layout"]);
}

static std::string kdaDecodeSpec(Values values) {
  KdaTypes types(values);
  std::vector<Operand> operands = kdaInputs(types);
  if (values["conv_start"] == "on") {
    operands.emplace_back("conv_start", "memref<?xi32>");
  }
  operands.emplace_back("state", types.statePool());
  operands.emplace_back("slot", "memref<?xi32, strided<[?]>>");
  operands.emplace_back("out", KdaTypes::rows(types.width));
  return functionText("kda_decode", operands, {},
                      "{" + kdaAttributes(types) + "}");
}

//===----------------------------------------------------------------------===//
// tenon.kda_plan and tenon.kda_prefill
//===----------------------------------------------------------------------===//

static std::string kdaPlanSpec(Values) {
  return functionText(
      "kda_plan",
      {{"cu_seqlens", "memref<?xi32>"}, {"plan", "memref<?x4xi32>"}}, {}, "");
}

static std::string kdaPrefillSpec(Values values) {
  KdaTypes types(values);
  std::vector<Operand> operands = kdaInputs(types);
  auto optional = [&](const char *name, const char *type) {
    if (values[name] == "on") {
      operands.emplace_back(name, type);
    }
  };
  operands.emplace_back("state", types.statePool());
  operands.emplace_back("cu_seqlens", "memref<?xi32>");
  operands.emplace_back("slot", "memref<?xi32, strided<[?]>>");
  optional("initial_slot", "memref<?xi32, strided<[?]>>");
  optional("has_initial_state", "memref<?xi8>");
  optional("row", "memref<?xi32>");
  if (values["checkpoints"] != "off") {
    bool several = values["checkpoints"] == "several";
    std::string type = several ? "memref<?x?xi32>" : "memref<?xi32>";
    operands.emplace_back("checkpoint_offset", type);
    operands.emplace_back("checkpoint_slot", type);
    operands.emplace_back("checkpoint_state", types.statePool());
    operands.emplace_back("checkpoint_conv", types.convPool());
  }
  optional("plan", "memref<?x4xi32>");
  operands.emplace_back("out", KdaTypes::rows(types.width));

  std::vector<std::string> indices;
  std::string tail;
  if (values["max_seq_len"] == "on") {
    indices.push_back("max_seq_len");
    tail = "max_seq_len(%max_seq_len)\n    ";
  }
  tail += fmt::format("{{{},\n     products = #tenon<products {}>",
                      kdaAttributes(types), values["products"]);
  if (values["fp32_conv"] == "on") {
    tail += ", fp32_conv";
  }
  for (auto [name, absent] :
       {std::pair("expected_tokens", "4096"), {"expected_sequences", "1"}}) {
    if (values[name] != absent) {
      tail += fmt::format(", {} = {} : i64", name, values[name]);
    }
  }
  return functionText("kda_prefill", operands, indices, tail + "}");
}

//===----------------------------------------------------------------------===//
// tenon.moe_route
//===----------------------------------------------------------------------===//

static std::string moeRouteSpec(Values values) {
  std::vector<Operand> operands = {
      {"logits", fmt::format("memref<?x{}x{}, strided<[?, 1]>>", values["E"],
                             values["logits"])}};
  if (values["bias"] == "on") {
    operands.emplace_back("bias", fmt::format("memref<{}xf32>", values["E"]));
  }
  operands.emplace_back("ids", fmt::format("memref<?x{}xi32>", values["K"]));
  operands.emplace_back("weights",
                        fmt::format("memref<?x{}xf32>", values["K"]));
  std::string attrs = fmt::format(
      "{{scoring = #tenon<scoring {}>, renormalize = {}, factor = {} : f64}}",
      values["scoring"], values["renormalize"] == "on" ? "true" : "false",
      floatText(values["factor"]));
  return functionText("moe_route", operands, {}, attrs);
}

//===----------------------------------------------------------------------===//
// tenon.moe_experts
//===----------------------------------------------------------------------===//

static std::string moeExpertsSpec(Values values) {
  auto number = [&](const char *name) {
    int64_t value = 0;
    (void)StringRef(values[name]).getAsInteger(10, value);
    return value;
  };
  int64_t d = number("D"), i = number("I");
  bool isSum = values["routes"] != "fp8";
  std::string perToken = fmt::format("memref<?x{}x", values["K"]);
  std::string rows = fmt::format("memref<?x{}xbf16, strided<[?, 1]>>", d);
  std::vector<Operand> operands = {{"x", rows}, {"ids", perToken + "i32>"}};
  if (isSum) {
    operands.emplace_back("weights", perToken + "f32>");
  }
  auto weights = [&](const std::string &name, int64_t n, int64_t k) {
    auto type = [&](int64_t columns, const char *element) {
      return fmt::format("memref<{}x{}x{}x{}, #tenon.weight_layout<{}>>",
                         values["E"], n, columns, element, values[name]);
    };
    operands.emplace_back(name, type(k, "f4E2M1FN"));
    operands.emplace_back(name + "_scale", type(k / 32, "f8E8M0FNU"));
  };
  weights("w13", 2 * i, d);
  weights("w2", d, i);
  if (values["map"] == "on") {
    operands.emplace_back("expert_map",
                          fmt::format("memref<{}xi32>", values["G"]));
  }
  if (values["num_tokens"] == "on") {
    operands.emplace_back("num_tokens", "memref<1xi32>");
  }
  // Codes and their scales, in whole lines of 64 bytes.
  operands.emplace_back(
      "out",
      isSum ? rows
            : fmt::format("{}{}xi8>", perToken, llvm::alignTo(d + d / 32, 64)));
  std::string attrs =
      fmt::format("{{activation = #tenon<activation {}>", values["activation"]);
  if (values["activation"] == "situ") {
    attrs += fmt::format(", beta = {} : f64, linear_beta = {} : f64",
                         floatText(values["beta"]),
                         floatText(values["linear_beta"]));
  }
  for (const char *name : {"input", "intermediate", "routes"}) {
    attrs += fmt::format(", {} = #tenon<format {}>", name, values[name]);
  }
  attrs +=
      fmt::format(", scale_mode = #tenon<scale_mode {}>", values["scale_mode"]);
  if (values["expected_tokens"] != "16") {
    attrs +=
        fmt::format(", expected_tokens = {} : i64", values["expected_tokens"]);
  }
  return functionText("moe_experts", operands, {}, attrs + "}");
}

//===----------------------------------------------------------------------===//
// tenon.moe_pack
//===----------------------------------------------------------------------===//

static std::string moePackSpec(Values values) {
  std::string order = fmt::format("#tenon.weight_layout<{}>", values["order"]);
  std::string weights =
      fmt::format("memref<?x{}x{}xf4E2M1FN, ", values["N"], values["K"]);
  std::string scales = fmt::format("memref<?x{}x{}xf8E8M0FNU, ", values["N"],
                                   sizeText(values["K"], 32));
  auto strided = [&](const std::string &row) {
    return fmt::format("strided<[?, {}, 1]>>", row);
  };
  return functionText("moe_pack",
                      {{"weights", weights + strided(values["K"])},
                       {"scales", scales + strided(sizeText(values["K"], 32))},
                       {"packed", weights + order + ">"},
                       {"packed_scales", scales + order + ">"}},
                      {}, values["interleaved"] == "on" ? "{interleaved}" : "");
}

//===----------------------------------------------------------------------===//
// tenon.mla_merge and tenon.mla_scale
//===----------------------------------------------------------------------===//

/// Of tenon.mla_scale with \p ofRank.
static std::string mergeSpec(Values values, bool ofRank) {
  auto rows = [](const std::string &type) {
    return fmt::format("memref<?x512x{}, strided<[?, 1]>>", type);
  };
  std::vector<Operand> operands;
  if (ofRank) {
    operands.emplace_back("part", rows(values["part"]));
  } else {
    operands.emplace_back(
        "parts",
        fmt::format("memref<?x?x512x{}, strided<[?, ?, 1]>>", values["parts"]));
  }
  operands.emplace_back("lse", "memref<?x?xf32, strided<[?, ?]>>");
  operands.emplace_back("out", rows(values["out"]));
  if (values["merged_lse"] == "on") {
    operands.emplace_back("merged_lse", "memref<?xf32, strided<[?]>>");
  }
  if (ofRank) {
    return functionText("mla_scale", operands, {"rank"}, "rank(%rank)");
  }
  return functionText("mla_merge", operands, {}, "");
}

static std::string mlaMergeSpec(Values values) {
  return mergeSpec(std::move(values), /*ofRank=*/false);
}

static std::string mlaScaleSpec(Values values) {
  return mergeSpec(std::move(values), /*ofRank=*/true);
}

//===----------------------------------------------------------------------===//
// tenon.mla_decode and tenon.mla_plan
//===----------------------------------------------------------------------===//

static std::string mlaDecodeSpec(Values values) {
  bool packed = values["packed"] == "on";
  bool rope = values["q_rope"] == "on";
  // Dimensions of queries and heads, all strides but the last free.
  auto rows = [&](const std::string &columns, const std::string &element) {
    std::string strides = packed ? "?" : "?, ?";
    std::string shape = fmt::format("{}x{}", packed ? "?" : "?x?", values["H"]);
    if (!columns.empty()) {
      strides += ", ?";
      shape += "x" + columns;
    }
    return fmt::format("memref<{}x{}, strided<[{}, 1]>>", shape, element,
                       strides);
  };
  auto element = [&](const char *operand) -> std::string {
    return values[operand] == "fp8" ? "f8E4M3FN" : "bf16";
  };
  std::vector<Operand> operands = {
      {"q", rows(rope ? "512" : "576", element("q"))}};
  if (rope) {
    operands.emplace_back("q_rope", rows("64", element("q")));
  }
  if (packed) {
    operands.emplace_back("qo_indptr", "memref<?xi32>");
  }
  operands.emplace_back(
      "kv",
      fmt::format("memref<?x?x576x{}, strided<[?, ?, 1]>>", element("kv")));
  operands.emplace_back("block_table", "memref<?x?xi32, strided<[?, 1]>>");
  operands.emplace_back("seq_len", "memref<?xi32>");
  for (const char *operand : {"q", "kv"}) {
    if (values[operand] == "fp8") {
      operands.emplace_back(std::string(operand) + "_scale", "memref<1xf32>");
    }
  }
  if (values["plan"] == "on") {
    operands.emplace_back("plan", "memref<?x4xi32>");
  }
  operands.emplace_back("out", rows("512", values["out"]));
  if (values["lse"] == "on") {
    operands.emplace_back("lse", rows("", "f32"));
  }
  std::string tail = fmt::format(
      "cp_rank(%cp_rank)\n    {{max_queries = {} : i64, causal = {}, scale = "
      "{} "
      ": f64,\n     cp_size = {} : i64, cp_interleave = {} : i64",
      values["max_queries"], values["causal"] == "on" ? "true" : "false",
      floatText(values["scale"]), values["cp_size"], values["cp_interleave"]);
  if (values["bf16_probabilities"] == "on") {
    tail += ", bf16_probabilities";
  }
  return functionText("mla_decode", operands, {"cp_rank"}, tail + "}");
}

static std::string mlaPlanSpec(Values values) {
  return functionText(
      "mla_plan", {{"seq_len", "memref<?xi32>"}, {"plan", "memref<?x4xi32>"}},
      {"cp_rank"},
      fmt::format("cp_rank(%cp_rank)\n    {{rows = {} : i64, workgroups = {} : "
                  "i64, cp_size = {} : i64, cp_interleave = {} : i64}}",
                  values["rows"], values["workgroups"], values["cp_size"],
                  values["cp_interleave"]));
}

//===----------------------------------------------------------------------===//
// tenon.pack
//===----------------------------------------------------------------------===//

static std::string packSpec(Values values) {
  std::string element = values["type"] == "bf16"  ? "bf16"
                        : values["type"] == "fp8" ? "f8E4M3FN"
                                                  : "f4E2M1FN";
  std::string order = fmt::format("#tenon.weight_layout<{}>", values["order"]);
  auto memref = [&](const std::string &columns, const std::string &type,
                    const std::string &layout) {
    return fmt::format("memref<{}x{}x{}, {}>", values["N"], columns, type,
                       layout);
  };
  std::string strided = "strided<[?, 1]>";
  std::string blocks = sizeText(values["K"], 32);
  bool scales = values["scales"] == "on";
  std::vector<Operand> operands = {
      {"weights", memref(values["K"], element, strided)}};
  if (scales) {
    operands.emplace_back("scales", memref(blocks, "f8E8M0FNU", strided));
  }
  operands.emplace_back("packed", memref(values["K"], element, order));
  if (scales) {
    operands.emplace_back("packed_scales", memref(blocks, "f8E8M0FNU", order));
  }
  return functionText("pack", operands, {}, "");
}

//===----------------------------------------------------------------------===//
// Contracts and specs
//===----------------------------------------------------------------------===//

/// The function that writes specs of an op.
static std::string (*writerOf(std::string_view op))(Values) {
  return op == "gemm"          ? gemmSpec
         : op == "pack"        ? packSpec
         : op == "kda_plan"    ? kdaPlanSpec
         : op == "kda_prefill" ? kdaPrefillSpec
         : op == "mla_decode"  ? mlaDecodeSpec
         : op == "mla_merge"   ? mlaMergeSpec
         : op == "mla_plan"    ? mlaPlanSpec
         : op == "mla_scale"   ? mlaScaleSpec
         : op == "moe_experts" ? moeExpertsSpec
         : op == "moe_pack"    ? moePackSpec
         : op == "moe_route"   ? moeRouteSpec
                               : kdaDecodeSpec;
}

llvm::Expected<std::string> driver::opContract(StringRef name) {
  runtime::Result<const runtime::OpEntry *> entry = runtime::findOp(name);
  if (!entry) {
    return llvm::createStringError(entry.error().message);
  }
  // One section per op in the page that mlir-tblgen writes.
  std::string heading = fmt::format("### `tenon.{}`", (*entry)->name);
  StringRef page = tenonOpDocs;
  size_t begin = page.find(heading);
  size_t end = std::min(page.find("\n### ", begin + heading.size()),
                        page.find("\n## ", begin + heading.size()));
  std::string text = page.slice(begin, end).str();
  text += "\n#### Parameters of `--set`\n\n| name | default | values | meaning "
          "|\n|---|---|---|---|\n";
  for (const runtime::OpParameter &parameter : (*entry)->parameters) {
    text += fmt::format(
        "| {} | {} | {} | {} |\n", parameter.name, parameter.defaultValue,
        !parameter.choices.empty()
            ? fmt::format("{}", fmt::join(parameter.choices, ", "))
        : parameter.defaultValue == "?" ? "number or ?"
                                        : "number",
        parameter.help);
  }
  return text;
}

llvm::Expected<std::string>
driver::specText(StringRef name,
                 llvm::ArrayRef<std::pair<std::string, std::string>> settings) {
  runtime::Result<const runtime::OpEntry *> entry = runtime::findOp(name);
  if (!entry) {
    return llvm::createStringError(entry.error().message);
  }
  auto complete = runtime::completeSettings(
      **entry, runtime::Settings(settings.begin(), settings.end()));
  if (auto *error = std::get_if<runtime::SettingError>(&complete)) {
    return llvm::createStringError("--set " + error->parameter + ": " +
                                   error->message);
  }
  Values values;
  for (const auto &[key, value] : std::get<runtime::Settings>(complete)) {
    values[key] = value;
  }
  return writerOf((*entry)->name)(values);
}
