//===- Atomic.h - the operations of atomics ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_ATOMIC_H
#define TENON_LIB_SIM_ATOMIC_H

#include "FloatMath.h"
#include "Lanes.h"

#include <algorithm>

namespace tenon::sim {

/// What an atomic does to memory, given its data; compare-and-swap apart.
enum class AtomicOp : uint8_t {
  Swap,
  Add,
  Sub,
  ReverseSub,
  MinI,
  MinU,
  MaxI,
  MaxU,
  And,
  Or,
  Xor,
  Inc,
  Dec,
  AddF,
  MinF,
  MaxF,
  PackedAddHalf,
  PackedAddBf16,
};

/// The new value of a cell. T is uint32_t or uint64_t.
template <AtomicOp op, typename T> inline T atomicResult(T old, T data) {
  using Signed = std::make_signed_t<T>;
  using Real = std::conditional_t<sizeof(T) == 8, double, float>;
  Real oldReal = std::bit_cast<Real>(old), real = std::bit_cast<Real>(data);
  switch (op) {
  case AtomicOp::Swap:
    return data;
  case AtomicOp::Add:
    return old + data;
  case AtomicOp::Sub:
    return old - data;
  case AtomicOp::ReverseSub:
    return data - old;
  case AtomicOp::MinI:
    return T(std::min(Signed(old), Signed(data)));
  case AtomicOp::MinU:
    return std::min(old, data);
  case AtomicOp::MaxI:
    return T(std::max(Signed(old), Signed(data)));
  case AtomicOp::MaxU:
    return std::max(old, data);
  case AtomicOp::And:
    return old & data;
  case AtomicOp::Or:
    return old | data;
  case AtomicOp::Xor:
    return old ^ data;
  case AtomicOp::Inc:
    return old >= data ? 0 : old + 1;
  case AtomicOp::Dec:
    return old == 0 || old > data ? data : old - 1;
  case AtomicOp::AddF:
    return std::bit_cast<T>(addFloat(oldReal, real));
  case AtomicOp::MinF:
    return std::bit_cast<T>(minFloat(oldReal, real));
  case AtomicOp::MaxF:
    return std::bit_cast<T>(maxFloat(oldReal, real));
  case AtomicOp::PackedAddHalf:
  case AtomicOp::PackedAddBf16: {
    // Two independent 16-bit sums.
    uint32_t result = 0;
    for (unsigned shift = 0; shift < 32; shift += 16) {
      uint16_t a = uint16_t(old >> shift), b = uint16_t(data >> shift);
      uint32_t sum;
      if (op == AtomicOp::PackedAddHalf) {
        sum = std::bit_cast<uint16_t>(Half(addFloat(
            float(std::bit_cast<Half>(a)), float(std::bit_cast<Half>(b)))));
      } else {
        sum = roundToBf16(addFloat(bf16ToFloat(a), bf16ToFloat(b)));
      }
      result |= (sum & 0xFFFF) << shift;
    }
    return result;
  }
  }
}

/// The same on 64 bits, as MemoryView keeps atomics.
template <AtomicOp op, typename T>
inline uint64_t updateAtomic(uint64_t old, uint64_t data, uint64_t) {
  return atomicResult<op>(T(old), T(data));
}
template <typename T>
inline uint64_t updateCompareSwap(uint64_t old, uint64_t data,
                                  uint64_t compare) {
  return T(old) == T(compare) ? T(data) : T(old);
}

} // namespace tenon::sim

#endif // TENON_LIB_SIM_ATOMIC_H
