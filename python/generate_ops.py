#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the module with one function per op from docs/reference/tenon.md.

That page is the contract of the ops as the compiler has it, so names, shapes and
units are those of the contract, and building the package needs no compiler.
"""

import argparse
import keyword
import re
import textwrap

HEADER = '''# Generated from docs/reference/tenon.md by generate_ops.py.
"""One function per op; the operands bear the names of its contract."""

from typing import Optional, Union

from ._call import Array, Statics, Stream, Workspace, launch as _launch
from ._tenon import Device, Kernel

'''

FUNCTION = '''
def {name}(
    where: Union[Device, Kernel],
    *,
{parameters}    statics: Statics = None,
    workspace: Workspace = None,
    zeroed_workspace: Workspace = None,
    stream: Stream = None,
) -> None:
    """{doc}
    """
    _launch(
        where,
        "{name}",
        statics,
        {{{operands}}},
        {{{scalars}}},
        workspace,
        zeroed_workspace,
        stream,
    )

'''

CALL = """**Call.** `where` is the device to launch on, with `statics`, the static
parameters that differ from their defaults, such as `{"H": 12}`; or a kernel of this op,
which has them. Workspaces are memory of the sizes that `Kernel.workspace` tells;
`stream` is an address or a stream of a framework. Arrays are shared through DLPack and
never copied. Further dimensions of size 1, [H, D] for H*D, uint8 for types of 8 and 4
bits, uint16 for bf16 and bool for i8 are accepted."""


def sections(page):
    """The name and the text of every op of the page."""
    ops = page.partition("\n## Attributes")[0]
    parts = re.split(r"^### `tenon\.(\w+)` .*$", ops, flags=re.M)
    return zip(parts[1::2], parts[2::2])


def optional_operands(syntax):
    """The operands within `( ... )?`, each group of which is one line."""
    groups = re.findall(r"^\s*\((.*)\)\?\s*$", syntax, flags=re.M)
    return {name for group in groups for name in re.findall(r"\$(\w+)", group)}


def parse(text):
    """Summary, description, and (name, is scalar, is optional) of each operand."""
    summary = re.search(r"^_(.+)_$", text, flags=re.M).group(1)
    syntax = re.search(r"```\noperation ::=(.*?)```", text, flags=re.S)
    description = text[syntax.end() :].partition("\nTraits:")[0].strip()
    table = text.partition("#### Operands:")[2]
    optional = optional_operands(syntax.group(1))
    operands = [
        (name, kind.strip() == "index", name in optional)
        for name, kind in re.findall(r"^\| `(\w+)` \| (.*?) \|$", table, flags=re.M)
    ]
    return summary, description, operands


def function(name, text):
    summary, description, operands = parse(text)
    for operand, _, _ in operands:
        if keyword.iskeyword(operand):
            raise SystemExit(f"{name}: {operand} cannot be an argument of Python")
    # Operands that must be given come first; all are keywords.
    parameters = ""
    for operand, is_scalar, is_optional in sorted(operands, key=lambda o: o[2]):
        kind = "int" if is_scalar else "Array"
        if is_optional:
            parameters += f"    {operand}: Optional[{kind}] = None,\n"
        else:
            parameters += f"    {operand}: {kind},\n"
    doc = f"{summary}\n\n{description}\n\n{CALL}"
    doc = doc.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    doc = textwrap.indent(doc, "    ").lstrip()

    def entries(scalar):
        return ", ".join(
            f'"{operand}": {operand}'
            for operand, is_scalar, _ in operands
            if is_scalar == scalar
        )

    return FUNCTION.format(
        name=name,
        parameters=parameters,
        doc=doc,
        operands=entries(False),
        scalars=entries(True),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", help="docs/reference/tenon.md")
    parser.add_argument("output", help="the module to write")
    args = parser.parse_args()
    with open(args.page, encoding="utf-8") as file:
        ops = list(sections(file.read()))
    if not ops:
        raise SystemExit(f"{args.page}: no op was found")
    names = ", ".join(f'"{name}"' for name, _ in ops)
    with open(args.output, "w", encoding="utf-8") as file:
        file.write(HEADER + f"__all__ = [{names}]\n\n")
        file.write("\n".join(function(name, text) for name, text in ops))


if __name__ == "__main__":
    main()
