//===- Dlpack.h - Arrays of any framework -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The binary interface of DLPack 1.x, and the import of an array through the
// functions that its type offers (`__dlpack_c_exchange_api__`), or through
// `__dlpack__`, which takes microseconds. Nothing is copied: what cannot be had
// without a copy is an error.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PYTHON_BINDINGS_DLPACK_H
#define TENON_PYTHON_BINDINGS_DLPACK_H

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::python {

/// DLDeviceType, as far as Tenon knows memory of it.
enum class DlDevice : int32_t { Cpu = 1, Rocm = 10, RocmHost = 11 };

/// An array that is held as long as this lives.
class DlArray {
public:
  /// Imports \p object; a framework orders its own work on \p stream (an
  /// address, of the default stream: 0) before that of the stream.
  /// Throws std::runtime_error with a text that starts with what was found.
  DlArray(nanobind::handle object, bool onHost, uint64_t stream);
  ~DlArray();
  DlArray(DlArray &&other) noexcept;
  DlArray(const DlArray &) = delete;
  DlArray &operator=(const DlArray &) = delete;

  uint64_t address = 0; ///< of the first element
  DlDevice device = DlDevice::Cpu;
  int32_t deviceId = 0;
  uint8_t typeCode = 0; ///< DLDataTypeCode
  uint8_t typeBits = 0;
  uint16_t typeLanes = 1;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; ///< in elements
  bool readOnly = false;

  /// "float32", "bfloat16", "uint8" ...
  std::string typeName() const;

  struct Tensor;
  struct ExchangeApi;

private:
  struct Source;
  static Source &sourceOf(nanobind::handle object);
  static nanobind::object exported(nanobind::handle object, Source &source,
                                   bool onHost, uint64_t stream);
  /// Takes \p object through the functions of its type, if there are any and
  /// its work is on \p stream.
  bool view(nanobind::handle object, const Source &source, uint64_t stream);
  void adopt(nanobind::object capsule);
  void describe(const Tensor &tensor);

  nanobind::object owner; ///< the array, or a capsule that frees it with itself
};

} // namespace tenon::python

#endif // TENON_PYTHON_BINDINGS_DLPACK_H
