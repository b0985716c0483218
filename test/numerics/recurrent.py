"""RNN, GRU and LSTM beside ONNX Runtime.

    recurrent.py --program INGOT-CONFORMANCE [--target NAME[,fast=bf16]] [--filter TEXT]

With everything that they can have, on sizes that fill vectors and leave a rest;
inputs come from a fixed seed. If the target ends in ,fast=bf16, products are those of bf16, and recurrent
weights are small, so that states forget errors.
"""
import itertools
import sys

import numpy as np
from onnx import helper

from beside_onnxruntime import Case, compare, data

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
IS_NARROW = any(argument.endswith(",fast=bf16") for argument in sys.argv)


def layer(name, op, time, batch, size, hidden, direction="forward", lengths=False, states=False, bias=True, peepholes=False, **attributes):
    d, gates = 2 if direction == "bidirectional" else 1, GATES[op] * hidden
    inputs = {"x": data((time, batch, size))}
    weights = {"w": data((d, gates, size)) * np.float32(0.3), "r": data((d, gates, hidden)) * np.float32(min(0.3, hidden**-0.5) if IS_NARROW else 0.3)}
    names = ["x", "w", "r", "", "", "", "", ""]

    def optional(place, key, value, into):
        into[key] = value
        names[place] = key

    if bias:
        optional(3, "b", np.zeros((d, 2 * gates), np.float32) if bias == "zeros" else data((d, 2 * gates)), weights)
    if lengths:
        optional(4, "n", (np.arange(batch) * 5 % (time + 1)).clip(1).astype(np.int32), inputs)
    if states:
        optional(5, "h", data((d, batch, hidden)), inputs)
        if op == "LSTM":
            optional(6, "c", data((d, batch, hidden)), inputs)
    if peepholes:
        optional(7, "p", data((d, 3 * hidden)), weights)
    while not names[-1]:
        names.pop()
    outputs = ["y", "yh", "yc"][: 3 if op == "LSTM" else 2]
    node = helper.make_node(op, names, outputs, hidden_size=hidden, direction=direction, **attributes)
    return Case(f"{op.lower()}-{name}", [node], inputs, weights, outputs, opset=14, tolerance=2e-2 if IS_NARROW else 1e-4)


def layers():
    for op in GATES:
        for time, batch, size, hidden in ((1, 1, 3, 5), (7, 1, 40, 128), (6, 3, 17, 33), (5, 2, 16, 200)):
            yield layer(f"{time}-{batch}-{size}-{hidden}", op, time, batch, size, hidden)
        for direction, lengths, states, bias in itertools.product(("forward", "reverse", "bidirectional"), (0, 1), (0, 1), (0, 1)):
            yield layer(f"{direction}-{lengths}-{states}-{bias}", op, 6, 4, 9, 20, direction, lengths, states, bias)
        yield layer("clip", op, 5, 2, 9, 20, clip=0.5)
        for direction, lengths in itertools.product(("forward", "reverse", "bidirectional"), (0, 1)):
            yield layer(f"one-step-{direction}-{lengths}", op, 1, 2, 9, 20, direction, lengths, bias="zeros")
    # Layers whose recurrent weights exceed the second-level cache.
    yield layer("large", "LSTM", 5, 2, 16, 256, "bidirectional", lengths=True)
    yield layer("large", "GRU", 5, 2, 16, 384, "reverse", linear_before_reset=1)
    for bias in (0, 1):
        yield layer(f"linear-{bias}", "GRU", 6, 2, 9, 37, "bidirectional", bias=bias, linear_before_reset=1)
    yield layer("peepholes", "LSTM", 6, 2, 9, 37, "bidirectional", peepholes=True)
    yield layer("coupled", "LSTM", 6, 2, 9, 37, input_forget=1)
    # Layers so large that several threads would share a time step; this test runs them with one thread.
    yield layer("shared", "LSTM", 5, 2, 9, 256, states=True)
    yield layer("shared", "GRU", 5, 1, 9, 512, "reverse", linear_before_reset=1)
    alpha, both = {"activation_alpha": [0.7]}, {"activation_alpha": [0.7], "activation_beta": [0.3]}
    for f, values in {
        "Relu": {}, "Sigmoid": {}, "Softsign": {}, "Softplus": {}, "LeakyRelu": alpha, "ThresholdedRelu": alpha, "Elu": alpha,
        "ScaledTanh": both, "HardSigmoid": both, "Affine": both,
    }.items():
        yield layer(f.lower(), "RNN", 4, 2, 9, 20, activations=[f], **values)


if __name__ == "__main__":
    # The memory of emulated machines is too small for the largest sizes of a large layer with dynamic sizes.
    sys.exit(compare(__doc__, layers(), refused=("lstm-shared",) if "--target" in sys.argv else ()))
