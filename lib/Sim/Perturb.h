//===- Perturb.h - what the hardware does not publish -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch with a perturbation seed moves results of transcendental operations
// by up to one unit in the last place and sums matrix products in any order, so
// that no test comes to rest on the simulator's own choice. What becomes of a
// result depends on the seed, the instruction's address, the lane and the input
// alone, so that launches stay reproducible.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_SIM_PERTURB_H
#define TENON_LIB_SIM_PERTURB_H

#include "Wave.h"

#include <utility>

namespace tenon::sim {

/// Mixes 64 bits (the finaliser of MurmurHash3).
inline uint64_t mixBits(uint64_t bits) {
  bits ^= bits >> 33;
  bits *= 0xFF51AFD7ED558CCDull;
  bits ^= bits >> 33;
  bits *= 0xC4CEB9FE1A85EC53ull;
  return bits ^ (bits >> 33);
}

/// Shuffles `count` places of an instruction's sum.
inline void perturbOrder(const Wave &wave, const Instr &instr, uint8_t *place,
                         unsigned count) {
  uint64_t state = mixBits(wave.perturb + instr.address);
  for (unsigned i = count; i > 1; --i) {
    state = mixBits(state + i);
    std::swap(place[i - 1], place[state % i]);
  }
}

/// -1, 0 or 1: how far a result moves.
inline int perturbation(const Wave &wave, const Instr &instr, unsigned lane,
                        uint64_t input) {
  uint64_t hash = mixBits(mixBits(wave.perturb + instr.address) ^ input ^
                          uint64_t(lane) << 56);
  return int(hash % 3) - 1;
}

} // namespace tenon::sim

#endif // TENON_LIB_SIM_PERTURB_H
