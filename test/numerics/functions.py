"""Elementwise functions, reductions and normalizations beside ONNX Runtime.

    functions.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

On shapes that fill vectors and leave a rest, along every axis, alone and fused
with what is before and after; inputs come from a fixed seed.
"""
import itertools

import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, data, ints, one


def elementwise():
    x = data((3, 5, 37))
    for op, attributes in {
        "Exp": {}, "Sigmoid": {}, "Tanh": {}, "Erf": {}, "Softplus": {}, "Selu": {}, "HardSwish": {}, "Mish": {},
        "Round": {}, "Sign": {}, "Elu": {"alpha": 1.3}, "Celu": {"alpha": 2.0}, "LeakyRelu": {"alpha": 0.2},
        "HardSigmoid": {"alpha": 0.3}, "ThresholdedRelu": {"alpha": 0.4}, "Shrink": {"lambd": 0.5, "bias": 0.1},
    }.items():
        yield one(op.lower(), op, {"x": 2 * x}, **attributes)
    for approximate in ("none", "tanh"):
        yield one(f"gelu-{approximate}", "Gelu", {"x": x}, opset=20, approximate=approximate)
    for dtype in (np.float64, np.float16):
        yield one(f"sigmoid-{np.dtype(dtype).name}", "Sigmoid", {"x": data((70,), dtype)}, tolerance=1e-3)
    # All ways to broadcast three axes.
    for i, mask in enumerate(itertools.product((True, False), repeat=3)):
        y = data([n if keep else 1 for n, keep in zip(x.shape, mask)])
        yield one(f"add-{i}", "Add", {"x": x, "y": y})
        yield one(f"max-{i}", "Max", {"x": y, "y": x})
    for op, dtype in itertools.product(("Add", "Sub", "Mul", "Div", "Less", "Equal"), (np.int32, np.int64, np.float64)):
        y = data((37,), dtype, 9)
        yield one(f"{op.lower()}-{np.dtype(dtype).name}", op, {"x": data((4, 37), dtype, 9), "y": np.where(y == 0, 1, y).astype(dtype)})
    for dtype in (np.int8, np.uint8):
        yield one(f"max-{np.dtype(dtype).name}", "Max", {"x": data((100,), dtype), "y": data((100,), dtype)})
    yield one("mod-int32", "Mod", {"x": data((2, 40), np.int32) - 50, "y": data((40,), np.int32, 9) - 20})
    yield one("fmod", "Mod", {"x": 5 * x, "y": data((37,)) + 9}, fmod=1)
    for exponent in (0.5, 2.0, 3.0, -1.0, 1.7):
        yield one(f"pow-{exponent}", "Pow", {"x": np.abs(x) + 0.1}, {"e": np.array(exponent, np.float32)})
    yield one("pow-each", "Pow", {"x": np.abs(x) + 0.1, "y": data((5, 37))}, tolerance=1e-4)
    yield one("where", "Where", {"x": data((5, 37), np.bool_), "y": x, "z": data((5, 1))})
    yield one("prelu", "PRelu", {"x": data((2, 19, 5, 7)), "y": data((19, 1, 1))})
    for to, dtype in ((np.int32, np.float32), (np.float16, np.float32), (np.float32, np.int64), (np.float32, np.bool_), (np.uint8, np.int32)):
        yield one(f"cast-{np.dtype(dtype).name}-{np.dtype(to).name}", "Cast", {"x": data((3, 45), dtype)}, to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))


