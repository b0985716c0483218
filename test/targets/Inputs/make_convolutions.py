"""Writes FILE: convolutions of 8-bit integers, with signed and unsigned inputs, with 32 and
with 3 channels.

    make_convolutions.py FILE
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(5)
nodes, inputs, outputs, constants = [], [], [], []
for sign, onnx_type in (("u", TensorProto.UINT8), ("s", TensorProto.INT8)):
    for channels in (32, 3):
        name = f"{sign}_{channels}"
        inputs.append(helper.make_tensor_value_info(f"x_{name}", onnx_type, (1, channels, 9, 9)))
        constants.append(numpy_helper.from_array(rng.integers(-128, 128, (8, channels, 3, 3)).astype(np.int8), f"w_{name}"))
        nodes.append(helper.make_node("ConvInteger", [f"x_{name}", f"w_{name}"], [f"y_{name}"], pads=[1, 1, 1, 1]))
        outputs.append(helper.make_tensor_value_info(f"y_{name}", TensorProto.INT32, (1, 8, 9, 9)))
graph = helper.make_graph(nodes, "convolutions", inputs, outputs, constants)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), sys.argv[1])
