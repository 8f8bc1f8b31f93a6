//===- TenonDialect.td - the tenon dialect ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_TENONDIALECT_TD
#define TENON_DIALECTS_TENON_TENONDIALECT_TD

include "mlir/IR/OpBase.td"

def Tenon_Dialect : Dialect {
  let name = "tenon";
  let cppNamespace = "::tenon::spec";
  let summary = "What a kernel computes";
  let description = [{
    One operation per kernel of a model, at the level of its mathematics, and
    the launch plan that such an operation becomes. Operands are memrefs. Sizes
    that change from call to call are dynamic and reach the kernel as arguments;
    sizes that shape the code are static.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
}

#endif // TENON_DIALECTS_TENON_TENONDIALECT_TD
