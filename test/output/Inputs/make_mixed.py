"""Writes a model whose kernels have results of several types, one of which is the
concatenation of two results.

    make_mixed.py DIR
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
data = os.path.join(folder, "test_data_set_0")
os.makedirs(data, exist_ok=True)
rng = np.random.default_rng(3)
weights = [numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
           for name, shape in (("a", (4, 3)), ("b", (4, 5)), ("c", (8, 6)))]
nodes = [
    helper.make_node("MatMul", ["x", "a"], ["xa"]),
    helper.make_node("MatMul", ["x", "b"], ["xb"]),
    helper.make_node("Concat", ["xa", "xb"], ["both"], axis=1),
    helper.make_node("MatMul", ["both", "c"], ["product"]),
    helper.make_node("Softmax", ["product"], ["y"]),
    helper.make_node("Cast", ["product"], ["half"], to=TensorProto.FLOAT16),
    helper.make_node("ArgMax", ["product"], ["best"], axis=1),
]
outputs = [("y", TensorProto.FLOAT, [256, 6]), ("half", TensorProto.FLOAT16, [256, 6]), ("best", TensorProto.INT64, [256, 1])]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [256, 4])],
                          [helper.make_tensor_value_info(*output) for output in outputs], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, os.path.join(folder, "model.onnx"))
with open(os.path.join(data, "input_0.pb"), "wb") as file:
    file.write(numpy_helper.from_array(rng.standard_normal((256, 4)).astype(np.float32), "x").SerializeToString())
