#!/usr/bin/env python3
"""Runs networks, and a model for each strategy, in the debug mode of the emulated GPU.

    cuda_races.py --ingot PROGRAM --compiler CLANG --work DIR [--networks NAME,...]

No kernel may have a race between two barriers, or an access out of bounds.
"""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from cuda_compiles import EXAMPLE, all_cases, find_model  # noqa: E402

EMULATION = os.path.join(HERE, "..", "..", "targets", "cuda", "emulation")
FLAGS = ["-std=c++17", "-O1", "-DEMULATED_GPU_CHECK", "-fsanitize=bounds", "-fsanitize-trap=bounds",
         "-fsanitize-coverage=func,trace-loads,trace-stores", "-fno-sanitize-link-runtime", "-I" + EMULATION]
NETWORKS = ["mnist", "tiny_ds_cnn_kws_int8"]

# Runs the model once on memory of zeros; all elements have 8 bytes at most.
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
    """What the program says, which is nothing where all is well."""
    os.makedirs(folder, exist_ok=True)
    subprocess.run([ingot, model, "-o", os.path.join(folder, "net.cu"), "--target", target, "--name", "net", *options],
                   check=True)
    with open(os.path.join(folder, "net.h")) as file:
        sizes = re.findall(r"#define NET_\w+_ELEMENTS (\d+)u", file.read())
    main, program = os.path.join(folder, "main.cpp"), os.path.join(folder, "program")
    with open(main, "w") as file:
        file.write(PROGRAM.replace("SIZES", ", ".join(f"std::vector<double>({size})" for size in sizes)))
    subprocess.run([compiler, *FLAGS, "-I" + folder, main, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    return (done.stderr or f"ends with {done.returncode}") if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    models = {name: (EXAMPLE if name == "mnist" else find_model(name, args.work)[0], "sm_80", ()) for name in args.networks.split(",")}
    models.update((name, (model, target, options)) for target, name, model, _, _, *options in all_cases(args.work))
    failed = False
    for name, (model, target, options) in models.items():
        said = run(args.ingot, args.compiler, model, os.path.join(args.work, name + "_checked"), target, options)
        print(f"{name:<24}{said.strip() or 'no race, nothing out of bounds'}", flush=True)
        failed |= bool(said)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
