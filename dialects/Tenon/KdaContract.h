//===- KdaContract.h - what the KDA ops have in common ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tenon.kda_decode and tenon.kda_prefill have the same static attributes and
// most of their operands in common.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_KDACONTRACT_H
#define TENON_DIALECTS_TENON_KDACONTRACT_H

#include "dialects/Tenon/Tenon.h"

namespace tenon::spec {

/// The static attributes of a KDA op and the operands whose presence they
/// decide.
struct KdaAttributes {
  int64_t heads;
  int64_t headDim;
  GateKind gate;
  std::optional<llvm::APFloat> lowerBound;
  bool outputNorm;
  llvm::APFloat qkEps;
  std::optional<llvm::APFloat> normEps;
  bool hasOutGate;
  bool hasNormWeight;

  /// Those of \p op, a KDA op.
  template <typename KdaOp> static KdaAttributes of(KdaOp op) {
    return {int64_t(op.getHeads()),
            int64_t(op.getHeadDim()),
            op.getGate(),
            op.getLowerBound(),
            op.getOutputNorm(),
            op.getQkEps(),
            op.getNormEps(),
            static_cast<bool>(op.getOutGate()),
            static_cast<bool>(op.getNormWeight())};
  }
};

/// The contracts of a KDA op's operands, in the order in which they are added.
/// Optional operands that are absent are left out.
class KdaContracts {
public:
  explicit KdaContracts(const KdaAttributes &attributes)
      : heads(attributes.heads), headDim(attributes.headDim) {}

  void add(llvm::StringRef name, mlir::Value value,
           llvm::SmallVector<ContractDim> dims, int64_t alignment,
           bool freeStride, Access access = Access::Read);

  /// raw_g, raw_beta and out_gate of \p rows rows behind qkv, and the
  /// parameters.
  template <typename KdaOp> void addInputs(KdaOp op, const ContractDim &rows) {
    int64_t width = heads * headDim;
    add("qkv", op.getQkv(), {rows, fixed(3 * width)}, 16, true);
    add("raw_g", op.getRawG(), {rows, fixed(width)}, 16, true);
    add("raw_beta", op.getRawBeta(), {rows, fixed(heads)}, 2, true);
    add("out_gate", op.getOutGate(), {rows, fixed(width)}, 16, true);
    add("conv_weight", op.getConvWeight(), {fixed(3 * width), fixed(4)}, 16,
        false);
    add("a_log", op.getALog(), {fixed(heads)}, 4, false);
    add("dt_bias", op.getDtBias(), {fixed(width)}, 16, false);
    add("norm_weight", op.getNormWeight(), {fixed(headDim)}, 16, false);
  }

  /// A pool of convolution windows with \p slots slots.
  void addConvPool(llvm::StringRef name, mlir::Value value, ConvLayout layout,
                   llvm::StringRef slots, Access access);
  /// A pool of states with \p slots slots.
  void addStatePool(llvm::StringRef name, mlir::Value value,
                    llvm::StringRef slots, Access access);
  /// out, of \p rows rows.
  void addOut(mlir::Value value, const ContractDim &rows) {
    add("out", value, {rows, fixed(heads * headDim)}, 16, true, Access::Write);
  }

  llvm::SmallVector<OperandContract> take() { return std::move(contracts); }

private:
  static ContractDim fixed(int64_t size) { return {"", size}; }

  int64_t heads;
  int64_t headDim;
  llvm::SmallVector<OperandContract> contracts;
};

/// The order of the last two dimensions of the pool of states \p pool.
StateOrder stateOrderOf(mlir::Value pool);

/// Emits an error and fails unless the attributes are legal.
mlir::LogicalResult verifyKdaAttributes(mlir::Operation *op,
                                        const KdaAttributes &attributes);

/// Emits an error and fails unless the operand of \p contract has its element
/// type, shape and strides.
mlir::LogicalResult verifyKdaOperand(mlir::Operation *op,
                                     const OperandContract &contract);

} // namespace tenon::spec

#endif // TENON_DIALECTS_TENON_KDACONTRACT_H
