#!/usr/bin/env python3
"""Whether the hot loops of matrix products and convolutions keep 64-bit Arm's multipliers busy.

    arm_loops.py --ingot PROGRAM --mca LLVM-MCA --work DIR [--least 0.85]

Compiles each network for armv8-a with clang and g++, takes the innermost loop with
the most multiply-adds, asks llvm-mca for its cycles on each core, and compares with
those that its multiply-adds alone would take. Each of them has to take its factor
from a lane of a register, and nothing may be spilled to the stack.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CORES = ["cortex-a72", "cortex-a76", "neoverse-n1"]
COMPILERS = {"clang": ["clang++-22", "--target=aarch64-linux-gnu"], "g++": ["aarch64-linux-gnu-g++"]}
TURNS = 300


def network(op, x, w, y, **attributes):
    weights = np.random.default_rng(1).standard_normal(w, dtype=np.float32)
    node = helper.make_node(op, ["x", "w"], ["y"], **attributes)
    graph = helper.make_graph([node], "loop", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
                              [numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


NETWORKS = {
    "gemm": network("MatMul", [128, 256], [256, 256], [128, 256]),
    "gemm_narrow": network("MatMul", [64, 512], [512, 48], [64, 48]),
    "conv_1x1": network("Conv", [1, 64, 28, 28], [96, 64, 1, 1], [1, 96, 28, 28]),
    "conv_3x3": network("Conv", [1, 64, 28, 28], [64, 64, 3, 3], [1, 64, 28, 28], pads=[1, 1, 1, 1]),
    "conv_3x3_strided": network("Conv", [1, 32, 57, 57], [128, 32, 3, 3], [1, 128, 28, 28], strides=[2, 2]),
}


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def hot_loop(assembly):
    """The instructions of the innermost loop with the most multiply-adds."""
    labels, best, lines = {}, [], assembly.splitlines()
    for number, line in enumerate(lines):
        if label := re.match(r"(\.?L[\w.]+):", line):
            labels[label[1]] = number
        jump = re.match(r"\s+(?:b\.?[a-z]{2}|cbn?z\s+\w+,|tbn?z\s+\w+, #?\d+,)\s+(\.?L[\w.]+)", line)
        if jump and jump[1] in labels:
            inside = lines[labels[jump[1]] + 1:number + 1]
            body = [text for text in inside if re.match(r"\s+[a-z]", text)]
            if not any(re.match(r"\.?L[\w.]+:", text) for text in inside) and multiplies(body) > multiplies(best):
                best = body
    return best


def multiplies(body):
    return sum("fmla" in line for line in body)


def cycles(mca, core, body):
    """Of one turn, in the steady state."""
    text = run([mca, "-mtriple=aarch64", f"-mcpu={core}", f"-iterations={TURNS}", "-json"], input="\n".join(body))
    return json.loads(text)["CodeRegions"][0]["SummaryView"]["TotalCycles"] / TURNS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--mca", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--least", type=float, default=0.85, help="part of the peak")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    # 24 independent ones, each from a lane, show what a core can do.
    alone = [f"fmla v{i}.4s, v30.4s, v31.s[{i % 4}]" for i in range(24)]
    peak = {core: 24 / cycles(args.mca, core, alone) for core in CORES}
    wrong = 0
    print(f"{'':18} {'':6} fmla instructions " + " ".join(f"{core:>12}" for core in CORES))
    for name, model in NETWORKS.items():
        path = os.path.join(args.work, name)
        onnx.save(model, path + ".onnx")
        run([args.ingot, path + ".onnx", "-o", path + ".cpp", "--target", "armv8-a"])
        for compiler, command in COMPILERS.items():
            if not shutil.which(command[0]):
                print(f"{name:18} {compiler:6} is not installed")
                continue
            assembly = run([*command, "-std=c++17", "-O2", "-S", path + ".cpp", "-o", "-"])
            body = hot_loop(assembly)
            parts = {core: multiplies(body) / peak[core] / cycles(args.mca, core, body) for core in CORES}
            faults = [core for core in CORES if parts[core] < args.least]
            if not all(re.search(r"\.s\[\d\]", line) for line in body if "fmla" in line):
                faults.append("a factor that is not a lane")
            if any("[sp" in line for line in body):
                faults.append("spilled registers")
            print(f"{name:18} {compiler:6} {multiplies(body):4} {len(body):12} "
                  + " ".join(f"{part:12.0%}" for part in parts.values())
                  + (f"  WRONG: {', '.join(faults)}" if faults else ""))
            wrong += bool(faults)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
