# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in memory of HIP, which they offer by DLPack as a framework does."""

import ctypes

import numpy as np

ROCM = 10  # DLDeviceType
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2

library = ctypes.CDLL("libamdhip64.so.7")


def call(name, *arguments):
    error = getattr(library, name)(*arguments)
    if error:
        raise RuntimeError(f"{name} returned {error}")


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("type_code", ctypes.c_uint8),
        ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype = ctypes.py_object
capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Array:
    """A copy of an array of NumPy on the device."""

    CODES = {"i": 0, "u": 1, "f": 2}

    def __init__(self, array):
        self.array = np.ascontiguousarray(array)
        self.address = ctypes.c_void_p()
        call("hipMalloc", ctypes.byref(self.address), ctypes.c_size_t(array.nbytes))
        self.write(array)

    def __del__(self):
        call("hipFree", self.address)

    def _copy(self, to, source, kind):
        size = ctypes.c_size_t(self.array.nbytes)
        call("hipMemcpy", to, source, size, kind)

    def write(self, array):
        self.array[...] = array
        host = ctypes.c_void_p(self.array.ctypes.data)
        self._copy(self.address, host, HOST_TO_DEVICE)

    def read(self):
        found = np.empty_like(self.array)
        self._copy(ctypes.c_void_p(found.ctypes.data), self.address, DEVICE_TO_HOST)
        return found

    def __dlpack_device__(self):
        return ROCM, 0

    def describe(self):
        self.shape = (ctypes.c_int64 * self.array.ndim)(*self.array.shape)
        return Tensor(
            self.address,
            ROCM,
            0,
            self.array.ndim,
            self.CODES[self.array.dtype.kind],
            8 * self.array.itemsize,
            1,
            self.shape,
            None,
            0,
            None,
            None,
        )

    def __dlpack__(self, stream=None):
        self.stream = stream
        self.tensor = self.describe()
        return capsule(ctypes.addressof(self.tensor), b"dltensor", None)


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)
def view(array, out):
    """DLPackDLTensorFromPyObjectNoSync; the last two members are none of a DLTensor."""
    described = array.describe()
    ctypes.memmove(out, ctypes.byref(described), Tensor.context.offset)
    return 0


@ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)
def current_stream(device_type, device_id, out):
    """DLPackCurrentWorkStream."""
    out[0] = Exchanged.current
    return 0


class ExchangeApi(ctypes.Structure):
    """DLPackExchangeAPI, as a framework of version 1.2 of DLPack has it."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("export_managed", ctypes.c_void_p),
        ("import_managed", ctypes.c_void_p),
        ("view", type(view)),
        ("current_stream", type(current_stream)),
    ]


exchange_api = ExchangeApi(1, 3, None, None, None, None, view, current_stream)
# Of a later major version, whose layout nobody knows, behind which this one stands.
later_api = ExchangeApi(2, 0, ctypes.addressof(exchange_api))
# A capsule keeps the address of its name.
EXCHANGE_API = b"dlpack_exchange_api"


class Exchanged(Array):
    """An array of a framework that offers functions instead of `__dlpack__`."""

    current = None  # the stream on which the framework works
    __dlpack_c_exchange_api__ = capsule(
        ctypes.addressof(later_api), EXCHANGE_API, None
    )
