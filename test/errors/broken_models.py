"""Broken, hostile and unsupported models: each must be rejected with the right diagnostic, the right
exit code and the name of the node, and must leave no output file.

    broken_models.py INGOT DIAGNOSTICS_DEF FOLDER [NAME...]

The form of a case is described in cases.py. Every diagnostic about the model or the user's input
must have a case.
"""
import os
import re
import resource
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import broken_customs
import broken_data  # importing these modules registers their cases
import broken_detectors
import broken_machines
import broken_nodes
import broken_operands
import broken_samples
import broken_tensors
import unsupported_models
from cases import F, I64, case, cases, info, model, node, weights


# ------------------------------------------------------------------ the file

@case("empty-file")
def empty_file(folder):
    return b""


@case("not-onnx", text="a text file")
def text_file(folder):
    return b"hello, I am a model\n"


@case("invalid-module", args=["--start-from", "decide"])
def no_module(folder):
    return b"hello, I am a module\n"


@case("invalid-module", args=["--start-from", "plan"], text="after the stage `plan`: 'func.func' must have been converted to a program")
def module_of_another_stage(folder):
    return b"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }\n"


@case("invalid-module", args=["--start-from", "import"], text="'graph.add' op")
def module_with_a_wrong_operand(folder):
    return b"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { %y = graph.add %x : (tensor<4xf32>) -> tensor<4xf32>\n return %y : tensor<4xf32> }\n"


@case("not-onnx", text="git-lfs")
def lfs_pointer(folder):
    return b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"


@case("not-onnx", text="zip")
def zip_file(folder):
    return b"PK\x03\x04" + bytes(100)


@case("not-onnx")
def random_bytes(folder):
    return bytes((i * 197 + 13) % 256 for i in range(4000))


