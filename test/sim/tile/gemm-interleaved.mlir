// A product written by hand whose copies, reads of LDS and matrix instructions take turns:
// each step along k has a quarter of the copies of the next stages, the reads of the step
// after it and its own products. The stages are those at 0 and 2 from one index, so no
// barrier but the one that is written.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/product.py make %t 256 384 192
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --grid 2,3 --block 256 --arg npy:%t.x.npy --arg npy:%t.w.npy \
// RUN:   --arg buf:393216:fill=nan:out=%t.out.npy --arg i32:256 --arg i32:384 --arg i32:24 \
// RUN:   --stats-json %t.json | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: FileCheck %s --check-prefix=BANKS < %t.json
// BANKS: "lds_extra_phases": 0
// RUN: %{python} %S/Inputs/product.py check %t

// A pair of copies stands before each four of the matrix instructions.
// RUN: tenon compile %s --emit isa -o %t.s
// RUN: sed -n '/vmcnt(8)/,/s_cbranch/p' %t.s > %t.loop.s
// RUN: grep -E 'vmcnt|s_barrier|buffer_|v_mfma|s_cbranch' %t.loop.s | FileCheck %s --check-prefix=LOOP
// LOOP: s_waitcnt vmcnt(8)
// LOOP-NEXT: s_barrier
// LOOP-NEXT: buffer_load_dwordx4
// LOOP-NEXT: buffer_load_dwordx4
// LOOP-COUNT-4: v_mfma
// LOOP-NEXT: buffer_load_dwordx4
// LOOP-NEXT: buffer_load_dwordx4
// LOOP-COUNT-4: v_mfma
// LOOP-NEXT: buffer_load_dwordx4
// LOOP-NEXT: buffer_load_dwordx4
// LOOP-COUNT-4: v_mfma
// LOOP-NEXT: buffer_load_dwordx4
// LOOP-NEXT: buffer_load_dwordx4
// LOOP-COUNT-4: v_mfma
// LOOP-NEXT: s_cbranch
!ab = !tile.lds<128x64xbf16, stages = 3>
!as = !tile.lds<128x64xbf16>
!bb = !tile.lds<64x128xbf16, stages = 3>
!bs = !tile.lds<64x128xbf16>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @gemm(%x: !tile.ptr<bf16>, %w: !tile.ptr<bf16>, %out: !tile.ptr<f32>, %m: i32, %n: i32, %k8: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c4 = arith.constant 4 : i32
  %cm = arith.constant 128 : i32
  %cn = arith.constant 128 : i32
  %cs = arith.constant 3 : i32
  %cl = arith.constant 2 : i32
  %bk = arith.constant 64 : i32
  %bk1 = arith.constant 128 : i32
  %k = arith.muli %k8, %c8 : i32
  %wx = tile.workgroup_id 0
  %wy = tile.workgroup_id 1
  %row = arith.muli %wx, %cm : i32
  %col = arith.muli %wy, %cn : i32
  %mk = arith.muli %m, %k : i32
  %nk = arith.muli %n, %k : i32
  %mn = arith.muli %m, %n : i32
  %xbytes = arith.muli %mk, %c2 : i32
  %wbytes = arith.muli %nk, %c2 : i32
  %obytes = arith.muli %mn, %c4 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %xv = tile.view %x strides [%k, 1] bytes %xbytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %wv = tile.view %w strides [1, %k] bytes %wbytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %ov = tile.view %out strides [%n, 1] bytes %obytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %ab = tile.alloc_lds : !ab
  %bb = tile.alloc_lds : !bb
  %p0 = arith.constant 0 : i32
  %k0 = arith.constant 0 : i32
  %as0 = tile.lds_stage %ab[%p0] : !ab -> !as
  %bs0 = tile.lds_stage %bb[%p0] : !bb -> !bs
  %ta0 = tile.copy_to_lds %xv[%row, %k0], %as0 : !tile.view<2 x bf16>, !as -> !tile.token
  %tb0 = tile.copy_to_lds %wv[%k0, %col], %bs0 : !tile.view<2 x bf16>, !bs -> !tile.token
  %p1 = arith.constant 1 : i32
  %k1 = arith.constant 64 : i32
  %as1 = tile.lds_stage %ab[%p1] : !ab -> !as
  %bs1 = tile.lds_stage %bb[%p1] : !bb -> !bs
  %ta1 = tile.copy_to_lds %xv[%row, %k1], %as1 : !tile.view<2 x bf16>, !as -> !tile.token
  %tb1 = tile.copy_to_lds %wv[%k1, %col], %bs1 : !tile.view<2 x bf16>, !bs -> !tile.token
  %r:19 = scf.for %i = %c0 to %k step %bk iter_args(%c = %zero, %now = %c0, %free = %cl, %a0_0 = %ta0, %b0_0 = %tb0, %a0_1 = %ta0, %b0_1 = %tb0, %a0_2 = %ta0, %b0_2 = %tb0, %a0_3 = %ta0, %b0_3 = %tb0, %a1_0 = %ta1, %b1_0 = %tb1, %a1_1 = %ta1, %b1_1 = %tb1, %a1_2 = %ta1, %b1_2 = %tb1, %a1_3 = %ta1, %b1_3 = %tb1) -> (tensor<128x128xf32>, i32, i32, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token) : i32 {
    tile.wait_copies %a0_0, %b0_0, %a0_1, %b0_1, %a0_2, %b0_2, %a0_3, %b0_3 : !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token
    tile.barrier
    %ahead = arith.addi %i, %bk1 : i32
    %an = tile.lds_stage %ab[%now] : !ab -> !as
    %bn = tile.lds_stage %bb[%now] : !bb -> !bs
    %af = tile.lds_stage %ab[%now + 2] : !ab -> !as
    %bf = tile.lds_stage %bb[%now + 2] : !bb -> !bs
    %na0 = tile.copy_to_lds %xv[%row, %ahead], %af {part = array<i64: 0, 4>} : !tile.view<2 x bf16>, !as -> !tile.token
    %nb0 = tile.copy_to_lds %wv[%ahead, %col], %bf {part = array<i64: 0, 4>} : !tile.view<2 x bf16>, !bs -> !tile.token
    %la0 = tile.lds_load %an at [0, 0] : !as -> tensor<128x16xbf16>
    %lb0 = tile.lds_load %bn at [0, 0] : !bs -> tensor<16x128xbf16>
    %la1 = tile.lds_load %an at [0, 16] : !as -> tensor<128x16xbf16>
    %lb1 = tile.lds_load %bn at [16, 0] : !bs -> tensor<16x128xbf16>
    %d0 = tile.mma %la0, %lb0, %c {instruction = array<i64: 32,16>} : tensor<128x16xbf16>, tensor<16x128xbf16>, tensor<128x128xf32>
    %na1 = tile.copy_to_lds %xv[%row, %ahead], %af {part = array<i64: 1, 4>} : !tile.view<2 x bf16>, !as -> !tile.token
    %nb1 = tile.copy_to_lds %wv[%ahead, %col], %bf {part = array<i64: 1, 4>} : !tile.view<2 x bf16>, !bs -> !tile.token
    %la2 = tile.lds_load %an at [0, 32] : !as -> tensor<128x16xbf16>
    %lb2 = tile.lds_load %bn at [32, 0] : !bs -> tensor<16x128xbf16>
    %d1 = tile.mma %la1, %lb1, %d0 {instruction = array<i64: 32,16>} : tensor<128x16xbf16>, tensor<16x128xbf16>, tensor<128x128xf32>
    %na2 = tile.copy_to_lds %xv[%row, %ahead], %af {part = array<i64: 2, 4>} : !tile.view<2 x bf16>, !as -> !tile.token
    %nb2 = tile.copy_to_lds %wv[%ahead, %col], %bf {part = array<i64: 2, 4>} : !tile.view<2 x bf16>, !bs -> !tile.token
    %la3 = tile.lds_load %an at [0, 48] : !as -> tensor<128x16xbf16>
    %lb3 = tile.lds_load %bn at [48, 0] : !bs -> tensor<16x128xbf16>
    %d2 = tile.mma %la2, %lb2, %d1 {instruction = array<i64: 32,16>} : tensor<128x16xbf16>, tensor<16x128xbf16>, tensor<128x128xf32>
    %na3 = tile.copy_to_lds %xv[%row, %ahead], %af {part = array<i64: 3, 4>} : !tile.view<2 x bf16>, !as -> !tile.token
    %nb3 = tile.copy_to_lds %wv[%ahead, %col], %bf {part = array<i64: 3, 4>} : !tile.view<2 x bf16>, !bs -> !tile.token
    %d3 = tile.mma %la3, %lb3, %d2 {instruction = array<i64: 32,16>} : tensor<128x16xbf16>, tensor<16x128xbf16>, tensor<128x128xf32>
    %n1 = arith.addi %now, %c1 : i32
    %wrap = arith.cmpi eq, %n1, %cs : i32
    %next = arith.select %wrap, %c0, %n1 : i32
    scf.yield %d3, %next, %now, %a1_0, %b1_0, %a1_1, %b1_1, %a1_2, %b1_2, %a1_3, %b1_3, %na0, %nb0, %na1, %nb1, %na2, %nb2, %na3, %nb3 : tensor<128x128xf32>, i32, i32, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token
  }
  tile.wait_copies %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16, %r#17, %r#18 : !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token, !tile.token
  tile.store %r#0, %ov[%row, %col] : tensor<128x128xf32>, !tile.view<2 x f32>
  tile.return
}
}
