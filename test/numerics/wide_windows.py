"""Convolutions with long windows in padding, beside ONNX Runtime, and how much code they become.

    wide_windows.py --ingot BIN --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Filters of signals: hundreds of kernel positions, at many output positions partly in the padding. The
code of a convolution does not grow with the kernel: operations after the stage `schedule` and bytes
of text are counted for a kernel and for one four times as long.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper

from beside_onnxruntime import Case, compare, data

# One-dimensional convolutions: input and output channels, length of the input, kernel size, attributes.
WINDOWS = (
    (16, 16, 200, 61, {"pads": (30, 30)}),
    (5, 9, 150, 64, {"pads": (63, 20)}),
    (1, 20, 310, 125, {"pads": (62, 62)}),
    (3, 8, 400, 129, {"pads": (64, 64), "strides": (2,)}),
    (2, 11, 400, 80, {"pads": (40, 40), "strides": (32,)}),
    (4, 8, 300, 41, {"pads": (80, 80), "dilations": (4,)}),
    (4, 8, 300, 41, {"pads": (40, 41), "dilations": (2,), "strides": (2,)}),
    # Kernels that are longer than the input, and padding that is longer than the kernel.
    (8, 16, 50, 99, {"pads": (49, 49)}),
    (6, 8, 120, 33, {"pads": (50, 50)}),
    # Depthwise and grouped convolutions.
    (32, 32, 180, 51, {"pads": (25, 25), "group": 32}),
    (9, 9, 100, 70, {"pads": (35, 34), "group": 9}),
    (16, 16, 140, 45, {"pads": (44, 44), "group": 16, "dilations": (2,)}),
    (12, 24, 90, 37, {"pads": (18, 18), "group": 3}),
)


def convolution(inputs, outputs, length, kernel, attributes, rows=None):
    image = (length,) if rows is None else (rows, length)
    window = (kernel,) if rows is None else (1, kernel)
    channels = inputs // attributes.get("group", 1)
    w = (data((outputs, channels, *window)) / np.sqrt(channels * kernel)).astype(np.float32)
    if rows is not None:
        attributes = {name: value if name == "group" else (0, value[0], 0, value[1]) if name == "pads" else (1, value[0])
                      for name, value in attributes.items()}
    return helper.make_node("Conv", ["x", "w", "b"], ["y"], **attributes), {"x": data((1, inputs, *image))}, {"w": w, "b": data((outputs,))}


def cases():
    for number, window in enumerate(WINDOWS):
        node, inputs, constants = convolution(*window)
        relu = helper.make_node("Relu", ["y"], ["out"])
        yield Case(f"wide_{number}", [node, relu], inputs, constants)
        node, inputs, constants = convolution(*window, rows=3)
        yield Case(f"wide_{number}_of_images", [node, helper.make_node("Relu", ["y"], ["out"])], inputs, constants)
    for kernel in (31, 64):
        node, inputs, constants = convolution(8, 16, 256, kernel, {"pads": (kernel // 2, kernel - 1 - kernel // 2)}, rows=4)
        pool = helper.make_node("MaxPool", ["y"], ["out"], kernel_shape=(2, 2), strides=(2, 2))
        yield Case(f"wide_pooled_{kernel}", [node, pool], inputs, constants)


def amount(ingot, folder, window):
    """Returns the number of lines of a convolution's module after the stage `schedule`, and the bytes of its
    generated source."""
    node, inputs, constants = convolution(*window)
    model = Case("wide", [node], inputs, constants, outputs=("y",)).model
    path = os.path.join(folder, "wide.onnx")
    onnx.save(model, path)
    done = subprocess.run([ingot, path, "--target", "x86-64-v3", "--stop-after", "schedule"], capture_output=True, text=True, check=True)
    source = os.path.join(folder, "wide.cpp")
    subprocess.run([ingot, path, "--target", "x86-64-v3", "--weights", "file", "-o", source], check=True)
    return done.stdout.count("\n"), os.path.getsize(source)


def check_amounts(ingot):
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for inputs, outputs, length, kernel, attributes in (
                (16, 16, 1000, 65, {}), (1, 8, 1000, 65, {}), (32, 32, 1000, 65, {"group": 32}),
                (1, 40, 8000, 101, {"strides": (40,)}), (80, 80, 1000, 65, {})):
            short, long = (amount(ingot, folder, (inputs, outputs, length, size, {**attributes, "pads": (size // 2, size // 2)}))
                           for size in (kernel, 4 * kernel))
            for what, before, after, most in zip(("operations", "bytes"), short, long, (4000, 150_000)):
                if after > 1.5 * before or after > most:
                    failures.append(f"{inputs} -> {outputs} {attributes}: {before} {what} with a kernel of {kernel}, {after} with {4 * kernel}")
    print(*failures, f"{len(failures)} convolutions grow with their kernels", sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    arguments = sys.argv
    status = compare(__doc__, cases())
    if "--ingot" in arguments:
        status |= check_amounts(str(pathlib.Path(arguments[arguments.index("--ingot") + 1]).resolve()))
    sys.exit(status)