@case("not-onnx")
def truncated(folder):
    data = model([node("MatMul", ["x", "w"])], initializers=[weights(shape=(4, 4))]).SerializeToString()
    return data[:len(data) // 2]


@case("not-onnx")
def two_gigabyte_claim(folder):
    # Field 7 (graph) of a ModelProto claims a length of 2 GB, but only 20 bytes follow.
    return b"\x08\x08\x3a\xff\xff\xff\xff\x07" + bytes(20)


@case("file-too-large")
def two_gigabyte_file(folder):
    path = os.path.join(folder, "huge.onnx")
    with open(path, "wb") as f:
        f.truncate((1 << 31) + 10)
    return path


@case("not-onnx")
def deep_nesting(folder):
    graph = b""
    for _ in range(3000):  # graph { node { attribute { g { ...
        for tag in (b"\x32", b"\x2a", b"\x0a"):
            size, varint = len(graph), b""
            while True:
                varint += bytes([size & 127 | (128 if size > 127 else 0)])
                size >>= 7
                if not size:
                    break
            graph = tag + varint + graph
    return b"\x08\x08\x3a" + varint_of(len(graph)) + graph


def varint_of(size):
    out = b""
    while True:
        out += bytes([size & 127 | (128 if size > 127 else 0)])
        size >>= 7
        if not size:
            return out


@case("cannot-read")
def missing_file(folder):
    return os.path.join(folder, "there-is-no-such-file.onnx")


@case("cannot-read")
def folder_as_model(folder):
    return folder


@case("no-graph")
def no_graph(folder):
    m = onnx.ModelProto()
    m.ir_version = 8
    m.opset_import.add(version=17)
    return m


@case("no-graph")
def no_outputs(folder):
    return model([node("Relu")], outputs=[])


# ------------------------------------------------------------- names and structure

@case("cycle", node="a", text="#0 `a`")
def cycle(folder):
    return model([node("Add", ["x", "q"], ["p"], name="a"), node("Relu", ["p"], ["q"], name="b"),
                  node("Relu", ["q"], ["y"], name="c")])


@case("cycle", node="self")
def cycle_of_one(folder):
    return model([node("Add", ["x", "y"], ["y"], name="self")])


@case("undefined-value", node="the_node", text="did you mean `conv_out`")
def undefined_input(folder):
    return model([node("Relu", ["x"], ["conv_out"], name="first"), node("Relu", ["conv_ouf"])])


@case("undefined-value")
def undefined_output(folder):
    return model([node("Relu", ["x"], ["z"])])


@case("undefined-value", node="inner")
def undefined_in_subgraph(folder):
    branch = helper.make_graph([node("Relu", ["nowhere"], ["t"], name="inner")], "b", [], [info("t")])
    return model([node("If", ["c"], then_branch=branch, else_branch=branch)], inputs=[info("c", [], TensorProto.BOOL)])


@case("duplicate-name")
def duplicate_output(folder):
    return model([node("Relu", name="a"), node("Sigmoid", name="b")])


@case("duplicate-name")
def duplicate_input(folder):
    return model([node("Relu")], inputs=[info("x"), info("x")])


@case("duplicate-name")
def duplicate_initializer(folder):
    return model([node("MatMul", ["x", "w"])], initializers=[weights(), weights()])


@case("invalid-name")
def endless_name(folder):
    long = "n" * 1_000_000
    return model([node("Relu", ["x"], [long], name="a"), node("Relu", [long], name="b")])


# Control characters are escaped: no part of a name reaches a terminal unescaped or starts a line.
@case("unknown-operator", node="a\\x0aerror[internal-error]: made up", text="did you mean `Relu`")
def node_name_with_newline(folder):
    return model([node("Relu_", name="a\nerror[internal-error]: made up")])


@case("undefined-value", text="nothing produces the input `a\\x1b[2Jb`")
def control_characters(folder):
    return model([node("Relu", ["a\x1b[2Jb"])])


@case("invalid-name")
def input_without_name(folder):
    return model([node("Relu", ["x"])], inputs=[info("x"), info("")])


# ------------------------------------------------------- operators, domains, opsets

@case("unknown-operator", node="the_node", text="did you mean `Softmax`")
def misspelt_operator(folder):
    return model([node("SoftMax_", ["x"])])


@case("unknown-operator", node="the_node", text="before opset 14")
def operator_of_a_later_opset(folder):
    return model([node("HardSwish")], opset=9)


@case("unknown-operator", node="the_node", text="removed in opset")
def removed_operator(folder):
    return model([node("Scatter", ["x", "i", "x"])], inputs=[info("x"), info("i", (1, 4), I64)])


@case("unknown-operator", node="the_node")
def operator_name_of_a_megabyte(folder):
    return model([node("R" * 1_000_000)])


@case("unknown-domain", node="the_node", text="unknown operator `Relu` from the custom domain `my.domain`; Ingot supports "
      "ai.onnx, ai.onnx.ml and com.microsoft")
def unknown_domain(folder):
    return model([node("Relu", domain="my.domain")],
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("my.domain", 1)])


@case("missing-opset", node="the_node")
def domain_not_imported(folder):
    return model([node("Normalizer", domain="ai.onnx.ml")])


@case("assumed-opset", code=0, text="version 1 is assumed")
def vendor_not_imported(folder):
    return model([node("FastGelu", domain="com.microsoft")])


@case("assumed-opset", code=0, text="the node is read with the definition of opset 17")
def layer_normalization_of_old_opset(folder):
    return model([node("LayerNormalization", ["x", "s"])], opset=11, initializers=[weights("s", (4,))])


@case("missing-opset")
def opset_zero(folder):
    return model([node("Relu")], opset=0)


@case("future-opset", text="opset 999")
def future_opset(folder):
    return model([node("Relu")], opset=999)


@case("operand-count", node="the_node")
def too_few_inputs(folder):
    return model([node("Add", ["x"])])


@case("operand-count", node="the_node")
def too_many_inputs(folder):
    return model([node("Relu", ["x", "x"])])


@case("operand-count", node="the_node")
def required_input_empty(folder):
    return model([node("Add", ["x", ""])])


@case("operand-count", node="the_node")
def too_many_outputs(folder):
    return model([node("Relu", ["x"], ["y", "z"])])


