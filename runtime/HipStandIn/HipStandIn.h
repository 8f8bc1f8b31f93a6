//===- HipStandIn.h - HIP on the simulator ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libtenon_hip.so has the functions of libamdhip64 that a program needs to
// launch code objects: one device, which is the simulator. Work is executed
// when it is enqueued, so that order within and between streams is as HIP has
// it; the time that it takes is simulated, and each stream has its own.
//
// Addresses of hipMalloc are those of the simulated device. The host must not
// follow them, and a kernel finds memory of the host only under the address of
// hipHostGetDevicePointer.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HIPSTANDIN_HIPSTANDIN_H
#define TENON_RUNTIME_HIPSTANDIN_HIPSTANDIN_H

#include "runtime/Devices/SimPluginLoader.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tenon::standin {

/// hipError_t.
using HipError = int;
inline constexpr HipError success = 0, invalidValue = 1, outOfMemory = 2,
                          invalidConfiguration = 9, noDevice = 100,
                          invalidDevice = 101, invalidImage = 200,
                          noBinaryForGpu = 209, fileNotFound = 301,
                          invalidHandle = 400, notFound = 500,
                          launchFailure = 719, notSupported = 801,
                          captureUnsupported = 900, captureInvalidated = 901,
                          captureMerge = 902, captureUnmatched = 903,
                          captureUnjoined = 904, captureIsolation = 905,
                          captureImplicit = 906, capturedEvent = 907,
                          captureWrongThread = 908;

/// Does something on the device, and says how many microseconds it takes there.
using Work = std::function<HipError(double &microseconds)>;

/// One node of a graph, behind the nodes that it follows.
struct Node {
  Work work;
  std::vector<size_t> after;
};

/// hipGraph_t, and hipGraphExec_t, which is a copy of one.
struct Graph {
  std::vector<Node> nodes;
};

enum class CaptureMode { Global = 0, ThreadLocal = 1, Relaxed = 2 };

struct Stream;

/// A graph in the making, from hipStreamBeginCapture to hipStreamEndCapture.
struct Capture {
  Graph graph;
  Stream *origin = nullptr;
  CaptureMode mode = CaptureMode::Global;
  std::thread::id thread;
  uint64_t id = 0;
  bool invalid = false;
};

/// hipStream_t.
struct Stream {
  unsigned flags = 0;
  int priority = 0;
  double clock = 0; ///< microseconds
  std::shared_ptr<Capture> capture;
  std::vector<size_t> tails; ///< the nodes that what comes next follows
};

/// hipEvent_t.
struct Event {
  unsigned flags = 0;
  bool isRecorded = false;
  double time = 0; ///< microseconds
  std::shared_ptr<Capture> capture;
  std::vector<size_t> tails;
};

inline constexpr unsigned streamNonBlocking = 1, eventDisableTiming = 2;

/// hipModule_t.
struct Module {
  void *module = nullptr; ///< of the plug-in
  std::set<void *> functions;
};

/// Objects that are handed out as opaque pointers.
template <typename T> class Handles {
public:
  void *add(std::unique_ptr<T> object) {
    void *handle = object.get();
    objects[handle] = std::move(object);
    return handle;
  }
  /// Null when there is no such object.
  T *find(void *handle) const {
    auto found = objects.find(handle);
    return found == objects.end() ? nullptr : found->second.get();
  }
  bool remove(void *handle) { return objects.erase(handle) != 0; }
  auto begin() const { return objects.begin(); }
  auto end() const { return objects.end(); }

private:
  std::map<void *, std::unique_ptr<T>> objects;
};

/// The device and everything that was made of it. It lives as long as the
/// process; its functions are called with the lock held.
class State {
public:
  /// The state, opened on the first call; null when the simulator cannot be
  /// opened, which is said once.
  static State *get();

  std::recursive_mutex lock;
  const TenonSimPlugin *plugin = nullptr;
  void *device = nullptr; ///< of the plug-in
  std::string chipName;   ///< "gfx950"
  TenonSimChip chip = {};

  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Module> modules;
  Handles<Graph> graphs, executables;
  std::set<std::shared_ptr<Capture>> captures;
  /// Memory of the host that the device knows, by its address on the host.
  struct Pinned {
    uint64_t bytes = 0;
    uint64_t device = 0;
    bool owned = false;
  };
  std::map<uintptr_t, Pinned> pinned;
  uint64_t allocatedBytes = 0;
  /// Launches are timed once an event could tell.
  bool isTimed = false;

  /// The stream of a handle: null and hipStreamLegacy are the default stream,
  /// hipStreamPerThread is one for each thread. Null for no stream.
  Stream *stream(void *handle);
  bool isLegacy(const Stream *stream) const { return stream == &legacy; }

  /// Has \p work done on a stream, or records it when the stream is captured.
  HipError enqueue(void *stream, Work work);

  /// The error of a call that may not be made while a stream is captured, such
  /// as hipMalloc: it invalidates the captures. Success when there is none.
  HipError refuseInCapture();
  /// The same for calls that wait for the device, or use the default stream.
  HipError refuseWhileCapturing(HipError error);

  /// The mode of this thread (hipThreadExchangeStreamCaptureMode).
  static CaptureMode &threadMode();

  /// Prints a message of the simulator and gives \p error.
  HipError failed(const char *function, const runtime::SimReport &report,
                  HipError error) const;

  /// The allocation that holds an address of the device; zeros when none does.
  std::pair<uint64_t, uint64_t> allocationOf(const void *address) const;

  /// Executes the nodes of a graph as one piece of work.
  HipError run(const Graph &graph, double &microseconds);

private:
  State() = default;
  HipError open();
  void waitsForOthers(Stream &stream);

  Stream legacy;
  double legacyEnd = 0; ///< when the work of the default stream ends
};

/// Remembers the error of a call for hipGetLastError.
HipError finish(HipError error);

/// Runs the body of a function of HIP that needs the device.
template <typename Body> HipError call(Body body) {
  State *state = State::get();
  if (!state) {
    return finish(noDevice);
  }
  std::lock_guard<std::recursive_mutex> guard(state->lock);
  return finish(body(*state));
}

/// Says once that a function does nothing.
HipError unsupported(const char *function);

} // namespace tenon::standin

/// All functions of HIP are C; the version script exports them by their names.
#define TENON_HIP extern "C" int

#endif // TENON_RUNTIME_HIPSTANDIN_HIPSTANDIN_H
