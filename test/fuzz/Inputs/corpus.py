# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""corpus.py FOLDER BUNDLE...: makes seeds of real bundles in FOLDER/bundles, with code
objects cut short so that mutations meet the rest of the file, and of their plans in
FOLDER/plans. The fuzzer of bundles makes the checksums right by itself."""

import os
import struct
import sys

CODE_BYTES = 64
folder, *bundles = sys.argv[1:]
for name in ("bundles", "plans"):
    os.makedirs(os.path.join(folder, name))


def write(kind, name, content):
    with open(os.path.join(folder, kind, name), "wb") as file:
        file.write(content)


for bundle in bundles:
    name = os.path.basename(bundle)
    data = bytearray(open(bundle, "rb").read())
    (records,) = struct.unpack_from("<I", data, 24)
    (contents,) = struct.unpack_from("<Q", data, 56)
    kept = bytearray()
    for number in range(records):
        record = 128 + 160 * number
        for field, limit in ((64, None), (88, CODE_BYTES)):
            offset, length = struct.unpack_from("<2Q", data, record + field)
            content = data[offset : offset + length][:limit]
            if limit is None:
                write("plans", f"{name}-{number}", content)
            struct.pack_into(
                "<2Q", data, record + field, contents + len(kept), len(content)
            )
            kept += content + bytes(-len(content) % 64)
    write("bundles", name, data[:contents] + kept)
