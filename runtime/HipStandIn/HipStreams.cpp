//===- HipStreams.cpp - streams and events of the stand-in ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HipStandIn.h"

#include <algorithm>

using namespace tenon::standin;

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static HipError createStream(void **stream, unsigned flags, int priority) {
  return call([&](State &state) {
    if (!stream || (flags & ~streamNonBlocking)) {
      return invalidValue;
    }
    auto made = std::make_unique<Stream>();
    made->flags = flags;
    made->priority = priority;
    *stream = state.streams.add(std::move(made));
    return success;
  });
}

TENON_HIP hipStreamCreate(void **stream) { return createStream(stream, 0, 0); }
TENON_HIP hipStreamCreateWithFlags(void **stream, unsigned flags) {
  return createStream(stream, flags, 0);
}
TENON_HIP hipStreamCreateWithPriority(void **stream, unsigned flags,
                                      int priority) {
  return createStream(stream, flags, priority);
}

TENON_HIP hipStreamDestroy(void *stream) {
  return call([&](State &state) {
    Stream *found = state.streams.find(stream);
    if (!found) {
      return invalidHandle;
    }
    if (found->capture) {
      found->capture->invalid = true;
      if (found->capture->origin == found) {
        state.captures.erase(found->capture);
        for (const auto &[handle, other] : state.streams) {
          if (other.get() != found && other->capture == found->capture) {
            other->capture.reset();
            other->tails.clear();
          }
        }
      }
    }
    state.streams.remove(stream);
    return success;
  });
}

/// Runs \p body on the stream of a handle.
template <typename Body> static HipError withStream(void *stream, Body body) {
  return call([&](State &state) {
    Stream *found = state.stream(stream);
    return found ? body(state, *found) : invalidHandle;
  });
}

/// Everything that was enqueued has happened already.
static HipError waitForStream(void *stream) {
  return withStream(stream, [](State &state, Stream &found) -> HipError {
    if (found.capture) {
      found.capture->invalid = true;
      return captureUnsupported;
    }
    return state.isLegacy(&found) ? state.refuseWhileCapturing(captureImplicit)
                                  : success;
  });
}

TENON_HIP hipStreamSynchronize(void *stream) { return waitForStream(stream); }
TENON_HIP hipStreamQuery(void *stream) { return waitForStream(stream); }

TENON_HIP hipDeviceSynchronize() {
  return call([](State &state) {
    return state.refuseWhileCapturing(captureUnsupported);
  });
}

TENON_HIP hipStreamGetFlags(void *stream, unsigned *flags) {
  return withStream(stream, [&](State &, Stream &found) {
    if (!flags) {
      return invalidValue;
    }
    *flags = found.flags;
    return success;
  });
}

TENON_HIP hipStreamGetPriority(void *stream, int *priority) {
  return withStream(stream, [&](State &, Stream &found) {
    if (!priority) {
      return invalidValue;
    }
    *priority = found.priority;
    return success;
  });
}

TENON_HIP hipStreamGetDevice(void *stream, int *device) {
  return withStream(stream, [&](State &, Stream &) {
    if (!device) {
      return invalidValue;
    }
    *device = 0;
    return success;
  });
}

extern "C" int hipGetStreamDeviceId(void *) { return 0; }

TENON_HIP hipDeviceGetStreamPriorityRange(int *least, int *greatest) {
  return call([&](State &) {
    if (least) {
      *least = 0;
    }
    if (greatest) {
      *greatest = 0;
    }
    return success;
  });
}

TENON_HIP hipLaunchHostFunc(void *stream, void (*function)(void *),
                            void *data) {
  return call([&](State &state) {
    if (!function) {
      return invalidValue;
    }
    return state.enqueue(stream, [=](double &) {
      function(data);
      return success;
    });
  });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

TENON_HIP hipEventCreateWithFlags(void **event, unsigned flags) {
  return call([&](State &state) {
    if (!event) {
      return invalidValue;
    }
    auto made = std::make_unique<Event>();
    made->flags = flags;
    *event = state.events.add(std::move(made));
    return success;
  });
}

TENON_HIP hipEventCreate(void **event) {
  return hipEventCreateWithFlags(event, 0);
}

TENON_HIP hipEventDestroy(void *event) {
  return call([&](State &state) {
    return state.events.remove(event) ? success : invalidHandle;
  });
}

TENON_HIP hipEventRecord(void *event, void *stream) {
  return call([&](State &state) -> HipError {
    Event *found = state.events.find(event);
    Stream *target = state.stream(stream);
    if (!found || !target) {
      return invalidHandle;
    }
    if (target->capture) {
      if (target->capture->invalid) {
        return captureInvalidated;
      }
      found->capture = target->capture;
      found->tails = target->tails;
      found->isRecorded = false;
      return success;
    }
    // Takes no time, but waits for what its stream waits for.
    if (HipError error =
            state.enqueue(stream, [](double &) { return success; })) {
      return error;
    }
    found->capture.reset();
    found->tails.clear();
    found->isRecorded = true;
    found->time = target->clock;
    state.isTimed |= !(found->flags & eventDisableTiming);
    return success;
  });
}

TENON_HIP hipEventRecordWithFlags(void *event, void *stream, unsigned flags) {
  return flags == 0 ? hipEventRecord(event, stream) : finish(invalidValue);
}

static HipError waitForEvent(void *event) {
  return call([&](State &state) {
    Event *found = state.events.find(event);
    if (!found) {
      return invalidHandle;
    }
    if (found->capture) {
      found->capture->invalid = true;
      return capturedEvent;
    }
    return success;
  });
}

TENON_HIP hipEventSynchronize(void *event) { return waitForEvent(event); }
TENON_HIP hipEventQuery(void *event) { return waitForEvent(event); }

TENON_HIP hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  return call([&](State &state) {
    Event *begin = state.events.find(start), *end = state.events.find(stop);
    if (!milliseconds) {
      return invalidValue;
    }
    if (!begin || !end || !begin->isRecorded || !end->isRecorded ||
        ((begin->flags | end->flags) & eventDisableTiming)) {
      return invalidHandle;
    }
    *milliseconds = float((end->time - begin->time) / 1000);
    return success;
  });
}

TENON_HIP hipStreamWaitEvent(void *stream, void *event, unsigned) {
  return call([&](State &state) -> HipError {
    Event *found = state.events.find(event);
    Stream *target = state.stream(stream);
    if (!found || !target) {
      return invalidHandle;
    }
    if (target->capture && target->capture->invalid) {
      return captureInvalidated;
    }
    if (found->capture) {
      // Only while it is captured: afterwards its nodes are in a graph.
      if (!state.captures.count(found->capture)) {
        return invalidHandle;
      }
      if (state.isLegacy(target)) {
        return state.refuseWhileCapturing(captureImplicit);
      }
      if (target->capture && target->capture != found->capture) {
        target->capture->invalid = found->capture->invalid = true;
        return captureMerge;
      }
      target->capture = found->capture;
      for (size_t node : found->tails) {
        if (std::find(target->tails.begin(), target->tails.end(), node) ==
            target->tails.end()) {
          target->tails.push_back(node);
        }
      }
      return success;
    }
    if (target->capture) {
      if (!found->isRecorded) {
        return success;
      }
      target->capture->invalid = true;
      return captureIsolation;
    }
    if (found->isRecorded) {
      target->clock = std::max(target->clock, found->time);
    }
    return success;
  });
}
