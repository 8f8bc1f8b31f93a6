//===- Interleaver.h - copies, reads and products take turns ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work between two barriers, cut into slots of a few matrix instructions
// each: a slot has its share of the copies, of the reads of LDS for the step
// along k that follows, and of the products of its step. An operand that is
// made of codes and scales is read as a whole: its products are not cut.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SCHEDULE_INTERLEAVER_H
#define TENON_PASSES_SCHEDULE_INTERLEAVER_H

#include "dialects/Tile/Tile.h"
#include "tenon/Target/TargetInfo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace tenon::schedule {

/// Copies and products between two points that order LDS, such as barriers.
struct Interval {
  llvm::SmallVector<tile::CopyToLdsOp> copies;
  llvm::SmallVector<tile::MmaOp> products;
};

/// The read of LDS that makes \p operand of a product, at once or through
/// tile.dequantize; null when none does.
tile::LdsLoadOp readOf(mlir::Value operand);

class Interleaver {
public:
  /// The products of \p interval, all of whose operands are read from LDS, are
  /// cut into \p steps along k, each of one instruction, or not cut. With
  /// \p balances the priority of a wave falls from the first slot to the last.
  Interleaver(const Interval &interval, int64_t steps,
              const target::TargetInfo &target, int64_t waves, bool balances);

  /// The reads of the first step stand before its products.
  mlir::LogicalResult run();

  /// Of products that have operands in registers: the copies, and the loads
  /// into registers that only later intervals use, are spread over the
  /// products. What these read of LDS stands before all of them.
  void spread();

  /// \p intervals are all of a loop's body, each adds to the sums of the one
  /// before: the products of the last step of an interval go to the head of the
  /// next, of the last interval to that of the next iteration, beside the reads
  /// of its first step.
  static mlir::LogicalResult
  prefetch(llvm::MutableArrayRef<Interleaver> intervals);

  /// So, but the waves are two groups: while one multiplies, the other copies
  /// and reads. Products and memory accesses of a step are phases of their own,
  /// between barriers, and the second group is one barrier behind the first
  /// throughout the loop. Each interval begins with a wait and its only
  /// barrier, and nothing in the loop accesses LDS but the copies and the reads
  /// of the products.
  ///
  /// A wave that is one barrier behind is ordered against the others where two
  /// barriers stand between. Copies follow the barrier at the head and that
  /// behind the first products, the reads of the stage that they fill come
  /// before both. So do the waits for copies, and reads of what arrived come
  /// behind both. Behind the loop, where the groups meet again, the barriers
  /// that are there order what its last phase has read.
  static mlir::LogicalResult
  pingPong(llvm::MutableArrayRef<Interleaver> intervals);

private:
  /// A read of an operand's step along k, of which some parts are issued.
  struct Read {
    tile::LdsLoadOp whole; ///< the operand as it was read at once
    mlir::RankedTensorType type;
    llvm::SmallVector<int64_t> offsets;
    int64_t instructions = 1;
    mlir::Value read;
  };
  using Reads = llvm::MapVector<mlir::Value, Read>;

  /// A step along k of an interval's products.
  struct Step {
    llvm::ArrayRef<tile::MmaOp> products;
    int64_t index = 0;
    Reads reads;
    /// Scales as they are carried to where the step is multiplied, and operands
    /// that have been made of what was read.
    mlir::IRMapping values;
  };

  mlir::FailureOr<Step> planStep(int64_t index);
  mlir::LogicalResult planRead(Reads &reads, mlir::Value operand, int64_t index,
                               bool isLhs, int64_t depth,
                               const layout::Layout &layout);
  /// The share of \p reads that slot \p slot of a step issues.
  void issueReads(Reads &reads, int64_t slot);
  void issueCopies(int64_t shares);
  void setPriority();
  void meet();
  mlir::Value operandOf(Step &step, mlir::Value operand);
  /// The products of \p step, or a part of them.
  void multiply(Step &step, mlir::DenseI64ArrayAttr part);
  /// The slots of \p present, with the reads of \p next in them.
  void turn(Step &present, Step *next);
  static mlir::LogicalResult
  carry(llvm::MutableArrayRef<Interleaver> intervals);
  llvm::SmallVector<tile::LoadOp> loadsAhead();
  int64_t copyInstructions(tile::CopyToLdsOp copy) const;
  void eraseWhole();

  llvm::SmallVector<tile::CopyToLdsOp> copies;
  llvm::SmallVector<tile::MmaOp> products;
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
