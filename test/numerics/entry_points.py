"""Several functions in one output, and memory that lives from run to run, beside ONNX Runtime.

    entry_points.py --ingot INGOT

A decoder with a cache is compiled once with a function for a prompt and one for a token, which share
weights and state; filters and a recurrence are run step by step, with their state in the generated
code's hands. ONNX Runtime is given by hand what the state has to be.
"""
import argparse
import ctypes
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

STATUS = {"ok": 0, "null": 1, "alignment": 2, "shape": 6}
COMPILERS = ["g++", "clang++-22"]
WARNINGS = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
rng = np.random.default_rng(29)
failures = []


def model(nodes, weights, inputs, outputs):
    """Returns a model of float tensors; inputs and outputs are pairs of a name and a shape."""
    def info(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    initializers = [numpy_helper.from_array(np.asarray(value, np.int64 if np.asarray(value).dtype.kind == "i" else np.float32), name)
                    for name, value in weights.items()]
    graph = helper.make_graph(nodes, "network", [info(*each) for each in inputs], [info(*each) for each in outputs], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def decoder():
    node = helper.make_node
    return model(
        [node("MatMul", ["x", "wk"], ["k"]), node("Concat", ["past", "k"], ["present"], axis=1), node("MatMul", ["x", "wq"], ["q"]),
         node("Transpose", ["present"], ["turned"], perm=[0, 2, 1]), node("MatMul", ["q", "turned"], ["scores"]),
         node("Softmax", ["scores"], ["shares"], axis=-1), node("MatMul", ["shares", "present"], ["y"])],
        {"wk": rng.standard_normal((8, 16)) / 3, "wq": rng.standard_normal((8, 16)) / 3},
        [("x", [1, "seq", 8]), ("past", [1, "past", 16])], [("y", [1, "seq", 16]), ("present", [1, "total", 16])])


def decoder_of_heads():
    """Three heads of 16 elements, with a cache for keys and one for values, [1, 3, past, 16]."""
    node = helper.make_node
    nodes = []
    for name in "qkv":
        nodes += [node("MatMul", ["x", "w" + name], [name + "_flat"]), node("Reshape", [name + "_flat", "split"], [name + "_apart"]),
                  node("Transpose", [name + "_apart"], [name], perm=[0, 2, 1, 3])]
    nodes += [node("Concat", ["keys", "k"], ["all_keys"], axis=2), node("Concat", ["values", "v"], ["all_values"], axis=2),
              node("Transpose", ["all_keys"], ["turned"], perm=[0, 1, 3, 2]), node("MatMul", ["q", "turned"], ["products"]),
              node("Mul", ["products", "scale"], ["scores"]), node("Softmax", ["scores"], ["shares"], axis=-1),
              node("MatMul", ["shares", "all_values"], ["heads"]), node("Transpose", ["heads"], ["joined"], perm=[0, 2, 1, 3]),
              node("Reshape", ["joined", "flat"], ["y"])]
    weights = {"w" + name: rng.standard_normal((8, 48)) / 3 for name in "qkv"}
    weights.update(split=np.array([1, -1, 3, 16]), flat=np.array([1, -1, 48]), scale=np.float32(0.25))
    caches = [(name, [1, 3, "past", 16]) for name in ("keys", "values")]
    return model(nodes, weights, [("x", [1, "seq", 8]), *caches],
                 [("y", [1, "seq", 48]), *(("all_" + name, [1, 3, "total", 16]) for name, _ in caches)])


def streamed_filter():
    """The input is appended to the previous samples; the last three samples are kept."""
    node = helper.make_node
    return model(
        [node("Concat", ["before", "x"], ["all"], axis=2), node("Conv", ["all", "w", "b"], ["c"]), node("Relu", ["c"], ["y"]),
         node("Slice", ["all", "from", "to", "axes"], ["after"])],
        {"w": rng.standard_normal((5, 4, 4)), "b": rng.standard_normal(5), "from": np.array([-3]), "to": np.array([1 << 40]), "axes": np.array([2])},
        [("x", [1, 4, 8]), ("before", [1, 4, 3])], [("y", [1, 5, 8]), ("after", [1, 4, 3])])


def counter():
    """An accumulator whose sum is read after it was written."""
    node = helper.make_node
    return model([node("Add", ["sum", "x"], ["next"]), node("Mul", ["next", "half"], ["y"])], {"half": np.float32(0.5)},
                 [("x", [3, 5]), ("sum", [3, 5])], [("y", [3, 5]), ("next", [3, 5])])


def recurrence():
    node = helper.make_node
    return model(
        [node("GRU", ["x", "w", "r", "b", "", "h"], ["steps", "last"], hidden_size=6, linear_before_reset=1)],
        {"w": rng.standard_normal((1, 18, 4)), "r": rng.standard_normal((1, 18, 6)) / 2, "b": rng.standard_normal((1, 36))},
        [("x", [2, 1, 4]), ("h", [1, 1, 6])], [("steps", [2, 1, 1, 6]), ("last", [1, 1, 6])])


class Library:
    """The output of `ingot` for a model with `options`, compiled by the system's compilers and loaded."""

    count = 0
    extension = ".cpp"

    def __init__(self, ingot, folder, name, onnx_model, options, compiler="g++"):
        path = os.path.join(folder, name + ".onnx")
        onnx.save(onnx_model, path)
        source = os.path.join(folder, name + self.extension)
        run([ingot, path, "-o", source, *options])
        with open(os.path.join(folder, name + ".h")) as file:
            self.header = file.read()
        objects = [each for each in [os.path.join(folder, name + ".weights.o")] if os.path.exists(each)]
        # A loaded library cannot be replaced, so each one has a new name.
        Library.count += 1
        library = os.path.join(folder, f"{name}{Library.count}.so")
        run([compiler, *WARNINGS, "-shared", "-fPIC", *self.as_source(source), *objects, "-o", library])
        run(["gcc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c", os.path.join(folder, name + ".h")])
        self.name, self.code = name, ctypes.CDLL(library)
        self.start()

    def as_source(self, path):
        return [path]

    def start(self):
        self.state = self.aligned(self.macro("STATE_BYTES", 0))

    def macro(self, suffix, default=None):
        found = re.search(rf"#define {self.name.upper()}_{suffix} (\d+)u?\n", self.header)
        return int(found.group(1)) if found else default

    @staticmethod
    def aligned(count):
        memory = np.zeros(count + 192, np.uint8)
        start = -memory.ctypes.data % 128
        return memory[start:start + count]

    def fields(self, prefix):
        text = re.search(rf"typedef struct {prefix}_io {{\n(.*?)}} {prefix}_io;", self.header, re.S).group(1)
        return re.findall(r"^  (?:const )?(ptrdiff_t|int32_t|void|float) (\*?)(\w+);", text, re.M)

    def run(self, entry, outputs, **values):
        """Calls an entry function with the inputs and sizes `values`. Returns its status, and its outputs, whose
        shapes are given by name."""
        prefix = self.name + ("_" + entry if entry else "")
        results = {key: np.full(shape, np.nan, np.float32) for key, shape in outputs.items()}
        given = {key: np.ascontiguousarray(value, np.float32) if isinstance(value, np.ndarray) else value for key, value in values.items()}
        fields = self.fields(prefix)

        class Io(ctypes.Structure):
            _fields_ = [(name, ctypes.c_void_p if star else ctypes.c_int32 if kind == "int32_t" else ctypes.c_ssize_t)
                        for kind, star, name in fields]

        io = Io()
        for _, star, name in fields:
            value = self.state if name == "state" else results.get(name, given.get(name, 0))
            setattr(io, name, value.ctypes.data if isinstance(value, np.ndarray) else value)
        return self.call(getattr(self.code, prefix + "_run"), ctypes.byref(io), entry), results

    def call(self, function, io, entry):
        arena = self.aligned(self.macro((entry.upper() + "_" if entry else "") + "ARENA_BYTES"))
        return function(io, ctypes.c_void_p(arena.ctypes.data), None)

    def value(self, state, count):
        function = getattr(self.code, f"{self.name}_{state}_state")
        function.restype = ctypes.POINTER(ctypes.c_float)
        return np.ctypeslib.as_array(function(ctypes.c_void_p(self.state.ctypes.data)), (count,))


class DeviceLibrary(Library):
    """The output of `ingot` for a GPU, compiled for an emulated GPU, whose memory is the host's. The caller
    passes a handle instead of the state."""

    extension = ".cu"

    def as_source(self, path):
        emulation = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "targets", "cuda", "emulation")
        as_cpp = os.path.splitext(path)[0] + ".cpp"
        os.replace(path, as_cpp)
        return ["-I" + emulation, as_cpp]

    def start(self):
        self.state, self.constants = self.aligned(1 << 16), self.aligned(256)
        for function, *objects in (("upload", self.constants), ("create", self.state, self.constants)):
            status = self.function(function)(*(ctypes.c_void_p(each.ctypes.data) for each in objects), None)
            expect(f"{self.name}: {function}", status, STATUS["ok"])

    def function(self, name):
        return getattr(self.code, f"{self.name}_{name}")

    def call(self, function, io, entry):
        return function(ctypes.c_void_p(self.state.ctypes.data), io, None)

    def reset(self):
        expect(f"{self.name}: reset", self.function("reset")(ctypes.c_void_p(self.state.ctypes.data), None), STATUS["ok"])

    def end(self):
        for function, what in (("destroy", self.state), ("release", self.constants)):
            expect(f"{self.name}: {function}", self.function(function)(ctypes.c_void_p(what.ctypes.data)), STATUS["ok"])


def library_for(options):
    return DeviceLibrary if any("sm_" in option for option in options) else Library


def run(command, expected=0):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != expected:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}"[:6000])
    return done.stderr


