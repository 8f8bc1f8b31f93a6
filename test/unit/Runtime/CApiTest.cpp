//===- CApiTest.cpp - the runtime through its C interface -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels are compiled by the program `tenon`, as the runtime does it, into a
// cache folder that all tests share.
//
//===----------------------------------------------------------------------===//

#include "tenon-c/tenon.h"
#include "tenon/Runtime/Bundle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace {

/// A folder for this program, gone at its end.
const std::string &folder() {
  struct Folder {
    std::string path;
    Folder() {
      char pattern[] = "/tmp/tenon-runtime-XXXXXX";
      path = mkdtemp(pattern);
    }
    ~Folder() { std::filesystem::remove_all(path); }
  };
  static Folder made;
  return made.path;
}

/// A runtime with one device.
class Session {
public:
  explicit Session(const char *device, tenon_jit jit = TENON_JIT_ALLOW,
                   std::string compiler = TENON_TOOL,
                   std::string cache = folder() + "/cache") {
    tenon_runtime_options options = {};
    options.struct_bytes = sizeof(options);
    options.jit = jit;
    options.compiler = compiler.c_str();
    options.cache_folder = cache.c_str();
    EXPECT_EQ(tenon_runtime_create(&options, &runtime), TENON_OK)
        << tenon_last_error();
    EXPECT_EQ(tenon_device_open(runtime, device, &this->device), TENON_OK)
        << tenon_last_error();
  }
  ~Session() { tenon_runtime_destroy(runtime); }

  tenon_kernel *kernel(const char *op, const char *statics) {
    tenon_kernel *found = nullptr;
    EXPECT_EQ(tenon_kernel_get(device, op, statics, &found), TENON_OK)
        << tenon_last_error();
    return found;
  }
  tenon_counters counters() {
    tenon_counters result = {};
    tenon_get_counters(runtime, &result);
    return result;
  }

  tenon_runtime *runtime = nullptr;
  tenon_device *device = nullptr;
};

/// bf16 as the upper half of an FP32 number that it holds exactly.
uint16_t bf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return uint16_t(bits >> 16);
}

constexpr int64_t columns = 32, depth = 64;
constexpr const char *product = "N=32,K=64,out=f32";

/// out = x weights^T with small integers, which is exact in FP32.
struct Product {
  int64_t rows;
  std::vector<uint16_t> x, weights;
  std::vector<float> out;
  int64_t xSizes[2], weightSizes[2], outSizes[2];
  tenon_tensor operands[3];
  tenon_launch_arguments arguments = {};
  std::vector<char> memory, zeroed;

  explicit Product(int64_t rows)
      : rows(rows), x(rows * depth + 8), weights(columns * depth + 8),
        out(rows * columns + 4, -1.0f), xSizes{rows, depth},
        weightSizes{columns, depth}, outSizes{rows, columns} {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = bf16(float(int(i * 7 % 11) - 5));
    }
    for (size_t i = 0; i < weights.size(); ++i) {
      weights[i] = bf16(float(int(i * 5 % 13) - 6));
    }
    operands[0] = {aligned(x.data()), TENON_BF16, 2, xSizes, nullptr, nullptr};
    operands[1] = {
        aligned(weights.data()), TENON_BF16, 2, weightSizes, nullptr, nullptr};
    operands[2] = {
        aligned(out.data()), TENON_F32, 2, outSizes, nullptr, nullptr};
    arguments.struct_bytes = sizeof(arguments);
    arguments.operands = operands;
    arguments.operand_count = 3;
  }

  /// The next address that is a multiple of 16.
  template <typename T> static T *aligned(T *address) {
    return reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(address) + 15) /
                                 16 * 16);
  }

  /// Provides the workspace that the kernel asks for.
  void provideWorkspace(tenon_kernel *kernel) {
    tenon_workspace needed = {};
    ASSERT_EQ(tenon_kernel_workspace(kernel, &arguments, &needed), TENON_OK)
        << tenon_last_error();
    auto provide = [](std::vector<char> &buffer, uint64_t bytes) -> void * {
      buffer.assign(bytes + 256, 0);
      return reinterpret_cast<void *>(
          (reinterpret_cast<uintptr_t>(buffer.data()) + 255) / 256 * 256);
    };
    arguments.workspace = provide(memory, needed.bytes);
    arguments.workspace_bytes = needed.bytes;
    arguments.zeroed_workspace = provide(zeroed, needed.zeroed_bytes);
    arguments.zeroed_workspace_bytes = needed.zeroed_bytes;
  }

  int64_t wrong() const {
    auto value = [](const void *address, int64_t index) {
      uint32_t bits = uint32_t(static_cast<const uint16_t *>(address)[index])
                      << 16;
      float number;
      std::memcpy(&number, &bits, 4);
      return number;
    };
    int64_t count = 0;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        float sum = 0;
        for (int64_t k = 0; k < depth; ++k) {
          sum += value(operands[0].data, row * depth + k) *
                 value(operands[1].data, column * depth + k);
        }
        count += static_cast<float *>(
                     operands[2].data)[row * columns + column] != sum;
      }
    }
    return count;
  }
};

