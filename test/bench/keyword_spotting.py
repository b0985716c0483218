#!/usr/bin/env python3
"""Counts the instructions of examples/keyword on this machine beside TensorFlow Lite for Microcontrollers (TFLM).

    keyword_spotting.py --ingot PROGRAM --work DIR [--target NAME]

TFLM runs the int8 network of keyword.onnx, converted layer by layer, on the features of a whole window, as its example
micro_speech does for each frame; features are not counted. Ingot runs the same network in the same way, streamed (a call
computes what one new row of features changes), and streamed with the features. Valgrind counts: the difference between runs
with more and with fewer calls, divided by the number of calls. TFLM's kernels for PCs are its portable ones, so Ingot's code
is also portable by default (--target generic). Needs: valgrind, g++, pip install onnx numpy tflite-micro
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

MODEL = Path(__file__).parents[2] / "examples/keyword/keyword.onnx"
FEW, MANY = 2, 12
MAIN = """
#include "NAME.h"
#include <cstdio>
#include <cstdlib>
static NAME::arena arena;
STATE
int main(int, char **arguments) {
  static TYPE in[SIZE];
  static float out[7];
  std::FILE *file = std::fopen(arguments[2], "rb");
  if (!file || std::fread(in, sizeof(TYPE), SIZE, file) != SIZE)
    return 1;
  for (int i = std::atoi(arguments[1]); i > 0; --i)
    if (NAME::run({in, out PLACE}, arena) != INGOT_OK)
      return 2;
  for (float share : out)
    std::printf("%.9g\\n", share);
}
"""


class Lite:
    """Writes the network as a TFLite model. Activations become int8: their zero points decrease by 128."""

    def __init__(self, model):
        from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema
        self.schema = schema
        self.numbers = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        self.model, self.graph = schema.ModelT(), schema.SubGraphT()
        self.model.version, self.model.subgraphs, self.model.operatorCodes = 3, [self.graph], []
        self.model.buffers = [schema.BufferT()]
        self.graph.tensors, self.graph.operators = [], []
        value, shape = self.tensor("features", (1, 49, 40, 1), "INT8", *self.scales("features")), (1, 49, 40, 1)
        self.graph.inputs = [value]
        source = "features"
        for node in model.graph.node:
            if node.op_type == "Conv":
                value, shape = self.convolution(node, value, shape, source)
                source = node.input[1].removesuffix("_w_dq") + "_out"
        axes = self.tensor("axes", (2,), "INT32", data=np.array([1, 2], np.int32))
        mean = self.tensor("mean", (1, shape[3]), "INT8", *self.scales("mean"))
        self.operator("MEAN", [value, axes], mean, "ReducerOptions", keepDims=False)
        weights, scales = self.numbers["last_w_q"], self.numbers["last_w_scale"]
        logits = self.tensor("logits", (1, len(weights)), "INT8", np.array([0.25]), np.array([0]))
        self.operator("FULLY_CONNECTED", [mean, self.tensor("last_w", weights.shape, "INT8", scales, data=weights),
                                          self.bias("last", "mean", scales)], logits, "FullyConnectedOptions")
        out = self.tensor("probabilities", (1, len(weights)), "INT8", np.array([1 / 256]), np.array([-128]))
        self.operator("SOFTMAX", [logits], out, "SoftmaxOptions", beta=1.0)
        self.graph.outputs = [out]

    def scales(self, name):
        return self.numbers[f"{name}_scale"], self.numbers[f"{name}_zero"].astype(np.int64) - 128

    def tensor(self, name, shape, kind, scale=None, zero=None, data=None, axis=0):
        tensor = self.schema.TensorT()
        tensor.name, tensor.shape, tensor.type = name, list(shape), getattr(self.schema.TensorType, kind)
        if scale is not None:
            tensor.quantization = self.schema.QuantizationParametersT()
            tensor.quantization.scale = np.atleast_1d(scale).astype(np.float32)
            tensor.quantization.zeroPoint = np.zeros(np.size(scale), np.int64) if zero is None else np.atleast_1d(zero)
            tensor.quantization.quantizedDimension = axis
        tensor.buffer = 0
        if data is not None:
            tensor.buffer = len(self.model.buffers)
            self.model.buffers.append(self.schema.BufferT())
            self.model.buffers[-1].data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def operator(self, kind, inputs, output, options, **values):
        code = self.schema.OperatorCodeT()
        code.builtinCode = getattr(self.schema.BuiltinOperator, kind)
        code.deprecatedBuiltinCode, code.version = code.builtinCode, 1
        operator = self.schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = len(self.model.operatorCodes), inputs, [output]
        operator.builtinOptionsType = getattr(self.schema.BuiltinOptions, options)
        operator.builtinOptions = getattr(self.schema, options + "T")()
        for name, value in values.items():
            setattr(operator.builtinOptions, name, value)
        self.model.operatorCodes.append(code)
        self.graph.operators.append(operator)

    def bias(self, name, source, scales):
        scales = scales * self.numbers[f"{source}_scale"]
        return self.tensor(f"{name}_b", scales.shape, "INT32", scales, data=np.round(self.numbers[f"{name}_b"] / scales).astype(np.int32))

    def convolution(self, node, value, shape, source):
        name = node.input[1].removesuffix("_w_dq")
        given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        top, left, bottom, right = given["pads"]
        if any(given["pads"]):
            shape = (1, shape[1] + top + bottom, shape[2] + left + right, shape[3])
            pads = self.tensor(f"{name}_pads", (4, 2), "INT32", data=np.array([[0, 0], [top, bottom], [left, right], [0, 0]], np.int32))
            padded = self.tensor(f"{name}_padded", shape, "INT8", *self.scales(source))
            self.operator("PAD", [value, pads], padded, "PadOptions")
            value = padded
        weights, scales = self.numbers[f"{name}_w_q"], self.numbers[f"{name}_w_scale"]
        depthwise = given["group"] > 1
        weights = weights.transpose(1, 2, 3, 0) if depthwise else weights.transpose(0, 2, 3, 1)
        kernel = self.tensor(f"{name}_w", weights.shape, "INT8", scales, data=weights, axis=3 if depthwise else 0)
        (down, across), (rows, columns) = given["strides"], given["kernel_shape"]
        shape = (1, (shape[1] - rows) // down + 1, (shape[2] - columns) // across + 1, len(scales))
        out = self.tensor(f"{name}_out", shape, "INT8", *self.scales(f"{name}_out"))
        kind, options = ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions") if depthwise else ("CONV_2D", "Conv2DOptions")
        more = {"depthMultiplier": 1} if depthwise else {}
        self.operator(kind, [value, kernel, self.bias(name, source, scales)], out, options, padding=self.schema.Padding.VALID, strideH=down,
                      strideW=across, dilationHFactor=1, dilationWFactor=1, fusedActivationFunction=self.schema.ActivationFunctionType.RELU, **more)
        return out, shape

    def save(self, path):
        import flatbuffers
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        path.write_bytes(builder.Output())


def run_lite(model, count, features):
    """Implements the hidden mode --lite: runs the TFLite model `count` times and prints the probabilities."""
    from tflite_micro.python.tflite_micro import runtime
    interpreter = runtime.Interpreter.from_file(model, arena_size=1 << 20)
    scale, zero = (interpreter.get_input_details(0)["quantization_parameters"][name][0] for name in ("scales", "zero_points"))
    values = np.fromfile(features, np.float32).reshape(1, 49, 40, 1)
    interpreter.set_input(np.clip(np.round(values / scale) + zero, -128, 127).astype(np.int8), 0)
    for _ in range(count):
        interpreter.invoke()
    print("\n".join(str((int(share) + 128) / 256) for share in interpreter.get_output(0).ravel()))


def instructions(command, work):
    """Returns the instructions of a call, and the last output. A call replaces the word COUNT by the number of calls."""
    counts = []
    for calls in (FEW, MANY):
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={work}/callgrind.out", *(str(calls) if word == "COUNT" else word for word in command)],
                              capture_output=True, text=True)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not found:
            sys.exit(f"{' '.join(command)}: {done.stderr[-2000:]}")
        counts.append(int(found[1]))
    return (counts[1] - counts[0]) // (MANY - FEW), np.array(done.stdout.split(), float)


def compile_network(options, name, model, stream, place, data):
    """Compiles a network and returns the command that runs it COUNT times on the file `data`."""
    work = options.work / name
    work.mkdir(parents=True, exist_ok=True)
    subprocess.run([options.ingot, model, "--name", name, "-o", work / f"{name}.cpp", "--target", options.target, "-q", *stream], check=True)
    header = (work / f"{name}.h").read_text()
    size = re.search(rf"define {name.upper()}_(?:FEATURES|SAMPLES)_ELEMENTS (\d+)", header)[1]
    state = f"alignas({name.upper()}_STATE_ALIGN) static unsigned char state[{name.upper()}_STATE_BYTES];" if stream else ""
    text = MAIN.replace("NAME", name).replace("TYPE", "short" if "short" in place else "float").replace("SIZE", size).replace("STATE", state)
    (work / "main.cpp").write_text(text.replace("PLACE", ", state" if stream else ""))
    subprocess.run(["g++", "-std=c++17", "-O2", work / "main.cpp", work / f"{name}.cpp", "-o", work / "run"], check=True)
    return [str(work / "run"), "COUNT", str(data)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--target", default="generic")
    parser.add_argument("--lite", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.lite:
        return run_lite(options.lite[0], int(options.lite[1]), options.lite[2])
    work = options.work
    work.mkdir(parents=True, exist_ok=True)
    network, lite, features, samples = work / "network.onnx", work / "network.tflite", work / "features.bin", work / "samples.bin"
    model = onnx.shape_inference.infer_shapes(onnx.load(MODEL))
    onnx.save(onnx.utils.Extractor(model).extract_model(["features"], ["probabilities"]), network)
    random = np.random.default_rng(1)
    random.normal(-5, 3, (49, 40)).astype(np.float32).tofile(features)
    random.integers(-9000, 9000, 15872).astype(np.int16).tofile(samples)
    Lite(onnx.load(network)).save(lite)
    rows = {
        "TFLM, network, whole window": [sys.executable, __file__, "--ingot", options.ingot, "--work", str(work), "--lite", str(lite), "COUNT", str(features)],
        "Ingot, network, whole window": compile_network(options, "whole", network, [], "float", features),
        "Ingot, network, streamed": compile_network(options, "streamed", network, ["--stream", "2"], "float", features),
        "Ingot, features and network, streamed": compile_network(options, "samples", MODEL, ["--stream", "1"], "short", samples),
    }
    results = {name: instructions(command, work) for name, command in rows.items()}
    peer, shares = next(iter(results.values()))
    for name, (count, _) in results.items():
        print(f"{name:40}{count:14,}{peer / count:10.1f}")
    print(f"largest difference of the probabilities: {abs(shares - results['Ingot, network, whole window'][1]).max():.3f}")


if __name__ == "__main__":
    sys.exit(main())
