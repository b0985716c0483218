#!/usr/bin/env python3
"""Compares the output of `tiny` of examples/firmware with ONNX Runtime.

    compare_tiny.py FOLDER_OF_MODELS LOG

A line of the log has a network, the index of its largest output, and that
output in millionths.
"""
import os
import re
import sys

import numpy as np
import onnxruntime


def inputs(shape):
    """Returns the same pseudo-random numbers as the firmware uses."""
    seed, values = 1, []
    for _ in range(int(np.prod(shape))):
        seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
        values.append((seed - (1 << 32) if seed >> 31 else seed) / 2.0**31)
    return np.array(values, np.float32).reshape(shape)


def main():
    folder, log = sys.argv[1:]
    seen = 0
    for name, best, millionths in re.findall(r"^(tiny_\w+) (\d+) (-?\d+)$", open(log).read(), re.M):
        session = onnxruntime.InferenceSession(os.path.join(folder, name + ".onnx"), providers=["CPUExecutionProvider"])
        value = session.get_inputs()[0]
        output = session.run(None, {value.name: inputs(value.shape)})[0].ravel()
        error = abs(output[int(best)] - int(millionths) * 1e-6)
        if int(best) != int(output.argmax()) or error > 1e-4 * np.ptp(output):
            sys.exit(f"{name}: {best} {millionths}, not {output.argmax()} {output.max() * 1e6:.0f}")
        seen += 1
    if seen != 4:
        sys.exit(f"{seen} of 4 networks in {log}")


if __name__ == "__main__":
    main()
