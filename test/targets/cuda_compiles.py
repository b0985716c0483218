#!/usr/bin/env python3
"""Compiles networks for each NVIDIA GPU with nvcc: without a warning, and without a spill.

    cuda_compiles.py --ingot PROGRAM --work DIR [--targets sm_80,sm_90a] [--networks NAME,...]

Prints the time and the size of each object, and the most registers that one of its
kernels takes. Ends with 77 (skipped) where nvcc is not installed.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "networks", "models")
EXAMPLE = os.path.join(HERE, "..", "..", "examples", "mnist", "model.onnx")
TARGETS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a"]
NETWORKS = ["mnist", "tiny_ds_cnn_kws", "tiny_resnet8_cifar"]
WARNINGS = ["-Xcompiler", "-Wall,-Wextra", "--Werror", "all-warnings"]


def find_nvcc():
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def find_model(name, work):
    if name == "mnist":
        return EXAMPLE
    path = os.path.join(work, name + ".onnx")
    if not os.path.exists(path):
        subprocess.run([sys.executable, os.path.join(MODELS, "models.py"), "fill", name, "--out", work],
                       check=True, stdout=subprocess.DEVNULL)
    return path


def compile_with(nvcc, source, target):
    """What nvcc says of the registers; ends the test where it has a complaint."""
    done = subprocess.run(
        [nvcc, "-std=c++17", "-O2", f"-arch={target}", *WARNINGS, "-Xptxas", "-v", "-c", source, "-o", source + ".o"],
        capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode:
        sys.exit(f"{source} does not compile for {target}:\n{said}")
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--networks", default=",".join(NETWORKS))
    args = parser.parse_args()
    nvcc = find_nvcc()
    if not nvcc:
        print("skipped: nvcc is not installed")
        return 77
    os.makedirs(args.work, exist_ok=True)
    spills = []
    for network in args.networks.split(","):
        model = find_model(network, args.work)
        for target in args.targets.split(","):
            source = os.path.join(args.work, f"{network}_{target}.cu")
            subprocess.run([args.ingot, model, "-o", source, "--target", target, "--name", "net"], check=True)
            begin = time.time()
            said = compile_with(nvcc, source, target)
            registers = max(map(int, re.findall(r"Used (\d+) registers", said)), default=0)
            spilled = [line for line in said.splitlines()
                       if re.search(r"spill", line) and not re.search(r" 0 bytes spill stores, 0 bytes spill", line)]
            print(f"{network:<22}{target:<8}{os.path.getsize(source + '.o') / 1024:8.0f} KB "
                  f"{time.time() - begin:6.1f} s  {registers:3} registers", flush=True)
            spills += [f"{network} {target}: {line.strip()}" for line in spilled]
    if spills:
        print("spills:", *spills, sep="\n  ")
    return 1 if spills else 0


if __name__ == "__main__":
    sys.exit(main())