void expectError(tenon_status found, tenon_status expected,
                 std::initializer_list<const char *> parts) {
  EXPECT_EQ(found, expected);
  std::string message = tenon_last_error();
  for (const char *part : parts) {
    EXPECT_NE(message.find(part), std::string::npos)
        << "'" << part << "' is not in: " << message;
  }
}

} // namespace

// A product that is compiled on the first use computes in the simulator, on
// arrays of this program, what the sums in this program are.
TEST(CApi, ProductOnSimulator) {
  Session session("sim");
  tenon_kernel *kernel = session.kernel("gemm", product);
  ASSERT_TRUE(kernel);
  for (int64_t rows : {1, 5, 40}) {
    Product call(rows);
    call.provideWorkspace(kernel);
    ASSERT_EQ(tenon_launch(kernel, &call.arguments), TENON_OK)
        << tenon_last_error();
    EXPECT_EQ(call.wrong(), 0) << rows;
    EXPECT_EQ(call.out.back(), -1.0f);
    for (char byte : call.zeroed) {
      ASSERT_EQ(byte, 0);
    }
  }
  EXPECT_EQ(session.counters().launches, 3u);
}

// Operands are described as the contract has them, and what does not fit is
// refused with all operands in the message.
TEST(CApi, OperandsAreChecked) {
  Session session("null");
  tenon_kernel *kernel = session.kernel("gemm", product);
  ASSERT_TRUE(kernel);
  ASSERT_EQ(tenon_kernel_operand_count(kernel), 3u);
  EXPECT_EQ(tenon_kernel_scalar_count(kernel), 0u);
  EXPECT_EQ(tenon_kernel_scalar(kernel, 0), nullptr);
  tenon_operand out;
  ASSERT_EQ(tenon_kernel_operand(kernel, 2, &out), TENON_OK);
  EXPECT_STREQ(out.name, "out");
  EXPECT_EQ(out.dtype, TENON_F32);
  EXPECT_EQ(out.access, TENON_WRITE);
  ASSERT_EQ(out.rank, 2u);
  EXPECT_EQ(out.sizes[0], -1);
  EXPECT_STREQ(out.symbols[0], "M");
  EXPECT_EQ(out.sizes[1], columns);
  EXPECT_EQ(tenon_kernel_operand(kernel, 3, &out), TENON_INVALID_ARGUMENT);

  Product call(4);
  // A call that is right does not hide what is wrong with the next ones.
  call.provideWorkspace(kernel);
  ASSERT_EQ(tenon_launch(kernel, &call.arguments), TENON_OK)
      << tenon_last_error();
  auto refused = [&](std::initializer_list<const char *> parts) {
    expectError(tenon_launch(kernel, &call.arguments), TENON_INVALID_ARGUMENT,
                parts);
  };
  call.operands[0].dtype = TENON_F16;
  refused({"operand 'x': bf16 expected, f16 found", "weights: bf16 [32, 64]",
           "(f32 [M, 32] expected)", "on null"});
  call.operands[0].dtype = TENON_BF16;
  call.outSizes[0] = 3;
  refused({"operand 'out': dimension 0 is M = 4"});
  call.outSizes[0] = 4;
  call.operands[0].data = static_cast<char *>(call.operands[0].data) + 2;
  refused({"multiple of 16 bytes"});
  call.operands[0].data = static_cast<char *>(call.operands[0].data) - 2;
  int64_t strides[] = {65, 1};
  call.operands[0].strides = strides;
  refused({"multiple of 8 elements", "strides [65, 1]"});
  call.operands[0].strides = nullptr;
  call.operands[0].rank = 1;
  refused({"operand 'x': rank 2 expected, 1 found"});
  call.operands[0].rank = 2;
  call.operands[1].layout = "packed";
  refused({"in the order 'row-major' expected, 'packed' found"});
  call.operands[1].layout = "";
  call.arguments.operand_count = 2;
  refused({"3 operands expected, 2 found"});
  call.arguments.operand_count = 3;
  call.arguments.struct_bytes = 8;
  refused({"struct_bytes is 8"});
  EXPECT_EQ(session.counters().launches, 1u);
}

