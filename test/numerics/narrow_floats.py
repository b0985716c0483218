"""Contractions of bf16, and conversions to it, beside NumPy; of f16 where the target ends in ,fast=f16.

    narrow_floats.py --program INGOT-CONFORMANCE [--target NAME[,fast=f16]] [--filter TEXT]

Operands are whole numbers whose sums f32 holds, and f16 those of a stage, so that results are
exact in any order: one rounding, to nearest even. Sizes are around those of vectors, pairs and tiles. Special values
are in products as well: infinities and NaN come out as the definition has them; subnormal
operands may count as zeros, which no sum here can tell. Inputs come from a fixed seed, which
a failure prints.
"""
import itertools
import sys

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from beside_onnxruntime import Case, compare, rng
from convolution_windows import WINDOWS

IS_HALF = any(argument.endswith(",fast=f16") for argument in sys.argv)
NARROW = np.float16 if IS_HALF else ml_dtypes.bfloat16


def whole(shape):
    most = 4 if IS_HALF else 9
    return rng.integers(-most, most + 1, shape).astype(NARROW)


def rounded(sums):
    """Rounds exact sums once to bf16 (or f16); returns them as float32, so that the comparison is exact."""
    return sums.astype(np.float32).astype(NARROW).astype(np.float32)


def wide(*values):
    return (v.astype(np.float64) for v in values)


def case(name, nodes, inputs, constants, want):
    """Returns a case in which the nodes' result `y` is widened and compared bit by bit."""
    return Case(name, nodes + [helper.make_node("Cast", ["y"], ["out"], to=TensorProto.FLOAT)], inputs, constants,
                opset=22, tolerance=0, want=[want])


def product(name, a, b, is_constant):
    x, w = wide(a, b)
    return case(name, [helper.make_node("MatMul", ["a", "b"], ["y"])], {"a": a} if is_constant else {"a": a, "b": b},
                {"b": b} if is_constant else {}, rounded(np.matmul(x, w)))


def products():
    for m, k, n in ((1, 1, 1), (1, 4, 8), (2, 3, 5), (5, 7, 33), (6, 64, 16), (7, 66, 17), (13, 129, 40), (33, 5, 100), (1, 200, 64)):
        for is_constant in (True, False):
            yield product(f"{m}x{k}x{n}-{'constant' if is_constant else 'computed'}", whole((m, k)), whole((k, n)), is_constant)
    for shape, other in (((2, 3, 5, 6), (2, 3, 6, 7)), ((3, 4, 9), (9, 20)), ((4, 9), (3, 9, 20)), ((2, 1, 4, 8), (3, 8, 16))):
        yield product(f"batch-{len(shape)}-{len(other)}-{other[-1]}", whole(shape), whole(other), False)


def gemms():
    for a_turned, b_turned in itertools.product((0, 1), repeat=2):
        a, b, c = whole((6, 19)), whole((19, 37)), whole((37,))
        x, w, z = wide(a, b, c)
        nodes = [helper.make_node("Gemm", ["a", "b", "c"], ["y"], transA=a_turned, transB=b_turned)]
        # The product and the sum with the bias are rounded separately, as if by two operators.
        want = rounded(rounded(x @ w).astype(np.float64) + z)
        yield case(f"gemm-{a_turned}{b_turned}", nodes, {"a": a.T.copy() if a_turned else a}, {"b": b.T.copy() if b_turned else b, "c": c}, want)


def convolution(name, x, w, bias=None, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0)):
    image = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(w.shape[2:], dilations)]
    windows = np.lib.stride_tricks.sliding_window_view(image, reach, (2, 3))
    windows = windows[:, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]
    sums = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.float64))
    constants, names = {"w": w}, ["x", "w"]
    if bias is not None:
        constants["bias"] = bias
        names.append("bias")
        sums = sums + bias.astype(np.float64).reshape(-1, 1, 1)
    node = helper.make_node("Conv", names, ["y"], strides=strides, dilations=dilations, pads=pads)
    return case(name, [node], {"x": x}, constants, rounded(sums))


def convolutions():
    # The last two have enough positions that their inputs are packed on Arm: as one stage of K steps, and as two.
    products = ((19, 33, (7, 6), (1, 1), {}), (96, 404, (13, 13), (1, 1), {}), (204, 404, (11, 12), (1, 1), {}))
    for number, (inputs, outputs, size, kernel, attributes) in enumerate((*WINDOWS, *products)):
        for has_bias in (False, True):
            yield convolution(f"conv-{number}-{'bias' if has_bias else 'none'}", whole((2, inputs, *size)), whole((outputs, inputs, *kernel)),
                              whole((outputs,)) if has_bias else None, **attributes)


