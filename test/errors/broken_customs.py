"""Files of custom operators (--custom) that must be rejected. The form of a case is described in cases.py."""
import os

import onnx
from onnx import helper

from cases import F, case, info, model

UNARY = "- name: my.ops::Op\n  inputs: [x]\n  outputs: [y]\n"
CALL = "- name: my.ops::Op\n  function: my_op\n"


def network(shape=(2, 3), kind=F, **attributes):
    node = helper.make_node("Op", ["x"], ["y"], domain="my.ops", **attributes)
    graph = helper.make_graph([node], "custom", [info("x", list(shape), kind)], [helper.make_tensor_value_info("y", kind, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("my.ops", 1)], ir_version=9).SerializeToString()


def declared(name, text, message, id="custom-operator", model=network, **expected):
    """Adds a case with this file of declarations."""
    def build(folder):
        with open(os.path.join(folder, "ops.yaml"), "w") as file:
            file.write(text)
        return model()
    build.__name__ = "custom_" + name
    case(id, args=["--custom", "FOLDER/ops.yaml"], text=message, **expected)(build)


declared("no_list", "name: my.ops::Op\n", "is not a list of operators: line 1", file="FOLDER/ops.yaml")
declared("no_yaml", "- name: [my.ops\n", "is not a list of operators: line")
declared("unknown_key", UNARY + "  elemnt: x\n", "unknown key 'elemnt'")
declared("no_form", UNARY, "needs exactly one of `element`, `definition` and `function`")
declared("two_forms", UNARY + "  element: x\n  function: f\n", "needs exactly one of")
declared("no_domain", "- name: Op\n  inputs: [x]\n  outputs: [y]\n  element: x\n", "expected the name as DOMAIN::NAME, not `Op`")
declared("version", UNARY + "  element: x\n  version: 0\n", "`version` must be positive")
declared("scale", UNARY + "  element: x\n  scale: drop\n", "`scale` must be `keep`, not `drop`")
declared("unfinished", UNARY + "  element: x +\n", "expected a number, a name or `(` at `the end`")
declared("unbalanced", UNARY + "  element: (x + 1\n", "expected `)`")
declared("too_deep", UNARY + "  element: " + "(" * 5000 + "x\n", "expected less nesting")
declared("unknown_value", UNARY + "  element: x + z\n", "`z` is neither an input nor a number attribute with a default")
declared("unknown_function", UNARY + "  element: frobnicate(x)\n", "`frobnicate` with 1 operands is not an operator of ONNX")
declared("attribute", UNARY + "  attributes: [alpha]\n  element: x\n", "as in `alpha:float=1`, not `alpha`")
declared("default", UNARY + "  attributes: [\"alpha:float=much\"]\n  element: x\n", "`much` cannot be the default of")
declared("definition", "- definition: \"<nothing\"\n", "`definition` is not the text of an ONNX function")
declared("no_file", "- definition: nowhere.onnx\n", "cannot be read as an ONNX model")
declared("no_sizes", CALL + "  inputs: [x]\n  outputs: [\"y: float[2]\"]\n", "in the operand `x`")
declared("no_type", CALL + "  inputs: [\"x: flaot[n]\"]\n  outputs: [\"y: float[n]\"]\n", "`flaot` in the operand")
declared("no_letter", CALL + "  inputs: [\"x: T[n]\"]\n  outputs: [\"y: T[n]\"]\n", "`types` does not say what `T`")
declared("unknown_size", CALL + "  inputs: [\"x: float[n, m]\"]\n  outputs: [\"y: float[k]\"]\n", "`k` is neither a size of an input nor an attribute")
declared("no_list_of_axes", CALL + "  inputs: [\"x: float[n, m]\"]\n  outputs: [\"y: float[n...]\"]\n", "`n` is not the name of a list of axes of an input")
declared("size_and_list", CALL + "  inputs: [\"x: float[n, m]\", \"z: float[n...]\"]\n  outputs: [\"y: float[n]\"]\n", "`n` is not the name of a list of axes of an input")
declared("symbol", "- name: my.ops::Op\n  function: my-op\n  inputs: [\"x: float[n, m]\"]\n  outputs: [\"y: float[n]\"]\n", "`my-op` is not the name of a C function")
declared("letter_in_symbol", "- name: my.ops::Op\n  function: my_op_{U}\n  inputs: [\"x: float[n, m]\"]\n  outputs: [\"y: float[n]\"]\n", "in `my_op_{U}` is not a letter of `types`")
declared("long_formula", UNARY + "  element: x" + " + x" * 3000 + "\n", "a formula has more than 8000 characters")
# Declarations that the model does not fit.
declared("rank", CALL + "  inputs: [\"x: float[n]\"]\n  outputs: [\"y: float[n]\"]\n", "the input `x` has 2 axes, not 1", id="invalid-node", node="Op")
declared("element_type", CALL + "  inputs: [\"x: int8[n, m]\"]\n  outputs: [\"y: int8[n]\"]\n", "the element type of the input `x` is not int8", id="invalid-node")
declared("fixed_size", CALL + "  inputs: [\"x: float[n, 4]\"]\n  outputs: [\"y: float[n]\"]\n", "a size of the input `x` is 3, but should be 4", id="invalid-node")
declared("missing_attribute", CALL + "  inputs: [\"x: float[n, m]\"]\n  outputs: [\"y: float[n]\"]\n  attributes: [\"k:int\"]\n", "the attribute `k` is missing", id="invalid-node")


@case("cannot-read", args=["--custom", "FOLDER/nowhere.yaml"], file="FOLDER/nowhere.yaml", text="cannot be read")
def custom_no_declarations(folder):
    return network()


def with_function(folder, source=None):
    with open(os.path.join(folder, "ops.yaml"), "w") as file:
        file.write(CALL + "  inputs: [\"x: float[n, m]\"]\n  outputs: [\"y: float[n, m]\"]\n" + ("  source: [op.cpp]\n" if source is not None else ""))
    if source:
        with open(os.path.join(folder, "op.cpp"), "w") as file:
            file.write(source)
    import numpy as np

    np.save(os.path.join(folder, "x.npy"), np.ones((2, 3), np.float32))
    return network()


RUN = dict(command=["run"], args=["--custom", "FOLDER/ops.yaml", "--input", "x=FOLDER/x.npy", "--output-dir", "FOLDER/results"])


@case("custom-operator", text="no source defines the function `my_op` of a custom operator", **RUN)
def custom_no_source(folder):
    return with_function(folder)


@case("cannot-read", text="the source of a custom operator does not exist", **RUN)
def custom_lost_source(folder):
    return with_function(folder, "")


@case("custom-operator", text="does not compile as C++17", **RUN)
def custom_wrong_source(folder):
    return with_function(folder, "this is no C++\n")
