#!/usr/bin/env bash
# examples/firmware on the emulated board of a core: recognizes all ten digits,
# checks their scores on the board, and compares the four networks of MLPerf
# Tiny with ONNX Runtime.
# usage: run.sh CMAKE SOURCE BUILD SCRATCH CORE PYTHON
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4 core=$5 python=$6

for program in qemu-system-arm arm-none-eabi-gcc; do
  command -v $program >/dev/null || { echo "run.sh: $program is not installed"; exit 77; }
done
rm -rf "$scratch"
networks=(tiny_resnet8_cifar tiny_ds_cnn_kws tiny_mobilenet_v1_025_vww tiny_ad_autoencoder)
"$python" "$source/test/networks/models/models.py" fill "${networks[@]}" --out "$scratch/models"
"$cmake" -S "$source/examples/firmware" -B "$scratch/images" -G Ninja -DIngot_DIR="$build/cmake" \
  -DCMAKE_TOOLCHAIN_FILE="$build/cmake/cortex-m.cmake" -DINGOT_TARGET="$core" -DTINY_MODELS="$scratch/models"
"$cmake" --build "$scratch/images" 2>&1 | tee "$scratch/log"
if grep -qi 'warning' "$scratch/log"; then
  echo "run.sh: a warning"
  exit 1
fi
for image in digits check compare tiny; do
  "$cmake" --build "$scratch/images" --target run-$image </dev/null >"$scratch/$image.log" 2>&1 ||
    { cat "$scratch/$image.log"; exit 1; }
  cat "$scratch/$image.log"
done
grep -q '10 of 10 right' "$scratch/digits.log"
grep -q 'all outputs are as expected' "$scratch/check.log"
# The int8 network recognizes the same characters with fewer instructions.
grep -q 'The same character as in float: 20 of 20' "$scratch/compare.log"
instructions() { sed -nE "s/^$1: .* ([0-9]+) instructions a picture, 19 of 20 right.*/\1/p" "$scratch/compare.log"; }
[ "$(instructions '8 bits')" -lt "$(instructions float)" ]
# No variable in RAM has an initial value: weights stay in flash.
for image in digits tiny; do
  grep -Eq 'text [0-9]+ data 0 bss [0-9]+ stack [0-9]+ bytes' "$scratch/$image.log"
done
"$python" "$source/test/firmware/compare_tiny.py" "$scratch/models" "$scratch/tiny.log"
