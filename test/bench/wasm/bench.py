#!/usr/bin/env python3
"""Times networks in Node.js (V8) on one thread and two, beside other code.

    bench.py --ingot PROGRAM --work DIR [--ncnn SOURCE] [--reuse] [--seconds S] [--rounds R] [NETWORK...]

A NETWORK is a folder of test/networks/models/real, a file of test/networks/models/graphs, or a path. Ingot's modules are
those of `ingot export --as web`. Beside them run `generic`, which clang vectorizes for simd128, and, with --ncnn, ncnn built
by Emscripten from this folder (peers.sh; networks of 8-bit integers run in ncnn as the float network of the same name). The engines take
turns in one process. The native code for x86-64-v2 runs between the rounds. A cell is the least time of all runs in
milliseconds; --json writes the medians as well.
"""
import argparse
import json
import os
import re
import subprocess
import sys

import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, "..", "..", "networks")]
import run as networks  # noqa: E402

NETWORKS = ["mnist_8", "cnn_mnist_pytorch", "lenet5", "tiny_ad_autoencoder", "micro_kws_m_static_fp32", "tiny_ds_cnn_kws",
            "tiny_mobilenet_v1_025_vww", "tiny_resnet8_cifar", "mobilenet_v3_small", "mobilenet_v3_photos", "ultraface_rfb_320",
            "squeezenet1_1", "mobilenet_v2", "efficientnet_b0", "tiny_ds_cnn_kws_int8", "tiny_resnet8_cifar_int8"]
ARRAYS = {"float": "Float32Array", "int8_t": "Int8Array", "uint8_t": "Uint8Array", "int32_t": "Int32Array", "int64_t": "BigInt64Array"}
GENERIC = ["clang++-22", "--target=wasm32", "-nostdlib", "-std=c++17", "-O3", "-msimd128", "--no-wasm-opt",
           "-Wl,--no-entry,-z,stack-size=1048576"]
MAIN = """#include "generic.h"
alignas(GENERIC_ARENA_ALIGN) static unsigned char arena[GENERIC_ARENA_BYTES + 1];
%s
static void *const tensors[] = {%s};
extern "C" {
__attribute__((export_name("tensor"))) void *tensor(int index) { return tensors[index]; }
__attribute__((export_name("run"))) int run() {
  generic_io io = {};
%s
  return generic_run(&io, arena, nullptr);
}
}
"""


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed: {done.stdout[-800:]}{done.stderr[-800:]}")
    return done.stdout


def build_generic(args, model, folder, dims):
    """Compiles the portable code for simd128, and returns how time.mjs runs it."""
    run([args.ingot, model, "-o", f"{folder}/generic.cpp", "--name", "generic", "--target", "generic", "--weights", "source",
         *dims])
    with open(f"{folder}/generic.h") as file:
        header = file.read()
    elements = re.findall(r"#define GENERIC_\w+_ELEMENTS (\d+)u", header)
    fields = re.findall(r"^  (const )?(\w+) \*(\w+); +/\* (?:in|out): ", header, re.MULTILINE)
    rows = list(zip(elements, fields, strict=True))
    with open(f"{folder}/main.cpp", "w") as file:
        file.write(MAIN % ("\n".join(f"alignas(64) static {kind} {name}[{count}];" for count, (_, kind, name) in rows),
                           ", ".join(name for _, (_, _, name) in rows),
                           "\n".join(f"  io.{name} = {name};" for _, (_, _, name) in rows)))
    run([*GENERIC, f"{folder}/generic.cpp", f"{folder}/main.cpp", "-o", f"{folder}/generic.wasm"])
    tensors = [{"type": ARRAYS[kind], "elements": int(count), "input": bool(constant)} for count, (constant, kind, _) in rows]
    return {"name": "generic", "kind": "plain", "file": f"{folder}/generic.wasm", "tensors": tensors}


def build_own(args, model, folder, dims):
    """Exports the network, and returns how time.mjs runs its levels."""
    library = os.path.join(os.path.dirname(args.ingot), "..", "python")
    engines = []
    for level, threads in (("wasm32+simd128", ()), ("wasm32+relaxed-simd", ("--threads",))):
        short = level.split("+")[1].split("-")[0]
        run([sys.executable, "-m", "ingot", "export", model, "--as", "web", "-o", f"{folder}/{short}", "--name", "net", "--target", level,
             *threads, *dims], env={**os.environ, "PYTHONPATH": library})
        for count in (1, 2) if threads else (1,):
            engines.append({"name": f"{short}, {count}", "kind": "web", "file": f"{folder}/{short}/net.js", "level": level, "threads": count})
    return engines


def find_peer(args, name, model):
    """Returns how time.mjs runs ncnn, which peers.sh has built and converted the float network for."""
    converted = f"{args.work}/ncnn/{name}/{name}.ncnn"
    if not os.path.exists(converted + ".bin"):
        return []

    def shapes(values):
        # ncnn has no batch axis, so the first axis is dropped.
        return [[d.dim_value for d in value.type.tensor_type.shape.dim][1:] for value in values]
    graph = onnx.load(model, load_external_data=False).graph
    weights = {tensor.name for tensor in graph.initializer}
    elements = 1
    for size in shapes(graph.output)[0]:
        elements *= size
    peer = {"kind": "ncnn", "file": f"{args.work}/ncnn/peer.js", "param": converted + ".param", "weights": converted + ".bin",
            "shapes": shapes(value for value in graph.input if value.name not in weights), "elements": elements}
    return [{"name": f"ncnn, {count}", "threads": count, **peer} for count in (1, 2)]


