//===- Layout.h - how a tile lies in the registers of a workgroup -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout maps hardware coordinates (register, lane, wave) to the coordinates
// of the tile element that is held there.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LAYOUT_LAYOUT_H
#define TENON_LAYOUT_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tenon::layout {

class LinearMap;

/// The hardware dimensions over which a tile is spread. A register is counted
/// in elements: eight bf16 values in four VGPRs are eight registers.
enum class HwDim : uint8_t { Register, Lane, Wave };
inline constexpr HwDim allHwDims[] = {HwDim::Register, HwDim::Lane,
                                      HwDim::Wave};

/// "register", "lane" or "wave".
llvm::StringRef stringifyHwDim(HwDim dim);

/// The image of one hardware bit: what it adds (by xor) to each coordinate.
using Basis = llvm::SmallVector<int64_t, 2>;

/// One digit of a register or wave index above the bits of the core: digit j
/// (0 <= j < extent) adds j * stride to coordinate `dim`. Stride 0 says that
/// the digit replicates.
struct OuterMode {
  HwDim input;
  int64_t extent;
  unsigned dim;
  int64_t stride;

  bool operator==(const OuterMode &) const = default;
};

/// One more level of a distribution, see Layout::repeat. Without `dim` the
/// digit replicates what is below it.
struct Repeat {
  HwDim input;
  int64_t extent;
  std::optional<unsigned> dim;
};

/// Hardware coordinates of one copy of an element.
struct Owner {
  int64_t reg;
  int64_t lane;
  int64_t wave;

  bool operator==(const Owner &) const = default;
};

/// The distribution of a tile of static extents S_0 x ... x S_{n-1} over the
/// registers, the 64 lanes and the waves of a workgroup.
///
/// **Definition.** The *core* is an F2-linear map given by one basis per
/// register bit, lane bit and wave bit. *Outer modes* are digits of integer
/// extent above the core bits of the register and the wave index:
///
///     register = bits + 2^registerBits * (o_0 + E_0 * (o_1 + E_1 * ...))
///     wave     = bits + 2^waveBits     * (w_0 + F_0 * (w_1 + F_1 * ...))
///
/// the first mode of an input being its fastest digit. The element is
///
///     coordinate_d = xor of basis_d over the set bits
///                    + sum of digit * stride over the modes along d.
///
/// **Invariants** (checked by `create`).
/// 1. Along each dim d the core fills the block [0, 2^{c_d}), and the modes
///    along d, sorted by stride, continue it as a mixed radix: the first stride
///    is 2^{c_d}, each next one is stride * extent of the one below, the last
///    stride * extent is S_d. The sum above therefore never carries into or out
///    of the core, and equals an xor of core part and outer part.
/// 2. The nonzero bases are independent and span the core block. Together with
///    1 every element is held at least once, and it is held more than once only
///    through zero bases and modes of stride 0 (*replication*).
///
/// From 1 follows the fact that conversions rest on: the lane enters by xor
/// alone, coordinates(r, l, w) = coordinates(0, l, 0) ^ coordinates(r, 0, w).
///
/// **Canonical form.** Modes that can be bits of the core are made so, modes
/// that continue each other are merged, and register modes come before wave
/// modes. No hardware index changes its meaning by this, and two layouts of one
/// shape are equal exactly when they are the same map.
class Layout {
public:
  /// One element of rank 0 in one register, on every lane of one wave.
  Layout();

  /// Builds the layout of a tile of extents `shape`. Errors name what was
  /// expected and what was found.
  static llvm::Expected<Layout> create(llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<Basis> registerBases,
                                       llvm::ArrayRef<Basis> laneBases,
                                       llvm::ArrayRef<Basis> waveBases,
                                       llvm::ArrayRef<OuterMode> outerModes);

  /// The usual distribution of an array: along dim d each thread holds
  /// `perThread[d]` consecutive elements, next to each other lie `lanes[d]`
  /// lanes, then `waves[d]` waves, and what is left of the extent are register
  /// repeats. `order` lists the dims from fastest to slowest and decides which
  /// dim takes the low register, lane and wave digits. `perThread` and `lanes`
  /// are powers of two; lanes that the product leaves over replicate.
  static llvm::Expected<Layout> blocked(llvm::ArrayRef<int64_t> shape,
                                        llvm::ArrayRef<unsigned> order,
                                        llvm::ArrayRef<int64_t> perThread,
                                        llvm::ArrayRef<int64_t> lanes,
                                        llvm::ArrayRef<int64_t> waves);

