"""Valid models with something that is not implemented: cases as cases.py says."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from cases import F, I64, case, info, model, node


@case("unsupported-operator", node="the_node", code=3)
def vendor_operator(folder):
    return model([node("LongformerAttention", ["x", "x"], domain="com.microsoft")],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


@case("unsupported-operator", node="first", code=3, text="is not implemented (2 nodes; the first is shown)")
def two_unsupported_operators(folder):
    return model([node("ImageDecoder", ["d"], ["a"], name="first"), node("ImageDecoder", ["d"], ["b"], name="second"),
                  node("Relu", name="fine")],
                 inputs=[info("x"), info("d", (9,), TensorProto.UINT8)], opset=20,
                 outputs=[info("y"), info("a", None, TensorProto.UINT8), info("b", None, TensorProto.UINT8)])


@case("unsupported-operator", node="behind", code=3, text="(and 1 more)")
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
def string_input(folder):
    return model([node("Identity")], inputs=[info("x", (1, 4), TensorProto.STRING)], outputs=[info("y", (1, 4), TensorProto.STRING)])


@case("unsupported-form", node="the_node", code=3, text="a scale of integers")
def scale_of_integers(folder):
    return model([node("QuantizeLinear", ["x", "s"])], inputs=[info("x"), info("s", (), TensorProto.INT32)],
                 outputs=[info("y", None, TensorProto.UINT8)], opset=23)


@case("unsupported-type", code=3)
def sequence_input(folder):
    return model([node("SequenceLength")], inputs=[helper.make_tensor_sequence_value_info("x", F, None)], outputs=[info("y", [], I64)])


@case("unsupported-form", node="the_node", code=3, text="--bind c=VALUES")
def condition_at_run_time(folder):
    branch = helper.make_graph([node("Relu", ["x"], ["t"])], "b", [], [info("t")])
    return model([node("If", ["c"], then_branch=branch, else_branch=branch)],
                 inputs=[info("x"), info("c", [], TensorProto.BOOL)])


@case("unsupported-opset", node="the_node", code=3)
def very_old_opset(folder):
    return model([node("Cast", to="FLOAT")], opset=1)


@case("runtime-shape", node="the_node", code=3)
def shape_from_large_data(folder):
    return model([node("Cast", ["x"], ["c"], name="cast", to=I64), node("ReduceSum", ["c"], ["s"], name="sum", keepdims=0),
                  node("Unsqueeze", ["s", "axis"], ["u"], name="unsqueeze"), node("Expand", ["one", "u"])],
                 inputs=[info("x", (1, 4000))], outputs=[info("y", None)],
                 initializers=[numpy_helper.from_array(np.ones(1, np.float32), "one"),
                               numpy_helper.from_array(np.zeros(1, np.int64), "axis")])
