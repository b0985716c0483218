"""Tests what can be compiled (files, bytes, objects of other packages), and the exceptions for invalid models."""

import pickle
import traceback

import numpy as np
import onnx
import pytest
from conftest import make
from onnx import numpy_helper

import ingot
from ingot._models import Model, to_model
from ingot._onnx import external_files, signature

X = np.float32([1, -2, 3, -4])


def test_paths_bytes_and_protos(relu, tmp_path):
    path = tmp_path / "net.onnx"
    onnx.save(relu, path)
    for model in (path, str(path), path.read_bytes(), bytearray(path.read_bytes()), relu):
        assert ingot.compile(model)(X).tolist() == [1, 0, 3, 0]


def test_what_is_no_model(tmp_path):
    with pytest.raises(ingot.InvalidModelError, match="cannot be read: No such file"):
        ingot.compile(tmp_path / "none.onnx")
    with pytest.raises(ingot.InvalidModelError, match="not builtins.int"):
        ingot.compile(3)
    with pytest.raises(ingot.InvalidModelError) as caught:
        ingot.compile(b"\xff\xff\xff\xff")
    assert caught.value.id == "not-onnx"
    with pytest.raises(ingot.InvalidModelError) as caught:
        ingot.compile(b"")
    assert caught.value.id == "empty-file"


def test_diagnostics():
    model = make("net (float[2] x) => (float[2] y) { y = ImageDecoder(x) }", opset=20)
    model.graph.node[0].name = "decode"
    with pytest.raises(ingot.CompileError) as caught:
        ingot.compile(model)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.node, diagnostic.name, diagnostic.operator) == (0, "decode", "ImageDecoder")
    assert diagnostic.id in str(caught.value) and "node #0 `decode`" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and again.diagnostics == caught.value.diagnostics
    assert diagnostic.message in "".join(traceback.format_exception(caught.value))


def test_hints_name_arguments(dense):
    with pytest.raises(ingot.InvalidModelError, match=r'dims=\{"batch": SIZE\}, or bound it with dims=\{"batch": \(1, 64\)\}'):
        ingot.compile(dense)
    text = str(ingot.Diagnostic("x", "invalid", "m", operands="a -> b", supported="c", count=3, hints=("use --bind s=1,2",)))
    assert text == '[x] m (3 nodes; the first is shown)\n  a -> b\n  supported: c\n  hint: use bind={"s": [1,2]}'


def test_values_of_small_types():
    from ingot._compile import Options

    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert Options.of(bind={"x": np.array([1.5, 2], ml_dtypes.bfloat16)}).bind == (("x", "1.5,2.0"),)
    with pytest.raises(ingot.UsageError, match="must be numbers, not .*V4"):
        Options.of(bind={"x": np.zeros(2, "V4")})


def test_options_that_are_wrong(relu, dense):
    for options, words in (
        ({"dims": {"batch": 1.5}}, "must be a size or a pair of bounds"),
        ({"dims": {"batch": range(0, 10, 2)}}, "must go up by one"),
        ({"dims": [1]}, "is a dictionary, not list"),
        ({"bind": {"x": ["a"]}}, "must be numbers"),
        ({"threads": -1}, "must be a number from 1"),
        ({"target": "x87"}, "x87"),
        ({"fast": "f8"}, "f8"),
        ({"calibrate": X}, 'add quantize="int8"'),
        ({"dims": {"no_such_dimension": 3, "batch": 1}}, "no_such_dimension"),
    ):
        with pytest.raises(ingot.UsageError, match=words):
            ingot.compile(dense, **options)


