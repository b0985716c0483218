#!/usr/bin/env python3
"""Whether the hot loops of matrix products and convolutions keep 64-bit Arm's multipliers busy.

    arm_loops.py --ingot PROGRAM --mca LLVM-MCA --work DIR [--least 0.85]

Compiles each network with clang and g++, those of floats for armv8-a, those of bytes
for levels with products of four bytes; takes the innermost loop with the most
multiply-adds, asks llvm-mca for its cycles on each core, and compares with those that
its multiply-adds alone would take. Each of them has to take its factor from a lane of
a register, unless it multiplies two rows by two columns. Loops of floats may not spill
to the stack (g++ keeps addresses of rows there in one of bytes, which costs 4%); with
24 sums and packed rows g++ keeps one vector there, by at most 4% of the instructions.
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

# Cores by target, their multiply-accumulate instruction, and the part of the peak that differs from --least: rows are
# interleaved for products of two rows by two columns, by one vector operation for each four to ten products, and g++
# copies some sums.
FLOATS = ("armv8-a", ["cortex-a72", "cortex-a76", "neoverse-n1"], "fmla v{0}.4s, v30.4s, v31.s[{1}]")
BYTES = [("armv8.2-a+dotprod", ["cortex-a76", "neoverse-n1", "neoverse-v1"], "sdot v{0}.4s, v30.16b, v31.4b[{1}]"),
         ("armv8.2-a+i8mm", ["neoverse-n2", "neoverse-v1"], "usmmla v{0}.4s, v30.16b, v31.16b", 0.70)]
COMPILERS = {"clang": ["clang++-22", "--target=aarch64-linux-gnu"], "g++": ["aarch64-linux-gnu-g++"]}
TURNS = 300
MULTIPLY = re.compile(r"\b(?:fmla|[su]dot|usdot|sudot|usmmla)\b")
IS_BY_LANE = re.compile(r"\.(?:s|4b)\[\d\]")


def network(op, x, w, y, **attributes):
    weights = np.random.default_rng(1).standard_normal(w, dtype=np.float32)
    node = helper.make_node(op, ["x", "w"], ["y"], **attributes)
    graph = helper.make_graph([node], "loop", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
                              [numpy_helper.from_array(weights, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def byte_network(op, x, w, y, **attributes):
    """Returns a network with unsigned activations and signed weights, as written by
    quantizers."""
    rng = np.random.default_rng(1)
    axis = 0 if op == "Conv" else 1
    constants = {"w": rng.integers(-127, 128, w).astype(np.int8), "w_scale": np.full(w[axis], 0.01, np.float32),
                 "w_zero": np.zeros(w[axis], np.int8), "scale": np.float32(0.05), "y_scale": np.float32(0.7),
                 "zero": np.uint8(128)}
    nodes = [helper.make_node("DequantizeLinear", ["x", "scale", "zero"], ["xf"]),
             helper.make_node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["wf"], axis=axis),
             helper.make_node(op, ["xf", "wf"], ["yf"], **attributes),
             helper.make_node("QuantizeLinear", ["yf", "y_scale", "zero"], ["y"])]
    graph = helper.make_graph(nodes, "loop", [helper.make_tensor_value_info("x", TensorProto.UINT8, x)],
                              [helper.make_tensor_value_info("y", TensorProto.UINT8, y)],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


NETWORKS = {
    "gemm": network("MatMul", [128, 256], [256, 256], [128, 256]),
    "gemm_narrow": network("MatMul", [64, 512], [512, 48], [64, 48]),
    "conv_1x1": network("Conv", [1, 64, 28, 28], [96, 64, 1, 1], [1, 96, 28, 28]),
    "conv_5x5": network("Conv", [1, 64, 28, 28], [64, 64, 5, 5], [1, 64, 28, 28], pads=[2, 2, 2, 2]),
    "conv_3x3_strided": network("Conv", [1, 32, 57, 57], [128, 32, 3, 3], [1, 128, 28, 28], strides=[2, 2]),
}
BYTE_NETWORKS = {
    "gemm_bytes": byte_network("MatMul", [128, 256], [256, 256], [128, 256]),
    "conv_1x1_bytes": byte_network("Conv", [1, 64, 28, 28], [96, 64, 1, 1], [1, 96, 28, 28]),
    "conv_3x3_bytes": byte_network("Conv", [1, 64, 28, 28], [64, 64, 3, 3], [1, 64, 28, 28], pads=[1, 1, 1, 1]),
}


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def hot_loop(assembly):
    """Returns the instructions of the innermost loop with the most multiply-accumulates."""
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
    return sum(bool(MULTIPLY.search(line)) for line in body)


def cycles(mca, core, body):
    """Returns the cycles of one iteration of the loop `body` on a core, as predicted by llvm-mca."""
    text = run([mca, "-mtriple=aarch64", f"-mcpu={core}", "-mattr=+dotprod,+i8mm", f"-iterations={TURNS}", "-json"], input="\n".join(body))
    return json.loads(text)["CodeRegions"][0]["SummaryView"]["TotalCycles"] / TURNS


def check(args, name, model, target, cores, multiply, least=None):
    """Prints the utilization of a network's loops; returns the number of failures."""
    # 24 independent instructions, each with a lane operand, show the peak of a core.
    alone = [multiply.format(i, i % 4) for i in range(24)]
    path = os.path.join(args.work, name)
    onnx.save(model, path + ".onnx")
    run([args.ingot, path + ".onnx", "-o", path + ".cpp", "--target", target])
    wrong = 0
    for compiler, command in COMPILERS.items():
        if not shutil.which(command[0]):
            print(f"{name:18} {compiler:6} is not installed")
            continue
        body = hot_loop(run([*command, "-std=c++17", "-O2", "-S", path + ".cpp", "-o", "-"]))
        parts = {core: multiplies(body) / 24 * cycles(args.mca, core, alone) / cycles(args.mca, core, body)
                 for core in cores}
        faults = [core for core in cores if parts[core] < (least or args.least)]
        if IS_BY_LANE.search(multiply.format(0, 0)) and not all(
                IS_BY_LANE.search(line) for line in body if MULTIPLY.search(line)):
            faults.append("a factor that is not a lane")
        spills = sum("[sp" in line for line in body)
        if target == FLOATS[0] and spills > (0.04 * len(body) if compiler == "g++" else 0):
            faults.append("spilled registers")
        print(f"{name:18} {target:18} {compiler:6} {multiplies(body):3} of {len(body):3} instructions: "
              + ", ".join(f"{core} {part:.0%}" for core, part in parts.items())
              + (f"  WRONG: {', '.join(faults)}" if faults else ""), flush=True)
        wrong += bool(faults)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--mca", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--least", type=float, default=0.85, help="part of the peak")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    wrong = 0
    for name, model in NETWORKS.items():
        wrong += check(args, name, model, *FLOATS)
    for level in BYTES:
        for name, model in BYTE_NETWORKS.items():
            wrong += check(args, name, model, *level)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
