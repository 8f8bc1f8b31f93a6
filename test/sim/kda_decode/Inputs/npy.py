# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes and reads small .npy files with nothing but the standard library.

    npy.py write FILE TYPE SHAPE VALUE...   VALUE may be nan; one value fills all
    npy.py expect FILE VALUE...             every element equals one of the values
    npy.py equal FILE FILE                  the same shape and the same bytes
"""

import ast
import math
import struct
import sys

CODES = {"f4": "f", "i4": "i", "u2": "H", "u1": "B", "f8": "d", "u4": "I"}


def write(path, kind, shape, values):
    shape = tuple(int(size) for size in shape.split("x"))
    count = math.prod(shape)
    numbers = [float(v) if kind.startswith("f") else int(v) for v in values]
    if len(numbers) == 1:
        numbers *= count
    assert len(numbers) == count, f"{count} values wanted, {len(numbers)} given"
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack(f"<{count}{CODES[kind]}", *numbers))


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10 : 10 + length].decode())
    kind = header["descr"].lstrip("<|")
    count = math.prod(header["shape"])
    values = struct.unpack_from(f"<{count}{CODES[kind]}", data, 10 + length)
    return header["shape"], values


def main():
    action, *rest = sys.argv[1:]
    if action == "write":
        write(*rest[:3], rest[3:])
    elif action == "expect":
        _, values = read(rest[0])
        allowed = {float(v) for v in rest[1:]}
        wrong = [v for v in values if v not in allowed]
        if wrong or not values:
            sys.exit(f"{len(wrong)} of {len(values)} elements differ, such as {wrong[:3]}")
    elif action == "equal":
        with open(rest[0], "rb") as left, open(rest[1], "rb") as right:
            if left.read() != right.read():
                sys.exit(f"{rest[0]} and {rest[1]} differ")


if __name__ == "__main__":
    main()
