"""Nodes that are invalid in themselves, for broken_models.py: old and unusual
forms, loops and sequences.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from cases import I64, case, info, model, node, weights


@case("invalid-node", node="the_node", text="broadcast=1")
def opset_6_shapes_differ(folder):
    return model([node("Add", ["x", "w"])], initializers=[weights(shape=(4,))], opset=6)


@case("invalid-node", node="the_node", text="does not broadcast to the first")
def opset_6_first_would_broadcast(folder):
    return model([node("Mul", ["x", "w"], broadcast=1)], initializers=[weights(shape=(3, 4))],
                 outputs=[info("y", (3, 4))], opset=6)


@case("invalid-node", node="the_node", text="more axes than the first has from `axis` on")
def opset_6_axis_too_far(folder):
    return model([node("Sub", ["x", "w"], broadcast=1, axis=1)], initializers=[weights(shape=(4, 1))], opset=6)


@case("invalid-node", node="the_node", text="since opset 8")
def opset_7_sum_of_different_shapes(folder):
    return model([node("Sum", ["x", "w"])], initializers=[weights(shape=(4,))], opset=7)


@case("invalid-node", node="the_node", text="one element")
def range_from_two_starts(folder):
    return model([node("Range", ["a", "b", "b"])], inputs=[],
                 initializers=[weights("a", (2,), np.int64), weights("b", (0,), np.int64)],
                 outputs=[info("y", ("n",), I64)])


@case("invalid-node", node="the_node", text="the range has too many elements")
def range_of_all_negative_numbers(folder):
    bounds = [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in (("a", 0), ("b", -2**63), ("c", -1))]
    return model([node("Range", ["a", "b", "c"])], inputs=[], initializers=bounds, outputs=[info("y", ("n",), I64)])


@case("invalid-node", node="the_node", text="each scale and size must be positive")
def resized_to_a_negative_size(folder):
    sizes = numpy_helper.from_array(np.array([1, 1, -1, 4], np.int64), "s")
    return model([node("Resize", ["x", "", "", "s"])], inputs=[info("x", (1, 1, 4, 4))], initializers=[sizes])


@case("invalid-node", node="the_node", text="each scale and size must be positive")
def antialiased_to_nothing(folder):
    sizes = numpy_helper.from_array(np.array([1, 1, 0, 4], np.int64), "s")
    return model([node("Resize", ["x", "", "", "s"], mode="linear", antialias=1)], inputs=[info("x", (1, 1, 4, 4))],
                 initializers=[sizes], opset=18)


@case("invalid-node", node="the_node", text="the output `output` cannot have the type tensor(string)")
def identity_matrix_of_strings(folder):
    return model([node("EyeLike", ["x"], dtype=TensorProto.STRING)], inputs=[info("x", (2, 2))],
                 outputs=[info("y", (2, 2), TensorProto.STRING)])


@case("invalid-node", node="the_node", text="the output `y` cannot have the type tensor(string)")
def quantized_to_strings(folder):
    return model([node("QuantizeLinear", ["x", "w"], output_dtype=TensorProto.STRING)], initializers=[weights(shape=())],
                 outputs=[info("y", dtype=TensorProto.STRING)], opset=21)


@case("invalid-node", node="the_node", text="`value` must have one element")
def filled_with_nothing(folder):
    empty = helper.make_tensor("value", TensorProto.FLOAT, [0], [])
    return model([node("ConstantOfShape", ["s"], value=empty)], inputs=[], initializers=[numpy_helper.from_array(np.array([2, 3], np.int64), "s")])


@case("invalid-node", node="the_node", text="the range has too many elements")
def range_without_end(folder):
    bounds = [numpy_helper.from_array(np.array(v, np.int64), n)
              for n, v in (("a", -(1 << 62)), ("b", 1 << 62), ("c", 1))]
    return model([node("Range", ["a", "b", "c"])], inputs=[], initializers=bounds,
                 outputs=[info("y", ("n",), I64)])


@case("invalid-node", node="the_node", text="contradicts auto_pad")
def pads_beside_auto_pad(folder):
    return model([node("MaxPool", kernel_shape=[3, 3], strides=[3, 3], pads=[0, 0, 0, 0], auto_pad="SAME_UPPER")],
                 inputs=[info("x", (1, 1, 14, 14))], outputs=[info("y", (1, 1, 5, 5))])


@case("invalid-node", node="the_node", text="scalar")
def features_of_a_scalar(folder):
    m = model([helper.make_node("ArrayFeatureExtractor", ["x", "i"], ["y"], name="the_node", domain="ai.onnx.ml")],
              inputs=[info("x", ())], initializers=[weights("i", (1,), np.int64)], outputs=[info("y", (1,))],
              imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)])
    return m


@case("invalid-attribute", node="the_node", text="`body` is missing")
def loop_without_a_body(folder):
    return model([node("Loop", ["m", "c", "x"], ["y", "z"])],
                 initializers=[weights("m", (), np.int64), weights("c", (), np.bool_)])


def loop(body, inputs=("m", "c", "x"), carried=1, inits=(), outputs=("y",), collected=()):
    names = ["i", "c_in", "s_in"][:2 + carried]
    types = [info("i", (), I64), info("c_in", (), TensorProto.BOOL), info("s_in")][:2 + carried]
    graph = helper.make_graph(body, "body", types,
                              [info("c_out", (), TensorProto.BOOL), info("s_out"), *[info(name) for name in collected]])
    return model([node("Loop", inputs, outputs, body=graph)], initializers=inits)


@case("runtime-shape", node="the_node", code=3, text="bound it with --dim y_count=0..MOST")
def loop_that_collects_until_data_says_so(folder):
    body = [helper.make_node("Neg", ["s_in"], ["s_out"]), helper.make_node("Abs", ["s_in"], ["part"]),
            helper.make_node("ReduceMax", ["s_in"], ["largest"], keepdims=0),
            helper.make_node("Greater", ["largest", "zero"], ["c_out"])]
    return loop(body, ("", "c", "x"), inits=[numpy_helper.from_array(np.array(True), "c"), weights("zero", ())],
                outputs=("y", "parts"), collected=["part"])


@case("unsupported-form", node="the_node", code=3, text="a loop without a trip count and without a condition never ends")
def loop_without_end(folder):
    body = [helper.make_node("Neg", ["s_in"], ["s_out"]), helper.make_node("Identity", ["c_in"], ["c_out"])]
    return loop(body, ("", "c", "x"), inits=[numpy_helper.from_array(np.array(True), "c")])


@case("unbound-value", node="the_node", text="--dim y_0=0..MOST, or give the values with --bind m=VALUES")
def loop_that_grows_as_often_as_an_input_says(folder):
    body = [helper.make_node("Concat", ["s_in", "s_in"], ["s_out"], axis=0), helper.make_node("Identity", ["c_in"], ["c_out"])]
    m = loop(body, ("m", "", "x"))
    m.graph.input.append(info("m", (), I64))
    return m


@case("invalid-node", node="the_node", text="the body has 2 inputs")
def loop_whose_body_takes_less(folder):
    body = [helper.make_node("Identity", ["x"], ["s_out"]), helper.make_node("Identity", ["c_in"], ["c_out"])]
    return loop(body, ("m", "", "x"), carried=0, inits=[numpy_helper.from_array(np.array(2), "m")])


@case("invalid-node", node="the_node", text="the lengths of the scan inputs")
def scan_of_different_lengths(folder):
    body = helper.make_graph([helper.make_node("Add", ["a", "b"], ["c"])], "body",
                             [info("a", (4,)), info("b", (4,))], [info("c", (4,))])
    return model([node("Scan", ["x", "w"], body=body, num_scan_inputs=2)],
                 inputs=[info("x", (3, 4))], initializers=[weights()])


@case("invalid-node", node="the_node", text="position 2 is out of range for a sequence of 2 elements")
def position_behind_the_sequence(folder):
    return model([helper.make_node("SequenceConstruct", ["x", "x"], ["s"]), node("SequenceAt", ["s", "p"])],
                 initializers=[numpy_helper.from_array(np.array(2), "p")])


@case("unsupported-form", node="the_node", code=3, text="a sequence as an input is not supported")
def relu_of_a_sequence(folder):
    return model([helper.make_node("SequenceConstruct", ["x", "x"], ["s"]), node("Relu", ["s"])])


@case("output-mismatch", text="is declared as float32[1,4], but is a sequence")
def sequence_declared_as_a_tensor(folder):
    return model([helper.make_node("SequenceConstruct", ["x", "x"], ["y"])])


@case("invalid-node", node="the_node", text="one element for each channel or group")
def group_norm_scale_is_a_matrix(folder):
    return model([node("GroupNormalization", ["x", "w", "w"], num_groups=1)], initializers=[weights(shape=(3, 4))], opset=21)
