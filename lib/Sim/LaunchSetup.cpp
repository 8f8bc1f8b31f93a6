//===- LaunchSetup.cpp - what workgroups of a launch share ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaunchSetup.h"

#include "Program.h"
#include "Wave.h"

#include "tenon/Target/TargetInfo.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <random>

using namespace llvm;

namespace tenon::sim {

/// Workgroups of a launch: more would not end within anybody's patience, and
/// the order of those has to fit into the host's memory.
static constexpr uint64_t mostWorkgroups = uint64_t(1) << 28;

LaunchSetup::LaunchSetup(Memory &memory, const Kernel &kernel,
                         const LaunchConfig &config, uint64_t loadAddress)
    : memory(memory), kernel(kernel), config(config), loadAddress(loadAddress) {
}

LaunchSetup::~LaunchSetup() {
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

Error LaunchSetup::prepare() {
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
  // Registers, LDS and wave slots limit how many are resident at a time.
  resident =
      uint64_t(chip->computeUnits()) *
      std::max(1u, chip->workgroupsPerCu(info.vgprs, info.agprs, ldsBytes,
                                         workItems, info.sgprs));
  if (config.checks.has(Check::GlobalRace) &&
      workgroups > AccessEntry::mostWorkgroups) {
    return launchError(kernel,
                       formatv("global-race can follow {0} workgroups at most; "
                               "leave it out of the checks",
                               AccessEntry::mostWorkgroups)
                           .str());
  }
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
void LaunchSetup::fillHidden(const KernelArg &arg,
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

Error LaunchSetup::makeKernarg() {
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

Error LaunchSetup::makeDispatchPacket() {
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

} // namespace tenon::sim
