//===- HotLoopsTest.cpp - what the loops of machine code hold ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/CodeGen/HotLoops.h"

#include "../Sim/Assembler.h"

using namespace tenon;
using namespace tenon::codegen;

/// The one loop of a kernel that repeats \p body and a matrix instruction of
/// v[16:23].
static HotLoop loopOf(const std::string &body) {
  auto object = sim::test::loadObject(sim::test::assemble(
      "again:\n"
      "  v_mfma_f32_16x16x16_bf16 v[20:23], v[16:17], v[18:19], v[20:23]\n" +
      body + "  s_cbranch_scc1 again\n  s_endpgm\n"));
  auto loops = findHotLoops(object->kernels().front());
  if (!loops || loops->size() != 1) {
    ADD_FAILURE() << "expected one loop";
    llvm::consumeError(loops.takeError());
    return {};
  }
  return loops->front();
}

// Moves of what products use are counted, those of other registers are not.
TEST(HotLoops, CountsMovesOfProducts) {
  HotLoop loop = loopOf("  v_mov_b32 v20, v1\n"
                        "  v_mov_b64 v[2:3], v[18:19]\n"
                        "  v_mov_b32 v2, v3\n"
                        "  v_mov_b32 v16, 0\n");
  EXPECT_EQ(loop.products, 1u);
  EXPECT_EQ(loop.registerMoves, 2u);
  EXPECT_EQ(loop.vectorAlu, 2u);
}

// The copy that a swap of a register with itself takes is no move, with either
// width and in either order, and with others in between.
TEST(HotLoops, CopiesForSwapsAreNoMoves) {
  HotLoop loop = loopOf("  v_mov_b32 v1, v20\n"
                        "  v_mov_b32 v2, v21\n"
                        "  v_add_f32 v3, v20, v21\n"
                        "  v_permlane32_swap_b32 v20, v1\n"
                        "  v_permlane16_swap_b32 v2, v21\n");
  EXPECT_EQ(loop.registerMoves, 0u);
  EXPECT_EQ(loop.vectorAlu, 5u);
}

// A copy that is used before the swap, whose source changes before it, or that
// is swapped with another register is a move.
TEST(HotLoops, OtherCopiesThatAreSwappedAreMoves) {
  EXPECT_EQ(loopOf("  v_mov_b32 v1, v20\n"
                   "  v_add_f32 v3, v1, v21\n"
                   "  v_permlane32_swap_b32 v20, v1\n")
                .registerMoves,
            1u);
  EXPECT_EQ(loopOf("  v_mov_b32 v1, v20\n"
                   "  v_add_f32 v20, v20, v21\n"
                   "  v_permlane32_swap_b32 v20, v1\n")
                .registerMoves,
            1u);
  EXPECT_EQ(loopOf("  v_mov_b32 v1, v20\n"
                   "  v_permlane32_swap_b32 v21, v1\n")
                .registerMoves,
            1u);
}
