//===- Data.cpp - operands of the self-test ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Data.h"

#include <cmath>
#include <cstring>
#include <limits>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon::selftest {

static constexpr size_t sketchSums = 256;

unsigned elementBits(tenon_dtype dtype) {
  switch (dtype) {
  case TENON_F4E2M1:
    return 4;
  case TENON_F8E4M3:
  case TENON_F8E5M2:
  case TENON_F8E8M0:
  case TENON_I8:
  case TENON_U8:
  case TENON_BOOL:
    return 8;
  case TENON_F16:
  case TENON_BF16:
  case TENON_I16:
    return 16;
  case TENON_F32:
  case TENON_I32:
    return 32;
  case TENON_I64:
  case TENON_F64:
    return 64;
  }
  return 8;
}

/// SplitMix64 (Steele, Lea and Flood 2014): the number behind a counter.
static uint64_t randomAt(uint64_t seed, uint64_t index) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// From -0.5 to 0.5, in steps that a bf16 number holds.
static float realOf(uint64_t random) {
  return (float(int(random >> 56)) - 127.5f) / 256.0f;
}

void fillRandom(tenon_dtype dtype, uint64_t seed, std::vector<uint8_t> &bytes) {
  unsigned width = std::max(elementBits(dtype) / 8, 1u);
  for (size_t i = 0; i * width < bytes.size(); ++i) {
    uint64_t random = randomAt(seed, i);
    uint8_t *element = bytes.data() + i * width;
    float real = realOf(random);
    switch (dtype) {
    case TENON_F32:
      // All bits of the mantissa.
      real += float(random & 0xffff) * 0x1p-26f;
      std::memcpy(element, &real, 4);
      break;
    case TENON_BF16: {
      uint32_t bits;
      std::memcpy(&bits, &real, 4);
      uint16_t upper = uint16_t(bits >> 16);
      std::memcpy(element, &upper, 2);
      break;
    }
    case TENON_F8E4M3:
      // 2^-4 to 2^1 and either sign.
      *element = uint8_t((random >> 56 & 0x80) | (3 + random % 5) << 3 |
                         (random >> 32 & 7));
      break;
    case TENON_F8E8M0:
      *element = uint8_t(124 + random % 7);
      break;
    case TENON_F4E2M1:
      *element = uint8_t(random >> 40);
      break;
    default:
      std::memset(element, 0, width);
    }
  }
}

bool fillIntegers(tenon_dtype dtype, const std::vector<int64_t> &values,
                  std::vector<uint8_t> &bytes) {
  unsigned width = std::max(elementBits(dtype) / 8, 1u);
  if (values.size() * width != bytes.size()) {
    return false;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(bytes.data() + i * width, &values[i], width);
  }
  return true;
}

static double valueOf(tenon_dtype dtype, const uint8_t *element) {
  switch (dtype) {
  case TENON_F32: {
    float value;
    std::memcpy(&value, element, 4);
    return value;
  }
  case TENON_BF16: {
    uint16_t upper;
    std::memcpy(&upper, element, 2);
    uint32_t bits = uint32_t(upper) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  case TENON_I32: {
    int32_t value;
    std::memcpy(&value, element, 4);
    return value;
  }
  default:
    // Of other types bytes stand for themselves: they have to be equal.
    return *element;
  }
}

Digest digestOf(tenon_dtype dtype, const std::vector<uint8_t> &bytes) {
  Digest digest;
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  char text[33];
  std::snprintf(text, sizeof(text), "%016llx%016llx",
                (unsigned long long)hash.high64,
                (unsigned long long)hash.low64);
  digest.hash = text;
  bool isReal = dtype == TENON_F32 || dtype == TENON_BF16 || dtype == TENON_I32;
  unsigned width = isReal ? elementBits(dtype) / 8 : 1;
  digest.elements = bytes.size() / width;
  digest.sketch.resize(sketchSums);
  for (uint64_t i = 0; i < digest.elements; ++i) {
    uint64_t random = randomAt(0, i);
    double value = valueOf(dtype, bytes.data() + i * width);
    // JSON has no NaN.
    value = std::isfinite(value) ? value : std::numeric_limits<double>::max();
    digest.sketch[random % sketchSums] += random >> 63 ? value : -value;
  }
  return digest;
}

double relativeError(const Digest &found, const Digest &expected) {
  if (found.elements != expected.elements ||
      found.sketch.size() != expected.sketch.size()) {
    return std::numeric_limits<double>::infinity();
  }
  double difference = 0, norm = 0;
  for (size_t i = 0; i < found.sketch.size(); ++i) {
    double apart = found.sketch[i] - expected.sketch[i];
    difference += apart * apart;
    norm += expected.sketch[i] * expected.sketch[i];
  }
  if (difference == 0) {
    return 0;
  }
  double error = std::sqrt(difference / norm);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

} // namespace tenon::selftest
