#!/usr/bin/env python3
"""Writes the folder of a tiny Whisper model with random weights, and a recording.

    make_model.py FOLDER

The graphs are exports of Optimum without their weights (folder `tiny`; 2 layers of 48 channels). The model's text has no
meaning, but the model has every part of a real one. Needs: pip install onnx numpy
"""
import json
import sys
import zlib
from pathlib import Path

import numpy as np
import onnx

LANGUAGES = ["en", "de", "fr"]
TASKS = ["translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]
WORDS = ("the and that with this from they have what were when your said there which their will each about many then them "
         "some would make like time look two more write number could people than first water been call who its now find long "
         "down day did get come made may part over new sound take only little work know place year live back give most very "
         "after thing our just name good sentence man think say great where help through much before line right too mean old "
         "any same tell boy follow came want show also around form three small").split()
CHANNELS, TOKENS = 48, 64  # channels of the tiny model; its largest number of tokens for a window


# The characters that stand for bytes in a byte-level vocabulary.
BYTES = [chr(byte) for byte in (*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324))]


def tokenizer():
    """Returns the content of tokenizer.json (byte-level BPE with the tokens of WORDS), and the ids of the added tokens."""
    vocabulary = {char: i for i, char in enumerate(BYTES)}
    merges = []
    for word in WORDS:
        word = "Ġ" + word
        for end in range(2, len(word) + 1):
            if word[:end] not in vocabulary:
                vocabulary[word[:end]] = len(vocabulary)
                merges.append([word[:end - 1], word[end - 1]])
    names = ["endoftext", "startoftranscript", *LANGUAGES, *TASKS]
    special = {f"<|{name}|>": len(vocabulary) + i for i, name in enumerate(names)}
    first = len(vocabulary) + len(special)
    added = {**special, **{f"<|{i * 0.02:.2f}|>": first + i for i in range(1501)}}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [{"id": number, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
                              "normalized": False, "special": text in special} for text, number in added.items()],
            "normalizer": None, "pre_tokenizer": level, "post_processor": None, "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": vocabulary, "merges": merges}}, added


def configurations(added):
    """Returns the contents of config.json, generation_config.json and preprocessor_config.json."""
    end, start = added["<|endoftext|>"], added["<|startoftranscript|>"]
    tokens = {"bos_token_id": end, "eos_token_id": end, "pad_token_id": end, "decoder_start_token_id": start,
              "begin_suppress_tokens": [220, end]}
    config = {"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "vocab_size": max(added.values()) + 1,
              "d_model": CHANNELS, "num_mel_bins": 80, "max_source_positions": 1500, "max_target_positions": TOKENS, **tokens}
    for part in ("encoder", "decoder"):
        config |= {f"{part}_layers": 2, f"{part}_attention_heads": 3, f"{part}_ffn_dim": 2 * CHANNELS}
    generation = {**tokens, "max_length": TOKENS, "is_multilingual": True, "max_initial_timestamp_index": 50,
                  # Suppresses control tokens, and bytes that are no letters, so that the text is readable.
                  "suppress_tokens": [*(i for i, char in enumerate(BYTES) if not (char.isascii() and char.isalpha())),
                                      *range(start, added["<|notimestamps|>"])],
                  "lang_to_id": {f"<|{name}|>": added[f"<|{name}|>"] for name in LANGUAGES},
                  "task_to_id": {name: added[f"<|{name}|>"] for name in TASKS[:2]},
                  "no_timestamps_token_id": added["<|notimestamps|>"], "prev_sot_token_id": added["<|startofprev|>"]}
    features = {"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 80, "sampling_rate": 16000,
                "hop_length": 160, "n_fft": 400, "chunk_length": 30, "n_samples": 480000, "nb_max_frames": 3000,
                "padding_side": "right", "padding_value": 0.0, "return_attention_mask": False}
    return config, generation, features


def weight(name, shape, added):
    """Returns the weights of a parameter, named as in `transformers`. Their scales are chosen so that tokens vary, that
    timestamps are neither always nor never the most probable tokens, and that some windows end with the end token."""
    if name == "model.encoder.embed_positions.weight":
        # Sines and cosines, as in Whisper.
        half = shape[1] // 2
        angles = np.arange(shape[0])[:, None] * np.exp(-np.log(10000) / (half - 1) * np.arange(half))
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)
    values = np.random.default_rng(zlib.crc32(name.encode())).random(shape)
    values = (values - 0.5) * 12 ** 0.5
    if "layer_norm" in name:
        values = values * 0.1 + name.endswith("weight")
        if name == "model.decoder.layer_norm.weight":
            # The embedding of a token is also its output weight. The alternating signs keep a token from being the most
            # probable one after itself.
            values[1::2] *= -1
    elif name.endswith("bias"):
        values *= 0.1
    elif "conv" in name:
        values *= 3 / (shape[1] * shape[2]) ** 0.5
    elif "embed_positions" in name:
        values *= 1.5
    elif "embed_tokens" in name:
        values *= 3.5 / shape[1] ** 0.5
        values[added["<|0.00|>"]:] *= 0.3
        values[added["<|endoftext|>"]] *= 2
    else:
        values *= 1.5 / shape[1] ** 0.5
    return values.astype(np.float32)


def fill(path, added):
    """Returns the model with weights. An initializer has the name of its parameter, with the suffix `.T` if transposed."""
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        if tensor.data_type != onnx.TensorProto.FLOAT or tensor.raw_data:
            continue
        name, transposed = tensor.name.removesuffix(".T"), tensor.name.endswith(".T")
        values = weight(name, list(tensor.dims)[::-1] if transposed else list(tensor.dims), added)
        tensor.raw_data = np.ascontiguousarray(values.T if transposed else values).astype("<f4").tobytes()
    return model


def write_wav(path, samples):
    """Writes samples from -1 to 1 as 16-bit PCM at 16 kHz."""
    data = np.clip(np.round(samples * 32767), -32768, 32767).astype("<i2").tobytes()

    def little(value, size):
        return int(value).to_bytes(size, "little")

    path.write_bytes(b"RIFF" + little(36 + len(data), 4) + b"WAVEfmt " + little(16, 4) + little(1, 2) + little(1, 2) +
                     little(16000, 4) + little(32000, 4) + little(2, 2) + little(16, 2) + b"data" + little(len(data), 4) + data)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    text, added = tokenizer()
    for name, content in zip(("tokenizer", "config", "generation_config", "preprocessor_config"),
                             (text, *configurations(added))):
        (folder / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for path in sorted((Path(__file__).parent / "tiny").glob("*.onnx")):
        onnx.save(fill(path, added), folder / path.name)
    time = np.arange(5 * 16000) / 16000
    write_wav(folder / "chirp.wav", 0.5 * np.sin(2 * np.pi * (200 + 150 * time) * time))


if __name__ == "__main__":
    main()
