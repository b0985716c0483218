"""Writes models for verify.test to a folder: with token ids, with an open batch, and with an input that is a shape."""
import sys

import numpy as np
import onnx
from onnx import numpy_helper, parser


def save(name, text, **constants):
    model = parser.parse_model('<ir_version: 9, opset_import: ["": 18]> ' + text)
    model.graph.initializer.extend(numpy_helper.from_array(value, key) for key, value in constants.items())
    onnx.save(model, f"{sys.argv[1]}/{name}.onnx")


random = np.random.default_rng(1)
rows = random.standard_normal((11, 4)).astype(np.float32)
weights = random.standard_normal((4, 3)).astype(np.float32)
TOKENS = "m (int64[batch, tokens] ids, float[batch, tokens] attention_mask) => (float[batch, 3] y) { " \
    "e = Gather(rows, ids) axes = Constant<value_ints = [2]>() m = Unsqueeze(attention_mask, axes) " \
    "k = Mul(e, m) one = Constant<value_ints = [1]>() s = ReduceSum<keepdims = 0>(k, one) y = MatMul(s, weights) }"
save("tokens", TOKENS, rows=rows, weights=weights)
save("other", TOKENS, rows=rows, weights=weights + np.eye(4, 3, dtype=np.float32))
save("shape", "m (float[6] x, int64[2] s) => (float[a, b] y) { y = Reshape(x, s) }")
save("strings", "m (string[2] x) => (string[2] y) { y = Identity(x) }")
