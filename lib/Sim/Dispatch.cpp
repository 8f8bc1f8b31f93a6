//===- Dispatch.cpp - workgroups of one launch ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Dispatch.h"

#include "HostRounding.h"
#include "Program.h"
#include "SourceLines.h"

#include "tenon/Target/TargetInfo.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <random>
#include <thread>

using namespace llvm;

namespace tenon::sim {

/// Registers, LDS and scratch hold anything at the start of a wave on hardware;
/// here it is a pattern that is a NaN as a float and no small integer.
static constexpr uint32_t uninitialised = 0xFFF5A5A5;

/// Instructions a wave may run before its neighbours get their turn, so that
/// waves that spin on each other through LDS make progress.
static constexpr int64_t waveShare = 1 << 16;

/// Workgroups of a launch: more would not end within anybody's patience, and
/// the order of those has to fit into the host's memory.
static constexpr uint64_t mostWorkgroups = uint64_t(1) << 28;

/// Findings of a launch that are kept.
static constexpr size_t mostFindings = 100;

/// Stack for calls that the compiler could not bound.
static constexpr uint32_t dynamicStackBytes = 16 * 1024;

Dispatch::Dispatch(Memory &memory, const Kernel &kernel,
                   const LaunchConfig &config, uint64_t loadAddress)
    : memory(memory), kernel(kernel), config(config), loadAddress(loadAddress) {
}

Dispatch::~Dispatch() {
  for (uint64_t address : {kernargAddress, packetAddress, queueAddress}) {
    if (address) {
      cantFail(memory.free(address));
    }
  }
}

static Error launchError(const Kernel &kernel, const Twine &message) {
  return createStringError("launch of kernel " + kernel.name() + ": " +
                           message);
}

Error Dispatch::prepare() {
  const uint8_t *descriptor = kernel.descriptor().data();
  rsrc1 = support::endian::read32le(descriptor + 48);
  rsrc2 = support::endian::read32le(descriptor + 52);
  properties = support::endian::read16le(descriptor + 56);

  const KernelInfo &info = kernel.info();
  workgroups = 1;
  uint64_t items = 1;
  for (unsigned d = 0; d < 3; ++d) {
    if (config.grid[d] && workgroups > mostWorkgroups / config.grid[d]) {
      return launchError(
          kernel, formatv("more than {0} workgroups", mostWorkgroups).str());
    }
    workgroups *= config.grid[d];
    // Far above any limit, and no overflow in the next step.
    items = std::min<uint64_t>(items * config.block[d], 1 << 20);
    if (config.block[d] == 0 || config.grid[d] == 0) {
      return launchError(kernel, "an empty grid or block");
    }
    if (info.requiredWorkgroup[d] &&
        info.requiredWorkgroup[d] != config.block[d]) {
      return launchError(
          kernel, formatv("the kernel requires blocks of {0}x{1}x{2}",
                          info.requiredWorkgroup[0], info.requiredWorkgroup[1],
                          info.requiredWorkgroup[2])
                      .str());
    }
  }
  uint64_t limit = info.maxWorkgroup ? info.maxWorkgroup : 1024;
  if (items > limit) {
    return launchError(kernel, formatv("{0} work-items per workgroup, at most "
                                       "{1} are allowed",
                                       items, limit)
                                   .str());
  }
  workItems = unsigned(items);
  wavesPerWorkgroup = (workItems + waveSize - 1) / waveSize;

  Expected<target::TargetInfo> chip =
      target::TargetInfo::get(processorName(kernel.codeObject().processor()));
  if (!chip) {
    return chip.takeError();
  }
  uint64_t lds = uint64_t(info.ldsBytes) + config.dynamicLds;
  if (lds > chip->facts().ldsBytes) {
    return launchError(kernel, formatv("{0} bytes of LDS, {1} are available",
                                       lds, chip->facts().ldsBytes)
                                   .str());
  }
  ldsBytes = uint32_t(chip->ldsAllocation(lds));

  program = &kernel.codeObject().program();
  // Firmware that preloads arguments skips the code that loads them for older
  // firmware: 256 bytes.
  uint64_t entry = kernel.entry() + (info.preloadDwords ? 256 : 0);
  std::optional<uint32_t> record = program->recordAt(entry);
  if (!record) {
    return launchError(kernel, "there is no code at the entry");
  }
  entryRecord = *record;
  observed = config.checks.any() || config.statistics || config.profile;
  if (observed) {
    checks.emplace(config.checks, *program, std::move(*chip));
  }
  if (config.workgroupOrder) {
    order.resize(workgroups);
    for (uint64_t i = 0; i < workgroups; ++i) {
      order[i] = i;
    }
    // Fisher-Yates; the library's own shuffle differs between libraries.
    std::mt19937_64 random(*config.workgroupOrder);
    for (uint64_t i = workgroups; i > 1; --i) {
      std::swap(order[i - 1], order[random() % i]);
    }
  }
  if (Error error = makeKernarg()) {
    return error;
  }
  return makeDispatchPacket();
}

/// The value of a hidden argument, as the metadata names it.
void Dispatch::fillHidden(const KernelArg &arg,
                          std::vector<uint8_t> &bytes) const {
  auto put = [&](uint64_t value) {
    for (uint64_t i = 0; i < arg.size && arg.offset + i < bytes.size(); ++i) {
      bytes[arg.offset + i] = i < 8 ? uint8_t(value >> (8 * i)) : 0;
    }
  };
  StringRef kind = arg.kind;
  unsigned axis = kind.ends_with("_y") ? 1 : (kind.ends_with("_z") ? 2 : 0);
  if (kind.starts_with("hidden_block_count_")) {
    return put(config.grid[axis]);
  }
  if (kind.starts_with("hidden_group_size_")) {
    return put(config.block[axis]);
  }
  if (kind == "hidden_grid_dims") {
    return put(config.grid[2] * config.block[2] > 1   ? 3
               : config.grid[1] * config.block[1] > 1 ? 2
                                                      : 1);
  }
  if (kind == "hidden_dynamic_lds_size") {
    return put(config.dynamicLds);
  }
  if (kind == "hidden_shared_base") {
    return put(sharedAperture);
  }
  if (kind == "hidden_private_base") {
    return put(privateAperture);
  }
  // Remainders (grids are whole workgroups) and global offsets are zero, as
  // are the services of a host runtime that nobody provides here.
  put(0);
}

Error Dispatch::makeKernarg() {
  const KernelInfo &info = kernel.info();
  uint64_t explicitEnd = 0;
  for (const KernelArg &arg : info.args) {
    if (!arg.isHidden()) {
      explicitEnd = std::max(explicitEnd, arg.offset + arg.size);
    }
  }
  if (config.kernarg.size() < explicitEnd) {
    return launchError(kernel,
                       formatv("{0} bytes of arguments, the kernel takes {1}",
                               config.kernarg.size(), explicitEnd)
                           .str());
  }
  kernarg = config.kernarg;
  kernarg.resize(std::max<uint64_t>(kernarg.size(), info.kernargBytes));
  for (const KernelArg &arg : info.args) {
    if (arg.isHidden()) {
      fillHidden(arg, kernarg);
    }
  }
  // A preload may reach beyond the segment, which is then padded.
  kernarg.resize(std::max<uint64_t>(
      kernarg.size(), 4 * (info.preloadOffset + info.preloadDwords)));
  // The segment is allocated in units of 16 bytes, and LLVM's loads rely on it.
  kernarg.resize(llvm::alignTo(kernarg.size(), 16));
  Expected<uint64_t> address =
      memory.allocate(kernarg.size(), {"kernel arguments", {}});
  if (!address) {
    return address.takeError();
  }
  kernargAddress = *address;
  return memory.write(kernargAddress, kernarg);
}

Error Dispatch::makeDispatchPacket() {
  enum : uint16_t { usesDispatchPtr = 2, usesQueuePtr = 4 };
  if (properties & usesDispatchPtr) {
    Expected<uint64_t> address = memory.allocate(64, {"dispatch packet", {}});
    if (!address) {
      return address.takeError();
    }
    packetAddress = *address;
    uint8_t packet[64] = {};
    support::endian::write16le(packet + 2, 3);
    for (unsigned d = 0; d < 3; ++d) {
      support::endian::write16le(packet + 4 + 2 * d, uint16_t(config.block[d]));
      support::endian::write32le(packet + 12 + 4 * d,
                                 config.grid[d] * config.block[d]);
    }
    support::endian::write32le(packet + 24, kernel.info().scratchBytes);
    support::endian::write32le(packet + 28,
                               kernel.info().ldsBytes + config.dynamicLds);
    support::endian::write64le(packet + 40, kernargAddress);
    if (Error error = memory.write(packetAddress, packet)) {
      return error;
    }
  }
  if (properties & usesQueuePtr) {
    Expected<uint64_t> address = memory.allocate(4096, {"queue", {}});
    if (!address) {
      return address.takeError();
    }
    queueAddress = *address;
  }
  return Error::success();
}

Expected<LaunchResult> Dispatch::run() {
  budget = int64_t(std::min<uint64_t>(config.instructionBudget, INT64_MAX));
  unsigned threads = config.numThreads
                         ? config.numThreads
                         : std::max(1u, std::thread::hardware_concurrency());
  threads = unsigned(std::min<uint64_t>(threads, workgroups));
  std::vector<Worker> workers(threads);
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i) {
    helpers.emplace_back([this, &worker = workers[i]] { work(worker); });
  }
  work(workers[0]);
  for (std::thread &helper : helpers) {
    helper.join();
  }
  LaunchResult total = collect(workers);
  if (firstFailed != ~uint64_t(0)) {
    return make_error<LaunchFailure>(
        errorText,
        errorFinding ? std::optional(errorFinding->check) : std::nullopt,
        std::move(total.findings));
  }
  return total;
}