def large_biases():
    """float32 networks in which products are small beside the bias, and their sum is not: the bias must not be the first term of
    an f16 sum. Each convolution is between two others that change nothing, so that its operands and results are stored as f16."""
    same = np.eye(32, dtype=np.float32).reshape(32, 32, 1, 1)
    bias = np.full(32, 2048, np.float32)
    for name, kernel, groups in (("pointwise", 1, 1), ("window", 3, 4), ("depthwise", 3, 32)):
        w = np.full((32, 32 // groups, kernel, kernel), 0.25, np.float32)
        w[:, 0, 0, 0] += 4 - w[0].size % 16 / 4  # their sum is a multiple of 4, which f16 holds beside the bias
        want = np.full((1, 32, 9 - kernel, 9 - kernel), 2048 + float(w[0].sum()), np.float32)
        for has_relu in (False, True):
            nodes = [helper.make_node("Conv", ["x", "same"], ["a"]), helper.make_node("Conv", ["a", "w", "bias"], ["b"], group=groups),
                     helper.make_node("Relu" if has_relu else "Identity", ["b"], ["c"]), helper.make_node("Conv", ["c", "same"], ["out"])]
            yield Case(f"large-bias-{name}{'-relu' if has_relu else ''}", nodes, {"x": np.ones((1, 32, 8, 8), np.float32)},
                       {"same": same, "w": w, "bias": bias}, tolerance=0, want=[want])


def large_inputs():
    """Convolutions of 3 x 3 that Winograd's algorithm computes: sums of inputs near the largest float16 must not overflow. With
    inputs of random signs, the corners of tiles of 4 x 4 outputs have errors of up to 1 % of the largest result."""
    for channels, size, signs in ((64, 16, (1,)), (64, 16, (-1, 1)), (16, 21, (-1, 1))):
        x = (60000 * (1 - 0.1 * rng.random((1, channels, size, size))) * rng.choice(signs, (1, channels, size, size))).astype(np.float16)
        w = (rng.standard_normal((channels, channels, 3, 3)) / (9 * channels)).astype(np.float16)
        image = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (2, 3))
        want = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.float64)).astype(np.float32)
        yield Case(f"large-inputs-{channels}-{len(signs)}", [helper.make_node("Conv", ["x", "w"], ["out"], pads=[1, 1, 1, 1])],
                   {"x": x.astype(np.float32)}, {"w": w.astype(np.float32)}, tolerance=2e-2, want=[want])


def pools():
    """Maximum pools of f16, with infinities and windows of NaN and -infinity only: NaN is ignored, so both are -infinity."""
    for channels, size, kernel, strides, pads in ((8, (9, 9), (3, 3), (2, 2), (0, 0, 0, 0)), (21, (7, 10), (3, 2), (2, 1), (1, 0, 1, 1)),
                                                  (3, (5, 5), (5, 5), (1, 1), (2, 2, 2, 2)), (64, (12, 12), (2, 2), (2, 2), (0, 0, 0, 0))):
        x = rng.standard_normal((2, channels, *size)).astype(np.float16)
        x.ravel()[rng.integers(0, x.size, x.size // 4)] = np.nan
        x.ravel()[rng.integers(0, x.size, 9)] = [np.inf, -np.inf, 0.0] * 3
        x[0, 0], x[0, 1] = np.nan, -np.inf
        around = ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3]))
        image = np.pad(np.where(np.isnan(x), -np.inf, x).astype(np.float32), around, constant_values=-np.inf)
        windows = np.lib.stride_tricks.sliding_window_view(image, kernel, (2, 3))[:, :, ::strides[0], ::strides[1]]
        yield case(f"pool-{channels}", [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=kernel, strides=strides, pads=pads)],
                   {"x": x}, {}, windows.max((4, 5)))


def specials():
    """A row for each special value, at each position of a pair, and subnormal numbers next to ordinary
    ones."""
    values = [np.inf, -np.inf, np.nan, *([6e4, 6e-8, -1e-5] if IS_HALF else [3.0e38, 1e-40, -1e-39]), 0.0, -0.0]
    rows = np.ones((2 * len(values), 8), np.float32)
    for i, value in enumerate(values):
        rows[2 * i, 0] = value
        rows[2 * i + 1, 5] = value
    a, b = rows.astype(NARROW), np.ones((8, 20), np.float32).astype(NARROW)
    with np.errstate(all="ignore"):
        want = (a.astype(np.float32) @ b.astype(np.float32)).astype(NARROW).astype(np.float32)
    yield case("special-products", [helper.make_node("MatMul", ["a", "b"], ["y"])], {"a": a}, {"b": b}, want)


def conversions():
    """Conversions from float32 of ties, the largest numbers, infinities, and NaN with any payload, in tensors
    that fill vectors and in short ones."""
    ties = np.array([0x3f808000, 0x3f818000, 0x3f807fff, 0x3f808001, 0x7f7f8000, 0x7f7f7fff, 0xff7fffff, 0x7f800000, 0xff800000,
                     0x7f800001, 0x7fc00000, 0xffffffff, 0x80000000, 0x00000000], np.uint32).view(np.float32)
    x = np.concatenate([ties, rng.integers(0x00800000, 0x7f800000, 200, dtype=np.uint32).view(np.float32)])
    for count in (len(x), 7):
        with np.errstate(all="ignore"):
            want = x[:count].astype(NARROW).astype(np.float32)
        yield case(f"round-{count}", [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)], {"x": x[:count]}, {}, want)


if __name__ == "__main__":
    sys.exit(compare(__doc__, products(), gemms(), convolutions(), specials(), *((large_biases(), large_inputs(), pools()) if IS_HALF else (conversions(),))))
