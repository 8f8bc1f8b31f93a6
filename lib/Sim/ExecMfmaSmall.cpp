//===- ExecMfmaSmall.cpp - f8f6f4 matrix products ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of these formats are exact in double precision. Each block of 32
// along K is summed, scaled, and added to C; the sum is rounded once. EXEC is
// ignored.
//
//===----------------------------------------------------------------------===//

#include "HostRounding.h"
#include "MatrixOperands.h"

namespace tenon::sim {

/// Element `index` of the `bits` wide elements that a lane holds.
static uint32_t elementAt(const Wave &wave, unsigned row, unsigned lane,
                          unsigned index, unsigned bits) {
  unsigned at = index * bits;
  uint64_t word = wave.v[row + at / 32][lane];
  if (at % 32 + bits > 32) {
    word |= uint64_t(wave.v[row + at / 32 + 1][lane]) << 32;
  }
  return uint32_t(word >> (at % 32)) & ((1u << bits) - 1);
}

/// K index of element `index` in lane group `group`. 8-bit operands of the
/// f8f6f4 instructions hold two runs of 16, everything else one run.
static unsigned contractionIndex(unsigned index, unsigned group,
                                 unsigned groups, unsigned perLane,
                                 bool twoRuns) {
  if (!twoRuns) {
    return group * perLane + index;
  }
  return index / 16 * 16 * groups + 16 * group + index % 16;
}

/// Expands an operand to one array per K index.
template <unsigned size, unsigned k>
static void expandSmall(const Wave &wave, const Operand &operand,
                        SmallFormat format, float (&out)[k][size]) {
  constexpr unsigned groups = waveSize / size, perLane = k / groups;
  const std::array<float, 256> &values =
      smallFloatValues(format, wave.program->processor());
  bool twoRuns = bitsOf(format) == 8;
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    for (unsigned index = 0; index < perLane; ++index) {
      uint32_t code = elementAt(wave, operand.reg, lane, index, bitsOf(format));
      unsigned at =
          contractionIndex(index, lane / size, groups, perLane, twoRuns);
      out[at][lane % size] = values[code];
    }
  }
}

/// The E8M0 scale of each row and block, from the lane that holds both.
template <unsigned size>
static void expandScales(Wave &wave, const Operand &operand, unsigned byte,
                         double (&out)[size][waveSize / size]) {
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    uint32_t word = operand.kind == OperandKind::Vgpr
                        ? wave.v[operand.reg][lane]
                        : wave.readScalar(operand);
    unsigned scale = (word >> (8 * byte)) & 0xFF;
    out[lane % size][lane / size] =
        scale == 0xFF ? std::nan("") : std::ldexp(1.0, int(scale) - 127);
  }
}

/// What the modifiers of the scales' prefix do to C.
static double modifiedC(const Instr &instr, float value) {
  constexpr unsigned ofC = 4;
  value = instr.opSelHi & ofC ? std::fabs(value) : value;
  return instr.negHi & ofC ? -value : value;
}

template <unsigned size, unsigned k, bool scaled>
static void execF8f6f4(Wave &wave, const Instr &instr) {
  constexpr unsigned groups = waveSize / size, blockSize = k / groups;
  constexpr unsigned registers = size * size / waveSize;
  if (instr.cbsz > 4 || instr.blgp > 4) {
    return wave.fail("cbsz or blgp names no format");
  }
  if ((instr.negHi | instr.opSelHi) & 3) {
    return wave.fail("modifiers of the scales of an MFMA have no meaning");
  }
  NearestRounding rounding(wave.mode);
  static thread_local float a[k][size], b[k][size];
  double scaleA[size][groups], scaleB[size][groups];
  expandSmall<size, k>(wave, instr.src[0], SmallFormat(instr.cbsz), a);
  expandSmall<size, k>(wave, instr.src[1], SmallFormat(instr.blgp), b);
  if (scaled) {
    expandScales<size>(wave, instr.scale[0], instr.opSel & 3, scaleA);
    expandScales<size>(wave, instr.scale[1], instr.opSel >> 2, scaleB);
  }
  const SumOrder<groups> order(wave, instr);
  const Operand &c = instr.src[2];
  Row result[registers];
  for (unsigned v = 0; v < registers; ++v) {
    for (unsigned group = 0; group < groups; ++group) {
      unsigned row =
          size == 16 ? 4 * group + v : 8 * (v / 4) + 4 * group + v % 4;
      double sums[size];
      for (unsigned i = 0; i < size; ++i) {
        uint32_t bits = c.kind == OperandKind::Vgpr
                            ? wave.v[c.reg + v][group * size + i]
                            : wave.readScalar(c);
        sums[i] = modifiedC(instr, std::bit_cast<float>(bits));
      }
      for (unsigned step = 0; step < groups; ++step) {
        unsigned block = order[step];
        double dots[size] = {};
        for (unsigned at = block * blockSize; at < (block + 1) * blockSize;
             ++at) {
          double factor = a[at][row];
          for (unsigned i = 0; i < size; ++i) {
            dots[i] += factor * double(b[at][i]);
          }
        }
        for (unsigned i = 0; i < size; ++i) {
          sums[i] += scaled ? dots[i] * scaleA[row][block] * scaleB[i][block]
                            : dots[i];
        }
      }
      float rounded[size];
      for (unsigned i = 0; i < size; ++i) {
        rounded[i] = float(sums[i]);
      }
      makeNansPositive(rounded, size);
      std::memcpy(&result[v].lane[group * size], rounded, sizeof(rounded));
    }
  }
  for (unsigned v = 0; v < registers; ++v) {
    std::memcpy(wave.v[instr.dst + v], result[v].lane, sizeof(Row));
  }
}

llvm::ArrayRef<OpcodeInfo> smallMatrixTable() {
  constexpr ValueType b256 = ValueType::B256, b128 = ValueType::B128,
                      b512 = ValueType::B512;
  static const OpcodeInfo table[] = {
      {"v_mfma_f32_16x16x128_f8f6f4",
       execF8f6f4<16, 128, false>,
       b128,
       {b256, b256, b128},
       opSmallFormats},
      {"v_mfma_f32_32x32x64_f8f6f4",
       execF8f6f4<32, 64, false>,
       b512,
       {b256, b256, b512},
       opSmallFormats},
      {"v_mfma_scale_f32_16x16x128_f8f6f4",
       execF8f6f4<16, 128, true>,
       b128,
       {b256, b256, b128},
       opSmallFormats},
      {"v_mfma_scale_f32_32x32x64_f8f6f4",
       execF8f6f4<32, 64, true>,
       b512,
       {b256, b256, b512},
       opSmallFormats},
  };
  return table;
}

} // namespace tenon::sim
