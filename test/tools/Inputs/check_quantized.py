"""Compares the report of `ingot inspect --json` about quantized weights with all stored
constants."""
import json
import sys

report = json.load(sys.stdin)
weights = report["quantized_weights"]
assert weights == {"bytes": 9216, "stored_bytes": 36864, "stored_as": "float32"}, weights
# Besides the 36864 bytes of dequantized weights, the only constant is a bias of 32 elements.
assert 36864 <= report["weight_bytes"] <= 36864 + 32 * 4 + 64, report["weight_bytes"]
