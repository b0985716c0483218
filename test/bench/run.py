#!/usr/bin/env python3
"""Times networks compiled by Ingot beside ONNX Runtime, and prints a table.

    run.py --ingot PROGRAM --work DIR [MODEL.onnx | NAME...] [--threads N] [--seconds S] [--rounds R]

A NAME is one of test/networks/models (filled with seeded weights); without any,
all of these are timed. The two take turns, so that drift of the machine hits
both alike; a row shows the median of the rounds' medians, and the last line the
geometric mean of the ratios. Run it on an idle machine.
"""
import argparse
import math
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "networks", "models")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True, help="folder for filled networks")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reference", metavar="MODEL.onnx", help=argparse.SUPPRESS)
    return parser.parse_args()


def find_model(name, work):
    """Returns the path of a network; fills it with weights first if it is a name of graphs/."""
    if name.endswith(".onnx"):
        return name
    real = os.path.join(MODELS, "real", name, "model.onnx")
    if os.path.exists(real):
        return real
    path = os.path.join(work, name + ".onnx")
    if not os.path.exists(path):
        subprocess.run([sys.executable, os.path.join(MODELS, "models.py"), "fill", name, "--out", work],
                       check=True, stdout=subprocess.DEVNULL)
    return path


def time_reference(model, threads, seconds):
    """Implements the hidden mode --reference: prints ONNX Runtime's milliseconds, one number
    per line."""
    import numpy as np
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(1)
    binding = session.io_binding()
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else 1 for d in value.shape]
        kind = value.type[len("tensor("):-1]
        kind = {"float": "float32", "double": "float64"}.get(kind, kind)
        data = random.standard_normal(shape) if kind.startswith("float") else random.integers(0, 2, shape)
        binding.bind_cpu_input(value.name, np.ascontiguousarray(data.astype(kind)))
    for value in session.get_outputs():
        binding.bind_output(value.name, "cpu")
    warm = time.perf_counter()
    while time.perf_counter() - warm < 0.2:
        session.run_with_iobinding(binding)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        session.run_with_iobinding(binding)
        print((time.perf_counter() - start) * 1e3)


def median_of(command):
    """Returns the median of the numbers that a command prints, or its error message."""
    done = subprocess.run(command, capture_output=True, text=True)
    numbers = []
    for line in done.stdout.splitlines():
        try:
            numbers.append(float(line))
        except ValueError:
            pass
    if done.returncode or not numbers:
        complaint = done.stderr.strip().splitlines()
        return None, complaint[0] if complaint else f"exit code {done.returncode}"
    return statistics.median(numbers), None


def main():
    args = arguments()
    if args.reference:
        return time_reference(args.reference, args.threads, args.seconds)
    os.makedirs(args.work, exist_ok=True)
    names = args.models or sorted(f[:-len(".onnx")] for f in os.listdir(os.path.join(MODELS, "graphs")))
    print(f"{'network':32}{'ONNX Runtime':>14}{'Ingot':>12}{'faster by':>12}   (ms, {args.threads} thread(s))")
    ratios, failures = [], 0
    for name in names:
        model = find_model(name, args.work)
        limits = ["--threads", str(args.threads), "--seconds", str(args.seconds)]
        commands = [
            [sys.executable, __file__, "--ingot", args.ingot, "--work", args.work, "--reference", model, *limits],
            [args.ingot, "bench", model, "--raw", *limits],
        ]
        medians = [[], []]
        for _ in range(args.rounds):
            for command, results in zip(commands, medians):
                value, complaint = median_of(command)
                if complaint:
                    break
                results.append(value)
            if complaint:
                break
        label = os.path.basename(os.path.dirname(model)) if model.endswith("/model.onnx") else \
            os.path.basename(model)[:-len(".onnx")]
        if complaint:
            print(f"{label:32}{complaint}")
            failures += 1
            continue
        reference, ours = (statistics.median(results) for results in medians)
        ratios.append(reference / ours)
        print(f"{label:32}{reference:14.4f}{ours:12.4f}{ratios[-1]:12.2f}", flush=True)
    if ratios:
        mean = math.exp(statistics.fmean(math.log(r) for r in ratios))
        print(f"{'geometric mean':32}{'':26}{mean:12.2f}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
