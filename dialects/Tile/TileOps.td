//===- TileOps.td - operations of the tile dialect --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_TILEOPS_TD
#define TENON_DIALECTS_TILE_TILEOPS_TD

include "dialects/Tile/LdsOps.td"
include "dialects/Tile/MatrixOps.td"
include "dialects/Tile/MemoryOps.td"
include "dialects/Tile/RearrangeOps.td"
include "dialects/Tile/ScaleOps.td"
include "dialects/Tile/ScanOp.td"
include "dialects/Tile/TileOp.td"

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove,
                                       AutomaticAllocationScope]> {
  let summary = "The program of one workgroup";
  let description = [{
    Arguments are pointers (`!tile.ptr`) and uniform scalars (`i32`, `i64`,
    `f32`), laid out in the kernarg segment in order, each at its own alignment.
    `waves` is the number of waves of 64 lanes. `lds_bytes` appears when
    `tile-plan-lds` has placed the LDS buffers. `waves_per_simd` asks the register
    allocator to leave room for that many waves on each SIMD; `scheduler` names
    the back end's strategy for the order of instructions (`max-ilp` and others).
    With `agprs` matrix products keep their sums in accumulation registers, of
    which at least so many are set aside; else in the others. `pinned` keeps matrix
    instructions in the order of the program, each where it stands among all others.
    The first `preload` arguments arrive in registers, as many of them as there is
    room for (16 SGPRs less the pointer to all): no load of arguments is waited
    for then, if the first accesses need no others.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       ConfinedAttr<I32Attr, [IntPositive, IntMaxValue<16>]>:$waves,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$lds_bytes,
                       OptionalAttr<I32Attr>:$waves_per_simd,
                       OptionalAttr<StrAttr>:$scheduler,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$preload,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<256>]>>:$agprs,
                       UnitAttr:$pinned,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region MinSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Emits an error and fails unless the body is one block whose only control
    /// flow are `scf.for` loops, counted in `i32`, and `scf.if` without results.
    ::mlir::LogicalResult requireStructured();
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "Ends a kernel";
  let assemblyFormat = "attr-dict";
}

def Tile_WorkgroupIdOp : Tile_Op<"workgroup_id", [Pure]> {
  let summary = "The workgroup's index along x (0), y (1) or z (2)";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$dim);
  let results = (outs I32:$result);
  let assemblyFormat = "$dim attr-dict";
}

#endif // TENON_DIALECTS_TILE_TILEOPS_TD
