//===- DecodeSplit.h - how histories are split into slots -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of tenon.mla_plan on the device, for the kernel that writes a plan
// and for workgroups of attention that work their own slot out.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_MLA_DECODESPLIT_H
#define TENON_LIB_KERNELS_MLA_DECODESPLIT_H

#include "../TileBuilder.h"

#include "tenon/Layout/Layout.h"

namespace tenon::kernels::mla {

/// Slots of a plan begin at multiples of as many keys.
inline constexpr int64_t planKeys = 64;

/// What the rule takes; values are i32 of the kernel but where it is said.
struct SplitInputs {
  mlir::Value lengths;    ///< pointer to the requests' global lengths
  mlir::Value requests;   ///< how many there are
  mlir::Value slots;      ///< of the plan
  mlir::Value workgroups; ///< slots that are worked on at a time, at least 1
  mlir::Value moved;      ///< blocks of rows of a request
  mlir::Value cpRank;     ///< with more than one rank
  int64_t cpSize;
  int64_t cpInterleave;
};

/// Writes the rule. Every wave of a workgroup works it out alike.
class SplitRule {
public:
  SplitRule(TileBuilder &builder, const SplitInputs &inputs, int64_t waves);

  /// Requests up to which `locate` serves: a lane has the lengths of all.
  static constexpr int64_t fewRequests = 8;

  /// The blocks of keys of a slot, a uniform i32, of any number of requests.
  mlir::Value blocksPerSlot();
  /// Slots of \p blocks blocks of the requests before \p request, and of all.
  std::pair<mlir::Value, mlir::Value> countSlots(mlir::Value blocks,
                                                 mlir::Value request);

  /// A slot of the plan: its row, and what the row of its request has.
  struct Slot {
    mlir::Value request; ///< -1: the slot has no part
    mlir::Value begin, end, count;
    mlir::Value first; ///< slot of the request
    mlir::Value keys;  ///< of the request
  };
  /// Slot \p number, of at most `fewRequests` requests.
  Slot locate(mlir::Value number);

  /// Keys of this rank among the first \p global, a scalar or a tile.
  mlir::Value localLength(mlir::Value global);
  /// Blocks of \p keys keys.
  mlir::Value blocksOf(mlir::Value keys);

private:
  using Carried = llvm::SmallVector<mlir::Value>;

  tile::LayoutAttr layout(llvm::ArrayRef<int64_t> extents,
                          llvm::ArrayRef<layout::Basis> registers,
                          llvm::ArrayRef<layout::Basis> lanes);
  /// [requests, tries]: a lane has one try for all requests.
  tile::LayoutAttr table(int64_t requests);
  mlir::Value filled(llvm::ArrayRef<int64_t> extents, mlir::Type element,
                     tile::LayoutAttr layout);
  mlir::Value all(mlir::Value scalar, mlir::Value like) {
    return t.splat(scalar, like);
  }
  mlir::Value all(int64_t value, mlir::Value like) {
    return t.integers(value, like);
  }
  template <typename Op> mlir::Value make(mlir::Value a, mlir::Value c) {
    return t.create<Op>(a, c);
  }
  mlir::Value less(mlir::Value a, mlir::Value c) {
    return t.create<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::slt, a, c);
  }
  mlir::Value toFloat(mlir::Value integers);
  mlir::Value toInteger(mlir::Value floats);
  mlir::Value divideUp(mlir::Value count, mlir::Value by, mlir::Value inverse);
  mlir::Value slotsOf(mlir::Value blocks, mlir::Value perSlot,
                      mlir::Value inverse);
  mlir::Value loadLengths(mlir::Value first, int64_t count,
                          tile::LayoutAttr layout);
  Carried
  overRequests(int64_t step, Carried initial,
               llvm::function_ref<Carried(mlir::Value, mlir::ValueRange)> body);
  mlir::Value work(mlir::Value blocks);
  mlir::Value choose(mlir::Value longest, mlir::Value work, int64_t together,
                     llvm::function_ref<mlir::Value(
                         llvm::function_ref<mlir::Value(mlir::Value)>)>
                         count);
  mlir::Value estimate(mlir::Value blocks, mlir::Value slots, mlir::Value work);

  TileBuilder &t;
  mlir::OpBuilder &b;
  SplitInputs in;
  int64_t waves;
  tile::LayoutAttr byLane; ///< of lengths that the lanes share
};

} // namespace tenon::kernels::mla

#endif // TENON_LIB_KERNELS_MLA_DECODESPLIT_H