@case("operand-type", node="the_node", text="bool")
def wrong_operand_type(folder):
    return model([node("Add", ["x", "b"])], inputs=[info("x"), info("b", (1, 4), TensorProto.BOOL)])


@case("operand-type", node="the_node")
def mixed_operand_types(folder):
    return model([node("Add", ["x", "i"])], inputs=[info("x"), info("i", (1, 4), I64)])


@case("invalid-attribute", node="the_node")
def unknown_attribute(folder):
    return model([node("Relu", slope=0.5)])


@case("invalid-attribute", node="the_node")
def attribute_of_wrong_type(folder):
    return model([node("Softmax", axis="last")])


@case("invalid-attribute", node="the_node")
def missing_attribute(folder):
    return model([node("Cast")])


@case("invalid-attribute", node="the_node", text="twice")
def attribute_twice(folder):
    m = model([node("Softmax", axis=0)])
    m.graph.node[0].attribute.append(helper.make_attribute("axis", 1))
    return m


# ------------------------------------------------------------------ shapes and types

@case("invalid-node", node="the_node", text="the output `y` cannot have the type tensor(int64)")
def dequantized_to_integers(folder):
    return model([node("DequantizeLinear", ("x", "s"), output_dtype=I64)], opset=23,
                 inputs=[info("x", (1, 4), onnx.TensorProto.INT8), info("s", ())], outputs=[info("y", (1, 4), I64)])


@case("invalid-node", node="the_node")
def matmul_of_other_sizes(folder):
    return model([node("MatMul", ["x", "w"])], initializers=[weights(shape=(5, 4))])


@case("invalid-node", node="the_node")
def shapes_do_not_broadcast(folder):
    return model([node("Add", ["x", "z"])], inputs=[info("x", (2, 4)), info("z", (2, 3))])


@case("invalid-node", node="the_node")
def axis_out_of_range(folder):
    return model([node("Softmax", axis=7)])


@case("invalid-node", node="the_node")
def permutation_that_is_none(folder):
    return model([node("Transpose", perm=[0, 0])])


@case("invalid-node", node="the_node")
def reshape_to_other_size(folder):
    return model([node("Reshape", ["x", "s"])], initializers=[numpy_helper.from_array(np.array([3, 5], np.int64), "s")],
                 outputs=[info("y", (3, 5))])


@case("invalid-node", node="the_node")
def conv_of_wrong_channels(folder):
    return model([node("Conv", ["x", "w"])], inputs=[info("x", (1, 3, 8, 8))], initializers=[weights(shape=(4, 5, 3, 3))],
                 outputs=[info("y", (1, 4, 6, 6))])


@case("invalid-shape", text="invalid shape")
def shape_that_overflows(folder):
    return model([node("Relu")], inputs=[info("x", (1 << 40, 1 << 40))], outputs=[info("y", (1 << 40, 1 << 40))])


@case("invalid-shape")
def negative_dimension(folder):
    return model([node("Relu")], inputs=[info("x", (1, -7))])


@case("invalid-shape", node="the_node")
def result_that_overflows(folder):
    return model([node("ConstantOfShape", ["s"])], inputs=[],
                 initializers=[numpy_helper.from_array(np.full(4, 1 << 30, np.int64), "s")], outputs=[info("y", None)])


@case("invalid-node", node="the_node", text="overflow")
def tile_that_overflows(folder):
    return model([node("Tile", ["x", "r"])], initializers=[numpy_helper.from_array(np.full(2, 1 << 62, np.int64), "r")],
                 outputs=[info("y", None)])


@case("declared-shape", code=0, text="is declared as float32[1,5], but is computed as f32[1,4]")
def declared_output_shape_is_wrong(folder):
    return model([node("Relu")], outputs=[info("y", (1, 5))])


@case("output-mismatch")
def declared_output_type_is_wrong(folder):
    return model([node("Relu")], outputs=[info("y", (1, 4), I64)])


