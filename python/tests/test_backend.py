"""The functions of ingot.backend; the official tests run through it in backend_suite.py."""

import numpy as np
import onnx
import pytest
from conftest import make
from onnx import helper
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import ingot.backend


def test_functions(dense, relu):
    x = np.ones((2, 4), np.float32)
    outputs = ingot.backend.run_model(dense, [x, x])
    assert outputs.y.shape == (2, 8) and outputs[0] is outputs.y
    rep = ingot.backend.prepare(dense, "CPU")
    assert rep.run({"x": x[:1], "z": x[:1]})[0].shape == (1, 8)
    assert ingot.backend.prepare(relu).run(np.float32([1, -2, 3, -4]))[0].tolist() == [1, 0, 3, 0]
    with pytest.raises(ingot.InputError, match="has 2 inputs, not 3"):
        rep.run([x, x, x])
    assert ingot.backend.supports_device("CPU") and not ingot.backend.supports_device("CUDA:1")
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="no device CUDA"):
        ingot.backend.prepare(dense, "CUDA")
    assert ingot.backend.is_compatible(dense) and ingot.backend.is_compatible(relu) and not ingot.backend.is_compatible(relu, "CUDA")
    assert ingot.backend.is_compatible(make("net (float[2, 3] x, int64[2] shape) => (float[a, b] y) { y = Reshape(x, shape) }"))
    assert ingot.backend.is_compatible(make("net (float[1, 3, 1] x, int64[2] shape) => (float[a, b, c] y) { y = Expand(x, shape) }"))
    decode = make("net (uint8[n] x) => (uint8[a, b, c] y) { y = ImageDecoder(x) }", opset=20)
    assert not ingot.backend.is_compatible(decode)
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="ImageDecoder"):
        ingot.backend.run_model(decode, [np.zeros(3, np.uint8)])
    assert not ingot.backend.is_compatible(make("net (float[2] x) => (float[2] y) { y = Relu(q) }"))
    with pytest.raises(ingot.InvalidModelError):
        ingot.backend.run_model(make("net (float[2] x) => (float[2] y) { y = Relu(q) }"), [x[0, :2]])


def test_nodes():
    x = np.float32([[1, -2]])
    node = helper.make_node("Relu", ["x"], ["y"])
    assert ingot.backend.run_node(node, [x])[0].tolist() == [[1, 0]]
    assert ingot.backend.run_node(node, x, outputs_info=[(np.float32, (1, 2))], opset_version=14)[0].tolist() == [[1, 0]]
    scale = helper.make_node("Binarizer", ["x"], ["y"], domain="ai.onnx.ml", threshold=0.0)
    assert ingot.backend.run_node(scale, [x])[0].tolist() == [[1, 0]]
    assert onnx.__version__


def test_sequences_of_unknown_rank():
    """Runs the network of the official test test_identity_sequence: the shape of the elements is known only from the data."""
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, None))
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "net", *([helper.make_value_info(name, kind)] for name in "xy"))
    rep = ingot.backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    first = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
    for given in ([first, -first], [first], [first[0], first[0, :, :1]]):
        (result,) = rep.run([given])
        assert [part.tolist() for part in result] == [part.tolist() for part in given]


def test_empty_sequences():
    """An empty list does not determine the shape of elements: tensors of another rank than the declared one can be inserted."""
    rep = ingot.backend.prepare(make("net (seq(float) x, float[2] z) => (seq(float[]) y) { y = SequenceInsert(x, z) }"))
    z = np.float32([1, 2])
    (result,) = rep.run([[], z])
    assert [part.tolist() for part in result] == [[1, 2]]


def test_optional_sequences():
    """Whether an input is present, and how many elements it has, come from the data: elements of another rank can be inserted."""
    text = "net (optional(seq(float)) x, float[2] z) => (seq(float[]) y) { s = OptionalGetElement(x)\n y = SequenceInsert(s, z) }"
    rep = ingot.backend.prepare(make(text, opset=18))
    (result,) = rep.run([[np.float32(5)], np.float32([1, 2])])
    assert [part.tolist() for part in result] == [5, [1, 2]]
    with_loop = (
        "net (int64 n, bool more, optional(seq(float)) x) => (seq(float[]) y) { y = Loop(n, more, x) <body = loop "
        "(int64 i, bool c, optional(seq(float)) before) => (bool d, seq(float) after) { d = Identity(c)\n s = OptionalGetElement(before)\n "
        "one = Constant<value_ints = [1]>()\n f = Cast<to = 1>(i)\n z = Expand(f, one)\n after = SequenceInsert(s, z) }> }"
    )
    rep = ingot.backend.prepare(make(with_loop, opset=18))
    for n in (2, 1):
        (result,) = rep.run([np.int64(n), np.bool_(True), [np.float32(5)]])
        assert [part.tolist() for part in result] == [5, [0], [1]][: n + 1]
    has = ingot.backend.prepare(make("net (optional(float[2]) x) => (bool y) { y = OptionalHasElement(x) }", opset=18))
    assert has.run([np.float32([1, 2])])[0] and not has.run([None])[0] and has.run({"x": np.float32([1, 2])})[0]
