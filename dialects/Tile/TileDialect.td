//===- TileDialect.td - the tile dialect ------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_TILEDIALECT_TD
#define TENON_DIALECTS_TILE_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tenon::tile";
  let summary = "One workgroup's program over tiles with explicit layouts";
  let description = [{
    A `tile.kernel` is the program of one workgroup. Its values are

    - **tiles**: builtin tensors of static shape. A `#tile.layout` encoding says
      which register of which lane of which wave holds which element; a tile
      without an encoding has not been placed yet, and `tile-assign-layouts`
      places it. `arith` and `math` operations apply to tiles element by element.
    - **uniform scalars** (`i1`, `i32`, `i64`, `f32`): the same in every lane of
      the workgroup; they live in scalar registers.
    - **pointers** (`!tile.ptr`) into device memory and **views** (`!tile.view`)
      of it: a uniform 64-bit base, 32-bit offsets and a byte bound. A read
      outside the bound gives zeros, a write outside it is dropped, so ragged
      ends and absent rows need no masks.
    - **LDS buffers** (`!tile.lds`), whose place `tile-plan-lds` decides.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // TENON_DIALECTS_TILE_TILEDIALECT_TD
