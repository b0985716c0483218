"""Quantizes models in unusual forms, and compares the results with the float models in ONNX Runtime.

    quantized_forms.py INGOT FOLDER

Each function of FORMS returns a model, the least signal-to-noise ratio of its quantized form in decibels, and the
constants that must be quantized. The result is written to another folder than the model.
"""
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

INGOT, FOLDER = sys.argv[1:3]
SAMPLES = 16
RANDOM = np.random.default_rng(5)
node, info = helper.make_node, helper.make_tensor_value_info


def data(*shape):
    return (RANDOM.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)


def model(nodes, shape, constants, outputs=("y",), opset=17, functions=(), sparse=()):
    graph = helper.make_graph(nodes, "g", [info("x", TensorProto.FLOAT, shape)],
                              [info(name, TensorProto.FLOAT, None) for name in outputs],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
                              sparse_initializer=sparse)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("my", 1)],
                             ir_version=8, functions=functions)


def column():
    """BatchNormalization after a Gemm whose C is a column, which is not a bias of the channels."""
    norm = {"scale": data(4) + 1, "shift": data(4), "mean": data(4), "variance": np.abs(data(4)) + 1}
    nodes = [node("Gemm", ["x", "w", "c"], ["g"]), node("BatchNormalization", ["g", *norm], ["n"]),
             node("Gemm", ["n", "v"], ["y"])]
    return model(nodes, (4, 8), {"w": data(8, 4), "c": 5 * data(4, 1), "v": data(4, 6), **norm}), 18, "wv"


def bias_read_elsewhere():
    """Biases that are outputs of the model, or are read by a branch."""
    branches = {f"{kind}_branch": helper.make_graph([node("Add", ["a", "c"], [kind])], kind, [], [info(kind, TensorProto.FLOAT, None)])
                for kind in ("then", "else")}
    nodes = [node("Gemm", ["x", "w", "b"], ["g"]), node("Relu", ["g"], ["r"]), node("Gemm", ["r", "v", "c"], ["a"]),
             node("ReduceMax", ["a"], ["largest"], keepdims=0), node("Greater", ["largest", "zero"], ["is_positive"]),
             node("If", ["is_positive"], ["y"], **branches)]
    constants = {"w": data(32, 32) + np.float32(0.1), "v": data(32, 32) + np.float32(0.1), "b": data(32) / 100,
                 "c": data(32) / 100, "zero": np.float32(0)}
    return model(nodes, (4, 32), constants, ("y", "b")), 18, "wv"


def groups():
    """Two convolutions with the same weight, but with different numbers of groups."""
    nodes = [node("Conv", ["x", "w"], ["c"], pads=[1] * 4), node("Relu", ["c"], ["r"]),
             node("Conv", ["r", "w"], ["g"], group=2), node("Conv", ["g", "v"], ["y"])]
    return model(nodes, (1, 2, 10, 10), {"w": data(4, 2, 3, 3), "v": data(4, 4, 1, 1)}), 18, "v"


def types():
    """Products of tensors that are not float32 stay as they are."""
    nodes, last = [node("MatMul", ["x", "w"], ["a"])], "a"
    constants = {"w": 4 * data(32, 32), "v": data(32, 32)}
    for kind in ("int32", "float64", "float16"):
        constants[kind] = RANDOM.integers(-2, 3, (32, 32)).astype(kind)
        to = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        nodes += [node("Cast", [last], [f"{kind}_x"], to=to), node("MatMul", [f"{kind}_x", kind], [f"{kind}_y"]),
                  node("Cast", [f"{kind}_y"], [f"{kind}_f"], to=TensorProto.FLOAT)]
        last = f"{kind}_f"
    return model([*nodes, node("MatMul", [last, "v"], ["y"])], (4, 32), constants), 18, "wv"


def constant_operands():
    """A product of constants that is too large to be stored."""
    nodes = [node("MatMul", ["column", "row"], ["p"]), node("Add", ["x", "p"], ["a"]), node("MatMul", ["a", "w"], ["y"])]
    return model(nodes, (200, 200), {"column": data(200, 1), "row": data(1, 200), "w": data(200, 16)}), 18, "w"


def old():
    """A function, and a sparse constant, in a model of an opset that has to be raised."""
    double = helper.make_function("my", "Double", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 11)])
    sparse = helper.make_sparse_tensor(numpy_helper.from_array(data(5), "s"),
                                       numpy_helper.from_array(np.array([1, 40, 77, 300, 900]), "s_indices"), [32, 32])
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("MatMul", ["a", "s"], ["m"]), node("Add", ["a", "m"], ["n"]),
             node("Double", ["n"], ["d"], domain="my"), node("MatMul", ["d", "v"], ["y"])]
    return model(nodes, (4, 32), {"w": data(32, 32), "v": data(32, 32)}, opset=11, functions=[double], sparse=[sparse]), 18, "wv"


