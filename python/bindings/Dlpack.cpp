//===- Dlpack.cpp - Arrays of any framework ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Dlpack.h"

#include <stdexcept>
#include <unordered_map>

namespace nb = nanobind;

namespace tenon::python {

// https://dmlc.github.io/dlpack: the layout is fixed within version 1.
struct DlArray::Tensor {
  void *data;
  int32_t deviceType;
  int32_t deviceId;
  int32_t rank;
  uint8_t typeCode;
  uint8_t typeBits;
  uint16_t typeLanes;
  int64_t *shape;
  int64_t *strides; ///< null: row-major
  uint64_t byteOffset;
};

/// DLPackExchangeAPI, of DLPack 1.2 and later; functions return 0, or set an
/// error of Python.
struct DlArray::ExchangeApi {
  uint32_t major;
  uint32_t minor;
  const ExchangeApi *previous; ///< of an older version
  void *allocate;
  void *exportManaged;
  void *import;
  /// Describes an array, which stays its owner's.
  int (*view)(void *object, Tensor *tensor);
  int (*currentStream)(int32_t deviceType, int32_t deviceId, void **stream);
};

namespace {

using Tensor = DlArray::Tensor;

struct ManagedTensorVersioned {
  uint32_t major;
  uint32_t minor;
  void *context;
  void (*deleter)(ManagedTensorVersioned *);
  uint64_t flags;
  Tensor tensor;
};

struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};

constexpr uint64_t flagReadOnly = 1;
constexpr uint64_t flagCopied = 2;

const char *typeNameOf(uint8_t code) {
  switch (code) {
  case 0:
    return "int";
  case 1:
    return "uint";
  case 2:
    return "float";
  case 4:
    return "bfloat";
  case 5:
    return "complex";
  case 6:
    return "bool";
  case 10:
    return "float8_e4m3fn";
  case 11:
    return "float8_e4m3fnuz";
  case 12:
    return "float8_e5m2";
  case 13:
    return "float8_e5m2fnuz";
  case 14:
    return "float8_e8m0fnu";
  case 17:
    return "float4_e2m1fn";
  default:
    return nullptr;
  }
}

} // namespace

std::string DlArray::typeName() const {
  const char *name = typeNameOf(typeCode);
  std::string text = name ? name : "type " + std::to_string(typeCode) + " of ";
  if (!name || typeCode <= 5) {
    text += std::to_string(typeBits);
  }
  return typeLanes == 1 ? text : text + "x" + std::to_string(typeLanes);
}

/// What is known of arrays of one type.
struct DlArray::Source {
  nb::object type; ///< held, so that its address stays its own
  const ExchangeApi *api = nullptr;
  bool mayNeedGradients = false; ///< has `requires_grad`, as torch's
  bool versioned = true;         ///< `__dlpack__` may know max_version and copy
};

/// The table of functions that a type offers instead of `__dlpack__`, in a
/// version whose layout is known.
static const DlArray::ExchangeApi *exchangeApi(nb::handle type) {
  nb::object capsule =
      nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) {
    return nullptr;
  }
  auto *api = static_cast<const DlArray::ExchangeApi *>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (api && api->major != 1) {
    api = api->previous;
  }
  return api && api->view && api->currentStream ? api : nullptr;
}

DlArray::Source &DlArray::sourceOf(nb::handle object) {
  // Never destroyed: Python may end before.
  static auto &known = *new std::unordered_map<PyObject *, Source>;
  nb::handle type = object.type();
  auto [found, isNew] = known.try_emplace(type.ptr());
  if (isNew) {
    found->second.type = nb::borrow(type);
    found->second.api = exchangeApi(type);
    found->second.mayNeedGradients = nb::hasattr(type, "requires_grad");
  }
  return found->second;
}

/// `object.__dlpack__(stream=stream)`, with max_version and copy if
/// \p versioned. Throws what it raises.
static nb::object call(nb::handle object, nb::handle stream, bool versioned) {
  // Made once, and never destroyed: Python may end before.
  struct Names {
    nb::object method = nb::str("__dlpack__");
    nb::object version = nb::make_tuple(1, 0);
    nb::object plain = nb::make_tuple("stream");
    nb::object versioned = nb::make_tuple("stream", "max_version", "copy");
  };
  static const Names &names = *new Names;
  PyObject *arguments[] = {object.ptr(), stream.ptr(), names.version.ptr(),
                           Py_False};
  PyObject *result = PyObject_VectorcallMethod(
      names.method.ptr(), arguments, 1,
      (versioned ? names.versioned : names.plain).ptr());
  if (!result) {
    throw nb::python_error();
  }
  return nb::steal(result);
}

