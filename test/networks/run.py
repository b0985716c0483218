#!/usr/bin/env python3
"""Compiles a network for each target, runs it, and compares with ONNX Runtime.

    run.py NAME --ingot PROGRAM --work DIR [--targets generic,x86-64-v3,native]
           [--max-ram BYTES --recomputed PERCENT] [--fast bf16]

With --max-ram the arena must be that small, and no more than PERCENT of the
multiply-adds may be computed again for it.

NAME is a folder of models/real (its own inputs are used, and its own expected
outputs are checked too) or a file of models/graphs (filled with seeded weights;
seeded inputs). An output may differ by 1e-4 of its range, with --fast by twice as much as
of the network that is rounded to such numbers throughout (rounded.py), and of f16 on
processors, which sum some products in it, by 5e-3 at least. A target that this
machine cannot run is skipped, with a word.
"""
import argparse
import glob
import json
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import rounded  # noqa: E402

MODELS = os.path.join(HERE, "models")
TOLERANCE = 1e-4
TOLERANCE_OF_HALF_SUMS = 5e-3


def load_tensor(path):
    tensor = onnx.TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    return numpy_helper.to_array(tensor)


def save_tensor(path, name, array):
    with open(path, "wb") as file:
        file.write(numpy_helper.from_array(array, name).SerializeToString())


# Networks of models/graphs with smaller images: the source, and how its sizes change in inputs, results,
# shapes and constants (the positions of a detector).
SMALLER = {"yolov8n_160": ("yolov8n_640", {640: 160, 8400: 525})}


def make_smaller(path, sizes, to):
    model = onnx.load(path)
    for value in [*model.graph.input, *model.graph.output]:
        for d in value.type.tensor_type.shape.dim:
            d.dim_value = sizes.get(d.dim_value, d.dim_value)
    del model.graph.value_info[:]
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.int64:
            array = np.array([sizes.get(x, x) for x in array.ravel()], np.int64).reshape(array.shape)
        array = array[tuple(slice(sizes.get(n, n)) for n in array.shape)]
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    onnx.save(model, to)


def find_model(name, work):
    """Returns the model's path, and the folders of its own test data."""
    if name in SMALLER:
        source, sizes = SMALLER[name]
        path = os.path.join(work, name + ".onnx")
        make_smaller(find_model(source, work)[0], sizes, path)
        return path, []
    real = os.path.join(MODELS, "real", name)
    if os.path.isdir(real):
        return os.path.join(real, "model.onnx"), sorted(glob.glob(os.path.join(real, "test_data_set_*")))
    subprocess.run([sys.executable, os.path.join(MODELS, "models.py"), "fill", name, "--out", work],
                   check=True, stdout=subprocess.DEVNULL)
    return os.path.join(work, name + ".onnx"), []


def make_inputs(session, folder):
    """Returns the inputs of a data set, or seeded ones, as a list in the model's order."""
    inputs = session.get_inputs()
    if folder:
        return [load_tensor(os.path.join(folder, f"input_{i}.pb")) for i in range(len(inputs))]
    random = np.random.default_rng(20)
    arrays = []
    for value in inputs:
        shape = [d if isinstance(d, int) else 1 for d in value.shape]
        if value.type == "tensor(float)":
            arrays.append(random.standard_normal(shape, dtype=np.float32))
        else:
            arrays.append(random.integers(0, 2, shape).astype(value.type[len("tensor("):-1]))
    return arrays


def distance(result, expected):
    """Returns the largest difference relative to the range of the expected values; a text if type or shape
    differ."""
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return f"{result.dtype}{list(result.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if expected.size == 0:
        return 0.0
    result, expected = result.astype(np.float64), expected.astype(np.float64)
    if not np.array_equal(np.isnan(result), np.isnan(expected)):
        return "NaN in other places"
    size = np.nanmax(np.abs(expected), initial=0)
    return float(np.nanmax(np.abs(result - expected), initial=0) / (size or 1))


def is_quantized(model):
    return any(node.op_type == "QuantizeLinear" for node in onnx.load(model, load_external_data=False).graph.node)


def saturates():
    """Whether ONNX Runtime is inexact on this machine: on x86 without VNNI it adds two products of 8-bit
    integers in 16 bits."""
    with open("/proc/cpuinfo") as file:
        cpu = file.read()
    return "avx2" in cpu and "vnni" not in cpu


def outputs_of(args, sessions, folder, inputs):
    """Returns, for each output, the values that count as right: those that ONNX Runtime computes, or those
    that came with the model."""
    names = [v.name for v in sessions[0].get_inputs()]
    if folder and args.own_outputs:
        return [[load_tensor(os.path.join(folder, f"output_{i}.pb"))] for i in range(len(sessions[0].get_outputs()))]
    return list(zip(*(session.run(None, dict(zip(names, inputs))) for session in sessions)))


