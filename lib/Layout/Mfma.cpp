//===- Mfma.cpp - the operand and result maps of MFMA instructions -*- C++ -*-//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Mfma.h"

#include "MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace tenon::layout;

StringRef tenon::layout::stringifyMfmaFormat(MfmaFormat format) {
  switch (format) {
  case MfmaFormat::F64:
    return "f64";
  case MfmaFormat::F32:
    return "f32";
  case MfmaFormat::F16:
    return "f16";
  case MfmaFormat::I8:
    return "i8";
  case MfmaFormat::F8:
    return "f8";
  case MfmaFormat::F6:
    return "f6";
  case MfmaFormat::F4:
    return "f4";
  }
  llvm_unreachable("unknown MFMA format");
}

namespace {
struct MfmaOperand {
  int64_t mn;
  int64_t k;
  MfmaFormat format;
};
} // namespace

static constexpr MfmaOperand operands[] = {
    {16, 4, MfmaFormat::F64},  {16, 4, MfmaFormat::F32},
    {32, 2, MfmaFormat::F32},  {16, 16, MfmaFormat::F16},
    {32, 8, MfmaFormat::F16},  {16, 32, MfmaFormat::F16},
    {32, 16, MfmaFormat::F16}, {16, 32, MfmaFormat::I8},
    {32, 16, MfmaFormat::I8},  {16, 64, MfmaFormat::I8},
    {32, 32, MfmaFormat::I8},  {16, 32, MfmaFormat::F8},
    {32, 16, MfmaFormat::F8},  {16, 128, MfmaFormat::F8},
    {32, 64, MfmaFormat::F8},  {16, 128, MfmaFormat::F6},
    {32, 64, MfmaFormat::F6},  {16, 128, MfmaFormat::F4},
    {32, 64, MfmaFormat::F4},
};

/// Appends the bases begin, 2 * begin, ... below end along `dim` of two.
static void appendBases(SmallVectorImpl<Basis> &bases, unsigned dim,
                        int64_t begin, int64_t end) {
  for (int64_t step = begin; step < end; step *= 2) {
    bases.push_back(dim == 0 ? Basis{step, 0} : Basis{0, step});
  }
}

Expected<Layout> tenon::layout::mfmaOperandA(int64_t mn, int64_t k,
                                             MfmaFormat format) {
  if (none_of(operands, [&](const MfmaOperand &operand) {
        return operand.mn == mn && operand.k == k && operand.format == format;
      })) {
    return makeError("no MFMA {0}x{0}x{1} with {2} operands", mn, k,
                     stringifyMfmaFormat(format));
  }
  int64_t groups = 64 / mn;
  int64_t elements = k / groups;
  int64_t run =
      format == MfmaFormat::F8 ? std::min<int64_t>(elements, 16) : elements;
  SmallVector<Basis> registers;
  SmallVector<Basis> lanes;
  appendBases(registers, 1, 1, run);
  appendBases(lanes, 0, 1, mn);
  appendBases(lanes, 1, run, run * groups);
  appendBases(registers, 1, run * groups, k);
  return Layout::create({mn, k}, registers, lanes, {}, {});
}

Expected<Layout> tenon::layout::mfmaOperandB(int64_t mn, int64_t k,
                                             MfmaFormat format) {
  Expected<Layout> a = mfmaOperandA(mn, k, format);
  if (!a) {
    return a.takeError();
  }
  return a->transposed({1, 0});
}

Expected<Layout> tenon::layout::mfmaAccumulator(int64_t mn, MfmaFormat format) {
  bool isF64 = format == MfmaFormat::F64;
  if (mn != 16 && (mn != 32 || isF64)) {
    return makeError("no MFMA {0}x{0} with {1} result", mn,
                     isF64 ? "f64" : "f32");
  }
  SmallVector<Basis> registers;
  SmallVector<Basis> lanes;
  appendBases(lanes, 1, 1, mn);
  if (isF64) {
    appendBases(lanes, 0, 1, 4);
    appendBases(registers, 0, 4, mn);
  } else {
    int64_t groups = 64 / mn;
    appendBases(registers, 0, 1, 4);
    appendBases(lanes, 0, 4, 4 * groups);
    appendBases(registers, 0, 4 * groups, mn);
  }
  return Layout::create({mn, mn}, registers, lanes, {}, {});
}

Expected<Layout> tenon::layout::mfmaScaleA(int64_t mn, int64_t k) {
  if (!(mn == 16 && k == 128) && !(mn == 32 && k == 64)) {
    return makeError("no scaled MFMA {0}x{0}x{1}", mn, k);
  }
  SmallVector<Basis> lanes;
  appendBases(lanes, 0, 1, mn);
  appendBases(lanes, 1, 1, k / 32);
  return Layout::create({mn, k / 32}, {}, lanes, {}, {});
}

Expected<Layout> tenon::layout::mfmaScaleB(int64_t mn, int64_t k) {
  Expected<Layout> a = mfmaScaleA(mn, k);
  if (!a) {
    return a.takeError();
  }
  return a->transposed({1, 0});
}
