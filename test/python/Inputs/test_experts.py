# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Experts packed on the host: against the formulas of #tenon.weight_layout."""

import io
import os
import unittest

import numpy as np
from tenon import experts


def checkpoint(count, rows, depth, seed=1):
    random = np.random.default_rng(seed)
    weights = random.integers(0, 256, (count, rows, depth // 2)).astype(np.uint8)
    scales = random.integers(1, 255, (count, rows, depth // 32)).astype(np.uint8)
    return weights, scales


def weight_at(packed, n, k, depth):
    """The 16 bytes from value (n, k) on."""
    element = n // 16 * 16 * depth + k // 32 * 16 * 32 + n % 16 * 32
    return packed[element // 2 : element // 2 + 16]


def scale_at(packed, n, b, depth):
    blocks = -(-depth // 32 // 8) * 8
    return packed[
        n // 32 * 32 * blocks
        + b // 8 * 256
        + b % 4 * 64
        + n % 16 * 4
        + b // 4 % 2 * 2
        + n // 16 % 2
    ]


class Experts(unittest.TestCase):
    def check(self, weights, scales, packed, places, depth, stride):
        """`places[n]` is the row of the order at which row n is found."""
        for expert in range(len(weights)):
            own = packed[0].reshape(len(weights), -1)[expert]
            own_scales = packed[1][expert * stride :][:stride]
            for n, place in enumerate(places):
                for k in range(0, depth, 32):
                    np.testing.assert_array_equal(
                        weight_at(own, place, k, depth),
                        weights[expert, n, k // 2 : k // 2 + 16],
                    )
                    self.assertEqual(
                        scale_at(own_scales, place, k // 32, depth),
                        scales[expert, n, k // 32],
                    )

    def test_orders(self):
        """Every value is where the order says, what is filled up is 0."""
        weights, scales = checkpoint(2, 96, 320)
        packed = experts.pack(weights, scales)
        self.assertEqual(packed[1].size, 2 * 96 * 16)
        self.check(weights, scales, packed, range(96), 320, 96 * 16)
        self.assertEqual(np.count_nonzero(packed[1]), scales.size)
        packed = experts.pack(weights, scales, order="aiter")
        # 192 rows are filled up to 256.
        self.assertEqual(packed[1].size, 256 * 16)
        self.check(weights, scales, packed, range(96), 320, 96 * 16)

    def test_gate_and_up(self):
        """Rows of gate and up alternate in the checkpoint, in the order, in both."""
        weights, scales = checkpoint(2, 128, 64)
        rows = np.arange(128)
        halves = rows // 2 + rows % 2 * 64
        packed = experts.pack(weights, scales, interleaved=True)
        self.check(weights, scales, packed, halves, 64, 128 * 8)
        by_tiles = rows % 64 // 16 * 32 + rows // 64 * 16 + rows % 16
        packed = experts.pack(weights, scales, order="aiter_interleaved")
        self.check(weights, scales, packed, by_tiles, 64, 128 * 8)
        packed = experts.pack(
            weights, scales, order="aiter_interleaved", interleaved=True
        )
        self.check(weights, scales, packed, by_tiles[halves], 64, 128 * 8)

    def test_in_place(self):
        """Where nothing is filled up the results may lie where the operands do."""
        weights, scales = checkpoint(3, 64, 512)
        wanted = experts.pack(weights, scales)
        experts.pack(
            weights, scales, out=(weights.reshape(-1), scales.reshape(-1))
        )
        np.testing.assert_array_equal(weights.reshape(-1), wanted[0])
        np.testing.assert_array_equal(scales.reshape(-1), wanted[1])
        memory = np.zeros(3 * 64 * 16, np.uint8)
        scales = memory[: 3 * 64 * 12].reshape(3, 64, 12)
        weights = np.zeros((3, 64, 192), np.uint8)
        with self.assertRaisesRegex(ValueError, "scales: packed in place only"):
            experts.pack(weights, scales, out=(weights.reshape(-1), memory))

    def test_what_is_refused(self):
        weights, scales = checkpoint(1, 96, 64)
        for change, message in (
            ({"order": "other"}, "order: expected one of packed"),
            ({"interleaved": True}, "N must be a positive multiple of 64"),
            ({"out": (weights, scales)}, "out of scales: expected 768 bytes"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                experts.pack(weights, scales, **change)
        with self.assertRaisesRegex(ValueError, "scales: expected the shape"):
            experts.pack(weights, scales[:, :64])
        with self.assertRaisesRegex(TypeError, "weights: expected uint8"):
            experts.pack(weights.astype(np.int16), scales)

    def test_progress(self):
        """A terminal sees a bar, a file its end alone."""
        weights, scales = checkpoint(4, 32, 64)
        for is_terminal, shown in ((True, 4), (False, 1)):
            stream = io.StringIO()
            stream.isatty = lambda: is_terminal
            experts.pack(weights, scales, progress=stream)
            self.assertEqual(stream.getvalue().count("\r"), shown)
            self.assertTrue(stream.getvalue().endswith("4 of 4 experts\n"))

    @unittest.skipUnless("TENON_TEST_BUNDLE" in os.environ, "needs kernels")
    def test_on_a_device(self):
        """The kernel leaves what the host does, in place and through memory for one
        expert."""
        import tenon

        runtime = tenon.Runtime(jit="forbid", cache_folder="")
        runtime.load(os.environ["TENON_TEST_BUNDLE"])
        device = tenon.Device(runtime, "sim")
        weights, scales = checkpoint(2, 96, 256)
        wanted = experts.pack(weights, scales)
        for scratch in (None, (weights[:1].copy(), scales[:1].copy())):
            given = weights.copy(), scales.copy()
            out = given[0].reshape(-1), given[1].reshape(-1)
            experts.pack_on(device, *given, out=out, scratch=scratch)
            np.testing.assert_array_equal(out[0], wanted[0])
            np.testing.assert_array_equal(out[1], wanted[1])


if __name__ == "__main__":
    unittest.main()
