//===- TenonAttrs.td - attributes of the tenon dialect ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_TENONATTRS_TD
#define TENON_DIALECTS_TENON_TENONATTRS_TD

include "dialects/Tenon/TenonDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"

class Tenon_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tenon::spec";
  let genSpecializedAttr = 0;
}

def Tenon_GateKind : Tenon_Enum<"GateKind", "how the decay gate is activated", [
    I32EnumAttrCase<"Bounded", 0, "bounded">,
    I32EnumAttrCase<"Softplus", 1, "softplus">]>;
def Tenon_GateKindAttr : EnumAttr<Tenon_Dialect, Tenon_GateKind, "gate">;

def Tenon_NullSlot : Tenon_Enum<"NullSlot", "which slots are null", [
    I32EnumAttrCase<"LE0", 0, "le0">, I32EnumAttrCase<"LT0", 1, "lt0">]>;
def Tenon_NullSlotAttr : EnumAttr<Tenon_Dialect, Tenon_NullSlot, "null_slot">;

def Tenon_ConvLayout : Tenon_Enum<"ConvLayout", "order of columns and channels", [
    I32EnumAttrCase<"SD", 0, "sd">, I32EnumAttrCase<"DS", 1, "ds">]>;
def Tenon_ConvLayoutAttr : EnumAttr<Tenon_Dialect, Tenon_ConvLayout, "conv_layout">;

def Tenon_StateOrder : Tenon_Enum<"StateOrder", "order of the two head dimensions", [
    I32EnumAttrCase<"VK", 0, "vk">, I32EnumAttrCase<"KV", 1, "kv">]>;

def Tenon_StateLayoutAttr : AttrDef<Tenon_Dialect, "StateLayout",
    [DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface,
                                 ["isIdentity", "getStridesAndOffset", "verifyLayout"]>]> {
  let mnemonic = "state_layout";
  let summary = "The layout of a pool of recurrent states";
  let description = [{
    The layout of a memref `[slots, heads, 128, 128]`: `vk` when the last
    dimension is the key (contraction) dimension, `kv` when it is the value
    dimension. Two pools with different orders have the same shape, so the order
    is part of the type: a kernel built for one refuses the other. The stride
    between slots is free; the rest is dense.
  }];
  let parameters = (ins EnumParameter<Tenon_StateOrder>:$order);
  let assemblyFormat = "`<` $order `>`";
}

def Tenon_Products : Tenon_Enum<"Products", "what matrix products are made of", [
    I32EnumAttrCase<"BF16", 0, "bf16">, I32EnumAttrCase<"FP32", 1, "fp32">,
    I32EnumAttrCase<"F16", 2, "f16">]>;
def Tenon_ProductsAttr : EnumAttr<Tenon_Dialect, Tenon_Products, "products">;

def Tenon_Epilogue : Tenon_Enum<"Epilogue", "what becomes of the products", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Add", 1, "add">,
    I32EnumAttrCase<"SigmoidGate", 2, "sigmoid_gate">,
    I32EnumAttrCase<"SiTU", 3, "situ">, I32EnumAttrCase<"SiLU", 4, "silu">]>;
def Tenon_EpilogueAttr : EnumAttr<Tenon_Dialect, Tenon_Epilogue, "epilogue">;

def Tenon_Scoring : Tenon_Enum<"Scoring", "how logits of experts become scores", [
    I32EnumAttrCase<"Sigmoid", 0, "sigmoid">, I32EnumAttrCase<"Softmax", 1, "softmax">]>;
def Tenon_ScoringAttr : EnumAttr<Tenon_Dialect, Tenon_Scoring, "scoring">;

def Tenon_Activation : Tenon_Enum<"Activation", "what becomes of gate and up", [
    I32EnumAttrCase<"SiTU", 0, "situ">, I32EnumAttrCase<"SiLU", 1, "silu">]>;
def Tenon_ActivationAttr : EnumAttr<Tenon_Dialect, Tenon_Activation, "activation">;

