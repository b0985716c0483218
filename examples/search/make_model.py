#!/usr/bin/env python3
"""Writes the folder of a sentence encoder with random weights, in the form of an export by Optimum.

    make_model.py FOLDER [--layers N] [--hidden N] [--heads N] [--vocabulary N]

The network is a BERT encoder with the sizes of MiniLM (6 layers, 384 hidden units, 12 heads, 30,522 tokens) and the
names of `transformers`; its tokenizer is an uncased WordPiece tokenizer with tokens from the words of make_sentences.py.
Needs: pip install onnx numpy
"""
import argparse
import collections
import json
import math
import re
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from make_sentences import sentences

POSITIONS = 512
# The ids of the special tokens in BERT's vocabulary.
SPECIAL = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}


def vocabulary(size):
    """Returns the ids of the tokens: special tokens, single characters, then parts of words of 2 to 7 letters, those that
    cover the most letters first."""
    numbers = dict(SPECIAL)
    free = [i for i in range(104) if i not in SPECIAL.values()]
    numbers.update({f"[unused{i}]": number for i, number in enumerate(free)})
    letters = [chr(i) for i in [*range(33, 65), *range(91, 127), *range(0xA1, 0x100), *range(0x3B1, 0x3CA), *range(0x430, 0x450)]]
    for text in letters + ["##" + letter for letter in letters]:
        numbers[text] = len(numbers)
    counts = collections.Counter()
    for sentence in sentences(4000):
        for word in re.findall("[a-z]+", sentence.lower()):
            for begin in range(len(word)):
                for end in range(begin + 2, min(begin + 7, len(word)) + 1):
                    counts[("##" if begin else "") + word[begin:end]] += end - begin
    for text, _ in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        numbers.setdefault(text, len(numbers))
    for text in list(numbers)[size:]:
        del numbers[text]
    while len(numbers) < size:
        numbers[f"[unused{len(numbers)}]"] = len(numbers)
    return numbers


def tokenizer(numbers):
    added = [{"id": number, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for text, number in SPECIAL.items()]
    template = {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                           {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                "special_tokens": {text: {"id": text, "ids": [SPECIAL[text]], "tokens": [text]}
                                   for text in ("[CLS]", "[SEP]")}}
    return {"version": "1.0",
            "truncation": {"max_length": 128, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
            "padding": None, "added_tokens": added,
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                           "strip_accents": None, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": template,
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100, "vocab": numbers}}


class Graph:
    def __init__(self):
        self.random = np.random.default_rng(1)
        self.nodes, self.constants, self.known = [], [], {}

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def integers(self, *values):
        """Returns an int64 constant vector. Equal vectors share one constant."""
        name = "integers_" + "_".join(map(str, values))
        if name not in self.known:
            self.known[name] = self.constant(name, np.array(values, np.int64))
        return name

    def scalar(self, name, value):
        return self.constant(name, np.array(value, np.float32))

    def normal(self, *shape, scale=0.02):
        return self.random.normal(0, scale, shape).astype(np.float32)

    def node(self, kind, inputs, name, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name + "_output"], name=name, **attributes))
        return name + "_output"

    def linear(self, value, name, rows, columns):
        # torch stores the weight as [outputs, inputs]; its ONNX exporter transposes it.
        weight = self.constant(f"{name}.weight_transposed", self.normal(columns, rows).T)
        product = self.node("MatMul", [value, weight], f"{name}/MatMul")
        return self.node("Add", [self.constant(f"{name}.bias", self.normal(columns)), product], f"{name}/Add")

    def layer_norm(self, value, name, size):
        weight = self.constant(f"{name}.weight", 1 + self.normal(size))
        bias = self.constant(f"{name}.bias", self.normal(size))
        return self.node("LayerNormalization", [value, weight, bias], name, axis=-1, epsilon=1e-12)


