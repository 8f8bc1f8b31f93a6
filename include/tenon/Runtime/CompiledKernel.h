//===- CompiledKernel.h - compiled kernels in the disk cache ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_COMPILEDKERNEL_H
#define TENON_RUNTIME_COMPILEDKERNEL_H

#include "tenon/Runtime/Cache.h"
#include "tenon/Runtime/OpParameters.h"

namespace tenon::runtime {

/// What the disk cache has the bundle of the one kernel \p key under, whoever
/// asks for it. \p compiler is its compilerBuild().
inline CacheKey compiledKernelKey(const KernelKey &key,
                                  const std::string &compiler,
                                  const std::string &target) {
  CacheKey result;
  result.spec = key.op + "(" + key.statics + ")[" + key.bucket + "]";
  result.compiler = compiler;
  result.target = target;
  result.title = key.op;
  return result;
}

} // namespace tenon::runtime

#endif // TENON_RUNTIME_COMPILEDKERNEL_H
