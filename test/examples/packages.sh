#!/usr/bin/env bash
# Tests the .deb and the .tar.gz, unpacked into empty folders, with the checkout hidden if the system allows it: the
# program runs, the quick start of README.md prints the documented answer, and find_package finds the package.
# usage: packages.sh CMAKE SOURCE BUILD
set -euo pipefail
cmake=$1 source=$2 build=$3

fail() { printf 'packages.sh: %s\n' "$*" >&2; exit 1; }

INGOT_BUILD_DIR=$build "$source/dev" package
# A folder outside of the checkout, which is hidden during the test.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$build"/packages/*.deb "$build"/packages/*.tar.gz "$scratch/"
cp -r "$source/examples" "$scratch/examples"
# The program of the quick start is the code block with the title main.c.
awk '/^```c title="main.c"/ { on = 1; next } /^```/ { on = 0 } on' "$source/README.md" >"$scratch/main.c"
[ -s "$scratch/main.c" ] || fail "README.md has no main.c"

cat >"$scratch/inside.sh" <<'END'
set -euo pipefail
cmake=$1
cd "$2"

fail() { printf 'packages.sh: %s\n' "$*" >&2; exit 1; }

mkdir deb tar
dpkg -x ./*.deb deb
tar -xzf ./*.tar.gz -C tar --strip-components=1
dpkg -f ./*.deb Depends | grep -q libprotobuf || fail "the .deb does not depend on libprotobuf"
dpkg -f ./*.deb Package | grep -qx ingot || fail "the package has another name"
for root in deb tar; do
  prefix=$(realpath "$(dirname "$(dirname "$(find "$root" -name ingot -path '*bin/ingot')")")")
  "$prefix/bin/ingot" version
  if strings -a "$prefix/bin/ingot" | grep -q '^\.symtab$'; then fail "the program is not stripped"; fi
  mkdir "$root-start"
  (cd "$root-start"
    "$prefix/bin/ingot" ../examples/mnist/model.onnx -o mnist.cpp
    g++ -O2 -c mnist.cpp && gcc -O2 -I. -c ../main.c && g++ mnist.o main.o -o digits
    ./digits | tee answer
    grep -qx 'status 0: this is a 1' answer || fail "the quick start gives another answer")
  "$cmake" -S examples/cmake -B "$root-tree" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >/dev/null
  "$cmake" --build "$root-tree" >/dev/null
  "$root-tree/compare"
done
END
if unshare -m true 2>/dev/null; then
  # Mounts an empty folder over the checkout, for this command only.
  unshare -m bash -c 'mount -t tmpfs none "$1" && exec bash "$2/inside.sh" "$3" "$2"' bash "$source" "$scratch" "$cmake"
else
  bash "$scratch/inside.sh" "$cmake" "$scratch"
fi