def reused(folder):
    """Returns Ingot's engines of an earlier call."""
    with open(f"{folder}/plan.json") as file:
        return [engine for engine in json.load(file)["engines"] if engine["kind"] != "ncnn"]


def measure(args, name):
    """Returns the least and the median milliseconds of each engine."""
    model = name if name.endswith(".onnx") else networks.find_model(name, args.work)[0]
    name = os.path.basename(name).removesuffix(".onnx")
    folder = os.path.join(args.work, name)
    os.makedirs(folder, exist_ok=True)
    open_sizes = {d.dim_param for value in onnx.load(model, load_external_data=False).graph.input
                  for d in value.type.tensor_type.shape.dim if d.dim_param}
    dims = [word for size in sorted(open_sizes) for word in ("--dim", f"{size}=1")]
    engines = reused(folder) if args.reuse else [*build_own(args, model, folder, dims), build_generic(args, model, folder, dims)]
    if args.ncnn:
        run([os.path.join(HERE, "peers.sh"), args.work, args.ncnn, name])
        engines += find_peer(args, name.removesuffix("_int8"), model)
    plan = {"engines": engines, "seconds": args.seconds * len(engines), "warmUp": args.warm_up * len(engines)}
    with open(f"{folder}/plan.json", "w") as file:
        json.dump(plan, file)
    version = int(run(["node", "--version"])[1:].split(".")[0])
    flags = ["--experimental-wasm-relaxed-simd"] if version < 21 else []
    found = {}
    for _ in range(args.rounds):
        done = subprocess.run(["node", *flags, os.path.join(HERE, "time.mjs"), f"{folder}/plan.json"], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[-800:])
        sys.stderr.write(done.stderr)
        results = json.loads(done.stdout)
        times = sorted(map(float, run([args.ingot, "bench", model, "--target", "x86-64-v2", "--raw", "--seconds", str(args.seconds),
                                       *dims]).split()))
        results["x86-64-v2"] = {"least": times[0], "median": times[len(times) // 2], "runs": len(times)}
        for engine, result in results.items():
            before = found.setdefault(engine, result)
            before.update(least=min(before["least"], result["least"]), median=min(before["median"], result["median"]))
    for engine, result in found.items():
        # Sums may be in another order. ncnn runs 8-bit networks as float networks, so their outputs are not compared.
        if (result.get("error") or 0) > 1e-3 and not (name.endswith("int8") and "ncnn" in engine):
            print(f"{name}: the output of {engine} is off by {result['error']:.1e} of its range", flush=True)
    return found


def print_row(name, found):
    least = {engine: result["least"] for engine, result in found.items()}
    others = [least[engine] for engine in ("generic", "ncnn, 1") if engine in least]
    best = min(least["simd128, 1"], least["relaxed, 1"])
    cells = [f"{least[engine]:.3f}" if engine in least else "-" for engine in COLUMNS]
    double = f"{min(least['ncnn, 2'], *others) / least['relaxed, 2']:.2f}" if "ncnn, 2" in least else "-"
    print(f"| {name} | {' | '.join(cells)} | {min(others) / best:.2f} | {double} | {best / least['x86-64-v2']:.2f} |", flush=True)


COLUMNS = ["simd128, 1", "relaxed, 1", "relaxed, 2", "generic", "ncnn, 1", "ncnn, 2", "x86-64-v2"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--ingot", required=True, type=os.path.abspath)
    parser.add_argument("--work", required=True, type=os.path.abspath)
    parser.add_argument("--ncnn", metavar="SOURCE", type=os.path.abspath, help="a checkout of ncnn")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each engine in a round")
    parser.add_argument("--warm-up", type=float, default=0.5, help="seconds of each engine in a round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--reuse", action="store_true", help="do not build Ingot's code again")
    parser.add_argument("--json", help="a file for all figures")
    args = parser.parse_args()
    args.work = os.path.join(args.work, "wasm")
    os.makedirs(args.work, exist_ok=True)
    print(f"Node.js {run(['node', '--version']).strip()}, V8 {run(['node', '-p', 'process.versions.v8']).strip()}\n")
    print(f"| network | {' | '.join(COLUMNS)} | best other / Ingot, 1 | 2 threads | Ingot / x86-64-v2 |")
    print("|---|" + "--:|" * (len(COLUMNS) + 3))
    figures, failed = {}, 0
    for name in args.networks or NETWORKS:
        try:
            figures[name] = measure(args, name)
            print_row(name, figures[name])
        except (RuntimeError, OSError) as why:
            print(f"{name} failed: {why}", flush=True)
            failed += 1
    if args.json:
        with open(args.json, "w") as file:
            json.dump(figures, file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
