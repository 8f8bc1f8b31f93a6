// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// The runtime reads the description of every operand.
// expected-error @+1 {{operand #0 must be a dictionary with name, type, access and dims}}
tenon.plan @p operands [{name = "x", type = bf16, access = "read"}] {
}

// -----

// An operand that is no dictionary is refused, not read.
// expected-error @+1 {{operand #1 must be a dictionary with name, type, access and dims}}
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = []}, 3] {
}

// -----

// There are three kinds of access.
// expected-error @+1 {{operand #0: access must be read, write or read_write, found 'rw'}}
tenon.plan @p operands [{name = "x", type = bf16, access = "rw", dims = []}] {
}

// -----

// A size is a number or the name of one.
// expected-error @+1 {{operand #0: a size must be an integer or a name, found}}
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = [1.0]}] {
}

// -----

// Sizes are those of the plan's operands.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  // expected-error @+1 {{the plan has no operand 'y'}}
  %n = tenon.size "y"[0]
}

// -----

// An operand has only its own dimensions.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  // expected-error @+1 {{operand 'x' has 2 dimensions, found dimension 2}}
  %n = tenon.size "x"[2]
}

// -----

// Strides are those of the plan's operands.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  // expected-error @+1 {{the plan has no operand 'y'}}
  %n = tenon.stride "y"[0]
}

// -----

// There is one stride per dimension.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  // expected-error @+1 {{operand 'x' has 2 dimensions, found dimension 2}}
  %n = tenon.stride "x"[2]
}

// -----

// Alignment is asked of an operand of the plan.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  // expected-error @+1 {{the plan has no operand 'y'}}
  tenon.require_aligned "y" to 16
}

// -----

// Addresses are multiples of at least one byte.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  // expected-error @+1 {{attribute 'bytes' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  tenon.require_aligned "x" to 0
}

// -----

// A stride is asked of an operand of the plan.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  // expected-error @+1 {{the plan has no operand 'y'}}
  tenon.require_stride "y"[0] multiple_of 8
}

// -----

// A negative dimension is out of range as well.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  // expected-error @+1 {{operand 'x' has 2 dimensions, found dimension -1}}
  tenon.require_stride "x"[-1] multiple_of 8
}

// -----

// The runtime divides by the number of elements.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  // expected-error @+1 {{expected a positive number of elements, found 0}}
  tenon.require_stride "x"[0] multiple_of 0
}

// -----

// An argument is one thing.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{argument #0 must be {ptr = name}, {workspace = name}, {i32 = k} or {i64 = k}}}
  tenon.launch @k grid(%c1, %c1, %c1) workgroup 64 values(%c1) args [{ptr = "x", i32 = 0}]
}

// -----

// An argument that is no dictionary is refused, not read.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{argument #0 must be {ptr = name}, {workspace = name}, {i32 = k} or {i64 = k}}}
  tenon.launch @k grid(%c1, %c1, %c1) workgroup 64 values(%c1) args [3]
}

// -----

// A pointer is that of an operand of the plan.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{the plan has no operand 'y'}}
  tenon.launch @k grid(%c1, %c1, %c1) workgroup 64 values(%c1) args [{ptr = "y"}]
}

// -----

// A workspace is one that the plan has stated before the launch.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{argument #0: expected the name of a workspace stated before, found {workspace = "w"}}}
  tenon.launch @k grid(%c1, %c1, %c1) workgroup 64 values(%c1) args [{workspace = "w"}]
  tenon.workspace "w" bytes %c1
}

// -----

// Workspaces have names of their own.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  tenon.workspace "w" bytes %c1
  // expected-error @+1 {{the plan has two workspaces 'w'}}
  tenon.workspace "w" bytes %c1 zero
}

// -----

// A pointer has a name.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{argument #0: expected the name of an operand, found {ptr = 0 : i64}}}
  tenon.launch @k grid(%c1, %c1, %c1) workgroup 64 values(%c1) args [{ptr = 0}]
}

// -----

// Scalars have 32 or 64 bits.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{argument #1: expected i32 or i64 and the number of a value below 1, found {i16 = 0 : i64}}}
  tenon.launch @k grid(%c1, %c1, %c1) workgroup 64 values(%c1) args [{ptr = "x"}, {i16 = 0}]
}

// -----

// A scalar is one of the launch's values.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{argument #0: expected i32 or i64 and the number of a value below 1, found {i32 = 1 : i64}}}
  tenon.launch @k grid(%c1, %c1, %c1) workgroup 64 values(%c1) args [{i32 = 1}]
}

// -----

// Values are counted from 0.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{argument #0: expected i32 or i64 and the number of a value below 1, found {i64 = -1 : i64}}}
  tenon.launch @k grid(%c1, %c1, %c1) workgroup 64 values(%c1) args [{i64 = -1}]
}

// -----

// A workgroup has threads.
tenon.plan @p operands [{name = "x", type = bf16, access = "read", dims = ["N", 128]}] {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{attribute 'workgroup_size' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  tenon.launch @k grid(%c1, %c1, %c1) workgroup 0 values() args []
}

// -----

// What a plan is made of means nothing outside of one.
// expected-error @+1 {{'tenon.size' op expects parent op 'tenon.plan'}}
%n = tenon.size "x"[0]

// -----

// Scalars are those of the plan.
tenon.plan @p operands [] scalars ["begin"] {
  // expected-error @+1 {{the plan has no scalar 'end'}}
  %n = tenon.scalar "end"
}

// -----

// A plan without any has none of a name.
tenon.plan @p operands [] {
  // expected-error @+1 {{the plan has no scalar 'begin'}}
  %n = tenon.scalar "begin"
}
