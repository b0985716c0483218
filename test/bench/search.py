#!/usr/bin/env python3
"""Times examples/search beside ONNX Runtime with the package `tokenizers`, both on one thread: sentences per second.

    search.py FOLDER [--rounds R] [--batches 1,16,32]

FOLDER is the one that examples/search/run.sh has filled. Both programs tokenize the same sentences, sort them by length and
compute the same network (encoder.onnx, which includes pooling and normalization); loading is not counted. The two take
turns. The batch of ONNX Runtime is the fastest of --batches. Needs: pip install onnxruntime tokenizers numpy
"""
import argparse
import os
import re
import statistics
import subprocess
import time
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import numpy as np
import onnxruntime
import tokenizers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", default="1,8,16,32,64")
    options = parser.parse_args()
    folder = options.folder.resolve()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "encoder.onnx"), settings)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    source = folder / "sentences.txt"

    def peer(batch, most=None):
        texts = source.read_text(encoding="utf-8").split("\n")[:-1][:most]
        start = time.perf_counter()
        tokens = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
        order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i]))
        vectors = None
        for begin in range(0, len(order), batch):
            rows = order[begin:begin + batch]
            length = len(tokens[rows[0]])
            ids = np.zeros((len(rows), length), np.int64)
            mask = np.zeros((len(rows), length), np.int64)
            for row, i in enumerate(rows):
                ids[row, :len(tokens[i])] = tokens[i]
                mask[row, :len(tokens[i])] = 1
            (result,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
            if vectors is None:
                vectors = np.empty((len(order), result.shape[1]), np.float32)
            vectors[rows] = result
        return len(order) / (time.perf_counter() - start)

    def own():
        text = subprocess.run([folder / "search", "index", source, folder / "bench.index", "--threads", "1"],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        return float(re.search(r"(\d+) sentences per second", text)[1])

    peer(16, 200)
    speeds = {batch: peer(batch, 2000) for batch in map(int, options.batches.split(","))}
    print("ONNX Runtime, 2,000 sentences:", ", ".join(f"batch {batch}: {speed:.0f}/s" for batch, speed in speeds.items()))
    best = max(speeds, key=speeds.get)
    rounds = [(peer(best), own()) for _ in range(options.rounds)]
    for name, values in zip((f"ONNX Runtime, batch {best}", "Ingot"), zip(*rounds)):
        print(f"{name}: {statistics.median(values):.0f} sentences per second ({min(values):.0f} to {max(values):.0f})")
    print(f"ratio: {statistics.median(own / peer for peer, own in rounds):.2f}")


if __name__ == "__main__":
    main()
