# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cache_entry.py FOLDER TITLE [SECONDS]: writes an entry of the disk cache.

The format is written out here once more, so that a change of it is noticed.
"""

import hashlib
import os
import struct
import sys


def main():
    folder, title = sys.argv[1:3]
    parts = {"spec": f"spec of {title}", "schedule": "{waves = 4}"}
    parts |= {"compiler": "build 1", "target": "gfx950"}
    digest = hashlib.sha256(b"tenon-cache-key 1\n")
    for part in parts.values():
        digest.update(f"{len(part)}\n{part}\n".encode())
    texts = [title, *parts.values()]
    key = b"".join(struct.pack("<I", len(text)) + text.encode() for text in texts)
    value = b"code object"
    head = struct.pack("<16sIIQ", b"tenon-cache", 1, len(key), len(value))
    name = os.path.join(folder, digest.hexdigest() + ".entry")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(head + hashlib.sha256(key + value).digest() + key + value)
    if len(sys.argv) > 3:
        os.utime(name, (int(sys.argv[3]), int(sys.argv[3])))
    print(name)


if __name__ == "__main__":
    main()