@case("invalid-type")
def input_without_type(folder):
    m = model([node("Relu")])
    m.graph.input[0].ClearField("type")
    return m


@case("invalid-type")
def element_type_that_does_not_exist(folder):
    return model([node("Relu")], inputs=[info("x", (1, 4), 99)])


@case("unbound-dimension", text="--dim batch=SIZE")
def unbound_dimension(folder):
    return model([node("Relu")], inputs=[info("x", ("batch", 4))], outputs=[info("y", ("batch", 4))])


@case("unbound-dimension", text="--dim x:0=SIZE")
def input_without_shape(folder):
    return model([node("Relu")], inputs=[info("x", None)], outputs=[info("y", None)])


@case("bad-option", args=["--dim", "batch=5..2"], text="--dim: cannot parse `5..2` as the size of `batch`")
def bounds_the_wrong_way_around(folder):
    return unbound_dimension(folder)


@case("unsupported-form", code=3, args=["--dim", "n=2..9", "--dim", "m=10..20"], node="the_node")
def sizes_that_cannot_be_equal(folder):
    return model([node("Add", ["a", "b"])], inputs=[info("a", ("n", 4)), info("b", ("m", 4))], outputs=[info("y", None)])


@case("operand-count", node="the_node", text="is missing")
def optional_without_an_element(folder):
    return model([node("Optional", [], ["o"], name="empty", type=helper.make_tensor_type_proto(F, (1, 4))),
                  node("Concat", ["x", "o"], axis=0)], outputs=[info("y", None)], opset=18)


@case("unbound-value", node="the_node", text="--bind s=")
def shape_is_an_input(folder):
    return model([node("Reshape", ["x", "s"])], inputs=[info("x"), info("s", (2,), I64)], outputs=[info("y", None)])


@case("unsupported-form", code=3, args=["--dim", "h=1..3"], node="the_node", text="allow sizes from 5 on: --dim h=5..10")
def kernel_beyond_the_bounds(folder):
    return model([node("MaxPool", ["x"], kernel_shape=[6], pads=[1, 0])], inputs=[info("x", [1, 1, "h"])])


@case("bad-option", args=["--dim", "bacth=3"], text="did you mean `batch`")
def unknown_dimension(folder):
    return model([node("Relu")], inputs=[info("x", ("batch", 4))], outputs=[info("y", ("batch", 4))])


def anonymous(folder, name="?"):
    return model([node("Relu")], inputs=[info("x", (1, 3, name, name))], outputs=[info("y", None)])


@case("unbound-dimension", text="--dim x:3=SIZE")
def question_marks_are_no_symbol(folder):
    return anonymous(folder)


@case("bad-option", args=["--dim", "?=48"], text="no input has a dimension `?`")
def question_mark_given_as_a_symbol(folder):
    return anonymous(folder)


@case("bad-option", args=["--dim", "x:0=4"], text="--dim: the model fixes `x:0` to 1, not 4")
def size_of_a_fixed_dimension(folder):
    return model([node("Relu")])


@case("bad-option", args=["--dim", "x:0=1", "--dim", "x:2=3"], text="--dim sets x:2, but not x:1")
def size_behind_a_gap(folder):
    return input_without_shape(folder)


@case("bad-option", args=["--bind", "s=1,two"])
def bound_to_no_number(folder):
    return shape_is_an_input(folder)


@case("over-budget", args=["--max-flash", "50", "--target", "generic"], text="more than --max-flash 50")
def more_flash_than_there_is(folder):
    return model([node("MatMul", ["x", "w"])], initializers=[weights(shape=(4, 4))])



# ------------------------------------------------------------------------- functions

def function(name, nodes, domain="local"):
    return helper.make_function(domain, name, ["a"], ["b"], nodes,
                                [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])


def with_functions(*functions):
    return model([node("f", domain="local")], functions=functions,
                 imports=[helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])


@case("recursive-function", node="the_node")
def function_calls_itself(folder):
    return with_functions(function("f", [node("f", ["a"], ["b"], name="again", domain="local")]))


