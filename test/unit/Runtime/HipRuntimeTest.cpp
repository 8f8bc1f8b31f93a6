//===- HipRuntimeTest.cpp - the runtime on HIP ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HIP is the stand-in on the simulator. What the same kernel computes on the
// device "sim", on arrays of this program, is expected bit for bit: test/sim
// holds that against the references.
//
//===----------------------------------------------------------------------===//

#include "HipLibrary.h"
#include "tenon-c/tenon.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

using tenon::hip;

namespace {

/// A cache folder for this program, gone at its end.
const std::string &cacheFolder() {
  struct Folder {
    std::string path;
    Folder() {
      char pattern[] = "/tmp/tenon-hip-XXXXXX";
      path = mkdtemp(pattern);
    }
    ~Folder() { std::filesystem::remove_all(path); }
  };
  static Folder made;
  return made.path;
}

/// A kernel on a device of a runtime of its own.
struct Session {
  tenon_runtime *runtime = nullptr;
  tenon_device *device = nullptr;
  tenon_kernel *kernel = nullptr;

  Session(const char *name, const char *op, const char *statics) {
    tenon_runtime_options options = {};
    options.struct_bytes = sizeof(options);
    options.jit = TENON_JIT_ALLOW;
    options.compiler = TENON_TOOL;
    options.cache_folder = cacheFolder().c_str();
    EXPECT_EQ(tenon_runtime_create(&options, &runtime), TENON_OK);
    EXPECT_EQ(tenon_device_open(runtime, name, &device), TENON_OK)
        << tenon_last_error();
    if (device) {
      EXPECT_EQ(tenon_kernel_get(device, op, statics, &kernel), TENON_OK)
          << tenon_last_error();
    }
  }
  ~Session() { tenon_runtime_destroy(runtime); }
};

/// Operands of a kernel as bytes of the host.
using Data = std::vector<std::vector<char>>;

/// The sizes that vary, by their symbols, and the integers by operand.
struct Request {
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::vector<int32_t>> integers;
  std::vector<int64_t> scalars;
};

unsigned elementBytes(tenon_dtype dtype) {
  switch (dtype) {
  case TENON_F32:
  case TENON_I32:
    return 4;
  case TENON_BF16:
    return 2;
  default:
    return 1;
  }
}

/// Random operands: reals around 0, integers as the request has them.
Data fill(tenon_kernel *kernel, const Request &request, unsigned seed,
          std::vector<std::vector<int64_t>> &sizes) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-0.5f, 0.5f);
  Data data;
  sizes.clear();
  for (uint32_t i = 0; i < tenon_kernel_operand_count(kernel); ++i) {
    tenon_operand operand;
    EXPECT_EQ(tenon_kernel_operand(kernel, i, &operand), TENON_OK);
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (uint32_t dim = 0; dim < operand.rank; ++dim) {
      int64_t size = operand.sizes[dim];
      if (size < 0) {
        std::string symbol = operand.symbols[dim];
        auto found = request.sizes.find(symbol);
        EXPECT_TRUE(found != request.sizes.end()) << symbol;
        size = found == request.sizes.end() ? 1 : found->second;
      }
      shape.push_back(size);
      count *= size;
    }
    unsigned width = elementBytes(operand.dtype);
    std::vector<char> bytes(count * width);
    auto integers = request.integers.find(operand.name);
    for (int64_t at = 0; at < count; ++at) {
      char *element = bytes.data() + at * width;
      if (integers != request.integers.end()) {
        std::memcpy(element, &integers->second[at], width);
      } else {
        // The upper half of an FP32 number is a bf16.
        float value = real(random);
        std::memcpy(element, reinterpret_cast<char *>(&value) + 4 - width,
                    width);
      }
    }
    sizes.push_back(std::move(shape));
    data.push_back(std::move(bytes));
  }
  return data;
}

/// A call of a kernel with operands in memory of its device.
class Call {
public:
  Call(Session &session, const Request &request, unsigned seed)
      : session(session), scalars(request.scalars) {
    Data data = fill(session.kernel, request, seed, sizes);
    for (uint32_t i = 0; i < data.size(); ++i) {
      tenon_operand operand;
      EXPECT_EQ(tenon_kernel_operand(session.kernel, i, &operand), TENON_OK);
      operands.push_back({allocate(data[i].size()), operand.dtype, operand.rank,
                          sizes[i].data(), nullptr, operand.layout});
      bytes.push_back(data[i].size());
    }
    write(data);
    arguments.struct_bytes = sizeof(arguments);
    arguments.operands = operands.data();
    arguments.operand_count = uint32_t(operands.size());
    arguments.scalars = scalars.data();
    arguments.scalar_count = uint32_t(scalars.size());
    tenon_workspace needed = {};
    EXPECT_EQ(tenon_kernel_workspace(session.kernel, &arguments, &needed),
              TENON_OK)
        << tenon_last_error();
    arguments.workspace = allocate(needed.bytes);
    arguments.workspace_bytes = needed.bytes;
    arguments.zeroed_workspace = allocate(needed.zeroed_bytes);
    arguments.zeroed_workspace_bytes = needed.zeroed_bytes;
    EXPECT_EQ(tenon_device_zero(session.device, arguments.zeroed_workspace,
                                needed.zeroed_bytes, nullptr),
              TENON_OK)
        << tenon_last_error();
  }
  ~Call() {
    for (void *address : allocated) {
      EXPECT_EQ(tenon_device_free(session.device, address), TENON_OK)
          << tenon_last_error();
    }
  }

