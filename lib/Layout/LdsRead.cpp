//===- LdsRead.cpp - how a tile is read from LDS ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/LdsRead.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tenon::layout;

static constexpr unsigned widestAccessBits = 128;
/// Lanes that exchange what they read, as bits.
static constexpr unsigned groupBits = 4;

std::optional<Layout>
tenon::layout::transposedSource(const Layout &wanted,
                                const TransposingRead &form) {
  unsigned moved = Log2_32(form.accessBits / form.elementBits);
  ArrayRef<Basis> registers = wanted.bases(HwDim::Register);
  ArrayRef<Basis> lanes = wanted.bases(HwDim::Lane);
  if (registers.size() < moved || lanes.size() < groupBits ||
      moved > groupBits) {
    return std::nullopt;
  }
  SmallVector<Basis> newRegisters(lanes.take_front(moved));
  append_range(newRegisters, registers.drop_front(moved));
  SmallVector<Basis> newLanes(lanes.slice(moved, groupBits - moved));
  append_range(newLanes, registers.take_front(moved));
  append_range(newLanes, lanes.drop_front(groupBits));
  auto source = Layout::create(wanted.shape(), newRegisters, newLanes,
                               wanted.bases(HwDim::Wave), wanted.outerModes());
  if (!source) {
    consumeError(source.takeError());
    return std::nullopt;
  }
  return std::move(*source);
}

LdsRead tenon::layout::chooseLdsRead(const Layout &wanted, const LdsLayout &lds,
                                     const BankRules &rules) {
  unsigned bits = lds.elementBits();
  unsigned direct = lds.vectorWidth(wanted, widestAccessBits) * bits;
  for (const TransposingRead &form : rules.transposingReads) {
    if (form.elementBits != bits || direct >= form.accessBits) {
      continue;
    }
    std::optional<Layout> source = transposedSource(wanted, form);
    if (source &&
        lds.vectorWidth(*source, form.accessBits) * bits == form.accessBits) {
      return {std::move(*source), form.accessBits, true};
    }
  }
  return {wanted, direct, false};
}
