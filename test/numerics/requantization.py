"""Scales between integers beside NumPy, which computes them in 64 bits: at most one step apart.

    requantization.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Sums of 32 bits in a sweep over all that becomes a byte and over both ends; scales of
every size, one or one for each channel; sums of several scales; limits in between; and
convolutions of bytes with what follows them, of channels that fill registers or do not;
functions of bytes, of tensors that fill registers or do not; softmax, layer normalization and
functions of sums of bytes, also where several operators read a sum; ends and peaks of functions; long rows.
"""
import sys

import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, rng

STEP = 1.0


def quantized(exact, scale, zero):
    info = np.iinfo(zero.dtype)
    return np.clip(np.rint(exact / scale) + int(zero), info.min, info.max).astype(zero.dtype)


def whole(shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def sums():
    """Computes y = quantize(max(sum * scale + addend, least)) of single sums."""
    ends = np.array([-(2**31), 2**31 - 1, 0, -1, 1], np.int32)
    for scale in (2.0**-20, 1e-5, 0.0007, 1 / 256, 0.013, 0.5, 1.0, 3.7, 400.0):
        reach = min(int(700 / scale) + 2, 2**30)
        x = np.unique(np.concatenate([np.linspace(-reach, reach, 4000).astype(np.int32), np.arange(-300, 300, dtype=np.int32), ends]))
        if reach < 2**15:
            x = x[abs(x) < 2**15].astype(np.int16)
        x = np.resize(x, (x.size + 127) // 128 * 128).reshape(-1, 128)
        for zero in (np.uint8(0), np.uint8(131), np.int8(-5), np.int16(300)):
            constants = {"scale": np.float32(scale), "out_scale": np.float32(1.25), "zero": zero, "add": np.float32(17.3)}
            nodes = [helper.make_node("Cast", ["x"], ["f"], to=1), helper.make_node("Mul", ["f", "scale"], ["scaled"])]
            end = [helper.make_node("QuantizeLinear", ["last", "out_scale", "zero"], ["out"])]
            exact = x * np.float64(np.float32(scale))
            name = f"{scale:g}-{zero.dtype.name}-{int(zero)}"
            yield Case(f"sums-{name}", nodes + [helper.make_node("Identity", ["scaled"], ["last"])] + end, {"x": x}, constants,
                       want=[quantized(exact, 1.25, zero)], tolerance=STEP, opset=21)
            middle = [helper.make_node("Add", ["scaled", "add"], ["moved"]), helper.make_node("Relu", ["moved"], ["last"])]
            yield Case(f"relu-{name}", nodes + middle + end, {"x": x}, constants,
                       want=[quantized(np.maximum(exact + np.float32(17.3), 0), 1.25, zero)], tolerance=STEP, opset=21)


def additions():
    """Adds two quantized 8-bit tensors with different scales, as in residual networks."""
    for dtype in (np.uint8, np.int8):
        for number, (a_scale, b_scale, scale) in enumerate(((0.02, 0.031, 0.04), (0.5, 0.5, 0.5), (1e-3, 0.2, 0.21), (0.9, 0.01, 0.02))):
            for shape in ((5, 3, 64), (1, 9, 37)):
                a, b = whole(shape, dtype), whole(shape, dtype)
                zeros = [dtype(z) for z in ((3, -7, 11) if dtype == np.int8 else (130, 2, 77))]
                constants = {"as": np.float32(a_scale), "bs": np.float32(b_scale), "ys": np.float32(scale), "az": zeros[0], "bz": zeros[1], "yz": zeros[2]}
                nodes = [helper.make_node("DequantizeLinear", ["a", "as", "az"], ["fa"]), helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["fb"]),
                         helper.make_node("Add", ["fa", "fb"], ["sum"]), helper.make_node("QuantizeLinear", ["sum", "ys", "yz"], ["out"])]
                exact = (a.astype(np.float64) - int(zeros[0])) * np.float32(a_scale) + (b.astype(np.float64) - int(zeros[1])) * np.float32(b_scale)
                yield Case(f"add-{np.dtype(dtype).name}-{number}-{shape[-1]}", nodes, {"a": a, "b": b}, constants,
                           want=[quantized(exact, np.float32(scale), zeros[2])], tolerance=STEP)


def windows_of(x, kernel, stride, pad):
    wide = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    return np.lib.stride_tricks.sliding_window_view(wide, (kernel, kernel), (2, 3))[:, :, ::stride, ::stride]


def convolutions():
    """Convolutions with per-channel scales on 8-bit and 16-bit integers, depthwise ones, and with a
    residual added."""
    for x_type in (np.uint8, np.int8, np.uint16, np.int16):
        for inputs, outputs, groups, size, kernel, stride in (
                (16, 16, 1, (5, 9), 3, 1), (3, 16, 1, (9, 12), 3, 2), (16, 32, 1, (7, 7), 1, 1), (32, 64, 1, (3, 5), 3, 1), (64, 64, 1, (5, 5), 1, 1),
                (8, 24, 1, (5, 6), 3, 1), (20, 130, 1, (4, 3), 1, 1), (64, 64, 64, (6, 5), 3, 1), (16, 16, 16, (4, 19), 3, 1), (32, 32, 32, (5, 9), 3, 2),
                (128, 128, 128, (5, 4), 3, 2), (144, 144, 144, (4, 4), 3, 1), (64, 64, 64, (4, 8), 5, 1), (96, 96, 96, (5, 5), 3, 1),
                (16, 16, 16, (5, 17), 3, 2), (8, 8, 8, (4, 34), 5, 2), (64, 64, 64, (6, 10), 3, 2), (72, 72, 72, (5, 7), 3, 1),
                (40, 40, 40, (6, 9), 5, 1), (48, 48, 48, (5, 9), 7, 1), (176, 176, 176, (3, 8), 1, 1), (24, 24, 24, (9, 11), 5, 2), (120, 120, 120, (4, 3), 4, 3)):
            # Of the 16-bit cases, only every third is used, with a zero point in the middle of the range.
            is_wide = np.dtype(x_type).itemsize == 2
            if is_wide and (inputs + outputs + kernel) % 3:
                continue
            pad = kernel // 2
            x, x_zero = whole((1, inputs, *size), x_type), x_type(0 if groups > 1 and stride == 1 else 7)
            if is_wide:
                x_zero = x_type(38488 if x_type == np.uint16 else -300)
            w = whole((outputs, inputs // groups, kernel, kernel), np.int8)
            w_scale = rng.uniform(0.002, 0.01, outputs).astype(np.float32)
            steps = kernel * kernel * inputs // groups
            y_scale = np.float32(0.7 * np.sqrt(steps) * 0.02)
            bias = rng.integers(-3000, 3000, outputs).astype(np.int32)
            windows = windows_of(x.astype(np.int64) - int(x_zero), kernel, stride, pad)
            if groups == 1:
                total = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64))
            else:
                total = np.einsum("nchwij,cij->nchw", windows, w[:, 0].astype(np.int64))
            x_scale = np.float32(0.021 / 256 if is_wide else 0.021)
            exact = (total + bias.reshape(1, -1, 1, 1)) * (np.float64(x_scale) * w_scale.reshape(1, -1, 1, 1))
            constants = {"w": w, "xs": x_scale, "xz": x_zero, "ws": w_scale, "wz": np.zeros(outputs, np.int8), "b": bias, "bs": x_scale * w_scale,
                         "bz": np.zeros(outputs, np.int32), "ys": y_scale, "yz": np.uint8(121), "zs": np.float32(0.033), "zz": np.uint8(99), "rs": y_scale * 2}
            start = [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["fx"]), helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["fw"], axis=0),
                     helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["fb"], axis=0),
                     helper.make_node("Conv", ["fx", "fw", "fb"], ["sums"], group=groups, strides=[stride] * 2, pads=[pad] * 4)]
            name = f"{np.dtype(x_type).name}-{inputs}-{outputs}-{groups}-{size[1]}-{kernel}-{stride}"
            quantize = helper.make_node("QuantizeLinear", ["sums", "ys", "yz"], ["out"])
            first = quantized(exact, y_scale, np.uint8(121))
            yield Case(f"conv-{name}", [*start, quantize], {"x": x}, constants, want=[first], tolerance=STEP, opset=21)
            other = whole(exact.shape, np.uint8)
            nodes = [*start, helper.make_node("QuantizeLinear", ["sums", "ys", "yz"], ["q"]), helper.make_node("DequantizeLinear", ["q", "ys", "yz"], ["fq"]),
                     helper.make_node("DequantizeLinear", ["z", "zs", "zz"], ["fz"]), helper.make_node("Add", ["fq", "fz"], ["sum"]),
                     helper.make_node("Relu", ["sum"], ["positive"]), helper.make_node("QuantizeLinear", ["positive", "rs", "zero"], ["out"])]
            added = (first.astype(np.float64) - 121) * y_scale + (other.astype(np.float64) - 99) * np.float32(0.033)
            yield Case(f"residual-{name}", nodes, {"x": x, "z": other}, constants | {"zero": np.uint8(0)},
                       want=[quantized(np.maximum(added, 0), constants["rs"], np.uint8(0))], tolerance=STEP, opset=21)


