//===- Device.cpp - a simulated GPU that launches kernels -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Sim/Device.h"

#include "Dispatch.h"
#include "Timing/TimedDispatch.h"

#include "llvm/Support/Endian.h"

using namespace llvm;

namespace tenon::sim {

/// The execution units are compiled for AVX2 and FMA on x86-64.
static Error checkHost() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("f16c")) {
    return createStringError(
        "the simulator needs a host processor with AVX2, FMA and F16C");
  }
#endif
  return Error::success();
}

void AccessStatistics::add(const AccessStatistics &other) {
  loadBytes += other.loadBytes;
  storeBytes += other.storeBytes;
  atomicBytes += other.atomicBytes;
  scalarLoadBytes += other.scalarLoadBytes;
  loadToLdsBytes += other.loadToLdsBytes;
  ldsReadBytes += other.ldsReadBytes;
  ldsWriteBytes += other.ldsWriteBytes;
  ldsAtomicBytes += other.ldsAtomicBytes;
  ldsExtraPhases += other.ldsExtraPhases;
}

Expected<uint64_t> Device::loadAddress(const CodeObject &codeObject) {
  std::lock_guard<std::mutex> guard(lock);
  auto found = images.find(&codeObject);
  if (found != images.end()) {
    return found->second;
  }
  Expected<uint64_t> base =
      deviceMemory.allocate(codeObject.imageBytes(), {"code object", {}});
  if (!base) {
    return base.takeError();
  }
  for (const Segment &segment : codeObject.segments()) {
    if (Error error =
            deviceMemory.write(*base + segment.address, segment.bytes)) {
      return std::move(error);
    }
  }
  for (const RelativeRelocation &relocation : codeObject.relocations()) {
    uint8_t word[8];
    support::endian::write64le(word, *base + relocation.addend);
    if (Error error = deviceMemory.write(*base + relocation.address, word)) {
      return std::move(error);
    }
  }
  images[&codeObject] = *base;
  return *base;
}

Error Device::unload(const CodeObject &codeObject) {
  std::lock_guard<std::mutex> guard(lock);
  auto found = images.find(&codeObject);
  if (found == images.end()) {
    return Error::success();
  }
  uint64_t base = found->second;
  images.erase(found);
  return deviceMemory.free(base);
}

Expected<LaunchResult> Device::launch(const Kernel &kernel,
                                      const LaunchConfig &config) {
  if (Error error = checkHost()) {
    return std::move(error);
  }
  Expected<uint64_t> base = loadAddress(kernel.codeObject());
  if (!base) {
    return base.takeError();
  }
  LaunchSetup setup(deviceMemory, kernel, config, *base);
  if (Error error = setup.prepare()) {
    return std::move(error);
  }
  if (config.timing) {
    target::TargetInfo chip = cantFail(target::TargetInfo::get(
        processorName(kernel.codeObject().processor())));
    target::TimingFacts facts = chip.timing();
    for (const auto &[name, value] : config.timing->constants) {
      if (Error error = target::setTimingFact(facts, name, value)) {
        return std::move(error);
      }
    }
    return TimedDispatch(setup, *config.timing, chip, facts).run();
  }
  return Dispatch(setup).run();
}

} // namespace tenon::sim
