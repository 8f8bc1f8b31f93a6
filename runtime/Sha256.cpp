//===- Sha256.cpp - SHA-256 of bytes ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/Sha256.h"

#include <openssl/evp.h>

#include <cstdio>
#include <cstdlib>

namespace tenon::runtime {

Sha256 sha256(std::string_view bytes) {
  Sha256 digest;
  unsigned size = digest.size();
  // Fails only without memory, or where a policy takes SHA-256 away.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(),
                 nullptr) != 1) {
    std::fputs("tenon: fatal: libcrypto computes no SHA-256\n", stderr);
    std::abort();
  }
  return digest;
}

std::string hex(const Sha256 &digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

} // namespace tenon::runtime
