//===- SpecOp.td - what the ops of specs have in common ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_SPECOP_TD
#define TENON_DIALECTS_TENON_SPECOP_TD

include "dialects/Tenon/TenonAttrs.td"
include "dialects/Tenon/TenonDialect.td"
include "dialects/Tenon/TenonInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// \p answers names the methods of the interface that the op has more to say to
/// than their defaults.
class Tenon_SpecOp<string opMnemonic, list<Trait> traits = [], list<string> answers = []>
    : Op<Tenon_Dialect, opMnemonic,
         traits # [DeclareOpInterfaceMethods<Tenon_SpecOpInterface, answers>]> {
  let hasVerifier = 1;
}

#endif // TENON_DIALECTS_TENON_SPECOP_TD
