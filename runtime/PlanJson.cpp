//===- PlanJson.cpp - Plans as JSON -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One object:
//   {"version": 1, "name": "kda_decode",
//    "operands": [{"name": "qkv", "type": "bf16", "access": "read",
//                  "dims": ["N", 4608]}],
//    "scalars": ["row_begin"],
//    "exprs": [{"const": 4}, {"size": [0, 0]}, {"stride": [0, 0]},
//              {"ceildiv": [1, 0]}, {"select": ["gt", 1, 0, 3, 0]},
//              {"scalar": 0}],
//    "workspaces": [{"name": "partial", "bytes": 3, "align": 256,
//                    "zero": false}],
//    "launches": [{"kernel": "k", "grid": [1, 0, 0], "workgroup": [256, 1, 1],
//                  "dynamic_lds": 0, "kernarg_bytes": 24,
//                  "args": [{"offset": 0, "pointer": 0},
//                           {"offset": 8, "workspace": 0},
//                           {"offset": 16, "i32": 1},
//                           {"offset": 20, "f32": 1e-6}]}],
//    "preconditions": [
//       {"message": "...", "align": {"operand": 0, "bytes": 16}},
//       {"message": "...", "stride_multiple": {"operand": 0, "dim": 0, "of":
//       8}},
//       {"message": "...", "stride_equals": {"operand": 0, "dim": 1, "to": 1}},
//       {"message": "...", "compare": ["ge", 1, 0]}]}
// Operands, scalars, workspaces and expressions are named by their index. Every
// key but "scalars", which may be absent, is required and no other is allowed.
//
//===----------------------------------------------------------------------===//

#include "tenon/Runtime/Plan.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

using nlohmann::json;

namespace tenon::runtime {

static constexpr int formatVersion = 1;

static constexpr Comparison allComparisons[] = {Comparison::Eq, Comparison::Ne,
                                                Comparison::Lt, Comparison::Le,
                                                Comparison::Gt, Comparison::Ge};

static constexpr ExprKind binaryKinds[] = {
    ExprKind::Add,      ExprKind::Sub, ExprKind::Mul, ExprKind::CeilDiv,
    ExprKind::FloorDiv, ExprKind::Min, ExprKind::Max};

static constexpr std::string_view accessNames[] = {"read", "write",
                                                   "read_write"};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json toJson(const Expr &expr) {
  std::string key(name(expr.kind));
  switch (expr.kind) {
  case ExprKind::Constant:
    return {{key, expr.value}};
  case ExprKind::Size:
  case ExprKind::Stride:
    return {{key, {expr.operand, expr.dim}}};
  case ExprKind::Scalar:
    return {{key, expr.scalar}};
  case ExprKind::Select:
    return {{key,
             {name(expr.comparison), expr.lhs, expr.rhs, expr.ifTrue,
              expr.ifFalse}}};
  default:
    return {{key, {expr.lhs, expr.rhs}}};
  }
}

static json toJson(const PlanOperand &operand) {
  json dims = json::array();
  for (const OperandDim &dim : operand.dims) {
    dims.push_back(dim.symbol.empty() ? json(dim.size) : json(dim.symbol));
  }
  return {{"name", operand.name},
          {"type", operand.elementType},
          {"access", accessNames[unsigned(operand.access)]},
          {"dims", dims},
          {"layout", operand.layout}};
}

static json toJson(const Workspace &workspace) {
  return {{"name", workspace.name},
          {"bytes", workspace.bytes},
          {"align", workspace.alignment},
          {"zero", workspace.zeroInitialised}};
}

static json toJson(const KernelArg &arg) {
  json result = {{"offset", arg.offset}};
  switch (arg.kind) {
  case ArgKind::Pointer:
    result["pointer"] = arg.index;
    break;
  case ArgKind::Workspace:
    result["workspace"] = arg.index;
    break;
  case ArgKind::I32:
    result["i32"] = arg.expr;
    break;
  case ArgKind::I64:
    result["i64"] = arg.expr;
    break;
  case ArgKind::F32:
    result["f32"] = arg.constant;
    break;
  }
  return result;
}

static json toJson(const Launch &launch) {
  json args = json::array();
  for (const KernelArg &arg : launch.args) {
    args.push_back(toJson(arg));
  }
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"workgroup", launch.workgroupSize},
          {"dynamic_lds", launch.dynamicLds},
          {"kernarg_bytes", launch.kernargBytes},
          {"args", args}};
}

