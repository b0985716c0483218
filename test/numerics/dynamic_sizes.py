"""Networks compiled once for sizes within bounds, run at several of them beside ONNX Runtime.

    dynamic_sizes.py --ingot INGOT

`--dim n=1..64` leaves a size open: one compiled model is run at both bounds and between, whole
vectors and tiles or not. Sizes out of the bounds are refused, and so are sizes that differ where the
model needs them to be equal.
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import compiled_once

SIZES = (1, 2, 7, 33, 64)
rng = np.random.default_rng(11)


def model(nodes, weights, *inputs, integers=()):
    """Returns a model with the output y. Each of `inputs` is a name and a shape; those listed in
    `integers` have integer elements."""
    def info(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.INT64 if name in integers else TensorProto.FLOAT, shape)

    def tensor(name, value):
        value = np.asarray(value)
        isByte = value.dtype in (np.int8, np.uint8)
        return numpy_helper.from_array(value if isByte else value.astype(np.int64 if value.dtype.kind == "i" else np.float32), name)

    graph = helper.make_graph(
        nodes, "network", [info(*each) for each in inputs],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [tensor(name, value) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)],
                             ir_version=9)


def normal(*shape):
    return rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)


def mlp():
    return model([
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], transB=1), helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["s"], transB=1), helper.make_node("Softmax", ["s"], ["y"], axis=1)],
        {"w1": normal(37, 20), "b1": normal(37), "w2": normal(10, 37), "b2": normal(10)}, ("x", ["n", 20]))


def transposed(shape):
    """Returns a model that exchanges the last two axes of a tensor; elementwise operators precede and follow."""
    perm = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
    return model([helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Transpose", ["r"], ["t"], perm=perm),
                  helper.make_node("Mul", ["t", "two"], ["y"])], {"two": np.float32(2)}, ("x", shape))


def cnn():
    return model([
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("MaxPool", ["r1"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p", "dw"], ["d"], pads=[1, 1, 1, 1], group=12),
        helper.make_node("Conv", ["d", "pw"], ["q"]), helper.make_node("Add", ["p", "q"], ["s"]),
        helper.make_node("GlobalAveragePool", ["s"], ["g"]), helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "w2"], ["y"])],
        {"w1": normal(12, 3, 3, 3), "b1": normal(12), "dw": normal(12, 1, 3, 3), "pw": normal(12, 12, 1, 1),
         "w2": normal(12, 5)}, ("x", ["n", 3, 14, 14]))


def images():
    """Windows along height and width: padding of one and more columns, strides, dilations, depthwise,
    Winograd's algorithm."""
    def conv(x, w, y, **attributes):
        return helper.make_node("Conv", [x, w, "b"], [y], **attributes)
    nodes = [
        conv("x", "w3", "c1", pads=[1, 1, 1, 1]), conv("c1", "w5", "c2", pads=[2, 2, 2, 2]), helper.make_node("Add", ["c2", "c1"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]), conv("r", "w3", "c3", pads=[2, 2, 2, 2], dilations=[2, 2]),
        conv("c3", "w1", "c4"), helper.make_node("Add", ["c4", "r"], ["s4"]), conv("s4", "d3", "c5", pads=[1, 1, 1, 1], group=24),
        conv("c5", "w3", "y1", pads=[1, 0, 0, 1], strides=[2, 2]), conv("c5", "d5", "y2", pads=[2, 2, 1, 2], strides=[2, 2], group=24),
        conv("c5", "w5", "y3", auto_pad="SAME_UPPER", strides=[3, 3]), conv("c5", "w3", "y4"), conv("c5", "w1", "y5", strides=[2, 2]),
        conv("c5", "w5", "y6", pads=[0, 4, 0, 0], strides=[1, 2]),
        # Strides so large that a row has one window, or a few.
        conv("c5", "w3", "y7", pads=[1, 1, 1, 1], strides=[1, 70]), conv("c5", "w3", "y8", pads=[1, 1, 1, 1], strides=[1, 25])]
    nodes += [helper.make_node("Reshape", [f"y{i}", "flat"], [f"f{i}"]) for i in range(1, 9)]
    nodes += [helper.make_node("Concat", [*(f"f{i}" for i in range(1, 9))], ["y"], axis=1)]
    return model(nodes, {"w3": normal(24, 24, 3, 3), "w5": normal(24, 24, 5, 5), "w1": normal(24, 24, 1, 1), "d3": normal(24, 1, 3, 3),
                         "d5": normal(24, 1, 5, 5), "b": normal(24), "flat": [24, -1]}, ("x", [1, 24, "h", "w"]))


