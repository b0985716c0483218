#!/usr/bin/env bash
# Prepares ncnn for bench.py --ncnn in the folder WORK/ncnn: builds it with Debian's Emscripten for simd128 and threads
# (peer.js), and converts the float networks, which exist as WORK/NETWORK.onnx or in test/networks/models/real.
# Needs Debian's packages emscripten, cmake and ninja-build.
#
#   usage: peers.sh WORK SOURCE NETWORK...     SOURCE is a checkout of ncnn
set -euo pipefail
here=$(dirname "$(realpath "$0")")
source=$(realpath "$2")
cd "$1"
shift 2
mkdir -p ncnn && cd ncnn
export NODE_PATH=/usr/share/nodejs  # where Debian keeps acorn, which Emscripten needs

if [ ! -d venv ]; then
  python3 -m venv venv && venv/bin/pip install -q --no-deps pnnx==20261020
fi
if [ ! -e peer.js ]; then
  off=$(sed -n 's/^ncnn_add_layer(\(\w*\).*/\1/p' "$source/src/CMakeLists.txt" | grep -vixE "$(tr -s ' \n' '|' <<<"concat convolution \
convolutiondepthwise crop dropout eltwise flatten innerproduct input memorydata packing padding permute pooling relu reshape scale \
sigmoid slice softmax split binaryop unaryop clip swish hardsigmoid hardswish batchnorm pixelshuffle expanddims squeeze reduction cast \
quantize dequantize requantize matmul gemm noop tanh bias" | sed 's/|$//')" | tr A-Z a-z | sed 's/.*/-DWITH_LAYER_&=OFF/')
  emcmake cmake -S "$source" -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_HAVE_LIBC_PTHREAD=ON -DCMAKE_C{,XX}_FLAGS=-pthread $off \
    -DNCNN_{SSE2,THREADS,OPENMP,SIMPLEOMP}=ON \
    -DNCNN_{RUNTIME_CPU,BUILD_TOOLS,BUILD_EXAMPLES,BUILD_BENCHMARK,PIXEL_DRAWING,PIXEL_ROTATE,PIXEL_AFFINE}=OFF >build.log
  ninja -C build >>build.log
  em++ -std=c++17 -O3 -msse2 -msimd128 -pthread "$here/Peer.cpp" "-I$source/src" -Ibuild/src build/src/libncnn.a -o peer.js \
    -sMODULARIZE -sEXPORT_NAME=peer -sENVIRONMENT=node,worker -sINITIAL_MEMORY=536870912 -sPTHREAD_POOL_SIZE=2 \
    -sEXPORTED_FUNCTIONS=_malloc,_free -sEXPORTED_RUNTIME_METHODS=PThread
fi

for name in "$@"; do
  [ "${name%_int8}" = "$name" ] || continue
  model=../$name.onnx
  [ -e "$model" ] || model=$here/../../networks/models/real/$name/model.onnx
  [ -e "$name/$name.ncnn.bin" ] || (mkdir -p "$name" && cp "$model" "$name/$name.onnx" && cd "$name" &&
    ../venv/lib/python3*/site-packages/pnnx/pnnx "$name.onnx" fp16=0 >log 2>&1) || echo "no ncnn for $name"
done
