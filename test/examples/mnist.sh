#!/usr/bin/env bash
# examples/mnist, built against the build folder: all ten digits are recognized.
# usage: mnist.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

rm -rf "$scratch"
"$cmake" -S "$source/examples/mnist" -B "$scratch" -G Ninja \
  -DIngot_DIR="$build/cmake" -DCMAKE_CXX_COMPILER=g++
"$cmake" --build "$scratch"
"$scratch/digits" "$source/examples/mnist" | tee "$scratch/output"
grep -q '10 of 10 right' "$scratch/output"
