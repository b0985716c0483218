"""Convolutions of 3 x 3 with many channels, which Winograd's algorithm computes on processors with vectors, beside ONNX Runtime.

    winograd.py --program INGOT-CONFORMANCE [--target NAME[,fast=bf16]] [--filter TEXT]

Sizes that tiles of outputs divide and do not, images smaller than a tile, padding that is not the same on all
sides, channels that do not fill vectors or panels, batches, and what follows the convolution in its kernel. The
tolerance is a tenth of what a whole network's results may be off by, or with fast=bf16, eight roundings to bf16.
"""
import sys

import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, data, run

TOLERANCE = 2**-5 if any(argument.endswith(",fast=bf16") for argument in sys.argv) else 1e-5


def pooled(name, shape, out, kind, window, before=(), after=()):
    return convolution(name, shape, out, [1, 1, 1, 1], after=(*before, kind, *after), window=window)


def convolution(name, shape, out, pads, bias=True, after=(), residual=False, scale=1.0, window=None):
    w = (data((out, shape[1], 3, 3)) * scale / np.sqrt(9 * shape[1])).astype(np.float32)
    constants = {"w": w} | ({"b": data((out,)) / 4} if bias else {})
    nodes = [helper.make_node("Conv", ["x", *constants], ["v0"], kernel_shape=[3, 3], pads=pads)]
    inputs = {"x": data(shape)}
    if residual:
        height, width = (shape[2 + i] + pads[i] + pads[2 + i] - 2 for i in range(2))
        inputs["r"] = data((shape[0], out, height, width))
        nodes.append(helper.make_node("Add", ["v0", "r"], ["v1"]))
    for kind in after:
        attributes = {"kernel_shape": window, "strides": window} if kind.endswith("Pool") else {}
        nodes.append(helper.make_node(kind, [nodes[-1].output[0]], [f"v{len(nodes)}"], **attributes))
    nodes[-1].output[0] = "out"
    case = Case(name, nodes, inputs, constants)
    case.tolerance = TOLERANCE * min(1, float(np.abs(run(case)[0]).max()))
    return case


def cases():
    same = [1, 1, 1, 1]
    # Image sizes that give whole and partial tiles, from a single output to several blocks of tiles.
    for height, width in ((1, 1), (2, 3), (4, 4), (5, 9), (7, 7), (13, 11), (16, 16), (30, 46), (57, 56)):
        yield convolution(f"size-{height}x{width}", (1, 32, height, width), 32, same)
    for pads in ([0, 0, 0, 0], [0, 1, 2, 0], [2, 2, 2, 2], [0, 0, 5, 6]):
        yield convolution(f"pads-{'-'.join(map(str, pads))}", (1, 32, 14, 18), 32, pads)
    # Channel counts that do not fill vectors or panels (packed weights of some columns), and
    # weights larger than a cache.
    for channels in (8, 24, 40, 64, 96):
        for out in (5, 16, 20, 65, 112):
            yield convolution(f"channels-{channels}-{out}", (1, channels, 15, 17), out, same)
    yield convolution("large-weights", (1, 256, 14, 14), 256, same)
    yield convolution("small-image", (1, 384, 7, 7), 160, same)
    # Batches of images: tiles of several images share a block.
    for images in (2, 5):
        for size in (3, 7, 18):
            yield convolution(f"images-{images}-{size}", (images, 32, size, size), 48, same)
    # Operators after the convolution are fused into its kernel.
    yield convolution("no-bias", (1, 32, 17, 17), 32, same, bias=False)
    yield convolution("relu", (1, 32, 17, 17), 32, same, after=("Relu",))
    yield convolution("residual", (2, 32, 17, 17), 40, same, after=("Relu",), residual=True)
    yield convolution("sigmoid", (1, 32, 17, 17), 24, same, after=("Sigmoid",))
    # A pool with windows within tiles, which drops the last row and column of odd sizes.
    for pool in ("MaxPool", "AveragePool"):
        for size in (12, 15, 31):
            for window in (2, 4):
                yield pooled(f"{pool}-{window}-{size}", (2, 32, size, size + 2), 40, pool, [window, window])
        yield pooled(f"{pool}-2-4", (1, 32, 16, 20), 32, pool, [2, 4])
        yield pooled(f"{pool}-1-2", (1, 64, 16, 20), 65, pool, [1, 2], before=("Relu",), after=("Sigmoid",))
    # The tolerance is relative to the results, whatever their scale.
    for scale in (1e-6, 1e6):
        yield convolution(f"scale-{scale:g}", (1, 64, 20, 20), 64, same, bias=False, scale=scale)


if __name__ == "__main__":
    sys.exit(compare(__doc__, cases()))
