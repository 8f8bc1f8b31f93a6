//===- Counters.h - what the runtime counts ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DISPATCH_COUNTERS_H
#define TENON_RUNTIME_DISPATCH_COUNTERS_H

#include "tenon-c/tenon.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace tenon::runtime {

class Counters {
public:
  /// Counted with every launch, so that each of some threads has a line of the
  /// cache to itself.
  void countLaunch(bool isBucketMiss) {
    Shard &shard = shards[threadNumber() % shards.size()];
    shard.launches.fetch_add(1, std::memory_order_relaxed);
    if (isBucketMiss) {
      shard.bucketMisses.fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::atomic<uint64_t> staticMisses = 0, cacheHits = 0, compiles = 0,
                        modules = 0, compileNanoseconds = 0;

  tenon_counters read() const;

private:
  struct alignas(64) Shard {
    std::atomic<uint64_t> launches = 0, bucketMisses = 0;
  };

  static unsigned threadNumber() {
    static std::atomic<unsigned> next = 0;
    thread_local unsigned number = next.fetch_add(1);
    return number;
  }

  std::array<Shard, 32> shards;
};

/// The text format of Prometheus.
std::string prometheusText(const tenon_counters &counters);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DISPATCH_COUNTERS_H
