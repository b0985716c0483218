"""Custom operators (--custom): element expressions, definitions in ONNX, and C functions, beside a statement of each in NumPy.

    custom_operators.py --ingot INGOT [--target TARGET]

Each case runs with sizes from the data and, where the target allows it, with dynamic sizes within bounds.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPERATORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/custom-operators/operators.yaml")
random = np.random.default_rng(3)
failures = []


def real(*shape):
    return random.normal(0, 1, shape).astype(np.float32)


def kind(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def network(nodes, inputs, outputs, constants=None, is_open=False):
    """Returns a model; `inputs` and `outputs` are arrays by name. With `is_open` the sizes of inputs are symbols."""
    infos = []
    for name, value in inputs.items():
        shape = [f"{name}_{axis}" for axis in range(value.ndim)] if is_open else value.shape
        infos.append(helper.make_tensor_value_info(name, kind(value), shape))
    results = [helper.make_tensor_value_info(name, kind(value), [None] * value.ndim) for name, value in outputs.items()]
    graph = helper.make_graph(nodes, "custom", infos, results, [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()])
    domains = sorted({node.domain for node in nodes} | {"com.example"} - {""})
    opsets = [helper.make_opsetid("", 18)] + [helper.make_opsetid(domain, 1) for domain in domains if domain]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def run(ingot, model, inputs, *options):
    """Returns the outputs by name, or the text of the error."""
    with tempfile.TemporaryDirectory() as folder:
        path, results = os.path.join(folder, "model.onnx"), os.path.join(folder, "out")
        onnx.save(model, path)
        command = [ingot, "run", path, "--output-dir", results, *options]
        for name, value in inputs.items():
            file = os.path.join(folder, name + ".npy")
            np.save(file, value)
            command += ["--input", f"{name}={file}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return f"exit {done.returncode}: {done.stderr}"
        return {name[:-4]: np.load(os.path.join(results, name)) for name in os.listdir(results)}


def check(args, name, nodes, inputs, want, constants=None, tolerance=1e-5, is_fixed=False, most=16, operators=OPERATORS):
    target = ["--target", args.target] if args.target else []
    if args.only and args.only not in name:
        return
    variants = [("data", [])]
    # Emulated programs have fixed sizes.
    if not args.target and not is_fixed:
        variants.append(("dynamic", ["--dynamic", "--dim", f"*=0..{most}"]))
    for variant, more in variants:
        model = network(nodes, inputs, want, constants, is_open=True)
        got = run(args.ingot, model, inputs, "--custom", operators, *target, *more)
        if isinstance(got, str):
            failures.append(f"{name} ({variant}): {got}")
            continue
        for output, expected in want.items():
            value = got.get(output)
            if value is None or value.shape != expected.shape or value.dtype != expected.dtype:
                failures.append(f"{name} ({variant}): {output} is {value if value is None else (value.shape, value.dtype)}, not {expected.shape} {expected.dtype}")
            elif value.dtype.kind in "iub" and not np.array_equal(value, expected):
                failures.append(f"{name} ({variant}): {output} differs in {np.count_nonzero(value != expected)} integers")
            elif not np.allclose(value.astype(float), expected.astype(float), rtol=tolerance, atol=tolerance):
                failures.append(f"{name} ({variant}): {output} differs by {np.abs(value.astype(float) - expected.astype(float)).max()}")


def node(name, inputs, outputs, domain="com.example", **attributes):
    return helper.make_node(name, inputs, outputs, domain=domain, **attributes)


def expressions(args):
    x, y = real(3, 5), real(3, 5)
    y[0, 0] = 0
    swish = lambda x, alpha: x / (1 + np.exp(-alpha * x))
    check(args, "swish", [node("Swish", ["x"], ["y"], alpha=1.5)], {"x": x}, {"y": swish(x, 1.5)})
    check(args, "swish-default", [node("Swish", ["x"], ["y"])], {"x": x}, {"y": swish(x, 1)})
    distance = np.abs(x - y)
    huber = np.where(distance <= 0.5, 0.5 * distance * distance, 0.5 * (distance - 0.25)).astype(np.float32)
    # Dynamic sizes of two inputs might broadcast, so these cases use fixed sizes.
    check(args, "huber", [node("Huber", ["x", "t"], ["l"])], {"x": x, "t": y}, {"l": huber}, is_fixed=True)
    smooth = np.maximum(np.tanh(x), -1) + np.where((x > y) & (y != 0), x**2, -y)
    check(args, "smooth", [node("Smooth", ["x", "y"], ["z"])], {"x": x, "y": y}, {"z": smooth.astype(np.float32)}, is_fixed=True)


def declared(args):
    """Declarations whose numbers, names or operators are unusual."""
    x, n = random.normal(0, 1, (3, 5)), random.integers(-9, 10, (3, 5))
    single, copy = x.astype(np.float32), "for (int64_t i = 0; i < n * m; ++i) y[i] = x[i];"
    element = lambda text, output="y": f"  inputs: [x]\n  outputs: [{output}]\n  element: \"{text}\"\n"
    call = lambda sizes: f"  inputs: [\"x: float[{sizes}]\"]\n  outputs: [\"y: float[{sizes}]\"]\n  function: copy_floats\n  source: [copy.cpp]\n"
    for name, text, value, want in (
        ("remainder", element("x % 3"), n, np.fmod(n, 3)), ("float-remainder", element("x % 0.75"), single, np.fmod(single, np.float32(0.75))),
        ("double-number", element("x * 0.1"), x, x * 0.1), ("wide-number", element("x + 9007199254740993"), n, n + 9007199254740993),
        ("generated-name", element("-x", "neg_0"), single, -single),
        # Names of parameters that C reserves, or that are equal.
        ("keywords", call("int, for"), single, single), ("repeated-names", call("x, x_2"), single, single)):
        with tempfile.TemporaryDirectory() as folder:
            operators = os.path.join(folder, "operators.yaml")
            with open(operators, "w") as file:
                file.write("- name: com.example::Declared\n" + text)
            with open(os.path.join(folder, "copy.cpp"), "w") as file:
                file.write(f"#include <stdint.h>\nextern \"C\" void copy_floats(const float *x, float *y, int64_t n, int64_t m) {{ {copy} }}\n")
            check(args, name, [node("Declared", ["x"], ["y"])], {"x": value}, {"y": want}, tolerance=1e-15 if value.dtype != np.float32 else 1e-5, operators=operators)


def definitions(args):
    x = real(4, 6)
    check(args, "hard-clip", [node("HardClip", ["x"], ["y"], limit=0.25)], {"x": x}, {"y": np.clip(x, -0.25, 0.25)})
    check(args, "neg-pos", [node("NegPos", ["x"], ["n", "p"], domain="ai.onnx.contrib")], {"x": x}, {"n": np.minimum(x, 0), "p": np.maximum(x, 0)})
    table, rows = real(7, 3), np.array([[1, 6], [0, 3]], np.int64)
    check(args, "embedding", [node("TorchEmbedding", ["w", "i"], ["y"], domain="com.microsoft")], {"i": rows}, {"y": table[rows]}, {"w": table})
    image, rois = real(2, 3, 8, 9), np.array([[0, 0, 0, 6, 6], [1, 1, 2, 7, 5]], np.float32)
    out = lambda i, r: rois_mean(image[int(i)], r, 2, 2, 2)
    want = np.stack([out(r[0], r[1:]) for r in rois]).astype(np.float32)
    attributes = dict(spatial_scale=1.0, pooled_height=2, pooled_width=2, sampling_ratio=2)
    check(args, "roi-align", [node("roi_align", ["x", "r"], ["y"], domain="torchvision", **attributes)], {"x": image, "r": rois}, {"y": want}, is_fixed=True)


def bilinear(plane, y, x):
    """Returns a sample of a plane as RoiAlign takes it."""
    height, width = plane.shape
    if y < -1 or y > height or x < -1 or x > width:
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, aside = y - top, x - left
    return (1 - down) * ((1 - aside) * plane[top, left] + aside * plane[top, right]) + down * ((1 - aside) * plane[bottom, left] + aside * plane[bottom, right])


def rois_mean(image, roi, rows, columns, samples):
    left, top, right, bottom = (float(v) for v in roi)
    high, wide = max(bottom - top, 1.0) / rows, max(right - left, 1.0) / columns
    result = np.zeros((image.shape[0], rows, columns))
    for c, plane in enumerate(image):
        for i in range(rows):
            for j in range(columns):
                points = [bilinear(plane, top + i * high + (a + 0.5) * high / samples, left + j * wide + (b + 0.5) * wide / samples) for a in range(samples) for b in range(samples)]
                result[c, i, j] = np.mean(points)
    return result


def deform_conv(x, offset, mask, weight, bias, stride, padding, dilation, groups, deform_groups):
    n, c, h, w = x.shape
    m, own, kh, kw = weight.shape
    oh = (h + 2 * padding[0] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (w + 2 * padding[1] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((n, m, oh, ow))

    def sample(plane, row, column):
        top, left, total = int(np.floor(row)), int(np.floor(column)), 0.0
        for i in (0, 1):
            for j in (0, 1):
                if 0 <= top + i < h and 0 <= left + j < w:
                    total += (row - top if i else 1 - row + top) * (column - left if j else 1 - column + left) * plane[top + i, left + j]
        return total

    for image in range(n):
        for i in range(oh):
            for j in range(ow):
                columns = np.zeros((c, kh * kw))
                for channel in range(c):
                    group = channel // (c // deform_groups)
                    for k in range(kh * kw):
                        base = group * 2 * kh * kw + 2 * k
                        row = i * stride[0] - padding[0] + k // kw * dilation[0] + offset[image, base, i, j]
                        column = j * stride[1] - padding[1] + k % kw * dilation[1] + offset[image, base + 1, i, j]
                        columns[channel, k] = sample(x[image, channel], row, column) * mask[image, group * kh * kw + k, i, j]
                for out in range(m):
                    first = out // (m // groups) * own
                    y[image, out, i, j] = (weight[out].reshape(own, -1) * columns[first : first + own]).sum() + bias[out]
    return y.astype(np.float32)


def batched_nms(boxes, scores, keep, iou, least):
    dets, labels = np.zeros((len(boxes), keep, 5), np.float32), np.full((len(boxes), keep), -1, np.int32)

    def overlap(a, b):
        both = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
        return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)

    for image, (box, score) in enumerate(zip(boxes[:, :, 0], scores)):
        alive = score > least
        for kept in range(keep):
            if not alive.any():
                break
            i, k = divmod(int(np.where(alive, score, -np.inf).argmax()), score.shape[1])
            dets[image, kept], labels[image, kept] = [*box[i], score[i, k]], k
            for other in range(len(box)):
                if other == i or overlap(box[i], box[other]) > iou:
                    alive[other, k] = False
    return dets, labels


def functions(args):
    for dtype in (np.float32, np.int8, np.uint8):
        x = (real(2, 3, 7) * 20).astype(dtype)
        check(args, f"cumulative-max-{dtype.__name__}", [node("CumulativeMax", ["x"], ["y"])], {"x": x}, {"y": np.maximum.accumulate(x, axis=-1)})
    x, weight, bias = real(2, 4, 6, 5), real(6, 2, 3, 3), real(6)
    geometry = dict(stride=[2, 1], padding=[1, 1], dilation=[1, 1], groups=2, deform_groups=2)
    offset, mask = real(2, 36, 3, 5), np.abs(real(2, 18, 3, 5))
    want = deform_conv(x, offset, mask, weight, bias, **geometry)
    deform = node("MMCVModulatedDeformConv2d", ["x", "offset", "mask", "w", "b"], ["y"], domain="mmcv", **geometry)
    check(args, "deform-conv", [deform], {"x": x, "offset": offset, "mask": mask}, {"y": want}, {"w": weight, "b": bias}, tolerance=1e-4, most=40)
    corner = random.uniform(0, 8, (2, 12, 1, 2))
    boxes = np.concatenate([corner, corner + random.uniform(1, 5, (2, 12, 1, 2))], -1).astype(np.float32)
    scores = random.uniform(0, 1, (2, 12, 3)).astype(np.float32)
    dets, labels = batched_nms(boxes, scores, 6, 0.4, 0.2)
    nms = node("TRTBatchedNMS", ["b", "s"], ["d", "l"], domain="mmdeploy", keep_topk=6, iou_threshold=0.4, score_threshold=0.2)
    check(args, "batched-nms", [nms], {"b": boxes, "s": scores}, {"d": dets, "l": labels})
    x = real(11)
    if not args.target:  # Emulated programs have no sizes that depend on the data.
        check(args, "above", [node("AboveThreshold", ["x"], ["i"], threshold=0.25)], {"x": x}, {"i": np.flatnonzero(x > 0.25).astype(np.int64)})
    pixels = random.integers(0, 256, (3, 9)).astype(np.uint8)
    window = [pixels[:, i : i + 7].astype(np.float32) for i in range(3)]
    mean = np.float32(0.5) * window[0] + window[1] + np.float32(0.5) * window[2]
    check(args, "window-uint8", [node("Window", ["x"], ["y"], weights=[0.5, 1.0, 0.5])], {"x": pixels}, {"y": (mean / np.float32(3)).astype(np.uint8)})
    flags = random.integers(0, 2, (3, 9)).astype(bool)
    any_of = flags[:, :7] | flags[:, 1:8] | flags[:, 2:]
    check(args, "window-bool", [node("Window", ["x"], ["y"], weights=[1.0, 1.0, 1.0], kind="any")], {"x": flags}, {"y": any_of})


def blurred(x):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    h, w = x.shape[2:]
    return sum(padded[:, :, i : i + h, j : j + w] for i in range(3) for j in range(3)) / 9


def inside(args):
    """A C function and an expression among other operators, and in the body of a loop."""
    x = real(1, 2, 6, 6)
    nodes = [helper.make_node("Relu", ["x"], ["r"]), node("Blur", ["r"], ["s"]), node("Swish", ["s"], ["t"]), helper.make_node("Add", ["t", "x"], ["y"])]
    blur = blurred(np.maximum(x, 0))
    check(args, "between", nodes, {"x": x}, {"y": (blur / (1 + np.exp(-blur)) + x).astype(np.float32)})
    joined = [node("Blur", ["x"], ["s"]), helper.make_node("Concat", ["x", "s"], ["y"], axis=1)]
    check(args, "concat", joined, {"x": x}, {"y": np.concatenate([x, blurred(x)], 1).astype(np.float32)})
    body = helper.make_graph(
        [node("Blur", ["state"], ["b"]), node("Swish", ["b"], ["next"]), helper.make_node("Identity", ["c"], ["again"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []), helper.make_tensor_value_info("state", TensorProto.FLOAT, [1, 2, 6, 6])],
        [helper.make_tensor_value_info("again", TensorProto.BOOL, []), helper.make_tensor_value_info("next", TensorProto.FLOAT, [1, 2, 6, 6])],
    )
    loop = helper.make_node("Loop", ["count", "", "x"], ["y"], body=body)
    state = x
    for _ in range(3):
        state = blurred(state)
        state = state / (1 + np.exp(-state))
    check(args, "loop", [loop], {"count": np.array(3, np.int64), "x": x}, {"y": state.astype(np.float32)}, is_fixed=True)


def quantizers(args):
    """Quant, BipolarQuant and Trunc as QONNX defines them, all in one network."""
    qonnx, x = "qonnx.custom_op.general", real(4, 7) * 3
    nodes, want, constants = [], {}, {"s": np.float32(0.25), "z": np.float32(0)}
    modes = {"ROUND": np.round, "FLOOR": np.floor, "CEIL": np.ceil, "HALF_UP": lambda v: np.sign(v) * np.floor(np.abs(v) + 0.5), "DOWN": np.trunc}
    for bits, signed, narrow in ((8, 1, 0), (4, 1, 1), (3, 0, 0), (2, 1, 0), (1, 0, 0), (12, 1, 0)):
        low, high = (-(2 ** (bits - 1)) + narrow, 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1 - narrow)
        constants[f"n{bits}"] = np.float32(bits)
        for mode, rounding in modes.items():
            name = f"quant_{bits}_{mode}"
            nodes.append(node("Quant", ["x", "s", "z", f"n{bits}"], [name], domain=qonnx, signed=signed, narrow=narrow, rounding_mode=mode))
            want[name] = (rounding(np.clip(x / np.float32(0.25), low, high)) * np.float32(0.25)).astype(np.float32)
    nodes.append(node("BipolarQuant", ["x", "s"], ["bipolar"], domain=qonnx))
    want["bipolar"] = np.where(x >= 0, 1, -1).astype(np.float32) * np.float32(0.25)
    constants |= {"a": np.float32(8), "b": np.float32(6)}
    nodes.append(node("Trunc", ["x", "s", "z", "a", "b"], ["trunc"], domain=qonnx))
    want["trunc"] = (np.floor(np.round(x / np.float32(0.25)) / 4) * np.float32(0.25)).astype(np.float32)
    constants |= {"rows": np.array([[0.5], [0.25], [1], [0.125]], np.float32), "two": np.float32(2)}
    nodes.append(node("Quant", ["x", "rows", "two", "n8"], ["by_row"], domain="onnx.brevitas", signed=0))
    want["by_row"] = (np.clip(np.round(x / constants["rows"] + 2), 0, 255) - 2).astype(np.float32) * constants["rows"]
    check(args, "quantizers", nodes, {"x": x}, want, constants, is_fixed=True)


def source_of(args, model, *options):
    """Returns the generated source without the lines that name the model, or the text of the error."""
    with tempfile.TemporaryDirectory() as folder:
        path, output = os.path.join(folder, "model.onnx"), os.path.join(folder, "net.cpp")
        onnx.save(model, path)
        done = subprocess.run([args.ingot, path, "-o", output, "--custom", OPERATORS, *options], capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        with open(output) as file:
            return "".join(line for line in file if "SHA-256" not in line and "HEADER_ID" not in line)


def check_texts(args, name, nodes, x, want):
    """Checks nodes that read the strings `x`; `want` are the results by name."""
    if args.only and args.only not in name:
        return
    infos = {n: helper.make_tensor_value_info(n, TensorProto.STRING if v.dtype == object else kind(v), v.shape) for n, v in ({"x": x} | want).items()}
    graph = helper.make_graph(nodes, "texts", [infos["x"]], [infos[n] for n in want])
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.contrib", 1), helper.make_opsetid("com.example", 1)]
    data = {"input_0.pb": ("x", x)} | {f"output_{i}.pb": item for i, item in enumerate(want.items())}
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), os.path.join(folder, "model.onnx"))
        os.mkdir(os.path.join(folder, "test_data_set_0"))
        for file, (key, value) in data.items():
            with open(os.path.join(folder, "test_data_set_0", file), "wb") as out:
                out.write(numpy_helper.from_array(value, key).SerializeToString())
        done = subprocess.run([args.ingot, "test", os.path.join(folder, "model.onnx"), "--custom", OPERATORS], capture_output=True, text=True)
        if done.returncode:
            failures.append(f"{name}: {done.stdout}{done.stderr}")


def texts(args):
    """Operators of ONNX Runtime's extensions on strings, and a C function on strings that other operators make."""
    contrib = "ai.onnx.contrib"
    words = np.array(["one", "", "Two words"], object)
    check_texts(args, "texts", [node("StringUpper", ["x"], ["u"], domain=contrib), node("StringConcat", ["u", "x"], ["y"], domain=contrib)],
                words, {"y": np.array([w.upper() + w for w in words], object)})
    words = np.array([["a", "bcd", "ef"], ["", "", ""], ["xy", "z", "uv"]], object)
    check_texts(args, "texts-function", [helper.make_node("StringConcat", ["x", "x"], ["w"]), node("Longest", ["w"], ["l", "n"]),
                                         helper.make_node("StringConcat", ["l", "l"], ["y"])],
                words, {"y": np.array(["bcd" * 4, "", "xy" * 4], object), "n": np.array([6, 0, 4])})


