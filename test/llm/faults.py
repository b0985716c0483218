"""Folders and tokenizers that `ingot llm` and `ingot tokenizer` must reject, each with the message: faults.py INGOT FOLDER."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

import onnx

ingot, work = sys.argv[1], Path(sys.argv[2])
source = Path(__file__).parents[2]
shutil.rmtree(work, ignore_errors=True)
good = work / "good"
good.mkdir(parents=True)
subprocess.run([sys.executable, source / "examples/llm/make_model.py", good], check=True)
failures = []


def expect(code, message, arguments):
    result = subprocess.run([ingot, *arguments, "-q"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = " ".join(result.stdout.split())
    if result.returncode != code or message not in text:
        failures.append(f"{arguments}: exit {result.returncode} instead of {code}, no `{message}` in:\n{result.stdout}")


def folder(code, message, *options, **changes):
    """Copies the model; changes: a file's name (with _ for .) and a function of its JSON, or None to remove it."""
    target = work / "model"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(good, target)
    for name, change in changes.items():
        path = target / name.replace("__", ".")
        if change is None:
            path.unlink()
        elif path.suffix == ".onnx":
            model = onnx.load(path)
            change(model.graph)
            onnx.save(model, path)
        else:
            data = json.loads(path.read_text())
            change(data)
            path.write_text(json.dumps(data))
    expect(code, message, ["llm", target, "-o", work / "out", *options])


def tokenizer(code, message, change):
    data = json.loads((good / "tokenizer.json").read_text())
    change(data)
    path = work / "tokenizer.json"
    path.write_text(json.dumps(data))
    expect(code, message, ["tokenizer", path, "-o", work / "tok.cpp", "--force"])


def setting(*keys, to):
    def change(data):
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = to
    return change


expect(1, "is not a folder", ["llm", work / "none"])
folder(1, "tokenizer.json` cannot be read", tokenizer__json=None)
folder(1, "neither genai_config.json nor config.json", genai_config__json=None)
folder(1, "missing.onnx` does not exist, but genai_config.json names it",
       genai_config__json=setting("model", "decoder", "filename", to="missing.onnx"))
folder(1, "is outside of the folder", genai_config__json=setting("model", "decoder", "filename", to="../model.onnx"))
folder(1, "no object model.decoder", genai_config__json=setting("model", to={}))
folder(3, "names the network model.vision", genai_config__json=setting("model", "vision", to={"filename": "v.onnx"}))
folder(1, "the tokenizer does not fit the network: the token `big` has the number 5000",
       tokenizer__json=setting("model", "vocab", "big", to=5000))
folder(2, "the model was trained for 256 tokens", "--context", "1000")
folder(2, "it must be from 2 to", "--context", "1")
folder(2, "unknown value `klingon`", "--chat-template", "klingon")
folder(1, "needs the token `<|begin_of_text|>`", "--chat-template", "llama3")
folder(3, "has none of the known forms", tokenizer_config__json=setting("chat_template", to="{{ something else }}"))
folder(2, "a chat program runs on a CPU", "--target", "sm_80")
folder(3, "the network has the input `extra`",
       model__onnx=lambda graph: graph.input.append(onnx.helper.make_tensor_value_info("extra", 1, [1])))
folder(3, "no output `scores`", genai_config__json=setting("model", "decoder", "outputs", "logits", to="scores"))

(work / "tokenizer.json").write_bytes(b"\xff{")
expect(1, "is not UTF-8", ["tokenizer", work / "tokenizer.json"])
(work / "tokenizer.json").write_text("{ 1")
expect(1, "is not JSON", ["tokenizer", work / "tokenizer.json"])
(work / "tokenizer.json").write_text("[]")
expect(1, "no object `model`", ["tokenizer", work / "tokenizer.json"])
expect(2, "whose name is a C++ name", ["tokenizer", good / "tokenizer.json", "-o", work / "1x.cpp"])
(work / "mine.cpp").write_text("int main() {}\n")
expect(1, "was not written by Ingot", ["tokenizer", good / "tokenizer.json", "-o", work / "mine.cpp"])


def pattern(text):
    return setting("pre_tokenizer", to={"type": "Split", "pattern": {"Regex": text}, "behavior": "Isolated"})


tokenizer(3, "the pattern `\\p{Han}+` with the unsupported class `\\p{Han}`", pattern(r"\p{Han}+"))
tokenizer(3, "with an unsupported class within a class", pattern("[a-z&&[^b]]"))
tokenizer(3, "with the unsupported escape `\\b`", pattern(r"\ba"))
tokenizer(3, "with an unsupported kind of group", pattern("(?<=a)b"))
tokenizer(3, "with a repetition of a part that can be empty", pattern("(a*)*"))
tokenizer(3, "with a pattern that matches the empty text", pattern("a*"))
tokenizer(3, "with a `(` without `)`", pattern("(a"))
tokenizer(3, "with more than 1000 repetitions", pattern("a{5000}"))
tokenizer(3, "with a pattern that is too large", pattern("((a{100}){100}){100}"))
tokenizer(3, "the normalizer `Precompiled`", setting("normalizer", to={"type": "Precompiled"}))
tokenizer(3, "the pre-tokenizer `UnicodeScripts`", setting("pre_tokenizer", to={"type": "UnicodeScripts"}))
tokenizer(3, "the decoder `CTC`", setting("decoder", to={"type": "CTC"}))
tokenizer(3, "the post-processor `Other`", setting("post_processor", to={"type": "Other"}))
tokenizer(3, "the model `Other`", setting("model", to={"type": "Other"}))
tokenizer(3, "`dropout`, which is random", setting("model", "dropout", to=0.1))
tokenizer(1, "the merge 0 uses tokens", setting("model", "merges", to=[["q", "qqq"]]))
tokenizer(1, "two tokens with the same number", setting("model", "vocab", "twice", to=5))
tokenizer(1, "has the number -1", setting("model", "vocab", "less", to=-1))
tokenizer(1, "is not in `vocab`", setting("model", "unk_token", to="missing"))
deep = {"type": "NFC"}
for _ in range(40):
    deep = {"type": "Sequence", "normalizers": [deep]}
tokenizer(1, "is not an object", setting("normalizer", to=deep))

print("\n".join(failures) or "all rejected")
sys.exit(bool(failures))
