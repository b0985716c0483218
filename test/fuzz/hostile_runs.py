#!/usr/bin/env python3
"""Runs generated code on inputs that nobody should give it.

    hostile_runs.py --ingot INGOT [--runs N] [--dim NAME=BOUNDS...] [MODEL.onnx...]

Sizes out of their bounds, indices beyond the end, counts and trip counts of -1 and 2^62, lists longer than there is room for, odd
strings, NaN: a run has to return a status, say INGOT_ERROR_SHAPE of a size out of its bounds, and read and write nothing beside the
buffers, which are of just the sizes that the header promises. The compiler's sanitizers watch. Without models, those below are run.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "numerics"))
sys.dont_write_bytecode = True
from compiled_once import node, sequence, tensor as info  # noqa: E402

F, I, B, S = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING


def model(nodes, inputs, outputs, weights={}):
    graph = helper.make_graph(nodes, "network", inputs, outputs, [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def models():
    """Yields the name and the model of each test."""
    x, xy, k, ks, b = info("x", F, ["n"]), info("x", F, ["n", "m"]), info("k", I, []), info("k", I, [1]), info("c", B, ["m"])
    # Operators that gather or scatter by indices, also in tensors without elements.
    yield "gathered", model(
        [node("Gather", ["x", "i"], ["g"], axis=0), node("GatherElements", ["x", "e"], ["h"], axis=1), node("GatherND", ["x", "p"], ["t"]),
         node("ScatterElements", ["x", "e", "h"], ["s"], axis=1, reduction="add"), node("ScatterND", ["x", "p", "t"], ["u"])],
        [xy, info("i", I, ["k"]), info("e", I, ["n", 3]), info("p", I, ["k", 2])], [info(name, F) for name in "ghtsu"])
    # Counts of elements that are inputs (TopK, OneHot), and data-dependent counts.
    yield "top", model([node("TopK", ["x", "k"], ["v", "at"]), node("OneHot", ["at", "four", "both"], ["hot"])], [xy, ks], [info("v", F), info("hot", F)],
                       {"both": np.zeros(2, np.float32), "four": np.array(4)})
    yield "found", model([node("Compress", ["x", "c"], ["few"], axis=1), node("NonZero", ["few"], ["found"]), node("Unique", ["x"], ["each", "", "where"])],
                         [xy, b], [info("found", I), info("each", F), info("where", I)])
    yield "one hot", model([node("OneHot", ["i", "k", "both"])], [info("i", I, ["n"]), k], [info("y", F)], {"both": np.zeros(2, np.float32)})
    yield "boxes", model([node("NonMaxSuppression", ["boxes", "scores", "k"])], [info("boxes", F, ["n", "k", 4]), info("scores", F, ["n", 2, "k"]), ks], [info("y", I)])
    # Shapes that are inputs.
    two = {name: info(name, I, [2]) for name in ("a", "b", "s")}
    yield "parts", model([node("Slice", ["x", "a", "b", "axes"])], [xy, two["a"], two["b"]], [info("y", F)], {"axes": np.array([0, 1])})
    for op in ("Reshape", "Tile", "Expand"):
        yield op, model([node(op, ["x", "s"])], [xy, two["s"]], [info("y", F)])
    yield "padded", model([node("Pad", ["x", "p"], mode="edge")], [xy, info("p", I, [4])], [info("y", F)])
    yield "resized", model([node("Resize", ["x", "", "", "s"], mode="linear")], [xy, two["s"]], [info("y", F)])
    yield "sampled", model(
        [node("RoiAlign", ["x", "rois", "image"], ["a"], output_height=2, output_width=3, sampling_ratio=2), node("GridSample", ["x", "grid"], ["g"])],
        [info("x", F, ["n", 2, "h", "w"]), info("rois", F, ["k", 4]), info("image", I, ["k"]), info("grid", F, ["n", 2, 3, 2])], [info("a", F), info("g", F)])
    # Loops without iterations, loops whose state is stored in the caller's tensors, and loops that end by a
    # trip count or a condition.
    scan = helper.make_graph([node("Add", ["a", "row"], ["b"])], "scan", [info("a", F, ["n"]), info("row", F, ["n"])], [info("b", F, ["n"])])
    yield "scanned", model([node("Scan", ["x", "rows"], body=scan, num_scan_inputs=1)], [x, info("rows", F, ["k", "n"])], [info("y", F, ["n"])])
    body = helper.make_graph([node("Gather", ["x", "i"], ["one"]), node("Add", ["a", "one"], ["b"]), node("Identity", ["b"], ["c"]), node("Identity", ["on"], ["still"])],
                             "body", [info("i", I, []), info("on", B, []), info("a", F, ["n"])], [info("still", B, []), info("b", F, ["n"]), info("c", F, ["n"])])
    yield "collected", model([node("Loop", ["k", "", "x"], ["y", "all"], body=body)], [x, k], [info("y", F), info("all", F)])
    yield "fewer", model([node("Shape", ["x"], ["s"]), node("Sub", ["s", "three"], ["d"]), node("Squeeze", ["d"], ["k"]),
                          node("Loop", ["k", "", "x"], ["y", "all"], body=body)], [x], [info("y", F), info("all", F)], {"three": np.array([3])})
    body = helper.make_graph([node("Less", ["i", "five"], ["still"]), node("Sin", ["a"], ["b"])], "body",
                             [info("i", I, []), info("on", B, []), info("a", F, ["n"])], [info("still", B, []), info("b", F, ["n"])])
    until = helper.make_graph([node("ReduceSum", ["a"], ["t"], keepdims=0), node("Less", ["t", "four"], ["still"]), node("Add", ["a", "x"], ["b"])], "until",
                              [info("i", I, []), info("on", B, []), info("a", F, ["n"])],
                              [info("still", B, []), info("b", F, ["n"]), info("a", F, ["n"])])
    yield "until", model([node("Loop", ["k", "on", "x"], ["y", "all"], body=until)], [x, k, info("on", B, [])], [info("y", F), info("all", F)],
                         {"four": np.array(4, np.float32)})
    yield "repeated", model([node("Loop", ["k", "on", "x"], body=body)], [x, k, info("on", B, [])], [info("y", F, ["n"])], {"five": np.array(5)})
    # Packed attention: positions of tokens, and the ends of their sequences, are inputs.
    places, ends = info("o", TensorProto.INT32, ["b", "s"]), info("e", TensorProto.INT32, ["b1"])
    ms = {"domain": "com.microsoft"}
    packed = model([node("PackedAttention", ["x", "w", "bias", "o", "e"], ["a"], num_heads=2, **ms), node("RestorePadding", ["a", "o"], ["r"], **ms),
                    node("RemovePadding", ["r", "n"], ["y", "places", "ends", "longest"], **ms)],
                   [info("x", F, ["t", 4]), places, ends, info("n", TensorProto.INT32, ["b"])], [info("y", F), info("places", TensorProto.INT32)],
                   {"w": np.ones((4, 12), np.float32), "bias": np.ones(12, np.float32)})
    packed.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    yield "packed tokens", packed
    # Sequences and strings.
    lists = [sequence("l", F, ["n"]), k]
    yield "list", model([node("SequenceInsert", ["l", "x", "k"], ["longer"]), node("SequenceAt", ["longer", "k"], ["one"]),
                         node("SequenceErase", ["longer", "k"], ["shorter"])], [*lists, x], [info("one", F), sequence("shorter", F)])
    yield "joined", model([node("ConcatFromSequence", ["l"], axis=0)], lists[:1], [info("y", F)])
    yield "split", model([node("SplitToSequence", ["x", "k"], axis=0)], [xy, k], [sequence("y", F)])
    text = info("s", S, ["n"])
    yield "words", model([node("StringSplit", ["s"], ["words", "count"], delimiter=" "), node("StringConcat", ["s", "s"], ["twice"])], [text],
                         [info("words", S), info("count", I), info("twice", S)])
    yield "texts", model([node("Gather", ["s", "i"], ["some"]), node("RegexFullMatch", ["some"], ["is"], pattern="[a-z]+ ?[0-9]*"),
                          node("StringNormalizer", ["some"], ["upper"], case_change_action="UPPER")], [text, info("i", I, ["k"])], [info("is", B), info("upper", S)])
    # DFT and STFT, whose results have lengths that are computed from lengths of inputs.
    axis = {"axis": np.array(1)}
    yield "inverse", model([node("DFT", ["x", "", "axis"], inverse=1, onesided=1)], [info("x", F, ["b", "n", 2])], [info("y", F)], axis)
    yield "frames", model([node("STFT", ["x", "k", "w"], ["y"])], [info("x", F, ["b", "n", 1]), k, info("w", F, ["l"])], [info("y", F)])


def program(header):
    """Returns the C++ program that runs a compiled model on hostile inputs; `header` is the text of its
    net.h."""
    struct = re.search(r"typedef struct net_io \{(.*?)\} net_io;", header, re.S).group(1)
    fields = re.findall(r"^\s*(.*?)(\w+);\s*/\*\s*(.*?)\s*\*/", struct, re.M)
    bounds = {name.lower(): (int(least), int(most)) for name, least, most in
              re.findall(r"#define NET_(\w+)_LEAST (-?\d+)\n#define NET_\1_MOST (-?\d+)", header)}
    sizes = [name for kind, name, comment in fields if kind.strip() == "ptrdiff_t"]
    most = max([bounds[name][1] for name in map(str.lower, bounds)], default=8)

    def count(comment):
        """Returns a C++ expression for the number of elements of a tensor, from its comment in the header;
        data-dependent sizes have their upper bound."""
        shape = re.search(r"\[(.*?)\]", comment)
        if not shape or not shape.group(1).strip():
            return "1"
        text = re.sub(r"[A-Za-z_]\w*", lambda name: name[0] if name[0] in sizes or name[0] == "floordiv" else str(bounds[name[0].lower()][1]), shape.group(1))
        return "*".join(f"({part})" for part in text.replace("floordiv", "/").split(","))

    lines = []
    for kind, name, comment in fields:
        if name in sizes:
            least, largest = bounds[name.lower()]
            lines.append(f"const ptrdiff_t {name} = io.{name} = run.size({least}, {largest});")
    for kind, name, comment in fields:
        element, isInput = kind.replace("const", "").replace("*", "").strip(), comment.startswith("in")
        if name in sizes:
            continue
        number = f"run.fits ? {count(comment)} : 1" if "size:" not in comment else "1"
        values = (f"allocate<{'const char *' if element == 'char' else element}>({number})" if not isInput else f"texts({number})" if element == "char" else
                  f"truths({number})" if "bool" in comment else f"filled<{element}>({number}, {most})")
        lines.append(f"io.{name} = run.{values};")
    return f"""#include "HostileRuns.h"
