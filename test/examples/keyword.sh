#!/usr/bin/env bash
# Tests examples/keyword: finds the words of recordings, reports damaged files, makes the model again from the
# trained network, and runs on an emulated Cortex-M4.
# usage: keyword.sh CMAKE SOURCE BUILD SCRATCH PYTHON
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4 python=$5
example=$source/examples/keyword

fail() { printf 'keyword.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
export PYTHONDONTWRITEBYTECODE=1
"$cmake" -S "$example" -B host -G Ninja -DIngot_DIR="$build/cmake" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >/dev/null
"$cmake" --build host

# The program must find the words of the example's recording that README.md shows.
host/spot "$example/words.wav" | tee words.log
sed -n '/^\$ build\/keyword\/spot/,/^```/p' "$example/README.md" | grep '^ *[0-9]' | diff - words.log ||
  fail "README.md shows other words"

# In at least 3 of 4 new recordings, it must find exactly the spoken words in order.
all="ai us mo sa she uma mo ai uma us she sa"
right=0
for seed in 1 2 3 4; do
  "$python" "$example/speech.py" said.wav --seed $seed --noise -12 $all
  heard=$(host/spot said.wav | awk '{print $3}' | paste -sd' ')
  echo "heard: $heard"
  [ "$heard" != "$all" ] || right=$((right + 1))
done
[ $right -ge 3 ] || fail "only $right of 4 recordings were understood"
"$python" "$example/speech.py" silence.wav --noise -10
[ "$(host/spot silence.wav)" = "no word" ] || fail "a word in noise"
"$python" - <<'END'
import struct
import wave
def write(name, rate=16000, channels=1, width=2, seconds=2):
    with wave.open(name, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(bytes(rate * channels * width * seconds))
write("zeros.wav")
write("rate.wav", rate=8000)
write("stereo.wav", channels=2)
write("bytes.wav", width=1)
write("short.wav", seconds=0)
whole = open("zeros.wav", "rb").read()
open("empty.wav", "wb").close()
def form(tag, bits, sub=None):
    """Two seconds of silence in a format; `sub` is the tag within an extensible one."""
    more = struct.pack("<HHIH14s", 22, bits, 4, sub, b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71") if sub else b""
    head = struct.pack("<HHIIHH", tag, 1, 16000, 2000 * bits, bits // 8, bits) + more
    return b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<I", len(head)) + head + b"data" + struct.pack("<I", 4000 * bits) + bytes(4000 * bits)
for name, content in {"bits24": form(1, 24), "bits32": form(1, 32), "float": form(3, 32), "law": form(7, 8), "extensible": form(0xFFFE, 16, 1),
                      "extensible24": form(0xFFFE, 24, 1), "extensible_float": form(0xFFFE, 32, 3), "extensible_short": form(0xFFFE, 16),
                      "pipe": whole[:40] + b"\xff" * 4 + whole[44:], "photo": b"\xff\xd8\xff\xe0" + bytes(50)}.items():
    open(name + ".wav", "wb").write(content)
open("cut.wav", "wb").write(whole[:1000])
open("header.wav", "wb").write(whole[:20])
open("text.wav", "w").write("this is text, not sound")
open("nodata.wav", "wb").write(whole[:36])
open("order.wav", "wb").write(whole[:12] + whole[36:])
open("format.wav", "wb").write(whole[:16] + b"\4\0\0\0" + whole[20:24] + whole[36:])
open("chunk.wav", "wb").write(whole[:36] + b"LIST\3\0\0\0abc\0" + whole[36:])
END
[ "$(host/spot zeros.wav)" = "no word" ] || fail "a word in silence"
[ "$(host/spot chunk.wav)" = "no word" ] || fail "a chunk of odd length is not skipped"
[ "$(host/spot extensible.wav)" = "no word" ] || fail "an extensible format of 16-bit samples is not read"
[ "$(host/spot pipe.wav)" = "no word" ] || fail "a file written to a pipe is not read"

# Each damaged file is an error that says what is wrong.
refused() {
  local file=$1 message=$2
  if host/spot "$file" > refused.log 2>&1; then fail "$file is accepted"; fi
  grep -q "keyword: $file: .*$message" refused.log || { cat refused.log; fail "$file: no message \"$message\""; }
}
refused missing.wav "cannot be read"
refused empty.wav "is empty"
refused text.wav "not a WAV file"
refused rate.wav "16000 samples per second"
refused stereo.wav "one channel"
for format in bytes bits24 bits32 float law extensible24 extensible_float extensible_short; do
  refused $format.wav "16-bit integers"
  grep -q '^To convert a recording: ffmpeg' refused.log || fail "$format.wav: no way out"
done
refused photo.wav "not a WAV file"
refused short.wav "shorter than the window"
refused cut.wav "cut off"
refused header.wav "cut off"
refused nodata.wav "no samples"
refused order.wav "no format before the samples"
refused format.wav "shorter than 16 bytes"
if host/spot 2> usage.log; then fail "no file is accepted"; fi
grep -q '^usage: keyword' usage.log || fail "no usage"

# A model made again by the commands that made model.onnx must give the same words.
export PATH=$build/bin:$PATH
"$python" "$example/models.py" calibrate samples.npz
ingot quantize "$example/network.onnx" --calibrate samples.npz -o network_int8.onnx > quantize.log
"$python" "$example/models.py" join network_int8.onnx again.onnx
"$cmake" -S "$example" -B again -G Ninja -DIngot_DIR="$build/cmake" -DCMAKE_BUILD_TYPE=Release \
  -DKEYWORD_MODEL="$scratch/again.onnx" -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >/dev/null
"$cmake" --build again
[ "$(again/spot "$example/words.wav" | awk '{print $3}')" = "$(awk '{print $3}' words.log)" ] ||
  fail "the model that was made anew finds other words"

# Runs the example on an emulated board, whose program also computes the whole window in some calls.
for program in qemu-system-arm arm-none-eabi-gcc; do
  command -v $program >/dev/null || { echo "keyword.sh: $program is not installed, the board is not tested"; exit 0; }
done
for core in cortex-m4; do
  "$cmake" -S "$example" -B $core -G Ninja -DIngot_DIR="$build/cmake" \
    -DCMAKE_TOOLCHAIN_FILE="$build/cmake/cortex-m.cmake" -DINGOT_TARGET=$core >/dev/null
  "$cmake" --build $core 2>&1 | tee $core.build
  if grep -qi warning $core.build; then fail "$core: a warning"; fi
  "$cmake" --build $core --target run-listen </dev/null > $core.log 2>&1 || { cat $core.log; fail "$core: the program failed"; }
  cat $core.log
  [ "$(sed -n 's/.* tenths of a second: //p' $core.log)" = "$(awk '{print $3}' words.log)" ] ||
    fail "$core finds other words"
  grep -q 'the same probabilities: 3 of 3' $core.log || fail "$core: the stream differs from the window"
  figures=$(sed -n 's/.*: *\([0-9]*\) instructions a call.*/\1/p' $core.log | paste -sd' ')
  read -r streamed whole <<< "$figures"
  [ $((streamed * 10)) -lt "$whole" ] || fail "$core: a call takes $streamed instructions, the window $whole"
done
