#!/usr/bin/env python3
"""Times networks compiled by Ingot on this machine's GPU, and prints a table.

    gpu.py --ingot PROGRAM --work DIR [MODEL.onnx | NAME...] [--target sm_90a] [--fast bf16] [--seconds S] [--rounds R]

A NAME is one of test/networks/models (filled with seeded weights); without any, all of these in floats are timed. Tensors
are in the memory of the device, sizes that a model leaves open are 1, and a run is what lies between two events of its stream: the replay of a
graph. Where onnxruntime has CUDA, it takes turns with Ingot, under the same conditions. Needs nvcc, and nvidia-smi or --target.
"""
import argparse
import math
import os
import re
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from run import MODELS, find_model, median_of  # noqa: E402

# Ingot's GPU targets by compute capability.
LEVELS = {75: "sm_75", 80: "sm_80", 86: "sm_86", 89: "sm_89", 90: "sm_90a"}
SIZES = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "int8": 1, "uint8": 1, "bool": 1, "int16": 2, "uint16": 2, "int32": 4,
         "uint32": 4, "int64": 8, "uint64": 8}
PROGRAM = """#include "net.h"
#include <algorithm>
#include <chrono>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

static void check(int status, const char *what) {
  if (status == 0) return;
  fprintf(stderr, "%s: error %d\\n", what, status);
  exit(1);
}

// Of `bytes` on the device; floats between -1 and 1, integers 0.
static void *tensor(size_t bytes, bool is_float) {
  std::vector<float> numbers(bytes / 4 + 1);
  for (size_t i = 0; i < numbers.size() && is_float; ++i)
    numbers[i] = (float)((i * 2654435761u >> 8) % 2001) / 1000 - 1;
  void *memory = nullptr;
  check(cudaMalloc(&memory, bytes + 1), "cudaMalloc");
  check(cudaMemcpyAsync(memory, numbers.data(), bytes, cudaMemcpyDefault, nullptr), "cudaMemcpy");
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  return memory;
}

int main(int, char **arguments) {
  double seconds = atof(arguments[1]);
  net_constants constants;
  net_handle handle;
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(net_upload(&constants, stream), "net_upload");
  check(net_create(&handle, &constants, stream), "net_create");
  net_io io;
  memset(&io, 0, sizeof io);
  io.place = INGOT_ON_DEVICE;
  TENSORS
  cudaEvent_t begin, end;
  check(cudaEventCreateWithFlags(&begin, 0), "cudaEventCreate");
  check(cudaEventCreateWithFlags(&end, 0), "cudaEventCreate");
  using clock = std::chrono::steady_clock;
  auto from = clock::now();
  for (int run = 0; run < 4 || std::chrono::duration<double>(clock::now() - from).count() < seconds; ++run) {
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    check(net_run(&handle, &io, stream), "net_run");
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (run > 2) printf("%.6f\\n", milliseconds);
  }
  check(net_destroy(&handle), "net_destroy");
  check(net_release(&constants), "net_release");
  return 0;
}
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True, help="folder for filled networks and programs")
    parser.add_argument("--target", help="a level, as sm_90a; without it that of the first GPU")
    parser.add_argument("--fast", choices=("bf16", "f16", "tf32"), help="as of ingot")
    parser.add_argument("--seconds", type=float, default=1, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--emulate", metavar="CXX", help="build with this compiler for an emulated GPU, of which times say nothing")
    parser.add_argument("--reference", metavar="MODEL.onnx", help=argparse.SUPPRESS)
    return parser.parse_args()


def level_here():
    """Returns the most capable target that the first GPU runs."""
    try:
        said = subprocess.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"], capture_output=True, text=True, check=True).stdout
        capability = int(said.splitlines()[0].replace(".", ""))
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError):
        sys.exit("there is no GPU here: nvidia-smi finds none (with --target a program is built all the same)")
    # Code for sm_90a runs only on compute capability 9.0; other code also runs on later devices of the same
    # generation.
    fitting = [number for number in LEVELS if number == capability or (number < capability and number // 10 == capability // 10)]
    if not fitting:
        sys.exit(f"Ingot writes no code for a GPU of compute capability {capability / 10}")
    return LEVELS[max(fitting)]


def tensors(header):
    """Returns (field, bytes, is_float) for each tensor of the io struct; None if the model has dynamic
    sizes."""
    struct = re.search(r"typedef struct net_io \{(.*?)\} net_io;", header, re.S).group(1)
    if "ptrdiff_t" in struct:
        return None
    return [(name, math.prod(map(int, filter(None, shape.split(",")))) * SIZES[kind], "float" in kind)
            for name, kind, shape in re.findall(r"\*(\w+);\s*/\* (?:in|out): (\w+) \[([^\]]*)\]", struct)]


def architecture(target):
    """Returns the flag with which nvcc compiles for exactly one target: for nvcc 13.0, -arch=sm_90a also
    generates code for 9.0 without its specific instructions."""
    level = target[len("sm_"):]
    return f"-gencode=arch=compute_{level},code=sm_{level}"


def build(args, model, folder):
    """Builds the program that times a network; returns its path, or an error message."""
    os.makedirs(folder, exist_ok=True)
    source, driver, program = (os.path.join(folder, name) for name in ("net.cu", "main.cu", "program"))
    command = [args.ingot, model, "-o", source, "--name", "net", "--target", args.target, "--dim", "*=1"]
    done = subprocess.run(command + ([f"--fast={args.fast}"] if args.fast else []), capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.splitlines()[0]
    with open(os.path.join(folder, "net.h")) as file:
        found = tensors(file.read())
    if found is None:
        return None, "sizes that are named at each run are not timed"
    with open(driver, "w") as file:
        file.write(PROGRAM.replace("TENSORS", "\n  ".join(f"io.{name} = (decltype(io.{name}))tensor({size}, {str(is_float).lower()});"
                                                          for name, size, is_float in found)))
    objects = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("net.") and name.endswith(".o")]
    if args.emulate:
        emulation = os.path.join(HERE, "..", "..", "targets", "cuda", "emulation")
        command = [args.emulate, "-std=c++17", "-O1", "-I", emulation, "-x", "c++", source, driver, *(["-x", "none"] if objects else [])]
    else:
        command = [shutil.which("nvcc") or sys.exit("there is no nvcc on the path"), "-std=c++17", "-O2", architecture(args.target), source, driver]
    done = subprocess.run([*command, *objects, "-o", program], capture_output=True, text=True)
    return (program, None) if done.returncode == 0 else (None, "the program does not compile: " + (done.stderr or done.stdout).splitlines()[0])


def time_reference(model, seconds):
    """Implements the hidden mode --reference: prints ONNX Runtime's milliseconds on the GPU, one number
    per line."""
    import time
    import numpy as np
    import onnxruntime as ort
    session = ort.InferenceSession(model, providers=["CUDAExecutionProvider"])
    random, binding = np.random.default_rng(1), session.io_binding()
    for value in session.get_inputs():
        kind = value.type[len("tensor("):-1]
        shape, kind = [d if isinstance(d, int) else 1 for d in value.shape], {"float": "float32", "double": "float64"}.get(kind, kind)
        data = random.uniform(-1, 1, shape) if kind.startswith("float") else np.zeros(shape)
        binding.bind_ortvalue_input(value.name, ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(data.astype(kind)), "cuda", 0))
    for value in session.get_outputs():
        binding.bind_output(value.name, "cuda")
    end = time.perf_counter() + seconds
    for run in range(10 ** 9):
        start = time.perf_counter()
        session.run_with_iobinding(binding)
        binding.synchronize_outputs()
        if run > 2:
            print((time.perf_counter() - start) * 1e3)
            if time.perf_counter() > end:
                return


def has_reference():
    try:
        import onnxruntime
    except ImportError:
        return False
    return "CUDAExecutionProvider" in onnxruntime.get_available_providers()


def main():
    args = arguments()
    if args.reference:
        return time_reference(args.reference, args.seconds)
    args.target = args.target or level_here()
    os.makedirs(args.work, exist_ok=True)
    names = args.models or sorted(f[:-len(".onnx")] for f in os.listdir(os.path.join(MODELS, "graphs")) if "int8" not in f)
    beside = has_reference() and not args.emulate
    print(f"{'network':32}{'ONNX Runtime':>14}{'Ingot':>12}{'faster by':>12}   (ms, {args.target}{', ' + args.fast if args.fast else ''}"
          f"{', emulated: times say nothing' if args.emulate else ''})")
    ratios, failures = [], 0
    for name in names:
        model = find_model(name, args.work)
        label = os.path.basename(os.path.dirname(model) if model.endswith("/model.onnx") else model[:-len(".onnx")])
        program, complaint = build(args, model, os.path.join(args.work, "gpu", label))
        commands = [] if complaint else [[program, str(args.seconds)]]
        if beside:
            commands.append([sys.executable, __file__, "--ingot", args.ingot, "--work", args.work, "--reference", model, "--seconds", str(args.seconds)])
        medians = [[] for _ in commands]
        for _ in range(args.rounds):
            for command, results in zip(commands, medians):
                value, why = median_of(command)
                complaint = complaint or why
                results.append(value)
        if complaint:
            print(f"{label:32}{complaint}", flush=True)
            failures += 1
            continue
        ours, *reference = (statistics.median(results) for results in medians)
        if reference:
            ratios.append(reference[0] / ours)
        print(f"{label:32}{reference[0] if reference else '-':>14.4}{ours:12.4f}" + (f"{ratios[-1]:12.2f}" if reference else ""), flush=True)
    if ratios:
        print(f"{'geometric mean':32}{'':26}{math.exp(statistics.fmean(math.log(r) for r in ratios)):12.2f}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