def network(tokens, layers, hidden, heads):
    g = Graph()
    head = hidden // heads
    ids, mask, types = "input_ids", "attention_mask", "token_type_ids"
    words = g.node("Gather", [g.constant("embeddings.word_embeddings.weight", g.normal(tokens, hidden)), ids], "words")
    kinds = g.node("Gather", [g.constant("embeddings.token_type_embeddings.weight", g.normal(2, hidden)), types], "types")
    length = g.node("Gather", [g.node("Shape", [ids], "shape"), g.integers(1)], "length", axis=0)
    places = g.constant("embeddings.position_ids", np.arange(POSITIONS)[None])
    places = g.node("Slice", [places, g.integers(0), length, g.integers(1)], "position_ids")
    table = g.constant("embeddings.position_embeddings.weight", g.normal(POSITIONS, hidden))
    positions = g.node("Gather", [table, places], "positions")
    value = g.node("Add", [g.node("Add", [words, kinds], "words_and_types"), positions], "sum")
    value = g.layer_norm(value, "embeddings.LayerNorm", hidden)

    # The mask is added to the attention scores: 0 for a token, the lowest number for padding.
    spread = g.node("Cast", [g.node("Unsqueeze", [mask, g.integers(1, 2)], "mask_4d")], "mask_f32", to=TensorProto.FLOAT)
    absent = g.node("Sub", [g.scalar("one", 1), spread], "absent")
    added = g.node("Mul", [absent, g.scalar("lowest", np.finfo(np.float32).min)], "mask_addend")
    scale, root, half, one = (g.scalar("scale", math.sqrt(head)), g.scalar("root_of_2", math.sqrt(2)),
                              g.scalar("half", 0.5), g.scalar("one_f32", 1))
    for i in range(layers):
        layer = f"encoder.layer.{i}"
        parts = {}
        for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
            name = f"{layer}.attention.self.{part}"
            product = g.linear(value, name, hidden, hidden)
            divided = g.node("Reshape", [product, g.integers(0, 0, heads, head)], f"{name}/Reshape")
            parts[part] = g.node("Transpose", [divided], f"{name}/Transpose", perm=order)
        name = f"{layer}.attention.self"
        scores = g.node("MatMul", [parts["query"], parts["key"]], f"{name}/MatMul")
        scores = g.node("Add", [g.node("Div", [scores, scale], f"{name}/Div"), added], f"{name}/Add")
        shares = g.node("Softmax", [scores], f"{name}/Softmax", axis=-1)
        context = g.node("MatMul", [shares, parts["value"]], f"{name}/MatMul_1")
        context = g.node("Transpose", [context], f"{name}/Transpose", perm=[0, 2, 1, 3])
        context = g.node("Reshape", [context, g.integers(0, 0, hidden)], f"{name}/Reshape")
        attended = g.linear(context, f"{layer}.attention.output.dense", hidden, hidden)
        value = g.node("Add", [attended, value], f"{layer}.attention.output/Add")
        value = g.layer_norm(value, f"{layer}.attention.output.LayerNorm", hidden)
        inner = g.linear(value, f"{layer}.intermediate.dense", hidden, 4 * hidden)
        name = f"{layer}.intermediate.act"
        error = g.node("Erf", [g.node("Div", [inner, root], f"{name}/Div")], f"{name}/Erf")
        inner = g.node("Mul", [inner, g.node("Add", [error, one], f"{name}/Add")], f"{name}/Mul")
        inner = g.node("Mul", [inner, half], f"{name}/Mul_1")
        outer = g.linear(inner, f"{layer}.output.dense", 4 * hidden, hidden)
        value = g.node("Add", [outer, value], f"{layer}.output/Add")
        value = g.layer_norm(value, f"{layer}.output.LayerNorm", hidden)
    g.nodes.append(helper.make_node("Identity", [value], ["last_hidden_state"], name="last"))

    sizes = ["batch_size", "sequence_length"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, sizes) for name in (ids, mask, types)]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*sizes, hidden])
    graph = helper.make_graph(g.nodes, "encoder", inputs, [output], g.constants)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def main():
    parser = argparse.ArgumentParser(description="writes a sentence encoder with random weights")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=384)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--vocabulary", type=int, default=30522)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    numbers = vocabulary(options.vocabulary)
    onnx.save(network(options.vocabulary, options.layers, options.hidden, options.heads), options.folder / "model.onnx")
    config = {"architectures": ["BertModel"], "model_type": "bert", "vocab_size": options.vocabulary,
              "hidden_size": options.hidden, "num_hidden_layers": options.layers, "num_attention_heads": options.heads,
              "intermediate_size": 4 * options.hidden, "hidden_act": "gelu", "layer_norm_eps": 1e-12,
              "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "pad_token_id": 0}
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512,
                **{f"{text[1:-1].lower()}_token": text for text in SPECIAL}}
    for name, content in (("config", config), ("tokenizer", tokenizer(numbers)), ("tokenizer_config", settings)):
        text = json.dumps(content, ensure_ascii=False, indent=1)
        (options.folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
