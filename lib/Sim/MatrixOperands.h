//===- MatrixOperands.h - operands of matrix products -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_MATRIXOPERANDS_H
#define TENON_LIB_SIM_MATRIXOPERANDS_H

#include "FloatMath.h"
#include "Lanes.h"
#include "Perturb.h"
#include "Program.h"
#include "SmallFloat.h"

#include <numeric>
#include <optional>

namespace tenon::sim {

// How operand elements lie in registers, and their value. The processor decides
// what 8-bit floats are.

struct F32Element {
  explicit F32Element(Processor) {}
  static constexpr unsigned perRegister = 1;
  static constexpr bool isFloat32 = true;
  float value(uint32_t bits, unsigned) const {
    return std::bit_cast<float>(bits);
  }
};
/// Ten bits of mantissa, rounded to nearest even.
struct Xf32Element {
  explicit Xf32Element(Processor) {}
  static constexpr unsigned perRegister = 1;
  static constexpr bool isFloat32 = true;
  float value(uint32_t bits, unsigned) const {
    uint32_t rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & 0xFFFFE000;
    bool special = (bits & 0x7F800000) == 0x7F800000;
    return std::bit_cast<float>(special ? bits : rounded);
  }
};
struct F16Element {
  explicit F16Element(Processor) {}
  static constexpr unsigned perRegister = 2;
  static constexpr bool isFloat32 = false;
  float value(uint32_t bits, unsigned index) const {
    return float(std::bit_cast<Half>(uint16_t(bits >> (16 * index))));
  }
};
struct Bf16Element {
  explicit Bf16Element(Processor) {}
  static constexpr unsigned perRegister = 2;
  static constexpr bool isFloat32 = false;
  float value(uint32_t bits, unsigned index) const {
    return std::bit_cast<float>(index ? bits & 0xFFFF0000 : bits << 16);
  }
};
struct I8Element {
  explicit I8Element(Processor) {}
  static constexpr unsigned perRegister = 4;
  static constexpr bool isFloat32 = false;
  int32_t value(uint32_t bits, unsigned index) const {
    return int8_t(bits >> (8 * index));
  }
};
template <SmallFormat format> struct Float8Element {
  static constexpr unsigned perRegister = 4;
  static constexpr bool isFloat32 = false;
  explicit Float8Element(Processor processor)
      : values(smallFloatValues(format, processor).data()) {}
  float value(uint32_t bits, unsigned index) const {
    return values[(bits >> (8 * index)) & 0xFF];
  }
  const float *values; ///< by code
};
using Fp8Element = Float8Element<SmallFormat::Fp8>;
using Bf8Element = Float8Element<SmallFormat::Bf8>;

/// The lane that gives each lane its values.
using LaneMap = std::array<uint8_t, waveSize>;

/// CBSZ and ABID: the block ABID of 64 >> CBSZ lanes serves all the others.
/// Nothing when every lane serves itself.
inline std::optional<LaneMap> broadcastA(const Instr &instr) {
  if (!instr.cbsz) {
    return std::nullopt;
  }
  LaneMap map;
  unsigned lanes = waveSize >> instr.cbsz;
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    map[lane] = uint8_t((lane % lanes + lanes * instr.abid) % waveSize);
  }
  return map;
}

/// BLGP: the lanes of B move or are broadcast in eight ways.
inline std::optional<LaneMap> broadcastB(const Instr &instr) {
  if (!instr.blgp) {
    return std::nullopt;
  }
  LaneMap map;
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    switch (instr.blgp) {
    case 1:
    case 2: // one half
      map[lane] = uint8_t(lane % 32 + 32 * (instr.blgp - 1));
      break;
    case 3: // rotated by 16 lanes
      map[lane] = uint8_t((lane + 16) % waveSize);
      break;
    default: // one row of 16 lanes
      map[lane] = uint8_t(lane % 16 + 16 * (instr.blgp - 4));
    }
  }
  return map;
}

/// The registers of a matrix operand after broadcasts.
template <unsigned registers> class MatrixRows {
public:
  MatrixRows(Wave &wave, const Operand &operand,
             const std::optional<LaneMap> &map) {
    for (unsigned r = 0; r < registers; ++r) {
      rows[r] = wave.v[operand.reg + r];
      if (map) [[unlikely]] {
        for (unsigned lane = 0; lane < waveSize; ++lane) {
          copies[r].lane[lane] = rows[r][(*map)[lane]];
        }
        rows[r] = copies[r].lane;
      }
    }
  }

  /// FP_DENORM holds for operands in single precision, not for C and D.
  void flushDenormals(const Wave &wave) {
    if (wave.mode.flushInput32()) [[unlikely]] {
      for (unsigned r = 0; r < registers; ++r) {
        sim::flushDenormals(rows[r], copies[r]);
        rows[r] = copies[r].lane;
      }
    }
  }

  const uint32_t *operator[](unsigned r) const { return rows[r]; }

private:
  const uint32_t *rows[registers];
  Row copies[registers];
};

/// The order in which products are summed over K: upwards, or any order in a
/// perturbed launch.
template <unsigned k> class SumOrder {
public:
  SumOrder(const Wave &wave, const Instr &instr) {
    std::iota(place, place + k, 0);
    if (wave.perturb) [[unlikely]] {
      perturbOrder(wave, instr, place, k);
    }
  }
  unsigned operator[](unsigned index) const { return place[index]; }

private:
  uint8_t place[k];
};

/// The matrix core's NaN.
inline void makeNansPositive(float *values, unsigned count) {
  TENON_LANES
  for (unsigned i = 0; i < count; ++i) {
    values[i] = values[i] != values[i]
                    ? std::bit_cast<float>(FloatBits<float>::invalid)
                    : values[i];
  }
}

} // namespace tenon::sim

#endif // TENON_LIB_SIM_MATRIXOPERANDS_H
