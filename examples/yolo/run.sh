#!/usr/bin/env bash
# Compiles a detector with its preprocessing and postprocessing, in float and in int8, and finds objects in a picture.
# usage: run.sh [FOLDER]    (build/yolo)
#
# Environment: INGOT, PYTHON (with numpy and onnx), CXX; MODEL and SIZE: another network and the size of its square
# image, PICTURE: another picture, LABELS: a file with the name of each class.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/build/yolo}
ingot=${INGOT:-$root/build/bin/ingot} python=${PYTHON:-$root/build/venv/bin/python3} cxx=${CXX:-g++}
# The paths of folder and programs become absolute, because the commands run in the folder of the results.
absolute() { case $1 in /*) echo "$1" ;; */*) echo "$PWD/$1" ;; *) echo "$1" ;; esac; }
# Unlike a program, a file without a folder is in the current folder.
file() { case $1 in '' | /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
out=$(file "$out") ingot=$(absolute "$ingot") python=$(absolute "$python")
model=$(file "${MODEL:-}") picture=$(file "${PICTURE:-}") labels=$(file "${LABELS:-}")
mkdir -p "$out"
cd "$out"

# Writes a network with random weights (unless MODEL is set), pictures, and samples for quantization.
size=${SIZE:-128}
if [ -z "$model" ]; then
  "$python" "$here/make_model.py" network.onnx
  printf '%s\n' cup book lamp chair plant > labels.txt
  model=network.onnx labels=${labels:-labels.txt}
fi
"$python" "$here/make_pictures.py" pictures --count 3 --samples samples.npz --size "$size"
picture=${picture:-pictures/000.png}

# Quantizes only the network: the boxes are computed in float.
"$ingot" quantize "$model" --calibrate samples.npz -o quantized.onnx > quantize.txt

build() { # NAME MODEL TARGET COMPILER [FLAG...]: builds the program for one network and target
  mkdir -p "$1"
  "$ingot" attach "$2" -o "$1/detector.onnx" --frame any --max-boxes 100 -q
  "$ingot" "$1/detector.onnx" -o "$1/detector.cpp" --target "$3" --weights source \
    --dim frame_width=1..1920 --dim frame_height=1..1080 -q
  "${@:4}" -std=c++17 -O2 -I "$1" -I "$here" -o "$1/detect" \
    "$here"/{detect,draw,image,inflate,jpeg}.cpp "$1/detector.cpp"
}

build float "$model" native "$cxx"
build int8 quantized.onnx native "$cxx"
for kind in float int8; do
  printf '\n%s\n' "$kind"
  "$kind/detect" "$picture" -o "$kind.png" --repeat 20 ${labels:+--labels "$labels"}
done

# Builds the same programs for a Cortex-A, and runs them in an emulator.
if command -v aarch64-linux-gnu-g++ > /dev/null && command -v qemu-aarch64 > /dev/null; then
  build arm_float "$model" armv8-a aarch64-linux-gnu-g++ -static
  build arm_int8 quantized.onnx armv8-a aarch64-linux-gnu-g++ -static
  for kind in float int8; do
    printf '\nCortex-A, %s\n' "$kind"
    qemu-aarch64 "arm_$kind/detect" "$picture" ${labels:+--labels "$labels"}
  done
else
  echo "no program for Cortex-A: aarch64-linux-gnu-g++ or qemu-aarch64 is not installed"
fi

# Compiles the network with a camera's frames and the selection of boxes for an NVIDIA GPU.
"$ingot" attach "$model" -o camera.onnx --frame 1280x720 --format nv12 --max-boxes 100 -q
"$ingot" camera.onnx -o camera.cu --target sm_80 -q
if command -v nvcc > /dev/null; then
  nvcc -std=c++17 -arch=sm_80 -c camera.cu -o camera.o
  printf '\nCUDA: compiled %s\n' "$PWD/camera.cu"
else
  printf '\nCUDA: wrote %s; nvcc is not installed\n' "$PWD/camera.cu"
fi
