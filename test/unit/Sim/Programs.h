//===- Programs.h - code objects of the C programs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_SIM_PROGRAMS_H
#define TENON_TEST_UNIT_SIM_PROGRAMS_H

#include "Assembler.h"

#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <mutex>

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

} // namespace tenon::sim::test

#endif // TENON_TEST_UNIT_SIM_PROGRAMS_H
