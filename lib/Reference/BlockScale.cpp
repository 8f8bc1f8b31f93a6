//===- BlockScale.cpp - values that share a scale ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/BlockScale.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <cmath>

namespace tenon::reference {

static constexpr int scaleBias = 127;
static constexpr uint64_t nanScale = 255;

std::vector<double> ScaledBlock::values(ElementType type) const {
  double factor = decode(ElementType::E8M0, scale);
  std::vector<double> result;
  result.reserve(codes.size());
  for (uint64_t code : codes) {
    result.push_back(decode(type, code) * factor);
  }
  return result;
}

/// s for a finite \p amax.
static int exponentOf(double amax, ElementType type, ScaleMode mode) {
  if (amax == 0) {
    return -scaleBias;
  }
  bool isFp4 = type == ElementType::FP4E2M1;
  // The greatest value is 1.5 * 2^2 or 1.75 * 2^8; the mantissa has 1 or 3
  // bits, of which half the last is 2^-2 or 2^-4.
  int exponent = std::ilogb(amax) - (isFp4 ? 2 : 8);
  double mantissa = std::ldexp(amax, -std::ilogb(amax));
  switch (mode) {
  case ScaleMode::Up:
    exponent += mantissa > (isFp4 ? 1.5 : 1.75);
    break;
  case ScaleMode::Floor:
    break;
  case ScaleMode::Even:
    exponent += mantissa + (isFp4 ? 0x1p-2 : 0x1p-4) >= 2;
    break;
  }
  return std::max(exponent, -scaleBias);
}

ScaledBlock scaleBlock(llvm::ArrayRef<double> values, ElementType type,
                       ScaleMode mode) {
  assert((type == ElementType::FP4E2M1 || type == ElementType::FP8E4M3) &&
         "types that take scales");
  double amax = 0;
  bool isFinite = true;
  for (double value : values) {
    isFinite &= std::isfinite(value);
    amax = std::fmax(amax, std::fabs(value));
  }
  ScaledBlock block;
  if (!isFinite) {
    block.codes.assign(values.size(), 0);
    block.scale = nanScale;
    return block;
  }
  int exponent = exponentOf(amax, type, mode);
  block.scale = uint64_t(exponent + scaleBias);
  for (double value : values) {
    block.codes.push_back(encode(type, std::ldexp(value, -exponent)));
  }
  return block;
}

} // namespace tenon::reference
