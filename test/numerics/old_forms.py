"""Forms that models in the wild have beside the newest text: old opsets, removed operators, missing imports, odd names.

    old_forms.py --program INGOT-CONFORMANCE [--target NAME] [--filter TEXT]

Results are those of ONNX Runtime where it runs the form, else of NumPy.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from beside_onnxruntime import Case, compare, data, ints, run

node = helper.make_node


def case(name, nodes, inputs, want=None, constants=None, outputs=("out",), opset=18, imports=None, tolerance=1e-5):
    """Returns a case whose model has exactly the given imports."""
    made = Case(name, nodes, inputs, constants, outputs, opset, tolerance)
    if want is not None:
        made.want = [np.asarray(v) for v in want]
    if imports is not None:
        del made.model.opset_import[:]
        made.model.opset_import.extend(helper.make_opsetid(d, v) for d, v in imports)
    return made


def first_opsets():
    """Opsets 1 to 5: attributes that became inputs, types given by name, the attribute consumed_inputs."""
    x = data((2, 6, 4))
    old = {"consumed_inputs": [0]}
    for name, shape, want in (("split", [3, 4, 4], (3, 4, 4)), ("copy", [0, -1], (2, 24)), ("flat", [-1], (48,)), ("one", [1, 2, 0, 6], None)):
        if want:
            yield case(f"reshape-1-{name}", [node("Reshape", ["x"], ["out"], shape=shape)], {"x": x}, [x.reshape(want)], opset=1)
    for op, function in (("Relu", lambda v: np.maximum(v, 0)), ("Abs", np.abs), ("Neg", np.negative), ("Floor", np.floor), ("Exp", np.exp),
                         ("Sigmoid", lambda v: 1 / (1 + np.exp(-v))), ("Tanh", np.tanh), ("Elu", lambda v: np.where(v > 0, v, np.expm1(v)))):
        yield case(f"{op.lower()}-1", [node(op, ["x"], ["out"], **old)], {"x": x}, [function(x)], opset=1)
    y = data((6, 4))
    for op, function in (("Add", np.add), ("Mul", np.multiply), ("Sub", np.subtract), ("Div", np.divide)):
        yield case(f"{op.lower()}-1", [node(op, ["x", "y"], ["out"], broadcast=1, **old)], {"x": x, "y": y}, [function(x, y)], opset=1, tolerance=1e-4)
        yield case(f"{op.lower()}-1-axis", [node(op, ["x", "y"], ["out"], broadcast=1, axis=1)], {"x": x, "y": y[:, 0]}, [function(x, y[:, :1])], opset=5, tolerance=1e-4)
    yield case("cast-1", [node("Cast", ["x"], ["out"], to="INT32")], {"x": x}, [x.astype(np.int32)], opset=1)
    yield case("cast-1-float16", [node("Cast", ["x"], ["a"], to="FLOAT16"), node("Cast", ["a"], ["out"], to="double")], {"x": x}, [x.astype(np.float16).astype(np.float64)], opset=5)
    yield case("clip-1", [node("Clip", ["x"], ["out"], min=-0.5, max=0.25)], {"x": x}, [np.clip(x, -0.5, 0.25)], opset=1)
    yield case("concat-1", [node("Concat", ["x", "x"], ["out"])], {"x": x}, [np.concatenate([x, x], 1)], opset=1)
    yield case("pad-1", [node("Pad", ["x"], ["out"], paddings=[0, 1, 0, 0, 2, 1], value=1.5)], {"x": x}, [np.pad(x, ((0, 0), (1, 2), (0, 1)), constant_values=1.5)], opset=1)
    yield case("split-1", [node("Split", ["x"], ["out", "b"], axis=1, split=[2, 4])], {"x": x}, [x[:, :2], x[:, 2:]], outputs=("out", "b"), opset=1)
    yield case("split-2", [node("Split", ["x"], ["out", "b"], axis=2)], {"x": x}, [x[:, :, :2], x[:, :, 2:]], outputs=("out", "b"), opset=2)
    yield case("gemm-1", [node("Gemm", ["a", "b", "c"], ["out"], broadcast=1, transB=1)], {"a": y, "b": y, "c": y[:, 0]}, [y @ y.T + y[:, 0]], opset=1)
    yield case("sum-1", [node("Sum", ["x", "x", "x"], ["out"], **old)], {"x": x}, [3 * x], opset=1)
    image, s = data((2, 3, 5, 5)), {k: np.abs(data((3,))) + 0.5 for k in "sbmv"}
    want = (image - s["m"][:, None, None]) / np.sqrt(s["v"][:, None, None] + 1e-5) * s["s"][:, None, None] + s["b"][:, None, None]
    yield case("batch-1", [node("BatchNormalization", ["x", *s], ["out"], is_test=1, consumed_inputs=[0, 0, 0, 1, 1])], {"x": image}, [want], s, opset=1)
    yield case("dropout-1", [node("Dropout", ["x"], ["out"], is_test=1)], {"x": x}, [x], opset=1)
    parts = np.lib.stride_tricks.sliding_window_view(np.abs(image), (2, 2), (2, 3)).reshape(2, 3, 4, 4, 4)
    yield case("lp-pool-1", [node("LpPool", ["x"], ["out"], kernel_shape=[2, 2], p=3.0)], {"x": image}, [(parts**3).sum(-1) ** (1 / 3)], opset=1)
    yield case("global-lp-pool-1", [node("GlobalLpPool", ["x"], ["out"], p=1.5)], {"x": image}, [(np.abs(image) ** 1.5).sum((2, 3), keepdims=True) ** (1 / 1.5)], opset=1)
    for opset in (1, 6, 9):
        yield case(f"squeeze-negative-{opset}", [node("Squeeze", ["x"], ["out"], axes=[-1, 1])], {"x": x[:, :1, :1]}, [x[:, 0, 0]], opset=opset)
        yield case(f"unsqueeze-negative-{opset}", [node("Unsqueeze", ["x"], ["out"], axes=[-1, 0])], {"x": x}, [x[None, ..., None]], opset=opset)


def removed():
    """Experimental operators of opset 1, which ONNX Runtime still supports."""
    x, image = data((3, 37)), data((2, 3, 9, 8))
    for opset in (1, 7, 11):
        yield case(f"affine-{opset}", [node("Affine", ["x"], ["out"], alpha=1.5, beta=-0.25)], {"x": x}, [1.5 * x - 0.25], opset=opset)
        yield case(f"image-scaler-{opset}", [node("ImageScaler", ["x"], ["out"], bias=[1.0, -2.0, 0.5], scale=0.5)], {"x": image},
                   [0.5 * image + np.array([1, -2, 0.5], np.float32)[:, None, None]], opset=opset)
        yield case(f"crop-{opset}", [node("Crop", ["x"], ["out"], border=[1, 2, 3, 1])], {"x": image}, [image[:, :, 2:8, 1:5]], opset=opset)
        yield case(f"crop-size-{opset}", [node("Crop", ["x"], ["out"], border=[1, 2, 0, 0], scale=[4, 5])], {"x": image}, [image[:, :, 2:6, 1:6]], opset=opset)
        yield case(f"thresholded-relu-{opset}", [node("ThresholdedRelu", ["x"], ["out"], alpha=0.5)], {"x": x}, [np.where(x > 0.5, x, 0)], opset=opset)
        yield case(f"scaled-tanh-{opset}", [node("ScaledTanh", ["x"], ["out"], alpha=1.7, beta=0.6)], {"x": x}, [1.7 * np.tanh(0.6 * x)], opset=opset)
        yield case(f"parametric-softplus-{opset}", [node("ParametricSoftplus", ["x"], ["out"], alpha=1.7, beta=0.6)], {"x": x}, [1.7 * np.log1p(np.exp(0.6 * x))], opset=opset)
        yield case(f"scale-{opset}", [node("Scale", ["x"], ["out"], scale=3.0)], {"x": x}, [3 * x], opset=opset)


def normalized(x, scale, bias):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias


def imports():
    """Forms that ONNX Runtime's optimizer writes."""
    x, s, b = data((2, 5, 37)), data((37,)), data((37,))
    for opset in (7, 11, 16):
        yield case(f"layer-{opset}", [node("LayerNormalization", ["x", "s", "b"], ["out"], axis=-1)], {"x": x}, [normalized(x, s, b)], {"s": s, "b": b}, opset=opset)
    for name, op, inputs, want in (("bias-gelu", "BiasGelu", ["x", "b"], None), ("fast-gelu", "FastGelu", ["x"], None), ("skip-layer", "SkipLayerNormalization", ["x", "x", "s", "b"], None)):
        nodes = [node(op, inputs, ["out"], domain="com.microsoft")]
        declared = case(name, nodes, {"x": x}, want, {"s": s, "b": b}, imports=[("", 14), ("com.microsoft", 1)], tolerance=1e-4)
        declared.want = run(declared)
        del declared.model.opset_import[1]
        yield declared
    channels = {"s": data((4,)), "b": data((4,))}
    image = data((2, 8, 5, 3))
    groups = image.reshape(2, 4, -1)
    y = (groups - groups.mean(2, keepdims=True)) / np.sqrt(groups.var(2, keepdims=True) + 1e-5)
    for opset in (18, 20):
        want = (y * channels["s"][:, None] + channels["b"][:, None]).reshape(image.shape)
        yield case(f"group-{opset}", [node("GroupNormalization", ["x", "s", "b"], ["out"], num_groups=4)], {"x": image}, [want], channels, opset=opset, tolerance=1e-4)


