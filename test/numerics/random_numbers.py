"""Operators that make random numbers: beside their generator in NumPy, their statistics, and on other targets.

    random_numbers.py --ingot INGOT [--targets generic,x86-64-v3,armv8-a]

The generator is written here once more, from its definition (Philox 4x32-10), so that the numbers themselves are compared.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node
COUNT = 1 << 16
STEP = 0x9E3779B97F4A7C15
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)


def philox(count, key, stream=0):
    """Returns the first 64 of the 128 bits of each of the blocks 0 to count - 1 of Philox 4x32-10."""
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    position = np.arange(count, dtype=np.uint64)
    c = [position & mask, position >> half, np.full(count, stream & 0xFFFFFFFF, np.uint64), np.full(count, stream >> 32, np.uint64)]
    low, high = key & 0xFFFFFFFF, key >> 32 & 0xFFFFFFFF
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [second >> half ^ c[1] ^ np.uint64(low), second & mask, first >> half ^ c[3] ^ np.uint64(high), first & mask]
        low, high = (low + 0x9E3779B9) & 0xFFFFFFFF, (high + 0xBB67AE85) & 0xFFFFFFFF
    return c[0] << half | c[1]


def bits(count, key, width, stream=0):
    return philox(count, key, stream) >> np.uint64(64 - width)


def uniform(count, key, stream=0):
    return bits(count, key, 24, stream).astype(np.float32) * np.float32(2.0**-24)


def normal(count, key):
    share = (bits(count, key, 32, 1) + 0.5) * 2.0**-32
    return np.sqrt(-2 * np.log(share)) * np.cos(2 * np.pi * uniform(count, key, 2))


def key_of(seed):
    """Returns the key of a seed: seeds are floats, and the key has their bits."""
    return int(np.float32(seed).view(np.uint32))


def info(name, shape=None, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, inputs, outputs, constants=None, opset=22):
    graph = helper.make_graph(nodes, "numbers", inputs, outputs, [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def run(ingot, network, inputs=None, *options):
    """Runs a model with Ingot; returns the outputs by name."""
    with tempfile.TemporaryDirectory() as folder:
        path, results = os.path.join(folder, "model.onnx"), os.path.join(folder, "out")
        onnx.save(network, path)
        command = [ingot, "run", path, "--output-dir", results, *options]
        for name, value in (inputs or {}).items():
            file = os.path.join(folder, name + ".npy")
            np.save(file, value)
            command += ["--input", f"{name}={file}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
        return {o.name: np.load(os.path.join(results, o.name + ".npy")) for o in network.graph.output}


def everything():
    """Returns a model with a node for each random operator and each of its forms; all results are outputs."""
    big = dict(shape=[COUNT])
    nodes = [
        node("RandomUniform", [], ["zero"], seed=0.0, **big),
        node("RandomUniform", [], ["cube"], seed=-2.5, shape=[3, 5, 7]),
        node("RandomUniform", [], ["wide"], seed=3.0, dtype=TensorProto.DOUBLE, **big),
        node("RandomUniform", [], ["half"], seed=3.0, dtype=TensorProto.FLOAT16, **big),
        node("RandomUniform", [], ["between"], seed=3.0, low=-3.0, high=5.0, **big),
        node("RandomUniform", [], ["own1"], **big),
        node("RandomUniform", [], ["own2"], **big),
        node("RandomNormal", [], ["normal"], seed=1.0, **big),
        node("RandomNormal", [], ["shifted"], seed=1.0, mean=10.0, scale=3.0, **big),
        node("RandomNormal", [], ["precise"], seed=2.0, dtype=TensorProto.DOUBLE, **big),
        node("RandomUniformLike", ["x"], ["like"], seed=4.0),
        node("RandomNormalLike", ["x"], ["normal_like"], seed=4.0, dtype=TensorProto.DOUBLE),
        node("Bernoulli", ["p"], ["coins"], seed=5.0, dtype=TensorProto.BOOL),
        node("Multinomial", ["logits"], ["classes"], seed=6.0, sample_size=COUNT, dtype=TensorProto.INT64),
        node("Dropout", ["x", "ratio", "yes"], ["dropped", "mask"], seed=7),
        node("Dropout", ["x", "ratio", "training"], ["dropped2", "mask2"], seed=7),
    ]
    outputs = [name for n in nodes for name in n.output]
    return model(nodes, [info("x", [40, 100]), info("p", [COUNT]), info("logits", [2, 5]), info("training", [], TensorProto.BOOL)],
                 [helper.make_empty_tensor_value_info(o) for o in outputs], {"ratio": np.float32(0.3), "yes": np.array(True)})


def given(training):
    rng = np.random.default_rng(11)
    return {"x": rng.standard_normal((40, 100)).astype(np.float32), "p": np.linspace(0, 1, COUNT, dtype=np.float32),
            "logits": np.log(np.array([[1, 2, 3, 4, 0], [5, 0, 0, 1, 2]], np.float32) + np.float32(1e-30)), "training": np.array(training)}


def numbers(ingot):
    expect(philox(1, 0)[0] == 0x6627E8D5E169C58D, "this implementation misses the known answer")
    got, inputs = run(ingot, everything(), given(True)), given(True)
    exact = {
        "zero": uniform(COUNT, 0), "cube": uniform(105, key_of(-2.5)).reshape(3, 5, 7),
        "wide": bits(COUNT, key_of(3), 53) * 2.0**-53, "half": (bits(COUNT, key_of(3), 11) * 2.0**-11).astype(np.float16),
        "between": uniform(COUNT, key_of(3)) * np.float32(8) - np.float32(3),
        "like": uniform(4000, key_of(4)).reshape(40, 100), "coins": uniform(COUNT, key_of(5)) < inputs["p"]}
    mask = (uniform(4000, 7) >= np.float32(0.3)).reshape(40, 100)
    exact |= {"mask": mask, "mask2": mask}
    for name, want in exact.items():
        expect(got[name].dtype == want.dtype and np.array_equal(got[name], want), f"{name}: other numbers than those of the definition")
    kept = np.where(mask, inputs["x"] / np.float32(0.7), 0)
    close = {"normal": normal(COUNT, key_of(1)), "shifted": 10 + 3 * normal(COUNT, key_of(1)), "dropped": kept, "dropped2": kept}
    for name, want in close.items():
        expect(np.allclose(got[name], want, 1e-5, 2e-5), f"{name}: off by {np.abs(got[name] - want).max()}")
    shares = np.exp(inputs["logits"].astype(np.float64)).cumsum(1)
    draws = uniform(2 * COUNT, key_of(6)).reshape(2, COUNT)
    want = (shares[:, None, :] <= draws[:, :, None] * shares[:, None, -1:]).sum(2)
    expect((got["classes"] != want).mean() < 1e-4, "classes: other samples than those of the definition")
    expect(set(np.unique(got["classes"][0])) == {0, 1, 2, 3} and set(np.unique(got["classes"][1])) == {0, 3, 4}, "an impossible class")
    off = run(ingot, everything(), given(False), "--dynamic")
    expect(np.array_equal(off["dropped2"], inputs["x"]) and off["mask2"].all(), "Dropout is not the identity where it does not train")
    on = run(ingot, everything(), given(True), "--dynamic")
    expect(np.array_equal(on["dropped2"], got["dropped2"]) and np.array_equal(on["mask2"], mask), "a mode of the run has other numbers")
    return got


def statistics(got):
    """Checks that means, histograms and correlations of the random numbers are within four standard deviations
    of their expectation. The numbers, and so the result, are the same in each run."""
    root = np.sqrt(COUNT)
    for name in ("zero", "wide", "half", "own1", "own2"):
        x = got[name].astype(np.float64)
        counts = np.bincount((x * 64).astype(int), minlength=64)
        chi = ((counts - COUNT / 64) ** 2 / (COUNT / 64)).sum()
        expect(x.min() >= 0 and x.max() < 1, f"{name}: out of [0, 1)")
        expect(abs(x.mean() - 0.5) < 4 * 0.2887 / root + 2.0**-12 and abs(x.var() - 1 / 12) < 0.002, f"{name}: mean {x.mean()}, variance {x.var()}")
        expect(abs(chi - 63) < 4 * np.sqrt(2 * 63), f"{name}: chi-square {chi} of 63 degrees")
        expect(abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 4 / root, f"{name}: neighbours depend on each other")
    expect(got["between"].min() >= -3 and got["between"].max() <= 5 and abs(got["between"].mean() - 1) < 4 * 8 * 0.2887 / root, "between: bounds, mean")
    for name, mean, scale in (("normal", 0, 1), ("shifted", 10, 3), ("precise", 0, 1)):
        x = (got[name].astype(np.float64) - mean) / scale
        expect(abs(x.mean()) < 4 / root and abs(x.var() - 1) < 4 * np.sqrt(2) / root, f"{name}: mean {x.mean()}, variance {x.var()}")
        expect(abs((x**4).mean() - 3) < 4 * np.sqrt(96) / root and abs((x**3).mean()) < 4 * np.sqrt(15) / root, f"{name}: moments 3 and 4")
    expect(abs(np.corrcoef(got["own1"], got["own2"])[0, 1]) < 4 / root, "two nodes without a seed depend on each other")
    shares = np.bincount(got["classes"][0], minlength=5)[:4] / COUNT
    expect(np.abs(shares - np.arange(1, 5) / 10).max() < 4 * 0.5 / root, f"classes: shares {shares}")
    expect(abs(got["coins"].mean() - 0.5) < 4 * 0.41 / root, "coins: mean")


def loops(ingot):
    """Checks random operators in a loop: each iteration draws different numbers, which do not depend on whether
    the loop is unrolled."""
    draw = [node("RandomUniform", [], ["u"], shape=[50], seed=9.0), node("RandomUniform", [], ["v"], shape=[50]), node("Identity", ["on"], ["on2"])]
    body = helper.make_graph(draw, "body", [info("i", [], TensorProto.INT64), info("on", [], TensorProto.BOOL)],
                             [info("on2", [], TensorProto.BOOL), info("u", [50]), info("v", [50])])
    def drawn(often):
        return run(ingot, model([node("Loop", ["often", ""], ["us", "vs"], body=body)], [], [info("us"), info("vs")], {"often": np.int64(often)}))
    few, many = drawn(4), drawn(300)
    for name in ("us", "vs"):
        expect(np.array_equal(few[name], many[name][:4]), f"{name}: an unrolled loop has other numbers")
        expect(len(np.unique(many[name][:, 0])) == 300, f"{name}: iterations repeat their numbers")
    want = np.stack([uniform(50, (key_of(9) + i * STEP) & (1 << 64) - 1) for i in range(300)])
    expect(np.array_equal(many["us"], want), "us: other numbers than those of the definition")
    inner = helper.make_graph([node("RandomUniformLike", ["part"], ["w"], seed=9.0)], "inner", [info("part", [50])], [info("w", [50])])
    for length in (4, 300):
        scan = model([node("Scan", ["x"], ["ws"], body=inner, num_scan_inputs=1)], [info("x", [length, 50])], [info("ws")])
        got = run(ingot, scan, {"x": np.zeros((length, 50), np.float32)})
        expect(np.array_equal(got["ws"], want[:length]), f"Scan of {length}: other numbers than a Loop")


def targets(ingot, names):
    """Checks that all targets draw the same bits. Normally distributed numbers may differ by the rounding of a
    logarithm and a cosine."""
    runs = {name: run(ingot, everything(), given(True), "--target", name) for name in names}
    first = runs[names[0]]
    rounded = {"normal": 5e-7, "shifted": 2e-6, "precise": 1e-15, "normal_like": 1e-15}
    for name, other in runs.items():
        for output, values in first.items():
            off = np.abs(values.astype(np.float64) - other[output]).max()
            same = off <= rounded[output] if output in rounded else values.tobytes() == other[output].tobytes()
            expect(same and values.dtype == other[output].dtype, f"{output}: {name} has other numbers than {names[0]}, by {off}")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--ingot", required=True)
parser.add_argument("--program")
parser.add_argument("--targets", default="generic,x86-64-v3,armv8-a")
args = parser.parse_args()
statistics(numbers(args.ingot))
loops(args.ingot)
targets(args.ingot, args.targets.split(","))
if failures:
    sys.exit("\n".join(failures))
print("the numbers are those of the definition, random enough, and the same on", args.targets)