def expect(what, got, want):
    good = np.allclose(got, want, 1e-4, 1e-5) if isinstance(want, np.ndarray) else got == want
    if not good:
        failures.append(f"{what}: {got} instead of {want}")


def check_decoder(ingot, folder, options, compiler, weights):
    network = decoder()
    session = onnxruntime.InferenceSession(network.SerializeToString(), providers=["CPUExecutionProvider"])
    kind = library_for(options)
    library = kind(ingot, folder, "llm", network,
                   ["--entry", "prompt:seq=1..16,past=0", "--entry", "token:seq=1,past=0..31", *options], compiler)
    hasState = "--state" in options
    what = f"decoder {' '.join(options)}, {compiler}"
    # Both functions use the same copy of the weights.
    expect(f"{what}: bytes of weights", library.macro("WEIGHTS_BYTES"), weights)
    cache = np.zeros((1, 0, 16), np.float32)
    for step, count in enumerate([5, 1, 1, 1, 1]):
        x = rng.standard_normal((1, count, 8)).astype(np.float32)
        y, present = session.run(None, {"x": x, "past": cache})
        outputs = {"y": y.shape} if hasState else {"y": y.shape, "present": present.shape}
        past = cache.shape[1]
        sizes = {"seq": count} if step == 0 else {name: past for kind, star, name in library.fields("llm_token") if kind == "ptrdiff_t" and not star}
        given = dict(x=x, **({} if hasState else {"past": cache}), **sizes)
        if step == 3:
            # A rejected call must not change the state.
            bad = {name: 32 for name in sizes}
            expect(f"{what}: too long", library.run("token", outputs, **{**given, **bad})[0], STATUS["shape"])
        status, got = library.run("prompt" if step == 0 else "token", outputs, **given)
        expect(f"{what}: status", status, STATUS["ok"])
        expect(f"{what}: step {step}", got["y"], y)
        if hasState:
            expect(f"{what}: cache {step}", library.value("past", present.size), present.reshape(-1))
        else:
            expect(f"{what}: present {step}", got["present"], present)
        cache = present
    if kind is DeviceLibrary:
        if hasState:
            library.reset()
            expect(f"{what}: cache after a reset", library.value("past", present.size), 0 * present.reshape(-1))
            expect(f"{what}: no handle", library.function("reset")(None, None), STATUS["null"])
        library.end()
    elif hasState:
        memory, library.state = library.state, None
        expect(f"{what}: no state", library.run("token", {"y": (1, 1, 16)}, x=x, **sizes)[0], STATUS["null"])
        library.state = memory[4:]
        expect(f"{what}: odd state", library.run("token", {"y": (1, 1, 16)}, x=x, **sizes)[0], STATUS["alignment"])