def info(name, shape=None, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def graph(nodes, inputs, outputs, weights=None):
    return helper.make_graph(nodes, "body", inputs, outputs, [numpy_helper.from_array(v, k) for k, v in (weights or {}).items()])


def names():
    x = data((3, 5))
    newline = "where/model.py(12): forward\n  return x\t+ 1"
    yield case("newline", [node("Exp", ["x"], [newline], name="a\nb"), node("Neg", [newline], ["out"])], {"x": x}, [-np.exp(x)])
    yield case("newline-escaped", [node("Exp", ["x"], ["a\n"]), node("Abs", ["x"], ["a\\x0a"]), node("Sub", ["a\n", "a\\x0a"], ["out"])], {"x": x}, [np.exp(x) - np.abs(x)])
    yield case("newline-in-interface", [node("Exp", ["x\n1"], ["y\n1"])], {"x\n1": x}, [np.exp(x)], outputs=("y\n1",))
    yield case("output-twice", [node("Exp", ["x"], ["out"])], {"x": x}, [np.exp(x)] * 2, outputs=("out", "out"))
    yield case("output-twice-of-three", [node("Exp", ["x"], ["out"]), node("Neg", ["x"], ["b"])], {"x": x}, [np.exp(x), -x, np.exp(x)], outputs=("out", "b", "out"))
    yield case("input-as-output-twice", [node("Exp", ["x"], ["out"])], {"x": x}, [x, np.exp(x), x], outputs=("x", "out", "x"))
    for word in ("typeof", "__typeof__", "SIZE_MAX", "INT8_MAX", "UINTPTR_MAX", "int_fast8_t", "NULL", "INT64_C"):
        yield case(f"word-{word}", [node("Exp", ["x"], [word])], {"x": x}, [np.exp(x)], outputs=(word,))


def shadows():
    """Bodies of If, Loop and Scan with a value that has the same name as a value of the graph around them."""
    x, yes = data((3, 5)), np.array(True)
    add = graph([node("Add", ["x", "x"], ["h"]), node("Exp", ["h"], ["r"])], [], [info("r")])
    sub = graph([node("Neg", ["x"], ["h"]), node("Abs", ["h"], ["r"])], [], [info("r")])
    nodes = [node("If", ["c"], ["a"], then_branch=add, else_branch=sub), node("Neg", ["a"], ["h"]), node("Mul", ["h", "a"], ["out"])]
    for value in (True, False):
        a = np.exp(2 * x) if value else np.abs(x)
        yield case(f"if-{value}", nodes, {"x": x, "c": np.array(value)}, [-a * a])
    count = {"n": np.array(3), "yes": yes}
    step = graph([node("Add", ["s", "x"], ["h"]), node("Identity", ["go"], ["on"]), node("Mul", ["h", "h"], ["t"])],
                 [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL), info("s", [3, 5])], [info("on", [], TensorProto.BOOL), info("h"), info("t")])
    nodes = [node("Loop", ["n", "yes", "x"], ["last", "all"], body=step), node("Exp", ["last"], ["h"]), node("Neg", ["h"], ["t"]), node("Identity", ["t"], ["out"])]
    steps = np.stack([((k + 2) * x) ** 2 for k in range(3)])
    yield case("loop", nodes, {"x": x}, [-np.exp(4 * x), steps], count, ("out", "all"), tolerance=1e-4)
    # A loop whose body has a value k and an initializer w; the graph around it has other values k and w.
    inner = graph([node("Mul", ["s", "w"], ["k"]), node("Identity", ["go"], ["on"])],
                  [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL), info("s", [3, 5])], [info("on", [], TensorProto.BOOL), info("k")], {"w": np.full((5,), 2, np.float32)})
    nodes = [node("Add", ["x", "w"], ["k"]), node("Loop", ["n", "yes", "k"], ["last"], body=inner), node("Add", ["last", "w"], ["out"])]
    w = data((5,))
    yield case("loop-weights", nodes, {"x": x}, [8 * (x + w) + w], count | {"w": w}, tolerance=1e-4)
    scan = graph([node("Add", ["s", "e"], ["h"]), node("Exp", ["h"], ["v"])], [info("s", [5]), info("e", [5])], [info("h"), info("v")])
    nodes = [node("Scan", ["zero", "x"], ["last", "all"], body=scan, num_scan_inputs=1), node("Neg", ["last"], ["h"]), node("Abs", ["h"], ["v"]), node("Identity", ["v"], ["out"])]
    sums = np.cumsum(x, 0)
    yield case("scan", nodes, {"x": x}, [np.abs(sums[-1]), np.exp(sums)], {"zero": np.zeros(5, np.float32)}, ("out", "all"), tolerance=1e-4)
    nested = graph([node("If", ["c"], ["r"], then_branch=graph([node("Exp", ["x"], ["h"])], [], [info("h")]), else_branch=graph([node("Neg", ["x"], ["h"])], [], [info("h")])),
                    node("Mul", ["r", "r"], ["h"])], [], [info("h")])
    nodes = [node("If", ["c"], ["a"], then_branch=nested, else_branch=graph([node("Abs", ["x"], ["h"])], [], [info("h")])), node("Neg", ["a"], ["h"]), node("Identity", ["h"], ["out"])]
    yield case("if-in-if", nodes, {"x": x, "c": yes}, [-np.exp(x) ** 2])


