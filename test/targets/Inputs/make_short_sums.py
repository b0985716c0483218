"""Writes products.onnx, with products of 8-bit integers whose weights are as large as sums of
pairs in 16 bits allow, and data.h, with operands and results, for products.cpp.

    make_short_sums.py FOLDER LARGEST [SHARE | groups]

LARGEST is the largest sum of the magnitudes of two weights of the same sign in a pair, but for a
share of the pairs, SHARE, whose weights are limits of the range. With `groups`, it is the largest
sum of two pairs of two adjacent groups of four K steps. Half of the
elements of the left operands are limits of their range. Sizes leave remainders of tiles, vectors,
groups and pairs of groups.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder, largest = sys.argv[1], int(sys.argv[2])
in_groups = sys.argv[3:] == ["groups"]
share = float(sys.argv[3]) if len(sys.argv) > 3 and not in_groups else 0
rng = np.random.default_rng(7)


def elements(shape, dtype):
    info = np.iinfo(dtype)
    ends = rng.choice([info.min, info.max], shape)
    chosen = rng.random(shape) < 0.5
    return np.where(chosen, rng.integers(info.min, info.max + 1, shape), ends).astype(dtype)


def weights(steps, columns):
    """Returns weights [steps, columns]; most pairs of the same sign have the sum LARGEST."""
    pairs = (steps + 1) // 2
    sign = rng.choice([-1, 1], (pairs, columns))
    most = np.full((pairs, columns), largest)
    if in_groups:
        most = rng.integers(0, largest + 1, (pairs, columns))
        later = np.arange(pairs) // 2 % 2 == 1
        most[later] = largest - most[np.flatnonzero(later) - 2]
        sign[later] = sign[np.flatnonzero(later) - 2]
    first = np.minimum(rng.integers(0, most + 1), 127)
    second = np.minimum(most - first, 127)
    opposite = rng.random((pairs, columns)) < 0.2
    second = np.where(opposite, -np.minimum(second + 64 * (not in_groups), most), second)
    both = np.stack([sign * first, sign * second], 1)
    if share:
        both[np.repeat(rng.random((pairs, 1, columns)) < share, 2, 1)] = rng.choice([-128, 127])
    both = both.reshape(2 * pairs, columns)
    return both[:steps].clip(-128, 127).astype(np.int8)


def convolved(x, w, zero, stride, pad):
    x = np.pad(x.astype(np.int64) - zero, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows[:, :, ::stride, ::stride], w.astype(np.int64))


def array(kind, name, values):
    return f"static const {kind} {name}[] = {{{', '.join(map(str, np.ravel(values)))}}};\n"


nodes, inputs, outputs, constants, header, calls, checks = [], [], [], [], "", "", ""
types = {"u": (np.uint8, TensorProto.UINT8, "uint8_t"), "s": (np.int8, TensorProto.INT8, "int8_t")}


def add(op, name, sign, x, w, zero, want, **attributes):
    global header, calls, checks
    dtype, onnx_type, c_type = types[sign]
    inputs.append(helper.make_tensor_value_info(f"x_{name}", onnx_type, x.shape))
    outputs.append(helper.make_tensor_value_info(f"y_{name}", TensorProto.INT32, want.shape))
    constants.append(numpy_helper.from_array(w, f"w_{name}"))
    constants.append(numpy_helper.from_array(dtype(zero), f"z_{name}"))
    operands = [f"{operand}_{name}" for operand in "xwz"]
    nodes.append(helper.make_node(op, operands, [f"y_{name}"], **attributes))
    header += array(c_type, f"x_{name}", x) + array("int32_t", f"want_{name}", want)
    header += f"static int32_t y_{name}[{want.size}];\n"
    calls += f"  io.x_{name} = x_{name};\n  io.y_{name} = y_{name};\n"
    checks += f"  for (int i = 0; i < {want.size}; ++i)\n    if (y_{name}[i] != want_{name}[i])\n"
    checks += f"      return fail(\"{name}\", i, y_{name}[i], want_{name}[i]);\n"


for sign, zero in (("u", 0), ("u", 3), ("s", 0), ("s", -5)):
    for rows, steps, columns in ((7, 66, 45), (9, 80, 16), (1, 129, 24)):
        x, w = elements((rows, steps), types[sign][0]), weights(steps, columns)
        want = (x.astype(np.int64) - zero) @ w.astype(np.int64)
        add("MatMulInteger", f"m_{sign}{abs(zero)}_{steps}", sign, x, w, zero, want)
    sizes = (32, 3, 1, 21), (3, 7, 2, 16), (12, 1, 1, 40), (6, 3, 2, 8)
    for channels, kernel, stride, filters in sizes:
        x = elements((1, channels, 11, 9), types[sign][0])
        rows = [weights(kernel * channels, filters) for _ in range(kernel)]
        w = np.reshape(rows, (kernel, kernel, channels, filters))
        w = w.transpose(3, 2, 0, 1).copy()
        pad = kernel // 2
        want = convolved(x, w, zero, stride, pad)
        add("ConvInteger", f"c_{sign}{abs(zero)}_{channels}", sign, x, w, zero, want,
            strides=[stride] * 2, pads=[pad] * 4)
graph = helper.make_graph(nodes, "products", inputs, outputs, constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
onnx.save(model, f"{folder}/products.onnx")
with open(f"{folder}/data.h", "w") as file:
    file.write(f"{header}static void bind(products_io &io) {{\n{calls}}}\n")
    file.write(f"static int check() {{\n{checks}  return 0;\n}}\n")
