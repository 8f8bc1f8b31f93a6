//===- HipStandInTest.cpp - HIP on the simulator ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launcher does, through the functions that it finds by name.
//
//===----------------------------------------------------------------------===//

#include "HipLibrary.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

using tenon::hip;
using tenon::hipLibrary;

namespace {

constexpr size_t count = 128;
constexpr size_t bytes = count * sizeof(float);

/// out = f * in, of 128 numbers.
constexpr const char *program = R"(
tile.kernel @scale(%f: f32, %in: !tile.ptr<f32>, %out: !tile.ptr<f32>)
    attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %bytes = arith.constant 512 : i32
  %from = tile.view %in strides [128, 1] bytes %bytes
      : !tile.ptr<f32> -> !tile.view<2 x f32>
  %to = tile.view %out strides [128, 1] bytes %bytes
      : !tile.ptr<f32> -> !tile.view<2 x f32>
  %x = tile.load %from[%c0, %c0] : !tile.view<2 x f32> -> tensor<1x128xf32>
  %factor = tile.splat %f : f32 -> tensor<1x128xf32>
  %y = arith.mulf %x, %factor : tensor<1x128xf32>
  tile.store %y, %to[%c0, %c0] : tensor<1x128xf32>, !tile.view<2 x f32>
  tile.return
}
)";

/// The code object of the program, for a chip.
const std::string &codeObject(const std::string &chip) {
  static std::map<std::string, std::string> made;
  std::string &found = made[chip];
  if (found.empty()) {
    char folder[] = "/tmp/tenon-standin-XXXXXX";
    EXPECT_TRUE(mkdtemp(folder));
    std::string base = std::string(folder) + "/scale";
    std::ofstream(base + ".mlir") << program;
    std::string command = std::string(TENON_TOOL) + " compile " + base +
                          ".mlir --target " + chip + " -o " + base + ".co";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream stream(base + ".co", std::ios::binary);
    found.assign(std::istreambuf_iterator<char>(stream), {});
    std::filesystem::remove_all(folder);
  }
  return found;
}

/// The kernel, loaded.
struct Loaded {
  void *module = nullptr, *function = nullptr;
  Loaded() {
    EXPECT_EQ(hip("hipModuleLoadData", &module,
                  (const void *)codeObject("gfx950").data()),
              0);
    EXPECT_EQ(hip("hipModuleGetFunction", &function, module, "scale"), 0);
  }
  ~Loaded() { EXPECT_EQ(hip("hipModuleUnload", module), 0); }

  /// A launch with the address of every argument.
  int launch(float factor, void *in, void *out, void *stream) const {
    void *arguments[] = {&factor, &in, &out};
    return hip("hipModuleLaunchKernel", function, 1u, 1u, 1u, 64u, 1u, 1u, 0u,
               stream, (void **)arguments, (void **)nullptr);
  }
};

struct Buffer {
  void *address = nullptr;
  Buffer() { EXPECT_EQ(hip("hipMalloc", &address, bytes), 0); }
  ~Buffer() { EXPECT_EQ(hip("hipFree", address), 0); }
  void set(float first) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) {
      values[i] = first + float(i);
    }
    EXPECT_EQ(hip("hipMemcpy", address, (const void *)values.data(), bytes, 4),
              0);
  }
  /// Whether element i is factor * (first + i).
  bool holds(float factor, float first) const {
    std::vector<float> values(count);
    EXPECT_EQ(hip("hipMemcpy", (void *)values.data(), (const void *)address,
                  bytes, 2),
              0);
    for (size_t i = 0; i < count; ++i) {
      if (values[i] != factor * (first + float(i))) {
        return false;
      }
    }
    return true;
  }
};

void *newStream() {
  void *stream = nullptr;
  EXPECT_EQ(hip("hipStreamCreateWithFlags", &stream, 1u), 0);
  return stream;
}

void *newEvent() {
  void *event = nullptr;
  EXPECT_EQ(hip("hipEventCreate", &event), 0);
  return event;
}

} // namespace

