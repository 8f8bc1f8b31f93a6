#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""draw_trace.py TRACE.json... -o FILE.svg: pictures of timelines of `tenon sim --trace`.

Each trace becomes a panel with a row per wave of one workgroup: dark where the wave
issues, coloured by what it waits for elsewhere. All panels have one scale."""

import argparse
import json
import os
import sys
from xml.sax.saxutils import escape

COLOURS = {
    "issues": "#1f2430",
    "fetch": "#b07aa1",
    "branch": "#d4a6c8",
    "vector_load": "#5a82c4",
    "scalar_load": "#a0cbe8",
    "lds_data": "#f1ce63",
    "lds": "#e15759",
    "barrier": "#bab0ac",
    "matrix": "#59a14f",
    "vector": "#8cd17d",
    "vector_memory": "#499894",
    "issue": "#d7b5a6",
    "sleep": "#e8e8ee",
}
LEFT, WIDTH, ROW, GAP = 90, 860, 20, 6


def segments(path, workgroup):
    """By wave: the begin, length and reason of every stretch, in clocks."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    waves = {}
    for event in events:
        if event["ph"] != "X" or event["tid"] // 100 != workgroup:
            continue
        row = waves.setdefault(event["tid"] % 100, [])
        begin, end = event["ts"], event["ts"] + event["dur"]
        arguments = event.get("args", {})
        waited = arguments.get("waited", 0)
        if waited:
            row.append([begin, waited, arguments["waited_for"]])
        row.append([begin + waited, end - begin - waited, "issues"])
    if not waves:
        sys.exit(f"draw_trace: {path} has no workgroup {workgroup}")
    return {wave: merged(sorted(row)) for wave, row in sorted(waves.items())}


def merged(row):
    """Neighbours of one kind as one stretch."""
    result = []
    for begin, length, kind in row:
        if result and result[-1][2] == kind and sum(result[-1][:2]) == begin:
            result[-1][1] += length
        else:
            result.append([begin, length, kind])
    return result


def draw(panels):
    """The SVG text of panels, which are titles and segments by wave."""
    last = max(
        begin + length
        for _, waves in panels
        for row in waves.values()
        for begin, length, _ in row
    )
    scale = WIDTH / last
    body, y, used = [], 20, set()
    for title, waves in panels:
        body.append(f'<text x="{LEFT}" y="{y}" font-weight="bold">{escape(title)}</text>')
        y += 10
        for wave, row in waves.items():
            body.append(f'<text x="{LEFT - 12}" y="{y + 15}" text-anchor="end">wave {wave}</text>')
            for begin, length, kind in row:
                used.add(kind)
                body.append(
                    f'<rect x="{LEFT + begin * scale:.1f}" y="{y}" '
                    f'width="{length * scale:.2f}" height="{ROW}" fill="{COLOURS[kind]}"/>'
                )
            y += ROW + GAP
        y += 26
    step = 10 ** (len(str(int(last))) - 1)
    step = step if last / step >= 3 else step // 2
    for clock in range(0, int(last) + 1, step):
        x = LEFT + clock * scale
        body.append(f'<path d="M{x:.1f} {y - 22} v6" stroke="#4a5263"/>')
        body.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{clock}</text>')
    y += 22
    x = LEFT
    for kind, colour in COLOURS.items():
        if kind in used:
            body.append(f'<rect x="{x}" y="{y - 11}" width="14" height="14" fill="{colour}"/>')
            body.append(f'<text x="{x + 19}" y="{y}">{kind}</text>')
            x += 34 + 8 * len(kind)
    width, height = LEFT + WIDTH + 30, y + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" fill="#1f2430" font-size="13" '
        'font-family="DejaVu Sans, Verdana, Helvetica, sans-serif">\n'
        f'<rect width="{width}" height="{height}" rx="10" fill="#fbfbfd" stroke="#d6d9e0"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", metavar="TRACE.json")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.svg")
    parser.add_argument("--workgroup", type=int, default=0)
    arguments = parser.parse_args()
    panels = [
        (os.path.basename(path).removesuffix(".json"), segments(path, arguments.workgroup))
        for path in arguments.traces
    ]
    with open(arguments.output, "w", encoding="utf-8") as file:
        file.write(draw(panels))


if __name__ == "__main__":
    main()
