//===- HipDevice.cpp - a GPU through HIP ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HIP is opened at run time and its functions are found by name: one build of
// the runtime serves ROCm 5, 6 and 7, and machines without any of them. Only
// functions whose arguments are the same in all of them are used; what HIP
// keeps in structures is read through functions, or found without relying on
// the place of a field (deviceTarget).
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "HipReport.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstring>
#include <dlfcn.h>
#include <vector>

namespace tenon::runtime {

namespace {

/// hipError_t; 0 is success.
using HipError = int;

/// The functions of HIP, of the first library that can be opened.
struct Hip {
  std::string soname;
  HipError (*init)(unsigned flags);
  HipError (*runtimeGetVersion)(int *version);
  HipError (*getDeviceCount)(int *count);
  HipError (*setDevice)(int index);
  HipError (*getDeviceProperties)(void *properties, int index);
  const char *(*getErrorString)(HipError error);
  HipError (*moduleLoadData)(void **module, const void *image);
  HipError (*moduleUnload)(void *module);
  HipError (*moduleGetFunction)(void **function, void *module,
                                const char *name);
  HipError (*moduleLaunchKernel)(void *function, unsigned gridX, unsigned gridY,
                                 unsigned gridZ, unsigned blockX,
                                 unsigned blockY, unsigned blockZ,
                                 unsigned dynamicLds, void *stream,
                                 void **arguments, void **extra);
  HipError (*malloc)(void **address, size_t bytes);
  HipError (*free)(void *address);
  HipError (*memcpyAsync)(void *to, const void *from, size_t bytes, int kind,
                          void *stream);
  HipError (*memsetAsync)(void *address, int value, size_t bytes, void *stream);
  HipError (*streamSynchronize)(void *stream);
  HipError (*streamIsCapturing)(void *stream, int *status);