// Schedules that share the depth of a product need workspaces; without them a
// launch is refused with their sizes, and the bound asked for beforehand holds.
TEST(CApi, WorkspacesAreChecked) {
  Session session("sim");
  tenon_kernel *kernel =
      session.kernel("gemm", "N=32,K=7168,expected_tokens=8");
  ASSERT_TRUE(kernel);
  std::vector<uint16_t> x(3 * 7168 + 8), weights(32 * 7168 + 8), out(96 + 8);
  int64_t xSizes[] = {3, 7168}, weightSizes[] = {32, 7168},
          outSizes[] = {3, 32};
  tenon_tensor operands[] = {
      {Product::aligned(x.data()), TENON_BF16, 2, xSizes, nullptr, nullptr},
      {Product::aligned(weights.data()), TENON_BF16, 2, weightSizes, nullptr,
       nullptr},
      {Product::aligned(out.data()), TENON_BF16, 2, outSizes, nullptr,
       nullptr}};
  tenon_launch_arguments arguments = {};
  arguments.struct_bytes = sizeof(arguments);
  arguments.operands = operands;
  arguments.operand_count = 3;
  tenon_workspace needed = {}, most = {};
  ASSERT_EQ(tenon_kernel_workspace(kernel, &arguments, &needed), TENON_OK)
      << tenon_last_error();
  ASSERT_GT(needed.bytes, 0u);
  ASSERT_GT(needed.zeroed_bytes, 0u);
  expectError(tenon_launch(kernel, &arguments), TENON_INVALID_ARGUMENT,
              {std::to_string(needed.bytes).c_str(),
               std::to_string(needed.zeroed_bytes).c_str()});
  tenon_bound bound = {"M", 64};
  ASSERT_EQ(tenon_kernel_max_workspace(kernel, &bound, 1, &most), TENON_OK)
      << tenon_last_error();
  EXPECT_GE(most.bytes, needed.bytes);
  EXPECT_GE(most.zeroed_bytes, needed.zeroed_bytes);
  expectError(tenon_kernel_max_workspace(kernel, nullptr, 0, &most),
              TENON_INVALID_ARGUMENT, {"without one for 'M'"});
}

