"""Movers, gathers and resampling on shapes that fill vectors, beside ONNX Runtime.

    movement.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

The official tests have tiny tensors; here axes are longer than a vector and do
not divide by it, channels are last after a transpose, types vary. Each case is
one small graph; inputs come from a fixed seed, which a failure prints.
"""
import itertools
import sys

import numpy as np
from onnx import TensorProto, helper

from beside_onnxruntime import Case, compare, data, ints, one, rng


def between_relus(name, op, x, constants=None, **attributes):
    """Returns a case in which the operator is fused with those before and after it."""
    nodes = [
        helper.make_node("Relu", ["x"], ["before"]),
        helper.make_node(op, ["before", *(constants or {})], ["after"], **attributes),
        helper.make_node("Neg", ["after"], ["out"]),
    ]
    return Case(name + "-fused", nodes, {"x": x}, constants)


def movers():
    for perm in itertools.permutations(range(4)):
        yield one(f"transpose-{''.join(map(str, perm))}", "Transpose", {"x": data((2, 19, 5, 37))}, perm=perm)
    for dtype in (np.float16, np.int8, np.int64, np.bool_, np.float64):
        yield one(f"transpose-{np.dtype(dtype).name}", "Transpose", {"x": data((33, 70), dtype)}, perm=[1, 0])
    for shape in ((8, 8), (9, 15), (4, 67), (23, 1, 12)):
        yield between_relus(f"transpose-{shape}", "Transpose", data(shape))
    nodes = [helper.make_node("Slice", ["x", "s", "e", "a"], ["part"]), helper.make_node("Transpose", ["part"], ["t"], perm=[0, 2, 1]),
             helper.make_node("Add", ["t", "bias"], ["sum"]), helper.make_node("Cast", ["sum"], ["out"], to=TensorProto.FLOAT16)]
    yield Case("transpose-part", nodes, {"x": data((3, 21, 32))}, {"s": ints(2), "e": ints(19), "a": ints(1), "bias": data((17,))})
    x = data((3, 17, 40))
    yield one("slice", "Slice", {"x": x}, {"s": ints(1, 3), "e": ints(3, 38), "a": ints(0, 2), "t": ints(1, 1)})
    yield one("slice-strided", "Slice", {"x": x}, {"s": ints(16, 39), "e": ints(-99, -99), "a": ints(1, 2), "t": ints(-3, -2)})
    yield between_relus("slice", "Slice", x, {"s": ints(2), "e": ints(40), "a": ints(2), "t": ints(2)})
    for axis in range(3):
        parts = {k: data([n if i == axis else s for i, s in enumerate((4, 9, 35))]) for k, n in zip("xyz", (3, 16, 21))}
        yield one(f"concat-{axis}", "Concat", parts, axis=axis)
        split = ints(*[v.shape[axis] for v in parts.values()])
        whole = np.concatenate(list(parts.values()), axis)
        yield one(f"split-{axis}", "Split", {"x": whole}, {"split": split}, outputs=("a", "b", "c"), axis=axis)
    # Concatenations along the last axis in which one operand has a single column: its elements are written with a stride.
    for op in ("Relu", "Softmax", "CumSum"):
        nodes = [helper.make_node(op, ["x", "a"] if op == "CumSum" else ["x"], ["c"], **({"axis": 1} if op == "Softmax" else {})),
                 helper.make_node("Neg", ["z"], ["d"]), helper.make_node("Concat", ["c", "d"], ["out"], axis=2)]
        inputs = {"x": data((5, 67, 1)), "z": data((5, 67, 6))}
        yield Case(f"concat-columns-{op}", nodes, inputs, {"a": np.array(1)} if op == "CumSum" else None)
    # Concatenations of three tensors with one channel each, along the channels: elements that are adjacent in an operand
    # are three elements apart in the result.
    for name, shape, op, attributes, constants in (
        ("Pad", (1, 7, 40, 1), "Pad", {}, lambda k: {f"c{k}": ints(0, 0, k, 0, 0, 0, 2 - k, 0)}),
        ("Pad-rows", (70, 1), "Pad", {}, lambda k: {f"c{k}": ints(k, 0, 2 - k, 0)}),
        ("Slice", (9, 70, 1), "Slice", {}, lambda k: {f"c{k}": ints(k), f"e{k}": ints(60 + k), f"a{k}": ints(1)}),
        ("Gather", (9, 70, 1), "Gather", {"axis": 1}, lambda k: {f"c{k}": ints(*range(k, 60))[:57]}),
        ("Tile", (9, 33, 1), "Tile", {}, lambda k: {f"c{k}": ints(1, 2, 1)}),
    ):
        of_part = [constants(k) for k in range(3)]
        nodes = [helper.make_node(op, [f"x{k}", *of_part[k]], [f"p{k}"], **attributes) for k in range(3)]
        nodes.append(helper.make_node("Concat", ["p0", "p1", "p2"], ["out"], axis=-1))
        yield Case(f"concat-channels-{name}", nodes, {f"x{k}": data(shape) for k in range(3)}, of_part[0] | of_part[1] | of_part[2])
    for channels, kernel in ((8, 3), (3, 5), (16, 1)):
        nodes = [n for k in range(3) for n in (helper.make_node("Conv", [f"x{k}", f"w{k}"], [f"c{k}"]), helper.make_node("Transpose", [f"c{k}"], [f"p{k}"], perm=[0, 2, 3, 1]))]
        nodes.append(helper.make_node("Concat", ["p0", "p1", "p2"], ["out"], axis=-1))
        yield Case(f"concat-channels-Conv-{channels}", nodes, {f"x{k}": data((1, channels, 17, 64)) for k in range(3)},
                   {f"w{k}": data((1, channels, kernel, kernel)) for k in range(3)}, tolerance=1e-4)
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield one(f"pad-{mode}", "Pad", {"x": x}, {"p": ints(0, 5, 7, 1, 2, 9)}, mode=mode, opset=19)
        yield one(f"pad-rows-{mode}", "Pad", {"x": x}, {"p": ints(1, 5, 0, 1, 2, 0)}, mode=mode, opset=19)
    yield between_relus("pad", "Pad", x, {"p": ints(0, 1, 1, 0, 1, 1)}, mode="constant")
    # One end crops more elements than the axis has, and so some of those that the other end adds.
    for low, high in ((-5, 4), (4, -5), (-3, 2), (2, -4)):
        nodes = [helper.make_node("Reshape", ["x", "s"], ["fixed"]), helper.make_node("Pad", ["fixed", "p", "v"], ["out"])]
        yield Case(f"pad-crop-beyond-{low}-{high}", nodes, {"x": data((4, 3))}, {"s": ints(3, 4), "p": ints(low, 0, high, 1), "v": np.array(9, np.float32)})
    yield one("pad-crop", "Pad", {"x": x}, {"p": ints(0, -5, 7, 0, 2, -9)}, mode="constant")
    yield one("expand", "Expand", {"x": data((7, 1, 33))}, {"s": ints(2, 7, 5, 33)})
    yield one("expand-last", "Expand", {"x": data((7, 5, 1))}, {"s": ints(7, 5, 33)})
    yield one("tile", "Tile", {"x": x}, {"r": ints(2, 1, 3)})
    yield one("tile-rows", "Tile", {"x": x}, {"r": ints(2, 3, 1)})
    for shape in ((51, 40), (2040,), (40, 51), (3, 17, 5, 8), (120, 17), (1, 3, 680)):
        yield one(f"reshape-{shape}", "Reshape", {"x": x}, {"s": ints(*shape)})
        yield between_relus(f"reshape-{shape}", "Reshape", x, {"s": ints(*shape)})
    for mode in ("DCR", "CRD"):
        yield one(f"depth-to-space-{mode}", "DepthToSpace", {"x": data((1, 32, 9, 11))}, mode=mode, blocksize=2)
    yield one("space-to-depth", "SpaceToDepth", {"x": data((1, 6, 22, 18))}, blocksize=2)
    nodes = [
        helper.make_node("Transpose", ["x"], ["a"], perm=[0, 2, 3, 1]),
        helper.make_node("Slice", ["a", "s", "e", "ax"], ["b"]),
        helper.make_node("Pad", ["b", "p"], ["c"]),
        helper.make_node("Concat", ["c", "c"], ["d"], axis=2),
        helper.make_node("Tile", ["d", "r"], ["f"]),
        helper.make_node("Transpose", ["f"], ["out"], perm=[0, 3, 1, 2]),
    ]
    yield Case("layout", nodes, {"x": data((1, 24, 9, 7))},
               {"s": ints(1), "e": ints(8), "ax": ints(1), "p": ints(0, 1, 2, 0, 0, 0, 1, 0), "r": ints(1, 2, 1, 1)})


