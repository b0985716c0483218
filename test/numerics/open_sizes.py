"""Sizes that are open within bounds and decide what a network computes, beside ONNX Runtime.

    open_sizes.py --ingot INGOT

Sizes that may be 0 or 1, that a shape is computed from by comparisons, choices and quotients, that only a run
can compare, and that an operator makes negative. Each model is compiled once, without its data; the bounds are far
above the sizes of the runs, so that a result of the size of a bound would be seen.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

import compiled_once
from compiled_once import node

F, I = TensorProto.FLOAT, TensorProto.INT64
rng = np.random.default_rng(23)


def model(nodes, inputs, outputs=(("y", F),), weights={}, opset=18):
    """Returns a model; `inputs` are names, types and shapes, `outputs` names and types."""
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each, None) for each in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def check(ingot, name, network, runs, dims=("*=0..32",), refused=(), want=None):
    compiled_once.check(ingot, name, network, runs, dims, refused, want, variants=[["--dynamic"]])


def shapes(*each):
    return [{"x": normal(*shape)} for shape in each]


def squeezed(ingot):
    """Squeeze without `axes` keeps dynamic axes whose lower bound is above 1; with `axes`, the size of each of
    them must be 1, however it is computed."""
    check(ingot, "Squeeze without axes", model([node("Squeeze", ["x"])], [("x", F, ["a", 1, "b", 1])]),
          shapes((2, 1, 3, 1), (8, 1, 2, 1)), ("a=2..8", "b=2..8"), shapes((1, 1, 3, 1)))
    check(ingot, "Squeeze of an open axis", model([node("Squeeze", ["x", "axes"])], [("x", F, ["a", "b", "c"])], weights={"axes": ints(1)}),
          shapes((2, 1, 3), (0, 1, 3)), refused=shapes((2, 3, 3)))
    # The squeezed axis has the size a * b, which must be 1.
    check(ingot, "Squeeze of a product",
          model([node("Reshape", ["x", "shape"], ["r"]), node("Squeeze", ["r", "axes"])], [("x", F, ["a", "b", 3])],
                weights={"shape": ints(-1, 3), "axes": ints(0)}), shapes((1, 1, 3)), refused=shapes((2, 1, 3), (2, 3, 3), (0, 1, 3)))


def reshaped(ingot):
    """Reshapes with -1, for which only the product of the dynamic sizes must be a multiple of the product of
    the other new sizes."""
    for shape, target, runs, wrong in (
            (["a", "b", "c"], (-1, 12), [(1, 3, 4), (2, 6, 5), (12, 1, 1), (0, 3, 4)], [(1, 3, 5), (7, 1, 1)]),
            (["a", "b"], (-1, 3), [(3, 2), (2, 3), (6, 5)], [(2, 2)]),
            (["a", "b", "c"], (0, -1, 4), [(2, 6, 2), (1, 1, 4), (5, 4, 3)], [(2, 3, 2)]),
            (["a", "b"], (-1, 2, 4), [(4, 6), (8, 1), (3, 16)], [(3, 4)]),
            (["a", "b", "c"], (3, -1, 5), [(3, 5, 2), (15, 1, 7), (1, 30, 1)], [(3, 4, 2)])):
        check(ingot, f"Reshape of {shape} to {target}", model([node("Reshape", ["x", "shape"])], [("x", F, shape)], weights={"shape": ints(*target)}),
              shapes(*runs), refused=shapes(*wrong))
    split = model([node("Flatten", ["x"], ["f"], axis=3), node("Split", ["f", "parts"], ["y", "z"], axis=0)], [("x", F, [2, "b", "c"])],
                  (("y", F), ("z", F)), {"parts": ints(6, 18)})
    check(ingot, "Split of a product of sizes", split, shapes((2, 3, 4), (2, 12, 1), (2, 1, 12)), ("b=0..12", "c=0..12"), shapes((2, 3, 3), (2, 12, 12)))
    product = model([node("Reshape", ["x", "shape"], ["r"]), node("MatMul", ["r", "w"])], [("x", F, ["n", "c", "h", "w_"])],
                    weights={"shape": ints(-1, 784), "w": normal(784, 3)})
    check(ingot, "a product of rows of open sizes", product, shapes((2, 1, 28, 28), (1, 4, 14, 14), (3, 2, 28, 14)), ("*=0..64",),
          shapes((2, 1, 28, 27)))
    flat = model([node("Flatten", ["x"], ["f"]), node("Gemm", ["f", "w"], ["y"])], [("x", F, ["n", 2, "h", "w_"])], weights={"w": normal(128, 5)})
    check(ingot, "Flatten, then Gemm", flat, shapes((2, 2, 8, 8), (1, 2, 4, 16), (3, 2, 64, 1)), ("*=0..64",), shapes((2, 2, 8, 7)))


def resized(ingot):
    """Upsample, whose scales are attributes, and Resize, of dynamic sizes."""
    for opset, mode, scales in ((7, "nearest", (1, 1, 2, 2)), (7, "linear", (1, 1, 2, 2)), (8, "nearest", (1, 1, 3, 1)), (7, "nearest", (1, 1, 1.5, 2.5)),
                                (7, "linear", (1, 1, 1, 4))):
        check(ingot, f"Upsample of opset {opset}, {mode} by {scales}",
              model([node("Upsample", ["x"], mode=mode, scales=[float(each) for each in scales])], [("x", F, [2, 1, "a", "b"])], opset=opset),
              shapes((2, 1, 2, 3), (2, 1, 1, 1), (2, 1, 7, 4)), ("*=1..32",))
    # The result size must be computed in float32: 7 times float32(15 / 7) is 15 in float32, but less than 15 in float64.
    for batch in (2, "n"):
        check(ingot, f"Resize of 7 to 15, {batch} images", model([node("Resize", ["x", "", "scales"], mode="linear")], [("x", F, [batch, 2, 9, 7])],
                                                                 weights={"scales": np.float32([1, 1, 12 / 9, 15 / 7])}), shapes((2, 2, 9, 7)), ("n=1..4",) if batch == "n" else ())
    check(ingot, "Upsample of an open batch",
          model([node("Upsample", ["x"], mode="nearest", scales=[1.0, 1.0, 2.0, 2.0])], [("x", F, ["n", 1, 3, 4])], opset=7),
          shapes((2, 1, 3, 4), (1, 1, 3, 4)))


def cropped(ingot):
    """CenterCropPad and Pad, which pad or crop axes of dynamic sizes."""
    def crop(x, target, axes):
        for size, axis in zip(target, axes):
            change = size - x.shape[axis]
            low = abs(change) // 2
            pads = [(0, 0)] * x.ndim
            pads[axis] = (low, abs(change) - low)
            x = np.pad(x, pads) if change > 0 else np.take(x, range(low, low + size), axis)
        return x
    for shape, target, axes, runs in ((["a", "b"], (6, 3), (0, 1), [(4, 7), (6, 3), (9, 1)]), (["a", "b", "c"], (3, 9), (0, 1), [(4, 7, 3), (2, 12, 1)]),
                                      (["a", "b"], (2, 9), (0, 1), [(5, 6), (1, 30)]), (["a", 5], (4, 2), (0, 1), [(9, 5), (3, 5)]),
                                      ([2, "a"], (7,), (1,), [(2, 4), (2, 8)])):
        check(ingot, f"CenterCropPad of {shape} to {target}",
              model([node("CenterCropPad", ["x", "t"], axes=list(axes))], [("x", F, shape)], weights={"t": ints(*target)}),
              shapes(*runs), ("*=1..32",), want=lambda values, t=target, a=axes: [crop(values["x"], t, a)])
    check(ingot, "Pad that crops a sum", model([node("Concat", ["x", "z"], ["j"], axis=0), node("Pad", ["j", "pads"])],
                                               [("x", F, ["n", 4]), ("z", F, ["m", 4])], weights={"pads": ints(-3, 1, -1, 2)}),
          [{"x": normal(n, 4), "z": normal(m, 4)} for n, m in ((2, 2), (0, 9), (5, 3))], refused=[{"x": normal(1, 4), "z": normal(2, 4)}])
    check(ingot, "Pad that crops", model([node("Pad", ["x", "pads"])], [("x", F, ["n", 4])], weights={"pads": ints(-3, 0, -1, 2)}),
          shapes((4, 4), (9, 4)), refused=shapes((3, 4), (0, 4)))


def tiled(ingot):
    check(ingot, "Tile by a size", model([node("Shape", ["z"], ["s"]), node("Tile", ["x", "s"])], [("x", F, [2, "a"]), ("z", F, ["b", "c"])]),
          [{"x": normal(2, a), "z": normal(b, c)} for a, b, c in ((3, 2, 2), (1, 0, 4), (5, 1, 1))], ("*=0..8",))
    check(ingot, "Tile by half a size",
          model([node("Shape", ["x"], ["s"]), node("Div", ["s", "two"], ["half"]), node("Tile", ["x", "half"])], [("x", F, ["a", "b"])], weights={"two": ints(2)}),
          shapes((4, 6), (1, 5), (7, 2)), ("*=0..8",))
    check(ingot, "Tile by the larger of a number and a size",
          model([node("Shape", ["x"], ["s"]), node("Max", ["s", "two"], ["m"]), node("Tile", ["x", "m"])], [("x", F, ["a", "b"])], weights={"two": ints(2)}),
          shapes((4, 1), (1, 5), (0, 3)), ("*=0..8",))
    check(ingot, "Tile by 0", model([node("Tile", ["x", "r"])], [("x", F, ["a", "b"])], weights={"r": ints(0, 2)}), shapes((4, 6), (1, 5)))
    check(ingot, "Tile by what an input says", model([node("Tile", ["x", "r"])], [("x", F, ["a", 3]), ("r", I, [2])]),
          [{"x": normal(a, 3), "r": ints(*r)} for a, r in ((2, (3, 1)), (4, (0, 2)), (1, (2, 2)))], ("a=1..8", "y_0=0..24", "y_1=0..9"))


def computed(ingot):
    """Shapes computed by comparisons, selections and quotients of sizes."""
    def of(title, nodes, runs, dims=("*=0..12",), last="shape", op="ConstantOfShape", weights={}, refused=(), shape=("a", "b")):
        weights = {"one": ints(1), "two": ints(2), "three": ints(3), "four": ints(4), "none": ints(0), "minus": ints(-1), **weights}
        network = model([node("Shape", ["x"], ["s"]), node("Slice", ["s", "none", "one"], ["a"]), node("Slice", ["s", "one", "two"], ["b"]),
                         *nodes, node(op, [last] if op == "ConstantOfShape" else ["x", last])], [("x", F, list(shape))], weights=weights)
        check(ingot, title, network, shapes(*runs), dims, shapes(*refused))

    runs = ((4, 6), (1, 5), (7, 2), (12, 12), (0, 3))
    of("the smaller of two sizes", [node("Min", ["a", "b"], ["shape"])], runs)
    of("the larger of two sizes, and a number", [node("Max", ["a", "b", "four"], ["m"]), node("Concat", ["m", "a"], ["shape"], axis=0)], runs)
    of("a size that is not less than 0", [node("Sub", ["a", "four"], ["d"]), node("Max", ["d", "none"], ["shape"])], runs)
    of("a quotient of two sizes", [node("Add", ["b", "one"], ["c"]), node("Div", ["a", "c"], ["shape"])], runs)
    of("a quotient that is negative on its way", [node("Sub", ["a", "b"], ["d"]), node("Div", ["d", "three"], ["q"]), node("Add", ["q", "four"], ["shape"])],
       ((4, 6), (1, 5), (7, 2), (12, 12), (0, 11)))
    of("one of two sizes where they are equal", [node("Equal", ["a", "b"], ["e"]), node("Where", ["e", "three", "a"], ["shape"])], runs)
    of("one of two sizes by an order", [node("Less", ["a", "b"], ["l"]), node("Not", ["l"], ["n"]), node("Where", ["n", "b", "two"], ["shape"])], runs)
    of("a choice by two comparisons", [node("Less", ["a", "b"], ["l"]), node("Greater", ["b", "four"], ["g"]), node("And", ["l", "g"], ["c"]),
                                       node("Where", ["c", "b", "a"], ["shape"])], runs)
    # Unsigned numbers below 0 wrap, and so are large.
    for kind, dtype in ((TensorProto.UINT32, np.uint32), (TensorProto.UINT64, np.uint64)):
        five, few = np.array([5], dtype), np.array([4], dtype)
        of(f"an unsigned difference that wraps, {dtype.__name__}",
           [node("Cast", ["a"], ["u"], to=kind), node("Sub", ["u", "five"], ["d"]), node("Less", ["d", "few"], ["l"]), node("Where", ["l", "two", "three"], ["shape"])],
           ((7, 1), (3, 1), (5, 1), (12, 1)), weights={"five": five, "few": few})
    of("a product that wraps, beside one of a size",
       [node("Cast", ["a"], ["u"], to=TensorProto.INT32), node("Concat", ["u", "large"], ["j"], axis=0), node("Mul", ["j", "by"], ["m"]),
        node("Less", ["m", "limit"], ["l"]), node("Where", ["l", "two", "three"], ["shape"])], ((4, 1), (7, 1)),
       weights={"large": np.array([70000], np.int32), "by": np.array([2, 70000], np.int32), "limit": np.array([2**30], np.int32)})
    of("a size that has to be positive", [node("Sub", ["a", "four"], ["shape"])], ((4, 6), (7, 2)), refused=((3, 3), (0, 1)))
    of("all sizes but where they are 1", [node("Equal", ["s", "one"], ["e"]), node("ConstantOfShape", ["rank"], ["ones"], value=numpy_helper.from_array(ints(1))),
                                          node("Mul", ["ones", "four"], ["m"]), node("Where", ["e", "m", "s"], ["shape"])], ((1, 3), (2, 1), (1, 1), (3, 2)),
       ("*=1..8",), op="Expand", weights={"rank": ints(2)})
    of("patches", [node("Div", ["a", "two"], ["p"]), node("Div", ["b", "three"], ["q"]),
                   node("Concat", ["p", "two", "q", "three"], ["shape"], axis=0)], ((4, 6), (2, 3), (8, 9)), op="Reshape", refused=((3, 6),))
    # Resampling by 80 / rate: at the upper bound, 80 times the size exceeds 2^20.
    for rate in (441, 7):
        network = model([node("Shape", ["x"], ["s"]), node("Mul", ["s", "by"], ["m"]), node("Add", ["m", "more"], ["n"]), node("Div", ["n", "rate"], ["q"]),
                         node("Squeeze", ["q"], ["limit"]), node("Range", ["zero", "limit", "unit"])], [("x", F, ["n"])], (("y", I),),
                        {"by": ints(80), "more": ints(rate - 1), "rate": ints(rate), "zero": np.int64(0), "unit": np.int64(1)})
        check(ingot, f"a resampler by 80 / {rate}", network, shapes((1,), (441,), (1000,)), ("n=1..16000",))
    check(ingot, "a range that may be empty",
          model([node("Shape", ["x"], ["s"]), node("Squeeze", ["s"], ["n"]), node("Range", ["n", "ten", "unit"])], [("x", F, ["n"])], (("y", I),),
                {"ten": np.int64(10), "unit": np.int64(2)}), shapes((3,), (10,), (15,), (4,)))
    check(ingot, "OneHot of as many classes as a size",
          model([node("Shape", ["x"], ["s"], end=1), node("OneHot", ["i", "s", "v"])], [("x", F, ["n", 2])], weights={"i": ints(0, 2, -1, 9), "v": np.float32([0, 1])}),
          shapes((3, 2), (12, 2), (1, 2)), ("n=1..16",))
    check(ingot, "as many of the largest as half of a size",
          model([node("Shape", ["x"], ["s"]), node("Div", ["s", "two"], ["k"]), node("TopK", ["x", "k"], ["y", "i"])], [("x", F, ["n"])], (("y", F), ("i", I)),
                {"two": ints(2)}), shapes((9,), (1,), (16,)), ("n=1..16",))


def rounded(ingot):
    """Shapes that are computed from sizes in floats, by rounding, roots, powers and remainders, and shapes that
    depend on data."""
    def of(title, nodes, runs, dims=("n=1..100",), refused=(), **constants):
        weights = {"half": np.float32([0.5]), "two": np.float32([2]), "part": np.float32([0.7]), **constants}
        weights = {name: weights[name] for each in nodes for name in each.input if name in weights}
        network = model([node("Shape", ["x"], ["s"]), node("Cast", ["s"], ["f"], to=F), *nodes, node("Cast", ["r"], ["shape"], to=I),
                         node("ConstantOfShape", ["shape"])], [("x", F, ["n"])], weights=weights)
        check(ingot, title, network, shapes(*runs), dims, shapes(*refused))

    runs = ((1,), (4,), (7,), (64,), (99,), (100,))
    of("half of a size", [node("Mul", ["f", "half"], ["m"]), node("Floor", ["m"], ["r"])], runs)
    of("the even number that is not less than a size", [node("Div", ["f", "two"], ["d"]), node("Ceil", ["d"], ["c"]), node("Mul", ["c", "two"], ["r"])], runs)
    of("towards zero", [node("Mul", ["f", "half"], ["r"])], runs)
    of("a half rounded to even", [node("Mul", ["f", "half"], ["m"]), node("Round", ["m"], ["r"])], runs)
    of("seven tenths of a size", [node("Mul", ["f", "part"], ["m"]), node("Floor", ["m"], ["r"])], runs)
    of("the square root of a size", [node("Sqrt", ["f"], ["r"])], runs)
    of("the power of a size", [node("Pow", ["f", "half"], ["p"]), node("Add", ["p", "two"], ["r"])], runs)
    of("the distance of a size from 50", [node("Sub", ["s", "fifty"], ["d"]), node("Abs", ["d"], ["r"])], runs, fifty=ints(50))
    of("what is missing to a multiple of 8", [node("Neg", ["s"], ["m"]), node("Mod", ["m", "eight"], ["r"])], runs, eight=ints(8))
    of("a size modulo 8", [node("Mod", ["s", "eight"], ["r"], fmod=1)], runs, eight=ints(8))
    # 2051 is rounded to 2052 in float16, and 515 to 516 in bfloat16.
    for kind, most in ((TensorProto.FLOAT16, 2051), (TensorProto.BFLOAT16, 515)):
        network = model([node("Shape", ["x"], ["s"]), node("Cast", ["s"], ["f"], to=kind), node("Cast", ["f"], ["shape"], to=I), node("ConstantOfShape", ["shape"])],
                        [("x", F, ["n"])])
        check(ingot, f"a size as a float of {16 if kind == TensorProto.FLOAT16 else 8} bits", network, shapes((most,), (5,)), (f"n=1..{most}",),
              want=lambda values, most=most: [np.zeros(most + 1 if len(values["x"]) == most else 5, np.float32)])
    network = model([node("Shape", ["x"], ["s"]), node("Cast", ["s"], ["f"], to=TensorProto.FLOAT16), node("Mul", ["f", "part"], ["m"]), node("Ceil", ["m"], ["r"]),
                     node("Cast", ["r"], ["shape"], to=I), node("ConstantOfShape", ["shape"])], [("x", F, ["n"])], weights={"part": np.float16([0.75])})
    check(ingot, "three quarters of a size in float16", network, shapes((1,), (100,), (2048,)), ("n=1..2048",))
    # A tensor [n, 16] is reshaped to [n, 4, 4]: the square root of the static size 16 is computed while compiling,
    # although the batch n is dynamic.
    square = model([node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero", "one"], ["n"]), node("Slice", ["s", "one", "two"], ["c"]), node("Cast", ["c"], ["f"], to=F),
                    node("Sqrt", ["f"], ["r"]), node("Cast", ["r"], ["w"], to=I), node("Concat", ["n", "w", "w"], ["shape"], axis=0),
                    node("Reshape", ["x", "shape"], ["image"]), node("MatMul", ["image", "weights"])], [("x", F, ["n", 16])],
                   weights={"zero": ints(0), "one": ints(1), "two": ints(2), "weights": normal(4, 3)})
    check(ingot, "a square image", square, shapes((1, 16), (3, 16)), ("n=1..4",))
    root = model([node("Shape", ["x"], ["s"]), node("Gather", ["s", "unit"], ["n"]), node("Cast", ["n"], ["f"], to=F), node("Sqrt", ["f"], ["q"]), node("Cast", ["q"], ["k"], to=I),
                  node("Unsqueeze", ["k", "zero"], ["w"]), node("Concat", ["rest", "w", "w"], ["shape"], axis=0), node("Reshape", ["x", "shape"])], [("x", F, [2, "n"])],
                 weights={"unit": np.int64(1), "zero": ints(0), "rest": ints(-1)})
    check(ingot, "square images of an open size", root, shapes((2, 16), (2, 25), (2, 1)), ("n=1..64",))
    clamped = model([node("ReduceMax", ["i"], ["m"], keepdims=0), node("Max", ["m", "one"], ["l"]), node("Min", ["l", "six"], ["c"]), node("Cast", ["c"], ["w"], to=I),
                     node("Reshape", ["w", "rank"], ["shape"]), node("ConstantOfShape", ["shape"])], [("i", TensorProto.INT32, ["n"])],
                    weights={"one": np.int32(1), "six": np.int32(6), "rank": ints(1)})
    check(ingot, "a size that data choose within bounds", clamped, [{"i": np.array(each, np.int32)} for each in ([1, 4], [9, 70, 2], [-5])], ("n=1..4",))
    # A fraction becomes true, not 0.
    fraction = model([node("Sigmoid", ["x"], ["s"]), node("Mul", ["s", "half"], ["h"]), node("Cast", ["h"], ["b"], to=TensorProto.BOOL), node("Cast", ["b"], ["i"], to=I),
                      node("Mul", ["i", "three"], ["shape"]), node("ConstantOfShape", ["shape"])], [("x", F, [1])],
                     weights={"half": np.float32([0.5]), "three": ints(3)})
    check(ingot, "a size of a fraction as a bool", fraction, shapes((1,), (1,)))
    first = model([node("Shape", ["x"], ["s"]), node("Squeeze", ["s"], ["n"]), node("Range", ["zero", "n", "unit"], ["r"]), node("Slice", ["r", "none", "four"], ["y"])],
                  [("x", F, ["n"])], (("y", I),), {"zero": np.int64(0), "unit": np.int64(1), "none": ints(0), "four": ints(4)})
    check(ingot, "the first numbers below a size", first, shapes((4,), (9,)), ("n=4..16",))


def large(ingot):
    """Bounds whose product is far larger than any memory."""
    runs = shapes((2, 3, 4, 5), (1, 1, 7, 2))
    for op in (node("Relu", ["x"]), node("Transpose", ["x"], perm=[3, 1, 0, 2]), node("Flatten", ["x"]), node("ReduceSum", ["x"], keepdims=0)):
        check(ingot, f"{op.op_type} of large bounds", model([op], [("x", F, ["a", "b", "c", "d"])]), runs, ("*=1..512",))


def ellipses(ingot):
    """Einsum, whose dynamic axes under an ellipsis broadcast if one of them is 1."""
    for equation, first, second, runs in (
            ("...ij,...jk->...ik", ["a", "i", "j"], ["b", "j", "k"], [((2, 3, 4), (1, 4, 5)), ((1, 3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 1))]),
            ("...ij,...jk", ["a", "i", "j"], ["b", "j", "k"], [((2, 3, 4), (1, 4, 5)), ((1, 3, 4), (1, 4, 5))]),
            ("...,...->...", ["a", "b"], ["c", "d"], [((2, 3), (1, 3)), ((2, 3), (2, 1)), ((2, 3), (2, 3)), ((1, 1), (2, 3))]),
            ("...i,...i->...", ["a", "i"], ["b", "i"], [((2, 3), (1, 3)), ((2, 3), (2, 3))]),
            ("i...j,j...k->...ik", ["i", "a", "j"], ["j", "b", "k"], [((3, 2, 4), (4, 1, 5)), ((3, 1, 4), (4, 2, 5))]),
            ("...i,i->...", ["a", "b", "i"], ["i"], [((2, 3, 4), (4,)), ((1, 1, 4), (4,))])):
        check(ingot, f"Einsum {equation}", model([node("Einsum", ["x", "z"], equation=equation)], [("x", F, first), ("z", F, second)]),
              [{"x": normal(*x), "z": normal(*z)} for x, z in runs], ("*=1..8",))


def zero_points(ingot):
    """MatMulInteger of dynamic sizes with a constant zero point for each row or column, which determines the
    number of rows or columns."""
    U = TensorProto.UINT8

    def of(title, x, z, weights, runs, refused):
        names = ["x", "z", *(name if name in weights else "" for name in "pq")]
        values = lambda shapes: {name: rng.integers(0, 99, shape).astype(np.uint8) for name, shape in zip("xz", shapes)}  # noqa: E731

        def want(values):
            row, column = weights.get("p", np.uint8([0])).astype(np.int32), weights.get("q", np.uint8([0])).astype(np.int32)
            return [(values["x"].astype(np.int32) - row.reshape(-1, 1)) @ (values["z"].astype(np.int32) - column)]
        check(ingot, f"MatMulInteger with a zero point for each {title}", model([node("MatMulInteger", names)], [("x", U, x), ("z", U, z)],
                                                                             (("y", TensorProto.INT32),), weights),
              list(map(values, runs)), ("*=1..8",), list(map(values, refused)), want)

    three, two = np.uint8([1, 7, 19]), np.uint8([3, 200])
    of("row", ["m", "k"], ["k", "n"], {"p": three}, [((3, 4), (4, 2)), ((3, 1), (1, 8))], [((2, 4), (4, 2))])
    of("column", ["m", "k"], ["k", "n"], {"q": two}, [((3, 4), (4, 2)), ((1, 5), (5, 2))], [((2, 4), (4, 3))])
    of("row and column", ["m", "k"], ["k", "n"], {"p": three, "q": two}, [((3, 4), (4, 2))], [((3, 4), (4, 3)), ((2, 4), (4, 2))])
    of("row of a square", ["m", "m"], ["m", "n"], {"p": three}, [((3, 3), (3, 2))], [((2, 2), (2, 2))])


def determined(ingot):
    """Sizes that no --dim sets: the model's weights or attributes determine them, or their symbol is an
    expression of other sizes, such as `2 * n`."""
    weights = {"wq": normal(16, 32), "wk": normal(16, 16), "wv": normal(16, 16), "one": ints(1), "unit": np.int64(1)}
    cache = ["b", 2, "p", "kv_cache_dim"]
    for mask in ("total", "p + s"):
        nodes = [node("MatMul", ["x", "wq"], ["q"]), node("MatMul", ["x", "wk"], ["k"]), node("MatMul", ["x", "wv"], ["v"]),
                 node("ReduceSum", ["mask", "one"], ["length"], keepdims=0), node("Sub", ["length", "unit"], ["l"]), node("Cast", ["l"], ["last"], to=TensorProto.INT32),
                 node("Shape", ["mask"], ["ms"]), node("Gather", ["ms", "unit"], ["t"]), node("Cast", ["t"], ["all"], to=TensorProto.INT32),
                 node("GroupQueryAttention", ["q", "k", "v", "pk", "pv", "last", "all"], ["y", "nk", "nv"], num_heads=4, kv_num_heads=2, domain="com.microsoft")]
        network = model(nodes, [("x", F, ["b", "s", 16]), ("mask", I, ["b", mask]), ("pk", F, cache), ("pv", F, cache)], (("y", F), ("nk", F), ("nv", F)), weights)
        network.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        values = lambda b, s, p, more=0: {"x": normal(b, s, 16), "mask": np.ones((b, s + p + more), np.int64),  # noqa: E731
                                          "pk": normal(b, 2, p, 8), "pv": normal(b, 2, p, 8)}
        check(ingot, f"a cache whose heads the attention determines, and the mask of {mask}", network, [values(1, 3, 4), values(2, 1, 7)],
              ("b=1..4", "s=1..8", "p=0..16"), [values(1, 3, 4, more=1)])
    # The scale fixes both sizes before the zero point is read.
    parameters = {"s": np.full((3, 2), 0.5, np.float32), "z": np.array([[1, -2], [3, 0], [5, 7]], np.int8)}
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1, block_size=1), node("DequantizeLinear", ["q", "s", "z"], axis=1, block_size=1)]
    check(ingot, "blocks of one element", model(nodes, [("x", F, ["n", "m"])], weights=parameters, opset=21), shapes((3, 2)), ("*=1..8",), shapes((2, 2)))
    # The bias of the scores has one head or all four; in a decoding step, two queries share a key.
    nodes = [node("GroupQueryAttention", ["q", "k", "v", "pk", "pv", "last", "all", "", "", "", "bias"], ["y", "nk", "nv"], num_heads=4, kv_num_heads=2,
                  domain="com.microsoft")]
    cache = [2, 2, 3, 8]
    network = model(nodes, [("q", F, [2, 1, 32]), ("k", F, [2, 1, 16]), ("v", F, [2, 1, 16]), ("pk", F, cache), ("pv", F, cache), ("bias", F, [1, "heads", 1, 4])],
                    (("y", F), ("nk", F), ("nv", F)), {"last": np.full(2, 3, np.int32), "all": np.int32(4)})
    network.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    values = lambda heads: {"q": normal(2, 1, 32), "k": normal(2, 1, 16), "v": normal(2, 1, 16), "pk": normal(*cache), "pv": normal(*cache),  # noqa: E731
                            "bias": normal(1, heads, 1, 4)}
    check(ingot, "heads of a bias", network, [values(4), values(1)], ("heads=1..8",), [values(2)])
    check(ingot, "channels that the weights determine", model([node("Conv", ["x", "w"])], [("x", F, ["n", "c", 8, 8])], weights={"w": normal(4, 3, 3, 3)}),
          shapes((2, 3, 8, 8)), ("n=1..4",), shapes((1, 4, 8, 8)))
    twice = model([node("Concat", ["x", "x"], ["c"], axis=0), node("Mul", ["c", "z"])], [("x", F, ["n"]), ("z", F, ["2 * n"])])
    check(ingot, "twice a size", twice, [{"x": normal(1), "z": normal(2)}, {"x": normal(4), "z": normal(8)}], ("n=1..4",), [{"x": normal(2), "z": normal(3)}])
    check(ingot, "twice a fixed size", twice, [{"x": normal(4), "z": normal(8)}], ("n=4",))
    # The bias has another name for the number of keys, which sorts before that of the queries.
    biased = model([node("MultiHeadAttention", ["q", "q", "q", "", "", "a"], ["y"], num_heads=2, domain="com.microsoft")],
                   [("q", F, [1, "seq", 8]), ("a", F, [1, 2, "seq", "keys"])])
    biased.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    check(ingot, "an attention bias with another name for its keys", biased, [{"q": normal(1, n, 8), "a": normal(1, 2, n, n)} for n in (3, 1, 9)], ("*=1..9",))


def indexed(ingot):
    """GatherElements with indices whose dynamic sizes are not those of the data."""
    for shape, own in ((["a", "b"], ["c", "d"]), (["a", 5], ["c", 3])):
        runs = [{"x": normal(*x), "i": rng.integers(0, x[0], i)} for x, i in (((5, 5), (2, 3)), ((4, 5), (6, 3)), ((7, 5), (1, 3)))]
        wide = [{"x": normal(3, 5), "i": rng.integers(0, 3, (2, 7))}] if shape[1] == "b" else []
        check(ingot, f"GatherElements of {shape} by {own}", model([node("GatherElements", ["x", "i"])], [("x", F, shape), ("i", I, own)]), runs, ("*=1..8",), wide)
        spread = [{"x": normal(*x), "i": rng.permuted(np.arange(x[0]))[:i[0], None] + np.zeros(i, np.int64), "u": normal(*i)}
                  for x, i in (((5, 5), (2, 3)), ((7, 5), (6, 3)))]
        check(ingot, f"ScatterElements of {shape} by {own}",
              model([node("ScatterElements", ["x", "i", "u"])], [("x", F, shape), ("i", I, own), ("u", F, own)]), spread, ("*=1..8",))
    check(ingot, "Compress by fewer truths than the axis has", model([node("Compress", ["x", "c"], axis=0)], [("x", F, ["n", 2])], weights={"c": np.array([0, 1, 1], bool)}),
          shapes((3, 2), (5, 2)), ("n=0..8",), shapes((2, 2)))
    check(ingot, "AffineGrid of an open batch", model([node("AffineGrid", ["x", "s"])], [("x", F, ["n", 2, 3])], weights={"s": ints(1, 2, 3, 4)}, opset=20),
          shapes((1, 2, 3)), ("n=1..4",), shapes((2, 2, 3)))


def windows(ingot):
    """Pooling and convolution with strides, and with auto_pad, along dynamic axes."""
    for op, attributes in (("MaxPool", {"kernel_shape": [3, 2]}), ("AveragePool", {"kernel_shape": [2, 3]}), ("LpPool", {"kernel_shape": [3, 3]}),
                           ("Conv", {}), ("AveragePool", {"kernel_shape": [3, 3], "count_include_pad": 1})):
        for pad in ("SAME_UPPER", "SAME_LOWER"):
            inputs = ["x", "w"] if op == "Conv" else ["x"]
            check(ingot, f"{op} {pad} {attributes}",
                  model([node(op, inputs, auto_pad=pad, strides=[2, 2], **attributes)], [("x", F, ["n", 3, "h", "w_"])], weights={"w": normal(4, 3, 3, 2)}),
                  shapes((1, 3, 5, 7), (2, 3, 6, 6), (1, 3, 1, 1), (1, 3, 8, 2)), ("n=1..2", "*=1..16"))
    # A pool with auto_pad along three dynamic axes.
    check(ingot, "MaxPool SAME_UPPER of three axes", model([node("MaxPool", ["x"], auto_pad="SAME_UPPER", strides=[2, 1, 3], kernel_shape=[2, 2, 3])],
                                                           [("x", F, [1, 2, "d", "h", "w_"])]), shapes((1, 2, 5, 4, 7), (1, 2, 2, 3, 3)), ("*=1..9",))


def branches(ingot):
    """If with branches that require dynamic sizes to be equal or within limits: a requirement holds only for
    runs that execute its branch."""
    def of(title, first, second, inputs, runs, refused=(), weights={}):
        bodies = [helper.make_graph([*each, node("Identity", ["r"], [name])], name, [], [helper.make_tensor_value_info(name, F, None)])
                  for name, each in (("then", first), ("else", second))]
        network = model([node("If", ["c"], then_branch=bodies[0], else_branch=bodies[1])], [("c", TensorProto.BOOL, []), *inputs],
                        weights={"zero": ints(0), "one": ints(1), **weights})
        check(ingot, title, network, [{"c": np.array(c), **values} for c, values in runs], ("*=0..8",), [{"c": np.array(c), **values} for c, values in refused])

    x, y = [("x", F, ["a", "b", "d"])], [("x", F, ["a", "b"]), ("z", F, ["c", "d"])]
    values = lambda *each: dict(zip("xz", (normal(*shape) for shape in each)))  # noqa: E731
    of("Squeeze of one axis or the other", [node("Squeeze", ["x", "zero"], ["r"])], [node("Squeeze", ["x", "one"], ["r"])], x,
       [(True, values((1, 2, 3))), (False, values((2, 1, 3))), (True, values((1, 1, 4)))], [(True, values((2, 1, 3))), (False, values((1, 2, 3)))])
    of("a product, or none", [node("MatMul", ["x", "z"], ["r"])], [node("Neg", ["x"], ["r"])], y,
       [(True, values((2, 3), (3, 4))), (False, values((2, 3), (5, 4))), (True, values((1, 5), (5, 1)))], [(True, values((2, 3), (4, 4)))])
    of("a product with weights, or none", [node("MatMul", ["x", "w"], ["r"])], [node("Neg", ["x"], ["r"])], y[:1],
       [(True, values((2, 3))), (False, values((2, 5)))], [(True, values((2, 4)))], {"w": normal(3, 2)})
    of("joined, or alone", [node("Concat", ["x", "z"], ["r"], axis=0)], [node("Exp", ["x"], ["r"])], y,
       [(True, values((2, 3), (4, 3))), (False, values((2, 3), (4, 5)))], [(True, values((2, 3), (4, 5)))])
    of("a sum, or none", [node("Add", ["x", "z"], ["r"])], [node("Abs", ["z"], ["r"])], y,
       [(True, values((2, 3), (1, 3))), (True, values((2, 1), (2, 3))), (False, values((2, 3), (4, 5)))], [(True, values((2, 3), (2, 4)))])
    # A requirement that cannot be assumed replaces the inputs of the node by resized ones.
    z = lambda values, *more: values | dict(zip("nm", more))  # noqa: E731
    of("reversed, or not", [node("ReverseSequence", ["x", "n"], ["r"], batch_axis=0, time_axis=1)], [node("Neg", ["x"], ["r"])], [*y[:1], ("n", I, ["e"])],
       [(True, z(values((2, 5)), ints(3, 5))), (False, z(values((2, 5)), ints(1)))], [(True, z(values((3, 5)), ints(3, 5)))])
    of("scattered, or not", [node("ScatterND", ["x", "n", "z"], ["r"])], [node("Neg", ["x"], ["r"])], [*y, ("n", I, ["e", 1])],
       [(True, z(values((6, 3), (2, 3)), ints(4, 1).reshape(2, 1))), (False, z(values((6, 3), (1, 2)), ints(4, 1).reshape(2, 1)))],
       [(True, z(values((6, 3), (1, 3)), ints(4, 1).reshape(2, 1)))])
    of("one-hot, or not", [node("Cast", ["x"], ["i"], to=I), node("OneHot", ["i", "one", "n"], ["r"])], [node("Unsqueeze", ["x", "zero"], ["r"])],
       [*y[:1], ("n", F, ["e"])], [(True, z(values((2, 3)), normal(2))), (False, z(values((2, 3)), normal(3)))], [(True, z(values((2, 3)), normal(3)))])
    of("normalized, or not", [node("GroupNormalization", ["x", "n", "m"], ["r"], num_groups=4)], [node("Neg", ["x"], ["r"])],
       [("x", F, ["a", 4, "b"]), ("n", F, ["e"]), ("m", F, ["f"])],
       [(True, z(values((2, 4, 5)), normal(4), normal(4))), (False, z(values((2, 4, 5)), normal(3), normal(1)))],
       [(True, z(values((2, 4, 5)), normal(3), normal(4)))])


def loops(ingot):
    """Recurrent networks as written by Keras's exporter: a trip count, a condition, scalar states and a
    scan output, with a dynamic batch."""
    def info(name, kind, shape=()):
        return helper.make_tensor_value_info(name, kind, shape)

    B, N = TensorProto.BOOL, TensorProto.INT32
    for title, trips, declared in (("steps", np.int64(5), None), ("more trips than steps", np.int64(40), ("b", 4))):
        step = [node("Cast", ["time"], ["at"], to=I), node("Gather", ["t", "at"], ["row"], axis=0), node("MatMul", ["row", "w"], ["p"]),
                node("MatMul", ["h", "u"], ["q"]), node("Add", ["p", "q"], ["s"]), node("Tanh", ["s"], ["h2"]), node("Identity", ["h2"], ["part"]),
                node("Add", ["time", "unit"], ["time2"]), node("Add", ["count", "unit"], ["count2"]), node("Add", ["sum", "half"], ["sum2"]),
                node("Less", ["time2", "steps"], ["l1"]), node("Less", ["count2", "steps"], ["l2"]), node("And", ["l1", "l2"], ["more"])]
        body = helper.make_graph(
            step, "body", [info("i", I), info("on", B), info("time", N), info("count", N), info("h", F, declared), info("sum", F)],
            [info("more", B), info("time2", N), info("count2", N), info("h2", F, declared), info("sum2", F), info("part", F, declared)])
        nodes = [node("Transpose", ["x"], ["t"], perm=[1, 0, 2]), node("Shape", ["x"], ["batch"], start=0, end=1),
                 node("Concat", ["batch", "units"], ["shape"], axis=0), node("Expand", ["nothing", "shape"], ["h0"]),
                 node("Loop", ["trips", "yes", "zero", "zero", "h0", "half"], ["last_time", "last_count", "last", "total", "all"], body=body),
                 node("Transpose", ["all"], ["y"], perm=[1, 0, 2])]
        network = model(nodes, [("x", F, ["n", 5, 3])], (("y", F), ("last", F), ("total", F), ("last_time", N)),
                        {"trips": trips, "yes": np.array(True), "zero": np.int32(0), "unit": np.int32(1), "steps": np.int32(5), "units": ints(4),
                         "nothing": np.float32(0), "half": np.float32(0.5), "w": normal(3, 4), "u": normal(4, 4)})
        check(ingot, f"a recurrent loop, {title}", network, shapes((1, 5, 3), (4, 5, 3), (2, 5, 3)), ("n=1..4",))


def at_most_one(ingot):
    """Axes whose size is 0 or 1: an operand with such an axis is no scalar, and a result of such sizes is not static."""
    def of(name, nodes, shape, own, runs, weights={}, kind=F, dims=("n=0..1",)):
        network = model(nodes, [("x", F, shape), ("y", F, own)], (("z", kind),), weights, opset=19)
        check(ingot, name, network, [{"x": normal(*a), "y": np.abs(normal(*b))} for a, b in runs], dims)

    turned = node("Transpose", ["x"], ["t"], perm=[1, 0])
    of("an addition after a transpose", [turned, node("Relu", ["t"], ["r"]), node("Add", ["r", "y"], ["z"])], ["n", "m"], ["n"],
       [((1, 3), (1,)), ((0, 3), (0,)), ((1, 0), (1,))], dims=("n=0..1", "m=0..4"))
    of("an expansion before a transpose", [node("Expand", ["y", "shape"], ["x2"]), node("Transpose", ["x2"], ["t"], perm=[1, 0]),
                                           node("Mul", ["t", "x"], ["z"])], ["n", 1], ["n"], [((1, 1), (1,)), ((0, 1), (0,))], {"shape": ints(3, 1)})
    of("an addition after a reshape", [node("MatMul", ["x", "w"], ["a"]), node("Unsqueeze", ["a", "axis"], ["b"]), node("Add", ["b", "y"], ["z"])],
       ["n", 3], ["n", 1, 1], [((1, 3), (1, 1, 1)), ((0, 3), (0, 1, 1))], {"w": normal(3, 4), "axis": ints(1)})
    of("a concatenation before a product", [node("Concat", ["x", "x"], ["c"], axis=2), node("Mul", ["c", "y"], ["a"]), node("Conv", ["a", "w"], ["z"])],
       [1, 8, 32, 32], ["n", 1, 1, 1], [((1, 8, 32, 32), (1, 1, 1, 1)), ((1, 8, 32, 32), (0, 1, 1, 1))], {"w": normal(2, 8, 1, 1)})
    of("a scale for each row", [node("QuantizeLinear", ["x", "y"], ["z"], axis=0)], ["n", 4], ["n"], [((1, 4), (1,))],
       kind=TensorProto.UINT8)


def scanned(ingot):
    """Scan and Loop with few iterations known when compiling, or with values that grow from nothing."""
    def body(nodes, inputs, outputs):
        return helper.make_graph(nodes, "body", [helper.make_tensor_value_info(*each) for each in inputs], [helper.make_tensor_value_info(*each) for each in outputs])

    B = TensorProto.BOOL
    step = body([node("Add", ["h", "row"], ["h2"]), node("Mul", ["h2", "row"], ["part"])], [("h", F, ["n"]), ("row", F, ["n"])], [("h2", F, ["n"]), ("part", F, ["n"])])
    for axis, shape in ((0, [4, "n"]), (1, ["n", 4])):
        network = model([node("Scan", ["h0", "x"], ["y", "all"], body=step, num_scan_inputs=1, scan_input_axes=[axis], scan_output_axes=[axis])],
                        [("h0", F, ["n"]), ("x", F, shape)], (("y", F), ("all", F)))
        check(ingot, f"Scan of 4 steps, axis {axis}", network, [{"h0": normal(n), "x": normal(*(4, n) if axis == 0 else (n, 4))} for n in (3, 1, 8)], ("n=1..8",))
    on = [("i", I, []), ("on", B, [])]
    whole = [node("Shape", ["x"], ["s"], end=1), node("Squeeze", ["s"], ["n"])]
    row = [node("Unsqueeze", ["i", "zero"], ["first"]), node("Add", ["first", "one"], ["last"]), node("Slice", ["x", "first", "last", "zero"], ["row"])]
    join = body([*row, node("Concat", ["sum", "row"], ["sum2"], axis=0), node("Identity", ["on"], ["still"])], [*on, ("sum", F, None)], [("still", B, []), ("sum2", F, None)])
    check(ingot, "rows joined to nothing", model([*whole, node("Loop", ["n", "", "none"], ["y"], body=join)], [("x", F, ["t", 3])],
                                                 weights={"none": np.zeros((0, 3), np.float32), "zero": ints(0), "one": ints(1)}),
          shapes((5, 3), (0, 3), (8, 3)), ("t=0..8",))
    until = body([node("Concat", ["sum", "x"], ["sum2"], axis=0), node("Shape", ["sum2"], ["s"]), node("Squeeze", ["s"], ["size"]), node("Less", ["size", "most"], ["still"])],
                 [*on, ("sum", B, None)], [("still", B, []), ("sum2", B, None)])
    check(ingot, "booleans joined to nothing until there are enough", model([node("Loop", ["", "", "none"], ["y"], body=until)], [("x", B, [1]), ("most", I, [])], (("y", B),),
                                                                           {"none": np.zeros(0, bool)}),
          [{"x": np.array([True]), "most": np.array(most)} for most in (0, 3, 8)], ("y_0=0..12",))
    nothing = body([node("Mul", ["e", "e"], ["e2"]), node("Add", ["h", "h"], ["h2"]), node("Identity", ["on"], ["still"])],
                   [*on, ("e", F, None), ("h", F, None)], [("still", B, []), ("e2", F, None), ("h2", F, None)])
    check(ingot, "a state that is always empty", model([node("Loop", ["k", "", "none", "x"], ["y", "z"], body=nothing)], [("x", F, ["n"]), ("k", I, [])], (("y", F), ("z", F)),
                                                       {"none": np.zeros((0, 3), np.float32)}), [{"x": normal(3), "k": np.array(k)} for k in (0, 3)])
    inner = body([node("Add", ["j", "i"], ["number"]), node("Cast", ["number"], ["f"], to=F), node("Mul", ["f", "x"], ["part"]), node("Identity", ["go"], ["goes"])],
                 [("j", I, []), ("go", B, [])], [("goes", B, []), ("part", F, None)])
    outer = body([node("Loop", ["m", ""], ["rows"], body=inner), node("Identity", ["on"], ["still"])], on, [("still", B, []), ("rows", F, None)])
    check(ingot, "a table of the scan outputs of two loops", model([node("Loop", ["k", ""], ["y"], body=outer)], [("x", F, ["n"]), ("k", I, []), ("m", I, [])]),
          [{"x": normal(n), "k": np.array(k), "m": np.array(m)} for n, k, m in ((2, 3, 1), (4, 1, 2), (3, 2, 5))])


def weighted(ingot):
    """Convolutions whose weights are inputs of dynamic sizes."""
    U = TensorProto.UINT8
    values = lambda *shape: rng.integers(0, 255, shape).astype(np.uint8)  # noqa: E731
    for size in (1, 3):
        network = model([node("ConvInteger", ["x", "w", "zero"], pads=[size // 2] * 4)], [("x", U, ["n", "c", "h", "v"]), ("w", U, ["m", "d", size, size])],
                        (("y", TensorProto.INT32),), {"zero": np.uint8(3)})
        check(ingot, f"ConvInteger with {size} x {size} weights of open sizes", network,
              [{"x": values(n, c, 4, 5), "w": values(m, c, size, size)} for n, c, m in ((2, 3, 6), (1, 8, 1))], ("*=1..8",))


compiled_once.run(__doc__, scanned, weighted, loops, squeezed, reshaped, resized, cropped, tiled, computed, rounded, large, ellipses, zero_points, determined, indexed, windows, branches,
                  at_most_one)
