"""Runs all steps of examples/search, compares results with ONNX Runtime and `tokenizers`, and tests bad input.

    search.py INGOT PYTHON WORK_FOLDER [--whole] [--exported]

--whole: the model with the sizes of MiniLM and 10,000 sentences, as a user runs the example; otherwise a small model.
--exported: a model exported from `transformers` by Optimum, whose vectors are also compared with those of `transformers`;
skipped if these packages are missing.
"""
import argparse
import json
import os
import random
import shutil
import struct
import subprocess
import sys
from pathlib import Path

try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error.name} is not installed")
    sys.exit(77)

EXAMPLE = Path(__file__).parents[2] / "examples/search"
sys.dont_write_bytecode = True
sys.path[:0] = [str(EXAMPLE), str(Path(__file__).parents[1] / "llm")]
from make_sentences import sentences  # noqa: E402
from scripts import sample  # noqa: E402

HEADER = struct.Struct("<8sIIQQ64s")
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)


def run(*command, code=0, says="", **options):
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    text = (result.stdout + result.stderr).decode(errors="replace")
    expect(result.returncode == code and says in text,
           f"{' '.join(map(str, command))[:200]}: exit {result.returncode} instead of {code}, no `{says}` in:\n{text[-1500:]}")
    return text


def read_index(path):
    """Returns the line numbers, the vectors and the texts of an index."""
    data = path.read_bytes()
    _, _, size, count, text_bytes, _ = HEADER.unpack_from(data)
    at = HEADER.size
    lines = np.frombuffer(data, np.uint64, count, at)
    ends = np.frombuffer(data, np.uint64, count, at + 8 * count)
    at += 16 * count
    vectors = np.frombuffer(data, np.float32, count * size, at).reshape(count, size)
    at += 4 * count * size
    texts = [data[at + begin:at + end] for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist())]
    return lines, vectors, texts


def export(folder):
    """Writes what `optimum-cli export onnx` writes for a BERT encoder. Returns the exported model of `transformers`."""
    try:
        import torch
        import transformers
        from optimum.exporters.onnx import onnx_export_from_model
    except ImportError as error:
        print(f"skipped: {error.name} is not installed")
        sys.exit(77)
    from make_model import tokenizer, vocabulary
    torch.manual_seed(0)
    config = transformers.BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
    model = transformers.BertModel(config).eval()
    onnx_export_from_model(model, folder, task="feature-extraction", do_validation=False, device="cpu")
    tokens = tokenizer(vocabulary(config.vocab_size))
    (folder / "raw.json").write_text(json.dumps(tokens), encoding="utf-8")
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "raw.json"), model_max_length=256)
    # As in repositories of sentence-transformers: texts are padded to one length and truncated to another.
    wrapped.backend_tokenizer.enable_padding(length=128)
    wrapped.save_pretrained(folder)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 200, "do_lower_case": false}')
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}')
    modules = [{"type": f"sentence_transformers.models.{name}"} for name in ("Transformer", "Pooling", "Normalize")]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "raw.json").unlink()
    return model


