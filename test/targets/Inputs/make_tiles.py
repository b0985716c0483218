"""Writes tiles.onnx, with matmuls and convolutions of 8-bit integers or of floats, and data.h, with
operands and results.

    make_tiles.py bytes|floats FOLDER

Sizes leave remainders of tiles, blocks and panels; one size, n, is dynamic (up to 40). 8-bit integers
occur in each pair of signednesses, and half of the elements are limits of their range. Floats are small
integers, so that bf16 results are exact.
"""
import itertools
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

kind, folder = sys.argv[1:]
rng = np.random.default_rng(7)
nodes, inputs, outputs, constants, header, calls, clears, checks = [], [], [], [], "", "", "", ""
TYPES = {
    "u": (np.uint8, TensorProto.UINT8, "uint8_t"),
    "s": (np.int8, TensorProto.INT8, "int8_t"),
    "f": (np.float32, TensorProto.FLOAT, "float"),
}
# Rows of each matrix, reduction size, columns; "n" is dynamic.
PRODUCTS = [((53,), 160, 75), ((16,), 64, 16), ((40,), 96, 33), ((100,), 256, 64), ((3, 37), 64, 48), (("n",), 64, 40)]
N = 23
# Images, channels, rows, columns, filters, kernel size, stride, padding, dilation.
CONVOLUTIONS = [
    (1, 64, 9, 13, 48, 1, 1, 0, 1),
    (2, 32, 10, 7, 40, 3, 1, 1, 1),
    (1, 64, 12, 12, 32, 3, 2, 1, 1),
    (1, 64, 14, 10, 33, 1, 2, 0, 1),
    (1, 16, 15, 9, 64, 3, 1, 2, 2),
    (1, 96, 8, 8, 32, 2, 3, 0, 1),
]


def elements(shape, sign):
    dtype = TYPES[sign][0]
    if sign == "f":
        return rng.integers(-4, 5, shape).astype(dtype)
    info = np.iinfo(dtype)
    values, ends = rng.integers(info.min, info.max + 1, shape), rng.choice([info.min, info.max], shape)
    return np.where(rng.random(shape) < 0.5, values, ends).astype(dtype)


def array(c_type, name, values):
    return f"static const {c_type} {name}[] = {{{', '.join(map(str, np.ravel(values).astype(np.int64)))}}};\n"


def add(op, name, a, a_sign, b, b_sign, want, first=None, **attributes):
    """Adds a node whose second operand is constant, with its expected result."""
    global header, calls, clears, checks
    is_float = a_sign == "f"
    result = ("float", TensorProto.FLOAT) if is_float else ("int32_t", TensorProto.INT32)
    inputs.append(helper.make_tensor_value_info(f"a_{name}", TYPES[a_sign][1], [first or a.shape[0], *a.shape[1:]]))
    constants.append(numpy_helper.from_array(b, f"b_{name}"))
    nodes.append(helper.make_node(op, [f"a_{name}", f"b_{name}"], [f"y_{name}"], **attributes))
    outputs.append(helper.make_tensor_value_info(f"y_{name}", result[1], [first or want.shape[0], *want.shape[1:]]))
    header += array(TYPES[a_sign][2], f"a_{name}", a) + array(result[0], f"want_{name}", want)
    header += f"static {result[0]} y_{name}[{want.size}];\n"
    calls += f"  io.a_{name} = a_{name};\n  io.y_{name} = y_{name};\n"
    clears += f"  for (auto &y : y_{name})\n    y = 77;\n"
    checks += f"  for (int i = 0; i < {want.size}; ++i)\n    if (y_{name}[i] != want_{name}[i]) return fail(\"y_{name}\", i, y_{name}[i], want_{name}[i]);\n"


def convolved(x, w, stride, padding, dilation):
    x = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    size = w.shape[2]
    reach = (size - 1) * dilation + 1
    rows, columns = ((n - reach) // stride + 1 for n in x.shape[2:])
    y = np.zeros((x.shape[0], w.shape[0], rows, columns), np.int64)
    for i, j in itertools.product(range(size), repeat=2):
        part = x[:, :, i * dilation:, j * dilation:][:, :, ::stride, ::stride][:, :, :rows, :columns]
        y += np.einsum("nchw,oc->nohw", part, w[:, :, i, j].astype(np.int64))
    return y


signs = [("f", "f")] if kind == "floats" else list(itertools.product("us", repeat=2))
for number, (rows, k, n) in enumerate(PRODUCTS):
    for a_sign, b_sign in signs if number == 0 else signs[-3:-2] or signs:
        first = rows[0] if rows[0] == "n" else None
        a, b = elements(((N,) if first else rows) + (k,), a_sign), elements((k, n), b_sign)
        want = a.astype(np.int64) @ b.astype(np.int64)
        add("MatMul" if a_sign == "f" else "MatMulInteger", f"product_{number}_{a_sign}{b_sign}", a, a_sign, b, b_sign, want, first)
for number, (images, channels, rows, columns, kernels, size, stride, padding, dilation) in enumerate(CONVOLUTIONS):
    a_sign, b_sign = signs[number % len(signs)]
    x, w = elements((images, channels, rows, columns), a_sign), elements((kernels, channels, size, size), b_sign)
    add("Conv" if a_sign == "f" else "ConvInteger", f"conv_{number}_{a_sign}{b_sign}", x, a_sign, w, b_sign,
        convolved(x, w, stride, padding, dilation), pads=[padding] * 4, strides=[stride] * 2, dilations=[dilation] * 2)
graph = helper.make_graph(nodes, "tiles", inputs, outputs, constants)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), f"{folder}/tiles.onnx")
with open(f"{folder}/data.h", "w") as file:
    file.write(f"{header}static void bind(tiles_io &io) {{\n  io.n = {N};\n{calls}}}\nstatic void clear() {{\n{clears}}}\nstatic int check() {{\n{checks}  return 0;\n}}\n")
