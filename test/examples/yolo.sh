#!/usr/bin/env bash
# Tests examples/yolo: runs run.sh as a user does, then tests pictures of all kinds, damaged ones, and wrong options.
# usage: yolo.sh INGOT PYTHON SOURCE SCRATCH
set -euo pipefail
ingot=$1 python=$2 source=$3 scratch=$4

fail() { printf 'yolo.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch"
INGOT=$ingot PYTHON=$python CXX=g++ "$source/examples/yolo/run.sh" "$scratch" > "$scratch/log"
cat "$scratch/log"
cd "$scratch"
# All programs must find about as many boxes, both float programs exactly as many.
mapfile -t counts < <(sed -n 's/.* pixels, \([0-9]*\) boxes.*/\1/p' log)
[ "${counts[0]}" -ge 3 ] || fail "only ${counts[0]} boxes"
for count in "${counts[@]}"; do
  difference=$((count - counts[0]))
  [ ${difference#-} -le $((counts[0] / 4 + 2)) ] || fail "boxes: ${counts[*]}"
done
[ ${#counts[@]} = 2 ] || [ "${counts[2]}" = "${counts[0]}" ] || fail "other boxes on a Cortex-A: ${counts[*]}"
# The program links no library but the C and C++ libraries.
if ldd float/detect | grep -Ev 'linux-vdso|libstdc\+\+|libgcc_s|libc\.so|libm\.so|ld-linux'; then
  fail "the program needs another library"
fi

# The detector must find the same boxes in the pictures that it writes in three formats.
for format in png ppm bmp; do
  float/detect pictures/000.png -o "out.$format" > /dev/null
  float/detect "out.$format" --numbers > "$format.txt"
done
cmp png.txt ppm.txt && cmp png.txt bmp.txt || fail "the formats differ"
"$python" - "$source/examples/yolo" << 'EOF' || fail "nothing, or more than boxes, is drawn"
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from make_pictures import draw
pixels = draw(0).tobytes()
drawn = Path("out.ppm").read_bytes()[-len(pixels):]
sys.exit(not 0.001 < sum(a != b for a, b in zip(pixels, drawn)) / len(pixels) < 0.5)
EOF

# PNG files of all supported forms must give the same boxes as PPM files with the same pixels.
"$python" "$source/test/examples/yolo_pictures.py" make forms
float/detect forms/*.png --numbers > forms.txt
float/detect forms/*.ppm --numbers | cmp - forms.txt || fail "a PNG file has other pixels"

# Damaged and unsupported files must be rejected, each with its message.
while IFS='|' read -r file message; do
  code=0
  float/detect "forms/bad/$file" > out.txt 2> error.txt || code=$?
  [ $code = 1 ] || fail "$file: exit code $code"
  [ ! -s out.txt ] || fail "$file: boxes were printed"
  grep -qF -- "$file: $message" error.txt || fail "$file: $(cat error.txt)"
done < forms/bad/messages
# Randomly changed files must not crash the program or run it forever.
code=0
timeout 60 float/detect forms/fuzz/* --numbers > /dev/null 2> error.txt || code=$?
[ $code -le 1 ] || fail "exit code $code for a damaged file"

rejects() { # CODE MESSAGE ARGUMENT...
  local code=0
  float/detect "${@:3}" > out.txt 2> error.txt || code=$?
  [ $code = "$1" ] || fail "exit code $code instead of $1: ${*:3}"
  grep -qF -- "$2" error.txt || fail "no message \`$2\`: $(cat error.txt)"
}
rejects 2 'a picture is missing'
rejects 2 'unknown option `--tempo`' --tempo
rejects 2 'is not a number from 1' pictures/000.png --repeat none
rejects 2 'a value is missing after -o' pictures/000.png -o
rejects 2 'a box has only 6 numbers' pictures/000.png --keypoints 17
rejects 1 'nothing.txt: the file cannot be read' pictures/000.png --labels nothing.txt
rejects 1 'the name must end in .png, .bmp or .ppm' pictures/000.png -o out.jpg
rejects 1 'the file cannot be written' pictures/000.png -o nowhere/out.png
