//===- Lanes.h - 64 lanes at a time -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An elementwise vector operation is a lambda over the values of one lane:
//
//   valu<[](float a, float b) { return add(a, b); }>("v_add_f32")
//
// makes the table entry. The types of the lambda say how wide operands are, how
// constants expand and what source modifiers mean; the handler that comes out
// of it runs the lambda over all lanes in a loop that the compiler vectorises,
// and blends by EXEC when some lanes are off.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_SIM_LANES_H
#define TENON_LIB_SIM_LANES_H

#include "HostRounding.h"
#include "Opcode.h"
#include "Wave.h"

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tenon::sim {

using Half = _Float16;

/// A bfloat16, as bits.
struct Bf16 {
  uint16_t bits;
};

/// Two registers of packed floats.
struct Float2 {
  float lo, hi;
};

template <typename T> constexpr ValueType valueTypeOf() {
  if constexpr (std::is_same_v<T, float>) {
    return ValueType::F32;
  } else if constexpr (std::is_same_v<T, double>) {
    return ValueType::F64;
  } else if constexpr (std::is_same_v<T, Half>) {
    return ValueType::F16;
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return ValueType::Bf16;
  } else if constexpr (std::is_same_v<T, Float2>) {
    return ValueType::PackedF32;
  } else if constexpr (sizeof(T) == 8) {
    return ValueType::I64;
  } else if constexpr (sizeof(T) == 2) {
    return ValueType::I16;
  } else {
    return ValueType::I32;
  }
}

/// Argument and result types of a lambda.
template <typename F>
struct LambdaTraits : LambdaTraits<decltype(&F::operator())> {};
template <typename F, typename R, typename... Args>
struct LambdaTraits<R (F::*)(Args...) const> {
  using Result = R;
  static constexpr unsigned arity = sizeof...(Args);
  template <unsigned i>
  using Arg = std::tuple_element_t<i, std::tuple<Args...>>;
};

/// Registers of one source operand: pointers to 64 lanes each.
struct Source {
  const uint32_t *lo = nullptr;
  const uint32_t *hi = nullptr;
};

template <typename T> inline T laneValue(const Source &source, unsigned lane) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(source.lo[lane] | uint64_t(source.hi[lane]) << 32);
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(uint16_t(source.lo[lane]));
  } else {
    return std::bit_cast<T>(source.lo[lane]);
  }
}

// Every loop over lanes is free of dependences between lanes; rows that are
// both source and destination are the same row.
#define TENON_LANES _Pragma("clang loop vectorize(assume_safety)")

inline void broadcast(Row &row, uint32_t value) {
  for (uint32_t &lane : row.lane) {
    lane = value;
  }
}

/// The dword of a float whose sign neg and abs change: a half in its low part.
template <typename T> constexpr uint32_t signBit() {
  return sizeof(T) == 2 ? 0x8000u : 0x80000000u;
}

template <typename T> constexpr bool isFloatingPoint() {
  return std::is_same_v<T, float> || std::is_same_v<T, double> ||
         std::is_same_v<T, Half> || std::is_same_v<T, Bf16>;
}

inline void applyModifiers(const uint32_t *from, Row &to, uint8_t mods,
                           uint32_t sign) {
  uint32_t keep = mods & modAbs ? ~sign : ~0u;
  uint32_t flip = mods & modNeg ? sign : 0;
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    to.lane[i] = (from[i] & keep) ^ flip;
  }
}

/// Denormals become zeros of their sign.
inline void flushDenormals(const uint32_t *from, Row &to) {
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    uint32_t bits = from[i];
    to.lane[i] = (bits & 0x7F800000) == 0 ? bits & 0x80000000 : bits;
  }
}

/// The same for halves in the low bits, and for doubles.
inline void flushHalfDenormals(const uint32_t *from, Row &to) {
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    uint32_t bits = from[i];
    to.lane[i] = (bits & 0x7C00) == 0 ? bits & 0x8000 : bits;
  }
}
inline void flushDoubleDenormals(const uint32_t *lo, const uint32_t *hi,
                                 Row &toLo, Row &toHi) {
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    bool denormal = (hi[i] & 0x7FF00000) == 0;
    uint32_t high = hi[i];
    toLo.lane[i] = denormal ? 0 : lo[i];
    toHi.lane[i] = denormal ? high & 0x80000000 : high;
  }
}

