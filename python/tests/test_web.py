"""Tests `ingot export --as web`: the module in Node.js, the exported files, and inputs that the command rejects."""

import pathlib
import re
import shutil
import subprocess

import numpy as np
import onnx
import pytest
from conftest import MNIST
from onnx import numpy_helper

import ingot
from ingot import export as exporting
from ingot.__main__ import main

HERE = pathlib.Path(__file__).resolve().parent
pytestmark = pytest.mark.skipif(not shutil.which("wasm-ld-22"), reason="lld 22 is not installed")
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not installed")


def node(*command, cwd=None):
    done = subprocess.run(["node", *map(str, command)], capture_output=True, text=True, timeout=300, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def digits():
    """Returns ten pictures, followed by ten rows of expected scores."""
    parts = []
    for kind in ("input", "output"):
        for i in range(10):
            tensor = onnx.TensorProto()
            tensor.ParseFromString((MNIST.parent / f"test_data_set_{i}" / f"{kind}_0.pb").read_bytes())
            parts.append(numpy_helper.to_array(tensor).ravel())
    return np.concatenate(parts).astype("<f4")


@needs_node
def test_digits_in_node(tmp_path):
    """Tests levels, threads, the worker, views, two concurrent loads, and bad input."""
    target = "wasm32,wasm32+simd128"
    assert main(["export", str(MNIST), "--as", "web", "-o", str(tmp_path / "web"), "--name", "digits", "--target", target, "--threads"]) == 0
    digits().tofile(tmp_path / "digits.bin")
    text = node(HERE / "web_check.mjs", tmp_path / "web", tmp_path / "digits.bin")
    assert "wasm32 threads 2" in text and "wasm32+simd128 threads 1" in text and text.endswith("all right\n")
    # A second export may replace the files of the first, but no other files.
    assert main(["export", str(MNIST), "--as", "web", "-o", str(tmp_path / "web"), "--name", "digits", "--target", "wasm32"]) == 0
    assert main(["export", str(MNIST), "--as", "web", "-o", str(tmp_path), "--name", "digits"]) == 1


@needs_node
def test_weights_in_a_file(tmp_path):
    options = ["--weights", "file"]
    exporting.export(MNIST, "web", tmp_path / "web", name="digits", target="wasm32+simd128", options=options)
    module, weights = tmp_path / "web" / "digits.simd128.wasm", tmp_path / "web" / "digits.weights"
    assert module.stat().st_size < weights.stat().st_size
    digits().tofile(tmp_path / "digits.bin")
    (tmp_path / "run.mjs").write_text("""
        import assert from "node:assert/strict";
        import { readFileSync } from "node:fs";
        import { load } from "./web/digits.js";
        const data = new Float32Array(readFileSync("digits.bin").buffer.slice(0));
        const files = [];
        const net = await load({ progress: ({ file, loaded, total }) => files.push([file, loaded === total]) });
        for (const y of [net.run({ Input3: data.slice(0, 784) }), await net.runAsync({ Input3: data.slice(0, 784) })])
            assert.ok(Math.abs(y.Plus214_Output_0[0] - data[7840]) < 1);
        assert.deepEqual(files, [["digits.simd128.wasm", true], ["digits.weights", true]]);
        net.close();
    """)
    node("run.mjs", cwd=tmp_path)
    # A weights file of another network must be detected.
    data = bytearray(weights.read_bytes())
    data[24] ^= 1
    weights.write_bytes(data)
    (tmp_path / "other.mjs").write_text("""
        import { load } from "./web/digits.js";
        const net = await load();
        try { net.run(); } catch (error) { console.log(error.code, error.message); }
    """)
    assert "weights digits: the weights file does not belong to this network" in node("other.mjs", cwd=tmp_path)
    with pytest.raises(ingot.UsageError, match="one level"):
        exporting.export(MNIST, "web", tmp_path / "several", options=options)


@needs_node
def test_open_sizes_and_types(tmp_path, dense):
    exporting.export(dense, "web", tmp_path / "web", name="net", target="wasm32", options=["--dim", "batch=1..64"])
    (tmp_path / "run.mjs").write_text("""
        import assert from "node:assert/strict";
        import { load } from "./web/net.js";
        const net = await load();
        assert.equal(net.sizes.batch, 1);
        for (const batch of [3, 64, 1]) {
            net.sizes.batch = batch;
            const x = Float32Array.from({ length: 4 * batch }, (_, i) => i);
            const { y } = net.run({ x, z: x });
            assert.deepEqual(net.shape("y"), [batch, 8]);
            assert.equal(y.length, 8 * batch);
            assert.deepEqual([...y.slice(8 * batch - 8)], [0, 1, 2, 3].flatMap((i) => 2 * (4 * batch - 4 + i)).concat([...x.slice(-4)]));
            assert.deepEqual([...(await net.runAsync({ x, z: x })).y], [...net.run({ x, z: x }).y]);
        }
        for (const wrong of [0, 65, 1.5, "2"]) assert.throws(() => { net.sizes.batch = wrong; }, { code: "shape" });
        assert.throws(() => net.run({ x: new Float32Array(8) }), /has 8 elements; its shape is \\[1, 4\\]/);
        net.close();
    """)
    node("run.mjs", cwd=tmp_path)
    declarations = (tmp_path / "web" / "net.d.ts").read_text()
    assert re.search(r"/\*\* 1 to 64 \*/\n  batch: number;", declarations) and '"x"?: Float32Array;' in declarations


def test_rejects(tmp_path, relu):
    with pytest.raises(ingot.UsageError, match="`x86-64-v3` is no level of WebAssembly; there are wasm32, "):
        exporting.export(relu, "web", tmp_path / "a", target="x86-64-v3")
    with pytest.raises(ingot.UsageError, match="--threads is for --as web"):
        exporting.export(relu, "make", tmp_path / "b", threads=True)
    text = exporting.export(relu, "web", tmp_path / "c", name="net", target="wasm32")[0].parent / "net.js"
    assert not re.search(r"\beval\(|new Function|globalThis\.\w+ = ", text.read_text())
