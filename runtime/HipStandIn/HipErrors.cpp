//===- HipErrors.cpp - errors of the stand-in -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HipStandIn.h"

#include <dlfcn.h>
#include <string_view>

using namespace tenon::standin;

/// The error that hipGetLastError gives to this thread.
static HipError &lastError() {
  thread_local HipError error = success;
  return error;
}

HipError tenon::standin::finish(HipError error) {
  if (error != success) {
    lastError() = error;
  }
  return error;
}

namespace {
struct ErrorText {
  HipError error;
  const char *name;
  const char *text;
};
} // namespace

/// Those that the stand-in returns.
static constexpr ErrorText errorTexts[] = {
    {success, "hipSuccess", "no error"},
    {invalidValue, "hipErrorInvalidValue", "invalid argument"},
    {outOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {invalidConfiguration, "hipErrorInvalidConfiguration",
     "invalid configuration of a launch"},
    {noDevice, "hipErrorNoDevice", "no device"},
    {invalidDevice, "hipErrorInvalidDevice", "invalid device"},
    {invalidImage, "hipErrorInvalidImage", "the image is no code object"},
    {noBinaryForGpu, "hipErrorNoBinaryForGpu",
     "no code object for this device"},
    {fileNotFound, "hipErrorFileNotFound", "file not found"},
    {invalidHandle, "hipErrorInvalidHandle", "invalid handle"},
    {notFound, "hipErrorNotFound", "not found"},
    {600, "hipErrorNotReady", "not ready"},
    {launchFailure, "hipErrorLaunchFailure", "the kernel failed"},
    {notSupported, "hipErrorNotSupported", "not supported"},
    {captureUnsupported, "hipErrorStreamCaptureUnsupported",
     "not permitted while a stream is captured"},
    {captureInvalidated, "hipErrorStreamCaptureInvalidated",
     "the capture was invalidated by an error before"},
    {captureMerge, "hipErrorStreamCaptureMerge",
     "two captures would become one"},
    {captureUnmatched, "hipErrorStreamCaptureUnmatched",
     "the capture did not begin on this stream"},
    {captureUnjoined, "hipErrorStreamCaptureUnjoined",
     "work of another stream in the capture was not waited for"},
    {captureIsolation, "hipErrorStreamCaptureIsolation",
     "a captured stream would wait for work outside its capture"},
    {captureImplicit, "hipErrorStreamCaptureImplicit",
     "the default stream was used while a stream is captured"},
    {capturedEvent, "hipErrorCapturedEvent", "the event is part of a capture"},
    {captureWrongThread, "hipErrorStreamCaptureWrongThread",
     "the capture began on another thread"}};

static const ErrorText *findError(HipError error) {
  for (const ErrorText &entry : errorTexts) {
    if (entry.error == error) {
      return &entry;
    }
  }
  return nullptr;
}

extern "C" const char *hipGetErrorName(HipError error) {
  const ErrorText *entry = findError(error);
  return entry ? entry->name : "hipErrorUnknown";
}

extern "C" const char *hipGetErrorString(HipError error) {
  const ErrorText *entry = findError(error);
  return entry ? entry->text : "unknown error";
}

TENON_HIP hipDrvGetErrorName(HipError error, const char **text) {
  const ErrorText *entry = findError(error);
  *text = entry ? entry->name : nullptr;
  return entry ? success : invalidValue;
}

TENON_HIP hipDrvGetErrorString(HipError error, const char **text) {
  const ErrorText *entry = findError(error);
  *text = entry ? entry->text : nullptr;
  return entry ? success : invalidValue;
}

TENON_HIP hipPeekAtLastError() { return lastError(); }

TENON_HIP hipGetLastError() {
  HipError error = lastError();
  lastError() = success;
  return error;
}

TENON_HIP hipExtGetLastError() { return hipGetLastError(); }

//===----------------------------------------------------------------------===//
// Functions by name
//===----------------------------------------------------------------------===//

/// Finds functions of this library, whichever others are loaded.
static void *ownFunction(const char *name) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&ownFunction), &info) == 0) {
    return nullptr;
  }
  void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void *function = library ? dlsym(library, name) : nullptr;
  if (library) {
    dlclose(library);
  }
  return function;
}

TENON_HIP hipGetProcAddress(const char *name, void **function, int version,
                            uint64_t, int *status) {
  if (!name || !function) {
    return finish(invalidValue);
  }
  // The name stands for another layout since version 6.
  bool isNew =
      version >= 600 && std::string_view(name) == "hipGetDeviceProperties";
  *function = ownFunction(isNew ? "hipGetDevicePropertiesR0600" : name);
  if (status) {
    *status = *function ? 0 : 1; // hipGetProcAddressSymbolNotFound
  }
  return finish(*function ? success : notFound);
}

//===----------------------------------------------------------------------===//
// Functions whose result is no error code, and which are not supported
//===----------------------------------------------------------------------===//

extern "C" const char *hipApiName(uint32_t) {
  unsupported("hipApiName");
  return "";
}
extern "C" const char *hipKernelNameRef(const void *) {
  unsupported("hipKernelNameRef");
  return "";
}
extern "C" const char *hipKernelNameRefByPtr(const void *, void *) {
  unsupported("hipKernelNameRefByPtr");
  return "";
}
extern "C" const char *hiprtcGetErrorString(int) {
  unsupported("hiprtcGetErrorString");
  return "";
}
/// Kernels that a compiler of HIP put into the program cannot be launched, but
/// the program can start.
extern "C" void **__hipRegisterFatBinary(const void *) {
  unsupported("__hipRegisterFatBinary");
  static void *handle = nullptr;
  return &handle;
}
