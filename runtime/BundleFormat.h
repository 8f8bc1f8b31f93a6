//===- BundleFormat.h - the fields of a bundle file -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_BUNDLEFORMAT_H
#define TENON_RUNTIME_BUNDLEFORMAT_H

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tenon::runtime::bundle {

static_assert(std::endian::native == std::endian::little,
              "bundles are read and written as they lie in memory");

inline constexpr char magic[8] = {'T', 'E', 'N', 'O', 'N', 'B', 'D', 'L'};
inline constexpr uint64_t contentAlignment = 64;

/// What never moves: a reader of any version finds the version here.
struct Header {
  char magic[8];
  uint32_t formatVersion;
  uint32_t headerBytes;
  uint64_t fileBytes;
  uint32_t recordCount;
  uint32_t recordBytes;
  uint64_t indexOffset;
  uint64_t stringsOffset;
  uint64_t stringsBytes;
  uint64_t contentsOffset;
  uint64_t indexChecksum;  ///< of index and strings
  uint64_t reserved[6];    ///< 0
  uint64_t headerChecksum; ///< of all before it
};
static_assert(sizeof(Header) == 128);

/// A text in the strings.
struct Text {
  uint32_t offset;
  uint32_t length;
};

/// Bytes among the contents; the offset counts from the start of the file.
struct Content {
  uint64_t offset;
  uint64_t length;
  uint64_t checksum;
};

struct Record {
  Text op, statics, target, bucket;
  Text schedule, llvmVersion, compilerBuild;
  uint32_t contractVersion;
  uint32_t reserved0; ///< 0
  Content plan, codeObject;
  uint64_t reserved[6]; ///< 0
};
static_assert(sizeof(Record) == 160);
static_assert(offsetof(Record, plan) == 64);

} // namespace tenon::runtime::bundle

#endif // TENON_RUNTIME_BUNDLEFORMAT_H
