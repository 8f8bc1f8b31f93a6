//===- HipLibrary.h - libamdhip64 as a launcher finds it --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_RUNTIME_HIPLIBRARY_H
#define TENON_TEST_UNIT_RUNTIME_HIPLIBRARY_H

#include <gtest/gtest.h>

#include <dlfcn.h>

namespace tenon {

/// The library on the library path, which main() has led to the stand-in.
inline void *hipLibrary() {
  static void *library = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_LOCAL);
  EXPECT_TRUE(library) << dlerror();
  return library;
}

/// Calls a function of HIP by its name.
template <typename... Arguments>
int hip(const char *name, Arguments... arguments) {
  auto function =
      reinterpret_cast<int (*)(Arguments...)>(dlsym(hipLibrary(), name));
  EXPECT_TRUE(function) << name;
  return function ? function(arguments...) : -1;
}

} // namespace tenon

#endif // TENON_TEST_UNIT_RUNTIME_HIPLIBRARY_H
