#!/usr/bin/env bash
# examples/hexagon under the emulator: an int8 network recognizes all ten digits, called
# directly and through the skeleton of a remote interface. Also checks the shared library.
# usage: hexagon.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

for program in qemu-hexagon clang-22 ld.lld-22; do
  command -v $program >/dev/null || { echo "hexagon.sh: $program is not installed"; exit 77; }
done
rm -rf "$scratch"
mkdir -p "$scratch"
"$cmake" -S "$source/examples/hexagon" -B "$scratch/build" -G Ninja -DIngot_DIR="$build/cmake" \
  -DCMAKE_TOOLCHAIN_FILE="$build/cmake/hexagon.cmake"
"$cmake" --build "$scratch/build" 2>&1 | tee "$scratch/log"
if grep -qi 'warning' "$scratch/log"; then
  echo "hexagon.sh: a warning"
  exit 1
fi
"$cmake" --build "$scratch/build" --target run-digits </dev/null | tee "$scratch/digits.log"
grep -q '10 of 10 right' "$scratch/digits.log"
"$cmake" --build "$scratch/build" --target run-remote-digits </dev/null | tee "$scratch/remote.log"
grep -q '10 of 10 right by remote calls' "$scratch/remote.log"

# The shared library for the DSP is position-independent, without relocations in its code, and
# its only undefined symbols are QuRT's functions, memcpy and memset.
library=$scratch/build/libdigits_skel.so
# (Not grep -q: it stops reading early, so that with pipefail the preceding tool fails.)
llvm-readelf-22 -h "$library" | grep 'DYN' >/dev/null
if llvm-readelf-22 -d "$library" | grep 'TEXTREL'; then
  echo "hexagon.sh: relocations in code"
  exit 1
fi
llvm-nm-22 -D --defined-only "$library" | grep ' T digits_skel_handle_invoke$' >/dev/null
for part in "$library" "$scratch/build/libmnist.a" "$scratch/build/libmnist_near.a"; do
  if llvm-nm-22 -u "$part" | grep ' U ' | grep -vE ' U (memcpy|memset|qurt_hvx_lock|qurt_hvx_unlock|HAP_compute_res_[a-z_]+|__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes)$'; then
    echo "hexagon.sh: $part takes more from outside"
    exit 1
  fi
done
