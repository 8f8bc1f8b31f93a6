//===- Entry.h - The file of a cached value ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Little-endian:
//   16 bytes  "tenon-cache" and zeros
//   u32       version of the format
//   u32       bytes of the key
//   u64       bytes of the value
//   32 bytes  SHA-256 of key and value
//   key       title, spec, schedule, compiler, target: u32 length and text each
//   value
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CACHE_ENTRY_H
#define TENON_RUNTIME_CACHE_ENTRY_H

#include "tenon/Runtime/Cache.h"

namespace tenon::runtime::cache {

/// Bytes in front of the key.
inline constexpr size_t fixedBytes = 64;

/// What the fixed part says of the rest.
struct EntrySizes {
  uint32_t keyBytes = 0;
  uint64_t valueBytes = 0;

  uint64_t fileBytes() const { return fixedBytes + keyBytes + valueBytes; }
};

/// The content of the file of \p value. An error when the key has 4 GiB.
Result<std::string> encode(const CacheKey &key, std::string_view value);

/// Reads the first fixedBytes of a file.
Result<EntrySizes> decodeSizes(std::string_view fixed);

/// Reads the key that follows the fixed part.
Result<CacheKey> decodeKey(std::string_view text);

struct DecodedEntry {
  CacheKey key;
  std::string_view value; ///< inside of the file
};

/// Reads and checks a whole file.
Result<DecodedEntry> decode(std::string_view file);

} // namespace tenon::runtime::cache

#endif // TENON_RUNTIME_CACHE_ENTRY_H