  Error error(std::string_view what, HipError code) const {
    return Error{fmt::format("HIP cannot {}: {} ({})", what,
                             getErrorString(code), code)};
  }
};

/// The special pointers of hipModuleLaunchKernel's `extra`.
void *const launchParamEnd = reinterpret_cast<void *>(3);
void *const launchParamBuffer = reinterpret_cast<void *>(1);
void *const launchParamSize = reinterpret_cast<void *>(2);
constexpr int memcpyDefault = 4; // hipMemcpyDefault: by the addresses

constexpr std::string_view otherDevices =
    "Other devices: sim (the simulator), null (launches nothing)";

} // namespace

template <typename Function>
static bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

static Result<Hip> loadHip() {
  void *library = nullptr;
  Hip hip = {};
  std::string reasons;
  for (int version : {7, 6, 5}) {
    hip.soname = fmt::format("libamdhip64.so.{}", version);
    library = dlopen(hip.soname.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) {
      break;
    }
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", dlerror());
  }
  if (!library) {
    return Error{fmt::format("HIP is not installed: none of libamdhip64.so.7, "
                             ".6 and .5 can be opened ({}). {}",
                             reasons, otherDevices)};
  }
  const char *missing = nullptr;
  auto need = [&](const char *name, auto &function) {
    if (!find(library, name, function) && !missing) {
      missing = name;
    }
  };
  need("hipInit", hip.init);
  need("hipRuntimeGetVersion", hip.runtimeGetVersion);
  need("hipGetDeviceCount", hip.getDeviceCount);
  need("hipSetDevice", hip.setDevice);
  need("hipGetErrorString", hip.getErrorString);
  need("hipModuleLoadData", hip.moduleLoadData);
  need("hipModuleUnload", hip.moduleUnload);
  need("hipModuleGetFunction", hip.moduleGetFunction);
  need("hipModuleLaunchKernel", hip.moduleLaunchKernel);
  need("hipMalloc", hip.malloc);
  need("hipFree", hip.free);
  need("hipMemcpyAsync", hip.memcpyAsync);
  need("hipMemsetAsync", hip.memsetAsync);
  need("hipStreamSynchronize", hip.streamSynchronize);
  need("hipStreamIsCapturing", hip.streamIsCapturing);
  // The older name remains for programs that were built for the older layout.
  if (!find(library, "hipGetDevicePropertiesR0600", hip.getDeviceProperties)) {
    need("hipGetDeviceProperties", hip.getDeviceProperties);
  }
  if (missing) {
    return Error{fmt::format("{} has no function {}. {}", hip.soname, missing,
                             otherDevices)};
  }
  return hip;
}

/// The library, opened on the first call.
static const Result<Hip> &openedHip() {
  static const Result<Hip> loaded = loadHip();
  return loaded;
}

/// "7.0.0"; empty when HIP does not say it.
static std::string versionNumber(const Hip &hip) {
  int version = 0;
  if (hip.runtimeGetVersion(&version) != 0) {
    return "";
  }
  // Major * 10^7 + minor * 10^5 + patch.
  return fmt::format("{}.{}.{}", version / 10000000, version / 100000 % 100,
                     version % 100000);
}

static std::string versionText(const Hip &hip) {
  std::string number = versionNumber(hip);
  return number.empty() ? hip.soname
                        : fmt::format("{} (HIP {})", hip.soname, number);
}

/// How many GPUs there are, at least one.
static Result<int> countDevices(const Hip &hip) {
  int count = 0;
  HipError code = hip.init(0);
  if (code == 0) {
    code = hip.getDeviceCount(&count);
  }
  if (code != 0 || count == 0) {
    return Error{fmt::format(
        "this machine has no GPU that {} can use: {}. {}", versionText(hip),
        code != 0 ? fmt::format("{} ({})", hip.getErrorString(code), code)
                  : std::string("no device"),
        otherDevices)};
  }
  return count;
}

/// The chip of a device. hipDeviceProp_t has other fields in other versions, so
/// its gcnArchName ("gfx950:sramecc+:xnack-") is found by what it holds.
static Result<std::string> deviceTarget(const Hip &hip, int index) {
  // Twice what the largest version of the structure takes.
  std::vector<char> properties(16 * 1024);
  if (HipError code = hip.getDeviceProperties(properties.data(), index)) {
    return hip.error("read the properties of a device", code);
  }
  std::string_view text(properties.data(), properties.size());
  for (size_t at = text.find("gfx"); at != std::string_view::npos;
       at = text.find("gfx", at + 1)) {
    size_t end = at + 3;
    while (end < text.size() && std::isxdigit((unsigned char)text[end])) {
      ++end;
    }
    if (end > at + 5) {
      return std::string(text.substr(at, end - at));
    }
  }
  return Error{fmt::format("{} does not say which chip device {} is",
                           versionText(hip), index)};
}

namespace {

class HipDevice : public Device {
public:
  HipDevice(const Hip &hip, int index, std::string chip)
      : Device(fmt::format("hip:{}", index), std::move(chip),
               /*extents=*/false),
        hip(hip), index(index) {}

  Result<void *> loadModule(std::span<const uint8_t> codeObject) override {
    void *module = nullptr;
    if (HipError code = select()) {
      return hip.error("select the device", code);
    }
    if (HipError code = hip.moduleLoadData(&module, codeObject.data())) {
      return hip.error("load a module", code);
    }
    return module;
  }
  void unloadModule(void *module) override { (void)hip.moduleUnload(module); }
  Result<void *> function(void *module, const std::string &name) override {
    void *found = nullptr;
    if (HipError code = hip.moduleGetFunction(&found, module, name.c_str())) {
      return hip.error(fmt::format("find the kernel '{}'", name), code);
    }
    return found;
  }

