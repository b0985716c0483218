#!/usr/bin/env bash
# Tests the wheel in empty virtual environments outside of the checkout, which is hidden if the system allows it: runs
# a network with the system's compiler and with that of the extra `cc`, and tests the program, the CMake package and
# the types.
# usage: wheel.sh SOURCE BUILD [WHEEL]
set -euo pipefail
source=$1 build=$2 wheel=${3:-}

fail() { printf 'wheel.sh: %s\n' "$*" >&2; exit 1; }

if [ -z "$wheel" ]; then
  INGOT_BUILD_DIR=$build "$source/dev" wheel
  wheel=$(echo "$build"/wheel/*.whl)
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$wheel" "$scratch/"
wheel=$scratch/$(basename "$wheel")
case $wheel in *manylinux*) ;; *) fail "$wheel is not for manylinux" ;; esac
[ "$(stat -c %s "$wheel")" -le $((60 << 20)) ] || fail "the wheel has more than 60 MB"
cp "$source/examples/mnist/model.onnx" "$source/examples/cmake/main.c" "$scratch/"
cp -r "$source/examples" "$scratch/examples"

cat >"$scratch/quickstart.py" <<'END'
import ingot, numpy as np

net = ingot.compile("model.onnx")
image = np.zeros((1, 1, 28, 28), np.float32)
image[0, 0, 4:24, 14] = 255
assert net(image).argmax() == 1
END
cat >"$scratch/inside.sh" <<'END'
set -euo pipefail
cd "$1"
unset INGOT PYTHONPATH
export INGOT_CACHE=$1/cache XDG_CACHE_HOME=$1/xdg
begin=$(date +%s)
python3 -m venv plain
plain/bin/pip install --quiet --disable-pip-version-check ./*.whl
plain/bin/python quickstart.py
seconds=$(($(date +%s) - begin))
echo "from an empty environment to the first answer: $seconds seconds"
plain/bin/ingot version
plain/bin/ingot doctor | grep -q 'networks are built with'
plain/bin/python -m ingot inspect model.onnx --target generic >/dev/null
cmake -S examples/cmake -B tree -DIngot_DIR="$(plain/bin/python -m ingot --cmake-dir)" \
  -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >/dev/null
cmake --build tree >/dev/null
tree/compare
printf '#include "ingot_thread_pool.h"\nint main() { return ingot::ThreadPool(2).size() - 2; }\n' >pool.cpp
g++ -std=c++17 -I"$(plain/bin/python -m ingot --include-dir)" pool.cpp -pthread -o pool && ./pool
# The program finds all of its shared libraries.
if ldd plain/lib/python3*/site-packages/ingot/_prefix/bin/ingot | grep 'not found'; then exit 1; fi

# With the extra `cc` and no other compiler.
python3 -m venv cc
cc/bin/pip install --quiet --disable-pip-version-check "$(echo ./*.whl)[cc]"
mkdir bare
for program in python3 env sh; do ln -s "$(command -v "$program")" bare/; done
INGOT_CACHE=$1/cache-cc PATH=$1/bare cc/bin/python quickstart.py
echo "right answers with the system's compiler and with the one of the extra cc"
# Without any compiler: the error must say what to install.
if INGOT_CACHE=$1/cache-no PATH=$1/bare plain/bin/python quickstart.py 2>message; then exit 1; fi
grep -q 'ToolchainError: there is no C++ compiler: .*pip install ziglang' message
END
if unshare -m true 2>/dev/null; then
  # Mounts an empty folder over the checkout, for this command only.
  unshare -m bash -c 'mount -t tmpfs none "$1" && exec bash "$2/inside.sh" "$2"' bash "$source" "$scratch"
else
  bash "$scratch/inside.sh" "$scratch"
fi
