# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What lets kernels of flash-linear-attention be imported with no GPU and no torch.

Their modules name torch in annotations, decorators and host functions; compiling a kernel
needs none of these. `install` puts a module in torch's place whose every attribute is a
class that does nothing, and makes triton believe that gfx950 is the active device.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import types

import triton
from triton.backends.compiler import GPUTarget

TARGET = GPUTarget("hip", "gfx950", 64)


class _AnyMeta(type):
    """Attributes of the class are classes like it; calls leave functions as they are."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _any(name)

    def __call__(cls, *arguments, **_):
        if len(arguments) == 1 and isinstance(arguments[0], types.FunctionType):
            return arguments[0]
        return type.__call__(cls)

    def __or__(cls, _):
        return cls

    __ror__ = __or__


def _any(name):
    return _AnyMeta(name, (), {"__init__": lambda self: None, "__call__": _decorate})


def _decorate(_, *arguments, **__):
    return arguments[0] if arguments else None


class _Torch(types.ModuleType):
    __version__ = "2.9.0"
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = _any(name)
        setattr(self, name, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name == "torch" or name.startswith("torch."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Torch(spec.name)

    def exec_module(self, module):
        pass


class _Properties:
    """Of an MI355X: choices of autotuners depend on them."""

    @staticmethod
    def get_device_properties(_):
        return {"multiprocessor_count": 256, "max_shared_mem": 163840, "warpSize": 64}


class _Driver:
    """A device that is asked for its kind and properties alone."""

    utils = _Properties

    def get_current_target(self):
        return TARGET

    def get_active_torch_device(self):
        return None

    def get_benchmarker(self):
        return None

    def __getattr__(self, name):
        raise AttributeError(f"there is no device: {name}")


def install():
    """To be called before anything of flash-linear-attention is imported."""
    sys.meta_path.insert(0, _Finder())
    triton.runtime.driver.set_active(_Driver())
    importlib.import_module("torch").cuda.device_count = lambda: 1