LaunchResult Dispatch::collect(const std::vector<Worker> &workers) const {
  LaunchResult total;
  FindingLog log;
  std::vector<uint64_t> profile;
  for (const Worker &worker : workers) {
    total.waveInstructions += worker.result.waveInstructions;
    for (unsigned i = 0; i < instructionClassCount; ++i) {
      total.counts[i] += worker.result.counts[i];
    }
    total.statistics.add(worker.group.statistics);
    log.merge(worker.group.log);
    profile.resize(std::max(profile.size(), worker.profile.size()));
    for (size_t i = 0; i < worker.profile.size(); ++i) {
      profile[i] += worker.profile[i];
    }
  }
  if (errorFinding) {
    log.add(*errorFinding);
  }
  SourceLines lines(kernel.codeObject().fileBytes());
  // Workgroups behind one that failed may have run or not.
  std::vector<uint64_t> positions(order.size());
  for (uint64_t position = 0; position < order.size(); ++position) {
    positions[order[position]] = position;
  }
  auto isWanted = [&](uint64_t workgroup) {
    return (order.empty() ? workgroup : positions[workgroup]) <=
           firstFailed.load();
  };
  total.findings = log.finish(kernel.name(), *program, lines, config.grid,
                              isWanted, mostFindings);
  for (size_t i = 0; i < profile.size(); ++i) {
    const Instr &instr = program->records()[i];
    if (profile[i]) {
      total.profile.push_back({instr.address, program->text(instr),
                               lines.at(instr.address), profile[i]});
    }
  }
  return total;
}