def shuffles():
    nodes = [
        helper.make_node("Reshape", ["x", "apart"], ["a"]),
        helper.make_node("Transpose", ["a"], ["b"], perm=[0, 2, 1, 3, 4]),
        helper.make_node("Reshape", ["b", "together"], ["c"]),
        helper.make_node("Relu", ["c"], ["out"]),
    ]
    yield Case("channel-shuffle", nodes, {"x": data((1, 24, 7, 9))}, {"apart": ints(1, 3, 8, 7, 9), "together": ints(1, 24, 7, 9)})


def indexing():
    for dtype in (np.float32, np.float16, np.int64):
        x = data((20, 9, 37), dtype)
        for axis in range(3):
            i = rng.integers(-x.shape[axis], x.shape[axis], (4, 6)).astype(np.int32)
            yield one(f"gather-{axis}-{np.dtype(dtype).name}", "Gather", {"x": x, "i": i}, axis=axis)
            full = rng.integers(-x.shape[axis], x.shape[axis], (5, 9, 37)).astype(np.int64)
            yield one(f"gather-elements-{axis}-{np.dtype(dtype).name}", "GatherElements", {"x": x, "i": full}, axis=axis)
    yield one("gather-constant", "Gather", {"x": data((20, 9, 37))}, {"i": ints(3, -1, 0)}, axis=1)
    yield one("gather-scalar", "Gather", {"x": data((20, 9, 37))}, {"i": np.array(-2)}, axis=2)
    x = data((4, 9, 33))
    yield one("gather-nd", "GatherND", {"x": x, "i": rng.integers(0, 4, (7, 2))})
    yield one("gather-nd-rows", "GatherND", {"x": x, "i": rng.integers(-4, 4, (7, 1))})
    yield one("gather-nd-batch", "GatherND", {"x": x, "i": rng.integers(0, 9, (4, 5, 1))}, batch_dims=1)
    for reduction in ("none", "add", "mul", "max", "min"):
        # Each index occurs once, since the order of updates is unspecified.
        i = np.stack([rng.permutation(33)[:20] for _ in range(18)]).reshape(2, 9, 20)
        yield one(f"scatter-elements-{reduction}", "ScatterElements", {"x": x, "i": i, "u": data((2, 9, 20))}, axis=2, reduction=reduction)
        i = rng.permutation(36)[:11]
        pairs = np.stack([i // 9, i % 9], 1)
        yield one(f"scatter-nd-{reduction}", "ScatterND", {"x": x, "i": pairs, "u": data((11, 33))}, reduction=reduction)
    for axis, k, largest in itertools.product((0, 1, 2), (1, 3, 4), (0, 1)):
        yield one(f"topk-{axis}-{k}-{largest}", "TopK", {"x": data((4, 9, 33))}, {"k": ints(k)}, outputs=("v", "p"), axis=axis, largest=largest)
    for k in (1, 100, 999, 1000):
        yield one(f"topk-of-1000-{k}", "TopK", {"x": data((2, 1000))}, {"k": ints(k)}, outputs=("v", "p"))
        yield one(f"topk-ties-{k}", "TopK", {"x": data((2, 1000), np.int64, 50)}, {"k": ints(k)}, outputs=("v", "p"), largest=0)
    for axis in (0, 1, -1):
        yield one(f"one-hot-{axis}", "OneHot", {"i": rng.integers(-20, 20, (5, 7)), "v": data((2,))}, {"d": np.array(17)}, order=["i", "d", "v"], axis=axis)
    for upper, k in itertools.product((0, 1), (-3, 0, 2)):
        yield one(f"trilu-{upper}-{k}", "Trilu", {"x": data((2, 11, 35))}, {"k": np.array(k)}, upper=upper)
    yield one("reverse-sequence", "ReverseSequence", {"x": data((9, 5, 33)), "n": ints(9, 1, 0, 4, 7)}, time_axis=0, batch_axis=1)
    for n in (1, 2, 3, 10, 40):
        yield one(f"det-{n}", "Det", {"x": data((3, n, n))}, tolerance=1e-3)


def resampling():
    scale = np.array([1, 1, 2, 2], np.float32)
    modes = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    for channels in (1, 19, 32):
        x = data((1, channels, 9, 13))
        for mode, coordinates in itertools.product(("nearest", "linear", "cubic"), modes):
            for kind, sizes in (("up", scale), ("down", np.array([1, 1, 0.6, 0.7], np.float32)), ("odd", np.array([1, 1, 1.7, 3.1], np.float32))):
                # Skipped: with align_corners, ONNX Runtime differs from the standard if the scaled length is not
                # an integer.
                if coordinates == "align_corners" and kind != "up":
                    continue
                nodes = [helper.make_node("Resize", ["x", "", "s"], ["out"], mode=mode, coordinate_transformation_mode=coordinates,
                                          nearest_mode="floor" if coordinates == "asymmetric" else "round_prefer_floor")]
                yield Case(f"resize-{mode}-{coordinates}-{kind}-{channels}", nodes, {"x": x}, {"s": sizes}, tolerance=1e-4)
    x = data((1, 3, 21, 17))
    for mode in ("linear", "cubic"):
        nodes = [helper.make_node("Resize", ["x", "", "", "n"], ["out"], mode=mode, antialias=1)]
        yield Case(f"resize-antialias-{mode}", nodes, {"x": x}, {"n": ints(1, 3, 8, 5)}, tolerance=1e-4)
        nodes = [helper.make_node("Resize", ["x", "", "", "n"], ["out"], mode=mode, axes=[2, 3],
                                  keep_aspect_ratio_policy="not_larger")]
        yield Case(f"resize-policy-{mode}", nodes, {"x": x}, {"n": ints(8, 5)}, tolerance=1e-4)
    nodes = [helper.make_node("Resize", ["x", "", "s"], ["out"], mode="linear")]
    yield Case("resize-3d", nodes, {"x": data((1, 2, 5, 6, 7))}, {"s": np.array([1, 1, 2, 2, 2], np.float32)}, tolerance=1e-4)
    for mode, padding, corners in itertools.product(("linear", "nearest", "cubic"), ("zeros", "border", "reflection"), (0, 1)):
        grid = (rng.random((2, 5, 6, 2)) * 3 - 1.5).astype(np.float32)
        yield one(f"grid-sample-{mode}-{padding}-{corners}", "GridSample", {"x": data((2, 19, 7, 9)), "g": grid}, opset=20,
                  mode=mode, padding_mode=padding, align_corners=corners, tolerance=1e-3)
    yield one("grid-sample-3d", "GridSample", {"x": data((1, 5, 6, 7, 8)), "g": (rng.random((1, 3, 4, 5, 3)) * 3 - 1.5).astype(np.float32)},
              opset=20, mode="linear", tolerance=1e-3)
    corners = np.sort(rng.random((6, 2, 2)) * 30, axis=1).reshape(6, 4).astype(np.float32)
    for mode, samples, centre in itertools.product(("avg", "max"), (0, 2), ("half_pixel", "output_half_pixel")):
        yield one(f"roi-align-{mode}-{samples}-{centre}", "RoiAlign", {"x": data((2, 19, 16, 14)), "r": corners, "b": ints(0, 1, 1, 0, 1, 0)},
                  mode=mode, sampling_ratio=samples, output_height=3, output_width=4, spatial_scale=0.5,
                  coordinate_transformation_mode=centre, tolerance=1e-4)


def contractions():
    yield one("einsum-of-one", "Einsum", {"x": data((1, 7, 6)), "y": data((2, 6, 5))}, equation="bij,bjk->bik")
    for block, shape, axis in ((16, (5, 37), 1), (16, (37, 6), 0), (8, (3, 24, 7), 1)):
        # Quantization with a scale for each block along an axis, whose last block may be shorter.
        blocks = list(shape)
        blocks[axis] = -(-shape[axis] // block)
        scale, zero = data(blocks) + np.float32(9), data(blocks, np.int8, 9)
        yield one(f"quantize-blocks-{shape}", "QuantizeLinear", {"x": data(shape)}, {"s": scale, "z": zero}, opset=21, axis=axis, block_size=block)
        yield one(f"dequantize-blocks-{shape}", "DequantizeLinear", {"x": data(shape, np.int8)}, {"s": scale, "z": zero}, opset=21, axis=axis,
                  block_size=block)
    # Pools with ceil_mode whose last window would begin after the input: before opset 22, ONNX's shape rule counts this
    # window.
    for op in ("MaxPool", "AveragePool"):
        nodes = [helper.make_node(op, ["x"], ["a"], ceil_mode=1, kernel_shape=[1, 1], strides=[2, 2]), helper.make_node("Relu", ["a"], ["out"])]
        yield Case(f"ceil-{op}", nodes, {"x": data((1, 2, 4, 6))}, opset=12)
    # The only window may exceed the padded input by up to stride - 1 elements.
    for op, (size, kernel, stride, dilation, low) in itertools.product(
            ("MaxPool", "AveragePool", "LpPool"), ((1, 2, 2, 1, 0), (1, 2, 3, 2, 0), (2, 2, 2, 2, 0), (1, 3, 3, 1, 1))):
        yield one(f"ceil-short-{op}-{size}{kernel}{stride}{dilation}{low}", op, {"x": data((2, 3, size, 5))}, opset=22, ceil_mode=1,
                  kernel_shape=[kernel, 2], strides=[stride, 1], dilations=[dilation, 1], pads=[low, 0, 0, 0])
    # Transposed convolutions with an output shape smaller than the input, for which ONNX's shape rule is incomplete.
    for size in ([2, 8], [2, 3], [8, 3]):
        yield one(f"convtranspose-{size}", "ConvTranspose", {"x": data((1, 4, 3, 4))}, {"w": data((4, 3, 3, 3))}, output_shape=size, strides=[3, 2])
    # Grouped convolutions: the output channels of a group fill wide or narrow vectors, do not fill a vector, or share one
    # with other groups; also with large weights, and with 1x1 kernels.
    for channels, outputs, group, image, kernel, attributes in (
        (32, 32, 8, (9, 8), (3, 3), {"pads": [1, 1, 1, 1]}), (24, 48, 3, (7, 9), (3, 3), {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
        (48, 72, 3, (5, 6), (1, 1), {}), (64, 64, 2, (6, 5), (3, 3), {"pads": [2, 2, 2, 2], "dilations": [2, 2]}), (12, 18, 3, (6, 7), (3, 3), {}),
        (20, 40, 2, (17,), (5,), {"strides": [2]}), (12, 24, 3, (4, 5, 6), (2, 3, 3), {"pads": [0, 1, 1, 0, 1, 1]}), (8, 32, 8, (6, 6), (3, 3), {}),
        (512, 512, 2, (9,), (3,), {"pads": [1, 1]}), (18, 36, 18, (9, 12), (7, 7), {"pads": [3]*4, "strides": [2, 2]}), (10, 20, 5, (6, 20), (3, 3), {"pads": [1]*4}),
        (6, 6, 3, (5, 9), (3, 5), {"pads": [1, 2, 1, 2], "dilations": [1, 2]}), (9, 72, 9, (31,), (3,), {"pads": [1, 1]}), (34, 34, 17, (5, 5), (1, 1), {}),
    ):  # yapf: disable
        constants = {"w": data((outputs, channels // group, *kernel)), "b": data((outputs,))}
        case = f"conv-groups-{channels}-{outputs}-{group}-{'x'.join(map(str, kernel))}"
        yield one(case, "Conv", {"x": data((2, channels, *image))}, constants, group=group, **attributes, tolerance=1e-4)
    # Transposed convolutions: kernel sizes that are a multiple of the stride, that are not, or that are smaller than
    # the stride; padding that crops more than a stride; groups.
    for channels, outputs, group, image, kernel, attributes in (
        (5, 8, 1, (3, 2), (2, 2), {"strides": [2, 2]}), (8, 20, 1, (5, 6), (4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        (9, 7, 1, (6, 5), (3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}), (6, 16, 1, (33,), (16,), {"strides": [8], "pads": [4]*2}),
        (6, 5, 1, (9,), (7,), {"strides": [3], "pads": [4, 2]}), (8, 3, 4, (5, 4), (3, 4), {"strides": [2, 1], "pads": [0, 1, 1, 0]}),
        (16, 1, 16, (6, 6), (4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}), (4, 6, 2, (3, 4, 3), (3, 2, 3), {"strides": [2, 2, 1]}),
        (5, 9, 1, (7, 8), (3, 3), {"dilations": [2, 3], "pads": [1, 1, 3, 2]}), (5, 9, 1, (4, 5), (3, 1), {"strides": [5, 2]}),
        (5, 3, 1, (4, 6), (5, 4), {"strides": [3, 3]}), (5, 3, 1, (4, 6), (1, 3), {"strides": [2, 4], "output_padding": [1, 3]}), (7, 5, 1, (5, 5), (2, 3), {"strides": [1, 2], "dilations": [3, 2]}),
    ):  # yapf: disable
        constants = {"w": data((channels, outputs, *kernel)), "b": data((outputs * group,))}
        case = f"convtranspose-{channels}-{outputs}-{group}-{'x'.join(map(str, kernel))}"
        yield one(case, "ConvTranspose", {"x": data((2, channels, *image))}, constants, group=group, **attributes)
    yield one("matmul-no-columns", "MatMul", {"a": data((2, 5, 7))}, {"b": data((7, 0))})
    for equation, *shapes in (
        ("bij,bjk->bik", (3, 9, 17), (3, 17, 33)), ("bhqd,bhkd->bhqk", (2, 3, 9, 16), (2, 3, 11, 16)), ("ij->ji", (9, 33)), ("ii->i", (9, 9)),
        ("ij,kj", (9, 17), (33, 17)), ("...ij,...jk->...ik", (2, 9, 17), (2, 17, 33)), ("i,j->ij", (9,), (33,)), ("ij->", (9, 33)),
        ("ijk,ijk->jk", (4, 9, 33), (4, 9, 33)), ("ab,bc,cd->ad", (9, 17), (17, 8), (8, 33)), ("bijij->bj", (2, 5, 7, 5, 7)),
        ("bchw,bckw->bhk", (2, 3, 9, 16), (2, 3, 7, 16)),
    ):  # yapf: disable
        inputs = {f"x{i}": data(s) for i, s in enumerate(shapes)}
        yield one(f"einsum-{equation}", "Einsum", inputs, equation=equation, tolerance=1e-4)
    for n in (16, 100, 400, 1024):
        for onesided in (0, 1):
            yield one(f"dft-{n}-{onesided}", "DFT", {"x": data((2, n, 1))}, {"n": np.array(n)}, opset=17, axis=1, onesided=onesided, tolerance=1e-3)
        yield one(f"dft-inverse-{n}", "DFT", {"x": data((2, n, 2))}, {"n": np.array(n)}, opset=17, axis=1, inverse=1, tolerance=1e-3)
    nodes = [helper.make_node("STFT", ["x", "step", "w"], ["out"], onesided=1)]
    yield Case("stft", nodes, {"x": data((2, 3000, 1))}, {"step": np.array(160), "w": np.hanning(400).astype(np.float32)}, opset=17, tolerance=1e-3)
    yield one("col2im", "Col2Im", {"x": data((2, 3 * 9, 7 * 8))}, {"i": ints(14, 16), "b": ints(3, 3)}, strides=[2, 2], pads=[1, 1, 1, 1])


# Cases that Ingot must reject if sizes are dynamic: the length of GatherND's indices determines the rank of the
# result, and sizes with the same letter in an Einsum must be equal.
REFUSED = ("einsum-of-one", "gather-nd", "gather-nd-rows", "gather-nd-batch", "gather-elements-[12]-*", "scatter-elements-*", "dft-inverse-*")

if __name__ == "__main__":
    sys.exit(compare(__doc__, movers(), shuffles(), indexing(), resampling(), contractions(), refused=REFUSED))
