# A toolchain file for Hexagon DSPs without Qualcomm's SDK, freestanding:
#   cmake -DCMAKE_TOOLCHAIN_FILE=.../hexagon.cmake -DINGOT_TARGET=hexagon-v67
# clang compiles and lld links. There is no C library; programs have to include
# replacements.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR hexagon)
set(INGOT_TARGET hexagon-v67 CACHE STRING "The processor, as `ingot targets` calls it")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES INGOT_TARGET)
# CMake checks a compiler by building a program, for which there is no C
# library. It builds a library instead.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

find_program(clang_c NAMES clang-22 clang REQUIRED)
find_program(clang_cxx NAMES clang++-22 clang++ REQUIRED)
set(CMAKE_C_COMPILER "${clang_c}")
set(CMAKE_CXX_COMPILER "${clang_cxx}")
set(CMAKE_ASM_COMPILER "${clang_c}")
string(REPLACE "hexagon-" "-m" processor "${INGOT_TARGET}")
foreach(language C CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET hexagon-unknown-linux-musl)
  set(CMAKE_${language}_FLAGS_INIT "${processor} -mhvx -mhvx-length=128B -ffunction-sections -fdata-sections")
endforeach()
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -static -Wl,--gc-sections")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
