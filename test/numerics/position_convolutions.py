"""Convolutions with few output channels, whose vectors have positions in their lanes (PositionTiles.h), beside ONNX Runtime.

    position_convolutions.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Rows shorter than a vector and longer, strides that divide them and do not, windows that reach behind both ends of
the image, channels that are no power of two, batches, images of one axis, and what follows the convolution in its
kernel.
"""
import sys

import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, data

TOLERANCE = 1e-5


def convolution(name, shape, out, kernel, bias=True, after=(), window=None, known=True, **attributes):
    steps = shape[1] * int(np.prod(kernel))
    constants = {"w": (data((out, shape[1], *kernel)) / np.sqrt(steps)).astype(np.float32)}
    if bias:
        constants["b"] = data((out,)) / 4
    nodes = [helper.make_node("Conv", ["x", *constants], ["v0"], kernel_shape=kernel, **attributes)]
    for kind in after:
        operands = [nodes[-1].output[0]]
        if kind in ("Mul", "PRelu", "Add"):
            constants["c"] = data((out,) + (1,) * len(kernel))
            operands.append("c")
        pool = {"kernel_shape": window, "strides": window} if kind.endswith("Pool") else {}
        nodes.append(helper.make_node(kind, operands, [f"v{len(nodes)}"], **pool))
    nodes[-1].output[0] = "out"
    inputs = {"x": data(shape)}
    if not known:
        inputs["w"] = constants.pop("w")
    case = Case(name, nodes, inputs, constants)
    case.tolerance = TOLERANCE
    return case


def cases():
    # Images whose rows are several vectors with a remainder, exactly one vector, or shorter than a vector.
    for width in (5, 11, 16, 23, 32, 50, 67):
        for out in (1, 2, 3, 6, 8):
            yield convolution(f"width-{width}-{out}", (1, 1, 9, width), out, [3, 3], pads=[1] * 4)
    for channels in (1, 2, 3, 4):
        for stride in (1, 2, 3, 5):
            for width in (33, 40):
                yield convolution(f"stride-{stride}-{channels}-{width}", (1, channels, 14, width), 5, [3, 3],
                                  strides=[stride, stride], pads=[1] * 4)
    for kernel in ([1, 1], [1, 7], [5, 5], [7, 2], [2, 16]):
        for pads in ([0, 0, 0, 0], [0, 3, 2, 1], [4, 4, 4, 4]):
            yield convolution(f"kernel-{kernel}-{pads}", (2, 3, 19, 37), 6, kernel, strides=[1, 2], pads=pads)
    for dilations in ([1, 2], [2, 1], [3, 3]):
        for stride in (1, 2):
            yield convolution(f"dilations-{dilations}-{stride}", (1, 2, 21, 35), 7, [3, 3], pads=[2] * 4,
                              strides=[stride, stride], dilations=dilations)
    # One-dimensional images; several images; more rows than are copied at once.
    yield convolution("flat", (3, 2, 90), 5, [7], strides=[2], pads=[3, 3])
    yield convolution("flat-pool", (2, 1, 131), 6, [5], pads=[2, 2], after=("Relu", "MaxPool"), window=[2])
    yield convolution("large", (2, 3, 96, 96), 8, [3, 3], strides=[2, 2], pads=[0, 0, 1, 1], after=("Relu",))
    yield convolution("large-rows", (1, 1, 37, 301), 6, [5, 5], pads=[2] * 4, after=("Relu",))
    # Activations and pools after the convolution, in the same kernel.
    for pool in ("MaxPool", "AveragePool"):
        for window in ([2, 2], [3, 3], [1, 2], [2, 1], [4, 5]):
            yield convolution(f"{pool}-{window}", (1, 1, 29, 47), 6, [5, 5], pads=[2] * 4, after=("Relu", pool),
                              window=window)
        yield convolution(f"{pool}-behind", (2, 2, 16, 40), 5, [3, 3], strides=[1, 2], after=(pool, "PRelu"),
                          window=[2, 2])
    yield convolution("no-bias", (1, 1, 12, 30), 6, [3, 3], bias=False)
    yield convolution("weights-at-run-time", (1, 3, 31, 45), 6, [3, 3], known=False)
    for kind in ("Mul", "PRelu", "Add", "Sigmoid", "HardSwish"):
        yield convolution(kind, (1, 1, 12, 34), 6, [3, 3], after=(kind,))


if __name__ == "__main__":
    sys.exit(compare(__doc__, cases()))
