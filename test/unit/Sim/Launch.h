//===- Launch.h - launches of assembled kernels -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_SIM_LAUNCH_H
#define TENON_TEST_UNIT_SIM_LAUNCH_H

#include "Assembler.h"

namespace tenon::sim::test {

/// Launches of kernels whose one argument is the address of `dwords` dwords
/// of output, which begin as zeros.
struct Launch {
  LaunchConfig config;
  KernelOptions options;
  unsigned dwords = 1024;

  llvm::Expected<std::vector<uint32_t>> run(llvm::StringRef body) {
    auto object = loadObject(assemble(body, options));
    if (!object) {
      return llvm::createStringError("no code object");
    }
    Device device;
    uint64_t out =
        llvm::cantFail(device.memory().allocate(4 * dwords, {"output", {}}));
    config.setArg(0, out);
    llvm::Expected<LaunchResult> launched =
        device.launch(object->kernels()[0], config);
    if (!launched) {
      return launched.takeError();
    }
    result = *launched;
    std::vector<uint32_t> values(dwords);
    llvm::cantFail(device.memory().read(
        out, llvm::MutableArrayRef(reinterpret_cast<uint8_t *>(values.data()),
                                   4 * dwords)));
    return values;
  }

  std::string failure(llvm::StringRef body) {
    auto values = run(body);
    if (values) {
      ADD_FAILURE() << "the launch should have failed";
      return "";
    }
    return llvm::toString(values.takeError());
  }

  LaunchResult result;
};

} // namespace tenon::sim::test

#endif // TENON_TEST_UNIT_SIM_LAUNCH_H
