"""Operators of com.microsoft that ONNX Runtime's optimizer joins from several: activations, normalizations, products, convolutions.

    fused_operators.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Where ONNX Runtime has no kernel for a CPU, beside NumPy.
"""
import itertools
import math
import sys

import numpy as np

from beside_onnxruntime import compare, contrib, data, one, run

erf = np.vectorize(math.erf, otypes=[np.float64])
HALF = 5e-3  # the tolerance for float16


def tolerance(dtype, single=1e-5):
    return HALF if dtype == np.float16 else single


def gelu(x):
    return (x * (1 + erf(x / np.sqrt(2))) / 2).astype(x.dtype)


def gelu_tanh(x):
    return (x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))) / 2).astype(x.dtype)


def activations():
    for shape in ((3, 5, 37), (1,), (2, 0, 4), (64, 64)):
        x, b = 3 * data(shape), data(shape[-1:])
        name = "x".join(map(str, shape))
        yield contrib(f"gelu-{name}", "Gelu", {"x": x})
        yield contrib(f"bias-gelu-{name}", "BiasGelu", {"x": x}, {"b": b})
        yield contrib(f"fast-gelu-{name}", "FastGelu", {"x": x})
        yield contrib(f"fast-gelu-bias-{name}", "FastGelu", {"x": x}, {"b": b})
        for alpha in (1.702, 1.0, -0.5):
            yield contrib(f"quick-gelu-{name}-{alpha}", "QuickGelu", {"x": x}, alpha=alpha)
    half = data((3, 37), np.float16)
    yield contrib("fast-gelu-half", "FastGelu", {"x": half}, {"b": data((37,), np.float16)}, tolerance=HALF)
    for dtype in (np.float16, np.float64):
        x, b, name, near = data((3, 37), dtype), data((37,), dtype), np.dtype(dtype).name, {"tolerance": tolerance(dtype)}
        wide, bias = x.astype(np.float64), b.astype(np.float64)
        yield contrib(f"gelu-{name}", "Gelu", {"x": x}, want=[gelu(wide).astype(dtype)], **near)
        yield contrib(f"bias-gelu-{name}", "BiasGelu", {"x": x}, {"b": b}, want=[gelu(wide + bias).astype(dtype)], **near)
        yield contrib(f"quick-gelu-{name}", "QuickGelu", {"x": x}, want=[(wide / (1 + np.exp(-1.702 * wide))).astype(dtype)], **near)
    for dtype, shape in itertools.product((np.float32, np.float16), ((2, 5, 38), (1, 1, 2), (3, 4, 128))):
        x, b, skip = data(shape, dtype), data(shape[-1:], dtype), data(shape, dtype)
        left, right = np.split((x + b).astype(np.float64), 2, axis=-1)
        name = f"{np.dtype(dtype).name}-{shape[-1]}"
        yield contrib(f"bias-split-gelu-{name}", "BiasSplitGelu", {"x": x}, {"b": b}, want=[(left * gelu(right)).astype(dtype)], tolerance=tolerance(dtype))
        yield contrib(f"bias-add-{name}", "BiasAdd", {"x": x}, {"b": b, "skip": skip}, want=[x + b + skip], tolerance=tolerance(dtype))


