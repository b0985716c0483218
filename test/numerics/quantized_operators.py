"""Operators of com.microsoft on bytes and on weights of few bits, as ONNX Runtime's quantizers write them. Beside ONNX Runtime.

    quantized_operators.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]
"""
import itertools
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from beside_onnxruntime import Case, compare, contrib, data

BYTES = (np.int8, np.uint8)
HALF = 5e-3
# ONNX Runtime rounds other intermediate results than Ingot: quantized results may differ by one step.
NEXT = {"tolerance": 1.0}


def name_of(dtype):
    return np.dtype(dtype).name


def numbers(shape, dtype, most=256):
    """Returns random integers in a range of `most` values. With `most` = 128, two products fit into 16 bits, in which ONNX Runtime adds them
    on machines without VNNI."""
    low = -most // 2 if dtype == np.int8 else 0
    return (data(shape, np.int32, most) + low).astype(dtype)


def scale(value):
    return np.float32(value)


def elementwise():
    for dtype in BYTES:
        name = name_of(dtype)
        zeros = [dtype(z) for z in ((3, -5, 7) if dtype == np.int8 else (120, 130, 99))]
        x = numbers((3, 5, 37), dtype)
        for op, factor in (("QLinearAdd", 1), ("QLinearMul", 3)):
            for shape in ((3, 5, 37), (37,), (1,), (5, 1)):
                constants = {"as": scale(0.05), "az": zeros[0], "bs": scale(0.04), "bz": zeros[1], "cs": scale(0.07 * factor), "cz": zeros[2]}
                yield contrib(f"{op}-{name}-{'x'.join(map(str, shape))}", op, {"a": x, "b": numbers(shape, dtype)}, constants,
                              order=["a", "as", "az", "b", "bs", "bz", "cs", "cz"], **NEXT)
            yield contrib(f"{op}-{name}-constant", op, {"a": x}, constants | {"b": numbers((37,), dtype)}, order=["a", "as", "az", "b", "bs", "bz", "cs", "cz"], **NEXT)
        for op, out, attributes in (("QLinearSigmoid", 1 / 256, {}), ("QLinearLeakyRelu", 0.05, {"alpha": 0.2}), ("QLinearLeakyRelu", 0.03, {})):
            constants = {"xs": scale(0.05), "xz": zeros[0], "ys": scale(out), "yz": zeros[1]}
            yield contrib(f"{op}-{name}-{len(attributes)}", op, {"x": x}, constants, **attributes)
            yield contrib(f"{op}-{name}-{len(attributes)}-flat", op, {"x": x.reshape(-1)}, constants, **attributes)
        # ONNX Runtime crashes without zero points.
        want = np.clip(np.rint(128 / (1 + np.exp(x * np.float32(-0.05)))), *(np.iinfo(dtype).min, np.iinfo(dtype).max)).astype(dtype)
        yield contrib(f"QLinearSigmoid-{name}-no-zeros", "QLinearSigmoid", {"x": x}, {"xs": scale(0.05), "ys": scale(1 / 128)},
                      order=["x", "xs", "", "ys"], want=[want], **NEXT)
        for opset, axis in ((12, 1), (12, 2), (13, 1), (13, -1)):
            constants = {"xs": scale(0.05), "xz": zeros[0], "ys": scale(1 / 256), "yz": dtype(-128 if dtype == np.int8 else 0)}
            yield contrib(f"softmax-{name}-{opset}-{axis}", "QLinearSoftmax", {"x": x}, constants, axis=axis, opset=opset, **NEXT)
        condition = data((3, 1, 37), np.bool_)
        constants = {"xs": scale(0.05), "xz": zeros[0], "ys": scale(0.03), "yz": zeros[1], "zs": scale(0.06), "zz": zeros[2]}
        for shape in ((3, 5, 37), (37,), (1,)):
            yield contrib(f"where-{name}-{'x'.join(map(str, shape))}", "QLinearWhere", {"c": condition, "x": x, "y": numbers(shape, dtype)}, constants,
                          order=["c", "x", "xs", "xz", "y", "ys", "yz", "zs", "zz"], **NEXT)
        for axis in (0, 1, -1):
            parts = {"a": x, "b": numbers(x.shape, dtype), "c": numbers(x.shape, dtype)}
            constants = {"ys": scale(0.06), "yz": zeros[2], "s1": scale(0.05), "z1": zeros[0], "s2": scale(0.08), "z2": zeros[1]}
            yield contrib(f"concat-{name}-{axis}", "QLinearConcat", parts, constants, axis=axis,
                          order=["ys", "yz", "a", "s1", "z1", "b", "s2", "z2", "c", "ys", "yz"], **NEXT)
        floats = (x.astype(np.float32) - float(zeros[0])) * scale(0.05)
        for keep, axes in ((1, [1, 2]), (0, [0]), (1, [-1])):
            mean = floats.mean(tuple(axes), keepdims=bool(keep)) / scale(0.02) + float(zeros[1])
            want = np.clip(np.rint(mean), np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
            constants = {"xs": scale(0.05), "xz": zeros[0], "ys": scale(0.02), "yz": zeros[1]}
            yield contrib(f"mean-{name}-{keep}{len(axes)}", "QLinearReduceMean", {"x": x}, constants, axes=axes, keepdims=keep, want=[want], **NEXT)


def pools():
    for dtype, last in itertools.product(BYTES, (0, 1)):
        shape = (2, 9, 8, 5) if last else (2, 5, 9, 8)
        constants = {"xs": scale(0.05), "xz": dtype(7), "ys": scale(0.04), "yz": dtype(99)}
        name = f"{name_of(dtype)}-{last}"
        yield contrib(f"global-{name}", "QLinearGlobalAveragePool", {"x": numbers(shape, dtype)}, constants, channels_last=last, **NEXT)
        for sizes in ((1, 1), (7,), (3, 4, 5)):
            some = (2, *sizes, 5) if last else (2, 5, *sizes)
            yield contrib(f"global-{name}-{'x'.join(map(str, sizes))}", "QLinearGlobalAveragePool", {"x": numbers(some, dtype)}, constants, channels_last=last, **NEXT)
        for attributes in ({}, {"pads": [1, 1, 0, 1]}, {"pads": [1, 0, 1, 0], "count_include_pad": 1}, {"auto_pad": "SAME_UPPER"}, {"ceil_mode": 1}):
            yield contrib(f"average-{name}-{'-'.join(attributes)}", "QLinearAveragePool", {"x": numbers(shape, dtype)}, constants,
                          kernel_shape=[3, 2], strides=[2, 1], channels_last=last, **attributes, **NEXT)


def linear():
    for dtype in (np.int8, np.uint8, np.int16, np.uint16):
        x, y = 3 * data((4, 6, 5)), data((4, 6, 5), np.int32, 100).astype(dtype)
        name = name_of(dtype)
        for shape in ((), (6,)):
            parameters = {"s": np.asarray(0.02 + 0.01 * np.abs(data(shape)), np.float32), "z": np.asarray(data(shape, np.int32, 50), dtype)}
            axis = {"axis": 1} if shape else {}
            yield contrib(f"quantize-{name}-{len(shape)}", "QuantizeLinear", {"x": x}, parameters, **axis)
            yield contrib(f"dequantize-{name}-{len(shape)}", "DequantizeLinear", {"x": y}, parameters, **axis)
    yield contrib("dequantize-int32", "DequantizeLinear", {"x": data((4, 6), np.int32, 100000)}, {"s": scale(0.01)})


def matrices():
    a, c = {}, data((21,))
    for left, right in itertools.product(BYTES, BYTES):
        a = numbers((4, 9, 37), left, 128)
        b = numbers((37, 21), right, 128)
        name = f"{name_of(left)}-{name_of(right)}"
        constants = {"b": b, "as": scale(0.02), "bs": scale(0.01), "az": left(11), "bz": right(17), "c": c}
        order = ["a", "b", "as", "bs", "az", "bz", "c"]
        if left == np.int8 and right == np.uint8:
            continue  # ONNX Runtime has no kernel
        yield contrib(f"to-float-{name}", "MatMulIntegerToFloat", {"a": a}, constants, order=order)
        yield contrib(f"to-float-{name}-plain", "MatMulIntegerToFloat", {"a": a}, constants, order=order[:4])
        columns = {"bs": np.abs(data((21,))) / 50, "bz": numbers((21,), right, 128)}
        yield contrib(f"to-float-{name}-columns", "MatMulIntegerToFloat", {"a": a}, constants | columns, order=order)
        for to_float in (False, True):
            for c_shape in (None, (21,), (9, 21)):
                more = {"y": scale(0.5), "yz": left(20)} if not to_float else {}
                if c_shape:
                    more["c"] = data(c_shape, np.int32, 1000)
                gemm = {k: v for k, v in constants.items() if k != "c"} | more
                order = ["a", "as", "az", "b", "bs", "bz", "c" if c_shape else ""] + ([] if to_float else ["y", "yz"])
                yield contrib(f"gemm-{name}-{int(to_float)}{len(c_shape or ())}", "QGemm", {"a": numbers((9, 37), left, 128)}, gemm, order=order,
                              **({} if to_float else NEXT))
        transposed = constants | {"b": b.T.copy(), "y": scale(0.5), "yz": left(20)}
        yield contrib(f"gemm-{name}-transposed", "QGemm", {"a": numbers((37, 9), left, 128)}, transposed,
                      order=["a", "as", "az", "b", "bs", "bz", "", "y", "yz"], transA=1, transB=1, alpha=0.5, **NEXT)
    for right in BYTES:
        name, x = name_of(right), data((4, 9, 37))
        constants = {"b": numbers((37, 21), right, 128), "s": scale(0.01), "z": right(17), "c": c}
        yield contrib(f"dynamic-{name}", "DynamicQuantizeMatMul", {"x": x}, constants)
        yield contrib(f"dynamic-{name}-plain", "DynamicQuantizeMatMul", {"x": np.abs(x)}, constants, order=["x", "b", "s"])
        columns = {"s": np.abs(data((21,))) / 50, "z": numbers((21,), right, 128)}
        yield contrib(f"dynamic-{name}-columns", "DynamicQuantizeMatMul", {"x": x}, constants | columns)
        yield contrib(f"dynamic-{name}-zeros", "DynamicQuantizeMatMul", {"x": 0 * x}, constants)


def convolutions():
    for dtype, last, group in itertools.product(BYTES, (0, 1), (1, 2)):
        shape = (2, 9, 8, 6) if last else (2, 6, 9, 8)
        constants = {"xs": scale(0.02), "xz": dtype(11), "w": numbers((8, 6 // group, 3, 3), np.int8, 128), "ws": np.abs(data((8,))) / 50,
                     "wz": np.zeros(8, np.int8), "ys": scale(0.3), "yz": dtype(30), "b": data((8,), np.int32, 1000)}
        yield contrib(f"conv-{name_of(dtype)}-{last}{group}", "QLinearConv", {"x": numbers(shape, dtype, 128)}, constants, channels_last=last,
                      group=group, pads=[1, 0, 1, 1], strides=[2, 1], **NEXT)


def recurrent():
    steps, batch, wide, hidden = 7, 3, 10, 6
    for dtype, direction, by_column in itertools.product(BYTES, ("forward", "reverse", "bidirectional"), (False, True)):
        d = 2 if direction == "bidirectional" else 1
        parameter = (d, 4 * hidden) if by_column else (d,)
        weights = {"w": numbers((d, wide, 4 * hidden), dtype, 128), "r": numbers((d, hidden, 4 * hidden), dtype, 128), "b": data((d, 8 * hidden)) / 4}
        middle = 0 if dtype == np.int8 else 128
        scales = {k: np.full(parameter, 0.004, np.float32) for k in ("ws", "rs")} | {k: np.full(parameter, middle, dtype) for k in ("wz", "rz")}
        # A large tolerance: ONNX Runtime rounds the inputs of each time step to 8 bits.
        yield contrib(f"lstm-{name_of(dtype)}-{direction}-{int(by_column)}", "DynamicQuantizeLSTM", {"x": data((steps, batch, wide))},
                      weights | scales, ("y", "h", "c"), order=["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"],
                      hidden_size=hidden, direction=direction, tolerance=0.02)


def packed(values, bits):
    """Packs numbers of few bits into bytes along the last axis, the first in the least significant bits."""
    each = 8 // bits
    values = np.concatenate([values, np.zeros((*values.shape[:-1], -values.shape[-1] % each), np.uint8)], axis=-1)
    parts = values.reshape(*values.shape[:-1], -1, each)
    return np.bitwise_or.reduce(parts << (np.arange(each) * bits).astype(np.uint8), axis=-1).astype(np.uint8)


def blocks():
    for bits, block, k, dtype in itertools.product((2, 4, 8), (16, 32), (64, 50), (np.float32, np.float16)):
        n, count = 24, -(-k // block)
        b = packed(data((n, count, block), np.int32, 1 << bits).astype(np.uint8), bits)
        x, scales = data((2, 5, k), dtype), (data((n, count)) / 40).astype(dtype)
        zeros = data((n, count), np.int32, 1 << bits).astype(np.uint8)
        name = f"{bits}-{block}-{k}-{name_of(dtype)}"
        attributes = {"K": k, "N": n, "bits": bits, "block_size": block, "tolerance": 2e-2 if dtype == np.float16 else 3e-5}
        constants = {"b": b, "s": scales}
        yield contrib(f"bits-{name}", "MatMulNBits", {"x": x}, constants, **attributes)
        yield contrib(f"bits-zeros-{name}", "MatMulNBits", {"x": x}, constants | {"z": packed(zeros, bits)}, **attributes)
        if dtype == np.float32 and bits < 8:
            # Quantizing a row of 64 elements to 8 bits moves a result by less than 1% of the range.
            rounded = attributes | {"accuracy_level": 4, "tolerance": 1e-2}
            yield contrib(f"bits-quantized-{name}", "MatMulNBits", {"x": x}, constants, **rounded)
            yield contrib(f"bits-quantized-zeros-{name}", "MatMulNBits", {"x": x}, constants | {"z": packed(zeros, bits)}, **rounded)
        if dtype == np.float32 and bits == 4:
            yield contrib(f"bits-float-zeros-{name}", "MatMulNBits", {"x": x}, constants | {"z": zeros.astype(dtype)}, **attributes)
            yield contrib(f"bits-bias-{name}", "MatMulNBits", {"x": x}, constants | {"c": data((n,))}, order=["x", "b", "s", "", "", "c"], **attributes)


def gathers():
    for bits, dtype in itertools.product((4, 8), (np.float32, np.float16)):
        rows, k, block = 20, 48, 16
        values = data((rows, k), np.int32, 1 << bits).astype(np.uint8)
        constants = {"d": packed(values, bits), "s": (data((rows, k // block)) / 10).astype(dtype)}
        zeros = packed(data((rows, k // block), np.int32, 1 << bits).astype(np.uint8), bits)
        indices = np.array([[3, 0, 19], [-1, 7, 7]])
        attributes = {"bits": bits, "block_size": block, "order": ["d", "i", "s"], "tolerance": HALF if dtype == np.float16 else 1e-5}
        name = f"{bits}-{name_of(dtype)}"
        yield contrib(f"gather-{name}", "GatherBlockQuantized", {"i": indices}, constants, **attributes)
        yield contrib(f"gather-zeros-{name}", "GatherBlockQuantized", {"i": indices.astype(np.int32)}, constants | {"z": zeros}, **attributes | {"order": ["d", "i", "s", "z"]})
    # GatherBlockQuantized of tensors of 4-bit types, with blocks along each axis.
    for signed, gather_axis, along in itertools.product((True, False), (0, 2), (1, 0, 2)):
        if gather_axis == along:
            continue
        shape, block = [18, 34, 20], 16
        scales = [s if i != along else -(-s // block) for i, s in enumerate(shape)]
        kind = TensorProto.INT4 if signed else TensorProto.UINT4
        low = -8 if signed else 0
        four = lambda name, s: helper.make_tensor(name, kind, s, (data(s, np.int32, 16) + low).flatten())
        node = helper.make_node("GatherBlockQuantized", ["d", "i", "s", "z"], ["out"], domain="com.microsoft", gather_axis=gather_axis,
                                quantize_axis=along, block_size=block)
        case = Case(f"gather-{'u' if not signed else ''}int4-{gather_axis}{along}", [node], {"i": np.array([2, 0, 17, -3])},
                    {"s": data(scales) / 10})
        case.model.graph.initializer.extend([four("d", shape), four("z", scales)])
        case.model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        case.model.ir_version = 10
        yield case


def stored(name, kind, shape):
    """Returns a constant of random integers of the ONNX type `kind`, and the integers as an array."""
    bits = {TensorProto.INT4: 4, TensorProto.UINT4: 4}.get(kind, 8)
    low = -(1 << (bits - 1)) if kind in (TensorProto.INT4, TensorProto.INT8) else 0
    values = data(shape, np.int32, 1 << bits) + low
    return helper.make_tensor(name, kind, shape, values.flatten()), values


def weights_only():
    """Matrix multiplications of floats by dequantized constants, and rows gathered from dequantized
    constants."""
    kinds = {"int4": TensorProto.INT4, "uint4": TensorProto.UINT4, "int8": TensorProto.INT8, "uint8": TensorProto.UINT8}
    for (kind, number), zeros, block, transposed in itertools.product(kinds.items(), (False, True), (0, 16), (False, True)):
        rows, steps, columns = (1, 48, 37) if (zeros + transposed + bool(block)) % 2 else (7, 64, 16)
        axis = 1 if transposed else 0
        shape = [columns, steps] if transposed else [steps, columns]
        blocks = [s // block if i == axis and block else 1 if i == axis else s for i, s in enumerate(shape)]
        own = blocks if block else [columns]
        attributes = {"axis": axis, "block_size": block} if block else {"axis": 1 - axis}
        w, values = stored("w", number, shape)
        scales = (np.abs(data(own)) / 40 + 0.001).astype(np.float32)
        z, points = stored("z", number, own)
        wide = lambda v: np.repeat(v.reshape(blocks), shape[axis] // blocks[axis], axis)
        floats = (values - (wide(points) if zeros else 0)) * wide(scales)
        x = data((rows, steps))
        name = f"weights-{kind}-{block}-{int(zeros)}{int(transposed)}-{rows}x{steps}x{columns}"
        dequantize = helper.make_node("DequantizeLinear", ["w", "s", "z"][: 3 if zeros else 2], ["f"], **attributes)
        move = [helper.make_node("Transpose", ["f"], ["t"], perm=[1, 0])] if transposed else []
        product = helper.make_node("MatMul", ["x", "t" if transposed else "f"], ["out"])
        want = (x.astype(np.float64) @ (floats.T if transposed else floats)).astype(np.float32)
        case = Case(name, [dequantize, *move, product], {"x": x}, {"s": scales}, opset=21, tolerance=3e-5, want=[want])
        indices = np.array([[2, -1, 0], [11, 5, shape[0] - 1]])
        rows_of = helper.make_node("Gather", ["f", "i"], ["out"], axis=0)
        table = Case(name.replace("weights", "table"), [dequantize, rows_of], {"i": indices}, {"s": scales}, opset=21,
                     want=[floats.astype(np.float32)[indices]])
        for each in (case, table):
            each.model.graph.initializer.extend([w, z][: 2 if zeros else 1])
            each.model.ir_version = 10
            yield each


if __name__ == "__main__":
    sys.exit(compare(__doc__, elementwise(), pools(), linear(), matrices(), convolutions(), recurrent(), blocks(), gathers(), weights_only(), refused=()))
