#!/usr/bin/env python3
"""Times calls from Python: networks compiled by ingot.compile beside ONNX Runtime, and the cost of a call itself.

    PYTHONPATH=build/python build/venv/bin/python3 test/bench/python_calls.py --work DIR [MODEL.onnx | NAME...]
                            [--threads N] [--seconds S] [--rounds R] [--most-overhead US]

A NAME is one of test/networks/models (filled with seeded weights); without any, ten small and middle networks are timed. A row
shows the median microseconds of `net(x)` and of `session.run(None, {name: x})` with arrays of NumPy. The two take turns, so that
drift of the machine hits both alike. The first row is a Relu of four numbers, whose work is nothing: it is the cost of a call.
With --most-overhead the script fails if that is above a number of microseconds. Run it on an idle machine.
"""

import argparse
import math
import pathlib
import statistics
import sys
import time

import numpy as np
import onnx
import onnxruntime
from run import find_model

import ingot

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = (
    "tiny_ad_autoencoder", "mnist_8", "lenet5", "tiny_ds_cnn_kws", "tiny_resnet8_cifar", "tiny_resnet8_cifar_int8",
    str(ROOT / "examples/quantize/chars.onnx"), "cnn_mnist_pytorch", "ultraface_rfb_320", "mobilenet_v3_small",
)  # fmt: skip
EMPTY = '<ir_version: 8, opset_import: ["": 17]> net (float[4] x) => (float[4] y) { y = Relu(x) }'
TYPES = {"float": "float32", "double": "float64"}


def feeds_of(session):
    """Returns random inputs; a dimension without a size is 1."""
    random = np.random.default_rng(1)
    feeds = {}
    for value in session.get_inputs():
        shape = [size if isinstance(size, int) else 1 for size in value.shape]
        kind = value.type.removeprefix("tensor(").removesuffix(")")
        dtype = np.dtype(TYPES.get(kind, kind))
        data = random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 2, shape)
        feeds[value.name] = np.ascontiguousarray(data.astype(dtype))
    return feeds


def microseconds(call, seconds):
    """Returns the median time of a call, in batches of about a millisecond."""
    call()
    begin = time.perf_counter()
    call()
    count = max(1, int(1e-3 / max(time.perf_counter() - begin, 1e-7)))
    times = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - begin) / count)
    return statistics.median(times) * 1e6


def row_of(model, arguments):
    """Returns the medians for ONNX Runtime and Ingot, after comparing their results."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = arguments.threads, 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = feeds_of(session)
    dims = {f"{name}:{axis}": size for name, x in feeds.items() for axis, size in enumerate(x.shape)}
    net = ingot.compile(model, threads=arguments.threads, dims=dims)
    # The tolerance is large, since the results of int8 models may differ by a rounding step.
    if not ingot.verify(net, feeds, session.run(None, feeds), rtol=1e-2, atol=1e-2):
        print(f"the results for {model} differ", file=sys.stderr)
    inputs = [feeds[info.name] for info in net.inputs]
    pairs = []
    for _ in range(arguments.rounds):
        pairs.append((microseconds(lambda: session.run(None, feeds), arguments.seconds),
                      microseconds(lambda: net(*inputs), arguments.seconds)))  # fmt: skip
    return tuple(statistics.median(column) for column in zip(*pairs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--work", required=True, help="folder for filled networks")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most-overhead", type=float)
    arguments = parser.parse_args()
    work = pathlib.Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    empty = work / "empty.onnx"
    onnx.save(onnx.parser.parse_model(EMPTY), empty)
    print(f"microseconds of a call, {arguments.threads} thread(s), ONNX Runtime {onnxruntime.__version__}, NumPy {np.__version__}\n")
    print("| network | ONNX Runtime | Ingot | ratio |\n|---|--:|--:|--:|")
    overhead, ratios = 0.0, []
    for name in (str(empty), *(arguments.models or NETWORKS)):
        reference, own = row_of(find_model(name, str(work)), arguments)
        title = "Relu of 4 numbers" if name == str(empty) else pathlib.Path(name).stem
        print(f"| {title} | {reference:.4g} | {own:.4g} | {reference / own:.1f} |", flush=True)
        if name == str(empty):
            overhead = own
        else:
            ratios.append(reference / own)
    print(f"\ngeometric mean of the ratios of the {len(ratios)} networks: {math.exp(statistics.mean(map(math.log, ratios))):.2f}")
    if arguments.most_overhead and overhead > arguments.most_overhead:
        print(f"a call costs {overhead:.2f} microseconds, more than {arguments.most_overhead}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
