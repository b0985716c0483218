"""Small networks as ONNX Runtime's optimizer and quantizers write them, compiled beside ONNX Runtime.

    optimized_networks.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

A transformer and a convolutional network, in float, quantized with samples and while running, at each level of optimization. Float
convolutions are left in ONNX's layout: the blocked one is for one kind of processor.
"""
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

from beside_onnxruntime import Case, compare, data

Level = onnxruntime.GraphOptimizationLevel
LEVELS = {"basic": Level.ORT_ENABLE_BASIC, "extended": Level.ORT_ENABLE_EXTENDED, "all": Level.ORT_ENABLE_ALL}


class Network:
    """Nodes one after another, each with one result."""

    def __init__(self, x):
        self.x, self.nodes, self.weights, self.count = x, [], {}, 0

    def constant(self, value):
        name = f"c{len(self.weights)}"
        self.weights[name] = np.asarray(value)
        return name

    def add(self, op, *inputs, **attributes):
        self.count += 1
        inputs = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        self.nodes.append(helper.make_node(op, inputs, [f"v{self.count}"], name=f"n{self.count}", **attributes))
        return f"v{self.count}"

    def model(self, result):
        self.nodes.append(helper.make_node("Identity", [result], ["out"], name="last"))
        info = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "network", [info("x", self.x.shape)], [info("out", None)],
                                  [numpy_helper.from_array(v, k) for k, v in self.weights.items()])
        return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))


def weights(*shape):
    return data(shape) / np.float32(np.sqrt(np.prod(shape[1:]) if len(shape) > 2 else shape[0]))


def transformer():
    steps, width, heads = 12, 32, 4
    net = Network(data((2, steps, width)))

    def layer_norm(x):
        return net.add("LayerNormalization", x, np.ones(width, np.float32), np.zeros(width, np.float32), axis=-1)

    def dense(x, size, wide):
        return net.add("Add", net.add("MatMul", x, weights(wide, size)), weights(size))

    def split(x, perm):
        return net.add("Transpose", net.add("Reshape", x, np.array([2, steps, heads, width // heads])), perm=perm)

    x = layer_norm("x")
    for _ in range(2):
        query, key, value = (split(dense(x, width, width), p) for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = net.add("Div", net.add("MatMul", query, key), np.float32(np.sqrt(width // heads)))
        mixed = net.add("MatMul", net.add("Softmax", scores, axis=-1), value)
        mixed = net.add("Reshape", net.add("Transpose", mixed, perm=[0, 2, 1, 3]), np.array([2, steps, width]))
        x = layer_norm(net.add("Add", dense(mixed, width, width), x))
        wide = dense(x, 4 * width, width)
        inner = net.add("Add", net.add("Erf", net.add("Div", wide, np.float32(np.sqrt(2)))), np.float32(1))
        gelu = net.add("Mul", net.add("Mul", wide, inner), np.float32(0.5))
        x = layer_norm(net.add("Add", dense(gelu, width, 4 * width), x))
    return net.x, net.model(x)


def convolutional():
    net = Network(data((1, 3, 16, 16)))

    def convolve(x, out, of, kernel=3, **attributes):
        x = net.add("Conv", x, weights(out, of, kernel, kernel), weights(out), pads=[kernel // 2] * 4, **attributes)
        moments = [np.abs(data((out,))) + 0.5, data((out,)), data((out,)), np.abs(data((out,))) + 0.5]
        return net.add("BatchNormalization", x, *moments)

    x = net.add("Relu", convolve("x", 8, 3))
    x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = net.add("Relu", net.add("Add", convolve(net.add("LeakyRelu", convolve(x, 8, 8), alpha=0.1), 8, 8), x))
    x = net.add("Clip", convolve(x, 8, 1, group=8), np.float32(0), np.float32(6))
    x = net.add("Sigmoid", convolve(x, 12, 8, kernel=1))
    x = net.add("AveragePool", net.add("Concat", x, net.add("Sigmoid", x), axis=1), kernel_shape=[2, 2], strides=[2, 2])
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    return net.x, net.model(net.add("Softmax", net.add("Gemm", x, weights(24, 10), weights(10)), axis=-1))


class Samples(CalibrationDataReader):
    def __init__(self, x):
        self.left = [{"x": x}, {"x": x / 2}]

    def get_next(self):
        return self.left.pop() if self.left else None


def optimized(path, level, result, x):
    """The model that ONNX Runtime writes, and its results."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    options.optimized_model_filepath = result
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"], disabled_optimizers=["NchwcTransformer"])
    return onnx.load(result), session.run(None, {"x": x})


def networks():
    # ONNX Runtime adds products of bytes in 16 bits on machines without better: weights of 7 bits fit.
    quantizers = {
        "float": lambda source, result, x: os.link(source, result),
        "static": lambda source, result, x: quantize_static(source, result, Samples(x), quant_format=QuantFormat.QOperator, reduce_range=True,
                                                            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8),
        "dynamic": lambda source, result, x: quantize_dynamic(source, result, weight_type=QuantType.QInt8, reduce_range=True),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, build in (("transformer", transformer), ("convolutional", convolutional)):
            x, model = build()
            source = os.path.join(folder, f"{name}.onnx")
            onnx.save(model, source)
            for kind, quantize in quantizers.items():
                quantized = os.path.join(folder, f"{name}-{kind}.onnx")
                quantize(source, quantized, x)
                for level, value in LEVELS.items():
                    # A byte that is rounded elsewhere goes through all layers behind it.
                    case = Case(f"{name}-{kind}-{level}", [], {"x": x}, tolerance=1e-5 if kind == "float" else 0.05)
                    case.model, case.want = optimized(quantized, value, os.path.join(folder, f"{name}-{kind}-{level}.onnx"), x)
                    yield case


if __name__ == "__main__":
    sys.exit(compare(__doc__, networks()))
