//===- MlaMerge.h - Semantics of tenon.mla_merge and mla_scale --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_MLAMERGE_H
#define TENON_REFERENCE_MLAMERGE_H

#include "tenon/Reference/Generate.h"
#include "tenon/Reference/Region.h"
#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace tenon::reference {

/// Merged attention of one row: sum over parts i that are not empty of
/// e^(lse[i] - lse) * values[i], with lse = ln(sum e^lse[i]). A part is empty
/// when its lse is NaN or infinite.
struct MergedRow {
  std::vector<double> weights; ///< e^(lse[i] - lse); 0 of an empty part
  double lse;                  ///< minus infinity when all parts are empty
};
MergedRow mergeWeights(llvm::ArrayRef<double> lse);

/// tenon.mla_merge, or with a rank tenon.mla_scale, in double precision.
class MlaMerge {
public:
  /// Operands by the names of the contracts: parts (with a rank: part), lse,
  /// out, merged_lse. Errors name the operand, what is expected and what was
  /// found.
  using Operands = llvm::StringMap<TensorView>;
  static llvm::Expected<MlaMerge> create(const Operands &operands,
                                         std::optional<int64_t> rank);

  int64_t rows() const { return out.shape[0]; }
  int64_t parts() const { return lse.shape[0]; }

  /// Emits the expected contents of row \p row of out and of merged_lse, which
  /// need not be there.
  void emitRow(int64_t row, llvm::function_ref<void(Region &&)> emit) const;

private:
  MlaMerge() = default;

  std::optional<int64_t> rank;
  TensorView values, lse, out, mergedLse;
};

/// A region of one logarithm of a sum, in \p operand at \p index: minus
/// infinity exactly, others with errors relative to at least 1.
Region lseRegion(llvm::StringRef operand, llvm::ArrayRef<int64_t> index,
                 double lse, llvm::StringRef group);

/// The distribution of generated parts and logarithms.
Distribution mlaMergeDistribution(llvm::StringRef operand);

} // namespace tenon::reference

#endif // TENON_REFERENCE_MLAMERGE_H
