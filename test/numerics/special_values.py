"""Values at which implementations differ, beside NumPy: NaN, large angles, narrow floats, integers with attributes of floats.

    special_values.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

The rules for NaN: MaxPool takes the largest number of a window, as ONNX Runtime does, on every path (two comparisons for each
element would keep NaN, and make the code of a pool 1.4 times as large on a Cortex-M4). A reduction or a mean over elements of which one
is NaN is NaN, as NumPy has it. Statistics of float16 and bfloat16 are computed in float32, and rounded once.
"""
import itertools
import math

import ml_dtypes
import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, data, ints, one, rng

NAN = np.float32(np.nan)


def wanted(case, *want):
    case.want = [np.asarray(v) for v in want]
    return case


def windows(x, kernel, stride, low, high, fill):
    """Returns the elements of each window of x [N, C, spatial...] as a new last axis. `low` and `high` are the
    padding, filled with `fill`."""
    pads = [(0, 0), (0, 0)] + list(zip(low, high))
    x = np.pad(x, pads, constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, axis=tuple(range(2, x.ndim)))
    view = view[(slice(None), slice(None)) + tuple(slice(None, None, s) for s in stride)]
    return view.reshape(view.shape[: x.ndim] + (-1,))


def with_nan(shape, share=0.05):
    x = data(shape)
    x[rng.random(shape) < share] = NAN
    return x


def largest(x, kernel, stride, pad):
    """Returns the largest number of each window; NaN is ignored, and a window of NaNs gives the value of
    an empty window."""
    return np.fmax.reduce(windows(x, kernel, stride, pad, pad, -np.inf), axis=-1, initial=-np.inf)