def bytes_of_images():
    """Quantized convolutions of all kinds, a pool and a matmul. Results are multiples of 1/7 before
    rounding, so there are no ties."""
    nodes, last = [helper.make_node("QuantizeLinear", ["x", "s0", "z0"], ["q0"]), helper.make_node("DequantizeLinear", ["q0", "s0", "z0"], ["d0"])], 0

    def then(op, w, **attributes):
        nonlocal last
        nodes.append(helper.make_node("DequantizeLinear", [w, "one", "none"], [f"w{last}"]))
        nodes.append(helper.make_node(op, [f"d{last}", f"w{last}"], [f"y{last + 1}"], **attributes))
        last += 1
        nodes.append(helper.make_node("QuantizeLinear", [f"y{last}", f"s{last}", "z"], [f"q{last}"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"q{last}", f"s{last}", "z"], [f"d{last}"]))

    then("Conv", "c3", pads=[1, 1, 1, 1])
    then("Conv", "dw", pads=[1, 1, 1, 1], group=24)
    nodes.append(helper.make_node("MaxPool", ["d2"], ["p2"], kernel_shape=[2, 2], pads=[0, 0, 1, 1]))
    nodes[-1].output[0], nodes[-2].output[0], nodes[-1].input[0] = "d2", "d2_", "d2_"
    then("Conv", "c5", pads=[2, 0, 2, 1], strides=[2, 2])
    nodes.append(helper.make_node("Transpose", ["d3"], ["t3"], perm=[0, 2, 3, 1]))
    nodes[-1].output[0], nodes[-2].output[0], nodes[-1].input[0] = "d3", "d3_", "d3_"
    then("MatMul", "m")
    nodes += [helper.make_node("ReduceMean", ["d4", "axis"], ["mean"], keepdims=1), helper.make_node("Add", ["d4", "mean"], ["y"])]

    def signs(*shape):
        return rng.integers(-1, 2, shape).astype(np.int8)
    scales = {f"s{i}": np.array(0.5 * 7**i) for i in range(5)}
    return model(nodes, scales | {"z0": np.uint8(130), "z": np.uint8(120), "one": np.array(1.0), "none": np.int8(0), "axis": [1], "c3": signs(24, 24, 3, 3),
                                  "dw": signs(24, 1, 3, 3), "c5": signs(20, 24, 5, 2), "m": signs(20, 9)}, ("x", [1, 24, "h", "w"]))


def rows():
    """Operators on whole rows: normalization, softmax, reductions; and a reshape to a computed size."""
    return model([
        helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["l"]),
        helper.make_node("Softmax", ["l"], ["s"], axis=1), helper.make_node("ReduceMean", ["x", "axes"], ["m"]),
        helper.make_node("Add", ["s", "m"], ["a"]), helper.make_node("Reshape", ["a", "shape"], ["y"])],
        {"scale": normal(24), "bias": normal(24), "axes": [2], "shape": [-1, 24]}, ("x", ["n", 6, 24]))


