//===- ExecMfma.cpp - matrix products ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products D = A * B + C of one or several blocks. Lane l holds row (of A) or
// column (of B) l % size of block l / size % blocks and, of K, a run of
// `perLane` indices. Products are exact; sums run over K upwards from C, each
// step fused and rounded to nearest; the hardware's own order is not published,
// and a perturbed launch changes it. EXEC is ignored.
//
//===----------------------------------------------------------------------===//

#include "MatrixKernel.h"

#include "HostRounding.h"

namespace tenon::sim {

namespace {

/// Where the results of one block lie. Blocks of 4 x 4 share registers, larger
/// ones follow one another.
template <unsigned size> struct AccumulatorLayout {
  static constexpr bool shared = size == 4;
  static constexpr unsigned registers = shared ? size : size * size / waveSize;
  static constexpr unsigned groups = shared ? 1 : waveSize / size;

  static unsigned reg(unsigned block, unsigned v) {
    return shared ? v : block * registers + v;
  }
  static unsigned lane(unsigned block, unsigned g) {
    return (shared ? block : g) * size;
  }
};

} // namespace

template <typename ElementA, typename ElementB, typename T, unsigned size,
          unsigned k, unsigned blocks>
static void execMfma(Wave &wave, const Instr &instr) {
  using Layout = AccumulatorLayout<size>;
  constexpr unsigned groups = waveSize / (size * blocks), perLane = k / groups;
  constexpr unsigned registers = perLane / ElementA::perRegister;
  NearestRounding rounding(wave.mode);
  MatrixRows<registers> rowsA(wave, instr.src[0], broadcastA(instr));
  MatrixRows<registers> rowsB(wave, instr.src[1], broadcastB(instr));
  if constexpr (ElementA::isFloat32) {
    rowsA.flushDenormals(wave);
    rowsB.flushDenormals(wave);
  }
  const ElementA elementA(wave.program->processor());
  const ElementB elementB(wave.program->processor());
  const Operand &c = instr.src[2];
  alignas(64) T a[k][size], b[k][size], sums[blocks][size][size];
  for (unsigned block = 0; block < blocks; ++block) {
    for (unsigned v = 0; v < Layout::registers; ++v) {
      for (unsigned g = 0; g < Layout::groups; ++g) {
        T *to = sums[block][accumulatorRow<size>(v, g)];
        for (unsigned i = 0; i < size; ++i) {
          uint32_t bits = c.kind == OperandKind::Vgpr
                              ? wave.v[c.reg + Layout::reg(block, v)]
                                      [Layout::lane(block, g) + i]
                              : wave.readScalar(c);
          to[i] = std::bit_cast<T>(bits);
        }
      }
    }
    for (unsigned j = 0; j < perLane; ++j) {
      for (unsigned g = 0; g < groups; ++g) {
        unsigned lane = (g * blocks + block) * size;
        unsigned part = j % ElementA::perRegister;
        const uint32_t *fromA = rowsA[j / ElementA::perRegister] + lane;
        const uint32_t *fromB = rowsB[j / ElementA::perRegister] + lane;
        unsigned at = g * perLane + j;
        TENON_LANES
        for (unsigned i = 0; i < size; ++i) {
          a[at][i] = elementA.value(fromA[i], part);
        }
        TENON_LANES
        for (unsigned i = 0; i < size; ++i) {
          b[at][i] = elementB.value(fromB[i], part);
        }
      }
    }
    if (wave.perturb) [[unlikely]] {
      permuteRows(wave, instr, a, b);
    }
    multiplyBlock<T, size, k>(a, b, sums[block]);
  }
  for (unsigned block = 0; block < blocks; ++block) {
    for (unsigned v = 0; v < Layout::registers; ++v) {
      for (unsigned g = 0; g < Layout::groups; ++g) {
        T *from = sums[block][accumulatorRow<size>(v, g)];
        std::memcpy(
            &wave.v[instr.dst + Layout::reg(block, v)][Layout::lane(block, g)],
            from, size * sizeof(T));
      }
    }
  }
}

/// Double precision: one element per lane, K along the lane groups; BLGP
/// negates A, B and C. Rows of D go round the lane groups first.
template <unsigned size, unsigned blocks>
static void execMfmaDouble(Wave &wave, const Instr &instr) {
  constexpr unsigned k = 4;
  constexpr unsigned registers = size * size * blocks / waveSize;
  NearestRounding rounding(wave.mode);
  auto value = [&](const Operand &operand, unsigned element, unsigned lane,
                   unsigned sign) {
    uint64_t bits = wave.readScalar64(operand);
    if (operand.kind == OperandKind::Vgpr) {
      bits = wave.v[operand.reg + 2 * element][lane] |
             uint64_t(wave.v[operand.reg + 2 * element + 1][lane]) << 32;
    }
    return std::bit_cast<double>(bits ^ uint64_t((instr.blgp >> sign) & 1)
                                            << 63);
  };
  const SumOrder<k> order(wave, instr);
  double results[registers][waveSize];
  for (unsigned v = 0; v < registers; ++v) {
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      unsigned column = lane % size, block = lane / size % blocks;
      unsigned row = 4 * v + lane / (size * blocks);
      double sum = value(instr.src[2], v, lane, 2);
      for (unsigned step = 0; step < k; ++step) {
        unsigned first = (order[step] * blocks + block) * size;
        sum = __builtin_fma(value(instr.src[0], 0, first + row, 0),
                            value(instr.src[1], 0, first + column, 1), sum);
      }
      results[v][lane] =
          sum != sum ? std::bit_cast<double>(FloatBits<double>::invalid) : sum;
    }
  }
  for (unsigned v = 0; v < registers; ++v) {
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      uint64_t bits = std::bit_cast<uint64_t>(results[v][lane]);
      wave.v[instr.dst + 2 * v][lane] = uint32_t(bits);
      wave.v[instr.dst + 2 * v + 1][lane] = uint32_t(bits >> 32);
    }
  }
}

