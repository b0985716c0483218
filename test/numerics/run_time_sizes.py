"""Networks compiled once for sizes within bounds, run at several of them beside ONNX Runtime.

    run_time_sizes.py --ingot INGOT

`--dim n=1..64` leaves the batch open: one compiled model is run with batches of both bounds and
between, whole vectors and tiles or not. Sizes out of the bounds are refused.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SIZES = (1, 2, 7, 33, 64)
rng = np.random.default_rng(11)


def model(nodes, weights, shape):
    """A model of one input x [n, *shape] and one output y."""
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", *shape])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def normal(*shape):
    return rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)


def mlp():
    return model([
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], transB=1), helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["s"], transB=1), helper.make_node("Softmax", ["s"], ["y"], axis=1)],
        {"w1": normal(37, 20), "b1": normal(37), "w2": normal(10, 37), "b2": normal(10)}, [20])


def cnn():
    return model([
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("MaxPool", ["r1"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p", "dw"], ["d"], pads=[1, 1, 1, 1], group=12),
        helper.make_node("Conv", ["d", "pw"], ["q"]), helper.make_node("Add", ["p", "q"], ["s"]),
        helper.make_node("GlobalAveragePool", ["s"], ["g"]), helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "w2"], ["y"])],
        {"w1": normal(12, 3, 3, 3), "b1": normal(12), "dw": normal(12, 1, 3, 3), "pw": normal(12, 12, 1, 1),
         "w2": normal(12, 5)}, [3, 14, 14])


def rows():
    """What computes whole rows: norms, softmax, reductions; and a reshape to a size that follows."""
    return model([
        helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["l"]),
        helper.make_node("Softmax", ["l"], ["s"], axis=1), helper.make_node("ReduceMean", ["x", "axes"], ["m"]),
        helper.make_node("Add", ["s", "m"], ["a"]), helper.make_node("Reshape", ["a", "shape"], ["y"])],
        {"scale": normal(24), "bias": normal(24)}, [6, 24])


def with_integers(onnx_model):
    for name, value in (("axes", [2]), ("shape", [-1, 24])):
        onnx_model.graph.initializer.append(numpy_helper.from_array(np.array(value, np.int64), name))
    return onnx_model


def data(folder, number, inputs, outputs):
    path = os.path.join(folder, f"test_data_set_{number}")
    os.makedirs(path)
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, (name, value) in enumerate(values):
            with open(os.path.join(path, f"{kind}_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(value, name).SerializeToString())


def check(ingot, name, onnx_model):
    session = onnxruntime.InferenceSession(onnx_model.SerializeToString(), providers=["CPUExecutionProvider"])
    shape = [d.dim_value for d in onnx_model.graph.input[0].type.tensor_type.shape.dim][1:]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(onnx_model, path)
        for number, size in enumerate((*SIZES, 65)):
            x = rng.standard_normal((size, *shape)).astype(np.float32)
            sets = "fits" if size <= 64 else "too_large"
            data(os.path.join(folder, sets), number, [("x", x)], [("y", session.run(None, {"x": x})[0])])

        def test(sets, *more):
            command = [ingot, "test", path, os.path.join(folder, sets), "--dynamic", "--dim", "n=1..64", *more]
            return subprocess.run(command, capture_output=True, text=True)

        for more in ([], ["--strict"], ["--optimize=size"]):
            result = test("fits", *more)
            if result.returncode or result.stdout.count(", ok") != len(SIZES):
                sys.exit(f"{name} {more}: exit {result.returncode}\n{result.stdout}{result.stderr}")
        result = test("too_large")
        if result.returncode != 1 or "input-mismatch" not in result.stderr:
            sys.exit(f"{name} takes a size out of its bounds\n{result.stdout}{result.stderr}")
    print(f"{name}: {len(SIZES)} sizes of one compiled model agree")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--ingot", required=True)
parser.add_argument("--program")
args = parser.parse_args()
check(args.ingot, "mlp", mlp())
check(args.ingot, "cnn", cnn())
check(args.ingot, "rows", with_integers(rows()))
