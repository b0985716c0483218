#!/usr/bin/env bash
# examples/cuda: recognizes all ten digits on an emulated GPU; with nvcc it is
# also built.
# usage: cuda.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

rm -rf "$scratch"
mkdir -p "$scratch"
configure() { # FOLDER, options
  local folder=$1
  shift
  "$cmake" -S "$source/examples/cuda" -B "$folder" -G Ninja -DIngot_DIR="$build/cmake" "$@"
  "$cmake" --build "$folder" 2>&1 | tee "$folder/log"
  if grep -qi 'warning' "$folder/log"; then
    echo "cuda.sh: a warning"
    exit 1
  fi
}
configure "$scratch/emulated" -DINGOT_EMULATED_GPU=ON
"$scratch/emulated/digits" "$source"/examples/mnist/test_data_set_* | tee "$scratch/digits.log"
grep -q '10 of 10 right' "$scratch/digits.log"

if command -v nvcc >/dev/null; then
  configure "$scratch/compiled"
  # Runs the program that nvcc built. On a machine without a GPU it must report an error.
  "$scratch/compiled/digits" "$source"/examples/mnist/test_data_set_* | tee "$scratch/digits.log" ||
    ! grep -q 'right' "$scratch/digits.log"
else
  echo "cuda.sh: nvcc is not installed: not built with it"
fi
