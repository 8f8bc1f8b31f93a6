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

    def __dlpack__(self, stream=None):
        self.streams = stream
        self.shape = (ctypes.c_int64 * self.array.ndim)(*self.array.shape)
        self.tensor = Tensor(
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
        return capsule(ctypes.addressof(self.tensor), b"dltensor", None)
