"""Products of narrow integers beside NumPy.

    integer_products.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

ONNX Runtime saturates sums of two products on processors without VNNI, so the
results are NumPy's, in 64 bits and cut to 32: exact. All signs, zero points of every
shape, constant and computed right operands, sizes around those of vectors, groups and
tiles, and elements at both ends of their range. Inputs come from a fixed seed, which a
failure prints.
"""
import itertools
import sys

import numpy as np
from onnx import helper, numpy_helper

from beside_onnxruntime import Case, compare, rng
from convolution_windows import WINDOWS

SIGNS = list(itertools.product((np.uint8, np.int8), repeat=2))


def whole(shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def product(name, a, b, a_zero=None, b_zero=None, is_constant=True):
    """Returns a case with a MatMulInteger and NumPy's result. Zero points are scalars, or one per row of a and
    one per column of b."""
    wide = [v.astype(np.int64) for v in (a, b)]
    names, inputs, constants = ["a", "b"], {"a": a}, {}
    (constants if is_constant else inputs)["b"] = b
    for i, (zero, key) in enumerate(((a_zero, "az"), (b_zero, "bz"))):
        if zero is None:
            names.append("")
            continue
        names.append(key)
        (constants if is_constant else inputs)[key] = zero
        by_row = zero.reshape(-1, 1) if i == 0 and zero.ndim == 1 else zero
        wide[i] = wide[i] - by_row.astype(np.int64)
    while names[-1] == "":
        names.pop()
    want = np.matmul(*wide).astype(np.int32)
    return Case(name, [helper.make_node("MatMulInteger", names, ["out"])], inputs, constants, want=[want])


def names_of(a, b):
    return f"{np.dtype(a).name}-{np.dtype(b).name}"


def sizes():
    for (a, b), (m, k, n) in itertools.product(SIGNS, (
            (1, 1, 1), (1, 4, 8), (2, 3, 5), (5, 7, 33), (6, 64, 16), (7, 66, 17), (13, 129, 40), (33, 5, 100), (1, 200, 64), (4, 2, 3))):
        for is_constant in (True, False):
            yield product(f"{names_of(a, b)}-{m}x{k}x{n}-{'constant' if is_constant else 'computed'}",
                          whole((m, k), a), whole((k, n), b), is_constant=is_constant)


def extremes():
    """Operands whose elements are all limits of their type: a sum of 300 products 255 x -128 exceeds 16
    bits."""
    for a, b in SIGNS:
        for end_a, end_b in itertools.product(("min", "max"), repeat=2):
            left = np.full((5, 300), getattr(np.iinfo(a), end_a), a)
            right = np.full((300, 19), getattr(np.iinfo(b), end_b), b)
            yield product(f"{names_of(a, b)}-{end_a}-{end_b}", left, right)


def zeros():
    m, k, n = 7, 37, 21
    for (a, b), is_constant in itertools.product(SIGNS, (True, False)):
        for a_shape, b_shape in (((), ()), ((), None), (None, ()), ((m,), (n,)), ((m,), ()), ((), (n,)), ((1,), (1,))):
            shapes = "-".join("none" if s is None else "x".join(map(str, s)) or "scalar" for s in (a_shape, b_shape))
            yield product(f"zeros-{names_of(a, b)}-{shapes}-{'constant' if is_constant else 'computed'}", whole((m, k), a), whole((k, n), b),
                          *(None if s is None else whole(s, t) for s, t in ((a_shape, a), (b_shape, b))), is_constant)


def batches():
    for (a, b), is_constant in itertools.product(SIGNS, (True, False)):
        kind = f"{names_of(a, b)}-{'constant' if is_constant else 'computed'}"
        for left, right in (((3, 5, 18), (18, 20)), ((2, 3, 5, 18), (3, 18, 20)), ((5, 18), (4, 18, 20)), ((2, 1, 5, 18), (1, 3, 18, 20)), ((18,), (18, 20)),
                            ((3, 5, 18), (18,))):
            shapes = "-".join("x".join(map(str, s)) for s in (left, right))
            yield product(f"batches-{kind}-{shapes}", whole(left, a), whole(right, b), whole((), a), whole((), b), is_constant)
        yield product(f"batches-{kind}-zeros", whole((3, 5, 18), a), whole((3, 18, 20), b), whole((3, 5, 1), a), whole((3, 1, 20), b), is_constant)


def convolution(name, x, w, x_zero=None, w_zero=None, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0), group=1):
    wide = np.pad(x.astype(np.int64) - (0 if x_zero is None else x_zero), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    weights = w.astype(np.int64) - (0 if w_zero is None else w_zero.reshape(-1, 1, 1, 1) if w_zero.ndim else w_zero)
    reach = [(size - 1) * dilation + 1 for size, dilation in zip(w.shape[2:], dilations)]
    windows = np.lib.stride_tricks.sliding_window_view(wide, reach, (2, 3))
    windows = windows[:, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]
    n, channels, *rest = windows.shape
    want = np.einsum("ngchwij,gocij->ngohw", windows.reshape(n, group, channels // group, *rest),
                     weights.reshape(group, len(w) // group, *w.shape[1:]))
    want = want.reshape(n, len(w), *want.shape[3:]).astype(np.int32)
    constants = {"w": w, **{key: zero for key, zero in (("xz", x_zero), ("wz", w_zero)) if zero is not None}}
    names = ["x", "w", "xz" if x_zero is not None else "", "wz" if w_zero is not None else ""]
    while not names[-1]:
        names.pop()
    node = helper.make_node("ConvInteger", names, ["out"], strides=strides, dilations=dilations, pads=pads, group=group)
    return Case(name, [node], {"x": x}, constants, want=[want])


def convolutions():
    """1x1 convolutions, which are matrix multiplications, next to larger windows. Weights with zero points
    become signed integers around 0 (8-bit multiplications) or not."""
    for a, b in SIGNS:
        for kernel, attributes in ((1, {}), (1, {"strides": (2, 2)}), (3, {"pads": (1, 1, 1, 1)})):
            yield convolution(f"conv-{names_of(a, b)}-{kernel}-{attributes.get('strides', (1,))[0]}-zeros", whole((2, 19, 7, 6), a),
                              whole((33, 19, kernel, kernel), b), whole((), a), whole((33,), b), **attributes)
        for number, (inputs, outputs, size, kernel, attributes) in enumerate(WINDOWS):
            for x_zero in (None, whole((), a)):
                yield convolution(f"conv-{names_of(a, b)}-{number}-{'zero' if x_zero is not None else 'none'}", whole((2, inputs, *size), a),
                                  whole((outputs, inputs, *kernel), b), x_zero, np.array(128, b) if b == np.uint8 else None, **attributes)
        for x_zero in (None, whole((), a)):
            yield convolution(f"conv-{names_of(a, b)}-one-zero-{'zero' if x_zero is not None else 'none'}", whole((1, 8, 6, 7), a),
                              whole((20, 8, 3, 3), b), x_zero, np.array(57, b), pads=(1, 1, 1, 1))
        yield convolution(f"conv-{names_of(a, b)}-extremes", np.full((1, 64, 6, 6), np.iinfo(a).max, a), np.full((17, 64, 3, 3), np.iinfo(b).min, b),
                          None, np.array(128, b) if b == np.uint8 else None, pads=(1, 1, 1, 1))


def padded():
    """A Pad before the convolution: with the zero point of the input, which the convolution itself pads with, and with others."""
    for a, b in SIGNS:
        for zero, value in ((100, 0), (100, 100), (0, 0), (0, 9), (100, 101)):
            for group in (1, 8):
                x, w = whole((1, 8, 6, 7), a), whole((16, 8 // group, 3, 3), b)
                wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=a(value))
                name = f"padded-{names_of(a, b)}-{zero}-{value}-{group}"
                of = convolution(name, wide, w, np.array(zero, a), np.array(128, b) if b == np.uint8 else None, group=group)
                node, = of.model.graph.node
                node.input[0] = "wide"
                pad = helper.make_node("Pad", ["x", "pads", "value"], ["wide"])
                constants = {c.name: numpy_helper.to_array(c) for c in of.model.graph.initializer}
                constants |= {"pads": np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), "value": np.array(value, a)}
                yield Case(name, [pad, node], {"x": x}, constants, want=of.want)


def symmetric():
    """Weights without -128, for which two products can be added in 16 bits: at the limits of the range,
    with channels that fill 16-byte registers, half registers, or neither."""
    for a, end in itertools.product((np.uint8, np.int8), (-127, 127)):
        for channels, kernel in ((16, 1), (24, 1), (64, 3), (40, 3), (8, 3), (20, 1)):
            for ends_of_x in ("min", "max"):
                yield convolution(f"symmetric-{np.dtype(a).name}-{channels}-{kernel}-{end}-{ends_of_x}",
                                  np.full((1, channels, 5, 6), getattr(np.iinfo(a), ends_of_x), a),
                                  np.full((18, channels, kernel, kernel), end, np.int8), pads=(kernel // 2,) * 4)
    for channels, outputs, kernel, strides in ((16, 4, 1, 1), (24, 33, 1, 1), (32, 6, 3, 2), (72, 19, 3, 1), (8, 7, 3, 1), (8, 12, 5, 1)):
        w = np.maximum(whole((outputs, channels, kernel, kernel), np.int8), -127)
        for a in (np.uint8, np.int8):
            yield convolution(f"symmetric-{np.dtype(a).name}-{channels}-{outputs}-{kernel}", whole((2, channels, 9, 11), a), w,
                              whole((), a), strides=(strides, strides), pads=(kernel // 2,) * 4)


# Depthwise convolutions: channel counts that divide a vector or do not, rows that end within a vector, and
# windows whose weights fit into registers or do not.
FILTERS = (
    (2, (5, 140), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (4, (5, 70), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (8, (7, 41), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (8, (5, 20), 3, {"pads": (1, 1, 1, 1), "strides": (3, 3)}),
    (16, (6, 11), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (16, (7, 38), 5, {"pads": (2, 2, 2, 2), "strides": (2, 2)}),
    (17, (6, 20), 3, {}),
    (24, (5, 9), 3, {"pads": (1, 1, 1, 1)}),
    (24, (7, 27), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (32, (8, 10), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (33, (5, 9), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (40, (7, 13), 3, {"strides": (2, 2)}),
    (48, (9, 9), 3, {"pads": (2, 2, 2, 2), "dilations": (2, 2)}),
    (48, (7, 15), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (64, (5, 6), 3, {"pads": (1, 1, 1, 1)}),
    (64, (6, 9), 3, {"pads": (0, 0, 1, 1), "strides": (2, 2)}),
    (72, (6, 7), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (96, (5, 7), 3, {"pads": (1, 1, 1, 1)}),
    (100, (5, 5), 5, {"pads": (2, 2, 2, 2)}),
    (128, (4, 5), 3, {"strides": (2, 1)}),
    (144, (7, 6), 3, {"pads": (1, 1, 1, 1)}),
    (144, (6, 7), 3, {"pads": (1, 1, 1, 1), "strides": (2, 2)}),
    (200, (5, 4), 9, {"pads": (4, 4, 4, 4), "strides": (2, 2)}),
)


def filters():
    for a, b in SIGNS:
        for channels, size, kernel, attributes in FILTERS:
            name = f"filters-{names_of(a, b)}-{channels}-{kernel}-{attributes.get('strides', (1,))[0]}"
            yield convolution(name, whole((2, channels, *size), a), whole((channels, 1, kernel, kernel), b), whole((), a),
                              np.array(128, b) if b == np.uint8 else None, group=channels, **attributes)
            yield convolution(name + "-one", whole((1, channels, *size), a), whole((channels, 1, kernel, kernel), b), None,
                              np.array(128, b) if b == np.uint8 else None, group=channels, **attributes)


def narrow_results():
    """Sums that are requantized to 8 bits in integer arithmetic: results are narrower than sums, so
    several vectors of sums become one."""
    for columns in (5, 32, 45, 64, 96, 128, 200, 256):
        x, w = whole((9, 20), np.uint8), whole((20, columns), np.int8)
        low, high, half = np.array(-900, np.int32), np.array(4000, np.int32), np.array(50, np.int32)
        nodes = [helper.make_node("MatMulInteger", ["x", "w"], ["sum"]), helper.make_node("Max", ["sum", "low"], ["above"]),
                 helper.make_node("Min", ["above", "high"], ["within"]), helper.make_node("Add", ["within", "half"], ["moved"]),
                 helper.make_node("Cast", ["moved"], ["out"], to=2)]
        want = (np.clip(x.astype(np.int32) @ w.astype(np.int32), low, high) + half).astype(np.uint8)
        yield Case(f"narrow-{columns}", nodes, {"x": x}, {"w": w, "low": low, "high": high, "half": half}, want=[want])


if __name__ == "__main__":
    sys.exit(compare(__doc__, sizes(), extremes(), zeros(), batches(), convolutions(), padded(), symmetric(), filters(), narrow_results()))
