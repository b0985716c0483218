"""Small graphs run by the compiler and by ONNX Runtime; what differs is told.

Used by the files beside this one, which yield cases. Inputs come from a fixed
seed, which the report prints.
"""
import argparse
import itertools
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SEED = 7
rng = np.random.default_rng(SEED)


def data(shape, dtype=np.float32, high=100):
    if np.issubdtype(dtype, np.floating):
        return rng.standard_normal(shape).astype(dtype)
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    return rng.integers(0, high, shape).astype(dtype)


def ints(*values):
    return np.array(values, np.int64)


class Case:
    """One operator (or a few, as nodes over x, y, z...); constants are initializers."""

    def __init__(self, name, nodes, inputs, constants=None, outputs=("out",), opset=18, tolerance=1e-5):
        self.name, self.inputs, self.outputs, self.tolerance = name, inputs, outputs, tolerance
        graph = helper.make_graph(
            nodes,
            "case",
            [helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in inputs.items()],
            [onnx.ValueInfoProto(name=o) for o in outputs],
            [numpy_helper.from_array(v, k) for k, v in (constants or {}).items()],
        )
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def one(name, op, inputs, constants=None, outputs=("out",), opset=18, tolerance=1e-5, order=None, **attributes):
    names = order or list(inputs) + list(constants or {})
    return Case(name, [helper.make_node(op, names, list(outputs), **attributes)], inputs, constants, outputs, opset, tolerance)


def run(case, ingot, target, folder):
    path = folder / "model.onnx"
    onnx.save(case.model, path)
    (folder / "in").mkdir(exist_ok=True)
    (folder / "out").mkdir(exist_ok=True)
    for old in itertools.chain((folder / "in").iterdir(), (folder / "out").iterdir()):
        old.unlink()
    for i, (name, value) in enumerate(case.inputs.items()):
        (folder / "in" / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    done = subprocess.run([ingot, "run", path, folder / "in", folder / "out", *(["--target", target] if target else [])], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.strip().splitlines()[0] if done.stderr.strip() else ''}"
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    want = onnxruntime.InferenceSession(case.model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, case.inputs)
    for i, expected in enumerate(want):
        given = numpy_helper.to_array(onnx.load_tensor(folder / "out" / f"output_{i}.pb"))
        if given.shape != expected.shape or given.dtype != expected.dtype:
            return f"output {i}: {given.dtype}{given.shape}, expected {expected.dtype}{expected.shape}"
        if expected.dtype.kind == "f":
            scale = max(1.0, float(np.abs(expected.astype(np.float64)).max(initial=0)))
            wrong = ~(np.abs(given.astype(np.float64) - expected) <= case.tolerance * scale)
            wrong &= ~(np.isnan(given) & np.isnan(expected))
        else:
            wrong = given != expected
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return f"output {i}: {int(wrong.sum())} of {wrong.size} differ, first at {at}: {given[at]}, expected {expected[at]}"
    return None


def compare(doc, *cases):
    """The command line of a file of cases; its exit status."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--target")
    parser.add_argument("--filter", default="")
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in itertools.chain(*cases):
            if arguments.filter not in case.name:
                continue
            count += 1
            try:
                problem = run(case, arguments.ingot, arguments.target, pathlib.Path(folder))
            except Exception as e:  # ONNX Runtime refuses, or a time limit
                problem = f"not compared: {str(e).splitlines()[0]}"
            if problem:
                failures += 1
                print(f"{case.name}: {problem}", flush=True)
    print(f"{count - failures} of {count} cases agree (seed {SEED})")
    return 1 if failures else 0
