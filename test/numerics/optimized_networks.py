"""Small networks as ONNX Runtime's optimizer and quantizers write them, compiled beside ONNX Runtime.

    optimized_networks.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Transformers (as BERT, as GPT-2 and as Llama, both with a cache) and convolutional networks (residual, and as MobileNet), in float,
quantized with samples and while running, at each level of optimization. Batch and steps of those with a cache are open sizes, which
the optimizer sees and --every leaves to the run. Float convolutions are left in ONNX's layout: the blocked one is for one kind of
processor.
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
LEVELS = {"basic": Level.ORT_ENABLE_BASIC, "extended": Level.ORT_ENABLE_EXTENDED, "layout": Level.ORT_ENABLE_LAYOUT, "all": Level.ORT_ENABLE_ALL}


class Network:
    """A chain of nodes with one result each. Inputs are arrays; `symbols` names the dynamic axes."""

    def __init__(self, x=None, inputs=None, symbols=None):
        self.inputs, self.symbols = inputs or {"x": x}, symbols or {}
        self.nodes, self.weights, self.count = [], {}, 0

    def constant(self, value):
        name = f"c{len(self.weights)}"
        self.weights[name] = np.asarray(value)
        return name

    def add(self, op, *inputs, **attributes):
        self.count += 1
        inputs = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        self.nodes.append(helper.make_node(op, inputs, [f"v{self.count}"], name=f"n{self.count}", **attributes))
        return f"v{self.count}"

    def model(self, *results):
        names = ["out", *(f"out{i}" for i in range(1, len(results)))]
        for name, result in zip(names, results):
            self.nodes.append(helper.make_node("Identity", [result], [name], name=f"last_{name}"))
        shape = lambda name, value: [self.symbols.get(name, {}).get(i, size) for i, size in enumerate(value.shape)]
        graph = helper.make_graph(
            self.nodes, "network",
            [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), shape(k, v)) for k, v in self.inputs.items()],
            [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names],
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
    return net.inputs, net.model(x)


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
    return net.inputs, net.model(net.add("Softmax", net.add("Gemm", x, weights(24, 10), weights(10)), axis=-1))


# PLACES, the positions of the causal mask, exceeds the upper bound of cached plus new steps in this test, so that no
# slice of the mask is truncated.
HEADS, SIZE, WIDTH, WORDS, PLACES, PAST = 4, 8, 32, 50, 128, 5


def decoder(kv):
    """Returns a network without nodes. Its inputs are token ids and, for each of two layers, a cache of keys
    and values with `kv` heads."""
    inputs, symbols = {"ids": data((2, 6), np.int64, WORDS)}, {"ids": {0: "batch", 1: "steps"}}
    for layer in range(2):
        for part in ("key", "value"):
            inputs[f"{part}{layer}"] = data((2, kv, PAST, SIZE))
            symbols[f"{part}{layer}"] = {0: "batch", 2: "past"}
    return Network(inputs=inputs, symbols=symbols)


def scalar(net, vector, at):
    return net.add("Gather", vector, np.array(at), axis=0)


def range_of_steps(net, past):
    """Returns the position of the first new step, which is the number of cached steps, and the position after
    the last one."""
    held, steps = scalar(net, net.add("Shape", past), 2), scalar(net, net.add("Shape", "ids"), 1)
    return held, net.add("Add", held, steps)


def attended(net, query, key, value, mask):
    """Returns attention with concatenated heads; `mask` hides later positions."""
    scores = net.add("Div", net.add("MatMul", query, net.add("Transpose", key, perm=[0, 1, 3, 2])), np.float32(np.sqrt(SIZE)))
    mixed = net.add("MatMul", net.add("Softmax", mask(scores), axis=-1), value)
    return net.add("Reshape", net.add("Transpose", mixed, perm=[0, 2, 1, 3]), np.array([0, 0, HEADS * SIZE]))


def gpt2():
    net = decoder(HEADS)
    first, end = range_of_steps(net, "key0")
    one = np.array([0])
    places = net.add("Unsqueeze", net.add("Range", first, end, np.array(1)), one)
    x = net.add("Add", net.add("Gather", data((WORDS, WIDTH)), "ids"), net.add("Gather", data((PLACES, WIDTH)), places))
    triangle = np.tril(np.ones((1, 1, PLACES, PLACES), np.bool_))
    first, end = net.add("Unsqueeze", first, one), net.add("Unsqueeze", end, one)

    def mask(scores):
        rows = net.add("Slice", triangle, first, end, np.array([2]), np.array([1]))
        seen = net.add("Slice", rows, np.array([0]), end, np.array([3]), np.array([1]))
        return net.add("Where", seen, scores, np.float32(-3.4028235e38))

    def layer_norm(x):
        return net.add("LayerNormalization", x, 1 + data((WIDTH,)) / 8, data((WIDTH,)) / 8, axis=-1)

    def dense(x, size, wide):
        return net.add("Add", net.add("MatMul", x, weights(wide, size)), data((size,)) / 8)

    present = []
    for layer in range(2):
        packed = dense(layer_norm(x), 3 * WIDTH, WIDTH)
        parts = []
        for i in range(3):
            part = net.add("Slice", packed, np.array([i * WIDTH]), np.array([(i + 1) * WIDTH]), np.array([2]))
            parts.append(net.add("Transpose", net.add("Reshape", part, np.array([0, 0, HEADS, SIZE])), perm=[0, 2, 1, 3]))
        for i, part in enumerate(("key", "value")):
            parts[1 + i] = net.add("Concat", f"{part}{layer}", parts[1 + i], axis=2)
        present += parts[1:]
        x = net.add("Add", dense(attended(net, *parts, mask), WIDTH, WIDTH), x)
        wide = dense(layer_norm(x), 4 * WIDTH, WIDTH)
        cubic = net.add("Add", wide, net.add("Mul", net.add("Pow", wide, np.float32(3)), np.float32(0.044715)))
        inner = net.add("Add", net.add("Tanh", net.add("Mul", cubic, np.float32(np.sqrt(2 / np.pi)))), np.float32(1))
        x = net.add("Add", x, dense(net.add("Mul", net.add("Mul", wide, np.float32(0.5)), inner), WIDTH, 4 * WIDTH))
    return net.inputs, net.model(net.add("MatMul", layer_norm(x), weights(WIDTH, WORDS)), *present)


def llama():
    """Returns a decoder as in Llama, in which two query heads share one key head."""
    kv = HEADS // 2
    net = decoder(kv)
    first, end = range_of_steps(net, "key0")
    places = net.add("Range", first, end, np.array(1))
    angles = np.outer(np.arange(PLACES), 100.0 ** (-np.arange(SIZE // 2) / (SIZE // 2)))
    angles = np.concatenate([angles, angles], 1)[None, None].astype(np.float32)
    turns = [net.add("Gather", table, places, axis=2) for table in (np.cos(angles), np.sin(angles))]
    row = net.add("Unsqueeze", places, np.array([1]))
    seen = net.add("LessOrEqual", net.add("Range", np.array(0), end, np.array(1)), row)
    bias = net.add("Where", seen, np.float32(0), np.float32(-3.4028235e38))

    def norm(x):
        mean = net.add("ReduceMean", net.add("Pow", x, np.float32(2)), axes=[-1], keepdims=1)
        root = net.add("Sqrt", net.add("Add", mean, np.float32(1e-5)))
        return net.add("Mul", 1 + data((WIDTH,)) / 8, net.add("Mul", x, net.add("Div", np.float32(1), root)))

    def heads(x, count):
        part = net.add("Reshape", net.add("MatMul", x, weights(WIDTH, count * SIZE)), np.array([0, 0, count, SIZE]))
        return net.add("Transpose", part, perm=[0, 2, 1, 3])

    def turned(x):
        low = net.add("Slice", x, np.array([0]), np.array([SIZE // 2]), np.array([3]))
        high = net.add("Slice", x, np.array([SIZE // 2]), np.array([SIZE]), np.array([3]))
        other = net.add("Concat", net.add("Neg", high), low, axis=-1)
        return net.add("Add", net.add("Mul", x, turns[0]), net.add("Mul", other, turns[1]))

    def shared(x):
        each = net.add("Expand", net.add("Unsqueeze", x, np.array([2])), np.array([1, 1, HEADS // kv, 1, 1]))
        return net.add("Reshape", each, np.array([0, HEADS, -1, SIZE]))

    x = net.add("Gather", data((WORDS, WIDTH)), "ids")
    present = []
    for layer in range(2):
        y = norm(x)
        key = net.add("Concat", f"key{layer}", turned(heads(y, kv)), axis=2)
        value = net.add("Concat", f"value{layer}", heads(y, kv), axis=2)
        present += [key, value]
        mixed = attended(net, turned(heads(y, HEADS)), shared(key), shared(value), lambda scores: net.add("Add", scores, bias))
        x = net.add("Add", x, net.add("MatMul", mixed, weights(WIDTH, WIDTH)))
        y = norm(x)
        gate = net.add("MatMul", y, weights(WIDTH, 3 * WIDTH))
        wide = net.add("Mul", net.add("Mul", gate, net.add("Sigmoid", gate)), net.add("MatMul", y, weights(WIDTH, 3 * WIDTH)))
        x = net.add("Add", x, net.add("MatMul", wide, weights(3 * WIDTH, WIDTH)))
    return net.inputs, net.model(net.add("MatMul", norm(x), weights(WIDTH, WORDS)), *present)


def mobile():
    """Returns a network as MobileNet, with blocks that expand, apply a depthwise convolution, weight the
    channels, and project."""
    net = Network(data((1, 3, 20, 20)))

    def convolve(x, out, of, kernel=1, group=1, act=None, **attributes):
        x = net.add("Conv", x, weights(out, of // group, kernel, kernel), weights(out), pads=[kernel // 2] * 4, group=group, **attributes)
        moments = [np.abs(data((out,))) + 0.5, data((out,)) / 4, data((out,)) / 4, np.abs(data((out,))) + 0.5]
        x = net.add("BatchNormalization", x, *moments)
        if act == "Clip":
            return net.add("Clip", x, np.float32(0), np.float32(6))
        return net.add(act, x) if act else x

    def block(x, of, wide, out, act, weigh, stride=1):
        y = convolve(x, wide, of, act=act)
        y = convolve(y, wide, wide, kernel=3, group=wide, act=act, strides=[stride, stride])
        if weigh:
            z = net.add("Relu", net.add("Conv", net.add("GlobalAveragePool", y), weights(wide // 4, wide, 1, 1), weights(wide // 4)))
            z = net.add("Conv", z, weights(wide, wide // 4, 1, 1), weights(wide))
            y = net.add("Mul", net.add("HardSigmoid", z, alpha=1 / 6, beta=0.5), y)
        y = convolve(y, out, wide)
        return net.add("Add", x, y) if stride == 1 and of == out else y

    x = convolve("x", 8, 3, kernel=3, act="HardSwish", strides=[2, 2])
    x = block(x, 8, 24, 8, "Clip", False)
    x = block(x, 8, 32, 12, "HardSwish", True, stride=2)
    x = block(x, 12, 36, 12, "HardSwish", True)
    x = net.add("Flatten", net.add("GlobalAveragePool", convolve(x, 40, 12, act="HardSwish")))
    return net.inputs, net.model(net.add("Gemm", x, weights(40, 10), weights(10)))


class Samples(CalibrationDataReader):
    def __init__(self, inputs):
        self.left = [inputs, {k: v / 2 if v.dtype == np.float32 else v for k, v in inputs.items()}]

    def get_next(self):
        return self.left.pop() if self.left else None


def optimized(path, level, result, inputs):
    """Returns the model that ONNX Runtime's optimizer writes at this level, and the results of ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = level
    options.optimized_model_filepath = result
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"], disabled_optimizers=["NchwcTransformer"])
    return onnx.load(result), session.run(None, inputs)