@case("recursive-function", node="the_node")
def functions_call_each_other(folder):
    return with_functions(function("f", [node("g", ["a"], ["b"], name="to_g", domain="local")]),
                          function("g", [node("f", ["a"], ["b"], name="to_f", domain="local")]))


@case("recursive-function", node="the_node")
def functions_multiply(folder):
    def level(i):
        nodes = [node(f"f{i + 1}" if i < 11 else "Relu", ["a" if k == 0 else f"t{k - 1}"],
                      ["b" if k == 9 else f"t{k}"], name=f"n{k}", **({"domain": "local"} if i < 11 else {}))
                 for k in range(10)]
        return function("f" if i == 0 else f"f{i}", nodes)
    return with_functions(*(level(i) for i in range(12)))


@case("undefined-value", node="inner")
def undefined_value_in_function(folder):
    return with_functions(function("f", [node("Relu", ["q"], ["b"], name="inner")]))


# --------------------------------------------------------------------------- running

CODES = {"Usage": 2, "Invalid": 1, "Unsupported": 3, "Comparison": 4, "Internal": 70, "Warning": 0}


def check(ingot, codes, root, name, build, diagnostic, node_name, code, args, text, command, env, most_bytes, file):
    code = codes[diagnostic] if code is None else code
    folder = os.path.join(root, name)
    os.makedirs(folder, exist_ok=True)
    built = build(folder)
    path = os.path.join(folder, "model.onnx")
    if isinstance(built, str):
        path = built
    else:
        with open(path, "wb") as f:
            f.write(built if isinstance(built, bytes) else built.SerializeToString())
    out = os.path.join(folder, "out.cpp")
    argv = [ingot, *command, path, *(a.replace("FOLDER", folder) for a in args)]
    if not command and "-o" not in args:
        argv += ["-o", out]
    limit = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))) if most_bytes else None
    # Python ignores SIGXFSZ, which a file larger than the limit raises, and its children inherit this:
    # the write fails instead.
    p = subprocess.run(argv, capture_output=True, timeout=60, env={**os.environ, **env}, preexec_fn=limit,
                       restore_signals=False)
    if build.__name__ == "two_gigabyte_file":
        os.remove(path)
    err = p.stderr.decode("utf-8", "replace")
    problems = []
    if p.returncode != code:
        problems.append(f"exit code {p.returncode}, expected {code}")
    kind = "error" if code else "warning"
    first = re.match(kind + r"\[([a-z-]+)\]", err)
    if not first or first.group(1) != diagnostic:
        problems.append(f"no {kind}[{diagnostic}] first")
    if node_name and f"`{node_name}`" not in err:
        problems.append(f"the node `{node_name}` is not named")
    if text and text not in err:
        problems.append(f"`{text}` is not in the message")
    if file and f"--> {file.replace('FOLDER', folder)}\n" not in err:
        problems.append(f"`-->` does not name {file}")
    if len(err) > 20000 or any(ord(c) < 32 and c != "\n" for c in err):
        problems.append("the message is too long or has control characters")
    if code and any(f.startswith("out") for f in os.listdir(folder)):
        problems.append("there is an output file")
    if problems:
        print(f"FAIL {name}: {'; '.join(problems)}\n{err[:1500]}")
    return not problems


def main():
    ingot, table, root, *only = sys.argv[1:]
    os.makedirs(root, exist_ok=True)
    known = re.findall(r'INGOT_DIAGNOSTIC\(\w+, "([a-z-]+)", (\w+)', open(table).read())
    codes = {i: CODES[kind] for i, kind in known}
    good = sum(check(ingot, codes, root, *c) for c in cases if not only or c[0] in only)
    if only:
        return
    # run-failed occurs only on a machine without an emulator.
    untested = {i for i, kind in known if kind != "Internal"} - {c[2] for c in cases} - {"run-failed"}
    if untested:
        print("FAIL no case for:", ", ".join(sorted(untested)))
    print(f"{good} of {len(cases)} cases are refused as expected")
    sys.exit(good != len(cases) or bool(untested))


main()
