#!/usr/bin/env python3
"""Prepares the networks of a Whisper model for Ingot, and writes the constants of the model as a C++ header.

    prepare.py MODEL_FOLDER OUTPUT_FOLDER [--beams N]

The model folder is one that Optimum writes: encoder_model.onnx, decoder_model.onnx, decoder_with_past_model.onnx and the
configuration in JSON. The arithmetic of the model does not change; graphs are cut and joined, values renamed:

    spectrum.onnx   samples -> logarithmic mel spectrum, made from preprocessor_config.json
    encode.onnx     spectrum -> normalization -> encoder -> keys and values of the cross-attention of each decoder layer
                    (these from decoder_model.onnx)
    token.onnx      decoder_with_past_model.onnx
    beams.onnx      the same for N sequences, which share the keys and values of the audio

Needs: pip install onnx numpy
"""
import argparse
import json
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RATE, FFT, HOP = 16000, 400, 160
BLOCK = 80  # samples; divides FFT and HOP


class Fault(Exception):
    """An error of the model folder, with a message for the user."""


# The logarithmic mel spectrum


def mel_filters(bins):
    """Returns the weights [bins, FFT / 2 + 1] of triangular filters whose centers are equidistant on the Slaney mel scale:
    linear up to 1 kHz, logarithmic above. Each filter has unit area."""
    def mel_of(hertz):
        hertz = np.asarray(hertz, np.float64)
        return np.where(hertz < 1000, hertz * 3 / 200, 15 + 27 * np.log(np.maximum(hertz, 1) / 1000) / np.log(6.4))

    def hertz_of(mel):
        return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))

    edges = hertz_of(np.linspace(mel_of(0), mel_of(RATE / 2), bins + 2))[:, None]
    frequencies = np.linspace(0, RATE / 2, FFT // 2 + 1)[None]
    left, center, right = edges[:-2], edges[1:-1], edges[2:]
    triangle = np.minimum((frequencies - left) / (center - left), (right - frequencies) / (right - center))
    return np.maximum(triangle, 0) * 2 / (right - left)


def spectrum(bins, frames):
    """Returns a model that computes the logarithmic mel spectrum of `frames` frames, and the largest element in the first
    `count` frames.

    The Fourier transform is a convolution over blocks of 80 samples: a frame is five blocks, the next frame begins two blocks
    later. The mel filters have the same weights for the squares of real and imaginary parts, and so add both.
    """
    samples = (frames - 1) * HOP + FFT
    time = np.arange(FFT)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * time / FFT)
    phase = 2 * np.pi * np.arange(FFT // 2 + 1)[:, None] * time / FFT
    # The imaginary parts of the first and the last frequency are 0.
    waves = np.concatenate([np.cos(phase), np.sin(phase[1:-1])]) * window
    filters = mel_filters(bins)
    constants = {
        "waves": waves.reshape(FFT, FFT // BLOCK, BLOCK).transpose(0, 2, 1).astype(np.float32),
        "filters": np.concatenate([filters, filters[:, 1:-1]], axis=1)[..., None].astype(np.float32),
        "blocks": np.array([1, samples // BLOCK, BLOCK], np.int64),
        "shape": np.array([frames, bins], np.int64),
        "smallest": np.array(1e-10, np.float32),
        "log10_of_e": np.array(1 / np.log(10), np.float32),
        "indices": np.arange(frames)[:, None],
        "lowest": np.array(-10, np.float32),
    }
    nodes = [
        helper.make_node("Reshape", ["samples", "blocks"], ["in_blocks"]),
        helper.make_node("Transpose", ["in_blocks"], ["channels"], perm=[0, 2, 1]),
        helper.make_node("Conv", ["channels", "waves"], ["parts"], strides=[HOP // BLOCK], name="fourier_transform"),
        helper.make_node("Mul", ["parts", "parts"], ["squares"]),
        helper.make_node("Conv", ["squares", "filters"], ["mel"], name="mel_filters"),
        helper.make_node("Transpose", ["mel"], ["rows"], perm=[0, 2, 1]),
        helper.make_node("Reshape", ["rows", "shape"], ["energy"]),
        helper.make_node("Max", ["energy", "smallest"], ["bounded"]),
        helper.make_node("Log", ["bounded"], ["natural"]),
        helper.make_node("Mul", ["natural", "log10_of_e"], ["spectrum"]),
        helper.make_node("Less", ["indices", "count"], ["is_counted"]),
        helper.make_node("Where", ["is_counted", "spectrum", "lowest"], ["counted"]),
        helper.make_node("ReduceMax", ["counted"], ["peak"], keepdims=0),
    ]
    return model_of(nodes, constants, "spectrum",
                    [("samples", TensorProto.FLOAT, [samples]), ("count", TensorProto.INT64, [])],
                    [("spectrum", TensorProto.FLOAT, [frames, bins]), ("peak", TensorProto.FLOAT, [])])


def normalization(bins, frames):
    """Returns a model that turns `frames` rows of the spectrum into the encoder's input: values are raised to at least
    `peak` - 8 (80 dB), then scaled. Rows from `count` on, which are after the end of the audio, become 0."""
    constants = {"range": np.array(8, np.float32), "four": np.array(4, np.float32), "quarter": np.array(0.25, np.float32),
                 "indices": np.arange(frames)[:, None], "zero": np.array(0, np.float32), "axis": np.array([0], np.int64)}
    nodes = [
        helper.make_node("Sub", ["peak", "range"], ["floor"]),
        helper.make_node("Max", ["spectrum", "floor"], ["limited"]),
        helper.make_node("Add", ["limited", "four"], ["shifted"]),
        helper.make_node("Mul", ["shifted", "quarter"], ["scaled"]),
        helper.make_node("Less", ["indices", "count"], ["is_audio"]),
        helper.make_node("Where", ["is_audio", "scaled", "zero"], ["rows"]),
        helper.make_node("Unsqueeze", ["rows", "axis"], ["batch"]),
        helper.make_node("Transpose", ["batch"], ["input_features"], perm=[0, 2, 1]),
    ]
    return model_of(nodes, constants, "normalization",
                    [("spectrum", TensorProto.FLOAT, [frames, bins]), ("peak", TensorProto.FLOAT, []),
                     ("count", TensorProto.INT64, [])],
                    [("input_features", TensorProto.FLOAT, [1, bins, frames])])


def model_of(nodes, constants, name, inputs, outputs):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info(*value) for value in inputs],
                              [helper.make_tensor_value_info(*value) for value in outputs],
                              [numpy_helper.from_array(value, key) for key, value in constants.items()])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


# Graphs


def rename(model, names):
    """Renames values in the whole model, subgraphs included."""
    def in_graph(graph):
        for node in graph.node:
            for values in (node.input, node.output):
                for i, value in enumerate(values):
                    values[i] = names.get(value, value)
            for attribute in node.attribute:
                for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                    in_graph(inner)
        for values in (graph.input, graph.output, graph.initializer, graph.value_info):
            for value in values:
                value.name = names.get(value.name, value.name)
    in_graph(model.graph)


def values_of(graph):
    return {name for node in graph.node for name in (*node.input, *node.output) if name} | {
        value.name for values in (graph.input, graph.output, graph.initializer) for value in values}


def reads(node):
    """Returns the values that a node reads, also in its subgraphs."""
    names = set(node.input)
    for attribute in node.attribute:
        for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
            for other in inner.node:
                names |= reads(other)
            names |= {value.name for value in inner.output}
    return names


def prune(model):
    """Removes nodes, constants and inputs that no output depends on."""
    graph = model.graph
    needed = {value.name for value in graph.output}
    kept = []
    for node in reversed(graph.node):
        if needed & set(node.output):
            kept.append(node)
            needed |= reads(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    for values in (graph.initializer, graph.input):
        chosen = [value for value in values if value.name in needed]
        del values[:]
        values.extend(chosen)
    del graph.value_info[:]


def join(first, second):
    """Returns a model that computes `first`, then `second`. Inputs of `second` read outputs of `first` with the same names.
    The result has the outputs of `second`."""
    shared = {value.name for value in second.graph.input} & {value.name for value in first.graph.output}
    taken = values_of(first.graph)
    rename(second, {name: "second/" + name for name in values_of(second.graph) & taken - shared})
    result = onnx.ModelProto()
    result.CopyFrom(second)
    graph = result.graph
    del graph.node[:], graph.input[:]
    graph.node.extend([*first.graph.node, *second.graph.node])
    graph.input.extend([*first.graph.input, *(value for value in second.graph.input if value.name not in shared)])
    graph.initializer.extend(first.graph.initializer)
    versions = {entry.domain: entry.version for entry in first.opset_import}
    for entry in result.opset_import:
        if versions.get(entry.domain, entry.version) != entry.version:
            raise Fault(f"networks of the operator sets {versions[entry.domain]} and {entry.version} cannot be joined; "
                        "export all with the same --opset")
    return result


def shape_of(value):
    return [size.dim_value or size.dim_param for size in value.type.tensor_type.shape.dim]


def set_shape(value, shape):
    kind = value.type.tensor_type.elem_type
    value.CopyFrom(helper.make_tensor_value_info(value.name, kind, shape))


# The networks of the model folder


def load(folder, name):
    path = folder / name
    if not path.exists():
        raise Fault(f"`{path}` does not exist; export the model with: optimum-cli export onnx --model MODEL --task "
                    "automatic-speech-recognition-with-past FOLDER")
    try:
        model = onnx.load(path)
    except Exception as error:  # of several packages: protobuf, onnx, the operating system
        raise Fault(f"`{path}` cannot be read: {error}") from None
    return model


def load_decoders(folder):
    """Returns decoder_model.onnx and decoder_with_past_model.onnx. If the folder has only decoder_model_merged.onnx, both are
    the branches of its node If."""
    names = ("decoder_model.onnx", "decoder_with_past_model.onnx")
    merged = folder / "decoder_model_merged.onnx"
    if all((folder / name).exists() for name in names) or not merged.exists():
        return [load(folder, name) for name in names]
    model = load(folder, merged.name)
    chosen = [node for node in model.graph.node if node.op_type == "If"]
    if len(chosen) != 1:
        raise Fault(f"`{merged}` has {len(chosen)} nodes If instead of one; export again with --no-post-process")
    branches = {attribute.name: attribute.g for attribute in chosen[0].attribute}
    result = []
    for branch in ("else_branch", "then_branch"):
        half = onnx.ModelProto()
        half.CopyFrom(model)
        graph = half.graph
        graph.node.remove(next(node for node in graph.node if node.op_type == "If"))
        graph.node.extend(branches[branch].node)
        graph.initializer.extend(branches[branch].initializer)
        # Gives the outputs of the branch the names of the outputs of If.
        names = {inner.name: outer for inner, outer in zip(branches[branch].output, chosen[0].output)}
        rename(half, names)
        prune(half)
        result.append(half)
    # In merged decoders, the branch with a cache also returns the unchanged keys and values of the audio.
    outputs = result[1].graph.output
    kept = [value for value in outputs if ".encoder." not in value.name]
    del outputs[:]
    outputs.extend(kept)
    prune(result[1])
    return result


def cross_attention(decoder, layers, heads, size):
    """Cuts the decoder down to the nodes that compute the keys and values of the cross-attention from encoder_hidden_states."""
    graph = decoder.graph
    producer = {name: node for node in graph.node for name in node.output}
    graph.initializer.append(numpy_helper.from_array(np.array([1, -1, heads, size], np.int64), "heads_shape"))
    for i in range(layers):
        for kind in ("key", "value"):
            name = f"present.{i}.encoder.{kind}"
            transpose = producer.get(name)
            reshape = producer.get(transpose.input[0]) if transpose else None
            if not reshape or (transpose.op_type, reshape.op_type) != ("Transpose", "Reshape"):
                raise Fault(f"`{name}` of decoder_model.onnx is not computed by Reshape and Transpose, as Optimum's exports do")
            # The export computes the shape from the input of tokens, which this graph does not have.
            reshape.input[1] = "heads_shape"
    kept = [value for value in graph.output if ".encoder." in value.name]
    del graph.output[:]
    graph.output.extend(kept)
    prune(decoder)
    if [value.name for value in graph.input] != ["encoder_hidden_states"]:
        raise Fault("the keys and values of decoder_model.onnx depend on other inputs than encoder_hidden_states: " +
                    ", ".join(value.name for value in graph.input))
    rename(decoder, {f"present.{i}.encoder.{kind}": f"next_cross_{kind}_{i}" for i in range(layers) for kind in ("key", "value")})
    return decoder


def last_position(graph):
    """Inserts a Slice before the last MatMul, so that only the logits of the last token are computed."""
    logits = next((node for node in graph.node if "logits" in node.output), None)
    if logits is None or logits.op_type != "MatMul":
        raise Fault("`logits` of decoder_with_past_model.onnx is not the result of a MatMul")
    for name, value in (("last_start", -1), ("last_end", 2**63 - 1), ("last_axis", 1)):
        graph.initializer.append(numpy_helper.from_array(np.array([value], np.int64), name))
    position = list(graph.node).index(logits)
    graph.node.insert(position, helper.make_node("Slice", [logits.input[0], "last_start", "last_end", "last_axis"],
                                                 ["last_hidden"], name="last_position"))
    graph.node[position + 1].input[0] = "last_hidden"


def decoder_of(model, layers, heads, size, positions):
    """Renames inputs and outputs of decoder_with_past_model.onnx, and states their shapes: `count` tokens after `past` others."""
    names = {"input_ids": "tokens"}
    for i in range(layers):
        for kind in ("key", "value"):
            names[f"past_key_values.{i}.decoder.{kind}"] = f"{kind}_{i}"
            names[f"past_key_values.{i}.encoder.{kind}"] = f"cross_{kind}_{i}"
            names[f"present.{i}.decoder.{kind}"] = f"next_{kind}_{i}"
    inputs = {value.name for value in model.graph.input}
    missing = {name for name in names if not name.startswith("present.")} - inputs
    if missing or inputs - set(names):
        raise Fault("decoder_with_past_model.onnx has other inputs than expected" +
                    (f"; missing: {', '.join(sorted(missing))}" if missing else "") +
                    (f"; unknown: {', '.join(sorted(inputs - set(names)))}" if inputs - set(names) else ""))
    rename(model, names)
    del model.graph.value_info[:]
    last_position(model.graph)
    set_decoder_shapes(model.graph, 1, heads, size, positions)
    return model


def set_decoder_shapes(graph, batch, heads, size, positions):
    for value in graph.input:
        if value.name == "tokens":
            set_shape(value, [batch, "count"])
        elif "cross_" in value.name:
            set_shape(value, [1, heads, positions, size])
        else:
            set_shape(value, [batch, heads, "past", size])
    for value in graph.output:
        if value.name == "logits":
            set_shape(value, [batch, 1, shape_of(value)[2]])
        else:
            set_shape(value, [batch, heads, "total", size])


# The constants of the model


def read_json(folder, name, default=None):
    path = folder / name
    if not path.exists() and default is not None:
        return default
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Fault(f"`{path}` cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise Fault(f"`{path}` is not a JSON object")
    return value


def one_token(value, what):
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, int) or value < 0:
        raise Fault(f"{what} is {value} instead of the number of a token")
    return value


def settings(config, generation, sizes):
    """Returns the text of settings.h."""
    def setting(name):
        return generation[name] if generation.get(name) is not None else config.get(name)

    def numbers(values):
        return "{" + "".join(f"{value}, " for value in values) + "-1}"

    vocabulary, layers, beams = sizes["vocabulary"], sizes["layers"], sizes["beams"]
    languages = {name.strip("<|>"): number for name, number in (generation.get("lang_to_id") or {}).items()}
    tasks = generation.get("task_to_id") or {}
    end = one_token(setting("eos_token_id"), "eos_token_id")
    no_timestamps = generation.get("no_timestamps_token_id")
    if no_timestamps is None:
        raise Fault("generation_config.json has no `no_timestamps_token_id`; export the model again with its generation_config.json")
    if bool(languages) != all(task in tasks for task in ("transcribe", "translate")):
        raise Fault("generation_config.json must have both `lang_to_id` and `task_to_id` (multilingual models), or neither")
    suppressed = [value for value in setting("suppress_tokens") or [] if 0 <= value < vocabulary]
    at_begin = [value for value in setting("begin_suppress_tokens") or [] if 0 <= value < vocabulary]
    longest = min(setting("max_length") or sizes["positions"], config["max_target_positions"])
    initial = generation.get("max_initial_timestamp_index")
    lines = [
        "// settings.h - the constants of a Whisper model; written by prepare.py",
        "#ifndef WHISPER_SETTINGS_H", "#define WHISPER_SETTINGS_H", "", '#include "network.h"', "", "#include <cstddef>",
        "#include <cstdint>", "", "namespace settings {", "",
        "/// Mel bins, frames of a window, samples that a call of the spectrum reads.",
        f"inline constexpr size_t bins = {sizes['bins']}, frames = {sizes['frames']}, "
        f"window_samples = {(sizes['frames'] - 1) * HOP + FFT};",
        "/// The most tokens of a window with those that begin it, and the most that are in the cache before a call.",
        f"inline constexpr size_t most_tokens = {longest};",
        f"inline constexpr size_t most_past = {longest - 1};",
        f"inline constexpr size_t vocabulary = {vocabulary}, layers = {layers};",
        "/// Sequences of a beam search; heads of a layer, and elements of a key or value of a head.",
        f"inline constexpr size_t beams = {beams}, heads = {sizes['heads']}, head_size = {sizes['size']};",
        f"inline constexpr double length_penalty = {float(generation.get('length_penalty') or 1.0)};", "",
        f"inline constexpr int32_t start_token = {one_token(setting('decoder_start_token_id'), 'decoder_start_token_id')}, "
        f"end_token = {end}, no_timestamps_token = {no_timestamps}, first_timestamp = {no_timestamps + 1};",
        "/// The last timestamp that may be the first one of a window.",
        f"inline constexpr int32_t last_initial_timestamp = {vocabulary if initial is None else no_timestamps + 1 + initial};",
        "/// -1: the model has one language and no tasks.",
        f"inline constexpr int32_t transcribe_token = {tasks.get('transcribe', -1) if languages else -1}, "
        f"translate_token = {tasks.get('translate', -1) if languages else -1};",
        "/// Tokens that are never chosen, and those that are not chosen at the beginning; -1 ends a list.",
        f"inline constexpr int32_t suppressed[] = {numbers(suppressed)};",
        f"inline constexpr int32_t suppressed_at_begin[] = {numbers(at_begin)};", "",
        "struct Language {", "  const char *code;", "  int32_t token;", "};",
        "inline constexpr Language languages[] = {"]
    lines += [f'    {{"{code}", {number}}},' for code, number in languages.items() if code.isalnum()]
    lines += ["    {nullptr, -1}};", "",
              "/// The caches of the self-attention: keys and values of each layer, of one sequence and of all beams;",
              "/// float[sequence][head][most_tokens][head_size].",
              "using Cache = float *(*)(void *state);"]
    for array, prefix in (("caches", ""), ("beam_caches", "beam_")):
        functions = [f"network_{prefix}{kind}_{i}_state" for i in range(layers) for kind in ("key", "value")]
        lines += [f"inline constexpr Cache {array}[] = {{"] + [f"    {function}," for function in functions] + ["};"]
    return "\n".join(lines + ["", "} // namespace settings", "", "#endif // WHISPER_SETTINGS_H", ""])


def prepare(folder, output, beams):
    config = read_json(folder, "config.json")
    generation = read_json(folder, "generation_config.json")
    features = read_json(folder, "preprocessor_config.json", {})
    if config.get("model_type") != "whisper":
        raise Fault(f"the model is of the type `{config.get('model_type')}`, not `whisper`")
    for name, value in (("sampling_rate", RATE), ("n_fft", FFT), ("hop_length", HOP)):
        if features.get(name, value) != value:
            raise Fault(f"preprocessor_config.json: {name} is {features[name]} instead of {value}")
    try:
        layers, heads = config["decoder_layers"], config["decoder_attention_heads"]
        size = config["d_model"] // heads
        bins = config["num_mel_bins"]
        positions = config["max_source_positions"]
        config["max_target_positions"], config["vocab_size"]
    except KeyError as error:
        raise Fault(f"config.json has no {error}") from None
    frames = 2 * positions
    sizes = {"bins": bins, "frames": frames, "layers": layers, "heads": heads, "size": size, "beams": beams,
             "vocabulary": config["vocab_size"], "positions": config["max_target_positions"]}
    header = settings(config, generation, sizes)
    encoder = load(folder, "encoder_model.onnx")
    first, with_past = load_decoders(folder)

    rename(encoder, {"last_hidden_state": "encoder_hidden_states"})
    for value in encoder.graph.input:
        set_shape(value, [1, bins, frames])
    front = normalization(bins, frames)
    front.opset_import[0].version = next(entry.version for entry in encoder.opset_import if entry.domain == "")
    encode = join(join(front, encoder), cross_attention(first, layers, heads, size))
    decoder = decoder_of(with_past, layers, heads, size, positions)

    output.mkdir(parents=True, exist_ok=True)
    onnx.save(spectrum(bins, frames), output / "spectrum.onnx")
    # Weights are saved as external data: a protobuf has at most 2 GB, and both decoders refer to one file.
    for model, name, weights in ((encode, "encode.onnx", "encode.weights"), (decoder, "token.onnx", "decoder.weights")):
        (output / weights).unlink(missing_ok=True)
        onnx.save(model, output / name, save_as_external_data=True, location=weights, size_threshold=1024)
    own = [f"{kind}_{i}" for i in range(layers) for kind in ("key", "value")]
    rename(decoder, {name: name.replace(kind, "beam_" + kind) for kind in own for name in (kind, "next_" + kind)})
    set_decoder_shapes(decoder.graph, beams, heads, size, positions)
    (output / "beams.onnx").write_bytes(decoder.SerializeToString())
    (output / "settings.h").write_text(header, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--beams", type=int, default=5, help="the most sequences of a beam search (2 to 16)")
    options = parser.parse_args()
    if not 2 <= options.beams <= 16:
        parser.error("--beams must be from 2 to 16")
    try:
        prepare(options.folder, options.output, options.beams)
    except Fault as fault:
        sys.exit(f"error: {fault}")


if __name__ == "__main__":
    main()
