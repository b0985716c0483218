"""Writes model.onnx: a network with three layers that scores rows of 32 numbers. Its weights are random, by a seed."""

import pathlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

WIDTHS = (32, 128, 128, 1)

random = np.random.default_rng(1)
weights, nodes, value = [], [], "x"
for i, (rows, columns) in enumerate(zip(WIDTHS, WIDTHS[1:])):
    w = random.standard_normal((rows, columns)) / np.sqrt(rows)
    weights.append(numpy_helper.from_array(w.astype(np.float32), f"w{i}"))
    weights.append(numpy_helper.from_array(random.standard_normal(columns).astype(np.float32), f"b{i}"))
    nodes.append(helper.make_node("Gemm", [value, f"w{i}", f"b{i}"], [f"z{i}"], name=f"layer{i}"))
    value = "score" if columns == 1 else f"a{i}"
    nodes.append(helper.make_node("Sigmoid" if columns == 1 else "Relu", [f"z{i}"], [value], name=f"activation{i}"))
tensor = onnx.TensorProto.FLOAT
graph = helper.make_graph(
    nodes, "scores", [helper.make_tensor_value_info("x", tensor, ("batch", WIDTHS[0]))],
    [helper.make_tensor_value_info("score", tensor, ("batch", 1))], weights,
)  # fmt: skip
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, pathlib.Path(__file__).resolve().parent / "model.onnx")