// Arguments come one by one, or as the whole segment; both compute the same.
TEST(HipStandIn, LaunchesTakeArgumentsInBothForms) {
  Loaded kernel;
  Buffer in, out;
  in.set(1);
  EXPECT_EQ(kernel.launch(2, in.address, out.address, nullptr), 0);
  EXPECT_TRUE(out.holds(2, 1));
  struct {
    float factor;
    void *in, *out;
  } segment = {3, in.address, out.address};
  size_t size = sizeof(segment);
  void *extra[] = {(void *)2, &size, (void *)1, &segment, (void *)3};
  EXPECT_EQ(hip("hipModuleLaunchKernel", kernel.function, 1u, 1u, 1u, 64u, 1u,
                1u, 0u, (void *)nullptr, (void **)nullptr, (void **)extra),
            0);
  EXPECT_TRUE(out.holds(3, 1));
  // Sizes in work-items.
  segment.factor = 4;
  EXPECT_EQ(hip("hipExtModuleLaunchKernel", kernel.function, 64u, 1u, 1u, 64u,
                1u, 1u, size_t(0), (void *)nullptr, (void **)nullptr,
                (void **)extra, (void *)nullptr, (void *)nullptr, 0u),
            0);
  EXPECT_TRUE(out.holds(4, 1));
}

// What the simulator finds in a kernel is an error of its launch: here a read
// of memory that was not written, and one outside of every allocation.
TEST(HipStandIn, FaultsOfKernelsAreErrors) {
  Loaded kernel;
  Buffer in, out;
  EXPECT_EQ(kernel.launch(2, in.address, out.address, nullptr), 719);
  in.set(1);
  EXPECT_EQ(kernel.launch(2, in.address, out.address, nullptr), 0);
  EXPECT_EQ(kernel.launch(2, (char *)in.address + bytes, out.address, nullptr),
            719);
  EXPECT_EQ(hip("hipGetLastError"), 719);
  EXPECT_EQ(hip("hipGetLastError"), 0);
  EXPECT_EQ(hip("hipModuleLaunchKernel", kernel.function, 1u, 1u, 1u, 2048u, 1u,
                1u, 0u, (void *)nullptr, (void **)nullptr, (void **)nullptr),
            9);
  EXPECT_EQ(hip("hipModuleLaunchKernel", (void *)&in, 1u, 1u, 1u, 64u, 1u, 1u,
                0u, (void *)nullptr, (void **)nullptr, (void **)nullptr),
            400);
}

// Code for another chip, and what is no code, are refused; a bundle of clang
// gives the code for this chip.
TEST(HipStandIn, ImagesAreChecked) {
  void *module = nullptr;
  auto load = [&](const std::string &image) {
    return hip("hipModuleLoadData", &module, (const void *)image.data());
  };
  EXPECT_EQ(load(codeObject("gfx942")), 209);
  EXPECT_EQ(load(std::string(100, 'x')), 200);
  EXPECT_EQ(hip("hipModuleLoad", &module, "/none.co"), 301);
  std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
  auto number = [&](uint64_t value) {
    bundle.append(reinterpret_cast<char *>(&value), sizeof(value));
  };
  std::string chips[] = {"gfx942", "gfx950"};
  number(2);
  uint64_t offset = 4096;
  for (const std::string &chip : chips) {
    std::string id = "hipv4-amdgcn-amd-amdhsa--" + chip + ":sramecc+";
    number(offset);
    number(codeObject(chip).size());
    number(id.size());
    bundle += id;
    offset += codeObject(chip).size();
  }
  bundle.resize(4096);
  EXPECT_NE(load(bundle + codeObject("gfx942")), 0);
  bundle += codeObject("gfx942") + codeObject("gfx950");
  ASSERT_EQ(load(bundle), 0);
  void *function = nullptr;
  EXPECT_EQ(hip("hipModuleGetFunction", &function, module, "scale"), 0);
  EXPECT_EQ(hip("hipModuleGetFunction", &function, module, "none"), 500);
  EXPECT_EQ(hip("hipModuleUnload", module), 0);
  EXPECT_EQ(hip("hipModuleUnload", module), 400);
}

// Memory: fills, copies with offsets, sizes, and what does not fit.
TEST(HipStandIn, MemoryIsChecked) {
  Buffer memory, other;
  std::vector<float> host(count);
  EXPECT_EQ(hip("hipMemsetD32", memory.address, 0x3f800000, count), 0);
  char *middle = (char *)memory.address + 64;
  EXPECT_EQ(hip("hipMemset", (void *)middle, 0, size_t(8)), 0);
  EXPECT_EQ(hip("hipMemcpyDtoD", other.address, memory.address, bytes), 0);
  EXPECT_EQ(hip("hipMemcpyDtoH", (void *)host.data(), other.address, bytes), 0);
  EXPECT_EQ(host[15], 1.0f);
  EXPECT_EQ(host[16], 0.0f);
  EXPECT_EQ(host[17], 0.0f);
  EXPECT_EQ(host[18], 1.0f);
  EXPECT_EQ(hip("hipMemcpyDtoH", (void *)host.data(), (void *)middle, bytes),
            1);
  EXPECT_EQ(hip("hipMemset", memory.address, 0, bytes + 1), 1);
  EXPECT_EQ(hip("hipFree", (void *)middle), 1);
  void *base = nullptr;
  size_t size = 0, left = 0, total = 0;
  EXPECT_EQ(hip("hipMemGetAddressRange", &base, &size, (void *)middle), 0);
  EXPECT_EQ(base, memory.address);
  EXPECT_EQ(size, bytes);
  EXPECT_EQ(hip("hipMemGetInfo", &left, &total), 0);
  EXPECT_EQ(total - left, 2 * bytes);
  EXPECT_EQ(hip("hipMalloc", &base, total), 2);
}