def layer_norms():
    for dtype, epsilon, shape in itertools.product((np.float32, np.float16), (1e-12, 1e-3), ((2, 7, 37), (5, 64))):
        x, skip = data(shape, dtype), data(shape, dtype)
        gamma, beta, bias = (data(shape[-1:], dtype) for _ in range(3))
        name = f"{np.dtype(dtype).name}-{epsilon}-{len(shape)}"
        near = {"epsilon": epsilon, "tolerance": tolerance(dtype, 3e-5)}
        outputs = ("y", "", "", "sum")
        yield contrib(f"skip-norm-{name}", "SkipLayerNormalization", {"x": x, "s": skip}, {"g": gamma, "b": beta}, **near)
        yield contrib(f"skip-norm-sum-{name}", "SkipLayerNormalization", {"x": x, "s": skip}, {"g": gamma, "b": beta, "c": bias}, outputs, **near)
        yield contrib(f"skip-norm-plain-{name}", "SkipLayerNormalization", {"x": x, "s": skip}, {"g": gamma}, **near)
        yield contrib(f"skip-rms-{name}", "SkipSimplifiedLayerNormalization", {"x": x, "s": skip}, {"g": gamma}, **near)
        yield contrib(f"skip-rms-sum-{name}", "SkipSimplifiedLayerNormalization", {"x": x, "s": skip}, {"g": gamma, "c": bias}, outputs, **near)
    x = data((3, 7, 37))
    gamma, beta = data((37,)), data((37,))
    for shape in ((1, 7, 37), (7, 37)):
        yield contrib(f"skip-norm-broadcast-{len(shape)}", "SkipLayerNormalization", {"x": x, "s": data(shape)}, {"g": gamma, "b": beta}, epsilon=1e-5)
    for dtype, axis in itertools.product((np.float32, np.float16, np.float64), (-1, 1)):
        x = data((3, 7, 37), dtype)
        scale = data(x.shape[axis:], dtype)
        yield contrib(f"simplified-{np.dtype(dtype).name}-{axis}", "SimplifiedLayerNormalization", {"x": x}, {"s": scale}, axis=axis,
                      epsilon=1e-6, domain="", tolerance=tolerance(dtype))
    yield contrib("simplified-factor", "SimplifiedLayerNormalization", {"x": data((3, 37))}, {"s": gamma}, ("y", "inverse"), domain="")


def embeddings():
    words, places, kinds, gamma, beta = data((50, 24)), data((16, 24)), data((2, 24)), data((24,)), data((24,))
    ids, segments = data((3, 9), np.int32, 50), data((3, 9), np.int32, 2)
    mask = np.ones((3, 9), np.int32)
    mask[1, 4:] = mask[2, 7:] = 0
    norm = {"g": gamma, "b": beta}
    tables = {"words": words, "places": places}
    order = ["ids", "segments", "words", "places", "kinds", "g", "b"]
    all_three = ("y", "lengths", "sum")
    yield contrib("embed", "EmbedLayerNormalization", {"ids": ids, "segments": segments}, tables | {"kinds": kinds} | norm, ("y", "lengths"),
                  order=order)
    yield contrib("embed-mask", "EmbedLayerNormalization", {"ids": ids, "segments": segments, "mask": mask}, tables | {"kinds": kinds} | norm,
                  all_three, order=order + ["mask"], mask_index_type=1)
    plain = ["ids", "", "words", "places", "", "g", "b"]
    yield contrib("embed-plain", "EmbedLayerNormalization", {"ids": ids}, tables | norm, ("y", "lengths"), order=plain)
    yield contrib("embed-no-index", "EmbedLayerNormalization", {"ids": ids, "mask": mask}, tables | norm, ("y", "lengths"),
                  order=plain + ["mask"], mask_index_type=0)
    for rows in (1, 3):
        positions = data((rows, 9), np.int32, 16)
        yield contrib(f"embed-positions-{rows}", "EmbedLayerNormalization", {"ids": ids, "positions": positions}, tables | norm,
                      ("y", "lengths"), order=plain + ["", "positions"], epsilon=1e-3)


def group_norm(x, gamma, beta, groups, epsilon, silu, last):
    first = np.moveaxis(x, -1, 1) if last else x
    rows = first.reshape(len(x), groups, -1).astype(np.float64)
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + epsilon)
    y = rows.reshape(first.shape) * gamma.reshape(-1, 1, 1) + beta.reshape(-1, 1, 1)
    y = y / (1 + np.exp(-y)) if silu else y
    return np.ascontiguousarray(np.moveaxis(y, 1, -1) if last else y).astype(x.dtype)


def group_norms():
    for last, silu, groups in itertools.product((0, 1), (0, 1), (1, 3, 12)):
        shape = (2, 5, 6, 12) if last else (2, 12, 5, 6)
        x, gamma, beta = data(shape), data((12,)), data((12,))
        attributes = {"groups": groups, "activation": silu, "channels_last": last, "epsilon": 1e-4}
        yield contrib(f"group-norm-{last}{silu}{groups}", "GroupNorm", {"x": x}, {"g": gamma, "b": beta}, **attributes,
                      want=[group_norm(x, gamma, beta, groups, 1e-4, silu, last)], tolerance=3e-5)
        for small in (None, (2, 12), (2, 1, 1, 12) if last else (2, 12, 1, 1)):
            skip, bias = data(small or shape), data((12,))
            channels = (1, 1, 1, 12) if last else (1, 12, 1, 1)
            wide = skip.reshape(2, *channels[1:]) if small else skip
            total = x + wide + bias.reshape(channels)
            yield contrib(f"skip-group-norm-{last}{silu}{groups}-{len(small or ())}", "SkipGroupNorm", {"x": x, "s": skip},
                          {"g": gamma, "b": beta, "c": bias}, ("y", "sum"), order=["x", "g", "b", "s", "c"], **attributes,
                          want=[group_norm(total, gamma, beta, groups, 1e-4, silu, last), total], tolerance=3e-5)