void Dispatch::work(Worker &worker) {
  fenv_t environment;
  std::fegetenv(&environment);
  for (unsigned i = 0; i < wavesPerWorkgroup; ++i) {
    worker.waves.push_back(std::make_unique<Wave>());
    if (observed) {
      worker.waveChecks.push_back(std::make_unique<WaveChecks>());
    }
  }
  if (observed) {
    worker.group.launch = &*checks;
  }
  if (config.profile) {
    worker.profile.resize(program->recordCount());
  }
  // Workgroups are taken in order, so those before a failed one all run, and
  // the error that is reported does not depend on the number of threads.
  for (;;) {
    uint64_t index = nextWorkgroup.fetch_add(1);
    if (index >= workgroups || index > firstFailed.load() ||
        !runWorkgroup(worker, index)) {
      break;
    }
  }
  std::fesetenv(&environment);
}

void Dispatch::startWave(Wave &wave, Worker &worker, unsigned waveIndex) {
  const KernelInfo &info = kernel.info();
  uint32_t vectorRows = std::min<uint32_t>(info.vgprs, 256);
  std::fill_n(&wave.v[0][0], vectorRows * waveSize, uninitialised);
  std::fill_n(&wave.v[rowAgpr][0],
              std::min<uint32_t>(info.agprs, 256) * waveSize, uninitialised);
  std::fill_n(wave.s, unsigned(sgprCount), uninitialised);
  wave.scc = 0;
  wave.pc = entryRecord;
  wave.stop = WaveStop::Running;
  wave.mode.bits = ((rsrc1 >> 12) & 0xFF) | ((rsrc1 >> 21) & 1) << 8 |
                   ((rsrc1 >> 23) & 1) << 9;
  wave.waits = WaitCounters();
  wave.memory = &memory;
  wave.program = program;
  wave.workgroup = &worker.workgroup;
  wave.loadAddress = loadAddress;
  wave.perturb = config.perturb;
  wave.waveIndex = waveIndex;
  wave.executed = 0;
  wave.failure.clear();
  wave.failedCheck.reset();
  wave.checks = nullptr;
  wave.scratchBytes = (info.scratchBytes + 3) / 4 * 4 +
                      (info.dynamicStack ? dynamicStackBytes : 0);
  wave.scratch.assign(size_t(wave.scratchBytes) * waveSize, 0xA5);

  unsigned active = std::min(workItems - waveIndex * waveSize, waveSize);
  wave.setPair(sgprExec,
               active == waveSize ? allLanes : (uint64_t(1) << active) - 1);
  wave.setPair(sgprVcc, 0);
  wave.s[sgprM0] = 0;
  wave.setPair(sgprFlatScratch, uint64_t(privateAperture) << 32);
  for (unsigned lane = 0; lane < active; ++lane) {
    unsigned item = waveIndex * waveSize + lane;
    unsigned x = item % config.block[0];
    unsigned y = item / config.block[0] % config.block[1];
    unsigned z = item / config.block[0] / config.block[1];
    wave.v[0][lane] = x | y << 10 | z << 20;
  }

  // User SGPRs in the order of the enable bits, then the system SGPRs.
  unsigned reg = 0;
  auto pushPair = [&](uint64_t value) {
    wave.setPair(reg, value);
    reg += 2;
  };
  if (properties & 1) { // private segment buffer: unused with flat scratch
    pushPair(0);
    pushPair(0);
  }
  if (properties & 2) {
    pushPair(packetAddress);
  }
  if (properties & 4) {
    pushPair(queueAddress);
  }
  if (properties & 8) {
    pushPair(kernargAddress);
  }
  if (properties & 16) { // dispatch id
    pushPair(1);
  }
  if (properties & 32) { // flat scratch init
    pushPair(0);
  }
  if (properties & 64) {
    wave.s[reg++] = wave.scratchBytes;
  }
  for (unsigned i = 0; i < info.preloadDwords; ++i) {
    wave.s[reg++] = support::endian::read32le(kernarg.data() +
                                              4 * (info.preloadOffset + i));
  }
  // The count in the descriptor may include alignment.
  reg = std::max(reg, (rsrc2 >> 1) & 0x1F);
  for (unsigned d = 0; d < 3; ++d) {
    if ((rsrc2 >> (7 + d)) & 1) {
      wave.s[reg++] = worker.workgroup.id[d];
    }
  }
  if ((rsrc2 >> 10) & 1) { // workgroup info: waves in the group
    wave.s[reg++] = wavesPerWorkgroup;
  }
  if (rsrc2 & 1) { // private segment wave offset: architected flat scratch
    wave.s[reg++] = 0;
  }
  if (observed) {
    wave.checks = worker.waveChecks[waveIndex].get();
    wave.checks->reset(worker.group, wave, reg);
  }
}

