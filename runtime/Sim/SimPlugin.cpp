//===- SimPlugin.cpp - libtenon_sim.so --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands that are memory of the host are mapped by a launch to device memory
// of their own, each apart, so that an access past the end of one is found to
// the byte, and are unmapped again.
//
//===----------------------------------------------------------------------===//

#include "runtime/Devices/SimPlugin.h"

#include "tenon/Sim/Device.h"
#include "tenon/Target/TargetInfo.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

using namespace tenon;

namespace {

struct OpenDevice {
  sim::Device device;
  sim::Processor processor;
  std::optional<target::TargetInfo> target;
};

struct Module {
  std::shared_ptr<const sim::CodeObject> object;
};

} // namespace

static int fail(const TenonSimReport *report, const std::string &text) {
  report->message(report->context, text.c_str());
  return 1;
}

static int fail(const TenonSimReport *report, llvm::Error error) {
  return fail(report, llvm::toString(std::move(error)));
}

static int openDevice(const char *chip, void **device,
                      const TenonSimReport *report) {
  for (sim::Processor processor :
       {sim::Processor::Gfx942, sim::Processor::Gfx950}) {
    if (sim::processorName(processor) == chip) {
      auto *opened = new OpenDevice();
      opened->processor = processor;
      opened->target = llvm::cantFail(target::TargetInfo::get(chip));
      *device = opened;
      return 0;
    }
  }
  return fail(report, std::string("there is no simulator of '") + chip +
                          "'; it can be gfx942 or gfx950");
}

static void closeDevice(void *device) {
  delete static_cast<OpenDevice *>(device);
}

static int loadModule(void *device, const uint8_t *bytes, uint64_t size,
                      void **module, const TenonSimReport *report) {
  auto object = sim::CodeObject::load({bytes, size_t(size)});
  if (!object) {
    return fail(report, object.takeError());
  }
  auto *opened = static_cast<OpenDevice *>(device);
  if ((*object)->processor() != opened->processor) {
    return fail(report, "the code object is for " +
                            sim::processorName((*object)->processor()).str() +
                            ", the device is a " +
                            sim::processorName(opened->processor).str());
  }
  *module = new Module{std::move(*object)};
  return 0;
}

static void unloadModule(void *device, void *module) {
  auto *loaded = static_cast<Module *>(module);
  // An image that no launch has brought to the device is no error.
  llvm::consumeError(
      static_cast<OpenDevice *>(device)->device.unload(*loaded->object));
  delete loaded;
}

static int findFunction(void *module, const char *name, void **function,
                        const TenonSimReport *report) {
  const sim::Kernel *kernel =
      static_cast<Module *>(module)->object->findKernel(name);
  if (!kernel) {
    return fail(report,
                std::string("the code object has no kernel '") + name + "'");
  }
  *function = const_cast<sim::Kernel *>(kernel);
  return 0;
}

static void describeKernel(void *function, TenonSimKernel *kernel) {
  const sim::KernelInfo &info =
      static_cast<const sim::Kernel *>(function)->info();
  *kernel = {};
  kernel->name = info.name.c_str();
  kernel->kernargBytes = uint32_t(info.kernargBytes);
  kernel->registers = info.vgprs + info.agprs;
  kernel->ldsBytes = info.ldsBytes;
  kernel->scratchBytes = info.scratchBytes;
  kernel->maxWorkgroupSize = info.maxWorkgroup;
}

static void visitArguments(void *function,
                           void (*visit)(void *context, uint32_t offset,
                                         uint32_t bytes),
                           void *context) {
  for (const sim::KernelArg &arg :
       static_cast<const sim::Kernel *>(function)->info().args) {
    if (!arg.isHidden()) {
      visit(context, uint32_t(arg.offset), uint32_t(arg.size));
    }
  }
}

