#!/usr/bin/env bash
# Tests the wheel in empty virtual environments outside of the checkout, which is hidden if the system permits it: an answer
# of a network, with the compiler of the system and with that of the extra `cc`; the program; the CMake package; the headers.
# The test of the extra `cc` runs, if the system permits it, in a root folder with Python, libraries and a shell, but no compiler.
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
# From nothing to the first answer: makes the environment NAME, installs a requirement, and runs the quick start. The limit is
# one of processor time, which other work on the machine does not change much.
cat >"$scratch/answer.py" <<'END'
import os, resource, subprocess, sys, time

name, requirement, *arguments = sys.argv[1:]
begin = time.monotonic()
subprocess.run([sys.executable, "-m", "venv", name], check=True)
subprocess.run([f"{name}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments, requirement], check=True)
subprocess.run([f"{name}/bin/python", "quickstart.py"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
spent = used.ru_utime + used.ru_stime
print(f"{requirement}: {time.monotonic() - begin:.0f} seconds to the first answer, {spent:.0f} of a processor (load {os.getloadavg()[0]:.1f})")
assert spent < 60, "the first answer takes too long"
END
cat >"$scratch/inside.sh" <<'END'
set -euo pipefail
cd "$1"
unset INGOT INGOT_CXX PYTHONPATH
export INGOT_CACHE=$1/cache XDG_CACHE_HOME=$1/xdg
python3 answer.py plain "$(echo ./*.whl)"
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

# pip must reject a wheel of another machine.
other=$(basename ./*.whl | sed 's/_[a-z0-9]*_*[a-z0-9]*[.]whl$/_s390x.whl/')
cp ./*.whl "elsewhere-$other" && mv "elsewhere-$other" "$other"
if plain/bin/pip install --quiet --no-deps "./$other" 2>message; then exit 1; fi
grep -q 'is not a supported wheel on this platform' message
rm "./$other"

# Without any compiler, the package must report what to do; with the extra cc, it must compute the answer.
plain/bin/python -m pip download --quiet --disable-pip-version-check -d wheels "$(echo ./*.whl)[cc]"
cat >bare.py <<'PYTHON'
import os, subprocess, sys

os.environ["INGOT_CACHE"] = "cache-cc"
answer = [sys.executable, "answer.py"]
done = subprocess.run([*answer, "without", "ingot-onnx", "--no-index", "--find-links=wheels"], capture_output=True, text=True)
assert "ToolchainError: there is no C++ compiler: " in done.stderr and "pip install ziglang" in done.stderr, done.stderr
subprocess.run([*answer, "with", "ingot-onnx[cc]", "--no-index", "--find-links=wheels"], check=True)
PYTHON
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
if [ "$2" = root ]; then
  # Mounts the libraries of the system and of Python in an empty root folder, without programs and headers of the system.
  parts=$(python3 -c 'import sys, sysconfig; print(sysconfig.get_path("stdlib") if sys.base_prefix == "/usr" else sys.base_prefix)')
  root=$1/root
  mkdir "$root"
  for part in "$parts" /usr/lib/*-linux-gnu /usr/lib64 /lib64 /usr/share/python-wheels /dev /proc; do
    [ -d "$part" ] && ! [ -L "$part" ] || continue
    mkdir -p "$root$part" && mount --rbind "$part" "$root$part"
  done
  for link in /lib /lib64; do [ ! -L $link ] || cp -a $link "$root/"; done
  mkdir -p "$root/bin" "$root/tmp" "$root/job" "$root$(dirname "$python")"
  cp -L /bin/sh "$root/bin/sh"
  [ -e "$root$python" ] || cp "$python" "$root$python"
  mount --bind "$1" "$root/job"
  env -i HOME=/tmp PATH=/bin "$(command -v chroot)" "$root" /bin/sh -c "cd /job && exec $python bare.py"
else
  mkdir bare
  for program in env sh; do ln -s "$(command -v "$program")" bare/; done
  PATH=$1/bare "$python" bare.py
fi
echo "right answers with the system's compiler and with the one of the extra cc"
END
if unshare -m true 2>/dev/null; then
  # Mounts an empty folder over the checkout, for this command only.
  unshare -m bash -c 'mount -t tmpfs none "$1" && exec bash "$2/inside.sh" "$2" root' bash "$source" "$scratch"
else
  bash "$scratch/inside.sh" "$scratch" path
fi