def pools():
    """NaN at each position of a window; vectors of channels, padding, pools after convolutions."""
    for i in range(4):
        x = np.array([1, 2, 3, 0], np.float32)
        x[i] = NAN
        x = x.reshape(1, 1, 4)
        yield wanted(one(f"max-1d-{i}", "MaxPool", {"x": x}, kernel_shape=[2]), largest(x, (2,), (1,), (0,)))
    for channels, kernel, stride, pad in ((1, (2, 2), (2, 2), 0), (16, (3, 3), (2, 2), 1), (19, (3, 3), (1, 1), 1), (33, (2, 3), (2, 3), 0), (64, (3, 3), (2, 2), 1)):
        x = with_nan((2, channels, 13, 12))
        want = largest(x, kernel, stride, (pad, pad))
        yield wanted(one(f"max-2d-{channels}-{kernel[1]}{stride[1]}", "MaxPool", {"x": x}, kernel_shape=kernel, strides=stride, pads=[pad] * 4), want)
        yield wanted(one(f"average-2d-{channels}-{kernel[1]}{stride[1]}", "AveragePool", {"x": x}, kernel_shape=kernel, strides=stride, pads=[pad] * 4,
                         count_include_pad=1), windows(x, kernel, stride, (pad, pad), (pad, pad), 0).mean(-1))
    for dtype in (np.float64, np.float16):
        x = with_nan((1, 8, 9, 9)).astype(dtype)
        yield wanted(one(f"max-2d-{np.dtype(dtype).name}", "MaxPool", {"x": x}, kernel_shape=[3, 3]), largest(x, (3, 3), (1, 1), (0, 0)))
    # Explicit padding with zeros, which are the maximum of a window whose other elements are NaN, also after activations whose
    # results are never negative.
    for op, channels, (kernel, stride) in itertools.product(("Sigmoid", "Relu", "Neg"), (1, 8), ((2, 1), (3, 2))):
        x = with_nan((1, channels, 6, 7))
        x[:, :, :2, :2] = x[:, 0, 2:5, 2:5] = x[:, :, 5:, 6:] = NAN
        nodes = [helper.make_node(op, ["x"], ["a"]), helper.make_node("Pad", ["a", "pads"], ["b"]),
                 helper.make_node("MaxPool", ["b"], ["out"], kernel_shape=[kernel] * 2, strides=[stride] * 2)]
        y = {"Sigmoid": lambda v: 1 / (1 + np.exp(-v)), "Relu": lambda v: np.where(v > 0, v, 0 * v), "Neg": np.negative}[op](x)
        want = largest(np.pad(y, [(0, 0), (0, 0), (1, 1), (1, 1)]), (kernel,) * 2, (stride,) * 2, (0, 0))
        yield wanted(Case(f"max-padded-{op}-{channels}-{kernel}", nodes, {"x": x}, {"pads": ints(0, 0, 1, 1, 0, 0, 1, 1)}), want)
    # MaxPool with indices: neither the maximum nor its index refers to a NaN.
    x = np.array([[[1, NAN, 2, NAN, 5, 4]]], np.float32)
    yield wanted(one("max-position", "MaxPool", {"x": x}, outputs=("out", "at"), kernel_shape=[3], strides=[3]),
                 np.array([[[2, 5]]], np.float32), np.array([[[2, 4]]], np.int64))
    # Pools that are fused into the kernel of a convolution. (The kernels are not 3 x 3: Winograd's algorithm
    # spreads a NaN of the input over a tile of outputs.)
    for size, channels, filters, window in (((5, 5), 8, 16, (2, 2)), ((5, 5), 32, 48, (2, 2)), ((5, 5), 1, 8, (2, 2)), ((1, 1), 16, 32, (2, 2)), ((1, 1), 16, 24, (3, 3))):
        x = data((1, channels, 24, 24))
        x[0, 0, 7, 9] = NAN
        x[0, channels - 1, 16, 4] = NAN
        w = (data((filters, channels, *size)) / 9).astype(np.float32)
        p = [n // 2 for n in size]
        padded = np.pad(x, [(0, 0), (0, 0), (p[0], p[0]), (p[1], p[1])])
        parts = np.lib.stride_tricks.sliding_window_view(padded, size, axis=(2, 3))
        y = np.einsum("ncyxij,fcij->nfyx", parts.astype(np.float64), w.astype(np.float64))
        for name, middle in (("plain", []), ("relu", [helper.make_node("Relu", ["a"], ["b"])])):
            z = np.where(y < 0, 0, y) if middle else y
            nodes = [helper.make_node("Conv", ["x", "w"], ["a"], pads=p + p), *middle,
                     helper.make_node("MaxPool", ["b" if middle else "a"], ["out"], kernel_shape=window, strides=window)]
            case = Case(f"conv-max-{size[0]}-{channels}-{window[0]}-{name}", nodes, {"x": x}, {"w": w}, tolerance=1e-4)
            yield wanted(case, largest(z, window, window, (0, 0)).astype(np.float32))
    # Convolutions that Winograd's algorithm computes: here, a square root makes the NaN that the pool ignores.
    for filters, window in ((32, (2, 2)), (40, (4, 2))):
        x, w = data((1, 16, 24, 24)), (data((filters, 16, 3, 3)) / 12).astype(np.float32)
        parts = np.lib.stride_tricks.sliding_window_view(np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3), axis=(2, 3))
        y = np.einsum("ncyxij,fcij->nfyx", parts.astype(np.float64), w.astype(np.float64))
        nodes = [helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]), helper.make_node("Sqrt", ["a"], ["b"]),
                 helper.make_node("MaxPool", ["b"], ["out"], kernel_shape=window, strides=window)]
        with np.errstate(invalid="ignore"):
            want = largest(np.sqrt(y), window, window, (0, 0)).astype(np.float32)
        # Near 0, the root enlarges rounding errors: only numbers above are compared.
        yield wanted(Case(f"winograd-max-{window[0]}", nodes, {"x": x}, {"w": w}, tolerance=1e-3), want)


def propagation():
    """NaN through elementwise operators, also of float16 and double, with constants and with other tensors."""
    for dtype in (np.float32, np.float64, np.float16):
        x, y = (np.array([1, -2, NAN, 3, 0, NAN, -1] * 5, dtype) for _ in range(2))
        y = np.roll(y, 1)
        half, low, high = (np.array(v, dtype) for v in (0.5, -1, 2))
        wide = x.astype(np.float64)
        name = np.dtype(dtype).name
        for op, want in (("Relu", np.maximum(wide, 0)), ("Exp", np.exp(wide)), ("Tanh", np.tanh(wide)), ("Sigmoid", 1 / (1 + np.exp(-wide))), ("Sign", np.sign(wide)),
                         ("HardSigmoid", np.clip(0.2 * wide + 0.5, 0, 1)), ("LeakyRelu", np.where(wide < 0, 0.01 * wide, wide)), ("Elu", np.where(wide < 0, np.expm1(wide), wide))):
            yield wanted(one(f"nan-{op.lower()}-{name}", op, {"x": x}, tolerance=2e-3 if dtype == np.float16 else 1e-6), want.astype(dtype))
        yield wanted(one(f"nan-clip-{name}", "Clip", {"x": x}, {"low": low, "high": high}), np.clip(x, low, high))
        yield wanted(one(f"nan-isnan-{name}", "IsNaN", {"x": x}), np.isnan(x))
        for op, function in (("Max", np.maximum), ("Min", np.minimum), ("Less", np.less), ("LessOrEqual", np.less_equal), ("Greater", np.greater),
                             ("GreaterOrEqual", np.greater_equal), ("Equal", np.equal)):
            yield wanted(one(f"nan-{op.lower()}-{name}", op, {"x": x, "y": y}), function(x, y))
            yield wanted(one(f"nan-{op.lower()}-constant-{name}", op, {"x": x}, {"c": half}), function(x, half))
            nodes = [helper.make_node(op, ["c", "x"], ["out"])]
            yield wanted(Case(f"nan-constant-{op.lower()}-{name}", nodes, {"x": x}, {"c": half}), function(half, x))