// A size takes the schedule of its bucket; where that is missing the nearest
// serves, and is counted.
TEST(CApi, BucketsChooseSchedules) {
  Session session("null");
  for (const char *tokens : {"1", "64"}) {
    std::string settings = std::string(product) + ",expected_tokens=" + tokens;
    ASSERT_EQ(
        tenon_compile_only(session.runtime, "gfx950", "gemm", settings.c_str()),
        TENON_OK)
        << tenon_last_error();
  }
  tenon_kernel *kernel = session.kernel("gemm", product);
  ASSERT_TRUE(kernel);
  auto launch = [&](int64_t rows) {
    Product call(rows);
    call.provideWorkspace(kernel);
    EXPECT_EQ(tenon_launch(kernel, &call.arguments), TENON_OK)
        << tenon_last_error();
    return session.counters().bucket_misses;
  };
  EXPECT_EQ(launch(1), 0u);
  EXPECT_EQ(launch(64), 0u);
  EXPECT_EQ(launch(33), 0u);
  EXPECT_EQ(launch(2), 1u);
  EXPECT_EQ(launch(200), 2u);
  EXPECT_EQ(session.counters().static_misses, 0u);
}

// The keys of an op are one per bucket, and each is what compile_only takes.
TEST(CApi, KeysAreEnumerated) {
  Session session("null");
  std::vector<std::string> keys;
  auto collect = [](void *context, const char *settings) {
    static_cast<std::vector<std::string> *>(context)->push_back(settings);
  };
  ASSERT_EQ(
      tenon_compile_keys(session.runtime, "gemm", product, collect, &keys),
      TENON_OK);
  ASSERT_EQ(keys.size(), 15u);
  EXPECT_NE(keys.front().find("expected_tokens=1"), std::string::npos);
  EXPECT_NE(keys.back().find("expected_tokens=16384"), std::string::npos);
  keys.clear();
  ASSERT_EQ(tenon_compile_keys(session.runtime, "kda_decode", nullptr, collect,
                               &keys),
            TENON_OK);
  EXPECT_EQ(keys.size(), 1u);
}

// Where compiling is forbidden a missing kernel names its key, the nearest that
// is there, and the command that builds it.
TEST(CApi, ForbiddenMissNamesTheCommand) {
  Session session("null", TENON_JIT_FORBID);
  tenon_kernel *kernel = nullptr;
  expectError(
      tenon_kernel_get(session.device, "gemm", product, &kernel),
      TENON_NOT_FOUND,
      {"gemm(N=32,K=64,format=bf16,out=f32", "no bundle is loaded",
       "tenon compile --op gemm --set N=32 --set K=64 --set out=f32 --target "
       "gfx950 --emit bundle -o FILE.tenon"});
  ASSERT_EQ(tenon_compile_only(session.runtime, "gfx950", "gemm", product),
            TENON_OK)
      << tenon_last_error();
  expectError(
      tenon_kernel_get(session.device, "gemm", "N=32,K=128,out=f32", &kernel),
      TENON_NOT_FOUND, {"the nearest in 'compiled gemm' has K=64"});
  EXPECT_TRUE(session.kernel("gemm", product));
  EXPECT_EQ(session.counters().static_misses, 2u);
}

/// A program in the folder of this one.
static std::string script(const char *name, const char *text) {
  std::string path = folder() + "/" + name;
  std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
  chmod(path.c_str(), 0755);
  return path;
}

// A compiler that is missing, fails, is killed or writes nonsense is an error
// of the call that needed it, and of no other.
TEST(CApi, CompilerFailuresAreErrors) {
  tenon_kernel *kernel = nullptr;
  auto attempt = [&](std::string compiler,
                     std::initializer_list<const char *> parts) {
    Session session("null", TENON_JIT_ALLOW, compiler, "");
    expectError(tenon_kernel_get(session.device, "gemm", "N=48,K=64", &kernel),
                TENON_COMPILE_FAILED, parts);
    EXPECT_EQ(session.counters().compiles, parts.size() == 3 ? 1u : 0u);
  };
  attempt(folder() + "/none", {"there is no compiler", "--set N=48"});
  attempt(script("fails", "echo some reason >&2; exit 3"),
          {"ended with exit code 3: some reason"});
  attempt(script("killed", "kill -9 $$"), {"was ended by signal 9 (Killed)"});
  attempt(script("crashes", "kill -SEGV $$"), {"was ended by signal 11"});
  attempt(script("nonsense",
                 "[ $1 = compile ] && for last; do :; done; echo text > $last"),
          {"wrote no bundle", "is no bundle", "TENONBDL"});
}

