"""Writes products.onnx, with an 8-bit integer matmul for each pair of signednesses, and data.h, with
operands and results.

    make_products.py FOLDER

Sizes leave remainders of tiles, vectors and groups. Half of the elements are limits of their range. Each
matmul has zero points, one of them per column.
"""
import itertools
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

M, K, N = 7, 66, 45
rng = np.random.default_rng(3)


def elements(shape, dtype):
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max + 1, shape)
    ends = rng.choice([info.min, info.max], shape)
    return np.where(rng.random(shape) < 0.5, values, ends).astype(dtype)


def array(kind, name, values):
    numbers = ", ".join(map(str, np.ravel(values)))
    return f"static const {kind} {name}[] = {{{numbers}}};\n"


folder = sys.argv[1]
nodes, inputs, outputs, constants, header, calls = [], [], [], [], "", ""
types = {"u": (np.uint8, TensorProto.UINT8, "uint8_t"), "s": (np.int8, TensorProto.INT8, "int8_t")}
left = {sign: elements((M, K), types[sign][0]) for sign in types}
for sign, (_, onnx_type, c_type) in types.items():
    inputs.append(helper.make_tensor_value_info(f"a_{sign}", onnx_type, (M, K)))
    header += array(c_type, f"a_{sign}", left[sign])
    calls += f"  io.a_{sign} = a_{sign};\n"
for a, b in itertools.product(types, repeat=2):
    weights, a_zero, b_zero = (elements(s, types[t][0]) for s, t in (((K, N), b), ((), a), ((N,), b)))
    # The right operand is a constant, then an input of the model.
    for name, is_constant in ((f"{a}_{b}", True), (f"{a}_{b}_computed", False)):
        if is_constant:
            constants.append(numpy_helper.from_array(weights, f"b_{name}"))
        else:
            inputs.append(helper.make_tensor_value_info(f"b_{name}", types[b][1], (K, N)))
            header += array(types[b][2], f"b_{name}", weights)
            calls += f"  io.b_{name} = b_{name};\n"
        constants += [numpy_helper.from_array(a_zero, f"az_{name}"), numpy_helper.from_array(b_zero, f"bz_{name}")]
        nodes.append(helper.make_node("MatMulInteger", [f"a_{a}", f"b_{name}", f"az_{name}", f"bz_{name}"], [f"y_{name}"]))
        outputs.append(helper.make_tensor_value_info(f"y_{name}", TensorProto.INT32, (M, N)))
        want = (left[a].astype(np.int64) - a_zero) @ (weights.astype(np.int64) - b_zero)
        header += array("int32_t", f"want_{name}", want) + f"static int32_t y_{name}[{M * N}];\n"
        calls += f"  io.y_{name} = y_{name};\n"
checks = "".join(f'  for (int i = 0; i < {M * N}; ++i)\n    if ({o.name}[i] != want_{o.name[2:]}[i]) return fail("{o.name}", i, {o.name}[i], want_{o.name[2:]}[i]);\n'
                 for o in outputs)
model = helper.make_model(helper.make_graph(nodes, "products", inputs, outputs, constants), opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
onnx.save(model, f"{folder}/products.onnx")
with open(f"{folder}/data.h", "w") as file:
    file.write(f"{header}static void bind(products_io &io) {{\n{calls}}}\nstatic int check() {{\n{checks}  return 0;\n}}\n")