def errors_of_rounding(args, model, inputs, expected):
    """Returns, for each output, the error of the network that is computed throughout in the precision of
    --fast."""
    path = os.path.join(args.work, f"{args.name}_{args.fast}.onnx")
    rounded.save(model, args.fast, path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    results = session.run(None, dict(zip([v.name for v in session.get_inputs()], inputs)))
    return [distance(result, right[0]) for result, right in zip(results, expected)]


def open_sessions(model):
    """Returns sessions of ONNX Runtime. For a quantized network, adds one without optimizations: the
    optimized 8-bit kernels round other intermediate values than the model specifies, so results may differ
    by one step."""
    level = onnxruntime.GraphOptimizationLevel
    sessions = []
    for each in [level.ORT_ENABLE_ALL] + [level.ORT_DISABLE_ALL] * is_quantized(model):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.graph_optimization_level = each
        sessions.append(onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]))
    return sessions


def check(args, model, sessions, folder, target):
    """Runs one data set on one target; returns the number of wrong outputs."""
    session = sessions[0]
    inputs = make_inputs(session, folder)
    expected = outputs_of(args, sessions, folder, inputs)
    input_dir, output_dir = (os.path.join(args.work, args.name, target, d) for d in ("in", "out"))
    for directory in (input_dir, output_dir):
        os.makedirs(directory, exist_ok=True)
    for old in glob.glob(os.path.join(output_dir, "*.pb")):
        os.remove(old)
    for i, (value, array) in enumerate(zip(session.get_inputs(), inputs)):
        save_tensor(os.path.join(input_dir, f"input_{i}.pb"), value.name, array)

    command = [args.ingot, "run", model, input_dir, output_dir, "--target", target, *args.limit]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{target}: exit code {done.returncode}: {' '.join(command)}\n{done.stderr}")
        return 1
    limits = [TOLERANCE] * len(expected)
    if args.fast:
        # With --fast f16, CPUs accumulate some dot products in f16; a GPU accumulates in f32.
        least = TOLERANCE_OF_HALF_SUMS if args.fast == "f16" and not target.startswith("sm_") else 0
        limits = [max(2 * error, least) for error in errors_of_rounding(args, model, inputs, expected)]
    wrong = 0
    for i, (value, right) in enumerate(zip(session.get_outputs(), expected)):
        result = load_tensor(os.path.join(output_dir, f"output_{i}.pb"))
        error = min((distance(result, array) for array in right), key=lambda d: (isinstance(d, str), d))
        bad = isinstance(error, str) or error > limits[i]
        text = error if isinstance(error, str) else f"{error:.1e} of the range"
        text += f", {limits[i] / 2:.1e} if rounded throughout" * bool(args.fast)
        print(f"{target:10} {os.path.basename(folder or 'seeded'):16} {value.name:24} {text}{'  WRONG' if bad else ''}",
              flush=True)
        wrong += bad
    return wrong


def check_memory(args, model, target):
    """Whether a network with --max-ram needs more memory than the limit, or recomputes more than --recomputed
    percent of its multiply-accumulates."""
    def inspect(*options):
        command = [args.ingot, "inspect", model, "--target", target, "--json", *options]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    limited, free = inspect(*args.limit), inspect()
    price = 100 * (limited["macs"] - free["macs"]) / free["macs"]
    bad = limited["arena_bytes"] > args.max_ram or price > args.recomputed
    print(f"{target:10} arena {limited['arena_bytes']} instead of {free['arena_bytes']} bytes, "
          f"{price:.2f} % recomputed{'  WRONG' if bad else ''}")
    return bad


def runs_here(ingot, target):
    """Whether this machine runs the target, natively or under an emulator."""
    listing = subprocess.run([ingot, "targets"], capture_output=True, text=True).stdout
    lines = [line for line in listing.splitlines() if line.split()[:1] == [target]]
    return not any("does not run on this machine" in line for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--targets", default="generic,x86-64-v3,native")
    parser.add_argument("--max-ram", type=int)
    parser.add_argument("--recomputed", type=float, default=0)
    parser.add_argument("--fast")
    args = parser.parse_args()
    args.limit = ["--max-ram", str(args.max_ram)] if args.max_ram else []
    args.limit += ["--fast", args.fast] if args.fast else []
    os.makedirs(args.work, exist_ok=True)
    model, folders = find_model(args.name, args.work)
    args.own_outputs = is_quantized(model) and saturates()
    sessions = open_sessions(model)
    wrong = 0
    for target in args.targets.split(","):
        if not runs_here(args.ingot, target):
            print(f"{target}: this machine does not run it")
            continue
        for folder in folders[:1] or [None]:
            wrong += check(args, model, sessions, folder, target)
        if args.max_ram:
            wrong += check_memory(args, model, target)
    # Tests all data sets that came with the model, with their own expected outputs, on the last target.
    if folders and not args.fast and runs_here(args.ingot, target):
        command = [args.ingot, "test", model, "--target", target, *args.limit]
        done = subprocess.run(command)
        if done.returncode:
            print(f"exit code {done.returncode}: {' '.join(command)}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
