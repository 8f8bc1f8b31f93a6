//===- TenonInterfaces.td - what every tenon op answers ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_TENONINTERFACES_TD
#define TENON_DIALECTS_TENON_TENONINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tenon_SpecOpInterface : OpInterface<"SpecOpInterface"> {
  let cppNamespace = "::tenon::spec";
  let description = [{
    An operation that describes a kernel. The driver, the passes and the tools
    work on any such operation through this interface.
  }];
  let methods = [
    InterfaceMethod<[{
      The operands that are present, in the order of the contract.
    }], "::llvm::SmallVector<::tenon::spec::OperandContract>",
      "getOperandContracts", (ins)>,
    InterfaceMethod<[{
      What holds between sizes that vary.
    }], "::llvm::SmallVector<::tenon::spec::SizeRelation>",
      "getSizeRelations", (ins), "", [{ return {}; }]>,
    InterfaceMethod<[{
      The ranges of indices that the host gives with a call.
    }], "::llvm::SmallVector<::tenon::spec::HostRange>",
      "getHostRanges", (ins), "", [{ return {}; }]>,
    InterfaceMethod<[{
      The other integers that the host gives with a call.
    }], "::llvm::SmallVector<::tenon::spec::HostScalar>",
      "getHostScalars", (ins), "", [{ return {}; }]>,
  ];
}

#endif // TENON_DIALECTS_TENON_TENONINTERFACES_TD
