//===- Compiling.cpp - kernels that no bundle holds -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// They come from the disk cache, or from the compiler in a child process. What
// is kept in the cache is a bundle of one kernel.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

#include "Failure.h"
#include "tenon/Runtime/CompiledKernel.h"
#include "tenon/Runtime/Compiler.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace tenon::runtime {

/// The key with the bucket that its op has by default, when it has none.
static KernelKey withBucket(KernelKey key) {
  if (key.bucket.empty()) {
    if (Result<Settings> settings = parseSettings(key.statics)) {
      if (Result<KernelKey> complete = kernelKey(key.op, *settings)) {
        return *complete;
      }
    }
  }
  return key;
}

tenon_status Runtime::compileMissing(const KernelKey &asked,
                                     const std::string &target) {
  KernelKey key = withBucket(asked);
  std::string command =
      fmt::format("tenon compile {} --target {} --emit bundle -o FILE.tenon",
                  compileOptions(key), target);
  if (options.jit == TENON_JIT_FORBID) {
    counters.staticMisses.fetch_add(1);
    return fail(
        TENON_NOT_FOUND,
        fmt::format("there is no kernel for {}({}) on {}, and compiling "
                    "is forbidden; {}. This builds it:\n  {}",
                    key.op, asked.statics, target, nearestLocked(key, target),
                    command));
  }
  return compileOnce(key, target, [&] {
    counters.staticMisses.fetch_add(1);
    if (options.jit == TENON_JIT_WARN) {
      std::fprintf(stderr,
                   "tenon: warning: %s(%s) on %s is in no bundle and may have "
                   "to be compiled; this builds it ahead of time: %s\n",
                   key.op.c_str(), asked.statics.c_str(), target.c_str(),
                   command.c_str());
    }
  });
}

bool Runtime::isInBundle(const KernelKey &key, const std::string &target) {
  std::lock_guard<std::mutex> guard(lock);
  std::vector<std::unique_ptr<Variant>> variants;
  gather(key, target, variants);
  return !variants.empty();
}

std::string Runtime::nearestLocked(const KernelKey &key,
                                   const std::string &target) {
  std::lock_guard<std::mutex> guard(lock);
  return nearest(key, target);
}

template <typename Before>
tenon_status Runtime::compileOnce(const KernelKey &key,
                                  const std::string &target, Before before) {
  std::shared_ptr<std::mutex> own;
  {
    std::lock_guard<std::mutex> guard(compilingLock);
    std::shared_ptr<std::mutex> &place = compiling[fmt::format(
        "{}({})[{}]{}", key.op, key.statics, key.bucket, target)];
    if (!place) {
      place = std::make_shared<std::mutex>();
    }
    own = place;
  }
  std::lock_guard<std::mutex> guard(*own);
  // Another thread may have compiled it meanwhile.
  if (isInBundle(key, target)) {
    return TENON_OK;
  }
  before();
  return compileInto(key, target);
}

tenon_status Runtime::compileOnly(const std::string &target,
                                  std::string_view op,
                                  std::string_view settings) {
  Result<Settings> pairs = parseSettings(settings);
  if (!pairs) {
    return fail(TENON_INVALID_ARGUMENT, pairs.error().message);
  }
  Result<KernelKey> key = kernelKey(op, *pairs);
  if (!key) {
    return fail(TENON_INVALID_ARGUMENT, key.error().message);
  }
  return compileOnce(*key, target, [] {});
}

Cache *Runtime::openCache() {
  std::lock_guard<std::mutex> guard(cacheLock);
  if (!cacheTried && !(options.cacheFolder && options.cacheFolder->empty())) {
    CacheOptions cacheOptions;
    cacheOptions.folder = options.cacheFolder.value_or("");
    Result<Cache> opened = Cache::open(cacheOptions);
    if (opened) {
      cache = std::move(*opened);
    } else {
      // A folder that may not be trusted: go on without it, but not silently.
      std::fprintf(stderr,
                   "tenon: warning: compiled kernels are not kept: %s\n",
                   opened.error().message.c_str());
    }
  }
  cacheTried = true;
  return cache ? &*cache : nullptr;
}

/// A file that is gone at the end.
namespace {
class TemporaryFile {
public:
  TemporaryFile() {
    const char *folder = std::getenv("TMPDIR");
    path = fmt::format("{}/tenon-XXXXXX", folder && *folder ? folder : "/tmp");
    file = mkstemp(path.data());
    reason = file < 0 ? std::strerror(errno) : "";
  }
  ~TemporaryFile() {
    if (file >= 0) {
      ::close(file);
      ::unlink(path.c_str());
    }
  }
  std::string path;
  int file = -1;
  std::string reason;
};
} // namespace

