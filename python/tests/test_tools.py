"""Tests inspect, quantize, verify, InferenceSession and the commands, and that public names are documented."""

import dataclasses
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import numpy as np
import onnx
import pytest
from conftest import MNIST, ROOT, make

import ingot
import ingot.backend
import ingot.export
from ingot import __main__, _program, doctor

CHARS = ROOT / "examples" / "quantize" / "chars.onnx"
SAMPLES = ROOT / "examples" / "quantize" / "calibration.npz"


DECODE = make("net (uint8[n] x) => (uint8[a, b, c] y) { y = ImageDecoder(x) }", opset=20)


def test_inspect():
    report = ingot.inspect(MNIST, target="generic")
    assert report.compiles and report.target == "generic" and report.inputs == (("Input3", "float32[1,1,28,28]"),)
    assert report.operators["Conv"] == 2 and report.macs == sum(k.macs for k in report.kernels)
    assert any("Convolution28" in kernel.nodes for kernel in report.kernels) and report.raw["producer"]
    text, page = str(report), report._repr_html_()
    assert "generic: kernels" in text and page.startswith("<table>") and page.count("<tr>") == len(report.kernels) + 1
    assert ingot.compile(MNIST).report().arena_bytes == ingot.compile(MNIST).arena_bytes


def test_inspect_a_model_that_does_not_compile():
    report = ingot.inspect(DECODE, dims={"n": 9})
    assert not report.compiles and report.diagnostics and "ImageDecoder" in str(report) and "<pre>" in report._repr_html_()
    with pytest.raises(ingot.InvalidModelError):
        ingot.inspect(b"no model")


def test_quantize(tmp_path):
    samples = np.load(SAMPLES)
    # Uses four samples, since the time is proportional to their number.
    arrays = {name: samples[name][:4] for name in samples.files}
    done = ingot.quantize(CHARS, calibrate=arrays)
    assert done.bytes < done.bytes_before / 3 and done.decibels > 32 and done.samples == len(next(iter(arrays.values())))
    assert done.layers[0].operator == "Conv" and done.layers[0].precision == "uint8 x int8"
    assert any(node.op_type == "QuantizeLinear" for node in done.proto().graph.node)
    assert done.save(tmp_path / "q.onnx").read_bytes() == done.model
    np.savez_compressed(tmp_path / "samples.npz", **arrays)
    assert ingot.quantize(CHARS, calibrate=tmp_path / "samples.npz").model == done.model
    net = ingot.compile(CHARS, quantize="int8", calibrate=arrays)
    ((name, values),) = arrays.items()
    x = values[:1] if values.ndim == len(net.inputs[0].shape) else values[0]
    assert net(np.ascontiguousarray(x).reshape([d for d in net.inputs[0].shape])).shape == net.outputs[0].shape
    assert net.weights_bytes < done.bytes_before / 2


