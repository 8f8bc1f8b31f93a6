//===- RuntimeBench.cpp - overhead of the runtime ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lookups and launches of KDA decode through the C interface on the null
// device, and opening a bundle of 1,000 kernels and loading one of them.
//
//===----------------------------------------------------------------------===//

#include "tenon-c/tenon.h"
#include "tenon/Runtime/Bundle.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "TenonRuntimeBench: %s\n", message.c_str());
  std::exit(1);
}

void check(tenon_status status) {
  if (status != TENON_OK) {
    fail(tenon_last_error());
  }
}

/// A folder with the bundles, gone at the end.
struct Files {
  std::string folder, one, thousand;

  Files() {
    char pattern[] = "/tmp/tenon-bench-XXXXXX";
    folder = mkdtemp(pattern);
    one = folder + "/one.tenon";
    thousand = folder + "/thousand.tenon";
    std::string command = std::string(TENON_TOOL) +
                          " compile --op kda_decode --emit bundle -o " + one;
    if (std::system(command.c_str()) != 0) {
      fail("cannot build the kernel");
    }
    auto bundle = tenon::runtime::Bundle::open(one);
    auto kernel = bundle ? (*bundle)->kernel(0)
                         : tenon::runtime::Result<tenon::runtime::BundleKernel>(
                               bundle.error());
    if (!kernel) {
      fail(kernel.error().message);
    }
    // The kernel under 1,000 keys, each with plan and code of its own.
    std::vector<tenon::runtime::BundleKernel> kernels(1000, *kernel);
    for (size_t i = 0; i < kernels.size(); ++i) {
      auto key = tenon::runtime::kernelKey("kda_decode",
                                           {{"H", std::to_string(i + 1)}});
      kernels[i].key = *key;
      kernels[i].plan += std::string(i, ' ');
      kernels[i].codeObject.resize(kernel->codeObject.size() + i);
    }
    auto bytes = tenon::runtime::writeBundle(std::move(kernels));
    if (!bytes || !tenon::runtime::writeBundleFile(thousand, *bytes)) {
      fail("cannot write the bundle");
    }
  }
  ~Files() { std::filesystem::remove_all(folder); }
};

const Files &files() {
  static Files made;
  return made;
}

tenon_runtime *makeRuntime(const std::string &bundle) {
  tenon_runtime_options options = {};
  options.struct_bytes = sizeof(options);
  options.jit = TENON_JIT_FORBID;
  options.cache_folder = "";
  tenon_runtime *runtime = nullptr;
  check(tenon_runtime_create(&options, &runtime));
  check(tenon_bundle_load(runtime, bundle.c_str(), nullptr));
  return runtime;
}

/// KDA decode with 128 rows on the null device; one for the process.
struct Decode {
  static constexpr const char *statics =
      "H=12,D=128,gate=bounded,lower_bound=-5,norm=on,qk_eps=1e-06,"
      "norm_eps=1e-05,null_slot=le0,conv_layout=sd,state_layout=vk,"
      "conv_start=off,norm_weight=f32";

  tenon_runtime *runtime = makeRuntime(files().one);
  tenon_device *device = nullptr;
  tenon_kernel *kernel = nullptr;
  std::vector<std::vector<int64_t>> sizes, strides;
  std::vector<tenon_tensor> operands;
  tenon_launch_arguments arguments = {};

  Decode() {
    check(tenon_device_open(runtime, "null", &device));
    check(tenon_kernel_get(device, "kda_decode", statics, &kernel));
    uint32_t count = tenon_kernel_operand_count(kernel);
    for (uint32_t i = 0; i < count; ++i) {
      tenon_operand operand;
      check(tenon_kernel_operand(kernel, i, &operand));
      sizes.emplace_back();
      for (uint32_t dim = 0; dim < operand.rank; ++dim) {
        std::string symbol = operand.symbols[dim];
        sizes.back().push_back(symbol == "N"   ? 128
                               : symbol == "S" ? 200
                               : symbol == "L" ? 4
                                               : operand.sizes[dim]);
      }
      strides.emplace_back(operand.rank, 1);
      for (uint32_t dim = operand.rank; dim-- > 1;) {
        strides.back()[dim - 1] = strides.back()[dim] * sizes.back()[dim];
      }
      operands.push_back({reinterpret_cast<void *>(uintptr_t(i + 1) << 32),
                          operand.dtype, operand.rank, nullptr, nullptr,
                          operand.layout});
    }
    for (uint32_t i = 0; i < count; ++i) {
      operands[i].sizes = sizes[i].data();
      operands[i].strides = strides[i].data();
    }
    arguments.struct_bytes = sizeof(arguments);
    arguments.operands = operands.data();
    arguments.operand_count = count;
    check(tenon_launch(kernel, &arguments));
  }
};

Decode &decode() {
  static Decode made;
  return made;
}

} // namespace

/// From op and static parameters to the kernel.
static void lookup(benchmark::State &state) {
  Decode &call = decode();
  for (auto _ : state) {
    tenon_kernel *kernel = nullptr;
    tenon_kernel_get(call.device, "kda_decode", Decode::statics, &kernel);
    benchmark::DoNotOptimize(kernel);
  }
}
BENCHMARK(lookup)->Threads(1)->Threads(2);

/// A whole launch with the kernel at hand.
static void launch(benchmark::State &state) {
  Decode &call = decode();
  for (auto _ : state) {
    if (tenon_launch(call.kernel, &call.arguments) != TENON_OK) {
      state.SkipWithError(tenon_last_error());
      break;
    }
  }
}
BENCHMARK(launch)->Threads(1)->Threads(2);

/// A whole launch with another number of rows than any of the 255 before, at
/// other addresses.
static void launchOtherShape(benchmark::State &state) {
  Decode &call = decode();
  // Arrays of this thread.
  std::vector<std::vector<int64_t>> sizes = call.sizes;
  std::vector<tenon_tensor> operands = call.operands;
  std::vector<int64_t *> rows;
  for (size_t i = 0; i < operands.size(); ++i) {
    operands[i].sizes = sizes[i].data();
    tenon_operand operand;
    check(tenon_kernel_operand(call.kernel, uint32_t(i), &operand));
    if (std::string_view(operand.symbols[0]) == "N") {
      rows.push_back(sizes[i].data());
    }
  }
  tenon_launch_arguments arguments = call.arguments;
  arguments.operands = operands.data();
  int64_t count = 0;
  for (auto _ : state) {
    count = count % 256 + 1;
    for (int64_t *row : rows) {
      *row = count;
    }
    for (tenon_tensor &operand : operands) {
      operand.data = static_cast<char *>(operand.data) + 256;
    }
    if (tenon_launch(call.kernel, &arguments) != TENON_OK) {
      state.SkipWithError(tenon_last_error());
      break;
    }
  }
}
BENCHMARK(launchOtherShape)->Threads(1)->Threads(2);

/// Opens a bundle of 1,000 kernels and loads one of them.
static void loadOneOfThousand(benchmark::State &state) {
  const std::string &bundle = files().thousand;
  for (auto _ : state) {
    tenon_runtime *runtime = makeRuntime(bundle);
    tenon_device *device = nullptr;
    tenon_kernel *kernel = nullptr;
    check(tenon_device_open(runtime, "null", &device));
    check(tenon_kernel_get(device, "kda_decode", "H=500", &kernel));
    tenon_runtime_destroy(runtime);
  }
}
BENCHMARK(loadOneOfThousand)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
