#!/usr/bin/env bash
# ingot_add_model with memory limits: if the model fits, the header has the
# sizes, and the arena (the working memory) is in the named section; otherwise
# the build fails and lists the kernels that need the most.
# usage: budget.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

fail() { printf 'budget.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch/project"
cp "$source/examples/mnist/model.onnx" "$scratch/project/mnist.onnx"
cat > "$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(budget LANGUAGES C CXX)
find_package(Ingot REQUIRED)
ingot_add_model(mnist MODEL mnist.onnx TARGET generic MAX_RAM 9K MAX_FLASH 64K ARENA_SECTION .bss.fast)
ingot_add_model(small MODEL mnist.onnx TARGET generic OPTIMIZE size MAX_FLASH 64K)
ingot_add_model(flashy MODEL mnist.onnx TARGET generic MAX_FLASH 16K)
ingot_add_model(hungry MODEL mnist.onnx TARGET generic MAX_RAM 1K)
set_target_properties(flashy hungry PROPERTIES EXCLUDE_FROM_ALL ON)
add_executable(program main.cpp)
target_link_libraries(program PRIVATE mnist small)
END
cat > "$scratch/project/main.cpp" <<'END'
#include "mnist.h"
#include "small.h"
static_assert(MNIST_ARENA_BYTES + MNIST_STACK_BYTES <= 9 * 1024, "RAM");
static_assert(MNIST_WEIGHTS_BYTES < MNIST_FLASH_BYTES && MNIST_FLASH_BYTES <= 64 * 1024, "flash");
static_assert(sizeof mnist_arena == MNIST_ARENA_BYTES, "the arena");
static_assert(SMALL_FLASH_BYTES < MNIST_FLASH_BYTES, "optimized for size");
int main() {
  static float image[28 * 28], scores[10];
  mnist_io io = {image, scores};
  return mnist_run(&io, mnist_arena, nullptr);
}
END
"$cmake" -S "$scratch/project" -B "$scratch/tree" -G Ninja -DIngot_DIR="$build/cmake" \
  -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++
"$cmake" --build "$scratch/tree"
"$scratch/tree/program"
objdump -t "$scratch/tree/mnist.ingot/../libmnist.a" | grep -Eq '\.bss\.fast\s.*mnist_arena' ||
  fail "the arena is not in the section .bss.fast"

refused() {
  local target=$1 pattern
  shift
  if "$cmake" --build "$scratch/tree" --target "$target" > "$scratch/$target.log" 2>&1; then
    fail "$target is built beyond its budget"
  fi
  for pattern in "$@"; do
    grep -Eq "$pattern" "$scratch/$target.log" || { cat "$scratch/$target.log"; fail "$target: no /$pattern/"; }
  done
  [ ! -e "$scratch/tree/$target.ingot/$target.cpp" ] || fail "$target.cpp is written all the same"
}
refused flashy 'error\[over-budget\]: the model needs [0-9]+ bytes of flash, [0-9]+ more than --max-flash 16384' \
  'weights 12864 \+ code [0-9]+: conv.*\(.*Convolution110'
refused hungry 'bytes of RAM, [0-9]+ more than --max-ram 1024' 'conv'
