#!/usr/bin/env python3
"""Products on the emulated GPU, beside NumPy in double precision: floats of 8 bits, convolutions in groups and of few channels, and shares of tiles.

    cuda_products.py --ingot PROGRAM --work DIR [--filter TEXT] [--every N]

Each case says which strategy has to take it. The error is told in parts of the largest result. With the threads and blocks in
the opposite order results are the same to the last bit.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

EMULATION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "targets", "cuda", "emulation")
KINDS = {"e4m3": (ml_dtypes.float8_e4m3fn, TensorProto.FLOAT8E4M3FN), "e5m2": (ml_dtypes.float8_e5m2, TensorProto.FLOAT8E5M2),
         "u8": (np.uint8, TensorProto.UINT8), "s8": (np.int8, TensorProto.INT8)}
# Tolerances for results: with f32 operands, and with operands rounded to bf16 (8 bits of mantissa).
CLOSE, BFLOAT = 2e-6, 1e-2


def convolution(x, w, groups, stride):
    """Returns the convolution of [n, c, h, w] with [o, c / groups, 3, 3], with zero padding."""
    x = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    height, width = x.shape[2] - 2, x.shape[3] - 2
    windows = np.stack([x[:, :, i:i + height:stride, j:j + width:stride] for i in range(3) for j in range(3)], 2)
    parts = zip(np.split(windows, groups, 1), np.split(w.reshape(*w.shape[:2], 9), groups))
    return np.concatenate([np.einsum("nckhw,ock->nohw", part, of) for part, of in parts], 1)


class Case:
    """A matmul or convolution of x [m, k] or [1, c, h, w] with weights. `kinds` are the types of both
    between QuantizeLinear and DequantizeLinear, if any. With `has_sum`, the model returns
    max(y + x, 0) instead of the result y."""

    def __init__(self, name, strategy, target, x, w, kinds=None, groups=1, stride=1, options=(), tolerance=CLOSE, dtype=np.float32,
                 has_sum=False):
        self.name, self.strategy, self.target, self.options, self.tolerance = name, strategy, target, options, tolerance
        self.kinds, self.groups, self.stride, self.dtype, self.has_sum = kinds, groups, stride, dtype, has_sum
        rng = np.random.default_rng(len(name))
        self.x, self.w = (rng.standard_normal(shape).astype(dtype) for shape in (x, w))
        self.bias = rng.standard_normal(w[0] if len(w) == 4 else w[1]).astype(dtype)

    def quantized(self, values, kind, scale):
        values = values / np.float32(scale)
        if kind in ("u8", "s8"):
            values = np.rint(values).clip(*((0, 255) if kind == "u8" else (-128, 127)))
        return values.astype(KINDS[kind][0])

    def save(self, folder):
        nodes, constants, x, w = [], [numpy_helper.from_array(self.bias, "bias")], self.x, self.w
        names = ["x", "w"]
        if self.kinds:
            scales = 0.02, 0.02
            stored = self.quantized(w, self.kinds[1], scales[1])
            constants.append(helper.make_tensor("stored", KINDS[self.kinds[1]][1], w.shape, stored.tobytes(), raw=True))
            for kind, scale, name in zip(self.kinds, scales, "xw"):
                constants.append(numpy_helper.from_array(np.float32(scale), name + "_scale"))
                constants.append(helper.make_tensor(name + "_zero", KINDS[kind][1], [], bytes(1), raw=True))
            nodes.append(helper.make_node("QuantizeLinear", ["x", "x_scale", "x_zero"], ["q"]))
            nodes.append(helper.make_node("DequantizeLinear", ["q", "x_scale", "x_zero"], ["d"]))
            nodes.append(helper.make_node("DequantizeLinear", ["stored", "w_scale", "w_zero"], ["dw"]))
            names = ["d", "dw"]
            x = self.quantized(x, self.kinds[0], scales[0]).astype(np.float64) * scales[0]
            w = stored.astype(np.float64) * scales[1]
        else:
            constants.append(numpy_helper.from_array(w, "w"))
        x, w = x.astype(np.float64), w.astype(np.float64)
        if w.ndim == 4:
            nodes.append(helper.make_node("Conv", [*names, "bias"], ["y"], pads=[1, 1, 1, 1], group=self.groups, strides=2 * [self.stride]))
            self.want = convolution(x, w, self.groups, self.stride) + self.bias.astype(np.float64)[:, None, None]
        else:
            nodes.append(helper.make_node("MatMul", names, ["product"]))
            nodes.append(helper.make_node("Add", ["product", "bias"], ["y"]))
            self.want = x @ w + self.bias.astype(np.float64)
        if self.has_sum:
            nodes[-1].output[0] = "biased"
            nodes.append(helper.make_node("Add", ["biased", "x"], ["sum"]))
            nodes.append(helper.make_node("Relu", ["sum"], ["y"]))
            self.want = np.maximum(self.want + self.x.astype(np.float64), 0)
        return self.write(folder, nodes, constants)

    def write(self, folder, nodes, constants):
        element = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        graph = helper.make_graph(nodes, "product", [helper.make_tensor_value_info("x", element, self.x.shape)],
                                  [helper.make_tensor_value_info("y", element, self.want.shape)], constants)
        path = os.path.join(folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), path)
        np.save(os.path.join(folder, "x.npy"), self.x)
        return path


class NormedCase(Case):
    """A matmul of the rows of [m, k], divided by their root mean square and scaled, times a gate computed
    from them, in one kernel."""
    says = "1 kernel calls of 1 kernels"

    def save(self, folder):
        scale = np.linspace(0.5, 2, self.x.shape[1]).astype(np.float32)
        v = np.random.default_rng(1).standard_normal(self.w.shape).astype(np.float32)
        constants = {"v": v, "two": np.float32(2), "epsilon": np.float32(1e-3), "axes": np.array([-1]), "scale": scale, "w": self.w, "bias": self.bias}
        nodes = [helper.make_node(operator, names.split(), [result]) for operator, names, result in (
            ("Pow", "x two", "squares"), ("ReduceMean", "squares axes", "mean"), ("Add", "mean epsilon", "moved"), ("Sqrt", "moved", "root"),
            ("Div", "x root", "normed"), ("Mul", "normed scale", "scaled"), ("MatMul", "scaled w", "product"), ("Add", "product bias", "sum"),
            ("MatMul", "scaled v", "gate"), ("Sigmoid", "gate", "open"), ("Mul", "sum open", "y"))]
        x = self.x.astype(np.float64)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3) * scale
        self.want = (x @ self.w.astype(np.float64) + self.bias) / (1 + np.exp(-x @ v.astype(np.float64)))
        return self.write(folder, nodes, [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])


class ChannelsCase(Case):
    """Convolutions of the first and of the last channels of another convolution, which they read in place,
    multiplied by each other."""
    says = "5 kernel calls"

    def save(self, folder):
        count, all_of = self.w.shape[1], self.x.shape[1]
        v = (0.1 * np.random.default_rng(1).standard_normal((all_of, all_of, 3, 3))).astype(np.float32)
        constants = {"v": v, "begin": [0], "middle": [all_of - count], "count": [count], "end": [all_of], "axis": [1], "w": self.w, "bias": self.bias}
        nodes = [helper.make_node(operator, names.split(), [result], **more) for operator, names, result, more in (
            ("Conv", "x v", "c", {"pads": [1] * 4}), ("Relu", "c", "r", {}), ("Slice", "r begin count axis", "first", {}), ("Slice", "r middle end axis", "last", {}),
            ("Conv", "first w bias", "one", {"pads": [1] * 4}), ("Conv", "last w bias", "other", {"pads": [1] * 4}), ("Mul", "one other", "y", {}))]
        w = self.w.astype(np.float64)
        x = np.maximum(convolution(self.x.astype(np.float64), v.astype(np.float64), 1, 1), 0)
        one, other = (convolution(part, w, 1, 1) + self.bias.astype(np.float64)[:, None, None] for part in (x[:, :count], x[:, all_of - count:]))
        self.want = one * other
        return self.write(folder, nodes, [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])


class OperandsCase(Case):
    """A matmul of two inputs of the model, with or without batches."""
    inputs = ["x", "w"]

    def save(self, folder):
        self.want = self.x.astype(np.float64) @ self.w.astype(np.float64)
        element = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        tensors = [helper.make_tensor_value_info(name, element, value.shape) for name, value in (("x", self.x), ("w", self.w), ("y", self.want))]
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product", tensors[:2], tensors[2:])
        path = os.path.join(folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), path)
        for name in self.inputs:
            np.save(os.path.join(folder, name + ".npy"), getattr(self, name))
        return path


def with_plan(case, numbers):
    case.plan_numbers = numbers
    return case


def cases():
    yield ChannelsCase("channels", "block-product", "sm_80", (1, 48, 9, 9), (24, 32, 3, 3))
    yield ChannelsCase("channels-bf16", "tensor-product", "sm_80", (1, 48, 9, 9), (24, 32, 3, 3), options=["--fast=bf16"], tolerance=BFLOAT)
    for rows, steps in ((1, 200), (3, 100)):
        yield NormedCase(f"normed-{rows}", "row-product", "sm_80", (rows, steps), (steps, 40))
        yield NormedCase(f"normed-{rows}-bf16", "row-product", "sm_80", (rows, steps), (steps, 40), options=["--fast=bf16"], tolerance=BFLOAT)
    for kinds in (("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e5m2", "e5m2")):
        name = "f8-" + "-".join(kinds)
        yield Case(name, "tensor-product", "sm_89", (40, 72), (72, 48), kinds)
        # sm_80 has no instructions for 8-bit floats: they are multiplied as f16, which can represent all of
        # their values.
        yield Case(name + "-as-f16", "tensor-product", "sm_80", (40, 72), (72, 48), kinds)
    yield Case("f8-convolution", "tensor-product", "sm_89", (1, 32, 9, 9), (24, 32, 3, 3), ("e4m3", "e4m3"))
    yield Case("f8-row", "row-product", "sm_89", (2, 144), (144, 40), ("e4m3", "e5m2"))
    # Real hardware keeps about 14 bits of sums of 8-bit floats (an H100 has an error of 1.6e-3).
    yield Case("f8-warpgroups", "warpgroup-product", "sm_90a", (512, 1024), (1024, 320), ("e5m2", "e4m3"), tolerance=3e-3)
    # Matmuls with a row-major right operand, and with rows, columns and reduction sizes that end within a
    # tile or a K tile.
    for m, k, n in ((512, 512, 512), (520, 520, 328), (1000, 264, 520)):
        yield OperandsCase(f"operands-{m}-{k}-{n}-f16", "warpgroup-product", "sm_90a", (m, k), (k, n), dtype=np.float16, tolerance=1e-3)
    yield OperandsCase("operands-bf16", "warpgroup-product", "sm_90a", (520, 1032), (1032, 264), options=["--fast=bf16"], tolerance=BFLOAT)
    # Matmuls with one matrix for each batch, or for several batches.
    yield OperandsCase("batches-f16", "warpgroup-product", "sm_90a", (2, 3, 260, 264), (2, 3, 264, 136), dtype=np.float16, tolerance=1e-3)
    yield OperandsCase("batches-shared-f16", "warpgroup-product", "sm_90a", (2, 1, 260, 264), (1, 3, 264, 136), dtype=np.float16, tolerance=1e-3)
    yield OperandsCase("rows-shared-f16", "warpgroup-product", "sm_90a", (512, 264), (4, 264, 136), dtype=np.float16, tolerance=1e-3)
    # The tensor that is added is loaded before the K loop or, if there are too few registers, after it.
    for rows, columns, groups in ((64, 128, 1), (128, 256, 2)):
        yield with_plan(Case(f"sum-warpgroups-{columns}", "warpgroup-product", "sm_90a", (200, 264), (264, 264), dtype=np.float16, tolerance=1e-3, has_sum=True),
                        {"rows": rows, "columns": columns, "groups": groups, "slices": 1, "resident": 1, "stages": 3})
    # Blocks of a cluster load tiles for each other. Some blocks are beyond the last row or column, and some
    # compute several tiles.
    for below, beside in ((2, 1), (1, 2), (2, 2)):
        tile = {"below": below, "beside": beside, "rows": 64, "columns": 128, "groups": 1, "slices": 1, "resident": 1, "stages": 3}
        name = f"clusters-{below}-{beside}"
        yield with_plan(Case(name, "warpgroup-product", "sm_90a", (200, 328), (328, 264), dtype=np.float16, tolerance=1e-3), tile)
        yield with_plan(Case(name + "-windows", "warpgroup-product", "sm_90a", (2, 64, 9, 11), (136, 64, 3, 3), stride=2, dtype=np.float16,
                             tolerance=1e-3), tile)
        yield with_plan(OperandsCase(name + "-operands", "warpgroup-product", "sm_90a", (2, 200, 328), (2, 328, 264), dtype=np.float16,
                                     tolerance=1e-3), tile)
    yield with_plan(Case("clusters-in-turn", "warpgroup-product", "sm_90a", (9000, 72), (72, 136), dtype=np.float16, tolerance=1e-3),
                    {**tile, "below": 2, "beside": 1})
    # Blocks of a cluster divide the K tiles of an output tile; each block completes a part of it.
    for behind in (2, 4, 8):
        tile = {"behind": behind, "rows": 64, "columns": 128, "groups": 1, "slices": 1, "resident": 1, "stages": 2}
        name = f"behind-{behind}"
        yield with_plan(Case(name, "warpgroup-product", "sm_90a", (100, 1000), (1000, 264), dtype=np.float16, tolerance=1e-3), tile)
        yield with_plan(Case(name + "-windows", "warpgroup-product", "sm_90a", (1, 64 * behind, 9, 11), (136, 64 * behind, 3, 3), stride=2,
                             dtype=np.float16, tolerance=1e-3), tile)
        yield with_plan(OperandsCase(name + "-operands", "warpgroup-product", "sm_90a", (2, 100, 1000), (2, 1000, 264), dtype=np.float16,
                                     tolerance=1e-3), tile)
    yield with_plan(Case("behind-sum", "warpgroup-product", "sm_90a", (100, 256), (256, 256), dtype=np.float16, tolerance=1e-3, has_sum=True),
                    {**tile, "behind": 2})
    yield with_plan(Case("behind-s8", "warpgroup-product", "sm_90a", (100, 512), (512, 144), ("u8", "s8")), {**tile, "behind": 2, "rows": 128, "groups": 2})
    yield Case("groups-f32", "block-product", "sm_75", (1, 64, 32, 32), (64, 32, 3, 3), groups=2)
    yield Case("groups-odd", "block-product", "sm_75", (1, 69, 27, 29), (87, 23, 3, 3), groups=3)
    yield Case("groups-bf16", "tensor-product", "sm_80", (1, 64, 12, 12), (64, 16, 3, 3), groups=4, options=["--fast=bf16"], tolerance=BFLOAT)
    # Convolutions of three channels, with windows that start within, between and at the boundaries of the
    # columns that are loaded together; the last windows end at the edge.
    for stride, fast in ((1, "bf16"), (2, "bf16"), (3, "bf16"), (2, "tf32")):
        yield Case(f"few-channels-by-{stride}-{fast}", "tensor-product", "sm_80", (2, 3, 13, 18), (24, 3, 3, 3), stride=stride,
                   options=["--fast=" + fast], tolerance=BFLOAT)
    yield Case("groups-s8", "tensor-product", "sm_80", (1, 64, 12, 12), (64, 16, 3, 3), ("s8", "s8"), groups=4)
    # Results are stored 8, 4, 2 and 1 columns at a time; rows and columns end within a tile.
    for size in (96, 44, 42, 45):
        yield Case(f"sum-{size}-f16", "tensor-product", "sm_80", (72, size), (size, size), dtype=np.float16, tolerance=1e-3, has_sum=True)
    yield Case("sum-tf32", "tensor-product", "sm_80", (72, 72), (72, 72), options=["--fast=tf32"], tolerance=1e-3, has_sum=True)
    yield Case("sum-convolution-f16", "tensor-product", "sm_80", (1, 48, 9, 11), (48, 48, 3, 3), dtype=np.float16, tolerance=1e-3, has_sum=True)
    yield Case("sum-s8", "tensor-product", "sm_80", (72, 96), (96, 96), ("s8", "s8"), has_sum=True)
    for size in (384, 336):
        yield Case(f"sum-{size}-warpgroups", "warpgroup-product", "sm_90a", (520, size), (size, size), dtype=np.float16, tolerance=2e-3,
                   has_sum=True)
    yield Case("shares-f16", "stream-product", "sm_80", (72, 16384), (16384, 48), dtype=np.float16, tolerance=1e-3)
    yield Case("shares-s8", "stream-product", "sm_75", (64, 16384), (16384, 64), ("s8", "s8"))


# Runs a model with its sizes before its tensors: reads inputs from files, and writes y to a file.
PROGRAM = """#include "net.cu"
#include <stdio.h>
#include <vector>
static std::vector<char> stored(const char *path, size_t bytes) {
  std::vector<char> data(bytes);
  FILE *file = fopen(path, "rb");
  if (!file || fread(data.data(), 1, bytes, file) != bytes) exit(100);
  fclose(file);
  return data;
}
int main(int, char **paths) {
  std::vector<char> y(Y_BYTES);
  net_constants constants;
  net_handle handle;
  net_io io = {};
  SIZES
  io.y = reinterpret_cast<decltype(io.y)>(y.data());
  ingot_status status = net_upload(&constants, nullptr);
  if (status == INGOT_OK) status = net_create(&handle, &constants, nullptr);
  if (status == INGOT_OK) status = net_run(&handle, &io, nullptr);
  FILE *file = fopen(paths[1], "wb");
  if (!file || fwrite(y.data(), 1, y.size(), file) != y.size()) return 100;
  fclose(file);
  return status;
}
"""


def compiled(args, folder, model, options, case):
    """Returns the command that runs a model with the dynamic sizes of its case and writes y.npy."""
    source, program = os.path.join(folder, "main.cpp"), os.path.join(folder, "program")
    subprocess.run([args.ingot, model, *options, "-o", os.path.join(folder, "net.cu"), "--name", "net"], check=True)
    says = "".join(f"io.{name} = {case.x.shape[axis]};" for axis, name in getattr(case, "open", {}).items())
    for name in getattr(case, "inputs", ["x"]):
        array = getattr(case, name)
        array.tofile(os.path.join(folder, name + ".bin"))
        says += f'std::vector<char> {name} = stored("{name}.bin", {array.nbytes}); io.{name} = reinterpret_cast<decltype(io.{name})>({name}.data());'
    with open(source, "w") as file:
        file.write(PROGRAM.replace("SIZES", says).replace("Y_BYTES", str(case.want.astype(case.x.dtype).nbytes)))
    subprocess.run([args.compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-I" + folder, "-I" + EMULATION, source, "-o", program,
                    *glob.glob(os.path.join(folder, "net.*.o"))], check=True)
    npy = f"import numpy as np; np.save('y.npy', np.fromfile('y.bin', np.{case.x.dtype}).reshape({case.want.shape}))"
    return ["sh", "-c", f"cd '{folder}' && ./program y.bin && '{sys.executable}' -c \"{npy}\""]


def save_with_plan(ingot, path, model, options, strategy, numbers):
    """Saves a model's module after `lower`, with this plan for its matmul."""
    subprocess.run([ingot, model, *options, "--stop-after", "lower", "-o", path], check=True)
    with open(path) as file:
        text = file.read()
    plan = ", ".join(f"{key} = {number} : i64" for key, number in sorted(numbers.items()))
    text, edited = re.subn(r'plan = {[^}]*}(.*strategy = )"[\w-]+-product"', rf'plan = {{{plan}}}\g<1>"{strategy}"', text)
    if edited != 1:
        sys.exit(f"{model}: {edited} kernels have a plan")
    with open(path, "w") as file:
        file.write(text)


