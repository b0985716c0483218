# A toolchain file for Arm's microcontrollers, bare metal:
#   cmake -DCMAKE_TOOLCHAIN_FILE=.../cortex-m.cmake -DINGOT_TARGET=cortex-m4
# INGOT_TARGET is the name of a core, which is both a target of Ingot and the
# compiler's name. ingot_add_model compiles for it. GCC (gcc-arm-none-eabi)
# compiles and links; only for the M55, clang compiles, since GCC 12 does not
# use the vectors of the M55.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(INGOT_TARGET cortex-m4 CACHE STRING "The core, as `ingot targets` calls it")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES INGOT_TARGET)
# CMake checks a compiler by building a program, for which there is no start-up
# code. It builds a library instead.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

if(INGOT_TARGET MATCHES "^cortex-m(0|0plus|1|3)$")
  set(float soft)
else()
  set(float hard)
endif()
set(core "-mcpu=${INGOT_TARGET} -mthumb -mfloat-abi=${float}")

if(INGOT_TARGET STREQUAL "cortex-m55")
  find_program(clang_c NAMES clang-22 clang REQUIRED)
  find_program(clang_cxx NAMES clang++-22 clang++ REQUIRED)
  set(CMAKE_C_COMPILER "${clang_c}")
  set(CMAKE_CXX_COMPILER "${clang_cxx}")
  set(CMAKE_ASM_COMPILER "${clang_c}")
  foreach(language C CXX ASM)
    set(CMAKE_${language}_COMPILER_TARGET arm-none-eabi)
    set(CMAKE_${language}_LINK_EXECUTABLE
      "arm-none-eabi-gcc ${core} <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
  endforeach()
else()
  set(CMAKE_C_COMPILER arm-none-eabi-gcc)
  set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
  set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
endif()
foreach(language C CXX ASM)
  set(CMAKE_${language}_FLAGS_INIT "${core} -ffunction-sections -fdata-sections")
endforeach()
if(INGOT_TARGET STREQUAL "cortex-m55")
  # Ingot already unrolls the loops of kernels where that pays off.
  string(APPEND CMAKE_C_FLAGS_INIT " -fno-unroll-loops")
  string(APPEND CMAKE_CXX_FLAGS_INIT " -fno-unroll-loops")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