def reductions():
    x = with_nan((5, 7, 37), 0.02)
    for op, function in (("Max", np.max), ("Min", np.min), ("Sum", np.sum), ("Mean", np.mean), ("Prod", np.prod), ("L1", lambda v, axis, keepdims: np.abs(v).sum(axis=axis, keepdims=keepdims))):
        for axis in ((0,), (1,), (2,), (1, 2)):
            want = function(x.astype(np.float64), axis=axis, keepdims=True).astype(np.float32)
            yield wanted(one(f"reduce-{op}-{''.join(map(str, axis))}".lower(), f"Reduce{op}", {"x": x}, {"a": ints(*axis)}, tolerance=1e-4), want)
    for op, function in (("GlobalMaxPool", np.max), ("GlobalAveragePool", np.mean)):
        y = with_nan((2, 19, 5, 7), 0.02)
        yield wanted(one(op.lower(), op, {"x": y}, tolerance=1e-5), function(y, axis=(2, 3), keepdims=True))
    for op, function in (("Max", np.maximum), ("Min", np.minimum)):
        y, z = with_nan((4, 37), 0.2), with_nan((4, 37), 0.2)
        yield wanted(one(f"{op.lower()}-of-two", op, {"x": y, "y": z}), function(y, z))
    for op in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            places = np.where(np.isnan(x), 1, 0)
            function = np.argmax if op == "ArgMax" else np.argmin
            turned = x[:, :, ::-1] if last else x
            want = function(turned, axis=2)[..., None]
            want = x.shape[2] - 1 - want if last else want
            yield wanted(one(f"{op.lower()}-{last}", op, {"x": x}, axis=2, select_last_index=last), want.astype(np.int64))


def large_integers():
    """Reductions of int32 whose results fit, but neither the sums nor the squares."""
    for op, low, function in (("Mean", 2**29, lambda v: v.mean(axis=1)), ("LogSum", 2**29, lambda v: np.log(v.sum(axis=1))),
                              ("L2", 30000, lambda v: np.sqrt((v * v).sum(axis=1)))):
        x = rng.integers(low, 2 * low, (3, 9)).astype(np.int32)
        want = np.trunc(function(x.astype(np.float64))).astype(np.int32)[:, None]
        yield wanted(one(f"reduce-large-{op}".lower(), f"Reduce{op}", {"x": x}, {"a": ints(1)}), want)
        yield wanted(one(f"reduce-large-{op}-by-input".lower(), f"Reduce{op}", {"x": x, "a": ints(1)}), want)


def narrow(array, dtype):
    return np.asarray(array, np.float64).astype(np.float32).astype(dtype)


