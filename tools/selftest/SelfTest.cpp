//===- SelfTest.cpp - tenon-selftest ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches the kernels of a bundle on seeded inputs and compares what they
// compute with what the simulator computed elsewhere; on HIP it takes the time
// by events and compares it with the modelled one. It needs the runtime alone:
// no compiler and no Python.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "EventTimer.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace tenon::selftest;
using nlohmann::json;

namespace {

struct Options {
  std::string device = "hip", folder, result, record;
  std::string filter;
  unsigned launches = 20;
  /// More than the caches of any chip hold: what is filled between two launches
  /// so that both begin with their data in HBM, as the model assumes.
  uint64_t flushBytes = uint64_t(512) << 20;
};

/// A failure of one case.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(tenon_status status) {
  if (status != TENON_OK) {
    throw Failure(tenon_last_error());
  }
}

/// Memory of the device.
class Memory {
public:
  Memory(tenon_device *device, uint64_t bytes) : device(device) {
    check(tenon_device_allocate(device, bytes, &address));
  }
  ~Memory() { tenon_device_free(device, address); }
  Memory(const Memory &) = delete;
  void *address = nullptr;

private:
  tenon_device *device;
};

class Runner {
public:
  Runner(const Options &options, tenon_device *device)
      : options(options), device(device) {
    if (std::string(tenon_device_name(device)).starts_with("hip")) {
      timer = EventTimer::create();
    }
  }

  /// Runs a case. The results of its operands become its expectations when
  /// something is to be recorded.
  json run(Case &test);
  bool isTimed() const { return timer != nullptr; }

private:
  void prepare(const Case &test);
  json compare(Case &test, bool &passed);
  std::optional<double> medianMicroseconds();
  bool launch() { return tenon_launch(kernel, &arguments) == TENON_OK; }

  const Options &options;
  tenon_device *device;
  std::unique_ptr<EventTimer> timer;
  std::unique_ptr<Memory> flush;

  tenon_kernel *kernel = nullptr;
  std::vector<tenon_operand> contract;
  std::vector<std::vector<int64_t>> sizes;
  std::vector<uint64_t> bytes;
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<tenon_tensor> operands;
  tenon_launch_arguments arguments = {};
};

} // namespace

void Runner::prepare(const Case &test) {
  memory.clear();
  operands.clear();
  bytes.clear();
  check(
      tenon_kernel_get(device, test.op.c_str(), test.statics.c_str(), &kernel));
  uint32_t count = tenon_kernel_operand_count(kernel);
  contract.assign(count, {});
  sizes.assign(count, {});
  for (uint32_t i = 0; i < count; ++i) {
    tenon_operand &operand = contract[i];
    check(tenon_kernel_operand(kernel, i, &operand));
    for (uint32_t dim = 0; dim < operand.rank; ++dim) {
      int64_t size = operand.sizes[dim];
      if (size < 0) {
        auto found = test.sizes.find(operand.symbols[dim]);
        if (found == test.sizes.end()) {
          throw Failure(std::string("no size '") + operand.symbols[dim] +
                        "' of operand '" + operand.name + "'");
        }
        size = found->second;
      }
      sizes[i].push_back(size);
    }
    uint64_t size = 0;
    check(
        tenon_kernel_operand_bytes(kernel, i, sizes[i].data(), nullptr, &size));
    std::vector<uint8_t> data(size);
    auto integers = test.integers.find(operand.name);
    if (integers != test.integers.end()) {
      if (!fillIntegers(operand.dtype, integers->second, data)) {
        throw Failure(std::string("operand '") + operand.name + "' has " +
                      std::to_string(size) + " bytes, not " +
                      std::to_string(integers->second.size()) + " integers");
      }
    } else if (operand.access == TENON_WRITE) {
      std::fill(data.begin(), data.end(), uint8_t(0xff)); // NaN
    } else {
      fillRandom(operand.dtype, test.seed * 1000 + i, data);
    }
    memory.push_back(std::make_unique<Memory>(device, size));
    check(tenon_device_copy(device, memory.back()->address, data.data(), size,
                            nullptr));
    bytes.push_back(size);
    operands.push_back({memory.back()->address, operand.dtype, operand.rank,
                        sizes[i].data(), nullptr, operand.layout});
  }
  arguments = {};
  arguments.struct_bytes = sizeof(arguments);
  arguments.operands = operands.data();
  arguments.operand_count = count;
  arguments.scalars = test.scalars.data();
  arguments.scalar_count = uint32_t(test.scalars.size());
  tenon_workspace needed = {};
  check(tenon_kernel_workspace(kernel, &arguments, &needed));
  memory.push_back(std::make_unique<Memory>(device, needed.bytes));
  arguments.workspace = memory.back()->address;
  arguments.workspace_bytes = needed.bytes;
  memory.push_back(std::make_unique<Memory>(device, needed.zeroed_bytes));
  arguments.zeroed_workspace = memory.back()->address;
  arguments.zeroed_workspace_bytes = needed.zeroed_bytes;
  if (needed.zeroed_bytes) {
    check(tenon_device_zero(device, arguments.zeroed_workspace,
                            needed.zeroed_bytes, nullptr));
  }
}