#include "net.h"
int main(int, char **arguments) {{
  long counts[16] = {{}};
  for (size_t number = 0; number < std::strtoull(arguments[1], nullptr, 10); ++number) {{
    Run run(number);
    net_io io = {{}};
    {"{0}    ".format(chr(10)).join(lines)}
    void *arena = std::aligned_alloc(NET_ARENA_ALIGN, (NET_ARENA_BYTES / NET_ARENA_ALIGN + 1) * NET_ARENA_ALIGN);
    const int status = net_run(&io, arena, nullptr);
    std::free(arena);
    ++counts[status];
    if ((!run.fits && status != INGOT_ERROR_SHAPE) || (status != INGOT_OK && status != INGOT_ERROR_SHAPE)) {{
      std::fprintf(stderr, "run %zu: status %d\\n", number, status);
      return 1;
    }}
  }}
  std::printf("%ld runs, %ld refused\\n", counts[INGOT_OK], counts[INGOT_ERROR_SHAPE]);
  return counts[INGOT_OK] == 0 || counts[INGOT_ERROR_SHAPE] == 0;
}}
"""


def check(args, name, network):
    """Compiles a model with sanitizers and runs it on hostile inputs. Returns an error message; empty if
    there is no error."""
    with tempfile.TemporaryDirectory() as folder:
        def path(file):
            return os.path.join(folder, file)
        onnx.save(network, path("net.onnx"))
        done = subprocess.run([args.ingot, path("net.onnx"), "-o", path("net.cpp"), *(word for dim in args.dim for word in ("--dim", dim))],
                              capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        with open(path("net.h")) as header, open(path("main.cpp"), "w") as main:
            main.write(program(header.read()))
        done = subprocess.run(["g++", "-std=c++17", "-g1", "-march=native", "-I", HERE, "-fsanitize=address,undefined,float-cast-overflow",
                               "-fno-sanitize-recover=all", path("main.cpp"), path("net.cpp"), "-o", path("main")], capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        done = subprocess.run([path("main"), str(args.runs)], capture_output=True, text=True, errors="replace", timeout=120)
        print(f"{name}: {done.stdout.strip()}", flush=True)
        return done.stderr or "it refuses everything, or nothing" if done.returncode else ""


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--ingot", required=True)
parser.add_argument("--runs", type=int, default=400)
parser.add_argument("--dim", action="append")
parser.add_argument("models", nargs="*")
args = parser.parse_args()
args.dim = args.dim or ["*=0..8"]
failures = 0
for name, network in [(path, onnx.load(path)) for path in args.models] or models():
    wrong = check(args, name, network)
    if wrong:
        failures += 1
        print(f"{name}: {wrong[:4000]}")
sys.exit(failures > 0)
