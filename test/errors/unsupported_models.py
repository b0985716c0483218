"""Valid models with features that are not implemented: cases in the form of
cases.py."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from cases import F, I64, case, info, model, node


@case("unsupported-operator", node="the_node", code=3)
def vendor_operator(folder):
    return model([node("LongformerAttention", ["x", "x"], domain="com.microsoft")],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


@case("unsupported-operator", node="the_node", code=3, text="optimize it with at most ORT_ENABLE_EXTENDED")
def operator_of_one_processor(folder):
    return model([node("ReorderOutput", domain="com.microsoft.nchwc", channels=4)],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft.nchwc", 1)])


@case("unsupported-operator", node="the_node", code=3, text="select the tokens in the calling program")
def search_of_beams(folder):
    return model([node("BeamSearch", ["x", "x", "x"], domain="com.microsoft")],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


def heads(shape, **attrs):
    """Returns a model with attention on one tensor whose sizes are dynamic."""
    return model([node("MultiHeadAttention", ["x"] if len(shape) == 5 else ["x", "x", "x"], domain="com.microsoft", num_heads=2, **attrs)],
                 inputs=[info("x", shape)], outputs=[info("y", None)], imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


@case("unsupported-form", node="the_node", code=3, args=["--dim", "*=..8"], text="the size of a head (width) must be known when compiling")
def packed_heads_of_a_size_of_the_run(folder):
    return heads(("batch", "steps", 2, 3, "width"))


@case("unsupported-form", node="the_node", code=3, args=["--dim", "*=..8"], text="fix the size: --dim width=SIZE")
def heads_of_a_size_of_the_run(folder):
    return heads(("batch", "steps", "width"))


def tokens(shape=(2,), **attrs):
    attributes = {"mark": 0, "mincharnum": 1, "pad_value": "#"} | attrs
    return model([node("Tokenizer", ["x"], domain="com.microsoft", **attributes)], inputs=[info("x", shape, TensorProto.STRING)],
                 outputs=[info("y", None, TensorProto.STRING)], imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


@case("unsupported-form", node="the_node", code=3, text="an anchor or an edge of words")
def tokens_between_edges(folder):
    return tokens(tokenexp=r"\b\w+\b")


@case("unsupported-form", node="the_node", code=3, text="export the model with `tokenexp`")
def tokens_between_separators(folder):
    return tokens(separators=[" ", ","])


@case("unsupported-form", node="the_node", code=3, text="export the model with mark=0")
def tokens_with_marks(folder):
    return tokens(tokenexp="a", mark=1)


@case("invalid-node", node="the_node", text="exactly one of `separators` and `tokenexp` must be given")
def tokens_of_nothing(folder):
    return tokens()


@case("unsupported-operator", node="first", code=3, text="is not implemented (2 nodes; the first is shown)")
def two_unsupported_operators(folder):
    return model([node("ImageDecoder", ["d"], ["a"], name="first"), node("ImageDecoder", ["d"], ["b"], name="second"),
                  node("Relu", name="fine")],
                 inputs=[info("x"), info("d", (9,), TensorProto.UINT8)], opset=20,
                 outputs=[info("y"), info("a", None, TensorProto.UINT8), info("b", None, TensorProto.UINT8)])


@case("unsupported-operator", node="behind", code=3, text="(200 nodes; the first is shown)")
def unsupported_behind_unsupported(folder):
    nodes = [node("First", ["x"], ["a"], name="before", domain="com.microsoft"), node("Relu", ["a"], ["b"], name="fine")]
    nodes += [node("Second", ["b"], [f"c{i}"], name="behind" if i == 0 else f"n{i}", domain="com.microsoft")
              for i in range(200)]
    nodes.append(node("Sum", [f"c{i}" for i in range(200)]))
    return model(nodes, imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


@case("unknown-domain", node="n0", text="(182 nodes; the first is shown)")
def many_nodes_of_an_unknown_domain(folder):
    nodes = [node("RequantShift", ["x"], [f"y{i}" if i else "y"], name=f"n{i}", domain="pytorch.quant") for i in range(182)]
    return model(nodes, imports=[helper.make_opsetid("", 17), helper.make_opsetid("pytorch.quant", 1)])


@case("undefined-value", text="error[undefined-value]: and 50 more of this kind")
def many_different_faults(folder):
    return model([node("Relu", [f"none{i}"], [f"y{i}" if i else "y"], name=f"n{i}") for i in range(150)])


@case("unsupported-type", code=3)
def distinct_strings(folder):
    return model([node("Unique")], inputs=[info("x", (4,), TensorProto.STRING)], outputs=[info("y", None, TensorProto.STRING)])


@case("unsupported-form", node="the_node", code=3, text="an integer scale is not supported")
def scale_of_integers(folder):
    return model([node("QuantizeLinear", ["x", "s"])], inputs=[info("x"), info("s", (), TensorProto.INT32)],
                 outputs=[info("y", None, TensorProto.UINT8)], opset=23)


@case("unbound-dimension", text="--dim x:0=0..16")
def sequence_of_tensors_of_unknown_rank(folder):
    return model([node("SequenceLength")], inputs=[helper.make_tensor_sequence_value_info("x", F, None)], outputs=[info("y", [], I64)])


@case("unsupported-form", node="the_node", code=3, text="--bind c=VALUES")
def branches_of_unlike_shapes_at_run_time(folder):
    branch = helper.make_graph([node("Relu", ["x"], ["t"])], "b", [], [info("t")])
    larger = helper.make_graph([node("ReduceSum", ["x"], ["t"], keepdims=0)], "b", [], [info("t")])
    return model([node("If", ["c"], then_branch=branch, else_branch=larger)],
                 inputs=[info("x"), info("c", [], TensorProto.BOOL)])


@case("unsupported-opset", node="the_node", code=3)
def very_old_opset(folder):
    return model([node("Selu")], opset=1)


@case("runtime-shape", node="the_node", code=3)
def shape_from_large_data(folder):
    return model([node("Cast", ["x"], ["c"], name="cast", to=I64), node("ReduceSum", ["c"], ["s"], name="sum", keepdims=0),
                  node("Unsqueeze", ["s", "axis"], ["u"], name="unsqueeze"), node("Expand", ["one", "u"])],
                 inputs=[info("x", (1, 4000))], outputs=[info("y", None)],
                 initializers=[numpy_helper.from_array(np.ones(1, np.float32), "one"),
                               numpy_helper.from_array(np.zeros(1, np.int64), "axis")])


def trained(op, inputs, version=3, outputs=("y",), **attrs):
    return model([node(op, [i.name for i in inputs], outputs, domain="ai.onnx.ml", **attrs)], inputs=inputs, outputs=[info("y", None)],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)])


@case("unsupported-form", node="the_node", code=3, text="probabilities of more than 64 classes")
def probabilities_of_many_classes(folder):
    pairs = 65 * 64 // 2
    return trained("SVMClassifier", [info("x", (2, 1))], outputs=("label", "y"), support_vectors=[1.0] * 65, coefficients=[1.0] * (65 * 64),
                   vectors_per_class=[1] * 65, rho=[0.0] * pairs, prob_a=[1.0] * pairs, prob_b=[0.0] * pairs, classlabels_ints=list(range(65)))


@case("invalid-node", node="the_node", text="`prob_a` and `prob_b` need a number for each of 3 pairs of classes")
def probabilities_of_other_classes(folder):
    return trained("SVMClassifier", [info("x", (2, 1))], outputs=("label", "y"), support_vectors=[1.0, 2.0, 3.0], coefficients=[1.0] * 6, vectors_per_class=[1, 1, 1],
                   rho=[0.0] * 3, prob_a=[1.0] * 2, prob_b=[0.0] * 3, classlabels_ints=[0, 1, 2])


@case("invalid-node", node="the_node", text="unknown post_transform 7")
def trees_with_an_unknown_transform(folder):
    tensor = lambda values, dtype=np.float32: numpy_helper.from_array(np.array(values, dtype))
    return trained("TreeEnsemble", [info("x", (2, 1))], version=5, nodes_featureids=[0], nodes_splits=tensor([0.5]), nodes_modes=tensor([0], np.uint8),
                   nodes_truenodeids=[0], nodes_falsenodeids=[1], nodes_trueleafs=[1], nodes_falseleafs=[1], leaf_targetids=[0, 0],
                   leaf_weights=tensor([1.0, 2.0]), tree_roots=[0], post_transform=7)


@case("invalid-node", node="the_node", text="there are 3 coefficients for 1 targets of 4 features")
def coefficients_of_other_features(folder):
    return trained("LinearRegressor", [info("x", (2, 4))], coefficients=[1.0, 2.0, 3.0])


@case("invalid-node", node="the_node", text="`scale` has 3 numbers for 4 features")
def scales_of_other_features(folder):
    return trained("Scaler", [info("x", (2, 4))], offset=[0.0], scale=[1.0, 2.0, 3.0])


@case("invalid-node", node="the_node", text="there are 2 keys for 1 values")
def keys_without_values(folder):
    return trained("LabelEncoder", [info("x", (2, 4))], keys_floats=[1.0, 2.0], values_floats=[3.0])


@case("two-readings", code=0, node="the_node", text="the length 7 of axis 3 times its scale is not an integer")
def corners_of_a_length_that_is_rounded(folder):
    scales = numpy_helper.from_array(np.array([1, 1, 1, 1.5], np.float32), "scales")
    return model([node("Resize", ["x", "", "scales"], mode="linear", coordinate_transformation_mode="align_corners")],
                 inputs=[info("x", (1, 1, 4, 7))], outputs=[info("y", None)], initializers=[scales])


@case("declared-shape", code=0, text="is declared as a sequence of maps, but is computed as f32[2,2]")
def maps_as_a_result(folder):
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(I64, helper.make_tensor_type_proto(F, [])))
    zipped = trained("ZipMap", [info("x", (2, 2))], classlabels_int64s=[1, 2])
    zipped.graph.output[0].type.CopyFrom(maps)
    return zipped


@case("unsupported-form", code=3, node="the_node", args=["--dim", "a=1..8", "--dim", "b=2..8"], text="set a lower bound of 2: --dim a=2..8")
def rank_that_depends_on_a_size(folder):
    return model([node("Squeeze")], inputs=[info("x", ("a", "b", 3))], outputs=[info("y", None)])


@case("unsupported-form", code=3, node="the_node", args=["--dim", "*=0..8"], text="axis 1, whose size `n` may be 1")
def rank_that_depends_on_a_size_after_one_that_does_not(folder):
    return model([node("Squeeze")], inputs=[info("x", (1, "n"))], outputs=[info("y", None)])


def joining_loop(nodes):
    """Returns a model with a Loop whose body computes `t` from the strings `s` of the iteration before."""
    body = helper.make_graph([*nodes, node("Identity", ["on"], ["still"], "")], "body",
                             [info("i", (), I64), info("on", (), TensorProto.BOOL), info("s", (2,), TensorProto.STRING)],
                             [info("still", (), TensorProto.BOOL), info("t", (2,), TensorProto.STRING)])
    return model([node("Loop", ["n", "", "x"], body=body)], inputs=[info("n", (), I64), info("x", (2,), TensorProto.STRING)],
                 outputs=[info("y", None, TensorProto.STRING)], opset=20)


@case("unsupported-form", code=3, node="the_node", text="returns strings that it makes")
def strings_that_a_loop_makes(folder):
    return joining_loop([node("StringConcat", ["s", "x"], ["t"], "")])


@case("unsupported-form", code=3, node="the_node", text="returns strings that it makes")
def strings_that_a_branch_in_a_loop_makes(folder):
    then, other = (helper.make_graph(nodes, "branch", [], [info("b", (2,), TensorProto.STRING)])
                   for nodes in ([node("StringConcat", ["s", "x"], ["b"], "")], [node("Identity", ["x"], ["b"], "")]))
    choose = [node("Equal", ["s", "x"], ["e"], ""), node("Cast", ["e"], ["f"], "", to=F), node("ReduceMax", ["f"], ["g"], "", keepdims=0),
              node("Cast", ["g"], ["c"], "", to=TensorProto.BOOL)]
    return joining_loop([*choose, node("If", ["c"], ["t"], "", then_branch=then, else_branch=other)])