/// 4:2 structured sparsity: of each four indices of K, A holds two; a register
/// names which. VDST is accumulated on; SRC2 is always an architectural VGPR.
template <typename ElementA, typename ElementB, typename T, unsigned size,
          unsigned k>
static void execSmfmac(Wave &wave, const Instr &instr) {
  using Layout = AccumulatorLayout<size>;
  constexpr unsigned groups = waveSize / size;
  constexpr unsigned perLaneA = k / 2 / groups, perLaneB = k / groups;
  constexpr unsigned perRegister = ElementA::perRegister;
  // B lies in runs of four registers, the groups of lanes side by side.
  constexpr unsigned run = 4 * perRegister;
  NearestRounding rounding(wave.mode);
  const ElementA elementA(wave.program->processor());
  const ElementB elementB(wave.program->processor());
  T b[k][size], sums[size][size];
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    for (unsigned e = 0; e < perLaneB; ++e) {
      unsigned at = e / run * run * groups + run * (lane / size) + e % run;
      uint32_t bits = wave.v[instr.src[1].reg + e / perRegister][lane];
      b[at][lane % size] = elementB.value(bits, e % perRegister);
    }
    for (unsigned v = 0; v < Layout::registers; ++v) {
      sums[accumulatorRow<size>(v, lane / size)][lane % size] =
          std::bit_cast<T>(wave.v[instr.dst + v][lane]);
    }
  }
  constexpr unsigned indexBits = 2 * perLaneA, sets = 32 / indexBits;
  unsigned set = instr.cbsz & 3 ? 0 : instr.abid & (sets - 1);
  const SumOrder<k / 2> order(wave, instr);
  for (unsigned row = 0; row < size; ++row) {
    for (unsigned step = 0; step < k / 2; ++step) {
      unsigned compressed = order[step];
      unsigned e = compressed % perLaneA;
      unsigned lane = compressed / perLaneA * size + row;
      uint32_t bits = wave.v[instr.src[0].reg + e / perRegister][lane];
      T factor = elementA.value(bits, e % perRegister);
      uint32_t indices = wave.v[instr.src[2].reg][lane] >> (set * indexBits);
      unsigned at = 4 * (compressed / 2) + ((indices >> (2 * e)) & 3);
      for (unsigned i = 0; i < size; ++i) {
        sums[row][i] = multiplyAdd(factor, b[at][i], sums[row][i]);
      }
    }
    if constexpr (std::is_same_v<T, float>) {
      makeNansPositive(sums[row], size);
    }
  }
  for (unsigned v = 0; v < Layout::registers; ++v) {
    for (unsigned g = 0; g < groups; ++g) {
      std::memcpy(&wave.v[instr.dst + v][g * size],
                  sums[accumulatorRow<size>(v, g)], size * sizeof(T));
    }
  }
}

static constexpr ValueType typeOfRegisters(unsigned registers) {
  switch (registers) {
  case 1:
    return ValueType::I32;
  case 2:
    return ValueType::PackedF32;
  case 4:
    return ValueType::B128;
  case 8:
    return ValueType::B256;
  case 16:
    return ValueType::B512;
  default:
    return ValueType::B1024;
  }
}

/// Table entry of a dense product.
template <typename Element, typename T, unsigned size, unsigned k,
          unsigned blocks = 1, typename ElementB = Element>
static constexpr OpcodeInfo mfma(llvm::StringLiteral name) {
  constexpr ValueType operand =
      typeOfRegisters(size * blocks * k / waveSize / Element::perRegister);
  constexpr ValueType accumulator =
      typeOfRegisters(size * size * blocks / waveSize);
  return {name,
          execMfma<Element, ElementB, T, size, k, blocks>,
          accumulator,
          {operand, operand, accumulator}};
}

