"""Sequences and optional values: as inputs and outputs, in loops and branches. Beside ONNX Runtime.

    sequences.py --ingot INGOT

Each model is compiled once, without its data, and run on sequences of several lengths, of elements of several sizes. Lists that
are longer than their bound, and positions beyond their end, are refused.
"""
import ctypes
import os
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import compiled_once
from compiled_once import node, sequence, tensor

F, I, B, S = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING
rng = np.random.default_rng(13)
checked = []


def optional(name, inner):
    return helper.make_value_info(name, helper.make_optional_type_proto(inner.type))


def model(nodes, inputs, outputs, weights={}, opset=18):
    graph = helper.make_graph(nodes, "network", inputs, outputs,
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def lists(*counts, most=6, rank=1):
    """Returns a list of random tensors for each of the lengths `counts`; each axis of a tensor has 1 to `most`
    elements."""
    return [[normal(*rng.integers(1, most + 1, rank)) for _ in range(count)] for count in counts]


def check(ingot, name, network, runs, dims=("*=0..8",), refused=(), want=None):
    # Every third model is also compiled with --optimize=size, and every third with its data, which
    # determines the lengths of sequences.
    checked.append(name)
    more = [[["--dynamic", "--optimize=size"]], [[]], []][len(checked) % 3]
    compiled_once.check(ingot, name, network, runs, dims, refused, want, [["--dynamic"], *more])


def operators(ingot):
    """Each sequence operator, applied to sequences that are inputs."""
    x, at = sequence("x", F, ["n"]), tensor("at", I, [])
    position = lambda value: np.array(value, np.int64)  # noqa: E731
    check(ingot, "SequenceAt", model([node("SequenceAt", ["x", "at"])], [x, at], [tensor("y", F)]),
          [{"x": each, "at": position(p)} for each, p in zip(lists(1, 3, 8), (0, -3, 7))],
          refused=[{"x": each, "at": position(p)} for each, p in zip(lists(0, 3, 3, 9), (0, 3, -4, 0))])
    check(ingot, "SequenceAt of matrices", model([node("SequenceAt", ["x", "at"]), node("Shape", ["y"], ["s"]), node("SequenceLength", ["x"], ["l"])],
                                                 [sequence("x", F, ["n", 3, "m"]), at], [tensor("y", F), tensor("s", I), tensor("l", I)]),
          [{"x": [normal(n, 3, m) for n, m in sizes], "at": position(p)} for sizes, p in (([(2, 5)], 0), ([(1, 8), (8, 1), (4, 4)], 1))],
          refused=[{"x": [normal(2, 3, 9)], "at": position(0)}])
    length = model([node("SequenceLength", ["x"])], [x], [tensor("y", I)])
    check(ingot, "SequenceLength", length, [{"x": each} for each in lists(0, 1, 8)], refused=[{"x": lists(9)[0]}])
    insert = [sequence("x", F, ["n"]), tensor("t", F, ["k"]), tensor("at", I, [])]
    check(ingot, "SequenceInsert", model([node("SequenceInsert", ["x", "t", "at"])], insert, [sequence("y", F)]),
          [{"x": each, "t": normal(k), "at": position(p)} for each, k, p in zip(lists(1, 3, 3, 8), (1, 8, 2, 5), (1, 0, -2, 3))],
          refused=[{"x": each, "t": normal(2), "at": position(p)} for each, p in zip(lists(2, 2), (3, -3))])
    check(ingot, "SequenceInsert at the end", model([node("SequenceInsert", ["x", "t"])], insert[:2], [sequence("y", F)]),
          [{"x": each, "t": normal(k)} for each, k in zip(lists(1, 8), (8, 3))])
    check(ingot, "SequenceErase", model([node("SequenceErase", ["x", "at"])], [x, at], [sequence("y", F)]),
          [{"x": each, "at": position(p)} for each, p in zip(lists(2, 3, 8), (0, -1, 4))],
          refused=[{"x": each, "at": position(p)} for each, p in zip(lists(0, 3), (0, 3))])
    check(ingot, "SequenceErase of the last", model([node("SequenceErase", ["x"])], [x], [sequence("y", F)]), [{"x": each} for each in lists(2, 7)])
    two = sequence("x", F, ["n", "m"])
    for axis in (0, 1, -1):
        def alike(count, axis=axis):
            return [normal(*(rng.integers(1, 7) if k == axis % 2 else 5 for k in range(2))) for _ in range(count)]
        check(ingot, f"ConcatFromSequence, axis={axis}", model([node("ConcatFromSequence", ["x"], axis=axis)], [two], [tensor("y", F)]),
              [{"x": alike(count)} for count in (1, 2, 8)], refused=[{"x": []}, {"x": [normal(2, 3), normal(4, 5)]}])
    for axis in (0, 1, 2, -1):
        check(ingot, f"ConcatFromSequence, new axis {axis}", model([node("ConcatFromSequence", ["x"], axis=axis, new_axis=1)], [two], [tensor("y", F)]),
              [{"x": [normal(4, 3) for _ in range(count)]} for count in (1, 5)], refused=[{"x": [normal(4, 3), normal(4, 2)]}])
    matrix, split = tensor("x", F, ["n", "m"]), tensor("s", I, [])
    for axis in (0, 1):
        check(ingot, f"SplitToSequence, axis={axis}", model([node("SplitToSequence", ["x", "s"], axis=axis)], [matrix, split], [sequence("y", F)]),
              [{"x": normal(n, m), "s": position(s)} for n, m, s in ((8, 8, 3), (5, 7, 1), (6, 4, 2), (3, 3, 8))],
              refused=[{"x": normal(4, 4), "s": position(s)} for s in (0, -1)])
        check(ingot, f"SplitToSequence, axis={axis}, without it", model([node("SplitToSequence", ["x"], axis=axis, keepdims=0)], [matrix], [sequence("y", F)]),
              [{"x": normal(n, m)} for n, m in ((8, 5), (1, 3))])
    check(ingot, "SplitToSequence by lengths", model([node("SplitToSequence", ["x", "s"], axis=1)], [matrix, tensor("s", I, [3])], [sequence("y", F)]),
          [{"x": normal(4, 8), "s": np.array(s, np.int64)} for s in ((1, 2, 5), (4, 0, 4))], refused=[{"x": normal(4, 8), "s": np.array([1, 2, 4], np.int64)}])
    check(ingot, "a position in a list", model([node("Exp", ["a"], ["e"]), node("SequenceConstruct", ["a", "e", "b"], ["l"]), node("SequenceAt", ["l", "at"])],
                                               [tensor("a", F, [3]), tensor("b", F, [5]), at], [tensor("y", F)]),
          [{"a": normal(3), "b": normal(5), "at": position(p)} for p in (0, 1, 2, -1)],
          refused=[{"a": normal(3), "b": normal(5), "at": position(3)}])


def bodies(ingot):
    """Sequences as loop states and as results of branches."""
    def body(nodes, carried, result, extra=()):
        return helper.make_graph([*nodes, node("Identity", ["on"], ["still"])], "body", [tensor("i", I, []), tensor("on", B, []), carried],
                                 [tensor("still", B, []), result, *extra])
    x = sequence("x", F, ["n"])
    grow = body([node("SequenceAt", ["x", "i"], ["e"]), node("Mul", ["e", "e"], ["q"]), node("SequenceInsert", ["s", "q"], ["t"])],
                sequence("s", F), sequence("t", F))
    start = node("SequenceEmpty", [], ["none"], dtype=F)
    check(ingot, "a loop over a sequence", model([node("SequenceLength", ["x"], ["l"]), start, node("Loop", ["l", "", "none"], ["y"], body=grow)], [x], [sequence("y", F)]),
          [{"x": each} for each in lists(1, 3, 8)])
    rows = body([node("Gather", ["m", "i"], ["r"], axis=0), node("Greater", ["r", "zero"], ["c"]), node("Compress", ["r", "c"], ["k"]),
                 node("SequenceInsert", ["s", "k"], ["t"])], sequence("s", F), sequence("t", F))
    check(ingot, "what a loop keeps of each row", model([start, node("Loop", ["n", "", "none"], ["l"], body=rows), node("ConcatFromSequence", ["l"], axis=0)],
                                                       [tensor("m", F, [6, 7]), tensor("n", I, [])], [sequence("l", F), tensor("y", F)], {"zero": np.float32(0)}),
          [{"m": normal(6, 7), "n": np.array(n, np.int64)} for n in (1, 4, 6)])
    halves = body([node("SequenceErase", ["s", "zero"], ["t"]), node("SequenceAt", ["t", "zero"], ["e"]), node("ReduceSum", ["e"], ["p"], keepdims=0)],
                  sequence("s", F), sequence("t", F), [tensor("p", F, [])])
    check(ingot, "a loop that takes elements off", model([node("Loop", ["k", "", "x"], ["y", "p"], body=halves)], [x], [sequence("y", F), tensor("p", F)],
                                                        {"zero": np.int64(0), "k": np.int64(3)}),
          [{"x": each} for each in lists(4, 5, 8)], refused=[{"x": each} for each in lists(2, 3)])
    branch = [helper.make_graph(nodes, name, [], [sequence(name, F)]) for name, nodes in (
        ("then", [node("SequenceInsert", ["x", "t"], ["then"])]), ("else", [node("SequenceConstruct", ["t", "t"], ["else"])]))]
    check(ingot, "branches of several lengths", model([node("If", ["c"], then_branch=branch[0], else_branch=branch[1])],
                                                      [x, tensor("t", F, [4]), tensor("c", B, [])], [sequence("y", F)]),
          [{"x": each, "t": normal(4), "c": np.array(c)} for each, c in zip(lists(2, 1, 8), (True, False, True))])
    square = helper.make_graph([node("Mul", ["e", "e"], ["q"]), node("Add", ["q", "t"], ["u"]), node("Shape", ["e"], ["z"])], "map",
                               [tensor("e", F, None)], [tensor("u", F, None), tensor("z", I, None)])
    network = model([node("SequenceMap", ["x"], ["y", "z"], body=square)], [x, tensor("t", F, [1])], [sequence("y", F), sequence("z", I)])
    check(ingot, "SequenceMap", network, [{"x": each, "t": normal(1)} for each in lists(1, 4, 8)],
          want=lambda run: [[e * e + run["t"] for e in run["x"]], [np.array(e.shape, np.int64) for e in run["x"]]])


def joined(ingot):
    """Tensors of a sequence that are joined or stacked, whose sizes are equal only at run time."""
    for new_axis in (0, 1):
        join = [node("SequenceConstruct", ["x", "p"], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0, new_axis=new_axis)]
        padded = model([node("Pad", ["z", "pads"], ["p"]), *join], [tensor("x", F, ["a", "b"]), tensor("z", F, ["a", "c"])], [tensor("y", F)],
                       {"pads": np.array([0, 1, 0, 0])})
        values = lambda rows, x, z: {"x": normal(rows, x), "z": normal(rows, z)}  # noqa: E731
        check(ingot, f"a tensor and one that is padded, new_axis={new_axis}", padded, [values(2, 3, 2), values(3, 5, 4)], refused=[values(2, 3, 3)])
        branches = [helper.make_graph(nodes, name, [], [tensor("y", F, None)]) for name, nodes in (
            ("then", [node("Identity", ["z"], ["p"]), *join]), ("else", [node("Unsqueeze", ["x", "zero"], ["y"]) if new_axis else node("Neg", ["x"])]))]
        network = model([node("If", ["c"], then_branch=branches[0], else_branch=branches[1])],
                        [tensor("x", F, ["a", "b"]), tensor("z", F, ["d", "e"]), tensor("c", B, [])], [tensor("y", F)], {"zero": np.array([0])})
        values = lambda c, x, z: {"x": normal(*x), "z": normal(*z), "c": np.array(c)}  # noqa: E731
        check(ingot, f"a branch that joins, new_axis={new_axis}", network, [values(True, (2, 3), (2, 3)), values(False, (2, 3), (1, 4))],
              refused=[values(True, (2, 3), (2, 4))])


def texts(ingot):
    """Sequences of strings, and strings that a loop carries or stacks."""
    words = [np.array(each, object) for each in (["a", "Köln"], ["", "x" * 40, "c"], ["a"])]
    check(ingot, "a list of strings", model([node("SequenceConstruct", ["x", "z"], ["s"]), node("SequenceAt", ["s", "at"])],
                                            [tensor("x", S, ["n"]), tensor("z", S, ["m"]), tensor("at", I, [])], [tensor("y", S)]),
          [{"x": words[0], "z": words[1], "at": np.array(at)} for at in (0, 1, -1)])
    check(ingot, "strings one by one", model([node("SplitToSequence", ["x"], ["s"], keepdims=0), node("SequenceAt", ["s", "at"])],
                                             [tensor("x", S, ["n"]), tensor("at", I, [])], [tensor("y", S)]),
          [{"x": words[1], "at": np.array(at)} for at in (0, 2, -2)])
    on = [tensor("i", I, []), tensor("on", B, [])]
    size = [node("Shape", ["x"], ["size"]), node("Squeeze", ["size"], ["n"])]
    front = helper.make_graph([node("Gather", ["x", "i"], ["e"]), node("SequenceInsert", ["s", "e", "zero"], ["t"]), node("Identity", ["on"], ["still"])],
                              "body", [*on, sequence("s", S)], [tensor("still", B, []), sequence("t", S)])
    check(ingot, "strings in reverse", model([*size, node("SequenceEmpty", [], ["none"], dtype=S), node("Loop", ["n", "", "none"], ["l"], body=front),
                                              node("ConcatFromSequence", ["l"], axis=0, new_axis=1)], [tensor("x", S, ["n"])], [tensor("y", S)], {"zero": np.int64(0)}),
          [{"x": each} for each in words])
    swap = helper.make_graph([node("Identity", ["a"], ["b2"]), node("Identity", ["b"], ["a2"]), node("Gather", ["a", "first"], ["p"]), node("Identity", ["on"], ["still"])],
                             "body", [*on, tensor("a", S), tensor("b", S)], [tensor("still", B, []), tensor("a2", S), tensor("b2", S), tensor("p", S)])
    check(ingot, "strings that a loop exchanges", model([node("Loop", ["k", "", "x", "z"], ["y", "w", "all"], body=swap)],
                                                        [tensor("x", S, [2]), tensor("z", S, [2]), tensor("k", I, [])], [tensor("y", S), tensor("w", S), tensor("all", S)],
                                                        {"first": np.int64(0)}),
          [{"x": words[0], "z": np.array(["p", "q"], object), "k": np.array(k)} for k in (0, 1, 4)])
    check(ingot, "strings of a loop without iterations", model([node("Loop", ["k", "", "x", "x"], ["y", "w", "all"], body=swap)],
                                                               [tensor("x", S, [2])], [tensor("y", S), tensor("w", S), tensor("all", S)],
                                                               {"first": np.int64(0), "k": np.int64(0)}), [{"x": words[0]}])
    # The characters of strings that a branch makes are in the memory of the branch, which the steps after it must
    # not overwrite.
    branches = [helper.make_graph([node("StringConcat", texts, ["p"]), node(op, ["f"], ["q"])], op, [], [tensor("p", S), tensor("q", F)])
                for texts, op in ((["x", "z"], "Neg"), (["z", "x"], "Abs"))]
    network = model([node("If", ["c"], ["y", "v"], then_branch=branches[0], else_branch=branches[1]), node("MatMul", ["v", "a"], ["m"]), node("Softmax", ["m"], ["s"]),
                     node("MatMul", ["s", "b"], ["w"])], [tensor("x", S, ["n"]), tensor("z", S, []), tensor("c", B, []), tensor("f", F, [1, 4])],
                    [tensor("y", S), tensor("w", F)], {"a": normal(4, 3000), "b": np.ones((3000, 4), np.float32)}, 20)
    join = lambda run, x: x + run["z"].item() if run["c"] else run["z"].item() + x  # noqa: E731
    check(ingot, "strings that a branch makes", network, [{"x": each, "z": np.array("+", object), "c": np.array(c), "f": normal(1, 4)} for each in words for c in (True, False)],
          want=lambda run: [np.array([join(run, x) for x in run["x"]], object), np.ones((1, 4), np.float32)])
    # Strings that are made before the loop: of the input, and of constants.
    pick = helper.make_graph([node("Gather", ["v", "i"], ["e"]), node("Identity", ["w"], ["f"]), node("Identity", ["on"], ["still"])],
                             "body", on, [tensor("still", B, []), tensor("e", S), tensor("f", S)])
    network = model([node("StringConcat", ["x", "z"], ["v"]), node("StringConcat", ["z", "z"], ["w"]), *size, node("Loop", ["n", ""], ["y", "all"], body=pick)],
                    [tensor("x", S, ["n"])], [tensor("y", S), tensor("all", S)], {"z": np.array("-", object)}, 20)
    check(ingot, "strings that are made before a loop", network, [{"x": each} for each in words],
          want=lambda run: [np.array([x + "-" for x in run["x"]], object), np.array(["--"] * len(run["x"]), object)])
    # A loop that is unrolled can make strings.
    grow = helper.make_graph([node("StringConcat", ["s", "z"], ["t"]), node("Identity", ["on"], ["still"])], "body", [*on, tensor("s", S)], [tensor("still", B, []), tensor("t", S)])
    check(ingot, "strings that an unrolled loop makes", model([node("Loop", ["k", "", "x"], body=grow)], [tensor("x", S, ["n"]), tensor("z", S, [])], [tensor("y", S)],
                                                              {"k": np.int64(3)}, 20),
          [{"x": each, "z": np.array("+", object)} for each in words], want=lambda run: [np.array([x + "+++" for x in run["x"]], object)])
    turn = helper.make_graph([node("Identity", ["e"], ["last2"]), node("Identity", ["last"], ["f"])], "body", [tensor("last", S, []), tensor("e", S, [])],
                             [tensor("last2", S, []), tensor("f", S, [])])
    check(ingot, "strings that Scan shifts", model([node("Scan", ["z", "x"], ["w", "y"], body=turn, num_scan_inputs=1)], [tensor("x", S, ["n"]), tensor("z", S, [])],
                                                   [tensor("w", S), tensor("y", S)]),
          [{"x": each, "z": np.array("+", object)} for each in words],
          want=lambda run: [np.array(run["x"][-1], object), np.array([run["z"].item(), *run["x"][:-1]], object)])


def interfaces(ingot):
    """Sequences and optional values of several types as inputs and outputs, also inputs that are returned
    unchanged."""
    text = [["", "Köln"], ["a", "b", "c"], ["x" * 50]]
    words = [np.array(each, object) for each in text]
    check(ingot, "strings", model([node("SequenceAt", ["x", "at"])], [sequence("x", S, ["n"]), tensor("at", I, [])], [tensor("y", S)]),
          [{"x": words[:count], "at": np.array(p, np.int64)} for count, p in ((1, 0), (3, 1), (3, -1))])
    for kind in (np.int8, np.float16, np.float64, np.bool_):
        check(ingot, f"sequences of {np.dtype(kind).name}", model([node("Identity", ["x"])], [sequence("x", helper.np_dtype_to_tensor_dtype(np.dtype(kind)), ["n", 2])],
                                                                  [sequence("y", helper.np_dtype_to_tensor_dtype(np.dtype(kind)))]),
              [{"x": [normal(n, 2).astype(kind) for n in sizes]} for sizes in ((), (3,), (1, 8, 2))], want=lambda run: [run["x"]])
    seen = [node("OptionalHasElement", ["x"], ["has"]), node("If", ["has"], then_branch=helper.make_graph(
        [node("OptionalGetElement", ["x"], ["e"]), node("Neg", ["e"], ["then"])], "then", [], [tensor("then", F, [4])]),
        else_branch=helper.make_graph([node("Identity", ["other"], ["else"])], "else", [], [tensor("else", F, [4])]))]
    check(ingot, "an optional tensor", model(seen, [optional("x", tensor("x", F, [4])), tensor("other", F, [4])], [tensor("y", F), tensor("has", B)]),
          [{"x": x, "other": normal(4)} for x in (None, normal(4))],
          want=lambda run: [run["other"] if run["x"] is None else -run["x"], np.array(run["x"] is not None)])
    get = model([node("OptionalGetElement", ["x"], ["e"]), node("SequenceLength", ["e"])], [optional("x", sequence("x", F, ["n"]))], [tensor("y", I)])
    check(ingot, "an optional sequence", get, [{"x": each} for each in lists(0, 3)], want=lambda run: [np.array(len(run["x"]), np.int64)], refused=[{"x": None}])
    check(ingot, "an optional value as it is", model([node("Identity", ["x"])], [optional("x", sequence("x", F, [3]))], [optional("y", sequence("y", F, [3]))]),
          [{"x": x} for x in (None, [], [normal(3), normal(3)])], want=lambda run: [run["x"]])


def check_tables(ingot):
    """Checks that the generated code rejects an input sequence that is too long, or whose table of shapes has
    sizes out of bounds."""
    class Io(ctypes.Structure):
        _fields_ = [("x_count", ctypes.c_ssize_t), ("y_count", ctypes.POINTER(ctypes.c_ssize_t)), ("x", ctypes.POINTER(ctypes.c_float)),
                    ("x_shapes", ctypes.POINTER(ctypes.c_int64)), ("y", ctypes.POINTER(ctypes.c_float))]

    network = model([node("SequenceAt", ["x", "zero"])], [sequence("x", F, ["n"])], [tensor("y", F)], {"zero": np.int64(0)})
    with tempfile.TemporaryDirectory() as folder:
        path, source, library = (os.path.join(folder, name) for name in ("net.onnx", "net.cpp", "net.so"))
        onnx.save(network, path)
        subprocess.run([ingot, path, "-o", source, "--dim", "x_count=0..4", "--dim", "x:0=0..5"], check=True)
        subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source, "-o", library], check=True)
        run = ctypes.CDLL(library).net_run
        arena = ctypes.create_string_buffer(1 << 16)
        aligned = (ctypes.addressof(arena) + 63) // 64 * 64
        for count, size, status in ((2, 5, 0), (4, 0, 0), (0, 5, 6), (5, 5, 6), (-1, 5, 6), (2, 6, 6), (2, -1, 6), (2, 2**62, 6)):
            made, x, y = ctypes.c_ssize_t(-7), (ctypes.c_float * 20)(*range(20)), (ctypes.c_float * 5)(*[-1] * 5)
            table = (ctypes.c_int64 * 4)(*[size] * 4)
            got = run(ctypes.byref(Io(count, ctypes.pointer(made), x, table, y)), ctypes.c_void_p(aligned), None)
            if got != status or (status and any(value != -1 for value in y)) or (not status and (made.value != size or list(y)[:size] != list(range(size)))):
                compiled_once.failures.append(f"{count} elements of {size}: status {got}")
    print("tables that no row has room for are refused by the generated code")


compiled_once.run(__doc__, operators, bodies, joined, texts, interfaces, check_tables)
