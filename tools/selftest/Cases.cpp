//===- Cases.cpp - what the self-test launches ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cases.h"

#include <limits>
#include <stdexcept>

using nlohmann::json;

namespace tenon::selftest {

/// A list, or {"first": 1, "step": 5, "count": 64, "modulo": 16}, whose last
/// two elements are 1 + 62 * 5 and 1 + 63 * 5, modulo 16.
static std::vector<int64_t> readIntegers(const json &value) {
  if (value.is_array()) {
    return value.get<std::vector<int64_t>>();
  }
  int64_t first = value.at("first"), step = value.value("step", 1);
  int64_t modulo = value.value("modulo", std::numeric_limits<int64_t>::max());
  std::vector<int64_t> result(value.at("count").get<size_t>());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = (first + int64_t(i) * step) % modulo;
  }
  return result;
}

static Case readCase(const json &value) {
  Case result;
  result.name = value.at("name");
  result.op = value.at("op");
  result.statics = value.value("statics", "");
  result.sizes = value.at("sizes").get<std::map<std::string, int64_t>>();
  const json lists = value.value("integers", json::object());
  for (const auto &[operand, integers] : lists.items()) {
    result.integers[operand] = readIntegers(integers);
  }
  result.scalars = value.value("scalars", std::vector<int64_t>());
  result.tolerances =
      value.at("tolerances").get<std::map<std::string, double>>();
  result.seed = value.value("seed", uint64_t(1));
  const json digests = value.value("expected", json::object());
  for (const auto &[operand, digest] : digests.items()) {
    result.expected[operand] = {digest.at("xxh3_128"), digest.at("elements"),
                                digest.at("sketch")};
  }
  if (value.contains("modelled_us")) {
    result.modelledMicroseconds = value.at("modelled_us").get<double>();
  }
  return result;
}

std::vector<Case> readCases(const json &file) {
  std::vector<Case> cases;
  for (const json &value : file.at("cases")) {
    try {
      cases.push_back(readCase(value));
    } catch (const json::exception &error) {
      throw std::runtime_error("case '" + value.value("name", "?") +
                               "': " + error.what());
    }
  }
  return cases;
}

json withExpectations(json file, const std::vector<Case> &cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    json &target = file.at("cases").at(i);
    json expected = json::object();
    for (const auto &[operand, digest] : cases[i].expected) {
      expected[operand] = {{"xxh3_128", digest.hash},
                           {"elements", digest.elements},
                           {"sketch", digest.sketch}};
    }
    target["expected"] = std::move(expected);
    if (cases[i].modelledMicroseconds) {
      target["modelled_us"] = *cases[i].modelledMicroseconds;
    }
  }
  return file;
}

} // namespace tenon::selftest
