"""If, Loop and Scan that are decided at run time, compiled once and run on several inputs beside ONNX Runtime.

    control_flow.py --ingot INGOT [--target NAME]

Nothing is bound to the inputs: conditions, numbers of iterations and lengths are those of the run.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node
rng = np.random.default_rng(5)


def info(name, shape=None, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def tensors(values):
    out = []
    for name, value in values.items():
        value = np.asarray(value)
        kind = {"i": np.int64, "b": np.bool_}.get(value.dtype.kind, np.float32)
        out.append(numpy_helper.from_array(value.astype(kind), name))
    return out


def body(nodes, inputs, outputs, weights=None):
    return helper.make_graph(nodes, "body", inputs, outputs, tensors(weights or {}))


def model(nodes, inputs, outputs, weights=None, opset=18):
    graph = helper.make_graph(nodes, "network", inputs, outputs, tensors(weights or {}))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def normal(*shape):
    return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def branches():
    """An If with weights and captured values in its branches, one of which contains another If."""
    inner = node("If", ["large"], ["v"], then_branch=body([node("Sigmoid", ["x"], ["p"])], [], [info("p")]),
                 else_branch=body([node("Mul", ["x", "h"], ["q"])], [], [info("q")]))
    nodes = [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["positive"]),
             node("Greater", ["sum", "most"], ["large"]), node("Tanh", ["x"], ["h"]),
             node("If", ["positive"], ["y", "z"],
                  then_branch=body([inner, node("MatMul", ["v", "w"], ["a"]), node("Relu", ["a"], ["b"]), node("Identity", ["x"], ["c"])],
                                   [], [info("b"), info("c")], {"w": normal(12, 12)}),
                  else_branch=body([node("Softmax", ["h"], ["b2"]), node("Neg", ["h"], ["c2"])], [], [info("b2"), info("c2")]))]
    return (model(nodes, [info("x", [3, 12])], [info("y"), info("z")], {"zero": 0.0, "most": 6.0}),
            [{"x": rng.standard_normal((3, 12)).astype(np.float32) + shift} for shift in (-1, 0.1, 1)], [])


def sample_rate():
    """A detector with a state, whose filters depend on the sample rate, as in silero-vad."""
    def branch(size, stride):
        return body([node("Conv", ["x", "filters"], ["d"], strides=[stride]), node("Relu", ["d"], ["a"]),
                     node("ReduceMean", ["a", "axes"], ["features"], keepdims=0)], [], [info("features")],
                    {"filters": normal(16, 1, size), "axes": [2]})
    nodes = [node("Equal", ["sr", "high"], ["is_high"]),
             node("If", ["is_high"], ["f"], then_branch=branch(32, 8), else_branch=branch(16, 4)),
             node("Unsqueeze", ["f", "first"], ["sequence"]),
             node("LSTM", ["sequence", "w", "r", "", "", "h", "c"], ["", "hn", "cn"], hidden_size=8),
             node("Squeeze", ["hn", "first"], ["last"]), node("MatMul", ["last", "out"], ["score"]), node("Sigmoid", ["score"], ["p"])]
    inputs = [info("x", [1, 1, 512]), info("sr", [], INT64), info("h", [1, 1, 8]), info("c", [1, 1, 8])]
    return (model(nodes, inputs, [info("p"), info("hn"), info("cn")],
                  {"high": 16000, "first": [0], "w": normal(1, 32, 16), "r": normal(1, 32, 8), "out": normal(8, 1)}),
            [{"x": normal(1, 1, 512) * 20, "sr": np.array(rate), "h": normal(1, 1, 8), "c": normal(1, 1, 8)} for rate in (16000, 8000)], [])


def counted():
    """A loop whose trip count is an input; it uses the iteration number and a state that does not change."""
    step = body([node("MatMul", ["h", "w"], ["m"]), node("Cast", ["i"], ["number"], to=FLOAT), node("Add", ["m", "number"], ["s"]),
                 node("Tanh", ["s"], ["t"]), node("Mul", ["t", "k"], ["h2"]), node("Identity", ["go"], ["go2"]), node("Identity", ["k"], ["k2"])],
                [info("i", [], INT64), info("go", [], BOOL), info("h", [2, 20]), info("k", [2, 1])],
                [info("go2", [], BOOL), info("h2", [2, 20]), info("k2", [2, 1])], {"w": normal(20, 20)})
    return (model([node("Loop", ["n", "", "x", "scale"], ["y", "z"], body=step)],
                  [info("x", [2, 20]), info("scale", [2, 1]), info("n", [], INT64)], [info("y"), info("z")]),
            [{"x": normal(2, 20), "scale": normal(2, 1), "n": np.array(n)} for n in (0, 1, 2, 7, 100)], [])


def doubled():
    """A loop whose body reads a constant that 60 operators outside have doubled: the number of ways to the constant is 2^60."""
    doublings = [node("Add", [f"c{i}", f"c{i}"], [f"c{i + 1}"]) for i in range(60)]
    step = body([node("Add", ["h", "c60"], ["h2"]), node("Identity", ["go"], ["go2"])],
                [info("i", [], INT64), info("go", [], BOOL), info("h", [3])], [info("go2", [], BOOL), info("h2", [3])])
    return (model([*doublings, node("Loop", ["n", "", "x"], ["y"], body=step)], [info("x", [3]), info("n", [], INT64)], [info("y")],
                  {"c0": np.array([1, 2, 3], np.float32) / 2**60}),
            [{"x": normal(3), "n": np.array(n)} for n in (0, 3)], [])


def until():
    """A loop that ends when a sum is large enough, possibly before the first iteration; two states are
    swapped."""
    step = body([node("Add", ["a", "b"], ["b2"]), node("Mul", ["b", "factor"], ["a2"]), node("ReduceSum", ["b2"], ["sum"], keepdims=0),
                 node("Less", ["sum", "most"], ["go2"])],
                [info("i", [], INT64), info("go", [], BOOL), info("a", [5]), info("b", [5])],
                [info("go2", [], BOOL), info("a2", [5]), info("b2", [5])], {"factor": 1.5})
    return (model([node("Loop", ["n", "go", "x", "x"], ["y", "z"], body=step)],
                  [info("x", [5]), info("most", []), info("go", [], BOOL), info("n", [], INT64)], [info("y"), info("z")]),
            [{"x": np.abs(normal(5)) + 0.1, "most": np.array(most, np.float32), "go": np.array(go), "n": np.array(n)}
             for most, go, n in ((100, True, 1 << 62), (1e6, True, 1 << 40), (-1, True, 50), (100, False, 9), (1e30, True, 3), (1e6, True, 0))], [])


def collected(count):
    """A loop with a trip count that is known or equal to the size of an axis, with scan outputs."""
    step = body([node("Mul", ["h", "k"], ["h2"]), node("Add", ["h2", "x0"], ["out"]), node("ReduceMax", ["out"], ["most"], keepdims=0),
                 node("Identity", ["go"], ["go2"])],
                [info("i", [], INT64), info("go", [], BOOL), info("h", [9])],
                [info("go2", [], BOOL), info("h2", [9]), info("out", [9]), info("most", [])], {"k": 0.9})
    nodes = [node("Gather", ["x", "first"], ["x0"]), node("Loop", ["n", "yes", "x0"], ["y", "all", "maxima"], body=step)]
    weights = {"first": 0, "yes": np.array(True)}
    if count:
        return (model(nodes, [info("x", [3, 9])], [info("y"), info("all"), info("maxima")], {**weights, "n": count}),
                [{"x": normal(3, 9)}], [])
    nodes = [node("Shape", ["x"], ["size"]), node("Gather", ["size", "first"], ["n"])] + nodes
    return (model(nodes, [info("x", ["n", 9])], [info("y"), info("all"), info("maxima")], weights),
            [{"x": normal(n, 9)} for n in (1, 3, 64)], ["n=1..64"])


def gru(backwards, axis):
    """A GRU written as a Scan over the steps of a sequence."""
    step = body([node("MatMul", ["x", "wz"], ["xz"]), node("MatMul", ["h", "uz"], ["hz"]), node("Add", ["xz", "hz"], ["sz"]), node("Sigmoid", ["sz"], ["z"]),
                 node("MatMul", ["x", "wn"], ["xn"]), node("MatMul", ["h", "un"], ["hn"]), node("Add", ["xn", "hn"], ["sn"]), node("Tanh", ["sn"], ["n"]),
                 node("Sub", ["h", "n"], ["d"]), node("Mul", ["z", "d"], ["zd"]), node("Add", ["n", "zd"], ["h2"]), node("Identity", ["h2"], ["out"])],
                [info("h", [2, 24]), info("x", [2, 10])], [info("h2", [2, 24]), info("out", [2, 24])])
    shape = [2, 10]
    shape.insert(axis, "n")
    return (model([node("Scan", ["h0", "xs"], ["last", "all"], body=step, num_scan_inputs=1, scan_input_axes=[axis],
                        scan_output_axes=[axis], scan_input_directions=[backwards], scan_output_directions=[backwards])],
                  [info("h0", [2, 24]), info("xs", shape)], [info("last"), info("all")],
                  {"wz": normal(10, 24), "uz": normal(24, 24), "wn": normal(10, 24), "un": normal(24, 24)}),
            [{"h0": normal(2, 24), "xs": normal(*[n if s == "n" else s for s in shape])} for n in (1, 2, 33, 50)], ["n=1..50"])


def greedy():
    """An autoregressive loop: tokens are selected until one ends the text, and scattered into the text."""
    step = body([node("Gather", ["table", "token"], ["e"]), node("MatMul", ["h", "u"], ["hu"]), node("Add", ["e", "hu"], ["s"]), node("Tanh", ["s"], ["h2"]),
                 node("MatMul", ["h2", "out"], ["logits"]), node("ArgMax", ["logits"], ["token2"], axis=1, keepdims=0),
                 node("Unsqueeze", ["i", "axes"], ["at"]), node("Unsqueeze", ["at", "axes"], ["where"]),
                 node("ScatterND", ["text", "where", "token2"], ["text2"]), node("Equal", ["token2", "end"], ["ends"]),
                 node("Not", ["ends"], ["goes"]), node("Squeeze", ["goes"], ["go2"])],
                [info("i", [], INT64), info("go", [], BOOL), info("token", [1], INT64), info("h", [1, 16]), info("text", [20], INT64)],
                [info("go2", [], BOOL), info("token2", [1], INT64), info("h2", [1, 16]), info("text2", [20], INT64)], {"axes": [0]})
    return (model([node("Loop", ["n", "yes", "start", "h0", "empty"], ["last", "h", "text"], body=step)],
                  [info("start", [1], INT64), info("h0", [1, 16]), info("end", [], INT64)], [info("text", None, INT64), info("h")],
                  {"n": 20, "yes": np.array(True), "empty": np.zeros(20, np.int64), "table": normal(30, 16), "u": normal(16, 16) * 2, "out": normal(16, 30) * 3}),
            [{"start": np.array([s]), "h0": normal(1, 16), "end": np.array(e)} for s, e in ((1, 99), (3, 7), (5, 2), (9, 21))], [])


def nested():
    """A loop in a loop with an If inside, and a loop in a branch of an If."""
    choice = node("If", ["odd"], ["h3"], then_branch=body([node("Mul", ["h2", "half"], ["a"])], [], [info("a")]),
                  else_branch=body([node("Add", ["h2", "x"], ["b"])], [], [info("b")]))
    inner = body([node("Add", ["h2", "one"], ["unused"]), node("Mod", ["j", "two"], ["rest"]), node("Equal", ["rest", "unit"], ["odd"]), choice,
                  node("Identity", ["go"], ["go2"])],
                 [info("j", [], INT64), info("go", [], BOOL), info("h2", [6])], [info("go2", [], BOOL), info("h3", [6])], {"two": 2, "unit": 1, "one": 1.0})
    outer = body([node("Loop", ["i", "", "h"], ["h4"], body=inner), node("Sqrt", ["h4"], ["h5"]), node("Identity", ["go"], ["go2"])],
                 [info("i", [], INT64), info("go", [], BOOL), info("h", [6])], [info("go2", [], BOOL), info("h5", [6])])
    loop = node("Loop", ["n", "", "x"], ["y1"], body=outer)
    nodes = [node("Greater", ["n", "zero"], ["any"]),
             node("If", ["any"], ["y"], then_branch=body([loop], [], [info("y1")]), else_branch=body([node("Neg", ["x"], ["y2"])], [], [info("y2")]))]
    return (model(nodes, [info("x", [6]), info("n", [], INT64)], [info("y")], {"half": 0.5, "zero": 0}),
            [{"x": np.abs(normal(6)) + 1, "n": np.array(n)} for n in (-3, 0, 1, 2, 9)], [])


def constant_nest():
    """Four loops of nine iterations in each other: each is short, but the innermost body runs 6,561 times."""
    nodes = [node("Mul", ["s0", "decay"], ["m"]), node("Add", ["m", "x"], ["t0"])]
    for depth in range(4):
        step = body(nodes + [node("Identity", ["go"], ["go2"])], [info("i", [], INT64), info("go", [], BOOL), info(f"s{depth}", [6])],
                    [info("go2", [], BOOL), info(f"t{depth}", [6])])
        nodes = [node("Loop", ["n", "", f"s{depth + 1}"], [f"t{depth + 1}"], body=step)]
    nodes[0].input[2] = "x"
    return model(nodes, [info("x", [6])], [info("t4")], {"n": 9, "decay": 0.9}), [{"x": normal(6)}], []


def boxes():
    """Non-maximum suppression and the number of remaining boxes: on a GPU, this runs on the host."""
    nodes = [node("NonMaxSuppression", ["b", "s", "most", "overlap", "least"], ["at"]), node("Cast", ["at"], ["places"], to=FLOAT),
             node("ReduceSum", ["places"], ["sums"], keepdims=0), node("Shape", ["at"], ["shape"])]
    corners = rng.random((2, 1, 300, 2)).astype(np.float32) * 20
    return (model(nodes, [info("b", [1, 300, 4]), info("s", [1, 4, 300])], [info("sums"), info("shape", kind=INT64)],
                  {"most": np.array([50]), "overlap": np.float32(0.5), "least": np.float32(0.3)}),
            [{"b": np.concatenate([low, low + rng.random((1, 300, 2)).astype(np.float32) * 4 + 0.5], 2),
              "s": rng.random((1, 4, 300)).astype(np.float32)} for low in corners], [])


def scattered():
    """Sums scattered to positions that may be equal, between matmuls and a reshape: they are computed
    sequentially, so on the host."""
    nodes = [node("MatMul", ["x", "w"], ["p"]), node("Reshape", ["p", "flat"], ["v"]),
             node("ScatterElements", ["base", "at", "v"], ["sums"], reduction="add"), node("Reshape", ["sums", "square"], ["m"]),
             node("MatMul", ["m", "w"], ["q"]), node("Add", ["q", "p"], ["y"]), node("ReduceSum", ["sums"], ["total"], keepdims=0)]
    return (model(nodes, [info("x", [64, 64]), info("at", [4096], INT64)], [info("y", [64, 64]), info("total")],
                  {"w": normal(64, 64), "flat": np.array([-1]), "square": np.array([64, 64]), "base": normal(4096)}),
            [{"x": normal(64, 64), "at": rng.integers(0, most, 4096)} for most in (4096, 40)], [])


def check(ingot, name, case, always):
    network, inputs, dims = case
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(network.SerializeToString(), options, providers=["CPUExecutionProvider"])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(network, path)
        sets = os.path.join(folder, "sets")
        os.makedirs(sets)
        with open(os.path.join(sets, "case.json"), "w") as file:
            file.write('{"rtol": 1e-3, "atol": 1e-5}')
        for number, values in enumerate(inputs):
            at = os.path.join(sets, f"test_data_set_{number}")
            os.makedirs(at)
            results = session.run(None, values)
            names = [[v.name for v in network.graph.input], [v.name for v in network.graph.output]]
            for kind, keys, data in (("input", names[0], [values[k] for k in names[0]]), ("output", names[1], results)):
                for i, (key, value) in enumerate(zip(keys, data)):
                    with open(os.path.join(at, f"{kind}_{i}.pb"), "wb") as file:
                        file.write(numpy_helper.from_array(np.asarray(value), key).SerializeToString())
        for more in ([], ["--strict"], *([] if always else [["--optimize=size"]])):
            command = [ingot, "test", path, sets, "--dynamic", *more, *always]
            for dim in dims:
                command += ["--dim", dim]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode or result.stdout.count(", ok") != len(inputs) * len(network.graph.output):
                sys.exit(f"{name} {more}: exit {result.returncode}\n{result.stdout}{result.stderr}")
    print(f"{name}: {len(inputs)} runs of one compiled model agree")


LIMITS = r"""
#include "net.cpp"
#include <cstdlib>
#include <cstring>

