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

static constexpr StringRef onOff[] = {"on", "off"};

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

static constexpr StringRef gemmFormats[] = {"bf16", "fp8", "mxfp4",
                                            "mxfp8_mxfp4", "bf16_mxfp4"};
static constexpr StringRef gemmOuts[] = {"bf16", "f32"};
static constexpr StringRef gemmEpilogues[] = {"none", "add", "sigmoid_gate",
                                              "situ", "silu"};
static constexpr StringRef weightLayouts[] = {"row_major", "packed", "aiter",
                                              "aiter_interleaved"};

static constexpr StringRef scaleLayouts[] = {"row_major", "packed"};

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
    {"expected_tokens", "16", "the M that schedules are ranked for", {}},
};

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
  std::vector<Operand> operands = {{"qkv", rows(3 * width)},
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
  return functionText("kda_decode", operands, {}, "{" + attrs + "}");
}

//===----------------------------------------------------------------------===//
// tenon.pack
//===----------------------------------------------------------------------===//

static constexpr StringRef packTypes[] = {"bf16", "fp8", "fp4"};
static constexpr StringRef packOrders[] = {"packed", "aiter",
                                           "aiter_interleaved"};

static constexpr OpParameter packParameters[] = {
    {"N", "?", "rows of weights", {}},
    {"K", "?", "size of a row of weights", {}},
    {"type", "bf16", "type of weights", packTypes},
    {"order", "packed", "order to write them in", packOrders},
    {"scales", "off", "whether there are scales per block of 32", onOff},
};

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
// The catalogue
//===----------------------------------------------------------------------===//

static constexpr OpEntry entries[] = {
    {"gemm", "a product of activations and weights with an epilogue",
     gemmParameters},
    {"kda_decode", "one decode step of Kimi Delta Attention for N requests",
     kdaDecodeParameters},
    {"pack", "weights from row-major into the order that a kernel reads",
     packParameters},
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
                        !parameter.choices.empty()
                            ? llvm::join(parameter.choices, ", ")
                        : parameter.defaultValue == "?" ? "number or ?"
                                                        : "number",
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
  bool isSize = parameter.defaultValue == "?";
  if (isSize && value == "?") {
    return llvm::Error::success();
  }
  bool whole = StringRef(parameter.defaultValue).find_first_of(".e") ==
                   StringRef::npos &&
               parameter.defaultValue[0] != '-';
  if (value.trim() != value ||
      (whole ? value.getAsInteger(10, integer) || integer <= 0
             : value.getAsDouble(number) || !std::isfinite(number))) {
    return llvm::createStringError("--set " + parameter.name.str() +
                                   ": expected a " +
                                   (isSize  ? "positive integer or ?"
                                    : whole ? "positive integer"
                                            : "number") +
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
  return (*entry)->name == "gemm"   ? gemmSpec(values)
         : (*entry)->name == "pack" ? packSpec(values)
                                    : kdaDecodeSpec(values);
}
