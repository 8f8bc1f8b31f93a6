//===- Counters.cpp - what the runtime counts -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Counters.h"

#include <fmt/format.h>

namespace tenon::runtime {

tenon_counters Counters::read() const {
  tenon_counters result = {};
  for (const Shard &shard : shards) {
    result.launches += shard.launches.load(std::memory_order_relaxed);
    result.bucket_misses += shard.bucketMisses.load(std::memory_order_relaxed);
  }
  result.static_misses = staticMisses;
  result.cache_hits = cacheHits;
  result.compiles = compiles;
  result.modules = modules;
  result.compile_seconds = 1e-9 * double(compileNanoseconds.load());
  return result;
}

std::string prometheusText(const tenon_counters &counters) {
  std::string text;
  auto add = [&](const char *name, const char *type, const char *help,
                 const std::string &value) {
    text += fmt::format("# HELP tenon_{0} {1}\n# TYPE tenon_{0} {2}\n"
                        "tenon_{0} {3}\n",
                        name, help, type, value);
  };
  auto count = [&](const char *name, const char *help, uint64_t value) {
    add(name, "counter", help, std::to_string(value));
  };
  count("launches_total", "Launches of ops.", counters.launches);
  count("bucket_misses_total",
        "Launches with the nearest schedule, for want of their own.",
        counters.bucket_misses);
  count("static_misses_total", "Kernels that no bundle held.",
        counters.static_misses);
  count("cache_hits_total",
        "Kernels that no bundle held and the disk cache did.",
        counters.cache_hits);
  count("compiles_total", "Kernels compiled by this process.",
        counters.compiles);
  add("modules", "gauge", "Loaded modules.", std::to_string(counters.modules));
  add("compile_seconds_total", "counter", "Time spent waiting for compiles.",
      fmt::format("{:.6f}", counters.compile_seconds));
  return text;
}

} // namespace tenon::runtime
