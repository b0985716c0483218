#!/usr/bin/env python3
"""Counts the instructions of one inference on emulated 64-bit Arm cores, beside other engines.

    bench.py --ingot PROGRAM --work DIR [--cores a53,a72,n1,max] [--compilers clang,g++]
             [--fast f16|bf16] [--peers [NAME,...]] [--kernels N] [NETWORK...]

A NETWORK is a file of test/networks/models/graphs, a folder of models/real with constant
shapes, or the path of an ONNX file with constant shapes. Ingot's code is built with each
compiler and runs under qemu-aarch64 with the plugin Window.c; its output is compared with
ONNX Runtime's on this machine. --kernels lists the kernels that take the most instructions.
--peers counts ONNX Runtime, OpenVINO, ncnn, MNN and LiteRT as well: peers.sh unpacks
their aarch64 wheels and an arm64 Python below the work folder. Instructions are no times:
loads of several registers count one, and caches are ignored.
"""
import argparse
import bisect
import collections
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, "..", "..", "networks")]
import run as networks  # noqa: E402

# QEMU's name of each core, Ingot's target, MIDR, and the CPU features that other engines see in
# /proc/cpuinfo.
CORES = {
    "a53": ("cortex-a53", "armv8-a", 0x410FD034, "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"),
    "a72": ("cortex-a72", "armv8-a", 0x410FD083, "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"),
    "n1": ("neoverse-n1", "armv8.2-a+dotprod", 0x413FD0C1,
           "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs"),
    "max": ("max,sve=off,sme=off", "armv8.2-a+i8mm", 0x411FD401,
            "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma lrcpc dcpop sha3 "
            "asimddp sha512 asimdfhm ssbs i8mm bf16"),
}
FAST_TARGETS = {"f16": "armv8.2-a+fp16", "bf16": "armv8.2-a+bf16"}
COMPILERS = {"clang": ["clang++-22", "--target=aarch64-linux-gnu"], "g++": ["aarch64-linux-gnu-g++"]}
PEERS = ["onnxruntime", "openvino", "ncnn", "mnn", "litert"]
PEERS_OF_FAST = {
    "f16": {"ncnn": ["half=1"], "mnn": ["precision=low"], "openvino": ["precision=f16"]},
    "bf16": {"onnxruntime": ["mlas.enable_gemm_fastmath_arm64_bfloat16=1"], "openvino": ["precision=bf16"]},
}
NETWORKS = ["mnist_cnn", "lenet5", "tiny_ad_autoencoder", "tiny_ds_cnn_kws", "tiny_mobilenet_v1_025_vww",
            "tiny_resnet8_cifar", "lstm_2x256_t100", "mobilenet_v3_small", "mobilenet_v2", "squeezenet1_1",
            "efficientnet_b0", "resnet18", "deit_tiny", "minilm_l6_128"]
# Modules in the process of another engine whose instructions are not counted: they belong to Python itself.
PYTHON = ("python3.11", "numpy", "lib-dynload", "libffi")

MAIN = """#include "net.h"
#include <stdio.h>
#include <unistd.h>
alignas(NET_ARENA_ALIGN) static unsigned char arena[NET_ARENA_BYTES + 1];
%s
int main(int, char **names) {
  net_io io = {};
%s
  FILE *in = fopen(names[1], "rb"), *out = fopen(names[2], "wb");
  bool read = true;
%s
  getpgid(0x1a9071);
  ingot_status status = net_run(&io, arena, nullptr);
  getpgid(0x1a9072);
%s
  fclose(out);
  return read ? status : 99;
}
"""


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stdout[-800:]}{done.stderr[-800:]}")
    return done.stdout


def find_model(network, work):
    """Returns the name of a network and its file, which is in the work folder, as peers.sh expects."""
    if network.endswith(".onnx"):
        name, model = os.path.basename(network).removesuffix(".onnx"), network
    else:
        name, (model, _) = network, networks.find_model(network, work)
    path = os.path.join(work, name + ".onnx")
    if os.path.realpath(model) != os.path.realpath(path):
        shutil.copyfile(model, path)
    return name, path


