//===- KdaPrefill.h - Semantics of tenon.kda_prefill ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_KDAPREFILL_H
#define TENON_REFERENCE_KDAPREFILL_H

#include "tenon/Reference/Kda.h"
#include "tenon/Reference/KdaPlan.h"
#include "tenon/Reference/Region.h"
#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace tenon::reference {

/// The static part of a tenon.kda_prefill.
struct KdaPrefillParams : KdaParams {
  bool fp32Conv = false; ///< the convolution's output is not rounded to bf16
};

/// Kimi Delta Attention over sequences, in double precision, token by token as
/// KdaDecode has it. The output of the convolution is rounded to bf16 unless
/// the op says otherwise, and nothing else is: what a kernel stores as bf16 is
/// compared unrounded.
class KdaPrefill {
public:
  /// Operands by the names of the contract; the optional ones are those that
  /// are there. conv_state and state hold the contents before the op.
  using Operands = llvm::StringMap<TensorView>;
  using Emit = llvm::function_ref<void(Region &&)>;

  /// Checks presence, types and shapes of the operands and all that the
  /// contract asks of the integers; no sequence is longer than \p maxSeqLen.
  /// Errors name the operand, what is expected and what was found.
  static llvm::Expected<KdaPrefill>
  create(const KdaPrefillParams &params, const Operands &operands,
         std::optional<int64_t> maxSeqLen = {});

  int64_t sequences() const { return int64_t(slots.size()); }
  int64_t heads() const { return params.heads; }
  int64_t length(int64_t sequence) const {
    return boundaries[sequence + 1] - boundaries[sequence];
  }
  bool isNull(int64_t sequence) const { return params.isNull(slots[sequence]); }

  /// Pieces of the result, which are independent: a head of a sequence, or all
  /// heads of one that has fewer than 16 tokens or is null. One group of
  /// errors each.
  uint64_t pieces() const { return pieceList.size(); }

  /// Emits all that a piece writes: out, state, the heads' channels of
  /// conv_state, and checkpoints. Can be called from several threads.
  void emitPiece(uint64_t piece, Emit emit) const;

  /// Emits the same regions as skipped ones, without computing anything.
  void skipPiece(uint64_t piece, Emit emit) const;

private:
  struct Piece {
    int64_t sequence;
    int64_t firstHead;
    int64_t headCount;
  };
  struct Checkpoint {
    int64_t offset;
    int64_t slot;
  };

  KdaPrefill() = default;

  llvm::Error takeOperands(const Operands &operands);
  llvm::Error checkBoundaries(std::optional<int64_t> maxSeqLen) const;
  llvm::Error checkSlots() const;
  llvm::Error checkRows() const;
  llvm::Error checkPlan() const;
  llvm::Error collectCheckpoints();
  void cutPieces();

  int64_t convColumns(const TensorView &pool) const;
  /// Where state and history are read; none: zeros.
  std::optional<int64_t> initialSlot(int64_t sequence) const;
  int64_t rowOf(int64_t sequence, int64_t token) const;
  std::vector<double> history(int64_t sequence, int64_t channel) const;
  void emitOut(const Piece &piece, std::vector<double> values, bool skipped,
               Emit emit) const;
  void emitState(const char *operand, int64_t sequence, int64_t head,
                 int64_t slot, std::vector<double> values, bool skipped,
                 Emit emit) const;
  void emitStateCopy(int64_t sequence, int64_t head, bool skipped,
                     Emit emit) const;
  void emitWindow(const char *operand, int64_t sequence, int64_t head,
                  int64_t slot, int64_t tokens, bool skipped, Emit emit) const;
  std::vector<double> runHead(int64_t sequence, int64_t head, Emit emit) const;
  void emit(const Piece &piece, bool skipped, Emit emit) const;

  KdaPrefillParams params;
  /// An absent operand has no shape.
  TensorView qkv, rawG, rawBeta, outGate, convWeight, aLog, dtBias, normWeight,
      convState, state, cuSeqlens, slot, initial, hasInitial, row,
      checkpointOffset, checkpointSlot, checkpointState, checkpointConv, plan;
  int64_t tokens = 0; ///< T
  std::vector<int64_t> boundaries, slots, rows;
  std::vector<std::optional<int64_t>> initialSlots;
  std::vector<std::vector<Checkpoint>> checkpoints; ///< by rising offset
  std::vector<Piece> pieceList;
};

} // namespace tenon::reference

#endif // TENON_REFERENCE_KDAPREFILL_H