def test_quantize_inputs_with_different_rows():
    """A sample has as many rows of an input as the model says. An input may have the name of a parameter of numpy.savez."""
    rng = np.random.default_rng(1)
    model = make("net (float[1, 8] file, float[4, 8] x) => (float[4, 8] y) { a = MatMul(file, w)\n b = MatMul(x, w)\n y = Add(a, b) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(rng.standard_normal((8, 8)).astype(np.float32), "w"))
    samples = {"file": rng.standard_normal((6, 8)).astype(np.float32), "x": rng.standard_normal((24, 8)).astype(np.float32)}
    assert ingot.quantize(model, calibrate=samples).samples == 6


def test_quantize_what_is_wrong():
    with pytest.raises(ingot.UsageError, match="`calibrate` is missing"):
        ingot.quantize(CHARS)
    with pytest.raises(ingot.CompileError, match="no such input"):
        ingot.quantize(CHARS, calibrate={"a": np.zeros((2, 1)), "b": np.zeros((3, 1))})
    with pytest.raises(ingot.InputError, match="is an array, a dictionary"):
        ingot.quantize(CHARS, calibrate=object())
    with pytest.raises(ingot.InputError, match="are integers"):
        ingot.quantize(CHARS, calibrate=SAMPLES, labels=[0.5])
    with pytest.raises(ingot.CompileError):
        ingot.quantize(CHARS, calibrate="/no/such/folder")
    with pytest.raises(ingot.CompileError):
        ingot.quantize(CHARS, calibrate=np.zeros((4, 3), np.float32), labels=np.zeros(4, int), max_loss="1%")


def test_verify(relu):
    net = ingot.compile(relu)
    found = ingot.verify(net)
    assert found and found.reference in ("onnxruntime", "onnx.reference")
    x = np.float32([1, -2, 3, -4])
    good, bad = ingot.verify(net, [x], np.float32([1, 0, 3, 0])), ingot.verify(net, {"x": x}, [np.float32([1, 0, 3, 1])])
    assert good and good.reference == "given" and not bad and bad.outputs[0].wrong == 1 and bad.outputs[0].max_error == 1
    assert ingot.verify(net, [x], np.zeros(3)).outputs[0].wrong == -1
    for call, words in (
        (lambda: ingot.verify(net, [x, x]), "takes 1 inputs"),
        (lambda: ingot.verify(net, [x], [x, x]), "has 1 outputs"),
    ):
        with pytest.raises(ingot.InputError, match=words):
            call()


def test_verify_without_onnx_runtime(relu, dense, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert ingot.verify(ingot.compile(relu)).reference == "onnx.reference"
    assert ingot.verify(ingot.compile(dense, dims={"batch": (0, 3)}))
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ingot.ToolchainError, match="needs expected outputs"):
        ingot.verify(ingot.compile(_program_bytes(relu)))


def _program_bytes(model):
    return model.SerializeToString()


def test_compare():
    from ingot._verify import compare

    one = np.float32([1, np.nan])
    assert compare("y", one, one, 0, 0).same and compare("y", None, None, 0, 0).same and not compare("y", one, None, 0, 0).same
    assert compare("y", [one], [one], 0, 0).same and not compare("y", [one], [one, one], 0, 0).same
    assert not compare("y", [one, one], [one, one[:1]], 0, 0).same
    assert compare("y", np.array(["a"], object), np.array(["a"]), 0, 0).same
    assert compare("y", np.array(["a"], object), np.array(["b"], object), 0, 0).wrong == 1


def test_inference_session(dense, relu):
    session = ingot.InferenceSession(dense.SerializeToString(), providers=["CPUExecutionProvider"])
    assert [(i.name, i.type, i.shape) for i in session.get_inputs()] == [(n, "tensor(float)", ["batch", 4]) for n in "xz"]
    assert session.get_outputs()[0].name == "y" and session.get_providers() == ["IngotExecutionProvider"]
    for n in (1, 3, 1):
        x = np.ones((n, 4), np.float32)
        (y,) = session.run(None, {"x": x, "z": x})
        assert y.shape == (n, 8)
    assert len(session._nets.nets) == 2
    assert session.run(["y"], {"x": x, "z": x})[0].shape == (1, 8)
    with pytest.raises(ingot.InputError, match="no output `q`; its outputs are y"):
        session.run(["q"], {"x": x, "z": x})
    with pytest.raises(ingot.InputError, match="no input `q`; its inputs are x, z"):
        session.run(None, {"q": x})
    fixed = ingot.InferenceSession(dense, dims={"batch": (1, 4)}, sess_options=types.SimpleNamespace(intra_op_num_threads=2))
    assert fixed.run(None, {"x": x, "z": x})[0].shape == (1, 8) and fixed._net.options["threads"] == 2
    with pytest.raises(ingot.CompileError):
        ingot.InferenceSession(DECODE, dims={"n": 9})
    with pytest.raises(ingot.InvalidModelError):
        ingot.InferenceSession(b"no model")


def test_inference_session_binds_values():
    session = ingot.InferenceSession(make("net (float[2, 3] x, int64[r] shape) => (float[a, b] y) { y = Reshape(x, shape) }"))
    x = np.zeros((2, 3), np.float32)
    for shape in ([3, 2], [6, 1], [3, 2]):
        (y,) = session.run(None, {"x": x, "shape": np.array(shape)})
        assert list(y.shape) == shape


def test_inference_session_keeps_bound_values():
    model = make("net (float[2, 3] x, int64[r] shape) => (float[a, b] y) { y = Reshape(x, shape) }")
    session = ingot.InferenceSession(model, bind={"shape": [3, 2]})
    x = np.zeros((2, 3), np.float32)
    assert session.run(None, {"x": x, "shape": np.array([3, 2])})[0].shape == (3, 2)
    with pytest.raises(ingot.InputError, match="INGOT_ERROR_SPECIALIZED"):
        session.run(None, {"x": x, "shape": np.array([6, 1])})


def test_sizes_of_the_data_are_dimensions():
    from ingot._session import _dims_of, _shape_key

    x = np.zeros((2, 3), np.float32)
    assert _dims_of("x", x) == {"x:0": 2, "x:1": 3} and _dims_of("x", None) == {} == _dims_of("x", 1.5)
    assert _dims_of("s", [x, x[:1]]) == {"s_count": 2, "s:0": (1, 2), "s:1": 3} and _dims_of("s", []) == {"s_count": 0}
    assert _shape_key(None) is None and _shape_key([x, 1]) == ("list", (("float32", (2, 3)), ("int64", ())))


def test_doctor(capsys, monkeypatch):
    assert doctor.main() == 0
    text = capsys.readouterr().out
    assert "networks are built with" in text and "clang++-22" in text and "numpy" in text and _program.program() in text
    assert doctor.main(["x"]) == 2
    monkeypatch.setenv("INGOT", "/no/such/program")
    monkeypatch.setenv("INGOT_CXX", "no-such-compiler")
    assert doctor.main() == 1
    text = capsys.readouterr().out
    assert "program      missing: the environment variable INGOT" in text and "INGOT_CXX names no-such-compiler" in text
    assert doctor._version("/bin/false").startswith("does not run") and doctor._version("/no/such") == "does not run"


def run(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "ingot", *arguments], capture_output=True, text=True, env={**os.environ, **environment})


