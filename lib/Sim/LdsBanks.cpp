//===- LdsBanks.cpp - clocks of an LDS access -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LdsBanks.h"

#include <algorithm>
#include <bit>

namespace tenon::sim {

const target::LdsAccessRule &ldsRuleOf(const target::TargetInfo &chip,
                                       unsigned bytes, bool isRead) {
  using target::LdsOp;
  LdsOp op = bytes <= 4    ? (isRead ? LdsOp::ReadB32 : LdsOp::WriteB32)
             : bytes == 8  ? (isRead ? LdsOp::ReadB64 : LdsOp::WriteB64)
             : bytes == 12 ? (isRead ? LdsOp::ReadB96 : LdsOp::WriteB96)
                           : (isRead ? LdsOp::ReadB128 : LdsOp::WriteB128);
  return chip.ldsRule(op);
}

unsigned ldsExtraPhases(const target::LdsAccessRule &rule, unsigned bytes,
                        const uint32_t *address, uint32_t offset,
                        uint64_t lanes) {
  unsigned dwords = (bytes + 3u) / 4, extra = 0;
  for (uint64_t phase : rule.phases) {
    // Distinct dwords per bank; lanes with the same dword share it.
    constexpr unsigned maxBanks = 64, maxDwords = 64 * 4;
    uint32_t words[maxDwords];
    unsigned count = 0;
    uint8_t perBank[maxBanks] = {};
    unsigned busiest = 0;
    uint64_t seen[4] = {}; // a filter that makes the search rare
    for (uint64_t rest = phase & lanes; rest; rest &= rest - 1) {
      uint32_t first = (address[unsigned(std::countr_zero(rest))] + offset) / 4;
      for (uint32_t word = first; word < first + dwords; ++word) {
        uint64_t bit = uint64_t(1) << (word % 64);
        uint64_t &filter = seen[(word / 64) % 4];
        if ((filter & bit) &&
            std::find(words, words + count, word) != words + count) {
          continue;
        }
        filter |= bit;
        words[count++] = word;
        busiest = std::max<unsigned>(busiest, ++perBank[word % rule.banks]);
      }
    }
    extra += busiest > 1 ? busiest - 1 : 0;
  }
  return extra;
}

} // namespace tenon::sim