def functions():
    """Activations of quantized 8-bit tensors with 8-bit results, over all input values; one case rounds to 8
    bits in between."""
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    for dtype in (np.uint8, np.int8):
        low, scale, y_scale = np.iinfo(dtype).min, np.float32(0.05), np.float32(0.025)
        zero, y_zero = dtype(low + 120), dtype(low + 60)
        constants = {"xs": scale, "xz": zero, "ys": y_scale, "yz": y_zero, "ss": np.float32(1 / 256), "sz": dtype(low)}
        for op, exact_of in (("Sigmoid", sigmoid), ("Tanh", np.tanh), ("HardSwish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1)), ("Exp", np.exp)):
            for shape in ((2, 256), (1, 9, 37), (50,)):
                x = np.resize((np.arange(256) + low).astype(dtype), shape)
                exact = exact_of((x.astype(np.float64) - int(zero)) * scale)
                nodes = [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["fx"]), helper.make_node(op, ["fx"], ["fy"]),
                         helper.make_node("QuantizeLinear", ["fy", "ys", "yz"], ["out"])]
                yield Case(f"{op.lower()}-{np.dtype(dtype).name}-{shape[-1]}", nodes, {"x": x}, constants,
                           want=[quantized(exact, y_scale, y_zero)], tolerance=STEP)
        x = np.resize((np.arange(256) + low).astype(dtype), (3, 200))
        exact = (x.astype(np.float64) - int(zero)) * scale
        gate = (quantized(sigmoid(exact), np.float32(1 / 256), dtype(low)).astype(np.float64) - low) / 256
        nodes = [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["fx"]), helper.make_node("Sigmoid", ["fx"], ["s"]),
                 helper.make_node("QuantizeLinear", ["s", "ss", "sz"], ["q"]), helper.make_node("DequantizeLinear", ["q", "ss", "sz"], ["fs"]),
                 helper.make_node("Mul", ["fx", "fs"], ["fy"]), helper.make_node("QuantizeLinear", ["fy", "ys", "yz"], ["out"])]
        yield Case(f"swish-{np.dtype(dtype).name}", nodes, {"x": x}, constants, want=[quantized(exact * gate, y_scale, y_zero)], tolerance=STEP)


