//===- BundleWriter.cpp - writing of bundles --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/Bundle.h"

#include "BundleFormat.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <unordered_map>

namespace tenon::runtime {

using bundle::Header;
using bundle::Record;

namespace {

class Writer {
public:
  explicit Writer(std::vector<BundleKernel> kernels)
      : kernels(std::move(kernels)) {}

  Result<std::vector<uint8_t>> run();

private:
  static auto order(const BundleKernel &kernel) {
    return std::tie(kernel.key.op, kernel.key.statics, kernel.target,
                    kernel.key.bucket);
  }
  Status sortAndMerge();
  bundle::Text text(const std::string &value);
  bundle::Content content(std::string_view value);

  std::vector<BundleKernel> kernels;
  std::string strings;
  std::unordered_map<std::string, uint32_t> stringOffsets;
  std::vector<uint8_t> contents;
  std::unordered_map<std::string_view, uint64_t> contentOffsets;
};

} // namespace

static bool isSame(const BundleKernel &a, const BundleKernel &b) {
  auto parts = [](const BundleKernel &kernel) {
    return std::tie(kernel.schedule, kernel.llvmVersion, kernel.compilerBuild,
                    kernel.contractVersion, kernel.plan, kernel.codeObject);
  };
  return parts(a) == parts(b);
}

/// What two kernels under one key differ in, for people.
static std::string difference(const BundleKernel &a, const BundleKernel &b) {
  for (auto [what, left, right] :
       {std::tuple("schedule", &a.schedule, &b.schedule),
        std::tuple("LLVM", &a.llvmVersion, &b.llvmVersion),
        std::tuple("compiler build", &a.compilerBuild, &b.compilerBuild)}) {
    if (*left != *right) {
      return fmt::format("{} '{}' and '{}'", what, *left, *right);
    }
  }
  return "plans or code objects";
}

Status Writer::sortAndMerge() {
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const BundleKernel &a, const BundleKernel &b) {
                     return order(a) < order(b);
                   });
  std::vector<BundleKernel> kept;
  for (BundleKernel &kernel : kernels) {
    if (kept.empty() || order(kept.back()) != order(kernel)) {
      kept.push_back(std::move(kernel));
      continue;
    }
    if (!isSame(kept.back(), kernel)) {
      return Error{fmt::format(
          "two different kernels for {} ({}) [{}] on {}: they differ in {}",
          kernel.key.op, kernel.key.statics, kernel.key.bucket, kernel.target,
          difference(kept.back(), kernel))};
    }
  }
  kernels = std::move(kept);
  return {};
}

bundle::Text Writer::text(const std::string &value) {
  auto [found, isNew] = stringOffsets.try_emplace(value, strings.size());
  if (isNew) {
    strings += value;
  }
  return {found->second, uint32_t(value.size())};
}

/// Offsets count from the contents until their place in the file is known.
bundle::Content Writer::content(std::string_view value) {
  auto [found, isNew] = contentOffsets.try_emplace(value, contents.size());
  if (isNew) {
    contents.insert(contents.end(), value.begin(), value.end());
    contents.resize((contents.size() + bundle::contentAlignment - 1) /
                    bundle::contentAlignment * bundle::contentAlignment);
  }
  return {found->second, value.size(), XXH3_64bits(value.data(), value.size())};
}

Result<std::vector<uint8_t>> Writer::run() {
  if (Status merged = sortAndMerge(); !merged) {
    return merged.error();
  }
  std::vector<Record> records;
  for (const BundleKernel &kernel : kernels) {
    Record record = {};
    record.op = text(kernel.key.op);
    record.statics = text(kernel.key.statics);
    record.target = text(kernel.target);
    record.bucket = text(kernel.key.bucket);
    record.schedule = text(kernel.schedule);
    record.llvmVersion = text(kernel.llvmVersion);
    record.compilerBuild = text(kernel.compilerBuild);
    record.contractVersion = kernel.contractVersion;
    record.plan = content(kernel.plan);
    record.codeObject =
        content({reinterpret_cast<const char *>(kernel.codeObject.data()),
                 kernel.codeObject.size()});
    records.push_back(record);
  }
  constexpr uint64_t limit = std::numeric_limits<uint32_t>::max();
  if (strings.size() > limit || records.size() > limit) {
    return Error{"a bundle holds less than 2^32 kernels and bytes of texts"};
  }
  Header header = {};
  std::memcpy(header.magic, bundle::magic, sizeof(header.magic));
  header.formatVersion = Bundle::formatVersion;
  header.headerBytes = sizeof(Header);
  header.recordCount = records.size();
  header.recordBytes = sizeof(Record);
  header.indexOffset = sizeof(Header);
  header.stringsOffset = header.indexOffset + records.size() * sizeof(Record);
  header.stringsBytes = strings.size();
  uint64_t end = header.stringsOffset + strings.size();
  header.contentsOffset = (end + bundle::contentAlignment - 1) /
                          bundle::contentAlignment * bundle::contentAlignment;
  header.fileBytes = header.contentsOffset + contents.size();
  for (Record &record : records) {
    record.plan.offset += header.contentsOffset;
    record.codeObject.offset += header.contentsOffset;
  }
  std::vector<uint8_t> file(header.fileBytes);
  auto put = [&](uint64_t offset, const void *from, uint64_t bytes) {
    if (bytes != 0) {
      std::memcpy(file.data() + offset, from, bytes);
    }
  };
  put(header.indexOffset, records.data(), records.size() * sizeof(Record));
  put(header.stringsOffset, strings.data(), strings.size());
  put(header.contentsOffset, contents.data(), contents.size());
  header.indexChecksum =
      XXH3_64bits(file.data() + header.indexOffset, end - header.indexOffset);
  header.headerChecksum =
      XXH3_64bits(&header, offsetof(Header, headerChecksum));
  put(0, &header, sizeof(header));
  return file;
}

Result<std::vector<uint8_t>> writeBundle(std::vector<BundleKernel> kernels) {
  return Writer(std::move(kernels)).run();
}

Status writeBundleFile(const std::string &path,
                       std::span<const uint8_t> bytes) {
  auto failed = [&](const std::string &file) -> Status {
    return Error{
        fmt::format("cannot write '{}': {}", file, std::strerror(errno))};
  };
  // Of a name that no other process takes, in the same folder.
  std::string temporary = path + ".XXXXXX";
  int file = mkstemp(temporary.data());
  if (file < 0) {
    return failed(path);
  }
  std::FILE *stream = fdopen(file, "wb");
  bool written =
      stream &&
      std::fwrite(bytes.data(), 1, bytes.size(), stream) == bytes.size() &&
      std::fflush(stream) == 0 && fchmod(file, 0644) == 0 && fsync(file) == 0;
  if (stream) {
    written = std::fclose(stream) == 0 && written;
  } else {
    ::close(file);
  }
  if (!written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    Status status = failed(path);
    ::unlink(temporary.c_str());
    return status;
  }
  return {};
}

} // namespace tenon::runtime
