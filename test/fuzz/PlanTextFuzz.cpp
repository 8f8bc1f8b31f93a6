//===- PlanTextFuzz.cpp - any text as a plan --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckPlan.h"

#include <fuzzer/FuzzedDataProvider.h>

using namespace tenon::runtime;

// Behind the first null byte the input chooses a call.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  text = text.substr(0, text.find('\0'));
  Result<Plan> plan = planFromJson(text);
  if (!plan) {
    tenon::fuzz::require(!plan.error().message.empty(),
                         "errors have a message");
    return 0;
  }
  FuzzedDataProvider rest(data + text.size(), size - text.size());
  tenon::fuzz::checkText(*plan);
  tenon::fuzz::checkCalls(*plan, rest, 2);
  return 0;
}