def planned(args, folder, model, options, case):
    """Returns what compiled() returns, for a model whose kernel of the case's strategy uses its plan."""
    path = os.path.join(folder, "model.mlir")
    save_with_plan(args.ingot, path, model, options, case.strategy, case.plan_numbers)
    return compiled(args, folder, path, [*options, "--start-from", "lower"], case)


def check(cases, description):
    """Runs cases. A case has a name, a strategy, a target, options, a tolerance, an input x, the expected
    result, save(folder) and, optionally, texts that the plan and `inspect` must contain, and dynamic
    sizes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--compiler", default="c++", help="for models whose sizes are left to the run")
    parser.add_argument("--filter", default="")
    parser.add_argument("--every", type=int, default=1, help="a sample: every N-th case")
    args = parser.parse_args()
    failed = 0
    for case in list(cases)[::args.every]:
        if args.filter not in case.name:
            continue
        folder = os.path.join(args.work, case.name)
        os.makedirs(folder, exist_ok=True)
        model = case.save(folder)
        options = ["--target", case.target, *case.options]
        report = subprocess.run([args.ingot, model, *options, "--stop-after", "decide"], capture_output=True, text=True, check=True).stdout
        isTaken = re.search(f'group "{case.strategy}".*{getattr(case, "plan", "")}', report)
        if getattr(case, "says", None):
            said = subprocess.run([args.ingot, "inspect", model, *options], capture_output=True, text=True, check=True).stdout
            isTaken = isTaken and case.says in said
        built = planned if getattr(case, "plan_numbers", None) else compiled if getattr(case, "open", None) else None
        isTaken = isTaken or built is planned
        run = built(args, folder, model, options, case) if built else [
            args.ingot, "run", model, *options, "--output-dir", folder,
            *(f"--input={name}={os.path.join(folder, name + '.npy')}" for name in getattr(case, "inputs", ["x"]))]
        results = []
        for order in ({}, {"EMULATED_GPU_BACKWARDS": "1"}):
            subprocess.run(run, check=True, stdout=subprocess.DEVNULL, env=os.environ | order)
            results.append(np.load(os.path.join(folder, "y.npy")))
        error = np.abs(results[0].astype(np.float64) - case.want).max() / np.abs(case.want).max()
        isSame = results[0].tobytes() == results[1].tobytes()
        isRight = error <= case.tolerance and isSame and isTaken
        failed += not isRight
        print(f"{case.name:<28}{case.strategy if isTaken else 'another strategy':<20}{error:.2e}"
              f"{'' if isSame else '  depends on the order'}{'' if isRight else '  WRONG'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(check(cases(), __doc__))
