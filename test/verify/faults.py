#!/usr/bin/env python3
"""Plants faults, and demands that `ingot verify --per-node` names the node.

    faults.py --ingot PROGRAM [--all]

Three kinds of faults, each in several seeded places:
  weight    a weight of one node differs between two models
  scale     the scale of one quantization differs between two models
  strategy  the generated C++ of one node is wrong: a compiler in the path (this file) changes a number in its kernel
"""
import argparse
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

FLOAT, UINT8 = 1, 2


def layers(model):
    return [node for node in model.graph.node if node.op_type in ("Conv", "Gemm", "MatMul")]


def network(seed, quantized):
    """Returns a network of convolutions, residual sums and a matrix product."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
    random = np.random.default_rng(seed)
    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def rounded(tensor, i, data_scale=0.05):
        if not quantized:
            return tensor
        scale = constant(f"scale{i}", np.float32(data_scale))
        zero = constant(f"zero{i}", np.uint8(128))
        nodes.append(helper.make_node("QuantizeLinear", [tensor, scale, zero], [f"q{i}"], name=f"quantize{i}"))
        nodes.append(helper.make_node("DequantizeLinear", [f"q{i}", scale, zero], [f"d{i}"], name=f"dequantize{i}"))
        return f"d{i}"

    x, channels = rounded("x", 0), 3
    previous = None
    for i in range(1, 6):
        to = 8
        weights = (random.standard_normal((to, channels, 3, 3)) / np.sqrt(9 * channels)).astype(np.float32)
        constant(f"w{i}", weights)
        constant(f"b{i}", random.standard_normal(to).astype(np.float32) / 10)
        nodes.append(helper.make_node("Conv", [x, f"w{i}", f"b{i}"], [f"c{i}"], name=f"conv{i}", pads=[1] * 4))
        nodes.append(helper.make_node("LeakyRelu", [f"c{i}"], [f"r{i}"], name=f"bend{i}", alpha=0.2))
        y = f"r{i}"
        if previous and i % 2:
            nodes.append(helper.make_node("Add", [y, previous], [f"s{i}"], name=f"sum{i}"))
            y = f"s{i}"
        x = previous = rounded(y, i)
        channels = to
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["p"], name="pool"))
    nodes.append(helper.make_node("Flatten", ["p"], ["f"], name="flatten"))
    constant("w6", random.standard_normal((8, 5)).astype(np.float32))
    nodes.append(helper.make_node("MatMul", ["f", "w6"], ["y"], name="last"))
    tensor = lambda name, shape: helper.make_tensor_value_info(name, FLOAT, shape)  # noqa: E731
    graph = helper.make_graph(nodes, "g", [tensor("x", [1, 3, 14, 14])], [tensor("y", [1, 5])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def change(model, name, edit):
    from onnx import numpy_helper
    for tensor in model.graph.initializer:
        if tensor.name == name:
            value = numpy_helper.to_array(tensor).copy()
            tensor.CopyFrom(numpy_helper.from_array(edit(value), name))


def verify(ingot, *arguments, path=None):
    environment = dict(os.environ, PATH=path) if path else None
    reference = [] if "--against" in arguments else ["--python", sys.executable]
    done = subprocess.run([ingot, "verify", *arguments, "--per-node", "--json", *reference], capture_output=True,
                          text=True, env=environment)
    try:
        result = json.loads(done.stdout)
        return done.returncode, result if isinstance(result, dict) else {}, done.stderr
    except json.JSONDecodeError:
        return done.returncode, {}, done.stderr or done.stdout


def break_kernel(source, node):
    """Adds an error to the first kernel of a node: its comment names the node."""
    lines = source.split("\n")
    for i, line in enumerate(lines):
        if not re.match(rf"// (.*, )?{node}(,|:)", line):
            continue
        # The kernel ends at the next empty line in column 1 after its function began.
        for j in range(i, len(lines)):
            store = re.match(r"(\s+)(.*\b(?:at_\w+|store\w*)\(.*\) = )(.*);$", lines[j]) or \
                re.match(r"(\s+)(\w+\[.*\] = )(.*);$", lines[j])
            if store:
                lines[j] = f"{store[1]}{store[2]}({store[3]}) * 1.25f;"
                return "\n".join(lines)
            if lines[j] == "}" and j > i:
                break
    return source


def act_as_compiler(arguments):
    """Stands for the compiler: breaks the kernel of a node, then calls the real compiler."""
    with open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "fault.json")) as file:
        fault = json.load(file)
    for argument in arguments:
        if argument.endswith(".cpp") and os.path.exists(argument):
            with open(argument) as file:
                source = file.read()
            # Breaks only the code with vectors. The code for `generic` stays right, so `verify`
            # must name the way in which the loops are built (the strategy) as the cause.
            if "for generic" not in source.split("\n")[0]:
                broken = break_kernel(source, fault["node"])
                if broken == source:
                    print("no kernel of the node", file=sys.stderr)
                with open(argument, "w") as file:
                    file.write(broken)
    compiler = fault["compilers"][os.path.basename(sys.argv[0])]
    os.execv(compiler, [compiler, *arguments])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    import numpy as np
    import onnx
    failures = count = 0

    def judge(what, node, code, result, log, cause):
        nonlocal failures, count
        count += 1
        found = result.get("first_wrong", {})
        good = code == 4 and found.get("node") == node and cause in found.get("cause", "")
        failures += not good
        print(f"{what}: {'ok' if good else 'WRONG'}: found {found.get('node')}, expected {node}; cause: {found.get('cause')}" +
              ("" if good else f"; exit code {code}: {log.strip()[-600:]}"), flush=True)

    kinds = ([("weight", i) for i in range(1, 7)] + [("scale", i) for i in range(7)] + [("strategy", i) for i in range(7)]
             if args.all else [("weight", 3), ("scale", 2), ("strategy", 1)])
    for kind, i in kinds:
        with tempfile.TemporaryDirectory() as folder:
            good, bad = os.path.join(folder, "good.onnx"), os.path.join(folder, "bad.onnx")
            seed = 100 + count
            random = np.random.default_rng(seed)
            if kind == "weight":
                model = network(seed, quantized=i % 2 == 0)
                onnx.save(model, good)
                place = random.integers(0, 8)
                change(model, f"w{i}", lambda w: w + (np.arange(w.size).reshape(w.shape) % 8 == place).astype(w.dtype) * 0.3)
                onnx.save(model, bad)
                result = verify(args.ingot, bad, "--against", good)
                judge(f"weight {i}", f"conv{i}" if i < 6 else "last", *result, f"constant `w{i}`")
            elif kind == "scale":
                model = network(seed, quantized=True)
                i = i % 6
                onnx.save(model, good)
                change(model, f"scale{i}", lambda s: np.asarray(s * random.uniform(1.5, 2), s.dtype))
                onnx.save(model, bad)
                result = verify(args.ingot, bad, "--against", good)
                judge(f"scale {i}", f"quantize{i}", *result, f"constant `scale{i}`")
            else:
                model = network(seed, quantized=False)
                onnx.save(model, good)
                # conv2 to conv5 have equal shapes, so they share a kernel: conv2 is the first of them that is wrong.
                node = ["conv1", "conv2", "last", "conv1", "conv2", "last", "conv1"][i]
                compilers = {c: shutil.which(c) for c in ("g++", "clang++", "clang++-22") if shutil.which(c)}
                with open(os.path.join(folder, "fault.json"), "w") as file:
                    json.dump({"node": node, "compilers": compilers}, file)
                for compiler in compilers:
                    wrapper = os.path.join(folder, compiler)
                    with open(wrapper, "w") as file:
                        file.write(f"#!{sys.executable}\nimport sys\nsys.dont_write_bytecode = True\n"
                                   f"sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
                                   "import faults\nfaults.act_as_compiler(sys.argv[1:])\n")
                    os.chmod(wrapper, os.stat(wrapper).st_mode | stat.S_IXUSR)
                result = verify(args.ingot, good, path=folder + os.pathsep + os.environ["PATH"])
                judge(f"strategy of {node}", node, *result, "strategy")
    print(f"{count} faults, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
