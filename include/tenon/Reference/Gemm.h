//===- Gemm.h - Semantics of tenon.gemm -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_GEMM_H
#define TENON_REFERENCE_GEMM_H

#include "tenon/Reference/Generate.h"
#include "tenon/Reference/Region.h"
#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace tenon::reference {

/// What becomes of the products acc. The last two take two of them: g is the
/// product with row i of the weights, u the one with row I + i.
enum class GemmEpilogue {
  None,        ///< out = acc
  Add,         ///< out = out + acc
  SigmoidGate, ///< out = multiplicand * sigmoid(acc)
  SiTU, ///< out = beta tanh(g/beta) sigmoid(g) * linearBeta tanh(u/linearBeta)
  SiLU, ///< out = g sigmoid(g) * u
};

/// The static part of a tenon.gemm.
struct GemmParams {
  GemmEpilogue epilogue = GemmEpilogue::None;
  double beta = 4;        ///< of SiTU; positive
  double linearBeta = 25; ///< of SiTU; positive

  bool isGated() const {
    return epilogue == GemmEpilogue::SiTU || epilogue == GemmEpilogue::SiLU;
  }
};

/// The integers from begin to end - 1.
struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

/// tenon.gemm in double precision: acc[m, n] = sum_k x[m, k] * weights[n, k],
/// each times its scales, and the epilogue. Inputs are taken as given in their
/// types; nothing is rounded.
class Gemm {
public:
  /// Operands by the names of the contract: x, weights, x_scale, weight_scale,
  /// multiplicand, out; row-major. out holds the contents before the op.
  using Operands = llvm::StringMap<TensorView>;

  /// The types of x and weights say which scales there are. Rows and columns
  /// are those of out that are computed, all when absent. Errors name the
  /// operand, what is expected and what was found.
  static llvm::Expected<Gemm> create(const GemmParams &params,
                                     const Operands &operands,
                                     std::optional<IndexRange> rows = {},
                                     std::optional<IndexRange> columns = {});

  /// What is computed of out.
  IndexRange rows() const { return rowRange; }
  IndexRange columns() const { return columnRange; }
  /// K.
  int64_t depth() const { return x.shape[1]; }

  /// Emits the expected contents of the rows \p block, which are among rows():
  /// one region each, of the columns that are computed. Can be called from
  /// several threads.
  void emitRows(IndexRange block,
                llvm::function_ref<void(Region &&)> emit) const;

  /// Emits the same regions as skipped ones, without computing anything.
  void skipRows(IndexRange block,
                llvm::function_ref<void(Region &&)> emit) const;

private:
  Gemm() = default;

  Region regionOf(int64_t row) const;

  std::vector<double> scaled(const TensorView &data, const TensorView &scale,
                             int64_t row) const;
  std::vector<double> products(llvm::ArrayRef<std::vector<double>> rows,
                               int64_t first) const;

  GemmParams params;
  IndexRange rowRange, columnRange;
  /// An absent operand has no shape.
  TensorView x, weights, xScale, weightScale, multiplicand, out;
};

/// The distribution of generated data of an operand, given the types of x and
/// weights. Results are of the order of 1 for K from 100 to 10000. Scales of
/// blocks differ from those of their neighbours.
Distribution gemmDistribution(llvm::StringRef operand, ElementType x,
                              ElementType weights);

} // namespace tenon::reference

#endif // TENON_REFERENCE_GEMM_H
