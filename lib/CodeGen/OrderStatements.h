//===- OrderStatements.h - statements that keep order -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_CODEGEN_ORDERSTATEMENTS_H
#define TENON_LIB_CODEGEN_ORDERSTATEMENTS_H

namespace llvm {
class FunctionPass;
} // namespace llvm

namespace tenon::codegen {

/// A pass behind instruction selection, by which statements of inline assembly
/// that have effects and no operands may read and write any memory, as with a
/// clobber of memory. LLVM looks each such clobber up among the names of all
/// registers, which took a tenth of the time of a compilation.
llvm::FunctionPass *createOrderStatementsPass();

} // namespace tenon::codegen

#endif // TENON_LIB_CODEGEN_ORDERSTATEMENTS_H