ACTIVATIONS = {"Relu": {}, "Tanh": {}, "Sigmoid": {}, "LeakyRelu": {"alpha": 0.2}, "HardSigmoid": {"alpha": 0.3, "beta": 0.4}}


def products():
    for a, b, flags in itertools.product((0, 1), (0, 1), ((0, 0), (1, 0), (0, 1), (1, 1))):
        x = data((2, 3, 19, 7) if a else (2, 3, 7, 19))
        y = data((2, 3, 23, 19) if b else (2, 3, 19, 23))
        # With transBatchA or transBatchB, the row axis of the operand is its first axis.
        x = np.moveaxis(x, -2, 0).copy() if flags[0] else x
        y = np.moveaxis(y, -2, 0).copy() if flags[1] else y
        yield contrib(f"fused-matmul-{a}{b}{flags[0]}{flags[1]}", "FusedMatMul", {"x": x}, {"y": y}, transA=a, transB=b,
                      transBatchA=flags[0], transBatchB=flags[1], alpha=0.25)
    yield contrib("fused-matmul-2d", "FusedMatMul", {"x": data((19, 7)), "y": data((23, 19))}, transA=1, transB=1)
    yield contrib("fused-matmul-vector", "FusedMatMul", {"x": data((19,)), "y": data((19, 5))}, alpha=-2.0)
    yield contrib("fused-matmul-double", "FusedMatMul", {"x": data((3, 19), np.float64), "y": data((5, 19), np.float64)}, transB=1)
    for a, b, batch in itertools.product((0, 1), (0, 1), ((2, 1), ())):
        x, y = data((*batch, 19, 7) if a else (*batch, 7, 19)), data((3, 5, 19) if b else (3, 19, 5))
        yield contrib(f"transpose-matmul-{a}{b}-{len(batch)}", "TransposeMatMul", {"x": x, "y": y}, transA=a, transB=b, alpha=0.5)
    x, w, c = data((9, 19)), data((23, 19)), data((23,))
    for name, numbers in (ACTIVATIONS | {"Elu": {"alpha": 0.7}, "Softplus": {}, "Softsign": {}, "ThresholdedRelu": {"alpha": 0.4},
                                         "Selu": {"alpha": 1.5, "gamma": 1.1}, "Celu": {"alpha": 1.3}}).items():
        attributes = {f"activation_{k}": v for k, v in numbers.items()}
        yield contrib(f"fused-gemm-{name}", "FusedGemm", {"x": x}, {"w": w, "c": c}, transB=1, alpha=0.5, beta=2.0, activation=name, **attributes)
    yield contrib("fused-gemm-plain", "FusedGemm", {"x": x.T.copy()}, {"w": w.T.copy()}, transA=1, activation="Relu")
    product = x @ w.T
    functions = {"LeakyRelu": lambda v: np.where(v < 0, np.float32(0.3) * v, v), "Relu": lambda v: np.maximum(v, 0), "Tanh": np.tanh,
                 "Sigmoid": lambda v: 1 / (1 + np.exp(-v))}
    for name, function in functions.items():
        attributes = {"activation_alpha": 0.3} if name == "LeakyRelu" else {}
        yield contrib(f"matmul-activation-{name}", "FusedMatMulActivation", {"x": x}, {"w": w}, transB=1, activation=name, **attributes,
                      want=[function(product)])
    for a, alpha in ((0, 0.5), (1, -2.0)):
        yield contrib(f"matmul-activation-{a}", "FusedMatMulActivation", {"x": x.T.copy() if a else x}, {"w": w.T.copy()}, transA=a, alpha=alpha,
                      activation="Tanh", want=[np.tanh(alpha * product).astype(np.float32)])
    for dtype, rows, bias in itertools.product((np.float32, np.float16), ((9,), (2, 3, 4)), (False, True)):
        x, w, c = data((*rows, 19), dtype), (data((19, 23)) / 4).astype(dtype), data((23,), dtype)
        want = gelu_tanh(x.astype(np.float64) @ w.astype(np.float64) + (c if bias else 0)).astype(dtype)
        yield contrib(f"gemm-fast-gelu-{np.dtype(dtype).name}-{len(rows)}{int(bias)}", "GemmFastGelu", {"x": x}, {"w": w} | ({"c": c} if bias else {}),
                      want=[want], tolerance=tolerance(dtype))


