//===- Bundle.cpp - reading of bundles --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/Bundle.h"

#include "BundleFormat.h"
#include "tenon/Runtime/Sha256.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace tenon::runtime {

using bundle::Header;
using bundle::Record;

static Record recordAt(const uint8_t *records, size_t index) {
  Record record;
  std::memcpy(&record, records + index * sizeof(Record), sizeof(Record));
  return record;
}

Bundle::~Bundle() {
  if (isMapped) {
    munmap(const_cast<uint8_t *>(bytes.data()), bytes.size());
  }
}

static Error systemError(const std::string &path, const char *what) {
  return Error{fmt::format("cannot {} the bundle '{}': {}", what, path,
                           std::strerror(errno))};
}

Result<std::shared_ptr<const Bundle>> Bundle::open(const std::string &path,
                                                   std::string_view sha256) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return systemError(path, "open");
  }
  struct stat status;
  if (fstat(file, &status) != 0) {
    Error error = systemError(path, "read");
    ::close(file);
    return error;
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(file);
    return Error{fmt::format("cannot read the bundle '{}': it is no regular "
                             "file",
                             path)};
  }
  std::shared_ptr<Bundle> result(new Bundle());
  result->bundleName = path;
  if (status.st_size > 0) {
    void *address =
        mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (address == MAP_FAILED) {
      Error error = systemError(path, "map");
      ::close(file);
      return error;
    }
    result->bytes = {static_cast<const uint8_t *>(address),
                     size_t(status.st_size)};
    result->isMapped = true;
  }
  ::close(file);
  if (!sha256.empty()) {
    std::string found = result->sha256();
    std::string wanted(sha256);
    std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (found != wanted) {
      return Error{fmt::format("the bundle '{}' is refused: its SHA-256 is {}, "
                               "not {}",
                               path, found, wanted)};
    }
  }
  if (Status read = result->readIndex(); !read) {
    return read.error();
  }
  return std::shared_ptr<const Bundle>(std::move(result));
}

Result<std::shared_ptr<const Bundle>>
Bundle::fromBytes(std::vector<uint8_t> bytes, std::string name) {
  std::shared_ptr<Bundle> result(new Bundle());
  result->bundleName = std::move(name);
  result->owned = std::move(bytes);
  result->bytes = result->owned;
  if (Status read = result->readIndex(); !read) {
    return read.error();
  }
  return std::shared_ptr<const Bundle>(std::move(result));
}

Status Bundle::damaged(std::string_view what) const {
  return Error{fmt::format("the bundle '{}' is damaged: {}", bundleName, what)};
}

/// Whether [offset, offset + length) lies in [low, high).
static bool lies(uint64_t offset, uint64_t length, uint64_t low,
                 uint64_t high) {
  return offset >= low && offset <= high && length <= high - offset;
}

Status Bundle::readIndex() {
  if (bytes.size() < sizeof(bundle::magic) ||
      std::memcmp(bytes.data(), bundle::magic, sizeof(bundle::magic)) != 0) {
    return Error{fmt::format("'{}' is no bundle: it does not begin with "
                             "\"TENONBDL\"",
                             bundleName)};
  }
  auto truncated = [&](uint64_t wanted) -> Status {
    return Error{fmt::format("the bundle '{}' is truncated: {} bytes expected, "
                             "{} found",
                             bundleName, wanted, bytes.size())};
  };
  if (bytes.size() < sizeof(Header)) {
    return truncated(sizeof(Header));
  }
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.formatVersion > formatVersion) {
    return Error{fmt::format("the bundle '{}' has format {}; this version of "
                             "Tenon reads up to {}: update it, or build the "
                             "bundle with the same version",
                             bundleName, header.formatVersion, formatVersion)};
  }
  if (XXH3_64bits(&header, offsetof(Header, headerChecksum)) !=
      header.headerChecksum) {
    return damaged("its header does not match its checksum");
  }
  if (bytes.size() < header.fileBytes) {
    return truncated(header.fileBytes);
  }
  if (bytes.size() != header.fileBytes) {
    return damaged(fmt::format("{} bytes expected, {} found", header.fileBytes,
                               bytes.size()));
  }
  // The checksum makes these unlikely to fail, not impossible: it is no
  // signature.
  uint64_t indexBytes = uint64_t(header.recordCount) * sizeof(Record);
  if (header.formatVersion == 0 || header.headerBytes != sizeof(Header) ||
      header.recordBytes != sizeof(Record) ||
      header.indexOffset != sizeof(Header) ||
      !lies(header.indexOffset, indexBytes, 0, bytes.size()) ||
      header.stringsOffset != header.indexOffset + indexBytes ||
      !lies(header.stringsOffset, header.stringsBytes, 0, bytes.size()) ||
      !lies(header.contentsOffset, 0,
            header.stringsOffset + header.stringsBytes, bytes.size())) {
    return damaged("its header contradicts itself");
  }
  if (XXH3_64bits(bytes.data() + header.indexOffset,
                  indexBytes + header.stringsBytes) != header.indexChecksum) {
    return damaged("its index does not match its checksum");
  }
  count = header.recordCount;
  records = bytes.data() + header.indexOffset;
  strings = {reinterpret_cast<const char *>(bytes.data()) +
                 header.stringsOffset,
             size_t(header.stringsBytes)};
  for (size_t i = 0; i < count; ++i) {
    Record record = recordAt(records, i);
    for (bundle::Text field :
         {record.op, record.statics, record.target, record.bucket,
          record.schedule, record.llvmVersion, record.compilerBuild}) {
      if (!lies(field.offset, field.length, 0, strings.size())) {
        return damaged(fmt::format("kernel {} has a text outside of the "
                                   "strings",
                                   i));
      }
    }
    for (const bundle::Content &content : {record.plan, record.codeObject}) {
      if (!lies(content.offset, content.length, header.contentsOffset,
                bytes.size())) {
        return damaged(
            fmt::format("kernel {} has contents outside of the file", i));
      }
    }
  }
  for (size_t i = 1; i < count; ++i) {
    BundleEntry before = entry(i - 1), after = entry(i);
    if (std::tie(before.op, before.statics, before.target, before.bucket) >=
        std::tie(after.op, after.statics, after.target, after.bucket)) {
      return damaged("its kernels are not in order");
    }
  }
  return {};
}