def reference(model, tokens):
    """Returns a normalized vector for each list of tokens: ONNX Runtime computes the network, NumPy the mean over tokens."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model / "model.onnx"), options)
    names = {value.name for value in session.get_inputs()}
    result = []
    for sentence in tokens:
        ids = np.array([sentence], np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = session.run(["last_hidden_state"], {name: feeds[name] for name in names})
        mean = hidden[0].astype(np.float64).mean(axis=0)
        result.append(mean / np.linalg.norm(mean))
    return np.array(result)


def by_transformers(network, tokens):
    import torch
    result = []
    with torch.no_grad():
        for sentence in tokens:
            mean = network(torch.tensor([sentence])).last_hidden_state[0].double().mean(dim=0)
            result.append((mean / mean.norm()).numpy())
    return np.array(result)


def compare_with_sentence_transformers(work, environment, texts):
    """Compares with sentence-transformers, whose models Optimum exports with pooling and the output `sentence_embedding`."""
    try:
        from optimum.exporters.onnx import main_export
        from sentence_transformers import SentenceTransformer, models
    except ImportError as error:
        print(f"sentence-transformers is not compared: {error.name} is not installed")
        return
    import torch
    import transformers
    torch.manual_seed(1)
    folder = work / "sentence"
    config = transformers.BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
    transformers.BertModel(config).eval().save_pretrained(folder / "bert")
    special = {f"{name.lower()}_token": f"[{name}]" for name in ("PAD", "UNK", "CLS", "SEP", "MASK")}
    transformers.PreTrainedTokenizerFast(tokenizer_file=str(work / "model" / "tokenizer.json"), model_max_length=256,
                                         **special).save_pretrained(folder / "bert")
    # The pooling takes the first token. The exported graph contains the pooling, but the folder has no file that describes it.
    parts = [models.Transformer(str(folder / "bert")), models.Pooling(64, pooling_mode="cls"), models.Normalize()]
    network = SentenceTransformer(modules=parts, device="cpu")
    network.save(str(folder / "model"))
    main_export(str(folder / "model"), str(folder / "onnx"), task="feature-extraction", library_name="sentence_transformers",
                do_validation=False)
    run(EXAMPLE / "run.sh", folder / "out", folder / "onnx", env=environment)
    worst = np.abs(network.encode(texts) - read_index(folder / "out" / "sentences.index")[1]).max()
    print(f"sentence-transformers, {len(texts)} sentences: elements differ by at most {worst:.1e}")
    expect(worst < 1e-5, "the vectors differ from those of sentence-transformers")


def compare_rankings(program, index, vectors, texts, queries, expected, best=10):
    """Compares the answers of the program with the cosines of the reference. Sentences with nearly equal cosines may be
    swapped."""
    text = run(program, "query", index, "--best", best, input="\n".join(queries).encode())
    answers = text.split("\n")
    for i, query in enumerate(queries):
        block = answers[i * (best + 1):(i + 1) * (best + 1)]
        expect(len(block) == best + 1 and block[0][:150] == query[:150], f"the answer to `{query}` begins with {block[:1]}")
        cosines = vectors @ expected[i]
        order = np.argsort(-cosines, kind="stable")
        for place, line in enumerate(block[1:]):
            score, number = float(line.split()[0]), int(line.split()[2].rstrip(":"))
            row = number - 1
            expect(abs(score - cosines[row]) < 1e-5, f"`{query}`: {line}: the cosine is {cosines[row]:.6f}")
            expect(row == order[place] or abs(cosines[row] - cosines[order[place]]) < 2e-6,
                   f"`{query}`: place {place + 1} is line {number} instead of {order[place] + 1}")
            expect(texts[row][:150] in line,  # long texts are cut
                   f"`{query}`: line {number} is not `{texts[row]}`")


def tokens_of(program, path, data):
    path.write_bytes(data)
    return [[int(token) for token in line.split()] for line in run(program, "tokens", path).split("\n")[:-1]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ingot")
    parser.add_argument("python")
    parser.add_argument("work", type=Path)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--exported", action="store_true")
    options = parser.parse_args()
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    environment = {**os.environ, "INGOT": options.ingot, "PYTHON": options.python, "PYTHONDONTWRITEBYTECODE": "1"}
    out, model, network = work / "out", work / "model", None
    source = out / "sentences.txt"
    if options.exported:
        network = export(model)
    elif not options.whole:
        run(options.python, EXAMPLE / "make_model.py", model, "--layers", 2, "--hidden", 64, "--heads", 4, "--vocabulary",
            8000, env=environment)
    if options.whole:
        model = out / "model"
        text = run(EXAMPLE / "run.sh", out, says="10000 sentences with", env=environment)
    else:
        source = work / "few.txt"
        source.write_text("\n".join(sentences(600)) + "\n", encoding="utf-8")
        text = run(EXAMPLE / "run.sh", out, model, says="600 sentences with", env={**environment, "SENTENCES": str(source)})
    print(text)
    if failures:
        sys.exit("\n".join(failures))
    expect(text.count("\n  ") == 9, f"run.sh did not print three answers of three lines:\n{text}")
    program, index = out / "search", out / "sentences.index"
    texts = source.read_text(encoding="utf-8").split("\n")[:-1]
    lines, vectors, stored = read_index(index)
    expect(lines.tolist() == list(range(1, len(texts) + 1)), "the index has other lines than the file")
    expect([text.decode() for text in stored] == texts, "the index has other texts than the file")

    # Compares tokens of the sentences, and of strings in many scripts with damaged bytes.
    rng = random.Random(5)
    strange = [sample(rng, 12).replace("\n", " ").replace("\r", " ").encode() for _ in range(2000)]
    for i in range(0, len(strange), 5):
        data = bytearray(strange[i])
        if data:
            data[rng.randrange(len(data))] = rng.choice(b"\xff\xc3\x80\xf0")
        strange[i] = bytes(data).replace(b"\n", b" ")
    strange += [b"", b"x" * 100000, b"word " * 20000, b"\xff\xfe" * 50000, "é".encode() * 100000, b"a\0b"]
    strange = [line.rstrip(b"\r") for line in strange]
    tokens = tokens_of(program, work / "tokens.txt", source.read_bytes())
    odd = tokens_of(program, work / "strange.txt", b"".join(line + b"\n" for line in strange))
    longest = json.loads((out / "tokenizer.json").read_text(encoding="utf-8"))["truncation"]["max_length"]
    expect(longest == (200 if network else 128), f"the model takes {longest} tokens")
    expect(max(map(len, odd)) == longest, f"the longest line has {max(map(len, odd))} tokens instead of {longest}")
    try:
        import tokenizers
    except ImportError:
        print("tokens are not compared: the Python package `tokenizers` is not installed")
    else:
        peer = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
        peer.enable_truncation(longest)
        peer.no_padding()
        own = tokens + odd
        theirs = [peer.encode(text).ids for text in texts + [line.decode(errors="replace") for line in strange]]
        wrong = sum(a != b for a, b in zip(own, theirs))
        print(f"tokens: {len(own)} lines, {wrong} differ")
        expect(len(own) == len(theirs) and wrong == 0, f"the tokens of {wrong} lines differ from those of `tokenizers`")

    # Compares vectors and rankings.
    chosen = sorted(rng.sample(range(len(texts)), 150))
    expected = reference(model, [tokens[i] for i in chosen])
    worst = np.abs(expected - vectors[chosen]).max()
    least = (expected * vectors[chosen]).sum(axis=1).min()
    pairs = np.abs(expected @ expected.T - vectors[chosen].astype(np.float64) @ vectors[chosen].T).max()
    print(f"ONNX Runtime, {len(chosen)} sentences: elements differ by at most {worst:.1e}, cosines between sentences by "
          f"{pairs:.1e}; least cosine with the reference {least:.8f}")
    expect(worst < 1e-5 and pairs < 1e-5 and least > 1 - 1e-6, "the vectors differ from those of ONNX Runtime")
    if network:
        other = by_transformers(network, [tokens[i] for i in chosen])
        worst = np.abs(other - vectors[chosen]).max()
        print(f"transformers: elements differ by at most {worst:.1e}")
        expect(worst < 1e-5, "the vectors differ from those of transformers")
        compare_with_sentence_transformers(work, {**environment, "SENTENCES": str(source)}, texts)
    whole = reference(model, tokens) if len(texts) <= 1000 else vectors
    queries = [" ".join(reversed(texts[i].split())) for i in chosen[:100]]
    query_tokens = tokens_of(program, work / "queries.txt", "\n".join(queries).encode())
    compare_rankings(program, index, whole, texts, queries, reference(model, query_tokens))

    # Bad input.
    bad = work / "bad.txt"
    bad.write_bytes(b"\xef\xbb\xbfFirst line\r\n\r\n   \n" + b"long " * 20000 + b"\n\xff\xfe broken \xc3\n\x1b[31m\x07 control\nlast")
    text = run(program, "index", bad, work / "bad.index", says="2 lines without text are not in the index")
    expect("1 lines have" in text, f"the long line is not reported:\n{text}")
    numbers, vectors, _ = read_index(work / "bad.index")
    expect(numbers.tolist() == [1, 4, 5, 6, 7], f"the lines of the index are {numbers.tolist()}")
    text = run(program, "query", work / "bad.index", "First line", says="1.000000  line 1: ")
    expect("\x1b" not in text and "\x07" not in text, "control characters of a sentence are printed")
    run(program, "query", work / "bad.index", "\udcff\udce2\udc82 line", says="line 1")
    run(program, "query", work / "bad.index", "x" * 100000, says="line 4")
    run(program, "query", work / "bad.index", "--best", 1000, "line", says="line 7: last")
    run(program, "query", work / "bad.index", "", code=1, says="the query `` contains no text")
    run(program, "query", work / "bad.index", input=b"\nlast\n", code=1, says="1.000000  line 7: last")
    run(program, "query", work / "bad.index", "--best", "0", "a", code=1, says="not a whole number from 1")
    run(program, "query", work / "bad.index", "--best", code=1, says="--best needs a number")
    run(program, "query", work / "bad.index", "--bset", 3, code=1, says="unknown option `--bset`")
    run(program, code=2, says="usage: search index")
    (work / "empty.txt").write_bytes(b"")
    (work / "blank.txt").write_bytes(b"\n \n\t\n")
    for name in ("empty.txt", "blank.txt"):
        run(program, "index", work / name, work / "none.index", code=1, says="contains no text")
    for name in ("missing.txt", "."):
        run(program, "index", work / name, work / "none.index", code=1, says="cannot be read")
    run(program, "index", bad, work / "missing" / "x.index", code=1, says="cannot be written")
    expect(not (work / "none.index").exists(), "an index of nothing was written")

    run(program, "query", work / "missing.index", "a", code=1, says="cannot be read")
    good = (work / "bad.index").read_bytes()
    damaged = work / "damaged.index"
    for position in [0, 8, 12, 16, 24, 32, 95, 96, 200, len(good) // 2, len(good) - 1]:
        data = bytearray(good)
        data[position] ^= 0x41
        damaged.write_bytes(data)
        run(program, "query", damaged, "a", code=1, says="write it again with `search index`")
    for size in [0, 1, 95, 100, len(good) // 2, len(good) - 1]:
        damaged.write_bytes(good[:size])
        run(program, "query", damaged, "a", code=1, says="write it again with `search index`")
    damaged.write_bytes(good + b"x")
    run(program, "query", damaged, "a", code=1, says="is damaged")
    damaged.write_bytes(good[:32] + b"0" * 64 + good[96:])
    run(program, "query", damaged, "a", code=1, says="belongs to another model")

    # Models that prepare.py rejects.
    def prepare(says, **files):
        broken = work / "broken"
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(model, broken)
        for name, content in files.items():
            path = broken / name.replace("__", ".").replace("_DIR_", "/")
            path.parent.mkdir(exist_ok=True)
            path.unlink() if content is None else path.write_bytes(content)
        run(options.python, EXAMPLE / "prepare.py", broken, work / "prepared", code=1, says=says, env=environment)

    if not options.whole and not options.exported:
        prepare("has no model.onnx; export the model by", model__onnx=None)
        prepare("has no tokenizer.json", tokenizer__json=None)
        prepare("model.onnx cannot be read", model__onnx=b"no model")
        prepare("is not JSON", tokenizer__json=b"{")
        prepare("asks for pooling_mode_max_tokens", **{"1_Pooling_DIR_config__json": b'{"pooling_mode_max_tokens": true}'})
        prepare("asks for max", **{"1_Pooling_DIR_config__json": b'{"pooling_mode": "max"}'})
        prepare("names the module Dense", modules__json=b'[{"type": "sentence_transformers.models.Dense"}]')
        run(options.python, EXAMPLE / "prepare.py", model, work / "prepared", "--length", 1000, code=1,
            says="--length must be from 3 to 128", env=environment)
    if failures:
        sys.exit("\n".join(failures[:20]) + f"\n{len(failures)} failures")


if __name__ == "__main__":
    main()
