//===- HipModules.cpp - code objects and launches of the stand-in -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HipStandIn.h"

#include "runtime/Devices/Device.h"

#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <string_view>

using namespace tenon::standin;
using tenon::runtime::SimReport;

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// The bytes that an ELF file takes: HIP is given its address alone.
static uint64_t elfBytes(const uint8_t *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  uint64_t end = sizeof(header);
  auto reach = [&](uint64_t to) { end = std::max(end, to); };
  reach(header.e_phoff + uint64_t(header.e_phnum) * header.e_phentsize);
  reach(header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image + header.e_phoff + i * header.e_phentsize,
                sizeof(segment));
    reach(segment.p_offset + segment.p_filesz);
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + i * header.e_shentsize,
                sizeof(section));
    if (section.sh_type != SHT_NOBITS) {
      reach(section.sh_offset + section.sh_size);
    }
  }
  return end;
}

/// The code object for \p chip in an offload bundle of clang: magic, the number
/// of entries, and for each its place, size and target ("hipv4-amdgcn-amd-
/// amdhsa--gfx950:sramecc+"). Null when there is none.
static const uint8_t *findInBundle(const uint8_t *image, size_t magicBytes,
                                   const std::string &chip) {
  const uint8_t *at = image + magicBytes;
  auto next = [&at] {
    uint64_t value;
    std::memcpy(&value, at, sizeof(value));
    at += sizeof(value);
    return value;
  };
  uint64_t count = next();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset = next();
    next(); // its size
    uint64_t idBytes = next();
    std::string_view id(reinterpret_cast<const char *>(at), idBytes);
    at += idBytes;
    size_t place = id.rfind("-gfx");
    if (place != std::string_view::npos) {
      std::string_view name = id.substr(place + 1);
      if (name.substr(0, name.find(':')) == chip) {
        return image + offset;
      }
    }
  }
  return nullptr;
}

static HipError load(State &state, const char *function, void **module,
                     const void *data) {
  if (!module || !data) {
    return invalidValue;
  }
  *module = nullptr;
  if (HipError error = state.refuseInCapture()) {
    return error;
  }
  auto image = static_cast<const uint8_t *>(data);
  constexpr std::string_view magic = "__CLANG_OFFLOAD_BUNDLE__";
  if (std::memcmp(image, magic.data(), magic.size()) == 0) {
    image = findInBundle(image, magic.size(), state.chipName);
    if (!image) {
      return noBinaryForGpu;
    }
  }
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0) {
    return invalidImage;
  }
  std::span<const uint8_t> bytes(image, elfBytes(image));
  auto target = tenon::runtime::codeObjectTarget(bytes);
  if (!target) {
    return invalidImage;
  }
  if (*target != state.chipName) {
    return noBinaryForGpu;
  }
  SimReport report;
  auto made = std::make_unique<Module>();
  if (state.plugin->loadModule(state.device, bytes.data(), bytes.size(),
                               &made->module, report) != 0) {
    return state.failed(function, report, invalidImage);
  }
  *module = state.modules.add(std::move(made));
  return success;
}

TENON_HIP hipModuleLoadData(void **module, const void *image) {
  return call([&](State &state) {
    return load(state, "hipModuleLoadData", module, image);
  });
}

TENON_HIP hipModuleLoadDataEx(void **module, const void *image, unsigned,
                              void *, void **) {
  return call([&](State &state) {
    return load(state, "hipModuleLoadDataEx", module, image);
  });
}

TENON_HIP hipModuleLoad(void **module, const char *path) {
  return call([&](State &state) {
    if (!path) {
      return invalidValue;
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
      return fileNotFound;
    }
    std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
    // What follows the header is checked by the loader.
    bytes.resize(std::max(bytes.size(), sizeof(Elf64_Ehdr)));
    return load(state, "hipModuleLoad", module, bytes.data());
  });
}

TENON_HIP hipModuleUnload(void *module) {
  return call([&](State &state) {
    Module *found = state.modules.find(module);
    if (!found) {
      return invalidHandle;
    }
    if (HipError error = state.refuseInCapture()) {
      return error;
    }
    state.plugin->unloadModule(state.device, found->module);
    state.modules.remove(module);
    return success;
  });
}

