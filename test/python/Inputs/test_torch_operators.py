# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that tenon.torch registers, with torch or with its stand-in."""

import os
import sys
import unittest

import kda
import numpy as np

try:
    import torch
except ImportError:
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "torch_stand_in"))
    import torch

    print("torch is not installed: its stand-in is used", file=sys.stderr)

import tenon
import tenon.torch

HEADS = 2


def tensor(array):
    """The array as a tensor on the same memory."""
    if array.dtype == np.uint16 and hasattr(torch, "bfloat16"):
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def prefill_operands():
    """A call of kda_prefill for sequences of 70 and 5 tokens."""
    given = kda.operands(75, HEADS, slots=4)
    given["cu_seqlens"] = np.array([0, 70, 75], np.int32)
    given["slot"] = np.array([3, 1], np.int32)
    return given


class TorchOperators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runtime = tenon.Runtime(jit="forbid")
        tenon.torch.use(cls.runtime)
        tenon.torch.load(os.environ["TENON_TEST_BUNDLE"])
        cls.device = tenon.Device(cls.runtime, "sim")

    def test_schemas(self):
        """Every op has one; what it marks as mutated is what the kernel writes."""
        self.assertEqual(
            tenon.torch.schema("kda_plan"),
            "kda_plan(Tensor cu_seqlens, Tensor(a0!) plan, *, str statics='') -> ()",
        )
        statics = {
            "kda_decode": {"H": HEADS},
            "kda_prefill": {"H": HEADS},
            "gemm": {"N": 32, "K": 64},
            "moe_route": {},
            "mla_merge": {},
        }
        for op in tenon.ops.__all__:
            self.assertIn(op, tenon.torch.WRITTEN)
            self.assertTrue(hasattr(torch.ops.tenon, op))
        for op, values in statics.items():
            kernel = tenon.Kernel(self.device, op, values)
            for operand in kernel.operands:
                writes = operand["access"] != "read"
                marked = operand["name"] in tenon.torch.WRITTEN[op]
                self.assertEqual(writes, marked, (op, operand["name"]))

    def test_decode(self):
        """An operator computes what the function of tenon.ops does."""
        given = kda.operands(3, HEADS)
        other = {name: array.copy() for name, array in given.items()}
        kernel = tenon.Kernel(self.device, "kda_decode", {"H": HEADS})
        tenon.ops.kda_decode(kernel, **other)
        arguments = {name: tensor(array) for name, array in given.items()}
        qkv = arguments.pop("qkv")
        torch.ops.tenon.kda_decode(qkv, **arguments, statics=f"H={HEADS}")
        for name, array in given.items():
            np.testing.assert_array_equal(array, other[name], name)
        self.assertFalse((given["out"] == 0x7FC0).any())

    def test_prefill(self):
        """An operator has its workspace from torch; integers are arguments like others."""
        given = prefill_operands()
        other = {name: array.copy() for name, array in given.items()}
        kernel = tenon.Kernel(self.device, "kda_prefill", {"H": HEADS})
        size, _ = kernel.workspace(other, {"max_seq_len": 70})
        self.assertGreater(size, 0)
        memory = tenon.Memory(self.device, size)
        tenon.ops.kda_prefill(kernel, **other, max_seq_len=70, workspace=memory)
        arguments = {name: tensor(array) for name, array in given.items()}
        torch.ops.tenon.kda_prefill(
            **arguments, max_seq_len=70, statics=f"H={HEADS}"
        )
        for name, array in given.items():
            np.testing.assert_array_equal(array, other[name], name)
        self.assertFalse((given["out"] == 0x7FC0).any())

    @unittest.skipUnless(
        hasattr(torch.library, "opcheck"), "torch is older than 2.4"
    )
    def test_compiled(self):
        """A graph that torch traces holds the operator and writes the same operands."""
        given = kda.operands(3, HEADS)
        other = {name: array.copy() for name, array in given.items()}
        arguments = {name: tensor(array) for name, array in other.items()}
        torch.ops.tenon.kda_decode(**arguments, statics=f"H={HEADS}")

        def step(operands):
            torch.ops.tenon.kda_decode(**operands, statics=f"H={HEADS}")
            return operands["out"] + 1

        traced = torch.compile(step, backend="aot_eager", fullgraph=True)
        plus = traced({name: tensor(array) for name, array in given.items()})
        for name, array in given.items():
            np.testing.assert_array_equal(array, other[name], name)
        self.assertTrue(torch.equal(plus, tensor(given["out"]) + 1))

    @unittest.skipUnless(
        hasattr(torch.library, "opcheck"), "torch is older than 2.4"
    )
    def test_opcheck(self):
        """What torch itself checks of an operator: schema, fake, aliasing."""
        for op, operands, integers in (
            ("kda_decode", kda.operands(3, HEADS), {}),
            ("kda_prefill", prefill_operands(), {"max_seq_len": 70}),
        ):
            arguments = {name: tensor(array) for name, array in operands.items()}
            torch.library.opcheck(
                getattr(torch.ops.tenon, op).default,
                (),
                dict(arguments, **integers, statics=f"H={HEADS}"),
            )

    def test_errors(self):
        """A kernel that is not there, and an operand that does not fit, are errors."""
        arguments = {n: tensor(a) for n, a in kda.operands(3, HEADS).items()}
        with self.assertRaises(Exception) as caught:
            torch.ops.tenon.kda_decode(**arguments, statics="H=3")
        self.assertIn("tenon compile --op kda_decode", str(caught.exception))
        arguments["a_log"] = tensor(np.zeros(5, np.float32))
        with self.assertRaises(Exception) as caught:
            torch.ops.tenon.kda_decode(**arguments, statics=f"H={HEADS}")
        self.assertIn("a_log", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