class Network:
    """A network, its seeded inputs, and the outputs that ONNX Runtime computes for them."""

    def __init__(self, args, name):
        self.args = args
        self.name, self.model = find_model(name, args.work)
        name = self.name
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        if name.endswith("int8"):
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(self.model, options, providers=["CPUExecutionProvider"])
        self.feed = dict(zip((x.name for x in session.get_inputs()), networks.make_inputs(session, None)))
        self.expected = session.run(None, self.feed)
        self.inputs = os.path.join(args.work, name + ".npz")
        np.savez(self.inputs, **self.feed)
        facts = json.loads(run([args.ingot, "inspect", self.model, "--json", "--target", "armv8-a"]))
        self.macs = sum(group["macs"] for group in facts["groups"])

    def error(self, outputs):
        """Returns the largest difference of the first output from ONNX Runtime's, relative to the largest
        magnitude in ONNX Runtime's; None if the sizes differ."""
        y, expected = np.asarray(outputs[0], np.float64).ravel(), self.expected[0].astype(np.float64).ravel()
        if y.size != expected.size:
            return None
        return float(np.abs(y - expected).max() / (np.abs(expected).max() or 1))


def build_plugin(work):
    plugin = os.path.join(work, "libwindow.so")
    run(["cc", "-shared", "-fPIC", "-O2", "-fvisibility=hidden", os.path.join(HERE, "Window.c"), "-o", plugin])
    return plugin


def build_program(network, folder, compiler, target, options):
    """Builds a program that reads the inputs, runs the network between the marks, and writes the outputs."""
    os.makedirs(folder, exist_ok=True)
    run([network.args.ingot, network.model, "-o", f"{folder}/net.cpp", "--name", "net", "--weights", "object",
         "--target", target, *options])
    with open(f"{folder}/net.h") as file:
        header = file.read()
    sizes = re.findall(r"#define NET_\w+_ELEMENTS (\d+)u", header)
    fields = re.findall(r"^  (const )?(\w+) \*(\w+); +/\* (?:in|out): ", header, re.MULTILINE)
    buffers, point, read, write = [], [], [], []
    inputs = iter(network.feed.values())
    with open(f"{folder}/in.bin", "wb") as file:
        for size, (is_input, kind, name) in zip(sizes, fields, strict=True):
            buffers.append(f"alignas(64) static {kind} {name}[{size} + 16];")
            point.append(f"  io.{name} = {name};")
            if is_input:
                file.write(next(inputs).tobytes())
                read.append(f"  read &= fread({name}, sizeof *{name}, {size}, in) == {size};")
            else:
                write.append(f"  fwrite({name}, sizeof *{name}, {size}, out);")
    with open(f"{folder}/main.cpp", "w") as file:
        file.write(MAIN % tuple("\n".join(x) for x in (buffers, point, read, write)))
    parts = [f"{folder}/{part}" for part in ("net.cpp", "main.cpp", "net.weights.o")]
    run([*COMPILERS[compiler], "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-static", "-no-pie",
         *filter(os.path.exists, parts), "-o", f"{folder}/program"])
    return f"{folder}/program"


def counts_of(path):
    """Returns (address, executed instructions) of each block of code in a file that Window.c wrote."""
    with open(path) as file:
        return [(int(address), int(n) * int(runs)) for address, _, n, runs in map(str.split, file)]