  Status launch(const DeviceLaunch &launch) override {
    // A stream belongs to a device; the default one is the current device's.
    if (!launch.stream) {
      if (HipError code = select()) {
        return hip.error("select the device", code);
      }
    }
    size_t bytes = launch.kernargBytes;
    void *extra[] = {launchParamBuffer, launch.kernarg, launchParamSize, &bytes,
                     launchParamEnd};
    HipError code = hip.moduleLaunchKernel(
        launch.function, launch.grid[0], launch.grid[1], launch.grid[2],
        launch.workgroupSize[0], launch.workgroupSize[1],
        launch.workgroupSize[2], launch.dynamicLds, launch.stream, nullptr,
        extra);
    if (code != 0) {
      return hip.error("launch a kernel", code);
    }
    return {};
  }

  Result<void *> allocate(uint64_t bytes) override {
    void *address = nullptr;
    HipError code = select();
    if (code == 0) {
      code = hip.malloc(&address, std::max<uint64_t>(bytes, 1));
    }
    if (code != 0) {
      return hip.error(fmt::format("allocate {} bytes", bytes), code);
    }
    return address;
  }
  Status free(void *address) override {
    return status("free memory", hip.free(address));
  }
  Status copy(void *to, const void *from, uint64_t bytes,
              void *stream) override {
    HipError code = select();
    if (code == 0) {
      code = hip.memcpyAsync(to, from, bytes, memcpyDefault, stream);
    }
    if (code == 0) {
      code = hip.streamSynchronize(stream);
    }
    return status("copy memory", code);
  }
  Status fillZero(void *address, uint64_t bytes, void *stream) override {
    HipError code = select();
    if (code == 0) {
      code = hip.memsetAsync(address, 0, bytes, stream);
    }
    return status("fill memory", code);
  }
  Status synchronize(void *stream) override {
    HipError code = select();
    if (code == 0) {
      code = hip.streamSynchronize(stream);
    }
    return status("wait for a stream", code);
  }
  Result<bool> isCapturing(void *stream) override {
    // The default stream cannot be captured.
    if (!stream) {
      return false;
    }
    int captures = 0; // hipStreamCaptureStatusNone
    if (HipError code = hip.streamIsCapturing(stream, &captures)) {
      return hip.error("ask a stream for its state", code);
    }
    return captures != 0;
  }

private:
  HipError select() const { return hip.setDevice(index); }
  Status status(std::string_view what, HipError code) const {
    return code == 0 ? Status() : Status(hip.error(what, code));
  }

  const Hip &hip;
  int index;
};

} // namespace

Result<std::unique_ptr<Device>> openHipDevice(std::string_view option) {
  const Result<Hip> &loaded = openedHip();
  if (!loaded) {
    return loaded.error();
  }
  const Hip &hip = *loaded;
  int index = 0;
  auto [end, parsed] =
      std::from_chars(option.data(), option.data() + option.size(), index);
  bool isIndex = parsed == std::errc() && end == option.data() + option.size();
  if (!option.empty() && (!isIndex || index < 0)) {
    return Error{fmt::format("hip:INDEX expected, found 'hip:{}'", option)};
  }
  Result<int> count = countDevices(hip);
  if (!count) {
    return count.error();
  }
  if (index >= *count) {
    return Error{fmt::format("there is no hip:{}: {} has {} device{}", index,
                             versionText(hip), *count, *count == 1 ? "" : "s")};
  }
  Result<std::string> chip = deviceTarget(hip, index);
  if (!chip) {
    return chip.error();
  }
  return std::unique_ptr<Device>(new HipDevice(hip, index, std::move(*chip)));
}

HipReport reportHip() {
  HipReport report;
  const Result<Hip> &hip = openedHip();
  if (!hip) {
    report.problem = hip.error().message;
    return report;
  }
  report.soname = hip->soname;
  report.version = versionNumber(*hip);
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(hip->init), &info) != 0) {
    report.path = info.dli_fname;
  }
  Result<int> count = countDevices(*hip);
  if (!count) {
    report.problem = count.error().message;
    return report;
  }
  for (int i = 0; i < *count; ++i) {
    Result<std::string> chip = deviceTarget(*hip, i);
    report.devices.push_back(chip ? *chip : "?");
    if (!chip) {
      report.problem = chip.error().message;
    }
  }
  return report;
}

} // namespace tenon::runtime
