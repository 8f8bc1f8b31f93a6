# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""KDA decode through Python on the simulator. TENON_TEST_BUNDLE holds it, H=2."""

import os
import unittest

import kda
import numpy as np
import tenon

HEADS = 2


class KdaDecode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runtime = tenon.Runtime(jit="forbid", cache_folder="")
        cls.runtime.load(os.environ["TENON_TEST_BUNDLE"])
        cls.device = tenon.Device(cls.runtime, "sim")
        cls.kernel = tenon.Kernel(cls.device, "kda_decode", {"H": HEADS})

    def check(self, given, out, state, window, reference):
        self.assertLess(kda.relative_error(kda.from_bf16(out), reference[0]), 4e-3)
        self.assertLess(kda.relative_error(state, reference[1]), 2e-5)
        np.testing.assert_array_equal(window, reference[2])

    def test_against_the_formula(self):
        """The results are those of the formula, in the arrays of the caller."""
        given = kda.operands(3, HEADS)
        reference = kda.expected(given, HEADS)
        tenon.ops.kda_decode(self.device, statics={"H": HEADS}, **given)
        self.check(given, given["out"], given["state"], given["conv_state"], reference)

    def test_shapes_that_mean_the_same(self):
        """Heads as a dimension, dimensions of size 1 and strided rows are the same
        operands, and no array is copied."""
        given = kda.operands(2, HEADS)
        reference = kda.expected(given, HEADS)
        wide = np.full((2, 5 * HEADS * 128), 0x7FC0, np.uint16)
        wide[:, : 3 * HEADS * 128] = given["qkv"]
        table = np.zeros((2, 4), np.int32)
        table[:, 1] = given["slot"]
        out = given["out"].reshape(2, 1, HEADS, 128)
        tenon.ops.kda_decode(
            self.kernel,
            **given
            | {
                "qkv": wide[:, : 3 * HEADS * 128].reshape(2, 1, -1),
                "raw_g": given["raw_g"].reshape(2, HEADS, 128),
                "raw_beta": given["raw_beta"][:, None, :],
                "conv_weight": given["conv_weight"].reshape(3, HEADS, 128, 1, 4),
                "a_log": given["a_log"].reshape(1, 1, HEADS, 1),
                "slot": table[:, 1],
                "out": out,
            },
        )
        self.check(given, given["out"], given["state"], given["conv_state"], reference)

    def test_one_request(self):
        """A size that is 1 is not taken for a superfluous dimension."""
        given = kda.operands(1, HEADS)
        reference = kda.expected(given, HEADS)
        tenon.ops.kda_decode(self.kernel, **given)
        self.check(given, given["out"], given["state"], given["conv_state"], reference)

    def test_read_only_inputs(self):
        """What the kernel reads may be read-only; what it writes may not."""
        given = kda.operands(1, HEADS)
        reference = kda.expected(given, HEADS)
        given["qkv"].flags.writeable = False
        try:
            np.from_dlpack(given["qkv"])
        except (BufferError, TypeError, ValueError) as error:
            self.skipTest(f"NumPy {np.__version__} shares no such array: {error}")
        tenon.ops.kda_decode(self.kernel, **given)
        self.check(given, given["out"], given["state"], given["conv_state"], reference)
        given["out"].flags.writeable = False
        with self.assertRaisesRegex(tenon.OperandError, "read-only") as caught:
            tenon.ops.kda_decode(self.kernel, **given)
        self.assertEqual(caught.exception.operand, "out")

    def refused(self, operand, pattern, **changes):
        given = kda.operands(2, HEADS)
        before = {name: value.copy() for name, value in given.items()}
        with self.assertRaisesRegex(tenon.OperandError, pattern) as caught:
            tenon.ops.kda_decode(self.kernel, **given | changes)
        self.assertEqual(caught.exception.operand, operand)
        for name, value in given.items():
            np.testing.assert_array_equal(value, before[name])

    def test_errors_name_the_operand(self):
        """A wrong type, shape, place or kind of array is an error that names the
        operand; nothing is launched."""
        good = kda.operands(2, HEADS)
        self.refused(
            "state",
            r"expected f32 \[\w+, 2, 128, 128\], found float64 \[3, 2, 128, 128\]",
            state=good["state"].astype(np.float64),
        )
        self.refused("a_log", r"found float32 \[3\]", a_log=np.ones(3, np.float32))
        # A transposed array cannot be one dimension.
        self.refused(
            "raw_g",
            r"strides \[256, 1, 2\]",
            raw_g=good["raw_g"].reshape(2, 128, 2).transpose(0, 2, 1),
        )
        self.refused("slot", r"2 .*operand 'qkv'", slot=np.ones(3, np.int32))
        self.refused("out_gate", "is missing: expected bf16", out_gate=None)
        self.refused("qkv", "has no __dlpack__: it is a list", qkv=[1, 2])
        self.refused(
            "conv_start", "is none of this kernel", conv_start=np.ones(2, np.int32)
        )
        odd = np.zeros(HEADS * 128 + 1, np.float32)[1:]
        self.refused("dt_bias", "16", dt_bias=odd)
        with self.assertRaises(TypeError):
            tenon.ops.kda_decode(self.kernel, **good, gate=1)

    def test_missing_kernels(self):
        """In forbid mode a miss names the key and the command that builds it."""
        with self.assertRaisesRegex(
            tenon.KernelNotFound, "tenon compile --op kda_decode --set H=7"
        ):
            tenon.Kernel(self.device, "kda_decode", {"H": 7})
        with self.assertRaisesRegex(tenon.InvalidArgument, "no_such_op"):
            tenon.Kernel(self.device, "no_such_op")
        with self.assertRaisesRegex(tenon.InvalidArgument, "heads"):
            tenon.Kernel(self.device, "kda_decode", {"heads": 2})

    def test_kernels_describe_themselves(self):
        """Operands, names and workspace can be asked for, and calls are counted."""
        by_name = {operand["name"]: operand for operand in self.kernel.operands}
        self.assertEqual(by_name["state"]["type"], "f32")
        self.assertEqual(by_name["state"]["shape"][1:], (2, 128, 128))
        self.assertEqual(by_name["state"]["access"], "read_write")
        self.assertEqual(by_name["qkv"]["access"], "read")
        self.assertIn("H=2", self.kernel.name)
        self.assertEqual(self.kernel.max_workspace({"N": 8, "S": 9, "L": 3}), (0, 0))
        before = self.runtime.counters()["launches"]
        tenon.ops.kda_decode(self.kernel, **kda.operands(1, HEADS))
        self.assertEqual(self.runtime.counters()["launches"], before + 1)
        self.assertIn("launches", self.runtime.prometheus())


if __name__ == "__main__":
    unittest.main()
