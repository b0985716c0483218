"""Convolutions of 3 x 3 with many channels, which Winograd's algorithm computes on processors with vectors, beside ONNX Runtime.

    winograd.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Sizes that tiles of outputs divide and do not, images smaller than a tile, padding that is not the same on all
sides, channels that do not fill vectors or panels, batches, and what follows the convolution in its kernel. The
tolerance is a tenth of what a whole network's results may be off by.
"""
import sys

import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, data, run

TOLERANCE = 1e-5


def convolution(name, shape, out, pads, bias=True, after=(), residual=False, scale=1.0):
    w = (data((out, shape[1], 3, 3)) * scale / np.sqrt(9 * shape[1])).astype(np.float32)
    constants = {"w": w} | ({"b": data((out,)) / 4} if bias else {})
    nodes = [helper.make_node("Conv", ["x", *constants], ["v0"], kernel_shape=[3, 3], pads=pads)]
    inputs = {"x": data(shape)}
    if residual:
        height, width = (shape[2 + i] + pads[i] + pads[2 + i] - 2 for i in range(2))
        inputs["r"] = data((shape[0], out, height, width))
        nodes.append(helper.make_node("Add", ["v0", "r"], ["v1"]))
    for kind in after:
        nodes.append(helper.make_node(kind, [nodes[-1].output[0]], [f"v{len(nodes)}"]))
    nodes[-1].output[0] = "out"
    case = Case(name, nodes, inputs, constants)
    case.tolerance = TOLERANCE * min(1, float(np.abs(run(case)[0]).max()))
    return case


def cases():
    same = [1, 1, 1, 1]
    # Whole tiles and parts of them, down to a single output and up to several blocks.
    for height, width in ((1, 1), (2, 3), (4, 4), (5, 9), (7, 7), (13, 11), (16, 16), (30, 46), (57, 56)):
        yield convolution(f"size-{height}x{width}", (1, 32, height, width), 32, same)
    for pads in ([0, 0, 0, 0], [0, 1, 2, 0], [2, 2, 2, 2], [0, 0, 5, 6]):
        yield convolution(f"pads-{'-'.join(map(str, pads))}", (1, 32, 14, 18), 32, pads)
    # Vectors of channels with a rest, panels with a tail, weights larger than a cache.
    for channels in (8, 24, 40, 64, 96):
        for out in (5, 16, 20, 65, 112):
            yield convolution(f"channels-{channels}-{out}", (1, channels, 15, 17), out, same)
    yield convolution("large-weights", (1, 256, 14, 14), 256, same)
    yield convolution("small-image", (1, 384, 7, 7), 160, same)
    # Tiles of several images are in one block.
    for images in (2, 5):
        for size in (3, 7, 18):
            yield convolution(f"images-{images}-{size}", (images, 32, size, size), 48, same)
    # What follows is computed with the convolution.
    yield convolution("no-bias", (1, 32, 17, 17), 32, same, bias=False)
    yield convolution("relu", (1, 32, 17, 17), 32, same, after=("Relu",))
    yield convolution("residual", (2, 32, 17, 17), 40, same, after=("Relu",), residual=True)
    yield convolution("sigmoid", (1, 32, 17, 17), 24, same, after=("Sigmoid",))
    # The tolerance is a share of the result, whatever its scale.
    for scale in (1e-6, 1e6):
        yield convolution(f"scale-{scale:g}", (1, 64, 20, 20), 64, same, bias=False, scale=scale)


if __name__ == "__main__":
    sys.exit(compare(__doc__, cases()))