// One process compiles, the next finds the kernel in the cache; the callback
// fires for compiles alone.
TEST(CApi, CacheServesTheNextRuntime) {
  std::string cache = folder() + "/fresh";
  for (bool isFirst : {true, false}) {
    Session session("null", TENON_JIT_ALLOW, TENON_TOOL, cache);
    std::string seen;
    tenon_on_compile(
        session.runtime,
        [](void *context, const char *op, const char *settings,
           const char *target) {
          *static_cast<std::string *>(context) +=
              std::string(op) + "|" + settings + "|" + target;
        },
        &seen);
    ASSERT_TRUE(session.kernel("pack", "N=32,K=64"));
    tenon_counters counters = session.counters();
    EXPECT_EQ(counters.static_misses, 1u);
    EXPECT_EQ(counters.compiles, isFirst ? 1u : 0u);
    EXPECT_EQ(counters.cache_hits, isFirst ? 0u : 1u);
    EXPECT_EQ(seen, isFirst ? "pack|N=32,K=64,type=bf16,order=packed,scales=off"
                              "|gfx950"
                            : "");
    std::vector<char> text(1 << 16);
    size_t bytes = tenon_prometheus(session.runtime, text.data(), text.size());
    EXPECT_EQ(bytes, std::strlen(text.data()) + 1);
    EXPECT_NE(std::string(text.data())
                  .find(isFirst ? "\ntenon_compiles_total 1\n"
                                : "\ntenon_compiles_total 0\n"),
              std::string::npos)
        << text.data();
    EXPECT_EQ(tenon_prometheus(session.runtime, text.data(), 10), bytes);
    EXPECT_EQ(std::strlen(text.data()), 9u);
  }
}

// What `tenon bundle` built the runtime finds in the cache, and the other way.
TEST(CApi, CacheIsSharedWithBundles) {
  std::string cache = folder() + "/shared", manifest = folder() + "/m.json";
  auto run = [&](const char *sizes) {
    std::ofstream(manifest)
        << R"({"version": 1, "target": "gfx950", "kernels":)"
        << R"( [{"op": "pack", "set": )" << sizes << "}]}";
    std::string command = "TENON_CACHE_DIR=" + cache + " " + TENON_TOOL +
                          " bundle " + manifest + " -o " + folder() +
                          "/shared.tenon > " + folder() + "/said";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream said(folder() + "/said");
    return std::string(std::istreambuf_iterator<char>(said), {});
  };
  run(R"({"N": 32, "K": 128})");
  Session session("null", TENON_JIT_ALLOW, TENON_TOOL, cache);
  ASSERT_TRUE(session.kernel("pack", "N=32,K=128"));
  EXPECT_EQ(session.counters().cache_hits, 1u);
  ASSERT_TRUE(session.kernel("pack", "N=32,K=192"));
  EXPECT_EQ(session.counters().compiles, 1u);
  EXPECT_NE(run(R"({"N": 32, "K": 192})").find("1 of them from the cache"),
            std::string::npos);
}

/// The kernels that compiling `op` gives, as a file that `change` has altered.
static std::string
changedBundle(const char *op, const char *settings,
              void (*change)(tenon::runtime::BundleKernel &kernel)) {
  std::string path = folder() + "/changed.tenon";
  std::string command = std::string(TENON_TOOL) + " compile --op " + op + " " +
                        settings + " --emit bundle -o " + path;
  EXPECT_EQ(std::system(command.c_str()), 0);
  auto bundle = tenon::runtime::Bundle::open(path);
  EXPECT_TRUE(bool(bundle));
  auto kernel = (*bundle)->kernel(0);
  EXPECT_TRUE(bool(kernel));
  change(*kernel);
  auto bytes = tenon::runtime::writeBundle({*kernel});
  EXPECT_TRUE(bool(bytes));
  EXPECT_TRUE(bool(tenon::runtime::writeBundleFile(path, *bytes)));
  return path;
}