  void write(const Data &data) {
    for (size_t i = 0; i < data.size(); ++i) {
      ASSERT_EQ(data[i].size(), bytes[i]);
      EXPECT_EQ(tenon_device_copy(session.device, operands[i].data,
                                  data[i].data(), bytes[i], nullptr),
                TENON_OK)
          << tenon_last_error();
    }
  }
  Data read() const {
    Data data;
    for (size_t i = 0; i < bytes.size(); ++i) {
      data.emplace_back(bytes[i]);
      EXPECT_EQ(tenon_device_copy(session.device, data[i].data(),
                                  operands[i].data, bytes[i], nullptr),
                TENON_OK)
          << tenon_last_error();
    }
    return data;
  }
  tenon_status launch(void *stream) {
    arguments.stream = stream;
    return tenon_launch(session.kernel, &arguments);
  }

private:
  void *allocate(uint64_t size) {
    void *address = nullptr;
    EXPECT_EQ(tenon_device_allocate(session.device, size, &address), TENON_OK)
        << tenon_last_error();
    allocated.push_back(address);
    return address;
  }

  Session &session;
  std::vector<int64_t> scalars;
  std::vector<std::vector<int64_t>> sizes;
  std::vector<tenon_tensor> operands;
  std::vector<uint64_t> bytes;
  std::vector<void *> allocated;
  tenon_launch_arguments arguments = {};
};

/// All operands after a launch on the device "sim".
Data expected(Session &simulated, const Request &request, unsigned seed) {
  Call call(simulated, request, seed);
  EXPECT_EQ(call.launch(nullptr), TENON_OK) << tenon_last_error();
  return call.read();
}

void expectEqual(tenon_kernel *kernel, const Data &found,
                 const Data &expected) {
  for (uint32_t i = 0; i < found.size(); ++i) {
    tenon_operand operand;
    EXPECT_EQ(tenon_kernel_operand(kernel, i, &operand), TENON_OK);
    EXPECT_TRUE(found[i] == expected[i]) << operand.name;
  }
}

/// Captures a launch with the first request and replays it with all of them,
/// whose data take the place of the first one's.
void checkReplay(const char *op, const char *statics,
                 const std::vector<Request> &requests) {
  Session device("hip", op, statics), simulated("sim", op, statics);
  ASSERT_TRUE(device.kernel && simulated.kernel);
  Call call(device, requests.front(), 1);
  void *stream = nullptr, *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(hip("hipStreamCreateWithFlags", &stream, 1u), 0);

  // Nothing can be loaded in a capture, and the capture goes on.
  ASSERT_EQ(hip("hipStreamBeginCapture", stream, 0), 0);
  EXPECT_EQ(call.launch(stream), TENON_NOT_LOADED);
  EXPECT_NE(std::string(tenon_last_error()).find("tenon_preload"),
            std::string::npos)
      << tenon_last_error();
  ASSERT_EQ(hip("hipStreamEndCapture", stream, &graph), 0);
  EXPECT_EQ(hip("hipGraphDestroy", graph), 0);

  uint64_t modules = 0;
  ASSERT_EQ(tenon_preload(device.device, &modules), TENON_OK)
      << tenon_last_error();
  EXPECT_GE(modules, 1u);
  Data before = call.read();
  ASSERT_EQ(hip("hipStreamBeginCapture", stream, 0), 0);
  ASSERT_EQ(call.launch(stream), TENON_OK) << tenon_last_error();
  ASSERT_EQ(hip("hipStreamEndCapture", stream, &graph), 0);
  expectEqual(device.kernel, call.read(), before); // only recorded
  ASSERT_EQ(hip("hipGraphInstantiate", &executable, graph, (void **)nullptr,
                (char *)nullptr, size_t(0)),
            0);
  EXPECT_EQ(hip("hipGraphDestroy", graph), 0);

  Data last;
  for (unsigned i = 0; i < requests.size(); ++i) {
    std::vector<std::vector<int64_t>> sizes;
    call.write(fill(device.kernel, requests[i], i + 1, sizes));
    ASSERT_EQ(hip("hipGraphLaunch", executable, stream), 0);
    ASSERT_EQ(tenon_device_synchronize(device.device, stream), TENON_OK);
    Data found = call.read();
    expectEqual(device.kernel, found, expected(simulated, requests[i], i + 1));
    EXPECT_NE(found, last);
    last = std::move(found);
  }
  EXPECT_EQ(hip("hipGraphExecDestroy", executable), 0);
  EXPECT_EQ(hip("hipStreamDestroy", stream), 0);
}

} // namespace