/// The lanes of source `k`, with modifiers applied; what has to be computed
/// goes to `temp`.
template <typename T>
inline Source fetch(Wave &wave, const Instr &instr, unsigned k,
                    Row (&temp)[2]) {
  const Operand &operand = instr.src[k];
  Source source;
  if (operand.kind == OperandKind::Vgpr) {
    source.lo = wave.v[operand.reg];
    source.hi = wave.v[operand.reg + 1];
  } else if constexpr (sizeof(T) == 8) {
    uint64_t value = wave.readScalar64(operand);
    broadcast(temp[0], uint32_t(value));
    broadcast(temp[1], uint32_t(value >> 32));
    source = {temp[0].lane, temp[1].lane};
  } else {
    broadcast(temp[0], wave.readScalar(operand));
    source.lo = temp[0].lane;
  }
  if constexpr (sizeof(T) == 2) {
    if ((instr.opSel >> k) & 1) [[unlikely]] {
      TENON_LANES
      for (unsigned i = 0; i < waveSize; ++i) {
        temp[0].lane[i] = source.lo[i] >> 16;
      }
      source.lo = temp[0].lane;
    }
  }
  if constexpr (isFloatingPoint<T>()) {
    if (operand.mods) {
      if constexpr (sizeof(T) == 8) {
        applyModifiers(source.hi, temp[1], operand.mods, signBit<T>());
        source.hi = temp[1].lane;
      } else {
        applyModifiers(source.lo, temp[0], operand.mods, signBit<T>());
        source.lo = temp[0].lane;
      }
    }
  }
  if constexpr (std::is_same_v<T, float>) {
    if (wave.mode.flushInput32()) [[unlikely]] {
      flushDenormals(source.lo, temp[0]);
      source.lo = temp[0].lane;
    }
  } else if constexpr (std::is_same_v<T, Half>) {
    if (wave.mode.flushInput16And64()) [[unlikely]] {
      flushHalfDenormals(source.lo, temp[0]);
      source.lo = temp[0].lane;
    }
  } else if constexpr (std::is_same_v<T, double>) {
    if (wave.mode.flushInput16And64()) [[unlikely]] {
      flushDoubleDenormals(source.lo, source.hi, temp[0], temp[1]);
      source = {temp[0].lane, temp[1].lane};
    }
  }
  return source;
}

/// Writes a computed row to a register, in the lanes of EXEC.
inline void writeRow(Wave &wave, unsigned row, const Row &result) {
  uint32_t *to = wave.v[row];
  if (wave.exec() == allLanes) {
    std::memcpy(to, result.lane, sizeof(result.lane));
    return;
  }
  const uint32_t *mask = wave.laneMask();
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    to[i] = (result.lane[i] & mask[i]) | (to[i] & ~mask[i]);
  }
}

/// Whether an output modifier counts: not in IEEE mode, and not together with
/// denormal results. One that counts makes denormals and -0 to +0.
inline bool usesOutputModifier(const Instr &instr, const Mode &mode,
                               bool flushesOutput) {
  return instr.omod && flushesOutput && !mode.ieee();
}

/// Applies omod and clamp, and flushes denormal results.
void finishFloat32(Wave &wave, const Instr &instr, Row &result);
void finishFloat64(Wave &wave, const Instr &instr, Row &lo, Row &hi);
void finishHalf(Wave &wave, const Instr &instr, Row &result);

/// Merges 16-bit results into the half that op_sel chooses. The other half is
/// kept when `keepsOther` or when op_sel names the upper one, else zeroed.
void mergeHalf(Wave &wave, const Instr &instr, Row &result, bool keepsOther);

