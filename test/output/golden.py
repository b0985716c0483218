#!/usr/bin/env python3
"""Compares the source of MNIST for three targets with the files in golden/.

    golden.py --ingot PROGRAM [--update]

The files are there to be read: whoever changes how code is generated sees in
the difference what becomes of it, and reads it as a reviewer of the generated
code would. --update writes them anew. Weights are in a file of their own.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "..", "examples", "mnist", "model.onnx")
GOLDEN = os.path.join(HERE, "golden")
TARGETS = ["generic", "x86-64-v3", "cortex-m4"]


def generate(ingot, target, folder):
    path = os.path.join(folder, "mnist.cpp")
    subprocess.run([ingot, MODEL, "--name", "mnist", "--target", target, "--weights", "file", "-o", path], check=True)
    with open(path) as file:
        # Removes the commit, which would change the files each time.
        return re.sub(r" \(commit [0-9a-f]+\)", "", file.read())


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--ingot", required=True)
    arguments.add_argument("--update", action="store_true")
    options = arguments.parse_args()
    differs = False
    for target in TARGETS:
        golden = os.path.join(GOLDEN, f"mnist.{target}.cpp.txt")
        with tempfile.TemporaryDirectory() as folder:
            text = generate(options.ingot, target, folder)
        if options.update:
            os.makedirs(GOLDEN, exist_ok=True)
            with open(golden, "w") as file:
                file.write(text)
            continue
        with open(golden) as file:
            expected = file.read()
        lines = list(difflib.unified_diff(expected.splitlines(), text.splitlines(), golden, "generated", lineterm=""))
        if lines:
            differs = True
            print("\n".join(lines[:200]))
    if differs:
        print("Read the difference; if it is meant: test/output/golden.py --ingot build/bin/ingot --update")
    return differs


if __name__ == "__main__":
    sys.exit(main())
