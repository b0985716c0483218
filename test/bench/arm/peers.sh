#!/usr/bin/env bash
# Prepares everything that bench.py --peers needs in the folder WORK: an arm64 Python (root/) with
# the aarch64 wheels of other engines (site/), converters for this machine (venv*/), and the
# networks in the format of each engine. The networks must exist as NETWORK.onnx and NETWORK.npz,
# which bench.py writes. Needs Debian 12, and root for apt; installs nothing on the system.
#
#   usage: peers.sh WORK NETWORK...
set -euo pipefail
here=$(dirname "$(realpath "$0")")
cd "$1"
shift
export HOME=$PWD/home ORT_DISABLE_TELEMETRY=1 TF_CPP_MIN_LOG_LEVEL=3  # ONNX Runtime 1.32's wheel sends telemetry otherwise
mkdir -p home debs root host ncnn mnn tflite

if [ ! -x root/usr/bin/python3.11 ]; then
  dpkg --add-architecture arm64 && apt-get -qq update
  (cd debs && apt-get -qq download $(printf '%s:arm64 ' python3.11-minimal libpython3.11-minimal libpython3.11-stdlib \
    libc6 libstdc++6 libgcc-s1 libgomp1 zlib1g libexpat1 libffi8 libssl3 libbz2-1.0 liblzma5 libuuid1 libsqlite3-0 \
    libtinfo6 libncursesw6 libreadline8 libdb5.3 libtirpc3 libnsl2 libcrypt1))
  for deb in debs/*.deb; do dpkg -x "$deb" root; done
  dpkg --remove-architecture arm64 && apt-get -qq update
fi

if [ ! -d site ]; then
  python3 -m venv venv2 && venv2/bin/pip install -q --no-deps MNN==3.6.1 numpy
  python3 -m venv venv3 && venv3/bin/pip install -q onnx2tf==1.29.24
  venv2/bin/pip download -q --no-deps -d host pnnx==20261020
  (cd host && python3 -m zipfile -e pnnx*.whl . && chmod +x pnnx/pnnx)
  venv2/bin/pip install -q --target site --no-deps --python-version 3.11 --only-binary=:all: \
    $(printf -- '--platform %s ' manylinux_2_{35,34,31,28,27,17}_aarch64 manylinux2014_aarch64 any) \
    onnxruntime==1.32.0 ncnn==1.0.20261020 openvino==2026.4.1 ai-edge-litert==2.3.0 MNN==3.6.1 "numpy<2.3" flatbuffers \
    packaging protobuf ml_dtypes typing-extensions backports.strenum tqdm portalocker requests openvino-telemetry
fi

calibration=tflite/calibration_image_sample_data_20x128x128x3_float32.npy
[ -e $calibration ] || venv3/bin/python -c "
import numpy as np  # onnx2tf downloads it otherwise; its values do not matter here
np.save('$calibration', np.random.default_rng(1).random((20, 128, 128, 3), np.float32))"

for name in "$@"; do
  float=${name%_int8}
  if [ "$name" = "$float" ]; then
    shape=$(venv2/bin/python -c "
import numpy as np
print(','.join(str(list(v.shape)).replace(' ', '') + 'f32' for v in np.load('$name.npz').values()))") || continue
    mkdir -p "ncnn/$name" && cp "$name.onnx" "ncnn/$name"
    [ -e "ncnn/$name/$name.ncnn.bin" ] ||
      (cd "ncnn/$name" && ../../host/pnnx/pnnx "$name.onnx" "inputshape=$shape" fp16=0 > log 2>&1) || echo "no ncnn for $name"
    # The converter's function: the program mnnconvert reports every conversion to its makers.
    [ -e "mnn/$name.mnn" ] || venv2/bin/python -c "import sys, _tools; _tools.mnnconvert(sys.argv)" -f ONNX \
      --modelFile "$name.onnx" --MNNModel "mnn/$name.mnn" --bizCode x > "mnn/$name.log" 2>&1 || echo "no MNN for $name"
  fi
  [ -e "tflite/$float/${float}_float32.tflite" ] || (cd tflite && PATH=$PWD/../venv3/bin:$PATH \
    onnx2tf -i "../$float.onnx" -o "$float" -n -rtpo Erf > "$float.log" 2>&1) || echo "no LiteRT for $float"
  [ "$name" = "$float" ] || [ -e "tflite/$float/$name.tflite" ] ||
    venv3/bin/python "$here/tflite_int8.py" "$float" > "tflite/$name.log" 2>&1 || echo "no LiteRT for $name"
done
