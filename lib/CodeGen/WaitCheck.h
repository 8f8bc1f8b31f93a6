//===- WaitCheck.h - counted waits against the machine code -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_CODEGEN_WAITCHECK_H
#define TENON_LIB_CODEGEN_WAITCHECK_H

#include "llvm/Pass.h"

#include <string>

namespace tenon::codegen {

/// A pass over final machine code that holds the waits on copies into LDS
/// against what tile lowering counted. Lowering leaves its counts in the text
/// of the empty inline-assembly statements with which it pins the order of
/// vector-memory accesses:
///
///   ; tenon issued N copies C   at least N vector-memory instructions since
///                               the last such statement, C of them copies
///                               into LDS
///   ; tenon wait N              here a wait follows that leaves at most N in
///                               flight
///   ; tenon waited              ... before this
///
/// Statements stay in order and LLVM moves no access across one, unless it has
/// an error; it may merge, split or drop accesses. What does not hold is added
/// to \p errors.
llvm::FunctionPass *createWaitCheckPass(std::string &errors);

} // namespace tenon::codegen

#endif // TENON_LIB_CODEGEN_WAITCHECK_H