def transformer(batch):
    """Token ids [batch, seq]: an embedding with positions, one attention head, the mean over the tokens."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["tokens"]), helper.make_node("Shape", ["ids"], ["size"]),
        helper.make_node("Gather", ["size", "one"], ["seq"]),
        helper.make_node("Squeeze", ["seq"], ["limit"]),
        helper.make_node("Range", ["zero", "limit", "step"], ["positions"]),
        helper.make_node("Gather", ["places", "positions"], ["place"]), helper.make_node("Add", ["tokens", "place"], ["x"]),
        helper.make_node("MatMul", ["x", "wqkv"], ["qkv"]), helper.make_node("Split", ["qkv"], ["q", "k", "v"], axis=2, num_outputs=3),
        *[helper.make_node("Reshape", [name, "heads"], [name + "4"]) for name in "qkv"],
        helper.make_node("Transpose", ["q4"], ["qt"], perm=[0, 2, 1, 3]), helper.make_node("Transpose", ["k4"], ["kt"], perm=[0, 2, 3, 1]),
        helper.make_node("Transpose", ["v4"], ["vt"], perm=[0, 2, 1, 3]), helper.make_node("MatMul", ["qt", "kt"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["weights"]), helper.make_node("MatMul", ["weights", "vt"], ["mixed"]),
        helper.make_node("Transpose", ["mixed"], ["back"], perm=[0, 2, 1, 3]), helper.make_node("Slice", ["size", "nothing", "one"], ["batch"]),
        helper.make_node("Concat", ["batch", "seq", "width"], ["flat"], axis=0), helper.make_node("Reshape", ["back", "flat"], ["joined"]),
        helper.make_node("Add", ["x", "joined"], ["sum"]), helper.make_node("LayerNormalization", ["sum", "scale", "bias"], ["normal"]),
        helper.make_node("ReduceMean", ["normal", "one"], ["mean"]), helper.make_node("Sub", ["normal", "mean"], ["y"])]
    return model(nodes, {
        "table": normal(50, 24), "places": normal(64, 24), "wqkv": normal(24, 72) * 5, "scale": normal(24), "bias": normal(24),
        "one": [1], "zero": np.array(0), "step": np.array(1), "nothing": [0], "width": [24], "heads": [0, 0, 3, 8]},
        ("ids", [batch, "n"]), integers=("ids",))


def attention():
    """Attention with more keys than a block has, a mask, and as many queries as keys or fewer."""
    nodes = [
        helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), helper.make_node("MatMul", ["q", "kt"], ["scores"]),
        helper.make_node("Add", ["scores", "mask"], ["masked"]), helper.make_node("Softmax", ["masked"], ["weights"]),
        helper.make_node("MatMul", ["weights", "v"], ["mixed"]), helper.make_node("Mul", ["mixed", "half"], ["y"])]
    return model(nodes, {"half": np.array(0.5)}, ("q", [2, "m", 24]), ("k", [2, "n", 24]), ("v", [2, "n", 20]), ("mask", ["m", "n"]))


def movements():
    """A dynamic size on an inner axis: slicing, concatenation, padding, and reductions along it."""
    nodes = [
        helper.make_node("Slice", ["x", "one", "end", "axis"], ["tail"]), helper.make_node("Concat", ["x", "tail", "first"], ["joined"], axis=1),
        helper.make_node("Pad", ["joined", "pads"], ["padded"]), helper.make_node("Transpose", ["padded"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("ReduceMax", ["turned", "two"], ["most"]), helper.make_node("Softmax", ["turned"], ["soft"], axis=2),
        helper.make_node("Add", ["soft", "most"], ["sum"]), helper.make_node("Shape", ["x"], ["size"]),
        helper.make_node("Cast", ["size"], ["numbers"], to=TensorProto.FLOAT), helper.make_node("ReduceSum", ["numbers"], ["number"], keepdims=0),
        helper.make_node("ConstantOfShape", ["size"], ["zeros"]), helper.make_node("Gather", ["x", "last"], ["end_row"], axis=1),
        helper.make_node("Add", ["zeros", "end_row"], ["rows"]), helper.make_node("Transpose", ["rows"], ["columns"], perm=[0, 2, 1]),
        helper.make_node("Concat", ["sum", "columns"], ["all"], axis=2), helper.make_node("Mul", ["all", "number"], ["scaled"]),
        helper.make_node("Reshape", ["scaled", "flat"], ["y"])]
    return model(nodes, {"one": [1], "two": [2], "end": [2**63 - 1], "axis": [1], "first": normal(3, 2, 5), "pads": [0, 1, 0, 0, 2, 0],
                         "last": [-1], "flat": [3, -1]}, ("x", [3, "n", 5]))


def ranges():
    """Ranges between sizes: with start 1, with positive and negative steps, empty in some runs, and with
    fractions."""
    nodes = [
        helper.make_node("Shape", ["x"], ["size"]), helper.make_node("Split", ["size"], ["p1", "n1"], num_outputs=2),
        helper.make_node("Squeeze", ["p1"], ["p"]), helper.make_node("Squeeze", ["n1"], ["n"]), helper.make_node("Add", ["p", "n"], ["t"]),
        helper.make_node("Cast", ["t"], ["tf"], to=TensorProto.FLOAT)]
    bounds = ("p", "t", "one"), ("zero", "t", "three"), ("t", "zero", "down"), ("p", "n", "one"), ("n", "t", "p"), ("half", "tf", "half")
    nodes += [helper.make_node("Range", each, [f"r{i}"]) for i, each in enumerate(bounds)]
    nodes += [helper.make_node("Cast", [f"r{i}"], [f"f{i}"], to=TensorProto.FLOAT) for i in range(len(bounds))]
    nodes += [helper.make_node("Concat", [f"f{i}" for i in range(len(bounds))], ["y"], axis=0)]
    return model(nodes, {"zero": np.array(0), "one": np.array(1), "three": np.array(3), "down": np.array(-2), "half": np.array(0.5)}, ("x", ["p", "n"]))


def few():
    """A dynamic size of at most 1, which must not be mistaken for an axis that broadcasts."""
    return model([helper.make_node("Transpose", ["x"], ["t"], perm=[2, 0, 1]), helper.make_node("Add", ["t", "b"], ["y"])],
                 {"b": normal(3, 1, 1)}, ("x", ["n", "k", 3]))


def equal():
    """Two inputs whose sizes have different symbols but must be equal."""
    return model([helper.make_node("Add", ["a", "b"], ["s"]), helper.make_node("MatMul", ["s", "w"], ["m"]),
                  helper.make_node("Concat", ["m", "a"], ["y"], axis=1)],
                 {"w": normal(6, 7)}, ("a", ["n", 6]), ("b", ["m", 6]))


def check(ingot, name, network, dims=("n=1..64",), sizes=tuple({"n": size} for size in SIZES), refused=({"n": 65},)):
    def random(value, at):
        shape = [at[d.dim_param] if d.dim_param else d.dim_value for d in value.type.tensor_type.shape.dim]
        isInteger = value.type.tensor_type.elem_type == TensorProto.INT64
        return rng.integers(0, 50, shape) if isInteger else rng.standard_normal(shape).astype(np.float32)

    def inputs(sizes):
        return [{value.name: random(value, at) for value in network.graph.input} for at in sizes]

    compiled_once.check(ingot, name, network, inputs(sizes), dims, inputs(refused), tolerance=(1e-3, 1e-5),
                        variants=[["--dynamic", *more] for more in ([], ["--strict"], ["--optimize=size"])])


def check_refusal(ingot, onnx_model):
    """Checks that the generated function rejects sizes that are out of bounds or not equal, before it writes
    any output."""
    class Io(ctypes.Structure):
        _fields_ = [(name, ctypes.c_ssize_t) for name in "mn"] + [(name, ctypes.POINTER(ctypes.c_float)) for name in "aby"]

    with tempfile.TemporaryDirectory() as folder:
        path, source, library = (os.path.join(folder, name) for name in ("net.onnx", "net.cpp", "net.so"))
        onnx.save(onnx_model, path)
        subprocess.run([ingot, path, "-o", source, "--dim", "n=1..64", "--dim", "m=4..80"], check=True)
        subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", source, "-o", library], check=True)
        run = ctypes.CDLL(library).net_run
        arena = ctypes.create_string_buffer(1 << 16)
        aligned = (ctypes.addressof(arena) + 63) // 64 * 64
        for (m, n), status in {(5, 5): 0, (64, 64): 0, (5, 6): 6, (6, 5): 6, (3, 3): 6, (65, 65): 6, (0, 0): 6}.items():
            a, b, y = ((ctypes.c_float * (64 * 13))(*[value] * (64 * 13)) for value in (1, 2, -1))
            got = run(ctypes.byref(Io(m, n, a, b, y)), ctypes.c_void_p(aligned), None)
            if got != status or (status and any(value != -1 for value in y)) or (not status and y[13 * n - 1] != 1):
                sys.exit(f"sizes {m} and {n} give status {got}")
    print("sizes that differ are refused by the generated code")


def fused():
    """A block of a decoder, as written by ONNX Runtime's optimizer."""
    def ms(op, inputs, outputs, **attributes):
        return helper.make_node(op, inputs, outputs, domain="com.microsoft", **attributes)
    nodes = [
        ms("SkipLayerNormalization", ["x", "x", "scale", "bias"], ["l", "", "", "sum"]),
        ms("Attention", ["l", "qkv", "qkv_bias"], ["a"], num_heads=3, unidirectional=1),
        ms("SkipSimplifiedLayerNormalization", ["a", "sum", "scale"], ["r"]),
        ms("FusedMatMul", ["r", "w1"], ["m"], transB=1, alpha=0.5), ms("FastGelu", ["m", "b1"], ["g"]),
        ms("RotaryEmbedding", ["l", "first", "cos", "sin"], ["t"]),
        ms("MultiHeadAttention", ["t", "t", "g"], ["h"], num_heads=3), ms("QuickGelu", ["h"], ["y"])]
    angles = rng.standard_normal((80, 4))
    return model(nodes, {"scale": normal(24), "bias": normal(24), "qkv": normal(24, 72), "qkv_bias": normal(72), "w1": normal(24, 24),
                         "b1": normal(24), "first": [3], "cos": np.cos(angles), "sin": np.sin(angles)}, ("x", ["b", "n", 24]))


