//===- MlaDecode.h - Semantics of tenon.mla_decode --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_MLADECODE_H
#define TENON_REFERENCE_MLADECODE_H

#include "tenon/Reference/Generate.h"
#include "tenon/Reference/MlaPlan.h"
#include "tenon/Reference/Region.h"
#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace tenon::reference {

inline constexpr int64_t mlaKeyColumns = 576;
inline constexpr int64_t mlaValueColumns = 512;

/// Attributes of tenon.mla_decode, and the rank of the call.
struct MlaDecodeParams {
  int64_t heads = 1;
  int64_t maxQueries = 1;
  bool isPacked = false;
  bool causal = true;
  double scale = 1;
  /// Whether weights are rounded to f8E4M3FN after a factor 2^8.
  bool roundsToFp8 = false;
  ContextParallel parallel;
};

/// Attention of some rows of one request over the keys that they see.
struct AttendedRow {
  std::vector<double> values; ///< 512 columns; 0 of a row without keys
  /// With weights that were rounded, each against the greatest score that its
  /// slot has met by then, 64 keys at a time; empty unless they are.
  std::vector<double> rounded;
  double lse; ///< minus infinity of a row without keys
};

/// tenon.mla_decode in double precision.
class MlaDecode {
public:
  /// Operands by the names of the contract. Errors name the operand, what is
  /// expected and what was found: types and shapes, lengths that the pages do
  /// not hold, pages that do not exist, queries beyond the most.
  using Operands = llvm::StringMap<TensorView>;
  static llvm::Expected<MlaDecode> create(const MlaDecodeParams &params,
                                          const Operands &operands);

  int64_t requests() const { return seqLen.shape[0]; }
  /// Query tokens of a request.
  int64_t queries(int64_t request) const;
  /// Rows of a request, query t of head h being row t * heads + h.
  int64_t rows(int64_t request) const {
    return queries(request) * params.heads;
  }
  /// Keys of this rank that some query of the request sees.
  int64_t keys(int64_t request) const;
  /// Keys of this rank that a query of the request sees.
  int64_t keys(int64_t request, int64_t query) const;
  /// The page and the row in it of a key of this rank.
  std::pair<int64_t, int64_t> place(int64_t request, int64_t key) const;

  /// Slots as a plan has them: request, first key, end of the keys, and slots
  /// of the request. Without them a request is one slot.
  void divide(llvm::ArrayRef<std::array<int32_t, 4>> slots);

  /// Attention of the rows \p rows of a request.
  std::vector<AttendedRow> attend(int64_t request,
                                  llvm::ArrayRef<int64_t> rows) const;
  /// The root mean square of the values of a request's keys; 0 without keys.
  double valueMagnitude(int64_t request) const;

  /// Emits the expected contents of out and lse in the rows \p rows of a
  /// request, all as skipped with \p skip.
  void emitRows(int64_t request, llvm::ArrayRef<int64_t> rows, bool skip,
                llvm::function_ref<void(Region &&)> emit) const;

private:
  MlaDecode() = default;

  llvm::Error checkRequests() const;
  llvm::SmallVector<int64_t, 4> place(int64_t request, int64_t row,
                                      bool hasColumns) const;
  std::vector<double> query(int64_t request, int64_t row) const;

  MlaDecodeParams params;
  TensorView q, qRope, qoIndptr, kv, blockTable, seqLen, qScale, kvScale, out,
      lse;
  /// First keys of slots, by request.
  std::vector<llvm::DenseSet<int64_t>> slotBegins;
};

/// The distribution of a generated operand of tenon.mla_decode whose codes are
/// \p type.
Distribution mlaDecodeDistribution(llvm::StringRef operand, ElementType type);

/// Against what a region of out is measured besides the weights as the kernel
/// rounds them: attention that rounds nothing.
inline constexpr const char *exactAttention = "exact";

} // namespace tenon::reference

#endif // TENON_REFERENCE_MLADECODE_H
