"""Creates networks to quantize, and checks quantized ones.

    quantized.py make FOLDER                            writes net.onnx, skewed.onnx (the same function), samples, labels
    quantized.py check FOLDER FILE INGOT DECIBELS SIZE  compares FILE in ONNX Runtime and in INGOT with net.onnx;
                                                        SIZE is relative to that of net.onnx
    quantized.py largest FOLDER FILE                    prints the largest magnitude of each int8 weight of FILE
"""
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def network(factors):
    """Returns a network with convolutions, one of them depthwise, an addition and a matmul. The channels
    of the first convolution are multiplied by `factors`, which the second one undoes."""
    rng = np.random.default_rng(7)

    def weight(name, *shape):
        return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    w1, b1 = weight("w1", 16, 3, 3, 3), weight("b1", 16) * 0.2
    w2, b2 = weight("w2", 16, 1, 3, 3), weight("b2", 16) * 0.2
    w3, b3 = weight("w3", 32, 16, 1, 1), weight("b3", 32) * 0.2
    w4, b4 = weight("w4", 32, 32, 3, 3), weight("b4", 32) * 0.2
    w5, b5 = weight("w5", 10, 32), weight("b5", 10) * 0.2
    w1, b1, w2 = w1 * factors[:, None, None, None], b1 * factors, w2 / factors[:, None, None, None]
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], "depthwise", pads=[1, 1, 1, 1], group=16),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("Conv", ["r2", "w3", "b3"], ["c3"], "pointwise"),
        helper.make_node("Relu", ["c3"], ["r3"]),
        helper.make_node("Conv", ["r3", "w4", "b4"], ["c4"], "third", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c4", "r3"], ["sum"]),
        helper.make_node("GlobalAveragePool", ["sum"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w5", "b5"], ["y"], "last", transB=1),
    ]
    constants = dict(w1=w1, b1=b1, w2=w2, b2=b2, w3=w3, b3=b3, w4=w4, b4=b4, w5=w5, b5=b5)
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(v, np.float32), k) for k, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def units(count):
    """Returns a network for features from thousandths to thousands, normalized by the first matrix, and
    samples."""
    rng = np.random.default_rng(3)
    scales = np.logspace(-3, 3, 30).astype(np.float32)
    w1 = (rng.standard_normal((30, 32)) / np.sqrt(30)).astype(np.float32) / scales[:, None]
    w2 = (rng.standard_normal((32, 4)) / np.sqrt(32)).astype(np.float32)
    nodes = [helper.make_node("Gemm", ["x", "w1"], ["a"], "first"), helper.make_node("Tanh", ["a"], ["b"]),
             helper.make_node("Gemm", ["b", "w2"], ["y"], "last")]
    graph = helper.make_graph(
        nodes, "units", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 30])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
        [numpy_helper.from_array(w1, "w1"), numpy_helper.from_array(w2, "w2")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model, (rng.standard_normal((count, 30)) * scales).astype(np.float32)


def pictures(seed, count):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((count, 3, 8, 8)) + rng.standard_normal((count, 3, 1, 1)) * 2).astype(np.float32)


def run(path, x):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def make(folder):
    onnx.save(network(np.ones(16, np.float32)), folder / "net.onnx")
    onnx.save(network(np.exp2(np.arange(16) % 9 - 4).astype(np.float32)), folder / "skewed.onnx")
    model, x = units(16)
    onnx.save(model, folder / "units.onnx")
    np.savez(folder / "units.npz", x=x)
    x = pictures(1, 40)
    np.savez(folder / "samples.npz", x=x)
    np.savez_compressed(folder / "packed.npz", x=x)
    os.makedirs(folder / "folder", exist_ok=True)
    np.save(folder / "folder" / "x.npy", x)
    np.save(folder / "labels.npy", run(folder / "net.onnx", x).argmax(1))


def decibels(got, want):
    return 10 * np.log10(np.square(want).sum() / np.square(got.astype(np.float64) - want).sum())


def check(folder, name, ingot, least, size):
    x = pictures(2, 20)
    want = run(folder / "net.onnx", x).astype(np.float64)
    got = run(folder / name, x)
    share = os.path.getsize(folder / name) / os.path.getsize(folder / "net.onnx")
    print(f"{decibels(got, want):.1f} dB in ONNX Runtime, {share:.2f} of the size")
    assert decibels(got, want) >= float(least) and share <= float(size)
    np.save(folder / "one.npy", x[:1])
    subprocess.run([ingot, "run", folder / name, "--input", f"x={folder / 'one.npy'}", "--output-dir", folder / "out"],
                   check=True)
    own = np.load(folder / "out" / "y.npy")
    print(f"{decibels(own, got[:1].astype(np.float64)):.1f} dB between ONNX Runtime and Ingot")
    # Ingot and ONNX Runtime may add in different orders, so that an activation is rounded differently.
    assert decibels(own, got[:1].astype(np.float64)) >= float(least)


def largest(folder, name):
    for tensor in onnx.load(folder / name).graph.initializer:
        if tensor.data_type == TensorProto.INT8:
            print(tensor.name, np.abs(numpy_helper.to_array(tensor).astype(int)).max())


if sys.argv[1] == "make":
    make(pathlib.Path(sys.argv[2]))
elif sys.argv[1] == "largest":
    largest(pathlib.Path(sys.argv[2]), sys.argv[3])
else:
    check(pathlib.Path(sys.argv[2]), *sys.argv[3:])
