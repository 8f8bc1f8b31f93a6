//===- FindingJson.cpp - findings of the simulator as JSON ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FindingJson.h"

using namespace tenon;
using namespace tenon::run;

static nlohmann::ordered_json placeToJson(const sim::FindingPlace &place) {
  nlohmann::ordered_json json = {{"workgroup", place.workgroup},
                                 {"wave", place.wave}};
  json["lane"] = place.lane ? nlohmann::ordered_json(*place.lane)
                            : nlohmann::ordered_json();
  json["pc"] = place.pc;
  json["instruction"] = place.text;
  json["location"] = place.location;
  return json;
}

nlohmann::ordered_json
run::findingsToJson(llvm::ArrayRef<sim::Finding> findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const sim::Finding &finding : findings) {
    nlohmann::ordered_json json = placeToJson(finding.place);
    json["check"] = sim::checkName(finding.check).str();
    json["kernel"] = finding.kernel;
    json["message"] = finding.message;
    json["count"] = finding.count;
    json["other"] =
        finding.other ? placeToJson(*finding.other) : nlohmann::ordered_json();
    list.push_back(std::move(json));
  }
  return list;
}
