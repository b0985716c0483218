#!/usr/bin/env python3
"""Compiles chains in which every link uses the previous value twice.

    doubled.py --ingot INGOT [NAME...]

There are 2^40 paths through 40 such links: a pass that follows each path never ends; one that visits each
value once takes milliseconds. Each chain has a limit of LIMIT seconds, far more than needed.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "numerics"))
sys.dont_write_bytecode = True
from compiled_once import node, tensor as info  # noqa: E402

LINKS, LIMIT = 40, 60
TARGETS = ["generic", "x86-64-v4", "cortex-m55", "hexagon-v67", "sm_80"]
F, U8, I8, I32, I64, B = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL
SHAPE = [1, 4, 8, 8]


def chain(first, link, links=LINKS):
    """Returns the nodes of a chain and the name of its last value; link(value, result) returns the nodes
    of one link."""
    nodes = []
    for i in range(links):
        nodes += link(first, f"v{i}")
        first = f"v{i}"
    return nodes, first


def behind(*moves):
    """Returns a link that adds or multiplies a value and the result of applying `moves` to it: (operator,
    further inputs, attributes)."""
    def link(value, result):
        nodes, moved = [], value
        for i, (operator, inputs, attributes) in enumerate(moves):
            nodes.append(node(operator, [moved, *inputs], [f"{result}_{i}"], **attributes))
            moved = f"{result}_{i}"
        return nodes + [node("Add" if int(result[1:]) % 2 else "Mul", [value, moved], [result])]
    return link


WEIGHTS = {
    "flat": np.array([1, 4, 64]), "square": np.array(SHAPE), "first": np.array([0]), "end": np.array([8]), "axis": np.array([2]),
    "kernel": np.ones((4, 4, 1, 1), np.float32), "pads": np.array([0, 0, 1, 1, 0, 0, -1, -1]), "backwards": np.arange(7, -1, -1),
    "scale": np.float32(0.05), "zero": np.uint8(128)}
LINKS_OF = {
    "transpose": behind(("Transpose", [], {"perm": [0, 1, 3, 2]})),
    "reshape": behind(("Reshape", ["flat"], {}), ("Reshape", ["square"], {})),
    "softmax": behind(("Softmax", [], {"axis": -1})),
    "slice": behind(("Slice", ["first", "end", "axis"], {})),
    "conv": behind(("Conv", ["kernel"], {})),
    "pad": behind(("Pad", ["pads"], {})),
    "gather": behind(("Gather", ["backwards"], {"axis": 2})),
    "cast": behind(("Cast", [], {"to": TensorProto.FLOAT16}), ("Cast", [], {"to": F})),
    "quantize": behind(("QuantizeLinear", ["scale", "zero"], {}), ("DequantizeLinear", ["scale", "zero"], {})),
    "unsqueeze": behind(("Unsqueeze", ["first"], {}), ("Squeeze", ["first"], {})),
    "reduce": behind(("ReduceMean", [], {"axes": [-1]})),
    "pool": behind(("MaxPool", [], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})),
}


def models():
    """Yields the name, nodes, inputs, outputs and constants of each model."""
    for operator in ("Add", "Mul", "Sub", "Max", "Pow", "MatMul", "Mean"):
        nodes, last = chain("x", lambda value, result: [node(operator, [value, value], [result])])
        yield operator.lower(), nodes, [info("x", F, [8, 8])], [info(last, F, [8, 8])], {}
    for name, link in LINKS_OF.items():
        nodes, last = chain("x", link)
        yield name, nodes, [info("x", F, SHAPE)], [info(last, F, SHAPE)], WEIGHTS

    # A decomposed layer normalization of whole images, between a transpose and its inverse.
    nodes = [node("Exp", ["x"], ["e"]), node("Transpose", ["e"], ["t"], perm=[0, 3, 1, 2]), node("Reshape", ["t", "row"], ["r"]),
             node("LayerNormalization", ["r", "ones"], ["n"], axis=-1)]
    doubled, last = chain("n", lambda value, result: [node("Add", [value, value], [result])])
    nodes += doubled + [node("Reshape", [last, "image"], ["b"]), node("Transpose", ["b"], ["y"], perm=[0, 2, 3, 1])]
    yield ("norm", nodes, [info("x", F, [1, 8, 8, 4])], [info("y", F, [1, 8, 8, 4])],
           {"row": np.array([1, 256]), "image": np.array([1, 4, 8, 8]), "ones": np.ones(256, np.float32)})

    # Sums of integers, whose range doubles with each link.
    for links in (12, LINKS):
        nodes, last = chain("s", lambda value, result: [node("Add", [value, value], [result])], links)
        nodes = [node("ConvInteger", ["x", "w"], ["s"], pads=[1, 1, 1, 1])] + nodes + [
            node("Cast", [last], ["f"], to=F), node("Mul", ["f", "factor"], ["m"]), node("QuantizeLinear", ["m", "scale", "zero"], ["y"])]
        yield (f"integers{links}", nodes, [info("x", U8, [1, 128, 4, 4])], [info("y", I8, [1, 128, 4, 4])],
               {"w": np.ones((128, 128, 3, 3), np.int8), "factor": np.float32(1e-9), "scale": np.float32(0.05), "zero": np.int8(0)})

    # A chain of Where operators that select an attention mask by two alternating conditions.
    nodes, last = chain("chosen", lambda value, result: [node("Where", ["c" if int(result[1:]) % 2 else "d", value, value], [result])])
    nodes = [node("DequantizeLinear", ["a", "scale", "zero"], ["p"]), node("DequantizeLinear", ["b", "scale", "zero"], ["q"]),
             node("MatMul", ["p", "q"], ["products"]), node("QuantizeLinear", ["products", "scale", "zero"], ["bytes"]),
             node("DequantizeLinear", ["bytes", "scale", "zero"], ["scores"]), node("Where", ["c", "shown", "hidden"], ["chosen"]), *nodes,
             node("Add", ["scores", last], ["masked"]), node("Softmax", ["masked"], ["y"], axis=-1)]
    yield ("mask", nodes, [info("a", I8, [8, 16]), info("b", I8, [16, 8]), info("c", B, [8, 8]), info("d", B, [8, 8])], [info("y", F, [8, 8])],
           {"scale": np.float32(0.1), "zero": np.int8(0), "shown": np.float32(0), "hidden": np.float32(-1e9)})

    # A chain of 1,500 operators in which no value is used twice, on a batch of 8 images.
    nodes, last = chain(
        "x", lambda value, result: [node("Conv", [value, "w"], [result]) if int(result[1:]) % 2 else node("Softmax", [value], [result], axis=1)], 1500)
    yield "long", nodes, [info("x", F, [8, 64, 56, 56])], [info(last, F, [8, 64, 56, 56])], {"w": np.full((64, 64, 1, 1), 0.05, np.float32)}

    # A chain of concatenations of two convolutions each, on a batch of 8 images.
    nodes, last = chain("x", lambda value, result: [
        node("Conv", [value, "half"], [result + "_a"]), node("Softmax", [value], [result + "_s"], axis=1), node("Conv", [result + "_s", "half"], [result + "_b"]),
        node("Concat", [result + "_a", result + "_b"], [result], axis=1)], 60)
    yield "joined", nodes, [info("x", F, [8, 64, 56, 56])], [info(last, F, [8, 64, 56, 56])], {"half": np.full((32, 64, 1, 1), 0.05, np.float32)}

    # A chain of sums and differences of a dynamic size.
    nodes, last = chain("s", lambda value, result: [node("Add" if int(result[1:]) % 2 else "Sub", [value, value], [result])])
    yield ("size", [node("Shape", ["x"], ["s"]), *nodes, node("Cast", [last], ["y"], to=F)], [info("x", F, ["n", 8])], [info("y", F, [2])], {})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ingot", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        for name, nodes, inputs, outputs, weights in models():
            if options.names and name not in options.names:
                continue
            graph = helper.make_graph(nodes, "network", inputs, outputs, [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()])
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
            for target in TARGETS:
                output = os.path.join(folder, "model." + ("cu" if target.startswith("sm_") else "cpp"))
                command = [options.ingot, path, "-o", output, "--target", target, "--dim", "*=1..8"]
                count += 1
                try:
                    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
                    problem = done.returncode and f"exit code {done.returncode}\n{done.stderr}"
                except subprocess.TimeoutExpired:
                    problem = f"not done after {LIMIT} s"
                if problem:
                    failed += 1
                    print(f"{name} for {target}: {problem}")
    print(f"{count - failed} of {count} compile")
    sys.exit(failed > 0 or count == 0)


main()
