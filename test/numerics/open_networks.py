"""Networks as they are exported, compiled once for sizes that only the run knows. Beside ONNX Runtime.

    open_networks.py --ingot INGOT

Each is a graph that a framework's exporter wrote, with seeded random weights: transformers with and without a cache, a voice
detector that branches on its sample rate. (Of detectors with such weights all scores are nearly the same, so that rounding
decides which boxes are kept: they are not compared here.)
"""
import argparse
import os
import sys

import numpy as np

import compiled_once

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "networks", "models")
sys.path.insert(0, MODELS)
from models import load_filled  # noqa: E402

rng = np.random.default_rng(23)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def words(*shape):
    return rng.integers(0, 200, shape)


def bert(length):
    mask = np.ones((1, length), np.int64)
    mask[0, max(1, length - 2):] = 0
    return {"input_ids": words(1, length), "attention_mask": mask, "token_type_ids": np.zeros((1, length), np.int64)}


def gpt2(past, length):
    cache = {f"past_{layer}_{which}": normal(1, 3, past, 32) for layer in range(2) for which in "kv"}
    return {"input_ids": words(1, length), "attention_mask": np.ones((1, past + length), np.int64), **cache}


def whisper(past):
    """One decoding step; the keys and values of the encoder (ck, cv) do not grow."""
    cache = {f"past_{layer}_{which}": normal(1, 3, 60 if "c" in which else past, 32) for layer in range(2) for which in ("k", "v", "ck", "cv")}
    return {"input_ids": words(1, 1), **cache}


def silero(samples, rate):
    return {"input": normal(1, samples) / 10, "state": normal(2, 1, 128) / 10, "sr": np.array(rate, np.int64)}


def check(name, network, runs, dims, refused=()):
    compiled_once.check(args.ingot, name, network, runs, dims, refused, variants=[["--dynamic"]], tolerance=(1e-3, 1e-4))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--ingot", required=True)
parser.add_argument("--program")
parser.add_argument("--filter", default="")
args = parser.parse_args()
CASES = {
    "bert": ([bert(n) for n in (1, 33, 128)], ["seq=1..128"], [bert(129)]),
    "gpt2": ([gpt2(*at) for at in ((0, 5), (7, 1), (127, 16))], ["past=0..127", "seq=1..16", "total=1..143"], [gpt2(3, 17)]),
    "whisper_decoder": ([whisper(n) for n in (1, 30, 127)], ["past=0..127"], [whisper(128)]),
    "silero_vad": ([silero(*at) for at in ((512, 16000), (256, 8000), (384, 16000))], ["batch=1..2", "sequence=256..512"], [silero(513, 16000)]),
}
for name, (runs, dims, refused) in CASES.items():
    if args.filter in name:
        check(name, load_filled(name, os.path.join(MODELS, "open")), runs, dims, refused)
compiled_once.finish()
