"""Makes two models with large numbers and a data set each, for emit-test.test: DIR/doubles, whose expected
output is right, and DIR/integers, of which one expected element is off by one.

    make_large.py DIR
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper


def write(folder, node, x, want):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    values = [helper.make_tensor_value_info(name, kind, x.shape) for name in ("x", "y")]
    graph = helper.make_graph([node], "large", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), folder / "model.onnx")
    for name, tensor in (("input_0", x), ("output_0", want)):
        (data / f"{name}.pb").write_bytes(numpy_helper.from_array(tensor).SerializeToString())


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    x = np.array([1e200, 1, -2, 4])
    write(root / "doubles", helper.make_node("Neg", ["x"], ["y"]), x, -x)
    n = np.array([2**60, 500000])
    write(root / "integers", helper.make_node("Add", ["x", "x"], ["y"]), n, 2 * n + [1, 1])
