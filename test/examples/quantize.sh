#!/usr/bin/env bash
# examples/quantize, built against the build folder: the int8 network needs a quarter of the
# memory and classifies as well as the float network.
# usage: quantize.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

rm -rf "$scratch"
"$cmake" -S "$source/examples/quantize" -B "$scratch" -G Ninja \
  -DIngot_DIR="$build/cmake" -DCMAKE_CXX_COMPILER=g++
"$cmake" --build "$scratch"
"$scratch/compare" "$source/examples/quantize/chars.bin" | tee "$scratch/output"
# A line of the program's output has the network's name, bytes of weights, bytes of working
# memory (the arena), microseconds, and correct answers.
awk '
  $1 == "float" { weights = $2; arena = $3; right = $5 }
  $1 == "8" { failed = !(4 * $3 < weights * 1.1 && 4 * $4 < arena * 1.1 && $6 >= right - 1); seen = 1 }
  /^The same character/ { split($7, same, "."); decibels = $(NF - 1); close_enough = same[1] >= 59 && decibels >= 32 }
  END { exit !seen || failed || !close_enough }' "$scratch/output"
# A file without pictures is rejected.
! "$scratch/compare" "$scratch/output" 2>"$scratch/error"
grep -q 'is no file of pictures' "$scratch/error"
