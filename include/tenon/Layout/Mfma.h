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

} // namespace tenon::layout

#endif // TENON_LAYOUT_MFMA_H
