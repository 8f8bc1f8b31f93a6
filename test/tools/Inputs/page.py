# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds a page of the documentation against what the tools do: `page.py PAGE FILE...`.

In a block that begins with `$ `, each line behind a `$ ` is a command and the lines up to
the next are what it prints, to the letter. The blocks run in order in one shell, in the
current folder, and every command has to succeed. The lines of a block marked `mlir` stand
in one of the FILEs, in that order. A figure of two digits or more, or with a decimal
point, in the text itself stands in a block, or is the right side of an equation in
backticks that holds; `--commands` leaves the text out. With `--write` first the page gets what the commands print now; its
text is then left to the writer."""

import ast
import difflib
import operator
import os
import re
import subprocess
import sys

MARK = "@@ end of a command: "
FIGURE = re.compile(r"(?<![\w.])\d+\.\d+|(?<![\w.])\d{2,}(?![\w.]*\w)")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
OPERATORS[ast.Div] = operator.truediv


def parts(lines):
    """The page as (kind, lines): text, or a block by the word behind its fence."""
    result, kind, begin = [], "text", 0
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        result.append((kind, lines[begin:number]))
        opens = kind == "text"
        kind, begin = (line[3:] or "session" if opens else "text"), number + 1
    if kind != "text":
        sys.exit("the last block has no end")
    return result + [("text", lines[begin:])]


def run(commands):
    """What each command prints."""
    script = f'python3() {{ "{sys.executable}" "$@"; }}\n'
    script += "".join(f"{{ {c}\n}} 2>&1\necho '{MARK}'$?\n" for c in commands)
    shell = ["bash", "-c", script]
    environment = dict(os.environ, LC_ALL="C")
    done = subprocess.run(shell, capture_output=True, text=True, env=environment)
    outputs = re.split(rf"^{MARK}(\d+)\n", done.stdout, flags=re.M)
    if len(outputs) != 2 * len(commands) + 1:
        sys.exit(f"the shell ended early: {done.stdout}{done.stderr}")
    for command, output, code in zip(commands, outputs[::2], outputs[1::2]):
        if code != "0":
            sys.exit(f"$ {command}\n{output}ended with {code}")
    return [output.splitlines() for output in outputs[:-1:2]]


def evaluate(node):
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](evaluate(node.left), evaluate(node.right))
    return node.value


def offences(page, files):
    """What the text and the program excerpts say that is not so."""
    blocks = "\n".join("\n".join(lines) for kind, lines in page if kind != "text")
    known = set(re.findall(r"\d+(?:\.\d+)?", blocks))
    for kind, lines in page:
        if kind == "mlir":
            wanted = "\n".join(lines)
            if not any(wanted in open(file, encoding="utf-8").read() for file in files):
                yield f"no file has these lines:\n{wanted}"
        if kind != "text":
            continue
        for line in lines:
            for left, right in re.findall(r"`([\d.+*/() -]+) = ([\d.]+)`", line):
                value = evaluate(ast.parse(left, mode="eval").body)
                digits = len(right.partition(".")[2])
                if abs(value - float(right)) > 0.5000001 * 10**-digits:
                    yield f"{left} is {value}, not {right}"
                known.add(right)
            for figure in FIGURE.findall(line):
                if figure not in known:
                    yield f"{figure} stands in no block: {line}"


def main(arguments):
    write, commands_only = "--write" in arguments, "--commands" in arguments
    path, *files = [argument for argument in arguments if argument[:2] != "--"]
    with open(path, encoding="utf-8") as file:
        old = file.read().splitlines()
    page = parts(old)
    sessions = [lines for kind, lines in page if kind == "session"]
    sessions = [lines for lines in sessions if lines[0].startswith("$ ")]
    commands = [line[2:] for lines in sessions for line in lines if line[:2] == "$ "]
    outputs = iter(run(commands))
    for lines in sessions:
        kept = [line for line in lines if line[:2] == "$ "]
        lines[:] = [text for line in kept for text in (line, *next(outputs))]
    new = []
    for kind, lines in page:
        fences = kind != "text"
        word = "" if kind == "session" else kind
        new += ["```" + word] * fences + lines + ["```"] * fences
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(new) + "\n")
        old = new
    found = list(difflib.unified_diff(old, new, "page", "now", lineterm=""))
    if found:
        found.append("page.py --write makes the page say so; then read its text again")
    if not commands_only:
        found += offences(page, files)
    if found:
        sys.exit("\n".join(found))
    print(f"{len(commands)} commands print what the page says")


if __name__ == "__main__":
    main(sys.argv[1:])
