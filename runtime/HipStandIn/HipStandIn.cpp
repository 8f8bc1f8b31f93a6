//===- HipStandIn.cpp - the device behind the functions of HIP --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HipStandIn.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tenon::standin {

State *State::get() {
  // Never destroyed: programs call HIP from destructors of their own.
  static State *state = [] {
    auto *opened = new State();
    return opened->open() == success ? opened : nullptr;
  }();
  return state;
}

HipError State::open() {
  runtime::Result<const TenonSimPlugin *> loaded = runtime::loadSimPlugin();
  if (!loaded) {
    std::fprintf(stderr, "libtenon_hip: %s\n", loaded.error().message.c_str());
    return noDevice;
  }
  plugin = *loaded;
  const char *wanted = std::getenv("TENON_HIP_CHIP");
  chipName = wanted && *wanted ? wanted : "gfx950";
  runtime::SimReport report;
  if (plugin->open(chipName.c_str(), &device, report) != 0) {
    std::fprintf(stderr, "libtenon_hip: TENON_HIP_CHIP: %s\n",
                 report.message().c_str());
    return noDevice;
  }
  plugin->chip(device, &chip);
  return success;
}

HipError State::failed(const char *function, const runtime::SimReport &report,
                       HipError error) const {
  std::fprintf(stderr, "libtenon_hip: %s: %s\n", function,
               report.message().c_str());
  return error;
}

std::pair<uint64_t, uint64_t> State::allocationOf(const void *address) const {
  std::pair<uint64_t, uint64_t> found;
  plugin->allocationOf(device, reinterpret_cast<uintptr_t>(address),
                       &found.first, &found.second);
  return found;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Stream *State::stream(void *handle) {
  thread_local Stream perThread;
  switch (reinterpret_cast<uintptr_t>(handle)) {
  case 0:
  case 1: // hipStreamLegacy
    return &legacy;
  case 2: // hipStreamPerThread
    return &perThread;
  }
  return streams.find(handle);
}

/// The default stream waits for all others that are blocking, and they for it.
void State::waitsForOthers(Stream &stream) {
  if (isLegacy(&stream)) {
    for (const auto &[handle, other] : streams) {
      if (!(other->flags & streamNonBlocking)) {
        stream.clock = std::max(stream.clock, other->clock);
      }
    }
  } else if (!(stream.flags & streamNonBlocking)) {
    stream.clock = std::max(stream.clock, legacyEnd);
  }
}

HipError State::enqueue(void *handle, Work work) {
  Stream *target = stream(handle);
  if (!target) {
    return invalidHandle;
  }
  if (isLegacy(target)) {
    if (HipError error = refuseWhileCapturing(captureImplicit)) {
      return error;
    }
  }
  if (target->capture) {
    if (target->capture->invalid) {
      return captureInvalidated;
    }
    std::vector<Node> &nodes = target->capture->graph.nodes;
    nodes.push_back({std::move(work), target->tails});
    target->tails = {nodes.size() - 1};
    return success;
  }
  waitsForOthers(*target);
  double microseconds = 0;
  HipError error = work(microseconds);
  target->clock += microseconds;
  if (isLegacy(target)) {
    legacyEnd = target->clock;
  }
  return error;
}

HipError State::run(const Graph &graph, double &microseconds) {
  // Nodes follow only nodes before them.
  std::vector<double> ends;
  for (const Node &node : graph.nodes) {
    double begin = 0, taken = 0;
    for (size_t before : node.after) {
      begin = std::max(begin, ends[before]);
    }
    if (HipError error = node.work(taken)) {
      return error;
    }
    ends.push_back(begin + taken);
    microseconds = std::max(microseconds, ends.back());
  }
  return success;
}

//===----------------------------------------------------------------------===//
// What a capture forbids
//===----------------------------------------------------------------------===//

CaptureMode &State::threadMode() {
  thread_local CaptureMode mode = CaptureMode::Global;
  return mode;
}

HipError State::refuseInCapture() {
  if (threadMode() == CaptureMode::Relaxed) {
    return success;
  }
  HipError error = success;
  for (const std::shared_ptr<Capture> &capture : captures) {
    bool isOwn = capture->thread == std::this_thread::get_id();
    bool isGlobal = capture->mode == CaptureMode::Global &&
                    threadMode() == CaptureMode::Global;
    if (capture->mode != CaptureMode::Relaxed && (isOwn || isGlobal)) {
      capture->invalid = true;
      error = captureUnsupported;
    }
  }
  return error;
}

HipError State::refuseWhileCapturing(HipError error) {
  for (const std::shared_ptr<Capture> &capture : captures) {
    capture->invalid = true;
  }
  return captures.empty() ? success : error;
}

//===----------------------------------------------------------------------===//
// Functions that do nothing
//===----------------------------------------------------------------------===//

HipError unsupported(const char *function) {
  static std::mutex lock;
  static std::set<std::string> said;
  std::lock_guard<std::mutex> guard(lock);
  if (said.insert(function).second) {
    std::fprintf(stderr,
                 "libtenon_hip: %s is not supported by this stand-in of HIP "
                 "on the simulator\n",
                 function);
  }
  return finish(notSupported);
}

} // namespace tenon::standin
