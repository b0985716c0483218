"""Compares the greedy tokens of a chat program with those of ONNX Runtime.

    tokens_agree.py CHAT MODEL.onnx PROMPTS TOKENS

At the first difference of a prompt the gap between the two tokens' logits in ONNX Runtime is printed: kernels that round
differently may exchange tokens whose logits are nearly equal, which is a gap of at most 1% of the logits' range.
"""
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error.name} is not installed")
    sys.exit(77)

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int8)": np.int8, "tensor(uint8)": np.uint8}
chat, model, prompts, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.log_severity_level = 3
session = onnxruntime.InferenceSession(model, options)
inputs = {value.name: value for value in session.get_inputs()}
caches = [name for name in inputs if name.startswith("past_key_values.")]
outputs = [value.name for value in session.get_outputs()]
vocabulary = session.get_outputs()[0].shape[-1]


def reference(tokens):
    """Yields (token, logits) as ONNX Runtime continues `tokens`."""
    past = {name: np.zeros([1, inputs[name].shape[1], 0, inputs[name].shape[3]], TYPES[inputs[name].type]) for name in caches}
    # The head size must be static in the model's inputs.
    if any(isinstance(size, str) for value in past.values() for size in value.shape):
        raise SystemExit("the shapes of the caches are not known")
    feed = tokens
    total = 0
    while True:
        total += len(feed)
        values = {"input_ids": np.array([feed], np.int64), "attention_mask": np.ones((1, total), np.int64), **past}
        if "position_ids" in inputs:
            values["position_ids"] = np.arange(total - len(feed), total)[None]
        results = dict(zip(outputs, session.run(None, values)))
        logits = results["logits"][0, -1]
        past = {name: results[name.replace("past_key_values", "present")] for name in caches}
        feed = [int(logits.argmax())]
        yield feed[0], logits


def head_size():
    import json
    import os
    path = os.path.join(os.path.dirname(model), "genai_config.json")
    return json.load(open(path))["model"]["decoder"]["head_size"]


for name in caches:
    shape = inputs[name].shape
    if isinstance(shape[3], str):
        shape[3] = head_size()
        inputs[name] = type("Value", (), {"shape": shape, "type": inputs[name].type})

rng = random.Random(3)
equal = near = 0
worst = 0.0
with tempfile.TemporaryDirectory() as folder:
    for number in range(prompts):
        tokens = [rng.randrange(3, vocabulary) for _ in range(rng.randint(1, 40))]
        with open(f"{folder}/prompt", "w") as file:
            file.write(" ".join(map(str, tokens)))
        own = subprocess.run([chat, "--prompt-tokens", f"{folder}/prompt", "--greedy", "--print-tokens", "--max-tokens",
                              str(most)], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
        for position, (token, logits) in zip(range(len(own)), reference(tokens)):
            mine = int(own[position])
            if mine != token:
                gap = float(logits[token] - logits[mine]) / float(logits.max() - logits.min())
                worst = max(worst, gap)
                near += 1
                print(f"prompt {number}, token {position}: {mine} instead of {token}; their logits differ by "
                      f"{100 * gap:.3f}% of the range", flush=True)
                break
        else:
            equal += 1
print(f"{equal} of {prompts} prompts with {most} equal tokens, {near} with nearly equal logits where they part "
      f"(at most {100 * worst:.3f}% of the range)")
sys.exit(worst > 0.01 or equal + near < prompts)
