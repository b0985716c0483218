"""Samples that cannot be used to quantize the model: cases in the form of
cases.py."""
import os

import numpy as np
from onnx import numpy_helper

from cases import case, info, model, node


def net(x_shape=("n", 4)):
    w = numpy_helper.from_array(np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4), "w")
    return model([node("MatMul", ["x", "w"])], inputs=[info("x", x_shape)], outputs=[info("y", None)],
                 initializers=[w])


def samples(folder, **arrays):
    np.savez(os.path.join(folder, "samples.npz"), **arrays)


def good(count=6):
    return np.random.default_rng(1).standard_normal((count, 4)).astype(np.float32)


QUANTIZE = {"command": ["quantize"], "args": ["--calibrate", "FOLDER/samples.npz"], "file": "FOLDER/samples.npz"}


@case("calibration-data", text="contains an array `input`, but the model has no such input", **QUANTIZE)
def samples_of_another_name(folder):
    samples(folder, input=good())
    return net()


@case("calibration-data", text="contains no data for the input `x`", **QUANTIZE)
def samples_of_nothing(folder):
    samples(folder)
    return net()


@case("calibration-data", text="array `x` has shape [6,5]; expected [N,4]", **QUANTIZE)
def samples_of_another_shape(folder):
    samples(folder, x=np.ones((6, 5), np.float32))
    return net()


@case("calibration-data", text="holds float64, but the input takes float32", **QUANTIZE)
def samples_of_another_type(folder):
    samples(folder, x=good().astype(np.float64))
    return net()


@case("calibration-data", text="has NaN in sample 2, at element 1", **QUANTIZE)
def samples_with_nan(folder):
    x = good()
    x[2, 1] = np.nan
    samples(folder, x=x)
    return net()


@case("calibration-data", text="is 0.5 everywhere", **QUANTIZE)
def samples_of_one_value(folder):
    samples(folder, x=np.full((6, 4), 0.5, np.float32))
    return net()


@case("calibration-data", text="does not exist", **QUANTIZE)
def samples_that_are_not_there(folder):
    return net()


@case("calibration-data", text="is damaged", **QUANTIZE)
def samples_that_are_cut_off(folder):
    samples(folder, x=good())
    path = os.path.join(folder, "samples.npz")
    data = bytearray(open(path, "rb").read())
    at = data.rfind(b"PK\x01\x02")
    data[at + 42:at + 46] = b"\xff\xff\xff\x00"
    open(path, "wb").write(data)
    return net()


@case("calibration-data", text="labels for 6 samples", command=["quantize"],
      args=["--calibrate", "FOLDER/samples.npz", "--labels", "FOLDER/labels.npy", "--max-loss", "1%"])
def labels_of_fewer_samples(folder):
    samples(folder, x=good())
    np.save(os.path.join(folder, "labels.npy"), np.zeros(5, np.int64))
    return net()


@case("bad-option", text="--labels has no effect without a --max-loss in percent", command=["quantize"],
      args=["--calibrate", "FOLDER/samples.npz", "--labels", "FOLDER/labels.npy", "--max-loss", "30dB"])
def labels_for_decibels(folder):
    samples(folder, x=good())
    np.save(os.path.join(folder, "labels.npy"), np.zeros(6, np.int64))
    return net()


@case("calibration-data", text="the labels: ", file="FOLDER/labels.npy", command=["quantize"],
      args=["--calibrate", "FOLDER/samples.npz", "--labels", "FOLDER/labels.npy", "--max-loss", "1%"])
def labels_that_are_not_there(folder):
    samples(folder, x=good())
    return net()


@case("calibration-data", text="the label of sample 2 is 4, but the first output has 4 classes", command=["quantize"],
      args=["--calibrate", "FOLDER/samples.npz", "--labels", "FOLDER/labels.npy", "--max-loss", "1%"])
def labels_of_classes_that_are_not_there(folder):
    samples(folder, x=good())
    np.save(os.path.join(folder, "labels.npy"), np.array([0, 3, 4, 0, 1, 2]))
    return net()


@case("calibration-data", text="contains no samples: its shape is [0,4]", **QUANTIZE)
def no_samples(folder):
    samples(folder, x=good(0))
    return net()


@case("calibration-data", text="the input `x` cannot take samples: its shape is [0,4]", **QUANTIZE)
def an_input_of_no_samples(folder):
    samples(folder, x=good())
    return net((0, 4))


@case("not-quantized", text="with all weights in float", command=["quantize"],
      args=["--calibrate", "FOLDER/samples.npz", "--max-loss", "190dB"])
def a_budget_that_nothing_keeps(folder):
    samples(folder, x=good())
    return net()


@case("not-quantized", text="is quantized already", **{**QUANTIZE, "file": None})
def a_model_that_is_quantized(folder):
    samples(folder, x=good())
    scale = numpy_helper.from_array(np.float32(0.1), "s")
    return model([node("QuantizeLinear", ["x", "s"], ["q"]), node("DequantizeLinear", ["q", "s"])],
                 initializers=[scale])


@case("bad-option", text="quantizing needs sample inputs: --calibrate samples.npz", command=["quantize"])
def quantized_without_saying_how(folder):
    return net()


@case("bad-option", text="--max-loss: `much` needs a unit: 35dB or 1%", command=["quantize"],
      args=["--calibrate", "none", "--max-loss", "much"])
def a_budget_without_a_unit(folder):
    return net()


@case("bad-option", text="--calibrate has no effect without --quantize", args=["--calibrate", "none"])
def samples_without_quantizing(folder):
    return net()
