#!/usr/bin/env bash
# examples/cmake with an installed Ingot: it builds and runs, a second build does
# nothing, and a changed model is compiled again. The installation is complete
# and can be moved.
# usage: package.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

fail() { printf 'package.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$scratch"
mkdir -p "$scratch"
# A copy, so that the model can be changed and references to the source folder
# would be noticed.
cp -r "$source/examples" "$scratch/examples"
"$cmake" --install "$build" --prefix "$scratch/prefix"
"$cmake" -S "$scratch/examples/cmake" -B "$scratch/tree" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++
"$cmake" --build "$scratch/tree"
"$scratch/tree/compare"

"$cmake" --build "$scratch/tree" | grep -q 'no work to do' ||
  fail "a second build does something"

generated=$scratch/tree/fast.ingot/fast.cpp
touch -d '1 hour ago' "$scratch/marker"
touch -r "$scratch/marker" "$generated"
sleep 0.1
touch "$scratch/examples/mnist/model.onnx"
"$cmake" --build "$scratch/tree"
[ "$generated" -nt "$scratch/marker" ] || fail "a changed model is not compiled again"
"$scratch/tree/compare"

# The licence, the manual and the examples are installed.
cmp "$source/LICENSE" "$scratch/prefix/share/doc/Ingot/LICENSE" || fail "no licence is installed"
for file in README.md OPS.md docs/index.md docs/cli.md examples/mnist/model.onnx examples/cmake/CMakeLists.txt; do
  [ -s "$scratch/prefix/share/doc/Ingot/$file" ] || fail "$file is not installed"
done

# After the installation was moved, pkg-config finds it, and the installed
# examples build.
mv "$scratch/prefix" "$scratch/moved"
export PKG_CONFIG_PATH=$scratch/moved/share/pkgconfig
ingot=$(pkg-config --variable=ingot ingot)
[ "$(pkg-config --modversion ingot)" = "$("$ingot" --version | sed 's/ingot \([^ ]*\) .*/\1/')" ] ||
  fail "ingot.pc has another version than the program"
cat > "$scratch/threads.cpp" <<'END'
#include "ingot_thread_pool.h"
int main() { return ingot::ThreadPool(2).context().parallel_for ? 0 : 1; }
END
# shellcheck disable=SC2046
g++ -std=c++17 -Wall -Wextra -Werror $(pkg-config --cflags ingot) "$scratch/threads.cpp" -pthread -o "$scratch/threads"
"$scratch/threads"
"$cmake" -S "$scratch/moved/share/doc/Ingot/examples/mnist" -B "$scratch/digits" -G Ninja \
  -DCMAKE_PREFIX_PATH="$scratch/moved" -DCMAKE_CXX_COMPILER=g++
"$cmake" --build "$scratch/digits"
"$scratch/digits/digits" "$scratch/moved/share/doc/Ingot/examples/mnist" | grep -q '10 of 10 right' ||
  fail "the installed example is wrong"