// A kernel finds memory of the host under the address that HIP gives for it.
TEST(HipStandIn, KernelsReachPinnedMemory) {
  Loaded kernel;
  Buffer out;
  void *host = nullptr, *device = nullptr;
  ASSERT_EQ(hip("hipHostMalloc", &host, bytes, 0u), 0);
  for (size_t i = 0; i < count; ++i) {
    static_cast<float *>(host)[i] = 5 + float(i);
  }
  ASSERT_EQ(hip("hipHostGetDevicePointer", &device, host, 0u), 0);
  EXPECT_EQ(kernel.launch(2, device, out.address, nullptr), 0);
  EXPECT_TRUE(out.holds(2, 5));
  EXPECT_EQ(hip("hipHostFree", host), 0);
  EXPECT_EQ(hip("hipHostFree", host), 1);
}

// Events have simulated time: a launch takes some, two take twice as much, and
// a stream that waits for another begins behind it.
TEST(HipStandIn, EventsHaveSimulatedTime) {
  Loaded kernel;
  Buffer in, out;
  in.set(0);
  void *stream = newStream(), *other = newStream();
  void *events[4];
  for (void *&event : events) {
    event = newEvent();
  }
  auto elapsed = [](void *from, void *to) {
    float milliseconds = -1;
    EXPECT_EQ(hip("hipEventElapsedTime", &milliseconds, from, to), 0);
    return milliseconds;
  };
  float none = 0;
  EXPECT_EQ(hip("hipEventElapsedTime", &none, events[0], events[1]), 400);
  EXPECT_EQ(hip("hipEventRecord", events[0], stream), 0);
  EXPECT_EQ(kernel.launch(2, in.address, out.address, stream), 0);
  EXPECT_EQ(hip("hipEventRecord", events[1], stream), 0);
  EXPECT_EQ(kernel.launch(2, in.address, out.address, stream), 0);
  EXPECT_EQ(kernel.launch(2, in.address, out.address, stream), 0);
  EXPECT_EQ(hip("hipEventRecord", events[2], stream), 0);
  float one = elapsed(events[0], events[1]),
        two = elapsed(events[1], events[2]);
  EXPECT_GT(one, 0.001f);
  EXPECT_LT(one, 0.1f);
  EXPECT_NEAR(two, 2 * one, 0.01f * one);
  EXPECT_EQ(hip("hipEventRecord", events[3], other), 0);
  EXPECT_LT(elapsed(events[2], events[3]), 0.0f);
  EXPECT_EQ(hip("hipStreamWaitEvent", other, events[2], 0u), 0);
  EXPECT_EQ(hip("hipEventRecord", events[3], other), 0);
  EXPECT_EQ(elapsed(events[2], events[3]), 0.0f);
  for (void *event : events) {
    EXPECT_EQ(hip("hipEventDestroy", event), 0);
  }
  EXPECT_EQ(hip("hipStreamDestroy", stream), 0);
  EXPECT_EQ(hip("hipStreamDestroy", other), 0);
}

