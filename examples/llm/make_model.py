#!/usr/bin/env python3
"""Writes the folder of a tiny language model with random weights, of the form that ONNX Runtime GenAI's builder writes.

    make_model.py FOLDER [--layers N] [--hidden N] [--context N] [--cache float32|int8|int4]

It says nothing sensible, but it has every part of a real one: a byte-level BPE tokenizer, grouped heads with rotary
positions and a cache, 4-bit weights, ChatML turns. Needs: pip install onnx numpy
"""
import argparse
import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32
CACHES = {"float32": TensorProto.FLOAT, "int8": TensorProto.INT8, "int4": TensorProto.UINT8}
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def byte_alphabet():
    """The characters that stand for the 256 bytes in a byte-level vocabulary."""
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    result, following = {}, 256
    for byte in range(256):
        if byte in printed:
            result[byte] = chr(byte)
        else:
            result[byte] = chr(following)
            following += 1
    return result


def tokenizer():
    vocabulary = {text: i for i, text in enumerate(SPECIAL)}
    for char in byte_alphabet().values():
        vocabulary[char] = len(vocabulary)
    merges = []
    for word in "Ġt he in er an Ġa on re at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le Ġo ing the Ġthe and".split():
        for cut in range(1, len(word)):
            if word[:cut] in vocabulary and word[cut:] in vocabulary:
                merges.append([word[:cut], word[cut:]])
                vocabulary.setdefault(word, len(vocabulary))
                break
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
              "special": True} for i, text in enumerate(SPECIAL)]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": {"type": "NFC"},
            "pre_tokenizer": level, "post_processor": level, "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": vocabulary, "merges": merges}}


