//===- MatrixWaits.h - wait states that LLVM 22 leaves out ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_CODEGEN_MATRIXWAITS_H
#define TENON_LIB_CODEGEN_MATRIXWAITS_H

namespace llvm {
class FunctionPass;
} // namespace llvm

namespace tenon::codegen {

/// A pass over final machine code. LLVM 22 looks for the matrix product that
/// writes a register at most 19 wait states back, but a product of 16 passes on
/// gfx950 needs 20 before anything but another product uses its result. Where
/// exactly 19 lie between, it adds nothing; this pass adds the one that is
/// missing. Products of fewer passes get one where they need none, which is
/// rare and costs a cycle.
///
/// Where several ways lead from a product to a use of its result in another
/// block, LLVM may count the wait states of a longer one; the pass looks at all
/// of them and adds what is missing.
llvm::FunctionPass *createMatrixWaitsPass();

} // namespace tenon::codegen

#endif // TENON_LIB_CODEGEN_MATRIXWAITS_H