// Code for another chip is refused by name, and so is a bundle of another
// contract.
TEST(CApi, WrongBundlesAreRefused) {
  Session session("null:gfx942", TENON_JIT_FORBID);
  std::string path = changedBundle(
      "pack", "--set N=32 --set K=64",
      [](tenon::runtime::BundleKernel &kernel) { kernel.target = "gfx942"; });
  ASSERT_EQ(tenon_bundle_load(session.runtime, path.c_str(), nullptr),
            TENON_OK);
  expectError(tenon_preload(session.device, nullptr), TENON_BAD_BUNDLE,
              {"its code is for gfx950, and null is a gfx942"});
  path = changedBundle("pack", "--set N=32 --set K=64",
                       [](tenon::runtime::BundleKernel &kernel) {
                         kernel.contractVersion += 1;
                       });
  expectError(tenon_bundle_load(session.runtime, path.c_str(), nullptr),
              TENON_BAD_BUNDLE, {"contract version 2", "has 1"});
  expectError(tenon_bundle_load(session.runtime, path.c_str(), "00"),
              TENON_BAD_BUNDLE, {"SHA-256"});
  expectError(tenon_bundle_load(session.runtime, "/none.tenon", nullptr),
              TENON_BAD_BUNDLE, {"No such file"});
}

// A bundle serves where no compiler can be found, and preloads what is for the
// chip.
TEST(CApi, BundlesServeWithoutCompiler) {
  std::string path = folder() + "/product.tenon";
  std::string command =
      std::string(TENON_TOOL) +
      " compile --op gemm --set N=32 --set K=64 --set out=f32 --emit bundle "
      "-o " +
      path;
  ASSERT_EQ(std::system(command.c_str()), 0);
  Session session("sim", TENON_JIT_WARN, folder() + "/none", "");
  ASSERT_EQ(tenon_bundle_load(session.runtime, path.c_str(), nullptr),
            TENON_OK);
  uint64_t modules = 0;
  ASSERT_EQ(tenon_preload(session.device, &modules), TENON_OK);
  EXPECT_EQ(modules, 1u);
  tenon_kernel *kernel = session.kernel("gemm", product);
  Product call(7);
  call.provideWorkspace(kernel);
  ASSERT_EQ(tenon_launch(kernel, &call.arguments), TENON_OK)
      << tenon_last_error();
  EXPECT_EQ(call.wrong(), 0);
  tenon_device *other = nullptr;
  ASSERT_EQ(tenon_device_open(session.runtime, "null:gfx942", &other),
            TENON_OK);
  ASSERT_EQ(tenon_preload(other, &modules), TENON_OK);
  EXPECT_EQ(modules, 0u);
}

