# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""KDA decode through Python on HIP. TENON_TEST_BUNDLE holds it, H=2."""

import ctypes
import os
import unittest

import hip
import kda
import numpy as np
import tenon

HEADS = 2


class Hip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runtime = tenon.Runtime(jit="forbid", cache_folder="")
        cls.runtime.load(os.environ["TENON_TEST_BUNDLE"])
        cls.device = tenon.Device(cls.runtime, "hip")
        cls.device.preload()

    def check(self, arrays, given):
        reference = kda.expected(given, HEADS)
        out = kda.from_bf16(arrays["out"].read())
        self.assertLess(kda.relative_error(out, reference[0]), 4e-3)
        state = arrays["state"].read()
        self.assertLess(kda.relative_error(state, reference[1]), 2e-5)
        np.testing.assert_array_equal(arrays["conv_state"].read(), reference[2])

    def test_against_the_formula(self):
        """Operands lie in memory of HIP, and the chip is found."""
        self.assertEqual(self.device.target, "gfx950")
        given = kda.operands(3, HEADS)
        arrays = {name: hip.Array(array) for name, array in given.items()}
        tenon.ops.kda_decode(self.device, statics={"H": HEADS}, **arrays)
        self.device.synchronize()
        self.check(arrays, given)

    def test_arrays_of_the_host(self):
        """Memory of the host is refused by name."""
        given = kda.operands(3, HEADS)
        with self.assertRaisesRegex(tenon.Error, "qkv.*device hip:0 does not use"):
            tenon.ops.kda_decode(self.device, statics={"H": HEADS}, **given)

    def test_exchange(self):
        """Arrays are taken without `__dlpack__` where their work is on the stream of the
        launch; else the framework is told that stream."""
        stream = ctypes.c_void_p()
        hip.call("hipStreamCreate", ctypes.byref(stream))
        for current in (None, stream.value):
            hip.Exchanged.current = current
            for where in (None, stream.value):
                given = kda.operands(3, HEADS)
                arrays = {name: hip.Exchanged(array) for name, array in given.items()}
                tenon.ops.kda_decode(
                    self.device, statics={"H": HEADS}, stream=where, **arrays
                )
                self.device.synchronize()
                self.check(arrays, given)
                told = {getattr(array, "stream", "not") for array in arrays.values()}
                self.assertEqual(told, {"not"} if where == current else {where or 0})
        hip.Exchanged.current = None
        hip.call("hipStreamDestroy", stream)

    def test_replay(self):
        """A captured step is replayed with other values and slots."""
        given = kda.operands(3, HEADS, slots=8)
        arrays = {name: hip.Array(array) for name, array in given.items()}
        stream = ctypes.c_void_p()
        graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
        hip.call("hipStreamCreate", ctypes.byref(stream))
        hip.call("hipStreamBeginCapture", stream, 0)
        tenon.ops.kda_decode(
            self.device, statics={"H": HEADS}, stream=stream.value, **arrays
        )
        hip.call("hipStreamEndCapture", stream, ctypes.byref(graph))
        hip.call("hipGraphInstantiateWithFlags", ctypes.byref(executable), graph, 0)
        for seed in (2, 3):
            given = kda.operands(3, HEADS, slots=8, seed=seed)
            for name, array in given.items():
                arrays[name].write(array)
            hip.call("hipGraphLaunch", executable, stream)
            hip.call("hipStreamSynchronize", stream)
            self.check(arrays, given)
        hip.call("hipGraphExecDestroy", executable)
        hip.call("hipGraphDestroy", graph)
        hip.call("hipStreamDestroy", stream)


if __name__ == "__main__":
    unittest.main()