def loops():
    """Bodies that declare the iteration number or the condition with shape [1]."""
    x = data((3, 5))
    for number, condition in (([1], []), ([], [1]), ([1], [1])):
        for count in (3, 40):
            nodes = [node("Squeeze", ["i", "zero"], ["j"]) if number else node("Identity", ["i"], ["j"]), node("Cast", ["j"], ["f"], to=1), node("Add", ["s", "f"], ["t"]),
                     node("Squeeze", ["go", "zero"], ["go0"]) if condition else node("Identity", ["go"], ["go0"]),
                     node("Unsqueeze", ["go0", "zero"], ["on"]) if condition else node("Identity", ["go0"], ["on"])]
            step = graph(nodes, [info("i", number, TensorProto.INT64), info("go", condition, TensorProto.BOOL), info("s", [3, 5])],
                         [info("on", condition, TensorProto.BOOL), info("t", [3, 5])], {"zero": ints(0)})
            yield case(f"loop-{len(number)}{len(condition)}-{count}", [node("Loop", ["n", "yes", "x"], ["out"], body=step)], {"x": x}, [x + count * (count - 1) / 2],
                       {"n": np.array(count), "yes": np.array(True)})
    # A loop whose trip count is an input.
    step = graph([node("Squeeze", ["i", "zero"], ["j"]), node("Cast", ["j"], ["f"], to=1), node("Add", ["s", "f"], ["t"]), node("Identity", ["go"], ["on"])],
                 [info("i", [1], TensorProto.INT64), info("go", [], TensorProto.BOOL), info("s", [3, 5])], [info("on", [], TensorProto.BOOL), info("t", [3, 5])], {"zero": ints(0)})
    yield case("loop-of-the-run", [node("Loop", ["n", "yes", "x"], ["out"], body=step)], {"x": x, "n": np.array(7)}, [x + 21], {"yes": np.array(True)})


