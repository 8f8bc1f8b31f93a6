//===- CheckTaintMatrix.cpp - undefined data in matrix products -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckTaint.h"

#include "MatrixOperands.h"

#include <algorithm>

namespace tenon::sim {

namespace {

/// Where an element of the result lies in its block.
struct ElementPlace {
  unsigned block, row, column;
};

} // namespace

/// The element in register `v` of a lane.
static ElementPlace placeOf(const CheckRecord &record, unsigned v,
                            unsigned lane) {
  unsigned size = record.productSize, blocks = record.productBlocks;
  unsigned group = lane / size;
  if (record.taintRule == TaintRule::ProductDouble) {
    return {group % blocks, 4 * (v / 2) + lane / (size * blocks), lane % size};
  }
  if (size == 4) { // a block per group of four lanes
    return {group % blocks, v, lane % size};
  }
  unsigned perBlock = size * size / waveSize, within = v % perBlock;
  unsigned row = size == 16 ? 4 * group + within
                            : 8 * (within / 4) + 4 * group + within % 4;
  return {v / perBlock % blocks, row % size, lane % size};
}

/// An undefined element of A, its scale or its index spoils a row of D in its
/// block, one of B a column, one of C itself.
void TaintState::stepMfma(const CheckRecord &record, const Instr &instr) {
  unsigned size = record.productSize, blocks = record.productBlocks;
  uint64_t lanesOf[2] = {}; // of A and B
  const RegisterRange *c = record.is(checkSparse) ? &record.defs[0] : nullptr;
  for (const RegisterRange &use : record.operands()) {
    // Operands: D, A, B, C (or the indices), and the scales of A and B.
    bool isScale = use.operand == 4 || use.operand == 5;
    bool isOfA = use.operand == 1 || use.operand == 4 ||
                 (use.operand == 3 && record.is(checkSparse));
    if (use.operand == 3 && !record.is(checkSparse)) {
      c = &use;
      continue;
    }
    uint64_t lanes = 0;
    if (use.isScalar) {
      lanes = scalarTaint(use) ? allLanes : 0;
    } else if (isScale) {
      // One byte is the scale.
      unsigned byte = (instr.opSel >> (isOfA ? 0 : 2)) & 3;
      const uint32_t *scale = bits(use.first);
      for (unsigned i = 0; i < waveSize; ++i) {
        lanes |= uint64_t(((scale[i] >> (8 * byte)) & 0xFF) != 0) << i;
      }
    } else {
      lanes = lanesUndefined(use);
    }
    std::optional<LaneMap> map;
    if (record.is(checkBroadcasts)) {
      map = use.operand == 1   ? broadcastA(instr)
            : use.operand == 2 ? broadcastB(instr)
                               : std::nullopt;
    }
    for (unsigned i = 0; map && i < waveSize; ++i) {
      uint64_t bit = uint64_t(1) << i;
      lanes =
          (lanesUndefined(use) >> (*map)[i]) & 1 ? lanes | bit : lanes & ~bit;
    }
    lanesOf[isOfA ? 0 : 1] |= lanes;
  }
  // By block and row, by block and column.
  uint64_t spoilt[2][16] = {};
  for (unsigned side = 0; side < 2; ++side) {
    for (uint64_t rest = lanesOf[side]; rest; rest &= rest - 1) {
      unsigned lane = unsigned(std::countr_zero(rest));
      spoilt[side][lane / size % blocks] |= uint64_t(1) << (lane % size);
    }
  }
  const RegisterRange &d = record.defs[0];
  Row results[32];
  unsigned count = std::min<unsigned>(d.count, 32);
  for (unsigned v = 0; v < count; ++v) {
    const uint32_t *old = nullptr;
    if (c && !c->isScalar && v < c->count) {
      old = bits(c->first + v);
    }
    bool isScalarUndefined = c && c->isScalar && scalarTaint(*c);
    const uint32_t *other = nullptr; // the other half of a double
    if (old && record.taintRule == TaintRule::ProductDouble) {
      other = bits(c->first + (v ^ 1));
    }
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      ElementPlace place = placeOf(record, v, lane);
      bool isUndefined = (old && old[lane]) || (other && other[lane]) ||
                         isScalarUndefined ||
                         (spoilt[0][place.block] >> place.row) & 1 ||
                         (spoilt[1][place.block] >> place.column) & 1;
      results[v].lane[lane] = isUndefined ? ~0u : 0;
    }
  }
  for (unsigned v = 0; v < count; ++v) {
    setRow(d.first + v, results[v], allLanes);
  }
}

} // namespace tenon::sim