def list_kernels(network, program, counts, options, most):
    """Prints the kernels with the most instructions, and their instructions per multiply-accumulate."""
    facts = json.loads(run([network.args.ingot, "inspect", network.model, "--json", *options]))
    macs, plans = collections.Counter(), {}
    for group in facts["groups"]:
        macs[group.get("kernel")] += group["macs"]
        plans[group.get("kernel")] = f"{group['strategy']} {group.get('plan', '')}".replace("'", "")
    symbols = sorted((int(f[0], 16), f[2]) for f in (line.split(maxsplit=2) for line in run(
        ["nm", "-C", "--defined-only", program]).splitlines()) if len(f) >= 3 and f[1] in "tTW")
    starts = [address for address, _ in symbols]
    sums = collections.Counter()
    for address, n in counts:
        name = symbols[bisect.bisect(starts, address) - 1][1].replace("(anonymous namespace)::", "")
        sums[name.split("(")[0].split("::")[-1]] += n
    total = sum(sums.values())
    for name, n in sums.most_common(most):
        of = f"{n / macs[name]:.3f}" if macs.get(name) else "    -"
        print(f"    {n / total:6.1%} {n:11} {of} per MAC  {name:32} {plans.get(name, '')}")


def count_own(network, core, compiler):
    """Builds Ingot's code for a core, runs it under emulation, and returns the instructions of one inference."""
    args = network.args
    emulated, target = CORES[core][:2]
    target = FAST_TARGETS.get(args.fast, target)
    options = [f"--fast={args.fast}"] if args.fast else []
    folder = os.path.join(args.work, ".".join([network.name, core, compiler, args.fast or "plain"]))
    program = build_program(network, folder, compiler, target, options)
    run(["qemu-aarch64", "-cpu", emulated, "-plugin", f"{args.plugin},out={folder}/counts", program, f"{folder}/in.bin",
         f"{folder}/out.bin"])
    counts = counts_of(f"{folder}/counts")
    print(f"{network.name:28} {core:4} ingot {compiler:6} {sum(n for _, n in counts):12} "
          f"{sum(n for _, n in counts) / network.macs:.3f} per MAC", end="")
    error = network.error([np.fromfile(f"{folder}/out.bin", network.expected[0].dtype)[:network.expected[0].size]])
    print(f"  error {error:.1e}", flush=True)
    if args.kernels:
        list_kernels(network, program, counts, ["--target", target, *options], args.kernels)
    return sum(n for _, n in counts)


def root_of(args, core):
    """Returns the folder that another engine sees as the root of the file system under emulation. Its
    /proc/cpuinfo describes the emulated core: with the host's, ONNX Runtime crashes."""
    path = os.path.join(args.work, "root-" + core)
    if os.path.exists(path):
        return path
    shutil.copytree(os.path.join(args.work, "root"), path, symlinks=True)
    midr = CORES[core][2]
    for name, text in {
            "proc/cpuinfo": f"processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: {CORES[core][3]}\n"
                            f"CPU implementer\t: {midr >> 24:#x}\nCPU architecture: 8\nCPU variant\t: {midr >> 20 & 15:#x}\n"
                            f"CPU part\t: {midr >> 4 & 0xfff:#x}\nCPU revision\t: {midr & 15}\n\n",
            "sys/devices/system/cpu/possible": "0\n", "sys/devices/system/cpu/present": "0\n",
            "sys/devices/system/cpu/online": "0\n",
            "sys/devices/system/cpu/cpu0/regs/identification/midr_el1": f"{midr:#018x}\n"}.items():
        os.makedirs(os.path.dirname(f"{path}/{name}"), exist_ok=True)
        with open(f"{path}/{name}", "w") as file:
            file.write(text)
    return path


