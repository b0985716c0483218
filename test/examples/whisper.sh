#!/usr/bin/env bash
# Tests examples/whisper: runs the whole example with run.sh, compares tokens with those of `transformers`, tests the spectrum,
# WAV files of many forms and bad input.
# usage: whisper.sh INGOT PYTHON SOURCE SCRATCH RECORDINGS
set -euo pipefail
ingot=$1 python=$2 source=$3 scratch=$4 recordings=$5
example=$source/examples/whisper

fail() { printf 'whisper.sh: %s\n' "$*" >&2; exit 1; }
# Runs a command, which must fail with exit code 1 and a message that contains the first argument.
rejects() {
  local message=$1 code=0
  shift
  "$@" > "$scratch/out" 2> "$scratch/error" < /dev/null || code=$?
  [ $code = 1 ] || fail "exit code $code instead of 1: $*: $(cat "$scratch/error")"
  grep -qF -- "$message" "$scratch/error" || fail "no message \`$message\`: $(cat "$scratch/error")"
}

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
export INGOT=$ingot PYTHON=$python CXX=g++ PYTHONDONTWRITEBYTECODE=1
PATH=$(dirname "$ingot"):$PATH
"$python" "$example/make_model.py" model
"$example/run.sh" model model/chirp.wav --language en --timestamps > first
grep -qF "    $(cat first)" "$example/README.md" || fail "README.md has another output than $(cat first)"
"$example/run.sh" model model/chirp.wav --language en --timestamps | cmp - first || fail "the second run differs"
program=$scratch/whisper-model/whisper
if ldd "$program" | grep -Ev 'linux-vdso|libc\.so|libm\.so|libpthread|ld-linux'; then
  fail "the program needs another library"
fi

"$python" "$source/test/examples/whisper/check.py" "$program" "$recordings" "$scratch/wav"
"$python" "$source/test/examples/whisper/spectrum.py" "$ingot" "$scratch/spectrum"
g++ -std=c++17 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra -Werror -I"$example" \
  "$source/test/examples/whisper/audio_test.cpp" "$example/audio.cpp" -o audio_test
./audio_test damaged.wav 2> error || fail "audio_test: $(grep -v warning error)"

# Files same-* contain the same audio in other forms and must give the same tokens. Files other-* contain changed audio and
# must be accepted, files bad-* rejected.
"$python" - "$scratch" << 'END'
import struct
import sys
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])
samples = np.frombuffer((folder / "model/chirp.wav").read_bytes()[44:], "<i2").astype(np.int64)


def wav(name, data, tag, bits, channels=1, rate=16000, extra=b"", size=None, extensible=False):
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else tag, channels, rate, rate * frame, frame, bits)
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 0, tag) + bytes(14)
    data = b"fmt " + struct.pack("<I", len(form)) + form + extra + b"data" + struct.pack("<I", len(data) if size is None else size) + data
    (folder / name).write_bytes(b"RIFF" + struct.pack("<I", 4 + len(data)) + b"WAVE" + data)


def wide(size):
    return b"".join(int(value).to_bytes(size, "little", signed=True) for value in samples << (8 * size - 16))