def maps():
    """SequenceMap whose body does not declare the types of its outputs."""
    def untyped(body):
        for output in body.output:
            output.ClearField("type")
        return body
    x, y = data((3, 5)), data((2, 5))
    body = untyped(graph([node("Mul", ["e", "e"], ["q"]), node("Exp", ["q"], ["r"])], [info("e")], [info("r")]))
    make = node("SequenceConstruct", ["x", "y"], ["s"])
    yield case("map", [make, node("SequenceMap", ["s"], ["t"], body=body), node("ConcatFromSequence", ["t"], ["out"], axis=0)], {"x": x, "y": y},
               [np.exp(np.concatenate([x, y]) ** 2)], tolerance=1e-4)
    two = untyped(graph([node("Add", ["e", "k"], ["r"]), node("Shape", ["e"], ["n"])], [info("e"), info("k")], [info("r"), info("n")]))
    yield case("map-two", [make, node("SequenceMap", ["s", "k"], ["t", "n"], body=two), node("ConcatFromSequence", ["t"], ["out"], axis=0), node("ConcatFromSequence", ["n"], ["sizes"], axis=0)],
               {"x": x, "y": y}, [np.concatenate([x, y]) + 2, np.array([3, 5, 2, 5])], {"k": np.array(2, np.float32)}, ("out", "sizes"))
    flags = untyped(graph([node("Greater", ["e", "k"], ["r"])], [info("e"), info("k")], [info("r")]))
    yield case("map-flags", [make, node("SequenceMap", ["s", "k"], ["t"], body=flags), node("ConcatFromSequence", ["t"], ["out"], axis=0)], {"x": x, "y": y},
               [np.concatenate([x, y]) > 0], {"k": np.array(0, np.float32)})
    outer = untyped(graph([node("Add", ["e", "w"], ["r"])], [info("e")], [info("r")]))
    yield case("map-captures", [make, node("SequenceMap", ["s"], ["t"], body=outer), node("SequenceAt", ["t", "one"], ["out"])], {"x": x, "y": y}, [y + 1],
               {"w": np.ones(5, np.float32), "one": np.array(1)})
    yield case("map-twice", [make, node("SequenceMap", ["s"], ["t"], body=body), node("SequenceMap", ["t"], ["u"], body=outer), node("SequenceAt", ["u", "one"], ["out"])],
               {"x": x, "y": y}, [np.exp(y * y) + 1], {"w": np.ones(5, np.float32), "one": np.array(1)}, tolerance=1e-4)
    yield case("map-nothing", [node("SequenceEmpty", [], ["s"]), node("SequenceMap", ["s"], ["t"], body=body), node("SequenceLength", ["t"], ["n"]), node("Add", ["n", "z"], ["out"])],
               {"z": np.array(4)}, [np.array(4)])
    pairs = untyped(graph([node("Sub", ["e", "f"], ["r"])], [info("e"), info("f")], [info("r")]))
    yield case("map-pairs", [make, node("SequenceConstruct", ["y", "y"], ["s2"]), node("SequenceConstruct", ["y", "y"], ["s3"]), node("SequenceMap", ["s2", "s3"], ["t"], body=pairs),
                             node("SequenceAt", ["t", "one"], ["out"])], {"x": x, "y": y}, [y - y], {"one": np.array(1)})


