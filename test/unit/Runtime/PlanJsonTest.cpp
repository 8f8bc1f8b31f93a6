//===- PlanJsonTest.cpp - Plans as JSON -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SamplePlan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tenon::runtime;
using nlohmann::json;

namespace {

std::string errorOf(const std::string &text) {
  Result<Plan> plan = planFromJson(text);
  return plan ? "no error" : plan.error().message;
}

/// The error of the sample with the value at the JSON pointer \p path replaced.
std::string errorWith(const char *path, json value) {
  json root = json::parse(toJson(samplePlan()));
  root[json::json_pointer(path)] = std::move(value);
  return errorOf(root.dump());
}

TEST(PlanJsonTest, RoundTrips) {
  Plan plan = samplePlan();
  Result<Plan> read = planFromJson(toJson(plan));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, plan);
  EXPECT_EQ(toJson(*read), toJson(plan));
}

TEST(PlanJsonTest, ExtremeConstantsRoundTrip) {
  Plan plan = samplePlan();
  plan.constant(std::numeric_limits<int64_t>::min());
  plan.constant(std::numeric_limits<int64_t>::max());
  plan.launches[0].args[3].constant = 0x1.fffffep-127f;
  Result<Plan> read = planFromJson(toJson(plan));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, plan);
}

TEST(PlanJsonTest, EveryKindOfExpressionRoundTrips) {
  Plan plan = samplePlan();
  for (ExprKind kind :
       {ExprKind::Add, ExprKind::Sub, ExprKind::Mul, ExprKind::CeilDiv,
        ExprKind::FloorDiv, ExprKind::Min, ExprKind::Max}) {
    plan.binary(kind, 1, 2);
  }
  for (Comparison comparison :
       {Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le,
        Comparison::Gt, Comparison::Ge}) {
    plan.select(comparison, 0, 1, 2, 3);
  }
  Result<Plan> read = planFromJson(toJson(plan));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, plan);
}

// A plan without scalars is written as before there were any.
TEST(PlanJsonTest, ScalarsRoundTrip) {
  Plan plan = samplePlan();
  EXPECT_FALSE(json::parse(toJson(plan)).contains("scalars"));
  plan.scalars = {"begin", "end"};
  plan.scalar(1);
  Result<Plan> read = planFromJson(toJson(plan));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, plan);
  json root = json::parse(toJson(plan));
  EXPECT_EQ(root["exprs"].back(), json::parse(R"({"scalar": 1})"));
  root["scalars"] = json::array({"begin"});
  EXPECT_NE(errorOf(root.dump()).find("names scalar 1 of 1"),
            std::string::npos);
  root["scalars"] = json::array({"begin", "begin"});
  EXPECT_NE(errorOf(root.dump()).find("two scalars are named 'begin'"),
            std::string::npos);
  root["scalars"] = json::array({"begin", 3});
  EXPECT_EQ(errorOf(root.dump()),
            "scalars[1]: a string expected, number found");
}

// The format is read by other programs: it may grow, not change.
TEST(PlanJsonTest, FormatIsStable) {
  json root = json::parse(toJson(samplePlan()));
  EXPECT_EQ(root["version"], 1);
  EXPECT_EQ(root["operands"][0], json::parse(R"({"name": "x", "type": "bf16",
                            "access": "read_write", "dims": ["N", 64],
                            "layout": "packed"})"));
  EXPECT_EQ(root["exprs"][2], json::parse(R"({"size": [0, 0]})"));
  EXPECT_EQ(root["exprs"][4], json::parse(R"({"ceildiv": [2, 3]})"));
  EXPECT_EQ(root["exprs"][9], json::parse(R"({"select": ["gt", 2, 8, 4, 7]})"));
  EXPECT_EQ(root["workspaces"][0],
            json::parse(R"({"name": "partial", "bytes": 6, "align": 256,
                            "zero": true})"));
  EXPECT_EQ(root["launches"][1],
            json::parse(R"({"kernel": "second", "grid": [9, 1, 1],
                            "workgroup": [64, 2, 1], "dynamic_lds": 6,
                            "kernarg_bytes": 8,
                            "args": [{"offset": 0, "workspace": 0}]})"));
  EXPECT_EQ(root["preconditions"][1], json::parse(R"({"message":
                   "the row stride must be a multiple of 8 elements",
                   "stride_multiple": {"operand": 0, "dim": 0, "of": 8}})"));
}

//===----------------------------------------------------------------------===//
// Malformed text
//===----------------------------------------------------------------------===//

TEST(PlanJsonTest, NotJson) {
  for (const char *text : {"", "{", "nonsense", "{\"a\": }", "\xff\xfe"}) {
    EXPECT_EQ(errorOf(text), "plan: not valid JSON") << text;
  }
  EXPECT_EQ(errorOf("[]"), "plan: an object expected, array found");
  EXPECT_EQ(errorOf("{}"), "plan: the key 'version' is missing");
  // Deep nesting must not overflow the stack.
  EXPECT_NE(errorOf(std::string(1000000, '[') + std::string(1000000, ']')),
            "no error");
}

