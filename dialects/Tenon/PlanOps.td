//===- PlanOps.td - the launch plan -----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_PLANOPS_TD
#define TENON_DIALECTS_TENON_PLANOPS_TD

include "dialects/Tenon/TenonDialect.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class Tenon_PlanBodyOp<string opMnemonic, list<Trait> traits = []>
    : Op<Tenon_Dialect, opMnemonic, traits>;

def Tenon_PlanOp : Tenon_PlanBodyOp<"plan", [Symbol, IsolatedFromAbove, SingleBlock,
                                          NoTerminator, NoRegionArguments]> {
  let summary = "The launches that make up one op";
  let description = [{
    `operands` describes each operand: name, element type, access, its sizes
    (integers, or names of sizes that vary), and where it is not that of the strides
    the order of its elements (`layout`); `scalars` names the integers that a
    call brings besides. The body computes with `index` arithmetic (`arith`) on
    sizes and strides of the operands and on the scalars, states what must hold,
    and launches kernels in order. The runtime evaluates it without MLIR.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$operands,
                       OptionalAttr<StrArrayAttr>:$scalars);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `operands` $operands (`scalars` $scalars^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Index of the operand called \p name, or none.
    std::optional<unsigned> findOperand(::llvm::StringRef name);
    /// Index of the scalar called \p name, or none.
    std::optional<unsigned> findScalar(::llvm::StringRef name);
    /// The workspace called \p name, or null.
    ::tenon::spec::WorkspaceOp findWorkspace(::llvm::StringRef name);
  }];
}

def Tenon_SizeOp : Tenon_PlanBodyOp<"size", [Pure, HasParent<"PlanOp">]> {
  let summary = "The size of an operand's dimension";
  let arguments = (ins StrAttr:$operand, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$operand `[` $dim `]` attr-dict";
  let hasVerifier = 1;
}

def Tenon_StrideOp : Tenon_PlanBodyOp<"stride", [Pure, HasParent<"PlanOp">]> {
  let summary = "The stride of an operand's dimension, in elements";
  let arguments = (ins StrAttr:$operand, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$operand `[` $dim `]` attr-dict";
  let hasVerifier = 1;
}

def Tenon_ScalarOp : Tenon_PlanBodyOp<"scalar", [Pure, HasParent<"PlanOp">]> {
  let summary = "An integer that comes with the call";
  let arguments = (ins StrAttr:$scalar);
  let results = (outs Index:$result);
  let assemblyFormat = "$scalar attr-dict";
  let hasVerifier = 1;
}

def Tenon_RequireAlignedOp : Tenon_PlanBodyOp<"require_aligned", [HasParent<"PlanOp">]> {
  let summary = "The operand's address is a multiple of a number of bytes";
  let arguments = (ins StrAttr:$operand, ConfinedAttr<I64Attr, [IntPositive]>:$bytes);
  let assemblyFormat = "$operand `to` $bytes attr-dict";
  let hasVerifier = 1;
}

def Tenon_RequireStrideOp : Tenon_PlanBodyOp<"require_stride", [HasParent<"PlanOp">]> {
  let summary = "A stride is a multiple of (or equals) a number of elements";
  let arguments = (ins StrAttr:$operand, I64Attr:$dim, UnitAttr:$equal, I64Attr:$value);
  let assemblyFormat = [{
    $operand `[` $dim `]` (`equal` $equal^):(`multiple_of`)? $value attr-dict
  }];
  let hasVerifier = 1;
}

def Tenon_RequireOp : Tenon_PlanBodyOp<"require", [HasParent<"PlanOp">]> {
  let summary = "A comparison holds";
  let arguments = (ins Arith_CmpIPredicateAttr:$predicate, Index:$lhs, Index:$rhs,
                       StrAttr:$message);
  let assemblyFormat = "$predicate `,` $lhs `,` $rhs `,` $message attr-dict";
}

def Tenon_WorkspaceOp : Tenon_PlanBodyOp<"workspace", [HasParent<"PlanOp">]> {
  let summary = "Memory that the caller provides for the duration of the launches";
  let description = [{
    With `zero` it holds zeros before the first launch, and the launches leave
    zeros: a graph of them can be replayed.
  }];
  let arguments = (ins StrAttr:$name, Index:$bytes, UnitAttr:$zero);
  let assemblyFormat = "$name `bytes` $bytes (`zero` $zero^)? attr-dict";
  let hasVerifier = 1;
}

def Tenon_LaunchOp : Tenon_PlanBodyOp<"launch", [HasParent<"PlanOp">]> {
  let summary = "One launch of a kernel";
  let description = [{
    `args` lists the kernel's arguments in order: `{ptr = "name"}` is the address
    of an operand, `{workspace = "name"}` that of a workspace stated before,
    `{i32 = k}` and `{i64 = k}` the k-th of `values`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Index:$x, Index:$y, Index:$z,
                       ConfinedAttr<I64Attr, [IntPositive]>:$workgroup_size,
                       Variadic<Index>:$values, ArrayAttr:$args);
  let assemblyFormat = [{
    $kernel `grid` `(` $x `,` $y `,` $z `)` `workgroup` $workgroup_size
    `values` `(` $values `)` `args` $args attr-dict
  }];
  let hasVerifier = 1;
}

#endif // TENON_DIALECTS_TENON_PLANOPS_TD
