#!/usr/bin/env bash
# Tests models in several kinds of projects: a folder with spaces and non-ASCII letters,
# models in subfolders, object libraries, installed and exported models and a project that
# uses them, presets, multiple configurations, unity builds, fast-math options, and projects
# inside of another one.
# usage: integration.sh CMAKE SOURCE BUILD SCRATCH
set -euo pipefail
cmake=$1 source=$2 build=$3 scratch=$4

fail() { printf 'integration.sh: %s\n' "$*" >&2; exit 1; }

rm -rf "$scratch"
project="$scratch/ein Ordner für Prüfungen/project"
mkdir -p "$project/models" "$scratch/user"
cp "$source/examples/mnist/model.onnx" "$project/modèle 1.onnx"

cat > "$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(integration LANGUAGES C CXX)
find_package(Ingot REQUIRED)
add_subdirectory(models)
ingot_add_model(as_object OBJECT MODEL "modèle 1.onnx" TARGET generic WEIGHTS object)
ingot_add_model(as_source OBJECT MODEL "modèle 1.onnx" TARGET generic WEIGHTS source)
add_library(wrapped OBJECT wrapped.cpp)
target_link_libraries(wrapped PRIVATE digits)
add_executable(compare main.cpp $<TARGET_OBJECTS:wrapped>)
target_link_libraries(compare PRIVATE digits as_object as_source)
install(TARGETS compare)
install(TARGETS digits EXPORT models)
if(NOT CMAKE_VERSION VERSION_LESS 3.23)
  install(TARGETS digits EXPORT again FILE_SET HEADERS DESTINATION headers)
endif()
install(EXPORT models NAMESPACE models:: DESTINATION lib/cmake/models FILE models-config.cmake)
export(EXPORT models NAMESPACE models:: FILE "${CMAKE_BINARY_DIR}/models-config.cmake")
END
echo 'ingot_add_model(digits MODEL "../modèle 1.onnx" TARGET generic WEIGHTS object)' > "$project/models/CMakeLists.txt"
cat > "$project/wrapped.cpp" <<'END'
#include "digits.h"
int of_digits(const float *x, float *y);
int of_digits(const float *x, float *y) {
  static digits::arena arena;
  return digits::run({x, y}, arena);
}
END
cat > "$project/main.cpp" <<'END'
#include "as_object.h"
#include "as_source.h"
int of_digits(const float *x, float *y);
int main() {
  static as_object::arena arena;
  static as_source::arena other;
  float x[784] = {}, y[10], z[10], w[10];
  for (int i = 0; i < 784; i += 3) x[i] = 100;
  if (of_digits(x, y) || as_object::run({x, z}, arena) || as_source::run({x, w}, other)) return 2;
  for (int i = 0; i < 10; ++i)
    if (y[i] != z[i] || y[i] != w[i] || y[i] == 0) return 1;
  return 0;
}
END
cat > "$project/CMakePresets.json" <<END
{"version": 3, "configurePresets": [{"name": "several", "generator": "Ninja Multi-Config", "binaryDir": "\${sourceDir}/of presets",
 "cacheVariables": {"Ingot_DIR": "$build/cmake", "CMAKE_CXX_COMPILER": "g++", "CMAKE_INSTALL_PREFIX": "\${sourceDir}/installed by presets"}}],
 "buildPresets": [{"name": "debug", "configurePreset": "several", "configuration": "Debug"},
                  {"name": "release", "configurePreset": "several", "configuration": "Release"}]}
END

# Builds the project with a single-configuration generator, with another compiler, with
# fast-math options, and as a unity build.
configure() { # NAME OPTION...
  "$cmake" -S "$project" -B "$project/$1" -DIngot_DIR="$build/cmake" -DCMAKE_INSTALL_PREFIX="$project/$1/installed" "${@:2}"
  "$cmake" --build "$project/$1"
  find "$project/$1" -name compare -type f -exec {} \; || fail "$1: the models differ"
}
configure make -G "Unix Makefiles" -DCMAKE_CXX_COMPILER=g++
configure fast -G Ninja -DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_FLAGS="-ffast-math -Wall -Werror" -DCMAKE_UNITY_BUILD=ON
configure clang -G Ninja -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_FLAGS="-ffast-math -Wall -Werror"

(cd "$project" && "$cmake" --preset several && "$cmake" --build --preset debug && "$cmake" --build --preset release)
"$project/of presets/Debug/compare" && "$project/of presets/Release/compare" || fail "presets: the models differ"
"$cmake" --install "$project/of presets" --config Release

# The files that the project installs and exports suffice for another project, and contain no
# path of the build folder.
"$cmake" --install "$project/make"
"$project/make/installed/bin/compare" || fail "the installed models differ"
! grep -r "$project/make/models" "$project/make/installed/lib/cmake" || fail "the export names the build folder"
[ -s "$project/make/installed/include/digits.h" ] || fail "the header is not installed"
cat > "$scratch/user/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES CXX)
find_package(models REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user PRIVATE models::digits)
END
cat > "$scratch/user/user.cpp" <<'END'
#include "digits.h"
int main() {
  static digits::arena arena;
  float x[784] = {}, y[10];
  return digits::run({x, y}, arena);
}
END
for models in "$project/make/installed/lib/cmake/models" "$project/make"; do
  rm -rf "$scratch/user/build"
  "$cmake" -S "$scratch/user" -B "$scratch/user/build" -G Ninja -Dmodels_DIR="$models" -DCMAKE_CXX_COMPILER=g++
  "$cmake" --build "$scratch/user/build"
  "$scratch/user/build/user" || fail "a project that uses $models fails"
done

# A project that takes two projects with models into its own build: one as FetchContent does,
# the other one as a folder.
whole="$scratch/whole"
mkdir -p "$whole/second"
cp "$project/modèle 1.onnx" "$whole/second/model.onnx"
cat > "$whole/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(whole LANGUAGES C CXX)
include(FetchContent)
FetchContent_Declare(first SOURCE_DIR "$project")
FetchContent_MakeAvailable(first)
add_subdirectory(second)
add_executable(whole whole.cpp)
target_link_libraries(whole PRIVATE digits second)
END
cat > "$whole/second/CMakeLists.txt" <<'END'
find_package(Ingot REQUIRED)
ingot_add_model(second MODEL model.onnx TARGET generic WEIGHTS source)
END
cat > "$whole/whole.cpp" <<'END'
#include "digits.h"
#include "second.h"
int main() {
  static digits::arena arena;
  static second::arena other;
  float x[784] = {}, y[10], z[10];
  for (int i = 0; i < 784; i += 3) x[i] = 100;
  if (digits::run({x, y}, arena) || second::run({x, z}, other)) return 2;
  for (int i = 0; i < 10; ++i)
    if (y[i] != z[i]) return 1;
  return 0;
}
END
"$cmake" -S "$whole" -B "$whole/build" -G Ninja -DIngot_DIR="$build/cmake" -DCMAKE_CXX_COMPILER=g++
"$cmake" --build "$whole/build"
"$whole/build/whole" || fail "a project that contains projects with models fails"