json Runner::compare(Case &test, bool &passed) {
  json found = json::object();
  for (uint32_t i = 0; i < contract.size(); ++i) {
    const tenon_operand &operand = contract[i];
    if (!(operand.access & TENON_WRITE)) {
      continue;
    }
    std::vector<uint8_t> data(bytes[i]);
    check(tenon_device_copy(device, data.data(), operands[i].data, bytes[i],
                            nullptr));
    Digest digest = digestOf(operand.dtype, data);
    auto tolerance = test.tolerances.find(operand.name);
    if (tolerance == test.tolerances.end()) {
      throw Failure(std::string("no tolerance of operand '") + operand.name +
                    "'");
    }
    if (!options.record.empty()) {
      test.expected[operand.name] = std::move(digest);
      continue;
    }
    auto expected = test.expected.find(operand.name);
    if (expected == test.expected.end()) {
      throw Failure(std::string("nothing is expected of operand '") +
                    operand.name + "': this file was not recorded");
    }
    bool isEqual = digest.hash == expected->second.hash;
    double error = relativeError(digest, expected->second);
    bool isGood =
        isEqual || (error <= tolerance->second && tolerance->second > 0);
    passed &= isGood;
    // Infinity is no number in JSON.
    found[operand.name] = {
        {"passed", isGood},
        {"equal_bytes", isEqual},
        {"relative_error", std::isfinite(error) ? json(error) : json(nullptr)},
        {"tolerance", tolerance->second}};
  }
  return found;
}

