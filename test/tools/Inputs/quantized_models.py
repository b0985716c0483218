"""Writes a convolution with quantized weights [32,32,3,3] in several forms, a table of integers, and a
matmul with blocked weights.

    quantized_models.py FOLDER
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
rng = np.random.default_rng(3)
F = TensorProto.FLOAT
constants = {
    "w": rng.integers(-127, 127, (32, 32, 3, 3)).astype(np.int8),
    "w_scale": rng.uniform(0.01, 0.02, 32).astype(np.float32), "w_zero": np.zeros(32, np.int8),
    "x_scale": np.float32(0.05), "x_zero": np.uint8(128), "y_scale": np.float32(0.5), "y_zero": np.uint8(100),
}


def info(name, shape, dtype=F):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(name, nodes, inputs, outputs, **more):
    tensors = [value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value), key)
               for key, value in {**constants, **more}.items()]
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(nodes, name, inputs, outputs, [t for t in tensors if t.name in used])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10),
              os.path.join(folder, name + ".onnx"))


image, result = (1, 32, 8, 8), (1, 32, 6, 6)
qdq = [helper.make_node("QuantizeLinear", ["x", "x_scale", "x_zero"], ["xq"]),
       helper.make_node("DequantizeLinear", ["xq", "x_scale", "x_zero"], ["xd"]),
       helper.make_node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["wd"], axis=0),
       helper.make_node("Conv", ["xd", "wd"], ["y"])]
save("qdq", qdq, [info("x", image)], [info("y", result)])
save("qlinear", [helper.make_node("QLinearConv", ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"],
                                  ["y"])],
     [info("x", image, TensorProto.UINT8)], [info("y", result, TensorProto.UINT8)])
four = helper.make_tensor("w", TensorProto.INT4, (32, 32, 3, 3), rng.integers(-7, 7, 9216))
zeros = helper.make_tensor("w_zero", TensorProto.INT4, (32,), np.zeros(32, int))
save("four_bits", qdq, [info("x", image)], [info("y", result)], w=four, w_zero=zeros)
save("table", [helper.make_node("Gather", ["w", "i"], ["g"]), helper.make_node("Cast", ["g"], ["y"], to=F)],
     [info("i", (2,), TensorProto.INT64)], [info("y", (2, 32, 3, 3))])
# The weights have more elements than the compiler would dequantize at compile time.
steps, columns, block = 1056, 2048, 32
save("blocks", [helper.make_node("MatMulNBits", ["x", "b", "s"], ["y"], domain="com.microsoft", K=steps, N=columns, bits=4, block_size=block)],
     [info("x", (1, steps))], [info("y", (1, columns))], b=np.full((columns, steps // block, block // 2), 0x53, np.uint8),
     s=np.full(columns * steps // block, 0.25, np.float32))