// A graph over two streams that fork and join is replayed in order, with the
// arguments of the capture and the data of the replay; branches overlap.
TEST(HipStandIn, GraphsForkAndJoin) {
  Loaded kernel;
  Buffer in, left, right, out;
  void *main = newStream(), *side = newStream();
  void *fork = newEvent(), *join = newEvent(), *start = newEvent(),
       *stop = newEvent();
  ASSERT_EQ(hip("hipStreamBeginCapture", main, 0), 0);
  EXPECT_EQ(hip("hipEventRecord", fork, main), 0);
  EXPECT_EQ(hip("hipStreamWaitEvent", side, fork, 0u), 0);
  EXPECT_EQ(kernel.launch(2, in.address, left.address, main), 0);
  EXPECT_EQ(kernel.launch(3, in.address, right.address, side), 0);
  int status = 0;
  EXPECT_EQ(hip("hipStreamIsCapturing", side, &status), 0);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(hip("hipEventRecord", join, side), 0);
  EXPECT_EQ(hip("hipStreamWaitEvent", main, join, 0u), 0);
  EXPECT_EQ(kernel.launch(5, right.address, out.address, main), 0);
  EXPECT_EQ(hip("hipEventQuery", join), 907);
  void *graph = nullptr;
  EXPECT_EQ(hip("hipStreamEndCapture", main, &graph), 901);

  // Once more, without the query that invalidates a capture.
  ASSERT_EQ(hip("hipStreamBeginCapture", main, 0), 0);
  EXPECT_EQ(hip("hipEventRecord", fork, main), 0);
  EXPECT_EQ(hip("hipStreamWaitEvent", side, fork, 0u), 0);
  EXPECT_EQ(kernel.launch(2, in.address, left.address, main), 0);
  EXPECT_EQ(kernel.launch(3, in.address, right.address, side), 0);
  EXPECT_EQ(hip("hipEventRecord", join, side), 0);
  EXPECT_EQ(hip("hipStreamWaitEvent", main, join, 0u), 0);
  EXPECT_EQ(kernel.launch(5, right.address, out.address, main), 0);
  ASSERT_EQ(hip("hipStreamEndCapture", main, &graph), 0);
  size_t nodes = 0;
  EXPECT_EQ(hip("hipGraphGetNodes", graph, (void **)nullptr, &nodes), 0);
  EXPECT_EQ(nodes, 3u);
  void *executable = nullptr;
  ASSERT_EQ(hip("hipGraphInstantiateWithFlags", &executable, graph, 0ull), 0);
  EXPECT_EQ(hip("hipGraphDestroy", graph), 0);
  for (float first : {1.0f, 50.0f}) {
    in.set(first);
    EXPECT_EQ(hip("hipEventRecord", start, main), 0);
    EXPECT_EQ(hip("hipGraphLaunch", executable, main), 0);
    EXPECT_EQ(hip("hipEventRecord", stop, main), 0);
    EXPECT_TRUE(left.holds(2, first));
    EXPECT_TRUE(out.holds(15, first));
  }
  float graphTime = 0, oneTime = 0;
  EXPECT_EQ(hip("hipEventElapsedTime", &graphTime, start, stop), 0);
  EXPECT_EQ(hip("hipEventRecord", start, main), 0);
  EXPECT_EQ(kernel.launch(2, in.address, out.address, main), 0);
  EXPECT_EQ(hip("hipEventRecord", stop, main), 0);
  EXPECT_EQ(hip("hipEventElapsedTime", &oneTime, start, stop), 0);
  EXPECT_NEAR(graphTime, 2 * oneTime, 0.02f * oneTime);
  EXPECT_EQ(hip("hipGraphExecDestroy", executable), 0);
  for (void *event : {fork, join, start, stop}) {
    EXPECT_EQ(hip("hipEventDestroy", event), 0);
  }
  EXPECT_EQ(hip("hipStreamDestroy", main), 0);
  EXPECT_EQ(hip("hipStreamDestroy", side), 0);
}