static json toJson(const Precondition &condition) {
  json result = {{"message", condition.message}};
  switch (condition.kind) {
  case PreconditionKind::BaseAlignment:
    result["align"] = {{"operand", condition.operand},
                       {"bytes", condition.value}};
    break;
  case PreconditionKind::StrideMultiple:
    result["stride_multiple"] = {{"operand", condition.operand},
                                 {"dim", condition.dim},
                                 {"of", condition.value}};
    break;
  case PreconditionKind::StrideEquals:
    result["stride_equals"] = {{"operand", condition.operand},
                               {"dim", condition.dim},
                               {"to", condition.value}};
    break;
  case PreconditionKind::Compare:
    result["compare"] = {name(condition.comparison), condition.lhs,
                         condition.rhs};
    break;
  }
  return result;
}

template <typename T> static json listToJson(const std::vector<T> &items) {
  json result = json::array();
  for (const T &item : items) {
    result.push_back(toJson(item));
  }
  return result;
}

std::string toJson(const Plan &plan) {
  json result = {{"version", formatVersion},
                 {"name", plan.name},
                 {"operands", listToJson(plan.operands)},
                 {"exprs", listToJson(plan.exprs)},
                 {"workspaces", listToJson(plan.workspaces)},
                 {"launches", listToJson(plan.launches)},
                 {"preconditions", listToJson(plan.preconditions)}};
  if (!plan.scalars.empty()) {
    result["scalars"] = plan.scalars;
  }
  // Names that are no UTF-8 must not throw here: replace what is not.
  return result.dump(1, ' ', false, json::error_handler_t::replace);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// Reads a plan and keeps the first complaint; after it the readers return
/// defaults, and their result is thrown away.
class PlanReader {
public:
  Result<Plan> read(std::string_view text) {
    json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (root.is_discarded()) {
      return Error{"plan: not valid JSON"};
    }
    Plan plan;
    if (root.is_object() && root.contains("scalars")) {
      readList(root["scalars"], plan.scalars, "scalars", &PlanReader::string);
      root.erase("scalars");
    }
    if (expectObject(root,
                     {"version", "name", "operands", "exprs", "workspaces",
                      "launches", "preconditions"},
                     "plan")) {
      auto version = integer<int64_t>(root["version"], "plan.version");
      if (version != formatVersion) {
        complain(fmt::format("plan.version: {} expected, {} found",
                             formatVersion, version));
      }
      plan.name = string(root["name"], "plan.name");
      readList(root["operands"], plan.operands, "operands",
               &PlanReader::operand);
      readList(root["exprs"], plan.exprs, "exprs", &PlanReader::expr);
      readList(root["workspaces"], plan.workspaces, "workspaces",
               &PlanReader::workspace);
      readList(root["launches"], plan.launches, "launches",
               &PlanReader::launch);
      readList(root["preconditions"], plan.preconditions, "preconditions",
               &PlanReader::precondition);
    }
    if (!status) {
      return status.error();
    }
    if (Status valid = validate(plan); !valid) {
      return valid.error();
    }
    return plan;
  }

private:
  void complain(std::string message) {
    if (status) {
      status = Error{std::move(message)};
    }
  }

  void expected(std::string_view what, const json &found,
                const std::string &where) {
    complain(fmt::format("{}: {} expected, {} found", where, what,
                         found.type_name()));
  }

  /// Whether \p value is an object with exactly \p keys.
  bool expectObject(const json &value,
                    std::initializer_list<std::string_view> keys,
                    const std::string &where) {
    if (!value.is_object()) {
      expected("an object", value, where);
      return false;
    }
    for (std::string_view key : keys) {
      if (!value.contains(key)) {
        complain(fmt::format("{}: the key '{}' is missing", where, key));
        return false;
      }
    }
    for (const auto &item : value.items()) {
      if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
        complain(fmt::format("{}: unknown key '{}'", where, item.key()));
        return false;
      }
    }
    return true;
  }

  /// Whether \p value is an array of \p size items.
  bool expectArray(const json &value, size_t size, const std::string &where) {
    if (!value.is_array() || value.size() != size) {
      complain(fmt::format("{}: an array of {} expected, {} found", where, size,
                           value.is_array()
                               ? fmt::format("an array of {}", value.size())
                               : value.type_name()));
      return false;
    }
    return true;
  }

  /// \p value as an integer that T can hold.
  template <typename T> T integer(const json &value, const std::string &where) {
    if (!value.is_number_integer()) {
      expected("an integer", value, where);
      return 0;
    }
    // Beyond 64 bits JSON integers arrive as floats and are refused above;
    // unsigned ones can still exceed int64_t.
    bool huge =
        value.is_number_unsigned() &&
        value.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max());
    int64_t number = huge ? 0 : value.get<int64_t>();
    if (huge || !std::in_range<T>(number)) {
      complain(fmt::format("{}: {} is out of range", where, value.dump()));
      return 0;
    }
    return T(number);
  }

  std::string string(const json &value, const std::string &where) {
    if (!value.is_string()) {
      expected("a string", value, where);
      return {};
    }
    return value.get<std::string>();
  }

  bool boolean(const json &value, const std::string &where) {
    if (!value.is_boolean()) {
      expected("true or false", value, where);
      return false;
    }
    return value.get<bool>();
  }

  template <typename T, size_t n>
  std::array<T, n> integers(const json &value, const std::string &where) {
    std::array<T, n> result = {};
    if (expectArray(value, n, where)) {
      for (size_t i = 0; i < n; ++i) {
        result[i] = integer<T>(value[i], fmt::format("{}[{}]", where, i));
      }
    }
    return result;
  }

  Comparison comparison(const json &value, const std::string &where) {
    std::string spelling = string(value, where);
    for (Comparison candidate : allComparisons) {
      if (spelling == name(candidate)) {
        return candidate;
      }
    }
    complain(fmt::format("{}: '{}' is no comparison", where, spelling));
    return Comparison::Eq;
  }

  template <typename T>
  void readList(const json &value, std::vector<T> &items,
                const std::string &where,
                T (PlanReader::*readItem)(const json &, const std::string &)) {
    if (!value.is_array()) {
      expected("an array", value, where);
      return;
    }
    for (size_t i = 0; i < value.size() && status; ++i) {
      items.push_back(
          (this->*readItem)(value[i], fmt::format("{}[{}]", where, i)));
    }
  }

  PlanOperand operand(const json &value, const std::string &where) {
    PlanOperand result;
    if (!expectObject(value, {"name", "type", "access", "dims", "layout"},
                      where)) {
      return result;
    }
    result.layout = string(value["layout"], where + ".layout");
    result.name = string(value["name"], where + ".name");
    result.elementType = string(value["type"], where + ".type");
    std::string access = string(value["access"], where + ".access");
    auto found = std::find(std::begin(accessNames), std::end(accessNames),
                           std::string_view(access));
    if (found == std::end(accessNames)) {
      complain(fmt::format("{}.access: '{}' is neither read, write nor "
                           "read_write",
                           where, access));
      return result;
    }
    result.access = OperandAccess(found - std::begin(accessNames));
    readList(value["dims"], result.dims, where + ".dims", &PlanReader::dim);
    return result;
  }

  OperandDim dim(const json &value, const std::string &where) {
    OperandDim result;
    if (value.is_string() && !value.get_ref<const std::string &>().empty()) {
      result.symbol = value.get<std::string>();
    } else {
      result.size = integer<int64_t>(value, where);
    }
    return result;
  }

  Expr expr(const json &value, const std::string &where) {
    Expr result;
    if (!value.is_object() || value.size() != 1) {
      complain(where + ": an object of one key expected");
      return result;
    }
    const std::string key = value.begin().key();
    const json &content = value.begin().value();
    const std::string at = where + "." + key;
    if (key == name(ExprKind::Constant)) {
      result.value = integer<int64_t>(content, at);
      return result;
    }
    if (key == name(ExprKind::Scalar)) {
      return {.kind = ExprKind::Scalar,
              .scalar = integer<uint32_t>(content, at)};
    }
    for (ExprKind kind : {ExprKind::Size, ExprKind::Stride}) {
      if (key == name(kind)) {
        auto [operand, dim] = integers<uint32_t, 2>(content, at);
        return {.kind = kind, .operand = operand, .dim = dim};
      }
    }
    for (ExprKind kind : binaryKinds) {
      if (key == name(kind)) {
        auto [lhs, rhs] = integers<ExprId, 2>(content, at);
        return {.kind = kind, .lhs = lhs, .rhs = rhs};
      }
    }
    if (key != name(ExprKind::Select)) {
      complain(fmt::format("{}: unknown kind of expression '{}'", where, key));
      return result;
    }
    if (expectArray(content, 5, at)) {
      result.kind = ExprKind::Select;
      result.comparison = comparison(content[0], at + "[0]");
      result.lhs = integer<ExprId>(content[1], at + "[1]");
      result.rhs = integer<ExprId>(content[2], at + "[2]");
      result.ifTrue = integer<ExprId>(content[3], at + "[3]");
      result.ifFalse = integer<ExprId>(content[4], at + "[4]");
    }
    return result;
  }

  Workspace workspace(const json &value, const std::string &where) {
    Workspace result;
    if (expectObject(value, {"name", "bytes", "align", "zero"}, where)) {
      result.name = string(value["name"], where + ".name");
      result.bytes = integer<ExprId>(value["bytes"], where + ".bytes");
      result.alignment = integer<uint32_t>(value["align"], where + ".align");
      result.zeroInitialised = boolean(value["zero"], where + ".zero");
    }
    return result;
  }

  Launch launch(const json &value, const std::string &where) {
    Launch result;
    if (!expectObject(value,
                      {"kernel", "grid", "workgroup", "dynamic_lds",
                       "kernarg_bytes", "args"},
                      where)) {
      return result;
    }
    result.kernel = string(value["kernel"], where + ".kernel");
    result.grid = integers<ExprId, 3>(value["grid"], where + ".grid");
    result.workgroupSize =
        integers<uint32_t, 3>(value["workgroup"], where + ".workgroup");
    result.dynamicLds =
        integer<ExprId>(value["dynamic_lds"], where + ".dynamic_lds");
    result.kernargBytes =
        integer<uint32_t>(value["kernarg_bytes"], where + ".kernarg_bytes");
    readList(value["args"], result.args, where + ".args", &PlanReader::arg);
    return result;
  }

  KernelArg arg(const json &value, const std::string &where) {
    static constexpr std::pair<std::string_view, ArgKind> kinds[] = {
        {"pointer", ArgKind::Pointer},
        {"workspace", ArgKind::Workspace},
        {"i32", ArgKind::I32},
        {"i64", ArgKind::I64},
        {"f32", ArgKind::F32}};
    KernelArg result;
    for (const auto &[key, kind] : kinds) {
      if (!value.is_object() || !value.contains(key)) {
        continue;
      }
      if (!expectObject(value, {"offset", key}, where)) {
        return result;
      }
      result.kind = kind;
      result.offset = integer<uint32_t>(value["offset"], where + ".offset");
      const json &content = value[key];
      const std::string at = fmt::format("{}.{}", where, key);
      if (kind == ArgKind::F32) {
        if (!content.is_number()) {
          expected("a number", content, at);
          return result;
        }
        result.constant = float(content.get<double>());
      } else if (kind == ArgKind::I32 || kind == ArgKind::I64) {
        result.expr = integer<ExprId>(content, at);
      } else {
        result.index = integer<uint32_t>(content, at);
      }
      return result;
    }
    complain(where + ": an object with offset and one of pointer, workspace, "
                     "i32, i64 and f32 expected");
    return result;
  }

  Precondition precondition(const json &value, const std::string &where) {
    static constexpr std::tuple<std::string_view, PreconditionKind,
                                std::string_view>
        strideKinds[] = {
            {"stride_multiple", PreconditionKind::StrideMultiple, "of"},
            {"stride_equals", PreconditionKind::StrideEquals, "to"}};
    Precondition result;
    if (value.is_object() && value.contains("compare")) {
      result.kind = PreconditionKind::Compare;
      if (expectObject(value, {"message", "compare"}, where) &&
          expectArray(value["compare"], 3, where + ".compare")) {
        const json &content = value["compare"];
        result.comparison = comparison(content[0], where + ".compare[0]");
        result.lhs = integer<ExprId>(content[1], where + ".compare[1]");
        result.rhs = integer<ExprId>(content[2], where + ".compare[2]");
      }
    } else if (value.is_object() && value.contains("align")) {
      result.kind = PreconditionKind::BaseAlignment;
      if (expectObject(value, {"message", "align"}, where) &&
          expectObject(value["align"], {"operand", "bytes"},
                       where + ".align")) {
        const json &content = value["align"];
        result.operand =
            integer<uint32_t>(content["operand"], where + ".align.operand");
        result.value =
            integer<int64_t>(content["bytes"], where + ".align.bytes");
      }
    } else {
      bool known = false;
      for (const auto &[key, kind, valueKey] : strideKinds) {
        if (!value.is_object() || !value.contains(key)) {
          continue;
        }
        known = true;
        result.kind = kind;
        const std::string at = fmt::format("{}.{}", where, key);
        if (expectObject(value, {"message", key}, where) &&
            expectObject(value[key], {"operand", "dim", valueKey}, at)) {
          const json &content = value[key];
          result.operand =
              integer<uint32_t>(content["operand"], at + ".operand");
          result.dim = integer<uint32_t>(content["dim"], at + ".dim");
          result.value = integer<int64_t>(content[valueKey],
                                          fmt::format("{}.{}", at, valueKey));
        }
      }
      if (!known) {
        complain(where + ": an object with message and one of align, "
                         "stride_multiple, stride_equals and compare expected");
      }
    }
    if (status) {
      result.message = string(value["message"], where + ".message");
    }
    return result;
  }

  Status status;
};

} // namespace

Result<Plan> planFromJson(std::string_view text) {
  return PlanReader().read(text);
}

} // namespace tenon::runtime
