#!/usr/bin/env python3
"""Prepares a sentence encoder for Ingot: adds pooling and normalization to the network, and joins the matrix
multiplications of the sentences in a batch.

    prepare.py MODEL_FOLDER FOLDER [--length N]

MODEL_FOLDER is an export by Optimum or a repository of sentence-transformers: model.onnx (or onnx/model.onnx) and
tokenizer.json. The program writes into FOLDER

    encoder.onnx     input_ids, attention_mask -> embedding, a vector of length 1 for each sentence
    scores.onnx      vectors, query -> scores: the product of a matrix and a vector
    tokenizer.json   truncates texts to --length tokens (default: the most that the model takes), does not pad

and prints the options of `ingot` that state the sizes of both networks. Needs: pip install onnx numpy
"""
import argparse
import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


BATCH, ROWS = 32, 1024


def fail(message):
    sys.exit(f"prepare.py: {message}")


def read_json(path):
    """Returns the content of a JSON file; an empty dictionary if the file does not exist."""
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        fail(f"{path} is not JSON: {error}")


def find(folder, *names):
    for name in names:
        if (folder / name).exists():
            return folder / name
    fail(f"{folder} has no {names[0]}; export the model by: optimum-cli export onnx -m MODEL {folder}")


def longest(folder, tokens):
    """Returns the largest number of tokens of a text that the model takes, special tokens included."""
    most = read_json(folder / "config.json").get("max_position_embeddings", 512)
    stated = (read_json(folder / "sentence_bert_config.json").get("max_seq_length")
              or (tokens.get("truncation") or {}).get("max_length")
              or read_json(folder / "tokenizer_config.json").get("model_max_length") or most)
    return int(min(stated, most))


def pooling(folder):
    """Returns how the vectors of a sentence's tokens become one vector: "mean", or "cls" for that of the first token."""
    config = read_json(folder / "1_Pooling" / "config.json")
    # Older files have a flag for each mode, newer ones the name of a mode.
    chosen = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
    chosen = [config["pooling_mode"]] if "pooling_mode" in config else chosen
    known = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "mean": "mean", "cls": "cls"}
    if len(chosen) > 1 or any(name not in known for name in map(str, chosen)):
        fail(f"1_Pooling/config.json asks for {', '.join(map(str, chosen))}; supported are mean or cls, alone")
    for module in read_json(folder / "modules.json") or []:
        kind = module["type"].split(".")[-1]
        if kind not in ("Transformer", "Pooling", "Normalize"):
            fail(f"modules.json names the module {kind}; supported are Transformer, Pooling, Normalize")
    if not chosen:
        print(f"{folder} has no 1_Pooling/config.json: unless the network has pooling, it is the mean", file=sys.stderr)
    return known[chosen[0]] if chosen else "mean"


def symbols(value):
    return [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]


class Appendix:
    """Adds nodes at the end of a graph."""

    def __init__(self, graph):
        self.graph = graph

    def constant(self, name, value):
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(value), f"pooling/{name}"))
        return f"pooling/{name}"

    def node(self, kind, inputs, name, **attributes):
        self.graph.node.append(helper.make_node(kind, inputs, [f"pooling/{name}"], name=f"pooling/{name}_node", **attributes))
        return f"pooling/{name}"


