"""Models whose generated code differs from that of typical networks.

write(folder) returns their names and paths.
"""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(3)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def data(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def save(path, nodes, inputs, outputs, constants):
    graph = helper.make_graph(
        nodes, "corner", [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs], [numpy_helper.from_array(value, name) for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def one_step(path):
    """All recurrent layers with a single step, in all directions: loops with one iteration, zero biases."""
    nodes, outputs = [], []
    inputs, constants = {"x": (TensorProto.FLOAT, (1, 2, 5)), "n": (TensorProto.INT32, (2,))}, {}
    kinds = [(op, direction, {}) for op in GATES for direction in ("forward", "reverse", "bidirectional")]
    kinds.append(("GRU", "bidirectional", {"linear_before_reset": 1}))
    for number, (op, direction, attributes) in enumerate(kinds):
        directions, hidden = 2 if direction == "bidirectional" else 1, 7
        width = GATES[op] * hidden
        constants.update({f"w{number}": data(directions, width, 5), f"r{number}": data(directions, width, hidden),
                          f"b{number}": np.zeros((directions, 2 * width), np.float32)})
        for lengths in ("", "n"):
            outputs.append(f"y{number}{lengths}")
            nodes.append(helper.make_node(op, ["x", f"w{number}", f"r{number}", f"b{number}", lengths], outputs[-1:],
                                          hidden_size=hidden, direction=direction, **attributes))
    save(path, nodes, inputs, outputs, constants)


def scattered(path):
    """ScatterND and similar operators, into one row and into many, with every reduction; indices from the
    caller."""
    nodes, outputs = [], []
    inputs = {"x": (TensorProto.FLOAT, (1, 4, 6)), "one": (TensorProto.FLOAT, (1, 1, 6)), "row": (TensorProto.FLOAT, (1, 6)),
              "at": (TensorProto.INT64, (1, 1, 2)), "first": (TensorProto.INT64, (1, 1))}
    constants = {"fixed": np.array([[[0, 2]]], np.int64)}
    for reduction in ("none", "add", "mul", "max", "min"):
        for indices, updates in (("at", "one"), ("fixed", "one")):
            outputs.append(f"nd_{reduction}_{indices}")
            nodes.append(helper.make_node("ScatterND", ["x", indices, updates], outputs[-1:], reduction=reduction))
    outputs += ["elements", "gathered"]
    nodes.append(helper.make_node("ScatterElements", ["row", "first", "bit"], ["elements"], axis=1))
    nodes.append(helper.make_node("GatherND", ["x", "at"], ["gathered"]))
    constants["bit"] = data(1, 1)
    save(path, nodes, inputs, outputs, constants)


def made_sizes(path):
    """Axes known only at run time: the sizes of the result are read from an empty constant and a run-time
    tensor."""
    nodes = [helper.make_node("Unsqueeze", ["x", "axes"], ["u"]), helper.make_node("Relu", ["u"], ["out"])]
    save(path, nodes, {"x": (TensorProto.FLOAT, (3, 4, 5)), "axes": (TensorProto.INT64, (2,))}, ["out"], {})


def sequence_of_a_loop(path):
    """A loop that stores a data-dependent part of each row in a sequence."""
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Gather", ["x", "i"], ["row"], axis=0), helper.make_node("Greater", ["row", "zero"], ["c"]),
         helper.make_node("Compress", ["row", "c"], ["kept"]), helper.make_node("SequenceInsert", ["s", "kept"], ["t"]),
         helper.make_node("Identity", ["on"], ["still"])], "body",
        [info("i", TensorProto.INT64, []), info("on", TensorProto.BOOL, []), helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)],
        [info("still", TensorProto.BOOL, []), helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT, None)])
    nodes = [helper.make_node("SequenceEmpty", [], ["none"], dtype=TensorProto.FLOAT), helper.make_node("Loop", ["n", "", "none"], ["all"], body=body),
             helper.make_node("ConcatFromSequence", ["all"], ["out"], axis=0)]
    graph = helper.make_graph(nodes, "corner", [info("x", TensorProto.FLOAT, (40, 7))],
                              [info("out", TensorProto.FLOAT, None), helper.make_tensor_sequence_value_info("all", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(np.array(value), name) for name, value in (("zero", np.float32(0)), ("n", np.int64(40)))])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def long_names(path):
    """Names of tensors and nodes as written by exporters and quantizers, longer than Ingot's limit."""
    stem = "StatefulPartitionedCall/functional_1/block_12_expand_relu/Relu6_of_the_quantized_model__{}/QuantizeLinear:0"
    x, y, z = stem.format("input"), stem.format("hidden"), "a b, " + stem.format("output") * 3
    save(path, [helper.make_node("Conv", [x, "w", "b"], [y], pads=[1, 1, 1, 1], name="/" + "n" * 300 + " and more"),
                helper.make_node("Relu", [y], [z], name="with \\ */ ?\" inside")],
         {x: (TensorProto.FLOAT, (1, 3, 9, 9))}, [z], {"w": data(8, 3, 3, 3), "b": np.zeros(8, np.float32)})


def write(folder):
    os.makedirs(folder, exist_ok=True)
    models = {"one_step": one_step, "scattered": scattered, "made_sizes": made_sizes, "sequence_of_a_loop": sequence_of_a_loop,
              "the_name_of_a_model_that_is_longer_than_a_name_in_c_may_be_and_so_is_cut": long_names}
    paths = []
    for name, build in models.items():
        build(os.path.join(folder, name + ".onnx"))
        paths.append((name, os.path.join(folder, name + ".onnx")))
    return paths