def erf(x):
    """Returns erf by Abramowitz and Stegun's formula 7.1.26, with an error below 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    return np.sign(x) * (1 - t * np.exp(-x * x) * np.polyval([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592], t))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def softmax_or_zero(x, axis):
    """Returns a softmax in which rows of -inf become zero."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(softmax(x, axis))


def masks(rows, columns):
    """Yields float masks that are added to scores: masks that hide columns or whole rows, and offsets."""
    hidden = rng.random((rows, columns)) < 0.4
    hidden[:, 0] = False
    for name, low in (("inf", -np.inf), ("max", np.finfo(np.float32).min), ("1e4", np.float32(-1e4)), ("1e9", np.float32(-1e9))):
        mask = np.where(hidden, np.float32(low), np.float32(0))
        # No row is hidden completely by -1e9: the float32 sum of a score and -1e9 has lost the
        # score, so the softmax of such a row would depend on whether sums are floats or 64-bit
        # integers.
        if name != "1e9":
            mask[1] = low
        yield name, mask
    mask = rng.normal(0, 3, (rows, columns)).astype(np.float32)
    mask[0] += np.float32(300)
    mask[2, columns // 2:] = -np.inf
    yield "offsets", mask
    yield "column", (mask[2] - 5)[None]


def normalized(x, scale, bias, epsilon):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + epsilon) * scale + bias


