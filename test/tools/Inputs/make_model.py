"""Writes a small model with a dynamic batch and a shape that is an input,
and data.

    make_model.py FOLDER
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = sys.argv[1]
data = os.path.join(folder, "test_data_set_0")
os.makedirs(data, exist_ok=True)

rng = np.random.default_rng(7)
w = rng.standard_normal((4, 6)).astype(np.float32)
nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="/head/MatMul"),
         helper.make_node("Relu", ["h"], ["r"], name="/head/Relu"),
         helper.make_node("Reshape", ["r", "shape"], ["y"], name="/out/Reshape")]
graph = helper.make_graph(
    nodes, "small",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4]),
     helper.make_tensor_value_info("shape", TensorProto.INT64, [2])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(w, "w")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, os.path.join(folder, "small.onnx"))

x = rng.standard_normal((2, 4)).astype(np.float32)
shape = np.array([3, 4], np.int64)
y = np.maximum(x @ w, 0).reshape(3, 4)
for name, value in (("input_0", x), ("input_1", shape), ("output_0", y)):
    with open(os.path.join(data, name + ".pb"), "wb") as f:
        f.write(numpy_helper.from_array(value).SerializeToString())
for name, value in (("x", x), ("shape", shape), ("y", y)):
    np.save(os.path.join(folder, name + ".npy"), value)

# Exporters name dimensions `?` although their sizes are unrelated.
graph = helper.make_graph(
    [helper.make_node("Relu", ["x"], ["y"])], "anonymous",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["?", "?"])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["?", "?"])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
          os.path.join(folder, "anonymous.onnx"))
wide = rng.standard_normal((2, 5)).astype(np.float32)
for name, value in (("wide", wide), ("big_endian", wide.astype(">f4")), ("double", wide.astype(np.float64))):
    np.save(os.path.join(folder, name + ".npy"), value)
for number, rows in enumerate((2, 3, 1)):
    own = os.path.join(folder, "sets", f"test_data_set_{number}")
    os.makedirs(own, exist_ok=True)
    for name in ("input_0", "output_0"):
        with open(os.path.join(own, name + ".pb"), "wb") as f:
            f.write(numpy_helper.from_array(np.ones((rows, 5), np.float32)).SerializeToString())
