// The compiler holds the waits on copies against the final machine code. Functions
// that are lowered already say that more is issued than there is, or wait for too little.
// RUN: expect-exit 3 tenon compile %s -o %t.co 2>&1 | FileCheck %s
// RUN: expect-exit 3 tenon compile %s --emit isa -o %t.s 2>&1 | FileCheck %s

// What makes this a tile program.
tile.kernel @k() attributes {waves = 1 : i32} {
  tile.return
}

// Two loads were counted, one is there: the wait lets the copy through.
// CHECK: kernel merged: a copy into LDS may not be covered by its wait: 2 vector-memory instructions were written and are counted, the machine code has 1
llvm.func @merged(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {rocdl.kernel} {
  %x = llvm.load volatile %p : !llvm.ptr<1> -> f32
  llvm.inline_asm has_side_effects "; tenon issued 2 copies 0", "" : () -> ()
  llvm.inline_asm has_side_effects "; tenon wait 2", "" : () -> ()
  rocdl.s.waitcnt 3954
  llvm.inline_asm has_side_effects "; tenon waited", "" : () -> ()
  llvm.store volatile %x, %q : f32, !llvm.ptr<1>
  llvm.return
}

// The wait is weaker than what was written.
// CHECK: kernel weak: a copy into LDS may not be covered by its wait: no wait that leaves at most 1 vector-memory instructions in flight where one was written
llvm.func @weak(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {rocdl.kernel} {
  llvm.inline_asm has_side_effects "; tenon wait 1", "" : () -> ()
  rocdl.s.waitcnt 3954
  llvm.inline_asm has_side_effects "; tenon waited", "" : () -> ()
  llvm.return
}

// A copy on one of two ways, behind the statement that counts it.
// CHECK: kernel moved: a copy into LDS may not be covered by its wait: 1 copies were written here, the machine code has 0
// CHECK: kernel moved: a copy into LDS may not be covered by its wait: a copy was moved to the end of the kernel
llvm.mlir.global internal @lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i8>
llvm.func @moved(%p: !llvm.ptr<1>, %n: i32) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c16 = llvm.mlir.constant(16 : i32) : i32
  %s0 = llvm.mlir.constant(0 : i16) : i16
  %size = llvm.mlir.constant(1024 : i64) : i64
  %flags = llvm.mlir.constant(159744 : i32) : i32
  %r = rocdl.make.buffer.rsrc %p, %s0, %size, %flags : !llvm.ptr<1> to <8>
  %l = llvm.mlir.addressof @lds : !llvm.ptr<3>
  %id = rocdl.workitem.id.x : i32
  %more = llvm.icmp "sgt" %n, %c0 : i32
  llvm.inline_asm has_side_effects "; tenon issued 0 copies 1", "" : () -> ()
  llvm.cond_br %more, ^copy, ^end
^copy:
  rocdl.raw.ptr.buffer.load.lds %r, %l, %c16, %id, %c0, %c0, %c0
  llvm.br ^end
^end:
  llvm.return
}
