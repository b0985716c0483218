#!/usr/bin/env bash
# ingot_add_model_test: builds a program that runs a model on its data sets. The
# program is built again when the data change, and then reports a failure.
# usage: model_test.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

fail() { printf 'model_test.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch/project"
cp -r "$source/examples/mnist/model.onnx" "$source/examples/mnist/test_data_set_0" \
  "$source/examples/mnist/test_data_set_1" "$scratch/project"
cat > "$scratch/project/CMakeLists.txt" <<'END_OF_PROJECT'
cmake_minimum_required(VERSION 3.22)
project(check LANGUAGES C CXX)
find_package(Ingot REQUIRED)
ingot_add_model(mnist MODEL model.onnx TARGET generic)
ingot_add_model_test(mnist_check MODEL model.onnx DATA . TARGET generic WEIGHTS object)
enable_testing()
add_test(NAME mnist COMMAND mnist_check)
END_OF_PROJECT
"$cmake" -S "$scratch/project" -B "$scratch/tree" -G Ninja -DIngot_DIR="$build/cmake" \
  -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++
"$cmake" --build "$scratch/tree"
"$scratch/tree/mnist_check" > "$scratch/log" || { cat "$scratch/log"; fail "the outputs differ"; }
[ "$(grep -c ', ok$' "$scratch/log")" = 2 ] || { cat "$scratch/log"; fail "not both data sets were run"; }
# The library itself must not contain trace hooks.
grep -q trace_user "$scratch/tree/mnist.ingot/mnist.cpp" && fail "the library is traced"

cp "$scratch/project/test_data_set_0/output_0.pb" "$scratch/project/test_data_set_1"
"$cmake" --build "$scratch/tree"
"$scratch/tree/mnist_check" > "$scratch/log" && fail "wrong data are accepted"
grep -q '^test_data_set_1: .* WRONG' "$scratch/log" || { cat "$scratch/log"; fail "the wrong data set is not named"; }