// While a stream is captured, modules cannot be loaded and memory cannot be
// had; the default stream and waiting are errors too. The capture is lost.
TEST(HipStandIn, CapturesForbidWhatRocmForbids) {
  Loaded kernel;
  Buffer in, out;
  in.set(0);
  void *stream = newStream(), *side = newStream(), *graph = nullptr;
  auto refused = [&](int expected, auto body, int mode = 0) {
    ASSERT_EQ(hip("hipStreamBeginCapture", stream, mode), 0);
    EXPECT_EQ(kernel.launch(2, in.address, out.address, stream), 0);
    EXPECT_EQ(body(), expected);
    EXPECT_EQ(hip("hipStreamEndCapture", stream, &graph), expected ? 901 : 0);
    if (graph) {
      EXPECT_EQ(hip("hipGraphDestroy", graph), 0);
    }
  };
  void *made = nullptr;
  auto load = [&] {
    return hip("hipModuleLoadData", &made,
               (const void *)codeObject("gfx950").data());
  };
  auto allocate = [&] { return hip("hipMalloc", &made, bytes); };
  refused(900, load);
  refused(900, allocate);
  refused(900, [&] { return hip("hipStreamSynchronize", stream); });
  refused(900, [&] { return hip("hipDeviceSynchronize"); });
  refused(906,
          [&] { return kernel.launch(2, in.address, out.address, nullptr); });
  refused(906, [&] {
    return hip("hipMemcpy", out.address, (const void *)in.address, bytes, 3);
  });
  // Another thread is free to allocate unless the capture is global.
  auto elsewhere = [&] {
    int error = -1;
    std::thread([&] { error = allocate(); }).join();
    return error;
  };
  refused(900, elsewhere, /*global*/ 0);
  refused(0, elsewhere, /*thread-local*/ 1);
  EXPECT_EQ(hip("hipFree", made), 0);
  refused(0, allocate, /*relaxed*/ 2);
  EXPECT_EQ(hip("hipFree", made), 0);
  // Work of another stream that nobody waited for.
  void *event = newEvent();
  ASSERT_EQ(hip("hipStreamBeginCapture", stream, 0), 0);
  EXPECT_EQ(hip("hipEventRecord", event, stream), 0);
  EXPECT_EQ(hip("hipStreamWaitEvent", side, event, 0u), 0);
  EXPECT_EQ(kernel.launch(2, in.address, out.address, side), 0);
  EXPECT_EQ(hip("hipStreamEndCapture", side, &graph), 903);
  EXPECT_EQ(hip("hipStreamEndCapture", stream, &graph), 901);
  ASSERT_EQ(hip("hipStreamBeginCapture", stream, 0), 0);
  EXPECT_EQ(hip("hipEventRecord", event, stream), 0);
  EXPECT_EQ(hip("hipStreamWaitEvent", side, event, 0u), 0);
  EXPECT_EQ(kernel.launch(2, in.address, out.address, side), 0);
  EXPECT_EQ(hip("hipStreamEndCapture", stream, &graph), 904);
  EXPECT_EQ(hip("hipEventDestroy", event), 0);
  EXPECT_EQ(hip("hipStreamDestroy", stream), 0);
  EXPECT_EQ(hip("hipStreamDestroy", side), 0);
}

// Properties are at the places where programs of each version look for them.
TEST(HipStandIn, PropertiesInBothLayouts) {
  std::vector<char> old(4096), current(4096);
  ASSERT_EQ(hip("hipGetDeviceProperties", (void *)old.data(), 0), 0);
  ASSERT_EQ(hip("hipGetDevicePropertiesR0600", (void *)current.data(), 0), 0);
  EXPECT_STREQ(old.data() + 396, "gfx950:sramecc+:xnack-");
  EXPECT_STREQ(current.data() + 1160, "gfx950:sramecc+:xnack-");
  auto integer = [](const std::vector<char> &from, size_t offset) {
    int value;
    std::memcpy(&value, from.data() + offset, sizeof(value));
    return value;
  };
  int computeUnits = 0;
  ASSERT_EQ(hip("hipDeviceGetAttribute", &computeUnits, 63, 0), 0);
  EXPECT_EQ(computeUnits, 256);
  EXPECT_EQ(integer(old, 336), computeUnits);
  EXPECT_EQ(integer(current, 388), computeUnits);
  EXPECT_EQ(hip("hipGetDevicePropertiesR0600", (void *)current.data(), 1), 101);
}

// Every function of libamdhip64 is there; one that does nothing says so once.
TEST(HipStandIn, OtherFunctionsSayThatTheyAreNotSupported) {
  std::ifstream names(TENON_HIP_FUNCTIONS);
  std::string name;
  unsigned found = 0;
  while (std::getline(names, name)) {
    if (!name.empty() && name[0] != '#') {
      EXPECT_TRUE(dlsym(hipLibrary(), name.c_str())) << name;
      ++found;
    }
  }
  EXPECT_GT(found, 500u);
  testing::internal::CaptureStderr();
  EXPECT_EQ(hip("hipMallocManaged"), 801);
  EXPECT_EQ(hip("hipMallocManaged"), 801);
  std::string said = testing::internal::GetCapturedStderr();
  size_t first = said.find("hipMallocManaged is not supported");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(said.find("hipMallocManaged", first + 1), std::string::npos);
  EXPECT_EQ(hip("hipGetLastError"), 801);
  void *function = nullptr;
  int status = -1;
  EXPECT_EQ(hip("hipGetProcAddress", "hipMalloc", &function, 700, uint64_t(0),
                &status),
            0);
  EXPECT_EQ(function, dlsym(hipLibrary(), "hipMalloc"));
  EXPECT_EQ(status, 0);
}
