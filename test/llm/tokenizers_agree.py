"""Compares generated tokenizers with the package `tokenizers`.

    tokenizers_agree.py INGOT CXX WORK_FOLDER COUNT [NAME...]

COUNT: the number of strings for each tokenizer.
"""
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

try:
    import tokenizers
except ImportError:
    print("skipped: the Python package `tokenizers` is not installed")
    sys.exit(77)
import train_tokenizers
from scripts import sample

ingot, cxx, work, count = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
work.mkdir(parents=True, exist_ok=True)
rng = random.Random(11)
texts = ["", " ", "a", "  a  b ", "\n", "<s>", "x" * 300, "ab c", "<mask>", " <mask> ", "</s></s>", "\0"]
texts += [sample(rng, 30) for _ in range(count - len(texts))]
raw = [text.encode() for text in texts]
# Broken UTF-8: bytes removed or changed.
for i in range(0, len(raw), 10):
    data = bytearray(raw[i])
    for _ in range(3):
        if data:
            at = rng.randrange(len(data))
            data[at:at + 1] = rng.choice([b"", b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f"])
    raw[i] = bytes(data)
if count >= 1000:
    raw.append(" ".join(sample(rng, 50) for _ in range(100)).encode())
    raw.append(b"a" * 100000)
    raw.append(b" " * 20000 + b"x")
texts = [data.decode(errors="replace") for data in raw]
records = b"".join(struct.pack("<I", len(data)) + data for data in raw)

failures = 0
for name in sys.argv[5:] or train_tokenizers.ALL:
    path = work / f"{name}.json"
    if not path.exists():
        train_tokenizers.ALL[name]().save(str(path))
    folder = work / name
    folder.mkdir(exist_ok=True)
    subprocess.run([ingot, "tokenizer", path, "-o", folder / "tok.cpp", "-q"], check=True)
    main = Path(__file__).parent / "tokenizer_main.cpp"
    subprocess.run([*cxx.split(), "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", main,
                    folder / "tok.cpp", "-o", folder / "tok"], check=True)
    start = time.time()
    output = subprocess.run([folder / "tok"], input=records, stdout=subprocess.PIPE, check=True).stdout
    seconds = time.time() - start
    at = 0

    def take(width):
        global at
        (size,) = struct.unpack_from("<I", output, at)
        data = output[at + 4:at + 4 + size * width]
        at += 4 + size * width
        return list(struct.unpack(f"<{size}i", data)) if width == 4 else data

    reference = tokenizers.Tokenizer.from_file(str(path))
    # The texts for which a result differs from that of the package, by kind of result.
    wrong = {}
    for text in texts:
        results = [take(4), take(4), take(1), take(1), take(1), take(4), take(1)]
        ids = reference.encode(text).ids
        decoded = reference.decode(ids, skip_special_tokens=False)
        expected = [ids, reference.encode(text, add_special_tokens=False).ids, reference.decode(ids).encode(),
                    decoded.encode(), decoded.encode(), results[5],
                    reference.decode(results[5], skip_special_tokens=False).encode()]
        for kind, (own, other) in zip(("tokens", "tokens without special ones", "text", "text with special tokens",
                                       "streamed text", "", "text of random tokens"), zip(results, expected)):
            if own != other:
                wrong.setdefault(kind, []).append((text, own, other))
    print(f"{name}: {len(texts)} strings, {len(records) / seconds / 1e6:.1f} MB/s,",
          ", ".join(f"{len(cases)} times other {kind}" for kind, cases in wrong.items()) or "all equal", flush=True)
    for kind, cases in wrong.items():
        failures += len(cases)
        text, own, other = min(cases, key=lambda case: len(case[0]))
        print(f"  {kind} of {text[:200]!r}:\n    {own[:60]}\n    {other[:60]}")
sys.exit(failures > 0)
