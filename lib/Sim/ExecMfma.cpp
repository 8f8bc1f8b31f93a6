//===- ExecMfma.cpp - dense matrix products ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One-block products D = A * B + C of a wave. Lane l holds row (of A) or column
// (of B) l % size and, of K, the run of `perLane` indices of its lane group
// l / size. Sums run over K upwards from C, each step fused; the hardware's own
// order is not published. EXEC is ignored.
//
//===----------------------------------------------------------------------===//

#include "FloatMath.h"
#include "Lanes.h"

namespace tenon::sim {

namespace {

/// How operand elements lie in registers, and their value.
struct F32Element {
  static constexpr unsigned perRegister = 1;
  static float value(uint32_t bits, unsigned) {
    return std::bit_cast<float>(bits);
  }
};
struct F16Element {
  static constexpr unsigned perRegister = 2;
  static float value(uint32_t bits, unsigned index) {
    return float(std::bit_cast<Half>(uint16_t(bits >> (16 * index))));
  }
};
struct Bf16Element {
  static constexpr unsigned perRegister = 2;
  static float value(uint32_t bits, unsigned index) {
    return std::bit_cast<float>(index ? bits & 0xFFFF0000 : bits << 16);
  }
};
struct I8Element {
  static constexpr unsigned perRegister = 4;
  static int32_t value(uint32_t bits, unsigned index) {
    return int8_t(bits >> (8 * index));
  }
};

/// Row of C and D that register v of lane group g holds.
template <unsigned size>
constexpr unsigned accumulatorRow(unsigned v, unsigned g) {
  return size == 16 ? 4 * g + v : 8 * (v / 4) + 4 * g + v % 4;
}

/// Expands a matrix operand to one array per K index.
template <typename Element, typename T, unsigned size, unsigned k>
void expand(Wave &wave, const Operand &operand, T (&out)[k][size]) {
  constexpr unsigned groups = waveSize / size;
  constexpr unsigned perLane = k / groups;
  for (unsigned j = 0; j < perLane; ++j) {
    const uint32_t *row = wave.v[operand.reg + j / Element::perRegister];
    for (unsigned g = 0; g < groups; ++g) {
      T *to = out[g * perLane + j];
      TENON_LANES
      for (unsigned i = 0; i < size; ++i) {
        to[i] = Element::value(row[g * size + i], j % Element::perRegister);
      }
    }
  }
}

} // namespace

template <typename Element, typename T, unsigned size, unsigned k>
static void execMfma(Wave &wave, const Instr &instr) {
  constexpr unsigned groups = waveSize / size;
  constexpr unsigned registers = size * size / waveSize;
  if (instr.cbsz || instr.abid || instr.blgp) {
    return wave.fail("cbsz, abid and blgp of this MFMA are not implemented");
  }
  alignas(64) T a[k][size], b[k][size], sums[size][size];
  expand<Element, T, size, k>(wave, instr.src[0], a);
  expand<Element, T, size, k>(wave, instr.src[1], b);
  const Operand &c = instr.src[2];
  for (unsigned v = 0; v < registers; ++v) {
    for (unsigned g = 0; g < groups; ++g) {
      T *to = sums[accumulatorRow<size>(v, g)];
      for (unsigned i = 0; i < size; ++i) {
        uint32_t bits = c.kind == OperandKind::Vgpr
                            ? wave.v[c.reg + v][g * size + i]
                            : wave.readScalar(c);
        to[i] = std::bit_cast<T>(bits);
      }
    }
  }
  for (unsigned row = 0; row < size; ++row) {
    T accumulators[size];
    std::memcpy(accumulators, sums[row], sizeof(accumulators));
    for (unsigned step = 0; step < k; ++step) {
      T factor = a[step][row];
      for (unsigned i = 0; i < size; ++i) {
        if constexpr (std::is_same_v<T, float>) {
          accumulators[i] = __builtin_fmaf(factor, b[step][i], accumulators[i]);
        } else {
          accumulators[i] =
              T(uint32_t(accumulators[i]) + uint32_t(factor * b[step][i]));
        }
      }
    }
    std::memcpy(sums[row], accumulators, sizeof(accumulators));
  }
  for (unsigned v = 0; v < registers; ++v) {
    for (unsigned g = 0; g < groups; ++g) {
      std::memcpy(&wave.v[instr.dst + v][g * size],
                  sums[accumulatorRow<size>(v, g)], size * sizeof(T));
    }
  }
}

/// Table entry; A and B take `registers` registers each.
template <typename Element, typename T, unsigned size, unsigned k>
static constexpr OpcodeInfo mfma(llvm::StringLiteral name) {
  constexpr unsigned elements = size * k / waveSize;
  constexpr unsigned registers = elements / Element::perRegister;
  constexpr ValueType operand = registers == 1   ? ValueType::I32
                                : registers == 2 ? ValueType::PackedF32
                                                 : ValueType::B128;
  constexpr ValueType accumulator =
      size == 16 ? ValueType::B128 : ValueType::B512;
  return {name,
          execMfma<Element, T, size, k>,
          accumulator,
          {operand, operand, accumulator}};
}

llvm::ArrayRef<OpcodeInfo> matrixTable() {
  static const OpcodeInfo table[] = {
      mfma<F32Element, float, 16, 4>("v_mfma_f32_16x16x4_f32"),
      mfma<F32Element, float, 32, 2>("v_mfma_f32_32x32x2_f32"),
      mfma<F16Element, float, 16, 16>("v_mfma_f32_16x16x16_f16"),
      mfma<F16Element, float, 32, 8>("v_mfma_f32_32x32x8_f16"),
      mfma<F16Element, float, 16, 32>("v_mfma_f32_16x16x32_f16"),
      mfma<F16Element, float, 32, 16>("v_mfma_f32_32x32x16_f16"),
      mfma<Bf16Element, float, 16, 16>("v_mfma_f32_16x16x16_bf16"),
      mfma<Bf16Element, float, 32, 8>("v_mfma_f32_32x32x8_bf16"),
      mfma<Bf16Element, float, 16, 32>("v_mfma_f32_16x16x32_bf16"),
      mfma<Bf16Element, float, 32, 16>("v_mfma_f32_32x32x16_bf16"),
      mfma<I8Element, int32_t, 16, 32>("v_mfma_i32_16x16x32_i8"),
      mfma<I8Element, int32_t, 32, 16>("v_mfma_i32_32x32x16_i8"),
      mfma<I8Element, int32_t, 16, 64>("v_mfma_i32_16x16x64_i8"),
      mfma<I8Element, int32_t, 32, 32>("v_mfma_i32_32x32x32_i8"),
  };
  return table;
}

} // namespace tenon::sim
