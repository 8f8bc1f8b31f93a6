# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""trace.py FILE: checks a timeline against the Trace Event format: complete events
with names and times that do not overlap within a thread, and a name for every process
and thread. Prints what it found."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    root = json.load(file)
assert isinstance(root["traceEvents"], list)
assert root["displayTimeUnit"] in ("ms", "ns")
threads, names = {}, {}
for event in root["traceEvents"]:
    assert isinstance(event["name"], str) and event["name"]
    key = (event["pid"], event["tid"])
    assert all(isinstance(part, int) and part >= 0 for part in key)
    if event["ph"] == "M":
        assert event["name"] in ("process_name", "thread_name")
        assert event["args"]["name"]
        names.setdefault(key, set()).add(event["name"])
        continue
    assert event["ph"] == "X", event
    assert event["ts"] >= 0 and event["dur"] > 0
    waited = event.get("args", {}).get("waited", 0)
    assert 0 <= waited < event["dur"], event
    threads.setdefault(key, []).append((event["ts"], event["dur"]))
for key, events in threads.items():
    assert names[key] == {"process_name", "thread_name"}, key
    events.sort()
    for (begin, length), (after, _) in zip(events, events[1:]):
        assert begin + length <= after, (key, begin, length, after)
print(f"{len(threads)} threads of {len({pid for pid, _ in threads})} processes")
