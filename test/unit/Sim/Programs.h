//===- Programs.h - code objects of the C programs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_SIM_PROGRAMS_H
#define TENON_TEST_UNIT_SIM_PROGRAMS_H

#include "Assembler.h"

#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>

namespace tenon::sim::test {

/// What the programs of test/unit/Sim/programs are compiled for: processor and
/// level of optimisation. CMakeLists.txt has the same list.
inline const char *const programVariants[] = {"gfx950.O0", "gfx950.O1",
                                              "gfx950.Os", "gfx950.O3",
                                              "gfx942.O0", "gfx942.O3"};

/// The code object of a program at a variant ("Groups.gfx950.O3"), loaded once;
/// fails the test and is null when there is none.
inline std::shared_ptr<const CodeObject> loadProgram(const std::string &name) {
  static std::mutex lock;
  static std::map<std::string, std::shared_ptr<const CodeObject>> loaded;
  std::lock_guard<std::mutex> guard(lock);
  std::shared_ptr<const CodeObject> &object = loaded[name];
  if (!object) {
    auto buffer = llvm::MemoryBuffer::getFile(std::string(TENON_SIM_PROGRAMS) +
                                              "/" + name + ".co");
    if (!buffer) {
      ADD_FAILURE() << "no program " << name;
      return nullptr;
    }
    llvm::StringRef bytes = (*buffer)->getBuffer();
    object = loadObject(
        llvm::ArrayRef<uint8_t>(bytes.bytes_begin(), bytes.bytes_end()));
  }
  return object;
}

/// Runs the kernels of one file of programs as compiled for one variant; the
/// parameter is the variant.
class ProgramTest : public ::testing::TestWithParam<const char *> {
protected:
  explicit ProgramTest(const char *file) : file(file) {}

  void SetUp() override {
    object = loadProgram(std::string(file) + "." + GetParam());
    ASSERT_NE(object, nullptr);
  }

  template <typename T> uint64_t upload(const std::vector<T> &values) {
    uint64_t bytes = values.size() * sizeof(T);
    uint64_t address =
        llvm::cantFail(device.memory().allocate(bytes, {"data", {}}));
    llvm::cantFail(device.memory().write(
        address, llvm::ArrayRef(
                     reinterpret_cast<const uint8_t *>(values.data()), bytes)));
    return address;
  }

  template <typename T> std::vector<T> download(uint64_t address, size_t n) {
    std::vector<T> values(n);
    llvm::cantFail(device.memory().read(
        address,
        llvm::MutableArrayRef(reinterpret_cast<uint8_t *>(values.data()),
                              n * sizeof(T))));
    return values;
  }

  template <typename... Args>
  LaunchResult launch(llvm::StringRef name, std::array<uint32_t, 3> grid,
                      std::array<uint32_t, 3> block, Args... args) {
    const Kernel *kernel = object->findKernel(name);
    LaunchConfig config;
    if (!kernel) {
      ADD_FAILURE() << "no kernel " << name.str();
      return {};
    }
    config.grid = grid;
    config.block = block;
    config.dynamicLds = dynamicLds;
    unsigned index = 0;
    (config.setArg(kernel->info().args[index++].offset, args), ...);
    llvm::Expected<LaunchResult> result = device.launch(*kernel, config);
    if (!result) {
      ADD_FAILURE() << llvm::toString(result.takeError());
      return {};
    }
    for (const Finding &finding : result->findings) {
      ADD_FAILURE() << formatFinding(finding);
    }
    return *result;
  }

  std::shared_ptr<const CodeObject> object;
  Device device;
  std::mt19937 random{7};
  uint32_t dynamicLds = 0; ///< of the next launches
  const char *file;
};

/// Names variants in the names of tests.
inline std::string
variantName(const ::testing::TestParamInfo<const char *> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

} // namespace tenon::sim::test

#endif // TENON_TEST_UNIT_SIM_PROGRAMS_H
