#!/usr/bin/env python3
"""Kernels of the host beside an emulated GPU, beside NumPy: sums at places that may be equal, between two kernels of the device.

    cuda_host.py --ingot PROGRAM --work DIR [--compiler CXX] [--filter TEXT]

As cuda_products.py, whose checks they share.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from cuda_products import CLOSE, check  # noqa: E402


class Case:
    """A model that computes -(relu(x) with numbers added at indices) for x of a given shape. Sizes in
    `open` are dynamic. With `within`, this is in the body of an operator of this type, such as Loop."""

    says, strategy, tolerance = "kernels of the host: 1;", "body", CLOSE

    def __init__(self, name, shape, within=None, target="sm_80", open=None, options=()):
        self.name, self.within, self.target, self.open, self.options = name, within, target, open or {}, options
        rng = np.random.default_rng(len(name))
        self.x = rng.standard_normal(shape).astype(np.float32)
        self.at = np.stack([rng.integers(0, size // 2, 20000) for size in shape], 1)
        self.numbers = rng.standard_normal(20000).astype(np.float32)

    def add(self, source, to):
        return helper.make_node("ScatterND", [source, "at", "numbers"], [to], reduction="add")

    def save(self, folder):
        def info(name, shape, element=TensorProto.FLOAT):
            return helper.make_tensor_value_info(name, element, shape)

        shape = [self.open.get(axis, size) for axis, size in enumerate(self.x.shape)]
        constants = [numpy_helper.from_array(self.at, "at"), numpy_helper.from_array(self.numbers, "numbers")]
        first, times = helper.make_node("Relu", ["x"], ["r"]), 1
        if self.within == "Loop":
            times = 3
            constants.append(numpy_helper.from_array(np.array(100), "most"))
            constants.append(numpy_helper.from_array(np.array(times - 1), "last"))
            body = helper.make_graph([self.add("h", "h_next"), helper.make_node("Less", ["i", "last"], ["more_next"])], "body",
                                     [info("i", [], TensorProto.INT64), info("more", [], TensorProto.BOOL), info("h", shape)],
                                     [info("more_next", [], TensorProto.BOOL), info("h_next", shape)])
            middle = [helper.make_node("Loop", ["most", "", "r"], ["s"], body=body)]
        elif self.within == "If":
            constants.append(numpy_helper.from_array(np.float32(-1), "limit"))
            branches = {"then_branch": helper.make_graph([self.add("r", "t")], "then", [], [info("t", shape)]),
                        "else_branch": helper.make_graph([helper.make_node("Abs", ["x"], ["e"])], "else", [], [info("e", shape)])}
            middle = [helper.make_node("ReduceMax", ["r"], ["most"], keepdims=0), helper.make_node("Greater", ["most", "limit"], ["is_more"]),
                      helper.make_node("If", ["is_more"], ["s"], **branches)]
        else:
            middle = [self.add("r", "s")]
        self.want = np.maximum(self.x, 0).astype(np.float64)
        for _ in range(times):
            np.add.at(self.want, tuple(self.at.T), self.numbers)
        self.want = -self.want
        graph = helper.make_graph([first, *middle, helper.make_node("Neg", ["s"], ["y"])], "host", [info("x", shape)], [info("y", shape)], constants)
        path = os.path.join(folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
        np.save(os.path.join(folder, "x.npy"), self.x)
        return path


def cases():
    yield Case("fixed", (30000,))
    yield Case("open", (23456,), open={0: "n"}, options=["--dim", "n=0..30000"])
    # With two dynamic sizes, rows have larger strides in the arena (the buffer of intermediate
    # tensors) than in the caller's tensors.
    yield Case("two-open", (111, 222), open={0: "n", 1: "m"}, options=["--dim", "n=0..150", "--dim", "m=0..250"])
    yield Case("loop", (30000,), "Loop")
    yield Case("if", (30000,), "If", "sm_90a")
    yield Case("open-loop", (23456,), "Loop", open={0: "n"}, options=["--dim", "n=0..30000"])
    yield Case("open-if", (100, 222), "If", open={1: "m"}, options=["--dim", "m=0..250"])


if __name__ == "__main__":
    sys.exit(check(cases(), __doc__))
