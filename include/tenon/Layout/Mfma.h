//===- Mfma.h - the operand and result maps of MFMA instructions -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lane l of a wave holds, with i = l mod mn and g = l / mn (mn = 16 or 32 being
// the number of rows and columns of the result):
//
//   A[i, k] and B[k, i] for the e = mn * K / 64 values of k of its group g,
//   C[row, i] for the rows given at mfmaAccumulator.
//
// Registers are counted in elements, in the order in which the instruction
// packs them into VGPRs.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LAYOUT_MFMA_H
#define TENON_LAYOUT_MFMA_H

#include "tenon/Layout/Layout.h"

namespace tenon::layout {

/// Element formats that have maps of their own. F16 stands for f16 and bf16, F8
/// for both 8-bit floats, F6 for both 6-bit floats.
enum class MfmaFormat : uint8_t { F64, F32, F16, I8, F8, F6, F4 };

llvm::StringRef stringifyMfmaFormat(MfmaFormat format);

/// Operand A of an mn x mn x k instruction, over [mn, k]. The lanes of group g
/// hold k = e*g .. e*g + e - 1, except in the F8 forms with e = 32 (16x16x128
/// and 32x32x64): there register j holds k = 16*g + j for j < 16 and
/// k = K/2 + 16*g + j - 16 above. The operands of a mixed f8f6f4 instruction
/// each have the map of their own format.
llvm::Expected<Layout> mfmaOperandA(int64_t mn, int64_t k, MfmaFormat format);

/// Operand B, over [k, mn]: the transpose of the map of A.
llvm::Expected<Layout> mfmaOperandB(int64_t mn, int64_t k, MfmaFormat format);

/// The accumulator of an mn x mn instruction, over [mn, mn]; `format` matters
/// only by being F64 or not. Register v of lane (i, g) holds column i of row
///   16x16:      4*g + v,
///   16x16 F64:  4*v + g,
///   32x32:      8*(v/4) + 4*g + v mod 4.
llvm::Expected<Layout> mfmaAccumulator(int64_t mn,
                                       MfmaFormat format = MfmaFormat::F32);

/// The scales of operand A of a scaled instruction, one E8M0 byte per row and
/// 32 values of k, over [mn, k/32]: lane (i, g) holds the one of row i and
/// block g, for every element format (also for F8, whose elements lie
/// elsewhere).
llvm::Expected<Layout> mfmaScaleA(int64_t mn, int64_t k);

/// The scales of operand B, over [k/32, mn].
llvm::Expected<Layout> mfmaScaleB(int64_t mn, int64_t k);

//===----------------------------------------------------------------------===//
// Whole tiles
//===----------------------------------------------------------------------===//

/// How a product of tiles is shared out, see mfmaTile.
struct MfmaTiling {
  int64_t mn;           ///< rows and columns of the instruction
  int64_t wavesM;       ///< waves along the rows of the tile
  int64_t wavesN;       ///< waves along its columns
  unsigned rowDim = 1;  ///< dim of the tile along which instruction rows lie
  int64_t replicas = 1; ///< waves that hold the same, a power of two
  /// Whether the rows of one instruction are 16 (or 32) consecutive elements.
  bool wholeRows = false;
};

/// A layout of the accumulators of an [m, n] tile for mn x mn instructions.
/// Each wave owns one block of the tile. The rows of the instruction lie along
/// `rowDim`, permuted so that a lane holds as many consecutive elements along
/// it as it can: 8 of a 16x16 accumulator (of two instructions; 4 when a wave
/// has only 16 of them, or with `wholeRows`), 16 of a 32x32 one.
llvm::Expected<Layout> mfmaTile(int64_t m, int64_t n, const MfmaTiling &tiling);

/// \p layout with a new dim 0 of extent \p extent, a power of two, in the
/// lowest of its wave bits, which must replicate.
llvm::Expected<Layout> sliceOverWaves(const Layout &layout, int64_t extent);

/// The layouts of operands [m, k] and [k, n] that go with an accumulator.
struct MfmaOperands {
  Layout lhs;
  Layout rhs;
  /// Dim of the accumulator along which instruction rows lie: operand A of the
  /// instruction is `lhs` for 0 and `rhs` for 1.
  unsigned rowDim;
};

/// Which values of the contraction index an instruction takes. Any order will
/// do when both operands follow it: values `run` apart in an instruction are
/// `steps * run` apart in the tile, and what lies between belongs to the next
/// instructions. A lane then holds `steps * run` values side by side.
struct Contraction {
  int64_t run = 1;
  int64_t steps = 1;

  bool operator==(const Contraction &) const = default;
};

/// The operand layouts of products of mn x mn x k instructions, over `extentK`
/// values of the contraction index, that add to a tile laid out as
/// `accumulator`. Its low register bits and its lane bits must be those of the
/// instruction, up to a relabelling of rows and of columns; what lies above are
/// repeats of the instruction. Registers of an operand: the elements of one
/// instruction, then the steps along k, then rows (columns). An error where
/// `contraction` does not divide the instruction's k or the steps.
///
/// F8 operands of half the instruction's k lie in its lower registers, where
/// the lower values of k are (see mfmaOperandA); its upper ones are to be
/// zeros.
llvm::Expected<MfmaOperands> mfmaOperands(const Layout &accumulator, int64_t mn,
                                          int64_t k, int64_t extentK,
                                          MfmaFormat lhsFormat,
                                          MfmaFormat rhsFormat,
                                          Contraction contraction = {});

} // namespace tenon::layout

#endif // TENON_LAYOUT_MFMA_H
