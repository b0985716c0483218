"""Checks what `ingot inspect --json` says of quantized weights against all that is stored."""
import json
import sys

report = json.load(sys.stdin)
weights = report["quantized_weights"]
assert weights == {"bytes": 9216, "stored_bytes": 36864, "stored_as": "float32"}, weights
# Beside the weights there is only a bias of 32.
assert 36864 <= report["weight_bytes"] <= 36864 + 32 * 4 + 64, report["weight_bytes"]
