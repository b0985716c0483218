"""Writes old.onnx and new.onnx to a folder: the new one has a wider layer, another one more, and one less."""
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper


def write(path, width, last):
    values = {"w": np.ones((8, width)), "v": np.ones((width, 4))}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="bend"),
        helper.make_node("MatMul", ["b", "v"], ["c"], name="second"),
        helper.make_node(last, ["c"], ["y"], name="last", axis=1),
    ]
    tensor = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    weights = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in values.items()]
    graph = helper.make_graph(nodes, "g", [tensor("x", (1, 8))], [tensor("y", (1, 4))], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


write(f"{sys.argv[1]}/old.onnx", 16, "Softmax")
write(f"{sys.argv[1]}/new.onnx", 32, "LogSoftmax")