def networks():
    # On machines without VNNI, ONNX Runtime adds products of 8-bit integers in 16 bits: 7-bit weights do not
    # overflow.
    quantizers = {
        "float": lambda source, result, inputs: os.link(source, result),
        "static": lambda source, result, inputs: quantize_static(source, result, Samples(inputs), quant_format=QuantFormat.QOperator, reduce_range=True,
                                                                 activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8),
        "dynamic": lambda source, result, inputs: quantize_dynamic(source, result, weight_type=QuantType.QInt8, reduce_range=True),
    }
    with tempfile.TemporaryDirectory() as folder:
        for build in (transformer, gpt2, llama, convolutional, mobile):
            name = build.__name__
            inputs, model = build()
            source = os.path.join(folder, f"{name}.onnx")
            onnx.save(model, source)
            for kind, quantize in quantizers.items():
                quantized = os.path.join(folder, f"{name}-{kind}.onnx")
                quantize(source, quantized, inputs)
                written = set()
                for level, value in LEVELS.items():
                    # In quantized networks, an element that is rounded differently affects all later layers:
                    # the tolerance is larger.
                    case = Case(f"{name}-{kind}-{level}", [], inputs, tolerance=1e-5 if kind == "float" else 0.05)
                    case.model, case.want = optimized(quantized, value, os.path.join(folder, f"{name}-{kind}-{level}.onnx"), inputs)
                    graph = case.model.graph.SerializeToString(deterministic=True)
                    if graph in written:  # equal to the previous level
                        continue
                    written.add(graph)
                    case.outputs = [output.name for output in case.model.graph.output]
                    yield case


def open_axes(case, name):
    """Returns the axes of an input that are dynamic in the optimized model."""
    info = next(i for i in case.model.graph.input if i.name == name)
    return [i for i, dim in enumerate(info.type.tensor_type.shape.dim) if dim.dim_param]


if __name__ == "__main__":
    sys.exit(compare(__doc__, networks(), refused=(), axes=open_axes))
