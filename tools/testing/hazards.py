#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wait states between pairs of instructions, as LLVM inserts them.

Writes machine code of two instructions for every pair of a producer and a
consumer, lets the hazard recognizer of llc put its s_nop between them, and
writes one line per pair: wait states, producer, consumer, between tabs.
"""

import argparse
import re
import subprocess
import sys
import tempfile

PRODUCED = 20  # the first register that producers write and consumers touch


def vgprs(first, count=1):
    return "$" + "_".join(f"vgpr{i}" for i in range(first, first + count))


def agprs(first, count=1):
    return "$" + "_".join(f"agpr{i}" for i in range(first, first + count))


def sgprs(first, count=1):
    return "$" + "_".join(f"sgpr{i}" for i in range(first, first + count))


MODE = "implicit $mode, implicit $exec"
EXEC = "implicit $exec"


class Matrix:
    """A matrix product: registers of A, B, C; how its operands are written."""

    def __init__(self, name, a, b, c, form="dense", only=None):
        self.name, self.a, self.b, self.c = name, a, b, c
        self.form, self.only = form, only

    def text(self, d, a, b, c):
        name = self.name
        if self.form == "dense":
            return f"{d} = {name}_vgprcd_e64 {a}, {b}, {c}, 0, 0, 0, {MODE}"
        if self.form == "small":
            cbsz = {"f8": 0, "f6": 2, "f4": 4}
            first, second = name.split("_")[-2:]
            return (f"{d} = {name}_vgprcd_e64 {a}, {b}, {c}, "
                    f"{cbsz[first]}, {cbsz[second]}, {MODE}")
        if self.form == "scaled":
            cbsz = {"f8": 0, "f6": 2, "f4": 4}
            first, second = name.split("_")[-2:]
            return (f"{d} = {name}_vgprcd_e64 {a}, {b}, {c}, {cbsz[first]}, "
                    f"{cbsz[second]}, $vgpr2, $vgpr3, 4, 4, {MODE}")
        # Sparse: the indices come from a register, C is D.
        return f"{d} = {name}_e64 {a}, {b}, $vgpr2, 0, 0, {d}, {MODE}"

    def produce(self):
        return self.text(vgprs(PRODUCED, self.c), vgprs(80, self.a),
                         vgprs(96, self.b), vgprs(120, self.c))


MATRICES = [
    Matrix("V_MFMA_F32_4X4X1F32", 1, 1, 4),
    Matrix("V_MFMA_F32_16X16X4F32", 1, 1, 4),
    Matrix("V_MFMA_F32_32X32X2F32", 1, 1, 16),
    Matrix("V_MFMA_F32_16X16X1F32", 1, 1, 16),
    Matrix("V_MFMA_F32_32X32X1F32", 1, 1, 32),
    Matrix("V_MFMA_F32_4X4X4F16", 2, 2, 4),
    Matrix("V_MFMA_F32_4X4X4BF16_1K", 2, 2, 4),
    Matrix("V_MFMA_F32_16X16X16F16", 2, 2, 4),
    Matrix("V_MFMA_F32_16X16X16BF16_1K", 2, 2, 4),
    Matrix("V_MFMA_F32_32X32X8F16", 2, 2, 16),
    Matrix("V_MFMA_F32_16X16X4F16", 2, 2, 16),
    Matrix("V_MFMA_F32_32X32X4F16", 2, 2, 32),
    Matrix("V_MFMA_I32_4X4X4I8", 1, 1, 4),
    Matrix("V_MFMA_I32_16X16X32I8", 2, 2, 4),
    Matrix("V_MFMA_I32_32X32X16I8", 2, 2, 16),
    Matrix("V_MFMA_I32_32X32X4I8", 1, 1, 32),
    Matrix("V_MFMA_F32_16X16X32_FP8_FP8", 2, 2, 4),
    Matrix("V_MFMA_F32_32X32X16_BF8_FP8", 2, 2, 16),
    Matrix("V_MFMA_F64_16X16X4F64", 2, 2, 8),
    Matrix("V_MFMA_F64_4X4X4F64", 2, 2, 2),
    Matrix("V_MFMA_F32_16X16X8XF32", 2, 2, 4, only="gfx942"),
    Matrix("V_MFMA_F32_32X32X4XF32", 2, 2, 16, only="gfx942"),
    Matrix("V_MFMA_F32_16X16X32_F16", 4, 4, 4, only="gfx950"),
    Matrix("V_MFMA_F32_16X16X32_BF16", 4, 4, 4, only="gfx950"),
    Matrix("V_MFMA_F32_32X32X16_BF16", 4, 4, 16, only="gfx950"),
    Matrix("V_MFMA_I32_16X16X64_I8", 4, 4, 4, only="gfx950"),
    Matrix("V_MFMA_I32_32X32X32_I8", 4, 4, 16, only="gfx950"),
    Matrix("V_MFMA_F32_16X16X128_F8F6F4_f8_f8", 8, 8, 4, "small", "gfx950"),
    Matrix("V_MFMA_F32_16X16X128_F8F6F4_f8_f4", 8, 4, 4, "small", "gfx950"),
    Matrix("V_MFMA_F32_16X16X128_F8F6F4_f4_f6", 4, 6, 4, "small", "gfx950"),
    Matrix("V_MFMA_F32_16X16X128_F8F6F4_f4_f4", 4, 4, 4, "small", "gfx950"),
    Matrix("V_MFMA_F32_32X32X64_F8F6F4_f8_f8", 8, 8, 16, "small", "gfx950"),
    Matrix("V_MFMA_F32_32X32X64_F8F6F4_f4_f4", 4, 4, 16, "small", "gfx950"),
    Matrix("V_MFMA_SCALE_F32_16X16X128_F8F6F4_f8_f8", 8, 8, 4, "scaled",
           "gfx950"),
    Matrix("V_MFMA_SCALE_F32_16X16X128_F8F6F4_f4_f4", 4, 4, 4, "scaled",
           "gfx950"),
    Matrix("V_MFMA_SCALE_F32_32X32X64_F8F6F4_f6_f8", 6, 8, 16, "scaled",
           "gfx950"),
    Matrix("V_MFMA_SCALE_F32_32X32X64_F8F6F4_f4_f4", 4, 4, 16, "scaled",
           "gfx950"),
    Matrix("V_SMFMAC_F32_16X16X32_F16", 2, 4, 4, "sparse"),
    Matrix("V_SMFMAC_F32_32X32X16_BF16", 2, 4, 16, "sparse"),
    Matrix("V_SMFMAC_I32_16X16X64_I8", 2, 4, 4, "sparse"),
    Matrix("V_SMFMAC_F32_16X16X64_F16", 4, 8, 4, "sparse", "gfx950"),
    Matrix("V_SMFMAC_F32_32X32X64_FP8_FP8", 4, 8, 16, "sparse", "gfx950"),
]

# Vector results other than those of matrix products, all in v20 (v[20:21]).
V, W = vgprs(PRODUCED), vgprs(PRODUCED, 2)
VECTOR_PRODUCERS = [
    f"{V} = V_MOV_B32_e32 $vgpr1, {EXEC}",
    f"{V} = V_ADD_F32_e32 $vgpr1, $vgpr2, {MODE}",
    # LLVM takes the bit of op_sel_hi of the first source for the one that
    # writes a half register, so it is not set here and below.
    f"{W} = V_PK_FMA_F32 0, $vgpr4_vgpr5, 8, $vgpr4_vgpr5, 8, $vgpr4_vgpr5, "
    f"0, 0, 0, 0, 0, {MODE}",
    f"{V} = V_EXP_F32_e32 $vgpr1, {MODE}",
    f"{V} = V_RCP_F16_e32 $vgpr1, {MODE}",
    f"{W} = V_RCP_F64_e32 $vgpr4_vgpr5, {MODE}",
    f"{V} = V_DOT2C_F32_F16_e32 $vgpr1, $vgpr2, {V}, {MODE}",
    f"{V} = V_DOT4C_I32_I8_e32 $vgpr1, $vgpr2, {V}, {EXEC}",
    f"{V} = V_DOT2_F32_F16 0, $vgpr1, 8, $vgpr2, 8, $vgpr3, 0, 0, 0, 0, 0, "
    f"{MODE}",
    f"{V} = V_ADD_F32_sdwa 0, $vgpr1, 0, $vgpr2, 0, 0, 5, 0, 6, 6, {MODE}",
    f"{V} = V_ADD_U16_sdwa 0, $vgpr1, 0, $vgpr2, 0, 1, 0, 4, 4, {EXEC}",
    f"{V} = V_ADD_F32_sdwa 0, $vgpr1, 0, $vgpr2, 0, 0, 6, 0, 5, 6, {MODE}",
    f"{V} = V_MAD_U16_gfx9_e64 8, $vgpr1, 0, $vgpr2, 0, $vgpr3, 0, 0, {EXEC}",
    f"{V} = V_MAD_U16_gfx9_e64 0, $vgpr1, 0, $vgpr2, 0, $vgpr3, 0, 0, {EXEC}",
    f"{V} = V_CVT_PK_FP8_F32_e64 8, $vgpr1, 0, $vgpr2, {V}, 0, {MODE}",
    f"{V} = V_CVT_PK_FP8_F32_e64 0, $vgpr1, 0, $vgpr2, {V}, 0, {MODE}",
    f"{V} = V_CVT_SR_FP8_F32_e64 0, $vgpr1, 0, $vgpr2, 0, {V}, 0, {MODE}",
    f"{V} = V_CVT_SR_FP8_F32_e64 0, $vgpr1, 0, $vgpr2, 4, {V}, 0, {MODE}",
    f"{V} = V_CVT_SR_FP8_F32_e64 8, $vgpr1, 0, $vgpr2, 0, {V}, 0, {MODE}",
    f"{V} = V_CVT_SR_BF8_F32_e64 8, $vgpr1, 0, $vgpr2, 4, {V}, 0, {MODE}",
    f"{V} = V_WRITELANE_B32 $sgpr20, 3, {V}",
    f"{V} = V_ACCVGPR_READ_B32_e64 $agpr1, {EXEC}",
]
VECTOR_PRODUCERS_950 = [
    f"{V} = V_CVT_SCALEF32_PK_FP4_F32_e64 {hi}, $vgpr1, 0, $vgpr2, {lo}, "
    f"$vgpr3, {V}, 0, {MODE}" for hi in (0, 8) for lo in (0, 4)
] + [
    f"{V} = V_CVT_SCALEF32_PK_FP8_F32_e64 {hi}, $vgpr1, 0, $vgpr2, 0, "
    f"$vgpr3, {V}, 0, {MODE}" for hi in (0, 8)
] + [
    f"{W} = V_CVT_SCALEF32_PK_F32_FP8_e64 {hi}, $vgpr1, 0, $vgpr2, 0, {MODE}"
    for hi in (0, 4)
] + [
    f"{V} = V_CVT_SCALEF32_SR_FP8_F32_e64 {hi}, $vgpr1, 0, $vgpr2, {lo}, "
    f"$vgpr3, {V}, 0, {MODE}" for hi in (0, 8) for lo in (0, 4)
] + [
    f"{V} = V_CVT_SCALEF32_SR_PK_FP4_F32_e64 0, $vgpr4_vgpr5, 0, $vgpr2, {lo}, "
    f"$vgpr3, {V}, 0, {MODE}" for lo in (0, 4)
] + [
    f"{V} = V_CVT_SCALEF32_F16_FP8_e64 {hi}, $vgpr1, 0, $vgpr2, {V}, 0, {MODE}"
    for hi in (0, 8)
] + [
    f"{V} = V_CVT_SCALEF32_SR_BF8_F16_e64 {hi}, $vgpr1, 0, $vgpr2, {lo}, "
    f"$vgpr3, {V}, 0, {MODE}" for hi in (0, 8) for lo in (0, 4)
] + [
    f"{V} = V_CVT_SCALEF32_PK_BF8_BF16_e64 {hi}, $vgpr1, 0, $vgpr2, {V}, 0, "
    f"{MODE}" for hi in (0, 8)
] + [
    f"{V} = V_CVT_SCALEF32_PK_FP4_F16_e64 {hi}, $vgpr1, 0, $vgpr2, {lo}, {V}, "
    f"0, {MODE}" for hi in (0, 8) for lo in (0, 4)
] + [
    f"{V} = V_CVT_SCALEF32_SR_PK_FP4_BF16_e64 0, $vgpr4, 0, $vgpr2, 0, "
    f"$vgpr3, {V}, 0, {MODE}",
    f"{V} = V_CVT_SCALEF32_F32_FP8_e64 0, $vgpr1, 0, $vgpr2, 0, {MODE}",
    f"{V} = V_CVT_SCALEF32_PK_F16_FP4_e64 0, $vgpr1, 0, $vgpr2, 0, {MODE}",
    f"{W} = V_CVT_SCALEF32_PK_F32_FP4_e64 4, $vgpr1, 4, $vgpr2, 0, {MODE}",
    f"{V} = V_CVT_PK_BF16_F32_e64 0, $vgpr1, 0, $vgpr2, 0, 0, {MODE}",
    f"{V}, $vgpr1 = V_PERMLANE32_SWAP_B32_e32 {V}, $vgpr1, {EXEC}",
]

SADDR = "$sgpr6_sgpr7"
VECTOR_CONSUMERS = [
    f"$vgpr60 = V_MOV_B32_e32 {V}, {EXEC}",
    f"$vgpr60 = V_ADD_F32_e32 $vgpr1, {V}, {MODE}",
    f"$vgpr60 = V_FMA_F32_e64 0, $vgpr1, 0, $vgpr1, 0, {V}, 0, 0, {MODE}",
    f"$vgpr60_vgpr61 = V_PK_FMA_F32 8, {W}, 8, {W}, 8, {W}, 0, 0, 0, 0, 0, "
    f"{MODE}",
    f"$vgpr60 = V_EXP_F32_e32 {V}, {MODE}",
    f"$vgpr60 = V_DOT2C_F32_F16_e32 {V}, $vgpr2, $vgpr60, {MODE}",
    f"{V} = V_DOT2C_F32_F16_e32 $vgpr1, $vgpr2, {V}, {MODE}",
    f"$vgpr60 = V_MOV_B32_dpp $vgpr60, {V}, 273, 15, 15, 0, {EXEC}",
    f"$vgpr60 = V_ADD_F32_dpp $vgpr60, 0, $vgpr1, 0, {V}, 273, 15, 15, 0, "
    f"{MODE}",
    f"$vgpr60 = V_ADD_F32_sdwa 0, {V}, 0, $vgpr2, 0, 0, 5, 0, 6, 6, {MODE}",
    f"$sgpr20 = V_READFIRSTLANE_B32 {V}, {EXEC}",
    f"$sgpr20 = V_READLANE_B32 {V}, 3",
    f"$vcc = V_CMP_LT_F32_e64 0, {V}, 0, $vgpr1, 0, {MODE}",
    f"$agpr9 = V_ACCVGPR_WRITE_B32_e64 {V}, {EXEC}",
    f"$vgpr60_vgpr61 = V_FMA_F64_e64 0, {W}, 0, {W}, 0, {W}, 0, 0, {MODE}",
    f"$vgpr60_vgpr61 = V_FMA_F64_e64 0, $vgpr4_vgpr5, 0, $vgpr4_vgpr5, 0, "
    f"$vgpr4_vgpr5, 0, 0, {MODE}",
    f"GLOBAL_STORE_DWORD_SADDR $vgpr1, {V}, {SADDR}, 0, 0, {EXEC}",
    f"$vgpr60 = GLOBAL_LOAD_DWORD_SADDR {V}, {SADDR}, 0, 0, {EXEC}".replace(
        f"{V}, {SADDR}", f"{SADDR}, {V}"),
    f"DS_WRITE_B32_gfx9 $vgpr1, {V}, 0, 0, {EXEC}",
    f"$vgpr60 = DS_READ_B32_gfx9 {V}, 0, 0, {EXEC}",
    f"BUFFER_STORE_DWORD_OFFEN_exact {V}, $vgpr1, $sgpr8_sgpr9_sgpr10_sgpr11, "
    f"0, 0, 0, 0, {EXEC}",
    # Overwriting.
    f"{V} = V_MOV_B32_e32 $vgpr2, {EXEC}",
    f"{V} = V_EXP_F32_e32 $vgpr2, {MODE}",
    f"{V} = V_ADD_U16_sdwa 0, $vgpr1, 0, $vgpr2, 0, 1, 2, 4, 4, {EXEC}, "
    f"implicit {V}(tied-def 0)",
    f"{V} = V_CVT_PK_FP8_F32_e64 0, $vgpr2, 0, $vgpr3, {V}, 0, {MODE}",
    f"{V} = V_CVT_SR_FP8_F32_e64 0, $vgpr2, 0, $vgpr3, 0, {V}, 0, {MODE}",
    f"{V} = V_WRITELANE_B32 $sgpr20, 3, {V}",
    f"{V} = GLOBAL_LOAD_DWORD_SADDR {SADDR}, $vgpr1, 0, 0, {EXEC}",
    f"{V} = DS_READ_B32_gfx9 $vgpr1, 0, 0, {EXEC}",
]
VECTOR_CONSUMERS_950 = [
    f"{V}, $vgpr60 = V_PERMLANE32_SWAP_B32_e32 {V}, $vgpr60, {EXEC}",
    f"$vgpr60, {V} = V_PERMLANE16_SWAP_B32_e32 $vgpr60, {V}, {EXEC}",
    f"$vgpr60 = V_CVT_SCALEF32_PK_FP4_F32_e64 0, $vgpr1, 0, {V}, 0, "
    f"$vgpr3, $vgpr60, 0, {MODE}",
    f"{V} = V_CVT_SCALEF32_PK_FP8_F32_e64 0, $vgpr1, 0, $vgpr2, 0, $vgpr3, "
    f"{V}, 0, {MODE}",
    f"{V} = V_CVT_SCALEF32_SR_BF8_F16_e64 0, $vgpr1, 0, $vgpr2, 0, $vgpr3, "
    f"{V}, 0, {MODE}",
    f"{V} = V_CVT_SCALEF32_SR_PK_FP4_F32_e64 0, $vgpr4_vgpr5, 0, $vgpr2, 0, "
    f"$vgpr3, {V}, 0, {MODE}",
    f"{V} = V_CVT_SCALEF32_F16_FP8_e64 0, $vgpr1, 0, $vgpr2, {V}, 0, {MODE}",
    f"{V} = V_CVT_SCALEF32_PK_F16_FP4_e64 0, $vgpr1, 0, $vgpr2, 0, {MODE}",
    f"{V} = V_CVT_SCALEF32_PK_FP4_F32_e64 0, $vgpr1, 0, $vgpr2, 4, "
    f"$vgpr3, {V}, 0, {MODE}",
]


def matrix_consumers(matrices, produced):
    """Products that read the `produced` registers as A, B or C."""
    for m in matrices:
        d = vgprs(150, m.c)
        a, b, c = vgprs(80, m.a), vgprs(96, m.b), vgprs(120, m.c)
        yield m.text(d, vgprs(PRODUCED, m.a), b, c)
        yield m.text(d, a, vgprs(PRODUCED, m.b), c)
        if m.form == "sparse":
            yield m.text(vgprs(PRODUCED, m.c), a, b, c)
            continue
        yield m.text(d, a, b, vgprs(PRODUCED, m.c))
        if produced > 2:
            yield m.text(d, a, b, vgprs(PRODUCED + 2, m.c))


# Scalar registers written by VALU, and what reads them.
SCALAR_PRODUCERS = [
    f"$sgpr20 = V_READFIRSTLANE_B32 $vgpr1, {EXEC}",
    f"$sgpr20 = V_READLANE_B32 $vgpr1, 3",
    f"$sgpr20_sgpr21 = V_CMP_LT_F32_e64 0, $vgpr1, 0, $vgpr2, 0, {MODE}",
    f"$vgpr60, $sgpr20_sgpr21 = V_ADD_CO_U32_e64 $vgpr1, $vgpr2, 0, {EXEC}",
    f"$sgpr20 = S_MOV_B32 1",
]
SCALAR_CONSUMERS = [
    f"$vgpr61 = V_MOV_B32_e32 $sgpr20, {EXEC}",
    f"$vgpr61 = V_CNDMASK_B32_e64 0, $vgpr1, 0, $vgpr2, $sgpr20_sgpr21, "
    f"{EXEC}",
    f"$sgpr22 = V_READLANE_B32 $vgpr1, $sgpr20",
    f"$vgpr61 = V_WRITELANE_B32 3, $sgpr20, $vgpr61",
    f"$vgpr61 = V_WRITELANE_B32 $sgpr20, 3, $vgpr61",
    f"$sgpr22 = S_ADD_U32 $sgpr20, 3, implicit-def $scc",
    f"$vgpr61 = GLOBAL_LOAD_DWORD_SADDR $sgpr20_sgpr21, $vgpr1, 0, 0, {EXEC}",
    f"GLOBAL_STORE_DWORD_SADDR $vgpr1, $vgpr2, $sgpr20_sgpr21, 0, 0, {EXEC}",
    f"BUFFER_STORE_DWORD_OFFEN_exact $vgpr1, $vgpr1, "
    f"$sgpr20_sgpr21_sgpr22_sgpr23, 0, 0, 0, 0, {EXEC}",
    f"BUFFER_STORE_DWORD_OFFEN_exact $vgpr1, $vgpr1, "
    f"$sgpr8_sgpr9_sgpr10_sgpr11, $sgpr20, 0, 0, 0, {EXEC}",
    f"$sgpr22 = S_LOAD_DWORD_IMM $sgpr20_sgpr21, 0, 0",
    f"$m0 = S_MOV_B32 $sgpr20",
]
VCC_PRODUCERS = [
    f"V_CMP_LT_F32_e32 $vgpr1, $vgpr2, implicit-def $vcc, {MODE}",
    f"$vgpr60, $vcc = V_DIV_SCALE_F32_e64 0, $vgpr1, 0, $vgpr1, 0, $vgpr2, "
    f"0, 0, {MODE}",
    f"$vcc_lo = V_READFIRSTLANE_B32 $vgpr1, {EXEC}",
    f"$vcc = S_MOV_B64 1",
]
VCC_CONSUMERS = [
    f"$vgpr61 = V_CNDMASK_B32_e32 $vgpr1, $vgpr2, implicit $vcc, {EXEC}",
    f"$vgpr61 = V_ADDC_U32_e32 $vgpr1, $vgpr2, implicit-def $vcc, "
    f"implicit $vcc, {EXEC}",
    f"$vgpr61 = V_DIV_FMAS_F32_e64 0, $vgpr1, 0, $vgpr2, 0, $vgpr3, 0, 0, "
    f"implicit $mode, implicit $vcc, {EXEC}",
    f"$vgpr61 = V_MOV_B32_dpp $vgpr61, $vgpr1, 273, 15, 15, 0, {EXEC}",
    f"$sgpr22 = S_ADD_U32 $vcc_lo, 3, implicit-def $scc",
]
EXEC_PRODUCERS = [
    f"V_CMPX_LT_F32_e32 $vgpr1, $vgpr2, implicit-def $exec, "
    f"implicit-def $vcc, {MODE}",
    f"$exec = S_MOV_B64 -1",
]
EXEC_CONSUMERS = [
    f"$vgpr61 = V_MOV_B32_dpp $vgpr61, $vgpr1, 273, 15, 15, 0, {EXEC}",
    f"$vgpr61 = V_MOV_B32_e32 $vgpr1, {EXEC}",
    f"$sgpr22 = V_READFIRSTLANE_B32 $vgpr1, {EXEC}",
    f"$sgpr22 = V_READLANE_B32 $vgpr1, 3",
    f"$vgpr61 = V_WRITELANE_B32 3, 4, $vgpr61",
    f"$vgpr60_vgpr61_vgpr62_vgpr63 = V_MFMA_F32_16X16X16F16_vgprcd_e64 "
    f"$vgpr4_vgpr5, $vgpr6_vgpr7, 0, 0, 0, 0, {MODE}",
    # Memory instructions are left out: LLVM takes EXEC, which the hardware
    # orders, for one of their scalar operands.
]
EXEC_CONSUMERS_950 = [
    f"$vgpr61, $vgpr60 = V_PERMLANE32_SWAP_B32_e32 $vgpr61, $vgpr60, {EXEC}",
]
M0_PRODUCERS = ["$m0 = S_MOV_B32 $sgpr20"]
# Buffer loads into LDS are not among them: LLVM waits before them, the manual does not
# ask for it, and no hand-written GEMM object does.
M0_CONSUMERS = [
    f"GLOBAL_LOAD_LDS_DWORD_SADDR {SADDR}, $vgpr1, 0, 0, implicit $m0, {EXEC}",
    "S_SENDMSG 2, implicit $exec, implicit $m0",
    "$sgpr22 = S_MOV_B32 $m0",
    "$sgpr22 = S_MOVRELS_B32 $sgpr24, implicit $m0",
    f"$vgpr60 = DS_READ_ADDTID_B32 0, 0, implicit $m0, {EXEC}",
    f"$vgpr60 = DS_READ_B32 $vgpr1, 0, 0, implicit $m0, {EXEC}",
]
D4, D3 = vgprs(PRODUCED, 4), vgprs(PRODUCED, 3)
# Without scalar offsets, whose hazard LLVM 22 does not know.
STORE_PRODUCERS = [
    f"GLOBAL_STORE_DWORDX4_SADDR $vgpr1, {D4}, {SADDR}, 0, 0, {EXEC}",
    f"GLOBAL_STORE_DWORDX3_SADDR $vgpr1, {D3}, {SADDR}, 0, 0, {EXEC}",
    f"GLOBAL_STORE_DWORDX2_SADDR $vgpr1, {W}, {SADDR}, 0, 0, {EXEC}",
    f"GLOBAL_STORE_DWORDX4 $vgpr4_vgpr5, {D4}, 0, 0, {EXEC}",
    f"BUFFER_STORE_DWORDX4_OFFEN_exact {D4}, $vgpr1, "
    f"$sgpr8_sgpr9_sgpr10_sgpr11, 0, 0, 0, 0, {EXEC}",
    f"BUFFER_STORE_DWORDX3_OFFEN_exact {D3}, $vgpr1, "
    f"$sgpr8_sgpr9_sgpr10_sgpr11, 0, 0, 0, 0, {EXEC}",
]
STORE_CONSUMERS = [
    f"{V} = V_MOV_B32_e32 $vgpr2, {EXEC}",
    f"$vgpr22 = V_EXP_F32_e32 $vgpr2, {MODE}",
    f"$vgpr60 = V_MOV_B32_e32 {V}, {EXEC}",
    f"{V} = GLOBAL_LOAD_DWORD_SADDR {SADDR}, $vgpr1, 0, 0, {EXEC}",
    f"{D4} = V_MFMA_F32_16X16X16F16_vgprcd_e64 "
    f"$vgpr4_vgpr5, $vgpr6_vgpr7, 0, 0, 0, 0, {MODE}",
]
SETREG = "implicit-def $mode, implicit $mode"
HWREG_PRODUCERS = [f"S_SETREG_B32 $sgpr20, 1025, {SETREG}",
                   f"S_SETREG_IMM32_B32 3, 2049, {SETREG}",
                   "$sgpr22 = S_GETREG_B32 1025, implicit $mode"]
HWREG_CONSUMERS = [f"S_SETREG_B32 $sgpr21, 1025, {SETREG}",
                   "$sgpr23 = S_GETREG_B32 1025, implicit $mode",
                   "$sgpr23 = S_GETREG_B32 1026, implicit $mode",
                   f"$vgpr60 = V_ADD_F32_e32 $vgpr1, $vgpr2, {MODE}"]


def pairs(chip):
    """All pairs for a chip."""
    is950 = chip == "gfx950"
    matrices = [m for m in MATRICES if m.only in (None, chip)]
    consumers = VECTOR_CONSUMERS + (VECTOR_CONSUMERS_950 if is950 else [])
    for m in matrices:
        for consumer in consumers:
            yield m.produce(), consumer
        for consumer in matrix_consumers(matrices, m.c):
            yield m.produce(), consumer
        if m.form != "sparse":
            # SrcC overwritten.
            reads = m.text(vgprs(150, m.c), vgprs(80, m.a), vgprs(96, m.b),
                           vgprs(PRODUCED, m.c))
            for consumer in consumers[-12:]:
                if consumer.startswith(V):
                    yield reads, consumer
    vector = VECTOR_PRODUCERS + (VECTOR_PRODUCERS_950 if is950 else [])
    few = [m for m in matrices if m.name in (
        "V_MFMA_F32_16X16X16F16", "V_MFMA_F32_16X16X4F32",
        "V_MFMA_F64_4X4X4F64", "V_SMFMAC_F32_16X16X32_F16",
        "V_MFMA_SCALE_F32_16X16X128_F8F6F4_f4_f4")]
    for producer in vector:
        for consumer in consumers:
            yield producer, consumer
        for consumer in matrix_consumers(few, 1):
            yield producer, consumer
    exec_consumers = EXEC_CONSUMERS + (EXEC_CONSUMERS_950 if is950 else [])
    for producers, users in [(SCALAR_PRODUCERS, SCALAR_CONSUMERS),
                             (VCC_PRODUCERS, VCC_CONSUMERS),
                             (EXEC_PRODUCERS, exec_consumers),
                             (M0_PRODUCERS, M0_CONSUMERS),
                             (STORE_PRODUCERS, STORE_CONSUMERS),
                             (HWREG_PRODUCERS, HWREG_CONSUMERS)]:
        for producer in producers:
            for consumer in users:
                yield producer, consumer


def functions(chip):
    """Machine code with one function per pair."""
    for index, (producer, consumer) in enumerate(pairs(chip)):
        yield (f"---\nname: f{index}\ntracksRegLiveness: false\nbody: |\n"
               f"  bb.0:\n    {producer}\n    {consumer}\n"
               f"    S_ENDPGM 0\n...\n")


def wait_states(lines):
    """Producer, wait states and consumer of one function's assembly."""
    instructions = [re.split(r"\s*;", line)[0].strip().replace("\t", " ")
                    for line in lines]
    instructions = [i for i in instructions if i and i != "s_endpgm"]
    states, others = 0, []
    for instruction in instructions:
        match = re.fullmatch(r"s_nop (\d+)", instruction)
        if match:
            states += int(match[1]) + 1
        else:
            others.append(instruction)
    if len(others) != 2:
        raise ValueError(f"not a pair: {instructions}")
    return others[0], states, others[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("chip", choices=["gfx942", "gfx950"])
    parser.add_argument("--llc", default="llc-22", help="LLVM 22's llc")
    parser.add_argument("--output", type=argparse.FileType("w"),
                        default=sys.stdout)
    arguments = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".mir") as file:
        file.write("".join(functions(arguments.chip)))
        file.flush()
        assembly = subprocess.run(
            [arguments.llc, "-mtriple=amdgcn", f"-mcpu={arguments.chip}",
             "-start-before=post-RA-hazard-rec", "-o", "-", file.name],
            check=True, capture_output=True, text=True).stdout
    seen = set()
    for name, body in re.findall(r"^f(\d+):(.*?)^\.Lfunc_end", assembly,
                                 re.S | re.M):
        lines = [line for line in body.split("\n")
                 if not line.strip().startswith((".", ";"))
                 and not line.strip().endswith(":")]
        first, states, second = wait_states(lines)
        if (first, second) not in seen:
            seen.add((first, second))
            print(states, first, second, sep="\t", file=arguments.output)
    if not seen:
        sys.exit("hazards.py: llc gave no functions")


if __name__ == "__main__":
    main()