def count_peer(network, core, peer):
    """Returns the instructions of one inference by another engine, without those of Python and numpy."""
    args = network.args
    options = PEERS_OF_FAST.get(args.fast, {}).get(peer, [])
    if args.fast and not options:
        return None
    out = os.path.join(args.work, ".".join([network.name, core, peer, args.fast or "plain"]))
    name = network.name
    tflite = os.path.join(args.work, "tflite", name.replace("_int8", ""))
    model = {"ncnn": f"{args.work}/ncnn/{name}/{name}", "mnn": f"{args.work}/mnn/{name}.mnn",
             "litert": f"{tflite}/{name if 'int8' in name else name + '_float32'}.tflite"}.get(peer, network.model)
    small = name.startswith(("mnist", "lenet", "tiny_"))
    runs = 10 if small else 1
    variables = ["OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "ORT_DISABLE_TELEMETRY=1", f"HOME={args.work}/home",
                 f"PYTHONPATH={args.work}/site", "PYTHONDONTWRITEBYTECODE=1"]
    run(["qemu-aarch64", "-cpu", CORES[core][0], "-L", root_of(args, core), *(x for v in variables for x in ("-E", v)),
         "-plugin", f"{args.plugin},out={out}.counts", f"{args.work}/root/usr/bin/python3.11",
         os.path.join(HERE, "peer.py"), peer, model, network.inputs, str(runs), out, *options])
    with open(out + ".maps") as file:
        maps = [line.split() for line in file]
    modules = sorted((*(int(x, 16) for x in f[0].split("-")), f[5] if len(f) > 5 else "") for f in maps)
    starts = [low for low, _, _ in modules]
    total = 0
    for address, n in counts_of(out + ".counts"):
        low, high, path = modules[bisect.bisect(starts, address) - 1]
        if not (low <= address < high and any(part in os.path.basename(path) for part in PYTHON)):
            total += n
    total //= runs
    error = network.error(list(np.load(out + ".peer.npz").values()))
    print(f"{name:28} {core:4} {peer:12} {total:12} {total / network.macs:.3f} per MAC  error "
          + (f"{error:.1e}" if error is not None else "-"), flush=True)
    return total


def print_table(rows, compilers, peers):
    print("\n| network | core | " + " | ".join([*("Ingot, " + c for c in compilers), *peers]) + " | best peer / Ingot |")
    print("|---|---|" + "--:|" * (len(compilers) + len(peers) + 1))
    for (name, core), found in rows.items():
        others = [found[p] for p in peers if found.get(p)]
        own = found.get(compilers[0])
        ratio = f"{min(others) / own:.2f}" if others and own else "-"
        cells = [f"{found[c] / 1e6:.2f}" if found.get(c) else "-" for c in [*compilers, *peers]]
        print(f"| {name} | {core} | " + " | ".join(cells) + f" | {ratio} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def names(text):
        return text.split(",")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--ingot", required=True, type=os.path.abspath)
    parser.add_argument("--work", required=True, type=os.path.abspath)
    parser.add_argument("--cores", type=names, default=["a72"])
    parser.add_argument("--compilers", type=names, default=["clang", "g++"])
    parser.add_argument("--fast", choices=FAST_TARGETS)
    parser.add_argument("--peers", type=names, nargs="?", const=PEERS, default=[])
    parser.add_argument("--kernels", type=int, default=0)
    args = parser.parse_args()
    args.networks = args.networks or NETWORKS
    args.work = os.path.join(args.work, "arm")
    os.makedirs(args.work, exist_ok=True)
    args.plugin = build_plugin(args.work)
    for program in ("qemu-aarch64", *(COMPILERS[c][0] for c in args.compilers)):
        if not shutil.which(program):
            sys.exit(f"{program} is not installed")
    prepared = [Network(args, name) for name in args.networks]
    if args.peers:
        subprocess.run([os.path.join(HERE, "peers.sh"), args.work, *(network.name for network in prepared)],
                       check=True)
    rows, failed = {}, 0
    for network in prepared:
        name = network.name
        for core in args.cores:
            row = rows.setdefault((name, core), {})
            for engine in [*args.compilers, *args.peers]:
                try:
                    count = count_own if engine in COMPILERS else count_peer
                    row[engine] = count(network, core, engine)
                except (RuntimeError, OSError) as why:
                    print(f"{name:28} {core:4} {engine} failed: {why}", flush=True)
                    failed += engine in COMPILERS
    print_table(rows, args.compilers, args.peers)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