std::optional<double> Runner::medianMicroseconds() {
  if (!flush) {
    flush = std::make_unique<Memory>(device, options.flushBytes);
  }
  std::vector<double> times;
  for (unsigned i = 0; i < options.launches; ++i) {
    if (options.flushBytes) {
      check(tenon_device_zero(device, flush->address, options.flushBytes,
                              nullptr));
    }
    std::optional<double> time = timer->time([this] { return launch(); });
    if (!time) {
      return std::nullopt;
    }
    times.push_back(*time);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

json Runner::run(Case &test) {
  json result = {{"name", test.name},
                 {"op", test.op},
                 {"statics", test.statics},
                 {"sizes", test.sizes}};
  bool passed = true;
  try {
    prepare(test);
    check(tenon_launch(kernel, &arguments));
    check(tenon_device_synchronize(device, nullptr));
    result["operands"] = compare(test, passed);
    if (timer && options.launches) {
      std::optional<double> measured = medianMicroseconds();
      if (!measured) {
        throw Failure("the launches could not be timed");
      }
      if (!options.record.empty()) {
        test.modelledMicroseconds = measured;
      }
      result["measured_us"] = *measured;
      if (test.modelledMicroseconds) {
        result["modelled_us"] = *test.modelledMicroseconds;
        result["measured_to_modelled"] = *measured / *test.modelledMicroseconds;
      }
    }
  } catch (const Failure &failure) {
    result["error"] = failure.what();
    passed = false;
  }
  result["passed"] = passed;
  return result;
}

/// One line about a case.
static void print(const json &result) {
  std::string line = result["passed"] ? "ok      " : "FAILED  ";
  line += result["name"].get<std::string>();
  const json operands = result.value("operands", json::object());
  for (const auto &[operand, found] : operands.items()) {
    char text[96];
    std::snprintf(text, sizeof(text), "  %s %s%.1e", operand.c_str(),
                  found["equal_bytes"] ? "equal " : "",
                  found["relative_error"].is_null()
                      ? INFINITY
                      : found["relative_error"].get<double>());
    line += text;
  }
  if (result.contains("measured_us")) {
    char text[96];
    std::snprintf(text, sizeof(text), "  %.1f us",
                  result["measured_us"].get<double>());
    line += text;
  }
  if (result.contains("measured_to_modelled")) {
    char text[96];
    std::snprintf(text, sizeof(text), " = %.2f of the modelled",
                  result["measured_to_modelled"].get<double>());
    line += text;
  }
  if (result.contains("error")) {
    line += "\n        " + result["error"].get<std::string>();
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

static int runAll(const Options &options) {
  std::ifstream stream(options.folder + "/cases.json");
  if (!stream) {
    std::fprintf(stderr, "tenon-selftest: error: there is no %s/cases.json\n",
                 options.folder.c_str());
    return 2;
  }
  json file = json::parse(stream);
  std::vector<Case> cases = readCases(file);

  tenon_runtime_options runtimeOptions = {};
  runtimeOptions.struct_bytes = sizeof(runtimeOptions);
  runtimeOptions.jit = TENON_JIT_FORBID;
  runtimeOptions.cache_folder = "";
  tenon_runtime *runtime = nullptr;
  tenon_device *device = nullptr;
  std::string bundle = options.folder + "/kernels.tenon";
  if (tenon_runtime_create(&runtimeOptions, &runtime) != TENON_OK ||
      tenon_bundle_load(runtime, bundle.c_str(), nullptr) != TENON_OK ||
      tenon_device_open(runtime, options.device.c_str(), &device) != TENON_OK ||
      tenon_preload(device, nullptr) != TENON_OK) {
    std::fprintf(stderr, "tenon-selftest: error: %s\n", tenon_last_error());
    tenon_runtime_destroy(runtime);
    return 2;
  }
  json results = json::array();
  unsigned failed = 0;
  {
    Runner runner(options, device);
    for (Case &test : cases) {
      if (test.name.find(options.filter) == std::string::npos) {
        continue;
      }
      results.push_back(runner.run(test));
      print(results.back());
      failed += !results.back()["passed"].get<bool>();
    }
  }
  json all = {{"tenon", tenon_version()},
              {"device", tenon_device_name(device)},
              {"target", tenon_device_target(device)},
              {"passed", results.size() - failed},
              {"failed", failed},
              {"cases", std::move(results)}};
  std::printf("%zu passed, %u failed\n", all["cases"].size() - failed, failed);
  bool isWritten = true;
  auto write = [&](const std::string &path, const json &content) {
    std::ofstream output(path);
    output << content.dump(1) << "\n";
    output.close();
    if (!output) {
      std::fprintf(stderr, "tenon-selftest: error: cannot write %s\n",
                   path.c_str());
      isWritten = false;
    }
  };
  if (!options.result.empty()) {
    write(options.result, all);
  }
  if (!options.record.empty()) {
    write(options.record, withExpectations(std::move(file), cases));
  }
  tenon_runtime_destroy(runtime);
  return !isWritten ? 2 : failed ? 1 : 0;
}

/// The cases beside the program: in an archive, ../data.
static std::string defaultFolder() {
  std::vector<char> path(4096);
  ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  std::string program(path.data(), size_t(std::max<ssize_t>(length, 0)));
  return program.substr(0, program.rfind('/')) + "/../data";
}

int main(int argc, char **argv) {
  Options options;
  options.folder = defaultFolder();
  CLI::App app("Runs every kernel of the self-test on a device, compares the "
               "results with those of the simulator, and the times with the "
               "modelled ones. Exit codes: 0 all passed, 1 a case failed, 2 "
               "nothing could be run",
               "tenon-selftest");
  app.add_option("--device", options.device, "hip, hip:INDEX or sim")
      ->capture_default_str();
  app.add_option("-o,--output", options.result, "Write the results as JSON");
  app.add_option("--data", options.folder,
                 "The folder of cases.json and kernels.tenon");
  app.add_option("--filter", options.filter,
                 "Only cases whose names contain this");
  app.add_option("--launches", options.launches,
                 "Launches of a case that are timed, on hip; 0: none")
      ->capture_default_str();
  app.add_option("--flush-bytes", options.flushBytes,
                 "Bytes that are filled between them, so that nothing is left "
                 "in the caches; 0: none")
      ->capture_default_str();
  app.add_option("--record", options.record,
                 "Write cases.json with the results as what is expected; on "
                 "the stand-in of HIP also with the times");
  CLI11_PARSE(app, argc, argv);
  try {
    return runAll(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "tenon-selftest: error: %s: %s\n",
                 (options.folder + "/cases.json").c_str(), error.what());
    return 2;
  }
}
