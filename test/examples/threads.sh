#!/usr/bin/env bash
# examples/threads: bit-identical results on one thread and on several, and a
# trace that names the network's nodes. A damaged weights file is rejected.
# usage: threads.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

fail() { printf 'threads.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch"
"$cmake" -S "$source/examples/threads" -B "$scratch/tree" -G Ninja \
  -DIngot_DIR="$build/cmake" -DCMAKE_CXX_COMPILER=g++
"$cmake" --build "$scratch/tree"
for threads in 1 3; do
  "$scratch/tree/classify" $threads | tee "$scratch/output"
  grep -q "one thread and $threads give the same bits" "$scratch/output" || fail "the results differ"
  grep -q 'a ring looks like 0' "$scratch/output" || fail "a ring is no zero"
  for node in Convolution28 Convolution110 Times212; do
    grep -Eq "^ +[0-9.]+ us  .*$node" "$scratch/output" || fail "the trace does not name $node"
  done
done

weights=$scratch/tree/mnist.ingot/mnist.weights
printf x | dd of="$weights" bs=1 seek=9000 conv=notrunc status=none
if "$scratch/tree/classify" 2> "$scratch/error"; then
  fail "a damaged weights file is accepted"
fi
grep -q 'is not the weights file of this model' "$scratch/error" || fail "the damage is not reported"
