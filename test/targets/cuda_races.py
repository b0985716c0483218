#!/usr/bin/env python3
"""Runs networks, and a model for each strategy, in the debug mode of the emulated GPU.

    cuda_races.py --ingot PROGRAM --compiler CLANG --work DIR [--networks NAME,...] [--every N]

No kernel may have a race between two barriers, or an access out of bounds, nor may those of
branches that run at the same time with each other.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from cuda_compiles import all_cases, path_of, with_own_plan  # noqa: E402

EMULATION = os.path.join(HERE, "..", "..", "targets", "cuda", "emulation")
FLAGS = ["-std=c++17", "-O1", "-DEMULATED_GPU_CHECK", "-fsanitize=bounds", "-fsanitize-trap=bounds",
         "-fsanitize-coverage=func,trace-loads,trace-stores", "-fno-sanitize-link-runtime", "-I" + EMULATION]
NETWORKS = ["mnist", "decisions", "tiny_ds_cnn_kws_int8"]

# Runs the model once on zero-initialized memory; elements have at most 8 bytes.
PROGRAM = """#include "net.cu"
#include <vector>
int main() {
  net_constants constants;
  net_handle handle;
  std::vector<std::vector<double>> tensors = {SIZES};
  net_io io = {};
  void **pointers = reinterpret_cast<void **>(&io) + 1;
  for (auto &tensor : tensors)
    *pointers++ = tensor.data();
  ingot_status status = net_upload(&constants, nullptr);
  if (status == INGOT_OK) status = net_create(&handle, &constants, nullptr);
  if (status == INGOT_OK) status = net_run(&handle, &io, nullptr);
  return status;
}
"""


def run(ingot, compiler, model, folder, target, options=()):
    """Returns the program's error messages; empty if there are none."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run([ingot, model, "-o", os.path.join(folder, "net.cu"), "--target", target, "--name", "net", *options],
                   check=True)
    with open(os.path.join(folder, "net.h")) as file:
        header = file.read()
        # In the io struct of the model, data-dependent sizes come before the
        # tensors.
        sizes = ["1"] * header.count("ptrdiff_t *") + re.findall(r"#define NET_\w+_ELEMENTS (\d+)u", header)
    main, program = os.path.join(folder, "main.cpp"), os.path.join(folder, "program")
    with open(main, "w") as file:
        file.write(PROGRAM.replace("SIZES", ", ".join(f"std::vector<double>({size})" for size in sizes)))
    # Large weights are in an object file beside the source.
    objects = glob.glob(os.path.join(folder, "net.*.o"))
    subprocess.run([compiler, *FLAGS, "-I" + folder, main, *objects, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    return (done.stderr or f"ends with {done.returncode}") if done.returncode else ""


def save_branches(work):
    """Returns a model with two convolutions parallel to two others, whose results are
    interleaved in memory."""
    random = np.random.default_rng(1)
    nodes, weights = [], []
    for branch, (source, size) in enumerate((("x", 3), ("y0", 3), ("x", 5), ("y2", 1))):
        array = random.standard_normal((32, 32, size, size), dtype=np.float32)
        weights.append(numpy_helper.from_array(array, f"w{branch}"))
        nodes.append(helper.make_node("Conv", [source, f"w{branch}"], [f"y{branch}"], pads=[size // 2] * 4))
    nodes.append(helper.make_node("Concat", ["y1", "y3"], ["y"], axis=1))
    graph = helper.make_graph(
        nodes, "branches", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 32, 14, 14])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 64, 14, 14])], weights)
    path = os.path.join(work, "branches.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--every", type=int, default=1, help="a sample: every N-th strategy")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    models = {name: (path_of(name, args.work), "sm_80", ()) for name in args.networks.split(",")}
    for target, name, model, _, _, *options in list(all_cases(args.work))[::args.every]:
        model, options = with_own_plan(args.ingot, args.work, target, name, model, options)
        models[name] = model, target, options
    models["branches"] = save_branches(args.work), "sm_80", ()
    failed = False
    for name, (model, target, options) in models.items():
        said = run(args.ingot, args.compiler, model, os.path.join(args.work, name + "_checked"), target, options)
        print(f"{name:<24}{said.strip() or 'no race, nothing out of bounds'}", flush=True)
        failed |= bool(said)
    with open(os.path.join(args.work, "branches_checked", "net.cu")) as file:
        text = file.read()
    if "device::fork(streams, 2)" not in text or "streams[1], " not in text:
        print("branches                has none")
        failed = True
    if "decisions" in models:
        said = subprocess.run([args.ingot, "inspect", models["decisions"][0], "--target", "sm_80"], capture_output=True, text=True, check=True)
        if "host decisions: 3;" not in said.stdout:
            print("decisions               does not say how often it waits")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