def test_options_of_all_kinds(dense):
    net = ingot.compile(
        dense, target="x86-64-v2", dims={"batch": "1..4"}, strict=True, optimize="size", max_ram="1M", max_flash=10**6
    )
    assert net.options["dims"] == {"batch": "1..4"} and net.options["max_flash"] == "1000000"
    assert net(np.ones((2, 4), np.float32), np.ones((2, 4), np.float32)).shape == (2, 8)
    several = ingot.compile(dense, target=["x86-64-v2", "x86-64-v3"], dims={"batch": 1})
    assert several(np.ones((1, 4), np.float32), np.ones((1, 4), np.float32)).shape == (1, 8) and "," in several.options["target"]
    with pytest.raises(ingot.UsageError, match="--max-ram or --max-flash supports a single target"):
        ingot.compile(dense, target=["x86-64-v2", "x86-64-v3"], dims={"batch": 1}, max_ram="1M")


def test_a_target_of_another_machine(relu):
    for target in ("cortex-m4", "armv8-a", "sm_80", "hexagon-v68"):
        with pytest.raises(ingot.UsageError, match=f"this machine does not run code for {target}"):
            ingot.compile(relu, target=target)


def external(tmp_path, values):
    weights = numpy_helper.from_array(values, "w")
    model = make("net (float[1000] x) => (float[1000] y) { y = Add(x, w) }")
    model.graph.initializer.append(weights)
    path = tmp_path / "net.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    return path


def test_external_data(tmp_path):
    values = np.arange(1000, dtype=np.float32)
    path = external(tmp_path, values)
    assert external_files(path.read_bytes()) == ["weights.bin"]
    x = np.ones(1000, np.float32)
    net = ingot.compile(path)
    assert np.array_equal(net(x), values + 1)
    pickled = pickle.dumps(net)
    external(tmp_path, values + 5)
    assert np.array_equal(ingot.compile(path)(x), values + 6)
    path.unlink()
    (tmp_path / "weights.bin").unlink()
    ingot.clear_cache()
    assert np.array_equal(pickle.loads(pickled)(x), values + 1)


def test_external_data_that_is_not_there(tmp_path):
    path = external(tmp_path, np.ones(1000, np.float32))
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(ingot.InvalidModelError) as caught:
        ingot.compile(path)
    assert caught.value.id == "external-data"
    evil = Model("net", path.read_bytes(), None, {"../weights.bin": b"x"})
    with pytest.raises(ingot.InvalidModelError, match="outside of its folder"), evil.file():
        pass


