//===- Interleaver.h - copies, reads and products take turns ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work between two barriers, cut into slots of a few matrix instructions
// each: a slot has its share of the copies, of the reads of LDS for the step
// along k that follows, and of the products of its step.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SCHEDULE_INTERLEAVER_H
#define TENON_PASSES_SCHEDULE_INTERLEAVER_H

#include "dialects/Tile/Tile.h"
#include "tenon/Target/TargetInfo.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace tenon::schedule {

class Interleaver {
public:
  /// \p products, all of whose operands are read from LDS, are cut into
  /// \p steps along k, each of one instruction. With \p balances the priority
  /// of a wave falls from the first slot to the last.
  Interleaver(llvm::ArrayRef<tile::CopyToLdsOp> copies,
              llvm::ArrayRef<tile::MmaOp> products, int64_t steps,
              const target::TargetInfo &target, int64_t waves, bool balances);

  /// The reads of the first step stand before its products.
  mlir::LogicalResult run();
  /// The products are those of a loop's body: the ones of the last step go to
  /// the head of the next iteration, beside the reads of its first step.
  mlir::LogicalResult prefetch();
  /// So, but the waves are two groups: while one multiplies, the other copies
  /// and reads. Products and memory accesses of a step are phases of their own,
  /// between barriers, and the second group is one barrier behind the first
  /// throughout the loop. The loop's body begins with a wait and its only
  /// barrier, and nothing in it accesses LDS but the copies and the reads of
  /// the products.
  ///
  /// A wave that is one barrier behind is ordered against the others where two
  /// barriers stand between. Copies follow the barrier at the head and that
  /// behind the first products, the reads of the stage that they fill come
  /// before both. So do the waits for copies, and reads of what arrived come
  /// behind both. Behind the loop, where the groups meet again, the barriers
  /// that are there order what its last phase has read.
  mlir::LogicalResult pingPong();

private:
  /// A read of an operand's step along k, of which some parts are issued.
  struct Read {
    mlir::Value tile; ///< the operand as it was read at once
    mlir::RankedTensorType type;
    llvm::SmallVector<int64_t> offsets;
    int64_t instructions = 1;
    mlir::Value read;
  };
  using Reads = llvm::MapVector<mlir::Value, Read>;

  mlir::FailureOr<Reads> planReads(int64_t step);
  mlir::LogicalResult planRead(Reads &reads, mlir::Value tile, int64_t step,
                               bool isLhs, int64_t depth,
                               const layout::Layout &layout);
  /// The share of \p reads that slot \p slot of a step issues.
  void issueReads(Reads &reads, int64_t slot);
  void issueCopies();
  void setPriority();
  void meet();
  /// The products of step \p index along k, or a part of them.
  void multiply(const Reads &operands, int64_t index,
                mlir::DenseI64ArrayAttr part);
  /// The slots of step \p index, with the reads of \p next in them.
  void step(const Reads &operands, int64_t index, Reads *next);
  int64_t copyInstructions(tile::CopyToLdsOp copy) const;
  void eraseWhole();

  llvm::ArrayRef<tile::CopyToLdsOp> copies;
  llvm::ArrayRef<tile::MmaOp> products;
  int64_t steps;
  const target::TargetInfo &target;
  int64_t waves;
  bool balances;
  bool phased = false;
  mlir::OpBuilder b;
  mlir::Location loc;

  llvm::SmallVector<mlir::Value> sums;
  int64_t slots = 1; ///< of a step
  /// Instructions of the copies in order, and how far they are.
  struct Copy {
    tile::CopyToLdsOp op;
    int64_t instructions;
  };
  llvm::SmallVector<Copy> queue;
  int64_t copyTotal = 0;
  int64_t copiesIssued = 0;
  int64_t slotsDone = 0;
};

} // namespace tenon::schedule

#endif // TENON_PASSES_SCHEDULE_INTERLEAVER_H