  /// Spreads `n` elements over at most `lanes` lanes and `waves` waves, with
  /// runs of at most `elementsPerLane` in each. Each level takes, in the order
  /// run, lanes, waves, the largest share that divides what is left: a power of
  /// two for runs and lanes, gcd(rest, waves) for waves. Lanes and waves that
  /// get no share replicate; elements without a place become register repeats.
  static llvm::Expected<Layout> distribute1D(int64_t n, int64_t lanes,
                                             int64_t waves,
                                             int64_t elementsPerLane);

  /// Continues `atom`: each repeat places `extent` copies of what there is so
  /// far side by side along its dim, the copy being the next digit of the
  /// register or the wave index. This is how an MFMA operand map becomes the
  /// layout of a whole tile.
  static llvm::Expected<Layout> repeat(const Layout &atom,
                                       llvm::ArrayRef<Repeat> repeats);

  //===--------------------------------------------------------------------===//
  // Parts
  //===--------------------------------------------------------------------===//

  llvm::ArrayRef<int64_t> shape() const { return extents; }
  unsigned rank() const { return extents.size(); }

  /// Registers of one thread, counted in elements.
  int64_t numRegisters() const { return size(HwDim::Register); }
  int64_t numLanes() const { return size(HwDim::Lane); }
  int64_t numWaves() const { return size(HwDim::Wave); }
  /// Size of a hardware dimension.
  int64_t size(HwDim dim) const;

  /// Bases of the core, lowest bit first.
  llvm::ArrayRef<Basis> bases(HwDim dim) const {
    return core[static_cast<unsigned>(dim)];
  }
  /// Modes above the core: register modes, fastest first, then wave modes.
  llvm::ArrayRef<OuterMode> outerModes() const { return modes; }
  /// log2 of the block that the core fills along `dim` (c_d above).
  unsigned coreBits(unsigned dim) const { return blockBits[dim]; }
  /// The core as a map from "register", "lane", "wave" to "dim0", "dim1", ...
  LinearMap coreMap() const;

  bool operator==(const Layout &other) const;
  void print(llvm::raw_ostream &os) const;

  //===--------------------------------------------------------------------===//
  // The map and its inverse
  //===--------------------------------------------------------------------===//

  /// The element at (reg, lane, wave).
  llvm::SmallVector<int64_t> coordinates(int64_t reg, int64_t lane,
                                         int64_t wave) const;

  /// The copy of the element at `coords` whose replicating bits and digits are
  /// all zero, or nullopt when `coords` is outside the tile.
  std::optional<Owner> ownerOf(llvm::ArrayRef<int64_t> coords) const;

  /// The register of thread (lane, wave) that holds the element at `coords`
  /// (the lowest one), or nullopt when the thread does not hold it.
  std::optional<int64_t> registerOf(llvm::ArrayRef<int64_t> coords,
                                    int64_t lane, int64_t wave) const;

  //===--------------------------------------------------------------------===//
  // Replication
  //===--------------------------------------------------------------------===//

  /// Register, lane or wave bits (of the core) that do not change the element.
  uint64_t freeRegisterMask() const { return freeMask(HwDim::Register); }
  uint64_t freeLaneMask() const { return freeMask(HwDim::Lane); }
  uint64_t freeWaveMask() const { return freeMask(HwDim::Wave); }
  /// Whether some element is held more than once.
  bool isReplicated() const;
  /// Whether every replicating bit and digit of the lane and the wave is zero:
  /// the threads for which this holds own each element once (per register), so
  /// a store guarded by it writes nothing twice.
  bool isFirstReplica(int64_t lane, int64_t wave) const;

  //===--------------------------------------------------------------------===//
  // Dropping dims: what reductions and broadcasts need
  //===--------------------------------------------------------------------===//

  /// Whether the hardware bits that move `dims` alone fill the core block of
  /// `dims`. Then the elements that share their other coordinates are reached
  /// from one another by those bits (and the modes along `dims`) whatever the
  /// other bits are: a reduction over `dims` combines over them and nothing
  /// else, and `slice` exists. False only for layouts whose bits move `dims`
  /// and other dims at once without a pure bit to make up for it.
  bool isSeparable(llvm::ArrayRef<unsigned> dims) const;

  /// The layout of the tile without `removedDims`: what a reduction over them
  /// leaves in place, and what a broadcast along them needs as source. Lane and
  /// wave indices keep their meaning (what moved only along removed dims now
  /// replicates); registers that are replicas of another are dropped.
  /// Requires isSeparable(removedDims).
  Layout slice(llvm::ArrayRef<unsigned> removedDims) const;

