#!/usr/bin/env python3
"""Writes models whose names are also used by C, by generated code, or by each other. usage: odd_names.py FOLDER"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = pathlib.Path(sys.argv[1])


def tensor(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def write(file, nodes, inputs, outputs):
    model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), ir_version=8,
                              opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(model)
    onnx.save(model, folder / file)


# A model called like a function of the C library, with an input called like a macro of <stdlib.h>.
write("abs.onnx", [helper.make_node("Abs", ["RAND_MAX"], ["y"])], [tensor("RAND_MAX", [4])], [tensor("y", [4])])
# With the entry points `a` and `a_x`, both have a macro for `a_x_z`.
write("entries.onnx", [helper.make_node("Add", ["x_z", "z"], ["y"])], [tensor("x_z", ["N", 8]), tensor("z", [1, 8])],
      [tensor("y", ["N", 8])])
# A value carried by a loop is called like the counter of the loop that copies it.
body = helper.make_graph(
    [helper.make_node("Add", ["element", "element"], ["next"]), helper.make_node("Identity", ["c"], ["goes_on"])], "body",
    [tensor("i", [], TensorProto.INT64), tensor("c", [], TensorProto.BOOL), tensor("element", [4])],
    [tensor("goes_on", [], TensorProto.BOOL), tensor("next", [4])])
write("element.onnx", [helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)],
      [tensor("m", [], TensorProto.INT64), tensor("x", [4])], [tensor("y", [4])])
# The expected output of a test is infinite.
write("log.onnx", [helper.make_node("Log", ["x"], ["y"])], [tensor("x", [2])], [tensor("y", [2])])
data = folder / "data/test_data_set_0"
data.mkdir(parents=True)
for file, values in (("input_0.pb", [0, 1]), ("output_0.pb", [-np.inf, 0])):
    onnx.save_tensor(numpy_helper.from_array(np.array(values, np.float32)), data / file)