void Dispatch::recordError(uint64_t position, const Wave &wave,
                           StringRef message, std::optional<Check> check) {
  std::lock_guard<std::mutex> guard(errorLock);
  if (position >= firstFailed.load()) {
    return;
  }
  firstFailed = position;
  const Workgroup &group = *wave.workgroup;
  uint32_t record = wave.pc ? wave.pc - 1 : 0;
  const Instr &instr = program->records()[record];
  errorFinding.reset();
  if (check && config.checks.has(*check)) {
    errorFinding = RawFinding{*check,
                              {group.linearId, wave.waveIndex, -1, record},
                              std::nullopt,
                              message.str()};
  }
  errorText =
      formatv(
          "kernel {0}, workgroup ({1}, {2}, {3}), wave {4}, at {5:x} `{6}`: "
          "{7}",
          kernel.name(), group.id[0], group.id[1], group.id[2], wave.waveIndex,
          instr.address, program->text(instr), message)
          .str();
}

template <bool observed> void Dispatch::runWave(Wave &wave, Worker &worker) {
  LaunchResult &result = worker.result;
  const Instr *records = program->records();
  int64_t share = std::min<int64_t>(waveShare, budget.load());
  int64_t left = share;
  setHostRounding(wave.mode);
  wave.stop = WaveStop::Running;
  if (left <= 0) {
    return wave.fail("the instruction budget of the launch is used up",
                     Check::Budget);
  }
  while (left > 0) {
    uint32_t index = wave.pc;
    const Instr &instr = records[index];
    wave.pc = index + 1;
    --left;
    ++result.counts[unsigned(instr.instructionClass)];
    if constexpr (observed) {
      wave.checks->before(wave, index);
    }
    instr.exec(wave, instr);
    if constexpr (observed) {
      wave.checks->after(wave);
      if (!worker.profile.empty()) {
        ++worker.profile[index];
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
  wave.executed += executed;
  result.waveInstructions += executed;
  budget.fetch_sub(int64_t(executed));
}

bool Dispatch::failsAtBarrier(unsigned waiting, unsigned ended,
                              const Wave &waiter, uint64_t position) {
  // Hardware counts ended waves as arrived, but a barrier that only some waves
  // reach is a mistake in any kernel that relies on it.
  if (!ended || !config.checks.has(Check::Barrier)) {
    return false;
  }
  recordError(position, waiter,
              (Twine(waiting) + " waves wait at a barrier that the other " +
               Twine(ended) + " never reach: they have ended")
                  .str(),
              Check::Barrier);
  return true;
}

bool Dispatch::runWorkgroup(Worker &worker, uint64_t position) {
  Workgroup &group = worker.workgroup;
  uint64_t index = workgroupAt(position);
  group.linearId = index;
  group.id = {uint32_t(index % config.grid[0]),
              uint32_t(index / config.grid[0] % config.grid[1]),
              uint32_t(index / config.grid[0] / config.grid[1])};
  group.lds.assign(ldsBytes, 0xA5);
  if (observed) {
    worker.group.ldsOrder.reset(wavesPerWorkgroup, ldsBytes);
    worker.group.ldsUndefined.assign(ldsBytes, 1);
  }
  for (unsigned i = 0; i < wavesPerWorkgroup; ++i) {
    startWave(*worker.waves[i], worker, i);
  }
  for (;;) {
    unsigned ended = 0, waiting = 0;
    const Wave *waiter = nullptr;
    for (std::unique_ptr<Wave> &wave : worker.waves) {
      if (wave->stop == WaveStop::Running || wave->stop == WaveStop::Yield) {
        if (observed) {
          runWave<true>(*wave, worker);
        } else {
          runWave<false>(*wave, worker);
        }
      }
      if (wave->stop == WaveStop::Failed) {
        recordError(position, *wave, wave->failure, wave->failedCheck);
        return false;
      }
      ended += wave->stop == WaveStop::Ended;
      if (wave->stop == WaveStop::Barrier) {
        ++waiting;
        waiter = wave.get();
      }
    }
    if (ended == wavesPerWorkgroup) {
      return true;
    }
    if (waiting + ended != wavesPerWorkgroup) {
      continue;
    }
    if (failsAtBarrier(waiting, ended, *waiter, position)) {
      return false;
    }
    if (observed) {
      worker.group.ldsOrder.barrier();
    }
    for (std::unique_ptr<Wave> &wave : worker.waves) {
      if (wave->stop == WaveStop::Barrier) {
        wave->stop = WaveStop::Running;
      }
    }
  }
}

} // namespace tenon::sim
