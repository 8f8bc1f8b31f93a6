//===- OpCatalogue.cpp - the ops by name ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Driver/OpCatalogue.h"

#include "OpDocs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <fmt/format.h>

#include <cmath>

using namespace tenon;
using namespace tenon::driver;
using llvm::StringRef;

using Values = llvm::StringMap<std::string>;

//===----------------------------------------------------------------------===//
// tenon.kda_decode
//===----------------------------------------------------------------------===//

static constexpr StringRef onOff[] = {"on", "off"};
static constexpr StringRef gates[] = {"bounded", "softplus"};
static constexpr StringRef nullSlots[] = {"le0", "lt0"};
static constexpr StringRef convLayouts[] = {"sd", "ds"};
static constexpr StringRef stateLayouts[] = {"vk", "kv"};
static constexpr StringRef normWeights[] = {"f32", "bf16"};

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

/// A number as MLIR writes floats: shortest, with a point.
static std::string floatText(const std::string &text) {
  std::string number = fmt::format("{}", std::stod(text));
  if (number.find('.') == std::string::npos) {
    size_t exponent = std::min(number.find('e'), number.size());
    number.insert(exponent, ".0");
  }
  return number;
}

static std::string kdaDecodeSpec(Values values) {
  int64_t heads = 0;
  (void)StringRef(values["H"]).getAsInteger(10, heads);
  bool norm = values["norm"] == "on";
  bool start = values["conv_start"] == "on";
  bool bounded = values["gate"] == "bounded";
  int64_t width = heads * 128;
  std::string conv =
      values["conv_layout"] == "sd"
          ? fmt::format("memref<?x?x{0}xbf16, strided<[?, {0}, 1]>>", 3 * width)
          : fmt::format("memref<?x{}x?xbf16, strided<[?, ?, 1]>>", 3 * width);
  auto rows = [](int64_t columns) {
    return fmt::format("memref<?x{}xbf16, strided<[?, 1]>>", columns);
  };
  std::vector<std::pair<std::string, std::string>> operands = {
      {"qkv", rows(3 * width)},
      {"raw_g", rows(width)},
      {"raw_beta", rows(heads)}};
  if (norm) {
    operands.emplace_back("out_gate", rows(width));
  }
  operands.emplace_back("conv_weight",
                        fmt::format("memref<{}x4xf32>", 3 * width));
  operands.emplace_back("a_log", fmt::format("memref<{}xf32>", heads));
  operands.emplace_back("dt_bias", fmt::format("memref<{}xf32>", width));
  if (norm) {
    operands.emplace_back("norm_weight",
                          fmt::format("memref<128x{}>", values["norm_weight"]));
  }
  operands.emplace_back("conv_state", conv);
  if (start) {
    operands.emplace_back("conv_start", "memref<?xi32>");
  }
  operands.emplace_back(
      "state", fmt::format("memref<?x{}x128x128xf32, #tenon.state_layout<{}>>",
                           heads, values["state_layout"]));
  operands.emplace_back("slot", "memref<?xi32, strided<[?]>>");
  operands.emplace_back("out", rows(width));

  std::string args;
  std::string uses;
  for (const auto &[name, type] : operands) {
    args += fmt::format("{}\n    %{}: {}", args.empty() ? "" : ",", name, type);
    uses += fmt::format("\n    {0}(%{0} : {1})", name, type);
  }
  std::string attrs = fmt::format(
      "heads = {} : i64, head_dim = {} : i64, gate = #tenon<gate {}>,{} "
      "output_norm = {},\n     qk_eps = {} : f64,{} null_slot = "
      "#tenon<null_slot {}>, conv_layout = #tenon<conv_layout {}>",
      heads, values["D"], values["gate"],
      bounded ? fmt::format(" lower_bound = {} : f64,",
                            floatText(values["lower_bound"]))
              : "",
      norm ? "true" : "false", floatText(values["qk_eps"]),
      norm ? fmt::format(" norm_eps = {} : f64,", floatText(values["norm_eps"]))
           : "",
      values["null_slot"], values["conv_layout"]);
  return fmt::format("func.func @kda_decode({}) {{\n  tenon.kda_decode{}\n    "
                     "{{{}}}\n  return\n}}\n",
                     args, uses, attrs);
}