TEST(PlanJsonTest, ErrorsNameThePlace) {
  EXPECT_EQ(errorWith("/version", 2), "plan.version: 1 expected, 2 found");
  EXPECT_EQ(errorWith("/name", 3), "plan.name: a string expected, number "
                                   "found");
  EXPECT_EQ(errorWith("/extra", 3), "plan: unknown key 'extra'");
  EXPECT_EQ(errorWith("/operands/0/access", "none"),
            "operands[0].access: 'none' is neither read, write nor "
            "read_write");
  EXPECT_EQ(errorWith("/operands/0/dims/1", 1.5),
            "operands[0].dims[1]: an integer expected, number found");
  EXPECT_EQ(errorWith("/exprs/0", json::object()),
            "exprs[0]: an object of one key expected");
  EXPECT_EQ(errorWith("/exprs/0", {{"pow", {1, 2}}}),
            "exprs[0]: unknown kind of expression 'pow'");
  EXPECT_EQ(errorWith("/exprs/4/ceildiv", {1}),
            "exprs[4].ceildiv: an array of 2 expected, an array of 1 found");
  EXPECT_EQ(errorWith("/exprs/9/select/0", "almost"),
            "exprs[9].select[0]: 'almost' is no comparison");
  EXPECT_EQ(errorWith("/exprs/0/const", 18446744073709551615u),
            "exprs[0].const: 18446744073709551615 is out of range");
  EXPECT_EQ(errorWith("/exprs/2/size/0", -1),
            "exprs[2].size[0]: -1 is out of range");
  EXPECT_EQ(errorWith("/workspaces/0/zero", 1),
            "workspaces[0].zero: true or false expected, number found");
  EXPECT_EQ(errorWith("/launches/0/grid", {1, 2}),
            "launches[0].grid: an array of 3 expected, an array of 2 found");
  EXPECT_EQ(errorWith("/launches/0/args/0", {{"offset", 0}}),
            "launches[0].args[0]: an object with offset and one of pointer, "
            "workspace, i32, i64 and f32 expected");
  EXPECT_EQ(errorWith("/launches/0/args/3/f32", nullptr),
            "launches[0].args[3].f32: a number expected, null found");
  EXPECT_EQ(errorWith("/preconditions/0", {{"message", "m"}}),
            "preconditions[0]: an object with message and one of align, "
            "stride_multiple, stride_equals and compare expected");
  EXPECT_EQ(errorWith("/preconditions/1/stride_multiple/of", "8"),
            "preconditions[1].stride_multiple.of: an integer expected, string "
            "found");
}

// What is well-formed but not sound is refused as well.
TEST(PlanJsonTest, UnsoundPlansAreRefused) {
  EXPECT_EQ(errorWith("/exprs/4/ceildiv", {2, 4}),
            "plan 'sample': expression 4 (ceildiv) uses expression 4, which "
            "is not before it");
  EXPECT_NE(errorWith("/launches/0/args/0/pointer", 7), "no error");
  EXPECT_NE(errorWith("/launches/0/args/3/f32", 1e300), "no error");
}

/// Calls \p visit with the JSON pointer of every value below \p value.
template <typename Visit>
void forEachPlace(const json &value, const json::json_pointer &place,
                  Visit visit) {
  visit(place);
  if (value.is_object()) {
    for (const auto &item : value.items()) {
      forEachPlace(item.value(), place / item.key(), visit);
    }
  } else if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      forEachPlace(value[i], place / i, visit);
    }
  }
}

// Any value anywhere, and any missing one: an error or a valid plan.
TEST(PlanJsonTest, NothingCrashes) {
  const json root = json::parse(toJson(samplePlan()));
  const json replacements[] = {nullptr,
                               true,
                               -1,
                               0,
                               4294967295u,
                               18446744073709551615u,
                               1e300,
                               "",
                               "\xc3\xa9",
                               json::array(),
                               json::object(),
                               {1, {2}},
                               {{"const", {{"const", 1}}}}};
  forEachPlace(root, json::json_pointer(), [&](const auto &place) {
    for (const json &replacement : replacements) {
      json changed = root;
      changed[place] = replacement;
      Result<Plan> plan = planFromJson(changed.dump());
      if (plan) {
        EXPECT_TRUE(validate(*plan)) << place;
      } else {
        EXPECT_FALSE(plan.error().message.empty()) << place;
      }
    }
    if (!place.empty()) {
      json changed = root;
      json &parent = changed[place.parent_pointer()];
      if (parent.is_object()) {
        parent.erase(place.back());
        EXPECT_NE(errorOf(changed.dump()), "no error") << place;
      }
    }
  });
}

// Every prefix of the text is an error.
TEST(PlanJsonTest, TruncatedText) {
  std::string text = toJson(samplePlan());
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_NE(errorOf(text.substr(0, length)), "no error") << length;
  }
}

} // namespace
