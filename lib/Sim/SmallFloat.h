//===- SmallFloat.h - 8-, 6- and 4-bit floats -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_SMALLFLOAT_H
#define TENON_LIB_SIM_SMALLFLOAT_H

#include "tenon/Sim/CodeObject.h"

#include <array>
#include <cstdint>

namespace tenon::sim {

/// Operand formats of v_mfma_*_f8f6f4, as cbsz and blgp number them.
enum class SmallFormat : uint8_t { Fp8, Bf8, Fp6, Bf6, Fp4 };

/// Bits of one element.
constexpr unsigned bitsOf(SmallFormat format) {
  return format <= SmallFormat::Bf8 ? 8 : (format <= SmallFormat::Bf6 ? 6 : 4);
}

/// Values of all codes of a format, by code. 8-bit formats are those of the
/// OCP on gfx950 and FNUZ on gfx942.
const std::array<float, 256> &smallFloatValues(SmallFormat format,
                                               Processor processor);

/// Rounds to the nearest code, ties to even. Values beyond the largest finite
/// one become infinity or NaN, or saturate to it when `saturate`; formats that
/// have neither always saturate, NaNs too.
uint8_t encodeSmallFloat(double value, SmallFormat format, Processor processor,
                         bool saturate);

/// Stochastic rounding: of the distance to the next code, `fractionBits` bits
/// are kept, the top bits of `seed` are added, and the result is truncated.
uint8_t encodeSmallFloatStochastic(double value, SmallFormat format,
                                   Processor processor, bool saturate,
                                   uint32_t seed, unsigned fractionBits);

/// Bits of the mantissa of a format.
unsigned mantissaBitsOf(SmallFormat format);

} // namespace tenon::sim

#endif // TENON_LIB_SIM_SMALLFLOAT_H
