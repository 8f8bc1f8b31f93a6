//===- HipGraphs.cpp - capture and replay of the stand-in -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is enqueued on a captured stream becomes a node that follows the last
// ones of its stream. A stream that waits for an event of a capture takes part
// in it, until the capture ends on the stream where it began.
//
//===----------------------------------------------------------------------===//

#include "HipStandIn.h"

#include <utility>

using namespace tenon::standin;

/// hipStreamCaptureStatus.
static constexpr int captureNone = 0, captureActive = 1, captureIsInvalid = 2;

TENON_HIP hipStreamBeginCapture(void *stream, int mode) {
  return call([&](State &state) {
    Stream *found = state.stream(stream);
    if (!found) {
      return invalidHandle;
    }
    if (mode < 0 || mode > 2) {
      return invalidValue;
    }
    // The default stream cannot be captured.
    if (state.isLegacy(found)) {
      return captureUnsupported;
    }
    if (found->capture) {
      return invalidValue;
    }
    static uint64_t lastId = 0;
    auto capture = std::make_shared<Capture>();
    capture->origin = found;
    capture->mode = CaptureMode(mode);
    capture->thread = std::this_thread::get_id();
    capture->id = ++lastId;
    found->capture = capture;
    found->tails.clear();
    state.captures.insert(std::move(capture));
    return success;
  });
}

/// Whether the last node of every stream is one that the origin has waited for.
static bool isJoined(const State &state, const Capture &capture) {
  std::vector<bool> reached(capture.graph.nodes.size());
  std::vector<size_t> pending = capture.origin->tails;
  while (!pending.empty()) {
    size_t node = pending.back();
    pending.pop_back();
    if (!reached[node]) {
      reached[node] = true;
      const std::vector<size_t> &before = capture.graph.nodes[node].after;
      pending.insert(pending.end(), before.begin(), before.end());
    }
  }
  for (const auto &[handle, stream] : state.streams) {
    if (stream->capture.get() == &capture) {
      for (size_t node : stream->tails) {
        if (!reached[node]) {
          return false;
        }
      }
    }
  }
  return true;
}

TENON_HIP hipStreamEndCapture(void *stream, void **graph) {
  return call([&](State &state) -> HipError {
    Stream *found = state.stream(stream);
    if (!found) {
      return invalidHandle;
    }
    if (!graph) {
      return invalidValue;
    }
    *graph = nullptr;
    std::shared_ptr<Capture> capture = found->capture;
    if (!capture) {
      return captureUnmatched;
    }
    if (capture->origin != found) {
      capture->invalid = true;
      return captureUnmatched;
    }
    if (capture->mode != CaptureMode::Relaxed &&
        capture->thread != std::this_thread::get_id()) {
      return captureWrongThread;
    }
    HipError error = capture->invalid            ? captureInvalidated
                     : isJoined(state, *capture) ? success
                                                 : captureUnjoined;
    state.captures.erase(capture);
    for (const auto &[handle, other] : state.streams) {
      if (other->capture == capture) {
        other->capture.reset();
        other->tails.clear();
      }
    }
    found->capture.reset();
    found->tails.clear();
    if (error == success) {
      *graph =
          state.graphs.add(std::make_unique<Graph>(std::move(capture->graph)));
    }
    return error;
  });
}

/// The state of a stream; asking for that of the default stream while another
/// is captured is an error.
static HipError captureStatus(State &state, void *stream, int *status,
                              Stream *&found) {
  found = state.stream(stream);
  if (!found) {
    return invalidHandle;
  }
  if (!status) {
    return invalidValue;
  }
  if (state.isLegacy(found)) {
    *status = captureNone;
    return state.captures.empty() ? success : captureImplicit;
  }
  *status = !found->capture           ? captureNone
            : found->capture->invalid ? captureIsInvalid
                                      : captureActive;
  return success;
}

TENON_HIP hipStreamIsCapturing(void *stream, int *status) {
  return call([&](State &state) {
    Stream *found = nullptr;
    return captureStatus(state, stream, status, found);
  });
}

TENON_HIP hipStreamGetCaptureInfo(void *stream, int *status,
                                  unsigned long long *id) {
  return call([&](State &state) -> HipError {
    Stream *found = nullptr;
    if (HipError error = captureStatus(state, stream, status, found)) {
      return error;
    }
    if (id) {
      *id = found->capture ? found->capture->id : 0;
    }
    return success;
  });
}

TENON_HIP hipThreadExchangeStreamCaptureMode(int *mode) {
  if (!mode || *mode < 0 || *mode > 2) {
    return finish(invalidValue);
  }
  *mode = int(std::exchange(State::threadMode(), CaptureMode(*mode)));
  return success;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

TENON_HIP hipGraphCreate(void **graph, unsigned) {
  return call([&](State &state) {
    if (!graph) {
      return invalidValue;
    }
    *graph = state.graphs.add(std::make_unique<Graph>());
    return success;
  });
}

TENON_HIP hipGraphDestroy(void *graph) {
  return call([&](State &state) {
    return state.graphs.remove(graph) ? success : invalidHandle;
  });
}

/// Handles of nodes serve to count them.
TENON_HIP hipGraphGetNodes(void *graph, void **nodes, size_t *count) {
  return call([&](State &state) {
    Graph *found = state.graphs.find(graph);
    if (!found || !count) {
      return invalidValue;
    }
    for (size_t i = 0; nodes && i < *count; ++i) {
      nodes[i] = i < found->nodes.size() ? &found->nodes[i] : nullptr;
    }
    *count = found->nodes.size();
    return success;
  });
}

static HipError instantiate(void **executable, void *graph) {
  return call([&](State &state) {
    Graph *found = state.graphs.find(graph);
    if (!found || !executable) {
      return invalidValue;
    }
    *executable = state.executables.add(std::make_unique<Graph>(*found));
    return success;
  });
}

TENON_HIP hipGraphInstantiate(void **executable, void *graph, void **errorNode,
                              char *log, size_t logBytes) {
  if (errorNode) {
    *errorNode = nullptr;
  }
  if (log && logBytes) {
    *log = '\0';
  }
  return instantiate(executable, graph);
}

TENON_HIP hipGraphInstantiateWithFlags(void **executable, void *graph,
                                       unsigned long long) {
  return instantiate(executable, graph);
}

TENON_HIP hipGraphExecDestroy(void *executable) {
  return call([&](State &state) {
    return state.executables.remove(executable) ? success : invalidHandle;
  });
}

TENON_HIP hipGraphUpload(void *executable, void *stream) {
  return call([&](State &state) {
    return state.executables.find(executable) && state.stream(stream)
               ? success
               : invalidHandle;
  });
}

TENON_HIP hipGraphLaunch(void *executable, void *stream) {
  return call([&](State &state) {
    Graph *found = state.executables.find(executable);
    if (!found) {
      return invalidHandle;
    }
    // A graph in a graph keeps its nodes when the executable is destroyed.
    return state.enqueue(stream, [&state, graph = *found](double &time) {
      return state.run(graph, time);
    });
  });
}
