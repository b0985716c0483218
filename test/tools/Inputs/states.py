"""Writes a model with key/value caches: states.py FILE."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

nodes, inputs, outputs = [], [], []
for layer in range(2):
    for kind in ("key", "value"):
        past, present = f"past_key_values.{layer}.{kind}", f"present.{layer}.{kind}"
        nodes.append(helper.make_node("Add", [past, "x"], [present]))
        inputs.append(helper.make_tensor_value_info(past, TensorProto.FLOAT, [2, 4]))
        outputs.append(helper.make_tensor_value_info(present, TensorProto.FLOAT, [2, 4]))
nodes.append(helper.make_node("Sum", [o.name for o in outputs], ["y"]))
inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]))
outputs.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4]))
graph = helper.make_graph(nodes, "cached", inputs, outputs)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
