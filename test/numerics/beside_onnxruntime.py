"""Runs small graphs with Ingot and with ONNX Runtime, and reports differences.

A case may have its own expected results, where ONNX Runtime deviates from the standard. Used by other
files of this folder, which yield cases. Inputs come from a fixed seed, which the report prints.
"""
import argparse
import fnmatch
import itertools
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SEED = 7
KIND = "numerics"
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
    """A test: a model of one or a few nodes and its inputs. `constants` become initializers; `want` are the
    expected results, by default those of ONNX Runtime."""

    def __init__(self, name, nodes, inputs, constants=None, outputs=("out",), opset=18, tolerance=1e-5, want=None):
        self.name, self.inputs, self.outputs, self.tolerance, self.want = name, inputs, outputs, tolerance, want
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


def contrib(name, op, inputs, constants=None, outputs=("out",), order=None, domain="com.microsoft", tolerance=1e-5, want=None, **attributes):
    """Returns a case with one operator of another domain; outputs without a name are omitted."""
    names = list(order or list(inputs) + list(constants or {}))
    while not names[-1]:
        names.pop()
    node = helper.make_node(op, names, list(outputs), domain=domain, **attributes)
    case = Case(name, [node], inputs, constants, tuple(o for o in outputs if o), tolerance=tolerance, want=want)
    if domain:
        case.model.opset_import.append(helper.make_opsetid(domain, 1))
    return case


def run(case):
    """Runs a case with ONNX Runtime and returns the results."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(case.model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, case.inputs)


def write(case, folder):
    """Writes the model and its data in the form that ingot-conformance reads; returns the line that
    describes the case."""
    want = case.want if case.want is not None else run(case)
    folder = folder / KIND / case.name
    (folder / "declared").mkdir(parents=True)
    onnx.save(case.model, folder / "declared" / "model.onnx")
    for i, (name, value) in enumerate(case.inputs.items()):
        (folder / f"input_{i}.pb").write_bytes(numpy_helper.from_array(value, name).SerializeToString())
    scale = 1.0
    for i, (name, value) in enumerate(zip(case.outputs, want)):
        (folder / f"output_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value), name).SerializeToString())
        if value.dtype.kind == "f" and value.size:
            scale = max(scale, float(np.nanmax(np.abs(value.astype(np.float64)), initial=0, where=np.isfinite(value))))
    return f"{KIND}\t{case.name}\t0\t{case.tolerance * scale:.17g}\t{'t' * len(want)}\n"


def open_axes(case, name):
    """Returns the axes of an input that become dynamic: all, except that the length of an integer vector
    may determine a rank."""
    value = case.inputs[name]
    return () if value.ndim == 1 and value.dtype.kind in "iu" else range(value.ndim)


def leave_open(case, axes):
    """Returns the model of a case in which the axes `axes(case, name)` of each input are dynamic: each gets a
    symbol of its own, unless it has one."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for i, value in enumerate(model.graph.input):
        for k in axes(case, value.name):
            dim = value.type.tensor_type.shape.dim[k]
            dim.dim_param = dim.dim_param or f"s{i}_{k}"
    return model


def run_cases(arguments, folder, lines, mode):
    """Runs the cases in `lines` with ingot-conformance. Returns whether it ran all of them, and name, status
    and reason of each case."""
    done = subprocess.run([arguments.program, folder / "suite", folder / "work", arguments.target, "1", "25", "300", mode],
                          input="".join(lines), stdout=subprocess.PIPE, text=True)
    results = [line.rstrip("\n").split("\t") for line in done.stdout.splitlines()]
    return done.returncode == 0 and len(results) == len(lines), [(name, status, reason) for _, name, _, status, reason in results]


def compare(doc, *cases, refused=None, axes=open_axes):
    """Runs the cases with the options of the command line; returns the exit status.

    With `refused`, every n-th case is also compiled with dynamic sizes and without its data. Exactly those
    cases that match one of these patterns must then be rejected."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the path of ingot-conformance, which builds many cases together")
    parser.add_argument("--target", default="native")
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=4, help="open the sizes of every n-th case")
    arguments, _ = parser.parse_known_args()
    onnxruntime.set_default_logger_severity(4)
    failures, lines, opened = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for case in itertools.chain(*cases):
            if arguments.filter not in case.name:
                continue
            try:
                lines.append(write(case, folder / "suite"))
            except Exception as e:  # ONNX Runtime rejects the model
                failures.append(f"{case.name}: not compared: {str(e).splitlines()[0]}")
                continue
            if refused is not None and len(lines) % arguments.every == 0:
                place = folder / "suite" / KIND / case.name / "symbolic"
                place.mkdir()
                onnx.save(leave_open(case, axes), place / "model.onnx")
                opened.append(lines[-1])
        complete, results = run_cases(arguments, folder, lines, "declared")
        failures += [f"{name}: {status}: {reason}" for name, status, reason in results if status != "pass"]
        if not complete:
            failures.append(f"{len(lines)} cases were given, {len(results)} have a result")
        complete, results = run_cases(arguments, folder, opened, "dynamic-symbolic") if opened else (True, [])
        for name, status, reason in results:
            expected = "unsupported" if any(fnmatch.fnmatchcase(name, pattern) for pattern in refused) else "pass"
            if status != expected:
                failures.append(f"{name}, open: {status}, not {expected}: {reason}")
        if not complete:
            failures.append(f"{len(opened)} open cases were given, {len(results)} have a result")
    total = len(lines) + len(opened)
    print(*failures, f"{total - len(failures)} of {total} cases agree (seed {SEED}), {len(opened)} of them with open sizes", sep="\n")
    return 1 if failures else 0
