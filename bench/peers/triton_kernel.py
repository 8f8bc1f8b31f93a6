# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of Triton packages as code objects for gfx950, and their launches in the
simulator."""

import os
import subprocess
from dataclasses import dataclass, field

import triton
from triton.compiler import ASTSource
from triton.runtime import Autotuner, Heuristics

import stand_ins

BYTES = {"bf16": 2, "fp32": 4, "i32": 4, "i64": 8}


@dataclass
class Tensor:
    """A buffer of so many elements; launches that name the same share it."""

    type: str
    elements: int
    name: str

    @property
    def bytes(self):
        return self.elements * BYTES[self.type]


@dataclass
class Launch:
    """A kernel, its arguments by name (Tensor, int, float, None, str, bool), and the grid
    as a function of them and of what an autotuner chooses."""

    kernel: object
    arguments: dict
    grid: object
    options: dict = field(default_factory=dict)


@dataclass
class Candidate:
    """A code object and how it is launched."""

    text: str  # what the autotuner chose
    path: str
    name: str
    grid: tuple
    threads: int
    lds: int
    arguments: list  # of Tensor and of texts for `tenon sim`


def _spread(items, count):
    """At most `count` of `items`, from the first to the last."""
    if len(items) <= count:
        return list(items)
    step = (len(items) - 1) / max(count - 1, 1)
    return [items[round(index * step)] for index in range(count)]


def _layers(kernel):
    """The JIT function under `kernel`, its heuristics and the choices of its autotuner."""
    heuristics, configs = {}, []
    while not isinstance(kernel, triton.JITFunction):
        if isinstance(kernel, Heuristics):
            heuristics.update(kernel.values)
        elif isinstance(kernel, Autotuner):
            configs = kernel.configs
        kernel = kernel.fn
    return kernel, heuristics, configs


def _compile(function, values, options):
    """The compiled kernel, and its arguments."""
    signature, constants, attributes, texts = {}, {}, {}, []
    for index, parameter in enumerate(function.params):
        name = parameter.name
        value = values.get(name, parameter.default)
        is_constant = parameter.is_constexpr or value is None or isinstance(value, (str, bool))
        # An integer of 1 becomes a constant, one that 16 divides is known to be.
        is_special = isinstance(value, int) and not parameter.do_not_specialize
        if is_constant or (is_special and value == 1):
            signature[name] = "constexpr"
            constants[name] = value
            continue
        if isinstance(value, Tensor):
            signature[name] = f"*{value.type}"
            attributes[(index,)] = [["tt.divisibility", 16]]
            texts.append(value)
        elif isinstance(value, float):
            signature[name] = "fp32"
            texts.append(f"f32:{value}")
        else:
            signature[name] = "i32"
            texts.append(f"i32:{value}")
            if is_special and value % 16 == 0:
                attributes[(index,)] = [["tt.divisibility", 16]]
    source = ASTSource(function, signature, constants, attributes)
    return triton.compile(source, target=stand_ins.TARGET, options=options), texts


def candidates(launch, count, folder):
    """Compiles `launch` with at most `count` of its autotuner's choices."""
    function, heuristics, configs = _layers(launch.kernel)
    for number, config in enumerate(_spread(configs, count) or [None]):
        values, options = dict(launch.arguments), dict(launch.options)
        if config is not None:
            values.update(config.kwargs)
            options.update(num_warps=config.num_warps, num_stages=config.num_stages)
        for name, rule in heuristics.items():
            values[name] = rule(values)
        compiled, texts = _compile(function, values, options)
        path = os.path.join(folder, f"{function.__name__}.{number}.co")
        with open(path, "wb") as file:
            file.write(compiled.asm["hsaco"])
        grid = tuple(launch.grid(values)) + (1, 1)
        yield Candidate(
            str(config) if config else "no choice",
            path,
            compiled.metadata.name,
            grid[:3],
            compiled.metadata.num_warps * compiled.metadata.warp_size,
            compiled.metadata.shared,
            texts,
        )


def _run(tenon, candidate, argument, options):
    """The lines that `tenon sim` prints for a candidate, its buffers as `argument` says."""
    command = [tenon, "sim", candidate.path, "--kernel", candidate.name, *options]
    command += ["--grid", ",".join(map(str, candidate.grid)), "--checks", "none"]
    command += ["--block", f"{candidate.threads},1,1", "--lds", str(candidate.lds)]
    for value in candidate.arguments:
        command += ["--arg", argument(value) if isinstance(value, Tensor) else value]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {result.stderr.strip()[-400:]}")
    return result.stdout.splitlines()


def modelled(tenon, candidate, sampled):
    """The lines that `tenon sim --timing` prints for a candidate."""
    timing = "--timing=sampled" if sampled else "--timing=full"
    return _run(tenon, candidate, lambda tensor: f"buf:{tensor.bytes}", [timing])


def executed(tenon, candidate, folder):
    """Executes a candidate on the buffers NAME.npy of `folder`, and writes them back."""

    def argument(tensor):
        path = os.path.join(folder, tensor.name + ".npy")
        return f"npy:{path}:out={path}"

    _run(tenon, candidate, argument, [])
