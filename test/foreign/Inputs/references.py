# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""references.py TOOLS: checks formats, layouts and comparisons of tools/silicon."""

import sys
import unittest

import numpy as np

sys.path.insert(0, sys.argv.pop(1))
from silicon import compare, formats, launch, layouts, operands


class Formats(unittest.TestCase):
    def test_e2m1(self):
        """Codes in order of magnitude, the first of a pair in the low half."""
        values = formats.decode_e2m1(np.array([1, 2, 7, 15], np.uint8))
        self.assertEqual(values.tolist(), [0.5, 1, 6, -6])
        packed = formats.pack_e2m1(np.array([[1, 15, 7, 0]], np.uint8))
        self.assertEqual(packed.tolist(), [[0xF1, 0x07]])

    def test_e8m0(self):
        """A biased exponent, and one NaN."""
        values = formats.decode_e8m0(np.array([0, 127, 130, 255], np.uint8))
        self.assertEqual(values[:3].tolist(), [2.0**-127, 1, 8])
        self.assertTrue(np.isnan(values[3]))

    def test_e4m3(self):
        """The least and the greatest denormal and normal number, and NaN."""
        codes = np.array([0x01, 0x07, 0x08, 0x38, 0x7E, 0xFE, 0x7F, 0xFF], np.uint8)
        values = formats.decode_e4m3(codes)
        expected = [2.0**-9, 7 * 2.0**-9, 2.0**-6, 1, 448, -448]
        self.assertEqual(values[:6].tolist(), expected)
        self.assertTrue(np.isnan(values[6:]).all())

    def test_bf16(self):
        """Ties go to even."""
        values = [1, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20]
        codes = formats.encode_bf16(values)
        self.assertEqual(codes.tolist(), [0x3F80, 0x3F80, 0x3F82, 0x3F81])
        self.assertEqual(formats.decode_bf16(codes)[3], 1 + 2.0**-7)


class Layouts(unittest.TestCase):
    def test_rows(self):
        """Row 17, byte 35: the second 16 rows, their third piece of 16 bytes."""
        rows = np.zeros((32, 64), np.uint8)
        rows[17, 35] = 1
        place = layouts.shuffle_rows(rows).reshape(-1).argmax()
        self.assertEqual(place, 16 * 64 + 2 * 256 + 1 * 16 + 3)

    def test_scales(self):
        """Row 49, block 14 of 16: the dword of lane 2 * 16 + 1, its byte 3."""
        scales = np.zeros((50, 16), np.uint8)
        scales[49, 14] = 7
        shuffled = layouts.shuffle_e8m0(scales, 256, 16).reshape(-1)
        place = (1 * 2 + 1) * 256 + (2 * 16 + 1) * 4 + 3
        self.assertEqual(np.flatnonzero(shuffled == 7).tolist(), [place])
        self.assertEqual((shuffled == 255).sum(), 206 * 16, "the pad is NaN")


class Comparison(unittest.TestCase):
    """What a wrong kernel would compute is not within the tolerance."""

    def setUp(self):
        self.target = launch.parse_object("f4gemm", "f4_BpreShuffle_64x128.co")
        self.problem = launch.Problem(64, 128, 512)
        self.expected = operands.generate(self.target, self.problem, 3).expected()

    def agrees(self, values):
        errors = compare.errors(formats.encode_bf16(values), self.expected)
        return errors.within(compare.tolerance(self.target, self.problem))

    def test_rounded(self):
        self.assertTrue(self.agrees(self.expected))

    def test_one_wrong_element(self):
        self.expected[5, 7] = np.abs(self.expected).max()
        wrong = self.expected.copy()
        wrong[5, 7] *= 1.01
        self.assertFalse(self.agrees(wrong))

    def test_truncated(self):
        """Cutting off instead of rounding is told apart."""
        cut = np.asarray(self.expected, np.float32).view(np.uint32) & 0xFFFF0000
        self.assertFalse(self.agrees(cut.view(np.float32)))

    def test_unwritten_element(self):
        self.expected[5, 7] = 1
        wrong = self.expected.copy()
        wrong[5, 7] = np.nan
        self.assertFalse(self.agrees(wrong))

    def test_pads(self):
        before = np.zeros((8, 4), np.uint16)
        after = before.copy()
        after[2, 1] = after[6, 3] = after[6, 2] = 1
        self.assertEqual(compare.changed_rows(after, before, 4), 1)


if __name__ == "__main__":
    unittest.main()
