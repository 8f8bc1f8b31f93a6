// A statement of inline assembly with effects and without operands keeps accesses in
// order in the machine code too: a load in front of it, whose value one of two ways behind
// it uses, is not made on that way.
// RUN: tenon compile %s --emit isa | FileCheck %s

// What makes this a tile program.
tile.kernel @k() attributes {waves = 1 : i32} {
  tile.return
}

// CHECK-LABEL: before:
// CHECK: global_load_dword
// CHECK: ;;#ASMSTART
// CHECK: s_cbranch
// CHECK: global_store_dword
llvm.func @before(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %n: i32) attributes {rocdl.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %id = rocdl.workitem.id.x : i32
  %from = llvm.getelementptr %p[%id] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %to = llvm.getelementptr %q[%id] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %x = llvm.load %from : !llvm.ptr<1> -> f32
  llvm.inline_asm has_side_effects "; here", "" : () -> ()
  %more = llvm.icmp "sgt" %n, %c0 : i32
  llvm.cond_br %more, ^use, ^end
^use:
  llvm.store %x, %to : f32, !llvm.ptr<1>
  llvm.br ^end
^end:
  llvm.return
}
