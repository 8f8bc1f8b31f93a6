//===- MemoryFormat.h - what a load or store moves per lane -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_MEMORYFORMAT_H
#define TENON_LIB_SIM_MEMORYFORMAT_H

#include "Opcode.h"
#include "Wave.h"

namespace tenon::sim {

/// Data of one lane, in memory and in registers.
enum class Format : uint8_t {
  U8,
  I8,
  U16,
  I16,
  B32,
  B64,
  B96,
  B128,
  U8D16,   ///< into the low half, the high half is kept
  I8D16,   ///< sign-extended to the low half
  B16D16,  ///< the low half
  U8D16Hi, ///< the same three into the high half; stores take it from there
  I8D16Hi,
  B16D16Hi,
};

constexpr unsigned memoryBytes(Format format) {
  switch (format) {
  case Format::U8:
  case Format::I8:
  case Format::U8D16:
  case Format::I8D16:
  case Format::U8D16Hi:
  case Format::I8D16Hi:
    return 1;
  case Format::U16:
  case Format::I16:
  case Format::B16D16:
  case Format::B16D16Hi:
    return 2;
  case Format::B32:
    return 4;
  case Format::B64:
    return 8;
  case Format::B96:
    return 12;
  case Format::B128:
    return 16;
  }
}

constexpr unsigned formatDwords(Format format) {
  return memoryBytes(format) <= 4 ? 1 : memoryBytes(format) / 4;
}

constexpr ValueType formatType(Format format) {
  switch (formatDwords(format)) {
  case 2:
    return ValueType::I64;
  case 3:
    return ValueType::B96;
  case 4:
    return ValueType::B128;
  default:
    return ValueType::I32;
  }
}

/// Puts loaded bytes into the registers of one lane. `bytes` has the size of
/// the format.
template <Format format>
inline void loadLane(Wave &wave, unsigned row, unsigned lane,
                     const uint8_t *bytes) {
  uint32_t *to = &wave.v[row][lane];
  if constexpr (memoryBytes(format) >= 4) {
    for (unsigned d = 0; d < formatDwords(format); ++d) {
      std::memcpy(to + d * waveSize, bytes + 4 * d, 4);
    }
  } else {
    uint16_t value = bytes[0];
    if constexpr (memoryBytes(format) == 2) {
      std::memcpy(&value, bytes, 2);
    }
    constexpr bool signedByte = format == Format::I8 ||
                                format == Format::I8D16 ||
                                format == Format::I8D16Hi;
    if constexpr (signedByte) {
      value = uint16_t(int16_t(int8_t(value)));
    }
    switch (format) {
    case Format::I8:
    case Format::I16:
      *to = uint32_t(int32_t(int16_t(value)));
      break;
    case Format::U8D16:
    case Format::I8D16:
    case Format::B16D16:
      *to = (*to & 0xFFFF0000) | value;
      break;
    case Format::U8D16Hi:
    case Format::I8D16Hi:
    case Format::B16D16Hi:
      *to = (*to & 0xFFFF) | uint32_t(value) << 16;
      break;
    default:
      *to = value;
    }
  }
}

/// Takes the bytes to store from the registers of one lane.
template <Format format>
inline void storeLane(const Wave &wave, unsigned row, unsigned lane,
                      uint8_t *bytes) {
  const uint32_t *from = &wave.v[row][lane];
  if constexpr (memoryBytes(format) >= 4) {
    for (unsigned d = 0; d < formatDwords(format); ++d) {
      std::memcpy(bytes + 4 * d, from + d * waveSize, 4);
    }
  } else {
    constexpr bool high =
        format == Format::U8D16Hi || format == Format::B16D16Hi;
    uint32_t value = high ? *from >> 16 : *from;
    std::memcpy(bytes, &value, memoryBytes(format));
  }
}

/// A dword anywhere in memory.
typedef uint32_t UnalignedDword __attribute__((aligned(1), may_alias));

/// Moves 64 adjacent elements at once; only for formats of whole dwords. The
/// loops are transpositions that the compiler knows.
template <Format format>
inline void loadAllLanes(Wave &wave, unsigned row, const uint8_t *bytes) {
  constexpr unsigned dwords = formatDwords(format);
  const auto *from = reinterpret_cast<const UnalignedDword *>(bytes);
  uint32_t *to = wave.v[row];
  if constexpr (dwords == 1) {
    std::memcpy(to, bytes, 4 * waveSize);
  } else {
#pragma clang loop vectorize(assume_safety)
    for (unsigned i = 0; i < waveSize; ++i) {
      to[i] = from[i * dwords];
      to[waveSize + i] = from[i * dwords + 1];
      if constexpr (dwords >= 3) {
        to[2 * waveSize + i] = from[i * dwords + 2];
      }
      if constexpr (dwords == 4) {
        to[3 * waveSize + i] = from[i * dwords + 3];
      }
    }
  }
}

template <Format format>
inline void storeAllLanes(const Wave &wave, unsigned row, uint8_t *bytes) {
  constexpr unsigned dwords = formatDwords(format);
  auto *to = reinterpret_cast<UnalignedDword *>(bytes);
  const uint32_t *from = wave.v[row];
  if constexpr (dwords == 1) {
    std::memcpy(bytes, from, 4 * waveSize);
  } else {
#pragma clang loop vectorize(assume_safety)
    for (unsigned i = 0; i < waveSize; ++i) {
      to[i * dwords] = from[i];
      to[i * dwords + 1] = from[waveSize + i];
      if constexpr (dwords >= 3) {
        to[i * dwords + 2] = from[2 * waveSize + i];
      }
      if constexpr (dwords == 4) {
        to[i * dwords + 3] = from[3 * waveSize + i];
      }
    }
  }
}

} // namespace tenon::sim

#endif // TENON_LIB_SIM_MEMORYFORMAT_H