  /// The same but for the order of the register bits: lowest first those of the
  /// least \p key. Outer modes stay.
  Layout reorderRegisters(llvm::function_ref<int64_t(const Basis &)> key) const;

  /// Whether threads hold the same elements as in \p other, in whatever order
  /// of the register bits.
  bool holdsSameAs(const Layout &other) const;

  /// The layout of blocks of \p factor (a power of two) elements along \p dim:
  /// a register, lane and wave hold the blocks of which they hold elements.
  /// Bits within a block replicate it, those of registers are left out. An
  /// error where a bit moves within a block and also otherwise.
  llvm::Expected<Layout> coarsen(unsigned dim, int64_t factor) const;

  /// For each register of this layout the register of slice(removedDims) that
  /// holds its projected coordinate on the same thread.
  llvm::SmallVector<int64_t>
  sliceRegisterMap(llvm::ArrayRef<unsigned> removedDims) const;

  /// Lane bits (wave bits of the core) that move `dim` and no other dim.
  /// Requires isSeparable(dim).
  llvm::SmallVector<unsigned> laneBitsAlong(unsigned dim) const;
  llvm::SmallVector<unsigned> waveBitsAlong(unsigned dim) const;
  /// Whether a wave mode of integer extent moves `dim`, so that waveBitsAlong
  /// is not the whole story and waveOffsetsAlong must be used.
  bool hasWaveModesAlong(unsigned dim) const;

  /// The register (wave) indices whose digits other than those along `dim` are
  /// zero, ascending by construction order: index = base + offset walks what a
  /// thread (the waves) hold along `dim`, base being an index whose digits
  /// along `dim` are zero. Replicas are not repeated. Requires isSeparable.
  llvm::SmallVector<int64_t> registerOffsetsAlong(unsigned dim) const;
  llvm::SmallVector<int64_t> waveOffsetsAlong(unsigned dim) const;

  /// The same layout with dim i of the result being dim permutation[i] of this.
  Layout transposed(llvm::ArrayRef<unsigned> permutation) const;

  //===--------------------------------------------------------------------===//
  // Cutting dims into blocks
  //===--------------------------------------------------------------------===//

  /// The same places with every dim d as blocks[d].size() + 1 dims, which count
  /// the elements within a block of blocks[d][0], those blocks within one of
  /// blocks[d][1] of them, and so on; blocks are powers of two. A memory where
  /// each of these has a stride of its own is then a plain strided one. Errors:
  /// an extent that does not divide into blocks, unless it is a power of two
  /// within one; digits of integer extent across the edges of blocks.
  llvm::Expected<Layout>
  split(llvm::ArrayRef<llvm::SmallVector<int64_t, 2>> blocks) const;

  //===--------------------------------------------------------------------===//
  // Vector access
  //===--------------------------------------------------------------------===//

  /// The widest power of two V (at most the registers of the core) such that in
  /// each aligned group of V registers register j holds the element j places
  /// along `dim` after that of register 0, on every thread, and that first
  /// coordinate is a multiple of V.
  unsigned contiguous(unsigned dim) const;

  /// The widest power of two V (at most the registers of the core) such that in
  /// each aligned group of V registers register j lies j elements after
  /// register 0 in a memory where one step along dim d is strides[d] elements
  /// (-1: not known), and V * elementBits
  /// <= maxBits. Says nothing about alignment: see runAlignment.
  unsigned vectorWidth(llvm::ArrayRef<int64_t> strides, unsigned elementBits,
                       unsigned maxBits) const;

  /// The largest power of two (at most 2^30) that divides the element offset of
  /// the first register of every aligned group of `run` registers, when one
  /// step along dim d is a multiple of strideDivisors[d] elements.
  int64_t runAlignment(llvm::ArrayRef<int64_t> strideDivisors,
                       unsigned run) const;

private:
  uint64_t freeMask(HwDim dim) const;
  void canonicalize();
  /// Whether `basis` is nonzero, and zero in all dims outside `dims`.
  bool movesOnly(const Basis &basis, llvm::ArrayRef<unsigned> dims) const;
  llvm::SmallVector<unsigned> bitsAlong(HwDim input, unsigned dim) const;
  llvm::SmallVector<int64_t> offsetsAlong(HwDim input, unsigned dim) const;

  llvm::SmallVector<int64_t, 2> extents;
  llvm::SmallVector<unsigned, 2> blockBits;
  std::array<llvm::SmallVector<Basis, 6>, 3> core;
  llvm::SmallVector<OuterMode, 2> modes;
};

llvm::hash_code hash_value(const Layout &layout);
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Layout &layout);

} // namespace tenon::layout

#endif // TENON_LAYOUT_LAYOUT_H