class Graph:
    def __init__(self, hidden):
        self.rng = np.random.default_rng(1)
        self.hidden = hidden
        self.nodes, self.constants = [], []

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def node(self, kind, inputs, name, domain="", outputs=1, **attributes):
        results = [name] + [f"{name}_{i}" for i in range(1, outputs)]
        self.nodes.append(helper.make_node(kind, inputs, results, name=name + "_node", domain=domain, **attributes))
        return name

    def weights(self, rows, columns):
        return self.rng.normal(0, columns ** -0.5, (rows, columns)).astype(np.float32)

    def product(self, value, name, rows, columns):
        """Adds a matrix multiplication with 4-bit weights, in blocks of 32 elements with one scale each."""
        blocks = self.weights(rows, columns).reshape(rows, columns // BLOCK, BLOCK)
        scales = np.abs(blocks).max(axis=2, keepdims=True) / 7
        codes = np.clip(np.round(blocks / scales) + 8, 0, 15).astype(np.uint8)
        packed = codes[..., 0::2] | codes[..., 1::2] << 4
        return self.node("MatMulNBits", [value, self.constant(f"{name}_q4", packed),
                                         self.constant(f"{name}_scales", scales.astype(np.float32)[..., 0])],
                         name, "com.microsoft", K=columns, N=rows, bits=4, block_size=BLOCK)

    def ones(self, name):
        return self.constant(name, np.ones(self.hidden, np.float32))


def network(vocabulary, layers, hidden, heads, kv_heads, context, cache_type):
    head = hidden // heads
    # A byte of a 4-bit cache holds two elements.
    stored = head // 2 if cache_type == "int4" else head
    g = Graph(hidden)
    angles = np.arange(context)[:, None] * 10000.0 ** (-np.arange(head // 2) * 2 / head)
    cos = g.constant("cos_cache", np.cos(angles).astype(np.float32))
    sin = g.constant("sin_cache", np.sin(angles).astype(np.float32))
    one = g.constant("one", np.array([1], np.int64))
    axis = g.constant("axis", np.array(1, np.int64))
    length = g.node("ReduceSum", ["attention_mask", one], "mask_sum", keepdims=0)
    last = g.node("Cast", [g.node("Sub", [length, one], "mask_sum_minus_one")], "seqlens_k", to=TensorProto.INT32)
    shape = g.node("Shape", ["attention_mask"], "mask_shape")
    total = g.node("Cast", [g.node("Gather", [shape, axis], "mask_length", axis=0)], "total", to=TensorProto.INT32)
    value = g.node("Gather", [g.constant("embedding", g.weights(vocabulary, hidden) * 8), "input_ids"], "embedded")
    skip = value
    normal = g.node("SimplifiedLayerNormalization", [value, g.ones("norm_first")], "norm_0", axis=-1, epsilon=1e-5)
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"]),
              helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch_size", "total_sequence_length"])]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch_size", "sequence_length", vocabulary])]

    def add_and_normalize(more, name):
        nonlocal skip
        g.node("SkipSimplifiedLayerNormalization", [skip, more, g.ones(f"{name}_weight")], name, "com.microsoft", 4,
               epsilon=1e-5)
        g.nodes[-1].output[1] = g.nodes[-1].output[2] = ""
        skip = g.nodes[-1].output[3]
        return name

    for i in range(layers):
        cache = [f"past_key_values.{i}.key", f"past_key_values.{i}.value"]
        for name in cache:
            sizes = ["batch_size", kv_heads, "past_sequence_length", stored]
            inputs.append(helper.make_tensor_value_info(name, CACHES[cache_type], sizes))
            sizes = ["batch_size", kv_heads, "total_sequence_length", stored]
            outputs.append(helper.make_tensor_value_info(name.replace("past_key_values", "present"), CACHES[cache_type],
                                                         sizes))
        packed = g.product(normal, f"qkv_{i}", hidden + 2 * kv_heads * head, hidden)
        scales, more = [], {}
        if cache_type != "float32":
            step = 4 / (127 if cache_type == "int8" else 7)
            scales = ["", "", "", *(g.constant(f"{kind}_scale_{i}", np.full(kv_heads * head, step, np.float32)) for kind in "kv")]
            more = {"k_quant_type": "PER_CHANNEL", "v_quant_type": "PER_CHANNEL", "kv_cache_bit_width": 8 if cache_type == "int8" else 4}
        g.node("GroupQueryAttention", [packed, "", "", *cache, last, total, cos, sin, *scales], f"attention_{i}",
               "com.microsoft", 3, num_heads=heads, kv_num_heads=kv_heads, do_rotary=1, rotary_interleaved=0, **more)
        g.nodes[-1].output[1:] = [name.replace("past_key_values", "present") for name in cache]
        normal = add_and_normalize(g.product(f"attention_{i}", f"out_{i}", hidden, hidden), f"norm_{i}_mlp")
        gate = g.product(normal, f"gate_{i}", 2 * hidden, hidden)
        gated = g.node("Mul", [gate, g.node("Sigmoid", [gate], f"sigmoid_{i}")], f"silu_{i}")
        both = g.node("Mul", [gated, g.product(normal, f"up_{i}", 2 * hidden, hidden)], f"both_{i}")
        normal = add_and_normalize(g.product(both, f"down_{i}", hidden, 2 * hidden), f"norm_{i + 1}")
    g.product(normal, "logits", vocabulary, hidden)
    graph = helper.make_graph(g.nodes, "tiny", inputs, outputs, g.constants)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17),
                                                                 helper.make_opsetid("com.microsoft", 1)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--context", type=int, default=256)
    parser.add_argument("--cache", choices=CACHES, default="float32", help="the type of the elements of the cache")
    options = parser.parse_args()
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    tokens = tokenizer()
    vocabulary = len(tokens["model"]["vocab"])
    heads, kv_heads = 4, 2
    onnx.save(network(vocabulary, options.layers, options.hidden, heads, kv_heads, options.context, options.cache),
              folder / "model.onnx")
    decoder = {"filename": "model.onnx", "head_size": options.hidden // heads, "hidden_size": options.hidden,
               "num_attention_heads": heads, "num_hidden_layers": options.layers, "num_key_value_heads": kv_heads,
               "inputs": {"input_ids": "input_ids", "attention_mask": "attention_mask",
                          "past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"},
               "outputs": {"logits": "logits", "present_key_names": "present.%d.key",
                           "present_value_names": "present.%d.value"}}
    config = {"model": {"bos_token_id": 0, "context_length": options.context, "decoder": decoder, "eos_token_id": [0, 2],
                        "pad_token_id": 0, "type": "llama", "vocab_size": vocabulary},
              "search": {"do_sample": False, "temperature": 1.0, "top_k": 50, "top_p": 1.0, "repetition_penalty": 1.0}}
    template = "{% for m in messages %}<|im_start|>{{m.role}}\n{{m.content}}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    for name, content in (("genai_config", config), ("tokenizer", tokens),
                          ("tokenizer_config", {"chat_template": template, "eos_token": "<|im_end|>"})):
        (folder / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
