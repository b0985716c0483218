"""What the tests share: small networks, and a cache of their own.

The tests need the packages numpy, onnx, ml_dtypes and pytest; tests that need another package are skipped if it is missing.
"""

import os
import pathlib

import onnx
import pytest
from fast_compiler import fast_compiler

ROOT = pathlib.Path(__file__).resolve().parents[2]
MNIST = ROOT / "examples" / "mnist" / "model.onnx"


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Gives this test run an empty cache, and a fast compiler."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["INGOT_CACHE"] = str(folder)
    if "INGOT_CXX" not in os.environ:
        os.environ["INGOT_CXX"] = fast_compiler(tmp_path_factory.mktemp("compiler"))
    return folder


def make(text, opset=17):
    """Returns a model whose graph is given in ONNX's text form."""
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}, "ai.onnx.ml": 3]>\n{text}')


@pytest.fixture(scope="session")
def relu():
    return make("net (float[4] x) => (float[4] y) { y = Relu(x) }")


@pytest.fixture(scope="session")
def dense():
    return make(
        "net (float[batch, 4] x, float[batch, 4] z) => (float[batch, 8] y) { s = Add(x, z)\n y = Concat<axis = 1>(s, z) }"
    )