def Tenon_Format : Tenon_Enum<"Format", "what values are rounded to", [
    I32EnumAttrCase<"F32", 0, "f32">, I32EnumAttrCase<"BF16", 1, "bf16">,
    I32EnumAttrCase<"FP8", 2, "fp8">, I32EnumAttrCase<"FP4", 3, "fp4">]>;
def Tenon_FormatAttr : EnumAttr<Tenon_Dialect, Tenon_Format, "format">;

def Tenon_ScaleMode : Tenon_Enum<"ScaleMode", "how the scale of a block is chosen", [
    I32EnumAttrCase<"Up", 0, "up">, I32EnumAttrCase<"Floor", 1, "floor">,
    I32EnumAttrCase<"Even", 2, "even">]>;
def Tenon_ScaleModeAttr : EnumAttr<Tenon_Dialect, Tenon_ScaleMode, "scale_mode">;

def Tenon_WeightOrder : Tenon_Enum<"WeightOrder", "order of the elements of weights", [
    I32EnumAttrCase<"Packed", 0, "packed">, I32EnumAttrCase<"Aiter", 1, "aiter">,
    I32EnumAttrCase<"AiterInterleaved", 2, "aiter_interleaved">]>;

def Tenon_WeightLayoutAttr : AttrDef<Tenon_Dialect, "WeightLayout",
    [DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface,
                                 ["isIdentity", "getStridesAndOffset", "verifyLayout"]>]> {
  let mnemonic = "weight_layout";
  let summary = "The layout of weights, or of their scales, that are not row-major";
  let description = [{
    The layout of a memref `[N, K]` of weights, or `[N, K/32]` of their scales, whose
    elements have been reordered for the kernel; or of E experts, `[E, N, K]` and
    `[E, N, K/32]`. The sizes are those of the row-major
    form, so the order is part of the type: a kernel built for one refuses the others.
    Row-major operands are plain strided memrefs.

    **Weights.** 16 bytes along K stay together; the chunks of 16 rows follow each other,
    then those of the next 16 bytes along K, then the next 16 rows. With C = 16 bytes in
    elements (8 of bf16, 16 of FP8, 32 of FP4), element (n, k) is element

    `(n div 16) * 16 * K + (k div C) * 16 * C + (n mod 16) * C + k mod C`.

    **Scales** of 32 elements along K: a dword holds those of rows n and n + 16 and of
    blocks b and b + 4. With B = K/32 rounded up to a multiple of 8, the scale of row n
    and block b is byte

    `(n div 32) * 32 * B + (b div 8) * 256 + (b mod 4) * 64 + (n mod 16) * 4 + (b div 4 mod 2) * 2 + n div 16 mod 2`.

    Scales per row are not reordered.

    | order | rows | filled up |
    |---|---|---|
    | `packed` | any N; K is a multiple of C | weights to 16 rows; scales to 32 rows and 8 blocks; with bytes of 0 |
    | `aiter` | FP4, N a multiple of 16, K of 64 | scales to 256 rows and 8 blocks, with any bytes |
    | `aiter_interleaved` | FP4, N a multiple of 32, K of 64 | scales to 8 blocks, with any bytes |

    `aiter` is what AITER's `shuffle_weight(16, 16)` and `e8m0_shuffle` produce, and
    `packed` weights are the same bytes where both exist. `aiter_interleaved` is `aiter`
    after rows of gate and rows of up, the halves of N, have been made to alternate by 16.
    What fills up may be read but is never needed: it does not change a result.

    **Experts** follow each other. In the order `packed` each is filled up like a single
    matrix. The orders of AITER need N to be a multiple of 32, then the scales of all
    experts are those of one matrix of E * N rows: only the last is filled up to 256 rows.
  }];
  let parameters = (ins EnumParameter<Tenon_WeightOrder>:$order);
  let assemblyFormat = "`<` $order `>`";
  let extraClassDeclaration = [{
    /// Bytes from one expert to the next of weights or scales \p type, a memref
    /// [E, N, K] with static N and K in a layout of this kind.
    static int64_t getExpertBytes(::mlir::MemRefType type);
  }];
}

#endif // TENON_DIALECTS_TENON_TENONATTRS_TD