def statistics():
    """x ~ N(0, 300): its squares overflow float16, and sums with 8 bits of mantissa lose small terms."""
    for name, dtype, tolerance in (("f16", np.float16, 2e-3), ("bf16", ml_dtypes.bfloat16, 2e-2)):
        def case(label, op, inputs, want, constants=None, outputs=("out",), **attributes):
            nodes = [helper.make_node(op, list(inputs) + list(constants or {}), ["y"], **attributes), helper.make_node("Cast", ["y"], ["out"], to=1)]
            made = Case(f"{label}-{name}", nodes, inputs, constants, opset=22, tolerance=tolerance)
            return wanted(made, narrow(want, dtype).astype(np.float32))
        x = (300 * data((2, 3, 40)) + 100).astype(dtype)
        wide = x.astype(np.float64)
        scale, bias = data((3,)).astype(dtype), data((3,)).astype(dtype)
        mean, variance = wide.mean(2, keepdims=True), wide.var(2, keepdims=True)
        want = (wide - mean) / np.sqrt(variance + 1e-5) * scale.astype(np.float64)[:, None] + bias.astype(np.float64)[:, None]
        yield case("instance", "InstanceNormalization", {"x": x}, want, {"s": scale, "b": bias})
        image = (300 * data((2, 3, 9, 11))).astype(dtype)
        wide = image.astype(np.float64)
        want = (wide - wide.mean((0, 2, 3), keepdims=True)) / (wide.std((0, 2, 3), keepdims=True) + 1e-9)
        yield case("mean-variance", "MeanVarianceNormalization", {"x": image}, want)
        rows = (300 * data((4, 70))).astype(dtype)
        wide = rows.astype(np.float64)
        want = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
        yield case("layer", "LayerNormalization", {"x": rows}, want, {"s": np.ones(70, dtype)})
        yield case("group", "GroupNormalization", {"x": image}, group_norm(image.astype(np.float64), 3), {"s": np.ones(3, dtype), "b": np.zeros(3, dtype)}, num_groups=3)
        long = (60 * np.abs(data((3, 2000)))).astype(dtype)
        wide = long.astype(np.float64)
        for p in (1, 2):
            norm = np.abs(wide).sum(1, keepdims=True) if p == 1 else np.sqrt((wide**2).sum(1, keepdims=True))
            yield case(f"lp-{p}", "LpNormalization", {"x": long}, wide / norm, p=p, axis=1)
        yield case("reduce-mean", "ReduceMean", {"x": long}, wide.mean(1, keepdims=True), {"a": ints(1)})
        yield case("reduce-l2", "ReduceL2", {"x": long}, np.sqrt((wide**2).sum(1, keepdims=True)), {"a": ints(1)})
        small = (data((3, 500)) / 2).astype(dtype)
        wide = small.astype(np.float64)
        yield case("reduce-log-sum-exp", "ReduceLogSumExp", {"x": small}, np.log(np.exp(wide).sum(1, keepdims=True)), {"a": ints(1)})
        yield case("reduce-sum-square", "ReduceSumSquare", {"x": small}, (wide**2).sum(1, keepdims=True), {"a": ints(1)})
        for p in (1, 2, 3):
            pool = (40 * data((1, 2, 9, 9))).astype(dtype)
            wide = pool.astype(np.float64)
            parts = np.abs(windows(wide, (3, 3), (1, 1), (0, 0), (0, 0), 0))
            yield case(f"lp-pool-{p}", "LpPool", {"x": pool}, (parts**p).sum(-1) ** (1 / p), kernel_shape=[3, 3], p=p)
            yield case(f"global-lp-pool-{p}", "GlobalLpPool", {"x": pool}, (np.abs(wide) ** p).sum((2, 3), keepdims=True) ** (1 / p), p=p)
        parts = [(30000 * np.abs(data((40,))) % 60000).astype(dtype) for _ in range(4)]
        names = {f"x{i}": part for i, part in enumerate(parts)}
        yield case("mean", "Mean", names, sum(p.astype(np.float64) for p in parts) / 4)
        signs = {f"x{i}": (part * (-1) ** i).astype(dtype) for i, part in enumerate(parts)}
        yield case("sum", "Sum", signs, sum(p.astype(np.float64) for p in signs.values()))


def group_norm(x, groups):
    rows = x.reshape(x.shape[0], groups, -1)
    y = (rows - rows.mean(2, keepdims=True)) / np.sqrt(rows.var(2, keepdims=True) + 1e-5)
    return y.reshape(x.shape)


def exact(function, values):
    """Returns libm's results for these arguments: it reduces angles of any size exactly."""
    return np.array([getattr(math, function)(float(v)) for v in values.ravel()]).reshape(values.shape)