def costs(args):
    """An expression becomes the same code as the operators that it is made of."""
    x = real(3, 64)
    custom = network([node("Gate", ["x"], ["y"])], {"x": x}, {"y": x})
    plain = network([helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Mul", ["x", "s"], ["y"])], {"x": x}, {"y": x})
    # The comment of the kernel lists the nodes.
    lines = [[line for line in source_of(args, model, "--target", target).splitlines() if "Gate" not in line and "Sigmoid" not in line] for target in ("x86-64-v3", "cortex-m4") for model in (custom, plain)]
    if lines[0] != lines[1] or lines[2] != lines[3] or len(lines[0]) < 50:
        failures.append("the code of an element expression differs from that of its operators")


def integers(args):
    """Quant nodes around a convolution become an integer kernel; `ingot quantize` gives both sides of Blur one scale."""
    quant = lambda x, s, y: node("Quant", [x, s, "z", "n"], [y], domain="qonnx.custom_op.general")
    x, w = real(1, 4, 8, 8), np.clip(np.round(real(8, 4, 3, 3) * 8), -127, 127) / 16
    conv = helper.make_node("Conv", ["xq", "wq"], ["c"], pads=[1, 1, 1, 1])
    constants = {"sx": np.float32(1 / 32), "sw": np.float32(1 / 16), "sy": np.float32(1 / 8), "z": np.float32(0), "n": np.float32(8), "w": w.astype(np.float32)}
    nodes = [quant("x", "sx", "xq"), quant("w", "sw", "wq"), conv, quant("c", "sy", "y")]
    steps = lambda v, scale: np.clip(np.round(v / scale), -128, 127) * scale
    padded = np.pad(steps(x, 1 / 32), ((0, 0), (0, 0), (1, 1), (1, 1)))
    sums = sum(np.einsum("nchw,mc->nmhw", padded[:, :, i : i + 8, j : j + 8], w[:, :, i, j]) for i in range(3) for j in range(3))
    check(args, "quantized-conv", nodes, {"x": x}, {"y": steps(sums, 1 / 8).astype(np.float32)}, constants, is_fixed=True)
    text = source_of(args, network(nodes, {"x": x}, {"y": x}, constants), "--target", "cortex-m4")
    if "int8_t *__restrict weights" not in text:
        failures.append("the convolution between Quant nodes has no integer weights")
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]), node("Blur", ["a"], ["b"]), helper.make_node("Conv", ["b", "v"], ["y"])]
    model = network(nodes, {"x": x}, {"y": x}, {"w": w.astype(np.float32), "v": real(5, 8, 1, 1)})
    with tempfile.TemporaryDirectory() as folder:
        file = lambda name: os.path.join(folder, name)
        onnx.save(model, file("float.onnx"))
        np.savez(file("samples.npz"), x=np.concatenate([x, real(7, 4, 8, 8)]))
        command = [args.ingot, "quantize", file("float.onnx"), "-o", file("int8.onnx"), "--calibrate", file("samples.npz"), "--custom", OPERATORS]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            failures.append(f"quantize: {done.stderr}")
            return
        quantized = onnx.load(file("int8.onnx"))
    scales = {}
    values = {t.name: numpy_helper.to_array(t) for t in quantized.graph.initializer}
    for each in quantized.graph.node:
        if each.op_type == "QuantizeLinear":
            scales[each.input[0]] = float(values[each.input[1]])
    if scales.get("a") is None or scales.get("a") != scales.get("b"):
        failures.append(f"quantize: the scales of both sides of Blur are {scales.get('a')} and {scales.get('b')}")
    results = [run(args.ingot, m, {"x": x}, "--custom", OPERATORS) for m in (model, quantized)]
    if isinstance(results[0], str) or isinstance(results[1], str):
        failures.append(f"quantize: {results}")
    elif np.abs(results[0]["y"] - results[1]["y"]).max() > 0.05 * np.abs(results[0]["y"]).max():
        failures.append("quantize: the results differ by more than 5% of their range")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--target", default="", help="an emulated target; without it this machine")
    parser.add_argument("--only", default="", help="only cases with this in their name")
    parser.add_argument("--program", help="ignored: the programs of this folder are called alike")
    args = parser.parse_args()
    expressions(args)
    definitions(args)
    functions(args)
    inside(args)
    if not args.target:
        declared(args)
        quantizers(args)
        costs(args)
        integers(args)
        texts(args)
    print("\n".join(failures) or "all custom operators are right")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