def convolutions():
    x = data((2, 6, 13, 11))
    for name, parameters in {"": [], "Relu": [], "Tanh": [], "Sigmoid": [], "LeakyRelu": [0.2], "Clip": [-0.5, 0.75], "HardSigmoid": [0.3, 0.4]}.items():
        w, b = data((8, 6, 3, 3)) / 4, data((8,))
        attributes = {"pads": [1, 0, 1, 2], "strides": [2, 1]} | ({"activation": name} if name else {}) | ({"activation_params": parameters} if parameters else {})
        yield contrib(f"fused-conv-{name}", "FusedConv", {"x": x}, {"w": w, "b": b}, **attributes)
        yield contrib(f"fused-conv-sum-{name}", "FusedConv", {"x": x, "z": data((2, 8, 7, 11))}, {"w": w, "b": b}, order=["x", "w", "b", "z"], **attributes)
    grouped = {"group": 3, "auto_pad": "SAME_UPPER", "activation": "Relu"}
    yield contrib("fused-conv-groups", "FusedConv", {"x": x}, {"w": data((9, 2, 3, 3))}, **grouped)
    yield contrib("fused-conv-1d", "FusedConv", {"x": data((1, 4, 19))}, {"w": data((5, 4, 3)), "b": data((5,))}, dilations=[2], activation="Tanh")
    # Convolutions of images with channels last, compared with Conv on transposed images.
    for i, attributes in enumerate(({}, {"pads": [1, 0, 1, 2]}, {"strides": [2, 1]}, {"dilations": [2, 2]}, {"group": 2}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]})):
        image, w, b = data((2, 7, 6, 6)), data((4, 6 // attributes.get("group", 1), 3, 3)), data((4,))
        biased = {"b": b} if i % 2 == 0 else {}
        sums = np.moveaxis(run(one("conv", "Conv", {"x": np.moveaxis(image, -1, 1).copy()}, {"w": w} | biased, **attributes))[0], 1, -1).copy()
        yield contrib(f"nhwc-conv-{i}", "NhwcConv", {"x": image}, {"w": np.moveaxis(w, 1, -1).copy()} | biased, want=[sums], **attributes)
        z = data(sums.shape)
        yield contrib(f"nhwc-fused-conv-{i}", "NhwcFusedConv", {"x": image} | ({"z": z} if i % 3 else {}), {"w": w} | biased,
                      order=["x", "w", "b" if biased else "", *("z" if i % 3 else "")], activation="Relu" if i % 3 else "Tanh",
                      want=[np.maximum(sums + z, 0) if i % 3 else np.tanh(sums)], **attributes)
    for dtype, attributes in itertools.product((np.int8, np.uint8), ({}, {"pads": [1, 1, 0, 0]}, {"auto_pad": "SAME_LOWER"}, {"ceil_mode": 1, "dilations": [1, 2]})):
        yield contrib(f"nhwc-max-pool-{np.dtype(dtype).name}-{'-'.join(attributes)}", "NhwcMaxPool", {"x": data((1, 9, 8, 5), dtype)},
                      kernel_shape=[3, 2], strides=[2, 2], **attributes)


# Cases that Ingot must reject if sizes are dynamic: where a size may be 1 or equal to another size,
# Ingot assumes that the two are equal. To broadcast, a model must declare the size as 1.
REFUSED = ("skip-norm-broadcast-3", "embed-positions-1", "skip-group-norm-*-4")

if __name__ == "__main__":
    sys.exit(compare(__doc__, activations(), layer_norms(), embeddings(), group_norms(), products(), convolutions(), refused=REFUSED))
