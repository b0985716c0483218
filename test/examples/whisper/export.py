#!/usr/bin/env python3
"""Writes examples/whisper/tiny and tokens.json again with `transformers`; not a test.

    export.py [COUNT]

Exports the model of make_model.py with Optimum, removes its weights, and writes the tokens that `transformers` generates for
COUNT recordings (100), greedily and with 4 beams, without and with timestamps.
Needs: pip install torch "transformers<4.58" optimum-onnx onnx numpy
"""
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
import numpy as np
import onnx
import torch
from onnx import numpy_helper
from optimum.exporters.onnx import main_export
from tokenizers import Tokenizer
from transformers import (GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration,
                          WhisperTokenizerFast)

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[2] / "examples" / "whisper"
sys.path[:0] = [str(EXAMPLE), str(HERE)]
import make_model
from recordings import recordings

BEAMS = 4


def make(folder):
    text, added = make_model.tokenizer()
    config, generation, _ = make_model.configurations(added)
    model = WhisperForConditionalGeneration(WhisperConfig(**config)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(make_model.weight(name, list(parameter.shape), added)))
    model.tie_weights()
    model.generation_config = GenerationConfig(**generation)
    model.save_pretrained(folder)
    WhisperTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(text)), unk_token="<|endoftext|>",
                         bos_token="<|endoftext|>", eos_token="<|endoftext|>").save_pretrained(folder)
    WhisperFeatureExtractor().save_pretrained(folder)
    return model


def strip(path, parameters):
    """Removes the weights of an export and names the initializers after the parameters."""
    model = onnx.load(path)
    names = {}
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32:
            continue
        for name, parameter in parameters.items():
            for suffix, other in (("", parameter), (".T", parameter.T)):
                if tensor.name not in names and values.shape == other.shape and np.array_equal(values, other):
                    names[tensor.name] = name + suffix
        if tensor.name in names:
            tensor.ClearField("raw_data")
        elif values.size > 64:
            raise SystemExit(f"{tensor.name} is no parameter of the model")
    for node in model.graph.node:
        node.doc_string = ""
        for i, name in enumerate(node.input):
            node.input[i] = names.get(name, name)
    for tensor in model.graph.initializer:
        tensor.name = names.get(tensor.name, tensor.name)
    del model.graph.value_info[:]
    onnx.save(model, EXAMPLE / "tiny" / path.name)


class Reference:
    """Records the windows that `generate` of `transformers` computes."""

    def __init__(self, model):
        self.model, self.windows = model, []
        divide = WhisperForConditionalGeneration._retrieve_segment

        def record(**values):
            frame = round(float(values["time_offset"][values["prev_idx"]]) * 100)
            self.windows.append([frame, values["seek_sequence"].tolist()])
            return divide(**values)

        WhisperForConditionalGeneration._retrieve_segment = staticmethod(record)

    def run(self, samples, beams, timestamps):
        """Returns [first frame, tokens] of each window that begins before the end of the audio."""
        features = WhisperFeatureExtractor()
        is_long = len(samples) > 480000
        options = {"truncation": False, "padding": "longest"} if is_long else {}
        spectrum = features(samples, sampling_rate=16000, return_tensors="pt", **options).input_features
        options = {"num_beams": beams, "return_timestamps": timestamps, "task": "transcribe"}
        result = []
        with torch.no_grad():
            if timestamps or not is_long:
                self.windows = result
                self.model.generate(spectrum, **options)
            else:
                # transformers rejects long audio without timestamps, so it gets windows of 30 seconds, as in main.cpp.
                for start in range(0, spectrum.shape[-1], 3000):
                    window = spectrum[..., start:start + 3000]
                    window = torch.nn.functional.pad(window, (0, 3000 - window.shape[-1]))
                    if not start:
                        spoken = int(self.model.detect_language(window)[0])
                        names = self.model.generation_config.lang_to_id
                        options["language"] = next(name for name, number in names.items() if number == spoken)
                    self.windows = []
                    self.model.generate(window, **options)
                    result += [[start, tokens] for _, tokens in self.windows]
        return [window for window in result if window[0] < (len(samples) + 159) // 160]


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make(folder / "transformers")
        (EXAMPLE / "tiny").mkdir(exist_ok=True)
        main_export(str(folder / "transformers"), folder / "onnx", task="automatic-speech-recognition-with-past", device="cpu",
                    do_validation=False, no_post_process=True)
        parameters = {name: value.detach().numpy() for name, value in model.named_parameters()}
        for path in (folder / "onnx").glob("*.onnx"):
            strip(path, parameters)
        text = WhisperTokenizerFast.from_pretrained(folder / "transformers")
    reference = Reference(model)
    result = {}
    for name, samples in recordings(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
        # Rounds the samples to 16 bits, as the WAV file does.
        rounded = (np.clip(np.round(samples * 32767), -32768, 32767) / 32768).astype(np.float32)
        modes = {f"{beams}{'t' if timestamps else ''}": reference.run(rounded, beams, timestamps)
                 for beams in (1, BEAMS) for timestamps in (False, True)}
        modes["text"] = text.decode(modes["1"][0][1], skip_special_tokens=True).strip()
        result[name] = modes
    lines = [f'"{name}": {json.dumps(modes, separators=(",", ":"), ensure_ascii=False)}' for name, modes in result.items()]
    (HERE / "tokens.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    sequences = [tuple(window[1]) for modes in result.values() for key in modes if key != "text" for window in modes[key]]
    print(f"{len(sequences)} windows, {len(set(sequences))} different ones, {sum(map(len, sequences))} tokens, "
          f"{np.mean([len(set(tokens)) for tokens in sequences]):.1f} different tokens in a window, "
          f"{sum(len(tokens) < 55 for tokens in sequences)} ended by the model")


if __name__ == "__main__":
    main()
