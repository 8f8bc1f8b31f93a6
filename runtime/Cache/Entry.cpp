//===- Entry.cpp - The file of a cached value -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Entry.h"

#include "tenon/Runtime/Sha256.h"

#include <array>
#include <cstring>
#include <limits>

namespace tenon::runtime::cache {

static constexpr std::string_view magic("tenon-cache\0\0\0\0\0", 16);
static constexpr uint32_t formatVersion = 1;

template <typename T> static void append(std::string &text, T value) {
  for (size_t byte = 0; byte < sizeof(T); ++byte) {
    text += static_cast<char>(value >> (8 * byte));
  }
}

template <typename T> static T read(std::string_view text, size_t offset) {
  T value = 0;
  for (size_t byte = 0; byte < sizeof(T); ++byte) {
    value |= T(static_cast<uint8_t>(text[offset + byte])) << (8 * byte);
  }
  return value;
}

static std::array<std::string CacheKey::*, 5> parts() {
  return {&CacheKey::title, &CacheKey::spec, &CacheKey::schedule,
          &CacheKey::compiler, &CacheKey::target};
}

Result<std::string> encode(const CacheKey &key, std::string_view value) {
  std::string keyText;
  for (std::string CacheKey::*part : parts()) {
    if ((key.*part).size() > std::numeric_limits<uint32_t>::max() / 8) {
      return Error{"a part of the key is too long"};
    }
    append(keyText, static_cast<uint32_t>((key.*part).size()));
    keyText += key.*part;
  }
  std::string body = keyText + std::string(value);
  Sha256 digest = sha256(body);
  std::string file(magic);
  append(file, formatVersion);
  append(file, static_cast<uint32_t>(keyText.size()));
  append(file, static_cast<uint64_t>(value.size()));
  file.append(reinterpret_cast<const char *>(digest.data()), digest.size());
  return file + body;
}

Result<EntrySizes> decodeSizes(std::string_view fixed) {
  if (fixed.size() < fixedBytes || !fixed.starts_with(magic)) {
    return Error{"it is no file of the cache"};
  }
  if (auto version = read<uint32_t>(fixed, 16); version != formatVersion) {
    return Error{"its format has version " + std::to_string(version) +
                 ", expected " + std::to_string(formatVersion)};
  }
  EntrySizes sizes;
  sizes.keyBytes = read<uint32_t>(fixed, 20);
  sizes.valueBytes = read<uint64_t>(fixed, 24);
  if (sizes.valueBytes > std::numeric_limits<int64_t>::max()) {
    return Error{"its size is impossible"};
  }
  return sizes;
}

Result<CacheKey> decodeKey(std::string_view text) {
  CacheKey key;
  for (std::string CacheKey::*part : parts()) {
    if (text.size() < 4 || text.size() - 4 < read<uint32_t>(text, 0)) {
      return Error{"its key is damaged"};
    }
    size_t size = read<uint32_t>(text, 0);
    key.*part = text.substr(4, size);
    text.remove_prefix(4 + size);
  }
  if (!text.empty()) {
    return Error{"its key is damaged"};
  }
  return key;
}

Result<DecodedEntry> decode(std::string_view file) {
  Result<EntrySizes> sizes = decodeSizes(file);
  if (!sizes) {
    return sizes.error();
  }
  if (file.size() != sizes->fileBytes()) {
    return Error{"it has " + std::to_string(file.size()) + " bytes, expected " +
                 std::to_string(sizes->fileBytes())};
  }
  std::string_view body = file.substr(fixedBytes);
  if (Sha256 digest = sha256(body);
      std::memcmp(digest.data(), file.data() + 32, digest.size()) != 0) {
    return Error{"its content does not match its checksum"};
  }
  Result<CacheKey> key = decodeKey(body.substr(0, sizes->keyBytes));
  if (!key) {
    return key.error();
  }
  return DecodedEntry{std::move(*key), body.substr(sizes->keyBytes)};
}

} // namespace tenon::runtime::cache
