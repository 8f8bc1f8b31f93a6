//===- Dlpack.cpp - Arrays of any framework ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Dlpack.h"

#include <stdexcept>

namespace nb = nanobind;

namespace tenon::python {

namespace {

// https://dmlc.github.io/dlpack: the layout is fixed within version 1.
struct Tensor {
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

/// Calls `__dlpack__` of \p object, of a version that has no keyword for each
/// wish with those that it has.
static nb::object exported(nb::handle object, bool onHost, uint64_t stream) {
  nb::object method = nb::getattr(object, "__dlpack__", nb::none());
  if (method.is_none()) {
    throw std::runtime_error(
        std::string("has no __dlpack__: it is a ") +
        nb::str(nb::getattr(object.type(), "__name__")).c_str());
  }
  // ROCm counts streams as DLPack does: 0 is the default stream. On the host
  // there are none, wherever the array is wanted.
  nb::object place = nb::getattr(object, "__dlpack_device__", nb::none());
  if (!place.is_none()) {
    onHost |= nb::cast<int>(nb::object(place())[0]) == int(DlDevice::Cpu);
  }
  nb::object wanted = onHost ? nb::none() : nb::object(nb::int_(stream));
  auto call = [&](bool versioned) {
    nb::dict keywords;
    keywords["stream"] = wanted;
    if (versioned) {
      keywords["max_version"] = nb::make_tuple(1, 0);
      keywords["copy"] = false;
    }
    return nb::object(method(**keywords));
  };
  try {
    return call(true);
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_TypeError)) {
      throw std::runtime_error(std::string("cannot be shared: ") +
                               nb::str(error.value()).c_str());
    }
  }
  try {
    return call(false);
  } catch (nb::python_error &error) {
    throw std::runtime_error(std::string("cannot be shared: ") +
                             nb::str(error.value()).c_str());
  }
}

DlArray::DlArray(nb::handle object, bool onHost, uint64_t stream) {
  adopt(exported(object, onHost, stream));
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
  address = reinterpret_cast<uint64_t>(tensor->data) + tensor->byteOffset;
  device = static_cast<DlDevice>(tensor->deviceType);
  deviceId = tensor->deviceId;
  typeCode = tensor->typeCode;
  typeBits = tensor->typeBits;
  typeLanes = tensor->typeLanes;
  sizes.assign(tensor->shape, tensor->shape + tensor->rank);
  if (tensor->strides) {
    strides.assign(tensor->strides, tensor->strides + tensor->rank);
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
