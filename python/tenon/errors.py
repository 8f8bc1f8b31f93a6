# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package."""


class Error(RuntimeError):
    """Anything that Tenon reports; the others are kinds of it."""


class InvalidArgument(Error, ValueError):
    """An argument, a name, an option or an operand is wrong."""


class OperandError(InvalidArgument):
    """An operand is wrong; `operand` is its name."""

    def __init__(self, message: str, operand: str) -> None:
        super().__init__(message)
        self.operand = operand


class KernelNotFound(Error, LookupError):
    """There is no kernel for this key, and none may be compiled."""


class BadBundle(Error):
    """A bundle cannot be read, or is refused."""


class CompileFailed(Error):
    """The compiler is missing, failed, crashed or was killed."""


class DeviceError(Error):
    """There is no such device, or it failed."""


class NotLoaded(Error):
    """A kernel that is not loaded was launched on a stream that is captured."""
