#!/usr/bin/env bash
# examples/hexagon under the emulator: ten of ten digits by a network of small integers.
# usage: hexagon.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

for program in qemu-hexagon clang-22 ld.lld-22; do
  command -v $program >/dev/null || { echo "hexagon.sh: $program is not installed"; exit 77; }
done
rm -rf "$scratch"
mkdir -p "$scratch"
"$cmake" -S "$source/examples/hexagon" -B "$scratch/build" -G Ninja -DIngot_DIR="$build/cmake" \
  -DCMAKE_TOOLCHAIN_FILE="$build/cmake/hexagon.cmake"
"$cmake" --build "$scratch/build" 2>&1 | tee "$scratch/log"
if grep -qi 'warning' "$scratch/log"; then
  echo "hexagon.sh: a warning"
  exit 1
fi
"$cmake" --build "$scratch/build" --target run-digits </dev/null | tee "$scratch/digits.log"
grep -q '10 of 10 right' "$scratch/digits.log"