TENON_HIP hipModuleGetFunction(void **function, void *module,
                               const char *name) {
  return call([&](State &state) {
    Module *found = state.modules.find(module);
    if (!function || !name) {
      return invalidValue;
    }
    if (!found) {
      return invalidHandle;
    }
    SimReport report;
    if (state.plugin->function(found->module, name, function, report) != 0) {
      return notFound;
    }
    found->functions.insert(*function);
    return success;
  });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static bool isLoaded(const State &state, void *function) {
  for (const auto &[handle, module] : state.modules) {
    if (module->functions.count(function)) {
      return true;
    }
  }
  return false;
}

TENON_HIP hipFuncGetAttribute(int *value, int attribute, void *function) {
  return call([&](State &state) {
    if (!value) {
      return invalidValue;
    }
    if (!isLoaded(state, function)) {
      return invalidHandle;
    }
    TenonSimKernel kernel;
    state.plugin->describe(function, &kernel);
    switch (attribute) {
    case 0: // HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
      *value = int(kernel.maxWorkgroupSize ? kernel.maxWorkgroupSize
                                           : state.chip.maxWorkgroupSize);
      return success;
    case 1: // HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
      *value = int(kernel.ldsBytes);
      return success;
    case 3: // HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
      *value = int(kernel.scratchBytes);
      return success;
    case 4: // HIP_FUNC_ATTRIBUTE_NUM_REGS
      *value = int(kernel.registers);
      return success;
    case 8: // HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
      *value = int(state.chip.ldsBytes - kernel.ldsBytes);
      return success;
    }
    return invalidValue;
  });
}

/// Every kernel may use all of the LDS: there is nothing to set.
TENON_HIP hipFuncSetAttribute(const void *function, int attribute, int value) {
  return call([&](State &state) {
    if (!isLoaded(state, const_cast<void *>(function))) {
      return invalidHandle;
    }
    bool isLds = attribute == 8; // hipFuncAttributeMaxDynamicSharedMemorySize
    return isLds && value >= 0 && uint64_t(value) <= state.chip.ldsBytes
               ? success
               : invalidValue;
  });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The argument segment that `extra` describes: pairs of a key and a pointer.
static HipError readExtra(void **extra, std::vector<uint8_t> &kernarg) {
  const void *buffer = nullptr;
  size_t bytes = 0;
  for (; reinterpret_cast<uintptr_t>(*extra) != 3; extra += 2) {
    switch (reinterpret_cast<uintptr_t>(*extra)) {
    case 1: // HIP_LAUNCH_PARAM_BUFFER_POINTER
      buffer = extra[1];
      break;
    case 2: // HIP_LAUNCH_PARAM_BUFFER_SIZE
      bytes = *static_cast<const size_t *>(extra[1]);
      break;
    default:
      return invalidValue;
    }
  }
  if (!buffer && bytes) {
    return invalidValue;
  }
  auto begin = static_cast<const uint8_t *>(buffer);
  kernarg.assign(begin, begin + bytes);
  return success;
}

/// The argument segment from the address of every argument.
static void readParameters(const State &state, void *function,
                           void **parameters, std::vector<uint8_t> &kernarg) {
  struct Reader {
    void **next;
    std::vector<uint8_t> *kernarg;
  } reader = {parameters, &kernarg};
  state.plugin->arguments(
      function,
      [](void *context, uint32_t offset, uint32_t bytes) {
        auto *reader = static_cast<Reader *>(context);
        if (reader->kernarg->size() < offset + bytes) {
          reader->kernarg->resize(offset + bytes);
        }
        std::memcpy(reader->kernarg->data() + offset, *reader->next++, bytes);
      },
      &reader);
}

namespace {
/// A launch that stands in a stream or in a graph.
struct KernelLaunch {
  void *function;
  std::array<uint32_t, 3> grid, workgroupSize;
  uint32_t dynamicLds;
  std::vector<uint8_t> kernarg;

  HipError operator()(State &state, const char *name,
                      double &microseconds) const {
    // Modules may be unloaded while a graph is kept.
    if (!isLoaded(state, function)) {
      return invalidHandle;
    }
    TenonSimLaunch launch = {};
    launch.function = function;
    std::copy(grid.begin(), grid.end(), launch.grid);
    std::copy(workgroupSize.begin(), workgroupSize.end(), launch.workgroupSize);
    launch.dynamicLds = dynamicLds;
    launch.kernarg = kernarg.data();
    launch.kernargBytes = uint32_t(kernarg.size());
    TenonSimTime time = {};
    if (state.isTimed) {
      launch.time = &time;
    }
    SimReport report;
    if (state.plugin->launch(state.device, &launch, report) != 0) {
      return state.failed(name, report, launchFailure);
    }
    microseconds = time.kernel + time.gap;
    return success;
  }
};
} // namespace

static HipError launch(State &state, const char *name, KernelLaunch launch,
                       void *stream, void **parameters, void **extra) {
  if (!isLoaded(state, launch.function)) {
    return invalidHandle;
  }
  uint64_t workItems = 1;
  for (unsigned i = 0; i < 3; ++i) {
    workItems *= launch.workgroupSize[i];
    if (launch.grid[i] == 0) {
      return invalidValue;
    }
  }
  TenonSimKernel kernel;
  state.plugin->describe(launch.function, &kernel);
  if (workItems == 0 || workItems > state.chip.maxWorkgroupSize ||
      (kernel.maxWorkgroupSize && workItems > kernel.maxWorkgroupSize)) {
    return invalidConfiguration;
  }
  if (uint64_t(kernel.ldsBytes) + launch.dynamicLds > state.chip.ldsBytes) {
    return invalidValue;
  }
  if (parameters && extra) {
    return invalidValue;
  }
  if (extra) {
    if (HipError error = readExtra(extra, launch.kernarg)) {
      return error;
    }
  } else if (parameters) {
    readParameters(state, launch.function, parameters, launch.kernarg);
  }
  return state.enqueue(
      stream, [&state, name, launch = std::move(launch)](double &time) {
        return launch(state, name, time);
      });
}

TENON_HIP hipModuleLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                                unsigned gridZ, unsigned blockX,
                                unsigned blockY, unsigned blockZ,
                                unsigned dynamicLds, void *stream,
                                void **parameters, void **extra) {
  return call([&](State &state) {
    return launch(state, "hipModuleLaunchKernel",
                  {function,
                   {gridX, gridY, gridZ},
                   {blockX, blockY, blockZ},
                   dynamicLds,
                   {}},
                  stream, parameters, extra);
  });
}

TENON_HIP hipEventRecord(void *event, void *stream);

/// Its sizes count work-items.
TENON_HIP hipExtModuleLaunchKernel(void *function, uint32_t sizeX,
                                   uint32_t sizeY, uint32_t sizeZ,
                                   uint32_t blockX, uint32_t blockY,
                                   uint32_t blockZ, size_t dynamicLds,
                                   void *stream, void **parameters,
                                   void **extra, void *start, void *stop,
                                   uint32_t) {
  return call([&](State &state) -> HipError {
    if (!blockX || !blockY || !blockZ) {
      return invalidConfiguration;
    }
    // The simulator runs whole workgroups.
    if (sizeX % blockX || sizeY % blockY || sizeZ % blockZ ||
        dynamicLds > UINT32_MAX) {
      return invalidValue;
    }
    if (start) {
      if (HipError error = hipEventRecord(start, stream)) {
        return error;
      }
    }
    if (HipError error =
            launch(state, "hipExtModuleLaunchKernel",
                   {function,
                    {sizeX / blockX, sizeY / blockY, sizeZ / blockZ},
                    {blockX, blockY, blockZ},
                    uint32_t(dynamicLds),
                    {}},
                   stream, parameters, extra)) {
      return error;
    }
    return stop ? hipEventRecord(stop, stream) : success;
  });
}
