"""The models of this example: log-mel features and a small network of depthwise separable convolutions.

usage: models.py calibrate SAMPLES.npz        writes windows of features for `ingot quantize`
       models.py join NETWORK.onnx OUT.onnx   writes a model that computes the features, then a network; it reads samples
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, compose, helper, numpy_helper

RATE, FRAMES, BANDS = 16000, 49, 40
LENGTH, STEP = 512, 320  # samples in a frame (32 ms), and between the starts of consecutive frames (20 ms)
SAMPLES = (FRAMES - 1) * STEP + LENGTH  # the window that the network sees: 0.992 s
LOW, HIGH, FLOOR = 60.0, 7600.0, 1e-4


@dataclass
class Layer:
    """A convolution with ReLU. Along time it has stride 1 and no padding, so that --stream computes only new positions."""

    name: str
    channels: int
    kernel: tuple[int, int]  # along time, along frequency
    stride: int = 1  # along frequency
    pad: int = 0  # along frequency
    depthwise: bool = False


LAYERS = [
    Layer("first", 24, (5, 8), 2, 3),
    Layer("depthwise1", 24, (3, 3), 2, 1, True),
    Layer("pointwise1", 48, (1, 1)),
    Layer("depthwise2", 48, (3, 3), 2, 1, True),
    Layer("pointwise2", 48, (1, 1)),
    Layer("depthwise3", 48, (3, 3), 1, 1, True),
    Layer("pointwise3", 48, (1, 1)),
    Layer("depthwise4", 48, (3, 3), 1, 1, True),
    Layer("pointwise4", 48, (1, 1)),
    Layer("bands", 48, (1, 5), 1, 0, True),
]


def mel_weights() -> np.ndarray:
    """Returns the matrix of ONNX's MelWeightMatrix: [bins, bands]."""
    mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)
    step = (mel(HIGH) - mel(LOW)) / (BANDS + 2)
    hertz = 700 * (10 ** ((mel(LOW) + np.arange(BANDS + 2) * step) / 2595) - 1)
    edges = ((LENGTH + 1) * hertz // RATE).astype(int)
    weights = np.zeros((LENGTH // 2 + 1, BANDS), np.float32)
    for i in range(BANDS):
        left, centre, right = edges[i : i + 3]
        for k in range(left, centre + 1):
            weights[k, i] = 1 if left == centre else (k - left) / (centre - left)
        for k in range(centre, right):
            weights[k, i] = (right - k) / (right - centre)
    return weights


WINDOW = np.hanning(LENGTH + 1)[:-1].astype(np.float32)


def features(samples: np.ndarray) -> np.ndarray:
    """Returns the features of SAMPLES samples, computed with NumPy as feature_model() does: [FRAMES, BANDS]."""
    frames = np.stack([samples[i * STEP : i * STEP + LENGTH] for i in range(FRAMES)]).astype(np.float32) / 32768
    power = np.abs(np.fft.rfft(frames * WINDOW)) ** 2
    return np.log(power @ mel_weights() + FLOOR).astype(np.float32)


def feature_model() -> onnx.ModelProto:
    """Returns a model from int16 samples to log-mel features: the logarithm of the power of BANDS bands in FRAMES frames."""
    constant = lambda name, array: numpy_helper.from_array(np.asarray(array), name)
    node = helper.make_node
    nodes = [
        node("Cast", ["samples"], ["wide"], "to_float", to=TensorProto.FLOAT),
        node("Mul", ["wide", "unit"], ["signal"], "scale"),
        node("STFT", ["signal", "step", "window"], ["spectrum"], "spectrum", onesided=1),
        node("Mul", ["spectrum", "spectrum"], ["squares"], "square"),
        node("ReduceSum", ["squares", "last"], ["power"], "power", keepdims=0),
        node("MelWeightMatrix", ["bands", "length", "rate", "low", "high"], ["filters"], "filters"),
        node("MatMul", ["power", "filters"], ["mel"], "mel"),
        node("Add", ["mel", "floor"], ["audible"], "floor"),
        node("Log", ["audible"], ["logs"], "log"),
        node("Unsqueeze", ["logs", "channel"], ["features"], "channel"),
    ]
    constants = [
        constant("unit", np.float32(1 / 32768)), constant("step", np.int64(STEP)), constant("window", WINDOW),
        constant("last", np.array([3])), constant("bands", np.int64(BANDS)), constant("length", np.int64(LENGTH)),
        constant("rate", np.int64(RATE)), constant("low", np.float32(LOW)), constant("high", np.float32(HIGH)),
        constant("floor", np.float32(FLOOR)), constant("channel", np.array([1])),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes, "features",
        [helper.make_tensor_value_info("samples", TensorProto.INT16, [1, SAMPLES])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, 1, FRAMES, BANDS])], constants,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def network(weights: list[tuple[np.ndarray, np.ndarray]], classes: list[str]) -> onnx.ModelProto:
    """Returns the network from features to probabilities; its metadata contains the names of the classes."""
    nodes, constants, value = [], [], "features"
    for layer, (w, b) in zip(LAYERS, weights):
        constants += [numpy_helper.from_array(w, layer.name + "_w"), numpy_helper.from_array(b, layer.name + "_b")]
        nodes += [
            helper.make_node(
                "Conv", [value, layer.name + "_w", layer.name + "_b"], [layer.name + "_sum"], layer.name,
                kernel_shape=layer.kernel, strides=[1, layer.stride], pads=[0, layer.pad, 0, layer.pad],
                group=w.shape[0] if layer.depthwise else 1,
            ),
            helper.make_node("Relu", [layer.name + "_sum"], [layer.name + "_out"], layer.name + "_relu"),
        ]  # fmt: skip
        value = layer.name + "_out"
    w, b = weights[-1]
    constants += [numpy_helper.from_array(w, "last_w"), numpy_helper.from_array(b, "last_b")]
    nodes += [
        helper.make_node("GlobalAveragePool", [value], ["mean"], "mean"),
        helper.make_node("Flatten", ["mean"], ["flat"], "flat"),
        helper.make_node("Gemm", ["flat", "last_w", "last_b"], ["logits"], "last", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax"),
    ]
    graph = helper.make_graph(
        nodes, "network",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, 1, FRAMES, BANDS])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, len(classes)])], constants,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"classes": ",".join(classes)})
    return model


def save(model: onnx.ModelProto, path: Path) -> None:
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def calibrate(path: str) -> None:
    import speech

    rng = np.random.default_rng(7)
    windows = []
    for _ in range(100):
        samples, _ = speech.say(rng, [str(rng.choice(list(speech.WORDS)))], rng.uniform(-30, -3))
        start = int(rng.integers(0, len(samples) - SAMPLES))
        windows.append(features(samples[start : start + SAMPLES])[None])
    np.savez(path, features=np.stack(windows))


def join(network_path: str, path: str) -> None:
    after = onnx.load(network_path)
    before = onnx.version_converter.convert_version(feature_model(), after.opset_import[0].version)
    before.ir_version = after.ir_version
    before = compose.add_prefix(before, "mel_", inplace=True, rename_inputs=False, rename_outputs=False)
    save(compose.merge_models(before, after, io_map=[("features", "features")]), Path(path))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "calibrate":
        calibrate(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "join":
        join(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
