#!/usr/bin/env bash
# ingot_add_model in cross builds: the target is derived from the toolchain file,
# or CMake reports which targets to choose from. Also tests a missing model file.
# usage: cross.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

fail() { printf 'cross.sh: %s\n' "$*" >&2; exit 1; }

for program in aarch64-linux-gnu-g++ arm-linux-gnueabihf-g++ arm-none-eabi-g++ qemu-aarch64 qemu-arm; do
  command -v "$program" >/dev/null || { echo "$program is not installed"; exit 77; }
done
rm -rf "$scratch"
mkdir -p "$scratch/project"
cp "$source/examples/mnist/model.onnx" "$scratch/project/mnist.onnx"
cat > "$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(cross LANGUAGES C CXX)
find_package(Ingot REQUIRED)
if(NOT MODEL)
  set(MODEL mnist.onnx)
endif()
ingot_add_model(net MODEL ${MODEL} ${ARGUMENTS})
END

# toolchain NAME SYSTEM PROCESSOR COMPILER [LINE...]: writes a typical toolchain
# file.
toolchain() {
  local name=$1
  printf '%s\n' "set(CMAKE_SYSTEM_NAME $2)" "set(CMAKE_SYSTEM_PROCESSOR $3)" \
    "set(CMAKE_C_COMPILER $4-gcc)" "set(CMAKE_CXX_COMPILER $4-g++)" "set(CMAKE_FIND_ROOT_PATH /usr/$4)" \
    "set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)" "set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)" \
    "set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)" "set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)" \
    "${@:5}" > "$scratch/$name.cmake"
}
bare='set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)'
toolchain aarch64 Linux aarch64 aarch64-linux-gnu
toolchain armhf Linux arm arm-linux-gnueabihf
toolchain bare Generic arm arm-none-eabi "$bare"
toolchain mcpu Generic arm arm-none-eabi "$bare" 'set(CMAKE_CXX_FLAGS_INIT "-mcpu=cortex-m33 -mthumb")'
toolchain named Generic cortex-m7 arm-none-eabi "$bare"
toolchain other Generic arm arm-none-eabi "$bare" 'set(CMAKE_CXX_FLAGS_INIT "-mcpu=cortex-m1 -mthumb")'
toolchain riscv Linux riscv64 aarch64-linux-gnu

configure() { # NAME PROJECT [ARGUMENT...]
  rm -rf "$scratch/$1"
  "$cmake" -S "$2" -B "$scratch/$1" -G Ninja -DIngot_DIR="$build/cmake" \
    -DCMAKE_TOOLCHAIN_FILE="$scratch/$1.cmake" "${@:3}" > "$scratch/$1.log" 2>&1
}

# The example uses `native`, which in a cross build means the machine that is built
# for.
for machine in aarch64:armv8-a:aarch64-linux-gnu armhf:armv7-a:arm-linux-gnueabihf; do
  IFS=: read -r name target triple <<< "$machine"
  configure "$name" "$source/examples/mnist" || { cat "$scratch/$name.log"; fail "$name is not configured"; }
  grep -q "mnist: compiled for $target" "$scratch/$name.log" || fail "$name: the target is not $target"
  "$cmake" --build "$scratch/$name"
  "qemu-${triple%%-*}" -L "/usr/$triple" "$scratch/$name/digits" "$source/examples/mnist" |
    grep -q '10 of 10 right' || fail "$name: wrong digits"
done

chooses() { # NAME TARGET [ARGUMENT...]
  configure "$1" "$scratch/project" "${@:3}" || { cat "$scratch/$1.log"; fail "$1 is not configured"; }
  grep -q -e "--target $2 " "$scratch/$1/build.ninja" || fail "$1: the target is not $2"
}
chooses mcpu cortex-m33
chooses named cortex-m7
chooses bare cortex-m0plus -DCMAKE_CXX_FLAGS=-mcpu=cortex-m0plus
chooses bare cortex-m4 -DINGOT_TARGET=cortex-m4
chooses riscv generic -DARGUMENTS='TARGET;generic'

refuses() { # NAME PATTERN [ARGUMENT...]
  if configure "$1" "$scratch/project" "${@:3}"; then
    fail "$1 is configured"
  fi
  tr -s ' \n' ' ' < "$scratch/$1.log" | grep -Eq "$2" || { cat "$scratch/$1.log"; fail "$1: no /$2/"; }
}
refuses bare 'net: .*no target for CMAKE_SYSTEM_PROCESSOR .arm. of Generic.*TARGET=\.\.\.: cortex-m0plus, .*cortex-m55, or .generic.'
refuses other 'no target for the core cortex-m1\..*TARGET=\.\.\.: cortex-m0plus, .*cortex-m55, or .generic.'
refuses riscv 'no target for CMAKE_SYSTEM_PROCESSOR .riscv64. of Linux.*armv8-a, .*or .generic., which any machine runs'
refuses aarch64 'net: there is no model .*/project/nosuch\.onnx' -DMODEL=nosuch.onnx
