"""Writes a model with a loop, whose result another operator reads, and a data set with or without the expected output.

    loop_model.py FOLDER [expected]
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
info = helper.make_tensor_value_info
body = helper.make_graph(
    [helper.make_node("Add", ["h", "h"], ["sum"]), helper.make_node("Identity", ["go_on"], ["still"])], "body",
    [info("i", TensorProto.INT64, []), info("go_on", TensorProto.BOOL, []), info("h", TensorProto.FLOAT, [2, 3])],
    [info("still", TensorProto.BOOL, []), info("sum", TensorProto.FLOAT, [2, 3])])
graph = helper.make_graph(
    [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body), helper.make_node("Softmax", ["y"], ["z"])], "g",
    [info("n", TensorProto.INT64, []), info("x", TensorProto.FLOAT, [2, 3])], [info("y", TensorProto.FLOAT, [2, 3]), info("z", TensorProto.FLOAT, [2, 3])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), os.path.join(folder, "model.onnx"))
x = np.arange(6, dtype=np.float32).reshape(2, 3) / 8
exponentials = np.exp(8 * x)
data = {"input_0": np.int64(3), "input_1": x, "output_0": 8 * x, "output_1": exponentials / exponentials.sum(1, keepdims=True)}
for name, value in data.items():
    if name.startswith("input") or "expected" in sys.argv:
        with open(os.path.join(folder, name + ".pb"), "wb") as file:
            file.write(numpy_helper.from_array(np.asarray(value)).SerializeToString())