// A captured decode step, replayed with other values and other slots.
TEST(HipRuntime, ReplayOfKdaDecode) {
  Request first;
  first.sizes = {{"N", 3}, {"S", 6}, {"L", 3}};
  first.integers["slot"] = {1, 2, 3};
  Request second = first, third = first;
  second.integers["slot"] = {5, 0, 1};
  third.integers["slot"] = {4, 3, 2};
  checkReplay("kda_decode", "H=2", {first, second, third});
}

// A captured prefill, replayed with other sequences of as many tokens.
TEST(HipRuntime, ReplayOfKdaPrefill) {
  Request first;
  first.sizes = {{"T", 140}, {"N", 2}, {"S", 4}, {"L", 3}, {"N+1", 3}};
  first.integers["cu_seqlens"] = {0, 100, 140};
  first.integers["slot"] = {1, 2};
  first.integers["has_initial_state"] = {1, 0};
  first.scalars = {128};
  Request second = first;
  second.integers["cu_seqlens"] = {0, 13, 140};
  second.integers["slot"] = {3, 1};
  second.integers["has_initial_state"] = {0, 1};
  checkReplay("kda_prefill", "H=2", {first, second});
}

// Launches outside of graphs, on the default stream and on another, take
// simulated time; the runtime sees which chip the device is.
TEST(HipRuntime, LaunchesOnStreams) {
  Session device("hip:0", "kda_decode", "H=2"),
      simulated("sim", "kda_decode", "H=2");
  ASSERT_TRUE(device.kernel && simulated.kernel);
  EXPECT_STREQ(tenon_device_name(device.device), "hip:0");
  EXPECT_STREQ(tenon_device_target(device.device), "gfx950");
  Request request;
  request.sizes = {{"N", 2}, {"S", 3}, {"L", 3}};
  request.integers["slot"] = {2, 1};
  void *stream = nullptr, *start = nullptr, *stop = nullptr;
  ASSERT_EQ(hip("hipStreamCreate", &stream), 0);
  ASSERT_EQ(hip("hipEventCreate", &start), 0);
  ASSERT_EQ(hip("hipEventCreate", &stop), 0);
  for (void *on : {(void *)nullptr, stream}) {
    Call call(device, request, 7);
    ASSERT_EQ(hip("hipEventRecord", start, on), 0);
    ASSERT_EQ(call.launch(on), TENON_OK) << tenon_last_error();
    ASSERT_EQ(hip("hipEventRecord", stop, on), 0);
    float milliseconds = 0;
    ASSERT_EQ(hip("hipEventElapsedTime", &milliseconds, start, stop), 0);
    EXPECT_GT(milliseconds, 0.001f);
    EXPECT_LT(milliseconds, 1.0f);
    expectEqual(device.kernel, call.read(), expected(simulated, request, 7));
  }
  tenon_device *other = nullptr;
  EXPECT_EQ(tenon_device_open(device.runtime, "hip:1", &other),
            TENON_DEVICE_ERROR);
  EXPECT_NE(std::string(tenon_last_error()).find("has 1 device"),
            std::string::npos)
      << tenon_last_error();
}

// Memory cannot be had, and the error is one of the call, while a graph is
// captured.
TEST(HipRuntime, AllocationInCapture) {
  Session device("hip", "kda_decode", "H=2");
  ASSERT_TRUE(device.kernel);
  void *stream = nullptr, *graph = nullptr, *address = nullptr;
  ASSERT_EQ(hip("hipStreamCreate", &stream), 0);
  ASSERT_EQ(hip("hipStreamBeginCapture", stream, 0), 0);
  EXPECT_EQ(tenon_device_allocate(device.device, 64, &address),
            TENON_DEVICE_ERROR);
  EXPECT_NE(std::string(tenon_last_error()).find("(900)"), std::string::npos)
      << tenon_last_error();
  EXPECT_EQ(hip("hipStreamEndCapture", stream, &graph), 901);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(tenon_device_allocate(device.device, 64, &address), TENON_OK);
  EXPECT_EQ(tenon_device_free(device.device, address), TENON_OK);
}