Result<std::string> Runtime::runCompiler(const std::string &path,
                                         const KernelKey &key,
                                         const std::string &target) const {
  TemporaryFile output;
  if (output.file < 0) {
    return Error{
        fmt::format("cannot write '{}': {}", output.path, output.reason)};
  }
  std::vector<std::string> arguments = {path, "compile", "--op", key.op};
  for (const std::string &part : {key.statics, key.bucket}) {
    Result<Settings> settings = parseSettings(part);
    for (size_t i = 0; settings && i < settings->size(); ++i) {
      // A size that varies is what the compiler assumes.
      if ((*settings)[i].second != "?") {
        arguments.push_back("--set");
        arguments.push_back(
            fmt::format("{}={}", (*settings)[i].first, (*settings)[i].second));
      }
    }
  }
  for (const char *argument : {"--emit", "bundle", "--target"}) {
    arguments.push_back(argument);
  }
  arguments.push_back(target);
  arguments.push_back("-o");
  arguments.push_back(output.path);
  if (Status ran = runProgram(arguments); !ran) {
    return ran.error();
  }
  std::ifstream stream(output.path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

Result<std::string> Runtime::compilerIdentity(const std::string &compiler) {
  std::lock_guard<std::mutex> guard(cacheLock);
  if (!compilerHash) {
    Result<std::string> hash = compilerBuild(compiler);
    if (!hash) {
      return hash.error();
    }
    compilerHash = std::move(*hash);
  }
  return *compilerHash;
}

tenon_status Runtime::compileInto(const KernelKey &key,
                                  const std::string &target) {
  std::string what =
      fmt::format("{}({}{}{}) for {}", key.op, key.statics,
                  key.bucket.empty() ? "" : ",", key.bucket, target);
  std::string compiler = findProgram(options.compiler);
  if (compiler.empty()) {
    return fail(TENON_COMPILE_FAILED,
                fmt::format("{} is in no bundle, and there is no compiler: "
                            "'{}' is not {}. {}. This builds it elsewhere:\n  "
                            "tenon compile {} --target {} --emit bundle -o "
                            "FILE.tenon",
                            what, options.compiler,
                            options.compiler.find('/') == std::string::npos
                                ? "on the PATH"
                                : "a program",
                            nearestLocked(key, target), compileOptions(key),
                            target));
  }
  Result<std::string> identity = compilerIdentity(compiler);
  if (!identity) {
    return fail(TENON_COMPILE_FAILED, identity.error().message);
  }
  tenon_compile_callback callback = nullptr;
  void *context = nullptr;
  {
    std::lock_guard<std::mutex> guard(lock);
    callback = compileCallback;
    context = compileContext;
  }
  auto build = [&]() -> Result<std::string> {
    if (callback) {
      callback(
          context, key.op.c_str(),
          (key.statics + (key.bucket.empty() ? "" : ",") + key.bucket).c_str(),
          target.c_str());
    }
    auto start = std::chrono::steady_clock::now();
    Result<std::string> bytes = runCompiler(compiler, key, target);
    counters.compileNanoseconds +=
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - start)
            .count();
    counters.compiles += bool(bytes);
    return bytes;
  };
  std::string bytes;
  if (Cache *disk = openCache()) {
    Result<Cache::Value> value =
        disk->getOrBuild(compiledKernelKey(key, *identity, target), build);
    if (!value) {
      return fail(TENON_COMPILE_FAILED,
                  fmt::format("{}: {}", what, value.error().message));
    }
    counters.cacheHits += !value->built;
    bytes = std::move(value->bytes);
  } else {
    Result<std::string> built = build();
    if (!built) {
      return fail(TENON_COMPILE_FAILED,
                  fmt::format("{}: {}", what, built.error().message));
    }
    bytes = std::move(*built);
  }
  auto bundle = Bundle::fromBytes({bytes.begin(), bytes.end()},
                                  fmt::format("compiled {}", key.op));
  if (!bundle) {
    return fail(TENON_COMPILE_FAILED,
                fmt::format("{}: '{}' wrote no bundle: {}", what, compiler,
                            bundle.error().message));
  }
  std::lock_guard<std::mutex> guard(lock);
  bundles.push_back(std::move(*bundle));
  return TENON_OK;
}

} // namespace tenon::runtime