def transposed():
    """ConvTranspose with auto_pad, output_padding, and kernels shorter than the stride, compared with ONNX
    Runtime."""
    for size, kernel, stride, extra, dilation in ((5, 3, 2, 1, 1), (5, 2, 3, 0, 1), (5, 1, 2, 0, 1), (5, 1, 2, 1, 1), (5, 2, 3, 2, 1), (5, 2, 3, 0, 2), (4, 5, 3, 2, 1), (1, 1, 3, 0, 1), (6, 4, 2, 1, 1)):
        for pad in ("SAME_UPPER", "SAME_LOWER"):
            attributes = {"output_padding": [extra]} if extra else {}
            yield case(f"transposed-{size}{kernel}{stride}{extra}{dilation}-{pad.lower()}", [node("ConvTranspose", ["x", "w", "b"], ["out"], strides=[stride], dilations=[dilation], auto_pad=pad, **attributes)],
                       {"x": data((1, 2, size))}, None, {"w": data((2, 3, kernel)), "b": data((3,))})
    yield case("transposed-2d", [node("ConvTranspose", ["x", "w"], ["out"], strides=[3, 2], auto_pad="SAME_UPPER", output_padding=[0, 1])], {"x": data((2, 4, 5, 6))}, None, {"w": data((4, 5, 2, 3))}, tolerance=1e-4)


def resized():
    x = data((1, 2, 5, 4))
    for scale in (2.0, 0.6, 1.5):
        sizes = [int(np.floor(scale * n)) for n in x.shape[2:]]
        places = [np.clip(np.floor((np.arange(m, dtype=np.float32) + np.float32(0.5)) / np.float32(scale)), 0, n - 1).astype(int) for m, n in zip(sizes, x.shape[2:])]
        yield case(f"half-pixel-{scale}", [node("Resize", ["x", "roi", "s"], ["out"], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="tf_half_pixel_for_nn")],
                   {"x": x}, [x[:, :, places[0]][:, :, :, places[1]]], {"roi": np.zeros(0, np.float32), "s": np.array([1, 1, scale, scale], np.float32)}, opset=11)


if __name__ == "__main__":
    raise SystemExit(compare(__doc__, first_opsets(), removed(), imports(), names(), shadows(), loops(), maps(), transposed(), resized(), refused=()))
