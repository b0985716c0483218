"""Compares the tokens of the program of examples/whisper with those of `transformers` in tokens.json.

    check.py PROGRAM COUNT SCRATCH

Runs the program on COUNT recordings in each mode: greedily and with 4 beams, without and with timestamps. In each mode 2% of
the recordings may differ: if two tokens or beams are equally probable up to rounding, the order of additions decides.
(On x86-64-v4 one of 400 differs, 045-chirp with beams and timestamps. transformers generates Ingot's tokens for this recording
if the spectrum is multiplied by 1.000001.)
"""
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "examples" / "whisper")]
from make_model import write_wav
from recordings import recordings

program, count, scratch = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
expected = json.loads((HERE / "tokens.json").read_text(encoding="utf-8"))
names = list(expected)[:count]
scratch.mkdir(parents=True, exist_ok=True)
for name, samples in recordings(count):
    write_wav(scratch / f"{name}.wav", samples)


def run(*options):
    """Returns the lines that the program prints for each recording."""
    process = subprocess.run([program, *options, *(str(scratch / f"{name}.wav") for name in names)], stdout=subprocess.PIPE,
                             check=True)
    result, lines = {}, None
    for line in process.stdout.decode("utf-8").split("\n")[:-1]:
        if line.startswith("== "):
            lines = result[Path(line[3:]).stem] = []
        else:
            lines.append(line)
    return result


failed = 0
for mode in ("1", "1t", "4", "4t"):
    options = ["--print-tokens", "--beams", mode[0]] + (["--timestamps"] if mode.endswith("t") else [])
    got = run(*options)
    equal = windows = tokens = 0
    for name in names:
        wanted = [f"{frame}:" + "".join(f" {token}" for token in sequence) for frame, sequence in expected[name][mode]]
        windows += len(wanted)
        tokens += sum(len(sequence) for _, sequence in expected[name][mode])
        if got[name] == wanted:
            equal += 1
        else:
            print(f"{name} ({mode}):\n  expected {wanted}\n  got      {got[name]}")
    failed += (len(names) - equal) * 50 > len(names)
    print(f"{' '.join(options[1:])}: {equal} of {len(names)} recordings equal ({windows} windows, {tokens} tokens)")

texts = run()
wrong = [name for name in names if texts[name][0] != expected[name]["text"]]
for name in wrong:
    print(f"{name}: text {texts[name][0]!r} instead of {expected[name]['text']!r}")
print(f"text: {len(names) - len(wrong)} of {len(names)} equal")
sys.exit(bool(failed or len(wrong) * 50 > len(names)))