pcm = samples.astype("<i2").tobytes()
wav("same-24.wav", wide(3), 1, 24)
wav("same-32.wav", wide(4), 1, 32)
wav("same-float.wav", (samples / 32768).astype("<f4").tobytes(), 3, 32)
wav("same-double.wav", (samples / 32768).astype("<f8").tobytes(), 3, 64)
wav("same-stereo.wav", np.repeat(samples, 2).astype("<i2").tobytes(), 1, 16, 2)
wav("same-extensible.wav", pcm, 1, 16, extensible=True)
wav("same-chunks.wav", pcm, 1, 16, extra=b"LIST" + struct.pack("<I", 5) + b"hello\0")
wav("same-pipe.wav", pcm, 1, 16, size=0xFFFFFFFF)
wav("other-8.wav", ((samples >> 8) + 128).astype(np.uint8).tobytes(), 1, 8)
wav("other-rate.wav", np.repeat(samples, 3).astype("<i2").tobytes(), 1, 16, rate=48000)
wav("other-short.wav", pcm[:2], 1, 16)
wav("other-truncated.wav", pcm, 1, 16, size=len(pcm) + 1000)
wav("bad-empty.wav", b"", 1, 16)
wav("bad-alaw.wav", pcm, 6, 8)
wav("bad-bits.wav", pcm, 1, 12)
wav("bad-channels.wav", pcm, 1, 16, channels=0)
wav("bad-rate.wav", pcm, 1, 16, rate=0)
wav("bad-nan.wav", np.array([0, np.nan, 1], "<f4").tobytes(), 3, 32)
(folder / "bad-nothing.wav").write_bytes(b"")
(folder / "bad-text.wav").write_text("this is not audio")
(folder / "bad-header.wav").write_bytes((folder / "model/chirp.wav").read_bytes()[:30])
(folder / "bad-no-data.wav").write_bytes((folder / "model/chirp.wav").read_bytes()[:36])
END
"$program" --print-tokens model/chirp.wav > tokens
for file in same-*.wav; do
  "$program" --print-tokens "$file" 2> error | cmp - tokens || fail "$file has other tokens"
  [ ! -s error ] || fail "$file: $(cat error)"
done
for file in other-*.wav; do
  [ "$("$program" --print-tokens "$file" 2> error | wc -w)" -gt 1 ] || fail "$file has no tokens"
done
"$program" other-truncated.wav 2>&1 > out | grep -q 'is truncated' || fail "no warning for a truncated file"
"$program" --print-tokens --threads 3 model/chirp.wav | cmp - tokens || fail "threads change the tokens"
[ "$("$program" --print-tokens --language de model/chirp.wav --translate | wc -w)" -gt 1 ] || fail "--translate"

rejects 'contains no audio' "$program" bad-empty.wav
rejects 'the format 6 with 8 bits is not supported' "$program" bad-alaw.wav
rejects 'the format 1 with 12 bits is not supported' "$program" bad-bits.wav
rejects '0 channels' "$program" bad-channels.wav
rejects 'the sample rate 0 Hz' "$program" bad-rate.wav
rejects 'sample 1 is infinite, not a number' "$program" bad-nan.wav
rejects 'is not a WAV file' "$program" bad-nothing.wav
rejects 'is not a WAV file' "$program" bad-text.wav
rejects 'ends in the middle of its header' "$program" bad-header.wav
rejects 'has no audio' "$program" bad-no-data.wav
rejects 'cannot be read' "$program" none.wav
rejects 'no file is named' "$program"
rejects 'unknown option `--tempo`' "$program" --tempo x.wav
rejects 'is not a number from 1 to 5' "$program" --beams 6 x.wav
rejects 'the model does not know `xx`; languages: en, de, fr' "$program" --language xx x.wav
# The program transcribes the other files after a damaged one.
code=0
"$program" bad-text.wav model/chirp.wav --print-tokens > out 2> error || code=$?
[ $code = 1 ] && grep -qF -- "$(cat tokens)" out || fail "a damaged file stops the program"

# run.sh and prepare.py reject folders that are no Whisper models.
prepare=("$python" "$example/prepare.py")
cp -r model broken
rejects 'is not a folder' "$example/run.sh" none model/chirp.wav
rm broken/encoder_model.onnx
rejects 'encoder_model.onnx` does not exist; export the model' "${prepare[@]}" broken prepared
head -c 1000 model/encoder_model.onnx > broken/encoder_model.onnx
rejects 'encoder_model.onnx` cannot be read' "${prepare[@]}" broken prepared
cp model/decoder_model.onnx broken/decoder_with_past_model.onnx
cp model/encoder_model.onnx broken/encoder_model.onnx
rejects 'has other inputs than expected' "${prepare[@]}" broken prepared
sed -i 's/"whisper"/"bart"/' broken/config.json
rejects 'of the type `bart`' "${prepare[@]}" broken prepared
echo '{' > broken/config.json
rejects 'config.json` cannot be read' "${prepare[@]}" broken prepared
