//===- Manifest.cpp - the kernels that a bundle is to hold ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Manifest.h"

#include "tenon/Driver/Compile.h"
#include "tenon/Driver/SpecKey.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace tenon;
using namespace tenon::cli;
using nlohmann::json;

namespace {
/// Reads one manifest; the first complaint ends it.
class Reader {
public:
  explicit Reader(const std::string &path) : path(path) {}

  llvm::Expected<Manifest> run();

private:
  llvm::Error complain(const std::string &where, const std::string &what) {
    return llvm::createStringError(fmt::format(
        "{}: {}{}{}", path, where, where.empty() ? "" : ": ", what));
  }
  llvm::Error keys(const json &object, const std::string &where,
                   const std::set<std::string> &known);
  llvm::Error kernel(const json &value, const std::string &where);
  llvm::Error fromSpec(const json &spec, const std::string &where,
                       ManifestKernel &kernel);
  llvm::Error fromOp(const json &value, const std::string &where,
                     ManifestKernel &kernel);

  const std::string &path;
  Manifest manifest;
};
} // namespace

llvm::Error Reader::keys(const json &object, const std::string &where,
                         const std::set<std::string> &known) {
  if (!object.is_object()) {
    return complain(where, "an object expected");
  }
  for (const auto &item : object.items()) {
    if (!known.count(item.key())) {
      return complain(where, fmt::format("unknown key '{}'", item.key()));
    }
  }
  return llvm::Error::success();
}

llvm::Error Reader::fromSpec(const json &spec, const std::string &where,
                             ManifestKernel &kernel) {
  if (!spec.is_string()) {
    return complain(where + ".spec", "the path of a spec expected");
  }
  llvm::SmallString<128> file(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(file, spec.get<std::string>());
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer) {
    return complain(where + ".spec",
                    fmt::format("cannot read '{}': {}", file.str().str(),
                                buffer.getError().message()));
  }
  driver::Session session;
  auto module = session.parseText((*buffer)->getBuffer().str(), file);
  if (!module) {
    return complain(where + ".spec",
                    fmt::format("'{}' is no spec", file.str().str()));
  }
  auto settings = driver::specSettings(*module);
  if (!settings) {
    return complain(where + ".spec", llvm::toString(settings.takeError()));
  }
  kernel.op = driver::specOpName(*module);
  kernel.settings = std::move(*settings);
  return llvm::Error::success();
}

llvm::Error Reader::fromOp(const json &value, const std::string &where,
                           ManifestKernel &kernel) {
  if (!value["op"].is_string()) {
    return complain(where + ".op", "the name of an op expected");
  }
  kernel.op = value["op"].get<std::string>();
  if (value.contains("set")) {
    if (!value["set"].is_object()) {
      return complain(where + ".set", "an object expected");
    }
    for (const auto &item : value["set"].items()) {
      if (!item.value().is_string() && !item.value().is_number()) {
        return complain(where + ".set." + item.key(),
                        "a number or a text expected");
      }
      kernel.settings.emplace_back(
          item.key(), item.value().is_string() ? item.value().get<std::string>()
                                               : item.value().dump());
    }
  }
  auto entry = runtime::findOp(kernel.op);
  if (!entry) {
    return complain(where + ".op", entry.error().message);
  }
  auto complete = runtime::completeSettings(**entry, kernel.settings);
  if (auto *error = std::get_if<runtime::SettingError>(&complete)) {
    return complain(where + ".set." + error->parameter, error->message);
  }
  return llvm::Error::success();
}

llvm::Error Reader::kernel(const json &value, const std::string &where) {
  if (llvm::Error error =
          keys(value, where, {"spec", "op", "set", "buckets"})) {
    return error;
  }
  ManifestKernel kernel;
  kernel.where = where;
  if (value.contains("spec") == value.contains("op")) {
    return complain(where, "one of 'spec' and 'op' expected");
  }
  if (value.contains("spec") && value.contains("set")) {
    return complain(where, "'set' goes with 'op'; a spec says it all");
  }
  if (llvm::Error error = value.contains("spec")
                              ? fromSpec(value["spec"], where, kernel)
                              : fromOp(value, where, kernel)) {
    return error;
  }
  if (!value.contains("buckets")) {
    manifest.kernels.push_back(std::move(kernel));
    return llvm::Error::success();
  }
  auto parameters = (*runtime::findOp(kernel.op))->parameters;
  auto bucket = std::find_if(parameters.begin(), parameters.end(),
                             [](const runtime::OpParameter &parameter) {
                               return !parameter.bucketOf.empty();
                             });
  const json &buckets = value["buckets"];
  if (bucket == parameters.end()) {
    return complain(
        where + ".buckets",
        fmt::format("the schedules of {} depend on no size", kernel.op));
  }
  if (!buckets.is_array() || buckets.empty()) {
    return complain(where + ".buckets", "a list of sizes expected");
  }
  std::erase_if(kernel.settings, [&](const auto &setting) {
    return setting.first == bucket->name;
  });
  for (size_t i = 0; i < buckets.size(); ++i) {
    if (!buckets[i].is_number_integer() || buckets[i].get<int64_t>() < 1) {
      return complain(fmt::format("{}.buckets[{}]", where, i),
                      "a positive integer expected, found " +
                          buckets[i].dump());
    }
    ManifestKernel one = kernel;
    one.where = fmt::format("{}.buckets[{}]", where, i);
    one.settings.emplace_back(bucket->name, buckets[i].dump());
    manifest.kernels.push_back(std::move(one));
  }
  return llvm::Error::success();
}

llvm::Expected<Manifest> Reader::run() {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    return llvm::createStringError(
        fmt::format("cannot read '{}': {}", path, buffer.getError().message()));
  }
  json root = json::parse((*buffer)->getBuffer().str(), nullptr,
                          /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    return complain("", "no JSON text");
  }
  if (llvm::Error error = keys(root, "", {"version", "target", "kernels"})) {
    return std::move(error);
  }
  if (!root.contains("version") || root["version"] != 1) {
    return complain("version", "1 expected");
  }
  if (!root.contains("target") || !root["target"].is_string()) {
    return complain("target", "the name of a chip expected");
  }
  manifest.target = root["target"].get<std::string>();
  if (!root.contains("kernels") || !root["kernels"].is_array() ||
      root["kernels"].empty()) {
    return complain("kernels", "a list of kernels expected");
  }
  for (size_t i = 0; i < root["kernels"].size(); ++i) {
    if (llvm::Error error =
            kernel(root["kernels"][i], fmt::format("kernels[{}]", i))) {
      return std::move(error);
    }
  }
  return std::move(manifest);
}

llvm::Expected<Manifest> cli::readManifest(const std::string &path) {
  return Reader(path).run();
}
