#!/usr/bin/env bash
# The .deb and the .tar.gz, unpacked into empty folders: the program runs, and find_package finds it there.
# usage: packages.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

fail() { printf 'packages.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch/deb" "$scratch/tar"
INGOT_BUILD_DIR=$build "$source/dev" package
deb=$(echo "$build"/packages/*.deb) tar=$(echo "$build"/packages/*.tar.gz)
dpkg -x "$deb" "$scratch/deb"
tar -xzf "$tar" -C "$scratch/tar" --strip-components=1
dpkg -f "$deb" Depends | grep -q libprotobuf || fail "the .deb does not depend on libprotobuf"
dpkg -f "$deb" Package | grep -qx ingot || fail "the package has another name"
cp -r "$source/examples" "$scratch/examples"
for root in "$scratch/deb" "$scratch/tar"; do
  prefix=$(dirname "$(dirname "$(find "$root" -name ingot -path '*bin/ingot')")")
  "$prefix/bin/ingot" version
  if strings -a "$prefix/bin/ingot" | grep -q '^\.symtab$'; then fail "the program is not stripped"; fi
  "$cmake" -S "$scratch/examples/cmake" -B "$root-tree" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ >/dev/null
  "$cmake" --build "$root-tree" >/dev/null
  "$root-tree/compare"
done
