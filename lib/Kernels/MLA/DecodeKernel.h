//===- DecodeKernel.h - the tile program of tenon.mla_decode ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MLA_DECODEKERNEL_H
#define TENON_LIB_KERNELS_MLA_DECODEKERNEL_H

#include "dialects/Tile/Tile.h"

namespace tenon::kernels::mla {

/// Waves that work on the same rows: they share the keys of scores and the
/// columns of values.
inline constexpr int64_t groupWaves = 4;
/// Rows whose sums and queries the registers of four waves have room for.
inline constexpr int64_t mostGroupRows = 48;
inline constexpr int64_t valueColumns = 512;
inline constexpr int64_t ropeColumns = 64;
inline constexpr int64_t decodeColumns = valueColumns + ropeColumns;
/// What weights are multiplied by before they are rounded to FP8: at most 256
/// of 448.
inline constexpr double fp8WeightFactor = 256.0;

/// How a decode kernel is cut.
struct DecodeSchedule {
  int64_t rows = 16;  ///< of a workgroup, heads of tokens
  int64_t keys = 32;  ///< of a step
  int64_t stages = 3; ///< steps whose keys are in flight or in use

  /// Groups of waves that share the rows.
  int64_t groups() const { return rows > mostGroupRows ? 2 : 1; }
  int64_t waves() const { return groups() * groupWaves; }

  bool operator==(const DecodeSchedule &) const = default;
};

/// What of tenon.mla_decode shapes the code.
struct DecodeShape {
  int64_t heads;
  int64_t maxQueries;
  bool causal;
  double scale;
  int64_t ranks;      ///< of context parallelism
  int64_t interleave; ///< keys of a rank side by side
  bool isPacked;
  bool hasPlan; ///< as an operand
  bool hasRope; ///< whether the last columns of q are an operand of their own
  bool hasLse;
  bool fp8Weights;
  mlir::Type query, cache;

  int64_t rows() const { return heads * maxQueries; }
  /// Whether each wave of a group scores keys of its own over all columns. Else
  /// waves share the columns of a score.
  bool scoresOwnKeys() const { return fp8Weights; }
  /// Whether each wave of a group works out weights of its own. Else all waves
  /// work out all weights.
  bool weighsOwnKeys(const DecodeSchedule &schedule) const {
    return scoresOwnKeys() || schedule.groups() > 1;
  }
  int64_t weightBits() const { return fp8Weights ? 8 : 16; }
  /// Whether scores are products of FP8. Of one FP8 operand they are those of
  /// bf16, into which its codes are converted.
  bool hasSmallScores() const {
    return query.getIntOrFloatBitWidth() == 8 &&
           cache.getIntOrFloatBitWidth() == 8;
  }
};

/// That of calls which have no more than 16 rows of a request.
inline DecodeSchedule ofFewRows(const DecodeShape &shape,
                                const DecodeSchedule &schedule) {
  if (schedule.rows <= 16) {
    return schedule;
  }
  // Two workgroups to a compute unit, which short histories are quicker with.
  return shape.fp8Weights ? DecodeSchedule{16, 64, 2}
                          : DecodeSchedule{16, 32, 3};
}

/// Bytes in LDS between a row's weights of a step and the next row's, at most:
/// of 64 rows what two stages of 73,728 bytes leave.
inline int64_t mostWeightPadding(int64_t rows) {
  return rows > mostGroupRows ? 48 : 64;
}

/// Writes the body of \p kernel: a workgroup is a part of one request's keys,
/// slot g of the plan, for `rows` rows of the request. Along x, the blocks of
/// rows of eight slots lie together, such that those of a slot share a die.
///
/// Without an operand `plan`, of at most SplitRule::fewRequests requests a
/// workgroup finds its slot itself, and the first of a request writes the row
/// of the request into the plan.
///
/// Arguments by name: pointers `q`, `q_rope`, `qo_indptr`, `kv`,
/// `block_table`, `seq_len`, `q_scale`, `kv_scale` and `lse` (where the shape
/// has them), `plan`, `out`, `parts` (f32 [slots, rows, 512]) and `part_lse`
/// (f32 [slots, rows], base 2).
/// i32 `slots`, and those of splitInputs without an operand `plan`,
/// `row_blocks`, `Q` (not packed), `cp_rank`, `page` and `kv_row` (bytes); i64
/// `kv_page` and `block_table_request` (bytes). Of each of q, q_rope, out and
/// lse i32 `NAME_token` and `NAME_head`, in 16 bytes (lse: in elements), and,
/// not packed, i64 `NAME_request` in bytes.
mlir::LogicalResult writeDecode(tile::KernelOp kernel, const DecodeShape &shape,
                                const DecodeSchedule &schedule,
                                mlir::OpBuilder &builder);

} // namespace tenon::kernels::mla

#endif // TENON_LIB_KERNELS_MLA_DECODEKERNEL_H