def labels():
    """Class labels for a dynamic number of rows, as skl2onnx writes most classifiers."""
    network = model([helper.make_node("ArgMax", ["x"], ["best"], axis=1, keepdims=1),
                     helper.make_node("ArrayFeatureExtractor", ["table", "best"], ["y"], domain="ai.onnx.ml")],
                    {"table": normal(20)}, ("x", ["n", 20]))
    network.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    return network


def decoder_step():
    """A decoding step with a cache of p steps and a mask for p + 1 steps; both sizes are dynamic."""
    nodes = [
        helper.make_node("Shape", ["mask"], ["s"]), helper.make_node("Gather", ["s", "one"], ["t"]),
        helper.make_node("Cast", ["t"], ["total"], to=TensorProto.INT32), helper.make_node("Equal", ["mask", "mask"], ["all"]),
        helper.make_node("Cast", ["all"], ["ones"], to=TensorProto.INT64), helper.make_node("ReduceSum", ["ones", "axes"], ["length"], keepdims=0),
        helper.make_node("Sub", ["length", "one"], ["before"]), helper.make_node("Cast", ["before"], ["last"], to=TensorProto.INT32),
        helper.make_node("GroupQueryAttention", ["q", "k", "v", "pk", "pv", "last", "total", "cos", "sin"], ["y", "key", "value"],
                         domain="com.microsoft", num_heads=4, kv_num_heads=2, do_rotary=1)]
    angles = rng.standard_normal((80, 8))
    return model(nodes, {"one": 1, "axes": [1], "cos": np.cos(angles), "sin": np.sin(angles)}, ("q", [1, 1, 64]), ("k", [1, 1, 32]),
                 ("v", [1, 1, 32]), ("pk", [1, 2, "p", 16]), ("pv", [1, 2, "p", 16]), ("mask", [1, "t"]), integers=("mask",))