def test_commands():
    assert run("version").stdout.startswith("ingot ")
    assert run("inspect", "/no/such/file").returncode == 1
    done = run("--help")
    assert "ingot doctor" in done.stdout and "inspect" in done.stdout
    done = run("version", INGOT="/no/such/program")
    assert done.returncode == 1 and done.stderr.startswith("ingot: the environment variable INGOT names")


def test_main(capsys, monkeypatch):
    assert __main__.main(["--cmake-dir"]) == 0 and __main__.main(["--include-dir"]) == 0
    cmake, include = capsys.readouterr().out.splitlines()
    assert os.path.exists(os.path.join(cmake, "IngotConfig.cmake")) and os.path.exists(os.path.join(include, "ingot.h"))
    assert __main__.main(["doctor", "x"]) == 2
    called = []
    monkeypatch.setattr(os, "execve", lambda *a: called.append(a[1]))
    __main__.main(["version"])
    assert called == [["ingot", "version"]]

    def fails(*_):
        raise OSError("no memory")

    monkeypatch.setattr(os, "execve", fails)
    assert __main__.main(["version"]) == 1
    assert "ingot: no memory" in capsys.readouterr().err
    assert __main__.main(["--help"]) == 0 and __main__.main([]) != 0
    printed = capsys.readouterr()
    assert "ingot doctor" in printed.out and "ingot doctor" in printed.err
    monkeypatch.setenv("INGOT", "/no/such/program")
    assert __main__.main(["version"]) == 1
    assert "ingot: the environment variable INGOT names" in capsys.readouterr().err


def test_the_program(monkeypatch, tmp_path):
    fake = tmp_path / "ingot"
    monkeypatch.setenv("INGOT", str(fake))

    def answer(text):
        fake.write_text(text)
        fake.chmod(0o755)

    answer("#!/bin/sh\nkill -SEGV $$\n")
    with pytest.raises(ingot.InternalError, match="signal 11"):
        _program.call(["version"])
    answer("#!/bin/sh\necho '{'\necho why >&2\nexit 70\n")
    with pytest.raises(ingot.InternalError, match="why"):
        _program.call(["version"])
    with pytest.raises(ingot.ToolchainError, match="does not run"):
        _program.identity()
    answer("not a program")
    for function in (_program.identity, lambda: _program.call([])):
        with pytest.raises(ingot.ToolchainError, match="does not run"):
            function()
    monkeypatch.delenv("INGOT")
    monkeypatch.setattr(_program, "PREFIX", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    answer("#!/usr/bin/python3\n")  # a console script, which would call itself
    with pytest.raises(ingot.ToolchainError, match="the ingot program is missing"):
        _program.program()
    answer("\x7fELF")
    assert _program.program() == str(fake)


def test_a_wheel_of_another_platform(tmp_path):
    """The binary part is that of another machine: the first import says what to do."""
    shutil.copytree(pathlib.Path(ingot.__file__).parent, tmp_path / "ingot", ignore=shutil.ignore_patterns("_native*.so", "_prefix", "__pycache__"))
    (tmp_path / "ingot" / "_native.abi3.so").write_bytes(b"\x7fELF of another machine")
    done = subprocess.run([sys.executable, "-c", "import ingot"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1 and "install a wheel for this platform" in done.stderr


def _public_names():
    """Yields (name, object, names of its members) for everything that the package exports."""
    for module in (ingot, ingot.backend, ingot.export, ingot.doctor):
        for name in module.__all__:
            thing = getattr(module, name)
            members = []
            if inspect.isclass(thing):
                members = [m for m in vars(thing) if not m.startswith("_")]
                if dataclasses.is_dataclass(thing):
                    members += [f.name for f in dataclasses.fields(thing)]
            yield name, thing, sorted(set(members))


def test_every_public_name_has_a_docstring():
    missing = []
    for name, thing, members in _public_names():
        text = inspect.getdoc(thing)
        if not isinstance(thing, dict) and (not text or re.fullmatch(r"\w+\(.*\)", text)):
            missing.append(name)
        for member in members:
            value = vars(thing).get(member)
            if callable(value) or isinstance(value, (property, staticmethod, classmethod)):
                if not inspect.getdoc(value):
                    missing.append(f"{name}.{member}")
            elif member in (f.name for f in dataclasses.fields(thing)) and not issubclass(thing, Exception):
                source = inspect.getsource(thing)
                if not re.search(rf'^    {member}: [^\n]*\n    """', source, re.MULTILINE):
                    missing.append(f"{name}.{member}")
    assert missing == []


def test_every_public_name_is_in_the_manual():
    page = (ROOT / "docs" / "python.md").read_text()
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", page))))
    missing = []
    for name, _, members in _public_names():
        missing += [name] * (name not in words) + [f"{name}.{member}" for member in members if member not in words]
    assert missing == []
