#!/usr/bin/env python3
"""Attention in one kernel on the emulated GPU, by each of its strategies, beside NumPy in double precision.

    cuda_attention.py --ingot PROGRAM --work DIR [--filter TEXT] [--every N]

Each case says which strategy has to take it. The error is told in parts of the largest result.
"""
import argparse
import itertools
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

# Tolerances, by the type of the operands: f32 has f32 accumulators; the others are rounded to 8, 11 and 11 bits of
# mantissa.
TOLERANCES = {"f32": 2e-6, "bf16": 1e-2, "tf32": 1.5e-3, "f16": 2e-3}


def data(rng, shape):
    return rng.standard_normal(shape).astype(np.float32)


def attention(x, mask):
    q, k, v = (part.astype(np.float64) for part in x)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + mask
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


class Case:
    """A model with queries [heads, m, d], keys [key heads, n, d] and values [key heads, n, e]. `packed`:
    all in one tensor, tokens first. `stored`: negated, and stored in the model's memory."""

    def __init__(self, name, strategy, kind, m, n, d, e=None, heads=2, groups=1, mask=None, packed=False, stored=False, target="sm_80"):
        self.name, self.strategy, self.kind, self.packed, self.stored = f"{name}-{kind}", strategy, kind, packed, stored
        self.target = target
        rng = np.random.default_rng(len(name))
        dtype = np.float16 if kind == "f16" else np.float32
        e = e or d
        x = data(rng, (heads, m, d)), data(rng, (heads // groups, n, d)), data(rng, (heads // groups, n, e))
        self.x = [part.astype(dtype) for part in x]
        self.mask = None
        if mask == "causal":
            self.mask = np.where(np.tril(np.ones((m, n)), n - m) > 0, 0, -np.inf).astype(dtype)[None]
        elif mask == "bias":
            self.mask = data(rng, (heads, m, n)).astype(dtype)
        self.groups = groups
        self.want = attention([self.x[0], *(np.repeat(part, groups, 0) for part in self.x[1:])], self.mask) * (-1 if stored else 1)

    def save(self, folder):
        nodes, inputs, constants = [], {}, {"scale": np.array(self.x[0].shape[-1] ** -0.5, self.x[0].dtype)}

        def add(op, *names, **attributes):
            nodes.append(helper.make_node(op, names, [f"t{len(nodes)}"], **attributes))
            return nodes[-1].output[0]

        def reshape(name, *shape):
            constants[f"shape{len(constants)}"] = np.array(shape, np.int64)
            return add("Reshape", name, list(constants)[-1])

        heads, m, d = self.x[0].shape
        own, n, e = self.x[2].shape
        if self.packed:
            inputs["x"] = np.concatenate([part.swapaxes(0, 1) for part in self.x], 1)[None]
            constants["split"] = np.array([heads, own, own], np.int64)
            parts = ["q", "k", "v"]
            nodes.append(helper.make_node("Split", ["x", "split"], parts, axis=2))
            q, v = (add("Transpose", part, perm=[0, 2, 1, 3]) for part in "qv")
            k = add("Transpose", "k", perm=[0, 2, 3, 1])
        else:
            inputs |= {name: part[None] for name, part in zip("qkv", self.x)}
            q, k, v = (add("Neg", name) for name in "qkv") if self.stored else "qkv"
            if self.groups > 1:
                q, k, v = reshape(q, 1, own, self.groups, m, d), reshape(k, 1, own, 1, n, d), reshape(v, 1, own, 1, n, e)
            k = add("Transpose", k, perm=[0, 1, 2, 4, 3] if self.groups > 1 else [0, 1, 3, 2])
        for i in range(3 * self.stored):  # Uses the tensors a second time, so that they are stored in the model's memory.
            nodes.append(helper.make_node("ReduceMax", [f"t{i}"], [f"r{i}"], keepdims=0))
        scores = add("Mul", add("MatMul", q, k), "scale")
        if self.mask is not None:
            inputs["mask"] = self.mask[None]
            mask = reshape("mask", 1, own, self.groups, m, n) if self.groups > 1 and len(self.mask) > 1 else "mask"
            scores = add("Add", scores, mask)
        y = add("MatMul", add("Softmax", scores, axis=-1), v)
        if self.groups > 1:
            y = reshape(y, 1, heads, m, e)
        add("Transpose", y, perm=[0, 2, 1, 3])
        nodes[-1].output[0] = "y"
        element = helper.np_dtype_to_tensor_dtype(self.x[0].dtype)
        graph = helper.make_graph(
            nodes, "attention", [helper.make_tensor_value_info(k, element, v.shape) for k, v in inputs.items()],
            [helper.make_tensor_value_info(name, element, None) for name in ["y"] + ["r0", "r1", "r2"] * self.stored], [numpy_helper.from_array(v, k) for k, v in constants.items()])
        path = os.path.join(folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
        for name, value in inputs.items():
            np.save(os.path.join(folder, name + ".npy"), value)
        return path, list(inputs)


def cases():
    blocks = {"bf16": "tensor-attention", "tf32": "tensor-attention", "f16": "tensor-attention", "f32": "block-attention"}
    for kind, strategy in blocks.items():
        yield Case("blocks", strategy, kind, 70, 130, 64)
        yield Case("packed", strategy, kind, 33, 33, 32, packed=True)
        yield Case("wide", strategy, kind, 20, 48, 128, 64)
        yield Case("causal", strategy, kind, 64, 96, 64, mask="causal")
        yield Case("groups", strategy, kind, 24, 40, 32, heads=4, groups=2, mask="bias")
        yield Case("filled-up", strategy, kind, 17, 37, 40, 24)
        yield Case("stored", strategy, kind, 40, 48, 32, stored=True)
    yield Case("odd", "block-attention", "f32", 19, 37, 7, 33)
    for kind, (name, arguments) in itertools.product(("f32", "bf16", "f16"), {
            "row": dict(m=1, n=300, d=64), "row-groups": dict(m=1, n=50, d=32, heads=4, groups=2, mask="bias"),
            "few": dict(m=5, n=77, d=64, e=32, mask="causal")}.items()):
        yield Case(name, "row-attention", kind, **arguments)
    # Keys and queries that do not fill tiles, heads with fewer elements than are loaded at a time (a K tile) or
    # with twice as many, and masks.
    for name, arguments in {
            "tiles": dict(m=150, n=330, d=64), "tiles-causal": dict(m=192, n=192, d=64, mask="causal"),
            "tiles-two-strips": dict(m=128, n=200, d=128, e=96), "tiles-half": dict(m=140, n=256, d=32, mask="bias"),
            "tiles-slices": dict(m=60, n=500, d=80, e=64)}.items():
        for kind in ("f16", "bf16"):
            yield Case(name, "warpgroup-attention", kind, **{"heads": 4, **arguments}, stored=True, target="sm_90a")
    yield Case("tiles-packed", "warpgroup-attention", "f16", 150, 150, 64, heads=6, packed=True, target="sm_90a")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1, help="a sample: every N-th case")
    args = parser.parse_args()
    failed = 0
    for case in list(cases())[::args.every]:
        if args.filter not in case.name:
            continue
        folder = os.path.join(args.work, case.name)
        os.makedirs(folder, exist_ok=True)
        model, inputs = case.save(folder)
        options = ["--target", case.target] + ([f"--fast={case.kind}"] if case.kind in ("bf16", "tf32") else [])
        report = subprocess.run([args.ingot, "inspect", model, *options], capture_output=True, text=True, check=True).stdout
        given = [f"--input={name}={os.path.join(folder, name)}.npy" for name in inputs]
        subprocess.run([args.ingot, "run", model, *options, *given, "--output-dir", os.path.join(folder, "out")], check=True, stdout=subprocess.DEVNULL)
        got = np.load(os.path.join(folder, "out", "y.npy"))[0].swapaxes(0, 1).astype(np.float64)
        error = np.abs(got - case.want).max() / np.abs(case.want).max()
        isRight = error <= TOLERANCES[case.kind] and case.strategy in report and report.count("attention") >= 1
        failed += not isRight
        print(f"{case.name:<18}{case.strategy if case.strategy in report else 'another strategy':<18}{error:.2e}"
              f"{'' if isRight else '  WRONG'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