def old_hardmax():
    """A Hardmax of opset 11, which acts on all axes from the second on together."""
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Reshape", ["a", "shape"], ["r"]), node("Hardmax", ["r"], ["h"]),
             node("Reshape", ["h", "flat"], ["f"]), node("MatMul", ["f", "v"], ["y"])]
    return model(nodes, (4, 32), {"w": data(32, 32), "v": data(32, 32), "shape": np.array([4, 4, 8]), "flat": np.array([4, 32])},
                 opset=11), 18, "wv"


def external():
    """External data: weights, of which one is transposed; a bias; a constant of a branch."""
    branches = {f"{kind}_branch": helper.make_graph([node("Add", ["a", f"{kind}_c"], [kind])], kind, [], [info(kind, TensorProto.FLOAT, None)],
                                                    [numpy_helper.from_array(data(64), f"{kind}_c")]) for kind in ("then", "else")}
    nodes = [node("Transpose", ["w"], ["t"]), node("MatMul", ["x", "t"], ["m"]), node("Relu", ["m"], ["r"]),
             node("Gemm", ["r", "v", "b"], ["a"]), node("ReduceMax", ["a"], ["largest"], keepdims=0),
             node("Greater", ["largest", "zero"], ["is_positive"]), node("If", ["is_positive"], ["y"], **branches)]
    made = model(nodes, (4, 64), {"w": data(64, 64), "v": data(64, 64), "b": data(64), "zero": np.float32(0)})
    onnx.external_data_helper.convert_model_to_external_data(made, location="external.data", size_threshold=0, convert_attribute=True)
    return made, 18, "tv"


def axes():
    """A convolution that reads the result of a product, and the other way round: their channels are along different axes, of equal
    size, whose ranges differ."""
    scales = np.logspace(-1, 1, 8).astype(np.float32)
    nodes = [node("Mul", ["x", "rows"], ["m"]), node("MatMul", ["m", "w"], ["a"]), node("Relu", ["a"], ["r"]),
             node("Conv", ["r", "v"], ["c"]), node("Relu", ["c"], ["s"]), node("MatMul", ["s", "u"], ["y"])]
    constants = {"rows": scales[:, None], "w": data(16, 8) * scales, "v": data(8, 8, 1), "u": data(8, 8)}
    return model(nodes, (1, 8, 16), constants), 18, ""


FORMS = (axes, column, bias_read_elsewhere, groups, types, constant_operands, old, old_hardmax, external)


def run(path, x):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, {"x": x})


def check(form):
    name = form.__name__
    made, least, quantized = form()
    path, samples, result = (os.path.join(FOLDER, file) for file in (name + ".onnx", name + ".npy", f"results/{name}.onnx"))
    os.makedirs(os.path.dirname(result), exist_ok=True)
    onnx.save(made, path)
    shape = [dim.dim_value for dim in made.graph.input[0].type.tensor_type.shape.dim]
    x = RANDOM.standard_normal((SAMPLES * shape[0], *shape[1:])).astype(np.float32)
    np.save(samples, x)
    for kind in ("int8", "int8-weights"):
        done = subprocess.run([INGOT, "quantize", path, "--quantize", kind, "--calibrate", samples, "--max-loss", "20dB", "-o", result],
                              capture_output=True, text=True)
        if done.returncode:
            return done.stderr or f"exit code {done.returncode}"
        constants = {tensor.name: tensor.data_type for tensor in onnx.load(result, load_external_data=False).graph.initializer}
        floats = [weight for weight in quantized if constants.get(weight + "_q") not in (TensorProto.INT8, TensorProto.UINT4)]
        if floats:
            return f"{kind}: {floats} are not quantized"
        try:
            results = run(result, x[: shape[0]])
        except Exception as error:  # each failure of ONNX Runtime is a class of its own
            return f"{kind}: {error}"
        for got, want in zip(results, run(path, x[: shape[0]])):
            noise = float(np.square(got - want, dtype=np.float64).sum())
            decibels = 10 * np.log10(float(np.square(want, dtype=np.float64).sum()) / max(noise, 1e-30))
            if decibels < least:
                return f"{kind}: {decibels:.1f} dB"
    return ""


def check_nothing():
    """A model without weights is no quantized model."""
    path, result = os.path.join(FOLDER, "nothing.onnx"), os.path.join(FOLDER, "nothing_q.onnx")
    onnx.save(model([helper.make_node("Relu", ["x"], ["y"])], [1, 4], {}), path)
    done = subprocess.run([INGOT, "quantize", path, "--quantize", "int8-weights", "-o", result], capture_output=True, text=True)
    return "" if done.returncode == 1 and "nothing can be quantized" in done.stderr and not os.path.exists(result) else done.stderr or "written"


failures = {form.__name__: check(form) for form in FORMS} | {"nothing": check_nothing()}
for name, failure in failures.items():
    print(f"{name}: {failure or 'ok'}")
sys.exit(any(failures.values()))
