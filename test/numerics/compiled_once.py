"""Runs one compiled model on several inputs and compares with ONNX Runtime. Used by other files of this
folder.

A model is compiled once, without its data: results must agree for all valid inputs, and all invalid inputs
must be rejected.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

failures = []


def message(value, info):
    """Returns the file format of a value: a tensor, a list of tensors for a sequence, or None for an
    absent optional value."""
    kind = info.type.WhichOneof("value")
    if kind == "tensor_type":
        return numpy_helper.from_array(np.asarray(value), info.name)
    inner = info.type.optional_type.elem_type if kind == "optional_type" else info.type
    proto = onnx.SequenceProto(name=info.name, elem_type=onnx.SequenceProto.TENSOR) if inner.HasField("sequence_type") else None
    if proto is not None and value is not None:
        proto.tensor_values.extend(numpy_helper.from_array(np.asarray(each)) for each in value)
    if kind == "sequence_type":
        return proto
    if value is None:
        return onnx.OptionalProto(name=info.name)
    if proto is not None:
        return onnx.OptionalProto(name=info.name, elem_type=onnx.OptionalProto.SEQUENCE, sequence_value=proto)
    return onnx.OptionalProto(name=info.name, elem_type=onnx.OptionalProto.TENSOR, tensor_value=numpy_helper.from_array(np.asarray(value)))


def nothing(info):
    """Returns a placeholder for an expected output, for runs that must be rejected."""
    kind = info.type.WhichOneof("value")
    return None if kind == "optional_type" else [] if kind == "sequence_type" else np.zeros(1, np.float32)


def write(folder, number, infos, values, kind):
    path = os.path.join(folder, f"test_data_set_{number}")
    os.makedirs(path, exist_ok=True)
    for i, (info, value) in enumerate(zip(infos, values)):
        with open(os.path.join(path, f"{kind}_{i}.pb"), "wb") as file:
            file.write(message(value, info).SerializeToString())


def check(ingot, name, network, runs, dims=(), refused=(), want=None, variants=((),), tolerance=(1e-4, 1e-5)):
    """Checks a model. `runs` and `refused` are dictionaries of inputs; `want` computes the expected
    outputs if ONNX Runtime does not. Each of `variants` is a list of options; a variant that does not
    begin with --dynamic may take sizes from the data, so `refused` is skipped for it."""
    inputs, outputs = network.graph.input, network.graph.output
    if want is None:
        session = onnxruntime.InferenceSession(network.SerializeToString(), providers=["CPUExecutionProvider"])
        want = lambda values: session.run(None, values)  # noqa: E731
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(network, path)
        for sets, count in (("fits", len(runs)), ("all", len(runs) + len(refused))):
            own = os.path.join(folder, sets)
            os.makedirs(own)
            with open(os.path.join(own, "case.json"), "w") as file:
                file.write('{"rtol": %g, "atol": %g}' % tolerance)
        for number, values in enumerate([*runs, *refused]):
            fits = number < len(runs)
            results = want(values) if fits else map(nothing, outputs)
            write(os.path.join(folder, "all"), number, inputs, [values[each.name] for each in inputs], "input")
            write(os.path.join(folder, "all"), number, outputs, results, "output")
            if fits:
                os.symlink(os.path.join(folder, "all", f"test_data_set_{number}"), os.path.join(folder, "fits", f"test_data_set_{number}"))
        bounds = [word for dim in dims for word in ("--dim", dim)]
        for options in variants:
            isDynamic = "--dynamic" in options
            command = [ingot, "test", path, os.path.join(folder, "all" if isDynamic else "fits"), *options, *(bounds if isDynamic else ())]
            done = subprocess.run(command, capture_output=True, text=True)
            agree = [f"test_data_set_{number}: " for number in range(len(runs))]
            refuse = [f"test_data_set_{number}: REJECTED" for number in range(len(runs), len(runs) + len(refused))] if isDynamic else []
            lines = done.stdout.splitlines()
            isRight = (
                done.returncode == (1 if refuse else 0) and "WRONG" not in done.stdout
                and all(sum(line.startswith(start) and line.endswith("ok") for line in lines) >= len(outputs) for start in agree)
                and [line for line in lines if line.endswith("REJECTED")] == refuse and done.stderr.count("input-mismatch") == len(refuse))
            if not isRight:
                failures.append(f"{name} {options}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    print(f"{name}: {len(runs)} runs of one compiled model agree, {len(refused)} are refused")


def node(op, inputs, outputs=("y",), **attributes):
    return helper.make_node(op, inputs, list(outputs), **attributes)


def tensor(name, kind, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def sequence(name, kind, shape=None):
    return helper.make_tensor_sequence_value_info(name, kind, shape)


def run(doc, *checks):
    """Runs the checks of a file with the compiler given on the command line."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--program")
    ingot = parser.parse_args().ingot
    for each in checks:
        each(ingot)
    finish()


def finish():
    if failures:
        sys.exit("\n".join(failures))