def add_pooling(model, mode):
    """Changes the interface of the network to (input_ids, attention_mask) -> embedding; returns the size of an embedding."""
    graph = model.graph
    inputs = {value.name: value for value in graph.input}
    for name in ("input_ids", "attention_mask"):
        if name not in inputs:
            fail(f"the network has no input `{name}`; its inputs are {', '.join(inputs)}")
    for name in inputs:
        if name not in ("input_ids", "attention_mask", "token_type_ids"):
            fail(f"the network has the input `{name}`; supported are input_ids, attention_mask, token_type_ids")
    outputs = {value.name: value for value in graph.output}
    source = next((name for name in ("sentence_embedding", "last_hidden_state", "token_embeddings") if name in outputs), None)
    if not source:
        fail(f"the network has none of the outputs sentence_embedding, last_hidden_state, token_embeddings; it has "
             f"{', '.join(outputs)}: export it with --task feature-extraction")
    # The size of `sentence_embedding` is often symbolic; it equals the size of a token's vector.
    sizes = [symbols(outputs[name])[-1] for name in (source, "token_embeddings") if name in outputs]
    size = next((size for size in sizes if isinstance(size, int) and size > 0), 0)
    if not size:
        fail(f"the output `{source}` has no fixed size on its last axis")
    version = max(opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx"))
    if version < 13:
        fail(f"the network has operators of ONNX opset {version}; export it with --opset 17")

    add = Appendix(graph)
    if "token_type_ids" in inputs:
        # The tokens of a single text have type 0.
        shape = helper.make_node("Shape", ["input_ids"], ["pooling/shape"], name="pooling/shape_node")
        zero = numpy_helper.from_array(np.zeros(1, np.int64))
        zeros = helper.make_node("ConstantOfShape", ["pooling/shape"], ["token_type_ids"], name="pooling/types", value=zero)
        graph.node.insert(0, shape)
        graph.node.insert(1, zeros)
    value = source
    if outputs[source].type.tensor_type.elem_type != TensorProto.FLOAT:
        value = add.node("Cast", [value], "hidden_f32", to=TensorProto.FLOAT)
    if size not in sizes[:1]:
        value = add.node("Reshape", [value, add.constant("sizes", np.array([0, size], np.int64))], "sized")
    one = add.constant("axis_1", np.array([1], np.int64))
    if source != "sentence_embedding" and mode == "cls":
        value = add.node("Gather", [value, add.constant("first", np.array(0, np.int64))], "first_token", axis=1)
    elif source != "sentence_embedding":
        mask = add.node("Cast", ["attention_mask"], "mask_f32", to=TensorProto.FLOAT)
        mask = add.node("Unsqueeze", [mask, add.constant("axis_2", np.array([2], np.int64))], "mask_3d")
        total = add.node("ReduceSum", [add.node("Mul", [value, mask], "masked"), one], "sum", keepdims=0)
        count = add.node("ReduceSum", [mask, one], "count", keepdims=0)
        value = add.node("Div", [total, count], "mean")
    square = add.node("ReduceSum", [add.node("Mul", [value, value], "squares"), one], "square", keepdims=1)
    least = add.constant("least", np.array(1e-24, np.float32))
    length = add.node("Sqrt", [add.node("Max", [square, least], "positive")], "length")
    graph.node.append(helper.make_node("Div", [value, length], ["embedding"], name="pooling/normalize"))

    del graph.input[:], graph.output[:], graph.value_info[:]
    for name in ("input_ids", "attention_mask"):
        kind = inputs[name].type.tensor_type.elem_type
        if kind != TensorProto.INT64:
            fail(f"the input `{name}` does not have the type int64")
        graph.input.append(helper.make_tensor_value_info(name, kind, ["batch", "length"]))
    graph.output.append(helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", size]))
    return size


# Operators that compute each token independently if all operands are [batch, length, units], vectors or scalars.
TOKENWISE = {"Add", "Sub", "Mul", "Div", "Erf", "Gelu", "FastGelu", "Tanh", "Sigmoid", "Relu", "Sqrt", "Pow", "Cast",
             "Identity", "LayerNormalization", "ReduceMean"}


def join_tokens(model):
    """Reshapes [batch, length, units] to [tokens, units] for operators that compute each token independently.

    A matrix multiplication then has one tall matrix instead of a short one for each sentence. Reshape nodes restore the
    three axes of a tensor that any other operator reads.
    """
    graph = model.graph
    shapes = {}
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    for value in [*inferred.value_info, *inferred.input]:
        shapes[value.name] = symbols(value)
    constants = {value.name: value for value in graph.initializer}
    joined, restored, nodes = {}, set(), []

    def reshape(value, shape, result):
        nodes.append(helper.make_node("Reshape", [value, shape], [result], name=f"{result}_reshape"))
        return result

    def constant(name, values):
        if name not in constants:
            constants[name] = numpy_helper.from_array(np.array(values, np.int64), name)
            graph.initializer.append(constants[name])
        return name

    def join(value):
        if value not in joined:
            units = shapes[value][2]
            joined[value] = reshape(value, constant(f"tokens/to_{units}", [-1, units]), f"{value}/tokens")
            restored.add(value)
        return joined[value]

    def restore(value):
        if value in joined and value not in restored:
            units = shapes[value][2]
            shape = f"tokens/shape_{units}"
            if shape not in restored:
                sizes = [constant(f"tokens/{units}", [units])]
                nodes.append(helper.make_node("Shape", ["input_ids"], [f"{shape}_of_ids"], name=f"{shape}_of_ids_node"))
                nodes.append(helper.make_node("Concat", [f"{shape}_of_ids", *sizes], [shape], name=f"{shape}_node", axis=0))
                restored.add(shape)
            reshape(joined[value], shape, value)
            restored.add(value)

    def is_hidden(value):
        shape = shapes.get(value, [])
        # The first two sizes may be any symbols: shape inference often renames them.
        return len(shape) == 3 and [isinstance(size, int) and size > 0 for size in shape] == [False, False, True]

    def is_vector(value):
        return value in constants and len(constants[value].dims) <= 1

    def is_last_axis(node):
        axes = [entry for entry in node.attribute if entry.name in ("axis", "axes")]
        values = [value for entry in axes for value in (entry.ints or [entry.i])]
        if node.op_type == "ReduceMean" and len(node.input) > 1:
            values = numpy_helper.to_array(constants[node.input[1]]).tolist() if node.input[1] in constants else []
        keeps = all(entry.i for entry in node.attribute if entry.name == "keepdims")
        return keeps and all(value == -1 for value in values) and (values or node.op_type == "LayerNormalization")

    for node in graph.node:
        first = node.input[0] if node.input else ""
        results = [name for name in node.output if name]
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[results[0]] = node.attribute[0].t
        elif node.op_type == "Identity" and first in constants:
            constants[results[0]] = constants[first]
        is_product = (node.op_type == "MatMul" and is_hidden(first) and node.input[1] in constants
                      and len(constants[node.input[1]].dims) == 2)
        has_joined = any(name in joined for name in node.input)
        is_tokenwise = (node.op_type in TOKENWISE and has_joined
                        and all(name in joined or is_vector(name) for name in node.input)
                        and (node.op_type not in ("LayerNormalization", "ReduceMean") or is_last_axis(node)))
        if len(results) == 1 and is_hidden(results[0]) and (is_product or is_tokenwise):
            inputs = [join(name) if name in joined or (is_product and name == first) else name for name in node.input]
            joined[results[0]] = f"{results[0]}/tokens"
            node.input[:], node.output[:] = inputs, [joined[results[0]]]
        else:
            for name in node.input:
                restore(name)
        nodes.append(node)
    for value in graph.output:
        restore(value.name)
    del graph.node[:]
    graph.node.extend(nodes)


def scores(size):
    graph = onnx.parser.parse_graph(
        f"scores (float[rows, {size}] vectors, float[{size}] query) => (float[rows] scores) {{ scores = MatMul(vectors, query) }}")
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def main():
    parser = argparse.ArgumentParser(description="prepares a sentence encoder for Ingot")
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--length", type=int, help="the most tokens of a text; without this option what the model states")
    options = parser.parse_args()
    path = find(options.model, "model.onnx", "onnx/model.onnx")
    tokens = read_json(find(options.model, "tokenizer.json"))
    most = longest(options.model, tokens)
    length = options.length or most
    if not 3 <= length <= most:
        fail(f"--length must be from 3 to {most}, which is what the model states")
    try:
        model = onnx.load(path)
    except Exception as error:  # a damaged file
        fail(f"{path} cannot be read: {error}")
    size = add_pooling(model, pooling(options.model))
    join_tokens(model)
    tokens["truncation"] = {"max_length": length, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
    tokens["padding"] = None
    text = json.dumps(tokens, ensure_ascii=False)
    # An index stores the hash of the model. With the tokenizer's hash in its metadata, it identifies both.
    onnx.helper.set_model_props(model, {"tokenizer_sha256": hashlib.sha256(text.encode()).hexdigest()})
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "tokenizer.json").write_text(text, encoding="utf-8")
    onnx.save(model, options.folder / "encoder.onnx")
    onnx.save(scores(size), options.folder / "scores.onnx")
    print(f"--entry embed:batch=1..{BATCH},length=1..{length} --entry scores=scores.onnx:rows=1..{ROWS}")


if __name__ == "__main__":
    main()
