"""Operators that become several: integer products, unrolled loops, sequences, n-grams; and several that become one: normalizations, softmax,
activations, padding. Beside ONNX Runtime.

    composites.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]
"""
import sys

import numpy as np
from onnx import TensorProto, helper

from beside_onnxruntime import Case, compare, data, ints, one


def bytes_of(shape, dtype):
    return data(shape, np.int32, 60 if dtype == np.int8 else 100).astype(dtype)


def some(shape, dtype=np.float32):
    return np.asarray(0.01 + 0.02 * np.abs(data(shape)), dtype)


def integer_products():
    for dtype in (np.int8, np.uint8):
        name = np.dtype(dtype).name
        a, b = bytes_of((9, 37), dtype), bytes_of((37, 21), dtype)
        zero = np.asarray(3, dtype)
        yield one(f"matmul-integer-{name}", "MatMulInteger", {"a": a, "b": b}, {"az": zero, "bz": zero})
        yield one(f"matmul-integer-columns-{name}", "MatMulInteger", {"a": a}, {"b": b, "az": zero, "bz": bytes_of((21,), dtype)})
        yield one(f"matmul-integer-no-zeros-{name}", "MatMulInteger", {"a": bytes_of((2, 3, 5, 37), dtype), "b": b})
        constants = {"as": some(()), "az": zero, "b": b, "bs": some((21,)), "bz": bytes_of((21,), dtype), "ys": some(()), "yz": zero}
        yield one(f"qlinear-matmul-{name}", "QLinearMatMul", {"a": a}, constants)
        constants |= {"bs": some(()), "bz": zero}
        yield one(f"qlinear-matmul-3d-{name}", "QLinearMatMul", {"a": bytes_of((4, 9, 37), dtype)}, constants)
    for name, rows, a_zero, b_zero in (("large", 2, 300, 200), ("negative", 2, -5, -129), ("broadcast", 1, np.full((3, 4), 7, np.int32), 0)):
        # Numbers that are subtracted from bytes, but are no zero points: out of range, or with more axes.
        nodes = [helper.make_node("Cast", [v], [f"{v}w"], to=TensorProto.INT32) for v in "ab"]
        nodes += [helper.make_node("Sub", [f"{v}w", f"{v}z"], [f"{v}c"]) for v in "ab"] + [helper.make_node("MatMul", ["ac", "bc"], ["out"])]
        yield Case(f"matmul-minus-{name}", nodes, {"a": data((rows, 4), np.int32, 256).astype(np.uint8), "b": bytes_of((4, 3), np.int8)},
                   {"az": np.asarray(a_zero, np.int32), "bz": np.asarray(b_zero, np.int32)})
    # Quantized tensors whose scale is no multiple of that of the products.
    dequantize = [helper.make_node("DequantizeLinear", [v, f"{v}s"], [f"{v}f"]) for v in "xwr"]
    scales = {"xs": np.float32(1), "ws": np.float32(1), "rs": np.float32(0.3)}
    residual = [*dequantize, helper.make_node("MatMul", ["xf", "wf"], ["p"]), helper.make_node("Add", ["p", "rf"], ["out"])]
    yield Case("matmul-residual", residual, {"x": bytes_of((5, 7), np.int8), "r": bytes_of((5, 9), np.int8)}, {"w": bytes_of((7, 9), np.int8)} | scales,
               tolerance=1e-6)
    yield Case("conv-bias-steps", [*dequantize, helper.make_node("Conv", ["xf", "wf", "rf"], ["out"])], {"x": bytes_of((1, 2, 4, 4), np.int8)},
               {"w": bytes_of((3, 2, 1, 1), np.int8), "r": np.array([1, 2, 5], np.int32)} | scales, tolerance=1e-6)
    x = bytes_of((2, 6, 13, 11), np.uint8)
    zero, w_zero = np.uint8(7), np.uint8(5)
    for group, attributes in ((1, {}), (1, {"pads": [1, 1, 2, 0], "strides": [2, 1]}), (2, {"dilations": [2, 2]}), (6, {"auto_pad": "SAME_UPPER"})):
        w = bytes_of((12, 6 // group, 3, 3), np.uint8)
        name = f"{group}-{'-'.join(attributes)}"
        if group == 1:
            yield one(f"conv-integer-{name}", "ConvInteger", {"x": x}, {"w": w, "xz": zero, "wz": w_zero}, **attributes)
        signed = bytes_of(w.shape, np.int8)
        constants = {"xs": some(()), "xz": zero, "w": signed, "ws": some((12,)), "wz": np.zeros(12, np.int8), "ys": np.float32(0.3),
                     "yz": np.uint8(100), "b": data((12,), np.int32, 1000)}
        yield one(f"qlinear-conv-{name}", "QLinearConv", {"x": x}, constants, group=group, **attributes)


def body(nodes, inputs, outputs):
    value = lambda n, t, s: helper.make_tensor_value_info(n, t, s)
    return helper.make_graph(nodes, "body", [value(*i) for i in inputs], [value(*o) for o in outputs])


F = TensorProto.FLOAT


def loops():
    step = [helper.make_node("MatMul", ["h", "w"], ["m"]), helper.make_node("Add", ["m", "x"], ["s"]),
            helper.make_node("Tanh", ["s"], ["h_new"]), helper.make_node("Neg", ["h_new"], ["y"])]
    cell = body(step, [("h", F, (2, 19)), ("x", F, (2, 19))], [("h_new", F, (2, 19)), ("y", F, (2, 19))])
    for axis, reverse in ((0, 0), (1, 1)):
        x = data((5, 2, 19) if axis == 0 else (2, 5, 19))
        attributes = {"scan_input_axes": [axis], "scan_output_axes": [axis], "scan_input_directions": [reverse], "scan_output_directions": [reverse]}
        yield one(f"scan-{axis}{reverse}", "Scan", {"h0": data((2, 19)), "xs": x}, {"w": 0.2 * data((19, 19))}, outputs=("last", "out"),
                  order=["h0", "xs"], body=cell, num_scan_inputs=1, **attributes)
    iteration = body([helper.make_node("Cast", ["i"], ["f"], to=F), helper.make_node("Add", ["a", "f"], ["b"]),
                      helper.make_node("Less", ["i", "three"], ["go"]), helper.make_node("Mul", ["b", "b"], ["y"])],
                     [("i", TensorProto.INT64, ()), ("c", TensorProto.BOOL, ()), ("a", F, (7, 3))],
                     [("go", TensorProto.BOOL, ()), ("b", F, (7, 3)), ("y", F, (7, 3))])
    for count, known in ((3, True), (9, True), (9, False)):
        constants = {"n": np.array(count), "three": np.array(3)} | ({"go_on": np.array(True)} if known else {})
        yield one(f"loop-{count}-{known}", "Loop", {"a0": data((7, 3))}, constants, outputs=("last", "out"),
                  order=["n", "go_on" if known else "", "a0"], body=iteration)


def sequences():
    x = data((6, 5, 8))
    nodes = [helper.make_node("SplitToSequence", ["x", "n"], ["s"], axis=1), helper.make_node("SequenceAt", ["s", "one"], ["middle"]),
             helper.make_node("Exp", ["middle"], ["e"]), helper.make_node("SequenceInsert", ["s", "e", "zero"], ["t"]),
             helper.make_node("SequenceErase", ["t"], ["u"]), helper.make_node("ConcatFromSequence", ["u"], ["out"], axis=1)]
    yield Case("sequence", nodes, {"x": x}, {"n": np.array(2), "one": np.array(1), "zero": np.array(0)})
    nodes = [helper.make_node("SplitToSequence", ["x"], ["s"], keepdims=0, axis=2), helper.make_node("SequenceLength", ["s"], ["length"]),
             helper.make_node("ConcatFromSequence", ["s"], ["out"], axis=0, new_axis=1)]
    yield Case("sequence-stack", nodes, {"x": x}, outputs=("out", "length"))


def n_grams():
    text = data((3, 50), np.int64, 4)
    pool = {"ngram_counts": [0, 4, 12], "pool_int64s": [0, 1, 2, -1, 0, 1, 1, 1, 2, 0, 1, 2, 0, 1, 2, 1, 0, -1], "ngram_indexes": [8, 0, 1, 2, 3, 4, 5, 6, 7, 9]}
    weights = [0.5 + i / 8 for i in range(10)]
    for mode in ("TF", "IDF", "TFIDF"):
        for shortest, longest, skips in ((1, 1, 0), (1, 3, 0), (2, 3, 3)):
            yield one(f"n-grams-{mode}-{shortest}{longest}{skips}", "TfIdfVectorizer", {"x": text}, mode=mode, min_gram_length=shortest,
                      max_gram_length=longest, max_skip_count=skips, weights=weights, **pool)
    yield one("n-grams-beyond-int32", "TfIdfVectorizer", {"x": data((3, 9), np.int32, 8)}, mode="TF", min_gram_length=1, max_gram_length=1,
              max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 1], pool_int64s=[2**32 + 5, 7])


def chain(name, steps, inputs, constants, dtype=np.float32, tolerance=1e-5, want=None):
    """Yields a network of unary and binary steps "result = Operator(operand, ...)"."""
    nodes = []
    for step in steps.split("; "):
        result, call = step.split(" = ")
        operator, operands = call.rstrip(")").split("(")
        attributes = {"axes": [-1]} if operator == "ReduceMean" else {}
        nodes.append(helper.make_node(operator, operands.split(", "), [result], **attributes))
    return Case(name, nodes, inputs, {k: np.asarray(v, dtype) for k, v in constants.items()}, opset=16, tolerance=tolerance, want=want)


def norm_of_images():
    """A normalization of whole images between convolutions, which is independent of the order of elements."""
    steps = (("Conv", "x w", "a"), ("Reshape", "a rows", "f"), ("InstanceNormalization", "f one shift", "n"), ("Reshape", "n images", "b"),
             ("Mul", "b channels", "s"), ("Add", "a s", "r"), ("Conv", "r v", "out"))
    nodes = [helper.make_node(operator, operands.split(), [result]) for operator, operands, result in steps]
    yield Case("norm-of-images", nodes, {"x": data((2, 5, 9, 7))},
               {"w": data((24, 5, 1, 1)), "v": data((8, 24, 3, 3)), "rows": np.array([2, 1, -1]), "images": np.array([2, 24, 9, 7]),
                "one": np.ones(1, np.float32), "shift": data((1,)), "channels": data((24, 1, 1))}, opset=16)


def spelled_out():
    x, scale, bias = data((3, 5, 37)), data((37,)), data((37,))
    parameters = {"scale": scale, "bias": bias, "epsilon": 1e-5, "two": 2}
    moments = "m = ReduceMean(x); d = Sub(x, m); q = Pow(d, two); v = ReduceMean(q); e = Add(v, epsilon); s = Sqrt(e); "
    yield chain("spelled-layer-norm", moments + "n = Div(d, s); p = Mul(n, scale); out = Add(p, bias)", {"x": x}, parameters)
    yield chain("spelled-layer-norm-keras", moments + "r = Reciprocal(s); i = Mul(r, scale); a = Mul(x, i); b = Mul(m, i); c = Sub(bias, b); "
                "out = Add(a, c)", {"x": x}, parameters)
    yield chain("spelled-rms-norm", "q = Mul(x, x); v = ReduceMean(q); e = Add(v, epsilon); s = Sqrt(e); r = Reciprocal(s); n = Mul(x, r); "
                "out = Mul(scale, n)", {"x": x}, {"scale": scale, "epsilon": 1e-6})
    yield chain("spelled-gelu", "a = Div(x, root); b = Erf(a); c = Add(b, one); d = Mul(x, c); out = Mul(d, half)", {"x": x},
                {"root": 2 ** 0.5, "one": 1, "half": 0.5})
    yield chain("spelled-gelu-tanh", "a = Pow(x, three); b = Mul(c, a); d = Add(x, b); e = Mul(root, d); f = Tanh(e); g = Add(one, f); "
                "h = Mul(half, x); out = Mul(h, g)", {"x": x}, {"three": 3, "c": 0.044715, "root": (2 / np.pi) ** 0.5, "one": 1, "half": 0.5})
    yield chain("spelled-hard-swish", "a = Add(x, three); b = Clip(a, zero, six); c = Mul(x, b); out = Div(c, six)", {"x": 4 * x},
                {"three": 3, "zero": 0, "six": 6})
    yield chain("spelled-swish", "a = Neg(x); b = Exp(a); c = Add(b, one); d = Reciprocal(c); out = Mul(x, d)", {"x": x}, {"one": 1})
    # The attributes of the fused operators are f32.
    exact = {"dtype": np.float64, "tolerance": 1e-12}
    yield chain("spelled-swish-double", "a = Mul(x, alpha); b = Sigmoid(a); out = Mul(x, b)", {"x": x.astype(np.float64)}, {"alpha": 1.702}, **exact)
    yield chain("spelled-hard-sigmoid-double", "a = Add(x, three); b = Clip(a, zero, six); out = Div(b, six)", {"x": 4 * x.astype(np.float64)},
                {"three": 3, "zero": 0, "six": 6}, **exact)
    yield chain("spelled-layer-norm-double", moments + "out = Div(d, s)", {"x": 1e-3 * x.astype(np.float64)}, {"epsilon": 1e-5, "two": 2}, **exact)
    # The products of the unscaled operands overflow, and the product of the factors is 0. ONNX Runtime joins the factors.
    left, right, tiny = 1e20 * data((4, 5)), 1e20 * data((5, 3)), np.float32(1e-23)
    yield chain("scaled-product", "a = Mul(x, tiny); b = Mul(y, tiny); c = MatMul(a, b); out = Mul(c, large)", {"x": left, "y": right},
                {"tiny": tiny, "large": 1e6}, want=[(left * tiny) @ (right * tiny) * np.float32(1e6)])
    softmax = [helper.make_node("ReduceMax", ["x"], ["m"], axes=[-1]), helper.make_node("Sub", ["x", "m"], ["d"]), helper.make_node("Exp", ["d"], ["e"]),
               helper.make_node("ReduceSum", ["e", "axes"], ["s"]), helper.make_node("Div", ["e", "s"], ["out"])]
    yield Case("spelled-softmax", softmax, {"x": x}, {"axes": np.array([-1])}, opset=16)
    masked = np.array(x)
    masked[1, 2] = -np.inf
    guard = [helper.make_node("Softmax", ["x"], ["s"]), helper.make_node("IsNaN", ["s"], ["n"]), helper.make_node("Where", ["n", "zero", "s"], ["out"])]
    yield Case("spelled-guard", guard, {"x": masked}, {"zero": np.float32(0)})


def padding():
    image, w = data((1, 5, 13, 11)), data((7, 5, 3, 3))
    pads = np.array([0, 0, 1, 2, 0, 0, 2, 1])
    conv = helper.make_node("Conv", ["p", "w"], ["out"], pads=[1, 0, 0, 1], strides=[2, 1])
    yield Case("pad-conv", [helper.make_node("Pad", ["x", "pads"], ["p"]), conv], {"x": image}, {"pads": pads, "w": w})
    for counts in (0, 1):
        pool = helper.make_node("AveragePool", ["p"], ["out"], kernel_shape=[5, 5], pads=[0, 0, counts, counts], count_include_pad=counts)
        yield Case(f"pad-mean-{counts}", [helper.make_node("Pad", ["x", "pads"], ["p"]), pool], {"x": image}, {"pads": pads})
    pool = helper.make_node("MaxPool", ["p"], ["out"], kernel_shape=[3, 3], strides=[2, 2])
    yield Case("pad-relu-max", [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Pad", ["r", "pads"], ["p"]), pool], {"x": image}, {"pads": pads})
    # A chain in which each value is read twice has 2^40 paths.
    steps = [helper.make_node(*step) for i in range(40)
             for step in (("Min", ["x" if i == 0 else f"v{i}", "bound"], [f"u{i}"]), ("Max", ["x" if i == 0 else f"v{i}", f"u{i}"], [f"v{i + 1}"]))]
    # Not negative, since ONNX Runtime pads a MaxPool with -inf for a Pad with 0.
    yield Case("pad-chain-max", [*steps, helper.make_node("Pad", ["v40", "pads"], ["p"]), pool], {"x": np.abs(image)},
               {"pads": pads, "bound": np.abs(data(image.shape))})


def branches():
    """Sums of convolutions of one image, as in networks that are exported in their training form."""
    channels, sides = 6, (9, 7)
    image, other = data((2, channels, *sides)), data((2, channels, *sides))
    scale, shift = data((channels, 1, 1)), data((channels, 1, 1))
    for group in (1, 2, channels):
        weights = lambda *window: data((channels, channels // group, *window)) / 4
        conv = lambda x, w, out, **attributes: helper.make_node("Conv", [x, w] + ([f"b{w}"] if w == "w" else []), [out], group=group, **attributes)
        norm = [helper.make_node("Mul", ["x", "scale"], ["m"]), helper.make_node("Add", ["m", "shift"], ["n"])]
        add = lambda a, b, out: helper.make_node("Add", [a, b], [out])
        three, single, row = conv("x", "w", "c", pads=[1, 1, 1, 1]), conv("x", "v", "d"), conv("x", "h", "e", pads=[0, 1, 0, 1])
        constants = {"w": weights(3, 3), "bw": data((channels,)), "v": weights(1, 1), "h": weights(1, 3), "scale": scale, "shift": shift}
        keep = lambda *names: {name: constants[name] for name in names}
        yield Case(f"branches-{group}", [three, single, row, *norm, add("c", "d", "s"), add("s", "n", "t"), add("e", "t", "u"), add("u", "z", "out")],
                   {"x": image, "z": other}, constants)
        yield Case(f"branches-itself-{group}", [three, add("x", "c", "s"), add("s", "x", "out")], {"x": image}, keep("w", "bw"))
        yield Case(f"branches-strides-{group}", [conv("x", "w", "c", pads=[1, 1, 1, 1], strides=[2, 2]), conv("x", "v", "d", strides=[2, 2]),
                                                 conv("x", "k", "f", pads=[2, 2, 2, 2], strides=[2, 2], dilations=[2, 2]), add("c", "d", "s"), add("f", "s", "out")],
                   {"x": image}, keep("w", "bw", "v") | {"k": weights(3, 3)})
    conv = lambda w, out, **attributes: helper.make_node("Conv", ["x", w], [out], **attributes)
    for name, wide, narrow in (("position", data((3, 4, 3, 3)), data((3, 4, 2, 2))), ("channel", data((1, 4, 3, 3)), data((3, 4, 1, 1)))):
        yield Case(f"branches-broadcast-{name}", [conv("w", "c", pads=[1, 1, 1, 1]), conv("v", "d"), helper.make_node("Add", ["c", "d"], ["out"])],
                   {"x": data((1, 4, 2, 2))}, {"w": wide, "v": narrow})
    yield Case("branches-broadcast-larger", [conv("w", "c"), conv("v", "d"), helper.make_node("Add", ["c", "d"], ["out"])],
               {"x": data((1, 4, 2, 2))}, {"w": data((3, 4, 2, 2)), "v": data((3, 4, 1, 1))})


def depthwise_chains():
    """A depthwise convolution before one of a single position, on several images and with many channels."""
    for images, channels, results, side in ((8, 2048, 56, 7), (8, 96, 56, 9), (1, 144, 24, 14)):
        nodes = [helper.make_node("Conv", ["x", "d"], ["m"], group=channels, pads=[1, 1, 1, 1]), helper.make_node("Clip", ["m", "low", "high"], ["a"]),
                 helper.make_node("Conv", ["a", "w", "b"], ["out"])]
        yield Case(f"depthwise-chain-{images}-{channels}", nodes, {"x": data((images, channels, side, side))},
                   {"d": data((channels, 1, 3, 3)), "low": np.float32(0), "high": np.float32(6), "w": data((results, channels, 1, 1)) / 64,
                    "b": data((results,))})


if __name__ == "__main__":
    sys.exit(compare(__doc__, integer_products(), loops(), sequences(), n_grams(), norm_of_images(), spelled_out(), padding(), branches(), depthwise_chains(), refused=()))