def four_bits():
    """Activations in 8 bits, weights in 4. With two dynamic sizes, there are gaps between the batches. Activations are integers, and
    the largest of each block is 127, so that quantization is exact and --strict, which does not quantize, gives the same results."""
    nodes = [
        helper.make_node("Mul", ["x", "forty"], ["m"]), helper.make_node("Round", ["m"], ["r"]), helper.make_node("Clip", ["r", "low", "high"], ["c"]),
        helper.make_node("Reshape", ["c", "blocks"], ["d"]), helper.make_node("Pad", ["d", "pads", "high"], ["p"]),
        helper.make_node("Reshape", ["p", "flat"], ["q"]),
        helper.make_node("MatMulNBits", ["q", "w", "s"], ["y"], domain="com.microsoft", K=64, N=40, bits=4, block_size=32, accuracy_level=4)]
    return model(nodes, {"forty": np.array(40.0), "low": np.array(-127.0), "high": np.array(127.0), "blocks": [0, 0, 2, 31],
                         "pads": [0, 0, 0, 0, 0, 0, 0, 1], "flat": [0, 0, 64], "w": rng.integers(0, 256, (40, 2, 16)).astype(np.uint8),
                         "s": rng.uniform(5e-5, 15e-5, 80)}, ("x", ["b", "n", 62]))


def quarters():
    """Squares split into quarters of rows: the size that must be a multiple of 4 also occurs in the new
    shape."""
    nodes = [helper.make_node("Shape", ["x"], ["n"], end=1), helper.make_node("Concat", ["n", "parts"], ["shape"], axis=0),
             helper.make_node("Reshape", ["x", "shape"], ["r"]), helper.make_node("ReduceSum", ["r", "axes"], ["y"], keepdims=0)]
    return model(nodes, {"parts": [4, -1], "axes": [2]}, ("x", ["n", "n"]))


