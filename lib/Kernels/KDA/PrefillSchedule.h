//===- PrefillSchedule.h - schedules of tenon.kda_prefill -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_PREFILLSCHEDULE_H
#define TENON_LIB_KERNELS_KDA_PREFILLSCHEDULE_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Target/TargetInfo.h"

namespace tenon::kernels::kda {

/// How a prefill is spread over the chip. Attributes of a schedule have the
/// names in quotes; those that a schedule leaves out have the values below.
struct PrefillSchedule {
  /// "prologue_workgroups": of the prologue, workgroups that a compute unit
  /// should have room for, 1 or 2. Two hide the waits of each other; where
  /// registers do not suffice for two, one does.
  int64_t prologueWorkgroups = 2;
  /// "groups": most groups of a sequence. 0: as many as fill the chip with the
  /// sequences of the call. 1: none is cut, and the launches for groups are
  /// left out.
  int64_t groups = 0;
  /// "group_chunks": chunks that a group has at least. Fewer do not pay for a
  /// pass of their own.
  int64_t groupChunks = 4;
  /// "group_rows": value columns of a workgroup that finds what a group does,
  /// 64 or 128.
  int64_t groupRows = 128;
  /// "group_waves": its waves, of 16 or 32 value columns.
  int64_t groupWaves = 4;
  /// "walk_waves": waves of a workgroup that walks for good, which has all 128
  /// value columns since the output norm is over them: 4 or 8.
  int64_t walkWaves = 4;
  /// "same_die": 1 where the workgroups that find what a group does, which read
  /// the same chunks, are placed on one die, else 0.
  int64_t sameDie = 1;

  mlir::DictionaryAttr attribute(mlir::MLIRContext *context) const;
};

/// Groups for which a call of \p sequences sequences of \p chunks chunks at
/// most has room, as the plan of \p schedule computes them.
int64_t groupsThatFill(int64_t sequences, int64_t heads, int64_t chunks,
                       const PrefillSchedule &schedule,
                       const target::TargetInfo &target);

/// The schedule \p attribute of \p op; emits an error and fails where it is
/// none.
mlir::FailureOr<PrefillSchedule>
readPrefillSchedule(spec::KdaPrefillOp op, mlir::DictionaryAttr attribute);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_PREFILLSCHEDULE_H
