//===- CacheFolder.h - A folder for one test of the cache -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_RUNTIME_CACHEFOLDER_H
#define TENON_TEST_UNIT_RUNTIME_CACHEFOLDER_H

#include "tenon/Runtime/Cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace tenon::runtime {

/// A temporary folder, and caches in its subfolder "cache".
class CacheFolder : public testing::Test {
protected:
  CacheFolder() {
    std::string pattern = testing::TempDir() + "tenon-cache-XXXXXX";
    root = ::mkdtemp(pattern.data());
  }
  ~CacheFolder() override {
    std::error_code code;
    std::filesystem::remove_all(root, code);
  }

  std::string path() const { return root + "/cache"; }

  CacheOptions options() {
    CacheOptions options;
    options.folder = path();
    options.maxBytes = uint64_t(1) << 30;
    options.lockWait = std::chrono::seconds(30);
    options.warn = [this](const std::string &text) {
      warnings.push_back(text);
    };
    return options;
  }

  /// The open cache; the test fails when it is refused.
  static Cache open(CacheOptions options) {
    Result<Cache> cache = Cache::open(std::move(options));
    if (!cache) {
      ADD_FAILURE() << cache.error().message;
      std::abort();
    }
    return std::move(*cache);
  }

  static CacheKey key(int number) {
    return {"spec " + std::to_string(number), "{waves = 4}", "build 1",
            "gfx950", "sample"};
  }

  /// The names of the files in the folder that end with \p suffix.
  std::vector<std::string> files(const std::string &suffix = "") const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(path())) {
      if (entry.path().string().ends_with(suffix)) {
        names.push_back(entry.path().filename().string());
      }
    }
    return names;
  }

  std::string entryPath(const CacheKey &key) const {
    return path() + "/" + key.digest() + ".entry";
  }

  static std::string readFile(const std::string &name) {
    std::ifstream stream(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  static void writeFile(const std::string &name, const std::string &text) {
    std::ofstream(name, std::ios::binary) << text;
  }

  std::string root;
  std::vector<std::string> warnings;
};

} // namespace tenon::runtime

#endif // TENON_TEST_UNIT_RUNTIME_CACHEFOLDER_H
