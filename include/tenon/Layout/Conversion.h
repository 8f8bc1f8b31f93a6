//===- Conversion.h - what it takes to change a layout ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LAYOUT_CONVERSION_H
#define TENON_LAYOUT_CONVERSION_H

#include "tenon/Layout/Dpp.h"
#include "tenon/Layout/Layout.h"

namespace tenon::layout {

/// How far data travel in a conversion, cheapest first.
enum class ConversionKind : uint8_t {
  /// Every thread holds what it needs in the same registers, in the same order;
  /// at most replicas are dropped or duplicated.
  Free,
  /// Every thread holds what it needs, in other registers.
  WithinLane,
  /// Data move within rows of 16 lanes, by DPP moves (and a select per lane
  /// when selectsByLane).
  WithinRow,
  /// Data move within the wave: by permlane swaps if `swaps` says so, else by
  /// ds_bpermute.
  CrossLane,
  /// Everything else: data of other waves are needed, or the source is no
  /// affine function of the lane. Goes through LDS.
  Lds,
};

llvm::StringRef stringifyConversionKind(ConversionKind kind);

/// The exchange of a register bit with lane bit 4 or 5, which is what
/// v_permlane16_swap (v_permlane32_swap) does to a pair of registers: with a,
/// b = registers p, p | 2^sourceRegisterBit of the source,
/// swap(a, b) gives target registers r, r | 2^targetRegisterBit.
struct RegisterLaneSwap {
  unsigned laneBit;
  unsigned sourceRegisterBit;
  unsigned targetRegisterBit;

  bool operator==(const RegisterLaneSwap &) const = default;
};

/// A conversion from layout `src` to layout `dst` of one shape. Unless the kind
/// is Lds, target register r of thread (l, w) is register sourceRegister(r, l,
/// w) of lane sourceLane(r, l) of the same wave, where
///
///     sourceRegister(r, l, w) = registers[r] ^ P l ^ waveRegisters[w],
///     sourceLane(r, l)        = laneOffsets[r] ^ A l,
///
/// A and P being linear maps of the lane bits over F2 (their columns are
/// `laneImages` and `registerImages`).
struct Conversion {
  ConversionKind kind = ConversionKind::Lds;
  llvm::SmallVector<int64_t> registers;
  llvm::SmallVector<unsigned> laneOffsets;
  llvm::SmallVector<unsigned, 6> laneImages;
  llvm::SmallVector<int64_t, 6> registerImages;
  llvm::SmallVector<int64_t> waveRegisters;
  /// Nonempty when the lane moves are exactly these exchanges, to be carried
  /// out one after the other.
  llvm::SmallVector<RegisterLaneSwap, 2> swaps;

  int64_t sourceRegister(int64_t reg, unsigned lane, int64_t wave) const;
  unsigned sourceLane(int64_t reg, unsigned lane) const;

  /// The distinct values P l. A target register r is put together from the
  /// registers registers[r] ^ waveRegisters[w] ^ q for all of these q, of each
  /// the lanes with P l = q. Just 0 unless selectsByLane.
  llvm::SmallVector<int64_t> selectors() const;
  /// The lanes l with P l = `selector`, one bit each.
  uint64_t lanesOf(int64_t selector) const;
  /// A lane map that agrees with sourceLane(reg, .) on lanesOf(selector): the
  /// xor with one mask if there is such a one (images are the identity's, the
  /// offset is the mask), else the map itself. An exchange of a register bit
  /// with lane bit j is a xor with 0 or 2^j in this sense.
  LaneMap laneMap(int64_t reg, int64_t selector = 0) const;

  /// Lane bits in which source and target lane differ for some register.
  unsigned movedLaneBits() const;
  /// Whether the source register depends on the lane (a select per lane) or on
  /// the wave (a uniform select).
  bool selectsByLane() const;
  bool selectsByWave() const;
};

/// The cheapest kind of movement that turns a tile laid out as `src` into one
/// laid out as `dst`. The shapes must be equal, and so must the numbers of
/// waves.
///
/// The nonzero bases of `src` are independent, so the source of each datum is
/// unique up to replicas: of those a lane prefers itself. Hence the result is
/// minimal among the kinds, except that movement within the wave that is not
/// affine in the lane counts as Lds.
Conversion classifyConversion(const Layout &src, const Layout &dst);

} // namespace tenon::layout

#endif // TENON_LAYOUT_CONVERSION_H
