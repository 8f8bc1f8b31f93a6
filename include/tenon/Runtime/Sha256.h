//===- Sha256.h - SHA-256 of bytes ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_SHA256_H
#define TENON_RUNTIME_SHA256_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::runtime {

using Sha256 = std::array<uint8_t, 32>;

/// The SHA-256 of \p bytes.
Sha256 sha256(std::string_view bytes);

/// \p digest in lower-case hexadecimal, 64 characters.
std::string hex(const Sha256 &digest);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_SHA256_H
