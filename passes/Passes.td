//===- Passes.td - every pass of Tenon --------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One entry, one .cpp of the same name, one lit test of the same name. In the
// order of the pipeline.

#ifndef TENON_PASSES_PASSES_TD
#define TENON_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def TenonChooseSchedule : Pass<"tenon-choose-schedule", "::mlir::ModuleOp"> {
  let summary = "Rank the schedules of each tenon op";
  let description = [{
    Sets `schedules`, a list of parameter dictionaries, on each tenon op that has
    none: the legal schedules on the module's target, the one expected to be
    fastest first, by the cost model of the op's family. A list that is given is
    kept. Each choice is explained in a remark.

    ```mlir
    tenon.kda_decode ... {heads = 12 ...}
    // becomes
    tenon.kda_decode ... {heads = 12 ..., schedules = [{waves = 4}, ...]}
    ```
  }];
}

def TenonLowerToTile : Pass<"tenon-lower-to-tile", "::mlir::ModuleOp"> {
  let summary = "Write the launch plan and the tile programs of each tenon op";
  let description = [{
    Replaces each function that holds a tenon op by a `tenon.plan` and the
    `tile.kernel`s that it launches, according to one schedule of the ranked list.
  }];
  let options = [
    Option<"schedule", "schedule", "unsigned", "0",
           "Which schedule of the ranked list to use, from 0">,
  ];
  let dependentDialects = ["::tenon::tile::TileDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def TileSelectPrecision : Pass<"tile-select-precision", "::tenon::tile::KernelOp"> {
  let summary = "Choose the instructions of matrix products";
  let description = [{
    Sets `instruction` on each `tile.mma` that has none: of the chip's MFMA instructions
    for its element types and of equal accuracy, the one of the highest rate, then
    of the most reuse of operands, whose shape divides among the kernel's waves.
    BF16, FP16, FP8 and FP4 products are exact and added in FP32.
    A product of FP32 operands with an `accuracy` may name its instruction: it takes a
    form that has it.

    FP32 operands take the FP32 instructions, or, where the product's `accuracy` allows
    it and it costs less, sums of BF16 products. An operand is the sum of its parts
    `a0 = bf16(a)`, `a1 = bf16(a - a0)`, `a2 = a - a0 - a1`; a1 and a2 are at most
    2^-8 and 2^-16 times its magnitude:

    | form | products | a term is wrong by at most |
    |---|---|---|
    | `native` | a * b | 0 |
    | `bf16x6` | a0 * b0 + a0 * b1 + a1 * b0 + a1 * b1 + a0 * b2 + a2 * b0 | 2^-23 (1 + 2^-9) |
    | `bf16x3` | a0 * b0 + a0 * b1 + a1 * b0 | 3 * 2^-16 (1 + 2^-7) |
    | `bf16x1` | a0 * b0 | 2^-7 (1 + 2^-9) |

    of its magnitude |a| |b|, besides the rounding of FP32 sums. This holds for operands
    between 2^-100 and 2^127 (or 0): smaller ones lose parts that are subnormal, greater
    ones and infinities round to infinity, and their remainders are NaN.
  }];
  let options = [Option<"form", "form", "std::string", "\"auto\"",
      "Of products of FP32 that have no instruction: auto, or native, bf16x1, "
      "bf16x3 or bf16x6 whatever their accuracy">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TileAssignLayouts : Pass<"tile-assign-layouts", "::tenon::tile::KernelOp"> {
  let summary = "Place every tile and make the exchanges between layouts explicit";
  let description = [{
    Tiles whose type carries a layout are anchors and keep it. The other tiles
    form islands, connected through element-wise ops, `tile.extract`,
    `tile.stack` and reductions. An island is placed either in the layout that
    spreads it over all threads, or in a layout that one of its users wants:
    whichever costs less, counting its own instructions per wave and the
    exchanges at its border. Computing a short chain several times over can be
    cheaper than an exchange.

    `tile.convert_layout` between layouts that hold the same elements on the same
    threads stays (it renames registers), as does one that gathers what a
    reduction has scattered over lanes; any other becomes a store to and a load
    from a new LDS buffer, the store right after the value, the load right before
    its first use. One exchange serves all users that want the same layout.

    A load with `staged` becomes a copy into an LDS buffer by all waves, a wait, and a
    read in the layout that its users want.

    An LDS buffer of rank 2 without a layout that `tile.copy_to_lds` fills gets
    rows along the dimension in which the copied views are contiguous, and the
    swizzle under which its readers have no bank conflicts.
  }];
}

def TilePipeline : Pass<"tile-pipeline", "::tenon::tile::KernelOp"> {
  let summary = "Fetch ahead what the iterations of a loop read";
  let description = [{
    A loop with the attribute `tile.stages = S`, S above 1, reads the tiles of an
    iteration S - 1 iterations early. Iterations beyond the last one fetch through views
    of no bytes, so that they read zeros without traffic.

    The loop is unrolled S times, so that every stage has registers or a place in LDS of
    its own. It may compute beyond its end then, with those zeros; what it carries must be
    sums of products of tiles that it fetches, which zeros leave as they are. Where the
    number of iterations is known, twice S or more, those that S leaves over are
    computed behind the loop instead. A loop that
    fetches by copies into LDS alone is not unrolled when it has many products (16
    instructions of a wave): the number of the stage goes around at run time. Nor is one
    in which a copy has a `tile.stages` of its own, which is its number of stages. Copies
    that have fewer are issued first.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def TilePlanLds : Pass<"tile-plan-lds", "::tenon::tile::KernelOp"> {
  let summary = "Give every LDS buffer its place";
  let description = [{
    A buffer lives from its first write to its last read; one that is used in a loop
    throughout the loop. Buffers that never live
    together may share storage; they do only when that lets more workgroups
    reside on a compute unit, because sharing costs a barrier. All stages of a
    buffer live together, and a copy into one lives until it is waited for. Sets `offset` on
    each `tile.alloc_lds` and `lds_bytes` on the kernel, and remarks how many
    workgroups of a compute unit the LDS allows. A kernel over the chip's LDS is
    an error that names the buffers alive at the peak.
  }];
}

def TileInsertBarriers : Pass<"tile-insert-barriers", "::tenon::tile::KernelOp"> {
  let summary = "Insert the barriers that LDS dependences need";
  let description = [{
    A barrier is needed between two accesses of overlapping LDS when one of them
    writes and they may come from different waves. One barrier serves every
    dependence that is open at that point. Barriers that are there already count.

    A copy (`tile.copy_to_lds`) may overwrite what was accessed only behind a
    barrier, and other waves may access what it wrote only behind a barrier after
    its `tile.wait_copies`. An access that for sure meets a copy in flight is an
    error, and so is a kernel that may end with one. Stages at different constant
    indices, or at different shifts from one index, do not overlap; otherwise a
    stage at an index that is known at run time only may be any, and then the pass
    adds barriers but reports no missing wait. The body
    of a loop is ordered against its earlier iterations.
  }];
}

def TileSchedule : Pass<"tile-schedule", "::tenon::tile::KernelOp"> {
  let summary = "Let copies, reads of LDS and matrix products take turns";
  let description = [{
    What a kernel asks for with `tile.schedule`:

    - `"none"`, or no attribute: the order of the program.
    - `"interleave"`: between two barriers, the products whose operands come from LDS
      are cut into steps along k, of one instruction each, and steps into slots of a few
      instructions of each wave. A slot has its share of the products of its step, of the
      reads of the step after it, and of the copies that stand before the products, in
      the order of these. Sums are added up in the same order. Products that have an
      operand in registers are not cut along k, and what they read of LDS comes first:
      the copies are spread over their first half, and over the second the loads of
      registers that only later steps use, with a `tile.order_fence` behind them all. So
      it is with the orders below, but `"ping-pong"`, which does not take them.
    - `"prefetch"`: so, and in a loop that carries the sums the products of the last step
      stand at the head of the next iteration, while the reads behind the barrier are
      under way. The operands of that step are carried in registers. Of products with
      scales there are no registers to spare: they are interleaved within a step.
    - `"balanced"`: so, and the priority of a wave falls from the first slot to the last,
      so that the waves of a SIMD keep pace and none issues its copies late.
    - `"ping-pong"`: of two waves on each SIMD, in groups of the first and the second half
      of the workgroup, one multiplies while the other copies and reads. Products and
      memory accesses of a step along k become phases with a barrier after each, and a
      barrier for the second group alone in front of the loop sets it one phase behind;
      one for the first group behind the loop brings them together again. Needs a loop
      that carries the sums, with one barrier for each step.

    Comes after tile-insert-barriers: it moves nothing across a barrier or a wait.
    A copy does leave a `tile.order_fence` behind: its order is counted anew.
  }];
}

def ConvertTileToRocdl : Pass<"convert-tile-to-rocdl", "::mlir::ModuleOp"> {
  let summary = "Lower placed tile programs to per-lane code";
  let description = [{
    Each `tile.kernel` becomes an `llvm.func` with the calling convention of a
    kernel, in the llvm and rocdl dialects. Expects that layouts, LDS offsets and
    barriers are in place; says what is missing otherwise. In a loop with
    `tile.recompute` the offsets of lanes that are needed behind an inner loop are
    computed there, not kept in registers throughout it.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // TENON_PASSES_PASSES_TD
