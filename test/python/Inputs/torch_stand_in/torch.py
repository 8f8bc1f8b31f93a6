# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tenon.torch takes of torch, on NumPy: it keeps what is registered, and calls it
with positional and keyword arguments as torch's dispatcher does."""

import types

import numpy as np

uint8 = np.uint8
ops = types.SimpleNamespace()
cuda = types.SimpleNamespace()


class device:
    def __init__(self, name):
        name = name if isinstance(name, str) else name.type
        self.type, _, index = name.partition(":")
        self.index = int(index) if index else None


class Tensor(np.ndarray):
    device = device("cpu")

    def numel(self):
        return self.size

    def data_ptr(self):
        return self.ctypes.data


def from_numpy(array):
    return array.view(Tensor)


def empty(size, dtype, device):
    return np.full(size, 0xA5, dtype).view(Tensor)


def zeros(size, dtype, device):
    return np.zeros(size, dtype).view(Tensor)


class _Library:
    def __init__(self, name, kind):
        assert kind == "DEF"
        self.namespace = types.SimpleNamespace()
        setattr(ops, name, self.namespace)
        self.schemas = {}

    def define(self, schema):
        self.schemas[schema.partition("(")[0]] = schema

    def impl(self, name, function, key):
        assert name in self.schemas
        if key == "CPU":
            setattr(self.namespace, name, function)


library = types.SimpleNamespace(Library=_Library)