int main() {
  const struct { float most; int64_t n; uint8_t go; int status, same; } runs[] = {
      {100, -1, 1, 0, 1}, {100, INT64_MIN, 1, 0, 1}, {100, int64_t(1) << 62, 1, 0, 0}, {100, INT64_MAX, 0, 0, 1}};
  for (auto &run : runs) {
    // Each of its own size, so that the sanitizer sees what is next to it.
    float *x = (float *)malloc(20), *most = (float *)malloc(4), *y = (float *)malloc(20), *z = (float *)malloc(20);
    int64_t *n = (int64_t *)malloc(8);
    uint8_t *go = (uint8_t *)malloc(1);
    void *arena = aligned_alloc(NET_ARENA_ALIGN, NET_ARENA_BYTES);
    for (int i = 0; i < 5; ++i) x[i] = 1;
    *most = run.most, *n = run.n, *go = run.go;
    net_io io = {};
    io.x = x, io.most = most, io.n = n, io.go = go, io.y = y, io.z = z;
    if (net_run(&io, arena, nullptr) != run.status || (memcmp(x, y, 20) == 0) != run.same) return 1;
    free(x), free(most), free(y), free(z), free(n), free(go), free(arena);
  }
}
"""


def check_limits(ingot):
    """Runs a loop with negative and huge trip counts and with false conditions under sanitizers: it must not
    write out of bounds."""
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)
        onnx.save(until()[0], path("net.onnx"))
        with open(path("main.cpp"), "w") as file:
            file.write(LIMITS)
        subprocess.run([ingot, path("net.onnx"), "-o", path("net.cpp")], check=True)
        subprocess.run(["g++", "-std=c++17", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", path("main.cpp"),
                        "-o", path("main")], check=True)
        subprocess.run([path("main")], check=True)
    print("limits: -1, the least, 2^62 and no condition give results")


CASES = {"branches": branches, "sample rate": sample_rate, "counted": counted, "until": until, "collected": lambda: collected(40),
         "collected at run time": lambda: collected(0), "gru": lambda: gru(0, 0), "gru backwards": lambda: gru(1, 1), "greedy": greedy,
         "nested": nested, "constant nest": constant_nest, "doubled": doubled, "boxes": boxes, "scattered": scattered}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--program")
    parser.add_argument("--filter", default="")
    parser.add_argument("--target", help="another one than this machine")
    args = parser.parse_args()
    for name, case in CASES.items():
        if args.filter not in name:
            continue
        network, inputs, dims = case()
        # Models with dynamic sizes are not run for other targets, which are emulated.
        if not (args.target and dims):
            check(args.ingot, name, (network, inputs, dims), ["--target", args.target] if args.target else [])
    if not args.target:
        check_limits(args.ingot)
