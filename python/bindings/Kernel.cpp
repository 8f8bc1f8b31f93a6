//===- Kernel.cpp - Kernels and their launches ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Failures.h"
#include "Objects.h"
#include "Operand.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace nb = nanobind;

namespace tenon::python {

/// One call, with the arrays that it uses.
struct Kernel::Call {
  std::vector<DlArray> arrays;
  std::vector<OperandView> views;
  std::vector<tenon_tensor> tensors;
  std::vector<int64_t> scalars;
  tenon_launch_arguments arguments = {};
};

Kernel::Kernel(std::shared_ptr<Device> given, const std::string &op,
               nb::handle statics)
    : device(std::move(given)), op(op) {
  std::string settings = settingsText(statics);
  tenon_status status;
  {
    // It may compile.
    nb::gil_scoped_release released;
    status =
        tenon_kernel_get(device->get(), op.c_str(), settings.c_str(), &handle);
  }
  check(status);
  expected.resize(tenon_kernel_operand_count(handle));
  for (uint32_t index = 0; index < expected.size(); ++index) {
    check(tenon_kernel_operand(handle, index, &expected[index]));
    operandKeys.push_back(nb::str(expected[index].name));
    hasLayouts |= *expected[index].layout != '\0';
  }
  for (uint32_t index = 0; index < tenon_kernel_scalar_count(handle); ++index) {
    scalarKeys.push_back(nb::str(tenon_kernel_scalar(handle, index)));
  }
}

static const char *accessName(tenon_access access) {
  return access == TENON_READ    ? "read"
         : access == TENON_WRITE ? "write"
                                 : "read_write";
}

nb::list Kernel::operands() const {
  nb::list result;
  for (const tenon_operand &operand : expected) {
    nb::list shape;
    for (uint32_t dim = 0; dim < operand.rank; ++dim) {
      if (operand.sizes[dim] >= 0) {
        shape.append(operand.sizes[dim]);
      } else {
        shape.append(operand.symbols[dim]);
      }
    }
    nb::dict entry;
    entry["name"] = operand.name;
    entry["type"] = typeName(operand.dtype);
    entry["shape"] = nb::tuple(shape);
    entry["access"] = accessName(operand.access);
    entry["layout"] = operand.layout;
    result.append(entry);
  }
  return result;
}

std::vector<std::string> Kernel::scalars() const {
  std::vector<std::string> names;
  for (const nb::str &key : scalarKeys) {
    names.push_back(key.c_str());
  }
  return names;
}

/// Refuses memory that the device cannot reach.
static void checkPlace(const DlArray &array, const Device &device) {
  bool onHost = array.device == DlDevice::Cpu;
  if (device.isHip() ? onHost : !onHost && array.device != DlDevice::RocmHost) {
    throw std::runtime_error("is in memory of DLPack device type " +
                             std::to_string(int(array.device)) +
                             ", which the device " + device.name() +
                             " does not use");
  }
}

/// Fills \p view with the sizes of \p operand, fixed or from \p symbols, and
/// dense strides.
static void denseView(const tenon_operand &operand,
                      const std::map<std::string, int64_t> &symbols,
                      OperandView &view) {
  view.sizes.resize(operand.rank);
  view.strides.resize(operand.rank);
  int64_t stride = 1;
  for (uint32_t dim = operand.rank; dim-- > 0;) {
    int64_t size = operand.sizes[dim];
    if (size < 0) {
      auto found = symbols.find(operand.symbols[dim]);
      if (found == symbols.end()) {
        throw std::runtime_error(std::string("has a size ") +
                                 operand.symbols[dim] +
                                 " that no other operand tells");
      }
      size = found->second;
    }
    view.sizes[dim] = size;
    view.strides[dim] = stride;
    stride *= size;
  }
}

/// What \p given has under \p key, or a null handle if that is nothing or None.
static nb::handle valueOf(const nb::dict &given, const nb::str &key) {
  nb::handle value = PyDict_GetItemWithError(given.ptr(), key.ptr());
  if (!value && PyErr_Occurred()) {
    throw nb::python_error();
  }
  return value.is_none() ? nb::handle() : value;
}

/// Refuses the first entry of \p given that is none of \p keys, unless it is
/// None; \p taken entries are known.
static void checkKnown(const Kernel &kernel, const std::string &op,
                       const nb::dict &given, size_t taken,
                       const std::vector<nb::str> &keys) {
  if (given.size() == taken) {
    return;
  }
  for (auto [name, value] : given) {
    bool known = std::any_of(keys.begin(), keys.end(), [&](const nb::str &key) {
      return name.equal(key);
    });
    if (!known && !value.is_none()) {
      raiseOperand(op, textOf(name),
                   "is none of this kernel, " + kernel.name());
    }
  }
}

void Kernel::bind(Call &call, nb::dict arrays, nb::dict scalars,
                  uint64_t stream) {
  const bool onHost = !device->isHip();
  const size_t count = expected.size();
  call.arrays.reserve(count);
  call.views.resize(count);
  call.tensors.resize(count);
  std::map<std::string, int64_t> symbols;
  auto ofOperand = [&](size_t index, auto work) {
    try {
      work();
    } catch (const std::runtime_error &error) {
      raiseOperand(op, expected[index].name, error.what());
    }
  };
  for (size_t index = 0; index < count; ++index) {
    const tenon_operand &operand = expected[index];
    nb::handle object = valueOf(arrays, operandKeys[index]);
    if (!object) {
      raiseOperand(op, operand.name,
                   "is missing: expected " + describe(operand));
    }
    ofOperand(index, [&] {
      DlArray &array = call.arrays.emplace_back(object, onHost, stream);
      checkPlace(array, *device);
      if (operand.access != TENON_READ && array.readOnly) {
        throw std::runtime_error("is written by the kernel, and the array is "
                                 "read-only");
      }
      if (*operand.layout == '\0') {
        OperandView &view = call.views[index] = viewAs(operand, array);
        for (uint32_t dim = 0; hasLayouts && dim < operand.rank; ++dim) {
          if (operand.sizes[dim] < 0) {
            symbols.emplace(operand.symbols[dim], view.sizes[dim]);
          }
        }
      }
    });
  }
  // What is reordered has the sizes of its row-major form, which the bytes do
  // not tell.
  for (size_t index = 0; index < count; ++index) {
    const tenon_operand &operand = expected[index];
    if (*operand.layout != '\0') {
      ofOperand(index, [&] {
        OperandView &view = call.views[index];
        denseView(operand, symbols, view);
        uint64_t needed = 0;
        check(tenon_kernel_operand_bytes(handle, index, view.sizes.data(),
                                         nullptr, &needed));
        if (uint64_t bytes = denseBytes(call.arrays[index]); bytes < needed) {
          throw std::runtime_error("has " + std::to_string(bytes) +
                                   " bytes, and the order '" + operand.layout +
                                   "' takes " + std::to_string(needed));
        }
      });
    }
    tenon_tensor &tensor = call.tensors[index];
    tensor.data = reinterpret_cast<void *>(call.arrays[index].address);
    tensor.dtype = operand.dtype;
    tensor.rank = operand.rank;
    tensor.sizes = call.views[index].sizes.data();
    tensor.strides = call.views[index].strides.data();
    tensor.layout = *operand.layout == '\0' ? nullptr : operand.layout;
  }
  checkKnown(*this, op, arrays, count, operandKeys);
  for (const nb::str &key : scalarKeys) {
    nb::handle value = valueOf(scalars, key);
    if (!value) {
      raiseOperand(op, key.c_str(), "is missing: expected an integer");
    }
    int64_t number = 0;
    if (!nb::try_cast(value, number)) {
      raiseOperand(op, key.c_str(),
                   "expected an integer, found " + textOf(nb::repr(value)));
    }
    call.scalars.push_back(number);
  }
  checkKnown(*this, op, scalars, scalarKeys.size(), scalarKeys);
  call.arguments.struct_bytes = sizeof(call.arguments);
  call.arguments.operands = call.tensors.data();
  call.arguments.operand_count = count;
  call.arguments.scalars = call.scalars.data();
  call.arguments.scalar_count = call.scalars.size();
  call.arguments.stream = reinterpret_cast<void *>(stream);
}

void Kernel::launch(nb::dict arrays, nb::dict scalars, nb::handle workspace,
                    nb::handle zeroedWorkspace, nb::handle stream) {
  Call call;
  const uint64_t address = streamAddress(stream);
  bind(call, arrays, scalars, address);
  auto memory = [&](const char *name, nb::handle object, void *&place,
                    uint64_t &bytes) {
    if (object.is_none()) {
      return;
    }
    if (Memory *own = nullptr; nb::try_cast(object, own)) {
      place = own->address;
      bytes = own->bytes;
      return;
    }
    try {
      DlArray &array =
          call.arrays.emplace_back(object, !device->isHip(), address);
      checkPlace(array, *device);
      if (array.readOnly) {
        throw std::runtime_error("is written by the kernel, and the array is "
                                 "read-only");
      }
      place = reinterpret_cast<void *>(array.address);
      bytes = denseBytes(array);
    } catch (const std::runtime_error &error) {
      raiseOperand(op, name, error.what());
    }
  };
  memory("workspace", workspace, call.arguments.workspace,
         call.arguments.workspace_bytes);
  memory("zeroed_workspace", zeroedWorkspace, call.arguments.zeroed_workspace,
         call.arguments.zeroed_workspace_bytes);
  tenon_status status;
  {
    nb::gil_scoped_release released;
    status = tenon_launch(handle, &call.arguments);
  }
  check(status);
}

std::pair<uint64_t, uint64_t> Kernel::workspace(nb::dict arrays,
                                                nb::dict scalars) {
  Call call;
  bind(call, arrays, scalars, 0);
  tenon_workspace result = {};
  check(tenon_kernel_workspace(handle, &call.arguments, &result));
  return {result.bytes, result.zeroed_bytes};
}

std::pair<uint64_t, uint64_t> Kernel::maxWorkspace(nb::dict bounds) {
  std::vector<std::string> names;
  std::vector<tenon_bound> list;
  for (auto [name, value] : bounds) {
    names.push_back(textOf(name));
    list.push_back({nullptr, nb::cast<int64_t>(value)});
  }
  for (size_t index = 0; index < names.size(); ++index) {
    list[index].symbol = names[index].c_str();
  }
  tenon_workspace result = {};
  check(tenon_kernel_max_workspace(handle, list.data(), list.size(), &result));
  return {result.bytes, result.zeroed_bytes};
}

} // namespace tenon::python
