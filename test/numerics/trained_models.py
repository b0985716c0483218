"""Pipelines and trees as skl2onnx and the converters of LightGBM and XGBoost write them, beside ONNX Runtime.

    trained_models.py --ingot INGOT [--filter TEXT]

Each model of trained/ is compiled once, for any number of rows, and runs on 1, 7 and 256.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

ROWS = (1, 7, 256)
WORDS = "the cat sat on a mat while Dogs bark at night in the big city full of light, 7 times_or more!".split()
CITIES = ["Köln", "Paris", "", "New York", "Oslo"]
rng = np.random.default_rng(5)


def session(model):
    """Returns a session of ONNX Runtime, with a locale that this machine has."""
    own = onnx.ModelProto()
    own.CopyFrom(model)
    for node in own.graph.node:
        if node.op_type == "StringNormalizer":
            node.attribute.append(helper.make_attribute("locale", "C.UTF-8"))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # One thread, so that trees are summed in their order.
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(own.SerializeToString(), options, providers=["CPUExecutionProvider"])


def values(name, shape):
    if name == "city":
        return rng.choice(np.array(CITIES, object), shape)
    if name == "text":
        lines = [" ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(shape[0])]
        return np.array(lines, object).reshape(shape)
    return rng.standard_normal(shape).astype(np.float32)


def tensor(value):
    """Converts a result to a tensor; maps of scores become a matrix."""
    if isinstance(value, list) and isinstance(value[0], dict):
        return np.array([list(row.values()) for row in value], np.float32)
    value = np.asarray(value)
    return value.astype(object) if value.dtype.kind in "US" else value


def check(ingot, path, folder):
    model = onnx.load(path)
    runs = session(model)
    for rows in ROWS:
        inputs = {i.name: values(i.name, (rows, *i.shape[1:])) for i in runs.get_inputs()}
        data = folder / f"test_data_set_{rows}"
        data.mkdir()
        for kind, names, arrays in (("input", inputs, inputs.values()), ("output", [o.name for o in runs.get_outputs()], runs.run(None, inputs))):
            for i, (name, value) in enumerate(zip(names, arrays)):
                (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(tensor(value), name).SerializeToString())
    done = subprocess.run([ingot, "test", "--dynamic", "--dim", "*=1..256", path, folder], capture_output=True, text=True)
    wrong = [line for line in (done.stdout + done.stderr).splitlines() if "WRONG" in line or "error" in line.split("[")[0]]
    print(f"{path.stem}: " + ("agrees" if done.returncode == 0 else f"exit code {done.returncode}"), *wrong[:4], sep="\n  ")
    return done.returncode != 0


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--ingot", required=True)
parser.add_argument("--program")
parser.add_argument("--filter", default="")
args = parser.parse_args()
models = [p for p in sorted((pathlib.Path(__file__).parent / "trained").glob("*.onnx")) if args.filter in p.stem]
failures = 0
for each in models:
    with tempfile.TemporaryDirectory() as work:
        failures += check(args.ingot, each, pathlib.Path(work))
print(f"{len(models) - failures} of {len(models)} models agree")
sys.exit(1 if failures or not models else 0)
