"""Models whose shapes are made when they run: counts, and shapes that are inputs.

    made_sizes.py --ingot INGOT

Each model is compiled once, without its data, and run on several inputs beside ONNX Runtime. Sizes beyond their
bounds are refused.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

import compiled_once
from compiled_once import node

F, I = TensorProto.FLOAT, TensorProto.INT64
rng = np.random.default_rng(5)
checked = []


def model(nodes, inputs, outputs, weights={}):
    """Returns a model; `inputs` are names, types and shapes, `outputs` names and types."""
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info(*each) for each in inputs],
        [helper.make_tensor_value_info(*each, None) for each in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def check(ingot, name, network, runs, dims=(), refused=(), want=None):
    # Every fifth model is also compiled with --optimize=size, for which the loops of kernels are
    # built in other ways.
    checked.append(name)
    more = [["--dynamic", "--optimize=size"]] if len(checked) % 5 == 1 else []
    compiled_once.check(ingot, name, network, runs, dims, refused, want, variants=[["--dynamic"], *more])


def found(ingot):
    """Operators that find none, some or all elements, so that the size of their result depends on data."""
    masks = [np.array(mask, bool) for mask in ([0] * 6, [1] * 6, [0, 1, 1, 0, 1, 0])]
    check(ingot, "NonZero", model([node("NonZero", ["x"], ["at"]), node("Transpose", ["at"], ["t"], perm=[1, 0]),
                                   node("GatherND", ["x", "t"]), node("Shape", ["at"], ["s"])],
                                  [("x", F, [3, 4])], [("y", F), ("at", I), ("s", I)]),
          [{"x": x} for x in (normal(3, 4) * (rng.random((3, 4)) < 0.5).astype(np.float32), np.zeros((3, 4), np.float32), normal(3, 4))])
    check(ingot, "NonZero of open sizes", model([node("NonZero", ["x"])], [("x", F, ["n", "m"])], [("y", I)]),
          [{"x": normal(*shape).round()} for shape in ((1, 1), (8, 5), (3, 7))], ["n=1..8", "m=1..7"])
    check(ingot, "Compress", model([node("Compress", ["x", "c"], ["k"], axis=1), node("MatMul", ["x2", "k"], ["p"]),
                                    node("ReduceSum", ["p"], keepdims=0)],
                                   [("x", F, [4, 6]), ("c", TensorProto.BOOL, [6]), ("x2", F, [3, 4])], [("y", F), ("k", F)]),
          [{"x": normal(4, 6), "c": mask, "x2": normal(3, 4)} for mask in masks])
    for is_sorted in (0, 1):
        check(ingot, f"Unique, sorted={is_sorted}",
              model([node("Unique", ["x"], ["y", "i", "v", "c"], sorted=is_sorted)], [("x", F, [12])], [("y", F), ("i", I), ("v", I), ("c", I)]),
              [{"x": (normal(12) * scale).round()} for scale in (0.1, 1, 100)])
    check(ingot, "TopK", model([node("TopK", ["x", "k"], ["y", "i"])], [("x", F, [5, 9]), ("k", I, [1])], [("y", F), ("i", I)]),
          [{"x": normal(5, 9), "k": ints(k)} for k in (0, 1, 4, 9)])


def boxes(ingot):
    def corners(count):
        low = rng.random((2, count, 2), np.float32)
        return np.concatenate([low, low + 0.1 + 0.4 * rng.random((2, count, 2), np.float32)], axis=2)
    limits = {"limit": np.array([4], np.int64), "iou": np.array([0.3], np.float32), "least": np.array([0.2], np.float32)}
    check(ingot, "NonMaxSuppression", model([node("NonMaxSuppression", ["b", "s", "limit", "iou", "least"])],
                                            [("b", F, [2, "n", 4]), ("s", F, [2, 3, "n"])], [("y", I)], limits),
          [{"b": corners(count), "s": rng.random((2, 3, count), np.float32)} for count in (1, 7, 40)], ["n=1..40"])
    check(ingot, "limits of NonMaxSuppression", model([node("NonMaxSuppression", ["b", "s", "limit"], center_point_box=1)],
                                                      [("b", F, [2, 9, 4]), ("s", F, [2, 1, 9]), ("limit", I, [1])], [("y", I)]),
          [{"b": corners(9), "s": rng.random((2, 1, 9), np.float32), "limit": ints(limit)} for limit in (0, 1, 2**40)])
    # NonMaxSuppression of many boxes, of which most or few are selected; equal scores; corners in any order;
    # classes close together, far apart, and all at the same position.
    def many(spread, largest, kinds, digits):
        low = spread * rng.random((2, 700, 2), np.float32) + 1000 * rng.integers(kinds, size=(2, 700, 1)).astype(np.float32)
        first, second = low, low + largest * rng.random((2, 700, 2), np.float32)
        swapped = rng.random((2, 700, 1)) < 0.5
        return {"b": np.concatenate([np.where(swapped, second, first), np.where(swapped, first, second)], axis=2),
                "s": rng.random((2, 2, 700), np.float32).round(digits)}
    limits["limit"][0] = 1000
    for iou in (0, 0.45):
        limits["iou"] = np.array([iou], np.float32)
        check(ingot, f"NonMaxSuppression of many boxes above {iou}", model(
            [node("NonMaxSuppression", ["b", "s", "limit", "iou", "least"])], [("b", F, [2, 700, 4]), ("s", F, [2, 2, 700])], [("y", I)], limits),
            [many(*each) for each in ((1, 0.1, 1, 9), (300, 200, 1, 2), (300, 300, 90, 9), (0, 1, 1, 1), (1e6, 1, 1, 9), (0, 0, 3, 3))])


def shapes(ingot):
    """Operators whose result shape is an input: Reshape, Expand and others."""
    x, bound = ("x", F, [2, 3, 4]), ["*=0..24"]
    check(ingot, "Reshape", model([node("Reshape", ["x", "s"], ["r"]), node("Softmax", ["r"])], [x, ("s", I, [2])], [("y", F)]),
          [{"x": normal(2, 3, 4), "s": ints(*s)} for s in ((6, 4), (-1, 3), (0, 12), (1, 24))], bound)
    check(ingot, "Expand", model([node("Expand", ["x", "s"])], [("x", F, [3, 1]), ("s", I, [3])], [("y", F)]),
          [{"x": normal(3, 1), "s": ints(*s)} for s in ((1, 1, 1), (2, 3, 5), (4, 1, 1))], bound)
    check(ingot, "Tile", model([node("Tile", ["x", "s"])], [x, ("s", I, [3])], [("y", F)]),
          [{"x": normal(2, 3, 4), "s": ints(*s)} for s in ((1, 1, 1), (2, 3, 1), (1, 0, 2))], bound)
    sets = (((0, 1), (2, 3), (1, 2), (1, 1)), ((-1, -2), (-100, 100), (2, 0), (-1, 2)), ((5, 0), (9, 2**62), (0, -1), (1, 3)))
    check(ingot, "Slice", model([node("Slice", ["x", "b", "e", "a", "s"])], [x, *((n, I, [2]) for n in "beas")], [("y", F)]),
          [{"x": normal(2, 3, 4), **{n: ints(*v) for n, v in zip("beas", each)}} for each in sets])
    for mode in ("constant", "edge", "reflect", "wrap"):
        check(ingot, f"Pad, {mode}", model([node("Pad", ["x", "p"], mode=mode)], [("x", F, [3, 4]), ("p", I, [4])], [("y", F)]),
              [{"x": normal(3, 4), "p": ints(*p)} for p in ((0, 0, 0, 0), (1, 2, 2, 1), (0, 3, 1, 0), (-1, 1, 1, -2), (1, -1, -1, 2))], bound)
    check(ingot, "Range and ConstantOfShape", model(
        [node("Range", ["a", "b", "c"], ["r"]), node("Shape", ["r"], ["s"]), node("ConstantOfShape", ["s"], ["z"]),
         node("Add", ["r", "z"])], [(n, F, []) for n in "abc"], [("y", F)]),
        [{n: np.array(v, np.float32) for n, v in zip("abc", each)} for each in ((0, 5, 1), (3, -2, -0.5), (1, 1, 1))], bound)
    check(ingot, "OneHot", model([node("OneHot", ["i", "d", "v"])], [("i", I, [5]), ("d", I, [1]), ("v", F, [2])], [("y", F)]),
          [{"i": ints(0, 2, 1, -1, 2), "d": ints(d), "v": normal(2)} for d in (3, 8)], bound)
    check(ingot, "Split", model([node("Split", ["x", "s"], ["y", "z"], axis=1)], [("x", F, [2, 7]), ("s", I, [2])], [("y", F), ("z", F)]),
          [{"x": normal(2, 7), "s": ints(*s)} for s in ((3, 4), (0, 7), (6, 1))])
    check(ingot, "Unsqueeze and Squeeze", model(
        [node("Unsqueeze", ["x", "a"], ["u"]), node("Squeeze", ["u", "a"])], [("x", F, [3, 4]), ("a", I, [2])], [("y", F), ("u", F)]),
        [{"x": normal(3, 4), "a": ints(*a)} for a in ((0, 1), (-1, 1), (2, 0))])
    ops = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSumExp", "SumSquare", "LogSum")
    for keepdims in (0, 1):
        check(ingot, f"reductions, keepdims={keepdims}", model(
            [node("Reduce" + op, ["x", "a"], [op], keepdims=keepdims) for op in ops], [x, ("a", I, [2])], [(op, F) for op in ops]),
            [{"x": np.abs(normal(2, 3, 4)), "a": ints(*a)} for a in ((0, 1), (-1, 0), (1, 2))])
    # Also for an empty list of axes, which means all axes unless noop_with_empty_axes is set.
    for empty in (0, 1):
        check(ingot, f"reductions along a list of axes of any length, {empty}", model(
            [node("Reduce" + op, ["x", "a"], [op], keepdims=1, noop_with_empty_axes=empty) for op in ops[:5]], [x, ("a", I, ["k"])], [(op, F) for op in ops[:5]]),
            [{"x": np.abs(normal(2, 3, 4)), "a": ints(*a)} for a in ((0, 1), (-1,), (), (1, 2, 0))], ["k=0..3"])
    check(ingot, "CumSum and Trilu", model([node("CumSum", ["x", "a"], ["s"]), node("Trilu", ["s", "a"])], [x, ("a", I, [])], [("y", F)]),
          [{"x": normal(2, 3, 4), "a": np.array(a, np.int64)} for a in (0, 2, -1)])


def resized(ingot):
    """Resize with scales or sizes that are inputs."""
    x, bound, roi = ("x", F, [1, 2, 5, 4]), ["*=0..12"], {"roi": np.zeros(0, np.float32)}
    scales = [np.array(s, np.float32) for s in ((1, 1, 2, 3), (1, 1, 0.6, 0.5), (1, 1, 1, 1), (1, 2, 1.3, 0.8))]
    modes = [("nearest", {"coordinate_transformation_mode": c, "nearest_mode": n})
             for c, n in (("half_pixel", "round_prefer_floor"), ("asymmetric", "floor"), ("asymmetric", "ceil"), ("align_corners", "round_prefer_ceil"))]
    modes += [("linear", {"coordinate_transformation_mode": c}) for c in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")]
    modes += [("cubic", {}), ("cubic", {"exclude_outside": 1, "cubic_coeff_a": -0.5}), ("linear", {"antialias": 1}), ("cubic", {"antialias": 1})]
    for mode, more in modes:
        # Unless the mode is `nearest`, ONNX Runtime resizes only two axes. With `align_corners`, it divides
        # by a length other than the standard's if the scaled length is not an integer.
        corners = more.get("coordinate_transformation_mode") == "align_corners"
        fitting = [s for s in scales if s[1] == 1 or (mode == "nearest" and not corners)]
        name = f"Resize, {mode} {' '.join(str(v) for v in more.values())}"
        check(ingot, name, model([node("Resize", ["x", "roi", "s"], mode=mode, **more)], [x, ("s", F, [4])], [("y", F)], roi),
              [{"x": normal(1, 2, 5, 4), "s": s} for s in fitting], bound)
        if "floor" not in more.values() and "asymmetric" not in more.values():
            check(ingot, f"{name}, sizes", model([node("Resize", ["x", "roi", "", "s"], mode=mode, **more)], [x, ("s", I, [4])], [("y", F)], roi),
                  [{"x": normal(1, 2, 5, 4), "s": ints(1, 2, *s)} for s in ((10, 3), (5, 4), (1, 12))], bound)
    check(ingot, "Resize of open sizes", model([node("Resize", ["x", "roi", "s"], mode="linear")], [("x", F, [1, 2, "h", "w"])], [("y", F)],
                                               {**roi, "s": np.array([1, 1, 2, 1.5], np.float32)}),
          [{"x": normal(1, 2, *size)} for size in ((1, 1), (9, 4), (4, 7))], ["h=1..9", "w=1..8"])


def broadcast(ingot):
    """Dynamic sizes that may be 1 or equal to the size that they broadcast with; also convolutions with
    kernels of dynamic sizes."""
    check(ingot, "Add of one row or of all", model([node("Add", ["x", "b"], ["a"]), node("Mul", ["b", "a"])],
                                                   [("x", F, [3, 4]), ("b", F, ["n", 4])], [("y", F)]),
          [{"x": normal(3, 4), "b": normal(n, 4)} for n in (1, 3)], ["n=0..4"], [{"x": normal(3, 4), "b": normal(n, 4)} for n in (2, 0, 4)])
    check(ingot, "Add along the last axis", model([node("Add", ["x", "b"])], [("x", F, [3, 20]), ("b", F, [3, "n"])], [("y", F)]),
          [{"x": normal(3, 20), "b": normal(3, n)} for n in (1, 20)], ["n=1..20"], [{"x": normal(3, 20), "b": normal(3, 19)}])
    either(ingot)
    check(ingot, "MatMul of one matrix or of all", model([node("MatMul", ["x", "b"])], [("x", F, [5, 4, 3]), ("b", F, ["n", 3, 6])], [("y", F)]),
          [{"x": normal(5, 4, 3), "b": normal(n, 3, 6)} for n in (1, 5)], ["n=1..5"], [{"x": normal(5, 4, 3), "b": normal(2, 3, 6)}])
    check(ingot, "Gemm", model([node("Gemm", ["a", "b", "c"], alpha=0.5, beta=2.0)],
                               [("a", F, ["m", 3]), ("b", F, [3, "n"]), ("c", F, ["i", "j"])], [("y", F)]),
          [{"a": normal(m, 3), "b": normal(3, n), "c": normal(i, j)} for m, n, i, j in ((4, 5, 1, 5), (4, 5, 4, 1), (4, 5, 4, 5), (1, 1, 1, 1))],
          ["*=1..5"], [{"a": normal(4, 3), "b": normal(3, 5), "c": normal(3, 5)}])
    for groups in (1, 2):
        check(ingot, f"Conv and ConvTranspose of open kernels, group={groups}",
              model([node("Conv", ["x", "w"], pads=[1, 0, 2, 1], strides=[1, 2], group=groups),
                     node("ConvTranspose", ["x", "v"], ["z"], pads=[1, 0, 1, 1], strides=[2, 1], group=groups)],
                    [("x", F, [2, 4, "h", 9]), ("w", F, [6, 4 // groups, "k", "l"]), ("v", F, [4, 3, "k", "l"])], [("y", F), ("z", F)]),
              [{"x": normal(2, 4, h, 9), "w": normal(6, 4 // groups, k, l), "v": normal(4, 3, k, l)} for h, k, l in ((8, 3, 2), (5, 2, 5), (4, 4, 3))],
              ["h=2..8", "k=1..4", "l=1..5"])
    check(ingot, "a kernel larger than the input", model([node("Conv", ["x", "w"])], [("x", F, [1, 1, "h"]), ("w", F, [1, 1, "k"])], [("y", F)]),
          [{"x": normal(1, 1, h), "w": normal(1, 1, k)} for h, k in ((8, 3), (5, 5))], ["h=1..8", "k=1..5"],
          [{"x": normal(1, 1, 2), "w": normal(1, 1, 4)}])
    for equation, sizes in (("bij,bjk->bik", ("bij", "bjk")), ("bii->bi", ("bii",)), ("ij,kj,k->i", ("ij", "kj", "k"))):
        names = "xyz"[:len(sizes)]
        check(ingot, f"Einsum {equation}", model([node("Einsum", list(names), ["r"], equation=equation)],
                                                 [(n, F, [f"{n}{i}" for i in range(len(s))]) for n, s in zip(names, sizes)], [("r", F)]),
              [{n: normal(*(size[c] for c in s)) for n, s in zip(names, sizes)}
               for size in ({"b": 2, "i": 3, "j": 4, "k": 5}, {"b": 1, "i": 6, "j": 1, "k": 2})], ["*=1..6"])


def either(ingot):
    """Operands whose sizes are different symbols and broadcast: any of them may be 1."""
    both = [("x", F, ["n", "m"]), ("y", F, ["k", "l"])]
    shapes = (((3, 1), (1, 4)), ((1, 1), (2, 5)), ((3, 4), (3, 4)), ((2, 3), (1, 1)), ((5, 20), (5, 1)), ((1, 20), (5, 20)))
    apart = [{"x": normal(3, 4), "y": normal(2, 4)}, {"x": normal(1, 4), "y": normal(2, 3)}]
    check(ingot, "Add of sizes that may each be 1",
          model([node("Add", ["x", "y"], ["s"]), node("Mul", ["s", "x"], ["p"]), node("Sub", ["y", "p"], ["z"])], both, [("s", F), ("z", F)]),
          [{"x": normal(*a), "y": normal(*b)} for a, b in shapes], ["*=1..20"], apart)
    check(ingot, "sizes that may also be 0", model([node("Add", ["x", "y"], ["s"])], both, [("s", F)]),
          [{"x": normal(*a), "y": normal(*b)} for a, b in (*shapes, ((0, 1), (1, 3)), ((1, 2), (0, 2)), ((0, 0), (1, 1)))], ["*=0..20"],
          [*apart, {"x": normal(0, 3), "y": normal(2, 3)}])
    check(ingot, "sizes that a later node needs to be equal",
          model([node("Add", ["x", "y"], ["s"]), node("Concat", ["s", "y"], ["z"], axis=1)], both, [("z", F)]),
          [{"x": normal(*a), "y": normal(*b)} for a, b in (((3, 4), (3, 4)), ((1, 4), (3, 4)), ((1, 1), (2, 5)))], ["*=1..6"],
          [{"x": normal(3, 4), "y": normal(1, 4)}])
    check(ingot, "a size that a later node needs to be a number",
          model([node("Add", ["x", "y"], ["s"]), node("MatMul", ["x", "w"], ["z"])], both, [("s", F), ("z", F)], {"w": normal(2, 3)}),
          [{"x": normal(*a), "y": normal(*b)} for a, b in (((3, 2), (1, 1)), ((1, 2), (4, 2)))], ["*=0..4"],
          [{"x": normal(3, 2), "y": normal(3, 3)}])
    check(ingot, "Where of three sizes", model([node("Less", ["x", "y"], ["c"]), node("Where", ["c", "x", "w"], ["z"])],
                                               [*both, ("w", F, ["i", 1, "j"])], [("z", F)]),
          [{"x": normal(*a), "y": normal(*b), "w": normal(i, 1, j)} for (a, b), i, j in zip(shapes[:4], (2, 1, 3, 1), (4, 1, 1, 3))], ["*=1..5"],
          [{"x": normal(2, 3), "y": normal(1, 1), "w": normal(2, 1, 4)}])
    check(ingot, "MatMul of batches", model([node("MatMul", ["x", "y"], ["z"])], [("x", F, ["b", "n", 4]), ("y", F, ["c", 4, "m"])], [("z", F)]),
          [{"x": normal(b, 3, 4), "y": normal(c, 4, 5)} for b, c in ((1, 3), (3, 1), (2, 2), (1, 1))], ["*=1..5"],
          [{"x": normal(2, 3, 4), "y": normal(3, 4, 5)}])
    check(ingot, "Expand to the sizes of another", model([node("Shape", ["y"], ["s"]), node("Expand", ["x", "s"], ["z"])], both, [("z", F)]),
          [{"x": normal(*a), "y": normal(*b)} for a, b in shapes], ["*=1..20"], apart)
    step = helper.make_graph(
        [node("Mul", ["s", "d"], ["h"]), node("Add", ["h", "e"], ["next"]), node("Mul", ["next", "e"], ["out"])], "step",
        [helper.make_tensor_value_info(name, F, None) for name in ("s", "d", "e")],
        [helper.make_tensor_value_info(name, F, None) for name in ("next", "out")])
    check(ingot, "Scan of sizes that may be 1", model([node("Scan", ["h0", "d0", "e0"], ["last", "all"], body=step, num_scan_inputs=2)],
                                                      [("h0", F, ["n", "m"]), ("d0", F, ["t", "a", 1]), ("e0", F, ["u", "b", "c"])],
                                                      [("last", F), ("all", F)]),
          [{"h0": normal(n, m), "d0": normal(t, a, 1), "e0": normal(t, b, c)}
           for n, m, t, a, b, c in ((3, 4, 5, 3, 3, 4), (3, 4, 2, 1, 1, 4), (1, 1, 3, 1, 1, 1))], ["*=1..6"],
          [{"h0": normal(3, 4), "d0": normal(2, 1, 1), "e0": normal(3, 1, 4)}, {"h0": normal(1, 4), "d0": normal(2, 1, 1), "e0": normal(2, 3, 4)}])


def parts(ingot):
    """Split, Slice, Reshape and Pad, whose lengths or shapes are computed from dynamic sizes."""
    for count, sizes, beyond in ((2, (2, 7, 8), ()), (4, (7, 8, 13), (5, 2))):
        names = [f"y{i}" for i in range(count)]
        check(ingot, f"Split into {count} parts, of which the last is smaller", model([node("Split", ["x"], names, num_outputs=count)],
                                                                                     [("x", F, ["n", 2])], [(name, F) for name in names]),
              [{"x": normal(n, 2)} for n in sizes], ["n=0..16"], [{"x": normal(n, 2)} for n in beyond])
    check(ingot, "Split at a number", model(
        [node("Shape", ["x"], ["n"], start=1), node("Sub", ["n", "three"], ["rest"]), node("Concat", ["three", "rest"], ["s"], axis=0),
         node("Split", ["x", "s"], ["a", "b"], axis=1), node("Concat", ["b", "a"], ["z"], axis=1)],
        [("x", F, [2, "n"])], [("a", F), ("b", F), ("z", F)], {"three": ints(3)}),
          [{"x": normal(2, n)} for n in (3, 4, 11)], ["n=1..12"], [{"x": normal(2, 2)}])
    check(ingot, "every second element", model(
        [node("Slice", ["x", "zero", "end", "one", "two"], ["a"]), node("Slice", ["x", "one", "end", "one", "two"], ["b"])],
        [("x", F, [2, "n"])], [("a", F), ("b", F)],
        {"zero": ints(0), "one": ints(1), "two": ints(2), "end": ints(2**62)}),
          [{"x": normal(2, n)} for n in (1, 2, 7)], ["n=1..12"])
    check(ingot, "Reshape to sizes of another", model(
        [node("Shape", ["y"], ["n"], start=0, end=1), node("Concat", ["n", "four", "minus"], ["s"], axis=0), node("Reshape", ["x", "s"], ["z"]),
         node("Add", ["z", "y"], ["r"])],
        [("x", F, ["a", "b"]), ("y", F, ["n", 4, "k"])], [("z", F), ("r", F)], {"four": ints(4), "minus": ints(-1)}),
          [{"x": normal(6, 8), "y": normal(n, 4, k)} for n, k in ((2, 6), (3, 1), (12, 1))], ["*=1..12"],
          [{"x": normal(6, 8), "y": normal(5, 4, 1)}, {"x": normal(6, 8), "y": normal(2, 4, 5)}])
    check(ingot, "Pad to the size of another", model(
        [node("Shape", ["x"], ["n"], start=1), node("Shape", ["y"], ["m"], start=1), node("Sub", ["m", "n"], ["d"]),
         node("Concat", ["none", "none", "none", "d"], ["p"], axis=0), node("Pad", ["x", "p"], ["z"]), node("Add", ["z", "y"], ["r"])],
        [("x", F, [2, "n"]), ("y", F, [2, "m"])], [("r", F)], {"none": ints(0)}),
          [{"x": normal(2, n), "y": normal(2, m)} for n, m in ((3, 5), (4, 4), (5, 3))], ["*=1..6"])


def others(ingot):
    """Operators whose inputs have sizes with different symbols, which must be equal or 1; and other operators
    on dynamic sizes."""
    check(ingot, "parameters of a normalization", model([node("LayerNormalization", ["x", "s", "b"], ["z"])],
                                                        [("x", F, ["n", "c"]), ("s", F, ["k"]), ("b", F, ["l"])], [("z", F)]),
          [{"x": normal(n, c), "s": normal(c), "b": normal(c)} for n, c in ((3, 5), (1, 8))], ["*=1..8"],
          [{"x": normal(3, 5), "s": normal(4), "b": normal(5)}])
    check(ingot, "PRelu of one slope or of all", model([node("PRelu", ["x", "s"], ["z"])], [("x", F, ["n", "c", 3]), ("s", F, ["k", 1])], [("z", F)]),
          [{"x": normal(2, c, 3), "s": normal(k, 1)} for c, k in ((5, 1), (5, 5), (1, 1))], ["*=1..8"],
          [{"x": normal(2, 1, 3), "s": normal(4, 1)}, {"x": normal(2, 5, 3), "s": normal(4, 1)}])
    groups = model([node("GroupNormalization", ["x", "s", "b"], ["z"], num_groups=2)], [("x", F, ["n", "c", "h"]), ("s", F, ["k"]), ("b", F, ["l"])],
                   [("z", F)])
    groups.opset_import[0].version = 21
    check(ingot, "GroupNormalization", groups, [{"x": normal(n, c, h), "s": normal(c), "b": normal(c)} for n, c, h in ((3, 4, 5), (1, 8, 1))], ["*=1..8"],
          [{"x": normal(1, 6, 2), "s": normal(3), "b": normal(6)}, {"x": normal(1, 5, 2), "s": normal(5), "b": normal(5)}])
    check(ingot, "pools whose last window may start in the padding",
          model([node("MaxPool", ["x"], ["y"], kernel_shape=[2], strides=[3], pads=[1, 1], ceil_mode=1),
                 node("AveragePool", ["x"], ["z"], kernel_shape=[2], strides=[3], pads=[1, 1], ceil_mode=1)],
                [("x", F, [1, 2, "h"])], [("y", F), ("z", F)]), [{"x": normal(1, 2, h)} for h in (1, 2, 3, 4, 5, 6, 7, 8)], ["h=1..8"])
    for order in (0, 1):
        check(ingot, f"Unique, sorted={order}", model([node("Unique", ["x"], ["y", "i", "j", "k"], sorted=order)], [("x", F, ["n", "m"])],
                                                      [("y", F), ("i", I), ("j", I), ("k", I)]),
              [{"x": rng.integers(0, 4, (n, m)).astype(np.float32)} for n, m in ((3, 5), (1, 1), (6, 6), (1, 6))], ["*=1..6"])
    check(ingot, "indices as a negative start", model([node("Slice", ["x", "s", "e"], ["z"])], [("x", F, ["n"])], [("z", F)], {"s": ints(-3), "e": ints(-1)}),
          [{"x": normal(n)} for n in (1, 2, 3, 7)], ["n=1..8"])
    check(ingot, "SplitToSequence at numbers", model([node("SplitToSequence", ["x", "s"], ["q"]), node("SequenceAt", ["q", "one"], ["z"])],
                                                     [("x", F, ["n", "m"])], [("z", F)], {"s": ints(2, 3), "one": np.array(1, np.int64)}),
          [{"x": normal(5, m)} for m in (1, 4)], ["*=1..8"], [{"x": normal(6, 2)}])


def windows(ingot):
    """Windows whose padding (auto_pad, output_shape) is no simple expression of the dynamic size."""
    for same in ("SAME_UPPER", "SAME_LOWER"):
        window = {"kernel_shape": [3, 2], "strides": [2, 3], "auto_pad": same}
        check(ingot, f"windows of {same} with strides",
              model([node("MaxPool", ["x"], ["a"], **window), node("AveragePool", ["x"], ["b"], **window),
                     node("AveragePool", ["x"], ["c"], count_include_pad=1, **window),
                     node("MaxPool", ["x"], ["e", "f"], **window), node("MaxPool", ["x"], ["g", "k"], storage_order=1, **window),
                     node("Conv", ["x", "w"], ["d"], strides=[2, 3], auto_pad=same)],
                    [("x", F, [1, 2, "h", "w"])], [*((name, F) for name in "abcdeg"), ("f", I), ("k", I)], {"w": normal(3, 2, 3, 2)}),
              [{"x": normal(1, 2, h, w)} for h, w in ((1, 1), (5, 7), (6, 8), (2, 8), (8, 5))], ["*=1..8"])
        check(ingot, f"ConvTranspose of {same} and of an output_shape",
              model([node("ConvTranspose", ["x", "w", "b"], ["y"], strides=[2], auto_pad=same),
                     node("ConvTranspose", ["x", "w", "b"], ["z"], strides=[2], output_shape=[9], auto_pad=same)],
                    [("x", F, [1, 2, "h"]), ("w", F, [2, 3, "k"]), ("b", F, [3])], [("y", F), ("z", F)]),
              [{"x": normal(1, 2, h), "w": normal(2, 3, k), "b": normal(3)} for h, k in ((4, 3), (5, 4), (6, 2))], ["*=1..8"])
    check(ingot, "Concat of windows whose number is not always one", model(
        [node("MaxPool", ["x"], ["a"], kernel_shape=[2], strides=[2]), node("MaxPool", ["x"], ["b"], kernel_shape=[1], strides=[2]),
         node("Concat", ["a", "b"], ["z"], axis=1)], [("x", F, [1, 2, "h"])], [("z", F)]),
          [{"x": normal(1, 2, h)} for h in (2, 6, 8)], ["h=2..8"], [{"x": normal(1, 2, 5)}])
    check(ingot, "Concat of a window and an input that has its size", model(
        [node("MaxPool", ["x"], ["a"], kernel_shape=[2], pads=[1, 1]), node("Concat", ["a", "y"], ["z"], axis=1)],
        [("x", F, [1, 2, "h"]), ("y", F, [1, 3, "k"])], [("z", F)]),
          [{"x": normal(1, 2, h), "y": normal(1, 3, h + 1)} for h in (1, 4, 7)], ["*=1..8"], [{"x": normal(1, 2, 4), "y": normal(1, 3, 4)}])
    deform = model([node("DeformConv", ["x", "w", "o", "b", "m"], ["z"], kernel_shape=[2, 3], strides=[2, 1], pads=[1, 0, 0, 2], offset_group=2)],
                   [("x", F, ["n", 4, "h", "t"]), ("w", F, ["v", 4, "k", "l"]), ("o", F, ["i", 24, "p", "q"]), ("b", F, ["u"]),
                    ("m", F, ["g", 12, "d", "e"])], [("z", F)])
    deform.opset_import[0].version = 22
    check(ingot, "DeformConv", deform,
          [{"x": normal(n, 4, h, t), "w": normal(5, 4, 2, 3), "o": normal(n, 24, (h + 1) // 2, t), "b": normal(5), "m": normal(n, 12, (h + 1) // 2, t)}
           for n, h, t in ((1, 4, 5), (2, 7, 3))], ["*=1..8"],
          [{"x": normal(1, 4, 4, 5), "w": normal(5, 4, 2, 3), "o": normal(1, 24, 3, 5), "b": normal(5), "m": normal(1, 12, 2, 5)}])
    for skips in (0, 2):
        check(ingot, f"TfIdfVectorizer, skips={skips}", model(
            [node("TfIdfVectorizer", ["x"], ["z"], mode="TF", min_gram_length=1, max_gram_length=2, max_skip_count=skips, ngram_counts=[0, 2],
                  ngram_indexes=[0, 1, 2, 3], pool_int64s=[2, 0, 2, 3, 0, 2])], [("x", I, ["n", "t"])], [("z", F)]),
              [{"x": rng.integers(0, 4, (n, t))} for n, t in ((1, 1), (3, 2), (2, 9), (4, 4))], ["*=1..9"])


def sampled(ingot):
    for mode, padding, corners in (("linear", "zeros", 0), ("cubic", "border", 1), ("nearest", "reflection", 0), ("linear", "reflection", 1)):
        network = model([node("GridSample", ["x", "g"], mode={"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode), padding_mode=padding,
                              align_corners=corners)], [("x", F, ["n", 2, "h", "w"]), ("g", F, ["n", "i", "j", 2])], [("y", F)])
        check(ingot, f"GridSample, {mode} {padding} {corners}", network,
              [{"x": normal(n, 2, h, w), "g": normal(n, i, j, 2)} for n, h, w, i, j in ((1, 4, 5, 3, 2), (2, 3, 6, 1, 4))], ["*=1..6"])
    check(ingot, "RoiAlign", model([node("RoiAlign", ["x", "r", "b"], output_height=3, output_width=2, sampling_ratio=2)],
                                   [("x", F, ["n", 2, "h", "w"]), ("r", F, ["k", 4]), ("b", I, ["k"])], [("y", F)]),
          [{"x": normal(n, 2, 6, w), "r": np.abs(normal(k, 4)) + np.array([0, 0, 3, 3], np.float32), "b": rng.integers(0, n, k)}
           for n, w, k in ((1, 6, 1), (2, 5, 4))], ["*=1..6"])
    for onesided in (0, 1):
        parts = 1 if onesided else 2
        check(ingot, f"DFT, onesided={onesided}", model([node("DFT", ["x", "n"], axis=1, onesided=onesided)],
                                                        [("x", F, ["b", "t", parts]), ("n", I, [])], [("y", F)]),
              [{"x": normal(b, t, parts), "n": np.array(n, np.int64)} for b, t, n in ((1, 8, 8), (3, 5, 7), (2, 6, 4))], ["*=1..8"])
    rates = [("bands", I, []), ("length", I, []), ("rate", I, []), ("low", F, []), ("high", F, [])]
    runs = [dict(zip((name for name, _, _ in rates), [*(np.array(n, np.int64) for n in each[:3]), *(np.array(f, np.float32) for f in each[3:])]))
            for each in ((8, 16, 8192, 0, 4096), (20, 64, 8000, 100, 3000), (1, 7, 100, 0, 40), (4, 64, 8000, 100, 9000))]
    check(ingot, "MelWeightMatrix", model([node("MelWeightMatrix", [name for name, _, _ in rates])], rates, [("y", F)]), runs[:3],
          ["y_0=1..33", "y_1=1..20"], runs[3:])


def beyond(ingot):
    """Data-dependent sizes outside of the bounds that the user gives with --dim."""
    check(ingot, "a bound of ConstantOfShape", model([node("ConstantOfShape", ["s"])], [("s", I, [2])], [("y", F)]),
          [{"s": ints(3, 4)}, {"s": ints(0, 5)}], ["y_0=0..3", "y_1=1..5"], [{"s": ints(4, 4)}, {"s": ints(3, 6)}, {"s": ints(3, 0)}])


def bodies(ingot):
    """Sizes that every iteration of a loop body or every execution of a branch computes anew, also in nested
    loops."""
    def info(name, kind, shape=()):
        return helper.make_tensor_value_info(name, kind, shape)

    def loop(nodes, count, carried, collected={}, result="sum"):
        """Returns a loop with the state `result`, initialized by `carried`; `collected` are the names and
        declared shapes of scan outputs."""
        body = helper.make_graph([*nodes, node("Identity", ["on"], ["still"])], "body",
                                 [info("i", I), info("on", TensorProto.BOOL), info(carried, F)],
                                 [info("still", TensorProto.BOOL), info(result, F), *[info(name, F, shape) for name, shape in collected.items()]])
        return node("Loop", [count, "", "zero"], ["y", *["all_" + name for name in collected]], body=body)

    # The positive elements of row i of x; their number varies.
    row = [node("Gather", ["x", "i"], ["row"], axis=0), node("Greater", ["row", "zero"], ["c"]), node("Compress", ["row", "c"], ["kept"])]
    sums = [*row, node("ReduceSum", ["kept"], ["part"], keepdims=0), node("Mul", ["part", "part"], ["square"]), node("Add", ["before", "square"], ["sum"])]
    weights = {"zero": np.array(0, np.float32), "n": np.array(40, np.int64)}
    inputs = [{"x": normal(40, 7)}, {"x": -np.abs(normal(40, 7))}, {"x": np.abs(normal(40, 7))}]
    check(ingot, "Compress in a loop", model([loop(sums, "n", "before", {"part": ()})], [("x", F, [40, 7])], [("y", F), ("all_part", F)], weights), inputs)
    check(ingot, "Compress in a loop as often as an input says", model([loop(sums, "k", "before")], [("x", F, [40, 7]), ("k", I, [])], [("y", F)], weights),
          [{**each, "k": np.array(k, np.int64)} for each, k in zip(inputs, (40, 0, 3))])
    # If the body of a loop declares the sizes of its results, Ingot relies on these sizes, and checks them
    # at run time.
    three = np.array([[1, 2, 3, -1, -2, -3, 0]], np.float32)
    check(ingot, "results of a loop as long as its body declares", model([loop(sums, "k", "before", {"kept": (3,)})], [("x", F, [40, 7]), ("k", I, [])],
                                                                         [("y", F), ("all_kept", F)], weights),
          [{"x": rng.permuted(np.repeat(three, 40, 0), axis=1), "k": np.array(k, np.int64)} for k in (40, 3)], ["y_count=0..40"],
          [{"x": x, "k": np.array(40, np.int64)} for x in (normal(40, 7), np.abs(normal(40, 7)))])
    # The numbers of elements kept from two inputs must be equal in each iteration.
    both = [*row, node("Gather", ["z", "i"], ["other"], axis=0), node("Greater", ["other", "zero"], ["d"]), node("Compress", ["other", "d"], ["left"]),
            node("Mul", ["kept", "left"], ["products"]), node("ReduceSum", ["products"], ["part"], keepdims=0), node("Add", ["before", "part"], ["sum"])]
    x = normal(40, 7)
    check(ingot, "sizes of a body that have to be equal", model([loop(both, "n", "before")], [("x", F, [40, 7]), ("z", F, [40, 7])], [("y", F)], weights),
          [{"x": x, "z": np.sign(x)}], refused=[{"x": x, "z": np.roll(x, 1, 1) * np.array([1, 1, 1, 1, 1, 1, -1], np.float32)}])
    inner = loop(sums, "n", "before")
    outer = [inner, node("Greater", ["w", "y"], ["f"]), node("Compress", ["w", "f"], ["few"]), node("ReduceSum", ["few"], ["t"], keepdims=0),
             node("Add", ["carry", "t"], ["u"])]
    check(ingot, "a loop in a loop", model([node("Loop", ["k", "", "zero"], ["y"], body=helper.make_graph(
        [*[n if n.op_type != "Loop" else inner for n in outer], node("Identity", ["on2"], ["still2"])], "outer",
        [info("j", I), info("on2", TensorProto.BOOL), info("carry", F)], [info("still2", TensorProto.BOOL), info("u", F)]))],
        [("x", F, [40, 7]), ("w", F, [9]), ("k", I, [])], [("y", F)], weights),
        [{"x": normal(40, 7) * 0.1, "w": np.abs(normal(9)) * 9, "k": np.array(k, np.int64)} for k in (0, 1, 5)])
    branch = [helper.make_graph(nodes, name, [], [info(name, F)]) for name, nodes in (
        ("then", [node("NonZero", ["x"], ["at"]), node("Cast", ["at"], ["p"], to=F), node("ReduceSum", ["p"], ["then"], keepdims=0)]),
        ("else", [node("ReduceSum", ["x"], ["else"], keepdims=0)]))]
    check(ingot, "NonZero in a branch", model([node("If", ["c"], then_branch=branch[0], else_branch=branch[1])],
                                              [("x", F, [3, 5]), ("c", TensorProto.BOOL, [])], [("y", F)]),
          [{"x": normal(3, 5).round(), "c": np.array(c)} for c in (True, False)])
    # The branches of an If have results of different sizes: static, data-dependent, and empty.
    few = {"then": [node("Slice", ["x", "zero64", "two"], ["then"])],
           "else": [node("Greater", ["x", "zero"], ["above"]), node("Compress", ["x", "above"], ["kept1"]), node("Exp", ["kept1"], ["else"])]}
    none = {"then": [node("Constant", [], ["then"], value=numpy_helper.from_array(np.zeros(0, np.float32)))], "else": [node("Neg", ["x"], ["else"])]}
    for title, each in (("few or those above", few), ("none or all", none)):
        branch = [helper.make_graph(nodes, name, [], [info(name, F)]) for name, nodes in each.items()]
        check(ingot, f"branches of unlike sizes, {title}",
              model([node("If", ["c"], ["z"], then_branch=branch[0], else_branch=branch[1]), node("Concat", ["z", "x"], axis=0)],
                    [("x", F, [6]), ("c", TensorProto.BOOL, [])], [("y", F), ("z", F)],
                    {"zero": np.float32(0), "zero64": ints(0), "two": ints(2)}),
              [{"x": x, "c": np.array(c)} for c, x in ((True, normal(6)), (False, normal(6)), (False, np.abs(normal(6))), (False, -np.abs(normal(6))))])
    # A loop whose state grows in each iteration.
    longer = [node("ReduceMean", ["carry"], ["m"], keepdims=1), node("Concat", ["carry", "m"], ["u"], axis=0)]
    grow = helper.make_graph([*longer, node("Identity", ["on3"], ["still3"])], "grow", [info("j", I), info("on3", TensorProto.BOOL), info("carry", F, None)],
                             [info("still3", TensorProto.BOOL), info("u", F, None)])
    often = np.array(30, np.int64)
    check(ingot, "a loop that appends", model([node("Loop", ["k", "", "x"], ["y"], body=grow)], [("x", F, ["n"])], [("y", F)], {"k": often}),
          [{"x": normal(n)} for n in (1, 4, 9)], ["n=1..9"])
    check(ingot, "a loop that appends as often as an input says",
          model([node("Loop", ["k", "", "x"], ["y"], body=grow)], [("x", F, ["n"]), ("k", I, [])], [("y", F)]),
          [{"x": normal(n), "k": np.array(k, np.int64)} for n, k in ((1, 0), (4, 16), (9, 11))], ["n=1..9", "y_0=0..20"],
          [{"x": normal(9), "k": np.array(12, np.int64)}])
    # Scan outputs of a loop that ends by its condition: the result has room for 12 iterations.
    until = helper.make_graph([node("Add", ["a", "x"], ["b"]), node("ReduceSum", ["b"], ["t"], keepdims=0), node("Less", ["t", "limit"], ["more"])], "until",
                              [info("i", I), info("on4", TensorProto.BOOL), info("a", F, ["n"])],
                              [info("more", TensorProto.BOOL), info("b", F, ["n"]), info("a", F, ["n"])])
    small, runs = np.array([0.1], np.float32), [{"x": np.abs(normal(n)) + np.float32(least)} for n, least in ((1, 4), (4, 0.5), (9, 1))]
    limit = {"limit": np.array(20, np.float32), "k": np.array(12, np.int64), "go": np.array(True)}
    collect, results = (lambda k, go: node("Loop", [k, go, "x"], ["y", "all"], body=until)), [("y", F), ("all", F)]
    check(ingot, "parts until a condition", model([collect("", "go")], [("x", F, ["n"])], results, limit), runs, ["n=1..9", "y_count=0..12"], [{"x": small}])
    check(ingot, "parts until a condition or a count", model([collect("k", "go")], [("x", F, ["n"]), ("k", I, []), ("go", TensorProto.BOOL, [])], results,
                                                             {"limit": limit["limit"]}),
          [{"x": x, "k": np.array(k, np.int64), "go": np.array(True)} for x, k in ((runs[0]["x"], 2), (runs[2]["x"], 2**62), (small, 12))], ["n=1..9", "y_count=0..12"],
          [{"x": small, "k": np.array(13, np.int64), "go": np.array(True)}])
    # The trip count is a dynamic size minus 3: if it is negative, the scan output is empty.
    few = helper.make_graph([node("Add", ["a", "x"], ["b"]), node("Identity", ["on5"], ["still5"])], "few",
                            [info("i", I), info("on5", TensorProto.BOOL), info("a", F, ["n"])], [info("still5", TensorProto.BOOL), info("b", F, ["n"]), info("a", F, ["n"])])
    check(ingot, "parts of a size less three", model(
        [node("Shape", ["x"], ["s"]), node("Sub", ["s", "three"], ["d"]), node("Squeeze", ["d"], ["k"]), node("Loop", ["k", "", "x"], ["y", "all"], body=few)],
        [("x", F, ["n"])], results, {"three": ints(3)}), [{"x": normal(n)} for n in (4, 8, 5)], ["n=1..8"])
    # If the loop has no iteration, the empty scan output has the actual sizes of the input, not
    # their upper bounds.
    for count, go in ((0, True), (4, False)):
        check(ingot, f"no parts of {count}, {go}", model(
            [node("Loop", ["k", "go", "x"], ["y", "all"], body=few), node("Shape", ["all"], ["z"])], [("x", F, ["n"])], [*results, ("z", I)],
            {"k": np.array(count, np.int64), "go": np.array(go)}), [{"x": normal(n)} for n in (1, 5, 9)], ["n=1..9"],
            want=lambda values: [values["x"], np.zeros((0, values["x"].size), np.float32), ints(0, values["x"].size)])
    # A branch that reads an empty tensor, whose other size is dynamic.
    branches = [helper.make_graph([*nodes, node("Neg", [last], ["o"])], "branch", [], [info("o", F, None)]) for nodes, last in
                (([node("Transpose", ["x"], ["t"], perm=[1, 0]), node("Concat", ["t", "x2"], ["j"], axis=1)], "j"), ([], "x2"))]
    check(ingot, "a branch that reads an empty tensor", model([node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])],
                                                              [("c", TensorProto.BOOL, []), ("x", F, [0, "n"]), ("x2", F, ["n", 2])], [("y", F)]),
          [{"c": np.array(c), "x": normal(0, n), "x2": normal(n, 2)} for c, n in ((True, 3), (False, 2), (True, 5))], ["n=1..8"])
    square = helper.make_graph([node("Mul", ["e", "e"], ["o"])], "square", [info("e", F, None)], [info("o", F, None)])
    check(ingot, "no parts of a Scan without steps", model([node("Scan", ["x"], ["y"], body=square, num_scan_inputs=1, scan_output_axes=[1]), node("Shape", ["y"], ["z"])],
                                                           [("x", F, [0, "n"])], [("y", F), ("z", I)]),
          [{"x": normal(0, n)} for n in (1, 5, 9)], ["n=1..9"], want=lambda values: [values["x"].T, ints(*values["x"].T.shape)])
    compiled_once.check(ingot, "no parts of a count in the data", model([node("Loop", ["k", "", "x"], ["y", "all"], body=few)], [("x", F, ["n"]), ("k", I, [])], results),
                        [{"x": normal(5), "k": np.array(0, np.int64)}], want=lambda values: [values["x"], np.zeros((0, 5), np.float32)])
    check(ingot, "parts until a condition, at most 12", model([collect("k", "")], [("x", F, ["n"])], results, limit), [*runs, {"x": small}], ["n=1..9"])
    # A target shape of a Resize whose first two sizes are known, and the others are an input.
    check(ingot, "Resize of sizes of which two are known",
          model([node("Shape", ["x"], ["s"]), node("Slice", ["s", "zero64", "two"], ["front"]), node("Concat", ["front", "at"], ["sizes"], axis=0),
                 node("Resize", ["x", "", "", "sizes"], mode="linear")], [("x", F, [1, 3, "h", "w"]), ("at", I, [2])], [("y", F)],
                {"zero64": ints(0), "two": ints(2)}),
          [{"x": normal(1, 3, h, w), "at": ints(*at)} for h, w, at in ((4, 4, (8, 8)), (3, 5, (7, 2)))], ["h=1..8", "w=1..8", "y_2=1..8", "y_3=1..8"],
          [{"x": normal(1, 3, 4, 4), "at": ints(9, 4)}])


compiled_once.run(__doc__, found, boxes, shapes, resized, broadcast, parts, others, windows, sampled, beyond, bodies)
