"""Writes mnist_int8.onnx: the digit classifier of ../mnist, quantized to int8 by ONNX Runtime.

    quantize.py        (needs onnx and onnxruntime)

The ten digits that come with the model are the calibration data.
"""
import os
import tempfile

import onnx
from onnx import numpy_helper, version_converter
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

HERE = os.path.dirname(os.path.abspath(__file__))
MNIST = os.path.join(HERE, "..", "mnist")


class Digits(CalibrationDataReader):
    def __init__(self):
        paths = (os.path.join(MNIST, f"test_data_set_{digit}", "input_0.pb") for digit in range(10))
        self.samples = iter([{"Input3": numpy_helper.to_array(onnx.load_tensor(path))} for path in paths])

    def get_next(self):
        return next(self.samples, None)


with tempfile.TemporaryDirectory() as folder:
    newer = os.path.join(folder, "opset13.onnx")
    onnx.save(version_converter.convert_version(onnx.load(os.path.join(MNIST, "model.onnx")), 13), newer)
    quantize_static(newer, os.path.join(HERE, "mnist_int8.onnx"), Digits(), quant_format=QuantFormat.QDQ,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True)