def angles():
    """Sin, Cos and Tan of tensors in which no, one, some or all angles are large."""
    for dtype, most in ((np.float32, 38), (np.float64, 300)):
        few = data((5, 37), dtype)
        few[1, 3], few[2, 20] = 2e6, -1e7
        for name, x in (("small", 100 * data((5, 37), dtype)), ("one", few), ("mixed", (data((5, 37)) * 10.0 ** rng.integers(0, 12, (5, 37))).astype(dtype)),
                        ("huge", (data((5, 37)) * 10.0 ** rng.integers(0, most, (5, 37))).astype(dtype)),
                        ("row", (3e9 * data((1, 3))).astype(dtype))):
            for op in ("Sin", "Cos", "Tan"):
                want = exact(op.lower(), x)
                case = one(f"{op.lower()}-{name}-{np.dtype(dtype).name}", op, {"x": x}, opset=22)
                case.tolerance = (1e-6 if dtype == np.float32 else 1e-15) * (1 if op != "Tan" else 4)
                yield wanted(case, want.astype(dtype))
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = (data((70,)) * 10.0 ** rng.integers(0, 4 if dtype == np.float16 else 30, 70)).astype(dtype)
        nodes = [helper.make_node("Sin", ["x"], ["y"]), helper.make_node("Cast", ["y"], ["out"], to=1)]
        yield wanted(Case(f"sin-{np.dtype(dtype).name}", nodes, {"x": x}, opset=22, tolerance=4e-3), exact("sin", x.astype(np.float64)).astype(dtype).astype(np.float32))


def integers():
    """Operators with float attributes, such as Shrink, on integers."""
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        limit = np.iinfo(dtype)
        x = np.array([0, 1, 2, 3, 5, 6, 100, 127] + ([-1, -2, -3, -100] if limit.min else [128, 255] if limit.max >= 255 else []), dtype)
        for lambd, bias in ((1.4, 1.5), (0.5, 0.0), (2.0, 0.25), (0.0, 1.0), (-1.5, 0.5)):
            wide = x.astype(np.float64)
            want = np.trunc(np.where(wide < -lambd, wide + bias, np.where(wide > lambd, wide - bias, 0))).astype(np.int64).astype(dtype)
            yield wanted(one(f"shrink-{np.dtype(dtype).name}-{lambd}-{bias}", "Shrink", {"x": x}, lambd=lambd, bias=bias), want)
    large = np.array([2**53 + 1, -(2**53) - 1, 2**62 + 1], np.int64)
    yield wanted(one("shrink-large", "Shrink", {"x": large}, lambd=3.5), large)
    for op, function in (("Max", np.maximum), ("Min", np.minimum)):
        # Bounds that are equal as doubles.
        bounds = np.array([2**53, 2**53 + 1], np.int64)[:: 1 if op == "Max" else -1]
        x = np.array([0, 2**53, 2**53 + 1, 2**53 + 2, 2**62], np.int64)
        nodes = [helper.make_node(op, ["x", "a"], ["t"]), helper.make_node(op, ["t", "b"], ["out"])]
        yield wanted(Case(f"{op.lower()}-large", nodes, {"x": x}, {"a": bounds[0], "b": bounds[1]}), function(function(x, bounds[0]), bounds[1]))
    x = data((3, 5))
    for upper, k in itertools.product((0, 1), (2**63 - 1, -(2**63), 100, -100)):
        yield wanted(one(f"trilu-{upper}-{k}", "Trilu", {"x": x}, {"k": np.array(k)}, upper=upper), x if (k < 0) == (upper == 1) else 0 * x)
    # Constant integers that no double represents. The comparison is in doubles, so they are made small first.
    large = np.array([2**53 + 1, 2**53, 2**53 + 2, 2**53], np.int64)
    nodes = [helper.make_node("Unique", ["large"], ["values", "at", "from", "count"]), helper.make_node("Sub", ["values", "offset"], ["small"]),
             helper.make_node("Add", ["small", "x"], ["out"])]
    unique = Case("unique-large", nodes, {"x": ints(0, 0, 0)}, {"large": large, "offset": np.array(2**53)}, outputs=("out", "at", "from", "count"))
    yield wanted(unique, ints(0, 1, 2), ints(1, 0, 2), ints(1, 0, 2, 0), ints(2, 1, 1))
    for dtype, high in ((np.uint8, 255), (np.uint16, 0x8000)):
        by = (np.arange(64) % 8).astype(dtype)
        node = helper.make_node("BitShift", ["c", "y"], ["out"], direction="RIGHT")
        yield wanted(Case(f"shift-constant-{np.dtype(dtype).name}", [node], {"y": by}, {"c": np.array(high, dtype)}), np.right_shift(dtype(high), by))
    for dtype in (np.int32, np.int64):
        x = np.array([-2, -1, 0, 1, 2], dtype)
        for threshold in (0.5, -0.5, 0.0, -1.5):
            node = helper.make_node("Binarizer", ["x"], ["out"], domain="ai.onnx.ml", threshold=threshold)
            case = Case(f"binarizer-{np.dtype(dtype).name}-{threshold}", [node], {"x": x})
            case.model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
            yield wanted(case, (x > threshold).astype(dtype))