static void describeChip(void *device, TenonSimChip *chip) {
  const target::ChipFacts &facts =
      static_cast<OpenDevice *>(device)->target->facts();
  *chip = {};
  chip->product = facts.product.data();
  chip->computeUnits = facts.computeUnits;
  chip->waveSize = facts.waveSize;
  chip->maxWorkgroupSize = facts.maxWorkgroupSize;
  chip->maxWavesPerComputeUnit = facts.maxWavesPerSimd * facts.simdsPerCu;
  chip->ldsBytes = facts.ldsBytes;
  chip->registersPerComputeUnit =
      facts.vgprsPerSimd * facts.waveSize * facts.simdsPerCu;
  chip->l2Bytes = facts.l2Bytes;
  chip->memoryBytes = facts.hbmBytes;
  chip->clock = facts.clockHz;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static sim::Memory &memoryOf(void *device) {
  return static_cast<OpenDevice *>(device)->device.memory();
}

static int allocateMemory(void *device, uint64_t bytes, const char *name,
                          void *host, uint64_t *address,
                          const TenonSimReport *report) {
  sim::AllocOptions options;
  options.name = name;
  options.host = static_cast<uint8_t *>(host);
  options.undefined = !host;
  auto base = memoryOf(device).allocate(bytes, std::move(options));
  if (!base) {
    return fail(report, base.takeError());
  }
  *address = *base;
  return 0;
}

static int freeMemory(void *device, uint64_t address,
                      const TenonSimReport *report) {
  llvm::Error error = memoryOf(device).free(address);
  return error ? fail(report, std::move(error)) : 0;
}

static int readMemory(void *device, uint64_t address, void *to, uint64_t bytes,
                      const TenonSimReport *report) {
  llvm::Error error = memoryOf(device).read(
      address, {static_cast<uint8_t *>(to), size_t(bytes)});
  return error ? fail(report, std::move(error)) : 0;
}

static int writeMemory(void *device, uint64_t address, const void *from,
                       uint64_t bytes, const TenonSimReport *report) {
  llvm::Error error = memoryOf(device).write(
      address, {static_cast<const uint8_t *>(from), size_t(bytes)});
  return error ? fail(report, std::move(error)) : 0;
}

static void findAllocation(void *device, uint64_t address, uint64_t *base,
                           uint64_t *bytes) {
  std::tie(*base, *bytes) = memoryOf(device).allocationOf(address);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// The operands of one launch as device memory.
class Mapping {
public:
  Mapping(sim::Memory &memory, const sim::KernelInfo &kernel)
      : memory(memory), kernel(kernel) {}
  ~Mapping() {
    for (uint64_t base : bases) {
      llvm::cantFail(memory.free(base));
    }
  }

  /// Maps the memory that \p kernarg points to, and changes the pointer.
  llvm::Error map(std::vector<uint8_t> &kernarg,
                  const TenonSimPointer &pointer) {
    uint8_t *host = nullptr;
    std::memcpy(&host, kernarg.data() + pointer.offset, sizeof(host));
    // Nothing may be read there: any address will do.
    if (pointer.bytes == 0) {
      return llvm::Error::success();
    }
    // Device memory begins at multiples of 256: a misaligned operand brings
    // along the bytes before it, which lie in one page of the host with it.
    uint64_t before = reinterpret_cast<uintptr_t>(host) % 256;
    sim::AllocOptions options;
    options.name = argumentName(pointer.offset);
    options.host = host - before;
    auto base = memory.allocate(before + pointer.bytes, options);
    if (!base) {
      return base.takeError();
    }
    bases.push_back(*base);
    uint64_t address = *base + before;
    std::memcpy(kernarg.data() + pointer.offset, &address, sizeof(address));
    return llvm::Error::success();
  }

private:
  std::string argumentName(uint32_t offset) const {
    for (const sim::KernelArg &arg : kernel.args) {
      if (arg.offset == offset && !arg.name.empty()) {
        return arg.name;
      }
    }
    return "argument at byte " + std::to_string(offset);
  }

  sim::Memory &memory;
  const sim::KernelInfo &kernel;
  std::vector<uint64_t> bases;
};
} // namespace

static int launchKernel(void *device, const TenonSimLaunch *launch,
                        const TenonSimReport *report) {
  auto *opened = static_cast<OpenDevice *>(device);
  const auto *kernel = static_cast<const sim::Kernel *>(launch->function);
  sim::LaunchConfig config;
  std::copy_n(launch->grid, 3, config.grid.begin());
  std::copy_n(launch->workgroupSize, 3, config.block.begin());
  config.dynamicLds = launch->dynamicLds;
  config.kernarg.assign(launch->kernarg,
                        launch->kernarg + launch->kernargBytes);
  Mapping mapping(opened->device.memory(), kernel->info());
  for (uint32_t i = 0; i < launch->pointerCount; ++i) {
    if (llvm::Error error = mapping.map(config.kernarg, launch->pointers[i])) {
      return fail(report, std::move(error));
    }
  }
  if (launch->time) {
    config.timing.emplace();
  }
  auto result = opened->device.launch(*kernel, config);
  if (!result) {
    return fail(report, result.takeError());
  }
  if (!result->findings.empty()) {
    std::string text =
        "the simulator found faults in '" + kernel->name().str() + "':";
    for (const sim::Finding &finding : result->findings) {
      text += "\n" + sim::formatFinding(finding);
    }
    return fail(report, text);
  }
  if (launch->time) {
    *launch->time = {result->timing->us, result->timing->dependentGapUs};
  }
  return 0;
}

static const TenonSimPlugin plugin = {TENON_SIM_PLUGIN_VERSION,
                                      openDevice,
                                      closeDevice,
                                      loadModule,
                                      unloadModule,
                                      findFunction,
                                      describeKernel,
                                      visitArguments,
                                      describeChip,
                                      allocateMemory,
                                      freeMemory,
                                      readMemory,
                                      writeMemory,
                                      findAllocation,
                                      launchKernel};

const TenonSimPlugin *tenon_sim_plugin() { return &plugin; }
