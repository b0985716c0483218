#!/usr/bin/env bash
# examples/cmake against an installation: it builds and runs, does nothing when
# nothing has changed, and compiles the network again when the model changes.
# usage: package.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

fail() { printf 'package.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch"
# Copied, so that the model can change and a path into our sources would show.
cp -r "$source/examples" "$scratch/examples"
"$cmake" --install "$build" --prefix "$scratch/prefix"
"$cmake" -S "$scratch/examples/cmake" -B "$scratch/tree" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++
"$cmake" --build "$scratch/tree"
"$scratch/tree/compare"

"$cmake" --build "$scratch/tree" | grep -q 'no work to do' ||
  fail "a second build does something"

generated=$scratch/tree/fast.ingot/fast.cpp
touch -d '1 hour ago' "$scratch/marker"
touch -r "$scratch/marker" "$generated"
sleep 0.1
touch "$scratch/examples/mnist/model.onnx"
"$cmake" --build "$scratch/tree"
[ "$generated" -nt "$scratch/marker" ] || fail "a changed model is not compiled again"
"$scratch/tree/compare"