//===----------------------------------------------------------------------===//
// The catalogue
//===----------------------------------------------------------------------===//

static constexpr OpEntry entries[] = {
    {"kda_decode", "one decode step of Kimi Delta Attention for N requests",
     kdaDecodeParameters},
};

llvm::ArrayRef<OpEntry> driver::opCatalogue() { return entries; }

static llvm::Expected<const OpEntry *> findOp(StringRef name) {
  name.consume_front("tenon.");
  const OpEntry *found = llvm::find_if(
      entries, [&](const OpEntry &entry) { return entry.name == name; });
  if (found != std::end(entries)) {
    return found;
  }
  std::string known = llvm::join(
      llvm::map_range(entries, [](const OpEntry &entry) { return entry.name; }),
      ", ");
  return llvm::createStringError("unknown op '" + name.str() +
                                 "'; there are: " + known);
}

llvm::Expected<std::string> driver::opContract(StringRef name) {
  auto entry = findOp(name);
  if (!entry) {
    return entry.takeError();
  }
  // One section per op in the page that mlir-tblgen writes.
  std::string heading = fmt::format("### `tenon.{}`", (*entry)->name.str());
  StringRef page = tenonOpDocs;
  size_t begin = page.find(heading);
  size_t end = std::min(page.find("\n### ", begin + heading.size()),
                        page.find("\n## ", begin + heading.size()));
  std::string text = page.slice(begin, end).str();
  text += "\n#### Parameters of `--set`\n\n| name | default | values | meaning "
          "|\n|---|---|---|---|\n";
  for (const OpParameter &parameter : (*entry)->parameters) {
    text += fmt::format("| {} | {} | {} | {} |\n", parameter.name.str(),
                        parameter.defaultValue.str(),
                        parameter.choices.empty()
                            ? "number"
                            : llvm::join(parameter.choices, ", "),
                        parameter.help.str());
  }
  return text;
}

/// Checks one value against its parameter.
static llvm::Error checkValue(const OpParameter &parameter, StringRef value) {
  if (!parameter.choices.empty()) {
    if (llvm::is_contained(parameter.choices, value)) {
      return llvm::Error::success();
    }
    return llvm::createStringError("--set " + parameter.name.str() +
                                   ": expected " +
                                   llvm::join(parameter.choices, " or ") +
                                   ", found '" + value.str() + "'");
  }
  double number = 0.0;
  int64_t integer = 0;
  bool whole = StringRef(parameter.defaultValue).find_first_of(".e") ==
                   StringRef::npos &&
               parameter.defaultValue[0] != '-';
  if (value.trim() != value ||
      (whole ? value.getAsInteger(10, integer) || integer <= 0
             : value.getAsDouble(number) || !std::isfinite(number))) {
    return llvm::createStringError("--set " + parameter.name.str() +
                                   ": expected a " +
                                   (whole ? "positive integer" : "number") +
                                   ", found '" + value.str() + "'");
  }
  return llvm::Error::success();
}

llvm::Expected<std::string>
driver::specText(StringRef name,
                 llvm::ArrayRef<std::pair<std::string, std::string>> settings) {
  auto entry = findOp(name);
  if (!entry) {
    return entry.takeError();
  }
  Values values;
  for (const OpParameter &parameter : (*entry)->parameters) {
    values[parameter.name] = parameter.defaultValue.str();
  }
  for (const auto &[key, value] : settings) {
    const OpParameter *parameter =
        llvm::find_if((*entry)->parameters, [&](const OpParameter &candidate) {
          return candidate.name == key;
        });
    if (parameter == (*entry)->parameters.end()) {
      std::string known = llvm::join(
          llvm::map_range((*entry)->parameters,
                          [](const OpParameter &other) { return other.name; }),
          ", ");
      return llvm::createStringError(
          "--set " + key + ": " + (*entry)->name.str() +
          " has no such parameter; there are: " + known);
    }
    if (llvm::Error error = checkValue(*parameter, value)) {
      return std::move(error);
    }
    values[key] = value;
  }
  return kdaDecodeSpec(values);
}
