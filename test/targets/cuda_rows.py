#!/usr/bin/env python3
"""Rows that threads share, and neighbouring elements of a thread, on the emulated GPU, beside NumPy in double precision.

    cuda_rows.py --ingot PROGRAM --work DIR [--compiler CXX] [--filter TEXT]

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


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def normalized(x, scale, bias):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered * centered).mean(-1, keepdims=True) + 1e-5) * scale + bias


class Case:
    """A model with one operator on x; `others` are the shapes of further, constant operands."""

    def __init__(self, name, op, want, shape, strategy, plan="", dtype=np.float32, others=(), target="sm_80", **attributes):
        self.name, self.op, self.strategy, self.plan, self.target, self.options, self.attributes = name, op, strategy, plan, target, [], attributes
        self.tolerance = 2e-3 if dtype == np.float16 else CLOSE
        rng = np.random.default_rng(len(name))
        self.x = rng.standard_normal(shape).astype(dtype)
        self.others = [rng.standard_normal(other).astype(dtype) for other in others]
        self.want = want(self.x.astype(np.float64), *self.others)

    def save(self, folder):
        element = helper.np_dtype_to_tensor_dtype(self.x.dtype)
        names = [f"operand{i}" for i in range(len(self.others))]
        graph = helper.make_graph([helper.make_node(self.op, ["x", *names], ["y"], **self.attributes)], "rows",
                                  [helper.make_tensor_value_info("x", element, self.x.shape)],
                                  [helper.make_tensor_value_info("y", element, self.want.shape)],
                                  [numpy_helper.from_array(other, name) for other, name in zip(self.others, names)])
        path = os.path.join(folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
        np.save(os.path.join(folder, "x.npy"), self.x)
        return path


def cases():
    # Rows that a warp or a block holds in registers, rows that are too long for that, and rows with less than
    # a vector for each thread.
    yield Case("warp", "Softmax", softmax, (9, 512), "body", axis=1)
    yield Case("block", "Softmax", softmax, (7, 4096), "body", axis=1)
    yield Case("block-f16", "Softmax", softmax, (7, 4096), "body", dtype=np.float16, axis=1)
    yield Case("long", "Softmax", softmax, (2, 40000), "body", axis=1)
    yield Case("odd", "Softmax", softmax, (5, 333), "body", axis=1)
    yield Case("log", "LogSoftmax", lambda x: np.log(softmax(x)), (5, 1000), "body", axis=1)
    yield Case("layer-norm", "LayerNormalization", normalized, (12, 768), "body", others=[768, 768])
    # Each thread computes adjacent elements: along one axis, in one of the concatenated tensors, or whole
    # rows of few channels.
    yield Case("chain", "Mul", lambda x, by: x * by, (300, 1024), "elementwise", "elements = 4", others=[(300, 1)])
    yield Case("chain-f16", "Add", lambda x, y: x + y, (300, 1024), "elementwise", "elements = 8", np.float16, others=[1024])
    yield Case("joined", "Concat", lambda x, y: np.concatenate([x, y], 1), (4000, 24), "loop-nest", "elements = 4", others=[(4000, 40)], axis=1)
    yield Case("channels", "Transpose", lambda x: x.transpose(0, 2, 3, 1), (2, 3, 224, 224), "loop-nest", "elements = 12", perm=[0, 2, 3, 1])
    yield Case("channels-f16", "Transpose", lambda x: x.transpose(0, 2, 3, 1), (5, 3, 224, 224), "loop-nest", "elements = 24", np.float16, perm=[0, 2, 3, 1])


if __name__ == "__main__":
    sys.exit(check(cases(), __doc__))
