//===- Buckets.h - sizes that schedules are built for -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedules of a kernel are built for buckets of a size of the call, such
// as the number of tokens: the powers of two. A size belongs to the next power
// of two that is not below it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_DISPATCH_BUCKETS_H
#define TENON_RUNTIME_DISPATCH_BUCKETS_H

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tenon::runtime {

inline constexpr int64_t largestBucket = 16384;

/// The bucket of \p size.
inline int64_t bucketOf(int64_t size) {
  return int64_t(
      std::bit_ceil(uint64_t(std::clamp<int64_t>(size, 1, largestBucket))));
}

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DISPATCH_BUCKETS_H
