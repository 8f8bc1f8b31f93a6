// RUN: tenon-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-schedule))'

// expected-error @+1 {{has no schedule "ping-pong": expected "none", "interleave", "prefetch" or "balanced"}}
tile.kernel @k() attributes {waves = 4 : i32, tile.schedule = "ping-pong"} {
  tile.return
}