def test_large_weights():
    values = np.random.default_rng(0).random((600, 600), np.float32)
    model = make("net (float[1, 600] x) => (float[1, 600] y) { y = MatMul(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(values, "w"))
    net = ingot.compile(model)
    x = np.ones((1, 600), np.float32)
    assert net.weights_bytes >= values.nbytes and np.allclose(net(x), x @ values, rtol=1e-4)


def test_signatures(dense):
    assert signature(dense.SerializeToString()).inputs == ("x", "z")
    model = make('net (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) }')
    model.graph.input.append(onnx.helper.make_tensor_value_info("w", 1, [2]))
    assert signature(model.SerializeToString()).inputs == ("x",)
    for broken in (b"\x3a\xff", b"\x3a\x05\x0a", b"\x0f", b"\x80"):
        assert signature(broken) is None
    assert signature(b"").inputs == ()
    assert to_model(dense).signature.outputs == ("y",)


def test_fields_of_messages():
    """A message with fields of all numeric wire types before the name."""
    from ingot._onnx import _fields, _first

    message = memoryview(b"\x08\x96\x01" + b"\x11" + bytes(8) + b"\x1d" + bytes(4) + b"\x22\x01a")
    assert [(field, bytes(value)) for field, value in _fields(message)] == [(4, b"a")]
    assert _first(message, 4) == "a" and _first(message, 5) == ""


def test_a_processor_that_is_not_known(monkeypatch):
    from ingot import _compile

    def read_text(*_):
        raise OSError

    monkeypatch.setattr(_compile.Path, "read_text", read_text)
    assert _compile._processor.__wrapped__() == ""


def test_a_model_that_cannot_be_serialized():
    ModelProto = type("ModelProto", (), {"__module__": "onnx", "SerializeToString": lambda self: 1 // 0})
    with pytest.raises(ingot.InvalidModelError, match="cannot be serialized .*; save it with external data"):
        ingot.compile(ModelProto())


def test_packages_that_are_missing(monkeypatch):
    """Objects of packages that cannot be imported."""
    import sys

    for package, module, name in (("torch", "torch.nn", "Module"), ("skl2onnx", "sklearn.base", "BaseEstimator")):
        monkeypatch.setitem(sys.modules, package, None)
        kind = type(name, (), {"__module__": module, "n_features_in_": 3})
        with pytest.raises(ingot.ToolchainError, match=f"needs the package {package}.*: pip install {package}"):
            ingot.compile(kind(), X)


def test_sources(tmp_path, relu):
    net = ingot.compile(relu)
    files = net.save(tmp_path / "out.cpp")
    assert sorted(path.name for path in files) == ["out.cpp", "out.h"] and "out_run" in (tmp_path / "out.h").read_text()


def test_a_file_that_changes_after_compiling(tmp_path, relu):
    path = tmp_path / "net.onnx"
    onnx.save(relu, path)
    net = ingot.compile(path)
    path.write_bytes(b"something else")
    assert net.report().compiles and pickle.loads(pickle.dumps(net))(X).tolist() == [1, 0, 3, 0]


def test_scikit_learn():
    pytest.importorskip("skl2onnx")
    linear = pytest.importorskip("sklearn.linear_model")
    rows = np.random.default_rng(0).random((50, 3))
    with pytest.raises(ingot.InvalidModelError, match="not fitted"):
        ingot.compile(linear.LinearRegression())
    model = linear.LinearRegression().fit(rows, rows @ [1, 2, 3])
    net = ingot.compile(model, dims={"*": (1, 64)})
    assert np.allclose(net(rows.astype(np.float32)).reshape(-1), model.predict(rows), rtol=1e-4)
    classifier = linear.LogisticRegression().fit(rows, rows[:, 0] > 0.5)
    labels, shares = ingot.compile(classifier, rows.astype(np.float32), dims={"*": (1, 64)})(rows.astype(np.float32))
    assert np.array_equal(labels, classifier.predict(rows)) and np.allclose(shares, classifier.predict_proba(rows), atol=1e-4)


def test_pytorch():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
    with pytest.raises(ingot.InvalidModelError, match="needs example inputs"):
        ingot.compile(module)
    x = torch.ones(2, 3)
    expected = module(x).detach().numpy()
    net = ingot.compile(module, x)
    assert np.allclose(net(x), expected, atol=1e-5) and np.allclose(net(x.requires_grad_()), expected, atol=1e-5)
    assert module.training
    named = ingot.compile(module, {"input": torch.ones(2, 3)})
    assert np.allclose(named(torch.ones(2, 3)), expected, atol=1e-5)
    half = ingot.compile(make("net (bfloat16[2] x) => (bfloat16[2] y) { y = Identity(x) }"))
    assert np.asarray(half(torch.ones(2, dtype=torch.bfloat16)), np.float32).tolist() == [1, 1]


def test_torch_compile():
    torch = pytest.importorskip("torch")
    from ingot._dynamo import dynamo_backend

    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
    x = torch.ones(2, 3)
    expected = module(x).detach()
    # PyTorch finds the backend `ingot` by an entry point, which the package in the build folder lacks, so the
    # function is passed.
    fast = torch.compile(module, backend=dynamo_backend)
    with torch.no_grad():
        assert torch.allclose(fast(x), expected, atol=1e-5)
    # PyTorch itself computes gradients.
    fast(x).sum().backward()
    assert module[0].weight.grad is not None
    torch._dynamo.reset()
    decode = torch.compile(lambda v: torch.linalg.svd(v)[1], backend=dynamo_backend)
    with torch.no_grad(), pytest.warns(RuntimeWarning, match="a graph runs in PyTorch"):
        assert torch.allclose(decode(x), torch.linalg.svd(x)[1], atol=1e-5)
    graph = torch.fx.symbolic_trace(module)
    assert dynamo_backend(graph, [3]) == graph.forward