// Threads that ask for kernels and launch at the same time get the same kernels
// and count every launch.
TEST(CApi, ThreadsShareKernels) {
  Session session("null");
  std::vector<std::thread> threads;
  std::vector<tenon_kernel *> kernels(4);
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      Product call(3);
      for (unsigned i = 0; i < 200; ++i) {
        // Other texts for one kernel, so that the table grows meanwhile.
        std::string statics = product;
        if (i % 2) {
          statics += ",beta=4." + std::string(i, '0');
        }
        tenon_kernel *kernel = nullptr;
        ASSERT_EQ(
            tenon_kernel_get(session.device, "gemm", statics.c_str(), &kernel),
            TENON_OK)
            << tenon_last_error();
        if (i == 0) {
          kernels[thread] = kernel;
          call.provideWorkspace(kernel);
        }
        ASSERT_EQ(kernel, kernels[thread]);
        ASSERT_EQ(tenon_launch(kernel, &call.arguments), TENON_OK)
            << tenon_last_error();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  for (tenon_kernel *kernel : kernels) {
    EXPECT_EQ(kernel, kernels[0]);
  }
  EXPECT_EQ(session.counters().launches, 800u);
  EXPECT_EQ(session.counters().modules, 1u);
}

/// A compiler that writes when it begins and ends, and begins its work when two
/// of its kind have begun, or after 20 seconds.
static std::string meetingCompiler(const std::string &log) {
  return script(
      "meeting",
      (std::string("[ $1 = --program ] && exec ") + TENON_TOOL +
       " --program\necho begin >> " + log + "\ni=0\nwhile [ $(grep -c begin " +
       log + ") -lt 2 ] && [ $i -lt 200 ]; do sleep 0.1; i=$((i + 1)); done\n" +
       TENON_TOOL + " \"$@\"\ncode=$?\necho end >> " + log + "\nexit $code")
          .c_str());
}

// Threads that need different kernels compile them at the same time; those that
// need the same one compile it once.
TEST(CApi, DifferentKeysCompileTogether) {
  std::string log = folder() + "/compiles";
  Session session("null", TENON_JIT_ALLOW, meetingCompiler(log), "");
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      tenon_kernel *kernel = nullptr;
      EXPECT_EQ(tenon_kernel_get(session.device, "pack",
                                 thread % 2 ? "N=32,K=64" : "N=32,K=128",
                                 &kernel),
                TENON_OK)
          << tenon_last_error();
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(session.counters().compiles, 2u);
  EXPECT_EQ(session.counters().static_misses, 2u);
  std::ifstream lines(log);
  std::string first, second;
  lines >> first >> second;
  EXPECT_EQ(first + " " + second, "begin begin");
}

// Bytes of two FP4 values each are taken for FP4, with half the innermost size.
TEST(CApi, BytesStandForFp4) {
  Session session("sim");
  tenon_kernel *kernel = session.kernel("pack", "N=16,K=64,type=fp4");
  ASSERT_TRUE(kernel);
  alignas(16) uint8_t weights[16 * 32], packed[16 * 32] = {};
  for (size_t i = 0; i < sizeof(weights); ++i) {
    weights[i] = uint8_t(i * 37);
  }
  int64_t sizes[] = {16, 32};
  tenon_tensor operands[] = {{weights, TENON_U8, 2, sizes, nullptr, nullptr},
                             {packed, TENON_U8, 2, sizes, nullptr, "packed"}};
  tenon_launch_arguments arguments = {};
  arguments.struct_bytes = sizeof(arguments);
  arguments.operands = operands;
  arguments.operand_count = 2;
  ASSERT_EQ(tenon_launch(kernel, &arguments), TENON_OK) << tenon_last_error();
  // 16 bytes along K stay together, then those of the next row.
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned chunk = 0; chunk < 2; ++chunk) {
      EXPECT_EQ(std::memcmp(packed + chunk * 256 + row * 16,
                            weights + row * 32 + chunk * 16, 16),
                0);
    }
  }
  uint64_t bytes = 0;
  int64_t values[] = {16, 64};
  ASSERT_EQ(tenon_kernel_operand_bytes(kernel, 1, values, nullptr, &bytes),
            TENON_OK);
  EXPECT_EQ(bytes, sizeof(packed));
}

// Devices that are not there say so and name the others.
TEST(CApi, MissingDevices) {
  Session session("null");
  tenon_device *device = nullptr;
  expectError(tenon_device_open(session.runtime, "cuda", &device),
              TENON_DEVICE_ERROR, {"'cuda'", "sim", "null", "hip"});
  expectError(tenon_device_open(session.runtime, "sim:gfx1100", &device),
              TENON_DEVICE_ERROR, {"no simulator of 'gfx1100'"});
  EXPECT_EQ(tenon_device_open(nullptr, "sim", &device), TENON_INVALID_ARGUMENT);
  EXPECT_EQ(device, nullptr);
}
