#!/usr/bin/env python3
"""Times examples/search beside ONNX Runtime with the package `tokenizers`, both on one thread: sentences per second.

    search.py FOLDER [--rounds R] [--batches 1,16,32] [--count N]

FOLDER is the one that examples/search/run.sh has filled. Both programs tokenize the same sentences, sort them by length,
compute the network of FOLDER/model, pool and normalize; loading is not counted. ONNX Runtime gets the network with pooling,
but without join_tokens of prepare.py, since it fuses the nodes of attention only in their original form. The programs run
alternately. ONNX Runtime runs with the fastest batch size of --batches. Needs: pip install onnx onnxruntime tokenizers numpy
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import numpy as np
import onnx
import onnxruntime
import tokenizers

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[2] / "examples/search"))
from prepare import add_pooling  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", default="1,8,16,32,64")
    parser.add_argument("--count", type=int, default=2000, help="sentences of a round")
    options = parser.parse_args()
    folder = options.folder.resolve()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    model = onnx.load(folder / "model" / "model.onnx")
    add_pooling(model, "mean")
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    lines = (folder / "sentences.txt").read_text(encoding="utf-8").split("\n")[:options.count]
    source = folder / "bench.txt"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def peer(batch, texts=lines):
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

    peer(16, lines[:200])
    speeds = {batch: peer(batch) for batch in map(int, options.batches.split(","))}
    print("ONNX Runtime:", ", ".join(f"batch {batch}: {speed:.0f}/s" for batch, speed in speeds.items()))
    best = max(speeds, key=speeds.get)
    rounds = [(peer(best), own()) for _ in range(options.rounds)]
    for name, values in zip((f"ONNX Runtime, batch {best}", "Ingot"), zip(*rounds)):
        print(f"{name}: {statistics.median(values):.0f} sentences per second ({min(values):.0f} to {max(values):.0f})")
    print(f"ratio: {statistics.median(own / peer for peer, own in rounds):.2f}")


if __name__ == "__main__":
    main()