std::string_view Bundle::text(uint32_t offset, uint32_t length) const {
  return strings.substr(offset, length);
}

BundleEntry Bundle::entry(size_t index) const {
  Record record = recordAt(records, index);
  auto get = [&](bundle::Text field) {
    return text(field.offset, field.length);
  };
  BundleEntry entry;
  entry.op = get(record.op);
  entry.statics = get(record.statics);
  entry.bucket = get(record.bucket);
  entry.target = get(record.target);
  entry.schedule = get(record.schedule);
  entry.llvmVersion = get(record.llvmVersion);
  entry.compilerBuild = get(record.compilerBuild);
  entry.contractVersion = record.contractVersion;
  entry.planBytes = record.plan.length;
  entry.codeBytes = record.codeObject.length;
  return entry;
}

std::pair<size_t, size_t> Bundle::find(std::string_view op,
                                       std::string_view statics,
                                       std::string_view target) const {
  auto wanted = std::tie(op, statics, target);
  auto firstThat = [&](auto isPast) {
    size_t low = 0, high = count;
    while (low < high) {
      size_t middle = low + (high - low) / 2;
      BundleEntry here = entry(middle);
      if (isPast(std::tie(here.op, here.statics, here.target))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  return {firstThat([&](const auto &key) { return key >= wanted; }),
          firstThat([&](const auto &key) { return key > wanted; })};
}

Result<std::span<const uint8_t>> Bundle::content(uint64_t offset,
                                                 uint64_t length,
                                                 uint64_t checksum,
                                                 std::string_view what) const {
  std::span<const uint8_t> found = bytes.subspan(offset, length);
  if (XXH3_64bits(found.data(), found.size()) != checksum) {
    return damaged(fmt::format("{} does not match its checksum", what)).error();
  }
  return found;
}

Result<std::string_view> Bundle::planText(size_t index) const {
  Record record = recordAt(records, index);
  auto found =
      content(record.plan.offset, record.plan.length, record.plan.checksum,
              fmt::format("the plan of kernel {}", index));
  if (!found) {
    return found.error();
  }
  return std::string_view(reinterpret_cast<const char *>(found->data()),
                          found->size());
}

Result<Plan> Bundle::plan(size_t index) const {
  Result<std::string_view> json = planText(index);
  if (!json) {
    return json.error();
  }
  Result<Plan> plan = planFromJson(*json);
  if (!plan) {
    return damaged(fmt::format("kernel {}: {}", index, plan.error().message))
        .error();
  }
  return plan;
}

Result<std::span<const uint8_t>> Bundle::codeObject(size_t index) const {
  Record record = recordAt(records, index);
  return content(record.codeObject.offset, record.codeObject.length,
                 record.codeObject.checksum,
                 fmt::format("the code object of kernel {}", index));
}

Result<BundleKernel> Bundle::kernel(size_t index) const {
  Result<std::string_view> plan = planText(index);
  if (!plan) {
    return plan.error();
  }
  auto code = codeObject(index);
  if (!code) {
    return code.error();
  }
  BundleEntry here = entry(index);
  BundleKernel kernel;
  kernel.key = {std::string(here.op), std::string(here.statics),
                std::string(here.bucket)};
  kernel.target = here.target;
  kernel.schedule = here.schedule;
  kernel.llvmVersion = here.llvmVersion;
  kernel.compilerBuild = here.compilerBuild;
  kernel.contractVersion = here.contractVersion;
  kernel.plan = *plan;
  kernel.codeObject.assign(code->begin(), code->end());
  return kernel;
}

std::string Bundle::sha256() const {
  return hex(runtime::sha256(
      {reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
}

} // namespace tenon::runtime
