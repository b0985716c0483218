#!/usr/bin/env python3
"""Times networks compiled by Ingot beside ONNX Runtime or ncnn, and prints a table.

    run.py --ingot PROGRAM --work DIR [MODEL.onnx | NAME...] [--threads N] [--seconds S] [--rounds R] [--beside ncnn]

A NAME is one of test/networks/models (filled with seeded weights); without any,
all of these are timed. The two take turns, so that drift of the machine hits
both alike; a row shows the median of the rounds' medians, and the last line the
geometric mean of the ratios. Run it on an idle machine.

ncnn needs: pip install ncnn pnnx. pnnx converts the models, which must have static sizes, to float32 networks.
"""
import argparse
import math
import os
import shutil
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
    parser.add_argument("--beside", choices=PEERS, default="onnxruntime")
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


def onnxruntime_session(model, threads, work):
    """Returns a function that runs the model once with ONNX Runtime."""
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
    return lambda: session.run_with_iobinding(binding)


def ncnn_session(model, threads, work):
    """Returns a function that runs the model once with ncnn. The converted network is kept in the folder `work`."""
    import ncnn
    import numpy as np
    import onnx
    stem = os.path.join(work, os.path.basename(model)[:-len(".onnx")])
    inputs = [[dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in onnx.load(model).graph.input]
    if not os.path.exists(stem + ".ncnn.bin"):
        folder = stem + ".pnnx"
        os.makedirs(folder, exist_ok=True)
        copy = shutil.copy(model, os.path.join(folder, os.path.basename(stem) + ".onnx"))
        shapes = ",".join(f"[{','.join(map(str, shape))}]f32" for shape in inputs)
        pnnx = shutil.which("pnnx", path=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
        subprocess.run([pnnx, os.path.basename(copy), f"inputshape={shapes}", "fp16=0"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for kind in ("param", "bin"):
            shutil.move(os.path.join(folder, f"{os.path.basename(stem)}.ncnn.{kind}"), f"{stem}.ncnn.{kind}")
        shutil.rmtree(folder)
    network = ncnn.Net()
    network.opt.num_threads = threads
    if network.load_param(stem + ".ncnn.param") or network.load_model(stem + ".ncnn.bin"):
        sys.exit("ncnn cannot load the converted network")
    random = np.random.default_rng(1)
    # ncnn has no batch axis.
    data = [ncnn.Mat(random.standard_normal(shape[1:]).astype(np.float32)) for shape in inputs]

    def run():
        extractor = network.create_extractor()
        for name, values in zip(network.input_names(), data):
            extractor.input(name, values)
        return [extractor.extract(name) for name in network.output_names()]

    if any(code for code, _ in run()):
        sys.exit("ncnn cannot run the converted network")
    return run


PEERS = {"onnxruntime": ("ONNX Runtime", onnxruntime_session), "ncnn": ("ncnn", ncnn_session)}


def time_reference(args):
    """Implements the hidden mode --reference: prints the peer's milliseconds, one number per line."""
    run = PEERS[args.beside][1](args.reference, args.threads, args.work)
    warm = time.perf_counter()
    while time.perf_counter() - warm < 0.2:
        run()
    end = time.perf_counter() + args.seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
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
        return time_reference(args)
    os.makedirs(args.work, exist_ok=True)
    names = args.models or sorted(f[:-len(".onnx")] for f in os.listdir(os.path.join(MODELS, "graphs")))
    print(f"{'network':32}{PEERS[args.beside][0]:>14}{'Ingot':>12}{'faster by':>12}   (ms, {args.threads} thread(s))")
    ratios, failures = [], 0
    for name in names:
        model = find_model(name, args.work)
        limits = ["--threads", str(args.threads), "--seconds", str(args.seconds)]
        commands = [
            [sys.executable, __file__, "--ingot", args.ingot, "--work", args.work, "--beside", args.beside, "--reference", model,
             *limits],
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