def check_heads(ingot, folder, options, compiler="g++"):
    """Prompts and tokens of a decoder whose caches grow along their third axis: in the state, this axis has its
    largest size, or comes first if several programs share the state."""
    network = decoder_of_heads()
    session = onnxruntime.InferenceSession(network.SerializeToString(), providers=["CPUExecutionProvider"])
    kind = library_for(options)
    library = kind(ingot, folder, "heads", network,
                   ["--entry", "prompt:seq=1..16,past=0..31", "--entry", "token:seq=1,past=0..31", "--state", "keys=all_keys",
                    "--state", "values=all_values", *options], compiler)
    what = f"heads {' '.join(options)}, {compiler}"
    # Each cache exists once, with room for the maximal number of steps after a prompt, and no run moves it.
    if library.macro("STATE_BYTES") > 2 * (31 + 16) * 3 * 16 * 4 + 256 and kind is Library and "," not in options[1]:
        failures.append(f"{what}: {library.macro('STATE_BYTES')} bytes of state")
    caches = {name: np.zeros((1, 3, 0, 16), np.float32) for name in ("keys", "values")}
    for step, (entry, count) in enumerate([("prompt", 5), ("token", 1), ("token", 1), ("prompt", 3), ("token", 1), ("token", 1)]):
        x = rng.standard_normal((1, count, 8)).astype(np.float32)
        y, *present = session.run(None, {"x": x, **caches})
        sizes = {"seq": count, "past": caches["keys"].shape[2]}
        fields = {name for kind, star, name in library.fields("heads_" + entry) if kind == "ptrdiff_t" and not star}
        given = {name: size for name, size in sizes.items() if name in fields}
        if step == 2:
            # A rejected call must not change the caches.
            status, _ = library.run(entry, {"y": y.shape}, **{**given, "x": x, "past": 32})
            expect(f"{what}: too long", status, STATUS["shape"])
        status, got = library.run(entry, {"y": y.shape}, x=x, **given)
        expect(f"{what}: status", status, STATUS["ok"])
        expect(f"{what}: step {step}", got["y"], y)
        caches = dict(zip(caches, present))
        for name, cache in caches.items():
            if "," in options[1]:
                stored = library.value(name, cache.size).reshape(cache.shape[2], 1, 3, 16).transpose(1, 2, 0, 3)
            else:
                stored = library.value(name, 3 * (31 + 16) * 16).reshape(1, 3, 31 + 16, 16)[:, :, :cache.shape[2]]
            expect(f"{what}: {name} after step {step}", stored, cache)
    if kind is DeviceLibrary:
        library.end()