def products():
    """Softmax, layer normalization and activations after an int8 matmul, and a residual branch with a
    normalization."""
    for rows, steps, columns in ((5, 24, 64), (7, 96, 96), (3, 40, 50), (4, 64, 256)):
        x, w = whole((rows, steps), np.uint8), whole((steps, columns), np.int8)
        # Row 0 consists of zero points, so its products are 0; those of row 1 are small, those of other rows large.
        x[0], x[1] = 121, 120 + (np.arange(steps) % 7 == 0)
        w_scale = rng.uniform(0.5, 1.5, columns).astype(np.float32) * np.float32(3 / (74 * 74 * np.sqrt(steps)))
        bias = rng.normal(0, 0.5, columns).astype(np.float32)
        total = (x.astype(np.float64) - 121) @ w.astype(np.float64) * w_scale + bias
        gamma, beta = rng.uniform(-2, 2, columns).astype(np.float32), rng.normal(0, 1, columns).astype(np.float32)
        constants = {"w": w, "xs": np.float32(1), "xz": np.uint8(121), "ws": w_scale, "wz": np.zeros(columns, np.int8), "bias": bias,
                     "gamma": gamma, "beta": beta, "low": np.float32(1 / 128), "bz": np.uint8(0), "sz": np.int8(-100), "ms": np.float32(0.04), "mz": np.uint8(128),
                     "root": np.float32(np.sqrt(2)), "one": np.float32(1), "half": np.float32(0.5)}
        start = [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["fx"]), helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["fw"], axis=1),
                 helper.make_node("MatMul", ["fx", "fw"], ["product"]), helper.make_node("Add", ["product", "bias"], ["sums"])]
        norm = helper.make_node("LayerNormalization", ["sums", "gamma", "beta"], ["y"], axis=-1, epsilon=1e-5)
        gelu = [helper.make_node("Div", ["sums", "root"], ["d"]), helper.make_node("Erf", ["d"], ["e"]), helper.make_node("Add", ["e", "one"], ["p"]),
                helper.make_node("Mul", ["p", "half"], ["h"]), helper.make_node("Mul", ["sums", "h"], ["y"])]
        scale, middle = np.float32(0.04), np.uint8(128)
        for name, nodes, exact, ends in (
                ("softmax", [helper.make_node("Softmax", ["sums"], ["y"], axis=-1)], softmax(total, -1), (np.float32(1 / 128), np.uint8(0))),
                ("softmax-16", [helper.make_node("Softmax", ["sums"], ["y"], axis=-1)], softmax(total, -1), (np.float32(1 / 30000), np.uint16(0))),
                ("softmax-columns", [helper.make_node("Softmax", ["sums"], ["y"], axis=0)], softmax(total, 0), (np.float32(1 / 255), np.uint8(0))),
                ("norm", [norm], normalized(total, gamma, beta, 1e-5), (scale, middle)),
                ("gelu", gelu, total * (1 + erf(total / np.sqrt(2))) / 2, (np.float32(0.03), np.uint8(9))),
                ("gelu-signed", gelu, total * (1 + erf(total / np.sqrt(2))) / 2, (np.float32(0.02), np.int8(-100))),
                ("sigmoid", [helper.make_node("Sigmoid", ["sums"], ["y"])], 1 / (1 + np.exp(-total)), (np.float32(1 / 255), np.uint8(0))),
                ("swish", [helper.make_node("Sigmoid", ["sums"], ["s"]), helper.make_node("Mul", ["sums", "s"], ["y"])],
                 total / (1 + np.exp(-total)), (np.float32(0.025), np.int8(-90))),
                ("tanh", [helper.make_node("Tanh", ["sums"], ["y"])], np.tanh(total), (np.float32(1 / 127), np.int8(0))),
                ("exp", [helper.make_node("Exp", ["sums"], ["y"])], np.exp(total), (np.float32(0.0002), np.uint8(0)))):
            ends = {"ys": ends[0], "yz": ends[1]}
            yield Case(f"{name}-{rows}x{steps}x{columns}", [*start, *nodes, helper.make_node("QuantizeLinear", ["y", "ys", "yz"], ["out"])], {"x": x}, constants | ends,
                       want=[quantized(exact, ends["ys"], ends["yz"])], tolerance=STEP, opset=21)
        masked = [helper.make_node("Add", ["sums", "mask"], ["masked"]), helper.make_node("Softmax", ["masked"], ["s"], axis=-1),
                  helper.make_node("IsNaN", ["s"], ["none"]), helper.make_node("Where", ["none", "nothing", "s"], ["y"]),
                  helper.make_node("QuantizeLinear", ["y", "ys", "yz"], ["out"])]
        ends = {"ys": np.float32(1 / 255), "yz": np.uint8(0), "nothing": np.float32(0)}
        for name, mask in masks(rows, columns):
            exact = softmax_or_zero(total + mask, -1)
            for given, known in (({"mask": mask}, {}), ({}, {"mask": mask})):
                yield Case(f"softmax-mask-{name}-{'given' if given else 'known'}-{rows}x{steps}x{columns}", [*start, *masked], {"x": x, **given}, constants | ends | known,
                           want=[quantized(exact, ends["ys"], ends["yz"])], tolerance=STEP, opset=21)
        hidden = rng.random((rows, columns)) < 0.4
        hidden[1], hidden[:, 3] = True, False
        for low in (-np.inf, np.finfo(np.float32).min, np.float32(-1e4)):
            exact = softmax_or_zero(np.where(hidden, np.float64(low), total), -1)
            for places, shown in ((["shown", "sums", "low"], ~hidden), (["shown", "low", "sums"], hidden)):
                yield Case(f"softmax-where-{low:g}-{places[1]}-{rows}x{steps}x{columns}",
                           [*start, helper.make_node("Where", places, ["masked"]), *masked[1:]], {"x": x, "shown": shown}, constants | ends | {"low": np.float32(low)},
                           want=[quantized(exact, ends["ys"], ends["yz"])], tolerance=STEP, opset=21)
        # A residual branch: sums are normalized, and the result is added to the sums. The left and
        # the right half of the columns are quantized separately.
        other = whole((rows, columns), np.int8)
        branch = total + (other.astype(np.float64)) * np.float32(0.03)
        again = branch + normalized(branch, gamma, beta, 1e-5)
        nodes = [*start, helper.make_node("DequantizeLinear", ["z", "zs", "zz"], ["fz"]), helper.make_node("Add", ["sums", "fz"], ["branch"]),
                 helper.make_node("LayerNormalization", ["branch", "gamma", "beta"], ["n"], axis=-1, epsilon=1e-5), helper.make_node("Add", ["branch", "n"], ["y"]),
                 helper.make_node("Reshape", ["y", "shape"], ["parts"]), helper.make_node("Split", ["parts"], ["left", "right"], axis=1, num_outputs=2),
                 helper.make_node("QuantizeLinear", ["left", "ms", "mz"], ["out"]), helper.make_node("QuantizeLinear", ["right", "low", "mz"], ["out2"])]
        parts = again.reshape(rows, 2, columns // 2)
        yield Case(f"branch-{rows}x{steps}x{columns}", nodes, {"x": x, "z": other},
                   constants | {"zs": np.float32(0.03), "zz": np.int8(0), "shape": np.array([rows, 2, columns // 2], np.int64)},
                   want=[quantized(parts[:, :1], np.float32(0.04), middle), quantized(parts[:, 1:], np.float32(1 / 128), middle)], tolerance=STEP, opset=21,
                   outputs=["out", "out2"])


def saturated():
    """Functions that end close to a tie: far outside of the range in which they change, results are exact."""
    x, w = np.stack([np.full(64, 255), np.zeros(64)]).astype(np.uint8), np.full((64, 32), 127, np.int8)
    total = (x.astype(np.float64) - 128) @ w * np.float64(np.float32(0.001))
    for op, exact in (("Sigmoid", (1 + np.tanh(total / 2)) / 2), ("Tanh", np.tanh(total))):
        for steps in (19.47, 19.497, 19.503, 19.53, 100.499, 100.501):
            for zero in (np.uint8(120), np.int8(1)):
                scale = np.float32(1 / steps)
                constants = {"w": w, "xs": np.float32(1), "xz": np.uint8(128), "ws": np.float32(0.001), "wz": np.int8(0), "ys": scale, "yz": zero}
                nodes = [helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["fx"]), helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["fw"]),
                         helper.make_node("MatMul", ["fx", "fw"], ["product"]), helper.make_node(op, ["product"], ["y"]),
                         helper.make_node("QuantizeLinear", ["y", "ys", "yz"], ["out"])]
                yield Case(f"saturated-{op.lower()}-{steps}-{zero.dtype.name}", nodes, {"x": x}, constants, want=[quantized(exact, scale, zero)], tolerance=0.0)


def long_rows():
    """Softmax and layer normalization of long rows, in which one element is as large as the sum of all others."""
    for columns in (1500, 4096, 20000, 32768, 65536):
        x = np.full((2, columns), -100, np.int8)
        x[0, 7], x[1, columns // 2], x[1, 3] = 0, 0, -1
        scale = np.float32(np.log(columns) / 100)
        logits = x.astype(np.float64) * scale
        start = helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["fx"])
        constants = {"xs": scale, "xz": np.int8(0), "ys": np.float32(1 / 255), "yz": np.uint8(0)}
        nodes = [start, helper.make_node("Softmax", ["fx"], ["y"], axis=-1), helper.make_node("QuantizeLinear", ["y", "ys", "yz"], ["out"])]
        yield Case(f"long-softmax-{columns}", nodes, {"x": x}, constants, want=[quantized(softmax(logits, -1), constants["ys"], np.uint8(0))], tolerance=STEP)
        # Elements of magnitude 127 / sqrt(columns) hide behind one of magnitude 127.
        x = rng.choice(np.array([-1, 1], np.int8), (2, columns)) * np.int8(max(1, int(127 / np.sqrt(columns))))
        x[0, 5], x[1] = 127, x[1] // 2 + 60
        gamma = np.ones(columns, np.float32)
        constants |= {"gamma": gamma, "ys": np.float32(0.02), "yz": np.uint8(100)}
        exact = normalized(x.astype(np.float64) * scale, 1, 0, 1e-5)
        nodes = [start, helper.make_node("LayerNormalization", ["fx", "gamma"], ["y"], axis=-1, epsilon=1e-5),
                 helper.make_node("QuantizeLinear", ["y", "ys", "yz"], ["out"])]
        yield Case(f"long-norm-{columns}", nodes, {"x": x}, constants, want=[quantized(exact, constants["ys"], np.uint8(100))], tolerance=STEP)


def peaks():
    """Functions of a difference of bytes that are 0 except close to one value."""
    a, b = whole((4, 128), np.int8), whole((4, 128), np.int8)
    for center in (0, 1, 97, 150, 202, -231):
        near = np.clip(b[:2].astype(int) + center + rng.integers(-2, 3, (2, 128)), -128, 127)
        x = {"a": np.concatenate([near.astype(np.int8), a[2:]]), "b": b}
        x["a"][3], x["b"][3] = (127, 127 - abs(center)) if center > 0 else (127 - abs(center), 127)
        difference = x["a"].astype(np.float64) - x["b"] - center
        start = [helper.make_node("DequantizeLinear", ["a", "s", "z"], ["fa"]), helper.make_node("DequantizeLinear", ["b", "s", "z"], ["fb"]),
                 helper.make_node("Sub", ["fa", "fb"], ["d"]), helper.make_node("Sub", ["d", "center"], ["e"])]
        end = [helper.make_node("Sub", ["one", "far"], ["y"]), helper.make_node("QuantizeLinear", ["y", "ys", "yz"], ["out"])]
        constants = {"s": np.float32(1), "z": np.int8(0), "center": np.float32(center), "one": np.float32(1), "ys": np.float32(1 / 255), "yz": np.uint8(0)}
        want = [np.where(difference == 0, 255, 0).astype(np.uint8)]
        for op in ("Sign", "Identity"):
            nodes = [*start, helper.make_node(op, ["e"], ["f"]), helper.make_node("Abs", ["f"], ["far"]), *end]
            yield Case(f"peak-{op.lower()}-{center}", nodes, x, constants, want=want, tolerance=0.0)


if __name__ == "__main__":
    sys.exit(compare(__doc__, sums(), additions(), convolutions(), functions(), products(), saturated(), long_rows(), peaks()))
