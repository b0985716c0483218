"""Constants that several operators read, beside ONNX Runtime, and what they take.

    constants.py --ingot BIN --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Weights are stored once, also where an embedding is the last layer's weights
transposed. Inputs come from a fixed seed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper

from beside_onnxruntime import Case, compare, data

node = helper.make_node


def language_model(name, tokens, words=640, width=48, transposed=True, bias=False):
    """An embedding, a layer, and the embedding again as the weights of the last layer."""
    table = data((words, width)) * np.float32(0.1)
    constants = {"table": table, "w": data((width, width)) * np.float32(0.1)}
    nodes = [node("Gather", ["table", "ids"], ["e"]), node("MatMul", ["e", "w"], ["m"]), node("Relu", ["m"], ["h"])]
    if transposed:
        nodes.append(node("Transpose", ["table"], ["last"], perm=[1, 0]))
    else:
        constants["last"] = np.ascontiguousarray(table.T)
    nodes.append(node("MatMul", ["h", "last"], ["out" if not bias else "product"]))
    if bias:
        constants["b"] = data((words,))
        nodes.append(node("Add", ["product", "b"], ["out"]))
    ids = np.resize(np.array([0, words - 1, 3, -1, words // 2], np.int64), tokens)
    return Case(name, nodes, {"ids": ids}, constants)


def convolutions(name, equal_initializers):
    """Four convolutions with the same 5 x 5 filter, which is stored unchanged: a 3 x 3 filter would be
    transformed for Winograd's algorithm."""
    w = data((16, 16, 5, 5)) * np.float32(0.1)
    constants = {f"w{i}": w for i in range(4)} if equal_initializers else {"w0": w}
    nodes, before = [], "x"
    for i in range(4):
        after = "out" if i == 3 else f"y{i}"
        nodes.append(node("Conv", [before, f"w{i if equal_initializers else 0}"], [after], pads=[2, 2, 2, 2]))
        before = after
    return Case(name, nodes, {"x": data((1, 16, 9, 9))}, constants)


def cases():
    """Yields each case with the bytes of its parameters, counted once."""
    for tokens in (1, 2, 7):
        for transposed in (True, False):
            yield language_model(f"tied-{tokens}-{transposed}", tokens, transposed=transposed), 4 * (640 * 48 + 48 * 48)
    yield language_model("tied-tail", 3, words=645, width=50), 4 * (645 * 50 + 50 * 50)
    yield language_model("tied-bias", 3, bias=True), 4 * (640 * 48 + 48 * 48 + 640)
    for equal_initializers in (False, True):
        yield convolutions(f"convolutions-{equal_initializers}", equal_initializers), 4 * 16 * 16 * 25


def sizes(ingot, named):
    """Returns the number of cases that store over 2 % more than their parameters."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        for case, bytes_once in named:
            onnx.save(case.model, path)
            report = subprocess.run([ingot, "inspect", "--json", path, "--target", "x86-64-v3"], capture_output=True, text=True, check=True)
            stored = json.loads(report.stdout)["weight_bytes"]
            if stored > 1.02 * bytes_once:
                wrong += 1
                print(f"{case.name}: {stored} bytes of weights, the parameters have {bytes_once}", flush=True)
    return wrong


if __name__ == "__main__":
    named = list(cases())
    failed = compare(__doc__, [case for case, _ in named])
    sys.exit(failed or sizes(sys.argv[sys.argv.index("--ingot") + 1], named) > 0)
