//===- BankConflicts.cpp - the phases of an LDS access ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/BankConflicts.h"

#include "AlikeInstructions.h"
#include "MakeError.h"
#include "tenon/Layout/LdsAddressing.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tenon::layout;

static constexpr unsigned dwordBits = 32;
static constexpr int64_t dwordBytes = 4;

const PhaseRule *BankRules::find(LdsAccess kind, unsigned accessBits) const {
  unsigned wanted = std::max(accessBits, dwordBits);
  ArrayRef<PhaseRule> rules = kind == LdsAccess::Read ? reads : writes;
  auto *rule = find_if(rules, [&](const PhaseRule &candidate) {
    return candidate.accessBits == wanted;
  });
  return rule == rules.end() ? nullptr : rule;
}

Expected<SmallVector<LdsInstruction>>
tenon::layout::ldsInstructions(const Layout &layout, const LdsLayout &lds,
                               unsigned accessBits) {
  unsigned elementBits = lds.elementBits();
  if (layout.shape() != lds.shape()) {
    return makeError("the register layout and the LDS layout are of tiles of "
                     "different shapes");
  }
  if (accessBits < 8 || accessBits % elementBits != 0) {
    return makeError("an access of {0} bits does not hold whole elements of "
                     "{1} bits",
                     accessBits, elementBits);
  }
  int64_t width = accessBits / elementBits;
  if (layout.numRegisters() % width != 0) {
    return makeError("{0} registers do not divide into accesses of {1}",
                     layout.numRegisters(), width);
  }
  unsigned alignment =
      isPowerOf2_32(accessBits) ? accessBits : std::min(accessBits, dwordBits);
  SmallVector<LdsInstruction> instructions;
  for (int64_t wave : seq<int64_t>(0, layout.numWaves())) {
    for (int64_t first = 0; first < layout.numRegisters(); first += width) {
      LdsInstruction instruction{wave, first, {}};
      for (int64_t lane : seq<int64_t>(0, layout.numLanes())) {
        int64_t begin = lds.bitAddress(layout.coordinates(first, lane, wave));
        for (int64_t j : seq<int64_t>(1, width)) {
          int64_t found =
              lds.bitAddress(layout.coordinates(first + j, lane, wave));
          if (found != begin + j * elementBits) {
            return makeError("register {0} of lane {1}, wave {2} lies at bit "
                             "{3}, expected {4}: an access of {5} bits is no "
                             "run of addresses",
                             first + j, lane, wave, found,
                             begin + j * elementBits, accessBits);
          }
        }
        if (begin % alignment != 0) {
          return makeError("register {0} of lane {1}, wave {2} lies at bit "
                           "{3}, expected a multiple of {4}",
                           first, lane, wave, begin, alignment);
        }
        instruction.addresses.push_back(begin / 8);
      }
      instructions.push_back(std::move(instruction));
    }
  }
  return instructions;
}

std::optional<LdsInstruction>
tenon::layout::alikeInstruction(const Layout &layout, const LdsLayout &lds,
                                unsigned accessBits) {
  auto split = splitLdsAddresses(layout, lds, accessBits);
  if (!split) {
    consumeError(split.takeError());
    return std::nullopt;
  }
  if (lds.padding().interval != 0 ||
      split->registersPerAccess * lds.elementBits() != accessBits) {
    return std::nullopt;
  }
  LdsInstruction first{0, 0, {}};
  for (int64_t lane : seq<int64_t>(0, layout.numLanes())) {
    first.addresses.push_back(lds.byteAddress(layout.coordinates(0, lane, 0)));
  }
  return first;
}

unsigned tenon::layout::phaseCycles(ArrayRef<int64_t> addresses, uint64_t lanes,
                                    unsigned accessBits, unsigned banks) {
  SmallVector<int64_t, 64> dwords;
  for (; lanes != 0; lanes &= lanes - 1) {
    int64_t address = addresses[countr_zero(lanes)];
    int64_t last = (address + accessBits / 8 - 1) / dwordBytes;
    for (int64_t dword = address / dwordBytes; dword <= last; ++dword) {
      dwords.push_back(dword);
    }
  }
  llvm::sort(dwords);
  dwords.erase(llvm::unique(dwords), dwords.end());
  SmallVector<unsigned, 64> load(banks, 0);
  unsigned cycles = 1;
  for (int64_t dword : dwords) {
    cycles = std::max(cycles, ++load[dword % banks]);
  }
  return cycles;
}

Expected<BankConflicts> tenon::layout::bankConflicts(const Layout &layout,
                                                     const LdsLayout &lds,
                                                     unsigned accessBits,
                                                     LdsAccess kind,
                                                     const BankRules &rules) {
  const PhaseRule *rule = rules.find(kind, accessBits);
  if (!rule) {
    return makeError("no bank rule for {0} of {1} bits",
                     kind == LdsAccess::Read ? "reads" : "writes", accessBits);
  }
  BankConflicts result;
  auto add = [&](const LdsInstruction &instruction, int64_t times) {
    result.instructions += times;
    for (uint64_t lanes : rule->phases) {
      int64_t cycles =
          phaseCycles(instruction.addresses, lanes, accessBits, rule->banks);
      result.phases += times;
      result.extraPhases += times * (cycles - 1);
      result.worstDegree = std::max(result.worstDegree, cycles);
    }
  };
  // Constants that are no whole dwords change what shares a dword.
  if (accessBits >= dwordBits && layout.shape() == lds.shape()) {
    if (auto first = alikeInstruction(layout, lds, accessBits)) {
      int64_t width = accessBits / lds.elementBits();
      add(*first, layout.numWaves() * (layout.numRegisters() / width));
      return result;
    }
  }
  auto instructions = ldsInstructions(layout, lds, accessBits);
  if (!instructions) {
    return instructions.takeError();
  }
  for (const LdsInstruction &instruction : *instructions) {
    add(instruction, 1);
  }
  return result;
}