def narrowing():
    """Doubles between two narrow floats: rounding to float32 first would give a tie, an infinity or a subnormal number."""
    x = np.array([1 + 2**-11 + 2**-40, 1 + 3 * 2**-11 - 2**-50, 65519.99999, 65520, 2**-25 * (1 + 2**-30), 2**-25, 1e300, -1e-300, np.inf, np.nan, 0.1, 2049] * 3)
    with np.errstate(over="ignore"):
        yield wanted(one("cast-double-float16", "Cast", {"x": np.concatenate([x, -x])}, to=10, tolerance=0), np.concatenate([x, -x]).astype(np.float16))
    x = np.array([1 + 2**-8 + 2**-40, 1 + 3 * 2**-8 - 2**-40, 1 + 2**-8, 1e300, 3.4e38, np.inf] * 3)
    nodes = [helper.make_node("Cast", ["x"], ["y"], to=16), helper.make_node("Cast", ["y"], ["out"], to=1)]
    want = np.array([1 + 2**-7, 1 + 2**-7, 1, np.inf, np.inf, np.inf] * 3, np.float32)
    yield wanted(Case("cast-double-bfloat16", nodes, {"x": x}, tolerance=0), want)


def zeros():
    for name, x in (("zeros", np.zeros((3, 5), np.float32)), ("negative-zeros", -np.zeros((7,), np.float32)), ("one", np.zeros((1,), np.float32))):
        yield one(f"quantize-dynamic-{name}", "DynamicQuantizeLinear", {"x": x}, outputs=("out", "scale", "zero"), tolerance=0)
    for name, x in (("positive", np.abs(data((40,)))), ("negative", -np.abs(data((40,)))), ("tiny", data((40,)) * np.float32(1e-30))):
        yield one(f"quantize-dynamic-{name}", "DynamicQuantizeLinear", {"x": x}, outputs=("out", "scale", "zero"), tolerance=1e-7)


def powers():
    """Powers with constant exponents. The reciprocal shows the sign of a zero."""
    x = np.array([-np.inf, -0.0, 0.0, 4, np.inf, NAN, -4, 0.3])
    for exponent, dtype in itertools.product((0.5, 0.75, -0.5, 2, 3, -1, 0, 1.5), (np.float32, np.float64, np.float16)):
        nodes = [helper.make_node("Pow", ["x", "e"], ["out"]), helper.make_node("Reciprocal", ["out"], ["inverse"])]
        yield Case(f"power-{exponent}-{np.dtype(dtype).name}", nodes, {"x": x.astype(dtype)}, {"e": np.array(exponent, dtype)}, ("out", "inverse"),
                   tolerance=2e-3 if dtype == np.float16 else 1e-6)


def generated():
    """Gemm of integers with fractional factors, whose sum is truncated as in ONNX's reference implementation; constants that take
    long to compute, or much memory; coordinates of doubles."""
    for dtype, (alpha, beta) in itertools.product((np.int32, np.int64), ((0.5, 1.0), (2.0, 0.25), (0.75, -1.5), (3.0, -2.0))):
        a, b, c = (rng.integers(-50, 50, shape).astype(dtype) for shape in ((4, 7), (7, 6), (6,)))
        yield wanted(one(f"gemm-{np.dtype(dtype).name}-{alpha}-{beta}", "Gemm", {"a": a, "b": b}, {"c": c}, alpha=alpha, beta=beta),
                     np.trunc((a @ b) * alpha + c * beta).astype(dtype))
    many, x = rng.permutation(300000).astype(np.float32), data((3,))
    nodes = [helper.make_node("Unique", ["many"], ["each"], sorted=0), helper.make_node("ReduceMax", ["each"], ["most"], keepdims=0),
             helper.make_node("Add", ["most", "x"], ["out"])]
    yield wanted(Case("unique-many", nodes, {"x": x}, {"many": many}), np.float32(299999) + x)
    x = data((1, 3, 9, 8), np.float64)
    yield one("deform-double", "DeformConv", {"x": x, "offset": data((1, 18, 7, 6), np.float64)}, {"w": data((2, 3, 3, 3), np.float64)}, order=["x", "w", "offset"],
              opset=22, tolerance=1e-12)


if __name__ == "__main__":
    raise SystemExit(compare(__doc__, pools(), propagation(), reductions(), large_integers(), statistics(), angles(), integers(), narrowing(), zeros(), powers(), generated(), refused=()))
