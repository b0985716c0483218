"""Writes a matmul whose weights are external data.

    external_model.py FOLDER
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

folder = sys.argv[1]
weights = np.arange(16, dtype=np.float32) / 7
weights.tofile(os.path.join(folder, "weights.bin"))
tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 4], data_location=TensorProto.EXTERNAL)
tensor.external_data.add(key="location", value="weights.bin")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], "g",
                          [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 4))],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 4))], [tensor])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, os.path.join(folder, "model.onnx"))