def check_steps(ingot, folder, name, network, state, bytes_of_state, first=None, options=()):
    """Runs `network` five times with a state (an input and an output), which takes `bytes_of_state` bytes."""
    source, target = state
    library = library_for(options)(ingot, folder, name, network, ["--state", f"{source}={target}", *options])
    expect(f"{name}: bytes of state", library.macro("STATE_BYTES"), bytes_of_state)
    session = onnxruntime.InferenceSession(network.SerializeToString(), providers=["CPUExecutionProvider"])
    shapes = {each.name: [size.dim_value for size in each.type.tensor_type.shape.dim] for each in network.graph.input}
    kept = np.zeros(shapes[source], np.float32)
    if first is not None:
        kept = first.astype(np.float32)
        library.value(source, kept.size)[:] = kept.reshape(-1)
    names = [each.name for each in network.graph.output]
    for step in range(5):
        x = rng.standard_normal(shapes["x"]).astype(np.float32)
        want = dict(zip(names, session.run(None, {"x": x, source: kept})))
        status, got = library.run("", {key: value.shape for key, value in want.items() if key != target}, x=x)
        expect(f"{name}: status", status, STATUS["ok"])
        for key, value in got.items():
            expect(f"{name}: {key} of step {step}", value, want[key])
        kept = want[target]
        expect(f"{name}: state after step {step}", library.value(source, kept.size), kept.reshape(-1))
    if isinstance(library, DeviceLibrary):
        library.end()
    print(f"{name}: {bytes_of_state} bytes of state, five steps agree")


