"""Writes tflite/NAME/NAME_int8.tflite, fully quantized, from the SavedModel of onnx2tf: tflite_int8.py
NAME"""
import sys

import numpy as np
import tensorflow as tf

folder = f"tflite/{sys.argv[1]}"
(x,) = np.load(f"{sys.argv[1]}_int8.npz").values()
if x.ndim == 4:
    x = x.transpose(0, 2, 3, 1)
rng = np.random.default_rng(1)
c = tf.lite.TFLiteConverter.from_saved_model(folder)
c.optimizations = [tf.lite.Optimize.DEFAULT]
c.representative_dataset = lambda: ([rng.random(x.shape, dtype=np.float32)] for _ in range(4))
c.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
with open(f"{folder}/{sys.argv[1]}_int8.tflite", "wb") as file:
    file.write(c.convert())
