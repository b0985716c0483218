"""A model with all operators whose results depend on the order of operations or on special
values."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

UNARY = ["Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor",
         "Gelu", "HardSigmoid", "HardSwish", "IsInf", "IsNaN", "LeakyRelu", "Log", "LogSoftmax", "Mish", "Neg", "Reciprocal",
         "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Tan",
         "Tanh", "ThresholdedRelu"]
BINARY = ["Add", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Mul", "Pow", "Sub"]
REDUCE = ["ReduceMax", "ReduceMin", "ReduceSum", "ReduceLogSumExp", "ReduceL2", "ReduceMean"]
BOOLEAN = {"Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual"}
SHAPE = [5, 16]


def values(seed):
    """Returns ordinary numbers, halves, large numbers, signed zeros, subnormal and infinite
    numbers, and NaN."""
    random = np.random.default_rng(seed)
    x = (random.standard_normal(SHAPE) * [[1], [1], [10], [1000], [1]]).astype(np.float32)
    x[1] = np.arange(-8, 8) / 2
    x[4] = [np.nan, np.inf, -np.inf, 0, -0.0, 0.5, -0.5, 1, -1, 2.5, 88.5, -88.5, 3e38, -3e38, 1e-40, 8388609]
    return x


def write(path):
    """Writes the model to `path`; returns the values of its inputs."""
    nodes, outputs = [], {}

    def add(op, inputs, kind, name=None, **attributes):
        name = name or op
        nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        outputs[name] = kind

    for op in UNARY:
        add(op, ["x"], TensorProto.BOOL if op in BOOLEAN else TensorProto.FLOAT)
    for op in BINARY:
        add(op, ["x", "y"], TensorProto.BOOL if op in BOOLEAN else TensorProto.FLOAT)
    for op in REDUCE:
        add(op, ["x", "axes"], TensorProto.FLOAT)
    add("ArgMax", ["x"], TensorProto.INT64, axis=1)
    add("Clip", ["x", "low", "high"], TensorProto.FLOAT)
    add("Mod", ["x", "y"], TensorProto.FLOAT, fmod=1)
    add("CumSum", ["x", "axis"], TensorProto.FLOAT)
    add("LayerNormalization", ["x", "scale"], TensorProto.FLOAT)
    add("QuantizeLinear", ["x", "step", "zero"], TensorProto.UINT8)
    add("DynamicQuantizeLinear", ["ordinary"], TensorProto.UINT8)
    nodes[-1].output.extend(["dynamic_scale", "dynamic_zero"])
    add("Cast", ["x"], TensorProto.FLOAT16, to=TensorProto.FLOAT16)
    add("Cast", ["Cast"], TensorProto.FLOAT, name="Widened", to=TensorProto.FLOAT)
    add("TopK", ["x", "k"], TensorProto.FLOAT)
    nodes[-1].output.append("TopK_indices")
    nodes.append(helper.make_node("Slice", ["x", "start", "end"], ["ordinary"]))
    constants = {"axes": np.array([1], np.int64), "axis": np.array(1, np.int64), "low": np.array(-2, np.float32),
                 "high": np.array(2, np.float32), "scale": np.linspace(0.5, 2, 16, dtype=np.float32),
                 "step": np.array(0.1, np.float32), "zero": np.array(128, np.uint8), "k": np.array([3], np.int64),
                 "start": np.array([0], np.int64), "end": np.array([3], np.int64)}
    # Moves the node that was added last to the front, since other nodes read its result.
    nodes.insert(0, nodes.pop())
    graph = helper.make_graph(
        nodes, "floats", [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in "xy"],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return {"x": values(1), "y": values(2)[::-1].copy()}