def paddings():
    """Dynamic axes padded with their own elements, by less and by more than their lower bound."""
    pads = {"few": [0, 0, 2, 1, 0, 0, 1, 4], "left": [0, 0, 0, 3, 0, 0, 0, 0], "many": [0, 0, 9, 1, 0, 0, 0, 8]}
    modes = [("reflect", "few"), ("reflect", "left"), ("edge", "few"), ("edge", "many"), ("constant", "many"), ("wrap", "few")]
    nodes = [helper.make_node("Pad", ["x", pads], [f"p{i}"], mode=mode) for i, (mode, pads) in enumerate(modes)]
    nodes += [helper.make_node("Reshape", [f"p{i}", "flat"], [f"f{i}"]) for i in range(len(modes))]
    nodes.append(helper.make_node("Concat", [f"f{i}" for i in range(len(modes))], ["y"], axis=0))
    return model(nodes, {**pads, "flat": [-1]}, ("x", [1, 3, "h", "w"]))


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--ingot", required=True)
parser.add_argument("--program")
args = parser.parse_args()
check(args.ingot, "mlp", mlp())
check(args.ingot, "cnn", cnn())
check(args.ingot, "rows", rows())
check(args.ingot, "transformer", transformer(1))
check(args.ingot, "transformer of batches", transformer("b"), ("n=1..64", "b=1..4"),
      [{"n": n, "b": b} for n, b in ((1, 1), (64, 4), (5, 3), (33, 2), (64, 1), (1, 4))], [{"n": 3, "b": 5}])
check(args.ingot, "fused operators", fused(), ("n=1..64", "b=1..4"), [{"n": n, "b": b} for n, b in ((1, 1), (64, 4), (5, 3), (33, 2))],
      [{"n": 65, "b": 1}])
check(args.ingot, "step of a decoder", decoder_step(), ("p=1..63", "t=1..64"), [{"p": p, "t": p + 1} for p in (1, 2, 7, 33, 63)],
      [{"p": 64, "t": 64}])
check(args.ingot, "4-bit weights", four_bits(), ("n=1..64", "b=1..4"), [{"n": n, "b": b} for n, b in ((1, 1), (64, 4), (5, 3), (33, 2))],
      [{"n": 3, "b": 5}])
check(args.ingot, "attention", attention(), ("m=1..70", "n=1..300"),
      [{"m": m, "n": n} for m, n in ((1, 1), (70, 300), (7, 15), (69, 17), (33, 64), (24, 129), (2, 299), (70, 96), (48, 31))], [{"m": 3, "n": 301}])
for name, shape in (("rows", ["b", "n", 24]), ("columns", ["b", 21, "n"]), ("neither", ["n", 3, 19, 20])):
    check(args.ingot, f"transposes of matrices: {name}", transposed(shape), ("n=1..64", *(("b=1..3",) if "b" in shape else ())),
          [{"n": n} | ({"b": b} if "b" in shape else {}) for n, b in ((1, 1), (64, 3), (7, 2), (8, 1), (33, 2))], [{"n": 65} | ({"b": 1} if "b" in shape else {})])
check(args.ingot, "labels", labels())
check(args.ingot, "movements", movements())
check(args.ingot, "images", images(), ("h=6..40", "w=5..70"), [{"h": h, "w": w} for h, w in ((6, 5), (7, 12), (20, 31), (21, 32), (40, 70))],
      [{"h": 5, "w": 5}])
check(args.ingot, "quarters", quarters(), sizes=[{"n": n} for n in (4, 20, 64)], refused=[{"n": 6}, {"n": 68}])
check(args.ingot, "paddings", paddings(), ("h=4..20", "w=5..33"), [{"h": h, "w": w} for h, w in ((4, 5), (7, 12), (20, 33))], [{"h": 3, "w": 5}])
check(args.ingot, "bytes of images", bytes_of_images(), ("h=6..40", "w=5..70"), [{"h": h, "w": w} for h, w in ((6, 5), (21, 32), (40, 70))],
      [{"h": 5, "w": 5}])
check(args.ingot, "ranges", ranges(), ("p=1..9", "n=0..9", "*=0..64"), [{"p": p, "n": n} for p, n in ((1, 0), (2, 7), (9, 3), (9, 9))],
      [{"p": 0, "n": 3}])
check(args.ingot, "sums over at most one row", model([helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)],
                                                     {"axes": [0, 1]}, ("x", ["n", 5])),
      ("n=0..1",), [{"n": 0}, {"n": 1}], [{"n": 2}])
check(args.ingot, "at most one", few(), ("n=0..1", "k=0..4"), [{"n": n, "k": k} for n, k in ((0, 4), (1, 4), (1, 2), (1, 0), (0, 0))],
      [{"n": 2, "k": 4}])
check(args.ingot, "equal sizes", equal(), ("n=1..64", "m=4..80"), [{"n": n, "m": n} for n in (4, 5, 64)],
      [{"n": 5, "m": 6}, {"n": 3, "m": 3}, {"n": 65, "m": 65}])
check_refusal(args.ingot, equal())
compiled_once.finish()