def check_refusals(ingot, folder):
    path, output = os.path.join(folder, "llm.onnx"), os.path.join(folder, "refused.cpp")
    onnx.save(decoder(), path)
    for options, text in (
            (["--entry", "a:seq=1,past=1", "--entry", "A:seq=2,past=1"], "the name `A` is used twice; entry names must differ"),
            (["--entry", "2b:seq=1,past=1"], "`2b` cannot be used as a function name"),
            (["--entry", "main:seq=1,past=1"], "`main` cannot be used as a function name"),
            (["--entry", "a:seq=x"], "--entry a: cannot parse `x` as the size of `seq`"),
            (["--entry", "a:seq"], "cannot parse `seq` as DIM=SIZE"),
            (["--entry", "a:seq=1,seq=2"], "`seq` is given two sizes"),
            (["--entry", "a=:seq=1"], "a model file is missing"),
            (["--entry", "a=nothing.onnx"], "nothing.onnx"),
            (["--entry", "a:seq=1"], "past"),
            (["--dim", "seq=1", "--dim", "past=0..31", "--state", "post=present"], "did you mean `past`"),
            (["--dim", "seq=1", "--dim", "past=0..31", "--state", "past=y", "--state", "x=y"], "the input is f32[1,1,8], but `y` is f32[1,1,16]"),
            (["--dim", "seq=1", "--dim", "past=1", "--state", "past=y", "--state", "past=present"], "`past` is given twice")):
        # The exit code says that the model does not fit the options (1) or that the options are wrong (2).
        done = subprocess.run([ingot, path, "-o", output, *options], capture_output=True, text=True)
        said = done.stderr if done.returncode in (1, 2) else f"exit {done.returncode}"
        if text not in said or os.path.exists(output):
            failures.append(f"{options}: {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--program")
    ingot = parser.parse_args().ingot
    with tempfile.TemporaryDirectory() as folder:
        for options, compiler in ((["--target", "generic"], "clang++-22"), (["--target", "x86-64-v3"], "g++"),
                                  (["--target", "x86-64-v3", "--state", "past=present"], "g++"),
                                  (["--target", "generic", "--strict", "--weights", "object", "--state", "past=present"], "clang++-22"),
                                  (["--target", "x86-64-v2,x86-64-v3", "--state", "past=present"], "g++"),
                                  (["--target", "sm_80"], "g++"),
                                  (["--target", "sm_75,sm_90a", "--state", "past=present"], "clang++-22"),
                                  (["--target", "sm_80", "--strict", "--weights", "object", "--state", "past=present"], "g++")):
            check_decoder(ingot, folder, options, compiler, 1024)
        print("decoder: a prompt and four tokens agree")
        for target, compiler in (("generic", "clang++-22"), ("x86-64-v3", "g++"), ("x86-64-v2,x86-64-v3", "clang++-22"), ("sm_80", "g++")):
            check_heads(ingot, folder, ["--target", target], compiler)
        print("decoder of heads: two prompts and four tokens agree")
        # The state of 4 x 3 samples needs one buffer: the old samples are read before the new ones are written.
        check_steps(ingot, folder, "filter", streamed_filter(), ("before", "after"), 64)
        # The state needs two buffers and the index of the current one: the old sum is read while the new one is
        # written.
        check_steps(ingot, folder, "counter", counter(), ("sum", "next"), 64 + 2 * 64, first=rng.standard_normal((3, 5)))
        check_steps(ingot, folder, "gru", recurrence(), ("h", "last"), 64 + 2 * 64, options=["--target", "generic"])
        # On a GPU, the values of a state are aligned to 128 bytes instead of 64.
        check_steps(ingot, folder, "filter", streamed_filter(), ("before", "after"), 128, options=["--target", "sm_80"])
        check_steps(ingot, folder, "counter", counter(), ("sum", "next"), 128 + 2 * 128, first=rng.standard_normal((3, 5)), options=["--target", "sm_80"])
        check_refusals(ingot, folder)
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
