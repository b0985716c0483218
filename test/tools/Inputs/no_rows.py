"""Writes a convolution, a flattening to 4096 columns, and a matmul with weights: no_rows.py
FILE."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

weights = {"k": np.ones((4, 3, 2, 2), np.float32), "s": np.array([-1, 4096]), "w": np.ones((4096, 2), np.float32)}
graph = helper.make_graph(
    [helper.make_node("Conv", ["x", "k"], ["c"]), helper.make_node("Reshape", ["c", "s"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])],
    "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["a", "b", "c", "d"])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["p", 2])], [numpy_helper.from_array(value, name) for name, value in weights.items()])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), sys.argv[1])