/// Calls `__dlpack__` of \p object, of a version that has no keyword for each
/// wish with those that it has.
nb::object DlArray::exported(nb::handle object, Source &source, bool onHost,
                             uint64_t stream) {
  // ROCm counts streams as DLPack does: 0 is the default stream. On the host
  // there are none.
  nb::object wanted = onHost ? nb::none() : nb::object(nb::int_(stream));
  while (true) {
    try {
      return call(object, wanted, source.versioned);
    } catch (nb::python_error &error) {
      if (!nb::hasattr(object, "__dlpack__")) {
        throw std::runtime_error(
            std::string("has no __dlpack__: it is a ") +
            nb::str(nb::getattr(object.type(), "__name__")).c_str());
      }
      if (source.versioned && error.matches(PyExc_TypeError)) {
        source.versioned = false;
        continue;
      }
      // An array of the host may refuse a stream, wherever it is wanted.
      nb::object place =
          wanted.is_none()
              ? nb::none()
              : nb::getattr(object, "__dlpack_device__", nb::none());
      if (!place.is_none() &&
          nb::cast<int>(nb::object(place())[0]) == int(DlDevice::Cpu)) {
        wanted = nb::none();
        continue;
      }
      throw std::runtime_error(std::string("cannot be shared: ") +
                               nb::str(error.value()).c_str());
    }
  }
}

bool DlArray::view(nb::handle object, const Source &source, uint64_t stream) {
  // What wants gradients is refused by `__dlpack__`, with torch's own words.
  if (!source.api || (source.mayNeedGradients &&
                      nb::cast<bool>(nb::getattr(object, "requires_grad")))) {
    return false;
  }
  auto check = [](int failed) {
    if (failed) {
      nb::python_error error;
      throw std::runtime_error(std::string("cannot be shared: ") +
                               nb::str(error.value()).c_str());
    }
  };
  Tensor tensor = {};
  check(source.api->view(object.ptr(), &tensor));
  if (static_cast<DlDevice>(tensor.deviceType) != DlDevice::Cpu) {
    void *current = nullptr;
    check(source.api->currentStream(tensor.deviceType, tensor.deviceId,
                                    &current));
    if (reinterpret_cast<uint64_t>(current) != stream) {
      return false; // `__dlpack__` makes one stream wait for the other
    }
  }
  owner = nb::borrow(object);
  describe(tensor);
  return true;
}

DlArray::DlArray(nb::handle object, bool onHost, uint64_t stream) {
  Source &source = sourceOf(object);
  if (!view(object, source, stream)) {
    adopt(exported(object, source, onHost, stream));
  }
}

/// The deleter of a capsule that has been taken over under another name.
template <typename Managed> static void release(PyObject *capsule) {
  auto *managed = static_cast<Managed *>(
      PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (managed && managed->deleter) {
    managed->deleter(managed);
  }
}

void DlArray::adopt(nb::object capsule) {
  const Tensor *tensor = nullptr;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto *managed = static_cast<ManagedTensorVersioned *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->major != 1) {
      throw std::runtime_error("is of DLPack version " +
                               std::to_string(managed->major) + ", expected 1");
    }
    if (managed->flags & flagCopied) {
      throw std::runtime_error("could be shared as a copy only");
    }
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    PyCapsule_SetDestructor(capsule.ptr(), release<ManagedTensorVersioned>);
    readOnly = managed->flags & flagReadOnly;
    tensor = &managed->tensor;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    auto *managed = static_cast<ManagedTensor *>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    PyCapsule_SetDestructor(capsule.ptr(), release<ManagedTensor>);
    tensor = &managed->tensor;
  } else {
    throw std::runtime_error("has a __dlpack__ that returns no DLPack capsule");
  }
  owner = std::move(capsule);
  describe(*tensor);
}

void DlArray::describe(const Tensor &tensor) {
  address = reinterpret_cast<uint64_t>(tensor.data) + tensor.byteOffset;
  device = static_cast<DlDevice>(tensor.deviceType);
  deviceId = tensor.deviceId;
  typeCode = tensor.typeCode;
  typeBits = tensor.typeBits;
  typeLanes = tensor.typeLanes;
  sizes.assign(tensor.shape, tensor.shape + tensor.rank);
  if (tensor.strides) {
    strides.assign(tensor.strides, tensor.strides + tensor.rank);
  } else {
    strides.resize(sizes.size());
    int64_t stride = 1;
    for (size_t dim = sizes.size(); dim-- > 0;) {
      strides[dim] = stride;
      stride *= sizes[dim];
    }
  }
}

DlArray::~DlArray() = default;
DlArray::DlArray(DlArray &&) noexcept = default;

} // namespace tenon::python