/// Handler of an elementwise operation.
template <auto function, uint32_t flags>
void execValu(Wave &wave, const Instr &instr) {
  using Traits = LambdaTraits<decltype(function)>;
  using R = typename Traits::Result;
  constexpr unsigned arity = Traits::arity;
  constexpr bool roundsAs16 =
      std::is_same_v<R, Half> || std::is_same_v<R, double>;
  RoundingOf16And64<roundsAs16> rounding(wave.mode);
  Row temp[arity][2];
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    Source sources[] = {
        fetch<typename Traits::template Arg<k>>(wave, instr, k, temp[k])...};
    auto compute = [&](uint32_t *lo,
                       uint32_t *hi) __attribute__((always_inline)) {
      TENON_LANES
      for (unsigned i = 0; i < waveSize; ++i) {
        // A call that stays a call would keep the loop scalar.
        R value;
        [[clang::always_inline]] value = function(
            laneValue<typename Traits::template Arg<k>>(sources[k], i)...);
        if constexpr (sizeof(R) == 8) {
          uint64_t bits = std::bit_cast<uint64_t>(value);
          lo[i] = uint32_t(bits);
          hi[i] = uint32_t(bits >> 32);
        } else if constexpr (sizeof(R) == 2) {
          lo[i] = std::bit_cast<uint16_t>(value);
        } else {
          lo[i] = std::bit_cast<uint32_t>(value);
        }
      }
    };
    bool modified = instr.clamp || instr.omod;
    if constexpr (std::is_same_v<R, float>) {
      modified |= wave.mode.flushOutput32();
    } else if constexpr (roundsAs16) {
      modified |= wave.mode.flushOutput16And64();
    }
    if constexpr (sizeof(R) != 2) {
      if (!modified && wave.exec() == allLanes) [[likely]] {
        compute(wave.v[instr.dst], wave.v[instr.dst + 1]);
        return;
      }
    }
    Row result[2];
    compute(result[0].lane, result[1].lane);
    if constexpr (sizeof(R) == 2) {
      if constexpr (std::is_same_v<R, Half>) {
        if (modified) {
          finishHalf(wave, instr, result[0]);
        }
      }
      mergeHalf(wave, instr, result[0], flags & opReadsDst);
    }
    if (modified) [[unlikely]] {
      if constexpr (std::is_same_v<R, float>) {
        finishFloat32(wave, instr, result[0]);
      } else if constexpr (std::is_same_v<R, double>) {
        finishFloat64(wave, instr, result[0], result[1]);
      } else if constexpr (!std::is_same_v<R, Half>) {
        return wave.fail("clamp on this operation is not implemented");
      }
    }
    writeRow(wave, instr.dst, result[0]);
    if constexpr (sizeof(R) == 8) {
      writeRow(wave, instr.dst + 1, result[1]);
    }
  }(std::make_index_sequence<arity>());
}

/// Table entry of an elementwise operation.
template <auto function, uint32_t flags = opNone>
constexpr OpcodeInfo valu(llvm::StringLiteral name) {
  using Traits = LambdaTraits<decltype(function)>;
  OpcodeInfo info = {name, execValu<function, flags>,
                     valueTypeOf<typename Traits::Result>()};
  info.flags = flags;
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    ((info.src[k] = valueTypeOf<typename Traits::template Arg<k>>()), ...);
  }(std::make_index_sequence<Traits::arity>());
  return info;
}

/// Saturating forms of an integer addition, chosen by the clamp bit.
template <auto plain, auto saturating, uint32_t flags>
void execClampable(Wave &wave, const Instr &instr) {
  if (!instr.clamp) {
    return execValu<plain, flags>(wave, instr);
  }
  Instr unclamped = instr;
  unclamped.clamp = false;
  execValu<saturating, flags>(wave, unclamped);
}

template <auto plain, auto saturating, uint32_t flags = opNone>
constexpr OpcodeInfo clampable(llvm::StringLiteral name) {
  OpcodeInfo info = valu<plain, flags>(name);
  info.handler = execClampable<plain, saturating, flags>;
  return info;
}

/// Minima and maxima, which the IEEE bit of MODE changes.
template <auto ieee, auto other, uint32_t flags>
void execByIeeeMode(Wave &wave, const Instr &instr) {
  wave.mode.ieee() ? execValu<ieee, flags>(wave, instr)
                   : execValu<other, flags>(wave, instr);
}

template <auto ieee, auto other, uint32_t flags = opNone>
constexpr OpcodeInfo byIeeeMode(llvm::StringLiteral name) {
  OpcodeInfo info = valu<ieee, flags>(name);
  info.handler = execByIeeeMode<ieee, other, flags>;
  return info;
}

/// The bits of lanes that are not zero in a row.
inline uint64_t maskOf(const Row &row) {
  uint64_t mask = 0;
  for (unsigned group = 0; group < 8; ++group) {
    uint64_t byte = 0;
    for (unsigned i = 0; i < 8; ++i) {
      byte |= uint64_t(row.lane[8 * group + i] != 0) << i;
    }
    mask |= byte << (8 * group);
  }
  return mask;
}

} // namespace tenon::sim

#endif // TENON_LIB_SIM_LANES_H
