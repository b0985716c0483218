#!/usr/bin/env python3
"""Compiles networks for each NVIDIA GPU with nvcc: without a warning, and without a spill.

    cuda_compiles.py --ingot PROGRAM --work DIR [--targets sm_80,sm_90a] [--networks NAME,...]

Prints the time and the size of each object, and the most registers that one of its
kernels takes. Compiles several files as one translation unit. Then looks for the
instructions that each strategy is there for: in PTX, and with nvdisasm (pip's
nvidia-cuda-nvdisasm, or NVIDIA's toolkit) in the machine's own.
Ends with 77 (skipped) where nvcc is not installed.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "networks"))
from run import find_model  # noqa: E402
sys.path.insert(0, HERE)
from cuda_attention import Case as Attention  # noqa: E402
from cuda_products import save_with_plan  # noqa: E402

EXAMPLE = os.path.join(HERE, "..", "..", "examples", "mnist", "model.onnx")
TARGETS = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a"]
NETWORKS = ["mnist", "decisions", "tiny_ds_cnn_kws", "tiny_resnet8_cifar", "tiny_resnet8_cifar_int8"]
WARNINGS = ["-Xcompiler", "-Wall,-Wextra", "--Werror", "all-warnings"]


def find_nvcc():
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def find_nvdisasm():
    installed = glob.glob(os.path.join(sysconfig.get_path("purelib"), "nvidia", "*", "bin", "nvdisasm"))
    return shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm") or next(iter(installed), None)


def code_for(target):
    """Returns the nvcc flag that compiles for exactly this target; -arch=sm_90a would also compile for
    sm_90."""
    return f"-gencode=arch={target.replace('sm', 'compute')},code={target}"


def compile_with(nvcc, source, target):
    """Returns nvcc's report of registers; ends the test if there is a warning or an error."""
    done = subprocess.run(
        [nvcc, "-std=c++17", "-O2", code_for(target), *WARNINGS, "-Xptxas", "-v", "-c", source, "-o", source + ".o"],
        capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode:
        sys.exit(f"{source} does not compile for {target}:\n{said}")
    return said


def save_node(work, name, node, inputs, output, weights=None, dtype=np.float32):
    """Returns the path of a model with one node; `weights` are (name, shape) of a constant."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    tensors = [helper.make_tensor_value_info(n, element, shape) for n, shape in inputs]
    constants = []
    if weights:
        array = np.random.default_rng(1).standard_normal(weights[1], dtype=np.float32)
        constants.append(numpy_helper.from_array(array.astype(dtype), weights[0]))
    result = onnx.TensorProto.INT32 if node.op_type == "MatMulInteger" else element
    graph = helper.make_graph([node], name, tensors,
                              [helper.make_tensor_value_info("y", result, output)], constants)
    path = os.path.join(work, name + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def save_decisions(work):
    """Returns a model with data-dependent decisions: a count of elements, a branch, and a trip count."""
    def info(name, shape=(), element=onnx.TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, element, list(shape))

    def branch(op, inputs):
        return helper.make_graph([helper.make_node(op, inputs, [op])], op, [], [info(op, [4, 8])])

    body = helper.make_graph(
        [helper.make_node("Add", ["h", "x"], ["h_next"]), helper.make_node("ReduceSum", ["h_next"], ["sum"], keepdims=0),
         helper.make_node("Less", ["sum", "large"], ["more_next"])], "body",
        [info("i", element=onnx.TensorProto.INT64), info("more", element=onnx.TensorProto.BOOL), info("h", [4, 8])],
        [info("more_next", element=onnx.TensorProto.BOOL), info("h_next", [4, 8])])
    nodes = [
        helper.make_node("Less", ["x", "half"], ["small"]), helper.make_node("NonZero", ["small"], ["at"]),
        helper.make_node("Transpose", ["at"], ["places"], perm=[1, 0]), helper.make_node("GatherND", ["x", "places"], ["found"]),
        helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0), helper.make_node("Less", ["most", "half"], ["all_small"]),
        helper.make_node("If", ["all_small"], ["y"], then_branch=branch("MatMul", ["x", "w"]), else_branch=branch("Neg", ["x"])),
        helper.make_node("Size", ["found"], ["count"]), helper.make_node("Loop", ["count", "", "y"], ["z"], body=body)]
    values = {"half": np.float32(0.5), "large": np.float32(100), "w": np.eye(8, dtype=np.float32)}
    graph = helper.make_graph(nodes, "decisions", [info("x", [4, 8])], [info("found", ["found_count"]), info("z", [4, 8])],
                              [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()])
    path = os.path.join(work, "decisions.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def path_of(network, work):
    """Returns the path of a network by its name; "mnist" and "decisions" are not in test/networks."""
    return EXAMPLE if network == "mnist" else save_decisions(work) if network == "decisions" else find_model(network, work)[0]


# The instructions that each strategy (a way to build the loops of a kernel) must use: name, model,
# instructions that its kernel must contain in PTX and in machine code, and options of the compiler.
def instruction_cases(work):
    tile = [r"st\.shared\.f32", r"bar\.sync", r"ld\.shared\.v[24]\.f32", r"fma\.rn\.f32"]
    exact = ["STS", r"LDS\.(64|128)", "FFMA"]
    yield "product", save_node(work, "product", helper.make_node("MatMul", ["x", "w"], ["y"]),
                               [("x", [256, 192])], [256, 320], ("w", [192, 320])), tile, exact
    yield "convolution", save_node(work, "convolution",
                                   helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1]),
                                   [("x", [1, 32, 28, 28])], [1, 64, 28, 28], ("w", [64, 32, 3, 3])), tile, exact
    yield "rows", save_node(work, "rows", helper.make_node("MatMul", ["x", "w"], ["y"]),
                            [("x", [2, 512])], [2, 320], ("w", [512, 320])), [
                                r"ld\.global(\.nc)?\.v4\.f32", r"shfl\.sync\.bfly"], [r"LDG\.E\.128", r"SHFL\.BFLY"]
    yield "rows_computed", save_node(work, "rows_computed", helper.make_node("MatMul", ["x", "w"], ["y"]),
                                     [("x", [8, 1, 64]), ("w", [8, 64, 128])], [8, 1, 128]), [
                                         r"ld\.global", r"ld\.shared"], ["LDG", "LDS", "FFMA"]
    exchange = [r"shfl\.sync\.bfly"], [r"SHFL\.BFLY"]
    yield "reduction", save_node(work, "reduction", helper.make_node("ReduceMean", ["x"], ["y"], axes=[1]),
                                 [("x", [64, 1024])], [64, 1]), *exchange
    yield "columns", save_node(work, "columns", helper.make_node("ReduceMean", ["x"], ["y"], axes=[1, 2]),
                               [("x", [1, 112, 112, 32])], [1, 1, 1, 32]), [r"ld\.global(\.nc)?\.f32", r"bar\.sync", r"atom(\.\w+)*\.add"], [
                                   "LDG", "STS", "LDS", "ATOM"]
    yield "softmax", save_node(work, "softmax", helper.make_node("Softmax", ["x"], ["y"]),
                               [("x", [64, 128])], [64, 128]), *exchange
    ahead = [r"cp\.async\.cg\.shared\.global", r"cp\.async\.wait_group", r"ldmatrix\.sync\.aligned\.m8n8\.x4\.shared"]
    units = [r"LDGSTS\.E\.BYPASS(\.\w+)*\.128", r"LDSM\.16\.M88\.4"]
    for name, dtype, kind in ("f16", np.float16, r"HMMA\.16816\.F32 "), ("bf16", ml_dtypes.bfloat16, r"HMMA\.16816\.F32\.BF16"):
        yield name + "_product", save_node(
            work, name + "_product", helper.make_node("MatMul", ["x", "w"], ["y"]),
            [("x", [256, 192])], [256, 320], ("w", [192, 320]), dtype), [
                *ahead, rf"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.{name}\.{name}\.f32"], [*units, kind]
    yield "f16_computed", save_node(
        work, "f16_computed", helper.make_node("MatMul", ["x", "k"], ["y"]), [("x", [4, 96, 64]), ("k", [4, 64, 96])],
        [4, 96, 96], dtype=np.float16), [*ahead, r"ldmatrix\.sync\.aligned\.m8n8\.x4\.trans\.shared"], [
            *units, r"LDSM\.16\.MT88\.4", r"HMMA\.16816\.F32 "]
    yield "f16_convolution", save_node(
        work, "f16_convolution", helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1]),
        [("x", [1, 32, 28, 28])], [1, 64, 28, 28], ("w", [64, 32, 3, 3]), np.float16), [
            *ahead, r"mma\.sync.*f16"], [*units, r"HMMA\.16816\.F32 "]
    # Operands of f32, which --fast=tf32 rounds.
    yield "tf32_product", save_node(work, "tf32_product", helper.make_node("MatMul", ["x", "w"], ["y"]),
                                    [("x", [256, 192])], [256, 320], ("w", [192, 320])), [
                                        *ahead, r"mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.tf32\.tf32\.f32"], [
                                            *units, r"HMMA\.1688\.F32\.TF32"], "--fast=tf32"
    yield "bf16_of_f32", save_node(work, "bf16_of_f32", helper.make_node("MatMul", ["x", "w"], ["y"]),
                                   [("x", [256, 192])], [256, 320], ("w", [192, 320])), [
                                       *ahead, r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.bf16\.bf16\.f32"], [
                                           *units, r"HMMA\.16816\.F32\.BF16"], "--fast=bf16"
    yield "f32_slices", save_node(work, "f32_slices", helper.make_node("MatMul", ["x", "w"], ["y"]), [("x", [49, 960])],
                                  [49, 160], ("w", [960, 160])), [r"st\.shared", r"ld\.shared\.v2\.f32"], exact
    yield "f16_slices", save_node(
        work, "f16_slices", helper.make_node("MatMul", ["x", "w"], ["y"]), [("x", [64, 2048])], [64, 96],
        ("w", [2048, 96]), np.float16), [*ahead, r"st\.shared"], [*units, r"HMMA\.16816\.F32 ", "STS"]
    yield "f16_groups", save_node(
        work, "f16_groups", helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], group=4),
        [("x", [1, 128, 28, 28])], [1, 128, 28, 28], ("w", [128, 32, 3, 3]), np.float16), [
            *ahead, r"mma\.sync.*f16"], [*units, r"HMMA\.16816\.F32 "]
    yield "f16_shares", save_node(
        work, "f16_shares", helper.make_node("MatMul", ["x", "w"], ["y"]), [("x", [72, 32768])], [72, 64],
        ("w", [32768, 64]), np.float16), [*ahead, r"atom(\.\w+)*\.add", r"membar\.gl|fence\.\w+"], [*units, r"HMMA\.16816\.F32 ", "ATOM", "MEMBAR"]
    yield "s8_product", save_node(
        work, "s8_product", helper.make_node("MatMulInteger", ["x", "w"], ["y"]),
        [("x", [256, 192])], [256, 320], ("w", [192, 320]), np.int8), [
            *ahead, r"mma\.sync\.aligned\.m16n8k32\.row\.col\.s32\.s8\.s8\.s32"], [*units, r"IMMA\.16832\.S8\.S8"]


    yield "depthwise", save_node(work, "depthwise", helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], group=64),
                                 [("x", [1, 64, 120, 120])], [1, 64, 120, 120], ("w", [64, 1, 3, 3])), [
                                     r"ld\.global(\.nc)?\.v4\.f32", r"fma\.rn\.f32"], [r"LDG\.E\.128", "FFMA", r"STG\.E\.128"]

    def save_attention(name, kind, *sizes):
        folder = os.path.join(work, name)
        os.makedirs(folder, exist_ok=True)
        return Attention(name, "", kind, *sizes, stored=True).save(folder)[0]

    for kind, product in (("f16", r"HMMA\.16816\.F32 "), ("bf16", r"HMMA\.16816\.F32\.BF16"), ("tf32", r"HMMA\.1688\.F32\.TF32")):
        name = kind + "_attention"
        values = [] if kind == "tf32" else [r"ldmatrix\.sync\.aligned\.m8n8\.x4\.trans\.shared"], [] if kind == "tf32" else [r"LDSM\.16\.MT88\.4"]
        # Keys and values are rounded to bf16 and tf32 when they are loaded, a vector at a time.
        copies = ([ahead[0]], [units[0]]) if kind == "f16" else ([r"st\.shared\.v4"], [r"STS\.128"])
        yield name, save_attention(name, kind, 64, 128, 64), [
            *copies[0], *values[0], rf"mma\.sync.*\.{kind}\.f32", r"shfl\.sync\.bfly"], [
                *copies[1], *values[1], "LDSM", product, r"SHFL\.BFLY"], *([f"--fast={kind}"] if kind != "f16" else [])
    yield "f32_attention", save_attention("f32_attention", "f32", 64, 128, 64), [
        r"ld\.shared\.v[24]\.f32", r"fma\.rn\.f32", r"shfl\.sync\.bfly"], [r"LDS\.(64|128)", "FFMA", r"SHFL\.BFLY"]
    yield "row_attention", save_attention("row_attention", "f32", 1, 256, 64), [
        r"ld\.global(\.nc)?\.v4\.f32", r"shfl\.sync\.bfly"], [r"LDG\.E\.128", r"SHFL\.BFLY", "FFMA"]


# Cases for the strategies (ways to build kernels) that need Hopper, in the form of
# instruction_cases.
def hopper_cases(work):
    tiles = [r"cp\.async\.bulk\.tensor\.[25]d\.shared::cluster\.global\.tile", r"mbarrier\.try_wait\.parity", r"mbarrier\.arrive\.expect_tx"]
    units = [r"UTMALDG\.[25]D", r"SYNCS\.PHASECHK\.TRANS64\.TRYWAIT", "ACQBULK", "PREEXIT"]
    product = lambda shape, name: (name, helper.make_node("MatMul", ["x", "w"], ["y"]),
                                   [("x", [shape[0], shape[1]])], [shape[0], shape[2]], ("w", [shape[1], shape[2]]))
    for name, dtype, kind in ("f16", np.float16, r"HGMMA\.64x\d+x16\.F32 "), ("bf16", ml_dtypes.bfloat16, r"HGMMA\.64x\d+x16\.F32\.BF16"):
        yield name + "_warpgroups", save_node(work, *product([520, 520, 328], name + "_warpgroups"), dtype), [
            *tiles, rf"wgmma\.mma_async\.sync\.aligned\.m64n\d+k16\.f32\.{name}\.{name}"], [*units, kind]
    yield "tf32_warpgroups", save_node(work, *product([512, 256, 512], "tf32_warpgroups")), [
        *tiles, r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k8\.f32\.tf32\.tf32"], [*units, r"HGMMA\.64x\d+x8\.F32\.TF32"], "--fast=tf32"
    yield "s8_warpgroups", save_node(
        work, "s8_warpgroups", helper.make_node("MatMulInteger", ["x", "w"], ["y"]), [("x", [512, 1024])], [512, 320],
        ("w", [1024, 320]), np.int8), [*tiles, r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k32\.s32\.s8\.s8"], [
            *units, r"IGMMA\.64x\d+x32\.S8\.S8"]
    yield "f8_warpgroups", save_bytes_of_floats(work, "f8_warpgroups", [512, 1024, 320]), [
        *tiles, r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k32\.f32\.e4m3\.e4m3"], [*units, r"QGMMA\.64x\d+x32\.F32\.E4M3\.E4M3"]
    for kind, instruction in (("f16", r"HGMMA\.64x\d+x16\.F32 "), ("bf16", r"HGMMA\.64x\d+x16\.F32\.BF16")):
        name = kind + "_warpgroup_attention"
        os.makedirs(os.path.join(work, name), exist_ok=True)
        yield name, Attention(name, "", kind, 512, 700, 64, heads=8, stored=True).save(os.path.join(work, name))[0], [
            r"cp\.async\.bulk\.tensor\.\dd\.shared::cluster\.global\.tile",
            rf"wgmma\.mma_async\.sync\.aligned\.m64n64k16\.f32\.{kind}\.{kind}", r"ex2\.approx\.ftz\.f32"], [
                r"UTMALDG\.\dD", instruction, r"MUFU\.EX2", r"FMNMX", r"SHFL\.BFLY"], *([f"--fast={kind}"] if kind != "f16" else [])
    # A matmul with a row-major right operand that is not constant, and with one matrix per batch.
    yield "operands_warpgroups", save_node(work, "operands_warpgroups", helper.make_node("MatMul", ["x", "w"], ["y"]), [
        ("x", [2, 264, 512]), ("w", [2, 512, 328])], [2, 264, 328], None, np.float16), [
            r"cp\.async\.bulk\.tensor\.3d\.shared::cluster\.global\.tile", r"wgmma\.mma_async\.sync\.aligned\.m64n\d+k16\.f32\.f16\.f16"], [
                r"UTMALDG\.3D", r"HGMMA\.64x\d+x16\.F32 .*tnspB"]
    # Matmuls by blocks of a cluster that load tiles for each other.
    for name, dtype, shape in ("clusters", np.float16, [2048, 1032, 1024]), ("clusters_turned", ml_dtypes.bfloat16, [2048, 1032, 1024]):
        node, tensors, result, weights = product(shape, name)[1:]
        if name == "clusters_turned":
            tensors, weights = [*tensors, weights], None
        yield name, save_node(work, name, node, tensors, result, weights, dtype), [
            r"cp\.async\.bulk\.tensor\.[25]d\.shared::cluster\.global\.tile\.mbarrier::complete_tx::bytes\.multicast::cluster",
            r"mapa\.shared::cluster", r"mbarrier\.arrive\.shared::cluster", r"barrier\.cluster\.wait"], [
                r"UTMALDG\.[25]D\.MULTICAST", "UCGABAR_WAIT", r"SYNCS\.ARRIVE\.TRANS64\.RED\.A1T0", "HGMMA"], {
                    "below": 2, "rows": 128, "columns": 256, "groups": 2, "slices": 1, "resident": 1, "stages": 4}
    # A matmul by blocks of a cluster that divide the K tiles of an output tile.
    yield "behind", save_node(work, *product([128, 3072, 768], "behind"), np.float16), [
        *tiles, r"barrier\.cluster\.arrive\.relaxed", r"mapa\.shared::cluster", r"st\.async\.weak\.shared::cluster"], [
            *units, "UCGABAR_WAIT", "STAS", "HGMMA"], {"behind": 4, "rows": 128, "columns": 128, "groups": 2, "slices": 1, "resident": 1, "stages": 4}
    yield "windows", save_node(
        work, "windows", helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], strides=[2, 2]),
        [("x", [4, 64, 31, 31])], [4, 128, 16, 16], ("w", [128, 64, 3, 3]), np.float16), [
            *tiles, r"cp\.async\.bulk\.tensor\.4d\.shared::cluster\.global\.im2col"], [
                *units, r"UTMALDG\.4D\.IM2COL", r"HGMMA\.64x\d+x16\.F32 "]


# Saves a matmul [m, k] x [k, n] of 8-bit floats, the left ones created by QuantizeLinear; returns
# the path of the model.
def save_bytes_of_floats(work, name, sizes):
    m, k, n = sizes
    stored = np.random.default_rng(1).standard_normal((k, n), dtype=np.float32).astype(ml_dtypes.float8_e4m3fn)
    kind = onnx.TensorProto.FLOAT8E4M3FN
    constants = [helper.make_tensor("stored", kind, [k, n], stored.tobytes(), raw=True), helper.make_tensor("zero", kind, [], bytes(1), raw=True),
                 numpy_helper.from_array(np.float32(0.1), "scale")]
    nodes = [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
             *(helper.make_node("DequantizeLinear", [source, "scale", "zero"], [to]) for source, to in (("q", "d"), ("stored", "w"))),
             helper.make_node("MatMul", ["d", "w"], ["y"])]
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [m, k])],
                              [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [m, n])], constants)
    path = os.path.join(work, name + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), path)
    return path


def ada_cases(work):
    yield "f8_product", save_bytes_of_floats(work, "f8_product", [256, 192, 320]), [
        r"cp\.async\.cg\.shared\.global", r"ldmatrix\.sync\.aligned\.m8n8\.x4\.shared",
        r"mma\.sync\.aligned\.m16n8k32\.row\.col\.f32\.e4m3\.e4m3\.f32"], [r"LDGSTS\.E\.BYPASS(\.\w+)*\.128", r"LDSM\.16\.M88\.4", r"QMMA\.16832\.F32\.E4M3\.E4M3"]


def all_cases(work):
    """Yields each case with its target."""
    for target, cases in ("sm_80", instruction_cases), ("sm_89", ada_cases), ("sm_90a", hopper_cases):
        for case in cases(work):
            yield target, *case


def with_own_plan(ingot, work, target, name, model, options):
    """Returns the model and the options of a case. If the last option is a plan for its matmul, the model
    is the module with its kernels, and options include the stage to start from."""
    if not options or not isinstance(options[-1], dict):
        return model, options
    path, plan = os.path.join(work, name + ".mlir"), options[-1]
    save_with_plan(ingot, path, model, ["--target", target, *options[:-1]], "warpgroup-product", plan)
    return path, [*options[:-1], "--start-from", "lower"]


def missing_instructions(ingot, nvcc, work):
    missing, nvdisasm = [], find_nvdisasm()
    if not nvdisasm:
        print("nvdisasm is not installed: PTX alone is looked at")
    for target, name, model, in_ptx, on_machine, *options in all_cases(work):
        source, ptx, cubin = (os.path.join(work, name + ending) for ending in (".cu", ".ptx", ".cubin"))
        model, options = with_own_plan(ingot, work, target, name, model, options)
        subprocess.run([ingot, model, "-o", source, "--target", target, *options], check=True)
        compiler = [nvcc, "-std=c++17", "-O2", source]
        virtual = target.replace("sm", "compute")
        subprocess.run([*compiler, f"-gencode=arch={virtual},code={virtual}", "-ptx", "-o", ptx], check=True)
        with open(ptx) as file:
            looks = [(file.read(), in_ptx)]
        if nvdisasm:
            subprocess.run([*compiler, code_for(target), "-cubin", "-o", cubin], check=True)
            text = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
            looks.append((text, on_machine))
        for text, patterns in looks:
            counts = {pattern: len(re.findall(pattern, text)) for pattern in patterns}
            print(f"{name:<18}" + ", ".join(f"{count} x {pattern}" for pattern, count in counts.items()).replace("\\", ""))
            missing += [f"{name}: no {pattern}" for pattern, count in counts.items() if not count]
    return missing


def compile_together(args, nvcc):
    """Compiles several generated files, of one and of several targets, as one translation unit."""
    for target in args.targets.split(","):
        text = macros = ""
        for number, (network, targets) in enumerate([("mnist", target), ("decisions", target), ("mnist", "sm_75," + target), ("mnist", target)]):
            if targets == "sm_75,sm_75":
                continue
            source = os.path.join(args.work, f"together_{number}.cu")
            subprocess.run([args.ingot, path_of(network, args.work), "-o", source, "--target", targets, "--name", f"net_{number}", "--force"],
                           check=True)
            text += f'#include "{os.path.basename(source)}"\n'
            with open(source) as file:
                for macro in sorted(set(re.findall(r"^ *#define (\w+)", file.read(), re.M))):
                    macros += f'#ifdef {macro}\n#error "{macro} is left"\n#endif\n'
        source = os.path.join(args.work, f"together_{target}.cu")
        with open(source, "w") as file:
            file.write(text + macros)
        compile_with(nvcc, source, target)
    print("several files are one translation unit", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--networks", default=",".join(NETWORKS))
    args = parser.parse_args()
    nvcc = find_nvcc()
    if not nvcc:
        print("skipped: nvcc is not installed")
        return 77
    os.makedirs(args.work, exist_ok=True)
    spills = []
    for network in args.networks.split(","):
        model = path_of(network, args.work)
        for target in args.targets.split(","):
            source = os.path.join(args.work, f"{network}_{target}.cu")
            subprocess.run([args.ingot, model, "-o", source, "--target", target, "--name", "net"], check=True)
            begin = time.time()
            said = compile_with(nvcc, source, target)
            registers = max(map(int, re.findall(r"Used (\d+) registers", said)), default=0)
            spilled = [line for line in said.splitlines()
                       if re.search(r"spill", line) and not re.search(r" 0 bytes spill stores, 0 bytes spill", line)]
            print(f"{network:<22}{target:<8}{os.path.getsize(source + '.o') / 1024:8.0f} KB "
                  f"{time.time() - begin:6.1f} s  {registers:3} registers", flush=True)
            spills += [f"{network} {target}: {line.strip()}" for line in spilled]
    compile_together(args, nvcc)
    missing = missing_instructions(args.ingot, nvcc, args.work)
    for title, complaints in (("spills:", spills), ("missing:", missing)):
        if complaints:
            print(title, *complaints, sep="\n  ")
    return 1 if spills or missing else 0


if __name__ == "__main__":
    sys.exit(main())