def reductions():
    for op in ("Sum", "Mean", "Max", "Min", "Prod", "SumSquare", "L1", "L2", "LogSum", "LogSumExp"):
        x = data((4, 9, 35)) if op == "LogSumExp" else 0.5 + np.abs(data((4, 9, 35)))
        for axes in ((0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)):
            if op == "Prod" and len(axes) == 3:
                continue  # overflows
            yield one(f"reduce-{op}-{''.join(map(str, axes))}".lower(), f"Reduce{op}", {"x": x}, {"a": ints(*axes)}, keepdims=len(axes) % 2, tolerance=1e-4)
    for op in ("Sum", "Max", "Mean"):
        nodes = [
            helper.make_node("Abs", ["x"], ["p"]), helper.make_node("Mul", ["p", "x"], ["q"]),
            helper.make_node(f"Reduce{op}", ["q", "a"], ["r"]), helper.make_node("Tanh", ["r"], ["s"]), helper.make_node("Sub", ["s", "y"], ["out"]),
        ]
        yield Case(f"reduce-{op}-fused".lower(), nodes, {"x": data((6, 5, 33)), "y": data((6, 1, 1))}, {"a": ints(1, 2)})
    for dtype in (np.int32, np.int64, np.float64):
        yield one(f"reduce-sum-{np.dtype(dtype).name}", "ReduceSum", {"x": data((5, 70), dtype)}, {"a": ints(1)})
        yield one(f"reduce-max-{np.dtype(dtype).name}", "ReduceMax", {"x": data((5, 70), dtype)}, {"a": ints(-1)})
    x = np.round(2 * data((4, 6, 35)))
    for op, axis, last in itertools.product(("ArgMax", "ArgMin"), range(3), (0, 1)):
        yield one(f"{op.lower()}-{axis}-{last}", op, {"x": x}, axis=axis, select_last_index=last, keepdims=last)
    for axis, exclusive, reverse in itertools.product(range(3), (0, 1), (0, 1)):
        yield one(f"cumsum-{axis}{exclusive}{reverse}", "CumSum", {"x": data((3, 6, 35))}, {"a": np.array(axis)}, exclusive=exclusive, reverse=reverse)
    for op, attributes in (("GlobalAveragePool", {}), ("GlobalMaxPool", {}), ("GlobalLpPool", {"p": 1}), ("GlobalLpPool", {"p": 2}), ("GlobalLpPool", {"p": 3})):
        yield one(f"{op.lower()}-{attributes.get('p', '')}", op, {"x": data((2, 19, 5, 7))}, **attributes)


