#!/usr/bin/env python3
"""Reductions by blocks on the emulated GPU, beside NumPy in double precision.

    cuda_reductions.py --ingot PROGRAM --work DIR [--compiler CXX] [--filter TEXT]

As cuda_products.py, whose checks they share.
"""
import os
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from cuda_products import CLOSE, check  # noqa: E402

REDUCTIONS = {"ReduceMean": np.mean, "ReduceSum": np.sum, "ReduceMax": np.max,
              "ReduceL2": lambda x, **axes: np.sqrt(np.sum(x * x, **axes))}


class Case:
    """A reduction of x of this shape along these axes. `scaled`: x is multiplied by a factor per column,
    and a bias is added to the result. Sizes in `open` are dynamic."""

    def __init__(self, name, op, shape, axes, slices, target="sm_90a", dtype=np.float32, options=(), scaled=False, open=None, strategy="block-reduction"):
        self.name, self.op, self.axes, self.target, self.scaled, self.options = name, op, axes, target, scaled, options
        self.strategy, self.tolerance, self.open = strategy, 1e-3 if dtype == np.float16 else CLOSE, open or {}
        self.plan = f"slices = {slices} : i64" if slices else ""
        rng = np.random.default_rng(len(name))
        self.x = (rng.standard_normal(shape) * (1000 if dtype == np.int32 else 1) + 0.5).astype(dtype)
        self.scale, self.bias = (rng.standard_normal(shape[-1]).astype(dtype) for _ in range(2))

    def save(self, folder):
        element = helper.np_dtype_to_tensor_dtype(self.x.dtype)
        nodes, constants, source, x = [], [numpy_helper.from_array(np.array(self.axes), "axes")], "x", self.x.astype(np.float64)
        if self.scaled:
            constants += [numpy_helper.from_array(self.scale, "scale"), numpy_helper.from_array(self.bias, "bias")]
            nodes.append(helper.make_node("Mul", ["x", "scale"], ["scaled"]))
            source, x = "scaled", x * self.scale
        nodes.append(helper.make_node(self.op, [source, "axes"], ["reduced" if self.scaled else "y"], keepdims=1))
        self.want = REDUCTIONS[self.op](x, axis=tuple(self.axes), keepdims=True)
        if self.scaled:
            nodes.append(helper.make_node("Add", ["reduced", "bias"], ["y"]))
            self.want = self.want + self.bias
        shape = [self.open.get(axis, size) for axis, size in enumerate(self.x.shape)]
        result = [1 if axis in self.axes else size for axis, size in enumerate(shape)]
        graph = helper.make_graph(nodes, "reduction", [helper.make_tensor_value_info("x", element, shape)],
                                  [helper.make_tensor_value_info("y", element, result)], constants)
        path = os.path.join(folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
        np.save(os.path.join(folder, "x.npy"), self.x)
        return path


def cases():
    # The columns of a reduction over the positions of images are divided among blocks. In the case `slices`,
    # several blocks divide the positions of the same columns.
    yield Case("positions", "ReduceMean", (1, 14, 14, 96), [1, 2], 1)
    yield Case("slices", "ReduceMean", (1, 112, 112, 20), [1, 2], 128)
    yield Case("few-columns", "ReduceSum", (1, 90, 90, 3), [1, 2], 1)
    yield Case("one-column", "ReduceL2", (1, 200, 301, 1), [1, 2], 128)
    yield Case("images", "ReduceMax", (3, 40, 30, 12), [1, 2], 1, "sm_80")
    yield Case("far-axes", "ReduceMean", (6, 3, 50, 12), [0, 2], 1)
    yield Case("several-columns", "ReduceSum", (2, 300, 3, 10), [1], 1)
    yield Case("around", "ReduceMean", (1, 50, 40, 24), [1, 2], 1, scaled=True)
    yield Case("f16", "ReduceMean", (1, 40, 40, 24), [1, 2], 1, dtype=np.float16)
    yield Case("integers", "ReduceSum", (1, 4000, 24), [1], 1, dtype=np.int32)
    # Few long rows are each divided among several blocks; with more rows, each row has one block.
    yield Case("all", "ReduceMean", (3, 400, 500), [0, 1, 2], 256)
    yield Case("two-rows", "ReduceMax", (2, 400001), [1], 256)
    yield Case("many-rows", "ReduceSum", (200, 4000), [1], 0, strategy="reduction")
    # The number of images, or of positions, is dynamic.
    yield Case("open-images", "ReduceMean", (3, 30, 30, 16), [1, 2], 1, open={0: "n"}, options=["--dim", "n=0..5"])
    yield Case("open-positions", "ReduceMean", (2, 333, 5, 16), [1, 2], 0, open={1: "n"}, options=["--dim", "n=0..4000"])
    yield Case("strict-max", "ReduceMax", (1, 64, 64, 16), [1, 2], 1, options=["--strict"])
    # With --strict, sums are computed in order, so each column has one thread. With enough columns this is so
    # even without --strict.
    yield Case("strict-sum", "ReduceSum", (1, 24, 24, 16), [1, 2], 0, options=["--strict"], strategy="loop-nest")
    yield Case("many-columns", "ReduceSum", (3, 3, 70000), [1], 0, "sm_75", strategy="loop-nest")


if __name__ == "__main__":
    sys.exit(check(cases(), __doc__))
