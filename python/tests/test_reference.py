"""Tests _reference.py, which `ingot verify` runs as a program to compute expected outputs: tensors, engines, commands."""

import os
import sys

import ml_dtypes
import numpy as np
import onnx
import pytest
from conftest import make
from onnx import numpy_helper

from ingot import _reference

X = np.float32([1, -2, 3, -4])
MODEL = make("net (float[4] x) => (float[4] y) { h = Neg(x)\n y = Relu(h) }").SerializeToString()


@pytest.mark.parametrize("dtype", [*_reference._TYPES.values(), "bfloat16", "float8_e5m2"])
def test_tensors(dtype):
    kind = getattr(ml_dtypes, dtype, dtype)
    value = np.arange(6).reshape(2, 3).astype(kind)
    written = _reference.write_value(value)
    assert np.array_equal(numpy_helper.to_array(onnx.TensorProto.FromString(written)), value)
    name, read = _reference.read_tensor(numpy_helper.from_array(value, "a").SerializeToString())
    assert name == "a" and read.dtype == value.dtype and np.array_equal(read, value)


def test_tensors_of_other_forms():
    texts = np.array([["a", "bär"]], object)
    assert _reference.read_tensor(_reference.write_value(texts))[1].tolist() == texts.tolist()
    assert _reference.read_tensor(_reference.write_value(np.array([b"a"], object)))[1].tolist() == ["a"]
    # The dims are one packed field; the size 300 takes two bytes.
    packed = b"\x0a\x03\x01\xac\x02" + b"\x10\x03" + b"\x4a\xac\x02" + bytes(300)
    assert _reference.read_tensor(packed)[1].shape == (1, 300)
    # A 4-byte field before the tensor, with an unknown field number, must be skipped.
    assert _reference.read_tensor(b"\x25\0\0\0\0" + _reference.write_value(X))[1].tolist() == X.tolist()
    sequence = onnx.SequenceProto.FromString(_reference.write_value([X, X[:1]]))
    assert [x.tolist() for x in numpy_helper.to_list(sequence)] == [X.tolist(), [1]]
    assert _reference.write_value({"a": 1}) is None and _reference.write_value(None) is None
    assert _reference.read_tensor(_reference.write_value(np.float32(3)))[1] == 3
    # An element type that only the package onnx can encode.
    small = np.array([1, -2, 3], ml_dtypes.int4)
    assert _reference.read_tensor(_reference.write_value(small))[1].tolist() == small.tolist()


def write_case(folder, extra=""):
    (folder / "net.onnx").write_bytes(MODEL)
    (folder / "input_0.pb").write_bytes(numpy_helper.from_array(X, "x").SerializeToString())
    (folder / "extra.txt").write_text(extra)
    return str(folder / "net.onnx"), str(folder)


def read(folder, name):
    return _reference.read_tensor((folder / name).read_bytes())[1].tolist()


def test_outputs_and_values_inside(tmp_path):
    assert _reference.main([*write_case(tmp_path, "h\n"), "onnx"]) == 0
    assert read(tmp_path, "output_0.pb") == [0, 2, 0, 4] and read(tmp_path, "output_1.pb") == [-1, 2, -3, 4]
    assert (tmp_path / "reference.txt").read_text() == f"onnx.reference {onnx.__version__}"


def test_onnx_runtime(tmp_path):
    pytest.importorskip("onnxruntime")
    (tmp_path / "move.txt").write_text("0.5")
    assert _reference.main([*write_case(tmp_path, "h\n"), "onnxruntime", "onnx"]) == 0
    assert (tmp_path / "reference.txt").read_text().startswith("onnxruntime ")
    assert read(tmp_path, "output_1.pb") == [-1, 2, -3, 4]
    moved = np.array(read(tmp_path, "moved_1.pb"))
    assert np.allclose(np.abs(moved - [-1, 2, -3, 4]), [0.5, 1, 1.5, 2])


def test_inputs_that_are_not_moved():
    integers = np.arange(3)
    assert np.array_equal(_reference._moved({"x": integers}, 0.5)["x"], integers)


def test_times(tmp_path):
    pytest.importorskip("onnxruntime")
    case = write_case(tmp_path)
    (tmp_path / "ask").write_text("0\n0.001\n")
    assert _reference.main(["--time", *case, "1"]) == 0
    engine, *times = (tmp_path / "answer").read_text().splitlines()
    assert engine.startswith("onnxruntime ") and len(times) == 2 and all(float(t) > 0 for line in times for t in line.split())
    (tmp_path / "net.onnx").write_bytes(b"no model")
    assert _reference.main(["--time", *case, "1"]) == 1
    assert (tmp_path / "answer").read_text().startswith("error: ")


def test_no_engine_takes_the_model(tmp_path, monkeypatch):
    case = write_case(tmp_path)
    (tmp_path / "net.onnx").write_bytes(b"no model")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert _reference.main([*case, "onnxruntime", "onnx"]) == 1
    reasons = (tmp_path / "reasons.txt").read_text().splitlines()
    assert reasons[0].startswith("onnxruntime: ") and reasons[1].startswith("onnx: ")
    with pytest.raises(ImportError, match="onnxruntime: .*; onnx: "):
        _reference.first_engine(b"no model")
    assert not os.path.exists(tmp_path / "reference.txt")
