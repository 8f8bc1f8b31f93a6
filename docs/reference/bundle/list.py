# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists a bundle by what bundle.md says of the file: list.py FILE"""

import json
import struct
import sys

data = open(sys.argv[1], "rb").read()
magic, version, header_bytes, file_bytes, records, record_bytes = struct.unpack_from(
    "<8sIIQII", data
)
index, strings, strings_bytes, contents, index_sum = struct.unpack_from("<5Q", data, 32)
(header_sum,) = struct.unpack_from("<Q", data, 120)
assert magic == b"TENONBDL" and version == 1
assert file_bytes == len(data) and record_bytes == 160 and index == header_bytes == 128
assert strings == index + records * record_bytes and data[72:120] == bytes(48)

for number in range(records):
    record = index + number * record_bytes
    texts = struct.unpack_from("<14I", data, record)
    texts = [
        data[strings + offset : strings + offset + length].decode()
        for offset, length in zip(texts[::2], texts[1::2])
    ]
    op, statics, target, bucket, schedule, llvm, compiler = texts
    (contract,) = struct.unpack_from("<I", data, record + 56)
    plan, plan_bytes, plan_sum = struct.unpack_from("<3Q", data, record + 64)
    code, code_bytes, code_sum = struct.unpack_from("<3Q", data, record + 88)
    assert contents <= plan and plan % 64 == code % 64 == 0
    assert code + code_bytes <= file_bytes and plan + plan_bytes <= file_bytes
    launches = json.loads(data[plan : plan + plan_bytes])["launches"]
    assert data[code : code + 4] == b"\x7fELF"
    print(f"{op} [{bucket}] {target}, contract {contract}: {len(launches)} launch")
