//===- HipMain.cpp - tests with the stand-in of HIP -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <unistd.h>

/// The library path is read when a program starts: start again with it.
int main(int argc, char **argv) {
  const char *path = std::getenv("LD_LIBRARY_PATH");
  if (!path || std::string(path).find(TENON_HIP_FOLDER) != 0) {
    std::string wanted = TENON_HIP_FOLDER;
    wanted += path ? std::string(":") + path : "";
    setenv("LD_LIBRARY_PATH", wanted.c_str(), 1);
    execv("/proc/self/exe", argv);
    perror("execv");
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