def normalizations():
    x = data((3, 18, 5, 7))
    for op, axis, opset in itertools.product(("Softmax", "LogSoftmax", "Hardmax"), range(4), (11, 13)):
        yield one(f"{op.lower()}-{axis}-{opset}", op, {"x": x}, opset=opset, axis=axis)
    for length in (3, 16, 35, 1000):
        yield one(f"softmax-{length}", "Softmax", {"x": 9 * data((4, length))})
        yield one(f"softmax-float64-{length}", "Softmax", {"x": data((4, length), np.float64)})
    for axis in range(4):
        shape = x.shape[axis:]
        yield one(f"layer-{axis}", "LayerNormalization", {"x": x}, {"s": data(shape), "b": data(shape)}, outputs=("out", "mean", "deviation"), axis=axis, tolerance=1e-4)
    yield one("layer-scale", "LayerNormalization", {"x": x + 100}, {"s": data((7,))}, tolerance=1e-3)
    channels = {"s": data((18,)), "b": data((18,))}
    yield one("instance", "InstanceNormalization", {"x": x}, channels, tolerance=1e-4)
    for groups in (1, 2, 6, 18):
        yield one(f"group-{groups}", "GroupNormalization", {"x": x}, channels, opset=21, num_groups=groups, tolerance=1e-4)
    statistics = {**channels, "m": data((18,)), "v": 0.1 + np.abs(data((18,)))}
    yield one("batch", "BatchNormalization", {"x": x}, statistics, tolerance=1e-4)
    # An input of rank 1 has one channel.
    row, ones = data((6,)), {name: np.float32([value]) for name, value in (("s", 2), ("b", 1), ("m", 0.5), ("v", 3))}
    mean, variance = row.mean(), row.var()
    names = ["x", *ones]
    yield Case("batch-rank-1", [helper.make_node("BatchNormalization", names, ["out"])], {"x": row}, ones, opset=15,
               want=[(row - 0.5) / np.sqrt(np.float32(3 + 1e-5)) * 2 + 1])
    yield Case("batch-training-rank-1", [helper.make_node("BatchNormalization", names, ["out", "mean", "variance"], training_mode=1)], {"x": row}, ones,
               ("out", "mean", "variance"), 15,
               want=[(row - mean) / np.sqrt(variance + np.float32(1e-5)) * 2 + 1, np.float32([0.45 + 0.1 * mean]), np.float32([2.7 + 0.1 * variance])])
    # Types that differ: of x and the statistics, and of x and the scale.
    large = 1e5 * data((2, 3, 4))
    half = {name: (1 + np.abs(data(3))).astype(np.float16) for name in "mv"}
    full = {name: data(3) for name in "sb"}
    mean, variance, factor, addend = (v.astype(np.float64).reshape(3, 1) for v in (*half.values(), *full.values()))
    yield Case("batch-of-half-statistics", [helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["out"])], {"x": large}, {**full, **half}, opset=15,
               want=[((large - mean) / np.sqrt(variance + 1e-5) * factor + addend).astype(np.float32)])
    wide = 1e5 * data((2, 3, 4), np.float64)
    single = {name: (1 + np.abs(data(3))) for name in "sbmv"}
    factor, addend, mean, variance = (v.astype(np.float64).reshape(3, 1) for v in single.values())
    yield Case("batch-of-single-statistics", [helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["out"])], {"x": wide}, single, opset=15, tolerance=1e-12,
               want=[(wide - mean) / np.sqrt(variance + 1e-5) * factor + addend])
    for of, to in itertools.permutations((np.float16, np.float32, np.float64), 2):
        row, scale = data((5, 18)).astype(of), (1 + np.abs(data(18))).astype(to)
        root = np.sqrt(np.square(row.astype(np.float64)).mean(-1, keepdims=True) + 1e-5)
        for op, opset in (("RMSNormalization", 23), ("SimplifiedLayerNormalization", 18)):
            yield Case(f"{op}-{of.__name__}-{to.__name__}", [helper.make_node(op, ["x", "s"], ["out"])], {"x": row}, {"s": scale}, opset=opset,
                       tolerance=2e-3 if np.float16 in (of, to) else 1e-5, want=[(row / root * scale).astype(to)])
    yield one("lrn-wider-than-the-channels", "LRN", {"x": x}, size=1001, alpha=0.3)
    yield one("lrn-default", "LRN", {"x": x}, size=3)
    for size in (1, 3, 5):
        yield one(f"lrn-{size}", "LRN", {"x": x}, size=size, alpha=0.3, beta=0.6, bias=1.5)
    for p, axis in itertools.product((1, 2), (1, -1)):
        yield one(f"lp-{p}{axis}", "LpNormalization", {"x": x}, p=p, axis=axis)
    yield one("mean-variance", "MeanVarianceNormalization", {"x": x}, axes=[0, 2, 3], tolerance=1e-4)


def quantization():
    x = 20 * data((3, 18, 35))
    for dtype in (np.int8, np.uint8):
        for axis in (None, 1, 2):
            n = [] if axis is None else [x.shape[axis]]
            constants = {"s": np.asarray(0.05 + np.abs(data(n)), np.float32), "z": np.asarray(data(n, np.int32, 20)).astype(dtype)}
            attributes = {} if axis is None else {"axis": axis}
            name = f"{np.dtype(dtype).name}-{axis}"
            yield one(f"quantize-{name}", "QuantizeLinear", {"x": x}, constants, **attributes)
            yield one(f"dequantize-{name}", "DequantizeLinear", {"x": data(x.shape, np.int32, 100).astype(dtype)}, constants, **attributes)
    yield one("quantize-dynamic", "DynamicQuantizeLinear", {"x": x}, outputs=("out", "scale", "zero"))


if __name__ == "__main__":
    raise SystemExit(compare(__doc__, elementwise(), reductions(), normalizations(), quantization(), refused=()))