template <unsigned size, unsigned blocks>
static constexpr OpcodeInfo mfmaDouble(llvm::StringLiteral name) {
  constexpr ValueType accumulator =
      size == 16 ? ValueType::B256 : ValueType::F64;
  return {name,
          execMfmaDouble<size, blocks>,
          accumulator,
          {ValueType::F64, ValueType::F64, accumulator}};
}

/// Table entry of a sparse product.
template <typename ElementA, typename ElementB, typename T, unsigned size,
          unsigned k>
static constexpr OpcodeInfo smfmac(llvm::StringLiteral name) {
  constexpr unsigned registers =
      size * k / 2 / waveSize / ElementA::perRegister;
  return {name,
          execSmfmac<ElementA, ElementB, T, size, k>,
          typeOfRegisters(size * size / waveSize),
          {typeOfRegisters(registers), typeOfRegisters(2 * registers),
           ValueType::I32},
          opSparse};
}

llvm::ArrayRef<OpcodeInfo> matrixTable() {
  static const OpcodeInfo table[] = {
      mfma<F32Element, float, 16, 4>("v_mfma_f32_16x16x4_f32"),
      mfma<F32Element, float, 32, 2>("v_mfma_f32_32x32x2_f32"),
      mfma<F32Element, float, 32, 1, 2>("v_mfma_f32_32x32x1_2b_f32"),
      mfma<F32Element, float, 16, 1, 4>("v_mfma_f32_16x16x1_4b_f32"),
      mfma<F32Element, float, 4, 1, 16>("v_mfma_f32_4x4x1_16b_f32"),
      mfma<Xf32Element, float, 16, 8>("v_mfma_f32_16x16x8_xf32"),
      mfma<Xf32Element, float, 32, 4>("v_mfma_f32_32x32x4_xf32"),
      mfma<F16Element, float, 16, 16>("v_mfma_f32_16x16x16_f16"),
      mfma<F16Element, float, 32, 8>("v_mfma_f32_32x32x8_f16"),
      mfma<F16Element, float, 16, 32>("v_mfma_f32_16x16x32_f16"),
      mfma<F16Element, float, 32, 16>("v_mfma_f32_32x32x16_f16"),
      mfma<F16Element, float, 32, 4, 2>("v_mfma_f32_32x32x4_2b_f16"),
      mfma<F16Element, float, 16, 4, 4>("v_mfma_f32_16x16x4_4b_f16"),
      mfma<F16Element, float, 4, 4, 16>("v_mfma_f32_4x4x4_16b_f16"),
      mfma<Bf16Element, float, 16, 16>("v_mfma_f32_16x16x16_bf16"),
      mfma<Bf16Element, float, 32, 8>("v_mfma_f32_32x32x8_bf16"),
      mfma<Bf16Element, float, 16, 32>("v_mfma_f32_16x16x32_bf16"),
      mfma<Bf16Element, float, 32, 16>("v_mfma_f32_32x32x16_bf16"),
      mfma<Bf16Element, float, 32, 4, 2>("v_mfma_f32_32x32x4_2b_bf16"),
      mfma<Bf16Element, float, 16, 4, 4>("v_mfma_f32_16x16x4_4b_bf16"),
      mfma<Bf16Element, float, 4, 4, 16>("v_mfma_f32_4x4x4_16b_bf16"),
      mfma<I8Element, int32_t, 16, 32>("v_mfma_i32_16x16x32_i8"),
      mfma<I8Element, int32_t, 32, 16>("v_mfma_i32_32x32x16_i8"),
      mfma<I8Element, int32_t, 16, 64>("v_mfma_i32_16x16x64_i8"),
      mfma<I8Element, int32_t, 32, 32>("v_mfma_i32_32x32x32_i8"),
      mfma<I8Element, int32_t, 32, 4, 2>("v_mfma_i32_32x32x4_2b_i8"),
      mfma<I8Element, int32_t, 16, 4, 4>("v_mfma_i32_16x16x4_4b_i8"),
      mfma<I8Element, int32_t, 4, 4, 16>("v_mfma_i32_4x4x4_16b_i8"),
      mfma<Fp8Element, float, 16, 32, 1, Fp8Element>(
          "v_mfma_f32_16x16x32_fp8_fp8"),
      mfma<Fp8Element, float, 16, 32, 1, Bf8Element>(
          "v_mfma_f32_16x16x32_fp8_bf8"),
      mfma<Bf8Element, float, 16, 32, 1, Fp8Element>(
          "v_mfma_f32_16x16x32_bf8_fp8"),
      mfma<Bf8Element, float, 16, 32, 1, Bf8Element>(
          "v_mfma_f32_16x16x32_bf8_bf8"),
      mfma<Fp8Element, float, 32, 16, 1, Fp8Element>(
          "v_mfma_f32_32x32x16_fp8_fp8"),
      mfma<Fp8Element, float, 32, 16, 1, Bf8Element>(
          "v_mfma_f32_32x32x16_fp8_bf8"),
      mfma<Bf8Element, float, 32, 16, 1, Fp8Element>(
          "v_mfma_f32_32x32x16_bf8_fp8"),
      mfma<Bf8Element, float, 32, 16, 1, Bf8Element>(
          "v_mfma_f32_32x32x16_bf8_bf8"),
      mfmaDouble<16, 1>("v_mfma_f64_16x16x4_f64"),
      mfmaDouble<4, 4>("v_mfma_f64_4x4x4_4b_f64"),
      smfmac<F16Element, F16Element, float, 16, 32>(
          "v_smfmac_f32_16x16x32_f16"),
      smfmac<F16Element, F16Element, float, 32, 16>(
          "v_smfmac_f32_32x32x16_f16"),
      smfmac<F16Element, F16Element, float, 16, 64>(
          "v_smfmac_f32_16x16x64_f16"),
      smfmac<F16Element, F16Element, float, 32, 32>(
          "v_smfmac_f32_32x32x32_f16"),
      smfmac<Bf16Element, Bf16Element, float, 16, 32>(
          "v_smfmac_f32_16x16x32_bf16"),
      smfmac<Bf16Element, Bf16Element, float, 32, 16>(
          "v_smfmac_f32_32x32x16_bf16"),
      smfmac<Bf16Element, Bf16Element, float, 16, 64>(
          "v_smfmac_f32_16x16x64_bf16"),
      smfmac<Bf16Element, Bf16Element, float, 32, 32>(
          "v_smfmac_f32_32x32x32_bf16"),
      smfmac<I8Element, I8Element, int32_t, 16, 64>("v_smfmac_i32_16x16x64_i8"),
      smfmac<I8Element, I8Element, int32_t, 32, 32>("v_smfmac_i32_32x32x32_i8"),
      smfmac<I8Element, I8Element, int32_t, 16, 128>(
          "v_smfmac_i32_16x16x128_i8"),
      smfmac<I8Element, I8Element, int32_t, 32, 64>("v_smfmac_i32_32x32x64_i8"),
      smfmac<Fp8Element, Fp8Element, float, 16, 64>(
          "v_smfmac_f32_16x16x64_fp8_fp8"),
      smfmac<Fp8Element, Bf8Element, float, 16, 64>(
          "v_smfmac_f32_16x16x64_fp8_bf8"),
      smfmac<Bf8Element, Fp8Element, float, 16, 64>(
          "v_smfmac_f32_16x16x64_bf8_fp8"),
      smfmac<Bf8Element, Bf8Element, float, 16, 64>(
          "v_smfmac_f32_16x16x64_bf8_bf8"),
      smfmac<Fp8Element, Fp8Element, float, 32, 32>(
          "v_smfmac_f32_32x32x32_fp8_fp8"),
      smfmac<Fp8Element, Bf8Element, float, 32, 32>(
          "v_smfmac_f32_32x32x32_fp8_bf8"),
      smfmac<Bf8Element, Fp8Element, float, 32, 32>(
          "v_smfmac_f32_32x32x32_bf8_fp8"),
      smfmac<Bf8Element, Bf8Element, float, 32, 32>(
          "v_smfmac_f32_32x32x32_bf8_bf8"),
      smfmac<Fp8Element, Fp8Element, float, 16, 128>(
          "v_smfmac_f32_16x16x128_fp8_fp8"),
      smfmac<Fp8Element, Bf8Element, float, 16, 128>(
          "v_smfmac_f32_16x16x128_fp8_bf8"),
      smfmac<Bf8Element, Fp8Element, float, 16, 128>(
          "v_smfmac_f32_16x16x128_bf8_fp8"),
      smfmac<Bf8Element, Bf8Element, float, 16, 128>(
          "v_smfmac_f32_16x16x128_bf8_bf8"),
      smfmac<Fp8Element, Fp8Element, float, 32, 64>(
          "v_smfmac_f32_32x32x64_fp8_fp8"),
      smfmac<Fp8Element, Bf8Element, float, 32, 64>(
          "v_smfmac_f32_32x32x64_fp8_bf8"),
      smfmac<Bf8Element, Fp8Element, float, 32, 64>(
          "v_smfmac_f32_32x32x64_bf8_fp8"),
      smfmac<Bf8Element, Bf8Element, float, 32, 64>(
          "v_smfmac_f32_32x32x64_bf8_bf8"),
  };
  return table;
}

} // namespace tenon::sim
