"""Random networks beside ONNX Runtime: what fuses with what, in any order.

    random_networks.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT] [--seed N] [--count N]

Layers are drawn one after the other and take any values that fit, so that
results are read twice, behind a layer as before it, across a concatenation or
a reduction. The seed is part of a case's name.
"""
import argparse
import random
import sys

import numpy as np

import beside_onnxruntime
from architectures import Net
from beside_onnxruntime import compare, data, ints


class Walk:
    """A network generated from a random seed; values are (name, shape)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        beside_onnxruntime.rng = np.random.default_rng(seed)
        self.net = Net(self.random.choice((9, 13, 18, 21)), data((1, self.random.choice((3, 4, 8)), self.side(), self.side())))
        self.values = [("x", self.net.x.shape)]

    def side(self):
        return self.random.choice((6, 8, 9, 12, 13))

    def pick(self):
        """Returns a value of the network: usually one of the last three, sometimes any."""
        recent = self.values[-3:] if self.random.random() < 0.7 else self.values
        return self.random.choice(recent)

    def add(self, name, shape):
        shape = tuple(int(d) for d in shape)
        if all(shape) and np.prod(shape) < 20000:
            if len(shape) > 1:
                self.net.channels[name] = shape[1]
            self.values.append((name, shape))

    def partner(self, shape):
        """Returns the name of a value or of a new constant that broadcasts to `shape`."""
        fits = [v for v in self.values if len(v[1]) == len(shape) and all(a in (b, 1) for a, b in zip(v[1], shape))]
        if fits and self.random.random() < 0.8:
            return self.random.choice(fits)[0]
        kept = [d if self.random.random() < 0.5 else 1 for d in shape]
        kept = kept[self.random.randrange(len(shape)):]
        return self.net.constant(data(kept))

    def convolution(self, x, shape):
        if len(shape) != 4 or min(shape[2:]) < 3:
            return self.unary(x, shape)
        n, r, c = self.net, self.random, shape[1]
        kernel, stride = r.choice(((1, 1), (1, 1), (3, 1), (3, 2), (5, 1), (1, 2)))
        groups = r.choice((1, 1, c, 2 if c % 2 == 0 else 1))
        out = c * r.choice((1, 2)) if groups == c else r.choice((c, 5, 8, 12, 17, 32)) * groups
        low, high = r.randrange(kernel), r.randrange(kernel)
        same = r.random() < 0.7
        pads = [kernel // 2] * 4 if same else [low, low, high, high]
        size = [(d + pads[i] + pads[i + 2] - kernel) // stride + 1 for i, d in enumerate(shape[2:])]
        self.add(n.conv(x, out, kernel, stride, groups, pads=pads, bias=r.random() < 0.7), (1, out, *size))

    def unary(self, x, shape):
        r = self.random
        op = r.choice(("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Abs", "HardSigmoid", "Elu", "Neg", "Softplus", "norm"))
        if op == "norm":
            if len(shape) == 4:
                self.add(self.net.norm(x), shape)
            return
        self.add(self.net.op(op, x), shape)

    def binary(self, x, shape):
        other = self.partner(shape)
        pair = (x, other) if self.random.random() < 0.5 else (other, x)
        self.add(self.net.op(self.random.choice(("Add", "Mul", "Sub", "Add", "Mul", "Max" if self.net.opset > 8 else "Add")), *pair), shape)

    def pool(self, x, shape):
        if len(shape) != 4 or min(shape[2:]) < 3:
            return
        n, r = self.net, self.random
        kind = r.choice(("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"))
        if kind.startswith("Global"):
            return self.add(n.op(kind, x), (1, shape[1], 1, 1))
        size, stride, pad = r.choice(((2, 2, 0), (3, 1, 1), (3, 2, 0), (3, 2, 1), (2, 1, 0)))
        self.add(n.op(kind, x, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4),
                 (1, shape[1], *((d + 2 * pad - size) // stride + 1 for d in shape[2:])))

    def join(self, x, shape):
        axis = self.random.randrange(1, len(shape)) if len(shape) > 1 else 0
        fits = [v for v in self.values if len(v[1]) == len(shape) and all(a == b for i, (a, b) in enumerate(zip(v[1], shape)) if i != axis)]
        parts = [(x, shape)] + self.random.choices(fits, k=self.random.choice((1, 1, 2)))
        total = list(shape)
        total[axis] = sum(p[1][axis] for p in parts)
        self.add(self.net.op("Concat", *(p[0] for p in parts), axis=axis), total)

    def cut(self, x, shape):
        n, r = self.net, self.random
        axis = r.randrange(len(shape))
        size = shape[axis]
        if size < 3:
            return
        start, step = r.randrange(size - 1), r.choice((1, 1, 2))
        end = r.randrange(start + 1, size + 1)
        result = list(shape)
        result[axis] = len(range(start, end, step))
        if n.opset < 10:
            result[axis] = end - start
            self.add(n.op("Slice", x, axes=[axis], starts=[start], ends=[end]), result)
        else:
            self.add(n.op("Slice", x, *(n.constant(ints(v)) for v in (start, end, axis, step))), result)

    def move(self, x, shape):
        n, r = self.net, self.random
        kind = r.choice(("transpose", "reshape", "pad", "resize"))
        if kind == "transpose":
            order = list(range(1, len(shape)))
            r.shuffle(order)
            order = [0] + order
            return self.add(n.op("Transpose", x, perm=order), [shape[i] for i in order])
        if kind == "reshape":
            to = [shape[0], shape[1], int(np.prod(shape[2:]))] if len(shape) == 4 else [shape[0], shape[1], *((2, shape[2] // 2) if shape[2] % 2 == 0 else (1, shape[2]))] if len(shape) == 3 else shape
            return self.add(n.op("Reshape", x, n.constant(ints(*to))), to)
        if kind == "pad":
            pads = [0, 0] + [r.randrange(3) for _ in shape[2:]]
            result = [d + 2 * p for d, p in zip(shape, pads)]
            return self.add(n.op("Pad", x, pads=pads * 2) if n.opset < 11 else n.op("Pad", x, n.constant(ints(*pads * 2))), result)
        if len(shape) == 4:
            self.add(n.resize(x, 2, 2), (shape[0], shape[1], 2 * shape[2], 2 * shape[3]))

    def product(self, x, shape):
        n, r = self.net, self.random
        out = r.choice((5, 8, shape[-1], 19))
        w = n.constant((data((shape[-1], out)) / np.sqrt(shape[-1])).astype(np.float32))
        self.add(n.op("MatMul", x, w), (*shape[:-1], out))

    def square(self, x, shape):
        """Multiplies a value by its own transpose, as in attention."""
        if len(shape) < 3:
            return
        order = list(range(len(shape) - 2)) + [len(shape) - 1, len(shape) - 2]
        t = self.net.op("Transpose", x, perm=order)
        self.add(self.net.op("MatMul", x, t), (*shape[:-1], shape[-2]))

    def reduce(self, x, shape):
        n, r = self.net, self.random
        kind = r.choice(("softmax", "mean", "max"))
        if kind == "softmax":
            return self.add(n.op("Softmax", x, axis=len(shape) - 1), shape)
        axes = r.choice(([1], list(range(2, len(shape))) or [1], [len(shape) - 1]))
        result = [1 if i in axes else d for i, d in enumerate(shape)]
        if kind == "mean":
            return self.add(n.mean(x, axes, 1), result)
        if n.opset < 18:
            return self.add(n.op("ReduceMax", x, axes=axes, keepdims=1), result)
        self.add(n.op("ReduceMax", x, n.constant(ints(*axes)), keepdims=1), result)

    def scaled(self, x, shape):
        """Adds a Tanh, which keeps values between -1 and 1: repeated multiplications would overflow."""
        self.add(self.net.op("Tanh", x), shape)

    def run(self, seed):
        steps = (self.convolution, self.convolution, self.convolution, self.unary, self.unary, self.binary, self.binary, self.binary,
                 self.pool, self.join, self.cut, self.move, self.product, self.square, self.reduce, self.scaled)
        for _ in range(self.random.randrange(4, 22)):
            self.random.choice(steps)(*self.pick())
        read = {operand for node in self.net.nodes for operand in node.input}
        outputs = [v for v, _ in self.values[1:] if v not in read] or [self.values[-1][0]]
        if outputs == ["x"]:
            outputs = [self.net.op("Relu", "x")]
        return self.net.case(f"seed-{seed}", *outputs[-3:])


if __name__ == "__main__":
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=100)
    chosen, rest = options.parse_known_args()
    sys.argv[1:] = rest
    raise SystemExit(compare(__doc__, (Walk(seed).run(seed) for seed in range(chosen.seed, chosen.seed + chosen.count))))
