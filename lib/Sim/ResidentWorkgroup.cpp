//===- ResidentWorkgroup.cpp - a workgroup that runs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ResidentWorkgroup.h"

#include "HostRounding.h"
#include "Program.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace llvm;

namespace tenon::sim {

/// Registers, LDS and scratch hold anything at the start of a wave on hardware;
/// here it is a pattern that is a NaN as a float and no small integer.
static constexpr uint32_t uninitialised = 0xFFF5A5A5;

/// Stack for calls that the compiler could not bound.
static constexpr uint32_t dynamicStackBytes = 16 * 1024;

/// What a wave that waits for other workgroups costs of the budget in each
/// quantum, so that one that waits for ever ends.
static constexpr int64_t waitCost = 1024;

std::unique_ptr<Wave> WavePool::take() {
  if (waves.empty()) {
    // Not zeroed: a wave uses only the rows that its kernel has.
    return std::make_unique_for_overwrite<Wave>();
  }
  std::unique_ptr<Wave> wave = std::move(waves.back());
  waves.pop_back();
  return wave;
}

std::unique_ptr<WaveChecks> WavePool::takeChecks() {
  if (checks.empty()) {
    return std::make_unique<WaveChecks>();
  }
  std::unique_ptr<WaveChecks> taken = std::move(checks.back());
  checks.pop_back();
  return taken;
}

std::unique_ptr<GroupChecks> WavePool::takeGroupChecks() {
  if (groupChecks.empty()) {
    return std::make_unique<GroupChecks>();
  }
  std::unique_ptr<GroupChecks> taken = std::move(groupChecks.back());
  groupChecks.pop_back();
  return taken;
}

ResidentWorkgroup::ResidentWorkgroup(const LaunchSetup &setup,
                                     uint64_t position, MemoryView *shared)
    : setup(setup), position(position), view(shared) {
  if (!shared) {
    view = &ownView.emplace(setup.memory);
  }
}

void ResidentWorkgroup::start(WavePool &pool) {
  const std::array<uint32_t, 3> &grid = setup.config.grid;
  uint64_t index = setup.workgroupAt(position);
  group.linearId = index;
  group.position = position;
  group.id = {uint32_t(index % grid[0]), uint32_t(index / grid[0] % grid[1]),
              uint32_t(index / grid[0] / grid[1])};
  group.lds.assign(setup.ldsBytes, 0xA5);
  if (setup.observed) {
    checks = pool.takeGroupChecks();
    checks->launch = &*setup.checks;
    checks->ldsOrder.reset(setup.wavesPerWorkgroup, setup.ldsBytes);
    checks->ldsUndefined.assign(setup.ldsBytes, 0xFF);
    if (setup.checks->on.has(Check::GlobalRace)) {
      order = std::make_unique<GroupOrder>();
      order->reset(index, setup.wavesPerWorkgroup);
    }
    checks->order = order.get();
  }
  for (unsigned i = 0; i < setup.wavesPerWorkgroup; ++i) {
    waves.push_back(pool.take());
    if (setup.observed) {
      waveChecks.push_back(pool.takeChecks());
    }
    startWave(i);
  }
}

void ResidentWorkgroup::leave(WavePool &pool, QuantumResult &result) {
  pool.give(waves);
  if (setup.observed) {
    result.add(*checks);
    pool.give(waveChecks);
    pool.give(std::move(checks));
  }
  group.lds = {};
}

void ResidentWorkgroup::startWave(unsigned waveIndex) {
  Wave &wave = *waves[waveIndex];
  const KernelInfo &info = setup.kernel.info();
  uint32_t vectorRows = std::min<uint32_t>(info.vgprs, 256);
  std::fill_n(&wave.v[0][0], vectorRows * waveSize, uninitialised);
  std::fill_n(&wave.v[rowAgpr][0],
              std::min<uint32_t>(info.agprs, 256) * waveSize, uninitialised);
  std::fill_n(wave.s, unsigned(sgprCount), uninitialised);
  wave.maskRowFor = 0;
  std::fill_n(wave.maskRow, waveSize, 0);
  wave.scc = 0;
  wave.pc = setup.entryRecord;
  wave.stop = WaveStop::Running;
  wave.mode.bits = ((setup.rsrc1 >> 12) & 0xFF) |
                   ((setup.rsrc1 >> 21) & 1) << 8 |
                   ((setup.rsrc1 >> 23) & 1) << 9;
  wave.waits = WaitCounters();
  wave.memory = view;
  wave.program = setup.program;
  wave.workgroup = &group;
  wave.loadAddress = setup.loadAddress;
  wave.perturb = setup.config.perturb;
  wave.waveIndex = waveIndex;
  wave.executed = 0;
  wave.failure.clear();
  wave.failedCheck.reset();
  wave.checks = nullptr;
  wave.trace = nullptr;
  wave.scratchBytes = (info.scratchBytes + 3) / 4 * 4 +
                      (info.dynamicStack ? dynamicStackBytes : 0);
  wave.scratch.assign(size_t(wave.scratchBytes) * waveSize, 0xA5);

  unsigned active = std::min(setup.workItems - waveIndex * waveSize, waveSize);
  wave.setPair(sgprExec,
               active == waveSize ? allLanes : (uint64_t(1) << active) - 1);
  wave.setPair(sgprVcc, 0);
  wave.s[sgprM0] = 0;
  wave.setPair(sgprFlatScratch, uint64_t(privateAperture) << 32);
  for (unsigned lane = 0; lane < active; ++lane) {
    unsigned item = waveIndex * waveSize + lane;
    unsigned x = item % setup.config.block[0];
    unsigned y = item / setup.config.block[0] % setup.config.block[1];
    unsigned z = item / setup.config.block[0] / setup.config.block[1];
    wave.v[0][lane] = x | y << 10 | z << 20;
  }

  // User SGPRs in the order of the enable bits, then the system SGPRs.
  unsigned reg = 0;
  auto pushPair = [&](uint64_t value) {
    wave.setPair(reg, value);
    reg += 2;
  };
  if (setup.properties &
      1) { // private segment buffer: unused with flat scratch
    pushPair(0);
    pushPair(0);
  }
  if (setup.properties & 2) {
    pushPair(setup.packetAddress);
  }
  if (setup.properties & 4) {
    pushPair(setup.queueAddress);
  }
  if (setup.properties & 8) {
    pushPair(setup.kernargAddress);
  }
  if (setup.properties & 16) { // dispatch id
    pushPair(1);
  }
  if (setup.properties & 32) { // flat scratch init
    pushPair(0);
  }
  if (setup.properties & 64) {
    wave.s[reg++] = wave.scratchBytes;
  }
  for (unsigned i = 0; i < info.preloadDwords; ++i) {
    wave.s[reg++] = support::endian::read32le(setup.kernarg.data() +
                                              4 * (info.preloadOffset + i));
  }
  // The count in the descriptor may include alignment.
  reg = std::max(reg, (setup.rsrc2 >> 1) & 0x1F);
  for (unsigned d = 0; d < 3; ++d) {
    if ((setup.rsrc2 >> (7 + d)) & 1) {
      wave.s[reg++] = group.id[d];
    }
  }
  if ((setup.rsrc2 >> 10) & 1) { // workgroup info: waves in the group
    wave.s[reg++] = setup.wavesPerWorkgroup;
  }
  if (setup.rsrc2 &
      1) { // private segment wave offset: architected flat scratch
    wave.s[reg++] = 0;
  }
  if (setup.observed) {
    wave.checks = waveChecks[waveIndex].get();
    wave.checks->reset(*checks, wave, reg);
  }
}

template <bool observed>
void ResidentWorkgroup::runWave(Wave &wave, QuantumResult &result) {
  const Instr *records = setup.program->records();
  int64_t share = wave.left;
  int64_t left = share;
  setHostRounding(wave.mode);
  bool again = wave.stop == WaveStop::Again;
  wave.stop = WaveStop::Running;
  while (left > 0) {
    uint32_t index = wave.pc;
    const Instr &instr = records[index];
    wave.pc = index + 1;
    --left;
    if (observed && !again) {
      wave.checks->before(wave, index);
    }
    again = false;
    instr.exec(wave, instr);
    if (wave.stop == WaveStop::Again) [[unlikely]] {
      wave.pc = index;
      ++left;
      break;
    }
    ++result.counts[unsigned(instr.instructionClass)];
    if constexpr (observed) {
      wave.checks->after(wave);
      if (result.profile) {
        ++result.profile[index];
      }
    }
    if (wave.stop != WaveStop::Running) [[unlikely]] {
      if (wave.stop == WaveStop::Failed) {
        // Jumps have moved the program counter already.
        wave.pc = index + 1;
      }
      break;
    }
  }
  uint64_t executed = uint64_t(share - left);
  wave.left = left;
  wave.executed += executed;
  result.waveInstructions += executed;
  charged += int64_t(executed);
}

void ResidentWorkgroup::fail(const Wave &wave, std::string message,
                             std::optional<Check> check) {
  failure = {wave.waveIndex, wave.pc ? wave.pc - 1 : 0, std::move(message),
             check};
}

std::string ResidentWorkgroup::describeFailure() const {
  const Instr &instr = setup.program->records()[failure->record];
  return formatv("kernel {0}, workgroup ({1}, {2}, {3}), wave {4}, at {5:x} "
                 "`{6}`: {7}",
                 setup.kernel.name(), group.id[0], group.id[1], group.id[2],
                 failure->wave, instr.address, setup.program->text(instr),
                 failure->message)
      .str();
}

bool ResidentWorkgroup::passBarrier(unsigned waiting, unsigned ended) {
  // Hardware counts ended waves as arrived, but a barrier that only some waves
  // reach is a mistake in any kernel that relies on it.
  if (ended && setup.config.checks.has(Check::Barrier)) {
    const Wave &waiter = **find_if(waves, [](const auto &wave) {
      return wave->stop == WaveStop::Barrier;
    });
    fail(waiter,
         (Twine(waiting) + " waves wait at a barrier that the other " +
          Twine(ended) + " never reach: they have ended")
             .str(),
         Check::Barrier);
    return false;
  }
  if (setup.observed) {
    checks->ldsOrder.barrier();
    if (order) {
      order->barrier();
    }
  }
  for (std::unique_ptr<Wave> &wave : waves) {
    if (wave->stop == WaveStop::Barrier) {
      wave->stop = WaveStop::Running;
    }
  }
  return true;
}

void ResidentWorkgroup::runQuantum(int64_t instructions,
                                   QuantumResult &result) {
  charged = 0;
  for (std::unique_ptr<Wave> &wave : waves) {
    wave->left = instructions;
    wave->polled = 0;
    if (wave->stop == WaveStop::AwaitsOthers) {
      wave->stop = WaveStop::Running;
      charged += waitCost;
    }
  }
  for (bool isFirst = true;; isFirst = false) {
    unsigned ended = 0, waiting = 0, running = 0;
    for (std::unique_ptr<Wave> &wave : waves) {
      bool resumes = isFirst && wave->stop == WaveStop::Again;
      if ((wave->stop == WaveStop::Running && wave->left > 0) || resumes) {
        if (setup.observed) {
          runWave<true>(*wave, result);
        } else {
          runWave<false>(*wave, result);
        }
      }
      if (wave->stop == WaveStop::Failed) {
        return fail(*wave, wave->failure, wave->failedCheck);
      }
      ended += wave->stop == WaveStop::Ended;
      waiting += wave->stop == WaveStop::Barrier;
      running += wave->stop == WaveStop::Running && wave->left > 0;
    }
    if (ended == waves.size()) {
      hasEnded = true;
      return;
    }
    if (waiting + ended == waves.size()) {
      if (!passBarrier(waiting, ended)) {
        return;
      }
    } else if (!running) {
      return;
    }
  }
}

const Wave &ResidentWorkgroup::firstUnfinished() const {
  return **find_if(
      waves, [](const auto &wave) { return wave->stop != WaveStop::Ended; });
}

} // namespace tenon::sim
